"""Files that are not as they should be: read rightly, or refused with a reason."""

import bz2
import gzip
import io
import lzma
import zipfile

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pueval import Counts, InputError, doctor, tally

# Tornado leaves sockets to the garbage collector while it looks for a free port.
pytestmark = pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")


def read(path, **more):
    return Counts.from_file(path, **({"label": "label", "score": "score"} | more))


@pytest.fixture
def table():
    return pa.table({"label": [1, 0, 0, 1], "score": [4.0, 3.0, 2.0, 1.0]})


@pytest.fixture
def counts(table):
    return Counts.from_arrays(table["label"], table["score"])


class TestFolderNames:
    """A folder such as ``score=7`` is no reason to forget the scores."""

    @pytest.mark.parametrize("engine", ["duckdb", "polars"])
    @pytest.mark.parametrize("bins", ["auto", 2**20])
    @pytest.mark.parametrize("what", ["", "x.parquet", "*.parquet"])
    def test_columns_of_files_win(self, tmp_path, table, counts, engine, bins, what):
        folder = tmp_path / "score=7"
        folder.mkdir()
        pq.write_table(table, folder / "x.parquet")
        found = read(folder / what, engine=engine, bins=bins)
        assert found.score.tolist() == counts.score.tolist()

    @pytest.mark.parametrize("suffix", ["csv", "parquet"])
    def test_of_the_folder_itself(self, tmp_path, table, counts, suffix):
        folder = tmp_path / "all" / "score=7"
        folder.mkdir(parents=True)
        duckdb.from_arrow(table).query("t", "COPY t TO '{}'".format(folder / f"x.{suffix}"))
        assert read(tmp_path / "all") == counts

    def test_one_that_is_needed_beside_one_that_is_not(self, tmp_path, table):
        folder = tmp_path / "score=7" / "day=1"
        folder.mkdir(parents=True)
        pq.write_table(table, folder / "x.parquet")
        with pytest.raises(InputError, match="'score' and lies in a folder of that name"):
            tally(tmp_path / "score=7", label="label", scores="score", by="day")


class TestTwiceTheSameName:
    @pytest.mark.parametrize("engine", ["duckdb", "polars", "dask"])
    def test_csv(self, tmp_path, engine):
        path = tmp_path / "x.csv"
        path.write_text("label,score,score\n1,4,1\n0,3,2\n")
        with pytest.raises(InputError, match="more than one column 'score'"):
            read(path, engine=engine)

    @pytest.mark.parametrize("bins", ["auto", 16])
    def test_parquet(self, tmp_path, bins):
        columns = [pa.array([1, 0]), pa.array([4.0, 3.0]), pa.array([1.0, 2.0])]
        path = tmp_path / "x.parquet"
        pq.write_table(pa.table(columns, names=["label", "score", "score"]), path)
        with pytest.raises(InputError, match="more than one column 'score'"):
            read(path, bins=bins)
        assert read(path, score="label", bins=bins).n == 2

    @pytest.mark.parametrize("bins", ["auto", 16])
    def test_frame(self, bins):
        columns = [pa.array([1, 0]), pa.array([4.0, 3.0]), pa.array([1.0, 2.0])]
        frame = pa.table(columns, names=["label", "score", "score"])
        with pytest.raises(InputError, match="unique"):
            Counts.from_frame(frame, label="label", score="score", bins=bins)
        with pytest.raises(InputError, match="unique"):
            tally(frame, label="label", scores="score", bins=bins)


def test_names_that_are_numbers():
    frame = pd.DataFrame([[1, 2], [0, 3]])
    for label in (0, 7):
        with pytest.raises(InputError, match=f"must be text; got {label} for the label column"):
            Counts.from_frame(frame, label=label, score=1)


