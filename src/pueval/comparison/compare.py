"""compare(): several models on the same rows, paired."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from pueval._typing import Array, Range, Target
from pueval.audit_estimates.audited_rows import checked_rows
from pueval.audit_estimates.labeling_model import Labeling
from pueval.comparison.audited_pairs import AuditedPairs
from pueval.comparison.comparison import Comparison
from pueval.comparison.estimate_models import PairedEstimation
from pueval.comparison.model_pairs import ModelPairs
from pueval.comparison.paired_rows import PairedRows, read_paired_rows, unknown_model_error
from pueval.core.cluster_table import reduced_counts
from pueval.core.curves import model_with_highest_naive_auc
from pueval.core.label_errors import refuse_label_errors
from pueval.core.mixture import check_target
from pueval.counts.arguments import check_threshold, suggest_arguments
from pueval.errors import InputError, name_model, warn_caller
from pueval.evaluation.assumptions import resolve_assumptions
from pueval.evaluation.evaluate import evaluate_rows, refuse_audit_options
from pueval.evaluation.evaluation import Evaluation
from pueval.evaluation.findings import noisy_labels
from pueval.sources.labels import LabelValues
from pueval.text.warning_lists import worst_warnings
from pueval.uncertainty.intervals import IntervalOptions, clustered_options

if TYPE_CHECKING:
    from pueval.priors import PriorEstimate


@suggest_arguments
def compare(
    y: Any,
    scores: Any,
    *,
    prior: float | Range | PriorEstimate | None = None,
    prevalence: float | Range | None = None,
    label_frequency: float | Range | None = None,
    purity: float | Range | Literal["estimate"] = 1.0,
    target: Target = "population",
    threshold: float | Mapping[str, float] | None = None,
    level: float | None = 0.95,
    n_resamples: int = 2000,
    seed: int = 0,
    sample_weight: Any = None,
    cluster: Any = None,
    audited: Any = None,
    audit_probability: Any = None,
    labeling: Labeling = "smooth",
    pos_label: Any = 1,
    unlabeled_label: Any = 0,
    negative_label: Any = None,
) -> Comparison:
    """Compare models on the same positive and unlabeled rows.

    Every model is evaluated as in `pueval.evaluate`, with one prior and purity for all models,
    because these are properties of the data. Differences are paired: both models see the same
    rows, so variation that both models share cancels.

    Parameters
    ----------
    y : array-like
        Labels: 1 or True for labeled positives, 0 or False for unlabeled rows.
    scores : mapping, data frame or iterable of pairs
        Names and scores of the models, for example ``{"a": score_a, "b": score_b}``, a data frame
        with a column per model, or pairs of name and score. Higher scores mean more likely
        positive; the scales of the models may differ.
    prior, prevalence, label_frequency : float or (low, high), optional
        At most one of them, as for `pueval.evaluate`; ``prior`` may also be a
        `pueval.priors.PriorEstimate`. If you pass an interval, estimates use its midpoint,
        confidence intervals hold for every value in it, and p-values are the largest within it. By
        default the prior is estimated once, from the scores of the model with the best naive AUC:
        the better a model separates labeled from unlabeled rows, the better its scores identify
        the prior.
    purity : float, (low, high) or "estimate", default 1.0
        Share of true positives among the labeled rows. It is estimated once, from the scores of
        the model with the best naive AUC.
    target : {"population", "unlabeled"}
        Population to evaluate: all rows, or only the unlabeled rows.
    threshold : float or mapping of str to float, optional
        Threshold at or above which rows are predicted positive: one for all models, or one for
        each. By default each model uses its own default threshold (see `evaluate`), and its
        intervals allow for this choice. Such thresholds differ by chance even between equally
        good models.
    level : float or None, default 0.95
        Confidence level of all intervals; None for point estimates only.
    n_resamples : int, default 2000
        Number of bootstrap resamples for the intervals of each model.
    seed : int, default 0
        Random seed for the resampling.
    cluster : array-like, optional
        Names or numbers of clusters, as for `pueval.evaluate`: rows of the same cluster belong
        together. One column; two-way clusters are not supported here.
    audited, audit_probability, labeling : optional
        Results of checking some rows, as for `pueval.evaluate`. Each model's scores have a labeling
        model of their own. Covariances of the models come from resampled rows, audited ones
        included.
    sample_weight, pos_label, unlabeled_label, negative_label : optional
        As for `Counts.from_arrays`.

    Returns
    -------
    Comparison

    Warns
    -----
    AssumptionWarning
        If the prior is larger than a ranking allows, a measure had to be clipped, a model gives
        all rows the same score, or labels that are assumed to be clean look noisy to the model with
        the best naive AUC.
    BinnedScoresWarning
        If a model's scores in half precision or less tie many labeled rows with others.

    References
    ----------
    DeLong, DeLong and Clarke-Pearson (1988); Jain, White and Radivojac (2017); Claesen, Davis,
    De Smet and De Moor (2015), section 6.2.

    Examples
    --------
    >>> import numpy as np
    >>> from pueval import compare
    >>> rng = np.random.default_rng(0)
    >>> positive = rng.random(5_000) < 0.3
    >>> labeled = positive & (rng.random(5_000) < 0.3)
    >>> hint = rng.normal(size=5_000) + 1.5 * positive
    >>> noise = rng.normal(size=(2, 5_000))
    >>> scores = {"noisy": hint + noise[0], "clear": hint + noise[1] / 2}
    >>> comparison = compare(labeled, scores, prevalence=0.3)
    >>> [difference] = comparison.differences("roc_auc")
    >>> difference.first, difference.second, round(difference.value, 3)
    ('noisy', 'clear', -0.074)
    >>> difference.high < 0, difference.pvalue < 0.001
    (True, True)
    >>> comparison.best_probability("roc_auc")["clear"] > 0.999
    True
    """
    check_target(target)
    # Options are checked without a level, too, so that a wrong value never goes unnoticed.
    options = IntervalOptions(0.95 if level is None else level, n_resamples, seed)
    labels = LabelValues(pos_label, unlabeled_label, negative_label)
    rows = read_paired_rows(y, scores, sample_weight=sample_weight, labels=labels, cluster=cluster)
    thresholds = _thresholds(rows.names, threshold)
    if audited is not None:
        rows.counts[0]._refuse_clusters("the uncertainty of an audit")
        evaluations = {
            name: evaluate_rows(
                y,
                score,
                prior=prior,
                prevalence=prevalence,
                label_frequency=label_frequency,
                purity=purity,
                target=target,
                threshold=model_threshold,
                level=level,
                n_resamples=n_resamples,
                seed=seed,
                sample_weight=sample_weight,
                audited=audited,
                audit_probability=audit_probability,
                labeling=labeling,
                pos_label=pos_label,
                unlabeled_label=unlabeled_label,
                negative_label=negative_label,
            )
            for name, score, model_threshold in zip(
                rows.names, rows.scores, thresholds, strict=True
            )
        }
        return _audited_comparison(rows, evaluations, checked_rows(audited), target, options)
    refuse_audit_options(audit_probability, labeling)
    refuse_label_errors(prior, "compare()")
    given = (prior, prevalence, label_frequency)
    estimated = purity == "estimate" or all(value is None for value in given)
    counts = dict(zip(rows.names, rows.counts, strict=True))
    best_model = model_with_highest_naive_auc(counts)
    prior_model = best_model if estimated else rows.names[0]
    assumptions = resolve_assumptions(counts[prior_model], target, purity, *given)
    resampling, too_few_clusters = clustered_options(
        rows.counts[0], None if level is None else options, clusters_alone=True
    )
    prevalence_varies = assumptions.prevalence_varies(target)
    estimation = PairedEstimation(rows, assumptions, target, resampling, prevalence_varies)
    models = estimation.rate_models(thresholds)
    evaluations = dict(zip(rows.names, estimation.evaluate(models), strict=True))
    notes = [*too_few_clusters, *assumptions.warnings]
    # Labels are the same for all models, so they are tested once.
    noisy = None
    if resampling is not None:
        noisy = noisy_labels(reduced_counts(counts[best_model]), assumptions)
    if noisy is not None:
        notes.append(name_model(best_model, noisy))
    for name, ev in evaluations.items():
        notes += [
            name_model(name, note) for note in ev.warnings if note not in assumptions.warnings
        ]
    for warning in worst_warnings(notes):
        warn_caller(warning)
    made_here = assumptions.estimate is not None and not assumptions.estimate_given
    source = prior_model if made_here else None
    pairs = ModelPairs(estimation, tuple(models))
    return Comparison(evaluations, assumptions, target, resampling, source, tuple(notes), pairs)


def _audited_comparison(
    rows: PairedRows,
    evaluations: dict[str, Evaluation],
    checked: Array,
    target: Target,
    options: IntervalOptions,
) -> Comparison:
    """Compare models that were evaluated with an audit; issue their warnings."""
    notes = [name_model(name, note) for name, ev in evaluations.items() for note in ev.warnings]
    for warning in worst_warnings(notes):
        warn_caller(warning)
    audits = tuple(ev.audit.applied for ev in evaluations.values() if ev.audit is not None)
    models = tuple(evaluations.values())
    pairs = AuditedPairs(rows, models, audits, checked, target, options.seed)
    first = models[0]
    return Comparison(
        evaluations, first.assumptions, target, first.resampling, None, tuple(notes), pairs
    )


def _thresholds(
    names: tuple[str, ...], given: float | Mapping[str, float] | None
) -> list[float | None]:
    """Return the threshold of each model; None for a model's best threshold."""
    if not isinstance(given, Mapping):
        return [None if given is None else check_threshold(given)] * len(names)
    for name in given:
        if name not in names:
            raise unknown_model_error(name, names)
    missing = [name for name in names if name not in given]
    if missing:
        raise InputError(
            f"threshold has no value for {', '.join(map(repr, missing))}. Pass one for each model, "
            "one number for all, or None for the best threshold of each model."
        )
    return [check_threshold(given[name]) for name in names]
