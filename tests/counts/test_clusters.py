"""Counts of rows that belong to clusters."""

import pytest

from pueval import Counts


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
