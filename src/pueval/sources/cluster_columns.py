"""A column of clusters in the query of an engine.

Few clusters are grouped by their names. Many are merged into as many groups as intervals need, by a
hash that every engine has in a form of its own; names are not collected.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import narwhals.stable.v2 as nw

from pueval.errors import InputError
from pueval.sources.cluster_lines import MOST_GROUPS, ClusterNumbers
from pueval.sources.labels import missing_error

# These hold their rows in this process, where merging needs no query.
IN_PROCESS = {nw.Implementation.PANDAS, nw.Implementation.PYARROW}


def count_clusters(table: nw.LazyFrame[Any], dtype: Any, name: str) -> ClusterNumbers:
    """Count the clusters in the column ``cluster`` of a `row_table`; refuse missing ones."""
    column = nw.col("cluster")
    missing: Any = nw.lit(0)
    if dtype.is_float():
        # See `expressions`: is_nan is not the same on every engine.
        missing = nw.when(column - column == 0).then(nw.lit(0)).otherwise(nw.lit(1))
    missing = nw.when(column.is_null()).then(nw.lit(1)).otherwise(missing)
    labeled = nw.when(nw.col("code") < 16).then(nw.lit(1)).otherwise(nw.lit(0))
    rows = table.select("cluster", missing=missing, labeled=labeled)
    clusters = rows.group_by("cluster").agg(
        n=nw.len(), missing=nw.col("missing").sum(), labeled=nw.col("labeled").max()
    )
    numbers = clusters.select(
        n_clusters=nw.len(),
        n=nw.col("n").sum(),
        missing=nw.col("missing").sum(),
        labeled=nw.col("labeled").sum(),
    ).collect()
    found = {key: int(numbers[key].to_list()[0] or 0) for key in numbers.columns}
    if found["missing"]:
        raise missing_error(f"cluster (column {name!r})", found["missing"])
    return ClusterNumbers(found["n_clusters"], found["labeled"], found["n_clusters"] == found["n"])


def hash_clusters(table: nw.LazyFrame[Any]) -> nw.LazyFrame[Any]:
    """Replace names in the column ``cluster`` by numbers of groups, from a hash of the name."""
    if table.implementation in IN_PROCESS:
        return table
    merge = MERGING.get(table.implementation)
    if merge is None:
        raise InputError(
            f"there are more than {MOST_GROUPS:,} clusters, and merging them is not supported on "
            f"{table.implementation.name.title()}. Add a column that assigns each cluster at "
            f"random to one of {MOST_GROUPS:,} groups, and pass it as cluster."
        )
    merged: nw.LazyFrame[Any] = nw.from_native(merge(table.to_native()))
    return merged


def _merge_in_polars(frame: Any) -> Any:
    import polars as pl

    group = pl.col("cluster").cast(pl.String).hash(seed=0) % MOST_GROUPS
    return frame.with_columns(cluster=group.cast(pl.Int64))


def _merge_in_duckdb(relation: Any) -> Any:
    group = f"CAST(hash(cluster) % {MOST_GROUPS} AS BIGINT)"
    return relation.select(f"* REPLACE ({group} AS cluster)")


def _merge_in_ibis(table: Any) -> Any:
    # A hash may be negative, and so may be the remainder.
    group = (table["cluster"].hash() % MOST_GROUPS + MOST_GROUPS) % MOST_GROUPS
    return table.mutate(cluster=group.cast("int64"))


def _merge_in_spark(frame: Any) -> Any:
    from pyspark.sql import functions

    group = functions.pmod(functions.xxhash64("cluster"), functions.lit(MOST_GROUPS))
    return frame.withColumn("cluster", group.cast("long"))


def _merge_in_dask(frame: Any) -> Any:
    group = frame["cluster"].map_partitions(_hash_partition, meta=("cluster", "int64"))
    return frame.assign(cluster=group)


def _hash_partition(names: Any) -> Any:
    """Return the groups of the clusters in a partition, on a worker."""
    from pandas.util import hash_pandas_object

    return (hash_pandas_object(names.astype(object), index=False) % MOST_GROUPS).astype("int64")


MERGING: dict[nw.Implementation, Callable[[Any], Any]] = {
    nw.Implementation.POLARS: _merge_in_polars,
    nw.Implementation.DUCKDB: _merge_in_duckdb,
    nw.Implementation.IBIS: _merge_in_ibis,
    nw.Implementation.PYSPARK: _merge_in_spark,
    nw.Implementation.PYSPARK_CONNECT: _merge_in_spark,
    nw.Implementation.DASK: _merge_in_dask,
}
