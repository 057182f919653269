"""Groups: against evaluating each alone; names, small groups, priors, bad input."""

import math
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

import pueval.groups.row_blocks
from pueval import AssumptionWarning, Counts, InputError, compare, evaluate, evaluate_by, priors
from pueval.commands.app import run
from pueval.core.measures import MEASURES
from pueval.groups.group_estimates import find_group
from pueval.sources.group_codes import encode_groups, number_groups, order_numbers
from tests.conftest import draw

AT_A_POINT = ("accuracy", "precision", "recall", "f1", "matthews_corrcoef", "false_positive_rate")


def population(rng, n=1600, groups=5, *, decimals=6, purity=1.0, negatives=False):
    positive, score, labeled = draw(
        rng, n, prevalence=0.35, label_frequency=0.5, purity=purity, separation=1.5
    )
    y = labeled.astype(int)
    if negatives:
        y[~positive & ~labeled & (rng.random(n) < 0.3)] = 2
    return y, np.round(score, decimals), rng.integers(0, groups, n)


def one_by_one(groups, y, score, by, sample_weight=None, **given):
    """Evaluate each group alone at the same threshold."""
    for k, name in enumerate(groups.names):
        mine = by == name
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", AssumptionWarning)
            alone = evaluate(
                y[mine],
                score[mine],
                sample_weight=None if sample_weight is None else sample_weight[mine],
                threshold=groups.overall.threshold,
                **given,
            )
        yield k, alone


@pytest.mark.parametrize("target", ["population", "unlabeled"])
@pytest.mark.parametrize("purity", [1.0, 0.9])
@pytest.mark.parametrize("negatives", [False, True])
@pytest.mark.parametrize(
    ("decimals", "weights"), [(6, None), (1, None), (1, "whole"), (6, "float"), (0, "float")]
)
@pytest.mark.filterwarnings("ignore::pueval.AssumptionWarning")
def test_every_value_is_that_of_the_group_alone(rng, target, purity, negatives, decimals, weights):
    y, score, by = population(rng, decimals=decimals, purity=purity, negatives=negatives)
    weight = {
        None: None,
        "whole": rng.integers(0, 4, y.size),
        "float": rng.random(y.size),
    }[weights]
    given = {"prior": 0.15, "purity": purity, "target": target, "n_resamples": 2}
    if negatives:
        given["negative_label"] = 2
    groups = evaluate_by(y, score, by, sample_weight=weight, **given)
    assert groups.evaluated.all()
    compared = 0
    for k, alone in one_by_one(groups, y, score, by, weight, **given):
        counts = groups.counts(k)
        np.testing.assert_allclose(counts.labeled, alone.counts.labeled, rtol=1e-12)
        np.testing.assert_allclose(counts.unlabeled, alone.counts.unlabeled, rtol=1e-12)
        np.testing.assert_array_equal(counts.score, alone.counts.score)
        for name in alone:
            found, expected = groups[name], alone[name]
            assert found.value[k] == pytest.approx(expected.value, abs=1e-12, nan_ok=True), name
            assert found.naive[k] == pytest.approx(expected.naive, abs=1e-12, nan_ok=True), name
            compared += 1
        auc = groups["roc_auc"]
        assert auc.standard_error[k] == pytest.approx(alone["roc_auc"].standard_error, abs=1e-10)
        assert auc.low[k] == pytest.approx(alone["roc_auc"].low, abs=1e-10)
    assert compared == 5 * len(groups.overall)


@pytest.mark.parametrize("purity", [1.0, 0.9])
def test_standard_errors_are_those_of_rows_drawn_again(rng, purity):
    """Slopes and influence against the bootstrap of counts of each group."""
    y, score, by = population(rng, 4000, 4, purity=purity, negatives=True)
    given = {"prior": 0.15, "purity": purity, "negative_label": 2}
    groups = evaluate_by(y, score, by, n_resamples=2, **given)
    for k, alone in one_by_one(groups, y, score, by, n_resamples=2500, **given):
        for name in (*AT_A_POINT, "average_precision"):
            ratio = groups[name].standard_error[k] / alone[name].standard_error
            # Influence lets rates become illegal, which makes it larger; never by much.
            assert 0.9 < ratio < (1.3 if name == "average_precision" else 1.1), (name, ratio)


