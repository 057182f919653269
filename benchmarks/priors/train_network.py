"""Train the ROC network and write its weights: python -m benchmarks.priors.train_network.

Several small networks per task are trained on simulated mixtures with the pinball loss. Their mean
predicts quantiles of the prior (and of the purity). On held-out mixtures, the distances from the
median to the other quantiles are scaled until intervals have their nominal coverage (conformal
calibration).
"""

from __future__ import annotations

import argparse
import time
from itertools import pairwise
from pathlib import Path

import numpy as np

from benchmarks.priors.score_sets import cache_folder
from benchmarks.priors.training_mixtures import draw_examples
from pueval.priors._roc_network import LEVELS, Network

# The median, then the lower and the upper quantile of each level.
QUANTILES = np.concatenate([[0.5], (1 - np.array(LEVELS)) / 2, (1 + np.array(LEVELS)) / 2])
HIDDEN = (96, 64)
WEIGHTS = Path(__file__).parents[2] / "src" / "pueval" / "priors" / "roc_network.npz"


def examples(name: str, seed: int, number: int, *, pure: bool):
    """Return simulated examples, from the cache if possible."""
    path = cache_folder() / f"network_{name}_{'pure' if pure else 'mixed'}_{number}.npz"
    if not path.exists():
        begin = time.perf_counter()
        features, prior, purity = draw_examples(seed, number, pure=pure)
        path.parent.mkdir(parents=True, exist_ok=True)
        np.savez(path, features=features.astype(np.float32), prior=prior, purity=purity)
        print(f"drew {number} examples in {time.perf_counter() - begin:.0f} s", flush=True)
    with np.load(path) as stored:
        return tuple(stored[key].astype(float) for key in ("features", "prior", "purity"))


