"""The command line loses no data, ignores no option, and ends in a message whatever happens."""

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest

from pueval import Counts
from pueval.commands import app
from pueval.commands.app import run

COLUMNS = ["--label", "label", "--score", "model"]
PRIOR = ["--prior", "0.1", "--no-intervals"]


@pytest.fixture
def rows(tmp_path, rng):
    y = (rng.random(200) < 0.3).astype(int)
    path = tmp_path / "rows.parquet"
    pd.DataFrame({"label": y, "model": rng.normal(size=200) + y, "spam": y}).to_parquet(path)
    return path


@pytest.fixture
def saved(rows, tmp_path):
    path = tmp_path / "counts.parquet"
    assert run(["count", str(rows), str(path), *COLUMNS, "--bins", "16"]) == 0
    return path


def refused(capsys, *arguments):
    """Run a command that must fail; return what it says."""
    assert run([str(argument) for argument in arguments]) == 2
    printed = capsys.readouterr()
    assert "Warning" not in printed.err
    return printed.err


class TestCount:
    def test_rows_are_not_replaced(self, rows, tmp_path, capsys):
        before = rows.read_bytes()
        said = refused(capsys, "count", rows, rows, *COLUMNS)
        assert "rows.parquet already exists and does not hold counts" in said
        other = tmp_path / "other.parquet"
        other.write_text("notes")
        assert "does not hold counts" in refused(capsys, "count", rows, other, *COLUMNS)
        assert rows.read_bytes() == before
        assert other.read_text() == "notes"

    def test_nothing_is_added_to_other_files(self, rows, saved, capsys):
        before = rows.read_bytes()
        said = refused(capsys, "count", rows, rows, "--add", *COLUMNS)
        assert "not one of Counts.to_parquet" in said
        assert rows.read_bytes() == before
        saved.write_bytes(saved.read_bytes()[:-100])
        said = refused(capsys, "count", rows, saved, "--add", *COLUMNS)
        assert "damaged, incomplete or not a Parquet file" in said

    def test_counts_are_not_added_to_themselves(self, saved, tmp_path, capsys):
        before = saved.read_bytes()
        link = tmp_path / "link.parquet"
        link.symlink_to(saved)
        for file in (saved, link):
            said = refused(capsys, "count", file, saved, "--add")
            assert "its rows would count twice" in said
        assert saved.read_bytes() == before

    def test_processes_add_to_one_file(self, rows, tmp_path):
        """Each process reads, adds and writes while the others wait."""
        total = tmp_path / "total.parquet"
        command = [sys.executable, "-m", "pueval", "count", str(rows), str(total), "--add"]
        processes = [
            subprocess.Popen([*command, *COLUMNS], stdout=subprocess.PIPE) for _ in range(6)
        ]
        for process in processes:
            process.communicate()
        assert [process.returncode for process in processes] == [0] * 6
        assert Counts.from_parquet(total).n == 6 * 200
        assert sorted(file.name for file in tmp_path.iterdir()) == ["rows.parquet", total.name]

    def test_counts_are(self, rows, saved, capsys):
        said = refused(capsys, "count", rows, saved, *COLUMNS)
        assert "counts.parquet already exists. Pass --overwrite to replace it, or --add" in said
        assert Counts.from_parquet(saved).bins == 16
        both = ["--add", "--overwrite"]
        assert "--add cannot be combined" in refused(capsys, "count", rows, saved, *COLUMNS, *both)
        assert run(["count", str(rows), str(saved), *COLUMNS, "--overwrite"]) == 0
        assert Counts.from_parquet(saved).bins is None

    def test_name_that_other_commands_would_not_know(self, rows, tmp_path, capsys):
        said = refused(capsys, "count", rows, tmp_path / "counts.dat", *COLUMNS)
        assert "must end in .parquet or .pq" in said
        assert not (tmp_path / "counts.dat").exists()


