"""Recall, precision and F from the label frequency, and how much another choice of labels matters.

Tabatabaei et al. (2020) keep the rows fixed and let chance choose which positives get labeled:
the number of labeled rows that are predicted positive is then hypergeometric.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pueval.core.measures import fbeta
from pueval.core.mixture import Mixture
from pueval.counts.arguments import check_threshold
from pueval.counts.counts import Counts
from pueval.errors import InputError


@dataclass(frozen=True)
class Moments:
    """Mean and variance of an estimate over the random choice of labels.

    Attributes
    ----------
    mean, variance : float
        With a fixed label frequency, ``mean`` is the estimate itself, which is unbiased.
    """

    mean: float
    variance: float

    @property
    def standard_error(self) -> float:
        """Square root of the variance."""
        return float(np.sqrt(self.variance))


def labeling_variance(labeled_above: float, labeled: float, label_frequency: float) -> float:
    """Estimate the variance of the number of labeled rows that are predicted positive.

    Of P = labeled/label_frequency positives, ``labeled`` are chosen at random to be labeled;
    P₁ = labeled_above/label_frequency of the positives are predicted positive. The variance of
    the hypergeometric number of both is, with the estimates put in,
    (1 − ρ)·S₁·(S − S₁)/(S − ρ), where S and S₁ are ``labeled`` and ``labeled_above``.

    Parameters
    ----------
    labeled_above : float
        Labeled rows that are predicted positive, S₁.
    labeled : float
        Labeled rows, S.
    label_frequency : float
        Share of all positives that are labeled, ρ.

    Returns
    -------
    float

    References
    ----------
    Tabatabaei, Klein and Hoogendoorn (2020), section 4.1.

    Examples
    --------
    >>> labeling_variance(30, 40, 1.0)    # all positives are labeled: there is no choice
    0.0
    >>> round(labeling_variance(30, 40, 0.5), 3)
    3.797
    """
    if labeled <= label_frequency:
        return 0.0
    spread = labeled_above * (labeled - labeled_above) / (labeled - label_frequency)
    return (1 - label_frequency) * spread


def labeling_moments(
    counts: Counts, *, threshold: float, label_frequency: Any, beta: float = 1.0
) -> dict[str, Moments]:
    """Estimate recall, precision and F, and their variance over the choice of labels.

    With S labeled rows, S₁ of them predicted positive, M₁ rows predicted positive in all, and
    label frequency ρ: recall = S₁/S, precision = S₁/(ρ·M₁),
    F = (1 + β²)·S₁ / (ρ·M₁ + β²·S). If ρ is itself random and independent of the choice of
    labels, mean and variance are those of the product of S₁ and a function of ρ; a random ρ makes
    precision and F too high on average (Jensen's inequality).

    Parameters
    ----------
    counts : Counts
        The data; labels are clean.
    threshold : float
        Scores at or above it are predicted positive.
    label_frequency : float, frozen distribution or array
        Share of all positives that are labeled. A frozen distribution of `scipy.stats` within
        (0, 1], or an array of equally likely values, where it is uncertain.
    beta : float, default 1.0
        Weight of recall in the F measure.

    Returns
    -------
    dict of str to Moments
        For ``"recall"``, ``"precision"`` and the F measure, for example ``"f1"``.

    References
    ----------
    Tabatabaei, Klein and Hoogendoorn (2020), sections 4.1 and 4.3.

    Examples
    --------
    >>> from pueval import Counts
    >>> counts = Counts.from_table([2, 1], labeled=[30, 10], unlabeled=[50, 200])
    >>> moments = labeling_moments(counts, threshold=2, label_frequency=0.5)
    >>> {name: round(m.mean, 3) for name, m in moments.items()}
    {'recall': 0.75, 'precision': 0.75, 'f1': 0.75}
    >>> round(moments["f1"].standard_error, 3)
    0.049
    """
    counts._check_nonempty()
    counts._refuse_propensities("the variance of labeling")
    name, square = fbeta(beta).name, float(beta) ** 2
    steps = counts.at(check_threshold(threshold))
    hits = steps.labeled[0].item()
    predicted = hits + (steps.unlabeled + steps.negative)[0].item()
    labeled = counts.n_labeled

    def factors(rho: Any) -> dict[str, Any]:
        """Return what S₁ is multiplied with."""
        return {
            "recall": np.ones_like(rho) / labeled,
            "precision": 1 / (rho * predicted) if predicted else np.zeros_like(rho),
            name: (1 + square) / (rho * predicted + square * labeled),
        }

    mean_of, central = _expectation(counts, label_frequency)
    variance = labeling_variance(hits, labeled, central)
    moments = {}
    for key in ("recall", "precision", name):
        first = mean_of(lambda rho, key=key: factors(rho)[key])
        second = mean_of(lambda rho, key=key: factors(rho)[key] ** 2)
        # Var(S₁·g) for independent S₁ and g.
        spread = variance * second + hits**2 * max(second - first**2, 0.0)
        moments[key] = Moments(hits * first, spread)
    return moments


def _expectation(counts: Counts, label_frequency: Any) -> tuple[Any, float]:
    """Return a function that averages over the label frequency, and its mean."""
    if hasattr(label_frequency, "expect") and hasattr(label_frequency, "support"):
        low, high = label_frequency.support()
        if low < 0 or high > 1:
            raise InputError(
                "label_frequency must be distributed within (0, 1]; "
                f"got a distribution on [{low:g}, {high:g}]."
            )
        least = counts.n_labeled / (counts.n_labeled + counts.n_unlabeled)
        impossible = float(label_frequency.cdf(least))
        if impossible > 0.01:
            raise InputError(
                f"label_frequency cannot be below {least:.4g} with these counts, but the "
                f"distribution given is so with probability {impossible:.3g}. Narrow it."
            )
        return (
            lambda function: float(label_frequency.expect(lambda rho: float(function(rho)))),
            float(label_frequency.mean()),
        )
    values = np.atleast_1d(np.asarray(label_frequency, dtype=np.float64))
    if values.ndim != 1 or not values.size:
        raise InputError(
            "label_frequency must be a number, a frozen distribution or a one-dimensional array; "
            f"got shape {values.shape}."
        )
    for extreme in (values.min(), values.max()):
        Mixture.from_label_frequency(counts, float(extreme))
    return lambda function: float(np.mean(function(values))), float(values.mean())
