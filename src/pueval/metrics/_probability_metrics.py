"""Metrics of predicted probabilities: Brier score, log loss, skill scores, net benefit."""

from __future__ import annotations

from typing import Any, Literal, Unpack

import numpy as np

from pueval._checks import check_choice, check_count
from pueval._typing import Array
from pueval.core.rates import correct_steps
from pueval.families.calibration_line import calibration_bins, quantile_edges
from pueval.families.mean_measures import (
    MEAN_MEASURES,
    check_probabilities,
    probabilities_inside,
)
from pueval.families.net_benefit import check_risk_threshold
from pueval.families.net_benefit import net_benefit as net_benefit_measure
from pueval.families.score_means import ScoreMeans
from pueval.metrics._shared_arguments import (
    CorrectionArguments,
    clip_with_warning,
    expand_shared_arguments,
    read_arguments,
)
from pueval.sources.arrays import check_same_order, one_column


def _mean_measure(
    name: str, y_true: Any, probability: Any, prior: float, options: CorrectionArguments
) -> float:
    """Return a corrected measure of probabilities."""
    measure = MEAN_MEASURES[name]
    if measure.functions is MEAN_MEASURES["log_loss"].functions:
        check_same_order({"y_true": y_true, "y_pred": probability})
        probability = _inside_by_own_type(probability)
    counts, mixture, target = read_arguments(y_true, probability, prior, **options)
    check_probabilities(counts, name)
    means = ScoreMeans(counts, measure.functions).corrected(mixture, target)
    return clip_with_warning(name, float(measure(means)), measure.low, measure.high)


def _inside_by_own_type(probability: Any) -> Any:
    """Move 0 and 1 inside by the precision of the type that was passed, as scikit-learn does.

    Counts hold integers, booleans and float16 as float32, which has another precision.
    """
    dtype = str(getattr(probability, "dtype", "")).removeprefix("torch.")
    if dtype in {"float32", "float64"}:
        return probability
    p = one_column(probability, "score")
    if dtype == "float16":
        p = p.astype(np.float16)  # a tensor, which was read as float32
    if p.dtype.kind in "biu" or p.dtype == np.float16:
        # Others are refused below.
        p = np.where((p >= 0) & (p <= 1), probabilities_inside(p), p)
    return p


@expand_shared_arguments
def brier_score_loss(
    y_true: Any, y_proba: Any, *, prior: float, **options: Unpack[CorrectionArguments]
) -> float:
    """Brier score, corrected for unlabeled positives: mean squared error of probabilities.

    With predicted probability p and class t, E(p − t)² = E p² − 2·π·E(p | positive) + π, where π
    is the prevalence. E p² needs no labels, and E(p | positive) comes from the labeled rows,
    corrected for their purity. Assumes random labeling.

    Parameters
    ----------
    {y_proba}
    {options}

    Returns
    -------
    float
        Corrected Brier score, clipped to [0, 1] with an AssumptionWarning; lower is better.

    References
    ----------
    Brier (1950), Verification of forecasts expressed in terms of probability.

    Examples
    --------
    >>> y_true, y_proba = [1, 1, 0, 0, 0], [0.9, 0.7, 0.8, 0.2, 0.1]
    >>> round(brier_score_loss(y_true, y_proba, prior=0.0), 3)
    0.158
    >>> round(brier_score_loss(y_true, y_proba, prior=0.3), 3)
    0.05
    """
    return _mean_measure("brier_score_loss", y_true, y_proba, prior, options)


@expand_shared_arguments
def calibration_curve(
    y_true: Any,
    y_prob: Any,
    *,
    prior: float,
    n_bins: int = 5,
    strategy: Literal["uniform", "quantile"] = "uniform",
    **options: Unpack[CorrectionArguments],
) -> tuple[Array, Array]:
    """Calibration curve, corrected for unlabeled positives.

    In a bin of scores, the share of positives is π·γ/θ, where π is the prevalence, γ the share of
    the positives and θ the share of all rows that fall into the bin. Assumes random labeling. For
    intervals, slope and intercept see `pueval.Evaluation.calibration`.

    Parameters
    ----------
    {y_prob}
    n_bins : int, default 5
        Number of bins.
    strategy : {"uniform", "quantile"}, default "uniform"
        Bins of equal width, or with about equally many rows of the target.
    {options}

    Returns
    -------
    prob_true, prob_pred : ndarray
        Share of positives and mean score of every bin with rows, by ascending score. Shares are
        clipped to [0, 1].

    References
    ----------
    Van Calster et al. (2019), Calibration: the Achilles heel of predictive analytics.

    Examples
    --------
    >>> prob_true, prob_pred = calibration_curve(
    ...     [1, 1, 0, 0, 0, 0], [0.9, 0.7, 0.8, 0.6, 0.2, 0.1], prior=0.25, n_bins=2)
    >>> prob_true, prob_pred
    (array([0.  , 0.75]), array([0.15, 0.75]))
    """
    check_choice("strategy", strategy, ("uniform", "quantile"))
    check_count("n_bins", n_bins, least=1)
    counts, mixture, target = read_arguments(y_true, y_prob, prior, **options)
    check_probabilities(counts, "calibration_curve")
    edges = np.linspace(0, 1, n_bins + 1)[1:-1]
    if strategy == "quantile":
        edges = quantile_edges(counts, target, n_bins)
    bins = calibration_bins(counts, mixture, target, edges)
    keep = bins.rows > 0
    return np.clip(bins.observed, 0, 1)[keep][::-1], bins.score[keep][::-1]


