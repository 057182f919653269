"""From audited rows to Counts that know their positives."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import get_args

import numpy as np

from pueval._checks import check_choice
from pueval._typing import Array, Target
from pueval.audit_estimates.audited_rows import (
    AuditedRows,
    checked_share,
    design_warnings,
    effective_number,
)
from pueval.audit_estimates.design_estimate import difference_estimate, drawn_weights
from pueval.audit_estimates.design_weight import combine_draws, design_weight
from pueval.audit_estimates.labeling_model import (
    AuditTally,
    Labeling,
    LabelingModel,
    ModelLabeling,
    Posterior,
    model_labeling,
    spread_draws,
)
from pueval.audit_estimates.score_cells import ScoreCells
from pueval.counts.audited_positives import AuditedPositives, raise_purity
from pueval.counts.counts import Counts
from pueval.errors import Contradiction, InputError
from pueval.samples.sample import EMPTY, make_sample
from pueval.uncertainty.audited_draws import with_wrong_labels

# Scores at which the positives are tabulated.
FINE_CELLS = 2048
# Effective rows of a group within which weights are compared, and largest number of groups.
WEIGHTED_GROUP, MOST_GROUPS = 30, 8
# Rows on either side whose weights are averaged.
NEIGHBORS = 10
# A warning is given if rows of similar scores are worth less than this share of their number, and
# fewer than so many rows.
LEAST_EFFICIENCY, ENOUGH_ROWS = 0.5, 100
# Fewer audited unlabeled rows say nothing.
LEAST_AUDITED = 10


@dataclass(frozen=True, eq=False)
class AppliedAudit:
    """Counts with the positives that an audit implies, and how they were found.

    Attributes
    ----------
    counts : Counts
        The same rows, with ``_represented`` positives and ``_audit``.
    rows : AuditedRows
        The audited rows.
    labeling : {"smooth", "random", "score", "any"}
        What was assumed about labeling.
    cells : ScoreCells
        Cells of the score.
    model : LabelingModel
        The labeling model, for tests.
    posterior : Posterior
        Draws of propensities and shares of positives from the labeling model.
    design_weight : float
        Weight of the design-based estimate of the positives; that of the labeling model is 1 minus
        it.
    covered : float
        Share of the unlabeled rows that the audited ones are a sample of; below 1 if only rows
        above some score were audited.
    warnings : tuple of str
        What looks wrong.
    """

    counts: Counts
    rows: AuditedRows
    labeling: Labeling
    cells: ScoreCells
    model: LabelingModel
    posterior: Posterior
    design_weight: float
    covered: float
    warnings: tuple[str, ...]

    @property
    def assumed(self) -> ModelLabeling:
        """Labeling that the model assumes: ``"any"`` corrects the default one."""
        return model_labeling(self.labeling)


def apply_audit(
    counts: Counts,
    rows: AuditedRows,
    *,
    labeling: Labeling = "smooth",
    purity: float = 1.0,
    purity_audit: AuditedRows | None = None,
    target: Target = "population",
    n_draws: int = 2000,
    seed: int = 0,
    alone: bool = False,
) -> AppliedAudit:
    """Estimate the positives from an audit.

    Parameters
    ----------
    counts : Counts
        All rows.
    rows : AuditedRows
        The audited ones.
    labeling : {"smooth", "random", "score", "any"}
        What to assume about labeling; see `evaluate`.
    purity : float
        Share of true positives among the labeled rows; used if no labeled row was audited.
    purity_audit : AuditedRows, optional
        Rows whose labeled ones determine the purity; by default ``rows``.
    target : {"population", "unlabeled"}
        Population to evaluate.
    n_draws, seed : int
        Number of draws from the distribution of the positives, and random seed.
    alone : bool
        Whether to leave labels and model out: the estimate from audited rows only.

    Returns
    -------
    AppliedAudit
    """
    check_choice("labeling", labeling, get_args(Labeling))
    unlabeled, labeled = (rows.part(labeled=kind).in_order() for kind in (False, True))
    if len(unlabeled) < LEAST_AUDITED:
        raise InputError(
            f"at least {LEAST_AUDITED} unlabeled rows must be audited; got {len(unlabeled):,}. "
            "Check more rows, drawn at random from the unlabeled ones."
        )
    cells, covered = ScoreCells.of(counts), checked_share(counts, rows)
    tally = audit_tally(cells, rows)
    by_purity = labeled if purity_audit is None else purity_audit.part(labeled=True).in_order()
    purity, purity_draws = _purity(by_purity, purity, n_draws, seed)
    model, posterior = _fit_labeling(cells, tally, labeling, purity, n_draws, seed)
    by_model = posterior.unlabeled_positive.mean(axis=0)
    hidden, weight = by_model, 0.0
    share_draws = posterior.positive if target == "population" else posterior.unlabeled_positive
    if labeling in ("smooth", "any") or alone:
        hidden, hidden_draws = difference_estimate(
            cells, unlabeled, by_model, covered=covered, alone=alone, n_draws=n_draws, seed=seed
        )
        n_positive = effective_number(unlabeled.weight[unlabeled.positive])
        hidden_draws = spread_draws(hidden_draws, n_positive)
        weight = 1.0
        if labeling == "smooth" and not alone:
            weight = design_weight(cells.unlabeled, by_model, hidden, hidden_draws)
            hidden = (1 - weight) * by_model + weight * hidden
        labeled_share, center, in_target = posterior.labeled_positive, hidden, cells.unlabeled
        if target == "population":
            in_target = cells.labeled + cells.unlabeled
            hidden_draws = _pooled(cells, labeled_share, hidden_draws)
            center = _pooled(cells, labeled_share.mean(axis=0), hidden)
        if weight < 1:
            hidden_draws = combine_draws(center, share_draws, hidden_draws, weight, in_target)
        share_draws = hidden_draws
    positives = AuditedPositives(
        lower=cells.lower,
        labeled_share=_labeled_share(cells, posterior, purity),
        unlabeled_share=hidden,
        share_draws=share_draws,
        purity=purity,
        purity_draws=purity_draws,
        target=target,
    )
    by_audit, positives = positives, _with_purity_above_prior(counts, cells, positives)
    warnings = [
        *design_warnings(counts, rows, covered),
        _unequal_weights(unlabeled),
        _low_purity(by_purity, by_audit, positives),
    ]
    return AppliedAudit(
        _represent(counts, positives, counts._labeled.n_rows + unlabeled.n_positive),
        rows,
        labeling,
        cells,
        model,
        posterior,
        weight,
        covered,
        tuple(warning for warning in warnings if warning),
    )


def _fit_labeling(
    cells: ScoreCells,
    tally: AuditTally,
    labeling: Labeling,
    purity: float,
    n_draws: int,
    seed: int,
) -> tuple[LabelingModel, Posterior]:
    """Return the labeling model and draws from its posterior distribution."""
    assumed, model = model_labeling(labeling), LabelingModel(cells, tally)
    posterior = model.sample(assumed, n_draws, seed)
    if purity < 1:
        # The rate of wrong labels depends on the number of negatives, and that on the fit.
        n_rows = cells.labeled + cells.unlabeled
        for _ in range(2):
            n_negative = np.sum(n_rows * (1 - posterior.positive.mean(axis=0)))
            wrong_rate = min((1 - purity) * cells.labeled.sum() / max(n_negative, 1.0), 0.5)
            model = LabelingModel(cells, tally, wrong_rate)
            posterior = model.sample(assumed, n_draws, seed)
    return model, posterior


def audit_tally(cells: ScoreCells, audited: AuditedRows) -> AuditTally:
    """Count audited rows in each cell, in units of effective rows."""

    def count(rows: AuditedRows) -> tuple[Array, Array]:
        weight = relative_weights(rows)
        return (
            cells.count(rows.score, weight * rows.positive),
            cells.count(rows.score, weight * ~rows.positive),
        )

    unlabeled, labeled = (audited.part(labeled=kind).in_order() for kind in (False, True))
    return AuditTally(*count(unlabeled), *count(labeled))


def relative_weights(rows: AuditedRows) -> Array:
    """Return the weight of each row relative to rows with similar scores, in effective rows.

    The model describes rows by their score. So probabilities that depend on the score only need no
    weights, and others need weights only relative to rows with similar scores: those of one of a
    few groups. In each group the weights sum to the effective number of rows (Kish). There are as
    many groups as can have `WEIGHTED_GROUP` effective rows each. Any function of the score can be
    divided out first; a smooth one that follows the weights keeps most effective rows.
    """
    relative = np.ones(len(rows))
    order = np.argsort(rows.score, kind="stable")
    weights = rows.weight / _weight_by_score(rows.weight, order)
    for n_groups in range(MOST_GROUPS, 0, -1):
        groups = [group for group in np.array_split(order, n_groups) if group.size]
        for group in groups:
            weight = weights[group]
            relative[group] = weight * weight.sum() / np.sum(weight**2)
        if min((relative[group].sum() for group in groups), default=0) >= WEIGHTED_GROUP:
            break
    return relative


def _weight_by_score(weight: Array, order: Array) -> Array:
    """Return the geometric mean of the weights of the rows with the nearest other scores."""
    if weight.size < 2:
        return np.ones(weight.size)
    # Weights can be 0.
    logarithm = np.log(np.maximum(weight[order], 1e-6 * weight.max()))
    total, place = np.r_[0.0, np.cumsum(logarithm)], np.arange(weight.size)
    first, last = (place - NEIGHBORS).clip(0), (place + NEIGHBORS + 1).clip(max=weight.size)
    smooth = np.empty(weight.size)
    # Without the row itself, whose weight would be shrunken else.
    smooth[order] = np.exp((total[last] - total[first] - logarithm) / (last - first - 1))
    return smooth


def _purity(labeled: AuditedRows, purity: float, n_draws: int, seed: int) -> tuple[float, Array]:
    """Return the purity and draws of it: from audited labeled rows, if there are any.

    Draws come from `drawn_weights`, with half a pseudo-observation of each class, whose weight is
    that of a random row. With equal weights, this is the posterior with Jeffreys' prior.
    """
    if not len(labeled):
        return purity, np.full(n_draws, purity)
    weight, rng = labeled.weight, np.random.default_rng([seed, 24])
    (positive,), drawn = drawn_weights([labeled.positive], weight, n_draws, rng)
    pseudo = rng.choice(weight, size=(n_draws, 2)) * rng.gamma(0.5, size=(n_draws, 2))
    total = drawn.sum(axis=1) + pseudo.sum(axis=1)
    draws = (drawn @ positive + pseudo[:, 0]) / total
    half = weight.mean() / 2
    return float((weight @ labeled.positive + half) / (weight.sum() + 2 * half)), draws


def _labeled_share(cells: ScoreCells, posterior: Posterior, purity: float) -> Array:
    """Return the share of positives among labeled rows; over all rows it is the purity."""
    share: Array = posterior.labeled_positive.mean(axis=0)
    scaled: Array = share * purity / np.average(share, weights=cells.labeled)
    return scaled


def _with_purity_above_prior(
    counts: Counts, cells: ScoreCells, positives: AuditedPositives
) -> AuditedPositives:
    """Return the positives with purities raised above the prior: see `raise_purity`."""
    if np.all(positives.purity_draws == 1):
        return positives
    prior = np.average(positives.unlabeled_share, weights=cells.unlabeled)
    purity = float(raise_purity(np.asarray(positives.purity), prior))
    draws = raise_purity(positives.purity_draws, positives.prior_draws(counts))
    if purity == positives.purity:
        return replace(positives, purity_draws=draws)
    labeled_share = positives.labeled_share * purity / positives.purity
    share_draws = positives.share_draws
    if positives.target == "population":
        share_draws = share_draws + _pooled(cells, labeled_share - positives.labeled_share, 0.0)
    return replace(
        positives,
        labeled_share=labeled_share,
        share_draws=share_draws,
        purity=purity,
        purity_draws=draws,
    )


def _unequal_weights(unlabeled: AuditedRows) -> str | None:
    """Warn that unequal weights make the audited rows worth far fewer."""
    number, worth = len(unlabeled), float(relative_weights(unlabeled).sum())
    if worth >= min(LEAST_EFFICIENCY * number, ENOUGH_ROWS):
        return None
    return (
        f"the {number:,} audited unlabeled rows are worth only {worth:.0f}: rows with similar "
        "scores have very different weights or audit probabilities. Intervals can be too narrow. "
        "Audit more of the rows that have large weights or were unlikely to be chosen."
    )


def _low_purity(
    labeled: AuditedRows, by_audit: AuditedPositives, used: AuditedPositives
) -> str | None:
    """Warn that the audit found a purity that is too low for a correction, beyond chance."""
    if not len(labeled) or np.quantile(by_audit.purity_draws, 0.99) >= used.purity:
        return None
    return Contradiction(
        f"only {np.sum(labeled.positive):,} of {len(labeled):,} audited labeled rows are positive. "
        f"The labels say too little about the positives for a correction, which needs a purity of "
        f"at least {used.purity:.3g} here; the audit found {by_audit.purity:.3g}. Check what the "
        "labels mean, and that rows that nobody checked are missing, not 0; or evaluate with other "
        "labels."
    )


def _pooled(cells: ScoreCells, labeled_share: Array, unlabeled_share: Array | float) -> Array:
    """Return the share of positives among labeled and unlabeled rows together."""
    rows = np.maximum(cells.labeled + cells.unlabeled, 1e-12)
    share: Array = (cells.labeled * labeled_share + cells.unlabeled * unlabeled_share) / rows
    return share


def _represent(counts: Counts, positives: AuditedPositives, effective: float) -> Counts:
    """Return the counts with the estimated positives.

    ``effective`` is the effective number of positives, for choosing a stable threshold.
    """
    rows = Counts(counts._labeled, counts._unlabeled, counts._negative)
    fine = rows._thinned(FINE_CELLS, keep=positives.lower)
    number = positives.positives(fine.score, fine.labeled, fine.unlabeled)
    if positives.purity < 1 and number.any():
        # Rates are corrected for purity; so wrong labels are mixed in, spread like the negatives.
        in_target = fine.unlabeled
        if positives.target == "population":
            in_target = in_target + fine.labeled + fine.negative
        tpr = np.cumsum(number) / number.sum()
        share = with_wrong_labels(
            tpr,
            np.cumsum(in_target) / in_target.sum(),
            np.asarray(number.sum() / in_target.sum()),
            np.asarray(positives.purity),
        )
        number = number.sum() * np.diff(np.maximum.accumulate(share), prepend=0)
    square = number * number.sum() / effective
    represented = make_sample(fine.score.astype(np.float64), number, square)
    return replace(counts, _represented=represented, _audit=positives, _inverse_propensities=EMPTY)
