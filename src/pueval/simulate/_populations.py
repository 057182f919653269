"""Populations with exact truth: every rate, measure, curve and area of a score model."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pueval._checks import check_count, check_fraction
from pueval._typing import Array
from pueval.core.curves import PrecisionRecallCurve, RocCurve
from pueval.core.measures import find_measure
from pueval.core.rates import Rates
from pueval.errors import InputError
from pueval.simulate._distributions import Density, Normal, Remainder


@dataclass(frozen=True, eq=False)
class SimulatedRows:
    """Rows drawn from a population.

    Attributes
    ----------
    score : ndarray of float
        The scores.
    positive : ndarray of bool
        The truth.
    """

    score: Array
    positive: Array


@dataclass(frozen=True)
class Population:
    """Scores of positives and negatives, and how many positives there are: all that is true.

    At a threshold t the true positive rate is P(score ≥ t | positive), the false positive rate
    P(score ≥ t | negative), and every measure follows from the two and the prevalence. Areas are
    integrals over the recall r, with t(r) the threshold that a share r of the positives reaches:
    AUC = 1 − ∫ fpr(t(r)) dr and average precision = ∫ precision(t(r)) dr.

    Make one with `binormal`, `beta_scores` or `ranked`, or from two densities.

    Parameters
    ----------
    positive, negative : Density
        The scores of the two classes: `Normal`, `Beta`, `Remainder`, or anything with the methods
        ``above``, ``threshold``, ``pdf`` and ``draw``.
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
        """Return the same scores with another share of positives.

        For ``target="unlabeled"`` the truth is that of ``with_prevalence(prior)``.

        Parameters
        ----------
        prevalence : float
            The other share.

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

    # ------------------------------------------------------------------ at thresholds

    def rates(self, threshold: Any) -> Rates:
        """Return the true rates at thresholds, as `pueval.rates.Rates`.

        Parameters
        ----------
        threshold : array-like
            Scores at or above it are predicted positive.

        Returns
        -------
        Rates
            Of a target of size 1.

        Examples
        --------
        >>> from pueval.simulate import binormal
        >>> binormal(2, prevalence=0.3).rates([1.0]).tpr.round(4)
        array([0.8413])
        """
        wanted = np.atleast_1d(np.asarray(threshold, dtype=np.float64))
        tpr, fpr = self.positive.above(wanted), self.negative.above(wanted)
        predicted = self.prevalence * tpr + (1 - self.prevalence) * fpr
        return Rates(wanted, tpr, fpr, predicted, self.prevalence, 1)

    def measure(self, name: str, *, threshold: float) -> float:
        """Return the true value of a measure at a threshold.

        Parameters
        ----------
        name : str
            Any measure of `pueval.evaluate`, such as ``"f1"``.
        threshold : float
            Scores at or above it are predicted positive.

        Returns
        -------
        float
            NaN where the measure is undefined.

        Examples
        --------
        >>> from pueval.simulate import binormal
        >>> round(binormal(2, prevalence=0.3).measure("precision", threshold=1.0), 4)
        0.6944
        """
        return float(find_measure(name)(self.rates(threshold))[0])

    def best(self, name: str) -> tuple[float, float]:
        """Return the threshold at which a measure is best, and its value there.

        Found on a fine grid of thresholds and then by golden section around the best of them.

        Parameters
        ----------
        name : str
            A measure at a threshold.

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

        def worth(threshold: Array) -> Array:
            values = sign * measure(self.rates(threshold))
            return np.where(np.isnan(values), -np.inf, values)

        grid = self._thresholds(4001)
        k = int(np.argmax(worth(grid)))
        low, high = grid[min(k + 1, grid.size - 1)], grid[max(k - 1, 0)]
        ratio = (math.sqrt(5) - 1) / 2
        for _ in range(80):
            left, right = high - ratio * (high - low), low + ratio * (high - low)
            first, second = worth(np.array([left, right]))
            low, high = (low, right) if first >= second else (left, high)
        middle = float((low + high) / 2)
        # Predicting everything, or nothing, may be best.
        candidates = np.array([middle, grid[k], np.inf, -np.inf])
        values = worth(candidates)
        where = int(np.argmax(values))
        return float(candidates[where]), float(sign * values[where])

    # ------------------------------------------------------------------ curves and areas

    def _thresholds(self, n: int) -> Array:
        """Thresholds from high to low that follow the scores of both classes."""
        shares = np.linspace(0, 1, n // 2 + 2)[1:-1]
        extreme = np.logspace(-9, -3, 25)
        shares = np.concatenate([extreme, shares, 1 - extreme])
        both = [self.positive.threshold(shares), self.negative.threshold(shares)]
        found = np.unique(np.concatenate(both))[::-1]
        # A threshold may be rounded up to the highest possible score, where nothing is left.
        return found[(self.positive.above(found) > 0) | (self.negative.above(found) > 0)]

    def tpr_at(self, fpr: Any) -> Array:
        """Return the height of the true ROC curve at false positive rates.

        Parameters
        ----------
        fpr : array-like
            Within [0, 1].

        Returns
        -------
        ndarray

        Examples
        --------
        >>> from pueval.simulate import binormal
        >>> binormal(2, prevalence=0.3).tpr_at([0.1]).round(4)
        array([0.7638])
        """
        wanted = np.atleast_1d(np.asarray(fpr, dtype=np.float64))
        if np.any(~((wanted >= 0) & (wanted <= 1))):
            raise InputError("false positive rates must lie in [0, 1].")
        return self.positive.above(self.negative.threshold(wanted))

    def roc(self, n: int = 2001) -> RocCurve:
        """Return points of the true ROC curve.

        Parameters
        ----------
        n : int, default 2001
            About how many; half of them follow the scores of each class.

        Returns
        -------
        RocCurve

        Examples
        --------
        >>> from pueval.simulate import binormal
        >>> round(binormal(2, prevalence=0.3).roc().area, 3)
        0.921
        """
        these = self.rates(self._thresholds(n))
        return RocCurve(
            np.concatenate([[0], these.fpr, [1]]),
            np.concatenate([[0], these.tpr, [1]]),
            np.concatenate([[np.inf], these.threshold, [-np.inf]]),
        )

    def pr(self, n: int = 2001) -> PrecisionRecallCurve:
        """Return points of the true precision-recall curve.

        Parameters
        ----------
        n : int, default 2001
            About how many.

        Returns
        -------
        PrecisionRecallCurve

        Examples
        --------
        >>> from pueval.simulate import binormal
        >>> round(binormal(2, prevalence=0.3).pr().area, 2)
        0.85
        """
        these = self.rates(self._thresholds(n))
        precision = self.prevalence * these.tpr / these.predicted
        return PrecisionRecallCurve(
            np.concatenate([[precision[0]], precision, [self.prevalence]]),
            np.concatenate([[0], these.tpr, [1]]),
            np.concatenate([[np.inf], these.threshold, [-np.inf]]),
        )

    @property
    def roc_auc(self) -> float:
        """True area under the ROC curve; closed form for normal scores and ranks."""
        one, other = self.positive, self.negative
        if isinstance(one, Normal) and isinstance(other, Normal):
            distance = (one.mean - other.mean) / math.hypot(one.spread, other.spread)
            return float(Normal().above(np.array([-distance]))[0])
        if isinstance(other, Remainder) and other.taken == one:
            # Ranks are uniform, so the mean relative rank of the positives says it all.
            return (one.mean - other.share / 2) / (1 - other.share)
        return _integral(lambda recall: 1 - other.above(one.threshold(recall)))

    @property
    def average_precision(self) -> float:
        """True area under the precision-recall curve, by quadrature."""

        def precision(recall: Array) -> Array:
            fpr = self.negative.above(self.positive.threshold(recall))
            hits = self.prevalence * recall
            found: Array = hits / (hits + (1 - self.prevalence) * fpr)
            return found

        return _integral(precision)

    def area(self, name: str) -> float:
        """Return ``roc_auc`` or ``average_precision`` by name.

        Parameters
        ----------
        name : str
            One of the two.

        Returns
        -------
        float

        Examples
        --------
        >>> from pueval.simulate import binormal
        >>> round(binormal(2, prevalence=0.3).area("roc_auc"), 4)
        0.9214
        """
        if name not in {"roc_auc", "average_precision"}:
            raise InputError(f"area must be 'roc_auc' or 'average_precision'; got {name!r}.")
        return float(getattr(self, name))

    # ------------------------------------------------------------------ rows

    def draw(
        self, n: int, *, seed: int | np.random.Generator, exact: bool = False
    ) -> SimulatedRows:
        """Draw rows.

        Parameters
        ----------
        n : int
            How many.
        seed : int or numpy Generator
            Of the random numbers.
        exact : bool, default False
            Whether the number of positives is the prevalence times n, rounded, instead of
            being left to chance.

        Returns
        -------
        Drawn
            In random order.

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
        found = int(positive.sum())
        score[positive] = self.positive.draw(rng, found)
        score[~positive] = self.negative.draw(rng, n - found)
        return SimulatedRows(score, positive)


def _integral(function: Callable[[Array], Array], tolerance: float = 1e-10) -> float:
    """Integrate over (0, 1) by the tanh-sinh rule, halving its step until nothing changes.

    The rule moves the ends to infinity, so integrands with infinite slope there, as curves of
    recall have, cost nothing.
    """
    before = math.nan
    for level in range(4, 14):
        step = 8.0 / 2**level
        t = np.arange(-4.0, 4.0 + step / 2, step)
        inner = np.pi / 2 * np.sinh(t)
        place = 1 / (1 + np.exp(-2 * inner))
        weight = np.pi / 4 * np.cosh(t) / np.cosh(inner) ** 2
        inside = (place > 0) & (place < 1) & (weight > 0)
        now = float(step * np.sum(weight[inside] * function(place[inside])))
        if abs(now - before) < tolerance:
            return now
        before = now
    raise InputError("the area under this curve could not be integrated to ten digits.")
