"""The area under the corrected ROC curve: Jain's indirect estimate, with an interval."""

import math
import warnings

import numpy as np
import pytest
from scipy.stats import norm

from pueval import AssumptionWarning, evaluate
from tests.conftest import draw


def test_value_is_the_area_under_the_curve(rng):
    _, score, labeled = draw(rng, 800, prevalence=0.3, label_frequency=0.5)
    ev = evaluate(labeled, score, prior=0.1, purity=0.95, n_resamples=50)
    area = ev.roc_area()
    assert area.value == ev.roc().area
    assert area.naive == ev["roc_auc"].naive
    assert area.low < area.value < area.high
    without = evaluate(labeled, score, prior=0.1, purity=0.95, level=None).roc_area()
    assert without.value == area.value
    assert math.isnan(without.low)


def test_without_a_correction_it_is_the_auc(rng):
    _, score, labeled = draw(rng, 800, prevalence=0.3, label_frequency=0.5)
    ev = evaluate(labeled, np.round(score, 1), prior=0.0, n_resamples=2000)
    assert ev.roc_area().value == pytest.approx(ev["roc_auc"].value, abs=1e-12)
    error = ev["roc_auc"].standard_error
    assert ev.roc_area().standard_error == pytest.approx(error, rel=0.1)


def test_an_uncertain_prior_widens_its_interval(rng):
    _, score, labeled = draw(rng, 2000, prevalence=0.3, label_frequency=0.5)
    exact = evaluate(labeled, score, prior=0.15, n_resamples=300).roc_area()
    region = evaluate(labeled, score, prior=(0.1, 0.2), n_resamples=300).roc_area()
    assert region.low < exact.low < exact.high < region.high


@pytest.mark.parametrize(("separation", "purity"), [(2.5, 1.0), (2.5, 0.8), (3.5, 1.0)])
def test_more_accurate_than_the_direct_estimate(separation, purity):
    """Good classifiers and few labels: a smaller error, narrower intervals, and they cover."""
    rng = np.random.default_rng(1)
    truth = norm.cdf(separation / np.sqrt(2))
    errors, widths, held = [], [], []
    y = np.repeat([1, 0], [60, 600])
    for seed in range(60):
        positive = rng.random(660) < np.where(y == 1, purity, 0.4)
        score = rng.normal(size=660) + separation * positive
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", AssumptionWarning)
            ev = evaluate(
                y, score, prior=0.4, purity=purity, threshold=1.0, n_resamples=150, seed=seed
            )
        both = ev["roc_auc"], ev.roc_area()
        errors.append([estimate.value - truth for estimate in both])
        widths.append([estimate.high - estimate.low for estimate in both])
        held.append(both[1].low <= truth <= both[1].high)
    direct, indirect = np.sqrt(np.mean(np.square(errors), axis=0))
    assert indirect < 0.85 * direct
    direct_width, width = np.mean(widths, axis=0)
    assert width < 0.9 * direct_width
    assert np.mean(held) > 0.88
