"""PUMetric: rows seen so far as a state that adds up, and the prior they are evaluated with."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import torch
from torch import Tensor
from torchmetrics import Metric

from pueval._typing import Range, Target
from pueval.core.mixture import Mixture, check_share, check_target
from pueval.counts.counts import Counts
from pueval.counts.score_warnings import warn_of_ties
from pueval.errors import AssumptionWarning, InputError
from pueval.evaluation.assumptions import Assumptions, resolve_assumptions
from pueval.sources.labels import LabelValues
from pueval.torch._binned_scores import (
    bin_places,
    check_state_bins,
    count_places,
    counts_from_state,
    state_size,
)
from pueval.torch._tensor_rows import read_kinds, read_scores

if TYPE_CHECKING:
    from pueval.priors import PriorEstimate

SHARED_PARAMETERS = """prior : float, (low, high) or PriorEstimate, optional
        Share of positives among the unlabeled rows, in [0, 1). Give exactly one of ``prior``,
        ``prevalence``, ``label_frequency`` and ``estimate_every``.
    prevalence : float or (low, high), optional
        Share of positives in the target, in [0, 1].
    label_frequency : float or (low, high), optional
        Share of all positives that are labeled, in (0, 1].
    estimate_every : int, optional
        Estimate the prior from the rows of the first epoch and of every ``estimate_every``-th
        after it, and reuse the estimate in the epochs between. Epochs end with ``reset()``.
        ``prior_estimate`` and ``prior_epoch`` have the estimate in use and its epoch.
    purity : float, (low, high) or "estimate", default 1.0
        Share of true positives among the labeled rows, as for `pueval.evaluate`.
    target : {"population", "unlabeled"}, default "population"
        Population to evaluate: all rows, or only the unlabeled rows.
    bins : int, optional
        Number of bins per doubling of the score, a power of 2 up to 4096 such as 256. The state
        then has a fixed size and scores are read as float32. By default every score is kept.
    pos_label, unlabeled_label, negative_label : float, optional
        Label values of labeled positives, unlabeled rows and known negatives."""


class PUMetric(Metric):  # type: ignore[misc, unused-ignore]
    """Base of all metrics: it collects rows and resolves prior and purity.

    Exact states are lists of scores and of kinds of rows, which processes concatenate. Binned
    states are numbers of rows by kind and bin, which processes add, and the lowest and highest
    score of each bin.
    """

    is_differentiable: ClassVar[bool] = False
    full_state_update: ClassVar[bool] = False
    # Lists of tensors, which synchronization turns into tensors.
    scores: Any
    kinds: Any
    rows: Tensor
    lowest: Tensor
    highest: Tensor

    def __init__(
        self,
        *,
        prior: float | Range | PriorEstimate | None = None,
        prevalence: float | Range | None = None,
        label_frequency: float | Range | None = None,
        estimate_every: int | None = None,
        purity: float | Range | Literal["estimate"] = 1.0,
        target: Target = "population",
        bins: int | None = None,
        pos_label: float = 1,
        unlabeled_label: float = 0,
        negative_label: float | None = None,
        **torchmetrics_options: Any,
    ) -> None:
        super().__init__(**torchmetrics_options)
        shares = {"prior": prior, "prevalence": prevalence, "label_frequency": label_frequency}
        self.shares = {name: value for name, value in shares.items() if value is not None}
        self.estimate_every = estimate_every
        self.purity = purity
        self.target = target
        self.labels = LabelValues(pos_label, unlabeled_label, negative_label)
        self._check_assumptions()
        self.bins = None if bins is None else check_state_bins(bins)
        self.prior_estimate: PriorEstimate | None = None
        self.prior_epoch: int | None = None
        self.epoch = 0
        self._is_batch = False
        self._half: str | None = None
        if self.bins is None:
            self.add_state("scores", default=[], dist_reduce_fx="cat")
            self.add_state("kinds", default=[], dist_reduce_fx="cat")
            return
        size = state_size(self.bins)
        rows = torch.zeros(3, size, dtype=torch.int64)
        self.add_state("rows", default=rows, dist_reduce_fx="sum")
        self.add_state("lowest", default=torch.full((size,), torch.inf), dist_reduce_fx="min")
        self.add_state("highest", default=torch.full((size,), -torch.inf), dist_reduce_fx="max")

    # ------------------------------------------------------------------ rows

    def update(self, scores: Tensor, labels: Tensor) -> None:
        """Add the rows of a batch.

        Parameters
        ----------
        scores : Tensor of shape (n,) or (n, 1)
            Scores; higher means more likely positive.
        labels : Tensor of shape (n,) or (n, 1)
            Labels of the same rows.
        """
        if getattr(scores, "dtype", None) in {torch.float16, torch.bfloat16}:
            self._half = str(scores.dtype)
        scores = read_scores(scores)
        kinds = read_kinds(labels, self.labels)
        if scores.shape != kinds.shape:
            raise InputError(
                f"scores and labels must have the same length; got {scores.numel():,} scores and "
                f"{kinds.numel():,} labels."
            )
        kinds = kinds.to(scores.device)
        if self.bins is None:
            self.scores.append(scores)
            self.kinds.append(kinds)
            return
        scores = read_scores(scores.to(torch.float32))
        places = bin_places(scores, self.bins)
        self.rows = self.rows + count_places(kinds, places, self.bins)
        self.lowest = self.lowest.scatter_reduce(0, places, scores, "amin")
        self.highest = self.highest.scatter_reduce(0, places, scores, "amax")

    @property
    def counts(self) -> Counts:
        """The Counts of the rows seen since ``reset()``; in `compute`, those of all processes."""
        if self.bins is not None:
            return counts_from_state(self.rows, self.lowest, self.highest, self.bins)
        # After synchronization, states are tensors.
        scores, kinds = (
            torch.cat(part) if isinstance(part, list) and part else part
            for part in (self.scores, self.kinds)
        )
        if not len(scores):
            return Counts.empty()
        # Every score is kept, also of many labeled rows on a GPU.
        return Counts.from_arrays(
            kinds, scores, bins=None, pos_label=0, unlabeled_label=1, negative_label=2
        )

    def _counts_to_evaluate(self) -> Counts:
        """Return the counts; warn if half precision ties many labeled rows with others."""
        counts = self.counts
        if self._half is not None and self.bins is None and not self._is_batch:
            warn_of_ties(counts, self._half)
        return counts

    def reset(self) -> None:
        """Forget the rows; the next epoch begins if there were any. A reused prior is kept."""
        if not self._is_batch:
            self.epoch += bool(self._update_count)
            self._half = None
        super().reset()

    def forget_prior(self) -> None:
        """Forget the estimated prior, so that the next `compute` estimates it.

        Call it after a sanity check, which sees a few batches of an untrained model.
        """
        self.prior_estimate = self.prior_epoch = None
        self._computed = None

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Add the rows of a batch, and return the value of this batch alone.

        It uses the prior that is given or was estimated before. It is NaN if there is none yet, or
        if the batch has no labeled or no unlabeled rows.
        """
        self._is_batch = True
        try:
            return super().forward(*args, **kwargs)
        finally:
            self._is_batch = False

    # ------------------------------------------------------------------ prior and purity

    def _check_assumptions(self) -> None:
        check_target(self.target)
        every = self.estimate_every
        if every is not None:
            if isinstance(every, bool) or not isinstance(every, int) or every < 1:
                raise InputError(
                    f"estimate_every must be a number of epochs, at least 1; got {every!r}."
                )
            if self.shares:
                raise InputError(
                    f"{' and '.join(self.shares)} cannot be combined with estimate_every, which "
                    "estimates the prior. Leave one of them out."
                )
        elif len(self.shares) != 1:
            raise InputError(
                "give exactly one of prior, prevalence and label_frequency, or estimate_every to "
                f"estimate the prior from the scores; got {' and '.join(self.shares) or 'none'}."
            )
        for name, value in {**self.shares, "purity": self.purity}.items():
            if isinstance(value, int | float):
                check_share(name, value)
        if isinstance(self.purity, str) and self.purity != "estimate":
            raise InputError(
                f'purity must be a number, an interval or "estimate"; got {self.purity!r}.'
            )
        prior = self.shares.get("prior")
        if isinstance(prior, int | float) and isinstance(self.purity, int | float):
            Mixture(prior, self.purity)

    @property
    def _estimate_is_due(self) -> bool:
        """Whether `compute` estimates the prior in this epoch."""
        if self.estimate_every is None:
            return False
        if self._is_batch:
            return False
        last = self.prior_epoch
        return last is None or last == self.epoch or self.epoch - last >= self.estimate_every

    @property
    def _prior_arguments(self) -> dict[str, Any]:
        """What is known about the prior, as arguments of `evaluate`; nothing if it is estimated."""
        if self.estimate_every is None:
            return self.shares
        if self._estimate_is_due:
            return {}
        if self.prior_estimate is None:
            raise InputError("the prior has not been estimated yet. Call compute() first.")
        return {"prior": self.prior_estimate}

    def _keep_estimate(self, assumptions: Assumptions) -> None:
        """Remember the estimate of this epoch, to reuse it."""
        if self._estimate_is_due:
            self.prior_estimate, self.prior_epoch = assumptions.estimate, self.epoch

    def _resolve(self, counts: Counts) -> Mixture:
        """Return prior and purity for these counts, given, estimated or reused."""
        known = self._prior_arguments
        assumptions = resolve_assumptions(
            counts,
            self.target,
            self.purity,
            known.get("prior"),
            known.get("prevalence"),
            known.get("label_frequency"),
        )
        self._keep_estimate(assumptions)
        for warning in () if self._is_batch else assumptions.warnings:
            warnings.warn(warning, AssumptionWarning, stacklevel=2)
        return assumptions.mixture

    def __repr__(self) -> str:
        settings = {**self.shares, "estimate_every": self.estimate_every, "bins": self.bins}
        given = [f"{name}={value}" for name, value in settings.items() if value is not None]
        text = f"{type(self).__name__}({', '.join(given)})"
        if self.prior_estimate is None:
            return text
        prior = f"{self.prior_estimate.prior:.3g}"
        return f"{text}: prior {prior}, estimated in epoch {self.prior_epoch}"

    # ------------------------------------------------------------------ processes

    def _sync_dist(self, dist_sync_fn: Any = None, process_group: Any = None) -> None:
        """Gather states; a process without rows sends empty tensors of the others' types."""
        if self.bins is None:
            wide = any(part.dtype == torch.float64 for part in self.scores)
            group = process_group or self.process_group
            flags = dist_sync_fn(torch.tensor([int(wide)], device=self.device), group=group)
            dtype = torch.float64 if max(int(flag) for flag in flags) else torch.float32
            empty = torch.empty(0, device=self.device)
            self.scores = [torch.cat([empty, *self.scores]).to(dtype)]
            self.kinds = [torch.cat([empty.to(torch.int8), *self.kinds])]
        super()._sync_dist(dist_sync_fn, process_group)
