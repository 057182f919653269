"""Metrics of the first k rows: precision, recall, F, average precision, NDCG, R-precision."""

from __future__ import annotations

from typing import Any, Unpack

from pueval._checks import check_number
from pueval.errors import InputError
from pueval.families import top_measures
from pueval.families.ranked_rows import RankedRows
from pueval.families.top_measure import TopMeasure, first_rows
from pueval.metrics._shared_arguments import (
    CorrectionArguments,
    clip_with_warning,
    expand_shared_arguments,
    read_arguments,
)


def top_metric(
    measure: TopMeasure,
    y_true: Any,
    y_score: Any,
    prior: float | None,
    options: CorrectionArguments,
) -> float:
    """Return a corrected measure of the top of the list."""
    counts, mixture, target = read_arguments(y_true, y_score, prior or 0.0, **options)
    if prior is None and (mixture.purity < 1 or (target == "unlabeled" and counts.n_negative)):
        reason = "purity below 1" if mixture.purity < 1 else "known negatives outside the target"
        raise InputError(
            f"{measure.name} needs prior, the share of positives among the unlabeled rows, because "
            f"of {reason}. If you do not know it, pueval.evaluate estimates it."
        )
    value = RankedRows(counts, counts._roc_corners(), target).value(measure, mixture)
    return clip_with_warning(measure.name, value, measure.low, measure.high)


@expand_shared_arguments
def precision_at_k(
    y_true: Any,
    y_score: Any,
    *,
    prior: float,
    k: float | None = None,
    share: float | None = None,
    **options: Unpack[CorrectionArguments],
) -> float:
    """Precision of the k rows with the highest scores, corrected for unlabeled positives.

    π·N·γ/k, where γ is the share of the positives among the first k of N rows, and π the
    prevalence. Tied rows count by the expectation over their orders. Assumes random labeling.

    Parameters
    ----------
    {rows}
    k : int, optional
        Number of first rows of the target. With importance weights w, a row is a weight of Σw²/Σw.
    share : float, optional
        Share of the target instead of ``k``, rounded up to a row.
    {options}

    Returns
    -------
    float
        Corrected precision, clipped to [0, 1] with an AssumptionWarning.

    References
    ----------
    Manning, Raghavan and Schütze (2008), Introduction to information retrieval, chapter 8.

    Examples
    --------
    >>> y_true, y_score = [1, 0, 0, 0, 1, 0, 0, 0, 0, 0], [9, 8, 7, 6, 5, 4, 3, 2, 1, 0]
    >>> precision_at_k(y_true, y_score, prior=0.0, k=4)
    0.25
    >>> precision_at_k(y_true, y_score, prior=0.25, k=4)
    0.5
    """
    measure = top_measures.precision_at(first_rows(k, share))
    return top_metric(measure, y_true, y_score, prior, options)


@expand_shared_arguments
def recall_at_k(
    y_true: Any,
    y_score: Any,
    *,
    k: float | None = None,
    share: float | None = None,
    prior: float | None = None,
    **options: Unpack[CorrectionArguments],
) -> float:
    """Share of the positives among the k rows with the highest scores.

    It needs no prior if labels are clean: random labeled rows are found as often as all positives.
    With ``purity`` below 1, wrong labels are subtracted. Tied rows count by the expectation over
    their orders. Assumes random labeling.

    Parameters
    ----------
    {rows}
    k : int, optional
        Number of first rows of the target. With importance weights w, a row is a weight of Σw²/Σw.
    share : float, optional
        Share of the target instead of ``k``, rounded up to a row.
    {prior_free}

    Returns
    -------
    float
        Recall, clipped to [0, 1] with an AssumptionWarning.

    References
    ----------
    Manning, Raghavan and Schütze (2008), Introduction to information retrieval, chapter 8.

    Examples
    --------
    >>> recall_at_k([1, 0, 0, 0, 1], [5, 4, 3, 2, 1], k=3)
    0.5
    """
    measure = top_measures.recall_at(first_rows(k, share))
    return top_metric(measure, y_true, y_score, prior, options)