class TestPacked:
    @pytest.mark.parametrize("engine", ["duckdb", "polars", "dask"])
    def test_not_packed_at_all(self, tmp_path, engine):
        path = tmp_path / "x.csv.gz"
        path.write_text("label,score\n1,4\n0,3\n")
        with pytest.raises(InputError, match=r"x\.csv\.gz could not be read as a table: Not a gz"):
            read(path, engine=engine)

    @pytest.mark.parametrize("length", [5, 30])
    def test_cut_short(self, tmp_path, length):
        path = tmp_path / "x.csv.gz"
        path.write_bytes(gzip.compress(b"label,score\n1,4\n0,3\n" * 50)[:length])
        with pytest.raises(InputError, match=r"x\.csv\.gz could not be read as a table"):
            read(path)

    def test_damaged(self, tmp_path):
        path = tmp_path / "x.csv.gz"
        packed = bytearray(gzip.compress(b"label,score\n1,4\n0,3\n"))
        packed[10:20] = b"\xff" * 10
        path.write_bytes(packed)
        with pytest.raises(InputError, match=r"x\.csv\.gz could not be read as a table"):
            read(path)


class TestZstd:
    CONTENT = b"label,score\n" + b"1,4\n0,3\n" * 50

    @pytest.mark.parametrize("engine", ["duckdb", "polars", "dask"])
    def test_read(self, tmp_path, engine):
        plain, path = tmp_path / "x.csv", tmp_path / "x.csv.zst"
        plain.write_bytes(self.CONTENT)
        path.write_bytes(pa.compress(self.CONTENT, codec="zstd", asbytes=True))
        assert read(path, engine=engine) == read(plain)
        assert doctor(path).rows == 100

    def test_several_frames(self, tmp_path):
        path = tmp_path / "x.csv.ZST"
        parts = (self.CONTENT, b"1,5\n")
        path.write_bytes(b"".join(pa.compress(p, codec="zstd", asbytes=True) for p in parts))
        assert read(path).n == 101

    @pytest.mark.parametrize("length", [5, 20, -1])
    def test_cut_short(self, tmp_path, length):
        path = tmp_path / "x.csv.zst"
        path.write_bytes(pa.compress(self.CONTENT, codec="zstd", asbytes=True)[:length])
        with pytest.raises(InputError, match=r"x\.csv\.zst could not be read as a table"):
            read(path)

    def test_not_packed_at_all(self, tmp_path):
        path = tmp_path / "x.csv.zst"
        path.write_bytes(self.CONTENT)
        with pytest.raises(InputError, match=r"x\.csv\.zst could not be read as a table"):
            read(path)

    def test_another_name(self, tmp_path):
        path = tmp_path / "x.csv"
        path.write_bytes(pa.compress(self.CONTENT, codec="zstd", asbytes=True))
        with pytest.raises(InputError, match=r"compressed with zstd. Rename it to end in .csv.zst"):
            read(path)


@pytest.mark.parametrize("name", ["bzip2", "xz", "zip"])
def test_compressions_that_cannot_be_read(tmp_path, name):
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr("x.csv", TestZstd.CONTENT)
    packed = {
        "bzip2": bz2.compress(TestZstd.CONTENT),
        "xz": lzma.compress(TestZstd.CONTENT),
        "zip": content.getvalue(),
    }[name]
    path = tmp_path / f"x.csv.{name.replace('bzip2', 'bz2')}"
    path.write_bytes(packed)
    for look in (read, doctor):
        with pytest.raises(InputError, match=f"with {name}, .* gzip .*zstd") as error:
            look(path)
        assert str(error.value).isascii()


@pytest.mark.parametrize("suffix", ["gz", "zst"])
def test_packed_and_empty(tmp_path, suffix):
    path = tmp_path / f"x.csv.{suffix}"
    path.write_bytes(gzip.compress(b"") if suffix == "gz" else pa.compress(b"", "zstd", True))
    with pytest.raises(InputError, match=f"x.csv.{suffix} is empty"):
        read(path)


