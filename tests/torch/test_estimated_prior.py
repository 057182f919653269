"""``estimate_every``: estimated priors over epochs, failed estimates and checkpoints."""

import io
import warnings

import pytest

from pueval import AssumptionWarning, InputError, metrics, priors
from pueval.errors import Contradiction

torch = pytest.importorskip("torch", reason="needs PyTorch: make torch")
torchmetrics = pytest.importorskip("torchmetrics", reason="needs TorchMetrics: make torch")

from pueval.torch import PUAUROC, PUAveragePrecision, PUEvaluation, UPURisk  # noqa: E402
from tests.torch.tensors import batches, joined, updated  # noqa: E402


def test_is_reused_between_epochs_of_estimation(rng):
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


def test_grows_with_the_rows_of_its_epoch(rng):
    parts = batches(rng)
    metric = PUAUROC(estimate_every=3)
    updated(metric, parts[:2]).compute()
    first = metric.prior_estimate.prior
    updated(metric, parts[2:]).compute()
    score, y = joined(parts)
    assert first != metric.prior_estimate.prior == priors.estimate(y, score).prior


def test_an_epoch_without_compute_is_not_waited_for(rng):
    metric = PUAUROC(estimate_every=2)
    for epoch in range(4):
        updated(metric, batches(rng))
        if epoch != 2:
            metric.compute()
        metric.reset()
    assert metric.prior_epoch == 3


def test_reset_without_rows_is_no_epoch(rng):
    metric = PUAUROC(estimate_every=2)
    metric.reset()
    assert metric.epoch == 0
    updated(metric, batches(rng))(*batches(rng)[0])
    metric.reset()
    metric.reset()
    assert metric.epoch == 1


def test_can_be_forgotten(rng):
    metric = PUAUROC(estimate_every=9)
    updated(metric, batches(rng)).compute()
    metric.reset()
    metric.forget_prior()
    assert metric.prior_estimate is None
    updated(metric, batches(rng)).compute()
    assert metric.prior_epoch == 1


def test_an_evaluation_says_where_its_prior_is_from(rng):
    metric = PUEvaluation(estimate_every=2, level=None)
    first = updated(metric, batches(rng)).compute()
    metric.reset()
    second = updated(metric, batches(rng)).compute()
    assert not first.assumptions.estimate_given
    assert second.assumptions.estimate_given
    assert second.assumptions.estimate is first.assumptions.estimate
    assert second.prior == first.prior


def reversed_scores(parts):
    """Scores like those of an untrained network, with an AUC below .5."""
    return [(-scores, labels) for scores, labels in parts]


def unrelated_scores(parts):
    """Scores that do not separate: their order does not depend on the class."""
    return [(torch.sin(1e5 * scores), labels) for scores, labels in parts]


FAILED = r"prior could not be estimated in epoch {}: .* {}, and the next epoch estimates again"


@pytest.mark.parametrize("change", [reversed_scores, unrelated_scores])
@pytest.mark.parametrize("kind", [PUAUROC, UPURisk])
def test_failed_estimates_are_nan_and_tried_again(rng, kind, change):
    metric = updated(kind(estimate_every=5), change(batches(rng)))
    with pytest.warns(AssumptionWarning, match=FAILED.format(0, "The value is NaN")) as caught:
        assert metric.compute().isnan()
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert metric.prior_estimate is None
    metric.reset()
    assert not updated(metric, batches(rng)).compute().isnan()
    assert metric.prior_epoch == 1


