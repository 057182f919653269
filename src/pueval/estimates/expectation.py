"""Estimates of means of functions of the score, and of formulas of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pueval._typing import Array, Range, Target
from pueval.core.mixture import NAIVE, Mixture
from pueval.counts.counts import Counts
from pueval.errors import InputError
from pueval.estimates.estimate import Estimate
from pueval.families.score_means import Means, ScoreFunctions, ScoreMeans, correct_means
from pueval.text.results import Result
from pueval.uncertainty.intervals import Interval
from pueval.uncertainty.mean_intervals import MeanResamples
from pueval.uncertainty.measure_intervals import Resamples

Formula = Callable[[Means], Array]
ANY_NUMBER = (-math.inf, math.inf)


@dataclass(frozen=True, repr=False)
class Expectation(Result):
    """Means of a function of the score; made by `expectation` and `Evaluation.expectation`.

    Attributes
    ----------
    positives, negatives : Estimate
        Means over the positives and over the negatives. The naive values are the means over
        labeled rows and over all others.
    everybody : Estimate
        Mean over the target. Without the target "unlabeled" it needs no correction.
    """

    positives: Estimate
    negatives: Estimate
    everybody: Estimate

    def _headline(self) -> str:
        return (
            f"Expectation: positives {self.positives}, negatives {self.negatives}, "
            f"everybody {self.everybody}"
        )


def estimate_mean(
    counts: Counts,
    mixture: Mixture,
    target: Target,
    resamples: Resamples | None,
    functions: ScoreFunctions,
    formulas: Sequence[tuple[Formula, Range]],
) -> list[Estimate]:
    """Estimate formulas of the means of some functions; each formula comes with its range."""
    resampled = None if resamples is None else MeanResamples(resamples, functions)
    means = ScoreMeans(counts, functions) if resampled is None else resampled.means
    naive = correct_means(counts, means.shares._replace(positive=None), NAIVE, "population")
    corrected = means.corrected(mixture, target)
    estimates = []
    for formula, ends in formulas:
        value, naive_value = (float(formula(each)) for each in (corrected, naive))
        interval = Interval()
        if resampled is not None and math.isfinite(value):
            interval = resampled.interval(formula, *ends)
        estimates.append(Estimate.of(value, naive_value, interval, ends))
    return estimates


def expect(
    counts: Counts,
    mixture: Mixture,
    target: Target,
    resamples: Resamples | None,
    function: Callable[[Array], Any],
) -> Expectation:
    """Return the means of a user's function of the score."""
    if not callable(function):
        raise InputError(f"function must be callable; got {function!r}.")

    def functions(score: Array) -> Array:
        values = np.asarray(function(score))
        if values.shape != score.shape or values.dtype.kind not in "biuf":
            raise InputError(
                f"the function must return one number per score; got shape {values.shape} and "
                f"dtype {values.dtype} for {score.size:,} scores."
            )
        values = values.astype(np.float64)
        if not np.isfinite(values).all():
            where = float(score[~np.isfinite(values)][0])
            raise InputError(
                f"the function must return finite numbers; got {values[score == where][0]} at the "
                f"score {where:g}."
            )
        return values[None, :]

    formulas: list[Formula] = [
        lambda means: means.positive[..., 0],
        lambda means: means.negative[..., 0],
        lambda means: means.everybody[..., 0],
    ]
    ranged = [(formula, ANY_NUMBER) for formula in formulas]
    return Expectation(*estimate_mean(counts, mixture, target, resamples, functions, ranged))
