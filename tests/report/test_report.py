"""The report as a file: what it holds, that it is safe, that it is written whole or not at all."""

import json
import math
import os
import re
import sys
import warnings
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import pueval.report._page
from pueval import (
    AssumptionWarning,
    Counts,
    InputError,
    MissingPackageError,
    compare,
    evaluate,
    priors,
)
from pueval.commands.app import run
from pueval.commands.output_files import file_title
from pueval.core.measures import MEASURES
from pueval.errors import Contradiction
from pueval.estimates.estimate import Estimate
from pueval.report import write_report
from pueval.report._page import FILTERS, asset, embedded_json, policy, source_hash
from pueval.report._page_text import format_share, headline, rounded_estimate
from pueval.report._python_code import reproducing_code
from pueval.report._score_histograms import score_histogram
from pueval.report._summary import summarize
from pueval.report._thinned_counts import thin_counts
from tests.conftest import draw

NAMES = {
    "script": "</script><script>alert(1)</script>",
    "quotes": """"' onmouseover="alert(1)" `${alert(1)}`""",
    "template": "{{ 7 * 7 }}{% if true %}",
    "entity": "&lt;b&gt; &amp;",
    "lines": "a\u2028b\u2029c\nd\x00e\x1f",
    "unicode": "模型 ✓ 🧬 é",
    "right to left": "מודל (1) \u202eevil\u202c",
    "long": "x" * 10_000,
    "half": "file-\udcff",
    "comment": "<!--<script>",
}


@pytest.fixture
def rows(rng):
    _, score, labeled = draw(rng, 3000, prevalence=0.3, label_frequency=0.4)
    return labeled, score


@pytest.fixture
def ev(rows):
    return evaluate(*rows, prior=0.2)


def data_of(page):
    (found,) = re.findall(
        r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL
    )
    return json.loads(found)


def headline_text(ev):
    return " ".join(text for text, _ in headline(ev))


# ------------------------------------------------------------------ what it holds


def test_the_page_holds_everything(ev, tmp_path):
    path = tmp_path / "report.html"
    ev.to_html(path, name="model_a")
    page = path.read_text(encoding="utf-8")
    assert path.stat().st_size < 1_000_000
    assert page.startswith("<!doctype html>")
    content = data_of(page)
    (model,) = content["models"]
    assert model["name"] == "model_a"
    assert [one["name"] for one in content["measures"]] == [*ev]
    for name in ev:
        assert model["measures"][name]["value"] == pytest.approx(ev[name].value, nan_ok=True)
        assert f"{ev[name].value:.3f}" in page
    again = Counts.from_table(**model["table"])
    assert again == ev.counts
    assert model["exact"]


