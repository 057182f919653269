"""The notebook view: the table and two pictures, out of reach of the notebook's styles."""

import importlib.util
import re
import xml.etree.ElementTree as ET

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import pytest

from pueval import AssumptionWarning, evaluate
from pueval.estimates.measure_titles import REPORTED_MEASURES
from pueval.text.numbers import format_interval, format_number
from tests.conftest import draw


@pytest.fixture(scope="module")
def ev():
    rng = np.random.default_rng(5)
    _, score, labeled = draw(rng, 2000, prevalence=0.3, label_frequency=0.4)
    return evaluate(labeled, score, prior=0.2, n_resamples=100)


@pytest.fixture
def page(ev):
    return ET.fromstring(ev._repr_html_())  # noqa: S314 - our own text


def test_table(ev, page):
    lines = [["".join(cell.itertext()) for cell in row] for row in page.iter("tr")]
    assert lines[0] == ["", "naive", "corrected", "95% CI"]
    auc = ev["roc_auc"]
    assert lines[1] == [
        "ROC AUC",
        format_number(auc.naive),
        format_number(auc.value),
        format_interval(auc.low, auc.high),
    ]
    assert len(lines) == 1 + len(REPORTED_MEASURES)


def test_every_element_resets_the_styles_of_the_page(page):
    svg = "{http://www.w3.org/2000/svg}"
    html = [one for one in page.iter() if not one.tag.startswith(svg)]
    assert len(html) > 60
    for one in [*html, *page.iter(svg + "svg")]:
        assert one.get("style").startswith("all:revert;"), one.tag


def test_pictures(ev, page):
    (svg,) = page.iter("{http://www.w3.org/2000/svg}svg")
    assert svg.get("role") == "img"
    for name in ("roc_auc", "average_precision"):
        assert (
            f"naive {format_number(ev[name].naive)}, corrected {format_number(ev[name].value)}"
            in svg.get("aria-label")
        )
    text = ev._repr_html_()
    assert "currentColor" in text
    assert "#010203" not in text
    assert "<script" not in text
    assert set(re.findall(r"https?://[^\"'\s)]+", text)) == {
        "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink",
    }  # fmt: skip
    assert len(text) < 300_000


def test_names_inside_are_its_own(ev):
    text = ev._repr_html_()
    own = re.findall(r' id="([^"]+)"', text)
    used = re.findall(r'(?:href="#|url\(#)([^")]+)', text)
    assert len(own) == len(set(own)) > 20
    assert set(own) == set(used)
    assert len({name.split("-")[0] for name in own}) == 1
    other = re.findall(r' id="([^"]+)"', evaluate(ev.counts, prior=0.1)._repr_html_())
    assert not set(own) & set(other)


def test_the_same_again_and_nothing_else_changes(ev):
    plt.close("all")
    before = dict(mpl.rcParams)
    first = ev._repr_html_()
    with plt.style.context("dark_background"):
        assert ev._repr_html_() == first
    assert dict(mpl.rcParams) == before
    assert plt.get_fignums() == []


def test_without_matplotlib(ev, monkeypatch):
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "matplotlib" else find(name)
    )
    text = ev._repr_html_()
    assert "<svg" not in text
    assert format_number(ev["f1"].value) in text


def test_warnings_are_text(ev):
    with pytest.warns(AssumptionWarning):
        bad = evaluate(ev.counts, prior=0.9, n_resamples=50)
    assert "⚠ prior 0.9 does not fit" in bad._repr_html_()
    ET.fromstring(bad._repr_html_())  # noqa: S314


def test_large_data_stay_small(rng):
    _, score, labeled = draw(rng, 400_000, prevalence=0.3, label_frequency=0.5)
    big = evaluate(labeled, score, prior=0.18, n_resamples=50)
    assert len(big._repr_html_()) < 300_000


def test_verdict(ev, page):
    text = " ".join("".join(one.itertext()) for one in page.iter("p"))
    for sentence in ev.verdict().sentences():
        assert sentence in text
