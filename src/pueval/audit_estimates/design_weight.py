"""The default estimate: the design-based one, shrunk toward the labeling model.

No model of labeling is exactly right, and the design-based estimate is right but less precise. The
default is their weighted mean, (1 − w)·model + w·design, with

    w = max(LEAST_WEIGHT, X/(1 + X)),   X = mean of (difference)²/(variance of the design-based one)

over numbers of positives at or above several scores. The more the two disagree, the more the design
counts. The standard deviation of the draws is the weighted mean of the two standard deviations: the
errors of the two estimates, which rest on the same audited rows, are taken as fully correlated.
"""

from __future__ import annotations

import numpy as np

from pueval._typing import Array

# Weight of the design-based estimate where both agree. Chosen by simulation.
LEAST_WEIGHT = 0.25
# Shares of the hidden positives at or above which numbers of positives are compared.
COMPARED_AT = np.arange(1, 11) / 10


def design_weight(unlabeled: Array, by_model: Array, by_design: Array, draws: Array) -> float:
    """Return the weight w of the design-based estimate.

    Parameters
    ----------
    unlabeled : ndarray of shape (k,)
        Unlabeled rows in each cell, from the highest scores.
    by_model, by_design : ndarray of shape (k,)
        Share of positives among them, by the model and by the design.
    draws : ndarray of shape (n_draws, k)
        Draws of the share by the design.

    Returns
    -------
    float
        In [`LEAST_WEIGHT`, 1).
    """
    model, design = np.cumsum(unlabeled * by_model), np.cumsum(unlabeled * by_design)
    # Rounding must not push the last place beyond the last cell.
    place = np.searchsorted(model, COMPARED_AT * model[-1] * (1 - 1e-12)).clip(max=model.size - 1)
    variance = np.var(np.cumsum(unlabeled * draws, axis=1)[:, place], axis=0)
    ratio = (model - design)[place] ** 2 / np.maximum(variance, 1e-12)
    disagreement = float(np.mean(ratio))
    return max(LEAST_WEIGHT, disagreement / (1 + disagreement))


def combine_draws(
    center: Array, by_model: Array, by_design: Array, weight: float, rows: Array
) -> Array:
    """Return draws of the weighted mean of two estimates.

    Parameters
    ----------
    center : ndarray of shape (k,)
        Mean of the draws.
    by_model, by_design : ndarray of shape (n_draws, k)
        Independent draws of the share of positives in each cell, by the model and by the design.
    weight : float
        Weight of the design-based estimate.
    rows : ndarray of shape (k,)
        Number of rows in each cell. The standard deviations are those of numbers of positives at
        or above the cells.

    Returns
    -------
    ndarray of shape (n_draws, k)
    """
    model, design = (
        part * (draws - draws.mean(axis=0))
        for part, draws in ((1 - weight, by_model), (weight, by_design))
    )
    first, second = (np.cumsum(rows * part, axis=1).std(axis=0) for part in (model, design))
    # Independent draws vary by √(a² + b²) instead of a + b.
    factor = np.sum(first + second) / max(float(np.sum(np.hypot(first, second))), 1e-300)
    draws: Array = center + factor * (model + design)
    return draws
