"""Columns of DuckDB's tables as SQL: types, numbers in text, and labels as codes."""

from __future__ import annotations

from pueval.sources.arrays import EXACT
from pueval.sources.duckdb_connections import text_literal
from pueval.sources.labels import UNKNOWN, LabelMatch, LabelValues

# Integer types that NumPy has, and those whose values may be too large for it.
INTEGERS = {"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER"}
LARGE_INTEGERS = {"UBIGINT", "HUGEINT", "UHUGEINT"}
NUMBERS = {*INTEGERS, *LARGE_INTEGERS, "FLOAT", "DOUBLE", "DECIMAL"}
# Types whose numbers may be fractions; text is read as DOUBLE.
FLOATS = {"FLOAT", "DOUBLE", "VARCHAR"}


def is_number(dtype: str) -> bool:
    """Whether a type is numeric."""
    # Not a list of numbers, which is written INTEGER[].
    return dtype in NUMBERS or (dtype.startswith("DECIMAL(") and dtype.endswith(")"))


def is_integer(dtype: str) -> bool:
    """Whether a type holds integers only."""
    return dtype in INTEGERS or dtype in LARGE_INTEGERS or dtype == "BOOLEAN"


def is_readable(dtype: str) -> bool:
    """Whether a type can be read as a number; text is checked value by value."""
    return is_number(dtype) or dtype in {"BOOLEAN", "VARCHAR"} or dtype.startswith("ENUM(")


def number_of(name: str, dtype: str) -> str:
    """Return the SQL for a column as a number; integers and floats keep their type."""
    if dtype in {*INTEGERS, "FLOAT", "DOUBLE"}:
        return name
    if is_integer(dtype):
        # As floats, two of them could become equal. Null are only those that are refused anyway.
        return f"TRY_CAST({name} AS BIGINT)"
    if is_number(dtype):
        return f"CAST({name} AS DOUBLE)"
    text = f"CAST({name} AS VARCHAR)"
    return f"CASE WHEN {is_inexact(text)} THEN NULL ELSE {number_in_text(text)} END"


def number_in_text(text: str) -> str:
    """Return the SQL for the number in a text; null if it is none."""
    # DuckDB's CSV reader would do a plain cast of a text column itself, and stop at the first
    # value that is not a number instead of counting them. A cast takes 1_000 and +-1 for numbers.
    not_number = f"contains({text}, '_') OR contains({text}, '+-')"
    return f"CASE WHEN {not_number} THEN NULL ELSE TRY_CAST(trim({text}) AS DOUBLE) END"


def is_inexact(text: str) -> str:
    """Return the SQL condition that a text is an integer beyond those that floats hold exactly."""
    integer = f"TRY_CAST(trim({text}) AS HUGEINT)"
    beyond = f"coalesce({integer} > {EXACT} OR {integer} < -{EXACT}, true)"
    is_integer_text = f"regexp_full_match(trim({text}), '[-+]?[0-9]+')"
    # Most numbers are small, and need no look at their text.
    return f"abs({number_in_text(text)}) >= {EXACT} AND {is_integer_text} AND {beyond}"


def is_nan(number: str) -> str:
    """Return the SQL condition that a number is NaN."""
    # Not isnan(): DuckDB answers false where the statistics of a Parquet file leave NaN out.
    return f"CAST({number} AS VARCHAR) IN ('nan', '-nan')"


def label_condition(column: str, dtype: str, match: LabelMatch) -> str:
    """Return the SQL condition that a column holds a label value."""
    if dtype == "BOOLEAN" or is_number(dtype):
        value = match.value_in("boolean" if dtype == "BOOLEAN" else "float")
        return "false" if value is None else f"CAST({column} AS DOUBLE) = {float(value)!r}"
    text = f"CAST({column} AS VARCHAR)"
    conditions = [f"{text} = {text_literal(match.spellings[0])}"]
    if match.number is not None:
        conditions.append(f"{number_in_text(text)} = {match.number!r}")
    truth = match.value_in("boolean")
    if truth is not None:
        conditions.append(f"lower({text}) = '{str(truth).lower()}'")
    return "(" + " OR ".join(conditions) + ")"


def kind_of(dtype: str, labels: LabelValues) -> str:
    """Return the SQL that turns labels into codes.

    The codes are 0 for labeled, 1 for unlabeled and 2 for negative rows, `UNKNOWN` for other
    labels and `NO_LABEL` for missing ones.
    """
    missing = labels.missing_code(from_text=True)
    cases = " ".join(
        f"WHEN {label_condition('label', dtype, match)} THEN {code}"
        for code, match in enumerate(labels.matches(from_text=True))
        if match is not None
    )
    otherwise = f"ELSE {UNKNOWN}"
    if dtype in {"FLOAT", "DOUBLE"}:
        # The rest is NaN, which DuckDB would rule out by statistics if it were named here.
        infinite = "label = 'inf' OR label = '-inf'"
        otherwise = f"WHEN label - label = 0 OR {infinite} THEN {UNKNOWN} ELSE {missing}"
    return f"CAST(CASE WHEN label IS NULL THEN {missing} {cases} {otherwise} END AS TINYINT)"
