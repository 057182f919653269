"""Presence-only measures of species models, with intervals and the predicted-to-expected ratio."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from pueval._checks import check_count, check_number, percent_hint
from pueval._typing import Array
from pueval.core.mixture import Mixture
from pueval.core.rates import Rates, Shares, correct_shares
from pueval.counts.counts import Counts
from pueval.errors import InputError
from pueval.estimates.estimate import Estimate, estimate_rows
from pueval.estimates.estimate_table import EstimateTable
from pueval.families.presence_family import (
    F_PB,
    PresenceCurve,
    auc_ratio,
    find_threshold_measure,
    minimal_predicted_area,
    presences_per_row,
)
from pueval.families.presence_measures import (
    PresenceWindows,
    boyce_correlation,
    expected_ratio,
    f_pb,
    minimal_area,
    presence_and_target_shares,
    presence_steps,
    presence_windows,
    window_shares,
)
from pueval.families.smoothed_ratio import (
    PresenceBins,
    presence_bins,
    smoothed_correlation,
    smoothed_log_ratio,
)
from pueval.text.numbers import CLIPPED_NOTE, format_threshold
from pueval.text.results import Result, plain_dict
from pueval.uncertainty.intervals import Interval
from pueval.uncertainty.presence_intervals import PresenceResamples

if TYPE_CHECKING:
    from pueval.evaluation.model_estimates import ModelEstimates

CORRELATION_RANGE = (-1.0, 1.0)


@dataclass(frozen=True, eq=False, repr=False)
class RatioCurve(Result):
    """Predicted-to-expected ratio P/E by score; part of `Presence`.

    Attributes
    ----------
    score : ndarray
        Middle of each window, ascending.
    ratio, low, high : ndarray
        Share of the presences divided by that of the target in the window, with pointwise
        confidence intervals (NaN without). NaN in a window without rows.
    smoothed : ndarray
        Smoothed ratio at the same scores.
    """

    score: Array
    ratio: Array
    low: Array
    high: Array
    smoothed: Array

    def _headline(self) -> str:
        return "Predicted-to-expected ratio by score"


@dataclass(frozen=True, eq=False, repr=False)
class Presence(EstimateTable):
    """Presence-only measures; made by `Evaluation.presence`.

    It maps names to estimates: ``boyce_index``, ``smoothed_boyce_index``,
    ``minimal_predicted_area``, ``auc_ratio`` and ``f_pb``, which need no prior, and ``tss``, the
    true skill statistic (informedness), which does.

    Attributes
    ----------
    curve : RatioCurve
        Predicted-to-expected ratio by score.
    share, area_threshold : float
        Share of the presences in the minimal predicted area, and the lowest score in it.
    omission : float
        Largest share of omitted presences for the AUC ratio.
    threshold : float
        Threshold of TSS and F_pb.
    level : float or None
        Confidence level.
    """

    curve: RatioCurve
    share: float
    area_threshold: float
    omission: float
    threshold: float
    level: float | None
    _estimates: dict[str, Estimate]

    def __getitem__(self, name: str) -> Estimate:
        if name not in self._estimates:
            raise InputError(f"unknown measure {name!r}. The measures are {', '.join(self)}.")
        return self._estimates[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._estimates)

    def __len__(self) -> int:
        return len(self._estimates)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain numbers and text, ready for JSON.

        Returns
        -------
        dict
            Undefined and infinite numbers are None.
        """
        names = ("share", "area_threshold", "omission", "threshold", "level", "curve")
        return plain_dict({name: getattr(self, name) for name in names} | {"measures": dict(self)})

    def _headline(self) -> str:
        return f"Presence-only measures; only TSS needs the prior. Threshold {self._threshold}"

    @property
    def _threshold(self) -> str:
        return format_threshold(self.threshold)

    def _table(self) -> tuple[list[str], list[list[str]]]:
        titles = {
            "boyce_index": "Boyce index",
            "smoothed_boyce_index": "Boyce index, smoothed",
            "minimal_predicted_area": f"Minimal predicted area, {self.share:g} of presences",
            "auc_ratio": f"AUC ratio, omission up to {self.omission:g}",
            "f_pb": "F_pb at the threshold",
            "tss": "TSS at the threshold",
        }
        return estimate_rows(((titles[name], self[name]) for name in self), self.level)

    def _notes(self) -> list[str]:
        return [CLIPPED_NOTE] if any(estimate.clipped for estimate in self.values()) else []


def evaluate_presence(
    ev: ModelEstimates, share: float, omission: float, n_windows: int, window: float | None
) -> Presence:
    """Estimate the presence-only measures of an evaluation."""
    for name, value in (("share", share), ("omission", omission)):
        if not 0 < check_number(name, value) <= 1:
            raise InputError(f"{name} must be in (0, 1]; got {value!r}.{percent_hint(value)}")
    check_count("n_windows", n_windows, least=2)
    if window is not None:
        check_number("window", window)
    windows = presence_windows(ev.counts, ev.target, n_windows=n_windows, window=window)
    bins = presence_bins(ev.counts)
    if bins is None:
        raise InputError("all scores are equal. Presence-only measures need different scores.")
    resampled = None
    resamples = ev._resample(np.unique(np.concatenate([windows.thresholds, bins.threshold])))
    if resamples is not None:
        resampled = PresenceResamples(resamples, windows)
    curve, correlations = _ratios(ev, resampled, windows, bins)
    points, area = _CurvePoints(ev), minimal_predicted_area(share)
    estimates = {
        **correlations,
        "minimal_predicted_area": points.estimate(resampled, area),
        "auc_ratio": points.estimate(resampled, auc_ratio(omission)),
        "f_pb": estimate_f_pb(ev),
        "tss": ev["informedness"],
    }
    return Presence(
        curve,
        share,
        points.area_threshold(share),
        omission,
        ev.operating_point.threshold,
        ev._level,
        estimates,
    )


