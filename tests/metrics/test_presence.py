"""Presence-only metrics against slow versions written from the formulas, and invariances."""

import numpy as np
import pytest
from scipy.stats import kendalltau, pearsonr, spearmanr
from sklearn.linear_model import LogisticRegression

from pueval import InputError, evaluate
from pueval.metrics import (
    auc_ratio,
    boyce_index,
    f1_score,
    f_pb,
    minimal_predicted_area,
    smoothed_boyce_index,
)

CASE_CONTROL = {"target": "unlabeled"}


def slow_boyce(fit, obs, *, res=100, width=None, edges=None, method=spearmanr, drop=True):
    """The index as ecospat's users know it: fit are all scores of the map, obs the presences'."""
    low, high = min(*fit, *obs), max(*fit, *obs)
    if edges is None:
        width = (max(fit) - min(fit)) / 10 if width is None else width
        step = (high - low - width) / res
        starts = [low + k * step for k in range(res)]
        ends = [start + width for start in starts]
    else:
        starts, ends = [low, *edges], [*edges, high]
    x, f = [], []
    for start, end in zip(starts, ends, strict=True):
        p = sum(start <= s <= end for s in obs) / len(obs)
        e = sum(start <= s <= end for s in fit) / len(fit)
        if p or e:
            x.append(start)
            f.append(round(p / e, 10) if e else np.inf)
    if drop:
        kept = [k for k in range(len(f)) if k == len(f) - 1 or f[k] != f[k + 1]]
        x, f = [x[k] for k in kept], [f[k] for k in kept]
    return method(x, f).statistic


def rows(rng, presences=40, background=150, digits=None, shift=0.8):
    score = np.r_[rng.normal(shift, 1, presences), rng.normal(0, 1, background)]
    score = 1 / (1 + np.exp(-score))
    if digits is not None:
        score = np.round(score, digits)
    return np.arange(score.size) < presences, score


