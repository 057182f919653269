"""Simulated rows with audits."""

import numpy as np
import scipy.special

LABELINGS = ("random", "up", "down", "step", "hidden")


def make_rows(rng, n=6000, prevalence=0.15, separation=2.0):
    positive = rng.random(n) < prevalence
    return positive, rng.normal(size=n) + separation * positive


def label_rows(rng, positive, score, labeling="random"):
    """Label positives at random, by the score, by a step, or by a hidden feature."""
    place = (score - score[positive].mean()) / score[positive].std()
    hidden = rng.normal(size=score.size) + 0.8 * place
    propensity = {
        "random": np.full(score.size, 0.3),
        "up": scipy.special.expit(-1.1 + 1.2 * place),
        "down": scipy.special.expit(-1.1 - 1.2 * place),
        "step": np.where(place > 0, 0.5, 0.1),
        "hidden": np.where(hidden > 0, 0.5, 0.08),
    }[labeling]
    return positive & (rng.random(score.size) < propensity)


def audit_rows(rng, positive, labeled, probability):
    """Audit unlabeled rows with a probability for each; returns the column ``audited``."""
    chosen = ~labeled & (rng.random(labeled.size) < probability)
    return np.where(chosen, positive.astype(float), np.nan)


def uniform_audit(rng, positive, labeled, size):
    rows = rng.choice(np.flatnonzero(~labeled), size, replace=False)
    audited = np.full(labeled.size, np.nan)
    audited[rows] = positive[rows]
    return audited
