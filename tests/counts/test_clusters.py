"""Counts of rows that belong to clusters."""

import numpy as np
import pytest

from pueval import Counts, InputError, evaluate
from pueval.counts import clusters as clusters_module
from pueval.counts.clusters import Clusters
from pueval.sources import arrays, group_codes
from pueval.sources.arrays import label_kinds
from pueval.sources.labels import LabelValues


@pytest.fixture
def rows(rng):
    y = rng.random(200) < 0.3
    return y, rng.normal(size=200) + y, rng.integers(0, 20, 200)


def test_counts_are_equal_if_clusters_are(rows, rng):
    y, score, cluster = rows
    order = rng.permutation(200)
    counts = Counts.from_arrays(y, score, cluster=cluster)
    assert counts == Counts.from_arrays(y[order], score[order], cluster=cluster[order])
    assert counts == Counts.from_arrays(y, score, cluster=[f"{k:02}" for k in cluster])
    assert counts != Counts.from_arrays(y, score)
    assert counts != Counts.from_arrays(y, score, cluster=rng.permutation(cluster))
    assert counts != Counts.from_arrays(y, score, cluster=[cluster, cluster % 7])


@pytest.mark.parametrize("scale", [1.7e308, 5e-324])
def test_scores_of_any_size(rows, scale):
    """The range of the scores overflows, or one over it."""
    y, score, cluster = rows
    rank = np.round(score).clip(-1, 3)
    extreme = np.where(rank == -1, -scale, np.where(rank == 3, scale, rank / 4 * scale))
    ours, expected = (
        evaluate(y, s, prior=0.1, cluster=cluster, n_resamples=50, threshold=np.median(s))
        for s in (extreme, np.unique(extreme, return_inverse=True)[1])
    )
    for name in ("roc_auc", "average_precision", "recall"):
        assert vars(ours[name]) == pytest.approx(vars(expected[name]))


def slow_kinds(y, values):
    return [next(k for k, value in enumerate(values) if label == value) for label in y]


@pytest.mark.parametrize("n", [0, 1, 10, 25])
@pytest.mark.parametrize("values", [(1, 0, -1), (True, False, None), ("p", "u", "n"), (2, 3, 1)])
def test_kinds_of_labels_block_by_block(rng, monkeypatch, n, values):
    monkeypatch.setattr(arrays, "BLOCK", 10)
    allowed = np.array([value for value in values if value is not None])
    for y in (allowed[rng.integers(0, allowed.size, n)], allowed[:1].repeat(n)):
        for column in (y, y.astype(object)):
            kinds = label_kinds(column, LabelValues(*values))
            assert kinds.dtype == np.int8
            assert kinds.tolist() == slow_kinds(y, values)


@pytest.mark.parametrize("place", [0, 9, 10, 24])
def test_a_label_that_means_nothing_is_found_in_any_block(monkeypatch, place):
    monkeypatch.setattr(arrays, "BLOCK", 10)
    y = np.zeros(25, dtype=int)
    y[place] = 7
    with pytest.raises(InputError, match="1 row with an unrecognized label: 7"):
        label_kinds(y, LabelValues())


@pytest.mark.parametrize("lowest", [0, 1, 17, 10**12, -5])
def test_numbers_of_clusters_do_not_change_results(rng, monkeypatch, lowest):
    """Read in several chunks, by threads; numbers may begin anywhere and skip some."""
    monkeypatch.setattr(group_codes, "CHUNK", 64)
    monkeypatch.setattr(clusters_module, "CHUNK", 64)
    cluster = rng.integers(0, 300, 1000) * 2
    kind = rng.integers(0, 3, 1000).astype(np.int8)
    names = [f"{k:04}" for k in cluster]
    clusters = Clusters.read(cluster + lowest, kind, None)
    assert clusters.n_clusters == len(set(names))
    assert clusters.n_labeled_clusters == len({names[k] for k in np.flatnonzero(kind == 0)})
    [partition], [other] = clusters.partitions, Clusters.read(names, kind, None).partitions
    np.testing.assert_array_equal(partition.group, other.group)


@pytest.mark.parametrize("most_groups", [50, 1000, 12_000])
@pytest.mark.parametrize("weighted", [False, True])
def test_cells_are_those_of_a_loop_over_rows(rng, monkeypatch, most_groups, weighted):
    """Also where kind and group together do not fit in two bytes."""
    monkeypatch.setattr(clusters_module, "MOST_GROUPS", most_groups)
    monkeypatch.setattr(clusters_module, "CHUNK", 700)
    monkeypatch.setattr(clusters_module, "BLOCK", 300)
    n = 20_000
    cluster, kind = rng.integers(0, 15_000, n), rng.integers(0, 3, n).astype(np.int8)
    weight = rng.integers(1, 4, n) if weighted else None
    score = np.round(rng.normal(size=n), 1)
    clusters = Clusters.read(cluster, kind, weight)
    [partition] = clusters.partitions
    assert partition.n_groups == min(most_groups, np.unique(cluster).size)
    assert partition.group.dtype == (np.int32 if most_groups == 12_000 else np.int16)
    assert np.unique(partition.group).size == partition.n_groups
    thresholds = np.array([np.inf, 1.0, 0.3, -0.5, -9.0])
    [cells] = clusters.with_score(score).cells(thresholds)
    expected = np.zeros((3, partition.n_groups, 5))
    for row in range(n):
        cell = int(np.flatnonzero(score[row] >= thresholds)[0])
        expected[kind[row], partition.group[row], cell] += 1 if weight is None else weight[row]
    np.testing.assert_array_equal(cells, expected)
    np.testing.assert_array_equal(clusters.group_sizes[0], expected.sum(axis=2))


@pytest.mark.parametrize("size", [0, 1, 10, 25])
def test_columns_are_copied_block_by_block(monkeypatch, rng, size):
    monkeypatch.setattr(arrays, "BLOCK", 10)
    score = rng.normal(size=2 * size)[::2]
    owned = arrays.owned_column(score, "score", arrays.as_scores)
    assert not np.may_share_memory(owned, score)
    np.testing.assert_array_equal(owned, score)
