"""Boyce index of presence-only models, as ecospat computes it, and smoothed."""

from __future__ import annotations

from typing import Any, Unpack

import numpy as np

from pueval._checks import check_choice, check_count, check_number
from pueval._typing import Array, Target
from pueval.core.rates import Shares
from pueval.errors import InputError
from pueval.families.presence_measures import (
    CORRELATIONS,
    Correlation,
    boyce_correlation,
    expected_ratio,
    presence_windows,
    window_shares,
)
from pueval.families.smoothed_ratio import (
    presence_bins,
    smoothed_correlation,
    smoothed_log_ratio,
)
from pueval.metrics._presence_metrics import presence_shares, read_presences
from pueval.metrics._shared_arguments import (
    LabelArguments,
    expand_shared_arguments,
)


def _check_classes(classes: Any) -> int | Array | None:
    """Return a number of classes, or their inner thresholds."""
    if classes is None:
        return None
    if isinstance(classes, int | np.integer):
        check_count("classes", classes, least=2)
        return int(classes)
    inner = np.asarray(classes, dtype=np.float64)
    if inner.ndim != 1 or not inner.size or not np.isfinite(inner).all():
        raise InputError(f"classes must be a number of classes or thresholds; got {classes!r}.")
    return inner


@expand_shared_arguments
def boyce_index(
    y_true: Any,
    y_score: Any,
    *,
    n_windows: int = 100,
    window: float | None = None,
    classes: Any = None,
    drop_duplicates: bool = True,
    method: Correlation = "spearman",
    target: Target = "population",
    **labels: Unpack[LabelArguments],
) -> float:
    """Continuous Boyce index of a presence-only model; needs no prior.

    In a window of scores, the predicted-to-expected ratio P/E is the share of the presences
    (labeled rows) divided by the share of the background (the target). The index is the
    correlation of P/E with the score over windows that move along the scores.

    The background holds unseen presences. This moves every P/E towards 1 but keeps their order:
    P/E = r/(π·r + 1 − π) increases with r, the share of the presences over the share of the
    absences, whatever the prevalence π is. False presences do not change the order either, as long
    as presences are more frequent among labeled rows than in the background. Assumes random
    labeling: presences were not recorded preferentially at sites with some scores.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels: 1 or True for presences, 0 or False for background rows.
    y_score : array-like of shape (n,)
        Scores: predicted suitability.
    n_windows : int, default 100
        Number of windows, ecospat's ``res``.
    window : float, optional
        Width of the windows; by default a tenth of the range of the background's scores.
    classes : int or array-like of float, optional
        Number of classes of equal width, or inner thresholds of classes, instead of windows.
    drop_duplicates : bool, default True
        Whether to keep only the last of successive windows with equal ratios.
    method : {"spearman", "pearson", "kendall"}, default "spearman"
        Correlation. Pearson's depends on the prevalence of the background.
    target : {"population", "unlabeled"}, default "population"
        Background: all rows, or only the unlabeled rows. With separately collected presences
        (case-control), choose ``"unlabeled"``.
    {labels}

    Returns
    -------
    float
        From −1 to 1; NaN with fewer than two different ratios. Windows without any row are left
        out. A window with presences but no background has an infinite ratio, and Pearson's
        correlation is then NaN.

    Notes
    -----
    Windows are those of ecospat's ``ecospat.boyce`` for scores in [0, 1], on any scale. Two details
    of ecospat are left out: with ``nclass``, an extra class of the rows at the highest score; and
    dropping the last window if its ratio is exactly 1.

    With few presences the index is too close to 0, because noisy ratios are out of order; see
    `smoothed_boyce_index`. For intervals see `pueval.Evaluation.presence`.

    References
    ----------
    Boyce et al. (2002), Evaluating resource selection functions. Hirzel et al. (2006), Evaluating
    the ability of habitat suitability models to predict species presences.

    Examples
    --------
    >>> y_true = [1, 1, 1, 0, 0, 0, 0, 0, 0]
    >>> y_score = [0.9, 0.8, 0.5, 1.0, 0.7, 0.6, 0.3, 0.2, 0.0]
    >>> round(boyce_index(y_true, y_score, classes=4, target="unlabeled"), 3)
    0.8
    """
    check_count("n_windows", n_windows, least=2)
    check_choice("method", method, CORRELATIONS)
    if window is not None:
        check_number("window", window)
    counts = read_presences(y_true, y_score, target, labels)
    windows = presence_windows(
        counts, target, n_windows=n_windows, window=window, classes=_check_classes(classes)
    )
    above = presence_shares(counts, counts.at(windows.thresholds), target)
    presences, rows = (window_shares(share, windows.start.size) for share in above)
    ratio = expected_ratio(presences, rows)
    return boyce_correlation(windows.start, ratio, method, drop_duplicates=drop_duplicates)


@expand_shared_arguments
def smoothed_boyce_index(
    y_true: Any, y_score: Any, *, target: Target = "population", **labels: Unpack[LabelArguments]
) -> float:
    """Smoothed Boyce index of a presence-only model; needs no prior.

    A logistic regression of presence against background on a smooth curve of the score estimates
    log P/E plus a constant, because the odds of a row to be a presence are proportional to the
    ratio of both densities. The index is Spearman's correlation of this curve with the score. It
    needs no windows, and far fewer presences than `boyce_index`. Assumes random labeling.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels: 1 or True for presences, 0 or False for background rows.
    y_score : array-like of shape (n,)
        Scores: predicted suitability.
    target : {"population", "unlabeled"}, default "population"
        Background: all rows, or only the unlabeled rows. With separately collected presences
        (case-control), choose ``"unlabeled"``.
    {labels}

    Returns
    -------
    float
        From −1 to 1; NaN if all scores are equal.

    Notes
    -----
    The curve is a P-spline with 10 coefficients, whose smoothness minimizes Akaike's criterion;
    rows are counted in 200 bins of equal width. Liu et al. compare five smoothers, P-splines among
    them, and find them equally good.

    References
    ----------
    Liu et al. (2024), Improving the estimation of the Boyce index using statistical smoothing
    methods. Eilers and Marx (1996), Flexible smoothing with B-splines and penalties.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> score = np.r_[rng.beta(3, 2, 50), rng.beta(2, 3, 2000)]
    >>> y_true = np.repeat([1, 0], [50, 2000])
    >>> windows = boyce_index(y_true, score, target="unlabeled")
    >>> smooth = smoothed_boyce_index(y_true, score, target="unlabeled")
    >>> round(windows, 2), round(smooth, 2)
    (0.96, 1.0)
    """
    counts = read_presences(y_true, y_score, target, labels)
    bins = presence_bins(counts)
    if bins is None:
        return float("nan")
    numbers = bins.numbers(counts, Shares.of(counts, counts.at(bins.threshold)), target)
    return float(smoothed_correlation(smoothed_log_ratio(*numbers))[0])
