"""``pueval evaluate``: every measure, naive and corrected, of the models in a file."""

from __future__ import annotations

import shlex
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from pueval._typing import Target
from pueval.commands import over_time_command
from pueval.commands.at_option import choose_thresholds, print_thresholds
from pueval.commands.audit_options import AUDIT_DEFAULTS, AuditOptions, read_audit
from pueval.commands.evaluation_tables import (
    model_warnings,
    print_baselines,
    print_bias_bounds,
    print_bounds,
    print_evaluations,
    shown_measures,
)
from pueval.commands.exit_codes import exit_code
from pueval.commands.family_option import (
    FamilyNames,
    check_families,
    print_families,
    print_group_families,
    read_families,
)
from pueval.commands.group_command import (
    PRINTED_GROUPS,
    check_group_options,
    count_rows,
    evaluate_groups,
    print_groups,
    read_groups,
)
from pueval.commands.model_counts import (
    cluster_columns,
    missing_column_error,
    read_models,
    single_cluster,
)
from pueval.commands.options import (
    ASSUMPTIONS,
    COLUMNS,
    COUNT_DEFAULTS,
    LABEL,
    OUTPUT,
    SHARE_DEFAULTS,
    WHOLE,
    AllMeasures,
    AllPoints,
    ClusterColumns,
    CountOptions,
    HtmlPath,
    InputFile,
    Quiet,
    ShareOptions,
)
from pueval.commands.output_files import (
    check_all_points,
    check_outputs,
    file_title,
    write_models,
)
from pueval.commands.over_time_command import OVER_TIME_DEFAULTS, OverTimeOptions
from pueval.commands.row_tables import ROW_TABLE_DEFAULTS, RowTableOptions, TableRows
from pueval.commands.shared_prior import evaluate_with_one_prior
from pueval.commands.terminal import (
    command_line,
    print_line,
    print_notes,
    print_warnings,
    print_written,
)
from pueval.diagnosis.repeated_ids import find_repeated_ids
from pueval.errors import InputError
from pueval.estimates.measure_family import MeasureFamily
from pueval.evaluation.assumption_text import weight_sentence
from pueval.evaluation.evaluate import evaluate
from pueval.evaluation.evaluation import Evaluation
from pueval.groups.group_evaluation import GroupEvaluation
from pueval.groups.group_text import report_table
from pueval.groups.unclipped_estimates import check_group_measure
from pueval.over_time.time_evaluation import TimeEvaluation
from pueval.report import write_report
from pueval.sources.columns import Columns


