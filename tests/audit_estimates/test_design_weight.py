"""The default estimate: design-based, shrunk toward the labeling model."""

import numpy as np
import pytest
from scipy.special import expit

from pueval import Counts
from pueval.audit_estimates.apply_audit import apply_audit
from pueval.audit_estimates.audited_rows import AuditedRows
from pueval.audit_estimates.design_estimate import difference_estimate
from pueval.audit_estimates.design_weight import LEAST_WEIGHT, combine_draws, design_weight
from pueval.audit_estimates.score_cells import ScoreCells
from pueval.evaluation.evaluate import evaluate_counts


def test_weight_by_hand():
    # Ten cells of 100 rows, half of them positive by the model: a tenth of the positives each.
    unlabeled, by_model = np.full(10, 100.0), np.full(10, 0.5)
    rng = np.random.default_rng(0)
    draws = 0.5 + 0.01 * rng.normal(size=(500, 10))
    for shift in (0.0, 0.01, 0.02, 0.1):
        ratios = []
        for k in range(1, 11):
            numbers = [sum(100 * line[j] for j in range(k)) for line in draws]
            ratios.append((100 * shift * k) ** 2 / np.var(numbers))
        x = sum(ratios) / 10
        weight = design_weight(unlabeled, by_model, by_model + shift, draws)
        assert weight == pytest.approx(max(LEAST_WEIGHT, x / (1 + x)), rel=1e-9)
    assert weight > 0.9


def test_cells_without_positives():
    draws = np.zeros((20, 3))
    assert design_weight(np.ones(3), np.zeros(3), np.zeros(3), draws) == LEAST_WEIGHT


@pytest.mark.parametrize("weight", [0.25, 0.6])
def test_combined_draws(weight):
    rng = np.random.default_rng(1)
    narrow, wide = rng.normal(3, 1, size=(20_000, 1)), rng.normal(5, 3, size=(20_000, 1))
    draws = combine_draws(np.array([0.2]), narrow, wide, weight, np.ones(1))
    assert draws.mean() == pytest.approx(0.2, abs=1e-12)
    assert draws.std() == pytest.approx((1 - weight) * 1 + weight * 3, rel=0.02)


def test_draws_of_an_audit_with_unequal_probabilities():
    """The variance of the draws is that of Hájek's estimate, Σ weight²·(truth − mean)²."""
    rng = np.random.default_rng(2)
    n = 30_000
    score = rng.normal(size=n)
    probability = np.where(score > 0.5, 0.05, 0.005)
    chosen = rng.random(n) < probability
    positive = rng.random(n) < np.where(score > 0.5, 0.5, 0.1)
    weight = 1 / probability[chosen]
    rows = AuditedRows(score[chosen], np.zeros(weight.size, bool), positive[chosen], weight, True)
    labeled = positive & (rng.random(n) < 0.05) & ~chosen
    counts = Counts.from_arrays(labeled, score)
    cells = ScoreCells.of(counts)
    none = np.zeros(cells.lower.size)
    _, draws = difference_estimate(cells, rows, none, covered=1.0, alone=True, n_draws=4000, seed=0)
    share = weight / weight.sum()
    for threshold in (-np.inf, 0.5):
        truth = rows.positive * (rows.score >= threshold)
        error = np.sqrt(np.sum(share**2 * (truth - share @ truth) ** 2))
        above = cells.lower >= threshold
        drawn = draws[:, above] @ cells.unlabeled[above] / cells.unlabeled.sum()
        assert drawn.std() == pytest.approx(error, rel=0.15)


def make_audit(seed=0, n=8000):
    rng = np.random.default_rng(seed)
    positive = rng.random(n) < 0.15
    score = rng.normal(size=n) + 2 * positive
    labeled = positive & (rng.random(n) < np.where(score > 2, 0.5, 0.1))
    chosen = rng.choice(np.flatnonzero(~labeled), 300, replace=False)
    rows = AuditedRows(score[chosen], labeled[chosen], positive[chosen], np.ones(300))
    return Counts.from_arrays(labeled, score), rows, positive, score, labeled


@pytest.mark.parametrize("target", ["population", "unlabeled"])
def test_default_is_the_weighted_mean_of_model_and_design(target):
    counts, rows, *_ = make_audit()
    default, design = (
        apply_audit(counts, rows, labeling=labeling, target=target, n_draws=300)
        for labeling in ("smooth", "any")
    )
    weight = default.design_weight
    assert LEAST_WEIGHT <= weight < 1
    assert design.design_weight == 1
    by_model = default.posterior.unlabeled_positive.mean(axis=0)
    expected = (1 - weight) * by_model + weight * design.counts._audit.unlabeled_share
    assert np.allclose(default.counts._audit.unlabeled_share, expected, atol=1e-12)
    # The draws vary around the estimate.
    number = default.counts._audit.number_draws(counts)
    rows_of_cells = default.cells.unlabeled
    center = rows_of_cells @ expected + (counts.n_labeled if target == "population" else 0)
    assert abs(number.mean() - center) < 4 * number.std() / np.sqrt(300)
    assert apply_audit(counts, rows, labeling="random", n_draws=50).design_weight == 0


def test_steep_scores_and_a_step_of_labeling():
    """Positives begin abruptly, and most labels are at still higher scores.

    If the share of positives had to be smooth, the model would blame the labeling: all intervals
    would miss the precision, by 0.16 on average.
    """
    covered, errors = [], []
    for seed in range(6):
        rng = np.random.default_rng([seed, 7])
        score = rng.standard_t(3, 20_000)
        positive = rng.random(20_000) < 0.005 + 0.95 * expit((score - 1.8) / 0.15)
        labeled = positive & (rng.random(20_000) < np.where(score > 3.5, 0.8, 0.08))
        share = np.where(score > 1, 0.12, 0.01)
        chosen = ~labeled & (rng.random(20_000) < share)
        rows = AuditedRows(
            score[chosen], labeled[chosen], positive[chosen], 1 / share[chosen], True
        )
        counts = Counts.from_arrays(labeled, score)
        found = apply_audit(counts, rows, n_draws=400, seed=seed).counts
        precision = evaluate_counts(found, threshold=1.8, n_resamples=200)["precision"]
        true = positive[score >= 1.8].mean()
        covered.append(precision.low <= true <= precision.high)
        errors.append(precision.value - true)
    assert sum(covered) >= 4
    assert abs(np.mean(errors)) < 0.07
