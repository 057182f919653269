"""Out-of-fold scores, and how to combine those of different folds and repeats.

Each fold has its own classifier, and scores of different classifiers may be on different scales.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from pueval._typing import Array
from pueval.core.curves import naive_auc
from pueval.counts.clusters import average_clusters
from pueval.counts.counts import Counts
from pueval.errors import InputError
from pueval.model_selection._partitions import Partition
from pueval.samples.sample import Sample, SortedChunk

Method = Literal["auto", "predict_proba", "decision_function"]
Align = Literal["auto", "score", "rank"]

# If the AUC within folds exceeds that of the pooled scores by more, folds differ in scale.
SCALE_MISMATCH = 0.02


def score_out_of_fold(
    estimator: Any,
    X: Any,  # noqa: N803
    labeled: Array,
    folds: Partition,
    *,
    method: str,
    fit_params: dict[str, Any] | None,
    n_jobs: int | None,
) -> Array:
    """Fit labeled against all other rows on each fold's training rows; score its test rows."""
    from sklearn.model_selection import cross_val_predict

    score: Array = cross_val_predict(
        estimator, X, labeled.astype(int), cv=folds, method=method, params=fit_params, n_jobs=n_jobs
    )
    if score.ndim == 2 and score.shape[1] == 2:
        score = score[:, 1]
    if score.ndim != 1:
        raise InputError(
            f"{type(estimator).__name__}.{method} returned {score.shape[1]} columns for two "
            "classes; it must return one or two."
        )
    return score


def rank_within_folds(score: Array, kind: Array, folds: Partition, sample_weight: Any) -> Array:
    """Replace each score by the share of its fold's rows that it outscores, ties counting half.

    Folds are random parts of the same data, so the top tenth of one fold corresponds to the top
    tenth of another, even if their raw scores do not.
    """
    ranks = np.empty(len(score))
    weight = np.ones(len(score)) if sample_weight is None else np.asarray(sample_weight, float)
    for _, test in folds:
        if not _has_both(kind[test]):
            raise InputError(
                "align='rank' requires labeled and other rows in every fold. Use fewer folds, or "
                "align='score'."
            )
        values, index = np.unique(score[test], return_inverse=True)
        mass = np.bincount(index, weight[test], minlength=values.size)
        ranks[test] = ((np.cumsum(mass) - mass / 2) / mass.sum())[index]
    return ranks


def scale_warnings(score: Array, kind: Array, folds: Partition) -> list[str]:
    """Return a warning if the AUC within folds is clearly higher than that of pooled scores."""
    aucs = [_naive_auc(score[test], kind[test]) for _, test in folds if _has_both(kind[test])]
    pooled = _naive_auc(score, kind)
    if not aucs or np.mean(aucs) - pooled <= SCALE_MISMATCH:
        return []
    message = (
        "scores of different folds are on different scales: the AUC of labeled against other rows "
        f"is {np.mean(aucs):.3f} within folds, but {pooled:.3f} for the pooled scores. Use "
        "align='rank' to compare ranks within folds instead."
    )
    return [message]


def _has_both(kind: Array) -> bool:
    """Return whether there are labeled and other rows."""
    return bool((kind == 0).any() and (kind != 0).any())


def _naive_auc(score: Array, kind: Array) -> float:
    counts = Counts.from_arrays(kind == 0, score)
    return naive_auc(counts, counts._roc_corners())


def average_counts(repeats: list[Counts]) -> Counts:
    """Average the counts of several repeats: each score of a row has weight 1/n_repeats.

    Sample sizes stay those of one repeat, so intervals do not get narrower with more repeats.
    """
    if len(repeats) == 1:
        return repeats[0]
    kinds = [*zip(*(counts._samples for counts in repeats), strict=True)]
    if repeats[0].has_propensity:
        kinds.append(tuple(counts._inverse_propensity_sample() for counts in repeats))
    averages, n = [], len(repeats)
    for samples in kinds:
        chunks = (chunk for sample in samples for chunk in sample.merged().chunks)
        shares = (SortedChunk(c.values, c.row_counts / n, c.squared_weights / n) for c in chunks)
        averages.append(Sample(tuple(shares)).merged())
    clusters = [counts._clusters for counts in repeats if counts._clusters is not None]
    return Counts(
        *averages,
        _inverse_propensities=repeats[0]._inverse_propensities,
        _clusters=average_clusters(clusters) if clusters else None,
    )
