"""Equations of the papers: the page that lists them, and those that no other test checks."""

import ast
import importlib
import math
import re
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from pueval import Counts, Mixture, claesen_bounds, conversions, evaluate
from pueval.core.measures import MEASURES
from pueval.core.rates import (
    Rates,
    correct_area,
    correct_pair,
    correct_steps,
    replace_prevalence,
)
from pueval.ranking import lee_liu
from pueval.ranking._hypergeometric import LogFactorials
from pueval.sensitivity.rank_band import rank_band
from pueval.simulate import binormal, label_at_random

TESTS = Path(__file__).resolve().parents[1]
PAGE = TESTS.parent / "docs" / "papers" / "equations.md"
# Numbered equations of each paper, by a word of its heading.
NUMBERED = {"Jain, White": 5, "Ramola": 15, "Claesen": 21, "Hajizadeh": 4}


def read_rows():
    """Yield heading, equation, functions and tests of each row."""
    heading = ""
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            heading = line[3:]
        elif line.startswith("| ") and not line.startswith(("| equation |", "| section |")):
            number, _, functions, tests = (cell.strip() for cell in line.strip("| ").split(" | "))
            yield heading, number, *(re.findall(r"`([^`]+)`", cell) for cell in (functions, tests))


ROWS = list(read_rows())


def find(path):
    """Import pueval.<module>.<name>[.<attribute>]."""
    parts = ["pueval", *path.split(".")]
    for end in range(len(parts) - 1, 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:end]))
        except ModuleNotFoundError:
            continue
        for name in parts[end:]:
            found = getattr(found, name)
        return found
    raise AssertionError(path)


def has_test(path):
    file, *names = path.split("::")
    body = ast.parse((TESTS / file).read_text(encoding="utf-8")).body
    for name in names:
        [node] = [node for node in body if getattr(node, "name", None) == name]
        body = node.body
    return isinstance(node, ast.FunctionDef) and node.name.startswith("test_")


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row[0].split(',')[0]} {row[1]}")
def test_functions_and_tests_exist(row):
    _, _, functions, tests = row
    assert tests
    assert all(callable(find(path)) for path in functions)
    assert all(has_test(path) for path in tests)


@pytest.mark.parametrize(("paper", "last"), NUMBERED.items())
def test_no_number_is_missing(paper, last):
    listed = set()
    for heading, number, *_ in ROWS:
        if paper in heading:
            for part in number.split(", "):
                if match := re.fullmatch(r"(\d+)(?:–(\d+))?", part):
                    listed |= set(range(int(match[1]), int(match[2] or match[1]) + 1))
    assert listed == set(range(1, last + 1))


# ---------------------------------------------------------------------- Jain et al.


@pytest.mark.parametrize("mixture", [Mixture(0.2), Mixture(0.15, 0.8)])
def test_jain_theorem_1(mixture):
    """Equations 1 to 5, and both forms of the precision, as printed."""
    rng = np.random.default_rng(0)
    y = np.repeat([1, 0], [400, 1600])
    score = rng.normal(size=2000) + y
    alpha, beta, c = mixture.prior, mixture.purity, 400 / 2000
    ev = evaluate(y, score, prior=alpha, purity=beta, target="unlabeled", threshold=0.8, level=None)
    gamma_pu, eta_pu = ((score[y == k] >= 0.8).mean() for k in (1, 0))
    gamma = ((1 - alpha) * gamma_pu - (1 - beta) * eta_pu) / (beta - alpha)
    eta = (beta * eta_pu - alpha * gamma_pu) / (beta - alpha)
    # Measures take the false positive rate from the table, so the corrected one is checked here.
    assert correct_pair(gamma_pu, eta_pu, mixture, alpha) == pytest.approx((gamma, eta), abs=1e-12)
    rates = correct_steps(ev.counts, ev.counts.at(0.8), mixture, "unlabeled")
    assert (rates.tpr[0], rates.fpr[0]) == pytest.approx((gamma, eta), abs=1e-12)
    assert ev["recall"].value == pytest.approx(gamma, abs=1e-12)
    assert ev["false_positive_rate"].value == pytest.approx(eta, abs=1e-12)
    assert ev["precision"].value == pytest.approx(alpha * gamma / eta_pu, abs=1e-12)
    rho_pu = 400 * gamma_pu / (400 * gamma_pu + 1600 * eta_pu)
    odds = (1 - c) / c * rho_pu / (1 - rho_pu) - (1 - beta) / (1 - alpha)
    assert ev["precision"].value == pytest.approx(
        alpha * (1 - alpha) / (beta - alpha) * odds, abs=1e-12
    )
    pairs = score[y == 1][:, None] - score[y == 0]
    auc_pu = (pairs > 0).mean()
    assert ev["roc_auc"].value == pytest.approx(
        (auc_pu - (1 - (beta - alpha)) / 2) / (beta - alpha), abs=1e-12
    )


