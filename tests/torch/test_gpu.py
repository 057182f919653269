"""Metrics on CUDA tensors give what they give on the CPU. Run with ``-m gpu``."""

import pytest

from pueval import BinnedScoresWarning

torch = pytest.importorskip("torch", reason="needs PyTorch: make torch")
pytest.importorskip("torchmetrics", reason="needs TorchMetrics: make torch")

from pueval.torch import (  # noqa: E402
    PUAUROC,
    PUAveragePrecision,
    PUEvaluation,
    PUF1Score,
    risk_metrics,
)
from tests.torch.tensors import batches, updated  # noqa: E402
from tests.torch.test_states import DTYPES, same  # noqa: E402

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device"),
]


def on_gpu(parts):
    return [(scores.cuda(), labels.cuda()) for scores, labels in parts]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("bins", [None, 16, 256])
def test_counts(rng, dtype, bins):
    parts = batches(rng, 20_000, dtype=dtype, decimals=2, negatives=True)
    given = {"prior": 0.2, "bins": bins, "negative_label": 2}
    here, there = PUAUROC(**given), PUAUROC(**given).to("cuda")
    assert same(updated(there, on_gpu(parts)).counts, updated(here, parts).counts)


def test_subnormal_scores():
    values = torch.tensor([1e-40, -1e-40, 1e-44, -1e-45, 0.0, 1e-38, 3e38])
    labels = torch.tensor([1, 0, 0, 1, 0, 0, 0])
    here, there = PUAUROC(prior=0.2, bins=16), PUAUROC(prior=0.2, bins=16).to("cuda")
    here.update(values, labels)
    there.update(values.cuda(), labels.cuda())
    assert same(there.counts, here.counts)


@pytest.mark.parametrize("bins", [None, 256])
def test_values(rng, bins):
    parts = batches(rng, 20_000)
    for make in (
        lambda: PUAveragePrecision(prior=0.2, bins=bins),
        lambda: PUF1Score(prior=0.2, threshold="best", bins=bins),
    ):
        value = updated(make().to("cuda"), on_gpu(parts)).compute()
        assert value.device.type == "cuda"
        assert value.cpu() == updated(make(), parts).compute()
    there = updated(risk_metrics(prior=0.2, bins=bins).to("cuda"), on_gpu(parts)).compute()
    here = updated(risk_metrics(prior=0.2, bins=bins), parts).compute()
    assert {name: value.item() for name, value in there.items()} == {
        name: value.item() for name, value in here.items()
    }


def test_evaluation(rng):
    parts = batches(rng, 20_000)
    there = updated(PUEvaluation(prior=0.2).to("cuda"), on_gpu(parts)).compute()
    assert repr(there) == repr(updated(PUEvaluation(prior=0.2), parts).compute())


def test_a_computed_metric_moves(rng):
    parts = batches(rng)
    for metric in (PUEvaluation(prior=0.2, level=None), PUAUROC(prior=0.2, bins=64)):
        updated(metric, parts).compute()
        metric.to("cuda")
        updated(metric, on_gpu(parts)).compute()
        assert metric.to("cpu").counts.n == 6000


def test_compute_on_cpu(rng):
    parts = batches(rng)
    metric = updated(PUAUROC(prior=0.2, compute_on_cpu=True).to("cuda"), on_gpu(parts))
    assert {scores.device.type for scores in metric.scores} == {"cpu"}
    assert metric.compute().cpu() == updated(PUAUROC(prior=0.2), parts).compute()


@pytest.mark.parametrize("bins", [None, 64])
def test_compute_on_cpu_with_several_processes(rng, bins):
    """Tensors are sent to itself, twice; backends of GPUs send no tensors of the CPU."""

    def send(tensor, group=None):
        assert tensor.is_cuda
        return [tensor, tensor]

    parts = batches(rng)
    metric = PUAUROC(
        prior=0.2, bins=bins, compute_on_cpu=True, dist_sync_fn=send,
        distributed_available_fn=lambda: True,
    ).to("cuda")  # fmt: skip
    value = updated(metric, on_gpu(parts)).compute().cpu()
    assert value == updated(PUAUROC(prior=0.2, bins=bins), parts + parts).compute()


def test_set_dtype_and_device(rng):
    metric = PUAUROC(prior=0.2, bins=64).set_dtype(torch.float64).to("cuda", torch.float16)
    value = updated(metric, on_gpu(batches(rng))).compute()
    assert (value.dtype, value.device.type) == (torch.float64, "cuda")


@pytest.mark.parametrize("bins", [None, 64])
def test_scores_on_another_device_than_the_metric(rng, bins):
    parts = batches(rng)
    expected = updated(PUAUROC(prior=0.2, bins=bins), parts).compute()
    for place, given in (("cpu", on_gpu(parts)), ("cuda", parts)):
        value = updated(PUAUROC(prior=0.2, bins=bins).to(place), given).compute()
        assert (value.device.type, value.cpu()) == (place, expected)


def test_mixed_precision_forward(rng):
    parts = batches(rng, dtype=torch.bfloat16)
    metric = PUAUROC(prior=0.2).to("cuda")
    with pytest.warns(BinnedScoresWarning, match="bfloat16"):
        expected = [updated(PUAUROC(prior=0.2), [batch]).compute() for batch in parts]
    with torch.autocast("cuda", dtype=torch.bfloat16):
        values = [metric(*batch).cpu() for batch in on_gpu(parts)]
    assert values == expected
