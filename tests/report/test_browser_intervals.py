"""Intervals and bands of the page at moved sliders, against Python's."""

import math
import re

import numpy as np
import pytest
from playwright.sync_api import expect

from pueval import evaluate
from pueval.core.measures import MEASURES
from pueval.report import write_report
from tests.conftest import draw
from tests.report.redrawing import settle

pytestmark = pytest.mark.filterwarnings("ignore::pueval.errors.AssumptionWarning")

# The page has a fifth of the resamples. Ends of intervals differ by this share of half the width;
# those of ratios are percentiles, which vary more.
TOLERANCE, RATIO_TOLERANCE = 0.15, 0.5

INTERVALS = """([prior, purity, threshold]) => {
  const model = state.current();
  const { measures } = state.evaluate(model, { mixture: { prior, purity }, bias: 1, threshold });
  return Object.entries(measures).map(([name, { interval }]) => [
    name, (interval ?? [NaN, NaN]).map(String),
  ]);
}"""

BAND = """([id, prior, purity]) => {
  const model = state.current();
  const mixture = { prior, purity };
  const make = { roc: correction.rocCurve, pr: correction.precisionRecallCurve }[id];
  const curve = make(model.drawn, mixture, model.target);
  const band = bands[id](model, mixture, state.resampledCurves(model, mixture), curve);
  return band.map((side) => side.map(({ x, y }) => [x, y]));
}"""


def sample(seed=3, n=3000):
    rng = np.random.default_rng(seed)
    positive, score, labeled = draw(rng, n, prevalence=0.3, label_frequency=0.4)
    with_negatives = np.where(labeled, 1, np.where(~positive & (rng.random(n) < 0.3), -1, 0))
    weight = rng.uniform(0.2, 3, n)
    return score, labeled, with_negatives, weight


