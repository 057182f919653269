"""``pueval evaluate``: every measure, naive and corrected, of the models in a file."""

from __future__ import annotations

import shlex
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from pueval._typing import Target
from pueval.commands.evaluations import print_evaluations, weights_mean
from pueval.commands.group_tables import (
    evaluate_groups,
    print_groups,
    read_groups,
    refuse_with_groups,
)
from pueval.commands.models import read_models
from pueval.commands.options import (
    ASSUMPTIONS,
    COLUMNS,
    LABEL,
    OUTPUT,
    WHOLE,
    Address,
    Bins,
    EngineName,
    HtmlPath,
    LabelFrequency,
    Negative,
    Positive,
    Prevalence,
    Prior,
    Purity,
    Quiet,
    Unlabeled,
    Weight,
    shares,
)
from pueval.commands.outputs import check_outputs, write_models
from pueval.commands.terminal import say, show_table, typed, warn
from pueval.commands.threshold_rules import choice_table, choose_all
from pueval.core.curves import model_with_highest_naive_auc
from pueval.counts.counts import Counts
from pueval.errors import InputError
from pueval.evaluation.evaluate import evaluate
from pueval.evaluation.evaluation import Evaluation
from pueval.report import write_report
from pueval.sources.labels import LabelValues


def evaluate_command(
    file: str,
    /,
    *,
    label: Annotated[str | None, LABEL] = None,
    score: Annotated[list[str] | None, Parameter(group=COLUMNS, negative=())] = None,
    weight: Weight = None,
    prior: Prior = None,
    prevalence: Prevalence = None,
    label_frequency: LabelFrequency = None,
    purity: Purity = "1",
    target: Annotated[Target, Parameter(group=ASSUMPTIONS)] = "population",
    by: Annotated[str | None, Parameter(group=COLUMNS)] = None,
    group_prior: Annotated[
        Literal["shared", "label_frequency", "each"], Parameter(group=ASSUMPTIONS)
    ] = "shared",
    threshold: Annotated[float | None, Parameter(group=OUTPUT)] = None,
    at: Annotated[list[str] | None, Parameter(group=OUTPUT, negative=())] = None,
    level: Annotated[float | None, Parameter(group=OUTPUT)] = None,
    intervals: Annotated[bool, Parameter(group=OUTPUT, negative="--no-intervals")] = True,
    variance: Annotated[Literal["sampling", "labeling"], Parameter(group=OUTPUT)] = "sampling",
    n_resamples: Annotated[int, WHOLE, Parameter(group=OUTPUT)] = 2000,
    seed: Annotated[int, WHOLE, Parameter(group=OUTPUT)] = 0,
    positive: Positive = "1",
    unlabeled: Unlabeled = "0",
    negative: Negative = None,
    bins: Bins = "auto",
    engine: EngineName = "duckdb",
    address: Address = None,
    ranking: Annotated[bool, Parameter(group=OUTPUT, negative=())] = False,
    json_path: Annotated[str | None, Parameter(name="--json", group=OUTPUT)] = None,
    html_path: HtmlPath = None,
    quiet: Quiet = False,
) -> None:
    """Evaluate the scores of one or more models in a CSV or Parquet file.

    Prints every measure twice: naive, with unlabeled rows counted as negative, and corrected.

    Example: pueval evaluate scores.csv --label label --score model_a --prior 0.2

    Parameters
    ----------
    file
        A CSV, Parquet or Arrow file, a quoted pattern such as 'scores/*.parquet', a folder, a table
        of a database as duckdb:///file.db?table=name, or Counts saved by "pueval count".
    score
        Column with a model's scores; repeat the option to see models side by side.
    target
        Whose performance: of the whole population in the file, or of its unlabeled rows
        (when the labeled ones were collected apart).
    by
        Column with the group of each row: evaluate every group, beside all rows together.
    group_prior
        With --by: the same prior in every group, the same label frequency, or a prior that is
        estimated in each.
    threshold
        Scores at or above it count as predicted positive. By default each model's threshold of
        the best Matthews correlation.
    at
        Also choose a threshold: precision=0.9, recall=0.8, fpr=0.01, top=500 (rows), best=f1 or
        cost=1:20 (what a false positive and a false negative cost); repeat it for several.
    level
        Confidence level of the limits, 0.95 by default. They carry the uncertainty of an estimated
        prior.
    intervals
        Whether to compute limits.
    variance
        What limits are about: another sample of rows, or another choice of labels for these.
    n_resamples
        How often rows are drawn again for the limits.
    seed
        Of the random numbers for the limits.
    ranking
        Also print the measures that need no prior: PULP, Lee-Liu, pseudo-F and others.
    json_path
        Write everything, curves included, to this file.
    """
    check_outputs(file, {"--json": json_path, "--html": html_path})
    if level is not None and not intervals:
        raise InputError("--level is that of the intervals, and does not go with --no-intervals.")
    labels = LabelValues(positive, unlabeled, negative)
    how: dict[str, Any] = {
        "target": target,
        "threshold": threshold,
        "level": (0.95 if level is None else level) if intervals else None,
        "variance": variance,
        "n_resamples": n_resamples,
        "seed": seed,
    }
    assumed = shares(prior, prevalence, label_frequency, purity)
    if by is not None:
        refuse_with_groups(at=at, ranking=ranking, variance=variance != "sampling", html=html_path)
        if engine != "duckdb" or bins != "auto" or address is not None:
            raise InputError(
                "--engine, --address and --bins do not go with --by: groups are read row by row."
            )
        if label is None or not score:
            raise InputError("--by needs --label and --score: groups are made of rows.")
        columns = read_groups(file, label, score, weight, labels, by)
        groups = evaluate_groups(columns, group_prior, assumed, how)
        if json_path is not None:
            write_models(json_path, file, label, {k: one.to_dict() for k, one in groups.items()})
        if quiet:
            warn(f"{name}: {one}" for name, each in groups.items() for one in each.warnings)
        else:
            print_groups(groups)
        return
    if group_prior != "shared":
        raise InputError("--group-prior is about groups, and goes with --by.")
    counts = read_models(
        file,
        label=label,
        scores=score or [],
        weight=weight,
        labels=(positive, unlabeled, negative),
        bins=bins,
        engine=engine,
        address=address,
    )
    evaluations = _evaluate_all(counts, assumed, how)
    rankings = {name: ev.ranking() for name, ev in evaluations.items()} if ranking else {}
    chosen = choose_all(at or [], evaluations)
    if json_path is not None:
        models = {
            name: ev.to_dict()
            | ({"ranking": rankings[name]} if rankings else {})
            | ({"choices": chosen.to_dict(name)} if at else {})
            for name, ev in evaluations.items()
        }
        write_models(json_path, file, label, models)
    if html_path is not None:
        write_report(
            html_path,
            evaluations,
            choices={name: [*each.values()] for name, each in chosen.points.items()}
            if at
            else None,
            rankings=rankings,
            notes=chosen.notes,
            command=shlex.join(["pueval", *typed.get()]),
        )
    if quiet:
        said = [f"{name}: {one}" for name, ev in evaluations.items() for one in ev.warnings]
        warn([*said, *chosen.notes])
        return
    print_evaluations(evaluations, rankings)
    if weight is not None:
        say(weights_mean(next(iter(counts.values()))))
    if any(chosen.points.values()):
        show_table(*choice_table(chosen.points))
        if intervals:
            say("Limits at chosen thresholds allow for their having been chosen on these rows.")
    for note in chosen.notes:
        say(f"! {note}")


def _evaluate_all(
    counts: dict[str, Counts], assumed: dict[str, Any], how: dict[str, Any]
) -> dict[str, Evaluation]:
    """Evaluate all models; if the prior is estimated, by the model that separates best."""
    given = any(assumed[name] is not None for name in ("prior", "prevalence", "label_frequency"))
    if given or len(counts) == 1:
        return {name: evaluate(one, **assumed, **how) for name, one in counts.items()}
    best = model_with_highest_naive_auc(counts)
    first = evaluate(counts[best], **assumed, **how)
    mixture: dict[str, Any] = {"prior": first.prior_estimate, "purity": first.mixture.purity}
    return {
        name: first if name == best else evaluate(one, **mixture, **how)
        for name, one in counts.items()
    }
