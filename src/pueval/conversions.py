"""Corrected measures from naive ones, without the data.

Use these formulas for published numbers, or if you no longer have the classifier. They cover
measures that are a known function of their naive counterparts. They hold for data without known
negatives; with known negatives, pass `Mixture.background_prior` as the prior.
"""

from __future__ import annotations

import math

import numpy as np

from pueval._checks import check_fraction, check_number, percent_hint
from pueval._typing import Target
from pueval.core.measures import clip, was_clipped
from pueval.core.mixture import Mixture, check_target
from pueval.core.rates import correct_area, correct_pair
from pueval.errors import InputError, warn_caller

__all__ = ["balanced_accuracy", "matthews_corrcoef", "precision", "roc_auc"]


def roc_auc(naive: float, *, prior: float, purity: float = 1.0) -> float:
    """Correct the AUC of labeled against unlabeled rows.

    AUC = (naive − (1 − (purity − prior)) / 2) / (purity − prior)

    Parameters
    ----------
    naive : float
        AUC with unlabeled rows counted as negatives.
    prior : float
        Share of positives among the unlabeled rows.
    purity : float, default 1.0
        Share of true positives among the labeled rows.

    Returns
    -------
    float
        Corrected AUC, clipped to [0, 1] with an AssumptionWarning.

    References
    ----------
    Jain, White and Radivojac (2017), equation 4.

    Examples
    --------
    >>> round(roc_auc(0.7, prior=0.25, purity=0.75), 3)
    0.9
    """
    mixture = Mixture(prior, purity)
    area = correct_area(_check_naive(naive), mixture, mixture.prior)
    return _clip_with_warning("AUC", area, naive, mixture)


def _check_naive(naive: object, low: float = 0.0) -> float:
    """Return a naive measure as a float; raise if it is not a number in its range."""
    value = check_number("naive", naive)
    if not low <= value <= 1:
        raise InputError(
            f"naive must be in [{low:g}, 1]; got {naive!r}. It is the published value of the "
            f"measure.{percent_hint(naive)}"
        )
    return value


def _clip_with_warning(
    name: str, value: float, naive: float, mixture: Mixture, low: float = 0.0
) -> float:
    """Clip a corrected measure to its range; warn that the numbers contradict each other."""
    inside = clip(float(value), low, 1.0)
    if was_clipped(value, inside):
        warn_caller(
            f"the corrected {name} is {value:.4g} and was clipped to {inside:g}. A naive value of "
            f"{naive:g} contradicts prior {mixture.prior:g}, purity {mixture.purity:g} or random "
            "labeling."
        )
    return inside


def balanced_accuracy(naive: float, *, prior: float, purity: float = 1.0) -> float:
    """Correct a balanced accuracy.

    bacc = (2·naive − 1) / (2·(purity − prior)) + 1/2, at the same threshold.

    Parameters
    ----------
    naive : float
        Balanced accuracy with unlabeled rows counted as negatives.
    prior : float
        Share of positives among the unlabeled rows.
    purity : float, default 1.0
        Share of true positives among the labeled rows.

    Returns
    -------
    float
        Corrected value, clipped to [0, 1] with an AssumptionWarning.

    References
    ----------
    Ramola, Jain and Radivojac (2019), theorem 2.1.

    Examples
    --------
    >>> round(balanced_accuracy(0.67, prior=0.25, purity=0.75), 2)
    0.84
    """
    mixture = Mixture(prior, purity)
    # At a single threshold, balanced accuracy is the area under a ROC curve with one corner.
    area = correct_area(_check_naive(naive), mixture, mixture.prior)
    return _clip_with_warning("balanced accuracy", area, naive, mixture)


def matthews_corrcoef(
    naive: float, *, prior: float, labeled_share: float, purity: float = 1.0
) -> float:
    """Correct a Matthews correlation coefficient for the population.

    mcc = naive / (purity − prior) · √(π(1 − π) / (c(1 − c))), with c the labeled share and
    π = c·purity + (1 − c)·prior the prevalence.

    Parameters
    ----------
    naive : float
        Coefficient with unlabeled rows counted as negatives.
    prior : float
        Share of positives among the unlabeled rows.
    labeled_share : float
        Share of labeled rows among all rows, in (0, 1).
    purity : float, default 1.0
        Share of true positives among the labeled rows.

    Returns
    -------
    float
        Corrected value, clipped to [-1, 1] with an AssumptionWarning.

    References
    ----------
    Ramola, Jain and Radivojac (2019), theorem 2.1.

    Examples
    --------
    >>> round(matthews_corrcoef(0.2153, prior=0.25, purity=0.75, labeled_share=0.1), 2)
    0.66
    """
    naive = _check_naive(naive, low=-1.0)
    labeled_share = check_fraction("labeled_share", labeled_share)
    mixture = Mixture(prior, purity)
    prevalence = labeled_share * mixture.purity + (1 - labeled_share) * mixture.prior
    scale = math.sqrt(prevalence * (1 - prevalence) / (labeled_share * (1 - labeled_share)))
    value = naive * scale / (mixture.purity - mixture.prior)
    return _clip_with_warning("Matthews correlation", value, naive, mixture, low=-1.0)


def precision(
    naive: float,
    *,
    prior: float,
    labeled_share: float,
    purity: float = 1.0,
    target: Target = "population",
) -> float:
    """Correct a precision.

    Let c be the labeled share and o = (1 − c)/c · naive/(1 − naive), the ratio of the shares of
    labeled and of unlabeled rows that are predicted positive. With
    r = ((1 − prior)·o − (1 − purity)) / (purity − prior), the ratio of the true positive rate to
    the share of unlabeled rows predicted positive, precision is prior·r among the unlabeled rows
    and π·r / (c·o + 1 − c) in a population of prevalence π.

    Parameters
    ----------
    naive : float
        Precision with unlabeled rows counted as negatives, in [0, 1).
    prior : float
        Share of positives among the unlabeled rows.
    labeled_share : float
        Share of labeled rows among all rows, in (0, 1).
    purity : float, default 1.0
        Share of true positives among the labeled rows.
    target : {"population", "unlabeled"}
        Population to evaluate: all rows, or only the unlabeled rows.

    Returns
    -------
    float
        Corrected value, clipped to [0, 1] with an AssumptionWarning.

    References
    ----------
    Jain, White and Radivojac (2017), theorem 1 (for ``target="unlabeled"``).

    Examples
    --------
    >>> round(precision(0.25, prior=0.2, labeled_share=0.1, target="unlabeled"), 3)
    0.6
    """
    check_target(target)
    naive = check_number("naive precision", naive)
    labeled_share = check_fraction("labeled_share", labeled_share)
    mixture = Mixture(prior, purity)
    if not 0 <= naive < 1:
        raise InputError(
            f"naive precision must be in [0, 1); got {naive!r}. At 1, no unlabeled row is "
            "predicted positive, and the corrected precision is undefined."
        )
    odds = (1 - labeled_share) / labeled_share * naive / (1 - naive)
    # Shares relative to that of the unlabeled rows, which becomes 1.
    ratio = float(correct_pair(np.array(odds), np.array(1.0), mixture, mixture.prior)[0])
    if target == "unlabeled":
        value = mixture.prior * ratio
    else:
        prevalence = labeled_share * mixture.purity + (1 - labeled_share) * mixture.prior
        value = prevalence * ratio / (labeled_share * odds + 1 - labeled_share)
    return _clip_with_warning("precision", value, naive, mixture)
