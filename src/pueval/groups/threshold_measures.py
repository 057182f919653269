"""All measures of many groups at one threshold, and what each source of error does to them.

A share of rows at or above the threshold is moved by one standard error, not by an infinitesimal
step as in `pueval.uncertainty.influence`: in small groups measures are far from linear.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pueval._typing import Array, Target
from pueval.core.measures import MEASURES
from pueval.core.mixture import NAIVE, Mixtures
from pueval.core.rates import SMALLEST_PREVALENCE, Rates, Shares, correct_shares, replace_prevalence
from pueval.core.sizes import GroupSizes, divide_or_zero
from pueval.uncertainty.influence import rates_by_group
from pueval.uncertainty.score_steps import ByKind
from pueval.uncertainty.uncertain_prior import prior_changes


@dataclass(frozen=True, eq=False)
class ThresholdMeasures:
    """Every measure of every group at one threshold.

    Attributes
    ----------
    value, naive : dict of str to ndarray
        Corrected, not clipped; and with unlabeled rows counted as negative.
    changes : dict of str to ndarray of shape (4, n_groups)
        Change of the corrected value with one standard error of the share of labeled, unlabeled
        or negative rows at or above the threshold, and of the prevalence.
    source_error : ndarray of shape (4, n_groups)
        These standard errors.
    prior_change : dict of str to ndarray
        Change with one standard error of the prior.
    """

    value: dict[str, Array]
    naive: dict[str, Array]
    changes: dict[str, Array]
    source_error: Array
    prior_change: dict[str, Array]


def threshold_measures(
    reached: ByKind,
    sizes: GroupSizes,
    mixtures: Mixtures,
    target: Target,
    prior_error: Array | None,
    squared_weights: ByKind | None = None,
    *,
    prevalence_error: Array,
) -> ThresholdMeasures:
    """Evaluate every measure of every group at a threshold that ``reached`` rows reach.

    ``squared_weights`` are sums over the same rows, where rows have importance weights. A
    ``prior_error`` of None means that no standard errors are needed; a known prior has error 0.
    """
    corrected = rates_by_group(reached, sizes, mixtures, target)
    zeros = np.zeros_like(mixtures.prior)
    naive = Mixtures(zeros + NAIVE.prior, zeros + NAIVE.purity)
    uncorrected = rates_by_group(reached, sizes, naive, "population")
    value = {name: measure(corrected) for name, measure in MEASURES.items()}
    naive_value = {name: measure(uncorrected) for name, measure in MEASURES.items()}
    if prior_error is None:
        return ThresholdMeasures(value, naive_value, {}, np.full((4, sizes.n.size), np.nan), {})
    center, share_error = _share_errors(reached, sizes, squared_weights)

    def rates_at(shares: list[Array]) -> Rates:
        return correct_shares(sizes, np.empty(0), Shares(*shares), mixtures, target)

    changes: dict[str, list[Array]] = {name: [] for name in MEASURES}
    for kind in range(3):
        ends = []
        for sign in (1.0, -1.0):
            moved = list(center)
            moved[kind] = np.clip(center[kind] + sign * share_error[kind], 0, 1)
            ends.append((moved[kind], rates_at(moved)))
        for name, change in _changes(ends, share_error[kind]).items():
            changes[name].append(change)
    at_center = rates_at(center)
    ends = []
    for sign in (1.0, -1.0):
        prevalence = np.clip(
            at_center.prevalence + sign * prevalence_error,
            SMALLEST_PREVALENCE,
            1 - SMALLEST_PREVALENCE,
        )
        ends.append((prevalence, replace_prevalence(at_center, prevalence)))
    for name, change in _changes(ends, prevalence_error).items():
        changes[name].append(change)

    def corrected_for(moved: Mixtures) -> dict[str, Array]:
        rates = rates_by_group(reached, sizes, moved, target)
        return {name: measure(rates) for name, measure in MEASURES.items()}

    return ThresholdMeasures(
        value,
        naive_value,
        {name: np.stack(parts) for name, parts in changes.items()},
        np.vstack([share_error, prevalence_error]),
        prior_changes(corrected_for, MEASURES, mixtures, prior_error),
    )


def _share_errors(
    reached: ByKind, sizes: GroupSizes, squared_weights: ByKind | None
) -> tuple[list[Array], Array]:
    """Return shares of rows at or above the threshold, and their standard errors.

    As in the bootstrap, each kind gets a pseudo-observation that is spread like all rows; without
    it, a share of 0 or 1 would have no error.
    """
    shares = [divide_or_zero(*each) for each in zip(reached, sizes.by_kind, strict=True)]
    pooled = sum(reached) / sizes.n
    n_rows = [np.maximum(np.round(size), 1) for size in sizes.effective_by_kind]
    center = [(n * p + pooled) / (n + 1) for n, p in zip(n_rows, shares, strict=True)]
    if squared_weights is not None:
        n_rows = _binomial_sizes(shares, sizes, squared_weights)
    error = np.stack([np.sqrt(p * (1 - p) / n) for p, n in zip(center, n_rows, strict=True)])
    for kind, total in enumerate(sizes.by_kind):
        error[kind, total == 0] = 0
    return center, error


def _binomial_sizes(shares: list[Array], sizes: GroupSizes, squared_weights: ByKind) -> list[Array]:
    """Return numbers of rows for which a share p has the variance p(1 − p)/rows.

    With weights w the variance is Σw²(reached − p)² / (Σw)².
    """
    binomial = []
    for p, reached, total, effective in zip(
        shares, squared_weights, sizes.squared_weights, sizes.effective_by_kind, strict=True
    ):
        above, below = divide_or_zero(reached, total), divide_or_zero(total - reached, total)
        variance = above * (1 - p) ** 2 + below * p**2
        n_rows = np.maximum(effective, 1)
        scaled = n_rows * divide_or_zero(p * (1 - p), variance)
        binomial.append(np.where(p * (1 - p) > 0, scaled, n_rows))
    return binomial


def _changes(ends: list[tuple[Array, Rates]], error: Array) -> dict[str, Array]:
    """Return the change of every measure with one standard error, from its values at both ends."""
    (high, above), (low, below) = ends
    scale = divide_or_zero(error, high - low)
    return {
        name: np.where(error > 0, (measure(above) - measure(below)) * scale, 0.0)
        for name, measure in MEASURES.items()
    }