def _labels_only(counts: Counts) -> Counts:
    """Return the counts without propensities and audit, for naive values: presences are labeled."""
    return Counts(*counts._samples) if counts.has_propensity else counts


def _ratios(
    ev: ModelEstimates,
    resampled: PresenceResamples | None,
    windows: PresenceWindows,
    bins: PresenceBins,
) -> tuple[RatioCurve, dict[str, Estimate]]:
    """Return the ratio P/E by score, and its correlations with the score."""
    target = ev.target

    def in_windows(counts: Counts) -> tuple[Array, Array]:
        """Return the shares of the presences and of the target in the windows."""
        shares = Shares.of(counts, counts.at(windows.thresholds))
        above = presence_and_target_shares(counts, shares, target)
        presences, rows = (window_shares(share, windows.start.size) for share in above)
        return presences, rows

    def smoothed_ratio(counts: Counts) -> Array:
        shares = Shares.of(counts, counts.at(bins.threshold))
        return smoothed_log_ratio(*bins.numbers(counts, shares, target))

    presences, rows = in_windows(ev.counts)
    ratio, log_ratio = expected_ratio(presences, rows), smoothed_ratio(ev.counts)
    value = naive = boyce_correlation(windows.start, ratio)
    smoothed = naive_smoothed = float(smoothed_correlation(log_ratio)[0])
    if ev.counts.has_propensity:
        labels = _labels_only(ev.counts)
        naive = boyce_correlation(windows.start, expected_ratio(*in_windows(labels)))
        naive_smoothed = float(smoothed_correlation(smoothed_ratio(labels))[0])
    low = high = np.full(ratio.size, math.nan)
    interval = smoothed_interval = Interval()
    if resampled is not None:
        low, high = resampled.ratio_band(presences, rows)
        smoothed_interval = resampled.smoothed_boyce_interval(smoothed, bins)
        interval = resampled.boyce_interval(value, smoothed_interval)
    score = (windows.start + windows.end) / 2
    smooth_ratio = np.exp(np.interp(score, bins.score, log_ratio[0]))
    return RatioCurve(score, ratio, low, high, smooth_ratio), {
        "boyce_index": Estimate.of(value, naive, interval, CORRELATION_RANGE),
        "smoothed_boyce_index": Estimate.of(
            smoothed, naive_smoothed, smoothed_interval, CORRELATION_RANGE
        ),
    }


class _CurvePoints:
    """The points of the curve of recall by predicted area, which all its numbers share."""

    def __init__(self, ev: ModelEstimates) -> None:
        self._ev = ev
        # Without an audit these are the runs from which measures of the top are computed.
        of_top = ev.counts._audit is None
        self._steps = ev._ranked.runs if of_top else presence_steps(ev.counts)
        self._shares = Shares.of(ev.counts, self._steps)
        self._labels, self._naive_shares = ev.counts, self._shares
        if ev.counts.has_propensity:
            self._labels = _labels_only(ev.counts)
            self._naive_shares = Shares.of(self._labels, presence_steps(self._labels))
        self._rates = self._rates_for(ev.mixture)

    def _rates_for(self, mixture: Mixture) -> Rates:
        counts, threshold = self._ev.counts, self._steps.threshold
        return correct_shares(counts, threshold, self._shares, mixture, self._ev.target)

    def estimate(self, resampled: PresenceResamples | None, measure: PresenceCurve) -> Estimate:
        """Estimate a number of the curve."""
        ev = self._ev

        @cache
        def value_for(mixture: Mixture) -> float:
            return measure.at_rates(
                self._rates if mixture == ev.mixture else self._rates_for(mixture)
            )

        value, interval = value_for(ev.mixture), Interval()
        if resampled is not None and math.isfinite(value):
            interval = resampled.curve_interval(value_for, measure)
        naive = measure.naive(self._labels, ev.target, self._naive_shares)
        return Estimate.of(value, naive, interval, (measure.low, measure.high))

    def area_threshold(self, share: float) -> float:
        """Return the threshold of the minimal predicted area."""
        rates = self._rates
        return float(rates.threshold[minimal_area(rates.tpr, rates.predicted, share)[1]])


def estimate_f_pb(ev: ModelEstimates) -> Estimate:
    """Return the estimate of F_pb at the threshold of the evaluation."""
    counts, target, point = ev.counts, ev.target, ev.operating_point
    labels = _labels_only(counts)
    shares = Shares.of(labels, labels.at(point.threshold))
    presences = presences_per_row(counts, target)
    naive = f_pb(*presence_and_target_shares(labels, shares, target), presences)
    estimate = point._estimate(find_threshold_measure(F_PB, counts, target))
    return replace(estimate, naive=float(naive[0]))
