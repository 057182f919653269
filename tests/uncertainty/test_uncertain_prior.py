"""Prior and purity that are not known exactly: intervals of both, and estimates."""

import math
import pickle
import warnings
from dataclasses import replace

import numpy as np
import pytest

from pueval import AssumptionWarning, Counts, InputError, evaluate, priors
from tests.conftest import draw

NAMES = ("f1", "accuracy", "balanced_accuracy", "precision", "matthews_corrcoef")


@pytest.fixture
def rows(rng):
    _, score, labeled = draw(rng, 4000, prevalence=0.4, label_frequency=0.4, separation=1.2)
    return labeled, score


def quiet(*rows, **given):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssumptionWarning)
        return evaluate(*rows, **given)


class TestIntervalsOfPriorAndPurity:
    def test_limits_hold_those_of_every_mixture_inside(self, rows, rng):
        whole = quiet(*rows, prior=(0.15, 0.45), purity=(0.85, 1.0), threshold=0.6)
        assert whole.mixture.prior == pytest.approx(0.3)
        assert whole.mixture.purity == pytest.approx(0.925)
        best = {name: whole.best(name) for name in ("f1", "accuracy")}
        for prior, purity in zip(
            rng.uniform(0.15, 0.45, 30), rng.uniform(0.85, 1, 30), strict=True
        ):
            one = quiet(*rows, prior=prior, purity=purity, threshold=0.6)
            for name in ("roc_auc", "average_precision", *NAMES):
                assert whole[name].low <= one[name].low + 2e-3, name
                assert whole[name].high >= one[name].high - 2e-3, name
            for name, found in best.items():
                inside = one.best(name)
                assert found.low <= inside.low + 4e-3
                assert found.high >= inside.high - 4e-3

    def test_not_only_corners(self):
        """Best accuracy is least inside the interval of priors, not at one of its ends."""
        rng = np.random.default_rng(5)
        _, score, labeled = draw(rng, 400_000, prevalence=0.5, label_frequency=0.3, separation=0.8)
        limits = (0.05, 0.75)
        ends = [quiet(labeled, score, prior=p).best("accuracy").low for p in limits]
        assert quiet(labeled, score, prior=limits).best("accuracy").low < min(ends) - 0.05

    def test_an_interval_of_no_width_is_a_number(self, rows):
        exact, narrow = (quiet(*rows, prior=p, threshold=0.6) for p in (0.3, (0.3, 0.3)))
        for name in exact:
            assert narrow[name].low == pytest.approx(exact[name].low, nan_ok=True)
            assert narrow[name].high == pytest.approx(exact[name].high, nan_ok=True)
            assert narrow[name].value == pytest.approx(exact[name].value, nan_ok=True)

    def test_other_ways_to_give_it(self, rows):
        by_prior = quiet(*rows, prior=(0.2, 0.3), threshold=0.6)
        mixtures = [quiet(*rows, prior=p, level=None) for p in (0.2, 0.3)]
        prevalences = tuple(ev.prevalence for ev in mixtures)
        frequencies = tuple(ev.mixture.label_frequency(ev.counts) for ev in mixtures)[::-1]
        for given in ({"prevalence": prevalences}, {"label_frequency": frequencies}):
            other = quiet(*rows, threshold=0.6, **given)
            assert other.region.prior == pytest.approx((0.2, 0.3))
            # The number of labeled rows, from which the prior then follows, is one by chance.
            assert other["f1"].low < by_prior["f1"].low

    def test_said_in_words_and_data(self, rows):
        ev = quiet(*rows, prior=(0.2, 0.3), purity=(0.9, 1.0))
        assert "prior 0.2 to 0.3, purity 0.9 to 1" in repr(ev)
        assert ev.to_dict()["assumptions"]["region"] == {
            "prior": [0.2, 0.3], "purity": [0.9, 1.0], "prior_by_purity": None,
        }  # fmt: skip
        with pytest.raises(InputError, match="need clean labels"):
            ev.bounds()
        clean = quiet(*rows, prior=(0.2, 0.3))
        assert clean.bounds().prior == (0.2, 0.3)
        assert clean.at(1.0)["f1"].low < quiet(*rows, prior=0.25, threshold=1.0)["f1"].low

    @pytest.mark.parametrize(
        ("given", "message"),
        [
            (
                {"prior": (0.3, 0.2)},
                "prior as an interval must be two numbers, the lower one first",
            ),
            ({"prior": (0.3,)}, "prior as an interval must be two numbers"),
            ({"prior": (0.1, math.nan)}, "prior as an interval must be two numbers"),
            ({"prior": (0.1, "x")}, "prior as an interval must be two numbers"),
            ({"prior": (0.1, 1.2)}, "prior must be a number in"),
            ({"prior": (0.1, 0.8), "purity": (0.7, 1.0)}, "prior must be below purity"),
            ({"prior": 0.1, "purity": (1.0, 0.9)}, "purity as an interval must be two numbers"),
            ({"purity": (0.9, 1.0)}, "purity as an interval needs a prior"),
            ({"prior": (0.1, 0.2), "prevalence": 0.3}, "give at most one"),
            ({"prior": (0.1, 0.2), "purity": "estimate"}, "needs prior as a number"),
            ({"prior": 0.1, "purity": "estimated"}, "a number, an interval or"),
        ],
    )
    def test_bad_input(self, rows, given, message):
        with pytest.raises(InputError, match=message):
            evaluate(*rows, **given)

    def test_where_every_row_is_known(self):
        y, score = [1, 1, -1, -1], [4, 2, 3, 1]
        ev = quiet(y, score, negative_label=-1, purity=(0.9, 1.0))
        assert ev.region.prior == (0.0, 0.0)
        with pytest.raises(InputError, match="without unlabeled rows"):
            evaluate(y, score, negative_label=-1, prior=(0.1, 0.2))
        with pytest.raises(InputError, match="cannot be estimated without unlabeled rows"):
            evaluate(y, score, negative_label=-1, purity="estimate")

    def test_known_negatives_and_unlabeled_target(self, rng):
        """There the share predicted positive depends on the prior, as the rates do."""
        y = np.repeat([1, 0, 2], [80, 300, 60])
        score = rng.normal(size=440) + np.repeat([1.5, 0.5, 0.0], [80, 300, 60])
        told = {"negative_label": 2, "target": "unlabeled", "threshold": 0.8}
        for given in ({"prior": (0.1, 0.4)}, {"prior": (0.1, 0.4), "purity": (0.8, 1.0)}, {}):
            ev = quiet(y, score, **told, **given)
            for name in ("average_precision", *NAMES):
                assert ev[name].low <= ev[name].value <= ev[name].high
            assert ev.best("f1").low < ev.best("f1").high
            for kind in ("pointwise", "simultaneous"):
                assert np.all(ev.pr_band(kind).low <= ev.pr_band(kind).high)

    def test_no_positives_at_one_end(self, rows):
        """A measure that is undefined without positives has limits from the rest."""
        ev = quiet(*rows, prior=(0.0, 0.3), target="unlabeled")
        for name in ("f1", "recall", "matthews_corrcoef", "negative_likelihood_ratio"):
            best = ev.best(name)
            assert best.low <= best.high


