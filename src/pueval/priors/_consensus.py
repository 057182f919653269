"""Consensus: the default estimator, which combines the accurate ones and says what looks wrong."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from pueval._checks import check_fraction
from pueval.core.confidence import normal_quantile
from pueval.core.curves import REVERSED_Z_SCORE, auc_z_score, naive_auc
from pueval.counts.counts import Counts
from pueval.errors import InputError
from pueval.priors._dedpul import Dedpul
from pueval.priors._reduced import moderate
from pueval.priors._roc_network import RocNetwork
from pueval.priors._score_estimator import ScorePriorEstimator
from pueval.priors._tilt import Tilt
from pueval.sensitivity.feasibility import largest_prior

# Fewer labeled rows than this say next to nothing, and fewer than FEW_LABELS not much.
HARDLY_ANY = 10
FEW_LABELS = 50
# An AUC of labeled against unlabeled rows beyond these is suspicious.
WEAK, TOO_GOOD = 0.65, 0.98
# With more of the labeled rows tied at the highest score, only the limits of `Tilt` hold.
SATURATED = 0.5
# Below this the lower limit of an estimate is not to be trusted.
HARDLY_SEPARATED = 0.6
# Members that differ by more than this do not agree.
DISAGREEMENT = 0.15
# With clean labels the members beside the network have at most this weight together, and
# exp(−1) times as much where its 95 % limits are WIDE apart.
MOST_WEIGHT, WIDE = 1 / 3, 0.6
# Weight of Tilt where the purity is estimated.
TILT_WEIGHT = 1 / 3
# The network that estimates the purity, among members that take it as known.
FREE = "roc_network, purity free"
# What the network's distances from the estimate to the limits of the prior are multiplied by, for
# clean labels and for an estimated purity: its own limits were wider than they had to be.
NARROWER = {"clean": 0.93, "both": 0.85}


@dataclass(frozen=True)
class Member:
    """One estimator's answer.

    Attributes
    ----------
    prior, purity : float
        The estimates.
    prior_interval, purity_interval : tuple of float, or None
        Confidence limits, where the estimator has any.
    """

    prior: float
    purity: float
    prior_interval: tuple[float, float] | None = None
    purity_interval: tuple[float, float] | None = None

    @classmethod
    def of(cls, fitted: ScorePriorEstimator) -> Member:
        """Read the answer of a fitted estimator."""
        return cls(fitted.prior_, fitted.purity_, fitted.prior_interval_, fitted.purity_interval_)


class Consensus(ScorePriorEstimator):
    """Prior, or prior and purity, from several estimators that go about it differently.

    With clean labels the prior is a weighted mean of `RocNetwork`, `Tilt`, and `RocNetwork` that
    does not rely on clean labels, which guards against a wrong idea of the densities. The
    first has the weight 1 − t and the others t/2 each, with t = ⅓ exp(−(w/.6)²), where w is
    the width of its 95 % interval: the more the scores leave open, the more the answer is what was
    learned from simulated mixtures. If the purity is estimated too, prior and purity are ⅔
    `RocNetwork` and ⅓ `Tilt`. The limits are those of `RocNetwork`; for the prior they are drawn in
    by 7 % (clean labels) or 15 % (purity estimated). With a known purity below 1, the prior is the
    mean of `Tilt` and of the purity times `Dedpul`, which then estimates prior/purity; the limits
    are those of `Tilt`. Weights and factors were chosen on one half of the data sets of
    ``benchmarks/priors``.

    Assumption: labeled rows are a random draw (see `pueval.evaluate`), and scores exist that
    negatives hardly ever reach; without the latter only an upper limit of the prior can be
    known, which is ``prior_upper_``.

    Parameters
    ----------
    purity : float or "estimate", default 1.0
        Share of true positives among the labeled rows, or ``"estimate"`` to estimate it too.
    level : float, default 0.95
        Level of the intervals.

    Attributes
    ----------
    prior_, purity_ : float
        The estimates; NaN if labeled rows do not score higher than unlabeled ones, so that
        there is nothing to estimate from.
    prior_interval_, purity_interval_ : tuple of float, or None
        Confidence limits.
    prior_upper_ : float
        Largest prior that the data allow, without an assumption about the scores.
    purity_pvalue_ : float or None
        p-value of the likelihood-ratio test of purity = 1, if the purity is estimated.
    members_ : dict of str to Member
        Every member's answer.
    warnings_ : tuple of str
        What looks wrong, in words.

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
    members_: dict[str, Member]
    warnings_: tuple[str, ...]

    def __init__(self, *, purity: float | Literal["estimate"] = 1.0, level: float = 0.95) -> None:
        self.purity = purity
        self.level = level

    def _estimate(self, counts: Counts) -> None:
        check_fraction("level", self.level)
        counts = moderate(counts)
        purity: Any = self.purity
        known = None if purity == "estimate" else purity
        auc = naive_auc(counts, counts._roc_corners())
        sureness = auc_z_score(counts, auc)
        if sureness < REVERSED_Z_SCORE:
            raise InputError(
                f"labeled rows score lower than unlabeled ones (AUC {auc:.3f}). A higher score "
                "must mean more likely positive: negate the scores, or check the labels."
            )
        self.purity_pvalue_ = None
        self.members_ = self._ask(counts, known)
        self.prior_upper_ = largest_prior(
            counts, purity=1.0 if known is None else known, level=self.level
        ).prior
        if sureness < 1.645:
            self._give_up(counts, auc)
            return
        self._combine(counts, known)
        notes = _doubts(counts, auc, [*self.members_.values()], both=known is None)
        self._note(*notes)

    def _ask(self, counts: Counts, known: float | None) -> dict[str, Member]:
        tilt = Tilt(purity=self.purity, level=self.level).fit_without_warning(counts)
        self.purity_pvalue_ = tilt.purity_pvalue_
        members = {"tilt": Member.of(tilt)}
        if known is None:
            members["roc_network"] = self._network(counts, "estimate")
        elif known == 1:
            members["roc_network"] = self._network(counts, 1.0)
            members[FREE] = self._network(counts, "estimate")
        else:
            members["dedpul"] = Member(known * Dedpul().fit_without_warning(counts).prior_, known)
        return members

    def _network(self, counts: Counts, purity: Any, *, level: float | None = None) -> Member:
        network = RocNetwork(purity=purity, level=self.level if level is None else level)
        # What there is to say is said once, for all members.
        return Member.of(network.fit_without_warning(counts))

    def _combine(self, counts: Counts, known: float | None) -> None:
        tilt = self.members_["tilt"]
        limits = tilt.prior_interval
        if known is None:
            network = self.members_["roc_network"]
            prior = _between(network.prior, tilt.prior, TILT_WEIGHT)
            self.purity_ = _between(network.purity, tilt.purity, TILT_WEIGHT)
            self.purity_interval_ = _holding(self.purity_, network.purity_interval)
            limits = _drawn_in(network, NARROWER["both"])
        elif known == 1:
            network, free = (self.members_[name] for name in ("roc_network", FREE))
            # The estimate must not depend on the level of its limits.
            usual = network if self.level == 0.95 else self._network(counts, 1.0, level=0.95)
            share = _share_of_others(usual)
            prior = _between(network.prior, (tilt.prior + free.prior) / 2, share)
            limits = _drawn_in(network, NARROWER["clean"])
            if tied_at_the_top(counts) > SATURATED:
                # The networks take the start of the ROC curve for a line, which it then is.
                prior, limits = tilt.prior, tilt.prior_interval
        else:
            prior = _between(tilt.prior, self.members_["dedpul"].prior, 0.5)
        if known is not None:
            self.purity_ = known
        self.prior_ = min(prior, float(np.nextafter(self.purity_, 0)))
        limits = _holding(self.prior_, limits)
        unlabeled = counts._samples[1].effective_size
        self.prior_interval_ = _of_population(self.prior_, limits, unlabeled, self.level)

    def _give_up(self, counts: Counts, auc: float) -> None:
        self.prior_ = math.nan
        self.prior_interval_ = (0.0, self.prior_upper_)
        if self.purity == "estimate":
            self.purity_ = math.nan
            self.purity_interval_ = (0.0, 1.0)
        why = f"the scores do not separate labeled from unlabeled rows (AUC {auc:.3f})"
        mend = "Use a better classifier"
        if auc > WEAK:
            few = counts.effective_sizes[0]
            why = f"with so few labeled rows ({few:.0f}) the AUC of {auc:.3f} may be chance"
            mend = "Label more rows"
        note = (
            f"{why}, so the prior is not identified: anything from 0 to {self.prior_upper_:.3g} "
            f"fits. {mend}, or give the prior."
        )
        self._note(note)


