"""Calibration of predicted probabilities: reliability curve, errors, slope, intercept and test."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from pueval._checks import check_count
from pueval._typing import Array
from pueval.core.mixture import NAIVE, Mixture
from pueval.errors import InputError
from pueval.estimates.estimate import Estimate
from pueval.families.calibration_line import calibration_line
from pueval.families.calibration_measures import binned_calibration_error, error_bins
from pueval.families.mean_measures import check_probabilities
from pueval.text.numbers import equation_of_pvalue, format_count, format_estimate, format_number
from pueval.text.results import Result
from pueval.text.tables import text_table
from pueval.uncertainty.calibration_intervals import CalibrationResamples
from pueval.uncertainty.calibration_pvalue import CalibrationTest
from pueval.uncertainty.intervals import Interval

if TYPE_CHECKING:
    import pandas as pd

    from pueval.evaluation.model_estimates import ModelEstimates

ANY_NUMBER = (-math.inf, math.inf)
EDGES = np.linspace(0, 1, 51)
# Curves of more bins mostly show noise, and their intervals take long.
MOST_BINS = 200


@dataclass(frozen=True, eq=False, repr=False)
class Calibration(Result):
    """Calibration of predicted probabilities; made by `Evaluation.calibration`.

    Attributes
    ----------
    score : ndarray
        Mean score of each bin, ascending.
    observed, low, high : ndarray
        Share of positives in each bin, clipped to [0, 1], with confidence intervals (NaN without).
    naive : ndarray
        Share of labeled rows in each bin.
    rows : ndarray
        Number (or weight) of rows of the target in each bin.
    error : Estimate
        Expected calibration error: mean distance of share and score over the rows, corrected for
        the noise of the shares.
    slope, intercept : Estimate
        Logistic regression of the class on the log-odds of the score; 1 and 0 if calibrated. A
        slope below 1 means scores that are too extreme. Ends of their intervals can be infinite
        with few labeled rows.
    in_the_large : Estimate
        Mean score minus prevalence.
    pvalue : float
        Test of slope 1 and intercept 0; NaN without intervals.
    edges, histogram : ndarray
        Edges of 50 equally wide bins of the score, and the number (or weight) of rows of the
        target in each.
    level : float or None
        Confidence level.
    """

    score: Array
    observed: Array
    low: Array
    high: Array
    naive: Array
    rows: Array
    error: Estimate
    slope: Estimate
    intercept: Estimate
    in_the_large: Estimate
    pvalue: float
    edges: Array
    histogram: Array
    level: float | None

    def frame(self) -> pd.DataFrame:
        """Return the bins as a data frame.

        Returns
        -------
        pandas.DataFrame
        """
        import pandas as pd

        names = ("score", "observed", "low", "high", "naive", "rows")
        return pd.DataFrame({name: getattr(self, name) for name in names})

    def _headline(self) -> str:
        lines = [
            f"Calibration: slope {self.slope}, intercept {self.intercept}",
            f"Expected calibration error {self.error}",
            f"Mean score − prevalence {self.in_the_large}",
        ]
        if not math.isnan(self.pvalue):
            lines.append(f"Test of slope 1 and intercept 0: {equation_of_pvalue(self.pvalue)}")
        return "\n".join(lines)

    def _table(self) -> str:
        columns = (self.score, self.observed, self.low, self.high, self.naive, self.rows)
        rows = [
            [
                format_number(score),
                format_estimate(observed, low, high),
                format_number(naive),
                format_count(round(float(n))),
            ]
            for score, observed, low, high, naive, n in zip(*columns, strict=True)
        ]
        return text_table(["Mean score", "Positives", "Labeled", "Rows"], rows)


def calibration_estimates(calibration: Calibration) -> dict[str, Estimate]:
    """Return the estimates by the names of their measures."""
    return {
        "expected_calibration_error": calibration.error,
        "calibration_slope": calibration.slope,
        "calibration_intercept": calibration.intercept,
    }


def _histogram(ev: ModelEstimates) -> Array:
    """Return the number of rows of the target between `EDGES`."""
    ends = np.append(EDGES[:-1], np.inf)
    total = np.zeros(ends.size)
    for kind in ev.counts._target_samples(ev.target):
        total += kind.cumulative_counts(ends)[1]
    return -np.diff(total)


def calibrate(ev: ModelEstimates, n_bins: int) -> Calibration:
    """Evaluate the calibration in 2 to `MOST_BINS` bins with about equally many rows."""
    check_count("bins", n_bins, least=2)
    if n_bins > MOST_BINS:
        raise InputError(
            f"bins must be at most {MOST_BINS}; got {n_bins}. A curve with more bins mostly shows "
            "noise; the default is 10."
        )
    counts, target = ev.counts, ev.target
    check_probabilities(counts, "calibration")
    bins = error_bins(counts, ev.mixture, target, n_bins)
    shares, rows, score = bins.observed, bins.rows, bins.score
    keep = rows > 0
    line, naive_line = (
        calibration_line(counts, mixture, which)
        for mixture, which in ((ev.mixture, target), (NAIVE, "population"))
    )
    intervals = [Interval()] * shares.size
    lines, error_interval = (Interval(), Interval()), Interval()
    pvalue = math.nan

    @cache
    def error_for(mixture: Mixture) -> float:
        return binned_calibration_error(counts, mixture, target, n_bins)

    error = error_for(ev.mixture)
    resamples = ev._resample(bins.threshold[:-1])
    if resamples is not None:
        resampled = CalibrationResamples(resamples, bins.threshold, line)
        intervals = [resampled.bin_interval(number) for number in range(shares.size)]
        error_interval = resampled.calibration_error_interval(score, error_for)
        pvalue = CalibrationTest(resamples).pvalue()
        if math.isfinite(line[0]):
            lines = resampled.line_intervals()
    at_or_above = counts._target_rows(target).cumulative_counts(bins.threshold)[1]
    naive_error = float(rows[keep] @ np.abs(bins.naive - score)[keep])

    def ascending(values: Array) -> Array:
        return values[keep][::-1]

    return Calibration(
        score=ascending(score),
        observed=ascending(np.clip(shares, 0, 1)),
        low=ascending(np.array([interval.low for interval in intervals])),
        high=ascending(np.array([interval.high for interval in intervals])),
        naive=ascending(bins.naive),
        rows=ascending(np.diff(at_or_above, prepend=0)),
        error=Estimate.of(error, naive_error, error_interval),
        slope=Estimate.of(line[1], naive_line[1], lines[1], ANY_NUMBER),
        intercept=Estimate.of(line[0], naive_line[0], lines[0], ANY_NUMBER),
        in_the_large=ev["calibration_in_the_large"],
        pvalue=pvalue,
        edges=EDGES.copy(),
        histogram=_histogram(ev),
        level=ev._level,
    )
