"""``--propensity``: labels that are not random, on the command line."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from pueval import evaluate
from pueval.commands.app import run

COLUMNS = ["--label", "label", "--score", "a"]


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    positive = rng.random(3000) < 0.3
    score = rng.normal(size=3000) + 2 * positive
    propensity = np.where(score > 2, 0.6, 0.2)
    label = (positive & (rng.random(3000) < propensity)).astype(int)
    return pd.DataFrame(
        {
            "label": label,
            "a": score,
            "b": score + rng.normal(size=3000),
            "e": propensity,
            "patient": [f"p{k}" for k in rng.integers(0, 400, 3000)],
            "item": [f"i{k}" for k in rng.integers(0, 300, 3000)],
        }
    )


@pytest.fixture(params=["scores.csv", "scores.parquet"])
def file(data, tmp_path, request):
    path = tmp_path / request.param
    if path.suffix == ".csv":
        data.to_csv(path, index=False)
    else:
        data.to_parquet(path)
    return str(path)


@pytest.mark.parametrize("clusters", [(), ("patient",), ("patient", "item")])
def test_evaluate(data, file, tmp_path, capsys, clusters):
    out = tmp_path / "out.json"
    options = [word for name in clusters for word in ("--cluster", name)]
    options += ["--score", "b", "--propensity", "e", "--json", str(out)]
    assert run(["evaluate", file, *COLUMNS, *options]) == 0
    assert "as the propensities imply" in capsys.readouterr().out
    found = json.loads(out.read_text())["models"]
    cluster = [data[name] for name in clusters]
    for name in "ab":
        ev = evaluate(
            data["label"],
            data[name],
            propensity=data["e"],
            cluster=cluster[0] if len(cluster) == 1 else cluster or None,
        )
        for measure in ("roc_auc", "f1"):
            for end in ("value", "low", "high"):
                expected = getattr(ev[measure], end)
                assert found[name]["measures"][measure][end] == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--propensity", "f"], "no propensity column 'f'. The columns are 'label', 'a',"),
        (["--propensity", "a"], "propensity must be in (0, 1] for every labeled row"),
        (["--propensity", "e", "--bins", "16"], "--bins cannot be combined with --propensity"),
        (["--propensity", "e", "--by", "item"], "--propensity cannot be combined with --by"),
        (["--propensity", "e", "--over", "item"], "--propensity cannot be combined with --over"),
        (["--propensity", "e", "--audit", "x.csv"], "--propensity cannot be combined with --audit"),
    ],
)
def test_refused(file, capsys, options, message):
    assert run(["evaluate", file, *COLUMNS, *options]) == 2
    assert message in capsys.readouterr().err


def test_saved_counts_have_no_propensities(file, tmp_path, capsys):
    saved = str(tmp_path / "counts.parquet")
    assert run(["count", file, saved, *COLUMNS]) == 0
    assert run(["evaluate", saved, "--propensity", "e"]) == 2
    assert "Leave out --propensity" in capsys.readouterr().err
