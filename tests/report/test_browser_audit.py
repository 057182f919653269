"""Pages of audited models: numbers are Python's, the audit is shown, and its shares stay fixed."""

import re

import numpy as np
import pytest
from playwright.sync_api import expect

from pueval import evaluate
from pueval.core.measures import MEASURES
from pueval.report import write_report
from tests.audit_estimates.audits import label_rows, make_rows, uniform_audit
from tests.report.test_browser_intervals import INTERVALS, compare, type_number
from tests.report.test_browser_looks import CONTRAST
from tests.report.test_browser_page import check, shown

pytestmark = pytest.mark.filterwarnings("ignore::pueval.errors.AssumptionWarning")


def audited_rows(n=3000, *, labeling="up", wrong=0.0, size=200, seed=5):
    """Return labels, scores and audit; with wrong labels, labeled rows are audited too."""
    rng = np.random.default_rng(seed)
    positive, score = make_rows(rng, n)
    labeled = label_rows(rng, positive, score, labeling)
    audited = uniform_audit(rng, positive, labeled, size)
    if wrong:
        labeled = labeled | (~positive & np.isnan(audited) & (rng.random(n) < wrong))
        checked = rng.choice(np.flatnonzero(labeled), 60, replace=False)
        audited[checked] = positive[checked]
    return {"y": labeled, "score": score, "audited": audited, "n_resamples": 200}


def known_negatives():
    rows = audited_rows()
    rng = np.random.default_rng(1)
    unknown = ~rows["y"] & np.isnan(rows["audited"]) & (rows["score"] < 1)
    y = np.where(rows["y"], 1, np.where(unknown & (rng.random(rows["y"].size) < 0.2), -1, 0))
    return rows | {"y": y, "negative_label": -1}


CASES = {
    "purity": lambda: audited_rows(wrong=0.02) | {"labeling": "any"},
    "unlabeled, purity": lambda: audited_rows(wrong=0.02) | {"target": "unlabeled"},
    "negatives": known_negatives,
    "unlabeled, negatives": lambda: known_negatives() | {"target": "unlabeled"},
    "ties": lambda: audited_rows() | {"score": np.round(audited_rows()["score"], 1)},
    "no intervals": lambda: audited_rows() | {"level": None, "threshold": 1.5},
}

CURVE = """() => {
  const { table, target, prior, purity } = state.current();
  const curve = correction.rocCurve(table, { prior, purity }, target);
  return curve.map(({ x, y }) => [x, y]);
}"""


@pytest.mark.parametrize("case", [*CASES])
def test_numbers_are_those_of_python(open_page, tmp_path, case):
    ev = evaluate(**CASES[case]())
    ev.to_html(tmp_path / "report.html")
    page = open_page(tmp_path / "report.html")
    check(page, ev)
    x, y = np.array(page.evaluate(CURVE)).T
    grid = np.linspace(0.001, 0.999, 300)
    curve = ev.roc()
    np.testing.assert_allclose(
        np.interp(grid, x, y), np.interp(grid, curve.fpr, curve.tpr), atol=1e-6
    )
    for share in (0.1, 0.6):
        point = ev.at(float(ev.counts.score[int(share * ev.counts.score.size)]))
        type_number(page, "threshold", repr(point.threshold))
        values, _ = shown(page)
        for name in MEASURES:
            assert values[name] == pytest.approx(point[name].value, abs=1e-9, nan_ok=True), name


@pytest.fixture(scope="module")
def ev():
    return evaluate(**audited_rows() | {"n_resamples": 1000})