class TestBoyce:
    @pytest.mark.parametrize("target", ["population", "unlabeled"])
    @pytest.mark.parametrize("digits", [None, 2, 1])
    @pytest.mark.parametrize(
        "how", [{}, {"n_windows": 37}, {"window": 0.23}, {"drop_duplicates": False}]
    )
    def test_against_counting(self, rng, target, digits, how):
        y, score = rows(rng, digits=digits)
        fit = score if target == "population" else score[~y]
        slow = slow_boyce(
            fit,
            score[y],
            res=how.get("n_windows", 100),
            width=how.get("window"),
            drop=how.get("drop_duplicates", True),
        )
        assert boyce_index(y, score, target=target, **how) == pytest.approx(slow, abs=1e-12)

    @pytest.mark.parametrize(
        ("method", "slow_method"), [("pearson", pearsonr), ("kendall", kendalltau)]
    )
    def test_other_correlations(self, rng, method, slow_method):
        y, score = rows(rng)
        slow = slow_boyce(score, score[y], method=slow_method)
        assert boyce_index(y, score, method=method) == pytest.approx(slow, abs=1e-12)

    def test_classes(self, rng):
        y, score = rows(rng)
        edges = [0.2, 0.5, 0.6, 0.85]
        slow = slow_boyce(score, score[y], edges=edges)
        assert boyce_index(y, score, classes=edges) == pytest.approx(slow, abs=1e-12)
        low, high = score.min(), score.max()
        inner = np.linspace(low, high, 6)[1:-1]
        assert boyce_index(y, score, classes=5) == boyce_index(y, score, classes=inner)

    def test_by_hand(self):
        # Classes [0, 1], [1, 2], [2, 3] with 0, 1, 2 of 3 presences and 3, 1, 2 of 6 other rows:
        # ratios 0, 2 and 2. Of the equal ones the last is kept: two windows in order.
        score = [0, 0.5, 0.7, 1.5, 2.2, 3, 1.2, 2.5, 2.6]
        y = np.repeat([0, 1], [6, 3])
        assert boyce_index(y, score, classes=3, **CASE_CONTROL) == 1
        # With both kept, ranks 1, 2.5, 2.5 against 1, 2, 3: a correlation of √(3/4).
        both = boyce_index(y, score, classes=3, drop_duplicates=False, **CASE_CONTROL)
        assert both == pytest.approx(np.sqrt(0.75), abs=1e-12)

    def test_presences_in_the_background_change_nothing(self, rng):
        """The order of P/E is that of labeled against unlabeled rows, whatever the target is."""
        y, score = rows(rng, 100, 2000)
        score = np.r_[score, score.min(), score.max()]  # both targets have the same range
        y = np.r_[y, False, False]
        values = {boyce_index(y, score, target=target) for target in ("population", "unlabeled")}
        # So it is with any share of the presences counted as background.
        added = np.r_[score, np.tile(score[y], 5)]
        more = np.r_[y, np.zeros(5 * y.sum(), dtype=bool)]
        values.add(boyce_index(more, added, **CASE_CONTROL))
        assert max(values) - min(values) < 1e-12

    def test_false_presences_keep_the_order(self):
        """Noisy labels change the ratios, but not their ranks."""
        score = np.repeat(np.arange(10), 200)
        background = np.full(10, 1 / 10)
        presence = np.arange(1, 11) * [1, 1, 3, 1, 1, 1, 1, 2, 1, 1]
        found = []
        for purity in (1.0, 0.6):
            mixed = purity * presence / presence.sum() + (1 - purity) * background
            y = np.concatenate([np.arange(200) < round(2000 * share / 12) for share in mixed])
            found.append(boyce_index(y, score, classes=np.arange(9) + 0.5))
        assert found[0] == found[1] < 1

    def test_weights_are_copies(self, rng):
        y, score = rows(rng, digits=2)
        weight = rng.integers(1, 4, y.size)
        copies = np.repeat(y, weight), np.repeat(score, weight)
        for metric in (boyce_index, smoothed_boyce_index, auc_ratio):
            weighted = metric(y, score, sample_weight=weight)
            assert weighted == pytest.approx(metric(*copies), abs=1e-9), metric
        area = minimal_predicted_area(y, score, sample_weight=weight)
        assert area == pytest.approx(minimal_predicted_area(*copies))

    def test_windows_without_background(self):
        # Presences above all background: P/E is infinite, which has a rank but no size.
        y, score = (
            np.repeat([1, 0], [20, 100]),
            np.r_[np.linspace(0.8, 1, 20), np.arange(100) / 200],
        )
        assert boyce_index(y, score, **CASE_CONTROL) == 1
        assert np.isnan(boyce_index(y, score, method="pearson", **CASE_CONTROL))

    def test_many_lines_against_scipy(self, rng):
        from pueval.families.presence_measures import boyce_correlations

        ratios = rng.integers(0, 6, size=(60, 30)).astype(float)
        ratios[rng.random(ratios.shape) < 0.1] = np.nan
        ratios[rng.random(ratios.shape) < 0.05] = np.inf
        ratios[0], ratios[1], ratios[2, 1:], ratios[3] = np.nan, 2.0, np.nan, np.arange(30)
        for line, found in zip(ratios, boyce_correlations(ratios), strict=True):
            f = line[~np.isnan(line)]
            f = f[np.append(f[1:] != f[:-1], True)] if f.size else f
            defined = f.size > 1 and np.any(f != f[0])
            f = np.where(np.isinf(f), 99.0, f)
            expected = spearmanr(np.arange(f.size), f).statistic if defined else np.nan
            np.testing.assert_allclose(found, expected, rtol=1e-12)

    def test_undefined(self):
        assert np.isnan(boyce_index([1, 0, 0], [0.5, 0.5, 0.5]))
        assert np.isnan(smoothed_boyce_index([1, 0, 0], [0.5, 0.5, 0.5]))


