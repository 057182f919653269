"""Normal scores with known truth, in every way that prior and labels can be known.

Positives are N(separation, 1), negatives N(0, 1). Rows are drawn anew each time, and chance says
how many of them are labeled; but for "labeling", where only the labels are drawn.
"""

import warnings
from dataclasses import dataclass

import numpy as np
from scipy.special import expit
from scipy.stats import norm

from pueval import AssumptionWarning, evaluate
from pueval.core.measures import MEASURES
from pueval.core.rates import Rates

AT = ("f1", "accuracy", "balanced_accuracy", "matthews_corrcoef")
NAMES = ("roc_auc", "roc area", "average_precision", *AT, *(f"best {name}" for name in AT))
BANDS = tuple(
    f"{curve} {kind}" for curve in ("roc", "pr") for kind in ("pointwise", "simultaneous")
)
# At the steep start of the ROC curve, which an average over all places hides.
START = "roc start"


PURITY_UNKNOWN = tuple(
    f"{share}, purity {how}"
    for share in ("prevalence", "frequency")
    for how in ("interval", "estimated")
)


@dataclass(frozen=True)
class Setting:
    """How rows are drawn, and what evaluate() is told."""

    prior: float
    purity: float
    labeled: int
    separation: float
    # or interval, estimated, both estimated, labeling, frequency, prevalence, propensity, extreme
    # propensity (.01 to .8, where low-scoring positives are hardly ever labeled); chosen:
    # the prior is given, and no threshold; "prevalence, purity interval" and the like, of
    # PURITY_UNKNOWN: the purity is an interval that ends at the truth, or estimated
    known: str = "given"

    @property
    def unlabeled(self):
        return 5 * self.labeled

    @property
    def threshold(self):
        return self.separation / 2 + 0.3

    def truth(self, prevalence, threshold=None):
        """Every number of NAMES in the population, and both curves as functions."""
        threshold = self.threshold if threshold is None else threshold
        tau = np.linspace(-6, 6 + self.separation, 20_001)
        tpr, fpr = norm.sf(tau, self.separation), norm.sf(tau)
        predicted = prevalence * tpr + (1 - prevalence) * fpr
        rates = Rates(tau, tpr, fpr, predicted, prevalence, 1.0)
        precision = prevalence * tpr / predicted
        values = {
            "roc_auc": norm.cdf(self.separation / np.sqrt(2)),
            "roc area": norm.cdf(self.separation / np.sqrt(2)),
            "average_precision": np.sum(-np.diff(tpr) * (precision[1:] + precision[:-1]) / 2),
        }
        for name in AT:
            values[name] = float(np.interp(threshold, tau, MEASURES[name](rates)))
            values[f"best {name}"] = float(MEASURES[name](rates).max())
        curves = {
            "roc": lambda x: norm.sf(norm.isf(x) - self.separation),
            "pr": lambda x: np.interp(x, tpr[::-1], precision[::-1]),
        }
        return values, curves

    def draw(self, rng):
        """Return labels, scores, and what to tell evaluate()."""
        n = self.labeled + self.unlabeled
        y = rng.random(n) < self.labeled / n
        share = np.where(y, self.purity, self.prior)
        score = rng.normal(size=n) + self.separation * (rng.random(n) < share)
        if self.known == "interval":
            return y, score, {"prior": (0.8 * self.prior, 1.1 * self.prior), "purity": self.purity}
        if self.known == "estimated":
            return y, score, {"purity": self.purity}
        if self.known == "both estimated":
            return y, score, {"purity": "estimate"}
        if self.known in PURITY_UNKNOWN:
            return y, score, self.known_share_and_purity()
        return y, score, {"prior": self.prior, "purity": self.purity}

    @property
    def prevalence(self):
        labeled_share = self.labeled / (self.labeled + self.unlabeled)
        return labeled_share * self.purity + (1 - labeled_share) * self.prior

    def known_share_and_purity(self):
        """What to tell evaluate() of a purity that is not known exactly."""
        told = {"prevalence": self.prevalence}
        if self.known.startswith("frequency"):
            labeled_positives = self.labeled * self.purity
            told = {
                "label_frequency": labeled_positives
                / (labeled_positives + self.unlabeled * self.prior)
            }
        if self.known.endswith("estimated"):
            return told | {"purity": "estimate"}
        return told | {"purity": (self.purity - 0.05, self.purity)}

    def draw_one_data_set(self, rng):
        """Label positives with equal chances, or the sooner, the higher their score."""
        n = self.labeled + self.unlabeled
        positive = rng.random(n) < self.prior
        score = rng.normal(size=n) + self.separation * positive
        if self.known == "frequency":
            return positive & (rng.random(n) < 0.4), score, {"label_frequency": 0.4}
        if self.known == "prevalence":
            return positive & (rng.random(n) < 0.7), score, {"prevalence": self.prior}
        propensity = 0.15 + 0.6 * norm.cdf(score - self.separation)
        if self.known == "extreme propensity":
            propensity = 0.01 + 0.79 * expit(2 * (score - self.separation))
        y = positive & (rng.random(n) < propensity)
        return y, score, {"propensity": propensity}

    def relabel(self, rows, rng):
        """Label other positives of the same rows; truth is that of these rows."""
        score, positive = rows
        y = np.zeros(score.size, dtype=bool)
        y[rng.choice(np.flatnonzero(positive), self.labeled, replace=False)] = True
        prior = (positive.sum() - self.labeled) / (~y).sum()
        return y, score, {"prior": prior, "variance": "labeling"}

    def fixed_rows(self, rng):
        n = self.labeled + self.unlabeled
        positives = self.labeled + round(self.prior * self.unlabeled)
        positive = np.arange(n) < positives
        return rng.normal(size=n) + self.separation * positive, positive


