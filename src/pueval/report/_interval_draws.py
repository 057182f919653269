"""Resampled shares in a compact form, from which a page computes intervals at the sliders.

A measure depends on two shares of rows at or above a threshold: that of the labeled rows and that
of the background (with propensities, that of the positives and that of all rows). The page holds
the deviations of some resamples from their expected shares, at some of the thresholds, in one byte
each.
"""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

import numpy as np

from pueval._typing import Array
from pueval.core.rates import Shares, background_share
from pueval.evaluation.assumptions import Assumptions, resample_evaluation
from pueval.thresholds.threshold_choice import ChosenThresholdIntervals
from pueval.uncertainty.measure_intervals import Resamples

if TYPE_CHECKING:
    from pueval.evaluation.evaluation import Evaluation

# Bytes that a page has for the draws of all models, as base64, and largest number of draws.
BYTES_FOR_DRAWS, MOST_DRAWS = 180_000, 400
# Largest number of thresholds of the draws; fewer with many models.
MOST_THRESHOLDS, LEAST_THRESHOLDS = 64, 32
# Largest number that a signed byte holds.
LARGEST_BYTE = 127


def interval_draws(ev: Evaluation, n_models: int) -> dict[str, Any] | None:
    """Return what a page needs for intervals at other priors, purities and thresholds.

    Returns
    -------
    dict or None
        ``thresholds`` are descending. ``labeled`` and ``background`` have, at these thresholds,
        the share of the data (``data``), the expected share of the draws (``expected``), and their
        deviations as base64 of bytes (``deviations``, one line per draw), in units of ``unit``.
        ``rows`` are the numbers of rows that the two shares are multiples of; None with weights.
        ``prevalence_shift`` is the deviation of the prevalence of each draw in standard errors.
        ``squared_weights`` are the sums over labeled, unlabeled and negative rows, for that error.
        ``auc_error`` is the standard error of the naive AUC, ``auc_excess`` its bias by pairs of
        rows of one cluster, and ``auc_row_share`` the share of the rows for an interval on the
        logit scale; None for a symmetric one. ``choice`` has the shares at the threshold that
        each draw chooses, if the threshold was chosen. None without intervals, and of audited
        models, whose prior and purity do not move.
    """
    if ev.resampling is None or ev._resamples is None or ev.counts._audit is not None:
        return None
    resamples = _known_prior_resamples(ev, ev._resamples)
    draws, n_draws, columns = resamples.draws, *_draw_sizes(ev, resamples, n_models)
    counts, clustered = resamples.counts, resamples.clustered_auc
    data, expected, resampled = (
        _share_pair(resamples, shares)
        for shares in (
            Shares.of(counts, counts.at(draws.threshold)),
            draws.expected,
            draws.resampled,
        )
    )
    shift = draws.resampled.prevalence_shift
    return {
        "critical_value": ev.resampling.critical_value,
        "level": ev.resampling.level,
        "n_draws": n_draws,
        "n_labeled": resamples.n_independent_labeled,
        "thresholds": [
            "Infinity" if np.isinf(threshold) else threshold
            for threshold in draws.threshold[columns].tolist()
        ],
        "labeled": _compact(data[0], expected[0], resampled[0], columns, n_draws),
        "background": _compact(data[1], expected[1], resampled[1], columns, n_draws),
        "rows": _row_numbers(resamples),
        "squared_weights": counts.squared_weights,
        "prevalence_shift": None if shift is None else np.round(shift[:n_draws, 0], 3),
        "auc_error": _naive_auc_error(resamples),
        "auc_excess": 0.0 if clustered is None else clustered.excess,
        "auc_row_share": None if clustered is None else clustered.row_share,
        "choice": _chosen_shares(resamples, ev.threshold, n_draws) if ev.threshold_chosen else None,
    }


def _known_prior_resamples(ev: Evaluation, resamples: Resamples) -> Resamples:
    """Return resamples for prior and purity that are known, as they are at moved sliders."""
    counts = resamples.counts
    if counts.has_propensity != ev.counts.has_propensity:
        counts = ev.counts
    assert ev.resampling is not None  # noqa: S101 - for the type checker
    known = Assumptions(ev.mixture, target=ev.target)
    return resample_evaluation(counts, ev._corners, known, ev.target, ev.threshold, ev.resampling)


