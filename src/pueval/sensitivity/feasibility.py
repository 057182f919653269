"""Which priors a ranking can have at all.

Take any set of scores, for example all above a threshold. Its share among the unlabeled rows is
at least prior/purity times its share among the labeled ones, and its share among the
labeled at least (1 − purity)/(1 − prior) times that among the unlabeled: otherwise negatives or
positives would have a negative share there. Confidence limits for the shares turn this into
a largest prior that the data allow, without any assumption about the shape of the scores.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy

from pueval._checks import check_fraction
from pueval._typing import Array
from pueval.core.mixture import Mixture
from pueval.counts.counts import Counts
from pueval.errors import InputError
from pueval.text.numbers import format_level


@dataclass(frozen=True)
class LargestPrior:
    """The largest prior that a ranking allows, and the threshold that sets it.

    Attributes
    ----------
    prior : float
        Upper confidence limit of the prior; 0 if no prior fits the purity.
    threshold : float
        The score at which labeled and unlabeled rows differ too much for a larger prior.
    side : str
        Whether scores ``"at or above"`` or ``"at or below"``, or strictly ``"above"`` or
        ``"below"`` the threshold do.
    labeled_share, other_share : float
        The observed shares of labeled and of other rows there.
    possible : bool
        Whether at least a prior of 0 fits.
    """

    prior: float
    threshold: float
    side: str
    labeled_share: float
    other_share: float
    possible: bool = True

    def allows(self, prior: float) -> bool:
        """Whether a prior is not above the limit."""
        return self.possible and prior <= self.prior


@dataclass(frozen=True)
class _Side:
    """Shares of labeled and other rows on one side of some labeled scores, with limits."""

    name: str
    threshold: Array
    labeled: Array
    other: Array
    labeled_limit: Array
    other_limit: Array

    def tightest(self, ratio: Array) -> int:
        return int(np.nanargmin(ratio))


def largest_prior(counts: Counts, *, purity: float = 1.0, level: float = 0.95) -> LargestPrior:
    """Find the largest prior that the ranking allows.

    For labeled scores of geometrically growing rank, from both ends, an exact upper confidence
    limit of the share of unlabeled rows beyond the score is divided by an exact lower limit of
    the share of labeled rows. The smallest of these ratios, times the purity, bounds the prior;
    a union bound over the scores keeps the error below ``1 − level``. With purity below 1, the
    ratios the other way round bound (1 − purity)/(1 − prior), too, and only the error of each
    of the two is sure to be below that.

    Parameters
    ----------
    counts : Counts
        The data.
    purity : float, default 1.0
        Share of true positives among the labeled rows.
    level : float, default 0.95
        Confidence level of the limit.

    Returns
    -------
    LargestPrior

    References
    ----------
    Blanchard, Lee and Scott (2010) for the idea, here with exact binomial and order-statistic
    limits.

    Examples
    --------
    >>> import numpy as np
    >>> from pueval import Counts
    >>> y = np.repeat([1, 0], [100, 400])
    >>> score = np.r_[np.ones(100), np.ones(80), np.zeros(320)]    # 20 % of the unlabeled
    >>> round(largest_prior(Counts.from_arrays(y, score)).prior, 2)
    0.29
    """
    counts._check_nonempty()
    counts._refuse_propensities("the largest prior")
    Mixture(0.0, purity)
    check_fraction("level", level)
    if not counts.n_unlabeled:
        raise InputError("there are no unlabeled rows, so there is no prior to bound.")

    best: tuple[float, _Side, int] | None = None
    for side in _sides(counts, level, upper=True):
        ratio = side.other_limit / side.labeled_limit
        best = _lower(best, purity * ratio, side)
    if purity < 1:
        for side in _sides(counts, level, upper=False):
            with np.errstate(divide="ignore"):
                ratio = side.labeled_limit / side.other_limit
            best = _lower(best, 1 - (1 - purity) / ratio, side)
    assert best is not None  # noqa: S101 - there is always a labeled score
    background_prior, side, index = best
    dilution = (counts.n_unlabeled + counts.n_negative) / counts.n_unlabeled
    return LargestPrior(
        min(max(background_prior * dilution, 0.0), 1.0),
        float(side.threshold[index]),
        side.name,
        float(side.labeled[index]),
        float(side.other[index]),
        background_prior >= 0,
    )


def _lower(
    best: tuple[float, _Side, int] | None, limits: Array, side: _Side
) -> tuple[float, _Side, int]:
    index = side.tightest(limits)
    if best is None or limits[index] < best[0]:
        return float(limits[index]), side, index
    return best


def _sides(counts: Counts, level: float, *, upper: bool) -> list[_Side]:
    """Shares beyond labeled scores from the top and from the bottom.

    With ``upper``, upper limits for the other rows and lower ones for the labeled, for scores
    at or beyond the threshold; without, the reverse, for scores strictly beyond.
    """
    score, reached = counts._cumulative_labeled
    # Ranks 1, √2, 2, … of labeled rows, in units of the effective number of rows.
    total, (n_labeled, n_other) = counts.n_labeled, counts.effective_sizes
    grid = 2 ** np.arange(0, np.log2(max(n_labeled, 1)) + 1e-9, 0.5)
    grid = np.unique(np.r_[grid[grid < n_labeled], n_labeled])
    error = (1 - level) / (4 * grid.size)

    sides = []
    for from_top in (True, False):
        # The k-th labeled row from this end: the first score at which k rows are reached.
        rank = grid / n_labeled * total * (1 - 1e-12)
        if from_top:
            index = np.searchsorted(reached, rank)
        else:
            index = np.searchsorted(reached[:-1], total * (1 + 1e-12) - rank, side="right")
        threshold = score[index]
        labeled_above = np.where(index > 0, reached[index - 1], 0)
        above, at_or_above = counts._cumulative_background(threshold)
        others = counts.n_unlabeled + counts.n_negative
        if from_top:
            inside = at_or_above if upper else above
            labeled = reached[index] if upper else labeled_above
        else:
            inside = others - above if upper else others - at_or_above
            labeled = total - (labeled_above if upper else reached[index])
        other = inside / others
        tail = 1 - error if not upper else error
        # The share beyond the k-th order statistic is Beta(k, n − k + 1), whatever the scores.
        labeled_limit = scipy.special.betaincinv(grid, n_labeled - grid + 1, tail)
        successes = other * n_other
        with np.errstate(invalid="ignore"):
            if upper:
                other_limit = scipy.special.betaincinv(
                    successes + 1, n_other - successes, 1 - error
                )
                other_limit = np.where(successes >= n_other, 1.0, other_limit)
            else:
                other_limit = scipy.special.betaincinv(successes, n_other - successes + 1, error)
                other_limit = np.where(successes <= 0, 0.0, other_limit)
        end = "above" if from_top else "below"
        sides.append(
            _Side(
                f"at or {end}" if upper else end,
                threshold,
                labeled / total,
                other,
                labeled_limit,
                other_limit,
            )
        )
    return sides


@dataclass(frozen=True)
class ShareRatioBounds:
    """What limits the prior, whatever the purity is.

    For any purity, `largest_prior` is the smaller of purity·``other_to_labeled`` and
    1 − (1 − purity)/``labeled_to_other`` (times (n_U + n_N)/n_U, if negatives are known).

    Attributes
    ----------
    other_to_labeled, labeled_to_other : float
        Least ratios of shares of other and of labeled rows beyond a score, with an upper
        confidence limit in the numerator and a lower one in the denominator.
    """

    other_to_labeled: float
    labeled_to_other: float


def share_ratio_bounds(counts: Counts, *, level: float = 0.95) -> ShareRatioBounds:
    """Find the two ratios that say which priors and purities go together."""
    with np.errstate(divide="ignore", invalid="ignore"):
        least = [
            min(
                float(np.nanmin(getattr(side, over) / getattr(side, under)))
                for side in _sides(counts, level, upper=upper)
            )
            for over, under, upper in (
                ("other_limit", "labeled_limit", True),
                ("labeled_limit", "other_limit", False),
            )
        ]
    return ShareRatioBounds(*least)


def feasibility_pvalue(counts: Counts, *, prior: float, purity: float = 1.0) -> float:
    """Test whether a ranking can have a prior, by the limits of `largest_prior`.

    Small if more of the labeled than of the unlabeled rows reach some score than prior and
    purity allow. That contradicts the prior, the purity, or the random labeling; as long as the
    prior is only known from the same data, no test can tell whether labeling was random.

    Parameters
    ----------
    counts : Counts
        The data.
    prior : float
        Share of positives among the unlabeled rows.
    purity : float, default 1.0
        Share of true positives among the labeled rows.

    Returns
    -------
    float
        The smallest error level at which the prior is above the limit; conservative, since
        the limit has to hold at all scores together.

    Examples
    --------
    >>> import numpy as np
    >>> from pueval import Counts
    >>> y = np.repeat([1, 0], [100, 400])
    >>> score = np.r_[np.ones(100), np.ones(80), np.zeros(320)]    # 20 % of the unlabeled
    >>> counts = Counts.from_arrays(y, score)
    >>> feasibility_pvalue(counts, prior=0.2)
    1.0
    >>> feasibility_pvalue(counts, prior=0.4) < 0.001
    True
    """
    Mixture(prior, purity)
    low, high = -30.0, 0.0  # logarithms of error levels

    def refused(log_error: float) -> bool:
        level = -np.expm1(log_error)
        return not largest_prior(counts, purity=purity, level=level).allows(prior)

    if not refused(np.log1p(-1e-6)):
        return 1.0
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (low, middle) if refused(middle) else (middle, high)
    return float(np.exp(high))


def infeasibility_message(counts: Counts, mixture: Mixture, level: float = 0.95) -> str | None:
    """Say why a ranking cannot have this prior, or return None if it can."""
    if not counts.n_unlabeled or (mixture.prior == 0 and mixture.purity == 1):
        return None
    limit = largest_prior(counts, purity=mixture.purity, level=level)
    if limit.allows(mixture.prior):
        return None
    return (
        f"prior {mixture.prior:g} does not fit this ranking with purity {mixture.purity:g}: "
        f"{limit.side} the score {limit.threshold:g} are {100 * limit.labeled_share:.3g} % of the "
        f"labeled but {100 * limit.other_share:.3g} % of the other rows, more of a difference than "
        f"chance explains. {_most(limit.prior, mixture.purity)} ({format_level(level)} "
        "confidence). "
        + _less(mixture)
        + ", or doubt that the labels are a random draw from the positives. If the classifier was "
        "trained on these rows, score them out of fold (pueval.model_selection.evaluate_cv)."
    )


def region_infeasibility_message(
    counts: Counts,
    prior: tuple[float, float],
    purity: tuple[float, float],
    level: float = 0.95,
) -> str | None:
    """Say which of the priors and purities within limits a ranking cannot have, or return None.

    The cleaner the labels, the more positives can be hidden: the smallest prior with the largest
    purity fits best, the largest prior with the smallest purity worst.
    """
    found = infeasibility_message(counts, Mixture(prior[0], purity[1]), level)
    if found is not None:
        return f"no prior and purity within the given limits fit: {found}"
    if not counts.n_unlabeled:
        return None
    limit = largest_prior(counts, purity=purity[0], level=level)
    if limit.allows(prior[1]):
        return None
    if not limit.possible:
        return (
            f"no prior fits a purity of {purity[0]:g} ({format_level(level)} confidence), where "
            "the given limits of the purity begin. Limits of the measures allow for all of it; "
            "raise it to make them narrower."
        )
    with_purity = "" if purity[0] == 1 else f" with purity {purity[0]:g}"
    return (
        f"priors above {limit.prior:.3g} do not fit this ranking{with_purity} "
        f"({format_level(level)} confidence), and the given limits of the prior reach to "
        f"{prior[1]:g}. Limits of the measures allow for all of it; lower it to make them narrower."
    )


def _most(prior: float, purity: float) -> str:
    if prior == 0:
        return f"No prior at all fits a purity of {purity:g}"
    return f"The largest prior these data allow is {prior:.3g}"


def _less(mixture: Mixture) -> str:
    if mixture.prior == 0:
        return "Raise the purity"
    return "Raise the purity, lower the prior" if mixture.purity < 1 else "Lower the prior"
