"""Empirical Bayes: groups shrunken toward their mean."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from pueval import InputError, evaluate_by
from pueval.groups.group_jackknife import PARTS, Jackknife, divide_rows, without_part
from pueval.groups.row_blocks import RowBlock
from pueval.groups.shrinkage import posterior
from tests.coverage.group_shrinkage import GroupSetting, shrinkage_coverage


def rows(rng, groups=30, labeled=12, spread=0.5, prior=0.2):
    separation = 1.5 + spread * rng.normal(size=groups)
    by = np.repeat(np.arange(groups), 6 * labeled)
    y = (rng.random(by.size) < 1 / 6).astype(int)
    positive = (y == 1) | (rng.random(by.size) < prior)
    return y, rng.normal(size=by.size) + separation[by] * positive, by


# ---------------------------------------------------------------------- the posterior


def slow_posterior(x, v, k):
    """Mean and standard deviation of one true value, by numerical integration over τ²."""

    def moments(tau2):
        w = [1 / (each + tau2) for each in v]
        total = sum(w)
        mean = sum(a * b for a, b in zip(w, x, strict=True)) / total
        exponent = sum(a * (b - mean) ** 2 for a, b in zip(w, x, strict=True))
        likelihood = np.prod(np.sqrt(w)) / np.sqrt(total) * np.exp(-exponent / 2)
        share = v[k] / (v[k] + tau2)
        value = (1 - share) * x[k] + share * mean
        return likelihood, value, v[k] * (1 - share) + share**2 / total

    top = (4 * np.std(x, ddof=1)) ** 2

    def integral(function):
        return quad(lambda t: function(*moments(t)), 0, top, limit=300)[0]

    norm_ = integral(lambda a, b, c: a)
    mean = integral(lambda a, b, c: a * b) / norm_
    return mean, np.sqrt(integral(lambda a, b, c: a * (b**2 + c)) / norm_ - mean**2)


def test_posterior_by_integration(rng):
    v = rng.uniform(0.005, 0.03, 8)
    x = 0.8 + 0.1 * rng.normal(size=8) + np.sqrt(v) * rng.normal(size=8)
    found = posterior(x, v)
    for k in range(8):
        mean, deviation = slow_posterior(x, v, k)
        assert found.mean[k] == pytest.approx(mean, abs=2e-4)
        assert found.error[k] == pytest.approx(deviation, rel=3e-3)


def test_groups_with_much_information_keep_their_estimates():
    x = np.array([0.5, 0.6, 0.7, 0.8, 0.9, 0.55])
    found = posterior(x, np.array([1e-8] * 5 + [1000.0]))
    np.testing.assert_allclose(found.mean[:5], x[:5], atol=1e-5)
    assert found.mean[5] == pytest.approx(found.center, abs=1e-3)
    assert found.error[5] == pytest.approx(found.center_error, rel=0.01)
    # In between, the order of weights is that of the variances.
    weight = posterior(x, np.linspace(0.001, 0.05, 6)).weight
    assert np.all(np.diff(weight) < 0)


def test_many_groups_have_a_fine_grid():
    rng = np.random.default_rng(3)
    x = 0.8 + 0.02 * rng.normal(size=20_000) + 0.1 * rng.normal(size=20_000)
    assert posterior(x, np.full(20_000, 0.01)).spread == pytest.approx(0.02, rel=0.15)


# ---------------------------------------------------------------------- the jackknife


@pytest.mark.parametrize("n", [2, 4, 5, 7, 23])
def test_the_jackknife_of_a_mean_has_no_bias(rng, n):
    """Parts of different sizes, and fewer rows than parts."""
    block = RowBlock(0, 1, np.zeros(n, int), np.zeros(n), np.zeros(n, int), None)
    part = divide_rows(block).argmax(axis=0)
    found = []
    for _ in range(4000):
        value = rng.normal(size=n)
        without = np.full((2, PARTS, 1), np.nan)
        ratio = without.copy()
        for k in np.unique(part):
            without[0, k] = value[part != k].mean()
            ratio[0, k] = np.sum(part != k) / np.sum(part == k)
        found.append(Jackknife({}, ratio).variance(without, np.array([value.mean()]))[0])
    assert np.mean(found) == pytest.approx(1 / n, rel=0.08)


@pytest.mark.parametrize("weights", [None, "frequency", "importance"])
def test_removed_parts(rng, weights):
    y, score, by = rows(rng, 4, 9)
    y[rng.random(y.size) < 0.1] = 2
    kind = np.where(y == 1, 0, np.where(y == 0, 1, 2))
    weight = {
        None: None,
        "frequency": rng.integers(1, 9, y.size),
        "importance": rng.uniform(0.5, 2, y.size),
    }[weights]
    block = RowBlock(0, 4, by, score, kind, weight)
    count = weight if weights == "frequency" else np.ones(y.size, int)
    plain = np.ones(y.size) if weight is None else weight
    parts = divide_rows(block)
    np.testing.assert_array_equal(parts.sum(axis=0), count)
    for background in (False, True):
        removed_in_all = np.zeros(4)
        for part in range(PARTS):
            reduced, ratio = without_part(block, parts[part], background=background)
            for group in range(4):
                for k in range(3):
                    of_kind = (by == group) & (kind == k)
                    total = reduced.sample_weight[of_kind].sum()
                    assert total == pytest.approx(plain[of_kind].sum())
            others = (kind > 0) != background
            np.testing.assert_allclose(reduced.sample_weight[others], plain[others])
            n = np.bincount(by[~others], count[~others])
            removed_in_all += np.nan_to_num(n / (1 + ratio))  # nothing is removed where it is NaN
        np.testing.assert_allclose(removed_in_all, n)


# ---------------------------------------------------------------------- groups


def test_many_small_groups():
    """Mean squared errors fall, and intervals hold the truth on average."""
    found = shrinkage_coverage(GroupSetting(60, "10", 0.5), 12)
    for name, (covered, ratio) in found.items():
        assert 0.91 < covered < 0.99, name
        assert ratio < 0.75, name


def test_groups_without_any_difference():
    found = shrinkage_coverage(GroupSetting(60, "15", 0.0), 5)
    for name, (covered, ratio) in found.items():
        assert covered > 0.97, name
        assert ratio < 0.2, name


@pytest.mark.parametrize("target", ["population", "unlabeled"])
@pytest.mark.parametrize("way", ["shared", "label_frequency"])
def test_every_measure(rng, target, way):
    y, score, by = rows(rng)
    groups = evaluate_by(
        y, score, by, prior=0.2, threshold=0.8, n_resamples=2, shrink=True, target=target,
        group_prior=way,
    )  # fmt: skip
    own = evaluate_by(
        y, score, by, prior=0.2, threshold=0.8, n_resamples=2, min_labeled=5, target=target,
        group_prior=way,
    )  # fmt: skip
    for name in groups:
        shrunken = groups[name]
        assert np.isfinite([shrunken.value, shrunken.low, shrunken.high]).all(), name
        assert (shrunken.low <= shrunken.value).all(), name
        assert (shrunken.value <= shrunken.high).all(), name
        detail = own.shrinkage(name)
        np.testing.assert_array_equal(detail.value, shrunken.value)
        assert not shrunken.clipped.any()
        np.testing.assert_array_equal(shrunken.naive, own[name].naive)
        # A weighted mean of the group's own value and the mean of the groups.
        if name in {"roc_auc", "recall", "f1"}:
            low = np.minimum(detail.own_value, detail.mean) - 0.01
            high = np.maximum(detail.own_value, detail.mean) + 0.01
            used = detail.weight > 0
            assert np.all((low <= detail.value)[used] & (detail.value <= high)[used]), name
        # Means and differences do not use shrunken values.
        assert groups.macro(name).value == pytest.approx(own.macro(name).value, nan_ok=True)
    assert groups.of(3)["f1"].value == groups["f1"].value[3]
    assert "shrunken toward their mean" in repr(groups)
    assert groups.to_dict()["shrink"] is True


def test_priors_of_the_groups(rng):
    """Equal given priors are a shared prior; the arrays of a result are its own."""
    y, score, by = rows(rng, 12, 15)
    given = {"threshold": 0.8, "n_resamples": 2, "shrink": True}
    shared = evaluate_by(y, score, by, prior=0.2, **given)
    mapping = evaluate_by(y, score, by, group_prior=dict.fromkeys(range(12), 0.2), **given)
    np.testing.assert_allclose(mapping["f1"].low, shared["f1"].low)
    shared["f1"].value[:] = 0
    np.testing.assert_allclose(mapping["f1"].value, shared["f1"].value)


def test_groups_without_estimates_get_the_mean(rng):
    y, score, by = rows(rng, 20, 15)
    y[by == 4] = 0
    groups = evaluate_by(y, score, by, prior=0.2, threshold=0.8, n_resamples=2, shrink=True)
    found = groups.shrinkage("recall")
    assert found.value[4] == pytest.approx(found.mean)
    assert found.weight[4] == 0
    assert np.isnan(found.own_value[4])
    wide = found.standard_error[4]
    assert wide**2 > found.spread**2
    assert wide > np.delete(found.standard_error, 4).max()
    assert groups.notes[4] == "no labeled rows: mean of the groups"
    assert "of their own" in groups.summary()


def test_a_group_outside_the_target_stays_undefined(rng):
    y, score, by = rows(rng, 10, 15)
    y[(by == 2) & (y == 0)] = 2
    groups = evaluate_by(
        y, score, by, prior=0.2, threshold=0.8, n_resamples=2, shrink=True, target="unlabeled",
        negative_label=2,
    )  # fmt: skip
    assert np.isnan(groups["f1"].value[2])
    assert groups.notes[2] == "no unlabeled rows, which are the target"


def test_what_priors_share_is_not_shrunken(rng):
    """An estimated prior is as uncertain for the shrunken estimate as for the mean."""
    y, score, by = rows(rng, 60, 20, spread=0.0)
    given = {"threshold": 0.8, "n_resamples": 50, "shrink": True}
    estimated = evaluate_by(y, score, by, **given)
    prior = estimated.overall.mixture.prior
    known = evaluate_by(y, score, by, prior=prior, **given)
    for name in ("precision", "roc_auc"):
        shared = estimated._estimates.prior_change[name]
        added = estimated[name].standard_error ** 2 - known[name].standard_error ** 2
        assert np.sqrt(added.mean()) == pytest.approx(np.mean(np.abs(shared)), rel=0.15)


@pytest.mark.filterwarnings("ignore:shares of labeled rows:pueval.AssumptionWarning")
def test_weights(rng):
    """Rows with frequency weights are as many rows; importance weights are no rows."""
    y, score, by = rows(rng, 40, 12)
    given = {"prior": 0.2, "threshold": 0.8, "n_resamples": 2, "shrink": True}
    plain, threefold, importance = (
        evaluate_by(y, score, by, sample_weight=weight, **given)
        for weight in (None, np.full(y.size, 3), np.full(y.size, 1.5))
    )
    for name in ("roc_auc", "recall", "average_precision"):
        expected, tripled, weighted = (
            np.nanmean(groups.shrinkage(name).own_standard_error ** 2)
            for groups in (plain, threefold, importance)
        )
        assert tripled == pytest.approx(expected / 3, rel=0.2), name
        assert weighted == pytest.approx(expected, rel=0.01), name


def test_bad_input(rng):
    y, score, by = rows(rng, 4, 20)
    given = {"prior": 0.2, "n_resamples": 2}
    with pytest.raises(InputError, match="at least 5 groups with estimates; got 4"):
        evaluate_by(y, score, by, shrink=True, **given)
    with pytest.raises(InputError, match="shrinkage needs confidence intervals"):
        evaluate_by(y, score, by, shrink=True, level=None, **given)
    groups = evaluate_by(y, score, by, prior=0.2, n_resamples=2)
    assert np.isnan(groups.shrinkage("f1").value).all()
    with pytest.raises(KeyError, match="f2"):
        groups.shrinkage("f2")


def test_levels(rng):
    y, score, by = rows(rng, 20, 12)
    widths = []
    for level in (0.8, 0.95):
        groups = evaluate_by(y, score, by, prior=0.2, n_resamples=2, shrink=True, level=level)
        found = groups.shrinkage("cohen_kappa")
        widths.append(found.high - found.low)
    np.testing.assert_allclose(widths[1] / widths[0], norm.ppf(0.975) / norm.ppf(0.9), rtol=1e-6)
