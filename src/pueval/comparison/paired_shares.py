"""Shares of rows at or above the thresholds of several models, and their covariance.

A measure at a threshold is a function of these shares. The covariance of two shares follows from
how many rows reach both thresholds.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

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
    """Shares of each kind of rows at or above some thresholds of some models.

    Attributes
    ----------
    counts : Counts
        Counts of any of the models, for the numbers of rows of each kind.
    mixture, target
        Prior and purity, and the population to evaluate.
    threshold : ndarray
        One per column.
    share : ndarray of shape (3, columns)
        Shares of labeled, unlabeled and negative rows.
    covariance : ndarray of shape (3, columns, columns)
        Covariance matrix of the shares of each kind.
    prevalence_varies : bool
        Whether the prevalence, which all models share, varies with the number of labeled rows.
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
        return replace(
            self,
            threshold=self.threshold[columns],
            share=self.share[:, columns],
            covariance=self.covariance[:, columns][:, :, columns],
        )

    def estimate(self, measure: Measure) -> tuple[Array, Array]:
        """Return a measure at the thresholds, and its covariance."""
        rates = correct_shares(
            self.counts, self.threshold, Shares(*self.share), self.mixture, self.target
        )
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
    thresholds: list[Array],
    mixture: Mixture,
    target: Target,
    *,
    covariance: bool,
    prevalence_varies: bool,
) -> PairedShares:
    """Return shares at each model's descending thresholds, and their covariance.

    Columns are the thresholds of the first model, then those of the second, and so on. Rows that
    reach two thresholds are counted for all pairs of columns in one pass.
    """
    reached = []
    for counts, of_model in zip(rows.counts, thresholds, strict=True):
        steps = counts.at(of_model)
        reached.append(np.stack([steps.labeled, steps.unlabeled, steps.negative]))
    total = np.array(rows.weight_by_kind, dtype=np.float64)
    share = np.concatenate(reached, axis=1) / np.where(total, total, 1.0)[:, None]
    n_columns = share.shape[1]
    share_covariance = np.full((3, n_columns, n_columns), np.nan)
    if covariance:
        share_covariance = _share_covariance(rows, share, _shares_reaching_both(rows, thresholds))
    counts, threshold = rows.counts[0], np.concatenate(thresholds)
    return PairedShares(
        counts, mixture, target, threshold, share, share_covariance, prevalence_varies
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


def _shares_reaching_both(rows: PairedRows, thresholds: list[Array]) -> Array:
    """Return, for each kind, the share of rows at or above both of two thresholds."""
    n_columns = sum(of_model.size for of_model in thresholds)
    shares = np.zeros((3, n_columns, n_columns))
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


def _count_rows_reaching_both(rows: PairedRows, thresholds: list[Array]) -> list[Array]:
    """Count the rows of each kind that reach two thresholds.

    Each row is one bit, so that 64 of them are counted at a time.
    """

    def reached(model: int) -> list[Array]:
        return [_pack_bits(rows.scores[model] >= threshold) for threshold in thresholds[model]]

    bits = [
        column for columns in map_in_threads(reached, range(len(rows.names))) for column in columns
    ]
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


def _sum_weights_reaching_both(
    rows: PairedRows, thresholds: list[Array], weight: Array
) -> list[Array]:
    """Sum the variance weights of the rows of each kind that reach two thresholds."""
    n_columns = sum(of_model.size for of_model in thresholds)
    tables = []
    for kind, (where, numbers) in enumerate(zip(rows.positions, rows.numbers, strict=True)):
        sums = np.zeros((n_columns, n_columns))
        for part in rows.chunks(kind):
            reached = np.concatenate(
                [
                    score[where[part]] >= of_model[:, None]
                    for score, of_model in zip(rows.scores, thresholds, strict=True)
                ]
            ).astype(np.float64)
            sums += (reached * weight[numbers][part]) @ reached.T
        tables.append(sums)
    return tables
