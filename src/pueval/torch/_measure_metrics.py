"""One-number metrics: `compute` returns a scalar tensor, so they log in Lightning.

A class is a line: ``class PUAUROC(PUMeasure, measure="roc_auc")``.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar, Literal

from pueval.core.measures import (
    AREAS,
    MEASURES,
    Measure,
    cost,
    find_measure,
    unknown_measure_error,
)
from pueval.core.mixture import Mixture
from pueval.counts.arguments import check_threshold
from pueval.counts.counts import Counts
from pueval.errors import InputError, UnknownMeasureError
from pueval.families.field_measures import (
    ORDERING_MEASURES,
    FieldMeasure,
    find_ordering_measure,
)
from pueval.families.measures_at import PATTERNS
from pueval.families.presence_family import F_PB, F_PB_MEASURE
from pueval.scoring._score_function import PRIOR_FREE, measure_value
from pueval.torch._pu_metric import SHARED_PARAMETERS
from pueval.torch._scalar_metric import PUScalar


class PUMeasure(PUScalar):
    """A corrected measure as a TorchMetrics metric; each subclass is one measure.

    To make a metric of another measure, write a class with nothing in it, with a name of
    `pueval.scoring.get_scorer_names` (without ``neg_``), ``"f<beta>"`` or your own
    `pueval.scoring.Measure`. The measures that need no prior, ``"pulp"``, ``"lee_liu"`` and
    ``"pseudo_f"``, are functions of ``metric.counts`` in `pueval.ranking`. Assumes random labeling.

    Parameters
    ----------
    threshold : float or "best", optional
        Score at or above which rows are predicted positive, or ``"best"`` for the best value over
        all thresholds. Required, except for areas and other measures of the whole ranking or of
        probabilities, which have no threshold.
    {shared}
    **torchmetrics_options
        Options of `torchmetrics.Metric`, such as ``dist_sync_on_step`` and ``compute_on_cpu``.

    Notes
    -----
    As for scorers, values are not clipped, since they compare epochs: a value above 1 says that
    the prior is too large, or that there are few rows. Only the average precision stays within
    [0, 1]. If the prior is too large, it can be 1 in epoch after epoch, and early stopping then
    keeps the first of them. Heed the AssumptionWarning.

    With an exact state, every process keeps and receives all scores: 5 bytes per row, or 9 for
    float64. A binned state has 554·bins + 2 places of 32 bytes, 4.5 MB with 256 bins, and equals
    ``Counts.from_arrays(labels, scores.float()).to_bins(bins)``.

    Examples
    --------
    >>> import torch
    >>> from pueval.torch import PUMeasure
    >>> class PUF2(PUMeasure, measure="f2"):
    ...     '''F2, corrected for unlabeled positives.'''
    >>> metric = PUF2(prior=0.2, threshold=0.5)
    >>> metric.update(torch.tensor([0.9, 0.8, 0.3, 0.7, 0.2]), torch.tensor([1, 1, 1, 0, 0]))
    >>> round(metric.compute().item(), 3)
    0.683
    """

    measure: ClassVar[str | Measure]
    _needs_threshold: ClassVar[bool]

    def __init_subclass__(cls, *, measure: str | Measure, **options: Any) -> None:
        """Set the measure, its direction and its range, and complete the docstring."""
        super().__init_subclass__(**options)
        cls.measure = measure
        cls._needs_threshold = measure not in AREAS and find_ordering_measure(measure) is None
        low, high, cls.higher_is_better = 0.0, 1.0, True
        if measure not in AREAS:
            description = _find_measure(measure) if isinstance(measure, str) else measure
            low, high = description.low, description.high
            cls.higher_is_better = description.greater_is_better
        cls.plot_lower_bound = low if math.isfinite(low) else None
        cls.plot_upper_bound = high if math.isfinite(high) else None
        if cls.__doc__ and "{shared}" not in cls.__doc__ and cls.__module__ == __name__:
            cls.__doc__ = _document(cls.__doc__, is_area=measure in AREAS)

    def __init__(self, *, threshold: float | Literal["best"] | None = None, **options: Any) -> None:
        name = type(self).__name__
        if not hasattr(type(self), "measure"):
            raise InputError(
                f"{name} is the base of metrics and has no measure. Write a class with one, such "
                'as class PUF2(PUMeasure, measure="f2"), or use PUAUROC or another metric.'
            )
        super().__init__(**options)
        if threshold is not None and not self._needs_threshold:
            raise InputError(f"{name} has no threshold; got {threshold!r}. Leave it out.")
        if threshold is None and self._needs_threshold:
            raise InputError(
                f'{name} needs a threshold: a number, such as 0.0 for logits, or "best" for the '
                "best value over all thresholds."
            )
        if isinstance(threshold, str) and threshold != "best":
            raise InputError(f'threshold must be a number or "best"; got {threshold!r}.')
        if threshold is not None and threshold != "best":
            threshold = check_threshold(threshold)
        self.threshold = threshold

    def _value(self, counts: Counts, mixture: Mixture) -> float:
        return measure_value(self.measure, counts, mixture, self.target, self.threshold)


def _find_measure(name: str) -> Measure | FieldMeasure:
    """Look up a measure other than an area by its name."""
    if name in PRIOR_FREE:
        raise InputError(
            f"{name} needs no prior, so it is no metric. Call pueval.ranking.{name} with the "
            "counts of any metric, metric.counts."
        )
    try:
        of_family = F_PB_MEASURE if name == F_PB else find_ordering_measure(name)
        return of_family or find_measure(name)
    except UnknownMeasureError:
        names = [*AREAS, *MEASURES, *ORDERING_MEASURES, F_PB, *PATTERNS]
        raise unknown_measure_error(name, names) from None


_SECTIONS = """

    See `PUMeasure` for how states add up, and for values outside their range. Assumes random
    labeling.

    Parameters
    ----------
    {threshold}{shared}
    **torchmetrics_options
        Options of `torchmetrics.Metric`.

    """
_THRESHOLD = """threshold : float or "best"
        Score at or above which rows are predicted positive, or ``"best"`` for the best value over
        all thresholds.
    """


def _document(text: str, *, is_area: bool) -> str:
    """Return the docstring of a measure with the parameters that all of them have."""
    summary, _, rest = text.partition("\n\n")
    sections = _SECTIONS.format(threshold="" if is_area else _THRESHOLD, shared=SHARED_PARAMETERS)
    return summary.rstrip() + sections + rest.strip() + "\n"


PUMeasure.__doc__ = (PUMeasure.__doc__ or "").replace("{shared}", SHARED_PARAMETERS)


class PUAUROC(PUMeasure, measure="roc_auc"):
    """Area under the ROC curve, corrected for unlabeled positives.

    References
    ----------
    Jain, White and Radivojac (2017), equation 4.

    Examples
    --------
    >>> import torch
    >>> from pueval.torch import PUAUROC
    >>> metric = PUAUROC(prior=0.2)
    >>> metric.update(torch.tensor([6., 4., 5.]), torch.tensor([1, 1, 0]))
    >>> metric.update(torch.tensor([3., 2., 1.]), torch.tensor([0, 0, 0]))
    >>> metric.compute()
    tensor(0.9688)
    """


class PUAveragePrecision(PUMeasure, measure="average_precision"):
    """Average precision, corrected for unlabeled positives; good for early stopping.

    References
    ----------
    Jain, White and Radivojac (2017), equation 3.

    Examples
    --------
    >>> import torch
    >>> from pueval.torch import PUAveragePrecision
    >>> metric = PUAveragePrecision(prior=0.0)
    >>> metric.update(torch.tensor([6., 4., 5., 3.]), torch.tensor([1, 1, 0, 0]))
    >>> metric.compute()
    tensor(0.8333)
    """


class PUF1Score(PUMeasure, measure="f1"):
    """F1, corrected for unlabeled positives.

    References
    ----------
    Tabatabaei, Klein and Hoogendoorn (2020).

    Examples
    --------
    >>> import torch
    >>> from pueval.torch import PUF1Score
    >>> metric = PUF1Score(prior=0.25, threshold=0.0)
    >>> metric.update(torch.tensor([2., 1., 1., -1., -2., -3.]), torch.tensor([1, 1, 0, 0, 0, 0]))
    >>> metric.compute()
    tensor(1.)
    """


class PUPrecision(PUMeasure, measure="precision"):
    """Precision, corrected for unlabeled positives."""


class PURecall(PUMeasure, measure="recall"):
    """Recall; with clean labels, the share of labeled rows at or above the threshold."""


class PUSpecificity(PUMeasure, measure="specificity"):
    """Specificity, corrected for unlabeled positives."""


class PUAccuracy(PUMeasure, measure="accuracy"):
    """Accuracy, corrected for unlabeled positives."""


class PUBalancedAccuracy(PUMeasure, measure="balanced_accuracy"):
    """Balanced accuracy, corrected for unlabeled positives."""


class PUMatthewsCorrCoef(PUMeasure, measure="matthews_corrcoef"):
    """Matthews correlation, corrected for unlabeled positives."""


class PUJaccardIndex(PUMeasure, measure="jaccard"):
    """Jaccard index, corrected for unlabeled positives."""


class PUCohenKappa(PUMeasure, measure="cohen_kappa"):
    """Cohen's kappa, corrected for unlabeled positives."""


class PUError(PUMeasure, measure=cost(1, 1)):
    """Zero-one error, 1 − accuracy, corrected for unlabeled positives.

    Unlike the risks of surrogate losses (`UPURisk`, `NNPURisk`) it is the share of rows that the
    classifier gets wrong.

    Examples
    --------
    >>> import torch
    >>> from pueval.torch import PUError
    >>> metric = PUError(prior=0.25, threshold=0.0)
    >>> metric.update(torch.tensor([2., 1., 1., -1., -2., -3.]), torch.tensor([1, 1, 0, 0, 0, 0]))
    >>> metric.compute()
    tensor(0.)
    """
