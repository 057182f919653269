"""The same rows in every kind of data frame give the same Counts, and the same results.

Each test runs on every backend; Dask on a real cluster of two worker processes, Spark on a real
session in local mode, classic and Connect.
"""

import contextlib
import os
import signal
import socket
import subprocess
import time
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_allclose
from scipy.stats import poisson

from pueval import BinnedScoresWarning, Counts, InputError, evaluate, poisson_resamples, tally
from pueval.samples.bins import bin_numbers, lower_edges
from pueval.sources.poisson_bootstrap import PRIME, hash_constants
from tests.sources.backends import (
    EVERY,
    HERE,
    PLAIN,
    local_spark,
    make_dask,
    make_dask_numpy,
    make_spark,
    missing,
    need,
    need_java,
)

# Tornado leaves sockets to the garbage collector while it looks for a free port.
pytestmark = pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")


@pytest.fixture(scope="session")
def cluster():
    need("dask")
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address="127.0.0.1:0"
        ) as local,
        Client(local) as client,
    ):
        yield client


@pytest.fixture(scope="session")
def spark():
    yield from local_spark()


@pytest.fixture(scope="session")
def spark_connect(tmp_path_factory):
    """A session of a Spark Connect server, which is a process of its own."""
    need("pyspark")
    need("grpc")
    need_java()
    import pyspark
    from pyspark.sql import SparkSession

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log = tmp_path_factory.mktemp("connect") / "log"
    with log.open("w") as output:
        server = subprocess.Popen(
            [
                Path(pyspark.__file__).parent / "bin" / "spark-submit",
                *("--class", "org.apache.spark.sql.connect.service.SparkConnectServer"),
                *("--master", "local[2]"),
                *("--conf", "spark.ui.enabled=false"),
                *("--conf", "spark.sql.shuffle.partitions=3"),
                *("--conf", f"spark.connect.grpc.binding.port={port}"),
                "spark-internal",
            ],
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    try:
        for _ in range(600):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                break
            if server.poll() is not None:
                missing(f"the Spark Connect server did not start: {log.read_text()[-500:]}")
            time.sleep(0.3)
        session = SparkSession.builder.remote(f"sc://127.0.0.1:{port}").create()
        os.environ.pop("SPARK_CONNECT_MODE_ENABLED", None)
        yield session
        session.stop()
    finally:
        os.killpg(server.pid, signal.SIGTERM)
        server.wait(60)


@pytest.fixture(params=EVERY)
def make(request):
    """A function from partitions to a frame of one backend."""
    name = request.param
    if name == "spark":
        session = request.getfixturevalue("spark")
        yield lambda parts: make_spark(session, parts)
    elif name.startswith("dask"):
        client = request.getfixturevalue("cluster")
        maker = make_dask if name == "dask" else make_dask_numpy
        with client.as_current():
            yield maker
    else:
        yield PLAIN[name]


def rows(n=400, seed=1):
    """Rows with ties, −0.0, negative and tiny scores, two models, groups and weights."""
    rng = np.random.default_rng(seed)
    a = np.round(rng.normal(size=n), 1)
    a[:4] = [-0.0, 0.0, -0.0, 1e-310]
    return {
        "label": (rng.random(n) < 0.3).astype(np.int64),
        "a": a,
        "b": rng.normal(size=n) * 10.0 ** rng.integers(-8, 8, n),
        "count": rng.integers(0, 4, n),
        "weight": rng.exponential(size=n),
        "site": rng.choice(["Oslo", "Rome", "Kyiv"], n),
    }


def split(columns, sizes):
    """Cut rows into partitions of given sizes; the last one takes what is left."""
    table = pa.table(columns)
    parts, start = [], 0
    for size in sizes:
        parts.append(table.slice(start, size))
        start += size
    return [*parts, table.slice(start)]


PARTITIONS = {
    "even": [130, 130],
    "empty ones": [0, 150, 0, 100, 0],
    "one row": [1, 1, 1],
    "skewed": [390, 3],
}


class TestCounts:
    @pytest.mark.parametrize("sizes", PARTITIONS.values(), ids=PARTITIONS)
    def test_same_counts(self, make, sizes):
        data = rows()
        counts = Counts.from_frame(make(split(data, sizes)), label="label", score="a")
        reference = Counts.from_arrays(data["label"], data["a"])
        assert counts == reference
        assert counts.n_labeled == data["label"].sum()

    def test_same_results(self, make):
        data = rows()
        frame = make(split(data, [200]))
        mine = evaluate(Counts.from_frame(frame, label="label", score="b"), prior=0.1)
        other = evaluate(data["label"], data["b"], prior=0.1)
        assert {name: mine[name] for name in mine} == {name: other[name] for name in other}
        np.testing.assert_array_equal(mine.roc().tpr, other.roc().tpr)

    def test_whole_weights(self, make):
        data = rows()
        frame = make(split(data, [200]))
        counts = Counts.from_frame(frame, label="label", score="a", sample_weight="count")
        assert counts == Counts.from_arrays(data["label"], data["a"], sample_weight=data["count"])
        assert counts._has_integer_counts

    def test_float_weights(self, make):
        data = rows()
        frame = make(split(data, [200]))
        counts = Counts.from_frame(frame, label="label", score="a", sample_weight="weight")
        reference = Counts.from_arrays(data["label"], data["a"], sample_weight=data["weight"])
        np.testing.assert_array_equal(counts.score, reference.score)
        assert_allclose(counts.labeled, reference.labeled, rtol=1e-12)
        assert_allclose(counts.effective_sizes, reference.effective_sizes, rtol=1e-12)
        assert not counts._has_integer_counts

    @pytest.mark.parametrize("kind", ["bool", "text", "float", "negatives"])
    def test_labels(self, make, kind):
        data = rows()
        label, values = data["label"], {}
        given = {
            "bool": label.astype(bool),
            "text": np.where(label == 1, "yes", "it's"),
            "float": label.astype(float),
            "negatives": np.where(np.arange(400) % 5 == 0, -1, label),
        }[kind]
        if kind == "text":
            values = {"pos_label": "yes", "unlabeled_label": "it's"}
        if kind == "negatives":
            values = {"negative_label": -1}
        frame = make(split(data | {"label": given}, [200]))
        counts = Counts.from_frame(frame, label="label", score="a", **values)
        assert counts == Counts.from_arrays(given, data["a"], **values)

    @pytest.mark.parametrize("dtype", [np.float32, np.int64, np.bool_])
    def test_types_of_scores(self, make, dtype):
        data = rows()
        score = (data["a"] * 3).astype(dtype)
        frame = make(split(data | {"a": score}, [200]))
        counts = Counts.from_frame(frame, label="label", score="a")
        reference = Counts.from_arrays(data["label"], score)
        assert counts == reference
        assert counts.score.dtype == reference.score.dtype


class TestBins:
    @pytest.mark.parametrize("bins", [2, 64, 4096])
    @pytest.mark.parametrize("score", ["a", "b"])
    def test_same_bins(self, make, bins, score):
        data = rows()
        frame = make(split(data, [200]))
        counts = Counts.from_frame(frame, label="label", score=score, bins=bins)
        assert counts == Counts.from_arrays(data["label"], data[score]).to_bins(bins)
        assert counts.bins == bins

    def test_weighted_bins(self, make):
        data = rows()
        frame = make(split(data, [200]))
        counts = Counts.from_frame(frame, label="label", score="b", bins=8, sample_weight="count")
        weighted = Counts.from_arrays(data["label"], data["b"], sample_weight=data["count"])
        assert counts == weighted.to_bins(8)

    def test_automatic(self, make, monkeypatch, request):
        monkeypatch.setattr("pueval.samples.bins.EXACT_ROWS", 100)
        monkeypatch.setattr("pueval.samples.bins.DEFAULT_BINS", 64)
        data = rows()
        data["a"] = np.round(data["a"], 1)
        frame = make(split(data, [200]))
        exact = Counts.from_arrays(data["label"], data["b"])
        if request.node.callspec.params["make"] in HERE:
            assert Counts.from_frame(frame, label="label", score="b") == exact
            return
        assert exact.to_bins(64)._wide_bin_scores().size
        with pytest.warns(BinnedScoresWarning, match="400 rows have too many scores"):
            counts = Counts.from_frame(frame, label="label", score="b")
        assert counts == exact.to_bins(64)
        assert Counts.from_frame(frame, label="label", score="b", bins=None) == exact
        # Rounded scores are all in bins of their own: nothing was lost, and nothing is said.
        assert Counts.from_frame(frame, label="label", score="a") == Counts.from_arrays(
            data["label"], data["a"]
        )


class TestTally:
    @pytest.mark.parametrize("bins", [None, 16])
    def test_models_and_groups_in_one_pass(self, make, bins):
        data = rows()
        found = tally(
            make(split(data, [200])), label="label", scores=["b", "a"], by="site", bins=bins
        )
        assert list(found) == [("Kyiv",), ("Oslo",), ("Rome",)]
        for (site,), models in found.items():
            assert list(models) == ["b", "a"]
            here = data["site"] == site
            for name, counts in models.items():
                reference = Counts.from_arrays(data["label"][here], data[name][here])
                assert counts == (reference if bins is None else reference.to_bins(bins))

    def test_several_group_columns(self, make):
        data = rows() | {"year": np.arange(400) % 2}
        found = tally(make(split(data, [200])), label="label", scores="a", by=["site", "year"])
        assert len(found) == 6
        here = (data["site"] == "Rome") & (data["year"] == 1)
        reference = Counts.from_arrays(data["label"][here], data["a"][here])
        assert found["Rome", 1]["a"] == reference


def spoiled(column, value, n):
    data = rows()
    values = data[column].astype(object)
    values[:n] = value
    kind = pa.int64() if column == "label" else pa.float64()
    return data | {column: pa.array(values.tolist(), kind)}


class TestResamples:
    def test_same_on_every_engine(self, make):
        """Weights by whole-number arithmetic, as the hash is defined."""
        data = rows() | {"id": np.r_[np.arange(-200, 0), 2**52 + np.arange(200)]}
        frame = make(split(data, [7, 0, 250]))
        found = poisson_resamples(
            frame, label="label", scores=["a", "b"], key="id", n_resamples=2, seed=3, bins=64
        )
        weights = weights_by_definition(data["id"].tolist(), seed=3, n_resamples=2)
        for name in ("a", "b"):
            for drawn, weight in zip(found[name], weights.T, strict=True):
                reference = Counts.from_arrays(data["label"], data[name], sample_weight=weight)
                # Bins are wide if rows that were not drawn have other scores.
                assert drawn.n_labeled == reference.n_labeled
                edges = reference.to_bins(64)
                at = np.unique(np.concatenate([drawn.score, edges.score]))
                bottom = lower_edges(bin_numbers(at + 0.0, 64), 64)
                for mine, other in zip(
                    (drawn.at(bottom).labeled, drawn.at(bottom).unlabeled),
                    (reference.at(bottom).labeled, reference.at(bottom).unlabeled),
                    strict=True,
                ):
                    np.testing.assert_array_equal(mine, other)


def weights_by_definition(numbers, *, seed, n_resamples):
    rounds, each = hash_constants(seed, n_resamples)
    lines = []
    for number in numbers:
        half = [number % 2**26 % PRIME, (number // 2**26) % PRIME]
        for k, constant in enumerate(rounds.tolist()):
            here, other = (0, 1) if k % 2 else (1, 0)
            half[other] = (half[other] + pow(half[here] + constant, 3, PRIME)) % PRIME
        line = []
        for first, second in each.tolist():
            x = pow(pow(half[0] + first, 3, PRIME) + half[1] + second, 3, PRIME)
            line.append(int(poisson.ppf((x + 0.5) / PRIME, 1)))
        lines.append(line)
    return np.array(lines)


class TestRefused:
    def refused(self, match, make, data, **given):
        frame = make(split(data, [200]))
        with pytest.raises(InputError, match=match):
            Counts.from_frame(frame, **{"label": "label", "score": "a"} | given)

    def test_missing_labels(self, make):
        self.refused("3 rows with a missing label", make, spoiled("label", None, 3))

    def test_missing_scores(self, make):
        self.refused("3 rows with a missing score", make, spoiled("a", None, 3))
        self.refused("2 rows with a missing score", make, spoiled("a", float("nan"), 2))

    def test_infinite_scores(self, make):
        self.refused("1 row with an infinite score", make, spoiled("a", float("inf"), 1))
        self.refused("2 rows with an infinite score", make, spoiled("a", -float("inf"), 2))

    def test_missing_scores_of_one_of_several_models(self, make):
        data = spoiled("b", None, 3)
        with pytest.raises(InputError, match="3 rows with a missing score .column 'b'"):
            tally(make(split(data, [200])), label="label", scores=["a", "b"])
        with pytest.raises(InputError, match="3 rows with a missing score .column 'b'"):
            tally(make(split(data, [200])), label="label", scores=["a", "b"], bins=4096)

    def test_unknown_labels(self, make):
        data = rows()
        data["label"][:3] = [7, 8, 7]
        self.refused("3 rows with an unrecognized label: 7, 8", make, data)
        data["label"][:3] = -1
        self.refused("label −1 is ambiguous .3 rows", make, data)
        text = rows() | {"label": np.where(data["label"] == 1, "yes", "no")}
        self.refused("400 rows with an unrecognized label", make, text)

    def test_weights(self, make):
        self.refused("3 rows with a missing (or infinite )?weight", make,
                     spoiled("weight", None, 3), sample_weight="weight")  # fmt: skip
        self.refused("2 rows with a missing or infinite weight", make,
                     spoiled("weight", float("inf"), 2), sample_weight="weight")  # fmt: skip
        self.refused("weights must not be negative; got 2 below zero", make,
                     spoiled("weight", -1.0, 2), sample_weight="weight")  # fmt: skip

    def test_columns(self, make):
        self.refused("no score column 'aa'. Did you mean 'a'", make, rows(), score="aa")
        self.refused("score.* must hold (real )?numbers", make, rows(), score="site")

    def test_large_integers(self, make):
        data = rows() | {"a": np.arange(400) + 2**60}
        self.refused(r"within ±2\*\*53", make, data)

    def test_no_rows(self, make):
        with pytest.raises(InputError, match="empty|no rows"):
            Counts.from_frame(make(split({k: v[:0] for k, v in rows().items()}, [0])),
                              label="label", score="a")  # fmt: skip

    def test_bins(self, make):
        self.refused("must be a power of 2 from 2", make, rows(), bins=1000)


class TestSparkConnect:
    """The same queries, as a thin client sends them to a server."""

    @pytest.fixture
    def make(self, spark_connect, monkeypatch):
        # PySpark looks at this variable to know for which kind of session it makes expressions.
        monkeypatch.setenv("SPARK_CONNECT_MODE_ENABLED", "1")
        return lambda parts: make_spark(spark_connect, parts)

    def test_counts(self, make):
        data = rows()
        frame = make(split(data, [200]))
        exact = Counts.from_arrays(data["label"], data["b"])
        assert Counts.from_frame(frame, label="label", score="b") == exact
        assert Counts.from_frame(frame, label="label", score="b", bins=64) == exact.to_bins(64)

    def test_models_and_groups(self, make):
        data = rows()
        found = tally(make([pa.table(data)]), label="label", scores=["a", "b"], by="site")
        here = data["site"] == "Rome"
        reference = Counts.from_arrays(data["label"][here], data["b"][here])
        assert found["Rome",]["b"] == reference

    def test_refused(self, make):
        with pytest.raises(InputError, match="3 rows with a missing score"):
            Counts.from_frame(make([pa.table(spoiled("a", None, 3))]), label="label", score="a")


class TestParquetStatistics:
    """Statistics of a Parquet file leave NaN out, and engines believe them."""

    @pytest.fixture(params=["duckdb", "ibis", "polars", "dask", "spark"])
    def scan(self, request):
        def duckdb_scan(path):
            import duckdb

            return duckdb.read_parquet(path)

        def spark_scan(path):
            return request.getfixturevalue("spark").read.parquet(path)

        return {
            "duckdb": duckdb_scan,
            "ibis": lambda path: need("ibis").read_parquet(path),
            "polars": pl.scan_parquet,
            "dask": lambda path: need("dask.dataframe").read_parquet(path),
            "spark": spark_scan,
        }[request.param]

    @pytest.mark.parametrize("bins", [None, 64])
    @pytest.mark.parametrize("column", ["a", "weight", "label"])
    def test_nan_is_seen(self, scan, tmp_path, column, bins):
        data = rows()
        data[column] = data[column].astype(float)
        data[column][:3] = np.nan
        path = str(tmp_path / "x.parquet")
        pq.write_table(pa.table({k: pa.array(v, from_pandas=False) for k, v in data.items()}), path)
        with pytest.raises(InputError, match="^3 rows with a( missing|n unrecognized label: nan)"):
            Counts.from_frame(
                scan(path), label="label", score="a", sample_weight="weight", bins=bins
            )


class TestEngineDoesTheWork:
    def test_only_the_reduced_table_comes_back(self, monkeypatch):
        """A million rows with 11 scores: at most 11 · 2 lines are collected."""
        import duckdb
        import narwhals.stable.v2 as nw

        collected = []
        collect = nw.LazyFrame.collect

        def spy(self, *args, **given):
            frame = collect(self, *args, **given)
            collected.append(len(frame))
            return frame

        monkeypatch.setattr(nw.LazyFrame, "collect", spy)
        relation = duckdb.sql("SELECT i % 50 = 0 AS l, (i % 11) / 11 AS s FROM range(1000000) t(i)")
        counts = Counts.from_frame(relation, label="l", score="s")
        assert counts.n == 1_000_000
        assert sum(collected) <= 1 + 22

    def test_a_worker_dies_during_the_aggregation(self, tmp_path):
        """The engine computes its partitions again, and the result is the same."""
        frames = need("dask.dataframe")
        from distributed import Client, LocalCluster

        data = rows(4000)
        flag = tmp_path / "died"

        def part(k):
            # The first worker that comes here dies, in the middle of the work.
            if k == 5 and not flag.exists():
                flag.touch()
                os._exit(1)
            return pa.table({name: values[k::8] for name, values in data.items()}).to_pandas()

        with (
            LocalCluster(
                n_workers=2, threads_per_worker=1, processes=True, dashboard_address="127.0.0.1:0",
                silence_logs=50,
            ) as local,
            Client(local),
        ):  # fmt: skip
            meta = pa.table(data).to_pandas()[:0]
            frame = frames.from_map(part, range(8), meta=meta)
            counts = Counts.from_frame(frame, label="label", score="a")
        assert flag.exists()
        assert counts == Counts.from_arrays(data["label"], data["a"])
