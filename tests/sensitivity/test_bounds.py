"""Claesen's bounds against a loop over ranks, and how often they hold the truth."""

import itertools
import math
import tracemalloc

import numpy as np
import pytest
from scipy.stats import beta, binom
from sklearn.metrics import roc_auc_score, roc_curve

from pueval import Counts, InputError, claesen_bounds, evaluate
from pueval.sensitivity.rank_band import rank_band


def by_rank(y, prior, limits, rounding):
    """Equations 8 to 13 for rows in order, best first; y is 1 labeled, 0 unlabeled, 2 negative."""
    unlabeled = (y == 0).sum()
    positives = round(prior * unlabeled)
    tables = []
    for r in range(len(y) + 1):
        head, tail = y[:r], y[r:]
        head_u, tail_u = (head == 0).sum(), (tail == 0).sum()
        theta = rounding(limits[r] * positives)
        hits = min(head_u, theta) if positives - theta <= tail_u else positives - tail_u
        tables.append(
            [
                (head == 1).sum() + hits,
                (head == 2).sum() + head_u - hits,
                (tail == 1).sum() + positives - hits,
                (tail == 2).sum() + tail_u - (positives - hits),
            ]
        )
    return np.array(tables, dtype=float)


def as_array(tables):
    return np.column_stack(
        [
            tables.true_positive,
            tables.false_positive,
            tables.false_negative,
            tables.true_negative,
        ]
    )


@pytest.mark.parametrize("prior", [0.0, 0.1, 0.43, 0.9])
@pytest.mark.parametrize("band", ["bootstrap", "clopper-pearson", "dkw"])
def test_against_a_loop_over_ranks(rng, prior, band):
    y = rng.choice([1, 0, 2], p=[0.2, 0.7, 0.1], size=120)
    counts = Counts.from_arrays(y, -np.arange(120), negative_label=2)
    bounds = claesen_bounds(counts, prior=prior, band=band)
    above = np.r_[0, np.cumsum(y == 1)]
    hidden = round(prior * (y == 0).sum())
    low, high = rank_band(above, (y == 1).sum(), hidden=hidden, level=0.95, method=band)
    for tables, limits, rounding in (
        (bounds.high, high, lambda x: math.ceil(x - 1e-9)),
        (bounds.low, low, lambda x: math.floor(x + 1e-9)),
    ):
        slow = by_rank(y, prior, limits, rounding)
        np.testing.assert_allclose(as_array(tables), slow)
        hits, false, missed, rejected = slow.T
        tpr, fpr = hits / (hits + missed), false / (false + rejected)
        order = np.lexsort((tpr, fpr))
        area = np.trapezoid(np.maximum.accumulate(tpr[order]), fpr[order])
        assert tables.roc_auc == pytest.approx(area)


def test_bands(rng):
    above = np.arange(41)
    low, high = rank_band(above, 40, hidden=60, level=0.9, method="bootstrap")
    np.testing.assert_allclose(low[1:-1] * 40, binom.ppf(0.05, 40, above[1:-1] / 40))
    np.testing.assert_allclose(high[1:-1] * 40, binom.ppf(0.95, 40, above[1:-1] / 40))
    # And that is what drawing the rows again gives.
    drawn = rng.binomial(40, 13 / 40, size=200_000) / 40
    assert (low[13], high[13]) == pytest.approx(np.quantile(drawn, [0.05, 0.95]), abs=1e-9)
    low, high = rank_band(above, 40, hidden=60, level=0.9, method="clopper-pearson")
    assert low[13] == pytest.approx(beta.ppf(0.05, 13, 28))
    assert high[13] == pytest.approx(beta.ppf(0.95, 14, 27))
    assert (low[0], high[-1]) == (0, 1)
    low, high = rank_band(above, 40, hidden=60, level=0.9, method="dkw")
    assert high[20] - 0.5 == pytest.approx(math.sqrt(math.log(20) / 2 * (1 / 40 + 1 / 60)))


def paper_data(rng, known_positive, known_negative=0.0):
    """Section 6 and appendix C: 2,000 positives, 10,000 negatives, some of each known."""
    truth = np.arange(12_000) < 2_000
    score = rng.normal(size=12_000) + 1.2 * truth
    y = np.zeros(12_000, dtype=int)
    y[rng.choice(2_000, int(known_positive * 2_000), replace=False)] = 1
    y[2_000 + rng.choice(10_000, int(known_negative * 10_000), replace=False)] = 2
    return truth, score, y, truth[y == 0].mean()


