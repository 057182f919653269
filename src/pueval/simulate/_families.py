"""Families of populations: normal scores, beta scores, and ranks."""

from __future__ import annotations

from pueval._checks import check_fraction
from pueval.errors import InputError
from pueval.simulate._distributions import Beta, Normal, Remainder, check_positive
from pueval.simulate._populations import Population


def binormal(separation: float, *, prevalence: float, spread: float = 1.0) -> Population:
    """Return normal scores: negatives around 0 with deviation 1, positives around ``separation``.

    Its AUC is Φ(separation/√(1 + spread²)).

    Parameters
    ----------
    separation : float
        Mean score of the positives.
    prevalence : float
        Share of positives, in (0, 1).
    spread : float, default 1.0
        Standard deviation of the scores of positives.

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
    """Return beta distributed scores, as probabilities of a calibrated model often look.

    Parameters
    ----------
    positive, negative : tuple of float
        The two shape parameters of each class: the larger the first one, the higher the scores.
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
            raise InputError(f"{name} must be two shape parameters, such as (3, 1.5).")
        for value in shape:
            check_positive(f"a shape parameter of {name}", value)
    return Population(Beta(*positive), Beta(*negative), prevalence)


def ranked(concentration: float, *, prevalence: float, lead: float = 1.0) -> Population:
    """Return a simulated ranking, as Claesen et al. (2015) use them.

    All rows together have uniform scores, which are relative ranks (1 is the top); those of the
    positives have a beta distribution, and the negatives fill the ranks that are left. The rank
    distribution of the positives is thus known exactly, and the AUC is
    (mean rank of the positives − prevalence/2)/(1 − prevalence).

    Parameters
    ----------
    concentration : float
        How far the positives are on top, at least 1: first shape parameter of the beta
        distribution of their scores. 1 (with ``lead`` 1) is a ranking by chance.
    prevalence : float
        Share of positives; no more than there is room for at the densest rank.
    lead : float, default 1.0
        Second shape parameter, at least 1: above 1 few positives are at the very top.

    Returns
    -------
    Population

    References
    ----------
    Claesen, Davis, De Smet and De Moor (2015), figures 2 to 4. They do not say which rank
    distributions they took.

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
