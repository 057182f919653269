"""The default threshold: against a slow version, and against the truth."""

import numpy as np
import pytest
from scipy.stats import norm

from pueval import Counts, evaluate
from pueval.core.measures import MEASURES
from pueval.core.rates import Shares
from pueval.thresholds import default_threshold as default_threshold_module
from pueval.thresholds.default_threshold import StableChoice
from pueval.thresholds.threshold_choice import ChosenThresholdIntervals
from tests.conftest import draw
from tests.coverage.default_threshold import Case, simulate


def slow_choice(labeled, score, target):
    """Choose by the prior-free part of the MCC, with its derivatives written out."""
    positive, unlabeled = score[labeled], score[~labeled]
    n_positive, n_unlabeled = positive.size, unlabeled.size
    share = n_positive / score.size if target == "population" else 0.0
    candidates = []
    for at in sorted(set(positive), reverse=True):
        above = np.mean(positive >= at)
        if above < min(10 / n_positive, 0.5):
            continue
        background = (np.sum(unlabeled >= at) + 1) / (n_unlabeled + 1)
        predicted = share * above + (1 - share) * background
        if predicted >= 1:
            continue
        root = np.sqrt(predicted * (1 - predicted))
        contrast = above - background
        by_root = -contrast * (1 - 2 * predicted) / (2 * root**3)
        slopes = 1 / root + by_root * share, -1 / root + by_root * (1 - share)
        here = np.mean(positive == at)
        candidates.append((at, contrast / root, (above, background), slopes, here))
    sizes = n_positive, n_unlabeled

    def variance(rows):
        """Return that of the mean of values that rows have with given shares."""
        return sum(p * x**2 for p, x in rows) - sum(p * x for p, x in rows) ** 2

    def penalized(candidate):
        _, value, shares, slopes, _ = candidate
        parts = zip(shares, slopes, sizes, strict=True)
        return value - 0.5 * np.sqrt(sum(variance([(p, x)]) / n for p, x, n in parts))

    best = max(candidates, key=penalized)
    weights = []
    for candidate in candidates:
        (_, _, p, a, _), (_, _, q, b, here) = sorted([best, candidate], key=lambda c: -c[0])
        error = np.sqrt(
            sum(variance([(p[k], a[k] - b[k]), (q[k] - p[k], -b[k])]) / sizes[k] for k in range(2))
        )
        short = penalized(best) - penalized(candidate)
        weights.append(candidate[4] * np.exp(-2 * (short / error) ** 2) if short else candidate[4])
    middle = np.searchsorted(np.cumsum(weights), sum(weights) / 2)
    return candidates[middle][0]


@pytest.mark.parametrize("target", ["population", "unlabeled"])
@pytest.mark.parametrize("decimals", [1, 6])
def test_against_a_slow_version(rng, target, decimals):
    for n in (60, 200, 600):
        _, score, labeled = draw(rng, n, prevalence=0.4, label_frequency=0.4)
        score = np.round(score, decimals)
        ev = evaluate(labeled, score, prior=0.2, target=target, level=None)
        assert ev.threshold == slow_choice(labeled, score, target)


@pytest.mark.filterwarnings("ignore::pueval.errors.AssumptionWarning")
def test_prior_and_purity_do_not_matter(rng):
    _, score, labeled = draw(rng, 2000, prevalence=0.3, label_frequency=0.4)
    for target in ("population", "unlabeled"):
        thresholds = {
            evaluate(
                labeled, score, prior=prior, purity=purity, target=target, level=None
            ).threshold
            for prior, purity in ((0.01, 1.0), (0.2, 1.0), (0.5, 0.9))
        }
        assert len(thresholds) == 1


def test_with_many_rows_it_is_close_to_the_best(rng):
    n = 400_000
    positive = rng.random(n) < 0.3
    score = rng.normal(size=n) + 2 * positive
    labeled = positive & (rng.random(n) < 0.5)
    at = np.linspace(0, 3, 3001)
    tpr, fpr = norm.sf(at - 2), norm.sf(at)
    predicted = 0.3 * tpr + 0.7 * fpr
    best = at[np.argmax((tpr - fpr) / np.sqrt(predicted * (1 - predicted)))]
    ev = evaluate(labeled, score, prevalence=0.3, level=None)
    assert ev.threshold == pytest.approx(best, abs=0.05)


@pytest.mark.filterwarnings("ignore::pueval.errors.AssumptionWarning")
def test_few_labeled_rows():
    """Thirty labeled rows: no chance peak at the top, and intervals that say something."""
    case = Case("normal", 0.05, 30, 3000, "unlabeled")
    rng = np.random.default_rng(0)
    recall = []
    for _ in range(100):
        y, score = case.draw(rng)
        ev = evaluate(y, score, prior=0.05, target="unlabeled", level=None)
        recall.append(MEASURES["recall"](case.rates(ev.threshold))[0])
    assert np.quantile(recall, 0.05) > 0.2
    found = simulate(case, 40, n_resamples=150)
    assert found["precision"][0] >= 0.85
    assert found["precision"][2] < 0.6
    assert found["loss"][0] < 0.05


@pytest.mark.parametrize("seed", range(8))
def test_resamples_choose_among_thresholds_near_the_best(seed, monkeypatch):
    """In large samples, those that are left out are chosen by no resample."""
    rng = np.random.default_rng(seed)
    positive = rng.random(20_000) < (0.2 if seed % 2 else 0.5)
    score = rng.normal(size=positive.size) + [0.5, 1.5, 3.0, 4.5][seed % 4] * positive
    if seed > 5:
        score = np.round(score, 1)
    counts = Counts.from_arrays(positive & (rng.random(positive.size) < 0.5), score)
    chosen = {}
    for large in (10**9, default_threshold_module.LARGE_SAMPLE):
        monkeypatch.setattr(default_threshold_module, "LARGE_SAMPLE", large)
        ev = evaluate(counts, prior=0.1, n_resamples=500)
        resamples = ev._resamples
        threshold = resamples.draws.threshold
        shares = Shares.of(counts, counts.at(threshold))
        choice = StableChoice.of(counts, threshold, shares, ev.mixture, ev.target)
        if seed % 4 >= 2:  # the best is easy to tell from others
            assert (choice.near_best(shares)[1].size < threshold.size / 2) == (large < 10**9)
        chosen[large] = ChosenThresholdIntervals(resamples, ev.threshold).repeated_choice
    every, near = chosen.values()
    for kind in ("resampled", "expected"):
        for first, second in zip(getattr(every, kind)[:2], getattr(near, kind)[:2], strict=True):
            np.testing.assert_array_equal(first, second)
    assert every.reached == near.reached
