"""Empirical Bayes: estimates of many small groups, shrunken toward their mean."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy

from pueval._typing import Array
from pueval.core.confidence import normal_quantile
from pueval.core.measures import MEASURES
from pueval.core.mixture import Mixtures
from pueval.core.rates import labeled_contrast
from pueval.core.sizes import GroupSizes
from pueval.groups.group_estimates import GroupResult
from pueval.groups.group_jackknife import Jackknife
from pueval.groups.group_priors import GroupPriors
from pueval.groups.unclipped_estimates import UnclippedEstimates, measure_range
from pueval.text.numbers import format_number

# Smallest number of groups whose spread can be estimated.
MIN_GROUPS = 5
# Labeled rows that a group needs for its own variance to count as much as that of all groups of
# its size. Chosen by simulation of coverage (tests/coverage).
VARIANCE_ROWS = 20
# Values of the standard deviation between groups, and the largest one in standard deviations of
# the estimates. Values whose log-likelihood is lower than the highest by more than NEGLIGIBLE do
# not matter.
GRID_POINTS, LARGEST_SPREAD, NEGLIGIBLE = 64, 4.0, 12.0


@dataclass(frozen=True, eq=False, repr=False)
class GroupShrinkage(GroupResult):
    """One measure of every group, shrunken toward the mean of the groups.

    Attributes
    ----------
    measure : str
        Name of the measure.
    groups : tuple
        Names of the groups.
    value, low, high : ndarray
        Shrunken estimates and their intervals. Groups without an estimate of their own have the
        mean of the groups, with the interval of an unknown group.
    standard_error : ndarray
        Standard errors of the shrunken estimates.
    weight : ndarray
        Weight of the group's own estimate, from 0 to 1; the mean of the groups has the rest.
    own_value, own_standard_error : ndarray
        The group's own estimate, not clipped, without the excess of average precision; and the
        standard error by which it was weighted.
    mean : float
        Mean of the groups.
    spread : float
        Standard deviation of the true values between groups; of their logarithms for ratios.
    """

    measure: str
    groups: tuple[Any, ...]
    value: Array
    low: Array
    high: Array
    standard_error: Array
    weight: Array
    own_value: Array
    own_standard_error: Array
    mean: float
    spread: float

    def _interval_columns(self) -> tuple[Array, Array, Array, Array]:
        """Return copies of values, both ends of the intervals, and standard errors."""
        return self.value.copy(), self.low.copy(), self.high.copy(), self.standard_error.copy()

    def _headline(self) -> str:
        return (
            f"{super()._headline()}, shrunken toward the mean {format_number(self.mean)}; "
            f"standard deviation between groups {format_number(self.spread)}"
        )


class GroupPosterior(NamedTuple):
    """Mean and standard deviation of the true values, weights, and those of an unknown group."""

    mean: Array
    error: Array
    weight: Array
    center: float
    center_error: float
    spread: float


def posterior(estimate: Array, variance: Array) -> GroupPosterior:
    """Return means and standard deviations of normal true values, from estimates with variances.

    For each of many values of the variance τ² between groups, the mean of the groups is the
    weighted mean with weights 1/(v + τ²), and the true value of a group is normal around
    (1 − B)·estimate + B·mean with B = v/(v + τ²). Results are averaged over the restricted
    likelihood of τ², with a flat prior, so that intervals include the error of the mean and of τ².

    References
    ----------
    Morris (1983); Morris and Tang (2011).

    Examples
    --------
    >>> import numpy as np
    >>> found = posterior(np.array([0.6, 0.7, 0.8, 0.9, 0.95]), np.full(5, 0.01))
    >>> found.mean.round(2), round(found.center, 2)
    (array([0.65, 0.72, 0.8 , 0.87, 0.91]), 0.79)
    """
    largest = LARGEST_SPREAD * math.sqrt(
        max(float(np.var(estimate, ddof=1)), float(variance.min()))
    )
    edges = np.array([0.0, largest])
    for _ in range(2):  # the second grid is where the likelihood of the first is not negligible
        step = (edges[-1] - edges[0]) / GRID_POINTS
        spread = edges[0] + step * (np.arange(GRID_POINTS) + 0.5)
        precision = 1 / (variance + spread[:, None] ** 2)
        total = precision.sum(axis=1)
        mean = precision @ estimate / total
        deviation = precision * (estimate - mean[:, None]) ** 2
        likelihood = np.log(precision).sum(axis=1) - np.log(total) - deviation.sum(axis=1)
        log_density = likelihood / 2 + np.log(spread)
        used = spread[log_density > log_density.max() - NEGLIGIBLE]
        edges = np.array([max(used[0] - step, 0.0), used[-1] + step])
    density = np.exp(log_density - log_density.max())
    density /= density.sum()
    share = variance * precision
    value = (1 - share) * estimate + share * mean[:, None]
    within = variance * (1 - share) + share**2 / total[:, None]
    average = density @ value
    error = np.sqrt(density @ (within + (value - average) ** 2))
    center = float(density @ mean)
    unknown = density @ (spread**2 + 1 / total + (mean - center) ** 2)
    return GroupPosterior(
        average,
        error,
        density @ (1 - share),
        center,
        math.sqrt(unknown),
        math.sqrt(float(density @ spread**2)),
    )


def shrink_groups(
    measure: str,
    groups: tuple[Any, ...],
    estimates: UnclippedEstimates,
    jackknife: Jackknife,
    sizes: GroupSizes,
    mixtures: Mixtures,
    priors: GroupPriors,
    predicted: Array,
    level: float,
) -> GroupShrinkage:
    """Shrink one measure of all groups; ``predicted`` groups get the mean if they have no estimate.

    Ratios are shrunken on the logarithmic scale. With fewer than `MIN_GROUPS` estimates all are
    undefined.
    """
    ratio = measure in MEASURES and MEASURES[measure].is_ratio
    own_value, full = estimates.center(measure), estimates.value[measure]
    jackknifed = jackknife.values[measure]
    cautious = np.square(estimates.error[measure])
    label_count = np.square(estimates.prevalence_change(measure))
    own, by_prior = priors.split_changes(estimates.prior_change[measure])
    # Errors of prior and purity that all groups share.
    shared = np.stack([by_prior, estimates.purity_change[measure]])
    scale = np.ones(own_value.size)
    center = own_value
    with np.errstate(divide="ignore", invalid="ignore"):
        if ratio:
            scale, center = own_value, np.log(own_value)
            full, jackknifed = np.log(full), np.log(jackknifed)
        rows = jackknife.variance(jackknifed, full)
        cautious, label_count = cautious / scale**2, label_count / scale**2
        own, shared = own / scale, shared / scale
    inputs = np.stack([center, rows, cautious, label_count, own, *shared])
    usable = np.asarray(np.isfinite(inputs).all(axis=0))
    undefined = np.full(own_value.size, np.nan)
    value, error, weight, own_error = (undefined.copy() for _ in range(4))
    mean = spread = math.nan
    if np.count_nonzero(usable) >= MIN_GROUPS:
        by_rows = cautious[usable] - label_count[usable]
        variance = _smooth_variances(rows[usable], by_rows, sizes, mixtures, usable)
        variance += label_count[usable] + own[usable] ** 2
        found = posterior(center[usable], variance)
        mean, spread = found.center, found.spread
        own_error[usable] = np.sqrt(variance) * np.abs(scale[usable])
        shift = np.mean(shared[:, usable], axis=1)
        value[predicted], weight[predicted] = mean, 0.0
        error[predicted] = math.hypot(found.center_error, *shift)
        value[usable], weight[usable] = found.mean, found.weight
        # What all groups share moves the group and the mean.
        moved = found.weight * shared[:, usable] + (1 - found.weight) * shift[:, None]
        error[usable] = np.sqrt(found.error**2 + np.sum(moved**2, axis=0))
    margin = normal_quantile(level) * error
    low, high = value - margin, value + margin
    if ratio:
        value, low, high, mean = np.exp(value), np.exp(low), np.exp(high), math.exp(mean)
        error *= value
    value, low, high = np.clip([value, low, high], *measure_range(measure))
    return GroupShrinkage(
        measure, groups, value, low, high, error, weight, own_value, own_error, mean, spread
    )


def _smooth_variances(
    rows: Array, cautious: Array, sizes: GroupSizes, mixtures: Mixtures, usable: Array
) -> Array:
    """Return the sampling variance of each usable group.

    In small groups, estimates that look good have small variances. Variances of the jackknife are
    therefore replaced by those of groups with the same sizes, a/n_L + b/n_B divided by the squared
    contrast. Groups with many labeled rows get a variance of their own: the cautious one, in the
    same proportion for all.
    """
    labeled, background = (size[usable] for size in sizes.effective_sizes)
    contrast = labeled_contrast(mixtures, sizes)[usable] ** 2
    terms = np.column_stack([1 / labeled, 1 / background]) / contrast[:, None]
    relative = terms.sum(axis=1)
    coefficients, _ = scipy.optimize.nnls(terms / relative[:, None], rows / relative)
    smooth = terms @ coefficients
    own = np.maximum(cautious, 0)
    own *= np.sum(smooth / relative) / max(np.sum(own / relative), 1e-300)
    average = (labeled * own + VARIANCE_ROWS * smooth) / (labeled + VARIANCE_ROWS)
    # No estimate is exact, even if all groups have the same.
    variance: Array = np.maximum(average, 1e-6 * relative)
    return variance
