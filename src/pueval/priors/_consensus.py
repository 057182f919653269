"""Consensus: the default estimator, a weighted mean of the most accurate methods."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pueval._checks import check_fraction
from pueval.core.confidence import normal_quantile
from pueval.core.curves import REVERSED_Z_SCORE, auc_z_score, naive_auc
from pueval.counts.counts import Counts
from pueval.errors import InputError
from pueval.priors._dedpul import Dedpul
from pueval.priors._estimation_result import MemberEstimate
from pueval.priors._estimator_bases import PurityPriorEstimator
from pueval.priors._labeled_unlabeled_counts import thin_if_large
from pueval.priors._roc_network import RocNetwork
from pueval.priors._tilt import Tilt
from pueval.sensitivity.feasibility import largest_prior

# With fewer labeled positives than these, the prior is hardly known, or known poorly.
TOO_FEW_LABELED, FEW_LABELED = 10, 50
# AUCs of labeled positives against unlabeled rows: below POOR_AUC the lower end of the interval
# is unreliable, below WEAK_AUC methods may disagree, above SUSPICIOUS_AUC scores may be in-sample.
POOR_AUC, WEAK_AUC, SUSPICIOUS_AUC = 0.6, 0.65, 0.98
# If a larger share of the labeled positives ties at the highest score, only `Tilt` is reliable.
SATURATED_SHARE = 0.5
# Members whose estimates differ by more than this disagree.
DISAGREEMENT = 0.15
# With clean labels, the members other than the network get at most LARGEST_WEIGHT in total, and
# exp(−1) times that if the network's 95% interval is WIDE.
LARGEST_WEIGHT, WIDE = 1 / 3, 0.6
# Weight of `Tilt` if the purity is estimated.
TILT_WEIGHT = 1 / 3
# The network that estimates the purity, among members that assume clean labels.
PURITY_FREE = "roc_network, purity free"
# Factors for the half-widths of the network's interval of the prior, with clean labels and with
# an estimated purity: on its own, the network is too cautious.
INTERVAL_SCALE = {"clean": 0.93, "estimated": 0.85}


class Consensus(PurityPriorEstimator):
    """Prior, or prior and purity, as a weighted mean of several methods.

    Which methods are combined depends on the purity.

    - Clean labels (purity 1): the weighted mean of `RocNetwork` for clean labels, with weight
      1 − t, and of `Tilt` and `RocNetwork` with estimated purity, with weight t/2 each. The weight
      is t = ⅓ exp(−(w/0.6)²), where w is the width of the first network's 95% interval. The less
      the scores reveal, the more the estimate relies on the simulated mixtures that trained the
      network. The network with estimated purity guards against wrong model assumptions. The
      interval is the network's, with half-widths reduced by 7%.
    - Estimated purity: prior and purity are ⅔ `RocNetwork` + ⅓ `Tilt`. The intervals are the
      network's; for the prior, half-widths are reduced by 15%.
    - Known purity below 1: the prior is the mean of `Tilt` and purity × `Dedpul`, since `Dedpul`
      then estimates prior/purity. The interval is that of `Tilt`.

    Weights and factors were chosen on one half of the data sets in ``benchmarks/priors``.

    The estimator assumes random labeling, and scores that negatives hardly ever reach. Without the
    second assumption only an upper bound of the prior is identified: ``prior_upper_``.

    Parameters
    ----------
    purity : float or "estimate", default 1.0
        Share of true positives among the labeled rows, in (0, 1], or ``"estimate"`` to estimate
        it together with the prior.
    level : float, default 0.95
        Confidence level of the intervals, in (0, 1); at most 0.99 if the purity is 1 or estimated.

    Attributes
    ----------
    prior_, purity_ : float
        Estimates; NaN if labeled positives do not score higher than unlabeled rows, because the
        prior is then not identified.
    prior_interval_, purity_interval_ : tuple of float, or None
        Confidence intervals; the second is None unless the purity is estimated.
    prior_upper_ : float
        Largest prior compatible with the data, for any distribution of the scores.
    purity_pvalue_ : float or None
        p-value of the likelihood-ratio test of purity = 1, if the purity is estimated.
    members_ : dict of str to MemberEstimate
        Estimates of the combined methods.
    warnings_ : tuple of str
        Reasons to doubt the estimate.

    References
    ----------
    See `Tilt`, `Dedpul` and `RocNetwork`.

    Examples
    --------
    >>> import numpy as np
    >>> from pueval.priors import Consensus
    >>> rng = np.random.default_rng(0)
    >>> score = np.r_[rng.normal(3, 1, 300), rng.normal(3, 1, 600), rng.normal(0, 1, 1400)]
    >>> estimator = Consensus().fit(score, np.repeat([1, 0], [300, 2000]))
    >>> round(estimator.prior_, 1)
    0.3
    >>> sorted(estimator.members_)
    ['roc_network', 'roc_network, purity free', 'tilt']
    """

    prior_upper_: float
    purity_pvalue_: float | None
    members_: dict[str, MemberEstimate]
    warnings_: tuple[str, ...]

    def _estimate(self, counts: Counts) -> None:
        check_fraction("level", self.level)
        counts = thin_if_large(counts)
        purity: Any = self.purity
        known_purity = None if purity == "estimate" else purity
        auc = naive_auc(counts, counts._roc_corners())
        z_score = auc_z_score(counts, auc)
        if z_score < REVERSED_Z_SCORE:
            raise InputError(
                f"labeled positives score lower than unlabeled rows (AUC {auc:.3f}). A higher "
                "score must mean more likely positive. Negate the scores, or check the labels."
            )
        self.purity_pvalue_ = None
        self.members_ = self._fit_members(counts, known_purity)
        self.prior_upper_ = largest_prior(
            counts, purity=1.0 if known_purity is None else known_purity, level=self.level
        ).prior
        if z_score < 1.645:
            self._set_unidentified(counts, auc)
            return
        self._combine(counts, known_purity)
        self._note(*_diagnose(counts, auc, self.members_, purity_estimated=known_purity is None))

    def _fit_members(self, counts: Counts, known_purity: float | None) -> dict[str, MemberEstimate]:
        tilt = Tilt(purity=self.purity, level=self.level).fit_without_warning(counts)
        self.purity_pvalue_ = tilt.purity_pvalue_
        members = {"tilt": MemberEstimate.from_fitted(tilt)}
        if known_purity is None:
            members["roc_network"] = _fit_network(counts, "estimate", self.level)
        elif known_purity == 1:
            members["roc_network"] = _fit_network(counts, 1.0, self.level)
            members[PURITY_FREE] = _fit_network(counts, "estimate", self.level)
        else:
            ratio = Dedpul().fit_without_warning(counts).prior_
            members["dedpul"] = MemberEstimate(known_purity * ratio, known_purity)
        return members

    def _combine(self, counts: Counts, known_purity: float | None) -> None:
        tilt = self.members_["tilt"]
        interval = tilt.prior_interval
        if known_purity is None:
            network = self.members_["roc_network"]
            prior = _weighted_mean(network.prior, tilt.prior, TILT_WEIGHT)
            self.purity_ = _weighted_mean(network.purity, tilt.purity, TILT_WEIGHT)
            self.purity_interval_ = _include(self.purity_, network.purity_interval)
            interval = _scale_interval(network, INTERVAL_SCALE["estimated"])
        elif known_purity == 1:
            network, purity_free = self.members_["roc_network"], self.members_[PURITY_FREE]
            # The estimate must not depend on the confidence level.
            at_95 = network if self.level == 0.95 else _fit_network(counts, 1.0, 0.95)
            others = (tilt.prior + purity_free.prior) / 2
            prior = _weighted_mean(network.prior, others, _weight_of_others(at_95))
            interval = _scale_interval(network, INTERVAL_SCALE["clean"])
            if tied_at_highest_score(counts) > SATURATED_SHARE:
                # Ties make the start of the ROC curve a straight line, which misleads the networks.
                prior, interval = tilt.prior, tilt.prior_interval
        else:
            prior = _weighted_mean(tilt.prior, self.members_["dedpul"].prior, 0.5)
        if known_purity is not None:
            self.purity_ = known_purity
        self.prior_ = min(prior, float(np.nextafter(self.purity_, 0)))
        interval = _include(self.prior_, interval)
        n_unlabeled = counts._samples[1].effective_size
        self.prior_interval_ = _add_sampling_error(self.prior_, interval, n_unlabeled, self.level)

    def _set_unidentified(self, counts: Counts, auc: float) -> None:
        self.prior_ = math.nan
        self.prior_interval_ = (0.0, self.prior_upper_)
        if self.purity == "estimate":
            self.purity_ = math.nan
            self.purity_interval_ = (0.0, 1.0)
        reason = f"the scores do not separate labeled from unlabeled rows (AUC {auc:.3f})"
        remedy = "Use a better classifier"
        if auc > WEAK_AUC:
            few = f"so few labeled rows ({counts.effective_sizes[0]:.0f})"
            reason = f"the AUC of {auc:.3f} may be due to chance with {few}"
            remedy = "Label more rows"
        self._note(
            f"{reason}, so the prior is not identified: any value from 0 to "
            f"{self.prior_upper_:.3g} is possible. {remedy}, or give the prior."
        )


def _fit_network(counts: Counts, purity: Any, level: float) -> MemberEstimate:
    # Without the network's warnings: `_diagnose` speaks for all members.
    network = RocNetwork(purity=purity, level=level).fit_without_warning(counts)
    return MemberEstimate.from_fitted(network)


def tied_at_highest_score(counts: Counts) -> float:
    """Return the share of the labeled positives that tie at their highest score."""
    return float(counts.labeled[counts.labeled > 0][0] / counts.n_labeled)


def _weighted_mean(first: float, second: float, weight: float) -> float:
    """Return the mean of two values, the second with this weight."""
    return (1 - weight) * first + weight * second


def _weight_of_others(network: MemberEstimate) -> float:
    """Return the weight of the members other than the network; it falls with the interval width."""
    low, high = network.prior_interval or (0.0, 1.0)
    return LARGEST_WEIGHT * math.exp(-(((high - low) / WIDE) ** 2))


def _scale_interval(network: MemberEstimate, factor: float) -> tuple[float, float]:
    """Multiply both half-widths of the prior's interval by a factor."""
    low, high = (
        _weighted_mean(network.prior, end, factor) for end in network.prior_interval or (0.0, 1.0)
    )
    return low, high


