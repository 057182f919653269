"""What is assumed: prior and purity as given, in any of several ways, or as estimated."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from numbers import Real
from typing import TYPE_CHECKING, Any, cast

from pueval._typing import Range, Target
from pueval.core.mixture import Mixture, PriorSource
from pueval.counts.counts import Counts
from pueval.errors import InputError
from pueval.uncertainty.intervals import IntervalOptions
from pueval.uncertainty.prior_region import Region, confidence_region

if TYPE_CHECKING:
    from pueval.priors import PriorEstimate


# A prevalence may be so many standard errors less than the share of labeled rows.
CHANCE = 4.0


@dataclass(frozen=True)
class Assumptions:
    """Prior and purity, and how well they are known.

    Attributes
    ----------
    mixture : Mixture
        As given or estimated; the middle of what was given as intervals.
    region : Region or None
        Where one of them was given as an interval.
    estimate : PriorEstimate or None
        Where they were estimated.
    elsewhere : bool
        Whether that was done before, perhaps from the scores of another model.
    from_propensity : bool
        Whether the prior follows from the propensities of the labeled rows.
    by_labels : {"label_frequency", "prevalence"} or None
        What was given, where the prior follows from it and the number of labeled rows, which
        varies by chance.
    target : {"population", "unlabeled"}
        Whose share of positives that is about.
    warnings : tuple of str
        Problems with the assumptions that nobody has been warned of yet.
    """

    mixture: Mixture
    region: Region | None = None
    estimate: PriorEstimate | None = None
    estimate_given: bool = False
    from_propensity: bool = False
    prior_follows_from: PriorSource | None = None
    target: Target = "population"
    warnings: tuple[str, ...] = ()

    def prior_error(self, counts: Counts, mixture: Mixture | None = None) -> float:
        """Return the standard error that a prior then has; that of the middle if none is given."""
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
        prior_error = partial(self.prior_error, counts)
        return (self.region or point).widened(prior_error, options.critical_value)

    def prevalence_varies(self, target: Target) -> bool:
        """Whether the prevalence of the target varies with how many rows happen to be labeled.

        Not if it is known, nor if the prior follows from the same number and varies instead.
        """
        return target == "population" and not (self.prior_follows_from or self.from_propensity)


def resolve_assumptions(
    counts: Counts,
    target: Target,
    purity: Any,
    prior: Any,
    prevalence: Any,
    label_frequency: Any,
) -> Assumptions:
    """Return the assumptions as given, or as estimated where they are not."""
    given = {
        name: value
        for name, value in (
            ("prior", prior),
            ("prevalence", prevalence),
            ("label_frequency", label_frequency),
        )
        if value is not None
    }
    if counts.has_propensity:
        _check_propensity(purity, target)
    if not counts.n_unlabeled:
        if any(given.values()):
            raise InputError(
                f"{', '.join(given)} was given, but there are no unlabeled rows for it to "
                "tell about. Leave it out: where every row is known, it has no effect."
            )
        if counts.n_represented > counts.n_labeled * (1 + 1e-9):
            raise _too_many(counts)
        if isinstance(purity, str):
            raise InputError(
                f"purity must be a number where there are no unlabeled rows; got {purity!r}. It "
                "cannot be estimated without them."
            )
        known = _purity_given(purity)
        if isinstance(known, tuple):
            return _of_region(Region((0.0, 0.0), known))
        return Assumptions(Mixture(0.0, known))
    if len(given) > 1:
        raise InputError(
            f"give at most one of prior, prevalence and label_frequency; got "
            f"{' and '.join(given)}. prior is the share of positives among the unlabeled rows, "
            "prevalence their share in the target, label_frequency the share of all positives "
            "that are labeled."
        )
    if hasattr(prior, "prior_interval"):
        return _estimated(prior, purity)
    if given:
        return _given(counts, target, purity, *next(iter(given.items())))
    if counts.has_propensity:
        return Assumptions(_represented(counts), from_propensity=True)
    if isinstance(purity, tuple | list):
        raise InputError(
            f"purity as an interval needs a prior; got purity={purity!r} and no prior. "
            'Give a prior, or estimate both with purity="estimate".'
        )
    from pueval.priors._estimate_prior import estimate_without_warning

    # `evaluate` issues all warnings together.
    estimate = estimate_without_warning(counts, purity=purity)
    return Assumptions(estimate.mixture(), estimate=estimate, warnings=estimate.warnings)


def _estimated(estimate: PriorEstimate, purity: Any) -> Assumptions:
    """Take an estimate that was made before, perhaps from another model's scores."""
    if purity not in (1.0, "estimate", estimate.purity):
        raise InputError(
            f"the estimate given as prior has purity {estimate.purity:g}; got purity={purity!r}. "
            "Leave purity out."
        )
    return Assumptions(estimate.mixture(), estimate=estimate, estimate_given=True)


