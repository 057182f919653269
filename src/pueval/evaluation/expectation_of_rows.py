"""expectation(): the mean of any function of the score, by class, from labels and scores."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pueval._typing import Array
from pueval.counts.counts import Counts
from pueval.errors import InputError
from pueval.estimates.expectation import Expectation
from pueval.evaluation.evaluate import evaluate


def expectation(
    function: Callable[[Array], Any], y: Any, score: Any = None, **options: Any
) -> Expectation:
    """Return the mean of a function of the score over positives, negatives and all rows.

    Many measures that pueval does not have are formulas of such means: utilities, expected losses,
    moments of the scores by class. Labeled rows are a mixture of positives and negatives with the
    share ``purity`` of positives, unlabeled rows one with the share ``prior``, so

        E(f | labeled) = purity·E(f | positive) + (1 − purity)·E(f | negative)
        E(f | unlabeled) = prior·E(f | positive) + (1 − prior)·E(f | negative)

    Both equations are solved for the means by class. Assumes random labeling, or known
    propensities.

    Parameters
    ----------
    function : callable
        From an array of scores to an array of the same shape with finite numbers.
    y, score, **options
        As for `pueval.evaluate`: arrays, or Counts in the place of ``y``; prior, prevalence or
        label_frequency; purity, target, level and so on.

    Returns
    -------
    Expectation

    See Also
    --------
    Evaluation.expectation : The same for rows that are evaluated already.

    References
    ----------
    Jain, White and Radivojac (2017), equations 1 and 2, with means in the place of shares.

    Examples
    --------
    >>> import numpy as np
    >>> import pueval
    >>> rng = np.random.default_rng(0)
    >>> positive = rng.random(20_000) < 0.3
    >>> score = rng.normal(size=20_000) + 2 * positive
    >>> labeled = positive & (rng.random(20_000) < 0.2)
    >>> mean = pueval.expectation(np.square, labeled, score, prevalence=0.3)
    >>> round(mean.positives.value), round(mean.negatives.value), round(mean.negatives.naive, 1)
    (5, 1, 2.0)
    """
    if not callable(function) or (score is None and not isinstance(y, Counts)):
        what = "score is missing" if callable(function) else "the first argument is the function"
        raise InputError(
            f"{what}. Call expectation(function, y, score, …) or expectation(function, counts, …)."
        )
    return evaluate(y, score, **options).expectation(function)
