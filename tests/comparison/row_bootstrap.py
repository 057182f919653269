"""A bootstrap of rows, shared by all models: the slow check of the influence functions."""

from dataclasses import dataclass, replace
from types import SimpleNamespace

import numpy as np

from pueval import compare
from pueval.comparison.paired_estimates import BEST_VALUES
from pueval.comparison.paired_rows import read_paired_rows
from pueval.core.average_precision import average_precision
from pueval.core.curves import direct_auc, naive_auc
from pueval.core.measures import MEASURES
from pueval.core.rates import Rates, correct_steps
from pueval.counts.counts import Counts
from pueval.estimates.estimate import BEST_MEASURES, best_value
from pueval.samples.sample import EMPTY, Sample, SortedChunk
from pueval.sources.labels import LabelValues


def bootstrap_comparison(y, scores, *, sample_weight=None, negative_label=None, **how):
    """Compare models with covariances from resampled rows instead of influences.

    All else is that of `compare`: values, and what an uncertain prior adds.
    """
    fast = compare(y, scores, sample_weight=sample_weight, negative_label=negative_label, **how)
    labels = LabelValues(1, 0, negative_label)
    rows = read_paired_rows(y, scores, sample_weight=sample_weight, labels=labels)
    estimates = fast._pairs.estimates
    shares = ResampledShares.of(rows, fast)
    fixed = {
        name: replace(paired, covariance=covariance_of_resamples(shares.fixed[name]))
        for name, paired in estimates.fixed.items()
    }
    slow = replace(estimates, fixed=fixed, shares=shares, exchanged=None)
    pairs = SimpleNamespace(estimates=slow, model_values=fast._pairs.model_values, n_left_out=0)
    return replace(fast, _pairs=pairs)


def covariance_of_resamples(values):
    """Return the covariance of columns over the lines in which all are defined; NaN if few are."""
    defined = np.isfinite(values).all(axis=1)
    if defined.mean() <= 0.95:
        return np.full((values.shape[1],) * 2, np.nan)
    return np.atleast_2d(np.cov(values[defined], rowvar=False))


@dataclass(frozen=True, eq=False)
class ResampledShares:
    """Rates at the models' thresholds, areas and best values, for the data and every resample."""

    center: Rates
    resamples: Rates
    fixed: dict
    counts: Counts
    target: str

    def estimate(self, measure):
        return measure(self.center), covariance_of_resamples(measure(self.resamples))

    @classmethod
    def of(cls, rows, comparison):
        options = comparison.resampling
        rng = np.random.default_rng(options.seed)
        varies = comparison.assumptions.prevalence_varies(comparison.target)
        mixture, target = comparison.mixture, comparison.target
        thresholds = [ev.threshold for ev in comparison.evaluations.values()]
        models = [
            (counts, row_order(rows, k), thresholds[k]) for k, counts in enumerate(rows.counts)
        ]
        values = np.array(
            [
                [
                    model_values(
                        resampled_counts(rows, *model[:2], weight), model[2], mixture, target
                    )
                    for model in models
                ]
                for weight in (
                    resampled_weight(rows, rng, prevalence_varies=varies)
                    for _ in range(options.n_resamples)
                )
            ]
        )
        center = [model_values(counts, at, mixture, target) for counts, _, at in models]
        names = ("roc_auc", "average_precision", *BEST_VALUES)
        fixed = {name: values[:, :, 4 + k] for k, name in enumerate(names)}
        center, resamples = as_rates(np.array(center)), as_rates(values)
        return cls(center, resamples, fixed, rows.counts[0], target)


def as_rates(values):
    tpr, fpr, predicted, prevalence = np.moveaxis(values[..., :4], -1, 0)
    return Rates(np.empty(0), tpr, fpr, predicted, prevalence, 1)


def model_values(counts, threshold, mixture, target):
    """Return tpr, fpr, predicted, prevalence, AUC, average precision, and the best values."""
    at = correct_steps(counts, counts.at(threshold), mixture, target)
    corners = counts._roc_corners()
    rates = correct_steps(counts, corners, mixture, target)
    return [
        at.tpr[0],
        at.fpr[0],
        at.predicted[0],
        float(at.prevalence),
        direct_auc(counts, naive_auc(counts, corners), mixture),
        float(average_precision(rates)),
        *(best_value(MEASURES[name], rates)[1] for name in BEST_MEASURES),
    ]


def row_order(rows, model):
    """Return the numbers of the rows by ascending score of a model."""
    return np.argsort(rows.scores[model][np.concatenate(rows.positions)])


def resampled_counts(rows, counts, order, sample_weight):
    """Return Counts of the rows with other weights, without sorting again."""
    samples = []
    for kind, sample in zip(rows.numbers, counts._samples, strict=True):
        if not sample.chunks:
            samples.append(EMPTY)
            continue
        count = sample_weight[order[(order >= kind.start) & (order < kind.stop)]]
        kept = count > 0
        samples.append(Sample((SortedChunk(sample.chunks[0].values[kept], count[kept]),)))
    return Counts(*samples)


def resampled_weight(rows, rng, *, prevalence_varies):
    """Return how often, or with which weight, each row is drawn; each kind on its own.

    Rows with integer weights stand for as many rows; importance weights are drawn with their row,
    and scaled to the weight of the kind.
    """
    frequency = rows.sample_weight is None or rows.sample_weight.dtype.kind == "i"
    n_rows = [kind.stop - kind.start for kind in rows.numbers]
    sample_weight = np.zeros(sum(n_rows), dtype=np.int64 if frequency else np.float64)
    numbers = np.array([int(w) for w in rows.weight_by_kind] if frequency else n_rows)
    if prevalence_varies:
        # At least one row of every kind that occurs.
        drawn = rng.multinomial(numbers.sum(), numbers / numbers.sum())
        numbers = np.where(numbers > 0, np.maximum(drawn, 1), 0)
    for kind, size, number, total in zip(
        rows.numbers, n_rows, numbers, rows.weight_by_kind, strict=True
    ):
        if not size:
            continue
        if rows.sample_weight is None:
            drawn = np.bincount(rng.integers(size, size=number), minlength=size)
        elif frequency:
            drawn = rng.multinomial(number, rows.sample_weight[kind] / total)
        else:
            drawn = np.bincount(rng.integers(size, size=number), minlength=size)
            drawn = drawn * rows.sample_weight[kind]
            drawn = drawn if prevalence_varies else drawn * (total / drawn.sum())
        sample_weight[kind] = drawn
    return sample_weight
