"""Features of rows: a matrix of numbers with names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pueval._checks import list_examples
from pueval._typing import Array
from pueval.errors import InputError


@dataclass(frozen=True, eq=False)
class Features:
    """Names and values of features, one column each."""

    names: tuple[str, ...]
    values: Array

    @classmethod
    def read(cls, X: Any) -> Features:  # noqa: N803
        """Read a data frame or a matrix; a vector is one feature."""
        columns = getattr(X, "column_names", getattr(X, "columns", None))
        matrix = np.asarray(X)
        if matrix.ndim == 1:
            matrix = matrix[:, None]
        if matrix.ndim != 2:
            raise InputError(f"X must have two dimensions; got shape {matrix.shape}.")
        names = tuple(map(str, range(matrix.shape[1]) if columns is None else columns))
        if not names:
            raise InputError("X has no columns.")
        try:
            values = matrix.astype(np.float64)
        except (TypeError, ValueError):
            raise InputError(
                "X must hold numbers only. Encode text and categories first, for example with "
                "one column of 0 and 1 for each value."
            ) from None
        bad = ~np.isfinite(values)
        if bad.any():
            name = names[int(np.argmax(bad.any(axis=0)))]
            raise InputError(
                f"X has missing or infinite values in {int(bad.any(axis=1).sum()):,} rows, such as "
                f"in feature {name!r}. Fill them in, and add a column that says where."
            )
        return cls(names, values)

    def __len__(self) -> int:
        return len(self.values)

    def positions(self, chosen: Any, argument: str) -> list[int]:
        """Return the positions of chosen features, given by name or by position."""
        if isinstance(chosen, str | int):
            chosen = [chosen]
        if not isinstance(chosen, Sequence | np.ndarray) or len(chosen) == 0:
            raise InputError(
                f"{argument} must name at least one feature of X, as a list of names or positions; "
                f"got {chosen!r}."
            )
        positions = [self._position(feature, argument) for feature in chosen]
        if len({*positions}) < len(positions):
            raise InputError(f"{argument} names a feature twice: {list(chosen)!r}.")
        return positions

    def _position(self, feature: Any, argument: str) -> int:
        if isinstance(feature, str) and feature in self.names:
            return self.names.index(feature)
        if isinstance(feature, int | np.integer) and 0 <= feature < len(self.names):
            return int(feature)
        shown = list_examples(self.names)
        raise InputError(f"{argument}: X has no feature {feature!r}. Its features are {shown}.")

    def part(self, positions: Sequence[int]) -> Features:
        """Return some of the features."""
        return Features(tuple(self.names[k] for k in positions), self.values[:, [*positions]])

    def rows(self, rows: Array) -> Features:
        """Return the features of some rows."""
        return Features(self.names, self.values[rows])
