"""``pueval audit plan``: rows to check, and what checking them will tell."""

from __future__ import annotations

import csv
import shlex
from pathlib import Path
from typing import Annotated

from cyclopts import Group, Parameter

from pueval._typing import Target
from pueval._writing import open_atomic
from pueval.audit._drawn_rows import DrawnRows, draw_from_file
from pueval.audit._forecast import ForecastCurve
from pueval.audit._plan import plan
from pueval.audit._plan_result import Plan
from pueval.audit_estimates.audited_rows import AuditedRows
from pueval.commands.audit_options import AuditOptions, read_audit
from pueval.commands.exit_codes import exit_code
from pueval.commands.model_counts import read_models
from pueval.commands.options import (
    ASSUMPTIONS,
    COLUMNS,
    LABEL,
    LABEL_DEFAULTS,
    OUTPUT,
    SHARE_DEFAULTS,
    WHOLE,
    CountOptions,
    InputFile,
    LabelOptions,
    ShareOptions,
)
from pueval.commands.output_files import check_overwrite, formula_warning, looks_like_formula
from pueval.commands.terminal import print_line, print_notes, print_warnings
from pueval.errors import InputError
from pueval.estimates.measure_titles import TITLES
from pueval.sources.columns import Columns
from pueval.sources.paths import locate
from pueval.sources.row_ids import ROW_NUMBER
from pueval.text.numbers import format_count, format_level, format_threshold
from pueval.text.warning_lists import worst_warnings

AUDIT_PLAN = Group("Plan", sort_key=1)
EARLIER = Group("Earlier audits", sort_key=3)
# Columns of the file, besides the ids.
SCORE, PROBABILITY, TRUTH = "score", "probability", "truth"


def audit_plan_command(
    file: InputFile,
    /,
    *,
    label: Annotated[str, LABEL],
    score: Annotated[str, Parameter(group=COLUMNS)],
    id_column: Annotated[str | None, Parameter(name="--id", group=COLUMNS)] = None,
    label_values: LabelOptions = LABEL_DEFAULTS,
    out: Annotated[str, Parameter(group=OUTPUT)],
    budget: Annotated[int, WHOLE, Parameter(group=AUDIT_PLAN)] = 200,
    measures: Annotated[
        list[str] | None, Parameter(name="--for", group=AUDIT_PLAN, negative=())
    ] = None,
    threshold: Annotated[float | None, Parameter(group=AUDIT_PLAN)] = None,
    floor: Annotated[float, Parameter(group=AUDIT_PLAN)] = 0.1,
    shares: ShareOptions = SHARE_DEFAULTS,
    target: Annotated[Target, Parameter(group=ASSUMPTIONS)] = "population",
    after: Annotated[list[str] | None, Parameter(group=EARLIER, negative=())] = None,
    truth: Annotated[str | None, Parameter(group=EARLIER)] = None,
    probability: Annotated[str | None, Parameter(group=EARLIER)] = None,
    level: Annotated[float, Parameter(group=OUTPUT)] = 0.95,
    seed: Annotated[int, WHOLE, Parameter(group=OUTPUT)] = 0,
    overwrite: Annotated[bool, Parameter(group=OUTPUT, negative=())] = False,
) -> int:
    """Choose the unlabeled rows that tell most if somebody checks them.

    Writes them to a file, in random order: id, score, probability (of being chosen) and an empty
    column truth. Fill it in (1 for positive, 0 for negative), and pass the file to
    "pueval evaluate --audit". If you stop early, leave the rest of the list empty. Prints the
    forecast half-width of the confidence interval.

    Example: pueval audit plan scores.csv --label label --score model_a --id id --budget 200
    --for f1 --out to_check.csv

    Parameters
    ----------
    file
        CSV, Parquet or Arrow file, folder, quoted pattern such as 'scores/*.parquet', database
        table (duckdb:///file.db?table=name), or - for standard input.
    score
        Column with the scores.
    id_column
        Column with a unique id of each row. By default, rows of a single file are numbered from 1,
        in the column row.
    out
        CSV file to write.
    budget
        Number of rows to check.
    measures
        Measure whose interval is to be narrow, such as f1, recall, roc_auc or prevalence; f1 by
        default. Repeat the option for several measures.
    threshold
        Score at or above which rows are predicted positive; by default that of "pueval evaluate".
    floor
        Smallest probability of a row, relative to a simple random sample. 1 makes the plan a
        simple random sample.
    target
        Population to evaluate: all rows (population), or only the unlabeled rows (unlabeled).
    after
        File with rows that were checked before. The plan uses what they tell. Rows that are drawn
        again keep their truth and do not count toward the budget. Pass all files to
        "pueval evaluate". Repeat the option for several files.
    truth
        Column of the earlier files with the truth; "truth" by default.
    probability
        Column of the earlier files with the probability; "probability" by default, if there is
        one.
    level
        Confidence level of the intervals whose widths are forecast.
    seed
        Random seed. The same seed draws the same rows.
    overwrite
        Replace an existing file.
    """
    _check_output(file, after or [], out, id_column, overwrite=overwrite)
    rows = CountOptions(**vars(label_values))
    earlier = AuditOptions(after, id_column, truth, probability)
    assumptions = shares.read()
    audited: AuditedRows | None = None
    truths: dict[str, bool] = {}
    if after:
        for name in ("prior", "prevalence", "label_frequency"):
            if assumptions[name] is not None:
                option = f"--{name.replace('_', '-')}"
                raise InputError(f"--after estimates the prior. Leave out {option}.")
        audits, truths = read_audit(file, label, [score], earlier, rows)
        audited = audits[score]
    elif truth is not None or probability is not None:
        raise InputError("--truth and --probability are columns of the file given by --after.")
    [counts] = read_models(file, label, [score], rows).values()
    made = plan(
        counts,
        budget=budget,
        measure=tuple(measures or ["f1"]),
        threshold=threshold,
        target=target,
        floor=floor,
        level=level,
        seed=seed,
        audited=audited,
        **assumptions,
    )
    columns = Columns(label, (score,), row_id=id_column)
    drawn = draw_from_file(made, file, columns, rows.labels, seed=seed, checked=truths)
    _write_rows(out, drawn, id_column or ROW_NUMBER, truths)
    more = min(made.budget + 100, made.n_candidates)
    print_notes(_description(out, made, drawn, made.curve([made.budget, more])))
    print_notes(f"! {warning}" for warning in worst_warnings(made.warnings))
    files = [option for path in (*(after or []), out) for option in ("--audit", path)]
    identified = [] if id_column is None else ["--id", id_column]
    command = ["evaluate", file, "--label", label, "--score", score, *files, *identified]
    command += ["--threshold", f"{made.threshold!r}"]
    command += _changed_options(
        label_values, {"target": target, "purity": shares.purity, "level": f"{level:g}"}
    )
    print_line("Fill in the column truth: 1 for positive, 0 for negative. Run next:")
    print_line(f"  {shlex.join(['pueval', *command])}")
    if any(map(looks_like_formula, drawn.ids)):
        print_warnings([formula_warning(out, [id_column or ROW_NUMBER])])
    return exit_code(made.warnings)


