"""Values and queries on the command line: ``--value amount`` and ``--query user --top 10``.

Both need all rows, in memory, beside the counts from which everything else is computed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from cyclopts import Group, Parameter

from pueval._checks import check_count
from pueval._typing import Array, Target
from pueval.commands.evaluation_tables import show_below
from pueval.commands.family_option import print_clipped_note
from pueval.commands.options import WHOLE, CountOptions
from pueval.commands.terminal import print_line
from pueval.errors import InputError
from pueval.estimates.estimate import Estimate
from pueval.evaluation.evaluation import Evaluation
from pueval.sources.column_profiles import column_names
from pueval.sources.columns import Columns, check_column
from pueval.sources.files import FileRows, read_rows
from pueval.sources.labels import KIND_CODES
from pueval.sources.paths import locate
from pueval.sources.standard_input import STANDARD_INPUT
from pueval.text.numbers import format_count, format_level, format_number, format_threshold
from pueval.text.results import Result
from pueval.values_and_queries.top_by_query import TopByQuery, top_by_query
from pueval.values_and_queries.value_recovered import ValueRecovered, value_recovered

ROW_TABLES = Group("Values and queries", sort_key=3)
SHARES = ("prior", "prevalence", "label_frequency")


@Parameter(name="*")
@dataclass(frozen=True)
class RowTableOptions:
    """Columns of values and of queries.

    Parameters
    ----------
    value
        Column with the value of each row, such as an amount, at least 0: also print how much value
        the threshold recovers. Needs a number for --prior, --prevalence or --label-frequency, or
        --propensity. The purity must be a number, too.
    cost
        Cost of each row at or above the threshold, in the unit of the values, with --value; 0 by
        default.
    query
        Column with the list of each row, such as the user: also print measures of the first rows
        of each list, averaged over lists, with --top. Needs a number for --label-frequency, or
        --propensity.
    top
        Number of first rows of each list, with --query.
    """

    value: Annotated[str | None, Parameter(group=ROW_TABLES)] = None
    cost: Annotated[float | None, Parameter(group=ROW_TABLES)] = None
    query: Annotated[str | None, Parameter(group=ROW_TABLES)] = None
    top: Annotated[int | None, WHOLE, Parameter(group=ROW_TABLES)] = None

    def check(
        self,
        assumptions: Mapping[str, Any],
        rows: CountOptions,
        clusters: Sequence[str],
        target: Target,
        *,
        propensity: bool,
        **others: bool,
    ) -> bool:
        """Return whether there is a table to make; raise an error for options that do not fit.

        ``others`` tells which options were given that cannot be combined with values or queries.
        """
        for name, needed in (("cost", "value"), ("top", "query")):
            if getattr(self, name) is not None and getattr(self, needed) is None:
                raise InputError(f"--{name} needs --{needed}, a column of the file.")
        if self.query is not None and self.top is None:
            raise InputError("--query needs --top, the number of first rows of each list.")
        if self.top is not None:
            check_count("--top", self.top)
        if self.query is not None and target == "unlabeled":
            raise InputError(
                "--query cannot be combined with --target unlabeled: lists have labeled rows, too. "
                "Leave one of them out."
            )
        given = [name for name in ("value", "query") if getattr(self, name) is not None]
        for option in given:
            for other, is_given in others.items():
                if is_given:
                    raise InputError(
                        f"--{option} cannot be combined with --{other.replace('_', '-')}. Leave "
                        "one of them out."
                    )
            for other in rows.changed():
                if other in {"engine", "address", "bins"}:
                    raise InputError(
                        f"--{other} cannot be combined with --{option}, which needs all rows in "
                        "memory, without bins. Leave it out."
                    )
            _check_shares(option, assumptions, propensity=propensity)
        if self.value is not None and clusters:
            raise InputError(
                "--value cannot be combined with --cluster: its intervals need labels that are "
                "independent of each other. Leave one of them out."
            )
        if self.query is not None and any(name != self.query for name in clusters):
            raise InputError(
                f"--query {self.query} cannot be combined with --cluster {' '.join(clusters)}: "
                "intervals of averages over lists treat the lists as independent. Leave one of "
                f"them out, or pass --cluster {self.query}."
            )
        return bool(given)


ROW_TABLE_DEFAULTS = RowTableOptions()


def _check_shares(option: str, assumptions: Mapping[str, Any], *, propensity: bool) -> None:
    """Raise an error unless the shares that a table needs are known numbers."""
    names = SHARES if option == "value" else ("label_frequency",)
    numbers = [name for name in SHARES if assumptions[name] is not None]
    if propensity and numbers:
        raise InputError(
            f"--{option} takes --propensity or --{numbers[0].replace('_', '-')}, not both. Leave "
            "one of them out."
        )
    if not propensity and not any(name in names for name in numbers):
        *first, last = (f"--{name.replace('_', '-')}" for name in (*names, "propensity"))
        raise InputError(
            f"--{option} needs {', '.join(first)} or {last}: its intervals do not include the "
            "uncertainty of an estimate."
        )
    for name in (*numbers, "purity"):
        if not isinstance(assumptions[name], float):
            raise InputError(
                f"--{option} needs one number for --{name.replace('_', '-')}, neither an "
                "interval nor an estimate."
            )


@dataclass(frozen=True, eq=False)
class RowTables:
    """The tables of each model; those that were not asked for are empty."""

    values: dict[str, ValueRecovered]
    queries: dict[str, TopByQuery]

    def to_dict(self, model: str) -> dict[str, Any]:
        """Return the tables of one model as plain data."""
        tables: dict[str, Mapping[str, Result]] = {"value": self.values, "by_query": self.queries}
        return {name: by_model[model].to_dict() for name, by_model in tables.items() if by_model}

    def show(self) -> None:
        """Print the tables."""
        if self.values:
            _print_values(self.values)
        if self.queries:
            _print_queries(self.queries)


@dataclass(frozen=True, eq=False)
class TableRows:
    """All rows of a file, as the tables need them.

    Attributes
    ----------
    rows : FileRows
        Labels, weights and queries.
    columns : dict of str to ndarray
        Scores, values and propensities by name.
    options : RowTableOptions
        What to compute.
    shares : dict
        What is known about the labels, as arguments of `top_by_query`.
    """

    rows: FileRows
    columns: dict[str, Array]
    options: RowTableOptions
    shares: dict[str, Any]

    @classmethod
    def read(
        cls,
        file: str,
        label: str,
        scores: Sequence[str],
        options: RowTableOptions,
        rows: CountOptions,
        propensity: str | None,
        assumptions: Mapping[str, Any],
    ) -> TableRows:
        """Read the columns of all rows."""
        extra = [name for name in (options.value, propensity) if name is not None]
        if file != STANDARD_INPUT:
            names = column_names(locate(file), label)
            for name, content in (
                (options.value, "value"),
                (options.query, "query"),
                (propensity, "propensity"),
            ):
                if name is not None:
                    check_column(name, names, content)
        # Values and propensities are read like other scores: a number in every row.
        numbers = tuple(dict.fromkeys((*scores, *extra)))
        by = () if options.query is None else (options.query,)
        read = read_rows(file, Columns(label, numbers, rows.weight, by), labels=rows.labels)
        columns = dict(zip(numbers, read.scores, strict=True))
        shares = {"purity": assumptions["purity"]}
        if propensity is not None:
            shares["propensity"] = columns[propensity]
        else:
            shares["label_frequency"] = assumptions["label_frequency"]
        return cls(read, columns, options, shares)

    def tables(self, evaluations: Mapping[str, Evaluation], level: float | None) -> RowTables:
        """Return the tables of each model, at its threshold."""
        rows, options, values, queries = self.rows, self.options, {}, {}
        shared: dict[str, Any] = {
            "sample_weight": rows.sample_weight,
            "level": level,
            **self.shares,
            **KIND_CODES.arguments,
        }
        # Prior and prevalence are those of the evaluation, as a prior.
        needs_prior = all(self.shares.get(name) is None for name in ("propensity", *SHARES))
        for model, ev in evaluations.items():
            if options.value is not None:
                values[model] = value_recovered(
                    rows.kind,
                    self.columns[model],
                    self.columns[options.value],
                    threshold=ev.threshold,
                    cost=options.cost or 0.0,
                    target=ev.target,
                    prior=ev.prior if needs_prior else None,
                    **shared,
                )
            if options.query is not None and options.top is not None:
                queries[model] = top_by_query(
                    rows.kind, self.columns[model], rows.by, k=options.top, **shared
                )
        return RowTables(values, queries)


def _print_values(tables: Mapping[str, ValueRecovered]) -> None:
    header, rows = _estimate_table({name: table.estimates() for name, table in tables.items()})
    thresholds, alarms, worth = ["Threshold"], ["Rows at or above it"], ["Value of these rows"]
    for table in tables.values():
        thresholds += ["", format_threshold(table.threshold)]
        alarms += ["", format_count(table.alarms)]
        worth += ["", format_number(table.alarm_value)]
    show_below(["Value", *header], [*rows, worth, alarms, thresholds])
    print_clipped_note(rows)
    level = next(iter(tables.values())).level
    if level is not None:
        print_line(
            f"In brackets: {format_level(level)} confidence intervals over other choices of labels "
            "among the same rows."
        )


def _print_queries(tables: Mapping[str, TopByQuery]) -> None:
    header, rows = _estimate_table({name: table.estimates() for name, table in tables.items()})
    first = next(iter(tables.values()))
    show_below([f"First {first.k:,} rows of lists", *header], rows)
    print_clipped_note(rows)
    intervals = ""
    if first.level is not None:
        level = format_level(first.level)
        intervals = f" In brackets: {level} confidence intervals for other lists."
    print_line(f"{first.summary()}.{intervals}")


def _estimate_table(
    models: Mapping[str, Mapping[str, Estimate]],
) -> tuple[list[str], list[list[str]]]:
    """Return a table with the estimates of each model: naive, and corrected with intervals."""
    header = [f"{name}\n{kind}" for name in models for kind in ("naive", "corrected")]
    titles = next(iter(models.values()))
    rows = [
        [
            title,
            *(
                cell
                for estimates in models.values()
                for cell in (format_number(estimates[title].naive), str(estimates[title]))
            ),
        ]
        for title in titles
    ]
    return header, rows
