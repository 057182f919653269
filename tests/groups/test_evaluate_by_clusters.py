"""Groups whose rows belong to clusters."""

from __future__ import annotations

import numpy as np
import pytest

from pueval import InputError, evaluate, evaluate_by
from tests.uncertainty.test_clusters import clustered_rows


@pytest.mark.filterwarnings("ignore:shares of labeled rows differ")
@pytest.mark.parametrize("nested", [True, False])
def test_groups_have_the_intervals_of_evaluate(nested):
    y, score, cluster = clustered_rows(0, 200, 10, 0.6, constant=True)
    by = cluster % 2 if nested else np.random.default_rng(1).integers(0, 2, y.size)
    groups = evaluate_by(y, score, by, prior=0.2, threshold=1.0, cluster=cluster)
    plain = evaluate_by(y, score, by, prior=0.2, threshold=1.0)
    for k in (0, 1):
        rows = by == k
        alone = evaluate(
            y[rows], score[rows], prior=0.2, threshold=1.0, cluster=cluster[rows], seed=1
        )
        for name in ("roc_auc", "average_precision", "f1", "precision", "recall", "accuracy"):
            assert groups[name].value[k] == plain[name].value[k]
            error = groups[name].standard_error[k]
            assert error == pytest.approx(alone[name].standard_error, rel=0.15), name
            if name in {"roc_auc", "recall"}:
                assert error > 1.3 * plain[name].standard_error[k]


def test_group_evaluations_keep_their_clusters():
    y, score, cluster = clustered_rows(1, 100, 10, 0.6)
    groups = evaluate_by(y, score, cluster % 2, prior=0.2, cluster=cluster)
    assert groups.evaluation(1).clusters.n_clusters == 50


def test_differences_need_independent_groups():
    y, score, cluster = clustered_rows(2, 100, 10, 0.6)
    nested = evaluate_by(y, score, cluster % 2, prior=0.2, cluster=cluster)
    difference = nested.differences("roc_auc", reference=0)
    errors = nested["roc_auc"].standard_error
    assert difference.standard_error[1] == pytest.approx(np.hypot(*errors))
    margin = (difference.high[1] - difference.low[1]) / 2 / difference.standard_error[1]
    assert 1.98 < margin < 2.1
    with pytest.raises(InputError, match="pass reference"):
        nested.differences("roc_auc")
    crossed = evaluate_by(y, score, np.arange(y.size) % 2, prior=0.2, cluster=cluster)
    with pytest.raises(InputError, match="clusters have rows in several groups"):
        crossed.differences("roc_auc", reference=0)
    with pytest.raises(InputError, match="clusters have rows in several groups"):
        crossed.macro("roc_auc")


def test_groups_with_few_clusters_say_so():
    y, score, cluster = clustered_rows(3, 100, 10, 0.6)
    by = np.where(cluster < 9, "few", "many")
    groups = evaluate_by(y, score, by, prior=0.2, cluster=cluster)
    assert "clusters have labeled rows" in groups.notes[0]
    assert not groups.notes[1]
    assert np.isfinite(groups["roc_auc"].value).all()
    assert np.isnan(groups["f1"].low).tolist() == [True, False]


def test_what_has_no_clusters_is_refused():
    y, score, cluster = clustered_rows(4, 100, 10, 0.6)
    options = {"prior": 0.2, "cluster": cluster}
    with pytest.raises(InputError, match="shrink"):
        evaluate_by(y, score, cluster % 6, shrink=True, **options)
    with pytest.raises(InputError, match="two-way"):
        evaluate_by(y, score, cluster % 2, prior=0.2, cluster=[cluster, cluster])
    with pytest.raises(InputError, match="weights of zero"):
        evaluate_by(y, score, cluster % 2, sample_weight=np.arange(y.size) % 2, **options)


@pytest.mark.parametrize("group_prior", ["label_frequency", "each"])
def test_priors_of_groups_widen(group_prior):
    y, score, cluster = clustered_rows(5, 150, 12, 0.6, constant=True)
    given = {} if group_prior == "each" else {"label_frequency": 0.6}
    clustered, plain = (
        evaluate_by(y, score, cluster % 2, group_prior=group_prior, cluster=c, **given)
        for c in (cluster, None)
    )
    assert (clustered["precision"].standard_error > plain["precision"].standard_error).all()


def test_printing_without_a_macro_average():
    """Clusters with rows in several groups leave it and its note out, and nothing else."""
    y, score, cluster = clustered_rows(6, 100, 10, 0.6)
    across = evaluate_by(y, score, np.arange(y.size) % 2, prior=0.2, cluster=cluster)
    within = evaluate_by(y, score, cluster % 2, prior=0.2, cluster=cluster)
    assert "macro average" in str(within)
    assert "macro average" not in str(across)
    about_others = [
        line for line in str(within).splitlines() if "macro average" not in line.lower()
    ]
    assert len(str(across).splitlines()) == len(about_others)
    assert across.to_dict()["macro"] is None
    assert across.to_dict()["overall"]["clusters"]["n_clusters"] == 100
