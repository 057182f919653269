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
from pueval.core.monotone import monotone_rates
from pueval.core.rates import Rates, correct_area, correct_steps
from pueval.core.roc_line import RocLine
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
        The points, to be joined by straight lines.
    threshold : ndarray
        The threshold each point belongs to.
    """

    fpr: Array
    tpr: Array
    threshold: Array

    @property
    def area(self) -> float:
        """Area under the curve; for a recovered curve, Jain's indirect estimate of the AUC."""
        return float(np.trapezoid(self.tpr, self.fpr))

    def _headline(self) -> str:
        return f"ROC curve with {self.fpr.size:,} points, area {format_number(self.area)}"

    def average_precision(self, prevalence: float) -> float:
        """Area under the precision-recall curve that belongs to this ROC curve.

        At a point (f, t) of the ROC curve recall is t and precision π·t/(π·t + (1 − π)·f); the
        integral over recall has a closed form on each straight piece. So a curve tells what the
        average precision would be at any other prevalence.

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
        >>> round(RocCurve(line, line, line).average_precision(0.3), 12)    # a ranking by chance
        0.3
        """
        check_fraction("prevalence", prevalence)
        rising = np.flatnonzero(np.diff(self.tpr) > 0)
        start, step = self.tpr[rising], np.diff(self.tpr)[rising]
        slope = np.diff(self.fpr)[rising] / step
        # Predicted positive is offset + rise·recall along a piece.
        rise = prevalence + (1 - prevalence) * slope
        offset = (1 - prevalence) * (self.fpr[rising] - slope * start)
        first = offset + rise * start
        growth = np.divide(rise * step, first, out=np.zeros(first.size), where=first > 0)
        pieces = prevalence / rise * (step - offset / rise * np.log1p(growth))
        return float(pieces.sum())


@dataclass(frozen=True, eq=False, repr=False)
class PrecisionRecallCurve(Result):
    """A precision-recall curve, recall ascending from 0.

    Attributes
    ----------
    precision, recall : ndarray
        The points; precision holds on the step of recall that ends at the point.
    threshold : ndarray
        The threshold each point belongs to.
    """

    precision: Array
    recall: Array
    threshold: Array

    @property
    def area(self) -> float:
        """Sum of precision times step of recall: the average precision."""
        return float(np.sum(np.diff(self.recall) * self.precision[1:]))

    def _headline(self) -> str:
        points, area = f"{self.recall.size:,} points", format_number(self.area)
        return f"Precision-recall curve with {points}, average precision {area}"


# So many standard errors from chance, scores are the wrong way round.
REVERSED_Z_SCORE = -3


def naive_auc(counts: Counts, corners: Steps) -> float:
    """Probability that a labeled row outscores one of the others, ties counting half."""
    where = np.flatnonzero(corners.tied)
    steps = counts._split_ties(corners, where) if where.size else corners
    others = steps.unlabeled + steps.negative
    beaten = others[-1] - others[1:]
    if where.size:
        beaten = beaten + np.where(steps.tied[1:], np.diff(others) / 2, 0)
    pairs = np.sum(np.diff(steps.labeled).astype(np.float64) * beaten)
    return float(pairs / counts.n_labeled / (counts.n_unlabeled + counts.n_negative))


def model_with_highest_naive_auc(counts: Mapping[str, Counts]) -> str:
    """Return the name of the model whose scores tell the prior best; the first of ties.

    The better a model separates labeled from unlabeled rows, the better its scores identify the
    prior. The order of models by naive AUC does not depend on the prior.
    """

    def auc(model: Counts) -> float:
        model._check_nonempty()
        return naive_auc(model, model._roc_corners())

    return [*counts][int(np.argmax(map_in_threads(auc, counts.values())))]


def auc_z_score(counts: Counts, auc: float) -> float:
    """How many standard errors a naive AUC lies above chance."""
    labeled, others = counts.effective_sizes
    return (auc - 0.5) / math.sqrt((labeled + others + 1) / (12 * labeled * others))


def mean_placement(counts: Counts) -> float:
    """Probability that a positive outscores a row drawn from all, ties counting half.

    Labeled rows stand for 1/propensity positives each.
    """
    score, reached = counts._inverse_propensity_sample().distinct_cumulative()
    weight = np.diff(reached, prepend=0)
    beyond = np.zeros(score.size)
    for kind in counts._samples:
        above, at_or_above = kind.cumulative_counts(score)
        beyond += (above + at_or_above) / 2
    return 1 - float(np.sum(weight * beyond)) / float(reached[-1]) / counts.n


def direct_auc(counts: Counts, naive: float, mixture: Mixture) -> float:
    """Correct the naive AUC in one step; not clipped.

    Where propensities are known, the labeled rows stand for all positives, and it is their AUC
    against all rows that is corrected.
    """
    if counts.has_propensity:
        return float(correct_area(mean_placement(counts), mixture, mixture.prevalence(counts)))
    return float(correct_area(naive, mixture, mixture.background_prior(counts)))


def recover_roc_from_corners(
    counts: Counts,
    corners: Steps,
    mixture: Mixture,
    target: Target = "population",
    *,
    known: Rates | None = None,
) -> RocCurve:
    """Recover the ROC curve from the corners of the data, whose rates may be ``known``."""
    rates = correct_steps(counts, corners, mixture, target) if known is None else known
    line = RocLine.of(corners, rates)
    split = ~line.inside
    split[1:] |= split[:-1]
    split[1:] &= corners.labeled[1:] > corners.labeled[:-1]
    where = np.flatnonzero(split | corners.tied)
    if where.size:
        part = slice(where[0] - 1, where[-1] + 2)
        steps = counts._split_ties(corners.part(part), where - part.start)
        unfolded = RocLine.of(steps, correct_steps(counts, steps, mixture, target))
        line = line.replaced(part, unfolded.within_square())
    return RocCurve(*line.legal())


def recover_roc(steps: Steps, rates: Rates) -> RocCurve:
    """Turn corrected rates into a legal ROC curve (algorithm 1 of Jain et al., 2017).

    Points outside the unit square are dropped, and every true positive rate gets the lowest false
    positive rate of all points that reach it: the curve one gets from lifting every point to the
    highest true positive rate on its left. The algorithm is applied to all points of the line
    through the rates, not only to its corners: the line is cut at the edges of the square, and
    corners are joined by a jump, as unlabeled rows are added before the labeled row that makes
    the corner; but by a straight line if they have the same score.
    Without a correction this is the ordinary ROC curve.
    """
    return RocCurve(*RocLine.of(steps, rates).within_square().legal())


def recover_precision_recall(rates: Rates) -> PrecisionRecallCurve:
    """Turn corrected rates into a precision-recall curve.

    Precision is prevalence·tpr/predicted (equation 3 of Jain et al., 2017) along the legal rates,
    so that the area of the curve is the average precision; the curve starts at recall 0 and
    precision 1, as in scikit-learn.
    """
    legal = monotone_rates(rates)
    precision = MEASURES["precision"](legal)
    precision[0] = 1.0
    columns = [precision, legal.tpr, legal.threshold]
    defined = ~np.isnan(precision)
    if not defined.all():
        columns = [column[defined] for column in columns]
    for column in columns:
        column.flags.writeable = False
    return PrecisionRecallCurve(*columns)
