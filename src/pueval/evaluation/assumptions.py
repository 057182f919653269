"""Assumptions: prior and purity, given or estimated, and resamples with their uncertainty."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from numbers import Real
from typing import TYPE_CHECKING, Any, cast

from pueval._typing import Range, Target
from pueval.core.mixture import Mixture, PriorSource, cap_prior
from pueval.counts.counts import Counts
from pueval.errors import InputError
from pueval.samples.steps import Steps
from pueval.uncertainty.intervals import IntervalOptions
from pueval.uncertainty.measure_intervals import Resamples, resample_counts
from pueval.uncertainty.prior_draws import normal_priors, priors_from_positives
from pueval.uncertainty.prior_region import Region, confidence_region
from pueval.uncertainty.uncertain_prior import UncertainPrior

if TYPE_CHECKING:
    from pueval.priors import PriorEstimate


# Standard errors by which a given prevalence may fall below the share of labeled rows.
MAX_CHANCE_DEFICIT = 4.0


@dataclass(frozen=True)
class Assumptions:
    """Prior and purity, and how they are known.

    Attributes
    ----------
    mixture : Mixture
        Prior and purity, given or estimated; the midpoint of given intervals.
    region : Region or None
        Possible priors and purities, where one of them was given as an interval.
    estimate : PriorEstimate or None
        Estimate of prior and purity, if they were estimated.
    estimate_given : bool
        Whether the estimate was passed as ``prior``, perhaps from another model's scores.
    from_propensity : bool
        Whether the prior follows from the propensities of the labeled rows.
    prior_follows_from : {"label_frequency", "prevalence"} or None
        Share that was given instead of the prior. The prior then depends on the number of labeled
        rows, which is random.
    target : {"population", "unlabeled"}
        Population whose prevalence was given.
    warnings : tuple of str
        Problems with the assumptions that have not been issued as warnings yet.
    """

    mixture: Mixture
    region: Region | None = None
    estimate: PriorEstimate | None = None
    estimate_given: bool = False
    from_propensity: bool = False
    prior_follows_from: PriorSource | None = None
    target: Target = "population"
    warnings: tuple[str, ...] = ()

    def label_count_error(self, counts: Counts, mixture: Mixture | None = None) -> float:
        """Return the standard error of a prior that follows from another share; else 0.

        ``mixture`` replaces the assumed one.
        """
        if self.prior_follows_from is None:
            return 0.0
        standard_error = (self.mixture if mixture is None else mixture).prior_standard_error
        return standard_error(counts, self.prior_follows_from, self.target)

    def mixture_region(self, counts: Counts, options: IntervalOptions) -> Region | None:
        """Return the region of prior and purity, given or at a confidence level.

        It is that of the estimate, or the given region. A prior that follows from the number of
        labeled rows, which varies from sample to sample, has its sampling error added. None if
        prior and purity are known exactly.
        """
        if self.estimate is not None:
            return confidence_region(self.estimate, options.level)
        if self.prior_follows_from is None or options.variance == "labeling":
            return self.region
        mixture = self.mixture
        point = Region((mixture.prior, mixture.prior), (mixture.purity, mixture.purity))
        error = partial(self.label_count_error, counts)
        return (self.region or point).widened(error, options.critical_value)

    @property
    def prior_range(self) -> Range | None:
        """Interval of the prior, given or estimated; None for a prior that is exact."""
        if self.region is not None:
            return self.region.prior
        if self.estimate is None or self.estimate.prior_interval is None:
            return None
        low, high = self.estimate.prior_interval
        return low, cap_prior(high)

    def prevalence_varies(self, target: Target) -> bool:
        """Return whether the prevalence of the target depends on how many rows are labeled.

        It does not if it was given, nor if the prior follows from the same number of rows.
        """
        return target == "population" and not (self.prior_follows_from or self.from_propensity)


def resolve_assumptions(
    counts: Counts, target: Target, purity: Any, prior: Any, prevalence: Any, label_frequency: Any
) -> Assumptions:
    """Return the given assumptions, or estimate them."""
    shares = {"prior": prior, "prevalence": prevalence, "label_frequency": label_frequency}
    given = {name: value for name, value in shares.items() if value is not None}
    if counts.has_propensity:
        _check_propensity(purity, target)
    if not counts.n_unlabeled:
        return _without_unlabeled(counts, purity, given)
    if len(given) > 1:
        raise InputError(
            f"give at most one of prior, prevalence and label_frequency; got "
            f"{' and '.join(given)}. prior is the share of positives among the unlabeled rows, "
            "prevalence their share in the target, label_frequency the share of all positives "
            "that are labeled."
        )
    if hasattr(prior, "prior_interval"):
        return _given_estimate(prior, purity)
    if given:
        return _given_share(counts, target, purity, *next(iter(given.items())))
    if counts.has_propensity:
        return Assumptions(_propensity_mixture(counts), from_propensity=True)
    if isinstance(purity, tuple | list):
        raise InputError(
            f"purity as an interval needs a prior; got purity={purity!r} and no prior. "
            'Give a prior, or estimate both with purity="estimate".'
        )
    from pueval.priors._estimate_prior import estimate_without_warning

    # `evaluate` issues all warnings together.
    estimate = estimate_without_warning(counts, purity=purity)
    return Assumptions(estimate.mixture(), estimate=estimate, warnings=estimate.warnings)


def _without_unlabeled(counts: Counts, purity: Any, given: dict[str, Any]) -> Assumptions:
    """Return the assumptions where the class of every row is known."""
    if any(given.values()):
        raise InputError(
            f"{', '.join(given)} has no effect without unlabeled rows, and there are none. "
            "Leave it out."
        )
    if counts.n_represented > counts.n_labeled * (1 + 1e-9):
        raise _too_many_positives(counts)
    if isinstance(purity, str):
        raise InputError(
            f"purity must be a number; got {purity!r}. It cannot be estimated without unlabeled "
            "rows, and there are none."
        )
    if isinstance(purity, tuple | list):
        region = Region((0.0, 0.0), _read_interval("purity", purity))
        return Assumptions(region.middle, region)
    return Assumptions(Mixture(0.0, purity))


def _given_estimate(estimate: PriorEstimate, purity: Any) -> Assumptions:
    """Use an estimate that was made before, perhaps from another model's scores."""
    if purity not in (1.0, "estimate", estimate.purity):
        raise InputError(
            f"the estimate given as prior has purity {estimate.purity:g}; got purity={purity!r}. "
            "Leave purity out."
        )
    return Assumptions(estimate.mixture(), estimate=estimate, estimate_given=True)


