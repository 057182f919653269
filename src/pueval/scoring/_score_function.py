"""ScoreFunction: the measure of one fold that a scorer computes.

Values are not clipped, because they are averaged over folds and compared: clipping would bias the
mean and make good models tie.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from pueval import ranking
from pueval._typing import Array, Target
from pueval.audit_estimates.apply_audit import apply_audit
from pueval.audit_estimates.audited_rows import AuditedRows, audited_purity
from pueval.audit_estimates.labeling_model import Labeling
from pueval.core.average_precision import average_precision
from pueval.core.curves import direct_auc, naive_auc
from pueval.core.measures import AREAS, Measure
from pueval.core.mixture import Mixture
from pueval.core.rates import correct_steps
from pueval.counts.counts import Counts
from pueval.errors import InputError
from pueval.estimates.estimate import best_value
from pueval.evaluation.assumptions import resolve_assumptions
from pueval.families.field_measures import field_value, find_ordering_measure, needs_prior
from pueval.families.presence_family import find_threshold_measure
from pueval.metrics._prediction_metrics import predicted_positive
from pueval.sources.labels import LabelValues

# Prior-free measures of a ranking.
PRIOR_FREE: dict[str, Callable[..., float]] = {
    "pulp": ranking.pulp,
    "lee_liu": ranking.lee_liu,
    "pseudo_f": ranking.pseudo_f,
}


@dataclass(frozen=True)
class ScoreFunction:
    """A measure, called like scikit-learn's metrics: ``function(y_true, y_pred, **options)``.

    Attributes
    ----------
    measure : str or Measure
        Name of an area, of a measure of a field, of a prior-free measure or of another measure; or
        a Measure.
    of_classes : bool
        Whether ``y_pred`` holds predicted classes instead of scores.
    """

    measure: str | Measure
    of_classes: bool

    @property
    def __name__(self) -> str:
        """Name in scikit-learn's repr of a scorer."""
        return self.measure if isinstance(self.measure, str) else self.measure.name

    def __call__(
        self,
        y_true: Any,
        y_pred: Any,
        *,
        prior: float | Literal["estimate", "propensity", "audit"] | None = None,
        prevalence: float | None = None,
        label_frequency: float | None = None,
        purity: float | Literal["estimate"] = 1.0,
        target: Target = "population",
        labeling: Labeling = "smooth",
        threshold: float | Literal["best"] | None = None,
        zero_division: float | None = None,
        pos_label: Any = 1,
        unlabeled_label: Any = 0,
        negative_label: Any = None,
        sample_weight: Any = None,
        propensity: Any = None,
        audited: Any = None,
        audit_probability: Any = None,
    ) -> float:
        """Return the measure; for the arguments see `pueval.scoring.make_scorer`."""
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
        has_propensity = propensity is not None
        self._check_propensity(prior, has_propensity=has_propensity)
        self._check_audit(prior, audited, audit_probability, has_propensity=has_propensity)
        if isinstance(name, str) and name in PRIOR_FREE:
            extra = {} if prevalence is None else {"prevalence": prevalence}
            return PRIOR_FREE[name](counts, threshold=threshold, **extra)
        if audited is not None:
            rows = AuditedRows.read(
                y_true,
                score,
                audited,
                audit_probability,
                labels=LabelValues(pos_label, unlabeled_label, negative_label),
                sample_weight=sample_weight,
            )
            counts = apply_audit(
                counts, rows, labeling=labeling, purity=audited_purity(rows, purity), target=target
            ).counts
            purity = 1.0  # the audited counts have it
        known_prior = None if isinstance(prior, str) else prior
        shares = (prior, prevalence, label_frequency)
        if purity == 1 and not self._needs_prior and all(share is None for share in shares):
            known_prior = 0.0  # its value does not matter
        mixture = resolve_assumptions(
            counts, target, purity, known_prior, prevalence, label_frequency
        ).mixture
        return measure_value(name, counts, mixture, target, threshold, zero_division)

    @property
    def _needs_prior(self) -> bool:
        return not isinstance(self.measure, str) or needs_prior(self.measure)

    def _check_propensity(self, prior: object, *, has_propensity: bool) -> None:
        """Refuse propensities that would be ignored, and a prior that requires them."""
        if has_propensity and self.measure in PRIOR_FREE:
            raise InputError(
                f"{self.__name__} assumes random labeling and cannot use propensities. Use another "
                "measure, such as 'roc_auc'."
            )
        if has_propensity and prior == "estimate":
            raise InputError(
                "prior='estimate' cannot be used with propensities, which determine the prior. Use "
                "prior='propensity', or give the prior."
            )
        if prior == "propensity" and not has_propensity:
            raise InputError(
                "prior='propensity' requires propensities as metadata. Enable metadata routing, "
                "call scorer.set_score_request(propensity=True), and pass propensity=."
            )

    def _check_audit(
        self, prior: object, audited: Any, audit_probability: Any, *, has_propensity: bool
    ) -> None:
        """Refuse an audit that would be ignored, and a prior that requires one."""
        if prior == "audit" and audited is None:
            raise InputError(
                "prior='audit' requires audited as metadata. Enable metadata routing, call "
                "scorer.set_score_request(audited=True), and pass audited=."
            )
        if audited is not None and has_propensity:
            raise InputError("propensity and audited cannot be combined. Leave one of them out.")
        if prior != "audit" and (audited is not None or audit_probability is not None):
            given = "audit_probability" if audited is None else "audited"
            raise InputError(
                f"{given} requires prior='audit'"
                + (f", which {self.__name__} does not use." if self.measure in PRIOR_FREE else ".")
            )

    def _scores(self, y_pred: Any, labels: dict[str, Any]) -> Array:
        """Return one score per row; predicted classes become 1 and 0."""
        if self.of_classes:
            return predicted_positive(y_pred, labels)
        score = np.asarray(y_pred)
        if score.ndim == 2 and score.shape[1] > 1:
            score = score[:, _positive_column(score.shape[1], labels)]
        if score.dtype.kind != "f":
            raise InputError(
                f"the scorer for {self.__name__} requires scores; got predicted classes (dtype "
                f"{score.dtype}). Use a measure of predicted classes here, such as 'f1'."
            )
        return score


