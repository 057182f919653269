"""evaluate_by(): the same evaluation for every group of rows, in one pass."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import scipy

from pueval._checks import check_count
from pueval._progress import progress_bar
from pueval._typing import Array, Target
from pueval.core.sizes import GroupSizes
from pueval.counts.counts import Counts
from pueval.errors import AssumptionWarning, InputError
from pueval.evaluation.evaluate import evaluate
from pueval.evaluation.evaluation import Evaluation
from pueval.groups.group_codes import encode_groups
from pueval.groups.group_evaluation import GroupEvaluation
from pueval.groups.group_priors import (
    GroupPrior,
    GroupPriors,
    check_way,
    group_priors,
    overall_prior,
    uneven_labels,
)
from pueval.groups.row_blocks import RowBlock, block_of, sort_block, split_into_blocks
from pueval.groups.unclipped_estimates import UnclippedEstimates, estimate_groups
from pueval.samples.threads import available_cores
from pueval.sources.arrays import as_scores, as_weights, check_same_order, equal_labels, one_column
from pueval.sources.labels import LabelValues

# Rows that a group needs, of each of two kinds, for an estimate that says more than its limits do.
MIN_LABELED = 20
MIN_OTHERS = 20


def evaluate_by(
    y: Any,
    score: Any,
    by: Any,
    *,
    prior: float | None = None,
    prevalence: float | None = None,
    label_frequency: float | None = None,
    purity: float = 1.0,
    group_prior: GroupPrior = "shared",
    target: Target = "population",
    threshold: float | None = None,
    level: float | None = 0.95,
    n_resamples: int = 2000,
    seed: int = 0,
    min_labeled: int = MIN_LABELED,
    min_others: int = MIN_OTHERS,
    sample_weight: Any = None,
    pos_label: Any = 1,
    unlabeled_label: Any = 0,
    negative_label: Any = None,
    progress: bool | None = None,
) -> GroupEvaluation:
    """Evaluate a classifier in every group of rows.

    Every number is that of `pueval.evaluate` for the rows of the group, with the group's prior and
    the threshold of all groups. Thousands of groups are evaluated together: rows are sorted
    once, by group and score. Limits of the AUC are DeLong's; those of average precision come
    from the influence of every row, and those of all other measures from their change
    with one standard error of the shares of rows beyond the threshold (`evaluate` draws the rows
    again instead; both agree but for very small groups).

    Parameters
    ----------
    y, score : array-like
        As for `pueval.evaluate`.
    by : array-like
        The group of every row: text, whole numbers, dates, a categorical. Missing values are
        refused.
    prior, prevalence, label_frequency : float, optional
        As for `pueval.evaluate`, of all rows together. At most one; without any of them the prior
        is estimated from the scores of all rows.
    purity : float, default 1.0
        Share of true positives among the labeled rows, in every group.
    group_prior : {"shared", "label_frequency", "each"} or mapping, default "shared"
        What the prior of a group is. ``"shared"``: that of all rows. ``"label_frequency"``:
        positives have the same chance of being labeled in every group, so that the prior of a
        group follows from its numbers of rows. ``"each"``: estimated from the scores of the
        group; this needs many rows and takes a while. Or a mapping from groups to priors.
    target : {"population", "unlabeled"}
        As for `pueval.evaluate`.
    threshold : float, optional
        The same in all groups; by default that of the best Matthews correlation of all rows.
    level : float or None, default 0.95
        Confidence level; None for no limits.
    n_resamples, seed : int
        For the limits of all rows together.
    min_labeled, min_others : int, default 20
        Groups with fewer labeled, or fewer unlabeled and known negative rows (effective numbers, if
        rows have weights) get no estimates but a note. Both at least 2.
    sample_weight, pos_label, unlabeled_label, negative_label : optional
        As for `Counts.from_arrays`.
    progress : bool, optional
        Whether to show a progress bar (needs the package rich); by default in a terminal, if it
        takes longer than a second or two.

    Returns
    -------
    GroupEvaluation

    Warns
    -----
    AssumptionWarning
        What looked wrong with all rows together, or if groups with a shared prior differ in their
        shares of labeled rows; what looked wrong in a group is in ``notes``.

    Notes
    -----
    A difference between groups may be one of priors: with a shared prior, a group with more hidden
    positives than the others has its precision and AUC underestimated. If labels are a
    random draw from all positives, ``group_prior="label_frequency"`` is right and the shared prior
    is not, unless the groups have the same share of labeled rows.

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
    _check_numbers(purity, prior, prevalence, label_frequency, min_labeled, min_others)
    given: dict[str, Any] = {
        "prior": prior,
        "prevalence": prevalence,
        "label_frequency": label_frequency,
    }
    check_way(group_prior, given)
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
    blocks, names = _sorted(y, score, by, sample_weight, labels, progress=progress)
    totals = _totals(blocks)
    if isinstance(group_prior, Mapping):
        given["prior"] = overall_prior(group_prior, names, totals)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssumptionWarning)
        overall = evaluate(
            counts,
            **given,
            purity=purity,
            target=target,
            threshold=threshold,
            level=level,
            n_resamples=n_resamples,
            seed=seed,
        )
    notes = _too_small(totals, target, min_labeled, min_others)
    enough = np.ones(len(names), dtype=bool)
    enough[list(notes)] = False

    def counts_of(group: int) -> Counts:
        block = block_of(blocks, group)
        return block.counts(group - block.first)

    each = group_prior == "each"
    with progress_bar("priors", int(enough.sum()), show=progress if each else False) as advance:
        found = group_priors(group_prior, names, totals, enough, overall, counts_of, advance)
    notes |= found.notes
    usable = enough & ~np.isnan(found.prior)
    chance = _own_chance(totals, overall, group_prior)
    raw = _evaluate(blocks, totals, usable, found, overall, chance=chance, progress=progress)
    notes |= _contradictions(raw, usable, level)
    uneven = uneven_labels(names, totals, usable) if group_prior == "shared" else None
    said = (*overall.warnings, *([uneven] if uneven else []))
    for warning in said:
        warnings.warn(warning, AssumptionWarning, stacklevel=2)
    return GroupEvaluation(
        tuple(names),
        overall,
        totals,
        np.where(usable, found.prior, np.nan),
        tuple(notes.get(k, "") for k in range(len(names))),
        raw,
        found,
        tuple(blocks),
        said,
    )