def coverage(setting, replications, **options):
    """Shares of replications in which the interval held the truth; of places, for pointwise."""
    return coverage_and_width(setting, replications, **options)[0]


def coverage_and_width(setting, replications, *, n_resamples=400, names=NAMES, bands=False, seed=0):
    """Coverage and mean width of each interval and band."""
    rng = np.random.default_rng([seed, setting.labeled, int(1000 * setting.prior)])
    prevalence = setting.prevalence
    one = setting.known in {"propensity", "extreme propensity", "frequency", "prevalence"}
    chosen = setting.known == "chosen"
    if one:
        prevalence = setting.prior
    values, curves = setting.truth(prevalence)
    rows = setting.fixed_rows(rng) if setting.known == "labeling" else None
    if rows is not None:
        values = _of_rows(setting, rows)
    held = {name: [] for name in (*names, *((*BANDS, START) if bands else ()))}
    widths = {name: [] for name in held}
    for number in range(replications):
        if setting.known == "labeling":
            y, score, told = setting.relabel(rows, rng)
        elif one:
            y, score, told = setting.draw_one_data_set(rng)
        else:
            y, score, told = setting.draw(rng)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", AssumptionWarning)
            ev = evaluate(
                y,
                score,
                threshold=None if chosen else setting.threshold,
                n_resamples=n_resamples,
                seed=number,
                **told,
            )
        if chosen:
            values, _ = setting.truth(prevalence, ev.threshold)
        for name in names:
            if name == "roc area":
                found = ev.roc_area()
            else:
                found = ev.best(name[5:]) if name.startswith("best") else ev[name]
            held[name].append(found.low <= values[name] <= found.high)
            widths[name].append(found.high - found.low)
        for name in BANDS if bands else ():
            curve, kind = name.split()
            band = (ev.roc_band if curve == "roc" else ev.pr_band)(kind)
            true = curves[curve](band.x)
            inside = (band.low - 1e-9 <= true) & (true <= band.high + 1e-9)
            held[name].append(inside.all() if kind == "simultaneous" else inside.mean())
            widths[name].append(np.mean(band.high - band.low))
            if name == "roc pointwise":
                start = np.argmin(np.abs(band.x - 0.01))
                held[START].append(inside[start])
                widths[START].append(band.high[start] - band.low[start])
    return tuple(
        {name: float(np.mean(each)) for name, each in lists.items()} for lists in (held, widths)
    )


def _of_rows(setting, rows):
    """Truth of rows that are all known: scikit-learn's definitions, by the naive evaluation."""
    score, positive = rows
    ev = evaluate(positive, score, prior=0.0, threshold=setting.threshold, level=None)
    values = {name: ev[name].naive for name in ("roc_auc", "average_precision", *AT)}
    values["roc area"] = values["roc_auc"]
    return values | {f"best {name}": ev.best(name).naive for name in AT}
