"""PULP, Lee–Liu, pseudo-F, and the naive measures averaged likewise.

Hajizadeh et al. (2014) average every measure over all operating points: the top 0, 1, …, N rows
predicted positive.
"""

from __future__ import annotations

import numpy as np
import scipy

from pueval._typing import Array
from pueval.core.average_precision import average_precision
from pueval.core.curves import naive_auc
from pueval.core.rates import naive_rates
from pueval.counts.arguments import check_threshold
from pueval.counts.counts import Counts
from pueval.errors import InputError
from pueval.ranking._hypergeometric import LogFactorials
from pueval.ranking._top_rows import TopRows, check_countable

RANKING_TITLES = {
    "pulp": "PULP",
    "lee_liu": "Lee–Liu",
    "pseudo_f": "Pseudo-F",
    "naive_roc_auc": "Naive ROC AUC",
    "naive_average_precision": "Naive average precision",
    "naive_f1": "Naive F1",
    "naive_matthews_corrcoef": "Naive Pearson correlation",
    "naive_mutual_information": "Naive mutual information",
}


def _point(counts: Counts, threshold: float) -> tuple[float, float, float, float]:
    """Rows, labeled rows, predicted rows and hits at a threshold."""
    counts._check_nonempty()
    steps = counts.at(check_threshold(threshold))
    hits = steps.labeled[0].item()
    return counts.n, counts.n_labeled, hits + (steps.unlabeled + steps.negative)[0].item(), hits


def pulp(counts: Counts, *, threshold: float | None = None) -> float:
    """Probability that random predictions hit fewer labeled rows (PULP).

    At a threshold that predicts b of N rows positive and hits k of the t labeled ones, it is
    P(X < k) with X hypergeometric(N, t, b). Without a threshold, the mean over all operating
    points, (1/(N + 1))·Σ_b P(X_b < k_b), which needs neither a prior nor random labeling.

    Parameters
    ----------
    counts : Counts
        The data, with whole-number counts.
    threshold : float, optional
        Scores at or above it are predicted positive. All operating points if left out.

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
    >>> round(pulp(counts, threshold=3), 4)    # both hits: all but 1 of 6 draws do worse
    0.8333
    >>> round(pulp(counts), 4)
    0.3667
    """
    if threshold is None:
        points = TopRows(counts)
        return points.mean(points.by_chance())
    check_countable(counts)
    n, t, drawn, hits = (int(value) for value in _point(counts, threshold))
    below = LogFactorials(n).pmf(np.arange(hits), n, t, drawn)
    return float(min(below.sum(), 1.0))


def lee_liu(counts: Counts, *, threshold: float | None = None) -> float:
    """Recall² over the share predicted positive (Lee and Liu's criterion).

    Equal to precision·recall/prevalence where labeling is random, so that it orders classifiers
    somewhat like F1 does, but it is not on F1's scale: it ranges up to 1/prevalence.

    Parameters
    ----------
    counts : Counts
        The data.
    threshold : float, optional
        Scores at or above it are predicted positive. Mean over all operating points if left out.

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
        n, t, drawn, hits = _point(counts, threshold)
        return (hits / t) ** 2 * n / drawn if drawn else 0.0
    points = TopRows(counts)
    return points.mean(points.squared_hits / points.labeled**2 * points.rows / points.drawn)


def pseudo_f(
    counts: Counts, *, prevalence: float | None = None, threshold: float | None = None
) -> float:
    """Return 2·recall / (share predicted positive + prevalence), the pseudo-F measure.

    Parameters
    ----------
    counts : Counts
        The data.
    prevalence : float, optional
        Share of positives in the population. By default the share of labeled rows, as
        Hajizadeh et al. (2014) do; with the true prevalence the measure is F1/prevalence.
    threshold : float, optional
        Scores at or above it are predicted positive. Mean over all operating points if left out.

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
    elif not 0 < prevalence <= 1:
        raise InputError(f"prevalence must be a number in (0, 1]; got {prevalence!r}.")
    if threshold is not None:
        n, t, drawn, hits = _point(counts, threshold)
        return 2 * (hits / t) / (drawn / n + prevalence)
    points = TopRows(counts)
    recall = points.hits / points.labeled
    return points.mean(2 * recall / (points.drawn / points.rows + prevalence))


def _mutual_information(points: TopRows) -> Array:
    n, t = points.rows, points.labeled

    def information(hits: Array, drawn: Array) -> Array:
        cells = (
            (hits, drawn, t),
            (drawn - hits, drawn, n - t),
            (t - hits, n - drawn, t),
            (n - t - drawn + hits, n - drawn, n - t),
        )
        total = np.zeros(np.shape(hits))
        for cell, row, column in cells:
            expected = np.maximum(row / n * column, 1e-300)
            total += scipy.special.xlogy(cell / n, cell / expected)
        return total

    return points.expect(information)


def ranking_measures(counts: Counts) -> dict[str, float]:
    """Compute the eight measures of Hajizadeh et al. (2014), none of which needs a prior.

    Unlabeled rows count as negative in those called naive. All but the AUC and the average
    precision are means over all operating points.

    Parameters
    ----------
    counts : Counts
        The data, with whole-number counts.

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
    points = TopRows(counts)
    steps = counts._roc_corners()
    n, t, drawn, hits = points.rows, points.labeled, points.drawn, points.hits
    scale = np.sqrt((drawn * (n - drawn)).astype(np.float64) * (t * (n - t)))
    correlation = np.divide(hits * n - drawn * t, scale, out=np.zeros(n), where=scale > 0)
    return {
        "pulp": points.mean(points.by_chance()),
        "lee_liu": points.mean(points.squared_hits / t**2 * n / drawn),
        "pseudo_f": pseudo_f(counts),
        "naive_roc_auc": naive_auc(counts, steps),
        "naive_average_precision": float(average_precision(naive_rates(counts, steps))),
        "naive_f1": points.mean(2 * hits / (drawn + t)),
        "naive_matthews_corrcoef": points.mean(correlation),
        "naive_mutual_information": points.mean(_mutual_information(points)),
    }
