"""Evaluations of several models, printed side by side."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

from pueval.commands.terminal import (
    print_line,
    print_notes,
    print_roc_curves,
    show_table,
    show_tables,
)
from pueval.estimates.baselines import BASELINE_TITLES
from pueval.estimates.bias_bounds import BiasBounds
from pueval.estimates.cluster_effects import cluster_sentences
from pueval.estimates.measure_titles import REPORTED_MEASURES, TITLES
from pueval.evaluation.assumption_text import (
    DEFAULT_THRESHOLD,
    interval_sentences,
    prior_and_purity,
    row_counts,
)
from pueval.evaluation.evaluation import Evaluation
from pueval.groups.group_evaluation import GroupEvaluation
from pueval.ranking import RANKING_TITLES, saturation_note
from pueval.sensitivity.bounds import Bounds
from pueval.text.numbers import CLIPPED_NOTE, format_level, format_number
from pueval.text.warning_lists import group_warnings, worst_warnings


def print_evaluations(
    evaluations: dict[str, Evaluation],
    rankings: dict[str, dict[str, float]],
    *,
    all_measures: bool = False,
    clusters: Sequence[str] = (),
) -> None:
    """Print assumptions, verdict, measures, small ROC curves, and notes."""
    first = next(iter(evaluations.values()))
    print_line(_summary(first, _prior_model(evaluations)))
    print_verdict(evaluations)
    measures = shown_measures(first, all_measures=all_measures)
    table = _measure_table(evaluations, measures)
    show_tables([table, *([_ranking_table(rankings)] if rankings else [])])
    if not all_measures:
        print_line(f"{len(measures)} of {len(first)} measures; --all shows the rest.")
    if first.threshold_chosen:
        print_line(DEFAULT_THRESHOLD)
    if sys.stdout.isatty():
        print_roc_curves(evaluations)
    if any(ev.clipped for ev in evaluations.values()):
        print_line(CLIPPED_NOTE)
    if rankings:
        values = {name: ranking["pulp"] for name, ranking in rankings.items()}
        if saturated := saturation_note(values, first.counts):
            print_line(saturated)
    if first.resampling is not None:
        print_line(" ".join(interval_sentences(first, subject="In brackets:")))
    print_clusters(evaluations, clusters)
    for name, ev in evaluations.items():
        if ev.resolution is not None:
            print_line(f"{name}: {ev.resolution}.")
    print_notes(f"! {warning}" for warning in worst_warnings(model_warnings(evaluations)))


def shown_measures(ev: Evaluation, *, all_measures: bool) -> tuple[str, ...]:
    """Return the measures of the main table, in its order; tables below it have the same."""
    return tuple(ev) if all_measures else REPORTED_MEASURES


def model_warnings(
    evaluations: Mapping[str, Evaluation] | Mapping[str, GroupEvaluation],
) -> list[str]:
    """Return the warnings of all models, each with the names of its models."""
    return group_warnings({name: ev.warnings for name, ev in evaluations.items()})


def print_clusters(evaluations: Mapping[str, Evaluation], clusters: Sequence[str]) -> None:
    """Print what the clusters of some columns change; nothing if there is no such column."""
    if not clusters:
        return
    sentences = cluster_sentences([ev.clusters for ev in evaluations.values()])
    print_line(
        " ".join(sentences)
        or f"Every row is a cluster of its own, so --cluster {' '.join(clusters)} changes nothing."
    )


def print_verdict(evaluations: dict[str, Evaluation]) -> None:
    """Print what the evaluation of the first model means; what is known holds for all of them."""
    name, ev = next(iter(evaluations.items()))
    if len(evaluations) > 1:
        print_line(f"Verdict on {name}:")
    print_notes(ev.verdict().sentences())


def print_baselines(evaluations: dict[str, Evaluation], measures: Sequence[str]) -> None:
    """Print measures of classifiers that ignore the scores."""
    baselines = {name: ev.baselines() for name, ev in evaluations.items()}
    header = ["Baselines"]
    header += [f"{name}\n{title}" for name in baselines for title in BASELINE_TITLES.values()]
    rows = [
        [TITLES[measure], *(cell for each in baselines.values() for cell in each[measure].cells())]
        for measure in _available(measures, baselines)
    ]
    show_below(header, rows)
    print_line(
        "Baselines ignore the scores: they predict all rows positive, all negative, or as many "
        "rows as the model at random."
    )


def _available(measures: Sequence[str], models: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Return the measures that a table has, in the given order."""
    available = {*next(iter(models.values()))}
    return [measure for measure in measures if measure in available]


