"""SQL of DuckDB for numbers and labels; names and values are untrusted text, and quoted."""

from __future__ import annotations

import glob
from typing import Any

import numpy as np

from pueval.sources.labels import NO_LABEL, UNKNOWN, LabelValues, as_number

# Text that stands for a missing value in a CSV file.
NULLS = ["", "NA", "N/A", "NaN", "nan", "NULL", "null", "None"]
NUMBERS = (
    "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT", "UINTEGER",
    "UBIGINT", "UHUGEINT", "FLOAT", "DOUBLE", "DECIMAL",
)  # fmt: skip
# Whole numbers that NumPy has, and those that may be too large for it.
WHOLE = {"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER"}
LARGE = {"UBIGINT", "HUGEINT", "UHUGEINT"}
# Types whose numbers need not be whole; text is read as DOUBLE.
FLOATS = {"FLOAT", "DOUBLE", "VARCHAR"}
# Not isnan(): DuckDB takes it for false where the statistics of a Parquet file leave NaN out.
NAN = "'nan'"


def file_names(files: tuple[str, ...] | list[str]) -> str:
    """Return a list of file names as SQL."""
    # DuckDB takes every name for a pattern, so brackets and stars in names are escaped.
    return "[" + ", ".join(text_literal(glob.escape(file)) for file in files) + "]"


def quoted(name: str) -> str:
    """Return a name as SQL."""
    return '"' + name.replace('"', '""') + '"'


def text_literal(value: Any) -> str:
    """Return a text as SQL."""
    return "'" + str(value).replace("'", "''") + "'"


def is_number(kind: str) -> bool:
    """Whether a type is one of numbers."""
    # Not a list of numbers, which is written INTEGER[].
    return kind in NUMBERS or (kind.startswith("DECIMAL(") and kind.endswith(")"))


def is_whole(kind: str) -> bool:
    """Whether a type holds whole numbers only."""
    return kind in WHOLE or kind in LARGE or kind == "BOOLEAN"


def is_readable(kind: str) -> bool:
    """Whether a type can be read as a number; text is looked at value by value."""
    return is_number(kind) or kind in {"BOOLEAN", "VARCHAR"} or kind.startswith("ENUM(")


def number_of(name: str, kind: str) -> str:
    """Return the SQL for a number; whole numbers and floats stay what they are."""
    if kind in {*WHOLE, "FLOAT", "DOUBLE"}:
        return name
    if is_whole(kind):
        # As floats, two of them could become equal; null are those that are too large anyway.
        return f"TRY_CAST({name} AS BIGINT)"
    if is_number(kind):
        return f"CAST({name} AS DOUBLE)"
    # A plain cast of a text column would be done by DuckDB's CSV reader, which stops at the
    # first value that is no number instead of counting them.
    return f"TRY_CAST(trim(CAST({name} AS VARCHAR)) AS DOUBLE)"


def matches(kind: str, value: Any) -> str:
    """Return the condition that a label is ``value``; 1, 1.0 and true are the same label."""
    if isinstance(value, bool | np.bool_):
        value = int(value)
    number = as_number(value)
    if kind == "BOOLEAN":
        return f"CAST(label AS DOUBLE) = {number!r}" if number in {0, 1} else "false"
    if is_number(kind):
        unknown = number is None or number != number  # noqa: PLR0124 - NaN
        return "false" if unknown else f"CAST(label AS DOUBLE) = {number!r}"
    conditions = [f"CAST(label AS VARCHAR) = {text_literal(value)}"]
    if number is not None and number == number:  # noqa: PLR0124 - not NaN
        conditions.append(f"TRY_CAST(label AS DOUBLE) = {number!r}")
        words = {1.0: "true", 0.0: "false"}
        if number in words:
            conditions.append(f"lower(CAST(label AS VARCHAR)) = {text_literal(words[number])}")
    return "(" + " OR ".join(conditions) + ")"


def kind_of(kind: str, labels: LabelValues) -> str:
    """Return the SQL that turns labels into 0 labeled, 1 unlabeled, 2 negative, 3 unknown.

    A missing label is none of them (4), unless one of the values is itself a word for missing,
    such as the empty text.
    """
    missing_is, cases = NO_LABEL, []
    for code, value in enumerate(labels.values):
        if value is None:
            continue
        if str(value) in NULLS:
            missing_is = code
        cases.append(f"WHEN {matches(kind, value)} THEN {code}")
    empty = f"WHEN label IS NULL THEN {missing_is}"
    other = f"ELSE {UNKNOWN}"
    if kind in {"FLOAT", "DOUBLE"}:
        # What is left is NaN. DuckDB would take any question for it as answered by statistics.
        endless = "label = 'inf' OR label = '-inf'"
        other = f"WHEN label - label = 0 OR {endless} THEN {UNKNOWN} ELSE {missing_is}"
    return f"CAST(CASE {empty} {' '.join(cases)} {other} END AS TINYINT)"
