"""Claesen's bounds of measures at a threshold: against enumeration, and against the truth."""

import math
from fractions import Fraction
from math import comb

import numpy as np
import pytest
from sklearn import metrics as sklearn_metrics

from pueval import Counts, InputError, claesen_bounds, evaluate
from pueval.core.measures import AREAS, MEASURES, Table
from pueval.sensitivity import hidden_positives
from pueval.sensitivity.rank_band import hypergeometric_bounds, rank_band


def draw(rng, *, positives, negatives, labeled, known_negatives=0, separation=1.2):
    """Return truth, scores and labels: 1 labeled, 0 unlabeled, 2 known negative."""
    truth = np.arange(positives + negatives) < positives
    score = rng.normal(size=truth.size) + separation * truth
    y = np.zeros(truth.size, dtype=int)
    y[rng.choice(positives, labeled, replace=False)] = 1
    y[positives + rng.choice(negatives, known_negatives, replace=False)] = 2
    return truth, score, y


# ------------------------------------------------------------------ exact bounds


def at_most(x, n, k, drawn):
    """P(X ≤ x) for the number of marked rows in a sample, with exact fractions."""
    ways = sum(comb(k, i) * comb(n - k, drawn - i) for i in range(x + 1) if i <= drawn)
    return Fraction(ways, comb(n, drawn))


def accepted(x, labeled, hidden, tail):
    """All numbers of hidden rows above the threshold that neither tail rejects."""
    n = labeled + hidden
    return [
        m
        for m in range(hidden + 1)
        if at_most(x, n, x + m, labeled) >= tail
        and 1 - (at_most(x - 1, n, x + m, labeled) if x else 0) >= tail
    ]


@pytest.mark.parametrize("labeled", [1, 4, 9])
@pytest.mark.parametrize("hidden", [0, 1, 7, 30])
def test_hypergeometric_bounds_by_enumeration(labeled, hidden):
    for level in (0.8, 0.95):
        for x in range(labeled + 1):
            numbers = accepted(x, labeled, hidden, Fraction(1 - level) / 2)
            least, most = hypergeometric_bounds(x, labeled, hidden=np.array([hidden]), level=level)
            assert (least[0], most[0]) == (numbers[0], numbers[-1]), (x, level)


def test_many_hidden_rows_give_clopper_pearson():
    low, high = rank_band(np.array([13]), 40, hidden=1, level=0.95, method="clopper-pearson")
    least, most = hypergeometric_bounds(13, 40, hidden=np.array([10**7]), level=0.95)
    assert least[0] / 1e7 == pytest.approx(low[0], abs=1e-5)
    assert most[0] / 1e7 == pytest.approx(high[0], abs=1e-5)


# ------------------------------------------------------------------ all consistent tables


def slow_range(name, y, predicted, *, hidden_numbers, target, reference, level=0.95):
    """Extremes over every number of hidden positives and every number of them predicted."""
    kinds = {kind: y == kind for kind in (0, 1, 2)}
    above = {kind: int((rows & predicted).sum()) for kind, rows in kinds.items()}
    total = {kind: int(rows.sum()) for kind, rows in kinds.items()}
    tail, values = Fraction(1 - level) / 2, []
    for hidden in hidden_numbers:
        if reference == "positives":
            hits = set(accepted(above[1], total[1], hidden, tail))
        else:
            negatives = accepted(above[2], total[2], total[0] - hidden, tail)
            hits = {above[0] - m for m in negatives}
        possible = [
            m for m in range(hidden + 1) if m <= above[0] and hidden - m <= total[0] - above[0]
        ]
        hits = [m for m in possible if m in hits] or [
            min(possible, key=lambda m: distance(m, hits))
        ]
        for m in hits:
            tp, fp, fn, tn = m, above[0] - m, hidden - m, total[0] - above[0] - (hidden - m)
            if target == "population":
                tp, fp = tp + above[1], fp + above[2]
                fn, tn = fn + total[1] - above[1], tn + total[2] - above[2]
            values.append(value_of(name, tp, fp, fn, tn))
    values = [value for value in values if not math.isnan(value)]
    return (min(values), max(values)) if values else (math.nan, math.nan)


def distance(m, hits):
    return min(abs(m - hit) for hit in hits)


def value_of(name, tp, fp, fn, tn):
    if name == "positive_likelihood_ratio" and fp == 0 and min(tp, fn + tn) > 0 and tn > 0:
        return math.inf
    if name == "negative_likelihood_ratio" and tn == 0 and min(fn, tp + fp) > 0 and fp > 0:
        return math.inf
    n = tp + fp + fn + tn
    table = Table(np.array([tp / n]), np.array([(tp + fp) / n]), np.array([(tp + fn) / n]))
    return float(MEASURES[name].formula(table)[0])


@pytest.mark.parametrize("reference", ["positives", "negatives"])
@pytest.mark.parametrize("target", ["population", "unlabeled"])
@pytest.mark.parametrize("prior", [0.25, (0.1, 0.6)])
@pytest.mark.parametrize("threshold", [-9.0, 0.0, 0.9, 2.4, 9.0])
def test_against_all_consistent_tables(reference, target, prior, threshold):
    rng = np.random.default_rng(4)
    _, score, y = draw(rng, positives=22, negatives=40, labeled=10, known_negatives=15)
    counts = Counts.from_arrays(y, score, negative_label=2)
    bounds = claesen_bounds(
        counts, prior=prior, reference=reference, target=target, threshold=threshold
    )
    ends = prior if isinstance(prior, tuple) else (prior, prior)
    fewest, most = (round(end * counts.n_unlabeled) for end in ends)
    for name in MEASURES:
        low, high = slow_range(
            name,
            y,
            score >= threshold,
            hidden_numbers=range(fewest, most + 1),
            target=target,
            reference=reference,
        )
        assert tuple(bounds[name]) == pytest.approx((low, high), abs=1e-12, nan_ok=True), name


