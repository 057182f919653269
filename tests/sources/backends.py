"""Every kind of data frame, made of the same partitions."""

import functools
import importlib
import os
import shutil
import subprocess

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

# CI sets this: there, an engine that is not installed is an error, not a reason to skip.
REQUIRED = os.environ.get("PUEVAL_ALL_ENGINES") == "1"


def missing(reason):
    if REQUIRED:
        pytest.fail(reason)
    pytest.skip(reason)


def need(module):
    if REQUIRED:
        return importlib.import_module(module)
    return pytest.importorskip(module, reason=f"{module} is not installed (group engines)")


def need_java():
    java = shutil.which("java")
    if java is None and os.environ.get("JAVA_HOME"):
        java = shutil.which("java", path=os.path.join(os.environ["JAVA_HOME"], "bin"))  # noqa: PTH118
    if java is None:
        missing("Spark needs Java 17 or newer, and there is none: install it to test Spark")
    done = subprocess.run([java, "-version"], capture_output=True, text=True, check=False)
    version = done.stderr.partition('"')[2].partition(".")[0]
    if not version.isdigit() or int(version) < 17:
        missing(f"Spark needs Java 17 or newer; this is {done.stderr.splitlines()[:1]}")


def whole(parts):
    return pa.concat_tables(parts)


def make_pandas(parts):
    filled = [part.to_pandas() for part in parts if part.num_rows]
    return pd.concat(filled, ignore_index=True) if filled else whole(parts).to_pandas()


def make_pandas_pyarrow(parts):
    return whole(parts).to_pandas(types_mapper=pd.ArrowDtype)


def make_polars(parts):
    return pl.concat([pl.from_arrow(part) for part in parts], rechunk=False)


def make_polars_lazy(parts):
    return pl.concat([pl.from_arrow(part).lazy() for part in parts])


def make_duckdb(parts):
    import duckdb

    return duckdb.from_arrow(whole(parts))


def make_ibis(parts):
    ibis = need("ibis")
    return ibis.memtable(whole(parts))


def make_dask(parts, dtypes=pd.ArrowDtype):
    frames = need("dask.dataframe")
    delayed = need("dask").delayed
    pieces = [part.to_pandas(types_mapper=dtypes) for part in parts]
    return frames.from_delayed([delayed(piece) for piece in pieces], meta=pieces[0][:0])


def make_dask_numpy(parts):
    frames = need("dask.dataframe")
    delayed = need("dask").delayed
    meta = whole(parts).to_pandas()[:0]
    pieces = [part.to_pandas().astype(meta.dtypes) for part in parts]
    return frames.from_delayed([delayed(piece) for piece in pieces], meta=meta)


def make_spark(session, parts):
    frames = [session.createDataFrame(part).coalesce(1) for part in parts]
    return functools.reduce(lambda one, other: one.unionAll(other), frames)


PLAIN = {
    "pandas": make_pandas,
    "pandas-pyarrow": make_pandas_pyarrow,
    "polars": make_polars,
    "polars-lazy": make_polars_lazy,
    "pyarrow": whole,
    "duckdb": make_duckdb,
    "ibis": make_ibis,
}
EVERY = [*PLAIN, "dask", "dask-numpy", "spark"]
# In the memory of this process: they have no engine of their own.
HERE = {"pandas", "pandas-pyarrow", "polars", "pyarrow"}


def local_spark(partitions=3):
    """Yield a Spark session on two cores, and stop it; missing Spark or Java skips the test."""
    need("pyspark")
    need_java()
    from pyspark.sql import SparkSession

    session = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", str(partitions))
        .config("spark.ui.showConsoleProgress", "false")
        .getOrCreate()
    )
    yield session
    session.stop()
