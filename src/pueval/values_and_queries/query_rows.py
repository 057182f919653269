"""Rows of many lists: reading them, and unbiased estimates of their classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pueval._checks import check_number
from pueval._typing import Array
from pueval.core.mixture import Mixture, check_share, check_unlabeled
from pueval.counts.counts import Counts
from pueval.errors import InputError
from pueval.evaluation.propensity_assumptions import check_propensity_options
from pueval.sources.arrays import (
    as_scores,
    as_weights,
    check_lengths,
    check_same_order,
    label_kinds,
    one_column,
)
from pueval.sources.group_codes import encode_groups
from pueval.sources.labels import KIND_CODES, LabelValues
from pueval.sources.propensities import labeled_propensities


@dataclass(frozen=True, eq=False)
class QueryRows:
    """Rows with a weight above 0, and the queries to which they belong.

    Attributes
    ----------
    labeled, negative : ndarray of bool
        Labeled rows, and known negatives.
    score : ndarray
        Scores.
    weight : ndarray
        Integers for frequency weights, or no weights at all, and otherwise floats.
    names : list
        Names of the queries, sorted.
    code : ndarray
        Index of the query of each row.
    probability : ndarray
        Probability that each row is labeled if it is positive; 1 where it is not known.
    wrong : float
        Probability that a negative is labeled.
    """

    labeled: Array
    negative: Array
    score: Array
    weight: Array
    names: list[Any]
    code: Array
    probability: Array
    wrong: float

    @classmethod
    def read(
        cls,
        y: Any,
        score: Any,
        query: Any,
        *,
        label_frequency: float | None,
        purity: float,
        propensity: Any,
        sample_weight: Any,
        labels: LabelValues,
    ) -> QueryRows:
        """Read rows; refuse labels that do not fit the label frequency or the propensities."""
        check_same_order(
            {
                "y": y,
                "score": score,
                "query": query,
                "propensity": propensity,
                "sample_weight": sample_weight,
            }
        )
        kind = label_kinds(y, labels)
        scores = as_scores(one_column(score, "score"))
        if scores.size != kind.size or not np.isfinite(scores).all():
            not_finite = np.count_nonzero(~np.isfinite(scores))
            raise InputError(
                f"score must have a finite number for each of the {kind.size:,} rows of y; got "
                f"{scores.size:,} scores, {not_finite:,} of them not finite."
            )
        weight = np.ones(kind.size, dtype=np.int64)
        if sample_weight is not None:
            weight = as_weights(one_column(sample_weight, "sample_weight"))
            check_lengths({"y": kind, "sample_weight": weight})
        probability = _label_probability(kind == 0, label_frequency, purity, propensity)
        counts = Counts.from_arrays(kind, scores, sample_weight=weight, **KIND_CODES.arguments)
        counts._check_nonempty()
        wrong = 0.0
        if label_frequency is None:
            _check_represented(counts, float(np.sum((weight / probability)[kind == 0])))
        elif label_frequency < 1 or purity < 1:
            check_unlabeled(counts, "label_frequency" if purity == 1 else "purity")
            mixture = Mixture.from_label_frequency(counts, label_frequency, purity)
            wrong = mixture.wrong_label_frequency(counts)
        names, code = encode_groups(query, kind.size, "query")
        if not weight.all():
            kept = weight > 0
            kind, scores, weight = kind[kept], scores[kept], weight[kept]
            probability = probability[kept]
            used, code = np.unique(code[kept], return_inverse=True)
            names = [names[number] for number in used]
        return cls(kind == 0, kind == 2, scores, weight, names, code, probability, wrong)

    @property
    def possible(self) -> Array:
        """Rows that can be positive: the labeled and the unlabeled ones."""
        return ~self.negative

    def gain(self) -> Array:
        """Return the estimate of the class of each row: (label − wrong)/(probability − wrong)."""
        gain = (self.labeled - self.wrong) / (self.probability - self.wrong)
        return np.where(self.negative, 0.0, gain)

    def slope(self) -> Array:
        """Return the derivative of `gain` by ``wrong``."""
        slope = (self.gain() - 1) / (self.probability - self.wrong)
        return np.where(self.negative, 0.0, slope)


def _label_probability(
    labeled: Array, label_frequency: float | None, purity: float, propensity: Any
) -> Array:
    """Return the probability that each labeled row, being positive, was labeled."""
    if (label_frequency is None) == (propensity is None):
        got = "neither" if propensity is None else "both"
        raise InputError(
            "give label_frequency, the share of all positives that are labeled, or the propensity "
            f"of each row; got {got}. Pass label_frequency=1 for the naive values."
        )
    check_share("purity", purity, low_open=True)
    if label_frequency is not None:
        frequency = check_number("label_frequency", label_frequency)
        if not 0 < frequency <= 1:
            raise InputError(f"label_frequency must be in (0, 1]; got {label_frequency!r}.")
        return np.full(labeled.size, frequency)
    check_propensity_options(purity, "population")
    probability = np.ones(labeled.size)
    probability[labeled] = labeled_propensities(propensity, labeled)
    return probability


def _check_represented(counts: Counts, represented: float) -> None:
    """Refuse labels that represent more positives than there are rows."""
    possible = counts.n_labeled + counts.n_unlabeled
    if represented > possible:
        raise InputError(
            f"by their propensities, {counts.n_labeled:,} labeled rows represent "
            f"{represented:,.6g} positives, but only {possible:,} rows are labeled or unlabeled. "
            "Check the propensities."
        )
