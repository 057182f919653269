"""``--measures``: families of measures on the command line."""

from __future__ import annotations

import json

import numpy as np
import pytest

from pueval import compare, evaluate, evaluate_by
from pueval.commands import app
from pueval.text.numbers import CLIPPED_NOTE
from tests.comparison.test_families import probabilities

Y, SCORES, _ = probabilities(0, n=900)
SITE = np.arange(Y.size) % 3


@pytest.fixture
def file(tmp_path):
    lines = zip(Y.astype(int), SITE, *SCORES.values(), strict=True)
    text = "\n".join(f"{y},{site},{float(a)!r},{float(b)!r}" for y, site, a, b in lines)
    path = tmp_path / "scores.csv"
    path.write_text(f"label,site,a,b\n{text}\n")
    return path


def run(*arguments):
    return app.run([str(argument) for argument in arguments])


def test_evaluate(file, tmp_path, capsys):
    outputs = ("--json", tmp_path / "r.json", "--html", tmp_path / "r.html")
    given = ("--label", "label", "--score", "a", "--score", "b", "--prior", 0.25)
    assert run("evaluate", file, *given, "--measures", "probability,bedroc_score", *outputs) == 0
    printed = capsys.readouterr().out
    ev = evaluate(Y, SCORES["b"], prior=0.25)
    [line] = [each for each in printed.splitlines() if each.startswith("Log loss  ")]
    assert line.split()[-3:] == [f"{ev['log_loss'].naive:.3f}", *str(ev["log_loss"]).split()]
    content = json.loads((tmp_path / "r.json").read_text())["models"]["b"]["families"]
    assert content == ev.family("probability", "bedroc_score").to_dict()
    page = (tmp_path / "r.html").read_text()
    assert "More measures" in page
    assert "Brier skill score" in page


def test_groups(file, tmp_path, capsys):
    given = ("--label", "label", "--score", "a", "--prior", 0.25, "--by", "site")
    path = tmp_path / "r.json"
    assert run("evaluate", file, *given, "--measures", "log_loss", "--json", path) == 0
    printed = capsys.readouterr().out
    groups = evaluate_by(Y, SCORES["a"], SITE, prior=0.25)
    assert f"all rows  {groups.overall['log_loss']}" in printed
    content = json.loads(path.read_text())["models"]["a"]["families"]["log_loss"]
    assert content["value"] == pytest.approx(groups["log_loss"].value.tolist())


def test_compare(file, capsys):
    given = ("--label", "label", "--score", "a", "--score", "b", "--prior", 0.25)
    assert run("compare", file, *given, "--measure", "probability") == 0
    printed = capsys.readouterr().out
    [difference] = compare(Y, SCORES, prior=0.25).differences("d2_log_loss_score")
    assert f"{difference.value:.4f}" in printed
    assert "Mean score" not in printed
    assert run("compare", file, *given, "--measure", "presence") == 0
    printed = capsys.readouterr().out
    [difference] = compare(Y, SCORES, prior=0.25).differences("auc_ratio")
    assert f"{difference.value:.4f}" in printed
    assert "Boyce index, smoothed" in printed
    assert printed.count("F_pb ") == 3  # value, difference, order by prior


def test_both_spellings(file, capsys):
    given = ("--label", "label", "--score", "a", "--score", "b", "--prior", 0.25)
    for command, first, second in (
        ("evaluate", "log_loss", "bedroc_score"),
        ("compare", "f1", "log_loss"),
    ):
        printed = set()
        for options in (
            ("--measures", f"{first},{second}"),
            ("--measure", f"{first}, {second}"),
            ("--measure", first, "--measure", second),
            ("--measures", first, "--measures", second),
        ):
            assert run(command, file, *given, *options, "--n-resamples", 50) == 0
            printed.add(capsys.readouterr().out)
        assert len(printed) == 1


@pytest.mark.parametrize(
    "command", [("evaluate",), ("evaluate", "--by", "site"), ("compare", "--score", "b")]
)
def test_scores_that_are_no_probabilities(file, tmp_path, capsys, monkeypatch, command):
    """They are refused before anything is computed, printed or written."""

    def compute(*_, **__):
        raise AssertionError

    text = file.read_text().splitlines()
    cells = text[1].split(",")
    cells[2] = "1.5"
    file.write_text("\n".join([text[0], ",".join(cells), *text[2:]]) + "\n")
    for name in ("evaluate.evaluate", "group_command.evaluate_by", "compare.compare"):
        monkeypatch.setattr(f"pueval.commands.{name}", compute)
    name, *more = command
    given = ("--label", "label", "--score", "a", *more, "--measures", "probability")
    assert run(name, file, *given, "--json", tmp_path / "r.json") == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "a: brier_score_loss needs probabilities, but scores range from" in captured.err
    assert not (tmp_path / "r.json").exists()