def tied_at_the_top(counts: Counts) -> float:
    """Return the share of the labeled rows that have the highest score of all labeled rows."""
    return float(counts.labeled[counts.labeled > 0][0] / counts.n_labeled)


def _between(first: float, second: float, share: float) -> float:
    """Mean in which the second has this share."""
    return (1 - share) * first + share * second


def _share_of_others(network: Member) -> float:
    """Weight of the members beside the network, which falls with the width of its limits."""
    low, high = network.prior_interval or (0.0, 1.0)
    return MOST_WEIGHT * math.exp(-(((high - low) / WIDE) ** 2))


def _drawn_in(network: Member, factor: float) -> tuple[float, float]:
    """Limits of the prior with their distances from the estimate multiplied by a factor."""
    low, high = (
        _between(network.prior, limit, factor) for limit in network.prior_interval or (0.0, 1.0)
    )
    return low, high


def _holding(value: float, limits: tuple[float, float] | None) -> tuple[float, float]:
    """Limits made to hold the estimate, which is not quite the one that they belong to."""
    low, high = limits or (0.0, 1.0)
    return min(low, value), max(high, value)


def _of_population(
    prior: float, limits: tuple[float, float], rows: float, level: float
) -> tuple[float, float]:
    """Widen limits of the share among these unlabeled rows to those of the prior of all such rows.

    How many positives are among so many rows is chance, too; members were trained without it.
    """
    share = min(max(prior, 1 / rows), 1 - 1 / rows)
    more = normal_quantile(level) * math.sqrt(share * (1 - share) / rows)
    low, high = limits
    return (
        max(prior - math.hypot(prior - low, more), 0.0),
        min(prior + math.hypot(high - prior, more), 1.0),
    )


