"""Time and transferred data per engine for Counts of the same Parquet files, exact and binned.

Usage: python benchmarks/engines.py [rows] [--write]

Each engine reads the same folder (10 million rows by default). Results are rows per second, and
multiples of DuckDB's ``SELECT label, count(*), sum(score) … GROUP BY label``. Engines that are not
installed are skipped; Spark needs Java.
"""

import importlib.metadata
import os
import shutil
import sys
import tempfile
import time
import warnings
from pathlib import Path

from libraries import write
from scale import generate

from pueval import Counts

RUNS = 3


def frames(folder):
    """Return, by engine, a function that opens the folder as a frame."""
    import duckdb

    found = {"DuckDB": lambda: duckdb.read_parquet(f"{folder}/*.parquet")}
    try:
        import polars as pl

        found["Polars, lazy"] = lambda: pl.scan_parquet(f"{folder}/*.parquet")
    except ImportError:
        pass
    try:
        import ibis

        found["Ibis on DuckDB"] = lambda: ibis.read_parquet(f"{folder}/*.parquet")
    except ImportError:
        pass
    try:
        import dask.dataframe as dd

        found["Dask, threads"] = lambda: dd.read_parquet(folder)
    except ImportError:
        pass
    try:
        from pyspark.sql import SparkSession

        if shutil.which("java"):
            session = (
                SparkSession.builder.master(f"local[{os.cpu_count()}]")
                .config("spark.ui.enabled", "false")
                .config("spark.driver.memory", "4g")
                .config("spark.sql.shuffle.partitions", "8")
                .config("spark.ui.showConsoleProgress", "false")
                .getOrCreate()
            )
            session.sparkContext.setLogLevel("ERROR")
            found["Spark, local"] = lambda: session.read.parquet(str(folder))
    except ImportError:
        pass
    return found


def best(function, runs=RUNS):
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        result = function()
        times.append(time.perf_counter() - start)
    return min(times), result


def main(rows, folder):
    import duckdb

    generate(folder, rows)
    query = f"SELECT label, count(*), sum(score) FROM '{folder}/*.parquet' GROUP BY label"
    base, _ = best(lambda: duckdb.sql(query).fetchall())
    versions = ", ".join(
        f"{name} {importlib.metadata.version(name)}"
        for name in ("narwhals", "duckdb", "polars", "ibis-framework", "dask", "pyspark")
    )
    header = (
        f"{rows:,} rows with as many distinct scores; {os.cpu_count()} cores, {versions}; load "
        f"average {os.getloadavg()[0]:.1f}. DuckDB's aggregation took {base:.2f} s.\n"
    )
    columns = (
        "counted by",
        "4,096 bins: million rows/s",
        "× DuckDB's aggregation",
        "lines returned",
        "exact: million rows/s",
    )
    lines = [header, f"| {' | '.join(columns)} |", "|---|---:|---:|---:|---:|"]
    ways = {
        "files, streamed (`from_file`)": lambda bins: Counts.from_file(
            folder, label="label", score="score", bins=bins
        )
    }
    for name, open_frame in frames(folder).items():
        ways[f"{name} (`from_frame`)"] = lambda bins, open_frame=open_frame: Counts.from_frame(
            open_frame(), label="label", score="score", bins=bins
        )
    for name, count in ways.items():
        binned, counts = best(lambda count=count: count(4096))
        exact, _ = best(lambda count=count: count(None), runs=1)
        came = int((counts.labeled > 0).sum() + (counts.unlabeled > 0).sum())
        lines.append(
            f"| {name} | {rows / binned / 1e6:.1f} | {binned / base:.1f} | {came:,} "
            f"| {rows / exact / 1e6:.2f} |"
        )
        print(lines[-1], flush=True)
    print("\n" + "\n".join(lines))
    if "--write" in sys.argv:
        write("engines", "\n".join(lines))


if __name__ == "__main__":
    numbers = [argument for argument in sys.argv[1:] if not argument.startswith("--")]
    place = Path(tempfile.mkdtemp())
    warnings.simplefilter("ignore")
    try:
        main(int(float(numbers[0])) if numbers else 10_000_000, place)
    finally:
        shutil.rmtree(place)
