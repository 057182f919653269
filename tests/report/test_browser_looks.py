"""The page in a real browser: names, access for everybody, and looks."""

import numpy as np
import pytest

from pueval import evaluate
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
    return evaluate(*rows)


@pytest.fixture(scope="module")
def report(ev, tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "report.html"
    ev.to_html(path, name="model_a")
    return path


@pytest.fixture
def page(open_page, report):
    return open_page(report)


NAMES = [
    "</script><script>document.title='broken'</script>",
    '"><img src=x onerror="document.title=1">',
    "שלום (עולם) 12",
    "模型 ✓ 🧬",
    "x" * 10_000,
]


def test_names_are_text(open_page, ev, tmp_path):
    write_report(tmp_path / "report.html", dict.fromkeys(NAMES, ev))
    page = open_page(tmp_path / "report.html")
    assert page.locator("#models tbody bdi").all_inner_texts() == NAMES
    assert page.title() == "5 models – pueval report"
    assert page.locator("img").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    for name in NAMES[:4]:
        assert name[:39] in page.locator("#roc .legend").inner_text()


def test_an_injected_script_does_not_run(browser, report):
    """Even where somebody finds a way to write into the page, the policy stops what is written."""
    page = browser.new_page()
    refused = []
    page.on("console", lambda message: refused.append(message.text))
    page.goto(report.as_uri())
    page.evaluate(
        """() => {
            const script = document.createElement("script");
            script.textContent = "document.title = 'broken'";
            document.body.append(script);
            const text = "<p onclick=\\"document.title='broken'\\">x</p>";
            document.body.insertAdjacentHTML("beforeend", text);
            document.body.lastChild.click();
        }"""
    )
    image = page.evaluate(
        "() => new Promise((done) => { const i = new Image(); i.onload = () => done(true);"
        " i.onerror = () => done(false); i.src = 'data:image/gif;base64,R0lGODlhAQABAAAAACw='; })"
    )
    assert page.title() == "model_a – pueval report"
    assert image is False
    assert len([text for text in refused if "Content Security Policy" in text]) == 3
    page.close()


def test_without_a_script_the_numbers_are_there(open_page, report, ev):
    page = open_page(report, java_script_enabled=False)
    row = page.locator("tr[data-measure=f1]")
    assert f"{ev['f1'].value:.3f}" in row.inner_text()
    assert page.locator("noscript").is_visible()
    assert page.locator("#controls").is_hidden()


def test_labels_and_roles(page):
    """What a screen reader says: every control has a name, every picture a text."""
    for name in ("Prior", "Purity", "Labeling bias Λ", "Threshold"):
        assert page.get_by_role("slider", name=name, exact=True).count() == 1
        assert page.get_by_role("textbox", name=f"{name}, as a number").count() == 1
    pictures = page.get_by_role("img").all()
    assert len(pictures) == 5
    for picture in pictures:
        assert len(picture.get_attribute("aria-label")) > 20
    assert page.get_by_role("status").count() == 2  # of the sliders, and of the copy buttons
    headers = page.eval_on_selector_all("th", "cells => cells.filter(th => !th.scope).length")
    assert headers == 0
    ids = page.eval_on_selector_all("[id]", "all => all.map(one => one.id)")
    assert len(ids) == len(set(ids))
    levels = page.eval_on_selector_all("h1, h2, h3", "all => all.map(h => Number(h.tagName[1]))")
    assert levels[0] == 1
    assert max(np.diff(levels)) <= 1


CONTRAST = """
() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgb = (color) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = color;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const light = ([r, g, b]) => {
    const [x, y, z] = [r, g, b].map((c) => {
      const s = c / 255;
      return s <= 0.04045 ? s / 12.92 : ((s + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const behind = (element) => {
    for (let e = element; e; e = e.parentElement) {
      const color = rgb(getComputedStyle(e).backgroundColor);
      if (color[3] === 255) return color;
    }
  };
  const poor = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || !element.checkVisibility()) continue;
    if (["SCRIPT", "NOSCRIPT", "STYLE", "OPTION"].includes(element.tagName)) continue;
    if (element.closest(":disabled")) continue;
    const style = getComputedStyle(element);
    const color = element.closest("svg") ? style.fill : style.color;
    const [a, b] = [light(rgb(color)), light(behind(element))].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < 4.5) poor.push([walker.currentNode.data.trim().slice(0, 30), ratio]);
  }
  return poor;
}
"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_contrast(open_page, rows, tmp_path, scheme):
    """All text has the contrast that WCAG's level AA asks for, also where something is wrong."""
    evaluate(*rows, prior=0.75).to_html(tmp_path / "report.html")
    page = open_page(tmp_path / "report.html", color_scheme=scheme)
    assert page.locator(".warnings li").count() > 0
    assert page.evaluate(CONTRAST) == []


@pytest.mark.parametrize(
    ("width", "scheme"),
    [
        (1280, "light"),
        (1280, "dark"),
        (820, "light"),
        (390, "light"),
        (390, "dark"),
        (320, "light"),
    ],
)
def test_sizes(open_page, report, artefacts, width, scheme):
    """Nothing is wider than the screen; pictures are kept to be looked at."""
    page = open_page(report, viewport={"width": width, "height": 800}, color_scheme=scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.screenshot(path=artefacts / f"report-{scheme}-{width}.png", full_page=True)
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(20, 23, 28)"
    assert dark == (scheme == "dark")


def test_pictures_follow_the_width(page):
    before = page.locator("#scores svg").bounding_box()["width"]
    page.set_viewport_size({"width": 700, "height": 800})
    for _ in range(3):  # the window, the size of the page, the pictures
        settle(page)
    assert page.locator("#scores svg").bounding_box()["width"] < before - 100


def test_print(page, artefacts):
    page.pdf(path=artefacts / "report.pdf", format="A4")
    assert (artefacts / "report.pdf").read_bytes().startswith(b"%PDF")
    page.emulate_media(media="print")
    assert page.locator("#reset").is_hidden()
    assert page.locator("#prior-number").is_visible()
