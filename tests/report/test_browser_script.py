"""The correction in the page's script against the one in Python, on many tables, to 1e-9."""

import math

import numpy as np
import pytest

from pueval import Counts, Mixture, evaluate, largest_prior
from pueval.core.average_precision import average_precision
from pueval.core.curves import (
    correct_precision_recall,
    correct_roc_from_corners,
    direct_auc,
    mean_placement,
    naive_auc,
)
from pueval.core.measures import MEASURES
from pueval.core.mixture import NAIVE
from pueval.core.rates import correct_steps
from pueval.estimates.estimate import Contingency
from pueval.report import write_report
from pueval.report._summary import summarize
from pueval.report._thinned_counts import ThinnedCounts
from pueval.sensitivity.feasibility import share_ratio_bounds
from pueval.sensitivity.labeling_bias import BiasedLabeling
from tests.conftest import draw

TOLERANCE = 1e-9

# Everything the script computes from one table, one mixture and one target.
EVERYTHING = """
([columns, mixture, target, area, thresholds, biases, limits, purities, ranges]) => {
  const number = (x) => (Number.isNaN(x) ? null : Number.isFinite(x) ? x : String(x));
  const table = correction.makeTable(columns);
  const rate = correction.rates(table, mixture, target);
  const points = (curve) => curve.map(({ x, y, threshold }) => [x, y, number(threshold)]);
  const found = {
    prevalence: correction.prevalence(table, mixture, target),
    label_frequency: correction.labelFrequency(table, mixture),
    auc: correction.directAuc(table, area, mixture),
    precision: correction.averagePrecision(table, mixture, target),
    roc: points(correction.rocCurve(table, mixture, target)),
    pr: points(correction.precisionRecallCurve(table, mixture, target)),
    at: thresholds.map((threshold) => {
      const k = correction.stepAt(table, Number(threshold));
      const there = rate(k);
      const measures = {};
      const bounds = {};
      const bounded = biases.map((bias) =>
        labelingBias.boundedRates(table, mixture, target, bias, k));
      for (const name of Object.keys(correction.MEASURES)) {
        measures[name] = number(correction.measure(name, there));
        const [low, high] = ranges[name].map((x) => (x === null ? Infinity : x));
        bounds[name] = bounded.map((ends) =>
          labelingBias.measureBounds(name, there, ends, low, high).map(number));
      }
      const { tpr, fpr, predicted } = there;
      const cells = correction.contingency(there, there.size);
      return { tpr, fpr, predicted, measures, bounds, cells };
    }),
  };
  const { auc, precision } = found;
  found.auc_bounds = biases.map((bias) =>
    labelingBias.aucBounds(table, mixture, target, bias, auc));
  found.precision_bounds = biases.map((bias) =>
    labelingBias.averagePrecisionBounds(table, table, mixture, target, bias, precision));
  if (limits) {
    const { largestPrior, leastPurity } = sensitivity;
    found.largest = purities.map((purity) => largestPrior(table, limits, purity));
    found.least = found.largest.map((prior) => leastPurity(table, limits, prior));
  }
  return found;
}
"""


@pytest.fixture(scope="module")
def script(browser, tmp_path_factory):
    """The script as it runs in a page."""
    path = tmp_path_factory.mktemp("page") / "report.html"
    write_report(path, {"model": evaluate([1, 0, 1, 0], [4, 3, 2, 1], prior=0, level=None)})
    page = browser.new_page()
    page.goto(path.as_uri())
    yield page
    page.close()


def tables():
    """Tables of many shapes: ties, few rows, weights, clusters, known negatives, all labeled."""
    for k in range(24):
        rng = np.random.default_rng(k)
        n = int(rng.integers(4, 400))
        positive = rng.random(n) < rng.uniform(0.1, 0.9)
        score = rng.normal(size=n) + rng.uniform(0, 3) * positive
        if k % 2:
            score = np.round(score, int(rng.integers(0, 2)))
        y = (positive & (rng.random(n) < 0.6)).astype(int)
        if k % 3 == 0:
            y[~positive & (rng.random(n) < 0.4)] = -1
        if k % 7 == 6:
            y[y == 0] = -1
        y[0] = 1
        weight = rng.uniform(0.1, 3, n) if k % 5 == 4 else None
        propensity = rng.uniform(0.2, 1, n) if k % 4 == 3 and weight is None else None
        cluster = score.argsort().argsort() // 8 if k in {5, 10, 20} else None
        counts = Counts.from_arrays(
            y,
            score,
            sample_weight=weight,
            propensity=propensity,
            cluster=cluster,
            negative_label=-1,
        )
        if counts.n_unlabeled + counts.n_negative == 0:
            continue
        yield counts, rng
    yield Counts.from_table([1], [3], [4]), rng
    yield Counts.from_arrays([1, 0, 0, 1], np.float32([0.1, 0.1, 0.7, 0.3])), rng