class TestNoHeader:
    @pytest.mark.parametrize("engine", ["duckdb", "polars", "dask"])
    def test_the_same_number_twice(self, tmp_path, engine):
        path = tmp_path / "x.csv"
        path.write_text("0,0,0.25\n1,0,-1e-3\n")
        message = r"no header line.*\('0', '0', '0.25'\)\. Add a first line with names, such as"
        with pytest.raises(InputError, match=message):
            read(path, label="0", score="0.25", engine=engine)
        with pytest.raises(InputError, match=message):
            doctor(path)

    def test_a_column_that_does_not_exist(self, tmp_path):
        path = tmp_path / "x.csv"
        path.write_text("0,0.25\n1,0.5\n")
        with pytest.raises(InputError, match="'0', '0.25'. All of them are numbers: the header"):
            read(path)

    def test_numbers_as_names(self, tmp_path):
        """Tools number columns that have no names."""
        path = tmp_path / "x.csv"
        path.write_text("0,1\n1,0.25\n0,0.5\n")
        assert read(path, label="0", score="1").n == 2
        with pytest.raises(InputError) as error:
            read(path)
        assert "header" not in str(error.value)


class TestTypes:
    @pytest.mark.parametrize("kind", ["DATE", "INTEGER[]", "BLOB", "STRUCT(a INTEGER)"])
    def test_no_numbers(self, tmp_path, kind):
        values = {"DATE": "DATE '2020-01-01'", "INTEGER[]": "[1]", "BLOB": "'a'::BLOB"}
        path = tmp_path / "x.parquet"
        value = values.get(kind, "{'a': 1::INTEGER}")
        duckdb.sql(f"SELECT i % 2 AS label, {value} AS score FROM range(4) t(i)").write_parquet(  # noqa: S608
            str(path)
        )
        with pytest.raises(InputError, match="score column 'score' must hold numbers; got type"):
            read(path)

    def test_words_for_categories(self, tmp_path):
        text = pa.array(["1.5", "2.5", "1.5"]).dictionary_encode()
        path = tmp_path / "x.parquet"
        pq.write_table(pa.table({"label": [1, 0, 0], "score": text}), path)
        assert read(path).score.tolist() == [2.5, 1.5]

    @pytest.mark.parametrize("value", ["inf", "-inf", "1e400"])
    @pytest.mark.parametrize("engine", ["duckdb", "polars", "dask"])
    def test_infinite(self, tmp_path, value, engine):
        path = tmp_path / "x.csv"
        path.write_text(f"label,score\n1,4\n0,{value}\n")
        with pytest.raises(InputError, match="1 row with an infinite score"):
            read(path, engine=engine)


class TestMissingLabels:
    def test_nan_may_mean_unlabeled(self, tmp_path, counts):
        """The message for missing labels says how to say so, and that works."""
        path = tmp_path / "x.parquet"
        label = np.array([1.0, np.nan, np.nan, 1.0])
        pq.write_table(pa.table({"label": label, "score": [4.0, 3.0, 2.0, 1.0]}), path)
        with pytest.raises(InputError, match=r"2 rows have no label.*unlabeled_label=''"):
            read(path)
        assert read(path, unlabeled_label="") == counts
        by = tally(path, label="label", scores="score", by="score", unlabeled_label="")
        assert by[3.0,]["score"].n_unlabeled == 1


class TestLabels:
    def test_bytes(self):
        y = np.array([b"yes", b"no", b"no"])
        counts = Counts.from_arrays(y, [3, 2, 1], pos_label=b"yes", unlabeled_label=b"no")
        assert (counts.n_labeled, counts.n_unlabeled) == (1, 2)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b'[{"label": 1, "model": 0.5}]', "looks like JSON"),
        (b"PK\x03\x04 and so on", "is a spreadsheet or another archive"),
        (b"label," + b"x" * 200_000 + b"\n1,2\n", "is not a CSV header"),
        (b"label;model\n1;0,5\n0;0,25\n", "Write decimals with a point"),
    ],
)
def test_what_is_no_csv(tmp_path, content, said):
    path = tmp_path / "rows.txt"
    path.write_bytes(content)
    with pytest.raises(InputError, match=said):
        Counts.from_file(path, label="label", score="model")
