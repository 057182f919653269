"""top_by_query(): the first rows of many lists, such as those of users, plates or families.

In the place of the class of a row stands its gain, which has the mean 1 for positives and 0 for
negatives. If positives are labeled with probability c and negatives, by mistake, with probability
d, the gain is (label − d)/(c − d): label/c with clean labels, where c may differ by row. Known
negatives have the gain 0. With a purity p, the label frequency c and all lists together, d follows
from the numbers of labeled and unlabeled rows n_L and n_U as in
`pueval.values_and_queries.positive_sums`,

    d = (1 − p)·n_L/(n_L + n_U − p·n_L/c).

The mean of a measure over Q lists has the variance of the list's contributions, divided by Q. With
clean labels, contributions are the measures of the lists. Otherwise d is estimated, too: a list
with l labeled rows among m labeled or unlabeled ones adds

    (∂mean/∂d)·(1 − p)·(m̄·l − l̄·m)/(m̄ − p·l̄/c)²

to its measure, where l̄ and m̄ are means over the lists. Pooled recall is a ratio of sums over
lists, with hits H and positives P: its contributions are (H − R·P)/(1 − h)/P̄, where h is the share
of the list in all positives, as in the jackknife.

Measures are between bounds: in the first rows of all lists, none or all may be labeled. Limits are
Wilson's between these bounds, see `pueval.core.confidence.mean_limits`: with few labeled rows they
cover better than symmetric ones, and nothing is certain because all of them are first rows, or
none. For pooled recall, the effective number of lists is (ΣP)²/ΣP².

A row with a frequency weight stands for so many rows with its score, which have successive ranks.
Importance weights have no unit: in each list, ranks are sums of weights divided by the weight of
one row, Σ weight²/Σ weight, as in `pueval.families.rank_weights`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from pueval._checks import check_count, check_fraction
from pueval._typing import Array
from pueval.core.confidence import mean_limits, student_quantile
from pueval.estimates.estimate import Estimate, estimate_rows
from pueval.sources.labels import LabelValues
from pueval.text.numbers import CLIPPED_NOTE
from pueval.text.results import Result
from pueval.text.tables import text_table
from pueval.uncertainty.intervals import Interval
from pueval.values_and_queries.query_lists import QueryLists
from pueval.values_and_queries.query_rows import QueryRows

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
        Number of rows and of labeled rows; with importance weights the effective numbers.
    positives : ndarray
        Estimated number of positives: the sum of gains, such as label/label_frequency.
    precision, recall, dcg : ndarray
        Measures of the first k rows, or of all rows of a shorter list. Recall is NaN for queries
        without labeled rows, and for all queries if labels can be wrong.
    macro : dict of str to Estimate
        Mean of each measure over the queries for which it is defined, with an interval over
        queries. The naive value has unlabeled rows as negatives.
    pooled_recall : Estimate
        Share of the positives of all queries together that are among the first k rows of theirs.
    k : int
        Number of first rows.
    purity : float
        Share of true positives among the labeled rows.
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
    pooled_recall: Estimate
    k: int
    purity: float
    level: float | None

    @property
    def n_without_labels(self) -> int:
        """Number of queries without labeled rows, which have no recall."""
        return int(np.count_nonzero(self.labeled == 0))

    def estimates(self) -> dict[str, Estimate]:
        """Return the estimates of all queries together by title, as they are printed.

        Returns
        -------
        dict of str to Estimate
        """
        titled = {TITLES[name]: estimate for name, estimate in self.macro.items()}
        return titled | {"Pooled recall": self.pooled_recall}

    def _columns(self) -> Mapping[str, Any]:
        names = ("query", "rows", "labeled", "positives", *TITLES)
        return {name: getattr(self, name) for name in names}

    def summary(self) -> str:
        """Return how many lists there are, in one line.

        Returns
        -------
        str
        """
        rows = "row" if self.k == 1 else f"{self.k:,} rows"
        queries = "1 query"
        if self.query.size > 1:
            queries = f"{self.query.size:,} queries, mean over queries"
        text = f"The first {rows} of {queries}"
        if self.purity < 1:
            text += "; with wrong labels, single queries have no recall"
        elif self.n_without_labels:
            has = "has" if self.n_without_labels == 1 else "have"
            text += f"; {self.n_without_labels:,} {has} no labeled rows, so no recall"
        return text

    def _headline(self) -> str:
        return self.summary()

    def _table(self) -> str:
        estimates = self.estimates()
        table = text_table(*estimate_rows(estimates.items(), self.level))
        clipped = any(estimate.clipped for estimate in estimates.values())
        return f"{table}\n{CLIPPED_NOTE}" if clipped else table


def top_by_query(
    y: Any,
    score: Any,
    query: Any,
    *,
    k: int,
    label_frequency: float | None = None,
    purity: float = 1.0,
    propensity: Any = None,
    sample_weight: Any = None,
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
    equally. Recall is a mean over the queries with labeled rows, which tend to have more positives
    than the others. With propensities it is also biased, as a ratio of two noisy sums if a query
    has few labels. *Pooled recall* has neither problem: the share of the positives of all queries
    that are among the first k rows of their lists. If a few long lists have most of the positives,
    its interval is too narrow. Tied rows count by the expectation over their
    orders. All rows of a list are ranked, also labeled ones. Assumes that labels are random given
    the propensity.

    With a ``purity`` below 1, some labels are wrong: each negative is labeled with the same
    probability w, (1 − purity)·n_L divided by the number of negatives, and label/c is replaced by
    (label − w)/(c − w). Assumes that wrongly labeled rows are a random sample of the negatives of
    all queries. Single queries, and so macro averages, then have no recall: the estimated number of
    positives of a query can be 0 or negative. Use pooled recall.

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
    purity : float, default 1.0
        Share of true positives among the labeled rows of all queries; 1 means clean labels.
    propensity : array-like of shape (n,), optional
        For labeled rows, the probability in (0, 1] that the row, being positive, was labeled. Needs
        clean labels.
    sample_weight : array-like of shape (n,), optional
        Weights of the rows. Integers are frequency weights: 3 counts as three rows of the list,
        with successive ranks. Floats are importance weights. Queries count equally all the same.
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
    rows = QueryRows.read(
        y,
        score,
        query,
        label_frequency=label_frequency,
        purity=purity,
        propensity=propensity,
        sample_weight=sample_weight,
        labels=LabelValues(pos_label, unlabeled_label, negative_label),
    )
    lists = QueryLists.of(rows.score, rows.code, rows.weight, len(rows.names), k)
    found, naive = lists.measures(rows.gain()), lists.measures(rows.labeled.astype(np.float64))
    n_rows, n_labeled = lists.rows, lists.weighted_sum(rows.labeled) / lists.row_weight
    if rows.weight.dtype.kind != "f":
        n_rows, n_labeled = n_rows.astype(np.int64), n_labeled.astype(np.int64)
    noise = dict.fromkeys(TITLES, np.zeros(n_rows.size))
    pooled_noise = noise["recall"]
    if purity < 1 and label_frequency is not None:
        change = _wrong_label_change(lists, rows, purity, label_frequency)
        slope = rows.slope()
        slopes = lists.measures(slope)
        noise |= {name: slopes[name].mean() * change for name in ("precision", "dcg")}
        pooled_noise = _recall_residuals(lists, rows.gain(), slope).mean() * change
        found["recall"] = np.full(n_rows.size, math.nan)
    bounds = _bounds(lists, rows)
    return TopByQuery(
        query=np.array(rows.names),
        rows=n_rows,
        labeled=n_labeled,
        positives=found["positives"],
        **{name: found[name] for name in TITLES},
        macro={
            name: _average(name, found[name], noise[name], naive[name], bounds[name], level)
            for name in TITLES
        },
        pooled_recall=_pool_recall(lists, rows, pooled_noise, level),
        k=k,
        purity=float(purity),
        level=level,
    )


def _wrong_label_change(
    lists: QueryLists, rows: QueryRows, purity: float, label_frequency: float
) -> Array:
    """Return how much each list changes the estimated probability of wrong labels."""
    labeled, possible = lists.weighted_sum(rows.labeled), lists.weighted_sum(rows.possible)
    negatives = possible.mean() - purity * labeled.mean() / label_frequency
    difference = possible.mean() * labeled - labeled.mean() * possible
    change: Array = (1 - purity) * difference / negatives**2
    return change


def _bounds(lists: QueryLists, rows: QueryRows) -> dict[str, tuple[float, float]]:
    """Return the least and the highest value of the mean of each measure.

    The first rows of all lists are then unlabeled, or labeled. Recall is 1 if they are all rows.
    """
    gain, most = rows.gain(), lists.measures(np.ones(rows.score.size))
    least, highest = min(float(gain.min()), 0.0), float(gain.max())
    bounds = {
        name: (least * float(most[name].mean()), highest * float(most[name].mean()))
        for name in ("precision", "dcg")
    }
    return bounds | {"recall": (float(lists.in_top.min() == 1), 1.0)}


def _average(
    name: str,
    values: Array,
    noise: Array,
    naive: Array,
    bounds: tuple[float, float],
    level: float | None,
) -> Estimate:
    """Return the mean over queries with its interval over queries.

    ``noise`` is what an estimated probability of wrong labels adds to each query.
    """
    limits = (0.0, math.inf if name == "dcg" else 1.0)
    # With wrong labels, recall is undefined, but the naive one is not.
    defined = np.isfinite(values) if np.isfinite(values).any() else np.isfinite(naive)
    if not defined.any():
        return Estimate.of(math.nan, math.nan, Interval(), limits)
    value, n = float(values[defined].mean()), np.count_nonzero(defined)
    interval = _interval(value, (values + noise)[defined], float(n), bounds, limits, level)
    return Estimate.of(value, float(naive[defined].mean()), interval, limits)


def _recall_residuals(lists: QueryLists, gain: Array, changed: Array) -> Array:
    """Return the hits of each list minus recall·positives, with ``changed`` gains but one recall.

    They sum to 0 if gains have not changed.
    """
    positives = lists.weighted_sum(gain).sum()
    recall = lists.hits(gain).sum() / positives if positives > 0 else math.nan
    return lists.hits(changed) - recall * lists.weighted_sum(changed)


def _pool_recall(lists: QueryLists, rows: QueryRows, noise: Array, level: float | None) -> Estimate:
    """Return the share of all positives that are among the first rows of their lists."""
    gain = rows.gain()
    naive = float(lists.hits(rows.labeled).sum() / lists.weighted_sum(rows.labeled).sum())
    positives = lists.weighted_sum(gain)
    total = float(positives.sum())
    if total <= 0:
        return Estimate.of(math.nan, naive, Interval())
    recall = float(lists.hits(gain).sum()) / total
    share = np.clip(positives / total, 0, 0.5)
    residuals = (_recall_residuals(lists, gain, gain) + noise) / (1 - share)
    n = total**2 / float(positives @ positives)
    bounds = _bounds(lists, rows)["recall"]
    interval = _interval(recall, residuals / positives.mean(), n, bounds, (0.0, 1.0), level)
    return Estimate.of(recall, naive, interval)


def _interval(
    value: float,
    contributions: Array,
    effective_number: float,
    bounds: tuple[float, float],
    limits: tuple[float, float],
    level: float | None,
) -> Interval:
    """Return the interval of a mean over queries from what each of them contributes.

    ``effective_number`` is the effective number of queries, ``bounds`` has the least and the
    highest value of the estimate, and ``limits`` those of the truth.
    """
    size = contributions.size
    if level is None or size < 2 or math.isnan(value):
        return Interval()
    error = float(contributions.std(ddof=1)) / math.sqrt(size)
    low, high = value, value
    if bounds[0] < bounds[1]:
        critical_value = student_quantile(level, max(effective_number - 1, 1.0))
        low, high = mean_limits(value, error, bounds, effective_number, critical_value)
    low, high = np.clip([low, high], *limits).tolist()
    return Interval(low, high, error)
