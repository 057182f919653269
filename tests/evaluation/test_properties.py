"""What must not matter: the order of rows, increasing transforms, splitting, doubling, types."""

import math
import warnings

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from pueval import AssumptionWarning, Counts, evaluate
from pueval.errors import BinnedScoresWarning
from pueval.ranking import ranking_measures


@st.composite
def tables(draw, negatives=True):
    """Rows with many ties, at least one labeled and one other."""
    n = draw(st.integers(2, 40))
    kinds = [0, 1, 2] if negatives else [0, 1]
    y = draw(st.lists(st.sampled_from(kinds), min_size=n, max_size=n))
    score = draw(st.lists(st.integers(-6, 6), min_size=n, max_size=n))
    y, score = np.array(y), np.array(score) / 4
    assume((y == 1).any())
    assume((y == 0).any())
    return y, score


MIXTURES = st.sampled_from([(0.0, 1.0), (0.1, 1.0), (0.3, 0.9), (0.5, 0.75)])
TARGETS = st.sampled_from(["population", "unlabeled"])


def everything(y, score, mixture, target="population", **given):
    """All numbers of an evaluation, thresholds left out."""
    prior, purity = mixture
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssumptionWarning)
        ev = evaluate(
            y,
            score,
            prior=prior,
            purity=purity,
            target=target,
            negative_label=2,
            level=None,
            **given,
        )
    best = [
        x
        for name in ("f1", "accuracy", "matthews_corrcoef")
        for x in (ev.best(name).value, ev.best(name).naive)
    ]
    roc, pr = ev.roc(), ev.pr()
    values = [ev[name].value for name in ev] + [ev[name].naive for name in ev]
    return np.array([*values, *best, roc.area, pr.area])


def same(a, b):
    np.testing.assert_allclose(a, b, atol=1e-9)


@given(tables(), MIXTURES, TARGETS, st.randoms())
def test_order_of_rows(rows, mixture, target, random):
    y, score = rows
    order = list(range(len(y)))
    random.shuffle(order)
    same(everything(y, score, mixture, target), everything(y[order], score[order], mixture, target))


@given(tables(), MIXTURES)
def test_increasing_transform(rows, mixture):
    y, score = rows
    same(everything(y, score, mixture), everything(y, np.exp(score) * 3 - 100, mixture))


@given(tables(), MIXTURES)
def test_doubling_all_rows(rows, mixture):
    y, score = rows
    # With more rows the default threshold is nearer to the observed best.
    at = {"threshold": float(np.median(score))}
    once = everything(y, score, mixture, **at)
    same(once, everything(np.tile(y, 2), np.tile(score, 2), mixture, **at))
    same(once, everything(y, score, mixture, sample_weight=np.full(len(y), 2), **at))
    once, weighted = (
        everything(y, score, mixture, sample_weight=weight)
        for weight in (None, np.full(len(y), 0.37))
    )
    same(once, weighted)


@given(tables(), st.integers(0, 40))
def test_adding_counts_is_concatenating_rows(rows, cut):
    y, score = rows
    cut = min(cut, len(y))
    whole = Counts.from_arrays(y, score, negative_label=2)
    parts = [
        Counts.from_arrays(y[part], score[part], negative_label=2)
        for part in (slice(0, cut), slice(cut, None))
        if len(y[part])
    ]
    total = sum(parts[1:], parts[0])
    assert total == whole
    for name in ("score", "labeled", "unlabeled", "negative"):
        np.testing.assert_array_equal(getattr(total, name), getattr(whole, name))
    assert total.n == len(y)


@given(tables(), MIXTURES)
def test_many_small_batches(rows, mixture):
    """More batches than chunks are kept: they are merged, and nothing changes."""
    y, score = rows
    whole = Counts.from_arrays(y, score, negative_label=2)
    total = None
    for k in range(len(y)):
        batch = Counts.from_arrays(y[k : k + 1], score[k : k + 1], negative_label=2)
        total = batch if total is None else total + batch
    assert total == whole
    for one, other in zip(
        vars(total._roc_corners()).values(), vars(whole._roc_corners()).values(), strict=True
    ):
        np.testing.assert_array_equal(one, other)


