"""Coverage of the intervals of labeling_bias, for the least favorable labeling.

Positives are N(1.5, 1), negatives N(0, 1). Positives on one side of a cut are Λ times as likely to
be labeled as the others, and Λ is given. At the threshold of the measures, or at the cut that is
the worst for the AUC, the true value then lies at a bound, so that half of the bounds miss it.
"""

import warnings
from dataclasses import dataclass

import numpy as np
from scipy.stats import norm

from pueval import AssumptionWarning, evaluate
from pueval.estimates.bias_bounds import bound_measures
from tests.coverage.simulation import Setting

SEPARATION, PREVALENCE, THRESHOLD = 1.5, 0.3, 1.05
BIAS_NAMES = ("roc_auc", "average_precision", "f1", "matthews_corrcoef")
AUC_TITLES = ("AUC", "AP", "F1", "MCC")


@dataclass(frozen=True)
class BiasSetting:
    rows: int
    bias: float
    # Scores that are labeled more often, and the cut between them and the others.
    favored: str
    cut: str = "threshold"
    target: str = "population"
    purity: float = 1.0

    @property
    def cut_score(self):
        """The threshold, or the score whose placement is the mean placement of the positives."""
        if self.cut == "threshold":
            return THRESHOLD
        tau = np.linspace(-5, 7, 5001)
        placement = PREVALENCE * norm.cdf(tau, SEPARATION) + (1 - PREVALENCE) * norm.cdf(tau)
        auc = norm.cdf(SEPARATION / np.sqrt(2))
        return float(np.interp(PREVALENCE / 2 + (1 - PREVALENCE) * auc, placement, tau))

    def draw(self, rng):
        """Return labels, scores, and what to tell evaluate()."""
        positive = rng.random(self.rows) < PREVALENCE
        score = rng.normal(size=self.rows) + SEPARATION * positive
        if self.target == "population":
            return self._labeled(score, rng) & positive, score, {"prevalence": PREVALENCE}
        labeled = rng.normal(size=2 * self.rows) + SEPARATION
        labeled = labeled[self._labeled(labeled, rng)][: self.rows // 10]
        wrong = rng.random(labeled.size) >= self.purity
        labeled[wrong] = rng.normal(size=wrong.sum())
        y = np.arange(labeled.size + self.rows) < labeled.size
        told = {"prior": PREVALENCE, "purity": self.purity, "target": "unlabeled"}
        return y, np.concatenate([labeled, score]), told

    def _labeled(self, score, rng):
        favored = (score >= self.cut_score) == (self.favored == "high")
        return rng.random(score.size) < np.where(favored, 0.4, 0.4 / self.bias)


BIAS_GRID = [
    BiasSetting(1500, 2.0, favored, cut)
    for cut in ("threshold", "AUC")
    for favored in ("high", "low")
] + [
    BiasSetting(6000, 4.0, "high"),
    BiasSetting(6000, 4.0, "low"),
    BiasSetting(1500, 2.0, "high", target="unlabeled"),
    BiasSetting(1500, 2.0, "low", target="unlabeled"),
    BiasSetting(1500, 2.0, "high", target="unlabeled", purity=0.9),
    BiasSetting(1500, 2.0, "low", target="unlabeled", purity=0.9),
]
BIAS_COLUMNS = (*AUC_TITLES, "F1, bounds only", "F1, width")
BIAS_TEXT = (
    "Positives with high or low scores are Λ times as likely to be labeled as the others "
    "(*bias*), and `labeling_bias` is told this Λ. With the cut at the threshold, the true F1 and "
    "MCC lie at a bound; with the worst cut for the AUC, the true AUC does. *Bounds only*: how "
    "often the bounds, without sampling error, contain the true F1. *Width*: mean width of the "
    "interval of F1."
)
BIAS_REASONS = """
Coverage is above 95% where the labeling is not the least favorable one for a measure. The lowest
numbers belong to noisy labels, target unlabeled and high scores favored. With 300 more samples,
coverage in this setting is .940 for the AUC and .948 for F1 (400 samples; .86, .96, .99 and .95 for
the AUC in each hundred). We found no cause for the low first hundred, which is rarer than chance
suggests. The standard error of a coverage of .95 is 0.022."""


def bias_coverage(setting, replications, *, n_resamples=400, seed=0):
    """Shares of intervals and of bounds of F1 that hold the truth, and the width for F1."""
    rng = np.random.default_rng([seed, setting.rows, setting.favored == "low"])
    truth, _ = Setting(PREVALENCE, 1.0, 100, SEPARATION).truth(PREVALENCE, THRESHOLD)
    held = {name: [] for name in BIAS_NAMES}
    bounds, widths = [], []
    for number in range(replications):
        y, score, told = setting.draw(rng)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", AssumptionWarning)
            ev = evaluate(
                y, score, threshold=THRESHOLD, n_resamples=n_resamples, seed=number, **told
            )
        # As ev.labeling_bias, for a few measures.
        labeling = ev._biased_labeling()
        found = bound_measures(
            labeling, setting.bias, ev._resamples, ev._choice_margins, names=BIAS_NAMES
        )
        for name in BIAS_NAMES:
            held[name].append(found[name].interval_low <= truth[name] <= found[name].interval_high)
        bounds.append(found["f1"].low <= truth["f1"] <= found["f1"].high)
        widths.append(found["f1"].interval_high - found["f1"].interval_low)
    shares = {name: float(np.mean(each)) for name, each in held.items()}
    return shares, float(np.mean(bounds)), float(np.mean(widths))


def measure_bias(setting, replications, *, seed=0):
    shares, bounds, width = bias_coverage(setting, replications, seed=seed)
    return [*shares.values(), bounds, width]
