"""Samples: adding many batches with and without weights, and rows with equal scores."""

import os
import platform
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from pueval import Counts
from pueval.counts.design_effect import with_design_effect
from pueval.samples.sample import EMPTY, MOST_CHUNKS, Sample, make_sample, make_weighted_sample


def test_many_weighted_batches_are_merged(rng):
    y, score = rng.integers(0, 2, 400), rng.integers(0, 30, 400)
    weight = rng.integers(1, 4, 400)
    whole = Counts.from_arrays(y, score, sample_weight=weight)
    total = Counts(EMPTY, EMPTY, EMPTY)
    for k, part in enumerate(np.array_split(np.arange(400), 50)):
        # Some batches come with weights, some as repeated rows.
        if k % 2:
            batch = Counts.from_arrays(y[part], score[part], sample_weight=weight[part])
        else:
            rows = np.repeat(part, weight[part])
            batch = Counts.from_arrays(y[rows], score[rows])
        total = total + batch
    assert total == whole
    assert total.n == weight.sum()
    assert len(total._labeled.chunks) <= MOST_CHUNKS
    for mine, other in zip(
        vars(total._roc_corners()).values(), vars(whole._roc_corners()).values(), strict=True
    ):
        np.testing.assert_array_equal(mine, other)


def test_adding_batches_moves_each_row_a_few_times(rng, monkeypatch):
    n_batches, batch_size = 1000, 20
    moved = []
    merged = Sample.merged

    def count_rows(sample):
        moved.append(sum(chunk.values.size for chunk in sample.chunks))
        return merged(sample)

    monkeypatch.setattr(Sample, "merged", count_rows)
    total, score = EMPTY, rng.random((n_batches, batch_size))
    for batch in score:
        total = total + make_sample(batch.copy())
    assert total.total == score.size
    # Merging everything whenever there are too many chunks moves each row 30 times on average.
    assert sum(moved) < 10 * score.size
    assert len(total.chunks) <= MOST_CHUNKS
    np.testing.assert_array_equal(merged(total).chunks[0].values, np.sort(score.ravel()))


def test_effective_number_of_rows(rng):
    weight = rng.exponential(size=1000)
    counts = Counts.from_arrays(np.arange(1000) < 300, rng.random(1000), sample_weight=weight)
    labeled, others = counts.effective_sizes
    assert labeled == pytest.approx(weight[:300].sum() ** 2 / (weight[:300] ** 2).sum())
    assert others == pytest.approx(weight[300:].sum() ** 2 / (weight[300:] ** 2).sum())
    assert EMPTY.effective_size == 0


@pytest.mark.parametrize("decimals", [0, 2, 9])
def test_thinning_depends_on_the_rows_only(rng, decimals):
    """Not on batches, the number of cores that read them, or whether rows were counted before."""
    y = (rng.random(6000) < 0.3).astype(int)
    score = np.round(rng.normal(size=6000) + y, decimals)
    whole = Counts.from_arrays(y, score)
    batches = sum(Counts.from_arrays(y[k::3], score[k::3]) for k in range(3))
    table = Counts.from_table(whole.score, whole.labeled, whole.unlabeled)
    twice = Counts.from_arrays(y, score, sample_weight=np.full(6000, 2))
    thin = whole._thinned(100)
    assert thin.score.size <= 101
    for other in (batches, table, batches + Counts(EMPTY, EMPTY, EMPTY)):
        assert other._thinned(100) == thin
    np.testing.assert_array_equal(twice._thinned(100).score, thin.score)
    # Quantiles of the rows: every score stands for about as many of one kind.
    if decimals == 9:
        for kind in (thin.labeled, thin.unlabeled):
            assert kind.max() <= kind.sum() / 50 + 1


def test_few_scores_are_not_thinned():
    """However many rows have them."""
    y, score = np.arange(20_000) % 2, np.repeat([1.0, 2.0, 3.0], [9999, 1, 10_000])
    counts = Counts.from_arrays(y, score)
    assert counts._thinned(4) is counts
    assert counts._thinned(2).score.size <= 3
    assert counts.to_bins(8)._thinned(4).bins == 8


@pytest.mark.parametrize("scale", [1.0, 1e300, 1e-310])
def test_values_by_rank(rng, scale):
    """In many chunks with counts, against all rows sorted."""
    values = np.round(rng.normal(size=300), 1) * scale
    count = rng.integers(1, 5, 300)
    parts = (make_sample(values[k::3].copy(), count[k::3].copy()) for k in range(3))
    many = sum(parts, EMPTY)
    below = np.linspace(0, many.total, 40, endpoint=False)
    rows = np.sort(np.repeat(values, count))
    np.testing.assert_array_equal(many.quantiles(below), rows[below.astype(int)])
    np.testing.assert_array_equal(
        make_sample(rows.copy()).quantiles(below), rows[below.astype(int)]
    )


@pytest.mark.parametrize("n_chunks", [1, 2, 3, 8])
@pytest.mark.parametrize("digits", [0, 1, 15])
def test_values_by_rank_of_single_rows(rng, n_chunks, digits):
    """In chunks of very different sizes, with many ties and without."""
    for _ in range(40):
        parts = [np.round(rng.normal(size=rng.integers(1, 60)), digits) for _ in range(n_chunks)]
        rows = np.sort(np.concatenate(parts))
        many = sum((make_sample(part.copy()) for part in parts), EMPTY)
        every = many.quantiles(np.arange(rows.size) + rng.random(rows.size) * 0.9)
        np.testing.assert_array_equal(every, rows)


