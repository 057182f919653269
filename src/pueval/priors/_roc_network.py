"""RocNetwork: neural networks that predict the prior and the purity from the ROC curve."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np

from pueval._typing import Array
from pueval.counts.counts import Counts
from pueval.errors import InputError
from pueval.priors._estimator_bases import PurityPriorEstimator
from pueval.priors._labeled_unlabeled_counts import NOT_SEPARATED, LabeledUnlabeledCounts
from pueval.priors._roc_features import roc_features

# Confidence levels of the predicted intervals; levels in between are interpolated.
LEVELS = (0.5, 0.8, 0.9, 0.95, 0.99)


@dataclass(frozen=True, eq=False)
class Network:
    """An ensemble of networks of the same shape, and the calibration of its mean.

    Attributes
    ----------
    lowest, highest : ndarray
        Range of each feature in training; features are clipped to it.
    layers : list of ndarray
        Weights and offsets, alternating; the first axis is the network.
    factors : ndarray of shape (targets, 2, levels)
        Calibration factors for the distances from the median to the lower and upper quantiles.
    """

    lowest: Array
    highest: Array
    layers: list[Array]
    factors: Array

    @staticmethod
    def scale_features(features: Array, lowest: Array, highest: Array) -> Array:
        """Map features from their training range to [−2, 2]."""
        return np.asarray(np.clip(4 * (features - lowest) / (highest - lowest) - 2, -2, 2))

    @staticmethod
    def stretch(sigmoid: Array) -> Array:
        """Extend the output slightly beyond [0, 1], so that both ends are attainable."""
        return 1.02 * sigmoid - 0.01

    @staticmethod
    def split_quantiles(quantiles: Array) -> tuple[Array, Array, Array]:
        """Split the last axis into median, lower quantiles and upper quantiles."""
        levels = len(LEVELS)
        return quantiles[..., :1], quantiles[..., 1 : levels + 1], quantiles[..., levels + 1 :]

    def quantiles(self, features: Array, *, calibrated: bool = True) -> Array:
        """Return, for each target, the median and the lower and upper quantiles for `LEVELS`."""
        value = self.scale_features(features, self.lowest, self.highest)
        value = np.broadcast_to(value, (len(self.layers[0]), value.size))
        for weight, offset in zip(self.layers[::2], self.layers[1::2], strict=True):
            value = np.einsum("ni,nij->nj", value, weight) + offset
            if weight is not self.layers[-2]:
                value = np.maximum(value, 0)
        sigmoid = 1 / (1 + np.exp(-np.clip(value, -30, 30)))
        targets = len(self.factors)
        mean = self.stretch(sigmoid).mean(axis=0)
        middle, lower, upper = self.split_quantiles(mean.reshape(targets, -1))
        # Quantiles must not cross: each is at least as far out as those of lower levels.
        lower = np.minimum.accumulate(np.minimum(lower, middle), axis=1)
        upper = np.maximum.accumulate(np.maximum(upper, middle), axis=1)
        if calibrated:
            lower = middle + (lower - middle) * self.factors[:, 0]
            upper = middle + (upper - middle) * self.factors[:, 1]
        return np.asarray(np.clip(np.hstack([middle, lower, upper]), 0, 1))

    def arrays(self) -> dict[str, Array]:
        """Return all parameters as named arrays, weights in half precision."""
        layers = {f"layer{i}": layer.astype(np.float16) for i, layer in enumerate(self.layers)}
        names = ("lowest", "highest", "factors")
        return {name: getattr(self, name).astype(np.float32) for name in names} | layers

    @classmethod
    def from_arrays(cls, arrays: dict[str, Array]) -> Network:
        """Restore a network from the result of `arrays`."""
        plain = {key: value.astype(np.float64) for key, value in arrays.items()}
        layers = [plain[f"layer{i}"] for i in range(len(plain) - 3)]
        return cls(plain["lowest"], plain["highest"], layers, plain["factors"])


@cache
def _load_network(task: str) -> Network:
    source = files("pueval.priors") / "roc_network.npz"
    with source.open("rb") as file, np.load(file) as stored:
        names = [name for name in stored.files if name.startswith(f"{task}_")]
        return Network.from_arrays({name.removeprefix(f"{task}_"): stored[name] for name in names})


class RocNetwork(PurityPriorEstimator):
    """Prior, or prior and purity, predicted from the ROC curve by neural networks.

    About a hundred features describe the ROC curve of labeled positives against unlabeled rows:
    the share of unlabeled rows above several quantiles of the labeled positives, the share of
    labeled positives below several quantiles of the unlabeled rows, slopes of the convex minorant,
    the smallest ratio of tail shares at several margins of error, the area, and the sample sizes.
    Small networks predict quantiles of the prior (and the purity) from them. They were trained with
    the pinball loss on mixtures of normal distributions, scored by the density ratio, by a wrong
    density ratio or by a linear function. The median is the estimate. The other quantiles were
    calibrated on held-out mixtures until the intervals had their nominal coverage (conformal
    calibration).

    The training script is ``benchmarks/priors/train_network.py``.

    The method assumes random labeling (wrongly labeled rows, if the purity is estimated, are a
    random draw from the negatives), and a curve like those of the simulated mixtures, which had
    priors below 0.9, 20 to 2,000 labeled and 100 to 20,000 unlabeled rows. With more rows than
    that, the intervals do not get narrower.

    Parameters
    ----------
    purity : 1.0 or "estimate", default 1.0
        1.0 for clean labels, ``"estimate"`` to estimate the purity together with the prior.
    level : float, default 0.95
        Confidence level of the intervals, in (0, 0.99].

    Attributes
    ----------
    prior_, purity_ : float
        Estimates: predicted medians.
    prior_interval_ : tuple of float
        Confidence interval of the prior; (0, 1) if labeled positives do not score higher than
        unlabeled rows.
    purity_interval_ : tuple of float, or None
        Confidence interval of the purity; None unless it is estimated.

    References
    ----------
    Koenker and Bassett (1978) for the pinball loss; Romano, Patterson and Candès (2019) for the
    calibration of quantile regression; Zeiberg, Jain and Radivojac (2020) for learning to estimate
    the prior from simulated mixtures.

    Examples
    --------
    >>> import numpy as np
    >>> from pueval.priors import RocNetwork
    >>> rng = np.random.default_rng(0)
    >>> hidden = rng.random(2000) < 0.3                          # 30% of the unlabeled
    >>> score = np.r_[rng.normal(2.5, 1, 500), rng.normal(2.5 * hidden, 1)]
    >>> y = np.repeat([1, 0], [500, 2000])
    >>> estimator = RocNetwork().fit(score, y)
    >>> round(estimator.prior_, 1)
    0.3
    >>> estimator.prior_interval_[0] < 0.3 < estimator.prior_interval_[1]
    True
    """

    def _estimate(self, counts: Counts) -> None:
        if self.purity not in (1.0, "estimate"):
            raise InputError(f'purity must be 1.0 or "estimate"; got {self.purity!r}.')
        if not 0 < self.level <= LEVELS[-1]:
            raise InputError(f"level must be a number in (0, {LEVELS[-1]}]; got {self.level!r}.")
        table = LabeledUnlabeledCounts.from_counts(counts)
        network = _load_network("pure" if self.purity == 1.0 else "both")
        quantiles = network.quantiles(roc_features(*table.effective_counts()))
        intervals = [self._interval(row) for row in quantiles]
        if not table.separates:
            self._note(NOT_SEPARATED)
            intervals = [(0.0, 1.0)] * len(intervals)
        self.prior_, self.prior_interval_ = float(quantiles[0, 0]), intervals[0]
        if self.purity == "estimate":
            self.purity_, self.purity_interval_ = float(quantiles[1, 0]), intervals[1]

    def _interval(self, quantiles: Array) -> tuple[float, float]:
        """Interpolate the interval at this confidence level."""
        middle, lower, upper = Network.split_quantiles(quantiles)
        low, high = (
            float(np.interp(self.level, [0.0, *LEVELS], np.concatenate([middle, side])))
            for side in (lower, upper)
        )
        return low, high
