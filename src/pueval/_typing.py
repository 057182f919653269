"""Type aliases shared by the whole package."""

from __future__ import annotations

from typing import Any, Literal

from numpy.typing import NDArray

Array = NDArray[Any]
"""An array of any dtype."""

Range = tuple[float, float]
"""Lower and upper end of a range of values, such as a prior known to lie in (0.2, 0.3)."""

Target = Literal["population", "unlabeled"]
"""Population to evaluate: all rows, or only the unlabeled rows."""
