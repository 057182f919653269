"""The display of forecast half-widths."""

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import pytest

from pueval.audit import ForecastCurve, plan
from pueval.displays import AuditPlanDisplay


@pytest.fixture(autouse=True)
def no_figures_left():
    yield
    plt.close("all")


def test_from_plan():
    rng = np.random.default_rng(0)
    positive = rng.random(3000) < 0.2
    y, score = positive & (rng.random(3000) < 0.3), rng.normal(size=3000) + 2 * positive
    made = plan(y, score, budget=50, measure=["f1", "prevalence"], prevalence=0.2)
    _, ax = plt.subplots()
    display = AuditPlanDisplay.from_plan(made, budgets=[50, 100], n_simulations=1, ax=ax)
    assert display.ax_ is ax
    frame = display.frame()
    assert list(frame.columns)[:4] == ["budget", "f1", "f1_narrowest", "f1_widest"]
    curve = made.curve([50, 100], n_simulations=1)
    np.testing.assert_allclose(frame["f1"], curve.half_width["f1"])
    np.testing.assert_allclose(display.dots_[1].get_ydata(), curve.half_width["prevalence"])
    widest = display.bands_[0].get_paths()[0].vertices[:, 1].max()
    np.testing.assert_allclose(widest, frame["f1_widest"][0], rtol=1e-6)
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels == ["F1", "Prevalence", "range over labelings", "plan: 50 rows"]


def test_curve_through_the_forecasts():
    n = np.array([100, 200, 400])
    curve = ForecastCurve(n, {"f1": np.sqrt(1e-4 + 0.4 / (n + 50))}, 200, 0.9, n_earlier=50)
    display = AuditPlanDisplay(curve=curve).plot(curve_kwargs={"color": "black"})
    x, y = display.lines_[0].get_data()
    np.testing.assert_allclose(y, np.sqrt(1e-4 + 0.4 / (x + 50)), rtol=1e-6)
    assert display.ax_.get_ylabel() == "Half-width of 90% CI"
    assert display.budget_line_.get_xdata()[0] == 200
    assert display.bands_ == []
