"""evaluate_by(): the same evaluation for every group of rows, in one pass."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import scipy

from pueval._checks import check_count
from pueval._progress import progress_bar
from pueval._typing import Array, Target
from pueval.core.sizes import GroupSizes
from pueval.counts.arguments import suggest_arguments
from pueval.counts.counts import Counts
from pueval.errors import AssumptionWarning, InputError
from pueval.evaluation.evaluate import evaluate_counts
from pueval.evaluation.evaluation import Evaluation
from pueval.evaluation.findings import worst_warnings
from pueval.groups.group_evaluation import GroupEvaluation, no_level_error
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
from pueval.groups.unclipped_estimates import UnclippedEstimates, estimate_groups
from pueval.samples.threads import iterate_in_threads
from pueval.sources.labels import LabelValues

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
        Group of every row: text, integers, dates or a categorical, without missing values.
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
    _check_single_values(given | {"purity": purity})
    if min_labeled is None:
        min_labeled = MIN_LABELED_SHRUNKEN if shrink else MIN_LABELED
    check_count("min_labeled", min_labeled, least=2)
    check_count("min_background", min_background, least=2)
    check_group_prior(group_prior, given)
    check_group_purity(purity, group_prior)
    if shrink and level is None:
        raise no_level_error("shrinkage")
    labels = LabelValues(pos_label, unlabeled_label, negative_label)
    counts = Counts.from_arrays(
        y,
        score,
        sample_weight=sample_weight,
        pos_label=pos_label,
        unlabeled_label=unlabeled_label,
        negative_label=negative_label,
    )
    counts._check_nonempty()
    blocks, names = read_row_blocks(y, score, by, sample_weight, labels, progress=progress)
    sizes = group_sizes(blocks)
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
    notes = _too_small_notes(sizes, target, min_labeled, min_background)
    enough = np.ones(len(names), dtype=bool)
    enough[list(notes)] = False
    counts_of = partial(group_counts, blocks)
    show = progress if group_prior == "each" else False
    with progress_bar("priors", int(enough.sum()), show=show) as advance:
        priors = group_priors(group_prior, names, sizes, enough, overall, counts_of, advance)
    usable = enough & ~np.isnan(priors.prior)
    estimates = _estimate_blocks(
        blocks,
        sizes,
        usable,
        priors,
        overall,
        label_count_error=_label_count_error(sizes, overall, group_prior),
        progress=progress,
    )
    notes |= priors.notes
    if shrink:
        _check_enough_groups(int(usable.sum()))
        notes = {
            k: f"{note}: mean of the groups"
            if sizes.n_unlabeled[k] or target == "population"
            else note
            for k, note in notes.items()
        }
    notes |= _infeasible_notes(estimates, usable, level)
    messages = [*overall.warnings]
    if group_prior == "shared" and (uneven := uneven_label_warning(names, sizes, usable)):
        messages.append(uneven)
    for warning in worst_warnings(messages):
        warnings.warn(warning, AssumptionWarning, stacklevel=3)
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
    )


def _check_single_values(given: dict[str, Any]) -> None:
    for name, value in given.items():
        if isinstance(value, tuple | list):
            raise InputError(
                f"{name} must be a number for groups; got the interval {value!r}. "
                "Call evaluate_by once for each end."
            )


def _too_small_notes(
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
) -> UnclippedEstimates:
    """Estimate all usable groups, block by block; others stay undefined."""
    estimates = UnclippedEstimates.undefined(usable.size)

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
        estimates.put(groups, part)

    with progress_bar("evaluating", len(blocks), show=progress) as advance:
        for _ in iterate_in_threads(estimate, blocks):
            advance()
    return estimates


def _label_count_error(sizes: GroupSizes, overall: Evaluation, group_prior: GroupPrior) -> Array:
    """Return the part, from 0 to 1, of the error of the label count that each group has alone."""
    if overall.target != "population" or group_prior == "label_frequency":
        # Priors that follow from the labeled rows of each group already have this error.
        return np.zeros(sizes.n.size)
    if overall.assumptions.prior_follows_from is None:
        return np.ones(sizes.n.size)
    # The shared prior follows from all labeled rows, and has the error of their number.
    own_part: Array = np.sqrt(1 - sizes.n / sizes.n.sum())
    return own_part


def _infeasible_notes(
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
