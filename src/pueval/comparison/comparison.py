"""Comparison: several models on the same rows, as numbers, data and text."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from pueval._typing import Target
from pueval.comparison import comparison_text as presentation
from pueval.comparison.differences import Difference, best_probability, paired_differences
from pueval.comparison.order_by_prior import (
    GRID,
    GRID_OF_AREAS,
    OrderByPrior,
    area_values,
    best_values,
    order_by_prior,
    point_values,
    possible_priors,
    prior_span,
)
from pueval.comparison.paired_estimates import BEST_VALUES, EstimatesByMeasure, PairedEstimates
from pueval.comparison.paired_rows import unknown_model_error
from pueval.comparison.rankings import Rankings
from pueval.core.measures import AREAS, MEASURES, Measure, find_measure, unknown_measure_error
from pueval.core.mixture import Mixture
from pueval.errors import InputError, require
from pueval.evaluation.assumptions import Assumptions
from pueval.evaluation.evaluation import Evaluation
from pueval.ranking import RANKING_TITLES
from pueval.samples.threads import map_in_threads
from pueval.uncertainty.intervals import IntervalOptions

if TYPE_CHECKING:
    import pandas as pd

    from pueval.displays import ComparisonDisplay
    from pueval.priors import PriorEstimate

# Criteria of `Comparison.ranking` that belong to no threshold.
OVERALL = (*RANKING_TITLES, *AREAS, *BEST_VALUES)


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """Several models on the same rows; made by `compare`.

    ``comparison["a"]`` is the `Evaluation` of model "a"; `differences` compares pairs. Measures are
    ``"roc_auc"``, ``"average_precision"``, every measure at each model's threshold (also any
    ``"f<beta>"``), and the best values over all thresholds ``"best_accuracy"``,
    ``"best_balanced_accuracy"``, ``"best_f1"`` and ``"best_matthews_corrcoef"``.

    Attributes
    ----------
    evaluations : dict of str to Evaluation
        One per model, all with the same prior, purity and target.
    assumptions : Assumptions
        Prior and purity, and how well they are known.
    target : str
        ``"population"`` or ``"unlabeled"``.
    resampling : Resampling or None
        Level of the limits, number of resamples and seed; None if there are no limits.
    prior_model : str or None
        The model from whose scores they were estimated: the one with the best naive AUC.
    warnings : tuple of str
        What looked wrong, with the name of the model.
    """

    evaluations: dict[str, Evaluation]
    assumptions: Assumptions
    target: Target
    resampling: IntervalOptions | None
    prior_model: str | None
    warnings: tuple[str, ...]
    _estimates: EstimatesByMeasure

    # ------------------------------------------------------------------ models

    def __getitem__(self, name: str) -> Evaluation:
        if name not in self.evaluations:
            raise unknown_model_error(name, self.evaluations)
        return self.evaluations[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.evaluations)

    def __len__(self) -> int:
        return len(self.evaluations)

    def __contains__(self, name: object) -> bool:
        return name in self.evaluations

    @property
    def mixture(self) -> Mixture:
        """Prior and purity."""
        return self.assumptions.mixture

    @property
    def prior_estimate(self) -> PriorEstimate | None:
        """Where prior and purity came from, if they were estimated."""
        return self.assumptions.estimate

    @property
    def level(self) -> float | None:
        """Confidence level of the limits; None if there are none."""
        return None if self.resampling is None else self.resampling.level

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the models."""
        return tuple(self.evaluations)

    @property
    def measures(self) -> tuple[str, ...]:
        """Names of the measures by which models are compared."""
        return (*AREAS, *MEASURES, *BEST_VALUES)

    # ------------------------------------------------------------------ pairs

    def _paired(self, measure: str) -> PairedEstimates:
        if measure not in self._estimates.fixed:
            self._find(measure)
        return self._estimates[measure]

    def _find(self, measure: str) -> Measure:
        """Look up a measure at a threshold."""
        try:
            return find_measure(measure)
        except (InputError, TypeError):
            raise unknown_measure_error(measure, [*self.measures]) from None

    def values(self, measure: str) -> dict[str, float]:
        """Return the corrected value of each model, before it is clipped.

        Parameters
        ----------
        measure : str
            Name of a measure.

        Returns
        -------
        dict of str to float
        """
        return dict(zip(self.names, self._paired(measure).value.tolist(), strict=True))

    def differences(self, measure: str | None = None) -> tuple[Difference, ...]:
        """Compare all pairs of models.

        The difference of two estimates from the same rows has the variance
        var(first) + var(second) − 2·cov(first, second). Variances and covariances come from
        the influence of each row on both: for the AUC these are DeLong's, divided by the square of
        purity minus prior; for a measure at a threshold, from how many rows reach one
        threshold, the other and both; for a best value, from the rows that reach the best
        thresholds; for the average precision, from the rows' effect on precision and recall.
        Where prior and purity were estimated, limits and p-values carry their uncertainty, which
        all models share; the AUC's p-value does not depend on it. Where they were given as
        intervals, limits hold for all of these, and p-values are the largest.

        Measures at a threshold are compared at the models' thresholds. Where each has its own,
        the best for these rows, thresholds differ by chance, and precision or recall differs with
        them even between equal models. Areas and best values do not depend on a threshold.

        Parameters
        ----------
        measure : str, optional
            Name of a measure; all of ``measures`` if left out.

        Returns
        -------
        tuple of Difference
            In the order of measures, then of models. ``pandas.DataFrame(differences)`` makes a
            table of it.

        References
        ----------
        DeLong, DeLong and Clarke-Pearson (1988) for the AUC; Holm (1979) for p-values that hold
        together for all pairs.
        """
        wanted = self.measures if measure is None else (measure,)
        return tuple(
            row
            for name in wanted
            for row in paired_differences(self.names, name, self._paired(name), self.level)
        )

    def best_probability(self, measure: str) -> dict[str, float]:
        """Return how probable it is that each model is the best.

        True values are taken as jointly normal around the estimates, with their covariance. This
        says how sure the choice is, not how large the advantage: see `differences`.

        Parameters
        ----------
        measure : str
            Name of a measure.

        Returns
        -------
        dict of str to float
            They add up to 1; NaN for models whose measure is undefined.
        """
        seed = self.resampling.seed if self.resampling else 0
        return best_probability(self.names, self._paired(measure), self.level, seed)

    # ------------------------------------------------------------------ orders

    def ranking(self, *measures: str) -> Rankings:
        """Return the order of the models by several criteria, and where they disagree.

        Parameters
        ----------
        *measures : str
            Any of ``measures``, and those that need no prior: ``"pulp"``, ``"lee_liu"``,
            ``"pseudo_f"``, ``"naive_roc_auc"`` and the other names of
            `pueval.ranking.ranking_measures`. If left out, all that belong to no threshold.

        Returns
        -------
        Rankings

        References
        ----------
        Hajizadeh, Li, Dollevoet and Tax (2014) for those that need no prior.
        """
        wanted = measures or OVERALL
        free = [name for name in wanted if name in RANKING_TITLES]
        notes: list[str] = []
        without: dict[str, dict[str, float]] = {}
        if free and not self.countable:
            notes.append(
                f"{', '.join(free)} count rows, and these have float weights: left out. Give "
                "whole numbers as weights to see them."
            )
            wanted = tuple(name for name in wanted if name not in free)
        elif free:
            without = self._without_prior()
        table, greater = {}, {}
        for name in wanted:
            if name in RANKING_TITLES:
                table[name] = {model: each[name] for model, each in without.items()}
                greater[name] = True
            else:
                table[name] = self.values(name)
                greater[name] = self._paired(name).greater_is_better
        if not table:
            raise InputError(notes[0])
        return Rankings(table, greater, tuple(notes))

    @property
    def countable(self) -> bool:
        """Whether rows can be counted: without weights, or with whole numbers."""
        return next(iter(self.evaluations.values())).counts._has_integer_counts

    def _without_prior(self) -> dict[str, dict[str, float]]:
        found = map_in_threads(lambda ev: ev.ranking(), self.evaluations.values())
        return dict(zip(self.names, found, strict=True))

    @cached_property
    def _possible_priors(self) -> tuple[float, float]:
        return possible_priors([ev.counts for ev in self.evaluations.values()], self.mixture)

    def order_by_prior(
        self, measure: str, *, priors: tuple[float, float] | None = None
    ) -> OrderByPrior:
        """Return which model is the best at which prior, and where two models change places.

        Purity and thresholds stay as they are; best values find the best threshold at each prior.
        The ROC AUC by the direct formula never flips: its differences are those of the naive AUC,
        divided by purity minus prior; nor do balanced accuracy and informedness. Recall and
        precision at a threshold do not flip either as long as labels are clean: recall does not
        depend on the prior then, and precision is proportional to the prevalence. Average
        precision does not as long as corrected rates are legal. Accuracy and F can flip, and so
        can many others with noisy labels.

        Parameters
        ----------
        measure : str
            Name of a measure.
        priors : tuple of float, optional
            From which prior to which; by default from 0 to the largest that all models' rankings
            allow (`pueval.largest_prior`).

        Returns
        -------
        PriorOrder

        References
        ----------
        Claesen, Davis, De Smet and De Moor (2015), section 6.2.
        """
        counts = [ev.counts for ev in self.evaluations.values()]
        if not counts[0].n_unlabeled:
            raise InputError("there are no unlabeled rows, so there is no prior that could vary.")
        purity, points, greater = self.mixture.purity, GRID, True
        if measure in AREAS:
            naive = np.array([ev["roc_auc"].naive for ev in self.evaluations.values()])
            values = area_values(measure, counts, naive, purity, self.target)
            points = GRID_OF_AREAS
        elif measure in BEST_VALUES:
            values = best_values(
                counts, MEASURES[measure.removeprefix("best_")], purity, self.target
            )
        else:
            found = self._find(measure)
            greater = found.greater_is_better
            values = point_values(
                counts[0], self._estimates.shares.share, found, purity, self.target
            )
        return order_by_prior(
            self.names,
            measure,
            values,
            greater_is_better=greater,
            span=self._possible_priors if priors is None else prior_span(self.mixture, priors),
            points=points,
        )

    # ------------------------------------------------------------------ as data and text

    def frame(self) -> pd.DataFrame:
        """Return a pandas DataFrame with a row per measure and model.

        Returns
        -------
        pandas.DataFrame
            Indexed by measure and model; columns as in `Estimate`. Best values have no standard
            error.
        """
        pandas = require("pandas", extra="pandas", purpose="Comparison.frame()")
        keys, rows = [], []
        for measure in self.measures:
            for name in self:
                keys.append((measure, name))
                rows.append(vars(presentation.estimate_of(self[name], measure)))
        index = pandas.MultiIndex.from_tuples(keys, names=["measure", "model"])
        frame: pd.DataFrame = pandas.DataFrame(rows, index=index)
        return frame

    def to_dict(self) -> dict[str, Any]:
        """Return everything but `ranking` as plain numbers, lists and text, ready for JSON.

        Returns
        -------
        dict
            Undefined and infinite numbers are None.
        """
        return presentation.as_data(self)

    def to_html(
        self,
        path: str | os.PathLike[str],
        *,
        ranking: bool = False,
        command: str | None = None,
    ) -> None:
        """Write a report of all models as one HTML file that needs no network.

        Parameters
        ----------
        path : str or path
            The file to write.
        ranking : bool, default False
            Whether to show the measures that need no prior, too.
        command : str, optional
            What makes the page again; Python code by default.
        """
        from pueval.report import write_report

        write_report(
            path,
            self.evaluations,
            [vars(one) for one in self.differences()],
            rankings=self._without_prior() if ranking else None,
            command=command,
            prior_model=self.prior_model,
            notes=() if self.prior_estimate is None else self.prior_estimate.warnings,
        )

    def plot(self, **options: Any) -> ComparisonDisplay:
        """Draw measures with their limits, and differences from one of the models.

        Parameters
        ----------
        **options
            Passed on to `pueval.displays.ComparisonDisplay.from_comparison`.

        Returns
        -------
        ComparisonDisplay
        """
        from pueval.displays import ComparisonDisplay

        return ComparisonDisplay.from_comparison(self, **options)

    def __repr__(self) -> str:
        return presentation.as_text(self)

    def _repr_html_(self) -> str:
        return presentation.as_html(self)
