"""Data transferred by a Spark query of pueval: records and bytes shuffled, and driver memory.

Usage: python benchmarks/shuffle.py [rows] [partitions] [--write]

Runs in local mode and reads shuffled records and bytes from the event log. They depend on the rows
per partition, not on the number of machines.
"""

import json
import resource
import shutil
import sys
import tempfile
from pathlib import Path

from libraries import write
from scale import generate

from pueval import Counts


def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def shuffled(log):
    """Return the records and bytes that all tasks shuffled."""
    lines = size = 0
    for file in Path(log).rglob("*"):
        if not file.is_file():
            continue
        for line in file.read_text(errors="replace").splitlines():
            if '"SparkListenerTaskEnd"' in line:
                metrics = json.loads(line).get("Task Metrics", {}).get("Shuffle Write Metrics", {})
                lines += metrics.get("Shuffle Records Written", 0)
                size += metrics.get("Shuffle Bytes Written", 0)
    return lines, size


def run(folder, rows, partitions, bins):
    from pyspark.sql import SparkSession

    log = tempfile.mkdtemp()
    session = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.memory", "4g")
        .config("spark.eventLog.enabled", "true")
        .config("spark.eventLog.compress", "false")
        .config("spark.eventLog.dir", f"file://{log}")
        .config("spark.sql.shuffle.partitions", "8")
        .config("spark.ui.showConsoleProgress", "false")
        .getOrCreate()
    )
    frame = session.read.parquet(str(folder)).coalesce(partitions)
    before = peak()
    counts = Counts.from_frame(frame, label="label", score="score", bins=bins)
    memory = peak() - before
    session.stop()
    lines, size = shuffled(log)
    shutil.rmtree(log)
    result = int((counts.labeled > 0).sum() + (counts.unlabeled > 0).sum())
    name = "exact" if bins is None else f"{bins:,} bins"
    return (
        f"| {name} | {rows:,} | {partitions} | {lines:,} | {lines / partitions:,.0f} | "
        f"{size / max(lines, 1):.1f} | {result:,} | {memory / result:,.0f} |"
    )


def main(rows, partitions, folder):
    generate(folder, rows)
    columns = (
        "",
        "rows",
        "partitions",
        "lines shuffled",
        "per partition",
        "bytes per line",
        "lines that came back",
        "driver's memory per line, bytes",
    )
    lines = [f"| {' | '.join(columns)} |", "|---|" + "---:|" * (len(columns) - 1)]
    for bins in (256, 4096, None):
        lines.append(run(folder, rows, partitions, bins))
        print(lines[-1], flush=True)
    if "--write" in sys.argv:
        write("shuffle", "\n".join(lines))


if __name__ == "__main__":
    numbers = [argument for argument in sys.argv[1:] if not argument.startswith("--")]
    place = tempfile.mkdtemp()
    try:
        main(
            int(float(numbers[0])) if numbers else 20_000_000,
            int(numbers[1]) if len(numbers) > 1 else 4,
            place,
        )
    finally:
        shutil.rmtree(place)
