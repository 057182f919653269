"""Shares of rows at or above the thresholds of several models, and their covariance.

A measure at a threshold is a function of these shares. The covariance of two shares follows from
how many rows reach both thresholds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pueval._typing import Array, Target
from pueval.comparison.paired_rows import PairedRows
from pueval.core.measures import Measure
from pueval.core.mixture import Mixture
from pueval.core.rates import Shares, correct_shares
from pueval.counts.counts import Counts
from pueval.samples.threads import map_in_threads
from pueval.uncertainty.influence import measure_slopes, prevalence_slopes, share_slopes


@dataclass(frozen=True, eq=False)
class PairedShares:
    """Shares of each kind of rows at or above one threshold of each model.

    Attributes
    ----------
    counts : Counts
        Counts of any of the models, for the numbers of rows of each kind.
    mixture, target
        Prior and purity, and the population to evaluate.
    threshold : ndarray
        One per model.
    share : ndarray of shape (3, models)
        Shares of labeled, unlabeled and negative rows.
    covariance : ndarray of shape (3, models, models) or None
        Covariance matrix of the shares of each kind, if it is needed.
    prevalence_varies : bool
        Whether the prevalence, which all models share, varies with the number of labeled rows.
    """

    counts: Counts
    mixture: Mixture
    target: Target
    threshold: Array
    share: Array
    covariance: Array | None
    prevalence_varies: bool

    def estimate(self, measure: Measure) -> tuple[Array, Array | None]:
        """Return a measure at the thresholds, and its covariance if that of shares is known."""
        rates = correct_shares(
            self.counts, self.threshold, Shares(*self.share), self.mixture, self.target
        )
        if self.covariance is None:
            return measure(rates), None
        by_share = share_slopes(self.counts, self.mixture, self.target)
        slopes = measure_slopes(measure, rates, by_share)
        covariance = np.einsum("ki,kj,kij->ij", slopes, slopes, self.covariance)
        if self.prevalence_varies:
            error = self.mixture.prevalence_standard_error(self.counts)
            changes = prevalence_slopes(measure, rates) * error
            covariance += np.outer(changes, changes)
        return measure(rates), covariance


def shares_at(
    rows: PairedRows,
    thresholds: Array,
    mixture: Mixture,
    target: Target,
    *,
    covariance: bool,
    prevalence_varies: bool,
) -> PairedShares:
    """Return shares at one threshold of each model, and their covariance.

    Rows that reach two thresholds are counted for all pairs of models in one pass.
    """
    share = np.zeros((3, thresholds.size))
    for model, counts in enumerate(rows.counts):
        share[:, model] = np.ravel(Shares.of(counts, counts.at(thresholds[model]))[:3])
    share_covariance = None
    if covariance:
        share_covariance = _share_covariance(rows, share, _shares_reaching_both(rows, thresholds))
    return PairedShares(
        rows.counts[0], mixture, target, thresholds, share, share_covariance, prevalence_varies
    )


def _share_covariance(rows: PairedRows, share: Array, reaching_both: Array) -> Array:
    """Return the covariance of shares, from the shares of rows that reach two thresholds.

    Each kind gets a pseudo-observation, spread like all rows; without it, shares of 0 and 1 would
    have no error. `pueval.uncertainty.bootstrap_draws` does the same.
    """
    part = np.array(rows.weight_by_kind, dtype=np.float64) / sum(rows.weight_by_kind)
    pooled_share, pooled_both = part @ share, np.einsum("k,kij->ij", part, reaching_both)
    covariance = np.zeros_like(reaching_both)
    for kind, size in enumerate(rows.effective_sizes):
        if not size:
            continue
        mean = (size * share[kind] + pooled_share) / (size + 1)
        both = (size * reaching_both[kind] + pooled_both) / (size + 1)
        cross = np.outer(mean, np.diag(both))
        covariance[kind] = (both - cross - cross.T + np.outer(mean, mean)) / size
    return covariance


def _shares_reaching_both(rows: PairedRows, thresholds: Array) -> Array:
    """Return, for each kind, the share of rows at or above both of two thresholds."""
    shares = np.zeros((3, thresholds.size, thresholds.size))
    if rows.variance_weight is None:
        sums = _count_rows_reaching_both(rows, thresholds)
    else:
        sums = _sum_weights_reaching_both(rows, thresholds, rows.variance_weight)
    for kind, (total, size) in enumerate(
        zip(rows.weight_by_kind, rows.effective_sizes, strict=True)
    ):
        if total:
            shares[kind] = sums[kind] * (size / total**2)
    return shares


def _count_rows_reaching_both(rows: PairedRows, thresholds: Array) -> list[Array]:
    """Count the rows of each kind that reach two thresholds.

    Each row is one bit, so that 64 of them are counted at a time.
    """
    bits = map_in_threads(
        lambda model: _pack_bits(rows.scores[model] >= thresholds[model]), range(thresholds.size)
    )
    both = [np.empty((len(bits), len(bits))) for _ in rows.numbers]
    kind_bits = []
    for where in rows.positions:
        is_kind = np.zeros(rows.scores[0].size, dtype=bool)
        is_kind[where] = True
        kind_bits.append(_pack_bits(is_kind) if where.size else None)

    def count(first: int) -> None:
        for of_kind, table in zip(kind_bits, both, strict=True):
            if of_kind is None:
                continue
            first_bits = bits[first] & of_kind
            for second in range(first, len(bits)):
                number = np.bitwise_count(first_bits & bits[second]).sum(dtype=np.int64)
                table[first, second] = table[second, first] = number

    map_in_threads(count, range(len(bits)))
    return both


def _pack_bits(reached: Array) -> Array:
    """Write truth values as bits of 64-bit integers."""
    bits = np.packbits(reached)
    return np.pad(bits, (0, -bits.size % 8)).view(np.uint64)


def _sum_weights_reaching_both(rows: PairedRows, thresholds: Array, weight: Array) -> list[Array]:
    """Sum the variance weights of the rows of each kind that reach two thresholds."""
    tables = []
    for kind, (where, numbers) in enumerate(zip(rows.positions, rows.numbers, strict=True)):
        sums = np.zeros((thresholds.size, thresholds.size))
        for part in rows.chunks(kind):
            reached = np.array(
                [
                    score[where[part]] >= threshold
                    for score, threshold in zip(rows.scores, thresholds, strict=True)
                ],
                dtype=np.float64,
            )
            sums += (reached * weight[numbers][part]) @ reached.T
        tables.append(sums)
    return tables
