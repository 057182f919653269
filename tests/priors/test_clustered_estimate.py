"""Estimated priors of rows that belong together."""

from __future__ import annotations

import numpy as np
import pytest

from pueval import evaluate, priors
from tests.uncertainty.test_clusters import clustered_rows


def width(interval):
    return interval[1] - interval[0]


def test_clusters_widen_the_interval_and_keep_the_estimate():
    y, score, cluster = clustered_rows(0, 200, 15, 0.7, constant=True)
    clustered = priors.estimate(y, score, cluster=cluster)
    plain = priors.estimate(y, score)
    assert clustered.prior == plain.prior
    assert width(clustered.prior_interval) > 1.05 * width(plain.prior_interval)
    assert clustered.prior_upper >= plain.prior_upper


def test_clusters_that_mean_nothing_change_little():
    ratios = []
    for seed in range(4):
        y, score, _ = clustered_rows(seed, 500, 8, 0.0)
        cluster = np.random.default_rng(seed).integers(0, 600, y.size)
        intervals = [priors.estimate(y, score, cluster=c).prior_interval for c in (cluster, None)]
        ratios.append(width(intervals[0]) / width(intervals[1]))
    assert np.mean(ratios) == pytest.approx(1, abs=0.1)


def test_few_clusters_have_no_interval():
    y, score, cluster = clustered_rows(1, 100, 10)
    with pytest.warns(match="only 9 clusters"):
        estimate = priors.estimate(y, score, cluster=cluster % 9)
    assert estimate.prior_interval is None


@pytest.mark.parametrize("options", [{}, {"purity": "estimate", "prevalence": 0.4}])
def test_evaluations_include_the_wider_interval(options):
    y, score, cluster = clustered_rows(2, 200, 15, 0.7, constant=True)
    clustered, plain = (evaluate(y, score, cluster=c, **options) for c in (cluster, None))
    assert clustered.prior == plain.prior
    first, second = (ev["roc_auc"].high - ev["roc_auc"].low for ev in (clustered, plain))
    assert first > 1.15 * second
