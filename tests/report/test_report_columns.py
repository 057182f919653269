"""Columns of the table of all measures: bounds and baselines; and its text for documents."""

import re

import pytest

from pueval import InputError, evaluate
from pueval.report import write_report
from pueval.report._summary import summarize
from tests.conftest import draw


@pytest.fixture
def rows(rng):
    _, score, labeled = draw(rng, 2000, prevalence=0.3, label_frequency=0.4)
    return labeled, score


@pytest.fixture
def ev(rows):
    return evaluate(*rows, prior=(0.15, 0.25), n_resamples=100)


def cells(path, measure):
    (row,) = re.findall(rf'<tr data-measure="{measure}">.*?</tr>', path.read_text())
    return re.findall(r"<td[^>]*>(.*?)</td>", row)


def test_bounds_and_baselines(ev, tmp_path):
    path = tmp_path / "report.html"
    ev.to_html(path, bounds=True)
    bounds, baselines = ev.bounds(), ev.baselines()
    for name in ("f1", "roc_auc", "precision"):
        _, _, bound, *_, all_positive, all_negative, random = cells(path, name)
        assert bound == f"{bounds[name].low:.3f}–{bounds[name].high:.3f}"
        assert [all_positive, all_negative, random] == baselines[name].cells()
    assert bounds.summary() in path.read_text()
    assert (
        "n_resamples=100, seed=0).to_html(&#34;report.html&#34;, bounds=True)" in path.read_text()
    )


def test_bounds_are_shown_on_request_only(ev, tmp_path):
    path = tmp_path / "report.html"
    ev.to_html(path)
    assert len(cells(path, "f1")) == 7
    assert "Claesen" not in path.read_text()


@pytest.mark.filterwarnings("ignore::pueval.errors.AssumptionWarning")
def test_an_infinite_bound(tmp_path):
    ev = evaluate([1, 1, 1, 0, 0, 0], [6, 5, 4, 3, 2, 1], prior=0.34, threshold=3, level=None)
    path = tmp_path / "report.html"
    ev.to_html(path, bounds=True)
    assert cells(path, "positive_likelihood_ratio")[2].endswith("–∞")


def test_the_text_for_documents(ev):
    (model,) = summarize({"m": ev})["models"]
    markdown, latex = ev.to_markdown(all_measures=True), ev.to_latex(all_measures=True)
    assert model["exports"] == {"Markdown": markdown, "LaTeX": latex}
    assert len(markdown.splitlines()) == len(ev) + 2


def test_many_models_have_no_text_for_documents(rows):
    """It would make the page too long."""
    ev = evaluate(*rows, prior=0.2, level=None)
    models = summarize({f"model {k}": ev for k in range(6)})["models"]
    assert not any(model["exports"] for model in models)


def test_bounds_of_another_threshold_or_model(ev, rows, tmp_path):
    other = ev.bounds().at(ev.threshold + 1)
    with pytest.raises(InputError, match="another threshold or target"):
        write_report(tmp_path / "r.html", {"m": ev}, bounds={"m": other})
    with pytest.raises(InputError, match="bounds mention the model 'x'"):
        write_report(tmp_path / "r.html", {"m": ev}, bounds={"x": ev.bounds()})
