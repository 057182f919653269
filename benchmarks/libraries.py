"""Time of pueval and other libraries for the same numbers, as multiples of np.sort.

Usage: python benchmarks/libraries.py [largest number of rows] [--write]

All libraries are timed alternately in the same process, and the best of several runs counts.
torchmetrics, pulearn and confidenceinterval are skipped if they are not installed. --write puts the
table between the markers in benchmarks/RESULTS.md, and the picture into docs/images/speed.png.
"""

import gc
import importlib.metadata
import importlib.util
import os
import platform
import sys
import time
from itertools import pairwise
from pathlib import Path

import numpy as np
from sklearn.metrics import roc_auc_score
from speed import LABELED, peak

from pueval import evaluate, metrics

ROOT = Path(__file__).parent.parent
SIZES = (100_000, 1_000_000, 10_000_000)
PACKAGES = ("numpy", "scikit-learn", "torchmetrics", "torch", "pulearn", "confidenceinterval")


def data(n, dtype=np.float64):
    rng = np.random.default_rng(0)
    positive = rng.random(n) < 0.1
    logit = rng.normal(size=n) + 1.5 * positive - 1
    label = (positive & (rng.random(n) < LABELED / 0.1)).astype(np.int64)
    return label, (1 / (1 + np.exp(-logit))).astype(dtype), positive[label == 0].mean()


def there(package):
    return importlib.util.find_spec(package) is not None


def contenders(label, score, prior):
    """Return, by name, what a function computes, the function, and its largest number of rows."""

    def everything(level=None):
        ev = evaluate(label, score, prior=prior, level=level)
        return ev, ev.roc(), ev.pr()

    found = {
        "np.sort of the scores": (lambda: np.sort(score), 10**8),
        "pueval: all measures, both curves, AUC": (everything, 10**8),
        "pueval: the same, with 95% intervals": (lambda: everything(0.95), 10**8),
        "pueval: corrected AUC": (
            lambda: metrics.roc_auc_score(label, score, prior=prior),
            10**8,
        ),
        "scikit-learn: roc_auc_score (naive)": (lambda: roc_auc_score(label, score), 10**8),
    }
    if there("torchmetrics"):
        import torch
        from torchmetrics.functional.classification import binary_auroc

        given = torch.from_numpy(score), torch.from_numpy(label)
        found["torchmetrics: AUROC, exact (naive)"] = (lambda: binary_auroc(*given), 10**8)
        found["torchmetrics: AUROC, 1,000 bins (naive)"] = (
            lambda: binary_auroc(*given, thresholds=1000),
            10**6,  # a matrix of rows times thresholds
        )
    if there("pulearn"):
        from pulearn.metrics import pu_roc_auc_score

        found["pulearn: pu_roc_auc_score"] = (
            lambda: pu_roc_auc_score(label, score, pi=prior),
            10**8,
        )
    if there("confidenceinterval"):
        import confidenceinterval

        found["confidenceinterval: roc_auc_score, DeLong (naive)"] = (
            lambda: confidenceinterval.roc_auc_score(label, score, confidence_level=0.95),
            10**7,
        )
    return found


def seconds(functions, repeats):
    """Return the best time of each, run alternately; runs over five seconds are not repeated."""
    best = dict.fromkeys(functions, np.inf)
    for repeat in range(repeats):
        for name, function in functions.items():
            if repeat and best[name] > 5:
                continue
            gc.collect()
            start = time.perf_counter()
            function()
            best[name] = min(best[name], time.perf_counter() - start)
    return best


def memory(n):
    """Return the peak memory, as a multiple of the size of the scores, by their type."""
    sizes = {}
    for dtype in (np.float64, np.float32, np.int32):
        label, score, prior = data(n)
        score = (score * 1e6).astype(dtype) if dtype == np.int32 else score.astype(dtype)

        def everything(label=label, score=score, prior=prior):
            ev = evaluate(label, score, prior=prior, level=None)
            return ev.roc(), ev.pr()

        sizes[np.dtype(dtype).name] = peak(everything) / score.nbytes
    return sizes


def measure(largest):
    times = {}
    for n in SIZES:
        if n > largest:
            break
        label, score, prior = data(n)
        functions = {
            name: function
            for name, (function, most) in contenders(label, score, prior).items()
            if n <= most
        }
        times[n] = seconds(functions, repeats=5 if n > 10**6 else 7)
        print(f"{n:,} rows done", flush=True)
    return times


def table(times):
    sizes = [*times]
    names = [*times[sizes[0]]]
    base = names[0]
    lines = ["| as multiples of np.sort | " + " | ".join(f"{n:,} rows" for n in sizes)]
    lines[0] += " | growth per tenfold rows |"
    lines.append("|---|" + "---:|" * (len(sizes) + 1))
    for name in names:
        cells, known = [], [n for n in sizes if name in times[n]]
        for n in sizes:
            if n not in known:
                cells.append("–")
            elif name == base:
                cells.append(f"{times[n][name] * 1000:,.1f} ms")
            else:
                cells.append(f"{times[n][name] / times[n][base]:,.2f}")
        growth = [times[b][name] / times[a][name] for a, b in pairwise(known)]
        cells.append(", ".join(f"{g:.1f} ×" for g in growth) or "–")
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def machine():
    versions = ", ".join(
        f"{name} {importlib.metadata.version(name)}" for name in PACKAGES if _installed(name)
    )
    load = os.getloadavg()[0]
    return (
        f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}, "
        f"{versions}; load average {load:.1f}."
    )


def _installed(name):
    try:
        importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return False
    return True


def draw(times, path):
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(8, 4.5), layout="constrained")
    for name in times[min(times)]:
        known = [n for n in times if name in times[n]]
        ours = name.startswith("pueval")
        axes.plot(
            known,
            [times[n][name] for n in known],
            marker="o",
            label=name,
            lw=2.2 if ours else 1.2,
            ls="-" if ours else "--",
        )
    axes.set(xscale="log", yscale="log", xlabel="rows", ylabel="seconds")
    axes.legend(fontsize=7, loc="center left", bbox_to_anchor=(1, 0.5), frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=150)


def write(section, text):
    """Replace the text between the markers of a section in RESULTS.md."""
    path = ROOT / "benchmarks" / "RESULTS.md"
    begin, end = f"<!-- {section} -->", f"<!-- end of {section} -->"
    content = path.read_text(encoding="utf-8")
    before, _, rest = content.partition(begin)
    _, _, after = rest.partition(end)
    path.write_text(f"{before}{begin}\n{text}\n{end}{after}", encoding="utf-8")


def main():
    numbers = [argument for argument in sys.argv[1:] if not argument.startswith("--")]
    times = measure(int(float(numbers[0])) if numbers else SIZES[-1])
    sizes = memory(min(10**7, max(times)))
    text = (
        f"{machine()}\n\n{table(times)}\n\nPeak memory of everything, as a multiple of the scores: "
        + ", ".join(f"{name} {size:.1f}" for name, size in sizes.items())
        + "."
    )
    print(f"\n{text}")
    if "--write" in sys.argv:
        write("libraries", text)
        draw(times, ROOT / "docs" / "images" / "speed.png")


if __name__ == "__main__":
    main()
