"""Errors of differences of areas and best values, by exchanging models.

If two models are equally good, it does not matter which of them gave which ranking of a row. So
each exchange swaps the two models in about half of the rows, and the differences after many
exchanges show how much the difference varies by chance. Other than a standard error of each
model, they do not depend on which of the two models happened to look better. Near 1, where
average precision and best values vary the less the higher they are, this keeps the size of the
test.

The scores of models have different scales, so each row has a *position* instead: the share of all
rows that score at least as high. Let a(t) and b(t) be the shares of the rows of a kind whose
position by the first and second model is at most t. An exchange gives (a + b)/2 ± e/2, where the
noise e(t) = Σ ±(a_g(t) − b_g(t)) sums over groups g of rows, with random signs. The differences
of each group are centered: the models need not be equal, and the standard error holds for
intervals, too.

The signs are columns of a Hadamard matrix. These are orthogonal, so the variance of a linear
statistic is exact, up to the random assignment of rows to groups.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import combinations
from typing import NamedTuple

import numpy as np
import scipy

from pueval._typing import Array, Target
from pueval.comparison.exchange_tails import (
    BEST_VALUE_WEIGHT,
    NORMAL,
    ExchangeTails,
    tail_quantiles,
)
from pueval.comparison.paired_rows import PairedRows
from pueval.core.average_precision import average_precision
from pueval.core.cluster_table import TABLE_CELLS, ClusterTable
from pueval.core.measures import MEASURES
from pueval.core.mixture import Mixture
from pueval.core.rates import Rates, Shares, correct_shares
from pueval.core.sizes import divide_or_zero
from pueval.counts.counts import Counts
from pueval.estimates.estimate import BEST_MEASURES
from pueval.samples.threads import map_in_threads

# Number of exchanges, a power of two. The groups of all kinds of rows together are fewer.
EXCHANGES = 256
# Shares are compared at no more positions of labeled rows than this, and at a few others, which
# show how much alike two models order the rows that no labeled row is near.
LABELED_POSITIONS = 128
OTHER_POSITIONS = np.arange(1, 16) / 16
# Positions of first rows, in about equal ratios, for measures of a few of many first rows.
FIRST_POSITIONS = 64
# Distinct scores of a model among which positions are looked up.
SCORES = 8192
# The noise of both models in an exchange, as parts of that of their difference.
HALVES = np.array([0.5, -0.5], dtype=np.float32)
# Two models are the same if their correlation is 1 up to rounding.
ROUNDING = 1e-9


# From rates with one line per exchange to a measure of each line.
Formula = Callable[[Rates], Array]


def _best(name: str, rates: Rates) -> Array:
    best: Array = np.fmax.reduce(MEASURES[name](rates), axis=-1)
    return best


# The measures whose differences are always compared by exchanges.
EXCHANGED: dict[str, Formula] = {
    "average_precision": average_precision,
    **{f"best_{name}": partial(_best, name) for name in BEST_MEASURES},
}


class ExchangeErrors(NamedTuple):
    """Standard errors of differences of all pairs of models, a symmetric matrix, and their tails.

    The errors are root mean squares of the differences after exchanges.
    """

    standard: Array
    tails: ExchangeTails


@dataclass(frozen=True, eq=False)
class ModelExchanges:
    """Shares of rows at common positions, and their noise in each exchange.

    Attributes
    ----------
    counts : Counts
        Counts of any of the models, for the numbers of rows of each kind.
    position : ndarray of shape (m,)
        Ascending shares of all rows.
    share : ndarray of shape (models, 3, m)
        Shares of labeled, unlabeled and negative rows whose position is at most this.
    noise : ndarray of shape (models, 3, exchanges, m)
        Sum of the centered shares of groups of rows, with the signs of the exchange.
    pseudo_observation : ndarray of shape (exchanges, m)
        Noise of a labeled pseudo-observation that two models place independently. Without it, two
        perfect rankings would be taken for equally good.
    """

    counts: Counts
    position: Array
    share: Array
    noise: Array
    pseudo_observation: Array

    @classmethod
    def of(cls, rows: PairedRows, seed: int, *, of_first_rows: bool = False) -> ModelExchanges:
        """Find common positions of all models, assign rows to groups, and draw the signs.

        With ``of_first_rows``, positions are close to each other near the top of the list, too.
        """
        rng = np.random.default_rng([seed, 2])
        keep = [_first_scores(counts) if of_first_rows else () for counts in rows.counts]
        steps = [
            counts._thinned(SCORES, keep=of_model).steps()
            for counts, of_model in zip(rows.counts, keep, strict=True)
        ]
        total = np.array(rows.weight_by_kind, dtype=np.float64)
        reached = [np.stack([step.labeled, step.unlabeled, step.negative]) for step in steps]
        positions = [above.sum(axis=0) / total.sum() for above in reached]
        position = np.unique(
            np.concatenate(
                [
                    at[1:][np.diff(above[0]) > 0]
                    for at, above in zip(positions, reached, strict=True)
                ]
            )
        )
        if position.size > LABELED_POSITIONS:
            kept = np.linspace(0, position.size - 1, LABELED_POSITIONS)
            if of_first_rows:
                kept = np.union1d(kept, np.geomspace(1, position.size, FIRST_POSITIONS) - 1)
            position = position[np.unique(kept.round().astype(np.intp))]
        position = np.union1d(position, OTHER_POSITIONS)
        if of_first_rows:
            n_rows = sum(kind.n_rows for kind in rows.counts[0]._samples)
            position = np.union1d(position, np.geomspace(1 / n_rows, 1, FIRST_POSITIONS))
        last = [np.searchsorted(at, position * (1 + 1e-12), side="right") - 1 for at in positions]
        share = np.stack(
            [
                above[:, at] / np.where(total, total, 1.0)[:, None]
                for above, at in zip(reached, last, strict=True)
            ]
        )
        thresholds = [step.threshold[at] for step, at in zip(steps, last, strict=True)]
        noise = group_noise(rows, thresholds, share, rng)
        first, second = (at <= position for at in rng.random((2, EXCHANGES, 1)))
        pseudo_observation = np.subtract(first, second, dtype=np.float32)
        pseudo_observation /= np.float32(rows.effective_sizes[0] / _labeled_effect(rows))
        return cls(rows.counts[0], position, share, noise, pseudo_observation)

    def errors(
        self, formulas: Mapping[str, Formula], mixture: Mixture, target: Target
    ) -> dict[str, ExchangeErrors]:
        """Return the errors of the differences of all pairs of models, by measure.

        ``formulas`` compute the measures from rates. Prior, purity and prevalence are held fixed.
        """
        n_models = len(self.share)
        pairs = [*combinations(range(n_models), 2)]

        def errors_of(pair: tuple[int, int]) -> Array:
            """Return the root mean square of differences and their tails, a line per measure."""
            rates = self._exchanged_rates(*pair, mixture, target)
            lines = []
            for name, formula in formulas.items():
                differences = np.subtract(*formula(rates))
                error = math.sqrt(np.mean(np.square(differences)))
                weight = BEST_VALUE_WEIGHT if name.startswith("best_") else 1.0
                lines.append((error, *tail_quantiles(differences, error, weight)))
            return np.array(lines)

        # Tails of a model and itself do not matter: the difference has no error.
        matrices = np.zeros((len(formulas), 1 + NORMAL.size, n_models, n_models))
        matrices[:, 1:] = NORMAL[:, None, None]
        for (first, second), of_pair in zip(pairs, map_in_threads(errors_of, pairs), strict=True):
            matrices[:, :, first, second] = matrices[:, :, second, first] = of_pair
        return {
            name: ExchangeErrors(of_name[0], ExchangeTails(of_name[1:]))
            for name, of_name in zip(formulas, matrices, strict=True)
        }

    def _exchanged_rates(self, first: int, second: int, mixture: Mixture, target: Target) -> Rates:
        """Return the rates of two models after each exchange, of shape (2, exchanges, m)."""
        pseudo_weight = np.float32(math.sqrt(1 - self.correlation[first, second]))
        shares = []
        for kind, sample in enumerate(self.counts._samples):
            middle = (self.share[first, kind] + self.share[second, kind]) / 2
            if not sample.total:
                shares.append(middle)
                continue
            noise = self.noise[first, kind] - self.noise[second, kind]
            if kind == 0:
                noise += pseudo_weight * self.pseudo_observation
            exchanged = middle.astype(np.float32) + np.multiply.outer(HALVES, noise)
            # As shares of rows, they cannot fall.
            np.maximum.accumulate(exchanged, axis=-1, out=exchanged)
            if kind > 0:
                # Less than half a row is none. Otherwise precision would have no bounds.
                exchanged[exchanged < 0.5 / max(sample.effective_size, 1)] = 0
            shares.append(np.clip(exchanged, 0, 1, out=exchanged))
        return correct_shares(self.counts, self.position, Shares(*shares), mixture, target)

    def least_precision_errors(self, mixture: Mixture, target: Target) -> Array:
        """Return the errors of differences of average precisions by the pseudo-observation alone.

        Average precision is at most 1. In exchanges of models that look perfect by chance it hardly
        varies, so this error is that of its linear approximation: the sum of the precisions at the
        places where labeled rows are gained or lost.
        """
        rise = (1 - mixture.prior) / (mixture.purity - mixture.prior)
        gain = rise * np.diff(self.pseudo_observation, axis=1, prepend=0)
        errors = np.zeros(self.correlation.shape)
        for first, second in combinations(range(len(errors)), 2):
            shares = (self.share[first] + self.share[second]) / 2
            rates = correct_shares(self.counts, self.position, Shares(*shares), mixture, target)
            precision = np.nan_to_num(MEASURES["precision"](rates), nan=1.0).clip(0, 1)
            error = math.sqrt(np.mean(np.square(gain @ precision)))
            error *= math.sqrt(1 - self.correlation[first, second])
            errors[first, second] = errors[second, first] = error
        return errors

    @cached_property
    def correlation(self) -> Array:
        """Correlation of the noise of each pair of models in the background, at least 0.

        Two models place a pseudo-observation as much alike as they place the rows of the
        background. 1 for models that order all rows in the same way.
        """
        noise = self.noise[:, 1:].reshape(len(self.noise), -1).astype(np.float64)
        covariance = noise @ noise.T
        error = np.sqrt(np.diag(covariance))
        correlation: Array = np.clip(divide_or_zero(covariance, np.outer(error, error)), 0, 1)
        correlation[(correlation > 1 - ROUNDING) | np.eye(len(noise), dtype=bool)] = 1
        return correlation


def _first_scores(counts: Counts) -> Array:
    """Return scores of the first rows of each kind, at ranks in about equal ratios."""
    kinds = [kind for kind in counts._samples if kind.total]
    return np.concatenate(
        [kind.scores_at_ranks(np.geomspace(1, kind.n_rows, FIRST_POSITIONS)) for kind in kinds]
    )


def _labeled_effect(rows: PairedRows) -> float:
    """Return the design effect of labeled rows; 1 without clusters."""
    counts = rows.counts[0]
    if rows.clusters is None:
        return 1.0
    return float(ClusterTable.of(counts, counts._thinned(TABLE_CELLS).score).kind_effects[0])


def group_noise(
    rows: PairedRows, thresholds: list[Array], share: Array, rng: np.random.Generator
) -> Array:
    """Return the noise of each model and kind of rows in each exchange.

    ``thresholds`` are the descending scores of each model at the common positions.
    """
    sizes = [where.size for where in rows.positions]
    merged = None
    if rows.clusters is None:
        groups = _group_numbers(sizes)
    else:
        # Models are exchanged in all rows of a cluster at once, whatever their kind.
        n_clusters = rows.clusters.partitions[0].n_groups
        n_groups = min(n_clusters, EXCHANGES - 1)
        merged = rng.permutation(n_clusters) % n_groups
        groups = [n_groups if size else 0 for size in sizes]
    sign = scipy.linalg.hadamard(EXCHANGES, dtype=np.float32)
    # The first column is constant. Others are in random order, since their products are columns.
    order = rng.permutation(np.arange(1, EXCHANGES))
    columns = np.split(order, np.cumsum(groups)) if merged is None else [order[:n_groups]] * 3
    noise = np.zeros((len(thresholds), 3, EXCHANGES, share.shape[-1]), dtype=np.float32)
    for kind, n_groups in enumerate(groups):
        if not n_groups:
            continue
        if merged is None:
            group = rng.permutation(rows.positions[kind].size) % n_groups
        else:
            group = merged[rows.group_of(rows.positions[kind])]
        size = rows.effective_sizes[kind]
        # A single labeled row does not show how much labeled rows vary.
        if merged is not None:
            size = np.unique(group).size
        freedom = max(size - 1, 1) if kind or size > 1 else math.nan
        scale = math.sqrt(size / freedom) / rows.weight_by_kind[kind]
        centered = map_in_threads(
            partial(_centered_by_group, rows, kind, group, n_groups, thresholds, share),
            range(len(thresholds)),
        )
        for model, of_groups in enumerate(centered):
            noise[model, kind] = sign[:, columns[kind]] @ (scale * of_groups).astype(np.float32)
    return noise


def _group_numbers(sizes: list[int]) -> list[int]:
    """Return the number of groups of each kind of rows; a kind of few rows has one per row."""
    groups, free = [0] * len(sizes), EXCHANGES - 1
    kinds = sorted((size, kind) for kind, size in enumerate(sizes) if size)
    for left, (size, kind) in zip(range(len(kinds), 0, -1), kinds, strict=True):
        groups[kind] = min(size, free // left)
        free -= groups[kind]
    return groups


def _centered_by_group(
    rows: PairedRows,
    kind: int,
    group: Array,
    n_groups: int,
    thresholds: list[Array],
    share: Array,
    model: int,
) -> Array:
    """Return how much the weight of each group at or above thresholds exceeds its share.

    So that squares add up to variances, rows have the roots of their weights in variances; rows of
    clusters have their weights.
    """
    n_cells = share.shape[-1] + 1
    ascending, score, weight = thresholds[model][::-1], rows.scores[model], rows.variance_weight
    if weight is not None and rows.clusters is None:
        weight = np.sqrt(weight[rows.numbers[kind]])
    elif rows.sample_weight is not None:
        weight = rows.sample_weight[rows.numbers[kind]]
    sums = np.zeros(n_groups * n_cells)
    for part in rows.chunks(kind):
        reached = np.searchsorted(ascending, score[rows.positions[kind][part]], side="right")
        cell = (group[part] + 1) * n_cells - 1 - reached
        sums += np.bincount(cell, None if weight is None else weight[part], minlength=sums.size)
    at_or_above = np.cumsum(sums.reshape(n_groups, n_cells), axis=1)
    centered: Array = at_or_above[:, :-1] - np.outer(at_or_above[:, -1], share[model, kind])
    return centered
