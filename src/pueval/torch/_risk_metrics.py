"""Risks of surrogate losses that networks are trained with: uPU and nnPU."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Literal, get_args

import numpy as np
import scipy  # loads its submodules when they are first used
from torchmetrics import MetricCollection

from pueval._checks import check_choice
from pueval._typing import Array, Target
from pueval.core.mixture import Mixture
from pueval.counts.counts import Counts
from pueval.errors import warn_caller
from pueval.families.score_means import ScoreMeans
from pueval.samples.sample import score_range
from pueval.torch._measure_metrics import PUError
from pueval.torch._pu_metric import SHARED_PARAMETERS
from pueval.torch._scalar_metric import PUScalar

Loss = Literal["sigmoid", "logistic"]

# ℓ(z), where z is the score of a positive, or minus the score of a negative.
LOSSES: dict[str, Callable[[Array], Array]] = {
    "sigmoid": lambda margin: np.asarray(scipy.special.expit(-margin)),
    "logistic": lambda margin: np.logaddexp(0, -margin),
}


def pu_risk(
    counts: Counts, mixture: Mixture, target: Target, loss: str, *, non_negative: bool
) -> float:
    """Return the risk of a loss, with the negatives' part clipped at 0 if it is non-negative."""

    def losses(score: Array) -> Array:
        margin = score.astype(np.float64)
        return np.stack([LOSSES[loss](margin), LOSSES[loss](-margin)])

    means = ScoreMeans(counts, losses).corrected(mixture, target)
    of_positives, of_negatives = float(means.positive[0]), float(means.negative[1])
    if non_negative:
        of_negatives = max(of_negatives, 0.0)
    share = float(means.prevalence)
    return share * of_positives + (1 - share) * of_negatives


def _warn_of_probabilities(counts: Counts) -> None:
    """Warn that scores are not logits.

    Both risks of a collection say so in the same words, which Python shows once.
    """
    low, high = map(float, score_range(counts._samples))
    if 0 <= low < high <= 1:
        warn_caller(
            "risks need logits, but all scores lie in [0, 1], as probabilities do: the sign of a "
            "logit is its predicted class, and no score is below 0. Pass the scores before the "
            "sigmoid, or torch.logit(scores)."
        )


class UPURisk(PUScalar):
    """Unbiased PU risk (uPU) of a surrogate loss, as a metric.

    With g the score (a logit) and ℓ the loss, the risk is π·E₊ℓ(g) + (1 − π)·E₋ℓ(−g), where π is
    the prevalence in the target. The labeled rows give E₊, and E₋ℓ(−g) is
    (E_Uℓ(−g) − prior·E₊ℓ(−g)) / (1 − prior). With ``target="unlabeled"`` this is the estimate of
    du Plessis et al. Noisy labels are corrected with the purity. Assumes random labeling.

    A risk is the training objective, not the quality of the classifier. Read the corrected
    zero-one error, `PUError`, beside it.

    Parameters
    ----------
    loss : {"sigmoid", "logistic"}
        ℓ(z) = 1/(1 + exp z), or ℓ(z) = log(1 + exp(−z)).
    {shared}
    **torchmetrics_options
        Options of `torchmetrics.Metric`.

    Notes
    -----
    Scores must be logits: positive for rows that are predicted positive. A warning says if all of
    them lie in [0, 1]. With ``bins``, a score is the lower edge of its bin, which changes the
    logistic loss of a row by at most ``abs(score) / bins``. The risk can be negative.

    References
    ----------
    Du Plessis, Niu and Sugiyama (2015), Convex formulation for learning from positive and
    unlabeled data.

    Examples
    --------
    >>> import torch
    >>> from pueval.torch import UPURisk
    >>> metric = UPURisk(prior=0.5, target="unlabeled")
    >>> metric.update(torch.tensor([0., 0., 0.]), torch.tensor([1, 0, 0]))
    >>> metric.compute()
    tensor(0.5000)
    """

    higher_is_better = False
    non_negative: ClassVar[bool] = False

    def __init__(self, *, loss: Loss = "sigmoid", **options: Any) -> None:
        super().__init__(**options)
        check_choice("loss", loss, get_args(Loss))
        self.loss = loss

    def _value(self, counts: Counts, mixture: Mixture) -> float:
        if not self._is_batch:
            _warn_of_probabilities(counts)
        return pu_risk(counts, mixture, self.target, self.loss, non_negative=self.non_negative)


class NNPURisk(UPURisk):
    """Non-negative PU risk (nnPU) of a surrogate loss, as a metric.

    The risk of `UPURisk`, with the part of the negatives, E₋ℓ(−g), clipped at 0 from below. A
    network that overfits the labeled rows drives this part below 0. Assumes random labeling.

    A risk is the training objective, not the quality of the classifier. Read the corrected
    zero-one error, `PUError`, beside it.

    Parameters
    ----------
    loss : {"sigmoid", "logistic"}
        ℓ(z) = 1/(1 + exp z), or ℓ(z) = log(1 + exp(−z)).
    {shared}
    **torchmetrics_options
        Options of `torchmetrics.Metric`.

    References
    ----------
    Kiryo, Niu, du Plessis and Sugiyama (2017), Positive-unlabeled learning with non-negative risk
    estimator.

    Examples
    --------
    >>> import torch
    >>> from pueval.torch import NNPURisk
    >>> metric = NNPURisk(prior=0.5, target="unlabeled")
    >>> metric.update(torch.tensor([9., -9., -9.]), torch.tensor([1, 0, 0]))
    >>> metric.compute()
    tensor(6.1697e-05)
    """

    non_negative = True


def risk_metrics(*, loss: Loss = "sigmoid", **options: Any) -> MetricCollection:
    """Return uPU risk, nnPU risk and the corrected zero-one error, as one collection.

    The three share one state. The error is that of predicting positive from a logit of 0.

    Parameters
    ----------
    loss : {"sigmoid", "logistic"}
        Loss of the two risks.
    **options
        Prior, target and other options of `UPURisk`.

    Returns
    -------
    torchmetrics.MetricCollection
        Its ``compute()`` returns ``upu_risk``, ``nnpu_risk`` and ``error``.

    Examples
    --------
    >>> import torch
    >>> from pueval.torch import risk_metrics
    >>> metrics = risk_metrics(prior=0.25)
    >>> metrics.update(torch.tensor([2., 1., 1., -1., -2., -3.]), torch.tensor([1, 1, 0, 0, 0, 0]))
    >>> {name: round(value.item(), 3) for name, value in metrics.compute().items()}
    {'error': 0.0, 'nnpu_risk': 0.157, 'upu_risk': 0.157}
    """
    return MetricCollection(
        {
            "upu_risk": UPURisk(loss=loss, **options),
            "nnpu_risk": NNPURisk(loss=loss, **options),
            "error": PUError(threshold=0.0, **options),
        }
    )


for _metric in (UPURisk, NNPURisk):
    _metric.__doc__ = (_metric.__doc__ or "").replace("{shared}", SHARED_PARAMETERS)
