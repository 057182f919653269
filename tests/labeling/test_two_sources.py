"""Two sources of labels, against exact distributions and simulated truth."""

from itertools import product

import numpy as np
import pytest
import scipy.stats

from pueval import InputError, evaluate
from pueval.labeling import from_two_sources
from pueval.labeling._two_sources_result import TwoSources


def counts_of(both, only_a, only_b, *, rows=10**6, level=0.95):
    """One stratum with these numbers."""
    return TwoSources(
        ("all",), np.array([rows]), np.array([both]), np.array([only_a]), np.array([only_b]), level
    )


@pytest.mark.parametrize(("positives", "n_a", "n_b"), [(30, 12, 20), (60, 40, 25), (12, 6, 6)])
def test_chapman_is_unbiased_over_all_outcomes(positives, n_a, n_b):
    """Exact: the number in common is hypergeometric, and n_a + n_b ≥ positives."""
    expected = 0.0
    for both in range(max(0, n_a + n_b - positives), min(n_a, n_b) + 1):
        probability = scipy.stats.hypergeom.pmf(both, positives, n_a, n_b)
        expected += probability * counts_of(both, n_a - both, n_b - both).positives
    assert expected == pytest.approx(positives, rel=1e-10)


@pytest.mark.parametrize(
    ("positives", "p_a", "p_b"), [(60, 0.4, 0.5), (120, 0.3, 0.3), (200, 0.2, 0.5)]
)
def test_interval_has_its_level_over_all_outcomes(positives, p_a, p_b):
    """Exact: every outcome of the three numbers, with its multinomial probability."""
    coverage = total = 0.0
    for n_a in range(positives + 1):
        weight = scipy.stats.binom.pmf(n_a, positives, p_a)
        if weight < 1e-5:
            continue
        both = np.arange(n_a + 1)
        of_both = scipy.stats.binom.pmf(both, n_a, p_b)
        only_b = np.arange(positives - n_a + 1)
        of_only_b = scipy.stats.binom.pmf(only_b, positives - n_a, p_b)
        for m, b in product(both[of_both > 1e-4], only_b[of_only_b > 1e-4]):
            probability = weight * of_both[m] * of_only_b[b]
            low, high = counts_of(m, n_a - m, b).positives_interval
            coverage += probability * (low <= positives <= high)
            total += probability
    assert total > 0.98
    assert 0.93 < coverage / total < 0.975


def test_strata_are_summed_and_correct_dependence_between_them():
    """Severe cases are found by both, so pooled sources look dependent."""
    inside = {"strata": 0, "pooled": 0}
    values = []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        severe = rng.random(3000) < 0.5
        rate = np.where(severe, 0.7, 0.15)
        ill = np.arange(3000) < 1500
        a, b = (ill & (rng.random(3000) < rate) for _ in range(2))
        result = from_two_sources(a, b, strata=np.where(severe, "severe", "mild"))
        pooled = from_two_sources(a, b)
        values.append(result.positives)
        for name, sources in (("strata", result), ("pooled", pooled)):
            low, high = sources.positives_interval
            inside[name] += low <= 1500 <= high
    assert np.mean(values) == pytest.approx(1500, rel=0.02)
    assert 0.91 <= inside["strata"] / 200 <= 0.985
    assert inside["pooled"] == 0
    parts = [from_two_sources(a[rows], b[rows]).positives for rows in (severe, ~severe)]
    assert result.positives == pytest.approx(sum(parts))
    assert "severe" in repr(result)


def test_odds_ratio_bounds_hold_dependent_sources():
    rng = np.random.default_rng(5)
    ill = np.arange(20_000) < 4000
    severity = rng.normal(size=20_000)
    rate = 1 / (1 + np.exp(0.5 - severity))
    a, b = (ill & (rng.random(20_000) < rate) for _ in range(2))
    result = from_two_sources(a, b)
    assert result.positives_interval[1] < 4000
    table = [np.sum(ill & (a == i) & (b == j)) for i, j in product((1, 0), repeat=2)]
    odds_ratio = table[0] * table[3] / (table[1] * table[2])
    bounds = result.bounds(odds_ratio)
    # With the true odds ratio, the upper bound is the true number, up to Chapman's one.
    assert bounds.positives[1] == pytest.approx(4000, rel=0.01)
    assert bounds.positives[0] == pytest.approx(result.positives)
    low, high = bounds.label_frequency_interval
    assert low < np.sum(a | b) / 4000 < high
    assert result.bounds((0.5, 3)).odds_ratio == (0.5, 3.0)
    assert result.bounds(0.5).odds_ratio == (0.5, 1.0)
    assert result.bounds(1).positives_interval == result.positives_interval
    for wrong in (0, -1, (2, 1), "2"):
        with pytest.raises(InputError, match="odds_ratio must be"):
            result.bounds(wrong)


def test_label_frequency_goes_to_evaluate(rng):
    ill = rng.random(20_000) < 0.2
    score = rng.normal(size=20_000) + 1.5 * ill
    a, b = ill & (rng.random(20_000) < 0.3), ill & (rng.random(20_000) < 0.4)
    result = from_two_sources(a, b)
    ev = evaluate(a | b, score, label_frequency=result.label_frequency_interval)
    assert ev.prevalence == pytest.approx(0.2, rel=0.05)
    assert ev["precision"].low < ev["precision"].value < ev["precision"].high


def test_few_rows_limit_the_number_of_positives():
    result = counts_of(1, 10, 10, rows=60)
    assert result.positives_interval[1] == 60
    assert result.label_frequency_interval[0] == 21 / 60
    text = repr(result)
    assert "! The upper end of the number of positives is the number of rows." in text
    assert "! Fewer than 7 labels in common: the number of positives is underestimated" in text


def test_wrong_sources_are_refused():
    a = np.arange(10) < 5
    with pytest.raises(InputError, match="source b has no labeled rows"):
        from_two_sources(a, np.zeros(10))
    with pytest.raises(InputError, match="a and b must have the same length; got 10 and 9"):
        from_two_sources(a, a[1:])
    with pytest.raises(InputError, match=r"source b: .*2"):
        from_two_sources(a, np.full(10, 2))
    with pytest.raises(InputError, match="stratum"):
        from_two_sources(a, a, strata=[None, *"aabbbbbbb"])
    with pytest.raises(TypeError, match="has no argument 'stratum'. Use 'strata'"):
        from_two_sources(a, a, stratum=a)
