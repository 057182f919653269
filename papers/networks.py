"""Bagged neural networks with out-of-bag scores, as in Jain 2017 and Ramola 2019.

The papers train 100 networks with one hidden layer of five (Jain) or seven (Ramola) neurons by
resilient propagation (Riedmiller and Braun 1993) on bootstrap samples, with early stopping on 25%
of the training rows, and score each row by the networks that were not trained on it. This module
does the same, but trains all networks of a batch at once, as one matrix product. With PUEVAL_GPU=1,
it does so on a GPU, by CuPy.
"""

from __future__ import annotations

import os
from typing import Any, NamedTuple

import numpy as np

# Networks trained at once: more do not fit into the cache of a processor.
BATCH, GPU_BATCH = 10, 100
GROW, SHRINK = 1.2, 0.5
FIRST_STEP, LEAST_STEP, MOST_STEP = 0.05, 1e-6, 1.0


def array_module() -> Any:
    """Return CuPy if PUEVAL_GPU is 1, else NumPy."""
    if os.environ.get("PUEVAL_GPU", "0") != "1":
        return np
    import cupy

    return cupy


class OutOfBag(NamedTuple):
    """Scores of all rows, and the largest number of epochs that a network was trained for."""

    score: np.ndarray
    epochs: int


def out_of_bag_scores(
    X: np.ndarray,
    y: np.ndarray,
    *,
    rng: np.random.Generator,
    networks: int = 100,
    hidden: int = 5,
    epochs: int = 5000,
    patience: int = 20,
) -> OutOfBag:
    """Score each row by the mean log-odds of the networks that were not trained on it.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Inputs; they are standardized.
    y : ndarray of 0 and 1
        Targets: PU labels, or classes.
    rng : numpy Generator
    networks, hidden : int
        Number of networks, and of neurons in each hidden layer.
    epochs, patience : int
        Largest number of epochs, and of epochs without a smaller validation error.
    """
    center, scale = X.mean(axis=0), X.std(axis=0)
    kept = scale > 0
    inputs = ((X[:, kept] - center[kept]) / scale[kept]).astype(np.float32)
    inputs = np.column_stack([inputs, np.ones(len(inputs), dtype=np.float32)])
    target = y.astype(np.float32)[:, None]
    xp = array_module()
    inputs, target = xp.asarray(inputs), xp.asarray(target)
    batch = BATCH if xp is np else GPU_BATCH
    total, seen, most = np.zeros(len(y)), np.zeros(len(y)), 0
    while networks > 0 or not seen.all():
        size = min(batch, networks) if networks > 0 else 2
        networks -= size
        score, outside, used = _batch(xp, inputs, target, rng, size, hidden, epochs, patience)
        total += np.where(outside, score, 0).sum(axis=1)
        seen += outside.sum(axis=1)
        most = max(most, used)
    return OutOfBag(total / seen, most)


