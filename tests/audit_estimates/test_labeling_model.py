"""The labeling model against numerical derivatives and a posterior integrated on a grid."""

import itertools

import numpy as np
import pytest
from scipy.special import expit

from pueval import Counts
from pueval.audit_estimates import labeling_model
from pueval.audit_estimates.labeling_model import AuditTally, LabelingModel
from pueval.audit_estimates.random_labeling_test import random_labeling_test
from pueval.audit_estimates.score_cells import ScoreCells
from tests.audit_estimates.audits import label_rows, make_rows


def tally_of(cells, *, unlabeled_positive=(), unlabeled_negative=()):
    none = np.zeros(cells.lower.size)

    def count(scores):
        return cells.count(np.asarray(scores, float), np.ones(len(scores)))

    return AuditTally(count(unlabeled_positive), count(unlabeled_negative), none, none)


def test_cells_hold_all_rows_in_order():
    rng = np.random.default_rng(0)
    positive, score = make_rows(rng)
    labeled = label_rows(rng, positive, score)
    cells = ScoreCells.of(Counts.from_arrays(labeled, score))
    assert cells.labeled.sum() == labeled.sum()
    assert cells.unlabeled.sum() == (~labeled).sum()
    assert np.all(np.diff(cells.position) < 0)
    for k in (0, 7, cells.lower.size - 1):
        inside = cells.find(score) == k
        assert cells.labeled[k] == (inside & labeled).sum()
        assert cells.unlabeled[k] == (inside & ~labeled).sum()


def test_basis_is_orthogonal_to_lines():
    rng = np.random.default_rng(1)
    cells = ScoreCells.of(Counts.from_arrays(rng.random(3000) < 0.1, rng.normal(size=3000)))
    basis = cells.basis(1.0, 1.0, 12)
    for line in (np.ones(cells.lower.size), cells.position):
        assert np.abs((cells.weight * line) @ basis).max() < 1e-9


@pytest.mark.parametrize("wrong_rate", [0.0, 0.02])
def test_gradient_and_information(wrong_rate):
    rng = np.random.default_rng(2)
    positive, score = make_rows(rng)
    labeled = label_rows(rng, positive, score)
    cells = ScoreCells.of(Counts.from_arrays(labeled, score))
    audited = rng.choice(np.flatnonzero(~labeled), 300, replace=False)
    tally = tally_of(
        cells,
        unlabeled_positive=score[audited[positive[audited]]],
        unlabeled_negative=score[audited[~positive[audited]]],
    )
    model = LabelingModel(cells, tally, wrong_rate)
    point = rng.normal(scale=0.3, size=(1, model.size))
    gradient, information = model.score_and_information(point)
    step = 1e-5 * np.eye(model.size)
    numerical = (model.log_likelihood(point + step) - model.log_likelihood(point - step)) / 2e-5
    assert np.allclose(gradient[0], numerical, rtol=1e-6, atol=1e-4)
    assert np.all(np.linalg.eigvalsh(information[0]) > -1e-6)
    # The mode has no slope left.
    precision = model.precisions("score")
    mode = model.modes(precision)
    slope = model.score_and_information(mode)[0] - mode * precision
    curvature = np.sqrt(np.diagonal(model.score_and_information(mode)[1][0]))
    assert np.abs(slope[0] / curvature).max() < 0.05


@pytest.mark.parametrize("wrong_rate", [0.0, 0.02])
def test_log_likelihood(wrong_rate):
    rng = np.random.default_rng(3)
    counts = Counts.from_arrays(rng.random(3000) < 0.1, rng.normal(size=3000))
    cells = ScoreCells.of(counts)
    tally = AuditTally(*rng.integers(0, 3, size=(4, cells.lower.size)).astype(float))
    model = LabelingModel(cells, tally, wrong_rate)
    points = rng.normal(scale=[[0.1], [0.5], [1.0]], size=(3, model.size))
    slow = []
    for point in points:
        positive = expit(model.positive_basis @ point[: model.split])
        propensity = expit(model.propensity_basis @ point[model.split :])
        label = positive * propensity + (1 - positive) * wrong_rate
        slow.append(
            model.labeled @ np.log(label)
            + model.unlabeled @ np.log(1 - label)
            + tally.unlabeled_positive @ np.log(positive * (1 - propensity))
            + tally.labeled_positive @ np.log(positive * propensity)
            + (tally.unlabeled_negative + tally.labeled_negative) @ np.log(1 - positive)
        )
    np.testing.assert_allclose(model.log_likelihood(points), slow, rtol=1e-11)
    # Extreme coefficients give finite densities.
    assert np.isfinite(model.log_likelihood(1e4 * points)).all()


