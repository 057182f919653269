"""estimate(): prior and purity from labels and scores, with every estimator's answer."""

from __future__ import annotations

import math
import warnings
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

from sklearn.base import clone

from pueval.core.mixture import Mixture
from pueval.counts.arguments import read_counts
from pueval.counts.counts import Counts
from pueval.errors import AssumptionWarning, InputError
from pueval.priors._alphamax import AlphaMax
from pueval.priors._best_bin import BestBin
from pueval.priors._consensus import Consensus, Member
from pueval.priors._dedpul import Dedpul
from pueval.priors._dist_curve import DistCurve
from pueval.priors._elkan_noto import ElkanNoto
from pueval.priors._roc_network import RocNetwork
from pueval.priors._roc_slope import RocSlope
from pueval.priors._score_estimator import ScorePriorEstimator
from pueval.priors._tilt import Tilt
from pueval.priors._two_way import TwoWay
from pueval.sensitivity.feasibility import LargestPrior, largest_prior
from pueval.text.numbers import format_level, format_number
from pueval.text.results import plain_data
from pueval.text.tables import text_table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from pueval.displays import PriorEstimateDisplay

# Methods that take the labels as clean, and how to make the estimator.
CLEAN: dict[str, Any] = {
    "alphamax": AlphaMax,
    "best_bin": BestBin,
    "dedpul": Dedpul,
    "dist_curve": DistCurve,
    "elkan_noto": ElkanNoto,
    "roc_slope": RocSlope,
}
# Methods that can estimate the purity, too.
BOTH: dict[str, Any] = {"consensus": Consensus, "tilt": Tilt, "roc_network": RocNetwork}
METHODS = (*BOTH, *CLEAN)
_TAKES_CLEAN = tuple(CLEAN.values())


