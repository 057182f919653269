"""What is known about prior and purity of an evaluation, for pictures of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pueval.evaluation.evaluation import Evaluation


class Known(NamedTuple):
    """Limits of prior and purity; None where they are taken as exact."""

    prior: tuple[float, float] | None
    purity: tuple[float, float] | None


EXACT = Known(None, None)


def known_limits(ev: Evaluation) -> Known:
    """Return the limits that were given or estimated.

    Parameters
    ----------
    ev : Evaluation
        Made by `pueval.evaluate`.

    Returns
    -------
    Known
    """
    if ev.prior_estimate is not None:
        return Known(ev.prior_estimate.prior_interval, ev.prior_estimate.purity_interval)
    if ev.region is None:
        return EXACT
    spans = (ev.region.prior, ev.region.purity)
    return Known(*(span if span[0] < span[1] else None for span in spans))
