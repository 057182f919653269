"""What is drawn again: the counts of rows between thresholds.

Two questions can be asked. How far would another sample of rows differ ("sampling")? How far
would the same rows differ, had chance labeled other positives ("labeling")?
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import scipy  # loads its submodules when they are first used

from pueval._progress import progress_bar
from pueval._typing import Array
from pueval.core.mixture import Mixture
from pueval.core.rates import Shares, correct_pair
from pueval.counts.counts import Counts
from pueval.errors import InputError
from pueval.samples.sample import Sample
from pueval.samples.steps import Steps
from pueval.samples.threads import map_in_threads
from pueval.uncertainty.intervals import IntervalOptions

# Thresholds between which rows are drawn again. With fewer labeled scores than half of them
# nothing is lost; else every rate between two thresholds is within 1/128 of one of them.
CELLS = 256
# Weights that differ by less than this share are the same but for rounding.
EVEN = 1e-9
# How many resamples are drawn between two looks at the clock.
BLOCK = 1000


@dataclass(frozen=True, eq=False)
class BootstrapDraws:
    """Shares of rows at or above the thresholds between cells, as drawn again many times.

    Attributes
    ----------
    threshold : ndarray of shape (m,)
        Descending.
    expected : Shares
        Arrays of shape (m,): what the draws lie around.
    resampled : Shares
        Arrays of shape (n_resamples, m).
    positives : ndarray of shape (n_resamples,) or None
        Number of positives that the labeled rows of a draw stand for, where propensities tell.
    noise : ndarray of shape (n_resamples,)
        Standard normal numbers that nothing else depends on.
    """

    threshold: Array
    expected: Shares
    resampled: Shares
    positives: Array | None
    noise: Array


def cell_thresholds(counts: Counts, corners: Steps, wanted: float | Array) -> Array:
    """Thresholds that bound the cells: all corners, or about `CELLS` quantiles; and the wanted."""
    if 2 * corners.threshold.size <= CELLS:
        where = np.flatnonzero(np.diff(corners.labeled)) + 1
        base = counts._split_ties(corners, where).threshold
    else:
        base = np.concatenate([counts._thinned(CELLS).score, corners.threshold[[-1]]])
    every = np.concatenate([base.astype(np.float64), np.atleast_1d(wanted), [np.inf]])
    return np.unique(every)[::-1]


def draw_counts(
    counts: Counts,
    corners: Steps,
    mixture: Mixture,
    *,
    threshold: float | Array,
    options: IntervalOptions,
    prevalence_varies: bool,
) -> BootstrapDraws:
    """Draw counts between thresholds again, as ``options`` says; the given ones are among them.

    If ``prevalence_varies``, every draw has its own prevalence: other rows would be labeled.
    """
    thresholds = cell_thresholds(counts, corners, threshold)
    rng = np.random.default_rng(options.seed)
    if options.variance == "labeling":
        return _draw_labels(counts, thresholds, mixture, options, rng)
    cells = _draw_rows(counts, thresholds, options, rng)
    if not prevalence_varies:
        return cells
    chance = np.random.default_rng([options.seed, 1]).normal(size=(options.n_resamples, 1))
    return replace(cells, resampled=cells.resampled._replace(prevalence_shift=chance))


def _draw_rows(
    counts: Counts, thresholds: Array, options: IntervalOptions, rng: np.random.Generator
) -> BootstrapDraws:
    """Draw rows of every kind again, each kind apart.

    Where propensities are known the number of labeled rows varies, too, since it tells the
    number of positives.
    """
    steps = counts.at(thresholds)
    columns = (steps.labeled, steps.unlabeled, steps.negative)
    # One row more, spread like all rows: or no other row than those seen could ever be drawn.
    pooled = np.diff(sum(columns), prepend=0) / counts.n
    sizes = [max(round(kind.effective_size), 1) if kind.total else 0 for kind in counts._samples]
    times = [np.full(options.n_resamples, size) for size in sizes]
    if counts.has_propensity:
        every = sum(sizes)
        # Data without any labeled or any other row are refused; so none are drawn.
        labeled = rng.binomial(every, sizes[0] / every, size=options.n_resamples).clip(1, every - 1)
        others = every - labeled
        negative = rng.binomial(others, sizes[2] / (every - sizes[0]))
        times = [labeled, others - negative, negative]
    generators = rng.spawn(len(sizes))

    def redraw(kind: int) -> tuple[Array, Array]:
        """Return the share of each cell, and how many rows are drawn in it.

        Rows of a cell with float weights w weigh Σw with variance Σw²: like a Poisson number of
        rows that each weigh Σw²/Σw. Where all weigh the same, it is as if they had no weights.
        """
        sample = counts._samples[kind]
        if not sizes[kind]:
            return np.zeros(thresholds.size), np.zeros((1, thresholds.size))
        each = _row_weights(sample, thresholds)
        if np.ptp(each) > EVEN * each.max():
            rows = sample.counts_between(thresholds) / each + pooled
            each /= np.sum(rows * each)
            cells = rows * each
            drawn = _poisson(rows, options, generators[kind], advance) * each
            if not counts.has_propensity:
                drawn /= np.maximum(drawn.sum(axis=1, keepdims=True), cells[cells > 0].min())
            return cells, sizes[kind] * drawn
        share = np.diff(columns[kind], prepend=0) / sample.total
        cells = sizes[kind] * share + pooled
        cells /= cells.sum()
        return cells, _multinomial(times[kind], cells, generators[kind], advance)

    with progress_bar("resamples", _blocks(options) * sum(map(bool, sizes))) as advance:
        cells, found = zip(*map_in_threads(redraw, range(len(sizes))), strict=True)
    expected = [np.cumsum(each) for each in cells]
    drawn = [
        np.cumsum(each, axis=1) / max(size, 1) for each, size in zip(found, sizes, strict=True)
    ]
    around, center = Shares(*drawn), Shares(*expected)
    positives = None
    if counts.has_propensity:
        middle, sums = _stand_for(counts, steps, expected[0], found[0] / sizes[0], rng)
        # With weights, a draw need not weigh what the data do.
        totals = np.array([kind.total for kind in counts._samples]) / counts.n
        weigh = np.stack([share[:, -1] for share in np.broadcast_arrays(*drawn)], axis=1) @ totals
        positives = sums[:, -1] / weigh
        rows = Shares(*(share / weigh[:, None] for share in drawn))
        around = rows._replace(positive=sums / sums[:, -1:])
        center = center._replace(positive=middle)
    return BootstrapDraws(
        thresholds, center, around, positives, rng.normal(size=options.n_resamples)
    )


def _row_weights(sample: Sample, thresholds: Array) -> Array:
    """Return what a row of each cell weighs, Σw²/Σw; where there are none, what all do."""
    each = np.full(thresholds.size, sample.with_squared_weights.total / sample.total)
    if sample.has_importance_weights:
        weight, square = (
            one.counts_between(thresholds) for one in (sample, sample.with_squared_weights)
        )
        np.divide(square, weight, out=each, where=square > 0)
    return each


def _blocks(options: IntervalOptions) -> int:
    return -(-options.n_resamples // BLOCK)


def _multinomial(
    sizes: Array, cells: Array, rng: np.random.Generator, advance: Callable[[], None]
) -> Array:
    """Draw in blocks, so that progress can be seen; they do not change the draws."""
    drawn = []
    for block in np.split(sizes, range(BLOCK, sizes.size, BLOCK)):
        drawn.append(rng.multinomial(block, cells))
        advance()
    return np.concatenate(drawn)


def _poisson(
    rows: Array, options: IntervalOptions, rng: np.random.Generator, advance: Callable[[], None]
) -> Array:
    """Draw numbers of rows that vary in all cells apart."""
    drawn = []
    for start in range(0, options.n_resamples, BLOCK):
        lines = min(BLOCK, options.n_resamples - start)
        drawn.append(rng.poisson(rows, size=(lines, rows.size)))
        advance()
    return np.concatenate(drawn)


def _stand_for(
    counts: Counts, steps: Steps, expected: Array, drawn: Array, rng: np.random.Generator
) -> tuple[Array, Array]:
    """Share of the positives at or above thresholds as expected, and their number as drawn.

    ``expected`` is the share of labeled rows at or above thresholds, ``drawn`` has the shares in
    the cells. A row stands for as many positives as those of its cell do on average, with noise:
    how far rows differ within cells is known for all cells together, from the sum of squares. In
    a cell without labeled rows it is the mean of all.
    """
    represented, labeled = counts._inverse_propensity_sample(), counts._samples[0]
    assert steps.represented_positives is not None  # noqa: S101 - for the type checker
    rows, positives = (
        np.diff(each, prepend=0) for each in (steps.labeled, steps.represented_positives)
    )
    seen = rows > 0
    mean = np.full(rows.size, represented.total / labeled.total)
    mean[seen] = positives[seen] / rows[seen]
    # Sums over rows of 1/propensity², as they are and as if equal within cells.
    squares = (
        represented.with_squared_weights.total * labeled.total / labeled.with_squared_weights.total
    )
    variation = math.sqrt(max(squares / np.sum(positives[seen] * mean[seen]) - 1, 0.0))
    middle = np.cumsum(mean * np.diff(expected, prepend=0))
    noise = variation * np.sqrt(drawn / labeled.effective_size) * rng.normal(size=drawn.shape)
    number = np.maximum(mean * (drawn + noise), mean[seen].min() * drawn)
    return middle / middle[-1], np.cumsum(number, axis=1) * represented.total / middle[-1]


def _rising_cells(rate: Array, weight: Array) -> Array:
    """Return the share of each cell, of a rate that by chance may fall in places.

    Dropping its falls would move all that is above them; the nearest rate that never falls is
    the same on average.
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
    """Label other positives of the same rows; wrong labels go to other negatives.

    Labels are drawn without replacement. Their counts then have the covariance of a draw
    with replacement times (positives − labels) / (positives − 1), and are drawn so.
    """
    if not counts._has_integer_counts:
        raise InputError(
            'variance="labeling" is about single rows that are labeled or not; rows with float '
            "weights cannot be drawn so. Leave out the weights, or use variance='sampling'."
        )
    if counts.has_propensity:
        raise InputError(
            'variance="labeling" takes labels as drawn with equal chances; with propensities use '
            "variance='sampling'."
        )
    steps = counts.at(thresholds)
    rows = steps.labeled + steps.unlabeled
    right = mixture.purity * counts.n_labeled
    positives = right + mixture.prior * counts.n_unlabeled
    kinds = (
        (right, positives),
        (counts.n_labeled - right, counts.n_labeled + counts.n_unlabeled - positives),
    )
    known = correct_pair(
        steps.labeled / counts.n_labeled,
        steps.unlabeled / max(counts.n_unlabeled, 1),
        mixture,
        mixture.prior,
    )
    pooled = np.diff(rows, prepend=0) / rows[-1]
    labeled = np.zeros((options.n_resamples, thresholds.size))
    if not counts.n_unlabeled:
        labeled += steps.labeled  # no other row could have been labeled
    with progress_bar("resamples", _blocks(options) * len(kinds)) as advance:
        for (number, among), rate in zip(kinds, known, strict=True):
            if number <= 0 or not counts.n_unlabeled:
                continue
            size = max(round(number), 1)
            # One row more, spread like all rows, as in `_draw_rows`.
            cells = (size * _rising_cells(rate, pooled) + pooled) / (size + 1)
            left = max((among - number) / max(among - 1, 1), 0)
            again = _multinomial(np.full(options.n_resamples, size), cells, rng, advance) / size
            labeled += number * np.cumsum(cells + np.sqrt(left) * (again - cells), axis=1)
    expected = labeled.mean(axis=0)

    def shares(column: Array) -> Shares:
        total = max(counts.n_unlabeled, 1)
        negative = steps.negative / max(counts.n_negative, 1)
        return Shares(column / counts.n_labeled, (rows - column) / total, negative)

    noise = rng.normal(size=options.n_resamples)
    return BootstrapDraws(thresholds, shares(expected), shares(labeled), None, noise)
