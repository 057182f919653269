"""Estimates of every window, whether labels are random or follow propensities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from pueval.core.sizes import GroupSizes
from pueval.counts.counts import Counts
from pueval.groups.evaluate_by import too_small_notes
from pueval.over_time.propensity_windows import estimate_with_propensities
from pueval.over_time.random_label_windows import estimate_random_labels
from pueval.over_time.window_estimates import WindowEstimates, WindowOptions, window_sizes


def estimate_windows(
    counts: Sequence[Counts], names: list[Any], options: WindowOptions, incomplete: dict[int, str]
) -> WindowEstimates:
    """Estimate every measure of every window; ``incomplete`` has notes of windows to leave out."""
    sizes, weights, squares = window_sizes(counts)
    overall = options.overall
    notes = too_small_notes(sizes, overall.target, options.min_labeled, options.min_background)
    notes |= _both_too_few_notes(sizes, options.min_labeled, options.min_background)
    notes |= dict.fromkeys(np.flatnonzero(sizes.n == 0).tolist(), "no rows") | incomplete
    enough = np.ones(len(counts), dtype=bool)
    enough[list(notes)] = False
    if overall.counts.has_propensity:
        estimates, found = estimate_with_propensities(counts, enough, options)
    else:
        estimates, found = estimate_random_labels(counts, names, sizes, enough, options)
    notes |= found
    return replace(
        estimates,
        sizes=sizes,
        weights=weights,
        squares=squares,
        notes=tuple(notes.get(k, "") for k in range(len(counts))),
    )


def _both_too_few_notes(sizes: GroupSizes, min_labeled: int, min_background: int) -> dict[int, str]:
    """Return shorter notes for windows with too few rows of both kinds: a table has little room."""
    labeled, unlabeled, negative = sizes.effective_by_kind
    background = unlabeled + negative
    few = (labeled > 0) & (labeled < min_labeled) & (background > 0) & (background < min_background)
    needed = f"{min_labeled} of each are needed"
    if min_labeled != min_background:
        needed = f"{min_labeled} and {min_background} are needed"
    notes = {}
    for k in np.flatnonzero(few).tolist():
        rows = _rows(labeled[k], "labeled"), _rows(background[k], "unlabeled or known negative")
        notes[k] = f"{rows[0]} and {rows[1]}; {needed}"
    return notes


def _rows(size: float, kind: str) -> str:
    return f"{size:.4g} {kind} {'row' if size == 1 else 'rows'}"
