"""Mistakes that people make on the command line: messages name the fix, exit codes tell scripts."""

import gzip
import io
import json
import pickle
import re
import sys
import warnings

import numpy as np
import pandas as pd
import pytest

from pueval import AssumptionWarning, evaluate, priors
from pueval.commands.app import run
from pueval.errors import Contradiction
from pueval.estimates.measure_titles import REPORTED_MEASURES, TITLES
from tests.conftest import draw

COLUMNS = ["--label", "label", "--score", "a"]


@pytest.fixture
def rows(rng):
    _, score, labeled = draw(rng, 3000, prevalence=0.3, label_frequency=0.4, separation=2.5)
    noise = rng.normal(size=3000)
    return pd.DataFrame({"label": labeled.astype(int), "a": score, "b": score + noise})


@pytest.fixture
def file(rows, tmp_path):
    path = tmp_path / "scores.csv"
    rows.to_csv(path, index=False)
    return str(path)


def in_sample(rng):
    """Scores of a classifier that has learned the labels by heart."""
    labeled = np.arange(3000) < 300
    return pd.DataFrame(
        {"label": labeled.astype(int), "a": np.where(labeled, 0.9, 0.1) + 0.1 * rng.random(3000)}
    )


@pytest.mark.parametrize("command", ["evaluate", "compare", "prior"])
def test_score_columns_with_commas(file, capsys, command):
    assert run([command, file, "--label", "label", "--score", "a,b"]) == 2
    error = capsys.readouterr().err
    assert "'a,b'. Repeat the option for each column: --score a --score b." in error


@pytest.mark.parametrize("name", ["AlphaMax", "alphamax", "ALPHAMAX", "alpha_max"])
def test_methods_as_their_classes_are_called(file, capsys, name):
    assert run(["prior", file, *COLUMNS, "--method", name]) == 0
    out = capsys.readouterr().out
    assert "\nalphamax " in out
    assert out.startswith("Prior 0.")
    assert ", without an interval.\n" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["audit plan", "FILE", *COLUMNS],
            "--out is missing. Add --out FILE: CSV file to write. See pueval audit plan --help.",
        ),
        (
            ["audit plan", "FILE", "--label", "label"],
            "--score is missing. Add --score COLUMN: column with the scores.",
        ),
        (
            ["compare", "FILE"],
            "--label is missing. Add --label COLUMN: column with the labels of the rows.",
        ),
        (
            ["compare", "FILE", "--label", "label"],
            "--score is missing. Add --score COLUMN: column with a model's scores.",
        ),
        (["compare"], "FILE is missing. Add FILE: CSV, Parquet or Arrow file, folder, quoted"),
        (["evaluate"], "FILE is missing. Add FILE: CSV, Parquet or Arrow file, folder, quoted"),
        (["count", "FILE"], "TO is missing. Add TO: Parquet file for the counts."),
        (["simulate"], "OUT is missing. Add OUT: file to write: Parquet if it ends in"),
        (["prior", "FILE", "--label", "label"], "--score is missing. Give the column with the"),
        (["evaluate", "FILE", "--by", "b"], "--label is missing. Give the column with the labels"),
        (["evaluate", "FILE", "--label", "label", "--over", "b"], "--score is missing. Give the"),
        (["evaluate", "FILE", "--audit", "FILE"], "--label is missing. Give the column with the"),
        (
            ["evaluate", "FILE", "--label", "label", "--score"],
            "--score has no value. Give --score COLUMN: column with",
        ),
        (["evaluate", "FILE", *COLUMNS, "--prior"], "--prior has no value. Give --prior VALUE: sh"),
        (
            ["compare", "FILE", *COLUMNS, "--score", "b", "--json", "-"],
            "--json must be the name of a file; got '-'. For standard output, use --json /dev/st",
        ),
    ],
)
def test_missing_options(file, capsys, arguments, message):
    command, *others = arguments
    assert run([*command.split(), *(file if word == "FILE" else word for word in others)]) == 2
    error = capsys.readouterr().err
    assert f"pueval: {message}" in error
    assert error.count("\n") == 1


def test_times_that_are_numbers(rows, tmp_path, capsys):
    for name in ("scores.csv", "scores.parquet"):
        path = tmp_path / name
        frame = rows.assign(id=np.arange(3000))
        frame.to_csv(path, index=False) if name.endswith("csv") else frame.to_parquet(path)
        arguments = ["evaluate", str(path), *COLUMNS, "--prior", "0.2", "--over", "id"]
        for every in ([], ["--every", "week"]):
            assert run([*arguments, *every]) == 2
            error = capsys.readouterr().err
            assert "must hold dates or times; got numbers such as 0 in column 'id'." in error
            assert "For times that are numbers, --every must be a number too, such as" in error
        assert run([*arguments, "--every", "1000"]) == 0
        assert "No alarm" in capsys.readouterr().out


