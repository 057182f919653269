"""Groups with an audit: each is that of evaluate() for its rows, and says what it lacks."""

import json
import warnings

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from pueval import AssumptionWarning, InputError, evaluate, evaluate_by
from tests.audit_estimates.audits import audit_rows, label_rows, make_rows, uniform_audit

FIELDS = ("value", "low", "high", "naive", "standard_error", "unclipped")


def sample(seed=0, n=6000, size=240):
    """Two large groups with enough audited rows, and a third without any."""
    rng = np.random.default_rng(seed)
    positive, score = make_rows(rng, n=n)
    by = rng.choice(["a", "b", "c"], n, p=[0.5, 0.3, 0.2])
    labeled = label_rows(rng, positive, score, "up")
    audited = uniform_audit(rng, positive, labeled, size)
    audited[by == "c"] = np.nan
    return positive, score, labeled, by, audited


@pytest.fixture(scope="module")
def rows():
    return sample()


@pytest.fixture(scope="module")
def groups(rows):
    _, score, labeled, by, audited = rows
    return evaluate_by(labeled, score, by, audited=audited)


# Labels favor high scores, so the audit contradicts labels that are taken for random.
@pytest.mark.filterwarnings("ignore:the audit contradicts labeling='random'")
@pytest.mark.parametrize(
    ("labeling", "target", "weighted", "with_probability"),
    [
        ("smooth", "population", False, False),
        ("any", "unlabeled", True, True),
        ("random", "population", False, True),
    ],
)
def test_every_group_is_that_of_its_rows_alone(labeling, target, weighted, with_probability):
    rng = np.random.default_rng(6)
    positive, score, labeled, by, audited = sample(5)
    probability = None
    if with_probability:
        probability = np.where(score > 1.5, 0.1, 0.03)
        audited = audit_rows(rng, positive, labeled, probability)
    weight = rng.integers(1, 4, score.size) if weighted else None
    options = {"labeling": labeling, "target": target, "n_resamples": 300, "seed": 3}
    groups = evaluate_by(
        labeled,
        score,
        by,
        audited=audited,
        audit_probability=probability,
        sample_weight=weight,
        **options,
    )
    for name in ("a", "b"):
        mine = by == name
        alone = evaluate(
            labeled[mine],
            score[mine],
            audited=audited[mine],
            audit_probability=None if probability is None else probability[mine],
            sample_weight=None if weight is None else weight[mine],
            threshold=groups.overall.threshold,
            **options,
        )
        of_group = groups.of(name)
        for measure in groups.measures:
            for field in FIELDS:
                shown, expected = getattr(of_group[measure], field), getattr(alone[measure], field)
                assert shown == pytest.approx(expected, nan_ok=True), (name, measure, field)
        assert groups.evaluation(name).prior == alone.prior


def test_a_group_without_audited_rows_says_so(rows, groups):
    assert groups.evaluated.tolist() == [True, True, False]
    assert groups.notes == ("", "", "no audited unlabeled rows, fewer than 10")
    assert np.isnan(groups["f1"].value[2])
    with pytest.raises(InputError, match="no audited unlabeled rows"):
        groups.evaluation("c")
    _, score, labeled, by, audited = rows
    few = audited.copy()
    few[np.flatnonzero((by == "c") & ~labeled)[:1]] = 0.0
    notes = evaluate_by(labeled, score, by, audited=few, level=None).notes
    assert notes[2] == "1 audited unlabeled row, fewer than 10"


def test_groups_may_be_labeled_differently():
    # Labels favor high scores in one group, low scores in the other.
    rng = np.random.default_rng(2)
    positive, score = make_rows(rng, n=30_000)
    by = rng.integers(0, 2, score.size)
    labeled = np.where(
        by == 0,
        label_rows(rng, positive, score, "up"),
        label_rows(rng, positive, score, "down"),
    )
    audited = uniform_audit(rng, positive, labeled, 1200)
    auc = evaluate_by(labeled, score, by, audited=audited)["roc_auc"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssumptionWarning)
        before = evaluate_by(labeled, score, by)["roc_auc"]
    for k in (0, 1):
        truth = roc_auc_score(positive[by == k], score[by == k])
        assert auc.low[k] < truth < auc.high[k]
        assert abs(auc.value[k] - truth) < abs(before.value[k] - truth) / 2


