"""Train a network with nnPU, and stop by a naive or by a corrected number.

Handwritten digits: even ones are positive, and 30% of them are labeled. The classes of the test
rows are known, so we see how good the network was in the epoch that each number would have kept.

    python examples/train_nnpu.py              # 20 seeds, digits of scikit-learn
    python examples/train_nnpu.py 5 landsat    # 5 seeds, a data set in the folder PUEVAL_DATA
    python examples/train_nnpu.py 20 digits docs/images/training_loop.png
"""

import os
import sys
from pathlib import Path

import numpy as np
import torch
from sklearn.datasets import load_digits
from sklearn.metrics import average_precision_score
from sklearn.preprocessing import StandardScaler
from torch import nn
from torchmetrics import MetricCollection

from pueval.torch import NNPURisk, PUAccuracy, PUAveragePrecision

EPOCHS, PATIENCE, BATCH = 60, 15, 256
LABEL_FREQUENCY = 0.3


def load(name):
    """Return inputs and true classes."""
    if name == "digits":
        X, digit = load_digits(return_X_y=True)
        return X, digit % 2 == 0
    import pandas as pd

    rows = pd.read_parquet(Path(os.environ["PUEVAL_DATA"]) / f"{name}.parquet")
    return rows.drop(columns="y").to_numpy(), rows["y"].to_numpy() == 1


def nnpu_loss(score, labeled, prior):
    """Return the objective of Kiryo et al. (2017) with the sigmoid loss."""
    of_positives = prior * torch.sigmoid(-score[labeled]).mean()
    of_negatives = torch.sigmoid(score[~labeled]).mean()
    of_negatives = of_negatives - prior * torch.sigmoid(score[labeled]).mean()
    # Below zero the network overfits: go back.
    return of_positives + of_negatives if of_negatives >= 0 else -of_negatives


def train(X, positive, seed):
    """Train one network; return its numbers after each epoch."""
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(X))
    labeled = torch.as_tensor(positive & (rng.random(len(X)) < LABEL_FREQUENCY))
    training, validation, test = np.split(order, [len(X) // 2, 3 * len(X) // 4])
    scaler = StandardScaler().fit(X[training])
    inputs = torch.as_tensor(scaler.transform(X), dtype=torch.float32)

    network = nn.Sequential(
        nn.Linear(X.shape[1], 200), nn.ReLU(), nn.Linear(200, 200), nn.ReLU(), nn.Linear(200, 1)
    )  # fmt: skip
    optimizer = torch.optim.Adam(network.parameters(), lr=1e-3)
    # From the label frequency: hidden positives among the unlabeled rows.
    n_labeled = int(labeled[training].sum())
    prior = n_labeled * (1 / LABEL_FREQUENCY - 1) / (len(training) - n_labeled)

    known = {"label_frequency": LABEL_FREQUENCY}
    metrics = MetricCollection(
        {
            "naive accuracy": PUAccuracy(prior=0.0, threshold=0.0),
            "corrected accuracy": PUAccuracy(**known, threshold=0.0),
            "naive average precision": PUAveragePrecision(prior=0.0),
            "corrected average precision": PUAveragePrecision(**known),
            "nnPU risk": NNPURisk(**known),
        }
    )
    naive_loss = nn.BCEWithLogitsLoss()
    history = []
    for _ in range(EPOCHS):
        for rows in np.array_split(rng.permutation(training), -(-len(training) // BATCH)):
            loss = nnpu_loss(network(inputs[rows]).squeeze(1), labeled[rows], prior)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        with torch.no_grad():
            score = network(inputs).squeeze(1)
        metrics.update(score[validation], labeled[validation])
        numbers = {name: value.item() for name, value in metrics.compute().items()}
        metrics.reset()
        # Lower is better for these two.
        numbers["nnPU risk"] *= -1
        numbers["naive log loss"] = -naive_loss(
            score[validation], labeled[validation].float()
        ).item()
        numbers["true average precision"] = average_precision_score(positive[test], score[test])
        numbers["true accuracy"] = np.mean((score[test] >= 0).numpy() == positive[test])
        history.append(numbers)
    return {name: np.array([numbers[name] for numbers in history]) for name in history[0]}


def kept_epoch(values):
    """Return the epoch that early stopping keeps: the best before PATIENCE epochs without better.

    >>> kept_epoch([1, 3, 2])
    1
    """
    best = 0
    for epoch, value in enumerate(values):
        if value > values[best]:
            best = epoch
        if epoch - best >= PATIENCE:
            break
    return best


def draw(runs, path):
    """Draw the first run, and how good the networks of all runs are where each number stops."""
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    lines = {
        "naive accuracy": ("#808080", "-"),
        "corrected average precision": ("#0b6e99", "-"),
        "true average precision": ("#e07b39", "--"),
    }
    for name, (color, style) in lines.items():
        values = runs[0][name]
        left.plot(np.arange(1, EPOCHS + 1), values, color=color, linestyle=style, label=name)
        if not name.startswith("true"):
            epoch = kept_epoch(values)
            left.plot(epoch + 1, values[epoch], "o", color=color)
    left.set(title="one run; dots: where to stop", xlabel="epoch", ylim=(0.6, 1.01))
    left.legend(loc="center right", bbox_to_anchor=(1, 0.62))
    for position, name in enumerate(["naive accuracy", "corrected average precision"]):
        values = [run["true average precision"][kept_epoch(run[name])] for run in runs]
        spread = np.linspace(-0.12, 0.12, len(values))
        right.plot(position + spread, values, "o", color=lines[name][0], alpha=0.7)
    labels = ["naive\naccuracy", "corrected\naverage precision"]
    right.set_xticks([0, 1], labels)
    right.set(title=f"{len(runs)} runs", xlabel="stopped by", xlim=(-0.5, 1.5), ylim=(0.8, 1))
    right.set_ylabel("true average precision")
    figure.savefig(path, dpi=110, metadata={"Software": None})


def main():
    torch.set_num_threads(1)
    n_seeds = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    name = sys.argv[2] if len(sys.argv) > 2 else "digits"
    X, positive = load(name)
    runs = [train(X, positive, seed) for seed in range(n_seeds)]
    print(f"{name}: {len(X):,} rows, {n_seeds} seeds, {EPOCHS} epochs")
    print("                              kept    number   true average       true")
    print("stopped by                   epoch  it showed      precision   accuracy")
    stops = {}
    for number in [key for key in runs[0] if not key.startswith("true")]:
        epochs = np.array([kept_epoch(run[number]) for run in runs])
        shown, precision, accuracy = (
            np.array([run[key][epoch] for run, epoch in zip(runs, epochs, strict=True)])
            for key in (number, "true average precision", "true accuracy")
        )
        stops[number] = precision
        print(
            f"{number:27} {epochs.mean() + 1:6.1f} {abs(shown.mean()):10.3f} "
            f"{precision.mean():14.3f} {accuracy.mean():10.3f}"
        )
    best = np.mean([run["true average precision"].max() for run in runs])
    print(f"best of all epochs, by the true classes {best:17.3f}")
    worse = np.sum(stops["naive accuracy"] < stops["corrected average precision"])
    print(f"Naive accuracy kept a worse network in {worse} of {n_seeds} seeds.")
    if len(sys.argv) > 3:
        draw(runs, sys.argv[3])


if __name__ == "__main__":
    main()
