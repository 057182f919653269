"""Rules for choosing a threshold: by precision, recall, false positive rate, rows or cost."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from pueval._checks import percent_hint
from pueval._typing import Array, Target
from pueval.core.measures import AREAS, MEASURES, Measure, cost, find_measure
from pueval.core.rates import Rates
from pueval.counts.counts import Counts
from pueval.errors import InputError
from pueval.samples.sample import score_range

# With fewer labeled rows at or above a threshold, precision there is mostly chance.
LEAST_LABELED = 10
# A measure that misses what was asked for by less than this does so by rounding.
ROUNDING = 1e-12


@dataclass(frozen=True)
class Rule:
    """How a threshold is chosen.

    Attributes
    ----------
    name : str
        What was asked for, for people.
    pick : callable
        From `Rates` to the index of the chosen threshold in each line, −1 where none will do.
    unreachable : callable
        From the same rates to what to say if none does.
    measure : Measure or None
        A measure that is no standard one, to be reported, too.
    exact : callable or None
        Finds the threshold itself, where it need not be the score of a labeled row.
    """

    name: str
    pick: Callable[[Rates], Array]
    unreachable: Callable[[Rates], str]
    measure: Measure | None = None
    exact: Callable[[], float] | None = None


def find_rule(counts: Counts, target: Target, asked: dict[str, Any]) -> Rule:
    """Return the rule for the one thing that was asked for."""
    given = {name: value for name, value in asked.items() if value is not None}
    if len(given) != 1:
        got = " and ".join(given) if given else "none of them"
        raise InputError(f"give exactly one of {', '.join(asked)}; got {got}.")
    [(name, value)] = given.items()
    if name == "best":
        return best_rule(value)
    if name == "top":
        return _top(counts, target, value)
    if name == "cost":
        if not isinstance(value, tuple | list) or len(value) != 2:
            raise InputError(
                "cost must be two numbers, the costs of a false positive and of a false negative; "
                f"got {value!r}."
            )
        return cost_rule(*value)
    _check_share(name, value)
    if name == "precision":
        return _precision(value, _highest(counts))
    return _recall(value) if name == "recall" else _fpr(value)


def cost_rule(false_positive: float, false_negative: float) -> Rule:
    """Return the rule of the least expected cost."""
    measure = cost(false_positive, false_negative)
    name = f"the least cost (false positive {false_positive:g}, false negative {false_negative:g})"
    return _extreme(name, measure, measure)


def best_rule(name: str) -> Rule:
    """Return the rule of the best value of a measure."""
    if name in AREAS:
        raise InputError(
            f"{name} is an area under a curve and has no threshold. "
            "Ask for the best of a measure at a threshold, such as 'f1'."
        )
    measure = find_measure(name)
    extra = None if measure.name in MEASURES else measure
    return _extreme(f"the best {measure.title}", measure, extra)


def _extreme(name: str, measure: Measure, extra: Measure | None) -> Rule:
    def pick(rates: Rates) -> Array:
        values = measure(rates) if measure.greater_is_better else -measure(rates)
        return _first(np.where(np.isnan(values), -np.inf, values))

    def unreachable(_: Rates) -> str:
        return f"{measure.name} is undefined at every threshold, so none is the best."

    return Rule(name, pick, unreachable, extra)


def _precision(wanted: float, highest: float) -> Rule:
    def pick(rates: Rates) -> Array:
        reached = MEASURES["precision"](rates) >= wanted - ROUNDING
        return _first(np.where(reached & (rates.threshold <= highest), rates.tpr, -np.inf))

    def unreachable(rates: Rates) -> str:
        precision = np.where(rates.threshold <= highest, MEASURES["precision"](rates), np.nan)
        best = int(np.nanargmax(precision))
        return (
            f"no threshold has a precision of {wanted:g}: the best attainable is "
            f"{precision[best]:.4g}, at {rates.threshold[best]:g}. Thresholds above {highest:g} "
            "are not considered, since fewer than "
            f"{LEAST_LABELED} labeled rows (or half of them) score that high. Ask for less."
        )

    return Rule(f"a precision of at least {wanted:g}", pick, unreachable)


def _recall(wanted: float) -> Rule:
    def pick(rates: Rates) -> Array:
        return _first(np.where(rates.tpr >= wanted - ROUNDING, 0.0, -np.inf))

    def unreachable(rates: Rates) -> str:
        return f"no threshold has a recall of {wanted:g}; the best is {rates.tpr.max():.4g}."

    return Rule(f"a recall of at least {wanted:g}", pick, unreachable)


def _fpr(wanted: float) -> Rule:
    def pick(rates: Rates) -> Array:
        allowed = (rates.fpr <= wanted + ROUNDING) & np.isfinite(rates.threshold)
        return _first(np.where(allowed, rates.tpr, -np.inf))

    def unreachable(rates: Rates) -> str:
        least = 1 + int(np.argmin(rates.fpr[1:]))
        return (
            f"no threshold that predicts anything positive has a false positive rate of at most "
            f"{wanted:g}: the least attainable is {rates.fpr[least]:.4g}, at "
            f"{rates.threshold[least]:g}. Ask for more."
        )

    return Rule(f"a false positive rate of at most {wanted:g}", pick, unreachable)


def _top(counts: Counts, target: Target, wanted: float) -> Rule:
    kinds = counts._samples[1:2] if target == "unlabeled" else counts._samples
    size = sum(kind.total for kind in kinds)
    if not (_is_number(wanted) and 0 < wanted <= size):
        raise InputError(
            f"top must be a number of rows between 1 and the {size:,g} of the target "
            f"({target}); got {wanted!r}."
        )
    if wanted < 1 and counts._has_integer_counts:
        raise InputError(
            f"top is a number of rows; got {wanted!r}. For that share of the {size:,g} rows give "
            f"top={wanted * size:.0f}."
        )

    def beyond(threshold: float) -> float:
        return float(sum(kind.cumulative_counts(np.array([threshold]))[1][0] for kind in kinds))

    def exact() -> float:
        lowest = math.inf
        for values in (chunk.values for kind in kinds for chunk in kind.chunks):
            # The least of these ascending values with at most so many rows at or above it.
            low, high = 0, values.size
            while low < high:
                middle = (low + high) // 2
                fits = beyond(float(values[middle])) <= wanted * (1 + ROUNDING)
                low, high = (low, middle) if fits else (middle + 1, high)
            if low < values.size:
                lowest = min(lowest, float(values[low]))
        if math.isinf(lowest):
            highest = float(score_range(kinds)[1])
            raise InputError(
                f"no threshold has at most {wanted:,g} rows at or above it: "
                f"{beyond(highest):,g} share the highest score, {highest:g}. Ask for as many."
            )
        return lowest

    def pick(rates: Rates) -> Array:
        allowed = rates.predicted * rates.size <= wanted * (1 + ROUNDING)
        # Thresholds descend: the later the more rows.
        later = np.arange(rates.threshold.size, dtype=np.float64)
        return _first(np.where(allowed & np.isfinite(rates.threshold), later, -np.inf))

    return Rule(f"the top {wanted:,g} rows", pick, lambda _: "", exact=exact)


def _first(goodness: Array) -> Array:
    """Return the index of the first best in each line; −1 where all are −inf."""
    index = np.argmax(goodness, axis=-1)
    best = np.take_along_axis(goodness, np.expand_dims(index, -1), axis=-1)[..., 0]
    return np.where(best == -np.inf, -1, index)


def _highest(counts: Counts) -> float:
    """Return the highest threshold with enough labeled rows at or above it."""
    score, reached = counts._cumulative_labeled
    share = min(LEAST_LABELED / counts.effective_sizes[0], 0.5)
    return float(score[np.searchsorted(reached, share * counts.n_labeled * (1 - ROUNDING))])


def _check_share(name: str, value: float) -> None:
    if not (_is_number(value) and 0 <= value <= 1):
        hint = percent_hint(value)
        raise InputError(f"{name} must be a number in [0, 1]; got {value!r}.{hint}")


def _is_number(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool | np.bool_)
