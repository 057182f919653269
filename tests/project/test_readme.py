"""What the README and the examples say is what happens."""

import json
import re
import runpy
import shlex

import pandas as pd
import pytest

from pueval.commands.app import run
from tests.conftest import ROOT

README = (ROOT / "README.md").read_text()


def test_python_snippets(capsys):
    names: dict = {}
    for code in re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL):
        exec(code, names)  # noqa: S102
    naive, corrected = capsys.readouterr().out.split()[:2]
    assert f"{float(naive):.2f} and {float(corrected):.2f}" in README


def test_command(tmp_path, monkeypatch, capsys):
    commands = [line for line in README.splitlines() if re.match("pueval (evaluate|prior) s", line)]
    assert len(commands) == 3
    frame = pd.read_csv(ROOT / "examples" / "spambase.csv").rename(columns={"boosting": "model_a"})
    frame.to_csv(tmp_path / "scores.csv", index=False)
    monkeypatch.chdir(tmp_path)
    for command in commands:
        assert run(shlex.split(command)[1:]) == 0
    out = capsys.readouterr().out
    assert out.count("ROC AUC") == 2
    assert out.count("consensus") == 1


@pytest.fixture
def demo(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    namespace = runpy.run_path(str(ROOT / "examples" / "demo.py"), run_name="__main__")
    return capsys.readouterr().out, namespace


def test_demo_shows_three_columns(demo):
    out, _ = demo
    for title in ("ROC AUC", "F1", "Matthews correlation"):
        rows = [line.split() for line in out.splitlines() if line.strip().startswith(title)]
        assert len(rows) == 2  # one for each model
        for row in rows:
            naive, corrected, truth = (float(cell) for cell in row[-3:])
            assert abs(corrected - truth) < 0.05 < abs(naive - truth)
    assert max(map(len, out.splitlines())) <= 80


def test_numbers_below_the_picture(demo):
    """The caption rounds the numbers of the logistic model."""
    _, namespace = demo
    from pueval import Counts, evaluate

    data = namespace["load"]()
    prior = data["truth"][data["label"] == 0].mean()
    ev = evaluate(data["label"], data["logistic"], prior=prior)["average_precision"]
    known = Counts.from_arrays(
        data["truth"], data["logistic"], unlabeled_label=None, negative_label=0
    )
    true = evaluate(known)["average_precision"].value
    caption = " ".join(README.split("*A spam filter")[1].split("*")[0].split())
    assert f"average precision at {ev.naive:.2f}"[1:].replace(" 0.", " .") in caption
    assert f"corrected it is {ev.value:.2f}".replace("0.", ".") in caption
    assert f"is {true:.2f}".replace("0.", ".") in caption


@pytest.mark.thorough
def test_the_example_can_be_made_again(data_folder, tmp_path, monkeypatch):
    """The script gives the committed file, up to the last digits of the classifiers."""
    script = tmp_path / "make_spambase.py"
    script.write_text((ROOT / "examples" / "make_spambase.py").read_text())
    runpy.run_path(str(script), run_name="__main__")
    made, kept = (
        pd.read_csv(path) for path in (tmp_path / "spambase.csv", ROOT / "examples/spambase.csv")
    )
    assert (made[["label", "truth"]] == kept[["label", "truth"]]).all(axis=None)
    for model in ("boosting", "logistic"):
        assert made[model].corr(kept[model]) > 0.999


def test_json_of_the_example(tmp_path, capsys):
    out = tmp_path / "out.json"
    code = run(["evaluate", str(ROOT / "examples" / "spambase.csv"), "--label", "label", "--score",
                "boosting", "--score", "logistic", "--prior", "0.3",
                "--json", str(out)])  # fmt: skip
    assert code == 0
    assert set(json.loads(out.read_text())["models"]) == {"boosting", "logistic"}
