"""Counts in files: kept whole, refused if they are not."""

import json
import os
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pueval import Counts, InputError, MissingPackageError, evaluate
from pueval.sources.storage import KEY, is_counts_file


@pytest.fixture
def counts(rng):
    y = rng.choice(3, 2000, p=[0.6, 0.3, 0.1])
    return Counts.from_arrays(y, np.round(rng.normal(size=2000), 2), negative_label=2)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "counts.parquet"


class TestRoundTrip:
    def test_exact(self, counts, path):
        counts.to_parquet(path)
        again = Counts.from_parquet(str(path))
        assert again == counts
        assert again._has_integer_counts
        assert isinstance(again.n_labeled, int)
        assert is_counts_file(path)

    def test_binned(self, counts, path):
        counts.to_bins(16).to_parquet(path)
        again = Counts.from_parquet(path)
        assert again == counts.to_bins(16)
        assert again.auc_error() == counts.to_bins(16).auc_error() > 0
        assert again + counts == (counts + counts).to_bins(16)

    def test_weights(self, rng, path):
        y, score, weight = rng.choice(2, 500), rng.random(500), rng.exponential(size=500)
        counts = Counts.from_arrays(y, score, sample_weight=weight)
        counts.to_parquet(path)
        again = Counts.from_parquet(path)
        assert again == counts
        assert again.effective_sizes == pytest.approx(counts.effective_sizes)
        mine, other = (evaluate(one, prior=0.1) for one in (again, counts))
        assert mine["roc_auc"].low == pytest.approx(other["roc_auc"].low)

    def test_float32(self, rng, path):
        counts = Counts.from_arrays([1, 0, 0], np.array([0.1, 0.2, 0.3], dtype=np.float32))
        counts.to_parquet(path)
        assert Counts.from_parquet(path).score.dtype == np.float32

    def test_no_rows(self, path):
        Counts.empty().to_parquet(path)
        assert Counts.from_parquet(path) == Counts.empty()

    def test_day_after_day(self, rng, path):
        """A job adds each day's rows to those of the days before."""
        days = [(rng.random(300) < 0.2, rng.random(300)) for _ in range(5)]
        Counts.empty().to_parquet(path)
        for y, score in days:
            counts = Counts.from_parquet(path)
            counts += Counts.from_arrays(y, score)
            counts.to_parquet(path)
        y, score = (np.concatenate(column) for column in zip(*days, strict=True))
        assert Counts.from_parquet(path) == Counts.from_arrays(y, score)


class TestRefused:
    def refused(self, match, path):
        with pytest.raises(InputError, match=match):
            Counts.from_parquet(path)

    def test_not_there(self, tmp_path):
        self.refused("file not found", tmp_path / "nothing.parquet")

    @pytest.mark.parametrize("share", [0.0, 0.3, 0.9, 0.999])
    def test_cut_short(self, counts, path, share):
        counts.to_parquet(path)
        content = path.read_bytes()
        path.write_bytes(content[: int(share * len(content))])
        self.refused("is damaged, incomplete or not a Parquet file", path)

    def test_one_flipped_bit(self, rng, path):
        """Checksums find what the structure of the file does not show."""
        counts = Counts.from_arrays(rng.choice(2, 3000), rng.random(3000))
        counts.to_parquet(path)
        content = bytearray(path.read_bytes())
        content[len(content) // 4] ^= 4
        path.write_bytes(content)
        self.refused("damaged", path)

    def test_foreign(self, path):
        pq.write_table(pa.table({"label": [1, 0], "score": [0.5, 0.4]}), path)
        self.refused("not one of Counts.to_parquet. For a table of rows use Counts.from_file", path)
        assert not is_counts_file(path)
        path.write_text("no Parquet file at all")
        self.refused("damaged", path)
        assert not is_counts_file(path)

    def changed(self, counts, path, change, about=None):
        counts.to_parquet(path)
        table = pq.read_table(path)
        metadata = json.loads(table.schema.metadata[KEY]) | (about or {})
        table = change(table).replace_schema_metadata({KEY: json.dumps(metadata).encode()})
        pq.write_table(table, path)

    def test_squares_that_do_not_fit(self, path):
        counts = Counts.from_arrays([1, 0, 0], [3.0, 2.0, 1.0], sample_weight=[0.5, 1.5, 2.5])

        def without(table):
            at = table.column_names.index("unlabeled_squared")
            return table.set_column(at, "unlabeled_squared", pa.array([1.0, 2.25, 6.25]))

        self.changed(counts, path, without)
        self.refused("do not add up to the totals in its metadata", path)

    def test_other_versions(self, counts, path):
        self.changed(counts, path, lambda table: table, {"version": 99})
        self.refused("has format version 99; this pueval reads version 2", path)

    def test_changed_content(self, counts, path):
        self.changed(counts, path, lambda table: table.slice(1))
        self.refused("do not add up to the totals in its metadata", path)
        self.changed(counts, path, lambda table: table.drop_columns("negative"))
        self.refused("must have the columns score, labeled, unlabeled, negative, wide", path)
        self.changed(counts, path, lambda table: table.sort_by("score"))
        self.refused("scores are out of order", path)

    def test_without_pyarrow(self, counts, path, monkeypatch):
        monkeypatch.setitem(sys.modules, "pyarrow", None)
        with pytest.raises(MissingPackageError, match=r'pip install "pueval\[cli\]"'):
            counts.to_parquet(path)


class TestWriting:
    def test_nowhere(self, counts):
        with pytest.raises(InputError, match="cannot be written"):
            counts.to_parquet("/nowhere/at/all.parquet")

    def test_a_failure_leaves_the_old_file(self, counts, path, monkeypatch):
        counts.to_parquet(path)
        before = path.read_bytes()

        def full(*args, **given):
            raise OSError(28, "No space left on device")

        monkeypatch.setattr("pyarrow.parquet.write_table", full)
        with pytest.raises(InputError, match="No space left on device"):
            (counts + counts).to_parquet(path)
        assert path.read_bytes() == before
        assert [file.name for file in path.parent.iterdir()] == ["counts.parquet"]

    def test_a_killed_writer_leaves_the_old_file(self, counts, path):
        """The process dies while the new file is written: the old one is whole."""
        counts.to_parquet(path)
        code = (
            "import os, sys, pyarrow.parquet as pq\n"
            "from pueval import Counts\n"
            "write = pq.write_table\n"
            "def die(table, where, **given):\n"
            "    open(where, 'wb').write(b'PAR1 half of it')\n"
            "    os._exit(9)\n"
            "pq.write_table = die\n"
            "Counts.from_parquet(sys.argv[1]).to_bins(4).to_parquet(sys.argv[1])\n"
        )
        done = subprocess.run([sys.executable, "-c", code, str(path)], check=False)
        assert done.returncode == 9
        assert Counts.from_parquet(path) == counts

    def test_permissions_are_those_of_any_new_file(self, counts, path):
        counts.to_parquet(path)
        umask = os.umask(0)
        os.umask(umask)
        assert path.stat().st_mode & 0o777 == 0o666 & ~umask
