"""Sample sizes: how many rows of each kind there are, of one sample or of many groups at once.

`Counts` has them for one sample. The formulas of `mixture` and `rates` need nothing else of it,
so they take anything with the same attributes: numbers, or arrays with one entry per group.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol, TypeVar

import numpy as np

from pueval._typing import Array
from pueval.counts.counts import Counts

Size_co = TypeVar("Size_co", covariant=True)


class SampleSizes(Protocol[Size_co]):
    """Numbers of rows of each kind: ``SampleSizes[float]``, or ``SampleSizes[Array]`` of groups.

    Where rows have weights, sizes are sums of weights, and effective sizes are
    (Σ weight)² / Σ weight².
    """

    @property
    def n_labeled(self) -> Size_co:
        """Labeled positives."""

    @property
    def n_unlabeled(self) -> Size_co:
        """Unlabeled rows."""

    @property
    def n_negative(self) -> Size_co:
        """Known negatives."""

    @property
    def n(self) -> Size_co:
        """All rows."""

    @property
    def labeled_share(self) -> Size_co:
        """Share of labeled positives among labeled positives and unlabeled rows."""

    @property
    def effective_sizes(self) -> tuple[Size_co, Size_co]:
        """Effective sizes of the labeled positives and of the background."""

    @property
    def squared_weights(self) -> tuple[Size_co, ...]:
        """Sums of squared weights of each kind; sizes if rows have no weights."""


class Sizes(NamedTuple):
    """The sizes of one sample."""

    n_labeled: float
    n_unlabeled: float
    n_negative: float
    effective_sizes: tuple[float, float]
    squared_weights: tuple[float, ...]

    @property
    def n(self) -> float:
        """All rows."""
        return self.n_labeled + self.n_unlabeled + self.n_negative

    @property
    def labeled_share(self) -> float:
        """Share of labeled positives among labeled positives and unlabeled rows."""
        return self.n_labeled / (self.n_labeled + self.n_unlabeled)


@dataclass(frozen=True, eq=False)
class GroupSizes:
    """The sizes of many groups: arrays with one entry per group.

    Attributes
    ----------
    n_labeled, n_unlabeled, n_negative : ndarray
        Rows of each kind, or their total weight.
    effective_by_kind : tuple of three ndarray
        Effective sizes of the labeled, unlabeled and known negative rows.
    """

    n_labeled: Array
    n_unlabeled: Array
    n_negative: Array
    effective_by_kind: tuple[Array, ...]

    @classmethod
    def of(cls, counts: Counts) -> GroupSizes:
        """Return the sizes of one sample, as a single group."""
        labeled, unlabeled, negative = (np.array([kind.total]) for kind in counts._samples)
        effective = tuple(np.array([kind.effective_size]) for kind in counts._samples)
        return cls(labeled, unlabeled, negative, effective)

    @property
    def by_kind(self) -> tuple[Array, Array, Array]:
        """Numbers of labeled, unlabeled and known negative rows."""
        return self.n_labeled, self.n_unlabeled, self.n_negative

    @property
    def n(self) -> Array:
        """All rows."""
        return self.n_labeled + self.n_unlabeled + self.n_negative

    @property
    def n_background(self) -> Array:
        """Unlabeled rows and known negatives."""
        return self.n_unlabeled + self.n_negative

    @property
    def labeled_share(self) -> Array:
        """Share of labeled positives among labeled positives and unlabeled rows."""
        return divide_or_zero(self.n_labeled, self.n_labeled + self.n_unlabeled)

    @property
    def squared_weights(self) -> tuple[Array, ...]:
        """Sums of squared weights of each kind; sizes if rows have no weights."""
        kinds = zip(self.by_kind, self.effective_by_kind, strict=True)
        # n² may not fit in an integer.
        return tuple(n * divide_or_zero(n, effective) for n, effective in kinds)

    @property
    def effective_sizes(self) -> tuple[Array, Array]:
        """Effective sizes of the labeled positives and of the background."""
        _, unlabeled, negative = self.squared_weights
        n = self.n_background
        background = n * divide_or_zero(n, unlabeled + negative)
        return self.effective_by_kind[0], background

    def take(self, groups: Array) -> GroupSizes:
        """Return the sizes of some groups, in this order; groups may repeat."""
        labeled, unlabeled, negative = (n[groups] for n in self.by_kind)
        effective = tuple(n[groups] for n in self.effective_by_kind)
        return GroupSizes(labeled, unlabeled, negative, effective)

    def group(self, index: int) -> Sizes:
        """Return the sizes of one group."""
        single = self.take(np.array([index]))
        n_labeled, n_unlabeled, n_negative = (n.item() for n in single.by_kind)
        labeled, background = (size.item() for size in single.effective_sizes)
        squares = tuple(square.item() for square in single.squared_weights)
        return Sizes(n_labeled, n_unlabeled, n_negative, (labeled, background), squares)


def divide_or_zero(numerator: Array, denominator: Array | float) -> Array:
    """Divide; 0 where the denominator is 0."""
    result: Array = np.zeros(np.broadcast(numerator, denominator).shape)
    np.divide(numerator, denominator, out=result, where=denominator > 0)
    return result
