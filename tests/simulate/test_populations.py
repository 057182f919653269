"""Exact truth against quadrature, closed forms, rational arithmetic and very large samples."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import integrate, stats
from sklearn.metrics import (
    average_precision_score,
    f1_score,
    matthews_corrcoef,
    precision_score,
    roc_auc_score,
)

from pueval import InputError
from pueval.core.curves import RocCurve
from pueval.core.measures import MEASURES
from pueval.simulate import Beta, Normal, Population, Remainder, beta_scores, binormal, ranked

MODELS = {
    "binormal": binormal(2, prevalence=0.3),
    "binormal, wide positives": binormal(1, prevalence=0.05, spread=2.5),
    "binormal, worse than chance": binormal(-0.5, prevalence=0.5),
    "beta": beta_scores((3, 1.5), (1.5, 3), prevalence=0.3),
    "beta, U-shaped": beta_scores((0.5, 0.3), (0.2, 4), prevalence=0.1),
    "ranked": ranked(4, prevalence=0.2),
    "ranked, few on top": ranked(3, prevalence=0.1, lead=2),
}
# The same distributions, from another library.
TWINS = {
    "binormal": (stats.norm(2), stats.norm()),
    "binormal, wide positives": (stats.norm(1, 2.5), stats.norm()),
    "binormal, worse than chance": (stats.norm(-0.5), stats.norm()),
    "beta": (stats.beta(3, 1.5), stats.beta(1.5, 3)),
    "beta, U-shaped": (stats.beta(0.5, 0.3), stats.beta(0.2, 4)),
}


@pytest.fixture(params=MODELS)
def name(request):
    return request.param


@pytest.mark.parametrize("name", TWINS)
def test_densities_are_those_of_scipy(name):
    population, twins = MODELS[name], TWINS[name]
    share = np.array([1e-6, 0.01, 0.3, 0.5, 0.9, 0.999])
    for ours, theirs in zip((population.positive, population.negative), twins, strict=True):
        place = theirs.isf(share)
        np.testing.assert_allclose(ours.inverse_survival(share), place, rtol=1e-9, atol=1e-12)
        here = (place > theirs.ppf(0)) & (place < theirs.ppf(1))
        np.testing.assert_allclose(ours.survival(place[here]), theirs.sf(place[here]), rtol=1e-8)
        np.testing.assert_allclose(ours.pdf(place[here]), theirs.pdf(place[here]), rtol=1e-8)
    assert Beta(2, 2).pdf(np.array([-0.1, 1.1])).tolist() == [0, 0]


@pytest.mark.parametrize("name", TWINS)
def test_areas_against_quadrature_over_scores(name):
    """Integrate over scores with SciPy's QUADPACK, where ours integrates over recall."""
    population, (one, zero) = MODELS[name], TWINS[name]
    pi = population.prevalence
    low = max(min(one.ppf(0), zero.ppf(0)), -20)
    high = min(max(one.ppf(1), zero.ppf(1)), 20)
    middle = sorted([one.median(), zero.median()])

    def integral(f):
        ends = [low, *middle, high]
        return sum(
            integrate.quad(f, a, b, limit=400, epsabs=1e-11)[0] for a, b in itertools.pairwise(ends)
        )

    auc = integral(lambda s: one.pdf(s) * zero.cdf(s))
    assert population.roc_auc == pytest.approx(auc, abs=2e-7)

    def precision(s):
        return pi * one.sf(s) / (pi * one.sf(s) + (1 - pi) * zero.sf(s))

    ap = integral(lambda s: one.pdf(s) * precision(s))
    assert population.average_precision == pytest.approx(ap, abs=2e-7)
    assert population.area("average_precision") == population.average_precision


def test_binormal_auc_has_a_closed_form():
    assert binormal(1, prevalence=0.5, spread=2).roc_auc == pytest.approx(
        stats.norm.cdf(1 / math.sqrt(5)), abs=1e-14
    )


