"""Assumptions: prior and purity, given or estimated, and resamples with their uncertainty."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from numbers import Real
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from pueval._checks import short_text
from pueval._typing import Array, Range, Target
from pueval.core.cluster_table import label_count_effect
from pueval.core.label_errors import LabelErrors
from pueval.core.mixture import Mixture, PriorSource, cap_prior, check_share
from pueval.core.prior_line import KnownShare, PriorLine
from pueval.counts.counts import Counts
from pueval.errors import InputError
from pueval.evaluation.propensity_assumptions import (
    check_propensity_options,
    propensity_mixture,
    too_many_positives_error,
)
from pueval.samples.steps import Steps
from pueval.uncertainty.audited_draws import audited_mixtures
from pueval.uncertainty.intervals import IntervalOptions
from pueval.uncertainty.measure_intervals import Resamples, resample_counts
from pueval.uncertainty.prior_draws import (
    mixtures_from_label_errors,
    normal_priors,
    priors_from_positives,
)
from pueval.uncertainty.prior_region import AuditedShares, Region, confidence_region
from pueval.uncertainty.uncertain_prior import UncertainPrior

if TYPE_CHECKING:
    from pueval.priors import PriorEstimate


# Standard errors by which a given prevalence may fall below the share of labeled rows.
MAX_CHANCE_DEFICIT = 4.0
# Clean labels are plausible at or above this p-value.
PLAUSIBLE_PVALUE = 0.2


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
    audited : AuditedShares or None
        Confidence intervals of prior and purity from an audit.
    label_errors : LabelErrors or None
        Error rates of the labels, if they were given. Prior and purity then depend on the number
        of labeled rows, which is random.
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
    audited: AuditedShares | None = None
    label_errors: LabelErrors | None = None
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
        error = standard_error(counts, self.prior_follows_from, self.target)
        return error * math.sqrt(label_count_effect(counts))

    def mixture_region(self, counts: Counts, options: IntervalOptions) -> Region | None:
        """Return the region of prior and purity, given or at a confidence level.

        It is that of the estimate, or the given region. A prior that follows from the number of
        labeled rows, which varies from sample to sample, has its sampling error added. None if
        prior and purity are known exactly.
        """
        region = self.region
        if self.audited is not None:
            region = self.audited.region(self.mixture)
        if self.label_errors is not None and options.variance == "sampling":
            return self._label_error_region(self.label_errors, counts, options.critical_value)
        if self.estimate is not None:
            region = confidence_region(self.estimate, options.level)
        if self.prior_follows_from is None or options.variance == "labeling":
            return region
        mixture = self.mixture
        point = Region((mixture.prior, mixture.prior), (mixture.purity, mixture.purity))
        error = partial(self.label_count_error, counts)
        return (region or point).widened(error, options.critical_value)

    def _label_error_region(
        self, errors: LabelErrors, counts: Counts, critical_value: float
    ) -> Region:
        """Return the mixtures for all plausible numbers of labeled rows."""
        distance = critical_value * math.sqrt(label_count_effect(counts))
        ends = errors.mixtures(counts, np.array([-distance, distance]))
        (fewest, most), (low, high) = ends.prior.tolist(), ends.purity.tolist()
        if low == high:
            return Region((fewest, most), (low, high))
        return Region.between_priors((fewest, fewest), (most, most), (low, high))

    @property
    def prior_range(self) -> Range | None:
        """Interval of the prior, given or estimated; None for a prior that is exact."""
        if self.region is not None:
            return self.region.prior
        if self.audited is not None:
            return self.audited.prior
        if self.estimate is None or self.estimate.prior_interval is None:
            return None
        low, high = self.estimate.prior_interval
        return low, cap_prior(high)

    def prevalence_varies(self, target: Target) -> bool:
        """Return whether the prevalence of the target depends on how many rows are labeled.

        It does not if it was given, nor if the prior follows from the same number of rows.
        """
        return target == "population" and not (
            self.prior_follows_from or self.from_propensity or self.audited
        )


def resolve_assumptions(
    counts: Counts,
    target: Target,
    purity: Any,
    prior: Any,
    prevalence: Any,
    label_frequency: Any,
    level: float = 0.95,
) -> Assumptions:
    """Return the given assumptions, or estimate them.

    ``level`` is the confidence level of what an audit says.
    """
    shares = {"prior": prior, "prevalence": prevalence, "label_frequency": label_frequency}
    given = {name: value for name, value in shares.items() if value is not None}
    if not isinstance(purity, Real | str | tuple | list):
        check_share("purity", purity, low_open=True)
    if counts._audit is not None:
        return _audited(counts, given, level)
    if counts.has_propensity:
        check_propensity_options(purity, target)
    if not counts.n_unlabeled:
        return _without_unlabeled(counts, purity, given)
    if len(given) > 1:
        raise InputError(
            f"give at most one of prior, prevalence and label_frequency; got "
            f"{' and '.join(given)}. prior is the share of positives among the unlabeled rows, "
            "prevalence their share in the target, label_frequency the share of all positives "
            "that are labeled."
        )
    if isinstance(prior, LabelErrors):
        return _given_label_errors(counts, target, purity, prior)
    if hasattr(prior, "known_share"):
        return _given_estimate(prior, purity)
    if given:
        ((name, value),) = given.items()
        return _given_share(counts, target, purity, cast("KnownShare", name), value)
    if counts.has_propensity:
        return Assumptions(propensity_mixture(counts), from_propensity=True)
    if isinstance(purity, tuple | list):
        raise InputError(
            f"purity as an interval needs a prior; got purity={short_text(purity)} and no prior. "
            'Give a prior, or estimate both with purity="estimate".'
        )
    from pueval.priors._estimate_prior import estimate_without_warning

    # `evaluate` issues all warnings together.
    estimate = estimate_without_warning(counts, purity=purity)
    return Assumptions(estimate.mixture(), estimate=estimate, warnings=estimate.warnings)


def _audited(counts: Counts, given: dict[str, Any], level: float) -> Assumptions:
    """Return prior and purity according to an audit."""
    if given:
        raise InputError(
            f"{' and '.join(given)} cannot be combined with audited: the audit determines the "
            "prior. Leave it out; ev.audit.test() compares it with the audit."
        )
    audit = counts._audit
    assert audit is not None  # noqa: S101 - for the type checker
    target, positives = audit.target, counts.n_represented
    labeled = audit.purity * counts.n_labeled if target == "population" else 0.0
    prior = cap_prior(max((positives - labeled) / counts.n_unlabeled, 0.0), audit.purity)
    tail = (1 - level) / 2
    draws = cap_prior(audit.prior_draws(counts), audit.purity_draws)

    def interval(draws: Array, value: float) -> Range:
        low, high = np.quantile(draws, [tail, 1 - tail])
        return min(float(low), value), max(float(high), value)

    shares = AuditedShares(interval(draws, prior), interval(audit.purity_draws, audit.purity))
    return Assumptions(Mixture(prior, audit.purity), audited=shares, target=target)


def _without_unlabeled(counts: Counts, purity: Any, given: dict[str, Any]) -> Assumptions:
    """Return the assumptions where the class of every row is known."""
    if not all(isinstance(value, Real) and value == 0 for value in given.values()):
        raise InputError(
            f"{', '.join(given)} has no effect without unlabeled rows, and there are none. "
            "Leave it out."
        )
    if counts.n_represented > counts.n_labeled * (1 + 1e-9):
        raise too_many_positives_error(counts)
    if isinstance(purity, str):
        raise InputError(
            f"purity must be a number; got {short_text(purity)}. It cannot be estimated without "
            "unlabeled rows, and there are none."
        )
    if isinstance(purity, tuple | list):
        region = Region((0.0, 0.0), _read_interval("purity", purity))
        return Assumptions(region.middle, region)
    return Assumptions(Mixture(0.0, purity))


def _given_estimate(estimate: PriorEstimate, purity: Any) -> Assumptions:
    """Use an estimate that was made before, perhaps from another model's scores."""
    if purity not in (1.0, "estimate", estimate.purity):
        raise InputError(
            f"the estimate given as prior has purity {estimate.purity:g}; got "
            f"purity={short_text(purity)}. Leave purity out."
        )
    return Assumptions(
        estimate.mixture(),
        estimate=estimate,
        estimate_given=True,
        prior_follows_from=None if estimate.known_share == "prior" else estimate.known_share,
    )


