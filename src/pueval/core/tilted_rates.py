"""Rates for positives that are not distributed like the labeled ones.

If labeling is random, labeled positives are distributed like all positives of the target. A tilt
says how they differ: in each group of scores, the positives are the labeled rows, net of wrong
labels, times a factor. See `pueval.sensitivity.positive_shares` for the tilts that a labeling bias
allows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pueval._typing import Array, Target
from pueval.core.mixture import Mixture, Mixtures
from pueval.core.rates import (
    Rates,
    Shares,
    background_share,
    fpr_from_predicted,
    predicted_share,
    with_drawn_prevalence,
)
from pueval.core.sizes import SampleSizes
from pueval.samples.steps import find_cells


@dataclass(frozen=True, eq=False)
class LabelingTilt:
    """A distribution of the positives, relative to the labeled rows.

    Attributes
    ----------
    lower : ndarray
        Lower edges of groups of scores, descending.
    factor : ndarray
        Share of the positives divided by the share of labeled rows, net of wrong labels, in each
        group.
    """

    lower: Array
    factor: Array

    def at(self, threshold: Array) -> Array:
        """Return the factor of the scores from each threshold to the next higher one."""
        factors: Array = self.factor[find_cells(self.lower, threshold)]
        return factors


def reference_prior(
    sizes: SampleSizes[Any], mixture: Mixture | Mixtures, target: Target
) -> float | Array:
    """Return the prior of the reference rows, which are mixtures of positives and negatives.

    These are all rows, if they are the target: labeled and unlabeled positives may differ. For the
    unlabeled rows it is the background.
    """
    if target == "population":
        return mixture.prevalence(sizes)
    return mixture.background_prior(sizes)


def reference_share(sizes: SampleSizes[Any], shares: Shares, target: Target) -> Array:
    """Return the share of the reference rows at or above thresholds."""
    background = background_share(sizes, shares)
    if target == "unlabeled":
        return background
    share: Array = sizes.n_labeled / sizes.n * (shares.labeled - background) + background
    return share


def wrong_label_share(mixture: Mixture | Mixtures, prior: float | Array) -> float | Array:
    """Return κ = (1 − purity)/(1 − prior): labeled rows net of wrong labels are g − κ·r.

    g and r are the shares of labeled rows and of reference rows at some scores.
    """
    return (1 - mixture.purity) / (1 - prior)


def tilted_rates(
    counts: SampleSizes[float],
    threshold: Array,
    shares: Shares,
    mixture: Mixture | Mixtures,
    target: Target,
    factor: Array,
) -> Rates:
    """Correct shares of rows at or above thresholds for a tilt.

    The true positive rate is the sum of factor·(g − κ·r) over the scores from each threshold to the
    next higher one, divided by the sum over all scores.

    Parameters
    ----------
    counts : Counts
        The data, or their sizes.
    threshold : ndarray of shape (m,)
        Descending; no score is below the last one.
    shares : Shares
        Shares at or above the thresholds; may have one line per resample.
    mixture : Mixture or Mixtures
        Prior and purity; a column if each line has its own.
    target : {"population", "unlabeled"}
        Population to evaluate.
    factor : ndarray of shape (m,)
        From `LabelingTilt.at`.

    Returns
    -------
    Rates
    """
    labeled = shares.labeled
    if not np.all(mixture.purity == 1):
        prior = reference_prior(counts, mixture, target)
        reference = reference_share(counts, shares, target)
        labeled = labeled - wrong_label_share(mixture, prior) * reference
    positive = np.cumsum(factor * np.diff(labeled, axis=-1, prepend=0), axis=-1)
    with np.errstate(invalid="ignore"):  # resamples without labeled rows
        tpr = positive / positive[..., -1:]
    return rates_from_recall(counts, threshold, tpr, shares, mixture, target)


def rates_from_recall(
    counts: SampleSizes[float],
    threshold: Array,
    tpr: Array,
    shares: Shares,
    mixture: Mixture | Mixtures,
    target: Target,
) -> Rates:
    """Return the rates for given true positive rates at thresholds.

    The false positive rate follows from r = prior·tpr + (1 − prior)·fpr, with r the share of
    reference rows at or above the threshold.
    """
    prior = reference_prior(counts, mixture, target)
    reference = reference_share(counts, shares, target)
    fpr = fpr_from_predicted(reference, tpr, prior)
    prevalence = mixture.prevalence(counts, target)
    predicted, size = reference, counts.n
    if target == "unlabeled":
        predicted, size = predicted_share(tpr, fpr, prevalence), counts.n_unlabeled
    rates = Rates(threshold, tpr, fpr, predicted, prevalence, size)
    return with_drawn_prevalence(rates, counts, shares, mixture, target)
