"""Counts: for each distinct score, how many labeled, unlabeled and known negative rows have it."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from pueval._typing import Array
from pueval.errors import BinnedScoresWarning, InputError
from pueval.samples import steps as views
from pueval.samples.bins import (
    BinnedSamples,
    Binning,
    Bins,
    add_binned,
    bin_samples,
    check_bins,
    check_bins_choice,
)
from pueval.samples.sample import EMPTY, Sample, SortedChunk
from pueval.samples.steps import Steps
from pueval.sources.arrays import one_column, read_arrays
from pueval.sources.columns import Columns, Engine
from pueval.sources.labels import LabelValues
from pueval.sources.propensities import represented

if TYPE_CHECKING:
    import os

__all__ = ["Counts", "Steps"]


@dataclass(frozen=True, eq=False, repr=False)
class Counts:
    """The reduced data: distinct scores and how many rows of each kind have them.

    Everything pueval computes is a function of this table. Counts can be added, so batches,
    files and partitions merge exactly: ``a + b`` is the Counts of the concatenated rows.

    Make one with `from_arrays`, `from_frame`, `from_file` or `from_table`; keep it between runs
    with `to_parquet` and `from_parquet`.

    Attributes
    ----------
    score : ndarray
        Distinct scores, descending.
    labeled, unlabeled, negative : ndarray
        Rows of each kind at each score: integers, or floats where rows have float weights.
    n_labeled, n_unlabeled, n_negative : int or float
        Their sums.
    bins : int or None
        Bins between a score and twice it, if scores were put into bins.

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
    _binning: Binning | None = field(default=None, kw_only=True)

    # ------------------------------------------------------------------ where rows come from

    @classmethod
    def from_arrays(
        cls,
        y: Any,
        score: Any,
        *,
        sample_weight: Any = None,
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
        sample_weight : array-like of shape (n,), optional
            Integers say how often a row counts; floats are importance weights.
        propensity : array-like of shape (n,), optional
            For labeled rows, the chance that a positive like this one gets labeled, in (0, 1];
            what stands there for other rows is not looked at. A labeled row then stands for
            1/propensity positives.
        pos_label, unlabeled_label, negative_label : optional
            The values of ``y`` for labeled, unlabeled and known negative rows. −1 has no meaning
            until one of them says so, since it stands for both in common use; nor has a missing
            label, until one of them is NaN.

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
        samples = read_arrays(y, score, labels=labels, sample_weight=sample_weight)
        if propensity is None:
            return cls(*samples)
        return cls(
            *samples, represented(y, score, propensity, labels=labels, sample_weight=sample_weight)
        )

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        label: str,
        score: str,
        sample_weight: str | None = None,
        bins: Bins = "auto",
        pos_label: Any = 1,
        unlabeled_label: Any = 0,
        negative_label: Any = None,
    ) -> Counts:
        """Count rows of a data frame, where they are.

        Frames in memory (pandas, Polars, PyArrow) are sorted here. All others (Polars LazyFrame,
        DuckDB relation, Ibis table, Dask, PySpark, Modin, cuDF) are counted by one query of their
        own engine; only the reduced table comes here.

        Parameters
        ----------
        frame : DataFrame, LazyFrame, Table or relation
            Any data frame that narwhals knows.
        label, score, sample_weight : str
            Names of the columns.
        bins : int, "auto" or None, default "auto"
            How many bins to put between a score and twice it, a power of 2 such as 4096: see
            `to_bins`. None keeps every distinct score. "auto" does so, too, for frames in memory
            and for those with at most 50 million rows; beyond, it takes 4096, and warns if that
            made different scores equal.
        pos_label, unlabeled_label, negative_label : optional
            As for `from_arrays`.

        Returns
        -------
        Counts

        Warns
        -----
        BinnedScoresWarning
            If "auto" put different scores into the same bin.

        Examples
        --------
        >>> import duckdb
        >>> query = "SELECT i % 10 = 0 AS known, (i % 4) / 4 AS model FROM range(100) t(i)"
        >>> rows = duckdb.sql(query)
        >>> counts = Counts.from_frame(rows, label="known", score="model")
        >>> counts.score, counts.labeled
        (array([0.75, 0.5 , 0.25, 0.  ]), array([0, 5, 0, 5]))
        """
        from pueval.sources.frames import read_frame

        labels = LabelValues(pos_label, unlabeled_label, negative_label)
        choice = check_bins_choice(bins)
        return cls._from_counted(
            read_frame(
                frame,
                label=label,
                score=score,
                sample_weight=sample_weight,
                labels=labels,
                bins=choice,
            ),
            choice,
        )

    @classmethod
    def from_file(
        cls,
        path: str | os.PathLike[str],
        *,
        label: str,
        score: str,
        sample_weight: str | None = None,
        bins: Bins = "auto",
        engine: Engine = "duckdb",
        address: str | None = None,
        pos_label: Any = 1,
        unlabeled_label: Any = 0,
        negative_label: Any = None,
    ) -> Counts:
        r"""Count rows of files or of a database.

        Parameters
        ----------
        path : str or path
            A file, a pattern such as ``"scores/*.parquet"``, a folder (names of folders in it, such
            as ``day=3``, are columns), or a table of a DuckDB database,
            ``"duckdb:///file.db?table=name"``. Files ending in ``.parquet`` or ``.pq`` are Parquet,
            in ``.arrow``, ``.feather`` or ``.ipc`` Arrow; all others are read as CSV with a header
            line.
        label, score, sample_weight : str
            Names of the columns.
        bins : int, "auto" or None, default "auto"
            As for `from_frame`; "auto" keeps every score of up to 50 million rows.
        engine : {"duckdb", "polars", "dask", "spark"}
            What reads the files. DuckDB runs in this process, on all cores.
        address : str, optional
            Of a running cluster: a Dask scheduler, such as ``"tcp://host:8786"``, or a Spark
            master (``"spark://host:7077"``) or Connect server (``"sc://host:15002"``).
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

        choice = check_bins_choice(bins)
        tallies = read_files(
            path,
            Columns(label, (score,), sample_weight),
            labels=LabelValues(pos_label, unlabeled_label, negative_label),
            bins=choice,
            engine=engine,
            address=address,
        )
        return cls._from_counted(tallies[()][score], choice)

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
            if count.dtype.kind == "f" and np.all(np.isfinite(count) & (count == np.rint(count))):
                count = count.astype(np.int64)
            if len(count) != len(scores):
                raise InputError(
                    f"score and {name} must have the same length; "
                    f"got {len(scores):,} and {len(count):,}."
                )
            as_rows = read_arrays(np.ones(len(scores)), scores, labels=labels, sample_weight=count)[
                0
            ]
            chunks = tuple(SortedChunk(chunk.values, chunk.count) for chunk in as_rows.chunks)
            kinds.append(Sample(chunks))
        return cls(kinds[0], kinds[1], kinds[2])

    @classmethod
    def from_parquet(cls, path: str | os.PathLike[str]) -> Counts:
        """Read Counts that `to_parquet` wrote.

        Parameters
        ----------
        path : str or path
            A file of `to_parquet`. For a table of rows use `from_file`.

        Returns
        -------
        Counts
        """
        from pueval.sources.storage import load_counts

        samples, binning = load_counts(path)
        return cls(*samples, _binning=binning)

    def to_parquet(self, path: str | os.PathLike[str], *, name: str | None = None) -> None:
        """Keep the Counts in a file, to add to them in a later run.

        The file is an ordinary Parquet table with a row per distinct score. An existing file is
        replaced in one step, so that no reader ever sees half of it.

        Parameters
        ----------
        path : str or path
            Where to write.
        name : str, optional
            Of the score, kept in the file for those who read it.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "counts.parquet"
        >>> Counts.from_arrays([1, 0], [0.9, 0.2]).to_parquet(path)
        >>> counts = Counts.from_parquet(path)
        >>> counts += Counts.from_arrays([0, 0], [0.9, 0.1])
        >>> counts.to_parquet(path)
        >>> Counts.from_parquet(path).n
        4
        """
        from pueval.sources.storage import write_counts

        self._refuse_propensities("keeping counts in a file")
        write_counts(path, self._table, self._samples, self._binning, name)

    @classmethod
    def empty(cls) -> Counts:
        """Return the Counts of no rows, to add batches to.

        Returns
        -------
        Counts

        Examples
        --------
        >>> counts = Counts.empty()
        >>> for y, score in [([1, 0], [0.9, 0.2]), ([0, 0], [0.9, 0.1])]:
        ...     counts += Counts.from_arrays(y, score)
        >>> counts
        Counts(1 labeled, 3 unlabeled, 0 known negative rows; 3 distinct scores from 0.1 to 0.9)
        """
        return cls(EMPTY, EMPTY, EMPTY)

    @classmethod
    def _from_counted(cls, counted: BinnedSamples, asked: Bins) -> Counts:
        """Make Counts of what was counted; say so if scores were put into bins unasked."""
        samples, binning = counted
        counts = cls(*samples, _binning=binning)
        if asked == "auto" and binning is not None:
            warnings.warn(
                f"{counts.n:,} rows have too many scores to keep every one of them, so they were "
                f"put into bins, {binning.bins:,} between a score and twice it. The naive AUC is "
                f"known within ±{counts.auc_error():.1g}. bins={binning.bins} says that this is "
                "wanted; bins=None keeps every score.",
                BinnedScoresWarning,
                stacklevel=3,
            )
        return counts

    # ------------------------------------------------------------------ the table

    @property
    def _samples(self) -> tuple[Sample, Sample, Sample]:
        """Sorted scores of labeled, unlabeled and known negative rows."""
        return self._labeled, self._unlabeled, self._negative

    @cached_property
    def _table(self) -> tuple[Array, Array, Array, Array]:
        return views.tabulate_scores(self._samples)

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
    def effective_sizes(self) -> tuple[float, float]:
        """Effective numbers of labeled rows and of all others, for rows with weights."""
        background = self._unlabeled + self._negative
        return self._labeled.effective_size, background.effective_size

    @property
    def squared_weights(self) -> tuple[float, float, float]:
        """Sums of the squared weights of labeled, unlabeled and negative rows; of rows, if none."""
        labeled, unlabeled, negative = (kind.with_squared_weights.total for kind in self._samples)
        return labeled, unlabeled, negative

    @property
    def _has_importance_weights(self) -> bool:
        """Whether rows have float weights of which the squares are known."""
        return any(kind.has_importance_weights for kind in self._samples)

    @property
    def _has_integer_counts(self) -> bool:
        """Whether every row counts a whole number of times (no float weights)."""
        return all(kind.has_integer_counts for kind in self._samples)

    def _check_nonempty(self) -> None:
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

    def _refuse_propensities(self, purpose: str) -> None:
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

    def _roc_corners(self) -> Steps:
        """Cumulative counts at +inf, at every labeled score, and at the lowest score.

        A measure that rises with the true positive rate and falls with the false positive rate
        is best at one of these: between them only unlabeled and negative rows are added.
        """
        return views.roc_corners(self._samples, self._cumulative_labeled, self._represented)

    def _split_ties(self, corners: Steps, where: Array) -> Steps:
        """Insert, before some labeled scores, the counts just above them.

        ``where`` indexes rows of ``corners``. After it, the way to each of these scores is in
        two parts: first the other rows above it, then the rows that have it.
        """
        return views.split_ties(self._samples, corners, where)

    def at(self, thresholds: Any) -> Steps:
        """Cumulative counts at or above given thresholds."""
        wanted = np.atleast_1d(np.asarray(thresholds, dtype=np.float64))
        labeled, unlabeled, negative = (kind.cumulative_counts(wanted)[1] for kind in self._samples)
        joint = np.zeros(wanted.shape, dtype=bool)
        return Steps(wanted, labeled, unlabeled, negative, joint, self._stand_for(wanted))

    def _stand_for(self, thresholds: Array) -> Array | None:
        """Positives that the labeled rows at or above thresholds stand for, if that is known."""
        return (
            None
            if self._represented is None
            else self._represented.cumulative_counts(thresholds)[1]
        )

    def _thinned(self, bins: int, *, keep: Any = ()) -> Counts:
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
        >>> counts = Counts.from_arrays([0, 1] * 500, range(1000))._thinned(10)
        >>> counts.score.size <= 10, counts.n_labeled, counts.n_unlabeled
        (True, 500, 500)
        """
        if bins < 2:
            raise InputError(f"bins must be at least 2; got {bins!r}.")
        thinned = views.thin_to_quantiles(self._samples, self._represented, bins, keep)
        return self if thinned is None else Counts(*thinned)

    # ------------------------------------------------------------------ bins

    @property
    def bins(self) -> int | None:
        """Bins between a score and twice it; None if every score is kept."""
        return None if self._binning is None else self._binning.bins

    def to_bins(self, bins: int) -> Counts:
        """Put scores into bins that keep their order, to save memory.

        Scores are in one bin if their exponents and the first log2(bins) binary digits of their
        mantissas agree. So the bins depend on nothing but ``bins``, and Counts that were binned
        apart add up to the binned Counts of all rows. A bin that holds different scores stands at
        its lower edge: the number of rows at or above the score of any bin is exact. Only the
        order of rows inside a bin is lost, and `auc_error` bounds what that may change.

        Parameters
        ----------
        bins : int
            Number of bins between a score and twice it, a power of 2 from 2 to 2**20.

        Returns
        -------
        Counts

        Examples
        --------
        >>> counts = Counts.from_arrays([1, 0, 0, 1], [0.51, 0.52, 0.53, 0.9]).to_bins(16)
        >>> counts.score, counts.labeled, counts.unlabeled
        (array([0.9, 0.5]), array([1, 1]), array([0, 2]))
        >>> counts.auc_error()
        0.25
        """
        bins = check_bins(bins)
        self._refuse_propensities("putting scores into bins")
        if self.bins is not None and self.bins < bins:
            raise InputError(
                f"scores are in bins already, {self.bins:,} between a score and twice it, and "
                f"cannot be put into {bins:,}. Count the rows again with bins={bins}."
            )
        samples, binning = bin_samples(self._samples, self._binning, bins)
        return Counts(*samples, _binning=binning)

    def _wide_bin_scores(self) -> Array:
        """Scores, ascending, that stand for a bin of different scores."""
        return np.empty(0) if self._binning is None else self._binning.wide

    def _wide_bin_counts(self) -> tuple[Array, Array]:
        """Labeled and other rows in each bin that holds different scores.

        Returns
        -------
        labeled, others : ndarray
        """
        wide = self._wide_bin_scores()
        inside = [np.subtract(*kind.cumulative_counts(wide)[::-1]) for kind in self._samples]
        return inside[0], inside[1] + inside[2]

    def auc_error(self) -> float:
        """Bound the error that bins make in the naive AUC.

        Pairs of a labeled and another row in the same bin count half, as if their scores were
        equal. If every one of them were in the right, or in the wrong, order, the AUC would be
        greater, or less, by half of their share of all pairs. A corrected AUC is known within
        this number divided by (purity − prior): see `pueval.resolution`.

        Returns
        -------
        float
            0 if scores are not in bins, or each bin holds a single score.

        Examples
        --------
        >>> Counts.from_arrays([1, 0, 0], [0.51, 0.52, 0.1]).auc_error()
        0.0
        """
        labeled, others = self._wide_bin_counts()
        pairs = self.n_labeled * (self.n_unlabeled + self.n_negative)
        return float(np.sum(labeled * others.astype(np.float64)) / 2 / pairs) if pairs else 0.0

    # ------------------------------------------------------------------ rows of one kind

    @cached_property
    def _cumulative_labeled(self) -> tuple[Array, Array]:
        """Distinct scores of labeled rows, descending, and the weight at or above each."""
        score, reached = self._labeled.distinct_cumulative()
        for column in (score, reached):
            column.flags.writeable = False
        return score, reached

    def _inverse_propensity_sample(self) -> Sample:
        """Sorted scores of labeled rows, each weighing 1/propensity; or 1, if none are known."""
        return self._labeled if self._represented is None else self._represented

    def _with_constant_propensity(self, chance: float) -> Counts:
        """Return the same rows, with each labeled one standing for 1/chance positives."""
        return Counts(*self._samples, self._labeled.scaled(1 / chance))

    def _cumulative_background(self, thresholds: Array) -> tuple[Array, Array]:
        """Unlabeled and negative rows above, and at or above, given thresholds."""
        u_above, u_at = self._unlabeled.cumulative_counts(thresholds)
        n_above, n_at = self._negative.cumulative_counts(thresholds)
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
        samples, binning = add_binned(self._samples, self._binning, other._samples, other._binning)
        weighted = None
        if self.has_propensity or other.has_propensity:
            if binning is not None:
                (self if self.has_propensity else other)._refuse_propensities(
                    "adding scores in bins"
                )
            weighted = self._inverse_propensity_sample() + other._inverse_propensity_sample()
        return Counts(*samples, weighted, _binning=binning)

    def __radd__(self, other: object) -> Counts:
        # For sum(), which starts from 0.
        return self if other == 0 else NotImplemented

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Counts):
            return NotImplemented
        if self.bins != other.bins or self.has_propensity != other.has_propensity:
            return False
        pairs = [(self._wide_bin_scores(), other._wide_bin_scores())]
        pairs += zip(self._table, other._table, strict=True)
        pairs += zip(
            self._inverse_propensity_sample().distinct_counts(),
            other._inverse_propensity_sample().distinct_counts(),
            strict=True,
        )
        return all(np.array_equal(mine, theirs) for mine, theirs in pairs)

    __hash__ = None  # type: ignore[assignment]  # equal by content, and the content is arrays

    def __repr__(self) -> str:
        if not self.n:
            return "Counts(no rows)"
        score = self.score
        rows = "row" if self.n_negative == 1 else "rows"
        what = "distinct scores" if self._binning is None else "binned scores"
        return (
            f"Counts({_number(self.n_labeled)} labeled, {_number(self.n_unlabeled)} unlabeled, "
            f"{_number(self.n_negative)} known negative {rows}; "
            f"{score.size:,} {what} from {score[-1]:g} to {score[0]:g})"
        )


def _number(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:,.6g}"
