"""Families of measures on real data with hidden labels, written to benchmarks/FAMILIES_REAL.md.

python -m benchmarks.families_real [replications]

Needs the data sets: set PUEVAL_DATA to their folder.
"""

import os
import sys
import warnings
from functools import lru_cache
from multiprocessing import Pool
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.priors.real_data import read
from pueval import evaluate
from pueval.core.field_measures import FAMILIES
from pueval.errors import AssumptionWarning
from pueval.evaluation.measure_titles import measure_title

PAGE = Path(__file__).with_name("FAMILIES_REAL.md")
SETS = ("bank", "landsat", "spambase")
ROWS, LABEL_FREQUENCY = 4000, 0.3
NAMES = (*FAMILIES["probability"], *FAMILIES["top"])
TEXT = """# Families of measures on real data

`python -m benchmarks.families_real` writes this page. Scores are out-of-fold probabilities of a
logistic regression of the true classes. The rows of a data set are the population: each replication
draws {rows:,} of them with replacement and labels {share:.0%} of the positives at random. The prior
follows from the true prevalence, which is given. {replications} replications per data set.

*Bias* is that of the corrected value as a share of the naive one's; "free" measures are the same
with and without a prior. *Held* is the share of 95% intervals that hold the value of all rows of
the data set.

logAUC and ROC enrichment are too high where a model is good. They rest on false positive rates near
0, where corrected rates are noisy, and a monotone curve has the smallest rate that reaches each
recall.
"""


@lru_cache
def population(name):
    """Return classes, scores and the true values of a data set."""
    X, y = read(Path(os.environ["PUEVAL_DATA"]), name)
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=300))
    score = cross_val_predict(model, X, y, cv=5, method="predict_proba")[:, 1]
    positive = y == 1
    truth = evaluate(positive, score, prior=0.0, level=None)
    return positive, score, np.array([truth[name].value for name in NAMES])


def replicate(job):
    name, seed = job
    warnings.simplefilter("ignore", AssumptionWarning)
    positive, score, _ = population(name)
    rng = np.random.default_rng([seed, 77])
    drawn = rng.integers(score.size, size=ROWS)
    labeled = positive[drawn] & (rng.random(ROWS) < LABEL_FREQUENCY)
    ev = evaluate(labeled, score[drawn], prevalence=float(positive.mean()))
    return [[ev[m].unclipped, ev[m].low, ev[m].high, ev[m].naive] for m in NAMES]


def main(replications):
    lines = [TEXT.format(rows=ROWS, share=LABEL_FREQUENCY, replications=replications)]
    header = "".join(f" {name}: true | naive | corrected | bias | held |" for name in SETS)
    lines += [f"| measure |{header}", "|---|" + "---:|---:|---:|---:|---:|" * len(SETS)]
    columns = []
    with Pool(int(os.environ.get("PUEVAL_JOBS", os.cpu_count()))) as pool:
        for name in SETS:
            found = np.array(pool.map(replicate, [(name, seed) for seed in range(replications)]))
            columns.append((population(name)[2], *np.moveaxis(found, 2, 0)))
    for k, measure in enumerate(NAMES):
        cells = []
        for truth, value, low, high, naive in columns:
            off, naive_off = value[:, k].mean() - truth[k], naive[:, k].mean() - truth[k]
            free = np.allclose(value[:, k], naive[:, k])
            bias = "free" if free else f"{abs(off / naive_off):.2f}"
            held = np.mean((low[:, k] <= truth[k]) & (truth[k] <= high[:, k]))
            numbers = f"{truth[k]:.3f} | {naive[:, k].mean():.3f} | {value[:, k].mean():.3f}"
            cells.append(f" {numbers} | {bias} | {held:.2f} |")
        lines.append(f"| {measure_title(measure)} |" + "".join(cells))
    PAGE.write_text("\n".join(lines) + "\n")
    print(PAGE.read_text())


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
