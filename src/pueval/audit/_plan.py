"""plan(): which unlabeled rows to check, for narrow intervals of the measures you need."""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from pueval._checks import check_count, check_fraction
from pueval._typing import Array, Range, Target
from pueval.audit._allocation import allocate
from pueval.audit._forecast import AuditSimulation, stratum_counts
from pueval.audit._measure_gradients import check_measures
from pueval.audit._plan_result import Plan, PlanRows, check_budget
from pueval.audit._plan_strata import PlanStrata
from pueval.audit_estimates.audited_rows import AuditedRows, checked_rows
from pueval.counts.arguments import read_counts, suggest_arguments
from pueval.counts.counts import Counts
from pueval.errors import InputError, warn_caller
from pueval.evaluation.evaluate import evaluate_audited, evaluate_counts
from pueval.sources.arrays import as_scores, as_weights, label_kinds, one_column, owned_column
from pueval.sources.labels import LabelValues
from pueval.text.warning_lists import worst_warnings

# Scores that simulated audits distinguish.
SCORES = 512

if TYPE_CHECKING:
    from pueval.priors import PriorEstimate


@suggest_arguments
def plan(
    y: Any,
    score: Any = None,
    *,
    budget: int = 200,
    measure: Any = "f1",
    threshold: float | None = None,
    prior: float | Range | PriorEstimate | None = None,
    prevalence: float | Range | None = None,
    label_frequency: float | Range | None = None,
    purity: float | Range | Literal["estimate"] = 1.0,
    target: Target = "population",
    floor: float = 0.1,
    level: float = 0.95,
    seed: int = 0,
    sample_weight: Any = None,
    audited: Any = None,
    audit_probability: Any = None,
    pos_label: Any = 1,
    unlabeled_label: Any = 0,
    negative_label: Any = None,
) -> Plan:
    """Plan an audit: the probability with which each unlabeled row is to be checked.

    A checked row tells most where its class is uncertain and changes the measure much. Let m be
    the probability that an unlabeled row is positive, given its score, and d the change of the
    measure by one more positive with that score. The variance of the estimated measure is about
    Σ d²·m·(1 − m)/q over the unlabeled rows, with q the probability of being checked. For a given
    budget Σ q it is smallest if q is proportional to √(d²·m·(1 − m)), which is Neyman's
    allocation. For several measures, q minimizes the sum of their variances, each relative to the
    smallest one possible. A floor keeps every row possible, so that the audit can contradict what
    was expected.

    Rows are in strata of similar scores. Without an earlier audit, m = prior·f₁/f_U if labels are
    random, with f₁ and f_U the densities of positives and of unlabeled rows. Labels may favor low
    or high scores instead. So q minimizes the sum of the variances under three labelings: random,
    and with log-odds of a label that fall or rise by 1 with every standard deviation of the labeled
    rows' scores. If all of them are wrong, the plan is less efficient, but what the audit finds
    stays right.

    Parameters
    ----------
    y : array-like or Counts
        Labels: 1 or True for labeled positives, 0 or False for unlabeled rows. Or Counts, without
        ``score``; then choose rows where they are, with ``plan.probability(score)``.
    score : array-like
        Scores; higher means more likely positive.
    budget : int, default 200
        Number of unlabeled rows to check; at least 10.
    measure : str or sequence of str, default "f1"
        What the audit is for: measures of `evaluate`, such as ``"f1"``, ``"recall"`` or
        ``"roc_auc"``, and ``"prevalence"``, the share of positives.
    threshold : float, optional
        Score at or above which rows are predicted positive; by default that of `evaluate`.
    prior, prevalence, label_frequency, purity, target : optional
        As for `evaluate`; what is believed before the audit.
    floor : float, default 0.1
        Smallest probability of a row, as a share of that in a simple random sample; in (0, 1]. With
        1, the plan is a simple random sample.
    level : float, default 0.95
        Confidence level of the intervals whose widths are forecast.
    seed : int, default 0
        Random seed of the forecasts.
    audited, audit_probability : optional
        What an earlier audit found, as for `evaluate`. The plan continues it: the shares of
        positives come from it, and its rows are not chosen again. See `combine_probability`.
    sample_weight, pos_label, unlabeled_label, negative_label : optional
        As for `Counts.from_arrays`.

    Returns
    -------
    Plan

    Warns
    -----
    AssumptionWarning
        As `evaluate` does, without an audit or with the earlier one.

    References
    ----------
    Neyman (1934), On the two different aspects of the representative method; for samples with
    given probabilities, Madow (1949), On the theory of systematic sampling.

    Examples
    --------
    >>> import numpy as np
    >>> from pueval import audit, evaluate
    >>> rng = np.random.default_rng(0)
    >>> positive = rng.random(20_000) < 0.1
    >>> score = rng.normal(size=20_000) + 2 * positive
    >>> y = positive & (rng.random(20_000) < 0.3)
    >>> plan = audit.plan(y, score, budget=200, measure="f1", threshold=1.6)
    >>> rows = plan.draw(seed=1)
    >>> rows.size, round(plan.probabilities.sum())
    (200, 200)

    Have these rows checked, and evaluate:

    >>> truth = np.full(20_000, np.nan)
    >>> truth[rows] = positive[rows]
    >>> ev = evaluate(
    ...     y, score, threshold=1.6, audited=truth, audit_probability=plan.probabilities
    ... )
    >>> bool(ev["f1"].low < 0.59 < ev["f1"].high)
    True

    A second plan continues the first. `Plan.combined_probabilities` is for both together:

    >>> second = audit.plan(
    ...     y, score, budget=100, measure="f1", threshold=1.6,
    ...     audited=truth, audit_probability=plan.probabilities,
    ... )
    >>> more = second.draw(seed=2)
    >>> truth[more] = positive[more]
    >>> ev = evaluate(
    ...     y, score, threshold=1.6, audited=truth,
    ...     audit_probability=second.combined_probabilities,
    ... )
    >>> ev.audit.n_unlabeled
    300
    """
    measures = check_measures(measure)
    floor = _check_floor(floor)
    level = check_fraction("level", level)
    check_count("seed", seed, least=0)
    labels = LabelValues(pos_label, unlabeled_label, negative_label)
    counts = read_counts(
        y,
        score,
        sample_weight=sample_weight,
        function="plan",
        pos_label=pos_label,
        unlabeled_label=unlabeled_label,
        negative_label=negative_label,
    )
    if not counts.n_unlabeled:
        raise InputError("there are no unlabeled rows, so there is nothing to check.")
    earlier = _read_earlier(y, score, audited, audit_probability, labels, sample_weight)
    rows = None
    if not isinstance(y, Counts):
        rows = _read_rows(y, score, audited, audit_probability, labels, sample_weight)
    elif counts._unlabeled.has_importance_weights:
        raise InputError(
            "Counts with importance weights do not tell how many rows there are. Pass arrays."
        )
    options: dict[str, Any] = {
        "prior": prior,
        "prevalence": prevalence,
        "label_frequency": label_frequency,
        "purity": purity,
        "target": target,
        "threshold": threshold,
        "level": None,
    }
    if earlier is None:
        ev = evaluate_counts(counts, **options)
    else:
        ev = evaluate_audited(counts, earlier, **options)
    strata = PlanStrata.of(
        ev.counts,
        ev.mixture,
        ev.threshold,
        target,
        measures,
        prior_given=ev.assumptions.estimate is None,
    )
    if not strata.priority.any():
        raise InputError(
            f"checked rows cannot change {' or '.join(measures)} at the threshold "
            f"{ev.threshold:g}. Choose a threshold that divides the rows, or another measure."
        )
    candidates, weight = _candidates(strata, rows, earlier)
    simulation = AuditSimulation(
        counts._thinned(SCORES, keep=[ev.threshold]),
        strata,
        candidates,
        strata.priority * weight,
        earlier,
        measures,
        floor,
        ev.threshold,
        target,
        ev.mixture.purity,
        level,
        seed,
    )
    check_budget(budget, simulation.n_candidates)
    if rows is None or rows.weight is None:
        allocation = allocate(strata.priority, candidates, budget, floor)
    else:
        chosen = rows.unlabeled & ~rows.checked
        priority = strata.priority[strata.find(rows.score[chosen])] * rows.weight[chosen]
        allocation = allocate(priority, np.ones(priority.size), budget, floor)
    for warning in worst_warnings(ev.warnings):
        warn_caller(warning)
    return Plan(
        int(budget),
        measures,
        ev.threshold,
        floor,
        allocation,
        simulation,
        rows,
        tuple(ev.warnings),
    )


