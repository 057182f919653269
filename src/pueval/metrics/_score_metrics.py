"""Metrics of scores: areas, curves, and prior-free measures of a ranking."""

from __future__ import annotations

from typing import Any, Literal, Unpack, get_args

from pueval import ranking
from pueval._checks import check_choice
from pueval._typing import Array, Target
from pueval.core.average_precision import average_precision
from pueval.core.curves import (
    correct_precision_recall,
    correct_roc,
    correct_roc_from_corners,
    direct_auc,
    naive_auc,
)
from pueval.core.mixture import Mixture
from pueval.core.rates import correct_steps, labeled_contrast
from pueval.counts.counts import Counts
from pueval.errors import warn_caller
from pueval.families.ranked_rows import RankedRows
from pueval.families.roc_measures import partial_auc
from pueval.metrics._shared_arguments import (
    CorrectionArguments,
    LabelArguments,
    check_part,
    clip_with_warning,
    expand_shared_arguments,
    read_arguments,
)
from pueval.sensitivity.feasibility import infeasibility_message
from pueval.uncertainty.delong import delong_standard_error as naive_standard_error

Method = Literal["direct", "indirect"]


def _read_and_check(
    y_true: Any, y_score: Any, prior: float, options: CorrectionArguments
) -> tuple[Counts, Mixture, Target]:
    """Read the arguments of a metric; warn if the ranking contradicts the prior and purity."""
    counts, mixture, target = read_arguments(y_true, y_score, prior, **options)
    message = infeasibility_message(counts, mixture)
    if message:
        warn_caller(message)
    return counts, mixture, target


@expand_shared_arguments
def roc_auc_score(
    y_true: Any,
    y_score: Any,
    *,
    prior: float,
    method: Method = "direct",
    max_fpr: float | None = None,
    **options: Unpack[CorrectionArguments],
) -> float:
    """Area under the ROC curve, corrected for unlabeled positives.

    The direct form is (AUC_pu − (1 − (purity − prior))/2) / (purity − prior), where AUC_pu is the
    AUC of labeled positives against unlabeled rows. It is unbiased, and its ranking of classifiers
    does not depend on the prior. The indirect form is the area under the curve of `roc_curve`,
    which is often more accurate in small samples. Assumes random labeling.

    Parameters
    ----------
    {rows}
    method : {"direct", "indirect"}, default "direct"
        Form of the correction.
    max_fpr : float, optional
        Highest false positive rate, in (0, 1]. The area up to it, along the curve of `roc_curve`,
        is standardized to .5·(1 + (area − f²/2)/(f − f²/2)), as in scikit-learn: 1 for a perfect
        and .5 for a random ranking.
    {options}

    Returns
    -------
    float
        Corrected AUC, clipped to [0, 1] with an AssumptionWarning.

    References
    ----------
    Jain, White and Radivojac (2017), equation 4 and algorithm 1. McClish (1989), Analyzing a
    portion of the ROC curve, for ``max_fpr``.

    Examples
    --------
    >>> y_true, y_score = [1, 1, 0, 0, 0, 0], [6, 4, 5, 3, 2, 1]
    >>> roc_auc_score(y_true, y_score, prior=0.0)
    0.875
    >>> roc_auc_score(y_true, y_score, prior=0.2)
    0.96875
    >>> roc_auc_score(y_true, y_score, prior=0.0, max_fpr=0.5)
    0.8333333333333333
    """
    check_choice("method", method, get_args(Method))
    counts, mixture, target = _read_and_check(y_true, y_score, prior, options)
    corners = counts._roc_corners()
    if max_fpr is not None and check_part("max_fpr", max_fpr) < 1:
        measure = partial_auc(max_fpr)
        return RankedRows(counts, corners, target).value(measure, mixture)
    if method == "direct":
        return clip_with_warning("roc_auc", direct_auc(counts, naive_auc(counts, corners), mixture))
    return correct_roc_from_corners(counts, corners, mixture, target).area


