"""Files from strangers: they are data, and cannot make pueval read others or fill the memory."""

import gzip
import os
import sqlite3

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest

from pueval import Counts, InputError, poisson_resamples, tally
from pueval._writing import atomic_path
from pueval.commands.app import run
from pueval.sources.duckdb_connections import restricted_connection


def read(path, **more):
    return Counts.from_file(path, **({"label": "label", "score": "score"} | more))


class TestDatabases:
    @pytest.fixture
    def database(self, tmp_path):
        (tmp_path / "secret.csv").write_text("label,score,g\n1,0.9,password\n0,0.1,hidden\n")
        path = tmp_path / "x.db"
        with duckdb.connect(str(path)) as connection:
            rows = f"read_csv('{tmp_path / 'secret.csv'}')"
            connection.execute(f"CREATE VIEW view AS SELECT * FROM {rows}")  # noqa: S608
            pattern = f"glob('{tmp_path}/*')"
            query = f"SELECT file AS g, 1 AS label, 0.5 AS score FROM {pattern}"  # noqa: S608
            connection.execute(f"CREATE VIEW names AS {query}")
            connection.execute("CREATE TABLE rows AS SELECT 1 AS label, 0.5 AS score, 'a' AS g")
            connection.execute("CREATE VIEW good AS SELECT * FROM rows")
        return path

    @pytest.mark.parametrize("table", ["view", "names"])
    def test_views_read_no_other_files(self, database, table, capsys):
        address = f"duckdb:///{database}?table={table}"
        for attempt in (read, lambda path: tally(path, label="label", scores="score", by="g")):
            with pytest.raises(InputError, match="could not be read as a table: Permission Error"):
                attempt(address)
        arguments = ["evaluate", address, "--label", "label", "--score", "score", "--by", "g"]
        assert run([*arguments, "--prior", "0.1"]) == 2
        assert run(["doctor", address]) == 2
        printed = capsys.readouterr()
        assert "password" not in printed.out + printed.err

    @pytest.mark.parametrize("table", ["rows", "good"])
    def test_tables_and_views_of_the_database_are_read(self, database, table):
        assert read(f"duckdb:///{database}?table={table}").n == 1

    def test_log_beside_the_database(self, tmp_path):
        """A database that was not closed has its last rows in a log."""
        path = tmp_path / "x.db"
        connection = duckdb.connect(str(path))
        connection.execute("SET checkpoint_threshold = '1GB'; SET wal_autocheckpoint = '1GB'")
        connection.execute("CREATE TABLE rows AS SELECT 1 AS label, 0.5 AS score")
        copy = tmp_path / "copy.db"
        for suffix in ("", ".wal"):
            (tmp_path / f"copy.db{suffix}").write_bytes((tmp_path / f"x.db{suffix}").read_bytes())
        connection.close()
        assert (tmp_path / "copy.db.wal").stat().st_size
        assert read(f"duckdb:///{copy}?table=rows").n == 1

    def test_no_extension_is_looked_for(self, tmp_path):
        path = tmp_path / "x.db"
        with sqlite3.connect(path) as connection:
            connection.execute("CREATE TABLE rows (label, score)")
        connection.close()
        with pytest.raises(InputError, match="could not be read as a table") as caught:
            read(f"duckdb:///{path}?table=rows")
        assert "download" not in str(caught.value).lower()
        assert "disabled" in str(caught.value)

    def test_connections_stay_restricted(self, tmp_path):
        (tmp_path / "other.csv").write_text("a\n1\n")
        with restricted_connection([]) as connection:
            for query in (
                f"SELECT * FROM read_csv('{tmp_path / 'other.csv'}')",  # noqa: S608
                f"SELECT * FROM read_text('{tmp_path / 'other.csv'}')",  # noqa: S608
                f"COPY (SELECT 1) TO '{tmp_path / 'new.csv'}'",
                f"ATTACH '{tmp_path / 'new.db'}'",
                "SET enable_external_access = true",
                "SET autoinstall_known_extensions = true",
                "INSTALL httpfs",
                "LOAD httpfs",
            ):
                with pytest.raises(duckdb.Error, match=r"disabled|locked"):
                    connection.execute(query)


@pytest.mark.parametrize("name", ["x.parquet", "x.arrow", "x.csv.gz"])
def test_doctor_of_damaged_files(tmp_path, name, capsys):
    path = tmp_path / name
    path.write_bytes(b"PAR1 not a table PAR1")
    assert run(["doctor", str(path)]) == 2
    assert "could not be read as a table" in capsys.readouterr().err


def test_empty_name(capsys):
    with pytest.raises(InputError, match="name of the file is empty"):
        read("")
    for command in ("evaluate", "prior", "doctor"):
        assert run([command, ""]) == 2
    assert "name of the file is empty" in capsys.readouterr().err


