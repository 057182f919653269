import math

import numpy as np
import pytest

from pueval import Counts
from pueval.errors import AssumptionWarning, InputError
from pueval.priors._tice import Tice

SPLITS = ["range", "median"]


def draw(seed, prior, n_labeled=500, n_unlabeled=1500, shift=4.0, columns=3):
    rng = np.random.default_rng(seed)
    positive = np.r_[np.ones(n_labeled), np.arange(n_unlabeled) < round(prior * n_unlabeled)]
    X = rng.normal(shift * positive[:, None], 1, (len(positive), columns))
    return X, np.repeat([1, 0], [n_labeled, n_unlabeled])


def slow_frequency(X, y, split, *, folds=5, iterations=2, max_splits=500, min_rows=10):
    """Grow the tree with lists of rows and no queue: look for the best node each time."""
    order = sorted(range(len(y)), key=lambda i: (y[i] == 0, *X[i]))
    X, y = [tuple(X[i]) for i in order], [int(y[i]) for i in order]
    random = np.random.RandomState(0)
    n_labeled = sum(y)
    fold = [*random.permutation(n_labeled), *random.permutation(len(y) - n_labeled)]
    fold = [int(f) % folds for f in fold]
    low, high = [min(c) for c in zip(*X, strict=True)], [max(c) for c in zip(*X, strict=True)]

    def share(rows):
        return sum(y[i] for i in rows) / len(rows)

    def parts(grow, bound, feature):
        def split_by(place, names):
            return [
                ([i for i in grow if place(i) == k], [i for i in bound if place(i) == k])
                for k in names
            ]

        if split == "range":
            width = high[feature] - low[feature]
            return split_by(
                lambda i: min(int(4 * ((X[i][feature] - low[feature]) / width)), 3), range(4)
            )
        values = sorted(X[i][feature] for i in grow)
        half = len(values) // 2
        cut = values[half] if len(values) % 2 else (values[half - 1] + values[half]) / 2
        if cut == values[0]:
            cut = math.nextafter(cut, math.inf)
        return split_by(lambda i: X[i][feature] >= cut, (False, True))

    def one_fold(part, frequency):
        grow = [i for i in range(len(y)) if fold[i] == part]
        bound = [i for i in range(len(y)) if fold[i] != part]
        delta = max(0.025, 1 / (1 + 0.004 * len(bound)))

        def limit(rows):
            error = frequency * (1 - frequency) * (1 - delta) / (delta * len(rows))
            return share(rows) - math.sqrt(error)

        best, waiting = share(bound), [(0.0, 0, 0, grow, bound, list(range(len(X[0]))))]
        for split_number in range(max_splits):
            if not waiting or best >= 1:
                break
            node = min(waiting, key=lambda item: item[:3])
            waiting.remove(node)
            *_, grow, bound, features = node
            choices = []
            for feature in features:
                pieces = parts(grow, bound, feature)
                if split == "median" and not all(g for g, _ in pieces):
                    continue
                promise = max(sum(y[i] for i in g) / (len(g) + 5) for g, _ in pieces)
                choices.append((promise, -feature, pieces))
            if not choices or max(choices, key=lambda c: c[:2])[0] <= 0:
                continue
            _, negative_feature, pieces = max(choices, key=lambda c: c[:2])
            left = [f for f in features if f != -negative_feature]
            for k, (g, b) in enumerate(pieces):
                if len(b) >= min_rows:
                    best = max(best, limit(b))
                enough = (
                    frequency * (1 - frequency) * (1 - delta) / delta / (1 - best) ** 2
                    if best < 1
                    else math.inf
                )
                hits = sum(y[i] for i in g)
                if sum(y[i] for i in b) > enough and len(g) > min_rows and 0 < hits < len(g):
                    keep = left if split == "range" else features
                    waiting.append((-limit(g), -hits, 4 * split_number + k, g, b, keep))
        return best

    frequency = 0.5
    for _ in range(iterations):
        frequency = float(np.mean([one_fold(part, frequency) for part in range(folds)]))
    return frequency


@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize(("prior", "shift"), [(0.1, 2.0), (0.3, 1.0), (0.5, 3.0)])
def test_agrees_with_the_slow_version(split, prior, shift):
    X, y = draw(0, prior, 150, 300, shift)
    estimate = Tice(split).fit(X, y)
    frequency = slow_frequency(X, y, split)
    assert estimate.label_frequency_ == pytest.approx(frequency, rel=1e-10)
    positives = 150 / frequency
    assert estimate.prior_ == pytest.approx((positives - 150) / 300, rel=1e-9)