def _draw_sizes(ev: Evaluation, resamples: Resamples, n_models: int) -> tuple[int, list[int]]:
    """Return the number of draws, and the columns of the thresholds to keep."""
    threshold = resamples.draws.threshold
    most = max(MOST_THRESHOLDS - 8 * (n_models - 1), LEAST_THRESHOLDS)
    # High thresholds are closer to each other: there the curves are steep.
    position = np.linspace(0, 1, most) ** 1.5 * (threshold.size - 1)
    evaluated = np.flatnonzero(threshold == ev.threshold)
    columns = np.unique(np.r_[np.round(position).astype(np.intp), evaluated])
    affordable = int(BYTES_FOR_DRAWS * 3 / 4 / n_models / (2 * columns.size))
    return min(affordable, MOST_DRAWS, resamples.options.n_resamples), columns.tolist()


def _share_pair(resamples: Resamples, shares: Shares) -> tuple[Array, Array]:
    """Return the shares of labeled and background rows; with propensities, of positives and all."""
    counts = resamples.counts
    background = background_share(counts, shares)
    if shares.positive is None:
        return shares.labeled, background
    labeled_share = counts.n_labeled / counts.n
    return shares.positive, labeled_share * shares.labeled + (1 - labeled_share) * background


def _compact(
    data: Array, expected: Array, resampled: Array, columns: list[int], n_draws: int
) -> dict[str, Any]:
    """Return shares at some thresholds, and the deviations of some draws in a byte each.

    The deviations are scaled to the standard deviation of all draws.
    """
    deviation = (np.atleast_2d(resampled) - expected)[:, columns]
    kept = np.broadcast_to(deviation[:n_draws], (n_draws, len(columns)))
    with np.errstate(invalid="ignore", divide="ignore"):
        scale = np.nan_to_num(deviation.std(axis=0) / kept.std(axis=0), nan=1.0, posinf=1.0)
    kept = kept * scale
    unit = np.abs(kept).max(axis=0) / LARGEST_BYTE
    whole = np.round(np.divide(kept, unit, out=np.zeros_like(kept), where=unit > 0))
    return {
        "data": np.round(data[columns], 9),
        "expected": np.round(expected[columns], 9),
        "unit": [float(f"{step:.6g}") for step in unit],
        "deviations": base64.b64encode(whole.astype(np.int8).tobytes()).decode("ascii"),
    }


def _row_numbers(resamples: Resamples) -> tuple[int | None, int | None]:
    """Return the numbers of rows that the shares of draws are multiples of, None if they are not.

    One is that of labeled, one that of background rows.
    """
    counts = resamples.counts
    if (
        resamples.options.variance != "sampling"
        or counts.has_propensity
        or counts._clusters is not None
        or not counts._has_integer_counts
    ):
        return None, None
    labeled, unlabeled, negative = (round(kind.effective_size) for kind in counts._samples)
    # Rows of two kinds in one background count the same only if they represent the same number.
    alike = not negative or (unlabeled, negative) == (counts.n_unlabeled, counts.n_negative)
    return labeled, unlabeled + negative if alike else None


def _naive_auc_error(resamples: Resamples) -> float:
    """Return the standard error of the naive AUC, or of the mean placement with propensities."""
    mixture = resamples.mixture
    contrast = mixture.purity - resamples._background_prior(mixture)
    interval = resamples.auc_interval(0.5, lambda _: 0.5)
    return float(interval.standard_error * contrast)


def _chosen_shares(resamples: Resamples, threshold: float, n_draws: int) -> dict[str, Any]:
    """Return the shares at the threshold that each draw chooses: in the draw, and as expected."""
    repeated = ChosenThresholdIntervals(resamples, threshold).repeated_choice
    pairs = [_share_pair(resamples, shares) for shares in (repeated.resampled, repeated.expected)]
    names = ("resampled", "expected")
    shift = repeated.resampled.prevalence_shift

    def rounded(kind: int) -> dict[str, Any]:
        return {
            name: np.round(pair[kind][:n_draws], 6) for name, pair in zip(names, pairs, strict=True)
        }

    return {
        "labeled": rounded(0),
        "background": rounded(1),
        "prevalence_shift": None if shift is None else np.round(shift[:n_draws], 3),
        "optimism_error": repeated.optimism_error,
    }
