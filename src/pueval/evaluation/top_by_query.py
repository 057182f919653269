"""top_by_query(): the first rows of many lists, such as those of users, plates or families."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from pueval._checks import check_count, check_fraction, check_number
from pueval._typing import Array
from pueval.core.confidence import student_quantile
from pueval.core.mixture import Mixture
from pueval.counts.counts import Counts
from pueval.errors import InputError
from pueval.evaluation.estimates import Estimate, estimate_rows
from pueval.sources.arrays import (
    as_scores,
    check_same_order,
    label_kinds,
    one_column,
)
from pueval.sources.group_codes import encode_groups
from pueval.sources.labels import KIND_CODES, LabelValues
from pueval.sources.propensities import labeled_propensities
from pueval.text.numbers import CLIPPED_NOTE
from pueval.text.results import Result
from pueval.text.tables import text_table
from pueval.uncertainty.intervals import Interval

TITLES = {"precision": "Precision", "recall": "Recall", "dcg": "DCG"}


@dataclass(frozen=True, eq=False, repr=False)
class TopByQuery(Result):
    """Measures of the first rows of many lists; made by `top_by_query`.

    Arrays have one entry per query. Values of single queries are not clipped, so that their mean
    is right: a single labeled row stands for several positives.

    Attributes
    ----------
    query : ndarray
        Names of the queries, sorted.
    rows, labeled : ndarray
        Number of rows and of labeled rows.
    positives : ndarray
        Estimated number of positives: the sum of label/label_frequency.
    precision, recall, dcg : ndarray
        Measures of the first k rows, or of all rows of a shorter list. Recall is NaN for queries
        without labeled rows.
    macro : dict of str to Estimate
        Mean of each measure over the queries for which it is defined, with an interval over
        queries. The naive value has unlabeled rows as negatives.
    k : int
        Number of first rows.
    level : float or None
        Confidence level.
    """

    query: Array
    rows: Array
    labeled: Array
    positives: Array
    precision: Array
    recall: Array
    dcg: Array
    macro: dict[str, Estimate]
    k: int
    level: float | None

    @property
    def n_without_labels(self) -> int:
        """Number of queries without labeled rows, which have no recall."""
        return int(np.count_nonzero(self.labeled == 0))

    def _columns(self) -> Mapping[str, Any]:
        names = ("query", "rows", "labeled", "positives", *TITLES)
        return {name: getattr(self, name) for name in names}

    def _headline(self) -> str:
        rows = "row" if self.k == 1 else f"{self.k:,} rows"
        queries = "1 query"
        if self.query.size > 1:
            queries = f"{self.query.size:,} queries, mean over queries"
        text = f"The first {rows} of {queries}"
        if self.n_without_labels:
            has = "has" if self.n_without_labels == 1 else "have"
            text += f"; {self.n_without_labels:,} {has} no labeled rows, so no recall"
        return text

    def _table(self) -> str:
        titled = ((TITLES[name], estimate) for name, estimate in self.macro.items())
        table = text_table(*estimate_rows(titled, self.level))
        clipped = any(estimate.clipped for estimate in self.macro.values())
        return f"{table}\n{CLIPPED_NOTE}" if clipped else table


def top_by_query(
    y: Any,
    score: Any,
    query: Any,
    *,
    k: int,
    label_frequency: float | None = None,
    propensity: Any = None,
    level: float | None = 0.95,
    pos_label: Any = 1,
    unlabeled_label: Any = 0,
    negative_label: Any = None,
) -> TopByQuery:
    """Evaluate the first k rows of each of many lists, such as the items of each user.

    In the place of the class of a row stands label/c, which has the same mean if a positive is
    labeled with probability c: the same for all rows of all queries, or the propensity of each
    row. So no query needs a prior. With ranks r by score and d(r) = 1/log₂(r + 1), a query has

    - precision Σ_{r ≤ k} label/c / k and DCG Σ_{r ≤ k} d(r)·label/c, which are unbiased;
    - recall, the share of its Σ label/c positives among the first k rows. With one label frequency
      for all rows, it does not depend on it.

    There is no NDCG: the best DCG of a query depends on its number of positives, which a few labels
    tell only roughly, and the ratio would be too high on average. Queries are independent and count
    equally; rows have no weights. Recall is a mean over the queries with labeled rows, which can
    differ from the others. Tied rows count by the expectation over their orders. Assumes that
    labels are clean (there is no ``purity``), and random given the propensity.

    Parameters
    ----------
    y : array-like of shape (n,)
        Labels: 1 or True for labeled positives, 0 or False for unlabeled rows.
    score : array-like of shape (n,)
        Scores; higher means more likely positive.
    query : array-like of shape (n,)
        The list of each row: a user, a plate, a family.
    k : int
        Number of first rows of each list; shorter lists count as a whole.
    label_frequency : float, optional
        Share of all positives that are labeled, c, in (0, 1]. Give it or ``propensity``.
    propensity : array-like of shape (n,), optional
        For labeled rows, the probability in (0, 1] that the row, being positive, was labeled.
    level : float or None, default 0.95
        Confidence level of the intervals over queries; None for no intervals.
    pos_label, unlabeled_label, negative_label : optional
        Values of ``y`` for labeled, unlabeled and known negative rows.

    Returns
    -------
    TopByQuery

    References
    ----------
    Jain, Prabhu and Varma (2016), Extreme multi-label loss functions for recommendation, tagging,
    ranking and other missing label applications.

    Examples
    --------
    >>> import numpy as np
    >>> import pueval
    >>> rng = np.random.default_rng(0)
    >>> user = np.repeat(np.arange(500), 40)
    >>> positive = rng.random(20_000) < 0.2
    >>> score = rng.normal(size=20_000) + 2 * positive
    >>> clicked = positive & (rng.random(20_000) < 0.3)
    >>> top = pueval.top_by_query(clicked, score, user, k=5, label_frequency=0.3)
    >>> precision = top.macro["precision"]
    >>> round(precision.naive, 2), round(precision.value, 2)
    (0.25, 0.82)
    """
    check_count("k", k)
    if level is not None:
        check_fraction("level", level)
    check_same_order({"y": y, "score": score, "query": query, "propensity": propensity})
    kind = label_kinds(y, LabelValues(pos_label, unlabeled_label, negative_label))
    labeled = kind == 0
    scores = as_scores(one_column(score, "score"))
    if scores.size != labeled.size or not np.isfinite(scores).all():
        not_finite = np.count_nonzero(~np.isfinite(scores))
        raise InputError(
            f"score must have a finite number for each of the {labeled.size:,} rows of y; got "
            f"{scores.size:,} scores, {not_finite:,} of them not finite."
        )
    probability = _label_probability(labeled, label_frequency, propensity)
    _check_positives(kind, scores, probability, label_frequency)
    names, code = encode_groups(query, labeled.size, "query")
    lists = _Lists.of(scores, code, len(names), k)
    naive = lists.measures(labeled.astype(np.float64))
    found = lists.measures(labeled / probability)
    return TopByQuery(
        query=np.array(names),
        rows=lists.rows,
        labeled=lists.sum(labeled.astype(np.int64)).astype(np.int64),
        positives=found["positives"],
        **{name: found[name] for name in TITLES},
        macro={name: _average(name, found[name], naive[name], level) for name in TITLES},
        k=k,
        level=level,
    )


def _label_probability(labeled: Array, label_frequency: float | None, propensity: Any) -> Array:
    """Return the probability that each labeled row, being positive, was labeled."""
    if (label_frequency is None) == (propensity is None):
        got = "neither" if propensity is None else "both"
        raise InputError(
            "give label_frequency, the share of all positives that are labeled, or the propensity "
            f"of each row; got {got}. Pass label_frequency=1 for the naive values."
        )
    if label_frequency is not None:
        frequency = check_number("label_frequency", label_frequency)
        if not 0 < frequency <= 1:
            raise InputError(f"label_frequency must be in (0, 1]; got {label_frequency!r}.")
        return np.full(labeled.size, frequency)
    probability = np.ones(labeled.size)
    probability[labeled] = labeled_propensities(propensity, labeled)
    return probability


def _check_positives(
    kind: Array, score: Array, probability: Array, label_frequency: float | None
) -> None:
    """Refuse rows without labels, and labels that represent more positives than there are rows."""
    counts = Counts.from_arrays(kind, score, **KIND_CODES.arguments)
    counts._check_nonempty()
    if label_frequency is not None and label_frequency < 1:
        Mixture.from_label_frequency(counts, label_frequency)
    represented = float(np.sum(1 / probability[kind == 0]))
    possible = counts.n_labeled + counts.n_unlabeled
    if represented > possible:
        raise InputError(
            f"by their propensities, {counts.n_labeled:,} labeled rows represent "
            f"{represented:,.6g} positives, but only {possible:,} rows are labeled or unlabeled. "
            "Check the propensities."
        )


@dataclass(frozen=True, eq=False)
class _Lists:
    """Lists of rows in the order of their scores.

    Attributes
    ----------
    code : ndarray
        Number of the list of each row.
    rows : ndarray
        Number of rows of each list.
    in_top, discount : ndarray
        Whether each row is among the first k, and its discount if it is: means over the orders of
        tied rows.
    k : int
        Number of first rows.
    """

    code: Array
    rows: Array
    in_top: Array
    discount: Array
    k: int

    @classmethod
    def of(cls, score: Array, code: Array, n_queries: int, k: int) -> _Lists:
        """Find the weights of all rows in their lists."""
        order = np.lexsort((-score, code))
        code_sorted, score_sorted = code[order], score[order]
        rows = np.bincount(code, minlength=n_queries)
        start = np.cumsum(rows) - rows
        rank = np.arange(score.size) - start[code_sorted] + 1
        new = np.ones(score.size, dtype=bool)
        new[1:] = (np.diff(code_sorted) != 0) | (np.diff(score_sorted) != 0)
        tie = np.cumsum(new) - 1
        size = np.bincount(tie)

        def mean_in_ties(weight: Array) -> Array:
            in_order: Array = np.empty(score.size)
            in_order[order] = (np.bincount(tie, weight) / size)[tie]
            return in_order

        top = rank <= k
        return cls(code, rows, mean_in_ties(top), mean_in_ties(top / np.log2(rank + 1)), k)

    def sum(self, values: Array) -> Array:
        """Return the sum over the rows of each query."""
        return np.bincount(self.code, values, self.rows.size)

    def measures(self, gain: Array) -> dict[str, Array]:
        """Return the measures of each query; ``gain`` is the class of each row, or label/c."""
        positives, hits = self.sum(gain), self.sum(gain * self.in_top)
        with np.errstate(invalid="ignore"):
            recall = hits / positives
        return {
            "positives": positives,
            "precision": hits / np.minimum(self.rows, self.k),
            "recall": recall,
            "dcg": self.sum(gain * self.discount),
        }


def _average(name: str, found: Array, naive: Array, level: float | None) -> Estimate:
    """Return the mean over queries with its interval over queries."""
    defined = np.isfinite(found)
    limits = (0.0, math.inf if name == "dcg" else 1.0)
    if not defined.any():
        return Estimate.of(math.nan, math.nan, Interval(), limits)
    values = found[defined]
    mean, interval = float(values.mean()), Interval()
    if level is not None and values.size > 1:
        error = float(values.std(ddof=1)) / math.sqrt(values.size)
        margin = student_quantile(level, values.size - 1) * error
        low, high = np.clip([mean - margin, mean + margin], *limits).tolist()
        interval = Interval(low, high, error)
    return Estimate.of(mean, float(naive[defined].mean()), interval, limits)
