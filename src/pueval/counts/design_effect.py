"""Design effect: how many times larger a variance is than that of independent rows."""

from __future__ import annotations

from dataclasses import replace

from pueval.counts.counts import Counts
from pueval.samples.sample import Sample, SortedChunk


def with_design_effect(counts: Counts, effect: float) -> Counts:
    """Return the counts with effective sizes divided by the design effect.

    Squared weights are multiplied by it, and with them every variance.

    References
    ----------
    Kish (1965).

    Examples
    --------
    >>> with_design_effect(Counts.from_arrays([1, 1, 0], [0.9, 0.4, 0.2]), 2.0).effective_sizes
    (1.0, 0.5)
    """
    if effect == 1:
        return counts

    def scale(sample: Sample) -> Sample:
        scaled = sample.map_chunks(
            lambda c: SortedChunk(
                c.values, c.row_counts.astype(float), effect * c.squared_weights.astype(float)
            )
        )
        return replace(scaled, design_effect=effect * sample.design_effect)

    clusters = counts._clusters
    if clusters is not None:
        clusters = replace(clusters, inflation=effect * clusters.inflation, _recent={})
    represented = None
    if counts.has_propensity:
        represented = scale(counts._inverse_propensity_sample())
    labeled, unlabeled, negative = map(scale, counts._samples)
    return Counts(
        labeled,
        unlabeled,
        negative,
        represented,
        _binning=counts._binning,
        _inverse_propensities=counts._inverse_propensities,
        _audit=counts._audit,
        _clusters=clusters,
    )
