"""Bounds on contingency tables, ROC and precision-recall curves from the rank distribution.

Claesen et al. (2015) do not assume that the unlabeled positives are ranked exactly like the labeled
ones, only that their rank distribution lies within a confidence band around that of the labeled.
The tables that put as many, or as few, unlabeled positives above a rank as the band allows bound
the true table; so do their curves and areas.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
import scipy

from pueval._checks import check_fraction
from pueval._typing import Array
from pueval.core.mixture import Mixture
from pueval.counts.counts import Counts
from pueval.errors import InputError
from pueval.samples.steps import Steps

BandMethod = Literal["bootstrap", "clopper-pearson", "dkw"]
Start = Literal["positives", "negatives", "tighter"]
# Priors of an interval that are looked at, ends included.
WITHIN = 5


@dataclass(frozen=True, eq=False)
class BoundTables:
    """Contingency tables at every threshold that bound the true ones from one side.

    Attributes
    ----------
    threshold : ndarray
        +inf and the distinct scores, descending.
    true_positive, false_positive, false_negative, true_negative : ndarray
        Numbers of rows.
    """

    threshold: Array
    true_positive: Array
    false_positive: Array
    false_negative: Array
    true_negative: Array

    @property
    def tpr(self) -> Array:
        """True positive rate."""
        rate: Array = self.true_positive / (self.true_positive + self.false_negative)
        return rate

    @property
    def fpr(self) -> Array:
        """False positive rate."""
        rate: Array = self.false_positive / (self.false_positive + self.true_negative)
        return rate

    @property
    def precision(self) -> Array:
        """Precision; 1 where nothing is predicted positive."""
        predicted = self.true_positive + self.false_positive
        shares: Array = np.ones(predicted.size)
        np.divide(self.true_positive, predicted, out=shares, where=predicted > 0)
        return shares

    @property
    def roc_auc(self) -> float:
        """Area under the ROC curve."""
        order = np.argsort(self.fpr, kind="stable")
        return float(np.trapezoid(np.maximum.accumulate(self.tpr[order]), self.fpr[order]))

    @property
    def average_precision(self) -> float:
        """Area under the precision-recall curve."""
        order = np.argsort(self.tpr, kind="stable")
        return float(np.sum(np.diff(self.tpr[order]) * self.precision[order][1:]))


@dataclass(frozen=True, eq=False)
class Bounds:
    """Bounds on the performance of a ranking; made by `claesen_bounds`.

    Attributes
    ----------
    low, high : BoundTables
        The tables of the least upper and of the greatest lower bound of the false positive rate:
        their curves lie below and above the true ones.
    prior : tuple of float
        Priors that were used for ``low`` and ``high``.
    level : float
        Level of the confidence band.
    band : str
        How the band was made.
    start : str
        Whether the rank distribution of known positives or of known negatives was used.
    within : tuple of tuple of BoundTables
        The same for every prior of the interval that was looked at, its ends included.
    """

    low: BoundTables
    high: BoundTables
    prior: tuple[float, float]
    level: float
    band: str
    start: str
    within: tuple[tuple[BoundTables, BoundTables], ...]

    @property
    def roc_auc(self) -> tuple[float, float]:
        """Bounds of the area under the ROC curve, for every prior that was looked at."""
        return min(low.roc_auc for low, _ in self.within), max(
            high.roc_auc for _, high in self.within
        )

    @property
    def average_precision(self) -> tuple[float, float]:
        """Bounds of the area under the precision-recall curve, for every such prior."""
        return min(low.average_precision for low, _ in self.within), max(
            high.average_precision for _, high in self.within
        )


def rank_band(
    above: Array, total: float, *, hidden: float, level: float, method: BandMethod
) -> tuple[Array, Array]:
    """Confidence band of the share of rows at or above thresholds.

    Parameters
    ----------
    above : ndarray
        How many of the rows score at or above each threshold.
    total : float
        How many rows there are.
    hidden : float
        For how many other rows, ranked alike, the band is meant.
    level : float
        Confidence level.
    method : {"bootstrap", "clopper-pearson", "dkw"}
        ``"bootstrap"``: pointwise quantiles of the share in rows drawn again, as in the paper. At
        one threshold that share is binomial, so its quantiles are computed and nothing is
        drawn. ``"clopper-pearson"``: exact pointwise limits. ``"dkw"``: a band that holds at
        all thresholds together (Dvoretzky, Kiefer and Wolfowitz). The first two are limits of
        the distribution that the rows come from; the last one also allows for the chance that is
        in the hidden rows, by 1/total + 1/hidden in place of 1/total.

    Returns
    -------
    low, high : ndarray

    Examples
    --------
    >>> import numpy as np
    >>> low, high = rank_band(np.array([5]), 10, hidden=40, level=0.95, method="bootstrap")
    >>> float(low[0]), float(high[0])
    (0.2, 0.8)
    """
    # Between two of the rows nothing changes, and quantiles are slow.
    above, place = np.unique(above, return_inverse=True)
    share, tail = above / total, (1 - level) / 2
    if method == "dkw":
        rows = 1 / total + (1 / hidden if hidden else 0)
        reach = math.sqrt(math.log(2 / (1 - level)) / 2 * rows)
        low, high = share - reach, share + reach
    elif method == "clopper-pearson":
        low = np.where(
            above > 0, scipy.special.betaincinv(np.maximum(above, 1), total - above + 1, tail), 0.0
        )
        rest = np.maximum(total - above, 1)
        high = np.where(above < total, scipy.special.betaincinv(above + 1, rest, 1 - tail), 1.0)
    elif method == "bootstrap":
        low, high = (_binomial_quantile(q, total, share) / total for q in (tail, 1 - tail))
    else:
        raise InputError(f"band must be 'bootstrap', 'clopper-pearson' or 'dkw'; got {method!r}.")
    return np.clip(low, 0, 1)[place], np.clip(high, 0, 1)[place]


def _binomial_quantile(q: float, n: float, share: Array) -> Array:
    """Return the smallest k with P(X ≤ k) ≥ q."""
    inside = np.clip(share, 1e-12, 1 - 1e-12)
    k = np.ceil(scipy.special.bdtrik(q, n, inside) - 1e-9)
    k = np.where((k > 0) & (scipy.special.bdtr(np.maximum(k - 1, 0), n, inside) >= q), k - 1, k)
    return np.where(share <= 0, 0.0, np.where(share >= 1, n, np.clip(k, 0, n)))


def claesen_bounds(
    counts: Counts,
    *,
    prior: float | tuple[float, float],
    level: float = 0.95,
    band: BandMethod = "clopper-pearson",
    start: Start = "positives",
) -> Bounds:
    """Bound contingency tables, curves and areas.

    At a rank with h unlabeled rows above it and t below, P = prior·n_U unlabeled positives and
    an upper limit T of the rank distribution, the greatest lower bound of the false positive
    rate puts ⌈T·P⌉ of the unlabeled positives above the rank, but no more than h and no fewer
    than P − t; the least upper bound puts ⌊T·P⌋ of them there, with the lower limit. Labeled rows
    and known negatives are counted as they are. With an interval of the prior, tables and curves
    of the lower bounds are for its lower end and those of the upper bounds for its upper end
    (lemma 4). That supposes that at every rank more positives than negatives may be above it, which
    the limits T need not allow; so areas are the extremes over five priors, ends included.

    With the bands "bootstrap" and "clopper-pearson" each table is bounded for itself, and for the
    rank distribution that the rows come from; "dkw" bounds all tables of these rows together.
    "bootstrap" is that of the paper. It has no width where no labeled row lies beyond, and with
    few labeled rows, or classes that separate well, it holds the truth too seldom.

    Parameters
    ----------
    counts : Counts
        The data, with clean labels and whole-number counts.
    prior : float or tuple of float
        Share of positives among the unlabeled rows, or an interval of it.
    level : float, default 0.95
        Level of the confidence band of the rank distribution.
    band : {"bootstrap", "clopper-pearson", "dkw"}
        How the band is made; see `rank_band`.
    start : {"positives", "negatives", "tighter"}
        Whose rank distribution is used: that of the labeled rows, that of the known
        negatives (appendix C), or of those that bound the AUC more tightly.

    Returns
    -------
    Bounds

    References
    ----------
    Claesen, Davis, De Smet and De Moor (2015), theorem 1, equations 8 to 13, lemma 4, appendix C.

    Examples
    --------
    >>> import numpy as np
    >>> from pueval import Counts
    >>> rng = np.random.default_rng(0)
    >>> score = np.r_[rng.normal(1.5, 1, 600), rng.normal(0, 1, 1400)]
    >>> counts = Counts.from_arrays(np.arange(2000) < 200, score)    # 400 positives unlabeled
    >>> low, high = claesen_bounds(counts, prior=400 / 1800).roc_auc
    >>> bool(low < 0.855 < high)                                     # the true AUC
    True
    """
    counts._check_nonempty()
    counts._refuse_propensities("this bound")
    if not counts.n_unlabeled:
        raise InputError("there are no unlabeled rows, so nothing needs bounding.")
    if not counts._has_integer_counts:
        raise InputError("bounds count rows, and these have float weights. Leave the weights out.")
    check_fraction("level", level)
    lowest, highest = prior if isinstance(prior, tuple) else (prior, prior)
    for one in (lowest, highest):
        Mixture(one)
    if lowest > highest:
        raise InputError(f"the interval of the prior is reversed: {lowest:g} is above {highest:g}.")
    if start not in {"positives", "negatives", "tighter"}:
        raise InputError(f"start must be 'positives', 'negatives' or 'tighter'; got {start!r}.")
    if start != "positives" and not counts.n_negative:
        raise InputError(f"start={start!r} needs known negatives, and there are none.")
    steps = counts.steps()
    ways = ["positives", "negatives"] if start == "tighter" else [start]
    found = []
    looked_at = np.unique(np.linspace(lowest, highest, WITHIN))
    for way in ways:
        make = _from_positives if way == "positives" else _from_negatives
        within = tuple(make(counts, steps, one, level, band) for one in looked_at)
        low, high = within[0][0], within[-1][1]
        found.append(Bounds(low, high, (lowest, highest), level, band, way, within))
    return min(found, key=lambda bounds: bounds.roc_auc[1] - bounds.roc_auc[0])


def _from_positives(
    counts: Counts, steps: Steps, prior: float, level: float, band: BandMethod
) -> tuple[BoundTables, BoundTables]:
    hidden, known = round(prior * counts.n_unlabeled), counts.n_labeled
    low, high = rank_band(steps.labeled, known, hidden=hidden, level=level, method=band)
    return (
        _tables(counts, steps, hidden, np.floor(low * hidden + 1e-9)),
        _tables(counts, steps, hidden, np.ceil(high * hidden - 1e-9)),
    )


def _from_negatives(
    counts: Counts, steps: Steps, prior: float, level: float, band: BandMethod
) -> tuple[BoundTables, BoundTables]:
    hidden, known = round(prior * counts.n_unlabeled), counts.n_negative
    others = counts.n_unlabeled - hidden
    low, high = rank_band(steps.negative, known, hidden=others, level=level, method=band)
    # As many negatives above as possible are as few positives there as possible.
    return (
        _tables(counts, steps, hidden, steps.unlabeled - np.ceil(high * others - 1e-9)),
        _tables(counts, steps, hidden, steps.unlabeled - np.floor(low * others + 1e-9)),
    )


def _tables(counts: Counts, steps: Steps, hidden: float, above: Array) -> BoundTables:
    """Put ``above`` of the ``hidden`` unlabeled positives above each rank, as far as possible."""
    head = steps.unlabeled
    tail = counts.n_unlabeled - head
    hits = np.clip(above, np.maximum(hidden - tail, 0), np.minimum(head, hidden))
    true_positive = steps.labeled + hits
    false_positive = steps.negative + head - hits
    return BoundTables(
        steps.threshold,
        true_positive,
        false_positive,
        counts.n_labeled + hidden - true_positive,
        counts.n_negative + counts.n_unlabeled - hidden - false_positive,
    )