def _include(value: float, interval: tuple[float, float] | None) -> tuple[float, float]:
    """Extend an interval to include the estimate, which may come from other members."""
    low, high = interval or (0.0, 1.0)
    return min(low, value), max(high, value)


def _add_sampling_error(
    prior: float, interval: tuple[float, float], n_unlabeled: float, level: float
) -> tuple[float, float]:
    """Widen an interval by the binomial error of the number of unlabeled positives.

    The members' intervals are for the share of positives among these unlabeled rows. The prior is
    the share in the population they come from.
    """
    share = min(max(prior, 1 / n_unlabeled), 1 - 1 / n_unlabeled)
    sampling = normal_quantile(level) * math.sqrt(share * (1 - share) / n_unlabeled)
    low, high = interval
    return (
        max(prior - math.hypot(prior - low, sampling), 0.0),
        min(prior + math.hypot(high - prior, sampling), 1.0),
    )


def _diagnose(
    counts: Counts, auc: float, members: dict[str, MemberEstimate], *, purity_estimated: bool
) -> list[str]:
    """Return the reasons to doubt the estimate, as sentences."""
    warnings = []
    n_labeled = counts.effective_sizes[0]
    if n_labeled < TOO_FEW_LABELED:
        warnings.append(
            f"{n_labeled:.0f} labeled rows are too few to estimate the prior. Label at least "
            f"{FEW_LABELED}."
        )
    if auc > SUSPICIOUS_AUC:
        warnings.append(
            f"almost all labeled positives score above the unlabeled rows (AUC {auc:.3f}). Either "
            "there are hardly any positives among the unlabeled rows, or these are in-sample "
            "scores. If the classifier was trained on these rows, use out-of-fold scores: see "
            "pueval.model_selection.evaluate_cv or scikit-learn's cross_val_predict."
        )
    tied = tied_at_highest_score(counts)
    if tied > SATURATED_SHARE:
        warnings.append(
            f"{100 * tied:.0f}% of the labeled positives have the same highest score. Positives "
            "and negatives with that score cannot be told apart, so the prior is known poorly. "
            "Use scores that are not rounded or saturated, such as log-odds, or give the prior."
        )
    if auc < POOR_AUC:
        warnings.append(
            f"the scores hardly separate labeled from unlabeled rows (AUC {auc:.3f}). The "
            "estimated prior and the lower end of its interval are then too high; only the upper "
            "end is reliable."
        )
    for name in ("prior", "purity") if purity_estimated else ("prior",):
        estimates = [getattr(member, name) for member in members.values()]
        if max(estimates) - min(estimates) <= DISAGREEMENT:
            continue
        if n_labeled < FEW_LABELED:
            reason = f"there are only {n_labeled:.0f} labeled rows"
        elif auc < WEAK_AUC:
            reason = f"the scores separate labeled from unlabeled rows only weakly (AUC {auc:.3f})"
        else:
            reason = (
                "labeling may not be random, or negatives may reach every score that positives "
                "have (a reducible mixture)"
            )
        warnings.append(
            f"the estimates of the {name} disagree ({min(estimates):.3g} to "
            f"{max(estimates):.3g}): {reason}."
        )
    return warnings
