"""Joint estimates of all models: values of a measure and their covariance."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

import numpy as np

from pueval._typing import Array, Target
from pueval.comparison.influence import (
    StepFunctions,
    measure_slopes,
    prevalence_slopes,
    share_slopes,
)
from pueval.comparison.paired import PairedRows
from pueval.core.measures import MEASURES, Measure, find_measure
from pueval.core.mixture import Mixture
from pueval.core.rates import Shares, correct_shares
from pueval.counts.counts import Counts
from pueval.samples.threads import map_in_threads
from pueval.uncertainty.intervals import with_pseudo_observation

# Rows handled at a time, so that their indicators and influences stay small.
CHUNK = 65_536


@dataclass(frozen=True, eq=False)
class Joint:
    """Estimates of one measure, one per model.

    Attributes
    ----------
    value : ndarray
        Corrected values, not clipped; NaN where the measure is undefined.
    covariance : ndarray
        Of the values; NaN if no intervals were asked for.
    reach : float
        The largest possible difference of two true values.
    greater_is_better : bool
        Whether a good model has a high value.
    ways : tuple of tuple of Joint
        The same on the way from the lower to the upper confidence limit of the prior, and of the
        purity, where these were estimated (at `pueval.uncertainty.prior_profile.PLACES`).
    within : tuple of Joint
        The same for other priors and purities that are possible, where these are intervals.
    """

    value: Array
    covariance: Array
    reach: float = 1.0
    greater_is_better: bool = True
    ways: tuple[tuple[Joint, ...], ...] = ()
    within: tuple[Joint, ...] = ()


class PointEstimates(Protocol):
    """Whatever can say how a measure at the models' thresholds varies."""

    def joint(self, measure: Measure) -> Joint:
        """Return values and covariance of a measure at each model's threshold."""


@dataclass(frozen=True, eq=False)
class Joints:
    """Joint estimates of every measure.

    Attributes
    ----------
    fixed : dict of str to Joint
        Areas and best values.
    point : PointEstimates
        Gives measures at the models' thresholds.
    share : ndarray
        Shares of labeled, unlabeled and negative rows at or above these, a column per model.
    ways : tuple of tuple of Joints
        The same on the way to the limits of prior and purity, where these were estimated.
    within : tuple of Joints
        The same all over the intervals of prior and purity, where these were given.
    """

    fixed: dict[str, Joint]
    point: PointEstimates
    share: Array
    ways: tuple[tuple[Joints, ...], ...] = ()
    within: tuple[Joints, ...] = ()

    def __getitem__(self, name: str) -> Joint:
        found = self.fixed[name] if name in self.fixed else self.point.joint(find_measure(name))
        if not (self.ways or self.within):
            return found
        ways = tuple(tuple(there[name] for there in way) for way in self.ways)
        return replace(found, ways=ways, within=tuple(there[name] for there in self.within))

    @cached_property
    def _errors(self) -> dict[str, Array]:
        return {
            name: np.sqrt(np.maximum(np.diag(self[name].covariance), 0))
            for name in (*self.fixed, *MEASURES)
        }

    def error(self, name: str, model: int) -> float:
        """Return the standard error of one model's estimate."""
        return float(self._errors[name][model])


def area_covariances(
    rows: PairedRows, functions: list[StepFunctions], naive: Array
) -> tuple[Array, Array]:
    """Return the covariances of naive AUCs and of average precisions.

    ``functions`` has the influence functions of each model, ``naive`` the AUCs. The samples are
    independent, so their parts add up. Variances of AUCs are those of
    `pueval.uncertainty.intervals.delong_standard_error`. NaN for a single labeled row.
    """
    models = len(functions)
    auc, precision = np.zeros((2, models, models))
    others = rows.total[1] + rows.total[2]
    away = np.outer(naive - 0.5, naive - 0.5)
    spread = [
        _squares(rows, functions, kind) * (size / total**2) if total else None
        for kind, (size, total) in enumerate(zip(rows.effective, rows.total, strict=True))
    ]
    # The row more is placed by two models as alike as other rows are.
    together = np.mean([_correlation(one[0]) for one in spread[1:] if one is not None], axis=0)
    for kind, (each, size) in enumerate(zip(spread, rows.effective, strict=True)):
        if each is None:
            continue
        free = size - 1 if kind == 0 else max(size - 1, 1)
        with np.errstate(divide="ignore", invalid="ignore"):
            precision += np.divide(each[1], free)
        part = 1.0 if kind == 0 else rows.total[kind] / others
        more = with_pseudo_observation(each[0] / part**2, away, size, together) * part**2
        auc += more if free > 0 else np.nan
    return auc, precision


