"""Arguments of functions that take either labels and scores, or Counts."""

from __future__ import annotations

import difflib
import inspect
import math
import os
from collections.abc import Callable, Sequence
from functools import wraps
from numbers import Real
from typing import Any, TypeVar, cast

from pueval._checks import short_text
from pueval.counts.counts import Counts
from pueval.errors import InputError
from pueval.sources.arrays import text_error

Function = TypeVar("Function", bound=Callable[..., Any])

DEFAULT_LABELS = {"pos_label": 1, "unlabeled_label": 0, "negative_label": None}
# Names of arguments in other libraries, and ours.
SCORES = ("score", "scores")
SYNONYMS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("y_true", "label", "labels", "y_train"), ("y",)),
    **dict.fromkeys(("y_score", "y_pred", "y_prob", "y_proba", "probas_pred", *SCORES), SCORES),
    **dict.fromkeys(("group", "groups"), ("by", "cluster")),
    **dict.fromkeys(("clusters", "subject", "patient"), ("cluster",)),
    **dict.fromkeys(("class_prior", "positive_prior"), ("prior",)),
    **dict.fromkeys(("weight", "weights"), ("sample_weight",)),
    **dict.fromkeys(("sensitivity", "tpr", "min_recall"), ("recall",)),
    **dict.fromkeys(("false_positive_rate", "max_fpr"), ("fpr",)),
}
# Arguments that similar functions have, by function, and why this one does not.
UNSUPPORTED = {
    ("evaluate_over_time", "cluster"): (
        "changes and alarms need windows that are independent, and a cluster with rows in several "
        "windows makes them dependent. For intervals of the windows, call evaluate_by(y, score, "
        "window, cluster=cluster)"
    ),
    ("threshold_for", "specificity"): (
        "a specificity of at least s is a false positive rate of at most 1 - s. Use fpr=1 - s"
    ),
}


def suggest_arguments(function: Function) -> Function:
    """Make a function refuse unknown arguments with the names it has, such as y for y_true."""
    parameters = inspect.signature(function).parameters
    positional = [
        name for name in parameters if parameters[name].kind is not inspect.Parameter.KEYWORD_ONLY
    ]
    names = [name for name in parameters if name != "self"]

    @wraps(function)
    def checked(*args: Any, **kwargs: Any) -> Any:
        unknown = [name for name in kwargs if name not in names]
        if unknown:
            raise _unknown_arguments_error(function.__name__, unknown, names)
        if len(args) > len(positional):
            raise _positional_arguments_error(function.__name__, args, positional, names)
        return function(*args, **kwargs)

    return cast("Function", checked)


def _positional_arguments_error(
    function: str, args: Sequence[Any], positional: list[str], names: list[str]
) -> TypeError:
    extra = args[len(positional)]
    if positional == ["self"]:
        return TypeError(
            f"{function}() takes no argument by position; got {short_text(extra)}. Name it: "
            f"{', '.join(names)}."
        )
    *first, last = positional
    is_share = isinstance(extra, int | float) and not isinstance(extra, bool) and 0 <= extra < 1
    advice = f"Did you mean prior={extra:g}?" if is_share and "prior" in names else ""
    return TypeError(
        f"{function}() takes only {', '.join(first)} and {last} by position; got {len(args)} "
        f"arguments. Pass the others by name. {advice}".rstrip()
    )


def _unknown_arguments_error(function: str, unknown: list[str], names: list[str]) -> TypeError:
    suggested = []
    for name in unknown:
        if (function, name) in UNSUPPORTED:
            reason = UNSUPPORTED[function, name]
            return TypeError(f"{function}() has no argument {name!r}: {reason}.")
        synonyms = [synonym for synonym in SYNONYMS.get(name, ()) if synonym in names]
        suggested += (synonyms or difflib.get_close_matches(name, names, n=1, cutoff=0.7))[:1]
    advice = f"Its arguments are {', '.join(names)}."
    if len(suggested) == len(unknown):
        advice = f"Use {' and '.join(map(repr, suggested))}."
    return TypeError(f"{function}() has no argument {' or '.join(map(repr, unknown))}. {advice}")


def read_counts(
    y: Any,
    score: Any,
    *,
    sample_weight: Any,
    function: str,
    propensity: Any = None,
    cluster: Any = None,
    **labels: Any,
) -> Counts:
    """Return the Counts that the arguments of a function describe.

    Parameters
    ----------
    y : array-like or Counts
        Labels; or Counts, which are returned as they are.
    score : array-like or None
        Scores; None with Counts.
    sample_weight, propensity, cluster : array-like or None
        As for `Counts.from_arrays`; None with Counts.
    function : str
        Name of the function, for messages.
    **labels
        The arguments ``pos_label``, ``unlabeled_label`` and ``negative_label``; their default
        values with Counts.
    """
    if isinstance(y, Counts):
        if any(given is not None for given in (score, sample_weight, propensity, cluster)):
            raise InputError(
                "score, sample_weight, propensity and cluster are for arrays; Counts already "
                "include them. Leave them out."
            )
        changed = [name for name, value in labels.items() if value != DEFAULT_LABELS[name]]
        if changed:
            raise InputError(
                f"{' and '.join(changed)}: Counts hold no labels. Pass label values where you "
                "count the rows."
            )
        return y
    if isinstance(y, str | os.PathLike):
        raise text_error("y", y)
    if score is None:
        raise InputError(
            f"score is missing. Call {function}(y, score, …) or {function}(counts, …)."
        )
    return Counts.from_arrays(
        y, score, sample_weight=sample_weight, propensity=propensity, cluster=cluster, **labels
    )


def check_threshold(threshold: float) -> float:
    """Return a threshold as a float; refuse NaN."""
    number: object = threshold
    if not isinstance(number, Real) or math.isnan(threshold):
        raise InputError(f"threshold must be a number; got {threshold!r}.")
    return float(threshold)
