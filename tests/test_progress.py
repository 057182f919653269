"""Long work shows a bar, short work none, and neither changes results."""

import io
import sys

import numpy as np
import pytest

from pueval import evaluate
from pueval._progress import progress_bar


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize(("patience", "shown"), [(0.0, True), (60.0, False)])
def test_only_long_work_in_a_terminal(monkeypatch, patience, shown):
    monkeypatch.setattr("pueval._progress.DELAY", patience)
    monkeypatch.setattr(sys, "stderr", Terminal())
    with progress_bar("work", 3) as advance:
        for _ in range(3):
            advance()
    assert ("work" in sys.stderr.getvalue()) == shown


def test_not_where_it_is_piped(capsys, monkeypatch):
    monkeypatch.setattr("pueval._progress.DELAY", 0.0)
    with progress_bar("work", 1) as advance:
        advance()
    assert capsys.readouterr().err == ""


def test_resampling_in_blocks(rng, monkeypatch):
    y = np.arange(400) < 80
    score = rng.normal(size=400) + y
    whole = evaluate(y, score, prior=0.1, n_resamples=900)["f1"]
    monkeypatch.setattr("pueval.uncertainty.bootstrap_draws.BLOCK", 100)
    assert evaluate(y, score, prior=0.1, n_resamples=900)["f1"] == whole


def test_no_stream_for_errors(monkeypatch):
    monkeypatch.setattr("sys.stderr", None)
    with progress_bar("work", 2) as advance:
        advance()