class TestSaved:
    @pytest.mark.parametrize(
        "option",
        [
            ["--engine", "spark"],
            ["--address", "tcp://host:1"],
            ["--positive", "yes"],
            ["--unlabeled", "no"],
            ["--negative", "2"],
        ],
    )
    @pytest.mark.parametrize("command", ["evaluate", "prior"])
    def test_options_about_rows(self, saved, capsys, command, option):
        assert f"Leave out {option[0]}" in refused(capsys, command, saved, *option)

    def test_exact(self, rows, saved, capsys):
        said = refused(capsys, "evaluate", saved, "--bins", "exact", *PRIOR)
        assert "are binned, with 16 bins" in said
        assert run(["count", str(rows), str(saved), *COLUMNS, "--overwrite"]) == 0
        assert run(["evaluate", str(saved), "--bins", "exact", *PRIOR]) == 0

    def test_no_rows_to_compare(self, saved, capsys):
        both = ["--label", "label", "--score", "a", "--score", "b"]
        assert "holds saved counts, not rows" in refused(
            capsys, "compare", saved, *both, "--prior", "0.1"
        )
        assert "holds saved counts, not rows" in refused(capsys, "evaluate", saved, "--by", "c")
        by = ["--by", "c", *PRIOR]
        assert "holds saved counts, not rows" in refused(capsys, "evaluate", saved, *COLUMNS, *by)

    def test_damaged(self, saved, capsys):
        saved.write_bytes(saved.read_bytes()[:-100])
        assert "damaged, incomplete" in refused(capsys, "evaluate", saved, *PRIOR)

    @pytest.mark.parametrize(
        "change",
        [
            lambda about: b"garbage",
            lambda about: b"[1]",
            lambda about: json.dumps({"format": "counts", "version": 2}).encode(),
            lambda about: json.dumps(about | {"bins": "many"}).encode(),
            lambda about: json.dumps(about | {"bins": 3}).encode(),
            lambda about: json.dumps(about | {"totals": None}).encode(),
            lambda about: json.dumps(about | {"totals": [1, 2]}).encode(),
        ],
    )
    def test_changed(self, saved, capsys, change):
        table = pq.read_table(saved)
        about = change(json.loads(table.schema.metadata[b"pueval"]))
        pq.write_table(table.replace_schema_metadata({b"pueval": about}), saved)
        assert "The file was changed" in refused(capsys, "evaluate", saved, *PRIOR)

    @pytest.mark.parametrize("column", ["score", "labeled", "wide"])
    def test_changed_types(self, saved, capsys, column):
        table = pq.read_table(saved)
        at = table.column_names.index(column)
        text = table[column].cast("string")
        pq.write_table(table.set_column(at, column, text), saved)
        assert "The file was changed" in refused(capsys, "evaluate", saved, *PRIOR)


