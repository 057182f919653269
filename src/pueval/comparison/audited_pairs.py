"""Pairs of models after an audit: covariances from resampled rows.

All models are evaluated on the same rows, and the same of them were audited. So the errors of two
models are correlated in a way that depends on rows, labels and audit alike. Rows are resampled with
Poisson weights, audited ones included, and the labeling model of every model is fitted again to
each resample.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from math import comb
from typing import Any

import numpy as np

from pueval._typing import Array, Target
from pueval.audit_estimates.apply_audit import AppliedAudit, relative_weights
from pueval.audit_estimates.design_estimate import difference_positives, sum_by_cell
from pueval.comparison.paired_estimates import (
    BEST_VALUES,
    EstimatesByMeasure,
    PairedEstimates,
    constant_covariance,
    paired_field_estimates,
)
from pueval.comparison.paired_rows import PairedRows
from pueval.comparison.paired_top import whole_curves
from pueval.core.average_precision import average_precision
from pueval.core.curves import line_area
from pueval.core.measures import AREAS, MEASURES, Measure
from pueval.core.rates import Rates
from pueval.estimates.estimate import BEST_MEASURES
from pueval.evaluation.evaluation import Evaluation
from pueval.families.calibration_measures import (
    CalibrationMeasure,
    distance_of_bins,
    error_bins,
)
from pueval.families.field_measures import FieldMeasure, find_ordering_measure
from pueval.families.presence_family import BoyceMeasure, find_threshold_measure
from pueval.families.score_means import Means, ScoreMeans
from pueval.families.top_measure import TopMeasure

# Resamples of the rows. Each takes a fit of the labeling model of every model.
RESAMPLES = 200


@dataclass(frozen=True, eq=False)
class AuditedPairs:
    """Models on the same audited rows, as `pueval.comparison.model_pairs.ModelPairs`.

    Attributes
    ----------
    rows : PairedRows
        Labels and scores.
    evaluations : tuple of Evaluation
        Evaluations of the models.
    audits : tuple of AppliedAudit
        What the audit says about each model's scores.
    checked : ndarray of int
        Positions of the audited rows.
    target : {"population", "unlabeled"}
        Population to evaluate.
    seed : int
        Random seed for the resampling.
    n_left_out : int
        Number of pairs in the same comparison with a model that is not among these.
    """

    rows: PairedRows
    evaluations: tuple[Evaluation, ...]
    audits: tuple[AppliedAudit, ...]
    checked: Array
    target: Target
    seed: int
    n_left_out: int = 0

    def __getstate__(self) -> dict[str, Any]:
        """Leave the estimates out of pickles: the same can be computed again."""
        return {attribute.name: getattr(self, attribute.name) for attribute in fields(self)}

    def subset(self, numbers: Sequence[int]) -> AuditedPairs:
        """Return some of the models, given by their numbers."""
        evaluations = tuple(self.evaluations[k] for k in numbers)
        audits = tuple(self.audits[k] for k in numbers)
        return replace(
            self,
            rows=self.rows.subset(numbers),
            evaluations=evaluations,
            audits=audits,
            n_left_out=self.n_left_out + comb(len(self.audits), 2) - comb(len(audits), 2),
        )

    @cached_property
    def model_values(self) -> EstimatesByMeasure:
        """Estimates without covariances."""
        covariance = constant_covariance(len(self.audits), np.nan)
        return EstimatesByMeasure(
            {name: self._estimates(name, covariance) for name in self._names}, None
        )

    @cached_property
    def estimates(self) -> EstimatesByMeasure:
        """Estimates with the covariances of all pairs."""
        if self.evaluations[0].resampling is None:
            return self.model_values
        values = [self._resampled_values(k) for k in range(len(self.audits))]
        return EstimatesByMeasure(
            {
                name: self._estimates(name, np.cov([of_model[name] for of_model in values]))
                for name in self._names
            },
            None,
        )

    def field_estimates(self, name: str) -> PairedEstimates:
        """Return the estimates of a measure that is not in the table, with all covariances.

        Measures of families, and others at the thresholds, such as F_pb and F2.
        """
        first = self.evaluations[0]
        measure: FieldMeasure | Measure | None = find_ordering_measure(name)
        if measure is None:
            measure = find_threshold_measure(name, first.counts, self.target)
        value = np.array([ev[name].unclipped for ev in self.evaluations])
        covariance = constant_covariance(value.size, np.nan)
        if first.resampling is not None:
            covariance = np.cov([self._resampled_field(k, measure) for k in range(value.size)])
        return paired_field_estimates(measure, value, covariance)

    def _resampled_field(self, k: int, measure: FieldMeasure | Measure) -> Array:
        """Return the values of a measure of one model in the resamples."""
        ev, (positives, size) = self.evaluations[k], self._resampled_cells[k]
        if isinstance(measure, Measure):
            at = self._rates_at_threshold(ev, self.audits[k], positives, size)
            return np.ravel(measure(at))
        if isinstance(measure, BoyceMeasure):
            above = self._shares_of_cells_above(k, measure.thresholds(ev.counts, self.target))
            shares = (part @ above / part.sum(axis=1)[:, None] for part in (positives, size))
            return measure.formula(ev.counts, self.target, *shares)
        if isinstance(measure, TopMeasure):
            rates = _rates(self.audits[k].cells.lower, np.cumsum(positives, 1), np.cumsum(size, 1))
            return np.ravel(measure(whole_curves(replace(rates, size=ev._rates[0].n_rows))))
        if isinstance(measure, CalibrationMeasure):
            bins = error_bins(ev.counts, ev.mixture, self.target)
            above = self._shares_of_cells_above(k, bins.threshold)
            in_bins = [np.diff(part @ above, prepend=0) for part in (positives, size)]
            return distance_of_bins(in_bins[0], in_bins[1], bins.score)
        means = ScoreMeans(ev.counts, measure.functions, self.audits[k].cells.lower)
        # Positives have the mean of those that labeled rows represent, if there are any.
        represented = means.kinds[-1]
        of_positives = np.where(represented.weight > 0, represented.cell, means.pooled_cells)
        number, total = positives.sum(axis=1), size.sum(axis=1)
        positive = positives @ of_positives.T / number[:, None]
        everybody = size @ means.pooled_cells.T / total[:, None]
        share = number / total
        negative = everybody - share[:, None] * positive
        negative /= np.maximum(1 - share, 1e-12)[:, None]
        return np.ravel(measure(Means(positive, negative, everybody, share)))

    @property
    def _names(self) -> tuple[str, ...]:
        return (*AREAS, *MEASURES, *BEST_VALUES)

    def _estimates(self, name: str, covariance: Array) -> PairedEstimates:
        if name in BEST_VALUES:
            measure = MEASURES[name.removeprefix("best_")]
            value = [ev.best(measure.name).unclipped for ev in self.evaluations]
        else:
            value = [ev._point_estimate(name).unclipped for ev in self.evaluations]
            if name in AREAS:
                return PairedEstimates(np.array(value), covariance)
            measure = MEASURES[name]
        return PairedEstimates(
            np.array(value), covariance, measure.high - measure.low, measure.greater_is_better
        )

    # ------------------------------------------------------------------ resamples

    def _resampled_rows(self) -> list[ResampledCells]:
        """Resample the rows, and count them in the cells of each model.

        Rows that share their kind and the cells of all models are drawn together.
        """
        rng = np.random.default_rng([self.seed, 25])
        n_rows = self.rows.scores[0].size
        kind = np.full(n_rows, -1)
        for code, where in enumerate(self.rows.positions):
            kind[where] = code
        weight = np.ones(n_rows)
        if self.rows.sample_weight is not None:
            weight[np.concatenate(self.rows.positions)] = self.rows.sample_weight
        cells = [
            audit.cells.find(score)
            for audit, score in zip(self.audits, self.rows.scores, strict=True)
        ]
        checked = np.zeros(n_rows, bool)
        checked[self.checked] = True
        unchecked = ~checked & (kind >= 0)
        pattern, inverse = np.unique(
            np.column_stack([column[unchecked] for column in (kind, *cells)]),
            axis=0,
            return_inverse=True,
        )
        inverse = inverse.ravel()
        total = np.bincount(inverse, weights=weight[unchecked])
        square = np.bincount(inverse, weights=weight[unchecked] ** 2)
        # Rows of weight w: a Poisson number of rows of weight Σw²/Σw.
        scale = square / total
        drawn = scale * rng.poisson(total / scale, size=(RESAMPLES, total.size))
        drawn_checked = rng.poisson(1.0, size=(RESAMPLES, self.checked.size)).astype(np.float64)
        return [
            ResampledCells.of(
                audit,
                (pattern[:, 0], pattern[:, k + 1], drawn),
                (kind[self.checked], cells[k][self.checked], drawn_checked, weight[self.checked]),
            )
            for k, audit in enumerate(self.audits)
        ]

    @cached_property
    def _resampled_cells(self) -> list[tuple[Array, Array]]:
        """Positives and rows of the target in the cells of each model, by resample."""
        cells = []
        for audit, rows in zip(self.audits, self._resampled_rows(), strict=True):
            positives, size = rows.hidden_positives(audit), rows.unlabeled
            if self.target == "population":
                share = audit.posterior.labeled_positive.mean(axis=0)
                positives = positives + share * rows.labeled
                size = rows.labeled + rows.unlabeled + rows.negative
            cells.append((positives, size))
        return cells

    def _resampled_values(self, k: int) -> dict[str, Array]:
        """Return the values of all measures of a model in the resamples."""
        audit, ev = self.audits[k], self.evaluations[k]
        positives, size = self._resampled_cells[k]
        rates = _rates(audit.cells.lower, np.cumsum(positives, 1), np.cumsum(size, 1))
        at = self._rates_at_threshold(ev, audit, positives, size)
        values = {name: np.asarray(MEASURES[name](at)).ravel() for name in MEASURES}
        values["roc_auc"] = line_area(rates.fpr, rates.tpr)
        values["average_precision"] = np.asarray(average_precision(rates))
        for name, best in zip(BEST_MEASURES, BEST_VALUES, strict=True):
            measure = MEASURES[name]
            sign = 1 if measure.greater_is_better else -1
            of_thresholds = sign * measure(rates)
            values[best] = sign * np.fmax.reduce(of_thresholds, axis=1)
        return values

    def _shares_of_cells_above(self, k: int, thresholds: Array) -> Array:
        """Return the shares of the target's rows in each cell at or above thresholds."""
        counts, lower = self.evaluations[k].counts, self.audits[k].cells.lower
        steps = counts.at(np.concatenate([lower, thresholds]))
        rows = steps.unlabeled
        if self.target == "population":
            rows = rows + steps.labeled + steps.negative
        end, at = np.split(rows.astype(np.float64), [lower.size])
        start = np.append(0.0, end[:-1])
        width = np.maximum(end - start, np.finfo(float).tiny)
        above: Array = np.clip((at - start[:, None]) / width[:, None], 0, 1)
        return above

    @staticmethod
    def _rates_at_threshold(
        ev: Evaluation, audit: AppliedAudit, positives: Array, size: Array
    ) -> Rates:
        """Return the rates at the model's threshold, which divides a cell."""
        counts, lower, threshold = ev.counts, audit.cells.lower, ev.threshold
        cell = int(audit.cells.find(np.array([threshold]))[0])
        edges = counts.at([lower[cell - 1] if cell else np.inf, threshold, lower[cell]])
        rows = edges.unlabeled
        if ev.target == "population":
            rows = rows + edges.labeled + edges.negative
        inside = float(np.clip((rows[1] - rows[0]) / max(rows[2] - rows[0], 1e-12), 0, 1))
        above = np.zeros(lower.size)
        above[:cell], above[cell] = 1.0, inside
        if threshold > lower[0] and rows[1] == 0:
            above[:] = 0.0
        pairs = [
            np.column_stack([column @ above, column.sum(axis=1)]) for column in (positives, size)
        ]
        rates = _rates(np.array([threshold, -np.inf]), *pairs)
        return replace(
            rates,
            threshold=rates.threshold[:1],
            tpr=rates.tpr[:, :1],
            fpr=rates.fpr[:, :1],
            predicted=rates.predicted[:, :1],
        )


