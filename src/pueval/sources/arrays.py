"""Rows given as arrays of labels, scores, weights and propensities."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from pueval._checks import list_examples
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
from pueval.samples.threads import available_cores, keep_memory, map_in_threads
from pueval.sources import device_arrays
from pueval.sources.labels import (
    LabelValues,
    inexact_scores_error,
    infinite_error,
    is_missing,
    merged_scores_error,
    missing_error,
    missing_labels_error,
)

# Arrays shorter than this are sorted on one core: a thread would cost more than it saves.
THREADED_ROWS = 500_000
# Rows processed together: few enough for the cache, enough that threads rarely wait.
BLOCK = 524_288
# For scores of at least this many bytes, the memory of temporary arrays is worth keeping.
LARGE = 32 * 2**20
# Integers beyond this are not all float64 numbers, so distinct scores would become equal.
EXACT = 2**53
# The same for float32.
EXACT_FLOAT32 = 2**24
# Products of several weights stay within the range of floats.
MAX_WEIGHT = 1e60

FloatType = type[np.floating[Any]]


def read_arrays(y: Any, score: Any, *, labels: LabelValues, sample_weight: Any = None) -> Samples:
    """Sort the scores of labeled, unlabeled and known negative rows separately."""
    check_same_order({"y": y, "score": score, "sample_weight": sample_weight})
    if sample_weight is None and is_on_device(score):
        return _read_on_device(y, score, labels)
    y = one_column(y, "y")
    score = check_scores(one_column(score, "score"))
    if sample_weight is not None:
        sample_weight = as_weights(one_column(sample_weight, "sample_weight"))
    _check_rows({"y": y, "score": score, "sample_weight": sample_weight})

    dtype = float_type(score)
    if score.nbytes >= LARGE:
        keep_memory()
    parts = min(available_cores(), MOST_CHUNKS) if len(y) >= THREADED_ROWS else 1
    edges = np.linspace(0, len(y), parts + 1).astype(int)

    def read(part: int) -> Samples | None:
        rows = slice(edges[part], edges[part + 1])
        part_weight = None if sample_weight is None else sample_weight[rows]
        return _read(y[rows], score[rows], part_weight, labels, dtype)

    samples = [part for part in map_in_threads(read, range(parts)) if part is not None]
    if len(samples) < parts:
        raise _bad_labels_error(y, labels)
    labeled, unlabeled, negative = (sum((s[kind] for s in samples), EMPTY) for kind in range(3))
    if not all(map(all_finite, (labeled, unlabeled, negative))):
        raise bad_scores_error(score)
    # The few labeled scores are the thresholds of all curves: one sorted chunk is fastest.
    return labeled.merged(), unlabeled, negative


def is_on_device(values: Any) -> bool:
    """Whether an array is on a GPU."""
    return has_dlpack(values) and device_arrays.is_device_array(values)


def to_host(values: Any) -> Any:
    """Return an array of PyTorch, CuPy or JAX as a NumPy array, and all else as it is."""
    return device_arrays.host_array(values) if has_dlpack(values) else values


def has_dlpack(values: Any) -> bool:
    """Whether an array belongs to another library than NumPy, such as PyTorch, CuPy or JAX."""
    return not isinstance(values, np.ndarray) and hasattr(values, "__dlpack_device__")


def _read_on_device(y: Any, score: Any, labels: LabelValues) -> Samples:
    """Sort scores that are on a GPU there; labels may be there or on the host."""
    labels_on_host = not is_on_device(y)
    y = one_column(y, "y") if labels_on_host else device_arrays.device_column(y, "y")
    score = device_arrays.device_column(score, "score")
    _check_rows({"y": y, "score": score})
    keep_memory()
    masks = _masks(y, labels) if labels_on_host else device_arrays.device_masks(y, labels)
    samples = device_arrays.sort_on_device(score, masks)
    if samples is None:
        raise _bad_labels_error(device_arrays.host_array(y), labels)
    if not all(map(all_finite, samples)):
        raise bad_scores_error(device_arrays.host_array(score))
    return samples


def read_table(score: Any, labeled: Any, unlabeled: Any, negative: Any) -> Samples:
    """Return the samples of a table of counts; a kind that is None has no rows."""
    scores = one_column(score, "score")
    samples = []
    for name, column in (("labeled", labeled), ("unlabeled", unlabeled), ("negative", negative)):
        if column is None:
            samples.append(EMPTY)
            continue
        count = one_column(column, name)
        if count.dtype.kind not in "biuf":
            raise InputError(f"{name} must hold numbers of rows; got dtype {count.dtype}.")
        if count.dtype.kind == "f" and np.all(np.isfinite(count) & (count == np.rint(count))):
            check_total(np.abs(count).sum(), name)
            count = count.astype(np.int64)
        check_lengths({"score": scores, name: count})
        labels = LabelValues(1, 0, None)
        rows, _, _ = read_arrays(np.ones(len(scores)), scores, labels=labels, sample_weight=count)
        # Without squared weights, since each unit of weight counts as one row.
        samples.append(rows.map_chunks(lambda chunk: SortedChunk(chunk.values, chunk.count)))
    return _three(samples)


def _read(
    y: Array, score: Array, sample_weight: Array | None, labels: LabelValues, dtype: FloatType
) -> Samples | None:
    """Return the three samples of some rows; None if a label is not recognized."""
    if sample_weight is not None:
        masks = _masks(y, labels)
        if sum(map(np.count_nonzero, masks)) != len(y):
            return None
        score = score.astype(dtype, copy=False)
        return _three(make_weighted_sample(score[mask], sample_weight[mask]) for mask in masks)
    # Most rows are of one kind. Sorting the others to the end, as +inf, beats selecting that kind.
    frequent = int(np.argmax([np.count_nonzero(mask) for mask in _masks(y[:BLOCK], labels)]))
    padded = np.empty(len(y), dtype=dtype)
    selected: list[list[Array]] = [[], [], []]
    for start in range(0, len(y), BLOCK):
        rows = slice(start, start + BLOCK)
        block = padded[rows]
        block[:] = score[rows]
        index = np.flatnonzero(~equal_labels(y[rows], labels.values[frequent]))
        if index.size:
            masks, values = _masks(y[rows][index], labels), block[index]
            if sum(map(np.count_nonzero, masks)) != index.size:
                return None
            for kind, mask in enumerate(masks):
                selected[kind].append(values[mask])
            block[index] = np.inf
    padded.sort()
    samples = [make_sample(np.concatenate(parts)) if parts else EMPTY for parts in selected]
    size = len(y) - sum(sample.total for sample in samples)
    if size:
        samples[frequent] = Sample((SortedChunk(padded[:size]),))
    return _three(samples)


def _masks(y: Array, labels: LabelValues) -> list[Array]:
    """Return which rows are labeled, unlabeled and negative."""
    return [
        np.zeros(len(y), dtype=bool) if value is None else equal_labels(y, value)
        for value in labels.values
    ]


def _three(samples: Iterable[Sample]) -> Samples:
    labeled, unlabeled, negative = samples
    return labeled, unlabeled, negative


def equal_labels(y: Array, value: Any) -> Array:
    """Return which entries of ``y`` equal ``value``; text never equals a number."""
    if is_missing(value):
        return missing_rows(y)
    if isinstance(value, str | bytes) != (y.dtype.kind in "UST") and y.dtype.kind != "O":
        return np.zeros(len(y), dtype=bool)
    if y.dtype.kind == "b" and value in (0, 1):
        return y.copy() if value else ~y  # NumPy would compare as integers
    if y.dtype.kind != "O":
        return np.asarray(y == value, dtype=bool)
    # Some missing values raise an error when compared.
    equal = ~missing_rows(y)
    equal[equal] = np.asarray(y[equal] == value, dtype=bool)
    return equal


def label_kinds(y: Any, labels: LabelValues) -> Array:
    """Return 0 for labeled rows, 1 for unlabeled and 2 for known negative ones."""
    y = one_column(y, "y")
    kinds = np.empty(len(y), dtype=np.int8)

    def read(start: int) -> bool:
        """Find the kinds of some rows; return whether every label has one."""
        rows = slice(start, start + BLOCK)
        block = kinds[rows]
        block.fill(-1)
        for kind, value in enumerate(labels.values):
            if value is not None:
                # As numbers: faster than copying where the mask holds.
                mask = equal_labels(y[rows], value).view(np.int8)
                np.maximum(block, (kind + 1) * mask - 1, out=block, dtype=np.int8)
        return bool(block.min() >= 0)

    if not all(map_in_threads(read, range(0, len(y), BLOCK))):
        raise _bad_labels_error(y, labels)
    return kinds


def _check_rows(columns: Mapping[str, Any]) -> None:
    """Refuse columns of different lengths, and no rows at all."""
    check_lengths(columns)
    if not len(columns["y"]):
        raise InputError(
            "y and score are empty. Pass at least one labeled row and one unlabeled or known "
            "negative row."
        )


def check_lengths(columns: Mapping[str, Any], hint: str = "") -> None:
    """Refuse columns whose length is not that of the first."""
    (first, values), *others = columns.items()
    for name, column in others:
        if column is not None and len(column) != len(values):
            raise InputError(
                f"{first} and {name} must have the same length; "
                f"got {len(values):,} and {len(column):,}.{hint}"
            )


def check_same_order(columns: Mapping[str, Any]) -> None:
    """Refuse pandas objects with the same index in different orders: rows pair by position."""
    indexes: dict[str, Any] = {
        name: getattr(values, "index", None) for name, values in columns.items()
    }
    indexed = [(name, index) for name, index in indexes.items() if hasattr(index, "equals")]
    for other, index in indexed[1:]:
        name, first = indexed[0]
        if len(index) != len(first) or index.equals(first):
            continue
        try:
            same = index.sort_values().equals(first.sort_values())
        except TypeError:  # entries that cannot be compared
            continue
        if same:
            raise InputError(
                f"{name} and {other} have the same index in different orders, but rows are paired "
                f"by position. Reorder {other} with .loc[{name}.index]; if the rows already match, "
                "pass arrays (.to_numpy())."
            )


def one_column(values: Any, name: str) -> Array:
    """Return a one-dimensional array; a matrix must have one column."""
    if isinstance(values, np.ma.MaskedArray) and np.ma.getmaskarray(values).any():
        raise missing_error(name, int(np.ma.getmaskarray(values).sum()))
    if isinstance(values, str | os.PathLike):
        raise text_error(name, values)
    if len(columns := _column_names(values)) > 1:
        raise _several_columns_error(name, columns)
    values = to_host(values)
    try:
        array = np.asarray(values)
    except ValueError:
        if not isinstance(values, list | tuple):
            raise
        raise InputError(
            f"{name} must have one value per row; got parts of different lengths. Concatenate them "
            "first, for example with numpy.concatenate."
        ) from None
    if array.dtype != np.float16 and is_half_precision(array.dtype):
        array = array.astype(np.float32)  # bfloat16 or float8, which JAX adds to NumPy
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        hint = " For the output of predict_proba, take [:, 1]." if name == "score" else ""
        raise InputError(f"{name} must have one dimension; got shape {array.shape}.{hint}")
    return array


def is_half_precision(dtype: Any) -> bool:
    """Whether a dtype of any library is a float of half precision or less."""
    return str(dtype).removeprefix("torch.").startswith(device_arrays.HALF_PRECISION)


def owned_column(values: Any, name: str, convert: Callable[[Array], Array]) -> Array:
    """Return a converted column that stays as it is if the caller changes the values.

    Intervals are computed when they are asked for, from rows that were kept until then.

    Parameters
    ----------
    values : array-like of shape (n,) or (n, 1)
        Column as it was given.
    name : str
        Name of the argument, for messages.
    convert : callable
        Checks and converts the column, such as `as_scores`; it may return its argument.

    Returns
    -------
    ndarray
    """
    column = one_column(values, name)
    converted = convert(column)
    # A Series, a tensor or a matrix shares its memory with the column that NumPy makes of it.
    return _copy(converted) if np.may_share_memory(converted, column) else converted


def _copy(values: Array) -> Array:
    copied = np.empty_like(values)

    def copy(start: int) -> None:
        copied[start : start + BLOCK] = values[start : start + BLOCK]

    map_in_threads(copy, range(0, values.size, BLOCK))
    return copied


def text_error(name: str, text: str | os.PathLike[str]) -> InputError:
    """Return the error for a file or column name in the place of an array."""
    path = os.fspath(text)
    if name == "y":
        return InputError(
            f"y must hold labels; got the text {path!r}. For a file, pass "
            f"Counts.from_file({path!r}, label=…, score=…) in the place of y and score."
        )
    return InputError(
        f"{name} must hold numbers; got the text {path!r}. Pass the column itself, such as "
        f"frame[{path!r}]."
    )


def _column_names(values: Any) -> list[str]:
    """Return the column names of a data frame, or the keys of a dict; none for an array."""
    names = getattr(values, "column_names", None) or getattr(values, "columns", None)
    if isinstance(values, Mapping):
        names = values
    return [] if names is None else [str(name) for name in names]


def _several_columns_error(name: str, columns: list[str]) -> InputError:
    shown = list_examples(columns)
    advice = {
        "y": "Pass the one with the labels.",
        "score": "Pass one of them, or compare the models: compare(y, score).",
    }
    return InputError(
        f"{name} has {len(columns)} columns ({shown}). {advice.get(name, 'Pass one of them.')}"
    )


def float_type(score: Array) -> FloatType:
    """Return the smallest type that holds all scores exactly."""
    fits_float32 = score.dtype in (np.float32, np.float16, np.bool_)
    if score.dtype.kind in "iu":
        fits_float32 = _within(score, EXACT_FLOAT32)
    return np.float32 if fits_float32 else np.float64


def _within(score: Array, limit: int) -> bool:
    """Whether integers lie within ±limit."""
    return not len(score) or bool(int(score.min()) >= -limit and int(score.max()) <= limit)


def as_scores(score: Array) -> Array:
    """Return scores as floats; refuse what is not a number."""
    score = check_scores(score)
    return score.astype(float_type(score), copy=False)


def check_scores(score: Array) -> Array:
    """Refuse scores that are not numbers, and integers that floats cannot hold."""
    if score.dtype.kind == "O":
        score = _object_scores(score)
    if score.dtype.kind not in "biuf":
        raise InputError(
            f"score must hold real numbers; got dtype {score.dtype}"
            + (f" (first value {score[0]!r})." if len(score) else ".")
        )
    if score.dtype.kind in "iu" and not _within(score, EXACT):
        raise inexact_scores_error(f"{score.min()} to {score.max()}")
    if score.dtype.kind == "f" and score.dtype.itemsize > np.dtype(np.float64).itemsize:
        with np.errstate(over="ignore"):
            rounded = score.astype(np.float64)
        _refuse_merged(np.unique(score).size, rounded)
        return rounded
    return score


def _object_scores(score: Array) -> Array:
    """Return Python numbers as floats; refuse text, and numbers that would become equal."""
    if text := [value for value in score if isinstance(value, str | bytes)]:
        raise InputError(
            f"score must hold numbers only; got text, such as {text[0]!r:.60}. Convert it first."
        )
    try:
        rounded = score.astype(np.float64)
    except OverflowError:
        raise inexact_scores_error("integers that are too large for any float") from None
    except (TypeError, ValueError) as error:
        raise InputError(f"score must hold numbers only; got objects: {error}.") from None
    if np.isfinite(rounded).all():
        # Numbers of all types are equal, and have the same hash, if they have the same value.
        _refuse_merged(len(set(score.tolist())), rounded)
    return rounded


def _refuse_merged(distinct: int, rounded: Array) -> None:
    """Refuse scores of which fewer remain distinct after rounding."""
    if merged := distinct - np.unique(rounded).size:
        raise merged_scores_error(merged)


def as_weights(sample_weight: Array) -> Array:
    """Return weights as int64 or float64; refuse missing, negative and huge ones."""
    if sample_weight.dtype.kind not in "biuf":
        raise InputError(f"sample_weight must hold numbers; got dtype {sample_weight.dtype}.")
    if sample_weight.dtype.kind == "f":
        with np.errstate(over="ignore"):
            sample_weight = sample_weight.astype(np.float64, copy=False)
        if not_finite := int(np.count_nonzero(~np.isfinite(sample_weight))):
            raise missing_error("or infinite weight", not_finite)
        if sample_weight.max(initial=0.0) > MAX_WEIGHT:
            raise InputError(
                f"weights must be at most {MAX_WEIGHT:g}, or sums of their squares overflow; got "
                f"{sample_weight.max():g}. Divide them by a common factor."
            )
    else:
        check_total(sample_weight.sum(dtype=np.float64))
        sample_weight = sample_weight.astype(np.int64, copy=False)
    if negative := int(np.count_nonzero(sample_weight < 0)):
        raise InputError(
            f"weights must not be negative; got {negative:,} below zero "
            f"(the lowest is {sample_weight.min():g})."
        )
    return sample_weight


def check_total(total: float, name: str = "frequency weights (integers)") -> None:
    """Refuse numbers of rows, or frequency weights, with a sum that floats cannot hold."""
    if total > EXACT:
        advice = "." if name in {"labeled", "unlabeled", "negative"} else ", or pass floats."
        raise InputError(
            f"{name} must sum to at most 2**53; got {total:g}. "
            f"Divide them by a common factor{advice}"
        )


def all_finite(sample: Sample) -> bool:
    """Whether all scores are finite: NaN and +inf sort to the end, and −inf to the front."""
    return all(np.isfinite(c.values[0]) and np.isfinite(c.values[-1]) for c in sample.chunks)


def bad_scores_error(score: Array) -> InputError:
    """Return the error for scores that are missing or infinite."""
    if missing := int(np.isnan(score).sum()):
        return missing_error("score", missing)
    return infinite_error("score", int(np.isinf(score).sum()))


def missing_rows(y: Array) -> Array:
    """Return which entries are missing."""
    if y.dtype.kind == "f":
        return np.isnan(y)
    if y.dtype.kind != "O":
        return np.zeros(len(y), dtype=bool)
    return np.array([entry is None or is_missing(entry) for entry in y], dtype=bool)


def refuse_missing(y: Array, what: str) -> None:
    """Refuse missing values."""
    if missing := int(missing_rows(y).sum()):
        raise missing_error(what, missing)


def _bad_labels_error(y: Array, labels: LabelValues) -> InputError:
    missing = int(missing_rows(y).sum())
    if missing and not labels.takes_missing:
        return missing_labels_error(missing)
    rest = y[~np.logical_or.reduce(_masks(y, labels))]
    return labels.unrecognized_error(sorted(set(rest.tolist()), key=str), len(rest))