def _check_floor(floor: Any) -> float:
    if isinstance(floor, bool) or not isinstance(floor, Real) or not 0 < float(floor) <= 1:
        raise InputError(f"floor must be a number in (0, 1]; got {floor!r}.")
    return float(floor)


def _read_earlier(
    y: Any, score: Any, audited: Any, probability: Any, labels: LabelValues, weight: Any
) -> AuditedRows | None:
    """Return the rows of an earlier audit, if there was one."""
    if audited is None:
        if probability is not None:
            raise InputError("audit_probability needs audited, the results of the audit.")
        return None
    if isinstance(audited, AuditedRows):
        if probability is not None:
            raise InputError("AuditedRows include audit_probability. Leave it out.")
        if not isinstance(y, Counts):
            raise InputError(
                "with arrays, audited must be an array, too: AuditedRows do not say which rows "
                "were checked."
            )
        return audited.used
    if isinstance(y, Counts):
        raise InputError("with Counts, audited must be AuditedRows.")
    rows = AuditedRows.read(y, score, audited, probability, labels=labels, sample_weight=weight)
    return rows.used


def _read_rows(
    y: Any, score: Any, audited: Any, probability: Any, labels: LabelValues, weight: Any
) -> PlanRows:
    """Read rows to choose from; those of weight zero are neither labeled nor unlabeled."""
    kind = label_kinds(y, labels)
    checked = np.zeros(kind.size, bool)
    if audited is not None:
        checked[checked_rows(audited)] = True
    weights = None
    if weight is not None:
        weights = owned_column(weight, "sample_weight", as_weights)
        kind[weights == 0] = -1
    earlier = None
    if probability is not None:
        earlier = one_column(probability, "audit_probability").astype(np.float64)
    scores = owned_column(score, "score", as_scores)
    return PlanRows(scores, kind == 1, kind == 0, checked, weights, earlier)


def _candidates(
    strata: PlanStrata, rows: PlanRows | None, earlier: AuditedRows | None
) -> tuple[Array, Array]:
    """Return the number of rows that can be checked in each stratum, and their mean weight."""
    if rows is None:
        number = strata.unlabeled
        if earlier is not None:
            number = number - stratum_counts(strata, earlier.part(labeled=False).score)
        return np.maximum(number, 0.0), np.ones(number.size)
    free = rows.unlabeled & ~rows.checked
    number = stratum_counts(strata, rows.score[free])
    if rows.weight is None:
        return number, np.ones(number.size)
    total = np.bincount(
        strata.find(rows.score[free]), weights=rows.weight[free], minlength=number.size
    )
    return number, total / np.maximum(number, 1.0)
