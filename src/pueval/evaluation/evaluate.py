"""evaluate(): every measure of a classifier, corrected and naive, from labels and scores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from pueval._typing import Range, Target
from pueval.audit_estimates.apply_audit import apply_audit
from pueval.audit_estimates.audited_rows import AuditedRows, audited_purity
from pueval.audit_estimates.labeling_model import Labeling
from pueval.core.curves import correct_precision_recall, direct_auc, naive_auc
from pueval.core.label_errors import LabelErrors
from pueval.core.mixture import check_target
from pueval.core.rates import Rates, corrected_and_naive_rates
from pueval.counts.arguments import check_threshold, read_counts, suggest_arguments
from pueval.counts.counts import Counts
from pueval.counts.design_effect import with_design_effect
from pueval.errors import InputError, warn_caller
from pueval.estimates.audit import Audit
from pueval.estimates.audit_widths import AuditSettings
from pueval.estimates.estimate import IntervalOf, OperatingPoint, clipped_areas
from pueval.evaluation.assumptions import Assumptions, resample_evaluation, resolve_assumptions
from pueval.evaluation.evaluation import Evaluation
from pueval.evaluation.findings import (
    clipped_values,
    constant_scores,
    contradicted_assumptions,
    few_effective_rows,
    independent_rows,
    label_doubts,
    predicted_classes,
    reversed_scores,
    threshold_beyond_scores,
    threshold_within_bin,
)
from pueval.samples.steps import Steps
from pueval.samples.threads import start_in_thread
from pueval.sources.labels import LabelValues
from pueval.text.warning_lists import worst_warnings
from pueval.thresholds.default_threshold import default_threshold
from pueval.thresholds.threshold_choice import ChosenThresholdIntervals
from pueval.uncertainty.intervals import IntervalOptions, check_options, clustered_options
from pueval.uncertainty.measure_intervals import Resamples

if TYPE_CHECKING:
    from pueval.priors import PriorEstimate


@suggest_arguments
def evaluate(
    y: Any,
    score: Any = None,
    *,
    prior: float | Range | PriorEstimate | LabelErrors | None = None,
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
    cluster: Any = None,
    audited: Any = None,
    audit_probability: Any = None,
    labeling: Labeling = "smooth",
    pos_label: Any = 1,
    unlabeled_label: Any = 0,
    negative_label: Any = None,
) -> Evaluation:
    """Evaluate a classifier on positive and unlabeled rows.

    At each threshold, let ℓ and u be the shares of labeled and of unlabeled rows at or above it.
    They are corrected to the true and false positive rate,
    tpr = ((1 − prior)·ℓ − (1 − purity)·u) / (purity − prior) and
    fpr = (purity·u − prior·ℓ) / (purity − prior), and every measure follows from these. This
    assumes that labeled positives are a random sample of all positives, and wrongly labeled rows
    a random sample of all negatives.

    Parameters
    ----------
    y : array-like or Counts
        Labels: 1 or True for labeled positives, 0 or False for unlabeled rows. Or Counts, without
        ``score``.
    score : array-like
        Scores; higher means more likely positive. Use out-of-fold scores: in-sample scores
        invalidate every number.
    prior : float, (low, high), PriorEstimate or LabelErrors, optional
        Share of positives among the unlabeled rows, in [0, 1). Give at most one of ``prior``,
        ``prevalence`` and ``label_frequency``; without any, `pueval.priors.estimate` estimates
        the prior from the scores. If you pass an interval, estimates use its midpoint, and
        confidence intervals hold for every prior in it. An estimate is used with its interval; an
        estimate without one is treated as exact. `LabelErrors` are for labels 1 and 0 that are both
        wrong at known rates.
    prevalence : float or (low, high), optional
        Share of positives in the target, in [0, 1].
    label_frequency : float or (low, high), optional
        Share of all positives that are labeled, in (0, 1].
    purity : float, (low, high) or "estimate", default 1.0
        Share of true positives among the labeled rows, above the prior and at most 1. With a known
        prevalence or label frequency the prior depends on the purity, and both vary together.
        ``"estimate"`` estimates the purity from the scores: for the given share, or together with
        the prior. An estimated purity needs a share that is a number.
    target : {"population", "unlabeled"}
        Population to evaluate: all rows (one sample, some of whose positives are labeled), or only
        the unlabeled rows (case-control: labeled rows were collected separately, and known
        negatives are a random sample of all negatives).
    threshold : float, optional
        Score at or above which rows are predicted positive. By default a threshold in the middle
        of those whose Matthews correlation is within chance of the best: more stable than the
        observed best, which `Evaluation.best` returns. It does not depend on prior and purity,
        unless known negatives are combined with ``target="unlabeled"``. Intervals account for
        choosing it on the same rows.
    level : float or None, default 0.95
        Confidence level of the intervals, in (0, 1); None for point estimates only, which is
        faster. Intervals include the uncertainty of an estimated prior or purity.
    n_resamples : int, default 2000
        Number of bootstrap resamples for the intervals.
    seed : int, default 0
        Random seed for the resampling.
    variance : {"sampling", "labeling"}
        Source of the uncertainty that intervals describe: a new sample of rows, or a new random
        labeling of the same rows.
    propensity : array-like, optional
        For labeled rows that are not a random sample: the probability that the row, being
        positive, was labeled, in (0, 1]. Labeled rows are weighted by 1/propensity. Without a
        prior, the propensities also determine the prevalence; with one, they matter only up to a
        factor. Give those of unlabeled rows too, if you know them (NaN if not): small ones widen
        the intervals.
    cluster : array-like, or list of two of them, optional
        Names or numbers of clusters. Rows of the same cluster belong together, such as the visits
        of a patient or the purchases of a card, so they are not independent: intervals that
        ignore this can be far too narrow. Values do not depend on it. With two columns in a list,
        such as user and item, rows are dependent if they share either. With fewer than 10 clusters
        that have labeled rows there are no intervals.
    audited : array-like or AuditedRows, optional
        What checking some rows found: 1 for positive, 0 for negative, missing (NaN, None) for rows
        that were not checked. An audit of unlabeled rows replaces both assumptions, a known prior
        and random labeling, by evidence. Labeled rows can be audited, too; they determine the
        purity. With Counts, pass `pueval.audit.AuditedRows`.
    audit_probability : array-like, optional
        Probability with which each audited row was chosen, in (0, 1]. Without it, the audited
        unlabeled rows are a simple random sample of the unlabeled rows, and the audited labeled
        rows of the labeled rows. Audit low scores, too: alarms alone do not determine recall.
    labeling : {"smooth", "random", "score", "any"}
        With an audit, what to assume about the probability that a positive row is labeled: it is a
        curve in the score, smooth or with steps, and the less the audit speaks against random
        labeling the more it is shrunken toward it ("smooth", which gives "any" a weight of a
        quarter, and more where they disagree); it is the same for all rows ("random"); its logit is
        linear in the rank of the score ("score"); nothing ("any": right under every labeling, but
        less precise).
    sample_weight, pos_label, unlabeled_label, negative_label : optional
        As for `Counts.from_arrays`.

    Returns
    -------
    Evaluation

    Warns
    -----
    AssumptionWarning
        If the prior contradicts the ranking, a measure had to be clipped, or labels that are
        assumed to be clean look noisy (p < 0.01; not tested with ``level=None``).

    References
    ----------
    Jain, White and Radivojac (2017); Ramola, Jain and Radivojac (2019); for ``"labeling"``
    Tabatabaei, Klein and Hoogendoorn (2020); for propensities Bekker, Robberechts and Davis (2019);
    for clusters Obuchowski (1997), and Cameron, Gelbach and Miller (2011) with two columns.

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
    ev = evaluate_rows(
        y,
        score,
        prior=prior,
        prevalence=prevalence,
        label_frequency=label_frequency,
        purity=purity,
        target=target,
        threshold=threshold,
        level=level,
        n_resamples=n_resamples,
        seed=seed,
        variance=variance,
        sample_weight=sample_weight,
        propensity=propensity,
        cluster=cluster,
        audited=audited,
        audit_probability=audit_probability,
        labeling=labeling,
        pos_label=pos_label,
        unlabeled_label=unlabeled_label,
        negative_label=negative_label,
    )
    for warning in worst_warnings(ev.warnings):
        warn_caller(warning)
    return ev


