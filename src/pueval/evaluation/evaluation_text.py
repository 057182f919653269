"""An Evaluation as text, and as plain data for JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pueval.evaluation.estimates import BEST_MEASURES, estimate_rows
from pueval.evaluation.measure_titles import TITLES
from pueval.text.numbers import CLIPPED_NOTE, format_count, format_level, format_number
from pueval.text.results import plain_data
from pueval.text.tables import text_table

if TYPE_CHECKING:
    from pueval.evaluation.evaluation import Evaluation


def as_data(ev: Evaluation) -> dict[str, Any]:
    """Return everything as plain numbers, lists and text; numbers that JSON lacks are None."""
    roc, pr, there = ev.roc(), ev.pr(), ev.operating_point
    content: dict[str, Any] = plain_data(
        {
            "counts": {
                "labeled": ev.counts.n_labeled,
                "unlabeled": ev.counts.n_unlabeled,
                "negative": ev.counts.n_negative,
            },
            "assumptions": {
                "prior": ev.mixture.prior,
                "purity": ev.mixture.purity,
                "region": None if ev.region is None else vars(ev.region),
                "from_propensity": ev.assumptions.from_propensity,
                "target": ev.target,
                "prevalence": ev.prevalence,
                "label_frequency": ev.mixture.label_frequency(ev.counts),
                "estimated": None if ev.prior_estimate is None else ev.prior_estimate.to_dict(),
            },
            "resolution": None if ev.resolution is None else vars(ev.resolution),
            "intervals": None if ev.resampling is None else vars(ev.resampling),
            "threshold": ev.threshold,
            "table": vars(there.table),
            "naive_table": vars(there.naive_table),
            "measures": {name: vars(ev[name]) for name in ev},
            "best": {name: vars(ev.best(name)) for name in BEST_MEASURES},
            "roc": {"area": roc.area, **vars(roc)},
            "pr": {"area": pr.area, **vars(pr)},
            "splits": None if ev.splits is None else ev.splits.to_dict(),
            "warnings": list(ev.warnings),
        }
    )
    return content


def summary(ev: Evaluation) -> str:
    """Say in one line what was evaluated and assumed."""
    rows = f"{format_count(ev.counts.n_labeled)} labeled"
    rows += f", {format_count(ev.counts.n_unlabeled)} unlabeled"
    if ev.counts.n_negative:
        rows += f", {format_count(ev.counts.n_negative)} known negative"
    binned = "" if ev.resolution is None else f"; {ev.resolution}"
    return (
        f"{rows} rows; {assumed(ev)}, "
        f"target {ev.target} (prevalence {ev.prevalence:.4g}), "
        f"threshold {ev.threshold:.6g}{binned}"
    )


def assumed(ev: Evaluation, model: str | None = None) -> str:
    """Say which prior and purity were used, and where they come from.

    ``model`` is the one from whose scores they were estimated, where there are several.
    """
    return ", ".join(_known(ev, name, model) for name in ("prior", "purity"))


OWN_THRESHOLDS = (
    "Precision, recall and all else at a threshold are at each model's own, the best for these "
    "rows. Such thresholds differ by chance even between equal models, and these measures with "
    "them; areas and best values do not."
)


def taken_as_exact(ev: Evaluation) -> str:
    """Say what limits take as exact, where prior and purity are neither estimated nor intervals."""
    if ev.assumptions.from_propensity:
        return "the propensities"
    of_sample = ev.resampling is not None and ev.resampling.variance == "sampling"
    given = ev.assumptions.prior_follows_from if of_sample else None
    return f"{(given or 'prior').replace('_', ' ')} and purity"


def _known(ev: Evaluation, name: str, model: str | None) -> str:
    value = getattr(ev.mixture, name)
    if ev.region is not None:
        low, high = getattr(ev.region, name)
        return f"{name} {low:.4g}" + (f" to {high:.4g}" if high > low else "")
    if ev.assumptions.from_propensity and name == "prior":
        return f"{name} {value:.4g} (from the propensities)"
    if ev.prior_estimate is None:
        return f"{name} {value:.4g}"
    interval = getattr(ev.prior_estimate, f"{name}_interval")
    if interval is None:
        return f"{name} {value:.3g}"
    by = f" from the scores of {model}" if model else ""
    limits = (
        f"{format_level(ev.prior_estimate.level)} limits {interval[0]:.3g} to {interval[1]:.3g}"
    )
    return f"{name} {value:.3g} (estimated{by}, {limits})"


def rows(ev: Evaluation) -> tuple[list[str], list[list[str]]]:
    """Return header and rows of the table of all measures."""
    level = None if ev.resampling is None else ev.resampling.level
    header, body = estimate_rows(((TITLES[name], one) for name, one in ev.items()), level)
    if ev.splits is not None and ev.splits.n_repeats > 1:
        header.append("± between splits")
        for row, spread in zip(body, ev.splits.standard_deviation.values(), strict=True):
            row.append(format_number(spread))
    return header, body


def as_text(ev: Evaluation) -> str:
    """Return summary, table and warnings."""
    notes = f"\n{CLIPPED_NOTE}" if ev.clipped else ""
    notes += "".join(f"\n! {warning}" for warning in ev.warnings)
    return f"Evaluation of {summary(ev)}\n{text_table(*rows(ev))}{notes}"
