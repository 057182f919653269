"""Evaluations over time as text, data and pictures, and on the command line."""

import json

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from pueval import evaluate_over_time
from pueval.commands.app import run
from pueval.displays import OverTimeDisplay
from pueval.errors import InputError

RNG = np.random.default_rng(0)
DAY = np.arange("2025-01-01", "2025-11-20", dtype="datetime64[D]").repeat(30)
POSITIVE = RNG.random(DAY.size) < 0.3
SCORE = RNG.normal(np.where(np.datetime64("2025-08-01") > DAY, 2.0, 0.8) * POSITIVE)
LABELED = POSITIVE & (RNG.random(DAY.size) < 0.4)
OPTIONS = {"prior": 0.2, "reference": 3, "n_resamples": 50}


@pytest.fixture(scope="module")
def times():
    return evaluate_over_time(LABELED, SCORE, DAY, **OPTIONS)


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("time") / "scores.csv"
    frame = pd.DataFrame({"label": LABELED.astype(int), "a": SCORE, "b": -SCORE, "day": DAY})
    frame.sample(frac=1, random_state=0).to_csv(path, index=False)
    return path


class TestText:
    def test_table(self, times):
        lines = repr(times).splitlines()
        assert lines[0].startswith("Evaluation of 11 windows; ")
        auc = times["roc_auc"]
        line = next(line for line in lines if line.startswith("2025-04"))
        assert f"{auc.value[3]:.3f} ({auc.low[3]:.3f}–{auc.high[3]:.3f})" in line
        [alarm] = times.alarms
        assert lines[-1] == f"! {alarm!r}."
        assert repr(alarm).startswith("ROC AUC changed by -0.")
        assert repr(alarm).endswith("since 2025-08; first seen in 2025-08")
        assert "<table>" in times._repr_html_()

    def test_no_alarm(self):
        before = np.datetime64("2025-07-01") > DAY
        times = evaluate_over_time(
            LABELED[before], SCORE[before], DAY[before], watch=["roc_auc", "f1"], **OPTIONS
        )
        assert "No alarm for ROC AUC, F1 in 3 looks (false alarms over all looks: at most 5%)" in (
            repr(times)
        )
        assert times.alarms == ()

    def test_without_intervals(self):
        times = evaluate_over_time(LABELED, SCORE, DAY, prior=0.2, level=None)
        assert times.alarms == ()
        assert "alarm" not in repr(times)
        assert times.to_dict()["sequences"] == {}
        with pytest.raises(InputError, match="changes need confidence intervals"):
            times.changes("f1")
        with pytest.raises(InputError, match="confidence sequences need confidence intervals"):
            times.sequence("roc_auc")

    def test_many_windows_and_notes(self):
        times = evaluate_over_time(LABELED, SCORE, DAY, every="day", **OPTIONS)
        text = repr(times)
        assert "… and 299 earlier windows. .frame() returns all." in text
        assert "labeled rows, fewer than 20" in text or "20 of each are needed" in text
        assert times.names[-1] in text
        assert times.names[0] + " " not in text


class TestData:
    def test_frame(self, times):
        frame = times.frame()
        assert frame.index.names == ["window", "measure"]
        assert len(frame) == 11 * len(times)
        row = frame.loc["2025-02", "f1"]
        assert row["value"] == times["f1"].value[1]
        assert row["start"] == pd.Timestamp("2025-02-01")
        assert row["end"] == pd.Timestamp("2025-03-01")
        assert row["n_labeled"] == times.counts("2025-02").n_labeled

    def test_json(self, times):
        data = json.loads(json.dumps(times.to_dict()))
        assert data["windows"][0] == "2025-01"
        assert data["start"][0].startswith("2025-01-01")
        assert data["alarms"][0]["since"] == "2025-08"
        assert data["sequences"]["roc_auc"]["alarm"][-1] is True
        assert data["measures"]["prevalence"]["value"] == times["prevalence"].value.tolist()


