"""``pueval simulate``: positive-unlabeled data with known truth."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import numpy as np
from cyclopts import Group, Parameter

from pueval._checks import check_count
from pueval._typing import Array
from pueval.commands.options import OUTPUT, WHOLE
from pueval.commands.output_files import check_overwrite
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
    """Write a positive-unlabeled file with known truth.

    Draws scores from a model and labels some of the positives; or, with --from, reads a fully
    labeled file and hides the classes of most rows. Prints the truth. Pass --truth to
    write it, too.

    Example: pueval simulate scores.csv --model binormal --separation 2 --rows 10000
    --prevalence 0.3 --label-frequency 0.2

    Example: pueval simulate pu.csv --from full.csv --class spam --label-frequency 0.2

    Parameters
    ----------
    out
        File to write: Parquet if it ends in .parquet or .pq, otherwise CSV.
    model
        Distribution of the scores: normal (binormal, the default), between 0 and 1 (beta), or
        uniform ranks with the positives on top, as in Claesen et al. (2015) (ranked).
    rows
        Number of rows; 10000 by default.
    prevalence
        Share of positives; 0.3 by default (0.2 for ranked).
    separation
        binormal: difference of the mean scores, in standard deviations of the negatives; 2 by
        default.
    spread
        binormal: standard deviation of the scores of the positives; 1 by default.
    positive_shape
        beta: the two shape parameters of the positives; 3 1.5 by default.
    negative_shape
        beta: the two shape parameters of the negatives; 1.5 3 by default.
    concentration
        ranked: concentration of the positives at the top; 4 by default, 1 means a random
        ranking.
    lead
        ranked: above 1, fewer positives at the very top; 1 by default.
    source
        CSV or Parquet file in which the class of every row is known.
    class_column
        Column with the classes.
    positive
        Value of the positive class; 1 also matches 1.0 and true.
    label_frequency
        Share of the positives to label.
    count
        Number of rows to label.
    propensity
        Column with the probability that a row is labeled if it is positive.
    representative
        Label the most or the least representative positives first, by a Gaussian mixture fitted
        to --features.
    features
        Columns for --representative.
    purity
        Share of true positives among the labeled rows; the other labeled rows are negatives.
    unlabeled
        Number of unlabeled rows to keep; all by default.
    prior
        Share of positives among the unlabeled rows (case-control only).
    design
        Sampling design: one sample, some of whose positives are labeled (single-sample), or
        separate samples of --count labeled and --unlabeled unlabeled rows (case-control).
    truth
        Also write the column true_class, which an evaluation must not use.
    seed
        Random seed.
    overwrite
        Replace an existing file.
    """
    labeling_options = {
        "label_frequency": label_frequency, "count": count, "purity": purity,
        "unlabeled": unlabeled, "prior": prior, "design": design, "propensity": propensity,
        "representative": representative, "features": features,
    }  # fmt: skip
    model_options = {
        "model": model, "rows": rows, "prevalence": prevalence, "separation": separation,
        "spread": spread, "positive_shape": positive_shape, "negative_shape": negative_shape,
        "concentration": concentration, "lead": lead,
    }  # fmt: skip
    check_count("seed", seed, least=0)
    check_overwrite(out, overwrite=overwrite)
    rng = np.random.default_rng(seed)
    if source is not None:
        _refuse(model_options, "sets the score model and cannot be combined with --from")
        if class_column is None:
            raise InputError("--from needs --class, the column with the classes.")
        numbers = [*(features or []), *([propensity] if propensity else [])]

        def make(positives: Array, columns: dict[str, Array]) -> Labeling:
            return _label(positives, labeling_options, columns, rng)

        labeling = label_file(
            source, out, make,
            class_column=class_column, positive=positive, numbers=numbers, truth=truth,
        )  # fmt: skip
        print(_description(out, labeling, None))  # noqa: T201
        return
    if class_column is not None or positive != "1":
        raise InputError("--class and --positive need a labeled file. Add --from FILE.")
    of_file = {
        name: labeling_options[name] for name in ("propensity", "representative", "features")
    }
    _refuse(of_file, "needs a labeled file. Add --from FILE")
    population = _population(model_options)
    drawn = population.draw(10_000 if rows is None else rows, seed=rng)
    labeling = _label(drawn.positive, labeling_options, {}, rng)
    write_simulated_rows(out, drawn, labeling, truth=truth)
    apart = design == "case-control"
    if apart and labeling.prior:
        population = population.with_prevalence(labeling.prior)
    print(_description(out, labeling, population, positives=not apart or labeling.prior > 0))  # noqa: T201


def _refuse(given: dict[str, Any], why: str) -> None:
    for name, value in given.items():
        if value is not None:
            raise InputError(f"--{name.replace('_', '-')} {why}.")


def _population(model_options: dict[str, Any]) -> Population:
    model = model_options["model"] or "binormal"
    own: dict[str, dict[str, Any]] = {
        "binormal": {"separation": 2.0, "spread": 1.0},
        "beta": {"positive_shape": (3.0, 1.5), "negative_shape": (1.5, 3.0)},
        "ranked": {"concentration": 4.0, "lead": 1.0},
    }
    for other, names in own.items():
        if other != model:
            _refuse({name: model_options[name] for name in names}, f"needs --model {other}")
    chosen = {
        name: default if model_options[name] is None else model_options[name]
        for name, default in own[model].items()
    }
    prevalence = model_options["prevalence"]
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
    positive: Array, options: dict[str, Any], columns: dict[str, Array], rng: np.random.Generator
) -> Labeling:
    methods = [
        name for name in ("label_frequency", "count", "propensity") if options[name] is not None
    ]
    if len(methods) != 1:
        raise InputError(
            "give exactly one of --label-frequency, --count and --propensity; got "
            f"{', '.join('--' + name.replace('_', '-') for name in methods) or 'none'}."
        )
    if options["features"] and not options["representative"]:
        raise InputError("--features needs --representative most or least.")
    if options["design"] == "case-control":
        _refuse(
            {name: options[name] for name in ("label_frequency", "propensity", "representative")},
            "cannot be combined with --design case-control. Use --count and --unlabeled",
        )
        if options["unlabeled"] is None:
            raise InputError(
                "--design case-control needs --unlabeled, the number of unlabeled rows."
            )
        return case_control(
            positive, n_labeled=options["count"], n_unlabeled=options["unlabeled"],
            prior=options["prior"], purity=options["purity"], seed=rng,
        )  # fmt: skip
    _refuse({"prior": options["prior"]}, "needs --design case-control")
    common = {"purity": options["purity"], "n_unlabeled": options["unlabeled"], "seed": rng}
    if options["propensity"]:
        _refuse(
            {"representative": options["representative"]}, "cannot be combined with --propensity"
        )
        return label_by_propensity(positive, columns[options["propensity"]], **common)
    common |= {"label_frequency": options["label_frequency"], "count": options["count"]}
    if options["representative"]:
        if not options["features"]:
            raise InputError("--representative needs --features, the columns for the mixture.")
        matrix = np.column_stack([columns[name] for name in options["features"]])
        return label_by_representativeness(
            positive, matrix, first=options["representative"], **common
        )
    return label_at_random(positive, **common)


def _description(
    out: str, labeling: Labeling, population: Population | None, *, positives: bool = True
) -> str:
    """Describe the file and the truth; without positives there is no average precision."""
    text = (
        f"{out}: {labeling.n_labeled:,} labeled, {labeling.n_unlabeled:,} unlabeled rows.\n"
        f"Truth: prior {labeling.prior:.4g}, purity {labeling.purity:.4g}, prevalence "
        f"{labeling.prevalence:.4g}, label frequency {labeling.label_frequency:.4g}"
    )
    if population is not None:
        text += f"; in the population, ROC AUC {population.roc_auc:.4f}"
        if positives:
            text += (
                f", average precision {population.average_precision:.4f} "
                f"(at prevalence {population.prevalence:.4g})"
            )
    return text + "."
