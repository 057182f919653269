"""How time and memory grow with rows, labeled rows, models, groups and batches.

    python -m benchmarks.growth

Every measurement runs in a process of its own. Seconds are those of the processor, so that other
programs on the same machine matter little, and memory is the peak beyond that of the data. Writes
the table to `GROWTH.md` and fails if anything grows faster than with the power `LARGEST`.
"""

import json
import math
import os
import platform
import subprocess
import sys
import time
from pathlib import Path

RESULTS = Path(__file__).parent / "GROWTH.md"
# Largest exponent that is allowed: sorting takes n·log n.
LARGEST = 1.15
# Seconds and megabytes below these are overhead, and do not grow.
LEAST_SECONDS, LEAST_MEGABYTES = 0.05, 16.0
# Large arrays always take new pages. By default this depends on their size, and so would the fit.
ALLOCATION = {"MALLOC_MMAP_THRESHOLD_": str(2**20)}
# Rows that are scored by many models, rows per group, and rows per batch.
ROWS_OF_MODELS, ROWS_OF_GROUP, ROWS_OF_BATCH = 2_000, 100, 1_000
# Rows of the data in which the number of labeled rows grows.
ROWS_OF_LABELS = 2_000_000

ROWS = [500_000, 1_000_000, 2_000_000, 4_000_000]
LABELED = [25_000, 50_000, 100_000, 200_000]
MODELS = [125, 250, 500, 1_000]
# What grows, what is done, and the sizes.
CASES = [
    ("rows", "evaluate", ROWS),
    ("rows", "pulp_score", ROWS),
    ("rows", "ranking", ROWS),
    ("rows", "bounds", ROWS),
    ("rows", "JSON", ROWS),
    ("rows", "page", ROWS),
    ("labeled rows", "evaluate", LABELED),
    ("labeled rows", "bounds", LABELED),
    ("labeled rows", "JSON", LABELED),
    ("models", "compare and print", MODELS),
    ("models", "compare and write a page", MODELS),
    ("models", "compare and write JSON", [25, 50, 100]),
    ("groups", "evaluate_by", [1_000, 2_000, 4_000, 8_000]),
    ("batches", "counts += batch", [500, 1_000, 2_000, 4_000]),
]


# ---------------------------------------------------------------------- one measurement


def draw(n, label_frequency=0.1):
    """Draw labels and scores of rows, 30% of them positive."""
    import numpy as np

    rng = np.random.default_rng(0)
    positive = rng.random(n) < 0.3
    labeled = positive & (rng.random(n) < label_frequency)
    return labeled, rng.normal(size=n) + 1.5 * positive


def prepare(grows, action, size):
    """Return the function to measure; its data are made before."""
    import numpy as np

    import pueval
    from pueval import Counts, compare, evaluate, evaluate_by

    if grows in ("rows", "labeled rows"):
        if grows == "rows":
            y, score = draw(size)
        else:
            y, score = draw(ROWS_OF_LABELS, size / ROWS_OF_LABELS / 0.3)

        def measure():
            counts = Counts.from_arrays(y, score)
            ev = evaluate(counts, prior=0.2)
            return {
                "evaluate": lambda: dict(ev),
                "pulp_score": lambda: pueval.metrics.pulp_score(y, score),
                "ranking": ev.ranking,
                "bounds": lambda: repr(ev.bounds()),
                "JSON": lambda: json.dumps(ev.to_dict()),
                "page": lambda: ev.to_html(page()),
            }[action]()

        return measure
    if grows == "models":
        rng = np.random.default_rng(1)
        y, hint = draw(ROWS_OF_MODELS, 0.3)
        scores = {f"model {k}": hint + rng.normal(size=hint.size) for k in range(size)}

        def measure():
            comparison = compare(y, scores, prior=0.2, n_resamples=200)
            return {
                "compare and print": lambda: repr(comparison),
                "compare and write a page": lambda: comparison.to_html(page()),
                "compare and write JSON": lambda: json.dumps(comparison.to_dict()),
            }[action]()

        return measure
    if grows == "groups":
        y, score = draw(size * ROWS_OF_GROUP, 0.6)
        by = np.random.default_rng(1).integers(0, size, y.size)
        return lambda: evaluate_by(y, score, by, prior=0.2)["roc_auc"]
    y, score = draw(size * ROWS_OF_BATCH)

    def measure():
        counts = Counts.empty()
        for start in range(0, y.size, ROWS_OF_BATCH):
            batch = slice(start, start + ROWS_OF_BATCH)
            counts += Counts.from_arrays(y[batch], score[batch])
        return counts._roc_corners()

    return measure


