"""pueval compare: tables, files, errors."""

import json

import numpy as np
import pandas as pd
import pytest

from pueval import __version__, compare
from pueval.commands.app import run
from tests.conftest import models


@pytest.fixture
def scored(rng, tmp_path):
    """A CSV file with labels and the scores of three models, and what is in it."""
    y, scores, _ = models(rng, 600)
    table = np.column_stack([y, *scores.values()])
    path = tmp_path / "scores.csv"
    np.savetxt(path, table, delimiter=",", header="label,a,b,c", comments="", fmt="%.17g")
    return path, y, scores


def command(path, *more, models=("a", "b", "c")):
    scores = [part for name in models for part in ("--score", name)]
    return run(["compare", str(path), "--label", "label", *scores, *more])


def test_tables(scored, capsys):
    path, y, scores = scored
    assert command(path, "--prior", "0.2") == 0
    out = capsys.readouterr().out
    found = compare(y, scores, prior=0.2)
    [one, *_] = found.differences("roc_auc")
    assert f"{one.value:.4f}" in out
    for part in ("3 models on", "prior 0.2", "a − b", "Best by prior", "best (probability)"):
        assert part in out


def test_all_measures_on_request(scored, capsys):
    path, _, _ = scored
    assert command(path, "--prior", "0.2", models=("a", "b")) == 0
    short = capsys.readouterr().out
    assert "13 of 25 measures; --all shows the rest." in short
    assert "Markedness" not in short
    assert "average precision if you act on the top-scored rows" in short
    assert command(path, "--prior", "0.2", "--all", models=("a", "b")) == 0
    long = capsys.readouterr().out
    assert "Markedness" in long
    assert "--all shows" not in long


def test_a_prior_as_an_interval(scored, tmp_path, capsys):
    path, y, scores = scored
    target = tmp_path / "out.json"
    assert command(path, "--prior", "0.1,0.3", "--json", str(target)) == 0
    assert "covering every prior and purity" in capsys.readouterr().out
    content = json.loads(target.read_text())
    found = compare(y, scores, prior=(0.1, 0.3))
    assert content["assumptions"]["region"]["prior"] == [0.1, 0.3]
    lows = [one["low"] for one in content["differences"] if one["measure"] == "f1"]
    assert lows == pytest.approx([one.low for one in found.differences("f1")])


def test_chosen_measures_and_ranking(scored, capsys):
    path, _, _ = scored
    more = ("--measure", "f2", "--measure", "recall", "--threshold", "0.8", "--ranking")
    assert command(path, "--prevalence", "0.4", *more) == 0
    out = capsys.readouterr().out
    assert "F2" in out
    assert "pulp" in out
    assert "Average precision  a − b" not in out


def test_saturated_pulp(tmp_path, capsys):
    rng = np.random.default_rng(0)
    y = (np.arange(2000) < 300).astype(int)
    frame = pd.DataFrame({"y": y, "s": rng.normal(size=2000) + 3 * y})
    frame["t"] = rng.normal(size=2000) + 2.5 * y
    path = tmp_path / "saturated.csv"
    frame.to_csv(path, index=False)
    columns = ("--label", "y", "--score", "s", "--score", "t", "--prior", "0", "--ranking")
    for name in ("compare", "evaluate"):
        assert run([name, str(path), *columns]) == 0
        out = " ".join(capsys.readouterr().out.split())
        assert "PULP of all models is within 0.01 of" in out
        assert "Choose between them by the naive ROC AUC." in out


def test_json_and_page(scored, tmp_path, capsys):
    path, y, scores = scored
    target, page = tmp_path / "out.json", tmp_path / "out.html"
    more = ("--prior", "0.2", "--json", str(target), "--html", str(page), "--quiet")
    assert command(path, *more) == 0
    assert capsys.readouterr().out == ""
    content = json.loads(target.read_text())
    found = compare(y, scores, prior=0.2)
    assert content["pueval"] == __version__
    assert content["file"] == str(path)
    values = [one["value"] for one in content["differences"] if one["measure"] == "roc_auc"]
    assert values == pytest.approx([one.value for one in found.differences("roc_auc")])
    text = page.read_text(encoding="utf-8")
    assert "pueval compare" in text


@pytest.mark.parametrize(
    ("names", "more", "message"),
    [
        (("a",), (), "at least two models; got one: 'a'"),
        (("a", "a"), (), "names of models must be unique; got 'a'"),
        (("a", "d"), (), "no score column 'd'"),
        (("a", "b"), ("--measure", "f_1"), "unknown measure 'f_1'. Did you mean 'f1'"),
        (("a", "b"), ("--prior", "1.5"), "prior must be a number in [0, 1)"),
        (("a", "b"), ("--prior", "0.1", "--prevalence", "0.4"), "at most one of prior"),
    ],
)
def test_refused(scored, capsys, names, more, message):
    path, _, _ = scored
    given = more if "--prior" in more else ("--prior", "0.2", *more)
    assert command(path, *given, models=names) == 2
    streams = capsys.readouterr()
    assert message in streams.err
    assert streams.out == ""


def test_many_models(tmp_path, rng, capsys):
    labeled = rng.random(200) < 0.4
    names = [f"model_{k}" for k in range(25)]
    scores = rng.normal(size=(25, 200)) + 0.5 * labeled
    path, header = tmp_path / "many.csv", ",".join(["label", *names])
    table = np.column_stack([labeled, *scores])
    np.savetxt(path, table, delimiter=",", header=header, comments="", fmt="%.17g")
    options = ("--prior", "0", "--threshold", "0")
    assert command(path, *options, models=names) == 0
    table = capsys.readouterr().out
    assert "p-value" not in table
    assert len([line for line in table.splitlines() if line.startswith("model_")]) == 20
    assert command(path, *options, "--measure", "roc_auc", models=names) == 0
    pairs = [line for line in capsys.readouterr().out.splitlines() if line.startswith("ROC AUC ")]
    assert len(pairs) >= 19
