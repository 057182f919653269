"""evaluate_by(): the same evaluation for every group of rows, in one pass."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import scipy

from pueval._checks import check_count
from pueval._progress import progress_bar
from pueval._typing import Array, Target
from pueval.audit_estimates.audited_rows import AuditedRows
from pueval.audit_estimates.labeling_model import Labeling
from pueval.core.cluster_table import label_count_effect
from pueval.core.sizes import GroupSizes
from pueval.counts.arguments import suggest_arguments
from pueval.counts.clusters import Clusters
from pueval.counts.counts import Counts
from pueval.errors import InputError, warn_caller
from pueval.evaluation.evaluate import evaluate_audited, evaluate_counts, refuse_audit_options
from pueval.evaluation.evaluation import Evaluation
from pueval.groups.audited_groups import AuditedGroups, GroupAudits, refuse_group_options
from pueval.groups.cluster_errors import with_cluster_errors
from pueval.groups.group_evaluation import GroupEvaluation
from pueval.groups.group_priors import (
    GroupPrior,
    GroupPriors,
    check_group_prior,
    check_group_purity,
    group_priors,
    overall_prior,
    uneven_label_warning,
)
from pueval.groups.row_blocks import RowBlock, group_counts, group_sizes, read_row_blocks
from pueval.groups.shrinkage import MIN_GROUPS
from pueval.groups.unclipped_estimates import UnclippedEstimates, estimate_groups, no_level_error
from pueval.samples.threads import iterate_in_threads
from pueval.sources.group_codes import number_groups
from pueval.sources.labels import LabelValues
from pueval.text.warning_lists import worst_warnings

if TYPE_CHECKING:
    from pueval.priors import PriorEstimate

# Smallest numbers of labeled and of background rows for a useful estimate.
MIN_LABELED = 20
MIN_BACKGROUND = 20
# Smallest number of labeled rows for an estimate that is shrunken.
MIN_LABELED_SHRUNKEN = 5


@suggest_arguments
def evaluate_by(
    y: Any,
    score: Any,
    by: Any,
    *,
    prior: float | PriorEstimate | None = None,
    prevalence: float | None = None,
    label_frequency: float | None = None,
    purity: float | Literal["estimate"] = 1.0,
    group_prior: GroupPrior = "shared",
    target: Target = "population",
    threshold: float | None = None,
    level: float | None = 0.95,
    n_resamples: int = 2000,
    seed: int = 0,
    shrink: bool = False,
    min_labeled: int | None = None,
    min_background: int = MIN_BACKGROUND,
    sample_weight: Any = None,
    cluster: Any = None,
    audited: Any = None,
    audit_probability: Any = None,
    labeling: Labeling = "smooth",
    pos_label: Any = 1,
    unlabeled_label: Any = 0,
    negative_label: Any = None,
    progress: bool | None = None,
) -> GroupEvaluation:
    """Evaluate a classifier in every group of rows.

    Every number is that of `pueval.evaluate` for the rows of the group, with the prior of the
    group and the threshold of all rows. Thousands of groups are evaluated together: rows are
    sorted once, by group and score. Intervals of the AUC are DeLong's, with one
    pseudo-observation per class. Those of average precision come from the influence of every row.
    Intervals of other measures use the delta method, with a step of one standard error of the
    shares of rows at or above the threshold. `evaluate` resamples the rows instead; both agree
    except for very small groups.

    Parameters
    ----------
    y, score : array-like
        Labels and scores, as for `pueval.evaluate`.
    by : array-like
        Group of every row: text, integers, dates or a categorical, without missing values. Groups
        are sorted; those of an ordered categorical keep its order.
    prior : float or PriorEstimate, optional
        Prior of all rows together, known or estimated.
    prevalence, label_frequency : float, optional
        Prevalence or label frequency of all rows together, instead of the prior. Without any of
        the three, the prior is estimated from the scores of all rows.
    purity : float or "estimate", default 1.0
        Share of true positives among the labeled rows, in every group. ``"estimate"`` estimates it
        from the scores of all rows; intervals include its uncertainty.
    group_prior : {"shared", "label_frequency", "each"} or mapping, default "shared"
        Prior of each group. ``"shared"``: that of all rows. ``"label_frequency"``: positives are
        equally likely to be labeled in every group, so the prior of a group follows from its
        numbers of rows. ``"each"``: estimated from the scores of the group, which needs many rows
        and takes a while. Or a mapping from groups to priors.
    target : {"population", "unlabeled"}
        Population to evaluate: all rows, or only the unlabeled rows.
    threshold : float, optional
        Threshold for all groups; by default the default threshold of all rows (see `evaluate`).
    level : float or None, default 0.95
        Confidence level; None for no intervals.
    n_resamples : int, default 2000
        Number of bootstrap resamples for the intervals of all rows together.
    seed : int, default 0
        Random seed for the resampling.
    shrink : bool, default False
        Shrink the estimates of all groups toward their mean (empirical Bayes), for many small
        groups; see `GroupEvaluation.shrinkage`. Assumes that groups are exchangeable. Needs at
        least five groups with estimates.
    min_labeled : int, optional
        Smallest number of labeled rows (or effective size, if rows have weights), at least 2; 20
        by default, or 5 with ``shrink``. Smaller groups get a note instead of estimates; with
        ``shrink``, the mean of the groups.
    min_background : int, default 20
        Smallest number of unlabeled and known negative rows together, likewise.
    cluster : array-like, optional
        Clusters of rows that belong together, as for `pueval.evaluate`; their rows may be in
        several groups. Not with ``shrink``, weights of zero or two-way clusters. Groups with fewer
        than 10 clusters that have labeled rows get values without intervals.
    audited, audit_probability, labeling : optional
        Results of checking some rows, as for `pueval.evaluate`. Every group is evaluated with its
        own audited rows and a labeling model of its own. Nothing is assumed about labels in other
        groups, so intervals of a group with few audited rows are wide. A group with fewer than 10
        audited unlabeled rows gets a note instead of estimates. The audit replaces the priors and
        ``group_prior``, and cannot be combined with ``shrink``.
    sample_weight, pos_label, unlabeled_label, negative_label : optional
        As for `Counts.from_arrays`.
    progress : bool, optional
        Whether to show a progress bar, which needs the package rich. By default it is shown in a
        terminal if evaluation takes longer than a second or two.

    Returns
    -------
    GroupEvaluation

    Warns
    -----
    AssumptionWarning
        If something is wrong with all rows together, or if groups with a shared prior differ in
        their shares of labeled rows. Problems of single groups are in ``notes``.

    Notes
    -----
    Groups can differ in their priors. With a shared prior, precision and AUC are underestimated
    in a group with more positives among its unlabeled rows than the others. With random labeling,
    ``group_prior="label_frequency"`` is right, and a shared prior is wrong unless all groups have
    the same share of labeled rows.

    With an audit, each group is resampled as in `evaluate`, which takes some tenths of a second per
    group. If labeled rows were audited, all groups have the same purity, and its error counts as
    independent between groups in averages and differences.

    References
    ----------
    DeLong, DeLong and Clarke-Pearson (1988) for the AUC.

    Examples
    --------
    >>> import numpy as np
    >>> from pueval import evaluate_by
    >>> rng = np.random.default_rng(0)
    >>> city = rng.choice(["Bern", "Oslo"], 20_000)
    >>> positive = rng.random(20_000) < 0.3
    >>> score = rng.normal(size=20_000) + np.where(city == "Oslo", 2.5, 1.5) * positive
    >>> labeled = positive & (rng.random(20_000) < 0.2)
    >>> groups = evaluate_by(labeled, score, city, prevalence=0.3)
    >>> groups["roc_auc"].value.round(2)
    array([0.85, 0.96])
    >>> groups.differences("roc_auc", reference="Bern").value.round(2)
    array([0. , 0.1])
    """
    given: dict[str, Any] = {
        "prior": prior,
        "prevalence": prevalence,
        "label_frequency": label_frequency,
    }
    check_single_values(given | {"purity": purity})
    if min_labeled is None:
        min_labeled = MIN_LABELED_SHRUNKEN if shrink else MIN_LABELED
    check_count("min_labeled", min_labeled, least=2)
    check_count("min_background", min_background, least=2)
    check_group_prior(group_prior, given)
    check_group_purity(purity, group_prior)
    if audited is not None:
        refuse_group_options(given, group_prior, shrink=shrink)
    else:
        refuse_audit_options(audit_probability, labeling)
    if shrink and level is None:
        raise no_level_error("shrinkage")
    labels = LabelValues(pos_label, unlabeled_label, negative_label)
    counts = Counts.from_arrays(
        y,
        score,
        sample_weight=sample_weight,
        cluster=cluster,
        pos_label=pos_label,
        unlabeled_label=unlabeled_label,
        negative_label=negative_label,
    )
    counts._check_nonempty()
    clusters = _check_clusters(counts, sample_weight, shrink=shrink)
    blocks, names = read_row_blocks(
        y, score, by, sample_weight, labels, progress=progress, clusters=clusters
    )
    sizes = group_sizes(blocks)
    notes = too_small_notes(sizes, target, min_labeled, min_background)
    counts_of = partial(group_counts, blocks)
    if audited is not None:
        rows = AuditedRows.read(
            y, score, audited, audit_probability, labels=labels, sample_weight=sample_weight
        )
        audits = GroupAudits.of(rows, audited, by, names)
        options: dict[str, Any] = {
            "labeling": labeling,
            "purity": purity,
            "level": level,
            "n_resamples": n_resamples,
            "seed": seed,
        }
        overall = evaluate_audited(counts, rows, target=target, threshold=threshold, **options)
        notes = audits.too_few_notes() | notes
        usable = np.ones(len(names), dtype=bool)
        usable[list(notes)] = False
        with progress_bar("evaluating", int(usable.sum()), show=progress) as advance:
            evaluated = AuditedGroups.evaluate(
                audits, usable, overall, counts_of, advance, **options
            )
        return _audited_groups(evaluated, names, overall, sizes, notes, blocks)
    if isinstance(group_prior, Mapping):
        given["prior"] = overall_prior(group_prior, names, sizes)
    overall = evaluate_counts(
        counts,
        **given,
        purity=purity,
        target=target,
        threshold=threshold,
        level=level,
        n_resamples=n_resamples,
        seed=seed,
    )
    enough = np.ones(len(names), dtype=bool)
    enough[list(notes)] = False
    show = progress if group_prior == "each" else False
    with progress_bar("priors", int(enough.sum()), show=show) as advance:
        priors = group_priors(group_prior, names, sizes, enough, overall, counts_of, advance)
    usable = enough & ~np.isnan(priors.prior)
    estimates, freedom, cluster_notes = _estimate_blocks(
        blocks,
        sizes,
        usable,
        priors,
        overall,
        label_count_error=own_label_count_error(sizes, overall, group_prior),
        progress=progress,
    )
    notes |= priors.notes | cluster_notes
    if shrink:
        _check_enough_groups(int(usable.sum()))
        notes = {
            k: f"{note}: mean of the groups"
            if sizes.n_unlabeled[k] or target == "population"
            else note
            for k, note in notes.items()
        }
    notes |= infeasible_notes(estimates, usable, level)
    messages = [*overall.warnings]
    label_effect = max(label_count_effect(counts), 1.0)
    uneven = uneven_label_warning(names, sizes, usable, label_effect)
    if group_prior == "shared" and uneven:
        messages.append(uneven)
    for warning in worst_warnings(messages):
        warn_caller(warning)
    return GroupEvaluation(
        tuple(names),
        overall,
        sizes,
        np.where(usable, priors.prior, np.nan),
        tuple(notes.get(k, "") for k in range(len(names))),
        estimates,
        priors,
        tuple(blocks),
        tuple(messages),
        shrink,
        _freedom=None if clusters is None else freedom,
        _clusters_span_groups=clusters is not None and _span_groups(cluster, by, len(y)),
    )


def _span_groups(cluster: Any, by: Any, rows: int) -> bool:
    """Return whether a cluster has rows in several groups."""
    cluster_code, used = number_groups(cluster, rows, "cluster")
    group, _ = number_groups(by, rows)
    of_cluster = np.zeros(used.max() + 1, dtype=group.dtype)
    of_cluster[cluster_code] = group
    return bool(np.any(of_cluster[cluster_code] != group))


def _check_clusters(counts: Counts, sample_weight: Any, *, shrink: bool) -> Clusters | None:
    """Return the clusters; refuse what has no form for clusters."""
    if counts._clusters is None:
        return None
    clusters = counts._clusters.clusters
    if shrink:
        raise InputError(
            "shrink cannot be combined with cluster: shrinkage leaves out rows one by one. Leave "
            "out one of them."
        )
    if clusters.ways > 1:
        raise InputError("evaluate_by has no two-way clusters. Pass one column as cluster.")
    if sample_weight is not None and clusters.kind.size < np.asarray(sample_weight).size:
        raise InputError("cluster cannot be combined with weights of zero. Drop these rows.")
    return clusters


def _audited_groups(
    evaluated: AuditedGroups,
    names: list[Any],
    overall: Evaluation,
    sizes: GroupSizes,
    notes: dict[int, str],
    blocks: list[RowBlock],
) -> GroupEvaluation:
    """Collect the evaluations of groups with an audit; issue the warnings about all rows."""
    for warning in worst_warnings(overall.warnings):
        warn_caller(warning)
    notes = evaluated.warnings | notes
    zero = np.zeros(len(names))
    return GroupEvaluation(
        tuple(names),
        overall,
        sizes,
        evaluated.prior,
        tuple(notes.get(k, "") for k in range(len(names))),
        evaluated.estimates(),
        GroupPriors(evaluated.prior, {}, zero, zero),
        tuple(blocks),
        overall.warnings,
        _audited=evaluated,
    )


def check_single_values(given: dict[str, Any], parts: str = "groups") -> None:
    """Refuse intervals of prior, prevalence, label frequency or purity."""
    for name, value in given.items():
        if isinstance(value, tuple | list):
            raise InputError(
                f"{name} must be a number for {parts}; got the interval {value!r}. "
                "Evaluate once for each end."
            )


def too_small_notes(
    sizes: GroupSizes, target: Target, min_labeled: int, min_background: int
) -> dict[int, str]:
    """Return notes for groups with too few rows."""
    labeled, unlabeled, negative = sizes.effective_by_kind
    background = unlabeled + negative
    notes = {}
    for k in np.flatnonzero((labeled < min_labeled) | (background < min_background)).tolist():
        parts = []
        for size, least, kind in (
            (labeled[k], min_labeled, "labeled"),
            (background[k], min_background, "unlabeled or known negative"),
        ):
            if not size:
                parts.append(f"no {kind} rows")
            elif size < least:
                rows = "row" if size == 1 else "rows"
                parts.append(f"{size:.4g} {kind} {rows}, fewer than {least}")
        notes[k] = " and ".join(parts)
    if target == "unlabeled":
        for k in np.flatnonzero(sizes.n_unlabeled == 0).tolist():
            notes.setdefault(k, "no unlabeled rows, which are the target")
    return notes


def _check_enough_groups(n_groups: int) -> None:
    if n_groups < MIN_GROUPS:
        raise InputError(
            f"shrinkage needs at least {MIN_GROUPS} groups with estimates; got {n_groups}. Leave "
            "out shrink, or lower min_labeled or min_background."
        )


def _estimate_blocks(
    blocks: list[RowBlock],
    sizes: GroupSizes,
    usable: Array,
    priors: GroupPriors,
    overall: Evaluation,
    *,
    label_count_error: Array,
    progress: bool | None,
) -> tuple[UnclippedEstimates, Array, dict[int, str]]:
    """Estimate all usable groups, block by block; others stay undefined.

    Also return the degrees of freedom of the errors, and why groups have no intervals.
    """
    estimates = UnclippedEstimates.undefined(usable.size)
    freedom = np.full(usable.size, np.inf)
    reasons: dict[int, str] = {}

    def estimate(block: RowBlock) -> None:
        groups = block.first + np.flatnonzero(usable[block.first : block.first + block.n_groups])
        if not groups.size:
            return
        block = block.part(groups - block.first)
        part = estimate_groups(
            block.steps().labeled_only(),
            sizes.take(groups),
            priors.prior[groups],
            overall,
            block.reached(overall.threshold),
            priors.error[groups],
            block.squared.reached(overall.threshold) if block.weighted else None,
            label_count_error=label_count_error[groups],
            purity_error=priors.purity_error,
            prior_slope=np.broadcast_to(priors.slope, priors.prior.shape)[groups],
        )
        if block.clusters is not None and overall.resampling is not None:
            counts = (block.counts(k) for k in range(block.n_groups))
            part, freedom[groups], missing = with_cluster_errors(
                part, counts, priors.prior[groups], overall
            )
            reasons.update(
                (k, reason) for k, reason in zip(groups.tolist(), missing, strict=True) if reason
            )
        estimates.put(groups, part)

    with progress_bar("evaluating", len(blocks), show=progress) as advance:
        for _ in iterate_in_threads(estimate, blocks):
            advance()
    return estimates, freedom, reasons


def own_label_count_error(sizes: GroupSizes, overall: Evaluation, group_prior: GroupPrior) -> Array:
    """Return the part, from 0 to 1, of the error of the label count that each group has alone."""
    if overall.target != "population" or group_prior == "label_frequency":
        # Priors that follow from the labeled rows of each group already have this error.
        return np.zeros(sizes.n.size)
    if overall.assumptions.prior_follows_from is None:
        return np.ones(sizes.n.size)
    # The shared prior follows from all labeled rows, and has the error of their number.
    # Windows with incomplete labels, which have no estimates, are not among all rows.
    own_part: Array = np.sqrt(np.maximum(1 - sizes.n / overall.counts.n, 0))
    return own_part


def infeasible_notes(
    estimates: UnclippedEstimates, usable: Array, level: float | None
) -> dict[int, str]:
    """Return notes for groups whose AUC exceeds 1 by more than chance, given so many groups."""
    if level is None or not usable.any():
        return {}
    quantile = -float(scipy.special.ndtri((1 - level) / usable.sum()))
    value, error = estimates.value["roc_auc"], estimates.total_error("roc_auc")
    with np.errstate(invalid="ignore"):
        infeasible = usable & (value - quantile * error > 1) & (value > 1 + 1e-9)
    return {
        k: f"the prior is larger than the ranking allows: corrected ROC AUC {value[k]:.3g}"
        for k in np.flatnonzero(infeasible).tolist()
        if not math.isnan(error[k])
    }
