"""Numbers of an evaluation for experiment trackers: MLflow, W&B, TensorBoard, Lightning.

None of these packages is imported. A tracker is recognized by the method that takes numbers.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from pueval._checks import check_count
from pueval._typing import Range
from pueval.errors import InputError

if TYPE_CHECKING:
    from pueval.evaluation.evaluation import Evaluation


def tracked_numbers(ev: Evaluation, prefix: str = "") -> dict[str, float]:
    """Return the numbers to track by name; undefined ones are left out.

    Names have no slash of their own: MLflow keeps ``a/b`` in a folder ``a``, where no file ``a``
    can be.
    """
    numbers = {
        "prior": ev.prior,
        "purity": ev.purity,
        "prevalence": ev.prevalence,
        "threshold": ev.threshold,
    }
    for share, (low, high) in _share_intervals(ev).items():
        numbers[f"{share}_low"], numbers[f"{share}_high"] = low, high
    for measure, estimate in ev.items():
        numbers[measure] = estimate.value
        for name in ("low", "high", "naive"):
            numbers[f"{measure}_{name}"] = getattr(estimate, name)
    return {
        f"{prefix}{name}": float(number)
        for name, number in numbers.items()
        if math.isfinite(number)
    }


def _share_intervals(ev: Evaluation) -> dict[str, Range]:
    """Return the intervals of prior and purity, without those of shares that are exact.

    Given intervals are assumptions. Estimates and audits have confidence intervals, which an
    evaluation without intervals leaves out.
    """
    assumptions = ev.assumptions
    prior, purity = assumptions.prior_range, None
    if assumptions.region is not None:
        purity = assumptions.region.purity
    elif ev.resampling is None:
        prior = None
    elif assumptions.audited is not None:
        purity = assumptions.audited.purity
    elif assumptions.estimate is not None:
        purity = assumptions.estimate.purity_interval
    intervals = {"prior": prior, "purity": purity}
    return {
        share: interval
        for share, interval in intervals.items()
        if interval is not None and interval[0] < interval[1]
    }


def log_numbers(target: Any, ev: Evaluation, *, step: int | None, prefix: str) -> None:
    """Log the numbers of an evaluation to an experiment tracker."""
    if step is not None:
        check_count("step", step, least=0)
        step = int(step)
    if not isinstance(prefix, str):
        raise InputError(f'prefix must be text, such as "validation/"; got {prefix!r}.')
    if _has_methods(target, "log_metrics"):  # MLflow, loggers of Lightning
        target.log_metrics(tracked_numbers(ev, prefix), step=step)
    elif _has_methods(target, "add_scalar"):  # TensorBoard
        for name, number in tracked_numbers(ev, prefix).items():
            target.add_scalar(name, number, global_step=step)
    elif _has_methods(target, "log", "define_metric"):  # W&B; many objects have a method log
        target.log(tracked_numbers(ev, prefix), step=step)
    else:
        raise InputError(
            "log_to() takes the module mlflow, a run of wandb.init(), a SummaryWriter of "
            f"TensorBoard, or a logger of Lightning; got {_description(target)}."
        )


def _has_methods(target: Any, *names: str) -> bool:
    """Return whether an object, not a class of such objects, has methods of these names."""
    if isinstance(target, type):
        return False
    return all(callable(getattr(target, name, None)) for name in names)


def _description(target: Any) -> str:
    """Describe what was passed, and what to pass instead where this is clear."""
    if isinstance(target, str):
        return repr(target)
    kind = target if isinstance(target, type) else type(target)
    name = f"{kind.__module__}.{kind.__qualname__}".removeprefix("builtins.")
    if kind is target:
        return f"the class {name}. Pass an object of it"
    if kind.__module__.partition(".")[0] == "mlflow":
        return f"an object of type {name}. Pass the module itself: it logs to the active run"
    return f"an object of type {name}"
