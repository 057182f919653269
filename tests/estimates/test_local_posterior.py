"""Posterior and likelihood ratio at a score: against slow versions and the truth."""

import warnings

import numpy as np
import pytest

from pueval import AssumptionWarning, InputError, evaluate

SEPARATION = 2.0


def draw(n, *, seed=0, digits=None, prevalence=0.2, frequency=0.3):
    rng = np.random.default_rng(seed)
    positive = rng.random(n) < prevalence
    score = rng.normal(size=n) + SEPARATION * positive
    labeled = positive & (rng.random(n) < frequency)
    return positive, labeled, score if digits is None else score.round(digits)


def true_ratio(score):
    return np.exp(SEPARATION * np.asarray(score) - SEPARATION**2 / 2)


@pytest.mark.parametrize("digits", [None, 1])
@pytest.mark.parametrize("target", ["population", "unlabeled"])
def test_values_are_those_of_the_rows_in_the_window(digits, target):
    """Slow version: find the window in sorted rows, then solve for the shares by hand."""
    _, labeled, score = draw(4000, digits=digits)
    prior = 0.15
    ev = evaluate(labeled, score, prior=prior, target=target, level=None)
    wanted = [-0.7, 0.4, 2.1, 9.0]
    found = ev.posterior(wanted, window=0.05)
    in_target = ~labeled if target == "unlabeled" else np.ones(4000, dtype=bool)
    rows = np.sort(score[in_target])
    size = max(0.05 * rows.size, 100)
    for k, s in enumerate(wanted):
        middle = ((rows < s).sum() + (rows <= s).sum()) / 2
        start = min(max(middle - size / 2, 0), rows.size - size)
        low, high = rows[int(np.round(start))], rows[int(np.round(start + size - 1))]
        assert (found.window_low[k], found.window_high[k]) == (low, high)
        inside = (score >= low) & (score <= high)
        gamma, unlabeled = inside[labeled].mean(), inside[~labeled].mean()
        eta = (unlabeled - prior * gamma) / (1 - prior)
        if target == "unlabeled":
            expected, naive = prior * gamma / unlabeled, labeled[inside].mean()
        else:
            positives = labeled.sum() + prior * (~labeled).sum()
            expected, naive = positives * gamma / inside.sum(), labeled[inside].mean()
        assert found.posterior[k] == pytest.approx(min(expected, 1), abs=1e-12)
        assert found.naive[k] == pytest.approx(naive, abs=1e-12)
        assert found.rows[k] == pytest.approx(inside[in_target].sum())
        ratio = gamma / eta if eta > 0 else np.inf
        assert found.likelihood_ratio[k] == pytest.approx(ratio, rel=1e-9)
    assert np.isnan(found.low).all()


@pytest.mark.parametrize("purity", [1.0, 0.8])
def test_numbers_of_rows_are_counted_beside_known_negatives(purity):
    """They are no estimates, though rates are estimated from known negatives, too."""
    rng = np.random.default_rng(1)
    score = rng.integers(0, 100, 900) / 100
    y = np.repeat([1, 0, -1], [150, 600, 150])
    options = {"purity": purity, "target": "unlabeled", "negative_label": -1, "level": None}
    ev = evaluate(y, score, prior=0.2, **options)
    unlabeled = score[y == 0]
    local = ev.posterior([0.2, 0.7], window=0.3)
    inside = (unlabeled >= local.window_low[:, None]) & (unlabeled <= local.window_high[:, None])
    np.testing.assert_array_equal(local.rows, inside.sum(axis=1))
    rows = ev.calibration(bins=4).rows
    edges = np.unique(np.quantile(unlabeled, [0.25, 0.5, 0.75]))
    np.testing.assert_array_equal(rows, np.bincount(np.searchsorted(edges, unlabeled)))


def test_without_hidden_positives_it_is_the_share_of_positives():
    positive, _, score = draw(3000)
    found = evaluate(positive, score, prior=0.0, level=None).posterior(1.0)
    inside = (score >= found.window_low[0]) & (score <= found.window_high[0])
    assert inside.sum() == 100
    assert found.posterior[0] == found.naive[0] == pytest.approx(positive[inside].mean())


def test_equal_weights_change_nothing_and_monotone_transformations_neither():
    _, labeled, score = draw(3000)
    ev = evaluate(labeled, score, prior=0.15, n_resamples=100)
    expected = ev.posterior([0.5, 2.0])
    weighted = evaluate(
        labeled, score, prior=0.15, n_resamples=100, sample_weight=np.full(3000, 2.5)
    ).posterior([0.5, 2.0])
    np.testing.assert_allclose(weighted.posterior, expected.posterior, atol=0.01)
    transformed = evaluate(labeled, np.exp(score), prior=0.15, n_resamples=100).posterior(
        np.exp([0.5, 2.0])
    )
    np.testing.assert_allclose(transformed.posterior, expected.posterior, rtol=1e-12)
    np.testing.assert_allclose(transformed.low, expected.low, rtol=1e-9)


