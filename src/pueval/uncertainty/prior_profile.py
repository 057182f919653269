"""What an estimated prior, which all models share, adds to the doubt about their differences.

A difference is known for the estimates of prior and purity, and at some places on the way to the
confidence limits of each; its standard error for the estimates and at the limits. In between it
is filled in, and the effects of prior and purity are taken as additive. With q the distance of a
prior from its estimate, as a share of the distance of its limit, a difference δ is within limits
that reach r standard errors if ((difference(q) − δ) / error(q))² + (r·q)² ≤ r² for some q: rows
and estimate are taken as independent, and the prior is the one that fits δ best.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from pueval._typing import Array

# Where differences are known, beside the estimate itself: at both limits, and on the way to them.
# The average precision needs so many: it bends where rates begin to be illegal.
PLACES = (-1.0, -0.75, -0.5, -0.25, 0.25, 0.5, 0.75, 1.0)
ORIGIN = len(PLACES) // 2
# Points a side of the grid on which limits are looked for.
POINTS = 41


class Gap(NamedTuple):
    """Differences of pairs of models, and their standard errors."""

    value: Array
    error: Array


# The gaps at `PLACES`: on the way to the limits of the prior, and of the purity if it is uncertain.
Ways = Sequence[Sequence[Gap]]


def complete(now: Gap, ways: Ways) -> list[list[Gap]]:
    """Fill in the standard errors between the estimate and its limits, where they are unknown.

    Their inverses are taken as linear, as those of the AUC are. Where a difference is undefined,
    nothing is known but what is now.
    """

    def filled(place: float, there: Gap, end: Gap) -> Gap:
        last = np.where(np.isnan(end.error), now.error, end.error)
        below = abs(place) * now.error + (1 - abs(place)) * last
        error = np.divide(now.error * last, below, out=np.zeros_like(below), where=below > 0)
        error = np.where(np.isnan(there.error), error, there.error)
        lost = np.isnan(there.value)
        return Gap(np.where(lost, now.value, there.value), np.where(lost, now.error, error))

    return [
        [
            filled(place, there, way[-1 if place > 0 else 0])
            for place, there in zip(PLACES, way, strict=True)
        ]
        for way in ways
    ]


def carried_limits(now: Gap, ways: Ways, reach: float) -> Array:
    """Return lower and upper limits, a line each, that reach as many standard errors."""
    line = np.linspace(-1, 1, POINTS)
    place = np.stack(np.meshgrid(*[line] * len(ways), indexing="ij")) if ways else np.zeros((1, 1))
    place = place.reshape(len(place), -1)
    square = np.sum(place**2, axis=0)
    place, square = place[:, square <= 1], square[square <= 1]
    value, error = now.value[None], now.error[None]
    for at, way in zip(place, ways, strict=False):
        index = np.searchsorted(line, at)
        value = value + _between(line, now.value, [there.value for there in way])[index]
        error = error + _between(line, now.error, [there.error for there in way])[index]
    away = reach * np.maximum(error, 0) * np.sqrt(1 - square[:, None])
    return np.stack([(value - away).min(axis=0), (value + away).max(axis=0)])


def _between(line: Array, now: Array, there: list[Array]) -> Array:
    """Return how far values differ from those now, at all points of a line."""
    known = np.stack([one - now for one in there])
    known = np.insert(known, ORIGIN, 0.0, axis=0)
    at = np.insert(np.array(PLACES), ORIGIN, 0.0)
    left = np.clip(np.searchsorted(at, line, side="right") - 1, 0, at.size - 2)
    part = ((line - at[left]) / (at[left + 1] - at[left]))[:, None]
    found: Array = (1 - part) * known[left] + part * known[left + 1]
    return found


def carried_error(now: Gap, ways: Ways, reach: float) -> Array:
    """Return standard errors with the part that comes from prior and purity."""
    squares = [((way[-1].value - way[0].value) / (2 * reach)) ** 2 for way in ways]
    error: Array = np.sqrt(now.error**2 + sum(squares))
    return error


def carried_score(now: Gap, ways: Ways, reach: float) -> Array:
    """Return differences in standard errors, at the priors that fit a difference of zero best.

    It is the least of z(q)² + (r·q)², with z the ratio of difference and error. Where the prior
    scales both alike, as for the AUC, it is the ratio itself. NaN or infinite without an error.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        score = now.value / now.error
        doubt = np.zeros_like(score)
        for way in ways:
            nearest = _nearest(score, [there.value / there.error for there in way], reach)
            doubt += np.divide(score**2, nearest, out=np.ones_like(score), where=nearest > 0) - 1
        found: Array = score / np.sqrt(1 + doubt)
    return found


def _nearest(score: Array, there: list[Array], reach: float) -> Array:
    """Return the least of z(q)² + (r·q)² on one way; its last pieces go on beyond the limits."""
    least = score**2
    for side in (range(ORIGIN - 1, -1, -1), range(ORIGIN, len(PLACES))):
        z, q = score, 0.0
        for k in side:
            rise, step = there[k] - z, reach * (PLACES[k] - q)
            part = np.maximum(-(z * rise + reach * q * step) / (rise**2 + step**2), 0)
            if k not in {0, len(PLACES) - 1}:
                part = np.minimum(part, 1)
            least = np.fmin(least, (z + part * rise) ** 2 + (reach * q + part * step) ** 2)
            z, q = there[k], PLACES[k]
    return least
