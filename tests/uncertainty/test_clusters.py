"""Rows that belong together: variances and draws against slow versions of them."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import t
from sklearn.metrics import roc_auc_score

from pueval import Counts, InputError, evaluate
from pueval.core.cluster_table import ClusterTable
from pueval.counts.clusters import Clusters
from pueval.priors import Tilt


def clustered_rows(seed, n_clusters=80, mean_size=6, correlation=0.6, *, constant=False):
    """Scores with a random effect of the cluster; a third of the rows are positive."""
    rng = np.random.default_rng(seed)
    cluster = np.repeat(np.arange(n_clusters), rng.poisson(mean_size - 1, n_clusters) + 1)
    n = cluster.size
    positive = (rng.random(n_clusters) < 0.35)[cluster] if constant else rng.random(n) < 0.35
    effect = np.sqrt(correlation) * rng.normal(size=n_clusters)[cluster]
    score = effect + np.sqrt(1 - correlation) * rng.normal(size=n) + 1.5 * positive
    return positive & (rng.random(n) < 0.6), score, cluster


def test_auc_variance_is_that_of_a_jackknife_over_clusters():
    """The kernel equals the variance of the AUC when clusters are left out, to first order."""
    y, score, cluster = clustered_rows(0, constant=True)
    counts = Counts.from_arrays(y, score, cluster=cluster)
    thresholds = np.append(np.inf, np.unique(score)[::-1])
    table = ClusterTable.of(counts, thresholds)
    left_out = [
        roc_auc_score(y[cluster != k], score[cluster != k]) for k in range(cluster.max() + 1)
    ]
    n = len(left_out)
    jackknife = (n - 1) * np.var(left_out)
    placements = np.stack([np.zeros(thresholds.size)] * 3)
    labeled, unlabeled = table.share[:2]
    placements[0] = 1 - np.cumsum(unlabeled) + unlabeled / 2
    placements[1] = np.cumsum(labeled) - labeled / 2
    variance = table.variance(placements)
    assert variance == pytest.approx(jackknife, rel=0.02)


def auc_between(y, score, weight, *clusters):
    """AUC of all pairs of a labeled and another row that share no cluster; ties count half."""
    weight = weight[y][:, None] * weight[~y]
    for cluster in clusters:
        weight = weight * (cluster[y][:, None] != cluster[~y])
    concordant = (score[y][:, None] > score[~y]) + (score[y][:, None] == score[~y]) / 2
    return np.sum(weight * concordant) / np.sum(weight)


@pytest.mark.parametrize("weighted", [False, True])
def test_the_auc_has_the_jackknife_variance_of_pairs_from_different_clusters(weighted):
    """Influences are not enough if there are few clusters."""
    y, score, cluster = clustered_rows(0, 20, 30, 0.8)
    score = np.round(score, 1)
    weight = np.random.default_rng(1).random(y.size) + 0.5 if weighted else np.ones(y.size)
    sample_weight = weight if weighted else None
    counts = Counts.from_arrays(y, score, cluster=cluster, sample_weight=sample_weight)
    thresholds = np.append(np.inf, np.unique(score)[::-1])
    table = ClusterTable.of(counts, thresholds)
    left_out = [
        auc_between(*(part[cluster != k] for part in (y, score, weight, cluster)))
        for k in range(20)
    ]
    placements = np.zeros((3, thresholds.size))
    labeled, unlabeled = table.share[:2]
    placements[0] = 1 - np.cumsum(unlabeled) + unlabeled / 2
    placements[1] = np.cumsum(labeled) - labeled / 2
    variance = table.auc_effect * table.independent_variance(placements)
    assert variance == pytest.approx(19 * np.var(left_out), rel=1e-9)
    assert variance > 1.02 * table.variance(placements)
    naive = roc_auc_score(y, score, sample_weight=weight)
    excess = naive - auc_between(y, score, weight, cluster)
    assert table.auc_excess == pytest.approx(excess, abs=1e-12)
    assert excess > 0.003


def test_the_interval_of_the_auc_is_centered_at_pairs_from_different_clusters():
    y, score, cluster = clustered_rows(0, 20, 30, 0.8)
    between = auc_between(y, score, np.ones(y.size), cluster)
    ev = evaluate(y, score, prior=0.2, cluster=cluster)
    auc, effects = ev["roc_auc"], ev.clusters
    n_labeled, n_unlabeled = np.array([y.sum(), (~y).sum()]) / effects.auc_effect
    share = n_labeled / (n_labeled + 1) * n_unlabeled / (n_unlabeled + 1)
    inside = 0.5 + share * (between - 0.5)
    # Symmetric on the logit scale of the naive AUC, to second order.
    margin = t.ppf(0.975, effects.degrees_of_freedom) * 0.8 * auc.standard_error
    middle = between - margin**2 * (2 * between - 1) / (2 * inside * (1 - inside))
    low, high = middle - margin, middle + margin
    assert auc.low == pytest.approx((low - 0.1) / 0.8, abs=2e-4)
    assert auc.high == pytest.approx(min((high - 0.1) / 0.8, 1), abs=2e-4)
    assert auc.value == pytest.approx((roc_auc_score(y, score) - 0.1) / 0.8)


def test_clusters_that_are_ranked_perfectly():
    """One pseudo-observation keeps the interval from having no width, and from [0, 1]."""
    cluster = np.repeat(np.arange(40), 5)
    y, score = cluster < 20, np.where(cluster < 20, 2.0, 1.0) + cluster / 100
    auc = evaluate(y, score, prior=0.0, cluster=cluster)["roc_auc"]
    assert auc.value == auc.high == 1
    # By the rule of three, 20 clusters without an error show an AUC of .86 at least.
    assert auc.low == pytest.approx(1 - 3 / 21, abs=0.05)


def test_pairs_that_share_either_of_two_clusters_are_left_out():
    y, score, cluster = clustered_rows(0, 20, 30, 0.8)
    score, item = np.round(score, 1), np.random.default_rng(2).integers(0, 15, y.size)
    counts = Counts.from_arrays(y, score, cluster=[cluster, item])
    table = ClusterTable.of(counts, np.append(np.inf, np.unique(score)[::-1]))
    excess = roc_auc_score(y, score) - auc_between(y, score, np.ones(y.size), cluster, item)
    assert table.auc_excess == pytest.approx(excess, abs=1e-12)


def test_draws_vary_like_clusters_that_are_drawn_again():
    y, score, cluster = clustered_rows(1)
    ev = evaluate(y, score, prior=0.2, threshold=1.0, cluster=cluster)
    rng = np.random.default_rng(0)
    rows = [np.flatnonzero(cluster == k) for k in range(cluster.max() + 1)]
    values = []
    for _ in range(400):
        drawn = np.concatenate([rows[k] for k in rng.integers(0, len(rows), len(rows))])
        values.append(
            evaluate(y[drawn], score[drawn], prior=0.2, threshold=1.0, level=None)["f1"].value
        )
    assert ev["f1"].standard_error == pytest.approx(np.std(values), rel=0.1)


def test_values_do_not_depend_on_clusters():
    y, score, cluster = clustered_rows(2)
    with_clusters = evaluate(y, score, prior=0.2, cluster=cluster)
    without = evaluate(y, score, prior=0.2)
    for name in without:
        assert with_clusters[name].value == without[name].value, name
    assert with_clusters.threshold == without.threshold


def test_clusters_of_one_row_change_nothing():
    y, score, _ = clustered_rows(3)
    single = evaluate(y, score, prior=0.2, cluster=np.arange(y.size))
    without = evaluate(y, score, prior=0.2)
    assert single.clusters is None
    for name in ("roc_auc", "average_precision", "f1"):
        assert single[name] == without[name]


@pytest.mark.parametrize("options", [{}, {"prevalence": 0.35}, {"label_frequency": 0.6}])
def test_independent_rows_lose_little_width(options):
    """Clusters that mean nothing change widths by less than 5 %, on average over samples."""
    ratios = []
    for seed in range(8):
        y, score, _ = clustered_rows(seed, 300, 6, 0.0)
        cluster = np.random.default_rng(seed).integers(0, 400, y.size)
        given = options or {"prior": 0.18}
        evs = [evaluate(y, score, threshold=1.0, **given, cluster=c) for c in (cluster, None)]
        widths = [
            [ev[name].high - ev[name].low for name in ("roc_auc", "average_precision", "f1")]
            for ev in evs
        ]
        ratios.append(np.divide(*widths))
    assert np.abs(np.mean(ratios, axis=0) - 1).max() < 0.05


def test_names_of_clusters_do_not_matter():
    y, score, cluster = clustered_rows(4)
    text = np.array([f"patient {k}" for k in cluster])
    first, second = (evaluate(y, score, prior=0.2, cluster=c) for c in (cluster * 7 - 3, text))
    assert first["roc_auc"].low == pytest.approx(second["roc_auc"].low, abs=1e-9)
    # Text sorts differently, so groups are drawn in another order.
    assert first["f1"].standard_error == pytest.approx(second["f1"].standard_error, rel=0.1)


def test_many_clusters_are_merged_without_bias():
    y, score, cluster = clustered_rows(5, 6000, 5, 0.7, constant=True)
    merged = evaluate(y, score, prior=0.2, cluster=cluster)
    counts = Counts.from_arrays(y, score, cluster=cluster)
    assert counts._clusters.clusters.partitions[0].n_groups == 1000
    # Influences row by row, summed within each of the 6,000 clusters.
    labeled, unlabeled = np.sort(score[y]), np.sort(score[~y])
    placement = np.where(
        y,
        np.searchsorted(unlabeled, score) / unlabeled.size,
        1 - np.searchsorted(labeled, score) / labeled.size,
    )
    for kind in (y, ~y):
        placement[kind] = (placement[kind] - placement[kind].mean()) / kind.sum()
    error = np.sqrt(np.sum(np.bincount(cluster, placement) ** 2))
    naive_error = merged["roc_auc"].standard_error * (1 - merged.mixture.background_prior(counts))
    assert naive_error == pytest.approx(error, rel=0.05)
    assert naive_error > 1.3 * np.sqrt(np.sum(placement**2))


def test_two_ways_add_up():
    """V_user + V_item − V_both; with items that mean nothing it is about V_user."""
    y, score, user = clustered_rows(6, 150, 8, 0.7, constant=True)
    item = np.random.default_rng(1).integers(0, 150, y.size)
    both, one = (evaluate(y, score, prior=0.2, cluster=c) for c in ([user, item], user))
    assert both["roc_auc"].standard_error == pytest.approx(one["roc_auc"].standard_error, rel=0.1)
    assert both["recall"].standard_error == pytest.approx(one["recall"].standard_error, rel=0.1)
    same = evaluate(y, score, prior=0.2, cluster=[user, user])
    assert same["roc_auc"].standard_error == pytest.approx(one["roc_auc"].standard_error, rel=0.02)


def test_few_clusters_have_wider_intervals():
    y, score, cluster = clustered_rows(7, 25, 20, 0.3)
    ev = evaluate(y, score, prior=0.2, cluster=cluster)
    auc = ev["roc_auc"]
    half_width = (auc.high - auc.low) / 2 / auc.standard_error
    assert 2.02 < half_width < 2.2
    assert ev.clusters.n_clusters == 25
    assert "25 clusters" in repr(ev)


def test_too_few_clusters_have_no_interval():
    y, score, cluster = clustered_rows(8)
    few = cluster % 9
    with pytest.warns(match="only 9 clusters have labeled rows"):
        ev = evaluate(y, score, prior=0.2, cluster=few)
    assert np.isnan([ev["roc_auc"].low, ev["f1"].high, ev.best("f1").low]).all()
    assert "9 clusters" in str(ev.warnings)


@pytest.mark.parametrize("of_unlabeled", [False, True])
def test_too_few_clusters_say_nothing_else(of_unlabeled):
    """The design effect of a single cluster would be about 1, as if rows were independent."""
    y, score, _ = clustered_rows(8)
    cluster = np.where(y, np.arange(y.size), 0) if of_unlabeled else np.zeros(y.size)
    kind = "unlabeled or known negative rows" if of_unlabeled else "labeled rows"
    with pytest.warns(match=f"only 1 cluster has {kind}"):
        ev = evaluate(y, score, prior=0.2, cluster=cluster)
    assert np.isnan([ev.clusters.auc_effect, ev.clusters.effective_rows]).all()
    assert ev.clusters.to_dict()["auc_effect"] is None
    text = repr(ev)
    assert "Effective sample size" not in text
    assert "Evaluate with a level" not in text
    assert "Next: Collect rows of more clusters" in text
    assert of_unlabeled or "unlabeled rows in 1 cluster;" in text
    assert "too few for design effects" in repr(ev.clusters)


def test_the_average_precision_of_unlabeled_rows_varies_as_without_clusters():
    """Independent rows. Cells without drawn rows are empty: tiny numbers gave any precision."""
    ratios = []
    for seed in range(4):
        y, score, cluster = clustered_rows(seed, 100, 10, 0.0)
        options = {"prior": 0.2, "threshold": 1.0, "target": "unlabeled", "n_resamples": 1000}
        [clustered, independent] = (
            evaluate(y, score, cluster=each, **options)["average_precision"].standard_error
            for each in (cluster, None)
        )
        ratios.append(clustered / independent)
    assert 0.9 < np.mean(ratios) < 1.2


def test_two_way_clusters_of_independent_rows_cost_little():
    """Recall depends on rows above a threshold, and not on single cells."""
    ratios = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        positive = rng.random(600) < 0.4
        score = 1.5 * positive + rng.normal(size=600)
        y = positive & (rng.random(600) < 0.5)
        clusters = [rng.integers(0, 40, 600), rng.integers(0, 25, 600)]
        options = {"prior": 0.25, "threshold": 1.0, "n_resamples": 1000}
        [two_way, independent] = (
            evaluate(y, score, cluster=each, **options)["recall"].standard_error
            for each in (clusters, None)
        )
        ratios.append(two_way / independent)
    assert 0.9 < np.mean(ratios) < 1.18


def test_impossible_clusters_are_refused():
    y, score, cluster = clustered_rows(9)
    missing = cluster.astype(float)
    missing[3] = np.nan
    for wrong, message in (
        (cluster[1:], "same length"),
        (missing, "1 row with a missing cluster"),
        ([cluster, cluster, cluster], "two columns"),
    ):
        with pytest.raises(InputError, match=message):
            evaluate(y, score, prior=0.2, cluster=wrong)
    with pytest.raises(InputError, match="variance='labeling'"):
        evaluate(y, score, prior=0.2, cluster=cluster, variance="labeling")
    with pytest.raises(InputError, match="this bound assumes independent rows"):
        evaluate(y, score, prior=0.2, cluster=cluster).bounds()
    audited = np.where(np.arange(y.size) % 3 == 0, y, np.nan)
    with pytest.raises(InputError, match="an audit assumes independent rows"):
        evaluate(y, score, cluster=cluster, audited=audited)
    counts = Counts.from_arrays(y, score, cluster=cluster)
    with pytest.raises(InputError, match="adding counts assumes independent rows"):
        counts + counts
    with pytest.raises(InputError, match="Counts already include them"):
        evaluate(counts, prior=0.2, cluster=cluster)


def test_weights_and_propensities_join_in():
    y, score, cluster = clustered_rows(10)
    whole = evaluate(y, score, prior=0.2, threshold=1.0, cluster=cluster)
    ones = evaluate(y, score, prior=0.2, threshold=1.0, cluster=cluster, sample_weight=y * 0 + 1)
    assert ones["f1"] == whole["f1"]
    propensity = evaluate(y, score, threshold=1.0, cluster=cluster, propensity=np.full(y.size, 0.6))
    frequency = evaluate(y, score, threshold=1.0, cluster=cluster, label_frequency=0.6)
    assert propensity["f1"].standard_error == pytest.approx(
        frequency["f1"].standard_error, rel=0.05
    )


def test_bands_and_bounds_widen():
    y, score, cluster = clustered_rows(11, constant=True)
    ev, plain = (evaluate(y, score, prior=0.2, cluster=c) for c in (cluster, None))
    for kind in ("pointwise", "simultaneous"):
        wide, narrow = (np.mean(e.roc_band(kind).high - e.roc_band(kind).low) for e in (ev, plain))
        assert wide > 1.2 * narrow
    wide, narrow = (e.labeling_bias(1.5)["roc_auc"] for e in (ev, plain))
    assert wide.interval_high - wide.interval_low > narrow.interval_high - narrow.interval_low
    choices = [e.threshold_for(recall=0.7)["precision"] for e in (ev, plain)]
    assert choices[0].high - choices[0].low > choices[1].high - choices[1].low


def test_evaluations_with_clusters_can_be_pickled():
    y, score, cluster = clustered_rows(12)
    ev = evaluate(y, score, prior=0.2, cluster=cluster)
    assert pickle.loads(pickle.dumps(ev))["f1"] == ev["f1"]  # noqa: S301


def test_an_engine_can_count_groups_of_clusters():
    """Rows counted by group, label and score give the same intervals as the rows."""
    y, score, cluster = clustered_rows(13)
    score = score.round(1)
    table, count = np.unique(
        np.column_stack([cluster, np.where(y, 0, 1), score]), axis=0, return_counts=True
    )
    group, kind, scores = table.T
    clusters = Clusters.of_groups(
        group.astype(int),
        kind.astype(int),
        count,
        n_clusters=np.unique(cluster).size,
        n_labeled_clusters=np.unique(cluster[y]).size,
    )
    counts = replace(Counts.from_arrays(y, score), _clusters=clusters.with_score(scores))
    counted, rows = evaluate(counts, prior=0.2), evaluate(y, score, prior=0.2, cluster=cluster)
    for name in ("roc_auc", "average_precision", "f1"):
        assert counted[name].low == pytest.approx(rows[name].low, abs=1e-6)
    assert counted.clusters == rows.clusters


def test_estimators_refuse_clusters():
    y, score, cluster = clustered_rows(14)
    with pytest.raises(InputError, match="assumes independent rows"):
        Tilt().fit(Counts.from_arrays(y, score, cluster=cluster))
