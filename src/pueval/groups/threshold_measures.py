"""All measures of many groups at one threshold, and what each source of error does to them.

A share of rows at or above the threshold is moved by one standard error, not by an infinitesimal
step as in `pueval.uncertainty.influence`: in small groups measures are far from linear.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from pueval._typing import Array, Target
from pueval.core.measures import MEASURES
from pueval.core.mixture import Mixtures
from pueval.core.rates import SMALLEST_PREVALENCE, Rates, Shares, correct_shares, replace_prevalence
from pueval.core.sizes import GroupSizes, divide_or_zero
from pueval.uncertainty.influence import rates_by_group
from pueval.uncertainty.score_steps import ByKind
from pueval.uncertainty.uncertain_prior import central_changes


def threshold_measures(
    reached: ByKind, sizes: GroupSizes, mixtures: Mixtures, target: Target
) -> dict[str, Array]:
    """Evaluate every measure of every group at a threshold that ``reached`` rows reach."""
    return _evaluate_measures(rates_by_group(reached, sizes, mixtures, target))


def threshold_changes(
    reached: ByKind,
    sizes: GroupSizes,
    mixtures: Mixtures,
    target: Target,
    squared_weights: ByKind | None,
    prevalence_error: Array,
) -> tuple[dict[str, Array], Array]:
    """Return what each source of error does to every measure, and the standard errors.

    The sources are the shares of labeled, unlabeled and negative rows at or above the threshold,
    and the prevalence: one line each. ``squared_weights`` are sums over the same rows as
    ``reached``, where rows have importance weights.
    """
    center, share_error = _share_errors(reached, sizes, squared_weights)

    def rates_with(kind: int, share: Array) -> Rates:
        shares = Shares(*(share if k == kind else center[k] for k in range(3)))
        return correct_shares(sizes, np.empty(0), shares, mixtures, target)

    def changes(
        value: float | Array, error: Array, rates_at: Callable[[Array], Rates], margin: float
    ) -> dict[str, Array]:
        low, high = (np.clip(value + sign * error, margin, 1 - margin) for sign in (-1, 1))
        return central_changes(lambda end: _evaluate_measures(rates_at(end)), low, high, error)

    by_source = [
        changes(center[kind], share_error[kind], partial(rates_with, kind), 0) for kind in range(3)
    ]
    at_center = rates_with(0, center[0])
    with_prevalence = partial(replace_prevalence, at_center)
    by_source.append(
        changes(at_center.prevalence, prevalence_error, with_prevalence, SMALLEST_PREVALENCE)
    )
    stacked = {name: np.stack([part[name] for part in by_source]) for name in MEASURES}
    return stacked, np.vstack([share_error, prevalence_error])


def _evaluate_measures(rates: Rates) -> dict[str, Array]:
    return {name: measure(rates) for name, measure in MEASURES.items()}


def _share_errors(
    reached: ByKind, sizes: GroupSizes, squared_weights: ByKind | None
) -> tuple[list[Array], Array]:
    """Return shares of rows at or above the threshold, and their standard errors.

    As in the bootstrap, each kind gets a pseudo-observation that is spread like all rows; without
    it, a share of 0 or 1 would have no error.
    """
    shares = [divide_or_zero(*pair) for pair in zip(reached, sizes.by_kind, strict=True)]
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
