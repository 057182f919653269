"""Differences of models on rows that belong together."""

from __future__ import annotations

import numpy as np
import pytest

from pueval import InputError, compare, evaluate
from tests.uncertainty.test_clusters import clustered_rows


def two_models(seed, **options):
    """Scores of two models; the second has an error that rows of a cluster share."""
    y, score, cluster = clustered_rows(seed, **options)
    rng = np.random.default_rng([seed, 1])
    noise = rng.normal(size=cluster.max() + 1)[cluster] + 0.3 * rng.normal(size=y.size)
    return y, {"a": score, "b": score + 0.7 * noise}, cluster


@pytest.mark.filterwarnings("ignore::pueval.errors.AssumptionWarning")
@pytest.mark.parametrize("measure", ["roc_auc", "f1", "average_precision", "best_f1"])
def test_differences_vary_like_clusters_that_are_drawn_again(measure):
    y, scores, cluster = two_models(0, n_clusters=150, constant=True)
    options = {"prior": 0.2, "threshold": 1.0}
    [difference] = compare(y, scores, cluster=cluster, **options).differences(measure)
    [plain] = compare(y, scores, **options).differences(measure)
    assert difference.value == plain.value
    rng = np.random.default_rng(1)
    rows = [np.flatnonzero(cluster == k) for k in range(cluster.max() + 1)]
    values = []
    for _ in range(150):
        drawn = np.concatenate([rows[k] for k in rng.integers(0, len(rows), len(rows))])
        of_models = {name: score[drawn] for name, score in scores.items()}
        drawn_models = compare(y[drawn], of_models, level=None, **options)
        values.append(np.subtract(*drawn_models.values(measure).values()))
    assert difference.standard_error == pytest.approx(np.std(values), rel=0.25)
    assert difference.standard_error > 1.2 * plain.standard_error


@pytest.mark.parametrize("constant", [False, True])
def test_models_have_the_intervals_of_evaluate(constant):
    y, scores, cluster = two_models(1, constant=constant)
    comparison = compare(y, scores, prior=0.2, threshold=1.0, cluster=cluster)
    alone = evaluate(y, scores["b"], prior=0.2, threshold=1.0, cluster=cluster)
    for name in ("roc_auc", "average_precision", "f1", "precision", "accuracy"):
        assert comparison["b"][name].value == alone[name].value
        errors = comparison["b"][name].standard_error, alone[name].standard_error
        assert errors[0] == pytest.approx(errors[1], rel=0.12), name


def test_few_clusters_use_the_t_distribution():
    y, scores, cluster = two_models(2, n_clusters=22, mean_size=15)
    [difference] = compare(y, scores, prior=0.2, cluster=cluster).differences("roc_auc")
    half_width = (difference.high - difference.low) / 2 / difference.standard_error
    assert 2.02 < half_width < 2.3
    with pytest.warns(match="only 8 clusters"):
        few = compare(y, scores, prior=0.2, cluster=cluster % 8)
    [difference] = few.differences("roc_auc")
    assert np.isnan(difference.low)


def test_weights_of_zero_leave_rows_out():
    y, scores, cluster = two_models(3)
    weight = np.ones(y.size, dtype=int)
    weight[::5] = 0
    kept = weight > 0
    weighted = compare(y, scores, prior=0.2, cluster=cluster, sample_weight=weight)
    selected = compare(
        y[kept], {n: s[kept] for n, s in scores.items()}, prior=0.2, cluster=cluster[kept]
    )
    for measure in ("roc_auc", "f1", "best_f1"):
        first, second = (c.differences(measure)[0] for c in (weighted, selected))
        assert first.standard_error == pytest.approx(second.standard_error, rel=1e-6), measure


def test_two_ways_are_refused():
    y, scores, cluster = two_models(4)
    with pytest.raises(InputError, match="no two-way clusters"):
        compare(y, scores, prior=0.2, cluster=[cluster, cluster])
