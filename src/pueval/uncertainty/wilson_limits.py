"""Wilson's limits of shares of rows, carried over to measures of them.

Where few rows lie above a threshold, or few below it, their share is far from normal: if none of 50
labeled rows lie above it, the true positive rate may still be .07. Shares of labeled rows,
unlabeled rows and known negatives are independent. So the limits of each are carried over to a
measure on their own, and the changes add in quadrature, as Zou and Donner (2008) do.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from pueval._typing import Array
from pueval.core.confidence import wilson_limit
from pueval.core.measures import Measure
from pueval.core.mixture import Mixture
from pueval.core.rates import Shares, correct_shares
from pueval.uncertainty.intervals import Interval
from pueval.uncertainty.measure_intervals import Resamples


def extend_to_wilson(
    interval: Interval, measure: Measure, threshold: float, resamples: Resamples
) -> Interval:
    """Extend the interval of a measure at a threshold to at least Wilson's limits.

    ``measure`` must be linear in the shares of rows at or above the threshold.
    """
    if math.isnan(interval.low):
        return interval
    nodes = resamples.prior.given_nodes(resamples.options.critical_value)
    limits = [_limits(measure, threshold, resamples, m) for m in (resamples.mixture, *nodes)]
    low, high = min(low for low, _ in limits), max(high for _, high in limits)
    return replace(
        interval,
        low=min(interval.low, max(low, measure.low)),
        high=max(interval.high, min(high, measure.high)),
    )


def _limits(
    measure: Measure, threshold: float, resamples: Resamples, mixture: Mixture
) -> tuple[float, float]:
    """Return the limits of a measure for one prior and purity."""
    counts, table = resamples.counts, resamples.cluster_table
    steps = counts.at(threshold)
    shares = [*Shares.of(counts, steps)[:4]]
    effects = np.ones(3) if table is None else table.kind_effects

    def value(moved: list[Array | None]) -> float:
        rates = correct_shares(
            counts,
            steps.threshold,
            Shares(*moved),  # type: ignore[arg-type]
            mixture,
            resamples.target,
        )
        return float(measure(rates)[0])

    center, down, up = value(shares), 0.0, 0.0
    for kind, (sample, effect) in enumerate(zip(counts._samples, effects, strict=True)):
        size = sample.effective_size / effect
        # Labeled rows and the positives that they represent are the same rows.
        same = [0, 3] if kind == 0 and shares[3] is not None else [kind]
        share = shares[same[-1]]
        if share is None or not size > 0:
            continue
        changes = [0.0]
        for sign in (-1, 1):
            limit = wilson_limit(
                share.clip(0, 1), max(size, 1.0), sign * resamples.options.critical_value
            )
            moved = [
                s if s is None or k not in same else s + limit - share for k, s in enumerate(shares)
            ]
            changes.append(value(moved) - center)
        down, up = math.hypot(down, min(changes)), math.hypot(up, max(changes))
    return center - down, center + up
