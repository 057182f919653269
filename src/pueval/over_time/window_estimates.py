"""Estimates of every measure in every window, and what each source of error does to them.

The error of an estimate has independent sources: the labeled, unlabeled and known negative rows of
the window (or its whole background), the number of labeled rows among all rows, and the prior, if
it was estimated in the window. Two windows share what their common rows contribute: with Q the sum
of squared weights (the number of rows, without weights), a source has the correlation
Q(both)/√(Q(a)·Q(b)). That is exact to first order if the rows of both have the same distribution.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pueval._typing import Array
from pueval.core.sizes import GroupSizes, divide_or_zero
from pueval.counts.counts import Counts
from pueval.evaluation.evaluation import Evaluation
from pueval.groups.unclipped_estimates import GROUP_MEASURES, measure_range

TIME_MEASURES = (*GROUP_MEASURES, "prior", "prevalence")
LABELED, UNLABELED, NEGATIVE, BACKGROUND, ROWS, PRIOR = range(6)
N_SOURCES = 6


@dataclass(frozen=True, eq=False)
class WindowEstimates:
    """Estimates of windows: arrays with one entry per window, NaN without an estimate.

    Attributes
    ----------
    value, naive, low, high : dict of str to ndarray
        Corrected value before it is clipped, naive value and confidence interval.
    center : dict of str to ndarray
        Corrected value less its excess: the center of the interval.
    parts : dict of str to ndarray of shape (6, n)
        Change of the value with one standard error of each source.
    shared : dict of str to ndarray of shape (2, n)
        Change with one standard error of the prior and of the purity that all windows share.
    own_label_count : ndarray of shape (n,)
        Part, from 0 to 1, of the error of the number of labeled rows that stays in an estimate. The
        rest cancels if the shared prior follows from all labeled rows; but not in a difference of
        windows, from which the shared prior cancels.
    sizes : GroupSizes
        Sizes of the windows.
    weights, squares : ndarray of shape (6, n)
        Sums of weights, and of squared weights, of the rows of each source.
    prior : ndarray
        Prior of every window.
    notes : tuple of str
        Why a window has no estimates, or what is wrong with them.
    """

    value: dict[str, Array]
    naive: dict[str, Array]
    low: dict[str, Array]
    high: dict[str, Array]
    center: dict[str, Array]
    parts: dict[str, Array]
    shared: dict[str, Array]
    own_label_count: Array
    sizes: GroupSizes
    weights: Array
    squares: Array
    prior: Array
    notes: tuple[str, ...]

    def standard_error(self, measure: str) -> Array:
        """Return the standard errors of a measure."""
        parts = np.concatenate([self.parts[measure], self.shared[measure]])
        parts[ROWS] *= self.own_label_count
        error: Array = np.sqrt(np.sum(parts**2, axis=0))
        return error

    @property
    def evaluated(self) -> Array:
        """Whether each window has estimates."""
        return ~np.isnan(self.prior)

    @property
    def effective(self) -> Array:
        """Effective number of rows of each source."""
        return divide_or_zero(self.weights**2, self.squares)


@dataclass(frozen=True)
class WindowOptions:
    """What the estimates of windows depend on, beside their rows.

    Attributes
    ----------
    overall : Evaluation
        Evaluation of all rows together.
    group_prior : {"shared", "label_frequency", "each"} or None
        How priors are found; None if they follow from the propensities of each window.
    min_labeled, min_background : int
        Smallest numbers of rows of a window.
    """

    overall: Evaluation
    group_prior: Any
    min_labeled: int
    min_background: int

    @property
    def level(self) -> float | None:
        """Confidence level; None for no intervals."""
        return self.overall._level


def window_sizes(counts: Sequence[Counts]) -> tuple[GroupSizes, Array, Array]:
    """Return sizes of windows, and the weights and squared weights of each source."""
    # Three lines, also without windows.
    totals = np.array([[kind.total for kind in part._samples] for part in counts]).reshape(-1, 3).T
    squares = np.array([part.squared_weights for part in counts], np.float64).reshape(-1, 3).T
    effective = divide_or_zero(totals.astype(np.float64) ** 2, squares)
    sizes = GroupSizes(totals[0], totals[1], totals[2], tuple(effective))
    if any(part.has_propensity for part in counts):
        represented = [part._inverse_propensity_sample() for part in counts]
        totals = totals.astype(np.float64)
        totals[0] = [sample.total for sample in represented]
        squares[0] = [sample.with_squared_weights.total for sample in represented]

    def by_source(kinds: Array) -> Array:
        labeled, unlabeled, negative = kinds
        rows = labeled + unlabeled + negative
        return np.array([labeled, unlabeled, negative, unlabeled + negative, rows, rows], float)

    return sizes, by_source(totals), by_source(squares)


def undefined_windows(n_windows: int) -> WindowEstimates:
    """Return estimates that are NaN in every window, of windows without rows."""

    def columns(*shape: int) -> dict[str, Array]:
        return {name: np.full(shape, np.nan) for name in TIME_MEASURES}

    empty = np.zeros(0)
    return WindowEstimates(
        value=columns(n_windows),
        naive=columns(n_windows),
        low=columns(n_windows),
        high=columns(n_windows),
        center=columns(n_windows),
        parts=columns(N_SOURCES, n_windows),
        shared=columns(2, n_windows),
        own_label_count=np.ones(n_windows),
        sizes=GroupSizes(empty, empty, empty, (empty, empty, empty)),
        weights=empty,
        squares=empty,
        prior=np.full(n_windows, np.nan),
        notes=(),
    )


def time_measure_range(name: str) -> tuple[float, float]:
    """Return the range of the true values of a measure, of the prior or of the prevalence."""
    return (0.0, 1.0) if name in {"prior", "prevalence"} else measure_range(name)
