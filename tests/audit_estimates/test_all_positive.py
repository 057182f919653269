"""Audits whose rows are nearly all positive."""

import numpy as np
import pytest
import scipy.optimize

from pueval import AssumptionWarning, evaluate
from pueval.audit_estimates.design_estimate import _monotone_share
from pueval.counts.audited_positives import raise_purity
from tests.audit_estimates.audits import make_rows, uniform_audit


def closest_numbers(positives, rows):
    """The same least squares by a general solver."""

    def distance(numbers):
        return np.sum(rows * np.cumsum(numbers - positives) ** 2) / np.sum(rows) ** 2

    bounds = [(0, row) for row in rows]
    return scipy.optimize.minimize(
        distance, rows / 2, bounds=bounds, method="SLSQP", options={"ftol": 1e-15, "maxiter": 1000}
    ).x


@pytest.mark.parametrize("seed", range(8))
def test_cells_take_no_more_positives_than_rows(seed):
    rng = np.random.default_rng(seed)
    rows = rng.integers(2, 30, 8).astype(float)
    positives = np.where(rng.random(8) < 0.4, 2.5 * rows, 0) + rng.normal(size=8)
    share = _monotone_share(positives, rows)
    assert np.all((share >= 0) & (share <= 1))
    assert share * rows == pytest.approx(closest_numbers(positives, rows), abs=1e-3)


def test_an_empty_cell_has_no_positives():
    share = _monotone_share(np.array([0.0, 8.0, 0.0]), np.array([4.0, 0.0, 10.0]))
    assert share[1] == 0
    assert share @ [4, 0, 10] == pytest.approx(8, abs=1)


def test_purity_is_above_the_prior():
    purity = raise_purity(np.array([0.9, 0.9, 0.9]), np.array([0.3, 0.99, 1.2]))
    assert purity == pytest.approx([0.9, 0.991, 1.0])


@pytest.mark.parametrize("labeling", ["smooth", "score", "random", "any"])
@pytest.mark.parametrize("target", ["population", "unlabeled"])
@pytest.mark.parametrize("n_labeled", [0, 20])
def test_only_positives(rng, labeling, target, n_labeled, tmp_path):
    positive, score = make_rows(rng, 1000, prevalence=1.0)
    labeled = rng.random(1000) < 0.3
    audited = uniform_audit(rng, positive, labeled, 40)
    audited[rng.choice(np.flatnonzero(labeled), n_labeled, replace=False)] = 1
    with pytest.warns(AssumptionWarning, match="all 40 audited unlabeled rows are positive"):
        ev = evaluate(
            labeled, score, audited=audited, labeling=labeling, target=target, threshold=2.0,
            n_resamples=500,
        )  # fmt: skip
    low, high = ev.assumptions.prior_range
    # None of 40: the exact upper limit for the share of negatives is 9%.
    assert 0.85 < low < ev.prior < high
    assert high > 0.995
    assert ev["precision"].value > 0.95
    assert ev["precision"].high > 0.99
    share = np.mean(score[~labeled] >= 2) if target == "unlabeled" else np.mean(score >= 2)
    assert ev["recall"].low < share < ev["recall"].high
    assert ev["roc_auc"].high - ev["roc_auc"].low > 0.5  # nothing is known of negatives
    assert "audited unlabeled rows" in repr(ev)
    if labeling == "smooth":
        ev.to_html(tmp_path / "report.html")


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore:all 100 audited unlabeled rows:UserWarning")
@pytest.mark.parametrize("prevalence", [0.9, 0.97])
def test_prior_of_nearly_all_positives(prevalence):
    """Without a limit per cell, half of these positives were lost."""
    hits, errors = [], []
    for seed in range(40):
        rng = np.random.default_rng([int(100 * prevalence), seed])
        positive, score = make_rows(rng, 3000, prevalence=prevalence)
        labeled = positive & (rng.random(3000) < 0.3)
        audited = uniform_audit(rng, positive, labeled, 100)
        ev = evaluate(labeled, score, audited=audited, threshold=1.0, n_resamples=500)
        truth = positive[~labeled].mean()
        low, high = ev.assumptions.prior_range
        hits.append(low <= truth <= high)
        errors.append(ev.prior - truth)
    assert np.mean(hits) >= 0.85
    assert abs(np.mean(errors)) < 0.01
