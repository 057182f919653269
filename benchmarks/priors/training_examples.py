"""Training examples of the networks: features of simulated samples and estimates of the members.

    python -m benchmarks.priors.training_examples --number 100000 --processes 16

writes to the folder PUEVAL_CACHE, for clean labels ("pure") and for unknown purity ("both"),

- ``plain_*.npz``: features of samples of plain populations with few rows, for `RocNetwork`;
- ``examples_*.npz``: features, and estimates of the members, of samples of all populations with up
  to a million rows, for `Consensus`. Samples whose labeled rows do not score higher than the
  unlabeled ones are left out, because the prior is not identified there.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial
from multiprocessing import Pool
from pathlib import Path

import numpy as np

from benchmarks.priors.score_sets import cache_folder
from benchmarks.priors.training_mixtures import draw_sample
from pueval import Counts
from pueval.core.curves import auc_z_score, naive_auc
from pueval.priors import BestBin, Dedpul, Tilt
from pueval.priors._labeled_unlabeled_counts import LabeledUnlabeledCounts
from pueval.priors._roc_features import roc_features

# Members of the consensus besides `RocNetwork`, in the order of the columns.
MEMBERS = {"pure": ("tilt", "dedpul", "best_bin"), "both": ("tilt",)}
PER_CHUNK = 50
SMALLEST_Z_SCORE = 1.645
# Samples with fewer distinct scores are left out.
FEWEST_SCORES = 3


def example(counts: Counts, task: str) -> dict[str, np.ndarray]:
    """Return the features of a sample, the members' estimates and the half-widths of `Tilt`."""
    pure = task == "pure"
    tilt = Tilt(purity=1.0 if pure else "estimate").fit_without_warning(counts)
    found = {
        "features": roc_features(*LabeledUnlabeledCounts.from_counts(counts).effective_counts())
    }
    if pure:
        others = [Dedpul().fit_without_warning(counts), BestBin().fit_without_warning(counts)]
        estimates = [tilt.prior_, *(one.prior_ for one in others)]
        members, intervals = [estimates], [(tilt.prior_, tilt.prior_interval_)]
    else:
        members = [[tilt.prior_], [tilt.purity_]]
        intervals = [(tilt.prior_, tilt.prior_interval_), (tilt.purity_, tilt.purity_interval_)]
    found["members"] = np.array(members)
    found["widths"] = np.array([[value - low, high - value] for value, (low, high) in intervals])
    return found


def draw_plain(task: str, seed: int, chunk: int) -> list[dict[str, np.ndarray]]:
    """Return examples for `RocNetwork`."""
    rng = np.random.default_rng((seed, task == "pure", chunk))
    found = []
    for _ in range(PER_CHUNK):
        labeled, unlabeled, *truth = draw_sample(rng, pure=task == "pure", plain=True)
        if labeled.size >= FEWEST_SCORES:
            features = roc_features(labeled.astype(float), unlabeled.astype(float))
            found.append({"features": features, "truth": truth_of(task, *truth)})
    return found


def draw_all(task: str, seed: int, chunk: int) -> list[dict[str, np.ndarray]]:
    """Return examples for `Consensus`."""
    rng = np.random.default_rng((seed, task == "pure", chunk))
    found = []
    for _ in range(PER_CHUNK):
        labeled, unlabeled, *truth = draw_sample(rng, pure=task == "pure")
        if labeled.size < FEWEST_SCORES:
            continue
        counts = Counts.from_table(np.arange(labeled.size, 0, -1.0), labeled, unlabeled)
        if auc_z_score(counts, naive_auc(counts, counts._roc_corners())) >= SMALLEST_Z_SCORE:
            found.append(example(counts, task) | {"truth": truth_of(task, *truth)})
    return found


def truth_of(task: str, prior: float, purity: float) -> np.ndarray:
    return np.array([prior] if task == "pure" else [prior, purity])


def draw_examples(
    draw_chunk: Callable[[int], list[dict[str, np.ndarray]]],
    path: Path,
    *,
    number: int,
    processes: int,
    seconds: float,
) -> None:
    """Write about a number of examples, fewer if the time is over before."""
    found: list[dict[str, np.ndarray]] = []
    begin = time.perf_counter()
    with Pool(processes) as pool:
        for part in pool.imap_unordered(draw_chunk, range(-(-number // PER_CHUNK))):
            found += part
            passed = time.perf_counter() - begin
            print(f"\r{path.stem}: {len(found)} examples, {passed:.0f} s", end="", flush=True)
            if passed > seconds:
                break
        pool.terminate()
    print()
    path.parent.mkdir(parents=True, exist_ok=True)
    columns = {name: np.array([one[name] for one in found], dtype=np.float32) for name in found[0]}
    finite = [
        np.isfinite(column.reshape(len(found), -1)).all(axis=1) for column in columns.values()
    ]
    kept = np.all(finite, axis=0)
    np.savez(path, **{name: column[kept] for name, column in columns.items()})


def plain_path(task: str) -> Path:
    return cache_folder() / f"plain_{task}.npz"


def examples_path(task: str) -> Path:
    return cache_folder() / f"examples_{task}.npz"


def main() -> None:
    parser = argparse.ArgumentParser(description="Draw the training examples of the networks.")
    parser.add_argument("--number", type=int, default=150_000, help="samples of each kind and task")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=np.inf, help="time for each kind and task")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tasks", nargs="+", choices=MEMBERS, default=list(MEMBERS))
    arguments = vars(parser.parse_args())
    seed = arguments.pop("seed")
    for task in arguments.pop("tasks"):
        draw_examples(partial(draw_plain, task, seed), plain_path(task), **arguments)
        draw_examples(partial(draw_all, task, seed), examples_path(task), **arguments)


if __name__ == "__main__":
    main()
