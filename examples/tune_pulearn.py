"""Compare and tune classifiers of pulearn, a library for positive and unlabeled data."""

import numpy as np
from pulearn import BaggingPuClassifier, ElkanotoPuClassifier
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeClassifier

from pueval.model_selection import evaluate_cv
from pueval.scoring import make_scorer


def load(seed=0):
    """Return features, confirmed frauds and true classes of simulated transactions."""
    X, fraud = make_classification(
        n_samples=3000, n_features=10, n_informative=4, weights=[0.75], class_sep=1.3,
        flip_y=0, random_state=seed,
    )  # fmt: skip
    confirmed = fraud & (np.random.default_rng(seed).random(len(fraud)) < 0.4)
    return X, confirmed.astype(int), fraud


def main():
    X, y, fraud = load()
    models = {
        "logistic regression": LogisticRegression(),
        "Elkan and Noto": ElkanotoPuClassifier(LogisticRegression(), random_state=0),
        "bagging": BaggingPuClassifier(
            DecisionTreeClassifier(max_depth=4), n_estimators=20, random_state=0
        ),
    }
    # Use one prior for all models, estimated from the model that ranks best.
    prior = evaluate_cv(models["bagging"], X, y, align="rank", level=None).mixture.prior
    print(f"{y.sum()} confirmed frauds among {len(y):,}; prior {prior:.3f}\n")
    print(f"{'ROC AUC':20} {'naive':>6} {'corrected':>10} {'truth':>6}")
    for name, model in models.items():
        # The Elkan-Noto model of each fold divides by its own constant, so we compare ranks.
        ev = evaluate_cv(model, X, y, align="rank", prior=prior, level=None)
        auc, truth = ev["roc_auc"], roc_auc_score(fraud, ev.splits.score[0])
        print(f"{name:20} {auc.naive:6.3f} {auc.value:10.3f} {truth:6.3f}")

    search = GridSearchCV(
        models["bagging"],
        {"estimator__max_depth": [1, 2, 4, 8]},
        scoring=make_scorer("average_precision", prior=prior),
        cv=3,
    ).fit(X, y)
    print(f"\nbest depth of the trees: {search.best_params_['estimator__max_depth']}")


if __name__ == "__main__":
    main()
