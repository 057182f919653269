"""Drawing the rows of an evaluation again, and what is uncertain about its assumptions."""

from __future__ import annotations

from pueval._typing import Array, Target
from pueval.counts.counts import Counts
from pueval.evaluation.assumptions import Assumptions
from pueval.samples.steps import Steps
from pueval.uncertainty.intervals import IntervalOptions
from pueval.uncertainty.resampling import Resamples, resample


def resample_evaluation(
    counts: Counts,
    corners: Steps,
    assumptions: Assumptions,
    target: Target,
    threshold: float | Array,
    options: IntervalOptions,
) -> Resamples:
    """Draw counts again, and what is uncertain about prior and purity with them."""
    mixture, region = assumptions.mixture, assumptions.region
    # If only labels are drawn again, there are always as many of them.
    prior_follows_from = assumptions.prior_follows_from if options.variance == "sampling" else None
    if prior_follows_from is not None and region is not None:
        region, prior_follows_from = assumptions.limits(counts, options.reach), None
    # Where labels are clean, labeled rows stand for all positives, and can be more or fewer.
    stand_for = prior_follows_from is not None and mixture.purity == 1 and target == "population"
    if stand_for:
        counts = counts._with_constant_propensity(mixture.label_frequency(counts))
    drawn = resample(
        counts,
        corners,
        mixture,
        target,
        threshold=threshold,
        options=options,
        region=region,
        prevalence_varies=options.variance == "sampling" and assumptions.prevalence_varies(target),
    )
    if assumptions.estimate is not None:
        from pueval.priors._one_step_bootstrap import draw_mixtures, limits

        mixtures = draw_mixtures(assumptions.estimate, counts, drawn.cells)
        return drawn.with_uncertain(mixtures, limits(assumptions.estimate, options.level))
    if assumptions.from_propensity or (stand_for and prior_follows_from == "label_frequency"):
        return drawn.with_uncertain(drawn.represented_mixtures())
    if prior_follows_from is not None and not stand_for:
        # For a prevalence this makes it vary, too, so that limits are rather too wide.
        return drawn.with_uncertain(drawn.varied_priors(assumptions.prior_error(counts)))
    return drawn
