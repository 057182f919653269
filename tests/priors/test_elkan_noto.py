import warnings

import numpy as np
import pytest

from pueval import Counts
from pueval.errors import AssumptionWarning, InputError
from pueval.priors._elkan_noto import ElkanNoto

KINDS = ["e1", "e2", "e3"]


def separated(seed, prior, n_labeled=2000, n_unlabeled=6000):
    """Draw calibrated scores where positives and negatives do not overlap."""
    rng = np.random.default_rng(seed)
    positive = rng.random(n_unlabeled) < prior
    frequency = n_labeled / (n_labeled + positive.sum())
    y = np.repeat([1, 0], [n_labeled, n_unlabeled])
    score = np.where(np.r_[np.ones(n_labeled, bool), positive], frequency, 0.0)
    return y, score, positive.mean()


def overlapping(seed, prior, n_labeled=2000, n_unlabeled=6000, shift=2.0):
    """Draw the exact P(labeled | x) where both classes are normal."""
    rng = np.random.default_rng(seed)
    positive = np.r_[np.ones(n_labeled, bool), np.arange(n_unlabeled) < round(prior * n_unlabeled)]
    x = rng.normal(shift * positive, 1)
    y = np.repeat([1, 0], [n_labeled, n_unlabeled])
    ratio = np.exp(shift * x - shift**2 / 2)
    inverse = n_unlabeled * (prior * ratio + 1 - prior) / (n_labeled * ratio)
    return y, 1 / (1 + inverse)


def slow(y, score, kind):
    """Sum row by row."""
    labeled = [s for s, label in zip(score, y, strict=True) if label == 1]
    if kind == "e1":
        frequency = sum(labeled) / len(labeled)
    elif kind == "e2":
        frequency = sum(labeled) / sum(score)
    else:
        frequency = max(score)
    positives = len(labeled) / frequency
    return frequency, (positives - len(labeled)) / (len(y) - len(labeled))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("prior", [0.1, 0.3, 0.5])
def test_agrees_with_row_by_row(kind, prior):
    y, score = overlapping(0, prior)
    estimate = ElkanNoto(kind).fit(score, y)
    frequency, expected = slow(y.tolist(), score.tolist(), kind)
    assert estimate.label_frequency_ == pytest.approx(frequency, rel=1e-12)
    assert estimate.prior_ == pytest.approx(expected, rel=1e-12)
    assert estimate.purity_ == 1
    assert estimate.prior_interval_ is None


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("prior", [0.05, 0.4, 0.9])
def test_exact_where_classes_do_not_overlap(kind, prior):
    y, score, truth = separated(1, prior)
    assert ElkanNoto(kind).fit(score, y).prior_ == pytest.approx(truth, abs=1e-9)


def test_overlap_makes_the_means_too_high_and_spares_the_maximum():
    y, score = overlapping(2, 0.3, 20_000, 20_000, shift=3.0)
    assert ElkanNoto("e1").fit(score, y).prior_ > 0.32
    assert ElkanNoto("e2").fit(score, y).prior_ > 0.32
    assert ElkanNoto("e3").fit(score, y).prior_ == pytest.approx(0.3, abs=0.005)


@pytest.mark.parametrize("kind", KINDS)
def test_counts_order_and_shape_do_not_matter(kind):
    y, score = overlapping(3, 0.3)
    score = score.round(2)
    expected = ElkanNoto(kind).fit(score, y).prior_
    order = np.random.default_rng(0).permutation(len(y))
    counts = Counts.from_arrays(y, score)
    table = Counts.from_table(counts.score, counts.labeled, counts.unlabeled)
    halves = Counts.from_arrays(y[::2], score[::2]) + Counts.from_arrays(y[1::2], score[1::2])
    for given in (
        ElkanNoto(kind).fit(counts),
        ElkanNoto(kind).fit(table),
        ElkanNoto(kind).fit(halves),
        ElkanNoto(kind).fit(score[order, None], y[order]),
    ):
        assert given.prior_ == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_thinned_counts_give_nearly_the_same(kind):
    y, score = overlapping(4, 0.3, 20_000, 60_000)
    counts = Counts.from_arrays(y, score)
    full = ElkanNoto(kind).fit(counts).prior_
    assert ElkanNoto(kind).fit(counts._thinned(4096)).prior_ == pytest.approx(full, abs=2e-3)


def test_known_negatives_are_ignored():
    with_negatives = Counts.from_table([0.5, 0.1], [40, 10], [50, 150], [0, 500])
    without = Counts.from_table([0.5, 0.1], [40, 10], [50, 150])
    assert ElkanNoto().fit(with_negatives).prior_ == ElkanNoto().fit(without).prior_


@pytest.mark.parametrize("kind", KINDS)
def test_integer_weights_are_repeated_rows(kind):
    score = np.array([0.5, 0.4, 0.3, 0.1])
    y = np.array([1, 0, 1, 0])
    weight = np.array([3, 4, 2, 8])
    weighted = ElkanNoto(kind).fit(Counts.from_arrays(y, score, sample_weight=weight))
    repeated = ElkanNoto(kind).fit(np.repeat(score, weight), np.repeat(y, weight))
    assert weighted.prior_ == pytest.approx(repeated.prior_)


@pytest.mark.parametrize("score", [[-0.1, 0.5, 0.3], [0.5, 1.5, 0.2], [3, 2, 1]])
def test_refuses_what_is_no_probability(score):
    with pytest.raises(InputError, match=r"in \[0, 1\]; got scores from"):
        ElkanNoto().fit(score, [1, 0, 0])


@pytest.mark.parametrize("value", [0.0, 0.3, 1.0])
def test_refuses_constant_scores(value):
    with pytest.raises(InputError, match="all scores are"):
        ElkanNoto("e2").fit([value] * 4, [1, 0, 1, 0])


def test_refuses_unknown_kind_and_two_columns():
    with pytest.raises(InputError, match="kind must be"):
        ElkanNoto("e4").fit([0.5, 0.1], [1, 0])
    with pytest.raises(InputError, match="one score; got 2 columns"):
        ElkanNoto().fit([[0.5, 0.1], [0.2, 0.1]], [1, 0])


def test_impossible_label_frequency_is_clipped_with_a_warning():
    # Labeled rows score lower than the share of them: worse than chance.
    score = [0.1] * 50 + [0.6] * 50 + [0.55] * 100
    y = [1] * 50 + [0] * 150
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        estimate = ElkanNoto().fit(score, y)
    messages = [str(w.message) for w in caught if w.category is AssumptionWarning]
    assert any("largest possible value" in message for message in messages)
    assert estimate.prior_ == pytest.approx(150 / 151)
    assert estimate.label_frequency_ == pytest.approx(0.1)


def test_zero_label_frequency_is_clipped_too():
    with pytest.warns(AssumptionWarning, match="largest possible value"):
        estimate = ElkanNoto().fit([0, 0, 0.5, 0.5, 0.5, 0.5], [1, 1, 0, 0, 0, 0])
    assert estimate.prior_ == pytest.approx(4 / 5)


def test_warns_of_scores_that_cannot_be_calibrated():
    y, score = overlapping(5, 0.3)
    # As from a model with balanced class weights.
    balanced = score * 3 / (score * 3 + 1 - score)
    with pytest.warns(AssumptionWarning, match="not a calibrated probability"):
        ElkanNoto().fit(balanced, y)