def test_one_number_among_times(rows, tmp_path, capsys):
    days = pd.Series(pd.date_range("2025-01-01", periods=3000, freq="h").astype(str))
    days[7] = "17"
    path = tmp_path / "scores.csv"
    rows.assign(day=days).to_csv(path, index=False)
    assert run(["evaluate", str(path), *COLUMNS, "--prior", "0.2", "--over", "day"]) == 2
    assert "1 row with a missing time, or one that cannot be read" in capsys.readouterr().err


def test_numbers_of_groups_are_printed_in_order(rows, tmp_path, capsys):
    path = tmp_path / "scores.csv"
    rows.assign(age=np.array([10, 100, 20, 5, 9])[np.arange(3000) % 5]).to_csv(path, index=False)
    results = tmp_path / "out.json"
    arguments = ["evaluate", str(path), *COLUMNS, "--prior", "0.2", "--by", "age"]
    assert run([*arguments, "--json", str(results)]) == 0
    lines = capsys.readouterr().out.splitlines()
    names = [line.split()[0] for line in lines if line[:1].isdigit()]
    assert names == ["5", "9", "10", "20", "100"]
    groups = json.loads(results.read_text())["models"]["a"]["groups"]
    assert groups == names


def test_unknown_methods(rows, file, capsys):
    assert priors.estimate(rows["label"], rows["a"], method="BestBin").method == "best_bin"
    assert run(["prior", file, *COLUMNS, "--method", "alfamax"]) == 2
    assert "got 'alfamax'. Did you mean 'alphamax'?" in capsys.readouterr().err
    assert run(["prior", file, *COLUMNS, "--method", "KernelMean"]) == 2
    assert "KernelMean estimates the prior from features" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (pickle.dumps([1]), "is a pickle file. Save the table as CSV or Parquet"),
        (b"\x93NUMPY\x01\x00", "is a NumPy array"),
        (b"\x89HDF\r\n\x1a\n", "is an HDF5 file"),
        (b"SQLite format 3\x00", "is an SQLite database"),
        (b"PAR1abc", "is a Parquet file. Rename it to end in .parquet"),
        (b"ARROW1\0\0", "is an Arrow file. Rename it to end in .arrow"),
        (gzip.compress(b"label,a\n1,2\n"), "is compressed. Rename it to end in .csv.gz"),
    ],
    ids=["pickle", "numpy", "hdf5", "sqlite", "parquet", "arrow", "gzip"],
)
def test_files_of_other_formats(tmp_path, capsys, content, message):
    path = tmp_path / "scores.pkl"
    path.write_bytes(content)
    assert run(["evaluate", str(path), *COLUMNS]) == 2
    assert message in capsys.readouterr().err


# ------------------------------------------------------------------ exit code 3


def test_a_prior_that_the_data_contradict(file, tmp_path, capsys):
    results = tmp_path / "out.json"
    for arguments in (
        ["evaluate", file, *COLUMNS, "--prior", "0.8", "--json", str(results)],
        ["evaluate", file, *COLUMNS, "--prior", "0.8", "--no-intervals", "--quiet"],
        ["compare", file, *COLUMNS, "--score", "b", "--prior", "0.8"],
    ):
        assert run(arguments) == 3
        error = capsys.readouterr().err
        assert "pueval: exit code 3: the data contradict the assumptions" in error
    model = json.loads(results.read_text())["models"]["a"]
    assert any("does not fit this ranking" in warning for warning in model["warnings"])


@pytest.mark.parametrize("more", [[], ["--quiet"], ["--by", "site"], ["--by", "site", "--quiet"]])
def test_three_warnings_in_all_for_many_models_contradictions_first(rows, tmp_path, capsys, more):
    """Warnings that models share count once."""
    path = tmp_path / "models.csv"
    models = dict.fromkeys("bcd", rows["a"])
    models |= {"leak": rows["a"] + 5 * rows["label"], "constant": 0.0, "reversed": -rows["a"]}
    rows.assign(site=np.arange(3000) % 2, **models).to_csv(path, index=False)
    named = [argument for name in models for argument in ("--score", name)]
    threshold = ["--threshold", "99"]
    arguments = ["evaluate", str(path), *COLUMNS, *named, "--prior", "0.2", *threshold, *more]
    assert run(arguments) == 3
    captured = capsys.readouterr()
    lines = (captured.out + captured.err).splitlines()
    shown = [line for line in lines if line.startswith(("! ", "pueval: warning: "))]
    assert len(shown) == 3
    contradictions = " ".join(shown[:2])
    assert "leak: prior 0.2 does not fit this ranking" in contradictions
    assert "reversed: labeled rows score lower than the background rows" in contradictions
    assert "a: no row scores at or above the threshold 99" in shown[2]
    assert "(Likewise b, c, d and 3 others.)" in shown[2]
    assert "--json has all" in shown[2]


