"""Exact confidence limits of the number of positives that neither of two sources found.

Given how many positives each source found, the number in common has Fisher's noncentral
hypergeometric distribution: its probabilities depend only on the number of positives and on the
odds ratio between the sources (the plain hypergeometric distribution if that is 1).
"""

from __future__ import annotations

import math

import numpy as np

# The distribution is summed over this many standard deviations around its mode, and this many
# numbers more, because its tails are longer than normal ones where few are expected.
DEVIATIONS, MORE_TERMS = 10, 40


def hidden_limit(
    tail: float, both: int, only_a: int, only_b: int, odds_ratio: float = 1.0
) -> float:
    """Return the number that neither source found at which `lower_tail` reaches ``tail``.

    The tail grows with that number. The limit is interpolated between whole numbers; it is 0 if the
    tail is larger from the start, and infinite if the tail never reaches ``tail``.

    Examples
    --------
    >>> [round(hidden_limit(tail, 20, 30, 40), 1) for tail in (0.025, 0.975)]
    [28.3, 118.9]
    >>> hidden_limit(0.975, 0, 30, 40)
    inf
    """

    def reached(hidden: int) -> bool:
        return lower_tail(hidden, both, only_a, only_b, odds_ratio) >= tail

    if reached(0):
        return 0.0
    if both == 0 and (tail >= 0.5 or not only_a * only_b):
        return math.inf  # a larger number makes an empty overlap only more likely
    above = max(math.ceil(odds_ratio * only_a * only_b / (both + 1)), 1)
    below = 0
    while not reached(above):
        below, above = above, 2 * above
    while above - below > 1:
        middle = (below + above) // 2
        below, above = (below, middle) if reached(middle) else (middle, above)
    start, end = (lower_tail(each, both, only_a, only_b, odds_ratio) for each in (below, above))
    return below + (tail - start) / (end - start)


def lower_tail(hidden: int, both: int, only_a: int, only_b: int, odds_ratio: float = 1.0) -> float:
    """Return the probability of fewer labels in common than ``both``, plus half that of as many.

    Examples
    --------
    With 5 positives, of which each source found 3, both have 1, 2 or 3 of them in common, with
    probabilities 0.3, 0.6 and 0.1:

    >>> round(lower_tail(1, both=2, only_a=1, only_b=1), 10)
    0.6
    """
    # d more labels in common leave d fewer to each source alone, and d more hidden.
    mode, deviation = _mode_and_deviation(hidden, both, only_a, only_b, odds_ratio)
    reach = DEVIATIONS * deviation + MORE_TERMS
    first = max(-min(both, hidden), math.floor(mode - reach))
    last = min(only_a, only_b, math.ceil(mode + reach))
    if not first <= 0 <= last:
        return 0.0 if first > 0 else 1.0
    d = np.arange(first, last, dtype=np.float64)
    concordant, discordant = (both + d + 1) * (hidden + d + 1), (only_a - d) * (only_b - d)
    log_ratio = np.log(odds_ratio * discordant / concordant)
    log_weight = np.append(0.0, np.cumsum(log_ratio))
    weight = np.exp(log_weight - log_weight.max())
    return float((weight[:-first].sum() + weight[-first] / 2) / weight.sum())


def _mode_and_deviation(
    hidden: int, both: int, only_a: int, only_b: int, odds_ratio: float
) -> tuple[float, float]:
    """Return mode and standard deviation, about, of the number in common, minus ``both``.

    At the mode, odds_ratio·(only_a − d)·(only_b − d) = (both + d)·(hidden + d).
    """
    total = odds_ratio * (only_a + only_b) + both + hidden
    product = odds_ratio * only_a * only_b - both * hidden
    root = math.sqrt(max(total**2 - 4 * (odds_ratio - 1) * product, 0.0))
    mode = 2 * product / (total + root)
    cells = (only_a - mode, only_b - mode, both + mode, hidden + mode)
    return mode, 1 / math.sqrt(sum(1 / max(cell, 0.5) for cell in cells))
