"""Studies: the same numbers in any order, resumable, tidy."""

import json

import numpy as np
import pandas as pd
import pytest

from pueval import InputError
from pueval.simulate import _studies as studies
from pueval.simulate import study

CALLS = []


def draw(rng, size, kind="mean"):
    """At the top of the module, so that other processes can import it."""
    CALLS.append((size, kind))
    return {"value": rng.normal(size=size).mean(), "ok": np.bool_(True)}


def several(rng, size):
    return [{"part": k, "value": float(rng.random())} for k in range(size)]


GRID = {"size": [1, 10], "kind": ["mean", "other"]}


@pytest.fixture(autouse=True)
def _fresh():
    CALLS.clear()


def test_tidy():
    frame = study(draw, GRID, replications=3)
    assert list(frame.columns) == ["size", "kind", "replication", "value", "ok"]
    assert len(frame) == len(CALLS) == 12
    assert frame["replication"].tolist() == [0, 1, 2] * 4
    assert frame["value"].nunique() == 12
    assert frame["ok"].all()


def test_several_rows_per_replication():
    frame = study(several, [{"size": 2}, {"size": 3}], replications=2)
    assert frame[["size", "replication", "part"]].to_numpy().tolist() == [
        [2, 0, 0], [2, 0, 1], [2, 1, 0], [2, 1, 1],
        [3, 0, 0], [3, 0, 1], [3, 0, 2], [3, 1, 0], [3, 1, 1], [3, 1, 2],
    ]  # fmt: skip


def test_numbers_depend_on_seed_and_setting_only():
    whole = study(draw, GRID, replications=3)
    part = study(draw, [{"kind": "other", "size": 10}], replications=2)
    chosen = whole[(whole["size"] == 10) & (whole["kind"] == "other") & (whole["replication"] < 2)]
    assert part["value"].tolist() == chosen["value"].tolist()
    assert study(draw, GRID, replications=3, seed=1)["value"].tolist() != whole["value"].tolist()


def test_parallel_is_the_same():
    alone = study(draw, GRID, replications=3)
    together = study(draw, GRID, replications=3, n_jobs=2)
    pd.testing.assert_frame_equal(alone, together)


def test_resumes_where_it_stopped(tmp_path):
    path = tmp_path / "study.jsonl"

    def breaks(rng, size, kind):
        if len(CALLS) == 5:
            raise KeyboardInterrupt
        return draw(rng, size, kind)

    with pytest.raises(KeyboardInterrupt):
        study(breaks, GRID, replications=3, path=path)
    assert len(path.read_text().splitlines()) == 1 + 5
    # As if the machine had stopped in the middle of a line.
    with path.open("a") as stream:
        stream.write('{"key": "0 {')
    CALLS.clear()
    frame = study(draw, GRID, replications=3, path=path)
    assert len(CALLS) == 7
    pd.testing.assert_frame_equal(frame, study(draw, GRID, replications=3))
    assert all(map(json.loads, path.read_text().splitlines()))
    # More replications are added, nothing is run again.
    CALLS.clear()
    assert len(study(draw, GRID, replications=4, path=path)) == 16
    assert len(CALLS) == 4
    CALLS.clear()
    study(draw, GRID, replications=4, path=path)
    assert not CALLS


def test_undefined_numbers_survive_the_file(tmp_path):
    path = tmp_path / "study.jsonl"
    settings = {"size": [1]}
    first = study(lambda rng, size: {"value": np.nan}, settings, replications=1, path=path)
    again = study(lambda rng, size: {"value": 1.0}, settings, replications=1, path=path)
    assert first["value"].isna().all()
    assert again["value"].isna().all()


