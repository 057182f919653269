"""Propensities that only labeled rows have, in every function that takes propensities."""

import numpy as np
import pandas as pd
import pytest

from pueval import (
    Counts,
    InputError,
    evaluate,
    evaluate_over_time,
    top_by_query,
    value_recovered,
)
from pueval.counts.read_clusters import read_clusters
from pueval.sources.labels import LabelValues
from pueval.sources.propensities import labeled_propensities

RNG = np.random.default_rng(0)
N = 900
POSITIVE = RNG.random(N) < 0.3
SCORE = RNG.normal(1.5 * POSITIVE)
PROPENSITY = RNG.uniform(0.4, 0.9, N)
LABELED = POSITIVE & (RNG.random(N) < PROPENSITY)
GROUP = np.arange(N) // 6
DAY = np.datetime64("2025-01-01") + np.arange(N) % 59


def nullable(values, missing):
    column = pd.Series(values, dtype="Float64")
    column[missing] = pd.NA
    return column


def objects(values, missing):
    """As pandas before version 3 gives nullable columns to NumPy."""
    column = np.array(values, dtype=object)
    column[missing] = pd.NA
    return column


COLUMNS = {
    "NaN": lambda values, missing: np.where(missing, np.nan, values),
    "masked": lambda values, missing: np.ma.masked_array(np.where(missing, 7.0, values), missing),
    "masked objects": lambda values, missing: np.ma.masked_array(
        np.where(missing, "unknown", values.astype(object)), missing
    ),
    "masked column": lambda values, missing: np.ma.masked_array(values, missing)[:, None],
    "nullable": nullable,
    "NA": objects,
    "None": lambda values, missing: [
        None if gap else value for gap, value in zip(missing, values.tolist(), strict=True)
    ],
}


def evaluated(propensity):
    ev = evaluate(LABELED, SCORE, propensity=propensity, n_resamples=20)
    return [ev.prior, ev["f1"].value, ev["f1"].low]


def clustered(propensity):
    ev = evaluate(LABELED, SCORE, propensity=propensity, cluster=GROUP, n_resamples=20)
    return [ev.prior, ev["f1"].value, ev["f1"].low]


def over_time(propensity):
    times = evaluate_over_time(LABELED, SCORE, DAY, propensity=propensity, n_resamples=20)
    return [*times["prevalence"].value, *times["f1"].low]


def recovered(propensity):
    return value_recovered(
        LABELED, SCORE, np.exp(SCORE), threshold=1.0, propensity=propensity
    ).recovered


def top(propensity):
    return top_by_query(LABELED, SCORE, GROUP, k=2, propensity=propensity).macro["precision"]


@pytest.mark.parametrize("function", [evaluated, clustered, over_time, recovered, top])
@pytest.mark.parametrize("kind", COLUMNS)
def test_rows_that_are_not_labeled_need_none(function, kind):
    expected = function(np.where(LABELED, PROPENSITY, np.nan))
    assert function(COLUMNS[kind](PROPENSITY, ~LABELED)) == expected


@pytest.mark.parametrize("function", [evaluated, clustered, over_time, recovered, top])
@pytest.mark.parametrize("kind", COLUMNS)
def test_labeled_rows_need_one(function, kind):
    missing = ~LABELED
    missing[np.flatnonzero(LABELED)[:3]] = True
    with pytest.raises(InputError, match=r"in \(0, 1\] for every labeled row; got nan and 2 more"):
        function(COLUMNS[kind](PROPENSITY, missing))


@pytest.mark.parametrize("function", [evaluated, clustered, over_time, recovered, top])
def test_other_mistakes(function):
    with pytest.raises(InputError, match=r"in \(0, 1\] for every labeled row; got 1.5 and 0 more"):
        function(np.where(np.arange(N) == np.flatnonzero(LABELED)[0], 1.5, PROPENSITY))
    with pytest.raises(InputError, match="y and propensity must have the same length.*also NaN"):
        function(PROPENSITY[1:])
    with pytest.raises(InputError, match="propensity must hold numbers"):
        function(np.full(N, "x"))


@pytest.mark.parametrize("kind", COLUMNS)
def test_known_propensities_of_unlabeled_rows_are_kept(kind):
    """Intervals use them, where they are known."""
    missing = ~LABELED & (np.arange(N) % 2 == 0)
    counts = Counts.from_arrays(
        LABELED, SCORE, propensity=COLUMNS[kind](PROPENSITY, missing)
    )._inverse_propensities
    known = PROPENSITY[~LABELED & ~missing]
    np.testing.assert_allclose(counts.distinct_counts()[0], np.sort(1 / known)[::-1])


def test_weights_and_clusters_by_hand():
    """A labeled row represents weight/propensity positives; rows of weight zero do not exist."""
    labels = LabelValues(1, 0, None)
    y, weight = np.array([1, 1, 0, 1, 0, 0]), np.array([1.0, 0.0, 2.0, 3.0, 1.0, 1.0])
    propensity = np.ma.masked_array([0.5, 0.1, 0, 0.25, 0, 0], y == 0)
    rows = read_clusters(
        y,
        np.arange(6.0),
        [0, 0, 1, 1, 2, 2],
        labels,
        sample_weight=weight,
        propensity=propensity,
    )
    np.testing.assert_allclose(rows.represented, [2, 0, 12, 0, 0])
    np.testing.assert_allclose(labeled_propensities(propensity, y == 1), [0.5, 0.1, 0.25])