def mixtures(counts, rng):
    yield NAIVE
    purities = [1.0] if counts.has_propensity else [1.0, float(rng.uniform(0.5, 1))]
    for purity in purities:
        prior = float(rng.uniform(0, 0.95 * purity)) if counts.n_unlabeled else 0.0
        yield Mixture(prior, purity)


def python(counts, mixture, target, thresholds, biases, limits, purities):
    """The same by the library."""
    corners = counts._roc_corners()
    line = correct_steps(counts, corners, mixture, target)
    bounded = not counts.has_propensity and counts.n_unlabeled > 0

    def bounds(name, threshold):
        labeling = BiasedLabeling(counts, mixture, target, threshold)
        return [[end.value for end in labeling.bounds(name, bias)] for bias in biases]

    found = {
        "prevalence": mixture.prevalence(counts, target),
        "label_frequency": mixture.label_frequency(counts),
        "auc": direct_auc(counts, naive_auc(counts, corners), mixture),
        "precision": float(average_precision(line)),
        "at": [],
    }
    curve = correct_roc_from_corners(counts, corners, mixture, target)
    found["roc"] = (curve.fpr, curve.tpr)
    curve = correct_precision_recall(line)
    found["pr"] = (curve.recall, curve.precision)
    for threshold in thresholds:
        steps = counts.at(threshold)
        there = correct_steps(counts, steps, mixture, target)
        found["at"].append(
            {
                "rates": [float(column[0]) for column in (there.tpr, there.fpr, there.predicted)],
                "measures": {name: float(m(there)[0]) for name, m in MEASURES.items()},
                "cells": vars(Contingency.of(there)),
                "bounds": {name: bounds(name, threshold) for name in MEASURES} if bounded else None,
            }
        )
    if bounded:
        found["auc_bounds"] = bounds("roc_auc", 0.0)
        found["precision_bounds"] = bounds("average_precision", 0.0)
    if limits:
        found["largest"] = [largest_prior(counts, purity=purity).prior for purity in purities]
    return found


def same(mine, theirs, what, tolerance=TOLERANCE):
    """Equal to 1e-9, both undefined, or both infinite."""
    if isinstance(theirs, str):
        theirs = float(theirs.replace("Infinity", "inf"))
    if theirs is None:
        assert math.isnan(mine), what
    else:
        assert mine == pytest.approx(theirs, rel=tolerance, abs=tolerance), what


def camel(name):
    first, second = name.split("_")
    return first + second.capitalize()


def test_every_measure_is_there(script):
    assert script.evaluate("Object.keys(correction.MEASURES)") == [*MEASURES]


def test_all_tables(script):
    ranges = {
        name: [m.low, m.high if math.isfinite(m.high) else None] for name, m in MEASURES.items()
    }
    compared = 0
    for counts, rng in tables():
        thinned = ThinnedCounts(counts, True, None, 0.0, 0.0)
        columns = {**thinned.columns(), **thinned.row_numbers()}
        score = counts.score.astype(float)
        thresholds = [
            float("inf"),
            float(score[0]),
            float(score[-1]),
            *map(float, rng.choice(score, 3)),
        ]
        thresholds.append(float((score[0] + score[-1]) / 2))
        biases, purities = [1.0, 3.0], [1.0, 0.97, 0.8, 0.5]
        limits = None
        if counts.n_unlabeled and not counts.has_propensity:
            limits = {
                key: value if math.isfinite(value) else 1e300
                for key, value in vars(share_ratio_bounds(counts)).items()
            }
        area = (
            mean_placement(counts)
            if counts.has_propensity
            else naive_auc(counts, counts._roc_corners())
        )
        for mixture in mixtures(counts, rng):
            for target in ("population", "unlabeled"):
                if target == "unlabeled" and (not counts.n_unlabeled or counts.has_propensity):
                    continue
                texts = ["Infinity" if math.isinf(t) else t for t in thresholds]
                theirs = script.evaluate(
                    EVERYTHING,
                    [columns, vars(mixture), target, area, texts, biases, limits, purities, ranges],
                )
                mine = python(counts, mixture, target, thresholds, biases, limits, purities)
                compare(mine, theirs, f"{counts} {mixture} {target}")
                compared += 1
    assert compared > 60


def distinct(points):
    """Leave out points that differ from the one before by rounding only."""
    moved = np.abs(np.diff(points, axis=0)).max(axis=1) > 1e-13
    return points[np.r_[True, moved]]