def _check_numbers(
    purity: Any, prior: Any, prevalence: Any, label_frequency: Any, labeled: Any, others: Any
) -> None:
    names = ("purity", "prior", "prevalence", "label_frequency")
    for name, value in zip(names, (purity, prior, prevalence, label_frequency), strict=True):
        if isinstance(value, tuple | list):
            raise InputError(
                f"{name} must be a number for groups; got the interval {value!r}. "
                "Evaluate with both its ends."
            )
    if isinstance(purity, str):
        raise InputError(
            f"purity must be a number for groups; got {purity!r}. Estimate it from all rows "
            "first: pueval.priors.estimate(y, score, purity='estimate')."
        )
    for name, value in (("min_labeled", labeled), ("min_others", others)):
        check_count(name, value, least=2)


def _sorted(
    y: Any, score: Any, by: Any, sample_weight: Any, labels: LabelValues, *, progress: bool | None
) -> tuple[list[RowBlock], list[Any]]:
    """Sort the rows by group and score; labels, scores and weights have been checked."""
    check_same_order({"y": y, "by": by})
    y, score = one_column(y, "y"), as_scores(one_column(score, "score"))
    sample_weight = (
        None if sample_weight is None else as_weights(one_column(sample_weight, "sample_weight"))
    )
    kind = np.zeros(y.size, dtype=np.int8)
    for number, value in enumerate(labels.values):
        if number and value is not None:
            kind[equal_labels(y, value)] = number
    names, code = encode_groups(by, y.size)
    parts = split_into_blocks(code, len(names))

    def sort(part: tuple[int, int, Array]) -> RowBlock:
        return sort_block(*part, code, score, kind, sample_weight)

    with progress_bar("sorting", len(parts), show=progress) as advance:
        blocks = []
        for block in _in_order(sort, parts):
            blocks.append(block)
            advance()
    return blocks, names


