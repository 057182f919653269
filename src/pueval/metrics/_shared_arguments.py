"""Arguments shared by all metrics, defined and documented once.

Functions take them as ``**labels`` or ``**options``; `expand_shared_arguments` lists them in the
signature and the docstring, and refuses unexpected ones.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from functools import wraps
from typing import Any, TypedDict, TypeVar, cast

from pueval._checks import check_number, percent_hint
from pueval._typing import Target
from pueval.core.measures import clip, was_clipped
from pueval.core.mixture import Mixture, check_target
from pueval.counts.counts import Counts
from pueval.errors import InputError, warn_caller

Function = TypeVar("Function", bound=Callable[..., Any])


class LabelArguments(TypedDict, total=False):
    """Label values and weights."""

    pos_label: Any
    unlabeled_label: Any
    negative_label: Any
    sample_weight: Any


class CorrectionArguments(LabelArguments, total=False):
    """Assumptions of the correction, label values and weights."""

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

_CORRECTION_DOCS = """prior : float
        Share of positives among the unlabeled rows, in [0, purity).
    purity : float, default 1.0
        Share of true positives among the labeled rows, in (0, 1].
    target : {"population", "unlabeled"}, default "population"
        Population to evaluate: all rows, or only the unlabeled rows.
    """
_LABEL_DOCS = """pos_label, unlabeled_label, negative_label : optional
        Values of ``y_true`` for labeled positives, unlabeled rows and known negatives.
    sample_weight : array-like of shape (n,), optional
        Weights of the rows."""
_Y_TRUE_DOCS = """y_true : array-like of shape (n,)
        Labels: 1 or True for labeled positives, 0 or False for unlabeled rows.
    """
_Y_SCORE_DOCS = """y_score : array-like of shape (n,)
        Scores; higher means more likely positive."""
_PROBABILITY_DOCS = """ : array-like of shape (n,)
        Probabilities of the positive class, in [0, 1]."""
_PRIOR_FREE_DOCS = _CORRECTION_DOCS.replace(
    "prior : float\n        Share of positives among the unlabeled rows, in [0, purity).",
    "prior : float, optional\n        Share of positives among the unlabeled rows, in [0, purity). "
    "Only needed if ``purity``\n        is below 1, or if there are known negatives and the target "
    'is "unlabeled".',
)
_PLACEHOLDERS = {
    "{options}": _CORRECTION_DOCS + _LABEL_DOCS,
    "{prior_free}": _PRIOR_FREE_DOCS + _LABEL_DOCS,
    "{labels}": _LABEL_DOCS,
    "{rows}": _Y_TRUE_DOCS + _Y_SCORE_DOCS,
} | {
    # scikit-learn's functions have different names for probabilities.
    f"{{{name}}}": _Y_TRUE_DOCS + name + _PROBABILITY_DOCS
    for name in ("y_prob", "y_proba", "y_pred")
}


def expand_shared_arguments(function: Function) -> Function:
    """List the shared arguments of a function in its signature and its docstring."""
    signature = inspect.signature(function)
    parameters = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
    shared = next(name for name, p in signature.parameters.items() if p.kind is p.VAR_KEYWORD)
    names = list(_DEFAULTS) if shared == "options" else list(LabelArguments.__annotations__)
    parameters += [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=_DEFAULTS[name])
        for name in names
    ]
    expanded = signature.replace(parameters=parameters)

    @wraps(function)
    def checked(*args: Any, **kwargs: Any) -> Any:
        try:
            expanded.bind(*args, **kwargs)
        except TypeError as error:
            raise _argument_error(function.__name__, error) from None
        return function(*args, **kwargs)

    checked.__signature__ = expanded  # type: ignore[attr-defined]
    for placeholder, text in _PLACEHOLDERS.items():
        checked.__doc__ = (checked.__doc__ or "").replace(placeholder, text)
    return cast("Function", checked)


def _argument_error(function: str, error: TypeError) -> TypeError:
    """Return the error for arguments that do not fit; say how to do without a known prior."""
    # Newer versions of Python call it a required keyword-only argument.
    if not re.fullmatch(r"missing a required .*argument: 'prior'", str(error)):
        return TypeError(f"{function}() {error}")
    return TypeError(
        f"{function}() needs prior, the share of positives among the unlabeled rows. Pass prior=0 "
        "for the naive value. If you do not know it, pueval.evaluate estimates it."
    )


def read_arguments(
    y_true: Any, score: Any, prior: float = 0.0, **options: Any
) -> tuple[Counts, Mixture, Target]:
    """Return the counts, mixture and target described by the arguments of a metric."""
    labels = {name: options[name] for name in LabelArguments.__annotations__ if name in options}
    counts = Counts.from_arrays(y_true, score, **labels)
    counts._check_nonempty()
    mixture = Mixture(prior, options.get("purity", _DEFAULTS["purity"]))
    target = options.get("target", _DEFAULTS["target"])
    check_target(target)
    return counts, mixture, target


def check_part(name: str, value: object) -> float:
    """Return a number in (0, 1]."""
    number = check_number(name, value)
    if not 0 < number <= 1:
        raise InputError(f"{name} must be in (0, 1]; got {value!r}.{percent_hint(value)}")
    return number


def clip_with_warning(name: str, value: float, low: float = 0.0, high: float = 1.0) -> float:
    """Clip a corrected value to its range, with a warning."""
    inside = clip(value, low, high)
    if was_clipped(value, inside):
        warn_caller(
            f"the corrected {name} is {value:.4g} and was clipped to {inside:g}. Either there are "
            "too few rows, or the prior, the purity or random labeling does not fit these data."
        )
    return inside
