"""A small neural network that reads the prior and the purity off the ROC curve."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Literal

import numpy as np

from pueval._typing import Array
from pueval.counts.counts import Counts
from pueval.errors import InputError
from pueval.priors._reduced import SEPARATES_NOT, reduced
from pueval.priors._roc_features import roc_features
from pueval.priors._score_estimator import ScorePriorEstimator

# Confidence levels whose limits the network gives; those between are interpolated.
LEVELS = (0.5, 0.8, 0.9, 0.95, 0.99)


@dataclass(frozen=True, eq=False)
class Network:
    """Several networks of the same shape and the factors that calibrate their mean.

    Attributes
    ----------
    lowest, highest : ndarray
        Range of each feature in training; features outside are moved to its ends.
    layers : list of ndarray
        Weights and offsets in turn; the first axis counts the networks.
    factors : ndarray of shape (targets, 2, levels)
        What the distances from the median to the lower and to the upper limits are multiplied by.
    """

    lowest: Array
    highest: Array
    layers: list[Array]
    factors: Array

    @staticmethod
    def scaled(features: Array, lowest: Array, highest: Array) -> Array:
        """Features as the networks take them, between −2 and 2."""
        inputs: Array = np.clip(4 * (features - lowest) / (highest - lowest) - 2, -2, 2)
        return inputs

    @staticmethod
    def stretch(sigmoid: Array) -> Array:
        """Slightly beyond 0 and 1, so that both can be reached."""
        return 1.02 * sigmoid - 0.01

    @staticmethod
    def split(quantiles: Array) -> tuple[Array, Array, Array]:
        """Medians, lower limits and upper limits along the last axis."""
        levels = len(LEVELS)
        return quantiles[..., :1], quantiles[..., 1 : levels + 1], quantiles[..., levels + 1 :]

    def quantiles(self, features: Array, *, calibrated: bool = True) -> Array:
        """Quantiles of each target: the median, lower limits and upper limits of `LEVELS`."""
        value = self.scaled(features, self.lowest, self.highest)
        value = np.broadcast_to(value, (len(self.layers[0]), value.size))
        for weight, offset in zip(self.layers[::2], self.layers[1::2], strict=True):
            value = np.einsum("ni,nij->nj", value, weight) + offset
            if weight is not self.layers[-2]:
                value = np.maximum(value, 0)
        sigmoid = 1 / (1 + np.exp(-np.clip(value, -30, 30)))
        targets = len(self.factors)
        middle, lower, upper = self.split(self.stretch(sigmoid).mean(axis=0).reshape(targets, -1))
        # Limits of rising levels must not cross; so each is at least as far out as those before.
        lower = np.minimum.accumulate(np.minimum(lower, middle), axis=1)
        upper = np.maximum.accumulate(np.maximum(upper, middle), axis=1)
        if calibrated:
            lower = middle + (lower - middle) * self.factors[:, 0]
            upper = middle + (upper - middle) * self.factors[:, 1]
        quantiles: Array = np.clip(np.hstack([middle, lower, upper]), 0, 1)
        return quantiles

    def arrays(self) -> dict[str, Array]:
        """Everything as named arrays, weights in half precision."""
        layers = {f"layer{i}": layer.astype(np.float16) for i, layer in enumerate(self.layers)}
        inputs = {"lowest": self.lowest, "highest": self.highest}
        return {key: value.astype(np.float32) for key, value in inputs.items()} | {
            "factors": self.factors.astype(np.float32),
            **layers,
        }

    @classmethod
    def from_arrays(cls, arrays: dict[str, Array]) -> Network:
        """Undo `arrays`."""
        plain = {key: value.astype(np.float64) for key, value in arrays.items()}
        layers = [plain[f"layer{i}"] for i in range(len(plain) - 3)]
        return cls(plain["lowest"], plain["highest"], layers, plain["factors"])


@cache
def _stored(task: str) -> Network:
    source = files("pueval.priors") / "roc_network.npz"
    with source.open("rb") as file, np.load(file) as stored:
        names = [name for name in stored.files if name.startswith(f"{task}_")]
        return Network.from_arrays({name.removeprefix(f"{task}_"): stored[name] for name in names})


class RocNetwork(ScorePriorEstimator):
    """A network trained on simulated mixtures, with intervals that were calibrated on others.

    The ROC curve of labeled against unlabeled rows is described by about a hundred numbers: for
    shares p of the labeled rows from the top the share of unlabeled rows that score as high,
    and the same with the two kinds and the two ends exchanged; the slopes of the convex minorant;
    the smallest ratio of the two shares with margins of some standard errors; the area; the
    numbers of rows. Small networks turn them into quantiles of the prior (and the purity). They
    were trained, by the pinball loss, on mixtures of normal distributions scored by their density
    ratio, by a wrong one or by a linear function. The median is the estimate. The distances from
    it to the other quantiles were stretched until the intervals of simulated mixtures that training
    had not seen covered as often as they should (conformal calibration).

    The training script is ``benchmarks/priors/train_network.py``.

    Assumption: labeled rows are a random draw from the positives (with a random draw from the
    negatives among them, where the purity is estimated), and the curve resembles those of the
    simulated mixtures, in which the prior was below .9, with 20 to 2,000 labeled and 100 to 20,000
    unlabeled rows. With more rows than that, intervals do not get narrower any more.

    Parameters
    ----------
    purity : 1.0 or "estimate", default 1.0
        Whether the labels are known to be clean.
    level : float, default 0.95
        Confidence level of the intervals, at most 0.99.

    Attributes
    ----------
    prior_, purity_ : float
        Estimates: medians of the answers that fit the curve.
    prior_interval_ : tuple of float
        Confidence limits of the prior; (0, 1) if labeled rows do not score higher than unlabeled.
    purity_interval_ : tuple of float, or None
        Confidence limits of the purity, if it was estimated.

    References
    ----------
    Koenker and Bassett (1978) for the pinball loss; Romano, Patterson and Candès (2019) for the
    calibration of quantile regression; Zeiberg, Jain and Radivojac (2020) for learning to estimate
    the prior from simulated mixtures.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> hidden = rng.random(2000) < 0.3                          # 30 % of the unlabeled
    >>> score = np.r_[rng.normal(2.5, 1, 500), rng.normal(2.5 * hidden, 1)]
    >>> y = np.repeat([1, 0], [500, 2000])
    >>> found = RocNetwork().fit(score, y)
    >>> round(found.prior_, 1)
    0.3
    >>> found.prior_interval_[0] < 0.3 < found.prior_interval_[1]
    True
    """

    def __init__(self, *, purity: float | Literal["estimate"] = 1.0, level: float = 0.95) -> None:
        self.purity = purity
        self.level = level

    def _estimate(self, counts: Counts) -> None:
        if self.purity not in (1.0, "estimate"):
            raise InputError(f'purity must be 1.0 or "estimate"; got {self.purity!r}.')
        if not 0 < self.level <= LEVELS[-1]:
            raise InputError(f"level must be a number in (0, {LEVELS[-1]}]; got {self.level!r}.")
        table = reduced(counts)
        labeled, unlabeled = table.effective()
        network = _stored("pure" if self.purity == 1.0 else "both")
        quantiles = network.quantiles(roc_features(labeled, unlabeled))
        limits = [self._limits(row) for row in quantiles]
        if not table.separates:
            self._note(SEPARATES_NOT)
            limits = [(0.0, 1.0)] * len(limits)
        self.prior_, self.prior_interval_ = float(quantiles[0, 0]), limits[0]
        if self.purity == "estimate":
            self.purity_, self.purity_interval_ = float(quantiles[1, 0]), limits[1]

    def _limits(self, quantiles: Array) -> tuple[float, float]:
        """Interpolate the limits of the wanted level."""
        middle, lower, upper = Network.split(quantiles)
        levels = np.concatenate([[0.0], LEVELS])
        low, high = (
            float(np.interp(self.level, levels, np.concatenate([middle, side])))
            for side in (lower, upper)
        )
        return low, high
