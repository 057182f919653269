"""What if labeling was not random: bounds for a given labeling bias, and tipping points.

The labeling bias Λ says that any two positives' chances of being labeled differ by at most a factor
Λ; 1 is random labeling. The labeled rows are then a sample of the positives in which some are
over-represented by up to Λ against others, and the true positive rate is known only within
bounds. All rows together are still known, so that nothing else is in doubt. Labeled rows are
positives: where most positives are labeled, there is little room for a bias.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from pueval._typing import Array, Target
from pueval.core.curves import direct_auc, naive_auc
from pueval.core.measures import MEASURES, Measure, find_measure
from pueval.core.mixture import Mixture
from pueval.core.rates import Rates, correct_steps
from pueval.counts.counts import Counts
from pueval.errors import InputError
from pueval.samples.steps import Steps

# A labeling bias beyond this is as good as no assumption at all.
LARGEST_BIAS = 1e6


@dataclass(frozen=True)
class TippingPoint:
    """What would have to be wrong for a conclusion to fail.

    Attributes
    ----------
    measure : str
        Its name.
    value : float
        The value that was asked about.
    labeling_bias : float
        Smallest labeling bias Λ at which the measure could be on the other side of ``value``;
        inf if none is enough.
    prior : float
        Prior at which the corrected measure is ``value``; NaN if there is none.
    """

    measure: str
    value: float
    labeling_bias: float
    prior: float


def _check_bias(bias: float) -> float:
    if not (isinstance(bias, int | float | np.number) and 1 <= bias < math.inf):
        raise InputError(
            f"labeling_bias must be a number that is at least 1; got {bias!r}. "
            "1 means that all positives were equally likely to be labeled."
        )
    return float(bias)


def _check_setting(counts: Counts, mixture: Mixture, target: Target) -> None:
    counts._refuse_propensities("a bound for a labeling bias")
    if mixture.purity < 1:
        raise InputError(
            f"bounds for a labeling bias take labels as clean; got purity {mixture.purity:g}."
        )
    if target != "population":
        raise InputError(
            "bounds for a labeling bias are for target='population': hidden and labeled positives "
            f"then together are the positives; got target={target!r}."
        )


def rate_bounds(rate: Array, bias: float) -> tuple[Array, Array]:
    """Bound a rate among the positives: its odds may be wrong by a factor.

    odds(true) lies between odds(rate)/Λ and Λ·odds(rate).

    Parameters
    ----------
    rate : ndarray
        Share of the labeled rows.
    bias : float
        The labeling bias Λ.

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


def _possible_rates(counts: Counts, steps: Steps, known: Rates) -> tuple[Array, Array]:
    """Return the true positive rates that the rows allow, and the estimate in any case.

    All labeled rows are positives, as many others as the prevalence says are among the unlabeled
    rows, and none among the known negatives.
    """
    positives = known.prevalence * counts.n
    labeled_below = counts.n_labeled - steps.labeled
    unlabeled_below = counts.n_unlabeled - steps.unlabeled
    least = np.maximum(steps.labeled, positives - labeled_below - unlabeled_below)
    most = np.minimum(steps.labeled + steps.unlabeled, positives - labeled_below)
    return np.minimum(least / positives, known.tpr), np.maximum(most / positives, known.tpr)


def measure_bounds(
    measure: Measure, counts: Counts, steps: Steps, mixture: Mixture, bias: float
) -> tuple[float, float]:
    """Bound a measure at the first threshold of ``steps``; clipped to its range."""
    known = correct_steps(counts, steps, mixture)
    if math.isnan(float(measure(known)[0])):
        return math.nan, math.nan
    least, most = _possible_rates(counts, steps, known)
    ends = []
    for bound in rate_bounds(steps.labeled / counts.n_labeled, bias):
        tpr = np.clip(bound, least, most)
        fpr = (known.predicted - known.prevalence * tpr) / (1 - known.prevalence)
        there = Rates(known.threshold, tpr, fpr, known.predicted, known.prevalence, known.size)
        end = float(measure(there)[0])
        # Only ratios that grow without bound are undefined at the end.
        ends.append(measure.high if math.isnan(end) else measure.clip(end))
    low, high = sorted(ends)
    return low, high


