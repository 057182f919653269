"""Net benefit and decision curves: against row-by-row sums, and against the truth."""

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import norm

from pueval import AssumptionWarning, Counts, InputError, evaluate, metrics
from pueval.displays import DecisionCurveDisplay
from pueval.text.numbers import CLIPPED_NOTE

THRESHOLDS = [0.05, 0.2, 0.45, 0.7]


def draw(n, *, seed=0, digits=None):
    """Draw log-odds N(±1.25, 2.5) + logit(.3): calibrated probabilities."""
    rng = np.random.default_rng(seed)
    positive = rng.random(n) < 0.3
    odds = rng.normal(size=n) * np.sqrt(2.5) + 1.25 * (2 * positive - 1) + np.log(3 / 7)
    score = expit(odds)
    labeled = positive & (rng.random(n) < 0.3)
    return positive, labeled, score if digits is None else score.round(digits)


def true_net_benefit(q):
    cut = np.log(q / (1 - q)) - np.log(3 / 7)
    tpr, fpr = (norm.sf(cut, mean, np.sqrt(2.5)) for mean in (1.25, -1.25))
    return 0.3 * tpr - 0.7 * fpr * q / (1 - q)


@pytest.mark.parametrize("digits", [None, 1])
@pytest.mark.parametrize("weighted", [False, True])
def test_without_correction_it_is_the_sum_over_rows(digits, weighted):
    positive, _, score = draw(777, digits=digits)
    weight = np.random.default_rng(1).random(777) + 0.5 if weighted else np.ones(777)
    for q in THRESHOLDS:
        treated = score >= q
        worth = np.where(positive, 1.0, -q / (1 - q))
        expected = np.sum(weight * treated * worth) / weight.sum()
        found = metrics.net_benefit(positive, score, prior=0, threshold=q, sample_weight=weight)
        assert found == pytest.approx(expected, abs=1e-12)
        prevalence = np.average(positive, weights=weight)
        standardized = metrics.net_benefit(
            positive, score, prior=0, threshold=q, sample_weight=weight, standardized=True
        )
        assert standardized == pytest.approx(expected / prevalence, abs=1e-12)
        ev = evaluate(positive, score, prior=0.0, sample_weight=weight, threshold=0.5, level=None)
        benefit = ev.net_benefit(q)
        assert benefit.model.value == benefit.model.naive == pytest.approx(expected, abs=1e-12)
        everybody = np.sum(weight * worth) / weight.sum()
        assert benefit.treat_all.value == pytest.approx(everybody, abs=1e-12)
        assert benefit.gain.value == pytest.approx(expected - everybody, abs=1e-12)


@pytest.mark.parametrize("target", ["population", "unlabeled"])
@pytest.mark.parametrize("purity", [1.0, 0.9])
def test_with_known_negatives_and_noise_it_is_the_sum_over_expected_rows(target, purity):
    """Slow version: solve for the share of positives above the threshold, then add up."""
    _, labeled, score = draw(900, digits=2)
    y = labeled.astype(int)
    y[(y == 0) & (np.arange(900) % 9 == 0)] = 2
    prior = 0.2
    ev = evaluate(y, score, prior=prior, purity=purity, target=target, negative_label=2, level=None)
    kinds = [y == 1, y == 0, y == 2]
    background = kinds[1] | kinds[2]
    for q in THRESHOLDS:
        above = score >= q
        # Shares of positives among labeled rows and in the background.
        mixing = np.array([[purity, 1 - purity], [prior * kinds[1].sum() / background.sum(), 0.0]])
        mixing[1, 1] = 1 - mixing[1, 0]
        tpr, fpr = np.linalg.solve(mixing, [above[kinds[0]].mean(), above[background].mean()])
        positives = prior * kinds[1].sum()
        size = kinds[1].sum()
        if target == "population":
            positives, size = positives + purity * kinds[0].sum(), 900
        share = positives / size
        expected = share * tpr - (1 - share) * fpr * q / (1 - q)
        if target == "population":
            # Rows above the threshold are known, so that false positives are the rest.
            expected = share * tpr - (above.mean() - share * tpr) * q / (1 - q)
        assert ev.net_benefit(q).model.value == pytest.approx(expected, abs=1e-12)


