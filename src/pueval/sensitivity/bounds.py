"""Bounds on contingency tables, ROC and precision-recall curves from the rank distribution.

Claesen et al. (2015) do not assume that unlabeled positives are ranked exactly like labeled ones.
They only assume that the rank distribution of the unlabeled positives lies within a confidence
band around that of the labeled positives. Tables that put as many, or as few, unlabeled positives
above a rank as the band allows bound the true table, and so do their curves and areas.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import scipy

from pueval._checks import check_choice, check_fraction
from pueval._typing import Array
from pueval.core.mixture import Mixture
from pueval.core.sizes import divide_or_zero
from pueval.counts.counts import Counts
from pueval.errors import InputError
from pueval.samples.steps import Steps
from pueval.sensitivity.feasibility import proportion_lower_bound, proportion_upper_bound
from pueval.text.numbers import format_interval, format_level, format_number
from pueval.text.results import Result, plain_data

BandMethod = Literal["bootstrap", "clopper-pearson", "dkw"]
Reference = Literal["positives", "negatives", "tighter"]
# Priors of a prior interval at which bounds are computed, ends included.
PRIORS = 5


@dataclass(frozen=True, eq=False, repr=False)
class BoundTables(Result):
    """Contingency tables at every threshold that bound the true tables from one side.

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
        return np.asarray(self.true_positive / (self.true_positive + self.false_negative))

    @property
    def fpr(self) -> Array:
        """False positive rate."""
        return np.asarray(self.false_positive / (self.false_positive + self.true_negative))

    @property
    def precision(self) -> Array:
        """Precision; 1 where nothing is predicted positive."""
        predicted = self.true_positive + self.false_positive
        return np.where(predicted > 0, divide_or_zero(self.true_positive, predicted), 1.0)

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

    def _headline(self) -> str:
        areas = f"ROC AUC {format_number(self.roc_auc)}"
        areas += f", average precision {format_number(self.average_precision)}"
        return f"Contingency tables at {self.threshold.size:,} thresholds: {areas}"


@dataclass(frozen=True, eq=False, repr=False)
class Bounds(Result):
    """Bounds on the performance of a ranking; made by `claesen_bounds`.

    Attributes
    ----------
    low, high : BoundTables
        Tables with the largest and the smallest possible false positive rate. Their curves lie
        below and above the true ones.
    prior : tuple of float
        Priors used for ``low`` and ``high``.
    level : float
        Confidence level of the band.
    band : {"bootstrap", "clopper-pearson", "dkw"}
        Method of the band.
    reference : {"positives", "negatives"}
        Rows whose rank distribution was used: labeled positives or known negatives.
    by_prior : tuple of tuple of BoundTables
        Low and high tables for each of several priors of the interval, ends included.
    """

    low: BoundTables
    high: BoundTables
    prior: tuple[float, float]
    level: float
    band: str
    reference: str
    by_prior: tuple[tuple[BoundTables, BoundTables], ...]

    @property
    def roc_auc(self) -> tuple[float, float]:
        """Bounds on the area under the ROC curve over all priors of the interval."""
        lows, highs = zip(*self.by_prior, strict=True)
        return min(low.roc_auc for low in lows), max(high.roc_auc for high in highs)

    @property
    def average_precision(self) -> tuple[float, float]:
        """Bounds on the area under the precision-recall curve over all priors of the interval."""
        lows, highs = zip(*self.by_prior, strict=True)
        lowest = min(low.average_precision for low in lows)
        return lowest, max(high.average_precision for high in highs)

    def to_dict(self) -> dict[str, Any]:
        """Return everything but ``by_prior`` as plain numbers, lists and text, ready for JSON.

        Returns
        -------
        dict
            With the bounds of both areas; infinite thresholds are None.
        """
        names = ("prior", "level", "band", "reference", "roc_auc", "average_precision")
        return {name: plain_data(getattr(self, name)) for name in (*names, "low", "high")}

    def _headline(self) -> str:
        prior = f"{self.prior[0]:.3g}"
        if self.prior[0] < self.prior[1]:
            prior += f" to {self.prior[1]:.3g}"
        return (
            f"Bounds for prior {prior} ({format_level(self.level)} {self.band} band): "
            f"ROC AUC {format_interval(*self.roc_auc)}, "
            f"average precision {format_interval(*self.average_precision)}"
        )

    def _columns(self) -> dict[str, Array]:
        columns = {"threshold": self.low.threshold}
        for name in ("tpr", "fpr", "precision"):
            # The tables of the lower bounds have the larger false positive rate.
            low, high = (self.high, self.low) if name == "fpr" else (self.low, self.high)
            columns |= {f"{name}_low": getattr(low, name), f"{name}_high": getattr(high, name)}
        return columns


