"""How displays are made: the ways agree, names are shown as text, bad input is refused."""

import inspect
import subprocess
import sys
import warnings
from types import SimpleNamespace

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from pueval import (
    AssumptionWarning,
    Counts,
    InputError,
    MissingPackageError,
    compare,
    displays,
    evaluate,
)
from pueval.displays import (
    ComparisonDisplay,
    MeasureByThresholdDisplay,
    OverviewDisplay,
    PrecisionRecallDisplay,
    RankCdfDisplay,
    RocCurveDisplay,
    ScoreDistributionDisplay,
    SensitivityDisplay,
)
from pueval.displays._comparison_data import PairedDifference
from tests.conftest import draw

SINGLE = [
    RocCurveDisplay,
    PrecisionRecallDisplay,
    ScoreDistributionDisplay,
    RankCdfDisplay,
    MeasureByThresholdDisplay,
    SensitivityDisplay,
]
EVERY = [*SINGLE, ComparisonDisplay, OverviewDisplay]
MEASURES = ["roc_auc", "f1"]


@pytest.fixture(autouse=True)
def no_figures_left():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(11)
    _, score, labeled = draw(rng, 1500, prevalence=0.3, label_frequency=0.5)
    X = np.column_stack([score, rng.normal(size=1500)])
    return X, labeled.astype(int), score


@pytest.fixture(scope="module")
def ev(rows):
    _, labeled, score = rows
    return evaluate(labeled, score, prior=0.15, n_resamples=100)


class TestTheWaysAgree:
    @pytest.mark.parametrize("kind", SINGLE)
    def test_from_anything(self, rows, kind):
        X, labeled, _ = rows
        model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, labeled)
        score = model.predict_proba(X)[:, 1]
        how = {"prior": 0.15, "n_resamples": 100}
        ways = [
            kind.from_estimator(model, X, labeled, **how),
            kind.from_predictions(labeled, score, **how),
            kind.from_predictions(Counts.from_arrays(labeled, score), **how),
            kind.from_evaluation(evaluate(labeled, score, **how)),
        ]
        assert ways[0].name == "Pipeline"
        assert ways[1].name is None
        for other in ways[1:]:
            assert type(other) is kind
            assert other.frame().equals(ways[0].frame())

    def test_comparison(self, rows):
        X, labeled, _ = rows
        models = {
            "a": LogisticRegression().fit(X, labeled),
            "b": LinearSVC().fit(X[:, ::-1], labeled),
        }
        scores = {
            "a": models["a"].predict_proba(X)[:, 1], "b": models["b"].decision_function(X),
        }  # fmt: skip
        how = {"prior": 0.15, "n_resamples": 100}
        evaluations = {name: evaluate(labeled, score, **how) for name, score in scores.items()}
        ways = [
            ComparisonDisplay.from_estimator(models, X, labeled, **how, measures=MEASURES),
            ComparisonDisplay.from_predictions(labeled, scores, **how, measures=MEASURES),
            ComparisonDisplay.from_evaluations(evaluations, measures=MEASURES),
        ]
        for other in ways[1:]:
            assert other.frame().equals(ways[0].frame())
        one = ComparisonDisplay.from_estimator(models["a"], X, labeled, **how)
        assert list(one.values) == ["LogisticRegression"]

    @pytest.mark.parametrize("method", ["predict_proba", "decision_function"])
    def test_scores_are_those_of_the_positive_class(self, rows, method):
        X, labeled, _ = rows
        words = np.where(labeled == 1, "a positive", "unlabeled")  # the first class
        model = LogisticRegression().fit(X, words)
        display = RocCurveDisplay.from_estimator(
            model, X, words, prior=0.15, response_method=method, pos_label="a positive",
            unlabeled_label="unlabeled", name="words",
        )  # fmt: skip
        assert display.roc_auc.value > 0.8
        assert display.name == "words"

    def test_more_than_two_classes(self, rows):
        X, labeled, _ = rows
        y = np.where(labeled == 1, 1, np.where(X[:, 1] > 1.5, -1, 0))
        model = LogisticRegression().fit(X, y)
        display = RocCurveDisplay.from_estimator(model, X, y, prior=0.15, negative_label=-1)
        assert display.roc_auc.value > 0.8

    def test_warnings_point_at_the_caller(self, rows):
        _, labeled, score = rows
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            RocCurveDisplay.from_predictions(labeled, score, prior=0.9, n_resamples=50)
        assert str(caught[0].message).startswith("prior 0.9 does not fit")
        assert {(one.filename, one.category) for one in caught} == {(__file__, AssumptionWarning)}


