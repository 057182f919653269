"""Confidence intervals of formulas of means, from resampled counts."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np

from pueval._typing import Array
from pueval.core.mixture import Mixture, Mixtures
from pueval.core.rates import Shares
from pueval.families.score_means import Means, ScoreFunctions, ScoreMeans, correct_means
from pueval.uncertainty.intervals import Interval, IntervalOptions
from pueval.uncertainty.measure_intervals import Resamples

# Added to the seed, for numbers that are independent of all other draws.
NOISE_SEED = 2


def within_cell_noise(options: IntervalOptions, n_functions: int) -> list[Array] | None:
    """Return normal numbers by kind of rows, resample and function; None if only labels vary."""
    if options.variance == "labeling":
        return None
    rng = np.random.default_rng([options.seed, NOISE_SEED])
    return [rng.normal(size=(options.n_resamples, n_functions)) for _ in range(3)]


class MeanResamples:
    """Resampled means of functions of the score, and intervals of formulas of them.

    In each resample, the rows of a cell have the mean of the cell, and the means of all rows get
    normal noise for the variation within cells. If only labels vary, a label can move to any row of
    a cell, and the mean of a cell is that of all its rows.

    Parameters
    ----------
    resamples : Resamples
        Resampled counts.
    functions : callable
        From scores to an array with one line per function.
    """

    def __init__(self, resamples: Resamples, functions: ScoreFunctions) -> None:
        self._resamples = resamples
        draws, options = resamples.draws, resamples.options
        self.means = ScoreMeans(resamples.counts, functions, draws.threshold)
        noise = within_cell_noise(options, self.means.shares.labeled.size)
        pooled = options.variance == "labeling"
        self._expected = self.means.of_cells(draws.expected, pooled=pooled)
        self._resampled = self.means.of_cells(draws.resampled, noise=noise, pooled=pooled)

    def interval(
        self, formula: Callable[[Means], Array], low: float = 0.0, high: float = 1.0
    ) -> Interval:
        """Return the interval of a formula of the means, within the range of the formula."""
        resamples = self._resamples

        def values(means: Shares, mixture: Mixture | Mixtures) -> Array:
            corrected = correct_means(resamples.counts, means, mixture, resamples.target)
            return np.ravel(formula(corrected))

        def value(mixture: Mixture) -> float:
            return float(values(self.means.shares, mixture)[0])

        @cache
        def resampled(mixture: Mixture | Mixtures) -> Array:
            return values(self._resampled, mixture)

        scenarios = resamples.prior.scenarios(lambda mixture: values(self._expected, mixture))
        return resamples.interval(value, resampled, scenarios, low, high)
