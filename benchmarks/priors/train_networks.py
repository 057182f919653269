"""Train the networks of `RocNetwork` and `Consensus`; needs PyTorch and training examples.

    python -m benchmarks.priors.training_examples
    python -m benchmarks.priors.train_networks

`RocNetwork` is trained on plain populations with few rows: real scores resemble them. `Consensus`
is trained on populations of all kinds and sizes, to combine it with methods that converge. Networks
are trained with the pinball loss of all quantiles, weighted as if all priors were equally frequent.
For `Consensus`, the loss is also divided by about the error to be expected of the example: with
many rows, errors of .01 matter. On examples that no network has seen, half-widths are scaled until
intervals have their nominal coverage (conformal calibration), and the errors are reported.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import torch

from benchmarks.priors.training_examples import MEMBERS, examples_path, plain_path
from pueval.priors._networks import (
    LEVELS,
    NARROWEST,
    Ensemble,
    Quantiles,
    combine,
    consensus_inputs,
    predict,
)

# The median, then the lower and the upper quantile of each level.
QUANTILES = np.concatenate([[0.5], (1 - np.array(LEVELS)) / 2, (1 + np.array(LEVELS)) / 2])
HIDDEN = (80, 56)
# Networks of an ensemble.
ROC_NETWORKS, CONSENSUS_NETWORKS = 4, 2
# Share of the examples for calibrating, and for reporting.
HELD_OUT = 0.06
BATCH = 512
WEIGHTS = Path(__file__).parents[2] / "src" / "pueval" / "priors" / "networks.npz"
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


def on_device(array: np.ndarray) -> torch.Tensor:
    return torch.as_tensor(np.ascontiguousarray(array), dtype=torch.float32, device=DEVICE)


def pinball(raw: torch.Tensor, median: torch.Tensor, truth: torch.Tensor, weight: torch.Tensor):
    """Return the weighted mean of the pinball losses; raw are the outputs for the half-widths."""
    levels = len(LEVELS)
    widths = [
        torch.cumsum(torch.exp(torch.clamp(part, -NARROWEST, 1.0)), dim=-1)
        for part in (raw[..., :levels], raw[..., levels:])
    ]
    middle = median[..., None]
    quantiles = torch.cat([middle, middle - widths[0], middle + widths[1]], dim=-1)
    short = truth[..., None] - torch.clamp(quantiles, 0, 1)
    level = on_device(QUANTILES)
    loss = torch.maximum(level * short, (level - 1) * short)
    # The median counts as much as two other quantiles.
    loss = loss.sum(dim=-1) + loss[..., 0]
    return (loss.mean(dim=-1) * weight).mean()


def train(
    inputs: np.ndarray,
    truth: np.ndarray,
    weight: np.ndarray,
    members: np.ndarray | None,
    *,
    rows: list[np.ndarray],
    epochs: int,
    rate: float = 2e-3,
) -> Ensemble:
    """Train one network on each list of rows, all at the same time.

    Without members, the networks predict the median, otherwise the members' weights.
    """
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    targets = truth.shape[1]
    number = len(rows)
    columns = 1 if members is None else members.shape[2]
    lowest, highest = np.quantile(inputs, (0.002, 0.998), axis=0)
    highest = np.maximum(highest, lowest + 1e-6)
    scaled = on_device(4 * np.clip((inputs - lowest) / (highest - lowest), 0, 1) - 2)
    truths, weights = on_device(truth), on_device(weight)
    estimates = None if members is None else on_device(members)
    outputs = targets * (columns + 2 * len(LEVELS))
    layers: list[torch.Tensor] = []
    for size, following in pairwise((inputs.shape[1], *HIDDEN, outputs)):
        scale = np.sqrt(2 / size) * (0.1 if following == outputs else 1)
        layers.append((scale * torch.randn(number, size, following)).to(DEVICE))
        layers.append(torch.zeros(number, following, device=DEVICE))
    offset = layers[-1].view(number, targets, -1)
    offset[..., columns:] = -4.0
    for layer in layers:
        layer.requires_grad_()
    optimizer = torch.optim.AdamW(layers, lr=rate, weight_decay=1e-3)
    length = min(len(one) for one in rows)
    steps = epochs * (length // BATCH)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    for epoch in range(epochs):
        order = np.stack([rng.permutation(one)[:length] for one in rows])
        order = torch.as_tensor(order, device=DEVICE)
        total = 0.0
        for start in range(0, length - BATCH + 1, BATCH):
            chosen = order[:, start : start + BATCH]
            value = scaled[chosen]
            for weight_, offset_ in zip(layers[:-2:2], layers[1:-2:2], strict=True):
                value = torch.relu(torch.baddbmm(offset_[:, None], value, weight_))
            raw = torch.baddbmm(layers[-1][:, None], value, layers[-2])
            raw = raw.view(*raw.shape[:2], targets, -1)
            if estimates is None:
                median = torch.sigmoid(raw[..., 0])
            else:
                share = torch.softmax(raw[..., :columns], dim=-1)
                median = (share * estimates[chosen]).sum(dim=-1)
            loss = pinball(raw[..., columns:], median, truths[chosen], weights[chosen])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            total += float(loss.detach()) if start == 0 else 0.0
        if epoch % 20 == 19:
            print(f"  epoch {epoch + 1}: loss {total:.4f}", flush=True)
    stored = [layer.detach().cpu().numpy().astype(np.float16).astype(float) for layer in layers]
    return Ensemble(lowest, highest, stored, np.ones((targets, 2, len(LEVELS))))


def calibrate(ensemble: Ensemble, quantiles: Quantiles, truth: np.ndarray) -> Ensemble:
    """Scale the half-widths of each level until they have the nominal coverage on both sides."""
    factors = np.ones_like(ensemble.factors)
    for target in range(truth.shape[1]):
        error = truth[:, target] - quantiles.middle[:, target]
        for side, (sign, width) in enumerate(((-1, quantiles.lower), (1, quantiles.upper))):
            ratio = sign * error[:, None] / width[:, target]
            factors[target, side] = [
                np.quantile(ratio[:, i], (1 + level) / 2) for i, level in enumerate(LEVELS)
            ]
    return replace(ensemble, factors=factors)


def report(
    name: str, quantiles: Quantiles, truth: np.ndarray, rows: np.ndarray, members: np.ndarray | None
) -> None:
    """Print error, coverage and width by the number of labeled rows."""
    i = LEVELS.index(0.95)
    for target, what in enumerate(("prior", "purity")[: truth.shape[1]]):
        error = quantiles.middle[:, target] - truth[:, target]
        low = np.maximum(quantiles.middle[:, target] - quantiles.lower[:, target, i], 0)
        high = np.minimum(quantiles.middle[:, target] + quantiles.upper[:, target, i], 1)
        covered = (low <= truth[:, target]) & (truth[:, target] <= high)
        for least, most in pairwise((0, 100, 1_000, 10_000, 1e9)):
            own = (rows >= least) & (rows < most)
            if not own.any():
                continue
            text = (
                f"{name} {what}, {least:.0f} labels and more: error {np.abs(error[own]).mean():.4f}"
                f", bias {error[own].mean():+.4f}, coverage {covered[own].mean():.3f}, width "
                f"{(high - low)[own].mean():.3f}"
            )
            if members is not None:
                others = np.abs(members[own, target] - truth[own, target][:, None]).mean(axis=0)
                text += ", members " + " ".join(f"{other:.4f}" for other in others)
            print(text, flush=True)


def arrays(ensemble: Ensemble) -> dict[str, np.ndarray]:
    """Return all parameters as named arrays, weights in half precision."""
    layers = {f"layer{i}": layer.astype(np.float16) for i, layer in enumerate(ensemble.layers)}
    names = ("lowest", "highest", "factors")
    return {name: getattr(ensemble, name).astype(np.float32) for name in names} | layers


def prior_density(prior: np.ndarray) -> np.ndarray:
    """Return the density of the priors of `training_mixtures`."""
    small = np.where(prior < 10**-0.5, 1 / (np.maximum(prior, 1e-3) * np.log(10**2.5)), 0)
    return 0.85 / 0.95 + 0.15 * small


def load_examples(path: Path) -> dict[str, np.ndarray]:
    with np.load(path) as stored:
        return {name: stored[name].astype(np.float64) for name in stored.files}


def split(number: int) -> list[np.ndarray]:
    """Return indices of examples for calibrating, reporting and training."""
    order = np.random.default_rng(0).permutation(number)
    return np.split(order, np.array([1, 2]) * int(HELD_OUT * number))


def build_roc_network(task: str, epochs: int) -> Ensemble:
    """Train the networks of `RocNetwork`."""
    examples = load_examples(plain_path(task))
    features, truth = examples["features"], examples["truth"]
    calibrating, reporting, used = split(len(truth))
    weight = 1 / prior_density(truth[:, 0])
    rows = [used] * ROC_NETWORKS
    ensemble = train(features, truth, weight / weight.mean(), None, rows=rows, epochs=epochs)
    plain = predict(ensemble, features[calibrating])
    ensemble = calibrate(ensemble, plain, truth[calibrating])
    n_labeled = np.exp(features[reporting, -2])
    found = predict(ensemble, features[reporting])
    report(f"{task} RocNetwork", found, truth[reporting], n_labeled, None)
    return ensemble


def build_consensus(task: str, roc: Ensemble, epochs: int) -> Ensemble:
    """Train the networks that combine the members."""
    examples = load_examples(examples_path(task))
    features, truth = examples["features"], examples["truth"]
    calibrating, reporting, used = split(len(truth))
    width = examples["widths"][:, 0].sum(axis=1)
    weight = 1 / (0.1 + width / 2) / prior_density(truth[:, 0])
    network = predict(roc, features).middle
    members = np.concatenate([examples["members"], network[:, :, None]], axis=2)
    inputs = consensus_inputs(features, members, examples["widths"])
    rows = [used] * CONSENSUS_NETWORKS
    ensemble = train(inputs, truth, weight / weight.mean(), members, rows=rows, epochs=epochs)
    plain, _ = combine(ensemble, inputs[calibrating], members[calibrating])
    ensemble = calibrate(ensemble, plain, truth[calibrating])
    found, weights = combine(ensemble, inputs[reporting], members[reporting])
    n_labeled = np.exp(features[reporting, -2])
    report(f"{task} Consensus", found, truth[reporting], n_labeled, members[reporting])
    print("mean weights", (*MEMBERS[task], "roc_network"), weights.mean(axis=0).round(3))
    return ensemble


def main() -> None:
    parser = argparse.ArgumentParser(description="Train the networks.")
    parser.add_argument("--epochs", type=int, default=30)
    parser.add_argument("--tasks", nargs="+", choices=MEMBERS, default=list(MEMBERS))
    parser.add_argument("--output", type=Path, default=WEIGHTS)
    arguments = parser.parse_args()
    stored: dict[str, np.ndarray] = {}
    if arguments.output.exists():
        # Keep the weights of tasks that are not trained in this run.
        with np.load(arguments.output) as before:
            kept = [k for k in before.files if k.partition(".")[0][-4:] not in arguments.tasks]
            stored = {key: before[key] for key in kept}
    for task in arguments.tasks:
        roc = build_roc_network(task, arguments.epochs)
        consensus = build_consensus(task, roc, arguments.epochs)
        for name, ensemble in (("roc", roc), ("consensus", consensus)):
            parts = arrays(ensemble)
            stored |= {f"{name}_{task}.{key}": value for key, value in parts.items()}
    np.savez_compressed(arguments.output, **stored)
    print(f"{arguments.output}: {arguments.output.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
