"""Population: a score model whose rates, measures, curves and areas are known exactly."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pueval._checks import check_choice, check_count, check_fraction
from pueval._typing import Array
from pueval.core.curves import PrecisionRecallCurve, RocCurve
from pueval.core.measures import AREAS, find_measure
from pueval.core.rates import Rates, predicted_share
from pueval.errors import InputError
from pueval.simulate._distributions import Density, Normal, Remainder
from pueval.text.results import Result

# Areas are integrated until they change by less than this.
AREA_TOLERANCE = 1e-10


@dataclass(frozen=True, eq=False, repr=False)
class SimulatedRows(Result):
    """Rows drawn from a population.

    Attributes
    ----------
    score : ndarray of float
        Scores.
    positive : ndarray of bool
        True classes.
    """

    score: Array
    positive: Array

    def _headline(self) -> str:
        return f"SimulatedRows: {self.score.size:,} rows, {self.positive.sum():,} positive"


@dataclass(frozen=True)
class Population:
    """Score distributions of positives and negatives, and the prevalence.

    At a threshold t, the true positive rate is P(score ≥ t | positive) and the false positive rate
    is P(score ≥ t | negative). All measures follow from these rates and the prevalence. Areas are
    integrals over recall r, with t(r) the threshold that a share r of the positives reaches:
    AUC = 1 − ∫ fpr(t(r)) dr and average precision = ∫ precision(t(r)) dr.

    Use `binormal`, `beta_scores` or `ranked` to make one, or pass two distributions.

    Parameters
    ----------
    positive, negative : Density
        Score distributions of the classes: `Normal`, `Beta`, `Remainder`, or any object with the
        methods ``survival``, ``inverse_survival``, ``pdf`` and ``draw``.
    prevalence : float
        Share of positives, in (0, 1).

    Examples
    --------
    >>> from pueval.simulate import binormal
    >>> population = binormal(2, prevalence=0.3)
    >>> round(population.roc_auc, 4), round(population.average_precision, 4)
    (0.9214, 0.8505)
    >>> round(population.measure("f1", threshold=1.0), 4)
    0.7609
    """

    positive: Density
    negative: Density
    prevalence: float

    def __post_init__(self) -> None:
        check_fraction("prevalence", self.prevalence)

    def with_prevalence(self, prevalence: float) -> Population:
        """Return the population with another prevalence.

        ``with_prevalence(prior)`` gives the truth for ``target="unlabeled"``.

        Parameters
        ----------
        prevalence : float
            Share of positives, in (0, 1).

        Returns
        -------
        Population

        Examples
        --------
        >>> from pueval.simulate import binormal
        >>> binormal(2, prevalence=0.3).with_prevalence(0.1).prevalence
        0.1
        """
        return replace(self, prevalence=prevalence)

    def rates(self, threshold: Any) -> Rates:
        """Return the true rates at thresholds.

        Parameters
        ----------
        threshold : array-like
            Thresholds; rows with scores at or above a threshold are predicted positive.

        Returns
        -------
        Rates
            Rates in a target of size 1.

        Examples
        --------
        >>> from pueval.simulate import binormal
        >>> binormal(2, prevalence=0.3).rates([1.0]).tpr.round(4)
        array([0.8413])
        """
        thresholds = np.atleast_1d(np.asarray(threshold, dtype=np.float64))
        tpr, fpr = self.positive.survival(thresholds), self.negative.survival(thresholds)
        predicted = predicted_share(tpr, fpr, self.prevalence)
        return Rates(thresholds, tpr, fpr, predicted, self.prevalence, 1)

    def measure(self, name: str, *, threshold: float) -> float:
        """Return the true value of a measure at a threshold.

        Parameters
        ----------
        name : str
            Name of a measure of `pueval.evaluate`, such as ``"f1"``.
        threshold : float
            Threshold; rows with scores at or above it are predicted positive.

        Returns
        -------
        float
            Value; NaN if the measure is undefined.

        Examples
        --------
        >>> from pueval.simulate import binormal
        >>> round(binormal(2, prevalence=0.3).measure("precision", threshold=1.0), 4)
        0.6944
        """
        return float(find_measure(name)(self.rates(threshold))[0])

    def best(self, name: str) -> tuple[float, float]:
        """Return the threshold at which a measure is best, and its value there.

        A golden-section search refines the best point of a fine grid.

        Parameters
        ----------
        name : str
            Name of a measure at a threshold.

        Returns
        -------
        threshold, value : float

        Examples
        --------
        >>> from pueval.simulate import binormal
        >>> threshold, value = binormal(2, prevalence=0.3).best("matthews_corrcoef")
        >>> round(threshold, 2), round(value, 2)
        (1.29, 0.66)
        """
        measure = find_measure(name)
        sign = 1.0 if measure.greater_is_better else -1.0

        def objective(threshold: Array) -> Array:
            values = sign * measure(self.rates(threshold))
            return np.where(np.isnan(values), -np.inf, values)

        grid = self._thresholds(4001)
        k = int(np.argmax(objective(grid)))
        low, high = grid[min(k + 1, grid.size - 1)], grid[max(k - 1, 0)]
        ratio = (math.sqrt(5) - 1) / 2
        for _ in range(80):
            left, right = high - ratio * (high - low), low + ratio * (high - low)
            first, second = objective(np.array([left, right]))
            low, high = (low, right) if first >= second else (left, high)
        # Predicting all rows positive, or none, may be best.
        candidates = np.array([(low + high) / 2, grid[k], np.inf, -np.inf])
        values = objective(candidates)
        best = int(np.argmax(values))
        return float(candidates[best]), float(sign * values[best])

    def _thresholds(self, n: int) -> Array:
        """Return descending thresholds at quantiles of both classes."""
        extreme = np.logspace(-9, -3, 25)
        shares = np.r_[extreme, np.linspace(0, 1, n // 2 + 2)[1:-1], 1 - extreme]
        thresholds = [
            self.positive.inverse_survival(shares),
            self.negative.inverse_survival(shares),
        ]
        grid = np.unique(thresholds)[::-1]
        # Rounding may move a threshold to the highest possible score, which no row reaches.
        return grid[(self.positive.survival(grid) > 0) | (self.negative.survival(grid) > 0)]

    def tpr_at(self, fpr: Any) -> Array:
        """Return the height of the true ROC curve at false positive rates.

        Parameters
        ----------
        fpr : array-like
            False positive rates, in [0, 1].

        Returns
        -------
        ndarray

        Examples
        --------
        >>> from pueval.simulate import binormal
        >>> binormal(2, prevalence=0.3).tpr_at([0.1]).round(4)
        array([0.7638])
        """
        rates = np.atleast_1d(np.asarray(fpr, dtype=np.float64))
        invalid = ~((rates >= 0) & (rates <= 1))
        if invalid.any():
            raise InputError(f"fpr must be in [0, 1]; got {rates[invalid][0]:g}.")
        return self.positive.survival(self.negative.inverse_survival(rates))

    def roc(self, n: int = 2001) -> RocCurve:
        """Return points of the true ROC curve.

        Parameters
        ----------
        n : int, default 2001
            Approximate number of points, half of them at quantiles of each class.

        Returns
        -------
        RocCurve

        Examples
        --------
        >>> from pueval.simulate import binormal
        >>> round(binormal(2, prevalence=0.3).roc().area, 3)
        0.921
        """
        rates = self.rates(self._thresholds(n))
        threshold = np.r_[np.inf, rates.threshold, -np.inf]
        return RocCurve(np.r_[0, rates.fpr, 1], np.r_[0, rates.tpr, 1], threshold)

    def pr(self, n: int = 2001) -> PrecisionRecallCurve:
        """Return points of the true precision-recall curve.

        Parameters
        ----------
        n : int, default 2001
            Approximate number of points.

        Returns
        -------
        PrecisionRecallCurve

        Examples
        --------
        >>> from pueval.simulate import binormal
        >>> round(binormal(2, prevalence=0.3).pr().area, 2)
        0.85
        """
        rates = self.rates(self._thresholds(n))
        precision = self.prevalence * rates.tpr / rates.predicted
        precision = np.r_[precision[0], precision, self.prevalence]
        threshold = np.r_[np.inf, rates.threshold, -np.inf]
        return PrecisionRecallCurve(precision, np.r_[0, rates.tpr, 1], threshold)

    @property
    def roc_auc(self) -> float:
        """True area under the ROC curve; closed form for normal scores and ranks."""
        positive, negative = self.positive, self.negative
        if isinstance(positive, Normal) and isinstance(negative, Normal):
            scale = math.hypot(positive.spread, negative.spread)
            distance = (positive.mean - negative.mean) / scale
            return float(Normal().survival(np.array([-distance]))[0])
        if isinstance(negative, Remainder) and negative.taken == positive:
            # Ranks are uniform, so the AUC follows from the mean rank of the positives.
            return (positive.mean - negative.share / 2) / (1 - negative.share)
        return _integrate(lambda recall: 1 - negative.survival(positive.inverse_survival(recall)))

    @property
    def average_precision(self) -> float:
        """True area under the precision-recall curve, by quadrature."""

        def precision(recall: Array) -> Array:
            fpr = self.negative.survival(self.positive.inverse_survival(recall))
            true_positive = self.prevalence * recall
            return true_positive / (true_positive + (1 - self.prevalence) * fpr)

        return _integrate(precision)

    def area(self, name: str) -> float:
        """Return ``roc_auc`` or ``average_precision`` by name.

        Parameters
        ----------
        name : str
            ``"roc_auc"`` or ``"average_precision"``.

        Returns
        -------
        float

        Examples
        --------
        >>> from pueval.simulate import binormal
        >>> round(binormal(2, prevalence=0.3).area("roc_auc"), 4)
        0.9214
        """
        check_choice("area", name, AREAS)
        return float(getattr(self, name))

    def draw(
        self, n: int, *, seed: int | np.random.Generator, exact: bool = False
    ) -> SimulatedRows:
        """Draw rows.

        Parameters
        ----------
        n : int
            Number of rows.
        seed : int or numpy Generator
            Random seed.
        exact : bool, default False
            Whether to fix the number of positives at prevalence × n, rounded, instead of drawing
            it at random.

        Returns
        -------
        SimulatedRows
            Rows in random order.

        Examples
        --------
        >>> from pueval.simulate import binormal
        >>> rows = binormal(2, prevalence=0.3).draw(1000, seed=0, exact=True)
        >>> int(rows.positive.sum())
        300
        """
        check_count("n", n)
        rng = np.random.default_rng(seed)
        if exact:
            positive = rng.permutation(np.arange(n) < round(self.prevalence * n))
        else:
            positive = rng.random(n) < self.prevalence
        score = np.empty(n)
        n_positive = int(positive.sum())
        score[positive] = self.positive.draw(rng, n_positive)
        score[~positive] = self.negative.draw(rng, n - n_positive)
        return SimulatedRows(score, positive)


def _integrate(function: Callable[[Array], Array]) -> float:
    """Integrate over (0, 1) by the tanh-sinh rule, halving its step until it converges.

    The rule moves both ends to infinity, so an infinite slope there, as curves of recall have,
    costs no accuracy.
    """
    previous = math.nan
    for level in range(4, 14):
        step = 8.0 / 2**level
        t = np.arange(-4.0, 4.0 + step / 2, step)
        inner = np.pi / 2 * np.sinh(t)
        x = 1 / (1 + np.exp(-2 * inner))
        weight = np.pi / 4 * np.cosh(t) / np.cosh(inner) ** 2
        inside = (x > 0) & (x < 1) & (weight > 0)
        integral = float(step * np.sum(weight[inside] * function(x[inside])))
        if abs(integral - previous) < AREA_TOLERANCE:
            return integral
        previous = integral
    raise InputError(
        f"the area did not converge to {AREA_TOLERANCE:g}. Use smoother score distributions."
    )
