"""PUScalar: metrics whose `compute` returns a scalar tensor, so that they log in Lightning."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from pueval._typing import Target
from pueval.core.mixture import Mixture
from pueval.counts.counts import Counts
from pueval.errors import InputError, UndefinedMeasureWarning, warn_caller
from pueval.sensitivity.feasibility import infeasibility_message
from pueval.torch._pu_metric import PUMetric


class PUScalar(PUMetric):
    """Base of metrics that compute one number from Counts."""

    def compute(self) -> Tensor:
        """Return the value for all rows since ``reset()``, of all processes.

        Rows whose class is known, labeled rows and known negatives only, need no prior.

        Returns
        -------
        Tensor
            A scalar on the device of the metric. NaN, with an UndefinedMeasureWarning, without
            labeled rows, without unlabeled rows and known negatives, or for
            ``target="unlabeled"`` without unlabeled rows. NaN, with an AssumptionWarning, if prior
            or purity cannot be estimated and there is no earlier estimate.

        Raises
        ------
        InputError
            If the rows contradict the given prevalence or label frequency.

        Warns
        -----
        AssumptionWarning
            If the prior contradicts the ranking, or cannot be estimated.
        BinnedScoresWarning
            If scores in half precision or less tie many labeled rows with others.
        """
        value = self._value_or_nan(self._counts_to_evaluate())
        return torch.tensor(value, dtype=self.dtype, device=self.device)

    def _value_or_nan(self, counts: Counts) -> float:
        if reason := _undefined(counts, self.target):
            if not self._is_batch:
                warn_caller(f"{self} is undefined: {reason}", UndefinedMeasureWarning)
            return math.nan
        counts._check_nonempty()
        mixture = self._resolve(counts)
        if mixture is None:
            return math.nan
        if not self._is_batch and (message := infeasibility_message(counts, mixture)):
            warn_caller(message)
        return self._value(counts, mixture)

    def _value(self, counts: Counts, mixture: Mixture) -> float:
        raise NotImplementedError

    def plot(self, val: Any = None, ax: Any = None) -> Any:
        """Plot one value or several with TorchMetrics.

        Parameters
        ----------
        val : Tensor or sequence of Tensor, optional
            Values of `compute` or ``forward``; by default that of `compute`.
        ax : matplotlib Axes, optional
            Where to plot.

        Returns
        -------
        figure, axes
        """
        return self._plot(val, ax)


def _undefined(counts: Counts, target: Target) -> str | None:
    """Say why no measure is defined for these rows; None if it is."""
    if not counts.n_labeled or not counts.n_unlabeled + counts.n_negative:
        try:
            counts._check_nonempty()
        except InputError as error:
            return str(error)
    if target == "unlabeled" and not counts.n_unlabeled:
        return "there are no unlabeled rows, and target is 'unlabeled'."
    return None
