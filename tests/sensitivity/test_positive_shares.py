"""Where positives can be under a labeling bias: against linear programs on small tables."""

import math

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.stats import binomtest

from pueval import Counts, Mixture
from pueval.sensitivity.labeling_bias import BiasedLabeling
from pueval.sensitivity.positive_shares import PositiveShares


class Table:
    """A table of scores with enough labeled rows that each score is a cell."""

    def __init__(self, rng, target):
        n = int(rng.integers(3, 7))
        self.target = target
        self.labeled = rng.integers(20, 50, n)
        self.unlabeled = rng.integers(0, 400, n) * (rng.random(n) > 0.15)
        self.unlabeled[-1] += 50
        self.negative = rng.integers(0, 40, n) * (rng.random() < 0.3)
        self.score = np.arange(n, 0, -1)
        self.counts = Counts.from_table(self.score, self.labeled, self.unlabeled, self.negative)
        self.prior = float(rng.uniform(0.02, 0.5))
        self.threshold = int(rng.integers(2, n + 1))
        self.own = self.labeled if target == "population" else np.zeros(n)
        self.positives = self.prior * self.unlabeled.sum() + self.own.sum()
        rows = self.unlabeled + self.negative + self.own
        self.placement = 1 - (np.cumsum(rows) - rows / 2) / rows.sum()
        self.reference_prior = self.positives / rows.sum()
        self.rows = rows

    def exceeds_a_score_by_chance(self):
        """Whether random labeling puts too many positives at a score, but chance explains it."""
        need = self.positives * self.labeled / self.labeled.sum()
        most = [
            own + count * high / (1 - high)
            for own, count, high in zip(
                self.own,
                self.labeled,
                (
                    binomtest(int(u), int(u + n)).proportion_ci(method="wilson").high
                    for u, n in zip(self.unlabeled, self.labeled, strict=True)
                ),
                strict=True,
            )
        ]
        return np.any((need > self.own + self.unlabeled) & (need <= most))

    def smallest(self, slope, bias):
        """Positives at each score with the smallest Σ slope·positives, by a linear program.

        The variables are the positives and the smallest number of positives per labeled row.
        """
        n = self.score.size
        unequal = np.vstack([
            np.c_[-np.eye(n), self.labeled],
            np.c_[np.eye(n), -bias * self.labeled],
        ])  # fmt: skip
        limits = [*zip(self.own, self.own + self.unlabeled, strict=True), (0, None)]
        found = linprog(
            np.r_[slope, 0], unequal, np.zeros(2 * n), [[1] * n + [0]], [self.positives], limits
        )
        return None if found.status else found.x[:-1]


def tables(target, seed, number):
    rng = np.random.default_rng(seed)
    while number:
        table = Table(rng, target)
        if not table.exceeds_a_score_by_chance():
            number -= 1
            yield table, float(rng.choice([1.3, 2, 4]))


@pytest.mark.parametrize("target", ["population", "unlabeled"])
def test_recall_and_auc_against_linear_programs(target):
    possible = 0
    for table, bias in tables(target, 3, 30):
        labeling = BiasedLabeling(
            table.counts, Mixture(table.prior), target, float(table.threshold)
        )
        above = (table.score >= table.threshold).astype(float)
        if table.smallest(above, bias) is None:
            assert labeling._shares.possible_ratios(bias) is None
            assert labeling.smallest_bias() > bias
            low, high = labeling.bounds("roc_auc", bias)
            assert low.value == high.value == np.clip(labeling.estimate("roc_auc"), 0, 1)
            continue
        possible += 1
        prior = table.reference_prior
        for name, slope, value in (
            ("recall", above, lambda mean: mean),
            ("roc_auc", table.placement, lambda mean, p=prior: (mean - p / 2) / (1 - p)),
        ):
            expected = [
                value(table.smallest(sign * slope, bias) @ slope / table.positives)
                for sign in (1, -1)
            ]
            found = [end.value for end in labeling.bounds(name, bias)]
            assert found == pytest.approx(np.clip(expected, 0, 1), abs=1e-9), name
    assert possible > 10


def test_measures_against_linear_programs():
    """Every measure at a threshold is extreme where recall is."""
    for table, bias in tables("population", 5, 10):
        above = table.score >= table.threshold
        if table.smallest(above, bias) is None:
            continue
        labeling = BiasedLabeling(
            table.counts, Mixture(table.prior), "population", float(table.threshold)
        )
        n, predicted = table.counts.n, table.rows[above].sum()
        tables_of_rows = []
        for sign in (1, -1):
            hits = table.smallest(sign * above, bias)[above].sum()
            tables_of_rows.append((hits, predicted - hits, table.positives - hits))
        formulas = {
            "precision": lambda tp, fp, fn: tp / (tp + fp),
            "f1": lambda tp, fp, fn: 2 * tp / (2 * tp + fp + fn),
            "accuracy": lambda tp, fp, fn: 1 - (fp + fn) / n,
            "false_positive_rate": lambda tp, fp, fn: fp / (n - table.positives),
        }
        for name, formula in formulas.items():
            expected = sorted(formula(*row) for row in tables_of_rows)
            found = [end.value for end in labeling.bounds(name, bias)]
            assert found == pytest.approx(expected, abs=1e-9), name


def area(positives, rows):
    """Average precision of a table."""
    return np.sum(positives * np.cumsum(positives) / np.cumsum(rows)) / positives.sum()


