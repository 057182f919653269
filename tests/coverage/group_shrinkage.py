"""Coverage and errors of shrunken estimates of many small groups.

Every group has normal scores with a separation of its own: the log-odds of its AUC are normal
around those of .85.
"""

from dataclasses import dataclass

import numpy as np
from scipy.stats import norm

from pueval import evaluate_by

PRIOR, THRESHOLD, MEAN_AUC, RATIO = 0.2, 0.8, 0.85, 5
SHRUNKEN = ("roc_auc", "average_precision", "recall", "precision", "f1")


@dataclass(frozen=True)
class GroupSetting:
    groups: int
    # Labeled rows of each group, on average; or "5 to 300", evenly on the logarithmic scale.
    labeled: str
    # Standard deviation of the log-odds of the AUC between groups.
    spread: float
    known: str = "given"
    level: float = 0.95


def draw_sizes(setting, rng):
    if setting.labeled.isdigit():
        return np.full(setting.groups, int(setting.labeled))
    low, high = map(int, setting.labeled.split(" to "))
    return np.exp(rng.uniform(np.log(low), np.log(high), setting.groups)).round().astype(int)


def true_values(separation):
    """Every measure of SHRUNKEN for each separation."""
    prevalence = (1 + RATIO * PRIOR) / (1 + RATIO)
    tau = np.linspace(-6, 10, 1601)[:, None]
    tpr, fpr = norm.sf(tau - separation), norm.sf(tau)
    precision = prevalence * tpr / (prevalence * tpr + (1 - prevalence) * fpr)
    steps = -np.diff(tpr, axis=0) * (precision[1:] + precision[:-1]) / 2
    recall, share = norm.sf(THRESHOLD - separation), norm.sf(THRESHOLD)
    predicted = prevalence * recall + (1 - prevalence) * share
    return {
        "roc_auc": norm.cdf(separation / np.sqrt(2)),
        "average_precision": steps.sum(axis=0),
        "recall": recall,
        "precision": prevalence * recall / predicted,
        "f1": 2 * prevalence * recall / (prevalence + predicted),
    }


def shrinkage_coverage(setting, replications, *, seed=0):
    """Share of groups whose interval held the truth, and the ratio of mean squared errors.

    Over all groups with estimates of their own, by measure.
    """
    rng = np.random.default_rng([seed, setting.groups, int(100 * setting.spread)])
    held, shrunken_errors, own_errors = ({name: [] for name in SHRUNKEN} for _ in range(3))
    for _ in range(replications):
        log_odds = np.log(MEAN_AUC / (1 - MEAN_AUC)) + setting.spread * rng.normal(
            size=setting.groups
        )
        separation = norm.ppf(1 / (1 + np.exp(-log_odds))) * np.sqrt(2)
        by = np.repeat(np.arange(setting.groups), (1 + RATIO) * draw_sizes(setting, rng))
        y = rng.random(by.size) < 1 / (1 + RATIO)
        positive = y | (rng.random(by.size) < PRIOR)
        score = rng.normal(size=by.size) + separation[by] * positive
        groups = evaluate_by(
            y,
            score,
            by,
            prior=PRIOR if setting.known == "given" else None,
            threshold=THRESHOLD,
            n_resamples=2,
            level=setting.level,
            shrink=True,
        )
        for name, truth in true_values(separation).items():
            found, own = groups[name], groups._estimates.value[name].clip(0, 1)
            used = np.isfinite(own)
            held[name] += ((found.low <= truth) & (truth <= found.high))[used].tolist()
            shrunken_errors[name] += ((found.value - truth)[used] ** 2).tolist()
            own_errors[name] += ((own - truth)[used] ** 2).tolist()
    return {
        name: (
            float(np.mean(held[name])),
            float(np.mean(shrunken_errors[name]) / np.mean(own_errors[name])),
        )
        for name in SHRUNKEN
    }


GROUP_GRID = [
    *(
        GroupSetting(groups, labeled, spread)
        for groups in (20, 100)
        for labeled in ("5", "10", "50", "5 to 300")
        for spread in (0.0, 0.25, 0.6)
    ),
    *(GroupSetting(100, "20", 0.4, "given", level) for level in (0.8, 0.99)),
    GroupSetting(100, "20", 0.4, "estimated"),
]
GROUP_COLUMNS = (
    *("AUC", "AP", "recall", "precision", "F1"),
    *(f"error {name}" for name in ("AUC", "AP", "recall", "precision", "F1")),
)
GROUP_TEXT = (
    "Shrunken estimates of many groups (`evaluate_by(..., shrink=True)`) with five unlabeled rows "
    "per labeled row; a fifth of the unlabeled rows are positive. *labeled*: labeled rows per "
    "group on average. *spread*: standard deviation of the log-odds of the AUC between groups; "
    "those of .85 are their mean. Coverage is the share of groups. *error*: mean squared error "
    "relative to that of the groups' own estimates."
)
GROUP_REASONS = """
Where coverage differs from 95%:

- **No difference between groups** (spread 0), and **precision**, which differs little: intervals
  almost always cover the true value. The data cannot show that groups do not differ.
- **Average precision with few labeled rows**: its distribution is skewed, between groups and
  between samples, and so few rows hardly show how much it differs between groups.
- **Precision with a spread of .6**, .91 and .92 in two rows of 100 groups: we know no reason."""


def measure_groups(setting, replications, seed):
    # Ten groups for each replication, in at least five samples of groups.
    found = shrinkage_coverage(
        setting, max(round(10 * replications / setting.groups), 5), seed=seed
    )
    return [pair[which] for which in (0, 1) for pair in found.values()]
