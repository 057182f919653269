"""The one thing that would improve an evaluation most, as a sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pueval.core.curves import REVERSED_Z_SCORE, auc_z_score
from pueval.counts.clusters import LEAST_CLUSTERS
from pueval.sensitivity.feasibility import infeasibility_message, largest_prior
from pueval.text.numbers import format_count, format_number

if TYPE_CHECKING:
    from pueval.evaluation.evaluation import Evaluation
    from pueval.evaluation.prior_knowledge import Knowledge

# Rows to check by hand at least, and the number of positives that they should contain.
LEAST_CHECKED, CHECKED_POSITIVES = 100, 20
# Intervals of the AUC narrower than this need no further data.
NARROW = 0.02
# A source with a smaller share of the variance is not the only one worth reducing.
DOMINANT = 0.6


def next_step(ev: Evaluation, knowledge: Knowledge, shares: dict[str, float]) -> str:
    """Return what to do next: mend what is wrong, or reduce the largest source of uncertainty.

    Parameters
    ----------
    ev : Evaluation
        The evaluation.
    knowledge : {"given", "well", "poorly", "not"}
        How well the prior is known.
    shares : dict of str to float
        Shares of the variance by source, the largest first.

    Returns
    -------
    str
    """
    from pueval.priors._consensus import SUSPICIOUS_AUC

    naive = ev["roc_auc"].naive
    if auc_z_score(ev.counts, naive) < REVERSED_Z_SCORE:
        return "Negate the scores: labeled rows score lower than the others."
    if ev.audit is not None and ev.audit.contradicts_assumption:
        return "Leave labeling out: the audit shows how labels depend on the score."
    impossible = None if ev.counts.has_propensity else _correct_shares(ev)
    if impossible is not None:
        return impossible
    if ev.prior_estimate is not None:
        if naive > SUSPICIOUS_AUC:
            return (
                "Check that no row was scored by a model that was trained on it: so high an AUC "
                "is typical of in-sample scores."
            )
        if knowledge in {"poorly", "not"}:
            return _learn_prior(ev, shares)
    clusters = ev.counts._clusters
    if clusters is not None and clusters.clusters.missing_reason is not None:
        return (
            f"Collect rows of more clusters: intervals need {LEAST_CLUSTERS} with labeled rows, "
            f"and {LEAST_CLUSTERS} with other rows."
        )
    if ev.resampling is None:
        return "Evaluate with a level to see how uncertain the numbers are."
    if ev.audit is not None:
        return _more_audited_rows(ev)
    return _more_data(ev, knowledge, shares)


def _correct_shares(ev: Evaluation) -> str | None:
    """Return which prior or purity the ranking allows; None if it allows those of the evaluation.

    A given region is impossible only if its most favorable corner is.
    """
    mixture = ev.mixture if ev.region is None else ev.region.best_fit
    if infeasibility_message(ev.counts, mixture) is None:
        return None
    if ev.assumptions.label_errors is not None:
        return (
            "These error rates do not fit the scores. Check the rates, and find out whether errors "
            "are random and scores out-of-fold."
        )
    largest = largest_prior(ev.counts, purity=mixture.purity)
    if largest.possible and largest.prior > 0:
        allowed = f"Use a prior of at most {format_number(largest.prior)}"
    else:
        allowed = f"Use a purity above {mixture.purity:g}: no prior fits this one"
    return f"{allowed}, or find out whether labels are random and scores out-of-fold."


def _learn_prior(ev: Evaluation, shares: dict[str, float]) -> str:
    """Return how to learn the prior: from other knowledge, or from rows checked at random."""
    rows = _rows_to_check(ev.prior)
    check = "the unlabeled rows"
    if rows < ev.counts.n_unlabeled:
        check = f"{format_count(rows)} unlabeled rows drawn at random"
    text = (
        "Give the prevalence, prior or label frequency, even as an interval. If you do not know "
        f"it, check {check} and pass what you find as audited."
    )
    return text + (" More labels will not help much." if next(iter(shares), "") == "prior" else "")


def _more_audited_rows(ev: Evaluation) -> str:
    """Return how many more rows to check."""
    assert ev.audit is not None  # noqa: S101 - for the type checker
    if ev.audit.applied.covered < 1:
        return (
            "Check some unlabeled rows with low scores, too: pueval.audit.plan(…, audited=…) "
            "chooses them."
        )
    if ev["roc_auc"].high - ev["roc_auc"].low <= NARROW:
        return "Nothing: the intervals are narrow, and they rest on evidence."
    more = format_count(float(f"{3 * ev.audit.n_unlabeled:.1g}"))
    return (
        f"If the intervals are too wide, check about {more} more unlabeled rows: that halves most "
        "of them. pueval.audit.plan chooses the rows that help most."
    )


def _more_data(ev: Evaluation, knowledge: Knowledge, shares: dict[str, float]) -> str:
    """Return how to reduce the largest source of uncertainty."""
    largest = next(iter(shares), None)
    if largest == "prior" and knowledge == "poorly":
        return "Narrow the interval of the prior that you gave: it is what is known least."
    if largest == "purity":
        return (
            f"Check {LEAST_CHECKED} labeled rows drawn at random and give the share of true "
            "positives among them as the purity."
        )
    if ev["roc_auc"].high - ev["roc_auc"].low > NARROW and largest is not None:
        if shares[largest] < DOMINANT:
            return (
                "Collect more rows, labeled and unlabeled: four times as many halve the intervals."
            )
        if largest == "labeled rows":
            return "Label more positives: four times as many labels halve most intervals."
        if largest == "unlabeled rows":
            return "Score more unlabeled rows: four times as many halve most intervals."
    return "Find out how positives came to be labeled: that assumption matters most now."


def _rows_to_check(prior: float) -> float:
    """Return how many random rows contain enough positives, rounded to one digit."""
    needed = max(LEAST_CHECKED, CHECKED_POSITIVES / max(prior, 1e-6))
    return float(f"{needed:.1g}")
