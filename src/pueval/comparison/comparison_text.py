"""A Comparison as text, as HTML for notebooks, and as plain data for JSON."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from pueval.comparison.differences import Difference, difference_cells
from pueval.comparison.paired_estimates import BEST_VALUES
from pueval.core.measures import AREAS
from pueval.errors import InputError
from pueval.evaluation.assumption_text import (
    OWN_THRESHOLDS,
    interval_sentences,
    prior_and_purity,
    row_counts,
)
from pueval.evaluation.estimates import Estimate
from pueval.evaluation.measure_titles import HEADLINE_MEASURES, measure_title
from pueval.text.numbers import (
    CLIPPED_MARK,
    CLIPPED_NOTE,
    UNDEFINED,
    format_level,
    format_number,
)
from pueval.text.results import plain_dict
from pueval.text.tables import html_summary, text_table

if TYPE_CHECKING:
    from pueval.comparison.comparison import Comparison
    from pueval.evaluation.evaluation import Evaluation

Table = tuple[list[str], list[list[str]]]

# Measures that a Comparison prints; the data frame has all.
PRINTED_MEASURES = (
    *AREAS,
    *("accuracy", "balanced_accuracy", "precision", "recall", "specificity", "f1"),
    "matthews_corrcoef",
    *BEST_VALUES,
)
# With more pairs, only those with the best model are shown; of these, a Comparison prints the
# pairs with the next best models.
MOST_PAIRS, PRINTED_PAIRS = 6, 4
# With more models, values are shown without intervals.
MOST_WITH_INTERVALS = 4


def estimate_of(ev: Evaluation, measure: str) -> Estimate:
    """Return the estimate of a measure of one model, or of its best value."""
    if not measure.startswith("best_"):
        return ev[measure]
    best = ev.best(measure.removeprefix("best_"))
    return Estimate(best.value, best.low, best.high, best.naive, math.nan, best.unclipped)


def summary(comparison: Comparison) -> str:
    """Return one line about data and assumptions."""
    first = next(iter(comparison.evaluations.values()))
    assumed = prior_and_purity(first, comparison.prior_model)
    return (
        f"{len(comparison)} models on {row_counts(first.counts)}; {assumed}, "
        f"target {comparison.target} (prevalence {first.prevalence:.4g})"
    )


def value_rows(comparison: Comparison, measures: tuple[str, ...] | None = None) -> Table:
    """Return header and rows of the table of measures: a column per model.

    The last column has the model that is most probably the best, and the probability.
    """
    with_intervals = comparison.level is not None and len(comparison) <= MOST_WITH_INTERVALS
    header = ["", *comparison, *(["best (probability)"] if comparison.level is not None else [])]
    body = []
    for measure in measures or comparison.measures:
        row = [measure_title(measure)]
        for ev in comparison.evaluations.values():
            estimate = estimate_of(ev, measure)
            value = format_number(estimate.value, clipped=estimate.clipped)
            row.append(str(estimate) if with_intervals else value)
        if comparison.level is not None:
            row.append(_most_probable_best(comparison, measure))
        body.append(row)
    thresholds = ["Threshold", *(f"{ev.threshold:.5g}" for ev in comparison.evaluations.values())]
    body.append(thresholds + [""] * (len(header) - len(thresholds)))
    return header, body


def _most_probable_best(comparison: Comparison, measure: str) -> str:
    probability = _best_probability(comparison, measure)
    defined = {name: value for name, value in probability.items() if not math.isnan(value)}
    if not defined:
        return UNDEFINED
    best = max(defined, key=lambda name: defined[name])
    return f"{best} ({defined[best]:.2g})"


def _best_probability(comparison: Comparison, measure: str) -> dict[str, float]:
    try:
        return comparison.best_probability(measure)
    except InputError:  # undefined for all models
        return dict.fromkeys(comparison, math.nan)


def difference_rows(
    comparison: Comparison, measures: tuple[str, ...] = HEADLINE_MEASURES, most: int | None = None
) -> Table:
    """Return header and rows of the table of differences."""
    level = "" if comparison.level is None else f"{format_level(comparison.level)} "
    header = ["", "pair", "difference", f"{level}CI", "p-value", "adjusted"]
    body = [
        [measure_title(measure), *difference_cells(difference)]
        for measure in measures
        for difference in _shown_differences(comparison, measure, most)
    ]
    return header, body


def _shown_differences(comparison: Comparison, measure: str, most: int | None) -> list[Difference]:
    differences = [*comparison.differences(measure)]
    if len(differences) <= MOST_PAIRS:
        return differences
    order = comparison.ranking(measure).order(measure)
    next_best = order[1:] if most is None else order[1 : most + 1]
    return [
        difference
        for difference in differences
        for pair in ({difference.first, difference.second},)
        if order[0] in pair and pair & {*next_best}
    ]


def order_rows(comparison: Comparison, measures: tuple[str, ...] = HEADLINE_MEASURES) -> Table:
    """Return header and rows of the table of the best model at each prior."""
    body = []
    for measure in measures:
        ranges = comparison.order_by_prior(measure).best_models
        text = ", ".join(f"{best.low:.3g} to {best.high:.3g}: {best.model}" for best in ranges)
        body.append([measure_title(measure), text])
    return ["Best by prior", "prior: model"], body


def as_text(comparison: Comparison) -> str:
    """Return summary, tables and warnings."""
    parts = [
        f"Comparison of {summary(comparison)}",
        text_table(*value_rows(comparison, PRINTED_MEASURES)),
        "",
        text_table(*difference_rows(comparison, most=PRINTED_PAIRS)),
        _left_out(comparison),
        *notes(comparison),
        *(f"! {warning}" for warning in comparison.warnings),
    ]
    return "\n".join(parts)


def _left_out(comparison: Comparison) -> str:
    n_pairs = len(comparison) * (len(comparison) - 1) // 2
    text = f".frame() has all {len(comparison.measures)} measures"
    return text + ("." if n_pairs <= MOST_PAIRS else f", .differences() all {n_pairs} pairs.")


def notes(comparison: Comparison) -> list[str]:
    """Explain marks, intervals and p-values, if there are any."""
    clipped = any(
        estimate_of(ev, measure).clipped
        for ev in comparison.evaluations.values()
        for measure in comparison.measures
    )
    lines = [CLIPPED_NOTE] if clipped else []
    return lines if comparison.level is None else [*lines, *_interval_notes(comparison)]


def _interval_notes(comparison: Comparison) -> list[str]:
    first = next(iter(comparison.evaluations.values()))
    # All models have the same assumptions, but each has its own threshold.
    lines = [f"{interval_sentences(first)[0]} Adjusted p-values are Holm's, over all pairs."]
    if comparison.assumptions.region is not None:
        lines.append(
            "For given intervals, values and probabilities are for the midpoint, and p-values "
            "are the largest in the interval."
        )
    if any(ev.threshold_chosen for ev in comparison.evaluations.values()):
        lines.append(OWN_THRESHOLDS)
    return lines


def exported_table(comparison: Comparison) -> tuple[list[str], list[list[str]], list[str]]:
    """Return header, rows and notes of the printed table of measures, for documents."""
    header, rows = value_rows(comparison, PRINTED_MEASURES)
    clipped = any(CLIPPED_MARK in cell for row in rows for cell in row[1:])
    return ["Measure", *header[1:]], rows, [CLIPPED_NOTE] if clipped else []


def as_html(comparison: Comparison) -> str:
    """Return summary, tables and warnings for a notebook."""
    lines = [*notes(comparison), *(f"⚠ {warning}" for warning in comparison.warnings)]
    tables = (value_rows(comparison), difference_rows(comparison))
    return html_summary(f"Comparison of {summary(comparison)}", tables, lines)


def as_data(comparison: Comparison) -> dict[str, Any]:
    """Return everything as plain numbers, lists and text; numbers that JSON lacks are None."""
    first = next(iter(comparison.evaluations.values()))
    orders = {}
    if first.counts.n_unlabeled:
        for measure in comparison.measures:
            order = comparison.order_by_prior(measure)
            orders[measure] = {
                "priors": order.prior[[0, -1]],
                "reversals": order.reversals,
                "best_models": order.best_models,
            }
    return plain_dict(
        {
            "models": {name: ev.to_dict() for name, ev in comparison.evaluations.items()},
            "assumptions": {
                "prior": comparison.mixture.prior,
                "purity": comparison.mixture.purity,
                "region": comparison.assumptions.region,
                "target": comparison.target,
                "prevalence": first.prevalence,
                "estimated": comparison.prior_estimate,
                "estimated_from": comparison.prior_model,
            },
            "level": comparison.level,
            "differences": comparison.differences(),
            "best_probability": {
                measure: _best_probability(comparison, measure)
                for measure in (() if comparison.level is None else comparison.measures)
            },
            "order_by_prior": orders,
            "warnings": comparison.warnings,
        }
    )
