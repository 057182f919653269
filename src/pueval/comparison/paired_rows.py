"""The same rows scored by several models: read once, sorted once per model."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pueval._checks import check_same_length
from pueval._typing import Array
from pueval.counts.clusters import Clusters, used_rows
from pueval.counts.counts import Counts
from pueval.counts.score_warnings import warn_of_ties
from pueval.errors import InputError
from pueval.samples.sample import make_weighted_sample
from pueval.samples.threads import map_in_threads
from pueval.sources.arrays import (
    all_finite,
    as_scores,
    as_weights,
    bad_scores_error,
    check_same_order,
    is_half_precision,
    label_kinds,
    one_column,
    owned_column,
)
from pueval.sources.labels import LabelValues, missing_error

# Rows handled at a time, so that temporary arrays stay small.
CHUNK = 65_536
# Names of models in a message.
LISTED_NAMES = 20


@dataclass(frozen=True, eq=False)
class PairedRows:
    """Rows with a label, a weight and one score per model.

    Rows are numbered with the labeled rows first, then the unlabeled rows, then the known
    negatives. Rows of weight zero have no number.

    Attributes
    ----------
    names : tuple of str
        Names of the models.
    scores : tuple of ndarray
        Scores of each model, in the order in which the rows were given.
    counts : tuple of Counts
        Counts of each model.
    positions : tuple of three ndarray
        Positions of the labeled, unlabeled and negative rows in ``scores``.
    sample_weight : ndarray or None
        Weights in the order of row numbers; integers are frequency weights.
    clusters : Clusters or None
        Which rows belong together, if they are not independent.
    """

    names: tuple[str, ...]
    scores: tuple[Array, ...]
    counts: tuple[Counts, ...]
    positions: tuple[Array, ...]
    sample_weight: Array | None
    clusters: Clusters | None = None

    @property
    def numbers(self) -> tuple[slice, slice, slice]:
        """Numbers of the labeled, unlabeled and negative rows."""
        first, second, third = np.cumsum([where.size for where in self.positions]).tolist()
        return slice(0, first), slice(first, second), slice(second, third)

    @property
    def weight_by_kind(self) -> tuple[float, ...]:
        """Total weight of the labeled, unlabeled and negative rows."""
        return tuple(kind.total for kind in self.counts[0]._samples)

    @property
    def effective_sizes(self) -> tuple[float, ...]:
        """Effective sizes of the labeled, unlabeled and negative rows."""
        return tuple(kind.effective_size for kind in self.counts[0]._samples)

    @property
    def variance_weight(self) -> Array | None:
        """Weight of each row in a variance: frequency weights, or squared importance weights."""
        if self.sample_weight is None or self.sample_weight.dtype.kind == "i":
            return self.sample_weight
        return np.square(self.sample_weight)

    def group_of(self, positions: Array) -> Array:
        """Return the group of clusters of rows, given by their positions in ``scores``."""
        assert self.clusters is not None  # noqa: S101 - only called with clusters
        group = self.clusters.partitions[0].group
        if group.size < self.scores[0].size:
            # Clusters leave out rows of weight zero, which have no number.
            used = np.sort(np.concatenate(self.positions))
            positions = np.searchsorted(used, positions)
        return group[positions]

    def subset(self, numbers: Sequence[int]) -> PairedRows:
        """Return the rows with some of the models, given by their numbers."""
        return replace(
            self,
            names=tuple(self.names[k] for k in numbers),
            scores=tuple(self.scores[k] for k in numbers),
            counts=tuple(self.counts[k] for k in numbers),
        )

    def chunks(self, kind: int) -> Iterator[slice]:
        """Yield parts of the rows of a kind that are small enough to handle at a time."""
        size = self.positions[kind].size
        for start in range(0, size, CHUNK):
            yield slice(start, min(start + CHUNK, size))


def read_paired_rows(
    y: Any, scores: Any, *, sample_weight: Any, labels: LabelValues, cluster: Any = None
) -> PairedRows:
    """Read labels once and sort the scores of every model."""
    columns = _score_columns(scores)
    if isinstance(y, Counts) or any(isinstance(score, Counts) for _, score in columns):
        raise InputError(
            "compare pairs the models row by row, and Counts do not keep the rows. Pass labels and "
            "scores as arrays."
        )
    check_same_order(
        {"y": y, "sample_weight": sample_weight, "cluster": cluster}
        | {f"scores[{name!r}]": score for name, score in columns}
    )
    check_same_order({"y": y, "scores": scores})
    y = one_column(y, "y")
    model_scores = {name: _read_score(name, score) for name, score in columns}
    _check_lengths(y, model_scores)
    if sample_weight is not None:
        sample_weight = owned_column(sample_weight, "sample_weight", as_weights)
        check_same_length("y", len(y), "sample_weight", len(sample_weight))
    kinds = label_kinds(y, labels)
    clusters = None if cluster is None else _read_clusters(cluster, kinds, sample_weight)
    if sample_weight is not None:
        kinds[sample_weight == 0] = -1
    positions = tuple(np.flatnonzero(kinds == kind) for kind in range(3))
    weights = None if sample_weight is None else [sample_weight[where] for where in positions]

    def count(name: str) -> Counts:
        try:
            counts = _count_model(model_scores[name], positions, weights)
        except InputError as error:
            raise InputError(f"model {name!r}: {error}") from None
        if clusters is None:
            return counts
        score = used_rows(model_scores[name], sample_weight)
        return replace(counts, _clusters=clusters.with_score(score))

    counts = map_in_threads(count, model_scores)
    counts[0]._check_nonempty()
    for (name, score), of_model in zip(columns, counts, strict=True):
        if is_half_precision(dtype := getattr(score, "dtype", None)):
            warn_of_ties(of_model, dtype, name)
    weight = None if weights is None else np.concatenate(weights)
    names, model_columns = tuple(model_scores), tuple(model_scores.values())
    return PairedRows(names, model_columns, tuple(counts), positions, weight, clusters)


def _read_clusters(cluster: Any, kinds: Array, weight: Array | None) -> Clusters | None:
    """Read which rows belong together; None if every row is a cluster of its own."""
    clusters = Clusters.read(cluster, kinds, weight)
    if clusters.ways > 1:
        raise InputError(
            "compare has no two-way clusters: differences of average precisions and best values "
            "come from exchanges of models in whole clusters. Pass one column as cluster."
        )
    return None if clusters.are_single_rows else clusters


def _score_columns(scores: Any) -> list[tuple[str, Any]]:
    """Return the names and scores of a mapping, a data frame, or pairs of both."""
    pairs: list[Any]
    if isinstance(scores, Mapping):
        pairs = list(scores.items())
    elif hasattr(scores, "columns") or hasattr(scores, "column_names"):
        import narwhals.stable.v2 as nw

        try:
            frame = nw.from_native(scores, eager_only=True)
        except TypeError:
            raise _scores_error(scores) from None
        except ValueError as error:  # pandas allows duplicate names
            raise InputError(f"the columns of scores need different names: {error}.") from None
        pairs = []
        for name in frame.columns:
            if n_missing := frame[name].null_count():
                raise missing_error(f"score of model {name!r}", int(n_missing))
            pairs.append((name, frame[name].to_numpy()))
    elif isinstance(scores, Iterable) and not isinstance(scores, str | np.ndarray | Counts):
        pairs = list(scores)
        if not all(isinstance(pair, tuple) and len(pair) == 2 for pair in pairs):
            raise _scores_error(scores)
    else:
        raise _scores_error(scores)
    check_model_names([name for name, _ in pairs])
    return pairs


def _scores_error(scores: Any) -> InputError:
    return InputError(
        'scores must name the models: a dict such as {"a": score_a, "b": score_b}, a data frame '
        f"with a column per model, or pairs of name and score; got {type(scores).__name__}."
    )


def check_model_names(names: list[Any]) -> None:
    """Refuse names of models that are not distinct, non-empty strings; and fewer than two."""
    invalid = [name for name in names if not (isinstance(name, str) and name)]
    if invalid:
        raise InputError(
            f"names of models must be non-empty strings; got {invalid[0]!r}"
            f" ({type(invalid[0]).__name__})."
        )
    duplicates = sorted(name for name, number in Counter(names).items() if number > 1)
    if duplicates:
        raise InputError(
            f"names of models must be unique; got {', '.join(map(repr, duplicates))} more than "
            "once."
        )
    if len(names) < 2:
        got = f"one: {names[0]!r}. For one model use evaluate()" if names else "none"
        if names and "," in names[0]:
            got = f"one: {names[0]!r}. Name each column separately: {names[0].split(',')}"
        raise InputError(f"compare needs at least two models; got {got}.")


def unknown_model_error(name: object, names: Iterable[str]) -> InputError:
    """Return the error for a name that is not a model's."""
    model_names = [*names]
    near = difflib.get_close_matches(str(name), model_names, n=1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    listed = ", ".join(map(repr, model_names[:LISTED_NAMES]))
    more = len(model_names) - LISTED_NAMES
    listed += f" and {more:,} more" if more > 0 else ""
    return InputError(f"there is no model {name!r}.{hint} The models are {listed}.")


def _read_score(name: str, score: Any) -> Array:
    """Return the scores of a model; errors name it."""
    try:
        return owned_column(score, "score", as_scores)
    except InputError as error:
        raise InputError(f"model {name!r}: {error}") from None


def _check_lengths(y: Array, model_scores: dict[str, Array]) -> None:
    if not len(y):
        raise InputError(
            "y is empty. Pass at least one labeled row and one unlabeled or known negative row."
        )
    different = {name: len(score) for name, score in model_scores.items() if len(score) != len(y)}
    if different:
        lengths = ", ".join(f"{name!r} {length:,}" for name, length in different.items())
        raise InputError(
            f"every model must score the same rows; got {len(y):,} rows in y, but scores for "
            f"{lengths}. Score all rows with every model, or drop rows that a model lacks."
        )


def _count_model(score: Array, positions: tuple[Array, ...], weights: list[Array] | None) -> Counts:
    """Sort the scores of one model, each kind separately."""
    samples = []
    for kind, where in enumerate(positions):
        weight = None if weights is None else weights[kind]
        samples.append(make_weighted_sample(score[where], weight))
    if not all(map(all_finite, samples)):
        raise bad_scores_error(score)
    return Counts(*samples)