@pytest.mark.parametrize(
    ("known", "start"),
    [((0.05, 0.0), "positives"), ((0.2, 0.0), "positives"), ((0.1, 0.4), "tighter"),
     ((0.1, 0.4), "negatives")],
)  # fmt: skip
def test_bounds_hold_the_truth(known, start):
    rng = np.random.default_rng(8)
    area, curve = 0, 0
    for _ in range(60):
        truth, score, y, prior = paper_data(rng, *known)
        counts = Counts.from_arrays(y, score, negative_label=2)
        bounds = claesen_bounds(counts, prior=prior, reference=start, band="dkw")
        low, high = bounds.roc_auc
        area += low <= roc_auc_score(truth, score) <= high
        fpr, tpr, _ = roc_curve(truth, score)
        grid = np.linspace(0.01, 0.99, 50)
        true = np.interp(grid, fpr, tpr)
        above, below = (
            np.interp(grid, side.fpr, np.maximum.accumulate(side.tpr))
            for side in (bounds.high, bounds.low)
        )
        curve += bool(((true <= above + 0.01) & (true >= below - 0.01)).all())
    assert area >= 57  # 95 %
    assert curve >= 57


def test_pointwise_bands_bound_the_area():
    rng = np.random.default_rng(9)
    for band in ("bootstrap", "clopper-pearson"):
        held = 0
        for _ in range(60):
            truth, score, y, prior = paper_data(rng, 0.1)
            low, high = claesen_bounds(Counts.from_arrays(y, score), prior=prior, band=band).roc_auc
            held += low <= roc_auc_score(truth, score) <= high
        assert held >= 57, band


def test_more_labels_give_tighter_bounds(rng):
    widths = []
    for known in (0.02, 0.2):
        _, score, y, prior = paper_data(rng, known)
        low, high = claesen_bounds(Counts.from_arrays(y, score), prior=prior).roc_auc
        widths.append(high - low)
    assert widths[1] < widths[0] / 2


def test_interval_of_the_prior(rng):
    """Lemma 4: the ends of the interval bound more widely, and contain the bounds inside."""
    truth, score, y, prior = paper_data(rng, 0.1)
    counts = Counts.from_arrays(y, score)
    exact = claesen_bounds(counts, prior=prior)
    wide = claesen_bounds(counts, prior=(0.8 * prior, 1.2 * prior))
    lowest, highest = (claesen_bounds(counts, prior=factor * prior) for factor in (0.8, 1.2))
    np.testing.assert_array_equal(wide.low.fpr, lowest.low.fpr)
    np.testing.assert_array_equal(wide.high.fpr, highest.high.fpr)
    assert wide.roc_auc[0] < exact.roc_auc[0] < exact.roc_auc[1] < wide.roc_auc[1]
    assert wide.average_precision[0] < exact.average_precision[0]
    assert exact.average_precision[1] < wide.average_precision[1]
    assert claesen_bounds(counts, prior=0.0).roc_auc[1] < roc_auc_score(truth, score)


def test_starting_from_negatives_is_the_mirror_image(rng):
    """Swap the classes and turn the ranking around: the same areas."""
    y = rng.choice([1, 0, 2], p=[0.1, 0.6, 0.3], size=400)
    score = rng.normal(size=400) + (y == 1)
    hidden = round(0.25 * (y == 0).sum())
    prior = hidden / (y == 0).sum()
    forward = claesen_bounds(
        Counts.from_arrays(y, score, negative_label=2), prior=prior, reference="negatives"
    )
    mirrored = claesen_bounds(
        Counts.from_arrays(np.array([0, 2, 1])[y], -score, negative_label=2), prior=1 - prior
    )
    # The band of the mirrored share is that of strictly above; the areas differ by a rank.
    assert forward.roc_auc == pytest.approx(mirrored.roc_auc, abs=0.01)


