"""Files of every format, read by every engine, in Python and from the command line."""

import json
import sqlite3

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.feather
import pytest

from pueval import BinnedScoresWarning, Counts, InputError, evaluate, tally
from pueval.commands.app import run
from pueval.sources.paths import locate
from tests.sources.backends import local_spark, need, need_java

# Tornado leaves sockets to the garbage collector while it looks for a free port.
pytestmark = pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")

ENGINES = ["duckdb", "polars", "dask", "spark"]


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(5)
    y = (rng.random(500) < 0.3).astype(int)
    return pd.DataFrame(
        {
            "label": y,
            "a": np.round(rng.normal(size=500) + y, 2),
            "b": rng.random(500),
            "day": np.repeat([1, 2], 250),
            "times": rng.integers(0, 3, 500),
        }
    )


@pytest.fixture
def exact(data):
    return Counts.from_arrays(data["label"], data["a"])


@pytest.fixture(scope="module")
def spark_session():
    yield from local_spark()


@pytest.fixture(params=ENGINES)
def engine(request):
    if request.param == "spark":
        request.getfixturevalue("spark_session")
    if request.param == "dask":
        need("dask.dataframe")
    return request.param


def write(data, path):
    """Write a file of the format that its name says."""
    path.parent.mkdir(parents=True, exist_ok=True)
    table = pa.Table.from_pandas(data, preserve_index=False)
    if path.suffix == ".parquet":
        data.to_parquet(path, index=False)
    elif path.suffix in {".arrow", ".feather"}:
        pyarrow.feather.write_feather(table, path)
    elif path.suffix == ".zst":
        content = data.to_csv(index=False).encode()
        path.write_bytes(pa.compress(content, codec="zstd", asbytes=True))
    else:
        data.to_csv(path, index=False, sep="\t" if ".tsv" in path.name else ",")
    return path


