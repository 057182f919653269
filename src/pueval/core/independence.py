"""Probability that rows of the same cluster are independent, from their design effects.

If they are independent, a design effect D that is estimated with ν degrees of freedom is about
χ²/ν. If they are not, it is D·χ²/ν for some D above 1; we take 1/D to be uniform between 0 and 1.
The ratio of the two likelihoods has a closed form,

    e^(−b) / ∫₀¹ u^(ν/2) e^(−bu) du,   b = ν·(estimate of D)/2,

and both are equally probable beforehand.

Few clusters show only roughly how much an estimate varies; independent rows show it well. So the
variance of independent rows counts like one with `PRIOR_FREEDOM` degrees of freedom, times the
probability that rows are independent, and is averaged with that of clusters. Degrees of freedom add
up. If rows are alike, the probability is close to 0, and clusters alone count.

Design effects of shares above thresholds show dependence best. Effects of areas are smaller: what a
cluster adds to all of its scores largely cancels.
"""

from __future__ import annotations

import math

import scipy  # loads its submodules when they are first used

# What the variance of independent rows counts, if rows are certainly independent. Chosen by
# simulation (tests/coverage/clusters.py), so that intervals of independent rows are less than 5%
# wider with 20 clusters than without.
PRIOR_FREEDOM = 80.0
# Degrees of freedom of a design effect of shares that is averaged over all thresholds, per degree
# of freedom at one of them: (Σλ)²/Σλ² for the weights λ = 1/(jπ)² of Cramér and von Mises.
FREEDOM_OF_SHARES = 2.5


def independence_odds(effect: float, freedom: float) -> float:
    """Return how much more probable an estimated design effect is if rows are independent.

    Parameters
    ----------
    effect : float
        Estimated design effect.
    freedom : float
        Its degrees of freedom.

    Returns
    -------
    float
        Ratio of its probability if rows are independent to that if they are not.

    Examples
    --------
    >>> round(independence_odds(1.0, 47), 1), round(independence_odds(2.0, 47), 3)
    (4.3, 0.003)
    """
    shape, rate = freedom / 2 + 1, freedom * max(effect, 0.0) / 2
    if rate <= 0:
        return shape
    # The integral is that of a gamma density up to 1.
    log_integral = math.lgamma(shape) - shape * math.log(rate)
    log_integral += math.log(max(float(scipy.special.gammainc(shape, rate)), 1e-300))
    return math.exp(min(-rate - log_integral, 700.0))
