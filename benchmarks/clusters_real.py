"""Real rows that belong together: intervals with and without `cluster=`.

    PUEVAL_DATA=<folder> python -m benchmarks.clusters_real

Half of the positive rows of each data set are labeled at random. Scores are out-of-fold, with all
rows of a subject (or trial) in one fold. Standard errors of `evaluate` are compared with the
standard deviation over subjects drawn again with replacement, 500 times, which uses no formula of
pueval. Writes the table to `CLUSTERS.md`.
"""

import os
import sys
import warnings
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pueval import evaluate
from pueval.model_selection import PUStratifiedKFold

RESULTS = Path(__file__).parent / "CLUSTERS.md"
DATA = {"parkinsons": "subject", "activity_s1": "trial"}
LABEL_FREQUENCY, DRAWS = 0.5, 500
MEASURES = {"roc_auc": "ROC AUC", "average_precision": "average precision", "f1": "F1"}
HEADER = (
    "data set", "rows", "clusters", "measure", "value", "SE, rows independent", "SE with cluster=",
    "SD, clusters drawn again", "95% CI without", "95% CI with",
)  # fmt: skip
SPEED = """
Speed of `evaluate` with AUC, average precision, F1 and best F1 and their intervals, 10 million rows
and a million clusters, on two cores (`python -m benchmarks.clusters`): 0.15 s without clusters and
0.25 s with them, ratios of 1.67 to 1.79 in three runs. If NumPy sorts without vector instructions
(`NPY_DISABLE_CPU_FEATURES="X86_V3 X86_V4 AVX512_ICL"`), the ratio is 1.2: 0.68 and 0.81 s.
The benchmark fails above 2.
"""


def read(folder, name):
    """Return features, classes and clusters."""
    table = pq.read_table(folder / f"{name}.parquet")
    X = np.column_stack([table[c].to_numpy() for c in table.column_names if c != "y"])
    labels = pq.read_table(folder / "labels" / f"{name}.parquet")
    return X, table["y"].to_numpy() == 1, np.array(labels[DATA[name]].to_pylist())


def measure(name, folder):
    """Return the lines of the table for one data set."""
    X, positive, cluster = read(folder, name)
    rng = np.random.default_rng(0)
    y = positive & (rng.random(y_size := positive.size) < LABEL_FREQUENCY)
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    folds = PUStratifiedKFold(5, shuffle=True, random_state=0)
    score = cross_val_predict(
        model, X, y.astype(int), groups=cluster, cv=folds, method="decision_function"
    )
    prior = float(np.mean(positive[~y]))
    plain = evaluate(y, score, prior=prior)
    clustered = evaluate(y, score, prior=prior, cluster=cluster)
    rows = [np.flatnonzero(cluster == k) for k in np.unique(cluster)]
    drawn = {key: [] for key in MEASURES}
    for _ in range(DRAWS):
        again = np.concatenate([rows[k] for k in rng.integers(0, len(rows), len(rows))])
        ev = evaluate(y[again], score[again], prior=prior, threshold=plain.threshold, level=None)
        for key in MEASURES:
            drawn[key].append(ev[key].unclipped)
    lines = []
    for key, title in MEASURES.items():
        first, second = plain.at(plain.threshold), clustered.at(plain.threshold)
        pair = (plain[key], clustered[key]) if key not in first else (first[key], second[key])
        errors = [estimate.standard_error for estimate in pair] + [np.std(drawn[key])]
        intervals = [f"{estimate.low:.3f} to {estimate.high:.3f}" for estimate in pair]
        cells = [name, f"{y_size:,}", len(rows), title, f"{pair[0].value:.3f}"]
        cells += [f"{error:.4f}" for error in errors] + intervals
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    print(name, clustered.clusters)
    return lines


def main():
    folder = os.environ.get("PUEVAL_DATA")
    if not folder:
        sys.exit("Set PUEVAL_DATA to the folder with the data sets.")
    warnings.simplefilter("ignore")
    lines = ["| " + " | ".join(HEADER) + " |", "|---|" + "---|" * (len(HEADER) - 1)]
    for name in DATA:
        lines += measure(name, Path(folder))
    print("\n".join(lines))
    table = "\n".join(lines)
    RESULTS.write_text(f"# Rows that belong together\n\n{__doc__}\n{table}\n{SPEED}")


if __name__ == "__main__":
    main()
