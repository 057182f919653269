"""A Comparison as text, and as HTML for notebooks."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from pueval.comparison.differences import Difference, difference_cells
from pueval.comparison.paired_estimates import BEST_VALUES
from pueval.comparison.rankings import MOST_MODELS
from pueval.core.measures import AREAS
from pueval.errors import InputError
from pueval.estimates.cluster_effects import cluster_sentences
from pueval.estimates.estimate import Estimate
from pueval.estimates.measure_titles import HEADLINE_MEASURES, measure_title
from pueval.evaluation.assumption_text import (
    OWN_THRESHOLDS,
    interval_sentences,
    prior_and_purity,
    row_counts,
)
from pueval.evaluation.evaluation_text import LINE_LENGTH
from pueval.families.field_measures import find_field_measure
from pueval.text.numbers import (
    CLIPPED_MARK,
    CLIPPED_NOTE,
    UNDEFINED,
    format_level,
    format_number,
)
from pueval.text.tables import html_summary, text_table
from pueval.text.warning_lists import worst_warnings
from pueval.uncertainty.intervals import Interval

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
# Larger probabilities are not shown as 1.
NEARLY_CERTAIN = 0.99
# With more models, values are shown without intervals.
MOST_WITH_INTERVALS = 4


def estimate_of(ev: Evaluation, measure: str) -> Estimate:
    """Return the estimate of a measure of one model, or of its best value."""
    if not measure.startswith("best_"):
        return ev[measure]
    best = ev.best(measure.removeprefix("best_"))
    return Estimate(best.value, best.low, best.high, best.naive, math.nan, best.unclipped)


def collect_estimates(
    evaluations: Mapping[str, Evaluation], measures: Sequence[str]
) -> dict[str, dict[str, Estimate]]:
    """Look up measures of several models, one model after the other: model → measure → estimate.

    All intervals of a model come from the same resamples, which take too much memory to keep those
    of all models.
    """
    return {
        name: {measure: estimate_of(ev, measure) for measure in measures}
        for name, ev in evaluations.items()
    }


def point_estimates(comparison: Comparison, measure: str) -> list[Estimate]:
    """Return the estimates of all models, without intervals and naive values."""
    base = measure.removeprefix("best_")
    value_range = (0.0, 1.0)
    if base not in AREAS:
        formula = find_field_measure(base) or comparison._threshold_measure(base)
        value_range = formula.low, formula.high
    return [
        Estimate.of(value, math.nan, Interval(), value_range)
        for value in comparison.values(measure).values()
    ]


def leading_models(comparison: Comparison) -> Comparison:
    """Return the comparison of the models to show one by one: all, or those with the best AUC."""
    if len(comparison) <= MOST_MODELS:
        return comparison
    order = comparison.ranking("roc_auc").order("roc_auc")
    return comparison.subset(order[:MOST_MODELS])


def summary(comparison: Comparison) -> str:
    """Return one line about data and assumptions."""
    first = next(iter(comparison.evaluations.values()))
    models = f"{len(comparison):,} models on {row_counts(first.counts)}"
    if first.audit is not None:
        prior, prevalence = (
            f"{name} {min(values):.3g} to {max(values):.3g}"
            for name in ("prior", "prevalence")
            for values in [[getattr(ev, name) for ev in comparison.evaluations.values()]]
        )
        return (
            f"{models}; {prior} (by the audit and each model's scores), purity {first.purity:.4g}, "
            f"target {comparison.target} ({prevalence})"
        )
    assumed = prior_and_purity(first, comparison.prior_model)
    return f"{models}; {assumed}, target {comparison.target} (prevalence {first.prevalence:.4g})"


def value_rows(comparison: Comparison, measures: tuple[str, ...] | None = None) -> Table:
    """Return header and rows of the table of measures: a column per model.

    The last column has the model that is most probably the best, and the probability. Of many
    models, there is a line for each of the best ones instead.
    """
    if len(comparison) > MOST_MODELS:
        return _model_rows(comparison)
    measures = measures or comparison.measures
    if comparison.level is not None and len(comparison) <= MOST_WITH_INTERVALS:
        estimates = collect_estimates(comparison.evaluations, measures)
        columns = [[str(estimate) for estimate in row.values()] for row in estimates.values()]
    else:
        columns = _value_columns(comparison, measures)
    header = ["", *comparison, *(["best (probability)"] if comparison.level is not None else [])]
    body = []
    for measure, *cells in zip(measures, *columns, strict=True):
        row = [measure_title(measure), *cells]
        if comparison.level is not None:
            tells = _tells_models_apart(comparison, measure)
            row.append(_most_probable_best(comparison, measure) if tells else "")
        body.append(row)
    thresholds = ["Threshold", *(f"{ev.threshold:.5g}" for ev in comparison.evaluations.values())]
    body.append(thresholds + [""] * (len(header) - len(thresholds)))
    return header, body


def _value_columns(comparison: Comparison, measures: Sequence[str]) -> list[list[str]]:
    """Return the values of each model as text, without intervals."""
    rows = [
        [
            format_number(estimate.value, clipped=estimate.clipped)
            for estimate in point_estimates(comparison, measure)
        ]
        for measure in measures
    ]
    return [[*column] for column in zip(*rows, strict=True)]


def _model_rows(comparison: Comparison) -> Table:
    """Return header and rows of the best models, best first."""
    shown = leading_models(comparison)
    measures = (*AREAS, *BEST_VALUES)
    header = ["", *map(measure_title, measures), "Threshold"]
    body = [
        [name, *cells, f"{ev.threshold:.5g}"]
        for (name, ev), cells in zip(
            shown.evaluations.items(), _value_columns(shown, measures), strict=True
        )
    ]
    return header, body


def _tells_models_apart(comparison: Comparison, measure: str) -> bool:
    """Return whether models can be ranked by a measure: not at thresholds that differ by chance."""
    chosen = any(ev.threshold_chosen for ev in comparison.evaluations.values())
    needs_no_threshold = measure in AREAS or find_field_measure(measure) is not None
    return not chosen or needs_no_threshold or measure.startswith("best_")


def _most_probable_best(comparison: Comparison, measure: str) -> str:
    probability = best_probability_or_nan(comparison, measure)
    defined = {name: value for name, value in probability.items() if not math.isnan(value)}
    if not defined:
        return UNDEFINED
    best = max(defined, key=lambda name: defined[name])
    shown = ">0.99" if defined[best] > NEARLY_CERTAIN else f"{defined[best]:.2g}"
    return f"{best} ({shown})"


def best_probability_or_nan(comparison: Comparison, measure: str) -> dict[str, float]:
    """Return the probability that each model is the best; NaN if it is undefined for all."""
    try:
        return comparison.best_probability(measure)
    except InputError:  # undefined for all models
        return dict.fromkeys(comparison, math.nan)


def difference_rows(
    comparison: Comparison, measures: tuple[str, ...] = HEADLINE_MEASURES, most: int | None = None
) -> Table:
    """Return header and rows of the table of differences; of many models, of the best ones."""
    comparison = leading_models(comparison)
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
        if find_field_measure(measure) is not None:
            continue
        ranges = comparison.order_by_prior(measure).best_models
        text = ", ".join(f"{best.low:.3g} to {best.high:.3g}: {best.model}" for best in ranges)
        body.append([measure_title(measure), text])
    return ["Best by prior", "prior: model"], body


def as_text(comparison: Comparison) -> str:
    """Return summary, tables and warnings."""
    parts = [
        _wrap(f"Comparison of {summary(comparison)}"),
        text_table(*value_rows(comparison, PRINTED_MEASURES)),
    ]
    if len(comparison) <= MOST_MODELS:
        parts += ["", text_table(*difference_rows(comparison, most=PRINTED_PAIRS))]
    parts += map(_wrap, [_left_out(comparison), *notes(comparison)])
    parts += [f"! {warning}" for warning in worst_warnings(comparison.warnings)]
    return "\n".join(parts)


def _wrap(sentences: str) -> str:
    return textwrap.fill(sentences, LINE_LENGTH)


def _left_out(comparison: Comparison) -> str:
    n_pairs = math.comb(len(comparison), 2)
    text = f".frame() returns all {len(comparison.measures)} measures"
    if len(comparison) > MOST_MODELS:
        return (
            f"The best {MOST_MODELS} of {len(comparison):,} models by ROC AUC. {text} of all, "
            ".subset(names).differences() the differences of some."
        )
    return text + ("." if n_pairs <= MOST_PAIRS else f", .differences() all {n_pairs} pairs.")


def notes(comparison: Comparison) -> list[str]:
    """Explain marks, clusters, intervals and p-values, if there are any."""
    clipped = any(
        estimate.clipped
        for measure in comparison.measures
        for estimate in point_estimates(comparison, measure)
    )
    lines = [CLIPPED_NOTE] if clipped else []
    clusters = cluster_sentences([ev.clusters for ev in comparison.evaluations.values()])
    lines += [" ".join(clusters)] if clusters else []
    return lines if comparison.level is None else [*lines, *_interval_notes(comparison)]


def _interval_notes(comparison: Comparison) -> list[str]:
    first = next(iter(comparison.evaluations.values()))
    # All models have the same assumptions, but each has its own threshold.
    lines = []
    if len(comparison) <= MOST_MODELS:
        lines = [f"{interval_sentences(first)[0]} Adjusted p-values are Holm's, over all pairs."]
    if lines and comparison.assumptions.region is not None:
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
    first = "Measure" if len(comparison) <= MOST_MODELS else "Model"
    return [first, *header[1:]], rows, [CLIPPED_NOTE] if clipped else []


def as_html(comparison: Comparison) -> str:
    """Return summary, tables and warnings for a notebook."""
    lines = [_left_out(comparison), *notes(comparison)]
    lines += [f"⚠ {warning}" for warning in worst_warnings(comparison.warnings)]
    tables = [value_rows(comparison, PRINTED_MEASURES)]
    if len(comparison) <= MOST_MODELS:
        tables.append(difference_rows(comparison))
    return html_summary(f"Comparison of {summary(comparison)}", tables, lines)