@expand_shared_arguments
def delong_standard_error(
    y_true: Any, y_score: Any, *, prior: float, **options: Unpack[CorrectionArguments]
) -> float:
    """Plain DeLong standard error of the directly corrected AUC.

    DeLong's standard error of the AUC of labeled positives against unlabeled rows, divided by
    purity − prior. With ``prior=0`` it is the value of pROC and other programs. Do not build
    intervals from it for good rankings or few rows: it is too small there, and 0 for a perfect
    ranking. ``evaluate(...)["roc_auc"].standard_error`` therefore adds one pseudo-observation per
    class. Unlabeled rows and known negatives are samples of their own. Assumes random labeling.

    Parameters
    ----------
    {rows}
    {options}

    Returns
    -------
    float
        NaN for a single labeled row.

    References
    ----------
    DeLong, DeLong and Clarke-Pearson (1988).

    Examples
    --------
    >>> y_true, y_score = [1, 1, 0, 0, 0, 0], [6, 4, 5, 3, 2, 1]
    >>> round(delong_standard_error(y_true, y_score, prior=0.0), 4)
    0.1768
    >>> round(delong_standard_error(y_true, y_score, prior=0.2), 4)
    0.221
    """
    counts, mixture, _ = read_arguments(y_true, y_score, prior, **options)
    error = naive_standard_error(counts, counts._roc_corners(), pseudo_observation=False)
    return float(error / labeled_contrast(mixture, counts))


@expand_shared_arguments
def average_precision_score(
    y_true: Any, y_score: Any, *, prior: float, **options: Unpack[CorrectionArguments]
) -> float:
    """Average precision, corrected for unlabeled positives.

    The sum over thresholds of precision times the increase in recall, along the curve of
    `precision_recall_curve` with ``drop_intermediate=True``. Corrected rates are clipped to [0, 1],
    and the false positive rate at a recall is the lowest of all thresholds with at least this
    recall, as on the ROC curve of Jain et al. Assumes random labeling.

    Parameters
    ----------
    {rows}
    {options}

    Returns
    -------
    float
        Corrected average precision, in [0, 1].

    References
    ----------
    Jain, White and Radivojac (2017), equation 3 and algorithm 1.

    Examples
    --------
    >>> y_true, y_score = [1, 1, 0, 0, 0, 0], [6, 4, 5, 3, 2, 1]
    >>> round(average_precision_score(y_true, y_score, prior=0.0), 4)
    0.8333
    """
    counts, mixture, target = _read_and_check(y_true, y_score, prior, options)
    return float(average_precision(correct_steps(counts, counts._roc_corners(), mixture, target)))


@expand_shared_arguments
def roc_curve(
    y_true: Any,
    y_score: Any,
    *,
    prior: float,
    drop_intermediate: bool = True,
    **options: Unpack[CorrectionArguments],
) -> tuple[Array, Array, Array]:
    """ROC curve, corrected for unlabeled positives.

    Corrected rates are made a valid, monotone curve: rates are clipped to [0, 1], and each true
    positive rate gets the lowest false positive rate of all points that reach it.
    Assumes random labeling.

    Parameters
    ----------
    {rows}
    drop_intermediate : bool, default True
        Whether to drop points on straight segments of the curve.
    {options}

    Returns
    -------
    fpr, tpr, thresholds : ndarray
        Points of the curve. Without a correction, thresholds descend; with one, they may not.

    References
    ----------
    Jain, White and Radivojac (2017), equations 1, 2 and algorithm 1.

    Examples
    --------
    >>> fpr, tpr, thresholds = roc_curve([1, 1, 0, 0, 0], [5, 3, 4, 2, 1], prior=0.25)
    >>> fpr.round(3), tpr
    (array([0.   , 0.   , 0.111, 0.111, 1.   ]), array([0. , 0.5, 0.5, 1. , 1. ]))
    """
    counts, mixture, target = _read_and_check(y_true, y_score, prior, options)
    if drop_intermediate:
        curve = correct_roc_from_corners(counts, counts._roc_corners(), mixture, target)
    else:
        steps = counts.steps()
        curve = correct_roc(steps, correct_steps(counts, steps, mixture, target))
    return curve.fpr, curve.tpr, curve.threshold


