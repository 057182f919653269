"""Evaluations of several models, printed side by side."""

from __future__ import annotations

import sys

from pueval.commands.terminal import print_roc_curves, say, show_table
from pueval.counts.counts import Counts
from pueval.evaluation.evaluation import Evaluation
from pueval.evaluation.evaluation_text import assumed, taken_as_exact
from pueval.evaluation.measure_titles import TITLES
from pueval.ranking import RANKING_TITLES
from pueval.text.numbers import CLIPPED_NOTE, format_count, format_level, format_number


def print_evaluations(
    evaluations: dict[str, Evaluation], rankings: dict[str, dict[str, float]]
) -> None:
    """Print what was assumed, all measures, small curves, and what the limits mean."""
    first = next(iter(evaluations.values()))
    own = [
        k
        for k, ev in evaluations.items()
        if ev.prior_estimate and not ev.assumptions.estimate_given
    ]
    say(_assumed(first, own[0] if own and len(evaluations) > 1 else None))
    header, rows = [""], [[TITLES[name]] for name in first]
    for name, ev in evaluations.items():
        header += [f"{name}\nnaive", f"{name}\ncorrected"]
        for row, measure in zip(rows, ev, strict=True):
            row += [format_number(ev[measure].naive), str(ev[measure])]
    thresholds = ["Threshold"]
    for ev in evaluations.values():
        thresholds += ["", f"{ev.threshold:.5g}"]
    show_table(header, [*rows, thresholds])
    if rankings:
        measures = next(iter(rankings.values()))
        show_table(
            ["Without a prior", *rankings],
            [
                [
                    RANKING_TITLES[measure],
                    *(format_number(values[measure]) for values in rankings.values()),
                ]
                for measure in measures
            ],
        )
    if sys.stdout.isatty():
        print_roc_curves(evaluations)
    if any(ev.clipped for ev in evaluations.values()):
        say(CLIPPED_NOTE)
    if first.resampling is not None:
        say(_limits_mean(first))
    for name, ev in evaluations.items():
        if ev.resolution is not None:
            say(f"{name}: {ev.resolution}.")
        for warning in ev.warnings:
            say(f"! {name}: {warning}")


def weights_mean(counts: Counts) -> str:
    """Say what the weights were taken for."""
    if not counts._has_importance_weights:
        return "Weights are whole numbers: a row with weight 3 counts as three rows."
    few = counts.effective_sizes[0] + counts.effective_sizes[1]
    return (
        "Weights are not all whole numbers, so they say how much a row matters: together these "
        f"rows tell as much as {format_count(round(few))} equally weighted ones."
    )


def _limits_mean(ev: Evaluation) -> str:
    """Say what the limits are about, and what they take as known."""
    assert ev.resampling is not None  # noqa: S101 - only asked where there are limits
    what = {"sampling": "another sample of rows", "labeling": "another choice of labels"}
    known = f"they take {taken_as_exact(ev)} as exact"
    if ev.region is not None:
        known = "they hold for every prior and purity within the limits given"
    if ev.prior_estimate is not None:
        known = "they carry the uncertainty of the estimates"
    if ev.threshold_chosen:
        known += ", and allow for the threshold being the best for these rows"
    how = ev.resampling
    return f"In brackets: {format_level(how.level)} limits for {what[how.variance]}; {known}."


def _assumed(ev: Evaluation, model: str | None) -> str:
    counts, mixture = ev.counts, ev.mixture
    rows = f"{format_count(counts.n_labeled)} labeled, {format_count(counts.n_unlabeled)} unlabeled"
    if counts.n_negative:
        rows += f", {format_count(counts.n_negative)} known negative"
    return (
        f"{rows} rows. Assumed: {assumed(ev, model)}, labels "
        f"drawn at random; target {ev.target}, so prevalence {ev.prevalence:.4g}, "
        f"label frequency {mixture.label_frequency(counts):.4g}."
    )
