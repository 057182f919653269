"""Tice: the prior by a tree whose nodes bound the label frequency from below (TIcE)."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass
from numbers import Real
from typing import Any, Literal, get_args

import numpy as np
from sklearn.utils import check_random_state

from pueval._checks import check_choice, check_count
from pueval._typing import Array
from pueval.counts.counts import Counts
from pueval.errors import InputError
from pueval.priors._estimator_bases import FeaturePriorEstimator

Split = Literal["range", "median"]
# Number of parts into which the range of a feature is cut.
PARTS = 4
# Added to the number of rows of a part, so that tiny parts with many labels do not win.
PSEUDO_ROWS = 5
# Largest depth for splits at the median.
MAX_DEPTH = 30


@dataclass(frozen=True, eq=False)
class Node:
    """Rows of a node that grow the tree, rows that give bounds, and features still available."""

    growing: Array
    bounding: Array
    features: tuple[int, ...]
    depth: int = 0


def _largest_labeled_share(rows: Array, labels: Array) -> Array:
    """Return the largest labeled share M/(T + 5) among the parts of each feature."""
    return np.asarray(np.max(labels / (rows + PSEUDO_ROWS), axis=1))


class RangeSplits:
    """Splits of the range of a feature into parts of equal width."""

    def __init__(self, rows: Array) -> None:
        low, high = rows.min(axis=0), rows.max(axis=0)
        position = (rows - low) / np.where(high > low, high - low, 1.0)
        self.part = np.minimum((PARTS * position).astype(np.int64), PARTS - 1)

    def children(self, node: Node, is_labeled: Array) -> Iterator[Node]:
        """Split a node by its best feature; yield nothing if no part would have labels."""
        features = np.array(node.features, dtype=np.int64)
        if not features.size:
            return
        cell = self.part[np.ix_(node.growing, features)] + PARTS * np.arange(features.size)
        size = PARTS * features.size
        rows = np.bincount(cell.ravel(), minlength=size).reshape(-1, PARTS)
        labels = np.bincount(cell[is_labeled[node.growing]].ravel(), minlength=size)
        share = _largest_labeled_share(rows, labels.reshape(-1, PARTS))
        best = int(np.argmax(share))
        if share[best] <= 0:
            return
        part = self.part[:, features[best]]
        remaining = tuple(f for f in node.features if f != features[best])
        for k in range(PARTS):
            yield Node(
                node.growing[part[node.growing] == k],
                node.bounding[part[node.bounding] == k],
                remaining,
                node.depth + 1,
            )


@dataclass(frozen=True, eq=False)
class MedianSplits:
    """Splits at the median of the growing rows of a node; features stay available."""

    rows: Array

    def children(self, node: Node, is_labeled: Array) -> Iterator[Node]:
        """Split a node by its best feature; yield nothing if no part would have labels."""
        if node.depth >= MAX_DEPTH:
            return
        values = self.rows[node.growing]
        cut = np.median(values, axis=0)
        # Rows that tie with the median stay together, below the cut if they are the lowest.
        cut = np.where(cut > values.min(axis=0), cut, np.nextafter(cut, np.inf))
        above = values >= cut
        labeled_above = above[is_labeled[node.growing]]
        rows = np.stack([(~above).sum(axis=0), above.sum(axis=0)], axis=1)
        labels = np.stack([(~labeled_above).sum(axis=0), labeled_above.sum(axis=0)], axis=1)
        share = np.where((rows > 0).all(axis=1), _largest_labeled_share(rows, labels), 0)
        best = int(np.argmax(share))
        if share[best] <= 0:
            return
        for is_above in (False, True):
            yield Node(
                node.growing[above[:, best] == is_above],
                node.bounding[(self.rows[node.bounding, best] >= cut[best]) == is_above],
                node.features,
                node.depth + 1,
            )


class Tice(FeaturePriorEstimator):
    """Prior by tree induction for label frequency estimation (TIcE).

    Under random labeling, the labeled share of any subset defined by features is at most the label
    frequency c in expectation, and equals c if all rows of the subset are positive. If M of T rows
    in the subset are labeled, Cantelli's inequality bounds c from below with confidence 1 − δ:

        c ≥ M/T − √(c₀(1 − c₀)(1 − δ) / (δT)),

    where c₀ is an initial value for c. A tree searches for subsets with many labels. The rows are
    divided into folds: each fold in turn grows a tree, and the other folds give the bounds, so the
    search does not bias them. The node with the best bound is split first, by the feature with the
    largest M/(T + 5) in one of its parts. Each fold contributes the largest bound of all nodes, or
    the labeled share if that is larger; their mean estimates c. The procedure starts with c₀ = 1/2
    and is repeated with c₀ set to the result.

    Labeled and unlabeled rows together form the population (single-sample design), in which
    c = n_L / number of positives. The share of positives among the unlabeled rows follows:
    prior = n_L·(1 − c) / (c·n_U). This also holds for the case-control design, since only the
    numbers of rows matter.

    Parameters
    ----------
    split : {"range", "median"}, default "range"
        Type of split. ``"range"``, the published method, cuts the range of a feature into four
        parts of equal width and uses each feature at most once per path. ``"median"``, not part of
        the published method, cuts at the median of the node's rows and may reuse features; it finds
        small regions when features are skewed or few.
    delta : float, optional
        Error probability δ of each bound, in (0, 1); by default max(0.025, 1/(1 + 0.004·n)), where
        n is the number of rows that give the bounds.
    folds : int, default 5
        Number of folds, at least 2.
    iterations : int, default 2
        Number of iterations, at least 1; each uses the previous result as c₀.
    max_splits : int, default 500
        Largest number of splits per tree.
    min_rows : int, default 10
        Smallest number of rows of a node that gives a bound or is split.
    random_state : int, RandomState instance or None, default 0
        Random seed for assigning rows to folds.

    Attributes
    ----------
    prior_ : float
        Share of positives among the unlabeled rows.
    label_frequency_ : float
        Estimated share of all positives that are labeled, before clipping.
    purity_ : float
        Always 1: the estimator assumes clean labels.

    Warns
    -----
    AssumptionWarning
        If no subset has a larger labeled share than the whole, which would make every unlabeled
        row positive; the prior is then clipped to n_U / (n_U + 1).

    Notes
    -----
    Each bound holds with confidence 1 − δ, but the largest of many need not. If no subset is purely
    positive, or labels are few, the estimate of c is usually too low and the prior too high.

    References
    ----------
    Bekker and Davis (2018), Estimating the class prior in positive and unlabeled data through
    decision tree induction.

    Examples
    --------
    >>> import numpy as np
    >>> from pueval.priors import Tice
    >>> rng = np.random.default_rng(0)
    >>> X = np.r_[rng.normal(4, 1, (800, 2)), rng.normal(0, 1, (700, 2))]
    >>> y = np.repeat([1, 0], [500, 1000])    # 30% of the unlabeled are positive
    >>> round(Tice().fit(X, y).prior_, 1)
    0.3
    """

    label_frequency_: float

    def __init__(
        self,
        split: Split = "range",
        *,
        delta: float | None = None,
        folds: int = 5,
        iterations: int = 2,
        max_splits: int = 500,
        min_rows: int = 10,
        random_state: Any = 0,
    ) -> None:
        self.split = split
        self.delta = delta
        self.folds = folds
        self.iterations = iterations
        self.max_splits = max_splits
        self.min_rows = min_rows
        self.random_state = random_state

    def _estimate(self, labeled: Array, unlabeled: Array) -> None:
        self._check()
        rows = np.concatenate([labeled, unlabeled])
        is_labeled = np.arange(len(rows)) < len(labeled)
        random = check_random_state(self.random_state)
        # Stratified, so that all folds have the same labeled share.
        fold = np.concatenate([random.permutation(len(part)) for part in (labeled, unlabeled)])
        fold %= min(self.folds, len(rows))
        splitter = RangeSplits(rows) if self.split == "range" else MedianSplits(rows)

        frequency = 0.5
        for _ in range(self.iterations):
            bounds = []
            for k in np.unique(fold):
                growing, bounding = np.flatnonzero(fold == k), np.flatnonzero(fold != k)
                if not bounding.size:
                    growing, bounding = bounding, growing
                root = Node(growing, bounding, tuple(range(rows.shape[1])))
                bounds.append(self._largest_bound(root, splitter, is_labeled, frequency))
            frequency = float(np.mean(bounds))
        self.label_frequency_ = frequency
        counts = Counts.from_table([0], [len(labeled)], [len(unlabeled)])
        self.prior_ = self._prior_from_label_frequency(counts, frequency, "Tice")

    def _check(self) -> None:
        check_choice("split", self.split, get_args(Split))
        delta: Any = self.delta
        if delta is not None and not (isinstance(delta, Real) and 0 < float(delta) < 1):
            raise InputError(f"delta must be a number in (0, 1), or None; got {self.delta!r}.")
        for name, least in (("folds", 2), ("iterations", 1), ("max_splits", 0), ("min_rows", 1)):
            check_count(name, getattr(self, name), least=least)

    def _largest_bound(
        self, root: Node, splitter: RangeSplits | MedianSplits, is_labeled: Array, frequency: float
    ) -> float:
        delta = self.delta or max(0.025, 1 / (1 + 0.004 * root.bounding.size))
        variance = frequency * (1 - frequency) * (1 - delta) / delta

        def bound(rows: Array) -> float:
            return float(is_labeled[rows].mean() - np.sqrt(variance / rows.size))

        best = float(is_labeled[root.bounding].mean())
        queue = [(0.0, 0, 0, root)] if root.growing.size else []
        n_pushed = n_splits = 0
        while queue and n_splits < self.max_splits and best < 1:
            node = heapq.heappop(queue)[-1]
            n_splits += 1
            for child in splitter.children(node, is_labeled):
                if child.bounding.size >= self.min_rows:
                    best = max(best, bound(child.bounding))
                # With fewer labels, even a fully labeled part cannot improve the bound.
                fewest = variance / (1 - best) ** 2 if best < 1 else np.inf
                labels = is_labeled[child.growing].sum()
                if (
                    is_labeled[child.bounding].sum() > fewest
                    and child.growing.size > self.min_rows
                    and 0 < labels < child.growing.size
                ):
                    n_pushed += 1
                    priority = (-bound(child.growing), -int(labels), n_pushed)
                    heapq.heappush(queue, (*priority, child))
        return best