@given(tables(negatives=False))
def test_types_of_labels(rows):
    y, score = rows
    reference = Counts.from_arrays(y, score)
    texts = np.where(y == 1, "yes", "no")
    assert Counts.from_arrays(y.astype(bool), score) == reference
    assert Counts.from_arrays(y.astype(float), score) == reference
    assert Counts.from_arrays(y.astype(np.uint8), score) == reference
    assert Counts.from_arrays(y.astype(object), score) == reference
    assert Counts.from_arrays(y.tolist(), score.tolist()) == reference
    for strings in (texts, texts.astype(object)):
        counts = Counts.from_arrays(strings, score, pos_label="yes", unlabeled_label="no")
        assert counts == reference
    minus = np.where(y == 1, 1, -1)
    assert Counts.from_arrays(minus, score, unlabeled_label=-1) == reference


@given(tables(), MIXTURES)
def test_types_of_scores(rows, mixture):
    y, score = rows
    reference = everything(y, score, mixture)
    same(reference, everything(y, score.astype(np.float32), mixture))
    same(reference, everything(y, (score * 4).astype(np.int16), mixture))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BinnedScoresWarning)  # many scores are tied
        same(reference, everything(y, score.astype(np.float16), mixture))
    assert Counts.from_arrays(y, score.astype(np.float32), negative_label=2).score.dtype == "f4"


def test_float32_is_never_widened(rng):
    y, score = rng.random(1000) < 0.2, rng.random(1000).astype(np.float32)
    ev = evaluate(y, score, prior=0.0, threshold=0.3)
    assert ev["recall"].value == pytest.approx((score[y] >= np.float32(0.3)).mean())


def test_minus_zero_is_zero():
    counts = Counts.from_arrays([1, 0, 0], [0.0, -0.0, 1.0])
    np.testing.assert_array_equal(counts.score, [1.0, 0.0])
    np.testing.assert_array_equal(counts.unlabeled, [1, 1])


@given(tables(negatives=False))
def test_ranking_measures_do_not_see_the_order(rows):
    y, score = rows
    assume((y == 0).any())
    one = ranking_measures(Counts.from_arrays(y, score))
    other = ranking_measures(Counts.from_arrays(y[::-1], score[::-1]))
    assert one == pytest.approx(other, abs=1e-12)


@given(tables(), MIXTURES, TARGETS)
def test_curves_are_legal(rows, mixture, target):
    y, score = rows
    prior, purity = mixture
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssumptionWarning)
        ev = evaluate(
            y, score, prior=prior, purity=purity, target=target, negative_label=2, level=None
        )
    for naive in (False, True):
        roc, pr = ev.roc(naive=naive), ev.pr(naive=naive)
        assert (np.diff(roc.fpr) >= 0).all()
        assert (np.diff(roc.tpr) >= 0).all()
        assert roc.fpr[0] == roc.tpr[0] == 0
        assert roc.fpr[-1] == pytest.approx(1)
        assert (np.diff(pr.recall) >= 0).all()
        for values in (roc.fpr, roc.tpr, pr.precision, pr.recall):
            assert ((values >= 0) & (values <= 1)).all()
        assert len(roc.fpr) == len(roc.tpr) == len(roc.threshold)
    for name in ev:
        value = ev[name].value
        assert math.isnan(value) or value >= -1


@given(tables(negatives=False), st.integers(2, 12))
def test_thinning_keeps_rows_and_order(rows, bins):
    y, score = rows
    counts = Counts.from_arrays(y, score)
    thin = counts._thinned(bins)
    assert thin.n_labeled == counts.n_labeled
    assert thin.n_unlabeled == counts.n_unlabeled
    assert set(thin.score) <= set(counts.score)
    # At every score that is left the cumulative counts are exact.
    at = thin.score
    for kind in ("labeled", "unlabeled"):
        np.testing.assert_array_equal(np.cumsum(getattr(thin, kind)), getattr(counts.at(at), kind))


def test_an_estimate_formats_and_converts_like_its_value():
    estimate = evaluate([1, 1, 0, 0, 0, 0], [6, 3, 5, 4, 2, 1], prior=0.1, level=None)["roc_auc"]
    assert f"{estimate:.2f}" == f"{estimate.value:.2f}"
    assert f"{estimate}" == str(estimate)
    assert float(estimate) == estimate.value