class TestFormats:
    @pytest.mark.parametrize("name", ["x.csv", "x.tsv", "x.csv.gz", "x.csv.zst", "x.parquet"])
    def test_one_file(self, data, exact, tmp_path, engine, name):
        path = write(data, tmp_path / name)
        assert Counts.from_file(path, label="label", score="a", engine=engine) == exact

    @pytest.mark.parametrize("name", ["x.arrow", "x.feather"])
    @pytest.mark.parametrize("engine", ["duckdb", "polars"])
    def test_arrow(self, data, exact, tmp_path, engine, name):
        path = write(data, tmp_path / name)
        assert Counts.from_file(path, label="label", score="a", engine=engine) == exact

    def test_patterns(self, data, exact, tmp_path, engine):
        for k in range(3):
            write(data[k::3], tmp_path / f"part-{k}.parquet")
        pattern = f"{tmp_path}/part-*.parquet"
        assert Counts.from_file(pattern, label="label", score="a", engine=engine) == exact

    def test_columns_in_another_order(self, data, exact, tmp_path, engine):
        """They are not taken by their places: columns would be mixed up without a word."""
        write(data[::2], tmp_path / "1.csv")
        write(data[1::2][["day", "b", "a", "label", "times"]], tmp_path / "2.csv")
        if engine != "spark":
            assert Counts.from_file(tmp_path, label="label", score="a", engine=engine) == exact
        else:
            with pytest.raises(InputError, match="could not be read as a table"):
                Counts.from_file(tmp_path, label="label", score="a", engine=engine)

    @pytest.mark.parametrize("suffix", ["parquet", "csv", "arrow"])
    def test_partitioned_folders(self, data, exact, tmp_path, suffix):
        """Names of folders are columns; what Spark leaves beside its data is no data."""
        for day, rows in data.groupby("day"):
            write(rows.drop(columns="day"), tmp_path / f"day={day}" / f"x.{suffix}")
        (tmp_path / "_SUCCESS").touch()
        (tmp_path / "day=1" / f".x.{suffix}.crc").write_bytes(b"0123")
        assert Counts.from_file(tmp_path, label="label", score="a") == exact
        found = tally(tmp_path, label="label", scores="a", by="day")
        assert [str(group[0]) for group in found] == ["1", "2"]
        first = data[data["day"] == 1]
        assert next(iter(found.values()))["a"] == Counts.from_arrays(first["label"], first["a"])

    @pytest.mark.parametrize("engine", ["polars", "dask", "spark"], indirect=True)
    def test_partitioned_folders_of_other_engines(self, data, exact, tmp_path, engine):
        for day, rows in data.groupby("day"):
            write(rows.drop(columns="day"), tmp_path / f"day={day}" / "x.parquet")
        found = tally(tmp_path, label="label", scores="a", by="day", engine=engine)
        assert [int(group[0]) for group in found] == [1, 2]
        assert sum(models["a"] for models in found.values()) == exact

    def test_written_by_spark_and_dask(self, data, exact, tmp_path, spark_session):
        frames = need("dask.dataframe")
        spark_session.createDataFrame(pa.Table.from_pandas(data)).repartition(3).write.parquet(
            str(tmp_path / "spark")
        )
        frames.from_pandas(data, npartitions=3).to_parquet(tmp_path / "dask")
        for name in ("spark", "dask"):
            assert Counts.from_file(tmp_path / name, label="label", score="a") == exact

    def test_dataset_of_arrow(self, data, exact, tmp_path):
        table = pa.Table.from_pandas(data, preserve_index=False)
        ds.write_dataset(
            table, tmp_path, format="ipc", max_rows_per_file=100, max_rows_per_group=50
        )
        for file in tmp_path.glob("*.ipc"):
            file.rename(file.with_suffix(".arrow"))
        assert Counts.from_file(tmp_path, label="label", score="a") == exact

    def test_database(self, data, exact, tmp_path, monkeypatch):
        path = tmp_path / "my file.db"
        with duckdb.connect(str(path)) as connection:
            connection.execute("CREATE SCHEMA other")
            connection.execute('CREATE TABLE other."odd \'name" AS SELECT * FROM data')
        address = f"duckdb:///{path}?table=odd%20'name".replace(" ", "%20")
        assert Counts.from_file(address, label="label", score="a") == exact
        monkeypatch.chdir(tmp_path)
        relative = "duckdb:///my%20file.db?table=other.odd%20'name"
        assert Counts.from_file(relative, label="label", score="a") == exact


