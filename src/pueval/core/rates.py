"""Rates: the correction, from counts and a mixture to true and false positive rates.

Unlabeled rows and known negatives are pooled into one *background* sample, whose share of positives
is prior·n_U / (n_U + n_N). With clean labels this counts known negatives exactly, as Claesen et al.
(2015) do. With noisy labels it treats them as a random sample of the negatives.

*Monotone rates* are true and false positive rates in [0, 1] that increase together.

Corrected rates are noisy. Where few rows remain, the false positive rate can be negative or fall as
the threshold is lowered; with noisy labels recall can fall, too. A ROC curve needs rates in [0, 1],
and at each recall the smallest false positive rate of all thresholds that reach this recall. This
is algorithm 1 of Jain et al. (2017) read along the other axis: the paper raises recall to its
maximum at or left of each false positive rate.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from pueval._typing import Array, Target
from pueval.core.mixture import NAIVE, Mixture, Mixtures, check_target
from pueval.core.sizes import SampleSizes
from pueval.counts.counts import Counts
from pueval.errors import InputError
from pueval.samples.sample import rows_of_weight
from pueval.samples.steps import Steps
from pueval.samples.threads import map_in_threads

# Resampled prevalences are at least this far from 0 and 1.
SMALLEST_PREVALENCE = 1e-9
# Lines handled at a time, and threads that do it. Temporary arrays of more lines do not stay in the
# cache; with fewer lines, threads wait for each other after every short step.
LINES = 500
LINE_THREADS = 4


@dataclass(frozen=True, eq=False)
class Rates:
    """Corrected rates at a series of thresholds; not clipped, so noise stays visible.

    Arrays may have one line per resample.

    Attributes
    ----------
    threshold : ndarray
        Scores at or above the threshold are predicted positive.
    tpr, fpr : ndarray
        True and false positive rates.
    predicted : ndarray
        Share of the target that is predicted positive.
    prevalence : float or ndarray
        Share of positives in the target; an array if each line has its own mixture.
    size : int or float
        Number of rows in the target, or their total weight.
    row_weight : float
        Weight that counts as one row, see `pueval.samples.sample.Sample.row_weight`; 1 for groups,
        whose rows are not ranked.
    fpr_noise : float
        Variance that the correction adds to the false positive rate, divided by tpr·(1 − tpr); 0 if
        measures should take the rates as they are. See `pueval.families.roc_measures`.
    rank_sums : dict
        What measures of the order of the rows have computed from ``tpr`` and ``predicted`` alone,
        for others that need the same; see `pueval.families.rank_weights.Gains`.
    """

    threshold: Array
    tpr: Array
    fpr: Array
    predicted: Array
    prevalence: float | Array
    size: float
    row_weight: float = 1.0
    fpr_noise: float = 0.0
    rank_sums: dict[Hashable, Array] = field(default_factory=dict, init=False, repr=False)

    @property
    def n_rows(self) -> int | float:
        """Number of rows in the target; with importance weights their effective number."""
        return rows_of_weight(self.size, self.row_weight)

    def share_rank_sums(self, other: Rates) -> None:
        """Share ``rank_sums`` with other rates, if they are equal but for prevalence and fpr."""
        if (
            self.n_rows == other.n_rows
            and np.array_equal(self.tpr, other.tpr)
            and np.array_equal(self.predicted, other.predicted)
        ):
            vars(self)["rank_sums"] = other.rank_sums


class Shares(NamedTuple):
    """Shares of each kind of rows at or above some thresholds.

    ``positive`` is the share of the positives, estimated from labeled rows with known
    propensities; None if labeling is random. ``prevalence_shift`` is the deviation of the
    population's prevalence in each resample, in standard errors; None if it does not vary.
    """

    labeled: Array
    unlabeled: Array
    negative: Array
    positive: Array | None = None
    prevalence_shift: Array | None = None

    @classmethod
    def of(cls, counts: Counts, steps: Steps) -> Shares:
        """Return the shares at or above the thresholds of ``steps``."""

        def share(above: Array, total: float) -> Array:
            return above / total if total else np.zeros(above.shape)

        return cls(
            share(steps.labeled, counts.n_labeled),
            share(steps.unlabeled, counts.n_unlabeled),
            share(steps.negative, counts.n_negative),
            None
            if steps.represented_positives is None
            else share(steps.represented_positives, counts.n_represented),
        )

    def part(self, columns: Array) -> Shares:
        """Return the shares at some of the thresholds."""
        positive = None if self.positive is None else self.positive[..., columns]
        labeled, unlabeled, negative = (share[..., columns] for share in self[:3])
        return Shares(labeled, unlabeled, negative, positive, self.prevalence_shift)

    def line_blocks(self) -> list[slice]:
        """Return the lines of `LINES` resamples at a time."""
        columns = [column for column in self if column is not None and column.ndim > 1]
        n_lines = max(len(column) for column in columns)
        return [slice(start, start + LINES) for start in range(0, n_lines, LINES)]

    def lines(self, block: slice) -> Shares:
        """Return the shares of some resamples."""
        return Shares(
            *(None if column is None else take_lines(column, block) for column in self)  # type: ignore[arg-type]
        )


def take_lines(column: Array, block: slice) -> Array:
    """Return some lines of an array; what does not vary has a single line, or none."""
    return column if column.ndim < 2 or len(column) == 1 else column[block]


def correct_pair(
    labeled: Array, background: Array, mixture: Mixture | Mixtures, background_prior: float | Array
) -> tuple[Array, Array]:
    """Unmix the shares of labeled and of background rows at or above a threshold.

    Solve equations 1 and 2 of Jain et al. (2017) for the true and false positive rates:

    - labeled = purity·tpr + (1 − purity)·fpr
    - background = background_prior·tpr + (1 − background_prior)·fpr
    """
    contrast = mixture.purity - background_prior
    if np.all(mixture.purity == 1):
        if not np.any(background_prior):
            return labeled, background
        return labeled, (background - background_prior * labeled) / contrast
    tpr = ((1 - background_prior) * labeled - (1 - mixture.purity) * background) / contrast
    fpr = (mixture.purity * background - background_prior * labeled) / contrast
    return tpr, fpr


def labeled_contrast(mixture: Mixture | Mixtures, sizes: SampleSizes[Any]) -> Any:
    """Return the share of positives among labeled rows minus that in the background."""
    return mixture.purity - mixture.background_prior(sizes)


def correct_area(area: Any, mixture: Mixture | Mixtures, background_prior: float | Array) -> Any:
    """Unmix the area under the ROC curve of labeled against background rows.

    Solve area = (1 − contrast)/2 + contrast·AUC, with contrast = purity − background_prior, for
    the AUC (equation 4 of Jain et al., 2017).
    """
    contrast = mixture.purity - background_prior
    return (area - (1 - contrast) / 2) / contrast


def correct_steps(
    counts: Counts, steps: Steps, mixture: Mixture | Mixtures, target: Target = "population"
) -> Rates:
    """Correct the counts at the thresholds of ``steps``.

    Parameters
    ----------
    counts : Counts
        The data.
    steps : Steps
        Cumulative counts, for example from `Counts.steps` or `Counts.at`.
    mixture : Mixture or Mixtures
        Prior and purity.
    target : {"population", "unlabeled"}
        Population to evaluate: all rows, or only the unlabeled rows.

    Returns
    -------
    Rates
    """
    return correct_shares(counts, steps.threshold, Shares.of(counts, steps), mixture, target)


def background_share(counts: SampleSizes[Any], shares: Shares) -> Array:
    """Return the share of the background, unlabeled rows and known negatives pooled."""
    if not np.any(counts.n_negative):
        return shares.unlabeled
    pooled = counts.n_unlabeled * shares.unlabeled + counts.n_negative * shares.negative
    share: Array = pooled / (counts.n_unlabeled + counts.n_negative)
    return share


def correct_shares(
    counts: SampleSizes[Any],
    threshold: Array,
    shares: Shares,
    mixture: Mixture | Mixtures,
    target: Target,
) -> Rates:
    """Correct shares of rows at or above thresholds.

    The sizes in ``counts`` may be arrays with one entry per threshold, if each threshold belongs to
    a group of its own. Shares may have one line per resample; `Mixtures` are then a column.
    """
    check_target(target)
    n_unlabeled, n_negative = counts.n_unlabeled, counts.n_negative
    background = background_share(counts, shares)
    prevalence = mixture.prevalence(counts, target)
    if target == "population":
        size = counts.n
        predicted = counts.n_labeled * shares.labeled + (size - counts.n_labeled) * background
        predicted = predicted / size
    elif not np.all(n_unlabeled):
        raise InputError(
            "target='unlabeled' needs unlabeled rows, but there are none. Use target='population'."
        )
    else:
        size, predicted = n_unlabeled, shares.unlabeled
    row_weight = counts._row_weight(target) if isinstance(counts, Counts) else 1.0
    if shares.positive is not None:
        # The unlabeled positives are not a random sample of the positives. So the background here
        # is all rows together.
        tpr, fpr = correct_pair(shares.positive, predicted, mixture, prevalence)
        return Rates(threshold, tpr, fpr, predicted, prevalence, size, row_weight)
    tpr, fpr = correct_pair(shares.labeled, background, mixture, mixture.background_prior(counts))
    if target == "unlabeled" and np.any(n_negative):
        # The rates also use the known negatives; ``predicted`` must agree with them.
        predicted = predicted_share(tpr, fpr, prevalence)
    rates = Rates(threshold, tpr, fpr, predicted, prevalence, size, row_weight)
    return with_drawn_prevalence(rates, counts, shares, mixture, target)


def with_drawn_prevalence(
    rates: Rates,
    counts: SampleSizes[Any],
    shares: Shares,
    mixture: Mixture | Mixtures,
    target: Target,
) -> Rates:
    """Return the rates with the prevalence of each resample, if it varies."""
    if shares.prevalence_shift is None or target != "population":
        return rates
    error = mixture.prevalence_standard_error(counts)
    drawn = rates.prevalence + shares.prevalence_shift * error
    return replace_prevalence(rates, np.clip(drawn, SMALLEST_PREVALENCE, 1 - SMALLEST_PREVALENCE))


def replace_prevalence(rates: Rates, prevalence: float | Array) -> Rates:
    """Return the rates for a target with another prevalence."""
    predicted = predicted_share(rates.tpr, rates.fpr, prevalence)
    return replace(rates, prevalence=prevalence, predicted=predicted)


def predicted_share(tpr: Array, fpr: Array, prevalence: float | Array) -> Array:
    """Return the share of the target that is predicted positive."""
    return prevalence * tpr + (1 - prevalence) * fpr


def fpr_from_predicted(predicted: Array, tpr: Array, prevalence: float | Array) -> Array:
    """Return the false positive rate for which this share of the target is predicted positive."""
    return (predicted - prevalence * tpr) / (1 - prevalence)


def full_lines(rates: Rates) -> Rates:
    """Return rates with all arrays broadcast to one shape."""
    columns = (rates.tpr, rates.fpr, rates.predicted)
    prevalence = np.asarray(rates.prevalence)
    shape = np.broadcast_shapes(prevalence.shape, *(column.shape for column in columns))
    if all(column.shape == shape for column in columns):
        return rates
    tpr, fpr, predicted = (np.broadcast_to(column, shape) for column in columns)
    return replace(rates, tpr=tpr, fpr=fpr, predicted=predicted)


def map_lines(function: Callable[[Rates], Array], rates: Rates) -> Array:
    """Apply a function to `LINES` lines of rates at a time, on all cores, and join the results."""
    rates = full_lines(rates)
    prevalence = np.asarray(rates.prevalence)
    has_own_prevalence = prevalence.shape[:1] == rates.tpr.shape[:1]

    def compute(start: int) -> Array:
        lines = slice(start, start + LINES)
        part = replace(
            rates,
            tpr=rates.tpr[lines],
            fpr=rates.fpr[lines],
            predicted=rates.predicted[lines],
            prevalence=prevalence[lines] if has_own_prevalence else prevalence,
        )
        return function(part)

    starts = range(0, len(rates.tpr), LINES)
    return np.concatenate(map_in_threads(compute, starts, LINE_THREADS), axis=-1)


def naive_rates(counts: Counts, steps: Steps) -> Rates:
    """Return the rates with unlabeled rows counted as negatives."""
    return _naive_rates(counts, steps.threshold, Shares.of(counts, steps))


def corrected_and_naive_rates(
    counts: Counts, steps: Steps, mixture: Mixture, target: Target
) -> tuple[Rates, Rates]:
    """Return corrected and naive rates."""
    shares = Shares.of(counts, steps)
    corrected = correct_shares(counts, steps.threshold, shares, mixture, target)
    if mixture == NAIVE and target == "population" and shares.positive is None:
        return corrected, corrected
    return corrected, _naive_rates(counts, steps.threshold, shares)


def _naive_rates(counts: Counts, threshold: Array, shares: Shares) -> Rates:
    return correct_shares(counts, threshold, shares._replace(positive=None), NAIVE, "population")


def monotone_rates(rates: Rates) -> Rates:
    """Return monotone rates, sorted by recall.

    Rates may have one line per resample; each line becomes monotone separately.
    """
    tpr, fpr, order = _monotone(rates)
    if tpr is rates.tpr:
        return rates
    threshold = rates.threshold
    if order is not None:
        threshold = np.take_along_axis(np.broadcast_to(threshold, tpr.shape), order, axis=-1)
    predicted = predicted_share(tpr, fpr, rates.prevalence)
    return Rates(threshold, tpr, fpr, predicted, rates.prevalence, rates.size, rates.row_weight)


def monotone_rates_by_threshold(rates: Rates) -> tuple[Array, Array]:
    """Return monotone true and false positive rates in the order of the thresholds."""
    tpr, fpr, order = _monotone(rates)
    if order is None:
        return tpr, fpr
    inverse = np.argsort(order, axis=-1)
    return np.take_along_axis(tpr, inverse, axis=-1), np.take_along_axis(fpr, inverse, axis=-1)


def _monotone(rates: Rates) -> tuple[Array, Array, Array | None]:
    """Return monotone rates sorted by recall, and the sorting order if it changed.

    Rates that are monotone already are returned as they are.
    """
    if all(_is_sorted(rate) and _ends_within_unit(rate) for rate in (rates.tpr, rates.fpr)):
        return rates.tpr, rates.fpr, None
    return lower_envelope(np.clip(rates.tpr, 0, 1), np.clip(rates.fpr, 0, 1))


def lower_envelope(tpr: Array, fpr: Array) -> tuple[Array, Array, Array | None]:
    """Give each recall the smallest false positive rate of all points that reach it.

    Returns both rates sorted by recall, and the sorting order if it changed.
    """
    order = None
    if not _is_sorted(tpr):
        order = np.argsort(tpr, axis=-1, kind="stable")
        tpr, fpr = (np.take_along_axis(column, order, axis=-1) for column in (tpr, fpr))
    if not _is_sorted(fpr):
        fpr = np.minimum.accumulate(fpr[..., ::-1], axis=-1)[..., ::-1]
    return tpr, fpr, order


def _is_sorted(rate: Array) -> bool:
    return not np.any(rate[..., 1:] < rate[..., :-1])


def within_unit(rate: Array, tolerance: float = 0.0) -> Array:
    """Return whether each rate lies in [0, 1], up to a tolerance for rounding."""
    return (rate >= -tolerance) & (rate <= 1 + tolerance)


def _ends_within_unit(ascending: Array) -> bool:
    return bool(np.all(ascending[..., 0] >= 0) and np.all(ascending[..., -1] <= 1))
