"""``pueval compare``: several models in a file, paired row by row."""

from __future__ import annotations

import shlex
from typing import Annotated, Any

from cyclopts import Parameter

from pueval._typing import Target
from pueval.commands.options import (
    ASSUMPTIONS,
    COLUMNS,
    LABEL,
    OUTPUT,
    WHOLE,
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
from pueval.commands.outputs import check_outputs, write_json
from pueval.commands.terminal import say, show_table, typed, warn
from pueval.comparison.compare import compare
from pueval.comparison.comparison import Comparison
from pueval.comparison.comparison_text import (
    difference_rows,
    notes,
    order_rows,
    summary,
    value_rows,
)
from pueval.comparison.paired_rows import check_model_names
from pueval.evaluation.measure_titles import HEADLINE_MEASURES
from pueval.sources.columns import Columns
from pueval.sources.files import read_rows
from pueval.sources.labels import KIND_CODES, LabelValues


def compare_command(
    file: str,
    /,
    *,
    label: Annotated[str, LABEL],
    score: Annotated[list[str], Parameter(group=COLUMNS, negative=())],
    weight: Weight = None,
    prior: Prior = None,
    prevalence: Prevalence = None,
    label_frequency: LabelFrequency = None,
    purity: Purity = "1",
    target: Annotated[Target, Parameter(group=ASSUMPTIONS)] = "population",
    threshold: Annotated[float | None, Parameter(group=OUTPUT)] = None,
    measure: Annotated[list[str] | None, Parameter(group=OUTPUT, negative=())] = None,
    level: Annotated[float, Parameter(group=OUTPUT)] = 0.95,
    n_resamples: Annotated[int, WHOLE, Parameter(group=OUTPUT)] = 2000,
    seed: Annotated[int, WHOLE, Parameter(group=OUTPUT)] = 0,
    positive: Positive = "1",
    unlabeled: Unlabeled = "0",
    negative: Negative = None,
    ranking: Annotated[bool, Parameter(group=OUTPUT, negative=())] = False,
    json_path: Annotated[str | None, Parameter(name="--json", group=OUTPUT)] = None,
    html_path: HtmlPath = None,
    quiet: Quiet = False,
) -> None:
    """Compare models that scored the same rows of a CSV or Parquet file.

    Prints every model's measures, which model is probably the best, paired differences with
    limits and p-values, and which model is the best at which prior.

    Example: pueval compare scores.csv --label label --score model_a --score model_b

    Parameters
    ----------
    file
        A CSV or Parquet file, a folder of them, a quoted pattern such as 'scores/*.parquet', or
        'duckdb:///file.db?table=name'.
    score
        Column with a model's scores; repeat the option for every model.
    target
        Whose performance: of the whole population in the file, or of its unlabeled rows
        (when the labeled ones were collected apart).
    threshold
        Scores at or above it count as predicted positive, for all models. By default each
        model's threshold of the best Matthews correlation.
    measure
        Measure to compare pairs by, such as f1 or best_f1; repeat it for several.
    level
        Confidence level of the limits.
    n_resamples
        How often rows are drawn again.
    seed
        Of the random numbers.
    ranking
        Also print the order of the models by PULP, Lee-Liu, naive and corrected measures.
    json_path
        Write everything to this file.
    """
    check_model_names(score)
    check_outputs(file, {"--json": json_path, "--html": html_path})
    assumed = shares(prior, prevalence, label_frequency, purity)
    labels = LabelValues(positive, unlabeled, negative)
    rows = read_rows(file, Columns(label, tuple(score), weight), labels=labels)
    known_positive, not_labeled, known_negative = KIND_CODES.values
    comparison = compare(
        rows.kind,
        zip(score, rows.scores, strict=True),
        **assumed,
        target=target,
        threshold=threshold,
        level=level,
        n_resamples=n_resamples,
        seed=seed,
        sample_weight=rows.sample_weight,
        pos_label=known_positive,
        unlabeled_label=not_labeled,
        negative_label=known_negative,
    )
    measures = tuple(measure or HEADLINE_MEASURES)
    shown = _tables(comparison, measures, ranking=ranking)
    if json_path is not None:
        write_json(json_path, {"file": file, "label": label} | comparison.to_dict())
    if html_path is not None:
        comparison.to_html(
            html_path,
            # Float weights cannot be counted; the table in the terminal says so.
            ranking=ranking and comparison.countable,
            command=shlex.join(["pueval", *typed.get()]),
        )
    if quiet:
        warn(comparison.warnings)
    else:
        _print(comparison, shown)


def _tables(comparison: Comparison, measures: tuple[str, ...], *, ranking: bool) -> list[Any]:
    """Make all tables before the first is printed, so that errors come alone."""
    tables = [value_rows(comparison), difference_rows(comparison, measures)]
    if next(iter(comparison.evaluations.values())).counts.n_unlabeled:
        tables.append(order_rows(comparison, measures))
    if ranking:
        tables.append(comparison.ranking().rows())
    return tables


def _print(comparison: Comparison, tables: list[Any]) -> None:
    say(f"{summary(comparison)}.")
    for header, rows in tables:
        show_table(header, rows)
    for line in notes(comparison):
        say(line)
    for warning in comparison.warnings:
        say(f"! {warning}")
