"""Pages of audited models: numbers are Python's, the audit is shown, and its shares stay fixed."""

import numpy as np
import pytest

from pueval import evaluate
from tests.audit_estimates.audits import label_rows, make_rows, uniform_audit
from tests.report.test_browser_page import check, drag, settle

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
    "smooth": lambda: audited_rows(),
    "any": lambda: audited_rows() | {"labeling": "any"},
    "purity": lambda: audited_rows(wrong=0.02),
    "unlabeled": lambda: audited_rows() | {"target": "unlabeled"},
    "unlabeled, purity": lambda: audited_rows(wrong=0.02) | {"target": "unlabeled"},
    "negatives": known_negatives,
    "unlabeled, negatives": lambda: known_negatives() | {"target": "unlabeled"},
    "ties": lambda: audited_rows() | {"score": np.round(audited_rows()["score"], 1)},
    "given threshold": lambda: audited_rows() | {"threshold": 1.5},
    "no intervals": lambda: audited_rows() | {"level": None},
}


@pytest.mark.parametrize("case", [*CASES])
def test_numbers_are_those_of_python(open_page, tmp_path, case):
    ev = evaluate(**CASES[case]())
    ev.to_html(tmp_path / "report.html")
    page = open_page(tmp_path / "report.html")
    check(page, ev)
    for share in (0.1, 0.6):
        threshold = float(ev.counts.score[int(share * ev.counts.score.size)])
        page.evaluate("(t) => { state.chosen.thresholds[0] = t; }", threshold)
        found = page.evaluate(
            "() => Object.entries(state.evaluate(state.current(), state.settings(state.current()))"
            ".measures).map(([name, { value }]) => [name, String(value)])"
        )
        python = ev.at(threshold)
        for name, value in found:
            if name in python:
                assert float(value.replace("Infinity", "inf")) == pytest.approx(
                    python[name].value, abs=1e-9, nan_ok=True
                ), name


@pytest.mark.parametrize("case", [*CASES])
def test_roc_curve_is_that_of_python(open_page, tmp_path, case):
    ev = evaluate(**CASES[case]())
    ev.to_html(tmp_path / "report.html")
    found = open_page(tmp_path / "report.html").evaluate(
        """() => {
            const { table, target, prior, purity } = state.current();
            const curve = correction.rocCurve(table, { prior, purity }, target);
            return curve.map(({ x, y }) => [x, y]);
        }"""
    )
    x, y = np.array(found).T
    grid = np.linspace(0.001, 0.999, 300)
    np.testing.assert_allclose(
        np.interp(grid, x, y), np.interp(grid, ev.roc().fpr, ev.roc().tpr), atol=1e-6
    )
