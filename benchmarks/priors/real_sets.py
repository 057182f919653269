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
from multiprocessing import Pool

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from benchmarks.priors.real_data import CLASSIFIERS, DATA, of_classes, of_labels, read
from benchmarks.priors.score_sets import ScoreSet, data_folder, design, draw

EXPECTED = len(DATA) * len(list(design((0,)))) * len(CLASSIFIERS)


def out_of_fold(model, X: np.ndarray, y: np.ndarray, seed: int) -> np.ndarray:
    folds = StratifiedKFold(5, shuffle=True, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return cross_val_predict(model, X, y, cv=folds, method="predict_proba")[:, 1]


def make_real(processes: int = 1) -> Iterator[ScoreSet]:
    """Make the sets of classifiers trained on the classes."""
    jobs = [(name, classifier) for name in DATA for classifier in CLASSIFIERS]
    with Pool(processes) as pool:
        for sets in pool.imap(trained_on_classes, jobs, chunksize=1):
            yield from sets


def trained_on_classes(job: tuple[str, str]) -> list[ScoreSet]:
    name, classifier = job
    X, truth = read(data_folder(), name)
    scores = out_of_fold(of_classes(0)[classifier], X, truth, 0)
    key = zlib.crc32(f"{name} {classifier}".encode())
    sets = []
    for number, wanted in enumerate(design((5, key))):
        rng = np.random.default_rng((6, key, number))
        rows, labeled = draw(rng, truth, **wanted)
        sets.append(score_set(scores[rows], labeled, truth[rows], name, classifier, wanted))
    return sets


def make_pu_trained(processes: int = 1) -> Iterator[ScoreSet]:
    """Make the sets of classifiers trained on the labels; thousands of them are trained."""
    jobs = [
        (name, number, wanted)
        for name in DATA
        for number, wanted in enumerate(design((1, zlib.crc32(name.encode()))))
    ]
    with Pool(processes) as pool:
        for sets in pool.imap(trained_on_labels, jobs, chunksize=1):
            yield from sets


def trained_on_labels(job: tuple[str, int, dict]) -> list[ScoreSet]:
    name, number, wanted = job
    X, truth = read(data_folder(), name)
    rng = np.random.default_rng((2, zlib.crc32(name.encode()), number))
    rows, labeled = draw(rng, truth, **wanted)
    order = rng.permutation(rows.size)
    rows, labeled = rows[order], labeled[order]
    sets = []
    for classifier, model in of_labels(number).items():
        score = out_of_fold(model, X[rows], labeled, number)
        sets.append(score_set(score, labeled, truth[rows], name, classifier, wanted))
    return sets


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
