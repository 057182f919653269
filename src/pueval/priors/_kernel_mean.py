"""KernelMean: the prior by kernel embedding of the labeled and unlabeled rows (KM1, KM2)."""

from __future__ import annotations

import warnings
from typing import Any, Literal, get_args

import numpy as np
from scipy.optimize import brentq
from scipy.spatial.distance import cdist
from sklearn.utils import check_random_state

from pueval._checks import check_count
from pueval._typing import Array
from pueval.errors import AssumptionWarning, InputError
from pueval.priors._feature_estimator import FeaturePriorEstimator
from pueval.priors._hull import Hull

Kind = Literal["KM1", "KM2"]
# Kernel widths that are tried, as multiples of the median distance of two rows.
WIDTHS = np.logspace(-1, 1, 5)
# The first slope is that between 1 and this multiple of the unlabeled mean.
FIRST_STEP = 1.05
# KM2 sets its threshold this far between the first and the largest slope.
SHARE = 0.2
# KM1 falls back to KM2 where its threshold is above this share of the largest slope.
TOO_STEEP = 0.9
LARGEST_PRIOR = 0.99
TOLERANCE = 1e-4


class KernelMean(FeaturePriorEstimator):
    """Prior by gradient thresholding of a distance between kernel means.

    Let F and H be the kernel means of the unlabeled and of the labeled rows. If a share κ of the
    unlabeled rows is distributed as the labeled ones, then G = λF + (1 − λ)H is a distribution for
    all λ up to 1/(1 − κ), and none beyond. The distance of G from the kernel means of
    all distributions on the rows,

        d(λ) = min over w ≥ 0, Σw = 1 of ‖λF + (1 − λ)H − Σ wᵢφ(xᵢ)‖,

    is convex, about 0 up to there and rises beyond. The estimate is the λ at which the slope
    of d reaches a threshold, and prior = 1 − 1/λ. The thresholds are 1/√min(n_L, n_U) for KM1, and
    0.8 × (d(1.05) − d(1))/0.05 + 0.2 × ‖F − H‖ for KM2, where ‖F − H‖ is the largest slope there
    can be. Where KM1's is above 0.9‖F − H‖, as with few rows, it takes that of KM2.

    The kernel is Gaussian; of the widths 0.1, 0.32, 1, 3.2 and 10 times the median distance of
    two rows it takes the one for which ‖F − H‖ is largest.

    The method is made for two samples, the unlabeled being the mixture and the labeled its
    component, so what it estimates is the prior as pueval means it, and nothing is converted.

    Parameters
    ----------
    kind : {"KM1", "KM2"}, default "KM2"
        The threshold of the slope.
    standardize : bool, default True
        Whether to divide each column by its standard deviation first, since the kernel has one
        width for all columns.
    max_rows : int, default 1000
        With more rows than this, a random sample of at most that many is used: up to half of them
        labeled, the others unlabeled. Memory grows with the square of it.
    random_state : int, RandomState instance or None, default 0
        Which rows are drawn, if there are more than ``max_rows``.

    Attributes
    ----------
    prior_ : float
        Share of positives among the unlabeled rows, at most 0.99.
    purity_ : float
        Always 1: labels are taken as clean.
    kernel_width_ : float
        The width that was chosen, in units of the (standardized) columns.
    threshold_ : float
        The threshold of the slope.
    n_rows_ : int
        How many rows were used.

    Warns
    -----
    AssumptionWarning
        If labeled and unlabeled rows hardly differ (the prior is then not identified), or if the
        slope stays below the threshold up to the prior 0.99.

    Notes
    -----
    The inner problem, the projection of a point onto the convex hull of others, is solved exactly
    by non-negative least squares (see `pueval.priors._hull`), and so the slope of d is exact, too:
    F − H in the direction from the projection to G. No difference quotients are needed.

    KM1 gives about 0 where already the first slope is above its threshold; with few rows in many
    dimensions this happens whatever the prior is. KM2 does not have this fault.

    Assumes that labeled rows are a random draw from the positives, and that no share of
    the negatives is distributed as the positives are; otherwise the prior is too high.

    References
    ----------
    Ramaswamy, Scott and Tewari (2016), Mixture proportion estimation via kernel embedding of
    distributions.

    Examples
    --------
    >>> import numpy as np
    >>> from pueval.priors._kernel_mean import KernelMean
    >>> rng = np.random.default_rng(0)
    >>> X = np.r_[rng.normal(3, 1, (200, 2)), rng.normal(3, 1, (60, 2)), rng.normal(0, 1, (140, 2))]
    >>> y = np.repeat([1, 0], [200, 200])    # 30 % of the unlabeled are positive
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
        if self.kind not in get_args(Kind):
            raise InputError(f"kind must be 'KM1' or 'KM2'; got {self.kind!r}.")
        check_count("max_rows", self.max_rows, least=4)
        rows, unit = _scaled(np.concatenate([labeled, unlabeled]), standardize=self.standardize)
        labeled, unlabeled = self._drawn(*np.split(rows, [len(labeled)]))
        n_labeled, n_unlabeled = len(labeled), len(unlabeled)
        self.n_rows_ = n_labeled + n_unlabeled

        rows = np.concatenate([labeled, unlabeled])
        weight = np.repeat([-1 / n_labeled, 1 / n_unlabeled], [n_labeled, n_unlabeled])
        kernel, width, gap = _widest_gap(rows, weight)
        self.kernel_width_ = unit * width
        # Two samples of one distribution are about this far apart.
        chance = np.sqrt(1 / n_labeled + 1 / n_unlabeled)
        if gap < 1.5 * chance * np.sqrt(1 - kernel.mean()):
            warnings.warn(
                f"labeled and unlabeled rows hardly differ (distance {gap:.3g} of their kernel "
                f"means, by chance about {chance:.3g}): the prior is not identified, and the "
                "estimate of KernelMean is arbitrary. Add rows, or features that separate.",
                AssumptionWarning,
                stacklevel=3,
            )
        hull = Hull.of(kernel, n_labeled)
        first = hull.distance(FIRST_STEP) / (FIRST_STEP - 1)
        threshold = (1 - SHARE) * first + SHARE * gap
        if self.kind == "KM1":
            steep = 1 / np.sqrt(min(n_labeled, n_unlabeled))
            threshold = steep if steep <= TOO_STEEP * gap else threshold
        self.threshold_ = float(threshold)
        self.prior_ = _reach(hull, self.threshold_)

    def _drawn(self, labeled: Array, unlabeled: Array) -> tuple[Array, Array]:
        if len(labeled) + len(unlabeled) <= self.max_rows:
            return labeled, unlabeled
        random = check_random_state(self.random_state)
        half = self.max_rows // 2
        keep = min(len(labeled), max(half, self.max_rows - len(unlabeled)))
        drawn = []
        for kind, wanted in ((labeled, keep), (unlabeled, self.max_rows - keep)):
            chosen = random.choice(len(kind), size=min(wanted, len(kind)), replace=False)
            drawn.append(kind[np.sort(chosen)])
        return drawn[0], drawn[1]


def _scaled(rows: Array, *, standardize: bool) -> tuple[Array, float]:
    """Return the rows in units that can be squared, and the unit if all columns share it."""
    low = rows.min(axis=0)
    extent = rows.max(axis=0) - low
    unit = float(extent.max())
    if not standardize:
        return (rows - low) / unit, unit
    rows = (rows - low) / np.where(extent > 0, extent, 1.0)
    spread = rows.std(axis=0)
    return rows / np.where(extent > 0, spread, 1.0), 1.0


def _widest_gap(rows: Array, weight: Array) -> tuple[Array, float, float]:
    """Return the kernel matrix, its width and ‖F − H‖, for the width at which that is largest."""
    distance = cdist(rows, rows, "sqeuclidean")
    if not distance.any():
        raise InputError(
            f"all {len(rows):,} rows that were drawn have the same features. Raise max_rows."
        )
    # With many equal rows the median is zero, and then that of the others serves.
    median = np.median(distance) or np.median(distance[distance > 0])
    best: tuple[Array, float, float] | None = None
    for factor in WIDTHS:
        kernel = np.exp(-distance / (2 * factor**2 * median))
        gap = float(np.sqrt(max(weight @ kernel @ weight, 0.0)))
        if best is None or gap > best[2]:
            best = kernel, float(factor * np.sqrt(median)), gap
    assert best is not None  # noqa: S101 - for the type checker; there are five widths
    return best


def _reach(hull: Hull, threshold: float) -> float:
    """Return the prior at which the slope reaches the threshold; the slope never falls."""
    if hull.slope(1 / (1 - LARGEST_PRIOR)) <= threshold:
        warnings.warn(
            f"the slope stays below the threshold {threshold:.3g} up to the prior "
            f"{LARGEST_PRIOR:g}, which is given as the estimate: nearly all unlabeled rows look "
            "like labeled ones, or the rows are too few to tell.",
            AssumptionWarning,
            stacklevel=4,
        )
        return LARGEST_PRIOR

    def excess(prior: float) -> float:
        return hull.slope(1 / (1 - prior)) - threshold

    return float(brentq(excess, 0.0, LARGEST_PRIOR, xtol=TOLERANCE))
