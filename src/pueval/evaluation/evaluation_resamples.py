"""Resampled counts for an evaluation, with what its assumptions leave uncertain."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from pueval._typing import Array, Target
from pueval.counts.counts import Counts
from pueval.evaluation.assumptions import Assumptions
from pueval.samples.steps import Steps
from pueval.uncertainty.intervals import IntervalOptions
from pueval.uncertainty.prior_draws import normal_priors, priors_from_positives
from pueval.uncertainty.resampling import Resamples, resample_counts
from pueval.uncertainty.uncertain_prior import UncertainPrior


def resample_evaluation(
    counts: Counts,
    corners: Steps,
    assumptions: Assumptions,
    target: Target,
    threshold: float | Array,
    options: IntervalOptions,
) -> Resamples:
    """Resample counts, and with them prior and purity as far as they are uncertain."""
    sampling = options.variance == "sampling"
    counts, prior = _uncertain_prior(counts, assumptions, target, options)
    return resample_counts(
        counts,
        corners,
        prior,
        target,
        threshold=threshold,
        options=options,
        prevalence_varies=sampling and assumptions.prevalence_varies(target),
    )


def _uncertain_prior(
    counts: Counts,
    assumptions: Assumptions,
    target: Target,
    options: IntervalOptions,
) -> tuple[Counts, UncertainPrior]:
    """Return what is known about the prior, and the counts to resample."""
    exact = UncertainPrior(assumptions.mixture)
    region = assumptions.mixture_region(counts, options)
    if assumptions.estimate is not None:
        from pueval.priors._one_step_bootstrap import draw_mixtures

        draw = partial(draw_mixtures, assumptions.estimate, counts)
        return counts, replace(exact, confidence_region=region, draw_mixtures=draw)
    if assumptions.region is not None:
        return counts, replace(exact, given_region=region)
    if assumptions.from_propensity:
        return counts, replace(exact, draw_mixtures=partial(priors_from_positives, counts))
    source = assumptions.prior_follows_from
    # Resampling the labels leaves their number as it is.
    if source is None or options.variance == "labeling":
        return counts, exact
    if assumptions.mixture.purity == 1 and target == "population":
        # Clean labels represent all positives, in a number that varies.
        counts = counts._with_constant_propensity(assumptions.mixture.label_frequency(counts))
        if source == "prevalence":
            return counts, exact
        return counts, replace(exact, draw_mixtures=partial(priors_from_positives, counts))
    # A given prevalence then varies, too, which makes intervals slightly too wide.
    error = assumptions.prior_error(counts)
    draw = partial(normal_priors, assumptions.mixture, error, options.seed)
    return counts, replace(exact, draw_mixtures=draw)
