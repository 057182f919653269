"""Windows of time on the command line: ``--over column --every month``."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Annotated, Any

from cyclopts import Group, Parameter

from pueval.commands.evaluation_tables import print_verdict
from pueval.commands.exit_codes import alarm_exit_code, exit_code
from pueval.commands.options import WHOLE, CountOptions
from pueval.commands.shared_prior import evaluate_with_one_prior
from pueval.commands.terminal import (
    print_error,
    print_line,
    print_notes,
    print_warnings,
    show_table,
)
from pueval.counts.counts import Counts
from pueval.counts.tally import tally
from pueval.errors import InputError, name_model
from pueval.over_time.evaluate_over_time import evaluate_over_time
from pueval.over_time.time_evaluation import TimeEvaluation
from pueval.over_time.time_text import table_notes, time_table
from pueval.report import GroupTable
from pueval.sources.duckdb_tables import connect_to, select_columns
from pueval.sources.paths import locate
from pueval.sources.periods import NUMBER_HINT
from pueval.sources.standard_input import STANDARD_INPUT
from pueval.sources.unreadable_times import refuse_text_times
from pueval.text.warning_lists import worst_warnings

OVER_TIME = Group("Windows of time", sort_key=2)
# Windows to print and to show in a report: the latest ones. The JSON file has all.
PRINTED_WINDOWS, REPORTED_WINDOWS = 24, 500
# What to do in the place of options that cannot be combined with --over.
OVER_TIME_ADVICE = {
    "cluster": "alarms need independent windows. Use --by with a column of months and --cluster.",
    "propensity": "use evaluate_over_time in Python, or --label-delay to wait for labels.",
}
# Counts of the periods of a model, by the start of the period.
ModelPeriods = dict[Any, Counts]


@Parameter(name="*")
@dataclass(frozen=True)
class OverTimeOptions:
    """Windows of time, and alarms.

    Parameters
    ----------
    over
        Column with the time of each row: dates, times or numbers. Every window of time is
        evaluated, and all rows together. Exit code 4 is an alarm: a watched measure changed.
    every
        Length of the periods: day, week, month (the default), quarter, year, a fixed length such
        as "14 days", or a number if times are numbers.
    window
        Number of periods in a window; windows of several periods overlap.
    timezone
        Time zone to which times with a time zone are converted; UTC by default.
    reference
        Number of first periods with which later ones are compared for alarms, or a date: all
        periods before it. The first period by default.
    watch
        Measure that can raise an alarm, such as roc_auc (the default), f1 or prevalence. Repeat the
        option for several measures.
    false_alarm_rate
        Probability of any alarm for each model, over all looks and measures, if nothing changes;
        0.05 by default. For a rate over all models, divide it by their number.
    label_delay
        Time after which all labels have arrived, such as "90 days". Windows that end later than
        this before --as-of get a note instead of estimates.
    as_of
        When the labels were read, with --label-delay.
    """

    over: Annotated[str | None, Parameter(group=OVER_TIME)] = None
    every: Annotated[str | None, Parameter(group=OVER_TIME)] = None
    window: Annotated[int | None, WHOLE, Parameter(group=OVER_TIME)] = None
    timezone: Annotated[str | None, Parameter(group=OVER_TIME)] = None
    reference: Annotated[str | None, Parameter(group=OVER_TIME)] = None
    watch: Annotated[list[str] | None, Parameter(group=OVER_TIME, negative=())] = None
    false_alarm_rate: Annotated[float | None, Parameter(group=OVER_TIME)] = None
    label_delay: Annotated[str | None, Parameter(group=OVER_TIME)] = None
    as_of: Annotated[str | None, Parameter(group=OVER_TIME)] = None

    def check(self, **others: Any) -> bool:
        """Return whether to evaluate over time; raise an error for options that do not fit.

        ``others`` tells which options were given that cannot be combined with ``--over``.
        """
        if self.over is None:
            for field in fields(self):
                if getattr(self, field.name) is not None:
                    option = f"--{field.name.replace('_', '-')}"
                    raise InputError(f"{option} needs --over, the column with the times.")
            return False
        for name, given in others.items():
            if given:
                option = f"--{name.replace('_', '-')} cannot be combined with --over"
                advice = OVER_TIME_ADVICE.get(name)
                raise InputError(
                    f"{option}. Leave one of them out." if advice is None else f"{option}: {advice}"
                )
        return True

    @property
    def arguments(self) -> dict[str, Any]:
        """Arguments of `evaluate_over_time` that were given."""
        given = {
            name: value
            for name, value in vars(self).items()
            if name != "over" and value is not None
        }
        for name in ("every", "reference", "label_delay", "as_of"):
            if name in given:
                given[name] = _number_or_text(given[name])
        return given


OVER_TIME_DEFAULTS = OverTimeOptions()


def _number_or_text(text: str) -> Any:
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            continue
    return text


def read_periods(
    file: str, label: str, scores: list[str], over: OverTimeOptions, rows: CountOptions
) -> dict[str, ModelPeriods]:
    """Count the rows of each period and model, in the engine that reads the file."""
    arguments = over.arguments
    try:
        tallies = tally(
            file,
            label=label,
            scores=scores,
            by=str(over.over),
            every=arguments.get("every", "month"),
            timezone=arguments.get("timezone", "UTC"),
            sample_weight=rows.weight,
            bins=None if rows.bins == "exact" else rows.bins,
            engine=rows.engine,
            address=rows.address,
            **rows.labels.arguments,
        )
    except InputError:
        if rows.engine == "duckdb" and file != STANDARD_INPUT:
            refuse_text_times(file, str(over.over))
        if rows.engine == "duckdb" and isinstance(arguments.get("every", ""), str):
            _refuse_number_times(file, str(over.over))
        raise
    return {
        name: {start: counts[name] for (start,), counts in tallies.items()}
        for name in dict.fromkeys(scores)
    }


def _refuse_number_times(file: str, column: str) -> None:
    """Raise an error if a column of times holds nothing but numbers."""
    location = locate(file)
    with connect_to(location) as connection:
        times = select_columns(connection, location, {"t": (column, "time")})
        text = times.select("nullif(trim(CAST(t AS VARCHAR)), '') AS t")
        is_number = "TRY_CAST(t AS TIMESTAMP) IS NULL AND TRY_CAST(t AS DOUBLE) IS NOT NULL"
        summary = f"count(t), count(t) FILTER ({is_number}), min(t)"
        [(n_rows, n_numbers, example)] = text.aggregate(summary).fetchall()
    if n_rows == n_numbers > 0:
        raise InputError(
            f"time must hold dates or times; got numbers such as {example} in column {column!r}."
            f"{NUMBER_HINT}"
        )


def evaluate_periods(
    models: dict[str, ModelPeriods],
    over: OverTimeOptions,
    assumptions: dict[str, Any],
    options: dict[str, Any],
) -> dict[str, TimeEvaluation]:
    """Evaluate every window for each model. The model that separates best estimates the prior."""

    def evaluate_model(counts: ModelPeriods, assumptions: dict[str, Any]) -> TimeEvaluation:
        return evaluate_over_time(counts, **over.arguments, **assumptions, **options)

    if options["group_prior"] == "each":
        return {name: evaluate_model(counts, assumptions) for name, counts in models.items()}
    return evaluate_with_one_prior(
        models,
        assumptions,
        evaluate_model,
        count=lambda counts: sum(counts.values(), Counts.empty()),
        prior_estimate=lambda times: times.overall.prior_estimate,
    )


def report_table(times: TimeEvaluation) -> GroupTable:
    """Return the table of windows for a report."""
    notes = table_notes(times, REPORTED_WINDOWS, "--json and .frame() have all of them.")
    return GroupTable(*time_table(times, REPORTED_WINDOWS), notes)


def print_times(evaluations: dict[str, TimeEvaluation], *, quiet: bool) -> int:
    """Print the verdict on all rows, windows, alarms and warnings; return the exit code."""
    messages = [
        name_model(name, text) for name, times in evaluations.items() for text in times.warnings
    ]
    if quiet:
        print_warnings(messages)
        for name, times in evaluations.items():
            for alarm in times.alarms:
                print_error(f"alarm: {name}: {alarm!r}")
    else:
        print_verdict({name: times.overall for name, times in evaluations.items()})
        for name, times in evaluations.items():
            print_line(f"{name}: {times.summary()}.")
            show_table(*time_table(times, PRINTED_WINDOWS))
            print_notes(table_notes(times, PRINTED_WINDOWS, "--json writes all of them."))
        print_notes(f"! {text}" for text in worst_warnings(messages))
    return exit_code(messages) or alarm_exit_code(
        any(times.alarms for times in evaluations.values())
    )