def _changed_options(label_values: LabelOptions, others: dict[str, str]) -> list[str]:
    """Return the options that "pueval evaluate" needs, too, if they differ from their defaults."""
    defaults = {**vars(LabelOptions()), "target": "population", "purity": "1", "level": "0.95"}
    given = vars(label_values) | others
    changed = {name: value for name, value in given.items() if value != defaults[name]}
    return [option for name, value in changed.items() for option in (f"--{name}", value)]


def _check_output(
    file: str, after: list[str], out: str, id_column: str | None, *, overwrite: bool
) -> None:
    if Path(out).suffix.lower() in {".parquet", ".pq", ".arrow", ".feather", ".xlsx", ".gz"}:
        raise InputError(f"--out must be a CSV file; got {out!r}. Choose a name that ends in .csv.")
    if id_column in {SCORE, PROBABILITY, TRUTH}:
        raise InputError(
            f"the file to write has a column {id_column!r} of its own. Rename the column with ids."
        )
    inputs = [name for path in (file, *after) for name in locate(path).files]
    if Path(out).resolve() in {Path(name).resolve() for name in inputs}:
        raise InputError(f"--out {out} is an input file. Choose another name.")
    check_overwrite(out, overwrite=overwrite)
    if checked := _checked_rows(out):
        raise InputError(
            f"{out} contains {format_count(checked)} checked rows. Choose another name to keep "
            "them."
        )


def _checked_rows(out: str) -> int:
    """Return how many rows of an earlier plan have a truth; 0 if the file is no plan."""
    if not Path(out).is_file():
        return 0
    with Path(out).open(newline="", encoding="utf-8", errors="replace") as stream:
        rows = csv.DictReader(stream)
        if TRUTH not in (rows.fieldnames or []):
            return 0
        return sum(bool((row[TRUTH] or "").strip()) for row in rows)


def _write_rows(out: str, drawn: DrawnRows, id_column: str, truths: dict[str, bool]) -> None:
    with open_atomic(out) as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow([id_column, SCORE, PROBABILITY, TRUTH])
        for name, score, probability, checked in zip(
            drawn.ids, drawn.score.tolist(), drawn.probability.tolist(), drawn.checked, strict=True
        ):
            writer.writerow([name, score, probability, int(truths[name]) if checked else ""])


def _description(out: str, made: Plan, drawn: DrawnRows, curve: ForecastCurve) -> list[str]:
    """Say what was written, and what checking the rows is expected to tell."""
    new = int((~drawn.checked).sum())
    written = (
        f"{out}: {format_count(new)} of {format_count(made.n_candidates)} unlabeled rows to check, "
        f"in random order; threshold {format_threshold(made.threshold)}."
    )
    lines = [written]
    if again := int(drawn.checked.sum()):
        rows = "1 more row was" if again == 1 else f"{format_count(again)} more rows were"
        lines.append(f"{rows} checked before; the truth is filled in.")
    now, later = curve.at(made.budget), curve.at(made.budget + 100)
    more = made.budget + 100 <= made.n_candidates
    # What an earlier audit found is what the forecast rests on.
    first = not made.n_earlier
    ranges = curve.range_at(made.budget)
    for name in made.measures:
        condition = " if labels are random" if first else ""
        line = (
            f"Forecast of {TITLES.get(name, name)}{condition}: ± {now[name]:.2g} "
            f"({format_level(curve.level)} CI)"
            + (f"; with 100 more rows ± {later[name]:.2g}." if more else ".")
        )
        if first:
            low, high = ranges[name]
            line += f" If they may favor low or high scores: ± {low:.2g} to ± {high:.2g}."
        lines.append(line)
    return lines