def test_average_precision_has_the_error_of_compare(rng):
    y, score, by = population(rng, 4000, 4, purity=0.9, negatives=True)
    given = {"prior": 0.15, "purity": 0.9, "negative_label": 2}
    groups = evaluate_by(y, score, by, n_resamples=2, **given)
    for k in range(4):
        mine = by == k
        two = {"a": score[mine], "b": score[mine].round(1)}
        found = compare(y[mine], two, **given)["a"]["average_precision"]
        name = "average_precision"
        assert groups[name].standard_error[k] == pytest.approx(found.standard_error, rel=1e-9)


def test_blocks_do_not_matter(rng, monkeypatch):
    y, score, by = population(rng, 3000, 60, decimals=1)
    whole = evaluate_by(y, score, by, prior=0.15, n_resamples=2, min_labeled=3)
    monkeypatch.setattr(pueval.groups.row_blocks, "BLOCK_ROWS", 130)
    many = evaluate_by(y, score, by, prior=0.15, n_resamples=2, min_labeled=3)
    assert len(many._blocks) > 20
    assert len(whole._blocks) == 1
    for name in whole:
        np.testing.assert_array_equal(whole[name].value, many[name].value)
        np.testing.assert_allclose(whole[name].low, many[name].low, rtol=1e-13)
    for name in ("roc_auc", "f1"):
        a, b = whole.differences(name), many.differences(name)
        np.testing.assert_allclose(a.standard_error, b.standard_error, rtol=1e-10)


def test_float32_scores_and_thresholds_between_them(rng):
    y, score, by = population(rng, 1000, 3)
    score = score.astype(np.float32)
    threshold = float(np.nextafter(np.float64(score[17]), np.inf))
    groups = evaluate_by(y, score, by, prior=0.1, threshold=threshold, level=None)
    for k, alone in one_by_one(groups, y, score, by, prior=0.1, level=None):
        assert groups["recall"].value[k] == alone["recall"].value


# ---------------------------------------------------------------------- names of groups


@pytest.mark.parametrize(
    "make",
    [
        lambda codes: codes,
        lambda codes: codes * 10**12,
        lambda codes: codes.astype(np.uint8),
        lambda codes: codes.astype(float) / 4,
        lambda codes: codes > 1,
        lambda codes: np.array(["b", "", "c é", "a"])[codes],
        lambda codes: np.array(["b", "", "c", "a"], dtype=object)[codes],
        lambda codes: pd.Series(np.array(["b", "z", "c", "a"])[codes]),
        lambda codes: pd.Series(np.array(["b", "z", "c", "a"])[codes]).astype("string"),
        lambda codes: pl.Series(np.array(["b", "z", "c", "a"])[codes]),
        lambda codes: np.array(["2020-01-02", "2020-01-01", "NaT"], "M8[D]")[codes % 2],
        lambda codes: list(np.array(["b", "z", "c", "a"])[codes]),
        lambda codes: [(1, "b", 2.5, None)[k] if k < 3 else True for k in codes],
    ],
)
def test_groups_of_any_type(rng, make):
    """Rows are put together as a dictionary of Python values puts them."""
    by = make(rng.integers(0, 4, 500))
    names, code = encode_groups(by, 500)
    by_hand = {}
    for row, name in enumerate(np.asarray(by, dtype=object).tolist()):
        by_hand.setdefault(name, []).append(row)
    assert len(names) == len(by_hand)
    for k, name in enumerate(names):
        key = name.item() if isinstance(name, np.generic) else name
        assert np.flatnonzero(code == k).tolist() == by_hand[key]
    if all(isinstance(name, str) for name in names) or all(isinstance(n, int) for n in names):
        assert names == sorted(names)


