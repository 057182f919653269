"""Protocol of Ramola et al. (2019): maxima of four measures, naive and corrected."""

from __future__ import annotations

import math
import warnings
from typing import Any

from papers.jain2017.experiment import alphamax
from papers.scores import Networks, pu_scores
from pueval import AssumptionWarning, Counts, Mixture, evaluate, priors
from pueval.core.mixture import NAIVE

PURITIES = (1.0, 0.9, 0.8, 0.7)
MEASURES = {
    "accuracy": "accuracy", "balanced_accuracy": "balanced accuracy", "f1": "F",
    "matthews_corrcoef": "MCC",
}  # fmt: skip
# Unlabeled rows: 10,000 where there are enough, else 5,000 or 2,000; a tenth as many labeled.
UNLABELED = {
    "activity_s1": 10_000, "activity_s2": 10_000, "covertype": 10_000, "mushroom": 5000,
    "parkinsons": 5000, "splice": 2000, "thyroid": 2000,
}  # fmt: skip


def one(data: str, purity: float, repetition: int, networks: Networks) -> list[dict[str, Any]]:
    """Return errors of the four maxima: naive (PU), corrected with true (CR) and estimated values.

    Estimates are those of AlphaMaxN (CA) and of `pueval.priors.estimate` (CE).
    """
    unlabeled = UNLABELED[data]
    made = pu_scores(
        data, labeled=unlabeled // 10, unlabeled=unlabeled, purity=purity, networks=networks,
        repetition=repetition,
    )  # fmt: skip
    counts = made.counts
    rows = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssumptionWarning)
        truth = evaluate(Counts.from_arrays(made.truth, made.score), prior=0.0, level=None)
        found = priors.estimate(counts, purity="estimate")
        identified = not math.isnan(found.prior)
        paper = alphamax(counts)
        for kind, mixture in (
            ("CR", Mixture(made.prior, made.purity)),
            ("CA", NAIVE if paper is None else paper),
            ("CE", found.mixture() if identified else NAIVE),
        ):
            ev = evaluate(counts, prior=mixture.prior, purity=mixture.purity, level=None)
            for name in MEASURES:
                best = ev.best(name)
                true = truth.at(best.threshold)[name].value
                rows.append({"measure": name, "kind": kind, "error": best.value - true})
                if kind == "CR":
                    true = truth.at(best.naive_threshold)[name].value
                    rows.append({"measure": name, "kind": "PU", "error": best.naive - true})
    about = {
        "data": data, "wanted_purity": purity, "repetition": repetition, "identified": identified,
        "epochs": int(made.epochs),
        "prior_error": found.prior - made.prior, "purity_error": found.purity - made.purity,
        "alphamax_prior_error": math.nan if paper is None else paper.prior - made.prior,
        "alphamax_purity_error": math.nan if paper is None else paper.purity - made.purity,
    }  # fmt: skip
    return [about | row for row in rows]
