"""Metrics of scores: areas, curves, and rankings that need no prior."""

from __future__ import annotations

import warnings
from typing import Any, Literal, Unpack

from pueval import ranking
from pueval._typing import Array
from pueval.core.average_precision import average_precision
from pueval.core.curves import (
    direct_auc,
    naive_auc,
    recover_precision_recall,
    recover_roc,
    recover_roc_from_corners,
)
from pueval.core.mixture import Mixture
from pueval.core.rates import correct_steps
from pueval.counts.counts import Counts
from pueval.errors import AssumptionWarning, InputError
from pueval.metrics._shared_arguments import How, Labels, clipped, read, spelled_out
from pueval.sensitivity.feasibility import infeasibility_message

Method = Literal["direct", "indirect"]


def _check_prior(counts: Counts, mixture: Mixture) -> None:
    note = infeasibility_message(counts, mixture)
    if note:
        warnings.warn(note, AssumptionWarning, stacklevel=4)


@spelled_out
def roc_auc_score(
    y_true: Any, y_score: Any, *, prior: float, method: Method = "direct", **how: Unpack[How]
) -> float:
    """Area under the ROC curve, corrected for unlabeled positives.

    Direct: (AUC_pu − (1 − (purity − prior))/2) / (purity − prior), with AUC_pu the area of
    labeled against unlabeled rows. Indirect: the area under the curve of `roc_curve`. The direct
    form is unbiased and keeps the order of classifiers whatever the prior; the indirect form is
    often closer for small samples.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        1 or True for labeled positives, 0 or False for unlabeled rows.
    y_score : array-like of shape (n,)
        Scores; higher means more likely positive.
    method : {"direct", "indirect"}
        How to correct.
    {how}

    Returns
    -------
    float
        Clipped to [0, 1], with an AssumptionWarning.

    References
    ----------
    Jain, White and Radivojac (2017), equation 4 and algorithm 1.

    Examples
    --------
    >>> y_true, y_score = [1, 1, 0, 0, 0, 0], [6, 4, 5, 3, 2, 1]
    >>> roc_auc_score(y_true, y_score, prior=0.0)
    0.875
    >>> roc_auc_score(y_true, y_score, prior=0.2)
    0.96875
    """
    if method not in {"direct", "indirect"}:
        raise InputError(f"method must be 'direct' or 'indirect'; got {method!r}.")
    counts, mixture, target = read(y_true, y_score, prior, **how)
    _check_prior(counts, mixture)
    corners = counts._roc_corners()
    if method == "direct":
        return clipped("roc_auc", direct_auc(counts, naive_auc(counts, corners), mixture))
    return recover_roc_from_corners(counts, corners, mixture, target).area


@spelled_out
def average_precision_score(
    y_true: Any, y_score: Any, *, prior: float, **how: Unpack[How]
) -> float:
    """Average precision, corrected for unlabeled positives.

    The sum of precision times gain of recall over the thresholds, along the curve of
    `precision_recall_curve` with ``drop_intermediate=True``: corrected rates are brought into
    [0, 1], and the false positive rate at some recall is the lowest of all thresholds that reach
    this recall, as on the ROC curve that Jain et al. recover.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        1 or True for labeled positives, 0 or False for unlabeled rows.
    y_score : array-like of shape (n,)
        Scores; higher means more likely positive.
    {how}

    Returns
    -------
    float
        In [0, 1].

    References
    ----------
    Jain, White and Radivojac (2017), equation 3 and algorithm 1.

    Examples
    --------
    >>> y_true, y_score = [1, 1, 0, 0, 0, 0], [6, 4, 5, 3, 2, 1]
    >>> round(average_precision_score(y_true, y_score, prior=0.0), 4)
    0.8333
    """
    counts, mixture, target = read(y_true, y_score, prior, **how)
    _check_prior(counts, mixture)
    return float(average_precision(correct_steps(counts, counts._roc_corners(), mixture, target)))


@spelled_out
def roc_curve(
    y_true: Any,
    y_score: Any,
    *,
    prior: float,
    drop_intermediate: bool = True,
    **how: Unpack[How],
) -> tuple[Array, Array, Array]:
    """ROC curve, corrected for unlabeled positives.

    Corrected rates, made a legal curve: the part outside the unit square is dropped, and every
    true positive rate gets the lowest false positive rate of all points that reach it.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        1 or True for labeled positives, 0 or False for unlabeled rows.
    y_score : array-like of shape (n,)
        Scores; higher means more likely positive.
    drop_intermediate : bool, default True
        Whether to leave out thresholds at which the curve cannot turn.
    {how}

    Returns
    -------
    fpr, tpr, thresholds : ndarray
        Without a correction the thresholds descend; with one, points may have changed places.

    References
    ----------
    Jain, White and Radivojac (2017), equations 1, 2 and algorithm 1.

    Examples
    --------
    >>> fpr, tpr, thresholds = roc_curve([1, 1, 0, 0, 0], [5, 3, 4, 2, 1], prior=0.25)
    >>> fpr.round(3), tpr
    (array([0.   , 0.   , 0.111, 0.111, 1.   ]), array([0. , 0.5, 0.5, 1. , 1. ]))
    """
    counts, mixture, target = read(y_true, y_score, prior, **how)
    _check_prior(counts, mixture)
    if drop_intermediate:
        curve = recover_roc_from_corners(counts, counts._roc_corners(), mixture, target)
    else:
        steps = counts.steps()
        curve = recover_roc(steps, correct_steps(counts, steps, mixture, target))
    return curve.fpr, curve.tpr, curve.threshold


