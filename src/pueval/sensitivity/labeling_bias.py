"""Sensitivity to labeling bias: bounds for a given bias, and tipping points.

A labeling bias of Λ means that the probabilities of being labeled of any two positives differ by at
most a factor Λ; 1 is random labeling. The labeled rows may then over-represent some positives by
up to Λ relative to others, and the true positive rate is known only within bounds. The scores of
all rows together are still known, so nothing else is uncertain. Labeled rows are positives: where
most positives are labeled, there is little room for a bias.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from pueval._typing import Array, Target
from pueval.core.measures import MEASURES, Measure, find_measure
from pueval.core.mixture import Mixture, Mixtures
from pueval.core.rates import Rates, correct_steps
from pueval.counts.counts import Counts
from pueval.errors import InputError
from pueval.samples.steps import Steps
from pueval.sensitivity.grid import function_of_mixtures
from pueval.text.numbers import format_number
from pueval.text.results import Result

# A larger labeling bias amounts to no assumption at all.
LARGEST_BIAS = 1e6


@dataclass(frozen=True, repr=False)
class TippingPoint(Result):
    """How wrong the assumptions would have to be for a conclusion to fail.

    Attributes
    ----------
    measure : str
        Name of the measure.
    value : float
        Value that the conclusion depends on.
    labeling_bias : float
        Smallest labeling bias Λ at which the measure could be on the other side of ``value``;
        inf if no bias is large enough, NaN if the measure is undefined.
    prior : float
        Prior at which the corrected measure equals ``value``; NaN if there is none.
    """

    measure: str
    value: float
    labeling_bias: float
    prior: float

    def _headline(self) -> str:
        bias, prior = "no labeling bias", "no prior"
        if math.isfinite(self.labeling_bias):
            bias = f"a labeling bias of {self.labeling_bias:.3g}"
        if math.isfinite(self.prior):
            prior = f"a prior of {self.prior:.3g}"
        return f"{self.measure} could be {format_number(self.value)} with {bias}, or with {prior}"


def _check_bias(bias: float) -> float:
    if not (isinstance(bias, int | float | np.number) and 1 <= bias < math.inf):
        raise InputError(
            f"bias must be a number of at least 1; got {bias!r}. "
            "1 means that all positives were equally likely to be labeled."
        )
    return float(bias)


def _check_setting(counts: Counts, mixture: Mixture, target: Target) -> None:
    counts._refuse_propensities("a bound for a labeling bias")
    if mixture.purity < 1:
        raise InputError(
            f"bounds for a labeling bias require clean labels; got purity {mixture.purity:g}. "
            "Use purity=1, or sensitivity() to vary the purity."
        )
    if target != "population":
        raise InputError(
            f"bounds for a labeling bias require target='population'; got target={target!r}. "
            "They need labeled and unlabeled positives from one population."
        )


def rate_bounds(rate: Array, bias: float) -> tuple[Array, Array]:
    """Bound a rate of the positives, given its value among the labeled positives.

    The odds of the true rate lie between odds(rate)/Λ and Λ·odds(rate).

    Parameters
    ----------
    rate : ndarray
        Rate of the labeled rows.
    bias : float
        Labeling bias Λ.

    Returns
    -------
    low, high : ndarray

    Examples
    --------
    >>> import numpy as np
    >>> low, high = rate_bounds(np.array([0.5]), 3.0)
    >>> float(low[0]), float(high[0])
    (0.25, 0.75)
    """
    low = rate / (rate + bias * (1 - rate))
    high = bias * rate / (bias * rate + 1 - rate)
    return low, high


def _possible_rates(counts: Counts, steps: Steps, estimate: Rates) -> tuple[Array, Array]:
    """Return the range of true positive rates that the rows allow, extended to the estimate.

    All labeled rows are positives. The remaining positives, whose number follows from the
    prevalence, are among the unlabeled rows.
    """
    positives = estimate.prevalence * counts.n
    labeled_below = counts.n_labeled - steps.labeled
    unlabeled_below = counts.n_unlabeled - steps.unlabeled
    least = np.maximum(steps.labeled, positives - labeled_below - unlabeled_below)
    most = np.minimum(steps.labeled + steps.unlabeled, positives - labeled_below)
    return np.minimum(least / positives, estimate.tpr), np.maximum(most / positives, estimate.tpr)


def measure_bounds(
    measure: Measure, counts: Counts, steps: Steps, mixture: Mixture, bias: float
) -> tuple[float, float]:
    """Bound a measure at the first threshold of ``steps``, clipped to its range."""
    estimate = correct_steps(counts, steps, mixture)
    if math.isnan(float(measure(estimate)[0])):
        return math.nan, math.nan
    least, most = _possible_rates(counts, steps, estimate)
    ends = []
    for bound in rate_bounds(steps.labeled / counts.n_labeled, bias):
        tpr = np.clip(bound, least, most)
        fpr = (estimate.predicted - estimate.prevalence * tpr) / (1 - estimate.prevalence)
        end = float(measure(replace(estimate, tpr=tpr, fpr=fpr))[0])
        # A measure is undefined at the end of a range only if it is a ratio that tends to inf.
        ends.append(measure.high if math.isnan(end) else measure.clip(end))
    low, high = sorted(ends)
    return low, high


def auc_bounds(counts: Counts, mixture: Mixture, bias: float) -> tuple[float, float]:
    """Bound the AUC.

    The mean placement of the positives among all rows, v = π/2 + (1 − π)·AUC, is a weighted mean
    over the labeled rows with weights between 1 and Λ. It is extreme if all rows on one side of a
    cut have weight Λ and all others weight 1; one scan finds the cut. Each labeled row represents
    at least itself, so the number of unlabeled positives limits how many rows have weight Λ.
    """
    score, cumulative = counts._cumulative_labeled
    count = np.diff(cumulative, prepend=0)
    above, at_or_above = counts._cumulative_background(score)
    labeled_above = cumulative - count
    total = counts.n
    placement = (total - (labeled_above + cumulative + above + at_or_above) / 2) / total
    prevalence = mixture.prevalence(counts)

    def weighted_mean(heavy: Array, heavy_sum: Array) -> Array:
        """Return mean placements with weight Λ for ``heavy`` rows, whose placements are summed."""
        weighted_sum = np.sum(count * placement) + (bias - 1) * heavy_sum
        return np.asarray(weighted_sum / (count.sum() + (bias - 1) * heavy))

    # Scores descend: the first rows are heavy for the upper bound, the last for the lower one.
    hidden = max(prevalence * total - counts.n_labeled, 0.0)
    most = hidden / (bias - 1) if bias > 1 else math.inf
    sizes = np.concatenate([[0.0], np.cumsum(count)])
    sums = np.concatenate([[0.0], np.cumsum(count * placement)])
    first, last = np.minimum(sizes, most), np.minimum(sizes[-1] - sizes, most)
    high = weighted_mean(first, np.interp(first, sizes, sums)).max()
    low = weighted_mean(last, sums[-1] - np.interp(sizes[-1] - last, sizes, sums)).min()
    ends = [(mean - prevalence / 2) / (1 - prevalence) for mean in (low, high)]
    return float(np.clip(ends[0], 0, 1)), float(np.clip(ends[1], 0, 1))


def _tipping_bias(
    value: float, estimate: float, bounds: Callable[[float], tuple[float, float]]
) -> float:
    """Return the smallest bias at which ``value`` lies within ``bounds(bias)``."""

    def margin(log_bias: float) -> float:
        low, high = bounds(math.exp(log_bias))
        return float(value - low if value < estimate else high - value)

    inside, outside = math.log(LARGEST_BIAS), 0.0
    if margin(outside) >= 0:
        return 1.0
    if margin(inside) < 0:
        return math.inf
    for _ in range(60):
        middle = (inside + outside) / 2
        inside, outside = (middle, outside) if margin(middle) >= 0 else (inside, middle)
    return math.exp(inside)


def _tipping_prior(value: float, prior: float, measure: Callable[[Mixtures], Array]) -> float:
    """Return the prior nearest to ``prior`` at which a measure is ``value``; NaN if none."""
    from scipy.optimize import brentq  # slow to import

    def difference(priors: Array) -> Array:
        return measure(Mixtures(priors, np.ones(priors.size))) - value

    grid = np.linspace(0.0, 0.995, 400)
    differences = difference(grid)
    crossings = np.flatnonzero(differences[:-1] * differences[1:] <= 0)
    roots = [
        brentq(lambda p: difference(np.array([p]))[0], grid[k], grid[k + 1])
        for k in crossings
        if np.isfinite(differences[k : k + 2]).all() and differences[k] != differences[k + 1]
    ]
    return float(min(roots, key=lambda root: abs(root - prior))) if roots else math.nan


def labeling_bias_bounds(
    counts: Counts, mixture: Mixture, target: Target, threshold: float, bias: float
) -> dict[str, tuple[float, float]]:
    """Bound the AUC, and every measure at a threshold, for a labeling bias."""
    _check_setting(counts, mixture, target)
    bias, steps = _check_bias(bias), counts.at(threshold)
    return {"roc_auc": auc_bounds(counts, mixture, bias)} | {
        name: measure_bounds(measure, counts, steps, mixture, bias)
        for name, measure in MEASURES.items()
    }


def tipping_point(
    name: str,
    value: float,
    estimate: float,
    counts: Counts,
    mixture: Mixture,
    target: Target,
    threshold: float,
) -> TippingPoint:
    """Find the labeling bias, and the prior, at which a measure could be ``value``."""
    _check_setting(counts, mixture, target)
    if math.isnan(value):
        raise InputError("value must be a number; got nan.")
    if math.isnan(estimate):
        return TippingPoint(name, value, math.nan, math.nan)
    if name == "average_precision":
        raise InputError(f"there is no tipping point of {name}. Use 'roc_auc' instead.")
    bounds = partial(auc_bounds, counts, mixture)
    if name != "roc_auc":
        bounds = partial(measure_bounds, find_measure(name), counts, counts.at(threshold), mixture)
    measure = function_of_mixtures(name, counts, target, threshold)
    bias = _tipping_bias(value, estimate, bounds)
    return TippingPoint(name, value, bias, _tipping_prior(value, mixture.prior, measure))
