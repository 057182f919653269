"""Rates: the correction. True and false positive rates recovered from counts and a mixture.

Known negatives are pooled with the unlabeled rows into one *background* sample whose share of
positives is prior·n_U / (n_U + n_N). With clean labels this counts known negatives exactly, as
Claesen et al. (2015) do; with noisy labels it takes them as a random draw from the negatives.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pueval.counts import Counts, Steps
from pueval.errors import InputError
from pueval.mixture import NAIVE, Mixture, Target, check_target
from pueval.samples import Array


@dataclass(frozen=True, eq=False)
class Rates:
    """Corrected rates at a series of thresholds; not clipped, so noise stays visible.

    Attributes
    ----------
    threshold : ndarray
        Predicted positive means a score at or above it.
    tpr, fpr : ndarray
        True and false positive rate.
    predicted : ndarray
        Share of the target that is predicted positive.
    prevalence : float
        Share of positives in the target.
    size : int or float
        Number of rows in the target.
    """

    threshold: Array
    tpr: Array
    fpr: Array
    predicted: Array
    prevalence: float
    size: float


def correct_pair(
    labeled: Array, background: Array, mixture: Mixture, background_prior: float
) -> tuple[Array, Array]:
    """Unmix two shares: one of labeled, one of background rows, at or above a threshold.

    Solves, for the rates of positives and of negatives,

    - labeled = purity·tpr + (1 − purity)·fpr
    - background = background_prior·tpr + (1 − background_prior)·fpr

    which are equations 1 and 2 of Jain et al. (2017).
    """
    contrast = mixture.purity - background_prior
    if mixture.purity == 1:
        fpr = background if not background_prior else background - background_prior * labeled
        return labeled, fpr / contrast
    tpr = ((1 - background_prior) * labeled - (1 - mixture.purity) * background) / contrast
    fpr = (mixture.purity * background - background_prior * labeled) / contrast
    return tpr, fpr


def rates(counts: Counts, steps: Steps, mixture: Mixture, target: Target = "population") -> Rates:
    """Correct the counts at the thresholds of ``steps``.

    Parameters
    ----------
    counts : Counts
        The data.
    steps : Steps
        Cumulative counts from `Counts.steps`, `Counts.corners` or `Counts.at`.
    mixture : Mixture
        Prior and purity.
    target : {"population", "unlabeled"}
        Whose performance is wanted.

    Returns
    -------
    Rates
    """
    totals = (counts.n_labeled, counts.n_unlabeled, counts.n_negative)
    columns = (steps.labeled, steps.unlabeled, steps.negative)
    shares = [
        column / total if total else np.zeros(column.shape)
        for column, total in zip(columns, totals, strict=True)
    ]
    return rates_of_shares(counts, steps.threshold, shares, mixture, target)


def rates_of_shares(
    counts: Counts, threshold: Array, shares: list[Array], mixture: Mixture, target: Target
) -> Rates:
    """Correct shares of labeled, unlabeled and negative rows at or above thresholds.

    ``counts`` only tells how many rows of each kind there are.
    """
    check_target(target)
    labeled, unlabeled, negative = shares
    n_unlabeled, n_negative = counts.n_unlabeled, counts.n_negative
    background = unlabeled
    if n_negative:
        background = n_unlabeled * unlabeled + n_negative * negative
        background = background / (n_unlabeled + n_negative)
    tpr, fpr = correct_pair(labeled, background, mixture, mixture.background_prior(counts))
    prevalence = mixture.prevalence(counts, target)
    if target == "population":
        size = counts.n
        predicted = (counts.n_labeled * labeled + (size - counts.n_labeled) * background) / size
    elif not n_unlabeled:
        raise InputError(
            "target='unlabeled' asks for the performance among unlabeled rows, and there are "
            "none. Use target='population'."
        )
    else:
        size = n_unlabeled
        predicted = unlabeled
        if n_negative:
            # The rates used the known negatives too; the share must agree with the rates.
            predicted = prevalence * tpr + (1 - prevalence) * fpr
    return Rates(threshold, tpr, fpr, predicted, prevalence, size)


def naive_rates(counts: Counts, steps: Steps) -> Rates:
    """Return the rates that come from counting unlabeled rows as negative."""
    return rates(counts, steps, NAIVE)
