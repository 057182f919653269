"""The buttons that copy the table of all measures, in a real browser."""

import numpy as np
import pytest

from pueval import evaluate
from pueval.report import write_report
from tests.conftest import draw


@pytest.fixture(scope="module")
def evaluations():
    rng = np.random.default_rng(3)
    _, score, labeled = draw(rng, 1000, prevalence=0.3, label_frequency=0.4)
    scores = {"model_a": score, "model_b": score + rng.normal(size=1000)}
    return {name: evaluate(labeled, score, prior=0.2, level=None) for name, score in scores.items()}


@pytest.fixture(scope="module")
def report(evaluations, tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "report.html"
    write_report(path, evaluations)
    return path


def test_copies_the_table_of_the_model(open_page, report, evaluations):
    page = open_page(report, permissions=["clipboard-read", "clipboard-write"])
    for name, ev in evaluations.items():
        page.select_option("#model", label=name)
        visible = page.locator(".model-measures:visible")
        texts = {
            "Markdown": ev.to_markdown(all_measures=True),
            "LaTeX": ev.to_latex(all_measures=True),
        }
        for format_name, text in texts.items():
            visible.get_by_role("button", name=f"Copy as {format_name}").click()
            status = visible.get_by_text(f"Copied the evaluated values as {format_name}.")
            status.wait_for()
            assert page.evaluate("navigator.clipboard.readText()") == text


def test_without_the_clipboard_interface(open_page, report, evaluations):
    """Some browsers have none for pages from disk."""
    page = open_page(report, permissions=["clipboard-read", "clipboard-write"])
    page.select_option("#model", label="model_a")
    page.evaluate("() => { navigator.clipboard.writeText = () => Promise.reject(new Error()); }")
    button = page.locator(".model-measures:visible").get_by_role("button", name="Copy as LaTeX")
    button.click()
    page.get_by_text("Copied the evaluated values as LaTeX.").wait_for()
    text = evaluations["model_a"].to_latex(all_measures=True)
    assert page.evaluate("navigator.clipboard.readText()") == text
    assert page.locator("textarea").count() == 0
    assert button.evaluate("node => node === document.activeElement")
