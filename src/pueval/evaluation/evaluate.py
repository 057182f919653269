"""evaluate(): from labels and scores to every corrected measure, beside the naive one."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from pueval._typing import Range, Target
from pueval.core.average_precision import average_precision
from pueval.core.curves import (
    PrecisionRecallCurve,
    direct_auc,
    mean_placement,
    naive_auc,
    recover_precision_recall,
)
from pueval.core.measures import MEASURES
from pueval.core.mixture import Mixture, check_target
from pueval.core.rates import Rates, correct_steps, corrected_and_naive_rates
from pueval.counts.arguments import check_threshold, read_counts
from pueval.counts.counts import Counts
from pueval.errors import AssumptionWarning, InputError
from pueval.evaluation.assumptions import Assumptions, resolve_assumptions
from pueval.evaluation.estimates import Estimate, best_value
from pueval.evaluation.evaluation import Evaluation
from pueval.evaluation.evaluation_resamples import resample_evaluation
from pueval.evaluation.findings import (
    beyond_scores,
    clipped_values,
    constant_scores,
    contradicted,
    few_effective,
    reversed_scores,
    within_bin,
)
from pueval.evaluation.operating_point import FixedThresholdIntervals, IntervalOf, OperatingPoint
from pueval.samples.steps import Steps
from pueval.thresholds.threshold_choice import DEFAULT_BEST, ChosenThresholdIntervals, neighbors
from pueval.uncertainty.intervals import Interval, IntervalOptions
from pueval.uncertainty.resampling import Resamples

if TYPE_CHECKING:
    from pueval.priors import PriorEstimate


def evaluate(
    y: Any,
    score: Any = None,
    *,
    prior: float | Range | PriorEstimate | None = None,
    prevalence: float | Range | None = None,
    label_frequency: float | Range | None = None,
    purity: float | Range | Literal["estimate"] = 1.0,
    target: Target = "population",
    threshold: float | None = None,
    level: float | None = 0.95,
    n_resamples: int = 2000,
    seed: int = 0,
    variance: Literal["sampling", "labeling"] = "sampling",
    sample_weight: Any = None,
    propensity: Any = None,
    pos_label: Any = 1,
    unlabeled_label: Any = 0,
    negative_label: Any = None,
) -> Evaluation:
    """Evaluate a classifier on positive and unlabeled rows.

    The rates of labeled and unlabeled rows at or above each threshold are unmixed into true and
    false positive rates, and every measure follows from these:
    tpr = ((1 − prior)·γ − (1 − purity)·η) / (purity − prior) and
    fpr = (purity·η − prior·γ) / (purity − prior), with γ and η the shares of labeled and of
    unlabeled rows at or above the threshold. This assumes that the labeled rows are a random
    draw: labeled positives from all positives, and wrongly labeled rows from all negatives.

    Parameters
    ----------
    y : array-like or Counts
        1 or True for labeled positives, 0 or False for unlabeled rows; or Counts, and no score.
    score : array-like
        The classifier's score; higher means more likely positive. It should come from rows that
        the classifier was not trained on.
    prior : float, (low, high) or PriorEstimate, optional
        Share of positives among the unlabeled rows. Give at most one of ``prior``,
        ``prevalence`` and ``label_frequency``; without any of them the prior is estimated from
        the scores by `pueval.priors.estimate`. Where it is only known to lie in an interval,
        values are for the middle, and limits hold for all of it. An estimate made before, for
        example from a better model's scores, is used with its limits.
    prevalence : float or (low, high), optional
        Share of positives in the target.
    label_frequency : float or (low, high), optional
        Share of all positives that are labeled.
    purity : float, (low, high) or "estimate", default 1.0
        Share of true positives among the labeled rows; ``"estimate"`` estimates it together
        with the prior.
    target : {"population", "unlabeled"}
        Whose performance is wanted: of all rows together (one data set, part of its positives
        labeled), or of the unlabeled rows (the labeled ones were collected apart; known negatives
        count as a random draw from all negatives).
    threshold : float, optional
        Scores at or above it are predicted positive. By default the threshold of the best
        Matthews correlation, which depends on neither prior nor purity; limits then allow for
        its being chosen on these rows.
    level : float or None, default 0.95
        Confidence level of the intervals; None for point estimates only, which is faster. Where
        the prior or the purity was estimated, intervals carry that uncertainty, too.
    n_resamples : int, default 2000
        How often the counts are drawn again for the intervals.
    seed : int, default 0
        Of the random numbers for it.
    variance : {"sampling", "labeling"}
        What intervals are about: how far another sample of rows would differ, or how far these
        rows would, had chance labeled other positives among them.
    propensity : array-like, optional
        For labeled rows that were not drawn with equal chances: the chance that a positive like
        this one gets labeled, in (0, 1]; other rows may have any value there. Labeled rows are
        then weighed by 1/propensity. Without a prior, their number also tells the prevalence;
        with one, propensities need to be known up to a factor only.
    sample_weight, pos_label, unlabeled_label, negative_label : optional
        As for `Counts.from_arrays`.

    Returns
    -------
    Evaluation

    Warns
    -----
    AssumptionWarning
        If the prior is more than the ranking allows, or a measure had to be clipped.

    References
    ----------
    Jain, White and Radivojac (2017); Ramola, Jain and Radivojac (2019); for ``"labeling"``
    Tabatabaei, Klein and Hoogendoorn (2020); for propensities Bekker, Robberechts and Davis (2019).

    Examples
    --------
    >>> import numpy as np
    >>> from pueval import evaluate
    >>> rng = np.random.default_rng(0)
    >>> positive = rng.random(20_000) < 0.3
    >>> score = rng.normal(size=20_000) + 2 * positive
    >>> labeled = positive & (rng.random(20_000) < 0.2)
    >>> ev = evaluate(labeled, score, prevalence=0.3)
    >>> round(ev["roc_auc"].naive, 2), round(ev["roc_auc"].value, 2)
    (0.81, 0.92)
    >>> best = ev.best("f1")
    >>> round(best.naive, 2), round(best.value, 2)
    (0.27, 0.77)
    """
    counts = read_counts(
        y,
        score,
        sample_weight=sample_weight,
        propensity=propensity,
        function="evaluate",
        pos_label=pos_label,
        unlabeled_label=unlabeled_label,
        negative_label=negative_label,
    )
    counts._check_nonempty()
    options = check_options(
        target, level=level, n_resamples=n_resamples, seed=seed, variance=variance
    )
    assumptions = resolve_assumptions(counts, target, purity, prior, prevalence, label_frequency)
    ready = rate_thresholds(counts, assumptions, target, threshold)
    drawn = None
    if options is not None:
        wanted = ready.threshold if threshold is not None else neighbors(counts, ready.threshold)
        drawn = resample_evaluation(counts, ready.corners, assumptions, target, wanted, options)
    ev = build_evaluation(
        ready, options, drawn, assumptions.warnings, threshold_chosen=threshold is None
    )
    for note in ev.warnings:
        warnings.warn(note, AssumptionWarning, stacklevel=2)
    return ev


def check_options(
    target: Target,
    *,
    level: float | None = 0.95,
    n_resamples: int = 2000,
    seed: int = 0,
    variance: str = "sampling",
) -> IntervalOptions | None:
    """Refuse options that mean nothing; return how to make limits, or None for no limits."""
    check_target(target)
    # Checked without a level, too: a wrong option is never passed over.
    asked = IntervalOptions(0.95 if level is None else level, n_resamples, seed, variance)
    if variance == "labeling" and target != "population":
        raise InputError(
            "variance='labeling' is for target='population', where labels were drawn from the "
            "positives among these rows; labeled rows that were collected apart were not."
        )
    return None if level is None else asked


@dataclass(frozen=True, eq=False)
class ModelRates:
    """A classifier's rates at every threshold that matters, before anything is measured.

    Attributes
    ----------
    counts : Counts
        The data.
    assumptions : Assumptions
        Prior and purity.
    target : str
        Whose performance is wanted.
    threshold : float
        The threshold of the measures that need one.
    corners : Steps
        Counts at the corners of the ROC curve.
    rates : tuple of Rates
        Corrected and naive rates there.
    """

    counts: Counts
    assumptions: Assumptions
    target: Target
    threshold: float
    corners: Steps
    rates: tuple[Rates, Rates]


def rate_thresholds(
    counts: Counts, assumptions: Assumptions, target: Target, threshold: float | None
) -> ModelRates:
    """Compute the rates of all corners, and the default threshold if none is given."""
    corners = counts._roc_corners()
    both = corrected_and_naive_rates(counts, corners, assumptions.mixture, target)
    if threshold is None:
        threshold = _default_threshold(*both)
    return ModelRates(counts, assumptions, target, check_threshold(threshold), corners, both)


def build_evaluation(
    ready: ModelRates,
    options: IntervalOptions | None,
    drawn: Resamples | None,
    said: tuple[str, ...] = (),
    *,
    threshold_chosen: bool = False,
) -> Evaluation:
    """Evaluate every measure, with intervals from ``drawn``.

    What looks wrong is added to what was ``said`` before; nobody is warned yet. If the threshold
    was ``chosen`` as the best for these rows, limits allow for that.
    """
    counts, threshold, mixture = ready.counts, ready.threshold, ready.assumptions.mixture
    there = corrected_and_naive_rates(counts, counts.at(threshold), mixture, ready.target)
    limits: IntervalOf | None = None
    if drawn is not None:
        limits = (ChosenThresholdIntervals if threshold_chosen else FixedThresholdIntervals)(
            drawn, threshold
        )
    level = None if options is None else options.level
    point = OperatingPoint.of(threshold, there, limits, level)
    curves = tuple(recover_precision_recall(these) for these in ready.rates)
    areas = _areas(ready, curves, drawn)
    outside = {name: one.unclipped for name, one in areas.items() if one.clipped}
    found = [
        *said,
        constant_scores(counts),
        reversed_scores(counts, areas["roc_auc"].naive),
        None if threshold_chosen else beyond_scores(counts, threshold),
        None if threshold_chosen else within_bin(counts, threshold),
        None if options is None else few_effective(counts),
        contradicted(counts, ready.assumptions),
        clipped_values(outside | point.clipped, mixture, point.threshold),
    ]
    return Evaluation(
        counts=counts,
        target=ready.target,
        threshold=point.threshold,
        warnings=tuple(note for note in found if note),
        assumptions=ready.assumptions,
        resampling=options,
        operating_point=point,
        threshold_chosen=threshold_chosen,
        _corners=ready.corners,
        _rates=ready.rates,
        _pr=curves,
        _resamples=drawn,
        _areas=areas,
    )


def _areas(
    ready: ModelRates, curves: tuple[PrecisionRecallCurve, ...], drawn: Resamples | None
) -> dict[str, Estimate]:
    """Return both areas."""
    counts, corners = ready.counts, ready.corners
    naive = naive_auc(counts, corners)
    weighed = drawn is not None and drawn.counts.has_propensity
    compared = mean_placement(counts) if weighed else naive
    mixture = ready.assumptions.mixture

    def auc(assumed: Mixture) -> float:
        return direct_auc(counts, naive, assumed)

    def precision_recall(assumed: Mixture) -> float:
        if assumed == mixture:
            return curves[0].area
        return float(average_precision(correct_steps(counts, corners, assumed, ready.target)))

    values = {
        "roc_auc": (auc(mixture), naive),
        "average_precision": (curves[0].area, curves[1].area),
    }
    intervals = dict.fromkeys(values, Interval())
    if drawn is not None:
        intervals["roc_auc"] = drawn.auc_interval(compared, auc)
        intervals["average_precision"] = drawn.average_precision_interval(precision_recall)
    return {
        name: Estimate.of(value, plain, intervals[name]) for name, (value, plain) in values.items()
    }


def _default_threshold(corrected: Rates, naive: Rates) -> float:
    """Return the threshold of the best Matthews correlation; the lowest score if it has none."""
    for these in (corrected, naive):
        threshold = best_value(MEASURES[DEFAULT_BEST], these)[0]
        if not math.isnan(threshold):
            return threshold
    return float(naive.threshold[-1])
