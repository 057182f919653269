"""The command line, run as a user runs it."""

import json
import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from pueval import Counts, LabelErrors, __version__, evaluate
from pueval.commands.app import run
from tests.conftest import draw


@pytest.fixture
def scores(tmp_path, rng):
    positive, score, labeled = draw(rng, 3000, prevalence=0.3, label_frequency=0.4)
    frame = pd.DataFrame(
        {
            "label": labeled.astype(int),
            "model_a": score,
            "model_b": score + rng.normal(size=3000),
            "truth": positive.astype(int),
        }
    )
    path = tmp_path / "scores.csv"
    frame.to_csv(path, index=False)
    return path


def cells(text, row):
    line = next(line for line in text.splitlines() if line.startswith(row))
    return line[len(row) :].split()


def test_evaluate(scores, capsys):
    assert run(["evaluate", str(scores), "--label", "label", "--score", "model_a",
                "--prior", "0.2"]) == 0  # fmt: skip
    out = capsys.readouterr().out
    frame = pd.read_csv(scores)
    ev = evaluate(frame["label"], frame["model_a"], prior=0.2)
    for title, name in (("ROC AUC", "roc_auc"), ("F1", "f1")):
        one = ev[name]
        limits = f"({one.low:.3f}–{one.high:.3f})"
        assert cells(out, title) == [f"{one.naive:.3f}", f"{one.value:.3f}", limits]
    assert "In brackets: 95% confidence intervals" in out
    assert "model_a naive" in out
    assert "prior 0.2, purity 1" in out


def test_label_errors(scores, capsys):
    given = ["--label", "label", "--score", "model_a", "--label-errors"]
    assert run(["evaluate", str(scores), *given, "0.6,0.001"]) == 0
    out = capsys.readouterr().out
    frame = pd.read_csv(scores)
    ev = evaluate(frame["label"], frame["model_a"], prior=LabelErrors(0.6, 0.001))
    auc = ev["roc_auc"]
    limits = f"({auc.low:.3f}–{auc.high:.3f})"
    assert cells(out, "ROC AUC") == [f"{auc.naive:.3f}", f"{auc.value:.3f}", limits]
    assert "(from the label errors)" in " ".join(out.split())
    for wrong, message in {
        ("0.2",): "must be two numbers",
        ("0.2,0.9",): "add up to less than 1",
        ("0.2,0.05", "--prior", "0.2"): "cannot be combined with --prior",
        ("0.2,0.05", "--purity", "0.9"): "cannot be combined with --purity",
    }.items():
        assert run(["evaluate", str(scores), *given, *wrong]) == 2
        assert message in " ".join(capsys.readouterr().err.split())


def test_label_errors_that_do_not_fit(scores, capsys):
    given = ["--label", "label", "--score", "model_a", "--label-errors", "0.2,0.05"]
    assert run(["evaluate", str(scores), *given]) == 3
    out = " ".join(capsys.readouterr().out.split())
    assert ", as the error rates of the labels imply." in out
    assert "Next: These error rates do not fit the scores. Check the rates" in out
    assert "as you specified" not in out


def test_label_errors_in_other_commands(scores, capsys):
    given = ["--label", "label", "--score", "model_a", "--label-errors", "0.6,0.001"]
    both = [*given, "--score", "model_b"]
    assert run(["compare", str(scores), *both]) == 0
    by_errors = capsys.readouterr().out
    frame = pd.read_csv(scores)
    mixture = LabelErrors(0.6, 0.001).mixture(Counts.from_arrays(frame["label"], frame["model_a"]))
    implied = f"imply prior {mixture.prior:.4g} and purity {mixture.purity:.4g}. "
    assert implied in by_errors
    shares = ["--prior", f"{mixture.prior}", "--purity", f"{mixture.purity}"]
    assert run(["compare", str(scores), *both[:4], *both[6:], *shares]) == 0
    by_shares = capsys.readouterr().out
    assert [line for line in by_errors.splitlines() if implied not in line] == (
        by_shares.splitlines()
    )
    assert run(["compare", str(scores), *both, "--target", "unlabeled"]) == 2
    assert "--label-errors needs --target population" in capsys.readouterr().err
    for option, column in (("--by", "model_b"), ("--over", "model_b")):
        assert run(["evaluate", str(scores), *given, option, column]) == 2
        error = " ".join(capsys.readouterr().err.split())
        assert f"--label-errors cannot be combined with {option}: the prior and the" in error
    assert run(["evaluate", str(scores), *given, "--target", "unlabeled"]) == 2
    assert "--label-errors needs --target population" in capsys.readouterr().err
    assert run(["evaluate", str(scores), *given, "--audit", "checked.csv"]) == 2
    assert "--label-errors cannot be combined with --audit" in capsys.readouterr().err


