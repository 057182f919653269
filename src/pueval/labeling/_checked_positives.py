"""Labeled positives and hidden positives that an audit found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pueval._checks import check_same_length
from pueval._typing import Array
from pueval.audit_estimates.audited_rows import checked_rows
from pueval.errors import InputError
from pueval.sources.arrays import missing_rows, one_column


@dataclass(frozen=True, eq=False)
class CheckedPositives:
    """Positives: all labeled rows, and checked unlabeled rows that are positive.

    A positive with propensity e is among them with probability e + (1 − e)·q, with q the
    probability of being checked, and labeled, given that, with logit(e) − log(q) on the logit
    scale.

    Attributes
    ----------
    rows : ndarray of int
        Positions of the positives.
    labeled : ndarray of bool
        Whether each is labeled.
    probability : ndarray
        Probability with which it was, or would have been, checked as an unlabeled row.
    positive_share : float
        Share of positives among the checked unlabeled rows, if these are a simple random sample;
        else 0.
    """

    rows: Array
    labeled: Array
    probability: Array
    positive_share: float

    @classmethod
    def read(cls, labeled: Array, audited: Any, audit_probability: Any) -> CheckedPositives:
        """Read what an audit found; labeled rows that it found negative are left out."""
        checked = checked_rows(audited)
        truth = one_column(
            np.ma.filled(audited, np.nan) if np.ma.isMA(audited) else audited, "audited"
        )
        check_same_length("y", labeled.size, "audited", truth.size)
        positive = labeled.copy()
        positive[checked] = truth[checked].astype(np.float64) == 1
        rows = np.flatnonzero(positive)
        if audit_probability is None:
            n_checked = max(int(np.count_nonzero(~labeled[checked])), 1)
            probability = np.full(rows.size, n_checked / max(int(np.count_nonzero(~labeled)), 1))
            positive_share = int(np.count_nonzero(~labeled[rows])) / n_checked
        else:
            column = one_column(audit_probability, "audit_probability")
            check_same_length("y", labeled.size, "audit_probability", column.size)
            probability, positive_share = _check_probability(column[rows]), 0.0
        return cls(rows, labeled[rows], probability, positive_share)

    def hidden(self) -> tuple[float, float]:
        """Return the number of hidden positives, Σ 1/q over those found, and its variance.

        The variance is Σ (1 − q)/q²; in a simple random sample, times the share of negatives.
        """
        probability = self.probability[~self.labeled]
        variance = float(np.sum((1 - probability) / probability**2)) * (1 - self.positive_share)
        return float(np.sum(1 / probability)), variance


def _check_probability(column: Array) -> Array:
    if column.dtype.kind not in "biuf" or missing_rows(column).any():
        raise InputError(
            "audit_probability must be a number for every labeled row and every audited row: the "
            "probability with which it would be chosen as an unlabeled row, such as "
            "plan.probability(score)."
        )
    values = column.astype(np.float64)
    if wrong := int(np.count_nonzero(~((values > 0) & (values <= 1)))):
        raise InputError(
            "audit_probability must be in (0, 1] for every labeled row and every audited row; "
            f"{wrong:,} are not. For labeled rows it is the probability with which they would be "
            "chosen as unlabeled rows, such as plan.probability(score)."
        )
    return values
