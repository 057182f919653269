"""Every public result prints as a few readable lines, and gives a data frame and plain data."""

import importlib
import json
import re
import warnings
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator
from sklearn.linear_model import LogisticRegression

import pueval
from pueval import AssumptionWarning, audit, labeling
from pueval.core.densities import score_densities
from pueval.model_selection import evaluate_cv
from pueval.simulate import binormal, label_at_random, ranking_study

REFERENCE = Path(__file__).parents[2] / "docs/reference/index.md"
# Classes that hold data or settings, and are no results.
NO_RESULTS = {
    *("Beta", "Normal", "Population", "Remainder"),
    *("AuditedRows", "Counts", "GroupTable", "Measure", "PUStratifiedKFold"),
}


@pytest.fixture(scope="module")
def made():
    """Return one of each of the objects that give results."""
    rng = np.random.default_rng(0)
    positive = np.arange(2000) < 600
    score = rng.normal(1.5 * positive, 1)
    labels = np.arange(2000) < 200
    counts = pueval.Counts.from_arrays(labels, score)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssumptionWarning)
        return SimpleNamespace(
            counts=counts,
            evaluation=pueval.evaluate(counts, prior=0.2, n_resamples=100),
            clustered=pueval.evaluate(
                labels, score, prior=0.2, cluster=np.arange(2000) // 4, level=None
            ),
            probabilities=pueval.evaluate(
                labels, 1 / (1 + np.exp(-score)), prior=0.2, n_resamples=100
            ),
            region=pueval.evaluate(counts, prior=(0.15, 0.25), level=None),
            estimated=pueval.evaluate(counts, level=None),
            comparison=pueval.compare(
                labels, {"a": score, "b": score + rng.normal(size=2000)}, prior=0.2
            ),
            groups=pueval.evaluate_by(
                labels, score, rng.integers(0, 3, 2000), prior=0.2, n_resamples=100
            ),
            times=pueval.evaluate_over_time(
                labels, score, np.arange(2000) % 10, every=1, prior=0.2, n_resamples=100
            ),
            cross=evaluate_cv(
                LogisticRegression(), score[:, None], labels, prior=0.2, cv=2, level=None
            ),
            rows=binormal(1.5, prevalence=0.3).draw(100, seed=0),
            plan=audit.plan(labels, score, budget=50, prior=0.2),
            sources=labeling.from_two_sources(labels, np.arange(2000) % 6 == 0),
            labels=labels,
            features=rng.normal(size=(2000, 2)),
            score=score,
        )