def _given_share(counts: Counts, target: Target, purity: Any, name: str, value: Any) -> Assumptions:
    """Convert a given prior, prevalence or label frequency."""
    if isinstance(purity, str):
        raise InputError(
            f"purity must be a number where {name} is given; got {purity!r}. "
            f"Leave {name} out to estimate both."
        )
    convert = _conversion(counts, target, name)
    is_interval = isinstance(value, tuple | list)
    interval = _read_interval(name, value) if is_interval else (value, value)
    if isinstance(purity, tuple | list):
        purities = _read_interval("purity", purity)
        if convert is not Mixture:
            raise InputError(
                f"purity as an interval needs a prior, not {name}: the same {name} implies a "
                "different prior for each purity. Give prior, as a number or an interval."
            )
        given = Region(interval, purities)
        return Assumptions(given.middle, given)
    low, high = sorted(convert(end, purity).prior for end in interval)
    region = Region((low, high), (purity, purity)) if is_interval else None
    mixture = convert(value, purity) if region is None else region.middle
    # In a case-control design the number of labeled rows is fixed, but then there is no label
    # frequency. Propensities determine more than the number of labeled rows does.
    depends_on_labels = target == "population" or name == "label_frequency"
    if name == "prior" or not depends_on_labels or counts.has_propensity:
        return Assumptions(mixture, region)
    deficit = None
    if name == "prevalence" and region is None:
        deficit = _chance_deficit(counts, value, purity)
    return Assumptions(
        mixture,
        region,
        prior_follows_from=cast("PriorSource", name),
        target=target,
        warnings=() if deficit is None else (deficit,),
    )


