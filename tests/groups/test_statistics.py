"""Groups: averages, limits and differences against the truth and against rows drawn again."""

import numpy as np
import pytest
from scipy.stats import norm

from pueval import evaluate, evaluate_by
from pueval.core.sizes import GroupSizes
from tests.conftest import draw


def population(rng, n, groups, *, decimals=6, negatives=False):
    positive, score, labeled = draw(rng, n, prevalence=0.35, label_frequency=0.5)
    y = labeled.astype(int)
    if negatives:
        y[~positive & ~labeled & (rng.random(n) < 0.3)] = 2
    return y, np.round(score, decimals), rng.integers(0, groups, n)


def test_macro_average(rng):
    y, score, by = population(rng, 3000, 6)
    groups = evaluate_by(y, score, by, prior=0.1, n_resamples=2)
    for name in ("roc_auc", "f1"):
        one, macro = groups[name], groups.macro(name)
        assert macro.value == pytest.approx(one.value.mean())
        assert macro.naive == pytest.approx(one.naive.mean())
        assert macro.standard_error == pytest.approx(np.sqrt(np.sum(one.standard_error**2)) / 6)
        assert macro.high - macro.low == pytest.approx(2 * 1.959964 * macro.standard_error)
        assert macro.groups == 6


def truth(prior, n_labeled, n_unlabeled, separation, threshold):
    tau = np.linspace(-6, 6 + separation, 20_001)
    tpr, fpr = norm.sf(tau, separation), norm.sf(tau)
    prevalence = (n_labeled + prior * n_unlabeled) / (n_labeled + n_unlabeled)
    predicted = prevalence * tpr + (1 - prevalence) * fpr
    precision = prevalence * tpr / predicted
    f1 = 2 * prevalence * tpr / (prevalence + predicted)
    return {
        "roc_auc": norm.cdf(separation / np.sqrt(2)),
        "average_precision": np.sum(-np.diff(tpr) * (precision[1:] + precision[:-1]) / 2),
        "precision": np.interp(threshold, tau, precision),
        "f1": np.interp(threshold, tau, f1),
    }


def alike(rng, groups, n_labeled, n_unlabeled, prior=0.2, separation=1.5):
    """Groups without any difference."""
    y = np.tile(np.repeat([1, 0], [n_labeled, n_unlabeled]), groups)
    by = np.repeat(np.arange(groups), n_labeled + n_unlabeled)
    positive = rng.random(y.size) < np.where(y == 1, 1, prior)
    return y, rng.normal(size=y.size) + separation * positive, by


@pytest.mark.parametrize(("n_labeled", "n_unlabeled", "least"), [(25, 125, 0.88), (60, 300, 0.92)])
def test_limits_hold_the_truth(n_labeled, n_unlabeled, least):
    """Of 600 groups; and the macro average of average precision is not too high."""
    rng = np.random.default_rng(2)
    y, score, by = alike(rng, 600, n_labeled, n_unlabeled)
    groups = evaluate_by(y, score, by, prior=0.2, threshold=0.8, n_resamples=2)
    true = truth(0.2, n_labeled, n_unlabeled, 1.5, 0.8)
    for name, expected in true.items():
        one, macro = groups[name], groups.macro(name)
        held = np.mean((one.low <= expected) & (expected <= one.high))
        assert held > (0.88 if name == "average_precision" else least), (name, held)
        assert held < 0.985, (name, held)
        assert abs(macro.value - expected) < 4 * macro.standard_error + 0.012, name
        assert macro.spread < 0.05, name
    # The plain mean is too high: every labeled row helps itself.
    plain, macro = (
        groups._estimates.value["average_precision"],
        groups.macro("average_precision").value,
    )
    assert plain.mean() > true["average_precision"] + 0.2 / n_labeled
    assert plain.mean() > macro


def test_the_spread_between_groups():
    rng = np.random.default_rng(4)
    y, score, by = alike(rng, 400, 60, 300)
    shift = np.where(by % 2, 0.7, -0.7)  # half of the groups score higher throughout
    groups = evaluate_by(y, score + shift, by, prior=0.2, threshold=0.8, n_resamples=2)
    recall = groups.macro("recall").spread
    true = np.std([norm.sf(0.8 - 0.7, 1.5), norm.sf(0.8 + 0.7, 1.5)])
    assert recall == pytest.approx(true, rel=0.05)
    assert groups.macro("roc_auc").spread < 0.02


# ---------------------------------------------------------------------- differences


@pytest.mark.filterwarnings("ignore:shares of labeled rows:pueval.AssumptionWarning")
def test_differences_against_rows_drawn_again():
    """Errors of group − all rows, and of group − group, against a bootstrap of rows."""
    rng = np.random.default_rng(8)
    y, score, by = population(rng, 1200, 3, negatives=True)
    score = score + 0.4 * (by == 2)
    given = {"prior": 0.15, "threshold": 0.8, "negative_label": 2}
    groups = evaluate_by(y, score, by, n_resamples=2, **given)
    names = ("roc_auc", "average_precision", "f1", "precision", "accuracy")
    to_all, to_first = {n: [] for n in names}, {n: [] for n in names}
    for _ in range(300):
        # Other rows of the same groups: more or fewer of them are labeled.
        rows = np.concatenate(
            [rng.choice(np.flatnonzero(by == g), np.sum(by == g)) for g in range(3)]
        )
        again = evaluate_by(y[rows], score[rows], by[rows], level=None, **given)
        for name in names:
            values = again._estimates.value[name]
            to_all[name].append(values - again.overall[name].value)
            to_first[name].append(values - values[0])
    for name in names:
        # Influence on the average precision lets rates become illegal, which makes it larger.
        least, most = (1.0, 1.3) if name == "average_precision" else (0.84, 1.16)
        ratio = groups.differences(name).standard_error / np.std(to_all[name], axis=0)
        assert least < ratio.min() <= ratio.max() < most, name
        found = groups.differences(name, reference=0)
        ratio = found.standard_error[1:] / np.std(to_first[name], axis=0)[1:]
        assert least < ratio.min() <= ratio.max() < most, name
        assert found.value[0] == 0
        assert found.standard_error[0] == 0