# How to get a result of each type from these objects.
RESULTS = {
    "Alarm": lambda made: pueval.Alarm("roc_auc", "2026-03", "2026-02", -0.1, -0.15, -0.05),
    "Baseline": lambda made: made.evaluation.baselines()["f1"],
    "Baselines": lambda made: made.evaluation.baselines(),
    "BestModelRange": lambda made: made.comparison.order_by_prior("roc_auc").best_models[0],
    "Best": lambda made: made.evaluation.best("f1"),
    "BoundTables": lambda made: made.evaluation.bounds().low,
    "BiasBounds": lambda made: made.evaluation.labeling_bias(2),
    "Bounds": lambda made: made.evaluation.bounds(),
    "ClusterEffects": lambda made: made.clustered.clusters,
    "Calibration": lambda made: made.probabilities.calibration(bins=4),
    "ChangeSequence": lambda made: made.times.sequence("roc_auc"),
    "Comparison": lambda made: made.comparison,
    "Contingency": lambda made: made.evaluation.table,
    "CostCurve": lambda made: made.evaluation.cost_curve(probability_costs=[0.2, 0.5]),
    "CurveBand": lambda made: made.evaluation.roc_band(),
    "DecisionCurve": lambda made: made.probabilities.decision_curve(),
    "DelayEstimate": lambda made: labeling.from_delay(
        np.arange(100), np.arange(100) + np.arange(100) % 7, as_of=110
    ),
    "DependenceBounds": lambda made: made.sources.bounds(2),
    "Diagnosis": lambda made: pueval.doctor(Path(__file__).parents[2] / "examples/spambase.csv"),
    "Difference": lambda made: made.comparison.differences("roc_auc")[0],
    "Differences": lambda made: made.comparison.differences(),
    "Disagreement": lambda made: made.comparison.ranking("roc_auc", "pulp").disagreements()[0],
    "Estimate": lambda made: made.evaluation["roc_auc"],
    "Evaluation": lambda made: made.evaluation,
    "EvidenceThresholds": lambda made: made.evaluation.evidence_thresholds(),
    "Expectation": lambda made: made.evaluation.expectation(np.square),
    "ForecastCurve": lambda made: made.plan.curve([50, 100], n_simulations=1),
    "GainsCurve": lambda made: made.evaluation.gains(),
    "GroupDifferences": lambda made: made.groups.differences("roc_auc"),
    "GroupEstimates": lambda made: made.groups["roc_auc"],
    "GroupEvaluation": lambda made: made.groups,
    "GroupShrinkage": lambda made: made.groups.shrinkage("roc_auc"),
    "Labeling": lambda made: label_at_random(made.rows.positive, label_frequency=0.5, seed=0),
    "LabelErrors": lambda made: pueval.LabelErrors(0.2, 0.05),
    "LargestPrior": lambda made: pueval.largest_prior(made.counts),
    "LocalPosterior": lambda made: made.evaluation.posterior([0, 1.5]),
    "MacroAverage": lambda made: made.groups.macro("roc_auc"),
    "MeasureBounds": lambda made: made.evaluation.labeling_bias(2)["f1"],
    "MeasureCurve": lambda made: made.evaluation.by_threshold("f1"),
    "MeasureFamily": lambda made: made.probabilities.family("probability"),
    "MemberEstimate": lambda made: next(iter(made.estimated.prior_estimate.members.values())),
    "Mixture": lambda made: made.evaluation.mixture,
    "Moments": lambda made: pueval.labeling_moments(
        made.counts, threshold=1.0, label_frequency=0.4
    )["f1"],
    "NetBenefit": lambda made: made.probabilities.net_benefit(0.3),
    "OperatingPoint": lambda made: made.evaluation.at(1.0),
    "OrderByPrior": lambda made: made.comparison.order_by_prior("roc_auc"),
    "RankingStudy": lambda made: ranking_study(
        made.rows.positive,
        {"a": made.rows.score, "b": -made.rows.score},
        partial(label_at_random, label_frequency=0.5),
        replications=2,
    ),
    "Plan": lambda made: made.plan,
    "PrecisionRecallCurve": lambda made: made.evaluation.pr(),
    "Presence": lambda made: made.evaluation.presence(),
    "PriorEstimate": lambda made: made.estimated.prior_estimate,
    "PropensityEstimate": lambda made: labeling.propensity_model(
        made.features, made.labels, labeling_features=[0], class_features=[1]
    ),
    "RandomLabelsTest": lambda made: labeling.test_random(
        made.features, made.labels, score=made.score
    ),
    "RankReversal": lambda made: pueval.RankReversal("a", "b", 0.3),
    "Rankings": lambda made: made.comparison.ranking("roc_auc", "pulp"),
    "RatioCurve": lambda made: made.evaluation.presence().curve,
    "Region": lambda made: made.region.region,
    "Resolution": lambda made: pueval.resolution(made.counts.to_bins(16), made.evaluation.mixture),
    "RocCurve": lambda made: made.evaluation.roc(),
    "ScoreDensities": lambda made: score_densities(made.counts, made.evaluation.mixture),
    "SensitivityGrid": lambda made: made.evaluation.sensitivity("roc_auc"),
    "SimulatedRows": lambda made: made.rows,
    "Splits": lambda made: made.cross.splits,
    "TimeChanges": lambda made: made.times.changes("roc_auc"),
    "TimeEstimates": lambda made: made.times["roc_auc"],
    "TimeEvaluation": lambda made: made.times,
    "TippingPoint": lambda made: made.evaluation.tipping_point("roc_auc", 0.8),
    "TopByQuery": lambda made: pueval.top_by_query(
        made.labels, made.score, np.arange(2000) % 50, k=5, label_frequency=0.4
    ),
    "TopRows": lambda made: made.evaluation.top(100),
    "TwoSources": lambda made: made.sources,
    "ValueRecovered": lambda made: pueval.value_recovered(
        made.labels, made.score, np.exp(made.score), threshold=1.0, prior=0.2
    ),
}


@pytest.mark.parametrize("name", RESULTS)
def test_results_print_briefly_and_give_frame_and_dict(name, made):
    result = RESULTS[name](made)
    assert type(result).__name__ == name
    for text in (str(result), repr(result)):
        assert len(text.splitlines()) <= 40, text
        assert max(map(len, text.splitlines())) <= 180, text
        assert "array(" not in text
    assert not re.search(r"\bnan\b|\binf\b", str(result))
    assert isinstance(result.frame(), pd.DataFrame)
    assert json.loads(json.dumps(result.to_dict(), allow_nan=False))


def test_no_public_result_is_missing():
    listed = re.findall(r"^\s*pueval\.([\w.]*\b[A-Z]\w+)\s*$", REFERENCE.read_text(), re.MULTILINE)
    missing = set()
    for name in listed:
        module, _, attribute = f"pueval.{name}".rpartition(".")
        if module == "pueval.torch":  # metrics, not results
            continue
        public = getattr(importlib.import_module(module), attribute)
        is_other = issubclass(public, (BaseEstimator, Exception)) or module == "pueval.displays"
        if not is_other and attribute not in {*RESULTS, *NO_RESULTS}:
            missing.add(attribute)
    assert not missing
