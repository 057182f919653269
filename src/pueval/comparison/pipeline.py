"""The work behind `compare`: from rows to evaluations and the covariance of all estimates."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from pueval._typing import Array, Range, Target
from pueval.comparison.comparison import BEST
from pueval.comparison.influence import StepFunctions, influence_functions
from pueval.comparison.joint_estimates import (
    Joint,
    Joints,
    PairedShares,
    area_covariances,
    shares_at,
)
from pueval.comparison.paired import PairedRows
from pueval.comparison.row_bootstrap import draw_rows, drawn_covariance
from pueval.core.average_precision import average_precision, average_precision_slope
from pueval.core.curves import direct_auc, naive_auc
from pueval.core.measures import AREAS, MEASURES
from pueval.core.mixture import Mixture, cap_prior
from pueval.evaluation.assumptions import Assumptions
from pueval.evaluation.estimates import BEST_MEASURES, best_value
from pueval.evaluation.evaluate import ModelRates, build_evaluation, rate_thresholds
from pueval.evaluation.evaluation import Evaluation
from pueval.evaluation.evaluation_resamples import resample_evaluation
from pueval.samples.threads import map_in_threads
from pueval.thresholds.threshold_choice import neighbors
from pueval.uncertainty.intervals import IntervalOptions
from pueval.uncertainty.prior_profile import PLACES
from pueval.uncertainty.prior_region import NODES, Region
from pueval.uncertainty.resampling import resample

# Priors and purities within given intervals for which models are compared.
NODES_OF_LINE = 9


@dataclass(frozen=True, eq=False)
class Model:
    """One model, ready to be measured.

    Attributes
    ----------
    prepared : Prepared
        Rates and threshold.
    best : ndarray
        Thresholds at which the measures of `BEST_MEASURES` are best; NaN where one is undefined.
    influence : StepFunctions or None
        Influence of rows on the naive AUC and on the average precision.
    chosen : bool
        Whether the threshold is the best for these rows, and not given.
    """

    prepared: ModelRates
    best: Array
    influence: StepFunctions | None
    chosen: bool


@dataclass(frozen=True, eq=False)
class Work:
    """The way from rows to evaluations and the covariance of all estimates."""

    rows: PairedRows
    assumptions: Assumptions
    target: Target
    options: IntervalOptions | None
    prevalence_varies: bool

    @property
    def mixture(self) -> Mixture:
        """Prior and purity."""
        return self.assumptions.mixture

    def prepare(self, k: int, threshold: float | None) -> Model:
        """Compute rates, thresholds and influences of one model."""
        ready = rate_thresholds(self.rows.counts[k], self.assumptions, self.target, threshold)
        best = np.array([best_value(MEASURES[name], ready.rates[0])[0] for name in BEST_MEASURES])
        influence = None
        if self.options is not None:
            influence = influence_functions(ready.counts, self.mixture, self.target)
        return Model(ready, best, influence, threshold is None)

    def areas(self, models: list[Model]) -> dict[str, Array]:
        """Return the corrected areas, not clipped."""
        found: dict[str, list[float]] = {name: [] for name in AREAS}
        for model in models:
            ready = model.prepared
            naive = naive_auc(ready.counts, ready.corners)
            found["roc_auc"].append(direct_auc(ready.counts, naive, self.mixture))
            found["average_precision"].append(float(average_precision(ready.rates[0])))
        return {name: np.array(values) for name, values in found.items()}

    def by_influence(self, models: list[Model]) -> Joints:
        """Take covariances from the influence of each row."""
        wanted = [np.append(model.prepared.threshold, model.best) for model in models]
        # Many best thresholds are the same: a column each for different ones.
        thresholds = [np.unique(each[~np.isnan(each)])[::-1] for each in wanted]
        shares = shares_at(
            self.rows,
            thresholds,
            self.mixture,
            self.target,
            covariance=self.options is not None,
            prevalence_varies=self.prevalence_varies,
        )
        starts = np.cumsum([0, *(each.size for each in thresholds[:-1])])

        def taken(which: int) -> PairedShares:
            columns = [
                # Where nothing is best, the measure is undefined at every threshold.
                start + int(np.argmax(each == mine[which]))
                for start, each, mine in zip(starts, thresholds, wanted, strict=True)
            ]
            return shares.take(np.array(columns))

        fixed = {
            best: taken(k + 1).joint(MEASURES[name])
            for k, (name, best) in enumerate(zip(BEST_MEASURES, BEST, strict=True))
        }
        covariance = self._area_covariance(models)
        for name, value in self.areas(models).items():
            fixed[name] = Joint(value, covariance[name])
        return Joints(fixed, taken(0), taken(0).share)

    def _area_covariance(self, models: list[Model]) -> dict[str, Array]:
        size = len(models)
        if self.options is None:
            return dict.fromkeys(AREAS, np.full((size, size), np.nan))
        influences = [model.influence for model in models if model.influence is not None]
        naive = [naive_auc(each.prepared.counts, each.prepared.corners) for each in models]
        auc, precision = area_covariances(self.rows, influences, np.array(naive))
        if self.prevalence_varies:
            slopes = [average_precision_slope(model.prepared.rates[0]) for model in models]
            moves = np.array(slopes) * self.mixture.prevalence_standard_error(self.rows.counts[0])
            precision = precision + np.outer(moves, moves)
        contrast = self.mixture.purity - self.mixture.background_prior(self.rows.counts[0])
        return {"roc_auc": auc / contrast**2, "average_precision": precision}

    def by_rows(self, models: list[Model]) -> Joints:
        """Take covariances from rows drawn again."""
        assert self.options is not None  # noqa: S101 - checked by the caller
        own = [np.array([model.prepared.threshold]) for model in models]
        drawn = draw_rows(
            self.rows,
            np.concatenate(own),
            self.mixture,
            self.target,
            best=BEST_MEASURES,
            n_resamples=self.options.n_resamples,
            seed=self.options.seed,
            prevalence_varies=self.prevalence_varies,
        )
        # The values are the same; only the covariances are others.
        plain = replace(self, options=None).by_influence(models)
        spread = (
            dict(zip(BEST, (drawn.best[name] for name in BEST_MEASURES), strict=True)) | drawn.areas
        )
        fixed = {
            name: replace(joint, covariance=drawn_covariance(spread[name]))
            for name, joint in plain.fixed.items()
        }
        return Joints(fixed, drawn, plain.share)

    def ways(self, models: list[Model]) -> tuple[tuple[Joints, ...], ...]:
        """Return the same on the way to the limits of estimated shares.

        Covariances are found at the limits only.
        """
        if self.options is None:
            return ()
        now, estimate = self.mixture, self.assumptions.estimate
        if estimate is not None:
            from pueval.priors._one_step_bootstrap import limits

            region = limits(estimate, self.options.level)
        elif self.assumptions.prior_follows_from is not None and self.assumptions.region is None:
            reach = self.options.reach * self.assumptions.prior_error(self.rows.counts[0])
            ends = max(now.prior - reach, 0.0), cap_prior(now.prior + reach, now.purity)
            region = Region(ends, (now.purity, now.purity))
        else:
            return ()
        priors = [Mixture(prior, now.purity) for prior in _on_the_way(now.prior, region.prior)]
        purities = [Mixture(now.prior, one) for one in _on_the_way(now.purity, region.purity)]
        spread = [self.options if abs(place) == 1 else None for place in PLACES]
        return tuple(
            tuple(self._moved(models, *each) for each in zip(way, spread, strict=True))
            for way in (priors, purities)
            if way
        )

    def within(self, models: list[Model]) -> tuple[Joints, ...]:
        """Return the same all over the intervals that were given."""
        if self.options is None or self.assumptions.region is None:
            return ()
        region = self.assumptions.limits(self.rows.counts[0], self.options.reach)
        assert region is not None  # noqa: S101 - for the type checker
        line = region.prior[0] == region.prior[1] or region.purity[0] == region.purity[1]
        grid = region.grid(NODES_OF_LINE if line else NODES)
        return tuple(self._moved(models, grid[k], self.options) for k in range(len(grid)))

    def _moved(
        self, models: list[Model], mixture: Mixture, options: IntervalOptions | None
    ) -> Joints:
        """Return the same for another prior and purity; thresholds stay."""
        there = replace(self, assumptions=Assumptions(mixture), options=options)
        own = [model.prepared.threshold for model in models]
        return there.by_influence(
            map_in_threads(lambda k: there.prepare(k, own[k]), range(len(own)))
        )

    def finish(self, k: int, model: Model, joints: Joints) -> Evaluation:
        """Evaluate one model, with intervals from the same covariances."""
        ready = model.prepared
        if self.options is None:
            return build_evaluation(ready, None, None)
        wanted: float | Array = ready.threshold
        known: tuple[str, ...] = (*AREAS, *MEASURES)
        if model.chosen:
            wanted, known = neighbors(ready.counts, ready.threshold), AREAS
        if self.assumptions == Assumptions(self.mixture):
            drawn = resample(
                ready.counts,
                ready.corners,
                self.mixture,
                self.target,
                threshold=wanted,
                options=self.options,
                errors={name: joints.error(name, k) for name in known},
                prevalence_varies=self.prevalence_varies,
            )
        else:
            drawn = resample_evaluation(
                ready.counts, ready.corners, self.assumptions, self.target, wanted, self.options
            )
        return build_evaluation(ready, self.options, drawn, threshold_chosen=model.chosen)


def _on_the_way(now: float, limits: Range) -> list[float]:
    """Return what lies between limits at `PLACES`; nothing if there is nothing in between."""
    if limits[0] == limits[1]:
        return []
    return [now + abs(place) * (limits[int(place > 0)] - now) for place in PLACES]