def page():
    """Return a path for a page."""
    import tempfile

    return Path(tempfile.mkdtemp()) / "page.html"


def measure(grows, action, size):
    """Print seconds of the processor, and megabytes beyond those of the data."""
    import warnings

    warnings.simplefilter("ignore")
    # Load everything before the clock starts.
    smallest = {"rows": 2_000, "labeled rows": 2_000, "models": 22, "groups": 20, "batches": 2}
    prepare(grows, action, smallest[grows])()
    function = prepare(grows, action, size)
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts from here
    before = peak_megabytes()
    start = time.process_time()
    function()
    seconds = time.process_time() - start
    print(json.dumps({"seconds": seconds, "megabytes": peak_megabytes() - before}))


def peak_megabytes():
    """Return the peak memory of this process."""
    status = Path("/proc/self/status").read_text().split()
    return int(status[status.index("VmHWM:") + 1]) * 1024 / 1e6


# ---------------------------------------------------------------------- the table


def exponent(sizes, values, least):
    """Fit the power of the size that values grow with; values below ``least`` are overhead."""
    x = [math.log(size) for size in sizes]
    y = [math.log(max(value, least)) for value in values]
    mean_x, mean_y = sum(x) / len(x), sum(y) / len(y)
    products = sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True))
    return products / sum((a - mean_x) ** 2 for a in x)


def measure_in_processes(grows, action, sizes):
    """Measure all sizes, each in a new process."""
    results = []
    for size in sizes:
        command = [sys.executable, "-m", "benchmarks.growth", grows, action, str(size)]
        environment = os.environ | ALLOCATION
        done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
        results.append(json.loads(done.stdout))
    return results


def line(grows, action, sizes, results):
    """Return a row of the table, and its exponents."""
    seconds, megabytes = ([result[key] for result in results] for key in ("seconds", "megabytes"))
    exponents = (
        exponent(sizes, seconds, LEAST_SECONDS),
        exponent(sizes, megabytes, LEAST_MEGABYTES),
    )
    cells = [
        grows,
        action,
        " · ".join(f"{size:,}" for size in sizes),
        " · ".join(f"{value:.2f}" for value in seconds),
        f"{exponents[0]:.2f}",
        " · ".join(f"{value:,.0f}" for value in megabytes),
        f"{exponents[1]:.2f}",
    ]
    return f"| {' | '.join(cells)} |", exponents


def write_results(rows, worst):
    """Write the rows of the table, and the largest exponent."""
    header = ["grows", "measured", "sizes", "seconds", "exponent", "peak MB", "exponent"]
    table = [f"| {' | '.join(header)} |", "|---|---|---|---|---:|---|---:|", *rows]
    RESULTS.write_text(
        "# Growth of time and memory\n\n"
        "`python -m benchmarks.growth` measures each size in a process of its own and fits the "
        "power of\nthe size that time and memory grow with. Seconds are those of the processor, "
        "with both cores\nadded. Memory is the peak beyond that of the data. "
        f"{os.cpu_count()} cores, Python {platform.python_version()}.\n\n"
        + "\n".join(table)
        + f"\n\nThe largest exponent is {worst:.2f}; at most {LARGEST} is allowed. Models score "
        f"{ROWS_OF_MODELS:,} rows,\nwith 200 resamples. Groups have {ROWS_OF_GROUP} rows on "
        f"average, batches {ROWS_OF_BATCH:,}. The labeled rows grow\namong {ROWS_OF_LABELS:,} "
        f"rows. Less than {LEAST_SECONDS} seconds or {LEAST_MEGABYTES:.0f} MB counts as "
        "this much.\n",
        encoding="utf-8",
    )


def main():
    """Measure everything and write the table."""
    rows, worst = [], 0.0
    for grows, action, sizes in CASES:
        row, exponents = line(grows, action, sizes, measure_in_processes(grows, action, sizes))
        print(row, flush=True)
        rows.append(row)
        worst = max(worst, *exponents)
    write_results(rows, worst)
    return 0 if worst <= LARGEST else 1


if __name__ == "__main__":
    if len(sys.argv) == 4:
        measure(sys.argv[1], sys.argv[2], int(sys.argv[3]))
        sys.exit()
    sys.exit(main())