@pytest.mark.parametrize("contrast", [(0.2, 1.0), (0.1, 0.7)])
def test_jain_corrected_auc_is_larger(contrast):
    mixture = Mixture(*contrast)
    naive = np.linspace(0.3, 0.7, 41)
    corrected = correct_area(naive, mixture, mixture.prior)
    gap = mixture.purity - mixture.prior
    assert corrected - naive == pytest.approx((1 - gap) / gap * (naive - 0.5), abs=1e-12)
    assert ((corrected > naive) == (naive > 0.5)).all()


# ---------------------------------------------------------------------- Ramola et al.


def test_ramola_mixtures():
    """Rows drawn and labeled by pueval, and their shares at or above a threshold."""
    population = binormal(1.5, prevalence=0.3)
    rows = population.draw(400_000, seed=0)
    made = label_at_random(rows.positive, label_frequency=0.4, purity=0.8, seed=1)
    assert (made.purity, made.label_frequency) == pytest.approx((0.8, 0.4), abs=1e-4)
    rates = population.rates(0.5)
    above = rows.score[made.rows] >= 0.5
    for shares, share in (
        (above, made.prevalence),  # equation 1
        (above[made.label == 0], made.prior),  # equation 9
        (above[made.label == 1], made.purity),
    ):
        expected = share * rates.tpr[0] + (1 - share) * rates.fpr[0]
        assert shares.mean() == pytest.approx(expected, abs=5e-3)
    assert rates.predicted[0] == pytest.approx(above.mean(), abs=5e-3)
    # Equations 10 and 11: the population is a mixture of labeled and unlabeled rows.
    c = made.n_labeled / made.label.size
    parts = above[made.label == 1].mean(), above[made.label == 0].mean()
    assert c * parts[0] + (1 - c) * parts[1] == pytest.approx(above.mean(), abs=1e-12)
    counts = made.counts(rows.score)
    prevalence = made.mixture.prevalence(counts)
    assert prevalence == pytest.approx(c * made.purity + (1 - c) * made.prior, abs=1e-12)
    assert prevalence == pytest.approx(rows.positive.mean(), abs=1e-12)


@pytest.mark.parametrize("mixture", [Mixture(0.2), Mixture(0.1, 0.75)])
def test_ramola_measures(mixture):
    """Equations 3 to 8, and 12 to 15 with corrected rates."""
    rng = np.random.default_rng(1)
    y = np.repeat([1, 0], [300, 1700])
    score = rng.normal(size=2000) + y
    ev = evaluate(y, score, prior=mixture.prior, purity=mixture.purity, threshold=0.7, level=None)
    labeled, unlabeled = (np.array((score[y == k] >= 0.7).mean()) for k in (1, 0))
    tpr, fpr = correct_pair(labeled, unlabeled, mixture, mixture.prior)
    pi = 0.15 * mixture.purity + 0.85 * mixture.prior
    theta = pi * tpr + (1 - pi) * fpr
    assert theta == pytest.approx((score >= 0.7).mean(), abs=1e-12)
    rates = replace_prevalence(Rates(np.zeros(1), tpr, fpr, theta, 0.5, 1.0), pi)
    assert rates.predicted == pytest.approx(theta, abs=1e-12)
    mcc = np.sqrt(pi * (1 - pi) / theta / (1 - theta)) * (tpr - fpr)
    other = np.sqrt(pi / (1 - pi)) * (tpr - theta) / np.sqrt(theta * (1 - theta))
    assert mcc == pytest.approx(other, abs=1e-12)
    expected = {
        "accuracy": pi * tpr + (1 - pi) * (1 - fpr),
        "balanced_accuracy": (1 + tpr - fpr) / 2,
        "f1": 2 * pi * tpr / (pi + theta),
        "matthews_corrcoef": mcc,
        "precision": pi * tpr / theta,
    }
    for name, value in expected.items():
        assert ev[name].value == pytest.approx(value, abs=1e-12), name
        assert MEASURES[name](rates) == pytest.approx(value, abs=1e-12), name


