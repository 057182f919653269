"""Groups as text, data and pictures, and on the command line."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest

from pueval import AssumptionWarning, evaluate, evaluate_by
from pueval.commands.app import run
from tests.conftest import draw

NAMES = ["Bern", "<b>Oslo</b>", "[red]Rome[/]", "$x_", "tab\there \x1b[31m", "tiny"]


@pytest.fixture
def rows(rng):
    _, score, labeled = draw(rng, 3000, prevalence=0.4, label_frequency=0.5)
    by = rng.choice(NAMES, 3000, p=[0.2, 0.2, 0.2, 0.19, 0.2, 0.01])
    return labeled.astype(int), score, by


@pytest.fixture
def groups(rows):
    return evaluate_by(*rows, prior=0.2, n_resamples=100)


def test_text(groups):
    text = repr(groups)
    lines = text.splitlines()
    assert lines[0].startswith("Evaluation of 6 groups, 1 of them without estimates (see notes)")
    assert "\x1b" not in text
    assert "\t" not in text
    line = next(line for line in lines if line.startswith("Bern"))
    auc = groups.of("Bern")["roc_auc"]
    assert f"{auc.value:.3f} ({auc.low:.3f}–{auc.high:.3f})" in line
    macro = groups.macro("f1")
    line = next(line for line in lines if line.startswith("macro average"))
    assert f"{macro.value:.3f} ({macro.low:.3f}–{macro.high:.3f})" in line
    line = next(line for line in lines if line.startswith("tiny"))
    assert "labeled rows, fewer than 20" in line


def test_a_note_says_which_macro_average_is_no_mean(groups, rows):
    note = "The macro average of average precision is not the mean of the groups' values: it "
    value = groups["average_precision"].value
    mean = f"{np.nanmean(value):.3f}"
    assert mean != f"{groups.macro('average_precision').value:.3f}"
    assert repr(groups).count(note) == 1
    assert groups._repr_html_().count("less their bias in small groups and from clusters.") == 1
    shrunken = evaluate_by(*rows, prior=0.2, n_resamples=100, shrink=True)
    assert "small groups" not in repr(shrunken)


def test_no_note_on_macro_averages_that_are_means(rng):
    _, score, labeled = draw(rng, 100_000, prevalence=0.4, label_frequency=0.5)
    groups = evaluate_by(labeled, score, np.arange(100_000) % 2, prior=0.25, n_resamples=10)
    for name in ("roc_auc", "average_precision"):
        mean = groups[name].value.mean()
        assert f"{mean:.3f}" == f"{groups.macro(name).value:.3f}"
    assert "small groups" not in repr(groups)


def test_html_is_escaped(groups):
    html = groups._repr_html_()
    assert "<b>Oslo" not in html
    assert "&lt;b&gt;Oslo&lt;/b&gt;" in html
    assert "\x1b" not in html


def test_long_tables_are_cut(rng):
    _, score, labeled = draw(rng, 4000, prevalence=0.4, label_frequency=0.5)
    by = rng.integers(0, 40, 4000)
    groups = evaluate_by(labeled, score, by, prior=0.2, n_resamples=2, min_labeled=2)
    assert "… and 20 more groups; .frame() returns all" in repr(groups)
    assert "… and 20 more groups" in groups._repr_html_()
    assert len(groups.frame().index.get_level_values("group").unique()) == 40


def test_frames(groups):
    frame = groups.frame()
    assert frame.index.names == ["group", "measure"]
    assert len(frame) == 6 * 21
    row = frame.loc[("Bern", "f1")]
    one = groups.of("Bern")["f1"]
    assert (row["value"], row["low"], row["naive"]) == (one.value, one.low, one.naive)
    assert row["n_labeled"] == groups.n_labeled[groups.names.index("Bern")]
    assert "fewer than 20" in frame.loc[("tiny", "f1"), "note"]
    assert frame.index.get_level_values("group")[:21].nunique() == 1
    one = groups["f1"].frame()
    assert one.index.name == "group"
    assert one.loc["$x_", "high"] == groups["f1"].high[groups.names.index("$x_")]
    one = groups.differences("f1", reference="Bern").frame()
    assert list(one.columns) == [
        "value", "low", "high", "standard_error", "pvalue", "adjusted_pvalue",
    ]  # fmt: skip
    assert one.loc["Bern", "value"] == 0


def test_data_for_json(groups):
    content = json.loads(json.dumps(groups.to_dict(), allow_nan=False))
    assert content["groups"] == sorted(NAMES)
    k = content["groups"].index("Bern")
    assert content["measures"]["f1"]["value"][k] == groups["f1"].value[k]
    assert content["measures"]["f1"]["value"][content["groups"].index("tiny")] is None
    assert content["macro"]["f1"]["value"] == groups.macro("f1").value
    assert content["overall"]["measures"]["f1"]["value"] == groups.overall["f1"].value
    assert content["prior"][k] == 0.2
    assert sum(content["labeled"]) == groups.overall.counts.n_labeled


def test_names_that_json_lacks(rows):
    y, score, _ = rows
    days = np.array(["2020-01-01", "2020-01-02"], dtype="M8[D]")[np.arange(3000) % 2]
    groups = evaluate_by(y, score, days, prior=0.2, n_resamples=2)
    assert groups.to_dict()["groups"] == ["2020-01-01", "2020-01-02"]
    json.dumps(groups.to_dict(), allow_nan=False)


@pytest.mark.parametrize("curve", ["roc", "pr"])
def test_small_multiples(groups, curve):
    display = groups.plot(curve)
    shown = display.axes_
    titles = {axes.get_title() for axes in shown}
    area = groups["roc_auc" if curve == "roc" else "average_precision"]
    assert titles == {
        f"{name}: {area.value[groups.names.index(name)]:.2f}".replace("\t", "\\t").replace(
            "\x1b", "\\x1b"
        )
        for name in NAMES
        if name != "tiny"
    }
    display.figure_.canvas.draw()  # "$x_" is no mathematics
    for axes in shown:
        gray, own = axes.get_lines()
        assert not np.array_equal(gray.get_xdata(), own.get_xdata())
    alone = groups.evaluation("Bern")
    expected = alone.roc() if curve == "roc" else alone.pr()
    axes = next(axes for axes in shown if axes.get_title().startswith("Bern"))
    drawn = axes.get_lines()[1].get_ydata()
    np.testing.assert_array_equal(drawn, expected.tpr if curve == "roc" else expected.precision)
    assert len(groups.plot(curve, groups=["Bern"]).axes_) == 1
    few = groups.plot(curve, most=2, columns=3)
    assert len([axes for axes in few.figure_.axes if axes.get_visible()]) == 2
    assert few.figure_.legends[0].get_title().get_text() == "4 more groups not shown"
    frame = few.frame()
    assert frame["group"].dropna().unique().tolist() == [*few.names]
    np.testing.assert_array_equal(frame[frame["group"].isna()].iloc[:, 1], few.overall[0])
    with pytest.raises(ValueError, match="ax must be 2 matplotlib Axes; got 1"):
        few.plot(shown[0])


def test_drawing_groups_without_estimates(groups):
    with pytest.raises(ValueError, match="'tiny' cannot be drawn"):
        groups.plot(groups=["tiny"])
    with pytest.raises(ValueError, match="groups is empty"):
        groups.plot(groups=[])


def test_progress(rows, capsys):
    evaluate_by(*rows, prior=0.2, n_resamples=2, progress=True)
    assert capsys.readouterr().out == ""  # it belongs to stderr


# ---------------------------------------------------------------------- command line


@pytest.fixture
def file(rows, tmp_path):
    y, score, by = rows
    noisy = score + np.random.default_rng(0).normal(size=y.size)
    frame = pd.DataFrame({"label": y, "a": score, "b": noisy, "my city": by, "w": 1 + (y == 0)})
    path = tmp_path / "scores.csv"
    frame.to_csv(path, index=False)
    return path


def test_command_line(file, tmp_path, capsys):
    out = tmp_path / "out.json"
    code = run(["evaluate", str(file), "--label", "label", "--score", "a", "--score", "b", "--by",
                "my city", "--prior", "0.2", "--weight", "w", "--json", str(out)])  # fmt: skip
    assert code == 0
    printed = capsys.readouterr().out
    frame = pd.read_csv(file)
    groups = evaluate_by(
        frame["label"], frame["a"], frame["my city"], sample_weight=frame["w"], prior=0.2
    )
    auc = groups.of("Bern")["roc_auc"]
    line = next(line for line in printed.splitlines() if line.startswith("Bern"))
    assert f"{auc.value:.3f} ({auc.low:.3f}–{auc.high:.3f})" in line
    assert "[red]Rome[/]" in printed
    assert "\x1b" not in printed
    models = json.loads(out.read_text())["models"]
    assert set(models) == {"a", "b"}
    k = models["a"]["groups"].index("Bern")
    assert models["a"]["measures"]["f1"]["value"][k] == pytest.approx(groups.of("Bern")["f1"].value)


def test_command_line_shrinks(file, tmp_path, capsys):
    frame = pd.read_csv(file)
    frame["shop"] = np.arange(len(frame)) % 7
    frame.to_csv(file, index=False)
    out = tmp_path / "out.json"
    code = run(["evaluate", str(file), "--label", "label", "--score", "a", "--by", "shop",
                "--prior", "0.2", "--shrink", "--json", str(out)])  # fmt: skip
    assert code == 0
    printed = capsys.readouterr().out
    assert "7 groups, shrunken toward their mean" in printed
    assert "their intervals hold on average only" in " ".join(printed.split())
    model = json.loads(out.read_text())["models"]["a"]
    groups = evaluate_by(frame["label"], frame["a"], frame["shop"], prior=0.2, shrink=True)
    assert model["shrink"] is True
    assert model["measures"]["f1"]["value"] == pytest.approx(groups["f1"].value)
    assert model["shrinkage"]["f1"]["weight"] == pytest.approx(groups.shrinkage("f1").weight)
    assert model["shrinkage"]["f1"]["spread"] == pytest.approx(groups.shrinkage("f1").spread)


def test_command_line_in_a_terminal(file, capsys, monkeypatch):
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    code = run(["evaluate", str(file), "--label", "label", "--score", "a", "--by", "my city",
                "--prior", "0.2", "--no-intervals"])  # fmt: skip
    assert code == 0
    printed = capsys.readouterr().out
    assert "[red]Rome[/]" in printed
    assert "\x1b[31m" not in printed


def test_command_line_estimates_one_prior_for_all_models(file, tmp_path, capsys):
    out = tmp_path / "out.json"
    code = run(["evaluate", str(file), "--label", "label", "--score", "b", "--score", "a", "--by",
                "my city", "--json", str(out)])  # fmt: skip
    assert code == 0
    models = json.loads(out.read_text())["models"]
    frame = pd.read_csv(file)
    expected = evaluate(frame["label"], frame["a"], level=None).mixture.prior
    for model in models.values():
        assert model["overall"]["assumptions"]["prior"] == pytest.approx(expected)


def test_command_line_report(file, tmp_path, capsys):
    html = tmp_path / "report.html"
    code = run(["evaluate", str(file), "--label", "label", "--score", "a", "--score", "b", "--by",
                "my city", "--prior", "0.2", "--html", str(html)])  # fmt: skip
    assert code == 0
    page = html.read_text()
    assert f"<title>2 models – {file.name} – pueval report</title>" in page
    assert page.count('<table class="numbers groups">') == 2
    assert ">macro average</bdi>" in page
    assert "macro average" in capsys.readouterr().out
    assert page.count(">Bern</bdi>") == 2
    assert page.count(">&lt;b&gt;Oslo&lt;/b&gt;</bdi>") == 2


def test_report_of_many_groups(rows, tmp_path):
    y, score, _ = rows
    names = [f"<b>{k % 700}</b>" for k in range(len(y))]
    groups = evaluate_by(y, score, names, prior=0.2)
    groups.to_html(tmp_path / "report.html", name="model_a")
    page = (tmp_path / "report.html").read_text()
    assert "<b>" not in page.split("<script")[0]
    assert "… and 200 more groups" in page
    assert "<title>model_a – pueval report</title>" in page


def test_parquet_with_whole_numbers(tmp_path, rows, capsys):
    y, score, _ = rows
    path, out = tmp_path / "scores.parquet", tmp_path / "out.json"
    pd.DataFrame({"l": y, "s": score, "g": np.arange(3000) % 11}).to_parquet(path)
    code = run(["evaluate", str(path), "--label", "l", "--score", "s", "--by", "g", "--prior",
                "0.2", "--json", str(out)])  # fmt: skip
    assert code == 0
    assert json.loads(out.read_text())["models"]["s"]["groups"] == list(range(11))
    assert next(line for line in capsys.readouterr().out.splitlines() if line.startswith("10 "))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--by", "city"], "no group column 'city'. Did you mean 'my city'?"),
        (["--by", "my city", "--at", "recall=0.8"], "--at cannot be combined with --by"),
        (["--by", "my city", "--ranking"], "--ranking cannot be combined with --by"),
        (["--by", "my city", "--variance", "labeling"], "--variance cannot be combined with --by"),
        (["--by", "my city", "--purity", "0.8,0.9"], "purity must be a number"),
        (["--group-prior", "each"], "--group-prior needs --by"),
        (["--shrink"], "--shrink needs --by"),
        (["--by", "my city", "--shrink", "--no-intervals"], "cannot be combined with --no-int"),
        (["--by", "my city", "--group-prior", "each"], "prior was given, but --group-prior 'each'"),
        (["--by", "empty"], "10 rows have no group (column 'empty')"),
    ],
)
def test_command_line_errors(file, capsys, options, message):
    frame = pd.read_csv(file)
    frame["empty"] = np.where(np.arange(len(frame)) < 10, None, "x")
    frame.to_csv(file, index=False)
    arguments = ["evaluate", str(file), "--label", "label", "--score", "a", "--prior", "0.2"]
    assert run([*arguments, *options]) == 2
    captured = capsys.readouterr()
    assert message in captured.err
    assert captured.out == ""


@pytest.mark.filterwarnings("ignore::pueval.errors.AssumptionWarning")
def test_all_models_carry_the_estimate_of_the_best(tmp_path, rng):
    positive = rng.random(3000) < 0.3
    path, out = tmp_path / "rows.csv", tmp_path / "out.json"
    pd.DataFrame({
        "label": (positive & (rng.random(3000) < 0.4)).astype(int),
        "good": rng.normal(size=3000) + 2.0 * positive,
        "poor": rng.normal(size=3000) + 1.0 * positive,
        "town": rng.integers(0, 2, 3000),
    }).to_csv(path, index=False)  # fmt: skip
    assert run(["evaluate", str(path), "--label", "label", "--score", "good", "--score", "poor",
                "--by", "town", "--json", str(out), "--quiet"]) == 0  # fmt: skip
    models = json.loads(out.read_text())["models"]
    estimates = [one["overall"]["assumptions"]["estimated"] for one in models.values()]
    assert estimates[0] == estimates[1]
    assert estimates[0]["prior_interval"][0] < estimates[0]["prior_interval"][1]


def test_values_outside_their_range_are_marked(rng):
    y = np.repeat([1, 0, 1, 0], [200, 300, 20, 800])
    score, by = rng.normal(size=y.size) + 2 * (y == 1), np.repeat(["north", "south"], [500, 820])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssumptionWarning)
        groups = evaluate_by(y, score, by, prior=0.3, threshold=1.0, min_labeled=5)
    assert groups["precision"].clipped.any()
    for shown in (repr(groups), groups._repr_html_()):
        assert "1.000†" in shown
        assert "† Clipped" in shown
        assert "1.000 (1.000–1.000)" not in shown