@dataclass(frozen=True, eq=False)
class ResampledCells:
    """Resampled rows in the cells of one model; arrays of shape (n_resamples, k).

    ``checked`` has the cell, the truth and the drawn weight of the audited unlabeled rows.
    """

    labeled: Array
    unlabeled: Array
    negative: Array
    tally: tuple[Array, Array, Array, Array]
    checked: tuple[Array, Array, Array]

    @classmethod
    def of(
        cls,
        audit: AppliedAudit,
        unchecked: tuple[Array, Array, Array],
        checked: tuple[Array, Array, Array, Array],
    ) -> ResampledCells:
        """Count rows that were not audited, and rows that were, in cells."""
        size = audit.cells.lower.size
        kind, cell, drawn = unchecked
        columns = [
            sum_by_cell(cell[kind == code], drawn[:, kind == code], size) for code in range(3)
        ]
        kind, cell, drawn, weight = checked
        positive = np.zeros(kind.size, bool)
        relative = np.zeros(kind.size)
        design = np.zeros(kind.size)
        for labeled in (True, False):
            rows, where = audit.rows.part(labeled=labeled), kind == (0 if labeled else 1)
            positive[where], relative[where] = rows.positive, relative_weights(rows)
            design[where] = rows.weight
        tally = []
        for code, truth in ((1, True), (1, False), (0, True), (0, False)):
            where = (kind == code) & (positive == truth)
            tally.append(sum_by_cell(cell[where], relative[where] * drawn[:, where], size))
            columns[code] = columns[code] + sum_by_cell(
                cell[where], weight[where] * drawn[:, where], size
            )
        unlabeled = kind == 1
        labeled_rows, unlabeled_rows, negative_rows = columns
        return cls(
            labeled_rows,
            unlabeled_rows,
            negative_rows,
            (tally[0], tally[1], tally[2], tally[3]),
            (cell[unlabeled], positive[unlabeled], design[unlabeled] * drawn[:, unlabeled]),
        )

    def hidden_positives(self, audit: AppliedAudit) -> Array:
        """Return the positives among unlabeled rows in each cell, estimated anew."""
        weight = audit.design_weight
        positives = np.zeros(self.unlabeled.shape)
        if weight > 0:
            predicted = audit.posterior.unlabeled_positive.mean(axis=0)
            by_design = difference_positives(
                self.unlabeled, predicted, *self.checked, covered=audit.covered
            )
            positives += weight * by_design
        if weight < 1:
            scale = [
                effective.sum() / max(rows.mean(axis=0).sum(), 1e-12)
                for effective, rows in (
                    (audit.cells.labeled, self.labeled),
                    (audit.cells.unlabeled, self.unlabeled),
                )
            ]
            share = audit.model.refit(
                audit.assumed, scale[0] * self.labeled, scale[1] * self.unlabeled, self.tally
            )
            positives += (1 - weight) * self.unlabeled * share
        return positives


def _rates(threshold: Array, positives: Array, rows: Array) -> Rates:
    """Return rates from cumulative numbers of positives and rows."""
    number, size = positives[:, -1:], rows[:, -1:]
    negatives = np.maximum(size - number, 1e-12)
    return Rates(
        threshold,
        positives / np.maximum(number, 1e-12),
        (rows - positives) / negatives,
        rows / size,
        number / size,
        1.0,
    )
