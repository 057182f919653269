"""Sentences of the page: the headline, and the accuracy of its counts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pueval.report._thinned_counts import ThinnedCounts
from pueval.sensitivity.feasibility import infeasibility_message
from pueval.text.numbers import ROUNDING

if TYPE_CHECKING:
    from pueval.estimates.estimate import Estimate
    from pueval.evaluation.evaluation import Evaluation

# Measures that can be in the headline, each with its article.
_HEADLINE_TITLES = {
    "roc_auc": ("AUC", "an"),
    "average_precision": ("average precision", "an"),
    "f1": ("F1", "an"),
}


def format_share(share: float) -> str:
    """Show a share in percent, with more digits near 0% and 100%."""
    percent = 100 * share
    rest = min(percent, 100 - percent)
    digits = 0 if rest >= 10 or rest <= 0 else 1 if rest >= 1 else 1 - math.floor(math.log10(rest))
    text = f"{percent:.{digits}f}"
    return (text.rstrip("0").rstrip(".") if digits else text) + "%"


def significant_decimals(estimate: Estimate) -> int:
    """Return the number of decimals that the width of the interval justifies."""
    width = estimate.high - estimate.low
    if math.isnan(width) or width == 0 or width > 0.01:
        # With two decimals, 0.997 would look like a perfect classifier.
        return 3 if 0.99 < estimate.value < 1 else 2
    return 3 if width > 0.001 else 4


def rounded_value(value: float, digits: int) -> str:
    """Show a value with some decimals, and with two significant digits if it is small.

    Examples
    --------
    >>> rounded_value(0.8513, 2), rounded_value(0.0846, 2), rounded_value(0.00021, 2)
    ('0.85', '0.085', '0.00021')
    """
    size = abs(value)
    if ROUNDING < size < 0.1:
        digits = max(digits, 1 - math.floor(math.log10(size)))
    return f"{value:.{digits}f}"


def rounded_estimate(estimate: Estimate) -> str:
    """Show a value with its interval, rounded to the decimals that the interval justifies."""
    if math.isnan(estimate.value):
        return "undefined"
    digits = significant_decimals(estimate)
    text = rounded_value(estimate.value, digits)
    if math.isnan(estimate.low):
        return text
    low, high = (rounded_value(end, digits) for end in (estimate.low, estimate.high))
    return f"{text} ({low}–{high})"


def headline(ev: Evaluation) -> list[tuple[str, bool]]:
    """Summarize the evaluation in pieces of text, with a flag for those to emphasize.

    The measure is the one that the correction moves most.
    """
    name = _most_moved(ev)
    title, article = _HEADLINE_TITLES[name]
    estimate, mixture = ev[name], ev.mixture
    naive = rounded_value(estimate.naive, significant_decimals(estimate))
    corrected = rounded_estimate(estimate)
    correct_labels = f"{format_share(mixture.purity)} of the labels correct"
    if not ev.counts.n_unlabeled:
        if mixture.purity == 1:
            note = "All labels are known, so no correction is needed."
            return [(f"The {title} is", False), (f"{corrected}.", True), (note, False)]
        first = f"If all labels were correct, the {title} would be {naive}."
        return [(f"{first} With {correct_labels}, it is", False), (f"{corrected}.", True)]
    if mixture.prior == 0 and mixture.purity == 1:
        note = "With prior 0, all unlabeled rows are negative and no correction is needed."
        return [(f"The {title} is", False), (f"{corrected}.", True), (note, False)]
    shares = f"{format_share(mixture.prior)} positives among them"
    if mixture.purity < 1:
        shares += f" and {correct_labels}"
    first = (
        f"Counting unlabeled rows as negative gives {article} {title} of {naive}. With {shares}, "
        f"the {title}"
    )
    if not ev.counts.has_propensity and infeasibility_message(ev.counts, mixture) is not None:
        if estimate.clipped:
            note = "the data rule out this many positives."
            return [(f"{first} would be", False), ("above 1:", True), (note, False)]
        note = "but the data rule out this many positives."
        return [(f"{first} would be", False), (f"{corrected},", True), (note, False)]
    return [(f"{first} is", False), (f"{corrected}.", True)]


def _most_moved(ev: Evaluation) -> str:
    """Return the measure that differs most from its naive value; the AUC if it is impossible."""
    if ev["roc_auc"].clipped:
        return "roc_auc"
    changes = {name: abs(ev[name].value - ev[name].naive) for name in _HEADLINE_TITLES}
    return max(changes, key=lambda name: -1.0 if math.isnan(changes[name]) else changes[name])


def thinning_note(tables: Sequence[ThinnedCounts]) -> str:
    """State whether the counts in the page are exact, and the error if they are not."""
    sizes = sorted(table.counts.score.size for table in tables)
    several = len(tables) > 1
    if all(table.exact for table in tables):
        scores = "all scores of every model" if several else f"all {sizes[0]:,} distinct scores"
        return (
            f"This page contains the counts at {scores}, so the results at the sliders are exact."
        )
    number = f"{sizes[0]:,}" if sizes[0] == sizes[-1] else f"{sizes[0]:,} to {sizes[-1]:,}"
    scores = f"{number} scores of each model" if several else f"{number} of the scores"
    precision = max(table.precision_error for table in tables)
    auc = max(table.auc_error for table in tables)
    return (
        f"This page contains the counts at {scores}, and the threshold slider stops at these "
        "scores. The AUC and all measures at these thresholds are exact. At the evaluated prior "
        f"and purity, the error of the average precision is {_small(precision)}, and that of the "
        f"labeling-bias bounds of the AUC is at most {_small(auc)}."
    )


def _small(error: float) -> str:
    return "less than 0.00001" if error < 1e-5 else f"{error:.1g}"