def test_ramola_naive_values_are_too_low():
    """Theorem 2.1: corrected values are farther from a random classifier than naive ones."""
    for prior, purity, share in ((0.1, 1.0, 0.3), (0.3, 0.6, 0.05), (0.0, 0.9, 0.5)):
        given = {"prior": prior, "purity": purity}
        pi = share * purity + (1 - share) * prior
        factor = np.sqrt(pi * (1 - pi) / share / (1 - share)) / (purity - prior)
        for naive in (0.02, 0.1, 0.3):
            corrected = conversions.balanced_accuracy(0.5 + naive / 2, **given)
            assert corrected == pytest.approx(naive / (2 * (purity - prior)) + 0.5, abs=1e-12)
            assert corrected >= 0.5 + naive / 2
            for sign in (1, -1):
                mcc = conversions.matthews_corrcoef(
                    sign * naive / factor, labeled_share=share, **given
                )
                assert mcc == pytest.approx(sign * naive, abs=1e-12)
                assert sign * (mcc - sign * naive / factor) >= -1e-12


# ---------------------------------------------------------------------- Claesen et al.


def rank_rates(positive, r):
    """Equations 1 and 2: rates of the r first rows."""
    positive = np.asarray(positive)
    return positive[:r].mean() * r / positive.sum(), (~positive[:r]).sum() / (~positive).sum()


def test_claesen_rank_distribution():
    """Figure 1: ranking B E D G H A F C I with positives B, D, A and C."""
    ranking = np.array(list("BEDGHAFCI"))
    positive = np.isin(ranking, list("BDAC"))
    counts = Counts.from_arrays(positive, -np.arange(9))
    tables = claesen_bounds(counts, prior=0.0).low
    for r in range(1, 10):
        tpr, fpr = rank_rates(positive, r)
        assert (tables.tpr[r], tables.fpr[r]) == pytest.approx((tpr, fpr))
        assert tables.true_positive[r] == pytest.approx(4 * tpr)
        assert tables.false_positive[r] == pytest.approx(5 * fpr)
        assert tables.false_negative[r] == pytest.approx(4 - 4 * tpr)
        assert tables.true_negative[r] == pytest.approx(5 - 5 * fpr)
    assert tables.tpr[[1, 2, 3, 6, 8]] == pytest.approx([0.25, 0.25, 0.5, 0.75, 1])
    second = Counts.from_arrays(np.isin(ranking, list("EGF")), -np.arange(9))
    steps = claesen_bounds(second, prior=0.0).low.tpr[[1, 2, 4, 6, 7]]
    assert steps == pytest.approx([0, 1 / 3, 2 / 3, 2 / 3, 1])
    # Equation 7: with two unlabeled positives among five unlabeled rows, the prior is 2/5.
    assert claesen_bounds(counts, prior=2 / 5).low.n_positive == 4 + 2


def subsets(size, n=7):
    for chosen in combinations(range(n), size):
        positive = np.zeros(n, dtype=bool)
        positive[list(chosen)] = True
        yield positive


def test_claesen_lemma_1():
    for one, two in combinations(subsets(3), 2):
        for r in range(1, 7):
            (tpr_1, fpr_1), (tpr_2, fpr_2) = rank_rates(one, r), rank_rates(two, r)
            assert fpr_1 == pytest.approx((r - 3 * tpr_1) / 4)  # equation 16
            assert np.sign(round(tpr_1 - tpr_2, 9)) == -np.sign(round(fpr_1 - fpr_2, 9))


def test_claesen_lemma_2():
    """The rate of the union of disjoint sets, equation 17."""
    for one in subsets(2):
        for two in subsets(3):
            if (one & two).any():
                continue
            for r in range(1, 7):
                first, second = rank_rates(one, r)[0], rank_rates(two, r)[0]
                union = rank_rates(one | two, r)[0]
                assert union == pytest.approx((2 * first + 3 * second) / 5)
                assert min(first, second) - 1e-12 <= union <= max(first, second) + 1e-12


def test_claesen_corollary_1():
    """Two sets of equal size keep their order if the same third set is added to both."""
    for third in subsets(2):
        others = [one for one in subsets(2) if not (one & third).any()]
        for one, two in combinations(others, 2):
            for r in range(1, 7):
                gap = rank_rates(one, r)[0] - rank_rates(two, r)[0]
                with_third = rank_rates(one | third, r)[0] - rank_rates(two | third, r)[0]
                assert np.sign(round(gap, 9)) == np.sign(round(with_third, 9))


