"""How the tree of Tice splits a node."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from pueval._typing import Array

PIECES = 4
# Added to the rows of a node when its labeled share is compared, against tiny nodes.
CAUTION = 5
# Nodes at this depth are not split at medians any more.
DEEPEST = 30


@dataclass(frozen=True, eq=False)
class Node:
    """The rows of a node that grow the tree and that give bounds, and the features left."""

    growing: Array
    bounding: Array
    features: tuple[int, ...]
    depth: int = 0


def _promise(rows: Array, labels: Array) -> Array:
    """Return, for each feature (a row of counts), the largest cautious labeled share of a part."""
    best: Array = np.max(labels / (rows + CAUTION), axis=1)
    return best


@dataclass(frozen=True, eq=False)
class RangeSplits:
    """Splits of the range of a feature into parts of equal width."""

    piece: Array

    @classmethod
    def of(cls, rows: Array) -> RangeSplits:
        """Say for each value in which part of the range of its column it lies."""
        low, high = rows.min(axis=0), rows.max(axis=0)
        share = (rows - low) / np.where(high > low, high - low, 1.0)
        return cls(np.minimum((PIECES * share).astype(np.int64), PIECES - 1))

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return int(self.piece.shape[1])

    def children(self, node: Node, known: Array) -> Iterator[Node]:
        """Split a node by its most promising feature; none if no part would have labels."""
        features = np.array(node.features, dtype=np.int64)
        if not features.size:
            return
        place = self.piece[np.ix_(node.growing, features)] + PIECES * np.arange(features.size)
        size = PIECES * features.size
        rows = np.bincount(place.ravel(), minlength=size).reshape(-1, PIECES)
        labels = np.bincount(place[known[node.growing]].ravel(), minlength=size)
        promise = _promise(rows, labels.reshape(-1, PIECES))
        best = int(np.argmax(promise))
        if promise[best] <= 0:
            return
        piece = self.piece[:, features[best]]
        left = tuple(f for f in node.features if f != features[best])
        for part in range(PIECES):
            yield Node(
                node.growing[piece[node.growing] == part],
                node.bounding[piece[node.bounding] == part],
                left,
                node.depth + 1,
            )


@dataclass(frozen=True, eq=False)
class MedianSplits:
    """Splits at the median of the growing rows of a node; features stay available."""

    rows: Array

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return int(self.rows.shape[1])

    def children(self, node: Node, known: Array) -> Iterator[Node]:
        """Split a node by its most promising feature; none if no part would have labels."""
        if node.depth >= DEEPEST:
            return
        values = self.rows[node.growing]
        cut = np.median(values, axis=0)
        # Ties with the median stay together; where they are the lowest values, they go below.
        cut = np.where(cut > values.min(axis=0), cut, np.nextafter(cut, np.inf))
        above = values >= cut
        labels = known[node.growing]
        rows = np.stack([(~above).sum(axis=0), above.sum(axis=0)], axis=1)
        hits = np.stack([(~above[labels]).sum(axis=0), above[labels].sum(axis=0)], axis=1)
        promise = np.where((rows > 0).all(axis=1), _promise(rows, hits), 0)
        best = int(np.argmax(promise))
        if promise[best] <= 0:
            return
        for side in (False, True):
            yield Node(
                node.growing[above[:, best] == side],
                node.bounding[(self.rows[node.bounding, best] >= cut[best]) == side],
                node.features,
                node.depth + 1,
            )
