"""Measures of the top of the list: what the first rows hold, and how early positives come.

Most are functionals of the cumulative gains, the share of the positives among the first rows of the
target (`pueval.families.rank_weights`); those with ``along_roc`` are functionals of the ROC curve.
Ties count by the expectation over their orders. To add a measure, write a function that returns it,
and a line in `TOP_MEASURES` if it needs no argument.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial

import numpy as np

from pueval._checks import check_number
from pueval._typing import Array
from pueval.core.rates import Rates, monotone_rates
from pueval.errors import InputError
from pueval.families.rank_weights import (
    Gains,
    cut_lines,
    discount_sum,
    exponential_sum,
    line_prevalence,
)
from pueval.families.roc_measures import (
    ENRICHMENT_FPR,
    PARTIAL_FPR,
    logauc,
    partial_auc,
    roc_enrichment,
)
from pueval.families.top_measure import RowsOf, TopMeasure, first_rows

# Rates that differ by less are equal.
SAME_RATE = 1e-12
# Defaults: of the exponential weight, and the share of rows.
DECAY = 20.0
TOP_SHARE = 0.01


# ------------------------------------------------------------------ the first k rows


def _recall(rates: Rates, rows: RowsOf) -> Array:
    return Gains.of(rates).at(rows(rates.n_rows))


def _positives(rates: Rates, rows: RowsOf) -> Array:
    gains = Gains.of(rates)
    return gains.positives * gains.at(rows(rates.n_rows))


def _precision(rates: Rates, rows: RowsOf) -> Array:
    return _positives(rates, rows) / rows(rates.n_rows)


def _f(rates: Rates, rows: RowsOf, weight: float) -> Array:
    positives = line_prevalence(rates) * rates.n_rows
    return (1 + weight) * _positives(rates, rows) / (rows(rates.n_rows) + weight * positives)


def _enrichment(rates: Rates, rows: RowsOf) -> Array:
    return _recall(rates, rows) * (rates.n_rows / rows(rates.n_rows))


def _average_precision(rates: Rates, rows: RowsOf) -> Array:
    k, monotone = rows(rates.n_rows), monotone_rates(rates)
    positives = line_prevalence(rates) * rates.n_rows
    reached, tpr = cut_lines(monotone.predicted * rates.n_rows, monotone.tpr, np.asarray(k))
    precision = np.zeros(tpr.shape)
    found = np.expand_dims(positives, -1) * tpr
    np.divide(found, reached, out=precision, where=reached > SAME_RATE * rates.n_rows)
    gained = np.sum(np.diff(tpr, axis=-1, prepend=0) * precision, axis=-1)
    return _divide(positives * gained, np.minimum(positives, k))


def _ndcg(rates: Rates, rows: RowsOf | None = None) -> Array:
    gains = Gains.of(rates)
    k = rates.n_rows if rows is None else rows(rates.n_rows)
    gain = gains.positives * gains.mean_weight(
        ("discount", k), lambda x: discount_sum(np.minimum(x, k))
    )
    return _divide(gain, discount_sum(np.clip(gains.positives, 0, k)))


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
    gains = Gains.of(rates)
    outranked = 1 - gains.rows / gains.size
    area: Array = np.asarray(np.trapezoid(outranked, gains.tpr, axis=-1))
    return area


def _enhancement(rates: Rates, decay: float) -> Array:
    size, gains = rates.n_rows, Gains.of(rates)
    return size * gains.mean_weight(
        ("exponential", decay), lambda x: exponential_sum(x, size, decay)
    )


def _bedroc(rates: Rates, decay: float) -> Array:
    prevalence = line_prevalence(rates)
    with np.errstate(invalid="ignore"):  # undefined without positives
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
