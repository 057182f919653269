"""The default threshold: the middle of the thresholds whose Matthews correlation is near the best.

The observed Matthews correlation (MCC) jumps from one labeled score to the next, and is noisiest at
the top of the ranking, where few rows decide. Its maximum is often a chance peak there: far from
the best threshold, and much too good. So the default threshold is chosen in two steps.

1. The *reference* has the highest MCC less `PENALTY` standard errors. A pseudo-observation in the
   background lies above every threshold: without it, thresholds that no unlabeled row reaches look
   perfect. Thresholds with fewer than 10 labeled rows (or half of them) at or above are not
   considered.
2. Let d be the number of standard errors of the difference by which a threshold falls short of the
   reference. The default threshold is the weighted median of all thresholds; the weights are the
   numbers of labeled rows between a threshold and the next one above, times exp(−(d / `SCALE`)²/2).

Like the maximum of the MCC itself, this threshold does not depend on prior and purity (unless known
negatives are combined with the target "unlabeled"), because they only scale the MCC.

The average over a neighborhood of the maximum is close to what bagging would choose (Bühlmann and
Yu, 2002, Analyzing bagging), without its random numbers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from pueval._typing import Array, Target
from pueval.core.measures import MEASURES
from pueval.core.mixture import NAIVE, Mixture
from pueval.core.rates import Shares, correct_shares
from pueval.counts.counts import Counts
from pueval.samples.steps import Steps

# The measure that the default threshold is chosen by.
DEFAULT_BEST = "matthews_corrcoef"
# Both were chosen by the loss of MCC, compared with the best threshold, in simulated populations.
PENALTY = 0.5
SCALE = 0.5
# With fewer labeled rows at or above a threshold, precision is mostly noise.
LEAST_LABELED = 10
# Thresholds to choose from, at most about this many. With more labeled scores, some are left out.
CANDIDATES = 256
# In samples with at least so many labeled and background rows, resamples consider only thresholds
# whose value is at most so many standard errors of the difference below the best.
LARGE_SAMPLE, FAR = 1000, 10.0
# A goal that is missed by less than this is missed by rounding only.
ROUNDING = 1e-12
# Step of numerical derivatives, in standard errors of a share.
STEP = 1e-3
# Standard errors of a difference are at least this: two thresholds can be equally good by rounding.
LEAST_ERROR = 1e-12


def default_threshold(counts: Counts, corners: Steps, mixture: Mixture, target: Target) -> float:
    """Choose the default threshold.

    Parameters
    ----------
    counts : Counts
        The data.
    corners : Steps
        Corners of the naive ROC curve.
    mixture : Mixture
        Prior and purity.
    target : {"population", "unlabeled"}
        Population to evaluate.

    Returns
    -------
    float
        A score; the lowest one if the Matthews correlation is undefined at every threshold.
    """
    candidates = corners.part(slice(None, None, -(-corners.threshold.size // CANDIDATES)))
    thresholds, shares = candidates.threshold, Shares.of(counts, candidates)
    index = int(StableChoice.of(counts, thresholds, shares, mixture, target).pick(shares))
    if index < 0:
        naive = shares._replace(positive=None)
        index = int(StableChoice.of(counts, thresholds, naive, NAIVE, "population").pick(naive))
    return float(thresholds[index] if index >= 0 else corners.threshold[-1])


@dataclass(frozen=True, eq=False)
class StableChoice:
    """The choice of a threshold in the middle of those that are near the best.

    Attributes
    ----------
    counts : Counts
        The data.
    threshold : ndarray of shape (m,)
        Thresholds to choose from, descending.
    mixture : Mixture
        Prior and purity.
    target : {"population", "unlabeled"}
        Population to evaluate.
    weight : ndarray of shape (m,)
        Share of the labeled rows between each threshold and the next one above.
    kinds : list of tuple
        For each kind of rows: its effective size, its shares at or above the thresholds, and the
        slopes of the Matthews correlation in these shares.
    penalty : ndarray of shape (m,)
        What is subtracted from the Matthews correlation; inf where a threshold is not considered.
    """

    counts: Counts
    threshold: Array
    mixture: Mixture
    target: Target
    weight: Array
    kinds: list[tuple[float, Array, Array]]
    penalty: Array

    @classmethod
    def of(
        cls, counts: Counts, threshold: Array, shares: Shares, mixture: Mixture, target: Target
    ) -> StableChoice:
        """Take standard errors and weights from the shares of the data."""
        weight = np.diff(shares.labeled, prepend=0.0)
        choice = cls(counts, threshold, mixture, target, weight, [], np.zeros(threshold.shape))
        kinds = choice._slopes(choice._with_top_row(shares))
        variance = sum(slope**2 * share * (1 - share) / size for size, share, slope in kinds)
        considered = (threshold <= highest_reliable_threshold(counts)) & (weight > 0)
        penalty = np.where(considered, PENALTY * np.sqrt(np.maximum(variance, 0.0)), np.inf)
        return replace(choice, kinds=kinds, penalty=penalty)

    def near_best(self, shares: Shares) -> tuple[StableChoice, Array]:
        """Return the choice among thresholds that a resample can choose, and their places.

        ``shares`` are those of the data. In resamples of large samples, differences of values are
        normal, and no threshold comes close to the best that is `FAR` standard errors away.
        """
        labeled, background = self.counts.effective_sizes
        every = np.arange(self.threshold.size)
        if self.counts.has_propensity or min(labeled, background) < LARGE_SAMPLE:
            return self, every
        values = self._value(self._with_top_row(shares)) - self.penalty
        values = np.where(np.isnan(values), -np.inf, values)
        reference = first_best(values)
        if reference < 0:
            return self, every
        error = self._difference_error(np.atleast_1d(reference))[0]
        near = np.flatnonzero(values[reference] - values <= FAR * error)
        choice = replace(
            self,
            threshold=self.threshold[near],
            weight=self.weight[near],
            kinds=[(size, share[near], slope[near]) for size, share, slope in self.kinds],
            penalty=self.penalty[near],
        )
        return choice, near

    def pick(self, shares: Shares) -> Array:
        """Return the index of the chosen threshold in each line; −1 if none is defined."""
        values = self._value(self._with_top_row(shares)) - self.penalty
        values = np.where(np.isnan(values), -np.inf, values)
        reference = first_best(values)
        best = np.take_along_axis(values, np.expand_dims(reference, -1), axis=-1)
        with np.errstate(invalid="ignore"):
            shortfall = (best - values) / (SCALE * self._difference_error(reference))
        closeness = np.where(np.isneginf(values), 0.0, np.exp(-(shortfall**2) / 2))
        weight = np.cumsum(self.weight * closeness, axis=-1)
        middle: Array = np.argmax(weight >= weight[..., -1:] / 2, axis=-1)
        return np.where(reference < 0, -1, middle)

    def _difference_error(self, reference: Array) -> Array:
        """Return the standard errors of differences from the value at each reference.

        A value is about linear in the shares at its threshold. So the difference of the values at
        a higher and a lower threshold, with slopes b and a, is a sum over rows of b − a for those
        above both, and of −a for those between.
        """
        distinct, line = np.unique(reference, return_inverse=True)
        order = np.arange(self.threshold.size)
        above, below = np.minimum.outer(distinct, order), np.maximum.outer(distinct, order)
        variance = np.zeros(above.shape)
        for size, share, slope in self.kinds:
            both, between = slope[above] - slope[below], -slope[below]
            share_above, share_between = share[above], share[below] - share[above]
            mean = both * share_above + between * share_between
            variance += (both**2 * share_above + between**2 * share_between - mean**2) / size
        error: Array = np.sqrt(np.maximum(variance, LEAST_ERROR**2))
        return error[line.reshape(reference.shape)]

    def _with_top_row(self, shares: Shares) -> Shares:
        """Add a pseudo-observation above every threshold to unlabeled rows and known negatives."""

        def add(share: Array, size: float) -> Array:
            return (size * share + 1) / (size + 1) if size else share

        _, n_unlabeled, n_negative = (sample.effective_size for sample in self.counts._samples)
        return shares._replace(
            unlabeled=add(shares.unlabeled, n_unlabeled), negative=add(shares.negative, n_negative)
        )

    def _value(self, shares: Shares) -> Array:
        rates = correct_shares(self.counts, self.threshold, shares, self.mixture, self.target)
        return MEASURES[DEFAULT_BEST](rates)

    def _slopes(self, shares: Shares) -> list[tuple[float, Array, Array]]:
        """Return size, shares and slopes for each kind of rows, by numerical derivatives."""
        value = self._value(shares)
        positive = shares.labeled if shares.positive is None else shares.positive
        samples = (self.counts._inverse_propensity_sample(), *self.counts._samples[1:])
        kinds = []
        for kind, share in enumerate((positive, shares.unlabeled, shares.negative)):
            size = samples[kind].effective_size
            if size:
                step = STEP * np.sqrt(np.maximum(share, 1 / size) / size)
                slope = (self._value(_moved(shares, kind, step)) - value) / step
                kinds.append((size, share, slope))
        return kinds


def _moved(shares: Shares, kind: int, step: Array) -> Shares:
    """Add a step to the shares of one kind of rows; labeled rows represent the positives."""
    if kind == 0:
        positive = None if shares.positive is None else shares.positive + step
        return shares._replace(labeled=shares.labeled + step, positive=positive)
    if kind == 1:
        return shares._replace(unlabeled=shares.unlabeled + step)
    return shares._replace(negative=shares.negative + step)


def first_best(values: Array) -> Array:
    """Return the index of the first maximum in each line; −1 if all are −inf."""
    index = np.argmax(values, axis=-1)
    best = np.take_along_axis(values, np.expand_dims(index, -1), axis=-1)[..., 0]
    return np.where(best == -np.inf, -1, index)


def highest_reliable_threshold(counts: Counts) -> float:
    """Return the highest threshold with `LEAST_LABELED` labeled rows, or half of all, above it."""
    score, reached = counts._cumulative_labeled
    share = min(LEAST_LABELED / counts.effective_sizes[0], 0.5)
    return float(score[np.searchsorted(reached, share * counts.n_labeled * (1 - ROUNDING))])
