"""How much intervals must widen because the classifiers of all folds share training rows.

Out-of-fold scores are not independent: each row trained the classifiers that score the other folds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from pueval._typing import Array
from pueval.errors import InputError
from pueval.model_selection._partitions import Partition


class ReducedPartitions(NamedTuple):
    """Partitions of the same rows in which two parts of the training rows are missing, or both."""

    without_first: Partition
    without_second: Partition
    without_both: Partition


def reduce_partition(folds: Partition, labeled: Array, seed: int) -> ReducedPartitions:
    """Remove one neighboring fold, the other, or both from the training rows of each fold.

    Two neighboring folds can be tested by the same classifier, trained without both. With two or
    three folds, random quarters of the training rows are removed instead.
    """
    n_folds = len(folds)
    tests = [test for _, test in folds]
    if n_folds < 4:
        reduced = _without_quarters(folds, labeled, seed)
    else:
        triples = [([k - 1, k, (k + 1) % n_folds], [k]) for k in range(n_folds)]
        reduced = ReducedPartitions(
            *(
                [_without(tests, removed, tested) for removed, tested in parts]
                for parts in (_pairs(n_folds, 0), _pairs(n_folds, 1), triples)
            )
        )
    for train, _ in reduced.without_both:
        if labeled[train].all() or not labeled[train].any():
            missing = "unlabeled or known negative" if labeled[train].any() else "labeled"
            raise InputError(f"no {missing} rows are left for training")
    return reduced


def _removed_share(n_folds: int) -> float:
    """Return the share of the training rows in each of the two parts."""
    return 1 / 4 if n_folds < 4 else 1 / (n_folds - 1)


def _pairs(n_folds: int, start: int) -> list[tuple[list[int], list[int]]]:
    """Pair neighboring folds in a circle, from ``start`` (0 or 1): removed and tested folds.

    From 0 and from 1, each fold has different neighbors. If their number is odd, the last fold is
    tested alone.
    """
    order = [*range(start, n_folds), *range(start)]
    pairs = [order[i : i + 2] for i in range(0, n_folds - n_folds % 2, 2)]
    parts = [(pair, pair) for pair in pairs]
    if n_folds % 2:
        parts.append(([0, n_folds - 1], order[-1:]))
    return parts


def _without(tests: list[Array], removed: list[int], tested: list[int]) -> tuple[Array, Array]:
    """Return training rows without the removed folds, and the rows of the tested folds."""
    absent = {k % len(tests) for k in removed}
    kept = [rows for k, rows in enumerate(tests) if k not in absent]
    return np.sort(np.concatenate(kept)), np.concatenate([tests[k] for k in tested])


def _without_quarters(folds: Partition, labeled: Array, seed: int) -> ReducedPartitions:
    """Remove one random quarter of the training rows, another one, or both."""
    reduced = ReducedPartitions([], [], [])
    for number, (train, test) in enumerate(folds):
        rng = np.random.default_rng([seed, number])
        quarter = np.empty(train.size, dtype=int)
        for kind in (True, False):
            of_kind = np.flatnonzero(labeled[train] == kind)
            quarter[rng.permutation(of_kind)] = 3 - np.arange(of_kind.size) % 4
        for partition, absent in zip(reduced, ([0], [1], [0, 1]), strict=True):
            partition.append((train[~np.isin(quarter, absent)], test))
    return reduced


def training_design_effect(
    scores: tuple[Array, Array, Array, Array],
    folds: Partition,
    labeled: Array,
    sample_weight: Array | None,
) -> float:
    """Return the factor by which shared training rows increase the variance of the AUC.

    Let g(i, j) be the effect of training with row j on the placement of row i. In addition to the
    terms of independent rows, the variance of the cross-validated AUC has the covariance of
    g(i, j) and g(j, i) for all rows i and j of different folds. It is at most the variance of g,
    which it reaches if both are equal. That variance is (n − m)²/(nm) times the covariance
    of two changes of the placement of i, where n is the number of training rows: the change from
    removing m of them, and the same change after m others were removed. As the two changes come
    from four different classifiers, erratic effects of a few rows cancel out. Changes of the mean
    placement, which are changes of the true AUC, do not count.

    Parameters
    ----------
    scores : tuple of ndarray
        Out-of-fold scores, and those of the three `ReducedPartitions`.
    folds : list of pairs
        Training and test rows.
    labeled : ndarray of bool
        Whether each row is labeled.
    sample_weight : ndarray or None
        Weights of the rows.

    Returns
    -------
    float
        At least 1.

    References
    ----------
    Bates, Hastie and Tibshirani (2024) on the covariance between folds.
    """
    weight = np.ones(labeled.size) if sample_weight is None else np.asarray(sample_weight, float)
    variance = covariance = 0.0
    for kind in (True, False):
        others, of_kind = labeled != kind, labeled == kind
        share_outscored = _outscored_shares(scores[0][others], weight[others])
        full, without_first, without_second, without_both = map(share_outscored, scores)
        total = weight[of_kind].sum()
        rows = np.flatnonzero(of_kind)
        variance += _sum_of_products(full[rows], full[rows], weight[rows]) / total**2
        for train, test in folds:
            rows = test[of_kind[test]]
            first = full - without_first, without_second - without_both
            second = full - without_second, without_first - without_both
            products = sum(
                _sum_of_products(change[rows], again[rows], weight[rows])
                for change, again in (first, second)
            )
            removed = train.size * _removed_share(len(folds))
            factor = (train.size - removed) ** 2 / (train.size * removed)
            covariance += factor * products / 2 / total**2
    return 1 + max(covariance, 0.0) / variance if variance > 0 else 1.0


def _outscored_shares(score: Array, weight: Array) -> Callable[[Array], Array]:
    """Return the function from scores to the share of rows they outscore, ties counting half."""
    order = np.argsort(score)
    values, cumulative = score[order], np.concatenate([[0.0], np.cumsum(weight[order])])

    def share(scores: Array) -> Array:
        below = np.searchsorted(values, scores, side="left")
        not_above = np.searchsorted(values, scores, side="right")
        outscored: Array = (cumulative[below] + cumulative[not_above]) / (2 * cumulative[-1])
        return outscored

    return share


def _sum_of_products(values: Array, others: Array, weight: Array) -> float:
    """Return the sum of w² times both deviations, corrected for the estimated means."""
    n_rows = np.count_nonzero(weight)
    if n_rows < 2:
        return 0.0
    first, second = (part - np.average(part, weights=weight) for part in (values, others))
    return float(np.sum(weight**2 * first * second)) * n_rows / (n_rows - 1)
