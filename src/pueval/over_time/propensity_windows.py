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
        error = prior_error = 0.0
        if given is None:
            error = _represented_share_error(counts[k])
            # There are unlabeled rows, or the propensities would not determine the prior.
            prior_error = error * counts[k].n / counts[k].n_unlabeled
        prevalence = ev.mixture.prevalence(counts[k])
        for name, value, naive, standard_error in (
            ("prior", ev.mixture.prior, 0.0, prior_error),
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

    It is the weighted mean m = Σ w·x / Σ w over rows, with x = 1/propensity for labeled rows and 0
    for others. To first order, its variance is Σ w²·(x − m)² / (Σ w)². A frequency weight is the
    number of rows of weight 1, so w stands in the place of w² then.
    """
    # Labeled rows are in the same order in both: sorted by score, ties as they were given.
    labeled, represented = (
        sample.merged().chunks[0]
        for sample in (counts._labeled, counts._inverse_propensity_sample())
    )
    inverse_propensity = represented.row_counts / labeled.row_counts
    mean = counts.n_represented / counts.n
    _, unlabeled, negative = counts.squared_weights
    squares = np.sum(labeled.squared_weights * (inverse_propensity - mean) ** 2)
    squares += (unlabeled + negative) * mean**2
    return float(np.sqrt(squares) / counts.n)
