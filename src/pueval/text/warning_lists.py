"""Lists of warnings: the worst of them, and those that several models share."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from pueval.errors import Contradiction, name_model

# Warnings that are issued or printed at once, the worst first.
MOST_WARNINGS = 3
# Warnings that differ only in these say the same of several models.
NUMBER = re.compile(r"-?\d[\d.,e+-]*")
# Models named at most with a warning that they share.
MOST_NAMES = 4


def worst_warnings(warnings: Sequence[str]) -> list[str]:
    """Return the worst warnings, contradictions first; the last one says how many there are more.

    Examples
    --------
    >>> worst_warnings(["a.", "b.", "c.", "d.", "e."])
    ['a.', 'b.', 'c. (And 2 more: see .warnings.)']
    """
    shown = sorted(warnings, key=lambda warning: not isinstance(warning, Contradiction))
    n_more = len(shown) - MOST_WARNINGS
    if n_more > 0:
        shown[MOST_WARNINGS - 1 :] = [
            f"{shown[MOST_WARNINGS - 1]} (And {n_more:,} more: see .warnings.)"
        ]
    return shown


def group_warnings(by_model: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the warnings of several models, each kind once, with the names of its models.

    Warnings that differ in numbers only are of one kind; those of its first model are shown.

    Examples
    --------
    >>> group_warnings({"a": ["no labels."], "b": ["no labels.", "AUC 0.3."], "c": ["AUC 0.2."]})
    ['a and b: no labels.', 'b: AUC 0.3. (Likewise c.)']
    """
    kinds: dict[str, dict[str, str]] = {}
    for name, warnings in by_model.items():
        for warning in warnings:
            kinds.setdefault(NUMBER.sub("#", warning), {}).setdefault(name, warning)
    grouped = []
    for models in kinds.values():
        first, *others = models
        warning = models[first]
        if others and len({*models.values()}) == 1:
            grouped.append(name_model(_listed([*models]), warning))
        elif others:
            grouped.append(type(warning)(f"{first}: {warning} (Likewise {_listed(others)}.)"))
        else:
            grouped.append(name_model(first, warning))
    return grouped


def _listed(names: Sequence[str]) -> str:
    """Return names as text: "a, b and c"."""
    shown = [*names]
    if len(shown) > MOST_NAMES:
        shown[MOST_NAMES - 1 :] = [f"{len(shown) - MOST_NAMES + 1:,} others"]
    return join_words(shown)


def join_words(words: Sequence[str]) -> str:
    """Join words with commas and "and".

    Examples
    --------
    >>> join_words(["a"]), join_words(["a", "b"]), join_words(["a", "b", "c"])
    ('a', 'a and b', 'a, b and c')
    """
    return " and ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))