class TestSmoothed:
    def test_straight_line_is_logistic_regression(self, rng):
        """With all weight on smoothness, the curve is a logistic regression on the score."""
        from pueval.families import smoothed_ratio

        presences, rows_ = rng.poisson(np.linspace(1, 4, 200)), np.full(200, 20)
        middle = (np.arange(200) + 0.5) / 200
        x = np.repeat(np.tile(middle, 2), np.r_[presences, rows_])[:, None]
        y = np.repeat([1, 0], [presences.sum(), rows_.sum()])
        model = LogisticRegression(C=1e8, tol=1e-10, max_iter=1000).fit(x, y)
        penalty = 1e9 * np.diff(np.eye(10), n=2, axis=0)
        coefficients, _ = smoothed_ratio._fit(
            presences[None, :], rows_[None, :], penalty.T @ penalty / 1e9, np.zeros((1, 10))
        )
        curve = coefficients[0] @ smoothed_ratio._basis().T
        expected = model.decision_function(middle[:, None])
        np.testing.assert_allclose(curve, expected, atol=1e-3)

    def test_lines_are_those_of_other_blocks(self, rng, monkeypatch):
        """Newton's method ends where steps are short, which depends on the other lines a little."""
        from pueval.families import smoothed_ratio

        presences = rng.poisson(np.linspace(0.1, 3, 200), size=(40, 200)).astype(float)
        rows_ = rng.poisson(30, size=(40, 200)).astype(float)
        together = smoothed_ratio.smoothed_log_ratio(presences, rows_)
        monkeypatch.setattr(smoothed_ratio, "LINES", 7)
        in_blocks = smoothed_ratio.smoothed_log_ratio(presences, rows_)
        np.testing.assert_allclose(in_blocks, together, atol=1e-9)

    def test_recovers_the_ratio_of_densities(self, rng):
        from pueval.families.smoothed_ratio import smoothed_log_ratio

        middle = (np.arange(200) + 0.5) / 200
        background = middle * (1 - middle) + 0.1
        presence = background * np.exp(np.sin(5 * middle) + middle)
        presence, background = presence / presence.sum(), background / background.sum()
        numbers = rng.multinomial(80_000, presence), rng.multinomial(800_000, background)
        found = smoothed_log_ratio(*numbers)[0]
        inside = (middle > 0.1) & (middle < 0.9)
        np.testing.assert_allclose(found[inside], np.log(presence / background)[inside], atol=0.1)
        # Without noise the error is that of the spline alone.
        exact = smoothed_log_ratio(1e6 * presence, 1e7 * background)[0]
        np.testing.assert_allclose(exact, np.log(presence / background), atol=0.02)

    def test_less_biased_with_few_presences(self, rng):
        samples = [rows(rng, 30, 1000, shift=1) for _ in range(30)]
        windows, smoothed = (
            np.mean([metric(*sample, **CASE_CONTROL) for sample in samples])
            for metric in (boyce_index, smoothed_boyce_index)
        )
        assert windows + 0.05 < smoothed

    def test_direction(self, rng):
        y, score = rows(rng, 200, 2000)
        assert smoothed_boyce_index(y, score) > 0.95
        assert smoothed_boyce_index(y, 1 - score) < -0.95


