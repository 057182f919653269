"""Damaged and handmade files of saved counts: the counts that were saved, or a message."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pueval import Counts, InputError
from pueval.commands.app import run
from pueval.sources.storage import KEY, is_counts_file, is_damaged, saved_name

RNG = np.random.default_rng(7)
Y = RNG.choice(3, 300, p=[0.6, 0.3, 0.1])
SCORE = np.round(RNG.normal(size=300), 2)
ROWS = Counts.from_arrays(Y, SCORE, negative_label=2)
SAVED = {
    "rows": ROWS,
    "bins": ROWS.to_bins(16),
    "weights": Counts.from_arrays(Y, SCORE, negative_label=2, sample_weight=RNG.random(300)),
    "float32": Counts.from_arrays(Y, SCORE.astype(np.float32), negative_label=2),
    "nothing": Counts.empty(),
}
CHANGES = 60


@pytest.fixture(params=SAVED)
def saved(request, tmp_path):
    path = tmp_path / "counts.parquet"
    SAVED[request.param].to_parquet(path, name="model")
    return path, SAVED[request.param]


def read(path):
    """Return the counts in a file, or None if it is refused; any other error fails the test."""
    for look in (is_counts_file, is_damaged):
        look(path)
    try:
        saved_name(path)
        return Counts.from_parquet(path)
    except InputError:
        return None


def test_changed_bytes(saved):
    """Most changes are in the last part, which describes the columns."""
    path, counts = saved
    content = path.read_bytes()
    rng = np.random.default_rng(3)
    for change in range(CHANGES):
        damaged = bytearray(content)
        first = 0 if change % 3 == 0 else max(len(content) - 2500, 0)
        damaged[rng.integers(first, len(content))] ^= int(rng.integers(1, 256))
        path.write_bytes(damaged)
        again = read(path)
        assert again is None or again == counts
        path.write_bytes(content[: rng.integers(len(content))])
        assert read(path) is None


@pytest.mark.parametrize("position", [*range(0, 1200, 100)])
def test_every_part_of_the_last_bytes(tmp_path, position):
    path = tmp_path / "counts.parquet"
    ROWS.to_parquet(path)
    content = path.read_bytes()
    for place in range(len(content) - 1 - position, len(content) - 101 - position, -7):
        damaged = bytearray(content)
        damaged[place] ^= 0xA5
        path.write_bytes(damaged)
        again = read(path)
        assert again is None or again == ROWS


@pytest.mark.parametrize(
    "header",
    [
        b"",
        b"null",
        b"\xff\xfe",
        b"[" * 100_000,
        b"1" * 5000,
        b'{"format": "counts", "version": 2, "bins": null, "totals": [NaN, NaN, NaN]}',
        b'{"format": "counts", "version": 2, "bins": null, "totals": [1e999, 1, 1]}',
    ],
)
def test_handmade_header(saved, header):
    path, _ = saved
    pq.write_table(pq.read_table(path).replace_schema_metadata({KEY: header}), path)
    assert read(path) is None


@pytest.mark.parametrize("name", ["format", "version", "bins", "totals"])
@pytest.mark.parametrize(
    "value", ["x", -1, 1.5, {}, True, [1], ["a"] * 3, [None] * 3, [10**400] * 3, 10**400, 2**21]
)
def test_handmade_values(saved, name, value):
    path, _ = saved
    table = pq.read_table(path)
    header = json.loads(table.schema.metadata[KEY]) | {name: value}
    pq.write_table(table.replace_schema_metadata({KEY: json.dumps(header).encode()}), path)
    assert read(path) is None


@pytest.mark.parametrize(("kind", "bins"), [("rows", 2), ("bins", None), ("bins", 2)])
def test_bins_that_are_not_those_of_the_scores(tmp_path, kind, bins):
    path = tmp_path / "counts.parquet"
    SAVED[kind].to_parquet(path)
    table = pq.read_table(path)
    header = json.loads(table.schema.metadata[KEY]) | {"bins": bins}
    pq.write_table(table.replace_schema_metadata({KEY: json.dumps(header).encode()}), path)
    with pytest.raises(InputError, match="do not fit the bins in its metadata"):
        Counts.from_parquet(path)


@pytest.mark.parametrize("column", ["score", "labeled", "negative", "wide"])
@pytest.mark.parametrize(
    "kind",
    [pa.null(), pa.string(), pa.list_(pa.int64()), pa.decimal128(5), pa.timestamp("s"),
     pa.struct([("a", pa.int64())]), pa.duration("s"), pa.uint64()],
    ids=str,
)  # fmt: skip
def test_columns_of_other_types(tmp_path, column, kind):
    path = tmp_path / "counts.parquet"
    ROWS.to_parquet(path)
    table = pq.read_table(path)
    at = table.column_names.index(column)
    pq.write_table(table.set_column(at, column, pa.nulls(len(table), kind)), path)
    assert read(path) is None


def test_command_line(tmp_path, capsys):
    path = tmp_path / "counts.parquet"
    ROWS.to_parquet(path)
    table = pq.read_table(path).replace_schema_metadata({KEY: b"[" * 100_000})
    pq.write_table(table, path)
    assert run(["evaluate", str(path), "--prior", "0.1"]) == 2
    assert "is not JSON. The file was changed; count the rows again." in capsys.readouterr().err
