"""tally(): the Counts of several score columns and groups, in one pass over the rows."""

from __future__ import annotations

import os
from collections.abc import Hashable, Sequence
from typing import Any

from pueval.counts.counts import Counts
from pueval.errors import InputError
from pueval.samples.bins import Bins, check_bins_choice
from pueval.sources.columns import Columns, Engine, score_names
from pueval.sources.labels import LabelValues


def tally(
    source: Any,
    *,
    label: str,
    scores: str | Sequence[str],
    by: str | Sequence[str] = (),
    sample_weight: str | None = None,
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
    sample_weight : str, optional
        Name of the column of weights.
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
    columns = Columns(label, score_names(scores), sample_weight, groups)
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
        tallies = query_frame(source, columns, labels=labels, bins=choice)
    return {
        group: {name: Counts._from_binned(binned, choice) for name, binned in by_score.items()}
        for group, by_score in tallies.items()
    }
