"""What the examples and the page about tuning say is what happens."""

import re
import runpy

import numpy as np
import pytest

from tests.conftest import ROOT


def run(name, capsys):
    runpy.run_path(str(ROOT / "examples" / name), run_name="__main__")
    return capsys.readouterr().out


def test_scikit_learn(capsys):
    out = run("tune_scikit_learn.py", capsys)
    naive, corrected = (
        float(re.search(rf"{name} +(\S+) \(threshold", out)[1]) for name in ("naive", "corrected")
    )
    assert corrected > naive
    prior, truth = map(float, re.search(r"prior +(\S+) .*truth is (\S+)\)", out).groups())
    assert abs(prior - truth) < 0.06


def test_pulearn(capsys):
    pytest.importorskip("pulearn", reason="needs pulearn")
    out = run("tune_pulearn.py", capsys)
    rows = re.findall(
        r"^(?:logistic|Elkan|bagging).*?(0\.\d+) +(0\.\d+) +(0\.\d+)$", out, re.MULTILINE
    )
    assert len(rows) == 3
    for naive, corrected, truth in np.array(rows, dtype=float):
        assert abs(corrected - truth) < 0.04 < abs(naive - truth)
    assert "best depth of the trees" in out


def test_page(capsys):
    text = (ROOT / "docs" / "howto" / "tune.md").read_text()
    names: dict = {}
    for code in re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL):
        exec(code, names)  # noqa: S102
    unlabeled = names["y"] == 0
    assert abs(names["prior"] - names["positive"][unlabeled].mean()) < 0.06
    assert "roc_auc" in capsys.readouterr().out
