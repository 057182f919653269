"""KernelMean: the prior by kernel mean embedding of both samples (KM1, KM2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from scipy.linalg.lapack import dpstrf
from scipy.optimize import brentq, nnls
from scipy.spatial.distance import cdist
from sklearn.utils import check_random_state

from pueval._checks import check_choice, check_count
from pueval._typing import Array
from pueval.errors import InputError
from pueval.priors._estimator_bases import FeaturePriorEstimator

Kind = Literal["KM1", "KM2"]
# Candidate kernel widths, as multiples of the median distance between rows.
WIDTH_FACTORS = np.logspace(-1, 1, 5)
# The initial slope is the difference quotient between λ = 1 and this λ.
INITIAL_STEP = 1.05
# KM2's threshold is this fraction of the way from the initial to the largest slope.
KM2_FRACTION = 0.2
# KM1 uses KM2's threshold if its own is above this fraction of the largest slope.
LARGEST_KM1_FRACTION = 0.9
LARGEST_PRIOR = 0.99
TOLERANCE = 1e-4
# A distance below the rounding error: the target is inside the hull.
INSIDE = 1e-7


@dataclass(frozen=True, eq=False)
class ConvexHull:
    """Rows as points whose inner products are the kernel, and the means of both samples.

    A pivoted Cholesky factorization of the kernel matrix represents the rows as points in as few
    dimensions as the matrix has rank. With pᵢ the points minus the target, non-negative least
    squares finds the v ≥ 0 that minimizes ‖Σvᵢpᵢ‖² + (Σvᵢ − 1)². For v = t·w with Σw = 1, the best
    t leaves ‖Σwᵢpᵢ‖² / (1 + ‖Σwᵢpᵢ‖²), which increases with the distance ‖Σwᵢpᵢ‖. So v/Σv are the
    weights of the projection onto the hull.
    """

    points: Array
    labeled_mean: Array
    unlabeled_mean: Array

    @classmethod
    def from_kernel(cls, kernel: Array, n_labeled: int) -> ConvexHull:
        """Factor a kernel matrix whose first rows are the labeled positives."""
        factor, pivot, rank, _ = dpstrf(kernel, lower=1, tol=1e-7)
        points = np.empty((len(kernel), rank))
        points[pivot - 1] = np.tril(factor)[:, :rank]
        return cls(points, points[:n_labeled].mean(axis=0), points[n_labeled:].mean(axis=0))

    def residual(self, multiple: float) -> Array:
        """Return λF + (1 − λ)H minus its projection onto the hull of the points."""
        target = multiple * self.unlabeled_mean + (1 - multiple) * self.labeled_mean
        system = np.vstack([(self.points - target).T, np.ones(len(self.points))])
        right_side = np.zeros(len(system))
        right_side[-1] = 1
        weight, _ = nnls(system, right_side, maxiter=30 * len(self.points))
        projection: Array = (weight / weight.sum()) @ self.points
        return target - projection

    def distance(self, multiple: float) -> float:
        """Return the distance d(λ) of λF + (1 − λ)H from the hull."""
        return float(np.linalg.norm(self.residual(multiple)))

    def slope(self, multiple: float) -> float:
        """Return the derivative of the distance."""
        if multiple <= 1:
            return 0.0
        residual = self.residual(multiple)
        distance = np.linalg.norm(residual)
        if distance < INSIDE:
            return 0.0
        return float((self.unlabeled_mean - self.labeled_mean) @ residual / distance)


class KernelMean(FeaturePriorEstimator):
    """Prior by gradient thresholding of a distance between kernel means.

    Let F and H be the kernel means of the unlabeled rows and of the labeled positives. If a share κ
    of the unlabeled rows is distributed like the labeled positives, then G = λF + (1 − λ)H is a
    distribution for λ up to 1/(1 − κ), but not beyond. The distance of G from the kernel means of
    all distributions on the rows,

        d(λ) = min over w ≥ 0, Σw = 1 of ‖λF + (1 − λ)H − Σ wᵢφ(xᵢ)‖,

    is convex, about 0 up to 1/(1 − κ), and rises beyond. The estimator finds the λ at which the
    slope of d reaches a threshold, and sets prior = 1 − 1/λ. The threshold is 1/√min(n_L, n_U) for
    KM1, and 0.8 × (d(1.05) − d(1))/0.05 + 0.2 × ‖F − H‖ for KM2, where ‖F − H‖ is the largest
    possible slope. If KM1's threshold is above 0.9‖F − H‖, as with few rows, it uses KM2's.

    The kernel is Gaussian. Of the widths 0.1, 0.32, 1, 3.2 and 10 times the median distance between
    rows, the estimator uses the one with the largest ‖F − H‖.

    The unlabeled rows are the mixture and the labeled positives its component, so the method
    estimates the prior directly; no conversion is needed.

    Parameters
    ----------
    kind : {"KM1", "KM2"}, default "KM2"
        Rule for the threshold of the slope.
    standardize : bool, default True
        Whether to divide each column by its standard deviation, since the kernel has the same width
        for all columns.
    max_rows : int, default 1000
        Largest number of rows to use, at least 4. Larger data sets are sampled at random, up to
        half of the rows labeled and the rest unlabeled. Memory grows with its square.
    random_state : int, RandomState instance or None, default 0
        Random seed for sampling rows.

    Attributes
    ----------
    prior_ : float
        Share of positives among the unlabeled rows, at most 0.99.
    purity_ : float
        Always 1: the estimator assumes clean labels.
    kernel_width_ : float
        Chosen kernel width, in units of the (standardized) columns.
    threshold_ : float
        Threshold of the slope.
    n_rows_ : int
        Number of rows used.

    Warns
    -----
    AssumptionWarning
        If labeled and unlabeled rows hardly differ (the prior is then not identified), or if the
        slope stays below the threshold up to a prior of 0.99.

    Notes
    -----
    The inner problem, a projection onto a convex hull, is solved exactly by non-negative least
    squares. The slope of d is then exact, too: it is the
    component of F − H in the direction from the projection to G.

    KM1 gives about 0 if the initial slope already exceeds its threshold. With few rows in many
    dimensions, this happens for every prior. KM2 does not have this problem.

    The method assumes random labeling, and that no share of the negatives is distributed like the
    positives; otherwise the prior is too high in large samples.

    References
    ----------
    Ramaswamy, Scott and Tewari (2016), Mixture proportion estimation via kernel embedding of
    distributions.

    Examples
    --------
    >>> import numpy as np
    >>> from pueval.priors import KernelMean
    >>> rng = np.random.default_rng(0)
    >>> X = np.r_[rng.normal(3, 1, (200, 2)), rng.normal(3, 1, (60, 2)), rng.normal(0, 1, (140, 2))]
    >>> y = np.repeat([1, 0], [200, 200])    # 30% of the unlabeled are positive
    >>> round(KernelMean().fit(X, y).prior_, 1)
    0.3
    """

    kernel_width_: float
    threshold_: float
    n_rows_: int

    def __init__(
        self,
        kind: Kind = "KM2",
        *,
        standardize: bool = True,
        max_rows: int = 1000,
        random_state: Any = 0,
    ) -> None:
        self.kind = kind
        self.standardize = standardize
        self.max_rows = max_rows
        self.random_state = random_state

    def _estimate(self, labeled: Array, unlabeled: Array) -> None:
        check_choice("kind", self.kind, get_args(Kind))
        check_count("max_rows", self.max_rows, least=4)
        rows, unit = _rescale(np.concatenate([labeled, unlabeled]), standardize=self.standardize)
        labeled, unlabeled = self._sample_rows(*np.split(rows, [len(labeled)]))
        n_labeled, n_unlabeled = len(labeled), len(unlabeled)
        self.n_rows_ = n_labeled + n_unlabeled

        rows = np.concatenate([labeled, unlabeled])
        weight = np.repeat([-1 / n_labeled, 1 / n_unlabeled], [n_labeled, n_unlabeled])
        kernel, width, gap = _choose_kernel(rows, weight)
        self.kernel_width_ = unit * width
        # The expected distance between two samples of the same distribution.
        chance = np.sqrt(1 / n_labeled + 1 / n_unlabeled)
        if gap < 1.5 * chance * np.sqrt(1 - kernel.mean()):
            self._note(
                f"labeled and unlabeled rows hardly differ (distance of kernel means {gap:.3g}; "
                f"about {chance:.3g} by chance), so the prior is not identified and KernelMean's "
                "estimate is arbitrary. Add rows, or features that separate the classes."
            )
        hull = ConvexHull.from_kernel(kernel, n_labeled)
        initial_slope = hull.distance(INITIAL_STEP) / (INITIAL_STEP - 1)
        threshold = (1 - KM2_FRACTION) * initial_slope + KM2_FRACTION * gap
        if self.kind == "KM1":
            km1_threshold = 1 / np.sqrt(min(n_labeled, n_unlabeled))
            if km1_threshold <= LARGEST_KM1_FRACTION * gap:
                threshold = km1_threshold
        self.threshold_ = float(threshold)
        self.prior_ = self._prior_at_slope(hull, self.threshold_)

    def _sample_rows(self, labeled: Array, unlabeled: Array) -> tuple[Array, Array]:
        if len(labeled) + len(unlabeled) <= self.max_rows:
            return labeled, unlabeled
        random = check_random_state(self.random_state)
        half = self.max_rows // 2
        n_labeled = min(len(labeled), max(half, self.max_rows - len(unlabeled)))
        samples = []
        for rows, size in ((labeled, n_labeled), (unlabeled, self.max_rows - n_labeled)):
            chosen = random.choice(len(rows), size=min(size, len(rows)), replace=False)
            samples.append(rows[np.sort(chosen)])
        return samples[0], samples[1]

    def _prior_at_slope(self, hull: ConvexHull, threshold: float) -> float:
        """Return the prior at which the slope, which never decreases, reaches the threshold."""

        def excess(prior: float) -> float:
            return hull.slope(1 / (1 - prior)) - threshold

        if excess(LARGEST_PRIOR) > 0:
            return float(brentq(excess, 0.0, LARGEST_PRIOR, xtol=TOLERANCE))
        self._note(
            f"the slope stays below the threshold {threshold:.3g}, so the estimate is the largest "
            f"prior considered, {LARGEST_PRIOR:g}. Either nearly all unlabeled rows look like "
            "labeled positives, or there are too few rows."
        )
        return LARGEST_PRIOR


def _rescale(rows: Array, *, standardize: bool) -> tuple[Array, float]:
    """Return rows that can be squared without overflow, and their unit (1 if standardized)."""
    low = rows.min(axis=0)
    extent = rows.max(axis=0) - low
    unit = float(extent.max())
    if not standardize:
        return (rows - low) / unit, unit
    rows = (rows - low) / np.where(extent > 0, extent, 1.0)
    deviation = rows.std(axis=0)
    return rows / np.where(extent > 0, deviation, 1.0), 1.0


def _choose_kernel(rows: Array, weight: Array) -> tuple[Array, float, float]:
    """Return kernel matrix, width and ‖F − H‖ for the width with the largest ‖F − H‖."""
    distance = cdist(rows, rows, "sqeuclidean")
    if not distance.any():
        raise InputError(f"all {len(rows):,} sampled rows have the same features. Raise max_rows.")
    # With many equal rows the median is 0; then use the median of the positive distances.
    median = np.median(distance) or np.median(distance[distance > 0])
    best = np.empty(0), 0.0, -np.inf
    for factor in WIDTH_FACTORS:
        kernel = np.exp(-distance / (2 * factor**2 * median))
        gap = float(np.sqrt(max(weight @ kernel @ weight, 0.0)))
        if gap > best[2]:
            best = kernel, float(factor * np.sqrt(median)), gap
    return best