def test_differences_are_seldom_found_where_there_are_none():
    rng = np.random.default_rng(6)
    y, score, by = alike(rng, 500, 60, 240)
    groups = evaluate_by(y, score, by, prior=0.2, threshold=0.8, n_resamples=2)
    for name in ("roc_auc", "f1", "precision"):
        found = groups.differences(name)
        assert 0.02 < np.mean(found.pvalue < 0.05) < 0.085, name
        assert (found.adjusted_pvalue < 0.05).sum() <= 1
        # Limits are for the group as it is, p-values as if it were like all others.
        outside = (found.low > 0) | (found.high < 0)
        assert np.all(outside[found.pvalue < 0.05])


def test_one_group_does_not_differ_from_all_rows(rng):
    y, score, _ = population(rng, 900, 1, decimals=1)
    groups = evaluate_by(y, score, np.full(900, "x"), prior=0.15, n_resamples=2)
    for name in ("roc_auc", "average_precision", "f1", "matthews_corrcoef"):
        found = groups.differences(name)
        assert found.value[0] == pytest.approx(0, abs=1e-12)
        assert found.standard_error[0] == pytest.approx(0, abs=1e-7)


def test_what_is_unknown_of_all_rows_does_not_average_out(rng):
    """An estimated prior is as uncertain for forty groups together as for one."""
    _, score, labeled = draw(rng, 20_000, prevalence=0.3, label_frequency=0.2)
    by = rng.integers(40, size=20_000)
    given = {"threshold": 1.0, "n_resamples": 300, "min_labeled": 5}
    for name in ("precision", "roc_auc"):
        shared, frequency = (
            evaluate_by(labeled, score, by, group_prior=way, **given).macro(name).standard_error
            for way in ("shared", "label_frequency")
        )
        assert frequency == pytest.approx(shared, rel=0.15), name


@pytest.mark.parametrize("way", ["shared", "label_frequency"])
def test_one_group_has_the_errors_of_all_rows_with_a_label_frequency(rng, way):
    _, score, labeled = draw(rng, 3000, prevalence=0.3, label_frequency=0.2)
    given = {"label_frequency": 0.2, "threshold": 1.0}
    ev = evaluate(labeled, score, **given)
    groups = evaluate_by(labeled, score, np.zeros(3000, int), group_prior=way, **given)
    for name in ("precision", "f1", "accuracy", "roc_auc"):
        found = groups[name].standard_error[0]
        assert found == pytest.approx(ev[name].standard_error, rel=0.12), name
        assert groups.differences(name).standard_error[0] == pytest.approx(0, abs=0.02 * found), (
            name
        )


def test_groups_without_unlabeled_rows(rng):
    y = np.repeat([1, 0, 1, 2], [50, 200, 50, 200])
    score, by = rng.normal(size=500) + (y == 1), np.repeat([0, 1], 250)
    groups = evaluate_by(y, score, by, prior=0.1, negative_label=2, n_resamples=50)
    assert groups.evaluation(1)["roc_auc"].value == pytest.approx(groups["roc_auc"].value[1])
    y[y == 0] = 2
    known = {"negative_label": 2, "n_resamples": 50}
    found = evaluate_by(y, score, by, group_prior={0: 0.0, 1: 0.0}, **known)
    assert found.overall.mixture.prior == 0
    same = evaluate_by(y, score, by, group_prior="label_frequency", **known)
    for groups in (found, same):
        assert np.isfinite(groups.differences("roc_auc").low).all()


@pytest.mark.thorough
def test_equal_groups_do_not_differ():
    """A group that looks perfect by chance is not known exactly: Holm's p-values must hold."""
    found = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        _, score, labeled = draw(rng, 20_000, prevalence=0.3, label_frequency=0.3, separation=2)
        by = rng.integers(50, size=20_000)
        groups = evaluate_by(labeled, score, by, prior=0.3 * 0.7 / 0.91, threshold=1.0)
        found += np.nanmin(groups.differences("recall").adjusted_pvalue) < 0.05
    assert found <= 3  # 11 with the groups' own standard errors


@pytest.mark.parametrize("way", ["shared", "label_frequency"])
def test_equal_groups_have_no_spread(rng, way):
    _, score, labeled = draw(rng, 25_000, prevalence=0.3, label_frequency=0.3)
    by = rng.integers(50, size=25_000)
    given = {"threshold": 1.0, "prior": 0.3 * 0.7 / 0.91, "group_prior": way}
    if way == "label_frequency":
        given = {"threshold": 1.0, "label_frequency": 0.3, "group_prior": way}
    groups = evaluate_by(labeled, score, by, **given)
    for name in ("precision", "f1", "roc_auc"):
        error = np.sqrt(np.mean(groups[name].standard_error ** 2))
        assert groups.macro(name).spread < 0.6 * error, name


def test_billions_of_rows():
    """Squares of their numbers do not fit in 64-bit integers."""
    n = np.array([10**9]), np.array([5 * 10**9]), np.array([0])
    sizes = GroupSizes(*n, tuple(kind.astype(float) for kind in n))
    assert [float(square[0]) for square in sizes.squared_weights] == [1e9, 5e9, 0]
    assert [float(size[0]) for size in sizes.effective_sizes] == [1e9, 5e9]
