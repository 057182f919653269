"""ROC and precision-recall curves, and the areas under them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from pueval._checks import check_fraction
from pueval._typing import Array, Target
from pueval.core.measures import MEASURES
from pueval.core.mixture import Mixture
from pueval.core.rates import Rates, correct_area, correct_steps, monotone_rates
from pueval.core.roc_line import RocLine
from pueval.core.sizes import divide_or_zero
from pueval.counts.counts import Counts
from pueval.samples.steps import Steps
from pueval.samples.threads import map_in_threads
from pueval.text.numbers import format_number
from pueval.text.results import Result


@dataclass(frozen=True, eq=False, repr=False)
class RocCurve(Result):
    """A ROC curve from (0, 0) to (1, 1), non-decreasing.

    Attributes
    ----------
    fpr, tpr : ndarray
        Points of the curve; straight lines connect them.
    threshold : ndarray
        Threshold of each point.
    """

    fpr: Array
    tpr: Array
    threshold: Array

    @property
    def area(self) -> float:
        """Area under the curve; for a corrected curve, the indirect AUC of Jain et al."""
        return float(np.trapezoid(self.tpr, self.fpr))

    def _headline(self) -> str:
        return f"ROC curve with {self.fpr.size:,} points, area {format_number(self.area)}"

    def average_precision(self, prevalence: float) -> float:
        """Area under the precision-recall curve that corresponds to this ROC curve.

        At a point (f, t) of the ROC curve, recall is t and precision is π·t/(π·t + (1 − π)·f). The
        integral over recall has a closed form on each straight piece. You can use it to compute
        the average precision at any other prevalence.

        Parameters
        ----------
        prevalence : float
            Share of positives in the target, π.

        Returns
        -------
        float

        Examples
        --------
        >>> import numpy as np
        >>> line = np.array([0.0, 1.0])
        >>> round(RocCurve(line, line, line).average_precision(0.3), 12)    # a random ranking
        0.3
        """
        check_fraction("prevalence", prevalence)
        rising = np.flatnonzero(np.diff(self.tpr) > 0)
        start, step = self.tpr[rising], np.diff(self.tpr)[rising]
        slope = np.diff(self.fpr)[rising] / step
        # Along a piece, the share predicted positive is offset + rise·recall.
        rise = prevalence + (1 - prevalence) * slope
        offset = (1 - prevalence) * (self.fpr[rising] - slope * start)
        predicted = offset + rise * start
        growth = divide_or_zero(rise * step, predicted)
        pieces = prevalence / rise * (step - offset / rise * np.log1p(growth))
        return float(pieces.sum())


@dataclass(frozen=True, eq=False, repr=False)
class PrecisionRecallCurve(Result):
    """A precision-recall curve, recall ascending from 0.

    Attributes
    ----------
    precision, recall : ndarray
        Points of the curve; precision is constant on the step of recall that ends at the point.
    threshold : ndarray
        Threshold of each point.
    """

    precision: Array
    recall: Array
    threshold: Array

    @property
    def area(self) -> float:
        """Average precision: the sum of precision times step of recall; NaN without positives."""
        if not self.recall[-1]:
            return math.nan
        return float(np.sum(np.diff(self.recall) * self.precision[1:]))

    def _headline(self) -> str:
        points, area = f"{self.recall.size:,} points", format_number(self.area)
        return f"Precision-recall curve with {points}, average precision {area}"


# An AUC this many standard errors from 0.5 means that scores are reversed.
REVERSED_Z_SCORE = -3


def naive_auc(counts: Counts, corners: Steps) -> float:
    """Probability that a labeled row outscores a background row; ties count half."""
    if counts._audit is not None:
        corners = counts._naive_corners  # those of an audit have no ties
    background = corners.unlabeled + corners.negative
    outscored = background[-1] - background[1:]
    if corners.tied.any():
        outscored = outscored + np.add(*counts._tied_background(corners))[1:] / 2
    pairs = np.sum(np.diff(corners.labeled).astype(np.float64) * outscored)
    return float(pairs / counts.n_labeled / (counts.n_unlabeled + counts.n_negative))


def model_with_highest_naive_auc(counts: Mapping[str, Counts]) -> str:
    """Return the model whose scores identify the prior best; the first if several are equal.

    The better a model separates labeled from unlabeled rows, the better its scores identify the
    prior. The order of models by naive AUC does not depend on the prior.
    """

    def auc(model: Counts) -> float:
        model._check_nonempty()
        return naive_auc(model, model._roc_corners())

    return [*counts][int(np.argmax(map_in_threads(auc, counts.values())))]


def auc_z_score(counts: Counts, auc: float) -> float:
    """Distance of a naive AUC from 0.5 in standard errors of a random ranking."""
    labeled, background = counts.effective_sizes
    variance = (labeled + background + 1) / (12 * labeled * background)
    return (auc - 0.5) / math.sqrt(variance)


def mean_placement(counts: Counts, target: Target = "population") -> float:
    """Probability that a positive outscores a random row of the target; ties count half.

    Each labeled row represents 1/propensity positives; after an audit, the positives are estimated.
    NaN if the audit found none in the target.
    """
    score, cumulative = counts._inverse_propensity_sample().distinct_cumulative()
    if not score.size:
        return math.nan
    weight = np.diff(cumulative, prepend=0)
    outscored_by = np.zeros(score.size)
    for kind in counts._target_samples(target):
        above, at_or_above = kind.cumulative_counts(score)
        outscored_by += (above + at_or_above) / 2
    size = counts._target_size(target)
    return 1 - float(np.sum(weight * outscored_by)) / float(cumulative[-1]) / size


def direct_auc(
    counts: Counts, naive: float, mixture: Mixture, target: Target = "population"
) -> float:
    """Correct the naive AUC directly (equation 4 of Jain et al., 2017); not clipped.

    If propensities are known, the labeled rows represent all positives, and their AUC against all
    rows is corrected instead. After an audit, this is done for the positives of the ``target``;
    without one, the AUC does not depend on the target.
    """
    if counts.has_propensity:
        placement = mean_placement(counts, target)
        return float(correct_area(placement, mixture, mixture.prevalence(counts, target)))
    return float(correct_area(naive, mixture, mixture.background_prior(counts)))


def correct_roc_from_corners(
    counts: Counts,
    corners: Steps,
    mixture: Mixture,
    target: Target = "population",
    *,
    rates: Rates | None = None,
) -> RocCurve:
    """Correct the ROC curve from the corners of the naive one; pass their rates if you have them.

    The result is that of `correct_roc` with all thresholds, but faster. Other thresholds matter
    only where the curve leaves the unit square, or where scores are tied.
    """
    if rates is None:
        rates = correct_steps(counts, corners, mixture, target)
    line = RocLine.of(corners, rates)
    # Corners at which the line crosses an edge of the square with some labeled rows.
    crosses = ~line.inside
    crosses[1:] |= crosses[:-1]
    crosses[1:] &= corners.labeled[1:] > corners.labeled[:-1]
    split = np.flatnonzero(crosses | corners.tied)
    if split.size:
        rows = slice(split[0] - 1, split[-1] + 2)
        steps = counts._split_ties(corners.part(rows), split - rows.start)
        exact = RocLine.of(steps, correct_steps(counts, steps, mixture, target))
        line = line.replace_rows(rows, exact.within_square())
    return RocCurve(*line.monotone())


def correct_roc(steps: Steps, rates: Rates) -> RocCurve:
    """Turn corrected rates into a monotone ROC curve (algorithm 1 of Jain et al., 2017).

    Move points outside the unit square to its edge, and give every true positive rate the smallest
    false positive rate of all points that reach it. This is the curve you get by raising every
    point to the highest true positive rate on its left. (The paper removes points outside. With
    few and noisy labels these can be most points, and the curve is then far too low.)

    The algorithm applies to all points of the line through the rates, not only to its corners.
    Between corners the line jumps, since unlabeled rows come before the labeled row that makes the
    corner; rows with the same score form a straight line. Without a correction this is the ordinary
    ROC curve.
    """
    return RocCurve(*RocLine.of(steps, rates).within_square().monotone())


def roc_area(rates: Rates) -> Array:
    """Return the area under straight lines through monotone rates; one value per line of rates.

    The exact area, in which scores are not tied, is that of `correct_roc_from_corners`.
    """
    monotone = monotone_rates(rates)
    return line_area(monotone.fpr, monotone.tpr)


def line_area(fpr: Array, tpr: Array) -> Array:
    """Return the area under straight lines from (0, 0) through points, and on to (1, 1)."""
    last_fpr, last_tpr = fpr[..., -1], tpr[..., -1]
    ends = fpr[..., 0] * tpr[..., 0] / 2 + (1 - last_fpr) * (1 + last_tpr) / 2
    area: Array = np.trapezoid(tpr, fpr) + ends
    return area


def correct_precision_recall(rates: Rates) -> PrecisionRecallCurve:
    """Turn corrected rates into a precision-recall curve.

    Precision is prevalence·tpr/predicted (equation 3 of Jain et al., 2017) along monotone rates,
    so the area under the curve is the average precision. The curve starts at recall 0 and
    precision 1, as in scikit-learn.
    """
    monotone = monotone_rates(rates)
    precision = MEASURES["precision"](monotone)
    precision[0] = 1.0
    columns = [precision, monotone.tpr, monotone.threshold]
    defined = ~np.isnan(precision)
    if not defined.all():
        columns = [column[defined] for column in columns]
    for column in columns:
        column.flags.writeable = False
    return PrecisionRecallCurve(*columns)
