"""Support vector machines trained on weighted rows, from sensible weights to misleading ones.

The paper trains a support vector machine on labeled positives and on unlabeled rows that have
weights, "the likelihood that an unlabeled sample belongs to the positive class", either from
heuristics or by the method of Elkan and Noto (2008). It names neither heuristics nor parameters.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.svm import LinearSVC

# Biased SVM (Liu et al. 2003): all unlabeled rows are negative, errors on labeled rows cost more.
COSTS = (1.0, 10.0, 100.0)
# Elkan and Noto: the estimated label frequency is multiplied by so much.
FACTORS = (1.0, 0.5, 2.0)
# Heuristic: rank of the similarity to the center of the labeled rows, to a power.
POWERS = (1.0, 4.0)
# Weights of Elkan and Noto moved toward their opposite: at .5 they tell nothing, beyond they mislead.
TURNS = (0.6, 0.65, 0.7, 0.75, 0.8)
SENSIBLE = (
    *(f"cost {cost:g}" for cost in COSTS),
    *(f"label frequency × {factor:g}" for factor in FACTORS),
    *(f"similarity ^ {power:g}" for power in POWERS),
)
MISLEADING = tuple(f"turned by {turn:g}" for turn in TURNS)
WEIGHTINGS = (*SENSIBLE, *MISLEADING)


def weighted_svms(
    X: Any, labels: np.ndarray, test: Any, rng: np.random.Generator
) -> dict[str, np.ndarray]:
    """Return the scores of the test rows for each weighting of the unlabeled training rows."""
    labeled = labels == 1
    found = {}
    for name, weight in _weights(X, labeled).items():
        found[name] = _train(X, labeled, weight, 1.0, rng).decision_function(test)
    nothing = np.zeros(int((~labeled).sum()))
    for cost in COSTS:
        model = _train(X, labeled, nothing, cost, rng)
        found[f"cost {cost:g}"] = model.decision_function(test)
    return {name: found[name] for name in WEIGHTINGS}


def _weights(X: Any, labeled: np.ndarray) -> dict[str, np.ndarray]:
    """Return the likelihood that each unlabeled row is positive, by several rules."""
    probability = cross_val_predict(
        LogisticRegression(C=10, max_iter=300), X, labeled, cv=3, method="predict_proba"
    )[:, 1]
    share = probability[labeled].mean()
    g = probability[~labeled]

    def positive(frequency: float) -> np.ndarray:
        return np.clip((1 - frequency) / frequency * g / (1 - g), 0, 1)

    found = {
        f"label frequency × {factor:g}": positive(min(share * factor, 0.99)) for factor in FACTORS
    }
    center = np.asarray(X[labeled].mean(axis=0)).ravel()
    norm = sparse.linalg.norm(X, axis=1) if sparse.issparse(X) else np.linalg.norm(X, axis=1)
    similarity = np.asarray(X @ center).ravel() / np.maximum(norm, 1e-12)
    rank = similarity[~labeled].argsort().argsort() / max(g.size - 1, 1)
    found |= {f"similarity ^ {power:g}": rank**power for power in POWERS}
    right = positive(share)
    found |= {f"turned by {turn:g}": (1 - turn) * right + turn * (1 - right) for turn in TURNS}
    return found


def _train(
    X: Any, labeled: np.ndarray, weight: np.ndarray, cost: float, rng: np.random.Generator
) -> LinearSVC:
    """Train on labeled rows, and on each unlabeled row twice: as positive and as negative."""
    unlabeled = np.flatnonzero(~labeled)
    order = np.r_[np.flatnonzero(labeled), unlabeled, unlabeled]
    target = np.arange(order.size) < order.size - unlabeled.size
    weights = np.r_[np.full(int(labeled.sum()), cost), weight, 1 - weight]
    kept = weights > 0
    model = LinearSVC(C=0.1, random_state=int(rng.integers(2**31)))
    return model.fit(X[order[kept]], target[kept], sample_weight=weights[kept])