@pytest.mark.parametrize("shapes", [((2, 1), (1, 2)), ((3, 2), (1, 4)), ((5, 1), (2, 2))])
def test_beta_auc_against_rational_arithmetic(shapes):
    """With whole-number shapes the densities are polynomials; integrate them exactly."""
    (a, b), (c, d) = shapes

    def density(a, b):
        scale = Fraction(math.factorial(a + b - 1), math.factorial(a - 1) * math.factorial(b - 1))
        return [0] * (a - 1) + [scale * (-1) ** k * math.comb(b - 1, k) for k in range(b)]

    positive, negative = density(a, b), density(c, d)
    below = [Fraction(0)] + [Fraction(v) / (k + 1) for k, v in enumerate(negative)]
    auc = sum(
        Fraction(p) * q / (i + j + 1) for i, p in enumerate(positive) for j, q in enumerate(below)
    )
    assert beta_scores(*shapes, prevalence=0.3).roc_auc == pytest.approx(float(auc), abs=1e-11)


def test_ranked_areas_by_hand():
    """Positives with density 2s and prevalence ½: the negatives have density 2(1 − s)."""
    population = ranked(2, prevalence=0.5)
    twin = beta_scores((2, 1), (1, 2), prevalence=0.5)
    assert population.roc_auc == pytest.approx(5 / 6, abs=1e-12)
    assert population.average_precision == pytest.approx(twin.average_precision, abs=1e-9)
    at = np.linspace(0, 1, 7)
    np.testing.assert_allclose(
        population.negative.survival(at), twin.negative.survival(at), atol=1e-12
    )
    np.testing.assert_allclose(population.negative.pdf(at), twin.negative.pdf(at), atol=1e-12)
    # The general integral agrees with the closed form for ranks.
    general = Population(Beta(2, 1), Beta(1, 2), 0.5)
    assert general.roc_auc == pytest.approx(population.roc_auc, abs=1e-10)
    wanted = np.array([0.0, 0.2, 0.5, 1.0])
    np.testing.assert_allclose(
        population.negative.survival(population.negative.inverse_survival(wanted)),
        wanted,
        atol=1e-9,
    )


def test_a_chance_ranking():
    population = ranked(1, prevalence=0.3)
    assert population.roc_auc == pytest.approx(0.5)
    assert population.average_precision == pytest.approx(0.3, abs=1e-9)


def test_big_samples(name):
    population = MODELS[name]
    n = 150_000
    rows = population.draw(n, seed=7)
    positives = rows.positive.sum()
    assert abs(positives / n - population.prevalence) < 4 * math.sqrt(0.25 / n)
    width = 4 / math.sqrt(min(positives, n - positives))
    assert roc_auc_score(rows.positive, rows.score) == pytest.approx(
        population.roc_auc, abs=0.3 * width
    )
    assert average_precision_score(rows.positive, rows.score) == pytest.approx(
        population.average_precision, abs=width
    )
    threshold = float(population.positive.inverse_survival(np.array([0.6]))[0])
    predicted = rows.score >= threshold
    for measure, theirs in (
        ("f1", f1_score),
        ("precision", precision_score),
        ("matthews_corrcoef", matthews_corrcoef),
    ):
        assert theirs(rows.positive, predicted) == pytest.approx(
            population.measure(measure, threshold=threshold), abs=width
        )


def test_scores_are_drawn_from_the_densities(name):
    population = MODELS[name]
    rows = population.draw(20_000, seed=3)
    for density, score in (
        (population.positive, rows.score[rows.positive]),
        (population.negative, rows.score[~rows.positive]),
    ):
        assert stats.kstest(score, lambda s, d=density: 1 - d.survival(s)).pvalue > 1e-4


def test_curves(name):
    population = MODELS[name]
    roc, pr = population.roc(), population.pr()
    assert roc.area == pytest.approx(population.roc_auc, abs=1e-3)
    assert pr.area == pytest.approx(population.average_precision, abs=3e-3)
    assert np.all(np.diff(roc.fpr) >= 0)
    assert np.all(np.diff(roc.tpr) >= 0)
    inner = slice(30, -30, 50)
    np.testing.assert_allclose(population.tpr_at(roc.fpr[inner]), roc.tpr[inner], atol=1e-6)


def test_average_precision_of_a_roc_curve(name):
    population = MODELS[name]
    curve = population.roc(20_001)
    for prevalence in (population.prevalence, 0.01, 0.9):
        truth = population.with_prevalence(prevalence).average_precision
        assert curve.average_precision(prevalence) == pytest.approx(truth, abs=2e-4)


