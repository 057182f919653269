"""Numbers that are read as text: with a decimal comma, or with a percent sign."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from pueval.sources.column_profiles import ColumnProfile
from pueval.sources.duckdb_connections import text_literal
from pueval.sources.duckdb_tables import connect_to, select_columns
from pueval.sources.paths import DataLocation

# Patterns of a number, what it is written with, and what to do.
FORMATS: tuple[tuple[str, str, str], ...] = (
    (r"[-+]?[0-9]*,[0-9]+([eE][-+]?[0-9]+)?", "a decimal comma", "Write decimals with a point."),
    (
        r"[-+]?[0-9]*[.,]?[0-9]+ *%",
        "a percent sign",
        "Write shares as numbers without %: 0.25, not 25%.",
    ),
)
# Columns named in a message.
MOST_SHOWN = 3


@dataclass(frozen=True)
class ForeignNumbers:
    """What the numbers of a column are written with, an example, and what to do."""

    mark: str
    example: str
    advice: str


def find_foreign_numbers(
    location: DataLocation, profiles: Iterable[ColumnProfile]
) -> dict[str, ForeignNumbers]:
    """Return the columns of text in which every value that is no number has one of the formats."""
    candidates = [
        (profile, pattern, ForeignNumbers(mark, profile.text, advice))
        for profile in profiles
        for pattern, mark, advice in FORMATS
        if profile.text is not None and re.fullmatch(pattern, profile.text.strip())
    ]
    if not candidates:
        return {}
    columns = {f"g{k}": (profile.name, "score") for k, (profile, *_) in enumerate(candidates)}
    counts = ", ".join(
        f"count(*) FILTER (regexp_full_match(trim(CAST(g{k} AS VARCHAR)), {text_literal(pattern)}))"
        for k, (_, pattern, _) in enumerate(candidates)
    )
    with connect_to(location) as connection:
        [matches] = select_columns(connection, location, columns).aggregate(counts).fetchall()
    return {
        profile.name: numbers
        for (profile, _, numbers), n_matches in zip(candidates, matches, strict=True)
        if n_matches == profile.n_text
    }


def describe_foreign_numbers(columns: dict[str, ForeignNumbers]) -> list[str]:
    """Say which columns hold such numbers, and what to do: one sentence for each format."""
    sentences = []
    for _, mark, advice in FORMATS:
        names = [name for name, numbers in columns.items() if numbers.mark == mark]
        if not names:
            continue
        shown = ", ".join(map(repr, names[:MOST_SHOWN]))
        if len(names) > MOST_SHOWN:
            shown += f" and {len(names) - MOST_SHOWN} more columns"
        hold = "holds" if len(names) == 1 else "hold"
        example = columns[names[0]].example
        sentences.append(f"{shown} {hold} numbers with {mark}, such as {example!r}. {advice}")
    return sentences
