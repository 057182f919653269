"""Scores and labels of a batch: checked, detached, and as small tensors."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from pueval.errors import InputError
from pueval.sources.arrays import EXACT
from pueval.sources.labels import (
    MOST_LABELS,
    LabelValues,
    inexact_scores_error,
    infinite_error,
    missing_error,
    missing_labels_error,
)

# Types whose values are float32 numbers; all others are kept as float64.
FLOAT32_TYPES = (
    torch.float32,
    torch.float16,
    torch.bfloat16,
    torch.bool,
    torch.int8,
    torch.uint8,
    torch.int16,
)


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
    dtype = torch.float32 if scores.dtype in FLOAT32_TYPES else torch.float64
    scores = scores.to(dtype) + 0.0  # −0.0 equals 0.0
    if not torch.isfinite(scores).all():
        missing = int(torch.isnan(scores).sum())
        if missing:
            raise missing_error("score", missing)
        raise infinite_error("score", int(torch.isinf(scores).sum()))
    return scores


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
        if value is not None:
            # The only number that differs from itself is NaN.
            same = labels == value if value == value else torch.isnan(labels)  # noqa: PLR0124
            kinds[same] = code
    return kinds


def _vector(name: str, values: Any) -> Tensor:
    """Return a detached tensor with one number per row."""
    if not isinstance(values, Tensor):
        raise InputError(
            f"{name} must be a tensor; got {type(values).__name__}. Use torch.as_tensor, or "
            "pueval.evaluate for arrays."
        )
    values = values.detach()
    if values.ndim == 0 or (values.ndim == 2 and values.shape[1] == 1):
        values = values.reshape(-1)
    if values.ndim != 1:
        raise InputError(
            f"{name} must have one number per row; got shape {tuple(values.shape)}. For two "
            "columns of class scores, pass the one of the positive class."
        )
    return values
