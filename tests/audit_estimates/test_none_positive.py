"""Audits that find no positive, as an elusion test hopes to."""

import math

import matplotlib.pyplot as plt
import numpy as np
import pytest

from pueval import compare, evaluate, evaluate_by
from pueval.displays import ScoreDistributionDisplay
from tests.audit_estimates.audits import make_rows

pytestmark = pytest.mark.filterwarnings("ignore::pueval.AssumptionWarning")


@pytest.fixture
def rows(rng):
    positive, score = make_rows(rng, 800, prevalence=0.06)
    labeled = positive & (rng.random(800) < 0.7)
    audited = np.full(800, np.nan)
    audited[rng.choice(np.flatnonzero(~positive), 100, replace=False)] = 0
    return labeled, score, audited


@pytest.mark.parametrize(
    ("labeling", "target", "purity"),
    [
        ("smooth", "unlabeled", 1.0),
        ("random", "unlabeled", 1.0),
        ("any", "unlabeled", 1.0),
        ("any", "unlabeled", 0.9),
        ("any", "population", 1.0),
    ],
)
def test_every_output(rows, labeling, target, purity, tmp_path):
    labeled, score, audited = rows
    options = {"audited": audited, "labeling": labeling, "target": target, "n_resamples": 50}
    ev = evaluate(labeled, score, purity=purity, **options)
    assert "0 of 100 audited unlabeled rows are positive" in repr(ev.audit)
    ev.to_html(tmp_path / "report.html")
    assert ev.to_dict()["audit"]["widths"]
    ScoreDistributionDisplay.from_evaluation(ev).plot()
    plt.close("all")
    is_undefined = labeling == "any" and target == "unlabeled"
    for name in ("roc_auc", "average_precision", "recall"):
        assert math.isnan(ev[name].value) == is_undefined
    assert ev["precision"].low <= ev["precision"].value <= ev["precision"].high
    assert ev.assumptions.prior_range[1] > 0


def test_models_and_groups(rows):
    labeled, score, audited = rows
    options = {"audited": audited, "target": "unlabeled", "n_resamples": 50}
    comparison = compare(labeled, {"a": score, "b": score**2}, **options)
    assert len(comparison.to_dict()["models"]) == 2
    groups = evaluate_by(labeled, score, np.arange(800) % 2, **options)
    assert groups.to_dict()["overall"]["audit"]["widths"]


def test_few_rows_all_audited():
    """No NumPy warnings: propensities of 0, and a model that ranks nothing."""
    rng = np.random.default_rng(2)
    positive = rng.random(40) < 0.4
    labeled = positive & (rng.random(40) < 0.5)
    scores = {"constant": np.zeros(40), "random": rng.normal(size=40)}
    comparison = compare(labeled, scores, audited=positive.astype(float), n_resamples=50)
    assert math.isnan(comparison.differences("best_matthews_corrcoef")[0].low)
    bias = comparison.evaluations["random"].audit.labeling_bias
    assert bias.low == 1
    assert math.isinf(bias.high)
    content = comparison.evaluations["random"].audit.to_dict()
    assert content["labeling_bias"]["high"] is None