def print_bounds(bounds: dict[str, Bounds], measures: Sequence[str]) -> None:
    """Print Claesen's bounds of measures."""
    first = next(iter(bounds.values()))
    level = format_level(first.level)
    rows = [
        [TITLES[measure], *(str(each[measure]) for each in bounds.values())]
        for measure in _available(measures, bounds)
    ]
    show_below([f"Bounds ({level})", *bounds], rows)
    print_line(f"{first.summary()}.")


def show_below(header: list[str], rows: list[list[str]]) -> None:
    """Print another table, with a blank line before it where tables have no frames."""
    if not sys.stdout.isatty():
        print()  # noqa: T201
    show_table(header, rows)


def print_bias_bounds(bounds: dict[str, BiasBounds], measures: Sequence[str]) -> None:
    """Print the bounds of measures for a labeling bias, with intervals."""
    first = next(iter(bounds.values()))
    rows = [
        [TITLES[measure], *(str(each[measure]) for each in bounds.values())]
        for measure in _available(measures, bounds)
    ]
    show_below([f"Labeling bias {first.bias:g}", *bounds], rows)
    interval = ""
    if first.level is not None:
        level = format_level(first.level)
        interval = f" In brackets: {level} confidence intervals of the true values."
    print_line(f"{first.summary()}.{interval}")
    print_notes(f"! {name}: {note}" for name, each in bounds.items() for note in each.notes())


def _prior_model(evaluations: dict[str, Evaluation]) -> str | None:
    """Return the model whose scores gave the prior of all, where there are several."""
    if len(evaluations) == 1:
        return None
    estimated = (
        name
        for name, ev in evaluations.items()
        if ev.prior_estimate is not None and not ev.assumptions.estimate_given
    )
    return next(estimated, None)


def _summary(ev: Evaluation, prior_model: str | None) -> str:
    labeling = "labeling by propensity" if ev.counts.has_propensity else "random labeling"
    if ev.audit is not None:
        labeling = "random labeling" if ev.audit.labeling == "random" else "labeling by the audit"
    return (
        f"{row_counts(ev.counts)}. Assumed: {prior_and_purity(ev, prior_model)}, {labeling}. "
        f"Target: {ev.target} (prevalence {ev.prevalence:.4g}, "
        f"label frequency {ev.mixture.label_frequency(ev.counts):.4g})."
    )


def _measure_table(
    evaluations: dict[str, Evaluation], measures: Sequence[str]
) -> tuple[list[str], list[list[str]]]:
    header, rows = [""], [[TITLES[measure]] for measure in measures]
    thresholds = ["Threshold"]
    for name, ev in evaluations.items():
        header += [f"{name}\nnaive", f"{name}\ncorrected"]
        thresholds += ["", f"{ev.threshold:.5g}"]
        for row, measure in zip(rows, measures, strict=True):
            row += [format_number(ev[measure].naive), str(ev[measure])]
    return header, [*rows, thresholds]


def _ranking_table(rankings: dict[str, dict[str, float]]) -> tuple[list[str], list[list[str]]]:
    measures = next(iter(rankings.values()))
    rows = [
        [RANKING_TITLES[name], *(format_number(values[name]) for values in rankings.values())]
        for name in measures
    ]
    return ["Without a prior", *rankings], rows
