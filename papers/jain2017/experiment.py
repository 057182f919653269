"""Protocol of Jain et al. (2017): label, train on the labels, correct, compare."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
from sklearn.metrics import average_precision_score, roc_auc_score

from papers.scores import Networks, Scored, pu_scores, traditional_scores
from pueval import AssumptionWarning, Counts, Mixture, evaluate, priors
from pueval.core.mixture import NAIVE
from pueval.errors import InputError
from pueval.evaluation.evaluation import Evaluation

PURITIES = (1.0, 0.95, 0.75)
# How many rows are labeled follows from the priors that the paper prints. Of Gas two of ten
# batches are missing here; 400 labeled rows give nearly the paper's prior.
LABELED = {
    "bank": 1000, "concrete": 100, "gas": 400, "housing": 100, "landsat": 1000, "mushroom": 1000,
    "pageblock": 100, "pendigit": 1000, "pima": 100, "shuttle": 1000, "spambase": 1000,
    "wine": 1000,
}  # fmt: skip
UNLABELED = 10_000


def one(data: str, purity: float, repetition: int, networks: Networks) -> dict[str, Any]:
    """Run one repetition; return all estimates and the true values of the network."""
    made = pu_scores(
        data, labeled=LABELED[data], unlabeled=UNLABELED, purity=purity, networks=networks,
        repetition=repetition,
    )  # fmt: skip
    return {"data": data, "wanted_purity": purity, "repetition": repetition, **estimates(made)}


def estimates(made: Scored) -> dict[str, Any]:
    """Estimate AUC and AUC-PR by all methods, with known and with estimated prior and purity.

    Suffix R: known values. E: those of `pueval.priors.estimate`. A: those of AlphaMaxN.
    """
    counts = made.counts
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssumptionWarning)
        found = priors.estimate(counts, purity="estimate")
        # If the scores do not separate, there is no estimate, and the naive values are used.
        identified = not math.isnan(found.prior)
        paper = alphamax(counts)
        known, ours, theirs = (
            evaluate(
                counts, prior=mixture.prior, purity=mixture.purity, target="unlabeled", level=None
            )
            for mixture in (
                Mixture(made.prior, made.purity),
                found.mixture() if identified else NAIVE,
                NAIVE if paper is None else paper,
            )
        )
    unlabeled = made.label == 0
    truth, score = made.truth[unlabeled], made.score[unlabeled]
    return {
        "prior": made.prior,
        "purity": made.purity,
        "identified": identified,
        "estimated_prior": found.prior,
        "estimated_purity": found.purity,
        "alphamax_prior": math.nan if paper is None else paper.prior,
        "alphamax_purity": math.nan if paper is None else paper.purity,
        "naive_auc": known["roc_auc"].naive,
        "naive_ap": known["average_precision"].naive,
        "network_auc": roc_auc_score(truth, score),
        "network_ap": average_precision_score(truth, score),
        **_areas("R", known),
        **_areas("E", ours),
        **_areas("A", theirs),
    }


def alphamax(counts: Counts) -> Mixture | None:
    """Return prior and purity by AlphaMaxN, the papers' estimator; None if it finds no elbow."""
    try:
        found = priors.AlphaMaxN().fit(counts)
    except InputError:
        return None
    return Mixture(found.prior_, found.purity_)


def _areas(suffix: str, ev: Evaluation) -> dict[str, float]:
    return {
        f"D{suffix}": ev["roc_auc"].value,
        f"I{suffix}": ev.roc().area,
        f"A{suffix}": ev["average_precision"].value,
    }


def traditional(data: str, repetition: int, networks: Networks) -> Scored:
    """Return the scores of networks trained on the classes."""
    return traditional_scores(data, networks=networks, repetition=repetition)


def auc_pr(made: Scored, prevalence: float) -> float:
    """Return the AUC-PR at another prevalence."""
    share = made.truth.mean()
    weight = np.where(made.truth, prevalence / share, (1 - prevalence) / (1 - share))
    return float(average_precision_score(made.truth, made.score, sample_weight=weight))
