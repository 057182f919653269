"""Metrics in a MetricCollection share a state only if they have the same labels and bins."""

import pytest

torch = pytest.importorskip("torch", reason="needs PyTorch: make torch")
torchmetrics = pytest.importorskip("torchmetrics", reason="needs TorchMetrics: make torch")

from pueval.torch import PUAUROC, PUAveragePrecision, PUEvaluation, PUF1Score  # noqa: E402
from tests.torch.tensors import batches, updated  # noqa: E402


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


LABELED_FIRST = [
    (torch.tensor([2.0, 3.0, 1.0]), torch.tensor([1, 1, 1])),
    (torch.tensor([0.0, 1.0, 2.0, 4.0]), torch.tensor([2, 0, 0, 2])),
]


@pytest.mark.parametrize("bins", [None, 16])
def test_other_labels_have_their_own_state(bins):
    """All rows of the first batch are labeled, so that the states are equal after it."""
    given = {"prior": 0.0, "bins": bins}
    labels = {
        "a": {"negative_label": 2},
        "b": {"unlabeled_label": 2, "negative_label": 0},
        "c": {"unlabeled_label": 0.0, "negative_label": 2.0},
    }
    together = torchmetrics.MetricCollection(
        {name: PUAUROC(**given, **values) for name, values in labels.items()}
    )
    updated(together, LABELED_FIRST)
    assert sorted(together.compute_groups.values()) == [["a", "c"], ["b"]]
    for name, metric in together.items():
        alone = updated(PUAUROC(**given, **labels[name]), LABELED_FIRST)
        assert metric.counts.n_negative == alone.counts.n_negative == 2
        assert (metric.counts.negative == alone.counts.negative).all()


@pytest.mark.parametrize("labels", [{"negative_label": 2}, {"unlabeled_label": -1}])
def test_unused_labels_are_refused_by_the_metric_without_them(labels):
    together = torchmetrics.MetricCollection(
        {"a": PUAUROC(prior=0.2, **labels), "b": PUAUROC(prior=0.2)}
    )
    scores, positive = LABELED_FIRST[0]
    together.update(scores, positive)
    assert together.compute_groups == {0: ["a"], 1: ["b"]}
    with pytest.raises(ValueError, match="label"):
        together.update(scores, torch.tensor([*labels.values(), 1, 1]))


def test_missing_labels_share_a_state():
    given = {"prior": 0.2, "unlabeled_label": float("nan")}
    together = torchmetrics.MetricCollection(
        {"a": PUAUROC(**given), "b": PUAveragePrecision(**given)}
    )
    together.update(torch.tensor([1.0, 2.0]), torch.tensor([1.0, float("nan")]))
    assert together.compute_groups == {0: ["a", "b"]}


@pytest.mark.parametrize("bins", [None, 16])
def test_batches_after_a_shared_state(rng, bins):
    parts = batches(rng)
    together = torchmetrics.MetricCollection(
        {"a": PUAUROC(prior=0.2, bins=bins), "b": PUAveragePrecision(prior=0.2, bins=bins)}
    )
    updated(together, parts[:3])
    for batch in parts[3:]:
        together(*batch)
    assert together["a"].counts.n == together["b"].counts.n == 3000