@pytest.mark.parametrize(
    "values",
    [
        np.array([3, 5, 3, 9]),
        np.array([-128, 127, 0], dtype=np.int8),
        np.array([2**63 + 1, 2**63 + 3, 2**63 + 1], dtype=np.uint64),
        np.array([True, True]),
        np.array([10**15, 3, 10**15]),
        np.array(["b", "a", "b"]),
    ],
    ids=["gaps", "int8", "uint64", "one boolean", "far apart", "text"],
)
def test_numbers_of_groups(values):
    """Rows have the same number if they are in the same group, and numbers follow the names."""
    number, used = number_groups(values, values.size)
    names, code = encode_groups(values, values.size)
    assert names == sorted(set(values.tolist()))
    np.testing.assert_array_equal(np.unique(number), used)
    np.testing.assert_array_equal(np.searchsorted(used, number), code)
    assert [names[k] for k in code] == values.tolist()


def test_categoricals_keep_only_categories_that_occur(rng):
    values = np.array(["low", "mid", "high"])[rng.integers(0, 2, 300)]
    for by in (
        pd.Categorical(values, categories=["low", "mid", "high"], ordered=True),
        pd.Series(pd.Categorical(values, categories=["low", "mid", "high"])),
        pl.Series(values, dtype=pl.Categorical),
    ):
        names, code = encode_groups(by, 300)
        assert names == ["low", "mid"]
        assert (np.array(names)[code] == values).all()


@pytest.mark.parametrize("ordered", [True, False])
def test_only_ordered_categoricals_keep_their_order(rng, ordered):
    values = np.array(["A", "B", "C"])[rng.integers(0, 3, 300)]
    categories = pd.Categorical(values, categories=["C", "Z", "B", "A"], ordered=ordered)
    for by in (categories, pd.Series(categories)):
        names, code = encode_groups(by, 300)
        assert names == (["C", "B", "A"] if ordered else ["A", "B", "C"])
        assert (np.array(names)[code] == values).all()


def test_ordered_categories_are_evaluated_in_their_order(rng):
    _, score, labeled = draw(rng, 3000, prevalence=0.4, label_frequency=0.5)
    text = np.array(["C", "B", "A"])[rng.integers(0, 3, 3000)]
    by = pd.Categorical(text, categories=["C", "B", "A"], ordered=True)
    groups = evaluate_by(labeled, score, by, prior=0.2, level=None)
    sorted_groups = evaluate_by(labeled, score, text, prior=0.2, level=None)
    assert groups.names == ("C", "B", "A")
    assert sorted_groups.names == ("A", "B", "C")
    values = groups["roc_auc"].value
    np.testing.assert_array_equal(values[::-1], sorted_groups["roc_auc"].value)


def test_text_of_numbers_is_ordered_by_numbers_and_stays_text():
    values = np.array(["10", "9", "-1.5", "1e1", "9", " 100"], dtype=object)
    names, code = encode_groups(order_numbers(values), 6)
    assert names == ["-1.5", "9", "10", "1e1", " 100"]
    assert [names[k] for k in code] == values.tolist()
    assert encode_groups(values, 6).names == sorted(set(values))


@pytest.mark.parametrize("other", ["a9", "", "nan", "inf", "1_000", "1,5", "٣"])
def test_columns_with_other_text_are_not_ordered_by_numbers(other):
    values = np.array(["10", "9", other], dtype=object)
    assert order_numbers(values) is values


@pytest.mark.parametrize(
    "by",
    [
        ["a", None, "b", None],
        np.array([1.0, np.nan, 2.0, np.nan]),
        pd.Series(["a", pd.NA, "b", pd.NA], dtype="string"),
        pd.Series(pd.Categorical(["a", None, "b", None])),
        np.array(["2020-01-01", "NaT", "2020-01-02", "NaT"], dtype="M8[D]"),
        np.array(["a", np.nan, "b", np.nan], dtype=object),
        np.ma.array([1, 2, 3, 4], mask=[0, 1, 0, 1]),
        pl.Series(["a", None, "b", None]),
    ],
)
def test_missing_groups_are_counted_and_refused(by):
    with pytest.raises(InputError, match=r"2 rows with a missing"):
        evaluate_by([1, 0, 1, 0], [4, 3, 2, 1], by, prior=0.1)


# ---------------------------------------------------------------------- small groups


