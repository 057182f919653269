"""Speed and peak memory for a Parquet folder larger than memory, relative to DuckDB.

Usage: python benchmarks/scale.py [rows] [folder] [--write]

Writes the rows (300 million by default, about 2.4 GB) to a temporary folder, evaluates them with
``pueval``, and runs DuckDB's ``SELECT label, count(*), sum(score) … GROUP BY label`` on the same
files with the same number of threads. Both run alternately in separate processes. Deletes the
files at the end.
"""

import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

RUNS = 5
PER_FILE = 5_000_000


def generate(folder, rows):
    """Draw probabilities of a model that separates well; 2% of the rows are labeled."""
    import duckdb

    connection = duckdb.connect(config={"threads": os.cpu_count()})
    for k in range(-(-rows // PER_FILE)):
        n = min(PER_FILE, rows - k * PER_FILE)
        connection.execute(
            f"""
            COPY (
              SELECT labeled::TINYINT AS label,
                     1 / (1 + exp(2 - 2 * labeled::INT - 1.5 * z)) AS score
              FROM (SELECT random() < 0.02 AS labeled,
                    sqrt(-2 * ln(1 - random())) * cos(2 * pi() * random()) AS z FROM range({n}))
            ) TO '{folder}/{k:04}.parquet' (FORMAT parquet)
            """
        )


def measured(function):
    wall, cpu = time.perf_counter(), time.process_time()
    result = function()
    return {
        "wall": time.perf_counter() - wall,
        "cpu": time.process_time() - cpu,
        "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
        **result,
    }


def run_duckdb(folder):
    import duckdb

    def query():
        connection = duckdb.connect(config={"threads": os.cpu_count()})
        found = connection.execute(
            f"SELECT label, count(*), sum(score) FROM '{folder}/*.parquet' GROUP BY label"
        ).fetchall()
        return {"rows": sum(line[1] for line in found)}

    return measured(query)


def run_pueval(folder):
    import duckdb  # noqa: F401 - loaded before the clock starts, as for the other
    import pyarrow as pa  # noqa: F401

    from pueval import Counts, evaluate

    def whole():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            counts = Counts.from_file(folder, label="label", score="score")
        ev = evaluate(counts, prior=0.05, level=None)
        return {
            "rows": counts.n,
            "auc": ev["roc_auc"].value,
            "auc_error": 0.0 if ev.resolution is None else ev.resolution.roc_auc,
            "scores": 0 if counts.bins is None else counts.score.size,
        }

    return measured(whole)


def in_a_process(what, folder):
    done = subprocess.run(
        [sys.executable, __file__, what, str(folder)], check=True, capture_output=True, text=True
    )
    return json.loads(done.stdout)


def main(rows, folder):
    start = time.perf_counter()
    generate(folder, rows)
    size = sum(file.stat().st_size for file in Path(folder).iterdir())
    print(f"{rows:,} rows, {size / 1e9:.1f} GB written in {time.perf_counter() - start:.0f} s\n")
    best = {}
    for _ in range(RUNS):
        for what in ("duckdb", "pueval"):
            one = in_a_process(what, folder)
            print(
                f"{what:8} {one['wall']:7.2f} s, {one['cpu']:7.2f} s of processor, "
                f"peak memory {one['memory'] / 1e9:.2f} GB",
                flush=True,
            )
            for key in ("wall", "cpu"):
                best[what, key] = min(one[key], best.get((what, key), one[key]))
            best[what, "memory"] = max(one["memory"], best.get((what, "memory"), 0))
            if what == "pueval":
                last = one
    text = (
        f"{rows:,} rows, {size / 1e9:.1f} GB; {os.cpu_count()} cores, load average "
        f"{os.getloadavg()[0]:.1f}. Best of {RUNS} alternating runs:\n\n"
        "| | seconds | CPU seconds | peak memory |\n|---|---:|---:|---:|\n"
    )
    for what, name in (
        ("duckdb", "DuckDB's aggregation"),
        ("pueval", "pueval, evaluation included"),
    ):
        text += (
            f"| {name} | {best[what, 'wall']:.2f} | {best[what, 'cpu']:.2f} | "
            f"{best[what, 'memory'] / 1e9:.2f} GB |\n"
        )
    text += (
        f"\nSpeed of pueval / DuckDB's aggregation: "
        f"{best['duckdb', 'wall'] / best['pueval', 'wall']:.2f} by wall-clock time (goal ≥ 0.5), "
        f"{best['duckdb', 'cpu'] / best['pueval', 'cpu']:.2f} by CPU time. Memory: goal "
        f"< 2 GB. AUC {last['auc']:.6f}, known within ±{last['auc_error']:.1g} from "
        f"{last['scores']:,} bins."
    )
    print(f"\n{text}")
    if "--write" in sys.argv:
        # Imported late: a new process inherits the peak memory of its parent.
        from libraries import write

        write("scale", text)


if __name__ == "__main__":
    if len(sys.argv) > 1 and sys.argv[1] in {"duckdb", "pueval"}:
        run = {"duckdb": run_duckdb, "pueval": run_pueval}[sys.argv[1]]
        print(json.dumps(run(sys.argv[2])))
        sys.exit()
    given = [argument for argument in sys.argv[1:] if not argument.startswith("--")]
    n = int(float(given[0])) if given else 300_000_000
    place = tempfile.mkdtemp(dir=given[1] if len(given) > 1 else None)
    try:
        main(n, place)
    finally:
        shutil.rmtree(place)
