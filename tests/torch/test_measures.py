"""One-number metrics: values, directions, collections, batches and epochs."""

import numpy as np
import pytest

from pueval import (
    AssumptionWarning,
    BinnedScoresWarning,
    InputError,
    UndefinedMeasureWarning,
    evaluate,
    metrics,
    priors,
)

torch = pytest.importorskip("torch", reason="needs PyTorch: make torch")
torchmetrics = pytest.importorskip("torchmetrics", reason="needs TorchMetrics: make torch")

import pueval.torch  # noqa: E402
from pueval.torch import (  # noqa: E402
    PUAUROC,
    PUAveragePrecision,
    PUError,
    PUEvaluation,
    PUF1Score,
    PUMeasure,
    PURecall,
)
from tests.torch.tensors import batches, joined, updated  # noqa: E402

NAMED = sorted(
    (kind for kind in vars(pueval.torch).values() if isinstance(kind, type)
     and issubclass(kind, PUMeasure) and kind is not PUMeasure),
    key=lambda kind: kind.__name__,
)  # fmt: skip
AREA_NAMES = {"roc_auc", "average_precision"}


def options_of(kind, threshold=0.8):
    return {} if kind.measure in AREA_NAMES else {"threshold": threshold}


@pytest.mark.parametrize("kind", NAMED, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("target", ["population", "unlabeled"])
def test_values_are_those_of_evaluate(rng, kind, target):
    parts = batches(rng, negatives=True)
    metric = kind(prior=0.15, purity=0.95, target=target, negative_label=2, **options_of(kind))
    value = updated(metric, parts).compute()
    assert value.shape == ()
    score, y = joined(parts)
    ev = evaluate(
        y, score, prior=0.15, purity=0.95, target=target, threshold=0.8, level=None,
        negative_label=2,
    )  # fmt: skip
    name = kind.measure
    expected = 1 - ev["accuracy"].value if kind is PUError else ev[name].value
    assert value.item() == pytest.approx(expected, abs=1e-6)
    assert kind.higher_is_better is (kind is not PUError)


def test_naive_values_are_those_of_torchmetrics(rng):
    """With prior 0, unlabeled rows are negatives."""
    parts = batches(rng, decimals=1)
    pairs = [
        (PUAUROC(prior=0.0), torchmetrics.classification.BinaryAUROC()),
        (PUAveragePrecision(prior=0.0), torchmetrics.classification.BinaryAveragePrecision()),
        (PUF1Score(prior=0.0, threshold=0.55), torchmetrics.classification.BinaryF1Score(0.55)),
        (PURecall(prior=0.0, threshold=0.55), torchmetrics.classification.BinaryRecall(0.55)),
    ]
    for ours, theirs in pairs:
        probabilities = [(scores.sigmoid(), labels) for scores, labels in parts]
        value = updated(ours, probabilities).compute().item()
        assert value == pytest.approx(updated(theirs, probabilities).compute().item(), abs=1e-6)


def test_the_best_threshold(rng):
    parts = batches(rng)
    score, y = joined(parts)
    value = updated(PUF1Score(prior=0.2, threshold="best"), parts).compute().item()
    slow = max(metrics.f1_score(y, score >= t, prior=0.2) for t in np.unique(score)[::7])
    assert slow <= value < slow + 0.01


def test_thresholds_are_required_where_they_matter():
    with pytest.raises(InputError, match="PUF1Score needs a threshold"):
        PUF1Score(prior=0.2)
    with pytest.raises(InputError, match="PUAUROC has no threshold; got 0.5"):
        PUAUROC(prior=0.2, threshold=0.5)
    with pytest.raises(InputError, match="threshold"):
        PUF1Score(prior=0.2, threshold=float("nan"))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "exactly one of prior"),
        ({"prior": 0.1, "prevalence": 0.2}, "got prior and prevalence"),
        ({"prior": 0.1, "estimate_every": 2}, "cannot be combined with estimate_every"),
        ({"estimate_every": 0}, "at least 1; got 0"),
        ({"estimate_every": True}, "at least 1; got True"),
        ({"prior": 1.2}, "prior must be"),
        ({"prior": 0.5, "purity": 0.4}, "purity"),
        ({"prior": 0.5, "purity": "guess"}, "got 'guess'"),
        ({"prior": 0.5, "target": "all"}, "target"),
    ],
)
@pytest.mark.parametrize("kind", [PUAUROC, PUEvaluation])
def test_assumptions_are_checked_at_once(kind, given, message):
    with pytest.raises(InputError, match=message):
        kind(**given)


@pytest.mark.parametrize(
    "given",
    [{"prevalence": 0.3}, {"label_frequency": 0.4}, {"prior": (0.1, 0.3)}, {"prior": 0.2}],
    ids=str,
)
def test_other_ways_to_give_the_prior(rng, given):
    parts = batches(rng)
    score, y = joined(parts)
    expected = evaluate(y, score, **given, level=None)["average_precision"].value
    value = updated(PUAveragePrecision(**given), parts).compute().item()
    assert value == pytest.approx(expected, abs=1e-6)


