"""The default estimator and estimate(): answers, intervals, warnings, hopeless input."""

import json
import math
import warnings

import numpy as np
import pytest

from pueval import AssumptionWarning, Counts, InputError, evaluate, priors
from pueval.priors import BestBin, Consensus, Dedpul, MemberEstimate
from tests.conftest import draw
from tests.coverage.estimated_priors import POPULATIONS, draw_positives


@pytest.fixture
def rows(rng):
    positive, score, labeled = draw(rng, 6000, prevalence=0.35, label_frequency=0.3, separation=2.5)
    return labeled, score, positive[~labeled].mean()


@pytest.fixture
def noisy(rng):
    positive, score, labeled = draw(
        rng, 8000, prevalence=0.35, label_frequency=0.3, separation=3.5, purity=0.8
    )
    return labeled, score, positive[~labeled].mean(), positive[labeled].mean()


class TestEstimate:
    def test_clean_labels(self, rows):
        y, score, prior = rows
        found = priors.estimate(y, score)
        assert found.prior == pytest.approx(prior, abs=0.04)
        low, high = found.prior_interval
        assert low < prior < high
        assert found.prior_upper > found.prior
        assert found.purity == 1.0
        assert found.purity_interval is None
        assert found.warnings == ()

    def test_both(self, noisy):
        y, score, prior, purity = noisy
        found = priors.estimate(y, score, purity="estimate")
        assert found.prior == pytest.approx(prior, abs=0.05)
        assert found.purity == pytest.approx(purity, abs=0.05)
        assert found.purity_interval[0] < purity < found.purity_interval[1]
        assert found.purity_pvalue < 0.01

    def test_weighted_mean_of_the_members(self, rows):
        y, score, _ = rows
        found = Consensus().fit(score, y)
        assert list(found.members_) == ["tilt", "dedpul", "best_bin", "roc_network"]
        assert sum(found.weights_.values()) == pytest.approx(1)
        mean = sum(found.weights_[name] * one.prior for name, one in found.members_.items())
        assert found.prior_ == pytest.approx(mean)

    def test_interval_reaches_the_members(self, rows, noisy):
        for y, score, purity in ((*rows[:2], 1.0), (*noisy[:2], "estimate")):
            found = Consensus(purity=purity).fit(score, y)
            low, high = found.prior_interval_
            for name, member in found.members_.items():
                assert name == "best_bin" or low <= member.prior <= high

    def test_upper_end_with_many_labels(self, rng):
        """Best bin's ratio of tail shares is too large on average, so its limit is safe."""
        y = np.repeat([1, 0], [2000, 10_000])
        score = rng.normal(1.2 * (rng.random(12_000) < np.where(y, 1, 0.3)), 1)
        found = Consensus().fit(score, y)
        ratio = BestBin().fit(score, y)
        shares = [np.mean(score[y == kind] >= ratio.threshold_) for kind in (1, 0)]
        assert ratio.prior_ == pytest.approx(shares[1] / shares[0])
        error = ratio.prior_ * np.sqrt(
            (1 - shares[0]) / (2000 * shares[0]) + (1 - shares[1]) / (10_000 * shares[1])
        )
        assert ratio.ratio_error_ == pytest.approx(error)
        assert found.prior_interval_[1] >= ratio.prior_ + 1.959 * error

    def test_estimate_does_not_depend_on_the_level(self, rows):
        y, score, _ = rows
        found = [priors.estimate(y, score, level=level) for level in (0.8, 0.95, 0.99)]
        assert found[0].prior == pytest.approx(found[1].prior) == pytest.approx(found[2].prior)
        widths = [np.ptp(one.prior_interval) for one in found]
        assert widths == sorted(widths)
        with pytest.raises(InputError, match=r"level must be a number in \(0, 0.99\]"):
            priors.estimate(y, score, level=0.999)

    def test_unknown_purity(self, noisy):
        y, score, _, _ = noisy
        found = priors.estimate(y, score, purity="estimate")
        assert list(found.members) == ["tilt", "roc_network"]
        for name in ("prior", "purity"):
            low, high = sorted(getattr(one, name) for one in found.members.values())
            assert low <= getattr(found, name) <= high

    @pytest.mark.parametrize("method", ["consensus", "tilt", "dedpul", "best_bin", "roc_slope"])
    def test_known_purity(self, noisy, method):
        y, score, prior, purity = noisy
        found = priors.estimate(y, score, purity=purity, method=method)
        assert found.purity == purity
        assert found.prior == pytest.approx(prior, abs=0.06)

    @pytest.mark.parametrize("method", ["dedpul", "best_bin", "roc_slope", "alphamax"])
    def test_purity_by_two_runs(self, noisy, method):
        y, score, prior, purity = noisy
        found = priors.estimate(y, score, purity="estimate", method=method)
        assert found.prior == pytest.approx(prior, abs=0.1)
        assert found.purity == pytest.approx(purity, abs=0.12)

    def test_counts_and_estimators(self, rows):
        y, score, _ = rows
        counts = Counts.from_arrays(y, score)
        assert priors.estimate(counts).prior == priors.estimate(y, score).prior
        by_hand = priors.estimate(counts, method=Dedpul(bandwidth=0.5))
        assert by_hand.method == "Dedpul"
        assert by_hand.prior == Dedpul(bandwidth=0.5).fit(counts).prior_

    def test_order_of_rows_and_transforms(self, rows, rng):
        y, score, _ = rows
        order = rng.permutation(len(y))
        one = priors.estimate(y, score)
        other = priors.estimate(y[order], np.exp(score[order]))
        assert other.prior == pytest.approx(one.prior, abs=1e-6)
        assert other.prior_interval == pytest.approx(one.prior_interval, abs=1e-6)

    def test_many_rows_cost_little_accuracy(self, rng):
        positive, score, labeled = draw(
            rng, 300_000, prevalence=0.3, label_frequency=0.3, separation=3
        )
        found = priors.estimate(labeled, score)
        assert found.prior == pytest.approx(positive[~labeled].mean(), abs=0.02)

    def test_text_and_dict(self, rows):
        y, score, _ = rows
        found = priors.estimate(y, score)
        text = repr(found)
        assert text.startswith("Prior estimated by consensus")
        assert "roc_network" in text
        assert "The data are compatible with a prior of at most" in text
        content = json.loads(json.dumps(found.to_dict()))
        assert content["members"]["tilt"]["prior"] == found.members["tilt"].prior

    def test_plot(self, rows):
        import matplotlib as mpl

        mpl.use("Agg")
        y, score, _ = rows
        found = priors.estimate(y, score)
        display = found.plot()
        ax = display.ax_
        assert next(t.get_text() for t in ax.get_yticklabels()) == "consensus"
        assert found.plot(ax).ax_ is ax
        assert f"{found.level:.0%}" in ax.get_xlabel()
        frame = display.frame().set_index("method")
        assert frame.loc["tilt", "prior"] == found.members["tilt"].prior
        assert tuple(frame.loc["consensus", ["low", "high"]]) == found.prior_interval

    def test_bad_arguments(self, rows):
        y, score, _ = rows
        with pytest.raises(InputError, match="method must be one of consensus, .*; got 'magic'"):
            priors.estimate(y, score, method="magic")
        with pytest.raises(InputError, match="level must be a number in"):
            priors.estimate(y, score, level=1.5)
        for purity in (0, 1.5, "guess"):
            with pytest.raises(InputError, match="purity"):
                priors.estimate(y, score, purity=purity)
        known = Counts.from_arrays([1, 0], [2, 1], unlabeled_label=None, negative_label=0)
        with pytest.raises(InputError, match="no unlabeled rows"):
            priors.estimate(known)