def test_average_precision_of_a_roc_curve_by_hand():
    """Up to (0, ½), across to (½, ½), then a straight line to (1, 1); prevalence ½."""
    curve = RocCurve(*np.array([[0, 0, 0.5, 1], [0, 0.5, 0.5, 1], [3, 2, 1, 0]]))
    assert curve.average_precision(0.5) == pytest.approx(0.5 + 0.25, abs=1e-12)
    with pytest.raises(InputError, match="prevalence must be a number in"):
        curve.average_precision(1.0)


def test_every_measure_follows_from_the_rates():
    population = binormal(2, prevalence=0.3)
    tpr, fpr = stats.norm.sf(-1.0), stats.norm.sf(1.0)
    table = {
        "recall": tpr,
        "specificity": 1 - fpr,
        "accuracy": 0.3 * tpr + 0.7 * (1 - fpr),
        "informedness": tpr - fpr,
        "precision": 0.3 * tpr / (0.3 * tpr + 0.7 * fpr),
    }
    for measure, value in table.items():
        assert population.measure(measure, threshold=1.0) == pytest.approx(value, abs=1e-13)
    for measure in MEASURES:
        assert math.isfinite(population.measure(measure, threshold=1.0))


def test_best_against_a_fine_grid(name):
    population = MODELS[name]
    at = np.concatenate([population._thresholds(20_001), [np.inf, -np.inf]])
    for measure in ("f1", "accuracy", "matthews_corrcoef", "balanced_accuracy"):
        values = MEASURES[measure](population.rates(at))
        threshold, value = population.best(measure)
        assert value == pytest.approx(np.nanmax(values), abs=1e-6)
        assert population.measure(measure, threshold=threshold) == value
    lowest = population.best("false_positive_rate")[1]
    assert lowest == 0.0


def test_the_case_study_of_ramola():
    """Figure 1 of Ramola et al. (2019): thresholds and values are printed there."""
    population = Population(Normal(1), Normal(-1), 0.3)
    for measure, threshold, value in (
        ("accuracy", 0.42, 0.86),
        ("balanced_accuracy", 0.0, 0.84),
        ("f1", 0.19, 0.77),
        ("matthews_corrcoef", 0.29, 0.66),
    ):
        found = population.best(measure)
        assert found == (pytest.approx(threshold, abs=0.0051), pytest.approx(value, abs=0.0051))


def test_prevalence():
    population = binormal(2, prevalence=0.3)
    other = population.with_prevalence(0.1)
    assert other.roc_auc == population.roc_auc
    assert other.average_precision < population.average_precision


def test_seeds():
    population = MODELS["ranked"]
    first, again, other = (population.draw(100, seed=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first.score, again.score)
    assert not np.array_equal(first.score, other.score)
    assert population.draw(1000, seed=0, exact=True).positive.sum() == 200


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: binormal(2, prevalence=1.0), r"prevalence must be a number in \(0, 1\); got 1.0"),
        (lambda: binormal(math.nan, prevalence=0.3), "mean must be a finite number; got nan"),
        (lambda: binormal(2, prevalence=0.3, spread=0), "spread must be a positive number; got 0"),
        (lambda: beta_scores((1, 0), (1, 1), prevalence=0.3), "shape parameter of positive"),
        (lambda: beta_scores(3, (1, 1), prevalence=0.3), "positive must be a pair"),
        (lambda: ranked(0.5, prevalence=0.2), "concentration must be at least 1; got 0.5"),
        (lambda: ranked(4, prevalence=0.3), r"The prevalence must be at most 0\.25"),
        (lambda: Remainder(Beta(1, 0.5), 0.1), "a prevalence of 0.1 is too high"),
        (
            lambda: binormal(2, prevalence=0.3).draw(0, seed=0),
            "n must be a whole number of at least 1",
        ),
        (lambda: binormal(2, prevalence=0.3).tpr_at(1.5), r"must be in \[0, 1\]"),
        (lambda: binormal(2, prevalence=0.3).area("f1"), "area must be 'roc_auc' or"),
        (lambda: binormal(2, prevalence=0.3).measure("f", threshold=1), "unknown measure 'f'"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(InputError, match=message):
        call()