SCORE, LABELED, WITH_NEGATIVES, WEIGHT = sample()
ROWS = {"y": LABELED, "score": SCORE}
CASES = {
    "known prior": (ROWS, {"prior": 0.2}),
    "given threshold": (ROWS, {"prior": 0.2, "threshold": 1.0}),
    "estimate": (ROWS, {}),
    "interval": (ROWS, {"prior": (0.15, 0.25)}),
    "prevalence": (ROWS, {"prevalence": 0.3}),
    "unlabeled": (ROWS | {"target": "unlabeled"}, {"prior": 0.15, "purity": 0.95}),
    "negatives": ({"y": WITH_NEGATIVES, "score": SCORE, "negative_label": -1}, {"prior": 0.2}),
    "weights": (ROWS | {"sample_weight": WEIGHT}, {"prior": 0.2}),
    "clusters": (ROWS | {"cluster": np.arange(SCORE.size) // 100}, {"prior": 0.2}),
    "propensities": (ROWS | {"propensity": np.full(SCORE.size, 0.5)}, {}),
    "labels": (ROWS | {"variance": "labeling"}, {"prior": 0.2}),
}


def compare(found, python):
    """Compare the intervals of the page with Python's."""
    errors = {}
    for name, ends in found:
        estimate = python.get(name)
        if estimate is None:
            continue
        low, high = (float(end.replace("Infinity", "inf")) for end in ends)
        assert math.isnan(low) == math.isnan(estimate.low), name
        ratio = math.isinf(MEASURES[name].high) if name in MEASURES else False
        if ratio:
            # Percentiles of skewed draws; the upper end can be far away, or infinite.
            low, high, least, most = (
                math.log(max(end, 1e-3)) if end < math.inf else math.inf
                for end in (low, high, estimate.low, estimate.high)
            )
            if math.inf in {most, high} or estimate.high > 10 * estimate.value:
                high = most = math.log(estimate.value)
        else:
            least, most = estimate.low, estimate.high
        half = max((most - least) / 2, 1e-9)
        error = max(abs(low - least), abs(high - most)) / half
        errors[name] = error
        assert error < (RATIO_TOLERANCE if ratio else TOLERANCE), (name, ends, estimate)
    return errors


@pytest.mark.parametrize("case", [*CASES])
def test_intervals_follow_the_sliders(open_page, tmp_path, case):
    rows, assumptions = CASES[case]
    ev = evaluate(**rows, **assumptions)
    ev.to_html(tmp_path / "report.html")
    page = open_page(tmp_path / "report.html")
    compare(page.evaluate(INTERVALS, [ev.prior, ev.purity, ev.threshold]), ev)
    errors = []
    for share in (0.05, 0.3, 0.6):
        threshold = float(ev.counts.score[int(share * ev.counts.score.size)])
        found = page.evaluate(INTERVALS, [ev.prior, ev.purity, threshold])
        errors += compare(found, ev.at(threshold)).values()
    threshold = {key: assumptions[key] for key in ("threshold",) if key in assumptions}
    for prior, purity in [(0.08, 1.0), (0.22, 1.0), (0.1, 0.95)]:
        if "propensity" in rows and purity < 1:
            continue
        found = page.evaluate(INTERVALS, [prior, purity, ev.threshold])
        if case == "labels":
            assert all(low == "NaN" for _, (low, _) in found)
            continue
        python = evaluate(**rows, prior=prior, purity=purity, **threshold)
        assert python.threshold == ev.threshold
        errors += compare(found, python).values()
        for kind, band in (("roc", python.roc_band()), ("pr", python.pr_band())):
            sides = np.array(page.evaluate(BAND, [kind, prior, purity]))
            x = sides[0, :, 0]
            inside = (x > 0.03) & (x < 0.99)
            width = np.interp(x, band.x, band.high - band.low)
            for side, edge in zip(sides, (band.low, band.high), strict=True):
                off = np.abs(side[:, 1] - np.interp(x, band.x, edge)) / np.maximum(width, 0.01)
                assert np.median(off[inside]) < 0.05
                assert np.max(off[inside]) < 0.4
    assert np.median(errors) < 0.05


def type_number(page, name, text):
    page.locator(f"#{name}-number").fill(text)
    page.locator(f"#{name}-number").press("Enter")
    settle(page)


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "report.html"
    evaluate(**ROWS, prior=0.2).to_html(path, name="model_a")
    return path


@pytest.fixture
def page(open_page, report):
    return open_page(report)


def tiles(page):
    return page.locator("#headline > div").all()


SPAN = re.compile(r"\d\.\d+–\d\.\d+")


@pytest.mark.parametrize(
    ("name", "text"), [("prior", "0.1"), ("purity", "0.95"), ("threshold", "0.5")]
)
def test_a_moved_slider_keeps_intervals_and_bands(page, name, text):
    type_number(page, name, text)
    for tile in tiles(page):
        assert SPAN.search(tile.inner_text())
    rows = page.locator(".model-measures:not([hidden]) tr[data-measure]").all()
    assert len(rows) == len(MEASURES) + 2
    for row in rows:
        assert row.locator("td.live").last.locator("small").count() == 1
    for curve in ("roc", "pr"):
        assert "95% confidence band" in page.locator(f"#{curve} .legend").inner_text()
    note = page.locator("#interval-note").inner_text()
    assert "95% confidence intervals" in note
    assert ("exactly those at the sliders" in note) == (name != "threshold")


def test_several_models_keep_their_intervals(open_page, tmp_path):
    rng = np.random.default_rng(0)
    other = evaluate(LABELED, SCORE + rng.normal(size=SCORE.size), prior=0.2)
    write_report(tmp_path / "report.html", {"a": evaluate(**ROWS, prior=0.2), "b": other})
    page = open_page(tmp_path / "report.html")
    type_number(page, "prior", "0.1")
    cells = page.locator("#models tbody td[data-key]").all()
    assert len(cells) == 14
    for cell in cells:
        assert SPAN.search(cell.inner_text())


def test_bounds_say_that_they_are_no_intervals(page):
    type_number(page, "bias", "2")
    for tile in tiles(page):
        assert "bounds without sampling error" in tile.inner_text()
    note = page.locator("#interval-note").inner_text()
    assert "They leave out sampling error; ev.labeling_bias(2) and --labeling-bias 2" in note
    assert page.locator(".range-kind").inner_text() == "at the sliders; bounds"


def test_other_labels_have_no_interval_at_another_prior(open_page, tmp_path):
    evaluate(**ROWS, prior=0.2, variance="labeling").to_html(tmp_path / "report.html")
    page = open_page(tmp_path / "report.html")
    type_number(page, "prior", "0.1")
    for tile in tiles(page):
        assert "no interval here" in tile.inner_text()
        assert not SPAN.search(tile.inner_text())
    assert "band" not in page.locator("#roc .legend").inner_text()
    assert "There are no confidence intervals here" in page.locator("#interval-note").inner_text()


def test_an_impossible_prior_marks_every_tile(page):
    expect(page.locator("#headline .impossible")).to_have_count(0)
    type_number(page, "prior", "0.6")
    for tile in tiles(page):
        assert tile.get_attribute("class") == "impossible"
        assert "impossible: the data rule this out" in tile.inner_text()
    page.locator("#reset").click()
    settle(page)
    assert page.locator("#headline .impossible").count() == 0


@pytest.mark.parametrize(
    ("name", "text", "value", "message"),
    [
        ("prior", "35", "0.35", "Read 35 as 35%."),
        ("prior", "35%", "0.35", ""),
        ("purity", "97.5", "0.975", "Read 97.5 as 97.5%."),
        ("purity", "100", "1", "Read 100 as 100%."),
        ("prior", "350", "0.2", "Prior stays at 0.2: it must be from 0 to 1 (100%); got 350."),
        ("prior", "-0.1", "0.2", "Prior stays at 0.2: it must be from 0 to 1 (100%); got −0.1."),
        ("prior", "1", "0.2", "Prior stays at 0.2: it must be below the purity, 1; got 1."),
        (
            "purity",
            "0.1",
            "1",
            "Purity stays at 1: it must be above the prior, 0.2, and at most 1; got 0.1.",
        ),
        ("prior", "<b>", "0.2", "Prior stays at 0.2: “<b>” is not a number."),
        ("bias", "0.5", "1", "Labeling bias stays at 1: it must be at least 1; got 0.5."),
    ],
)
def test_typed_shares(page, name, text, value, message):
    type_number(page, name, text)
    assert page.locator(f"#{name}-number").input_value() == value
    assert page.locator(f"#{name}-message").inner_text() == message
    type_number(page, "prior", "0.15")
    assert page.locator("#prior-message").inner_text() == ""
