"""The arguments that all metrics share, written once.

Functions take them as ``**labels`` or ``**how``; `spelled_out` shows them one by one in the
signature and refuses others.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from functools import wraps
from typing import Any, TypedDict, TypeVar, cast

from pueval._typing import Target
from pueval.core.measures import clip, was_clipped
from pueval.core.mixture import Mixture, check_target
from pueval.counts.counts import Counts
from pueval.errors import AssumptionWarning

Function = TypeVar("Function", bound=Callable[..., Any])


class Labels(TypedDict, total=False):
    """What the labels mean, and what rows weigh."""

    pos_label: Any
    unlabeled_label: Any
    negative_label: Any
    sample_weight: Any


class How(Labels, total=False):
    """The assumptions of the correction, and what the labels mean."""

    purity: float
    target: Target


_DEFAULTS: dict[str, Any] = {
    "purity": 1.0,
    "target": "population",
    "pos_label": 1,
    "unlabeled_label": 0,
    "negative_label": None,
    "sample_weight": None,
}

_DESCRIPTION = """prior : float
        Share of positives among the unlabeled rows.
    purity : float, default 1.0
        Share of true positives among the labeled rows.
    target : {"population", "unlabeled"}
        Whose performance: of all rows, or of the unlabeled ones alone.
    """
_LABELS = """pos_label, unlabeled_label, negative_label : optional
        Values of ``y_true`` for labeled, unlabeled and known negative rows.
    sample_weight : array-like of shape (n,), optional
        Weights of the rows."""
DESCRIBED = {"{how}": _DESCRIPTION + _LABELS, "{labels}": _LABELS}


def spelled_out(function: Function) -> Function:
    """Show the shared arguments of ``function`` one by one, in its signature and its docs."""
    signature = inspect.signature(function)
    parameters = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
    shared = next(name for name, p in signature.parameters.items() if p.kind is p.VAR_KEYWORD)
    names = list(_DEFAULTS) if shared == "how" else list(Labels.__annotations__)
    parameters += [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=_DEFAULTS[name])
        for name in names
    ]
    shown = signature.replace(parameters=parameters)

    @wraps(function)
    def checked(*args: Any, **kwargs: Any) -> Any:
        shown.bind(*args, **kwargs)
        return function(*args, **kwargs)

    checked.__signature__ = shown  # type: ignore[attr-defined]
    for place, text in DESCRIBED.items():
        checked.__doc__ = (checked.__doc__ or "").replace(place, text)
    return cast("Function", checked)


def read(y_true: Any, score: Any, prior: float = 0.0, **how: Any) -> tuple[Counts, Mixture, Target]:
    """Turn the arguments of a metric into counts, mixture and target."""
    counts = Counts.from_arrays(
        y_true,
        score,
        sample_weight=how.get("sample_weight"),
        **{name: how[name] for name in Labels.__annotations__ if name in how and "label" in name},
    )
    counts._check_nonempty()
    mixture = Mixture(prior, how.get("purity", _DEFAULTS["purity"]))
    target = how.get("target", _DEFAULTS["target"])
    check_target(target)
    return counts, mixture, target


def clipped(name: str, value: float, low: float = 0.0, high: float = 1.0, depth: int = 4) -> float:
    """Clip a corrected value to its range, and say so to the caller ``depth`` calls above."""
    inside = clip(value, low, high)
    if was_clipped(value, inside):
        warnings.warn(
            f"the corrected {name} is {value:.4g} and was clipped to {inside:g}: too few rows to "
            "tell, or prior, purity or random labeling do not fit this ranking.",
            AssumptionWarning,
            stacklevel=depth,
        )
    return inside