@dataclass(frozen=True)
class PriorEstimate:
    """Prior and purity as estimated from the data; made by `estimate`.

    Attributes
    ----------
    method : str
        How they were estimated.
    prior, purity : float
        The estimates.
    prior_interval, purity_interval : tuple of float, or None
        Confidence limits; None where the method has none, or the purity was given.
    prior_upper : float
        Largest prior that the data allow, without an assumption about the scores.
    purity_pvalue : float or None
        p-value of the test of purity = 1, where the method has one.
    members : dict of str to Member
        The answers of all estimators that were asked.
    warnings : tuple of str
        What looked wrong.
    level : float
        Level of the limits.
    """

    method: str
    prior: float
    purity: float
    prior_interval: tuple[float, float] | None
    purity_interval: tuple[float, float] | None
    prior_upper: float
    purity_pvalue: float | None
    members: dict[str, Member]
    warnings: tuple[str, ...]
    level: float

    def mixture(self) -> Mixture:
        """Return the Mixture of these estimates.

        Returns
        -------
        Mixture
        """
        if math.isnan(self.prior):
            raise InputError(
                f"the prior cannot be estimated: {' '.join(self.warnings)} "
                "Give prior, prevalence or label_frequency."
            )
        return Mixture(self.prior, self.purity)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain numbers, lists and text.

        Returns
        -------
        dict
        """
        content: dict[str, Any] = plain_data(asdict(self))
        return content

    def plot(self, ax: Axes | None = None) -> PriorEstimateDisplay:
        """Plot every method's estimate with its confidence interval.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on; by default those of a new figure.

        Returns
        -------
        PriorEstimateDisplay
            Display with ``figure_``, ``ax_`` and ``frame()``.
        """
        from pueval.displays import PriorEstimateDisplay

        return PriorEstimateDisplay.from_estimate(self, ax=ax)

    def rows(self) -> list[list[str]]:
        """Return the answers as the rows of a table: method, prior, interval, purity, interval.

        Returns
        -------
        list of list of str
        """
        whole = Member(self.prior, self.purity, self.prior_interval, self.purity_interval)
        answers = {self.method: whole} | {
            f"  {name}": member for name, member in self.members.items() if name != self.method
        }
        return [
            [
                name,
                format_number(answer.prior),
                _interval(answer.prior_interval),
                format_number(answer.purity),
                _interval(answer.purity_interval),
            ]
            for name, answer in answers.items()
        ]

    def notes(self) -> list[str]:
        """Return what is to be said beside the numbers.

        Returns
        -------
        list of str
        """
        limit = (
            f"The data allow a prior of at most {self.prior_upper:.3g} ({format_level(self.level)} "
            "confidence, whatever the distribution of the scores)."
        )
        said = [limit]
        if self.purity_pvalue is not None:
            said.append(f"Test of clean labels (purity 1): p = {self.purity_pvalue:.2g}.")
        return [*said, *(f"! {warning}" for warning in self.warnings)]

    def __repr__(self) -> str:
        table = text_table(HEADER, self.rows())
        return "\n".join([f"Prior estimated by {self.method}", table, *self.notes()])


HEADER = ("", "prior", "limits", "purity", "limits")


def _interval(interval: tuple[float, float] | None) -> str:
    return "–" if interval is None else f"{interval[0]:.3f} to {interval[1]:.3f}"


def estimate(
    y: Any,
    score: Any = None,
    *,
    purity: float | Literal["estimate"] = 1.0,
    method: str | ScorePriorEstimator = "consensus",
    level: float = 0.95,
    sample_weight: Any = None,
    pos_label: Any = 1,
    unlabeled_label: Any = 0,
    negative_label: Any = None,
) -> PriorEstimate:
    """Estimate the prior, and if wanted the purity, from labels and scores.

    The scores must come from rows the classifier was not trained on. Labeled rows have to be a
    random draw; if labeling favors high or low scores, every method errs.

    Parameters
    ----------
    y : array-like or Counts
        1 or True for labeled positives, 0 or False for unlabeled rows; or Counts, and no score.
    score : array-like
        The classifier's score; higher means more likely positive.
    purity : float or "estimate", default 1.0
        Share of true positives among the labeled rows, or ``"estimate"`` to estimate it too.
    method : str or estimator, default "consensus"
        ``"consensus"``, ``"tilt"``, ``"roc_network"``, ``"alphamax"``, ``"best_bin"``,
        ``"dedpul"``, ``"dist_curve"``, ``"elkan_noto"`` or ``"roc_slope"``; or an estimator
        of `pueval.priors`, which is not fitted itself and has its own purity and level. Those
        that take labels as clean are run twice to estimate the purity (`TwoWay`).
    level : float, default 0.95
        Level of the intervals; for ``"consensus"`` and ``"roc_network"`` from 0.5 to 0.99.
    sample_weight, pos_label, unlabeled_label, negative_label : optional
        As for `pueval.Counts.from_arrays`.

    Returns
    -------
    PriorEstimate

    Warns
    -----
    AssumptionWarning
        If members disagree, labels are few, or scores do not separate.

    Examples
    --------
    >>> import numpy as np
    >>> from pueval import priors
    >>> rng = np.random.default_rng(0)
    >>> score = np.r_[rng.normal(3, 1, 300), rng.normal(3, 1, 600), rng.normal(0, 1, 1400)]
    >>> found = priors.estimate(np.repeat([1, 0], [300, 2000]), score)
    >>> round(found.prior, 1)
    0.3
    >>> low, high = found.prior_interval
    >>> low < 0.3 < high < found.prior_upper
    True
    """
    counts = read_counts(
        y,
        score,
        sample_weight=sample_weight,
        function="estimate",
        pos_label=pos_label,
        unlabeled_label=unlabeled_label,
        negative_label=negative_label,
    )
    found = estimate_without_warning(counts, purity=purity, method=method, level=level)
    for note in found.warnings:
        warnings.warn(note, AssumptionWarning, stacklevel=2)
    return found


def estimate_without_warning(
    counts: Counts,
    *,
    purity: float | Literal["estimate"] = 1.0,
    method: str | ScorePriorEstimator = "consensus",
    level: float = 0.95,
) -> PriorEstimate:
    """Estimate the prior; what there is to say is only found in the result."""
    if isinstance(method, ScorePriorEstimator):
        estimator = _as_given(method, purity)
        name, level = type(method).__name__, _own_level(estimator, level)
    else:
        name, estimator = method, _named(method, purity, level)
    estimator.fit_without_warning(counts)
    answer = Member.of(estimator)
    if isinstance(estimator, _TAKES_CLEAN) and purity != "estimate" and purity < 1:
        answer = _diluted(answer, purity)
    known = estimator.get_params().get("purity", purity)
    known = 1.0 if known == "estimate" else known
    limit = largest_prior(counts, purity=known, level=level)
    return PriorEstimate(
        name,
        answer.prior,
        answer.purity,
        answer.prior_interval,
        answer.purity_interval,
        limit.prior,
        getattr(estimator, "purity_pvalue_", None),
        getattr(estimator, "members_", {name: answer}),
        (*estimator.warnings_, *_ruled_out(answer.prior, limit, known, level)),
        level,
    )


def _ruled_out(prior: float, limit: LargestPrior, purity: float, level: float) -> list[str]:
    """Say that the data do not allow the prior that was estimated."""
    if math.isnan(prior) or limit.allows(prior):
        return []
    confidence = f"({format_level(level)} confidence)"
    if not limit.possible:
        return [f"no prior fits a purity of {purity:g} {confidence}. Raise the purity."]
    note = (
        f"the estimate of {prior:.3g} is more than these data allow, whatever the distribution of "
        f"the scores: at most {limit.prior:.3g} {confidence}. Labels may not be a random draw."
    )
    return [note]


def _named(method: str, purity: float | str, level: float) -> ScorePriorEstimator:
    if method in BOTH:
        both: ScorePriorEstimator = BOTH[method](purity=purity, level=level)
        return both
    if method not in CLEAN:
        raise InputError(f"method must be one of {', '.join(METHODS)}; got {method!r}.")
    estimator: ScorePriorEstimator = CLEAN[method]()
    if "level" in estimator.get_params():
        # What two runs say together holds if neither errs.
        estimator.set_params(level=(1 + level) / 2 if purity == "estimate" else level)
    return _as_given(estimator, purity)


def _as_given(method: ScorePriorEstimator, purity: float | str) -> ScorePriorEstimator:
    """Return an estimator like this one, not fitted; with what it lacks to allow for a purity."""
    estimator: ScorePriorEstimator = clone(method)
    takes_clean: bool = isinstance(method, _TAKES_CLEAN)
    if takes_clean:
        if purity == "estimate":
            return TwoWay(estimator)
        Mixture(0.0, float(purity))
        return estimator
    # These estimate the purity, unless they are told one.
    own = estimator.get_params().get("purity", "estimate")
    if purity not in (1.0, own):
        raise InputError(
            f"{estimator!r} has purity={own!r}; got purity={purity!r}. Give it to the estimator."
        )
    return estimator


def _own_level(method: ScorePriorEstimator, level: float) -> float:
    """Return the level of the limits that an estimator gives."""
    params = method.get_params()
    own = float(params.get("level", level))
    if "estimator__level" in params:  # of two runs, which both have to hold
        own = 2 * float(params["estimator__level"]) - 1
    if level not in (0.95, own):
        raise InputError(
            f"{method!r} has level={own:g}; got level={level!r}. Give it to the estimator."
        )
    return own


def _diluted(answer: Member, purity: float) -> Member:
    """Turn an answer for clean labels, which is prior/purity, into the prior."""
    interval = answer.prior_interval
    if interval is not None:
        interval = purity * interval[0], purity * interval[1]
    return Member(purity * answer.prior, purity, interval, None)