def evaluate_command(
    file: InputFile,
    /,
    *,
    label: Annotated[str | None, LABEL] = None,
    score: Annotated[list[str] | None, Parameter(group=COLUMNS, negative=())] = None,
    rows: CountOptions = COUNT_DEFAULTS,
    shares: ShareOptions = SHARE_DEFAULTS,
    audit: AuditOptions = AUDIT_DEFAULTS,
    cluster: ClusterColumns = None,
    propensity: Annotated[str | None, Parameter(group=COLUMNS)] = None,
    target: Annotated[Target, Parameter(group=ASSUMPTIONS)] = "population",
    by: Annotated[str | None, Parameter(group=COLUMNS)] = None,
    group_prior: Annotated[
        Literal["shared", "label_frequency", "each"], Parameter(group=ASSUMPTIONS)
    ] = "shared",
    time: OverTimeOptions = OVER_TIME_DEFAULTS,
    row_tables: RowTableOptions = ROW_TABLE_DEFAULTS,
    shrink: Annotated[bool, Parameter(group=OUTPUT, negative=())] = False,
    threshold: Annotated[float | None, Parameter(group=OUTPUT)] = None,
    at: Annotated[list[str] | None, Parameter(group=OUTPUT, negative=())] = None,
    level: Annotated[float | None, Parameter(group=OUTPUT)] = None,
    intervals: Annotated[bool, Parameter(group=OUTPUT, negative="--no-intervals")] = True,
    variance: Annotated[Literal["sampling", "labeling"], Parameter(group=OUTPUT)] = "sampling",
    n_resamples: Annotated[int | None, WHOLE, Parameter(group=OUTPUT)] = None,
    seed: Annotated[int, WHOLE, Parameter(group=OUTPUT)] = 0,
    labeling_bias: Annotated[float | None, Parameter(group=OUTPUT)] = None,
    bounds: Annotated[bool, Parameter(group=OUTPUT, negative=())] = False,
    baselines: Annotated[bool, Parameter(group=OUTPUT, negative=())] = False,
    ranking: Annotated[bool, Parameter(group=OUTPUT, negative=())] = False,
    all_measures: AllMeasures = False,
    measures: FamilyNames = None,
    json_path: Annotated[str | None, Parameter(name="--json", group=OUTPUT)] = None,
    all_points: AllPoints = False,
    html_path: HtmlPath = None,
    quiet: Quiet = False,
) -> int:
    """Evaluate one or more models whose scores are in a file.

    Prints what the numbers mean, and each measure twice: naive, with unlabeled rows counted as
    negative, and corrected.

    Example: pueval evaluate scores.csv --label label --score model_a --prior 0.2

    Example: pueval evaluate scores.csv --label label --score model_a --audit checked.csv --id id

    Parameters
    ----------
    file
        CSV, Parquet or Arrow file, folder, quoted pattern such as 'scores/*.parquet', database
        table (duckdb:///file.db?table=name), counts saved by "pueval count", or - for standard
        input.
    score
        Column with a model's scores. Repeat the option for each model.
    propensity
        Column with the probability that each row would be labeled if it is positive, in (0, 1]:
        instead of random labeling. Every row needs a number.
    target
        Population to evaluate: all rows (population), or only the unlabeled rows (unlabeled), if
        the labeled rows were collected separately.
    by
        Column with the group of each row. Every group is evaluated, and all rows together.
    group_prior
        Prior of the groups or windows, with --by or --over: the same prior in all of them
        (shared), the same label frequency (label_frequency), or a prior estimated in each (each).
    shrink
        Shrink the estimates of the groups toward their mean (empirical Bayes), with --by: for many
        small groups that are alike as far as you know. Extreme groups are pulled to the middle.
    threshold
        Score at or above which rows are predicted positive. By default each model's threshold
        with nearly the best Matthews correlation.
    at
        Rule that chooses another threshold: precision=0.9, recall=0.8, fpr=0.01, top=500 (rows),
        best=f1, or cost=1:20 (costs of a false positive and a false negative). Repeat the option
        for several rules.
    level
        Confidence level of the intervals; 0.95 by default. Intervals include the uncertainty of
        an estimated prior.
    intervals
        Compute confidence intervals.
    variance
        Uncertainty that the intervals describe: a new sample of rows (sampling), or a new random
        labeling of the same rows (labeling).
    n_resamples
        Number of bootstrap resamples for the intervals; 2000 by default.
    seed
        Random seed for the resampling.
    labeling_bias
        Also print bounds of the measures if some positives are up to this many times as likely
        to be labeled as others, with confidence intervals of the true values.
    bounds
        Also print Claesen's bounds of the measures, from the ranks of the labeled rows. They need
        clean labels.
    baselines
        Also print the measures of classifiers that ignore the scores: all predicted positive, all
        negative, or as many as by the model at random.
    ranking
        Also print the measures that need no prior: PULP, Lee-Liu, pseudo-F and others.
    json_path
        JSON file for all results, including the curves.
    """
    check_outputs(file, {"--json": json_path, "--html": html_path})
    check_all_points(json_path, all_points=all_points)
    needs_intervals = {
        "--level": level is not None,
        "--n-resamples": n_resamples is not None,
        "--shrink": shrink,
    }
    for option, is_given in needs_intervals.items():
        if is_given and not intervals:
            raise InputError(f"{option} cannot be combined with --no-intervals.")
    assumptions = shares.read()
    families = read_families(measures)
    clusters = cluster_columns(cluster)
    over_time = time.check(
        by=by is not None,
        cluster=bool(clusters),
        shrink=shrink,
        at=bool(at),
        ranking=ranking,
        variance=variance == "labeling",
        bounds=bounds,
        baselines=baselines,
        labeling_bias=labeling_bias is not None,
        measures=bool(families),
        propensity=propensity is not None,
        all_points=all_points,
    )
    has_audit = audit.check(
        cluster=bool(clusters),
        propensity=propensity is not None,
        shrink=shrink,
        group_prior=group_prior != "shared",
        over=over_time,
        engine=rows.engine != "duckdb",
        bounds=bounds,
        labeling_bias=labeling_bias is not None,
        **shares.given(),
    )
    has_row_tables = row_tables.check(
        assumptions,
        rows,
        clusters,
        target,
        propensity=propensity is not None,
        by=by is not None,
        over=over_time,
        audit=has_audit,
        label_errors=shares.label_errors is not None,
    )
    options: dict[str, Any] = {
        "target": target,
        "threshold": threshold,
        "level": (0.95 if level is None else level) if intervals else None,
        "n_resamples": 2000 if n_resamples is None else n_resamples,
        "seed": seed,
    }
    if by is not None:
        counting = {name: name in rows.changed() for name in ("engine", "address", "bins")}
        counting |= {"labeling-bias": labeling_bias is not None, "bounds": bounds}
        counting |= {"baselines": baselines, "propensity": propensity is not None}
        counting |= {"all-points": all_points}
        labeling = variance == "labeling"
        check_group_options(at=at, ranking=ranking, variance=labeling, **counting)
        shares.refuse_label_errors("--by")
        for measure in families:
            check_group_measure(measure)
        label, score = _named_columns(file, label, score)
        column = single_cluster(clusters, "--by")
        models, audited = read_groups(
            file, label, score, by, rows, column, audit if has_audit else None
        )
        if families:
            check_families({name: count_rows(r) for name, r in models.items()}, families, target)
        options |= audited | {"shrink": shrink}
        groups = evaluate_groups(models, group_prior, assumptions, options)
        _write_groups(groups, families, file, label, json_path, html_path)
        if quiet:
            print_warnings(model_warnings(groups))
        else:
            print_groups(groups, clusters)
            print_group_families(groups, families, PRINTED_GROUPS)
            if not (clusters or has_audit):
                _print_repeated_ids(file, Columns(label, tuple(score), rows.weight), rows, by)
            print_written(json_path, html_path)
        return exit_code(model_warnings(groups))
    if over_time:
        shares.refuse_label_errors("--over")
        label, score = _named_columns(file, label, score)
        periods = over_time_command.read_periods(file, label, score, time, rows)
        options["group_prior"] = group_prior
        times = over_time_command.evaluate_periods(periods, time, assumptions, options)
        _write_windows(times, file, label, json_path, html_path)
        if not quiet:
            print_written(json_path, html_path)
        status = over_time_command.print_times(times, quiet=quiet)
        if not quiet:
            columns = Columns(label, tuple(score), rows.weight)
            _print_repeated_ids(file, columns, rows, time.over, over_time=True)
        return status
    if group_prior != "shared":
        raise InputError("--group-prior needs --by or --over.")
    if shrink:
        raise InputError("--shrink needs --by.")
    if has_audit:
        label, score = _named_columns(file, label, score)
        audits, _ = read_audit(file, label, score, audit, rows)
        options |= {} if audit.labeling is None else {"labeling": audit.labeling}
    table_rows = None
    if has_row_tables:
        label, score = _named_columns(file, label, score)
        table_rows = TableRows.read(file, label, score, row_tables, rows, propensity, assumptions)
    counts = read_models(file, label, score or [], rows, clusters, propensity)
    check_families(counts, families, target)
    options["variance"] = variance
    if has_audit:
        evaluations = {
            name: evaluate(model, **assumptions, **options, audited=audits[name])
            for name, model in counts.items()
        }
    else:
        evaluations = evaluate_with_one_prior(
            counts,
            assumptions,
            lambda model, shares: evaluate(model, **shares, **options),
            count=lambda model: model,
            prior_estimate=lambda ev: ev.prior_estimate,
        )
    rankings = {name: ev.ranking() for name, ev in evaluations.items()} if ranking else {}
    bias_bounds = {}
    if labeling_bias is not None:
        bias_bounds = {name: ev.labeling_bias(labeling_bias) for name, ev in evaluations.items()}
    rank_bounds = {}
    if bounds:
        rank_bounds = {name: ev.bounds(level=level or 0.95) for name, ev in evaluations.items()}
    chosen = choose_thresholds(at or [], evaluations)
    tables = None if table_rows is None else table_rows.tables(evaluations, options["level"])
    if json_path is not None:
        content = {
            name: ev.to_dict(all_points=all_points)
            | ({"ranking": rankings[name]} if rankings else {})
            | ({"labeling_bias": bias_bounds[name].to_dict()} if bias_bounds else {})
            | ({"bounds": rank_bounds[name].to_dict()} if rank_bounds else {})
            | ({"choices": chosen.to_dict(name)} if at else {})
            | ({"families": ev.family(*families).to_dict()} if families else {})
            | ({} if tables is None else tables.to_dict(name))
            for name, ev in evaluations.items()
        }
        write_models(json_path, file, label, content)
    if html_path is not None:
        points = {name: [*by_rule.values()] for name, by_rule in chosen.points.items()}
        write_report(
            html_path,
            evaluations,
            choices=points if at else None,
            rankings=rankings,
            bounds=rank_bounds,
            families=_families(evaluations, families),
            notes=chosen.warnings,
            **_page_origin(file),
        )
    if quiet:
        print_warnings([*model_warnings(evaluations), *chosen.warnings])
        return exit_code(model_warnings(evaluations))
    print_evaluations(evaluations, rankings, all_measures=all_measures, clusters=clusters)
    print_families(evaluations, families)
    shown = shown_measures(next(iter(evaluations.values())), all_measures=all_measures)
    if baselines:
        print_baselines(evaluations, shown)
    if rank_bounds:
        print_bounds(rank_bounds, shown)
    if bias_bounds:
        print_bias_bounds(bias_bounds, shown)
    if tables is not None:
        tables.show()
    if rows.weight is not None:
        print_line(weight_sentence(next(iter(counts.values()))))
    if any(chosen.points.values()):
        print_thresholds(chosen.points)
        if intervals:
            print_line("Intervals account for choosing these thresholds on the same rows.")
    if label is not None and score and not (clusters or has_audit):
        columns = Columns(label, tuple(score), rows.weight)
        _print_repeated_ids(file, columns, rows, propensity)
    print_notes(f"! {warning}" for warning in chosen.warnings)
    print_written(json_path, html_path)
    return exit_code(model_warnings(evaluations))


