"""Slopes in the prior against difference quotients of evaluations, and equation 15 of Claesen."""

import warnings

import numpy as np
import pytest

from pueval import AssumptionWarning, Counts, InputError, evaluate
from pueval.core.measures import MEASURES
from pueval.core.mixture import Mixtures
from pueval.sensitivity.grid import function_of_mixtures
from tests.conftest import draw, with_negatives

THRESHOLD = 0.8


@pytest.fixture(params=[False, True], ids=["unlabeled", "and negatives"])
def counts(rng, request):
    positive, score, labeled = draw(rng, 3000, prevalence=0.3, label_frequency=0.4)
    y = labeled.astype(int)
    if request.param:
        y = with_negatives(y, positive, rng)
    return Counts.from_arrays(y, score, negative_label=2)


def evaluated(counts, prior, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssumptionWarning)
        return evaluate(counts, prior=prior, threshold=THRESHOLD, level=None, **options)


@pytest.mark.parametrize("target", ["population", "unlabeled"])
@pytest.mark.parametrize("purity", [1.0, 0.85])
def test_against_difference_quotients(counts, target, purity):
    prior, step = 0.15, 1e-5
    ev = evaluated(counts, prior, purity=purity, target=target)
    ends = Mixtures(np.array([prior - step, prior + step]), np.full(2, purity))
    for name in ("roc_auc", "f2", *MEASURES):
        below, above = function_of_mixtures(name, counts, target, THRESHOLD)(ends)
        numeric = (above - below) / (2 * step)
        assert ev.prior_slope(name) == pytest.approx(numeric, rel=1e-5, abs=1e-7), name


def test_equation_15_of_claesen(rng):
    """With the factor that the paper's derivative of the false positive rate lacks."""
    _, score, labeled = draw(rng, 2000, prevalence=0.3, label_frequency=0.4)
    prior = 0.2
    ev = evaluated(Counts.from_arrays(labeled, score), prior, target="unlabeled")
    above = score >= THRESHOLD
    recall, head = above[labeled].mean(), above[~labeled].sum()
    size = (~labeled).sum()
    assert ev.prior_slope("recall") == pytest.approx(0, abs=1e-12)
    printed = (head - recall * size) / (1 - prior) ** 2
    assert ev.prior_slope("false_positive_rate") == pytest.approx(printed / size, abs=1e-8)
    assert ev.prior_slope("precision") == pytest.approx(recall * size / head, abs=1e-8)
    # Integrated over the curve, it depends on the naive AUC only: the order cannot change.
    naive = ev["roc_auc"].naive
    assert ev.prior_slope("roc_auc") == pytest.approx((naive - 0.5) / (1 - prior) ** 2, abs=1e-12)


def test_a_cell_that_is_zero_but_for_rounding():
    """A step as small as the rounding error of the false positives would change nothing."""
    counts = Counts.from_table([THRESHOLD, THRESHOLD - 1], [4, 0], [20, 10], [4, 1])
    ev = evaluated(counts, np.nextafter(0.6, 1), purity=0.75, target="unlabeled")
    assert 0 < abs(ev.table.false_positive) < 1e-12
    # All labeled rows and 24 of the 35 others are predicted positive; 18 of the 35 are positive.
    slope = 0.75 * (24 / 35 - 1) / (0.75 - 18 / 35) ** 2 * 30 / 35
    assert ev.prior_slope("false_positive_rate") == pytest.approx(slope)


def test_without_hidden_positives(counts):
    ev = evaluated(counts, 0.0)
    for name in ("precision", "recall", "accuracy", "f1"):
        below, above = (evaluated(counts, prior)[name].value for prior in (0.0, 1e-6))
        assert ev.prior_slope(name) == pytest.approx((above - below) / 1e-6, rel=1e-3, abs=1e-6)


def test_bad_input(counts, rng):
    ev = evaluated(counts, 0.1)
    with pytest.raises(InputError, match="Use sensitivity\\('average_precision'\\)"):
        ev.prior_slope("average_precision")
    with pytest.raises(InputError, match="unknown measure 'f'"):
        ev.prior_slope("f")
    known = Counts.from_arrays([1, 2, 1, 2], [3, 1, 2, 0], negative_label=2)
    with pytest.raises(InputError, match="no unlabeled rows"):
        evaluated(known, 0.0).prior_slope("f1")
