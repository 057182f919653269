"""Consensus: the default estimator, a mean of several methods with learned weights."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pueval._checks import check_fraction
from pueval._typing import Array
from pueval.core.confidence import normal_quantile
from pueval.core.curves import REVERSED_Z_SCORE, auc_z_score, naive_auc
from pueval.counts.counts import Counts
from pueval.errors import Contradiction, InputError
from pueval.priors._best_bin import BestBin
from pueval.priors._dedpul import Dedpul
from pueval.priors._estimation_result import MemberEstimate
from pueval.priors._estimator_bases import PurityPriorEstimator
from pueval.priors._labeled_unlabeled_counts import LabeledUnlabeledCounts, thin_if_large
from pueval.priors._networks import LEVELS, combine, consensus_inputs, load_ensemble
from pueval.priors._roc_features import lowest_scores_ratio, roc_features
from pueval.priors._roc_network import RocNetwork
from pueval.priors._tilt import Tilt
from pueval.sensitivity.feasibility import largest_prior

# With fewer labeled positives than these, the prior is hardly known, or known poorly.
TOO_FEW_LABELED, FEW_LABELED = 10, 50
# AUCs of labeled positives against unlabeled rows: below WEAK_AUC methods may disagree, above
# SUSPICIOUS_AUC scores may be in-sample.
WEAK_AUC, SUSPICIOUS_AUC = 0.65, 0.98
# Scores are most likely in-sample if fewer positives than this can be unlabeled, per labeled row.
IN_SAMPLE_RATIO = 0.1
# The prior is not identified if the AUC is below POOR_AUC and labeled positives occur even at the
# lowest scores, at least POOR_RATIO times as often as unlabeled rows.
POOR_AUC, POOR_RATIO = 0.6, 0.4
# If a larger share of the labeled positives ties at the highest score, only `Tilt` is reliable.
SATURATED_SHARE = 0.5
# Members whose estimates differ by more than this disagree.
DISAGREEMENT = 0.15
# Members with at least this weight must not disagree.
NOTABLE_WEIGHT = 0.1
# With clean labels, the weight of `RocNetwork` is multiplied by a factor that falls from
# FEW_LABELS_FACTOR to 1 as the number of labeled positives exceeds MANY_LABELED. From there on, the
# interval reaches the upper confidence limit of `BestBin`, which converges from above.
FEW_LABELS_FACTOR, MANY_LABELED = 5.0, 1_000
# With fewer labels, upper half-widths are multiplied by this, for populations with a few easy and
# many hard positives, whose prior is underestimated.
UPPER_FACTOR = 1.2


class Consensus(PurityPriorEstimator):
    """Prior, or prior and purity, as a weighted mean of several methods.

    Which methods are combined depends on the purity.

    - Clean labels (purity 1): `Tilt`, `Dedpul`, `BestBin` and `RocNetwork`.
    - Estimated purity: `Tilt` and `RocNetwork`, with separate weights for prior and purity.
    - Known purity below 1: the mean of `Tilt` and purity × `Dedpul`, since `Dedpul` then estimates
      prior/purity. The interval is that of `Tilt`, extended to both estimates.

    In the first two cases, a network predicts the weights from features of the ROC curve with their
    standard errors, the sample sizes, the members' estimates and the interval of `Tilt`. So each
    method counts for what it is good at: the network for few rows, the methods that converge for
    many. The same network predicts the interval. It was trained on simulated mixtures with 20 to
    200,000 labeled and 100 to a million unlabeled rows, and its intervals were calibrated on
    held-out mixtures (conformal calibration). With clean labels and few rows, the weight of
    `RocNetwork` is multiplied by up to 5, because real scores resemble the plain mixtures that it
    was trained on. Intervals reach all members; `BestBin`, which converges from above, only from
    1,000 labeled positives on, and then its upper confidence limit. The training script is
    ``benchmarks/priors/train_networks.py``.

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
    weights_ : dict of str to float
        Weights of the methods in the estimate of the prior.
    warnings_ : tuple of str
        Reasons to doubt the estimate.

    References
    ----------
    See `Tilt`, `Dedpul`, `BestBin` and `RocNetwork`.

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
    ['best_bin', 'dedpul', 'roc_network', 'tilt']
    """

    prior_upper_: float
    purity_pvalue_: float | None
    members_: dict[str, MemberEstimate]
    weights_: dict[str, float]
    warnings_: tuple[str, ...]

    def _estimate(self, counts: Counts) -> None:
        check_fraction("level", self.level)
        counts = thin_if_large(counts)
        purity: Any = self.purity
        known_purity = None if purity == "estimate" else purity
        if known_purity in (None, 1) and self.level > LEVELS[-1]:
            raise InputError(f"level must be a number in (0, {LEVELS[-1]}]; got {self.level!r}.")
        auc = naive_auc(counts, counts._roc_corners())
        z_score = auc_z_score(counts, auc)
        if z_score < REVERSED_Z_SCORE:
            raise InputError(
                f"labeled positives score lower than unlabeled rows (AUC {auc:.3f}). A higher "
                "score must mean more likely positive. Negate the scores, or check the labels."
            )
        tilt = Tilt(purity=self.purity, level=self.level).fit_without_warning(counts)
        self.purity_pvalue_ = tilt.purity_pvalue_
        self.prior_upper_ = largest_prior(
            counts, purity=1.0 if known_purity is None else known_purity, level=self.level
        ).prior
        features = roc_features(*LabeledUnlabeledCounts.from_counts(counts).effective_counts())
        if known_purity in (None, 1):
            self._combine_by_network(counts, tilt, features)
        else:
            self._combine_with_known_purity(counts, tilt, known_purity)
        self.prior_ = min(self.prior_, float(np.nextafter(self.purity_, 0)))
        if z_score < 1.645:
            self._set_unidentified(counts, auc)
            return
        notable = {
            name: member
            for name, member in self.members_.items()
            if self.weights_[name] >= NOTABLE_WEIGHT
        }
        nearly_all_labeled = (
            self.prior_upper_ * counts.n_unlabeled < IN_SAMPLE_RATIO * counts.n_labeled
        )
        self._note(
            *_diagnose(
                counts,
                auc,
                notable,
                purity_estimated=known_purity is None,
                nearly_all_labeled=nearly_all_labeled,
            )
        )
        if auc < POOR_AUC and lowest_scores_ratio(features) > POOR_RATIO:
            self.prior_interval_ = (0.0, max(self.prior_upper_, self.prior_))
            self._note(
                f"the scores hardly separate labeled from unlabeled rows (AUC {auc:.3f}), so the "
                f"prior is not identified: any value from 0 to {self.prior_interval_[1]:.3g} is "
                "possible. Use a better classifier, or give the prior."
            )

    def _combine_by_network(self, counts: Counts, tilt: Tilt, features: Array) -> None:
        """Set members, weights, estimates and intervals, with clean labels or estimated purity."""
        clean = self.purity == 1
        fitted: dict[str, Any] = {"tilt": tilt}
        if clean:
            fitted["dedpul"] = Dedpul().fit_without_warning(counts)
            fitted["best_bin"] = BestBin(level=self.level).fit_without_warning(counts)
        network = RocNetwork(purity=self.purity, level=self.level)
        fitted["roc_network"] = network.fit_without_warning(counts)
        self.members_ = {name: MemberEstimate.from_fitted(one) for name, one in fitted.items()}
        # The estimates must not depend on the confidence level.
        at_95 = self.members_["tilt"]
        if self.level != 0.95:
            at_95 = MemberEstimate.from_fitted(Tilt(purity=self.purity).fit_without_warning(counts))
        targets = ("prior",) if clean else ("prior", "purity")
        estimates = [[getattr(one, name) for one in self.members_.values()] for name in targets]
        members, widths = np.array([estimates]), [_half_widths(at_95, name) for name in targets]
        inputs = consensus_inputs(features[None], members, np.array([widths]))
        ensemble = load_ensemble("consensus_pure" if clean else "consensus_both")
        quantiles, weights = combine(ensemble, inputs, members)
        intervals = [quantiles.interval(target, self.level) for target in range(len(targets))]
        if clean:
            n_labeled = counts.effective_sizes[0]
            weights = _favor_network(weights, n_labeled)
            middle = float(quantiles.middle[0, 0])
            if n_labeled >= MANY_LABELED:
                best_bin = fitted["best_bin"]
                high = best_bin.prior_ + normal_quantile(self.level) * best_bin.ratio_error_
            else:
                high = middle + UPPER_FACTOR * (intervals[0][1] - middle)
            intervals[0] = _include(intervals[0], min(high, 1.0))
        self.weights_ = dict(zip(fitted, weights[0, 0].tolist(), strict=True))
        for target, name in enumerate(targets):
            value = float(weights[0, target] @ members[0, target])
            reached = [
                getattr(one, name) for key, one in self.members_.items() if key != "best_bin"
            ]
            setattr(self, f"{name}_", value)
            setattr(self, f"{name}_interval_", _include(intervals[target], value, *reached))
        if clean and tied_at_highest_score(counts) > SATURATED_SHARE:
            # Ties make the start of the ROC curve a straight line, which misleads the networks.
            self.weights_ = {name: float(name == "tilt") for name in fitted}
            self.prior_, self.prior_interval_ = tilt.prior_, tilt.prior_interval_

    def _combine_with_known_purity(self, counts: Counts, tilt: Tilt, purity: float) -> None:
        """Set members, weights, estimate and interval, with a known purity below 1."""
        ratio = Dedpul().fit_without_warning(counts).prior_
        self.members_ = {
            "tilt": MemberEstimate.from_fitted(tilt),
            "dedpul": MemberEstimate(purity * ratio, purity),
        }
        self.weights_ = {"tilt": 0.5, "dedpul": 0.5}
        self.purity_ = purity
        estimates = [member.prior for member in self.members_.values()]
        self.prior_ = sum(estimates) / 2
        self.prior_interval_ = _include(tilt.prior_interval_ or (0.0, 1.0), *estimates)

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


def tied_at_highest_score(counts: Counts) -> float:
    """Return the share of the labeled positives that tie at their highest score."""
    return float(counts.labeled[counts.labeled > 0][0] / counts.n_labeled)


def _half_widths(member: MemberEstimate, name: str) -> tuple[float, float]:
    """Return the distances of the ends of an interval from the estimate."""
    value, (low, high) = getattr(member, name), getattr(member, f"{name}_interval")
    return value - low, high - value


def _favor_network(weights: Array, n_labeled: float) -> Array:
    """Multiply the weight of the last member, `RocNetwork`, if there are few labels."""
    factor = 1 + (FEW_LABELS_FACTOR - 1) / (1 + (n_labeled / MANY_LABELED) ** 2)
    favored = weights * np.append(np.ones(weights.shape[-1] - 1), factor)
    return np.asarray(favored / favored.sum(axis=-1, keepdims=True))


def _include(interval: tuple[float, float], *values: float) -> tuple[float, float]:
    """Extend an interval to some estimates."""
    return min(interval[0], *values), max(interval[1], *values)


def _diagnose(
    counts: Counts,
    auc: float,
    members: dict[str, MemberEstimate],
    *,
    purity_estimated: bool,
    nearly_all_labeled: bool = False,
) -> list[str]:
    """Return the reasons to doubt the estimate, as sentences."""
    warnings: list[str] = []
    n_labeled = counts.effective_sizes[0]
    if n_labeled < TOO_FEW_LABELED:
        warnings.append(
            f"{n_labeled:.0f} labeled rows are too few to estimate the prior. Label at least "
            f"{FEW_LABELED}."
        )
    if auc > SUSPICIOUS_AUC:
        text = (
            f"almost all labeled positives score above the unlabeled rows (AUC {auc:.3f}). Either "
            "there are hardly any positives among the unlabeled rows, or these are in-sample "
            "scores. If the classifier was trained on these rows, use out-of-fold scores: see "
            "pueval.model_selection.evaluate_cv or scikit-learn's cross_val_predict. "
            "Otherwise pass the prior."
        )
        warnings.append(Contradiction(text) if nearly_all_labeled else text)
    tied = tied_at_highest_score(counts)
    if tied > SATURATED_SHARE:
        warnings.append(
            f"{100 * tied:.0f}% of the labeled positives have the same highest score. Positives "
            "and negatives with that score cannot be told apart, so the prior is known poorly. "
            "Use scores that are not rounded or saturated, such as log-odds, or give the prior."
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
