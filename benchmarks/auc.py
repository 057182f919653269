"""Five estimates of the AUC with known prior and purity, on simulated and real held-out scores.

    python -m benchmarks.auc

writes benchmarks/AUC.md (a few minutes). Real data are read from the folder PUEVAL_DATA; scores are
out-of-fold scores of a logistic regression of the true classes.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from pathlib import Path

import numpy as np
from scipy.optimize import isotonic_regression
from scipy.stats import norm
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.priors.real_data import read
from benchmarks.priors.real_sets import out_of_fold
from benchmarks.priors.score_sets import data_folder
from pueval import Counts
from pueval.core.curves import correct_roc_from_corners, direct_auc, naive_auc
from pueval.core.mixture import Mixture
from pueval.core.rates import correct_steps

PAGE = Path(__file__).parent / "AUC.md"
REPEATS = 15
SIZES = ((30, 300), (100, 1000), (300, 1500))
PRIORS = (0.1, 0.3, 0.6)
PURITIES = (1.0, 0.9, 0.75)
DATA = ("bank", "landsat", "pageblock", "pendigit", "pima", "spambase", "splice", "thyroid", "wine")
ESTIMATES = {
    "direct": "direct",
    "indirect": "indirect",
    "isotonic": "isotonic rates",
    "mean": "mean of both",
    "hull": "convex hull",
}
Draw = Callable[[np.random.Generator, int], np.ndarray]


def normal(mean: float) -> Draw:
    return lambda rng, n: rng.normal(mean, 1, n)


def two_kinds(rng: np.random.Generator, n: int) -> np.ndarray:
    return rng.normal(0, 1, n) + 4 * (rng.random(n) < 0.5)


def hard_negatives(rng: np.random.Generator, n: int) -> np.ndarray:
    return rng.normal(0, 1, n) + 2.5 * (rng.random(n) < 0.1)


POPULATIONS: dict[str, tuple[Draw, Draw, float]] = {
    **{
        f"normal, separation {d:g}": (normal(d), normal(0), float(norm.cdf(d / np.sqrt(2))))
        for d in (0.5, 1.0, 1.8, 2.5, 3.5)
    },
    "positives of two kinds": (two_kinds, normal(0), 0.25 + 0.5 * float(norm.cdf(4 / np.sqrt(2)))),
    "hard negatives": (
        normal(2.5),
        hard_negatives,
        0.9 * float(norm.cdf(2.5 / np.sqrt(2))) + 0.05,
    ),
    "exponential": (
        lambda rng, n: rng.exponential(4, n),
        lambda rng, n: rng.exponential(1, n),
        0.8,
    ),
}


def estimates(y: np.ndarray, score: np.ndarray, prior: float, purity: float) -> list[float]:
    """Return the estimates in the order of ESTIMATES."""
    counts, mixture = Counts.from_arrays(y, score), Mixture(prior, purity)
    corners = counts._roc_corners()
    direct = min(max(direct_auc(counts, naive_auc(counts, corners), mixture), 0.0), 1.0)
    curve = correct_roc_from_corners(counts, corners, mixture)
    rates = correct_steps(counts, counts.steps(), mixture)
    # Isotonic regression keeps the mean of the rates; an envelope takes their minimum.
    tpr, fpr = (np.clip(isotonic_regression(r).x, 0, 1) for r in (rates.tpr, rates.fpr))
    isotonic = float(np.trapezoid(np.r_[0, tpr, 1], np.r_[0, fpr, 1]))
    return [
        direct,
        curve.area,
        isotonic,
        (direct + curve.area) / 2,
        hull_area(curve.fpr, curve.tpr),
    ]


def hull_area(fpr: np.ndarray, tpr: np.ndarray) -> float:
    """Return the area under the smallest concave curve above the points."""
    hull: list[tuple[float, float]] = []
    for x, y in zip(fpr, tpr, strict=True):
        while len(hull) > 1 and _turns_left(hull[-2], hull[-1], (x, y)):
            hull.pop()
        hull.append((x, y))
    xs, ys = np.array(hull).T
    return float(np.trapezoid(ys, xs))


def _turns_left(a: tuple[float, float], b: tuple[float, float], c: tuple[float, float]) -> bool:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]) >= 0


def draw_pu(
    rng: np.random.Generator, positive: Draw, negative: Draw, *shares: float, sizes: tuple[int, int]
) -> tuple[np.ndarray, np.ndarray]:
    """Return labels and scores of labeled and unlabeled rows with this prior and purity."""
    prior, purity = shares
    scores = []
    for share, n in ((purity, sizes[0]), (prior, sizes[1])):
        k = rng.binomial(n, share)
        scores += [positive(rng, k), negative(rng, n - k)]
    return np.repeat([1, 0], sizes), np.concatenate(scores)


def errors(positive: Draw, negative: Draw, truth: float, purity: float) -> np.ndarray:
    """Return the errors of all estimates, one line per sample."""
    rng = np.random.default_rng(0)
    found = []
    for prior, sizes, _ in product(PRIORS, SIZES, range(REPEATS)):
        y, score = draw_pu(rng, positive, negative, prior, purity, sizes=sizes)
        found.append(np.array(estimates(y, score, prior, purity)) - truth)
    return np.array(found)


def real_population(name: str) -> tuple[Draw, Draw, float]:
    """Return the held-out scores of a data set as a population to draw from."""
    X, truth = read(data_folder(), name)
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=300))
    score = out_of_fold(model, X, truth, 0)
    positive, negative = score[truth == 1], score[truth == 0]
    return (
        lambda rng, n: rng.choice(positive, n),
        lambda rng, n: rng.choice(negative, n),
        float(roc_auc_score(truth, score)),
    )


def table(populations: dict[str, tuple[Draw, Draw, float]]) -> list[str]:
    heads = " | ".join(ESTIMATES.values())
    lines = [f"| scores | AUC | purity | {heads} | bias, direct | bias, indirect |"]
    lines.append("|---|" + "---:|" * (4 + len(ESTIMATES)))
    every = []
    for name, (positive, negative, truth) in populations.items():
        for purity in PURITIES:
            error = errors(positive, negative, truth, purity)
            root = np.sqrt(np.mean(error**2, axis=0))
            every.append(root)
            numbers = [f"{x:.4f}" for x in root] + [f"{x:+.4f}" for x in error.mean(axis=0)[:2]]
            lines.append(f"| {name} | {truth:.3f} | {purity:g} | " + " | ".join(numbers) + " |")
            print(lines[-1], flush=True)
    mean = " | ".join(f"{x:.4f}" for x in np.mean(every, axis=0))
    return [*lines, f"| mean ||| {mean} |||"]


def main() -> None:
    real = {name: real_population(name) for name in DATA}
    text = [
        "# Estimates of the AUC",
        "",
        "`python -m benchmarks.auc` writes this page. Root mean square errors with known prior and",
        f"purity, over priors {', '.join(map(str, PRIORS))}; 30 labeled and 300 unlabeled, 100 and",
        f"1,000, 300 and 1,500 rows; {REPEATS} samples each. *Direct*: equation 4 of Jain et al.",
        "(2017), clipped to [0, 1]. *Indirect*: the area under the corrected ROC curve, along",
        "monotone rates. *Isotonic rates*: the same with isotonic regression instead of the",
        "envelope. *Convex hull*: the area under the hull of that curve.",
        "",
        "## Simulated scores",
        "",
        *table(POPULATIONS),
        "",
        "## Held-out scores of a logistic regression",
        "",
        *table(real),
    ]
    PAGE.write_text("\n".join(text) + "\n")


if __name__ == "__main__":
    main()