def test_the_naive_curve_says_treat_nobody_and_the_corrected_one_is_right():
    _, labeled, score = draw(60_000)
    curve = evaluate(labeled, score, prevalence=0.3, n_resamples=300).decision_curve()
    truth = true_net_benefit(curve.threshold)
    shown = curve.threshold <= 0.9
    assert np.mean(((curve.low <= truth) & (truth <= curve.high))[shown]) >= 0.8
    np.testing.assert_allclose(curve.value[shown], truth[shown], atol=0.02)
    np.testing.assert_allclose(
        curve.treat_all, 0.3 - 0.7 * curve.threshold / (1 - curve.threshold), atol=1e-12
    )
    middle = curve.threshold == 0.3
    assert curve.naive[middle] < 0 < curve.low[middle]
    ((low, high),) = curve.significantly_better[:1]
    assert low <= 0.05
    assert high >= 0.7
    assert np.all(curve.gain <= np.minimum(curve.value, curve.value - curve.treat_all) + 1e-12)
    assert curve.to_dict()["better"][0] == [*curve.better[0]]
    assert "Lower confidence limit" in str(curve)


def test_a_useless_model_is_nowhere_significantly_better():
    rng = np.random.default_rng(5)
    positive = rng.random(5000) < 0.3
    labeled = positive & (rng.random(5000) < 0.4)
    ev = evaluate(labeled, rng.random(5000), prevalence=0.3, n_resamples=300, threshold=0.5)
    assert len(ev.decision_curve(thresholds=np.arange(1, 20) / 20).significantly_better) <= 1


def test_uncertain_priors_and_clusters_widen_intervals():
    _, labeled, score = draw(3000)
    cluster = np.arange(3000) // 3
    options = {"n_resamples": 300, "threshold": 0.5}
    exact = evaluate(labeled, score, prior=0.23, **options).net_benefit(0.3, standardized=True)
    region = evaluate(labeled, score, prior=(0.2, 0.26), **options).net_benefit(
        0.3, standardized=True
    )
    assert region.model.low < exact.model.low < exact.model.high < region.model.high
    twice = np.repeat(np.arange(3000), 2)
    doubled = evaluate(
        labeled[twice], score[twice], prior=0.23, cluster=cluster[twice], **options
    ).net_benefit(0.3, standardized=True)
    assert doubled.model.standard_error > 0.9 * exact.model.standard_error


@pytest.mark.thorough
def test_coverage():
    rng = np.random.default_rng(8)
    held, gains = [], []
    for number in range(150):
        _, labeled, score = draw(2000, seed=rng)
        ev = evaluate(labeled, score, prevalence=0.3, n_resamples=200, threshold=0.5, seed=number)
        curve = ev.decision_curve(thresholds=THRESHOLDS)
        truth = true_net_benefit(curve.threshold)
        odds = curve.threshold / (1 - curve.threshold)
        gain = np.minimum(truth, truth - (0.3 - 0.7 * odds))
        held.append((curve.low <= truth) & (truth <= curve.high))
        gains.append((curve.gain_low <= gain) & (gain <= curve.gain_high))
    error = np.sqrt(0.05 * 0.95 / 150)
    assert np.mean(held, axis=0).min() >= 0.95 - 3 * error
    assert np.mean(gains, axis=0).min() >= 0.95 - 3 * error


def test_mistakes_are_named():
    _, labeled, score = draw(300)
    ev = evaluate(labeled, score, prior=0.1, level=None)
    for wrong in (0, 1, 20, "a", True):
        with pytest.raises(InputError, match="the risk threshold must be a number in"):
            ev.net_benefit(wrong)
    with pytest.raises(InputError, match="empty"):
        ev.decision_curve(thresholds=[])
    with pytest.raises(InputError, match="needs probabilities"):
        evaluate(labeled, 3 * score, prior=0.1, level=None).decision_curve()


def test_display():
    _, labeled, score = draw(2000)
    ev = evaluate(labeled, score, prevalence=0.3, n_resamples=100, threshold=0.5)
    display = DecisionCurveDisplay.from_evaluation(ev, thresholds=THRESHOLDS, name="forest")
    assert display.line_.get_xdata().tolist() == THRESHOLDS
    assert display.band_ is not None
    assert [line.get_label() for line in (display.treat_all_, display.treat_none_)] == [
        "treat all",
        "treat none",
    ]
    bare = ev.decision_curve(standardized=True).plot(plot_naive=False, plot_band=False)
    assert bare.band_ is bare.naive_line_ is None
    assert bare.ax_.get_ylabel() == "Standardized net benefit"
    plt.close("all")


@pytest.fixture(scope="module")
def negative_fpr():
    """Few labeled rows: at high thresholds the corrected false positive rate is below 0."""
    rng = np.random.default_rng(3)
    top, rest = np.full(5, 0.995), 0.98 * rng.random(993)
    score = np.r_[top, rest[:95], top[:2], rest[95:]]
    return np.repeat([1, 0], [100, 900]), score