def test_estimated_purity(rng):
    parts = batches(rng)
    score, y = joined(parts)
    expected = evaluate(y, score, prevalence=0.3, purity="estimate", level=None)["roc_auc"].value
    value = updated(PUAUROC(prevalence=0.3, purity="estimate"), parts).compute().item()
    assert min(value, 1) == pytest.approx(expected, abs=1e-6)


def test_collections_share_a_state(rng):
    parts = batches(rng)
    apart = {
        "ap": updated(PUAveragePrecision(prior=0.2), parts).compute(),
        "f1": updated(PUF1Score(prior=0.2, threshold=0.5), parts).compute(),
    }
    together = torchmetrics.MetricCollection(
        {
            "ap": PUAveragePrecision(prior=0.2),
            "f1": PUF1Score(prior=0.2, threshold=0.5),
            "ev": PUEvaluation(prior=0.2, level=None),
        }
    )
    for _ in range(2):
        updated(together, parts)
        assert together.compute_groups == {0: ["ap", "ev", "f1"]}
        values = together.compute()
        assert values["ap"] == apart["ap"]
        assert values["f1"] == apart["f1"]
        assert values["ev"]["average_precision"].value == pytest.approx(apart["ap"].item(), 1e-6)
        together.reset()
        assert together["ap"].counts.n == 0


def test_collections_return_batches(rng):
    parts = batches(rng)
    together = torchmetrics.MetricCollection(
        {"auc": PUAUROC(prior=0.2), "ev": PUEvaluation(prior=0.2, level=None)}
    )
    for batch in parts:
        values = together(*batch)
        assert values["auc"] == updated(PUAUROC(prior=0.2), [batch]).compute()
        assert values["ev"] is None
    values = together.compute()
    assert values["auc"] == updated(PUAUROC(prior=0.2), parts).compute()
    assert values["ev"].counts.n == 3000


@pytest.mark.parametrize("bins", [None, 64])
def test_states_merge(rng, bins):
    parts = batches(rng)
    first, second = PUAUROC(prior=0.2, bins=bins), PUAUROC(prior=0.2, bins=bins)
    updated(first, parts[:2]).merge_state(updated(second, parts[2:]))
    assert first.compute() == updated(PUAUROC(prior=0.2, bins=bins), parts).compute()


def test_a_tracker_finds_the_best_epoch(rng):
    tracker = torchmetrics.MetricTracker(PUError(prior=0.2, threshold=0.8))
    for noise in (2.0, 0.0, 1.0):
        tracker.increment()
        for scores, labels in batches(rng):
            tracker.update(scores + noise * torch.sin(1000 * scores), labels)
    best, epoch = tracker.best_metric(return_step=True)
    assert epoch == 1
    assert best == tracker.compute_all()[1]


class TestBatches:
    @pytest.mark.parametrize("bins", [None, 256])
    def test_forward_returns_the_batch_and_adds_it(self, rng, bins):
        parts = batches(rng)
        metric = PUAUROC(prior=0.2, bins=bins)
        for batch in parts:
            alone = updated(PUAUROC(prior=0.2, bins=bins), [batch]).compute()
            assert metric(*batch) == alone
        assert metric.compute() == updated(PUAUROC(prior=0.2, bins=bins), parts).compute()
        assert metric.epoch == 0

    def test_a_batch_without_labeled_rows_is_nan(self):
        metric = PUAUROC(prior=0.2)
        assert metric(torch.tensor([1.0, 2.0]), torch.tensor([0, 0])).isnan()
        assert not metric(torch.tensor([1.0, 2.0]), torch.tensor([0, 1])).isnan()

    def test_a_batch_that_contradicts_the_prevalence_is_nan(self):
        metric = PUAUROC(prevalence=0.1)
        assert metric(torch.arange(40.0), torch.tensor([1, 1, 1, 0] * 10)).isnan()
        with pytest.raises(InputError, match="prevalence"):
            metric.compute()

    def test_before_the_first_estimate_batches_are_nan(self, rng):
        parts = batches(rng)
        metric = PUAUROC(estimate_every=2)
        assert metric(*parts[0]).isnan()
        metric.compute()
        assert not metric(*parts[1]).isnan()

    def test_an_epoch_without_labeled_rows_is_nan_with_a_warning(self):
        metric = PUAUROC(prior=0.2)
        metric.update(torch.tensor([1.0, 2.0]), torch.tensor([0, 0]))
        with pytest.warns(UndefinedMeasureWarning, match="there are no labeled rows"):
            assert metric.compute().isnan()


