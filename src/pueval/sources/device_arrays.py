"""Rows whose scores are on a GPU, as arrays of PyTorch, CuPy or JAX: sorted where they are."""

from __future__ import annotations

from numbers import Real
from typing import Any, cast

import numpy as np

from pueval._typing import Array
from pueval.errors import InputError
from pueval.samples.device_values import DeviceValues, to_numpy
from pueval.samples.sample import EMPTY, Sample, Samples, SortedChunk
from pueval.sources.labels import LabelValues, inexact_scores_error, is_missing

# Kinds with at most so many rows are moved to the host once they are sorted. Curves have a point
# per labeled score, and are computed there: with more, their time exceeds that of counting.
HOST_ROWS = 4_000_000
# Rows that are sorted at once: some libraries sort and index with 32-bit integers.
SORTED_ROWS = 2**30
# Dtypes of tensors that NumPy has, too. It is no use to ask NumPy for its names: importing JAX adds
# some, such as complex32, that PyTorch cannot convert.
NUMPY_DTYPES = {
    "bool", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64",
    "float32", "float64", "complex64", "complex128",
}  # fmt: skip
# How the names of dtypes of half precision or less begin; float8 has several.
HALF_PRECISION = ("float16", "bfloat16", "float8")
# Integers beyond these are not all float32, or float64, numbers.
EXACT_FLOAT32, EXACT = 2**24, 2**53


def is_device_array(values: Any) -> bool:
    """Whether an array is on a GPU: a PyTorch tensor, CuPy or JAX array that is not on the host."""
    from array_api_compat import is_cupy_array, is_jax_array, is_torch_array

    if is_torch_array(values):
        return bool(values.device.type == "cuda")
    if is_jax_array(values):
        return any(place.platform == "gpu" for place in values.devices())
    return bool(is_cupy_array(values))


def host_array(values: Any) -> Any:
    """Return PyTorch tensors, CuPy and JAX arrays as NumPy arrays, and all else as it is.

    Tensors are detached from the graph of gradients. bfloat16 and float8, which NumPy lacks, become
    float32.
    """
    from array_api_compat import is_cupy_array, is_jax_array, is_torch_array

    if is_torch_array(values) or is_jax_array(values):
        return to_numpy(_plain(values))
    return to_numpy(values) if is_cupy_array(values) else values


def _plain(values: Any) -> Any:
    """Return values without gradients and pending signs, and half precision or less as float32."""
    from array_api_compat import array_namespace, is_torch_array

    is_tensor = is_torch_array(values)
    if is_tensor:
        check_dense(values)
        # NumPy cannot read a sign that PyTorch has only noted.
        values = values.detach().resolve_conj().resolve_neg()
    dtype = str(values.dtype).removeprefix("torch.")
    if dtype.startswith(HALF_PRECISION):
        xp = array_namespace(values)
        values = xp.astype(values, xp.float32)
    elif is_tensor and dtype not in NUMPY_DTYPES:
        raise InputError(
            f"tensors must have a dtype that NumPy has, too; got {dtype}. Convert them first."
        )
    return values


def check_dense(tensor: Any) -> None:
    """Refuse tensors of PyTorch that are not plain arrays of numbers."""
    layout = str(tensor.layout).removeprefix("torch.")
    special = {
        "meta": tensor.is_meta,
        "nested": tensor.is_nested,
        "quantized": tensor.is_quantized,
        layout: layout != "strided",
    }
    for kind, applies in special.items():
        if applies:
            raise InputError(
                f"tensors must be dense and hold numbers; got a {kind} tensor. Convert it, for "
                "example with .to_dense() or .dequantize()."
            )


def device_masks(y: Any, labels: LabelValues) -> list[Any]:
    """Return which rows of labels on a device are labeled, unlabeled and negative; None if none."""
    y = device_column(y, "y")
    return [equal_entries(y, value) for value in labels.values]


def equal_entries(y: Any, value: Any) -> Any:
    """Return which entries of an array on a device equal a label value; None if none can."""
    from array_api_compat import array_namespace

    xp = array_namespace(y)
    if value is None or isinstance(value, str | bytes):
        return None
    if is_missing(value):
        return xp.isnan(y) if xp.isdtype(y.dtype, "real floating") else None
    if xp.isdtype(y.dtype, "bool") and isinstance(value, Real):
        return (y if value else xp.logical_not(y)) if value in (0, 1) else None
    if xp.isdtype(y.dtype, "integral") and isinstance(value, Real):
        limits = xp.iinfo(y.dtype)
        # Libraries convert the value to the type of the array, where 256 can become 0.
        if not limits.min <= value <= limits.max:
            return None
    return y == value