def test_bad_input(rng):
    counts = Counts.from_arrays([1, 0, 0], [3, 2, 1])
    with pytest.raises(InputError, match="prior interval is reversed"):
        claesen_bounds(counts, prior=(0.5, 0.2))
    with pytest.raises(InputError, match="prior must be a number"):
        claesen_bounds(counts, prior=1.5)
    with pytest.raises(InputError, match="band must be"):
        claesen_bounds(counts, prior=0.1, band="magic")
    with pytest.raises(InputError, match="level must be"):
        claesen_bounds(counts, prior=0.1, level=2)
    with pytest.raises(InputError, match="needs known negatives"):
        claesen_bounds(counts, prior=0.1, reference="negatives")
    with pytest.raises(InputError, match="reference must be"):
        claesen_bounds(counts, prior=0.1, reference="end")
    weighted = Counts.from_arrays([1, 0], [2, 1], sample_weight=[0.5, 0.5])
    with pytest.raises(InputError, match="float weights"):
        claesen_bounds(weighted, prior=0.1)
    known = Counts.from_arrays([1, 0], [2, 1], unlabeled_label=None, negative_label=0)
    with pytest.raises(InputError, match="no unlabeled rows"):
        claesen_bounds(known, prior=0.0)


def test_of_an_evaluation(rng):
    truth, score, y, prior = paper_data(rng, 0.1)
    ev = evaluate(y, score, prior=prior, level=None)
    assert ev.bounds().roc_auc == claesen_bounds(ev.counts, prior=prior).roc_auc
    estimated = evaluate(y, score, level=None)
    assert estimated.bounds().prior == estimated.prior_estimate.prior_interval
    low, high = estimated.bounds().roc_auc
    assert low < roc_auc_score(truth, score) < high
    noisy = evaluate(y, score, prior=prior, purity=0.9, level=None)
    with pytest.raises(InputError, match="need clean labels"):
        noisy.bounds()


@pytest.mark.parametrize("band", ["bootstrap", "clopper-pearson", "dkw"])
@pytest.mark.parametrize("separation", [0.3, 1.0])
def test_an_interval_holds_what_its_priors_have(rng, band, separation):
    score = np.r_[rng.normal(separation, 1, 350), rng.normal(0, 1, 700)]
    counts = Counts.from_arrays(np.arange(1050) < 50, score)
    found = claesen_bounds(counts, prior=(0.0, 0.4), band=band)
    for prior in (0.0, 0.1, 0.2, 0.3, 0.4):
        alone = claesen_bounds(counts, prior=prior, band=band)
        for area in ("roc_auc", "average_precision"):
            (low, high), (lowest, highest) = getattr(alone, area), getattr(found, area)
            assert lowest <= low + 1e-12, (area, prior)
            assert high <= highest + 1e-12, (area, prior)


@pytest.mark.parametrize("band", ["bootstrap", "clopper-pearson", "dkw"])
def test_auc_of_all_allowed_positives(band):
    """With ties, every way to choose the unlabeled positives that the band allows is bounded."""
    for seed in range(60):
        rng = np.random.default_rng(seed)
        size = int(rng.integers(4, 14))
        y = rng.random(size) < 0.45
        y[:2] = True, False
        score = np.round(rng.normal(size=size) + y)
        unlabeled = np.flatnonzero(~y)
        hidden = int(rng.integers(0, unlabeled.size))
        counts = Counts.from_arrays(y, score)
        bounds = claesen_bounds(counts, prior=hidden / unlabeled.size, band=band, level=0.6)
        above = score >= np.append(np.inf, counts.score)[:, None]
        for chosen in itertools.combinations(unlabeled, hidden):
            positive = y.copy()
            positive[list(chosen)] = True
            hits = above @ positive.astype(int)
            if np.all((bounds.low.true_positive <= hits) & (hits <= bounds.high.true_positive)):
                low, high = bounds.roc_auc
                assert low - 1e-12 <= roc_auc_score(positive, score) <= high + 1e-12, seed


def test_memory_is_a_few_columns(rng):
    n = 200_000
    labeled = rng.random(n) < 0.02
    counts = Counts.from_arrays(labeled, rng.normal(size=n) + labeled)
    tracemalloc.start()
    try:
        bounds = claesen_bounds(counts, prior=0.25)
        assert bounds.roc_auc < (1, 1)
        kept, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    # Two tables of two columns with common thresholds, and the counts they are made of.
    assert kept / n < 80
    assert peak / n < 130