def _doubts(counts: Counts, auc: float, members: list[Member], *, both: bool) -> list[str]:
    """Say in words what makes the estimate doubtful."""
    notes = []
    few = counts.effective_sizes[0]
    if few < HARDLY_ANY:
        notes.append(
            f"{few:.0f} labeled rows say next to nothing about the prior; label at least "
            f"{FEW_LABELS}."
        )
    if auc > TOO_GOOD:
        notes.append(
            f"labeled rows score almost all above the unlabeled ones (AUC {auc:.3f}). Either "
            "there are hardly any positives among the unlabeled rows, or the classifier was "
            "trained on these very rows: then score them out of fold before anything else, with "
            "pueval.model_selection.evaluate_cv or scikit-learn's cross_val_predict."
        )
    tied = tied_at_the_top(counts)
    if tied > SATURATED:
        notes.append(
            f"{100 * tied:.0f} % of the labeled rows have the same highest score, and negatives "
            "among the rows that share it cannot be told apart, so the prior is known poorly. Use "
            "scores that are not rounded or saturated, such as log-odds, or give the prior."
        )
    if auc < HARDLY_SEPARATED:
        notes.append(
            f"the scores hardly separate labeled from unlabeled rows (AUC {auc:.3f}). Estimates of "
            "the prior are too high then, and their lower limits, too; only the upper limit holds."
        )
    for what in ("prior", "purity") if both else ("prior",):
        answers = [getattr(member, what) for member in members]
        if max(answers) - min(answers) <= DISAGREEMENT:
            continue
        reason = (
            f"there are only {few:.0f} labeled rows"
            if few < FEW_LABELS
            else f"the scores separate labeled from unlabeled rows only weakly (AUC {auc:.3f})"
            if auc < WEAK
            else "the labels may not be a random draw from the positives, or negatives may reach "
            "every score that positives have (a reducible mixture)"
        )
        notes.append(
            f"the estimators of the {what} disagree ({min(answers):.3g} to {max(answers):.3g}): "
            f"{reason}."
        )
    return notes