def test_posterior_against_integration_on_a_grid():
    # Two scores: π has two free values, e is one number. The exact posterior is an integral over
    # three coefficients.
    counts = Counts.from_table([2, 1], labeled=[60, 20], unlabeled=[140, 780])
    cells = ScoreCells.of(counts)
    tally = AuditTally(np.array([6.0, 1.0]), np.array([4.0, 49.0]), np.zeros(2), np.zeros(2))
    model = LabelingModel(cells, tally)
    assert model.size == 4
    posterior = model.sample("random", 4000, seed=0)
    constant, slope = labeling_model.POSITIVE_SCALES
    center, half = model.modes(model.precisions("random"))[0], np.array([2.5, 2.0, 3.0])
    axes = [np.linspace(c - h, c + h, 71) for c, h in zip(center[:3], half, strict=True)]
    total, mean = 0.0, np.zeros(2)
    grid = np.array([*itertools.product(axes[0], axes[1])])
    for level in axes[2]:
        pi = expit(grid @ model.positive_basis.T)
        e = expit(level)
        log = (
            np.array([60, 20]) * np.log(pi * e)
            + np.array([130, 730]) * np.log(1 - pi * e)
            + np.array([6, 1]) * np.log(pi * (1 - e))
            + np.array([4, 49]) * np.log(1 - pi)
        ).sum(axis=1)
        log -= (grid[:, 0] / constant) ** 2 / 2 + (grid[:, 1] / slope) ** 2 / 2
        log -= (level / labeling_model.LEVEL_SCALE) ** 2 / 2
        weight = np.exp(log + 400)
        total += weight.sum()
        mean += weight @ (pi * (1 - e) / (1 - pi * e))
    spread = labeling_model.MOST_SPREAD
    found = posterior.unlabeled_positive.mean(axis=0)
    error = posterior.unlabeled_positive.std(axis=0) / np.sqrt(labeling_model.CHAINS)
    # Spreading the draws shifts means of curved functions a little.
    assert np.all(np.abs(found - mean / total) < 4 * error + 0.02 * (spread - 1) + 0.002)


def test_probabilities_are_consistent():
    rng = np.random.default_rng(3)
    positive, score = make_rows(rng)
    labeled = label_rows(rng, positive, score)
    cells = ScoreCells.of(Counts.from_arrays(labeled, score))
    audited = rng.choice(np.flatnonzero(~labeled), 200, replace=False)
    tally = tally_of(
        cells,
        unlabeled_positive=score[audited[positive[audited]]],
        unlabeled_negative=score[audited[~positive[audited]]],
    )
    wrong = 0.01
    posterior = LabelingModel(cells, tally, wrong).sample("smooth", 50, 0)
    is_labeled = posterior.positive * posterior.propensity + (1 - posterior.positive) * wrong
    total = (
        is_labeled * posterior.labeled_positive + (1 - is_labeled) * posterior.unlabeled_positive
    )
    assert np.allclose(total, posterior.positive)


@pytest.mark.thorough
@pytest.mark.parametrize("design", ["uniform", "focused"])
def test_size_and_power_of_the_random_labeling_test(design):
    """Size about 5% under random labeling, and high power where labels favor high scores."""
    replications, pvalues = 150, {"random": [], "up": []}
    for seed in range(replications):
        for labeling, found in pvalues.items():
            if labeling == "up" and seed >= 40:
                continue
            rng = np.random.default_rng([seed, 5])
            positive, score = make_rows(rng, n=8000)
            labeled = label_rows(rng, positive, score, labeling)
            rank = score.argsort().argsort() / score.size
            weight = np.ones(score.size) if design == "uniform" else 0.2 + 4 * (rank > 0.8)
            probability = 400 * weight / weight[~labeled].sum()
            chosen = ~labeled & (rng.random(score.size) < probability)
            cells = ScoreCells.of(Counts.from_arrays(labeled, score))
            tally = tally_of(
                cells,
                unlabeled_positive=score[chosen & positive],
                unlabeled_negative=score[chosen & ~positive],
            )
            found.append(random_labeling_test(LabelingModel(cells, tally)).pvalue)
    rejected = np.mean(np.array(pvalues["random"]) < 0.05)
    assert rejected <= 0.05 + 2.6 * np.sqrt(0.05 * 0.95 / replications), rejected
    assert rejected >= 0.05 - 2.6 * np.sqrt(0.05 * 0.95 / replications), rejected
    assert np.mean(np.array(pvalues["up"]) < 0.05) > 0.9


def test_smooth_share_of_labeled_rows():
    """Against the truth; the counts of the cells scatter more."""
    rng = np.random.default_rng(0)
    score = rng.normal(size=20_000)
    truth = 0.3 * expit(2 * score - 3)
    labeled = rng.random(score.size) < truth
    cells = ScoreCells.of(Counts.from_arrays(labeled, score))
    cell = cells.find(score)
    expected = cells.count(score, truth) / np.bincount(cell)
    share = LabelingModel(cells, AuditTally.empty(cells.lower.size)).labeled_share()
    counted = cells.labeled / np.maximum(cells.labeled + cells.unlabeled, 1)
    error, error_of_counts = (np.abs(x - expected).mean() for x in (share, counted))
    assert error < 0.5 * error_of_counts
    rows = cells.labeled + cells.unlabeled
    assert np.sum(rows * share) == pytest.approx(labeled.sum(), rel=0.05)
