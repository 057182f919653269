"""The pictures of the page: scores, sensitivity, and paper."""

import re

import numpy as np
import pytest

from pueval import evaluate
from tests.conftest import draw

pytestmark = pytest.mark.filterwarnings("ignore::pueval.errors.AssumptionWarning")

# Share of the sensitivity picture that the data rule out, on a grid.
HATCHED = """() => {
  const model = state.current();
  const { priors, purities } = sensitivityPicture.ranges(model, state.settings(model).mixture);
  const at = ([low, high], k) => low + ((k + 0.5) / 50) * (high - low);
  let hatched = 0;
  for (let i = 0; i < 50; i++) {
    for (let j = 0; j < 50; j++) hatched += at(priors, i) > model.largestPrior(at(purities, j));
  }
  return hatched / 2500;
}"""


def sample(separation=1.5, n=3000, **options):
    rng = np.random.default_rng(3)
    draws = draw(rng, n, prevalence=0.3, label_frequency=0.4, separation=separation, **options)
    return rng, *draws


@pytest.mark.parametrize("separation", [0.5, 1.5, 3])
@pytest.mark.parametrize("assumptions", [{"prior": 0.1}, {"prior": 0.02, "purity": 0.95}])
def test_sensitivity(open_page, tmp_path, separation, assumptions):
    _, _, score, labeled = sample(separation)
    ev = evaluate(labeled, score, **assumptions)
    ev.to_html(tmp_path / "report.html")
    page = open_page(tmp_path / "report.html")
    assert page.evaluate(HATCHED) < 0.5
    texts = page.locator("#sensitivity svg text").all_text_contents()
    assert f"{ev['roc_auc'].value:.3f}" in texts
    bands = page.locator("#sensitivity .legend span", has=page.locator(".box")).all_inner_texts()
    named = [text for text in texts if text in [band.strip() for band in bands]]
    assert named


def test_scores_beyond_the_axis_are_named(open_page, tmp_path):
    rng, positive, _, labeled = sample()
    score = rng.standard_t(2, 3000) + 1.5 * positive
    evaluate(labeled, score, prior=0.1, threshold=1.0).to_html(tmp_path / "report.html")
    page = open_page(tmp_path / "report.html")
    texts = page.locator("#scores svg text").all_text_contents()
    assert "threshold 1" in texts
    assert any(text.startswith("scores below −") for text in texts)
    assert any(re.fullmatch(r"scores from [\d.]+ up", text) for text in texts)
    page.locator("#threshold-number").fill("1000")
    page.locator("#threshold-number").press("Enter")
    page.locator("#scores svg text", has_text=re.compile("^threshold 1000 →$")).wait_for()


def test_scores_have_tooltips(open_page, tmp_path):
    _, _, score, labeled = sample()
    evaluate(labeled, score, prior=0.1).to_html(tmp_path / "report.html")
    page = open_page(tmp_path / "report.html")
    picture = page.locator("#scores svg")
    picture.scroll_into_view_if_needed()
    box = picture.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 3)
    tip = page.locator("#scores [aria-label=tip]")
    text = tip.text_content()
    assert re.search(r"Scores from [−\d.]+ to [−\d.]+", text)
    for name in ("labeled", "unlabeled", "positives, corrected", "negatives, corrected"):
        assert re.search(rf"{name}: [−\d.]+%", text)


@pytest.mark.parametrize("assumptions", [{}, {"prior": 0.2}])
def test_one_model_prints_on_two_pages(open_page, tmp_path, artefacts, assumptions):
    _, _, score, labeled = sample()
    evaluate(labeled, score, **assumptions).to_html(tmp_path / "report.html")
    page = open_page(tmp_path / "report.html")
    path = artefacts / f"report-{'estimated' if not assumptions else 'known'}.pdf"
    page.pdf(path=path)
    pages = re.findall(rb"/Type\s*/Page\b(?!s)", path.read_bytes())
    assert len(pages) == 2
