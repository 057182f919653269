"""A column of clusters, counted by every engine, gives the intervals of arrays."""

from __future__ import annotations

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose

from pueval import Counts, InputError, evaluate, tally
from tests.sources.backends import local_spark, need

# Tornado leaves sockets to the garbage collector while it looks for a free port.
pytestmark = pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")
MEASURES = ("roc_auc", "average_precision", "f1")
FRAMES = ["pandas", "polars", "polars lazy", "pyarrow", "duckdb", "ibis", "dask", "spark"]


def clustered_rows(n_clusters, n, seed=3):
    """Rows whose scores depend on their cluster, with tied scores and weights of zero."""
    rng = np.random.default_rng(seed)
    cluster = rng.integers(0, n_clusters, n)
    effect, ill = rng.normal(size=n_clusters), rng.random(n_clusters) < 0.4
    label = (ill[cluster] & (rng.random(n) < 0.6)).astype(int)
    score = np.round(effect[cluster] + 1.2 * ill[cluster] + rng.normal(size=n), 2)
    return pd.DataFrame(
        {
            "label": label,
            "a": score,
            "b": score + np.round(rng.normal(size=n), 2),
            "patient": [f"p{k}" for k in cluster],
            "number": cluster,
            "times": rng.integers(0, 3, n),
            "weight": rng.random(n),
        }
    )


FEW, MANY = clustered_rows(60, 1500), clustered_rows(6000, 30_000)


def intervals(counts):
    ev = evaluate(counts, prior=0.1, n_resamples=200)
    return np.array([[ev[name].low, ev[name].high] for name in MEASURES]), ev.clusters


def from_arrays(data, score="a", cluster="patient", weight=None):
    weights = None if weight is None else data[weight]
    return Counts.from_arrays(
        data["label"], data[score], cluster=data[cluster], sample_weight=weights
    )


@pytest.fixture(scope="module")
def spark():
    yield from local_spark()


@pytest.fixture(params=FRAMES)
def make(request):
    """A function from rows to a frame of one backend."""
    name = request.param
    if name == "spark":
        session = request.getfixturevalue("spark")
        return lambda data: session.createDataFrame(data.to_dict("records"))
    if name == "dask":
        need("dask.dataframe")
        import dask.dataframe as dd

        return lambda data: dd.from_pandas(data, npartitions=3)
    if name == "ibis":
        need("ibis")
        import ibis

        return lambda data: ibis.memtable(pl.from_pandas(data).to_arrow())
    return {
        "pandas": lambda data: data,
        "polars": pl.from_pandas,
        "polars lazy": lambda data: pl.from_pandas(data).lazy(),
        "pyarrow": lambda data: pl.from_pandas(data).to_arrow(),
        "duckdb": duckdb.from_df,
    }[name]


@pytest.mark.parametrize(
    ("cluster", "weight"), [("patient", None), ("number", "times"), ("patient", "weight")]
)
def test_few_clusters_in_frames(make, cluster, weight):
    counts = Counts.from_frame(
        make(FEW), label="label", score="a", cluster=cluster, sample_weight=weight
    )
    expected, effects = intervals(from_arrays(FEW, cluster=cluster, weight=weight))
    found, found_effects = intervals(counts)
    assert_allclose(found, expected, rtol=1e-9)
    assert_allclose([*vars(found_effects).values()], [*vars(effects).values()], rtol=1e-9)


def test_many_clusters_in_frames(make):
    """Clusters are merged in another way, but the variances are the same."""
    tallies = tally(make(MANY), label="label", scores=["a", "b"], cluster="patient")[()]
    for score, counts in tallies.items():
        _, expected = intervals(from_arrays(MANY, score))
        _, found = intervals(counts)
        assert found.n_clusters == expected.n_clusters > 1000
        assert found.n_labeled_clusters == expected.n_labeled_clusters
        assert found.auc_effect > 1.5
        error, expected_error = np.sqrt([found.auc_effect, expected.auc_effect])
        assert error == pytest.approx(expected_error, rel=0.06)


def test_missing_clusters_are_refused(make):
    data = FEW.assign(patient=FEW["patient"].mask(FEW["number"] == 7))
    if type(make(FEW)).__module__.startswith("pyspark"):
        data = data.astype({"patient": object}).where(data.notna(), None)
    with pytest.raises(InputError, match=r"^\d+ rows with a missing cluster"):
        Counts.from_frame(make(data), label="label", score="a", cluster="patient")


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
@pytest.mark.parametrize("engine", ["duckdb", "polars", "dask", "spark"])
def test_files(request, tmp_path, engine, suffix):
    if engine == "spark":
        request.getfixturevalue("spark")
    if engine == "dask":
        need("dask.dataframe")
    for k, data in enumerate((FEW, MANY)):
        path = tmp_path / f"{k}.{suffix}"
        data.to_csv(path, index=False) if suffix == "csv" else data.to_parquet(path)
        counts = Counts.from_file(
            path, label="label", score="a", cluster="patient", engine=engine, bins=4096
        )
        expected, effects = intervals(from_arrays(data).to_bins(4096))
        found, found_effects = intervals(counts)
        if data is FEW:
            assert_allclose(found, expected, rtol=1e-9)
        else:
            assert found_effects.n_labeled_clusters == effects.n_labeled_clusters
            error, expected_error = np.sqrt([found_effects.auc_effect, effects.auc_effect])
            assert error == pytest.approx(expected_error, rel=0.06)


def test_rows_that_are_clusters_of_their_own():
    data = FEW.assign(patient=np.arange(len(FEW)))
    counts = Counts.from_frame(duckdb.from_df(data), label="label", score="a", cluster="patient")
    assert evaluate(counts, prior=0.1).clusters is None
    doubled = Counts.from_frame(
        duckdb.from_df(data.assign(times=2)),
        label="label",
        score="a",
        cluster="patient",
        sample_weight="times",
    )
    assert evaluate(doubled, prior=0.1).clusters.auc_effect == pytest.approx(2, rel=0.05)


def test_engines_that_cannot_merge(monkeypatch):
    from pueval.sources import cluster_columns

    monkeypatch.setattr(cluster_columns, "MERGING", {})
    with pytest.raises(InputError, match="Add a column that assigns each cluster at random"):
        Counts.from_frame(pl.from_pandas(MANY).lazy(), label="label", score="a", cluster="patient")


def test_what_counts_with_clusters_refuse(tmp_path):
    counts = Counts.from_frame(FEW, label="label", score="a", cluster="patient")
    with pytest.raises(InputError, match="saving counts"):
        counts.to_parquet(tmp_path / "counts.parquet")
    with pytest.raises(InputError, match="adding counts"):
        counts + Counts.from_frame(FEW, label="label", score="a")
    with pytest.raises(InputError, match="cannot combine by with cluster"):
        tally(FEW, label="label", scores="a", by="number", cluster="patient")


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_two_way_clusters_of_files_are_refused(tmp_path, suffix):
    path = tmp_path / f"rows.{suffix}"
    rows = pl.from_pandas(FEW)
    (rows.write_csv if suffix == "csv" else rows.write_parquet)(path)
    columns = ["patient", "number"]
    for source, read in ((path, Counts.from_file), (FEW, Counts.from_frame)):
        with pytest.raises(InputError, match="For two-way clusters, pass arrays"):
            read(source, label="label", score="a", cluster=columns)
    with pytest.raises(InputError, match="For two-way clusters, pass arrays"):
        tally(path, label="label", scores="a", cluster=columns)
