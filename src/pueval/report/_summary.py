"""Evaluations as one plain dict with everything that a page shows."""

from __future__ import annotations

import math
import platform
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import scipy

from pueval._checks import short_text
from pueval.core.measures import AREAS, MEASURES
from pueval.errors import Contradiction, InputError
from pueval.estimates.baselines import BASELINE_TITLES
from pueval.estimates.measure_titles import (
    COMPARED_MEASURES,
    HEADLINE_MEASURES,
    TITLES,
    measure_title,
)
from pueval.evaluation.assumption_text import (
    OWN_THRESHOLDS,
    assumption_sentences,
    share_origin,
    threshold_rule,
)
from pueval.report._audit_section import audit_section, audited_shares
from pueval.report._interval_draws import interval_draws
from pueval.report._json_values import estimate_values, json_number, printable_text
from pueval.report._optional_tables import (
    bound_columns,
    family_table,
    group_tables,
    ranking_table,
    threshold_table_data,
)
from pueval.report._page_text import headline, thinning_note
from pueval.report._python_code import reproducing_code
from pueval.report._score_histograms import score_histogram
from pueval.report._thinned_counts import ThinnedCounts, affordable_scores, thin_counts
from pueval.report._threshold_intervals import threshold_intervals
from pueval.sensitivity.feasibility import share_ratio_bounds
from pueval.text.numbers import CLIPPED_NOTE
from pueval.text.results import plain_data
from pueval.text.warning_lists import MOST_WARNINGS

if TYPE_CHECKING:
    from pueval.estimates.estimate import OperatingPoint
    from pueval.estimates.measure_family import MeasureFamily
    from pueval.evaluation.evaluation import Evaluation
    from pueval.priors import PriorEstimate
    from pueval.report._group_table import GroupTable
    from pueval.sensitivity.bounds import Bounds

OfModel = TypeVar("OfModel")
# With more models than this, the bands of the curves have fewer points.
MANY_MODELS = 5
# Of more models than this, the page shows the best, and the others in a table.
MOST_MODELS = 20
# Measures of the table of models.
TABLE_MEASURES = (*COMPARED_MEASURES, "precision", "recall")


def summarize(
    evaluations: Mapping[str, Evaluation],
    differences: Sequence[Mapping[str, Any]] = (),
    choices: Mapping[str, Sequence[OperatingPoint]] | None = None,
    rankings: Mapping[str, Mapping[str, float]] | None = None,
    bounds: Mapping[str, Bounds] | None = None,
    *,
    command: str | None = None,
    prior_model: str | None = None,
    notes: Sequence[str] = (),
    file: str | None = None,
    groups: Mapping[str, GroupTable] | None = None,
    families: Mapping[str, MeasureFamily] | None = None,
) -> dict[str, Any]:
    """Collect the content of a page.

    Parameters
    ----------
    evaluations, differences, choices, rankings, bounds
        See `pueval.report.write_report`.
    command, prior_model, notes, file, groups, families
        See `pueval.report.write_report`.

    Returns
    -------
    dict
        Numbers, lists and text, ready for JSON; undefined numbers are None. ``models`` is a list
        with a dict for each model that the page shows, ``others`` one with a line for each other.
    """
    from pueval import __version__
    from pueval.evaluation.evaluation import Evaluation

    given: object = evaluations
    if not isinstance(given, Mapping) or isinstance(given, Evaluation):
        raise InputError(
            f"evaluations must map names to evaluations; got {short_text(given)}. Call "
            'write_report("report.html", {"model_a": ev}), or ev.to_html("report.html").'
        )
    if not evaluations:
        raise InputError("there is nothing to report: evaluations is empty.")
    for name, ev in evaluations.items():
        if not isinstance(ev, Evaluation):
            raise InputError(f"model {name!r} must be an Evaluation; got {type(ev).__name__}.")
    all_evaluations, evaluations = evaluations, _best_models(evaluations)
    others = {name: ev for name, ev in all_evaluations.items() if name not in evaluations}
    choices, rankings = _without(choices, others), _without(rankings, others)
    bounds = _without(bounds, others)
    bounded = bound_columns(bounds, evaluations)
    differences = [
        row for row in differences if not {row.get("first"), row.get("second")} & others.keys()
    ]
    chosen = threshold_table_data(choices, evaluations)
    tables = {
        name: _thin(ev, [point.threshold for point in choices.get(name, ())], len(evaluations))
        for name, ev in evaluations.items()
    }
    content: dict[str, Any] = plain_data(
        {
            "versions": {
                "pueval": __version__,
                "Python": platform.python_version(),
                "NumPy": np.__version__,
                "SciPy": scipy.__version__,
            },
            "command": printable_text(
                reproducing_code(
                    evaluations,
                    len(others),
                    choices=bool(choices),
                    rankings=bool(rankings),
                    families=bool(families),
                    bounds=bool(bounds),
                )
                if command is None
                else command
            ),
            "file": None if file is None else printable_text(file),
            "measures": [
                {"name": name, "title": TITLES[name], "low": 0.0, "high": 1.0} for name in AREAS
            ]
            + [
                {"name": name, "title": measure.title, "low": measure.low, "high": measure.high}
                for name, measure in MEASURES.items()
            ],
            "compared": TABLE_MEASURES,
            "headlines": list(HEADLINE_MEASURES),
            "baselines": {
                "titles": [*BASELINE_TITLES.values()],
                "models": [
                    {key: [*vars(value).values()] for key, value in ev.baselines().items()}
                    for ev in evaluations.values()
                ],
            },
            "models": [
                _model(name, ev, tables[name], len(evaluations)) | {"bounds": bounded.get(name)}
                for name, ev in evaluations.items()
            ],
            "others": [_other_model(name, ev) for name, ev in others.items()],
            "priors": _priors(
                evaluations | {n: ev for n, ev in others.items() if n == prior_model}, prior_model
            ),
            "warnings": _warnings(evaluations, notes),
            "most_warnings": MOST_WARNINGS,
            "thinning_note": thinning_note([*tables.values()]),
            "verdict": _verdict(evaluations),
            "assumptions": _assumptions(evaluations),
            "chosen": chosen,
            "groups": group_tables(_without(groups, others), evaluations),
            "families": family_table(_without(families, others), evaluations),
            "without_prior": ranking_table(rankings, evaluations),
            "differences": [_difference(row, evaluations) for row in differences],
            "clipped_note": CLIPPED_NOTE
            if any(ev.clipped for ev in evaluations.values())
            else None,
            "threshold_note": OWN_THRESHOLDS
            if any(ev.threshold_chosen for ev in evaluations.values())
            else None,
        }
    )
    # The columns are plain lists already, and long.
    for model, table in zip(content["models"], tables.values(), strict=True):
        model["table"] = table.columns()
    return content