def evaluate_rows(
    y: Any,
    score: Any = None,
    *,
    sample_weight: Any = None,
    propensity: Any = None,
    cluster: Any = None,
    audited: Any = None,
    audit_probability: Any = None,
    labeling: Labeling = "smooth",
    pos_label: Any = 1,
    unlabeled_label: Any = 0,
    negative_label: Any = None,
    **options: Any,
) -> Evaluation:
    """Evaluate rows or Counts as `evaluate` does, without issuing the warnings.

    Other functions call it instead of suppressing warnings, which is not safe in threads.
    """
    counts = read_counts(
        y,
        score,
        sample_weight=sample_weight,
        propensity=propensity,
        cluster=cluster,
        function="evaluate",
        pos_label=pos_label,
        unlabeled_label=unlabeled_label,
        negative_label=negative_label,
    )
    if audited is None:
        refuse_audit_options(audit_probability, labeling)
        return evaluate_counts(counts, **options)
    if propensity is not None:
        raise InputError(
            "propensity and audited cannot be combined: the audit estimates the propensities. "
            "Leave propensity out."
        )
    if not isinstance(audited, AuditedRows):
        if isinstance(y, Counts):
            raise InputError(
                "with Counts, audited must be pueval.audit.AuditedRows: Counts do not know which "
                "rows were checked. Pass these, or arrays instead of Counts."
            )
        audited = AuditedRows.read(
            y,
            score,
            audited,
            audit_probability,
            labels=LabelValues(pos_label, unlabeled_label, negative_label),
            sample_weight=sample_weight,
        )
    elif audit_probability is not None:
        raise InputError("AuditedRows include audit_probability. Leave it out.")
    return evaluate_audited(counts, audited, labeling=labeling, **options)


