"""PUEvaluation: everything `pueval.evaluate` says, after each epoch."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pueval.counts.arguments import check_threshold
from pueval.counts.counts import Counts
from pueval.errors import InputError
from pueval.evaluation.evaluate import evaluate
from pueval.evaluation.evaluation import Evaluation
from pueval.torch._pu_metric import SHARED_PARAMETERS, PUMetric
from pueval.uncertainty.intervals import check_options

if TYPE_CHECKING:
    from torch import Tensor


class PUEvaluation(PUMetric):
    """Evaluation of all rows of an epoch as a TorchMetrics metric; `compute` returns an Evaluation.

    It has every measure with its confidence interval and naive value, and the warnings. For one
    number to log, use `PUAveragePrecision` and others. Assumes random labeling.

    Parameters
    ----------
    threshold : float, optional
        Score at or above which rows are predicted positive, as for `pueval.evaluate`.
    level : float or None, default 0.95
        Confidence level of the intervals; None for point estimates only, which is faster.
    n_resamples, seed : int
        Number of bootstrap resamples, and random seed.
    {shared}
    **torchmetrics_options
        Options of `torchmetrics.Metric`, such as ``compute_on_cpu``.

    Notes
    -----
    ``metric(scores, labels)`` only adds the rows and returns None, since evaluating every batch
    would be slow. See `PUMeasure` for how states add up across processes.

    Examples
    --------
    >>> import torch
    >>> from pueval.torch import PUEvaluation
    >>> generator = torch.Generator().manual_seed(0)
    >>> metric = PUEvaluation(prevalence=0.3)
    >>> for _ in range(20):
    ...     positive = torch.rand(1000, generator=generator) < 0.3
    ...     scores = torch.randn(1000, generator=generator) + 2 * positive
    ...     metric.update(scores, positive & (torch.rand(1000, generator=generator) < 0.2))
    >>> ev = metric.compute()
    >>> round(ev["roc_auc"].naive, 2), round(ev["roc_auc"].value, 2)
    (0.81, 0.92)
    """

    # It is no number: use one of the measures to compare epochs.
    higher_is_better = None

    def __init__(
        self,
        *,
        threshold: float | None = None,
        level: float | None = 0.95,
        n_resamples: int = 2000,
        seed: int = 0,
        **options: Any,
    ) -> None:
        super().__init__(**options)
        check_options(self.target, level=level, n_resamples=n_resamples, seed=seed)
        self.threshold = None if threshold is None else check_threshold(threshold)
        self.level, self.n_resamples, self.seed = level, n_resamples, seed

    def compute(self) -> Evaluation:
        """Evaluate all rows since ``reset()``, of all processes.

        Returns
        -------
        Evaluation
            In epochs that reuse an estimated prior, ``ev.assumptions.estimate_given`` is true.

        Raises
        ------
        InputError
            If there are no labeled rows, or neither unlabeled rows nor known negatives, since there
            is nothing to evaluate; or if the prior cannot be estimated and there is no earlier
            estimate. Measures, such as `PUAveragePrecision`, are NaN in these epochs.

        Warns
        -----
        AssumptionWarning
            As `pueval.evaluate`; also if the prior cannot be estimated and the last estimate is
            reused.
        """
        counts = self._counts_to_evaluate()
        counts._check_nonempty()
        known = self._prior_arguments(counts)
        try:
            ev = self._evaluate(counts, known)
        except InputError as error:
            has_fallback = counts.n_unlabeled and self.prior_estimate is not None
            if known or not has_fallback or self._can_estimate(counts):
                raise
            self._warn_of_failure(error, self.prior_estimate)
            return self._evaluate(counts, {"prior": self.prior_estimate})
        self._keep_estimate(ev.assumptions)
        return ev

    def _evaluate(self, counts: Counts, known: dict[str, Any]) -> Evaluation:
        return evaluate(
            counts,
            **known,
            purity=self.purity,
            target=self.target,
            threshold=self.threshold,
            level=self.level,
            n_resamples=self.n_resamples,
            seed=self.seed,
        )

    def _can_estimate(self, counts: Counts) -> bool:
        """Whether the prior can be estimated, so that an error has another reason."""
        try:
            self._assumptions(counts, {})
        except InputError:
            return False
        return True

    def forward(self, scores: Tensor, labels: Tensor) -> None:
        """Add the rows of a batch, as ``update`` does."""
        self.update(scores, labels)

    def plot(self, *_args: Any, **_options: Any) -> Any:
        """Refuse to plot, since there is no single number."""
        raise NotImplementedError(
            "PUEvaluation has no single number to plot. Plot its result, metric.compute().plot(), "
            "or use a metric of one measure, such as PUAveragePrecision."
        )

    def _wrap_compute(self, compute: Callable[..., Evaluation]) -> Callable[..., Evaluation]:
        """Hide the result from TorchMetrics, which looks for tensors in dataclasses."""
        wrapped = super()._wrap_compute(lambda: _Hidden(compute()))

        def unwrapped() -> Evaluation:
            result: Evaluation = wrapped().result
            return result

        return unwrapped


class _Hidden:
    """An evaluation that TorchMetrics can keep."""

    def __init__(self, result: Evaluation) -> None:
        self.result = result


PUEvaluation.__doc__ = (PUEvaluation.__doc__ or "").replace("{shared}", SHARED_PARAMETERS)
