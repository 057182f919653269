"""Networks trained on simulated mixtures: quantiles of prior and purity, and weights of members.

A network has two hidden layers. The networks of an ensemble differ in their training examples and
starting values; their predictions are averaged. `benchmarks/priors/train_networks.py` trains them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np
from scipy.special import expit, logit, softmax

from pueval._typing import Array

# Confidence levels of the predicted intervals; levels in between are interpolated.
LEVELS = (0.5, 0.8, 0.9, 0.95, 0.99)
# Shares closer to 0 or 1 are not distinguished.
SMALLEST_SHARE = 1e-4
# Half-widths are at least exp(−this), and at most exp(1).
NARROWEST = 9.0


@dataclass(frozen=True, eq=False)
class Ensemble:
    """Networks of the same shape, and the calibration of their mean.

    Attributes
    ----------
    lowest, highest : ndarray
        Range of each input in training; inputs are clipped to it.
    layers : list of ndarray
        Weights and offsets, alternating; the first axis is the network.
    factors : ndarray of shape (targets, 2, levels)
        Calibration factors of the lower and upper half-widths.
    """

    lowest: Array
    highest: Array
    layers: list[Array]
    factors: Array

    def outputs(self, inputs: Array) -> Array:
        """Return the outputs of each network, for one row of inputs or several.

        The shape is (networks, rows, outputs).
        """
        value = np.clip((inputs - self.lowest) / (self.highest - self.lowest), 0, 1)
        value = np.atleast_2d(4 * value - 2)[None]
        for weight, offset in zip(self.layers[::2], self.layers[1::2], strict=True):
            value = value @ weight + offset[:, None]
            if weight is not self.layers[-2]:
                value = np.maximum(value, 0)
        return np.asarray(value)


@dataclass(frozen=True, eq=False)
class Quantiles:
    """Predicted medians and intervals of the targets.

    Attributes
    ----------
    middle : ndarray of shape (rows, targets)
        Estimates.
    lower, upper : ndarray of shape (rows, targets, levels)
        Half-widths of the intervals.
    """

    middle: Array
    lower: Array
    upper: Array

    def interval(self, target: int, level: float) -> tuple[float, float]:
        """Return the interval of the first row at a level between those of training."""
        low, high = (
            float(np.interp(level, (0.0, *LEVELS), (0.0, *side[0, target])))
            for side in (self.lower, self.upper)
        )
        middle = float(self.middle[0, target])
        return max(middle - low, 0.0), min(middle + high, 1.0)


def half_widths(raw: Array) -> Array:
    """Return half-widths that grow with the level, from outputs along the last axis."""
    return np.asarray(np.cumsum(np.exp(np.clip(raw, -NARROWEST, 1.0)), axis=-1))


def predict(ensemble: Ensemble, inputs: Array) -> Quantiles:
    """Return predicted quantiles of the targets.

    Parameters
    ----------
    ensemble : Ensemble
    inputs : ndarray of shape (rows, inputs)

    Returns
    -------
    Quantiles
    """
    raw = ensemble.outputs(inputs)
    raw = raw.reshape(*raw.shape[:2], len(ensemble.factors), -1)
    return _with_widths(ensemble, expit(raw[..., 0]).mean(axis=0), raw[..., 1:])


def combine(ensemble: Ensemble, inputs: Array, members: Array) -> tuple[Quantiles, Array]:
    """Return quantiles of shares that are weighted means of members' estimates, and the weights.

    Parameters
    ----------
    ensemble : Ensemble
    inputs : ndarray of shape (rows, inputs)
    members : ndarray of shape (rows, targets, members)
        Estimates of each target.

    Returns
    -------
    Quantiles
    ndarray of shape (rows, targets, members)
    """
    raw = ensemble.outputs(inputs)
    raw = raw.reshape(*raw.shape[:2], members.shape[-2], -1)
    number = members.shape[-1]
    weights = softmax(raw[..., :number], axis=-1).mean(axis=0)
    middle = np.sum(weights * members, axis=-1)
    return _with_widths(ensemble, middle, raw[..., number:]), weights


def _with_widths(ensemble: Ensemble, middle: Array, raw: Array) -> Quantiles:
    levels = len(LEVELS)
    lower, upper = (
        half_widths(part).mean(axis=0) * factor
        for part, factor in zip(
            (raw[..., :levels], raw[..., levels:]),
            np.moveaxis(ensemble.factors, 1, 0),
            strict=True,
        )
    )
    return Quantiles(middle, lower, upper)


@cache
def load_ensemble(name: str) -> Ensemble:
    """Return the stored ensemble of this name: "roc_pure", "roc_both", "consensus_pure", ..."""
    source = files("pueval.priors") / "networks.npz"
    with source.open("rb") as file, np.load(file) as stored:
        arrays = {
            key.removeprefix(f"{name}."): stored[key].astype(np.float64)
            for key in stored.files
            if key.startswith(f"{name}.")
        }
    layers = [arrays[f"layer{i}"] for i in range(len(arrays) - 3)]
    return Ensemble(arrays["lowest"], arrays["highest"], layers, arrays["factors"])


def consensus_inputs(features: Array, members: Array, tilt_widths: Array) -> Array:
    """Return the inputs of the networks that combine members.

    Parameters
    ----------
    features : ndarray of shape (rows, features)
        From `roc_features`.
    members : ndarray of shape (rows, targets, members)
        Estimates of each target.
    tilt_widths : ndarray of shape (rows, targets, 2)
        Half-widths of the 95% intervals of `Tilt`.

    Returns
    -------
    ndarray of shape (rows, inputs)
    """
    shares = logit(np.clip(members, SMALLEST_SHARE, 1 - SMALLEST_SHARE))
    widths = np.log(np.maximum(tilt_widths, np.exp(-NARROWEST)))
    rows = len(features)
    return np.hstack([features, shares.reshape(rows, -1), widths.reshape(rows, -1)])
