"""The correction: cases worked by hand, exact distributions, and known truth."""

import numpy as np
import pytest
from scipy.stats import norm
from sklearn import metrics as sk

from pueval import Counts, Mixture, conversions, evaluate, metrics
from pueval.core.measures import MEASURES, fbeta
from pueval.core.rates import LINES, Rates, Shares, correct_pair
from tests.conftest import draw


class TestByHand:
    """10 labeled, 100 unlabeled, 4 + 20 of them at or above the threshold 2; prior .2.

    tpr = .4, fpr = (.2 − .2·.4)/.8 = .15; positives 10 + 20 = 30 of 110;
    true positives 12 of 24 predicted.
    """

    counts = Counts.from_table([2, 1], labeled=[4, 6], unlabeled=[20, 80])

    def test_population(self):
        ev = evaluate(self.counts, prior=0.2, threshold=2)
        assert ev["recall"].value == pytest.approx(0.4)
        assert ev["specificity"].value == pytest.approx(0.85)
        assert ev["precision"].value == pytest.approx(12 / 24)
        assert ev["accuracy"].value == pytest.approx((12 + 68) / 110)
        assert ev["f1"].value == pytest.approx(2 * 12 / (24 + 30))
        assert ev["matthews_corrcoef"].value == pytest.approx(
            (12 * 68 - 12 * 18) / np.sqrt(24 * 30 * 80 * 86)
        )
        assert vars(ev.table) == pytest.approx(
            {
                "true_positive": 12,
                "false_positive": 12,
                "false_negative": 18,
                "true_negative": 68,
            }
        )
        # Naive: 4 of 24 predicted are labeled.
        assert ev["precision"].naive == pytest.approx(4 / 24)
        assert ev["f1"].naive == pytest.approx(8 / 34)

    def test_unlabeled(self):
        ev = evaluate(self.counts, prior=0.2, threshold=2, target="unlabeled")
        assert ev["recall"].value == pytest.approx(0.4)
        assert ev["precision"].value == pytest.approx(8 / 20)
        assert ev["accuracy"].value == pytest.approx((8 + 68) / 100)
        assert ev["f1"].value == pytest.approx(2 * 8 / (20 + 20))
        assert ev["precision"].naive == pytest.approx(4 / 24)

    def test_noisy_labels(self):
        # purity .8: tpr = (.8·.4 − .2·.2)/.6 = 7/15, fpr = (.8·.2 − .2·.4)/.6 = 2/15;
        # positives 8 + 20 = 28.
        ev = evaluate(self.counts, prior=0.2, purity=0.8, threshold=2)
        assert ev["recall"].value == pytest.approx(7 / 15)
        assert ev["false_positive_rate"].value == pytest.approx(2 / 15)
        assert ev["precision"].value == pytest.approx(28 * 7 / 15 / 24)

    def test_known_negatives_are_counted_exactly(self):
        # 50 known negatives, 5 of them predicted positive, on top of 12 + 12 and 68 + 18.
        counts = Counts.from_table([2, 1], labeled=[4, 6], unlabeled=[20, 80], negative=[5, 45])
        ev = evaluate(counts, prior=0.2, threshold=2)
        assert vars(ev.table) == pytest.approx(
            {
                "true_positive": 12,
                "false_positive": 17,
                "false_negative": 18,
                "true_negative": 113,
            }
        )
        assert ev["precision"].value == pytest.approx(12 / 29)

    def test_known_negatives_as_claesen(self, rng):
        """Table at a rank: labeled and negatives counted, unlabeled split by the rank CDF."""
        y = rng.choice([1, 0, 2], p=[0.1, 0.7, 0.2], size=2000)
        positive = (y == 1) | ((y == 0) & (rng.random(2000) < 0.3))
        score = rng.normal(size=2000) + positive
        ev = evaluate(y, score, prior=0.3, negative_label=2)
        for threshold in (-1.0, 0.0, 0.7):
            head = score >= threshold
            surrogates = (head & (y == 1)).sum() / (y == 1).sum() * 0.3 * (y == 0).sum()
            table = ev.at(threshold).table
            assert table.true_positive == pytest.approx((head & (y == 1)).sum() + surrogates)
            assert table.false_positive == pytest.approx(
                (head & (y == 2)).sum() + (head & (y == 0)).sum() - surrogates
            )
            assert table.true_negative == pytest.approx(
                (~head & (y == 2)).sum()
                + (1 - 0.3) * (y == 0).sum()
                - ((head & (y == 0)).sum() - surrogates)
            )

    def test_purity_without_unlabeled_rows(self):
        # labeled .4 = .8·tpr + .2·.1 above the threshold.
        counts = Counts.from_table([2, 1], [4, 6], [0, 0], negative=[10, 90])
        ev = evaluate(counts, purity=0.8, threshold=2)
        assert ev["recall"].value == pytest.approx((0.4 - 0.2 * 0.1) / 0.8)
        assert ev["specificity"].value == pytest.approx(0.9)


