"""PUMetric: rows seen so far as a state that adds up, and the prior they are evaluated with."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, cast

import torch
from torch import Tensor

from pueval.counts.counts import Counts
from pueval.counts.score_warnings import warn_of_ties
from pueval.errors import InputError
from pueval.sources.labels import LabelValues
from pueval.torch._binned_scores import add_rows, check_state_bins, counts_from_state, state_size
from pueval.torch._prior_metric import PriorMetric
from pueval.torch._tensor_rows import (
    is_low_precision,
    narrow_scores,
    read_rows,
    values_per_doubling,
)

if TYPE_CHECKING:
    from torchmetrics import Metric

Function = TypeVar("Function", bound=Callable[..., Any])

SHARED_PARAMETERS = """prior : float, (low, high), PriorEstimate or LabelErrors, optional
        Share of positives among the unlabeled rows, in [0, 1). Give exactly one of ``prior``,
        ``prevalence``, ``label_frequency`` and ``estimate_every``.
    prevalence : float or (low, high), optional
        Share of positives in the target, in [0, 1].
    label_frequency : float or (low, high), optional
        Share of all positives that are labeled, in (0, 1].
    estimate_every : int, optional
        Estimate the prior from the rows of the first epoch and of every ``estimate_every``-th
        after it, and reuse the estimate in the epochs between. Epochs end with ``reset()``. If
        an estimate fails, an AssumptionWarning says so, the last one is reused, and the next epoch
        estimates again. ``prior_estimate`` and ``prior_epoch`` have the estimate in use and its
        epoch, and ``state_dict`` saves them.
    purity : float, (low, high) or "estimate", default 1.0
        Share of true positives among the labeled rows, as for `pueval.evaluate`.
    target : {"population", "unlabeled"}, default "population"
        Population to evaluate: all rows, or only the unlabeled rows.
    bins : int, optional
        Number of bins per doubling of the score, a power of 2 up to 4096 such as 256. The state
        then has a fixed size and scores are read as float32. By default every score is kept.
    pos_label, unlabeled_label, negative_label : float, optional
        Label values of labeled positives, unlabeled rows and known negatives."""

# Settings, beside the prior, that ``repr`` shows if they differ from these defaults.
SHOWN_DEFAULTS = {
    "estimate_every": None,
    "threshold": None,
    "loss": "sigmoid",
    "purity": 1.0,
    "target": "population",
    "bins": None,
}
# Attributes, beside states, that ``forward`` of TorchMetrics changes while it evaluates a batch.
CHANGED_BY_FORWARD = (
    "_update_count",
    "_to_sync",
    "_should_unsync",
    "_enable_grad",
    "_is_synced",
    "_cache",
    "_computed",
    "_low_precision",
    "compute_on_cpu",
)


def _not_compiled(function: Function) -> Function:
    """Keep ``torch.compile`` from tracing a function, and the NumPy code that it calls."""

    @functools.wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        if torch.compiler.is_compiling():
            return torch.compiler.disable(function)(*args, **kwargs)
        return function(*args, **kwargs)

    return cast("Function", run)


class PUMetric(PriorMetric):
    """Base of all metrics: it collects rows.

    Exact states are lists of scores and of kinds of rows, which processes concatenate. Binned
    states are numbers of rows by kind and bin, which processes add, and the lowest and highest
    score of each bin.
    """

    is_differentiable: ClassVar[bool] = False
    full_state_update: ClassVar[bool] = False
    _update_count: int
    # Lists of tensors, which synchronization turns into tensors.
    scores: Any
    kinds: Any
    rows: Tensor
    lowest: Tensor
    highest: Tensor

    def __init__(
        self,
        *,
        bins: int | None = None,
        pos_label: float = 1,
        unlabeled_label: float = 0,
        negative_label: float | None = None,
        **options: Any,
    ) -> None:
        super().__init__(**options)
        self.labels = LabelValues(pos_label, unlabeled_label, negative_label)
        self.bins = None if bins is None else check_state_bins(bins)
        self._low_precision: torch.dtype | None = None
        # Collections merge metrics with states of the same names and values. Metrics with other
        # labels must differ, also while they have seen the same rows: this state is always empty.
        self.add_state(_labels_name(self.labels), default=[], dist_reduce_fx=None)
        if self.bins is None:
            self.add_state("scores", default=[], dist_reduce_fx="cat")
            self.add_state("kinds", default=[], dist_reduce_fx="cat")
            return
        size = state_size(self.bins)
        ends = torch.full((size,), torch.inf, dtype=torch.float32)
        rows = torch.zeros(3, size, dtype=torch.int64)
        self.add_state("rows", default=rows, dist_reduce_fx="sum")
        self.add_state("lowest", default=ends, dist_reduce_fx="min")
        self.add_state("highest", default=-ends, dist_reduce_fx="max")

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
        read, kinds = read_rows(scores, labels, self.labels)
        if self.bins is not None:
            read = narrow_scores(read)
        if is_low_precision(scores.dtype):
            self._low_precision = scores.dtype
        if self.bins is None:
            self.scores.append(read)
            self.kinds.append(kinds)
            return
        if self.rows.is_inference() and not torch.is_inference_mode_enabled():
            # States from inference mode cannot change in place outside it.
            self.rows, self.lowest, self.highest = (
                state.clone() for state in (self.rows, self.lowest, self.highest)
            )
        kinds, read = kinds.to(self.rows.device), read.to(self.rows.device)
        add_rows(self.rows, self.lowest, self.highest, kinds, read, self.bins)

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
        """Return the counts; warn if half precision or less ties many labeled rows with others."""
        counts, dtype = self.counts, self._low_precision
        if counts.n and not self._update_count:
            self._update_count = 1  # other processes have rows, so this is an epoch here, too
        if dtype is None or self._is_batch:
            return counts
        # Bins that are no finer than the type lose at least as much, and were asked for.
        if self.bins is None or self.bins > values_per_doubling(dtype):
            warn_of_ties(counts, dtype)
        return counts

    def reset(self) -> None:
        """Forget the rows; the next epoch begins if there were any. A reused prior is kept."""
        if not self._is_batch:
            self.epoch += bool(self._update_count)
            self._low_precision = None
        super().reset()

    def merge_state(self, incoming_state: dict[str, Any] | Metric) -> None:
        """Add the rows of another metric with equal settings, or of its states.

        Parameters
        ----------
        incoming_state : Metric or dict
            The other metric, or its states by name.
        """
        super().merge_state(incoming_state)
        self._computed = None  # TorchMetrics would return the value from before
        if isinstance(incoming_state, PUMetric):
            self._update_count += incoming_state._update_count
            self._low_precision = self._low_precision or incoming_state._low_precision
        else:
            self._update_count += 1

    @_not_compiled
    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Add the rows of a batch, and return the value of this batch alone.

        It uses the prior that is given or was estimated before. It is NaN if there is none yet, if
        the batch has no labeled or no unlabeled rows, or if it is so small that its number of
        labeled rows contradicts the prevalence or the label frequency. If the batch is refused, the
        rows of the batches before it are kept.
        """
        self._is_batch = True
        try:
            with self._restored_on_error():
                return super().forward(*args, **kwargs)
        finally:
            self._is_batch = False

    @contextmanager
    def _restored_on_error(self) -> Iterator[None]:
        """Restore the rows if a batch is refused: ``forward`` removes them meanwhile."""
        # Lists are emptied in place.
        before = {
            name: list(value) if isinstance(value, list) else value
            for name in (*self._defaults, *CHANGED_BY_FORWARD)
            for value in (getattr(self, name),)
        }
        try:
            yield
        except BaseException:
            for name, value in before.items():
                setattr(self, name, value)
            raise

    def _wrap_compute(self, compute: Callable[..., Any]) -> Callable[..., Any]:
        """Restore the rows of this process if an evaluation of those of all processes fails."""
        wrapped = super()._wrap_compute(compute)

        @_not_compiled
        @functools.wraps(compute)
        def restoring() -> Any:
            try:
                return wrapped()
            except BaseException:
                if self._is_synced and self._should_unsync:
                    self.unsync()
                raise

        return restoring

    def __repr__(self) -> str:
        settings = {name: getattr(self, name, default) for name, default in SHOWN_DEFAULTS.items()}
        changed = {name: value for name, value in settings.items() if value != SHOWN_DEFAULTS[name]}
        given = [f"{name}={_shown(value)}" for name, value in (self.shares | changed).items()]
        text = f"{type(self).__name__}({', '.join(given)})"
        if self.prior_estimate is None:
            return text
        prior = f"{self.prior_estimate.prior:.3g}"
        return f"{text}: prior {prior}, estimated in epoch {self.prior_epoch}"

    # ------------------------------------------------------------------ types and processes

    def set_dtype(self, dst_type: str | torch.dtype) -> PUMetric:
        """Set the type of the values that `compute` returns.

        States keep their types: they hold numbers of rows, and scores as they are.
        """
        dtype = torch.empty(0).type(dst_type).dtype
        if not dtype.is_floating_point:
            raise InputError(f"values are floating-point numbers; got {dst_type}.")
        self._dtype, self._computed = dtype, None
        return self

    def _apply(self, fn: Callable[[Tensor], Tensor], exclude_state: Any = "") -> PUMetric:
        """Move states to another device, but keep their types."""
        dtype = self._dtype
        super()._apply(lambda tensor: tensor.to(fn(tensor).device), exclude_state)
        self._dtype = dtype
        return self

    def _sync_dist(self, dist_sync_fn: Any = None, process_group: Any = None) -> None:
        """Gather states; a process without rows sends empty tensors of the others' types.

        Some backends only send tensors of the metric's device, also if scores are on the CPU.
        """
        if self.bins is None:
            wide = any(part.dtype == torch.float64 for part in self.scores)
            group = process_group or self.process_group
            flags = dist_sync_fn(torch.tensor([int(wide)], device=self.device), group=group)
            dtype = torch.float64 if max(int(flag) for flag in flags) else torch.float32
            for name, kind in (("scores", dtype), ("kinds", torch.int8)):
                parts = [part.to(kind) for part in getattr(self, name)]
                whole = torch.cat(parts) if parts else torch.empty(0, dtype=kind)
                setattr(self, name, [whole.to(self.device)])
        super()._sync_dist(dist_sync_fn, process_group)


def _shown(setting: Any) -> str:
    """Return a setting as text; an estimated prior, whose text is a table, as a number."""
    if hasattr(setting, "prior_interval"):
        return f"{setting.prior:.3g}"
    return repr(setting) if isinstance(setting, str) else str(setting)


def _labels_name(labels: LabelValues) -> str:
    """Return a name for the label values, the same for equal ones; refuse what is no number."""
    for name, value in labels.arguments.items():
        if value is not None and not isinstance(value, Real):
            raise InputError(
                f"{name} must be a number, since labels are tensors; got {value!r}. Convert the "
                "labels."
            )
    names = ["none" if value is None else str(float(value)) for value in labels.values]
    return "_".join(["labels", *names]).replace(".", ",")  # torch.compile refuses names with dots