def test_several_models_side_by_side(scores, capsys):
    assert run(["evaluate", str(scores), "--label", "label", "--score", "model_a", "--score",
                "model_b", "--prevalence", "0.3", "--ranking", "--no-intervals"]) == 0  # fmt: skip
    out = capsys.readouterr().out
    assert len(cells(out, "ROC AUC")) == 4
    assert len(cells(out, "PULP")) == 2


def test_the_three_ways_to_say_the_prior(scores, capsys):
    frame = pd.read_csv(scores)
    n_l, n_u = (frame["label"] == 1).sum(), (frame["label"] == 0).sum()
    positives = n_l + 0.2 * n_u
    results = []
    for option in (
        ["--prior", "0.2"],
        ["--prevalence", str(positives / 3000)],
        ["--label-frequency", str(n_l / positives)],
    ):
        run(["evaluate", str(scores), "--label", "label", "--score", "model_a", *option])
        results.append(capsys.readouterr().out)
    # That the number of labels is one by chance makes limits wider, and nothing else different.
    for said, text in zip(("prior", "prevalence", "label frequency"), results, strict=True):
        assert f"treating {said} and purity as exact" in text
    tables = (text[text.index("ROC AUC  ") :].splitlines()[:-2] for text in results)
    for lines in zip(*tables, strict=True):
        assert len({tuple(line.partition("(")[0].split()) for line in lines}) == 1


def test_labeling_bias(scores, tmp_path, capsys):
    path = tmp_path / "out.json"
    arguments = ["evaluate", str(scores), "--label", "label", "--score", "model_a", "--prior",
                 "0.2", "--threshold", "1.5", "--labeling-bias", "2"]  # fmt: skip
    assert run([*arguments, "--json", str(path)]) == 0
    frame = pd.read_csv(scores)
    ev = evaluate(frame["label"], frame["model_a"], prior=0.2, threshold=1.5)
    bounds = ev.labeling_bias(2)["f1"]
    out = capsys.readouterr().out
    assert str(bounds) in out
    assert "95% confidence intervals of the true values" in out
    model = json.loads(path.read_text())["models"]["model_a"]
    assert model["labeling_bias"]["measures"]["f1"]["low"] == pytest.approx(bounds.low)
    assert run([*arguments, "--by", "model_b"]) == 2
    assert "--labeling-bias cannot be combined with --by" in capsys.readouterr().err


def test_json_with_all_points(tmp_path, rng):
    labeled = rng.random(9_000) < 0.5
    file, path = tmp_path / "scores.csv", tmp_path / "out.json"
    pd.DataFrame({"y": labeled.astype(int), "a": rng.random(9_000)}).to_csv(file, index=False)
    arguments = ["evaluate", str(file), "--label", "y", "--score", "a", "--prior", "0",
                 "--no-intervals", "--quiet", "--json", str(path)]  # fmt: skip
    for more, complete in (([], False), (["--all-points"], True)):
        assert run([*arguments, *more]) == 0
        curve = json.loads(path.read_text())["models"]["a"]["roc"]
        assert (len(curve["fpr"]) == curve["n_points"]) == complete


def test_all_points_need_a_file_with_curves(scores, tmp_path, capsys):
    arguments = [str(scores), "--label", "label", "--score", "model_a", "--all-points"]
    for command, more in (("evaluate", []), ("compare", ["--score", "model_b"])):
        assert run([command, *arguments, *more]) == 2
        assert "--all-points needs --json" in capsys.readouterr().err
    for option in ("--by", "--over"):
        path = str(tmp_path / "out.json")
        assert run(["evaluate", *arguments, "--json", path, option, "model_b"]) == 2
        assert f"--all-points cannot be combined with {option}" in capsys.readouterr().err