@pytest.mark.parametrize("split", SPLITS)
def test_agrees_with_the_slow_version_on_ties(split):
    X, y = draw(1, 0.3, 150, 300, 2.0)
    X = X.round()
    expected = slow_frequency(X, y, split)
    assert Tice(split).fit(X, y).label_frequency_ == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("split", SPLITS)
def test_finds_the_prior_where_classes_separate(split):
    errors = [
        Tice(split).fit(*draw(seed, prior)).prior_ - prior
        for seed in range(3)
        for prior in (0.1, 0.3, 0.5)
    ]
    assert np.abs(errors).mean() < 0.08
    # Bounds of the label frequency from below make the prior too high.
    assert np.mean(errors) > 0


@pytest.mark.parametrize("split", SPLITS)
def test_bounds_stay_below_the_label_frequency(split):
    X, y = draw(2, 0.4, 10_000, 30_000)
    truth = 10_000 / (10_000 + 12_000)
    assert truth - 0.06 < Tice(split).fit(X, y).label_frequency_ < truth


def test_median_splits_help_where_one_column_is_skewed():
    X, y = draw(3, 0.3, 1000, 3000, 3.0, columns=1)
    by_range, by_median = (abs(Tice(s).fit(np.exp(X), y).prior_ - 0.3) for s in SPLITS)
    assert by_median < 0.12
    assert by_range > 0.5


@pytest.mark.parametrize("split", SPLITS)
def test_order_and_units_do_not_matter(split):
    X, y = draw(4, 0.3)
    expected = Tice(split).fit(X, y).prior_
    order = np.random.default_rng(0).permutation(len(y))
    assert Tice(split).fit(X[order], y[order]).prior_ == expected
    assert Tice(split).fit(X * 1024, y).prior_ == expected
    assert Tice(split, random_state=5).fit(X, y).prior_ != expected


@pytest.mark.parametrize("split", SPLITS)
def test_constant_columns_change_nothing(split):
    X, y = draw(5, 0.3)
    more = np.c_[X, np.full(len(X), 3.0)]
    assert Tice(split).fit(more, y).prior_ == Tice(split).fit(X, y).prior_


def test_settings_have_their_meaning():
    X, y = draw(6, 0.3)
    frequency = Tice().fit(X, y).label_frequency_
    # Less confidence, higher bounds; no splits, no bound above the labeled share.
    assert Tice(delta=0.5).fit(X, y).label_frequency_ > frequency
    with pytest.warns(AssumptionWarning, match="largest possible value"):
        none = Tice(max_splits=0).fit(X, y)
    assert none.label_frequency_ == pytest.approx(500 / 2000)
    assert none.prior_ == pytest.approx(1500 / 1501)


def test_noise_gives_the_largest_prior_with_a_warning():
    rng = np.random.default_rng(7)
    with pytest.warns(AssumptionWarning, match="largest possible value"):
        assert Tice().fit(rng.normal(size=(5000, 2)), np.arange(5000) % 2).prior_ > 0.9


@pytest.mark.filterwarnings("ignore::pueval.errors.AssumptionWarning")
@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("rows", [2, 3, 4, 7])
def test_few_rows_give_a_number(split, rows):
    X = np.arange(rows)[:, None]
    y = np.arange(rows) == rows - 1
    assert 0 <= Tice(split).fit(X, y).prior_ < 1


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"split": "mean"}, "split must be"),
        ({"delta": 0}, "delta must be"),
        ({"delta": 1.0}, "delta must be"),
        ({"delta": "a"}, "delta must be"),
        ({"folds": 1}, "folds must be"),
        ({"iterations": 0}, "iterations must be"),
        ({"max_splits": -1}, "max_splits must be"),
        ({"min_rows": 0.5}, "min_rows must be"),
    ],
)
def test_refuses_bad_settings(settings, message):
    with pytest.raises(InputError, match=message):
        Tice(**settings).fit([[1.0], [2.0]], [0, 1])


def test_refuses_counts():
    with pytest.raises(InputError, match="Tice needs the features of each row"):
        Tice().fit(Counts.from_arrays([1, 0], [1.0, 2.0]))
