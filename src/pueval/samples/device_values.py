"""Sorted scores that stay on a GPU: searched and indexed there, with results as NumPy arrays."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np

from pueval._typing import Array


class DeviceValues:
    """Ascending scores on a device, with the part of NumPy's interface that `SortedChunk` needs.

    `np.searchsorted` calls `searchsorted`, so code that searches and indexes sorted scores works
    on them unchanged. `np.asarray` copies all of them to the host.

    Parameters
    ----------
    values : array of PyTorch, CuPy or JAX
        Scores, ascending.
    """

    def __init__(self, values: Any) -> None:
        from array_api_compat import array_namespace, device, is_cupy_array

        self._values = values
        self._namespace = array_namespace(values)
        self._device = device(values)
        # CuPy computes on its current device, which need not be that of the array.
        self._is_cupy = is_cupy_array(values)
        self.size = int(values.shape[0])
        self.dtype = to_numpy(values[:1]).dtype

    def __reduce__(self) -> tuple[type[DeviceValues], tuple[Any]]:
        return DeviceValues, (self._values,)

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, index: Any) -> Any:
        """Return a score, or an array of the scores at some places."""
        if isinstance(index, int | np.integer | slice):
            part = to_numpy(self._values[int(index) if not isinstance(index, slice) else index])
            return part[()]
        index = np.asarray(index)
        if index.dtype == np.bool_:
            raise NotImplementedError("mask")
        with self._on_device():
            places = self._to_device(index.astype(np.int64, copy=False))
            return to_numpy(self._values[places])

    def take(self, index: Array, mode: str = "clip") -> Array:
        """Return the scores at some places; places beyond the ends are moved to the ends."""
        if mode != "clip":
            raise NotImplementedError(mode)
        scores: Array = self[np.clip(index, 0, self.size - 1)]
        return scores

    def searchsorted(self, thresholds: Any, side: str = "left", sorter: None = None) -> Any:
        """Return how many scores are below (or, with "right", not above) each threshold."""
        if sorter is not None:
            raise NotImplementedError("sorter")
        wanted = np.asarray(thresholds, dtype=self.dtype)
        with self._on_device():
            found = self._namespace.searchsorted(
                self._values, self._to_device(np.atleast_1d(wanted)), side=side
            )
            places = to_numpy(found).astype(np.intp, copy=False)
        return places if wanted.ndim else places[0]

    def search_both_sides(self, thresholds: Array) -> tuple[Array, Array]:
        """Return how many scores are below, and how many not above, each threshold.

        Both come in one transfer: for few thresholds, it takes longer than the search.
        """
        with self._on_device():
            wanted = self._to_device(thresholds)
            places = [
                self._namespace.searchsorted(self._values, wanted, side=side)
                for side in ("left", "right")
            ]
            left, right = to_numpy(self._namespace.stack(places)).astype(np.intp, copy=False)
        return left, right

    def count_distinct(self) -> int:
        """Return the number of distinct scores."""
        with self._on_device():
            return 1 + int(self._namespace.count_nonzero(self._values[1:] != self._values[:-1]))

    def distinct_counts(self) -> tuple[Array, Array]:
        """Return the distinct scores, ascending, and the number of rows at each."""
        with self._on_device():
            (places,) = self._namespace.nonzero(self._values[1:] != self._values[:-1])
            first = np.concatenate([[0], to_numpy(places) + 1])
        return self[first], np.diff(first, append=self.size)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:  # noqa: FBT001
        """Copy all scores to the host."""
        if copy is False:
            raise ValueError("scores on a device cannot become a NumPy array without a copy.")
        return to_numpy(self._values).astype(dtype or self.dtype, copy=False)

    def _to_device(self, array: Array) -> Any:
        # A copy, since PyTorch refuses negative strides and warns of memory that is read-only.
        return self._namespace.asarray(array.copy(), device=self._device)

    def _on_device(self) -> contextlib.AbstractContextManager[Any]:
        return self._device if self._is_cupy else contextlib.nullcontext()


def to_numpy(array: Any) -> Array:
    """Copy an array of PyTorch, CuPy or JAX to the host."""
    from array_api_compat import is_cupy_array, is_torch_array

    if is_torch_array(array):
        array = array.cpu()
    copied = np.asarray(array.get() if is_cupy_array(array) else array)
    # JAX shares memory that must not be written to.
    return copied if copied.flags.writeable else copied.copy()
