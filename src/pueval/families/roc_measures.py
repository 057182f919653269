"""Measures of the left part of the ROC curve: partial AUC, logAUC, ROC enrichment.

The partial AUC is an area under the monotone ROC curve. logAUC and ROC enrichment are means over
the positives of a function of the false positive rate at their scores: of ln(fpr)/ln(λ), and of
whether the rate is low enough. They depend on rates near 0, where corrected rates are noisy. The
monotone curve has the smallest of these at or after each recall, and both measures would be too
high. So they are averaged over rates that are normal around the corrected one and not negative.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np
import scipy  # loads its submodules when they are first used

from pueval._checks import check_fraction
from pueval._typing import Array
from pueval.core.mixture import Mixture
from pueval.core.rates import Rates, monotone_rates
from pueval.counts.counts import Counts
from pueval.families.rank_weights import cut_lines
from pueval.families.top_measure import TopMeasure

# Rates that differ by less are equal.
SAME_RATE = 1e-12
# Along shorter lines, the mean of a function is its value in the middle.
SHORT_LINE = 1e-8
# Default false positive rates.
LOWEST_FPR = 0.001
PARTIAL_FPR = 0.1
ENRICHMENT_FPR = 0.01
# Standard error of the distribution around a corrected rate, as a share of that of the rate. With
# 0, measures of most models are too high; with 1, those of good models are too low. Chosen by
# simulation (benchmarks/FAMILIES_REAL.md).
ERROR_SHARE = 0.5
# Equally likely rates that stand for the distribution.
N_QUANTILES = 16
# Rates more than this many standard errors above 0 are taken as they are; those further below 0 are
# taken as this far below.
FAR_ABOVE, FAR_BELOW = 20.0, 30.0

Function = Callable[[Array], Array]


def fpr_noise(counts: Counts, mixture: Mixture) -> float:
    """Return the variance that the correction adds to false positive rates, over tpr·(1 − tpr).

    The correction subtracts the labeled rows from the background as if they had the same scores as
    the positives there. Both are samples of the positives, so with n_L labeled rows and n_P
    positives in the background, fpr = (background − prior·labeled)/(1 − prior) has the variance
    (prior/(1 − prior))²·tpr·(1 − tpr)·(1/n_L + 1/n_P) besides that of a sample of negatives. It is
    0 without a correction. After an audit it is not known, and 0 is returned.
    """
    prior, purity = mixture.background_prior(counts), mixture.purity
    if not prior or counts._audit is not None:
        return 0.0
    positives = counts._inverse_propensity_sample() if counts.has_propensity else counts._labeled
    _, unlabeled, negative = counts.squared_weights
    per_background_row = (unlabeled + negative) / (counts.n_unlabeled + counts.n_negative) ** 2
    per_labeled_row = 1 / positives.effective_size
    variance = prior**2 * purity * per_labeled_row + prior * purity**2 * per_background_row
    return float(variance / (purity - prior) ** 2)


def _partial_auc(rates: Rates, max_fpr: float) -> Array:
    fpr, tpr = cut_lines(*_whole_lines(monotone_rates(rates)), np.asarray(max_fpr))
    least = max_fpr**2 / 2
    value: Array = (1 + (np.trapezoid(tpr, fpr) - least) / (max_fpr - least)) / 2
    return value


def _logauc(rates: Rates, min_fpr: float) -> Array:
    log = math.log(min_fpr)

    def share(fpr: Array) -> Array:
        return np.asarray(np.log(np.clip(fpr, min_fpr, 1)) / log)

    def integral(fpr: Array) -> Array:
        inner = np.clip(fpr, min_fpr, 1)
        logarithmic = inner * (np.log(inner) - 1) - min_fpr * (log - 1)
        return np.asarray(np.minimum(fpr, min_fpr) + logarithmic / log)

    return _mean_over_positives(rates, share, integral)


def _roc_enrichment(rates: Rates, fpr: float) -> Array:
    return _mean_over_positives(
        rates, lambda x: (x <= fpr + SAME_RATE) / fpr, lambda x: np.minimum(x, fpr) / fpr
    )


def _mean_over_positives(rates: Rates, function: Function, integral: Function) -> Array:
    """Return the mean over the positives of a function of the false positive rate.

    Parameters
    ----------
    rates : Rates
        May have one line per resample.
    function, integral : callable
        The function, constant below 0 and above 1, and an integral of it.

    Notes
    -----
    Between thresholds, rates follow straight lines. Without noise this is an area along the ROC
    curve: ∫ tpr·d(−function), by partial integration.
    """
    fpr, tpr = _whole_lines(rates)
    recall = np.clip(tpr, 0, 1)
    error = ERROR_SHARE * np.sqrt(rates.fpr_noise * recall * (1 - recall))
    gain = np.diff(tpr, axis=-1)
    noisy = (error > 0) & (fpr < FAR_ABOVE * error)
    places = np.flatnonzero(noisy.any(axis=tuple(range(noisy.ndim - 1))))
    if not places.size:
        return np.asarray(np.sum(gain * _line_means(fpr, function, integral), axis=-1))
    # Most rates are far above 0. Only lines that begin or end at a noisy rate are averaged.
    first, last = max(places[0] - 1, 0), min(places[-1] + 1, fpr.shape[-1] - 1)
    sums: Array = sum(
        np.sum(gain[..., lines] * _line_means(fpr[..., points], function, integral), axis=-1)
        for lines, points in (
            (slice(first), slice(first + 1)),
            (slice(last, None), slice(last, None)),
        )
    )
    near = slice(first, last + 1)
    averaged = [
        np.sum(gain[..., first:last] * _line_means(line, function, integral), axis=-1)
        for line in _quantile_lines(fpr[..., near], error[..., near], noisy[..., near])
    ]
    return np.asarray(sums + np.mean(averaged, axis=0))


def _quantile_lines(fpr: Array, error: Array, noisy: Array) -> list[Array]:
    """Return quantiles of normal distributions around noisy rates, truncated at 0."""
    error = error[noisy]
    center = np.maximum(fpr[noisy], -FAR_BELOW * error)
    positive = scipy.special.ndtr(center / error)
    lines = []
    for level in (np.arange(N_QUANTILES) + 0.5) / N_QUANTILES:
        line = np.array(fpr)
        line[noisy] = center - error * scipy.special.ndtri(level * positive)
        lines.append(line)
    return lines


def _line_means(fpr: Array, function: Function, integral: Function) -> Array:
    """Return the mean of a function along the straight line between neighboring rates."""
    step = np.diff(fpr, axis=-1)
    mean = function((fpr[..., 1:] + fpr[..., :-1]) / 2)
    rise = np.diff(integral(fpr), axis=-1)
    np.divide(rise, step, out=mean, where=np.abs(step) > SHORT_LINE)
    return mean


def _whole_lines(rates: Rates) -> tuple[Array, Array]:
    """Return the points of ROC curves, from (0, 0) to (1, 1)."""
    start = np.zeros((*rates.tpr.shape[:-1], 1))
    fpr, tpr = (
        np.concatenate([start, rate, start + 1], axis=-1) for rate in (rates.fpr, rates.tpr)
    )
    return fpr, tpr


def partial_auc(max_fpr: float = PARTIAL_FPR) -> TopMeasure:
    """Area under the ROC curve up to a false positive rate, standardized as McClish does.

    .5·(1 + (area − f²/2)/(f − f²/2)), f = ``max_fpr``: 1 for a perfect, .5 for a random ranking.
    """
    check_fraction("max_fpr", max_fpr)
    formula = partial(_partial_auc, max_fpr=max_fpr)
    return TopMeasure("partial_roc_auc", "Partial AUC", formula, along_roc=True)


def logauc(min_fpr: float = LOWEST_FPR) -> TopMeasure:
    """Mean of the recall over the logarithm of the false positive rate, from ``min_fpr`` to 1.

    A random ranking has (1 − λ)/ln(1/λ), λ = ``min_fpr``: .145 for .001.
    """
    check_fraction("min_fpr", min_fpr)
    return TopMeasure("logauc", "logAUC", partial(_logauc, min_fpr=min_fpr))


def roc_enrichment(fpr: float = ENRICHMENT_FPR) -> TopMeasure:
    """Recall at a false positive rate, divided by this rate."""
    check_fraction("fpr", fpr)
    formula = partial(_roc_enrichment, fpr=fpr)
    return TopMeasure("roc_enrichment", "ROC enrichment", formula, high=1 / fpr)
