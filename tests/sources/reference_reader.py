"""A slow reader of CSV files, character by character, to compare engines with.

It shares no code with the package: what it returns is right, or it refuses the file.
"""

import math
import re
from collections import Counter
from fractions import Fraction

NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
SPACES = " \t\xa0"
MISSING = {"", "NA", "N/A", "NaN", "nan", "NULL", "null", "None"}


class Refused(Exception):  # noqa: N818
    """The file has no clear meaning."""


def parse(text, delimiter=","):
    """Return the rows of a CSV text; quotes around a field may have spaces around them."""
    rows, row, field, place = [], [], "", "start"
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    for character in text if text.endswith("\n") else text + "\n":
        if place == "quoted":
            if character == '"':
                place = "after"
            else:
                field += character
        elif place == "after" and character == '"':
            field, place = field + '"', "quoted"
        elif character in delimiter + "\n":
            row, field, place = [*row, field], "", "start"
            if character == "\n":
                rows, row = [*rows, row], []
        elif place in {"after", "end"}:
            if character != " ":
                raise Refused("text after a closing quote")
            place = "end"
        elif character == '"' and place == "start":
            field, place = "", "quoted"
        else:
            field += character
            place = "start" if not field.strip(" ") else "plain"
    if place == "quoted":
        raise Refused("a quote is not closed")
    return [row for row in rows if row != [""]]


def number(text):
    """Return the number in a text as a fraction; refuse what is none, or has no float."""
    text = text.strip(SPACES)
    if not NUMBER.fullmatch(text) or not math.isfinite(float(text)):
        raise Refused(f"no number: {text!r}")
    if re.fullmatch(r"[+-]?[0-9]+", text) and abs(int(text)) > 2**53:
        raise Refused(f"no float holds {text}")
    return Fraction(float(text))


def label_of(text):
    if text.lower() in {"true", "false"}:
        return int(text.lower() == "true")
    value = number(text)
    if value not in {0, 1}:
        raise Refused(f"no label: {text!r}")
    return int(value)


def count_rows(content, delimiter=","):
    """Return the scores of labeled and of unlabeled rows, each with its number of rows."""
    # Columns that are not used may be in another encoding.
    header, *rows = parse(content.decode("utf-8-sig", errors="replace"), delimiter)
    if not {"label", "score"}.issubset(header):
        raise Refused(f"no columns of labels and scores in {header}")
    kinds = {1: Counter(), 0: Counter()}
    for row in rows:
        # A delimiter at the end of a line is no harm.
        if len(row) != len(header) and not (len(row) == len(header) + 1 and not row[-1]):
            raise Refused(f"{len(row)} fields, {len(header)} columns")
        label, score = row[header.index("label")], row[header.index("score")]
        if label in MISSING or score in MISSING:
            raise Refused("a missing value")
        kinds[label_of(label)][number(score)] += 1
    if not rows:
        raise Refused("no rows")
    return kinds[1], kinds[0]


def exact_auc(labeled, unlabeled):
    """Return the share of pairs in which the labeled row has the higher score; ties count half."""
    pairs = sum(labeled.values()) * sum(unlabeled.values())
    wins = sum(
        n * m * (Fraction(high > low) + Fraction(high == low, 2))
        for high, n in labeled.items()
        for low, m in unlabeled.items()
    )
    return wins / pairs