def compare(mine, theirs, what):
    for name in ("prevalence", "label_frequency", "auc", "precision"):
        same(mine[name], theirs[name], (name, what))
    for name in ("roc", "pr"):
        x, y = mine[name]
        ours, others = distinct(np.c_[x, y]), distinct(np.array(theirs[name])[:, :2].astype(float))
        assert len(ours) == len(others), (name, what)
        np.testing.assert_allclose(others, ours, rtol=0, atol=TOLERANCE, err_msg=what)
    for here, there in zip(mine["at"], theirs["at"], strict=True):
        for value, name in zip(here["rates"], ("tpr", "fpr", "predicted"), strict=True):
            same(value, there[name], (name, what))
        for name, value in here["measures"].items():
            same(value, there["measures"][name], (name, what))
        for name, value in here["cells"].items():
            assert value == pytest.approx(there["cells"][camel(name)], rel=TOLERANCE, abs=1e-7)
        for name, pairs in (here["bounds"] or {}).items():
            for pair, other in zip(pairs, there["bounds"][name], strict=True):
                for value, end in zip(pair, other, strict=True):
                    # Searches stop at 1e-12, of which the square root is 1e-6.
                    tolerance = 1e-5 if name == "geometric_mean" else TOLERANCE
                    same(value, end, ("bounds", name, what), tolerance)
    for name in ("auc_bounds", "precision_bounds"):
        for pair, other in zip(mine.get(name, ()), theirs[name], strict=False):
            assert pair == pytest.approx(other, abs=TOLERANCE), (name, what)
    for prior, other in zip(mine.get("largest", ()), theirs.get("largest", ()), strict=True):
        assert prior == pytest.approx(other, abs=TOLERANCE), what


def test_least_purity_is_the_inverse_of_the_largest_prior(script):
    counts = Counts.from_table(
        [4, 3, 2, 1], [300, 150, 40, 10], [400, 500, 900, 3000], [0, 1, 4, 9]
    )
    columns = ThinnedCounts(counts, True, None, 0.0, 0.0).columns()
    limits = vars(share_ratio_bounds(counts))
    for purity in (0.995, 0.99, 0.98):
        prior = largest_prior(counts, purity=purity).prior
        assert 0 < prior < 1
        least = script.evaluate(
            "([c, l, p]) => sensitivity.leastPurity(correction.makeTable(c), l, p)",
            [columns, limits, prior],
        )
        assert least == pytest.approx(purity, abs=1e-9)
    above = largest_prior(counts).prior + 0.01
    least = script.evaluate(
        "([c, l, p]) => sensitivity.leastPurity(correction.makeTable(c), l, p)",
        [columns, limits, above],
    )
    assert least > 1


@pytest.mark.filterwarnings("ignore::pueval.errors.AssumptionWarning")
def test_thinned_counts_are_exact_at_their_scores(script, rng):
    _, score, labeled = draw(rng, 60_000, prevalence=0.2, label_frequency=0.3)
    threshold = 0.7123456
    ev = evaluate(labeled, score, prior=0.15, threshold=threshold, level=None)
    (model,) = summarize({"model": ev})["models"]
    assert not model["exact"]
    assert len(model["table"]["score"]) <= 16_001
    for at in [threshold, *rng.choice(model["table"]["score"], 5)]:
        found = script.evaluate(
            """([columns, mixture, threshold]) => {
                const table = correction.makeTable(columns);
                const rate = correction.rates(table, mixture, "population");
                const there = rate(correction.stepAt(table, threshold));
                return Object.fromEntries(Object.keys(correction.MEASURES)
                  .map((name) => [name, correction.measure(name, there)]));
            }""",
            [model["table"], vars(ev.mixture), float(at)],
        )
        there = ev.at(float(at))
        for name, value in found.items():
            assert there.clipped.get(name, there[name].value) == pytest.approx(value, abs=1e-9)


def test_a_sketch_counts_as_the_whole(script, rng):
    """Rows at or above the scores of pictures are counted exactly; the highest are all there."""
    score = np.round(rng.normal(size=9000), 4)
    counts = Counts.from_arrays(rng.random(9000) < 0.3, score)
    columns = ThinnedCounts(counts, True, None, 0.0, 0.0).columns()
    few = script.evaluate(
        """(columns) => {
            const few = correction.thin(correction.makeTable(columns), 400);
            return [few.score, [...few.labeled], [...few.unlabeled], few.n];
        }""",
        columns,
    )
    assert 350 <= len(few[0]) <= 400
    assert few[0][:100] == counts.score[:100].tolist()
    assert few[0][-1] == counts.score[-1]
    steps = counts.at(few[0])
    assert few[1] == [0, *steps.labeled]
    assert few[2] == [0, *steps.unlabeled]
    assert few[3] == 9000
    same = "(c) => { const t = correction.makeTable(c); return correction.thin(t, 40000) === t; }"
    assert script.evaluate(same, columns)
