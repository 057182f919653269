"""Error and interval of the estimated prior as the number of rows grows.

    python -m benchmarks.priors.sizes
    python -m benchmarks.priors.sizes --repeats 200 --processes 2

Labels are clean, negatives are N(0, 1) unless stated, and there are five unlabeled rows to a
labeled one.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from multiprocessing import Pool

import numpy as np

from benchmarks.priors.tables import markdown
from pueval import Counts
from pueval.priors import Consensus

Drawer = Callable[[np.random.Generator, int], np.ndarray]
N_LABELED = (300, 3_000, 20_000)
UNLABELED_PER_LABELED = 5


def normal(rng: np.random.Generator, n: int, center: float, spread: float = 1.0) -> np.ndarray:
    return rng.normal(center, spread, n)


def two_normals(
    rng: np.random.Generator,
    n: int,
    share: float,
    first: tuple[float, float],
    second: tuple[float, float],
) -> np.ndarray:
    chosen = rng.random(n) < share
    return np.where(chosen, rng.normal(*first, n), rng.normal(*second, n))


NEGATIVES = partial(normal, center=0)
# Name, prior, positives and negatives.
POPULATIONS: dict[str, tuple[float, Drawer, Drawer]] = {
    "half N(4, 1), half N(0, 1)": (
        0.5,
        partial(two_normals, share=0.5, first=(4, 1), second=(0, 1)),
        NEGATIVES,
    ),
    ".3 N(4, .7) + .7 N(.8, 1)": (
        0.25,
        partial(two_normals, share=0.3, first=(4, 0.7), second=(0.8, 1)),
        NEGATIVES,
    ),
    "N(2, 1)": (0.3, partial(normal, center=2), NEGATIVES),
    "N(1.2, 1)": (0.3, partial(normal, center=1.2), NEGATIVES),
    "N(3, 1)": (0.05, partial(normal, center=3), NEGATIVES),
    "N(2.5, 1)": (0.7, partial(normal, center=2.5), NEGATIVES),
    "N(3, 1), negatives .1 N(1.5, 1) + .9 N(0, 1)": (
        0.1,
        partial(normal, center=3),
        partial(two_normals, share=0.1, first=(1.5, 1), second=(0, 1)),
    ),
}


def estimate(job: tuple[str, int, int]) -> tuple[dict[str, float], float, float]:
    """Return the estimates by method, and the interval of the consensus."""
    name, n_labeled, repeat = job
    prior, positives, negatives = POPULATIONS[name]
    rng = np.random.default_rng((7, list(POPULATIONS).index(name), n_labeled, repeat))
    n = UNLABELED_PER_LABELED * n_labeled
    hidden = rng.binomial(n, prior)
    score = np.concatenate([positives(rng, n_labeled + hidden), negatives(rng, n - hidden)])
    y = np.repeat([1, 0], [n_labeled, n])
    fitted = Consensus().fit_without_warning(Counts.from_arrays(y, score))
    found = {"consensus": fitted.prior_}
    found |= {name: member.prior for name, member in fitted.members_.items()}
    return found, *fitted.prior_interval_


def main() -> None:
    parser = argparse.ArgumentParser(description="Estimated priors by the number of rows.")
    parser.add_argument("--repeats", type=int, default=100)
    parser.add_argument("--processes", type=int, default=1)
    arguments = parser.parse_args()
    lines, heads = [], ["positives, prior", "labels"]
    with Pool(arguments.processes) as pool:
        for name, (prior, _, _) in POPULATIONS.items():
            for n_labeled in N_LABELED:
                jobs = [(name, n_labeled, repeat) for repeat in range(arguments.repeats)]
                results = pool.map(estimate, jobs)
                found = {key: np.array([one[0][key] for one in results]) for key in results[0][0]}
                low, high = (np.array([one[i] for one in results]) for i in (1, 2))
                covered = (low <= prior) & (prior <= high)
                lines.append(
                    [
                        f"{name}; {prior:g}",
                        f"{n_labeled:,}",
                        *(f"{values.mean():.3f}" for values in found.values()),
                        f"{np.abs(found['consensus'] - prior).mean():.4f}",
                        f"{covered.mean():.3f}",
                        f"{np.mean(high - low):.3f}",
                    ]
                )
                heads = ["positives, prior", "labels", *found, "error", "coverage", "width"]
                print("*", end="", flush=True)
    print()
    print(markdown(heads, lines))


if __name__ == "__main__":
    main()
