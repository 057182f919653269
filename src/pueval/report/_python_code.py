"""Python code that reproduces a page."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

from pueval.core.mixture import Mixture

if TYPE_CHECKING:
    from pueval.evaluation.evaluation import Evaluation

# Longer names of models are cut.
LONGEST_NAME = 60


def reproducing_code(
    evaluations: Mapping[str, Evaluation],
    n_others: int = 0,
    *,
    choices: bool,
    rankings: bool,
    bounds: bool = False,
    families: bool = False,
) -> str:
    """Return Python code that reproduces the page; without that of ``n_others`` more models."""
    label_errors = any(ev.assumptions.label_errors is not None for ev in evaluations.values())
    names = "LabelErrors, evaluate" if label_errors else "evaluate"
    if len(evaluations) == 1:
        (ev,) = evaluations.values()
        call = f"evaluate(y, score{_arguments(ev)})"
        options = ", choices=choices" * choices + ", ranking=True" * rankings
        options += ", bounds=True" * bounds + ", families=families" * families
        return f'from pueval import {names}\n\n{call}.to_html("report.html"{options})'
    lines = []
    for k, (name, ev) in enumerate(evaluations.items(), start=1):
        short_name = name if len(name) <= LONGEST_NAME else name[:LONGEST_NAME] + "…"
        lines.append(f"        {short_name!r}: evaluate(y, score_{k}{_arguments(ev)}),\n")
    if n_others:
        lines.append(f"        # {n_others:,} more models\n")
    options = "    choices=choices,\n" * choices + "    rankings=rankings,\n" * rankings
    options += "    bounds=bounds,\n" * bounds + "    families=families,\n" * families
    return (
        f"from pueval import {names}\nfrom pueval.report import write_report\n\n"
        'write_report(\n    "report.html",\n    {\n' + "".join(lines) + f"    }},\n{options})"
    )


def _arguments(ev: Evaluation) -> str:
    """Return the keyword arguments of `evaluate`, as code."""
    arguments: dict[str, str] = {}
    region, estimate = ev.region, ev.prior_estimate
    audited = ev.assumptions.audited
    if audited is not None:
        arguments["audited"] = "audited"
        if ev.audit is not None:
            if ev.audit.applied.rows.has_probability:
                arguments["audit_probability"] = "audit_probability"
            if ev.audit.labeling != "smooth":
                arguments["labeling"] = f'"{ev.audit.labeling}"'
    elif ev.counts.has_propensity:
        arguments["propensity"] = "propensity"
    if ev.counts._clusters is not None:
        arguments["cluster"] = "cluster"
    if ev.counts._has_importance_weights:
        arguments["sample_weight"] = "sample_weight"
    if estimate is not None and ev.assumptions.estimate_given:
        arguments["prior"] = "estimate"
    elif ev.assumptions.label_errors is not None:
        arguments["prior"] = repr(ev.assumptions.label_errors)
    elif estimate is not None and estimate.purity_interval is not None:
        arguments["purity"] = '"estimate"'
    elif audited is not None and audited.purity[0] < audited.purity[1]:
        pass  # The audit determines the purity.
    elif ev.mixture.purity != 1 or region is not None:
        interval = None if region is None else region.purity
        arguments["purity"] = _value_or_interval(ev.mixture.purity, interval)
    known = audited is None and (
        estimate is None or (estimate.known_share is not None and not ev.assumptions.estimate_given)
    )
    follows = ev.assumptions.from_propensity or ev.assumptions.label_errors is not None
    if known and ev.counts.n_unlabeled and not follows:
        name = ev.assumptions.prior_follows_from or "prior"
        arguments[name] = _value_or_interval(_share(ev, name, ev.mixture), _interval(ev, name))
    if ev.target != "population":
        arguments["target"] = f'"{ev.target}"'
    if not ev.threshold_chosen:
        arguments["threshold"] = _number(ev.threshold)
    if ev.resampling is None:
        arguments["level"] = "None"
    else:
        arguments["level"] = _number(ev.resampling.level)
        arguments["n_resamples"] = str(ev.resampling.n_resamples)
        arguments["seed"] = str(ev.resampling.seed)
        if ev.resampling.variance != "sampling":
            arguments["variance"] = f'"{ev.resampling.variance}"'
    return "".join(f", {name}={value}" for name, value in arguments.items())


def _share(ev: Evaluation, name: str, mixture: Mixture) -> float:
    """Convert a prior to the share that the user specified."""
    if name == "prior":
        return mixture.prior
    counts = ev.counts
    return mixture.prevalence(counts) if name == "prevalence" else mixture.label_frequency(counts)


def _interval(ev: Evaluation, name: str) -> tuple[float, float] | None:
    if ev.region is None:
        return None
    region = ev.region
    low, high = sorted(
        _share(ev, name, region.mixture(position, region.purity[0])) for position in (0.0, 1.0)
    )
    return low, high


def _value_or_interval(value: float, interval: tuple[float, float] | None) -> str:
    if interval is None or interval[0] == interval[1]:
        return _number(value)
    return f"({_number(interval[0])}, {_number(interval[1])})"


def _number(value: float) -> str:
    return repr(float(value)) if math.isfinite(value) else f'float("{value}")'
