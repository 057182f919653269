"""``pueval simulate``: files with known truth."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from pueval.commands.app import run
from pueval.simulate import binormal, label_at_random


def made(capsys, *arguments):
    assert run(["simulate", *map(str, arguments)]) == 0
    return capsys.readouterr().out


@pytest.fixture
def full(tmp_path, rng):
    """A fully labeled file with text, commas, a zero-padded code and numbers."""
    n = 3000
    positive = rng.random(n) < 0.4
    frame = pd.DataFrame(
        {
            "code": [f"{k:06d}" for k in range(n)],
            "name": [f'row "{k}", text' for k in range(n)],
            "disease": np.where(positive, "yes", "no"),
            "chance": np.round(rng.random(n), 3),
            "x1": rng.normal(size=n),
            "x2": rng.normal(size=n),
        }
    )
    path = tmp_path / "full.csv"
    frame.to_csv(path, index=False)
    return path, frame


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_model(tmp_path, capsys, suffix):
    path = tmp_path / f"out.{suffix}"
    out = made(capsys, path, "--rows", 4000, "--separation", 1.5, "--prevalence", 0.2,
               "--label-frequency", 0.25, "--purity", 0.8, "--truth", "--seed", 5)  # fmt: skip
    frame = (
        pd.read_csv(path, converters={"score": float}) if suffix == "csv" else pd.read_parquet(path)
    )
    assert list(frame.columns) == ["score", "label", "true_class"]
    rng = np.random.default_rng(5)
    population = binormal(1.5, prevalence=0.2)
    rows = population.draw(4000, seed=rng)
    labels = label_at_random(rows.positive, label_frequency=0.25, purity=0.8, seed=rng)
    np.testing.assert_array_equal(frame["score"], rows.score)
    np.testing.assert_array_equal(frame["label"], labels.label)
    np.testing.assert_array_equal(frame["true_class"], rows.positive)
    assert f"prior {labels.prior:.4g}, purity {labels.purity:.4g}" in out
    assert f"ROC AUC {population.roc_auc:.4f}" in out


def test_truth_is_left_out_unless_asked_for(tmp_path, capsys):
    path = tmp_path / "out.csv"
    made(capsys, path, "--label-frequency", 0.2, "--rows", 100)
    assert list(pd.read_csv(path).columns) == ["score", "label"]


@pytest.mark.parametrize(
    ("options", "auc"),
    [
        (["--model", "beta", "--positive-shape", 2, 1, "--negative-shape", 1, 2], "0.8333"),
        (["--model", "ranked", "--concentration", 2, "--prevalence", 0.5], "0.8333"),
        (["--model", "binormal"], "0.9214"),
    ],
)
def test_models(tmp_path, capsys, options, auc):
    out = made(capsys, tmp_path / "out.csv", *options, "--count", 50, "--rows", 500)
    assert f"ROC AUC {auc}" in out
    assert "50 labeled, 450 unlabeled" in out


def test_case_control(tmp_path, capsys):
    out = made(capsys, tmp_path / "o.csv", "--design", "case-control", "--count", 50,
               "--unlabeled", 400, "--prior", 0.1, "--rows", 2000)  # fmt: skip
    assert "50 labeled, 400 unlabeled" in out
    truth = binormal(2, prevalence=0.1).average_precision
    assert f"average precision {truth:.4f} (at prevalence 0.1)" in out


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_labeled_file(tmp_path, capsys, full, suffix):
    source, frame = full
    path = tmp_path / f"pu.{suffix}"
    made(capsys, path, "--from", source, "--class", "disease", "--positive", "yes",
         "--label-frequency", 0.3, "--truth", "--seed", 1)  # fmt: skip
    written = pd.read_csv(path, dtype={"code": str}) if suffix == "csv" else pd.read_parquet(path)
    assert list(written.columns) == ["code", "name", "chance", "x1", "x2", "label", "true_class"]
    # Rows keep their order and their text.
    assert written["code"].tolist() == frame["code"].tolist()
    assert written["name"].tolist() == frame["name"].tolist()
    positive = frame["disease"] == "yes"
    np.testing.assert_array_equal(written["true_class"], positive)
    assert written["label"].sum() == round(0.3 * positive.sum())
    assert positive[written["label"] == 1].all()


def test_rows_stay_with_their_labels_in_a_large_file(tmp_path, capsys):
    """Many row groups and several threads: labels must still meet their own rows."""
    n = 400_000
    positive = np.random.default_rng(0).random(n) < 0.3
    source, path = tmp_path / "full.parquet", tmp_path / "pu.parquet"
    frame = pd.DataFrame({"id": np.arange(n), "y": positive.astype(int)})
    frame.to_parquet(source, row_group_size=5000)
    made(capsys, path, "--from", source, "--class", "y", "--count", 60_000, "--unlabeled", 100_000,
         "--truth")  # fmt: skip
    written = pd.read_parquet(path)
    assert len(written) == 160_000
    assert written["label"].sum() == 60_000
    np.testing.assert_array_equal(written["true_class"], positive[written["id"]])
    assert positive[written.loc[written["label"] == 1, "id"]].all()


def test_propensity_and_representative(tmp_path, capsys, full):
    source, frame = full
    path = tmp_path / "pu.csv"
    common = [path, "--from", source, "--class", "disease", "--positive", "yes", "--overwrite"]
    made(capsys, *common, "--propensity", "chance")
    labeled = pd.read_csv(path)["label"] == 1
    positive = frame["disease"] == "yes"
    assert frame["chance"][labeled].mean() > 0.6 > frame["chance"][positive & ~labeled].mean()
    made(capsys, *common, "--representative", "least", "--features", "x1", "x2", "--count", 100)
    labeled = pd.read_csv(path)["label"] == 1
    far = np.hypot(frame["x1"], frame["x2"])
    assert far[labeled].min() > far[positive].median()


def test_an_existing_file_is_not_replaced_unasked(tmp_path, capsys):
    path = tmp_path / "scores.csv"
    path.write_text("precious")
    assert run(["simulate", str(path), "--label-frequency", "0.2"]) == 2
    assert "already exists. Pass --overwrite to replace it." in capsys.readouterr().err
    assert path.read_text() == "precious"
    assert run(["simulate", str(path), "--label-frequency", "0.2", "--overwrite"]) == 0
    assert path.read_text().startswith("score,label")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "give exactly one of --label-frequency, --count and --propensity; got none"),
        (["--count", "5", "--label-frequency", "0.1"], "got --label-frequency, --count"),
        (["--count", "5", "--lead", "2"], "--lead needs --model ranked"),
        (["--count", "5", "--class", "y"], "--class and --positive need a labeled file"),
        (["--propensity", "p"], "--propensity needs a labeled file"),
        (["--count", "5", "--prior", "0.1"], "--prior needs --design case-control"),
        (["--count", "5", "--design", "case-control"], "needs --unlabeled"),
        (
            ["--label-frequency", "0.1", "--design", "case-control"],
            "cannot be combined with --design",
        ),
        (["--count", "5", "--from", "nowhere.csv"], "--from needs --class"),
        (["--count", "5", "--from", "nowhere.csv", "--class", "y"], "file not found: 'nowhere"),
        (
            ["--count", "5", "--from", "x", "--class", "y", "--rows", "9"],
            "--rows sets the score model",
        ),
        (["--count", "5", "--rows", "0"], "n must be a whole number of at least 1"),
    ],
)
def test_bad_options(tmp_path, capsys, options, message):
    path = tmp_path / "out.csv"
    assert run(["simulate", str(path), *options]) == 2
    assert message in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--class", "nope", "--count", "5"], "has no column 'nope'; it has code, name"),
        (["--class", "disease", "--count", "5"], "no row of"),
        (["--class", "disease", "--positive", "yes", "--count", "5", "--features", "x1"],
         "--features needs --representative"),
        (["--class", "disease", "--positive", "yes", "--count", "5", "--representative", "most"],
         "--representative needs --features"),
        (["--class", "disease", "--positive", "yes", "--count", "5", "--representative", "most",
          "--features", "name"], "3,000 rows have no usable value"),
        (["--class", "disease", "--positive", "yes", "--propensity", "chance",
          "--representative", "most"], "cannot be combined with --propensity"),
    ],
)  # fmt: skip
def test_bad_files(tmp_path, capsys, full, options, message):
    assert run(["simulate", str(tmp_path / "pu.csv"), "--from", str(full[0]), *options]) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "pu.csv").exists()


def test_missing_classes_and_taken_names(tmp_path, capsys):
    path = tmp_path / "full.csv"
    path.write_text("y,label,x\n1,3,4\n,3,4\n0,3,4\n")
    out = str(tmp_path / "pu.csv")
    assert run(["simulate", out, "--from", str(path), "--class", "x", "--positive", "4",
                "--count", "1"]) == 2  # fmt: skip
    assert "already has a column 'label'" in capsys.readouterr().err
    path.write_text("y,x\n1,4\n,4\n0,4\n")
    assert run(["simulate", out, "--from", str(path), "--class", "y", "--count", "1"]) == 2
    assert "1 rows have no usable value" in capsys.readouterr().err
    nowhere = str(tmp_path / "no" / "pu.csv")
    assert run(["simulate", nowhere, "--count", "5"]) == 2
    assert "does not exist. Create it first" in capsys.readouterr().err


def test_true_words_are_the_class_one(tmp_path, capsys):
    path = tmp_path / "full.csv"
    path.write_text("y,x\nTrue,4\n1,4\n1.0,5\nfalse,4\n0,4\n")
    out = made(capsys, tmp_path / "pu.csv", "--from", path, "--class", "y", "--count", 3)
    assert "3 labeled, 2 unlabeled" in out


@pytest.mark.parametrize("header", ["y,x,x", "y,x,X"])
def test_no_column_is_renamed(tmp_path, capsys, header):
    path = tmp_path / "full.csv"
    path.write_text(f"{header}\n1,4,5\n0,4,6\n")
    out = tmp_path / "pu.csv"
    assert run(["simulate", str(out), "--from", str(path), "--class", "y", "--count", "1"]) == 2
    assert "more than one column 'x'" in capsys.readouterr().err
    assert not out.exists()


def test_the_delimiter_of_the_file(tmp_path, capsys):
    path = tmp_path / "full.csv"
    path.write_text('y;note\n1;"a, b"\n0;"c; d"\n')
    made(capsys, tmp_path / "pu.csv", "--from", path, "--class", "y", "--count", 1)
    assert (tmp_path / "pu.csv").read_text() == 'note,label\n"a, b",1\nc; d,0\n'


def test_text_is_copied_unchanged(tmp_path, capsys):
    """Apostrophes are no quotes, and # begins no comment."""
    names = ["'quoted'", "it's", "'a", "b'", "# note", " x ", '"q"', "a,b", "'x,y'", "plain"]
    frame = pd.DataFrame({"name": names, "y": [1, 0] * 5})
    frame.to_csv(tmp_path / "full.csv", index=False)
    for path in (tmp_path / "full.csv", tmp_path / "some.csv"):
        frame[: 4 if path.stem == "some" else None].to_csv(path, index=False)
        out = tmp_path / f"{path.stem}_pu.csv"
        made(capsys, out, "--from", path, "--class", "y", "--count", 1)
        assert pd.read_csv(out)["name"].tolist() == pd.read_csv(path)["name"].tolist()


