"""Counts: for each distinct score, the number of labeled, unlabeled and known negative rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from pueval.counts.read_clusters import clusters_of_lines, read_clusters
from pueval.counts.score_table import REDUCED_SCORES, ScoreTable
from pueval.counts.score_warnings import warn_of_bins, warn_of_ties
from pueval.errors import InputError
from pueval.samples import steps as step_functions
from pueval.samples.bins import (
    DEFAULT_BINS,
    Bins,
    add_samples,
    bin_samples,
    check_bins,
    check_bins_choice,
)
from pueval.samples.sample import EMPTY
from pueval.samples.steps import Steps
from pueval.sources.arrays import is_half_precision, read_arrays, read_table, to_host
from pueval.sources.columns import Columns, CountedRows, Engine
from pueval.sources.labels import LabelValues
from pueval.sources.propensities import read_propensities

if TYPE_CHECKING:
    import os

__all__ = ["Counts", "Steps"]


@dataclass(frozen=True, eq=False, repr=False)
class Counts(ScoreTable):
    """The reduced data: distinct scores, and the number of rows of each kind at each score.

    Everything pueval computes is a function of this table. Counts can be added: ``a + b`` is the
    Counts of the concatenated rows, so batches, files and partitions merge exactly.

    Make Counts with `from_arrays`, `from_frame`, `from_file` or `from_table`. Save them between
    runs with `to_parquet` and `from_parquet`.

    Attributes
    ----------
    score : ndarray
        Distinct scores, descending.
    labeled, unlabeled, negative : ndarray
        Number of rows of each kind at each score; sums of weights if rows have importance weights.
    n_labeled, n_unlabeled, n_negative : int or float
        Their totals.
    bins : int or None
        Number of bins per doubling of the score; None if scores are not binned.

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

    # ------------------------------------------------------------------ constructors

    @classmethod
    def from_arrays(
        cls,
        y: Any,
        score: Any,
        *,
        sample_weight: Any = None,
        propensity: Any = None,
        cluster: Any = None,
        bins: Bins = "auto",
        pos_label: Any = 1,
        unlabeled_label: Any = 0,
        negative_label: Any = None,
    ) -> Counts:
        """Count rows given as arrays.

        PyTorch, CuPy and JAX arrays on a GPU are sorted there. Their scores are not copied to the
        host: large samples stay on the GPU as long as the Counts exist, and are searched there.
        With weights, propensities or clusters, rows are counted on the host.

        Parameters
        ----------
        y : array-like of shape (n,)
            Labels: 1 or True for labeled positives, 0 or False for unlabeled rows.
        score : array-like of shape (n,)
            Scores of the classifier; higher means more likely positive. float32 stays float32.
            float16, bfloat16 and float8 have few distinct values; a warning says if many rows are
            tied.
        sample_weight : array-like of shape (n,), optional
            Weights of the rows. Integers are frequency weights, floats importance weights.
        propensity : array-like of shape (n,), optional
            For labeled rows, the probability in (0, 1] that the row, being positive, was labeled.
            A labeled row then represents 1/propensity positives. Give the propensities of
            unlabeled rows too, if you know them: intervals use them to allow for positives that
            are hardly ever labeled. Values outside (0, 1], also NaN, mean unknown there.
        cluster : array-like of shape (n,), or list of two of them, optional
            Names or numbers of clusters: rows of the same cluster belong together, such as the
            visits of a patient. Only intervals depend on it. Two columns, such as user and item,
            are two-way clusters.
        bins : int, "auto" or None, default "auto"
            Number of bins per doubling of the score, a power of 2 such as 4096: see `to_bins`.
            None keeps every distinct score. So does "auto", unless the scores are on a GPU and more
            than 4 million of them are labeled; then it uses 4096 bins, and warns.
        pos_label, unlabeled_label, negative_label : optional
            Values of ``y`` for labeled, unlabeled and known negative rows. The value −1 is refused
            unless you assign it, since it means unlabeled to some tools and negative to others.
            Missing labels are refused too, unless one of the three is NaN.

        Returns
        -------
        Counts

        Warns
        -----
        BinnedScoresWarning
            If "auto" puts distinct scores into the same bin, or scores in half precision or less
            tie many labeled rows with others.

        Examples
        --------
        >>> Counts.from_arrays(["bad", "?", "good"], [3, 2, 1], pos_label="bad",
        ...                    unlabeled_label="?", negative_label="good")
        Counts(1 labeled, 1 unlabeled, 1 known negative row; 3 distinct scores from 1 to 3)
        """
        if not isinstance(bins, str) or bins != "auto":
            bins = check_bins_choice(bins)
        labels = LabelValues(pos_label, unlabeled_label, negative_label)
        dtype = getattr(score, "dtype", None)
        if propensity is not None or cluster is not None:
            score = to_host(score)
        samples = read_arrays(y, score, labels=labels, sample_weight=sample_weight)
        represented, of_unlabeled, clusters = None, EMPTY, None
        if propensity is not None:
            represented, of_unlabeled = read_propensities(
                y, score, propensity, labels=labels, sample_weight=sample_weight
            )
        if cluster is not None:
            clusters = read_clusters(
                y, score, cluster, labels, sample_weight=sample_weight, propensity=propensity
            )
        counts = cls(*samples, represented, _inverse_propensities=of_unlabeled, _clusters=clusters)
        if is_half_precision(dtype):
            warn_of_ties(counts, dtype)
        if bins == "auto" and samples[0].is_on_device:
            counts = counts.to_bins(DEFAULT_BINS)
            warn_of_bins(counts)
        elif isinstance(bins, int):
            counts = counts.to_bins(bins)
        return counts

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        label: str,
        score: str,
        sample_weight: str | None = None,
        cluster: str | None = None,
        bins: Bins = "auto",
        pos_label: Any = 1,
        unlabeled_label: Any = 0,
        negative_label: Any = None,
    ) -> Counts:
        """Count the rows of a data frame in its own engine.

        Frames in memory (pandas, Polars, PyArrow) are sorted in this process. All others (Polars
        LazyFrame, DuckDB relation, Ibis table, Dask, PySpark, Modin, cuDF) are counted by one query
        of their own engine, and only the reduced table is transferred.

        Parameters
        ----------
        frame : DataFrame, LazyFrame, Table or relation
            Any data frame that narwhals supports.
        label, score, sample_weight : str
            Names of the columns.
        cluster : str, optional
            Name of a column of clusters: rows of the same cluster belong together, as for
            `from_arrays`. The engine counts rows by cluster and score, or by 1,000 groups of
            clusters if there are more. Such Counts cannot be added or saved.
        bins : int, "auto" or None, default "auto"
            Number of bins per doubling of the score, a power of 2 such as 4096: see `to_bins`.
            None keeps every distinct score. So does "auto" for frames in memory and for at most 50
            million rows; for more rows, it uses 4096 bins, and warns if distinct scores share one.
        pos_label, unlabeled_label, negative_label : optional
            As for `from_arrays`.

        Returns
        -------
        Counts

        Warns
        -----
        BinnedScoresWarning
            If "auto" puts distinct scores into the same bin.

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

        choice = check_bins_choice(bins)
        rows = read_frame(
            frame,
            Columns(label, (score,), sample_weight, cluster=cluster),
            labels=LabelValues(pos_label, unlabeled_label, negative_label),
            bins=choice,
        )
        return cls._from_rows(rows, choice)

    @classmethod
    def from_file(
        cls,
        path: str | os.PathLike[str],
        *,
        label: str,
        score: str,
        sample_weight: str | None = None,
        cluster: str | None = None,
        bins: Bins = "auto",
        engine: Engine = "duckdb",
        address: str | None = None,
        pos_label: Any = 1,
        unlabeled_label: Any = 0,
        negative_label: Any = None,
    ) -> Counts:
        r"""Count the rows of files or of a database.

        Parameters
        ----------
        path : str or path
            A file, a pattern such as ``"scores/*.parquet"``, a folder (folders in it with names
            such as ``day=3`` are columns), or a table of a DuckDB database,
            ``"duckdb:///file.db?table=name"``. Files ending in ``.parquet`` or ``.pq`` are read as
            Parquet, ``.arrow``, ``.feather`` or ``.ipc`` as Arrow, and all others as CSV with a
            header line.
        label, score, sample_weight : str
            Names of the columns.
        cluster : str, optional
            Name of a column of clusters, as for `from_frame`.
        bins : int, "auto" or None, default "auto"
            As for `from_frame`; "auto" keeps every score of up to 50 million rows.
        engine : {"duckdb", "polars", "dask", "spark"}
            Engine that reads the files. DuckDB runs in this process, on all cores. It also parses
            CSV files for Polars and Dask, which count the rows.
        address : str, optional
            Address of a running cluster: a Dask scheduler, such as ``"tcp://host:8786"``, or a
            Spark master (``"spark://host:7077"``) or Connect server (``"sc://host:15002"``).
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
            Columns(label, (score,), sample_weight, cluster=cluster),
            labels=LabelValues(pos_label, unlabeled_label, negative_label),
            bins=choice,
            engine=engine,
            address=address,
        )
        return cls._from_rows(tallies[()][score], choice)

    @classmethod
    def from_table(cls, score: Any, labeled: Any, unlabeled: Any, negative: Any = None) -> Counts:
        """Make Counts from a table of counts, for example the result of a query.

        Parameters
        ----------
        score : array-like of shape (n,)
            Scores, in any order; the counts of equal scores are added.
        labeled, unlabeled, negative : array-like of shape (n,)
            Number of rows of each kind at each score. Numbers that are not integers are sums of
            weights; since the number of rows is not known, each unit of weight counts as one row.

        Returns
        -------
        Counts

        Examples
        --------
        >>> Counts.from_table([3, 2, 1], labeled=[5, 1, 0], unlabeled=[2, 10, 40])
        Counts(6 labeled, 52 unlabeled, 0 known negative rows; 3 distinct scores from 1 to 3)
        """
        return cls(*read_table(score, labeled, unlabeled, negative))

    @classmethod
    def from_parquet(cls, path: str | os.PathLike[str]) -> Counts:
        """Read Counts that `to_parquet` saved.

        Parameters
        ----------
        path : str or path
            File written by `to_parquet`. For a table of rows use `from_file`.

        Returns
        -------
        Counts
        """
        from pueval.sources.storage import load_counts

        samples, binning = load_counts(path)
        return cls(*samples, _binning=binning)

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
    def _from_rows(cls, rows: CountedRows, choice: Bins) -> Counts:
        """Make Counts of counted rows; warn if "auto" binned their scores."""
        binning = rows.binning
        clusters = None if rows.clusters is None else clusters_of_lines(rows.clusters)
        counts = cls(*rows.samples, _binning=binning, _clusters=clusters)
        if choice == "auto" and binning is not None:
            warn_of_bins(counts)
        return counts

    # ------------------------------------------------------------------ variants

    def _with_constant_propensity(self, propensity: float) -> Counts:
        """Return the counts with one propensity for every labeled row."""
        represented = self._labeled.scaled(1 / propensity)
        return Counts(*self._samples, represented, _clusters=self._clusters)

    def _thinned(self, most: int, *, keep: Any = ()) -> Counts:
        """Merge neighboring scores, so that at most about ``most`` of them remain.

        The remaining scores are quantiles of each kind of rows, in equal numbers. Each stands for
        itself and the scores up to the next one above. The scores ``keep`` remain, too.

        Examples
        --------
        >>> counts = Counts.from_arrays([0, 1] * 500, range(1000))._thinned(10)
        >>> counts.score.size <= 10, counts.n_labeled, counts.n_unlabeled
        (True, 500, 500)
        """
        if most < 2:
            raise InputError(f"the number of scores must be at least 2; got {most!r}.")
        thinned = step_functions.thin_to_quantiles(self._samples, self._represented, most, keep)
        if thinned is None:
            return self
        return Counts(
            *thinned,
            _inverse_propensities=self._inverse_propensities,
            _audit=self._audit,
            _clusters=self._clusters,
        )

    @cached_property
    def _thinned_without_clusters(self) -> Counts:
        """The same rows without clusters, with few scores; several checks of results need them."""
        return replace(self, _clusters=None)._thinned(REDUCED_SCORES)

    def to_bins(self, bins: int) -> Counts:
        """Put scores into bins that keep their order, to save memory.

        Scores share a bin if their exponents and the first log2(bins) binary digits of their
        mantissas agree. The bins depend on nothing but ``bins``, so Counts that were binned
        separately add up to the binned Counts of all rows. A bin with several scores is placed at
        its lower edge: the number of rows at or above the score of any bin is exact. Only the
        order of rows inside a bin is lost; `auc_error` bounds the effect.

        Parameters
        ----------
        bins : int
            Number of bins per doubling of the score, a power of 2 from 2 to 2**20.

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
        if self.has_propensity:
            raise _unsupported_with_propensities("binning scores")
        if self.bins is not None and self.bins < bins:
            raise InputError(
                f"scores are already binned, with {self.bins:,} bins per doubling of the score; "
                f"got {bins:,}. Count the rows again with bins={bins}."
            )
        samples, binning = bin_samples(self._samples, self._binning, bins)
        return Counts(*samples, _binning=binning, _clusters=self._clusters)

    # ------------------------------------------------------------------ saving

    def to_parquet(self, path: str | os.PathLike[str], *, name: str | None = None) -> None:
        """Save the Counts in a file, to add to them in a later run.

        The file is an ordinary Parquet table with a row per distinct score. An existing file is
        replaced in one step, so readers never see an incomplete one.

        Parameters
        ----------
        path : str or path
            File to write.
        name : str, optional
            Name of the score, saved in the file.

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

        if self.has_propensity:
            raise _unsupported_with_propensities("saving counts")
        self._refuse_clusters("saving counts")
        write_counts(path, self._tabulated, self._samples, self._binning, name)

    # ------------------------------------------------------------------ operators

    def __add__(self, other: Counts) -> Counts:
        if not isinstance(other, Counts):
            return NotImplemented
        for part in (self, other):
            part._refuse_clusters("adding counts")
        for plain, weighted in ((self, other), (other, self)):
            if weighted.has_propensity and not plain.has_propensity and plain.n_labeled:
                raise InputError(
                    "cannot add labeled rows with propensities to labeled rows without. Pass "
                    "propensities for all batches; 1 for rows that are certain to be labeled."
                )
        samples, binning = add_samples(self._samples, self._binning, other._samples, other._binning)
        represented = None
        if self.has_propensity or other.has_propensity:
            if binning is not None:
                raise _unsupported_with_propensities("adding binned scores")
            represented = self._inverse_propensity_sample() + other._inverse_propensity_sample()
        of_unlabeled = self._inverse_propensities + other._inverse_propensities
        return Counts(*samples, represented, _binning=binning, _inverse_propensities=of_unlabeled)

    def __radd__(self, other: object) -> Counts:
        # For sum(), which starts with 0.
        return self if other == 0 else NotImplemented


def _unsupported_with_propensities(action: str) -> InputError:
    return InputError(f"{action} is not supported with propensities. Count the rows without them.")
