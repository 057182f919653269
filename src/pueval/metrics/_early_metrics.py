"""Metrics of early recognition: enrichment, RIE, BEDROC, logAUC, area under the lift curve."""

from __future__ import annotations

from typing import Any, Unpack

from pueval.families import roc_measures, top_measures
from pueval.families.top_measure import first_rows
from pueval.metrics._shared_arguments import CorrectionArguments, expand_shared_arguments
from pueval.metrics._top_metrics import top_metric


@expand_shared_arguments
def enrichment_factor(
    y_true: Any,
    y_score: Any,
    *,
    share: float = top_measures.TOP_SHARE,
    prior: float | None = None,
    **options: Unpack[CorrectionArguments],
) -> float:
    """Enrichment factor, or lift, of the rows with the highest scores.

    γ·N/k, where γ is the share of the positives among the first k = ⌈share·N⌉ rows, as in RDKit.
    It needs no prior if labels are clean: a random ranking of labeled rows has 1, as one of all
    positives has. Tied rows count by the expectation over their orders. Assumes random labeling.

    Parameters
    ----------
    {rows}
    share : float, default 0.01
        Share of the target, in (0, 1].
    {prior_free}

    Returns
    -------
    float
        Enrichment factor, at least 0 (clipped with an AssumptionWarning). With few labeled rows it
        can be above 1/π, the largest at a prevalence of π, which it does not use.

    References
    ----------
    Truchon and Bayly (2007), Evaluating virtual screening methods.

    Examples
    --------
    >>> y_true, y_score = [1, 0, 0, 0, 1, 0, 0, 0, 0, 0], [9, 8, 7, 6, 5, 4, 3, 2, 1, 0]
    >>> enrichment_factor(y_true, y_score, share=0.2)
    2.5
    """
    measure = top_measures.enrichment(first_rows(share=share))
    return top_metric(measure, y_true, y_score, prior, options)


@expand_shared_arguments
def rie(
    y_true: Any,
    y_score: Any,
    *,
    alpha: float = top_measures.DECAY,
    prior: float | None = None,
    **options: Unpack[CorrectionArguments],
) -> float:
    """Robust initial enhancement (RIE): an exponentially weighted enrichment.

    The mean of exp(−α·r/N) over the positives, with rank r, divided by the mean over all N rows, as
    in RDKit. It needs no prior if labels are clean. Tied rows count by the expectation over their
    orders. Assumes random labeling.

    Parameters
    ----------
    {rows}
    alpha : float, default 20.0
        Rate of the exponential weight: the first 1/α of the rows count most.
    {prior_free}

    Returns
    -------
    float
        RIE, at least 0 (clipped with an AssumptionWarning); 1 for a random ranking.

    References
    ----------
    Sheridan et al. (2001), Protocols for bridging the peptide to nonpeptide gap in topological
    similarity searches.

    Examples
    --------
    >>> y_true, y_score = [1, 0, 0, 0, 1, 0, 0, 0, 0, 0], [9, 8, 7, 6, 5, 4, 3, 2, 1, 0]
    >>> round(rie(y_true, y_score), 4)
    4.3248
    """
    return top_metric(top_measures.rie(alpha), y_true, y_score, prior, options)


@expand_shared_arguments
def bedroc_score(
    y_true: Any,
    y_score: Any,
    *,
    prior: float,
    alpha: float = top_measures.DECAY,
    **options: Unpack[CorrectionArguments],
) -> float:
    """BEDROC, the Boltzmann-enhanced discrimination of ROC, corrected for unlabeled positives.

    (RIE − least)/(largest − least), with the least and largest RIE at the prevalence π:
    (1 − exp(απ))/(π·(1 − exp(α))) and (1 − exp(−απ))/(π·(1 − exp(−α))). With the share of labeled
    rows in the place of π, BEDROC is too low. Assumes random labeling.

    Parameters
    ----------
    {rows}
    alpha : float, default 20.0
        Rate of the exponential weight of ranks: the first 1/α of the rows count most.
    {options}

    Returns
    -------
    float
        Corrected BEDROC, clipped to [0, 1] with an AssumptionWarning.

    References
    ----------
    Truchon and Bayly (2007), Evaluating virtual screening methods: good and bad metrics for the
    "early recognition" problem.

    Examples
    --------
    >>> y_true, y_score = [1, 0, 0, 0, 1, 0, 0, 0, 0, 0], [9, 8, 7, 6, 5, 4, 3, 2, 1, 0]
    >>> round(bedroc_score(y_true, y_score, prior=0.0), 4)
    0.8811
    """
    return top_metric(top_measures.bedroc(alpha), y_true, y_score, prior, options)


