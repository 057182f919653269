"""estimate(): prior and purity from labels and scores, by the method of your choice."""

from __future__ import annotations

import difflib
import math
from typing import Any, Literal

from sklearn.base import clone

from pueval.core.mixture import Mixture
from pueval.counts.arguments import read_counts, suggest_arguments
from pueval.counts.counts import Counts
from pueval.errors import Contradiction, InputError, warn_caller
from pueval.priors._alphamax import AlphaMax
from pueval.priors._best_bin import BestBin
from pueval.priors._clean_label_test import clean_label_pvalue, noisy_label_warning
from pueval.priors._clustered_estimate import estimate_clustered
from pueval.priors._consensus import Consensus
from pueval.priors._dedpul import Dedpul
from pueval.priors._dist_curve import DistCurve
from pueval.priors._elkan_noto import ElkanNoto
from pueval.priors._estimation_result import MemberEstimate, PriorEstimate
from pueval.priors._estimator_bases import PurityPriorEstimator, ScorePriorEstimator
from pueval.priors._roc_network import RocNetwork
from pueval.priors._roc_slope import RocSlope
from pueval.priors._tilt import Tilt
from pueval.priors._with_purity import WithPurity
from pueval.sensitivity.feasibility import LargestPrior, largest_prior
from pueval.text.numbers import format_level

# Methods with a purity parameter: they take a known purity or estimate it.
PURITY_METHODS: dict[str, type[PurityPriorEstimator]] = {
    "consensus": Consensus,
    "tilt": Tilt,
    "roc_network": RocNetwork,
}
# Methods that assume clean labels.
CLEAN_LABEL_METHODS: dict[str, type[ScorePriorEstimator]] = {
    "alphamax": AlphaMax,
    "best_bin": BestBin,
    "dedpul": Dedpul,
    "dist_curve": DistCurve,
    "elkan_noto": ElkanNoto,
    "roc_slope": RocSlope,
}
METHODS = (*PURITY_METHODS, *CLEAN_LABEL_METHODS)
# Classes that take features in the place of a score.
FEATURE_METHODS = ("KernelMean", "Tice")


@suggest_arguments
def estimate(
    y: Any,
    score: Any = None,
    *,
    purity: float | Literal["estimate"] = 1.0,
    method: str | ScorePriorEstimator = "consensus",
    level: float = 0.95,
    sample_weight: Any = None,
    cluster: Any = None,
    pos_label: Any = 1,
    unlabeled_label: Any = 0,
    negative_label: Any = None,
) -> PriorEstimate:
    """Estimate the prior, and optionally the purity, from labels and scores.

    Use out-of-fold scores. All methods assume random labeling: the labeled positives are a random
    sample of all positives. If labeling favors high or low scores, every method is biased.

    Parameters
    ----------
    y : array-like of shape (n,), or Counts
        Labels: 1 or True for labeled positives, 0 or False for unlabeled rows. With Counts, omit
        ``score``.
    score : array-like of shape (n,)
        Scores of the classifier; higher means more likely positive.
    purity : float or "estimate", default 1.0
        Share of true positives among the labeled rows, in (0, 1], or ``"estimate"`` to estimate
        it together with the prior.
    method : str or estimator, default "consensus"
        ``"consensus"``, ``"tilt"``, ``"roc_network"``, ``"alphamax"``, ``"best_bin"``,
        ``"dedpul"``, ``"dist_curve"``, ``"elkan_noto"`` or ``"roc_slope"``, also spelled like the
        classes (``"AlphaMax"``); or an estimator from
        `pueval.priors`, which is cloned and keeps its own purity and level. To estimate the
        purity with a method that assumes clean labels, `WithPurity` runs it twice.
    level : float, default 0.95
        Confidence level of the intervals, in (0, 1); for ``"consensus"`` and ``"roc_network"`` at
        most 0.99.
    cluster : array-like, or list of two of them, optional
        Clusters of rows that belong together, as for `pueval.evaluate`. Only the intervals, and
        tests, depend on it.
    sample_weight, pos_label, unlabeled_label, negative_label : optional
        See `pueval.Counts.from_arrays`.

    Returns
    -------
    PriorEstimate

    Warns
    -----
    AssumptionWarning
        If the methods disagree, the scores hardly separate labeled from unlabeled rows, there are
        fewer than 10 labeled rows, or labels that are assumed to be clean look noisy (p < 0.01).

    Examples
    --------
    >>> import numpy as np
    >>> from pueval import priors
    >>> rng = np.random.default_rng(0)
    >>> score = np.r_[rng.normal(3, 1, 300), rng.normal(3, 1, 600), rng.normal(0, 1, 1400)]
    >>> estimate = priors.estimate(np.repeat([1, 0], [300, 2000]), score)
    >>> round(estimate.prior, 1)
    0.3
    >>> low, high = estimate.prior_interval
    >>> low < 0.3 < high < estimate.prior_upper
    True
    """
    counts = read_counts(
        y,
        score,
        sample_weight=sample_weight,
        cluster=cluster,
        function="estimate",
        pos_label=pos_label,
        unlabeled_label=unlabeled_label,
        negative_label=negative_label,
    )
    result = estimate_without_warning(counts, purity=purity, method=method, level=level)
    for warning in result.warnings:
        warn_caller(warning)
    return result