def test_all_groups_have_the_audited_purity():
    rng = np.random.default_rng(1)
    positive, score = make_rows(rng, n=6000, prevalence=0.3)
    by = np.repeat(["a", "b"], 3000)
    labeled = label_rows(rng, positive, score) | (~positive & (rng.random(6000) < 0.02))
    audited = uniform_audit(rng, positive, labeled, 300)
    # Labeled rows were audited in one group only.
    checked = rng.choice(np.flatnonzero(labeled & (by == "a")), 100, replace=False)
    audited[checked] = positive[checked]
    groups = evaluate_by(labeled, score, by, audited=audited)
    assert groups.overall.purity < 0.99
    for name in ("a", "b"):
        assert groups.evaluation(name).purity == groups.overall.purity


def test_groups_are_compared_with_a_group(groups):
    auc = groups["roc_auc"]
    difference = groups.differences("roc_auc", reference="a")
    assert difference.value[1] == pytest.approx(auc.unclipped[1] - auc.unclipped[0])
    assert difference.standard_error[1] == pytest.approx(np.hypot(*auc.standard_error[:2]))
    assert 0 <= difference.pvalue[1] <= 1
    assert groups.macro("roc_auc").value == pytest.approx(auc.unclipped[:2].mean())
    with pytest.raises(InputError, match="Pass reference"):
        groups.differences("roc_auc")
    with pytest.raises(InputError, match="cannot be shrunken"):
        groups.shrinkage("roc_auc")


def test_audited_rows_are_shown(rows, groups, tmp_path):
    _, _, labeled, by, audited = rows
    expected = [int(np.sum(~np.isnan(audited) & ~labeled & (by == name))) for name in "abc"]
    assert groups.n_audited.tolist() == expected
    assert json.loads(json.dumps(groups.to_dict()))["audited"] == expected
    header, first = repr(groups).splitlines()[1:3]
    assert header.split()[:4] == ["labeled", "unlabeled", "audited", "prior"]
    assert first.split()[2:5] == [str(labeled.sum()), f"{(~labeled).sum():,}", str(sum(expected))]
    assert set(groups.frame()["n_audited"]) == set(expected)
    assert len(groups.plot(groups=["a", "b"]).frame()) > 10
    groups.to_html(tmp_path / "groups.html")


def test_curves_are_those_of_the_audit(groups):
    curve = groups.plot(groups=["a"]).frame()
    curve = curve[curve["group"] == "a"]
    assert np.allclose(
        np.interp(0.2, curve["fpr"], curve["tpr"]),
        np.interp(0.2, groups.evaluation("a").roc().fpr, groups.evaluation("a").roc().tpr),
        atol=0.01,
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"prior": 0.1}, "prior cannot be combined with audited"),
        ({"label_frequency": 0.1}, "label_frequency cannot be combined with audited"),
        ({"group_prior": "each"}, "group_prior cannot be combined with audited"),
        ({"shrink": True}, "shrink cannot be combined with audited"),
        ({"audited": None, "labeling": "any"}, "needs audited"),
        ({"audited": None, "audit_probability": 1}, "needs audited"),
        ({"purity": (0.8, 0.9)}, "must be a number"),
    ],
)
def test_other_options_are_refused(rows, options, message):
    _, score, labeled, by, audited = rows
    with pytest.raises(InputError, match=message):
        evaluate_by(labeled, score, by, **{"audited": audited} | options)


def test_warnings_about_a_group_are_its_note(rows):
    positive, score, labeled, by, audited = rows
    audited = audited.copy()
    # The audited rows of one group are its highest scores.
    mine = np.flatnonzero((by == "b") & ~labeled)
    audited[mine] = np.nan
    top = mine[np.argsort(score[mine])[-60:]]
    audited[top] = positive[top]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssumptionWarning)
        groups = evaluate_by(labeled, score, by, audited=audited, level=None)
    assert groups.notes[0] == ""
    assert "no unlabeled row with a score below" in groups.notes[1]
