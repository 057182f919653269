"""A bootstrap of rows, shared by all models: the slow check of the influence functions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pueval._typing import Array, Target
from pueval.comparison.joint_estimates import Joint
from pueval.comparison.paired import PairedRows
from pueval.core.average_precision import average_precision
from pueval.core.curves import direct_auc, naive_auc
from pueval.core.measures import MEASURES, Measure
from pueval.core.mixture import Mixture
from pueval.core.rates import Rates, correct_steps
from pueval.counts.counts import Counts
from pueval.evaluation.estimates import best_value
from pueval.samples.sample import EMPTY, Sample, SortedChunk


@dataclass(frozen=True, eq=False)
class Draws:
    """Estimates of all models from rows drawn again.

    Attributes
    ----------
    center : Rates
        Rates at the models' thresholds, one column per model.
    point : Rates
        The same of every resample, one line each.
    areas : dict of str to ndarray
        ROC AUC and average precision, one line per resample.
    best : dict of str to ndarray
        Best values over thresholds, likewise.
    """

    center: Rates
    point: Rates
    areas: dict[str, Array]
    best: dict[str, Array]

    def joint(self, measure: Measure) -> Joint:
        """Return a measure at the models' thresholds, with its covariance over the resamples."""
        return Joint(
            measure(self.center),
            drawn_covariance(measure(self.point)),
            measure.high - measure.low,
            measure.greater_is_better,
        )


def drawn_covariance(drawn: Array) -> Array:
    """Return the covariance of columns, over the lines in which all are defined.

    If these are not more than 95 %, nothing can be said.
    """
    defined = np.isfinite(drawn).all(axis=1)
    if defined.mean() <= 0.95:
        return np.full((drawn.shape[1],) * 2, np.nan)
    found: Array = np.atleast_2d(np.cov(drawn[defined], rowvar=False))
    return found


@dataclass(frozen=True)
class _Model:
    """What is computed of one model in each resample."""

    rows: PairedRows
    counts: Counts
    order: Array
    threshold: float
    mixture: Mixture
    target: Target
    best: tuple[str, ...]

    def values(self, sample_weight: Array) -> list[float]:
        """Return tpr, fpr, predicted, prevalence, AUC, average precision, and the best values."""
        counts = self._drawn(sample_weight)
        there = correct_steps(counts, counts.at(self.threshold), self.mixture, self.target)
        corners = counts._roc_corners()
        every = correct_steps(counts, corners, self.mixture, self.target)
        return [
            there.tpr[0],
            there.fpr[0],
            there.predicted[0],
            float(there.prevalence),
            direct_auc(counts, naive_auc(counts, corners), self.mixture),
            float(average_precision(every)),
            *(best_value(MEASURES[name], every)[1] for name in self.best),
        ]

    def _drawn(self, sample_weight: Array) -> Counts:
        """Return Counts of the rows with other weights, without sorting again."""
        order = self.order[::-1]
        samples = []
        for kind, sample in zip(self.rows.kinds, self.counts._samples, strict=True):
            if not sample.chunks:
                samples.append(EMPTY)
                continue
            count = sample_weight[order[(order >= kind.start) & (order < kind.stop)]]
            kept = count > 0
            chunk = SortedChunk(sample.chunks[0].values[kept], count[kept])
            samples.append(Sample((chunk,)))
        return Counts(*samples)


def draw_rows(
    rows: PairedRows,
    thresholds: Array,
    mixture: Mixture,
    target: Target,
    *,
    best: tuple[str, ...],
    n_resamples: int,
    seed: int,
    prevalence_varies: bool,
) -> Draws:
    """Draw rows again, each kind apart and the same ones for every model.

    If ``prevalence_varies``, as many rows of each kind as chance wills.

    Rows with integer weights stand for as many rows; float weights are drawn with their row, and
    scaled to the weight that the kind has.
    """
    rng = np.random.default_rng(seed)
    models = [
        _Model(rows, counts, rows.order(k), float(thresholds[k]), mixture, target, best)
        for k, counts in enumerate(rows.counts)
    ]
    drawn = np.empty((n_resamples, len(models), 6 + len(best)))
    for line in drawn:
        sample_weight = _draw(rows, rng, prevalence_varies=prevalence_varies)
        line[:] = [model.values(sample_weight) for model in models]
    first = rows.counts[0]
    now = [correct_steps(m.counts, m.counts.at(m.threshold), mixture, target) for m in models]
    center = np.array(
        [[one.tpr[0], one.fpr[0], one.predicted[0], float(one.prevalence)] for one in now]
    )

    def as_rates(columns: Array) -> Rates:
        tpr, fpr, predicted, prevalence = np.moveaxis(columns, -1, 0)
        return Rates(thresholds, tpr, fpr, predicted, prevalence, first.n)

    return Draws(
        as_rates(center),
        as_rates(drawn[:, :, :4]),
        {"roc_auc": drawn[:, :, 4], "average_precision": drawn[:, :, 5]},
        {name: drawn[:, :, 6 + k] for k, name in enumerate(best)},
    )


def _draw(rows: PairedRows, rng: np.random.Generator, *, prevalence_varies: bool) -> Array:
    """Return how often, or with which weight, each row is drawn."""
    whole = rows.sample_weight is None or rows.sample_weight.dtype.kind == "i"
    sample_weight = np.zeros(rows.n, dtype=np.int64 if whole else np.float64)
    # How many are drawn of each kind: of rows, or of what they count.
    sizes = [kind.stop - kind.start for kind in rows.kinds]
    numbers = np.array([int(total) for total in rows.total] if whole else sizes)
    if prevalence_varies:
        # Of a kind that there is, at least one row.
        drawn = rng.multinomial(numbers.sum(), numbers / numbers.sum())
        numbers = np.where(numbers > 0, np.maximum(drawn, 1), 0)
    for kind, size, number, total in zip(rows.kinds, sizes, numbers, rows.total, strict=True):
        if not size:
            continue
        if rows.sample_weight is None:
            sample_weight[kind] = np.bincount(rng.integers(size, size=number), minlength=size)
        elif whole:
            sample_weight[kind] = rng.multinomial(number, rows.sample_weight[kind] / total)
        else:
            again = (
                np.bincount(rng.integers(size, size=number), minlength=size)
                * rows.sample_weight[kind]
            )
            sample_weight[kind] = again if prevalence_varies else again * (total / again.sum())
    return sample_weight