@expand_shared_arguments
def f_at_k(
    y_true: Any,
    y_score: Any,
    *,
    prior: float,
    k: float | None = None,
    share: float | None = None,
    beta: float = 1.0,
    **options: Unpack[CorrectionArguments],
) -> float:
    """F score of the k rows with the highest scores, corrected for unlabeled positives.

    (1 + β²)·h/(k + β²·π·N), where h = π·N·γ is the number of positives among the first k of N
    rows, and π the prevalence. Tied rows count by the expectation over their orders. Assumes
    random labeling.

    Parameters
    ----------
    {rows}
    k : int, optional
        Number of first rows of the target. With importance weights w, a row is a weight of Σw²/Σw.
    share : float, optional
        Share of the target instead of ``k``, rounded up to a row.
    beta : float, default 1.0
        Weight of recall relative to precision.
    {options}

    Returns
    -------
    float
        Corrected F score, clipped to [0, 1] with an AssumptionWarning.

    References
    ----------
    Van Rijsbergen (1979), Information retrieval.

    Examples
    --------
    >>> y_true, y_score = [1, 0, 0, 0, 1, 0, 0, 0, 0, 0], [9, 8, 7, 6, 5, 4, 3, 2, 1, 0]
    >>> f_at_k(y_true, y_score, prior=0.25, k=4)
    0.5
    """
    if check_number("beta", beta) <= 0:
        raise InputError(f"beta must be a positive number; got {beta!r}.")
    measure = top_measures.f_at(first_rows(k, share), beta)
    return top_metric(measure, y_true, y_score, prior, options)


@expand_shared_arguments
def average_precision_at_k(
    y_true: Any,
    y_score: Any,
    *,
    prior: float,
    k: float | None = None,
    share: float | None = None,
    **options: Unpack[CorrectionArguments],
) -> float:
    """Average precision of the k rows with the highest scores, corrected for unlabeled positives.

    Σ precision(r)·positive(r) over the ranks r ≤ k, divided by the smaller of k and the number of
    positives. Tied rows have the precision at their end, as in scikit-learn's average precision,
    which this is for k = N. Rates are made monotone, as for `average_precision_score`. Assumes
    random labeling.

    Parameters
    ----------
    {rows}
    k : int, optional
        Number of first rows of the target. With importance weights w, a row is a weight of Σw²/Σw.
    share : float, optional
        Share of the target instead of ``k``, rounded up to a row.
    {options}

    Returns
    -------
    float
        Corrected average precision, in [0, 1].

    References
    ----------
    Manning, Raghavan and Schütze (2008), Introduction to information retrieval, chapter 8.

    Examples
    --------
    >>> average_precision_at_k([1, 0, 0, 0, 1], [5, 4, 3, 2, 1], prior=0.0, k=3)
    0.5
    """
    measure = top_measures.average_precision_at(first_rows(k, share))
    return top_metric(measure, y_true, y_score, prior, options)


@expand_shared_arguments
def ndcg_score(
    y_true: Any,
    y_score: Any,
    *,
    prior: float,
    k: float | None = None,
    **options: Unpack[CorrectionArguments],
) -> float:
    """NDCG, corrected for unlabeled positives: discounted cumulative gain over its best value.

    Σ P(positive at rank r)/log₂(r + 1) over the ranks r ≤ k, divided by the same sum for a list
    that begins with all positives, π·N with the prevalence π. Tied rows count by the expectation
    over their orders. There is one list of rows; ``sample_weight`` weighs its rows. With importance
    weights w, ranks are sums of weights in units of Σw²/Σw, so their scale does not matter. Assumes
    random labeling.

    Parameters
    ----------
    {rows}
    k : int, optional
        Number of first rows of the target; by default, and if there are fewer rows, all of them.
    {options}

    Returns
    -------
    float
        Corrected NDCG, clipped to [0, 1] with an AssumptionWarning.

    References
    ----------
    Järvelin and Kekäläinen (2002), Cumulated gain-based evaluation of IR techniques.

    Examples
    --------
    >>> y_true, y_score = [1, 0, 0, 0, 1, 0, 0, 0, 0, 0], [9, 8, 7, 6, 5, 4, 3, 2, 1, 0]
    >>> round(ndcg_score(y_true, y_score, prior=0.0, k=5), 4)
    0.8503
    """
    rows = None if k is None else first_rows(k, at_most_all=True)
    return top_metric(top_measures.ndcg(rows), y_true, y_score, prior, options)


@expand_shared_arguments
def r_precision(
    y_true: Any, y_score: Any, *, prior: float, **options: Unpack[CorrectionArguments]
) -> float:
    """R-precision, corrected for unlabeled positives: precision of as many rows as positives.

    Precision of the first π·N rows, which equals their recall; π is the prevalence. Assumes random
    labeling.

    Parameters
    ----------
    {rows}
    {options}

    Returns
    -------
    float
        Corrected R-precision, clipped to [0, 1] with an AssumptionWarning.

    References
    ----------
    Manning, Raghavan and Schütze (2008), Introduction to information retrieval, chapter 8.

    Examples
    --------
    >>> y_true, y_score = [1, 0, 0, 0, 1, 0, 0, 0, 0, 0], [9, 8, 7, 6, 5, 4, 3, 2, 1, 0]
    >>> r_precision(y_true, y_score, prior=0.0), r_precision(y_true, y_score, prior=0.4)
    (0.5, 1.0)
    """
    measure = top_measures.TOP_MEASURES["r_precision"]
    return top_metric(measure, y_true, y_score, prior, options)
