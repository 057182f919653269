"""``forward`` returns the value of a batch and adds it; a refused batch changes nothing."""

import pytest

from pueval import InputError, UndefinedMeasureWarning

torch = pytest.importorskip("torch", reason="needs PyTorch: make torch")
pytest.importorskip("torchmetrics", reason="needs TorchMetrics: make torch")

from pueval.torch import PUAUROC, PUAveragePrecision, PUEvaluation, UPURisk  # noqa: E402
from tests.torch.tensors import batches, updated  # noqa: E402


@pytest.mark.parametrize("bins", [None, 256])
def test_forward_returns_the_batch_and_adds_it(rng, bins):
    parts = batches(rng)
    metric = PUAUROC(prior=0.2, bins=bins)
    for batch in parts:
        alone = updated(PUAUROC(prior=0.2, bins=bins), [batch]).compute()
        assert metric(*batch) == alone
    assert metric.compute() == updated(PUAUROC(prior=0.2, bins=bins), parts).compute()
    assert metric.epoch == 0


def test_a_batch_without_labeled_rows_is_nan():
    metric = PUAUROC(prior=0.2)
    assert metric(torch.tensor([1.0, 2.0]), torch.tensor([0, 0])).isnan()
    assert not metric(torch.tensor([1.0, 2.0]), torch.tensor([0, 1])).isnan()


def test_a_batch_that_contradicts_the_prevalence_is_nan():
    metric = PUAUROC(prevalence=0.1)
    assert metric(torch.arange(40.0), torch.tensor([1, 1, 1, 0] * 10)).isnan()
    with pytest.raises(InputError, match="prevalence"):
        metric.compute()


def test_before_the_first_estimate_batches_are_nan(rng):
    parts = batches(rng)
    metric = PUAUROC(estimate_every=2)
    assert metric(*parts[0]).isnan()
    metric.compute()
    assert not metric(*parts[1]).isnan()


def test_an_epoch_without_labeled_rows_is_nan_with_a_warning():
    metric = PUAUROC(prior=0.2)
    metric.update(torch.tensor([1.0, 2.0]), torch.tensor([0, 0]))
    with pytest.warns(UndefinedMeasureWarning, match="there are no labeled rows"):
        assert metric.compute().isnan()


def test_known_negatives_without_unlabeled_rows_need_no_prior(rng):
    parts = batches(rng, 400, negatives=True)
    scores, labels = (torch.cat(column) for column in zip(*parts, strict=True))
    rows = scores[labels != 0], labels[labels != 0]
    for given in ({"prior": 0.2}, {"prevalence": 0.3}, {"estimate_every": 2}):
        alone = updated(PUAUROC(prior=0.0, unlabeled_label=2), [rows]).compute()
        metric = PUAUROC(**given, negative_label=2)
        assert metric(*rows) == alone or "estimate_every" in given
        assert metric.compute() == alone
        evaluation = updated(PUEvaluation(**given, negative_label=2, level=None), [rows])
        assert evaluation.compute()["roc_auc"].value == pytest.approx(alone.item(), abs=1e-6)
    metric = updated(PUAUROC(prior=0.2, negative_label=2, target="unlabeled"), [rows])
    with pytest.warns(UndefinedMeasureWarning, match="no unlabeled rows, and target is"):
        assert metric.compute().isnan()


def test_an_evaluation_of_no_labeled_rows_is_refused():
    metric = PUEvaluation(prior=0.2)
    metric.update(torch.tensor([1.0, 2.0]), torch.tensor([0, 0]))
    with pytest.raises(InputError, match="there are no labeled rows"):
        metric.compute()


@pytest.mark.parametrize("options", [{}, {"dist_sync_on_step": True}, {"compute_on_cpu": True}])
@pytest.mark.parametrize("bins", [None, 64])
def test_a_refused_batch_leaves_the_rows_of_the_epoch(rng, bins, options):
    parts = batches(rng)
    metric = PUAUROC(prior=0.2, bins=bins, **options)
    metric(*parts[0])
    scores, labels = parts[1]
    with pytest.raises(InputError, match="unrecognized label: 7"):
        metric(scores, torch.full_like(labels, 7))
    assert metric.counts.n == len(parts[0][0])
    assert metric.update_count == 1
    assert metric._to_sync
    assert metric._should_unsync
    assert metric.compute_on_cpu is ("compute_on_cpu" in options)
    for batch in parts[1:]:
        metric(*batch)
    assert metric.compute() == updated(PUAUROC(prior=0.2, bins=bins), parts).compute()


def test_a_batch_that_cannot_be_evaluated_leaves_the_rows_of_the_epoch(rng, monkeypatch):
    parts = batches(rng)
    metric = updated(PUAUROC(prior=0.2), parts[:2])
    expected = metric.compute()
    with monkeypatch.context() as patch:
        patch.setattr(PUAUROC, "_value", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            metric(*parts[2])
    assert metric.counts.n == 1000
    assert metric.compute() == expected


def test_errors_of_a_measure_are_not_hidden_in_batches(rng, monkeypatch):
    def refuse(*_):
        raise InputError("refused")

    monkeypatch.setattr(PUAUROC, "_value", refuse)
    with pytest.raises(InputError, match="refused"):
        PUAUROC(prior=0.2)(*batches(rng)[0])


def test_warnings_name_the_line_of_the_caller(rng):
    metric = PUAUROC(prior=0.2)
    metric.update(torch.tensor([1.0, 2.0]), torch.tensor([0, 0]))
    with pytest.warns(UndefinedMeasureWarning) as caught:
        metric.compute()
    assert [warning.filename for warning in caught] == [__file__]
    for metric in (PUAveragePrecision(prior=0.9), UPURisk(prior=0.9)):
        with pytest.warns(UserWarning, match="does not fit") as caught:
            updated(metric, batches(rng)).compute()
        assert [warning.filename for warning in caught] == [__file__]


@pytest.mark.filterwarnings("ignore:Dynamo")
@pytest.mark.parametrize("bins", [None, 64])
def test_in_a_compiled_function(rng, bins):
    parts = batches(rng, 1000)
    metric, uncompiled = PUAUROC(prior=0.2, bins=bins), PUAUROC(prior=0.2, bins=bins)

    @torch.compile(backend="eager")
    def step(scores, labels):
        value = metric(2 * scores, labels)
        metric.update(2 * scores, labels)
        return value, metric.compute()

    for scores, labels in parts:
        value, so_far = step(scores, labels)
        assert value == uncompiled(2 * scores, labels)
        uncompiled.update(2 * scores, labels)
        assert so_far == uncompiled.compute()