def test_groups_that_contradict_their_prior(rows, tmp_path, capsys):
    path = tmp_path / "groups.csv"
    rows.assign(site=np.arange(3000) % 2).to_csv(path, index=False)
    assert run(["evaluate", str(path), *COLUMNS, "--by", "site", "--prior", "0.8"]) == 3
    assert run(["evaluate", str(path), *COLUMNS, "--by", "site", "--prior", "0.2"]) == 0


def test_no_contradiction(file, capsys):
    assert run(["evaluate", file, *COLUMNS, "--prior", "0.2"]) == 0
    # Some priors of the interval fit.
    assert run(["evaluate", file, *COLUMNS, "--prior", "0.2,0.8"]) == 0
    assert "exit code" not in capsys.readouterr().err


def test_reversed_scores(rows, tmp_path, capsys):
    path = tmp_path / "scores.csv"
    rows.assign(a=-rows["a"]).to_csv(path, index=False)
    assert run(["evaluate", str(path), *COLUMNS, "--prior", "0.1"]) == 3


def test_in_sample_scores(rng, tmp_path, capsys):
    rows = in_sample(rng)
    message = "almost all labeled positives score above the unlabeled rows"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssumptionWarning)
        ev = evaluate(rows["label"], rows["a"])
    [warning] = [warning for warning in ev.warnings if message in warning]
    assert "use out-of-fold scores" in warning
    path = tmp_path / "scores.csv"
    rows.to_csv(path, index=False)
    for command in ("evaluate", "prior"):
        assert run([command, str(path), *COLUMNS]) == 3
        assert message in capsys.readouterr().out
    assert run(["evaluate", str(path), *COLUMNS, "--prior", "0.001"]) == 0


def test_out_of_fold_scores_of_a_good_classifier(rng):
    """Even if only one positive in three is unlabeled."""
    _, score, labeled = draw(rng, 3000, prevalence=0.1, label_frequency=0.67, separation=5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssumptionWarning)
        estimate = priors.estimate(labeled, score)
    assert not any(isinstance(warning, Contradiction) for warning in estimate.warnings)


def test_help_documents_the_exit_codes(capsys):
    run(["--help"])
    out = capsys.readouterr().out
    assert "Exit codes" in out
    assert "3 if the data contradict" in " ".join(out.replace("│", " ").split())


# ------------------------------------------------------------------ standard input


def pipe(monkeypatch, content):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))


@pytest.mark.parametrize(
    "arguments",
    [
        ["evaluate", "-", *COLUMNS, "--prior", "0.2"],
        ["compare", "-", *COLUMNS, "--score", "b", "--prior", "0.2"],
        ["prior", "-", *COLUMNS, "--method", "best_bin"],
    ],
)
@pytest.mark.parametrize("suffix", ["csv", "csv.gz", "parquet", "arrow"])
def test_standard_input(rows, file, tmp_path, capsys, monkeypatch, arguments, suffix):
    path = tmp_path / f"piped.{suffix}"
    writers = {"parquet": rows.to_parquet, "arrow": rows.to_feather}
    writers.get(suffix, lambda path: rows.to_csv(path, index=False))(path)
    assert run([file if word == "-" else word for word in arguments]) == 0
    expected = capsys.readouterr().out
    pipe(monkeypatch, path.read_bytes())
    assert run([*arguments, "--json", str(tmp_path / "out.json")]) == 0
    assert capsys.readouterr().out == expected
    assert json.loads((tmp_path / "out.json").read_text())["file"] == "-"


def test_standard_input_that_cannot_be_read(capsys, monkeypatch):
    for content, message in (
        (b"", "standard input is empty."),
        (b"label,b\n1,2\n", "no score column 'a'."),
        (pickle.dumps([1]), "standard input is a pickle file."),
        (b"label,a\n", "standard input has no rows, only a header."),
    ):
        pipe(monkeypatch, content)
        assert run(["evaluate", "-", *COLUMNS, "--prior", "0.2"]) == 2
        assert message in capsys.readouterr().err
    monkeypatch.setattr(sys, "stdin", None)
    assert run(["evaluate", "-", *COLUMNS, "--prior", "0.2"]) == 2
    assert "standard input is closed" in capsys.readouterr().err


