"""Evaluations as one plain dict: everything a page needs, and nothing it must not trust."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy

from pueval.core.measures import AREAS, MEASURES
from pueval.errors import InputError
from pueval.evaluation.assumption_text import OWN_THRESHOLDS
from pueval.evaluation.measure_titles import HEADLINE_MEASURES, TITLES, measure_title
from pueval.report._page_thinning import Thinned, affordable, thin
from pueval.report._plain import json_number, shown_estimate, text
from pueval.report._requested import chosen_thresholds, without_prior
from pueval.report._score_histograms import histogram
from pueval.report._sentences import answer, assumptions, code, prior_origin, thinning
from pueval.sensitivity.feasibility import share_ratio_bounds
from pueval.text.numbers import CLIPPED_NOTE
from pueval.text.results import plain_data

if TYPE_CHECKING:
    from pueval.evaluation.estimates import OperatingPoint
    from pueval.evaluation.evaluation import Evaluation
    from pueval.priors import PriorEstimate

# With more models than this, bands of curves are given at fewer places.
MANY = 5
# What a table of several models shows.
COMPARED = (
    "roc_auc",
    "average_precision",
    "f1",
    "matthews_corrcoef",
    "balanced_accuracy",
    "precision",
    "recall",
)


def summarize(
    evaluations: Mapping[str, Evaluation],
    differences: Sequence[Mapping[str, Any]] = (),
    *,
    choices: Mapping[str, Sequence[OperatingPoint]] | None = None,
    rankings: Mapping[str, Mapping[str, float]] | None = None,
    command: str | None = None,
    prior_model: str | None = None,
    notes: Sequence[str] = (),
) -> dict[str, Any]:
    """Collect what a page shows.

    Parameters
    ----------
    evaluations, differences, choices, rankings, command, prior_model, notes
        As for `pueval.report.write_report`.

    Returns
    -------
    dict
        Numbers, lists and text, ready for JSON; undefined numbers are None. ``models`` is a list,
        one dict per model.
    """
    from pueval import __version__
    from pueval.evaluation.evaluation import Evaluation

    if not evaluations:
        raise InputError("there is nothing to report: no evaluations were given.")
    for name, ev in evaluations.items():
        if not isinstance(ev, Evaluation):
            raise InputError(f"model {name!r} must be an Evaluation; got {type(ev).__name__}.")
    choices, rankings = choices or {}, rankings or {}
    chosen = chosen_thresholds(choices, evaluations)
    tables = {
        name: _thinned(ev, [one.threshold for one in choices.get(name, ())], len(evaluations))
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
            "command": text(
                code(evaluations, choices=bool(choices), rankings=bool(rankings))
                if command is None
                else command
            ),
            "measures": [
                {"name": name, "title": TITLES[name], "low": 0.0, "high": 1.0, "better": "high"}
                for name in AREAS
            ]
            + [
                {
                    "name": name,
                    "title": measure.title,
                    "low": measure.low,
                    "high": measure.high,
                    "better": "high" if measure.greater_is_better else "low",
                }
                for name, measure in MEASURES.items()
            ],
            "compared": list(COMPARED),
            "headlines": list(HEADLINE_MEASURES),
            "models": [
                _model(text(name), ev, tables[name], coarse=len(evaluations) > MANY)
                for name, ev in evaluations.items()
            ],
            "priors": _priors(evaluations, prior_model),
            "notes": [text(note) for note in notes],
            "thinning": thinning([*tables.values()]),
            "assumptions": _assumptions(evaluations),
            "chosen": chosen,
            "without_prior": without_prior(rankings, evaluations),
            "differences": [_difference(one, evaluations) for one in differences],
            "marked": CLIPPED_NOTE,
            "thresholds": OWN_THRESHOLDS
            if any(ev.threshold_chosen for ev in evaluations.values())
            else None,
        }
    )
    # These are plain already, and long.
    for model, table in zip(content["models"], tables.values(), strict=True):
        model["table"] = table.columns()
    return content


def _thinned(ev: Evaluation, chosen: Sequence[float], models: int) -> Thinned:
    return thin(
        ev.counts,
        ev.mixture,
        ev.target,
        keep=[ev.threshold, *chosen],
        precision=ev["average_precision"].value,
        scores=affordable(ev.counts, models),
    )


def _assumptions(evaluations: Mapping[str, Evaluation]) -> dict[str, Any]:
    """Return what is assumed for all models, and what for each."""
    every = {name: assumptions(ev) for name, ev in evaluations.items()}
    first = next(iter(every.values()))
    common = [line for line in first if all(line in lines for lines in every.values())]
    own = [
        (text(name), [line for line in lines if line not in common])
        for name, lines in every.items()
        if len(common) < len(lines)
    ]
    return {"common": common, "own": own}


def _model(name: str, ev: Evaluation, few: Thinned, *, coarse: bool) -> dict[str, Any]:
    counts, mixture = ev.counts, ev.mixture
    limits = None
    if counts.n_unlabeled and not counts.has_propensity:
        limits = vars(share_ratio_bounds(counts))
    region = ev.region
    return {
        "name": name,
        "answer": answer(ev),
        "target": ev.target,
        "prior": mixture.prior,
        "purity": mixture.purity,
        "prevalence": ev.prevalence,
        "label_frequency": mixture.label_frequency(counts),
        "threshold": json_number(ev.threshold),
        "counts": {
            "labeled": counts.n_labeled,
            "unlabeled": counts.n_unlabeled,
            "negative": counts.n_negative,
        },
        "resampling": None if ev.resampling is None else vars(ev.resampling),
        "measures": {name: shown_estimate(one) for name, one in ev.items()},
        "bands": None if ev.resampling is None else _bands(ev, step=4 if coarse else 1),
        "between_splits": _between_splits(ev),
        "prior_estimate": None if ev.prior_estimate is None else _prior(ev.prior_estimate),
        "feasible": limits,
        "warnings": [text(warning) for warning in ev.warnings],
        "exact": few.exact,
        "naive_auc": ev["roc_auc"].naive,
        "placement": few.placement,
        "region": None if region is None else {"prior": region.prior, "purity": region.purity},
        "prior_origin": prior_origin(ev),
        "histogram": histogram(counts, few.counts),
    }


def _bands(ev: Evaluation, step: int) -> dict[str, Any]:
    """Return the limits of both curves at every step-th of the places that can be drawn."""
    bands = {"roc": ev.roc_band(), "pr": ev.pr_band()}
    return {
        name: {key: np.round(getattr(band, key)[::step], 4) for key in ("x", "low", "high")}
        for name, band in bands.items()
    }


def _between_splits(ev: Evaluation) -> dict[str, float] | None:
    """Return how much measures vary between repeats of a cross-validation, if there were any."""
    if ev.splits is None or ev.splits.n_repeats < 2:
        return None
    return ev.splits.standard_deviation


def _priors(evaluations: Mapping[str, Evaluation], prior_model: str | None) -> list[dict[str, Any]]:
    """Return the estimates of the prior, each once, and the model whose scores it is from."""
    found: dict[int, dict[str, Any]] = {}
    for name, ev in evaluations.items():
        estimate = ev.prior_estimate
        if estimate is None:
            continue
        one = found.setdefault(id(estimate), {"model": None, "estimate": _prior(estimate)})
        if name == prior_model or (prior_model is None and not ev.assumptions.estimate_given):
            one["model"] = text(name)
    return [*found.values()]


def _prior(found: PriorEstimate) -> dict[str, Any]:
    """Return the estimate with all answers in one list, that of the method itself first."""
    content = found.to_dict()
    keys = ("prior", "purity", "prior_interval", "purity_interval")
    members = content.pop("members")
    members.pop(found.method, None)
    content["answers"] = [(found.method, {key: content[key] for key in keys}), *members.items()]
    return content


def _difference(one: Mapping[str, Any], evaluations: Mapping[str, Evaluation]) -> dict[str, Any]:
    keys = ("first", "second", "measure", "value", "low", "high", "pvalue")
    missing = [key for key in keys if key not in one]
    if missing:
        raise InputError(
            f"a difference must have {', '.join(keys)}; {', '.join(missing)} is missing."
        )
    for key in ("first", "second"):
        if one[key] not in evaluations:
            raise InputError(f"a difference is about {one[key]!r}, which is none of the models.")
    adjusted = one.get("adjusted_pvalue")
    numbers = {key: None if one[key] is None else float(one[key]) for key in keys[3:]}
    return {
        "key": text(one["measure"]),
        "first": text(one["first"]),
        "second": text(one["second"]),
        "measure": text(measure_title(one["measure"])),
        **numbers,
        "adjusted": None if adjusted is None else float(adjusted),
    }
