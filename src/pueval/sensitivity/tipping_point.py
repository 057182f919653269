"""Tipping points: how wrong the labeling or the prior must be to overturn a conclusion."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from pueval._checks import check_number
from pueval._typing import Array
from pueval.core.measures import AREA_TITLES, find_measure
from pueval.core.mixture import Mixture, Mixtures
from pueval.errors import InputError
from pueval.sensitivity.grid import function_of_mixtures
from pueval.sensitivity.labeling_bias import LARGEST_BIAS, BiasedLabeling
from pueval.text.results import Result
from pueval.text.titles import title_in_sentence, title_with_article

# Relative errors of the labeling bias: in general, and where two digits are shown.
TOLERANCE, COARSE_TOLERANCE = 1e-11, 1e-3


@dataclass(frozen=True, repr=False)
class TippingPoint(Result):
    """How wrong the assumptions would have to be for a conclusion to fail.

    Attributes
    ----------
    measure : str
        Name of the measure.
    value : float
        Value that the conclusion depends on.
    labeling_bias : float
        Smallest labeling bias Λ at which the measure could be on the other side of ``value``;
        inf if no bias is large enough, NaN if the measure is undefined.
    prior : float
        Prior at which the corrected measure equals ``value``; NaN if there is none.
    """

    measure: str
    value: float
    labeling_bias: float
    prior: float

    def _headline(self) -> str:
        title = AREA_TITLES.get(self.measure) or find_measure(self.measure).title
        if math.isnan(self.labeling_bias):
            return f"No tipping point: the {title_in_sentence(title)} is undefined."
        value = f"{title_with_article(title)} of {self.value:.4g}"
        if self.labeling_bias == 1:
            return f"The estimate is {value}: no assumption has to be wrong."
        bias, prior = f"a labeling bias of {self.labeling_bias:.3g}", f"a prior of {self.prior:.3g}"
        start = value[:1].upper() + value[1:]
        if math.isinf(self.labeling_bias) and math.isnan(self.prior):
            return f"Neither a labeling bias nor a prior gives {value}."
        if math.isnan(self.prior):
            return f"{start} needs {bias}. No prior gives it."
        if math.isinf(self.labeling_bias):
            return f"{start} needs {prior}. No labeling bias gives it."
        return f"{start} needs {bias}, or {prior}."


def tipping_point(name: str, value: float, labeling: BiasedLabeling) -> TippingPoint:
    """Find the labeling bias, and the prior, at which a measure could be ``value``."""
    value = check_number("value", value)
    estimate = labeling.bounds(name, 1.0)[0].value
    _check_range(name, value)
    if math.isnan(estimate):
        return TippingPoint(name, value, math.nan, math.nan)
    measure = function_of_mixtures(name, labeling.counts, labeling.target, labeling.threshold)
    bias = tipping_bias(name, value, labeling)
    return TippingPoint(name, value, bias, _tipping_prior(value, labeling.mixture, measure))


def _check_range(name: str, value: float) -> None:
    """Raise an error if a value lies outside the range of a measure."""
    if name in AREA_TITLES:
        low, high = 0.0, 1.0
    else:
        measure = find_measure(name)
        low, high = measure.low, measure.high
    if not low <= value <= high:
        valid = f"at least {low:g}" if math.isinf(high) else f"between {low:g} and {high:g}"
        raise InputError(f"value must be {valid}, the range of {name}; got {value:g}.")


def tipping_bias(
    name: str, value: float, labeling: BiasedLabeling, *, tolerance: float = TOLERANCE
) -> float:
    """Return the smallest bias at which ``value`` lies within the bounds; inf if none does.

    ``tolerance`` is that of the logarithm of the bias.
    """
    from scipy.optimize import brentq  # slow to import

    upper = value >= labeling.bounds(name, 1.0)[0].value

    def margin(log_bias: float) -> float:
        bound = labeling.bound(name, math.exp(log_bias), upper=upper)
        return bound - value if upper else value - bound

    most = math.log(LARGEST_BIAS)
    if margin(0.0) >= 0:
        return 1.0
    if margin(most) < 0:
        return math.inf
    return math.exp(brentq(margin, 0.0, most, xtol=tolerance))


def _tipping_prior(value: float, mixture: Mixture, measure: Callable[[Mixtures], Array]) -> float:
    """Return the prior nearest to the assumed one at which a measure is ``value``; NaN if none."""
    from scipy.optimize import brentq  # slow to import

    def difference(priors: Array) -> Array:
        return measure(Mixtures(priors, np.full(priors.size, mixture.purity))) - value

    grid = np.linspace(0.0, 0.995 * mixture.purity, 400)
    differences = difference(grid)
    crossings = np.flatnonzero(differences[:-1] * differences[1:] <= 0)
    roots = [
        brentq(lambda p: difference(np.array([p]))[0], grid[k], grid[k + 1])
        for k in crossings
        if np.isfinite(differences[k : k + 2]).all() and differences[k] != differences[k + 1]
    ]
    return float(min(roots, key=lambda root: abs(root - mixture.prior))) if roots else math.nan
