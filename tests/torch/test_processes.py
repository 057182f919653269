"""Two processes give what one process gives, exactly."""

import numpy as np
import pytest

from pueval import InputError

torch = pytest.importorskip("torch", reason="needs PyTorch: make torch")
pytest.importorskip("torchmetrics", reason="needs TorchMetrics: make torch")

from pueval.torch import NNPURisk, PUAveragePrecision, PUEvaluation, PUF1Score  # noqa: E402
from tests.torch.tensors import batches, epoch_values, run_in_processes  # noqa: E402

pytestmark = pytest.mark.skipif(
    not torch.distributed.is_available() or not torch.distributed.is_gloo_available(),
    reason="needs a PyTorch with gloo",
)

METRICS = {
    "exact": lambda: PUAveragePrecision(prior=0.2),
    "binned": lambda: PUAveragePrecision(prior=0.2, bins=64),
    "f1": lambda: PUF1Score(prevalence=0.3, threshold="best"),
    "risk": lambda: NNPURisk(prior=0.2, loss="logistic"),
    "evaluation": lambda: PUEvaluation(prior=0.2, n_resamples=50),
    "estimated": lambda: PUAveragePrecision(estimate_every=2),
}
# Batches by epoch and process; the second process has three times as many rows, or all of them.
DRAW = np.random.default_rng(0)
EPOCHS = [batches(DRAW, 2000), batches(DRAW, 1500)]
SHARDS = [[parts[:1], parts[1:]] for parts in EPOCHS]
WIDE, SHORT = (batches(DRAW, 1000, dtype=dtype) for dtype in (torch.float64, torch.bfloat16))
WITHOUT_ROWS = {
    f"{name}, {dtype}": (METRICS[name], [[[], parts]])
    for name in ("exact", "binned")
    for dtype, parts in (("float64", WIDE), ("bfloat16", SHORT))
}
# The first process has no rows, and counts epochs nevertheless.
WITHOUT_ROWS["estimated"] = (METRICS["estimated"], [[[], parts] for parts in EPOCHS])
JOBS = {name: (make, SHARDS) for name, make in METRICS.items()}
JOBS |= {f"{name}, no rows": job for name, job in WITHOUT_ROWS.items()}


@pytest.fixture(scope="module")
def together():
    return run_in_processes({name: (make(), shards) for name, (make, shards) in JOBS.items()})


@pytest.mark.filterwarnings("ignore:scores are bfloat16")
@pytest.mark.parametrize("name", JOBS)
def test_two_processes(together, name):
    make, shards = JOBS[name]
    alone = epoch_values(make(), [first + second for first, second in shards])
    for process in together:
        assert str(process[name]) == str(alone)
        if name != "evaluation":
            assert process[name] == alone


@pytest.mark.parametrize("n_rows", [0, 500])
def test_scores_on_the_cpu_are_sent_from_the_device_of_the_metric(n_rows):
    """With ``compute_on_cpu``. The device is one without data, in the place of a GPU."""
    sent = []

    def send(tensor, group=None):
        sent.append((tensor.device.type, tensor.dtype, len(tensor)))
        is_flag = tensor.dtype == torch.int64
        return [torch.tensor([1])] * 2 if is_flag else [tensor, tensor]

    metric = PUAveragePrecision(prior=0.2, distributed_available_fn=lambda: True)
    metric.update(*(column[:n_rows] for column in SHORT[0]))
    metric._device = torch.device("meta")
    metric.sync(dist_sync_fn=send)
    assert sent == [
        ("meta", torch.int64, 1), ("meta", torch.float64, n_rows), ("meta", torch.int8, n_rows),
    ]  # fmt: skip
    metric.unsync()
    assert metric.counts.n == n_rows


def test_a_failed_evaluation_leaves_the_rows_of_the_process():
    def send(tensor, group=None):
        return [tensor, tensor]

    given = {"dist_sync_fn": send, "distributed_available_fn": lambda: True}
    metric = PUAveragePrecision(prevalence=0.01, **given)
    metric.update(*WIDE[0])
    with pytest.raises(InputError, match="prevalence"):
        metric.compute()
    assert metric.counts.n == 500
    metric.reset()
    assert metric.counts.n == 0
