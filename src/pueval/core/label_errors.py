"""LabelErrors: rows labeled 1 and 0, both with errors, and the mixture that follows from them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar

import numpy as np

from pueval._checks import percent_hint
from pueval._typing import Array
from pueval.core.mixture import Mixture, Mixtures, cap_prior, check_unlabeled
from pueval.core.sizes import SampleSizes
from pueval.errors import InputError
from pueval.text.results import Result

# Shares of labeled rows in resamples imply a prevalence at least this far from 0 and 1.
SMALLEST_PREVALENCE = 1e-6


@dataclass(frozen=True)
class LabelErrors(Result):
    """Error rates of a labeler who labels every row, positives and negatives alike.

    Rows labeled 1 include some negatives and rows labeled 0 some positives: both samples are
    mixtures of the two classes (class-conditional noise). With c the share of rows labeled 1, the
    prevalence is π = (c − false_positive_rate) / (1 − false_negative_rate − false_positive_rate)
    (Rogan and Gladen, 1978). Then

    - purity = 1 − (1 − π)·false_positive_rate/c, the share of positives among rows labeled 1,
    - prior = π·false_negative_rate/(1 − c), the share of positives among rows labeled 0.

    Pass it to `pueval.evaluate` as ``prior``. It assumes that errors do not depend on the score
    within a class. Confidence intervals treat the error rates as exact, and allow for the random
    number of rows labeled 1.

    Parameters
    ----------
    false_negative_rate : float
        Share of the positives that are labeled 0, in [0, 1): 1 − the label frequency.
    false_positive_rate : float
        Share of the negatives that are labeled 1, in [0, 1). The sum of both is below 1.

    References
    ----------
    Rogan and Gladen (1978), "Estimating prevalence from the results of a screening test"; Menon,
    van Rooyen, Ong and Williamson (2015), "Learning from corrupted binary labels via
    class-probability estimation"; Ramola, Jain and Radivojac (2019), equations 9 to 11.

    Examples
    --------
    >>> from pueval import Counts, LabelErrors
    >>> counts = Counts.from_table([2, 1], labeled=[150, 100], unlabeled=[150, 600])
    >>> errors = LabelErrors(false_negative_rate=0.2, false_positive_rate=0.05)
    >>> mixture = errors.mixture(counts)
    >>> round(mixture.prior, 4), round(mixture.purity, 4), round(mixture.prevalence(counts), 4)
    (0.0711, 0.8533, 0.2667)
    """

    false_negative_rate: float
    false_positive_rate: float

    _share_hint: ClassVar[str] = "Pass it as prior."

    def __post_init__(self) -> None:
        for name in ("false_negative_rate", "false_positive_rate"):
            object.__setattr__(self, name, _check_rate(name, getattr(self, name)))
        total = self.false_negative_rate + self.false_positive_rate
        if total >= 1:
            raise InputError(
                f"false_negative_rate and false_positive_rate must add up to less than 1; got "
                f"{total:g}. Labels with these error rates say nothing about the class, or its "
                "opposite."
            )

    def mixture(self, counts: SampleSizes[float]) -> Mixture:
        """Return the shares of positives among rows labeled 0 (prior) and labeled 1 (purity).

        Parameters
        ----------
        counts : Counts
            The data. Every row is labeled 1 or 0; there are no known negatives.

        Returns
        -------
        Mixture
        """
        check_unlabeled(counts, "label errors")
        if counts.n_negative:
            raise InputError(
                f"LabelErrors describe rows labeled 1 or 0, but there are also "
                f"{counts.n_negative:,} known negatives. Leave them out, or give prior and purity."
            )
        share = counts.n_labeled / counts.n
        low, high = self.false_positive_rate, 1 - self.false_negative_rate
        if not low < share < high:
            raise InputError(
                f"with these error rates, the share of rows labeled 1 must be between {low:g} and "
                f"{high:g}; got {share:.4g} ({counts.n_labeled:,} of {counts.n:,}). Check the "
                "rates, and that every row was labeled."
            )
        return self._mixtures(np.array([share]))[0]

    def mixtures(self, counts: SampleSizes[float], shift: Array) -> Mixtures:
        """Return the mixtures for other numbers of rows labeled 1.

        ``shift`` is the deviation of the share of these rows, in standard errors.
        """
        share = counts.n_labeled / counts.n
        labeled, unlabeled = counts.squared_weights[:2]
        error = math.sqrt(labeled * (1 - share) ** 2 + unlabeled * share**2) / counts.n
        return self._mixtures(share + shift * error)

    def _mixtures(self, share: Array) -> Mixtures:
        informative = 1 - self.false_negative_rate - self.false_positive_rate
        prevalence = np.clip(
            (share - self.false_positive_rate) / informative,
            SMALLEST_PREVALENCE,
            1 - SMALLEST_PREVALENCE,
        )
        share = self.false_positive_rate + informative * prevalence
        purity = 1 - (1 - prevalence) * self.false_positive_rate / share
        prior = prevalence * self.false_negative_rate / (1 - share)
        return Mixtures(cap_prior(prior, purity), purity)


def _check_rate(name: str, rate: Any) -> float:
    if isinstance(rate, Real) and 0 <= float(rate) < 1:
        return float(rate)
    meaning = {
        "false_negative_rate": "It is the share of the positives that are labeled 0.",
        "false_positive_rate": "It is the share of the negatives that are labeled 1.",
    }[name]
    raise InputError(
        f"{name} must be a number in [0, 1); got {rate!r}. {meaning}{percent_hint(rate)}"
    )


def refuse_label_errors(
    prior: Any,
    function: str,
    remedy: str = (
        "Pass the prior and purity that follow from them: mixture = errors.mixture(counts); "
        "prior=mixture.prior, purity=mixture.purity."
    ),
) -> None:
    """Refuse error rates of labels where only prior and purity can be used."""
    if isinstance(prior, LabelErrors):
        raise InputError(f"{function} does not accept LabelErrors. {remedy}")