@expand_shared_arguments
def precision_recall_curve(
    y_true: Any,
    y_score: Any,
    *,
    prior: float,
    drop_intermediate: bool = False,
    **options: Unpack[CorrectionArguments],
) -> tuple[Array, Array, Array]:
    """Precision-recall curve, corrected for unlabeled positives.

    Precision is π·tpr/θ and recall is tpr, where π is the prevalence and θ the share predicted
    positive. Rates are clipped to [0, 1], and each recall gets the highest precision of all
    thresholds that reach it, as on the corrected ROC curve. Assumes random labeling.

    Parameters
    ----------
    {rows}
    drop_intermediate : bool, default False
        Whether to drop points on straight segments of the ROC curve.
    {options}

    Returns
    -------
    precision, recall, thresholds : ndarray
        Points of the curve, recall descending. The last point, with precision 1 and recall 0, has
        no threshold.

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
    counts, mixture, target = _read_and_check(y_true, y_score, prior, options)
    steps = counts._roc_corners() if drop_intermediate else counts.steps()
    curve = correct_precision_recall(correct_steps(counts, steps, mixture, target))
    return curve.precision[::-1], curve.recall[::-1], curve.threshold[:0:-1]


@expand_shared_arguments
def pulp_score(
    y_true: Any, y_score: Any, *, threshold: float | None = None, **labels: Unpack[LabelArguments]
) -> float:
    """Probability that random predictions find fewer labeled positives (PULP), without a prior.

    See `pueval.ranking.pulp` for the formula and the reference.

    Parameters
    ----------
    {rows}
    threshold : float, optional
        Threshold; scores at or above it are predicted positive. By default, the mean over all
        operating points.
    {labels}

    Returns
    -------
    float

    Examples
    --------
    >>> round(pulp_score([1, 1, 0, 0], [4, 3, 2, 1]), 4)
    0.3667
    """
    return ranking.pulp(read_arguments(y_true, y_score, **labels)[0], threshold=threshold)


@expand_shared_arguments
def lee_liu_score(
    y_true: Any, y_score: Any, *, threshold: float | None = None, **labels: Unpack[LabelArguments]
) -> float:
    """Recall² divided by the share predicted positive (Lee and Liu), without a prior.

    See `pueval.ranking.lee_liu` for the formula and the reference.

    Parameters
    ----------
    {rows}
    threshold : float, optional
        Threshold; scores at or above it are predicted positive. By default, the mean over all
        operating points.
    {labels}

    Returns
    -------
    float

    Examples
    --------
    >>> lee_liu_score([1, 1, 0, 0], [4, 3, 2, 1], threshold=3)
    2.0
    """
    return ranking.lee_liu(read_arguments(y_true, y_score, **labels)[0], threshold=threshold)


@expand_shared_arguments
def pseudo_f_score(
    y_true: Any,
    y_score: Any,
    *,
    prevalence: float | None = None,
    threshold: float | None = None,
    **labels: Unpack[LabelArguments],
) -> float:
    """Pseudo-F measure, 2·recall / (share predicted positive + prevalence).

    See `pueval.ranking.pseudo_f` for the reference.

    Parameters
    ----------
    {rows}
    prevalence : float, optional
        Share of positives in the population, in (0, 1]; by default the share of labeled rows.
    threshold : float, optional
        Threshold; scores at or above it are predicted positive. By default, the mean over all
        operating points.
    {labels}

    Returns
    -------
    float

    Examples
    --------
    >>> pseudo_f_score([1, 1, 0, 0], [4, 3, 2, 1], threshold=3)
    2.0
    """
    counts = read_arguments(y_true, y_score, **labels)[0]
    return ranking.pseudo_f(counts, prevalence=prevalence, threshold=threshold)
