"""An Evaluation as text, and as plain data for JSON."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from pueval._typing import Array
from pueval.core.curves import PrecisionRecallCurve, RocCurve
from pueval.core.thinned_curves import thin_curve
from pueval.estimates.estimate import BEST_MEASURES, estimate_rows
from pueval.estimates.measure_titles import REPORTED_MEASURES, TITLES
from pueval.evaluation.assumption_text import prior_and_purity, row_counts, threshold_rule
from pueval.text.numbers import CLIPPED_NOTE, format_number
from pueval.text.results import plain_dict
from pueval.text.tables import text_table
from pueval.text.warning_lists import worst_warnings

if TYPE_CHECKING:
    from pueval.evaluation.evaluation import Evaluation

# Printed sentences are wrapped to this length.
LINE_LENGTH = 88


def as_data(ev: Evaluation, *, all_points: bool) -> dict[str, Any]:
    """Return everything as plain numbers, lists and text; numbers that JSON lacks are None.

    Without ``all_points``, curves have no more points than a plot can show.
    """
    roc, pr = ev.roc(), ev.pr()
    return plain_dict(
        {
            "counts": {
                "labeled": ev.counts.n_labeled,
                "unlabeled": ev.counts.n_unlabeled,
                "negative": ev.counts.n_negative,
            },
            "assumptions": {
                "prior": ev.mixture.prior,
                "purity": ev.mixture.purity,
                "region": ev.region,
                "from_propensity": ev.assumptions.from_propensity,
                "label_errors": ev.assumptions.label_errors,
                "target": ev.target,
                "prevalence": ev.prevalence,
                "label_frequency": ev.mixture.label_frequency(ev.counts),
                "estimated": None if ev.prior_estimate is None else ev.prior_estimate.to_dict(),
            },
            "resolution": ev.resolution,
            "intervals": ev.resampling,
            "threshold": ev.threshold,
            "table": ev.operating_point.table,
            "naive_table": ev.operating_point.naive_table,
            "measures": dict(ev),
            "baselines": ev.baselines().to_dict(),
            "best": {name: ev.best(name) for name in BEST_MEASURES},
            "roc": _curve_data(roc, roc.fpr, roc.tpr, all_points=all_points),
            "pr": _curve_data(pr, pr.recall, pr.precision, all_points=all_points),
            "splits": None if ev.splits is None else ev.splits.to_dict(),
            "audit": None if ev.audit is None else ev.audit.to_dict(),
            "clusters": None if ev.clusters is None else ev.clusters.to_dict(),
            "warnings": ev.warnings,
        }
    )


def _curve_data(
    curve: RocCurve | PrecisionRecallCurve, x: Array, y: Array, *, all_points: bool
) -> dict[str, Any]:
    """Return the area, the number of points, and columns of the points that are kept."""
    kept = slice(None) if all_points else thin_curve(x, y)
    columns = {field.name: getattr(curve, field.name)[kept] for field in fields(curve)}
    return {"area": curve.area, "n_points": x.size, **columns}


def summary(ev: Evaluation) -> str:
    """Return what was evaluated and assumed, in one line."""
    binned = "" if ev.resolution is None else f"; {ev.resolution}"
    return (
        f"{row_counts(ev.counts)}; {prior_and_purity(ev)}, "
        f"target {ev.target} (prevalence {ev.prevalence:.4g}), "
        f"threshold {ev.threshold:.6g}{threshold_rule(ev)}{binned}"
    )


def estimate_table(
    ev: Evaluation, names: Iterable[str] = REPORTED_MEASURES
) -> tuple[list[str], list[list[str]]]:
    """Return header and rows of the table of measures; by default of those that people report."""
    names = [*names]
    header, rows = estimate_rows(((TITLES[name], ev[name]) for name in names), ev._level)
    if ev.splits is not None and ev.splits.n_repeats > 1:
        header.append("SD between splits")
        for row, name in zip(rows, names, strict=True):
            row.append(format_number(ev.splits.standard_deviation[name]))
    return header, rows


def exported_table(
    ev: Evaluation, *, all_measures: bool = False
) -> tuple[list[str], list[list[str]], list[str]]:
    """Return header, rows and notes of the printed table, for documents."""
    header, rows = estimate_table(ev, ev if all_measures else REPORTED_MEASURES)
    titles = [title[:1].upper() + title[1:] for title in header[1:]]
    return ["Measure", *titles], rows, [CLIPPED_NOTE] if ev.clipped else []


def more_measures(ev: Evaluation) -> str:
    """Say how many measures the short table leaves out."""
    return f"{len(REPORTED_MEASURES)} of {len(ev)} measures; .frame() returns all."


def as_text(ev: Evaluation) -> str:
    """Return summary, verdict, table and warnings."""
    lines = [textwrap.fill(f"Evaluation of {summary(ev)}", LINE_LENGTH)]
    lines += [textwrap.fill(sentence, LINE_LENGTH) for sentence in ev.verdict().sentences()]
    if ev.clusters is not None:
        lines.append(textwrap.fill(ev.clusters.sentence(), LINE_LENGTH))
    lines += [text_table(*estimate_table(ev)), more_measures(ev)]
    lines += [CLIPPED_NOTE] if ev.clipped else []
    return "\n".join(lines + [f"! {warning}" for warning in worst_warnings(ev.warnings)])
