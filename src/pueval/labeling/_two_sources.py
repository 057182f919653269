"""from_two_sources(): label frequency from two independent sources of labels."""

from __future__ import annotations

from typing import Any

import numpy as np

from pueval._checks import check_fraction, check_same_length
from pueval._typing import Array
from pueval.counts.arguments import suggest_arguments
from pueval.errors import InputError, warn_caller
from pueval.labeling._two_sources_result import (
    TwoSources,
    check_enough_in_common,
    check_strata,
)
from pueval.sources.arrays import (
    check_same_order,
    label_kinds,
    one_column,
    refuse_missing,
)
from pueval.sources.labels import LabelValues


@suggest_arguments
def from_two_sources(
    a: Any,
    b: Any,
    *,
    strata: Any = None,
    level: float = 0.95,
    pos_label: Any = 1,
    unlabeled_label: Any = 0,
) -> TwoSources:
    """Estimate the label frequency from two sources that label independently.

    If one source finds n₁ positives, the other n₂, and both the same m, then Chapman's estimate of
    the number of positives is (n₁ + 1)·(n₂ + 1)/(m + 1) − 1. The label frequency is the share of
    them that at least one source found. This assumes that a positive found by one source is neither
    more nor less likely to be found by the other, and that all labels are right. Easy cases are
    often found by both sources: then there are more positives than estimated, and fewer of them
    are labeled. `TwoSources.bounds` says how many more, for a given odds ratio.

    Parameters
    ----------
    a, b : array-like
        Labels of each source, for the same rows: 1 or True if it labeled the row.
    strata : array-like, optional
        Group of each row, such as region or severity. Numbers of positives are estimated within
        groups and added, so sources need to be independent only within groups. Both sources need
        rows in common in each group, at least 5 on average.
    level : float, default 0.95
        Confidence level of the intervals.
    pos_label, unlabeled_label : optional
        Values that mark labeled and unlabeled rows.

    Returns
    -------
    TwoSources
        ``evaluate(a | b, score, label_frequency=result.label_frequency_interval)`` uses it.

    Raises
    ------
    InputError
        If the sources have so few labels in common that, if they were independent, there would be
        more positives than rows; or if only one source labeled rows in a group.

    Warns
    -----
    AssumptionWarning
        If groups have fewer than 5 labels in common on average, or both sources label the same
        rows.

    Notes
    -----
    Given n₁ and n₂, the number m in common is hypergeometric, and depends only on the number of
    positives. The ends of the interval are the numbers at which m is just not too small and not
    too large (mid-p). With labels in several strata, Chapman's estimates and their variances
    (Seber, 1970) are added, with one pseudo-observation, and the logarithm of the sum is taken as
    normal. `evaluate` uses the midpoint of the label frequencies, and its intervals hold for all of
    them.

    References
    ----------
    Chapman (1951), Some properties of the hypergeometric distribution with applications to
    zoological sample censuses; Seber (1970), The effects of trap response on tag recapture
    estimates; Berry and Armitage (1995), Mid-P confidence intervals: a brief review.

    Examples
    --------
    >>> import numpy as np
    >>> from pueval import evaluate, labeling
    >>> rng = np.random.default_rng(0)
    >>> ill = rng.random(20_000) < 0.1
    >>> score = rng.normal(size=20_000) + 2 * ill
    >>> registry = ill & (rng.random(20_000) < 0.4)
    >>> clinic = ill & (rng.random(20_000) < 0.3)
    >>> sources = labeling.from_two_sources(registry, clinic)
    >>> round(sources.label_frequency, 2)         # the truth is 1 − 0.6·0.7 = 0.58
    0.58
    >>> ev = evaluate(
    ...     registry | clinic, score, label_frequency=sources.label_frequency_interval
    ... )
    >>> bool(ev["roc_auc"].low < 0.921 < ev["roc_auc"].high)
    True
    """
    level = check_fraction("level", level)
    check_same_order({"a": a, "b": b, "strata": strata})
    labels = LabelValues(pos_label, unlabeled_label, None)
    first, second = (_read_source(source, name, labels) for source, name in ((a, "a"), (b, "b")))
    check_same_length("a", first.size, "b", second.size)
    names, stratum = _read_strata(strata, first.size)
    for found, name in ((first, "a"), (second, "b")):
        if not found.any():
            raise InputError(f"source {name} has no labeled rows, so there is nothing to compare.")

    def count(rows: Array) -> Array:
        return np.bincount(stratum[rows], minlength=len(names))

    sources = TwoSources(
        stratum=names,
        n_rows=np.bincount(stratum, minlength=len(names)),
        both=count(first & second),
        only_a=count(first & ~second),
        only_b=count(second & ~first),
        level=level,
    )
    check_strata(sources)
    check_enough_in_common(sources)
    for warning in sources._assumption_warnings():
        warn_caller(warning)
    return sources


def _read_source(source: Any, name: str, labels: LabelValues) -> Array:
    column = one_column(source, name)
    try:
        return np.asarray(label_kinds(column, labels) == 0)
    except InputError as error:
        raise InputError(f"source {name}: {error}") from None


def _read_strata(strata: Any, size: int) -> tuple[tuple[str, ...], Array]:
    """Return the names of the strata and the stratum of each row."""
    if strata is None:
        return ("all",), np.zeros(size, dtype=np.intp)
    column = one_column(strata, "strata")
    check_same_length("a", size, "strata", column.size)
    refuse_missing(column, "stratum")
    if column.dtype.kind == "O":
        column = column.astype(str)
    values, index = np.unique(column, return_inverse=True)
    return tuple(str(value) for value in values), index