def train(
    inputs: np.ndarray, targets: np.ndarray, *, seed: int, epochs: int, rate: float = 2e-3
) -> list[np.ndarray]:
    """Train one network by Adam with a learning rate that falls to zero; return its layers."""
    rng = np.random.default_rng(seed)
    inputs, targets = inputs.astype(np.float32), targets.astype(np.float32)
    sizes = (inputs.shape[1], *HIDDEN, targets.shape[1] * QUANTILES.size)
    parameters = []
    for size, following in pairwise(sizes):
        spread = np.sqrt(2 / size)
        parameters.append(spread * rng.standard_normal((size, following), dtype=np.float32))
        parameters.append(np.zeros(following, dtype=np.float32))
    first = [np.zeros_like(one) for one in parameters]
    second = [np.zeros_like(one) for one in parameters]
    batch, step = 256, 0
    steps = epochs * (len(inputs) // batch)
    for epoch in range(epochs):
        order = rng.permutation(len(inputs))
        total = 0.0
        for start in range(0, len(inputs) - batch + 1, batch):
            rows = order[start : start + batch]
            loss, gradients = pinball(parameters, inputs[rows], targets[rows])
            total += loss
            step += 1
            now = rate * 0.5 * (1 + np.cos(np.pi * step / steps))
            for i, gradient in enumerate(gradients):
                first[i] = 0.9 * first[i] + 0.1 * gradient
                second[i] = 0.999 * second[i] + 0.001 * gradient**2
                mean, square = first[i] / (1 - 0.9**step), second[i] / (1 - 0.999**step)
                parameters[i] -= now * (mean / (np.sqrt(square) + 1e-8) + 1e-3 * parameters[i])
        if epoch % 10 == 9:
            print(f"  epoch {epoch + 1}: loss {total / (len(inputs) // batch):.5f}", flush=True)
    return parameters


def pinball(
    parameters: list[np.ndarray], inputs: np.ndarray, targets: np.ndarray
) -> tuple[float, list[np.ndarray]]:
    """Return the mean pinball loss over all quantiles, and its gradient."""
    layers = [inputs]
    for weight, offset in zip(parameters[:-2:2], parameters[1:-2:2], strict=True):
        layers.append(np.maximum(layers[-1] @ weight + offset, 0))
    sigmoid = 1 / (1 + np.exp(-np.clip(layers[-1] @ parameters[-2] + parameters[-1], -30, 30)))
    wanted = np.repeat(targets, QUANTILES.size, axis=1)
    level = np.tile(QUANTILES, targets.shape[1]).astype(np.float32)
    short = wanted - Network.stretch(sigmoid)
    loss = np.maximum(level * short, (level - 1) * short).mean()
    slope = np.where(short > 0, -level, 1 - level) / short.shape[0]
    back = slope * 1.02 * sigmoid * (1 - sigmoid)
    gradients: list[np.ndarray] = []
    for depth in range(len(layers) - 1, -1, -1):
        gradients = [layers[depth].T @ back, back.sum(axis=0), *gradients]
        if depth:
            back = (back @ parameters[2 * depth].T) * (layers[depth] > 0)
    return float(loss), gradients


def calibrate(network: Network, features: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """Return factors for the lower and the upper half of the interval at each level."""
    factors = np.ones((targets.shape[1], 2, len(LEVELS)))
    quantiles = np.array([network.quantiles(row, calibrated=False) for row in features])
    for target in range(targets.shape[1]):
        middle, lower, upper = network.split(quantiles[:, target])
        truth = targets[:, [target]]
        for side, limit in enumerate((lower, upper)):
            ratio = (truth - middle) / np.where(limit == middle, 1e-6, limit - middle)
            for i, level in enumerate(LEVELS):
                factors[target, side, i] = np.quantile(ratio[:, i], (1 + level) / 2)
    return factors


def build(*, pure: bool, number: int, epochs: int, networks: int) -> Network:
    features, prior, purity = examples("train", 1, number, pure=pure)
    held, held_prior, held_purity = examples("held", 2, 6000, pure=pure)
    targets, held_targets = (
        columns[:, :1] if pure else columns
        for columns in (
            np.column_stack([prior, purity]),
            np.column_stack([held_prior, held_purity]),
        )
    )
    lowest, highest = np.quantile(features, (0.002, 0.998), axis=0)
    inputs = Network.scale_features(features, lowest, highest)
    members = []
    for seed in range(networks):
        print(f"{'purity 1' if pure else 'both'}: network {seed + 1}", flush=True)
        members.append(train(inputs, targets, seed=seed, epochs=epochs))
    layers = [np.stack(layer) for layer in zip(*members, strict=True)]
    plain = Network(lowest, highest, layers, np.ones((targets.shape[1], 2, len(LEVELS))))
    half = len(held) // 2
    network = Network(lowest, highest, layers, calibrate(plain, held[:half], held_targets[:half]))
    for target, name in enumerate(("prior", "purity")[: targets.shape[1]]):
        quantiles = np.array([network.quantiles(row) for row in held[half:]])[:, target]
        middle, lower, upper = network.split(quantiles)
        truth = held_targets[half:, target]
        i = LEVELS.index(0.95)
        covered = (lower[:, i] <= truth) & (truth <= upper[:, i])
        print(
            f"held out: {name} error {np.abs(middle[:, 0] - truth).mean():.4f}, 95 % coverage "
            f"{covered.mean():.3f}, width {(upper - lower)[:, i].mean():.3f}",
            flush=True,
        )
    return network


def main() -> None:
    parser = argparse.ArgumentParser(description="Train the ROC network.")
    parser.add_argument("--number", type=int, default=80_000, help="examples of each task")
    parser.add_argument("--epochs", type=int, default=60)
    parser.add_argument("--networks", type=int, default=3, help="networks that are averaged")
    parser.add_argument("--tasks", nargs="+", choices=("pure", "both"), default=["pure", "both"])
    parser.add_argument("--output", type=Path, default=WEIGHTS)
    arguments = vars(parser.parse_args())
    output, tasks = arguments.pop("output"), arguments.pop("tasks")
    stored: dict[str, np.ndarray] = {}
    if output.exists():
        # Keep the weights of tasks that are not trained in this run.
        with np.load(output) as before:
            stored = {k: before[k] for k in before.files if k.partition("_")[0] not in tasks}
    for name in tasks:
        network = build(pure=name == "pure", **arguments)
        stored.update({f"{name}_{key}": value for key, value in network.arrays().items()})
    np.savez_compressed(output, **stored)
    print(f"{output}: {output.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