def test_interpolation_between_numbers_of_positives(monkeypatch):
    """Of many possible numbers of positives, only some are tested."""
    rng = np.random.default_rng(5)
    _, score, y = draw(rng, positives=3000, negatives=9000, labeled=300)
    bounds = claesen_bounds(Counts.from_arrays(y, score), prior=(0.1, 0.4))
    for threshold in (0.0, 0.8, 2.0):
        monkeypatch.setattr(hidden_positives, "TESTED", 33)
        interpolated = dict(bounds.at(threshold))
        monkeypatch.setattr(hidden_positives, "TESTED", hidden_positives.INTERPOLATED)
        for name, exact in bounds.at(threshold).items():
            # By about one of the 3,000 positives.
            near = pytest.approx(tuple(exact), rel=5e-3, abs=1e-3)
            assert tuple(interpolated[name]) == near, (threshold, name)


# ------------------------------------------------------------------ coverage


SCORES = {
    "f1": sklearn_metrics.f1_score,
    "matthews_corrcoef": sklearn_metrics.matthews_corrcoef,
}


@pytest.mark.parametrize(
    ("rows", "reference", "target"),
    [
        ({"labeled": 20}, "positives", "population"),
        ({"labeled": 60}, "positives", "population"),
        ({"labeled": 20}, "positives", "unlabeled"),
        ({"labeled": 20, "known_negatives": 80}, "negatives", "population"),
    ],
)
def test_bounds_hold_the_truth_of_these_rows(rows, reference, target):
    """With half of the positives labeled, too, where binomial bands hold in 88 % only."""
    rng = np.random.default_rng(6)
    held, repeats = dict.fromkeys(SCORES, 0), 200
    for _ in range(repeats):
        truth, score, y = draw(rng, positives=120, negatives=200, **rows)
        score = score.round(1)  # few scores are fast
        counts = Counts.from_arrays(y, score, negative_label=2)
        prior = truth[y == 0].mean()
        bounds = claesen_bounds(
            counts, prior=prior, reference=reference, target=target, threshold=0.6
        )
        evaluated = y == 0 if target == "unlabeled" else y >= 0
        for name, true_value in SCORES.items():
            value = true_value(truth[evaluated], score[evaluated] >= 0.6)
            held[name] += bounds[name].low - 1e-9 <= value <= bounds[name].high + 1e-9
    # All are monotone in the same count, so that they hold together: 95 % less 3 standard errors.
    assert len(set(held.values())) == 1
    assert held["f1"] >= 0.905 * repeats


def test_simultaneous_bounds_hold_at_the_worst_threshold():
    rng = np.random.default_rng(7)
    held, repeats = 0, 60
    for _ in range(repeats):
        truth, score, y = draw(rng, positives=200, negatives=400, labeled=60)
        bounds = claesen_bounds(
            Counts.from_arrays(y, score), prior=truth[y == 0].mean(), band="dkw"
        )
        recalls = (
            (bounds.at(cut)["recall"], (truth & (score >= cut)).sum() / 200)
            for cut in np.quantile(score, np.linspace(0.02, 0.98, 25))
        )
        held += all(low - 1e-9 <= value <= high + 1e-9 for (low, high), value in recalls)
    assert held >= 0.95 * repeats


# ------------------------------------------------------------------ the mapping


def test_names_and_thresholds(rng):
    _, score, y = draw(rng, positives=300, negatives=700, labeled=100)
    counts = Counts.from_arrays(y, score)
    bounds = claesen_bounds(counts, prior=0.2)
    assert [*bounds] == [*AREAS]
    assert bounds["roc_auc"] == bounds.roc_auc
    with pytest.raises(InputError, match="depends on a threshold"):
        bounds["f1"]
    at = bounds.at(0.5)
    assert [*at] == [*AREAS, *MEASURES]
    assert len(at) == len(AREAS) + len(MEASURES)
    assert at["f0.5"].low < at["f0.5"].high
    assert at["f1"] == claesen_bounds(counts, prior=0.2, threshold=0.5)["f1"]
    with pytest.raises(KeyError, match="unknown measure 'f_one'"):
        at["f_one"]
    with pytest.raises(InputError, match="threshold must be"):
        bounds.at(math.nan)


def test_of_an_evaluation_for_its_target_and_threshold(rng):
    _, score, y = draw(rng, positives=300, negatives=700, labeled=100, known_negatives=50)
    for target in ("population", "unlabeled"):
        ev = evaluate(
            y, score, prior=0.25, negative_label=2, threshold=0.7, target=target, level=None
        )
        bounds = ev.bounds()
        assert (bounds.target, bounds.threshold) == (target, 0.7)
        for name in ("f1", "recall", "precision", "average_precision", "roc_auc"):
            assert bounds[name].low <= ev[name].value <= bounds[name].high, (target, name)
    assert ev.bounds().to_dict()["measures"]["f1"] == bounds["f1"]._asdict()
    assert "F1" in repr(bounds)
    assert "At threshold 0.7" in repr(bounds)


def test_undefined_without_positives_in_the_target():
    counts = Counts.from_arrays([1, 1, 0, 0, 0], [5, 4, 3, 2, 1])
    bounds = claesen_bounds(counts, prior=0.0, target="unlabeled", threshold=3)
    assert math.isnan(bounds["recall"].low)
    assert math.isnan(bounds.roc_auc.low)
    assert bounds["accuracy"] == pytest.approx((2 / 3, 2 / 3))
