"""Sentences about what an evaluation assumes and what its confidence intervals cover.

Printed results, commands, comparisons and the report all take these sentences from here. They are
plain text; the report adds its own markup.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pueval._typing import Range
from pueval.counts.clusters import describe_number
from pueval.text.numbers import format_count, format_level

if TYPE_CHECKING:
    from pueval.counts.counts import Counts
    from pueval.evaluation.evaluation import Evaluation

DEFAULT_THRESHOLD = "The threshold was chosen on these rows, near the best Matthews correlation."
OWN_THRESHOLDS = (
    "Threshold-based measures use each model's own threshold, chosen near its best Matthews "
    "correlation. Do not rank models by them. To choose a model, use the average precision if you "
    "act on the top-scored rows, otherwise the ROC AUC."
)
LABELING_SENTENCES = {
    "smooth": "The probability of a label is a curve in the score, estimated with the audit.",
    "score": "The logit of the probability of a label is linear in the score's rank.",
    "random": "Labeled positives are a random sample of all positives.",
    "any": "Nothing is assumed about labeling.",
}
CHOSEN_THRESHOLD = "Intervals at the threshold account for choosing it on the same rows."


def row_counts(counts: Counts) -> str:
    """Say how many rows there are of each kind: "100 labeled, 900 unlabeled rows"."""
    text = f"{format_count(counts.n_labeled)} labeled, {format_count(counts.n_unlabeled)} unlabeled"
    if counts.n_negative:
        text += f", {format_count(counts.n_negative)} known negative"
    clusters = ""
    if counts._clusters is not None:
        clusters = f" in {describe_number(counts._clusters.clusters.n_clusters)}"
    return f"{text} rows{clusters}"


def threshold_rule(ev: Evaluation) -> str:
    """Say by which rule the threshold was chosen, in brackets; nothing if it was given."""
    return " (near the best Matthews correlation)" if ev.threshold_chosen else ""


def prior_and_purity(ev: Evaluation, prior_model: str | None = None) -> str:
    """Say which prior and purity were used, and whether they were estimated.

    ``prior_model`` is the model whose scores gave the estimate, where there are several models.
    """
    return f"{_share(ev, 'prior', prior_model)}, {_share(ev, 'purity', prior_model)}"


def _share(ev: Evaluation, name: Literal["prior", "purity"], prior_model: str | None) -> str:
    value: float = getattr(ev.mixture, name)
    if ev.region is not None:
        low, high = getattr(ev.region, name)
        return f"{name} {low:.4g}" + (f" to {high:.4g}" if high > low else "")
    if ev.assumptions.from_propensity and name == "prior":
        return f"{name} {value:.4g} (from the propensities)"
    if ev.assumptions.label_errors is not None:
        return f"{name} {value:.4g} (from the label errors)"
    if (interval := audited_interval(ev, name)) is not None:
        return f"{name} {value:.3g} (by the audit, {_interval(_level(ev), interval)})"
    if name == "prior" and _follows_from_purity(ev):
        given = ev.assumptions.prior_follows_from
        return f"{name} {value:.4g}" + (f" (from {_words(given)} and purity)" if given else "")
    if ev.prior_estimate is None:
        return f"{name} {value:.4g}"
    interval = getattr(ev.prior_estimate, f"{name}_interval")
    if interval is None and name == "purity" and not _has_estimated_purity(ev):
        return f"{name} {value:.3g}"
    source = f" from the scores of {prior_model}" if prior_model else ""
    shown = "" if interval is None else f", {_interval(ev.prior_estimate.level, interval)}"
    return f"{name} {value:.3g} (estimated{source}{shown})"


def audited_interval(ev: Evaluation, name: Literal["prior", "purity"]) -> Range | None:
    """Return the interval of prior or purity, if an audit determined it."""
    region = ev.assumptions.audited
    if region is None or (name == "purity" and region.purity[0] == region.purity[1]):
        return None
    interval: Range = getattr(region, name)
    return interval


def _level(ev: Evaluation) -> float:
    return 0.95 if ev.resampling is None else ev.resampling.level


def _follows_from_purity(ev: Evaluation) -> bool:
    """Return whether only the purity was estimated, and the prior follows from a known share."""
    return ev.prior_estimate is not None and ev.prior_estimate.known_share is not None


def _words(share: str) -> str:
    return share.replace("_", " ")


def _interval(level: float, interval: tuple[float, float]) -> str:
    return f"{format_level(level)} CI {interval[0]:.3g} to {interval[1]:.3g}"


def share_origin(ev: Evaluation, name: Literal["prior", "purity"]) -> str:
    """Say where the prior or the purity comes from."""
    estimate, region = ev.prior_estimate, ev.region
    if name == "prior" and not ev.counts.n_unlabeled:
        return "There are no unlabeled rows, so there is no prior."
    if name == "prior" and ev.assumptions.from_propensity:
        return "It follows from the propensities of the labeled rows."
    if ev.assumptions.label_errors is not None:
        return "It follows from the error rates of the labels and the share of labeled rows."
    if (audited := audited_interval(ev, name)) is not None:
        return f"It was estimated by the audit ({_interval(_level(ev), audited)})."
    source = ev.assumptions.prior_follows_from
    if name == "prior" and source:
        shown = ""
        if region is not None and region.prior[0] < region.prior[1]:
            shown = f", and ranges from {region.prior[0]:.4g} to {region.prior[1]:.4g}"
        return f"It follows from the given {_words(source)} and the purity{shown}."
    if region is not None:
        low, high = getattr(region, name)
        if low < high:
            return f"It was given as the interval {low:.4g} to {high:.4g}; this is its midpoint."
    interval = None if estimate is None else getattr(estimate, f"{name}_interval")
    if name == "purity" and interval is None and not _has_estimated_purity(ev):
        return "It was assumed, not estimated."
    if estimate is None or (name == "prior" and _follows_from_purity(ev)):
        return "It was given, not estimated."
    shown = "" if interval is None else f", {_interval(estimate.level, interval)}"
    return f"It was estimated from the scores ({estimate.method}{shown})."


def _has_estimated_purity(ev: Evaluation) -> bool:
    """Return whether the purity was estimated; without enough clusters, it has no interval."""
    estimate = ev.prior_estimate
    # A known purity below 1 is not tested.
    return estimate is not None and estimate.purity < 1 and estimate.purity_pvalue is not None


def assumption_sentences(ev: Evaluation) -> list[str]:
    """Return everything that the numbers of an evaluation rest on."""
    counts, mixture = ev.counts, ev.mixture
    sentences = ["Scores are out-of-fold: no row was scored by a classifier trained on it."]
    if ev.splits is not None:
        times = "once" if ev.splits.n_repeats == 1 else f"{ev.splits.n_repeats} times"
        folds = f"the other {ev.splits.n_folds - 1} of {ev.splits.n_folds} folds"
        sentences = [f"Each row was scored {times} by a classifier trained on {folds}."]
    if counts.n_unlabeled:
        sentences.append(_labeling(ev))
        sentences.append(
            f"The prior, the share of positives among the unlabeled rows, is {mixture.prior:.4g}. "
            + share_origin(ev, "prior")
        )
    else:
        sentences.append("The class of every row is known: there are no unlabeled rows.")
    clean = " (clean labels)" if mixture.purity == 1 else ""
    sentences.append(
        "The purity, the share of true positives among the labeled rows, is "
        f"{mixture.purity:.4g}{clean}. {share_origin(ev, 'purity')}"
    )
    if counts.n_negative:
        sentences.append(
            "Known negatives are a random sample of all negatives."
            if mixture.purity < 1
            else "Known negatives count as negatives."
        )
    if ev.target == "population":
        target = (
            "The target is the population: all rows are one sample, and some of its positives "
            "are labeled."
        )
    else:
        target = (
            "The target is the unlabeled rows; the labeled rows were collected separately "
            "(case-control)."
        )
    sentences.append(f"{target} Its prevalence is {ev.prevalence:.4g}.")
    if ev.clusters is not None:
        sentences.append(ev.clusters.sentence())
    return [*sentences, *interval_sentences(ev)]


def _labeling(ev: Evaluation) -> str:
    if ev.audit is not None:
        return " ".join([*ev.audit.sentences(), LABELING_SENTENCES[ev.audit.labeling]])
    if ev.counts.has_propensity:
        return "Positives were labeled with the given propensities."
    if ev.assumptions.label_errors is not None:
        errors = ev.assumptions.label_errors
        return (
            f"{errors.false_negative_rate:.4g} of the positives are labeled 0 and "
            f"{errors.false_positive_rate:.4g} of the negatives are labeled 1, both at random."
        )
    wrong = ", and wrongly labeled rows of all negatives" if ev.mixture.purity < 1 else ""
    return f"Labeled positives are a random sample of all positives{wrong}."


def interval_sentences(ev: Evaluation, subject: str = "Intervals are") -> list[str]:
    """Say which confidence intervals are shown and what they cover; nothing if there are none."""
    if ev.resampling is None:
        return []
    level, labeling = ev.resampling.level, ev.resampling.variance == "labeling"
    new_labels = " for a new random labeling of the same rows" if labeling else ""
    sentences = [
        f"{subject} {format_level(level)} confidence intervals{new_labels}, {interval_scope(ev)}."
    ]
    return [*sentences, CHOSEN_THRESHOLD] if ev.threshold_chosen else sentences


def interval_scope(ev: Evaluation) -> str:
    """Say how confidence intervals treat prior and purity."""
    if ev.prior_estimate is not None:
        if _follows_from_purity(ev):
            return "including uncertainty in the estimated purity"
        if ev.prior_estimate.prior_interval is None:
            return "treating the estimated prior, which has no interval, as exact"
        purity = " and purity" if ev.prior_estimate.purity_interval is not None else ""
        return f"including uncertainty in the estimated prior{purity}"
    if ev.region is not None:
        share = _words(ev.assumptions.prior_follows_from or "prior")
        return f"covering every {share} and purity in the given intervals"
    if ev.assumptions.from_propensity:
        return "treating the propensities as exact"
    if ev.assumptions.label_errors is not None:
        return "treating the error rates of the labels as exact"
    if ev.audit is not None:
        return "including uncertainty from the audit"
    given = None
    if ev.resampling is not None and ev.resampling.variance == "sampling":
        given = ev.assumptions.prior_follows_from
    return f"treating {_words(given or 'prior')} and purity as exact"


def weight_sentence(counts: Counts) -> str:
    """Say how the weights of rows were used."""
    if not counts._has_importance_weights:
        return "Integer weights are frequency weights: a row with weight 3 counts as three rows."
    effective = counts.effective_sizes[0] + counts.effective_sizes[1]
    return (
        "Non-integer weights are importance weights. "
        f"The effective sample size is {format_count(round(effective))} rows."
    )
