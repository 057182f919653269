"""Intervals of the prior and the purity that an evaluation assumes."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pueval.evaluation.evaluation import Evaluation


class MixtureIntervals(NamedTuple):
    """Intervals of prior and purity; None for a value that is taken as exact."""

    prior: tuple[float, float] | None = None
    purity: tuple[float, float] | None = None


EXACT = MixtureIntervals()


def mixture_intervals(ev: Evaluation) -> MixtureIntervals:
    """Return the intervals that were specified, or estimated from the scores or by an audit."""
    if ev.prior_estimate is not None:
        return MixtureIntervals(ev.prior_estimate.prior_interval, ev.prior_estimate.purity_interval)
    region = ev.region or ev.assumptions.audited
    if region is None:
        return EXACT
    intervals = (region.prior, region.purity)
    return MixtureIntervals(*(pair if pair[0] < pair[1] else None for pair in intervals))
