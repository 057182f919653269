"""Rows with known truth, the same for all libraries.

Scores are the true probabilities of a binormal population, for libraries that need calibrated
probabilities. Rows with a probability of at least one half are predicted positive.
"""

from dataclasses import dataclass

import numpy as np

from pueval.simulate import binormal, case_control, label_at_random, label_by_propensity

MEASURES = ("roc_auc", "average_precision", "precision", "recall", "f1", "accuracy")
THRESHOLD = 0.5
SEPARATION, PREVALENCE, LABELED = 2.0, 0.3, 0.3
POPULATION = binormal(SEPARATION, prevalence=PREVALENCE)


@dataclass(frozen=True)
class Rows:
    """Data of an evaluation, the known shares, and the truth."""

    label: np.ndarray
    score: np.ndarray
    positive: np.ndarray
    prior: float
    prevalence: float
    truth: dict
    purity: float = 1.0
    target: str = "population"
    propensity: np.ndarray | None = None


def probability(score):
    logit = SEPARATION * score - SEPARATION**2 / 2 + np.log(PREVALENCE / (1 - PREVALENCE))
    return 1 / (1 + np.exp(-logit))


def truth(population):
    offset = np.log(PREVALENCE / (1 - PREVALENCE)) - SEPARATION**2 / 2
    cut = -offset / SEPARATION
    found = {name: population.measure(name, threshold=cut) for name in MEASURES[2:]}
    return found | {name: population.area(name) for name in MEASURES[:2]}


def single(rng, n, purity=1.0):
    """Single-sample design with random labeling; some labels may be wrong."""
    rows = POPULATION.draw(n, seed=rng)
    made = label_at_random(rows.positive, label_frequency=LABELED, purity=purity, seed=rng)
    share = PREVALENCE * LABELED / purity  # labeled rows among all
    prior = PREVALENCE * (1 - LABELED) / (1 - share)
    score = probability(rows.score)
    return Rows(
        made.label, score, rows.positive, prior, PREVALENCE, truth(POPULATION), purity=purity
    )


def noisy(rng, n):
    return single(rng, n, purity=0.85)


def apart(rng, n):
    """Case-control design: the unlabeled rows are the population."""
    prior = 0.2
    rows = POPULATION.draw(2 * n, seed=rng)
    made = case_control(
        rows.positive, n_labeled=n // 5, n_unlabeled=n - n // 5, prior=prior, seed=rng
    )
    score = probability(rows.score[made.rows])
    known = truth(POPULATION.with_prevalence(prior))
    return Rows(
        made.label, score, rows.positive[made.rows], prior, prior, known, target="unlabeled"
    )


def favored(rng, n):
    """Labeling with known propensities, up to five times larger for high scores."""
    rows = POPULATION.draw(n, seed=rng)
    score = probability(rows.score)
    chance = 0.1 + 0.4 * score
    made = label_by_propensity(rows.positive, chance, seed=rng)
    return Rows(
        made.label, score, rows.positive, made.prior, PREVALENCE, truth(POPULATION),
        propensity=chance,
    )  # fmt: skip


SCENARIOS = {
    "labels at random": single,
    "15 % of the labels wrong": noisy,
    "case-control sampling": apart,
    "high scores labeled more often": favored,
}
