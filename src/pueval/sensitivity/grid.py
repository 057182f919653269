"""What if prior or purity are wrong: a measure over both, and where the data contradict them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pueval._typing import Array, Target
from pueval.core.average_precision import average_precision
from pueval.core.curves import direct_auc, naive_auc
from pueval.core.measures import AREAS, MEASURES, find_measure, unknown_measure_error
from pueval.core.mixture import Mixture, Mixtures, cap_prior
from pueval.core.rates import correct_steps
from pueval.counts.counts import Counts
from pueval.errors import InputError, require
from pueval.sensitivity.feasibility import largest_prior

if TYPE_CHECKING:
    import pandas as pd

# Scores that are kept for the area under the precision-recall curve, which has no short formula.
SCORES = 2048
# How many priors and purities are tabulated unless the caller says which.
PRIORS, PURITIES = 61, 31
# The contrast purity − prior below which a corrected value is only noise.
SHOWN_CONTRAST = 0.01
# Tables and pictures reach at least to this prior.
LEAST_PRIOR = 0.002


@dataclass(frozen=True, eq=False)
class SensitivityGrid:
    """A measure for many priors and purities.

    Attributes
    ----------
    measure : str
        Its name.
    prior, purity : ndarray
        Ascending.
    value : ndarray of shape (purities, priors)
        Not clipped, so that it is seen where it leaves its range; NaN where prior and purity are
        too close to each other.
    feasible : ndarray of bool, of the same shape
        Whether the ranking allows this prior with this purity (`largest_prior`, 95 %).
    own : Mixture
        The mixture that was assumed.
    own_value : float
        The measure there. Average precisions are all those of some 2,000 scores.

    References
    ----------
    Jain, White and Radivojac (2017), figures 3 and 4.
    """

    measure: str
    prior: Array
    purity: Array
    value: Array
    feasible: Array
    assumed: Mixture
    assumed_value: float

    @property
    def change(self) -> Array:
        """The error made if this were the truth: ``own_value − value``."""
        return self.assumed_value - self.value

    def frame(self) -> pd.DataFrame:
        """Return a pandas DataFrame with a row per pair of prior and purity.

        Returns
        -------
        pandas.DataFrame
        """
        pandas = require("pandas", extra="pandas", purpose="SensitivityGrid.frame()")
        purity, prior = np.meshgrid(self.purity, self.prior, indexing="ij")
        columns = {"prior": prior, "purity": purity, "value": self.value, "feasible": self.feasible}
        frame: pd.DataFrame = pandas.DataFrame({name: c.ravel() for name, c in columns.items()})
        return frame


def sensitivity_grid(
    name: str,
    counts: Counts,
    assumed: Mixture,
    target: Target,
    threshold: float,
    *,
    priors: Any = None,
    purities: Any = None,
) -> SensitivityGrid:
    """Tabulate a measure at a threshold, or an area, over prior × purity."""
    counts._refuse_propensities("a table over prior and purity")
    if not counts.n_unlabeled:
        raise InputError("there are no unlabeled rows, so there is no prior to vary.")
    prior = _axis("priors", priors, 0.0) if priors is not None else _own_priors(counts, assumed)
    purity = (
        _axis("purities", purities, SHOWN_CONTRAST)
        if purities is not None
        else _own_purities(assumed)
    )
    across, down = np.meshgrid(prior, purity)
    known = down - across >= SHOWN_CONTRAST
    value = np.full(across.shape, np.nan)
    function = _function(name, counts, target, threshold)
    value[known] = function(Mixtures(across[known], down[known]))
    limits = np.array([largest_prior(counts, purity=float(p)).prior for p in purity])
    assumed_value = float(
        function(Mixtures(np.array([assumed.prior]), np.array([assumed.purity])))[0]
    )
    # A limit of 0 says that no prior fits the purity, not even 0.
    allowed = (across <= limits[:, None]) & (limits[:, None] > 0)
    return SensitivityGrid(name, prior, purity, value, known & allowed, assumed, assumed_value)


def _function(
    name: str, counts: Counts, target: Target, threshold: float
) -> Callable[[Mixtures], Array]:
    """Return the measure as a function of mixtures."""
    if name == "roc_auc":
        naive = naive_auc(counts, counts._roc_corners())
        return lambda m: np.array([direct_auc(counts, naive, m[k]) for k in range(len(m))])
    if name == "average_precision":
        few = counts._thinned(SCORES)
        corners = few._roc_corners()

        return lambda m: np.array(
            [average_precision(correct_steps(few, corners, m[k], target)) for k in range(len(m))]
        )
    try:
        measure = find_measure(name)
    except InputError:
        raise unknown_measure_error(name, [*AREAS, *MEASURES]) from None
    here = counts.at(threshold)
    return lambda m: np.broadcast_to(measure(correct_steps(counts, here, m, target)), m.prior.shape)


def _own_priors(counts: Counts, assumed: Mixture) -> Array:
    """From 0 to a little more than the data allow, or than was assumed."""
    most = max(1.15 * largest_prior(counts).prior, 1.5 * assumed.prior, LEAST_PRIOR)
    return np.linspace(0.0, cap_prior(most, contrast=SHOWN_CONTRAST), PRIORS)


def _own_purities(assumed: Mixture) -> Array:
    least = min(0.6, assumed.purity - 0.1)
    # Of what the prior leaves for the purity, a part is enough where it leaves little.
    above = assumed.prior + min(0.05, (1 - assumed.prior) / 2)
    return np.linspace(max(least, above, 0.05), 1.0, PURITIES)


def _axis(name: str, given: Any, least: float) -> Array:
    try:
        values = np.unique(np.asarray(given, dtype=np.float64))
    except (TypeError, ValueError):
        values = np.empty(0)
    if not values.size or not np.all((values >= least) & (values <= 1)):
        raise InputError(f"{name} must be numbers in [{least:g}, 1]; got {given!r}.")
    return values
