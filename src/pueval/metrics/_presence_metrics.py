"""Metrics of presence-only models: Boyce index, minimal predicted area, AUC ratio, F_pb."""

from __future__ import annotations

from typing import Any, Unpack

import numpy as np

from pueval._checks import check_choice, check_count, check_number, percent_hint
from pueval._typing import Array, Target
from pueval.core import presence_measures
from pueval.core.mixture import check_target
from pueval.core.presence_measures import (
    CORRELATIONS,
    Correlation,
    boyce_correlation,
    expected_ratio,
    minimal_area,
    partial_area_ratio,
    presence_and_target_shares,
    presence_steps,
    presence_windows,
    window_shares,
)
from pueval.core.rates import Shares
from pueval.core.smoothed_ratio import (
    presence_bins,
    smoothed_correlation,
    smoothed_log_ratio,
)
from pueval.counts.counts import Counts
from pueval.errors import InputError
from pueval.metrics._prediction_metrics import predicted_positive
from pueval.metrics._shared_arguments import (
    LabelArguments,
    expand_shared_arguments,
    read_arguments,
)
from pueval.samples.steps import Steps
from pueval.sources.arrays import check_same_order


def _read(y_true: Any, score: Any, target: Target, labels: LabelArguments) -> Counts:
    """Return the counts, with at least one row of the target."""
    check_target(target)
    counts, _, _ = read_arguments(y_true, score, **labels)
    if target == "unlabeled" and not counts.n_unlabeled:
        raise InputError(
            "target='unlabeled' needs unlabeled rows, but there are none. Use target='population'."
        )
    return counts


def _shares(counts: Counts, steps: Steps, target: Target) -> tuple[Array, Array]:
    """Return the shares of presences and of the target at or above the thresholds."""
    return presence_and_target_shares(counts, Shares.of(counts, steps), target)


def _check_share(name: str, value: object) -> float:
    """Return a number in (0, 1]."""
    number = check_number(name, value)
    if not 0 < number <= 1:
        raise InputError(f"{name} must be in (0, 1]; got {value!r}.{percent_hint(value)}")
    return number


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
    counts = _read(y_true, y_score, target, labels)
    windows = presence_windows(
        counts, target, n_windows=n_windows, window=window, classes=_check_classes(classes)
    )
    above = _shares(counts, counts.at(windows.thresholds), target)
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
    counts = _read(y_true, y_score, target, labels)
    bins = presence_bins(counts)
    if bins is None:
        return float("nan")
    numbers = bins.numbers(counts, Shares.of(counts, counts.at(bins.threshold)), target)
    return float(smoothed_correlation(smoothed_log_ratio(*numbers))[0])


@expand_shared_arguments
def minimal_predicted_area(
    y_true: Any,
    y_score: Any,
    *,
    share: float = 0.9,
    target: Target = "population",
    **labels: Unpack[LabelArguments],
) -> tuple[float, float]:
    """Minimal predicted area of a presence-only model, and its threshold; needs no prior.

    The threshold is the highest score at or above which at least a given share of the presences
    (labeled rows) lie. The area is the share of the background (the target) at or above it: the
    smallest part of the map that still holds that share of the presences. Assumes random labeling
    and clean labels. The area counts all rows, whether the species is there or not.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels: 1 or True for presences, 0 or False for background rows.
    y_score : array-like of shape (n,)
        Scores: predicted suitability.
    share : float, default 0.9
        Share of the presences to keep, in (0, 1].
    target : {"population", "unlabeled"}, default "population"
        Background: all rows, or only the unlabeled rows. With separately collected presences
        (case-control), choose ``"unlabeled"``.
    {labels}

    Returns
    -------
    area, threshold : float
        Share of the background at or above the threshold, lower is better; and the threshold,
        always the score of a presence. ``ecospat.mpa`` returns the quantile of the presences'
        scores, which can lie between two of them.

    References
    ----------
    Engler, Guisan and Rechsteiner (2004), An improved approach for predicting the distribution of
    rare and endangered species from occurrence and pseudo-absence data.

    Examples
    --------
    >>> y_true, y_score = [1, 1, 1, 1, 0, 0, 0, 0], [0.9, 0.8, 0.6, 0.2, 0.7, 0.4, 0.3, 0.1]
    >>> minimal_predicted_area(y_true, y_score, share=0.75, target="unlabeled")
    (0.25, 0.6)
    """
    share = _check_share("share", share)
    counts = _read(y_true, y_score, target, labels)
    steps = presence_steps(counts)
    area, index = minimal_area(*_shares(counts, steps, target), share)
    return area, float(steps.threshold[index])


