"""Estimates of every window, whether labels are random or follow propensities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

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
