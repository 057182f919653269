"""Confidence bands of curves."""

import warnings

import numpy as np
import pytest

from pueval import AssumptionWarning, InputError, evaluate
from pueval.core.mixture import Mixture
from pueval.core.rates import correct_steps
from tests.conftest import draw


@pytest.fixture
def ev(rng):
    _, score, labeled = draw(rng, 3000, prevalence=0.3, label_frequency=0.4)
    return evaluate(labeled, score, prior=0.2)


class TestBands:
    def test_around_the_curve(self, ev):
        for curve, band in ((ev.roc(), ev.roc_band), (ev.pr(), ev.pr_band)):
            pointwise, simultaneous = band("pointwise"), band("simultaneous")
            for each in (pointwise, simultaneous):
                assert np.all((each.low >= 0) & (each.low <= each.value))
                assert np.all((each.value <= each.high) & (each.high <= 1))
            width = simultaneous.high - simultaneous.low
            assert np.mean(width >= pointwise.high - pointwise.low - 1e-9) > 0.95
            x, y = (
                (curve.fpr, curve.tpr)
                if hasattr(curve, "fpr")
                else (
                    curve.recall,
                    curve.precision,
                )
            )
            expected = np.interp(pointwise.x, x, y)
            if hasattr(curve, "recall"):
                # A precision-recall curve goes in steps, as its area says.
                expected = y[np.searchsorted(x, pointwise.x)]
            np.testing.assert_allclose(pointwise.value, expected)
        assert list(ev.roc_band().frame().columns) == ["x", "value", "low", "high"]

    @pytest.mark.parametrize("kind", ["pointwise", "simultaneous"])
    @pytest.mark.parametrize("levels", [2, 3, 5, 3000])
    def test_around_steps(self, rng, levels, kind):
        """Limits are around what is known: precision at the scores that there are."""
        _, score, labeled = draw(rng, 3000, prevalence=0.3, label_frequency=0.4)
        ranks = np.argsort(np.argsort(score))
        ev = evaluate(labeled, 1 + ranks * levels // 3000, prior=0.2)
        curve, band = ev.pr(), ev.pr_band(kind)
        there = np.searchsorted(curve.recall, band.x)
        np.testing.assert_allclose(band.value, curve.precision[there])
        if levels == 3000 or kind == "simultaneous":
            return
        # Halfway along a step nobody doubts which one it is.
        wide = np.flatnonzero(np.diff(curve.recall[:-1]) > 0.2)
        assert wide.size
        for recall in (curve.recall[wide] + curve.recall[wide + 1]) / 2:
            k = int(np.searchsorted(band.x, recall))
            at = ev.at(float(curve.threshold[there[k]]))["precision"]
            assert band.high[k] - band.low[k] == pytest.approx(at.high - at.low, rel=0.1)

    def test_pointwise_spread_is_that_of_rows_drawn_again(self, ev, rng):
        """Against a slow bootstrap of rows, at some false positive rates."""
        _, score, labeled = draw(
            np.random.default_rng(12345), 3000, prevalence=0.3, label_frequency=0.4
        )
        band = ev.roc_band()
        kinds = [np.flatnonzero(labeled), np.flatnonzero(~labeled)]
        heights = []
        for _ in range(200):
            rows = np.concatenate([rng.choice(kind, kind.size) for kind in kinds])
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", AssumptionWarning)
                curve = evaluate(labeled[rows], score[rows], prior=0.2, level=None).roc()
            heights.append(np.interp([0.1, 0.3, 0.5], curve.fpr, curve.tpr))
        where = np.searchsorted(band.x, [0.1, 0.3, 0.5])
        half = (band.high - band.low)[where] / 2 / 1.96
        np.testing.assert_allclose(half, np.std(heights, axis=0), rtol=0.25)

    def test_uncertain_priors_give_wider_bands(self, rng):
        _, score, labeled = draw(rng, 3000, prevalence=0.3, label_frequency=0.4)
        exact = evaluate(labeled, score, prior=0.2, threshold=1.0)
        for given in ({"prior": (0.1, 0.3)}, {}):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", AssumptionWarning)
                wide = evaluate(labeled, score, threshold=1.0, **given)
            for name in ("roc_band", "pr_band"):
                one, other = getattr(wide, name)(), getattr(exact, name)()
                assert np.mean(one.high - one.low) > 1.3 * np.mean(other.high - other.low)

    def test_precision_starts_at_one(self):
        """Where nothing is predicted positive yet; not at the prevalence."""
        y = np.repeat([1, 0], [200, 1800])
        score = np.repeat([2.0, 1.0], [200, 1800])
        for kind in ("pointwise", "simultaneous"):
            band = evaluate(y, score, prior=0.0).pr_band(kind)
            assert np.all(band.low[band.x < 0.9] > 0.9)

    def test_bad_input(self, ev):
        with pytest.raises(InputError, match="kind must be 'pointwise' or 'simultaneous'"):
            ev.roc_band("both")
        with pytest.raises(InputError, match="kind must be"):
            ev.pr_band("both")
        plain = evaluate(ev.counts, prior=0.2, level=None)
        with pytest.raises(InputError, match=r"roc_band\(\) needs intervals"):
            plain.roc_band()


@pytest.mark.parametrize("name", ["roc_band", "pr_band"])
def test_bands_of_all_places_hold_those_of_one(rng, name):
    _, score, labeled = draw(rng, 300, prevalence=0.3, label_frequency=0.4)
    ev = evaluate(labeled, score, prevalence=0.3)
    one, every = getattr(ev, name)(), getattr(ev, name)("simultaneous")
    assert np.all(every.low <= one.low)
    assert np.all(every.high >= one.high)


def test_an_estimated_prior_may_be_at_its_limits(rng):
    """Curves for both ends of the prior's limits are in the band, at the steep start, too."""
    _, score, labeled = draw(rng, 3000, prevalence=0.3, label_frequency=0.3, separation=2)
    ev = evaluate(labeled, score)
    for kind in ("pointwise", "simultaneous"):
        band = ev.roc_band(kind)
        for prior in ev.prior_estimate.prior_interval:
            steps = ev.counts.at(ev._resamples.draws.threshold)
            there = correct_steps(ev.counts, steps, Mixture(prior), ev.target)
            fpr, tpr = (np.maximum.accumulate(np.clip(x, 0, 1)) for x in (there.fpr, there.tpr))
            curve = np.interp(band.x, fpr, tpr)
            assert np.all(curve[1:] <= band.high[1:] + 1e-9), kind
            assert np.all(curve[1:] >= band.low[1:] - 1e-9), kind
