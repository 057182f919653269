"""Rows as tensors, and what a metric computes in several processes."""

import tempfile
from pathlib import Path

import numpy as np
import torch
import torch.distributed as dist

from tests.conftest import draw


def batches(rng, n=3000, *, size=500, dtype=torch.float32, decimals=None, negatives=False):
    """Scores and labels in batches; label 2 is a known negative."""
    positive, score, labeled = draw(rng, n, prevalence=0.3, label_frequency=0.4)
    if decimals is not None:
        score = np.round(score, decimals)
    y = labeled.astype(np.int64)
    if negatives:
        y = np.where(~positive & (rng.random(n) < 0.2), 2, y)
    scores, labels = torch.as_tensor(score).to(dtype), torch.as_tensor(y)
    return [(scores[i : i + size], labels[i : i + size]) for i in range(0, n, size)]


def joined(parts):
    """All scores and labels of the batches as arrays; half precision as float32."""
    scores, labels = (torch.cat(column) for column in zip(*parts, strict=True))
    if scores.dtype in {torch.float16, torch.bfloat16}:
        scores = scores.float()
    return scores.cpu().numpy(), labels.cpu().numpy()


def updated(metric, parts):
    for scores, labels in parts:
        metric.update(scores, labels)
    return metric


def epoch_values(metric, epochs):
    """Return the values of each epoch, and when the prior was last estimated."""
    values = []
    for parts in epochs:
        values.append(updated(metric, parts).compute())
        metric.reset()
    return values, metric.prior_epoch


def _run_in_one_process(rank, size, folder, jobs):
    dist.init_process_group(
        "gloo", init_method=f"file://{folder}/meeting", rank=rank, world_size=size
    )
    results = {
        name: epoch_values(metric, [shards[rank] for shards in epochs])
        for name, (metric, epochs) in jobs.items()
    }
    torch.save(results, Path(folder) / f"{rank}.pt")
    dist.destroy_process_group()


def run_in_processes(jobs, size=2):
    """Return the values of each metric, by process.

    Jobs have a metric, and batches by epoch and process.
    """
    with tempfile.TemporaryDirectory() as folder:
        torch.multiprocessing.spawn(_run_in_one_process, args=(size, folder, jobs), nprocs=size)
        return [torch.load(Path(folder) / f"{rank}.pt", weights_only=False) for rank in range(size)]