def _correlation(covariance: Array) -> Array:
    """Return correlations; 1 where one of two does not vary."""
    error = np.sqrt(np.diag(covariance))
    scale = np.outer(error, error)
    found = np.ones(covariance.shape)
    np.divide(covariance, scale, out=found, where=scale > 0)
    return found


def _squares(rows: PairedRows, functions: list[StepFunctions], kind: int) -> Array:
    """Sum the products of influences, in one pass over the rows of a kind; their mean is zero."""
    places, numbers = rows.places[kind], rows.kinds[kind]
    leverage = None if rows.leverage is None else rows.leverage[numbers]

    def products(part: slice) -> Array:
        where = places[part]
        values = np.empty((2, len(functions), where.size))
        for k, (function, score) in enumerate(zip(functions, rows.scores, strict=True)):
            values[:, k] = function(kind, score[where])
        lifted = values if leverage is None else values * leverage[part]
        found: Array = lifted @ values.transpose(0, 2, 1)
        return found

    return sum(map_in_threads(products, _parts(places.size)), np.zeros(()))


def _parts(size: int) -> Iterator[slice]:
    for start in range(0, size, CHUNK):
        yield slice(start, min(start + CHUNK, size))


@dataclass(frozen=True, eq=False)
class PairedShares:
    """Shares of each kind of rows at or above some thresholds of some models.

    Attributes
    ----------
    counts : Counts
        Of any of the models: it tells how many rows of each kind there are.
    mixture, target
        What the rates are corrected for.
    threshold : ndarray
        One per column.
    share : ndarray
        One line per kind of rows.
    covariance : ndarray
        Of the shares: a matrix per kind.
    sizes_vary : bool
        Whether the prevalence, which all models share, varies with how many rows are labeled.
    """

    counts: Counts
    mixture: Mixture
    target: Target
    threshold: Array
    share: Array
    covariance: Array
    prevalence_varies: bool

    def take(self, columns: Array) -> PairedShares:
        """Return some of the columns."""
        inside = self.covariance[:, columns][:, :, columns]
        return PairedShares(
            self.counts,
            self.mixture,
            self.target,
            self.threshold[columns],
            self.share[:, columns],
            inside,
            self.prevalence_varies,
        )

    def joint(self, measure: Measure) -> Joint:
        """Return a measure at the thresholds, with the covariance that the shares give it."""
        rates = correct_shares(
            self.counts, self.threshold, Shares(*self.share), self.mixture, self.target
        )
        slopes = measure_slopes(
            measure, rates, share_slopes(self.counts, self.mixture, self.target)
        )
        covariance = np.einsum("ki,kj,kij->ij", slopes, slopes, self.covariance)
        if self.prevalence_varies:
            moves = prevalence_slopes(measure, rates) * self.mixture.prevalence_standard_error(
                self.counts
            )
            covariance += np.outer(moves, moves)
        return Joint(
            measure(rates),
            covariance,
            measure.high - measure.low,
            measure.greater_is_better,
        )


