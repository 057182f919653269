"""Standard errors of many groups at once: of areas by influence, of measures by their slopes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pueval._typing import Array, Target
from pueval.core.measures import MEASURES
from pueval.core.mixture import NAIVE, Mixtures
from pueval.core.rates import SMALLEST_PREVALENCE, Rates, Shares, replace_prevalence
from pueval.groups.areas import Influence, Table
from pueval.groups.totals import Totals, share
from pueval.uncertainty.intervals import with_pseudo_observation


def area_variance(influence: Influence, table: Table, totals: Totals, *, placements: bool) -> Array:
    """Variance of an area by group: rows of each kind vary apart; ``table`` has labeled steps.

    For the AUC, whose influences are ``placements``, it is that of
    `pueval.uncertainty.intervals.delong_standard_error`; rows with float weights add their squares.
    """
    square = table.squared
    pieces = [(influence.labeled, table.at[0], square.at[0])]
    variance = _of_mean(pieces, table, totals.n_labeled, totals.effective[0], placements=placements)
    variance[totals.effective[0] <= 1] = np.nan
    for kind in (1, 2):
        total, squared_weights = totals.kinds[kind], totals.squared_weights[kind]
        between, below = _between(table, kind, total)
        more, beneath = (
            (between, below) if table.square is None else _between(square, kind, squared_weights)
        )
        pieces = [
            (influence.other, table.at[kind], square.at[kind]),
            (influence.gap, between, more),
        ]
        found = _of_mean(
            pieces,
            table,
            total,
            totals.effective[kind],
            (influence.tail, below, beneath),
            placements=placements,
        )
        variance += np.where(total > 0, share(total, totals.n_others) ** 2 * found, 0)
    return variance


def _between(table: Table, kind: int, total: Array) -> tuple[Array, Array]:
    """Weight of rows between each step and the one above, and below all steps of each group."""
    at, beyond = table.at[kind], table.beyond[kind]
    between = beyond - at
    same = table.group[1:] == table.group[:-1]
    between[1:] -= np.where(same, beyond[:-1], 0)
    reached = np.zeros(table.n_groups, dtype=beyond.dtype)
    reached[table.group] = beyond  # the last one of each group stays
    return between, total - reached


def _of_mean(
    pieces: list[tuple[Array, Array, Array]],
    table: Table,
    total: Array,
    rows: Array,
    tail: tuple[Array, Array, Array] | None = None,
    *,
    placements: bool,
) -> Array:
    """Variance, by group, of the mean of values that have weights and squared weights.

    ``rows`` are effective numbers of rows; the values of ``tail`` are one for each group.
    """
    values, sample_weight, square = tail if tail is not None else (np.zeros(table.n_groups),) * 3
    mean = values * sample_weight
    for value, mine, _ in pieces:
        mean = mean + table.sums(value * mine)
    mean = share(mean, total)
    squared_weights = square * (values - mean) ** 2
    for value, _, mine in pieces:
        squared_weights = squared_weights + table.sums(mine * (value - mean[table.group]) ** 2)
    variance = share(share(squared_weights, total), total) * rows
    found: Array = variance / np.maximum(rows - 1, 1)
    if placements:
        found = with_pseudo_observation(variance, (mean - 0.5) ** 2, np.maximum(rows, 1))
    return found


@dataclass(frozen=True, eq=False)
class Point:
    """Every measure of every group at one threshold, and what moves it.

    Attributes
    ----------
    value, naive : dict of str to ndarray
        Corrected, not clipped; and with unlabeled rows counted as negative.
    moves : dict of str to ndarray of shape (4, n_groups)
        Change of the corrected value if the share of labeled, unlabeled or negative rows beyond
        the threshold, or the prevalence, were one standard error larger.
    error : ndarray of shape (4, n_groups)
        These standard errors.
    prior_moves : dict of str to ndarray
        Change with one standard error of the prior.
    """

    value: dict[str, Array]
    naive: dict[str, Array]
    moves: dict[str, Array]
    error: Array
    prior_moves: dict[str, Array]


def point(
    beyond: tuple[Array, Array, Array],
    totals: Totals,
    mixtures: Mixtures,
    target: Target,
    prior_error: Array | None,
    squared_weights: tuple[Array, Array, Array] | None = None,
    *,
    prevalence_error: Array,
) -> Point:
    """Evaluate every measure of every group at a threshold; ``beyond`` are rows beyond it.

    ``squared_weights`` are sums beyond it, where rows have float weights. Without a
    ``prior_error``, which is 0 for a prior that is given, nothing is said of errors.
    """
    here = totals.corrected(beyond, mixtures, target)
    zeros = np.zeros_like(mixtures.prior)
    plain = totals.corrected(
        beyond, Mixtures(zeros + NAIVE.prior, zeros + NAIVE.purity), "population"
    )
    value = {name: measure(here) for name, measure in MEASURES.items()}
    naive = {name: measure(plain) for name, measure in MEASURES.items()}
    if prior_error is None:
        return Point(value, naive, {}, np.empty((4, 0)), {})
    shares = [share(one, total) for one, total in zip(beyond, totals.kinds, strict=True)]
    pooled = sum(beyond) / totals.n
    # As in the bootstrap: one row more, spread like all rows, or a share of 0 or 1 had no error.
    size = [np.maximum(np.round(one), 1) for one in totals.effective]
    middle = [(n * one + pooled) / (n + 1) for n, one in zip(size, shares, strict=True)]
    known = size if squared_weights is None else _known_rows(shares, totals, squared_weights)
    error = np.stack([np.sqrt(p * (1 - p) / n) for p, n in zip(middle, known, strict=True)])
    for kind, total in enumerate(totals.kinds):
        error[kind, total == 0] = 0

    moves: dict[str, list[Array]] = {name: [] for name in MEASURES}
    for kind in range(3):
        ends = []
        for sign in (1.0, -1.0):
            moved = list(middle)
            moved[kind] = np.clip(middle[kind] + sign * error[kind], 0, 1)
            rates = totals.corrected_shares(Shares(*moved), mixtures, target)
            ends.append((moved[kind], rates))
        for name, change in _changes(ends, error[kind]).items():
            moves[name].append(change)
    seen = totals.corrected_shares(Shares(*middle), mixtures, target)
    ends = []
    for sign in (1.0, -1.0):
        prevalence = np.clip(
            seen.prevalence + sign * prevalence_error, SMALLEST_PREVALENCE, 1 - SMALLEST_PREVALENCE
        )
        ends.append((prevalence, replace_prevalence(seen, prevalence)))
    for name, change in _changes(ends, prevalence_error).items():
        moves[name].append(change)
    return Point(
        value,
        naive,
        {name: np.stack(every) for name, every in moves.items()},
        np.vstack([error, prevalence_error]),
        _prior_moves(beyond, totals, mixtures, target, prior_error),
    )


def _known_rows(
    shares: list[Array], totals: Totals, squared_weights: tuple[Array, Array, Array]
) -> list[Array]:
    """Numbers of rows for which a share p has the variance p(1 − p)/rows.

    With weights w it is Σw²(beyond − p)² / (Σw)².
    """
    found = []
    for p, beyond, every, rows in zip(
        shares, squared_weights, totals.squared_weights, totals.effective, strict=True
    ):
        spread = share(beyond, every) * (1 - p) ** 2 + share(every - beyond, every) * p**2
        size = np.maximum(rows, 1)
        found.append(np.where(p * (1 - p) > 0, size * share(p * (1 - p), spread), size))
    return found


def _changes(ends: list[tuple[Array, Rates]], error: Array) -> dict[str, Array]:
    """Change of every measure with one standard error, from its values at both ends."""
    (high, above), (low, below) = ends
    scale = share(error, high - low)
    return {
        name: np.where(error > 0, (measure(above) - measure(below)) * scale, 0.0)
        for name, measure in MEASURES.items()
    }


def _prior_moves(
    beyond: tuple[Array, Array, Array],
    totals: Totals,
    mixtures: Mixtures,
    target: Target,
    prior_error: Array,
) -> dict[str, Array]:
    if not np.any(prior_error > 0):
        return {name: np.zeros(totals.n.size) for name in MEASURES}
    ends = []
    for sign in (1.0, -1.0):
        prior = np.clip(mixtures.prior + sign * prior_error, 0, 0.999 * mixtures.purity)
        moved = Mixtures(prior, mixtures.purity)
        ends.append((prior, totals.corrected(beyond, moved, target)))
    return _changes(ends, prior_error)
