"""Coverage of the intervals of evaluate_cv, with classifiers that are fitted anew each time.

Positives are N(shift, 1) in every feature, negatives N(0, 1). The best classifier has AUC .86. The
truth is the mean performance of the fitted classifiers in the population.
"""

import warnings
from dataclasses import dataclass

import numpy as np
from scipy.special import logit
from scipy.stats import norm
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from pueval.model_selection import evaluate_cv

SEPARATION, PRIOR, LABELED_SHARE, THRESHOLD = 1.5, 0.25, 1 / 6, 0.25
PREVALENCE = LABELED_SHARE + (1 - LABELED_SHARE) * PRIOR
CV_NAMES = ("roc_auc", "average_precision", "recall", "precision", "f1")
# Positive and negative rows of each class on which classifiers other than linear ones are judged.
TEST_ROWS = 5000
CLASSIFIERS = {
    "logistic": LogisticRegression(),
    "neighbors": KNeighborsClassifier(15),
    "tree": DecisionTreeClassifier(max_depth=4, random_state=0),
}


@dataclass(frozen=True)
class CVSetting:
    classifier: str
    labeled: int
    features: int
    folds: int
    known: str = "given"
    level: float = 0.95


def recorded(classifier, fitted):
    """The same classifier, which also appends what it fits to a list."""
    base = type(classifier)

    class Recorded(base):
        def fit(self, X, y):
            fitted.append(super().fit(X, y))
            return self

    Recorded.__init__ = base.__init__  # scikit-learn reads the parameters from it
    return Recorded(**classifier.get_params())


def true_rates(models, shift, rng):
    """Return thresholds of the log-odds, descending, and the mean rates of the classifiers."""
    if isinstance(models[0], LogisticRegression):
        weights = np.array([model.coef_[0] for model in models])
        size = np.linalg.norm(weights, axis=1)
        negative = np.array([model.intercept_[0] for model in models])
        positive = negative + weights.sum(axis=1) * shift
        tau = np.linspace((positive + 5 * size).max(), (negative - 5 * size).min(), 4001)[:, None]
        return tau[:, 0], *(norm.sf(tau, m, size).mean(axis=1) for m in (positive, negative))
    features = models[0].n_features_in_
    rows = [rng.normal(size=(TEST_ROWS, features)) + by for by in (shift, 0)]
    scores = [np.array([model.predict_proba(x)[:, 1] for model in models]) for x in rows]
    tau = np.unique(np.concatenate([*map(np.ravel, scores), [THRESHOLD]]))[::-1]
    return tau, *(
        1 - np.searchsorted(np.sort(s, axis=None), tau, side="left") / s.size for s in scores
    )


def true_values(models, shift, rng):
    """Every measure of CV_NAMES; the AUC is that of the mean rates."""
    tau, tpr, fpr = true_rates(models, shift, rng)
    threshold = logit(THRESHOLD) if isinstance(models[0], LogisticRegression) else THRESHOLD
    above_tpr, above_fpr = (np.concatenate([[0.0], rate]) for rate in (tpr, fpr))
    predicted = PREVALENCE * tpr + (1 - PREVALENCE) * fpr
    precision = PREVALENCE * tpr / np.maximum(predicted, 1e-300)
    recall, positive_rate, share = (
        np.interp(threshold, tau[::-1], rate[::-1]) for rate in (tpr, precision, predicted)
    )
    average = np.concatenate([precision[:1], precision])
    return {
        "roc_auc": np.trapezoid(above_tpr, above_fpr),
        "average_precision": np.trapezoid(average, above_tpr),
        "recall": recall,
        "precision": positive_rate,
        "f1": 2 * PREVALENCE * recall / (PREVALENCE + share),
    }


def cv_coverage(setting, replications, *, n_resamples=400, seed=0, names=CV_NAMES):
    """Shares of replications in which the interval held the truth, and the mean design effect."""
    rng = np.random.default_rng([seed, setting.labeled, setting.features, setting.folds])
    shift, n = SEPARATION / np.sqrt(setting.features), round(setting.labeled / LABELED_SHARE)
    held, effects = {name: [] for name in names}, []
    for number in range(replications):
        y = rng.random(n) < LABELED_SHARE
        positive = y | (rng.random(n) < PRIOR)
        X = rng.normal(size=(n, setting.features)) + shift * positive[:, None]
        fitted = []
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ev = evaluate_cv(
                recorded(CLASSIFIERS[setting.classifier], fitted),
                X,
                y,
                cv=setting.folds,
                prior=PRIOR if setting.known == "given" else None,
                threshold=THRESHOLD,
                level=setting.level,
                n_resamples=n_resamples,
                seed=number,
            )
        truth = true_values(fitted[: setting.folds], shift, rng)
        for name in names:
            held[name].append(ev[name].low <= truth[name] <= ev[name].high)
        effects.append(ev.splits.design_effect)
    return {name: float(np.mean(each)) for name, each in held.items()}, float(np.mean(effects))


CV_GRID = [
    *(
        CVSetting("logistic", labeled, features, folds)
        for labeled in (30, 100, 300, 1000)
        for features in (5, 30)
        for folds in (5, 10)
    ),
    *(CVSetting("logistic", 100, 20, 5, "given", level) for level in (0.8, 0.99)),
    *(CVSetting("logistic", labeled, 20, 5, "estimated") for labeled in (100, 300, 1000)),
    *(CVSetting(name, 100, 5, 5) for name in ("neighbors", "tree")),
]
CV_COLUMNS = ("AUC", "AP", "recall", "precision", "F1", "design effect")
CV_TEXT = (
    "Classifiers are fitted in every replication. The truth is the mean performance of those that "
    "were fitted on the folds, in the population. The best classifier has an AUC of .86. There are "
    "five unlabeled rows per labeled row, and a quarter of them are positive."
)
CV_REASONS = """
The design effect is the factor by which the variance exceeds that of independent rows. With few
rows per feature, intervals are wider than necessary, because the design effect is an upper limit,
and the design effect of the AUC is used for all measures. With 30 labeled rows, intervals are too
short. In rows with level .8, coverage should be .8. An estimated prior makes intervals wide. The
standard error of a coverage of .95 is 0.022, so .90 and .91 may be chance."""


def measure_cv(setting, replications, seed):
    held, effect = cv_coverage(setting, replications, seed=seed)
    return [*held.values(), effect]