def _given_label_errors(
    counts: Counts, target: Target, purity: Any, errors: LabelErrors
) -> Assumptions:
    """Derive prior and purity from the error rates of the labels."""
    if purity != 1:
        raise InputError(
            f"LabelErrors determine the purity; got purity={short_text(purity)} as well. Leave "
            "purity out."
        )
    if target != "population":
        raise InputError(
            "LabelErrors need target='population': one sample in which every row was labeled 1 or "
            f"0; got target={target!r}."
        )
    if counts.has_propensity:
        raise InputError("LabelErrors and propensity cannot be combined. Leave one out.")
    return Assumptions(errors.mixture(counts), label_errors=errors)


def _given_share(
    counts: Counts, target: Target, purity: Any, name: KnownShare, value: Any
) -> Assumptions:
    """Convert a given prior, prevalence or label frequency, and estimate the purity if asked."""
    # In a case-control design the number of labeled rows is fixed, but then there is no label
    # frequency. Propensities determine more than the number of labeled rows does.
    follows: PriorSource | None = None
    if name != "prior" and not counts.has_propensity:
        follows = name if target == "population" or name == "label_frequency" else None
    if isinstance(purity, str):
        estimate = _estimate_purity(counts, target, purity, name, value)
        return Assumptions(
            estimate.mixture(),
            estimate=estimate,
            prior_follows_from=follows,
            target=target,
            warnings=estimate.warnings,
        )
    convert = _conversion(counts, target, name)
    shares: Range
    purities: Range
    region = deficit = None
    if isinstance(value, tuple | list) or isinstance(purity, tuple | list):
        shares, purities = _read_share(name, value), _read_share("purity", purity)

        def priors_at(purity: float) -> Range:
            low, high = sorted(convert(share, purity).prior for share in shares)
            return low, high

        at_low, at_high = map(priors_at, purities)
        region = Region.between_priors(at_low, at_high, purities)
        mixture = region.middle
    else:
        mixture = convert(value, purity)
        shares, purities = (value, value), (purity, purity)
    if follows == "prevalence":
        deficit = _chance_deficit(counts, float(shares[0]), float(purities[1]))
    return Assumptions(
        mixture,
        region,
        prior_follows_from=follows,
        target=target,
        warnings=() if deficit is None else (deficit,),
    )


