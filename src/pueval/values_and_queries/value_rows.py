"""Rows with a value each: how they are read, and which positives they represent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pueval._typing import Array, Target
from pueval.core.mixture import Mixture, check_share, check_unlabeled
from pueval.counts.counts import Counts
from pueval.errors import InputError
from pueval.evaluation.propensity_assumptions import check_propensity_options
from pueval.sources.arrays import (
    as_scores,
    as_weights,
    check_same_order,
    label_kinds,
    one_column,
)
from pueval.sources.labels import LabelValues
from pueval.sources.propensities import labeled_propensities
from pueval.values_and_queries.positive_sums import PositiveSums, similar_rows


@dataclass(frozen=True, eq=False)
class ValueRows:
    """Scores, values, weights and kinds of rows: 0 labeled, 1 unlabeled, 2 known negative.

    ``weight`` has integers for frequency weights, or no weights at all, and otherwise floats.
    """

    score: Array
    value: Array
    weight: Array
    kind: Array
    propensity: Array | None
    counts: Counts

    @classmethod
    def read(
        cls,
        y: Any,
        score: Any,
        value: Any,
        *,
        sample_weight: Any,
        propensity: Any,
        labels: LabelValues,
    ) -> ValueRows:
        """Read labels, scores, values and weights; refuse what is not a value."""
        check_same_order({"y": y, "value": value})
        counts = Counts.from_arrays(
            y,
            score,
            sample_weight=sample_weight,
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
            more = f" and {wrong.sum() - 1:,} more" if wrong.sum() > 1 else ""
            raise InputError(
                f"value must be a number of at least 0 in every row; got {values[wrong][0]:g}"
                f"{more}. Use 0 for rows that are worth nothing."
            )
        weight = np.ones(kind.size, dtype=np.int64)
        if sample_weight is not None:
            weight = as_weights(one_column(sample_weight, "sample_weight"))
        of_labeled = None
        if propensity is not None:
            of_labeled = labeled_propensities(propensity, kind == 0)
        return cls(as_scores(one_column(score, "score")), values, weight, kind, of_labeled, counts)

    @property
    def possible(self) -> Array:
        """Rows that can be positive: the labeled and the unlabeled ones."""
        possible: Array = self.kind != 2
        return possible

    def positives(
        self,
        prior: float | None,
        prevalence: float | None,
        label_frequency: float | None,
        purity: float,
        target: Target,
        above: Array,
    ) -> PositiveSums:
        """Return the estimates of sums over the positives among `possible` rows.

        ``above`` says which rows are at or above the threshold.
        """
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
        purity = check_share("purity", purity, low_open=True)
        labeled = self.kind[self.possible] == 0
        frequency: float | Array
        if self.propensity is not None:
            check_propensity_options(purity, "population")
            frequency, wrong = np.ones(labeled.size), 0.0
            frequency[labeled] = self.propensity
        else:
            mixture = self._mixture(given, purity)
            frequency = label_frequency or mixture.label_frequency(self.counts)
            wrong = mixture.wrong_label_frequency(self.counts)
        weight = self.weight[self.possible]
        rows, worth = weight.astype(np.float64), self.value[self.possible]
        if weight.dtype.kind == "f":
            rows, worth = np.sign(weight), worth * weight
        return PositiveSums(
            labeled=labeled,
            weight=weight.astype(np.float64),
            rows=rows,
            cell=similar_rows(worth, above[self.possible], rows * labeled),
            label_frequency=frequency,
            wrong_label_frequency=wrong,
            known_number=prior is not None or prevalence is not None,
            hidden=target == "unlabeled",
        )

    def _mixture(self, given: dict[str, Any], purity: float) -> Mixture:
        """Return prior and purity; refuse shares that do not fit the numbers of rows."""
        if purity < 1:
            check_unlabeled(self.counts, "purity")
        if given["label_frequency"] is not None:
            return Mixture.from_label_frequency(self.counts, given["label_frequency"], purity)
        if given["prevalence"] is not None:
            return Mixture.from_prevalence(self.counts, given["prevalence"], purity)
        return Mixture(given["prior"], purity)
