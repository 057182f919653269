"""Sensitivity of a measure to prior and purity, and where the data contradict these."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from pueval._typing import Array, Target
from pueval.core.average_precision import average_precision
from pueval.core.curves import direct_auc, naive_auc
from pueval.core.measures import AREAS, MEASURES, find_measure, unknown_measure_error
from pueval.core.mixture import Mixture, Mixtures, cap_prior
from pueval.core.rates import correct_steps
from pueval.counts.counts import Counts
from pueval.errors import InputError
from pueval.sensitivity.feasibility import largest_prior
from pueval.text.numbers import format_number
from pueval.text.results import Result, evenly_spaced
from pueval.text.tables import text_table

# Average precision has no short formula, so the grid computes it from about this many scores.
SCORES = 2048
# Default numbers of priors and purities.
PRIORS, PURITIES = 61, 31
# Smallest purity − prior at which a corrected value is more than noise.
SHOWN_CONTRAST = 0.01
# The default priors extend at least to this one.
LEAST_PRIOR = 0.002
# Rows and columns of the printed table.
SHOWN_PRIORS, SHOWN_PURITIES = 7, 9
INFEASIBLE_MARK = "*"


@dataclass(frozen=True, eq=False, repr=False)
class SensitivityGrid(Result):
    """A measure as a function of prior and purity.

    Attributes
    ----------
    measure : str
        Name of the measure.
    prior, purity : ndarray
        Values of prior and purity, ascending.
    value : ndarray of shape (purities, priors)
        The measure; not clipped, so you see where it leaves its range. NaN where prior and purity
        are too close to each other.
    feasible : ndarray of bool, of the same shape
        Whether the ranking allows this prior with this purity (`largest_prior`, 95% confidence).
    assumed : Mixture
        The prior and purity of the evaluation.
    assumed_value : float
        The measure at the assumed prior and purity. Average precisions of the grid are computed
        from about 2,000 scores.

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
        """Error of the evaluation if these were the true values: ``assumed_value − value``."""
        return self.assumed_value - self.value

    def _headline(self) -> str:
        return (
            f"{self.measure} by prior and purity: {format_number(self.assumed_value)} at the "
            f"assumed prior {self.assumed.prior:.3g} and purity {self.assumed.purity:.3g}"
        )

    def _columns(self) -> dict[str, Array]:
        purity, prior = np.meshgrid(self.purity, self.prior, indexing="ij")
        columns = {"prior": prior, "purity": purity, "value": self.value, "feasible": self.feasible}
        return {name: column.ravel() for name, column in columns.items()}

    def _table(self) -> str:
        columns = evenly_spaced(self.prior.size, SHOWN_PRIORS)
        rows = evenly_spaced(self.purity.size, SHOWN_PURITIES)[::-1]
        header = ["purity \\ prior", *(f"{self.prior[k]:.3g} " for k in columns)]
        cells = []
        for row in rows:
            marks = [" " if self.feasible[row, k] else INFEASIBLE_MARK for k in columns]
            values = [format_number(value) for value in self.value[row, columns]]
            cells.append([f"{self.purity[row]:.3g}", *map(str.__add__, values, marks)])
        note = f"{INFEASIBLE_MARK} The data contradict this prior and purity (95% confidence)."
        return (
            f"{text_table(header, cells)}\n{note}\n.frame() returns all {self.value.size:,} values"
        )


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
        raise InputError(
            "there are no unlabeled rows, so there is no prior to vary. Check the labels."
        )
    prior = _default_priors(counts, assumed) if priors is None else _axis("priors", priors, 0.0)
    purity = _default_purities(assumed)
    if purities is not None:
        purity = _axis("purities", purities, SHOWN_CONTRAST)
    grid_prior, grid_purity = np.meshgrid(prior, purity)
    defined = grid_purity - grid_prior >= SHOWN_CONTRAST
    value = np.full(grid_prior.shape, np.nan)
    compute = function_of_mixtures(name, counts, target, threshold)
    value[defined] = compute(Mixtures(grid_prior[defined], grid_purity[defined]))
    largest = np.array([[largest_prior(counts, purity=float(p)).prior] for p in purity])
    # If the largest prior is 0, no prior fits the purity, not even 0.
    feasible = defined & (grid_prior <= largest) & (largest > 0)
    mixture = Mixtures(np.array([assumed.prior]), np.array([assumed.purity]))
    assumed_value = float(compute(mixture)[0])
    return SensitivityGrid(name, prior, purity, value, feasible, assumed, assumed_value)


def function_of_mixtures(
    name: str, counts: Counts, target: Target, threshold: float
) -> Callable[[Mixtures], Array]:
    """Return the measure as a function of mixtures."""
    if name == "roc_auc":
        naive = naive_auc(counts, counts._roc_corners())
        return _for_each(lambda mixture: direct_auc(counts, naive, mixture))
    if name == "average_precision":
        thinned = counts._thinned(SCORES)
        corners = thinned._roc_corners()
        return _for_each(lambda m: average_precision(correct_steps(thinned, corners, m, target)))
    try:
        measure = find_measure(name)
    except InputError:
        raise unknown_measure_error(name, [*AREAS, *MEASURES]) from None
    steps = counts.at(threshold)
    return lambda m: np.broadcast_to(measure(correct_steps(counts, steps, m, target)), len(m))


def _for_each(function: Callable[[Mixture], Any]) -> Callable[[Mixtures], Array]:
    """Extend a function of one mixture to several."""
    return lambda mixtures: np.array([function(mixtures[k]) for k in range(len(mixtures))])


def _default_priors(counts: Counts, assumed: Mixture) -> Array:
    """Return priors from 0 to a little above the largest one that is allowed or assumed."""
    most = max(1.15 * largest_prior(counts).prior, 1.5 * assumed.prior, LEAST_PRIOR)
    return np.linspace(0.0, cap_prior(most, contrast=SHOWN_CONTRAST), PRIORS)


def _default_purities(assumed: Mixture) -> Array:
    least = min(0.6, assumed.purity - 0.1)
    # Stay above the prior, but leave room where the prior itself is close to 1.
    above_prior = assumed.prior + min(0.05, (1 - assumed.prior) / 2)
    return np.linspace(max(least, above_prior, 0.05), 1.0, PURITIES)


def _axis(name: str, given: Any, least: float) -> Array:
    try:
        values = np.unique(np.asarray(given, dtype=np.float64))
    except (TypeError, ValueError):
        values = np.empty(0)
    if not values.size or not np.all((values >= least) & (values <= 1)):
        raise InputError(f"{name} must be numbers in [{least:g}, 1]; got {given!r}.")
    return values
