"""One-number metrics: values, directions, collections, batches and epochs."""

import numpy as np
import pytest

from pueval import (
    AssumptionWarning,
    BinnedScoresWarning,
    InputError,
    evaluate,
    metrics,
)
from pueval.scoring import get_scorer_names
from pueval.scoring._score_function import PRIOR_FREE

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


def test_thresholds_are_numbers_or_best():
    for threshold in ("max", "0.5"):
        with pytest.raises(InputError, match=f"a number or .best.; got '{threshold}'"):
            PUF1Score(prior=0.2, threshold=threshold)


def of_measure(name):
    class Metric(PUMeasure, measure=name):
        pass

    return Metric


NAMES = {name.removeprefix("neg_") for name in get_scorer_names()} | {"f2"}


@pytest.mark.parametrize("name", sorted(NAMES - set(PRIOR_FREE)))
@pytest.mark.parametrize("target", ["population", "unlabeled"])
def test_every_measure_that_uses_the_prior_is_a_metric(rng, name, target):
    parts = [(scores.double().sigmoid(), labels) for scores, labels in batches(rng)]
    options = {"prior": 0.2, "target": target}
    kind = of_measure(name)
    given = options | ({"threshold": 0.6} if kind._needs_threshold else {})
    score, y = joined(parts)
    ev = evaluate(y, score, **options, threshold=0.6, level=None)
    value = updated(kind(**given), parts).compute().item()
    assert value == pytest.approx(ev[name].value, rel=1e-5)
    assert kind.higher_is_better is (f"neg_{name}" not in get_scorer_names())
    binned = updated(kind(**given, bins=4096), parts).compute().item()
    assert binned == pytest.approx(value, rel=0.1, abs=0.02)
    if kind._needs_threshold:
        updated(kind(**options, threshold="best"), parts).compute()
    else:
        with pytest.raises(InputError, match=r"Metric has no threshold; got 0\.6"):
            kind(**options, threshold=0.6)


@pytest.mark.parametrize("name", PRIOR_FREE)
def test_measures_without_a_prior_are_no_metrics(name):
    with pytest.raises(InputError, match=rf"Call pueval\.ranking\.{name} with the counts"):
        of_measure(name)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("roc_acu", "unknown measure 'roc_acu'. Did you mean 'roc_auc'?"),
        ("AP", "unknown measure 'AP'. Did you mean 'average_precision'?"),
        ("ndgc_score", "Did you mean 'ndcg_score'?"),
        ("zzz", "The measures are roc_auc, average_precision, accuracy, .*, f_pb, .*, and f<beta>"),
    ],
)
def test_unknown_measures(name, message):
    with pytest.raises(InputError, match=message.replace("?", r"\?")):
        of_measure(name)


def test_the_base_class_is_no_metric():
    with pytest.raises(InputError, match="PUMeasure is the base of metrics and has no measure"):
        PUMeasure(prior=0.2)


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


@pytest.mark.parametrize("bins", [None, 64])
def test_states_merge(rng, bins):
    parts = batches(rng)
    first, second = PUAUROC(prior=0.2, bins=bins), PUAUROC(prior=0.2, bins=bins)
    updated(first, parts[:2]).merge_state(updated(second, parts[2:]))
    assert first.compute() == updated(PUAUROC(prior=0.2, bins=bins), parts).compute()


@pytest.mark.parametrize("bins", [None, 256])
@pytest.mark.parametrize("as_dict", [False, True])
def test_values_and_epochs_count_merged_rows(rng, bins, as_dict):
    parts = [(scores.bfloat16(), labels) for scores, labels in batches(rng)]
    metric, other = (PUAUROC(prior=0.2, bins=bins) for _ in range(2))
    with pytest.warns(BinnedScoresWarning, match="bfloat16"):
        expected = updated(PUAUROC(prior=0.2, bins=bins), parts).compute()
    updated(metric, [(scores.float(), labels) for scores, labels in parts[:2]]).compute()
    updated(other, parts[2:])
    if as_dict:
        metric.merge_state({name: getattr(other, name) for name in other._defaults})
        assert metric.compute() == expected
    else:
        metric.merge_state(other)
        with pytest.warns(BinnedScoresWarning, match="bfloat16"):
            assert metric.compute() == expected
    metric.reset()
    assert metric.epoch == 1
    metric.merge_state(other)
    metric.reset()
    assert metric.epoch == 2
    metric.merge_state(metric.clone())  # no rows
    metric.reset()
    assert metric.epoch == 2


def test_a_tracker_finds_the_best_epoch(rng):
    tracker = torchmetrics.MetricTracker(PUError(prior=0.2, threshold=0.8))
    for noise in (2.0, 0.0, 1.0):
        tracker.increment()
        for scores, labels in batches(rng):
            tracker.update(scores + noise * torch.sin(1000 * scores), labels)
    best, epoch = tracker.best_metric(return_step=True)
    assert epoch == 1
    assert best == tracker.compute_all()[1]


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

    def test_has_no_number_to_plot(self, rng):
        metric = updated(PUEvaluation(prior=0.2, level=None), batches(rng))
        for values in ((), (metric.compute(),)):
            with pytest.raises(NotImplementedError, match=r"metric\.compute\(\)\.plot\(\)"):
                metric.plot(*values)


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


@pytest.mark.parametrize(
    ("dtype", "finest"),
    [
        (torch.bfloat16, 128),
        (torch.float16, 1024),
        (torch.float8_e4m3fn, 8),
        (torch.float8_e5m2, 4),
    ],
    ids=str,
)
def test_ties_of_half_precision_are_said_for_bins_that_are_finer(rng, dtype, finest):
    """A doubling of the score holds 2ᵏ numbers of a type with k binary digits."""
    rows = [(scores.to(dtype), labels) for scores, labels in batches(rng)]
    updated(PUAUROC(prior=0.2, bins=finest), rows).compute()  # so many bins were asked for
    for bins in (2 * finest, 4096, None):
        name = str(dtype).removeprefix("torch.")
        with pytest.warns(BinnedScoresWarning, match=f"scores are {name}, and .*% of the labeled"):
            updated(PUAUROC(prior=0.2, bins=bins), rows).compute()


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
