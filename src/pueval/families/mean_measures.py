"""Measures that are formulas of means: proper scores of predicted probabilities.

To add a measure, write the functions of the score that it needs, its formula of their `Means`, and
a line in `MEAN_MEASURES`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy  # loads its submodules when they are first used

from pueval._typing import Array
from pueval.core.measures import clip
from pueval.counts.counts import Counts
from pueval.errors import InputError
from pueval.families.score_means import Means, ScoreFunctions
from pueval.samples.sample import score_range


@dataclass(frozen=True)
class MeanMeasure:
    """A number computed from means of functions of the score.

    Attributes
    ----------
    name, title : str
        scikit-learn's name if it has one, and the name to show.
    functions : callable
        From scores to an array with one line per function.
    formula : callable
        From the `Means` of these functions to the measure.
    low, high : float
        Range of the true value.
    greater_is_better : bool or None
        Whether a higher value is better; None if neither is, and values near 0 are good.
    """

    name: str
    title: str
    functions: ScoreFunctions
    formula: Callable[[Means], Array]
    low: float = 0.0
    high: float = 1.0
    greater_is_better: bool | None = False

    def __call__(self, means: Means) -> Array:
        """Compute the measure; not clipped."""
        return np.asarray(self.formula(means), dtype=np.float64)

    def clip(self, value: float) -> float:
        """Clip an estimate to the range of the measure; NaN stays NaN."""
        return clip(value, self.low, self.high)


def _score_and_square(score: Array) -> Array:
    p = score.astype(np.float64)
    return np.stack([p, p * p])


def _brier(means: Means) -> Array:
    """Return E(p − t)² = E p² − 2·prevalence·E(p | positive) + prevalence."""
    share = means.prevalence
    value: Array = means.everybody[..., 1] - 2 * share * means.positive[..., 0] + share
    return value


def _d2_brier(means: Means) -> Array:
    share = means.prevalence
    return 1 - _brier(means) / np.where(_varies(share), share * (1 - share), np.nan)


def probabilities_inside(score: Array) -> Array:
    """Move probabilities of 0 and 1 inside by the precision of their type, as scikit-learn does."""
    smallest = np.finfo(score.dtype).eps if score.dtype.kind == "f" else np.finfo(np.float64).eps
    return np.clip(score, smallest, 1 - smallest).astype(np.float64)


def _logarithms(score: Array) -> Array:
    p = probabilities_inside(score)
    of_negative = -np.log1p(-p)
    return np.stack([of_negative, np.log(p) + of_negative])


def _log_loss(means: Means) -> Array:
    """Return −E log(1 − p) − prevalence·E(logit p | positive)."""
    value: Array = means.everybody[..., 0] - means.prevalence * means.positive[..., 1]
    return value


def _d2_log_loss(means: Means) -> Array:
    share = means.prevalence
    entropy = scipy.special.entr(share) + scipy.special.entr(1 - np.asarray(share))
    return 1 - _log_loss(means) / np.where(_varies(share), entropy, np.nan)


def _varies(share: float | Array) -> Array:
    """Return where there are positives and negatives, so that a constant is no perfect guess."""
    return (np.asarray(share) > 0) & (np.asarray(share) < 1)


def _excess(means: Means) -> Array:
    value: Array = means.everybody[..., 0] - means.prevalence
    return value


MEAN_MEASURES = {
    measure.name: measure
    for measure in (
        MeanMeasure("brier_score_loss", "Brier score", _score_and_square, _brier),
        MeanMeasure("log_loss", "Log loss", _logarithms, _log_loss, high=math.inf),
        MeanMeasure(
            "d2_brier_score",
            "Brier skill score",
            _score_and_square,
            _d2_brier,
            low=-math.inf,
            greater_is_better=True,
        ),
        MeanMeasure(
            "d2_log_loss_score",
            "Log loss skill score",
            _logarithms,
            _d2_log_loss,
            low=-math.inf,
            greater_is_better=True,
        ),
        MeanMeasure(
            "calibration_in_the_large",
            "Mean score − prevalence",
            _score_and_square,
            _excess,
            low=-1.0,
            greater_is_better=None,
        ),
    )
}


def check_probabilities(counts: Counts, what: str) -> None:
    """Refuse scores outside [0, 1] where probabilities are needed."""
    low, high = map(float, score_range(counts._samples))
    if low < 0 or high > 1:
        rounded = f"{high:.4g}"
        # Sums of probabilities can exceed 1 by a rounding error only.
        highest = repr(high) if high > 1 == float(rounded) else rounded
        raise InputError(
            f"{what} needs probabilities, but scores range from {low:.4g} to {highest}. Pass "
            "predict_proba(X)[:, 1], or map scores to probabilities with "
            "pueval.calibration.Recalibrator().cross_fitted(score, y)."
        )