def _conversion(counts: Counts, target: Target, name: str) -> Callable[[float, float], Mixture]:
    """Return the function from a share and a purity to prior and purity."""
    if name == "label_frequency":
        return partial(Mixture.from_label_frequency, counts)
    if name == "prevalence" and target == "population":
        return partial(_mixture_from_prevalence, counts)
    return Mixture


def _mixture_from_prevalence(counts: Counts, prevalence: float, purity: float) -> Mixture:
    try:
        return Mixture.from_prevalence(counts, prevalence, purity)
    except InputError:
        if _chance_deficit(counts, prevalence, purity) is None:
            raise
        return Mixture(0.0, purity)


def _chance_deficit(counts: Counts, prevalence: float, purity: float) -> str | None:
    """Describe a prevalence that is below the share of labeled rows, if chance explains it.

    Where most positives are labeled, a sample can have more of them than expected.
    """
    least = purity * counts.n_labeled / counts.n
    error = Mixture(0.0, purity).prevalence_standard_error(counts)
    if not 0 < least - prevalence <= MAX_CHANCE_DEFICIT * error:
        return None
    return (
        f"prevalence {prevalence:g} is below the share of labeled positives ({least:.4g}), but "
        "within chance: the prior is set to 0."
    )


def _read_interval(name: str, value: Any) -> Range:
    """Return an interval as two floats."""
    if len(value) == 2 and all(isinstance(end, Real) and math.isfinite(end) for end in value):
        low, high = (float(end) for end in value)
        if low <= high:
            return low, high
    raise InputError(
        f"{name} as an interval must be two numbers, the lower one first; got {value!r}."
    )


def _check_propensity(purity: Any, target: Target) -> None:
    if purity != 1:
        raise InputError(
            f"propensities need clean labels; got purity={purity!r}. They are labeling "
            "probabilities of positives, and are undefined for wrongly labeled rows. Omit one."
        )
    if target != "population":
        raise InputError(
            "propensities need target='population': labeled rows must be positives of the same "
            f"sample as the unlabeled rows; got target={target!r}."
        )


def _propensity_mixture(counts: Counts) -> Mixture:
    """Return the prior for which the weighted labeled rows are all positives."""
    hidden_positives = counts.n_represented - counts.n_labeled
    if hidden_positives >= counts.n_unlabeled:
        raise _too_many_positives(counts)
    return Mixture(hidden_positives / counts.n_unlabeled)


def _too_many_positives(counts: Counts) -> InputError:
    return InputError(
        f"by their propensities, {counts.n_labeled:,} labeled rows represent "
        f"{counts.n_represented:,.6g} positives, but only "
        f"{counts.n_labeled + counts.n_unlabeled:,} rows are labeled or unlabeled. Check the "
        "propensities; if they are known only up to a factor, give prior or prevalence too."
    )


def resample_evaluation(
    counts: Counts,
    corners: Steps,
    assumptions: Assumptions,
    target: Target,
    threshold: float,
    options: IntervalOptions,
    *,
    threshold_chosen: bool = False,
    standard_errors: Mapping[str, float] | None = None,
) -> Resamples:
    """Resample counts, and with them prior and purity as far as they are uncertain.

    ``standard_errors`` are those that are known without resampling, for an exact prior.
    """
    sampling = options.variance == "sampling"
    counts, prior = _uncertain_prior(counts, assumptions, target, options)
    return resample_counts(
        counts,
        corners,
        prior,
        target,
        threshold=threshold,
        threshold_chosen=threshold_chosen,
        options=options,
        standard_errors=standard_errors,
        prevalence_varies=sampling and assumptions.prevalence_varies(target),
    )


def _uncertain_prior(
    counts: Counts, assumptions: Assumptions, target: Target, options: IntervalOptions
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
    error = assumptions.label_count_error(counts)
    draw = partial(normal_priors, assumptions.mixture, error, options.seed)
    return counts, replace(exact, draw_mixtures=draw)
