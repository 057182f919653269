"""Forecast half-widths: by budget, against what is then seen, and budgets for a half-width."""

import numpy as np
import pytest

from pueval import InputError, audit, evaluate
from pueval.audit._forecast import find_budget, fit_half_widths
from tests.audit.test_plan import THRESHOLD, check, make_plan, population


@pytest.mark.thorough
def test_half_widths_fall_with_the_budget():
    y, score, _ = population()
    plan = make_plan(y, score, measure=["f1", "prevalence"])
    curve = plan.curve([50, 200, 800], n_simulations=8)
    for name in ("f1", "prevalence"):
        widths = curve.half_width[name]
        assert np.all(np.diff(widths) < 0)
        # Like 1/√budget: by a factor of 2, less the part that labels and rows contribute. With 50
        # rows there is more: the spread that is added where an audit finds few positives.
        assert widths[1] / widths[2] == pytest.approx(2, rel=0.25)
        assert widths[0] / widths[1] > 1.6
        assert curve.at(200)[name] == pytest.approx(widths[1], rel=0.15)
        assert np.all(curve.narrowest[name] <= widths)
        assert np.all(widths <= curve.widest[name])
        low, high = curve.range_at(400)[name]
        assert curve.narrowest[name][2] < low < curve.at(400)[name] < high < curve.widest[name][1]
    assert curve.gain(100)["f1"] == pytest.approx(curve.at(100)["f1"] - curve.at(200)["f1"])
    ends = ("", "_narrowest", "_widest")
    columns = [f"{name}{end}" for name in ("f1", "prevalence") for end in ends]
    assert list(curve.frame().columns) == ["budget", *columns]
    assert "if labels are random and over other labelings" in str(curve)
    assert "Checking 100 rows more than 100 narrows F1 by" in str(curve)
    assert curve.half_width["f1"][0] == plan.forecast(50, n_simulations=8)["f1"]


def test_default_budgets_are_possible():
    y, score, _ = population(300)
    assert make_plan(y, score, budget=20).curve(n_simulations=1).budget.tolist() == [10, 20, 40, 80]
    everything = int(np.sum(~y))
    curve = make_plan(y, score, budget=everything).curve(n_simulations=1)
    assert curve.budget[-1] == everything


def test_forecasts_have_a_seed():
    y, score, _ = population()
    forecasts = [make_plan(y, score, seed=s).forecast(n_simulations=2)["f1"] for s in (1, 1, 2)]
    assert forecasts[0] == forecasts[1] != forecasts[2]


def test_range_over_labelings():
    y, score, positive = population()
    plan = make_plan(y, score, measure=["f1", "prevalence"], prevalence=None)
    forecast, ranges = plan.forecast(50, n_simulations=2), plan.forecast_range(50, n_simulations=2)
    for name in ("f1", "prevalence"):
        low, high = ranges[name]
        assert low <= forecast[name] <= high
        assert high > 1.1 * low
    truth = check(plan, positive)
    second = make_plan(
        y, score, prevalence=None, audited=truth, audit_probability=plan.probabilities
    )
    width = second.forecast(n_simulations=2)["f1"]
    assert second.forecast_range(n_simulations=2)["f1"] == (width, width)
    curve = second.curve([50, 100], n_simulations=2)
    assert list(curve.frame().columns) == ["budget", "f1"]
    assert curve.range_at(70)["f1"] == (curve.at(70)["f1"],) * 2
    assert "labelings" not in str(curve)
    with pytest.raises(InputError, match="budget must be at most"):
        plan.forecast_range(10**6)


def test_rows_checked_before_count():
    y, score, positive = population()
    first = make_plan(y, score, budget=400)
    truth = check(first, positive)
    second = make_plan(
        y,
        score,
        budget=50,
        prevalence=None,
        audited=truth,
        audit_probability=first.probabilities,
    )
    new = make_plan(y, score, budget=50)
    # 450 rows against 50.
    ratio = second.forecast(n_simulations=4)["f1"] / new.forecast(n_simulations=4)["f1"]
    assert 0.25 < ratio < 0.6