@pytest.mark.filterwarnings("ignore::pueval.AssumptionWarning")
@pytest.mark.parametrize(
    "transform",
    [
        lambda x: np.clip(x, 0, 1),
        lambda x: (x > 0).astype(float),
        lambda x: np.round(np.tanh(4 * x)),
    ],
    ids=["clipped", "0 or 1", "steep"],
)
def test_saturated_scores(transform):
    """Negatives among rows that share the highest score cannot be told apart."""
    rng = np.random.default_rng(9)
    for _ in range(8):
        positive = rng.random(3000) < 0.35
        y = positive & (rng.random(3000) < 0.25)
        found = priors.estimate(y, transform(rng.normal(size=3000) + 1.5 * positive))
        low, high = found.prior_interval
        assert low <= positive[~y].mean() <= high
        assert any("have the same highest score" in note for note in found.warnings)


class TestHopeless:
    def test_constant_scores(self):
        with pytest.raises(InputError, match="have the same score"):
            priors.estimate([1] * 20 + [0] * 80, [3.0] * 100)

    def test_no_separation(self, rng):
        y, score = np.arange(1000) < 200, rng.normal(size=1000)
        with pytest.warns(AssumptionWarning, match="prior is not identified"):
            found = priors.estimate(y, score)
        assert math.isnan(found.prior)
        assert found.prior_interval == (0.0, found.prior_upper)
        with pytest.raises(InputError, match="the prior cannot be estimated: the scores do not"):
            evaluate(y, score)
        with pytest.warns(AssumptionWarning, match="prior is not identified"):
            purity_estimated = priors.estimate(y, score, purity="estimate")
        assert math.isnan(purity_estimated.purity)
        assert purity_estimated.purity_interval == (0.0, 1.0)

    def test_worse_than_chance(self, rows):
        y, score, _ = rows
        with pytest.raises(InputError, match="labeled positives score lower .* Negate the scores"):
            priors.estimate(y, -score)

    def test_few_labels(self, rng):
        y = np.arange(500) < 6
        score = rng.normal(size=500) + 3 * (y | (rng.random(500) < 0.2))
        with pytest.warns(AssumptionWarning, match="6 labeled rows are too few"):
            found = priors.estimate(y, score)
        low, high = found.prior_interval
        assert high - low > 0.15

    def test_scores_of_rows_trained_on(self, rng):
        """Labeled rows far above all others, as an overfitted model scores its own rows."""
        y = np.arange(2000) < 300
        score = rng.normal(size=2000) + 8 * y
        with pytest.warns(AssumptionWarning, match="in-sample scores"):
            priors.estimate(y, score)

    def test_disagreement_is_explained(self):
        from pueval.priors._consensus import _diagnose

        few = Counts.from_arrays([1] * 20 + [0] * 80, range(100, 0, -1))
        many = Counts.from_arrays([1] * 200 + [0] * 800, range(1000, 0, -1))
        members = {"tilt": MemberEstimate(0.1, 1.0), "roc_network": MemberEstimate(0.4, 0.9)}
        assert "only 20 labeled rows" in _diagnose(few, 0.8, members, purity_estimated=False)[0]
        assert "only weakly" in _diagnose(many, 0.6, members, purity_estimated=False)[0]
        text = _diagnose(many, 0.8, members, purity_estimated=False)[0]
        assert "disagree (0.1 to 0.4)" in text
        assert "reducible" in text
        assert len(_diagnose(many, 0.8, members, purity_estimated=True)) == 1
        members = {"tilt": MemberEstimate(0.1, 1.0), "roc_network": MemberEstimate(0.12, 1.0)}
        assert _diagnose(many, 0.8, members, purity_estimated=True) == []