class TestPicture:
    def test_panels(self, times):
        display = times.plot()
        assert [ax.get_ylabel() for ax in display.axes_] == ["ROC AUC", "Prevalence"]
        labels = [text.get_text() for text in display.axes_[0].get_legend().get_texts()]
        assert "first alarm; change since 2025-08-01" in labels
        # Prevalence did not change.
        assert len(display.axes_[1].get_legend().get_texts()) == 1
        frame = display.frame()
        np.testing.assert_array_equal(frame["value"][:11], times["roc_auc"].value)
        plt.close("all")

    def test_given_axes(self, times):
        _, axes = plt.subplots(3)
        display = OverTimeDisplay.from_times(times, measures=["f1", "prior", "lift"], ax=axes)
        assert display.axes_[1] is axes[1]
        with pytest.raises(InputError, match="ax must be 1 matplotlib Axes; got 3"):
            OverTimeDisplay.from_times(times, measures="f1", ax=axes)
        with pytest.raises(InputError, match="measures is empty"):
            OverTimeDisplay.from_times(times, measures=[])
        plt.close("all")


def command(file, *options):
    base = ["evaluate", str(file), "--label", "label", "--score", "a", "--prior", "0.2"]
    return run([*base, "--n-resamples", "50", *options])


class TestCommand:
    def test_alarm(self, file, times, tmp_path, capsys):
        path = tmp_path / "out.json"
        page = tmp_path / "out.html"
        options = ("--over", "day", "--reference", "3", "--json", str(path), "--html", str(page))
        assert command(file, *options) == 4
        out, err = capsys.readouterr()
        assert "! ROC AUC changed by" in out
        assert "exit code 4: a watched measure changed" in err
        data = json.loads(path.read_text())["models"]["a"]
        assert data["windows"] == list(times.names)
        np.testing.assert_allclose(data["measures"]["f1"]["low"], times["f1"].low)
        np.testing.assert_allclose(
            data["sequences"]["roc_auc"]["low"], times.sequence("roc_auc").low
        )
        assert "ROC AUC changed by" in page.read_text()

    def test_no_alarm(self, file, capsys):
        delay = ("--label-delay", "120 days", "--as-of", "2025-11-20", "--every", "week")
        assert command(file, "--over", "day", "--window", "4", "--reference", "6", *delay) == 0
        out = capsys.readouterr().out
        assert "labels are not complete yet" in out
        assert "No alarm for ROC AUC" in out

    def test_quiet(self, file, capsys):
        assert command(file, "--over", "day", "--reference", "2025-04-01", "--quiet") == 4
        out, err = capsys.readouterr()
        assert not out
        assert "a: ROC AUC changed by" in err

    def test_contradictions_come_first(self, file, capsys):
        arguments = ["evaluate", str(file), "--label", "label", "--score", "b", "--prior", "0.2"]
        assert run([*arguments, "--n-resamples", "50", "--over", "day", "--quiet"]) == 3
        assert "exit code 3" in capsys.readouterr().err

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            (["--every", "month"], "--every needs --over"),
            (["--label-delay", "3 days"], "--label-delay needs --over"),
            (["--over", "day", "--by", "label"], "--by cannot be combined with --over"),
            (
                ["--over", "day", "--cluster", "b"],
                "--over: alarms need independent windows. Use --by",
            ),
            (
                ["--over", "day", "--propensity", "b"],
                "--over: use evaluate_over_time in Python, or",
            ),
            (["--over", "day", "--ranking"], "--ranking cannot be combined with --over"),
            (["--over", "dya"], "Did you mean 'day'?"),
            (["--over", "day", "--every", "10"], "a missing time, or one that cannot be read"),
            (["--over", "day", "--label-delay", "3 days"], "--label-delay needs --as-of"),
            (["--over", "day", "--engine", "polars"], "cannot divide rows by time"),
            (["--over", "day", "--watch", "auc"], "'auc'"),
        ],
    )
    def test_mistakes(self, file, capsys, options, message):
        assert command(file, *options) == 2
        assert message in capsys.readouterr().err
