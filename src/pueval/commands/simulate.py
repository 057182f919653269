"""``pueval simulate``: positive-unlabeled data with known truth."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from cyclopts import Group, Parameter

from pueval._checks import check_count
from pueval._typing import Array
from pueval._writing import is_device
from pueval.commands.options import OUTPUT, WHOLE
from pueval.commands.output_files import check_overwrite, formula_warning
from pueval.commands.terminal import print_warnings, printable
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


@Parameter(name="*")
@dataclass(frozen=True)
class ScoreModel:
    """A distribution of scores; None stands for the default.

    Parameters
    ----------
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
    """

    model: Annotated[Literal["binormal", "beta", "ranked"] | None, Parameter(group=MODEL)] = None
    rows: Annotated[int | None, WHOLE, Parameter(group=MODEL)] = None
    prevalence: Annotated[float | None, Parameter(group=MODEL)] = None
    separation: Annotated[float | None, Parameter(group=MODEL)] = None
    spread: Annotated[float | None, Parameter(group=MODEL)] = None
    positive_shape: Annotated[tuple[float, float] | None, Parameter(group=MODEL, negative=())] = (
        None
    )
    negative_shape: Annotated[tuple[float, float] | None, Parameter(group=MODEL, negative=())] = (
        None
    )
    concentration: Annotated[float | None, Parameter(group=MODEL)] = None
    lead: Annotated[float | None, Parameter(group=MODEL)] = None


@Parameter(name="*")
@dataclass(frozen=True)
class LabelingOptions:
    """How some of the positives are labeled.

    Parameters
    ----------
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
    """

    label_frequency: Annotated[float | None, Parameter(group=LABELING)] = None
    count: Annotated[int | None, WHOLE, Parameter(group=LABELING)] = None
    propensity: Annotated[str | None, Parameter(group=LABELING)] = None
    representative: Annotated[Literal["most", "least"] | None, Parameter(group=LABELING)] = None
    features: Annotated[
        list[str] | None, Parameter(group=LABELING, negative=(), consume_multiple=True)
    ] = None
    purity: Annotated[float, Parameter(group=LABELING)] = 1.0
    unlabeled: Annotated[int | None, WHOLE, Parameter(group=LABELING)] = None
    prior: Annotated[float | None, Parameter(group=LABELING)] = None
    design: Annotated[Literal["single-sample", "case-control"], Parameter(group=LABELING)] = (
        "single-sample"
    )


MODEL_DEFAULTS, LABELING_DEFAULTS = ScoreModel(), LabelingOptions()


def simulate_command(
    out: str,
    /,
    *,
    model: ScoreModel = MODEL_DEFAULTS,
    source: Annotated[str | None, Parameter(name="--from", group=SOURCE)] = None,
    class_column: Annotated[str | None, Parameter(name="--class", group=SOURCE)] = None,
    positive: Annotated[str, Parameter(group=SOURCE)] = "1",
    options: LabelingOptions = LABELING_DEFAULTS,
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
        File to write: Parquet if it ends in .parquet or .pq, otherwise CSV. Text is copied
        unchanged, also where a spreadsheet would take it for a formula.
    source
        CSV or Parquet file in which the class of every row is known.
    class_column
        Column with the classes.
    positive
        Value of the positive class; 1 also matches 1.0 and true.
    truth
        Also write the column true_class, which an evaluation must not use.
    seed
        Random seed.
    overwrite
        Replace an existing file.
    """
    check_count("seed", seed, least=0)
    check_overwrite(out, overwrite=overwrite)
    rng = np.random.default_rng(seed)
    if source is not None:
        _refuse(model, vars(model), "sets the score model and cannot be combined with --from")
        if class_column is None:
            raise InputError("--from needs --class, the column with the classes.")
        numbers = [*(options.features or []), *filter(None, [options.propensity])]

        def make(positives: Array, columns: dict[str, Array]) -> Labeling:
            return _label(positives, options, columns, rng)

        labeling, formulas = label_file(
            source, out, make,
            class_column=class_column, positive=positive, numbers=numbers, truth=truth,
        )  # fmt: skip
        _print_description(out, _description(out, labeling, None))
        if formulas:
            print_warnings([formula_warning(out, formulas)])
        return
    if class_column is not None or positive != "1":
        raise InputError("--class and --positive need a labeled file. Add --from FILE.")
    of_file = ("propensity", "representative", "features")
    _refuse(options, of_file, "needs a labeled file. Add --from FILE")
    population = _population(model)
    drawn = population.draw(10_000 if model.rows is None else model.rows, seed=rng)
    labeling = _label(drawn.positive, options, {}, rng)
    write_simulated_rows(out, drawn, labeling, truth=truth)
    is_case_control = options.design == "case-control"
    if is_case_control and labeling.prior:
        population = population.with_prevalence(labeling.prior)
    positives = not is_case_control or labeling.prior > 0
    _print_description(out, _description(out, labeling, population, positives=positives))


