"""The same rows scored by several models: read once, sorted once per model."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from pueval._typing import Array
from pueval.counts.counts import Counts
from pueval.errors import InputError
from pueval.samples.sample import make_sample, make_weighted_sample
from pueval.samples.threads import map_in_threads
from pueval.sources.arrays import (
    all_finite,
    as_scores,
    as_weights,
    bad_scores_error,
    check_same_order,
    label_kinds,
    one_column,
)
from pueval.sources.labels import LabelValues, missing_error


@dataclass(frozen=True, eq=False)
class PairedRows:
    """Rows with a label, a weight and one score per model.

    Rows are numbered with the labeled ones first, then the unlabeled, then the known negative:
    their kind follows from their number. Rows of weight zero have none.

    Attributes
    ----------
    names : tuple of str
        The models.
    scores : tuple of ndarray
        Their scores, in the order in which the rows were given.
    counts : tuple of Counts
        Their Counts.
    places : tuple of ndarray
        Where the labeled, unlabeled and negative rows stand in the order of ``scores``.
    sample_weight : ndarray or None
        Of the rows, in the order of their numbers; integers repeat a row.
    """

    names: tuple[str, ...]
    scores: tuple[Array, ...]
    counts: tuple[Counts, ...]
    places: tuple[Array, Array, Array]
    sample_weight: Array | None

    @property
    def sizes(self) -> tuple[int, int, int]:
        """Number of labeled, unlabeled and negative rows."""
        return self.places[0].size, self.places[1].size, self.places[2].size

    @property
    def n(self) -> int:
        """Number of rows."""
        return sum(self.sizes)

    @property
    def kinds(self) -> tuple[slice, slice, slice]:
        """Numbers of the labeled, unlabeled and negative rows."""
        first, second, third = np.cumsum(self.sizes).tolist()
        return slice(0, first), slice(first, second), slice(second, third)

    @property
    def total(self) -> tuple[float, float, float]:
        """Weight of the rows of each kind."""
        counts = self.counts[0]
        return counts.n_labeled, counts.n_unlabeled, counts.n_negative

    @property
    def effective(self) -> tuple[float, float, float]:
        """Effective number of rows of each kind."""
        labeled, unlabeled, negative = (kind.effective_size for kind in self.counts[0]._samples)
        return labeled, unlabeled, negative

    @property
    def leverage(self) -> Array | None:
        """How much each row adds to a variance: integers repeat a row, float weights scale it."""
        if self.sample_weight is None or self.sample_weight.dtype.kind == "i":
            return self.sample_weight
        return np.square(self.sample_weight)

    def order(self, model: int) -> Array:
        """Return the numbers of the rows by descending score of a model."""
        return np.argsort(self.scores[model][self._numbered])[::-1]

    @cached_property
    def _numbered(self) -> Array:
        """Where the rows stand in the order of ``scores``, by number."""
        return np.concatenate(self.places)


def read_paired(y: Any, scores: Any, *, sample_weight: Any, labels: LabelValues) -> PairedRows:
    """Read labels once and sort every model's scores."""
    columns = _columns(scores)
    if isinstance(y, Counts) or any(isinstance(score, Counts) for _, score in columns):
        raise InputError(
            "compare pairs the models row by row, and Counts have forgotten the rows. Give the "
            "labels and scores as arrays."
        )
    check_same_order(
        {"y": y, "sample_weight": sample_weight, **{f"scores[{k!r}]": one for k, one in columns}}
    )
    check_same_order({"y": y, "scores": scores})
    y = one_column(y, "y")
    given = {name: _score(name, score) for name, score in columns}
    _check_lengths(y, given)
    sample_weight = (
        None if sample_weight is None else as_weights(one_column(sample_weight, "sample_weight"))
    )
    if sample_weight is not None and len(sample_weight) != len(y):
        raise InputError(
            f"y and sample_weight must have the same length; got {len(y):,} and "
            f"{len(sample_weight):,}."
        )
    places = _places(y, labels, sample_weight)
    weights = None if sample_weight is None else [sample_weight[where] for where in places]

    def count(name: str) -> Counts | InputError:
        try:
            return _counts(given[name], places, weights)
        except InputError as error:
            return InputError(f"model {name!r}: {error}")

    counts = []
    for found in map_in_threads(count, given):
        if isinstance(found, InputError):
            raise found
        counts.append(found)
    counts[0]._check_nonempty()
    together = None if weights is None else np.concatenate(weights)
    return PairedRows(tuple(given), tuple(given.values()), tuple(counts), places, together)


