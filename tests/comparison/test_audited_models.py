"""compare() with audited rows."""

import json

import numpy as np
import pytest

from pueval import compare, evaluate
from pueval.errors import InputError
from tests.audit_estimates.audits import label_rows, make_rows, uniform_audit


def two_models(seed, n=6000, size=300, labeling="up", noise=(0.5, 0.5)):
    rng = np.random.default_rng(seed)
    positive, score = make_rows(rng, n=n)
    scores = {
        name: score + scale * rng.normal(size=n) for name, scale in zip("ab", noise, strict=True)
    }
    labeled = label_rows(rng, positive, score, labeling)
    return positive, labeled, scores, uniform_audit(rng, positive, labeled, size)


@pytest.mark.parametrize("labeling", ["smooth", "any"])
@pytest.mark.parametrize("target", ["population", "unlabeled"])
def test_models_are_evaluated_as_alone(labeling, target):
    _, labeled, scores, audited = two_models(0)
    options = {"audited": audited, "labeling": labeling, "target": target, "n_resamples": 200}
    comparison = compare(labeled, scores, **options)
    for name, score in scores.items():
        alone = evaluate(labeled, score, **options)
        assert comparison[name]["f1"] == alone["f1"]
        assert comparison.values("roc_auc")[name] == alone["roc_auc"].unclipped
        assert comparison.values("best_f1")[name] == alone.best("f1").unclipped
    for difference in comparison.differences():
        estimates = [comparison[name].get(difference.measure) for name in scores]
        if all(estimate is None or np.isfinite(estimate.high) for estimate in estimates):
            assert difference.standard_error > 0
        else:  # resamples without false positives have infinite likelihood ratios
            assert difference.measure == "positive_likelihood_ratio"


def test_a_model_does_not_differ_from_itself():
    _, labeled, scores, audited = two_models(1)
    comparison = compare(labeled, {"a": scores["a"], "again": scores["a"]}, audited=audited)
    for difference in comparison.differences():
        assert difference.value == 0
        assert difference.standard_error < 1e-9


def test_differences_are_paired():
    # Similar models share most of their error.
    _, labeled, scores, audited = two_models(2, noise=(0.5, 0.2))
    scores["b"] = scores["a"] + 0.1 * scores["b"]
    comparison = compare(labeled, scores, audited=audited)
    [difference] = comparison.differences("roc_auc")
    single = comparison["a"]["roc_auc"]
    assert difference.standard_error < (single.high - single.low) / 4


def test_subset_and_weights():
    _, labeled, scores, audited = two_models(3)
    scores["c"] = scores["a"] + scores["b"]
    weight = np.random.default_rng(0).integers(1, 3, size=labeled.size)
    comparison = compare(labeled, scores, audited=audited, sample_weight=weight, n_resamples=200)
    part = comparison.subset(["a", "b"])
    assert part.names == ("a", "b")
    [difference] = part.differences("roc_auc")
    whole = comparison.differences("roc_auc")[0]
    assert difference.value == whole.value
    assert difference.adjusted_pvalue >= difference.pvalue


def test_text_and_data(tmp_path):
    _, labeled, scores, audited = two_models(5)
    comparison = compare(labeled, scores, audited=audited, n_resamples=100)
    data = json.loads(json.dumps(comparison.to_dict()))
    # Each model has a prior of its own, and the prior cannot be moved.
    assert data["assumptions"]["prior"] is None
    assert data["order_by_prior"] == {}
    priors = sorted(ev.prior for ev in comparison.evaluations.values())
    assert [model["audit"]["prior"]["value"] for model in data["models"].values()] == pytest.approx(
        [ev.audit.prior.value for ev in comparison.evaluations.values()]
    )
    shown = f"prior {priors[0]:.3g} to {priors[1]:.3g} (by the audit and each model's scores)"
    assert shown in " ".join(repr(comparison).split())
    comparison.to_html(tmp_path / "models.html")
    assert "audited unlabeled rows" in (tmp_path / "models.html").read_text()


def test_refusals():
    _, labeled, scores, audited = two_models(4)
    with pytest.raises(InputError, match="cannot be combined"):
        compare(labeled, scores, audited=audited, prior=0.1)
    with pytest.raises(InputError, match="needs audited"):
        compare(labeled, scores, labeling="any")
    comparison = compare(labeled, scores, audited=audited, n_resamples=100)
    with pytest.raises(InputError, match="the audit determines it"):
        comparison.order_by_prior("f1")
    assert np.isnan(compare(labeled, scores, audited=audited, level=None).differences()[0].low)


@pytest.mark.thorough
@pytest.mark.parametrize(
    "labeling",
    ["up", *(pytest.param(name, marks=pytest.mark.slow) for name in ("random", "step"))],
)
def test_size_for_equally_good_models(labeling):
    """Equally good models differ significantly in about 5% of cases."""
    names = ("roc_auc", "average_precision", "best_f1")
    replications, rejected = 60, dict.fromkeys(names, 0)
    for seed in range(replications):
        _, labeled, scores, audited = two_models([seed, 3], labeling=labeling)
        comparison = compare(labeled, scores, audited=audited, n_resamples=100)
        for name in names:
            rejected[name] += comparison.differences(name)[0].pvalue < 0.05
    # 5% plus 2.6 standard errors.
    assert max(rejected.values()) / replications <= 0.05 + 2.6 * 0.028, rejected
