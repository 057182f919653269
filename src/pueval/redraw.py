"""Drawing the rows of an evaluation again, and what is uncertain about its assumptions."""

from __future__ import annotations

from pueval.assumptions import Assumptions
from pueval.counts import Counts, Steps
from pueval.mixture import Target
from pueval.samples import Array
from pueval.uncertainty.intervals import Resampling
from pueval.uncertainty.resampling import Resamples, resample


def draw_again(
    counts: Counts,
    corners: Steps,
    assumptions: Assumptions,
    target: Target,
    threshold: float | Array,
    how: Resampling,
) -> Resamples:
    """Draw counts again, and what is uncertain about prior and purity with them."""
    mixture, region = assumptions.mixture, assumptions.region
    # If only labels are drawn again, there are always as many of them.
    by_labels = assumptions.by_labels if how.variance == "sampling" else None
    if by_labels is not None and region is not None:
        region, by_labels = assumptions.limits(counts, how.reach), None
    # Where labels are clean, labeled rows stand for all positives, and can be more or fewer.
    stand_for = by_labels is not None and mixture.purity == 1 and target == "population"
    if stand_for:
        counts = counts.with_chance(mixture.label_frequency(counts))
    drawn = resample(
        counts,
        corners,
        mixture,
        target,
        threshold=threshold,
        how=how,
        region=region,
        sizes_vary=how.variance == "sampling" and assumptions.sizes_vary(target),
    )
    if assumptions.estimate is not None:
        from pueval.priors.uncertainty import draw_mixtures, limits

        mixtures = draw_mixtures(assumptions.estimate, counts, drawn.cells)
        return drawn.with_uncertain(mixtures, limits(assumptions.estimate, how.level))
    if assumptions.from_propensity or (stand_for and by_labels == "label_frequency"):
        return drawn.with_uncertain(drawn.represented_mixtures())
    if by_labels is not None and not stand_for:
        # For a prevalence this makes it vary, too, so that limits are rather too wide.
        return drawn.with_uncertain(drawn.varied_priors(assumptions.prior_error(counts)))
    return drawn
