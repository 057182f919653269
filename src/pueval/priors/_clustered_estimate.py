"""Intervals of an estimated prior if rows belong together.

The estimate itself does not depend on clusters. Its intervals, and everything else that depends on
the number of rows, use the effective number of independent rows. It follows from the design effect
of the prior: the variance of one Newton step of the tilt likelihood with clusters, divided by that
with independent rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from pueval._typing import Range
from pueval.core.cluster_table import reduced_counts, table_of
from pueval.counts.counts import Counts
from pueval.priors._estimation_result import MemberEstimate, PriorEstimate
from pueval.priors._labeled_unlabeled_counts import pooled_normal_scores
from pueval.priors._tilt_likelihood import TiltLikelihood


def estimate_clustered(
    counts: Counts, estimate: Callable[[Counts], PriorEstimate]
) -> PriorEstimate:
    """Estimate from all rows, with intervals for the effective number of independent rows.

    Parameters
    ----------
    counts : Counts
        Rows with clusters.
    estimate : callable
        Estimates prior and purity from counts of independent rows.

    Returns
    -------
    PriorEstimate
        Without intervals if there are too few clusters, and with a warning that says so.
    """
    assert counts._clusters is not None  # noqa: S101 - only called with clusters
    result = estimate(replace(counts, _clusters=None))
    reason = counts._clusters.clusters.missing_reason
    if reason is not None:
        members = {
            name: replace(member, prior_interval=None, purity_interval=None)
            for name, member in result.members.items()
        }
        return replace(
            result,
            prior_interval=None,
            purity_interval=None,
            members=members,
            warnings=(reason, *result.warnings),
        )
    reduced = estimate(reduced_counts(counts, prior_design_effect(counts)))
    members = {
        name: _with_intervals(member, reduced.members[name])
        for name, member in result.members.items()
        if name in reduced.members
    }
    return replace(
        result,
        prior_interval=_extended(reduced.prior_interval, result.prior),
        purity_interval=_extended(reduced.purity_interval, result.purity),
        prior_upper=reduced.prior_upper,
        purity_pvalue=reduced.purity_pvalue,
        members=members,
        warnings=reduced.warnings,
    )


def prior_design_effect(counts: Counts) -> float:
    """Return how many times larger the variance of an estimated prior is, at least 1."""
    table = table_of(counts)
    sizes = [kind.effective_size for kind in counts._samples[:2]]
    rows = np.stack([size * share for size, share in zip(sizes, table.share, strict=False)])
    used = rows.sum(axis=0) > 0
    labeled, unlabeled = rows[:, used][:, ::-1]
    model = TiltLikelihood(pooled_normal_scores(labeled, unlabeled), labeled, unlabeled)
    peak, free = model.fit(1.0)
    influence = np.zeros((3, used.size))
    for kind, gradient in enumerate(model.row_gradients(peak.parameters)):
        step = -np.linalg.solve(peak.information[0], gradient[list(free)])
        influence[kind, used] = sizes[kind] * step[free.index(model.PRIOR), ::-1]
    return max(table.design_effect(influence), 1.0)


def _with_intervals(member: MemberEstimate, reduced: MemberEstimate) -> MemberEstimate:
    return replace(
        member,
        prior_interval=_extended(reduced.prior_interval, member.prior),
        purity_interval=_extended(reduced.purity_interval, member.purity),
    )


def _extended(interval: Range | None, value: float) -> Range | None:
    """Return an interval that contains the value."""
    return None if interval is None else (min(interval[0], value), max(interval[1], value))