class TestEstimated:
    def test_limits_carry_the_uncertainty(self, rows):
        estimated = quiet(*rows, threshold=0.6)
        exact = quiet(*rows, prior=estimated.mixture.prior, threshold=0.6)
        low, high = estimated.prior_estimate.prior_interval
        for name in ("roc_auc", "average_precision", *NAMES):
            assert estimated[name].value == pytest.approx(exact[name].value)
            assert estimated[name].low < exact[name].low
            assert estimated[name].high >= exact[name].high - 1e-9
            # They reach what the ends of the prior's interval give.
            for prior in (low, high):
                assert estimated[name].low <= quiet(*rows, prior=prior, threshold=0.6)[name].value

    def test_reproducible(self, rows):
        one, same, other = (quiet(*rows, seed=seed, threshold=0.6) for seed in (3, 3, 4))
        assert [vars(one[name]) for name in NAMES] == [vars(same[name]) for name in NAMES]
        assert one["f1"].low == pytest.approx(other["f1"].low, abs=0.03)

    def test_limits_know_their_level(self, rows):
        """Also as far as they reach what the limits of the prior give."""
        widths = []
        for level in (0.3, 0.8, 0.95, 0.999):
            ev = quiet(*rows, threshold=0.6, level=level)
            found = [ev[name] for name in ("roc_auc", *NAMES)] + [ev.best("accuracy")]
            widths.append([each.high - each.low for each in found])
        assert np.all(np.diff(widths, axis=0) > 0)
        assert np.all(np.array(widths[0]) < 0.4 * np.array(widths[2]))

    def test_an_estimate_made_before(self, rows):
        counts = Counts.from_arrays(*rows)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", AssumptionWarning)
            estimate = priors.estimate(counts)
        given, found = quiet(counts, prior=estimate), quiet(counts)
        assert given.prior_estimate is estimate
        assert {n: given[n].low for n in NAMES} == {n: found[n].low for n in NAMES}
        with pytest.raises(InputError, match="has purity 1; got purity=0.8"):
            evaluate(counts, prior=estimate, purity=0.8)

    def test_an_estimate_at_the_edge(self, rows):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", AssumptionWarning)
            estimate = priors.estimate(*rows)
        for prior, limits in ((0.0, (0.0, 0.0)), (0.9999, (0.5, 1.0)), (0.3, None)):
            edge = replace(estimate, prior=prior, prior_interval=limits)
            for name in ("roc_auc", *NAMES):
                found = quiet(*rows, prior=edge)[name]
                assert found.low <= found.value <= found.high

    def test_purity_too(self, rng):
        _, score, labeled = draw(
            rng, 6000, prevalence=0.4, label_frequency=0.4, purity=0.85, separation=2.5
        )
        both = quiet(labeled, score, purity="estimate", threshold=1.2)
        prior, purity = both.mixture.prior, both.mixture.purity
        exact = quiet(labeled, score, prior=prior, purity=purity, threshold=1.2)
        for name in NAMES:
            assert both[name].low < exact[name].low
            assert both[name].high > exact[name].high - 1e-9

    def test_weak_scores_give_wide_limits(self, rng):
        """Scores that say little about the prior: the limits must not pretend to know."""
        _, score, labeled = draw(rng, 2000, prevalence=0.4, label_frequency=0.4, separation=0.4)
        ev = quiet(labeled, score)["roc_auc"]
        exact = quiet(labeled, score, prevalence=0.4)["roc_auc"]
        assert ev.low < 0.611 < ev.high  # Φ(0.4/√2)
        assert ev.high - ev.low > 2 * (exact.high - exact.low)