@pytest.fixture(scope="module")
def report(ev, tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "report.html"
    ev.to_html(path)
    return path


@pytest.fixture
def page(open_page, report):
    return open_page(report)


def test_intervals_and_bands_are_as_evaluated(page, ev):
    compare(page.evaluate(INTERVALS, [ev.prior, ev.purity, ev.threshold]), ev)
    errors = []
    for share in (0.05, 0.3, 0.6):
        threshold = float(ev.counts.score[int(share * ev.counts.score.size)])
        found = page.evaluate(INTERVALS, [ev.prior, ev.purity, threshold])
        errors += compare(found, ev.at(threshold)).values()
    assert np.median(errors) < 0.05
    auc = ev["roc_auc"]
    tile = page.locator("#headline [data-measure=roc_auc]").inner_text()
    assert f"{auc.low:.3f}–{auc.high:.3f}" in tile
    for curve in ("roc", "pr"):
        assert "95% confidence band" in page.locator(f"#{curve} .legend").inner_text()
    note = page.locator("#interval-note").inner_text()
    assert note.endswith("95% confidence intervals, including the uncertainty of the audit.")


def test_the_audit_fixes_prior_and_purity(page, ev):
    for name in ("prior", "purity", "bias"):
        assert page.locator(f"#{name}").is_disabled()
        assert page.locator(f"#{name}-number").is_disabled()
    low, high = ev.assumptions.audited.prior
    assert page.locator("#prior-range").inner_text() == (
        f"The audit determines the prior. 95% CI: {low:.2g} to {high:.2g}."
    )
    assert "No labeled row was audited" in page.locator("#purity-range").inner_text()
    assert "The audit already measures" in page.locator("#bias-range").inner_text()
    assert page.locator("#sensitivity").is_hidden()
    assert "those of the audit" in page.locator("#sensitivity-section").inner_text()
    assert "propensities" not in page.locator("main").inner_text()


def test_other_models_do_not_move_an_audited_one(open_page, ev, tmp_path):
    rows = audited_rows()
    plain = evaluate(rows["y"], rows["score"], prior=0.04)
    write_report(tmp_path / "report.html", {"checked": ev, "plain": plain})
    page = open_page(tmp_path / "report.html")
    page.select_option("#model", "1")
    assert page.locator("#audit-section").is_hidden()
    cells = page.locator("#models tr[data-model='0'] td")
    before = cells.all_inner_texts()
    others = page.locator("#models tr[data-model='1'] td").all_inner_texts()
    for name, text in (("prior", "0.02"), ("purity", "0.98"), ("bias", "2")):
        type_number(page, name, text)
    assert cells.all_inner_texts() == before
    assert page.locator("#models tr[data-model='1'] td").all_inner_texts() != others
    page.select_option("#model", "0")
    assert page.locator("#audit-section").is_visible()
    check(page, ev)
    # The slowest picture is drawn last.
    expect(page.locator("#sensitivity")).to_be_hidden()


def test_widths_of_intervals(page, ev):
    rows = page.locator(".audit-widths tbody tr").all_inner_texts()
    assert len(rows) == len(ev.audit.widths().rows())
    auc = rows[1].split("\t")
    assert auc[0] == "ROC AUC"
    assert [float(cell) for cell in auc[1:]] == pytest.approx(
        [column[1] for column in (ev.audit.widths().with_audit, ev.audit.widths().without_audit,
                                  ev.audit.widths().audit_alone)], abs=6e-4
    )  # fmt: skip


def test_picture(page, ev):
    picture = page.locator("#audit svg")
    assert "Propensity by score" in picture.get_attribute("aria-label")
    ticks = picture.locator("g[aria-label=rule] line")
    # Audited rows, the axis and the threshold.
    assert ticks.count() == 200 + 2
    assert f"threshold {ev.threshold:.4g}" in picture.inner_html()
    type_number(page, "threshold", "0.5")
    expect(picture).to_contain_text("threshold 0.5")
    scores = page.locator("#scores svg g[aria-label='x-axis tick label'] text").all_text_contents()
    labels = picture.locator("g[aria-label='x-axis tick label'] text").all_text_contents()
    assert labels == scores != []


@pytest.mark.parametrize(
    ("change", "label"),
    [
        (lambda score: np.round(2 * score) / 2, "Score"),
        (lambda score: 1 / (1 + np.exp(6 - 3 * score)), "log-odds scale"),
        (lambda score: np.exp(4 * score), "Rank"),
    ],
)
def test_axes(open_page, tmp_path, change, label):
    rows = audited_rows()
    evaluate(**rows | {"score": change(rows["score"])}).to_html(tmp_path / "report.html")
    page = open_page(tmp_path / "report.html")
    picture = page.locator("#audit svg")
    assert label in picture.locator("g[aria-label='x-axis label']").text_content()
    assert "NaN" not in picture.inner_html()
    left, right = page.evaluate(
        """() => {
            const lines = document.querySelectorAll("#audit g[aria-label=rule] line");
            const places = [...lines].map((line) => line.getBoundingClientRect().x);
            return [Math.min(...places), Math.max(...places)];
        }"""
    )
    box = picture.bounding_box()
    assert box["x"] < left < right < box["x"] + box["width"]


def test_looks(open_page, report, artefacts):
    for width, scheme in ((1280, "light"), (1280, "dark"), (390, "light"), (320, "dark")):
        page = open_page(report, viewport={"width": width, "height": 800}, color_scheme=scheme)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        page.screenshot(path=artefacts / f"report-audit-{scheme}-{width}.png", full_page=True)
        if width > 1000:
            assert page.evaluate(CONTRAST) == []


def test_prints_on_two_pages(page, artefacts):
    page.pdf(path=artefacts / "report-audit.pdf")
    content = (artefacts / "report-audit.pdf").read_bytes()
    assert len(re.findall(rb"/Type\s*/Page\b(?!s)", content)) == 2


def test_without_script(open_page, report, ev):
    page = open_page(report, java_script_enabled=False)
    section = page.locator("#audit-section")
    for sentence in ev.audit.sentences():
        assert sentence in section.inner_text()
    assert f"{ev.prior:.3f}" in section.inner_text()
    assert page.locator("#audit").is_hidden()