@expand_shared_arguments
def log_loss(
    y_true: Any, y_pred: Any, *, prior: float, **options: Unpack[CorrectionArguments]
) -> float:
    """Log loss (cross-entropy), corrected for unlabeled positives.

    With predicted probability p, the loss is −E log(1 − p) − π·E(logit p | positive), where π is
    the prevalence. Probabilities of 0 and 1 are moved inside by the precision of their type, as
    scikit-learn does. Assumes random labeling.

    Parameters
    ----------
    {y_pred}
    {options}

    Returns
    -------
    float
        Corrected log loss in nats, at least 0 (clipped with an AssumptionWarning); lower is
        better.

    References
    ----------
    Good (1952), Rational decisions.

    Examples
    --------
    >>> y_true, y_pred = [1, 1, 0, 0, 0], [0.9, 0.7, 0.8, 0.2, 0.1]
    >>> round(log_loss(y_true, y_pred, prior=0.0), 3), round(log_loss(y_true, y_pred, prior=0.3), 3)
    (0.48, 0.206)
    """
    return _mean_measure("log_loss", y_true, y_pred, prior, options)


@expand_shared_arguments
def d2_brier_score(
    y_true: Any, y_proba: Any, *, prior: float, **options: Unpack[CorrectionArguments]
) -> float:
    """Brier skill score, corrected for unlabeled positives.

    1 − Brier / (π·(1 − π)): the part of the Brier score of the constant prediction π, the
    prevalence, that the probabilities remove. Assumes random labeling.

    Parameters
    ----------
    {y_proba}
    {options}

    Returns
    -------
    float
        At most 1 (clipped with an AssumptionWarning); 0 is as good as the prevalence. NaN without
        both classes.

    References
    ----------
    Brier (1950), Verification of forecasts expressed in terms of probability.

    Examples
    --------
    >>> y_true, y_proba = [1, 1, 0, 0, 0], [0.9, 0.7, 0.8, 0.2, 0.1]
    >>> round(d2_brier_score(y_true, y_proba, prior=0.0), 2)
    0.34
    """
    return _mean_measure("d2_brier_score", y_true, y_proba, prior, options)


@expand_shared_arguments
def d2_log_loss_score(
    y_true: Any, y_pred: Any, *, prior: float, **options: Unpack[CorrectionArguments]
) -> float:
    """Skill score of the log loss, corrected for unlabeled positives.

    1 − log loss / H(π), where H(π) = −π·log π − (1 − π)·log(1 − π) is the log loss of the constant
    prediction π, the prevalence. Assumes random labeling.

    Parameters
    ----------
    {y_pred}
    {options}

    Returns
    -------
    float
        At most 1 (clipped with an AssumptionWarning); 0 is as good as the prevalence. NaN without
        both classes.

    References
    ----------
    Good (1952), Rational decisions.

    Examples
    --------
    >>> y_true, y_pred = [1, 1, 0, 0, 0], [0.9, 0.7, 0.8, 0.2, 0.1]
    >>> round(d2_log_loss_score(y_true, y_pred, prior=0.0), 2)
    0.29
    """
    return _mean_measure("d2_log_loss_score", y_true, y_pred, prior, options)


@expand_shared_arguments
def net_benefit(
    y_true: Any,
    y_prob: Any,
    *,
    prior: float,
    threshold: float,
    standardized: bool = False,
    **options: Unpack[CorrectionArguments],
) -> float:
    """Net benefit of treating rows from a risk threshold on, corrected for unlabeled positives.

    π·tpr − (1 − π)·fpr·q/(1 − q) at the risk threshold q, where π is the prevalence. Treating
    nobody has a net benefit of 0, treating everybody one of π − (1 − π)·q/(1 − q). Assumes random
    labeling. For intervals and curves see `pueval.Evaluation.decision_curve`.

    Parameters
    ----------
    {y_prob}
    threshold : float
        Risk from which you would treat, between 0 and 1.
    standardized : bool, default False
        Whether to divide by π, the net benefit of a perfect classifier.
    {options}

    Returns
    -------
    float
        At most the prevalence, or 1 if standardized (clipped with an AssumptionWarning); higher is
        better.

    References
    ----------
    Vickers and Elkin (2006), Decision curve analysis.

    Examples
    --------
    >>> y_true, y_prob = [1, 1, 0, 0, 0], [0.9, 0.7, 0.8, 0.2, 0.1]
    >>> round(net_benefit(y_true, y_prob, prior=0.0, threshold=0.5), 3)
    0.2
    >>> round(net_benefit(y_true, y_prob, prior=0.3, threshold=0.5), 3)
    0.56
    """
    counts, mixture, target = read_arguments(y_true, y_prob, prior, **options)
    prevalence = mixture.prevalence(counts, target)
    measure = net_benefit_measure(
        check_risk_threshold(threshold),
        standardized=standardized,
        prevalences=(prevalence, prevalence),
    )
    check_probabilities(counts, "net_benefit")
    rates = correct_steps(counts, counts.at(threshold), mixture, target)
    return clip_with_warning("net_benefit", float(measure(rates)[0]), measure.low, measure.high)