class TestLabeling:
    """Tabatabaei's question: these rows, had chance labeled other positives."""

    def test_standard_errors_against_labels_drawn_again(self, rng):
        positive, score, labeled = draw(rng, 3000, prevalence=0.3, label_frequency=0.5)
        n_labeled = labeled.sum()
        prior = (positive & ~labeled).sum() / (~labeled).sum()
        given = {"prior": prior, "threshold": 0.8}
        ev = evaluate(labeled, score, variance="labeling", **given)
        names = ("roc_auc", "average_precision", *NAMES)
        values = {name: [] for name in names}
        for _ in range(300):
            y = np.zeros(score.size, dtype=bool)
            y[rng.choice(np.flatnonzero(positive), n_labeled, replace=False)] = True
            again = quiet(y, score, level=None, **given)
            for name in names:
                values[name].append(again[name].value)
        for name in names:
            assert ev[name].standard_error == pytest.approx(np.std(values[name]), rel=0.2), name
        usual = evaluate(labeled, score, **given)
        assert ev["f1"].standard_error < 0.8 * usual["f1"].standard_error

    def test_all_positives_labeled_leaves_no_choice(self, rng):
        positive, score, _ = draw(rng, 1000, prevalence=0.3, label_frequency=0.5)
        ev = evaluate(positive, score, prior=0.0, variance="labeling")
        assert ev["f1"].standard_error == pytest.approx(0, abs=1e-9)

    def test_no_unlabeled_rows_leave_no_choice(self):
        y, score = np.repeat([1, 2], 20), np.arange(40) % 27
        for purity in (1.0, 0.8):
            ev = quiet(y, score, negative_label=2, purity=purity, variance="labeling")
            assert ev["f1"].standard_error == pytest.approx(0, abs=1e-9)

    def test_noisy_labels(self, rng):
        """Wrong labels go to other negatives, with the right spread."""
        positive, score, _ = draw(rng, 3000, prevalence=0.3, label_frequency=0.5)
        kinds = [np.flatnonzero(positive), np.flatnonzero(~positive)]
        recalls = []
        given = {"purity": 0.8, "threshold": 0.8}
        given["prior"] = (kinds[0].size - 400) / 2500
        for _ in range(300):
            y = np.zeros(3000, dtype=bool)
            for rows, number in zip(kinds, (400, 100), strict=True):
                y[rng.choice(rows, number, replace=False)] = True
            recalls.append(quiet(y, score, level=None, **given)["recall"].value)
        ev = quiet(y, score, variance="labeling", **given)
        assert ev["recall"].standard_error == pytest.approx(np.std(recalls), rel=0.2)

    @pytest.mark.parametrize(
        ("given", "message"),
        [
            ({"variance": "both"}, "variance must be 'sampling'"),
            ({"variance": "labeling", "target": "unlabeled"}, "needs target='population'"),
            ({"variance": "labeling", "sample_weight": np.full(4000, 0.5)}, "importance weights"),
            ({"variance": "labeling", "propensity": np.full(4000, 0.5)}, "With propensities, use"),
        ],
    )
    def test_bad_input(self, rows, given, message):
        with pytest.raises(InputError, match=message):
            evaluate(*rows, prior=0.2, **given)


@pytest.mark.parametrize("given", [{"prior": 0.2}, {}, {"propensity": True}, {"prior": (0.1, 0.3)}])
def test_results_can_be_pickled(rng, given):
    _, score, labeled = draw(rng, 2000, prevalence=0.3, label_frequency=0.4)
    if "propensity" in given:
        given = {"propensity": np.full(2000, 0.4)}
    ev = quiet(labeled, score, n_resamples=200, **given)
    again = pickle.loads(pickle.dumps(ev))  # noqa: S301 - made here
    assert again["f1"] == ev["f1"]
    assert again.best("f1") == ev.best("f1")
    np.testing.assert_array_equal(again.roc_band().low, ev.roc_band().low)
