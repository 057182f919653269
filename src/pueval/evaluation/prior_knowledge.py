"""How well the prior is known: exactly, well, poorly or not at all."""

from __future__ import annotations

from typing import Literal

import numpy as np

from pueval._typing import Range, Target
from pueval.core.average_precision import average_precision
from pueval.core.measures import MEASURES
from pueval.core.mixture import Mixture
from pueval.core.rates import correct_steps
from pueval.counts.counts import Counts
from pueval.samples.steps import Steps

Knowledge = Literal["given", "well", "poorly", "not"]

# A prior is known well if its interval spans at most this factor …
WELL_KNOWN_RATIO = 2.0
# … and moves neither precision nor average precision by more than this.
WELL_KNOWN_EFFECT = 0.2
# It is not known if its interval starts below NEGLIGIBLE times its end, and the end reaches
# NEAR_LARGEST times the largest prior that the data allow.
NEGLIGIBLE, NEAR_LARGEST = 0.02, 0.9


def grade_prior(interval: Range, effect: float, largest: float | None) -> Knowledge:
    """Grade what is known about a prior.

    The rule is relative, so that it also serves for rare positives: 1 to 100 hidden positives
    among 100,000 rows is a narrow interval of the prior, and poor knowledge.

    Parameters
    ----------
    interval : tuple of float
        Confidence interval of the prior, or the interval that was given.
    effect : float
        Largest change of precision or average precision within the interval.
    largest : float or None
        Largest prior that the data allow; None if the prior was not estimated.

    Returns
    -------
    {"well", "poorly", "not"}

    Examples
    --------
    >>> grade_prior((0.25, 0.35), 0.1, 0.4)
    'well'
    >>> grade_prior((0.0002, 0.017), 0.4, 0.05)
    'poorly'
    >>> grade_prior((0.0, 0.6), 0.7, 0.6)
    'not'
    """
    low, high = interval
    if largest is not None and low <= NEGLIGIBLE * high and high >= NEAR_LARGEST * largest:
        return "not"
    if high <= WELL_KNOWN_RATIO * low and effect <= WELL_KNOWN_EFFECT:
        return "well"
    return "poorly"


def prior_effect(
    counts: Counts,
    corners: Steps,
    mixture: Mixture,
    interval: Range,
    target: Target,
    threshold: float,
) -> float:
    """Return the largest change of precision or average precision within an interval of the prior.

    Parameters
    ----------
    counts : Counts
        The data.
    corners : Steps
        Counts at the corners of the ROC curve.
    mixture : Mixture
        Prior and purity.
    interval : tuple of float
        Interval of the prior.
    target : {"population", "unlabeled"}
        Population to evaluate.
    threshold : float
        Threshold of the precision.
    """
    steps = counts.at(threshold)
    precision = MEASURES["precision"]
    values = []
    for prior in interval:
        end = Mixture(min(prior, mixture.purity * (1 - 1e-6)), mixture.purity)
        rates = correct_steps(counts, steps, end, target)
        area = average_precision(correct_steps(counts, corners, end, target))
        values.append((float(area), precision.clip(float(precision(rates)[0]))))
    changes = np.abs(np.diff(values, axis=0))
    return float(np.nanmax(changes)) if np.isfinite(changes).any() else 0.0
