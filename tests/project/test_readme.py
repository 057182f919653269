"""The README shows what really happens."""

import json
import re
import runpy

import pandas as pd
import pytest

from pueval.commands.app import run
from tests.conftest import ROOT
from tests.project.snippets import WIDTH, make_example_files, run_snippets

README = ROOT / "README.md"
TEXT = README.read_text()


def test_snippets_print_what_the_readme_shows(tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(WIDTH))
    make_example_files(tmp_path)
    languages = []
    for snippet, printed in run_snippets(README, tmp_path):
        assert printed == snippet.shown, f"line {snippet.line + 1}"
        languages += [snippet.language] if snippet.shown else []
    assert languages == ["python", "sh"]


def test_make_targets_exist():
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE))
    named = set(re.findall(r"\bmake ([a-z-]+)", TEXT))
    assert {"demo", "test", "test-all"} <= named <= targets


def test_at_most_150_lines():
    assert len(TEXT.splitlines()) <= 150


def test_speed_table_is_what_was_measured():
    """The last columns of both tables in RESULTS.md, for 10 million rows."""
    results = (ROOT / "benchmarks" / "RESULTS.md").read_text()
    for title in (
        "pueval: all measures, both curves, AUC",
        "pueval: the same, with 95% intervals",
        "scikit-learn: roc_auc_score (naive)",
    ):
        line = re.compile(rf"^\| {re.escape(title)} \|.*", flags=re.MULTILINE)
        measured = [match[0].split(" | ")[3].rstrip(" |") for match in line.finditer(results)]
        shown = line.search(TEXT)[0].strip("| ").split(" | ")[1:]
        assert shown == measured


@pytest.fixture
def demo(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    namespace = runpy.run_path(str(ROOT / "examples" / "demo.py"), run_name="__main__")
    return capsys.readouterr().out, namespace


def test_demo_shows_three_columns(demo):
    out, _ = demo
    for title in ("ROC AUC", "F1", "Matthews correlation"):
        rows = [line.split() for line in out.splitlines() if line.strip().startswith(title)]
        assert len(rows) == 2  # one for each model
        for row in rows:
            naive, corrected, truth = (float(cell) for cell in row[-3:])
            assert abs(corrected - truth) < 0.05 < abs(naive - truth)
    assert max(map(len, out.splitlines())) <= 80


@pytest.mark.parametrize("page", ["README.md", "docs/index.md"])
def test_numbers_below_the_picture(demo, page):
    """The picture and its caption use the estimated prior of the logistic model."""
    _, namespace = demo
    from pueval import Counts, evaluate

    data = namespace["load"]()
    ev = evaluate(data["label"], data["logistic"])
    counts = Counts.from_arrays(
        data["truth"], data["logistic"], unlabeled_label=None, negative_label=0
    )
    true_prior = data["truth"][data["label"] == 0].mean()
    caption = " ".join((ROOT / page).read_text().split("*A spam filter")[1].split("*")[0].split())
    assert f"a prior of {ev.mixture.prior:.3f}" in caption
    assert f"{true_prior:.3f}" in caption
    assert f"{data['label'].sum() / data['truth'].sum():.0%}" in caption
    if page == "README.md":
        true = evaluate(counts)["average_precision"].value
        precision = ev["average_precision"]
        assert f"its average precision is {precision.naive:.2f}" in caption
        assert f"Corrected, it is {precision.value:.2f}" in caption
        assert f"an average precision of {true:.2f}" in caption


@pytest.mark.thorough
def test_the_example_can_be_made_again(data_folder, tmp_path, monkeypatch):
    """The script gives the committed file, up to the last digits of the classifiers."""
    script = tmp_path / "make_spambase.py"
    script.write_text((ROOT / "examples" / "make_spambase.py").read_text())
    runpy.run_path(str(script), run_name="__main__")
    made, kept = (
        pd.read_csv(path) for path in (tmp_path / "spambase.csv", ROOT / "examples/spambase.csv")
    )
    assert (made[["label", "truth"]] == kept[["label", "truth"]]).all(axis=None)
    for model in ("boosting", "logistic"):
        assert made[model].corr(kept[model]) > 0.999


def test_json_of_the_example(tmp_path, capsys):
    out = tmp_path / "out.json"
    code = run(["evaluate", str(ROOT / "examples" / "spambase.csv"), "--label", "label", "--score",
                "boosting", "--score", "logistic", "--prior", "0.3",
                "--json", str(out)])  # fmt: skip
    assert code == 0
    assert set(json.loads(out.read_text())["models"]) == {"boosting", "logistic"}