class TestEvaluate:
    def test_groups_have_no_cluster(self, rows, capsys):
        by = ["--by", "spam", "--address", "tcp://host:1", *PRIOR]
        assert "--address" in refused(capsys, "evaluate", rows, *COLUMNS, *by)

    def test_terminal_that_lacks_characters(self, rows):
        command = [sys.executable, "-m", "pueval", "evaluate", str(rows), *COLUMNS]
        done = subprocess.run(
            [*command, "--prior", "0.1", "--n-resamples", "50"],
            env=os.environ | {"PYTHONIOENCODING": "ascii"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.stderr == ""
        assert done.returncode == 0
        assert "ROC AUC" in done.stdout

    def test_interrupted(self, rows, monkeypatch, capsys):
        def interrupt(*arguments, **options):
            raise KeyboardInterrupt

        monkeypatch.setattr(app, "app", interrupt)
        assert run(["evaluate", str(rows)]) == 130
        assert capsys.readouterr().err == "pueval: interrupted.\n"

    def test_warnings_are_printed_once(self, rows, capsys):
        frame = pd.read_parquet(rows).assign(same=1.0)
        frame.to_parquet(rows)
        both = ["--score", "model", "--score", "same", "--prior", "0.1"]
        assert run(["compare", str(rows), "--label", "label", *both]) == 0
        printed = capsys.readouterr()
        assert printed.err == ""
        assert printed.out.count("same: all rows have the same score") == 1


class TestSimulate:
    def test_seed(self, tmp_path, capsys):
        out = tmp_path / "x.csv"
        said = refused(capsys, "simulate", out, "--label-frequency", "0.2", "--seed", "-1")
        assert "seed must be a whole number of at least 0; got -1" in said

    def test_truth_is_not_overwritten(self, rows, capsys):
        before = rows.read_bytes()
        how = ["--from", rows, "--class", "spam", "--label-frequency", "0.2"]
        assert "already exists" in refused(capsys, "simulate", rows, *how)
        assert rows.read_bytes() == before

    def test_packed(self, tmp_path):
        out = tmp_path / "x.csv.gz"
        assert run(["simulate", str(out), "--label-frequency", "0.2", "--rows", "500"]) == 0
        with gzip.open(out, "rt") as stream:
            assert stream.readline() == "score,label\n"
        assert Counts.from_file(out, label="label", score="score").n == 500

    def test_format_that_is_not_written(self, tmp_path, capsys):
        out = tmp_path / "x.arrow"
        assert "cannot write .arrow files" in refused(
            capsys, "simulate", out, "--label-frequency", "0.2"
        )
        assert not out.exists()

    def test_no_hidden_positives(self, tmp_path, capsys):
        how = ["--design", "case-control", "--count", "100", "--unlabeled", "500", "--prior", "0"]
        assert run(["simulate", str(tmp_path / "x.csv"), *how]) == 0
        said = capsys.readouterr().out
        assert "prior 0," in said
        assert "ROC AUC 0.9214" in said
        assert "average precision" not in said

    def test_all_positives_labeled(self, tmp_path, capsys):
        assert run(["simulate", str(tmp_path / "x.csv"), "--label-frequency", "1"]) == 0
        assert "average precision 0.8505 (at prevalence 0.3)" in capsys.readouterr().out

    def test_no_positive_among_the_labeled(self, tmp_path, capsys):
        how = ["--count", "1", "--purity", "0.4"]
        assert "no positive" in refused(capsys, "simulate", tmp_path / "x.csv", *how)


class TestWhereOutputGoes:
    def json(self, rows, path):
        return ["evaluate", str(rows), *COLUMNS, *PRIOR, "--quiet", "--json", str(path)]

    def test_links_are_followed(self, rows, tmp_path):
        real, link = tmp_path / "real.json", tmp_path / "link.json"
        real.write_text("{}")
        link.symlink_to(real)
        assert run(self.json(rows, link)) == 0
        assert link.is_symlink()
        assert json.loads(real.read_text())["label"] == "label"

    def test_what_is_no_file_is_written_to(self, rows):
        command = [sys.executable, "-m", "pueval", *self.json(rows, "/dev/stdout")]
        found = subprocess.run(command, capture_output=True, check=True, text=True)
        assert json.loads(found.stdout)["label"] == "label"

    @pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
    @pytest.mark.parametrize("unbuffered", ["", "1"])
    def test_no_space_left(self, rows, unbuffered):
        command = [sys.executable, "-m", "pueval", "evaluate", str(rows), *COLUMNS, *PRIOR]
        with Path("/dev/full").open("w") as full:
            found = subprocess.run(
                command, stdout=full, stderr=subprocess.PIPE, text=True, check=False,
                env=os.environ | {"PYTHONUNBUFFERED": unbuffered},
            )  # fmt: skip
        assert found.returncode == 2
        assert found.stderr == "pueval: No space left on device.\n"

    def test_nowhere_to_print(self, rows):
        command = [sys.executable, "-m", "pueval", "evaluate", str(rows), *COLUMNS, *PRIOR]
        closed = ["sh", "-c", 'exec "$@" >&-', "sh", *command]
        found = subprocess.run(closed, capture_output=True, check=True, text=True)
        assert found.stderr == ""

    def test_not_enough_memory(self, rows, capsys):
        arguments = ["evaluate", rows, *COLUMNS, "--prior", "0.1", "--n-resamples", str(10**15)]
        assert "not enough memory" in refused(capsys, *arguments)


@pytest.mark.parametrize("option", ["--seed", "--n-resamples", "--bins"])
def test_fractions_are_no_whole_numbers(rows, capsys, option):
    said = refused(capsys, "evaluate", rows, *COLUMNS, "--prior", "0.1", option, "1.5")
    assert f"Invalid value for {option}: it must be a whole number; got '1.5'." in said


def test_levels_are_shown_as_given(rows, capsys):
    assert run(["evaluate", str(rows), *COLUMNS, "--prior", "0.1", "--level", "0.995"]) == 0
    assert "99.5% confidence intervals" in capsys.readouterr().out


@pytest.mark.parametrize("code", [None, 130])
def test_interrupted(monkeypatch, capsys, code):
    def stop(*_, **__):
        raise KeyboardInterrupt if code is None else SystemExit(code)

    monkeypatch.setattr(app, "app", stop)
    assert run(["evaluate"]) == 130
    assert capsys.readouterr().err == "pueval: interrupted.\n"


def test_errors_name_options(tmp_path, capsys):
    path = tmp_path / "rows.csv"
    path.write_text("label,pos_label\n1,3\n2,1\n")
    said = refused(capsys, "evaluate", path, "--label", "label", "--score", "pos_label", *PRIOR)
    assert "--positive '1', --unlabeled '0'" in said
    assert "Set --positive, --unlabeled and --negative to your values." in said
    said = refused(capsys, "evaluate", path, "--label", "label", "--score", "x", *PRIOR)
    assert "The columns are 'label', 'pos_label'." in said


class TestOutputs:
    @pytest.mark.parametrize("command", ["evaluate", "compare", "prior"])
    def test_what_is_read_is_not_replaced(self, rows, command, capsys):
        before = rows.read_bytes()
        given = [*COLUMNS, "--score", "spam"] if command == "compare" else COLUMNS
        for option in ("--json",) if command == "prior" else ("--json", "--html"):
            said = refused(capsys, command, rows.parent / "*.parquet", *given, option, rows)
            assert f"{option} {rows} is an input file" in said
        assert rows.read_bytes() == before

    def test_two_outputs_need_two_names(self, rows, tmp_path, capsys):
        place = tmp_path / "out"
        said = refused(capsys, "evaluate", rows, *COLUMNS, *PRIOR, "--json", place, "--html", place)
        assert "--json and --html are the same file" in said
        assert not place.exists()

    def test_permissions_stay(self, rows, tmp_path):
        place = tmp_path / "out.json"
        place.write_text("")
        place.chmod(0o600)
        assert run(["evaluate", str(rows), *COLUMNS, *PRIOR, "--json", str(place)]) == 0
        assert place.stat().st_mode & 0o777 == 0o600


class TestNamesOfSavedCounts:
    def test_are_kept(self, saved, capsys):
        capsys.readouterr()
        assert run(["evaluate", str(saved), *PRIOR]) == 0
        assert "model corrected" in capsys.readouterr().out

    def test_other_scores_are_not_added(self, rows, saved, capsys):
        before = saved.read_bytes()
        other = ["--label", "label", "--score", "spam", "--bins", "16"]
        said = refused(capsys, "count", rows, saved, "--add", *other)
        assert "holds counts of the score 'model'" in said
        assert saved.read_bytes() == before

    def test_counts_without_a_name_can_be_added(self, rows, tmp_path):
        place = tmp_path / "nameless.parquet"
        Counts.from_file(rows, label="label", score="spam").to_parquet(place)
        assert run(["count", str(rows), str(place), *COLUMNS, "--add"]) == 0
        assert Counts.from_parquet(place).n == 400