def _named_columns(file: str, label: str | None, score: list[str] | None) -> tuple[str, list[str]]:
    """Return the columns of labels and scores; refuse to guess them."""
    if label is None or not score:
        raise missing_column_error(file, label)
    return label, score


def _write_groups(
    groups: dict[str, GroupEvaluation],
    families: tuple[str, ...],
    file: str,
    label: str,
    json_path: str | None,
    html_path: str | None,
) -> None:
    """Write the groups of every model to files."""
    if json_path is not None:
        content = {name: evaluation.to_dict() for name, evaluation in groups.items()}
        for name, evaluation in groups.items() if families else ():
            content[name]["families"] = {
                measure: evaluation[measure].to_dict() for measure in families
            }
        write_models(json_path, file, label, content)
    if html_path is not None:
        overall = {name: evaluation.overall for name, evaluation in groups.items()}
        write_report(
            html_path,
            overall,
            families=_families(overall, families),
            groups={name: report_table(evaluation) for name, evaluation in groups.items()},
            **_page_origin(file),
        )


def _write_windows(
    times: dict[str, TimeEvaluation],
    file: str,
    label: str,
    json_path: str | None,
    html_path: str | None,
) -> None:
    """Write the windows of time of every model to files."""
    if json_path is not None:
        content = {name: evaluation.to_dict() for name, evaluation in times.items()}
        write_models(json_path, file, label, content)
    if html_path is not None:
        write_report(
            html_path,
            {name: evaluation.overall for name, evaluation in times.items()},
            groups={name: over_time_command.report_table(one) for name, one in times.items()},
            **_page_origin(file),
        )


def _page_origin(file: str) -> dict[str, Any]:
    """Return the command and the file that a report names."""
    return {"command": shlex.join(["pueval", *command_line.get()]), "file": file_title(file)}


def _families(
    evaluations: dict[str, Evaluation], measures: tuple[str, ...]
) -> dict[str, MeasureFamily]:
    """Return the measures of families of every model, if there are any to report."""
    return {name: ev.family(*measures) for name, ev in evaluations.items()} if measures else {}


def _print_repeated_ids(
    file: str,
    columns: Columns,
    rows: CountOptions,
    other: str | None,
    *,
    over_time: bool = False,
) -> None:
    """Print a line about ids that repeat, and what clusters would change.

    ``other`` is another column in use.
    """
    if rows.engine == "duckdb":
        others = () if other is None else (other,)
        hint = find_repeated_ids(file, columns, others, labels=rows.labels, over_time=over_time)
        if hint is not None:
            print_line(hint)