def test_bounds_and_baselines(scores, tmp_path, capsys):
    path, page = tmp_path / "out.json", tmp_path / "out.html"
    arguments = ["evaluate", str(scores), "--label", "label", "--score", "model_a", "--prior",
                 "0.2", "--threshold", "1.5", "--bounds", "--baselines",
                 "--no-intervals"]  # fmt: skip
    assert run([*arguments, "--json", str(path), "--html", str(page)]) == 0
    frame = pd.read_csv(scores)
    ev = evaluate(frame["label"], frame["model_a"], prior=0.2, threshold=1.5, level=None)
    bounds, baselines = ev.bounds()["f1"], ev.baselines()["f1"]
    out = capsys.readouterr().out
    assert cells(out.split("Bounds (95%)")[1], "F1") == str(bounds).split()
    assert cells(out.split("Baselines")[1], "F1") == baselines.cells()
    assert "(95% confidence), from the ranks of the labeled rows" in out
    model = json.loads(path.read_text())["models"]["model_a"]
    assert model["bounds"]["measures"]["f1"]["low"] == pytest.approx(bounds.low)
    assert model["baselines"]["f1"]["random"] == pytest.approx(baselines.random)
    assert f"{bounds.low:.3f}–{bounds.high:.3f}" in page.read_text()
    assert run([*arguments, "--purity", "0.9"]) == 2
    assert "these bounds need clean labels" in capsys.readouterr().err
    assert run([*arguments, "--by", "model_b"]) == 2
    assert "--bounds cannot be combined with --by" in capsys.readouterr().err


def test_json(scores, tmp_path, capsys):
    path = tmp_path / "out.json"
    arguments = ["evaluate", str(scores), "--label", "label", "--score", "model_a", "--prior",
                 "0.2", "--purity", "0.9", "--target", "unlabeled", "--threshold", "1.5",
                 "--ranking", "--json", str(path)]  # fmt: skip
    assert run(arguments) == 0
    content = json.loads(path.read_text())
    frame = pd.read_csv(scores)
    ev = evaluate(
        frame["label"], frame["model_a"], prior=0.2, purity=0.9, target="unlabeled", threshold=1.5
    )
    model = content["models"]["model_a"]
    assert content["pueval"] == __version__
    assert model["measures"]["f1"]["value"] == pytest.approx(ev["f1"].value)
    assert model["best"]["f1"]["threshold"] == ev.best("f1").threshold
    assert model["threshold"] == 1.5
    assert model["roc"]["area"] == pytest.approx(ev.roc().area)
    assert model["roc"]["threshold"][0] is None  # +inf is not JSON
    assert model["assumptions"]["target"] == "unlabeled"
    assert model["ranking"]["pulp"] == pytest.approx(ev.ranking()["pulp"])
    assert [p.name for p in tmp_path.iterdir() if p.name.startswith(".")] == []


def test_label_values(tmp_path, capsys):
    path = tmp_path / "scores.parquet"
    pd.DataFrame({"l": ["p", "u", "n", "u"], "s": [4, 3, 2, 1]}).to_parquet(path)
    code = run(["evaluate", str(path), "--label", "l", "--score", "s", "--prior", "0.1",
                "--positive", "p", "--unlabeled", "u", "--negative", "n"])  # fmt: skip
    assert code == 0
    assert "1 labeled, 2 unlabeled, 1 known negative rows" in capsys.readouterr().out