def shares_at(
    rows: PairedRows,
    thresholds: list[Array],
    mixture: Mixture,
    target: Target,
    *,
    covariance: bool,
    prevalence_varies: bool,
) -> PairedShares:
    """Return shares at each model's descending thresholds, and their covariance.

    Columns are the thresholds of the first model, then those of the second, and so on. The
    covariance follows from how many rows are at or above two thresholds, counted for all pairs of
    columns in one pass.
    """
    parts = []
    for counts, each in zip(rows.counts, thresholds, strict=True):
        steps = counts.at(each)
        parts.append(np.stack([steps.labeled, steps.unlabeled, steps.negative]))
    total = np.array(rows.total, dtype=np.float64)
    share = np.concatenate(parts, axis=1) / np.where(total, total, 1.0)[:, None]
    columns = share.shape[1]
    spread = np.full((3, columns, columns), np.nan)
    if covariance:
        spread = _share_covariance(rows, share, _reached_together(rows, thresholds))
    return PairedShares(
        rows.counts[0],
        mixture,
        target,
        np.concatenate(thresholds),
        share,
        spread,
        prevalence_varies,
    )


def _share_covariance(rows: PairedRows, share: Array, together: Array) -> Array:
    """Return the covariance of shares, from the shares of rows at or above two thresholds.

    Each sample gets one row more, spread like all rows: or shares of 0 and 1 would be taken as
    certain, as in `pueval.uncertainty.resampling.resample`.
    """
    part = np.array(rows.total, dtype=np.float64) / sum(rows.total)
    all_share, all_together = part @ share, np.einsum("k,kij->ij", part, together)
    found = np.zeros_like(together)
    for kind, size in enumerate(rows.effective):
        if not size:
            continue
        mean = (size * share[kind] + all_share) / (size + 1)
        both = (size * together[kind] + all_together) / (size + 1)
        cross = np.outer(mean, np.diag(both))
        found[kind] = (both - cross - cross.T + np.outer(mean, mean)) / size
    return found


def _reached_together(rows: PairedRows, thresholds: list[Array]) -> Array:
    """Return, for each kind, the share of rows at or above both of two thresholds."""
    columns = sum(each.size for each in thresholds)
    together = np.zeros((3, columns, columns))
    count = _count_together if rows.leverage is None else _weigh_together
    for kind, (found, total, size) in enumerate(
        zip(count(rows, thresholds), rows.total, rows.effective, strict=True)
    ):
        if total:
            together[kind] = found * (size / total**2)
    return together


def _count_together(rows: PairedRows, thresholds: list[Array]) -> list[Array]:
    """Count rows of each kind that reach two thresholds.

    They are written as one bit per row, so that 64 of them are counted at a time.
    """

    def reached(k: int) -> list[Array]:
        return [_packed(rows.scores[k] >= threshold) for threshold in thresholds[k]]

    bits = [one for each in map_in_threads(reached, range(len(rows.names))) for one in each]
    found = [np.empty((len(bits), len(bits))) for _ in rows.kinds]
    masks = [
        None if not size else _packed(_mask(rows.scores[0].size, where))
        for where, size in zip(rows.places, rows.sizes, strict=True)
    ]

    def count(first: int) -> None:
        for mask, counts in zip(masks, found, strict=True):
            if mask is None:
                continue
            mine = bits[first] & mask
            for second in range(first, len(bits)):
                both = np.bitwise_count(mine & bits[second]).sum(dtype=np.int64)
                counts[first, second] = counts[second, first] = both

    map_in_threads(count, range(len(bits)))
    return found


def _mask(size: int, where: Array) -> Array:
    mask = np.zeros(size, dtype=bool)
    mask[where] = True
    return mask


def _packed(reached: Array) -> Array:
    """Write truth values as bits of 64-bit integers."""
    bits = np.packbits(reached)
    return np.pad(bits, (0, -bits.size % 8)).view(np.uint64)


def _weigh_together(rows: PairedRows, thresholds: list[Array]) -> list[Array]:
    """Sum the leverage of rows of each kind that reach two thresholds."""
    leverage = rows.leverage
    assert leverage is not None  # noqa: S101 - for the type checker; the caller has checked
    columns = sum(each.size for each in thresholds)
    found = []
    for where, kind in zip(rows.places, rows.kinds, strict=True):
        sums = np.zeros((columns, columns))
        for part in _parts(where.size):
            reached = np.concatenate(
                [
                    score[where[part]] >= each[:, None]
                    for score, each in zip(rows.scores, thresholds, strict=True)
                ]
            ).astype(np.float64)
            sums += (reached * leverage[kind][part]) @ reached.T
        found.append(sums)
    return found
