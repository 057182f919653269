"""Rankings with a known rank distribution, and a model of covertype."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import norm
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import roc_auc_score

from papers.data import cache_folder, load
from pueval import Bounds, Counts, claesen_bounds
from pueval.simulate import Population, ranked


@dataclass(frozen=True, eq=False)
class Ranking:
    """Counts for an evaluation, and the true rates at each threshold."""

    counts: Counts
    score: np.ndarray
    positive: np.ndarray
    prior: float

    @property
    def auc(self) -> float:
        return float(roc_auc_score(self.positive, self.score))

    def true_rates(self, threshold: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return true and false positive rates at thresholds."""
        rates = []
        for kind in (self.positive, ~self.positive):
            score = np.sort(self.score[kind])
            rates.append(1 - np.searchsorted(score, threshold, side="left") / score.size)
        return rates[0], rates[1]

    def contained(self, bounds: Bounds) -> tuple[float, bool]:
        """Return the share of the true ROC curve within the bounds, and whether the AUC is."""
        tpr, fpr = self.true_rates(bounds.low.threshold)
        low = _height(bounds.low.fpr, bounds.low.tpr, fpr, top=False)
        high = _height(bounds.high.fpr, bounds.high.tpr, fpr, top=True)
        inside = (low <= tpr + 1e-9) & (tpr <= high + 1e-9)
        least, most = bounds.roc_auc
        return float(inside.mean()), bool(least - 1e-9 <= self.auc <= most + 1e-9)


def _height(x: np.ndarray, y: np.ndarray, at: np.ndarray, *, top: bool) -> np.ndarray:
    """Return the height of a curve, at the top or bottom of vertical segments."""
    order = np.lexsort((y, x))
    x, y = x[order], np.maximum.accumulate(y[order])
    if top:
        left = np.clip(np.searchsorted(x, at, side="right") - 1, 0, x.size - 1)
        right = np.minimum(left + 1, x.size - 1)
    else:
        right = np.clip(np.searchsorted(x, at, side="left"), 0, x.size - 1)
        left = np.maximum(right - 1, 0)
    width = x[right] - x[left]
    share = np.divide(
        at - x[left], width, out=np.full(at.size, 0.0 if top else 1.0), where=width > 0
    )
    return y[left] + np.clip(share, 0, 1) * (y[right] - y[left])


def simulated(
    population: Population, rng: np.random.Generator, *, labeled: int, unlabeled: int, prior: float
) -> Ranking:
    """Simulate known positives and unlabeled rows with a given prior."""
    hidden = round(prior * unlabeled)
    positives = population.positive.draw(rng, labeled + hidden)
    negatives = population.negative.draw(rng, unlabeled - hidden)
    score = np.concatenate([positives, negatives])
    label = np.arange(score.size) < labeled
    positive = np.arange(score.size) < labeled + hidden
    return Ranking(Counts.from_arrays(label, score), score, positive, hidden / unlabeled)


def convergence(rng: np.random.Generator, concentration: float, labeled: int) -> dict[str, float]:
    """Return bounds of the AUC for one simulated ranking with known prior 0.2 (figure 2)."""
    population = ranked(concentration, prevalence=0.2)
    ranking = simulated(population, rng, labeled=labeled, unlabeled=100_000, prior=0.2)
    found: dict[str, float] = {"auc": ranking.auc}
    for band in ("bootstrap", "clopper-pearson", "dkw"):
        bounds = claesen_bounds(ranking.counts, prior=ranking.prior, band=band)
        low, high = bounds.roc_auc
        share, inside = ranking.contained(bounds)
        found |= {f"{band} low": low, f"{band} high": high, f"{band} share": share,
                  f"{band} inside": inside, f"{band} whole": share == 1}  # fmt: skip
    return found


def normal_ranking(naive_auc: float, spread: float) -> Counts:
    """Rank 5,000 known positives and 45,000 unlabeled rows with a given naive AUC (figure 4).

    Scores are quantiles, so nothing is random: of a standard normal distribution for the unlabeled
    rows, and of one with another spread for the known positives.
    """
    labeled, unlabeled = (norm.ppf((np.arange(n) + 0.5) / n) for n in (5000, 45_000))
    mean = norm.ppf(naive_auc) * np.sqrt(1 + spread**2)
    score = np.concatenate([mean + spread * labeled, unlabeled])
    return Counts.from_arrays(np.arange(50_000) < 5000, score)


def mixed(
    rng: np.random.Generator, known_positive: float, known_negative: float
) -> list[dict[str, float]]:
    """Return bounds with known positives and negatives, three priors, two references (app. C)."""
    population = ranked(4, prevalence=1 / 6)
    positives = population.positive.draw(rng, 2000)
    negatives = population.negative.draw(rng, 10_000)
    score = np.concatenate([positives, negatives])
    truth = np.arange(12_000) < 2000
    label = np.zeros(12_000, dtype=int)
    label[: round(known_positive * 2000)] = 1
    label[2000 : 2000 + round(known_negative * 10_000)] = 2
    counts = Counts.from_arrays(label, score, negative_label=2)
    prior = float(truth[label == 0].mean())
    auc = float(roc_auc_score(truth, score))
    found = []
    for factor in (0.8, 1.0, 1.2):
        for start in ("positives", "tighter"):
            if start == "tighter" and not known_negative:
                continue
            low, high = claesen_bounds(
                counts, prior=prior * factor, reference=start, band="bootstrap"
            ).roc_auc
            found.append({"factor": factor, "start": start, "low": low, "high": high, "auc": auc})
    return found


def covertype() -> Ranking:
    """Score 20,000 positives, 5% labeled, and 20,000 negatives by a model trained on PU labels."""
    path = cache_folder() / "claesen_covertype.npz"
    if not path.exists():
        data = load("covertype")
        rng = np.random.default_rng(0)
        ones, zeros = (rng.permutation(np.flatnonzero(data.y == kind)) for kind in (True, False))
        test = np.concatenate([ones[:20_000], zeros[:20_000]])
        train = np.concatenate([ones[20_000:], zeros[20_000:]])
        labels = data.y[train] & (rng.random(train.size) < 0.2)
        model = HistGradientBoostingClassifier(max_iter=60, random_state=0)
        score = model.fit(data.X[train], labels).predict_proba(data.X[test])[:, 1]
        np.savez(path, score=score)
    with np.load(path) as stored:
        score = stored["score"]
    positive = np.arange(40_000) < 20_000
    label = np.zeros(40_000, dtype=bool)
    label[np.random.default_rng(1).choice(20_000, 1000, replace=False)] = True
    return Ranking(Counts.from_arrays(label, score), score, positive, 19_000 / 39_000)