def _in_order(function: Any, items: Any) -> Any:
    """Apply a function on all cores, and yield the results in order as they come."""
    items = list(items)
    with ThreadPoolExecutor(max(min(len(items), available_cores()), 1)) as pool:
        yield from pool.map(function, items)


def _totals(blocks: list[RowBlock]) -> GroupSizes:
    total, effective = [], []
    for kind in range(3):
        sums = np.concatenate([block.sums(kind) for block in blocks])
        total.append(sums)
        if not blocks[0].weighted:
            effective.append(sums.astype(np.float64))
            continue
        together = np.concatenate([block.squared.sums(kind) for block in blocks])
        effective.append(np.divide(sums**2, together, out=np.zeros(sums.size), where=together > 0))
    return GroupSizes(total[0], total[1], total[2], (effective[0], effective[1], effective[2]))


def _too_small(
    totals: GroupSizes, target: Target, min_labeled: int, min_others: int
) -> dict[int, str]:
    """Say which groups have too few rows."""
    labeled = totals.effective_by_kind[0]
    others = totals.effective_by_kind[1] + totals.effective_by_kind[2]
    notes = {}
    for k in np.flatnonzero((labeled < min_labeled) | (others < min_others)).tolist():
        said = []
        for number, least, what in (
            (labeled[k], min_labeled, "labeled"),
            (others[k], min_others, "unlabeled or known negative"),
        ):
            if number < least:
                rows = "row" if number == 1 else "rows"
                said.append(
                    f"{number:.4g} {what} {rows}, fewer than {least}"
                    if number
                    else f"no {what} rows"
                )
        notes[k] = " and ".join(said)
    if target == "unlabeled":
        for k in np.flatnonzero(totals.n_unlabeled == 0).tolist():
            notes.setdefault(k, "no unlabeled rows, whose performance is asked for")
    return notes


def _evaluate(
    blocks: list[RowBlock],
    totals: GroupSizes,
    usable: Array,
    priors: GroupPriors,
    overall: Evaluation,
    *,
    chance: Array,
    progress: bool | None,
) -> UnclippedEstimates:
    """Evaluate all usable groups, block by block; the others stay undefined."""
    raw = UnclippedEstimates.undefined(usable.size)

    def one(block: RowBlock) -> None:
        groups = block.first + np.flatnonzero(usable[block.first : block.first + block.n_groups])
        if not groups.size:
            return
        block = block.part(groups - block.first)
        part = estimate_groups(
            block.steps().labeled_only(),
            totals.take(groups),
            priors.prior[groups],
            overall,
            block.reached(overall.threshold),
            priors.error[groups],
            block.squared.reached(overall.threshold) if block.weighted else None,
            label_count_error=chance[groups],
        )
        raw.put(groups, part)

    with progress_bar("evaluating", len(blocks), show=progress) as advance:
        for _ in _in_order(one, blocks):
            advance()
    return raw


def _own_chance(totals: GroupSizes, overall: Evaluation, way: Any) -> Array:
    """Return how much of what its number of labeled rows may err each group has for itself."""
    if overall.target != "population" or way == "label_frequency":
        # Where priors follow from the labeled rows of each group, their errors say it all.
        return np.zeros(totals.n.size)
    if overall.assumptions.prior_follows_from is None:
        return np.ones(totals.n.size)
    # The common prior follows from all labeled rows, and has the error of their number.
    own: Array = np.sqrt(1 - totals.n / totals.n.sum())
    return own


def _contradictions(raw: UnclippedEstimates, usable: Array, level: float | None) -> dict[int, str]:
    """Say in which groups the AUC is above 1 by more than chance explains, for so many groups."""
    if level is None or not usable.any():
        return {}
    reach = -float(scipy.special.ndtri((1 - level) / usable.sum()))
    value, error = raw.value["roc_auc"], raw.total_error("roc_auc")
    with np.errstate(invalid="ignore"):
        beyond = usable & (value - reach * error > 1) & (value > 1 + 1e-9)
    return {
        k: f"the prior is more than the ranking allows: corrected ROC AUC {value[k]:.3g}"
        for k in np.flatnonzero(beyond).tolist()
        if not math.isnan(error[k])
    }
