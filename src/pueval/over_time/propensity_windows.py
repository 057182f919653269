"""Windows whose labeled rows have propensities: each is evaluated on its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pueval._typing import Array
from pueval.core.confidence import normal_quantile
from pueval.counts.counts import Counts
from pueval.errors import InputError
from pueval.evaluation.evaluate import evaluate_counts
from pueval.groups.unclipped_estimates import GROUP_MEASURES
from pueval.over_time.window_estimates import (
    LABELED,
    WindowEstimates,
    WindowOptions,
    undefined_windows,
)


def estimate_with_propensities(
    counts: Sequence[Counts],
    enough: Array,
    options: WindowOptions,
) -> tuple[WindowEstimates, dict[int, str]]:
    """Evaluate each window on its own; all of its error is that of its labeled rows."""
    overall, notes = options.overall, {}
    estimates = undefined_windows(len(counts))
    resampling = overall.resampling
    interval_options: dict[str, Any] = (
        {"level": None} if resampling is None else resampling.arguments
    )
    given = None if options.group_prior is None else overall.mixture.prior
    for k in np.flatnonzero(enough).tolist():
        try:
            ev = evaluate_counts(
                counts[k],
                prior=given,
                target=overall.target,
                threshold=overall.threshold,
                **interval_options,
            )
        except InputError as reason:
            notes[k] = str(reason)
            continue
        estimates.prior[k] = ev.mixture.prior
        for name in GROUP_MEASURES:
            estimate = ev[name]
            estimates.value[name][k] = estimates.center[name][k] = estimate.unclipped
            estimates.naive[name][k] = estimate.naive
            estimates.low[name][k], estimates.high[name][k] = estimate.low, estimate.high
            _put_error(estimates, name, k, estimate.standard_error)
        error = 0.0 if given is not None else _represented_share_error(counts[k])
        unlabeled_share = counts[k].n_unlabeled / counts[k].n
        prevalence = ev.mixture.prevalence(counts[k])
        for name, value, naive, standard_error in (
            ("prior", ev.mixture.prior, 0.0, error / max(unlabeled_share, 1 / counts[k].n)),
            ("prevalence", prevalence, counts[k].n_labeled / counts[k].n, error),
        ):
            estimates.value[name][k] = estimates.center[name][k] = value
            estimates.naive[name][k] = naive
            if options.level is not None:
                _put_error(estimates, name, k, standard_error)
                margin = normal_quantile(options.level) * standard_error
                ends = np.clip([value - margin, value + margin], 0, 1)
                estimates.low[name][k], estimates.high[name][k] = ends
    return estimates, notes


def _put_error(estimates: WindowEstimates, name: str, k: int, standard_error: float) -> None:
    estimates.parts[name][:, k] = estimates.shared[name][:, k] = 0.0
    estimates.parts[name][LABELED, k] = standard_error


def _represented_share_error(counts: Counts) -> float:
    """Return the standard error of the share of rows that labeled rows represent.

    It is the mean over rows of 1/propensity for labeled rows and 0 for others.
    """
    represented = counts._inverse_propensity_sample()
    mean, square = represented.total / counts.n, represented.with_squared_weights.total / counts.n
    return float(np.sqrt(max(square - mean**2, 0.0) / counts.n))
