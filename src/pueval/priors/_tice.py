"""Tice: the prior by a tree whose nodes bound the label frequency from below (TIcE)."""

from __future__ import annotations

import heapq
import warnings
from numbers import Real
from typing import Any, Literal, get_args

import numpy as np
from sklearn.utils import check_random_state

from pueval._checks import check_count
from pueval._typing import Array
from pueval.counts.counts import Counts
from pueval.errors import AssumptionWarning, InputError
from pueval.priors._feature_estimator import FeaturePriorEstimator
from pueval.priors._frequency import prior_from_label_frequency
from pueval.priors._tice_splits import MedianSplits, Node, RangeSplits

Split = Literal["range", "median"]


class Tice(FeaturePriorEstimator):
    """Prior by tree induction for label frequency estimation (TIcE).

    If labeled rows are a random draw from the positives, the labeled share of any subset chosen by
    features is at most the label frequency c, and reaches it where all rows are positive.
    With T rows in the subset, M of them labeled, Cantelli's inequality bounds c from below with
    confidence 1 − δ:

        c ≥ M/T − √(c₀(1 − c₀)(1 − δ) / (δT)),

    where c₀ is a first guess of c. A tree searches for promising subsets: the rows are put
    into folds; in turn one fold grows the tree, and the others give the bounds, so that
    none of them profits from having been picked. The node with the best bound is split first, by
    the feature with the largest M/(T + 5) in one of its parts. Each fold gives the largest bound
    of all nodes, or the labeled share if that is larger; their mean is the estimate of c. All this
    is done with c₀ = 1/2 first, and then again with c₀ the result.

    Labeled and unlabeled rows together are taken as the population (single-sample
    setting), where c = n_L / number of positives. The prior, which is the share of positives
    among the unlabeled alone, follows exactly: prior = n_L·(1 − c) / (c·n_U). This also holds if
    the labeled rows were collected apart, since only the numbers of rows enter.

    Parameters
    ----------
    split : {"range", "median"}, default "range"
        ``"range"``: a split cuts the range of a feature into four parts of equal width, and a
        feature is used once on a path, as published. ``"median"``: a split cuts at the median of
        the node's rows, and features can be used again, which finds small regions of
        skewed or single features; it is not part of the published method.
    delta : float, optional
        The δ of each bound; by default max(0.025, 1/(1 + 0.004·n)) with n the number of rows that
        give the bounds.
    folds : int, default 5
        Number of folds.
    iterations : int, default 2
        How often the label frequency is estimated, each time with the last result as c₀.
    max_splits : int, default 500
        Largest number of splits of a tree.
    min_rows : int, default 10
        Smallest number of rows to give a bound, and to be split.
    random_state : int, RandomState instance or None, default 0
        The assignment of rows to folds.

    Attributes
    ----------
    prior_ : float
        Share of positives among the unlabeled rows.
    label_frequency_ : float
        The estimate of the share of all positives that are labeled, before it is made feasible.
    purity_ : float
        Always 1: labels are taken as clean.

    Warns
    -----
    AssumptionWarning
        If no subset has more labels than the whole, which would make every unlabeled row
        a positive: the prior is then clipped to n_U / (n_U + 1).

    Notes
    -----
    Each bound holds with confidence 1 − δ, but the largest of many need not. The mean of the
    largest bounds is mostly too low where no subset is purely positive or where labels are few, and
    then the prior is too high.

    References
    ----------
    Bekker and Davis (2018), Estimating the class prior in positive and unlabeled data through
    decision tree induction.

    Examples
    --------
    >>> import numpy as np
    >>> from pueval.priors._tice import Tice
    >>> rng = np.random.default_rng(0)
    >>> X = np.r_[rng.normal(4, 1, (800, 2)), rng.normal(0, 1, (700, 2))]
    >>> y = np.repeat([1, 0], [500, 1000])    # 30 % of the unlabeled are positive
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
        known = np.arange(len(rows)) < len(labeled)
        random = check_random_state(self.random_state)
        # Within labeled and unlabeled rows apart, so that all folds have the same labeled share.
        fold = np.concatenate(
            [random.permutation(len(labeled)), random.permutation(len(unlabeled))]
        )
        fold %= min(self.folds, len(rows))
        splitter: RangeSplits | MedianSplits = (
            RangeSplits.of(rows) if self.split == "range" else MedianSplits(rows)
        )

        frequency = 0.5
        for _ in range(self.iterations):
            bounds = []
            for part in np.unique(fold):
                growing, bounding = np.flatnonzero(fold == part), np.flatnonzero(fold != part)
                if not bounding.size:
                    growing, bounding = bounding, growing
                bounds.append(self._largest_bound(splitter, known, growing, bounding, frequency))
            frequency = float(np.mean(bounds))
        self.label_frequency_ = frequency
        counts = Counts.from_table([0], [len(labeled)], [len(unlabeled)])
        self.prior_, notes = prior_from_label_frequency(counts, frequency, "Tice")
        for note in notes:
            warnings.warn(note, AssumptionWarning, stacklevel=3)

    def _check(self) -> None:
        if self.split not in get_args(Split):
            raise InputError(f"split must be 'range' or 'median'; got {self.split!r}.")
        delta: Any = self.delta
        if delta is not None and not (isinstance(delta, Real) and 0 < float(delta) < 1):
            raise InputError(f"delta must be a number in (0, 1), or None; got {self.delta!r}.")
        for name, least in (("folds", 2), ("iterations", 1), ("max_splits", 0), ("min_rows", 1)):
            check_count(name, getattr(self, name), least=least)

    def _largest_bound(
        self,
        splitter: RangeSplits | MedianSplits,
        known: Array,
        growing: Array,
        bounding: Array,
        frequency: float,
    ) -> float:
        delta = self.delta or max(0.025, 1 / (1 + 0.004 * bounding.size))
        error = frequency * (1 - frequency) * (1 - delta) / delta

        def bound(rows: Array) -> float:
            return float(known[rows].mean() - np.sqrt(error / rows.size))

        best = float(known[bounding].mean())
        root = Node(growing, bounding, tuple(range(splitter.n_features)))
        queue = [(0.0, 0, 0, root)] if growing.size else []
        pushed = splits = 0
        while queue and splits < self.max_splits and best < 1:
            node = heapq.heappop(queue)[-1]
            splits += 1
            for child in splitter.children(node, known):
                if child.bounding.size >= self.min_rows:
                    best = max(best, bound(child.bounding))
                # Even if all rows of a smaller part were labeled, its bound would not be best.
                enough = error / (1 - best) ** 2 if best < 1 else np.inf
                labels = known[child.growing].sum()
                if (
                    known[child.bounding].sum() > enough
                    and child.growing.size > self.min_rows
                    and 0 < labels < child.growing.size
                ):
                    pushed += 1
                    heapq.heappush(queue, (-bound(child.growing), -int(labels), pushed, child))
        return best
