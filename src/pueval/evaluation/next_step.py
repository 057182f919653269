"""The one thing that would improve an evaluation most, as a sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pueval.core.curves import REVERSED_Z_SCORE, auc_z_score
from pueval.sensitivity.feasibility import infeasibility_message
from pueval.text.numbers import format_count

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
    if auc_z_score(ev.counts, ev["roc_auc"].naive) < REVERSED_Z_SCORE:
        return "Negate the scores: labeled rows score lower than the others."
    if not ev.counts.has_propensity and infeasibility_message(ev.counts, ev.mixture) is not None:
        return "Check prior, purity and scores: the ranking contradicts them."
    largest = next(iter(shares), None)
    if ev.prior_estimate is not None and knowledge in {"poorly", "not"}:
        return (
            "Give the prevalence, the prior or the label frequency if you know it, even as an "
            f"interval. Otherwise check {_rows_to_check(ev.prior)} unlabeled rows drawn at random "
            "and give the share of positives among them as the prior."
            + (" More labels will not help much." if largest == "prior" else "")
        )
    if ev.resampling is None:
        return "Evaluate with a level to see how uncertain the numbers are."
    return _more_data(ev, knowledge, shares)


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


def _rows_to_check(prior: float) -> str:
    """Return how many random rows contain enough positives, rounded to one digit."""
    needed = max(LEAST_CHECKED, CHECKED_POSITIVES / max(prior, 1e-6))
    return format_count(float(f"{needed:.1g}"))
