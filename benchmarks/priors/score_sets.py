"""Score sets with known prior and purity, kept in a cache folder.

    python -m benchmarks.priors.score_sets

makes ``simulated_sets.npz``, ``real_sets.npz`` and ``pu_trained_sets.npz`` in the folder
PUEVAL_CACHE (default ``~/.cache/pueval``). Real data (see ``real_sets.py``) are read from the
folder PUEVAL_DATA.

A file holds the concatenated rows of all sets: ``score`` (float64), ``label`` (int8: 1 labeled, 0
unlabeled), ``truth`` (int8: class), and ``start`` (int64, one more than the number of sets): set i
has rows ``start[i]:start[i + 1]``. Per set: ``data``, ``classifier`` (strings), ``prior``,
``purity`` (actual values in the sample), ``wanted_prior``, ``wanted_purity``, ``wanted_n1``
(design values), and ``auc``, the AUC of positives against negatives.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np

PRIORS = (0.05, 0.1, 0.25, 0.5, 0.75)
PURITIES = (1.0, 0.95, 0.75)
N_LABELED = (50, 100, 200, 500, 1000)
N_UNLABELED = (500, 1000, 2000, 4500)


@dataclass(frozen=True, eq=False)
class ScoreSet:
    """Scores of labeled and unlabeled rows, with true classes."""

    score: np.ndarray
    label: np.ndarray
    truth: np.ndarray
    data: str
    classifier: str
    prior: float
    purity: float
    wanted_prior: float
    wanted_purity: float
    wanted_n1: int
    auc: float

    @property
    def n_labeled(self) -> int:
        return int(self.label.sum())

    @property
    def n_unlabeled(self) -> int:
        return self.label.size - self.n_labeled


ROWS = ("score", "label", "truth")
TRUTHS = [field.name for field in fields(ScoreSet) if field.name not in ROWS]


def cache_folder() -> Path:
    given = os.environ.get("PUEVAL_CACHE")
    return Path(given) if given else Path.home() / ".cache" / "pueval"


def data_folder() -> Path:
    given = os.environ.get("PUEVAL_DATA")
    if not given:
        sys.exit("Set PUEVAL_DATA to the folder with the benchmark data (Parquet files).")
    return Path(given)


def draw(
    rng: np.random.Generator, truth: np.ndarray, *, prior: float, purity: float, n1: int, n: int
) -> tuple[np.ndarray, np.ndarray]:
    """Sample rows without replacement; return their indices and whether each is labeled.

    n1 and n are reduced if there are not enough positives or negatives.
    """
    positive, negative = (rng.permutation(np.flatnonzero(truth == kind)) for kind in (1, 0))
    n1 = min(n1, int(0.4 * positive.size / purity))
    labeled_positive = round(n1 * purity)
    labeled_negative = n1 - labeled_positive
    n = min(
        n,
        int((positive.size - labeled_positive) / prior),
        int((negative.size - labeled_negative) / (1 - prior)),
    )
    hidden = round(n * prior)
    rows = np.concatenate(
        [
            positive[:labeled_positive],
            negative[:labeled_negative],
            positive[labeled_positive : labeled_positive + hidden],
            negative[labeled_negative : labeled_negative + n - hidden],
        ]
    )
    return rows, np.arange(rows.size) < n1


def design(seed: tuple[int, ...], per_purity: tuple[int, ...] = (5, 4, 4)) -> Iterator[dict]:
    """Return combinations of prior, purity, n1 and n that cover the grid evenly.

    For each purity, priors and values of n1 are paired at random, each used once (up to one left
    over). Priors at or above the purity are skipped.
    """
    rng = np.random.default_rng(seed)
    for purity, number in zip(PURITIES, per_purity, strict=True):
        priors = rng.permutation([prior for prior in PRIORS if prior < purity])
        labeled = rng.permutation(N_LABELED)
        for i in range(number):
            yield {
                "prior": float(priors[i % priors.size]),
                "purity": purity,
                "n1": int(labeled[i % len(N_LABELED)]),
                "n": int(rng.choice(N_UNLABELED)),
            }


def save(path: Path, sets: list[ScoreSet]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    columns = {name: np.array([getattr(one, name) for one in sets]) for name in TRUTHS}
    np.savez_compressed(
        path,
        **{name: np.concatenate([getattr(one, name) for one in sets]) for name in ROWS},
        start=np.concatenate([[0], np.cumsum([one.score.size for one in sets])]),
        **columns,
    )


def load(kind: str) -> list[ScoreSet]:
    """Load the sets of one kind ("real", "pu_trained" or "simulated") from the cache."""
    path = cache_folder() / f"{kind}_sets.npz"
    if not path.exists():
        sys.exit(f"{path} is missing; make it with python -m benchmarks.priors.score_sets.")
    return load_file(path)


def load_file(path: Path) -> list[ScoreSet]:
    with np.load(path) as stored:
        table = {name: stored[name] for name in stored.files}
    sets = []
    for i, (start, stop) in enumerate(zip(table["start"][:-1], table["start"][1:], strict=True)):
        truths = {name: table[name][i].item() for name in TRUTHS}
        sets.append(ScoreSet(*(table[name][start:stop] for name in ROWS), **truths))
    return sets


def collect(sets: Iterable[ScoreSet], expected: int) -> list[ScoreSet]:
    """Make all sets and show the progress."""
    made: list[ScoreSet] = []
    begin = time.perf_counter()
    for one in sets:
        made.append(one)
        seconds = time.perf_counter() - begin
        line = f"{len(made)} of {expected} sets, {seconds:.0f} s, {one.data} {one.classifier}"
        print(f"\r{line:<70}", end="", flush=True)
    print()
    return made


def main() -> None:
    from benchmarks.priors import real_sets, simulated_sets

    parser = argparse.ArgumentParser(description="Make the score sets of the benchmark.")
    makers = {
        "simulated": (simulated_sets.make, simulated_sets.EXPECTED),
        "real": (real_sets.make_real, real_sets.EXPECTED),
        "pu_trained": (real_sets.make_pu_trained, real_sets.EXPECTED),
    }
    parser.add_argument(
        "kinds", nargs="*", default=list(makers), metavar="kind", help=", ".join(makers)
    )
    parser.add_argument("--processes", type=int, default=1)
    arguments = parser.parse_args()
    for kind in arguments.kinds:
        make, expected = makers[kind]
        sets = collect(make(arguments.processes), expected)
        save(cache_folder() / f"{kind}_sets.npz", sets)


if __name__ == "__main__":
    main()