def test_warnings_are_printed(scores, capsys):
    run(["evaluate", str(scores), "--label", "label", "--score", "model_a", "--prior", "0.9"])
    assert "! model_a: prior 0.9 does not fit this ranking" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["evaluate", "nothing.csv", "--label", "l", "--score", "s", "--prior", "0.1"],
         "file not found: 'nothing.csv'"),
        (["evaluate", "{file}", "--label", "label", "--score", "modl_a", "--prior", "0.1"],
         "no score column 'modl_a'. Did you mean 'model_a'?"),
        (["evaluate", "{file}", "--label", "label", "--score", "model_a", "--prior", "0.1",
          "--prevalence", "0.2"], "give at most one of prior, prevalence and label_frequency"),
        (["prior", "{file}", "--label", "label", "--score", "model_a", "--method", "x"],
         "method must be one of consensus"),
        (["evaluate", "{file}", "--label", "label", "--score", "model_a", "--prior", "1.2"],
         "prior must be a number in [0, 1); got 1.2"),
        (["evaluate", "{file}", "--label", "label", "--score", "model_a", "--prior", "x"],
         "--prior must be a number, or an interval such as 0.1,0.3; got 'x'"),
        (["evaluate", "{file}", "--label", "label", "--score", "model_a", "--piror", "0.1"],
         "Did you mean --prior?"),
        (["evaluate", "{file}", "--label", "label", "--score", "model_a", "--prior", "0.1",
          "--target", "all"], "--target"),
        (["evaluate", "{file}", "--label", "label", "--score", "model_a", "--prior", "0.1",
          "--json", "/nowhere/at/all.json"], "/nowhere/at/all.json cannot be written"),
        (["evaluate", "{file}", "--label", "truth", "--score", "label", "--prior", "0.1",
          "--positive", "5"], "with an unrecognized label"),
        (["evaluat"], "evaluat"),
    ],
)  # fmt: skip
def test_errors(scores, capsys, arguments, message):
    assert run([argument.format(file=scores) for argument in arguments]) == 2
    err = capsys.readouterr().err
    assert err.startswith("pueval: ")
    assert message in err
    assert "Traceback" not in err


def test_prior(scores, tmp_path, capsys):
    path = tmp_path / "out.json"
    assert run(["prior", str(scores), "--label", "label", "--score", "model_a", "--json",
                str(path)]) == 0  # fmt: skip
    out = capsys.readouterr().out
    found = json.loads(path.read_text())["models"]["model_a"]
    low, high = found["prior_interval"]
    first = f"Prior {found['prior']:.3f} (95% CI {low:.3f} to {high:.3f}). This number is"
    assert out.startswith(first)
    assert "AUC" not in out
    table = out[out.index("\nmodel_a ") :]
    assert len([line for line in table.splitlines() if line.endswith(".")]) == 2
    assert cells(out, "consensus")[0] == f"{found['prior']:.3f}"
    assert "The data are compatible with a prior of at most" in out


def test_evaluate_estimates_one_prior_for_all_models(scores, tmp_path, capsys):
    path = tmp_path / "out.json"
    assert run(["evaluate", str(scores), "--label", "label", "--score", "model_b", "--score",
                "model_a", "--json", str(path)]) == 0  # fmt: skip
    out = capsys.readouterr().out
    assert "(estimated from the scores of model_a, 95% CI" in out
    assert "including uncertainty in the estimated prior" in out
    models = json.loads(path.read_text())["models"]
    a, b = (models[name]["assumptions"] for name in ("model_a", "model_b"))
    assert a["prior"] == b["prior"]
    assert a["estimated"] == b["estimated"] is not None
    alone = evaluate(*pd.read_csv(scores)[["label", "model_a"]].to_numpy().T)  # separates better
    assert a["estimated"]["prior"] == pytest.approx(alone.mixture.prior)


def test_an_existing_file_survives_a_failure(scores, tmp_path, monkeypatch, capsys):
    path = tmp_path / "out.json"
    path.write_text('{"precious": 1}')

    def full(*args, **kwargs):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pueval.commands.output_files.json.dump", full)
    code = run(["evaluate", str(scores), "--label", "label", "--score", "model_a", "--prior",
                "0.2", "--json", str(path)])  # fmt: skip
    assert code == 2
    assert "cannot be written: No space left on device" in capsys.readouterr().err
    assert path.read_text() == '{"precious": 1}'
    assert sorted(p.name for p in tmp_path.iterdir()) == ["out.json", "scores.csv"]


