"""evaluate(): from labels and scores to every corrected measure, beside the naive one."""

from __future__ import annotations

import math
import warnings
from typing import Any, Literal

from pueval.assumptions import settle
from pueval.counts import Counts, Steps
from pueval.curves import average_precision, direct_auc, naive_auc
from pueval.errors import AssumptionWarning
from pueval.evaluation import Evaluation, both_rates, check_threshold
from pueval.feasibility import contradiction
from pueval.intervals import Interval, Resamples, Resampling, delong_standard_error, resample
from pueval.measures import MEASURES
from pueval.mixture import NAIVE, Mixture, Target, check_target
from pueval.rates import Rates
from pueval.reading import read_counts
from pueval.results import Estimate, best_value, operating_point


def evaluate(
    y: Any,
    score: Any = None,
    *,
    prior: float | None = None,
    prevalence: float | None = None,
    label_frequency: float | None = None,
    purity: float | Literal["estimate"] = 1.0,
    target: Target = "population",
    threshold: float | None = None,
    level: float | None = 0.95,
    n_resamples: int = 2000,
    seed: int = 0,
    weight: Any = None,
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
    prior : float, optional
        Share of positives among the unlabeled rows. Give at most one of ``prior``,
        ``prevalence`` and ``label_frequency``; without any of them the prior is estimated from
        the scores by `pueval.priors.estimate`.
    prevalence : float, optional
        Share of positives in the target.
    label_frequency : float, optional
        Share of all positives that are labeled.
    purity : float or "estimate", default 1.0
        Share of true positives among the labeled rows; ``"estimate"`` estimates it together
        with the prior.
    target : {"population", "unlabeled"}
        Whose performance is wanted: of all rows together (one data set, part of its positives
        labeled), or of the unlabeled rows (the labeled ones were collected apart).
    threshold : float, optional
        Scores at or above it are predicted positive. By default the threshold of the best
        Matthews correlation, which depends on neither prior nor purity.
    level : float or None, default 0.95
        Confidence level of the intervals; None for point estimates only, which is faster. The
        intervals say how far another sample of rows would differ; prior and purity are taken as
        exact, even where they were estimated.
    n_resamples : int, default 2000
        How often the counts are drawn again for the intervals.
    seed : int, default 0
        Of the random numbers for it.
    weight, pos_label, unlabeled_label, negative_label : optional
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
    Jain, White and Radivojac (2017); Ramola, Jain and Radivojac (2019).

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
        weight=weight,
        function="evaluate",
        pos_label=pos_label,
        unlabeled_label=unlabeled_label,
        negative_label=negative_label,
    )
    counts.check()
    check_target(target)
    mixture, found_prior = settle(counts, target, purity, prior, prevalence, label_frequency)
    corners = counts.corners()
    both = both_rates(counts, corners, mixture, target)
    if threshold is None:
        threshold = _default_threshold(*both)
    threshold = check_threshold(threshold)
    how = None if level is None else Resampling(level, n_resamples, seed)
    drawn = None
    if how is not None:
        drawn = resample(counts, corners, mixture, target, threshold=threshold, how=how)
    there = both_rates(counts, counts.at(threshold), mixture, target)
    point = operating_point(threshold, *there, drawn)
    plain = naive_auc(counts, corners)
    areas = {
        "roc_auc": (direct_auc(counts, plain, mixture), plain),
        "average_precision": (
            average_precision(counts, corners, both[0], mixture, target),
            average_precision(counts, corners, both[1], NAIVE),
        ),
    }
    clipped = {k: value for k, (value, _) in areas.items() if not -1e-9 <= value <= 1 + 1e-9}
    found = [
        *(found_prior.warnings if found_prior else ()),
        contradiction(counts, mixture),
        _clipping(clipped | point.clipped, mixture, point.threshold),
    ]
    notes = tuple(note for note in found if note)
    for note in notes:
        warnings.warn(note, AssumptionWarning, stacklevel=2)
    return Evaluation(
        counts,
        mixture,
        target,
        point.threshold,
        notes,
        found_prior,
        how,
        point,
        corners,
        both,
        drawn,
        {
            name: Estimate.of(
                min(max(value, 0.0), 1.0),
                naive,
                Interval()
                if drawn is None
                else _area(name, value, counts, corners, mixture, drawn),
            )
            for name, (value, naive) in areas.items()
        },
    )


def _area(
    name: str,
    value: float,
    counts: Counts,
    corners: Steps,
    mixture: Mixture,
    drawn: Resamples | None,
) -> Interval:
    """Return the interval of an area: DeLong's for the AUC, else by resampling."""
    if drawn is None:
        return Interval()
    if name == "average_precision":
        return drawn.average_precision(value)
    contrast = mixture.purity - mixture.background_prior(counts)
    return drawn.how.interval(value, delong_standard_error(counts, corners) / contrast)


def _default_threshold(corrected: Rates, naive: Rates) -> float:
    """Return the threshold of the best Matthews correlation; the lowest score if it has none."""
    for these in (corrected, naive):
        threshold = best_value(MEASURES["matthews_corrcoef"], these)[0]
        if not math.isnan(threshold):
            return threshold
    return float(naive.threshold[-1])


def _clipping(clipped: dict[str, float], mixture: Mixture, threshold: float) -> str | None:
    if not clipped:
        return None
    shown = ", ".join(f"{name} {value:.4g}" for name, value in [*clipped.items()][:4])
    if len(clipped) > 4:
        shown += f" and {len(clipped) - 4} more"
    return (
        f"corrected values outside their range were clipped: {shown} (threshold {threshold:g}). "
        f"Either few rows lie beyond the threshold and this is chance, or prior "
        f"{mixture.prior:g}, purity {mixture.purity:g} or random labeling do not fit this ranking."
    )