def test_small_groups_say_so_and_nothing_is_lost(rng):
    sizes = {"big": (40, 160), "few": (3, 50), "none": (0, 30), "only": (25, 0), "single": (1, 1)}
    y = np.concatenate([np.repeat([1, 0], size) for size in sizes.values()])
    by = np.repeat(list(sizes), [sum(size) for size in sizes.values()])
    score = rng.normal(size=y.size) + y
    groups = evaluate_by(y, score, by, prior=0.1)
    notes = dict(zip(groups.names, groups.notes, strict=True))
    assert notes == {
        "big": "",
        "few": "3 labeled rows, fewer than 20",
        "none": "no labeled rows",
        "only": "no unlabeled or known negative rows",
        "single": "1 labeled row, fewer than 20 and 1 unlabeled or known negative row, "
        "fewer than 20",
    }
    assert groups.n_labeled.sum() == y.sum()
    assert groups.n_unlabeled.sum() == (y == 0).sum()
    assert groups.overall.counts == Counts.from_arrays(y, score)
    for name in groups:
        value = groups[name]
        assert np.isnan(value.value[1:]).all()
        assert np.isnan(value.low[1:]).all()
        assert np.isnan(value.naive[1:]).all()
        assert math.isfinite(value.naive[0])
    assert groups.macro("f1").groups == 1
    with pytest.raises(InputError, match="'few' cannot be evaluated: 3 labeled rows, fewer"):
        groups.evaluation("few")
    more = evaluate_by(y, score, by, prior=0.1, min_labeled=3, min_background=2)
    assert more.evaluated.tolist() == [True, True, False, False, False]


def test_no_group_is_large_enough(rng):
    y, score, _ = population(rng, 60, 1)
    groups = evaluate_by(y, score, np.arange(60), prior=0.1, threshold=0.5)
    assert not groups.evaluated.any()
    assert math.isnan(groups.macro("roc_auc").value)
    assert "60 of them without estimates" in repr(groups)
    with pytest.raises(InputError, match="nothing to draw"):
        groups.plot()


def test_known_negatives_only_where_the_unlabeled_are_asked_for(rng):
    y, score, by = population(rng, 1500, 3, negatives=True)
    y[(by == 1) & (y == 0)] = 2
    groups = evaluate_by(
        y, score, by, prior=0.1, target="unlabeled", negative_label=2, n_resamples=2
    )
    assert groups.notes[1] == "no unlabeled rows, which are the target"
    assert groups.evaluated.tolist() == [True, False, True]


# ---------------------------------------------------------------------- priors


def test_the_label_frequency_is_shared(rng):
    """Each group is evaluated as alone, with the label frequency that was given."""
    y, score, by = population(rng, 3000, 3)
    groups = evaluate_by(
        y, score, by, label_frequency=0.5, group_prior="label_frequency", n_resamples=2
    )
    assert len(set(groups.prior)) == 3
    for k, alone in one_by_one(groups, y, score, by, label_frequency=0.5, n_resamples=2):
        assert groups.prior[k] == pytest.approx(alone.mixture.prior)
        assert groups["roc_auc"].value[k] == pytest.approx(alone["roc_auc"].value, abs=1e-12)


def test_a_label_frequency_that_a_group_cannot_have(rng):
    y, score, by = population(rng, 3000, 3)
    y[(by == 1) & (rng.random(3000) < 0.75)] = 1
    groups = evaluate_by(
        y, score, by, label_frequency=0.6, group_prior="label_frequency", level=None, threshold=1.0
    )
    assert "label_frequency must be above" in groups.notes[1]
    assert groups.evaluated.tolist() == [True, False, True]


def test_priors_by_group(rng):
    y, score, by = population(rng, 3000, 3)
    given = {0: 0.05, 1: 0.1, 2: 0.15, "spare": 0.9}
    groups = evaluate_by(y, score, by, group_prior=given, n_resamples=2)
    for k, alone in one_by_one(groups, y, score, by, prior=0, level=None):
        assert groups.prior[k] == given[k]
        assert groups["roc_auc"].naive[k] == pytest.approx(alone["roc_auc"].value)
    expected = np.average([0.05, 0.1, 0.15], weights=groups.n_unlabeled)
    assert groups.overall.mixture.prior == pytest.approx(expected)