@pytest.mark.parametrize("arrangement", ["random", "sorted", "one is far larger", "mixed types"])
@pytest.mark.parametrize("digits", [0, 2, 15])
def test_few_values_by_rank(rng, arrangement, digits):
    """Few ranks among many rows: most rows lie between the pivots."""
    for n_ranks in (1, 2, 7, 50):
        sizes = [40_000, 30, 1] if arrangement == "one is far larger" else [4_000] * 6
        parts = [np.round(rng.normal(size=size), digits) for size in sizes]
        if arrangement == "sorted":
            parts = np.split(np.sort(np.concatenate(parts)), len(parts))
        elif arrangement == "mixed types":
            parts = [part.astype(np.float32 if k % 2 else float) for k, part in enumerate(parts)]
        rows = np.sort(np.concatenate(parts))
        many = sum((make_sample(part.copy()) for part in parts), EMPTY)
        rank = np.unique(np.r_[0, rng.integers(0, rows.size, n_ranks), rows.size - 1])
        np.testing.assert_array_equal(many.quantiles(rank.astype(float)), rows[rank])


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="is about memory of glibc")
def test_memory_of_temporary_arrays_is_kept():
    """Page faults of a process that makes and frees arrays, after Counts of few and many rows."""
    code = """if True:
        import resource
        import sys
        import numpy as np
        from pueval import Counts

        def faults():
            before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
            for _ in range(20):
                [np.ones(200_000) for _ in range(5)]
            return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

        n = int(sys.argv[1])
        Counts.from_arrays(np.arange(n) % 50 == 0, np.random.default_rng(0).random(n))
        faults()
        print(faults())
    """
    # Dask sets such variables for its workers, and glibc then does as they say.
    env = {name: value for name, value in os.environ.items() if not name.startswith("MALLOC_")}
    few, many = (
        int(subprocess.check_output([sys.executable, "-c", code, str(n)], env=env))
        for n in (10_000, 4_300_000)
    )
    assert few > 10_000
    assert many < 1_000


@pytest.mark.parametrize("decimals", [0, 1, 9])
def test_rows_tied_with_labeled_ones(rng, decimals):
    """They are counted with the corners, or later, at some of the thresholds."""
    y = rng.integers(0, 3, 300)
    score = rng.normal(size=300).round(decimals)
    counts = Counts.from_arrays(y, score, pos_label=1, unlabeled_label=0, negative_label=2)
    corners = counts._roc_corners()
    is_labeled = np.isin(corners.threshold, score[y == 1])
    for kind, rows in zip((0, 2), counts._tied_background(corners), strict=True):
        expected = (score[y == kind][:, None] == corners.threshold).sum(axis=0) * is_labeled
        np.testing.assert_array_equal(rows, expected)
    later = replace(corners, tied_unlabeled=None, tied_negative=None)
    np.testing.assert_array_equal(counts._tied_background(later), counts._tied_background(corners))


class TestWeightOfARow:
    """What counts as one row: Σw²/Σw."""

    def test_rows_and_numbers_of_rows_weigh_one(self):
        rows = make_sample(np.array([3.0, 1.0, 2.0]))
        repeated = make_sample(np.array([3.0, 1.0]), np.array([2, 5]))
        assert (rows.row_weight, rows.n_rows) == (1, 3)
        assert (repeated.row_weight, repeated.n_rows) == (1, 7)
        assert isinstance(repeated.n_rows, int)
        assert (EMPTY.row_weight, EMPTY.n_rows) == (1, 0)

    @pytest.mark.parametrize("unit", [1e-6, 1.0, 1000.0])
    def test_importance_weights(self, unit):
        rows = make_weighted_sample(np.array([3.0, 1.0, 2.0]), unit * np.array([2.0, 1.0, 1.0]))
        assert rows.row_weight == pytest.approx(unit * 6 / 4)
        assert rows.n_rows == pytest.approx(16 / 6) == pytest.approx(rows.effective_size)

    @pytest.mark.parametrize("unit", [0.1, 1 / 3, 1e-9, 7e8])
    def test_equal_weights_are_whole_rows(self, rng, unit):
        score = np.round(rng.normal(size=1000), 1)
        rows = make_sample(score.copy())
        weighted = make_weighted_sample(score.copy(), np.full(1000, unit))
        assert weighted.n_rows == 1000
        rank = np.concatenate([np.arange(0, 1010, 0.5), [36 + 1e-9]])
        np.testing.assert_array_equal(weighted.scores_at_ranks(rank), rows.scores_at_ranks(rank))

    def test_ranks_begin_at_the_highest_score(self):
        rows = make_sample(np.array([5.0, 4.0, 3.0, 3.0, 1.0]))
        for rank, score in ((-2, 5), (1, 5), (2.4, 4), (3, 3), (4, 3), (5, 1), (9, 1)):
            assert rows.scores_at_ranks(np.array([rank])) == [score]
        assert rows.scores_at_ranks(np.array([1.0, 3.0, 4.0])).tolist() == [3, 5]

    def test_a_design_effect_makes_rows_worth_less_but_not_heavier(self):
        counts = Counts.from_arrays([1, 0, 0], [3, 2, 1], sample_weight=[0.5, 0.2, 0.4])
        reduced = with_design_effect(with_design_effect(counts, 2.0), 1.5)
        for rows, other in zip(reduced._samples[:2], counts._samples[:2], strict=True):
            assert rows.effective_size == pytest.approx(other.effective_size / 3)
            assert rows.row_weight == pytest.approx(other.row_weight)
            assert rows.merged().row_weight == pytest.approx(other.row_weight)
        both, plain = (c._labeled + c._unlabeled for c in (reduced, counts))
        assert both.row_weight == pytest.approx(plain.row_weight)
        assert reduced._thinned(2)._unlabeled.row_weight == pytest.approx(1 / 3)
