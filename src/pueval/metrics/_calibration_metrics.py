"""Metrics of calibration: expected calibration error, slope and intercept."""

from __future__ import annotations

from typing import Any, Unpack

from pueval._checks import check_count
from pueval.families.calibration_measures import (
    CALIBRATION_MEASURES,
    N_BINS,
    binned_calibration_error,
)
from pueval.families.mean_measures import check_probabilities
from pueval.metrics._shared_arguments import (
    CorrectionArguments,
    clip_with_warning,
    expand_shared_arguments,
    read_arguments,
)


@expand_shared_arguments
def expected_calibration_error(
    y_true: Any,
    y_prob: Any,
    *,
    prior: float,
    n_bins: int = N_BINS,
    **options: Unpack[CorrectionArguments],
) -> float:
    """Calibration error (ECE), corrected for unlabeled positives and for noise.

    Mean distance of mean score and share of positives over bins with about equally many rows of the
    target. In a bin, the share of positives is π·γ/θ, where π is the prevalence, γ the share of the
    positives and θ the share of all rows that fall into the bin. Because shares are noisy, their
    distances are too large on average: each is replaced by the distance ``abs(μ)`` for which the
    absolute value of a normal number with mean μ and standard deviation σ, the standard error of
    the share, has the observed distance as its mean; 0 if there is none.
    Assumes random labeling, and independent rows. For an interval see
    `pueval.Evaluation.calibration`.

    Parameters
    ----------
    {y_prob}
    n_bins : int, default 10
        Number of bins.
    {options}

    Returns
    -------
    float
        In [0, 1]; lower is better.

    References
    ----------
    Naeini, Cooper and Hauskrecht (2015), Obtaining well calibrated probabilities using Bayesian
    binning, for the error. Kumar, Liang and Ma (2019), Verified uncertainty calibration, for the
    effect of noise.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> p = rng.beta(1, 3, size=20_000)
    >>> positive = rng.random(20_000) < p                   # calibrated, and 25% positive
    >>> labeled = positive & (rng.random(20_000) < 0.5)
    >>> round(expected_calibration_error(labeled, p, prior=0), 3)
    0.125
    >>> expected_calibration_error(labeled, p, prior=0.125 / 0.875) < 0.01
    True
    """
    check_count("n_bins", n_bins, least=1)
    counts, mixture, target = read_arguments(y_true, y_prob, prior, **options)
    check_probabilities(counts, "expected_calibration_error")
    value = binned_calibration_error(counts, mixture, target, n_bins)
    return clip_with_warning("expected_calibration_error", value, 0.0, 1.0)


def _line_metric(
    name: str, y_true: Any, y_prob: Any, prior: float, options: CorrectionArguments
) -> float:
    counts, mixture, target = read_arguments(y_true, y_prob, prior, **options)
    check_probabilities(counts, name)
    return CALIBRATION_MEASURES[name](counts, mixture, target)


@expand_shared_arguments
def calibration_slope(
    y_true: Any, y_prob: Any, *, prior: float, **options: Unpack[CorrectionArguments]
) -> float:
    """Slope of the calibration line, corrected for unlabeled positives; 1 if calibrated.

    Intercept a and slope b are those of a logistic regression of the true class on the log-odds x
    of the probabilities. They maximize π·E(a + b·x | positive) − E log(1 + exp(a + b·x)), where π
    is the prevalence; E(x | positive) comes from the labeled rows. Probabilities of 0 and 1 are
    moved inside as for `log_loss`. Assumes random labeling. For an interval and a test see
    `pueval.Evaluation.calibration`.

    Parameters
    ----------
    {y_prob}
    {options}

    Returns
    -------
    float
        Below 1 if probabilities are too extreme; NaN if the likelihood has no maximum.

    References
    ----------
    Cox (1958), Two further applications of a model for binary regression.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> p = rng.random(20_000) ** 3
    >>> positive = rng.random(20_000) < p                   # calibrated, and 25% positive
    >>> labeled = positive & (rng.random(20_000) < 0.5)
    >>> round(calibration_slope(labeled, p, prior=0), 1)
    0.6
    >>> round(calibration_slope(labeled, p, prior=0.125 / 0.875), 1)
    1.0
    """
    return _line_metric("calibration_slope", y_true, y_prob, prior, options)


@expand_shared_arguments
def calibration_intercept(
    y_true: Any, y_prob: Any, *, prior: float, **options: Unpack[CorrectionArguments]
) -> float:
    """Intercept of the calibration line, corrected for unlabeled positives; 0 if calibrated.

    See `calibration_slope` for the line and its assumptions.

    Parameters
    ----------
    {y_prob}
    {options}

    Returns
    -------
    float
        NaN if the likelihood has no maximum.

    References
    ----------
    Cox (1958), Two further applications of a model for binary regression.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> p = rng.random(20_000) ** 3
    >>> positive = rng.random(20_000) < p                   # calibrated, and 25% positive
    >>> labeled = positive & (rng.random(20_000) < 0.5)
    >>> round(calibration_intercept(labeled, p, prior=0), 1)
    -1.4
    >>> round(abs(calibration_intercept(labeled, p, prior=0.125 / 0.875)), 1)
    0.0
    """
    return _line_metric("calibration_intercept", y_true, y_prob, prior, options)
