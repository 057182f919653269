"""Counts: for each distinct score, how many labeled, unlabeled and known negative rows have it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from pueval.errors import InputError
from pueval.samples import EMPTY, Array, Sample, sample
from pueval.sources.arrays import one_column, read_arrays
from pueval.sources.labels import LabelValues
from pueval.sources.propensities import represented

if TYPE_CHECKING:
    import os


@dataclass(frozen=True, eq=False)
class Steps:
    """How many rows of each kind score at or above some thresholds.

    Attributes
    ----------
    threshold : ndarray
        Descending.
    labeled, unlabeled, negative : ndarray
        Cumulative counts.
    joint : ndarray of bool
        Whether a labeled row shares its score with one of another kind.
    represented : ndarray or None
        Cumulative sums of 1/propensity over the labeled rows, where propensities are known.
    """

    threshold: Array
    labeled: Array
    unlabeled: Array
    negative: Array
    joint: Array
    represented: Array | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Counts:
    """The reduced data: distinct scores and how many rows of each kind have them.

    Everything pueval computes is a function of this table. Counts can be added, so batches,
    files and partitions merge exactly: ``a + b`` is the Counts of the concatenated rows.

    Make one with `from_arrays`, `from_frame`, `from_file` or `from_table`.

    Attributes
    ----------
    score : ndarray
        Distinct scores, descending.
    labeled, unlabeled, negative : ndarray
        Rows of each kind at each score: integers, or floats where rows have float weights.
    n_labeled, n_unlabeled, n_negative : int or float
        Their sums.

    Examples
    --------
    >>> from pueval import Counts
    >>> counts = Counts.from_arrays([1, 0, 1, 0, 0], [0.9, 0.9, 0.7, 0.2, 0.1])
    >>> counts
    Counts(2 labeled, 3 unlabeled, 0 known negative rows; 4 distinct scores from 0.1 to 0.9)
    >>> counts.score
    array([0.9, 0.7, 0.2, 0.1])
    >>> counts.labeled, counts.unlabeled
    (array([1, 1, 0, 0]), array([1, 0, 1, 1]))
    """

    _labeled: Sample
    _unlabeled: Sample
    _negative: Sample
    _represented: Sample | None = None

    # ------------------------------------------------------------------ where rows come from

    @classmethod
    def from_arrays(
        cls,
        y: Any,
        score: Any,
        *,
        weight: Any = None,
        propensity: Any = None,
        pos_label: Any = 1,
        unlabeled_label: Any = 0,
        negative_label: Any = None,
    ) -> Counts:
        """Count rows given as arrays.

        Parameters
        ----------
        y : array-like of shape (n,)
            1 or True for labeled positives, 0 or False for unlabeled rows.
        score : array-like of shape (n,)
            The classifier's score; higher means more likely positive. float32 stays float32.
        weight : array-like of shape (n,), optional
            Integers say how often a row counts; floats are importance weights.
        propensity : array-like of shape (n,), optional
            For labeled rows, the chance that a positive like this one gets labeled, in (0, 1];
            what stands there for other rows is not looked at. A labeled row then stands for
            1/propensity positives.
        pos_label, unlabeled_label, negative_label : optional
            The values of ``y`` for labeled, unlabeled and known negative rows. −1 has no meaning
            until one of them says so, since it stands for both in common use.

        Returns
        -------
        Counts

        Examples
        --------
        >>> Counts.from_arrays(["bad", "?", "good"], [3, 2, 1], pos_label="bad",
        ...                    unlabeled_label="?", negative_label="good")
        Counts(1 labeled, 1 unlabeled, 1 known negative row; 3 distinct scores from 1 to 3)
        """
        labels = LabelValues(pos_label, unlabeled_label, negative_label)
        samples = read_arrays(y, score, labels=labels, weight=weight)
        if propensity is None:
            return cls(*samples)
        return cls(*samples, represented(y, score, propensity, labels=labels, weight=weight))

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        label: str,
        score: str,
        weight: str | None = None,
        pos_label: Any = 1,
        unlabeled_label: Any = 0,
        negative_label: Any = None,
    ) -> Counts:
        """Count rows of a data frame: pandas, Polars or PyArrow.

        Parameters
        ----------
        frame : DataFrame or Table
            An in-memory data frame.
        label, score, weight : str
            Names of the columns.
        pos_label, unlabeled_label, negative_label : optional
            As for `from_arrays`.

        Returns
        -------
        Counts

        Examples
        --------
        >>> import pyarrow as pa
        >>> table = pa.table({"known": [True, False, False], "model": [0.8, 0.4, 0.1]})
        >>> Counts.from_frame(table, label="known", score="model").n_unlabeled
        2
        """
        from pueval.sources.frames import read_frame

        labels = LabelValues(pos_label, unlabeled_label, negative_label)
        return cls(*read_frame(frame, label=label, score=score, weight=weight, labels=labels))

    @classmethod
    def from_file(
        cls,
        path: str | os.PathLike[str],
        *,
        label: str,
        score: str,
        weight: str | None = None,
        pos_label: Any = 1,
        unlabeled_label: Any = 0,
        negative_label: Any = None,
    ) -> Counts:
        r"""Count rows of a CSV or Parquet file, or of all files that a pattern matches.

        Parameters
        ----------
        path : str or path
            A file, or a pattern such as ``"scores/*.parquet"``. Files ending in ``.parquet`` or
            ``.pq`` are Parquet; all others are read as CSV with a header line.
        label, score, weight : str
            Names of the columns.
        pos_label, unlabeled_label, negative_label : optional
            As for `from_arrays`. In text columns ``1`` also means ``1.0`` and ``true``, and
            ``0`` also means ``0.0`` and ``false``.

        Returns
        -------
        Counts

        Examples
        --------
        >>> import pathlib, tempfile
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "scores.csv"
        >>> _ = path.write_text("label,model_a\n1,0.9\n0,0.4\n0,0.4\n")
        >>> Counts.from_file(path, label="label", score="model_a").unlabeled
        array([0, 2])
        """
        from pueval.sources.files import read_files

        labels = LabelValues(pos_label, unlabeled_label, negative_label)
        (samples,) = read_files(path, label=label, scores=[score], weight=weight, labels=labels)
        return cls(*samples)

    @classmethod
    def from_table(cls, score: Any, labeled: Any, unlabeled: Any, negative: Any = None) -> Counts:
        """Take counts that were made elsewhere, for example by a query.

        Parameters
        ----------
        score : array-like of shape (n,)
            Scores, in any order; repeated ones are added up.
        labeled, unlabeled, negative : array-like of shape (n,)
            How many rows of each kind have that score. Whole numbers count rows; other numbers
            are sums of weights, for which the number of rows is not known any more: such a
            table is treated as if each unit of weight were one row.

        Returns
        -------
        Counts

        Examples
        --------
        >>> Counts.from_table([3, 2, 1], labeled=[5, 1, 0], unlabeled=[2, 10, 40])
        Counts(6 labeled, 52 unlabeled, 0 known negative rows; 3 distinct scores from 1 to 3)
        """
        scores = one_column(score, "score")
        labels = LabelValues(1, 0, None)
        kinds = []
        for name, given in (("labeled", labeled), ("unlabeled", unlabeled), ("negative", negative)):
            if given is None:
                kinds.append(EMPTY)
                continue
            count = one_column(given, name)
            if len(count) != len(scores):
                raise InputError(
                    f"score and {name} must have the same length; "
                    f"got {len(scores):,} and {len(count):,}."
                )
            as_rows = read_arrays(np.ones(len(scores)), scores, labels=labels, weight=count)[0]
            kinds.append(Sample(as_rows.chunks, as_rows.total))
        return cls(*kinds)

    # ------------------------------------------------------------------ the table

    @property
    def _kinds(self) -> tuple[Sample, Sample, Sample]:
        return self._labeled, self._unlabeled, self._negative

    @cached_property
    def _table(self) -> tuple[Array, Array, Array, Array]:
        kinds = [kind.distinct() for kind in self._kinds]
        scores = np.unique(np.concatenate([values for values, _ in kinds if values.size]))[::-1]
        columns = []
        for values, count in kinds:
            column = np.zeros(scores.size, dtype=count.dtype)
            column[scores.size - 1 - np.searchsorted(scores[::-1], values)] = count
            columns.append(column)
        for array in (scores, *columns):
            array.flags.writeable = False
        return scores, columns[0], columns[1], columns[2]

    @property
    def score(self) -> Array:
        """Distinct scores, descending."""
        return self._table[0]

    @property
    def labeled(self) -> Array:
        """Labeled rows at each score."""
        return self._table[1]

    @property
    def unlabeled(self) -> Array:
        """Unlabeled rows at each score."""
        return self._table[2]

    @property
    def negative(self) -> Array:
        """Known negative rows at each score."""
        return self._table[3]

    @property
    def n_labeled(self) -> int | float:
        """Number (or weight) of labeled rows."""
        return self._labeled.total

    @property
    def n_unlabeled(self) -> int | float:
        """Number (or weight) of unlabeled rows."""
        return self._unlabeled.total

    @property
    def n_negative(self) -> int | float:
        """Number (or weight) of known negative rows."""
        return self._negative.total

    @property
    def n(self) -> int | float:
        """Number (or weight) of all rows."""
        return self.n_labeled + self.n_unlabeled + self.n_negative

    @property
    def n_represented(self) -> int | float:
        """Sum of 1/propensity over labeled rows: the expected number of all positives.

        Without propensities a labeled row stands for itself.
        """
        return self.n_labeled if self._represented is None else self._represented.total

    @property
    def has_propensity(self) -> bool:
        """Whether propensities of the labeled rows are known."""
        return self._represented is not None

    @property
    def labeled_share(self) -> float:
        """Share of labeled rows among the labeled and unlabeled ones."""
        return self.n_labeled / (self.n_labeled + self.n_unlabeled)

    @property
    def effective(self) -> tuple[float, float]:
        """Effective numbers of labeled rows and of all others, for rows with weights."""
        background = self._unlabeled + self._negative
        return self._labeled.effective, background.effective

    @property
    def countable(self) -> bool:
        """Whether every row counts a whole number of times (no float weights)."""
        return all(kind.countable for kind in self._kinds)

    def check(self) -> None:
        """Refuse counts that no measure can be computed from."""
        if not self.n_labeled:
            raise InputError(
                "there are no labeled rows, so nothing is known about the positives. "
                "Check pos_label and the label column."
            )
        if not self.n_unlabeled + self.n_negative:
            raise InputError(
                "there are neither unlabeled nor known negative rows, only labeled positives. "
                "Add the unlabeled rows; check unlabeled_label and the label column."
            )

    def check_random(self, purpose: str) -> None:
        """Refuse labels with propensities where they are taken as a random draw."""
        if self.has_propensity:
            raise InputError(
                f"{purpose} takes the labeled rows as a random draw of the positives; these have "
                "propensities. Leave them out for this."
            )

    # ------------------------------------------------------------------ cumulative views

    def steps(self) -> Steps:
        """Cumulative counts at +inf and at every distinct score."""

        def cumulative(column: Array) -> Array:
            return np.concatenate([[0], np.cumsum(column)])

        score, labeled, unlabeled, negative = self._table
        return Steps(
            np.concatenate([[np.inf], score]),
            cumulative(labeled),
            cumulative(unlabeled),
            cumulative(negative),
            np.concatenate([[False], (labeled > 0) & (unlabeled + negative > 0)]),
            self._stand_for(np.concatenate([[np.inf], score])),
        )

    def corners(self) -> Steps:
        """Cumulative counts at +inf, at every labeled score, and at the lowest score.

        A measure that rises with the true positive rate and falls with the false positive rate
        is best at one of these: between them only unlabeled and negative rows are added.
        """
        score, reached = self._labeled.descending()
        (u_above, u_at), (n_above, n_at) = (
            kind.around(score) for kind in (self._unlabeled, self._negative)
        )
        rest = u_at[-1] < self.n_unlabeled or n_at[-1] < self.n_negative
        lowest = min(c.values[0] for kind in self._kinds for c in kind.chunks)

        def framed(column: Array, first: float, last: float) -> Array:
            return np.concatenate([[first], column, [last] if rest else []]).astype(
                column.dtype, copy=False
            )

        return Steps(
            framed(score, np.inf, lowest),
            framed(reached, 0, self.n_labeled),
            framed(u_at, 0, self.n_unlabeled),
            framed(n_at, 0, self.n_negative),
            framed((u_at > u_above) | (n_at > n_above), False, False),  # noqa: FBT003
            self._stand_for(framed(score, np.inf, lowest)),
        )

    def unfold(self, corners: Steps, where: Array) -> Steps:
        """Insert, before some labeled scores, the counts just above them.

        ``where`` indexes rows of ``corners``. After it, the way to each of these scores is in
        two parts: first the other rows above it, then the rows that have it.
        """
        score = corners.threshold[where]
        others = (self._unlabeled, self._negative)
        (unlabeled, _), (negative, _) = (kind.around(score) for kind in others)
        lowest = np.minimum(*(kind.next_above(score) for kind in others))
        # Between this labeled score and the one before, nothing else is added to these.
        stand_for = corners.represented
        if stand_for is not None:
            stand_for = np.insert(stand_for, where, stand_for[where - 1])
        return Steps(
            np.insert(corners.threshold, where, lowest),
            np.insert(corners.labeled, where, corners.labeled[where - 1]),
            np.insert(corners.unlabeled, where, unlabeled),
            np.insert(corners.negative, where, negative),
            np.insert(corners.joint, where, values=False),
            stand_for,
        )

    def at(self, thresholds: Any) -> Steps:
        """Cumulative counts at or above given thresholds."""
        wanted = np.atleast_1d(np.asarray(thresholds, dtype=np.float64))
        labeled, unlabeled, negative = (kind.around(wanted)[1] for kind in self._kinds)
        joint = np.zeros(wanted.shape, dtype=bool)
        return Steps(wanted, labeled, unlabeled, negative, joint, self._stand_for(wanted))

    def _stand_for(self, thresholds: Array) -> Array | None:
        """Positives that the labeled rows at or above thresholds stand for, if that is known."""
        return None if self._represented is None else self._represented.around(thresholds)[1]

    def thinned(self, bins: int, *, keep: Any = ()) -> Counts:
        """Put neighboring scores together, so that at most about ``bins`` are left.

        The scores that remain are quantiles of the labeled and of the other rows, in equal
        numbers; each stands for itself and the scores between it and the next one above.

        Parameters
        ----------
        bins : int
            How many scores to keep, at least 2. Counts with fewer scores are returned as they are.
        keep : array-like, optional
            Thresholds between the lowest and the highest score that are to be among them.

        Returns
        -------
        Counts

        Examples
        --------
        >>> counts = Counts.from_arrays([0, 1] * 500, range(1000)).thinned(10)
        >>> counts.score.size <= 10, counts.n_labeled, counts.n_unlabeled
        (True, 500, 500)
        """
        if bins < 2:
            raise InputError(f"bins must be at least 2; got {bins!r}.")
        filled = [kind for kind in self._kinds if kind.chunks]
        few = [kind.few(bins) for kind in filled]
        scores = [values for values in few if values is not None]
        if len(scores) == len(few) and np.unique(np.concatenate(scores)).size <= bins:
            return self
        each = max(bins // len(filled), 1)
        lowest = min(c.values[0] for kind in filled for c in kind.chunks)
        highest = max(c.values[-1] for kind in filled for c in kind.chunks)
        kept = [kind.ranked(np.linspace(0, kind.total, each, endpoint=False)) for kind in filled]
        wanted = np.asarray(keep, dtype=np.float64)
        kept.append(wanted[(wanted > lowest) & (wanted < highest)])
        cuts = np.unique(np.concatenate([*kept, [lowest]]))[::-1]
        every = self._kinds if self._represented is None else (*self._kinds, self._represented)
        samples = []
        for kind in every:
            inside = np.diff(kind.around(cuts)[1], prepend=0)
            samples.append(Sample(sample(cuts.copy(), inside).chunks, kind.squares))
        return Counts(*samples)

    def samples(self) -> tuple[Sample, Sample, Sample]:
        """Sorted scores of labeled, unlabeled and known negative rows, without making the table."""
        return self._kinds

    def represented(self) -> Sample:
        """Sorted scores of labeled rows, each weighing 1/propensity; or 1, if none are known."""
        return self._labeled if self._represented is None else self._represented

    def labeled_scores(self) -> tuple[Array, Array]:
        """Distinct scores of labeled rows, descending, and how many rows have them."""
        return self._labeled.distinct()

    def other_beyond(self, thresholds: Array) -> tuple[Array, Array]:
        """Unlabeled and negative rows above, and at or above, given thresholds."""
        u_above, u_at = self._unlabeled.around(thresholds)
        n_above, n_at = self._negative.around(thresholds)
        return u_above + n_above, u_at + n_at

    # ------------------------------------------------------------------ as a value

    def __add__(self, other: Counts) -> Counts:
        if not isinstance(other, Counts):
            return NotImplemented
        for one, with_propensity in ((self, other), (other, self)):
            if with_propensity.has_propensity and not one.has_propensity and one.n_labeled:
                raise InputError(
                    "labeled rows with propensities and without cannot be put together. Give "
                    "propensities for all batches; 1 for rows that are labeled for sure."
                )
        return Counts(
            self._labeled + other._labeled,
            self._unlabeled + other._unlabeled,
            self._negative + other._negative,
            self.represented() + other.represented()
            if self.has_propensity or other.has_propensity
            else None,
        )

    def __radd__(self, other: object) -> Counts:
        # For sum(), which starts from 0.
        return self if other == 0 else NotImplemented

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Counts):
            return NotImplemented
        if self.has_propensity != other.has_propensity:
            return False
        pairs = [*zip(self._table, other._table, strict=True)]
        pairs += zip(self.represented().distinct(), other.represented().distinct(), strict=True)
        return all(np.array_equal(mine, theirs) for mine, theirs in pairs)

    __hash__ = None  # type: ignore[assignment]  # equal by content, and the content is arrays

    def __repr__(self) -> str:
        if not self.n:
            return "Counts(no rows)"
        score = self.score
        rows = "row" if self.n_negative == 1 else "rows"
        return (
            f"Counts({_number(self.n_labeled)} labeled, {_number(self.n_unlabeled)} unlabeled, "
            f"{_number(self.n_negative)} known negative {rows}; "
            f"{score.size:,} distinct scores from {score[-1]:g} to {score[0]:g})"
        )


def _number(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:,.6g}"