@pytest.mark.parametrize("hidden", [2, 3])
def test_claesen_theorem_1(hidden):
    """Theorem 1, lemma 3, equations 8, 9 and 14: all sets of unlabeled positives of a ranking."""
    y = np.array([1, 0, 1, 0, 0, 1, 0, 1, 0, 0, 2, 0])
    unlabeled = np.flatnonzero(y == 0)
    counts = Counts.from_arrays(y, -np.arange(y.size), negative_label=2)
    bounds = claesen_bounds(
        counts, prior=hidden / unlabeled.size, band="bootstrap", reference="positives"
    )
    above = np.r_[0, np.cumsum(y == 1)]
    low, high = rank_band(above, 4, hidden=hidden, level=0.95, method="bootstrap")
    assert ((low >= 0) & (low <= above / 4) & (above / 4 <= high) & (high <= 1)).all()
    sets = list(combinations(unlabeled, hidden))
    for r in range(1, y.size):
        shares = np.array([np.mean(np.array(chosen) < r) for chosen in sets])
        fpr = np.array([rank_rates((y == 1) | np.isin(np.arange(y.size), chosen), r)[1]
                        for chosen in sets])  # fmt: skip
        least, most = bounds.high.fpr[r], bounds.low.fpr[r]
        possible = (shares >= low[r] - 1e-9) & (shares <= high[r] + 1e-9)
        assert ((least - 1e-9 <= fpr) & (fpr <= most + 1e-9))[possible].all()
        # Equation 8: of all sets with at least the upper limit above the rank, the fewest there.
        enough, few = shares >= high[r] - 1e-9, shares <= low[r] + 1e-9
        assert least == pytest.approx(fpr[enough].max() if enough.any() else fpr.min())
        assert most == pytest.approx(fpr[few].min() if few.any() else fpr.max())


def test_claesen_lemma_4():
    """At equal recall, more positives mean fewer false positives if better than random."""
    n, r, recall = 100, 20, 0.6
    positives = np.arange(5, 31, 5)
    fpr = (r - recall * positives) / (n - positives)
    assert (np.diff(fpr) < 0).all()
    assert (fpr < recall).all()
    worse = (70 - recall * positives) / (n - positives)
    assert (worse > recall).all()
    assert (np.diff(worse) > 0).all()
    # Equation 18, by a difference quotient.
    slope = (r - recall * n) / (n - positives) ** 2
    step = 1e-6
    moved = (r - recall * (positives + step)) / (n - positives - step)
    assert (moved - fpr) / step == pytest.approx(slope, rel=1e-4)
    # The bounds of a ranking follow it (from prior 0, where the band has no width, they need not).
    rng = np.random.default_rng(2)
    y = np.repeat([1, 0], [100, 900])
    counts = Counts.from_arrays(y, rng.normal(size=1000) + y)
    areas = [claesen_bounds(counts, prior=prior).roc_auc for prior in (0.1, 0.2, 0.3)]
    assert all(np.diff([area.low for area in areas]) > 0)
    assert all(np.diff([area.high for area in areas]) > 0)


# ---------------------------------------------------------------------- Tabatabaei et al.


def test_tabatabaei_lee_liu_of_true_classes():
    """Section 3.2: with all positives labeled, LL = precision · recall / prevalence."""
    rng = np.random.default_rng(0)
    truth = rng.random(500) < 0.3
    predicted = truth ^ (rng.random(500) < 0.2)
    found = lee_liu(Counts.from_arrays(truth.astype(int), predicted.astype(int)), threshold=1)
    precision, recall = truth[predicted].mean(), predicted[truth].mean()
    assert found == pytest.approx(precision * recall / truth.mean(), abs=1e-12)


# ---------------------------------------------------------------------- Hajizadeh et al.


@pytest.mark.parametrize(("total", "labeled", "first"), [(9, 4, 5), (40, 25, 30), (300, 30, 120)])
def test_hajizadeh_exactly_k_hits(total, labeled, first):
    """Equations 1 and 4, with binomial coefficients as integers."""
    hits = range(first + 1)
    expected = [
        math.comb(labeled, k) * math.comb(total - labeled, first - k) / math.comb(total, first)
        for k in hits
    ]
    found = LogFactorials(total).pmf(np.array(hits), total, labeled, first)
    assert found == pytest.approx(expected, rel=1e-10, abs=0)
    assert found.sum() == pytest.approx(1, abs=1e-12)
