"""Net benefit: what it is worth to treat the rows that a classifier predicts positive.

Somebody who treats everybody with a risk of at least q counts a needless treatment as q/(1 − q) of
a missed positive: at a risk of exactly q, treating and not treating are worth the same. Net benefit
(Vickers and Elkin, 2006) is the share of true positives minus that of false positives at this
exchange rate. With corrected rates,

    net benefit = prevalence·tpr − (1 − prevalence)·fpr·q/(1 − q).

Treating nobody has a net benefit of 0, and treating everybody one of
prevalence − (1 − prevalence)·q/(1 − q). Standardized net benefit is divided by the prevalence, the
net benefit of a perfect classifier.

No true net benefit is above the prevalence, but a corrected one can be: a corrected fpr slightly
below 0 is multiplied by q/(1 − q), which is 99 at q = .99.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from pueval._checks import check_fraction
from pueval._typing import Array, Range
from pueval.core.measures import Measure, Table, _ratio
from pueval.core.rates import SMALLEST_PREVALENCE
from pueval.families.mean_measures import MeanMeasure
from pueval.families.score_means import Means


def check_risk_threshold(value: object) -> float:
    """Return a risk threshold as a float; raise if it does not lie between 0 and 1."""
    return check_fraction("the risk threshold", value)


def net_benefit(
    threshold: float, *, standardized: bool = False, prevalences: Range = (0.0, 1.0)
) -> Measure:
    """Return the net benefit of treating the predicted positives, at a risk threshold.

    ``prevalences`` are the smallest and the largest possible prevalence, which limit it.

    Examples
    --------
    >>> import numpy as np
    >>> table = Table(np.array([0.2]), np.array([0.3]), 0.25)    # tp .2, fp .1
    >>> net_benefit(0.2).formula(table), net_benefit(0.2, standardized=True).formula(table)
    (array([0.175]), array([0.7]))
    """
    odds = _odds(threshold)
    formula = partial(_net_benefit, odds=odds, standardized=standardized)
    low = -odds / SMALLEST_PREVALENCE if standardized else -odds
    high = 1.0 if standardized else prevalences[1]
    return Measure("net_benefit", "Net benefit", formula, low, high)


def treat_all(
    threshold: float, *, standardized: bool = False, prevalences: Range = (0.0, 1.0)
) -> Measure:
    """Return the net benefit of treating everybody."""
    odds = _odds(threshold)
    formula = partial(_treat_all, odds=odds, standardized=standardized)
    low = -odds / SMALLEST_PREVALENCE if standardized else -odds
    high = 1.0 if standardized else prevalences[1]
    return Measure("treat_all", "Net benefit of treating everybody", formula, low, high)


def benefit_over_treat_all(
    threshold: float, *, standardized: bool = False, prevalences: Range = (0.0, 1.0)
) -> Measure:
    """Return the net benefit beyond that of treating everybody: tn·q/(1 − q) − fn."""
    odds = _odds(threshold)
    formula = partial(_over_treat_all, odds=odds, standardized=standardized)
    high = odds * (1 - prevalences[0])
    if standardized:
        high /= max(prevalences[0], SMALLEST_PREVALENCE)
    return Measure("benefit_over_treat_all", "Gain over treating everybody", formula, -1.0, high)


def prevalence_measure() -> Measure:
    """Return the prevalence as a measure, whose interval holds the possible prevalences."""
    return Measure("prevalence", "Prevalence", _prevalence)


def _odds(threshold: float) -> float:
    return threshold / (1 - threshold)


def _scale(t: Table, *, standardized: bool) -> float | Array:
    return t.positive if standardized else t.total


def _net_benefit(t: Table, odds: float, *, standardized: bool) -> Array:
    return _ratio(t.true_positive - odds * t.false_positive, _scale(t, standardized=standardized))


def _prevalence(t: Table) -> Array:
    # One value per threshold, as every measure has.
    return _ratio(t.positive + 0 * t.predicted, t.total)


def _treat_all(t: Table, odds: float, *, standardized: bool) -> Array:
    benefit = t.positive - odds * t.negative + 0 * t.predicted
    return _ratio(benefit, _scale(t, standardized=standardized))


def _over_treat_all(t: Table, odds: float, *, standardized: bool) -> Array:
    return _ratio(odds * t.true_negative - t.false_negative, _scale(t, standardized=standardized))


# ------------------------------------------------------------------ from means of functions

# Families, scorers and differences of models use means of functions of the score of each row.


@dataclass(frozen=True)
class NetBenefitMeasure(MeanMeasure):
    """Net benefit of treating the rows with a score at or above a risk threshold."""

    risk: float = 0.5


def net_benefit_of_means(risk: float) -> NetBenefitMeasure:
    """Return the net benefit at a risk threshold, with the number in its name."""
    odds = _odds(risk)
    return NetBenefitMeasure(
        f"net_benefit_at_{risk:g}",
        f"Net benefit at a risk of {risk:g}",
        partial(_at_or_above, risk=risk),
        partial(_net_benefit_of_means, odds=odds),
        low=-odds,
        greater_is_better=True,
        risk=risk,
    )


def _at_or_above(score: Array, risk: float) -> Array:
    # A Python float would be rounded to the precision of the scores.
    return (score >= np.float64(risk)).astype(np.float64)[None, :]


def _net_benefit_of_means(means: Means, odds: float) -> Array:
    share = means.prevalence
    value: Array = share * means.positive[..., 0] - odds * (1 - share) * means.negative[..., 0]
    return value
