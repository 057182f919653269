"""The examples, and the page about tuning, find what they claim."""

import re
import runpy

import numpy as np

from tests.conftest import ROOT, need_pulearn_bagging


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
    need_pulearn_bagging()
    out = run("tune_pulearn.py", capsys)
    rows = re.findall(
        r"^(?:logistic|Elkan|bagging).*?(0\.\d+) +(0\.\d+) +(0\.\d+)$", out, re.MULTILINE
    )
    assert len(rows) == 3
    for naive, corrected, truth in np.array(rows, dtype=float):
        assert abs(corrected - truth) < 0.04 < abs(naive - truth)
    assert "best depth of the trees" in out


def test_page():
    """The page about tuning finds about the true prior; test_docs.py compares its output."""
    page = (ROOT / "docs" / "howto" / "tune.md").read_text()
    prior, truth = map(float, re.search(r"prior (0\.\d+), true prior (0\.\d+)", page).groups())
    assert abs(prior - truth) < 0.06