def test_another_prevalence_changes_the_posterior_and_not_the_ratio():
    _, labeled, score = draw(20_000)
    ev = evaluate(labeled, score, prevalence=0.2, n_resamples=200)
    own, other = ev.posterior(2.0), ev.posterior(2.0, prevalence=0.05)
    np.testing.assert_allclose(other.likelihood_ratio, own.likelihood_ratio)
    ratio = other.likelihood_ratio[0]
    assert other.posterior[0] == pytest.approx(ratio * 0.05 / (ratio * 0.05 + 0.95))
    odds = own.posterior[0] / (1 - own.posterior[0])
    assert odds == pytest.approx(ratio * 0.2 / 0.8)
    assert other.low[0] < other.posterior[0] < other.high[0]
    assert own.likelihood_ratio_low[0] < true_ratio(2.0) < own.likelihood_ratio_high[0]


@pytest.mark.parametrize("known", [{"prior": (0.1, 0.2)}, {}])
def test_uncertain_priors_widen_intervals(known):
    _, labeled, score = draw(5000)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssumptionWarning)
        ev = evaluate(labeled, score, n_resamples=100, **known)
        exact = evaluate(labeled, score, prior=ev.prior, n_resamples=100)
    wide, narrow = ev.posterior(1.5), exact.posterior(1.5)
    assert wide.high - wide.low > 1.1 * (narrow.high - narrow.low)


def test_evidence_thresholds():
    _, labeled, score = draw(60_000)
    ev = evaluate(labeled, score, prevalence=0.2, n_resamples=200)
    found = ev.evidence_thresholds()
    np.testing.assert_allclose(
        found.required[:4], [350, 350**0.5, 350**0.25, 350**0.125], rtol=1e-12
    )
    np.testing.assert_allclose(found.required[4:], 1 / found.required[:4][::-1], rtol=1e-12)
    assert found.evidence_for == ("positive",) * 4 + ("negative",) * 4
    assert found.strength[:2] == ("very strong", "strong")
    # Scores for which the evidence holds in truth, and not much later than it begins.
    moderate, supporting = found.score[2:4]
    assert true_ratio(moderate) >= 4.33
    assert moderate - (np.log(4.33) + 2) / 2 < 0.35
    assert true_ratio(supporting) >= 2.08
    assert found.rows[3] == pytest.approx(np.mean(score >= supporting))
    negative = found.score[4]
    assert true_ratio(negative) <= 1 / 2.08
    assert found.rows[4] == pytest.approx(np.mean(score <= negative))
    assert "supporting, positive" in str(found)
    assert found.frame().shape == (8, 5)


def test_weak_scores_are_no_evidence():
    rng = np.random.default_rng(1)
    labeled = (rng.random(3000) < 0.3) & (rng.random(3000) < 0.3)
    ev = evaluate(labeled, rng.random(3000), prior=0.2, n_resamples=100, threshold=0.5)
    found = ev.evidence_thresholds()
    assert np.isnan(found.score).all()
    assert (found.rows == 0).all()
    assert "none" in str(found)


@pytest.mark.thorough
def test_coverage_and_safety():
    """Intervals hold the truth, and evidence is claimed wrongly in at most 5% of samples."""
    scores = np.array([0.0, 1.0, 2.0])
    ratio = true_ratio(scores)
    posterior = 0.2 * ratio / (0.2 * ratio + 0.8)
    held, wrong = [], []
    for number in range(80):
        _, labeled, score = draw(6000, seed=number)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", AssumptionWarning)
            ev = evaluate(labeled, score, prevalence=0.2, n_resamples=200, threshold=1.0)
        found = ev.posterior(scores)
        held.append((found.low <= posterior) & (posterior <= found.high))
        threshold = ev.evidence_thresholds(window=0.1).score
        wrong.append(
            [
                true_ratio(threshold[2]) < 350**0.25,
                true_ratio(threshold[3]) < 350**0.125,
                true_ratio(threshold[4]) > 350**-0.125,
            ]
        )
    error = np.sqrt(0.05 * 0.95 / 80)
    assert np.mean(held, axis=0).min() >= 0.95 - 3 * error
    assert np.mean(wrong, axis=0).max() <= 0.05 + 2 * error


def test_mistakes_are_named():
    _, labeled, score = draw(500)
    ev = evaluate(labeled, score, prior=0.1, level=None)
    for wrong in ("a", [], np.nan):
        with pytest.raises(InputError, match="score must be a number"):
            ev.posterior(wrong)
    with pytest.raises(InputError, match="window must be a number in"):
        ev.posterior(1.0, window=3)
    with pytest.raises(InputError, match="prevalence must be a number in"):
        ev.posterior(1.0, prevalence=0)
    with pytest.raises(InputError, match="needs intervals"):
        ev.evidence_thresholds()
    with pytest.raises(InputError, match="likelihood ratio above 1"):
        ev.evidence_thresholds(very_strong=1)


def test_scores_beyond_all_rows_are_named():
    rng = np.random.default_rng(0)
    positive = rng.random(2000) < 0.3
    score = rng.normal(size=2000) + positive
    ev = evaluate(positive & (rng.random(2000) < 0.5), score, prevalence=0.3, level=None)
    assert "1 score lies beyond all rows" in str(ev.posterior([0, 99]))
    assert "2 scores lie beyond all rows" in str(ev.posterior([-99, 99]))
    assert "beyond" not in str(ev.posterior([score.min(), 0, score.max()]))