@pytest.mark.parametrize("kind", [PUAUROC, PUEvaluation])
def test_failed_estimates_reuse_the_last_one(rng, kind):
    options = {"level": None} if kind is PUEvaluation else {}
    metric = kind(estimate_every=1, **options)
    updated(metric, batches(rng)).compute()
    estimate = metric.prior_estimate
    metric.reset()
    parts = reversed_scores(batches(rng))
    reused = f"The prior {estimate.prior:.3g} of epoch 0 is reused"
    with pytest.warns(AssumptionWarning) as caught:
        value = updated(metric, parts).compute()
    first = next(warning for warning in caught if "could not be estimated" in str(warning.message))
    assert reused in str(first.message)
    assert first.filename == __file__
    assert metric.prior_estimate is estimate
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = updated(kind(prior=estimate, **options), parts).compute()
    assert repr(value) == repr(expected)
    metric.reset()
    updated(metric, batches(rng)).compute()
    assert metric.prior_epoch == 2


def test_an_evaluation_without_any_estimate_is_refused(rng):
    metric = updated(PUEvaluation(estimate_every=2), reversed_scores(batches(rng)))
    with pytest.raises(InputError, match="labeled positives score lower"):
        metric.compute()


def test_failed_estimates_of_the_purity_are_nan(rng, monkeypatch):
    def refuse(*_, **__):
        raise InputError("no purity fits.")

    monkeypatch.setattr("pueval.priors._purity_estimate.estimate_purity", refuse)
    metric = updated(PUAUROC(prior=0.2, purity="estimate"), batches(rng))
    with pytest.warns(AssumptionWarning, match="the purity could not be estimated in epoch 0: no"):
        assert metric.compute().isnan()
    metric = updated(PUAUROC(label_frequency=1e-3, purity="estimate"), batches(rng))
    with pytest.raises(InputError, match="label_frequency"):
        metric.compute()


def test_checkpoints_have_epoch_and_estimate(rng):
    """A resumed run reuses the estimate; the file loads with ``weights_only=True``."""
    module = torch.nn.ModuleDict({"metric": PUAveragePrecision(estimate_every=3)})
    metric = module["metric"]
    for _ in range(2):
        updated(metric, batches(rng)).compute()
        metric.reset()
    file = io.BytesIO()
    torch.save(module.state_dict(), file)
    file.seek(0)
    resumed = torch.nn.ModuleDict({"metric": PUAveragePrecision(estimate_every=3)})
    resumed.load_state_dict(torch.load(file, weights_only=True))
    copy = resumed["metric"]
    assert (copy.epoch, copy.prior_epoch) == (2, 0)
    assert copy.prior_estimate == metric.prior_estimate
    parts = batches(rng)
    assert updated(copy, parts).compute() == updated(metric, parts).compute()
    assert copy.prior_epoch == 0
    copy.reset()
    updated(copy, batches(rng)).compute()
    assert copy.prior_epoch == 3


def test_checkpoints_keep_the_kind_of_warnings(rng):
    estimate = priors.PriorEstimate(
        "tilt", 0.5, 1.0, (0.4, 0.6), None, 0.3, None, {},
        (Contradiction("too large."), "few rows."), 0.95,
    )  # fmt: skip
    metric, copy = PUAUROC(estimate_every=2), PUAUROC(estimate_every=2)
    metric.prior_estimate, metric.prior_epoch = estimate, 0
    copy.load_state_dict(metric.state_dict())
    assert copy.prior_estimate == estimate
    assert [type(text) for text in copy.prior_estimate.warnings] == [Contradiction, str]


def test_checkpoints_have_nothing_of_a_given_prior(rng):
    """So a network can be saved with such a metric and loaded without it."""
    metric = updated(PUAUROC(prior=0.2), batches(rng))
    assert not metric.state_dict()
    metric.load_state_dict({})
    with pytest.raises(RuntimeError, match="_extra_state"):
        PUAUROC(estimate_every=2).load_state_dict({})


def test_a_tracker_estimates_in_every_epoch(rng):
    """As docs/howto/training-loop.md says: each epoch has its own copy of the metric."""
    tracker = torchmetrics.MetricTracker(PUAUROC(estimate_every=5))
    for _ in range(2):
        tracker.increment()
        updated(tracker, batches(rng)).compute()
    first, second = (tracker[index].prior_estimate.prior for index in (1, 2))
    assert first != second