def test_target_and_level():
    y, score, _ = population()
    narrow, wide = (make_plan(y, score, level=level) for level in (0.5, 0.95))
    ratio = wide.forecast(n_simulations=3)["f1"] / narrow.forecast(n_simulations=3)["f1"]
    assert ratio == pytest.approx(1.96 / 0.674, rel=0.15)
    plan = make_plan(y, score, target="unlabeled", measure="prevalence", prevalence=0.07)
    population_plan = make_plan(y, score, measure="prevalence")
    ratio = (
        plan.forecast(n_simulations=3)["prevalence"]
        / (population_plan.forecast(n_simulations=3)["prevalence"])
    )
    assert ratio == pytest.approx(1 / np.mean(~y), rel=0.1)


def test_fit():
    n = np.array([50, 100, 400])
    assert fit_half_widths(n, np.sqrt(1e-4 + 0.5 / n)) == pytest.approx((1e-4, 0.5))


@pytest.mark.parametrize("goal", [0.2, 0.05, 0.02])
@pytest.mark.parametrize("earlier", [0, 100])
def test_search_for_a_budget(goal, earlier):
    """Half-widths that are known: the answer solves a + b/n = goal²."""

    def forecast(budget):
        return np.sqrt(1e-4 + 0.5 / (budget + earlier))

    budget = find_budget(forecast, goal, 200, 10, 50_000, earlier)
    assert budget == pytest.approx(max(0.5 / (goal**2 - 1e-4) - earlier, 10), rel=0.06)


def test_half_widths_that_no_budget_reaches():
    with pytest.raises(InputError, match=r"checking 5,000 rows gives a half-width of 0\.0141"):
        find_budget(lambda n: np.sqrt(1e-4 + 0.5 / n), 0.011, 200, 10, 5000, 0)


def test_budget_for_a_half_width():
    y, score, _ = population()
    plan = make_plan(y, score)
    budget = plan.budget_for(0.08, n_simulations=2)
    low, high = plan.forecast_range(budget, n_simulations=4)["f1"]
    assert high == pytest.approx(0.08, rel=0.15)  # for the labeling that makes it widest
    assert low < 0.9 * high
    for wrong in (0, -1, np.nan, "0.03"):
        with pytest.raises(InputError, match="half_width must be"):
            plan.budget_for(wrong)


def test_refusals():
    y, score, _ = population()
    plan = make_plan(y, score)
    with pytest.raises(InputError, match="budget must be at most"):
        plan.forecast(10**6)
    with pytest.raises(InputError, match="at least 10"):
        plan.curve([5])
    with pytest.raises(InputError, match="n_simulations"):
        plan.forecast(n_simulations=0)


@pytest.mark.thorough
def test_planned_audits_are_more_precise_and_forecasts_hold():
    """benchmarks/audit_plan.py has the figures; here with fewer replications."""
    errors, widths, forecasts = [], [], []
    for seed in range(40):
        y, score, positive = population(20_000, seed)
        found = score >= THRESHOLD
        true = 2 * np.sum(positive & found) / (positive.sum() + found.sum())
        line = []
        for floor in (1.0, 0.1):
            plan = audit.plan(y, score, prevalence=0.1, threshold=THRESHOLD, floor=floor, seed=seed)
            level = 0.95 if floor < 1 and seed < 12 else None
            ev = evaluate(
                y,
                score,
                threshold=THRESHOLD,
                audited=check(plan, positive, seed=seed),
                audit_probability=plan.probabilities,
                level=level,
                n_resamples=400,
            )
            line.append(ev["f1"].value - true)
            if level:
                widths.append((ev["f1"].high - ev["f1"].low) / 2)
                forecasts.append(plan.forecast(n_simulations=2)["f1"])
        errors.append(line)
    uniform, planned = np.sqrt(np.mean(np.square(errors), axis=0))
    assert planned < 0.75 * uniform
    assert np.mean(forecasts) == pytest.approx(np.mean(widths), rel=0.15)


@pytest.mark.parametrize("budgets", [[], 100])
def test_budgets_must_be_listed(budgets):
    rng = np.random.default_rng(0)
    positive = rng.random(2000) < 0.3
    made = audit.plan(
        positive & (rng.random(2000) < 0.4), rng.normal(size=2000) + 2 * positive, budget=50
    )
    with pytest.raises(InputError, match="budgets must be a list of numbers of rows"):
        made.curve(budgets)
    curve = made.curve((number for number in (20, 40)), n_simulations=1)
    assert curve.budget.tolist() == [20, 40]
