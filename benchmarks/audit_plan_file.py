"""Plan an audit of a large Parquet file: time and peak memory of ``pueval audit plan``.

python -m benchmarks.audit_plan_file [rows] [folder] [--write]

DuckDB writes the rows (100 million by default, about 1 GB) to a temporary folder: 10% are positive,
3% labeled, and scores are normal. Each run of the command is a process of its own: once without
ids, so that rows are numbered, and once with a column of ids. For comparison, DuckDB's ``SELECT
label, count(*), sum(score) … GROUP BY label`` on the same file. Deletes the files at the end.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PAGE = Path(__file__).with_name("AUDIT_PLAN_FILE.md")
THRESHOLD = "1.6"
QUERY = "SELECT label, count(*), sum(score) FROM '{file}' GROUP BY label"


def generate(file, rows):
    import duckdb

    with duckdb.connect() as connection:
        connection.execute(
            f"""
            COPY (
              SELECT id, (positive AND random() < 0.3)::TINYINT AS label,
                     (z + 2 * positive::INT)::FLOAT AS score
              FROM (SELECT range AS id, random() < 0.1 AS positive,
                           sqrt(-2 * ln(1 - random())) * cos(2 * pi() * random()) AS z
                    FROM range({rows}))
            ) TO '{file}' (FORMAT parquet)
            """
        )


def measured(command):
    """Return wall and CPU seconds and peak memory in bytes of a process."""
    start = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        output = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    # 3: the data contradict an assumption.
    if process.returncode not in {0, 3}:
        sys.exit(f"{command} failed:\n{output}")
    print(output)
    memory = usage.ru_maxrss * 1024
    return time.perf_counter() - start, usage.ru_utime + usage.ru_stime, memory


def main(rows, folder, *, write):
    file = Path(folder) / "scores.parquet"
    start = time.perf_counter()
    generate(file, rows)
    print(f"written in {time.perf_counter() - start:.0f} s\n", flush=True)
    query = f"import duckdb; print(duckdb.sql({QUERY.format(file=file)!r}))"
    plan = [sys.executable, "-m", "pueval", "audit", "plan", str(file), "--label", "label"]
    plan += ["--score", "score", "--threshold", THRESHOLD, "--budget", "200", "--overwrite"]
    plan += ["--out", str(Path(folder) / "rows.csv")]
    commands = {
        "DuckDB, one query": [sys.executable, "-c", query],
        "`pueval audit plan`": plan,
        "`pueval audit plan --id id`": [*plan, "--id", "id"],
    }
    lines = []
    for name, command in commands.items():
        wall, cpu, memory = measured(command)
        lines.append(f"| {name} | {wall:.0f} | {cpu:.0f} | {memory / 1e9:.2f} GB |")
        print(lines[-1], flush=True)
    text = (
        "# Plan of a large file\n\n"
        "`python -m benchmarks.audit_plan_file --write` writes this page: 200 rows to check from a "
        f"Parquet\nfile of {rows:,} rows ({file.stat().st_size / 1e9:.1f} GB), "
        f"{os.cpu_count()} cores, load average {os.getloadavg()[0]:.1f}.\n\n"
        "| | seconds | CPU seconds | peak memory |\n|---|---:|---:|---:|\n"
    )
    if write:
        PAGE.write_text(text + "\n".join(lines) + "\n")


if __name__ == "__main__":
    arguments = [argument for argument in sys.argv[1:] if argument != "--write"]
    number = int(float(arguments[0])) if arguments else 100_000_000
    parent = arguments[1] if len(arguments) > 1 else None
    with tempfile.TemporaryDirectory(dir=parent) as temporary:
        main(number, temporary, write="--write" in sys.argv)