@pytest.mark.parametrize("option", ["--json", "--html"])
def test_other_files_are_not_replaced(scores, tmp_path, capsys, option):
    path = tmp_path / "notes.txt"
    path.write_text("precious")
    common = ["evaluate", str(scores), "--label", "label", "--score", "model_a", "--prior", "0.2"]
    assert run([*common, option, str(path)]) == 2
    assert f"{option} {path} already exists and is not an earlier output" in capsys.readouterr().err
    assert path.read_text() == "precious"
    path.write_text("")
    for _ in range(2):
        assert run([*common, option, str(path), "--quiet"]) == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["evaluate", "a.csv", "b.csv"],
            "unexpected argument 'b.csv'. To read several files, quote a pattern",
        ),
        (
            ["evaluate", "a.csv", "--score", "a", "b"],
            "unexpected argument 'b'. Repeat --score for each model.",
        ),
        (
            ["compare", "a.csv", "--score", "a", "--at", "top=5"],
            "--at is an option of pueval evaluate",
        ),
        (
            ["evaluate", "a.csv", "--prior", "30%"],
            "--prior must be a share, not a percentage; got 30%. Use 0.3",
        ),
        (["evaluate", "a.csv", "--prior", "0,3"], "Use a decimal point: 0.3"),
        (["evaluate", "a.csv", "--no-intervals", "--level", "0.9"], "cannot be combined with"),
        (["evaluate", "a.csv", "--no-intervals", "--n-resamples", "9"], "cannot be combined with"),
    ],
)
def test_what_is_wrong_is_said_in_our_words(arguments, message, capsys):
    assert run([*arguments, "--label", "label"]) == 2
    assert message in capsys.readouterr().err


def test_names_are_not_markup(tmp_path, capsys, monkeypatch):
    name = "[bold red]model[/]"
    path = tmp_path / "scores.csv"
    pd.DataFrame({"label": [1, 0, 0], name: [3, 2, 1]}).to_csv(path, index=False)
    arguments = ["evaluate", str(path), "--label", "label", "--score", name, "--prior", "0"]
    run(arguments)
    assert name in capsys.readouterr().out
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    run(arguments)
    assert name in capsys.readouterr().out


def test_table_in_a_terminal(scores, capsys, monkeypatch):
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    run(["evaluate", str(scores), "--label", "label", "--score", "model_a", "--prior", "0.2",
         "--ranking"])  # fmt: skip
    out = capsys.readouterr().out
    assert "───" in out
    assert "Without a prior" in out


def test_help_and_version(capsys):
    assert run(["--version"]) == 0
    assert capsys.readouterr().out.strip() == __version__
    assert run(["evaluate", "--help"]) == 0
    out = capsys.readouterr().out
    assert "Share of positives among the unlabeled" in out
    assert run([]) == 0


def command(*arguments, **given):
    return subprocess.run(
        [sys.executable, "-m", "pueval", *arguments],
        capture_output=True,
        text=True,
        check=False,
        **given,
    )


def test_as_a_process(scores):
    good = command("evaluate", str(scores), "--label", "label", "--score", "model_a", "--prior",
                   "0.2")  # fmt: skip
    assert (good.returncode, good.stderr) == (0, "")
    bad = command("evaluate", str(scores), "--label", "label", "--score", "x", "--prior", "0.2")
    assert bad.returncode == 2
    assert bad.stdout == ""
    assert len(bad.stderr.splitlines()) == 1


def test_without_the_extra(tmp_path):
    """A bare install says what to install."""
    (tmp_path / "cyclopts.py").write_text("raise ImportError")
    result = command("--help", env={**os.environ, "PYTHONPATH": str(tmp_path)})
    assert result.returncode == 1
    assert 'pip install "pueval[cli]"' in result.stderr
    assert "Traceback" not in result.stderr


def test_writes_what_numpy_gives(tmp_path):
    """Weights make floats, ties make duplicates: all of it is JSON."""
    rng = np.random.default_rng(0)
    path, out = tmp_path / "scores.csv", tmp_path / "out.json"
    frame = pd.DataFrame(
        {"label": rng.integers(0, 2, 50), "s": rng.integers(0, 5, 50), "w": rng.random(50)}
    )
    frame.to_csv(path, index=False)
    code = run(["evaluate", str(path), "--label", "label", "--score", "s", "--weight", "w",
                "--prior", "0", "--json", str(out)])  # fmt: skip
    assert code == 0
    assert json.loads(out.read_text())["models"]["s"]["counts"]["labeled"] == pytest.approx(
        frame.loc[frame["label"] == 1, "w"].sum()
    )