@expand_shared_arguments
def auc_ratio(
    y_true: Any,
    y_score: Any,
    *,
    omission: float = 0.05,
    target: Target = "population",
    **labels: Unpack[LabelArguments],
) -> float:
    """AUC ratio (partial ROC) of a presence-only model; needs no prior.

    The curve shows recall by the predicted area: the share of the presences (labeled rows) at or
    above a threshold by that of the background (the target). Only thresholds that omit at most a
    share E of the presences are of interest. From the area x at which recall reaches 1 − E up to 1,
    the index is the area under the curve divided by that under the diagonal, (1 − x²)/2. Assumes
    random labeling and clean labels.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels: 1 or True for presences, 0 or False for background rows.
    y_score : array-like of shape (n,)
        Scores: predicted suitability.
    omission : float, default 0.05
        Largest acceptable share E of omitted presences, in (0, 1]; 1 takes the whole curve.
    target : {"population", "unlabeled"}, default "population"
        Background: all rows, or only the unlabeled rows. With separately collected presences
        (case-control), choose ``"unlabeled"``.
    {labels}

    Returns
    -------
    float
        From 0 to 2; 1 for random scores, higher is better. NaN if the recall is reached only where
        everything is predicted present. With ``omission=1`` it is twice the probability that a
        presence scores higher than a random row of the background.

    References
    ----------
    Peterson, Papeş and Soberón (2008), Rethinking receiver operating characteristic analysis
    applications in ecological niche modeling.

    Examples
    --------
    >>> y_true, y_score = [1, 1, 0, 0, 0, 0], [0.9, 0.6, 0.7, 0.4, 0.3, 0.1]
    >>> round(auc_ratio(y_true, y_score, target="unlabeled"), 3)
    1.6
    """
    omission = _check_share("omission", omission)
    counts = _read(y_true, y_score, target, labels)
    return float(partial_area_ratio(*_shares(counts, presence_steps(counts), target), omission)[0])


@expand_shared_arguments
def f_pb(
    y_true: Any, y_pred: Any, *, target: Target = "population", **labels: Unpack[LabelArguments]
) -> float:
    """F measure of presence and background, F_pb; needs no prior.

    2·TP/(TP + FN + FP), where TP and FN are presences (labeled rows) predicted present and absent,
    and FP are all background rows (the target) predicted present. This is the F1 measure of a
    population in which the prevalence is presences / background rows. It ranks models and
    thresholds on the same rows. It is not an F1 measure unless that is the prevalence, and it
    changes with the number of background rows. If you know the prior, `f1_score` is the F1 measure.
    Assumes random labeling and clean labels.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels: 1 or True for presences, 0 or False for background rows.
    y_pred : array-like of shape (n,)
        Predictions: 1 or True for predicted present.
    target : {"population", "unlabeled"}, default "population"
        Background: all rows, or only the unlabeled rows. With separately collected presences
        (case-control), choose ``"unlabeled"``.
    {labels}

    Returns
    -------
    float
        From 0 to 2, higher is better.

    References
    ----------
    Li and Guo (2013), How to assess the prediction accuracy of species presence-absence models
    without absence data?

    Examples
    --------
    >>> y_true, y_pred = [1, 1, 1, 0, 0, 0, 0], [1, 1, 0, 1, 0, 0, 0]
    >>> f_pb(y_true, y_pred, target="unlabeled")    # 2·2 / (2 + 1 + 1)
    1.0
    """
    check_same_order({"y_true": y_true, "y_pred": y_pred})
    counts = _read(y_true, predicted_positive(y_pred, labels), target, labels)
    recall, predicted = _shares(counts, counts.at(1.0), target)
    rows = counts.n_unlabeled if target == "unlabeled" else counts.n
    return float(presence_measures.f_pb(recall, predicted, counts.n_labeled / rows)[0])
