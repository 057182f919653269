"""The package as a whole: what importing loads, what results look like, what is documented."""

import inspect
import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import pueval
from pueval import (
    AssumptionWarning,
    Counts,
    MissingPackageError,
    compare,
    evaluate,
    metrics,
    simulate,
)
from tests.conftest import draw


def in_a_new_interpreter(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)


def test_import_is_light():
    code = (
        "import sys, pueval;"
        "heavy = {'pandas', 'matplotlib', 'sklearn', 'scipy.special', 'scipy.stats',"
        "'scipy.optimize', 'duckdb', 'narwhals', 'rich', 'pueval.groups', 'pueval.comparison'};"
        "print(sorted(heavy & set(sys.modules)))"
    )
    assert in_a_new_interpreter(code).stdout.strip() == "[]"


def test_names_that_are_imported_when_asked_for():
    code = (
        "import pueval, sys;"
        "assert pueval.compare.__module__ == 'pueval.comparison.compare';"
        "assert set(pueval.__all__) <= set(dir(pueval));"
        "assert 'sklearn' not in sys.modules;"
        "assert pueval.priors.estimate and pueval.scoring.make_scorer and pueval.displays;"
        "pueval.no_such_name"
    )
    result = in_a_new_interpreter(code)
    assert result.returncode == 1
    message = "AttributeError: module 'pueval' has no attribute 'no_such_name'"
    assert result.stderr.strip().endswith(message)


def test_dir_lists_documented_names_only():
    reference = (Path(__file__).parents[2] / "docs/reference/index.md").read_text()
    listed = set(re.findall(r"^\s*(pueval[\w.]+)\s*$", reference, flags=re.MULTILINE))
    packages = {name.rpartition(".")[0] for name in listed}
    for name in set(dir(pueval)) - {"__version__"}:
        assert f"pueval.{name}" in listed | packages, f"pueval.{name} is not in docs/reference"


@pytest.mark.parametrize("module", [pueval, metrics, pueval.conversions, simulate])
def test_everything_public_is_documented(module):
    names = getattr(module, "__all__", None) or [
        name for name, thing in vars(module).items()
        if inspect.isfunction(thing) and not name.startswith("_")
        and thing.__module__ == module.__name__
    ]  # fmt: skip
    for name in names:
        thing = getattr(module, name)
        if inspect.ismodule(thing):
            continue
        doc = inspect.getdoc(thing)
        assert doc, name
        if inspect.isfunction(thing):
            for section in ("Parameters", "Returns", "Examples"):
                assert f"{section}\n---" in doc, f"{name} lacks {section}"
            assert "{how}" not in doc
            assert "{labels}" not in doc
            for parameter in inspect.signature(thing).parameters:
                assert parameter in doc, f"{name} does not explain {parameter}"


