"""Which column looks like labels, scores, weights or ids, by its name and its values."""

from __future__ import annotations

import re
from dataclasses import replace

from pueval.sources.column_profiles import MOST_VALUES, ColumnProfile
from pueval.sources.labels import LabelValues

LABEL_NAMES = re.compile(
    r"label|^y$|^s$|target|class|known|observed|reported|outcome", re.IGNORECASE
)
TRUTH_NAMES = re.compile(r"truth|true|gold|oracle", re.IGNORECASE)
SCORE_NAMES = re.compile(r"score|prob|pred|model|logit|risk|^p_|_p$", re.IGNORECASE)
WEIGHT_NAMES = re.compile(r"^(sample_?)?(weights?|w|freq|frequency)$", re.IGNORECASE)
# Last words of the names of ids, and units whose names or numbers are ids, too: "patient_no".
ID_WORDS = {"id", "ids", "key", "keys", "uuid", "index", "row", "mrn"}
UNITS = {
    *("patient", "person", "subject", "participant", "member", "client", "user", "customer"),
    *("account", "card", "household", "family", "hospital", "trial", "session", "protein"),
}
UNIT_ATTRIBUTES = {"name", "no", "nr", "num", "number", "code"}
# First words of the names of counts, such as "n_user".
COUNT_WORDS = {"n", "num", "number", "count", "total"}
# More columns than these are features, not scores.
MOST_SCORES = 12
# A column of distinct values numbers the rows; the number of distinct values is approximate.
DISTINCT_SHARE = 0.9

POSITIVE_WORDS = {"1", "1.0", "true", "p", "pos", "positive", "yes", "y", "labeled", "known"}
UNLABELED_WORDS = {"0", "0.0", "false", "u", "unlabeled", "unlabelled", "unknown", "?", "unl"}
NEGATIVE_WORDS = {"n", "neg", "negative", "no", "-1", "-1.0"}


def label_values(profile: ColumnProfile) -> LabelValues | None:
    """Return the values that mark labeled, unlabeled and negative rows; None for no labels."""
    # Rarer values first: there are usually fewer labeled rows than others.
    values = sorted(profile.values, key=lambda value: (profile.values[value], value))
    if profile.missing and len(values) == 1:
        return LabelValues(plain_label(values[0]), "")
    if profile.missing or not 2 <= len(values) <= 3:
        return None
    positive = _first(values, POSITIVE_WORDS) or values[0]
    others = [value for value in values if value != positive]
    if len(others) == 1:
        return LabelValues(plain_label(positive), plain_label(others[0]))
    unlabeled, negative = _first(others, UNLABELED_WORDS), _first(others, NEGATIVE_WORDS)
    if unlabeled is None or negative is None:
        return None
    return LabelValues(plain_label(positive), plain_label(unlabeled), negative)


def values_where_known(profile: ColumnProfile) -> LabelValues | None:
    """Return the values of labels in the rows that have one; None for no labels."""
    return label_values(replace(profile, missing=0))


def _first(values: list[str], words: set[str]) -> str | None:
    return next((value for value in values if value.strip().lower() in words), None)


def plain_label(value: str) -> str:
    """Return 1 and 0 for their other spellings, which are the defaults of all commands."""
    lower = value.strip().lower()
    return {"true": "1", "1.0": "1", "false": "0", "0.0": "0"}.get(lower, value)


def choose_label(profiles: list[ColumnProfile]) -> str | None:
    """Return the column that looks most like labels; None if no column does."""
    candidates = [p for p in profiles if label_values(p) is not None or _lacks_labels(p)]

    def rank(profile: ColumnProfile) -> tuple[int, bool]:
        complete = label_values(profile) is not None
        if TRUTH_NAMES.search(profile.name):
            return 3, not complete
        if LABEL_NAMES.search(profile.name):
            return 0, not complete
        return 2 if SCORE_NAMES.search(profile.name) else 1, not complete

    return min(candidates, key=rank).name if candidates else None


def _lacks_labels(profile: ColumnProfile) -> bool:
    """Whether a column is named like labels and has both of their values, but not in all rows."""
    values = {value.strip().lower() for value in profile.values}
    both = values & POSITIVE_WORDS and values & (UNLABELED_WORDS | NEGATIVE_WORDS)
    return bool(profile.missing and both and LABEL_NAMES.search(profile.name))


def is_weight(profile: ColumnProfile) -> bool:
    """Whether a column holds weights, by its name."""
    named = WEIGHT_NAMES.search(profile.name) is not None
    return named and profile.numeric and (profile.low or 0) >= 0 and not profile.missing


def is_row_number(profile: ColumnProfile) -> bool:
    """Whether a column of text or whole numbers has a value of its own in every row."""
    if SCORE_NAMES.search(profile.name) or (profile.mostly_numbers and not profile.whole):
        return False
    return MOST_VALUES < profile.distinct >= DISTINCT_SHARE * profile.rows


def is_time(profile: ColumnProfile) -> bool:
    """Whether a column holds dates or times."""
    return profile.first is not None and profile.distinct > 1


def named_like_ids(name: str) -> bool:
    """Whether a name looks like that of ids; an empty one is that of an index.

    Examples
    --------
    >>> [named_like_ids(name) for name in ("patient", "PatientID", "userid", "card_no", "grid")]
    [True, True, True, True, False]
    """
    if not name:
        return True
    separated = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()
    words = [word for word in re.split(r"[\W\d_]+", separated) if word]
    if not words or words[0] in COUNT_WORDS:
        return False
    last = words[-1]
    if last in UNIT_ATTRIBUTES:
        return len(words) > 1 and words[-2] in UNITS
    return last in ID_WORDS | UNITS or last.removesuffix("id") in UNITS


def is_cluster(profile: ColumnProfile) -> bool:
    """Whether a column holds ids that repeat: of patients, users and so on."""
    if is_time(profile) or is_row_number(profile) or profile.distinct <= MOST_VALUES:
        return False
    return (named_like_ids(profile.name) and profile.whole) or not profile.mostly_numbers


def is_group(profile: ColumnProfile) -> bool:
    """Whether a column of text has few values."""
    return not profile.mostly_numbers and 2 <= profile.distinct <= MOST_VALUES


def choose_scores(profiles: list[ColumnProfile]) -> list[str]:
    """Return the columns that look like scores: by name or range, else all other numbers."""
    numbers = [
        profile
        for profile in profiles
        if profile.mostly_numbers
        and profile.distinct > 2
        and not (is_weight(profile) or is_row_number(profile) or is_cluster(profile))
    ]
    for looks_like_score in (
        lambda p: bool(SCORE_NAMES.search(p.name)) or _is_probability(p),
        lambda p: bool(SCORE_NAMES.search(p.name)),
        lambda p: not p.whole,
        lambda p: p.distinct > MOST_VALUES,
    ):
        names = [profile.name for profile in numbers if looks_like_score(profile)]
        if 0 < len(names) <= MOST_SCORES:
            return names
    return []


def named_like_scores(names: list[str]) -> list[str]:
    """Return the names that look like those of scores; all of them if none does."""
    return [name for name in names if SCORE_NAMES.search(name)] or names


def is_score(profile: ColumnProfile) -> bool:
    """Whether numbers are scores rather than counts or codes: by name, or as fractions."""
    return bool(SCORE_NAMES.search(profile.name)) or not profile.whole


def _is_probability(profile: ColumnProfile) -> bool:
    within = profile.low is not None and profile.high is not None
    return within and (profile.low or 0) >= 0 and (profile.high or 0) <= 1 and not profile.whole
