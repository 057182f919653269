"""Bins keep the order of scores, add up, and bound what they change."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from pueval import Counts, InputError, Mixture, evaluate, resolution
from pueval.core.rates import correct_steps
from pueval.samples.bins import HUGE, TINY, bin_numbers, lower_edges
from pueval.samples.histogram import Histogram, RowKinds
from tests.conftest import draw

numbers = st.floats(allow_nan=False, allow_infinity=False)
powers = st.integers(1, 20).map(lambda k: 2**k)


def edge_by_definition(x, bins):
    """The largest m·2^e / bins at or below x, with m whole and bins <= |m| <= 2·bins."""
    if x == 0 or 0 < x < TINY:
        return 0.0
    if -TINY < x < 0:
        return -TINY
    if x >= HUGE:
        return HUGE
    if x < -HUGE:
        return -np.finfo(float).max
    fraction, exponent = math.frexp(x)  # x = fraction·2^exponent, 0.5 <= |fraction| < 1
    return math.ldexp(math.floor(fraction * 2 * bins), exponent) / (2 * bins)


class TestEdges:
    @given(st.lists(numbers, min_size=1, max_size=50), powers)
    def test_definition(self, values, bins):
        x = np.array(values)
        edges = lower_edges(bin_numbers(x + 0.0, bins), bins)
        assert edges.tolist() == [edge_by_definition(value, bins) for value in values]

    @given(st.lists(numbers, min_size=2, max_size=50), powers)
    def test_order_is_kept(self, values, bins):
        x = np.sort(np.array(values)) + 0.0
        assert np.all(np.diff(bin_numbers(x, bins)) >= 0)

    @given(st.lists(numbers, min_size=1, max_size=50), st.integers(1, 19).map(lambda k: 2**k))
    def test_coarser_bins_are_made_of_finer_ones(self, values, bins):
        x = np.array(values) + 0.0
        fine = lower_edges(bin_numbers(x, 2 * bins), 2 * bins)
        assert bin_numbers(fine + 0.0, bins).tolist() == bin_numbers(x, bins).tolist()


class TestCounts:
    @pytest.fixture
    def data(self, rng):
        y = rng.random(3000) < 0.2
        return y, rng.normal(size=3000) + y

    def test_by_hand(self):
        # 16 bins between 1 and 2: edges 1, 1.0625, 1.125, …
        counts = Counts.from_arrays([1, 0, 0, 1, 0], [1.07, 1.08, 1.13, 1.2, 0.3]).to_bins(16)
        # A bin with one score keeps it; the other stands at its lower edge.
        assert counts.score.tolist() == [1.2, 1.13, 1.0625, 0.3]
        assert counts.labeled.tolist() == [1, 0, 1, 0]
        assert counts.unlabeled.tolist() == [0, 1, 1, 1]
        assert counts._wide_bin_scores().tolist() == [1.0625]
        assert repr(counts).endswith("4 binned scores from 0.3 to 1.2)")

    def test_adding_is_exact(self, data):
        y, score = data
        whole = Counts.from_arrays(y, score).to_bins(16)
        parts = [
            Counts.from_arrays(y[rows], score[rows]) for rows in np.array_split(np.arange(3000), 7)
        ]
        assert sum(part.to_bins(16) for part in parts) == whole
        # Exact and binned, and bins of different widths, become the coarsest.
        mixed = parts[0]
        for k, part in enumerate(parts[1:]):
            mixed += part.to_bins(16 * 2**k)
        assert mixed == whole
        assert whole.to_bins(4) == Counts.from_arrays(y, score).to_bins(4)

    def test_order_of_adding_does_not_matter(self, rng):
        """A bin is wide if any two of its rows differ, whoever brought them."""
        parts = [
            Counts.from_arrays([1, 0], [1.01, 2.0]).to_bins(16),
            Counts.from_arrays([1, 0], [1.02, 2.0]).to_bins(16),
            Counts.from_arrays([1, 0], [1.0, 2.0]).to_bins(16),
        ]
        orders = [(0, 1, 2), (2, 1, 0), (1, 2, 0), (2, 0, 1)]
        sums = [sum(parts[k] for k in order) for order in orders]
        assert all(one == sums[0] for one in sums)
        assert sums[0]._wide_bin_scores().tolist() == [1.0]
        assert sums[0].score.tolist() == [2.0, 1.0]

    def test_rounded_scores_lose_nothing(self, rng):
        y, score = rng.random(5000) < 0.1, np.round(rng.random(5000), 3)
        exact = Counts.from_arrays(y, score)
        binned = exact.to_bins(4096)
        np.testing.assert_array_equal(binned.score, exact.score)
        assert binned.auc_error() == 0
        assert binned.bins == 4096
        assert binned != exact  # more rows would be binned, too

    def test_weights(self, data, rng):
        y, score = data
        weight = rng.exponential(size=3000)
        exact = Counts.from_arrays(y, score, sample_weight=weight)
        binned = exact.to_bins(16)
        assert binned.n == pytest.approx(exact.n)
        assert binned.effective_sizes == pytest.approx(exact.effective_sizes)

    def test_refused(self):
        counts = Counts.from_arrays([1, 0], [2, 1])
        for bins in (0, 1, 3, 1000, 2**21, 16.0, True, "16"):
            with pytest.raises(InputError, match="must be a power of 2"):
                counts.to_bins(bins)
        with pytest.raises(InputError, match="got 64. Count the rows again"):
            counts.to_bins(16).to_bins(64)
        assert Counts.empty().to_bins(16).n == 0


class TestErrors:
    @pytest.mark.parametrize("bins", [2, 8, 64])
    def test_bounds_hold(self, rng, bins):
        for _ in range(30):
            n = int(rng.integers(20, 300))
            y = rng.random(n) < 0.4
            y[:2] = [True, False]
            score = rng.normal(size=n) * rng.choice([1, 1e-3]) + rng.choice([0, 10]) + y
            exact = Counts.from_arrays(y, score)
            binned = exact.to_bins(bins)
            auc = roc_auc_score(y, score)
            found = evaluate(binned, prior=0, level=None)["roc_auc"].value
            assert abs(found - auc) <= binned.auc_error() + 1e-12

    def test_the_bound_is_reached(self):
        """All pairs of a bin in the right order, or all in the wrong one."""
        for labels in ([1, 1, 0, 0], [0, 0, 1, 1]):
            counts = Counts.from_arrays(labels, [1.04, 1.03, 1.02, 1.01]).to_bins(16)
            assert counts.auc_error() == 0.5
            found = evaluate(counts, prior=0, level=None)["roc_auc"].value
            assert found == 0.5
            assert abs(labels[0] - found) == counts.auc_error()

    @pytest.mark.parametrize("purity", [1.0, 0.8])
    def test_rates(self, rng, purity):
        _, score, labeled = draw(rng, 2000, prevalence=0.3, label_frequency=0.3)
        mixture = Mixture(0.2, purity)
        exact = Counts.from_arrays(labeled, score)
        binned = exact.to_bins(4)
        bound = resolution(binned, mixture)
        # At the scores of the bins rates are exact …
        for name in ("tpr", "fpr", "predicted"):
            mine, other = (
                getattr(correct_steps(one, one.at(binned.score), mixture), name)
                for one in (binned, exact)
            )
            np.testing.assert_allclose(mine, other, atol=1e-12)
        # … and anywhere else within the bound, which some threshold nearly reaches.
        for name in ("tpr", "fpr"):
            mine, other = (
                getattr(correct_steps(one, one.at(exact.score), mixture), name)
                for one in (binned, exact)
            )
            worst = np.abs(mine - other).max()
            assert worst <= getattr(bound, name) + 1e-12
            assert worst > 0.5 * getattr(bound, name)
        assert bound.roc_auc == pytest.approx(binned.auc_error() / (purity - 0.2))
        assert resolution(exact, mixture) is None

    def test_shown(self, rng):
        _, score, labeled = draw(rng, 2000, prevalence=0.3, label_frequency=0.3)
        ev = evaluate(Counts.from_arrays(labeled, score).to_bins(64), prior=0.2)
        text = " ".join(repr(ev).split())  # the lines are wrapped
        assert "scores in bins (64 per doubling of the score): AUC within" in text
        assert ev.to_dict()["resolution"]["roc_auc"] == ev.resolution.roc_auc
        exact = evaluate(labeled, score, prior=0.2)
        assert exact.resolution is None
        assert exact.to_dict()["resolution"] is None
        assert abs(exact["roc_auc"].value - ev["roc_auc"].value) <= ev.resolution.roc_auc


SCORES = {
    "probabilities": lambda rng, n: rng.random(n),
    "any size": lambda rng, n: rng.normal(size=n) * 10.0 ** rng.integers(-300, 300, n),
    "rounded": lambda rng, n: np.round(rng.normal(size=n), 2),
    "float32": lambda rng, n: rng.random(n).astype(np.float32),
    "integers": lambda rng, n: rng.integers(-20_000, 20_000, n),
    "with atoms": lambda rng, n: np.where(
        rng.random(n) < 0.5, rng.normal(size=n), rng.choice([-3.0, 0.0, 0.1, 7.5], n)
    ),
    "in order": lambda rng, n: np.sort(rng.normal(size=n)),
}


class TestHistogram:
    @pytest.mark.parametrize("slots", [2**23, 1000])
    @pytest.mark.parametrize("kind", SCORES)
    def test_same_as_binning_all_at_once(self, rng, monkeypatch, kind, slots):
        monkeypatch.setattr("pueval.samples.histogram.MOST_SLOTS", slots)
        score = SCORES[kind](rng, 20_000)
        y = rng.choice(3, 20_000, p=[0.1, 0.8, 0.1])
        weight = rng.integers(0, 3, 20_000)
        values = {"pos_label": 0, "unlabeled_label": 1, "negative_label": 2}
        for weights in (None, weight):
            histogram = Histogram(1024)
            for rows in np.array_split(np.arange(20_000), 9):
                given = None if weights is None else weights[rows]
                histogram.add(RowKinds.of(y[rows], (0, 1, 2)), score[rows], given)
            histogram.add(RowKinds.of(y[:0], (0, 1, 2)), score[:0])
            samples, binning = histogram.result()
            reference = Counts.from_arrays(y, score, sample_weight=weights, **values).to_bins(1024)
            assert Counts(*samples, _binning=binning) == reference

    @pytest.mark.parametrize("kind", SCORES)
    def test_many_batches_in_few_bins(self, rng, kind):
        """Where all bins are wide, rows are not compared any more; elsewhere they must be."""
        score = SCORES[kind](rng, 20_000).astype(float)
        score[15_000] = 2.0**900  # one bin far away has one score to the end
        histogram = Histogram(16)
        for rows in np.array_split(np.arange(20_000), 70):
            histogram.add(RowKinds.of(np.ones(rows.size), (0, 1, None)), score[rows])
        samples, binning = histogram.result()
        reference = Counts.from_arrays(np.ones(20_000), score, pos_label=0, unlabeled_label=1)
        assert Counts(*samples, _binning=binning) == reference.to_bins(16)

    def test_float_weights(self, rng):
        score, y, weight = rng.random(5000), rng.choice(2, 5000), rng.exponential(size=5000)
        histogram = Histogram(64, weighted=True)
        for rows in np.array_split(np.arange(5000), 4):
            histogram.add(RowKinds.of(y[rows], (0, 1, None)), score[rows], weight[rows])
        samples, binning = histogram.result()
        counts = Counts(*samples, _binning=binning)
        reference = Counts.from_arrays(
            y, score, sample_weight=weight, pos_label=0, unlabeled_label=1
        )
        np.testing.assert_allclose(counts.labeled, reference.to_bins(64).labeled)
        assert counts.effective_sizes == pytest.approx(reference.effective_sizes)
