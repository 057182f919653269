"""Scores and labels of a batch: checked, detached, and as small tensors."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from pueval.errors import InputError
from pueval.sources.labels import LabelValues, infinite_error, missing_error

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


def read_scores(scores: Any) -> Tensor:
    """Return finite scores as a vector of float32 or float64, without changing their values."""
    scores = _vector("scores", scores)
    if scores.is_complex():
        raise InputError(f"scores must be real numbers; got {scores.dtype}.")
    dtype = torch.float32 if scores.dtype in FLOAT32_TYPES else torch.float64
    scores = scores.to(dtype) + 0.0  # −0.0 equals 0.0
    if not torch.isfinite(scores).all():
        missing = int(torch.isnan(scores).sum())
        if missing:
            raise missing_error("score", missing)
        raise infinite_error("score", int(torch.isinf(scores).sum()))
    return scores


def read_kinds(labels: Any, values: LabelValues) -> Tensor:
    """Return the kind of each row: 0 labeled, 1 unlabeled, 2 known negative."""
    labels = _vector("labels", labels)
    kinds = torch.full(labels.shape, -1, dtype=torch.int8, device=labels.device)
    for code, value in enumerate(values.values):
        if value is not None:
            # The only number that differs from itself is NaN.
            same = labels == value if value == value else torch.isnan(labels)  # noqa: PLR0124
            kinds[same] = code
    unknown = kinds < 0
    if unknown.any():
        distinct = torch.unique(labels[unknown]).tolist()
        raise values.unrecognized_error(distinct, int(unknown.sum()))
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
