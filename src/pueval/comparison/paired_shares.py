"""Shares of rows at or above the thresholds of several models, and their covariance.

A measure at a threshold is a function of these shares. The covariance of two shares follows from
how many rows reach both thresholds.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from pueval._typing import Array, Target
from pueval.comparison.paired_rows import PairedRows
from pueval.comparison.row_sums import cluster_sums, prevalence_sums, sum_products
from pueval.core.measures import Measure
from pueval.core.mixture import Mixture
from pueval.core.rates import Shares, correct_shares
from pueval.core.sizes import divide_or_zero
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
    cluster_sums : tuple of ndarray of shape (3, models, groups) and (groups,), or None
        What groups of clusters add to the errors of the shares, and of the prevalence, if rows
        belong together. ``covariance`` is then that of pseudo-observations alone.
    """

    counts: Counts
    mixture: Mixture
    target: Target
    threshold: Array
    share: Array
    covariance: Array | None
    prevalence_varies: bool
    cluster_sums: tuple[Array, Array] | None = None

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
        if self.cluster_sums is not None:
            of_kinds, of_prevalence = self.cluster_sums
            sums = np.einsum("ki,kig->ig", slopes, of_kinds)
            if self.prevalence_varies:
                sums += np.outer(prevalence_slopes(measure, rates), of_prevalence)
            covariance += sums @ sums.T
        elif self.prevalence_varies:
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
    share_covariance = sums = None
    if covariance:
        both = _shares_reaching_both(rows, thresholds)
        share_covariance = _share_covariance(rows, share, both)
    if covariance and rows.clusters is not None:
        sums = _share_sums(rows, thresholds, share)
        effects = _design_effects(rows, share, sums)
        share_covariance = _share_covariance(rows, share, both, effects)
        share_covariance -= _share_covariance(rows, share, both, effects, pseudo_observations=0)
    return PairedShares(
        rows.counts[0],
        mixture,
        target,
        thresholds,
        share,
        share_covariance,
        prevalence_varies,
        None if sums is None else (sums, prevalence_sums(rows, mixture)),
    )


def _reached(rows: PairedRows, thresholds: Array, _kind: int, where: Array) -> Array:
    """Return 1 for the rows at or above the threshold of each model, and 0 for the others."""
    scores = zip(rows.scores, thresholds, strict=True)
    return np.array([score[where] >= threshold for score, threshold in scores], dtype=np.float64)


def _share_sums(rows: PairedRows, thresholds: Array, share: Array) -> Array:
    """Return the sums over clusters of deviations from the shares at or above thresholds."""

    def deviations(kind: int, where: Array) -> Array:
        deviation: Array = _reached(rows, thresholds, kind, where) - share[kind][:, None]
        return deviation

    return cluster_sums(rows, deviations, (thresholds.size,))


def _design_effects(rows: PairedRows, share: Array, sums: Array) -> Array:
    """Return the mean design effects of the shares of each kind, at least 1."""
    clustered = np.sum(sums**2, axis=(1, 2))
    independent = np.sum(share * (1 - share), axis=1)
    sizes = np.array(rows.effective_sizes)
    return np.maximum(divide_or_zero(clustered * sizes, independent), 1.0)


def _share_covariance(
    rows: PairedRows,
    share: Array,
    reaching_both: Array,
    effects: Array | None = None,
    *,
    pseudo_observations: int = 1,
) -> Array:
    """Return the covariance of shares, from the shares of rows that reach two thresholds.

    Each kind gets a pseudo-observation, spread like all rows; without it, shares of 0 and 1 would
    have no error. `pueval.uncertainty.bootstrap_draws` does the same. ``effects`` are the design
    effects of each kind of rows.
    """
    part = np.array(rows.weight_by_kind, dtype=np.float64) / sum(rows.weight_by_kind)
    pooled_share, pooled_both = part @ share, np.einsum("k,kij->ij", part, reaching_both)
    covariance = np.zeros_like(reaching_both)
    for kind, n_rows in enumerate(rows.effective_sizes):
        if not n_rows:
            continue
        size, added = n_rows / (1.0 if effects is None else effects[kind]), pseudo_observations
        mean = (size * share[kind] + added * pooled_share) / (size + added)
        both = (size * reaching_both[kind] + added * pooled_both) / (size + added)
        cross = np.outer(mean, np.diag(both))
        covariance[kind] = (both - cross - cross.T + np.outer(mean, mean)) / size
    return covariance


def _shares_reaching_both(rows: PairedRows, thresholds: Array) -> Array:
    """Return, for each kind, the share of rows at or above both of two thresholds."""
    shares = np.zeros((3, thresholds.size, thresholds.size))
    if rows.variance_weight is None:
        sums = _count_rows_reaching_both(rows, thresholds)
    else:
        reached = partial(_reached, rows, thresholds)
        sums = [sum_products(rows, reached, kind) for kind in range(3)]
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