def test_text_that_spreadsheets_run(tmp_path, capsys):
    notes = ["=1+1", "-3", "+4.5", "@x", "a=b", "-", "2"]
    frame = pd.DataFrame(
        {"note": notes, "number": [-1.5, 2, 3, -4, 5, 6, 7], "y": [1, 0, 1, 0, 1, 0, 1]}
    )
    frame.to_csv(tmp_path / "full.csv", index=False)
    options = ["--from", str(tmp_path / "full.csv"), "--class", "y", "--count", "1"]
    assert run(["simulate", str(tmp_path / "pu.csv"), *options]) == 0
    said = capsys.readouterr().err
    assert "spreadsheets take for formulas, copied unchanged, in 'note'. Import" in said
    assert pd.read_csv(tmp_path / "pu.csv", dtype=str)["note"].tolist() == notes
    assert run(["simulate", str(tmp_path / "pu.parquet"), *options]) == 0
    assert not capsys.readouterr().err


@pytest.mark.skipif(not Path("/dev/stdout").exists(), reason="there is no /dev/stdout")
def test_standard_output_holds_rows_only(tmp_path):
    command = [sys.executable, "-m", "pueval", "simulate", "/dev/stdout"]
    options = ["--rows", "20", "--label-frequency", "0.5"]
    piped = subprocess.run([*command, *options], capture_output=True, text=True, check=True)
    assert piped.stdout.startswith("score,label\n")
    assert len(piped.stdout.splitlines()) == 21
    assert "Truth: prior" in piped.stderr
    with (tmp_path / "rows.csv").open("w") as stream:
        subprocess.run([*command, *options], stdout=stream, stderr=subprocess.DEVNULL, check=True)
    assert (tmp_path / "rows.csv").read_text() == piped.stdout


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no signals")
@pytest.mark.parametrize(("sent", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_signals_leave_no_files(tmp_path, sent, code):
    """Signals that arrive inside a query end the command without a traceback."""
    out = tmp_path / "rows.csv"
    command = [sys.executable, "-m", "pueval", "simulate", str(out), "--rows", "1000000"]
    process = subprocess.Popen([*command, "--label-frequency", "0.2"], stderr=subprocess.PIPE)
    while process.poll() is None and not any(file.stat().st_size for file in tmp_path.iterdir()):
        time.sleep(0.01)
    process.send_signal(sent)
    _, error = process.communicate(timeout=60)
    assert process.returncode == code
    assert error.decode() == ("pueval: interrupted.\n" if code == 130 else "")
    assert not [*tmp_path.iterdir()]
