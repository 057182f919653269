"""Rules that choose a threshold by precision, recall, false positive rate, rows or cost."""

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
from pueval.thresholds.default_threshold import (
    LEAST_LABELED,
    ROUNDING,
    first_best,
    highest_reliable_threshold,
)


@dataclass(frozen=True)
class Rule:
    """A rule that chooses a threshold.

    Attributes
    ----------
    name : str
        The goal in words.
    pick : callable
        From `Rates` to the index of the chosen threshold in each line; −1 if none reaches the goal.
    unreachable : callable
        From the same rates to the error message if no threshold reaches the goal.
    measure : Measure or None
        A non-standard measure to report in addition.
    find_score : callable or None
        Finds the threshold among all scores, if it need not be the score of a labeled row.
    """

    name: str
    pick: Callable[[Rates], Array]
    unreachable: Callable[[Rates], str]
    measure: Measure | None = None
    find_score: Callable[[], float] | None = None


def find_rule(counts: Counts, target: Target, goals: dict[str, Any]) -> Rule:
    """Return the rule for the one goal that is not None."""
    given = {name: value for name, value in goals.items() if value is not None}
    if len(given) != 1:
        got = " and ".join(given) if given else "none of them"
        raise InputError(f"give exactly one of {', '.join(goals)}; got {got}.")
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
        return _precision(value, highest_reliable_threshold(counts))
    return _recall(value) if name == "recall" else _fpr(value)


def cost_rule(false_positive: float, false_negative: float) -> Rule:
    """Return the rule that minimizes the expected cost."""
    measure = cost(false_positive, false_negative)
    name = f"the least cost (false positive {false_positive:g}, false negative {false_negative:g})"
    return _extreme(name, measure, measure)


def best_rule(name: str) -> Rule:
    """Return the rule that optimizes a measure."""
    if name in AREAS:
        raise InputError(
            f"{name} is an area under a curve and has no threshold. "
            "Give a measure at a threshold, such as 'f1'."
        )
    measure = find_measure(name)
    extra = None if measure.name in MEASURES else measure
    return _extreme(f"the best {measure.title}", measure, extra)


def _extreme(name: str, measure: Measure, extra: Measure | None) -> Rule:
    def pick(rates: Rates) -> Array:
        values = measure(rates) if measure.greater_is_better else -measure(rates)
        return first_best(np.where(np.isnan(values), -np.inf, values))

    def unreachable(_: Rates) -> str:
        return f"{measure.name} is undefined at every threshold, so no threshold is the best."

    return Rule(name, pick, unreachable, extra)


def _precision(goal: float, highest: float) -> Rule:
    def pick(rates: Rates) -> Array:
        reached = MEASURES["precision"](rates) >= goal - ROUNDING
        return first_best(np.where(reached & (rates.threshold <= highest), rates.tpr, -np.inf))

    def unreachable(rates: Rates) -> str:
        precision = np.where(rates.threshold <= highest, MEASURES["precision"](rates), np.nan)
        best = int(np.nanargmax(precision))
        return (
            f"no threshold has a precision of {goal:g}: the best attainable is "
            f"{precision[best]:.4g}, at {rates.threshold[best]:g}. Thresholds above {highest:g} "
            f"are not considered, because fewer than {LEAST_LABELED} labeled rows (or half of "
            "them) score that high. Give a lower precision."
        )

    return Rule(f"a precision of at least {goal:g}", pick, unreachable)


def _recall(goal: float) -> Rule:
    def pick(rates: Rates) -> Array:
        return first_best(np.where(rates.tpr >= goal - ROUNDING, 0.0, -np.inf))

    def unreachable(rates: Rates) -> str:
        return f"no threshold has a recall of {goal:g}; the best is {rates.tpr.max():.4g}."

    return Rule(f"a recall of at least {goal:g}", pick, unreachable)


def _fpr(goal: float) -> Rule:
    def pick(rates: Rates) -> Array:
        allowed = (rates.fpr <= goal + ROUNDING) & np.isfinite(rates.threshold)
        return first_best(np.where(allowed, rates.tpr, -np.inf))

    def unreachable(rates: Rates) -> str:
        least = 1 + int(np.argmin(rates.fpr[1:]))
        return (
            f"no threshold that predicts anything positive has a false positive rate of at most "
            f"{goal:g}: the least attainable is {rates.fpr[least]:.4g}, at "
            f"{rates.threshold[least]:g}. Give a higher rate."
        )

    return Rule(f"a false positive rate of at most {goal:g}", pick, unreachable)


def _top(counts: Counts, target: Target, goal: float) -> Rule:
    kinds, row_weight = counts._target_samples(target), counts._row_weight(target)
    size = counts._n_rows(target)
    if not (_is_number(goal) and 0 < goal <= size):
        raise InputError(
            f"top must be a number of rows between 1 and {size:,g}, the size of the target "
            f"({target}); got {goal!r}."
        )
    if goal < 1:
        raise InputError(
            f"top is a number of rows; got {goal!r}. For this share of the {size:,g} rows, give "
            f"top={goal * size:.0f}."
        )

    def n_reached(threshold: float) -> float:
        at = np.array([threshold])
        return float(sum(kind.cumulative_counts(at)[1][0] for kind in kinds)) / row_weight

    def find_score() -> float:
        lowest = math.inf
        for values in (chunk.values for kind in kinds for chunk in kind.chunks):
            # Bisect for the smallest value with at most as many rows at or above it.
            low, high = 0, values.size
            while low < high:
                middle = (low + high) // 2
                fits = n_reached(float(values[middle])) <= goal * (1 + ROUNDING)
                low, high = (low, middle) if fits else (middle + 1, high)
            if low < values.size:
                lowest = min(lowest, float(values[low]))
        if math.isinf(lowest):
            highest = float(score_range(kinds)[1])
            raise InputError(
                f"no threshold has at most {goal:,g} rows at or above it: "
                f"{n_reached(highest):,g} share the highest score, {highest:g}. "
                f"Pass top={n_reached(highest):g} or more."
            )
        return lowest

    def pick(rates: Rates) -> Array:
        allowed = rates.predicted * rates.n_rows <= goal * (1 + ROUNDING)
        # Thresholds descend, so later ones have more rows.
        order = np.arange(rates.threshold.size, dtype=np.float64)
        return first_best(np.where(allowed & np.isfinite(rates.threshold), order, -np.inf))

    return Rule(f"the top {goal:,g} rows", pick, lambda _: "", find_score=find_score)


def _check_share(name: str, value: float) -> None:
    if not (_is_number(value) and 0 <= value <= 1):
        hint = percent_hint(value)
        raise InputError(f"{name} must be a number in [0, 1]; got {value!r}.{hint}")


def _is_number(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool | np.bool_)
