"""The page in a real browser: sliders, keys, numbers, names, sizes."""

import numpy as np
import pytest
from playwright.sync_api import expect

from pueval import evaluate
from pueval.core.measures import MEASURES
from pueval.report import write_report
from tests.conftest import draw
from tests.report.redrawing import settle

pytestmark = pytest.mark.filterwarnings("ignore::pueval.errors.AssumptionWarning")


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(3)
    _, score, labeled = draw(rng, 3000, prevalence=0.3, label_frequency=0.4)
    return labeled, score


@pytest.fixture(scope="module")
def ev(rows):
    return evaluate(*rows, prior=0.2)


@pytest.fixture(scope="module")
def report(ev, tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "report.html"
    ev.to_html(path, name="model_a")
    return path


@pytest.fixture
def page(open_page, report):
    return open_page(report)


def drag(page, name, share):
    """Put a slider at a share of its way, as a finger would; return what it then says."""
    page.evaluate(
        """([name, share]) => {
            const slider = document.getElementById(name);
            slider.value = Math.round(share * slider.max);
            slider.dispatchEvent(new Event("input", { bubbles: true }));
        }""",
        [name, share],
    )
    settle(page)
    return page.evaluate("state.settings(state.current())")


def shown(page):
    """Every measure at the sliders, with all digits, and the table."""
    values = page.eval_on_selector_all(
        ".model-measures:not([hidden]) tr[data-measure] td[data-value]",
        "all => all.map(cell => [cell.parentElement.dataset.measure, cell.dataset.value])",
    )
    cells = page.eval_on_selector_all(
        "#corrected-table td[data-cell]", "all => all.map(c => [c.dataset.cell, c.dataset.value])"
    )
    return {k: float(v) for k, v in values}, {k: float(v) for k, v in cells}


def check(page, python):
    """Whether the page shows Python's numbers, in the table of measures and in large."""
    values, cells = shown(page)
    assert set(values) == {"roc_auc", "average_precision", *MEASURES}
    for name, value in values.items():
        assert value == pytest.approx(python[name].value, abs=1e-9, nan_ok=True), name
    table = python.table
    assert cells["truePositive"] == pytest.approx(table.true_positive, abs=1e-6)
    assert cells["falsePositive"] == pytest.approx(table.false_positive, abs=1e-6)
    assert cells["falseNegative"] == pytest.approx(table.false_negative, abs=1e-6)
    assert cells["trueNegative"] == pytest.approx(table.true_negative, abs=1e-6)
    for name in ("roc_auc", "f1"):
        large = page.locator(f"#headline [data-measure={name}] .value")
        assert large.inner_text() == f"{python[name].value:.3f}"
    whole = page.locator("#corrected-table [data-cell=truePositive]").evaluate(
        "c => c.firstChild.data"
    )
    assert whole == f"{table.true_positive:,.0f}"


def again(ev, found):
    mixture = found["mixture"]
    return evaluate(
        ev.counts,
        prior=mixture["prior"],
        purity=mixture["purity"],
        threshold=found["threshold"],
        target=ev.target,
        level=None,
    )


def test_as_evaluated(page, ev):
    check(page, ev)
    assert page.title() == "model_a – pueval report"
    lead = page.locator("#lead").inner_text()
    # The correction moves the average precision most.
    moved = ev["average_precision"]
    assert f"average precision is {moved.value:.2f} ({moved.low:.2f}–{moved.high:.2f})." in lead
    assert page.locator("#reset").is_disabled()


def test_every_slider_gives_the_numbers_of_python(page, ev):
    for name, share in (("prior", 0.13), ("threshold", 0.8), ("prior", 0.4), ("purity", 0.97),
                        ("threshold", 0.31)):  # fmt: skip
        before, curve = shown(page), page.locator("#pr .plot").inner_html()
        found = drag(page, name, share)
        check(page, again(ev, found))
        assert shown(page) != before
        assert page.locator("#pr .plot").inner_html() != curve
    page.locator("#reset").click()
    settle(page)
    check(page, ev)
    expect(page.locator("#prior")).to_be_focused()


def test_labeling_bias(page, ev):
    found = drag(page, "bias", 0.4)
    for name, bounds in ev.labeling_bias(found["bias"]).items():
        low, high = bounds.low, bounds.high
        cell = page.locator(f".model-measures tr[data-measure={name}] td.live").last
        text = cell.locator("small").inner_text()
        if high < 10:
            assert text.replace("−", "-") == f"{low:.3f}–{high:.3f}", name
    assert "bounds under labeling bias" in page.locator("#roc .legend").inner_text()
    found = drag(page, "purity", 0.95)
    bounds = again(ev, found).labeling_bias(found["bias"])["recall"]
    cell = page.locator(".model-measures tr[data-measure=recall] td.live").last
    assert cell.locator("small").inner_text() == f"{bounds.low:.3f}–{bounds.high:.3f}"


def test_keyboard_only(page, ev):
    """Tab to each slider, and move it with arrow keys; then reset with the space bar."""
    visited = []
    for _ in range(20):
        page.keyboard.press("Tab")
        focused = page.evaluate("document.activeElement.id")
        visited.append(focused)
        if focused in ("prior", "threshold"):
            for key in ("ArrowRight", "ArrowRight", "PageUp"):
                page.keyboard.press(key)
            settle(page)
            found = page.evaluate("state.settings(state.current())")
            check(page, again(ev, found))
            assert page.evaluate(f"document.getElementById('{focused}').ariaValueText") != ""
        if focused == "reset":
            break
    assert [name for name in visited if name in ("prior", "purity", "bias", "threshold")] == [
        "prior", "purity", "bias", "threshold",
    ]  # fmt: skip
    page.keyboard.press("Space")
    settle(page)
    check(page, ev)


def test_typed_numbers(page, ev):
    box = page.locator("#prior-number")
    box.fill("0.234567891")
    box.press("Enter")
    settle(page)
    check(page, evaluate(ev.counts, prior=0.234567891, threshold=ev.threshold, level=None))
    box.fill("12,5 %")
    box.press("Tab")
    settle(page)
    check(page, evaluate(ev.counts, prior=0.125, threshold=ev.threshold, level=None))
    box.fill("nonsense")
    box.press("Enter")
    settle(page)
    assert box.input_value() == "0.125"
    page.locator("#threshold-number").fill("0.777")
    page.locator("#threshold-number").press("Enter")
    settle(page)
    check(page, evaluate(ev.counts, prior=0.125, threshold=0.777, level=None))


def test_leaving_a_box_changes_nothing(page, ev):
    page.locator("#threshold-number").focus()
    page.locator("#threshold-number").press("Enter")
    page.locator("#prior-number").focus()
    settle(page)
    check(page, ev)
    assert page.locator("#reset").is_disabled()


def test_feasible_range_is_on_the_slider(page, ev):
    from pueval import largest_prior

    most = largest_prior(ev.counts).prior
    rail = page.locator("#prior-control .rail")
    part = rail.locator(".feasible").bounding_box()["width"] / rail.bounding_box()["width"]
    top = page.evaluate("sliders.priorRange(state.current())")
    assert part == pytest.approx(most / top, abs=0.01)
    assert f"0 to {most:.3g}" in page.locator("#prior-range").inner_text()
    assert page.locator("#status").inner_text() == ""
    drag(page, "prior", (most + 0.03) / top)
    assert "rule out" in page.locator("#status").inner_text()


def test_curves_are_those_of_python(page, ev):
    found = page.evaluate(
        """() => {
            const { table, target, prior, purity } = state.current();
            const curve = correction.rocCurve(table, { prior, purity }, target);
            return curve.map(({ x, y }) => [x, y]);
        }"""
    )
    np.testing.assert_allclose(np.array(found), np.c_[ev.roc().fpr, ev.roc().tpr], atol=1e-9)


def test_thinned(open_page, tmp_path, rng):
    _, score, labeled = draw(rng, 100_000, prevalence=0.2, label_frequency=0.3)
    ev = evaluate(labeled, score, prior=0.1)
    ev.to_html(tmp_path / "report.html")
    page = open_page(tmp_path / "report.html")
    found = drag(page, "threshold", 0.7)
    values, _ = shown(page)
    python = again(ev, found)
    for name in ("roc_auc", *MEASURES):
        assert values[name] == pytest.approx(python[name].value, abs=1e-9), name
    assert values["average_precision"] == pytest.approx(python["average_precision"].value, abs=1e-3)
    # A threshold between the scores that were kept is moved to one of them.
    page.locator("#threshold-number").fill("0.5")
    page.locator("#threshold-number").press("Enter")
    settle(page)
    kept = page.evaluate("state.settings(state.current()).threshold")
    assert kept in page.evaluate("state.current().table.score")
    assert kept == pytest.approx(0.5, abs=0.01)


@pytest.mark.parametrize(
    "arguments",
    [
        {"prior": 0.1, "purity": 0.95, "target": "unlabeled"},
        {"prior": (0.1, 0.2)},
        {"propensity": np.full(3000, 0.5)},
        {"prior": 0.2, "threshold": float("inf"), "level": None},
    ],
)
def test_other_evaluations(open_page, rows, tmp_path, arguments):
    ev = evaluate(*rows, **arguments)
    ev.to_html(tmp_path / "report.html")
    page = open_page(tmp_path / "report.html")
    check(page, ev)
    found = drag(page, "prior", 0.3)
    given = {key: arguments[key] for key in ("target", "propensity") if key in arguments}
    python = evaluate(*rows, **given, **found["mixture"], threshold=ev.threshold, level=None)
    check(page, python)


def test_known_rows_only(open_page, tmp_path, rng):
    positive, score, _ = draw(rng, 500, prevalence=0.4, label_frequency=1)
    ev = evaluate(np.where(positive, 1, -1), score, negative_label=-1)
    ev.to_html(tmp_path / "report.html")
    page = open_page(tmp_path / "report.html")
    check(page, ev)
    assert page.locator("#prior").is_disabled()
    assert page.locator("#sensitivity-section").is_hidden()


def test_a_chosen_threshold_moves_the_slider(open_page, tmp_path, rng):
    _, score, labeled = draw(rng, 60_000, prevalence=0.2, label_frequency=0.3)
    first = evaluate(labeled, score, prior=0.1)
    second = evaluate(labeled, score + rng.normal(size=60_000), prior=0.1)
    choice, other = first.threshold_for(recall=0.4), second.threshold_for(cost=(1, 3))  # fmt: skip
    write_report(
        tmp_path / "report.html",
        {"first": first, "second": second},
        choices={"first": [choice], "second": [other]},
    )
    page = open_page(tmp_path / "report.html")
    # These pages hold few of the scores, but those of the choices.
    for k, (ev, one) in enumerate([(first, choice), (second, other)]):
        page.locator("#chosen tbody button").nth(k).click()
        settle(page)
        values, _ = shown(page)
        python = evaluate(ev.counts, prior=0.1, threshold=one.threshold, level=None)
        for name in ("precision", "recall", "f1"):
            assert values[name] == pytest.approx(python[name].value, abs=1e-9), name
            assert values[name] == pytest.approx(one[name].value, abs=1e-9), name
    expect(page.locator("#threshold")).to_be_focused()


# ------------------------------------------------------------------ several models


@pytest.fixture
def several(open_page, rows, ev, tmp_path):
    rng = np.random.default_rng(5)
    worse = evaluate(rows[0], rows[1] + rng.normal(size=3000), prior=0.2)
    write_report(tmp_path / "report.html", {"worse": worse, "best": ev, "middle": evaluate(
        rows[0], rows[1] + 0.5 * rng.normal(size=3000), prior=0.2)})  # fmt: skip
    return open_page(tmp_path / "report.html"), {"worse": worse, "best": ev}


def names(page):
    return page.locator("#models tbody bdi").all_inner_texts()


def test_models_are_sorted_and_chosen(several):
    page, evaluations = several
    check(page, evaluations["best"])
    assert names(page) == ["worse", "best", "middle"]
    column = page.locator("#models th[data-key=roc_auc]")
    column.locator("button").click()
    assert names(page) == ["best", "middle", "worse"]
    assert column.get_attribute("aria-sort") == "descending"
    column.locator("button").press("Enter")
    assert names(page) == ["worse", "middle", "best"]
    page.locator("#models th[data-key=name] button").click()
    assert names(page) == ["best", "middle", "worse"]
    assert column.get_attribute("aria-sort") is None
    page.locator("#models tbody button", has_text="worse").click()
    settle(page)
    check(page, evaluations["worse"])
    assert page.locator("#model").input_value() == "0"
    page.locator("#model").select_option(label="best")
    settle(page)
    check(page, evaluations["best"])


def test_sliders_move_all_models(several):
    page, evaluations = several
    found = drag(page, "prior", 0.2)
    for name, ev in evaluations.items():
        row = page.locator("#models tbody tr", has=page.get_by_text(name, exact=True))
        python = evaluate(ev.counts, **found["mixture"], threshold=ev.threshold, level=None)
        for key in ("roc_auc", "average_precision", "f1"):
            text = row.locator(f"td[data-key={key}] .value").inner_text()
            assert text == f"{python[key].value:.3f}"