class TestRamolaCaseStudy:
    """N(−1, 1) and N(1, 1), prior 1/4, purity 3/4, labeled share 1/10, on exact distributions."""

    tau = np.linspace(-5, 5, 100_001)
    prior, purity, share = 0.25, 0.75, 0.1

    def rates(self):
        tpr, fpr = norm.sf(self.tau, 1), norm.sf(self.tau, -1)
        labeled = self.purity * tpr + (1 - self.purity) * fpr
        unlabeled = self.prior * tpr + (1 - self.prior) * fpr
        predicted = self.share * labeled + (1 - self.share) * unlabeled
        corrected = correct_pair(labeled, unlabeled, Mixture(self.prior, self.purity), self.prior)
        prevalence = self.share * self.purity + (1 - self.share) * self.prior
        return (
            Rates(self.tau, *corrected, predicted, prevalence, 1.0),
            Rates(self.tau, labeled, unlabeled, predicted, self.share, 1.0),
        )

    @pytest.mark.parametrize(
        ("name", "value", "tau", "naive", "naive_tau"),
        [
            ("accuracy", 0.86, 0.42, 0.90, 5.0),
            ("balanced_accuracy", 0.84, 0.0, 0.67, 0.0),
            ("f1", 0.77, 0.19, 0.30, 0.50),
            ("matthews_corrcoef", 0.66, 0.29, 0.22, 0.29),
        ],
    )
    def test_figure_1(self, name, value, tau, naive, naive_tau):
        for rates, best, at in zip(self.rates(), (value, naive), (tau, naive_tau), strict=True):
            values = MEASURES[name](rates)
            assert round(values.max(), 2) == best
            assert self.tau[values.argmax()] == pytest.approx(at, abs=0.0051)

    def test_direct_forms_of_theorem_2_1(self):
        corrected, naive = self.rates()
        given = {"prior": self.prior, "purity": self.purity}
        conversion_options = {
            "balanced_accuracy": given,
            "matthews_corrcoef": given | {"labeled_share": self.share},
        }
        for name, options in conversion_options.items():
            convert = getattr(conversions, name)
            some = slice(None, None, 100)
            np.testing.assert_allclose(
                [convert(value, **options) for value in MEASURES[name](naive)[some]],
                MEASURES[name](corrected)[some],
                atol=1e-12,
            )


@pytest.mark.parametrize("target", ["population", "unlabeled"])
def test_two_million_rows_of_purity_three_quarters(target):
    rng = np.random.default_rng(7)
    positive, score, labeled = draw(
        rng, 2_000_000, prevalence=0.3, label_frequency=0.4, purity=0.75
    )
    prior = positive[~labeled].mean()
    purity = positive[labeled].mean()
    ev = evaluate(labeled, score, prior=prior, purity=purity, target=target)
    rows = slice(None) if target == "population" else ~labeled
    truth = evaluate(
        Counts.from_arrays(positive[rows], score[rows], unlabeled_label=None, negative_label=0),
        threshold=ev.threshold,
    )
    for name in ev:
        scale = max(1.0, truth[name].value)  # lift and likelihood ratios are not shares
        assert abs(ev[name].value - truth[name].value) < 0.005 * scale, name
    for name in ("accuracy", "balanced_accuracy", "f1", "matthews_corrcoef"):
        assert abs(ev.best(name).value - truth.best(name).value) < 0.005, name
    assert abs(ev.roc().area - truth["roc_auc"].value) < 0.005
    assert abs(ev.pr().area - truth["average_precision"].value) < 0.005
    # And the naive numbers are wrong, or there would be no need for any of this.
    assert abs(ev["roc_auc"].naive - truth["roc_auc"].value) > 0.1
    assert abs(ev["f1"].naive - truth["f1"].value) > 0.1


def test_average_precision_with_noise_against_all_rows(rng):
    """Rates at labeled scores are enough: none between them is lower and reaches as much."""
    _, score, labeled = draw(rng, 1500, prevalence=0.3, label_frequency=0.3, purity=0.8)
    prior, purity = 0.2, 0.8
    n_l, n_u = labeled.sum(), (~labeled).sum()
    order = np.argsort(-score)
    g, e = np.cumsum(labeled[order]) / n_l, np.cumsum(~labeled[order]) / n_u
    tpr = np.clip(((1 - prior) * g - (1 - purity) * e) / (purity - prior), 0, 1)
    fpr = np.clip((purity * e - prior * g) / (purity - prior), 0, 1)
    prevalence = (purity * n_l + prior * n_u) / len(score)
    slow, before = 0.0, 0.0
    for recall in np.unique(tpr[labeled[order]]):
        hits = prevalence * recall
        lowest = fpr[tpr >= recall].min()
        slow += (recall - before) * (hits / (hits + (1 - prevalence) * lowest) if hits else 0)
        before = recall
    fast = metrics.average_precision_score(labeled, score, prior=prior, purity=purity)
    assert fast == pytest.approx(slow, abs=1e-9)


