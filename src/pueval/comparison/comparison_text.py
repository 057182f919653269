"""A Comparison as text, as HTML for notebooks, and as plain data for JSON."""

from __future__ import annotations

import math
from html import escape
from typing import TYPE_CHECKING, Any

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
    CLIPPED_NOTE,
    format_interval,
    format_level,
    format_number,
)
from pueval.text.results import plain_data
from pueval.text.tables import html_table, text_table

if TYPE_CHECKING:
    from pueval.comparison.comparison import Comparison
    from pueval.comparison.differences import Difference
    from pueval.evaluation.evaluation import Evaluation

# With more pairs than this only those with the best model are shown.
MOST_PAIRS = 6


def estimate_of(ev: Evaluation, measure: str) -> Estimate:
    """Return the estimate of a measure of one model, or of its best value."""
    if not measure.startswith("best_"):
        return ev[measure]
    best = ev.best(measure.removeprefix("best_"))
    return Estimate(best.value, best.low, best.high, best.naive, math.nan, best.unclipped)


def summary(comparison: Comparison) -> str:
    """Say in one line what was compared and assumed."""
    first = next(iter(comparison.evaluations.values()))
    assumed = prior_and_purity(first, comparison.prior_model)
    return (
        f"{len(comparison)} models on {row_counts(first.counts)}; {assumed}, "
        f"target {comparison.target} (prevalence {first.prevalence:.4g})"
    )


def value_rows(comparison: Comparison) -> tuple[list[str], list[list[str]]]:
    """Return header and rows of the table of all measures: a column per model.

    The last column says which model is the best and how probable that is.
    """
    limits = comparison.level is not None and len(comparison) <= 4
    header = ["", *comparison, *(["best (probability)"] if comparison.level is not None else [])]
    body = []
    for measure in comparison.measures:
        row = [measure_title(measure)]
        for name in comparison:
            one = estimate_of(comparison[name], measure)
            row.append(str(one) if limits else format_number(one.value, clipped=one.clipped))
        if comparison.level is not None:
            row.append(_likely_best(comparison, measure))
        body.append(row)
    thresholds = ["Threshold", *(f"{ev.threshold:.5g}" for ev in comparison.evaluations.values())]
    body.append(thresholds + [""] * (len(header) - len(thresholds)))
    return header, body


def _likely_best(comparison: Comparison, measure: str) -> str:
    try:
        chances = comparison.best_probability(measure)
    except InputError:
        return "–"
    known = {name: chance for name, chance in chances.items() if not math.isnan(chance)}
    if not known:
        return "–"
    best = max(known, key=lambda name: known[name])
    return f"{best} ({known[best]:.2g})"


def difference_rows(
    comparison: Comparison, measures: tuple[str, ...] = HEADLINE_MEASURES
) -> tuple[list[str], list[list[str]]]:
    """Return header and rows of the table of differences."""
    header = ["", "pair", "difference", "CI", "p-value", "adjusted"]
    if comparison.level is not None:
        header[3] = f"{format_level(comparison.level)} CI"
    body = [
        [
            measure_title(measure),
            f"{pair.first} − {pair.second}",
            format_number(pair.value, 4),
            format_interval(pair.low, pair.high),
            pvalue(pair.pvalue),
            pvalue(pair.adjusted_pvalue),
        ]
        for measure in measures
        for pair in _shown(comparison, measure)
    ]
    return header, body


def order_rows(
    comparison: Comparison, measures: tuple[str, ...] = HEADLINE_MEASURES
) -> tuple[list[str], list[list[str]]]:
    """Return header and rows of the table of the best model at each prior."""
    body = []
    for measure in measures:
        order = comparison.order_by_prior(measure)
        best_models = ", ".join(
            f"{r.low:.3g} to {r.high:.3g}: {r.model}" for r in order.best_models
        )
        body.append([measure_title(measure), best_models])
    return ["Best by prior", "prior: model"], body


def _shown(comparison: Comparison, measure: str) -> list[Difference]:
    pairs = [*comparison.differences(measure)]
    if len(pairs) <= MOST_PAIRS:
        return pairs
    best = comparison.ranking(measure).order(measure)[0]
    return [pair for pair in pairs if best in {pair.first, pair.second}]


def pvalue(value: float) -> str:
    """Show a p-value."""
    if math.isnan(value):
        return "–"
    return f"{value:.3f}" if value >= 0.001 else f"{value:.1e}"


def as_text(comparison: Comparison) -> str:
    """Return summary, tables and warnings."""
    parts = [f"Comparison of {summary(comparison)}", text_table(*value_rows(comparison))]
    parts += ["", text_table(*difference_rows(comparison)), *notes(comparison)]
    parts += [f"! {warning}" for warning in comparison.warnings]
    return "\n".join(parts)


def notes(comparison: Comparison) -> list[str]:
    """Say what marks, limits and p-values mean, if there are any."""
    every = [
        estimate_of(ev, measure)
        for ev in comparison.evaluations.values()
        for measure in comparison.measures
    ]
    said = [CLIPPED_NOTE] if any(one.clipped for one in every) else []
    return said if comparison.level is None else [*said, *_interval_notes(comparison)]


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


def as_html(comparison: Comparison) -> str:
    """Return summary, tables and warnings for a notebook."""
    said = [*notes(comparison), *(f"⚠ {one}" for one in comparison.warnings)]
    below = "".join(f"<p>{escape(note)}</p>" for note in said)
    return (
        f"<div><p>Comparison of {escape(summary(comparison))}</p>"
        f"{html_table(*value_rows(comparison))}{html_table(*difference_rows(comparison))}"
        f"{below}</div>"
    )


def as_data(comparison: Comparison) -> dict[str, Any]:
    """Return everything as plain numbers, lists and text; numbers that JSON lacks are None."""
    estimate, region = comparison.prior_estimate, comparison.assumptions.region
    first = next(iter(comparison.evaluations.values()))
    orders = {}
    if first.counts.n_unlabeled:
        for measure in comparison.measures:
            order = comparison.order_by_prior(measure)
            orders[measure] = {
                "priors": [float(order.prior[0]), float(order.prior[-1])],
                "reversals": [vars(reversal) for reversal in order.reversals],
                "best_models": [vars(best) for best in order.best_models],
            }
    content: dict[str, Any] = plain_data(
        {
            "models": {name: ev.to_dict() for name, ev in comparison.evaluations.items()},
            "assumptions": {
                "prior": comparison.mixture.prior,
                "purity": comparison.mixture.purity,
                "region": None if region is None else vars(region),
                "target": comparison.target,
                "prevalence": first.prevalence,
                "estimated": None if estimate is None else estimate.to_dict(),
                "estimated_from": comparison.prior_model,
            },
            "level": comparison.level,
            "differences": [vars(one) for one in comparison.differences()],
            "best_probability": _probabilities(comparison),
            "order_by_prior": orders,
            "warnings": list(comparison.warnings),
        }
    )
    return content


def _probabilities(comparison: Comparison) -> dict[str, dict[str, float]]:
    found = {}
    for measure in comparison.measures if comparison.level is not None else ():
        try:
            found[measure] = comparison.best_probability(measure)
        except InputError:  # undefined for all models
            found[measure] = dict.fromkeys(comparison, math.nan)
    return found
