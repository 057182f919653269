"""The slope of a measure in the prior: how much an error of the prior matters."""

from __future__ import annotations

import numpy as np

from pueval._typing import Target
from pueval.core.curves import direct_auc, naive_auc
from pueval.core.measures import (
    MEASURES,
    ZERO,
    Measure,
    Table,
    find_measure,
    unknown_measure_error,
)
from pueval.core.mixture import Mixture
from pueval.core.rates import Rates, correct_steps, labeled_contrast
from pueval.counts.counts import Counts
from pueval.errors import InputError, UnknownMeasureError

# Step of the difference quotient, as a share of the smallest cell of the contingency table.
STEP = 1e-4


def prior_slope(
    name: str, counts: Counts, mixture: Mixture, target: Target, threshold: float
) -> float:
    """Differentiate the AUC, or a measure at a threshold, in the prior; see `Evaluation`."""
    counts._refuse_propensities("a slope in the prior")
    if not counts.n_unlabeled:
        raise InputError(
            "there are no unlabeled rows, so no measure depends on the prior. Check the labels."
        )
    if name == "average_precision":
        raise InputError(
            "the average precision has no slope in the prior where rates are clipped. "
            "Use sensitivity('average_precision')."
        )
    background_slope = counts.n_unlabeled / (counts.n_unlabeled + counts.n_negative)
    contrast = labeled_contrast(mixture, counts)
    if name == "roc_auc":
        auc = direct_auc(counts, naive_auc(counts, counts._roc_corners()), mixture)
        return float((auc - 0.5) * background_slope / contrast)
    try:
        measure = find_measure(name)
    except UnknownMeasureError:
        raise unknown_measure_error(name, ["roc_auc", *MEASURES]) from None
    rates = correct_steps(counts, counts.at(threshold), mixture, target)
    # Equations 1 and 2 of Jain et al. (2017), differentiated in the share of positives.
    gap = (rates.tpr - rates.fpr) * background_slope / contrast
    rate_slopes = (1 - mixture.purity) * gap, -mixture.purity * gap
    unlabeled_share = counts.n_unlabeled / counts._target_size(target)
    return _measure_slope(measure, rates, *rate_slopes, unlabeled_share)


def _measure_slope(
    measure: Measure, rates: Rates, tpr: np.ndarray, fpr: np.ndarray, prevalence: float
) -> float:
    """Differentiate a measure along given slopes of both rates and of the prevalence."""
    table = Table.of(rates)
    share = rates.prevalence
    hits = prevalence * rates.tpr + share * tpr
    predicted = hits - prevalence * rates.fpr + (1 - share) * fpr
    cells = np.abs(
        [table.true_positive, table.false_positive, table.false_negative, table.true_negative]
    )
    largest = float(np.max(np.abs([hits, predicted, np.full_like(hits, prevalence)])))
    step = STEP * float(np.min(cells[cells > ZERO], initial=1.0)) / largest

    def value(along: float) -> float:
        moved = Table(
            table.true_positive + along * hits,
            table.predicted + along * predicted,
            table.positive + along * prevalence,
        )
        return float(np.asarray(measure.formula(moved))[0])

    return (value(step) - value(-step)) / (2 * step)
