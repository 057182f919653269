"""Metrics of presence-only models: minimal predicted area, AUC ratio, F_pb."""

from __future__ import annotations

from typing import Any, Unpack

from pueval._typing import Array, Target
from pueval.core.mixture import check_target
from pueval.core.rates import Shares
from pueval.counts.counts import Counts
from pueval.errors import InputError
from pueval.families import presence_measures
from pueval.families.presence_family import presences_per_row
from pueval.families.presence_measures import (
    minimal_area,
    partial_area_ratio,
    presence_and_target_shares,
    presence_steps,
)
from pueval.metrics._prediction_metrics import predicted_positive
from pueval.metrics._shared_arguments import (
    LabelArguments,
    check_part,
    expand_shared_arguments,
    read_arguments,
)
from pueval.samples.steps import Steps
from pueval.sources.arrays import check_same_order


def read_presences(y_true: Any, score: Any, target: Target, labels: LabelArguments) -> Counts:
    """Return the counts, with at least one row of the target."""
    check_target(target)
    counts, _, _ = read_arguments(y_true, score, **labels)
    if target == "unlabeled" and not counts.n_unlabeled:
        raise InputError(
            "target='unlabeled' needs unlabeled rows, but there are none. Use target='population'."
        )
    return counts


def presence_shares(counts: Counts, steps: Steps, target: Target) -> tuple[Array, Array]:
    """Return the shares of presences and of the target at or above the thresholds."""
    return presence_and_target_shares(counts, Shares.of(counts, steps), target)


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
    share = check_part("share", share)
    counts = read_presences(y_true, y_score, target, labels)
    steps = presence_steps(counts)
    area, index = minimal_area(*presence_shares(counts, steps, target), share)
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
    omission = check_part("omission", omission)
    counts = read_presences(y_true, y_score, target, labels)
    return float(
        partial_area_ratio(*presence_shares(counts, presence_steps(counts), target), omission)[0]
    )


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
    counts = read_presences(y_true, predicted_positive(y_pred, labels), target, labels)
    recall, predicted = presence_shares(counts, counts.at(1.0), target)
    presences = presences_per_row(counts, target)
    return float(presence_measures.f_pb(recall, predicted, presences)[0])