class TestEvaluation:
    @pytest.fixture
    def ev(self, rng):
        _, score, labeled = draw(rng, 3000, prevalence=0.3, label_frequency=0.4)
        return evaluate(labeled, score, prior=0.2)

    def test_repr(self, ev):
        lines = repr(ev).splitlines()
        assert lines[0].startswith("Evaluation of ")
        cells = [line.split() for line in lines]
        header = cells.index(["naive", "corrected", "95%", "CI"])
        # The verdict is above the table, and no line is too long for a terminal.
        assert " ".join(ev.verdict().sentences()) in " ".join(lines[1:header])
        assert all(len(line) <= 88 for line in lines)
        assert any(line.startswith("Matthews correlation") for line in lines[header:])

    def test_html_is_escaped(self, ev):
        html = ev._repr_html_()
        assert html.startswith("<div ")
        assert "Cohen&#x27;s kappa" in html
        with pytest.warns(AssumptionWarning):
            bad = evaluate(ev.counts, prior=0.9)
        assert "⚠ prior 0.9" in bad._repr_html_()
        assert "! prior 0.9" in repr(bad)

    def test_frame(self, ev):
        frame = ev.frame()
        assert list(frame.columns) == [
            "value",
            "low",
            "high",
            "naive",
            "standard_error",
            "unclipped",
        ]
        assert list(frame.index) == list(ev)
        assert frame.loc["f1", "value"] == ev["f1"].value
        assert len(ev) == len(frame)

    def test_is_a_mapping(self, ev):
        assert dict(ev) == {name: ev[name] for name in ev}
        assert "f1" in ev
        assert "naive" not in ev
        assert ev.get("naive", 0) == 0
        assert ev.get("f2") == ev["f2"] == ev.operating_point["f2"]
        with pytest.raises(KeyError, match="^unknown measure 'naive'"):
            ev["naive"]
        assert {ev: "can be a key"}[ev]
        assert ev != evaluate(ev.counts, prior=0.2)

    def test_frame_without_pandas(self, ev, monkeypatch):
        monkeypatch.setitem(sys.modules, "pandas", None)
        with pytest.raises(MissingPackageError, match=r'pip install "pueval\[pandas\]"'):
            ev.frame()

    def test_dict_is_json(self, ev):
        content = json.loads(json.dumps(ev.to_dict(), allow_nan=False))
        assert content["measures"]["recall"]["value"] == ev["recall"].value
        assert content["counts"]["labeled"] == ev.counts.n_labeled
        assert len(content["roc"]["fpr"]) == len(ev.roc().fpr)

    def test_curves_of_many_points_are_thinned(self, rng):
        labeled = rng.random(30_000) < 0.5
        ev = evaluate(labeled, rng.normal(size=30_000) + labeled, prior=0.1, level=None)
        thinned, whole = ev.to_dict(), ev.to_dict(all_points=True)
        for name, curve in (("roc", ev.roc()), ("pr", ev.pr())):
            n_points = curve.threshold.size
            assert len(whole[name]["threshold"]) == whole[name]["n_points"] == n_points > 10_000
            assert len(thinned[name]["threshold"]) <= 2000
            assert thinned[name]["n_points"] == n_points
            assert thinned[name]["area"] == curve.area
        assert thinned["measures"] == whole["measures"]
        area = np.trapezoid(thinned["roc"]["tpr"], thinned["roc"]["fpr"])
        assert area == pytest.approx(ev.roc().area, abs=1e-4)
        bounds = ev.bounds()
        assert len(bounds.to_dict()["low"]["threshold"]) <= 2000
        assert len(bounds.to_dict(all_points=True)["high"]["threshold"]) == 30_001

    def test_at(self, ev):
        point = ev.at(1.0)
        assert point["f1"] == evaluate(ev.counts, prior=0.2, threshold=1.0)["f1"]
        assert point.table.as_array().sum() == pytest.approx(ev.counts.n)
        assert ev.at(np.inf)["recall"].value == 0

    def test_best_of_what_should_be_small(self, ev):
        best = ev.best("false_discovery_rate")
        assert best.value <= ev["false_discovery_rate"].value

    def test_any_fbeta(self, ev):
        assert ev.best("f2").value >= ev["f2"].value > 0

    def test_nothing_remembers(self, ev):
        before = repr(ev)
        ev.roc(), ev.pr(), ev.best("f1"), ev.at(0)
        assert repr(ev) == before
        with pytest.raises(AttributeError):
            ev.threshold = 3

    def test_clipped_values_are_said_once(self):
        counts = Counts.from_table([3, 2, 1], labeled=[3, 1, 0], unlabeled=[0, 2, 6])
        with pytest.warns(AssumptionWarning, match="outside their range were clipped") as caught:
            ev = evaluate(counts, prior=0.3, threshold=3)
        assert len(caught) == len(ev.warnings) == 1
        assert caught[0].filename == __file__
        assert ev["specificity"].value == 1.0
        assert ev.at(3).clipped["specificity"] > 1

    def test_clipped_metric(self):
        y, predicted = [1, 1, 1, 0, 0, 0, 0, 0], [1, 1, 1, 0, 0, 0, 0, 0]
        with pytest.warns(AssumptionWarning, match="corrected precision is") as caught:
            assert metrics.precision_score(y, predicted, prior=0.3) == 1.0
        assert caught[0].filename == __file__
        with pytest.warns(AssumptionWarning, match="corrected roc_auc is") as caught:
            assert metrics.roc_auc_score(y, predicted, prior=0.3) == 1.0
        assert caught[0].filename == __file__

    def test_metrics_warn_of_an_impossible_prior(self, rng):
        _, score, labeled = draw(rng, 20_000, prevalence=0.2, label_frequency=0.3, separation=3)
        with pytest.warns(AssumptionWarning, match=r"prior 0\.5 does not fit") as caught:
            metrics.roc_curve(labeled, score, prior=0.5)
        assert caught[0].filename == __file__
        with pytest.warns(AssumptionWarning, match=r"prior 0\.5 does not fit"):
            metrics.precision_recall_curve(labeled, score, prior=0.5, drop_intermediate=True)

    def test_constant_scores(self):
        with pytest.warns(AssumptionWarning, match=r"all rows have the same score \(5\)"):
            ev = evaluate([1, 0, 0, 1], [5, 5, 5, 5], prior=0.1)
        assert ev.threshold == 5
        assert ev["roc_auc"].value == pytest.approx(0.5)
        assert np.isnan(ev.best("matthews_corrcoef").value)
        assert "–" in repr(ev)

    def test_large_numbers_are_short(self):
        from pueval.text.numbers import format_count, format_number

        assert [format_number(x) for x in (float("nan"), float("inf"), -float("inf"))] == [
            "–",
            "∞",
            "−∞",
        ]
        assert [format_number(x) for x in (12345.678, 1e12, -1234.5)] == [
            "12,350",
            "1e+12",
            "-1,234",
        ]
        assert [format_number(x) for x in (0.00514, -4.84e-5, 1e-17, 0.0, 0.01)] == [
            "0.0051", "-0.000048", "0.000", "0.000", "0.010",
        ]  # fmt: skip
        assert format_count(1234.5) == "1,234.5"


