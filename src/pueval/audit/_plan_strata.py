"""Strata of the score, and how much a checked row of each would tell."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
import scipy.optimize
import scipy.special

from pueval._typing import Array, Target
from pueval.audit._measure_gradients import measure_gradient
from pueval.audit_estimates.labeling_model import AuditTally, LabelingModel
from pueval.audit_estimates.score_cells import ScoreCells
from pueval.core.mixture import Mixture
from pueval.core.rates import correct_pair
from pueval.counts.counts import Counts
from pueval.samples.steps import find_cells

# Strata: a third of them each for labeled, unlabeled and known negative rows, if there are any.
STRATA = 60
# Nobody is more certain than this that an unlabeled row is positive, before it is checked.
MOST_CERTAIN = 0.95
# Labelings that a first plan considers besides random labeling: the log-odds of a label fall or
# rise by so much with every standard deviation of the labeled rows' scores (in normal scores).
SLOPES = (-1.0, 1.0)
# Changes of a measure that are smaller than this are rounding errors.
ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class PlanStrata:
    """Unlabeled rows in strata of the score.

    Attributes
    ----------
    lower : ndarray of shape (k,)
        Lower edges, descending. The threshold is one of them. No score is below the last one.
    unlabeled : ndarray of shape (k,)
        Weight of the unlabeled rows.
    labelings : ndarray of shape (n_labelings, k)
        Share of positives among them if labels are random, favor low scores, or favor high scores.
        With an earlier audit, only the share that it found.
    priority : ndarray of shape (k,)
        How much a checked row of the stratum would tell about the measures.
    """

    lower: Array
    unlabeled: Array
    labelings: Array
    priority: Array

    @classmethod
    def of(
        cls,
        counts: Counts,
        mixture: Mixture,
        threshold: float,
        target: Target,
        measures: tuple[str, ...],
        *,
        prior_given: bool = False,
    ) -> PlanStrata:
        """Divide rows into strata, and find the priority of each.

        With an earlier audit, the shares of positives come from ``counts``, else from the mixture.
        """
        rows = Counts(counts._labeled, counts._unlabeled, counts._negative)
        strata = rows._thinned(STRATA, keep=[threshold])
        labeled, unlabeled, negative = (
            np.asarray(kind, np.float64)
            for kind in (strata.labeled, strata.unlabeled, strata.negative)
        )
        lower = strata.score.astype(np.float64)
        audit = counts._audit
        if audit is not None:
            cell = audit.find(lower)
            shares, in_labeled = [audit.unlabeled_share[cell]], audit.labeled_share[cell]
        else:
            smooth = _smooth_labeled(counts, lower, unlabeled)
            share = _positive_share(smooth, unlabeled, mixture)
            hidden = _HiddenPositives(share, mixture.purity * smooth, unlabeled)
            shares = [share, *(hidden.tilted(slope, prior_given=prior_given) for slope in SLOPES)]
            in_labeled = np.full(lower.size, mixture.purity)
        squares = np.zeros(lower.size)
        for share, name in product(shares, measures):
            in_target, positives = unlabeled, unlabeled * share
            if target == "population":
                in_target = unlabeled + labeled + negative
                positives = positives + labeled * in_labeled
            gradient = measure_gradient(name, in_target, positives, lower >= threshold)
            priority = np.abs(gradient) * np.sqrt(share * (1 - share.clip(max=MOST_CERTAIN)))
            total = np.sum(unlabeled * priority)
            if total > ROUNDING:
                # Each variance counts relative to the smallest one that an audit can have.
                squares += (np.where(unlabeled > 0, priority, 0.0) / total) ** 2
        priority = np.sqrt(squares / (len(shares) * len(measures)))
        return cls(lower, unlabeled, np.array(shares), priority)

    @property
    def positive_share(self) -> Array:
        """Expected share of positives among the unlabeled rows: by an audit, or random labeling."""
        share: Array = self.labelings[0]
        return share

    def find(self, score: Array) -> Array:
        """Return the index of the stratum of each score."""
        return find_cells(self.lower, score)


def _smooth_labeled(counts: Counts, lower: Array, unlabeled: Array) -> Array:
    """Return the labeled rows of each stratum by a smooth curve of the score.

    In the tail, where a few labeled rows are spread over many unlabeled ones, their counts say
    little.
    """
    cells = ScoreCells.of(counts)
    labeled_share = LabelingModel(cells, AuditTally.empty(cells.lower.size)).labeled_share()
    share = labeled_share.clip(1e-12, 1 - 1e-12)[cells.find(lower)]
    density = unlabeled * share / (1 - share)
    smooth: Array = density * (counts._labeled.total / density.sum())
    return smooth


def _positive_share(labeled: Array, unlabeled: Array, mixture: Mixture) -> Array:
    """Return the share of positives among the unlabeled rows of each stratum, by random labeling.

    It is prior·f₁/f_U with f₁ the density of positives, corrected for purity, and does not fall
    with the score.
    """
    n_unlabeled = unlabeled.sum()
    density = unlabeled / n_unlabeled
    prior = max(mixture.prior, 1 / n_unlabeled)
    positive, _ = correct_pair(
        labeled / labeled.sum(), density, Mixture(prior, mixture.purity), prior
    )
    ratio = np.divide(prior * positive, density, out=np.zeros(density.size), where=density > 0)
    share: Array = scipy.optimize.isotonic_regression(
        ratio, weights=np.maximum(unlabeled, 1e-9), increasing=False
    ).x.clip(0, 1)
    return share


class _HiddenPositives:
    """Positives among unlabeled rows, if labels are not random.

    With r labeled positives per unlabeled row and propensity e, the share of positives among the
    unlabeled rows is r·(1 − e)/e. So if the log-odds of e rise by b·z, the share is multiplied by
    exp(−b·z), up to a constant.

    Parameters
    ----------
    share : ndarray of shape (k,)
        Share of positives among the unlabeled rows of each stratum, if labels are random.
    labeled, unlabeled : ndarray of shape (k,)
        Labeled positives and unlabeled rows of each stratum.
    """

    def __init__(self, share: Array, labeled: Array, unlabeled: Array) -> None:
        self.share, self.unlabeled = share, unlabeled
        self.number = np.sum(unlabeled * share)
        self.ratio = share * labeled.sum() / self.number
        rank = sum((np.cumsum(n) - n / 2) / n.sum() for n in (labeled, unlabeled)) / 2
        position = -scipy.special.ndtri(rank.clip(1e-6, 1 - 1e-6))
        center = np.average(position, weights=labeled)
        spread = np.sqrt(np.average((position - center) ** 2, weights=labeled))
        self.place = (position - center) / (spread or 1.0)

    def tilted(self, slope: float, *, prior_given: bool) -> Array:
        """Return the share of positives if the log-odds of a label have this slope.

        A given prior stays. An estimated one rests on the scores where nearly all rows are
        positive; so the largest share of positives among all rows stays.
        """
        raw = np.maximum(self.share, 1e-12) * np.exp(-slope * self.place)
        if prior_given:
            factor = np.exp(scipy.optimize.brentq(self._surplus, -50, 50, args=(raw,)))
        else:
            largest = np.max((self.share + self.ratio) / (1 + self.ratio))
            limit = np.maximum(largest * (1 + self.ratio) - self.ratio, 1e-9)
            factor = np.min((limit / raw)[self.unlabeled > 0])
        share: Array = np.minimum(raw * factor, 1.0)
        return share

    def _surplus(self, log_factor: float, raw: Array) -> float:
        """Return how many positives more there are than if labels are random."""
        share = np.minimum(raw * np.exp(log_factor), 1.0)
        return float(np.sum(self.unlabeled * share) - self.number)