def test_progress(capsys):
    study(draw, {"size": [1]}, replications=4, progress=True)
    assert "4/4" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("settings", "more", "message"),
    [
        ({"size": 3}, {}, "'size' must be a list of values; got 3"),
        ({"size": "abc"}, {}, "'size' must be a list of values"),
        ({"size": []}, {}, "'size' has no values"),
        ([], {}, "settings must not be empty"),
        ([{"size": 1}, {"size": 1}], {}, "duplicate setting"),
        ({"replication": [1]}, {}, "cannot be the name of a setting"),
        ({"size": [object()]}, {}, "'size' must be a number, string"),
        ({"size": [1]}, {"replications": 0}, "replications must be a whole number"),
        ({"size": [1]}, {"seed": -1}, "seed must be a whole number of at least 0"),
        ({"size": [1]}, {"path": "/nowhere/there/x.jsonl"}, "cannot be written"),
    ],
)
def test_bad_settings(settings, more, message):
    with pytest.raises(InputError, match=message):
        study(draw, settings, **({"replications": 1} | more))


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        ({"size": 1}, r"returned \['size'\]"),
        ({"value": np.ones(2)}, "'value' must be a number"),
        ([3], "a mapping or a list of mappings; got int"),
    ],
)
def test_bad_results(returned, message):
    with pytest.raises(InputError, match=message):
        study(lambda rng, size: returned, {"size": [1]}, replications=1)


def test_files_of_others_are_left_alone(tmp_path):
    path = tmp_path / "study.jsonl"
    study(draw, {"size": [1]}, replications=1, seed=3, path=path)
    with pytest.raises(InputError, match="a study with seed 3; got seed 0"):
        study(draw, {"size": [1]}, replications=1, path=path)
    other = tmp_path / "notes.txt"
    other.write_text("dear diary\n")
    with pytest.raises(InputError, match="was not written by study"):
        study(draw, {"size": [1]}, replications=1, path=other)
    assert other.read_text() == "dear diary\n"


def test_seed_of_numpy(tmp_path):
    path = tmp_path / "study.jsonl"
    found = study(draw, GRID, replications=1, seed=np.int64(3), path=path)
    assert found["value"].tolist() == study(draw, GRID, replications=1, seed=3)["value"].tolist()


def test_broken_off_while_its_first_line_was_written(tmp_path):
    path = tmp_path / "study.jsonl"
    study(draw, GRID, replications=1, path=path)
    path.write_bytes(path.read_bytes()[:20])
    assert len(study(draw, GRID, replications=1, path=path)) == 4
    assert len(path.read_text().splitlines()) == 5


def test_broken_line_is_cut_off_in_place(tmp_path, monkeypatch):
    """To write the whole file again would lose it if that were broken off, too."""
    path = tmp_path / "study.jsonl"
    study(draw, GRID, replications=2, path=path)
    path.write_bytes(path.read_bytes()[:-5])
    written = []
    before = studies._ResultFile._write

    def write(self, text, *, mode):
        written.append(mode)
        before(self, text, mode=mode)

    monkeypatch.setattr(studies._ResultFile, "_write", write)
    assert len(study(draw, GRID, replications=2, path=path)) == 8
    assert written == ["a"]
    assert len(path.read_text().splitlines()) == 9


@pytest.mark.parametrize(
    "content",
    [b"\xff\xfe\x00", b'{"study": "pueval.simulate.study"}\n', b"label,score\n1,0.5\n", b"notes"],
)
def test_other_files_are_refused(tmp_path, content):
    path = tmp_path / "study.jsonl"
    path.write_bytes(content)
    with pytest.raises(InputError, match="was not written by study"):
        study(draw, GRID, replications=1, path=path)
    assert path.read_bytes() == content


def test_folders_are_refused(tmp_path):
    with pytest.raises(InputError, match="cannot be read: Is a directory"):
        study(draw, GRID, replications=1, path=tmp_path)


def test_bad_arguments():
    with pytest.raises(InputError, match="n_jobs must be a nonzero whole number; got 0"):
        study(draw, GRID, replications=1, n_jobs=0)
    with pytest.raises(InputError, match="names of settings must be strings; got 1"):
        study(draw, [{1: 2}], replications=1)
    with pytest.raises(InputError, match="must return a mapping or a list of mappings; got None"):
        study(lambda rng, size: None, {"size": [1]}, replications=1)