def test_clipped_values_are_marked():
    counts = Counts.from_table([3, 2, 1], labeled=[3, 1, 0], unlabeled=[0, 2, 6])
    with pytest.warns(AssumptionWarning, match=r"precision 1\.6 and"):
        ev = evaluate(counts, prior=0.3, threshold=3)
    assert "specificity" in ev.clipped
    line = next(line for line in repr(ev).splitlines() if line.startswith("Specificity"))
    assert "1.000†" in line
    assert "† Clipped" in repr(ev)
    assert "† Clipped" in ev._repr_html_()
    assert "†" not in repr(evaluate(counts, prior=0.05, threshold=1))


@pytest.mark.filterwarnings("ignore::pueval.AssumptionWarning")
def test_clipped_values_are_marked_everywhere(rng):
    _, score, labeled = draw(rng, 2000, prevalence=0.3, label_frequency=0.3)
    ev = evaluate(labeled, score, prior=0.7)
    assert ev["roc_auc"].clipped
    assert ev["roc_auc"].unclipped > 1.1
    assert str(ev["roc_auc"]) == "1.000†"
    assert ev.to_dict()["measures"]["roc_auc"]["unclipped"] == ev["roc_auc"].unclipped
    point = ev.threshold_for(best="f1")
    assert "f1" in point.clipped
    for shown in (
        point,
        ev.at(point.threshold),
        compare(labeled, {"a": score, "b": -score}, prior=0.7),
    ):
        for text in (repr(shown), shown._repr_html_()):
            assert "1.000†" in text
            assert "† Clipped" in text
    best = ev.best("f1")
    assert best.clipped
    assert best.unclipped == point["f1"].unclipped
    fine = evaluate(labeled, score, prior=0.2)
    assert not fine.clipped
    assert "†" not in repr(fine.threshold_for(recall=0.5))


def test_an_operating_point_is_shown_as_a_table():
    counts = Counts.from_table([3, 2, 1], labeled=[3, 1, 0], unlabeled=[1, 2, 6])
    shown = repr(evaluate(counts, prior=0.1).at(2)).splitlines()
    assert shown[0] == "Threshold 2"
    assert shown[1].split() == ["naive", "corrected", "95%", "CI"]