def slopes(positives, rows):
    """Derivatives of the average precision."""
    precision = np.cumsum(positives) / np.cumsum(rows)
    below = np.cumsum((positives / np.cumsum(rows))[::-1])[::-1]
    return (precision + below) / positives.sum()


def falls(positives, rows):
    """Whether precision falls as the threshold is lowered."""
    return np.all(np.diff(np.cumsum(positives) / np.cumsum(rows)) <= 1e-12)


def test_average_precision_against_linear_programs():
    """By linear programs along its slopes, which find the extremes of a convex function."""
    rng, compared = np.random.default_rng(0), 0
    for table, bias in tables("population", 7, 16):
        if table.smallest(np.zeros(table.score.size), bias) is None:
            continue
        compared += 1
        labeling = BiasedLabeling(table.counts, Mixture(table.prior), "population", 1.0)
        low, high = (end.value for end in labeling.bounds("average_precision", bias))
        best = 0.0
        for _ in range(4):
            here = table.smallest(rng.normal(size=table.score.size), bias)
            for _ in range(20):
                there = table.smallest(-slopes(here, table.rows), bias)
                if area(there, table.rows) <= area(here, table.rows) + 1e-12:
                    break
                here = there
            best = max(best, area(here, table.rows))
        least = here
        for _ in range(40):
            step = table.smallest(slopes(least, table.rows), bias) - least
            share = np.linspace(0, 1, 101)
            values = [area(least + part * step, table.rows) for part in share]
            least = least + share[np.argmin(values)] * step
        # In these random tables precision may rise, and then the bounds are not quite sharp.
        slack = 0 if falls(here, table.rows) and falls(least, table.rows) else 5e-3
        assert best - high + slack >= -1e-9
        assert best - high <= slack + 1e-9
        assert -1e-3 < low - area(least, table.rows) <= slack + 1e-4
    assert compared > 4


@pytest.mark.parametrize("target", ["population", "unlabeled"])
def test_noisy_labels_against_linear_programs(target):
    """Densities of positives, labeled positives and negatives, for many λ."""
    rng = np.random.default_rng(1)
    for _ in range(2):
        n, purity, prior, bias = 4, 0.9, 0.2, 2.0
        labeled = np.sort(rng.integers(100, 300, n))[::-1]
        unlabeled = np.sort(rng.integers(300, 900, n))
        counts = Counts.from_table(np.arange(n, 0, -1), labeled, unlabeled)
        mixture = Mixture(prior, purity)
        labeling = BiasedLabeling(counts, mixture, target, 3.0)
        rows = labeled + unlabeled if target == "population" else unlabeled
        share = mixture.prevalence(counts, target)
        g, r = labeled / labeled.sum(), rows / rows.sum()
        least = mixture.label_frequency(counts) if target == "population" else 0.0
        identity, zero = np.eye(n), np.zeros((n, n))
        equal = np.block([
            [share * identity, zero, (1 - share) * identity],
            [zero, purity * identity, (1 - purity) * identity],
        ])  # fmt: skip
        equal = np.vstack([equal, np.r_[np.ones(n), np.zeros(2 * n)]])
        placement = 1 - (np.cumsum(r) - r / 2)
        for name, slope in (("recall", np.array([1.0, 1, 0, 0])), ("roc_auc", placement)):
            found = []
            for ratio in np.linspace(max(least, 1 / bias), 1, 51):
                unequal = np.block([
                    [-identity, ratio * identity, zero],
                    [identity, -bias * ratio * identity, zero],
                ])  # fmt: skip
                for sign in (1, -1):
                    program = linprog(
                        np.r_[sign * slope, np.zeros(2 * n)],
                        unequal, np.zeros(2 * n), equal, np.r_[r, g, 1.0],
                    )  # fmt: skip
                    if not program.status:
                        found.append(sign * program.fun)
            ends = np.array([min(found), max(found)])
            if name == "roc_auc":
                ends = (ends - share / 2) / (1 - share)
            low, high = (end.value for end in labeling.bounds(name, bias))
            assert low <= ends[0] + 1e-7
            assert high >= ends[1] - 1e-7
            assert (low, high) == pytest.approx(ends, abs=5e-3)


def test_cells_have_enough_labeled_rows(rng):
    positive = rng.random(3000) < 0.3
    counts = Counts.from_arrays(positive, rng.normal(size=3000) + positive)
    for threshold in (None, 0.7, 99.0, -99.0):
        shares = PositiveShares.of(counts, Mixture(0.1), "population", threshold)
        rows = shares.cell_net * counts.n_labeled
        assert rows.sum() == pytest.approx(counts.n_labeled)
        assert rows.min() >= math.sqrt(counts.n_labeled) - 1e-9
    few = Counts.from_arrays(np.arange(60) < 8, rng.normal(size=60))
    assert PositiveShares.of(few, Mixture(0.1), "population").cell_start.size == 1


def test_many_scores_are_merged(rng):
    positive = rng.random(40_000) < 0.3
    score = rng.normal(size=40_000) + positive
    counts = Counts.from_arrays(positive, score)
    assert PositiveShares.of(counts, Mixture(0.1), "population").lower.size <= 2048
    rounded = Counts.from_arrays(positive, np.round(score, 3))
    for name in ("roc_auc", "average_precision", "f1"):
        fine, coarse = (
            [
                end.value
                for end in BiasedLabeling(c, Mixture(0.1), "population", 0.5).bounds(name, 2)
            ]
            for c in (counts, rounded)
        )
        assert fine == pytest.approx(coarse, abs=2e-3), name
