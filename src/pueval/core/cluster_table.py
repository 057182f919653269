"""Cluster-robust variances of estimates: one kernel for all of them.

Rows are counted by group of clusters and by cell between thresholds. An estimate is, to first
order, a sum over rows of their influence on it. Influences are summed within a group and then
squared, since rows of a group need not be independent:

    variance = Σ_g (Σ_{kinds k} c_gk Σ_{rows i of g and k} influence_i)²

Influences are centered by kind of rows, which costs a part of their variance, most of all in groups
that have a large share h of the rows. The *leverage constants* c_gk = √((G − 1)/G) / (1 − h_gk),
for G groups with rows of the kind, make up for it. A mean then has the variance of the jackknife
over groups.

The *design effect* of an estimate is this variance divided by that of independent rows with the
same influences. Resampling draws groups in the place of rows. If rows look independent, the
variance of independent rows counts, too: see `pueval.core.independence`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pueval._typing import Array
from pueval.core.confidence import normal_quantile, student_quantile
from pueval.core.independence import FREEDOM_OF_SHARES, PRIOR_FREEDOM, independence_odds
from pueval.core.mixture import Mixture
from pueval.core.sizes import divide_or_zero
from pueval.counts.clusters import clusters_freedom, size_freedom
from pueval.counts.counts import Counts
from pueval.counts.design_effect import with_design_effect

# Cells in which rows are counted for a design effect.
TABLE_CELLS = 256
# Variances that are rounding errors: a perfect ranking has none.
NO_VARIANCE = 1e-24
# Tables that are kept: that of the cells of the draws, and that of `TABLE_CELLS`.
MOST_TABLES = 2


@dataclass(frozen=True, eq=False)
class ClusterTable:
    """Rows of each kind by group of clusters and cell.

    Attributes
    ----------
    cells : list of ndarray of shape (3 or 4, groups, m)
        Weight of labeled, unlabeled and negative rows, one table for each partition. With
        propensities, a fourth line has the represented positives.
    signs : list of int
        Sign of each partition in a variance.
    squares : ndarray of shape (3, m)
        Sums of squared weights of the rows of each kind and cell.
    inflation : float
        Factor by which another dependence increases variances.
    merged : bool
        Whether groups are several clusters each.
    """

    cells: list[Array]
    signs: list[int]
    squares: Array
    inflation: float = 1.0
    merged: bool = False

    @classmethod
    def of(cls, counts: Counts, thresholds: Array) -> ClusterTable:
        """Count the rows of clusters between descending thresholds."""
        rows = counts._clusters
        assert rows is not None  # noqa: S101 - only called with clusters
        key = thresholds.tobytes()
        if key in rows._recent:
            table: ClusterTable = rows._recent[key]
            return table
        squares = [
            sample.with_squared_weights.counts_between(thresholds)
            if sample.chunks
            else np.zeros(thresholds.size)
            for sample in counts._samples
        ]
        table = cls(
            rows.cells(thresholds),
            [partition.sign for partition in rows.clusters.partitions],
            np.array(squares, dtype=np.float64),
            rows.inflation,
            rows.clusters.are_merged,
        )
        while len(rows._recent) >= MOST_TABLES:
            rows._recent.pop(next(iter(rows._recent)))
        rows._recent[key] = table
        return table

    @cached_property
    def total(self) -> Array:
        """Weight of the rows of each kind."""
        return np.asarray(self.cells[0][:3].sum(axis=(1, 2)))

    @cached_property
    def row_weights(self) -> Array:
        """Weight that counts as one row of each kind: `Sample.row_weight`."""
        return divide_or_zero(self.squares.sum(axis=1), self.total) / self.inflation

    @cached_property
    def share(self) -> Array:
        """Share of the rows of each kind that lie in each cell, one line per kind."""
        return divide_or_zero(self.cells[0][:3].sum(axis=1), self.total[:, None])

    @cached_property
    def scales(self) -> list[Array]:
        """Leverage constants by kind of rows and group, one array for each partition.

        The fourth kind are represented positives, if propensities are known.
        """
        factor = np.sqrt(self.inflation)
        return [factor * leverage_constants(cells.sum(axis=2)) for cells in self.cells]

    def centered(self, influence: Array) -> Array:
        """Return influences of the rows of each kind and cell, less their mean over the kind."""
        mean = np.sum(self.share * influence, axis=1, keepdims=True)
        return divide_or_zero(influence - mean, self.total[:, None])

    def variance(self, influence: Array, of_kinds: Array | None = None) -> float:
        """Return the variance of an estimate; ``influence`` has a line per kind of rows.

        It is the mean over the rows of each kind whose influence counts, summed over the kinds.
        ``of_kinds`` are influences of rows by their kind alone, such as on the prevalence.
        """
        clustered = self._clustered_variance(influence, of_kinds)
        if not self.independent_weight:
            return clustered
        return self.averaged(clustered, self.independent_variance(influence, of_kinds))

    def averaged(self, clustered: float, independent: float) -> float:
        """Return the mean of a variance by clusters and one of independent rows."""
        weight = self.independent_weight
        return (1 - weight) * clustered + weight * independent

    def _clustered_variance(self, influence: Array, of_kinds: Array | None) -> float:
        """Return the variance by clusters alone."""
        centered = self.centered(influence)
        if of_kinds is not None:
            centered = centered + of_kinds[:, None]
        parts = (
            sign
            * np.sum(np.einsum("kg,km,kgm->g", scale[:3], centered, cells[:3], optimize=True) ** 2)
            for sign, scale, cells in zip(self.signs, self.scales, self.cells, strict=True)
        )
        return float(max(sum(parts), 0.0))

    def independent_variance(self, influence: Array, of_kinds: Array | None = None) -> float:
        """Return the variance of the estimate as if rows were independent."""
        squares = self.squares.sum(axis=1)
        effective = divide_or_zero(self.total**2, squares)
        factor = divide_or_zero(effective, effective - 1)
        variance = np.sum(factor[:, None] * self.squares * self.centered(influence) ** 2)
        return float(variance + (0.0 if of_kinds is None else np.sum(squares * of_kinds**2)))

    def design_effect(self, influence: Array, of_kinds: Array | None = None) -> float:
        """Return the variance divided by that of independent rows."""
        independent = self.independent_variance(influence, of_kinds)
        if independent <= NO_VARIANCE:
            return float(self.kind_effects.max())
        return self.variance(influence, of_kinds) / independent

    @cached_property
    def auc_effect(self) -> float:
        """Design effect of the naive AUC.

        The variance is that of the jackknife over clusters, which includes what influences leave
        out if there are few of them; with many clusters, influences are the placements of cells.
        """
        labeled = self.share[0]
        background = self.total[1:] @ self.share[1:] / self.total[1:].sum()
        outscored = 1 - np.cumsum(background) + background / 2
        outscoring = np.cumsum(labeled) - labeled / 2
        weight = self.total / self.total[1:].sum()
        influence = np.stack([outscored, weight[1] * outscoring, weight[2] * outscoring])
        independent = self.independent_variance(influence)
        if self.merged or len(self.cells) > 1 or independent <= NO_VARIANCE:
            return self.design_effect(influence)
        left_out = self._left_out_aucs()
        variance = self.inflation * (left_out.size - 1) * float(np.var(left_out))
        return self.averaged(variance, independent) / independent

    @cached_property
    def auc_excess(self) -> float:
        """By how much the naive AUC exceeds that of pairs of rows from different clusters.

        In a population of many clusters, hardly any pair of a labeled and another row belongs to
        one cluster. Among G clusters about one pair in G does, and such pairs are easier to order,
        or harder, than others.
        """
        concordant, pairs = _pairs_within(self.cells[0].sum(axis=1, keepdims=True))
        naive = concordant / pairs
        for sign, cells in zip(self.signs, self.cells, strict=True):
            within = _pairs_within(cells)
            concordant = concordant - sign * within[0].sum()
            pairs = pairs - sign * within[1].sum()
        return float(naive[0] - concordant[0] / pairs[0]) if pairs[0] > 0 else 0.0

    def _left_out_aucs(self) -> Array:
        """Return the naive AUC of pairs from different clusters, with each cluster left out."""
        (cells,) = self.cells
        labeled, background = cells[0], cells[1] + cells[2]
        all_labeled, all_background = labeled.sum(axis=0), background.sum(axis=0)
        above = np.cumsum(all_labeled) - all_labeled / 2
        below = all_background.sum() - np.cumsum(all_background) + all_background / 2
        within, pairs_within = _pairs_within(cells)
        # Pairs with a row of the cluster; those within it are in both sums.
        concordant = labeled @ below + background @ above - 2 * within
        n_labeled, n_background = labeled.sum(axis=1), background.sum(axis=1)
        pairs = n_labeled * n_background.sum() + n_background * n_labeled.sum() - 2 * pairs_within
        all_concordant = all_background @ above - within.sum()
        all_pairs = n_labeled.sum() * n_background.sum() - pairs_within.sum()
        return divide_or_zero(all_concordant - concordant, all_pairs - pairs)

    @cached_property
    def kind_effects(self) -> Array:
        """Design effects of the shares of rows above thresholds, by kind and at least 1."""
        weight = self.independent_weight
        return np.maximum((1 - weight) * self._share_effects + weight, 1.0)

    @cached_property
    def _share_effects(self) -> Array:
        """Design effects of the shares of rows above thresholds, by kind and by clusters alone.

        They are ratios of sums of variances over all thresholds.
        """
        share = np.cumsum(self.share, axis=1)
        variance = np.zeros(3)
        for sign, scale, cells in zip(self.signs, self.scales, self.cells, strict=True):
            for kind in np.flatnonzero(self.total):
                above = np.cumsum(cells[kind], axis=1)
                above -= above[:, -1:] * share[kind]
                above *= scale[kind, :, None]
                variance[kind] += sign * np.sum(np.square(above, out=above))
        independent = np.sum(share * (1 - share), axis=1) * self.squares.sum(axis=1)
        return divide_or_zero(variance, independent)

    # ------------------------------------------------------------------ do rows look independent?

    @cached_property
    def independence(self) -> float:
        """Probability that rows are independent, by the design effect that says so the least.

        These are the effects of shares above thresholds of each kind of rows, and that of the
        number of labels. 0 where the variance of independent rows is not used: for merged clusters,
        which are many, for two ways and for propensities.
        """
        if self.merged or len(self.cells) > 1 or self.cells[0].shape[0] > 3:
            return 0.0
        sizes = self.cells[0].sum(axis=2)
        squares = self.squares.sum(axis=1)
        odds = [
            independence_odds(effect, FREEDOM_OF_SHARES * size_freedom(size))
            for effect, size, total in zip(self._share_effects, sizes, self.total, strict=True)
            if total
        ]
        effect = self.inflation * _label_count_effect(sizes, squares)
        least = min(*odds, independence_odds(effect, size_freedom(sizes[:2].sum(axis=0))))
        return least / (1 + least)

    @cached_property
    def independent_weight(self) -> float:
        """Weight of the variance of independent rows in a mean with that of clusters."""
        return 1 - self.clustered_freedom / self.degrees_of_freedom

    @property
    def clustered_freedom(self) -> float:
        """Degrees of freedom of a variance by clusters alone."""
        ways = sum(sign > 0 for sign in self.signs)
        return clusters_freedom([cells.sum(axis=2) for cells in self.cells[:ways]])

    @cached_property
    def degrees_of_freedom(self) -> float:
        """Degrees of freedom of a variance."""
        return self.clustered_freedom + PRIOR_FREEDOM * self.independence


def _pairs_within(cells: Array) -> tuple[Array, Array]:
    """Return the concordant pairs of a labeled and another row by group, and all such pairs.

    Ties count half.
    """
    labeled, background = cells[0], cells[1] + cells[2]
    above = np.cumsum(labeled, axis=1) - labeled / 2
    return np.sum(background * above, axis=1), labeled.sum(axis=1) * background.sum(axis=1)


def prevalence_influences(mixture: Mixture, counts: Counts) -> Array:
    """Return the influence of a row of each kind on the prevalence of the population."""
    prevalence = mixture.prevalence(counts)
    shares = np.array([mixture.purity, mixture.prior, 0.0])
    return np.asarray((shares - prevalence) / counts.n)


def label_count_effect(counts: Counts) -> float:
    """Return the design effect of the share of labeled rows; 1 for independent rows."""
    if counts._clusters is None:
        return 1.0
    clusters = counts._clusters.clusters
    squares = np.array(counts.squared_weights)
    effect = sum(
        partition.sign * _label_count_effect(sizes, squares)
        for partition, sizes in zip(clusters.partitions, clusters.group_sizes, strict=True)
    )
    return max(float(counts._clusters.inflation * effect), 0.0)


def _label_count_effect(sizes: Array, squares: Array) -> float:
    """Return this design effect from numbers of rows by kind and group, and squared weights."""
    labeled, unlabeled = sizes[:2].sum(axis=1)
    share = labeled / max(labeled + unlabeled, 1e-300)
    independent = (1 - share) ** 2 * squares[0] + share**2 * squares[1]
    if independent <= 0:
        return 1.0
    (scale,) = leverage_constants(sizes[:2].sum(axis=0, keepdims=True))
    deviation = scale * ((1 - share) * sizes[0] - share * sizes[1])
    return float(np.sum(deviation**2) / independent)


def leverage_constants(sizes: Array) -> Array:
    """Return the leverage constants of groups with given numbers of rows, a line per kind."""
    share = divide_or_zero(sizes, sizes.sum(axis=1, keepdims=True))
    n_groups = np.maximum(np.count_nonzero(sizes, axis=1), 1)
    constants: Array = np.sqrt((n_groups - 1) / n_groups)[:, None] / np.maximum(1 - share, 0.1)
    return constants


def share_effect(counts: Counts) -> float:
    """Return the largest design effect of shares of rows above thresholds; 1 without clusters."""
    if counts._clusters is None:
        return 1.0
    return float(table_of(counts).kind_effects.max())


def table_of(counts: Counts) -> ClusterTable:
    """Return the table of clusters with about `TABLE_CELLS` cells."""
    return ClusterTable.of(counts, counts._thinned(TABLE_CELLS).score.astype(np.float64))


def cluster_freedom(counts: Counts) -> float:
    """Return the degrees of freedom of a variance; a table only if rows may look independent."""
    rows = counts._clusters
    assert rows is not None  # noqa: S101 - only called with clusters
    if rows.clusters.are_merged or rows.clusters.ways > 1 or rows.represented is not None:
        return rows.clusters.degrees_of_freedom
    return table_of(counts).degrees_of_freedom


def reduced_counts(counts: Counts, effect: float | None = None) -> Counts:
    """Return counts with the effective number of independent rows.

    Parameters
    ----------
    counts : Counts
        Rows with or without clusters; the latter are returned as they are.
    effect : float, optional
        Design effect; by default the largest one of the shares of each kind of rows. With few
        clusters it is increased to make up for the t distribution of their intervals.

    Returns
    -------
    Counts
        Without clusters, and thinned if there are many scores.
    """
    if counts._clusters is None:
        return counts
    if effect is None:
        effect = share_effect(counts)
    freedom = cluster_freedom(counts)
    effect *= (student_quantile(0.95, freedom) / normal_quantile(0.95)) ** 2
    return with_design_effect(counts._thinned_without_clusters, effect)
