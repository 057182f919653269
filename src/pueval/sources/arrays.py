"""Rows from a label array and a score array."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from pueval._typing import Array
from pueval.errors import InputError
from pueval.samples.sample import (
    EMPTY,
    MOST_CHUNKS,
    Sample,
    Samples,
    SortedChunk,
    make_sample,
    make_weighted_sample,
)
from pueval.samples.threads import available_cores, map_in_threads
from pueval.sources.labels import (
    LabelValues,
    infinite_error,
    is_missing,
    missing_error,
    missing_labels_error,
)

# Arrays shorter than this are sorted on one core: starting a thread costs more than it saves.
THREADED_ROWS = 500_000
# Rows that are looked at together: few enough for the cache, so many that threads seldom wait.
BLOCK = 524_288
# Scores of at least this many bytes make temporary arrays that are worth keeping the memory of.
LARGE = 32 * 2**20
# Whole numbers beyond this are not all floats, so different scores would become equal.
EXACT = 2**53
# The same for float32.
SMALL = 2**24

FloatType = type[np.floating[Any]]


def read_arrays(y: Any, score: Any, *, labels: LabelValues, sample_weight: Any = None) -> Samples:
    """Sort the scores of labeled, unlabeled and known negative rows apart."""
    check_same_order({"y": y, "score": score, "sample_weight": sample_weight})
    y = one_column(y, "y")
    score = check_scores(one_column(score, "score"))
    sample_weight = (
        None if sample_weight is None else as_weights(one_column(sample_weight, "sample_weight"))
    )
    for name, array in (("score", score), ("sample_weight", sample_weight)):
        if array is not None and len(array) != len(y):
            raise InputError(
                f"y and {name} must have the same length; got {len(y):,} and {len(array):,}."
            )
    if not len(y):
        raise InputError("y and score are empty. Give at least one labeled and one other row.")
    refuse_missing_labels(y, labels)

    kept_as = float_type(score)
    if score.nbytes >= LARGE:
        _keep_memory()
    parts = min(available_cores(), MOST_CHUNKS) if len(y) >= THREADED_ROWS else 1
    edges = np.linspace(0, len(y), parts + 1).astype(int)

    def read(part: int) -> Samples | None:
        rows = slice(edges[part], edges[part + 1])
        part_weight = None if sample_weight is None else sample_weight[rows]
        return _read(y[rows], score[rows], part_weight, labels, kept_as)

    samples: list[Samples] = []
    for part in map_in_threads(read, range(parts)):
        if part is None:
            raise _bad_labels_error(y, labels)
        samples.append(part)
    labeled, unlabeled, negative = (sum((s[kind] for s in samples), EMPTY) for kind in range(3))
    if not all(map(all_finite, (labeled, unlabeled, negative))):
        raise bad_scores_error(score)
    # The few labeled scores are the thresholds of everything: one sorted chunk serves them best.
    return labeled.merged(), unlabeled, negative


def _read(
    y: Array, score: Array, sample_weight: Array | None, labels: LabelValues, kept_as: FloatType
) -> Samples | None:
    """Return the three samples of some rows; None if a label is none of the three values."""
    if sample_weight is not None:
        masks = _masks(y, labels)
        if sum(map(np.count_nonzero, masks)) != len(y):
            return None
        score = score.astype(kept_as, copy=False)
        return _three(make_weighted_sample(score[mask], sample_weight[mask]) for mask in masks)
    # Most rows are of one kind. To sort the others to the end, as +inf, is faster than to pick it.
    usual = int(np.argmax([np.count_nonzero(mask) for mask in _masks(y[:BLOCK], labels)]))
    padded = np.empty(len(y), dtype=kept_as)
    picked: list[list[Array]] = [[], [], []]
    for start in range(0, len(y), BLOCK):
        rows = slice(start, start + BLOCK)
        block = padded[rows]
        block[:] = score[rows]
        index = np.flatnonzero(~equal_labels(y[rows], labels.values[usual]))
        if index.size:
            others, values = _masks(y[rows][index], labels), block[index]
            if sum(map(np.count_nonzero, others)) != index.size:
                return None
            for kind, mask in enumerate(others):
                picked[kind].append(values[mask])
            block[index] = np.inf
    padded.sort()
    samples = [make_sample(np.concatenate(parts)) if parts else EMPTY for parts in picked]
    found = len(y) - sum(one.total for one in samples)
    if found:
        samples[usual] = Sample((SortedChunk(padded[:found]),))
    return _three(samples)


def _keep_memory() -> None:
    """Let the C library keep memory that is freed, for the many temporary arrays that follow.

    By default glibc gives large arrays back to the system, which hands them out anew page by page,
    and slowly. It keeps as much as twice the largest array that was freed, up to a limit just above
    this one's size. Other C libraries are not affected.
    """
    np.empty(LARGE - 2**20, dtype=np.uint8)


def _masks(y: Array, labels: LabelValues) -> list[Array]:
    """Tell which rows are labeled, unlabeled and negative."""
    return [
        np.zeros(len(y), dtype=bool) if value is None else equal_labels(y, value)
        for value in labels.values
    ]


def _three(samples: Iterable[Sample]) -> Samples:
    labeled, unlabeled, negative = samples
    return labeled, unlabeled, negative


def equal_labels(y: Array, value: Any) -> Array:
    """Return which entries of ``y`` are ``value``; text never equals a number."""
    if is_missing(value):
        return missing_rows(y)
    if isinstance(value, str | bytes) != (y.dtype.kind in "UST") and y.dtype.kind != "O":
        return np.zeros(len(y), dtype=bool)
    if y.dtype.kind != "O":
        return np.asarray(y == value, dtype=bool)
    # Whether a missing value equals another cannot be told of some of them.
    found = ~missing_rows(y)
    found[found] = np.asarray(y[found] == value, dtype=bool)
    return found


def label_kinds(y: Any, labels: LabelValues) -> Array:
    """Return 0 for labeled rows, 1 for unlabeled and 2 for known negative ones."""
    y = one_column(y, "y")
    refuse_missing_labels(y, labels)
    kinds = np.full(len(y), -1, dtype=np.int8)
    for kind, value in enumerate(labels.values):
        if value is not None:
            kinds[equal_labels(y, value)] = kind
    if (kinds < 0).any():
        raise _bad_labels_error(y, labels)
    return kinds


def check_same_order(columns: Mapping[str, Any]) -> None:
    """Refuse pandas objects that have the same rows in different orders: values go by place."""
    indexed = [
        (name, values.index)
        for name, values in columns.items()
        if hasattr(getattr(values, "index", None), "equals")
    ]
    for other, index in indexed[1:]:
        name, first = indexed[0]
        if len(index) != len(first) or index.equals(first):
            continue
        try:
            same = index.sort_values().equals(first.sort_values())
        except TypeError:  # names of rows that cannot be compared
            continue
        if same:
            raise InputError(
                f"{name} and {other} have the same index in different orders, and rows are paired "
                f"by their places. Put them into one order, for example by .loc[{name}.index]; or "
                "give arrays (.to_numpy()) if they are."
            )


def one_column(values: Any, name: str) -> Array:
    """Return a one-dimensional array; one column of a matrix is fine, more are not."""
    if isinstance(values, np.ma.MaskedArray) and np.ma.getmaskarray(values).any():
        raise missing_error(name, int(np.ma.getmaskarray(values).sum()))
    array = np.asarray(values)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        hint = " For the output of predict_proba, take [:, 1]." if name == "score" else ""
        raise InputError(f"{name} must have one dimension; got shape {array.shape}.{hint}")
    return array


def float_type(score: Array) -> FloatType:
    """Return the smallest type that holds all scores exactly."""
    small = score.dtype in (np.float32, np.float16) or score.dtype.kind == "b"
    if score.dtype.kind in "iu":
        small = _within(score, SMALL)
    return np.float32 if small else np.float64


def _within(score: Array, limit: int) -> bool:
    """Whether whole numbers lie within ±limit."""
    return not len(score) or bool(int(score.min()) >= -limit and int(score.max()) <= limit)


def as_scores(score: Array) -> Array:
    """Return scores as floats; refuse what is no number."""
    score = check_scores(score)
    return score.astype(float_type(score), copy=False)


def check_scores(score: Array) -> Array:
    """Refuse scores that are no numbers, or whole ones that floats cannot hold."""
    if score.dtype.kind == "O":
        try:
            score = score.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise InputError(f"score must hold numbers only; got objects: {error}.") from None
    if score.dtype.kind not in "biuf":
        raise InputError(
            f"score must hold real numbers; got dtype {score.dtype}"
            + (f" (first value {score[0]!r})." if len(score) else ".")
        )
    if score.dtype.kind in "iu" and not _within(score, EXACT):
        raise InputError(
            "integer scores must lie within ±2**53, or different scores become equal; "
            f"got {score.min()} to {score.max()}. Replace them by their ranks."
        )
    return score


def as_weights(sample_weight: Array) -> Array:
    """Return weights as int64 or float64; refuse missing and negative ones."""
    if sample_weight.dtype.kind not in "biuf":
        raise InputError(f"weight must hold numbers; got dtype {sample_weight.dtype}.")
    if sample_weight.dtype.kind == "f":
        sample_weight = sample_weight.astype(np.float64, copy=False)
        bad = int(np.count_nonzero(~np.isfinite(sample_weight)))
        if bad:
            raise missing_error("or infinite weight", bad)
    else:
        check_total(sample_weight.sum(dtype=np.float64))
        sample_weight = sample_weight.astype(np.int64, copy=False)
    negative = int(np.count_nonzero(sample_weight < 0))
    if negative:
        raise InputError(
            f"weights must not be negative; got {negative:,} below zero "
            f"(least {sample_weight.min():g})."
        )
    return sample_weight


def check_total(total: float) -> None:
    """Refuse whole-number weights with a sum that floats cannot hold."""
    if total > EXACT:
        raise InputError(
            f"whole-number weights must add up to at most 2**53; got {total:g}. "
            "Divide them by a common factor, or give floats."
        )


def all_finite(kind: Sample) -> bool:
    """NaN and +inf sort to the end and −inf to the front, so the ends tell for all."""
    return all(np.isfinite(c.values[0]) and np.isfinite(c.values[-1]) for c in kind.chunks)


def bad_scores_error(score: Array) -> InputError:
    """Return the error for scores that are missing or infinite."""
    lost = int(np.count_nonzero(np.isnan(score)))
    return (
        missing_error("score", lost)
        if lost
        else infinite_error("score", int(np.isinf(score).sum()))
    )


def missing_rows(y: Array) -> Array:
    """Return which entries are missing."""
    if y.dtype.kind == "f":
        return np.isnan(y)
    if y.dtype.kind != "O":
        return np.zeros(len(y), dtype=bool)
    return np.fromiter((one is None or is_missing(one) for one in y), dtype=bool, count=len(y))


def refuse_missing(y: Array, what: str) -> None:
    """Refuse missing values."""
    lost = int(missing_rows(y).sum())
    if lost:
        raise missing_error(what, lost)


def refuse_missing_labels(y: Array, labels: LabelValues) -> None:
    """Refuse missing labels in an array of objects, unless they mean something."""
    if y.dtype.kind == "O" and not labels.takes_missing and (lost := missing_rows(y)).any():
        raise missing_labels_error(int(lost.sum()))


def _bad_labels_error(y: Array, labels: LabelValues) -> InputError:
    lost = int(missing_rows(y).sum())
    if lost and not labels.takes_missing:
        return missing_labels_error(lost)
    known = np.zeros(len(y), dtype=bool)
    for value in labels.values:
        if value is not None:
            known |= equal_labels(y, value)
    strange = y[~known]
    found = sorted(set(strange.tolist()), key=str)
    return labels.unrecognized_error(found, len(strange))