def test_negative_numbers(rows, tmp_path):
    """A dash after a negative number would look like a minus, and zero has none."""
    y, score = rows
    rng = np.random.default_rng(0)
    ev = evaluate(y, rng.permutation(score), prior=0.2, threshold=1.0, n_resamples=100)
    ev.to_html(tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    estimate = ev["matthews_corrcoef"]
    assert estimate.low < -0.01
    interval = f"{estimate.low:.3f} to {estimate.high:.3f}".replace("-", "−")
    assert f"<small>{interval}</small>" in text
    assert FILTERS["number"](-1e-17) == "0.000"


def test_swapped_arguments_and_bare_evaluations(ev, tmp_path):
    path = tmp_path / "report.html"
    for wrong in ((ev, path), (path, ev), ({"a": ev}, path)):
        with pytest.raises(InputError, match=r"must map names to evaluations.*ev\.to_html"):
            write_report(*wrong)
    assert not path.exists()


def test_it_is_the_same_every_time(ev, tmp_path):
    for name in ("a", "b"):
        ev.to_html(tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_estimated_prior(rows, tmp_path):
    ev = evaluate(*rows, purity="estimate")
    page = tmp_path / "report.html"
    ev.to_html(page)
    text = page.read_text()
    for name, member in ev.prior_estimate.members.items():
        assert name.replace("_", " ") in text
        assert f"{member.prior:.3f}" in text
    assert "including uncertainty in the estimated prior and purity" in text
    assert "<code>from pueval import evaluate\n\nevaluate(y, score, purity=" in text


def test_warnings_are_shown(rows, tmp_path):
    with pytest.warns(AssumptionWarning):
        ev = evaluate(*rows, prior=0.9)
    ev.to_html(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    assert ">Warnings</h2>" in page
    assert "Prior 0.9 does not fit this ranking" in page
    assert "the AUC would be above 1: the data rule out this many positives." in headline_text(ev)


def test_three_warnings_are_shown_at_first(rows, tmp_path):
    with pytest.warns(AssumptionWarning):
        ev = evaluate(rows[0], -rows[1], prior=0.9, threshold=99.0)
    several = replace(ev, warnings=("first", "second", "third", Contradiction("the worst")))
    several.to_html(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    shown, more = page.split("<summary>1 more</summary>")
    for text in ("The worst", "First", "Second"):
        assert f"<li>{text}" in shown
    assert "<li>Third" in more
    assert "<li>Third" not in shown


def test_small_numbers_keep_their_digits_in_the_headline():
    small = Estimate(0.0846, 0.00021, 0.67, 0.004, 0.1, 0.0846)
    assert rounded_estimate(small) == "0.085 (0.00021–0.67)"


def test_several_models(rows, ev, tmp_path, rng):
    other = evaluate(rows[0], rows[1] + rng.normal(size=3000), prior=0.2)
    difference = {"first": "a", "second": "b", "measure": "f1", "value": 0.0312,
                  "low": -0.01, "high": 0.0723, "pvalue": 0.00004}  # fmt: skip
    path = tmp_path / "report.html"
    write_report(path, {"a": ev, "b": other}, [difference])
    page = path.read_text()
    assert "2 models" in page
    assert "+0.031" in page
    assert "−0.010 to +0.072" in page
    assert "&lt; 0.001" in page
    assert "write_report(" in page
    with pytest.raises(InputError, match="'c', which is not one of"):
        write_report(path, {"a": ev, "b": other}, [difference | {"second": "c"}])
    with pytest.raises(InputError, match="pvalue is missing"):
        write_report(path, {"a": ev}, [{k: v for k, v in difference.items() if k != "pvalue"}])
    with pytest.raises(InputError, match="evaluations is empty"):
        write_report(path, {})
    with pytest.raises(InputError, match="must be an Evaluation; got dict"):
        write_report(path, {"a": {}})
    assert path.read_text() == page


def test_what_was_asked_for(rows, ev, tmp_path):
    path = tmp_path / "report.html"
    write_report(path, {"a": ev})
    for title in ("Chosen thresholds", "Measures that need no prior"):
        assert title not in path.read_text(encoding="utf-8")
    with pytest.warns(AssumptionWarning, match="predicted classes"):
        other = evaluate(rows[0], rows[1] > np.median(rows[1]), prior=0.2)
    none = other.threshold_for(cost=(9, 1))
    choices = [ev.threshold_for(precision=0.8), none]
    assert math.isinf(choices[1].threshold)
    ev.to_html(path, name="a", choices=choices, ranking=True)
    page = path.read_text(encoding="utf-8")
    assert "a precision of at least 0.8" in page
    content = data_of(page)
    assert content["chosen"]["titles"][-1] == "Cost per row"
    first, second = content["chosen"]["lines"]
    assert first["threshold"] == choices[0].threshold
    assert second["threshold"] == "Infinity"
    assert '<td class="threshold">∞</td>' in page
    assert first["cells"][-1] is None
    # The page has ten digits of each number.
    assert first["cells"][1] == pytest.approx(
        {
            key: getattr(choices[0]["recall"], key)
            for key in ("value", "low", "high", "naive", "clipped")
        },
        rel=1e-9,
    )
    assert second["cells"][-1]["value"] == pytest.approx(choices[1]["cost"].value, rel=1e-9)
    shown = dict(content["without_prior"]["lines"])
    assert shown["PULP"] == [ev.ranking()["pulp"]]
    assert content["command"].endswith('.to_html("report.html", choices=choices, ranking=True)')
    write_report(
        path,
        {"<b>": other, "a": ev},
        rankings={"a": ev.ranking(), "<b>": other.ranking()},
    )
    content = data_of(path.read_text(encoding="utf-8"))
    assert content["without_prior"]["models"] == ["<b>", "a"]
    perfect = evaluate((np.arange(1000) < 100).astype(int), -np.arange(1000.0), prior=0.0)
    rankings = dict.fromkeys(("a", "b"), perfect.ranking())
    write_report(path, {"a": perfect, "b": perfect}, rankings={"a": perfect.ranking()})
    assert data_of(path.read_text(encoding="utf-8"))["without_prior"]["note"] is None
    write_report(path, {"a": perfect, "b": perfect}, rankings=rankings)
    note = "PULP of all models is within 0.01 of 0.9890"
    assert note in path.read_text(encoding="utf-8")
    assert data_of(path.read_text(encoding="utf-8"))["without_prior"]["note"].startswith(note)
    with pytest.raises(InputError, match="choices mention the model 'b', which is not one of"):
        write_report(path, {"a": ev}, choices={"b": choices})
    with pytest.raises(InputError, match="rankings of 'a' contain 'auc', which is not a measure"):
        write_report(path, {"a": ev}, rankings={"a": {"auc": 0.5}})


def test_the_code_makes_it_again(rows, ev):
    y, score = rows
    found, weight = priors.estimate(y, -np.abs(score - 3)), np.linspace(0.5, 1.5, y.size)
    names = {
        "evaluate": evaluate,
        "y": y,
        "score": score,
        "estimate": found,
        "sample_weight": weight,
    }
    for one in (
        ev,
        evaluate(*rows, prior=(0.15, 0.2), purity=(0.95, 1.0), threshold=1, level=None),
        evaluate(*rows, prior=0.2, target="unlabeled", seed=3, level=0.9, n_resamples=50),
        evaluate(*rows, prior=0.2, variance="labeling", threshold=float("-inf")),
        evaluate(*rows, label_frequency=0.4),
        evaluate(*rows, prevalence=(0.28, 0.31), purity=0.99),
        evaluate(*rows, prior=found),
        evaluate(*rows, purity=0.98),
        evaluate(*rows, purity="estimate"),
        evaluate(*rows, prior=0.2, sample_weight=weight),
    ):
        line = (
            reproducing_code({"model": one}, choices=False, rankings=False)
            .splitlines()[-1]
            .removesuffix('.to_html("report.html")')
        )
        again = eval(line, names)  # noqa: S307
        assert repr(again) == repr(one)


@pytest.mark.filterwarnings("ignore::pueval.errors.AssumptionWarning")
def test_propensities_and_splits(rows, tmp_path):
    from sklearn.linear_model import LogisticRegression

    from pueval.model_selection import evaluate_cv

    chance = np.full(3000, 0.4)
    ev = evaluate(*rows, propensity=chance)
    (model,) = summarize({"m": ev})["models"]
    assert sum(model["table"]["represented"]) == pytest.approx(ev.counts.n_represented)
    assert sum(model["histogram"]["represented"]) == pytest.approx(ev.counts.n_represented)
    assert model["feasible"] is None
    assert "follows from the propensities" in model["prior_origin"]
    crossed = evaluate_cv(LogisticRegression(), rows[1][:, None], rows[0], prior=0.2, n_repeats=2)
    crossed.to_html(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    assert "scored 2 times by a classifier trained on the other" in page
    assert "SD between" in page


@pytest.mark.filterwarnings("ignore::pueval.errors.AssumptionWarning")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"prior": 0.2}, "With 20% positives among them, the average precision is"),
        ({"prior": 0.05, "purity": 0.95}, "them and 95% of the labels correct, the average"),
        ({"prior": 0.0}, "no correction is needed"),
    ],
)  # fmt: skip
def test_headline(rows, arguments, message):
    ev = evaluate(*rows, **arguments)
    text = headline_text(ev)
    assert message in text
    changes = {
        name: abs(ev[name].value - ev[name].naive) for name in ("roc_auc", "average_precision")
    }
    moved = ev[max(changes, key=changes.get)]
    assert f"{moved.value:.2f} ({moved.low:.2f}–{moved.high:.2f})" in text
    assert f"{moved.naive:.2f}" in text


def test_headline_without_unlabeled_rows():
    counts = Counts.from_table([3, 2, 1], [3, 2, 1], [0, 0, 0], [1, 2, 3])
    assert "All labels are known" in headline_text(evaluate(counts, level=None))
    assert "If all labels were correct" in headline_text(evaluate(counts, purity=0.9, level=None))


def test_digits_follow_the_interval():
    assert rounded_estimate(Estimate(0.91234, 0.9, 0.92, 0, 0, 0)) == "0.91 (0.90–0.92)"
    assert rounded_estimate(Estimate(0.91234, 0.911, 0.914, 0, 0, 0)) == "0.912 (0.911–0.914)"
    assert rounded_estimate(Estimate(0.91234, 0.9121, 0.9125, 0, 0, 0)) == "0.9123 (0.9121–0.9125)"
    nan = float("nan")
    assert rounded_estimate(Estimate(0.91234, nan, nan, 0, nan, 0)) == "0.91"
    assert rounded_estimate(Estimate(nan, nan, nan, 0, nan, 0)) == "undefined"
    shown = [format_share(x) for x in (0, 0.00042, 0.01, 0.237, 0.95, 0.991, 1)]
    assert shown == ["0%", "0.042%", "1%", "24%", "95%", "99.1%", "100%"]


# ------------------------------------------------------------------ counts and scores


def test_thinning_keeps_counts_and_says_what_it_costs(rng):
    _, score, labeled = draw(rng, 50_000, prevalence=0.2, label_frequency=0.3)
    ev = evaluate(labeled, score, prior=0.1, threshold=0.6543, level=None)
    few = thin_counts(
        ev.counts,
        ev.mixture,
        ev.target,
        keep=[ev.threshold],
        precision=ev["average_precision"].value,
        scores=500,
    )
    assert not few.exact
    assert few.counts.score.size <= 510
    assert ev.threshold in few.counts.score
    for kind in ("n_labeled", "n_unlabeled", "n_negative"):
        assert getattr(few.counts, kind) == getattr(ev.counts, kind)
    thinned, whole = few.counts.at(few.counts.score), ev.counts.at(few.counts.score)
    for kind in ("labeled", "unlabeled", "negative"):
        np.testing.assert_array_equal(getattr(thinned, kind), getattr(whole, kind))
    again = evaluate(few.counts, prior=0.1, threshold=ev.threshold, level=None)
    off = abs(again["average_precision"].value - ev["average_precision"].value)
    assert few.precision_error == pytest.approx(off)
    assert 0 < few.precision_error < 0.01
    for bias in (1.0, 2.0, 5.0):
        mine, theirs = (each.labeling_bias(bias)["roc_auc"] for each in (again, ev))
        assert abs(mine.low - theirs.low) <= few.auc_error
        assert abs(mine.high - theirs.high) <= few.auc_error


@pytest.mark.filterwarnings("ignore::pueval.errors.AssumptionWarning")
@pytest.mark.parametrize("models", [1, 4, 20])
def test_size(rng, tmp_path, models):
    """However long the numbers are, and however many, the page stays below 1.3 MB."""
    n = 60_000
    positive, score, labeled = draw(rng, n, prevalence=0.2, label_frequency=0.3)
    y = np.where(labeled, 1, np.where(~positive & (rng.random(n) < 0.3), -1, 0))
    weight, chance = rng.random(n) * 1e-5, rng.uniform(0.2, 0.4, n)
    plain = {"prior": 0.1, "n_resamples": 50, "negative_label": -1}
    evaluations = {
        f"model {k}": evaluate(
            y, score * 1e-5 + k, sample_weight=weight, propensity=chance, **plain
        )
        for k in range(models)
    }
    write_report(tmp_path / "report.html", evaluations)
    assert (tmp_path / "report.html").stat().st_size < 1_300_000


def test_few_scores_of_many_rows_are_exact(rng):
    score = rng.integers(0, 40, 100_000)
    ev = evaluate(rng.random(100_000) < score / 80, score, prior=0.01, level=None)
    (model,) = summarize({"m": ev})["models"]
    assert model["exact"]
    assert len(model["table"]["score"]) == 40


@pytest.mark.parametrize(
    ("transform", "axis"),
    [
        (lambda s: s, "linear"),
        (np.round, "scores"),
        (lambda s: 1 / (1 + np.exp(6 - 3 * s)), "logit"),
        (lambda s: np.exp(9 * s), "rank"),
        (lambda s: np.where(s < 2.5, 0.0, s), "rank"),
    ],
)
def test_histogram(rng, transform, axis):
    _, score, labeled = draw(rng, 5000, prevalence=0.3, label_frequency=0.4)
    counts = Counts.from_arrays(labeled, transform(score))
    found = score_histogram(counts, counts._thinned(800))
    assert found["axis"] == axis
    assert sum(found["labeled"]) == counts.n_labeled
    assert sum(found["unlabeled"]) == counts.n_unlabeled
    assert sum(found["negative"]) == 0
    bins = len(found["labeled"])
    assert len(found["edges"]) == (bins if axis == "scores" else bins + 1)
    assert np.all(np.diff(found["edges"]) > 0)
    if axis == "linear":
        edges = np.array(found["edges"])
        inside = [
            int(np.sum((score[labeled] >= low) & (score[labeled] < high)))
            for low, high in pairwise(edges[1:-1])
        ]
        assert found["labeled"][1:-1] == inside


def test_one_score(tmp_path):
    with pytest.warns(AssumptionWarning, match="same score"):
        ev = evaluate([1, 0, 0, 1], [5, 5, 5, 5], prior=0.1)
    ev.to_html(tmp_path / "report.html")
    (model,) = data_of((tmp_path / "report.html").read_text())["models"]
    assert model["histogram"]["edges"] == [5.0]


# ------------------------------------------------------------------ names are only text


def test_names_show_as_text(ev, tmp_path):
    path = tmp_path / "report.html"
    write_report(path, dict.fromkeys(NAMES.values(), ev))
    page = path.read_text(encoding="utf-8")
    assert page.count("<script") == 1 + len(pueval.report._page.SCRIPTS)
    assert "<script>alert" not in page
    assert "<!--" not in page
    assert "&lt;/script&gt;&lt;script&gt;alert(1)" in page
    assert "{{ 7 * 7 }}" in page
    assert "\u2028" not in page.split('id="data">')[1].split("</script>")[0]
    names = [model["name"] for model in data_of(page)["models"]]
    assert names[0] == NAMES["script"]
    assert names[4] == "a\u2028b\u2029c\nd�e�"
    assert names[8] == "file-?"
    assert "\x00" not in page


def test_embedded_json_is_safe_and_whole():
    content = {"</script>": "<!--\u2028\u2029&", "n": [1.5, None]}
    text = embedded_json(content)
    assert not re.search("[<>&\u2028\u2029]", text)
    assert json.loads(text) == content
    with pytest.raises(ValueError, match="JSON"):
        embedded_json(float("nan"))


def test_policy_allows_these_blocks_only(ev, tmp_path):
    path = tmp_path / "report.html"
    ev.to_html(path)
    page = path.read_text(encoding="utf-8")
    (found,) = re.findall(r'http-equiv="Content-Security-Policy" content="(.*?)"', page)
    found = found.replace("&#39;", "'")
    assert found.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in found
    assert "http" not in found
    blocks = re.findall(r"<(script|style)>(.*?)</\1>", page, re.DOTALL)
    assert len(blocks) == len(pueval.report._page.SCRIPTS) + len(pueval.report._page.STYLES)
    for _, block in blocks:
        assert source_hash(block) in found
    assert source_hash("") == "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"
    assert policy([], []).count("'none'") == 3
    # Nothing in it needs an inline style or handler, which the policy would refuse.
    outside = re.sub(r"<(script|style).*?</\1>", "", page, flags=re.DOTALL)
    assert not re.search(r"\s(style|on\w+)=", outside)
    assert not re.search(r"(src|href)=\"(?!#)", outside)


def test_assets_can_be_embedded():
    for name in (*pueval.report._page.SCRIPTS, *pueval.report._page.STYLES):
        text = asset(name)
        assert not re.search(r"</(script|style)|<!--", text, re.IGNORECASE), name
    assert "Copyright 2020-2025 Observable" in asset("plot.min.js")
    assert asset("plot.LICENSES.txt").strip() in asset("plot.min.js")


# ------------------------------------------------------------------ files


def test_unwritable_paths(ev, tmp_path):
    with pytest.raises(InputError, match="nowhere/report.html cannot be written: the folder"):
        ev.to_html(tmp_path / "nowhere" / "report.html")
    folder = tmp_path / "folder"
    folder.mkdir()
    with pytest.raises(InputError, match="folder cannot be written: Is a directory"):
        ev.to_html(folder)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder"]


def test_an_existing_file_survives_a_failure(ev, tmp_path, monkeypatch):
    path = tmp_path / "report.html"
    path.write_text("precious")

    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(InputError, match="cannot be written: No space left on device"):
        ev.to_html(path)
    assert path.read_text() == "precious"
    assert [one.name for one in tmp_path.iterdir()] == ["report.html"]


def test_without_jinja2(ev, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(MissingPackageError, match=r'pip install "pueval\[report\]"'):
        ev.to_html(tmp_path / "report.html")
    assert not [*tmp_path.iterdir()]


def test_a_path_may_be_text_and_is_readable_by_others(ev, tmp_path):
    path = str(tmp_path / "report.html")
    umask = os.umask(0o022)
    try:
        ev.to_html(path)
    finally:
        os.umask(umask)
    assert Path(path).stat().st_mode & 0o777 == 0o644


# ------------------------------------------------------------------ command line


@pytest.fixture
def scores(tmp_path, rows):
    path = tmp_path / "my scores.csv"
    lines = [f"{int(y)},{s},{-abs(s)}" for y, s in zip(*rows, strict=True)]
    path.write_text("label,a,b\n" + "\n".join(lines) + "\n")
    return path


def test_command_line(scores, tmp_path, capsys):
    html, out = tmp_path / "report.html", tmp_path / "out.json"
    arguments = ["evaluate", str(scores), "--label", "label", "--score", "a", "--prior", "0.2",
                 "--html", str(html), "--json", str(out)]  # fmt: skip
    assert run(arguments) == 0
    assert "ROC AUC" in capsys.readouterr().out
    page = html.read_text()
    value = json.loads(out.read_text())["models"]["a"]["measures"]["f1"]["value"]
    shown = data_of(page)["models"][0]["measures"]["f1"]["value"]
    assert shown == pytest.approx(value, rel=1e-9)
    assert f"pueval evaluate &#39;{scores}&#39; --label label --score a --prior 0.2 --html" in page
    assert "<title>a – my scores.csv – pueval report</title>" in page
    assert 'pueval report of <bdi class="name">my scores.csv</bdi>' in page


@pytest.mark.parametrize(
    ("file", "title"),
    [
        ("scores.csv", "scores.csv"),
        ("/a folder/scores.csv", "scores.csv"),
        ("C:\\data\\scores.csv", "scores.csv"),
        ("parts/", "parts"),
        ("-", "standard input"),
    ],
)
def test_file_title(file, title):
    assert file_title(file) == title


def test_file_names_are_text(ev, tmp_path):
    write_report(tmp_path / "report.html", {"m": ev}, file="</title><script>alert(1)</script>")
    page = (tmp_path / "report.html").read_text()
    assert "<script>alert" not in page
    assert "&lt;/title&gt;&lt;script&gt;alert(1)" in page


def test_quiet(scores, tmp_path, capsys):
    html = tmp_path / "report.html"
    arguments = ["evaluate", str(scores), "--label", "label", "--score", "a", "--score", "b",
                 "--prior", "0.2", "--quiet", "--html", str(html)]  # fmt: skip
    assert run(arguments) == 3
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith(
        "pueval: warning: b: labeled rows score lower than the background rows"
    )
    assert [model["name"] for model in data_of(html.read_text())["models"]] == ["a", "b"]
    assert run([*arguments[:-1], "/nowhere/at/all.html"]) == 2
    assert "/nowhere/at/all.html cannot be written" in capsys.readouterr().err


def test_every_measure_has_a_place(ev):
    (model,) = summarize({"m": ev})["models"]
    assert set(model["measures"]) == {"roc_auc", "average_precision", *MEASURES}


def test_whose_scores_the_prior_is_from(rows, tmp_path, rng):
    y, score = rows
    path = tmp_path / "report.html"
    better = evaluate(y, score)
    worse = evaluate(y, score + rng.normal(size=score.size), prior=better.prior_estimate)
    write_report(path, {"worse": worse, "better": better})
    text = path.read_text()
    assert text.count("The prior was estimated from the scores of") == 1
    assert 'estimated from the scores of <bdi class="name">better</bdi>.' in text
    assert text.count('<figure class="estimates') == 1
    worse.to_html(path)
    assert "The prior was passed as an estimate, possibly from other scores." in path.read_text()


def test_warnings_of_a_comparison(tmp_path, rng):
    y = rng.random(3000) < 0.2
    scores = {name: 6 * y + rng.normal(size=3000) for name in "ab"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssumptionWarning)
        comparison = compare(y, scores)
    assert any(
        said.startswith("almost all labeled positives score above") for said in comparison.warnings
    )
    path = tmp_path / "report.html"
    comparison.to_html(path)
    text = path.read_text()
    assert ">Warnings</h2>" in text
    assert "Almost all labeled positives score above" in text
    assert "Holm" in text
    first, rest = text.split("<summary>Differences in all other measures</summary>")
    assert "Best F1</td>" in first
    assert "Cohen&#39;s kappa</td>" not in first
    assert "Cohen&#39;s kappa</td>" in rest


def test_an_infinite_limit_is_no_dash(tmp_path):
    y = np.repeat([1, 0], [60, 400])
    score = np.r_[np.linspace(0, 2, 60), np.linspace(0, 2, 30), np.linspace(-1, 1.2, 370)]
    ev = evaluate(y, score, prior=0.06, threshold=1.18)
    assert ev["positive_likelihood_ratio"].high == math.inf
    path = tmp_path / "report.html"
    ev.to_html(path)
    assert "–∞</small>" in path.read_text()