class TestRows:
    def test_models_groups_and_weights(self, data, tmp_path, engine):
        path = write(data, tmp_path / "x.csv")
        found = tally(
            path, label="label", scores=["a", "b"], by="day", sample_weight="times", engine=engine
        )
        assert len(found) == 2
        rows = data[data["day"] == 2]
        counts = list(found.values())[1]["a"]
        assert counts == Counts.from_arrays(rows["label"], rows["a"], sample_weight=rows["times"])
        assert counts._has_integer_counts

    def test_numbers_of_groups_are_sorted_as_numbers(self, data, tmp_path, engine):
        ages = np.array([10, 100, 20, 5, 9])[np.arange(500) % 5]
        sites = np.where(np.arange(500) % 2, "s10", "s9")
        rows = data.assign(age=ages.astype(object), site=sites)
        rows.loc[7, "age"] = None
        path = write(rows, tmp_path / "x.csv")
        read = {"label": "label", "scores": "a", "engine": engine}
        found = [*tally(path, by="age", **read)]
        assert found == [("5",), ("9",), ("10",), ("20",), ("100",), (None,)]
        found = [*tally(path, by=["site", "age"], **read)]
        expected = [(s, a) for s in ("s10", "s9") for a in ("5", "9", "10", "20", "100")]
        assert [group for group in found if group[1] is not None] == expected
        assert found[5] == ("s10", None)

    def test_text_labels(self, data, exact, tmp_path, engine):
        words = data.assign(label=data["label"].map({1: "true", 0: "false"}))
        for name in ("x.csv", "x.parquet"):
            path = write(words, tmp_path / name)
            assert Counts.from_file(path, label="label", score="a", engine=engine) == exact
        odd = data.assign(label=data["label"].map({1: "it's", 0: ""}))
        path = write(odd, tmp_path / "odd.csv")
        counts = Counts.from_file(
            path, label="label", score="a", pos_label="it's", unlabeled_label="", engine=engine
        )
        assert counts == exact

    def test_refused(self, data, tmp_path, engine):
        bad = data.astype({"a": str, "label": str})
        bad.loc[:2, "a"] = "high"
        path = write(bad, tmp_path / "x.csv")
        with pytest.raises(InputError, match="column 'a'") as caught:
            Counts.from_file(path, label="label", score="a", engine=engine)
        assert "3" in str(caught.value)
        assert "number" in str(caught.value)
        bad = data.astype({"label": str})
        bad.loc[:1, "label"] = "maybe"
        path = write(bad, tmp_path / "x.csv")
        with pytest.raises(InputError, match="2 rows with an unrecognized label: 'maybe'"):
            Counts.from_file(path, label="label", score="a", engine=engine)
        with pytest.raises(InputError, match="no score column 'aa'. Did you mean 'a'"):
            Counts.from_file(path, label="label", score="aa", engine=engine)
        path = tmp_path / "x.parquet"
        path.write_bytes(b"PAR1 this is no Parquet file PAR1")
        with pytest.raises(InputError, match="could not be read as a table"):
            Counts.from_file(path, label="label", score="a", engine=engine)

    @pytest.mark.parametrize("engine", ["duckdb", "polars", "spark"], indirect=True)
    @pytest.mark.parametrize("line", ["1,Smith, John,0.7", "1,Smith"])
    def test_lines_of_another_length(self, tmp_path, engine, line):
        path = tmp_path / "x.csv"
        path.write_text(f"label,name,a\n1,Jones,0.5\n0,Lee,0.2\n{line}\n", encoding="utf-8")
        with pytest.raises(InputError, match=r"x\.csv could not be read|missing score"):
            Counts.from_file(path, label="label", score="a", engine=engine)

    def test_groups_are_refused_with_the_same_words(self, data, tmp_path):
        bad = data.astype({"label": str})
        bad.loc[:1, "label"] = "maybe"
        path = write(bad, tmp_path / "x.csv")
        with pytest.raises(InputError, match="2 rows with an unrecognized label: 'maybe'"):
            tally(path, label="label", scores="a", by="day")

    @pytest.mark.parametrize(
        ("column", "value", "match"),
        [
            ("a", np.nan, "2 rows with a missing score .column 'a'"),
            ("a", np.inf, "2 rows with an infinite score .column 'a'"),
            ("a", -np.inf, "2 rows with an infinite score .column 'a'"),
            ("w", -1.0, "weights must not be negative; got 2 below zero"),
            ("w", np.nan, "2 rows with a missing weight"),
            ("label", np.nan, "2 rows have no label"),
        ],
    )
    def test_numbers_that_are_none(self, data, tmp_path, column, value, match):
        bad = data.assign(w=1.5, label=data["label"].astype(float))
        bad.loc[:1, column] = value
        table = pa.Table.from_pandas(bad, preserve_index=False)
        index = table.column_names.index(column)
        # NaN, not null, where pandas means NaN.
        table = table.set_column(index, column, pa.array(bad[column].to_numpy(), from_pandas=False))
        path = tmp_path / "x.parquet"
        pa.parquet.write_table(table, path)
        for bins in ("auto", 64):
            with pytest.raises(InputError, match=match):
                Counts.from_file(path, label="label", score="a", sample_weight="w", bins=bins)


