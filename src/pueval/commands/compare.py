"""``pueval compare``: paired comparison of several models in a file."""

from __future__ import annotations

import shlex
from typing import Annotated, Any

from cyclopts import Parameter

from pueval._typing import Target
from pueval.commands.audit_options import AUDIT_DEFAULTS, AuditOptions, read_rows_with_audit
from pueval.commands.exit_codes import exit_code
from pueval.commands.family_option import ComparedMeasures, check_families, compared_measures
from pueval.commands.model_counts import cluster_columns, single_cluster
from pueval.commands.options import (
    ASSUMPTIONS,
    COLUMNS,
    LABEL,
    OUTPUT,
    ROW_DEFAULTS,
    SHARE_DEFAULTS,
    WHOLE,
    AllMeasures,
    AllPoints,
    HtmlPath,
    InputFile,
    Quiet,
    RowOptions,
    ShareOptions,
    SingleClusterColumn,
)
from pueval.commands.output_files import check_all_points, check_outputs, file_title, write_json
from pueval.commands.terminal import (
    command_line,
    print_line,
    print_notes,
    print_warnings,
    print_written,
    show_tables,
)
from pueval.comparison.compare import compare
from pueval.comparison.comparison import Comparison
from pueval.comparison.comparison_text import (
    PRINTED_MEASURES,
    difference_rows,
    leading_models,
    notes,
    order_rows,
    summary,
    value_rows,
)
from pueval.comparison.paired_rows import check_model_names
from pueval.comparison.rankings import MOST_MODELS, Rankings
from pueval.core.label_errors import LabelErrors
from pueval.core.mixture import Mixture
from pueval.counts.counts import Counts
from pueval.errors import InputError
from pueval.estimates.measure_titles import HEADLINE_MEASURES
from pueval.families.field_measures import find_field_measure, is_family_member
from pueval.sources.arrays import read_arrays
from pueval.sources.columns import Columns
from pueval.sources.files import FileRows, read_rows
from pueval.sources.labels import KIND_CODES
from pueval.text.warning_lists import worst_warnings


