"""How well the prior can be estimated from some scores."""

from __future__ import annotations

import math
from collections.abc import Mapping

from pueval.core.curves import (
    REVERSED_Z_SCORE,
    auc_z_score,
    model_with_highest_naive_auc,
    naive_auc,
)
from pueval.counts.counts import Counts
from pueval.evaluation.evaluate import evaluate_counts
from pueval.evaluation.verdict import known_prior
from pueval.priors._consensus import FEW_LABELED, TOO_FEW_LABELED
from pueval.priors._estimate_prior import estimate_without_warning

GIVE_A_SHARE = "If you know it, give --prior, --prevalence or --label-frequency."


def describe_prior(
    models: Mapping[str, Counts],
) -> tuple[list[str], tuple[float, float] | None]:
    """Return what can be known about the prior, and its interval from the best model's scores.

    The grade is that of the verdict on an evaluation with this estimate.
    """
    models = {name: counts for name, counts in models.items() if counts.n_unlabeled}
    if not models:
        return [], None
    name = model_with_highest_naive_auc(models)
    counts = models[name]
    labeled = f"{counts.n_labeled:,} labeled rows"
    if counts.n_labeled < TOO_FEW_LABELED:
        few = f"{labeled} are too few to estimate the prior. Label at least {FEW_LABELED}. "
        return [few + GIVE_A_SHARE], None
    lines = []
    if counts.n_labeled < FEW_LABELED:
        lines.append(f"{labeled} are few: expect wide intervals.")
    if auc_z_score(counts, naive_auc(counts, counts._roc_corners())) < REVERSED_Z_SCORE:
        return lines, None
    estimate = estimate_without_warning(counts, test_labels=False)
    low, high = estimate.prior_interval or (0.0, estimate.prior_upper)
    knowledge = "not"
    if math.isfinite(estimate.prior):
        knowledge, _ = known_prior(evaluate_counts(counts, prior=estimate, level=None))
    if knowledge == "not":
        lines.append(
            f"The prior cannot be estimated from {name}: any value up to {high:.3g} "
            f"fits. {GIVE_A_SHARE}"
        )
        return lines, None
    how = "well" if knowledge == "well" else "only poorly"
    lines.append(
        f"The prior can be estimated {how} from {name}: it lies between {low:.3g} and "
        f"{high:.3g} (95% CI). {GIVE_A_SHARE}"
    )
    return lines, (low, high)
