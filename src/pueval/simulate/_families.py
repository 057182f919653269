"""Families of populations: binormal scores, beta scores, and rankings."""

from __future__ import annotations

from pueval._checks import check_fraction
from pueval.errors import InputError
from pueval.simulate._distributions import Beta, Normal, Remainder
from pueval.simulate._populations import Population
from pueval.simulate._simulation_inputs import check_positive


def binormal(separation: float, *, prevalence: float, spread: float = 1.0) -> Population:
    """Return a population with normal scores in both classes.

    Negatives have mean 0 and standard deviation 1. The AUC is Φ(separation/√(1 + spread²)).

    Parameters
    ----------
    separation : float
        Mean score of the positives.
    prevalence : float
        Share of positives, in (0, 1).
    spread : float, default 1.0
        Standard deviation of the positives' scores, above 0.

    Returns
    -------
    Population

    Examples
    --------
    >>> from pueval.simulate import binormal
    >>> round(binormal(1, prevalence=0.5).roc_auc, 4)
    0.7602
    """
    return Population(Normal(separation, spread), Normal(0.0, 1.0), prevalence)


def beta_scores(
    positive: tuple[float, float], negative: tuple[float, float], *, prevalence: float
) -> Population:
    """Return a population with beta-distributed scores, like predicted probabilities.

    Parameters
    ----------
    positive, negative : tuple of float
        The two shape parameters of each class, above 0; a larger first one gives higher scores.
    prevalence : float
        Share of positives, in (0, 1).

    Returns
    -------
    Population

    Examples
    --------
    >>> from pueval.simulate import beta_scores
    >>> round(beta_scores((2, 1), (1, 2), prevalence=0.5).roc_auc, 4)
    0.8333
    """
    for name, shape in (("positive", positive), ("negative", negative)):
        if not isinstance(shape, tuple) or len(shape) != 2:
            raise InputError(f"{name} must be a pair such as (3, 1.5); got {shape!r}.")
        for value in shape:
            check_positive(f"a shape parameter of {name}", value)
    return Population(Beta(*positive), Beta(*negative), prevalence)


def ranked(concentration: float, *, prevalence: float, lead: float = 1.0) -> Population:
    """Return a population of relative ranks, as in Claesen et al. (2015).

    Scores are relative ranks (1 is the top), so they are uniform over all rows. Those of the
    positives have a beta distribution, and the negatives fill the remaining ranks. The rank
    distribution of the positives is known exactly, and the AUC is
    (mean rank of the positives − prevalence/2)/(1 − prevalence).

    Parameters
    ----------
    concentration : float
        First shape parameter of the positives' beta distribution, at least 1. Larger values move
        positives to the top; 1 (with ``lead`` 1) gives a random ranking.
    prevalence : float
        Share of positives, in (0, 1), at most the inverse of the beta distribution's largest
        density.
    lead : float, default 1.0
        Second shape parameter, at least 1; above 1, few positives are at the very top.

    Returns
    -------
    Population

    References
    ----------
    Claesen, Davis, De Smet and De Moor (2015), figures 2 to 4. The paper does not state
    its rank distributions.

    Examples
    --------
    >>> from pueval.simulate import ranked
    >>> population = ranked(4, prevalence=0.2)
    >>> round(population.roc_auc, 4)
    0.875
    """
    for name, value in (("concentration", concentration), ("lead", lead)):
        check_positive(name, value)
        if value < 1:
            raise InputError(f"{name} must be at least 1; got {value!r}.")
    check_fraction("prevalence", prevalence)
    scores = Beta(float(concentration), float(lead))
    return Population(scores, Remainder(scores, prevalence), prevalence)
