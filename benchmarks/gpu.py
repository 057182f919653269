"""Scores on a GPU: time to count and to evaluate them, written to benchmarks/GPU.md.

python -m benchmarks.gpu [largest number of rows]

Needs PyTorch and a GPU, and TorchMetrics for the comparison. Scores are on the GPU already; all
times include the transfer of results to the host. Labels are booleans, 2% of them true.
"""

import sys
import time
import warnings
from pathlib import Path

import numpy as np
import torch
from torchmetrics.functional.classification import binary_auroc

from pueval import BinnedScoresWarning, Counts, evaluate

PAGE = Path(__file__).with_name("GPU.md")
PRIOR = 0.08
TEXT = """# Scores on a GPU

`python -m benchmarks.gpu` writes this page. float32 scores and boolean labels are on the GPU
({device}, {cores} cores of the host); 2% of the rows are labeled. Best of {repeats} runs, in
milliseconds. *Count*: `Counts.from_arrays`; *GB*: the memory of the GPU it takes beside the arrays.
*Evaluate*: from the arrays to all measures with 95% intervals, prior given. *Host*: the same from
the same scores in host memory, without the transfer. *TorchMetrics*: `binary_auroc`, naive and
without an interval, from labels that are int64 already and without its checks of arguments, and the
memory it takes. More than 4 million labeled rows are binned by default, with 4,096 bins per
doubling of the score; *error* bounds the error of the naive AUC due to bins.

| rows | labeled | count | GB | evaluate | error | count, host | evaluate, host | TorchMetrics | GB|
|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|
"""


def milliseconds(function, repeats):
    times = []
    for _ in range(repeats + 1):  # the first is a warm-up
        torch.cuda.synchronize()
        start = time.perf_counter()
        result = function()
        torch.cuda.synchronize()
        times.append(time.perf_counter() - start)
        del result
    return 1000 * min(times[1:])


def draw(n, seed=0):
    generator = torch.Generator("cuda").manual_seed(seed)
    positive = torch.rand(n, generator=generator, device="cuda") < 0.1
    score = torch.randn(n, generator=generator, device="cuda") + 1.5 * positive
    labeled = positive & (torch.rand(n, generator=generator, device="cuda") < 0.2)
    return labeled, score


def everything(labeled, score):
    return evaluate(labeled, score, prior=PRIOR).frame()


def gigabytes(function):
    """Return the most memory of the GPU that a call takes beside what is there before."""
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    function()
    return (torch.cuda.max_memory_allocated() - before) / 1e9


def line(n, repeats):
    labeled, score = draw(n)
    count = milliseconds(lambda: Counts.from_arrays(labeled, score), repeats)
    memory = gigabytes(lambda: Counts.from_arrays(labeled, score))
    full = milliseconds(lambda: everything(labeled, score), repeats)
    counts = Counts.from_arrays(labeled, score)
    error = f"{counts.auc_error():.0e}" if counts.bins else "exact"
    n_labeled = counts.n_labeled
    del counts
    on_host = ["–", "–"]
    if n <= 100_000_000:
        y, s = labeled.cpu().numpy(), score.cpu().numpy()
        on_host = [
            f"{milliseconds(lambda: Counts.from_arrays(y, s), repeats):,.1f}",
            f"{milliseconds(lambda: everything(y, s), repeats):,.0f}",
        ]
    target = labeled.long()

    def naive_auc():
        return binary_auroc(score, target, validate_args=False)

    try:
        others = [f"{milliseconds(naive_auc, repeats):,.1f}", f"{gigabytes(naive_auc):.1f}"]
    except torch.OutOfMemoryError:
        others = ["out of memory", "–"]
    cells = [
        f"{n:,}", f"{n_labeled:,}", f"{count:,.1f}", f"{memory:.1f}", f"{full:,.0f}", error,
        *on_host, *others,
    ]  # fmt: skip
    return f"| {' | '.join(cells)} |"


def main(largest):
    warnings.simplefilter("ignore", BinnedScoresWarning)
    repeats = 5
    text = TEXT.format(
        device=torch.cuda.get_device_name(),
        cores=torch.multiprocessing.cpu_count(),
        repeats=repeats,
    )
    sizes = [n for n in 10 ** np.arange(6, 10) if n <= largest]
    for n in sizes:
        text += line(int(n), repeats) + "\n"
        print(text.splitlines()[-1], flush=True)
        torch.cuda.empty_cache()
    PAGE.write_text(text)


if __name__ == "__main__":
    main(int(float(sys.argv[1])) if len(sys.argv) > 1 else 1_000_000_000)