def test_compared_measures_are_in_every_output(file, tmp_path):
    outputs = ("--json", tmp_path / "r.json", "--html", tmp_path / "r.html")
    given = ("--label", "label", "--score", "a", "--score", "b", "--prior", 0.25)
    names = ("precision_at_100", "f2", "calibration_slope", "f1")
    assert run("compare", file, *given, "--measures", ",".join(names[:2]), *outputs) == 0
    comparison = compare(Y, SCORES, prior=0.25)
    content = json.loads((tmp_path / "r.json").read_text())
    added = {row["measure"]: row["value"] for row in content["differences"][-2:]}
    for name in names[:2]:
        found = content["models"]["b"]["families"][name]
        assert found["value"] == pytest.approx(comparison["b"][name].value)
        assert added[name] == pytest.approx(comparison.differences(name)[0].value)
        assert content["best_probability"][name] is not None
    page = (tmp_path / "r.html").read_text()
    assert "More measures" in page
    assert page.count("Precision, first 100 rows") >= 2  # in the tables of values and of pairs
    # Values of measures that cannot order models have no differences.
    content = comparison.to_dict(families=names)
    assert [*content["models"]["a"]["families"]] == [*names]
    differences = [row["measure"] for row in content["differences"]]
    assert (differences.count("f1"), differences.count("calibration_slope")) == (1, 0)


@pytest.mark.parametrize("command", [("evaluate",), ("compare", "--score", "b")])
def test_too_many_first_rows_are_refused_before_anything_is_printed(file, capsys, command):
    name, *more = command
    given = ("--label", "label", "--score", "a", *more, "--prior", 0.25)
    assert run(name, file, *given, "--measures", "precision_at_901") == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "a: precision_at_901: k must be at most 900, the number of rows" in captured.err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--measures", "f2", "--by", "site"), "unknown measure 'f2'. The measures are roc_auc"),
        (("--measures", "propability"), "Did you mean 'probability'?"),
        (("--measures", ","), "--measures is empty. Name a family: probability, top, presence."),
        (("--measures", "precision_at_k"), "in the name, as in precision_at_100."),
        (("--measures", "net_benefit"), "Write the number in the name, as in net_benefit_at_0.2."),
        (("--measures", "recall_at_0.05"), "write it in percent: recall_at_5%"),
        (("--measures", "log_loss", "--over", "site"), "--measures cannot be combined with --over"),
    ],
)
def test_refusals(file, capsys, options, message):
    given = ("--label", "label", "--score", "a", "--prior", 0.25)
    assert run("evaluate", file, *given, *options) != 0
    captured = capsys.readouterr()
    assert message in captured.err
    assert captured.out == ""


def test_compare_prints_no_table_without_rows(file, capsys):
    given = ("--label", "label", "--score", "a", "--score", "b", "--prior", 0.25)
    assert run("compare", file, *given, "--measures", "top,") == 0
    assert "Best by prior" not in capsys.readouterr().out
    assert run("compare", file, *given, "--measures", "top,f1") == 0
    assert "Best by prior" in capsys.readouterr().out


def test_marks_of_clipped_values_are_explained(tmp_path, capsys):
    """Below every table that has them, not only below the first."""
    path = tmp_path / "scores.csv"
    rows = [*["1,3"] * 50, *["0,3"] * 10, *["0,1"] * 990]
    path.write_text("\n".join(["label,site,a", *(row.replace(",", ",x,") for row in rows)]) + "\n")
    given = ("--label", "label", "--score", "a", "--prior", 0.1, "--no-intervals")
    run("evaluate", path, *given, "--measures", "bedroc_score", "--at", "top=60", "--all")
    blocks = capsys.readouterr().out.split(CLIPPED_NOTE)
    assert len(blocks) == 4
    assert all("†" in block for block in blocks[:3])
    run("evaluate", path, *given, "--measures", "bedroc_score", "--by", "site")
    printed = capsys.readouterr().out
    assert "†" in printed.split("BEDROC")[1].removesuffix(f"{CLIPPED_NOTE}\n")
    assert printed.endswith(f"{CLIPPED_NOTE}\n")