@pytest.mark.parametrize(("least", "most"), [(0.19, 0.19), (0.17, 0.21)])
def test_net_benefit_is_at_most_the_prevalence(negative_fpr, least, most):
    y, score = negative_fpr
    prevalence = 0.19 if least == most else (least, most)
    ev = evaluate(y, score, prevalence=prevalence, threshold=0.5, n_resamples=200)
    assert ev.at(0.99)["false_positive_rate"].unclipped < 0
    found = ev.net_benefit(0.99)
    assert found.model.value == ev.prevalence < found.model.unclipped
    # The interval of the prevalence includes that the number of labeled rows varies.
    slack = 1e-12 if least == most else 0.02
    assert most - 1e-12 <= found.model.high <= most + slack
    assert found.gain.value == pytest.approx(99 * (1 - ev.prevalence), rel=1e-12)
    assert 0.99 * (1 - least) - 1e-12 <= found.gain.high / 99 <= 1 - least + slack
    assert str(found).endswith(CLIPPED_NOTE)
    standardized = ev.net_benefit(0.99, standardized=True)
    assert standardized.model.value == standardized.model.high == 1
    curve = ev.decision_curve(thresholds=[0.9, 0.99])
    assert curve.value.max() == ev.prevalence
    assert curve.high.max() <= most + slack
    with pytest.warns(AssumptionWarning, match="clipped to 0.19"):
        value = metrics.net_benefit(y, score, prior=0.1, threshold=0.99)
    assert value == pytest.approx(0.19, abs=1e-12)


def test_text_of_a_known_prevalence_has_no_interval():
    """Resamples of a constant differ by rounding errors."""
    _, labeled, score = draw(900)
    ev = evaluate(labeled, score, prevalence=1 / 9 + 0.1, threshold=0.5, n_resamples=200)
    for q in (0.05, 0.1, 0.2, 0.99):
        treat_all = str(ev.net_benefit(q, standardized=True)).splitlines()[1]
        assert "(" not in treat_all
    uncertain = evaluate(labeled, score, prevalence=(0.2, 0.3), threshold=0.5, n_resamples=200)
    assert "(" in str(uncertain.net_benefit(0.1)).splitlines()[1]
    assert "at 1 risk threshold\n" in str(ev.decision_curve(thresholds=[0.3]))


def wilson(share, n, sign):
    """Wilson's 95% limit of a share."""
    square = 1.959964**2 / n
    margin = np.sqrt(square * share * (1 - share) + square**2 / 4)
    return (share + square / 2 + sign * margin) / (1 + square)


@pytest.mark.parametrize("standardized", [False, True])
def test_intervals_where_no_labeled_row_lies_above_the_threshold(standardized):
    """By hand: limits of both shares on their own, and changes that add in quadrature."""
    sizes = np.array([50, 1004])
    counts = Counts.from_table([0.95, 0.5, 0.1], labeled=[0, 30, 20], unlabeled=[4, 300, 700])
    prevalence = (50 + 0.1 * 1004) / 1054
    ev = evaluate(counts, prior=0.1, threshold=0.5)
    found = ev.net_benefit(0.9, standardized=standardized)

    def benefit(shares):
        tp, predicted = prevalence * shares[0], sizes @ shares / 1054
        return (tp - 9 * (predicted - tp)) / (prevalence if standardized else 1)

    shares = np.array([0, 4 / 1004])
    value = benefit(shares)
    changes = {-1: [], 1: []}
    for kind, side in np.ndindex(2, 2):
        moved = shares.copy()
        moved[kind] = wilson(shares[kind], sizes[kind], 2 * side - 1)
        change = benefit(moved) - value
        changes[1 if change > 0 else -1].append(change)
    assert found.model.value == pytest.approx(value)
    assert found.model.low == pytest.approx(value - np.linalg.norm(changes[-1]), rel=1e-4)
    assert found.model.high == pytest.approx(value + np.linalg.norm(changes[1]), rel=1e-4)
    assert found.gain.high - found.gain.value > 0.9 * np.linalg.norm(changes[1])


def test_a_net_benefit_beyond_all_scores_is_not_certain():
    """Other samples may have rows there."""
    rng = np.random.default_rng(0)
    positive = rng.random(1000) < 0.2
    score = np.where(positive, rng.uniform(0.2, 0.7, 1000), rng.uniform(0, 0.5, 1000))
    ev = evaluate(positive & (rng.random(1000) < 0.3), score, prevalence=0.2, threshold=0.3)
    model = ev.net_benefit(0.8).model
    assert model.value == 0
    assert model.low < -0.01
    assert model.high > 0.04
