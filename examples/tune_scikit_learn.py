"""Tune and evaluate a scikit-learn classifier when only some positives are labeled."""

import numpy as np
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.model_selection import GridSearchCV, TunedThresholdClassifierCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pueval.model_selection import PUStratifiedKFold, evaluate_cv
from pueval.scoring import make_scorer


def load(seed=0):
    """Return features, diagnoses and true classes of simulated patients."""
    X, ill = make_classification(
        n_samples=4000, n_features=20, n_informative=5, weights=[0.7], class_sep=1.2,
        flip_y=0.02, random_state=seed,
    )  # fmt: skip
    diagnosed = ill & (np.random.default_rng(seed).random(len(ill)) < 0.3)
    return X, diagnosed.astype(int), ill


def main():
    X, y, ill = load()
    train, test = np.arange(3000), np.arange(3000, 4000)
    print(f"{y.sum()} of {len(y):,} patients were diagnosed; nobody knows who else is ill.\n")

    # 1. How good is a plain model, and how many undiagnosed patients are ill?
    model = make_pipeline(StandardScaler(), LogisticRegression())
    ev = evaluate_cv(model, X[train], y[train], n_repeats=3)
    prior = ev.mixture.prior
    low, high = ev.prior_estimate.prior_interval
    truth = ill[train][y[train] == 0].mean()
    print(f"prior      {prior:.3f} (95% CI {low:.3f} to {high:.3f}; the truth is {truth:.3f})")
    auc, spread = ev["roc_auc"], ev.splits.standard_deviation["roc_auc"]
    print(f"ROC AUC    {auc.value:.3f} (naive {auc.naive:.3f}; over splits ± {spread:.3f})\n")

    # 2. Choose hyperparameters by the best F1 over all thresholds.
    scoring = make_scorer("f1", prior=prior, threshold="best")
    search = GridSearchCV(
        model,
        {"logisticregression__C": [1e-4, 1e-3, 1e-2, 1e-1, 1.0]},
        scoring=scoring,
        cv=PUStratifiedKFold(5, shuffle=True, random_state=0),
    )
    search.fit(X[train], y[train])
    print(f"best C     {search.best_params_['logisticregression__C']:g}")

    # 3. Choose the threshold, and check it on other rows.
    print("True F1 on other rows, with the threshold tuned by F1:")
    for name, prior_used in (("naive", 0.0), ("corrected", prior)):
        tuned = TunedThresholdClassifierCV(
            search.best_estimator_, scoring=make_scorer("f1", prior=prior_used)
        ).fit(X[train], y[train])
        value = f1_score(ill[test], tuned.predict(X[test]))
        print(f"  {name:9} {value:.3f} (threshold {tuned.best_threshold_:.3f})")


if __name__ == "__main__":
    main()
