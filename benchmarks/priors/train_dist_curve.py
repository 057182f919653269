"""Train the regression of DistCurve: python -m benchmarks.priors.train_dist_curve.

Small networks are trained on curves of simulated mixtures with clean labels. The estimate is the
mean of their predictions. Curves are kept in the cache folder. The stored weights were trained on
an earlier version of the mixtures: at most 2,000 labeled and 20,000 unlabeled rows, and no hard or
easy positives beyond those of plain normal mixtures.
"""

from __future__ import annotations

import argparse
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPRegressor

from benchmarks.priors.score_sets import cache_folder
from benchmarks.priors.training_mixtures import draw_sample
from pueval.priors._dist_curve import curve_features, mean_curve, normal_positions, predict_prior

CURVES = 10
HIDDEN = (64, 32)
WEIGHTS = Path(__file__).parents[2] / "src" / "pueval" / "priors" / "dist_curve.npz"


def draw_example(rng: np.random.Generator) -> tuple[np.ndarray, float]:
    """Return the curve features and the prior of one random mixture."""
    labeled, unlabeled, prior, _ = draw_sample(rng, pure=True)
    sizes = int(labeled.sum()), int(unlabeled.sum())
    curve = mean_curve(*normal_positions(labeled, unlabeled, sizes), CURVES, rng)
    return curve_features(curve, sizes), prior


def examples(seed: int, number: int) -> tuple[np.ndarray, np.ndarray]:
    """Return simulated examples, from the cache if possible."""
    path = cache_folder() / f"dist_curve_{seed}_{number}.npz"
    if not path.exists():
        begin = time.perf_counter()
        rng = np.random.default_rng((seed, 5))
        features, prior = zip(*(draw_example(rng) for _ in range(number)), strict=True)
        path.parent.mkdir(parents=True, exist_ok=True)
        np.savez(path, features=np.array(features, dtype=np.float32), prior=np.array(prior))
        print(f"drew {number} examples in {time.perf_counter() - begin:.0f} s", flush=True)
    with np.load(path) as stored:
        return stored["features"].astype(float), stored["prior"]


def train(
    features: np.ndarray, prior: np.ndarray, *, epochs: int, networks: int
) -> dict[str, np.ndarray]:
    """Return scaling, weights and offsets as named arrays; the first axis is the network."""
    center, scale = features.mean(axis=0), features.std(axis=0)
    inputs = np.clip((features - center) / scale, -3, 3)
    members = []
    for seed in range(networks):
        model = MLPRegressor(
            hidden_layer_sizes=HIDDEN,
            alpha=1e-3,
            batch_size=512,
            max_iter=epochs,
            # No early stopping: the loss is so small that every step looks converged.
            tol=0,
            n_iter_no_change=epochs,
            random_state=seed,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            members.append(model.fit(inputs, prior))
        print(f"network {seed + 1}: loss {model.loss_:.5f}", flush=True)
    arrays = {"center": center, "scale": scale}
    for layer in range(len(HIDDEN) + 1):
        arrays[f"weight{layer}"] = np.stack([one.coefs_[layer] for one in members])
        arrays[f"offset{layer}"] = np.stack([one.intercepts_[layer] for one in members])
    return {name: array.astype(np.float32) for name, array in arrays.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description="Train the regression of DistCurve.")
    parser.add_argument("--number", type=int, default=40_000, help="examples to train on")
    parser.add_argument("--epochs", type=int, default=80)
    parser.add_argument("--networks", type=int, default=5, help="networks that are averaged")
    parser.add_argument("--output", type=Path, default=WEIGHTS)
    arguments = parser.parse_args()
    arrays = train(
        *examples(1, arguments.number), epochs=arguments.epochs, networks=arguments.networks
    )
    features, prior = examples(2, 3000)
    answers = np.array([predict_prior(arrays, row) for row in features])
    error = np.abs(answers - prior).mean()
    print(f"held out: mean absolute error of the prior {error:.4f}")
    np.savez_compressed(arguments.output, **arrays)
    print(f"{arguments.output}: {arguments.output.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
