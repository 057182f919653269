"""ranking_study: rank correlations and deviations against slow versions."""

from __future__ import annotations

from functools import partial
from itertools import combinations

import numpy as np
import pytest
from scipy.stats import rankdata
from sklearn.metrics import average_precision_score, roc_auc_score

from pueval import InputError
from pueval.metrics import pulp_score
from pueval.simulate import (
    case_control,
    label_at_random,
    label_by_propensity,
    label_by_representativeness,
    ranking_study,
)


@pytest.fixture
def models(rng):
    positive = rng.random(300) < 0.3
    signal = rng.normal(size=300) + 1.5 * positive
    scores = {f"m{k}": np.round(signal + k * rng.normal(size=300), 1) for k in (0, 1, 2, 4)}
    return positive, scores


def kendall_by_pairs(x, y):
    """Kendall's tau-b, pair by pair."""
    signs = [(np.sign(x[i] - x[j]), np.sign(y[i] - y[j])) for i, j in combinations(range(4), 2)]
    product = sum(a * b for a, b in signs)
    return product / np.sqrt(sum(a != 0 for a, _ in signs) * sum(b != 0 for _, b in signs))


def recording(mechanism, labelings):
    def label(positive, *, seed):
        labelings.append(mechanism(positive, seed=seed))
        return labelings[-1]

    return label


MECHANISMS = {
    "random": partial(label_at_random, count=20),
    "noisy": partial(label_at_random, count=20, purity=0.8),
    "case-control": partial(case_control, n_labeled=20, n_unlabeled=100, prior=0.1),
}


@pytest.mark.parametrize("name", MECHANISMS)
def test_against_a_loop(models, name):
    positive, scores = models
    labelings = []
    label = recording(MECHANISMS[name], labelings)
    names = ["pulp", "naive_roc_auc", "naive_average_precision"]
    found = ranking_study(positive, scores, label, measures=names, replications=5, seed=3)
    functions = (pulp_score, roc_auc_score, average_precision_score)
    frame = found.by_replication()
    for k, measure in enumerate(functions):
        true = np.array([measure(positive.astype(int), score) for score in scores.values()])
        spearman, kendall, mad, best = [], [], [], []
        for labeling in labelings:
            values = [measure(labeling.label, s[labeling.rows]) for s in scores.values()]
            values = np.array(values)
            spearman.append(np.corrcoef(rankdata(true), rankdata(values))[0, 1])
            kendall.append(kendall_by_pairs(true, values))
            mad.append(np.mean(np.abs(true - values)))
            best.append(np.argmax(values) == np.argmax(true))
        assert found.measure[k] == names[k]
        assert found.spearman[k] == pytest.approx(np.mean(spearman), abs=1e-12)
        assert found.spearman_se[k] == pytest.approx(np.std(spearman, ddof=1) / 5**0.5, abs=1e-12)
        assert found.kendall[k] == pytest.approx(np.mean(kendall), abs=1e-12)
        assert found.mad[k] == pytest.approx(np.mean(mad), abs=1e-9)
        assert found.mad_se[k] == pytest.approx(np.std(mad, ddof=1) / 5**0.5, abs=1e-9)
        assert found.best_chosen[k] == np.mean(best)
        assert found.spread[k] == pytest.approx(np.std(true), abs=1e-9)
        assert frame.loc[frame["measure"] == names[k], "mad"].tolist() == pytest.approx(mad)


def test_limits(models):
    """If every positive is labeled, nothing deviates; a constant measure ranks nothing."""
    positive, scores = models
    label = partial(label_at_random, label_frequency=1.0)
    found = ranking_study(positive, scores, label, replications=2)
    assert found.measure.size == 10
    assert found.spearman == pytest.approx(1)
    assert found.kendall == pytest.approx(1)
    assert found.mad == pytest.approx(0, abs=1e-12)
    assert found.best_chosen == pytest.approx(1)
    constant = ranking_study(
        positive, scores, label, measures={"c": lambda label, score: 1.0}, replications=2
    )
    assert np.isnan(constant.spearman[0])
    assert constant.mad[0] == 0


def test_biased_labels_and_known_prior(rng):
    """The corrected AUC is right on average for random labels, and not for biased ones."""
    positive = rng.random(3000) < 0.3
    signal = rng.normal(size=3000) + 2 * positive
    scores = {f"m{k}": signal + k * rng.normal(size=3000) for k in (0.0, 0.5, 1.0, 2.0)}
    found = {
        name: ranking_study(positive, scores, label, measures=["roc_auc"], replications=20)
        for name, label in {
            "random": partial(label_at_random, label_frequency=0.5),
            "biased": partial(label_by_propensity, propensity=1 / (1 + np.exp(4 - 2 * signal))),
            "typical": partial(
                label_by_representativeness, features=signal, first="most", count=300
            ),
        }.items()
    }
    assert found["random"].mad[0] < 0.02
    assert found["biased"].mad[0] > 0.05
    assert found["typical"].mad[0] > 0.05


def test_reproducible(models):
    positive, scores = models
    label = partial(label_at_random, count=20)
    first, second, other = (
        ranking_study(positive, scores, label, measures=["pulp"], replications=3, seed=s, n_jobs=n)
        for s, n in ((1, 1), (1, 2), (2, 1))
    )
    assert first.mad == second.mad
    assert first.mad != other.mad
    assert "Ranking of 4 models in 3 labelings" in str(first)
    assert list(first.frame()["measure"]) == ["pulp"]


def test_refusals(models):
    positive, scores = models
    label = partial(label_at_random, count=20)
    with pytest.raises(InputError, match="at least two models; got 1"):
        ranking_study(positive, {"a": scores["m0"]}, label)
    with pytest.raises(InputError, match="scores must be a mapping from model names"):
        ranking_study(positive, [*scores.values()], label)
    with pytest.raises(InputError, match=r"label must be a function .*; got 0.5"):
        ranking_study(positive, scores, 0.5)
    with pytest.raises(InputError, match="must have the same length"):
        ranking_study(positive, {**scores, "b": [1, 2]}, label)
    with pytest.raises(InputError, match="unknown measure 'pulps'"):
        ranking_study(positive, scores, label, measures=["pulps"])
    with pytest.raises(InputError, match="must be a list of names"):
        ranking_study(positive, scores, label, measures="pulp")
    with pytest.raises(InputError, match="label must return a Labeling"):
        ranking_study(positive, scores, lambda positive, seed: positive, measures=["pulp"])
    with pytest.raises(InputError, match="replications"):
        ranking_study(positive, scores, label, replications=1)
    with pytest.raises(InputError, match="'auc' must be a function of labels and scores; got 'x'"):
        ranking_study(positive, scores, label, measures={"auc": "x"})
    with pytest.raises(InputError, match="'undefined' must be a number for every labeling; got"):
        ranking_study(positive, scores, label, measures={"undefined": lambda y, score: np.nan})