def sort_on_device(score: Any, masks: list[Any]) -> Samples | None:
    """Sort the scores of each kind of rows on their device; None if a row has no kind.

    Sorted scores of frequent kinds stay on the device. Scores that are not finite end up first or
    last in their sample.
    """
    from array_api_compat import array_namespace, device

    score = device_column(score, "score")
    xp, place = array_namespace(score), device(score)
    score = _as_floats(score, xp)
    masks = [None if mask is None else _move(mask, xp, place) for mask in masks]
    sizes = [0 if mask is None else int(xp.count_nonzero(mask)) for mask in masks]
    if sum(sizes) != score.shape[0]:
        return None
    frequent = int(np.argmax(sizes))
    samples = []
    for kind, (mask, size) in enumerate(zip(masks, sizes, strict=True)):
        if not size:
            samples.append(EMPTY)
        elif kind == frequent:
            samples.append(_sort_frequent(score, mask, size, xp))
        else:
            samples.append(_sort_all(score[mask], xp))
    labeled, unlabeled, negative = samples
    return labeled, unlabeled, negative


def device_column(values: Any, name: str) -> Any:
    """Return a one-dimensional array on one device; a matrix must have one column."""
    from array_api_compat import is_jax_array, to_device

    values = _plain(values)
    if is_jax_array(values) and len(places := values.devices()) > 1:
        values = to_device(values, min(places, key=lambda place: place.id))
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1:
        hint = " For the output of predict_proba, take [:, 1]." if name == "score" else ""
        shape = tuple(values.shape)
        raise InputError(f"{name} must have one dimension; got shape {shape}.{hint}")
    return values


def _as_floats(score: Any, xp: Any) -> Any:
    """Return scores in the smallest of float32 and float64 that holds all of them exactly."""
    from array_api_compat import is_jax_array, is_torch_array

    if xp.isdtype(score.dtype, "real floating"):
        return score if score.dtype == xp.float64 else xp.astype(score, xp.float32)
    if xp.isdtype(score.dtype, "bool"):
        return xp.astype(score, xp.float32)
    if not xp.isdtype(score.dtype, "integral"):
        raise InputError(f"score must hold real numbers; got dtype {score.dtype}.")
    if not score.shape[0]:
        return xp.astype(score, xp.float32)
    is_unsigned = xp.isdtype(score.dtype, "unsigned integer")
    # PyTorch has no minimum of unsigned integers, other than uint8.
    whole = xp.astype(score, xp.int64) if is_unsigned and is_torch_array(score) else score
    low, high = int(xp.min(whole)), int(xp.max(whole))
    if max(-low, high) > EXACT or (is_unsigned and low < 0):  # as int64, 2**64 − 1 is −1
        on_host = to_numpy(score)
        raise inexact_scores_error(f"{on_host.min()} to {on_host.max()}")
    if max(-low, high) <= EXACT_FLOAT32:
        return xp.astype(score, xp.float32)
    if is_jax_array(score) and xp.asarray(0.0).dtype != xp.float64:
        raise InputError(
            f"JAX has float32 only, and integer scores beyond ±2**24 would become equal; got {low} "
            f"to {high}. Set jax_enable_x64, or pass numpy.asarray(score)."
        )
    return xp.astype(score, xp.float64)


def _move(mask: Any, xp: Any, place: Any) -> Any:
    """Return a mask on the device of the scores."""
    from array_api_compat import array_namespace, device, to_device

    if isinstance(mask, np.ndarray):
        return xp.asarray(mask, device=place)
    if array_namespace(mask) is not xp:
        mask = xp.from_dlpack(mask)
    return mask if device(mask) == place else to_device(mask, place)


def _sort_frequent(score: Any, mask: Any, size: int, xp: Any) -> Sample:
    """Sort the ``size`` scores of the most frequent kind.

    Sorting the others to the end, as +inf, is faster than selecting this kind. They keep their
    memory as long as the chunk exists.
    """
    infinity = xp.asarray(xp.inf, dtype=score.dtype, device=score.device)
    chunks: list[SortedChunk] = []
    starts = range(0, score.shape[0], SORTED_ROWS)
    for start in starts:
        rows = slice(start, start + SORTED_ROWS)
        in_chunk = size if len(starts) == 1 else int(xp.count_nonzero(mask[rows]))
        if in_chunk:
            ordered = xp.sort(xp.where(mask[rows], score[rows], infinity))
            chunks.append(_chunk(ordered[:in_chunk]))
    return Sample(tuple(chunks))


def _sort_all(score: Any, xp: Any) -> Sample:
    parts = range(0, score.shape[0], SORTED_ROWS)
    return Sample(tuple(_chunk(xp.sort(score[k : k + SORTED_ROWS])) for k in parts))


def _chunk(ordered: Any) -> SortedChunk:
    if ordered.shape[0] <= HOST_ROWS:
        return SortedChunk(to_numpy(ordered))
    # It has the part of an array's interface that a chunk needs.
    return SortedChunk(cast("Array", DeviceValues(ordered)))
