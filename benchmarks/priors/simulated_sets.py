"""Score sets drawn from known densities of positives and negatives."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from multiprocessing import Pool

import numpy as np
from scipy.special import ndtri
from scipy.stats import rankdata
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from benchmarks.priors.score_sets import ScoreSet, design, draw

Drawer = Callable[[np.random.Generator, int], np.ndarray]
# Sizes of the pools of positives and negatives; larger than any set.
POOL = 6_000
REPEATS = 6


def separations() -> tuple[float, ...]:
    """Return separations with binormal AUCs from about .76 to about .995."""
    return (1.0, 1.5, 2.0, 2.5, 3.0, 3.6)


def binormal_equal(strength: float) -> tuple[Drawer, Drawer]:
    return lambda rng, n: rng.normal(strength, 1, n), lambda rng, n: rng.normal(0, 1, n)


def binormal_unequal(strength: float) -> tuple[Drawer, Drawer]:
    spread = 0.8 if round(2 * strength) % 2 else 1.4
    return lambda rng, n: rng.normal(strength, spread, n), lambda rng, n: rng.normal(0, 1, n)


def beta(strength: float) -> tuple[Drawer, Drawer]:
    shape = 1 + strength
    return lambda rng, n: rng.beta(shape, 1.5, n), lambda rng, n: rng.beta(1.5, shape, n)


def skewed(strength: float) -> tuple[Drawer, Drawer]:
    if round(2 * strength) % 2:
        return (
            lambda rng, n: rng.gamma(1 + 1.5 * strength, 1, n),
            lambda rng, n: rng.gamma(1, 1, n),
        )
    return (
        lambda rng, n: 0.7 * strength + rng.lognormal(0.3, 0.7, n),
        lambda rng, n: rng.lognormal(0, 0.5, n),
    )


def heavy_tails(strength: float) -> tuple[Drawer, Drawer]:
    # Shifted t distributions form a reducible mixture: the data overstate the prior by
    # .10 (1 − prior) at the weakest separation and by .01 (1 − prior) at the strongest.
    return (
        lambda rng, n: 1 + strength + rng.standard_t(4, n),
        lambda rng, n: rng.standard_t(4, n),
    )


def bimodal_negatives(strength: float) -> tuple[Drawer, Drawer]:
    def negatives(rng: np.random.Generator, n: int) -> np.ndarray:
        return np.where(rng.random(n) < 0.3, rng.normal(0, 0.7, n), rng.normal(-3, 1, n))

    return lambda rng, n: rng.normal(strength, 1, n), negatives


FAMILIES = {
    "binormal_equal": binormal_equal,
    "binormal_unequal": binormal_unequal,
    "beta": beta,
    "skewed": skewed,
    "heavy_tails": heavy_tails,
    "bimodal_negatives": bimodal_negatives,
}
EXPECTED = len(FAMILIES) * REPEATS * len(list(design((0,))))


def as_probability(value: np.ndarray, labeled: np.ndarray) -> np.ndarray:
    """Return approximate probabilities of being labeled, in the same order as the values.

    Only estimators that need calibrated scores are affected; the others only use ranks.
    """
    z = ndtri((rankdata(value) - 0.5) / value.size).reshape(-1, 1)
    return LogisticRegression().fit(z, labeled).predict_proba(z)[:, 1]


def make(processes: int = 1) -> Iterator[ScoreSet]:
    with Pool(processes) as pool:
        jobs = [(name, repeat) for name in FAMILIES for repeat in range(REPEATS)]
        for sets in pool.imap(draw_sets, jobs):
            yield from sets


def draw_sets(job: tuple[str, int]) -> list[ScoreSet]:
    name, repeat = job
    key = zlib.crc32(name.encode())
    sets = []
    for number, wanted in enumerate(design((3, key, repeat))):
        rng = np.random.default_rng((4, key, repeat, number))
        strength = separations()[(repeat + number) % len(separations())]
        positives, negatives = FAMILIES[name](strength)
        value = np.concatenate([positives(rng, POOL), negatives(rng, POOL)])
        truth = np.repeat([1, 0], POOL)
        rows, labeled = draw(rng, truth, **wanted)
        sets.append(
            ScoreSet(
                as_probability(value[rows], labeled),
                labeled.astype(np.int8),
                truth[rows].astype(np.int8),
                data=name,
                classifier=f"separation {strength:g}",
                prior=float(truth[rows][~labeled].mean()),
                purity=float(truth[rows][labeled].mean()),
                wanted_prior=wanted["prior"],
                wanted_purity=wanted["purity"],
                wanted_n1=wanted["n1"],
                auc=float(roc_auc_score(truth[rows], value[rows])),
            )
        )
    return sets