def _print_description(out: str, description: str) -> None:
    """Print the description; to the standard error stream if the rows go to a device."""
    stream = sys.stderr if is_device(Path(out)) else sys.stdout
    print(printable(description), file=stream)


def _refuse(options: ScoreModel | LabelingOptions, names: Iterable[str], why: str) -> None:
    for name in names:
        if getattr(options, name) is not None:
            raise InputError(f"--{name.replace('_', '-')} {why}.")


def _population(options: ScoreModel) -> Population:
    model = options.model or "binormal"
    model_defaults: dict[str, dict[str, Any]] = {
        "binormal": {"separation": 2.0, "spread": 1.0},
        "beta": {"positive_shape": (3.0, 1.5), "negative_shape": (1.5, 3.0)},
        "ranked": {"concentration": 4.0, "lead": 1.0},
    }
    for other, names in model_defaults.items():
        if other != model:
            _refuse(options, names, f"needs --model {other}")
    defaults = model_defaults[model] | {"prevalence": 0.2 if model == "ranked" else 0.3}
    given = {name: getattr(options, name) for name in defaults}
    chosen = defaults | {name: value for name, value in given.items() if value is not None}
    if model == "beta":
        positive, negative, prevalence = chosen.values()
        return beta_scores(positive, negative, prevalence=prevalence)
    make = binormal if model == "binormal" else ranked
    return make(**chosen)


def _label(
    positive: Array, options: LabelingOptions, columns: dict[str, Array], rng: np.random.Generator
) -> Labeling:
    names = ("label_frequency", "count", "propensity")
    given = [f"--{n.replace('_', '-')}" for n in names if getattr(options, n) is not None]
    if len(given) != 1:
        raise InputError(
            "give exactly one of --label-frequency, --count and --propensity; got "
            f"{', '.join(given) or 'none'}."
        )
    if options.features and not options.representative:
        raise InputError("--features needs --representative most or least.")
    common: dict[str, Any] = {
        "purity": options.purity,
        "n_unlabeled": options.unlabeled,
        "seed": rng,
    }
    if options.design == "case-control":
        why = "cannot be combined with --design case-control. Use --count and --unlabeled"
        _refuse(options, ("label_frequency", "propensity", "representative"), why)
        if options.unlabeled is None:
            raise InputError(
                "--design case-control needs --unlabeled, the number of unlabeled rows."
            )
        common |= {"n_labeled": options.count, "prior": options.prior}
        return case_control(positive, **common)
    _refuse(options, ["prior"], "needs --design case-control")
    if options.propensity:
        _refuse(options, ["representative"], "cannot be combined with --propensity")
        return label_by_propensity(positive, columns[options.propensity], **common)
    common |= {"label_frequency": options.label_frequency, "count": options.count}
    if options.representative:
        if not options.features:
            raise InputError("--representative needs --features, the columns for the mixture.")
        matrix = np.column_stack([columns[name] for name in options.features])
        return label_by_representativeness(positive, matrix, first=options.representative, **common)
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
