"""DeLong's standard error of the AUC of labeled rows against the background.

The placements and their variance are in `pueval.uncertainty.influence`, for many groups at once.
"""

from __future__ import annotations

import math

from pueval.core.sizes import GroupSizes
from pueval.counts.counts import Counts
from pueval.samples.steps import Steps
from pueval.uncertainty.influence import influence_variance, placements
from pueval.uncertainty.score_steps import ScoreSteps


def delong_standard_error(
    counts: Counts, corners: Steps, *, pseudo_observation: bool, design_effect: float = 1.0
) -> float:
    """Compute the standard error of the naive AUC from the variance of placements.

    The placement of a labeled row is the share of background rows that it outscores; that of a
    background row is the share of labeled rows that outscore it; ties count half. Rows with
    importance weights add their squared weights to the variance.

    Parameters
    ----------
    counts : Counts
        The data.
    corners : Steps
        Corners of the naive ROC curve.
    pseudo_observation : bool
        Whether each kind of rows gets a pseudo-observation, as for intervals. Without it, this is
        the standard error of DeLong et al. and of other programs.
    design_effect : float
        Design effect of the AUC; 1 for independent rows.

    Returns
    -------
    float
        NaN for a single labeled row.

    References
    ----------
    DeLong, DeLong and Clarke-Pearson (1988).
    """
    steps, sizes = ScoreSteps.of_corners(counts, corners), GroupSizes.of(counts)
    variance = influence_variance(
        placements(steps, sizes),
        steps,
        sizes,
        pseudo_observation=pseudo_observation,
        design_effect=design_effect,
    )
    return math.sqrt(variance[0])