class TestAreas:
    @pytest.mark.parametrize("target", ["population", "unlabeled"])
    @pytest.mark.parametrize("digits", [None, 1])
    @pytest.mark.parametrize("share", [0.5, 0.9, 0.95, 1.0])
    def test_minimal_area(self, rng, target, digits, share):
        y, score = rows(rng, digits=digits)
        fit = score if target == "population" else score[~y]
        area, threshold = minimal_predicted_area(y, score, share=share, target=target)
        kept = [s for s in score[y] if np.mean(score[y] >= s) >= share]
        assert threshold == max(kept)
        assert area == pytest.approx(np.mean(fit >= max(kept)), abs=1e-12)

    @pytest.mark.parametrize("target", ["population", "unlabeled"])
    @pytest.mark.parametrize("digits", [None, 1])
    @pytest.mark.parametrize("omission", [0.05, 0.3, 1.0])
    def test_auc_ratio(self, rng, target, digits, omission):
        """Against fine numerical integration along the curve of all thresholds."""
        y, score = rows(rng, digits=digits)
        fit = score if target == "population" else score[~y]
        thresholds = np.r_[np.inf, np.unique(score)[::-1]]
        recall = np.array([np.mean(score[y] >= t) for t in thresholds])
        area = np.array([np.mean(fit >= t) for t in thresholds])
        t = np.linspace(0, area.size - 1, 400_001)  # along the straight lines between thresholds
        x, r = (np.interp(t, np.arange(area.size), column) for column in (area, recall))
        inside = r >= 1 - omission
        x, r = x[inside], r[inside]
        slow = np.sum(np.diff(x) * (r[1:] + r[:-1]) / 2) / ((1 - x[0] ** 2) / 2)
        found = auc_ratio(y, score, omission=omission, target=target)
        assert found == pytest.approx(slow, abs=1e-5)

    def test_whole_curve_is_the_probability_of_a_higher_score(self, rng):
        y, score = rows(rng, digits=1)
        presence, other = score[y][:, None], score[~y][None, :]
        above = np.mean((presence > other) + 0.5 * (presence == other))
        found = auc_ratio(y, score, omission=1.0, **CASE_CONTROL)
        assert found == pytest.approx(2 * above, abs=1e-12)

    def test_auc_ratio_by_hand(self):
        # Recall reaches 1 at a quarter of the background: 0.75 over (1 − 1/16)/2.
        y, score = [1, 1, 0, 0, 0, 0], [0.9, 0.6, 0.7, 0.4, 0.3, 0.1]
        assert auc_ratio(y, score, **CASE_CONTROL) == pytest.approx(0.75 / (15 / 32), abs=1e-12)


class TestFpb:
    def test_by_counting(self, rng):
        y, score = rows(rng)
        predicted = score >= 0.6
        presences = 2 * np.sum(predicted & y)
        for target, background in (("population", predicted), ("unlabeled", predicted & ~y)):
            expected = presences / (y.sum() + background.sum())
            assert f_pb(y, predicted, target=target) == pytest.approx(expected, abs=1e-12)

    def test_is_f1_if_the_prevalence_is_that_of_the_sample(self, rng):
        y, score = rows(rng, 40, 200)
        predicted = score >= 0.6
        f1 = f1_score(y, predicted, prior=40 / 200, **CASE_CONTROL)
        assert f_pb(y, predicted, **CASE_CONTROL) == pytest.approx(f1, abs=1e-12)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: boyce_index([0, 0], [1, 2]), "no labeled rows"),
        (
            lambda: boyce_index([1, 2], [1, 2], target="unlabeled", negative_label=2),
            "needs unlabeled rows",
        ),
        (lambda: boyce_index([1, 0], [1, 2], window=3), "window must be between 0 and the range"),
        (lambda: boyce_index([1, 0], [1, 2], n_windows=1), "n_windows must be"),
        (lambda: boyce_index([1, 0], [1, 2], method="rank"), "method must be"),
        (lambda: boyce_index([1, 0], [1, 2], classes=1), "classes must be"),
        (lambda: boyce_index([1, 0], [1, 2], classes=[np.nan]), "classes must be"),
        (lambda: minimal_predicted_area([1, 0], [1, 2], share=90), r"pass 0\.9"),
        (lambda: auc_ratio([1, 0], [1, 2], omission=0), r"omission must be in \(0, 1\]"),
        (lambda: f_pb([1, 0], [0.3, 0.2]), "y_pred must hold classes"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(InputError, match=message):
        call()


def test_tss_is_a_name_of_informedness():
    ev = evaluate([1, 1, 0, 0, 0], [5, 3, 4, 2, 1], prior=0.0, level=None)
    with pytest.raises(KeyError, match="informedness"):
        ev["tss"]


def test_interpolated_area_against_numpy(rng):
    from pueval.families.presence_measures import interpolated_area

    recall = rng.random((50, 20)).round(1) * rng.choice([0.5, 1, 1.2], size=(50, 1))
    recall = np.maximum.accumulate(recall, axis=1)
    area = np.sort(rng.random((50, 20)), axis=1)
    for share in (0.0, 0.05, 0.4, 0.5, 0.83, 1.5):
        expected = [np.interp(share, y, x) for y, x in zip(recall, area, strict=True)]
        np.testing.assert_allclose(interpolated_area(recall, area, share), expected, rtol=1e-12)