def test_default_threshold_depends_on_neither_prior_nor_purity(rng):
    _, score, labeled = draw(rng, 5000, prevalence=0.3, label_frequency=0.3)
    thresholds = {
        evaluate(labeled, score, prior=prior, purity=purity).threshold
        for prior, purity in [(0.0, 1.0), (0.1, 1.0), (0.2, 0.95), (0.1, 0.9)]
    }
    assert len(thresholds) == 1


def test_tabatabaei_f_is_ramola_f(rng):
    _, score, labeled = draw(rng, 4000, prevalence=0.3, label_frequency=0.3)
    counts = Counts.from_arrays(labeled, score)
    frequency = 0.35
    mixture = Mixture.from_label_frequency(counts, frequency)
    threshold, beta = 0.8, 1.7
    above, s, s1 = (score >= threshold).sum(), labeled.sum(), labeled[score >= threshold].sum()
    tabatabaei = (1 + beta**2) * s1 / (frequency * above + beta**2 * s)
    predicted = score >= threshold
    assert metrics.fbeta_score(labeled, predicted, beta=beta, prior=mixture.prior) == pytest.approx(
        tabatabaei
    )
    ev = evaluate(counts, label_frequency=frequency, threshold=threshold)
    assert ev["f1.7"].value == pytest.approx(tabatabaei)
    assert fbeta(beta).name == "f1.7"


@pytest.mark.parametrize("target", ["population", "unlabeled"])
def test_precision_from_naive_precision_is_the_same_number(rng, target):
    _, score, labeled = draw(rng, 4000, prevalence=0.3, label_frequency=0.3, purity=0.9)
    ev = evaluate(labeled, score, prior=0.2, purity=0.9, target=target, threshold=0.5)
    assert conversions.precision(
        ev["precision"].naive,
        prior=0.2,
        purity=0.9,
        labeled_share=ev.counts.labeled_share,
        target=target,
    ) == pytest.approx(ev["precision"].value)


def test_direct_auc_of_pairs(rng):
    """Equation 4, with the AUC of labeled against unlabeled rows from scikit-learn."""
    _, score, labeled = draw(rng, 1000, prevalence=0.3, label_frequency=0.3)
    naive = sk.roc_auc_score(labeled, np.round(score, 1))
    ours = metrics.roc_auc_score(labeled, np.round(score, 1), prior=0.1, purity=0.95)
    assert ours == pytest.approx((naive - (1 - 0.85) / 2) / 0.85)
    assert conversions.roc_auc(naive, prior=0.1, purity=0.95) == pytest.approx(ours)


class TestMixture:
    counts = Counts.from_table([2, 1], labeled=[4, 6], unlabeled=[20, 80])

    def test_three_ways_to_say_the_same(self):
        mixture = Mixture(0.2, 0.9)
        prevalence = mixture.prevalence(self.counts)
        assert prevalence == pytest.approx((9 + 20) / 110)
        frequency = mixture.label_frequency(self.counts)
        assert frequency == pytest.approx(9 / 29)
        for other in (
            Mixture.from_prevalence(self.counts, prevalence, 0.9),
            Mixture.from_label_frequency(self.counts, frequency, 0.9),
        ):
            assert other.prior == pytest.approx(0.2)
            assert other.purity == 0.9

    def test_evaluate_takes_any_of_them(self):
        values = [
            evaluate(self.counts, threshold=2, **given)["f1"].value
            for given in (
                {"prior": 0.2},
                {"prevalence": 30 / 110},
                {"label_frequency": 1 / 3},
            )
        ]
        assert values == pytest.approx([values[0]] * 3)

    def test_prevalence_of_the_unlabeled_is_the_prior(self):
        ev = evaluate(self.counts, prevalence=0.2, target="unlabeled", threshold=2)
        assert ev.mixture.prior == 0.2
        assert ev.prevalence == 0.2


def test_blocks_of_lines_are_all_lines(rng):
    """What does not vary between resamples stays as it is."""
    n = 2 * LINES + 3
    labeled, fixed, shift = rng.random((n, 4)), rng.random((1, 4)), rng.random((n, 1))
    shares = Shares(labeled, rng.random(4), fixed, None, shift)
    blocks = [shares.lines(block) for block in shares.line_blocks()]
    assert [len(block.labeled) for block in blocks] == [LINES] * 2 + [3]
    np.testing.assert_array_equal(np.concatenate([block.labeled for block in blocks]), labeled)
    np.testing.assert_array_equal(
        np.concatenate([block.prevalence_shift for block in blocks]), shift
    )
    for block in blocks:
        assert block.unlabeled is shares.unlabeled
        assert block.negative is fixed
        assert block.positive is None
