"""The examples, and the page about tuning, find what they claim."""

import re
import runpy

import numpy as np
import pytest

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


def test_training(capsys, monkeypatch):
    """The naive accuracy stops training too early, as the page about it says."""
    pytest.importorskip("torchmetrics", reason="needs PyTorch and TorchMetrics: make torch")
    monkeypatch.setattr("sys.argv", ["train_nnpu.py", "2"])
    out = run("train_nnpu.py", capsys)
    page = (ROOT / "docs" / "howto" / "training-loop.md").read_text()
    for text, worse in ((out, "2 of 2"), (page, "20 of 20")):
        naive, corrected = (
            list(map(float, re.search(rf"^{name} accuracy +(.*)$", text, re.MULTILINE)[1].split()))
            for name in ("naive", "corrected")
        )
        precision = re.search(r"^corrected average precision +(.*)$", text, re.MULTILINE)[1].split()
        epoch, shown, truth, _ = map(float, precision)
        assert naive[0] < 3
        assert epoch > 10
        assert naive[2] + 0.03 < truth
        assert abs(shown - truth) < 0.03
        assert naive[3] + 0.2 < corrected[3]
        assert f"kept a worse network in {worse} seeds" in text
