"""Labeled scores that end abruptly: only alarms were checked."""

import numpy as np
import pytest

from pueval import AssumptionWarning, Counts, evaluate
from pueval.evaluation.findings import abrupt_labeled_scores


def gumbel(rng, positive):
    return rng.gumbel(size=positive.size) + 2 * positive


def beta(rng, positive):
    return np.where(
        positive, rng.beta(8, 1, size=positive.size), rng.beta(1, 8, size=positive.size)
    )


def two_kinds(rng, positive):
    easy = rng.random(positive.size) < 0.5
    return rng.normal(size=positive.size) + 4 * (positive & easy)


def draw(scores, n_labeled, prior, seed, *, cut=False):
    """Labels are random, or random among the 60% of positives that score highest."""
    rng = np.random.default_rng(seed)
    unlabeled = scores(rng, rng.random(10 * n_labeled) < prior)
    labeled = scores(rng, np.ones(n_labeled, dtype=bool))
    if cut:
        labeled = scores(rng, np.ones(5 * n_labeled, dtype=bool))
        labeled = labeled[labeled > np.quantile(labeled, 0.4)][:n_labeled]
    y = np.repeat([1, 0], [labeled.size, unlabeled.size])
    return y, np.concatenate([labeled, unlabeled])


@pytest.mark.parametrize("scores", [gumbel, beta, two_kinds])
@pytest.mark.parametrize("prior", [0.02, 0.3])
def test_random_labels_rarely_warn_and_checked_alarms_mostly(scores, prior):
    def share(n_labeled, **how):
        found = [
            abrupt_labeled_scores(Counts.from_arrays(*draw(scores, n_labeled, prior, seed, **how)))
            for seed in range(100)
        ]
        return np.mean([each is not None for each in found])

    assert share(250) <= 0.06
    assert share(1000) == 0
    assert share(1000, cut=True) >= 0.75


def test_evaluate_says_so():
    y, score = draw(gumbel, 500, 0.1, 0, cut=True)
    with pytest.warns(AssumptionWarning, match="labeled scores end abruptly"):
        ev = evaluate(y, score, prior=0.1, n_resamples=50)
    assert f"{score[y == 1].min():.4g}" in " ".join(ev.warnings)
    below = int((score[y == 0] < score[y == 1].min()).sum())
    assert f"although {below:,} unlabeled" in " ".join(ev.warnings)


def test_rounded_scores_few_rows_and_scores_without_a_rest_are_left_alone():
    y, score = draw(gumbel, 1000, 0.1, 0, cut=True)
    assert abrupt_labeled_scores(Counts.from_arrays(y, score)) is not None
    assert abrupt_labeled_scores(Counts.from_arrays(y, score.round())) is None
    few = np.flatnonzero(y == 1)[:150]
    keep = np.concatenate([few, np.flatnonzero(y == 0)])
    assert abrupt_labeled_scores(Counts.from_arrays(y[keep], score[keep])) is None
    lowest = score[y == 1].min()
    rest = (y == 1) | (score > lowest)
    assert abrupt_labeled_scores(Counts.from_arrays(y[rest], score[rest])) is None
    propensity = np.full(y.size, 0.5)
    counts = Counts.from_arrays(y, score, propensity=propensity)
    assert abrupt_labeled_scores(counts) is None


def test_weights_count_like_repeated_rows():
    y, score = draw(gumbel, 400, 0.1, 3, cut=True)
    weight = np.random.default_rng(0).integers(1, 4, y.size)
    weighted = Counts.from_arrays(y, score, sample_weight=weight)
    repeated = Counts.from_arrays(np.repeat(y, weight), np.repeat(score, weight))
    assert abrupt_labeled_scores(weighted) == abrupt_labeled_scores(repeated) is not None
