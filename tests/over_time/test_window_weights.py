"""Prevalences of windows with weights: against slow versions, and on any scale of the weights."""

import numpy as np
import pytest

from pueval import Counts, InputError, evaluate, evaluate_over_time

FIELDS = ("value", "low", "high", "naive", "standard_error")


def make_rows(seed=0, n=3000):
    """Rows of three months without rows in February; propensities vary, and scores are tied."""
    rng = np.random.default_rng(seed)
    month = rng.choice([0, 2], n)
    day = (np.datetime64("2025-01") + month).astype("datetime64[D]") + rng.integers(0, 28, n)
    positive = rng.random(n) < 0.3
    score = rng.normal(1.5 * positive).round(1)
    propensity = rng.uniform(0.3, 0.9, n)
    y = np.where(positive & (rng.random(n) < propensity), 1, 0)
    y[~positive & (rng.random(n) < 0.1)] = 2
    return y, score, day, propensity, rng.exponential(size=n)


@pytest.mark.filterwarnings("ignore::pueval.AssumptionWarning")
@pytest.mark.parametrize("scale", [1.0, 10.0, 1e-6])
@pytest.mark.parametrize(
    "options",
    [
        {"prior": 0.2},
        {"prior": 0.2, "purity": 0.9},
        {"prior": 0.2, "target": "unlabeled"},
        {"label_frequency": 0.5, "group_prior": "label_frequency"},
    ],
)
def test_prevalence_is_the_share_of_positive_weight(options, scale):
    """The weights of a window may sum to less than 1."""
    y, score, day, _, weight = make_rows()
    options = options | {"n_resamples": 2, "negative_label": 2}
    times = evaluate_over_time(y, score, day, sample_weight=weight * scale, **options)
    plain = evaluate_over_time(y, score, day, sample_weight=weight, **options)
    assert times.notes[1] == "no rows"
    assert np.isnan(times["prevalence"].value[1])
    prior, purity = times["prior"].value, options.get("purity", 1.0)
    for k in (0, 2):
        rows = day.astype("datetime64[M]") == np.datetime64(times.names[k])
        labeled, unlabeled = (weight[rows & (y == kind)].sum() for kind in (1, 0))
        expected = prior[k]
        if times.overall.target == "population":
            expected = (purity * labeled + prior[k] * unlabeled) / weight[rows].sum()
        assert times["prevalence"].value[k] == pytest.approx(expected)
    for name in ("prevalence", "prior", "f1"):
        for field in FIELDS:
            ours, theirs = getattr(times[name], field), getattr(plain[name], field)
            np.testing.assert_allclose(ours, theirs, rtol=1e-9, err_msg=f"{name} {field}")


def slow_error(y, propensity, weight):
    """Standard error of a weighted mean of 1/propensity for labeled rows and 0 for others."""
    number = np.where(y == 1, 1 / propensity, 0.0)
    mean = np.sum(weight * number) / np.sum(weight)
    return np.sqrt(np.sum(weight**2 * (number - mean) ** 2)) / np.sum(weight)


@pytest.mark.parametrize("window", [1, 3])
@pytest.mark.parametrize("weights", ["none", "equal", "unequal", "frequency"])
def test_error_with_propensities_is_that_of_a_weighted_mean(weights, window):
    y, score, day, propensity, weight = make_rows()
    whole = np.ceil(weight).astype(np.int64)
    sample_weight = {
        "none": None,
        "equal": np.full(y.size, 1 / y.size),
        "unequal": weight / 100,
        "frequency": whole,
    }[weights]
    options = {"n_resamples": 2, "negative_label": 2, "window": window}
    times = evaluate_over_time(
        y, score, day, propensity=propensity, sample_weight=sample_weight, **options
    )
    for k in np.flatnonzero(times.evaluated).tolist():
        rows = np.flatnonzero((day >= times.start[k]) & (day < times.end[k]))
        if weights == "frequency":
            rows = rows.repeat(whole[rows])
        each = weight[rows] if weights == "unequal" else np.ones(rows.size)
        expected = slow_error(y[rows], propensity[rows], each)
        assert times["prevalence"].standard_error[k] == pytest.approx(expected)
        unlabeled_share = each[y[rows] == 0].sum() / each.sum()
        assert times["prior"].standard_error[k] == pytest.approx(expected / unlabeled_share)


def test_error_of_a_window_with_many_periods():
    """Rows of many periods are merged, and keep their weights and propensities."""
    y, score, _, propensity, weight = make_rows()
    time = np.random.default_rng(1).integers(0, 50, y.size)
    times = evaluate_over_time(
        y,
        score,
        time,
        every=1,
        window=50,
        propensity=propensity,
        sample_weight=weight,
        negative_label=2,
        n_resamples=2,
    )
    expected = slow_error(y, propensity, weight)
    assert times["prevalence"].standard_error == pytest.approx(expected)


def test_changes_with_propensities_do_not_depend_on_the_scale_of_weights():
    y, score, day, propensity, weight = make_rows()
    options = {"propensity": propensity, "negative_label": 2, "watch": "prevalence"}
    plain, scaled = (
        evaluate_over_time(y, score, day, sample_weight=weight * scale, n_resamples=2, **options)
        for scale in (1.0, 1e-6)
    )
    for field in ("value", "low", "high"):
        ours, theirs = (getattr(times.sequence("prevalence"), field) for times in (scaled, plain))
        assert ours == pytest.approx(theirs)
    assert plain.sequence("prevalence").windows == ("2025-03",)


def test_counts_of_an_audit_are_refused():
    """Their errors depend on the audit, which sums of Counts leave out."""
    rng = np.random.default_rng(0)
    positive = rng.random(2000) < 0.3
    score, labeled = rng.normal(1.5 * positive), positive & (rng.random(2000) < 0.4)
    audited = np.where(rng.random(2000) < 0.1, positive, np.nan)
    counts = evaluate(labeled, score, audited=audited, level=None).counts
    with pytest.raises(InputError, match="Counts of an evaluation with an audit"):
        evaluate_over_time({"2025-01-01": counts})
    plain = Counts.from_arrays(labeled, score)
    assert evaluate_over_time({"2025-01-01": plain}, prior=0.2, level=None).evaluated.all()
