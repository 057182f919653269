"""Posterior density of a share, from its log density at some logits."""

from __future__ import annotations

import numpy as np
from scipy.interpolate import PchipInterpolator
from scipy.special import expit

from pueval._typing import Array

# Shares with logits outside this range are not distinguished from 0 and 1.
LOWEST_LOGIT, HIGHEST_LOGIT = -8.0, 9.0


def posterior_density(nodes: Array, log_density: Array) -> tuple[Array, Array]:
    """Return shares on a fine grid and their density, from the log density at some logits."""
    x = np.linspace(LOWEST_LOGIT, HIGHEST_LOGIT, 1701)
    inside = np.clip(x, nodes[0], nodes[-1])
    log_density = PchipInterpolator(nodes, log_density)(inside)
    # Beyond the nodes, the density falls about as the weak prior distributions do.
    log_density -= np.where(x < inside, inside - x, 2 * (x - inside))
    density = np.exp(log_density - log_density.max())
    share = expit(x)
    # From the density of the logit to the density of the share.
    density = density / (share * (1 - share))
    return share, density / np.trapezoid(density, share)


def posterior_quantiles(grid: Array, density: Array, level: float) -> tuple[float, float, float]:
    """Return the lower end of the interval, the median and the upper end."""
    steps = np.diff(grid) * (density[1:] + density[:-1]) / 2
    cumulative = np.r_[0.0, np.cumsum(steps)]
    tail = (1 - level) / 2
    probabilities = [tail, 0.5, 1 - tail]
    low, median, high = np.interp(probabilities, cumulative / cumulative[-1], grid)
    return float(low), float(median), float(high)