class TestSignatures:
    @pytest.mark.parametrize("kind", SINGLE)
    def test_every_keyword_is_shown(self, kind):
        shown = inspect.signature(kind.from_predictions).parameters
        for source in (evaluate, kind.compute, kind.plot):
            for name, one in inspect.signature(source).parameters.items():
                if one.kind is one.KEYWORD_ONLY:
                    assert name in shown, name
        assert "prior" not in inspect.signature(kind.from_evaluation).parameters
        assert "response_method" in inspect.signature(kind.from_estimator).parameters
        for name in (
            "from_evaluation",
            "from_predictions",
            "from_estimator",
            "compute",
            "plot",
            "frame",
        ):
            doc = inspect.getdoc(getattr(kind, name))
            assert "Returns\n---" in doc, name

    @pytest.mark.parametrize("kind", [*SINGLE, OverviewDisplay])
    def test_others_are_refused(self, ev, kind):
        with pytest.raises(TypeError, match="colour"):
            kind.from_evaluation(ev, colour="red")

    def test_everything_public_is_here(self):
        assert {kind.__name__ for kind in EVERY} <= set(displays.__all__)


class TestNames:
    @pytest.mark.parametrize(
        "name",
        ["$unbalanced", r"$\frac", "_hidden", "x" * 10_000, "two\nlines", "<b>&amp;", "ניסוי", ""],
    )
    @pytest.mark.parametrize("kind", [RocCurveDisplay, RankCdfDisplay])
    def test_any_text(self, ev, kind, name):
        display = kind.from_evaluation(ev, name=name)
        display.figure_.savefig("/dev/null", format="png")
        text = display.ax_.get_legend().get_texts()[0].get_text()
        assert len(text) < 110
        assert "\n" not in text
        assert name[:5].split("\n")[0].strip("$_\\") in text

    def test_any_text_side_by_side(self, ev):
        names = ["$a", "_b", "c" * 10_000]
        display = ComparisonDisplay.from_evaluations(dict.fromkeys(names, ev), measures=MEASURES)
        display.figure_.savefig("/dev/null", format="png")
        assert len(display.ax_.get_legend().get_texts()) == 4  # three models and naive


