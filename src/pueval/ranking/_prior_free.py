"""PULP, Lee–Liu and pseudo-F, and naive measures averaged in the same way.

Hajizadeh et al. (2014) average every measure over all operating points, with the top k rows
predicted positive for k = 0, 1, …, N.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import numpy as np
import scipy

from pueval._checks import check_counts, check_number
from pueval._typing import Array
from pueval.core.average_precision import average_precision
from pueval.core.curves import naive_auc
from pueval.core.rates import naive_rates
from pueval.core.sizes import divide_or_zero
from pueval.counts.arguments import check_threshold
from pueval.counts.counts import Counts
from pueval.errors import InputError
from pueval.ranking._hypergeometric import LogFactorials
from pueval.ranking._top_k_hits import RankBlock, TopKHits, check_integer_counts

RANKING_TITLES = {
    "pulp": "PULP",
    "lee_liu": "Lee–Liu",
    "pseudo_f": "Pseudo-F",
    "naive_roc_auc": "Naive ROC AUC",
    "naive_average_precision": "Naive average precision",
    "naive_f1": "Mean naive F1",
    "naive_matthews_corrcoef": "Mean naive Pearson correlation",
    "naive_mutual_information": "Mean naive mutual information",
}

# Closer to its largest value than this, PULP varies by chance as much as it is away from it.
SATURATED = 0.01


def _count_hits(counts: Counts, threshold: float) -> tuple[float, float, float, float]:
    """Return the numbers of rows, labeled rows, predicted rows and hits at a threshold."""
    check_counts(counts)
    counts._check_nonempty()
    steps = counts.at(check_threshold(threshold))
    hits = steps.labeled[0].item()
    return counts.n, counts.n_labeled, hits + (steps.unlabeled + steps.negative)[0].item(), hits


def pulp(counts: Counts, *, threshold: float | None = None) -> float:
    """Probability that random predictions hit fewer labeled rows (PULP).

    At a threshold that predicts k of N rows positive and hits h of the t labeled rows, PULP is
    P(X < h) with X hypergeometric(N, t, k). Without a threshold, it is the mean over all operating
    points, (1/(N + 1))·Σ_k P(X_k < h_k). PULP needs neither a prior nor random labeling.

    With hundreds of labeled rows, all useful rankings are close to the `largest_pulp`, and PULP
    hardly tells them apart. Use it to check whether a ranking is better than chance, and the naive
    AUC to choose between rankings. For several classes, see `multiclass_pulp`.

    Parameters
    ----------
    counts : Counts
        The data, with integer counts.
    threshold : float, optional
        Scores at or above it are predicted positive. By default, average over all operating
        points.

    Returns
    -------
    float
        Between 0 and 1; near 1 for a good ranking.

    References
    ----------
    Hajizadeh, Li, Dollevoet and Tax (2014), equations 2 and 3.

    Examples
    --------
    >>> from pueval import Counts
    >>> counts = Counts.from_arrays([1, 1, 0, 0], [4, 3, 2, 1])
    >>> round(pulp(counts, threshold=3), 4)    # 2 hits: 5 of 6 samples have fewer
    0.8333
    >>> round(pulp(counts), 4)
    0.3667
    """
    if threshold is None:
        return TopKHits(counts).mean(RankBlock.probability_of_fewer_hits)
    check_integer_counts(counts)
    n, t, k, hits = (int(value) for value in _count_hits(counts, threshold))
    probabilities = LogFactorials(n).pmf(np.arange(hits), n, t, k)
    return float(min(probabilities.sum(), 1.0))


def largest_pulp(counts: Counts) -> float:
    """Return the PULP of a perfect ranking: all labeled rows first.

    With t of N rows labeled, it is 1 − 1/(N − t + 1) − 1/(t + 1) + 1/((N + 1)·C(N, t)).

    Parameters
    ----------
    counts : Counts
        The data, with integer counts.

    Returns
    -------
    float

    Notes
    -----
    Summed over k, the probability to hit as many labeled rows as a perfect ranking is
    Σ_{k<t} C(t, k)/C(N, k) + Σ_{k≥t} C(k, t)/C(N, t), and both sums have a closed form.

    Examples
    --------
    >>> from pueval import Counts
    >>> counts = Counts.from_arrays([1, 1, 0, 0], [1, 2, 3, 4])
    >>> round(largest_pulp(counts), 4), round(pulp(counts), 4)
    (0.3667, 0.0)
    """
    check_counts(counts)
    counts._check_nonempty()
    check_integer_counts(counts)
    n, t = counts.n, counts.n_labeled
    log = scipy.special.gammaln(np.array([t, n - t, n]) + 1.0)
    ways = np.exp(log[0] + log[1] - log[2])
    return float(1 - 1 / (n - t + 1) - 1 / (t + 1) + ways / (n + 1))


def saturation_note(values: Mapping[str, float], counts: Counts) -> str | None:
    """Say that PULP of several models is so close to its largest value that it means little.

    ``values`` has the value of each model; ``counts`` are the rows of any of them.
    """
    largest = largest_pulp(counts)
    close = [name for name, value in values.items() if value > largest - SATURATED]
    if len(close) < 2:
        return None
    models = "all models" if len(close) == len(values) else ", ".join(close)
    return (
        f"PULP of {models} is within {SATURATED} of {largest:.4f}, the largest value these rows "
        "allow, so it hardly tells them apart. Choose between them by the naive ROC AUC."
    )


def lee_liu(counts: Counts, *, threshold: float | None = None) -> float:
    """Recall² over the share predicted positive (Lee and Liu's criterion).

    Under random labeling it equals precision·recall/prevalence. It ranks classifiers much like F1
    does, but on another scale: its maximum is 1/prevalence.

    Parameters
    ----------
    counts : Counts
        The data.
    threshold : float, optional
        Scores at or above it are predicted positive. By default, average over all operating
        points.

    Returns
    -------
    float

    References
    ----------
    Lee and Liu (2003); averaged as in Hajizadeh et al. (2014).

    Examples
    --------
    >>> from pueval import Counts
    >>> lee_liu(Counts.from_arrays([1, 1, 0, 0], [4, 3, 2, 1]), threshold=3)
    2.0
    """
    if threshold is not None:
        n, t, k, hits = _count_hits(counts, threshold)
        return (hits / t) ** 2 * n / k if k else 0.0
    return TopKHits(counts).mean(_lee_liu_by_rank)


def pseudo_f(
    counts: Counts, *, prevalence: float | None = None, threshold: float | None = None
) -> float:
    """Return 2·recall / (share predicted positive + prevalence), the pseudo-F measure.

    Parameters
    ----------
    counts : Counts
        The data.
    prevalence : float, optional
        Share of positives in the population. By default the share of labeled rows, as in
        Hajizadeh et al. (2014). With the true prevalence, the measure is F1/prevalence.
    threshold : float, optional
        Scores at or above it are predicted positive. By default, average over all operating
        points.

    Returns
    -------
    float

    References
    ----------
    Calvo, Larrañaga and Lozano (2007); averaged as in Hajizadeh et al. (2014).

    Examples
    --------
    >>> from pueval import Counts
    >>> pseudo_f(Counts.from_arrays([1, 1, 0, 0], [4, 3, 2, 1]), threshold=3)
    2.0
    """
    if prevalence is None:
        prevalence = counts.n_labeled / counts.n
    elif not 0 < check_number("prevalence", prevalence) <= 1:
        raise InputError(f"prevalence must be a number in (0, 1]; got {prevalence!r}.")
    if threshold is not None:
        n, t, k, hits = _count_hits(counts, threshold)
        return 2 * (hits / t) / (k / n + prevalence)
    return TopKHits(counts).mean(partial(_pseudo_f_by_rank, prevalence=prevalence))


def _lee_liu_by_rank(top: RankBlock) -> Array:
    return top.squared_hits / top.labeled**2 * top.rows / top.k


def _pseudo_f_by_rank(top: RankBlock, prevalence: float) -> Array:
    recall = top.hits / top.labeled
    return 2 * recall / (top.k / top.rows + prevalence)


def _naive_f1_by_rank(top: RankBlock) -> Array:
    f1: Array = 2 * top.hits / (top.k + top.labeled)
    return f1


def _correlation_by_rank(top: RankBlock) -> Array:
    n, t, k = top.rows, top.labeled, top.k
    scale = np.sqrt((k * (n - k)).astype(np.float64) * (t * (n - t)))
    correlation: Array = divide_or_zero(top.hits * n - k * t, scale)
    return correlation


def _mutual_information_by_rank(top: RankBlock) -> Array:
    n, t = top.rows, top.labeled

    def information(hits: Array, k: Array) -> Array:
        cells = (
            (hits, k, t),
            (k - hits, k, n - t),
            (t - hits, n - k, t),
            (n - t - k + hits, n - k, n - t),
        )
        total = np.zeros(np.shape(hits))
        for cell, row, column in cells:
            expected = np.maximum(row / n * column, 1e-300)
            total += scipy.special.xlogy(cell / n, cell / expected)
        return total

    return top.expect(information)


def ranking_measures(counts: Counts) -> dict[str, float]:
    """Compute the eight measures of Hajizadeh et al. (2014), which need no prior.

    Naive measures count unlabeled rows as negatives. All measures except AUC and average precision
    are means over all operating points.

    Parameters
    ----------
    counts : Counts
        The data, with integer counts.

    Returns
    -------
    dict of str to float
        ``pulp``, ``lee_liu``, ``pseudo_f``, ``naive_roc_auc``, ``naive_average_precision``,
        ``naive_f1``, ``naive_matthews_corrcoef`` (Pearson correlation) and
        ``naive_mutual_information`` (in nats).

    Examples
    --------
    >>> from pueval import Counts
    >>> measures = ranking_measures(Counts.from_arrays([1, 1, 0, 0], [4, 3, 2, 1]))
    >>> {name: round(value, 3) for name, value in measures.items()}["pulp"]
    0.367
    """
    check_counts(counts)
    corners = counts._roc_corners()
    by_rank: dict[str, Callable[[RankBlock], Array]] = {
        "pulp": RankBlock.probability_of_fewer_hits,
        "lee_liu": _lee_liu_by_rank,
        "pseudo_f": partial(_pseudo_f_by_rank, prevalence=counts.n_labeled / counts.n),
        "naive_f1": _naive_f1_by_rank,
        "naive_matthews_corrcoef": _correlation_by_rank,
        "naive_mutual_information": _mutual_information_by_rank,
    }
    means = TopKHits(counts).means([*by_rank.values()])
    values = dict(zip(by_rank, means, strict=True)) | {
        "naive_roc_auc": naive_auc(counts, corners),
        "naive_average_precision": float(average_precision(naive_rates(counts, corners))),
    }
    return {name: values[name] for name in RANKING_TITLES}