def test_a_prior_estimated_in_each_group(rng):
    y, score, by = population(rng, 4000, 2)
    score = score + 1.5 * (y == 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssumptionWarning)
        groups = evaluate_by(y, score, by, group_prior="each", n_resamples=2)
        for k, name in enumerate(groups.names):
            expected = priors.estimate(Counts.from_arrays(y[by == name], score[by == name]))
            assert groups.prior[k] == pytest.approx(expected.prior)
    exact = evaluate_by(y, score, by, group_prior=dict(enumerate(groups.prior)), n_resamples=2)
    wide, narrow = groups["precision"], exact["precision"]
    np.testing.assert_allclose(wide.value, narrow.value)
    assert (wide.standard_error > 1.1 * narrow.standard_error).all()


def test_an_estimated_prior_moves_all_groups_alike(rng):
    """It widens every group's limits, and hardly those of differences."""
    y, score, by = population(rng, 6000, 3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssumptionWarning)
        found = evaluate_by(y, score, by, n_resamples=300, threshold=1.0)
    prior = found.overall.mixture.prior
    exact = evaluate_by(y, score, by, prior=prior, n_resamples=300, threshold=1.0)
    for name in ("roc_auc", "precision", "average_precision"):
        wide, narrow = found[name].standard_error, exact[name].standard_error
        assert (wide > 1.05 * narrow).all(), name
        by_prior = np.sqrt(wide**2 - narrow**2)
        extra = found.differences(name).standard_error - exact.differences(name).standard_error
        assert (extra < 0.3 * by_prior).all(), name
    # As wide as the limits of all rows say.
    alone = found.overall["precision"].standard_error
    assert found.macro("precision").standard_error == pytest.approx(alone, rel=0.35)


def test_a_prior_that_a_group_contradicts(rng):
    """A prior of .6 would need an AUC far above 1 in the group whose positives are all labeled."""
    y, score, by = population(rng, 4000, 4)
    easy = by == 2
    score[easy] = np.where(y[easy] == 1, 3, 0) + 0.1 * rng.normal(size=easy.sum())
    with pytest.warns(AssumptionWarning):
        groups = evaluate_by(y, score, by, prior=0.45, n_resamples=2)
    assert groups.notes[2].startswith("the prior is larger than the ranking allows")
    assert groups.evaluated[2]


# ---------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"by": [1, 2]}, "y and by must have the same length; got 60 and 2"),
        ({"by": np.ones((60, 2))}, "by must have one dimension"),
        (
            {"by": np.ones(60, dtype=complex)},
            "by must contain names of groups; got dtype complex128",
        ),
        ({"by": [{}] * 60}, "by must contain names of groups"),
        ({"group_prior": "own"}, "group_prior must be 'shared'"),
        ({"group_prior": "each"}, "prior was given, but group_prior 'each' estimates"),
        ({"group_prior": {"a": 0.1}}, "prior was given, but group_prior contains the priors"),
        ({"group_prior": {"a": 0.1}, "prior": None}, "no prior for 1 of 2 groups, for example 'b'"),
        ({"group_prior": {"a": 0.1, "b": 1.5}, "prior": None}, "group 'b': prior must be a number"),
        ({"prior": (0.1, 0.2)}, "prior must be a number for groups; got the interval"),
        ({"min_labeled": 1}, "min_labeled must be a whole number of at least 2; got 1"),
        ({"min_background": 2.5}, "min_background must be a whole number of at least 2; got 2.5"),
        ({"target": "all"}, "target must be"),
        ({"y": np.zeros(60)}, "there are no labeled rows"),
        ({"score": np.r_[np.ones(59), np.nan]}, "1 row with a missing score"),
        ({"level": 2}, "level must be"),
        ({"threshold": "high"}, "threshold must be a number"),
    ],
)
def test_bad_input(rng, changed, message):
    given = {
        "y": np.tile([1, 0, 0], 20),
        "score": rng.normal(size=60),
        "by": np.tile(["a", "b"], 30),
        "prior": 0.1,
    }
    with pytest.raises(InputError, match=message.replace("(", r"\(")):
        evaluate_by(**(given | changed))


