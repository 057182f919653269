"""Shares of the variance of an estimate that come from the rows, the prior and the purity."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from pueval._typing import Array
from pueval.core.average_precision import average_precision
from pueval.core.measures import find_measure
from pueval.core.mixture import Mixture
from pueval.core.rates import Shares, correct_area
from pueval.uncertainty.intervals import bootstrap_standard_error
from pueval.uncertainty.measure_intervals import Resamples
from pueval.uncertainty.prior_region import Region


def width_shares(
    name: str, resamples: Resamples, region: Region | None, threshold: float
) -> dict[str, float]:
    """Divide the variance of an estimate among its sources.

    Each source is varied alone: one kind of rows is resampled while the others stay as expected,
    or prior and purity move within ``region``, whose half-width counts as a normal quantile times
    a standard error.

    Parameters
    ----------
    name : str
        ``"roc_auc"``, ``"average_precision"`` or a measure at ``threshold``.
    resamples : Resamples
        Resampled counts.
    region : Region or None
        Confidence region of prior and purity; None if they are known exactly.
    threshold : float
        Threshold of the measure.

    Returns
    -------
    dict of str to float
        Shares of "prior", "purity", "labeled rows", "unlabeled rows" and "known negatives" that
        are above zero, the largest first. Empty if nothing varies.
    """
    value = _value_function(name, resamples, threshold)
    mixture, expected = resamples.mixture, resamples.draws.expected
    variances = {
        source: bootstrap_standard_error(value(shares, mixture)) ** 2
        for source, shares in _resampled_alone(resamples).items()
    }
    for source, moved in _moved_mixtures(mixture, region).items():
        low, high = (float(value(expected, each).ravel()[0]) for each in moved)
        variances[source] = ((high - low) / (2 * resamples.options.critical_value)) ** 2
    total = sum(variance for variance in variances.values() if np.isfinite(variance))
    if not total > 0:
        return {}
    shares = {source: float(variance / total) for source, variance in variances.items()}
    positive = {source: share for source, share in shares.items() if share > 0}
    return dict(sorted(positive.items(), key=lambda item: -item[1]))


def _resampled_alone(resamples: Resamples) -> dict[str, Shares]:
    """Return shares in which only one kind of rows is resampled."""
    expected, resampled = resamples.draws.expected, resamples.draws.resampled
    alone = {
        "labeled rows": expected._replace(
            labeled=resampled.labeled,
            positive=resampled.positive,
            prevalence_shift=resampled.prevalence_shift,
        )
    }
    if resamples.options.variance == "sampling":
        alone["unlabeled rows"] = expected._replace(unlabeled=resampled.unlabeled)
        if resamples.counts.n_negative:
            alone["known negatives"] = expected._replace(negative=resampled.negative)
    return alone


def _moved_mixtures(mixture: Mixture, region: Region | None) -> dict[str, tuple[Mixture, Mixture]]:
    """Return the mixtures at both ends of the prior, and of the purity."""
    if region is None:
        return {}
    moved = {}
    for name in ("prior", "purity"):
        low, high = getattr(region, name)
        if name == "prior":
            high = min(high, mixture.purity * (1 - 1e-6))
            low = min(low, high)
        else:
            low = max(low, mixture.prior + 1e-6)
            high = max(high, low)
        if low < high:
            moved[name] = replace(mixture, **{name: low}), replace(mixture, **{name: high})
    return moved


def _value_function(
    name: str, resamples: Resamples, threshold: float
) -> Callable[[Shares, Mixture], Array]:
    """Return the function from shares of rows and a mixture to values of a measure."""
    if name == "roc_auc":

        def area(shares: Shares, mixture: Mixture) -> Array:
            naive = resamples._naive_areas(shares)
            corrected = correct_area(naive, mixture, resamples._background_prior(mixture))
            return np.atleast_1d(np.clip(corrected, 0, 1))

        return area

    rates = resamples.rates_for
    if name == "average_precision":
        return lambda shares, mixture: np.atleast_1d(average_precision(rates(shares, mixture)))
    measure, column = find_measure(name), resamples.column_of(threshold)

    def at_threshold(shares: Shares, mixture: Mixture) -> Array:
        return np.asarray(measure(rates(shares, mixture, column))).ravel()

    return at_threshold