def refuse_audit_options(audit_probability: Any, labeling: str) -> None:
    """Refuse options of an audit where there is none."""
    if audit_probability is not None:
        raise InputError("audit_probability needs audited, the results of the audit.")
    if labeling != "smooth":
        raise InputError(
            f"labeling={labeling!r} needs audited: without an audit, labels are assumed to be "
            "random, or to follow the propensities you pass."
        )


def evaluate_audited(
    counts: Counts,
    audited: AuditedRows,
    *,
    labeling: Labeling = "smooth",
    purity: Any = 1.0,
    purity_audit: AuditedRows | None = None,
    target: Target = "population",
    n_resamples: int = 2000,
    seed: int = 0,
    variance: str = "sampling",
    design_effect: float = 1.0,
    **options: Any,
) -> Evaluation:
    """Evaluate counts and audited rows as `evaluate` does, without issuing the warnings.

    ``purity_audit`` has the audited labeled rows that determine the purity, if not ``audited``.
    ``design_effect`` is the factor by which rows that are not independent increase variances.
    """
    counts._check_nonempty()
    counts._refuse_propensities("an audit")
    counts._refuse_clusters("the uncertainty of an audit")
    check_target(target)
    if variance != "sampling":
        raise InputError(
            f"variance={variance!r} cannot be combined with audited. Use variance='sampling'."
        )
    n_draws = max(n_resamples, 2)
    audit = apply_audit(
        counts,
        audited,
        labeling=labeling,
        purity=audited_purity(audited if purity_audit is None else purity_audit, purity),
        purity_audit=purity_audit,
        target=target,
        n_draws=n_draws,
        seed=seed,
    )
    ev = evaluate_counts(
        audit.counts,
        target=target,
        n_resamples=n_resamples,
        seed=seed,
        interval_counts=with_design_effect(audit.counts, design_effect),
        **options,
    )
    if ev.resampling is None:
        findings = Audit(audit, counts)
    else:
        level = ev.resampling.level
        again = partial(
            evaluate_counts,
            target=target,
            threshold=ev.threshold,
            level=level,
            n_resamples=n_resamples,
            seed=seed,
        )
        settings = AuditSettings(again, purity, purity_audit, target, n_draws, seed, design_effect)
        findings = Audit(audit, counts, level, settings)
    return replace(ev, audit=findings, warnings=(*findings.warnings, *ev.warnings))