class TestEstimatedPrior:
    def test_is_reused_between_epochs_of_estimation(self, rng):
        metric = PUAveragePrecision(estimate_every=2)
        used = []
        for _ in range(4):
            parts = batches(rng)
            score, y = joined(parts)
            value = updated(metric, parts).compute().item()
            used.append((metric.prior_estimate.prior, metric.prior_epoch))
            prior = metric.prior_estimate.prior
            assert value == pytest.approx(
                metrics.average_precision_score(y, score, prior=prior), abs=1e-6
            )
            if metric.prior_epoch == metric.epoch:
                assert prior == priors.estimate(y, score).prior
            metric.reset()
        assert [epoch for _, epoch in used] == [0, 0, 2, 2]
        assert used[0] == used[1] != used[2] == used[3]
        assert f"prior {used[3][0]:.3g}, estimated in epoch 2" in repr(metric)

    def test_grows_with_the_rows_of_its_epoch(self, rng):
        parts = batches(rng)
        metric = PUAUROC(estimate_every=3)
        updated(metric, parts[:2]).compute()
        first = metric.prior_estimate.prior
        updated(metric, parts[2:]).compute()
        score, y = joined(parts)
        assert first != metric.prior_estimate.prior == priors.estimate(y, score).prior

    def test_an_epoch_without_compute_is_not_waited_for(self, rng):
        metric = PUAUROC(estimate_every=2)
        for epoch in range(4):
            updated(metric, batches(rng))
            if epoch != 2:
                metric.compute()
            metric.reset()
        assert metric.prior_epoch == 3

    def test_reset_without_rows_is_no_epoch(self, rng):
        metric = PUAUROC(estimate_every=2)
        metric.reset()
        assert metric.epoch == 0
        updated(metric, batches(rng))(*batches(rng)[0])
        metric.reset()
        metric.reset()
        assert metric.epoch == 1

    def test_can_be_forgotten(self, rng):
        metric = PUAUROC(estimate_every=9)
        updated(metric, batches(rng)).compute()
        metric.reset()
        metric.forget_prior()
        assert metric.prior_estimate is None
        updated(metric, batches(rng)).compute()
        assert metric.prior_epoch == 1

    def test_an_evaluation_says_where_its_prior_is_from(self, rng):
        metric = PUEvaluation(estimate_every=2, level=None)
        first = updated(metric, batches(rng)).compute()
        metric.reset()
        second = updated(metric, batches(rng)).compute()
        assert not first.assumptions.estimate_given
        assert second.assumptions.estimate_given
        assert second.assumptions.estimate is first.assumptions.estimate
        assert second.prior == first.prior


class TestEvaluation:
    def test_is_that_of_all_rows(self, rng):
        parts = batches(rng)
        score, y = joined(parts)
        given = {"prior": 0.2, "threshold": 0.5, "n_resamples": 100, "seed": 3, "level": 0.9}
        metric = PUEvaluation(**given)
        assert metric(*parts[0]) is None
        ev = updated(metric, parts[1:]).compute()
        assert repr(ev) == repr(evaluate(y, score, **given))
        assert metric.compute() is ev
        assert metric.higher_is_better is None

    def test_warns(self, rng):
        metric = updated(PUEvaluation(prior=0.9, level=None), batches(rng))
        with pytest.warns(AssumptionWarning, match=r"prior 0\.9"):
            metric.compute()

    def test_options_are_checked_at_once(self):
        with pytest.raises(InputError, match="level"):
            PUEvaluation(prior=0.2, level=2)
        with pytest.raises(ValueError, match="no_such_option"):
            PUEvaluation(prior=0.2, no_such_option=1)


def test_an_impossible_prior_is_said(rng):
    metric = updated(PUAUROC(prior=0.9), batches(rng))
    with pytest.warns(AssumptionWarning, match=r"prior 0\.9 does not fit"):
        metric.compute()


@pytest.mark.parametrize("kind", [PUAUROC, PUEvaluation])
def test_ties_of_half_precision_are_said(rng, kind):
    rows = [(scores.bfloat16(), labels) for scores, labels in batches(rng)]
    metric = updated(kind(prior=0.2), rows)
    with pytest.warns(BinnedScoresWarning, match="scores are bfloat16, and"):
        metric.compute()
    metric.reset()
    updated(metric, batches(rng)).compute()
    metric.reset()
    for batch in rows[:1]:
        metric(*batch)
    updated(kind(prior=0.2, bins=64), rows).compute()  # bins were asked for


def test_plots(rng):
    pytest.importorskip("matplotlib", reason="needs matplotlib")
    metric = updated(PUAUROC(prior=0.2), batches(rng))
    _, axes = metric.plot([metric.compute(), metric.compute()])
    assert axes.get_ylim()[1] >= 1


def test_every_metric_is_documented():
    for name in pueval.torch.__all__:
        text = getattr(pueval.torch, name).__doc__
        assert "{shared}" not in text
        if name != "risk_metrics":
            assert "label_frequency : float" in text
        if name == "PUAUROC":
            assert "threshold" not in text.split("prior : float")[0]