def test_nothing_is_piped(capsys, monkeypatch):
    pipe(monkeypatch, b"")
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True)
    assert run(["evaluate", "-", *COLUMNS]) == 2
    assert "pueval evaluate - … < scores.csv" in capsys.readouterr().err


def test_reports_are_called_html(file, capsys):
    assert run(["evaluate", file, *COLUMNS, "--report", "page.html"]) == 2
    assert "unknown option: --report. Did you mean --html?" in capsys.readouterr().err


def test_columns_of_times_that_hold_text(rows, file, capsys):
    rows.assign(city="Bern").to_csv(file, index=False)
    assert run(["evaluate", file, *COLUMNS, "--over", "city"]) == 2
    assert "column 'city' holds text such as 'Bern', not dates, in 3,000" in capsys.readouterr().err
    days = pd.Series(["2026-01-05"] * 3000).mask(np.arange(3000) == 7)
    rows.assign(day=days).to_csv(file, index=False)
    assert run(["evaluate", file, *COLUMNS, "--over", "day"]) == 2
    assert "1 row with a missing time" in capsys.readouterr().err


def test_audits_without_ids_are_named(file, tmp_path, capsys):
    audit = tmp_path / "noid.csv"
    audit.write_text("row,truth\n1,1\n")
    assert run(["evaluate", file, *COLUMNS, "--audit", str(audit), "--id", "id"]) == 2
    assert f"{audit}: no id column 'id'. The columns are 'row', 'truth'." in capsys.readouterr().err


def test_exit_codes_in_help(capsys):
    for command, codes in {
        ("evaluate",): "0 1 2 3 4 130",
        ("compare",): "0 1 2 3 130",
        ("audit", "plan"): "0 1 2 3 130",
        ("simulate",): "0 1 2 130",
        ("count",): "0 1 2 130",
        (): "0 1 2 3 4 130",
    }.items():
        run([*command, "--help"])
        text = " ".join(capsys.readouterr().out.split())
        shown = text[text.index("Exit codes:") :]
        assert re.findall(r"\b\d+\b", shown) == codes.split()


def test_help_of_compare_has_no_two_way_clusters(capsys):
    run(["compare", "--help"])
    assert "two-way" not in capsys.readouterr().out
    run(["evaluate", "--help"])
    text = " ".join(capsys.readouterr().out.replace("│", " ").split())
    assert "two-way" in text
    assert "(smooth, the default)" in text


@pytest.mark.parametrize("command", ["evaluate", "prior", "doctor"])
def test_written_files_are_named(file, tmp_path, capsys, command):
    out = tmp_path / "out.json"
    arguments = [command, file, *COLUMNS, "--json", str(out)]
    assert run(arguments) == 0
    assert capsys.readouterr().err == f"Wrote {out}.\n"
    if command == "evaluate":
        assert run([*arguments, "--quiet"]) == 0
        assert capsys.readouterr().err == ""


def test_tables_below_the_main_table_have_its_measures(file, capsys):
    more = ["--bounds", "--labeling-bias", "2", "--baselines", "--prior", "0.2"]
    assert run(["evaluate", file, *COLUMNS, *more]) == 0
    main, *tables = capsys.readouterr().out.split("\n\n")
    assert len(tables) == 3
    titles = [TITLES[name] for name in REPORTED_MEASURES]
    for table in (main[main.index("\nROC AUC") :], *tables):
        firsts = [re.split(r"\s{2,}", line)[0] for line in table.splitlines()]
        starts = [first for first in firsts if first in titles]
        assert starts == titles
    assert "Jaccard" not in "".join(tables)
    assert run(["evaluate", file, *COLUMNS, *more, "--all"]) == 0
    assert capsys.readouterr().out.count("Jaccard") == 4


def test_what_to_do_next_names_options(file, rows, capsys):
    assert run(["evaluate", file, *COLUMNS]) == 0
    out = capsys.readouterr().out
    assert "pass what you find with --audit" in out
    assert "as audited" not in out
    assert "as audited" in evaluate(rows["label"], rows["a"]).verdict().next_step
    noise = np.random.default_rng(0).normal(size=len(rows))
    rows.assign(a=noise).to_csv(file, index=False)
    assert run(["evaluate", file, *COLUMNS]) == 2
    assert "Give --prior, --prevalence or --label-frequency." in capsys.readouterr().err


def test_label_and_score_in_each_others_place(file, capsys):
    assert run(["evaluate", file, "--label", "a", "--score", "label"]) == 2
    assert "These look like scores, not labels." in capsys.readouterr().err