def _positive_column(n_columns: int, labels: dict[str, Any]) -> int:
    """Return the column of the positive class, with classes sorted as in ``classes_``.

    scikit-learn picks the column of binary classifiers, but not of classifiers with three classes
    or of classifiers from other libraries that lack its mixin.
    """
    classes = sorted(value for value in labels.values() if value is not None)
    if len(classes) != n_columns:
        raise InputError(
            f"the classifier returns {n_columns} scores per row, but there are {len(classes)} "
            f"label values ({', '.join(map(repr, classes))}). Fit it on labeled against unlabeled "
            "rows, or set pos_label, unlabeled_label and negative_label."
        )
    return classes.index(labels["pos_label"])


def measure_value(
    measure: str | Measure,
    counts: Counts,
    mixture: Mixture,
    target: Target,
    threshold: float | Literal["best"] | None = None,
    zero_division: float | None = None,
) -> float:
    """Return the corrected value of a measure, not clipped.

    ``threshold`` is required for measures of a contingency table. ``zero_division`` replaces a
    value that is undefined; by default 0 if higher is better, and the largest value otherwise.
    """
    if isinstance(measure, str) and measure in AREAS:
        return _area(measure, counts, mixture, target)
    if isinstance(measure, str) and find_ordering_measure(measure) is not None:
        value = field_value(measure, counts, mixture, target)
        return (zero_division or 0.0) if np.isnan(value) else value
    if isinstance(measure, str):
        measure = find_threshold_measure(measure, counts, target)
    steps = counts._roc_corners() if threshold == "best" else counts.at(threshold)
    rates = correct_steps(counts, steps, mixture, target)
    value = best_value(measure, rates)[1]
    if not np.isnan(value):
        return value
    if zero_division is not None:
        return float(zero_division)
    if np.isinf(measure.high) and measure.greater_is_better and np.any(rates.tpr > 0):
        return measure.high  # a ratio whose denominator is 0
    return 0.0 if measure.greater_is_better else measure.high


def _area(name: str, counts: Counts, mixture: Mixture, target: Target) -> float:
    corners = counts._roc_corners()
    if name == "roc_auc":
        return direct_auc(counts, naive_auc(counts, corners), mixture)
    return float(average_precision(correct_steps(counts, corners, mixture, target)))