def rank_band(
    above: Array, total: float, *, hidden: float, level: float, method: BandMethod
) -> tuple[Array, Array]:
    """Compute a confidence band of the share of rows at or above thresholds.

    Parameters
    ----------
    above : ndarray
        Number of rows that score at or above each threshold.
    total : float
        Number of rows.
    hidden : float
        Number of other rows with the same rank distribution, which the band is for.
    level : float
        Confidence level.
    method : {"bootstrap", "clopper-pearson", "dkw"}
        ``"bootstrap"``: pointwise quantiles of the share in resampled rows, as in the paper. At
        one threshold that share is binomial, so its quantiles are computed without resampling.
        ``"clopper-pearson"``: exact pointwise intervals. ``"dkw"``: a simultaneous band for all
        thresholds (Dvoretzky, Kiefer and Wolfowitz). The first two cover the distribution that
        the rows come from. The last one also covers the sampling error of the hidden rows, by
        1/total + 1/hidden in place of 1/total.

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
    check_choice("band", method, get_args(BandMethod))
    # Thresholds with the same number of rows have the same band, and quantiles are slow.
    above, place = np.unique(above, return_inverse=True)
    share, tail = above / total, (1 - level) / 2
    if method == "dkw":
        inverse_size = 1 / total + (1 / hidden if hidden else 0)
        half_width = math.sqrt(math.log(2 / (1 - level)) / 2 * inverse_size)
        low, high = share - half_width, share + half_width
    elif method == "clopper-pearson":
        low = proportion_lower_bound(above, total, tail)
        high = proportion_upper_bound(above, total, tail)
    else:
        low, high = (_binomial_quantile(q, total, share) / total for q in (tail, 1 - tail))
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
    reference: Reference = "positives",
) -> Bounds:
    """Bound contingency tables, curves and areas.

    Consider a rank with h unlabeled rows above it and t below. Let P = prior·n_U be the number of
    unlabeled positives. The greatest lower bound of the false positive rate puts ⌈T·P⌉ of them
    above the rank, where T is the upper end of the band, but at most h and at least P − t. The
    least upper bound puts ⌊T·P⌋ there, where T is the lower end. Labeled rows and known negatives
    count as they are.

    If the prior is an interval, the lower tables use its lower end and the upper tables its upper
    end (lemma 4). The lemma assumes that, at every rank, more positives than negatives may lie
    above it, which the band need not allow. Areas are therefore the extremes over five priors of
    the interval, ends included.

    The bands "bootstrap" and "clopper-pearson" bound each table separately, for the distribution
    that the rows come from. "dkw" bounds all tables of these rows simultaneously. "bootstrap" is
    the band of the paper. It has zero width beyond the last labeled row. With few labeled rows, or
    with classes that separate well, its coverage is too low.

    Parameters
    ----------
    counts : Counts
        The data, with clean labels and integer counts.
    prior : float or tuple of float
        Share of positives among the unlabeled rows, or an interval that contains it.
    level : float, default 0.95
        Confidence level of the band of the rank distribution.
    band : {"bootstrap", "clopper-pearson", "dkw"}
        Method of the band; see above.
    reference : {"positives", "negatives", "tighter"}
        Rows whose rank distribution is used: labeled positives, known negatives (appendix C), or
        whichever of the two gives tighter bounds on the AUC.

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
        raise InputError("there are no unlabeled rows, so there is nothing to bound.")
    if not counts._has_integer_counts:
        raise InputError("bounds count rows, but these rows have float weights. Omit the weights.")
    check_fraction("level", level)
    lowest, highest = prior if isinstance(prior, tuple) else (prior, prior)
    for end in (lowest, highest):
        Mixture(end)
    if lowest > highest:
        raise InputError(
            f"the prior interval is reversed: {lowest:g} is above {highest:g}. Pass (low, high)."
        )
    check_choice("reference", reference, get_args(Reference))
    if reference != "positives" and not counts.n_negative:
        raise InputError(
            f"reference={reference!r} needs known negatives, but there are none. "
            "Use reference='positives'."
        )
    steps = counts.steps()
    priors = np.unique(np.linspace(lowest, highest, PRIORS))
    candidates = []
    for rows in ("positives", "negatives") if reference == "tighter" else (reference,):
        by_prior = tuple(
            _bound_by_ranks(counts, steps, rows, value, level, band) for value in priors
        )
        low, high = by_prior[0][0], by_prior[-1][1]
        candidates.append(Bounds(low, high, (lowest, highest), level, band, rows, by_prior))
    return min(candidates, key=lambda bounds: bounds.roc_auc[1] - bounds.roc_auc[0])


def _bound_by_ranks(
    counts: Counts, steps: Steps, reference: str, prior: float, level: float, band: BandMethod
) -> tuple[BoundTables, BoundTables]:
    """Bound the tables for one prior by the rank distribution of one kind of rows."""
    hidden = n_same_class = round(prior * counts.n_unlabeled)  # unlabeled positives
    above, total = steps.labeled, counts.n_labeled
    if reference == "negatives":
        n_same_class = round(counts.n_unlabeled - hidden)
        above, total = steps.negative, counts.n_negative
    low, high = rank_band(above, total, hidden=n_same_class, level=level, method=band)
    least, most = np.floor(low * n_same_class + 1e-9), np.ceil(high * n_same_class - 1e-9)
    if reference == "negatives":
        # The most negatives above a rank leave the fewest positives there.
        least, most = steps.unlabeled - most, steps.unlabeled - least
    return _bound_tables(counts, steps, hidden, least), _bound_tables(counts, steps, hidden, most)


def _bound_tables(counts: Counts, steps: Steps, hidden: float, above: Array) -> BoundTables:
    """Put ``above`` of the ``hidden`` unlabeled positives above each rank, as far as possible."""
    unlabeled_below = counts.n_unlabeled - steps.unlabeled
    hits = np.clip(
        above, np.maximum(hidden - unlabeled_below, 0), np.minimum(steps.unlabeled, hidden)
    )
    true_positive = steps.labeled + hits
    false_positive = steps.negative + steps.unlabeled - hits
    return BoundTables(
        steps.threshold,
        true_positive,
        false_positive,
        counts.n_labeled + hidden - true_positive,
        counts.n_negative + counts.n_unlabeled - hidden - false_positive,
    )