def _columns(scores: Any) -> list[tuple[str, Any]]:
    """Return the names and scores of a mapping, a data frame, or pairs of both."""
    pairs: list[Any]
    if isinstance(scores, Mapping):
        pairs = list(scores.items())
    elif hasattr(scores, "columns") or hasattr(scores, "column_names"):
        import narwhals.stable.v2 as nw

        try:
            frame = nw.from_native(scores, eager_only=True)
        except TypeError:
            raise _no_scores(scores) from None
        except ValueError as error:  # pandas allows names that are not unique
            raise InputError(f"the columns of scores need different names: {error}.") from None
        pairs = []
        for name in frame.columns:
            if lost := frame[name].null_count():
                raise missing_error(f"score of model {name!r}", int(lost))
            pairs.append((name, frame[name].to_numpy()))
    elif isinstance(scores, Iterable) and not isinstance(scores, str | np.ndarray | Counts):
        pairs = list(scores)
        if not all(isinstance(pair, tuple) and len(pair) == 2 for pair in pairs):
            raise _no_scores(scores)
    else:
        raise _no_scores(scores)
    check_names([name for name, _ in pairs])
    return pairs


def _no_scores(scores: Any) -> InputError:
    return InputError(
        'scores must name the models: a dict such as {"a": score_a, "b": score_b}, a data frame '
        f"with a column per model, or pairs of name and score; got {type(scores).__name__}."
    )


def check_names(names: list[Any]) -> None:
    """Refuse names of models that are not different, non-empty texts; and fewer than two."""
    strange = [name for name in names if not (isinstance(name, str) and name)]
    if strange:
        raise InputError(
            f"names of models must be texts that are not empty; got {strange[0]!r}"
            f" ({type(strange[0]).__name__})."
        )
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise InputError(
            f"every model needs a name of its own; {', '.join(map(repr, twice))} stands for more "
            "than one."
        )
    if len(names) < 2:
        got = f"one: {names[0]!r}. For one model use evaluate()" if names else "none"
        raise InputError(f"compare needs at least two models; got {got}.")


def known_model(name: object, names: Iterable[str]) -> InputError:
    """Return the error for a name that is not a model's."""
    there = [*names]
    near = difflib.get_close_matches(str(name), there, n=1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    return InputError(
        f"there is no model {name!r}.{hint} The models are {', '.join(map(repr, there))}."
    )


def _score(name: str, score: Any) -> Array:
    try:
        return as_scores(one_column(score, "score"))
    except InputError as error:
        raise InputError(f"model {name!r}: {error}") from None


def _check_lengths(y: Array, given: dict[str, Array]) -> None:
    if not len(y):
        raise InputError("y is empty. Give at least one labeled and one other row.")
    other = {name: len(score) for name, score in given.items() if len(score) != len(y)}
    if other:
        found = ", ".join(f"{name!r} {length:,}" for name, length in other.items())
        raise InputError(
            f"every model must score the same rows: y has {len(y):,} rows, but there are scores "
            f"for {found}. Score all rows with every model, or drop those that one of them lacks."
        )


def _places(
    y: Array, labels: LabelValues, sample_weight: Array | None
) -> tuple[Array, Array, Array]:
    """Return where labeled, unlabeled and negative rows are; those of weight zero are nowhere."""
    kinds = label_kinds(y, labels)
    if sample_weight is not None:
        kinds[sample_weight == 0] = -1
    labeled, unlabeled, negative = (np.flatnonzero(kinds == kind) for kind in range(3))
    return labeled, unlabeled, negative


def _counts(score: Array, places: tuple[Array, ...], weights: list[Array] | None) -> Counts:
    """Sort one model's scores, each kind apart."""
    samples = []
    for kind, where in enumerate(places):
        if weights is None:
            samples.append(make_sample(score[where]))
        else:
            samples.append(make_weighted_sample(score[where], weights[kind]))
    if not all(map(all_finite, samples)):
        raise bad_scores_error(score)
    return Counts(*samples)
