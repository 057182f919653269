"""Verdict: what an evaluation means, in words."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pueval._typing import Range
from pueval.errors import Contradiction
from pueval.estimates.bias_bounds import MeasureBounds, bound_measures
from pueval.estimates.measure_titles import TITLES
from pueval.evaluation.next_step import next_step
from pueval.evaluation.prior_knowledge import Knowledge, grade_prior, prior_effect
from pueval.evaluation.width_shares import width_shares
from pueval.sensitivity.tipping_point import COARSE_TOLERANCE, tipping_bias
from pueval.text.numbers import format_count, format_interval, format_level
from pueval.text.results import Result
from pueval.text.titles import title_in_sentence
from pueval.text.warning_lists import join_words

if TYPE_CHECKING:
    from pueval.evaluation.evaluation import Evaluation
    from pueval.sensitivity.labeling_bias import BiasedLabeling
    from pueval.uncertainty.prior_region import Region

# Labeling bias whose consequences every verdict shows ("twice as likely"), and the measures it
# shows them for.
SHOWN_BIAS = 2.0
BIASED_MEASURES = ("roc_auc", "average_precision", "recall")
# The measure whose uncertainty is divided among its sources: what people misread most.
DIVIDED_MEASURE = "average_precision"
# Sources of uncertainty with a smaller share are not named.
NAMED_SHARE = 0.05
KNOWLEDGE_WORDS: Mapping[Knowledge, str] = {
    "well": "This number is well known",
    "poorly": "This number is poorly known",
    "not": "This number is not known: the data rule out almost nothing",
}
# The verdict names the largest number of positives that the ranking allows if the interval of an
# estimate ends below it by more than this factor.
FAR_BELOW_LARGEST = 3.0
# Where a prior that was not estimated comes from.
PRIOR_SOURCES = {
    "given": "as you specified",
    "label errors": "as the error rates of the labels imply",
    "propensities": "as the propensities imply",
}
CONTRADICTED = (
    "The data contradict these assumptions: see the warnings. Do not rely on the numbers below."
)


AUDIT_DESIGN = (
    "audited rows were drawn at random with known probabilities, and that their checked classes "
    "are right."
)
AUDIT_ASSUMPTION = (
    f"The numbers rest on the audit, not on random labeling. They assume that {AUDIT_DESIGN}"
)
AUDIT_AND_RANDOM_LABELING = (
    "The audit determines the prior. Beyond it, the numbers assume that the labeled positives are "
    f"a random sample of all positives, that {AUDIT_DESIGN}"
)


@dataclass(frozen=True, repr=False)
class Verdict(Result):
    """What an evaluation means; made by `Evaluation.verdict`.

    Attributes
    ----------
    n_unlabeled : float
        Number of unlabeled rows.
    hidden_positives : float
        Estimated number of positives among the unlabeled rows.
    hidden_interval : tuple of float, or None
        Confidence interval of that number, or the given interval; None if the prior was given as
        a number.
    most_hidden : float
        Largest number of positives that the ranking allows, for any distribution of the scores
        (`largest_prior`); NaN if the prior was not estimated.
    level : float or None
        Confidence level; None without intervals.
    contradicted : bool
        Whether the data contradict an assumption; a warning says which.
    prior_knowledge : {"given", "well", "poorly", "not"}
        How well the prior is known. "well": the interval spans at most a factor of two, and moves
        neither precision nor average precision by more than 0.2. "not": it reaches from almost
        zero to the largest prior that the data allow.
    prior_source : {"given", "label errors", "propensities", "data"}
        What determines the prior; "data" if it was estimated from the scores or by an audit.
    width_shares : dict of str to float
        Shares of the variance of the average precision by source: prior, purity, labeled rows,
        unlabeled rows, known negatives. The largest comes first; empty without intervals, and
        with an audit.
    random_labeling : bool
        Whether labels are assumed to be random; False if propensities were given, if an audit
        determines them, or if every class is known.
    prior_estimated : bool
        Whether the prior was estimated from the scores; then it depends on random labeling, too.
    audit : tuple of str
        What an audit found, as sentences; empty without one.
    labeling_bias : dict of str to MeasureBounds
        Bounds of AUC, average precision and recall if some positives are up to twice as likely to
        be labeled as others. Empty if labeling is not assumed to be random, or if no such labeling
        fits the rows.
    tipping_bias : float
        Smallest labeling bias at which the bounds of the AUC, without sampling error, leave its
        confidence interval; inf if there is none, NaN without intervals.
    next_step : str
        What to do next.
    """

    n_unlabeled: float
    hidden_positives: float
    hidden_interval: Range | None
    most_hidden: float
    level: float | None
    contradicted: bool
    prior_knowledge: Knowledge
    prior_source: str
    width_shares: dict[str, float]
    random_labeling: bool
    prior_estimated: bool
    audit: tuple[str, ...]
    labeling_bias: dict[str, MeasureBounds]
    tipping_bias: float
    next_step: str

    def sentences(self) -> list[str]:
        """Return the verdict as sentences, in the order in which they matter.

        Returns
        -------
        list of str
        """
        if not self.n_unlabeled:
            return ["The class of every row is known: nothing had to be corrected."]
        if self.contradicted:
            return [CONTRADICTED, self._hidden(), self._labeling(), f"Next: {self.next_step}"]
        sentences = [*self.audit, self._hidden()]
        if self.width_shares:
            sentences.append(self._sources())
        return [*sentences, self._labeling(), f"Next: {self.next_step}"]

    def _hidden(self) -> str:
        rows = f"{format_count(self.n_unlabeled)} unlabeled rows"
        text = _hidden_positives_sentence(
            self.hidden_positives, rows, self.hidden_interval, self.level, self.prior_knowledge
        )
        if self.prior_knowledge == "given":
            text = f"{text}, {PRIOR_SOURCES[self.prior_source]}."
        if self.contradicted or self.hidden_interval is None:
            return text
        if self.most_hidden > FAR_BELOW_LARGEST * self.hidden_interval[1]:
            most = format_count(round(self.most_hidden))
            text += f" Without assumptions about the scores, up to {most} are possible."
        return text

    def _sources(self) -> str:
        named = [
            f"the {source} ({100 * share:.0f}%)"
            for source, share in self.width_shares.items()
            if share >= NAMED_SHARE
        ]
        title = title_in_sentence(TITLES[DIVIDED_MEASURE])
        return f"The uncertainty of the {title} comes mainly from {join_words(named)}."

    def _labeling(self) -> str:
        if self.audit:
            return AUDIT_AND_RANDOM_LABELING if self.random_labeling else AUDIT_ASSUMPTION
        if not self.random_labeling:
            return "All numbers assume that positives were labeled with the given propensities."
        assumed = (
            "All numbers assume that the labeled positives are a random sample of all positives."
        )
        if not self.labeling_bias or self.contradicted:
            return assumed
        ranges = [
            f"the {title_in_sentence(TITLES[name])} "
            f"{'could be ' if name == 'roc_auc' else ''}{_range_text(bounds)}"
            for name, bounds in self.labeling_bias.items()
        ]
        consequences = join_words(ranges)
        if self.prior_estimated:
            hidden = "the number of hidden positives could be half or twice as large"
            consequences = f"{', '.join(ranges)}, and {hidden}"
        return (
            f"{assumed} If some were up to twice as likely to be labeled as others, {consequences}."
        )

    def _headline(self) -> str:
        return "\n".join(self.sentences())

    def _table(self) -> str:
        return ""


def _hidden_positives_sentence(
    number: float, rows: str, interval: Range | None, level: float | None, knowledge: Knowledge
) -> str:
    """Say how many positives hide among the unlabeled rows, and how well that is known.

    If the number was given, the sentence has no end: its source follows.
    """
    text = f"About {format_count(round(number))} of {rows} are positive"
    if interval is not None:
        low, high = (format_count(round(end)) for end in interval)
        kind = "" if level is None else f"{format_level(level)} CI "
        text += f" ({kind}{low} to {high})"
    if knowledge == "given":
        return text
    if interval is None:
        return f"{text}. This estimate has no interval, so how well it is known cannot be said."
    return f"{text}. {KNOWLEDGE_WORDS[knowledge]}."


def _range_text(bounds: MeasureBounds) -> str:
    if math.isnan(bounds.interval_low):
        return format_interval(bounds.low, bounds.high)
    return format_interval(bounds.interval_low, bounds.interval_high)


def judge(ev: Evaluation) -> Verdict:
    """Return the verdict on an evaluation."""
    counts, mixture, options = ev.counts, ev.mixture, ev.resampling
    level = None if options is None else options.level
    region = None if options is None else ev.assumptions.mixture_region(counts, options)
    knowledge, interval = known_prior(ev, region)
    shares: dict[str, float] = {}
    if ev._resamples is not None and counts.n_unlabeled and ev.audit is None:
        shares = width_shares(DIVIDED_MEASURE, ev._resamples, region, ev.threshold)
    random = bool(counts.n_unlabeled) and not counts.has_propensity
    bounds, tipping = {}, math.nan
    if random:
        labeling = ev._biased_labeling()
        found = bound_measures(
            labeling, SHOWN_BIAS, ev._resamples, ev._choice_margins, names=BIASED_MEASURES
        )
        if found.fits:
            bounds = dict(found)
            tipping = _tipping_bias(ev, labeling)
    largest = math.nan if ev.prior_estimate is None else ev.prior_estimate.prior_upper
    return Verdict(
        n_unlabeled=counts.n_unlabeled,
        hidden_positives=mixture.prior * counts.n_unlabeled,
        hidden_interval=None
        if interval is None
        else (interval[0] * counts.n_unlabeled, interval[1] * counts.n_unlabeled),
        most_hidden=largest * counts.n_unlabeled,
        level=level,
        contradicted=any(isinstance(warning, Contradiction) for warning in ev.warnings),
        prior_knowledge=knowledge,
        prior_source=_prior_source(ev, knowledge),
        width_shares=shares,
        random_labeling=random or (ev.audit is not None and ev.audit.labeling == "random"),
        prior_estimated=_depends_on_scores(ev),
        audit=() if ev.audit is None else tuple(ev.audit.sentences()),
        labeling_bias=bounds,
        tipping_bias=tipping,
        next_step=next_step(ev, knowledge, shares),
    )


def _prior_source(ev: Evaluation, knowledge: Knowledge) -> str:
    if knowledge != "given":
        return "data" if ev.region is None else "given"
    if ev.assumptions.label_errors is not None:
        return "label errors"
    return "propensities" if ev.assumptions.from_propensity else "given"


def _depends_on_scores(ev: Evaluation) -> bool:
    """Return whether the prior was estimated from the scores, and so by assuming random labeling.

    A prior that follows from a known share and an estimated purity was not.
    """
    return ev.prior_estimate is not None and ev.prior_estimate.known_share is None


def known_prior(ev: Evaluation, region: Region | None = None) -> tuple[Knowledge, Range | None]:
    """Return how well the prior is known, and its interval.

    ``region`` is the confidence region of prior and purity, if there is one.
    """
    interval = ev.assumptions.prior_range if region is None else region.prior
    if interval is not None and interval[0] == interval[1]:
        interval = None
    estimate = ev.prior_estimate
    if estimate is None and ev.region is None and ev.audit is None:
        return "given", interval
    if interval is None:
        return "poorly", None
    if ev.audit is not None:
        # The audit also determines the scores of the positives, so no share moves alone.
        widths = [ev[name].high - ev[name].low for name in ("precision", "average_precision")]
        return grade_prior(interval, max(widths), None), interval
    evaluated = (ev.counts, ev._corners, ev.mixture, interval, ev.target, ev.threshold)
    largest = None if estimate is None else estimate.prior_upper
    return grade_prior(interval, prior_effect(*evaluated), largest), interval


def _tipping_bias(ev: Evaluation, labeling: BiasedLabeling) -> float:
    """Return the smallest labeling bias at which the AUC may lie outside its interval."""
    auc = ev["roc_auc"]
    if math.isnan(auc.low):
        return math.nan
    ends = [end for end in (auc.low, auc.high) if 0 < end < 1 and end != auc.value]
    return min(
        (tipping_bias("roc_auc", end, labeling, tolerance=COARSE_TOLERANCE) for end in ends),
        default=math.inf,
    )
