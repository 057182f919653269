"""``pueval simulate``: a file of scores with known truth, or a labeled file made a PU one."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import numpy as np
from cyclopts import Group, Parameter

from pueval._checks import check_count
from pueval._typing import Array
from pueval.commands.options import OUTPUT, WHOLE
from pueval.commands.outputs import check_new
from pueval.errors import InputError
from pueval.simulate._families import beta_scores, binormal, ranked
from pueval.simulate._labeling import Labeling
from pueval.simulate._labeling_mechanisms import (
    case_control,
    label_at_random,
    label_by_propensity,
    label_by_representativeness,
)
from pueval.simulate._populations import Population
from pueval.simulate._simulated_files import label_file, write_simulated_rows

MODEL = Group("Score model (without --from)", sort_key=1)
SOURCE = Group("Labeled file", sort_key=2)
LABELING = Group("Labeling (one of --label-frequency, --count and --propensity)", sort_key=3)


def simulate_command(
    out: str,
    /,
    *,
    model: Annotated[Literal["binormal", "beta", "ranked"] | None, Parameter(group=MODEL)] = None,
    rows: Annotated[int | None, WHOLE, Parameter(group=MODEL)] = None,
    prevalence: Annotated[float | None, Parameter(group=MODEL)] = None,
    separation: Annotated[float | None, Parameter(group=MODEL)] = None,
    spread: Annotated[float | None, Parameter(group=MODEL)] = None,
    positive_shape: Annotated[
        tuple[float, float] | None, Parameter(group=MODEL, negative=())
    ] = None,
    negative_shape: Annotated[
        tuple[float, float] | None, Parameter(group=MODEL, negative=())
    ] = None,
    concentration: Annotated[float | None, Parameter(group=MODEL)] = None,
    lead: Annotated[float | None, Parameter(group=MODEL)] = None,
    source: Annotated[str | None, Parameter(name="--from", group=SOURCE)] = None,
    class_column: Annotated[str | None, Parameter(name="--class", group=SOURCE)] = None,
    positive: Annotated[str, Parameter(group=SOURCE)] = "1",
    label_frequency: Annotated[float | None, Parameter(group=LABELING)] = None,
    count: Annotated[int | None, WHOLE, Parameter(group=LABELING)] = None,
    propensity: Annotated[str | None, Parameter(group=LABELING)] = None,
    representative: Annotated[Literal["most", "least"] | None, Parameter(group=LABELING)] = None,
    features: Annotated[
        list[str] | None, Parameter(group=LABELING, negative=(), consume_multiple=True)
    ] = None,
    purity: Annotated[float, Parameter(group=LABELING)] = 1.0,
    unlabeled: Annotated[int | None, WHOLE, Parameter(group=LABELING)] = None,
    prior: Annotated[float | None, Parameter(group=LABELING)] = None,
    design: Annotated[
        Literal["single-sample", "case-control"], Parameter(group=LABELING)
    ] = "single-sample",
    truth: Annotated[bool, Parameter(group=OUTPUT, negative=())] = False,
    seed: Annotated[int, WHOLE, Parameter(group=OUTPUT)] = 0,
    overwrite: Annotated[bool, Parameter(group=OUTPUT, negative=())] = False,
) -> None:
    """Write a positive-unlabeled file whose truth is known.

    Either draws scores from a model and labels some of the positives, or takes a fully labeled
    file and hides most of its classes. The truth is printed, and written only if --truth asks
    for it.

    Example: pueval simulate scores.csv --model binormal --separation 2 --rows 10000
    --prevalence 0.3 --label-frequency 0.2

    Example: pueval simulate pu.csv --from full.csv --class spam --label-frequency 0.2

    Parameters
    ----------
    out
        The file to write: Parquet if it ends in .parquet or .pq, else CSV.
    model
        binormal (default): normal scores. beta: scores between 0 and 1. ranked: uniform ranks of
        which the positives have the top ones, as in Claesen et al. (2015).
    rows
        Number of rows; 10000 by default.
    prevalence
        Share of positives; 0.3 by default (0.2 for ranked).
    separation
        binormal: distance of the mean scores, in standard deviations of the negatives; 2 by
        default.
    spread
        binormal: standard deviation of the positives; 1 by default.
    positive_shape
        beta: the two shape parameters of the positives; 3 1.5 by default.
    negative_shape
        beta: those of the negatives; 1.5 3 by default.
    concentration
        ranked: how far the positives are on top; 4 by default, 1 is by chance.
    lead
        ranked: above 1, few positives are at the very top; 1 by default.
    source
        A CSV or Parquet file in which every row's class is known.
    class_column
        The column that holds it.
    positive
        The value of the positive class; 1 also stands for 1.0 and true.
    label_frequency
        Share of the positives to label.
    count
        Number of rows to label.
    propensity
        Column of the file with each row's probability of being labeled if it is positive.
    representative
        Label the most, or the least, representative positives first, by a Gaussian mixture
        fitted to --features.
    features
        Columns of the file for --representative.
    purity
        Share of true positives among the labeled rows; the others are negatives.
    unlabeled
        Number of unlabeled rows to keep; all by default.
    prior
        Share of positives among the unlabeled rows (case-control only).
    design
        single-sample: all rows are one sample, part of its positives labeled. case-control: labeled
        and unlabeled rows are drawn apart (--count and --unlabeled say how many).
    truth
        Also write the column true_class, which no evaluation may look at.
    seed
        Of the random numbers.
    overwrite
        Replace the file if it is there.
    """
    how = {
        "label_frequency": label_frequency, "count": count, "purity": purity,
        "unlabeled": unlabeled, "prior": prior, "design": design, "propensity": propensity,
        "representative": representative, "features": features,
    }  # fmt: skip
    shape = {
        "model": model, "rows": rows, "prevalence": prevalence, "separation": separation,
        "spread": spread, "positive_shape": positive_shape, "negative_shape": negative_shape,
        "concentration": concentration, "lead": lead,
    }  # fmt: skip
    check_count("seed", seed, least=0)
    check_new(out, overwrite=overwrite)
    rng = np.random.default_rng(seed)
    if source is not None:
        _refuse(shape, "belongs to a score model; leave it out, or leave --from out")
        if class_column is None:
            raise InputError("--from needs --class, the column that says which rows are positive.")
        numbers = [*(features or []), *([propensity] if propensity else [])]

        def make(positives: Array, columns: dict[str, Array]) -> Labeling:
            return _label(positives, how, columns, rng)

        made = label_file(
            source, out, make,
            class_column=class_column, positive=positive, numbers=numbers, truth=truth,
        )  # fmt: skip
        print(_said(out, made, None))  # noqa: T201
        return
    if class_column is not None or positive != "1":
        raise InputError("--class and --positive belong to a labeled file; add --from FILE.")
    of_file = {name: how[name] for name in ("propensity", "representative", "features")}
    _refuse(of_file, "needs the columns of a labeled file; add --from FILE")
    population = _population(shape)
    drawn = population.draw(10_000 if rows is None else rows, seed=rng)
    made = _label(drawn.positive, how, {}, rng)
    write_simulated_rows(out, drawn, made, truth=truth)
    apart = design == "case-control"
    if apart and made.prior:
        population = population.with_prevalence(made.prior)
    print(_said(out, made, population, positives=not apart or made.prior > 0))  # noqa: T201


def _refuse(given: dict[str, Any], why: str) -> None:
    for name, value in given.items():
        if value is not None:
            raise InputError(f"--{name.replace('_', '-')} {why}.")


def _population(shape: dict[str, Any]) -> Population:
    model = shape["model"] or "binormal"
    own: dict[str, dict[str, Any]] = {
        "binormal": {"separation": 2.0, "spread": 1.0},
        "beta": {"positive_shape": (3.0, 1.5), "negative_shape": (1.5, 3.0)},
        "ranked": {"concentration": 4.0, "lead": 1.0},
    }
    for other, names in own.items():
        if other != model:
            _refuse({name: shape[name] for name in names}, f"belongs to --model {other}")
    chosen = {
        name: default if shape[name] is None else shape[name]
        for name, default in own[model].items()
    }
    prevalence = shape["prevalence"]
    if prevalence is None:
        prevalence = 0.2 if model == "ranked" else 0.3
    if model == "beta":
        return beta_scores(
            tuple(chosen["positive_shape"]), tuple(chosen["negative_shape"]), prevalence=prevalence
        )
    make = binormal if model == "binormal" else ranked
    first, *rest = own[model]
    return make(chosen[first], prevalence=prevalence, **{name: chosen[name] for name in rest})


def _label(
    positive: Array, how: dict[str, Any], columns: dict[str, Array], rng: np.random.Generator
) -> Labeling:
    ways = [name for name in ("label_frequency", "count", "propensity") if how[name] is not None]
    if len(ways) != 1:
        raise InputError(
            "give exactly one of --label-frequency, --count and --propensity; got "
            f"{', '.join('--' + name.replace('_', '-') for name in ways) or 'none'}."
        )
    if how["features"] and not how["representative"]:
        raise InputError("--features belong to --representative most or least.")
    if how["design"] == "case-control":
        _refuse(
            {name: how[name] for name in ("label_frequency", "propensity", "representative")},
            "does not go with --design case-control, which takes --count and --unlabeled",
        )
        if how["unlabeled"] is None:
            raise InputError("--design case-control needs --unlabeled, the number of such rows.")
        return case_control(
            positive, n_labeled=how["count"], n_unlabeled=how["unlabeled"], prior=how["prior"],
            purity=how["purity"], seed=rng,
        )  # fmt: skip
    _refuse({"prior": how["prior"]}, "belongs to --design case-control")
    common = {"purity": how["purity"], "n_unlabeled": how["unlabeled"], "seed": rng}
    if how["propensity"]:
        _refuse({"representative": how["representative"]}, "does not go with --propensity")
        return label_by_propensity(positive, columns[how["propensity"]], **common)
    common |= {"label_frequency": how["label_frequency"], "count": how["count"]}
    if how["representative"]:
        if not how["features"]:
            raise InputError("--representative needs --features, the columns to fit a mixture to.")
        matrix = np.column_stack([columns[name] for name in how["features"]])
        return label_by_representativeness(positive, matrix, first=how["representative"], **common)
    return label_at_random(positive, **common)


def _said(
    out: str, made: Labeling, population: Population | None, *, positives: bool = True
) -> str:
    """Say what was written, and what is true; ``positives`` if there are any in the target."""
    text = (
        f"{out}: {made.n_labeled:,} labeled, {made.n_unlabeled:,} unlabeled rows.\n"
        f"Truth: prior {made.prior:.4g}, purity {made.purity:.4g}, prevalence "
        f"{made.prevalence:.4g}, label frequency {made.label_frequency:.4g}"
    )
    if population is not None:
        text += f"; of all possible rows, ROC AUC {population.roc_auc:.4f}"
        if positives:
            text += (
                f", average precision {population.average_precision:.4f} "
                f"(at prevalence {population.prevalence:.4g})"
            )
    return text + "."