def auc_bounds(counts: Counts, mixture: Mixture, bias: float) -> tuple[float, float]:
    """Bound the AUC.

    The mean placement of the positives among all rows, v = π/2 + (1 − π)·AUC, is a mean over the
    labeled rows with weights between 1 and Λ. It is extreme if all rows on one side of a
    cut have weight Λ and all others 1; one scan finds the cut. A row stands for at least itself,
    so that no more rows can have weight Λ than there are hidden positives for.
    """
    score, reached = counts._cumulative_labeled
    count = np.diff(reached, prepend=0)
    above, at_or_above = counts._cumulative_background(score)
    before = reached - count
    total = counts.n
    placement = (total - (before + reached + above + at_or_above) / 2) / total
    prevalence = mixture.prevalence(counts)

    def mean_with(heavy: Array, heavy_sum: Array) -> Array:
        everything, weighted = count.sum(), np.sum(count * placement)
        top = weighted + (bias - 1) * heavy_sum
        means: Array = top / (everything + (bias - 1) * heavy)
        return means

    # Best scores first: the first of them heavy, or the last.
    hidden = max(prevalence * total - counts.n_labeled, 0.0)
    most = hidden / (bias - 1) if bias > 1 else math.inf
    sizes = np.concatenate([[0.0], np.cumsum(count)])
    sums = np.concatenate([[0.0], np.cumsum(count * placement)])
    first, last = np.minimum(sizes, most), np.minimum(sizes[-1] - sizes, most)
    high = mean_with(first, np.interp(first, sizes, sums)).max()
    low = mean_with(last, sums[-1] - np.interp(sizes[-1] - last, sizes, sums)).min()
    ends = [(mean - prevalence / 2) / (1 - prevalence) for mean in (low, high)]
    return float(np.clip(ends[0], 0, 1)), float(np.clip(ends[1], 0, 1))


def _tipping_bias(
    value: float, estimate: float, bounds: Callable[[float], tuple[float, float]]
) -> float:
    """Smallest bias at which ``value`` lies within ``bounds(bias)``."""

    def reaches(log_bias: float) -> float:
        low, high = bounds(math.exp(log_bias))
        return float(value - low if value < estimate else high - value)

    inside, outside = math.log(LARGEST_BIAS), 0.0
    if reaches(outside) >= 0:
        return 1.0
    if reaches(inside) < 0:
        return math.inf
    for _ in range(60):
        middle = (inside + outside) / 2
        inside, outside = (middle, outside) if reaches(middle) >= 0 else (inside, middle)
    return math.exp(inside)


def _tipping_prior(value: float, prior: float, corrected: Callable[[float], float]) -> float:
    """Prior nearest to ``prior`` at which ``corrected(prior)`` is ``value``; NaN if none."""
    from scipy.optimize import brentq  # slow to import

    grid = np.linspace(0.0, 0.995, 400)
    differences = np.array([corrected(float(p)) - value for p in grid])
    crossings = np.flatnonzero(differences[:-1] * differences[1:] <= 0)
    roots = [
        brentq(lambda p: corrected(float(p)) - value, grid[k], grid[k + 1])
        for k in crossings
        if np.isfinite(differences[k : k + 2]).all() and differences[k] != differences[k + 1]
    ]
    return float(min(roots, key=lambda root: abs(root - prior))) if roots else math.nan


def labeling_bias_bounds(
    counts: Counts, mixture: Mixture, target: Target, threshold: float, bias: float
) -> dict[str, tuple[float, float]]:
    """Bound the AUC, and every measure at a threshold, for a labeling bias."""
    _check_setting(counts, mixture, target)
    factor, there = _check_bias(bias), counts.at(threshold)
    found = {"roc_auc": auc_bounds(counts, mixture, factor)}
    for name, measure in MEASURES.items():
        found[name] = measure_bounds(measure, counts, there, mixture, factor)
    return found


def tipping_point(
    name: str,
    value: float,
    estimate: float,
    counts: Counts,
    corners: Steps,
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
        raise InputError(f"there is no tipping point of {name}; ask for 'roc_auc'.")
    bounds: Callable[[float], tuple[float, float]]
    if name == "roc_auc":
        naive = naive_auc(counts, corners)
        bounds = partial(auc_bounds, counts, mixture)

        def corrected(prior: float) -> float:
            return direct_auc(counts, naive, Mixture(prior))
    else:
        measure, there = find_measure(name), counts.at(threshold)
        bounds = partial(measure_bounds, measure, counts, there, mixture)

        def corrected(prior: float) -> float:
            return float(measure(correct_steps(counts, there, Mixture(prior)))[0])

    return TippingPoint(
        name,
        value,
        _tipping_bias(value, estimate, bounds),
        _tipping_prior(value, mixture.prior, corrected),
    )
