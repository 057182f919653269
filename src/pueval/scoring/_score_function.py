"""What a scorer computes in one fold: a measure of labels and scores (or predicted classes).

Values are not clipped: scorers are averaged over folds and compared, and a clipped value would
bias the mean and make good models tie.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from pueval import ranking
from pueval._typing import Array, Target
from pueval.core.average_precision import average_precision
from pueval.core.curves import direct_auc, naive_auc
from pueval.core.measures import AREAS, Measure, find_measure
from pueval.core.mixture import Mixture
from pueval.core.rates import correct_steps
from pueval.counts.counts import Counts
from pueval.errors import InputError
from pueval.evaluation.assumptions import resolve_assumptions
from pueval.evaluation.estimates import best_value
from pueval.metrics._prediction_metrics import predicted_positive

# Measures of a ranking that need no prior.
RANKINGS: dict[str, Callable[..., float]] = {
    "pulp": ranking.pulp,
    "lee_liu": ranking.lee_liu,
    "pseudo_f": ranking.pseudo_f,
}


@dataclass(frozen=True)
class ScoreFunction:
    """A measure as scikit-learn's scorers call it: ``function(y_true, y_pred, **how)``.

    Attributes
    ----------
    measure : str or Measure
        A name of ``AREAS``, of ``RANKINGS`` or of a measure; or a measure of your own.
    of_classes : bool
        Whether ``y_pred`` holds predicted classes; otherwise scores.
    """

    measure: str | Measure
    of_classes: bool

    @property
    def __name__(self) -> str:
        """For scikit-learn's repr of a scorer."""
        return self.measure if isinstance(self.measure, str) else self.measure.name

    def __call__(
        self,
        y_true: Any,
        y_pred: Any,
        *,
        prior: float | Literal["estimate", "propensity"] | None = None,
        prevalence: float | None = None,
        label_frequency: float | None = None,
        purity: float | Literal["estimate"] = 1.0,
        target: Target = "population",
        threshold: float | Literal["best"] | None = None,
        zero_division: float | None = None,
        pos_label: Any = 1,
        unlabeled_label: Any = 0,
        negative_label: Any = None,
        sample_weight: Any = None,
        propensity: Any = None,
    ) -> float:
        """Compute the measure; the arguments are those of `pueval.scoring.make_scorer`."""
        labels = {
            "pos_label": pos_label,
            "unlabeled_label": unlabeled_label,
            "negative_label": negative_label,
        }
        score = self._scores(y_pred, labels)
        if self.of_classes:
            threshold = 1.0
        counts = Counts.from_arrays(
            y_true, score, sample_weight=sample_weight, propensity=propensity, **labels
        )
        counts._check_nonempty()
        name = self.measure
        self._check_propensity(prior, given=propensity is not None)
        if isinstance(name, str) and name in RANKINGS:
            given = {} if prevalence is None else {"prevalence": prevalence}
            return RANKINGS[name](counts, threshold=threshold, **given)
        number = None if isinstance(prior, str) else prior
        mixture = resolve_assumptions(
            counts, target, purity, number, prevalence, label_frequency
        ).mixture
        if isinstance(name, str) and name in AREAS:
            return _area(name, counts, mixture, target)
        measure = find_measure(name) if isinstance(name, str) else name
        steps = counts._roc_corners() if threshold == "best" else counts.at(threshold)
        there = correct_steps(counts, steps, mixture, target)
        value = best_value(measure, there)[1]
        if not np.isnan(value):
            return value
        if zero_division is not None:
            return float(zero_division)
        if np.isinf(measure.high) and measure.greater_is_better and np.any(there.tpr > 0):
            return measure.high  # a ratio with nothing left below the line
        return 0.0 if measure.greater_is_better else measure.high

    def _check_propensity(self, prior: object, *, given: bool) -> None:
        """Refuse propensities that would not be used, and a prior that lacks them."""
        if given and self.measure in RANKINGS:
            raise InputError(
                f"{self.__name__} takes labels as a random draw and cannot use propensities. "
                "Use another measure, such as 'roc_auc'."
            )
        if given and prior == "estimate":
            raise InputError(
                "the prior is not estimated from scores where propensities are known, which tell "
                "it: say prior='propensity', or give it."
            )
        if prior == "propensity" and not given:
            raise InputError(
                "prior='propensity' needs the propensities as metadata: switch metadata routing "
                "on, call scorer.set_score_request(propensity=True), and pass propensity=."
            )

    def _scores(self, y_pred: Any, labels: dict[str, Any]) -> Array:
        """Return one score per row: 1 for predicted positives where classes are given."""
        if self.of_classes:
            return predicted_positive(y_pred, labels)
        found = np.asarray(y_pred)
        if found.ndim == 2 and found.shape[1] > 1:
            found = found[:, _column(found.shape[1], labels)]
        if found.dtype.kind != "f":
            raise InputError(
                f"the scorer of {self.__name__} ranks rows and needs their scores; got predicted "
                f"classes (dtype {found.dtype}). Use a measure of predicted classes here, "
                "such as 'f1'."
            )
        return found


def _column(columns: int, labels: dict[str, Any]) -> int:
    """Find the positive class among the columns of a classifier's output, as in ``classes_``.

    scikit-learn picks the column itself, but not for what it does not take for a binary
    classifier: one of three classes, or a class of another library without the right mixin.
    """
    classes = sorted(value for value in labels.values() if value is not None)
    if len(classes) != columns:
        raise InputError(
            f"the classifier gives {columns} scores per row, but there are {len(classes)} label "
            f"values ({', '.join(map(repr, classes))}). Fit it on labeled against unlabeled rows, "
            "or name all values with pos_label=, unlabeled_label= and negative_label=."
        )
    return classes.index(labels["pos_label"])


def _area(name: str, counts: Counts, mixture: Mixture, target: Target) -> float:
    corners = counts._roc_corners()
    if name == "roc_auc":
        return direct_auc(counts, naive_auc(counts, corners), mixture)
    return float(average_precision(correct_steps(counts, corners, mixture, target)))
