"""True F1 of the hyperparameters that GridSearchCV chooses with a corrected scorer.

    PUEVAL_DATA=… python -m benchmarks.selection.tuning [repeats]

Writes tuning.md next to this file. Each repeat splits a data set into training and test rows, and
labels a share of the training positives (the label frequency) at random. Each candidate is fitted
on labeled against unlabeled rows in five folds and scored by several scorers. The best candidate
of each scorer is fitted on all training rows, and its true F1 is computed on the test rows.
"""

import os
import sys
import warnings
from itertools import product
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import sklearn
from scipy.stats import wilcoxon
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.metrics import make_scorer as plain_scorer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from pueval import AssumptionWarning
from pueval.model_selection import PUStratifiedKFold, evaluate_cv
from pueval.scoring import make_scorer

HERE = Path(__file__).parent
DATA = ("spambase", "wine", "landsat")
FREQUENCIES = (0.2, 0.5)
TRAIN = 1500
WEIGHTS = [{0: 1, 1: w} for w in (1, 2, 4, 8, 16, 32)]
MODELS = {
    "logistic regression": (
        make_pipeline(StandardScaler(), LogisticRegression(max_iter=200)),
        {
            "logisticregression__C": [1e-3, 1e-2, 1e-1, 1.0],
            "logisticregression__class_weight": WEIGHTS,
        },
    ),
    "decision tree": (
        DecisionTreeClassifier(random_state=0),
        {"min_samples_leaf": [2, 10, 30, 100], "class_weight": WEIGHTS},
    ),
}
# Estimates the prior once, before the search.
FIRST_GUESS = make_pipeline(StandardScaler(), LogisticRegression(C=0.1, max_iter=200))
SHOWN = ("naive", "lee_liu", "corrected", "estimated", "truth", "best")


def read(name):
    table = pq.read_table(Path(os.environ["PUEVAL_DATA"]) / f"{name}.parquet")
    columns = [table[c].to_numpy() for c in table.column_names if c != "y"]
    return np.column_stack(columns).astype(float), table["y"].to_numpy().astype(int)


def true_f1(y, predicted, truth):
    """Return F1 for the true classes, passed by metadata routing; ``y`` holds the PU labels."""
    return f1_score(truth, predicted, zero_division=0)


def pick(X, truth, model, grid, frequency, seed):
    """Return the true F1 on the test rows of the candidate that each scorer chooses."""
    rng = np.random.default_rng(seed)
    rows = rng.permutation(len(truth))
    train, test = rows[:TRAIN], rows[TRAIN:]
    positives = train[truth[train] == 1]
    labeled = rng.permutation(positives)[: round(frequency * len(positives))]
    y = np.isin(train, labeled).astype(int)
    prior = truth[train][y == 0].mean()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssumptionWarning)
        estimated = evaluate_cv(FIRST_GUESS, X[train], y, level=None, seed=seed).mixture.prior
    scoring = {
        "naive": make_scorer("f1", prior=0.0),
        "lee_liu": make_scorer("lee_liu", response_method="predict"),
        "corrected": make_scorer("f1", prior=prior),
        "estimated": make_scorer("f1", prior=estimated),
        "truth": plain_scorer(true_f1).set_score_request(truth=True),
    }
    folds = PUStratifiedKFold(5, shuffle=True, random_state=seed)
    search = GridSearchCV(model, grid, scoring=scoring, refit=False, cv=folds)
    results = search.fit(X[train], y, truth=truth[train]).cv_results_
    candidates = results["params"]

    def on_test(k):
        fitted = clone(model).set_params(**candidates[k]).fit(X[train], y)
        return f1_score(truth[test], fitted.predict(X[test]))

    every = [on_test(k) for k in range(len(candidates))]
    found = {name: every[int(np.argmax(results[f"mean_test_{name}"]))] for name in scoring}
    return found | {"best": max(every)}, estimated - prior


def main(repeats=20):
    sklearn.set_config(enable_metadata_routing=True)
    header = (
        "| data | model | label frequency | naive F1 | Lee–Liu | corrected F1 | corrected, prior "
        "estimated | with the truth | best candidate | corrected − naive (p) | gap to the truth |"
    )
    lines = [header, "|---|---|---|---|---|---|---|---|---|---|---|"]
    for data, (model, (estimator, grid)), frequency in product(DATA, MODELS.items(), FREQUENCIES):
        X, truth = read(data)
        found = [pick(X, truth, estimator, grid, frequency, seed) for seed in range(repeats)]
        values = {name: np.array([each[name] for each, _ in found]) for name in SHOWN}
        gain = values["corrected"] - values["naive"]
        p = wilcoxon(gain, alternative="greater").pvalue if gain.any() else 1.0
        gap = values["truth"] - values["corrected"]
        error = np.mean(np.abs([error for _, error in found]))
        means = " | ".join(f"{values[name].mean():.3f}" for name in SHOWN)
        lines.append(
            f"| {data} | {model} | {frequency} | {means} | {gain.mean():+.3f} ({p:.1g}) "
            f"| {gap.mean():.3f} ± {gap.std(ddof=1) / len(gap) ** 0.5:.3f} |"
        )
        print(lines[-1], f"prior error {error:.3f}", flush=True)
    (HERE / "tuning.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
