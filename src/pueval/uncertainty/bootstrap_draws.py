"""Bootstrap draws: resampled counts of rows between thresholds.

There are two kinds of variance. ``"sampling"`` is that of another sample of rows. ``"labeling"`` is
that of the same rows with another random choice of labels.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import scipy  # loads its submodules when they are first used

from pueval._progress import progress_bar
from pueval._typing import Array
from pueval.core.cluster_table import ClusterTable
from pueval.core.mixture import Mixture
from pueval.core.rates import Shares, correct_pair
from pueval.counts.counts import Counts
from pueval.samples.sample import RANK_DECIMALS, ROUNDING, Sample, rows_of_weight
from pueval.samples.steps import Steps
from pueval.samples.threads import keep_memory, map_in_threads
from pueval.uncertainty.cluster_draws import draw_clusters, normalized
from pueval.uncertainty.intervals import IntervalOptions
from pueval.uncertainty.multinomial_draws import draw_multinomial

# Cells between thresholds in which rows are resampled. Up to half as many labeled scores get a
# cell each and nothing is lost; with more, every rate is within 1/128 of one at a threshold.
CELLS = 256
# Thresholds near the chosen one that resamples can choose: up to 6 standard errors of the number
# of rows at or above it, in steps of a quarter.
NEARBY_STEPS = np.arange(-24, 25) / 4
# Weights whose relative difference is smaller than this are equal up to rounding.
EQUAL_WEIGHTS = 1e-9
# Resamples that are drawn at a time, between two updates of the progress bar. Threads share them:
# of fewer, each thread would get too few.
BLOCK = 2000
# The same where their sizes vary: large samples are drawn around the mean size of a block.
VARYING_BLOCK = 1000
# Expected number of labeled rows that a draw has beyond those seen, if propensities are known.
# Chosen by simulation of coverage (tests/coverage).
UNSEEN_ROWS = 0.5


@dataclass(frozen=True, eq=False)
class BootstrapDraws:
    """Resampled shares of rows at or above the thresholds that bound the cells.

    Attributes
    ----------
    threshold : ndarray of shape (m,)
        Descending.
    expected : Shares
        Expected shares of the draws, arrays of shape (m,).
    resampled : Shares
        Arrays of shape (n_resamples, m).
    positives : ndarray of shape (n_resamples,) or None
        Number of positives that the labeled rows of each draw represent, if propensities are known.
    noise : ndarray of shape (n_resamples,)
        Standard normal numbers, independent of everything else.
    totals : ndarray of shape (n_resamples, 3) or None
        Drawn numbers of labeled, unlabeled and negative rows, if clusters of rows are drawn.
    purity : ndarray of shape (n_resamples,) or None
        Share of true positives among the labeled rows of each draw, if rows were audited.
    """

    threshold: Array
    expected: Shares
    resampled: Shares
    positives: Array | None
    noise: Array
    totals: Array | None = None
    purity: Array | None = None


def draw_counts(
    counts: Counts,
    corners: Steps,
    mixture: Mixture,
    *,
    threshold: float | Array,
    threshold_chosen: bool,
    options: IntervalOptions,
    prevalence_varies: bool,
) -> BootstrapDraws:
    """Resample counts between thresholds, which include the given one.

    If the threshold was chosen on the same rows, they also include thresholds near it, so that
    resamples can choose again.

    If ``prevalence_varies``, each draw has a prevalence of its own, because the number of labeled
    rows varies from sample to sample.
    """
    keep_memory()  # draws, and what is computed from them, are large arrays
    thresholds = cell_thresholds(counts, corners, threshold, threshold_chosen=threshold_chosen)
    rng = np.random.default_rng(options.seed)
    if options.variance == "labeling":
        return _draw_labels(counts, thresholds, mixture, options, rng)
    draws = _draw_rows(counts, thresholds, mixture, options, rng)
    if not prevalence_varies:
        return draws
    if draws.totals is not None:
        shift = _prevalence_shift(counts, mixture, draws.totals)
    else:
        shift = np.random.default_rng([options.seed, 1]).normal(size=(options.n_resamples, 1))
    return replace(draws, resampled=draws.resampled._replace(prevalence_shift=shift))


def _prevalence_shift(counts: Counts, mixture: Mixture, totals: Array) -> Array:
    """Return the deviation of the prevalence of each draw, in errors of independent rows."""
    share = totals / totals.sum(axis=1, keepdims=True)
    prevalence = mixture.purity * share[:, :1] + mixture.prior * share[:, 1:2]
    error = max(mixture.prevalence_standard_error(counts), np.finfo(float).tiny)
    shift: Array = (prevalence - mixture.prevalence(counts)) / error
    return shift


def cell_thresholds(
    counts: Counts, corners: Steps, threshold: float | Array, *, threshold_chosen: bool
) -> Array:
    """Return the thresholds that bound the cells, in descending order; see `draw_counts`."""
    required = _nearby_thresholds(counts, threshold) if threshold_chosen else threshold
    return _cell_thresholds(counts, corners, required)


def _cell_thresholds(counts: Counts, corners: Steps, required: float | Array) -> Array:
    """Return the bounds of the cells: all corners, or about `CELLS` quantiles; and the required."""
    if 2 * corners.threshold.size <= CELLS:
        above_labeled = np.flatnonzero(np.diff(corners.labeled)) + 1
        bounds = counts._split_ties(corners, above_labeled).threshold
    else:
        bounds = np.concatenate([counts._thinned(CELLS).score, corners.threshold[[-1]]])
    thresholds = np.concatenate([bounds.astype(np.float64), np.atleast_1d(required), [np.inf]])
    return np.unique(thresholds)[::-1]


def _nearby_thresholds(counts: Counts, threshold: float | Array) -> Array:
    """Return the threshold and scores near it, from which resamples can choose."""
    scores = [np.atleast_1d(threshold)]
    for kind in counts._samples:
        if kind.chunks:
            above = float(kind.cumulative_counts(scores[0])[1][0]) / kind.row_weight
            step = max(math.sqrt(above), 4.0)
            scores.append(kind.scores_at_ranks(above + step * NEARBY_STEPS))
    return np.unique(np.concatenate(scores))


def _draw_rows(
    counts: Counts,
    thresholds: Array,
    mixture: Mixture,
    options: IntervalOptions,
    rng: np.random.Generator,
) -> BootstrapDraws:
    """Resample the rows of each kind separately.

    With known propensities the number of labeled rows varies, too, because it determines the number
    of positives.
    """
    steps = counts.at(thresholds)
    # Each kind gets a pseudo-observation that is spread like all rows. Without it, cells without
    # rows of a kind would stay empty in every resample.
    all_rows = steps.labeled + steps.unlabeled + steps.negative
    pseudo_observation = _row_shares(
        np.diff(all_rows, prepend=0), counts.n, counts._row_weight("population")
    )
    sizes = [max(round(kind.effective_size), 1) if kind.total else 0 for kind in counts._samples]
    # In a case-control design these numbers are fixed; only an audit allows it here.
    sizes_vary = counts.has_propensity and (
        counts._audit is None or counts._audit.target == "population"
    )
    clusters = None
    cells: Sequence[Array]
    rows: Sequence[Array]
    if counts._clusters is None:
        cells, rows = _draw_independent_rows(
            counts, steps, pseudo_observation, sizes, options, rng, sizes_vary=sizes_vary
        )
    else:
        table = ClusterTable.of(counts, thresholds)
        clusters = draw_clusters(table, pseudo_observation, options.n_resamples, rng)
        cells, shares = clusters.cells, clusters.shares
        if not sizes_vary:
            shares = [*map(normalized, clusters.shares, clusters.cells)]
        rows = [size * share for size, share in zip(sizes, shares, strict=True)]
    expected = Shares(*(np.cumsum(share) for share in cells))

    def cumulative_shares(kind: int) -> Array:
        weighted = counts._samples[kind].has_importance_weights
        return _cumulative_shares(rows[kind], sizes[kind], weighted=weighted)

    resampled = Shares(*map_in_threads(cumulative_shares, range(len(sizes))))
    positives = None
    if sizes_vary:
        # With importance weights, the total weight varies from draw to draw.
        totals = np.array([kind.total for kind in counts._samples]) / counts.n
        by_kind = np.broadcast_arrays(resampled.labeled, resampled.unlabeled, resampled.negative)
        weight = np.stack([share[:, -1] for share in by_kind], axis=1) @ totals
        resampled = Shares(*(share / weight[:, None] for share in by_kind))
    if counts.has_propensity and counts._audit is None:
        expected_positives, number = _draw_positives(
            counts,
            steps,
            mixture,
            expected.labeled,
            rows[0] / sizes[0],
            pseudo_observation,
            rng,
            None if clusters is None else clusters.represented,
        )
        positives = number[:, -1] / weight
        with np.errstate(invalid="ignore"):  # draws without labeled rows
            positive = number / number[:, -1:]
        resampled = resampled._replace(positive=positive)
        expected = expected._replace(positive=expected_positives)
    noise = rng.normal(size=options.n_resamples)
    drawn_totals = None if clusters is None else clusters.totals
    return BootstrapDraws(thresholds, expected, resampled, positives, noise, drawn_totals)


def _draw_independent_rows(
    counts: Counts,
    steps: Steps,
    pseudo_observation: Array,
    sizes: list[int],
    options: IntervalOptions,
    rng: np.random.Generator,
    *,
    sizes_vary: bool,
) -> tuple[Sequence[Array], Sequence[Array]]:
    """Return the expected share of each cell, and the number of rows drawn in it, by kind."""
    thresholds, cumulative = steps.threshold, (steps.labeled, steps.unlabeled, steps.negative)
    resample_sizes = [np.full(options.n_resamples, size) for size in sizes]
    if sizes_vary:
        resample_sizes = _vary_sizes(sizes, options, rng)
    generators = rng.spawn(len(sizes))
    at_a_time = VARYING_BLOCK if sizes_vary else BLOCK
    blocks = [_blocks(drawn_sizes, at_a_time) for drawn_sizes in resample_sizes]

    def resample(kind: int) -> tuple[Array, Array]:
        """Resample the rows of a kind.

        In a cell, rows with importance weights w have the total weight Σw with variance Σw²: like
        a Poisson number of rows of weight Σw²/Σw. Equal weights are ignored.
        """
        sample, rng = counts._samples[kind], generators[kind]
        if not sizes[kind]:
            return np.zeros(thresholds.size), np.zeros((1, thresholds.size))
        row_weight = _row_weights(sample, thresholds)
        if np.ptp(row_weight) > EQUAL_WEIGHTS * row_weight.max():
            rows = sample.counts_between(thresholds) / row_weight + pseudo_observation
            row_weight /= np.sum(rows * row_weight)
            cells = rows * row_weight
            drawn = row_weight * _draw_in_blocks(
                lambda block: rng.poisson(rows, size=(block.size, rows.size)), blocks[kind], advance
            )
            if not sizes_vary:
                drawn /= np.maximum(drawn.sum(axis=1, keepdims=True), cells[cells > 0].min())
            return cells, sizes[kind] * drawn
        share = _row_shares(np.diff(cumulative[kind], prepend=0), sample.total, sample.row_weight)
        cells = sizes[kind] * share + pseudo_observation
        cells /= cells.sum()
        draw = partial(draw_multinomial, rng, cells)
        return cells, _draw_in_blocks(draw, blocks[kind], advance)

    n_blocks = len(blocks[0]) * sum(map(bool, sizes))
    with progress_bar("resamples", n_blocks) as advance:
        cells, rows = zip(*map_in_threads(resample, range(len(sizes))), strict=True)
    return cells, rows


def _row_shares(weight: Array, total: float, row_weight: float) -> Array:
    """Return the share of the rows in each cell; of equal weights, exactly those without weights.

    Draws could depend on rounding: a binomial number jumps where its probability reaches 1/2.
    """
    share: Array = weight / total
    if abs(row_weight - 1) <= EQUAL_WEIGHTS:
        return share
    n_rows = rows_of_weight(total, row_weight)
    return np.round(share * n_rows, RANK_DECIMALS) / n_rows


def _cumulative_shares(drawn: Array, size: float, *, weighted: bool) -> Array:
    """Return the share of the rows at or above each threshold.

    Sums of weights are rounded; one that misses all rows by rounding has all of them. Else, logs
    of the share of the other rows would be those of rounding errors.
    """
    share = np.cumsum(drawn, axis=1, dtype=np.float64)
    share /= max(size, 1)
    if weighted:
        share[np.abs(share - 1) < ROUNDING] = 1.0
    return share


def _vary_sizes(
    sizes: list[int], options: IntervalOptions, rng: np.random.Generator
) -> list[Array]:
    """Return varying numbers of rows by kind, at least one labeled and one background row."""
    n = sum(sizes)
    labeled = rng.binomial(n, sizes[0] / n, size=options.n_resamples).clip(1, n - 1)
    background = n - labeled
    negative = rng.binomial(background, sizes[2] / (n - sizes[0]))
    return [labeled, background - negative, negative]


def _row_weights(sample: Sample, thresholds: Array) -> Array:
    """Return Σw²/Σw of the rows of each cell; that of all rows for an empty cell."""
    row_weight = np.full(thresholds.size, sample.with_squared_weights.total / sample.total)
    if sample.has_importance_weights:
        weight, square = (
            weighted.counts_between(thresholds)
            for weighted in (sample, sample.with_squared_weights)
        )
        np.divide(square, weight, out=row_weight, where=square > 0)
    return row_weight


def _blocks(sizes: Array, at_a_time: int) -> list[Array]:
    return np.split(sizes, range(at_a_time, sizes.size, at_a_time))


def _draw_in_blocks(
    draw: Callable[[Array], Array], blocks: list[Array], advance: Callable[[], None]
) -> Array:
    """Draw resamples of some sizes block by block, for the progress bar."""
    drawn = []
    for block in blocks:
        drawn.append(draw(block))
        advance()
    return np.concatenate(drawn)


def _draw_positives(
    counts: Counts,
    steps: Steps,
    mixture: Mixture,
    expected: Array,
    drawn: Array,
    pseudo_observation: Array,
    rng: np.random.Generator,
    drawn_positives: Array | None = None,
) -> tuple[Array, Array]:
    """Return expected shares of the positives at or above thresholds, and their drawn numbers.

    ``expected`` has the expected shares of labeled rows at or above thresholds, ``drawn`` the drawn
    shares in the cells. A row represents as many positives as the rows of its cell on average, with
    noise: the variation within cells is known for all cells together, from the sum of squares. In a
    cell without labeled rows it is the overall mean.

    Positives that are hardly ever labeled can be missing among the labeled rows. So draws have
    `UNSEEN_ROWS` more rows on average, spread like the ``pseudo_observation``. Each of them
    represents as many positives as one more labeled row could.

    ``drawn_positives`` are the represented positives of drawn clusters in the cells.
    """
    represented, labeled = counts._inverse_propensity_sample(), counts._samples[0]
    assert steps.represented_positives is not None  # noqa: S101 - for the type checker
    rows, positives = (
        np.diff(cumulative, prepend=0)
        for cumulative in (steps.labeled, steps.represented_positives)
    )
    nonempty = rows > 0
    mean = np.full(rows.size, represented.total / labeled.total)
    mean[nonempty] = positives[nonempty] / rows[nonempty]
    # Sum over rows of 1/propensity², relative to the sum if propensities were equal within cells.
    squares = (
        represented.with_squared_weights.total * labeled.total / labeled.with_squared_weights.total
    )
    equal_squares = np.sum(positives[nonempty] * mean[nonempty])
    variation = max(squares / equal_squares - 1, 0.0) / labeled.effective_size
    n_positive = mixture.prevalence(counts) * counts.n
    unseen = counts._most_represented(n_positive) / n_positive * represented.total / labeled.total
    unseen_rows = UNSEEN_ROWS * pseudo_observation
    cumulative = np.cumsum(mean * np.diff(expected, prepend=0) + unseen * unseen_rows)
    number = mean * drawn
    if drawn_positives is not None:
        number = drawn_positives / labeled.total
    elif variation > EQUAL_WEIGHTS:
        # A gamma variable has this mean and variance, and is positive.
        number = mean * variation * rng.standard_gamma(drawn / variation)
    number += unseen * rng.poisson(unseen_rows, size=drawn.shape)
    total = cumulative[-1]
    return cumulative / total, np.cumsum(number, axis=1) * represented.total / total


def _isotonic_cells(rate: Array, weight: Array) -> Array:
    """Return the share of each cell, of a cumulative rate that may fall by chance.

    Isotonic regression keeps the average rate. Clipping the falls would shift everything above.
    """
    rising = scipy.optimize.isotonic_regression(rate, weights=np.maximum(weight, 1e-12)).x
    cells: Array = np.diff(np.clip(rising, 0, 1), prepend=0)
    cells /= cells.sum()
    return cells


def _draw_labels(
    counts: Counts,
    thresholds: Array,
    mixture: Mixture,
    options: IntervalOptions,
    rng: np.random.Generator,
) -> BootstrapDraws:
    """Draw other labels for the same rows; wrong labels go to other negatives.

    Labels are drawn without replacement. The covariance of their counts is that of a draw with
    replacement times (positives − labels) / (positives − 1).
    """
    steps = counts.at(thresholds)
    rows = steps.labeled + steps.unlabeled
    n_correct = mixture.purity * counts.n_labeled
    n_positive = n_correct + mixture.prior * counts.n_unlabeled
    labels_and_candidates = (
        (n_correct, n_positive),
        (counts.n_labeled - n_correct, counts.n_labeled + counts.n_unlabeled - n_positive),
    )
    rates = correct_pair(
        steps.labeled / counts.n_labeled,
        steps.unlabeled / max(counts.n_unlabeled, 1),
        mixture,
        mixture.prior,
    )
    pseudo_observation = np.diff(rows, prepend=0) / rows[-1]
    labeled = np.zeros((options.n_resamples, thresholds.size))
    if not counts.n_unlabeled:
        labeled += steps.labeled  # no other row can be labeled
    n_blocks = -(-options.n_resamples // BLOCK)
    with progress_bar("resamples", n_blocks * len(labels_and_candidates)) as advance:
        for (n_labels, n_candidates), rate in zip(labels_and_candidates, rates, strict=True):
            if n_labels <= 0 or not counts.n_unlabeled:
                continue
            size = max(round(n_labels), 1)
            cells = size * _isotonic_cells(rate, pseudo_observation) + pseudo_observation
            cells /= size + 1
            correction = max((n_candidates - n_labels) / max(n_candidates - 1, 1), 0)
            sizes = np.full(options.n_resamples, size)
            draw = partial(draw_multinomial, rng, cells)
            drawn = _draw_in_blocks(draw, _blocks(sizes, BLOCK), advance) / size
            drawn = cells + np.sqrt(correction) * (drawn - cells)
            labeled += n_labels * np.cumsum(drawn, axis=1)

    def shares(labeled: Array) -> Shares:
        return Shares(
            labeled / counts.n_labeled,
            (rows - labeled) / max(counts.n_unlabeled, 1),
            steps.negative / max(counts.n_negative, 1),
        )

    noise = rng.normal(size=options.n_resamples)
    return BootstrapDraws(thresholds, shares(labeled.mean(axis=0)), shares(labeled), None, noise)
