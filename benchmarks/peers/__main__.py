"""Comparison with other libraries on rows with known truth: features, errors, coverage and speed.

Usage: python -m benchmarks.peers [features] [accuracy] [checks] [speed] [--envs FOLDER]
       [--semisup FOLDER] [--replications 100] [--write]

Libraries are installed from PyPI into separate environments below FOLDER. semisup-metrics is not on
PyPI; use --semisup for the folder of its semisup_metrics.py. --write puts the tables between the
markers in docs/compare.md.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
from pathlib import Path

import numpy as np

from benchmarks.peers.features import FEATURES
from benchmarks.peers.scenarios import MEASURES, SCENARIOS
from benchmarks.peers.worker import PATIENCE, ROWS

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "compare.md"
PUEVAL = ["narwhals>=2.0", "numpy>=2.0", "scikit-learn>=1.6", "scipy>=1.13"]
ENVIRONMENTS = {
    "common": [
        "pulearn==0.2.0", "pu-toolbox==1.11.0", "confidenceinterval==1.0.5", "optunity==1.1.1",
        "truescore==0.7.4", "ppi-python==0.2.3",
    ],
    # It imports statsmodels without requiring it, and fails with pandas 3.
    "nannyml": ["nannyml==0.13.1", "pandas<3", "statsmodels"],
}  # fmt: skip
LIBRARIES = {
    "pueval": "common", "scikit-learn": "common", "pulearn": "common", "pu-toolbox": "common",
    "confidenceinterval": "common", "nannyml": "nannyml", "semisup-metrics": "common",
    "truescore": "common", "ppi-python": "common",
}  # fmt: skip
# Line of the table, adapter, library, what it is compared with for speed.
LINES = (
    ("pueval", "pueval", "pueval", None),
    ("pueval, prior only", "pueval_prior", "pueval", None),
    ("pueval, Claesen's bounds", "pueval_bounds", "pueval", None),
    ("pulearn, `pi` = prior", "pulearn", "pulearn", "pueval_values"),
    ("pulearn, `pi` = prevalence", "pulearn_prevalence", "pulearn", None),
    ("pu-toolbox, `class_prior` = prior", "pu_toolbox", "pu-toolbox", "pueval_values"),
    ("pu-toolbox, `class_prior` = prevalence", "pu_toolbox_prevalence", "pu-toolbox", None),
    ("scikit-learn", "scikit_learn", "scikit-learn", "pueval_values"),
    ("confidenceinterval", "confidenceinterval", "confidenceinterval", "pueval"),
    ("semisup-metrics", "semisup_metrics", "semisup-metrics", "pueval_bounds"),
    ("nannyml (CBPE)", "nannyml", "nannyml", "pueval"),
    ("nannyml (CBPE), true classes of a reference", "nannyml_truth", "nannyml", None),
)
# What pueval got in a scenario. Where the prior is all that is to be known, it has one line.
PUEVAL_LINES = {
    "15 % of the labels wrong": {
        "pueval": "pueval, true purity given",
        "pueval, prior only": "pueval, labels taken as clean",
    },
    "high scores labeled more often": {
        "pueval": "pueval, true propensities given",
        "pueval, prior only": "pueval, labels taken as random",
    },
}
SLOW = {"semisup_metrics": 10}  # replications, at most
SHORT = {
    "roc_auc": "AUC", "average_precision": "AUC-PR", "precision": "precision", "recall": "recall",
    "f1": "F1", "accuracy": "accuracy",
}  # fmt: skip


def environment(folder, name):
    """Return the Python of an environment; create the environment if it does not exist."""
    python = folder / name / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", folder / name], check=True)
        install = [python, "-m", "pip", "install", "--quiet", *PUEVAL, *ENVIRONMENTS[name]]
        subprocess.run(install, check=True)
    return python


class Bench:
    def __init__(self, folder, semisup):
        self.pythons = {name: environment(folder, name) for name in ENVIRONMENTS}
        paths = [ROOT / "src", ROOT, *([semisup] if semisup else [])]
        self.variables = os.environ | {
            "PYTHONPATH": os.pathsep.join(map(str, paths)), "OMP_NUM_THREADS": "1",
            "NML_DISABLE_USAGE_LOGGING": "1",
        }  # fmt: skip

    def ask(self, library, *arguments):
        """Run the worker in the environment of a library."""
        command = [self.pythons[LIBRARIES[library]], "-m", "benchmarks.peers.worker", *arguments]
        done = subprocess.run(
            list(map(str, command)), cwd=ROOT, env=self.variables, capture_output=True, text=True,
            check=False,
        )  # fmt: skip
        if done.returncode:
            sys.exit(f"{' '.join(map(str, arguments))} failed:\n{done.stderr}")
        print(*arguments, file=sys.stderr, flush=True)
        return json.loads(done.stdout.splitlines()[-1])


def number(value):
    return "–" if value is None else f"{value:.3f}".replace("0.", ".", 1)


def table(head, rows, cells="---:|"):
    yield "| " + " | ".join(head) + " |"
    yield "|---|" + cells * (len(head) - 1)
    for row in rows:
        yield "| " + " | ".join(row) + " |"


def of_scenario(scenario, found):
    """Return the title of each line of a scenario, and its numbers."""
    titles = PUEVAL_LINES.get(scenario, {"pueval": "pueval", "pueval, prior only": None})
    for title, one in found.items():
        if shown := titles.get(title, title):
            yield shown, one[scenario]


def accuracy(bench, lines, replications):
    found = {
        title: bench.ask(library, "accuracy", name, min(replications, SLOW.get(name, replications)))
        for title, name, library, _ in lines
    }
    packages = ["numpy", "scikit-learn", "pulearn", "pu-toolbox", "confidenceinterval"]
    versions = bench.ask("pulearn", "versions", *packages) | bench.ask(
        "nannyml", "versions", "nannyml"
    )
    about = ", ".join(f"{name} {version}" for name, version in versions.items())
    fewer = min(replications, SLOW["semisup_metrics"])
    yield (
        f"{ROWS:,} rows, {replications} replications ({fewer} of semisup-metrics); "
        f"Python {platform.python_version()}, {about}."
    )
    for scenario in SCENARIOS:
        yield f"\n**{scenario[0].upper()}{scenario[1:]}**: mean absolute error\n"
        rows = [
            [title, *(number(one.get(m, {}).get("error")) for m in MEASURES)]
            for title, one in of_scenario(scenario, found)
        ]
        yield from table(["", *SHORT.values()], rows)
    yield "\nCoverage of the intervals\n"
    for scenario in SCENARIOS:
        rows = [
            [title, *(number(one.get(m, {}).get("coverage")) for m in MEASURES)]
            for title, one in of_scenario(scenario, found)
            if any(cell["coverage"] is not None for cell in one.values())
        ]
        yield ""
        yield from table([scenario, *SHORT.values()], rows)


def checks(bench, replications):
    found = bench.ask("pulearn", "checks", "common", replications)
    found |= bench.ask("nannyml", "checks", "nannyml", replications)
    yield f"{ROWS:,} rows, {replications} draws."
    for title, scenarios in found.items():
        yield ""
        functions = next(iter(scenarios.values()))
        rows = [
            [
                function,
                *(
                    ", ".join(map(number, np.atleast_1d(one[function])))
                    for one in scenarios.values()
                ),
            ]
            for function in functions
        ]
        yield from table([title, *scenarios], rows)


def speed(bench, lines):
    kinds = {
        "pueval_values": "without intervals",
        "pueval": "with intervals",
        "pueval_bounds": "Claesen's bounds",
    }  # fmt: skip
    sizes = (1_000, 10_000, 100_000, 1_000_000)
    rows = []
    for title, name, library, baseline in lines:
        if baseline is None:
            continue
        found = bench.ask(library, "speed", name, baseline, *sizes)
        cells = [
            "–" if found[str(n)] is None
            else f"{found[str(n)]['ratio']:,.2g}×"
            if found[str(n)]["ratio"] < 100
            else f"{found[str(n)]['ratio']:,.0f}×"
            for n in sizes
        ]  # fmt: skip
        last = [found[str(n)]["seconds"] for n in sizes if found[str(n)]][-1]
        rows.append(
            [
                title.split(",")[0],
                kinds[baseline],
                *cells,
                f"{last:,.0f} s" if last >= 10 else f"{last:.2g} s",
            ]
        )
    head = ["", "pueval did", *(f"{n:,} rows" for n in sizes), "its longest run"]
    yield from table(head, rows)
    yield f"\nA dash: it would have taken more than {PATIENCE / 60:.0f} minutes."


def features(bench, libraries):
    """Make the table; libraries that are not installed keep their column, unchecked."""
    for library in LIBRARIES:
        if library not in libraries:
            print(f"{library} is not here: its names were not checked", file=sys.stderr)
            continue
        wanted = [
            name
            for offers in FEATURES.values()
            for name in word_and_names(offers.get(library, ("–", [])))[1]
        ]
        missing = [
            name for name, there in bench.ask(library, "names", *wanted).items() if not there
        ]
        if missing:
            sys.exit(f"{library} has no {missing}")
    yield from feature_table()


def word_and_names(offer):
    return ("yes", offer) if isinstance(offer, list) else offer


def feature_table():
    rows = [
        [feature, *(word_and_names(offers.get(library, ("–", [])))[0] for library in LIBRARIES)]
        for feature, offers in FEATURES.items()
    ]
    yield from table(["", *LIBRARIES], rows, "---|")


def put(text, mark, lines):
    start, end = f"<!-- {mark} -->", f"<!-- end of {mark} -->"
    before, rest = text.split(start)
    return before + "\n".join([start, *lines, end]) + rest.split(end)[1]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", default=["features", "accuracy", "checks", "speed"])
    parser.add_argument("--envs", type=Path, default=Path.home() / ".cache" / "pueval-peers")
    parser.add_argument("--semisup", type=Path)
    parser.add_argument("--replications", type=int, default=100)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    bench = Bench(given.envs.resolve(), given.semisup)
    libraries = [name for name in LIBRARIES if name != "semisup-metrics" or given.semisup]
    lines = [line for line in LINES if line[2] in libraries]
    making = {
        "features": lambda: features(bench, libraries),
        "accuracy": lambda: accuracy(bench, lines, given.replications),
        "checks": lambda: checks(bench, given.replications),
        "speed": lambda: speed(bench, lines),
    }
    parts = {name: list(making[name]()) for name in given.parts}
    for name, part in parts.items():
        print(f"\n## {name}\n", *part, sep="\n")
    if given.write:
        text = PAGE.read_text()
        for name, part in parts.items():
            text = put(text, name, part)
        PAGE.write_text(text)


if __name__ == "__main__":
    main()
