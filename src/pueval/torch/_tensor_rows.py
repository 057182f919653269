"""Scores and labels of a batch: checked, detached, and as small tensors."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from pueval.errors import InputError
from pueval.sources.arrays import EXACT
from pueval.sources.device_arrays import check_dense, equal_entries
from pueval.sources.labels import (
    MOST_LABELS,
    LabelValues,
    inexact_scores_error,
    infinite_error,
    missing_error,
    missing_labels_error,
)

# Types, beside floats, whose values are float32 numbers.
FLOAT32_TYPES = (torch.bool, torch.int8, torch.uint8, torch.int16)


def read_rows(scores: Any, labels: Any, values: LabelValues) -> tuple[Tensor, Tensor]:
    """Return scores as floats, and the kind of each row: 0 labeled, 1 unlabeled, 2 negative."""
    read = read_scores(scores)
    kinds = _read_kinds(labels, read, values)
    if read.shape != kinds.shape:
        raise InputError(
            f"scores and labels must have the same length; got {read.numel():,} scores and "
            f"{kinds.numel():,} labels."
        )
    return read, kinds.to(read.device)


def read_scores(scores: Any) -> Tensor:
    """Return finite scores as a vector of float32 or float64, without changing their values."""
    scores = _vector("scores", scores)
    if scores.is_complex():
        raise InputError(f"scores must be real numbers; got {scores.dtype}.")
    if scores.dtype in {torch.int64, torch.uint64}:
        # As int64, the largest numbers of uint64 are negative.
        integers, lowest = scores.view(torch.int64), -EXACT if scores.is_signed() else 0
        if ((integers > EXACT) | (integers < lowest)).any():
            array = scores.cpu().numpy()
            raise inexact_scores_error(f"{array.min()} to {array.max()}")
    fits_float32 = _float_bits(scores.dtype) <= 32 or scores.dtype in FLOAT32_TYPES
    dtype = torch.float32 if fits_float32 else torch.float64
    scores = scores.to(dtype) + 0.0  # −0.0 equals 0.0
    if not torch.isfinite(scores).all():
        missing = int(torch.isnan(scores).sum())
        if missing:
            raise missing_error("score", missing)
        raise infinite_error("score", int(torch.isinf(scores).sum()))
    return scores


def narrow_scores(scores: Tensor) -> Tensor:
    """Return finite scores as float32; refuse those beyond its range."""
    narrowed = scores.to(torch.float32) + 0.0  # tiny negative scores become −0.0
    beyond = torch.isinf(narrowed)
    if n := int(beyond.sum()):
        rows = "1 row" if n == 1 else f"{n:,} rows"
        raise InputError(
            f"scores must lie within the range of float32, ±{torch.finfo(torch.float32).max:.3g}, "
            f"to be put into bins; got {scores[beyond][0].item():.3g} ({rows} beyond it). Leave "
            "bins out, or rescale the scores."
        )
    return narrowed


def is_low_precision(dtype: torch.dtype) -> bool:
    """Whether a type is a float of fewer bits than float32, which ties many scores."""
    return _float_bits(dtype) < 32


def values_per_doubling(dtype: torch.dtype) -> int:
    """Return how many numbers of a floating-point type lie between a score and twice that score."""
    return round(1 / float(torch.finfo(dtype).eps))


def _float_bits(dtype: torch.dtype) -> float:
    """Return the number of bits of a floating-point type; infinity for other types."""
    return torch.finfo(dtype).bits if dtype.is_floating_point else math.inf


def _read_kinds(labels: Any, scores: Tensor, values: LabelValues) -> Tensor:
    labels = _vector("labels", labels)
    kinds = _match(labels, values)
    unknown = kinds < 0
    if not unknown.any():
        return kinds
    if missing := int(torch.isnan(labels[unknown]).sum()):
        raise missing_labels_error(missing)
    distinct = torch.unique(labels[unknown])
    if labels.is_floating_point():
        fractional = bool((distinct != distinct.round()).any())
        swapped = fractional and bool((_match(scores, values) >= 0).all())
        if swapped or distinct.numel() > MOST_LABELS:
            raise InputError(
                f"labels look like scores, such as {distinct[0].item():g}. Pass scores first, then "
                "labels: update(scores, labels)."
            )
    raise values.unrecognized_error(distinct.tolist(), int(unknown.sum()))


def _match(labels: Tensor, values: LabelValues) -> Tensor:
    """Return the kind of each row, −1 for a label that is none of the values."""
    kinds = torch.full(labels.shape, -1, dtype=torch.int8, device=labels.device)
    for code, value in enumerate(values.values):
        same = equal_entries(labels, value)
        if same is not None:
            kinds[same] = code
    return kinds


def _vector(name: str, values: Any) -> Tensor:
    """Return a detached tensor with one number per row."""
    if not isinstance(values, Tensor):
        raise InputError(
            f"{name} must be a tensor; got {type(values).__name__}. Use torch.as_tensor, or "
            "pueval.evaluate for arrays."
        )
    check_dense(values)
    values = values.detach()
    if values.ndim == 0 or (values.ndim == 2 and values.shape[1] == 1):
        values = values.reshape(-1)
    if values.ndim != 1:
        raise InputError(
            f"{name} must have one number per row; got shape {tuple(values.shape)}. For two "
            "columns of class scores, pass the one of the positive class."
        )
    return values
