"""Score sets of real data: out-of-fold scores of three classifiers of labeled against unlabeled."""

from __future__ import annotations

import warnings
import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.priors.score_sets import ScoreSet, data_folder, design, draw

DATA = (
    "activity_s2",
    "bank",
    "concrete",
    "covertype",
    "gas_partial",
    "housing",
    "landsat",
    "mnist16",
    "mushroom",
    "pageblock",
    "parkinsons",
    "pendigit",
    "pima",
    "shuttle",
    "spambase",
    "splice",
    "thyroid",
    "wine",
)
# Subject number, age, sex and test time identify the patient; the voice measures come after.
FIRST_INPUT = {"parkinsons": 4}
# More rows than any draw needs.
MOST_ROWS = 20_000


def classifiers(seed: int) -> dict:
    return {
        "boosting": HistGradientBoostingClassifier(
            max_iter=50, max_leaf_nodes=12, early_stopping=False, random_state=seed
        ),
        "logistic": make_pipeline(StandardScaler(), LogisticRegression(max_iter=100)),
        "network": make_pipeline(
            StandardScaler(),
            MLPClassifier(
                (16,),
                alpha=0.01,
                learning_rate_init=0.005,
                batch_size=100,
                max_iter=25,
                random_state=seed,
            ),
        ),
    }


EXPECTED = len(DATA) * len(list(design((0,)))) * len(classifiers(0))


def read(folder: Path, name: str) -> tuple[np.ndarray, np.ndarray]:
    table = pq.read_table(folder / f"{name}.parquet")
    inputs = [column for column in table.column_names if column != "y"]
    X = np.column_stack([table[c].to_numpy() for c in inputs[FIRST_INPUT.get(name, 0) :]])
    y = table["y"].to_numpy()
    if y.size > MOST_ROWS:
        kept = np.random.default_rng(0).choice(y.size, MOST_ROWS, replace=False)
        X, y = X[kept], y[kept]
    return X[:, X.std(axis=0) > 0], y


def make() -> Iterator[ScoreSet]:
    folder = data_folder()
    for name in DATA:
        X, truth = read(folder, name)
        for number, wanted in enumerate(design((1, zlib.crc32(name.encode())))):
            rng = np.random.default_rng((2, zlib.crc32(name.encode()), number))
            rows, labeled = draw(rng, truth, **wanted)
            order = rng.permutation(rows.size)
            rows, labeled = rows[order], labeled[order]
            folds = StratifiedKFold(5, shuffle=True, random_state=number)
            for classifier, model in classifiers(number).items():
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", ConvergenceWarning)
                    score = cross_val_predict(
                        model, X[rows], labeled, cv=folds, method="predict_proba"
                    )[:, 1]
                yield ScoreSet(
                    score,
                    labeled.astype(np.int8),
                    data=name,
                    classifier=classifier,
                    prior=float(truth[rows][~labeled].mean()),
                    purity=float(truth[rows][labeled].mean()),
                    wanted_prior=wanted["prior"],
                    wanted_purity=wanted["purity"],
                    wanted_n1=wanted["n1"],
                    auc=float(roc_auc_score(truth[rows], score)),
                )
