"""Columns of clusters that are given as arrays."""

import numpy as np
import pandas as pd
import pytest

from pueval import Counts, InputError, evaluate

RNG = np.random.default_rng(0)
FRAME = pd.DataFrame(
    {
        "y": RNG.integers(0, 2, 300),
        "score": RNG.normal(size=300),
        "user": RNG.integers(0, 30, 300),
        "item": RNG.integers(0, 40, 300),
    }
)
MIXED = FRAME.sample(frac=1, random_state=0)


@pytest.mark.parametrize(
    ("cluster", "names"),
    [
        (MIXED.user, "y and cluster"),
        ([MIXED.user, FRAME.item], r"y and cluster\[0\]"),
        ([FRAME.user, MIXED.item], r"y and cluster\[1\]"),
        ((FRAME.user, MIXED.item), r"y and cluster\[1\]"),
    ],
)
def test_rows_in_another_order(cluster, names):
    with pytest.raises(InputError, match=f"{names} have the same index in different orders"):
        evaluate(FRAME.y, FRAME.score, cluster=cluster, prior=0.1)


def test_order_of_two_columns_alone():
    with pytest.raises(InputError, match=r"cluster\[0\] and cluster\[1\] have the same index"):
        Counts.from_arrays(
            FRAME.y.to_numpy(), FRAME.score.to_numpy(), cluster=[FRAME.user, MIXED.item]
        )


def test_rows_in_the_same_order():
    clusters = Counts.from_arrays(
        FRAME.y, FRAME.score, cluster=[FRAME.user, FRAME.item]
    )._clusters.clusters
    assert clusters.ways == 2
    # Two rows, and a list of their clusters.
    assert Counts.from_arrays([1, 0], [2.0, 1.0], cluster=["a", "a"])._clusters is not None


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_column_with_missing_clusters_is_named(tmp_path, suffix):
    """The query has a name of its own for the column."""
    rows = pd.DataFrame({"c": [0, 1] * 50, "a": np.arange(100.0), "patient": ["x", None] * 50})
    path = tmp_path / f"rows.{suffix}"
    rows.to_csv(path, index=False) if suffix == "csv" else rows.to_parquet(path, index=False)
    with pytest.raises(InputError, match=r"50 rows with a missing cluster \(column 'patient'\)"):
        Counts.from_file(path, label="c", score="a", cluster="patient")