@expand_shared_arguments
def logauc(
    y_true: Any,
    y_score: Any,
    *,
    prior: float,
    min_fpr: float = roc_measures.LOWEST_FPR,
    **options: Unpack[CorrectionArguments],
) -> float:
    """Area under the ROC curve with a logarithmic axis, corrected for unlabeled positives.

    The mean of the true positive rate over ln(fpr), from λ = ``min_fpr`` to 1. A random ranking has
    (1 − λ)/ln(1/λ), or .145 for λ = .001. Assumes random labeling.

    This is also the mean over the positives of ln(fpr)/ln(λ), with fpr in [λ, 1] the false positive
    rate at their scores. Near 0, corrected rates are noisy. So the function is averaged over rates
    that are normal around the corrected one and not negative, with half its standard error.
    Without a correction this is the area along the curve of `roc_curve`.

    Parameters
    ----------
    {rows}
    min_fpr : float, default 0.001
        Lowest false positive rate, in (0, 1).
    {options}

    Returns
    -------
    float
        Corrected logAUC, in [0, 1].

    References
    ----------
    Mysinger and Shoichet (2010), Rapid context-dependent ligand desolvation in molecular docking.

    Examples
    --------
    >>> y_true, y_score = [1, 0, 0, 0, 1, 0, 0, 0, 0, 0], [9, 8, 7, 6, 5, 4, 3, 2, 1, 0]
    >>> round(logauc(y_true, y_score, prior=0.0), 4)
    0.571
    """
    return top_metric(roc_measures.logauc(min_fpr), y_true, y_score, prior, options)


@expand_shared_arguments
def roc_enrichment(
    y_true: Any,
    y_score: Any,
    *,
    prior: float,
    fpr: float = roc_measures.ENRICHMENT_FPR,
    **options: Unpack[CorrectionArguments],
) -> float:
    """ROC enrichment, corrected for unlabeled positives: tpr/fpr at a false positive rate.

    Unlike that of the enrichment factor, its largest value, 1/fpr, does not depend on the
    prevalence. Assumes random labeling.

    The true positive rate is the share of the positives whose scores have a false positive rate of
    at most ``fpr``. Near 0, corrected rates are noisy. So each positive counts with the probability
    of this for a rate that is normal around the corrected one and not negative, with half its
    standard error. Without a correction this is the highest point of `roc_curve` at ``fpr``.

    Parameters
    ----------
    {rows}
    fpr : float, default 0.01
        False positive rate, in (0, 1); .005, .01, .02 and .05 are usual.
    {options}

    Returns
    -------
    float
        Corrected ROC enrichment, in [0, 1/fpr].

    References
    ----------
    Jain and Nicholls (2008), Recommendations for evaluation of computational methods.

    Examples
    --------
    >>> y_true, y_score = [1, 0, 0, 0, 1, 0, 0, 0, 0, 0], [9, 8, 7, 6, 5, 4, 3, 2, 1, 0]
    >>> roc_enrichment(y_true, y_score, prior=0.0, fpr=0.25)
    2.0
    """
    return top_metric(roc_measures.roc_enrichment(fpr), y_true, y_score, prior, options)


@expand_shared_arguments
def aul(
    y_true: Any,
    y_score: Any,
    *,
    prior: float | None = None,
    **options: Unpack[CorrectionArguments],
) -> float:
    """Area under the lift curve (AUL): P(a positive comes before a random row of the target).

    A row is half before itself and rows tied with it. AUL = (1 − π)·AUC + π/2 with the prevalence
    π. It needs no prior if labels are clean. Assumes random labeling.

    Parameters
    ----------
    {rows}
    {prior_free}

    Returns
    -------
    float
        AUL, clipped to [0, 1] with an AssumptionWarning.

    References
    ----------
    Vuk and Curk (2006), ROC curve, lift chart and calibration plot.

    Examples
    --------
    >>> aul([1, 0, 0, 0, 1], [5, 4, 3, 2, 1])
    0.5
    """
    return top_metric(top_measures.area_under_lift(), y_true, y_score, prior, options)