class TestComparison:
    @pytest.fixture
    def rows_of(self):
        values = {
            name: {"roc_auc": (0.9 + k / 100, 0.88, 0.95), "f1": (0.8, np.nan, np.nan)}
            for k, name in enumerate("abc")
        }
        differences = [
            {"first": "a", "second": "b", "measure": "roc_auc", "value": -0.01, "low": -0.02,
             "high": 0.005, "pvalue": 0.2},
            {"first": "c", "second": "b", "measure": "roc_auc", "value": 0.01, "low": 0.001,
             "high": 0.03, "pvalue": 0.03},
            {"first": "a", "second": "c", "measure": "roc_auc", "value": -0.02, "low": -0.04,
             "high": -0.01, "pvalue": 0.01},
        ]  # fmt: skip
        return values, differences

    def test_differences_are_from_the_reference(self, rows_of):
        values, differences = rows_of
        display = ComparisonDisplay(values=values, differences=differences).plot()
        assert display.reference == "a"
        found = {one.first: one for one in display.differences_from_reference()}
        assert found["b"] == PairedDifference("b", "a", "roc_auc", 0.01, -0.005, 0.02, 0.2)
        assert found["c"] == PairedDifference("c", "a", "roc_auc", 0.02, 0.01, 0.04, 0.01)
        frame = display.frame().set_index(["model", "measure"])
        assert frame.loc[("c", "roc_auc"), "difference_low"] == 0.01
        assert np.isnan(frame.loc[("c", "f1"), "difference"])
        assert set(display.differences_) == {"b", "c"}
        assert display.difference_ax_.get_xlabel() == "Difference from a"
        (bars,) = display.differences_["c"].lines[2]
        np.testing.assert_allclose(bars.get_segments()[0][:, 0], [0.01, 0.04])
        assert display.difference_ax_.get_ylim() == display.ax_.get_ylim()
        other = ComparisonDisplay(values=values, differences=differences, reference="b")
        assert {one.first for one in other.differences_from_reference()} == {"a", "c"}

    def test_values_and_legend(self, ev):
        display = ComparisonDisplay.from_evaluations({"m": ev}, measures=MEASURES)
        points = display.points_["m"].lines[0]
        assert points.get_xdata().tolist() == [ev[name].value for name in MEASURES]
        assert display.naive_["m"].get_xdata().tolist() == [ev[name].naive for name in MEASURES]
        auc = ev["roc_auc"]
        text = f"m: ROC AUC {auc.value:.3f} ({auc.low:.3f}–{auc.high:.3f})"
        assert display.ax_.get_legend().get_texts()[0].get_text() == text
        assert [tick.get_text() for tick in display.ax_.get_yticklabels()] == ["ROC AUC", "F1"]
        assert display.difference_ax_ is None

    def test_from_comparison(self, ev, rows_of):
        class Comparison:
            evaluations = dict.fromkeys("abc", ev)

            def __len__(self):
                return len(self.evaluations)

            def differences(self, measure):
                rows = [row for row in rows_of[1] if row["measure"] == measure]
                return tuple(SimpleNamespace(standard_error=0.1, **row) for row in rows)

        display = ComparisonDisplay.from_comparison(Comparison(), measures=MEASURES, reference="c")
        assert len(display.differences) == 3
        assert set(display.differences_) == {"a", "b"}
        _, ax = plt.subplots()
        alone = ComparisonDisplay.from_comparison(Comparison(), ax=ax)
        assert alone.difference_ax_ is None

    def test_every_measure_of_a_comparison_has_differences(self, rng):
        positive = rng.random(400) < 0.4
        models = {name: positive + rng.normal(size=400) for name in "ab"}
        found = compare(positive & (rng.random(400) < 0.5), models, prior=0.2)
        display = found.plot(measures=["f2", "best_f1"])
        assert display.ax_.get_yticklabels()[1].get_text() == "Best F1"
        assert display.frame()["difference"].dropna().tolist() == [
            -found.differences(measure)[0].value for measure in ("f2", "best_f1")
        ]

    def test_f_of_any_beta(self, ev):
        display = ComparisonDisplay.from_evaluations({"m": ev}, measures=["f2"])
        assert display.ax_.get_yticklabels()[0].get_text() == "F2"


