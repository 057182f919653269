"""poisson_resamples(): bootstrap the rows of a data frame in its own engine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pueval._checks import check_count
from pueval.counts.counts import Counts
from pueval.samples.bins import check_bins
from pueval.sources.columns import Columns, score_names
from pueval.sources.labels import LabelValues


def poisson_resamples(
    frame: Any,
    *,
    label: str,
    scores: str | Sequence[str],
    key: str,
    n_resamples: int = 100,
    seed: int = 0,
    bins: int = 256,
    pos_label: Any = 1,
    unlabeled_label: Any = 0,
    negative_label: Any = None,
) -> dict[str, tuple[Counts, ...]]:
    """Resample the rows of a data frame in its own engine, the same rows for every model.

    Each resample draws each row a number of times that follows a Poisson distribution of mean 1,
    which approximates the bootstrap if there are many rows (the *Poisson bootstrap*). The number
    comes from a hash of the row's key. So it does not depend on partitions, on the order of rows or
    on the engine, and rows need not be collected in one place. Resample k holds the same rows for
    all score columns, so differences between models are paired.

    Parameters
    ----------
    frame : data frame
        Any frame that `Counts.from_frame` takes.
    label : str
        Name of the label column.
    scores : str or list of str
        Names of the score columns, one for each model.
    key : str
        Name of a column of integers within ±2**53 that identifies rows. Rows with the same key are
        drawn together, as they should be if they belong to one patient, say.
    n_resamples : int, default 100
        Number of resamples. One pass over the rows draws 25 of them.
    seed : int, default 0
        Random seed of the hash.
    bins : int, default 256
        Number of bins per doubling of the score, as for `Counts.to_bins`. All resamples of all
        models are returned together, so their bins are coarser than those of a single Counts.
    pos_label, unlabeled_label, negative_label : optional
        As for `Counts.from_arrays`.

    Returns
    -------
    dict of str to tuple of Counts
        The resamples of each score column.

    References
    ----------
    Chamandy, Muralidharan, Najmi and Naidu (2012). Estimating uncertainty for massive data streams.
    Google technical report.

    Examples
    --------
    >>> import numpy as np, polars as pl
    >>> from pueval import evaluate, poisson_resamples
    >>> rng = np.random.default_rng(0)
    >>> y = rng.random(2000) < 0.3
    >>> rows = pl.LazyFrame({"id": range(2000), "y": y, "a": y + rng.normal(size=2000),
    ...                      "b": y + 2 * rng.normal(size=2000)})
    >>> drawn = poisson_resamples(rows, label="y", scores=["a", "b"], key="id", n_resamples=20)
    >>> def auc(counts):
    ...     return evaluate(counts, prior=0.0, level=None)["roc_auc"].value
    >>> gain = [auc(a) - auc(b) for a, b in zip(drawn["a"], drawn["b"])]
    >>> bool(0.005 < np.std(gain) < 0.03)
    True
    """
    from pueval.sources.poisson_bootstrap import draw_resamples

    check_count("n_resamples", n_resamples)
    check_count("seed", seed, least=0)
    resamples = draw_resamples(
        frame,
        Columns(label, score_names(scores)),
        key,
        labels=LabelValues(pos_label, unlabeled_label, negative_label),
        bins=check_bins(bins),
        n_resamples=n_resamples,
        seed=seed,
    )
    return {
        name: tuple(Counts(*samples, _binning=binning) for samples, binning in drawn)
        for name, drawn in resamples.items()
    }
