"""tally(): the Counts of several score columns and groups, in one pass over the rows."""

from __future__ import annotations

import os
from collections.abc import Hashable, Sequence
from typing import Any

from pueval.counts.counts import Counts
from pueval.errors import InputError
from pueval.samples.bins import Bins, check_bins_choice
from pueval.sources.columns import Columns, Engine, Tallies, score_names
from pueval.sources.labels import LabelValues, missing_error
from pueval.sources.periods import Periods


def tally(
    source: Any,
    *,
    label: str,
    scores: str | Sequence[str],
    by: str | Sequence[str] = (),
    every: Any = None,
    timezone: str = "UTC",
    sample_weight: str | None = None,
    cluster: str | None = None,
    bins: Bins = "auto",
    engine: Engine = "duckdb",
    address: str | None = None,
    pos_label: Any = 1,
    unlabeled_label: Any = 0,
    negative_label: Any = None,
) -> dict[tuple[Hashable, ...], dict[str, Counts]]:
    """Count the rows of a data frame or of files, for several scores and groups in one pass.

    Parameters
    ----------
    source : data frame, str or path
        Any frame that `Counts.from_frame` accepts, or any path that `Counts.from_file` accepts.
    label : str
        Name of the label column.
    scores : str or list of str
        Names of the score columns, one for each model.
    by : str or list of str, optional
        Names of the columns whose values define groups.
    every : str, timedelta or number, optional
        Count by periods of time: ``by`` is then one column of files that holds times, and groups
        are the starts of the periods. As for `pueval.evaluate_over_time`, which takes the result.
        The engine divides the rows; it must be DuckDB or Spark.
    timezone : str, default "UTC"
        Time zone to which times with a time zone are converted, with ``every``.
    sample_weight : str, optional
        Name of the column of weights.
    cluster : str, optional
        Name of a column of clusters, as for `Counts.from_frame`. Not with ``by``.
    bins : int, "auto" or None, default "auto"
        As for `Counts.from_frame`. "auto" keeps every score if the number of rows times score
        columns is at most 50 million.
    engine : {"duckdb", "polars", "dask", "spark"}
        Engine that reads files; a frame has its own.
    address : str, optional
        Address of a running cluster, as for `Counts.from_file`.
    pos_label, unlabeled_label, negative_label : optional
        As for `Counts.from_arrays`.

    Returns
    -------
    dict of tuple to dict of str to Counts
        The Counts of each group and score column. A group is the tuple of its values in the columns
        ``by``, empty without groups. Groups are sorted, those with a missing value last.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from pueval import tally
    >>> rows = pa.table({"y": [1, 0, 0, 1], "a": [4, 3, 2, 1], "b": [2, 2, 1, 1],
    ...                  "site": ["Oslo", "Oslo", "Rome", "Rome"]})
    >>> counts = tally(rows, label="y", scores=["a", "b"], by="site")
    >>> counts[("Oslo",)]["b"]
    Counts(1 labeled, 1 unlabeled, 0 known negative rows; 1 distinct score from 2 to 2)
    """
    groups = (by,) if isinstance(by, str) else tuple(by)
    if groups and cluster is not None:
        raise InputError(
            "tally cannot combine by with cluster. Count the rows of one group at a time, or pass "
            "all rows to evaluate_by as arrays."
        )
    names, periods = score_names(scores), None
    if every is not None:
        periods = Periods.of(every, timezone)
        _check_time_column(groups, (label, *names, sample_weight))
    elif timezone != "UTC":
        raise InputError("timezone needs every, the length of the periods.")
    columns = Columns(label, names, sample_weight, groups, periods=periods, cluster=cluster)
    labels = LabelValues(pos_label, unlabeled_label, negative_label)
    choice = check_bins_choice(bins)
    if isinstance(source, str | os.PathLike):
        from pueval.sources.files import read_files

        tallies = read_files(
            source, columns, labels=labels, bins=choice, engine=engine, address=address
        )
    else:
        from pueval.sources.frames import query_frame

        if engine != "duckdb" or address is not None:
            raise InputError(
                "engine and address apply to files only; frames have their own. Leave them out."
            )
        if periods is not None:
            raise InputError(
                "every applies to files only. Add a column with the start of each period to the "
                "frame, and pass its name as by."
            )
        tallies = query_frame(source, columns, labels=labels, bins=choice)
    if periods is not None:
        tallies = _by_start(tallies, periods, groups[0])
    return {
        group: {name: Counts._from_rows(rows, choice) for name, rows in by_score.items()}
        for group, by_score in tallies.items()
    }


def _check_time_column(groups: tuple[str, ...], others: tuple[str | None, ...]) -> None:
    if len(groups) != 1:
        raise InputError(f"every needs one column of times in by; got {len(groups)} columns.")
    if groups[0] in others:
        raise InputError(f"the column {groups[0]!r} cannot be a time and a label, score or weight.")


def _by_start(tallies: Tallies, periods: Periods, column: str) -> Tallies:
    """Name periods by their starts; refuse rows without a time."""
    if (None,) in tallies:
        first = next(iter(tallies[None,].values()))
        rows = int(sum(kind.total for kind in first.samples))
        raise missing_error(f"time, or one that cannot be read (column {column!r})", rows)
    starts = {key: periods.start(int(str(key[0]))) for key in tallies}
    return {
        (start if periods.is_numeric else start.item(),): tallies[key]
        for key, start in starts.items()
    }