class TestEvaluate:
    def test_without_a_prior(self, rows):
        y, score, prior = rows
        ev = evaluate(y, score)
        assert ev.mixture.prior == ev.prior_estimate.prior == pytest.approx(prior, abs=0.04)
        assert "estimated, 95% CI" in repr(ev)
        assert json.loads(json.dumps(ev.to_dict()))["assumptions"]["estimated"]["method"] == (
            "consensus"
        )

    def test_purity_too(self, noisy):
        y, score, _, purity = noisy
        with warnings.catch_warnings():
            # That a value is clipped at 1 is no surprise with such noisy labels.
            warnings.simplefilter("ignore", AssumptionWarning)
            ev = evaluate(y, score, purity="estimate")
        assert ev.mixture.purity == pytest.approx(purity, abs=0.05)
        assert repr(ev).count("estimated, 95% CI") == 2

    def test_warnings_are_said_once(self, rng):
        y = np.arange(2000) < 300
        score = rng.normal(size=2000) + 8 * y
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            ev = evaluate(y, score)
        texts = [str(w.message) for w in caught]
        assert len(set(texts)) == len(texts) == len(ev.warnings)
        assert "in-sample scores" in ev.warnings[0]

    def test_purity_with_a_known_prior(self, rows):
        y, score, _ = rows
        ev = evaluate(y, score, prior=0.2, purity="estimate")
        assert ev.prior == 0.2
        assert ev.prior_estimate.known_share == "prior"