def _best_models(evaluations: Mapping[str, Evaluation]) -> dict[str, Evaluation]:
    """Return all models, or the best of many by corrected AUC, best first."""
    if len(evaluations) <= MOST_MODELS:
        return dict(evaluations)
    auc = {name: ev._point_estimate("roc_auc").unclipped for name, ev in evaluations.items()}
    order = sorted(auc, key=lambda name: np.nan_to_num(auc[name], nan=-np.inf), reverse=True)
    return {name: evaluations[name] for name in order[:MOST_MODELS]}


def _without(
    by_model: Mapping[str, OfModel] | None, others: Mapping[str, Evaluation]
) -> dict[str, OfModel]:
    """Leave out models that the page does not show by themselves."""
    return {name: value for name, value in (by_model or {}).items() if name not in others}


def _other_model(name: str, ev: Evaluation) -> dict[str, Any]:
    """Return the line of a model that the page does not show by itself."""
    return {
        "name": printable_text(name),
        "measures": {key: estimate_values(ev._point_estimate(key)) for key in TABLE_MEASURES},
        "n_warnings": len(ev.warnings),
    }


def _thin(ev: Evaluation, thresholds: Sequence[float], n_models: int) -> ThinnedCounts:
    return thin_counts(
        ev.counts,
        ev.mixture,
        ev.target,
        keep=[ev.threshold, *thresholds],
        precision=ev["average_precision"].value,
        scores=affordable_scores(ev.counts, n_models),
    )


def _warnings(evaluations: Mapping[str, Evaluation], notes: Sequence[str]) -> list[tuple[str, str]]:
    """Return warnings with the names of their models, contradictions first."""
    several = len(evaluations) > 1
    found = [("", note) for note in notes] + [
        (name if several else "", warning)
        for name, ev in evaluations.items()
        for warning in ev.warnings
    ]
    found.sort(key=lambda item: not isinstance(item[1], Contradiction))
    return [(printable_text(name), printable_text(warning)) for name, warning in found]


def _verdict(evaluations: Mapping[str, Evaluation]) -> list[str]:
    """Return the verdict on the model with the best AUC, which the page shows first."""
    areas = {name: ev["roc_auc"].value for name, ev in evaluations.items()}
    best = max(areas, key=lambda name: -math.inf if math.isnan(areas[name]) else areas[name])
    return [printable_text(line) for line in evaluations[best].verdict().sentences()]


def _assumptions(evaluations: Mapping[str, Evaluation]) -> dict[str, Any]:
    """Return the assumptions that all models share, and those of each model."""
    by_model = {name: assumption_sentences(ev) for name, ev in evaluations.items()}
    first = next(iter(by_model.values()))
    common = [line for line in first if all(line in lines for lines in by_model.values())]
    own = [
        (printable_text(name), [line for line in lines if line not in common])
        for name, lines in by_model.items()
        if len(common) < len(lines)
    ]
    return {"common": common, "own": own}


