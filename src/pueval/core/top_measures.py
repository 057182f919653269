"""Measures of the top of the list: what the first rows hold, and how early positives come.

Most are functionals of the cumulative gains, the share of the positives among the first rows of the
target (`pueval.core.rank_weights`); those with ``along_roc`` are functionals of the ROC curve. Ties
count by the expectation over their orders. To add a measure, write a function that returns it, and
a line in `TOP_MEASURES` if it needs no argument.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from pueval._checks import check_fraction, check_number, percent_hint
from pueval._typing import Array
from pueval.core.measures import clip
from pueval.core.rank_weights import (
    Gains,
    cut_lines,
    discount_sum,
    exponential_sum,
    interpolate_lines,
    lift_sum,
    line_prevalence,
)
from pueval.core.rates import Rates, monotone_rates
from pueval.errors import InputError

# A share of rows that is an integer up to rounding is not rounded up.
ROUNDING = 1e-9
# Rates that differ by less are equal.
SAME_RATE = 1e-12
# Defaults: of the exponential weight, the share of rows, and false positive rates.
DECAY = 20.0
TOP_SHARE = 0.01
LOWEST_FPR = 0.001
PARTIAL_FPR = 0.1
ENRICHMENT_FPR = 0.01

RowsOf = Callable[[float], float]


@dataclass(frozen=True)
class TopMeasure:
    """A number computed from the order of all rows, mostly from the first of them.

    Attributes
    ----------
    name, title : str
        Established name, and the name to show.
    formula : callable
        From `Rates` to the measure, one value per line of rates.
    low, high : float
        Range of the true value.
    greater_is_better : bool
        Whether a higher value is better.
    needs_prior : bool
        Whether the value depends on the prior even if labels are clean and random.
    along_roc : bool
        Whether it is an integral along the monotone ROC curve.
    linear : bool
        Whether it is, at a given prevalence, the mean over the positives of a weight of their
        ranks.
    saturates : bool
        Whether it comes from monotone rates at the top, so that draws of a value near its limit
        lie below it.
    rows : callable or None
        From the number of rows in the target to the number of first rows it is about, if there
        is such a number.
    """

    name: str
    title: str
    formula: Callable[[Rates], Array]
    low: float = 0.0
    high: float = 1.0
    greater_is_better: bool = True
    needs_prior: bool = True
    along_roc: bool = False
    linear: bool = False
    saturates: bool = False
    rows: RowsOf | None = None

    def __call__(self, rates: Rates) -> Array:
        """Compute the measure of each line of rates; not clipped."""
        columns = (rates.tpr, rates.fpr, rates.predicted)
        prevalence = np.asarray(rates.prevalence)
        shape = np.broadcast_shapes(prevalence.shape, *(column.shape for column in columns))
        tpr, fpr, predicted = (np.broadcast_to(column, shape) for column in columns)
        lines = replace(rates, tpr=tpr, fpr=fpr, predicted=predicted)
        return np.asarray(self.formula(lines), dtype=np.float64)

    def clip(self, value: float) -> float:
        """Clip an estimate to the range of the measure; NaN stays NaN."""
        return clip(value, self.low, self.high)

    @property
    def is_ratio(self) -> bool:
        """Whether the measure is unbounded above, so that its estimates are skewed."""
        return math.isinf(self.high)


def first_rows(
    k: float | None = None, share: float | None = None, *, at_most_all: bool = False
) -> RowsOf:
    """Return a function from the size of the target to the number of first rows.

    Give ``k`` or ``share``. A share is rounded up to a row; if rows have importance weights, it is
    that share of their weight. With ``at_most_all``, more rows than there are mean all of them.
    """
    if (k is None) == (share is None):
        got = "neither" if k is None else "both"
        raise InputError(f"give k, a number of rows, or share, a share of the rows; got {got}.")
    if k is not None:
        number = check_number("k", k)
        if number <= 0:
            raise InputError(f"k must be a number of rows, at least 1; got {k!r}.")
        if number < 1:
            raise InputError(f"k is a number of rows; got {k!r}. For a share of them, use share=.")
        return partial(_number_of_rows, number, at_most_all)
    part = check_number("share", share)
    if not 0 < part <= 1:
        raise InputError(f"share must be in (0, 1]; got {share!r}.{percent_hint(share)}")
    return partial(_share_of_rows, part)


def _number_of_rows(k: float, at_most_all: bool, size: float) -> float:  # noqa: FBT001
    if k > size and not at_most_all:
        raise InputError(
            f"k must be at most {size:,g}, the number of rows in the target; got {k:,g}."
        )
    return min(k, size)


def _share_of_rows(share: float, size: float) -> float:
    rows = share * size
    has_importance_weights = not isinstance(size, int | np.integer)
    return rows if has_importance_weights else float(max(math.ceil(rows - ROUNDING), 1))


# ------------------------------------------------------------------ the first k rows


def _recall(rates: Rates, rows: RowsOf) -> Array:
    return Gains.of(rates).at(rows(rates.size))


def _positives(rates: Rates, rows: RowsOf) -> Array:
    gains = Gains.of(rates)
    return gains.positives * gains.at(rows(rates.size))


def _precision(rates: Rates, rows: RowsOf) -> Array:
    return _positives(rates, rows) / rows(rates.size)


def _f(rates: Rates, rows: RowsOf, weight: float) -> Array:
    positives = line_prevalence(rates) * rates.size
    return (1 + weight) * _positives(rates, rows) / (rows(rates.size) + weight * positives)


def _enrichment(rates: Rates, rows: RowsOf) -> Array:
    return _recall(rates, rows) * (rates.size / rows(rates.size))


def _average_precision(rates: Rates, rows: RowsOf) -> Array:
    k, monotone = rows(rates.size), monotone_rates(rates)
    positives = line_prevalence(rates) * rates.size
    reached, tpr = cut_lines(monotone.predicted * rates.size, monotone.tpr, np.asarray(k))
    precision = np.zeros(tpr.shape)
    found = np.expand_dims(positives, -1) * tpr
    np.divide(found, reached, out=precision, where=reached > SAME_RATE * rates.size)
    gained = np.sum(np.diff(tpr, axis=-1, prepend=0) * precision, axis=-1)
    return _divide(positives * gained, np.minimum(positives, k))


def _ndcg(rates: Rates, rows: RowsOf | None = None) -> Array:
    gains = Gains.of(rates)
    k = rates.size if rows is None else rows(rates.size)
    gain = gains.positives * gains.mean_weight(lambda x: discount_sum(np.minimum(x, k)))
    return _divide(gain, discount_sum(np.minimum(gains.positives, k)))


def recall_at(rows: RowsOf) -> TopMeasure:
    """Share of the positives among the first rows: recall@k, cumulative gain, hit rate."""
    formula = partial(_recall, rows=rows)
    return TopMeasure("recall_at_k", "Recall", formula, linear=True, needs_prior=False, rows=rows)


def positives_at(rows: RowsOf) -> TopMeasure:
    """Positives among the first rows, as a number."""
    formula = partial(_positives, rows=rows)
    return TopMeasure("positives_at_k", "Positives", formula, linear=True, high=math.inf, rows=rows)


def precision_at(rows: RowsOf) -> TopMeasure:
    """Share of positives among the first rows: prevalence·recall·N/k."""
    return TopMeasure(
        "precision_at_k", "Precision", partial(_precision, rows=rows), linear=True, rows=rows
    )


def f_at(rows: RowsOf, beta: float = 1.0) -> TopMeasure:
    """F of the first rows: (1 + β²)·positives among them / (k + β²·all positives)."""
    formula = partial(_f, rows=rows, weight=beta * beta)
    return TopMeasure("f_at_k", f"F{beta:g}", formula, linear=True, rows=rows)


def enrichment(rows: RowsOf) -> TopMeasure:
    """Enrichment factor, or lift: recall among the first rows over their share of all rows."""
    return TopMeasure(
        "enrichment_factor",
        "Enrichment factor",
        partial(_enrichment, rows=rows),
        high=math.inf,
        needs_prior=False,
        linear=True,
        rows=rows,
    )


def average_precision_at(rows: RowsOf) -> TopMeasure:
    """Average precision of the first rows, along monotone rates.

    Σ precision(r)·positive(r) over the ranks r ≤ k, divided by the smaller of k and the number of
    positives. As in scikit-learn's average precision, tied rows have the precision at their end.
    """
    return TopMeasure(
        "average_precision_at_k",
        "Average precision",
        partial(_average_precision, rows=rows),
        saturates=True,
        rows=rows,
    )


def ndcg(rows: RowsOf | None = None) -> TopMeasure:
    """NDCG, the discounted cumulative gain over its best value, of the first rows or of all.

    Σ P(positive at rank r)/log₂(r + 1) over the ranks r ≤ k, divided by the same sum for a list
    that begins with all positives.
    """
    return TopMeasure("ndcg_score", "NDCG", partial(_ndcg, rows=rows), linear=True, rows=rows)


# ------------------------------------------------------------------ all rows


def _r_precision(rates: Rates) -> Array:
    """Return the precision, which equals the recall, of as many first rows as positives."""
    gains = Gains.of(rates)
    return gains.at(gains.positives)


def _area_under_lift(rates: Rates) -> Array:
    return Gains.of(rates).mean_weight(lambda x: lift_sum(x, rates.size))


def _enhancement(rates: Rates, decay: float) -> Array:
    size = rates.size
    return size * Gains.of(rates).mean_weight(lambda x: exponential_sum(x, size, decay))


def _bedroc(rates: Rates, decay: float) -> Array:
    prevalence = line_prevalence(rates)
    largest = np.expm1(-decay * prevalence) / (prevalence * math.expm1(-decay))
    least = largest * np.exp(-decay * (1 - prevalence))
    return _divide(_enhancement(rates, decay) - least, largest - least)


def area_under_lift() -> TopMeasure:
    """Probability that a positive comes before a random row; a row is half before itself."""
    return TopMeasure(
        "aul", "Area under the lift curve", _area_under_lift, linear=True, needs_prior=False
    )


def rie(decay: float = DECAY) -> TopMeasure:
    """Robust initial enhancement: the mean of exp(−α·r/N) over positives, over that of all rows."""
    _check_decay(decay)
    formula = partial(_enhancement, decay=decay)
    return TopMeasure("rie", "RIE", formula, linear=True, high=math.inf, needs_prior=False)


def bedroc(decay: float = DECAY) -> TopMeasure:
    """RIE, scaled from its least to its largest value at this prevalence (Truchon and Bayly)."""
    _check_decay(decay)
    return TopMeasure("bedroc_score", "BEDROC", partial(_bedroc, decay=decay), linear=True)


# ------------------------------------------------------------------ the ROC curve


def _partial_auc(rates: Rates, max_fpr: float) -> Array:
    fpr, tpr = cut_lines(*_roc_lines(rates), np.asarray(max_fpr))
    area = np.sum(np.diff(fpr, axis=-1) * (tpr[..., 1:] + tpr[..., :-1]) / 2, axis=-1)
    least = max_fpr**2 / 2
    value: Array = (1 + (area - least) / (max_fpr - least)) / 2
    return value


def _logauc(rates: Rates, min_fpr: float) -> Array:
    fpr, tpr = _roc_lines(rates)
    start = np.expand_dims(interpolate_lines(fpr, tpr, np.asarray(min_fpr), upper=True), -1)
    tpr, fpr = np.where(fpr > min_fpr, tpr, start), np.maximum(fpr, min_fpr)
    step, rise = np.diff(fpr, axis=-1), np.diff(tpr, axis=-1)
    slope = np.zeros(step.shape)
    np.divide(rise, step, out=slope, where=step > 0)
    log = np.log1p(step / fpr[..., :-1])
    # The integral of t₀ + slope·(f − f₀) over ln f.
    pieces = tpr[..., :-1] * log + slope * (step - fpr[..., :-1] * log)
    value: Array = np.sum(pieces, axis=-1) / -math.log(min_fpr)
    return value


def _roc_enrichment(rates: Rates, fpr: float) -> Array:
    x, y = _roc_lines(rates)
    return interpolate_lines(x, y, np.asarray(fpr), slack=SAME_RATE, upper=True) / fpr


def partial_auc(max_fpr: float = PARTIAL_FPR) -> TopMeasure:
    """Area under the ROC curve up to a false positive rate, standardized as McClish does.

    .5·(1 + (area − f²/2)/(f − f²/2)), f = ``max_fpr``: 1 for a perfect, .5 for a random ranking.
    """
    check_fraction("max_fpr", max_fpr)
    formula = partial(_partial_auc, max_fpr=max_fpr)
    return TopMeasure("partial_roc_auc", "Partial AUC", formula, along_roc=True)


def logauc(min_fpr: float = LOWEST_FPR) -> TopMeasure:
    """Mean of the recall over the logarithm of the false positive rate, from ``min_fpr`` to 1.

    A random ranking has (1 − λ)/ln(1/λ), λ = ``min_fpr``: .145 for .001.
    """
    check_fraction("min_fpr", min_fpr)
    return TopMeasure("logauc", "logAUC", partial(_logauc, min_fpr=min_fpr), along_roc=True)


def roc_enrichment(fpr: float = ENRICHMENT_FPR) -> TopMeasure:
    """Recall at a false positive rate, divided by this rate."""
    check_fraction("fpr", fpr)
    formula = partial(_roc_enrichment, fpr=fpr)
    return TopMeasure("roc_enrichment", "ROC enrichment", formula, high=1 / fpr, along_roc=True)


def _roc_lines(rates: Rates) -> tuple[Array, Array]:
    """Return the points of the monotone ROC curves, from (0, 0) to (1, 1)."""
    monotone = monotone_rates(rates)
    start = np.zeros((*monotone.tpr.shape[:-1], 1))
    fpr, tpr = (
        np.concatenate([start, rate, start + 1], axis=-1) for rate in (monotone.fpr, monotone.tpr)
    )
    return fpr, tpr


def _check_decay(decay: float) -> None:
    if check_number("alpha", decay) <= 0:
        raise InputError(f"alpha must be a positive number; got {decay!r}.")


def _divide(numerator: Array, denominator: Array) -> Array:
    """Divide; NaN where the denominator is not positive."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio: Array = np.where(denominator > 0, numerator / denominator, np.nan)
    return ratio


TOP_MEASURES = {
    measure.name: measure
    for measure in (
        TopMeasure("r_precision", "R-precision", _r_precision),
        ndcg(),
        replace(
            enrichment(first_rows(share=TOP_SHARE)),
            title=f"Enrichment of the first {TOP_SHARE:.0%}",
        ),
        area_under_lift(),
        rie(),
        bedroc(),
        replace(partial_auc(), title=f"Partial AUC, FPR up to {PARTIAL_FPR:g}"),
        logauc(),
        replace(roc_enrichment(), title=f"ROC enrichment, FPR {ENRICHMENT_FPR:g}"),
    )
}
