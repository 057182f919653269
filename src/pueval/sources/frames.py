"""Rows from a data frame, in memory or anywhere else."""

from __future__ import annotations

from typing import Any

import narwhals.stable.v2 as nw
from narwhals.exceptions import DuplicateError

from pueval.samples.bins import BinnedSamples, Bins, bin_samples
from pueval.sources.arrays import read_arrays
from pueval.sources.columns import Columns, check_column
from pueval.sources.labels import LabelValues, missing_error, missing_labels_error
from pueval.sources.queries import duplicate_columns_error, read_query


def read_frame(
    frame: Any,
    *,
    label: str,
    score: str,
    sample_weight: str | None,
    labels: LabelValues,
    bins: Bins,
) -> BinnedSamples:
    """Read the label, score and weight columns of a data frame.

    What is in the memory of this process already is sorted here, which is faster than to group
    it. Everything else is counted where it is.
    """
    try:
        data = nw.from_native(frame, eager_only=True, pass_through=True)
    except DuplicateError as error:
        raise duplicate_columns_error(error) from None
    here = isinstance(data, nw.DataFrame) and data.implementation in {
        nw.Implementation.PANDAS,
        nw.Implementation.POLARS,
        nw.Implementation.PYARROW,
    }
    if not here:
        columns = Columns(label, (score,), sample_weight)
        return read_query(frame, columns, labels=labels, bins=bins)[()][score]
    arrays: list[Any] = []
    for name, what in ((label, "label"), (score, "score"), (sample_weight, "weight")):
        if name is None:
            arrays.append(None)
            continue
        check_column(name, data.columns, what)
        column = data[name]
        lost = column.null_count()
        if lost and what == "label" and not labels.takes_missing:
            raise missing_labels_error(lost)
        if lost and what != "label":
            raise missing_error(what, lost)
        arrays.append(column.to_numpy())
    samples = read_arrays(arrays[0], arrays[1], sample_weight=arrays[2], labels=labels)
    return bin_samples(samples, None, bins) if isinstance(bins, int) else (samples, None)