def test_bad_questions(rng):
    y, score, by = population(rng, 900, 2)
    groups = evaluate_by(y, score, np.array(["Bern", "Oslo"])[by], prior=0.1, n_resamples=2)
    with pytest.raises(InputError, match="no group 'Olso'. Did you mean 'Oslo'.$"):
        groups.of("Olso")
    with pytest.raises(InputError, match="no group 'Paris'. The groups are 'Bern', 'Oslo'.$"):
        groups.of("Paris")
    with pytest.raises(InputError, match=r"'Bern' is a group.* use groups.of\('Bern'\)"):
        groups["Bern"]
    many = {f"x{k}": k for k in range(1200)}
    with pytest.raises(InputError, match=r"The groups are 'x0', .*'x9', … \(1,200 in all\)"):
        find_group("Paris", many)
    with pytest.raises(InputError, match="one group per row; got the string 'city'. Pass frame"):
        evaluate_by(y, score, "city", prior=0.1)
    with pytest.raises(InputError, match="no group"):
        groups.counts(["Oslo"])
    for ask in (lambda: groups["f2"], lambda: groups.macro("F1"), lambda: groups.differences("x")):
        with pytest.raises(InputError, match="unknown measure"):
            ask()
    with pytest.raises(InputError, match="curve must be 'roc' or 'pr'"):
        groups.plot("lift")
    with pytest.raises(InputError, match="no group 'Rome'"):
        groups.plot(groups=["Rome"])
    bare = evaluate_by(y, score, by, prior=0.1, level=None)
    assert np.isnan(bare["f1"].low).all()
    assert math.isnan(bare.macro("f1").low)
    with pytest.raises(InputError, match="differences need confidence intervals"):
        bare.differences("f1")


def test_all_measures_are_there(rng):
    y, score, by = population(rng, 900, 2)
    groups = evaluate_by(y, score, by, prior=0.1, n_resamples=50)
    assert list(groups) == list(groups.overall) == ["roc_auc", "average_precision", *MEASURES]
    of = groups.of(1)
    assert of["f1"].value == groups["f1"].value[1]
    alone = groups.evaluation(1)
    assert alone["f1"].value == pytest.approx(of["f1"].value)
    assert alone.best("f1").value >= alone["f1"].value


def test_uneven_labels_are_remarked_on(rng, tmp_path, capsys):
    """With the same chance of a label, more labels are more positives."""
    by = np.repeat(["many", "few"], 4000)
    positive = rng.random(8000) < np.where(by == "many", 0.4, 0.1)
    score = rng.normal(size=8000) + 1.5 * positive
    labeled = positive & (rng.random(8000) < 0.3)
    given = {"prevalence": 0.25, "threshold": 1.0, "n_resamples": 50}
    message = "shares of labeled rows differ between groups.*in 'few',.* in 'many'"
    with pytest.warns(AssumptionWarning, match=message):
        shared = evaluate_by(labeled, score, by, **given)
    assert "group_prior" in shared.warnings[-1]
    assert "shares of labeled rows differ" in repr(shared)
    right = evaluate_by(labeled, score, by, group_prior="label_frequency", **given)
    assert right.warnings == ()
    truth = [positive[(by == name) & (score >= 1)].mean() for name in right.names]
    np.testing.assert_allclose(right["precision"].value, truth, atol=0.06)
    assert np.abs(shared["precision"].value - truth).max() > 0.1
    path = tmp_path / "a.csv"
    pd.DataFrame({"y": labeled.astype(int), "s": score, "site": by}).to_csv(path, index=False)
    arguments = ["evaluate", str(path), "--label", "y", "--score", "s", "--by", "site"]
    assert run([*arguments, "--prevalence", "0.25", "--threshold", "1"]) == 0
    assert "Try --group-prior label_frequency" in " ".join(capsys.readouterr().out.split())


def test_even_labels_are_not(rng):
    calls = 0
    for _ in range(40):
        by = rng.integers(0, 10, 2000)
        labeled = rng.random(2000) < 0.2
        groups = evaluate_by(labeled, rng.normal(size=2000) + labeled, by, prior=0.05, level=None)
        calls += any("shares of labeled rows" in said for said in groups.warnings)
    assert calls == 0
