"""Two sources of labels, against exact distributions and simulated truth."""

import warnings
from itertools import product

import numpy as np
import pytest
import scipy.stats

from pueval import AssumptionWarning, InputError, evaluate
from pueval.labeling import from_two_sources
from pueval.labeling._two_sources_limits import hidden_limit, lower_tail
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


@pytest.mark.parametrize("odds_ratio", [0.3, 1.0, 5.0])
def test_tail_and_limit_agree_with_scipy(rng, odds_ratio):
    """Fisher's noncentral hypergeometric distribution, from both sides of a limit."""
    for _ in range(100):
        hidden, both, only_a, only_b = (int(k) for k in rng.integers(0, 30, 4))
        both += 1

        def tail(hidden, both=both, only_a=only_a, only_b=only_b):
            total = both + only_a + only_b + hidden
            common = scipy.stats.nchypergeom_fisher(total, both + only_a, both + only_b, odds_ratio)
            return common.cdf(both) - common.pmf(both) / 2

        table = (both, only_a, only_b, odds_ratio)
        assert lower_tail(hidden, *table) == pytest.approx(tail(hidden), abs=1e-9)
        for level in (0.025, 0.975):
            limit = hidden_limit(level, *table)
            assert tail(int(np.ceil(limit))) >= level - 1e-9
            assert limit == 0 or tail(int(np.ceil(limit)) - 1) < level


@pytest.mark.parametrize(
    ("positives", "p_a", "p_b", "most"),
    [
        (12, 0.6, 0.7, 0.99),
        (60, 0.4, 0.5, 0.975),
        (120, 0.3, 0.3, 0.975),
        (200, 0.05, 0.1, 0.995),
        (200, 0.2, 0.5, 0.975),
        (1000, 0.9, 0.9, 0.975),
        (10_000, 0.98, 0.95, 0.98),
        (10_000, 0.02, 0.05, 0.975),
        # One positive in four samples is hidden, so an interval without hidden ones is often right.
        (1000, 0.99, 0.98, 1.0),
    ],
)
def test_interval_has_its_level(rng, positives, p_a, p_b, most):
    """Exact given how many each source found: the number in common is hypergeometric."""
    coverage = []
    for _ in range(60):
        n_a, n_b = (max(int(rng.binomial(positives, p)), 1) for p in (p_a, p_b))
        both = np.arange(max(0, n_a + n_b - positives), min(n_a, n_b) + 1)
        probability = scipy.stats.hypergeom.pmf(both, positives, n_a, n_b)
        inside = 0.0
        for m, weight in zip(
            both[probability > 1e-4], probability[probability > 1e-4], strict=True
        ):
            low, high = counts_of(m, n_a - m, n_b - m).positives_interval
            inside += weight * (low <= positives <= high)
        coverage.append(inside)
    assert 0.93 < np.mean(coverage) < most + 1e-12


@pytest.mark.parametrize(
    ("both", "only_a", "only_b", "most"),
    [(200, 1, 1, 203), (200, 3, 3, 208), (200, 0, 20, 222), (200, 20, 0, 222), (200, 0, 0, 201)],
)
def test_sources_that_agree_leave_few_positives_hidden(both, only_a, only_b, most):
    result = counts_of(both, only_a, only_b, rows=2000)
    low, high = result.positives_interval
    assert low == result.n_labeled <= result.positives <= high <= most
    # With six times the odds, there are a few more.
    assert high < result.bounds(6).positives_interval[1] < most + 4


def test_a_stratum_without_labels_changes_nothing():
    a, b = np.arange(500) < 60, (np.arange(500) >= 40) & (np.arange(500) < 90)
    alone = from_two_sources(a, b)
    result = from_two_sources(a, b, strata=np.arange(500) < 400)
    assert result.positives_interval == alone.positives_interval
    assert result.bounds(3).positives_interval == alone.bounds(3).positives_interval


def test_strata_of_sources_that_agree_leave_few_positives_hidden():
    counts = (np.array([k, k]) for k in (1000, 100, 1, 1))
    low, high = TwoSources(("x", "y"), *counts, 0.95).positives_interval
    assert low == 204
    assert high < 215


def test_estimate_is_inside_its_interval_at_any_level():
    for table in product((0, 1, 30), (1, 5, 40), (1, 5, 40)):
        for level in (0.1, 0.5, 0.95):
            result = counts_of(*table, level=level)
            low, high = result.positives_interval
            assert low <= result.positives <= high


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


def test_a_stratum_that_a_single_source_labeled_is_refused():
    """Its label frequency would be 1, whatever is hidden."""
    rows = np.arange(500)
    a, b = rows < 100, (rows >= 40) & (rows < 140)
    alone = r"only one source labeled rows in 1 of 2 strata, such as 'True'\. .* Merge these strata"
    with pytest.raises(InputError, match=alone):
        from_two_sources(a, b, strata=rows < 20)
    with pytest.raises(InputError, match=r"labeled rows in 80 of 500 strata, such as '0'"):
        from_two_sources(a, b, strata=rows)


@pytest.mark.parametrize(("in_common", "is_small"), [(2, True), (6, False)])
def test_strata_with_few_labels_in_common_get_a_warning(in_common, is_small):
    """Intervals of sums over 60 strata are too low with 2 in common, and right with 6."""
    covered = []
    for seed in range(100):
        rng = np.random.default_rng(seed)
        positives = round(in_common * 60 / 0.12)
        a, b = np.zeros((2, 20 * positives), dtype=bool)
        a[:positives], b[:positives] = (rng.random(positives) < rate for rate in (0.4, 0.3))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                result = from_two_sources(a, b, strata=np.arange(a.size) % 60)
            except InputError:
                continue
        assert [issubclass(each.category, AssumptionWarning) for each in caught] == [
            True
        ] * is_small
        assert ("labels in common per stratum, fewer than 5" in repr(result)) == is_small
        low, high = result.positives_interval
        covered.append(low <= positives <= high)
    assert (np.mean(covered) < 0.9) == is_small


def test_sources_that_label_the_same_rows_get_a_warning():
    a = np.arange(500) < 60
    with pytest.warns(AssumptionWarning, match="Check that one is not a copy of the other"):
        result = from_two_sources(a, a)
    assert "! Both sources label the same rows" in repr(result)


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


def test_rows_that_contradict_independence_are_refused():
    """0 of 170 and 100 in common: 8.5 are expected even if all 2,000 rows are positive."""
    rows = np.arange(2000)
    a, b = rows < 170, (rows >= 170) & (rows < 270)
    message = r"too few labels in common to be independent: 0\. .* 170 and 100 labels among 2,000 "
    with pytest.raises(InputError, match=message + r"rows share at least 8\.5 on average"):
        from_two_sources(a, b)
    with pytest.raises(InputError, match="too few labels in common"):
        from_two_sources(a, b, strata=rows % 2)
    # Among 20,000 rows this is possible: 0 in common has probability 5% with 5,810 positives.
    more = np.zeros(18_000, dtype=bool)
    result = from_two_sources(np.append(a, more), np.append(b, more))
    low, high = result.positives_interval
    assert scipy.stats.hypergeom.pmf(0, round(low), 170, 100) == pytest.approx(0.05, rel=0.01)
    assert high == 20_000
    assert "raise the lower end of the label frequency" in repr(result)


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