def test_a_model_that_does_not_separate_does_not_spoil_the_others(scores, tmp_path, capsys):
    frame = pd.read_csv(scores)
    frame["noise"] = np.random.default_rng(3).normal(size=len(frame))
    path, out = tmp_path / "more.csv", tmp_path / "out.json"
    frame.to_csv(path, index=False)
    assert run(["evaluate", str(path), "--label", "label", "--score", "noise", "--score",
                "model_a", "--no-intervals"]) == 0  # fmt: skip
    assert "(estimated" in capsys.readouterr().out
    assert run(["prior", str(path), "--label", "label", "--score", "noise", "--json",
                str(out)]) == 0  # fmt: skip
    assert json.loads(out.read_text())["models"]["noise"]["prior"] is None
    printed = capsys.readouterr().out
    assert printed.startswith("Prior –: these scores do not determine it.\n")
    both = ["--score", "noise", "--score", "model_a"]
    assert run(["prior", str(path), "--label", "label", *both]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("noise: prior –")
    assert "\nmodel_a: prior 0." in printed


def test_intervals_of_prior_and_purity(scores, capsys):
    start = ["evaluate", str(scores), "--label", "label", "--score", "model_a"]
    assert run([*start, "--prior", "0.1,0.3", "--purity", "0.9,1"]) == 0
    out = capsys.readouterr().out
    frame = pd.read_csv(scores)
    ev = evaluate(frame["label"], frame["model_a"], prior=(0.1, 0.3), purity=(0.9, 1.0))
    assert cells(out, "F1")[-1] == f"({ev['f1'].low:.3f}–{ev['f1'].high:.3f})"
    assert "prior 0.1 to 0.3, purity 0.9 to 1" in out
    assert "covering every prior and purity in the given intervals" in out
    assert run([*start, "--prior", "0.2", "--variance", "labeling"]) == 0
    assert "intervals for a new random labeling" in capsys.readouterr().out
    for wrong in ("a", "0.1;0.3", ""):
        assert run([*start, "--prior", wrong]) == 2
        assert "--prior must be a number, or an interval" in capsys.readouterr().err
    assert run([*start, "--prior", "0.3,0.1"]) == 2
    assert "the lower one first" in capsys.readouterr().err


def test_several_models_keep_an_interval_of_the_purity(scores, tmp_path):
    """Without unlabeled rows there is no prior to share, and the purity stays as given."""
    frame, out = pd.read_csv(scores), tmp_path / "out.json"
    start = ["evaluate", str(scores), "--label", "truth", "--unlabeled", "2", "--negative", "0"]
    models = ["--score", "model_a", "--score", "model_b", "--quiet", "--json", str(out)]
    assert run([*start, *models, "--purity", "0.85,0.95"]) == 0
    for name, content in json.loads(out.read_text())["models"].items():
        ev = evaluate(
            frame["truth"],
            frame[name],
            purity=(0.85, 0.95),
            unlabeled_label=2,
            negative_label=0,
        )
        assert content["assumptions"]["region"]["purity"] == [0.85, 0.95]
        assert content["measures"]["roc_auc"]["low"] == pytest.approx(ev["roc_auc"].low)


@pytest.mark.parametrize("purity", ["estimate", "0.9"])
def test_several_models_share_the_estimate_of_the_prior(scores, tmp_path, purity):
    out = tmp_path / "out.json"
    assert run(["evaluate", str(scores), "--label", "label", "--score", "model_b", "--score",
                "model_a", "--purity", purity, "--quiet", "--json", str(out)]) == 0  # fmt: skip
    first, second = json.loads(out.read_text())["models"].values()
    for share in ("prior", "purity"):
        assert first["assumptions"][share] == second["assumptions"][share]


def test_models_share_a_warning(scores, capsys):
    run(["evaluate", str(scores), "--label", "label", "--score", "model_a", "--score", "model_b",
         "--prior", "0.9"])  # fmt: skip
    notes = [line for line in capsys.readouterr().out.splitlines() if line.startswith("! ")]
    [note] = [line for line in notes if "does not fit this ranking" in line]
    assert note.startswith("! model_a: prior 0.9")
    assert note.endswith("(Likewise model_b.)")