def _batch(
    xp: Any,
    inputs: np.ndarray,
    target: np.ndarray,
    rng: np.random.Generator,
    size: int,
    hidden: int,
    epochs: int,
    patience: int,
) -> tuple[np.ndarray, np.ndarray, int]:
    """Train a batch of networks; return scores of all rows, which are out of bag, and epochs."""
    n, d = inputs.shape
    times = np.stack(
        [np.bincount(rng.integers(n, size=n), minlength=n) for _ in range(size)], axis=1
    ).astype(np.float32)
    checks = rng.random((n, size)) < 0.25
    train, check = np.where(checks, 0, times), np.where(checks, times, 0)
    train /= train.sum(axis=0)
    check /= check.sum(axis=0)
    first = (rng.normal(size=(d, size, hidden)) / np.sqrt(d)).astype(np.float32)
    second = (rng.normal(size=(size, hidden)) / np.sqrt(hidden)).astype(np.float32)
    bias = np.zeros(size, dtype=np.float32)
    weights = [xp.asarray(w) for w in (first, second, bias)]
    train, check = xp.asarray(train), xp.asarray(check)
    steps = [xp.full(w.shape, FIRST_STEP, dtype=np.float32) for w in weights]
    before = [xp.zeros_like(w) for w in weights]
    best = [w.copy() for w in weights]
    least = np.full(size, np.inf)
    failures = np.zeros(size, dtype=int)
    active = np.arange(size)
    used = 0
    for used in range(1, epochs + 1):  # noqa: B007
        chosen = xp.asarray(active)
        now = [_get(weight, chosen) for weight in weights]
        layer, score = _forward(inputs, now)
        error = _log_loss(score, target)
        missed = _on_host((check * error).sum(axis=0))
        better = missed < least[active] - 1e-6
        least[active[better]] = missed[better]
        failures[active] = np.where(better, 0, failures[active] + 1)
        if better.any():
            improved = xp.asarray(active[better])
            for kept, weight in zip(best, weights, strict=True):
                _set(kept, improved, _get(weight, improved))
        delta = (_sigmoid(score) - target) * train
        gradients = _gradients(inputs, layer, delta, now[1])
        for weight, step, old, gradient in zip(weights, steps, before, gradients, strict=True):
            _rprop(weight, step, old, gradient, chosen)
        going = failures[active] < patience
        if not going.all():
            still = xp.asarray(np.flatnonzero(going))
            active, train, check = active[going], train[:, still], check[:, still]
        if not active.size:
            break
    return _on_host(_forward(inputs, best)[1]), times == 0, used


def _module_of(values: Any) -> Any:
    if isinstance(values, np.ndarray):
        return np
    import cupy

    return cupy


def _on_host(values: Any) -> np.ndarray:
    return values if isinstance(values, np.ndarray) else values.get()


def _forward(inputs: np.ndarray, weights: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    first, second, bias = weights
    layer = np.tanh(inputs @ first.reshape(first.shape[0], -1))
    return layer, layer @ _spread(second) + bias


def _gradients(
    inputs: np.ndarray, layer: np.ndarray, delta: np.ndarray, second: np.ndarray
) -> list[np.ndarray]:
    """Backpropagate the errors of the scores to the weights of both layers and the bias."""
    size, hidden = second.shape
    flow = delta @ _spread(second).T
    flow *= 1 - layer * layer
    return [
        (inputs.T @ flow).reshape(-1, size, hidden),
        (delta.T @ layer).reshape(size, size, hidden).diagonal().T,
        delta.sum(axis=0),
    ]


def _spread(second: np.ndarray) -> np.ndarray:
    """Return the output weights of all networks as one block-diagonal matrix."""
    size, hidden = second.shape
    own = _module_of(second).eye(size, dtype=second.dtype)
    return (second[:, :, None] * own[:, None, :]).reshape(size * hidden, size)


def _sigmoid(score: np.ndarray) -> np.ndarray:
    return 0.5 * (1 + np.tanh(score / 2))


def _log_loss(score: np.ndarray, target: np.ndarray) -> np.ndarray:
    wrong = np.where(target > 0, -score, score)
    return np.maximum(wrong, 0) + np.log1p(np.exp(-np.abs(wrong)))


def _get(weight: np.ndarray, which: np.ndarray) -> np.ndarray:
    return weight[:, which] if weight.ndim == 3 else weight[which]


def _set(weight: np.ndarray, which: np.ndarray, values: np.ndarray) -> None:
    if weight.ndim == 3:
        weight[:, which] = values
    else:
        weight[which] = values


def _rprop(
    weight: np.ndarray,
    step: np.ndarray,
    old: np.ndarray,
    gradient: np.ndarray,
    active: np.ndarray,
) -> None:
    """Move each weight against the sign of its gradient, by an adaptive step size."""
    agree = np.sign(gradient) * _get(old, active)
    length = _get(step, active) * np.where(agree > 0, GROW, np.where(agree < 0, SHRINK, 1))
    length = np.clip(length, LEAST_STEP, MOST_STEP)
    sign = np.where(agree < 0, 0, np.sign(gradient)).astype(np.float32)
    _set(weight, active, _get(weight, active) - length * sign)
    _set(step, active, length)
    _set(old, active, sign)