def _model(name: str, ev: Evaluation, thinned: ThinnedCounts, n_models: int) -> dict[str, Any]:
    counts, mixture = ev.counts, ev.mixture
    ratio_bounds = None
    if counts.n_unlabeled and not counts.has_propensity:
        ratio_bounds = vars(share_ratio_bounds(counts))
    region = ev.region
    return {
        "name": printable_text(name),
        "headline": headline(ev),
        "target": ev.target,
        "prior": mixture.prior,
        "purity": mixture.purity,
        "prevalence": ev.prevalence,
        "label_frequency": mixture.label_frequency(counts),
        "threshold": json_number(ev.threshold),
        "threshold_rule": threshold_rule(ev),
        "counts": {
            "labeled": counts.n_labeled,
            "unlabeled": counts.n_unlabeled,
            "negative": counts.n_negative,
        },
        "resampling": None if ev.resampling is None else ev.resampling.arguments,
        "measures": {key: estimate_values(estimate) for key, estimate in ev.items()},
        "bands": None
        if ev.resampling is None
        else _bands(ev, step=4 if n_models > MANY_MODELS else 1),
        "draws": interval_draws(ev, n_models),
        "threshold_intervals": threshold_intervals(ev, n_models),
        "between_splits": _between_splits(ev),
        # Of many models, the page has no room for the text of their tables.
        "exports": {}
        if n_models > MANY_MODELS
        else {
            "Markdown": ev.to_markdown(all_measures=True),
            "LaTeX": ev.to_latex(all_measures=True),
        },
        "prior_estimate": None if ev.prior_estimate is None else _prior(ev.prior_estimate),
        "feasible": ratio_bounds,
        "exact": thinned.exact,
        "row_numbers": thinned.row_numbers(),
        "naive_auc": ev["roc_auc"].naive,
        "placement": thinned.placement,
        "region": None if region is None else {"prior": region.prior, "purity": region.purity},
        "audited": audited_shares(ev),
        "audit": None if ev.audit is None else audit_section(ev, ev.audit),
        "prior_origin": share_origin(ev, "prior"),
        "histogram": score_histogram(counts, thinned.counts),
    }


def _bands(ev: Evaluation, step: int) -> dict[str, Any]:
    """Return the confidence bands of both curves, at every ``step``-th point."""
    bands = {"roc": ev.roc_band(), "pr": ev.pr_band()}
    return {
        name: {key: np.round(getattr(band, key)[::step], 4) for key in ("x", "low", "high")}
        for name, band in bands.items()
    }


def _between_splits(ev: Evaluation) -> dict[str, float] | None:
    """Return the standard deviations between repeats of a cross-validation, if there are any."""
    if ev.splits is None or ev.splits.n_repeats < 2:
        return None
    return ev.splits.standard_deviation


def _priors(evaluations: Mapping[str, Evaluation], prior_model: str | None) -> list[dict[str, Any]]:
    """Return each estimate of the prior once, with the model whose scores it was made from."""
    by_id: dict[int, dict[str, Any]] = {}
    for name, ev in evaluations.items():
        estimate = ev.prior_estimate
        if estimate is None:
            continue
        entry = by_id.setdefault(id(estimate), {"model": None, "estimate": _prior(estimate)})
        if name == prior_model or (prior_model is None and not ev.assumptions.estimate_given):
            entry["model"] = printable_text(name)
    return [*by_id.values()]


def _prior(estimate: PriorEstimate) -> dict[str, Any]:
    """Return an estimate with all methods in one list; the one in use comes first."""
    content = estimate.to_dict()
    keys = ("prior", "purity", "prior_interval", "purity_interval")
    members = content.pop("members")
    members.pop(estimate.method, None)
    content["methods"] = [(estimate.method, {key: content[key] for key in keys}), *members.items()]
    return content


def _difference(row: Mapping[str, Any], evaluations: Mapping[str, Evaluation]) -> dict[str, Any]:
    keys = ("first", "second", "measure", "value", "low", "high", "pvalue")
    missing = [key for key in keys if key not in row]
    if missing:
        raise InputError(f"a difference needs {', '.join(keys)}; {', '.join(missing)} is missing.")
    for key in ("first", "second"):
        if row[key] not in evaluations:
            raise InputError(
                f"a difference mentions the model {row[key]!r}, which is not one of "
                f"{[*evaluations]}."
            )
    adjusted = row.get("adjusted_pvalue")
    numbers = {key: None if row[key] is None else float(row[key]) for key in keys[3:]}
    return {
        "key": printable_text(row["measure"]),
        "first": printable_text(row["first"]),
        "second": printable_text(row["second"]),
        "measure": printable_text(measure_title(row["measure"])),
        **numbers,
        "adjusted": None if adjusted is None else float(adjusted),
    }