def _given(counts: Counts, target: Target, purity: Any, name: str, value: Any) -> Assumptions:
    if isinstance(purity, str):
        raise InputError(
            f"purity must be a number where {name} is given; got {purity!r}. "
            f"Leave {name} out to estimate both."
        )
    known = _purity_given(purity)
    convert: Callable[[float, float], Mixture]
    if name == "label_frequency":

        def convert(value: float, purity: float) -> Mixture:
            return Mixture.from_label_frequency(counts, value, purity)
    elif name == "prevalence" and target == "population":

        def convert(value: float, purity: float) -> Mixture:
            try:
                return Mixture.from_prevalence(counts, value, purity)
            except InputError:
                if _less_by_chance(counts, value, purity) is None:
                    raise
                return Mixture(0.0, purity)
    else:
        convert = Mixture
    limits = _limits(name, value) if isinstance(value, tuple | list) else (value, value)
    if not isinstance(known, tuple):
        ends = sorted(convert(limit, known).prior for limit in limits)
        # Labeled rows collected apart are as many as somebody wanted, but then no label frequency
        # is known. Propensities say more.
        by_chance = target == "population" or name == "label_frequency"
        by_chance = by_chance and name != "prior" and not counts.has_propensity
        prior_follows_from = cast("PriorSource", name) if by_chance else None
        region = None
        if isinstance(value, tuple | list):
            region = Region((ends[0], ends[1]), (known, known))
        mixture = convert(value, known) if region is None else region.middle
        if prior_follows_from is None:
            return Assumptions(mixture, region)
        note = None
        if prior_follows_from == "prevalence" and region is None:
            note = _less_by_chance(counts, value, known)
        warnings = () if note is None else (note,)
        return Assumptions(
            mixture, region, prior_follows_from=prior_follows_from, target=target, warnings=warnings
        )
    if convert is not Mixture:
        raise InputError(
            f"purity as an interval goes with a prior, not with {name}: for each purity in it "
            f"the same {name} means another prior. Give prior, as a number or an interval."
        )
    return _of_region(Region(limits, known))


def _less_by_chance(counts: Counts, prevalence: float, purity: float) -> str | None:
    """Say that a prevalence is less than the labeled rows alone make it, if that can be chance.

    Where most positives are labeled, more of them than on average can be in a sample.
    """
    least = purity * counts.n_labeled / counts.n
    error = Mixture(0.0, purity).prevalence_standard_error(counts)
    if not 0 < least - prevalence <= CHANCE * error:
        return None
    return (
        f"prevalence {prevalence:g} is less than the labeled rows alone make it ({least:.4g}), by "
        "no more than chance explains: the prior is taken as 0."
    )


def _of_region(region: Region) -> Assumptions:
    return Assumptions(region.middle, region)


def _limits(name: str, value: Any) -> Range:
    """Return an interval as two floats; refuse everything else."""
    if len(value) == 2 and all(isinstance(limit, Real) and math.isfinite(limit) for limit in value):
        low, high = (float(limit) for limit in value)
        if low <= high:
            return low, high
    raise InputError(
        f"{name} as an interval must be two numbers, the lower one first; got {value!r}."
    )


def _purity_given(purity: Any) -> float | Range:
    if isinstance(purity, tuple | list):
        return _limits("purity", purity)
    known: float = purity
    return known


def _check_propensity(purity: Any, target: Target) -> None:
    if purity != 1:
        raise InputError(
            f"propensities take labels as clean; got purity={purity!r}. A wrongly labeled row "
            "has no chance of being labeled as a positive."
        )
    if target != "population":
        raise InputError(
            "propensities are for target='population': labeled rows are then positives of the "
            f"same data set that happened to be labeled; got target={target!r}."
        )


def _represented(counts: Counts) -> Mixture:
    """Return the prior for which all positives are as many as the labeled rows stand for."""
    hidden = counts.n_represented - counts.n_labeled
    if hidden >= counts.n_unlabeled:
        raise _too_many(counts)
    return Mixture(hidden / counts.n_unlabeled)


def _too_many(counts: Counts) -> InputError:
    return InputError(
        f"the propensities say that {counts.n_labeled:,} labeled rows stand for "
        f"{counts.n_represented:,.6g} positives, but there are only "
        f"{counts.n_labeled + counts.n_unlabeled:,} rows that are labeled or unlabeled. "
        "Check them; if they are known only up to a factor, give prior or prevalence too."
    )
