"""Posterior and likelihood ratio at a score, and the scores that are strong enough evidence."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pueval._checks import check_fraction
from pueval._typing import Array
from pueval.core.rates import corrected_and_naive_rates
from pueval.errors import InputError
from pueval.families.calibration_line import observed_shares
from pueval.families.score_windows import (
    likelihood_ratio,
    odds_ratio_of_shares,
    share_from_ratio,
    window_centers,
    windows_at,
)
from pueval.text.numbers import format_count, format_estimate, format_number, format_threshold
from pueval.text.results import Result, spaced_table
from pueval.text.tables import text_table
from pueval.uncertainty.bin_intervals import BinIntervals
from pueval.uncertainty.intervals import Interval

if TYPE_CHECKING:
    from pueval.evaluation.model_estimates import ModelEstimates

# Strength of evidence, as powers of the likelihood ratio of very strong evidence.
STRENGTHS = {"very strong": 1.0, "strong": 1 / 2, "moderate": 1 / 4, "supporting": 1 / 8}
NO_SCORE = "none"


@dataclass(frozen=True, eq=False, repr=False)
class LocalPosterior(Result):
    """Probability of being positive at given scores; made by `Evaluation.posterior`.

    Attributes
    ----------
    score : ndarray
        The scores.
    posterior, low, high : ndarray
        Share of positives among the rows near each score, clipped to [0, 1], with confidence
        intervals (NaN without).
    naive : ndarray
        Share of labeled rows among them.
    likelihood_ratio, likelihood_ratio_low, likelihood_ratio_high : ndarray
        Share of the positives divided by share of the negatives near each score, with confidence
        intervals.
    window_low, window_high : ndarray
        Lowest and highest score of the rows used for each score.
    rows : ndarray
        Number (or weight) of rows of the target between them.
    prevalence : float
        Share of positives in the population to which ``posterior`` belongs.
    level : float or None
        Confidence level.
    """

    score: Array
    posterior: Array
    low: Array
    high: Array
    naive: Array
    likelihood_ratio: Array
    likelihood_ratio_low: Array
    likelihood_ratio_high: Array
    window_low: Array
    window_high: Array
    rows: Array
    prevalence: float
    level: float | None

    def _headline(self) -> str:
        return f"Posterior at a prevalence of {format_number(self.prevalence)}"

    def _table(self) -> str:
        ratios = (self.likelihood_ratio, self.likelihood_ratio_low, self.likelihood_ratio_high)

        def cells(k: int) -> list[str]:
            return [
                format_threshold(self.score[k]),
                format_number(self.naive[k]),
                format_estimate(self.posterior[k], self.low[k], self.high[k]),
                format_estimate(*(float(column[k]) for column in ratios)),
                format_count(round(float(self.rows[k]))),
            ]

        header = ["Score", "labeled", "posterior", "likelihood ratio", "rows"]
        table = spaced_table(header, cells, self.score.size)
        n_beyond = np.count_nonzero(
            (self.score < self.window_low) | (self.score > self.window_high)
        )
        if not n_beyond:
            return table
        scores = "score lies" if n_beyond == 1 else "scores lie"
        return f"{table}\n{n_beyond:,} {scores} beyond all rows: values of the nearest rows."


@dataclass(frozen=True, eq=False, repr=False)
class EvidenceThresholds(Result):
    """Scores that are evidence of a given strength; made by `Evaluation.evidence_thresholds`.

    Attributes
    ----------
    strength : tuple of str
        "supporting", "moderate", "strong" and "very strong", for positives and then for negatives.
    evidence_for : tuple of str
        "positive" or "negative".
    required : ndarray
        Likelihood ratio from which evidence has this strength; for negatives up to which.
    score : ndarray
        For positives, the score from which on the lower confidence limit of the likelihood ratio
        is at least the required one, at all higher scores. For negatives, the score up to which
        the upper confidence limit is at most the required one, at all lower scores. NaN if there
        is none.
    rows : ndarray
        Share of the rows of the target with such scores.
    curve : LocalPosterior
        Likelihood ratios by score, from which the thresholds were read.
    """

    strength: tuple[str, ...]
    evidence_for: tuple[str, ...]
    required: Array
    score: Array
    rows: Array
    curve: LocalPosterior

    def _columns(self) -> dict[str, Any]:
        return {
            "evidence_for": [*self.evidence_for],
            "strength": [*self.strength],
            "required": self.required,
            "score": self.score,
            "rows": self.rows,
        }

    def _headline(self) -> str:
        n = self.curve.score.size
        return f"Evidence thresholds, from likelihood ratios at {n:,} scores"

    def _table(self) -> str:
        rows = []
        for k, strength in enumerate(self.strength):
            positive = self.evidence_for[k] == "positive"
            sign = "≥" if positive else "≤"
            score = format_threshold(float(self.score[k]))
            rows.append(
                [
                    f"{strength}, {self.evidence_for[k]}",
                    f"{sign} {self.required[k]:.3g}",
                    NO_SCORE if math.isnan(self.score[k]) else f"{sign} {score}",
                    f"{100 * self.rows[k]:.1f}%",
                ]
            )
        return text_table(["Evidence", "likelihood ratio", "score", "rows"], rows)


def read_scores(score: Any) -> Array:
    """Return scores as an array of finite numbers."""
    try:
        values = np.atleast_1d(np.asarray(score, dtype=np.float64)).ravel()
    except (TypeError, ValueError):
        values = np.array([np.nan])
    if not (values.size and np.isfinite(values).all()):
        raise InputError(f"score must be a number or an array of numbers; got {score!r}.")
    return values


def estimate_posterior(
    ev: ModelEstimates, score: Any, *, window: float, prevalence: float | None
) -> LocalPosterior:
    """Return posterior and likelihood ratio at some scores."""
    scores, share = read_scores(score), check_fraction("window", window)
    if prevalence is not None:
        prevalence = check_fraction("prevalence", prevalence)
    rows = ev.counts._target_rows(ev.target)
    windows = windows_at(rows, scores, share)
    own = ev.prevalence
    # Intervals of likelihood ratios are those of a posterior at a prevalence that does not vary:
    # posteriors are nearly linear in the number of labeled rows, ratios are not.
    reference = own if 0 < own < 1 else 0.5
    resamples = ev._resample(windows.all_thresholds)

    def estimate(number: int) -> tuple[float, ...]:
        """Return posterior and likelihood ratio with their intervals, naive posterior and rows."""
        thresholds = windows.thresholds(number)
        corrected, naive = corrected_and_naive_rates(
            ev.counts, ev.counts.at(thresholds), ev.mixture, ev.target
        )
        ratio = likelihood_ratio(corrected)
        of_posterior = of_ratio = Interval()
        if resamples is not None and not math.isnan(ratio):
            if prevalence is None:
                of_posterior = BinIntervals(resamples, thresholds).interval(1)
            of_ratio = BinIntervals(resamples, thresholds, reference).interval(1)
        ratios = (
            ratio,
            *(odds_ratio_of_shares(end, reference) for end in (of_ratio.low, of_ratio.high)),
        )
        posterior = float(np.clip(observed_shares(corrected)[1], 0, 1))
        posteriors = [posterior, of_posterior.low, of_posterior.high]
        if prevalence is not None:
            posteriors = [share_from_ratio(each, prevalence) for each in ratios]
        at_or_above = rows.cumulative_counts(thresholds)[1]
        n_rows = float(at_or_above[1] - at_or_above[0])
        return *posteriors, *ratios, float(observed_shares(naive)[1]), n_rows

    columns = np.array([estimate(number) for number in range(scores.size)]).T
    posterior, low, high, ratio, ratio_low, ratio_high, naive, n_rows = columns
    return LocalPosterior(
        score=scores,
        posterior=posterior,
        low=low,
        high=high,
        naive=naive,
        likelihood_ratio=ratio,
        likelihood_ratio_low=ratio_low,
        likelihood_ratio_high=ratio_high,
        window_low=windows.low,
        window_high=windows.high,
        rows=n_rows,
        prevalence=own if prevalence is None else prevalence,
        level=ev._level,
    )


def estimate_evidence_thresholds(
    ev: ModelEstimates, *, very_strong: float, window: float
) -> EvidenceThresholds:
    """Return the scores that are evidence of each strength."""
    if isinstance(very_strong, bool) or not (
        isinstance(very_strong, int | float | np.number) and 1 < very_strong < math.inf
    ):
        raise InputError(
            f"very_strong must be a likelihood ratio above 1, such as 350; got {very_strong!r}."
        )
    if ev.resampling is None:
        raise InputError(
            "evidence_thresholds() needs intervals, but this evaluation has none: it was made "
            "with level=None, or with too few clusters."
        )
    rows = ev.counts._target_rows(ev.target)
    scores = window_centers(rows, check_fraction("window", window))
    curve = estimate_posterior(ev, scores, window=window, prevalence=ev.prevalence or None)
    above, at_or_above = rows.cumulative_counts(scores)
    lines = []
    for side, strengths in (("positive", [*STRENGTHS]), ("negative", [*reversed(STRENGTHS)])):
        for strength in strengths:
            ratio = very_strong ** STRENGTHS[strength]
            if side == "positive":
                last = _run(curve.likelihood_ratio_low >= ratio)
                share = at_or_above / rows.total
            else:
                ratio = 1 / ratio
                last = scores.size - 1 - _run(curve.likelihood_ratio_high[::-1] <= ratio)
                share = 1 - above / rows.total
            limit, beyond = math.nan, 0.0
            if 0 <= last < scores.size:
                limit, beyond = float(scores[last]), float(share[last])
            lines.append((strength, side, ratio, limit, beyond))
    names, sides, *columns = zip(*lines, strict=True)
    required, limits, shares = map(np.array, columns)
    return EvidenceThresholds(names, sides, required, limits, shares, curve)


def _run(holds: Sequence[bool] | Array) -> int:
    """Return the last index up to which all entries hold; −1 if the first does not."""
    failed = np.flatnonzero(~np.asarray(holds))
    return int(failed[0]) - 1 if failed.size else len(holds) - 1