def _estimate_purity(
    counts: Counts, target: Target, purity: str, name: KnownShare, value: Any
) -> PriorEstimate:
    """Estimate the purity for a given prior, prevalence or label frequency."""
    if purity != "estimate":
        raise InputError(
            f'purity must be a number, an interval or "estimate"; got {short_text(purity)}.'
        )
    line, purities = check_known_share(counts, target, name, value)
    # scikit-learn is slow to import, and not needed here.
    from pueval.priors._purity_estimate import estimate_purity

    return estimate_purity(counts, line, name, purities=purities)


def check_known_share(
    counts: Counts, target: Target, name: KnownShare, value: Any
) -> tuple[PriorLine, Range]:
    """Check a share for which the purity is to be estimated.

    Return the prior as a function of the purity, and the possible purities.
    """
    if isinstance(value, tuple | list):
        raise InputError(
            f'purity="estimate" needs {name} as a number; got the interval {short_text(value)}. '
            "Give purity as an interval, too."
        )
    line = PriorLine.of(counts, name, value, target)
    low, high = line.purities
    if name == "prevalence" and target == "population":
        # By chance, more positives than expected can be labeled.
        high = 1.0 if _chance_deficit(counts, value, 1.0) else high
    return line, (low, high)


def _read_share(name: str, value: Any) -> Range:
    """Return a share as an interval, with equal ends for a number."""
    return _read_interval(name, value) if isinstance(value, tuple | list) else (value, value)


def _conversion(counts: Counts, target: Target, name: str) -> Callable[[float, float], Mixture]:
    """Return the function from a share and a purity to prior and purity."""
    if name == "label_frequency":
        return partial(Mixture.from_label_frequency, counts)
    if name == "prevalence" and target == "population":
        return partial(_mixture_from_prevalence, counts)
    return Mixture


def _mixture_from_prevalence(counts: Counts, prevalence: float, purity: float) -> Mixture:
    prevalence = check_share("prevalence", prevalence)
    purity = check_share("purity", purity, low_open=True)
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
        "within chance: the prior is set to 0 there."
    )


def _read_interval(name: str, value: Any) -> Range:
    """Return an interval as two floats."""
    if len(value) == 2 and all(isinstance(end, Real) and math.isfinite(end) for end in value):
        low, high = (float(end) for end in value)
        if low <= high:
            return low, high
    raise InputError(
        f"{name} as an interval must be two numbers, the lower one first; got {short_text(value)}."
    )


def resample_evaluation(
    counts: Counts,
    corners: Steps,
    assumptions: Assumptions,
    target: Target,
    threshold: float | Array,
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
    prior_error = None
    if assumptions.prior_follows_from is not None and options.variance == "sampling":
        prior_error = partial(assumptions.label_count_error, counts)
    if assumptions.estimate is not None:
        estimate = assumptions.estimate
        region = confidence_region(estimate, options.level)
        from pueval.priors._one_step_bootstrap import draw_mixtures

        error = 0.0 if prior_error is None else prior_error(assumptions.mixture)
        draw = partial(draw_mixtures, estimate, counts, prior_error=error, seed=options.seed)
        # If labels may be clean, the purity is at the boundary, where draws are too regular.
        noisy = estimate.purity_pvalue is None or estimate.purity_pvalue < PLAUSIBLE_PVALUE
        return counts, replace(
            exact,
            confidence_region=region,
            draw_mixtures=draw,
            prior_error=prior_error,
            percentiles_suffice=estimate.known_share is not None and noisy,
        )
    if assumptions.audited is not None:
        return counts, replace(
            exact,
            confidence_region=assumptions.audited.region(assumptions.mixture),
            draw_mixtures=partial(audited_mixtures, counts),
            percentiles_suffice=True,
        )
    if assumptions.label_errors is not None and options.variance == "sampling":
        draw = partial(mixtures_from_label_errors, assumptions.label_errors, counts)
        return counts, replace(exact, draw_mixtures=draw)
    if assumptions.region is not None:
        return counts, replace(exact, given_region=assumptions.region, prior_error=prior_error)
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
