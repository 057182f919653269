"""Which priors a ranking allows.

Take any set of scores, for example all scores above a threshold. Let g be its share of the labeled
rows and h its share of the unlabeled rows. Neither positives nor negatives can have a negative
share, so h ≥ prior/purity · g and g ≥ (1 − purity)/(1 − prior) · h. Confidence bounds on both
shares turn this into the largest prior that the data allow. No assumption about the distribution
of the scores is needed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy

from pueval._checks import check_counts, check_fraction
from pueval._typing import Array
from pueval.core.cluster_table import reduced_counts
from pueval.core.confidence import clopper_pearson_lower, clopper_pearson_upper
from pueval.core.mixture import Mixture
from pueval.counts.counts import Counts
from pueval.errors import Contradiction, InputError
from pueval.text.numbers import format_level, format_number, format_threshold
from pueval.text.results import Result

# Confidence level of messages and of the bounds of a report.
LEVEL = 0.95


@dataclass(frozen=True, repr=False)
class LargestPrior(Result):
    """The largest prior that a ranking allows, and the scores that rule out a larger one.

    Attributes
    ----------
    prior : float
        Upper confidence bound on the prior; 0 if no prior fits the purity.
    threshold : float
        Score that delimits the set of rows that rules out a larger prior.
    side : {"at or above", "at or below", "above", "below"}
        Side of the threshold on which that set lies.
    labeled_share, background_share : float
        Observed shares of the labeled and of the background rows in that set.
    possible : bool
        Whether any prior fits, if only 0.
    """

    prior: float
    threshold: float
    side: str
    labeled_share: float
    background_share: float
    possible: bool = True

    def allows(self, prior: float) -> bool:
        """Return whether the ranking allows a prior.

        Parameters
        ----------
        prior : float
            Share of positives among the unlabeled rows.

        Returns
        -------
        bool
        """
        return self.possible and prior <= self.prior

    def _headline(self) -> str:
        largest = (
            f"Largest prior: {format_number(self.prior)}" if self.possible else "No prior fits"
        )
        return f"{largest}. {self._evidence()}."

    def _evidence(self) -> str:
        """Name the scores that rule out a larger prior."""
        return (
            f"{100 * self.labeled_share:.3g}% of the labeled but "
            f"{100 * self.background_share:.3g}% of the background rows score {self.side} "
            f"{format_threshold(self.threshold)}"
        )


@dataclass(frozen=True)
class _TailShares:
    """Shares of labeled and background rows beyond some labeled scores, with confidence bounds."""

    side: str
    threshold: Array
    labeled: Array
    background: Array
    labeled_bound: Array
    background_bound: Array


def largest_prior(counts: Counts, *, purity: float = 1.0, level: float = 0.95) -> LargestPrior:
    """Find the largest prior that the ranking allows.

    Take labeled scores whose rank grows geometrically, from the top and from the bottom. For each,
    divide an exact upper confidence bound on the share of unlabeled rows beyond the score by an
    exact lower bound on the share of labeled rows. The smallest of these ratios, times the purity,
    bounds the prior. A union bound over the scores keeps the error probability below
    ``1 − level``. If the purity is below 1, the inverse ratios also bound
    (1 − purity)/(1 − prior); then ``1 − level`` bounds the error probability of each of the two
    separately.

    Parameters
    ----------
    counts : Counts
        The data.
    purity : float, default 1.0
        Share of true positives among the labeled rows.
    level : float, default 0.95
        Confidence level of the bound.

    Returns
    -------
    LargestPrior

    References
    ----------
    Blanchard, Lee and Scott (2010) for the idea, here with exact bounds for binomial shares and
    order statistics.

    Examples
    --------
    >>> import numpy as np
    >>> from pueval import Counts
    >>> y = np.repeat([1, 0], [100, 400])
    >>> score = np.r_[np.ones(100), np.ones(80), np.zeros(320)]    # 20% of the unlabeled
    >>> largest_prior(Counts.from_arrays(y, score))
    Largest prior: 0.289. 100% of the labeled but 20% of the background rows score at or above 1.
    """
    check_counts(counts)
    counts._check_nonempty()
    counts._refuse_propensities("the largest prior")
    if counts._clusters is not None:
        counts = reduced_counts(counts)
    Mixture(0.0, purity)
    check_fraction("level", level)
    if not counts.n_unlabeled:
        raise InputError(
            "there are no unlabeled rows, so there is no prior to bound. Check the labels."
        )

    with np.errstate(divide="ignore", over="ignore"):
        candidates = [
            (tail, purity * (tail.background_bound / tail.labeled_bound))
            for tail in _tail_shares(counts, level, background_from_above=True)
        ]
        if purity < 1:
            for tail in _tail_shares(counts, level, background_from_above=False):
                ratio = tail.labeled_bound / tail.background_bound
                candidates.append((tail, 1 - (1 - purity) / ratio))
    tail, bounds = min(candidates, key=lambda candidate: np.nanmin(candidate[1]))
    index = int(np.nanargmin(bounds))
    background_prior = float(bounds[index])
    dilution = (counts.n_unlabeled + counts.n_negative) / counts.n_unlabeled
    return LargestPrior(
        min(max(background_prior * dilution, 0.0), 1.0),
        float(tail.threshold[index]),
        tail.side,
        float(tail.labeled[index]),
        float(tail.background[index]),
        background_prior >= 0,
    )


def _tail_shares(
    counts: Counts, level: float, *, background_from_above: bool
) -> tuple[_TailShares, _TailShares]:
    """Compute shares beyond labeled scores, from the top and from the bottom.

    With ``background_from_above``, the background shares get upper and the labeled shares lower
    bounds, for scores at or beyond the threshold. Otherwise it is the reverse, for scores
    strictly beyond.
    """
    score, cumulative = counts._cumulative_labeled
    # Ranks 1, √2, 2, … of labeled rows, in units of the effective number of rows.
    total, (n_labeled, n_background) = counts.n_labeled, counts.effective_sizes
    ranks = 2 ** np.arange(0, np.log2(max(n_labeled, 1)) + 1e-9, 0.5)
    ranks = np.unique(np.r_[ranks[ranks < n_labeled], n_labeled])
    error = (1 - level) / (4 * ranks.size)
    background_total = counts.n_unlabeled + counts.n_negative
    # The share beyond the k-th order statistic is Beta(k, n − k + 1), whatever the scores.
    labeled_bound = scipy.special.betaincinv(
        ranks, n_labeled - ranks + 1, error if background_from_above else 1 - error
    )

    def beyond(*, from_top: bool) -> _TailShares:
        # The k-th labeled row from this end has the first score at which k rows are reached.
        rows = ranks / n_labeled * total * (1 - 1e-12)
        if from_top:
            index = np.searchsorted(cumulative, rows)
        else:
            index = np.searchsorted(cumulative[:-1], total * (1 + 1e-12) - rows, side="right")
        threshold = score[index]
        labeled_above = np.where(index > 0, cumulative[index - 1], 0)
        above, at_or_above = counts._cumulative_background(threshold)
        # Bounded from above, the shares include the rows at the threshold itself.
        with_ties_above = from_top == background_from_above
        inside = at_or_above if with_ties_above else above
        labeled = cumulative[index] if with_ties_above else labeled_above
        if not from_top:
            inside, labeled = background_total - inside, total - labeled
        share = inside / background_total
        bound = clopper_pearson_upper if background_from_above else clopper_pearson_lower
        background_bound = bound(share * n_background, n_background, error)
        end = "above" if from_top else "below"
        side = f"at or {end}" if background_from_above else end
        return _TailShares(side, threshold, labeled / total, share, labeled_bound, background_bound)

    return beyond(from_top=True), beyond(from_top=False)


@dataclass(frozen=True)
class ShareRatioBounds:
    """Two ratios from which the largest prior follows for any purity.

    `largest_prior` is the smaller of purity·``other_to_labeled`` and
    1 − (1 − purity)/``labeled_to_other``, times (n_U + n_N)/n_U if there are known negatives.

    Attributes
    ----------
    other_to_labeled, labeled_to_other : float
        Smallest ratios of the shares of background and labeled rows beyond a score, with an upper
        confidence bound in the numerator and a lower one in the denominator.
    """

    other_to_labeled: float
    labeled_to_other: float


def share_ratio_bounds(counts: Counts) -> ShareRatioBounds:
    """Compute the two ratios that say which priors and purities go together."""
    if counts._clusters is not None:
        counts = reduced_counts(counts)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        tails = _tail_shares(counts, LEVEL, background_from_above=True)
        other_to_labeled = min(np.nanmin(t.background_bound / t.labeled_bound) for t in tails)
        tails = _tail_shares(counts, LEVEL, background_from_above=False)
        labeled_to_other = min(np.nanmin(t.labeled_bound / t.background_bound) for t in tails)
    return ShareRatioBounds(float(other_to_labeled), float(labeled_to_other))


def feasibility_pvalue(counts: Counts, *, prior: float, purity: float = 1.0) -> float:
    """Test whether the ranking allows a prior; the inverse of `largest_prior`.

    The p-value is small if, beyond some score, labeled and unlabeled rows differ more than prior
    and purity allow. That contradicts the prior, the purity, or random labeling. As long as the
    prior is known from the same data only, no test can tell whether labeling was random.

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
        Smallest error probability ``1 − level`` at which `largest_prior` excludes the prior. It
        is conservative, because the bound holds at all scores simultaneously.

    Examples
    --------
    >>> import numpy as np
    >>> from pueval import Counts
    >>> y = np.repeat([1, 0], [100, 400])
    >>> score = np.r_[np.ones(100), np.ones(80), np.zeros(320)]    # 20% of the unlabeled
    >>> counts = Counts.from_arrays(y, score)
    >>> feasibility_pvalue(counts, prior=0.2)
    1.0
    >>> feasibility_pvalue(counts, prior=0.4) < 0.001
    True
    """
    Mixture(prior, purity)
    low, high = -30.0, 0.0  # logarithms of error probabilities

    def is_excluded(log_error: float) -> bool:
        level = -np.expm1(log_error)
        return not largest_prior(counts, purity=purity, level=level).allows(prior)

    if not is_excluded(np.log1p(-1e-6)):
        return 1.0
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (low, middle) if is_excluded(middle) else (middle, high)
    return float(np.exp(high))


def infeasibility_message(counts: Counts, mixture: Mixture) -> str | None:
    """Explain why the ranking does not allow a prior and purity; None if it does."""
    if not counts.n_unlabeled or (mixture.prior == 0 and mixture.purity == 1):
        return None
    largest = largest_prior(counts, purity=mixture.purity)
    if largest.allows(mixture.prior):
        return None
    if largest.prior == 0:
        bound = f"No prior fits a purity of {mixture.purity:g}"
    else:
        bound = f"The largest prior these data allow is {largest.prior:.3g}"
    remedy = "Lower the prior" if mixture.purity == 1 else "Raise the purity"
    if mixture.prior > 0 and mixture.purity < 1:
        remedy += ", lower the prior"
    return Contradiction(
        f"prior {mixture.prior:g} does not fit this ranking with purity {mixture.purity:g}: "
        f"{largest._evidence()}, a larger difference than chance explains. {bound} "
        f"({format_level(LEVEL)} confidence). {remedy}, or question random labeling. If the "
        "classifier was trained on these rows, use out-of-fold scores "
        "(pueval.model_selection.evaluate_cv)."
    )


def region_infeasibility_message(counts: Counts, best: Mixture, worst: Mixture) -> str | None:
    """Explain which priors and purities of given intervals the ranking excludes; None if none.

    A higher purity allows a larger prior. So the smallest prior with the largest purity fits
    ``best``, and the largest prior with the smallest purity fits ``worst``.
    """
    message = infeasibility_message(counts, best)
    if message is not None:
        return Contradiction(f"no prior and purity within the given intervals fit: {message}")
    if not counts.n_unlabeled:
        return None
    largest = largest_prior(counts, purity=worst.purity)
    if largest.allows(worst.prior):
        return None
    confidence = f"({format_level(LEVEL)} confidence)"
    if not largest.possible:
        return (
            f"no prior fits a purity of {worst.purity:g} {confidence}, the lower end of the given "
            "purity interval. Intervals of measures cover the whole interval; raise its lower end "
            "to narrow them."
        )
    with_purity = "" if worst.purity == 1 else f" with purity {worst.purity:g}"
    return (
        f"priors above {largest.prior:.3g} do not fit this ranking{with_purity} {confidence}, but "
        f"the given intervals extend to a prior of {worst.prior:.4g}. Intervals of measures cover "
        "all of it; narrow what you give to narrow them."
    )