def compare_command(
    file: InputFile,
    /,
    *,
    label: Annotated[str, LABEL],
    score: Annotated[list[str], Parameter(group=COLUMNS, negative=())],
    options: RowOptions = ROW_DEFAULTS,
    shares: ShareOptions = SHARE_DEFAULTS,
    audit: AuditOptions = AUDIT_DEFAULTS,
    cluster: SingleClusterColumn = None,
    target: Annotated[Target, Parameter(group=ASSUMPTIONS)] = "population",
    threshold: Annotated[float | None, Parameter(group=OUTPUT)] = None,
    measures: ComparedMeasures = None,
    level: Annotated[float, Parameter(group=OUTPUT)] = 0.95,
    n_resamples: Annotated[int, WHOLE, Parameter(group=OUTPUT)] = 2000,
    seed: Annotated[int, WHOLE, Parameter(group=OUTPUT)] = 0,
    ranking: Annotated[bool, Parameter(group=OUTPUT, negative=())] = False,
    all_measures: AllMeasures = False,
    json_path: Annotated[str | None, Parameter(name="--json", group=OUTPUT)] = None,
    all_points: AllPoints = False,
    html_path: HtmlPath = None,
    quiet: Quiet = False,
) -> int:
    """Compare models that scored the same rows of a CSV or Parquet file.

    Prints the measures of every model, the probability that each is best, paired differences with
    confidence intervals and p-values, and the best model by prior.

    Example: pueval compare scores.csv --label label --score model_a --score model_b

    Example: pueval compare scores.csv --label label --score a --score b --audit checked.csv --id id

    Parameters
    ----------
    file
        CSV, Parquet or Arrow file, folder, quoted pattern such as 'scores/*.parquet', database
        table (duckdb:///file.db?table=name), or - for standard input.
    score
        Column with a model's scores. Repeat the option for each model.
    target
        Population to evaluate: all rows (population), or only the unlabeled rows (unlabeled), if
        the labeled rows were collected separately.
    threshold
        Score at or above which rows are predicted positive, for all models. By default each
        model's threshold with nearly the best Matthews correlation.
    level
        Confidence level of the intervals.
    n_resamples
        Number of bootstrap resamples.
    seed
        Random seed for the resampling.
    ranking
        Also print the ranking of the models by PULP, Lee-Liu, naive and corrected measures.
    json_path
        JSON file for all results.
    """
    check_model_names(score)
    check_outputs(file, {"--json": json_path, "--html": html_path})
    check_all_points(json_path, all_points=all_points)
    assumptions = shares.read()
    clusters = cluster_columns(cluster)
    column = single_cluster(clusters, "pueval compare")
    columns = Columns(label, tuple(score), options.weight, cluster=column)
    has_audit = audit.check(
        cluster=bool(clusters),
        **shares.given(),
    )
    audited: dict[str, Any] = {}
    if has_audit:
        rows, audited = read_rows_with_audit(file, columns, audit, options.labels)
    else:
        rows = read_rows(file, columns, labels=options.labels)
    compared = compared_measures(measures)
    if any(find_field_measure(name) is not None for name in compared):
        counts = {score[k]: _counts(rows, k) for k in range(len(score))}
        check_families(counts, compared, target)
    implied: list[str] = []
    if isinstance(assumptions["prior"], LabelErrors):
        mixture = _implied_shares(assumptions["prior"], rows, target)
        assumptions |= {"prior": mixture.prior, "purity": mixture.purity}
        implied.append(
            f"The error rates of the labels imply prior {mixture.prior:.4g} and purity "
            f"{mixture.purity:.4g}. Intervals treat both as exact."
        )
    comparison = compare(
        rows.kind,
        zip(score, rows.scores, strict=True),
        **assumptions,
        target=target,
        threshold=threshold,
        level=level,
        n_resamples=n_resamples,
        seed=seed,
        sample_weight=rows.sample_weight,
        cluster=rows.cluster,
        **audited,
        **KIND_CODES.arguments,
    )
    shown_measures = comparison.measures if all_measures else PRINTED_MEASURES
    more = (name for name in compared if is_family_member(name) and name not in shown_measures)
    shown_measures += tuple(more)
    values = value_rows(comparison, shown_measures)
    rankings = leading_models(comparison).ranking() if ranking else None
    tables = [values, *_pair_tables(comparison, compared, rankings)]
    families = tuple(name for name in compared if name not in comparison.measures)
    if json_path is not None:
        content = comparison.to_dict(all_points=all_points, families=families)
        write_json(json_path, {"file": file, "label": label} | content)
    if html_path is not None:
        comparison.to_html(
            html_path,
            # Rankings need counts, which importance weights do not give; the printed table says so.
            ranking=ranking and comparison.has_integer_counts,
            families=families,
            command=shlex.join(["pueval", *command_line.get()]),
            file=file_title(file),
        )
    if quiet:
        print_warnings(comparison.warnings)
        return exit_code(comparison.warnings)
    print_line(f"{summary(comparison)}.")
    show_tables(tables)
    lines = [*implied, *notes(comparison), *(() if rankings is None else rankings.notes)]
    lines += [f"! {each}" for each in worst_warnings(comparison.warnings)]
    if not all_measures and len(comparison) <= MOST_MODELS:
        shown, total = len(PRINTED_MEASURES), len(comparison.measures)
        lines.insert(0, f"{shown} of {total} measures; --all shows the rest.")
    print_notes(lines)
    print_written(json_path, html_path)
    return exit_code(comparison.warnings)


def _implied_shares(errors: LabelErrors, rows: FileRows, target: Target) -> Mixture:
    """Return the prior and purity that error rates of the labels imply; the models share them."""
    if target != "population":
        raise InputError(
            "--label-errors needs --target population: one sample in which every row was labeled "
            f"1 or 0; got {target}."
        )
    return errors.mixture(_counts(rows, 0))


def _counts(rows: FileRows, model: int) -> Counts:
    """Return the counts of a model's rows."""
    return Counts(
        *read_arrays(
            rows.kind, rows.scores[model], sample_weight=rows.sample_weight, labels=KIND_CODES
        )
    )


def _pair_tables(
    comparison: Comparison, measures: tuple[str, ...], rankings: Rankings | None
) -> list[Any]:
    """Make the tables below the values, before any is printed: an error is then the only output.

    Of many models, pairs are compared only by the measures that the user asks for.
    """
    tables = []
    shown = leading_models(comparison)
    if shown is comparison and not measures:
        measures = HEADLINE_MEASURES
    if measures:
        tables.append(difference_rows(shown, measures))
        first = next(iter(comparison.evaluations.values()))
        if first.counts.n_unlabeled and first.audit is None:
            by_prior = order_rows(shown, measures)
            # Measures of families have no order by prior.
            tables += [by_prior] if by_prior[1] else []
    if rankings is not None:
        tables.append(rankings.rows())
    return tables