@spelled_out
def precision_recall_curve(
    y_true: Any,
    y_score: Any,
    *,
    prior: float,
    drop_intermediate: bool = False,
    **how: Unpack[How],
) -> tuple[Array, Array, Array]:
    """Precision-recall curve, corrected for unlabeled positives.

    Precision is π·tpr/θ and recall tpr, with π the prevalence and θ the share predicted positive.
    Rates outside [0, 1] are clipped, and every recall gets the highest precision of all thresholds
    that reach it, as on the recovered ROC curve.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        1 or True for labeled positives, 0 or False for unlabeled rows.
    y_score : array-like of shape (n,)
        Scores; higher means more likely positive.
    drop_intermediate : bool, default False
        Whether to keep only thresholds at which the curve can turn.
    {how}

    Returns
    -------
    precision, recall, thresholds : ndarray
        Recall descends to a last point of precision 1 and recall 0, which has no threshold.

    References
    ----------
    Jain, White and Radivojac (2017), equations 1 and 3.

    Examples
    --------
    >>> precision, recall, thresholds = precision_recall_curve(
    ...     [1, 1, 0, 0, 0], [5, 3, 4, 2, 1], prior=0.0)
    >>> precision.round(2), recall
    (array([0.4 , 0.5 , 0.67, 0.5 , 1.  , 1.  ]), array([1. , 1. , 1. , 0.5, 0.5, 0. ]))
    """
    counts, mixture, target = read(y_true, y_score, prior, **how)
    _check_prior(counts, mixture)
    steps = counts._roc_corners() if drop_intermediate else counts.steps()
    curve = recover_precision_recall(correct_steps(counts, steps, mixture, target))
    return curve.precision[::-1], curve.recall[::-1], curve.threshold[:0:-1]


@spelled_out
def pulp_score(
    y_true: Any, y_score: Any, *, threshold: float | None = None, **labels: Unpack[Labels]
) -> float:
    """Probability that random predictions hit fewer labeled rows (PULP); needs no prior.

    See `pueval.ranking.pulp` for the formula and the reference.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        1 or True for labeled positives, 0 or False for unlabeled rows.
    y_score : array-like of shape (n,)
        Scores; higher means more likely positive.
    threshold : float, optional
        Scores at or above it are predicted positive. Mean over all operating points if left out.
    {labels}

    Returns
    -------
    float

    Examples
    --------
    >>> round(pulp_score([1, 1, 0, 0], [4, 3, 2, 1]), 4)
    0.3667
    """
    return ranking.pulp(read(y_true, y_score, **labels)[0], threshold=threshold)


@spelled_out
def lee_liu_score(
    y_true: Any, y_score: Any, *, threshold: float | None = None, **labels: Unpack[Labels]
) -> float:
    """Recall² over the share predicted positive (Lee and Liu); needs no prior.

    See `pueval.ranking.lee_liu` for the formula and the reference.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        1 or True for labeled positives, 0 or False for unlabeled rows.
    y_score : array-like of shape (n,)
        Scores; higher means more likely positive.
    threshold : float, optional
        Scores at or above it are predicted positive. Mean over all operating points if left out.
    {labels}

    Returns
    -------
    float

    Examples
    --------
    >>> lee_liu_score([1, 1, 0, 0], [4, 3, 2, 1], threshold=3)
    2.0
    """
    return ranking.lee_liu(read(y_true, y_score, **labels)[0], threshold=threshold)


@spelled_out
def pseudo_f_score(
    y_true: Any,
    y_score: Any,
    *,
    prevalence: float | None = None,
    threshold: float | None = None,
    **labels: Unpack[Labels],
) -> float:
    """Return 2·recall / (share predicted positive + prevalence), the pseudo-F measure.

    See `pueval.ranking.pseudo_f` for the reference.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        1 or True for labeled positives, 0 or False for unlabeled rows.
    y_score : array-like of shape (n,)
        Scores; higher means more likely positive.
    prevalence : float, optional
        Share of positives in the population; the share of labeled rows if left out.
    threshold : float, optional
        Scores at or above it are predicted positive. Mean over all operating points if left out.
    {labels}

    Returns
    -------
    float

    Examples
    --------
    >>> pseudo_f_score([1, 1, 0, 0], [4, 3, 2, 1], threshold=3)
    2.0
    """
    counts = read(y_true, y_score, **labels)[0]
    return ranking.pseudo_f(counts, prevalence=prevalence, threshold=threshold)