class TestBadInput:
    @pytest.mark.parametrize("kind", SINGLE)
    def test_arguments(self, ev, kind):
        with pytest.raises(InputError, match="ax must be matplotlib Axes"):
            kind.from_evaluation(ev, ax="here")
        with pytest.raises(InputError, match="name must be text"):
            kind.from_evaluation(ev, name=3)

    def test_styles(self, ev):
        with pytest.raises(InputError, match="curve_kwargs must be a dict of matplotlib keywords"):
            RocCurveDisplay.from_evaluation(ev, curve_kwargs="red")
        with pytest.raises(TypeError, match="linewidth"):
            RocCurveDisplay.from_evaluation(ev, curve_kwargs={"lw": 1, "linewidth": 2})

    def test_choices(self, ev):
        with pytest.raises(InputError, match="kind must be 'pointwise' or 'simultaneous'"):
            RocCurveDisplay.compute(ev, band="wide")
        for one in (ev, evaluate(ev.counts, prior=0.15, level=None)):
            with pytest.raises(InputError, match="band must be 'bootstrap', 'clopper-pearson'"):
                RankCdfDisplay.compute(one, band="wide")
        with pytest.raises(InputError, match="is an area under a curve and has no threshold"):
            MeasureByThresholdDisplay.compute(ev, measure="roc_auc")
        with pytest.raises(InputError, match="unknown measure 'f'"):
            SensitivityDisplay.compute(ev, measure="f")
        with pytest.raises(InputError, match="at least two values"):
            SensitivityDisplay.from_evaluation(ev, levels=[0.5])
        with pytest.raises(InputError, match="ax must be four matplotlib Axes; got 2"):
            OverviewDisplay.from_evaluation(ev, ax=plt.subplots(1, 2)[1])
        with pytest.raises(InputError, match="must be of the same measure"):
            MeasureByThresholdDisplay(curve=ev.by_threshold("f1"), best=ev.best("accuracy"))

    def test_estimators(self, rows):
        X, labeled, _ = rows
        how = {"prior": 0.15}
        with pytest.raises(InputError, match="LinearRegression has no predict_proba or decision"):
            RocCurveDisplay.from_estimator(LinearRegression().fit(X, labeled), X, labeled, **how)
        with pytest.raises(InputError, match="it is not fitted"):
            RocCurveDisplay.from_estimator(LogisticRegression(), X, labeled, **how)
        model = LogisticRegression().fit(X, labeled + (X[:, 1] > 1))
        with pytest.raises(InputError, match="pos_label 7 is not one of the classes"):
            RocCurveDisplay.from_estimator(model, X, labeled, pos_label=7, **how)
        with pytest.raises(InputError, match="response_method must be 'auto'"):
            RocCurveDisplay.from_estimator(model, X, labeled, response_method="predict", **how)

    def test_comparisons(self, rows, ev):
        _, labeled, score = rows
        with pytest.raises(InputError, match="score must map names of models"):
            ComparisonDisplay.from_predictions(labeled, score, prior=0.1)
        with pytest.raises(InputError, match="the same prior for all"):
            ComparisonDisplay.from_predictions(labeled, {"a": score})
        for wrong in ({}, ev):
            with pytest.raises(InputError, match="evaluations must map at least one name"):
                ComparisonDisplay.from_evaluations(wrong)
        with pytest.raises(InputError, match="measures must be a list"):
            ComparisonDisplay.from_evaluations({"a": ev}, measures="f1")
        with pytest.raises(InputError, match="values must map at least one"):
            ComparisonDisplay(values={})
        with pytest.raises(InputError, match="all models need the same measures"):
            ComparisonDisplay(values={"a": {"f1": (1, 1, 1)}, "b": {"roc_auc": (1, 1, 1)}})
        with pytest.raises(InputError, match="a difference needs low, high"):
            ComparisonDisplay(
                values={"a": {"f1": (1, 1, 1)}},
                differences=[{"first": "a", "second": "b", "measure": "f1", "value": 0}],
            )
        with pytest.raises(InputError, match=r"reference must be one of \['a'\]; got 'b'"):
            ComparisonDisplay(values={"a": {"f1": (1, 1, 1)}}, reference="b")

    @pytest.mark.parametrize("kind", SINGLE)
    def test_without_matplotlib(self, ev, kind, monkeypatch):
        monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
        display = kind.compute(ev)
        assert len(display.frame())
        with pytest.raises(MissingPackageError, match=r'pip install "pueval\[plot\]"'):
            display.plot()

    @pytest.mark.parametrize("kind", EVERY)
    def test_without_pandas(self, ev, kind, monkeypatch):
        monkeypatch.setitem(sys.modules, "pandas", None)
        with pytest.raises(MissingPackageError, match=r'pip install "pueval\[pandas\]"'):
            kind.compute(ev).frame()


def test_importing_displays_does_not_import_matplotlib():
    code = "import sys, pueval.displays._notebook; print('matplotlib' in sys.modules)"
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == "False"
