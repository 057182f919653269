"""Lower limits for the error of prior estimates: python -m benchmarks.priors.floor.

Two figures, computed from the true classes of each score set with purity 1:

known densities
    Mean absolute error of the best estimator that knows the densities f1 and f0 of the scores of
    positives and negatives exactly, so that only the prior is unknown. The error of the share of
    the n rows drawn has the variance 1/(n I) − prior (1 − prior)/n, with the Fisher information
    I = ∫ (f1 − f0)² / (prior f1 + (1 − prior) f0). No estimator of the benchmark knows that much.

excess
    (1 − prior) q0/q1, where q1 and q0 are the shares of positives and negatives above the threshold
    that 5% of the positives reach. Without an assumption about the density ratio beyond this
    threshold, the data are also compatible with a prior that is larger by the excess.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from benchmarks.priors import score_sets
from benchmarks.priors.run import KINDS
from benchmarks.priors.score_sets import ScoreSet
from benchmarks.priors.tables import AUC_EDGES, markdown

BINS = 20
TOP = 0.05


def known_densities(one: ScoreSet) -> float:
    """Return the mean absolute error of an estimator that knows both binned densities."""
    positive, negative = one.score[one.truth == 1], one.score[one.truth == 0]
    edges = np.unique(np.quantile(one.score, np.linspace(0, 1, BINS + 1)))
    edges[-1] = np.inf
    f1, f0 = (
        np.histogram(kind, edges)[0] / kind.size if kind.size else np.zeros(edges.size - 1)
        for kind in (positive, negative)
    )
    mixture = one.prior * f1 + (1 - one.prior) * f0
    used = mixture > 0
    information = np.sum((f1 - f0)[used] ** 2 / mixture[used])
    variance = (1 / information - one.prior * (1 - one.prior)) / one.n_unlabeled
    # The mean absolute value of a normal variable is √(2/π) standard deviations.
    return float(np.sqrt(max(variance, 0.0) * 2 / np.pi))


def excess(one: ScoreSet) -> float:
    """Return by how much the top 5% of the positives overstate the prior."""
    positive, negative = one.score[one.truth == 1], one.score[one.truth == 0]
    threshold = np.quantile(positive, 1 - TOP, method="higher")
    ratio = np.mean(negative >= threshold) / np.mean(positive >= threshold)
    return float((1 - one.prior) * min(ratio, 1.0))


def main() -> None:
    lines = []
    for kind, meaning in KINDS.items():
        sets = [one for one in score_sets.load(kind) if one.purity == 1]
        for low, high in [(0, 1.01), *pairwise(AUC_EDGES)]:
            own = [one for one in sets if low <= one.auc < high]
            if not own:
                continue
            figures = [
                f"{np.mean([figure(one) for one in own]):.3f}"
                for figure in (known_densities, excess)
            ]
            lines.append([meaning, f"{low:g} to {min(high, 1):g}", str(len(own)), *figures])
    print(markdown(["kind", "AUC", "sets", "known densities", "excess"], lines))


if __name__ == "__main__":
    main()