class TestLongLines:
    def test_header_without_end(self, tmp_path):
        """1.9 MB of this would take 4 GB."""
        path = tmp_path / "x.csv.gz"
        path.write_bytes(gzip.compress(b"label,score," + b"x," * 3_000_000, 1))
        with pytest.raises(InputError, match=r"is not a CSV header: it has more than 1,048,576 ch"):
            read(path)

    def test_wide_table(self, tmp_path):
        """With the wrong delimiter, the line is one long name."""
        names = [f"column_with_a_long_name_{k}" for k in range(8_000)]
        path = tmp_path / "x.csv"
        path.write_text(
            f"{','.join(names)},label,score\n"
            + "".join("1," * 8_000 + f"{k},{k}\n" for k in (0, 1))
        )
        assert read(path).score.tolist() == [1, 0]

    def test_long_name(self, tmp_path):
        path = tmp_path / "x.csv"
        path.write_text(f"label,score,{'x' * 200_000}\n1,2,3\n")
        with pytest.raises(InputError, match="a name in it has more than 131,072 characters"):
            read(path)

    @pytest.mark.parametrize("end", ["", "\n", "\r\n\r\n"])
    @pytest.mark.parametrize("name", ["x.csv", "x.csv.gz"])
    def test_last_line(self, tmp_path, name, end):
        """DuckDB drops it without a word if it is longer than its buffer."""
        content = f"note,label,score\nx,1,0.9\ny,0,0.1\n{'z' * 40_000_000},1,0.5{end}".encode()
        path = tmp_path / name
        path.write_bytes(gzip.compress(content, 1) if name.endswith("gz") else content)
        with pytest.raises(InputError, match="its last line has more than 2,000,000 bytes"):
            read(path)

    def test_lines_that_are_not_too_long(self, tmp_path):
        path = tmp_path / "x.csv"
        long = "z" * 1_500_000
        path.write_text(f"note,label,score\n{long},1,0.9\n{long},0,0.1\n{long},0,0.2\n")
        assert read(path).n == 3


@pytest.mark.parametrize("value", ["-nan", "nan", "+NaN"])
def test_nan_with_a_sign(tmp_path, value):
    path = tmp_path / "x.csv"
    path.write_text(f"label,score\n1,{value}\n0,0.1\n")
    with pytest.raises(InputError, match="1 row with a missing score"):
        read(path)


def test_integers_that_floats_cannot_hold(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("label,score\n1,9007199254740993\n0,9007199254740992\n1,5\n")
    with pytest.raises(InputError, match=r"within ±2\*\*53.*got 1 beyond in column 'score'"):
        read(path)


class TestNamesThatArePatterns:
    """Polars takes ^s.*$ for all columns that begin with s."""

    FRAME = pl.DataFrame(
        {"^s.*$": [4.0, 3, 2, 1], "score": [0.0, 0, 0, 0], "^l.*$": [1, 0, 0, 1],
         "label": [0, 1, 0, 1], "^k$": [1, 2, 3, 4], "column0": [9, 9, 9, 9]}
    )  # fmt: skip
    RIGHT = Counts.from_arrays([1, 0, 0, 1], [4.0, 3, 2, 1])

    @pytest.mark.parametrize("lazy", [False, True])
    def test_frames(self, lazy):
        frame = self.FRAME.lazy() if lazy else self.FRAME
        assert Counts.from_frame(frame, label="^l.*$", score="^s.*$") == self.RIGHT
        found = tally(frame, label="^l.*$", scores=["^s.*$"], by="^k$")
        assert [group for (group,) in found] == [1, 2, 3, 4]
        assert sum(models["^s.*$"] for models in found.values()) == self.RIGHT

    def test_messages_have_the_names(self):
        frame = self.FRAME.lazy().with_columns(pl.lit(7).alias("other"))
        with pytest.raises(InputError, match=r"no score column '\^x\$'"):
            Counts.from_frame(frame, label="^l.*$", score="^x$")
        with pytest.raises(InputError, match="4 rows with an unrecognized label: 7"):
            Counts.from_frame(frame, label="other", score="^s.*$")

    def test_resamples(self):
        given = {"label": "^l.*$", "n_resamples": 3, "seed": 1}
        plain = self.FRAME.select(
            pl.nth(0).alias("a"), pl.nth(2).alias("^l.*$"), pl.nth(4).alias("key")
        )
        found = poisson_resamples(self.FRAME.lazy(), scores="^s.*$", key="^k$", **given)
        right = poisson_resamples(plain.lazy(), scores="a", key="key", **given)
        assert list(found["^s.*$"]) == list(right["a"])


class TestTerminal:
    def test_control_characters_are_not_printed(self, tmp_path, capsys):
        rng = np.random.default_rng(0)
        name, group = "\x1b]0;title\x07", "\x1b[2J\u202e\x9b1m"
        y = rng.integers(0, 2, 400)
        frame = pd.DataFrame({"label": y, name: rng.random(400) + y, "g": [group, "b"] * 200})
        path = tmp_path / "x.csv"
        frame.to_csv(path, index=False)
        arguments = [str(path), "--label", "label", "--score", name]
        assert run(["evaluate", *arguments, "--prior", "0.1"]) in {0, 3}
        assert run(["evaluate", *arguments, "--prior", "0.1", "--by", "g"]) in {0, 3}
        assert run(["doctor", str(path)]) in {0, 3}
        assert run(["evaluate", str(path), "--label", name, "--score", name]) == 2
        printed = capsys.readouterr()
        assert "\\x1b]0;title\\x07" in printed.out
        for character in "\x1b\x07\x9b\u202e":
            assert character not in printed.out + printed.err


@pytest.mark.skipif(os.name != "posix", reason="Windows has no umask")
def test_umask_is_not_touched(tmp_path, monkeypatch):
    """Not even for a moment: a file that another thread creates then would be open to all."""
    before = os.umask(0o027)
    try:
        with monkeypatch.context() as patch:
            patch.setattr(os, "umask", None)
            with atomic_path(tmp_path / "x"):
                pass
    finally:
        os.umask(before)
    assert (tmp_path / "x").stat().st_mode & 0o777 == 0o640
    assert not list(tmp_path.glob(".*"))