class TestBatches:
    def test_more_rows_than_a_batch(self, data, tmp_path, monkeypatch, exact):
        monkeypatch.setattr("pueval.sources.files.BATCH", 64)
        many = pd.concat([data] * 20)
        path = write(many, tmp_path / "x.parquet")
        counts = Counts.from_file(path, label="label", score="a")
        assert counts == sum([exact] * 20)
        binned = Counts.from_file(path, label="label", score="b", bins=16)
        assert binned == Counts.from_arrays(many["label"], many["b"]).to_bins(16)

    def test_threads_share_row_groups(self, data, tmp_path, monkeypatch):
        """Files of different types and sizes, read by three threads, in batches of 7 rows."""
        monkeypatch.setattr("pueval.sources.batches.PARQUET_BATCH", 7)
        monkeypatch.setattr("os.cpu_count", lambda: 3)
        parts = [data[:100], data[100:110], data[110:110], data[110:]]
        types = [{}, {"a": "float32", "label": "int8"}, {}, {"times": "float64", "label": "bool"}]
        for k, (part, kinds) in enumerate(zip(parts, types, strict=True)):
            table = pa.Table.from_pandas(part.astype(kinds), preserve_index=False)
            pa.parquet.write_table(table, tmp_path / f"{k}.parquet", row_group_size=30)
        rounded = data.assign(
            a=np.r_[parts[0]["a"], parts[1]["a"].astype("float32"), parts[3]["a"]]
        )
        given = {"label": "label", "score": "a", "bins": 16}
        counts = Counts.from_file(tmp_path, **given)
        assert counts == Counts.from_arrays(data["label"], rounded["a"]).to_bins(16)
        weighted = Counts.from_file(tmp_path, sample_weight="times", **given)
        reference = Counts.from_arrays(
            data["label"], rounded["a"], sample_weight=data["times"] * 1.0
        )
        assert weighted == reference.to_bins(16)
        assert not weighted._has_integer_counts
        found = tally(tmp_path, label="label", scores=["a", "b", "label"], bins=16)[()]
        assert found["b"] == Counts.from_arrays(data["label"], data["b"]).to_bins(16)

    @pytest.mark.parametrize("column", ["a", "label", "times"])
    def test_threads_see_what_is_missing(self, data, tmp_path, column):
        write(data[:200], tmp_path / "0.parquet")
        bad = data[200:].astype({column: "Float64"}).copy()
        bad.loc[300:302, column] = None
        write(bad, tmp_path / "1.parquet")
        with pytest.raises(InputError, match=r"^3 rows (with a missing|have no label)"):
            Counts.from_file(tmp_path, label="label", score="a", sample_weight="times", bins=16)

    def test_labels_in_the_names_of_folders(self, data, tmp_path):
        for label, part in data.groupby("label"):
            write(part.drop(columns="label"), tmp_path / f"label={label}" / "x.parquet")
        counts = Counts.from_file(tmp_path, label="label", score="a", bins=16)
        assert counts == Counts.from_arrays(data["label"], data["a"]).to_bins(16)

    @pytest.mark.parametrize("name", ["x.csv", "x.parquet"])
    def test_automatic(self, data, tmp_path, monkeypatch, name):
        """Rows are kept until there are too many of them; then all of them are put into bins."""
        monkeypatch.setattr("pueval.samples.bins.EXACT_ROWS", 5000)
        monkeypatch.setattr("pueval.samples.bins.DEFAULT_BINS", 128)
        rng = np.random.default_rng(0)
        many = pd.concat([data] * 20).assign(b=rng.random(10_000))
        path = write(many, tmp_path / name)
        exact = Counts.from_arrays(many["label"], many["b"])
        with pytest.warns(BinnedScoresWarning, match="10,000 rows have too many scores"):
            assert Counts.from_file(path, label="label", score="b") == exact.to_bins(128)
        assert Counts.from_file(path, label="label", score="b", bins=None) == exact
        # Scores of which each has its own bin stay exact.
        rounded = Counts.from_arrays(many["label"], many["times"])
        assert Counts.from_file(path, label="label", score="times") == rounded

    @pytest.mark.parametrize("bins", [None, 64])
    def test_weights(self, data, tmp_path, bins):
        data = data.assign(w=np.random.default_rng(1).exponential(size=500))
        for name in ("x.csv", "x.parquet"):
            path = write(data, tmp_path / name)
            for weight, whole in (("times", True), ("w", False)):
                counts = Counts.from_file(
                    path, label="label", score="a", sample_weight=weight, bins=bins
                )
                exact = Counts.from_arrays(data["label"], data["a"], sample_weight=data[weight])
                exact = exact if bins is None else exact.to_bins(bins)
                np.testing.assert_allclose(counts.unlabeled, exact.unlabeled)
                assert counts.effective_sizes == pytest.approx(exact.effective_sizes)
                assert counts._has_integer_counts is whole


