"""Rows with a value each: how they are read, and what they count for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pueval._typing import Array
from pueval.core.mixture import Mixture
from pueval.counts.counts import Counts
from pueval.errors import InputError
from pueval.sources.arrays import (
    as_scores,
    check_same_order,
    label_kinds,
    one_column,
)
from pueval.sources.labels import LabelValues
from pueval.sources.propensities import labeled_propensities


@dataclass(frozen=True, eq=False)
class ValueRows:
    """Scores, values and kinds of rows: 0 labeled, 1 unlabeled, 2 known negative."""

    score: Array
    value: Array
    kind: Array
    propensity: Array | None
    counts: Counts

    @classmethod
    def read(
        cls, y: Any, score: Any, value: Any, propensity: Any, labels: LabelValues
    ) -> ValueRows:
        """Read labels, scores and values; refuse what is not a value."""
        check_same_order({"y": y, "value": value})
        counts = Counts.from_arrays(
            y,
            score,
            propensity=propensity,
            pos_label=labels.positive,
            unlabeled_label=labels.unlabeled,
            negative_label=labels.negative,
        )
        counts._check_nonempty()
        kind = label_kinds(y, labels)
        values = one_column(value, "value")
        if values.dtype.kind not in "biuf" or values.size != kind.size:
            raise InputError(
                f"value must hold one number per row; got {values.size:,} of dtype {values.dtype} "
                f"for {kind.size:,} rows."
            )
        values = values.astype(np.float64)
        wrong = ~(np.isfinite(values) & (values >= 0))
        if wrong.any():
            raise InputError(
                f"value must be a number of at least 0 in every row; got {values[wrong][0]} and "
                f"{np.count_nonzero(wrong) - 1:,} more. Use 0 for rows that are worth nothing."
            )
        of_labeled = None
        if propensity is not None:
            of_labeled = labeled_propensities(propensity, kind == 0)
        return cls(as_scores(one_column(score, "score")), values, kind, of_labeled, counts)

    def weights(
        self, prior: float | None, prevalence: float | None, label_frequency: float | None
    ) -> tuple[Array, bool]:
        """Return how many positives each labeled row represents, and whether their sum is known."""
        given: dict[str, Any] = {
            "prior": prior,
            "prevalence": prevalence,
            "label_frequency": label_frequency,
            "propensity": self.propensity,
        }
        names = [name for name, each in given.items() if each is not None]
        if len(names) != 1:
            raise InputError(
                f"give exactly one of {', '.join(given)}; got {' and '.join(names) or 'none'}. "
                "pueval.priors.estimate(y, score) estimates the prior."
            )
        if self.propensity is not None:
            return 1 / self.propensity, False
        n_labeled = int(self.counts.n_labeled)
        if label_frequency is not None:
            # Refuses a frequency for which there are too few unlabeled rows.
            Mixture.from_label_frequency(self.counts, label_frequency)
            return np.full(n_labeled, 1 / label_frequency), False
        if prevalence is not None:
            mixture = Mixture.from_prevalence(self.counts, prevalence)
        else:
            mixture = Mixture(given["prior"])
        return np.full(n_labeled, 1 / mixture.label_frequency(self.counts)), True
