"""Two kinds of score sets from real data.

"real": an existing classifier is evaluated on labeled and unlabeled rows. Scores are out-of-fold
scores (5 folds) of a classifier of the true classes. Labeled and unlabeled rows are sampled
afterwards.

"pu_trained": the classifier is trained on the labels only. Labeled and unlabeled rows are sampled
first, and scores are out-of-fold scores of a classifier of labeled against unlabeled rows. With few
labels, such scores rank much worse, and the prior is harder to estimate.
"""

from __future__ import annotations

import warnings
import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from benchmarks.priors.real_data import CLASSIFIERS, DATA, of_classes, of_labels, read
from benchmarks.priors.score_sets import (
    ScoreSet,
    cache_folder,
    data_folder,
    design,
    draw,
    load_file,
    save,
)

EXPECTED = len(DATA) * len(list(design((0,)))) * len(CLASSIFIERS)


def out_of_fold(model, X: np.ndarray, y: np.ndarray, seed: int) -> np.ndarray:
    folds = StratifiedKFold(5, shuffle=True, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return cross_val_predict(model, X, y, cv=folds, method="predict_proba")[:, 1]


def class_scores(folder: Path, name: str) -> dict[str, np.ndarray]:
    """Return classes and scores of classifiers trained on them, from the cache if possible."""
    path = cache_folder() / "class_scores" / f"{name}.npz"
    if not path.exists():
        X, truth = read(folder, name)
        models = of_classes(0).items()
        scores = {classifier: out_of_fold(model, X, truth, 0) for classifier, model in models}
        path.parent.mkdir(parents=True, exist_ok=True)
        np.savez(path, truth=truth, **scores)
    with np.load(path) as stored:
        return {key: stored[key] for key in stored.files}


def make_real() -> Iterator[ScoreSet]:
    folder = data_folder()
    for name in DATA:
        scores = class_scores(folder, name)
        truth = scores.pop("truth")
        for classifier in CLASSIFIERS:
            key = zlib.crc32(f"{name} {classifier}".encode())
            for number, wanted in enumerate(design((5, key))):
                rng = np.random.default_rng((6, key, number))
                rows, labeled = draw(rng, truth, **wanted)
                score = scores[classifier][rows]
                yield score_set(score, labeled, truth[rows], name, classifier, wanted)


def make_pu_trained() -> Iterator[ScoreSet]:
    folder = data_folder()
    for name in DATA:
        # Thousands of classifiers are trained; an interrupted run resumes from the cache.
        path = cache_folder() / "pu_trained" / f"{name}.npz"
        if path.exists():
            yield from load_file(path)
            continue
        sets = []
        for one in pu_trained(folder, name):
            sets.append(one)
            yield one
        save(path, sets)


def pu_trained(folder: Path, name: str) -> Iterator[ScoreSet]:
    X, truth = read(folder, name)
    for number, wanted in enumerate(design((1, zlib.crc32(name.encode())))):
        rng = np.random.default_rng((2, zlib.crc32(name.encode()), number))
        rows, labeled = draw(rng, truth, **wanted)
        order = rng.permutation(rows.size)
        rows, labeled = rows[order], labeled[order]
        for classifier, model in of_labels(number).items():
            score = out_of_fold(model, X[rows], labeled, number)
            yield score_set(score, labeled, truth[rows], name, classifier, wanted)


def score_set(
    score: np.ndarray, labeled: np.ndarray, truth: np.ndarray, data: str, classifier: str, wanted
) -> ScoreSet:
    return ScoreSet(
        score,
        labeled.astype(np.int8),
        truth.astype(np.int8),
        data=data,
        classifier=classifier,
        prior=float(truth[~labeled].mean()),
        purity=float(truth[labeled].mean()),
        wanted_prior=wanted["prior"],
        wanted_purity=wanted["purity"],
        wanted_n1=wanted["n1"],
        auc=float(roc_auc_score(truth, score)),
    )
