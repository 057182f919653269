"""Rows that look independent: odds against an integral, and intervals of needless clusters."""

import warnings

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import chi2

from pueval import Counts, evaluate, evaluate_by
from pueval.core.cluster_table import label_count_effect, table_of
from pueval.core.independence import PRIOR_FREEDOM, independence_odds
from tests.coverage.clusters import PRIOR, ClusterSetting, draw_clusters


@pytest.mark.parametrize("freedom", [4.0, 19.0, 47.5, 400.0])
@pytest.mark.parametrize("effect", [0.4, 1.0, 1.3, 2.5])
def test_odds_are_a_ratio_of_likelihoods(effect, freedom):
    """An effect of D is D χ²/ν; 1/D is uniform if rows are not independent."""

    def likelihood(inverse):
        return inverse * chi2.pdf(freedom * effect * inverse, freedom)

    alternative, _ = quad(likelihood, 0, 1, epsabs=0, epsrel=1e-10, limit=200)
    odds = likelihood(1.0) / alternative
    assert independence_odds(effect, freedom) == pytest.approx(odds, rel=1e-6)


def test_odds_of_extreme_effects():
    assert independence_odds(0.0, 19) == pytest.approx(10.5)
    assert independence_odds(1e6, 400) == 0
    assert independence_odds(50.0, 1e6) == 0


def rows(correlation, seed, label="varying", clusters=20, size=10):
    setting = ClusterSetting(clusters, size, correlation, label)
    y, score, _, cluster = draw_clusters(setting, np.random.default_rng(seed))
    return y, score, cluster


def table(*arguments, **options):
    y, score, cluster = rows(*arguments, **options)
    return table_of(Counts.from_arrays(y, score, cluster=cluster))


def test_dependence_is_seen():
    """Scores, or only classes, are alike within clusters."""
    independent = np.mean([table(0.0, seed).independence for seed in range(20)])
    scores = np.mean([table(0.5, seed).independence for seed in range(20)])
    classes = np.mean([table(0.0, seed, "constant").independence for seed in range(20)])
    assert independent > 0.5
    assert scores < 0.02
    assert classes < 0.02


def test_variances_are_averaged_by_degrees_of_freedom():
    of_rows = table(0.0, 0)
    influence = np.random.default_rng(0).normal(size=of_rows.share.shape)
    both = of_rows._clustered_variance(influence, None), of_rows.independent_variance(influence)
    freedom = of_rows.clustered_freedom, PRIOR_FREEDOM * of_rows.independence
    assert of_rows.variance(influence) == pytest.approx(np.average(both, weights=freedom))
    assert of_rows.degrees_of_freedom == pytest.approx(sum(freedom))
    assert freedom[1] > 10


def test_the_label_count_of_the_table_is_that_of_the_counts():
    y, score, cluster = rows(0.2, 0, size=4)
    counts = Counts.from_arrays(y, score, cluster=cluster)
    share, sizes = y.mean(), np.bincount(cluster)
    deviation = np.bincount(cluster, y - share) * np.sqrt(19 / 20) / (1 - sizes / y.size)
    expected = np.sum(deviation**2) / (y.size * share * (1 - share))
    assert label_count_effect(counts) == pytest.approx(expected)


def test_where_independent_rows_do_not_count():
    """Merged clusters are many; two ways and propensities have no such mean."""
    rng = np.random.default_rng(0)
    y, score = rng.random(6000) < 0.3, rng.normal(size=6000)
    many = Counts.from_arrays(y, score, cluster=np.arange(6000) // 3)
    two = Counts.from_arrays(y, score, cluster=[np.arange(6000) // 100, np.arange(6000) % 50])
    propensity = np.where(y, 0.5, np.nan)
    weighted = Counts.from_arrays(y, score, cluster=np.arange(6000) // 100, propensity=propensity)
    for counts in (many, two, weighted):
        of_rows = table_of(counts)
        assert of_rows.independent_weight == 0
        assert of_rows.degrees_of_freedom == counts._clusters.clusters.degrees_of_freedom


def test_needless_clusters_cost_little():
    """Independent rows in 20 clusters: t quantiles of clusters alone cost about a tenth."""
    widths, group_widths = [], []
    for seed in range(30):
        y, score, cluster = rows(0.0, seed, size=20)
        options = {"prior": PRIOR, "threshold": 1.0}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            both = [evaluate(y, score, cluster=each, **options) for each in (cluster, None)]
            groups = [
                evaluate_by(y, score, cluster % 2, cluster=each, **options)
                for each in (cluster, None)
            ]
        width = [
            [part.high - part.low for part in (ev["roc_auc"], ev["f1"], ev["average_precision"])]
            for ev in both
        ]
        widths.append(np.divide(*width))
        group_widths.append(np.divide(*[np.mean(g["f1"].high - g["f1"].low) for g in groups]))
    assert np.mean(widths, axis=0).max() < 1.05
    # Ten clusters each.
    assert np.nanmean(group_widths) < 1.08


def test_draws_have_the_averaged_variance():
    y, score, cluster = rows(0.0, 1)
    ev = evaluate(y, score, prior=PRIOR, threshold=1.0, cluster=cluster, n_resamples=4000)
    resamples = ev._resamples
    assert resamples.cluster_table.independent_weight > 0.5
    column = np.flatnonzero(resamples.draws.threshold == 1.0)
    drawn = resamples.draws.resampled.unlabeled[:, column].std()
    n = (~y).sum()
    reached = (resamples.draws.threshold >= 1.0).astype(float)
    influence = np.stack([np.zeros(reached.size), reached, np.zeros(reached.size)])
    variance = resamples.cluster_table.variance(influence)
    # A pseudo-observation has one row more.
    assert drawn == pytest.approx(np.sqrt(variance) * n / (n + 1), rel=0.08)


def test_draws_with_few_labeled_clusters_do_not_divide_by_almost_nothing():
    """Standard errors were up to 66 in these samples."""
    errors = []
    for seed in range(40):
        y, score, cluster = rows(0.0, seed, size=5)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ev = evaluate(y, score, prior=PRIOR, threshold=1.0, cluster=cluster)
        if ev.resampling is not None:
            errors.append(ev["average_precision"].standard_error)
    assert len(errors) > 10
    assert max(errors) < 0.3
