"""Evaluations over time in which no look has enough rows."""

import json

import numpy as np
import pandas as pd
import pytest

from pueval import InputError, evaluate_over_time
from pueval.commands.app import run

RNG = np.random.default_rng(0)
DAY = np.arange("2025-01-01", "2025-05-31", dtype="datetime64[D]")
LABELED = np.arange(DAY.size) % 15 == 0
SCORE = RNG.normal(2.0 * LABELED)


@pytest.mark.parametrize(
    "options", [{"prior": 0.1}, {"propensity": np.full(DAY.size, 0.5)}, {"label_frequency": 0.5}]
)
@pytest.mark.parametrize("window", [1, 2])
def test_no_look(options, window):
    times = evaluate_over_time(LABELED, SCORE, DAY, n_resamples=20, window=window, **options)
    assert not times.evaluated.any()
    assert times.alarms == ()
    sequence = times.sequence("roc_auc")
    assert sequence.windows == ()
    assert sequence.reference is None
    assert repr(sequence).startswith("ROC AUC: no look, as there are too few rows")
    text = "No look at ROC AUC yet: there are too few rows for a reference."
    assert text in repr(times)
    assert text in times._repr_html_()
    data = json.loads(json.dumps(times.to_dict()))
    assert data["alarms"] == []
    assert data["sequences"]["roc_auc"]["windows"] == []
    with pytest.raises(InputError, match="no window has enough rows"):
        times.plot()


def test_notes_of_windows_with_few_rows_of_both_kinds():
    """The note fits into the printed table."""
    options = {"every": "14 days", "prior": 0.1, "n_resamples": 20}
    times = evaluate_over_time(LABELED, SCORE, DAY, **options)
    note = "1 labeled row and 13 unlabeled or known negative rows; 20 of each are needed"
    assert note in times.notes
    assert note in repr(times)
    times = evaluate_over_time(LABELED, SCORE, DAY, min_background=50, **options)
    assert note.replace("20 of each", "20 and 50") in times.notes


def test_a_reference_but_no_look():
    times = evaluate_over_time(
        LABELED, SCORE, DAY, prior=0.1, n_resamples=20, min_labeled=6, reference=2
    )
    assert times.sequence("roc_auc").reference == "2025-01 to 2025-03"
    assert "there are too few rows after the reference" in repr(times)


def test_command(tmp_path, capsys):
    path = tmp_path / "rows.csv"
    pd.DataFrame({"label": LABELED.astype(int), "a": SCORE, "day": DAY}).to_csv(path, index=False)
    arguments = ["evaluate", str(path), "--label", "label", "--score", "a", "--prior", "0.1"]
    assert run([*arguments, "--over", "day", "--n-resamples", "20"]) == 0
    assert "No look at ROC AUC yet" in capsys.readouterr().out
