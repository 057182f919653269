"""Delete-a-part jackknife: the sampling variance of every measure in every group.

Standard errors for intervals are cautious in small groups. Shrinkage needs variances without bias,
because it takes what they leave unexplained for differences between groups.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from pueval._typing import Array
from pueval.evaluation.evaluation import Evaluation
from pueval.groups.row_blocks import RowBlock, group_sizes
from pueval.groups.unclipped_estimates import GROUP_MEASURES, estimate_groups
from pueval.samples.threads import iterate_in_threads

# Parts into which the labeled rows, and the background rows, of each group are divided.
PARTS = 5


@dataclass(frozen=True, eq=False)
class Jackknife:
    """Estimates of every group without one part of its labeled rows or of its background rows.

    Attributes
    ----------
    values : dict of str to ndarray of shape (2, `PARTS`, groups)
        Estimates without each part of the labeled rows, and without each part of the background.
        The excess of average precision is not subtracted: that of fewer rows is larger.
    kept_per_removed : ndarray of the same shape
        Number of rows that are left per removed row; NaN where no row is removed.
    """

    values: dict[str, Array]
    kept_per_removed: Array

    def variance(self, values: Array, full: Array) -> Array:
        """Return the variance of an estimate, from values without each part and the full value.

        For each kind it is the mean over parts of (n − m)/m·(v − full)², where the part has m
        of n rows. For means this is free of bias, also if parts differ in size.

        References
        ----------
        Busing, Meijer and van der Leeden (1999).
        """
        squares = self.kept_per_removed * (values - full) ** 2
        # A removed part without which the estimate is undefined makes the variance undefined.
        undefined = np.isnan(values) & ~np.isnan(self.kept_per_removed)
        used = np.maximum((~np.isnan(self.kept_per_removed)).sum(axis=1), 1)
        variance: Array = (np.nansum(squares, axis=1) / used).sum(axis=0)
        return np.where(undefined.any(axis=(0, 1)), np.nan, variance)


def jackknife_groups(blocks: tuple[RowBlock, ...], prior: Array, overall: Evaluation) -> Jackknife:
    """Estimate every group without each part; groups without a prior stay undefined."""
    shape = (2, PARTS, prior.size)
    values = {name: np.full(shape, np.nan) for name in GROUP_MEASURES}
    kept_per_removed = np.full(shape, np.nan)
    without_intervals = replace(overall, resampling=None)

    def estimate(block: RowBlock) -> None:
        usable = np.flatnonzero(~np.isnan(prior[block.first : block.first + block.n_groups]))
        if not usable.size:
            return
        groups, block = block.first + usable, block.part(usable)
        zeros = np.zeros(groups.size)
        parts = divide_rows(block)
        for background, part in product((False, True), range(PARTS)):
            reduced, ratio = without_part(block, parts[part], background=background)
            with np.errstate(divide="ignore", invalid="ignore"):
                estimates = estimate_groups(
                    reduced.steps().labeled_only(),
                    group_sizes([reduced]),
                    prior[groups],
                    without_intervals,
                    reduced.reached(overall.threshold),
                    zeros,
                    label_count_error=zeros,
                )
            kept_per_removed[int(background), part, groups] = ratio
            for name in GROUP_MEASURES:
                values[name][int(background), part, groups] = estimates.value[name]

    for _ in iterate_in_threads(estimate, blocks):
        pass
    return Jackknife(values, kept_per_removed)


def divide_rows(block: RowBlock) -> Array:
    """Divide the rows of each kind in each group at random: numbers of rows by part and row.

    Parts are of equal size, up to one row. A frequency weight stands for several rows, which are
    divided independently.
    """
    rng = np.random.default_rng(block.first)
    if block.sample_weight is not None and not block.weighted:
        return rng.multinomial(block.sample_weight, [1 / PARTS] * PARTS).T
    stratum = 3 * block.group + block.kind
    order = rng.permutation(stratum.size)
    order = order[np.argsort(stratum[order], kind="stable")]
    first = np.searchsorted(stratum[order], np.arange(3 * block.n_groups))
    part = np.empty(stratum.size, dtype=np.int64)
    part[order] = (np.arange(stratum.size) - first[stratum[order]]) % PARTS
    divided: Array = (part == np.arange(PARTS)[:, None]).astype(np.int64)
    return divided


def without_part(block: RowBlock, part: Array, *, background: bool) -> tuple[RowBlock, Array]:
    """Remove the labeled, or the background, rows of a part; the others take over their weight.

    The total weight of each kind stays, and with it the prevalence. A kind that would lose all
    rows keeps them. Also return the number of rows that are left per removed row in each group,
    NaN where none is removed.
    """
    stratum, n_strata = 3 * block.group + block.kind, 3 * block.n_groups
    of_kind = (block.kind > 0) == background
    weight = np.ones(stratum.size) if block.sample_weight is None else block.sample_weight
    n_rows, row_weight = (np.ones(stratum.size), weight) if block.weighted else (weight, 1.0)
    removed = np.where(of_kind, part, 0)
    left = np.bincount(stratum, n_rows - removed, n_strata)
    removed = np.where(left[stratum] > 0, removed, 0)
    kept = (n_rows - removed) * row_weight
    total, total_kept = (np.bincount(stratum, each, n_strata) for each in (weight, kept))
    scale = total / np.where(total_kept > 0, total_kept, 1.0)
    reduced = replace(block, sample_weight=kept * scale[stratum])
    n_left, n_removed = (
        np.bincount(block.group, np.where(of_kind, each, 0), block.n_groups)
        for each in (n_rows - removed, removed)
    )
    return reduced, np.where(n_removed > 0, n_left / np.maximum(n_removed, 1), np.nan)
