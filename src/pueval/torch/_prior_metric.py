"""PriorMetric: the prior of a metric, given, or estimated and reused over epochs."""

from __future__ import annotations

from dataclasses import asdict
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal

from torchmetrics import Metric

from pueval._typing import Range, Target
from pueval.core.label_errors import LabelErrors
from pueval.core.mixture import Mixture
from pueval.counts.counts import Counts
from pueval.errors import Contradiction, InputError, warn_caller
from pueval.evaluation.assumptions import Assumptions, check_known_share, resolve_assumptions
from pueval.torch._prior_settings import check_settings, estimates_purity

if TYPE_CHECKING:
    from pueval.priors import PriorEstimate

# Name of nn.Module for what `get_extra_state` returns.
EXTRA_STATE = "_extra_state"


class PriorMetric(Metric):  # type: ignore[misc, unused-ignore]
    """Base of metrics with a prior: it counts epochs and resolves prior and purity."""

    def __init__(
        self,
        *,
        prior: float | Range | PriorEstimate | LabelErrors | None = None,
        prevalence: float | Range | None = None,
        label_frequency: float | Range | None = None,
        estimate_every: int | None = None,
        purity: float | Range | Literal["estimate"] = 1.0,
        target: Target = "population",
        **torchmetrics_options: Any,
    ) -> None:
        super().__init__(**torchmetrics_options)
        shares = {"prior": prior, "prevalence": prevalence, "label_frequency": label_frequency}
        self.shares = {name: value for name, value in shares.items() if value is not None}
        self.estimate_every = estimate_every
        self.purity = purity
        self.target = target
        check_settings(self.shares, estimate_every, purity, target)
        self.prior_estimate: PriorEstimate | None = None
        self.prior_epoch: int | None = None
        self.epoch = 0
        self._is_batch = False

    def forget_prior(self) -> None:
        """Forget the estimated prior, so that the next `compute` estimates it.

        Call it after a sanity check, which sees a few batches of an untrained model.
        """
        self.prior_estimate = self.prior_epoch = None
        self._computed = None

    @property
    def _estimate_is_due(self) -> bool:
        """Whether `compute` estimates the prior in this epoch."""
        if self.estimate_every is None or self._is_batch:
            return False
        last = self.prior_epoch
        return last is None or last == self.epoch or self.epoch - last >= self.estimate_every

    def _prior_arguments(self, counts: Counts) -> dict[str, Any]:
        """Return what is known about the prior; nothing if it is estimated or has no effect."""
        if not counts.n_unlabeled:
            return {}
        if self.estimate_every is None:
            return self.shares
        return {} if self._estimate_is_due else {"prior": self.prior_estimate}

    def _keep_estimate(self, assumptions: Assumptions) -> None:
        """Remember the estimate of this epoch, to reuse it."""
        if self._estimate_is_due and assumptions.estimate is not None:
            self.prior_estimate, self.prior_epoch = assumptions.estimate, self.epoch

    def _assumptions(self, counts: Counts, known: dict[str, Any]) -> Assumptions:
        prior, prevalence = known.get("prior"), known.get("prevalence")
        frequency = known.get("label_frequency")
        return resolve_assumptions(counts, self.target, self.purity, prior, prevalence, frequency)

    def _resolve(self, counts: Counts) -> Mixture | None:
        """Return prior and purity for these counts; None if there are none.

        In a batch there are none before the first estimate, and if the batch is too small for a
        share that fits all rows. In an epoch there are none if the estimate fails and there is no
        earlier one, which is said in a warning.
        """
        if self._is_batch and self.estimate_every is not None and self.prior_estimate is None:
            return None
        known = self._prior_arguments(counts)
        try:
            assumptions = self._assumptions(counts, known)
        except InputError as error:
            if self._is_batch:
                return None
            if known:
                if not estimates_purity(known, self.purity):
                    raise
                # It raises the same error if the rows contradict the share.
                ((name, value),) = known.items()
                check_known_share(counts, self.target, name, value)  # type: ignore[arg-type]
            return self._without_estimate(counts, error)
        self._keep_estimate(assumptions)
        for warning in () if self._is_batch else assumptions.warnings:
            warn_caller(warning)
        return assumptions.mixture

    def _without_estimate(self, counts: Counts, error: InputError) -> Mixture | None:
        """Warn that the estimate failed; return the last estimate, if there is one."""
        reused = self.prior_estimate if counts.n_unlabeled else None
        self._warn_of_failure(error, reused)
        if reused is None:
            return None
        return self._assumptions(counts, {"prior": reused}).mixture

    def _warn_of_failure(self, error: InputError, reused: PriorEstimate | None) -> None:
        what = "purity" if self.estimate_every is None else "prior"
        instead = "The value is NaN"
        if reused is not None:
            instead = f"The prior {reused.prior:.3g} of epoch {self.prior_epoch} is reused"
        warn_caller(
            f"the {what} could not be estimated in epoch {self.epoch}: {error} {instead}, and the "
            "next epoch estimates again."
        )

    # ------------------------------------------------------------------ checkpoints

    def get_extra_state(self) -> dict[str, Any]:
        """Return epoch and estimated prior for ``state_dict``, as plain numbers and text."""
        estimate = self.prior_estimate
        return {
            "epoch": self.epoch,
            "prior_epoch": self.prior_epoch,
            "prior_estimate": None if estimate is None else _plain_estimate(estimate),
        }

    def set_extra_state(self, state: dict[str, Any]) -> None:
        """Continue with the epoch and the estimated prior of a checkpoint."""
        self.epoch, self._computed = state["epoch"], None
        if self.estimate_every is not None:
            saved = state["prior_estimate"]
            self.prior_epoch = state["prior_epoch"]
            self.prior_estimate = None if saved is None else _read_estimate(saved)

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:  # noqa: FBT001
        super()._save_to_state_dict(destination, prefix, keep_vars)
        # A given prior is an argument, so networks load with or without such a metric.
        if self.estimate_every is None:
            del destination[prefix + EXTRA_STATE]

    def _load_from_state_dict(
        self,
        state_dict: Any,
        prefix: str,
        local_metadata: Any,
        strict: bool,  # noqa: FBT001
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        super()._load_from_state_dict(
            state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs
        )
        if self.estimate_every is None and prefix + EXTRA_STATE in missing_keys:
            missing_keys.remove(prefix + EXTRA_STATE)


def _plain_estimate(estimate: PriorEstimate) -> dict[str, Any]:
    """Return an estimate in types that ``torch.load`` reads with ``weights_only=True``."""
    plain: dict[str, Any] = _plain({**asdict(estimate), "warnings": ()})
    plain["warnings"] = [(str(text), isinstance(text, Contradiction)) for text in estimate.warnings]
    return plain


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(entry) for key, entry in value.items()}
    if isinstance(value, tuple):
        return tuple(map(_plain, value))
    return float(value) if isinstance(value, Real) else value


def _read_estimate(plain: dict[str, Any]) -> PriorEstimate:
    from pueval.priors._estimation_result import MemberEstimate, PriorEstimate

    members = {name: MemberEstimate(**member) for name, member in plain["members"].items()}
    texts = (Contradiction(text) if is_one else text for text, is_one in plain["warnings"])
    return PriorEstimate(**{**plain, "members": members, "warnings": tuple(texts)})
