"""Worker that runs in the environment of a library and prints errors, coverage or time as JSON.

Usage: python -m benchmarks.peers.worker accuracy ADAPTER REPLICATIONS
       python -m benchmarks.peers.worker speed ADAPTER BASELINE ROWS …
       python -m benchmarks.peers.worker checks ENVIRONMENT REPLICATIONS
       python -m benchmarks.peers.worker names MODULE:NAME …
"""

import importlib
import importlib.metadata
import json
import sys
import time
from functools import partial
from operator import attrgetter

import numpy as np

from benchmarks.peers import adapters
from benchmarks.peers.checks import CHECKS
from benchmarks.peers.scenarios import SCENARIOS, single

ROWS = 5000
PATIENCE = 240.0  # seconds of processor; a size that would take longer is left out


def accuracy(name, replications):
    """Return mean absolute error, bias and coverage, by scenario and measure."""
    found = {}
    for scenario, draw in SCENARIOS.items():
        errors, held = {}, {}
        for seed in range(int(replications)):
            rows = draw(np.random.default_rng(seed), ROWS)
            for measure, given in adapters.quiet(getattr(adapters, name), rows).items():
                truth = rows.truth[measure]
                value, *limits = np.atleast_1d(given)
                errors.setdefault(measure, []).append(value - truth)
                if limits:
                    held.setdefault(measure, []).append(limits[0] <= truth <= limits[1])
        found[scenario] = {
            measure: {
                "error": float(np.mean(np.abs(error))),
                "bias": float(np.mean(error)),
                "coverage": float(np.mean(held[measure])) if measure in held else None,
            }
            for measure, error in errors.items()
        }
    return found


def checks(environment, replications):
    """Return means over draws, by check, scenario and function."""
    found = {}
    for name, (check, scenarios) in CHECKS[environment].items():
        for scenario in scenarios:
            draws = []
            for seed in range(int(replications)):
                rng = np.random.default_rng(seed)
                rows = SCENARIOS[scenario](rng, ROWS)
                draws.append(adapters.quiet(partial(check, rng=rng), rows))
            found.setdefault(name, {})[scenario] = {
                function: np.mean([draw[function] for draw in draws], axis=0).tolist()
                for function in draws[0]
            }
    return found


def timed(name, rows):
    """Return CPU seconds, which do not depend on other running programs."""
    start = time.process_time()
    adapters.quiet(getattr(adapters, name), rows)
    return time.process_time() - start


def speed(name, baseline, *sizes):
    """Return the time of the library relative to pueval, best of at most three runs each."""
    found = {}
    warm = single(np.random.default_rng(0), 1000)
    timed(name, warm)
    timed(baseline, warm)
    last = None  # rows and seconds of the size before
    for n in map(int, sizes):
        if last and last[1] * n / last[0] > PATIENCE:
            found[n] = None
            continue
        rows = single(np.random.default_rng(1), n)
        theirs, ours = [], []
        for _ in range(3):
            theirs.append(timed(name, rows))
            ours.append(timed(baseline, rows))
            if theirs[-1] > 20:
                break
        last = (n, min(theirs))
        found[n] = {"seconds": min(theirs), "ratio": min(theirs) / min(ours)}
    return found


def names(*wanted):
    """Return which names of the feature table exist: MODULE:NAME or MODULE:CLASS.METHOD."""
    found = {}
    for one in wanted:
        module, _, path = one.partition(":")
        try:
            attrgetter(path)(importlib.import_module(module))
        except (ImportError, AttributeError):
            found[one] = False
        else:
            found[one] = True
    return found


def versions(*packages):
    return {name: importlib.metadata.version(name) for name in packages}


TASKS = {
    "accuracy": accuracy, "checks": checks, "speed": speed, "names": names, "versions": versions,
}  # fmt: skip

if __name__ == "__main__":
    print(json.dumps(TASKS[sys.argv[1]](*sys.argv[2:])))
