"""Intervals and bands hold the truth about as often as they say.

docs/understand/coverage.md has the tables of all settings: `python -m tests.coverage.tables`.
"""

import warnings

import numpy as np
import pytest
from scipy.stats import binom

from pueval import AssumptionWarning, evaluate
from tests.coverage.biased_labels import BiasSetting, bias_coverage
from tests.coverage.clusters import CLUSTER_COLUMNS, ClusterSetting, measure_clusters
from tests.coverage.cross_validation import CVSetting, cv_coverage
from tests.coverage.default_threshold import CASES, simulate
from tests.coverage.simulation import BANDS, NAMES, Setting, coverage
from tests.coverage.tables import GRID

# Best values are bounded with few labeled rows only roughly: their coverage goes down to this.
WORST = {name: 0.90 if name.startswith("best") else 0.93 for name in NAMES}


def check(found, replications, least):
    """Fail where coverage is below ``least`` beyond chance (one in ten thousand)."""
    for name, share in found.items():
        limit = binom.ppf(1e-4, replications, least[name]) / replications
        assert share >= limit, f"{name}: {share:.3f} of {replications}"


@pytest.mark.parametrize(
    ("known", "purity"),
    [
        ("given", 0.9),
        ("interval", 1.0),
        ("estimated", 1.0),
        ("both estimated", 0.9),
        ("prevalence, purity interval", 0.9),
        ("prevalence, purity estimated", 0.9),
        ("frequency, purity estimated", 0.9),
        ("labeling", 1.0),
        ("frequency", 1.0),
        ("chosen", 1.0),
        ("propensity", 1.0),
        ("extreme propensity", 1.0),
    ],
)
def test_intervals(known, purity):
    found = coverage(Setting(0.25, purity, 300, 1.8, known), 80, n_resamples=150)
    check(found, 80, WORST)
    if known in {"given", "labeling", "frequency", "propensity"}:
        # Limits that always hold would be too wide.
        assert min(found[name] for name in NAMES[:7]) < 1


def test_bands():
    found = coverage(Setting(0.25, 0.9, 300, 1.8), 50, n_resamples=200, names=(), bands=True)
    check({name: found[name] for name in BANDS}, 50, dict.fromkeys(BANDS, 0.92))
    assert found["roc pointwise"] < 0.99


def test_precision_recall_bands_with_few_labeled_rows_are_no_wider_than_needed():
    setting = Setting(0.25, 1.0, 20, 2.5)
    share = setting.labeled / (setting.labeled + setting.unlabeled)
    _, curves = setting.truth(share + (1 - share) * setting.prior)
    rng = np.random.default_rng(0)
    held, width = [], []
    for seed in range(60):
        y, score, told = setting.draw(rng)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", AssumptionWarning)
            band = evaluate(y, score, n_resamples=200, seed=seed, **told).pr_band("simultaneous")
        true = curves["pr"](band.x)
        held.append(np.all((band.low - 1e-9 <= true) & (true <= band.high + 1e-9)))
        width.append(np.mean(band.high - band.low))
    assert np.mean(held) > 0.85
    assert np.mean(width) < 0.7


def test_the_start_of_a_curve_that_few_labeled_rows_reach():
    """Normal limits of such small rates would be too low."""
    setting = Setting(0.25, 1.0, 100, 1.0)
    share = setting.labeled / (setting.labeled + setting.unlabeled)
    _, curves = setting.truth(share + (1 - share) * setting.prior)
    rng = np.random.default_rng(0)
    held = []
    for seed in range(100):
        y, score, told = setting.draw(rng)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", AssumptionWarning)
            band = evaluate(y, score, n_resamples=200, seed=seed, **told).roc_band()
        there = (band.x > 0) & (band.x <= 0.1)
        true = curves["roc"](band.x)[there]
        held.append(np.mean((band.low[there] <= true) & (true <= band.high[there])))
    assert 0.93 < np.mean(held) < 0.99


def test_cross_validation_with_few_rows_per_feature():
    """As if out-of-fold scores were independent, .88 of the intervals would hold the AUC."""
    found, effect = cv_coverage(CVSetting("logistic", 60, 30, 5), 60, n_resamples=100)
    check(found, 60, dict.fromkeys(found, 0.93))
    assert 1.3 < effect < 2


def test_rows_that_belong_together():
    """As if rows were independent, .7 of the intervals would hold the AUC."""
    shares = measure_clusters(ClusterSetting(60, 12, 0.5, "constant"), 40)
    found = dict(zip(CLUSTER_COLUMNS, shares, strict=True))
    assert found.pop("AUC, no cluster=") < 0.88
    assert found.pop("replications") == 40
    assert 1.4 < found.pop("width of AUC, relative") < 2.5
    assert 1.2 < found.pop("width of F1, relative") < 2.5
    check(found, 40, dict.fromkeys(found, 0.93))


@pytest.mark.parametrize("target", ["population", "unlabeled"])
def test_the_default_threshold_with_rare_positives_and_hard_negatives(target):
    [case] = [c for c in CASES if (c.prior, c.labeled, c.target) == (0.005, 100, target)]
    found = simulate(case, 60, n_resamples=150)
    loss, _ = found.pop("loss")
    check({name: each[0] for name, each in found.items()}, 60, dict.fromkeys(found, 0.93))
    assert found["precision"][2] < 0.2
    assert loss < 0.03


@pytest.mark.parametrize("favored", ["high", "low"])
def test_the_least_favorable_labeling(favored):
    """The bounds alone hold the truth in half of the samples or fewer."""
    found, bounds, _ = bias_coverage(BiasSetting(1500, 2.0, favored), 60, n_resamples=150)
    check(found, 60, dict.fromkeys(found, 0.93))
    assert bounds < 0.75


@pytest.mark.slow
@pytest.mark.parametrize("setting", GRID, ids=str)
def test_whole_grid(setting):
    found = coverage(setting, 1000)
    check(found, 1000, WORST)
