"""Recall, precision and F from the label frequency, and their variance over random labeling.

Tabatabaei et al. (2020) treat the rows as fixed and the choice of labeled positives as random. The
number of labeled rows that are predicted positive is then hypergeometric.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pueval._checks import check_counts
from pueval.core.measures import fbeta
from pueval.core.mixture import Mixture
from pueval.counts.arguments import check_threshold
from pueval.counts.counts import Counts
from pueval.errors import InputError
from pueval.text.numbers import format_number
from pueval.text.results import Result


@dataclass(frozen=True, repr=False)
class Moments(Result):
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

    def _headline(self) -> str:
        return f"{format_number(self.mean)} ± {format_number(self.standard_error)} (standard error)"


def check_labels_can_be_drawn(counts: Counts) -> None:
    """Raise an error if the variance over the choice of labels is not defined for these counts.

    It is that of a random choice of single rows that are all equally likely.
    """
    if not counts._has_integer_counts:
        raise InputError(
            "the variance of labeling (variance='labeling') is that of choosing single rows, which "
            "importance weights do not allow. Leave out the weights, or use "
            "evaluate(..., variance='sampling')."
        )
    if counts.has_propensity:
        raise InputError(
            "the variance of labeling (variance='labeling') assumes that all positives are equally "
            "likely to be labeled. With propensities, use evaluate(..., variance='sampling')."
        )
    if counts._clusters is not None:
        raise InputError(
            "the variance of labeling (variance='labeling') is that of choosing single rows, and "
            "cluster says that rows belong together. Leave out cluster, or use "
            "evaluate(..., variance='sampling')."
        )


def labeling_variance(labeled_above: float, labeled: float, label_frequency: float) -> float:
    """Estimate the variance of the number of labeled rows that are predicted positive.

    Let S and S₁ be ``labeled`` and ``labeled_above``, and ρ the label frequency. S of P = S/ρ
    positives are labeled at random, and P₁ = S₁/ρ positives are predicted positive. The number of
    positives that are both is hypergeometric, with the estimated variance
    (1 − ρ)·S₁·(S − S₁)/(S − ρ).

    Parameters
    ----------
    labeled_above : float
        Number of labeled rows that are predicted positive, S₁.
    labeled : float
        Number of labeled rows, S.
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
    rest = labeled_above * (labeled - labeled_above) / (labeled - label_frequency)
    return (1 - label_frequency) * rest


def labeling_moments(
    counts: Counts, *, threshold: float, label_frequency: Any, beta: float = 1.0
) -> dict[str, Moments]:
    """Estimate recall, precision and F, and their variance over the choice of labels.

    With S labeled rows, S₁ of them predicted positive, M₁ rows predicted positive in total, and
    label frequency ρ: recall = S₁/S, precision = S₁/(ρ·M₁),
    F = (1 + β²)·S₁ / (ρ·M₁ + β²·S). If ρ is random too, and independent of the choice of
    labels, mean and variance are those of the product of S₁ and a function of ρ. A random ρ biases
    precision and F upward (Jensen's inequality).

    Parameters
    ----------
    counts : Counts
        The data, with clean labels, and without importance weights, propensities or clusters.
    threshold : float
        Scores at or above it are predicted positive.
    label_frequency : float, frozen distribution or array
        Share of all positives that are labeled. If it is uncertain, a frozen distribution of
        `scipy.stats` on (0, 1] or an array of equally likely values.
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
    check_counts(counts)
    counts._check_nonempty()
    check_labels_can_be_drawn(counts)
    name, square = fbeta(beta).name, float(beta) ** 2
    steps = counts.at(check_threshold(threshold))
    hits = steps.labeled[0].item()
    predicted = hits + (steps.unlabeled + steps.negative)[0].item()
    labeled = counts.n_labeled

    def factors(rho: Any) -> dict[str, Any]:
        """Return the factors of S₁ in each estimate."""
        return {
            "recall": np.ones_like(rho) / labeled,
            "precision": 1 / (rho * predicted) if predicted else np.zeros_like(rho),
            name: (1 + square) / (rho * predicted + square * labeled),
        }

    expectation, mean_frequency = _expectation(counts, label_frequency)
    hits_variance = labeling_variance(hits, labeled, mean_frequency)
    moments = {}
    for key in ("recall", "precision", name):
        first = expectation(lambda rho, key=key: factors(rho)[key])
        second = expectation(lambda rho, key=key: factors(rho)[key] ** 2)
        # Var(S₁·g) for independent S₁ and g.
        variance = hits_variance * second + hits**2 * max(second - first**2, 0.0)
        moments[key] = Moments(hits * first, variance)
    return moments


def _expectation(counts: Counts, label_frequency: Any) -> tuple[Any, float]:
    """Return a function that takes expectations over the label frequency, and its mean."""
    if hasattr(label_frequency, "expect") and hasattr(label_frequency, "support"):
        low, high = label_frequency.support()
        if low < 0 or high > 1:
            raise InputError(
                "label_frequency must be distributed within (0, 1]; "
                f"got a distribution on [{low:g}, {high:g}]. Truncate it."
            )
        least = counts.n_labeled / (counts.n_labeled + counts.n_unlabeled)
        impossible = float(label_frequency.cdf(least))
        if impossible > 0.01:
            raise InputError(
                f"label_frequency cannot be below {least:.4g} with these counts, but the given "
                f"distribution is below it with probability {impossible:.3g}. Narrow it."
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