def test_interval_covers(rng):
    """A short version of the benchmark: normal, skewed and heavy-tailed scores."""
    families = {
        "normal": lambda n, shift: rng.normal(shift, 1, n),
        "skewed": lambda n, shift: rng.gamma(2 + 2 * shift, 1, n),
        "t": lambda n, shift: rng.standard_t(4, n) + 1.3 * shift,
    }
    covered, errors = [], []
    for _ in range(10):
        for draw_scores in families.values():
            for prior in (0.1, 0.3, 0.6):
                labeled, unlabeled = 200, 1000
                positives = rng.binomial(unlabeled, prior)
                score = np.r_[
                    draw_scores(labeled, 2.2),
                    draw_scores(positives, 2.2),
                    draw_scores(unlabeled - positives, 0),
                ]
                y = np.arange(labeled + unlabeled) < labeled
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", AssumptionWarning)
                    fitted = Consensus().fit(score, y)
                low, high = fitted.prior_interval_
                covered.append(low <= positives / unlabeled <= high)
                errors.append(abs(fitted.prior_ - positives / unlabeled))
    assert np.mean(covered) >= 0.88
    assert np.mean(errors) < 0.05


def test_weak_scores_do_not_identify_the_prior(rng):
    y = np.repeat([1, 0], [1000, 5000])
    positive = np.r_[np.ones(1000, bool), rng.random(5000) < 0.1]
    with pytest.warns(AssumptionWarning, match="hardly separate .* prior is not identified"):
        weak = priors.estimate(y, rng.normal(size=6000) + 0.36 * positive)
    assert weak.prior_interval == (0.0, weak.prior_upper)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        priors.estimate(y, rng.normal(size=6000) + 2.0 * positive)
    assert not any("hardly separate" in str(one.message) for one in said)


def test_many_positives_are_not_weak_scores(rng):
    """The AUC is below .6 because 85% of the unlabeled rows are positive."""
    y = np.repeat([1, 0], [1000, 5000])
    positive = np.r_[np.ones(1000, bool), rng.random(5000) < 0.85]
    found = priors.estimate(y, rng.normal(size=6000) + 4 * positive)
    assert found.prior_interval[0] > 0.6
    assert found.prior == pytest.approx(0.85, abs=0.05)


def test_few_rows_are_not_blamed_on_the_classifier():
    with pytest.raises(InputError, match=r"the AUC of 1.000 may be .* so few labeled rows \(1\)"):
        evaluate([1, 0, 0, 0], [3, 2, 1, 0])


@pytest.mark.parametrize("name", ["half like negatives", "few easy, many hard", "normal, d′ 2"])
def test_error_and_width_fall_with_the_number_of_rows(name):
    prior, kinds = POPULATIONS[name]
    errors, widths = [], []
    for n_labeled in (300, 3000, 20_000):
        found = []
        for repeat in range(30):
            rng = np.random.default_rng((5, n_labeled, repeat))
            n = 5 * n_labeled
            hidden = rng.binomial(n, prior)
            score = np.concatenate(
                [draw_positives(rng, kinds, n_labeled + hidden), rng.normal(0, 1, n - hidden)]
            )
            y = np.repeat([1, 0], [n_labeled, n])
            found.append(Consensus().fit_without_warning(Counts.from_arrays(y, score)))
        errors.append(np.mean([abs(one.prior_ - prior) for one in found]))
        widths.append(np.mean([np.ptp(one.prior_interval_) for one in found]))
        low, high = np.transpose([one.prior_interval_ for one in found])
        assert np.mean((low <= prior) & (prior <= high)) > 0.85
    assert errors == sorted(errors, reverse=True)
    assert widths == sorted(widths, reverse=True)
    assert errors[-1] < 0.02