def estimate_without_warning(
    counts: Counts,
    *,
    purity: float | Literal["estimate"] = 1.0,
    method: str | ScorePriorEstimator = "consensus",
    level: float = 0.95,
    test_labels: bool = True,
) -> PriorEstimate:
    """Estimate the prior; warnings are stored in the result but not issued.

    If labels are assumed to be clean, this assumption is tested, unless ``test_labels`` is false.
    """
    if counts._clusters is not None:
        options: dict[str, Any] = {
            "purity": purity,
            "method": method,
            "level": level,
            "test_labels": test_labels,
        }
        return estimate_clustered(counts, lambda rows: estimate_without_warning(rows, **options))
    if isinstance(method, ScorePriorEstimator):
        estimator = _clone_for_purity(method, purity)
        name, level = type(method).__name__, _confidence_level(estimator, level)
    else:
        name = _method_name(method)
        estimator = _make_estimator(name, purity, level)
    estimator.fit_without_warning(counts)
    result = MemberEstimate.from_fitted(estimator)
    if _assumes_clean_labels(estimator) and purity != "estimate" and purity < 1:
        result = _scale_by_purity(result, purity)
    pvalue, noisy = getattr(estimator, "purity_pvalue_", None), None
    if test_labels and result.purity == 1 and result.purity_interval is None:
        pvalue = clean_label_pvalue(counts)
        noisy = noisy_label_warning(pvalue)
    known_purity = estimator.get_params().get("purity", purity)
    known_purity = 1.0 if known_purity == "estimate" else known_purity
    largest = largest_prior(counts, purity=known_purity, level=level)
    return PriorEstimate(
        name,
        result.prior,
        result.purity,
        result.prior_interval,
        result.purity_interval,
        largest.prior,
        pvalue,
        getattr(estimator, "members_", {name: result}),
        (
            *estimator.warnings_,
            *_infeasibility(result.prior, largest, known_purity, level),
            *([] if noisy is None else [noisy]),
        ),
        level,
    )


def _infeasibility(prior: float, largest: LargestPrior, purity: float, level: float) -> list[str]:
    """Return a warning if the data rule out the estimated prior."""
    if math.isnan(prior) or largest.allows(prior):
        return []
    confidence = f"({format_level(level)} confidence)"
    if not largest.possible:
        return [
            Contradiction(
                f"no prior is compatible with a purity of {purity:g} {confidence}. Raise purity."
            )
        ]
    warning = Contradiction(
        f"the estimated prior {prior:.3g} is too large for these data: for any distribution of "
        f"the scores, the prior is at most {largest.prior:.3g} {confidence}. Labeling may not be "
        "random."
    )
    return [warning]


def _assumes_clean_labels(estimator: ScorePriorEstimator) -> bool:
    return isinstance(estimator, tuple(CLEAN_LABEL_METHODS.values()))


def _method_name(method: str) -> str:
    """Return the name of a method, which may be spelled like its class: AlphaMax, BestBin."""
    plain = _without_spelling(str(method))
    for name in METHODS:
        if _without_spelling(name) == plain:
            return name
    for name in FEATURE_METHODS:
        if _without_spelling(name) == plain:
            raise InputError(
                f"{name} estimates the prior from features, not from scores. Use it in Python: "
                f"pueval.priors.{name}().fit(X, y). Methods for scores: {', '.join(METHODS)}."
            )
    similar = difflib.get_close_matches(str(method).lower(), METHODS, n=1)
    hint = f" Did you mean {similar[0]!r}?" if similar else ""
    raise InputError(f"method must be one of {', '.join(METHODS)}; got {method!r}.{hint}")


def _without_spelling(name: str) -> str:
    return name.replace("_", "").replace("-", "").lower()


def _make_estimator(
    method: str, purity: float | Literal["estimate"], level: float
) -> ScorePriorEstimator:
    """Return the estimator with this name, with a purity and a level."""
    if method in PURITY_METHODS:
        return PURITY_METHODS[method](purity=purity, level=level)
    estimator = CLEAN_LABEL_METHODS[method]()
    if "level" in estimator.get_params():
        # WithPurity combines two intervals; by Bonferroni's inequality each gets half the error.
        estimator.set_params(level=(1 + level) / 2 if purity == "estimate" else level)
    return _clone_for_purity(estimator, purity)


def _clone_for_purity(method: ScorePriorEstimator, purity: float | str) -> ScorePriorEstimator:
    """Return an unfitted clone, wrapped in `WithPurity` if it cannot estimate the purity itself."""
    estimator: ScorePriorEstimator = clone(method)
    if _assumes_clean_labels(estimator):
        if purity == "estimate":
            return WithPurity(estimator)
        Mixture(0.0, float(purity))  # raises an error if the purity is not in (0, 1]
        return estimator
    own_purity = estimator.get_params().get("purity", "estimate")
    if purity not in (1.0, own_purity):
        raise InputError(
            f"{estimator!r} has purity={own_purity!r}, but you passed purity={purity!r}. Set the "
            "purity of the estimator instead."
        )
    return estimator


def _confidence_level(estimator: ScorePriorEstimator, level: float) -> float:
    """Return the confidence level of an estimator's intervals; refuse a contradicting one."""
    params = estimator.get_params()
    own_level = float(params.get("level", level))
    if "estimator__level" in params:  # the two intervals of WithPurity must both hold
        own_level = 2 * float(params["estimator__level"]) - 1
    if level not in (0.95, own_level):
        raise InputError(
            f"{estimator!r} has level={own_level:g}, but you passed level={level!r}. Set the "
            "level of the estimator instead."
        )
    return own_level


def _scale_by_purity(clean: MemberEstimate, purity: float) -> MemberEstimate:
    """Correct an estimate that assumes clean labels, and so estimates prior/purity."""
    interval = clean.prior_interval
    if interval is not None:
        interval = purity * interval[0], purity * interval[1]
    return MemberEstimate(purity * clean.prior, purity, interval, None)