class TestPlaces:
    @pytest.mark.parametrize(
        ("text", "match"),
        [
            ("duckdb:///nothing.db?table=x", "file not found: 'nothing.db'"),
            ("duckdb:///nothing.db", "address of a DuckDB table is duckdb:///file.db.table=name"),
            ("duckdb://file.db?table=x", "address of a DuckDB table"),
            ("duckdb:///file.db?table=x&b=2", "address of a DuckDB table"),
        ],
    )
    def test_addresses(self, text, match):
        with pytest.raises(InputError, match=match):
            locate(text)

    def test_tables(self, data, tmp_path):
        path = tmp_path / "file.db"
        with duckdb.connect(str(path)) as connection:
            connection.execute("CREATE TABLE rows AS SELECT * FROM data")
        address = f"duckdb:///{path}?table="
        with pytest.raises(InputError, match="no table 'row' in .* Its tables: 'rows'"):
            Counts.from_file(f"{address}row", label="label", score="a")
        with pytest.raises(InputError, match="polars reads csv and parquet and arrow files"):
            Counts.from_file(f"{address}rows", label="label", score="a", engine="polars")
        sqlite = tmp_path / "other.db"
        sqlite3.connect(sqlite).close()
        sqlite.write_bytes(b"not a database" * 1000)
        with pytest.raises(InputError, match="could not be read as a table"):
            Counts.from_file(f"duckdb:///{sqlite}?table=x", label="label", score="a")

    def test_remote(self):
        place = locate("s3://bucket/day=1/x.parquet", remote=True)
        assert (place.format, place.files) == ("parquet", ("s3://bucket/day=1/x.parquet",))
        assert locate("s3://bucket/scores/", remote=True).format == "parquet"
        assert locate("hdfs://host/x.csv", remote=True).format == "csv"
        with pytest.raises(InputError, match="not a local file. Download it"):
            locate("s3://bucket/x.parquet")

    def test_engines(self, data, tmp_path):
        path = write(data, tmp_path / "x.csv")
        columns = {"label": "label", "score": "a"}
        with pytest.raises(InputError, match="engine must be one of duckdb, polars, dask, spark"):
            Counts.from_file(path, engine="pandas", **columns)
        for engine in ("duckdb", "polars"):
            with pytest.raises(InputError, match="has no address"):
                Counts.from_file(path, engine=engine, address="tcp://x:1", **columns)
        arrow = write(data, tmp_path / "x.arrow")
        with pytest.raises(InputError, match="dask reads csv and parquet"):
            Counts.from_file(arrow, engine="dask", **columns)


class TestClusters:
    def test_dask(self, data, exact, tmp_path):
        need("dask.dataframe")
        from distributed import LocalCluster

        path = write(data, tmp_path / "x.parquet")
        with LocalCluster(
            n_workers=1, threads_per_worker=1, processes=True, dashboard_address="127.0.0.1:0"
        ) as cluster:
            address = cluster.scheduler_address
            counts = Counts.from_file(
                path, label="label", score="a", engine="dask", address=address
            )
            assert counts == exact
            arguments = ["evaluate", str(path), "--label", "label", "--score", "a", "--prior",
                         "0.1", "--engine", "dask", "--address", address]  # fmt: skip
            assert run(arguments) == 0

    def test_spark_master(self, data, exact, tmp_path):
        need("pyspark")
        need_java()
        path = write(data, tmp_path / "x.parquet")
        counts = Counts.from_file(
            path, label="label", score="a", engine="spark", address="local[1]"
        )
        assert counts == exact

    @pytest.mark.thorough
    def test_nobody_there(self, data, tmp_path, monkeypatch):
        need("dask.dataframe")
        path = write(data, tmp_path / "x.csv")
        with pytest.raises(InputError, match="no Dask scheduler answered at tcp://127.0.0.1:9"):
            Counts.from_file(path, label="label", score="a", engine="dask",
                             address="tcp://127.0.0.1:9")  # fmt: skip


