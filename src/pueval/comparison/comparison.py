"""Comparison: several models on the same rows, as numbers, data and text."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from pueval.comparison import comparison_json, comparison_text
from pueval.comparison.best_probability import best_probability
from pueval.comparison.compared_models import ComparedModels
from pueval.comparison.differences import Differences, paired_differences
from pueval.comparison.order_by_prior import (
    OrderByPrior,
    check_prior_range,
    order_by_prior,
    possible_priors,
)
from pueval.comparison.paired_estimates import BEST_VALUES, PairedEstimates
from pueval.comparison.rankings import Rankings
from pueval.comparison.values_by_prior import (
    auc_values,
    average_precision_values,
    best_values,
    threshold_values,
)
from pueval.core.measures import AREAS, MEASURES
from pueval.errors import InputError, require
from pueval.estimates.measure_titles import HEADLINE_MEASURES
from pueval.families.field_measures import can_order_models, family_members, find_ordering_measure
from pueval.ranking import RANKING_TITLES, saturation_note
from pueval.samples.threads import map_in_threads
from pueval.text.exported_tables import latex_table, markdown_table

if TYPE_CHECKING:
    import pandas as pd

    from pueval.displays import ComparisonDisplay

# Criteria of `Comparison.ranking` that need no threshold.
THRESHOLD_FREE = (*RANKING_TITLES, *AREAS, *BEST_VALUES)


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(ComparedModels):
    """Several models on the same rows; made by `compare`.

    ``comparison["a"]`` is the `Evaluation` of model "a", and iterating gives the names of the
    models. `differences` compares pairs. Measures are ``"roc_auc"``, ``"average_precision"``, every
    measure at each model's threshold (also any ``"f<beta>"``), the best values over all
    thresholds ``"best_accuracy"``, ``"best_balanced_accuracy"``, ``"best_f1"`` and
    ``"best_matthews_corrcoef"``, and those of families, such as ``"brier_score_loss"``.

    Attributes
    ----------
    evaluations : dict of str to Evaluation
        One evaluation per model, all with the same prior, purity and target.
    assumptions : Assumptions
        Prior and purity, and how well they are known.
    target : str
        ``"population"`` or ``"unlabeled"``.
    resampling : IntervalOptions or None
        Confidence level, number of resamples and random seed; None without confidence intervals.
    prior_model : str or None
        Model whose scores the prior was estimated from: the one with the best naive AUC.
    warnings : tuple of str
        Warnings, with the name of the model.
    """

    # ------------------------------------------------------------------ pairs

    def _paired(self, measure: str) -> PairedEstimates:
        if self._is_estimated_alone(measure):
            return self._pairs.field_estimates(measure)
        return self._pairs.estimates[measure]

    def differences(self, measure: str | None = None) -> Differences:
        """Compare all pairs of models.

        The difference of two estimates from the same rows has the variance
        var(first) + var(second) − 2·cov(first, second). Variances and covariances come from
        the influence of each row on both estimates. For the AUC they are DeLong's, divided by the
        square of purity minus prior, and at least those of one pseudo-observation per class. For
        measures at a threshold they follow from how many rows reach the threshold of one model, of
        the other, and of both.

        Average precisions and best values are not nearly linear in the rows. Their differences
        have the standard deviation that they have if the two models are exchanged in half of the
        rows, at random, many times. The random seed chooses these rows.

        With an audit, variances and covariances of all measures come from resampled rows, to which
        the labeling model of each model is fitted again.

        If prior and purity were estimated, intervals and p-values include their uncertainty, which
        all models share; the p-value of the AUC does not depend on it. If they were given as
        intervals, confidence intervals hold for all of their values, and p-values are the largest.

        If each model has its own best threshold, thresholds differ by chance, and so do precision
        or recall even between equally good models. Areas and best values do not depend on a
        threshold.

        Parameters
        ----------
        measure : str, optional
            Name of a measure, also of a family; by default all of ``measures``.

        Returns
        -------
        Differences
            A tuple of `Difference` in the order of measures, then of models, with ``frame()`` and
            ``to_dict()``.

        References
        ----------
        DeLong, DeLong and Clarke-Pearson (1988) for the AUC; Venkatraman and Begg (1996) for
        exchanging the ranks of two models; Holm (1979) for p-values adjusted for all pairs.
        """
        measures = self.measures if measure is None else (measure,)
        n_left_out = self._pairs.n_left_out
        freedom = math.inf if self.resampling is None else self.resampling.degrees_of_freedom
        return Differences(
            difference
            for name in measures
            for difference in paired_differences(
                self.names, name, self._paired(name), self.level, n_left_out, freedom
            )
        )

    def best_probability(self, measure: str) -> dict[str, float]:
        """Return the probability that each model is the best.

        True values are treated as jointly normal around the estimates. The probability says how
        certain the choice is; `differences` says how large the advantage is.

        Parameters
        ----------
        measure : str
            Name of a measure.

        Returns
        -------
        dict of str to float
            Probabilities that add up to 1; NaN for models whose measure is undefined.
        """
        seed = self.resampling.seed if self.resampling else 0
        return best_probability(self.names, self._paired(measure), self.level, seed)

    # ------------------------------------------------------------------ orders

    def ranking(self, *measures: str) -> Rankings:
        """Order the models by several criteria and list where these disagree.

        Parameters
        ----------
        *measures : str
            Any of ``measures``, and criteria that need no prior: ``"pulp"``, ``"lee_liu"``,
            ``"pseudo_f"``, ``"naive_roc_auc"`` and the other names of
            `pueval.ranking.ranking_measures`. By default all that need no threshold.

        Returns
        -------
        Rankings
            A note says if PULP is saturated: so close to its largest value for several models that
            it hardly tells them apart.

        References
        ----------
        Hajizadeh, Li, Dollevoet and Tax (2014) for criteria that need no prior.
        """
        criteria = measures or THRESHOLD_FREE
        notes, prior_free = [], [name for name in criteria if name in RANKING_TITLES]
        rankings = self._prior_free_rankings() if prior_free and self.has_integer_counts else {}
        if prior_free and not rankings:
            notes.append(
                f"{', '.join(prior_free)} count rows and are left out, because the rows have "
                "importance weights. Use integer weights to see them."
            )
        values, greater_is_better = {}, {}
        for name in criteria:
            if name not in prior_free:
                values[name] = self.values(name)
                greater_is_better[name] = self._model_values(name).greater_is_better
            elif rankings:
                values[name] = {model: ranking[name] for model, ranking in rankings.items()}
                greater_is_better[name] = True
        if "pulp" in values:
            saturated = saturation_note(values["pulp"], self.evaluations[self.names[0]].counts)
            notes += [saturated] if saturated else []
        if not values:
            raise InputError(notes[0])
        return Rankings(values, greater_is_better, tuple(notes))

    def _prior_free_rankings(self) -> dict[str, dict[str, float]]:
        rankings = map_in_threads(lambda ev: ev.ranking(), self.evaluations.values())
        return dict(zip(self.names, rankings, strict=True))

    @cached_property
    def _possible_priors(self) -> tuple[float, float]:
        return possible_priors([ev.counts for ev in self.evaluations.values()], self.mixture)

    def order_by_prior(
        self, measure: str, *, priors: tuple[float, float] | None = None
    ) -> OrderByPrior:
        """Return which model is the best at which prior, and where two models change places.

        Purity and thresholds stay as they are; best values use the best threshold at each prior.

        - The order by ROC AUC (direct formula) never changes: its differences are those of the
          naive AUC, divided by purity minus prior. The same holds for balanced accuracy and
          informedness. The area under a *clipped* curve (`Evaluation.roc_area`, `claesen_bounds`)
          is another matter. Where rates are clipped or made monotone, models can change places:
          close ones by chance, others beyond the `largest_prior` that a ranking allows, as in
          figure 4 of Claesen et al. (2015).
        - With clean labels the order by recall and precision does not change either: recall does
          not depend on the prior, and precision is proportional to the prevalence. Nor does that
          by average precision, as long as corrected rates stay between 0 and 1.
        - The order by accuracy and F can change, and with noisy labels many others can, too.

        Parameters
        ----------
        measure : str
            Name of a measure.
        priors : tuple of float, optional
            Lowest and highest prior; by default 0 and the `largest_prior` that all models allow.

        Returns
        -------
        OrderByPrior

        References
        ----------
        Claesen, Davis, De Smet and De Moor (2015), section 6.2.
        """
        if self._pairs.model_values.shares is None:
            raise InputError(
                "order_by_prior moves the prior, but the audit determines it. Compare the models "
                "with differences()."
            )
        counts = [ev.counts for ev in self.evaluations.values()]
        if not counts[0].n_unlabeled:
            raise InputError("there are no unlabeled rows, so there is no prior that could vary.")
        purity, greater_is_better = self.mixture.purity, True
        if measure == "roc_auc":
            naive = np.array([ev["roc_auc"].naive for ev in self.evaluations.values()])
            values = auc_values(counts, naive, purity)
        elif measure == "average_precision":
            values = average_precision_values(counts, purity, self.target)
        elif measure in BEST_VALUES:
            best = MEASURES[measure.removeprefix("best_")]
            values = best_values(counts, best, purity, self.target)
        else:
            if find_ordering_measure(measure) is not None:
                raise InputError(
                    f"order_by_prior has no {measure}. Choose an area, a best value or a measure "
                    "at a threshold."
                )
            formula = self._threshold_measure(measure)
            greater_is_better = formula.greater_is_better
            share = self._pairs.model_values.shares.share
            values = threshold_values(counts[0], share, formula, purity, self.target)
        prior_range = (
            self._possible_priors if priors is None else check_prior_range(self.mixture, priors)
        )
        return order_by_prior(
            self.names, measure, values, prior_range, greater_is_better=greater_is_better
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
        keys = [(measure, name) for measure in self.measures for name in self]
        estimates = comparison_text.collect_estimates(self.evaluations, self.measures)
        rows = [vars(estimates[name][measure]) for measure, name in keys]
        index = pandas.MultiIndex.from_tuples(keys, names=["measure", "model"])
        return pandas.DataFrame(rows, index=index)

    def to_dict(self, *, all_points: bool = False, families: Sequence[str] = ()) -> dict[str, Any]:
        """Return everything but `ranking` as plain numbers, lists and text, ready for JSON.

        Parameters
        ----------
        all_points : bool, default False
            Whether curves have all of their points; see `Evaluation.to_dict`.
        families : sequence of str, optional
            Families or measures to add: their estimates, and their differences if they can order
            models. See `Evaluation.family`.

        Returns
        -------
        dict
            Undefined and infinite numbers are None. ``compared`` has the names of the models that
            are compared in pairs: all, or the 20 with the best ROC AUC; see `subset` for others.
        """
        return comparison_json.as_data(self, all_points=all_points, families=families)

    def to_markdown(self) -> str:
        """Return the printed table of measures in Markdown, with a column per model.

        Returns
        -------
        str
        """
        return markdown_table(*comparison_text.exported_table(self))

    def to_latex(self) -> str:
        """Return the printed table of measures in LaTeX, for the package booktabs.

        Returns
        -------
        str
            A ``tabular`` with a column per model.
        """
        return latex_table(*comparison_text.exported_table(self))

    def to_html(
        self,
        path: str | os.PathLike[str],
        *,
        ranking: bool = False,
        families: Sequence[str] = (),
        command: str | None = None,
        file: str | None = None,
    ) -> None:
        """Write a report of all models as a self-contained HTML file.

        With more than 20 models, it shows the 20 with the best ROC AUC, the differences of these
        by the main measures, and a table of all others.

        Parameters
        ----------
        path : str or path
            File to write.
        ranking : bool, default False
            Whether to include the measures that need no prior.
        families : sequence of str, optional
            Families or measures to show in a table of their own, and to compare if they can order
            models: see `Evaluation.family`.
        command : str, optional
            Command that reproduces the report; Python code by default.
        file : str, optional
            Name of the file with the scores, for the title.
        """
        from pueval.report import write_report

        shown = comparison_text.leading_models(self)
        more = [name for name in family_members(families) if can_order_models(name)]
        measures = dict.fromkeys((*(self.measures if shown is self else HEADLINE_MEASURES), *more))
        differences = [vars(row) for measure in measures for row in shown.differences(measure)]
        write_report(
            path,
            self.evaluations,
            differences,
            rankings=shown._prior_free_rankings() if ranking else None,
            command=command,
            prior_model=self.prior_model,
            notes=() if self.prior_estimate is None else self.prior_estimate.warnings,
            file=file,
            families={name: ev.family(*families) for name, ev in shown.evaluations.items()}
            if families
            else None,
        )

    def plot(self, **options: Any) -> ComparisonDisplay:
        """Plot measures with confidence intervals, and differences from one of the models.

        Parameters
        ----------
        **options
            Options of `pueval.displays.ComparisonDisplay.from_comparison`.

        Returns
        -------
        ComparisonDisplay
        """
        from pueval.displays import ComparisonDisplay

        return ComparisonDisplay.from_comparison(self, **options)

    def __repr__(self) -> str:
        return comparison_text.as_text(self)

    def _repr_html_(self) -> str:
        return comparison_text.as_html(self)
