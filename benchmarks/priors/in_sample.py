"""Priors estimated from in-sample and out-of-fold scores: python -m benchmarks.priors.in_sample.

Ten normal inputs, of which five differ between the classes; 30% of the positives are labeled.
"""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from benchmarks.priors.tables import markdown
from pueval import AssumptionWarning, priors

MODELS = {
    "gradient boosting": HistGradientBoostingClassifier(random_state=0),
    "random forest": RandomForestClassifier(300, random_state=0),
    "logistic regression": LogisticRegression(),
}


def estimate(y: np.ndarray, score: np.ndarray) -> str:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssumptionWarning)
        found = priors.estimate(y, score)
    low, high = found.prior_interval
    warned = any("in-sample" in warning for warning in found.warnings)
    return f"{found.prior:.3f} ({low:.3f} to {high:.3f}){', with a warning' if warned else ''}"


def main() -> None:
    rng = np.random.default_rng(0)
    positive = rng.random(3_500) < 0.33
    X = rng.normal(size=(3_500, 10)) + 0.9 * positive[:, None] * (np.arange(10) < 5)
    y = positive & (rng.random(3_500) < 0.3)
    print(f"{y.sum()} labels, true prior {positive[~y].mean():.3f}")
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    lines = []
    for name, model in MODELS.items():
        in_sample = model.fit(X, y).predict_proba(X)[:, 1]
        out_of_fold = cross_val_predict(model, X, y, cv=folds, method="predict_proba")[:, 1]
        lines.append([name, estimate(y, in_sample), estimate(y, out_of_fold)])
    print(markdown(["classifier", "prior from in-sample scores", "from out-of-fold scores"], lines))


if __name__ == "__main__":
    main()