class TestCommandLine:
    def test_engine(self, data, tmp_path, engine, capsys):
        path = write(data, tmp_path / "x.csv")
        out = tmp_path / "out.json"
        arguments = ["evaluate", str(path), "--label", "label", "--score", "a", "--score", "b",
                     "--prior", "0.1", "--engine", engine, "--json", str(out)]  # fmt: skip
        assert run(arguments) == 0, capsys.readouterr().err
        model = json.loads(out.read_text())["models"]["b"]
        ev = evaluate(data["label"], data["b"], prior=0.1)
        assert model["measures"]["roc_auc"]["value"] == ev["roc_auc"].value

    def test_bins(self, data, tmp_path, capsys):
        path = write(data, tmp_path / "x.csv")
        arguments = ["evaluate", str(path), "--label", "label", "--score", "b", "--prior", "0.1"]
        assert run([*arguments, "--bins", "16"]) == 0
        assert "b: scores in bins (16 per doubling of the score)" in capsys.readouterr().out
        assert run([*arguments, "--bins", "exact"]) == 0
        assert "in bins" not in capsys.readouterr().out
        assert run([*arguments, "--bins", "17"]) == 2
        assert "must be a power of 2" in capsys.readouterr().err

    def test_count_and_add(self, data, tmp_path, capsys, exact):
        saved = tmp_path / "counts.parquet"
        for day, rows in data.groupby("day"):
            path = write(rows, tmp_path / f"{day}.csv")
            arguments = ["count", str(path), str(saved), "--add", "--label", "label", "--score",
                         "a"]  # fmt: skip
            assert run(arguments) == 0
        assert f"{exact.n_labeled} labeled" in capsys.readouterr().out
        assert Counts.from_parquet(saved) == exact
        assert run(["evaluate", str(saved), "--prior", "0.1"]) == 0
        assert "a naive" in capsys.readouterr().out
        assert run(["prior", str(saved)]) == 0
        assert run(["evaluate", str(saved), "--prior", "0.1", "--bins", "16"]) == 0
        assert "in bins (16" in capsys.readouterr().out
        path = write(data, tmp_path / "x.csv")
        replace = ["count", str(path), str(saved), "--label", "label", "--score", "b"]
        assert run([*replace, "--overwrite"]) == 0
        assert Counts.from_parquet(saved) == Counts.from_arrays(data["label"], data["b"])

    def test_counts_of_counts(self, data, tmp_path, exact):
        days = []
        for day, rows in data.groupby("day"):
            days.append(tmp_path / f"{day}.parquet")
            Counts.from_arrays(rows["label"], rows["a"]).to_parquet(days[-1])
        saved = tmp_path / "week.parquet"
        for day in days:
            assert run(["count", str(day), str(saved), "--add"]) == 0
        assert Counts.from_parquet(saved) == exact

    def test_refused(self, data, tmp_path, capsys):
        path, saved = write(data, tmp_path / "x.csv"), tmp_path / "counts.parquet"
        Counts.from_arrays(data["label"], data["a"]).to_parquet(saved)
        for arguments, message in (
            (["evaluate", str(path), "--prior", "0.1"], "--label is missing"),
            (["evaluate", str(path), "--label", "label"], "--score is missing"),
            (["evaluate", str(saved), "--label", "l", "--score", "a"], "holds saved counts"),
            (["count", str(saved), str(saved), "--overwrite", "--label", "l"], "Leave out --label"),
            (["count", str(path), str(saved), "--overwrite", "--label", "label"],
             "--score is missing"),
            (["count", str(path), str(path), "--add", "--label", "label", "--score", "a"],
             "must end in .parquet"),
        ):  # fmt: skip
            assert run(arguments) == 2
            assert message in capsys.readouterr().err
