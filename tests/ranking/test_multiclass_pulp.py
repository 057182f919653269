"""PULP for several classes, against enumeration of all permutations."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from scipy.stats import hypergeom

from pueval import Counts, InputError, ranking
from pueval.ranking._multiclass_pulp import probability_of_fewer_matches


def by_enumeration(y, predicted, unlabeled):
    """Share of all orders of the predictions that hit fewer labeled rows."""

    def hits(order):
        return sum(a == b for a, b in zip(y, order, strict=True) if a != unlabeled)

    observed = hits(predicted)
    orders = [hits(order) < observed for order in permutations(predicted)]
    return np.mean(orders)


@pytest.mark.parametrize("seed", range(12))
def test_against_all_permutations(seed):
    rng = np.random.default_rng(seed)
    n, n_classes = int(rng.integers(4, 8)), int(rng.integers(1, 4))
    y = rng.integers(-1, n_classes, n)
    y[:2] = 0, -1
    predicted = rng.integers(-1 if seed % 2 else 0, n_classes, n)
    found = ranking.multiclass_pulp_of_predictions(y, predicted, unlabeled_label=-1)
    assert found == pytest.approx(by_enumeration(y.tolist(), predicted.tolist(), -1), abs=1e-12)


def test_scores_of_a_network():
    torch = pytest.importorskip("torch", reason="needs PyTorch: make torch")
    rng = np.random.default_rng(0)
    y, scores = rng.integers(-1, 2, 60), rng.normal(size=(60, 2)).astype(np.float32)
    given = {"classes": [0, 1], "unlabeled_label": -1}
    leaf = torch.tensor(scores, requires_grad=True)
    for tensor in (leaf, leaf * 1, leaf.bfloat16()):
        expected = ranking.multiclass_pulp(y, tensor.detach().float().numpy(), **given)
        assert ranking.multiclass_pulp(torch.tensor(y), tensor, **given) == expected
    given["classes"] = torch.tensor([0, 1])
    assert ranking.multiclass_pulp(torch.tensor(y), leaf, **given) == expected


def test_all_outcomes_have_the_probabilities_of_all_permutations():
    """The whole distribution, for three classes of different sizes."""
    y, predicted = [0, 0, 1, 2, -1, -1, -1], [0, 1, 1, 2, 0, 2, 2]
    counts = [sum(a == b for a, b in zip(y, order, strict=True) if a >= 0)
              for order in permutations(predicted)]  # fmt: skip
    for hits in range(5):
        found = probability_of_fewer_matches([2, 1, 1], [2, 2, 3], 7, hits)
        assert found == pytest.approx(np.mean(np.array(counts) < hits), abs=1e-12)


@pytest.mark.parametrize(
    ("n", "t", "b", "k"), [(50, 10, 20, 8), (2000, 300, 500, 90), (9, 3, 9, 3)]
)
def test_one_class_is_pulp_at_a_threshold(n, t, b, k):
    y = np.repeat([1, 0], [t, n - t])
    predicted = np.r_[np.arange(t) < k, np.arange(n - t) < b - k].astype(int)
    found = ranking.multiclass_pulp_of_predictions(y, predicted, unlabeled_label=0)
    assert found == pytest.approx(hypergeom.cdf(k - 1, n, t, b), abs=1e-10)
    counts = Counts.from_arrays(y, predicted)
    assert found == pytest.approx(ranking.pulp(counts, threshold=1), abs=1e-10)


def test_many_rows_against_simulation(rng):
    y = rng.choice([-1, 0, 1, 2], 1500, p=[0.6, 0.2, 0.15, 0.05])
    predicted = np.where(rng.random(1500) < 0.07, np.maximum(y, 0), rng.integers(0, 3, 1500))
    found = ranking.multiclass_pulp_of_predictions(y, predicted, unlabeled_label=-1)
    observed = np.sum(y == predicted)
    drawn = [np.sum(y == rng.permutation(predicted)) < observed for _ in range(4000)]
    assert found == pytest.approx(np.mean(drawn), abs=4 * 0.5 / 4000**0.5)
    assert 0.05 < found < 1


def test_scores_are_one_class_against_the_rest(rng):
    y = rng.choice(["?", "a", "b", "c"], 200)
    scores = rng.random((200, 3)) + 0.3 * (y[:, None] == np.array(["a", "b", "c"]))
    each = [
        ranking.pulp(Counts.from_arrays((y == name).astype(int), scores[:, k]))
        for k, name in enumerate("abc")
    ]
    weights = [np.sum(y == name) for name in "abc"]
    macro, weighted = (
        ranking.multiclass_pulp(y, scores, classes=[*"abc"], unlabeled_label="?", average=average)
        for average in ("macro", "weighted")
    )
    assert macro == pytest.approx(np.mean(each), abs=1e-12)
    assert weighted == pytest.approx(np.average(each, weights=weights), abs=1e-12)


def test_missing_labels():
    y, predicted = np.array(["a", None, "b", None], dtype=object), ["a", "a", "b", "b"]
    found = ranking.multiclass_pulp_of_predictions(y, predicted, unlabeled_label=None)
    assert found == pytest.approx(4 / 6)
    numbers = ranking.multiclass_pulp_of_predictions(
        [0.0, np.nan, 1.0, np.nan], [0, 0, 1, 1], unlabeled_label=np.nan
    )
    assert numbers == found


def test_refusals():
    with pytest.raises(InputError, match="no labeled row"):
        ranking.multiclass_pulp_of_predictions([-1, -1], [0, 1], unlabeled_label=-1)
    with pytest.raises(InputError, match=r"no label is 0. Its labels are -1, 1, 2\. Pass"):
        ranking.multiclass_pulp_of_predictions([-1, 1, 2], [1, 1, 2], unlabeled_label=0)
    with pytest.raises(InputError, match="y has 1 missing labels"):
        ranking.multiclass_pulp_of_predictions([-1, 1, np.nan], [1, 1, 1], unlabeled_label=-1)
    with pytest.raises(InputError, match="predicted has other values than y: '1', '2', and the"):
        ranking.multiclass_pulp_of_predictions([-1, 1, 2], ["1", "1", "2"], unlabeled_label=-1)
    with pytest.raises(InputError, match="same length"):
        ranking.multiclass_pulp_of_predictions([0, -1], [0], unlabeled_label=-1)
    y = np.append(np.arange(1500) % 2, -1)
    with pytest.raises(InputError, match="up to 1,500 hits are possible"):
        ranking.multiclass_pulp_of_predictions(y, y, unlabeled_label=-1)
    scores = np.ones((3, 2))
    with pytest.raises(InputError, match=r"got shape \(3, 2\)"):
        ranking.multiclass_pulp([0, 1, -1], scores, classes=[0, 1, 2], unlabeled_label=-1)
    with pytest.raises(InputError, match="label 5, which is not one of the classes"):
        ranking.multiclass_pulp([0, 5, -1], scores, classes=[0, 1], unlabeled_label=-1)
    with pytest.raises(InputError, match="no row is labeled 1"):
        ranking.multiclass_pulp([0, 0, -1], scores, classes=[0, 1], unlabeled_label=-1)
    for classes in ([0, 0], [0], 2):
        with pytest.raises(InputError, match="two different labels"):
            ranking.multiclass_pulp([0, 0, -1], scores, classes=classes, unlabeled_label=-1)
    with pytest.raises(InputError, match="average"):
        ranking.multiclass_pulp(
            [0, 1, -1], scores, classes=[0, 1], unlabeled_label=-1, average="micro"
        )