def evaluate_counts(
    counts: Counts,
    *,
    prior: float | Range | PriorEstimate | LabelErrors | None = None,
    prevalence: float | Range | None = None,
    label_frequency: float | Range | None = None,
    purity: float | Range | Literal["estimate"] = 1.0,
    target: Target = "population",
    threshold: float | None = None,
    level: float | None = 0.95,
    n_resamples: int = 2000,
    seed: int = 0,
    variance: Literal["sampling", "labeling"] = "sampling",
    interval_counts: Counts | None = None,
) -> Evaluation:
    """Evaluate counts as `evaluate` does, without issuing the warnings.

    ``interval_counts`` are the same rows with other effective sizes, for the intervals.
    """
    counts._check_nonempty()
    options = check_options(
        target, level=level, n_resamples=n_resamples, seed=seed, variance=variance
    )
    options, too_few_clusters = clustered_options(counts, options)
    assumptions = resolve_assumptions(
        counts,
        target,
        purity,
        prior,
        prevalence,
        label_frequency,
        0.95 if options is None else options.level,
    )
    model = rate_thresholds(counts, assumptions, target, threshold)
    threshold_chosen = threshold is None
    interval_counts = counts if interval_counts is None else interval_counts
    resamples = None
    doubts: Callable[[], Sequence[str]] = list
    if options is not None:  # like all inference, doubts about labels need intervals
        resamples = resample_evaluation(
            interval_counts, model.corners, assumptions, target, model.threshold, options
        )
        independent = independent_rows(interval_counts, resamples)
        # They take as long as all that follows.
        doubts = start_in_thread(partial(label_doubts, interval_counts, independent, assumptions))
    return build_evaluation(
        model,
        options,
        resamples,
        lambda: [*too_few_clusters, *assumptions.warnings, *doubts()],
        threshold_chosen=threshold_chosen,
    )


@dataclass(frozen=True, eq=False)
class ModelRates:
    """Corrected and naive rates of one classifier, and the threshold to evaluate.

    Attributes
    ----------
    counts : Counts
        The data.
    assumptions : Assumptions
        Prior and purity.
    target : str
        Population to evaluate.
    threshold : float
        Threshold at which threshold-based measures are computed.
    corners : Steps
        Counts at the corners of the ROC curve.
    rates : tuple of Rates
        Corrected and naive rates at the corners.
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
    """Compute the rates at all corners, and the default threshold if none is given."""
    corners = counts._roc_corners()
    rates = corrected_and_naive_rates(counts, corners, assumptions.mixture, target)
    if threshold is None:
        threshold = default_threshold(counts, corners, assumptions.mixture, target)
    return ModelRates(counts, assumptions, target, check_threshold(threshold), corners, rates)


def build_evaluation(
    model: ModelRates,
    options: IntervalOptions | None,
    resamples: Resamples | None,
    earlier_warnings: Callable[[], Sequence[str]] = list,
    *,
    threshold_chosen: bool = False,
) -> Evaluation:
    """Evaluate every measure and collect warnings, without issuing them.

    If the threshold was chosen on the same rows, intervals account for that. ``earlier_warnings``
    are asked for last.
    """
    counts, threshold, mixture = model.counts, model.threshold, model.assumptions.mixture
    intervals: IntervalOf | None = None
    if resamples is not None and threshold_chosen:
        intervals = ChosenThresholdIntervals(resamples, threshold)
    elif resamples is not None:
        intervals = partial(resamples.interval_at, threshold=threshold)
    rates = corrected_and_naive_rates(counts, counts.at(threshold), mixture, model.target)
    level = None if options is None else options.level
    point = OperatingPoint(threshold, level, rates, intervals)
    curves = tuple(correct_precision_recall(rates) for rates in model.rates)
    auc = naive_auc(counts, model.corners)
    areas = {
        "roc_auc": (direct_auc(counts, auc, mixture, model.target), auc),
        "average_precision": (curves[0].area, curves[1].area),
    }
    independent = independent_rows(counts, resamples)
    # The worst first.
    findings = [
        contradicted_assumptions(independent, model.assumptions),
        reversed_scores(independent, auc),
        constant_scores(counts),
        predicted_classes(counts),
        None if options is None else few_effective_rows(counts),
        *earlier_warnings(),
        None if threshold_chosen else threshold_beyond_scores(counts, threshold),
        None if threshold_chosen else threshold_within_bin(counts, threshold),
        clipped_values(counts, clipped_areas(areas) | point.clipped, mixture, threshold),
    ]
    return Evaluation(
        counts=counts,
        target=model.target,
        threshold=threshold,
        warnings=tuple(finding for finding in findings if finding),
        assumptions=model.assumptions,
        resampling=options,
        operating_point=point,
        threshold_chosen=threshold_chosen,
        _corners=model.corners,
        _rates=model.rates,
        _pr=curves,
        _resamples=resamples,
        _areas=areas,
    )
