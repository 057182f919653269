"""PropensityEstimate: how likely positives are to be labeled, by their features."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from pueval._typing import Array
from pueval.text.numbers import format_count, format_estimate, format_level, format_number
from pueval.text.results import Result, plain_dict
from pueval.text.tables import text_table

# Features in the printed table.
SHOWN_COEFFICIENTS = 10
# With a larger ratio between the ends of its interval, the label frequency is hardly known.
WIDE = 2.0
# A smaller share of effective rows is worth a warning.
LOW_OVERLAP = 0.2


@dataclass(frozen=True, eq=False, repr=False)
class PropensityEstimate(Result):
    """Propensities from features; from `propensity_model`.

    Attributes
    ----------
    propensity : ndarray
        Probability that the row, being positive, is labeled; out-of-fold.
    feature : tuple of str
        Names of the labeling features.
    coefficient, standard_error : ndarray
        Change of logit propensity with one standard deviation of each feature, and its standard
        error.
    effective_rows : float
        Number of equally weighted labeled rows with the same variance.
    n_labeled : int
        Number of labeled rows.
    smallest, largest : float
        Range of the propensities of labeled rows.
    hidden : float
        Estimated number of positives that are not labeled.
    hidden_interval : tuple of float
        Its confidence interval.
    given : {"class_features", "audited"}
        What tells propensities from classes.
    level : float
        Confidence level of the interval.
    """

    propensity: Array
    feature: tuple[str, ...]
    coefficient: Array
    standard_error: Array
    effective_rows: float
    n_labeled: int
    smallest: float
    largest: float
    hidden: float
    hidden_interval: tuple[float, float]
    given: Literal["class_features", "audited"]
    level: float

    _share_hint: ClassVar[str] = "Pass its .propensity as propensity instead."

    @property
    def label_frequency(self) -> float:
        """Share of the positives that are labeled."""
        return self.n_labeled / (self.n_labeled + self.hidden)

    @property
    def label_frequency_interval(self) -> tuple[float, float]:
        """Confidence interval of the label frequency."""
        low, high = self.hidden_interval
        return self.n_labeled / (self.n_labeled + high), self.n_labeled / (self.n_labeled + low)

    def _columns(self) -> Mapping[str, Any]:
        return {
            "feature": np.array(self.feature),
            "coefficient": self.coefficient,
            "standard_error": self.standard_error,
        }

    def to_dict(self) -> dict[str, Any]:
        """Return the model as plain data, without the rows.

        Returns
        -------
        dict
        """
        content = {
            "features": self._columns(),
            "n_labeled": self.n_labeled,
            "effective_rows": self.effective_rows,
            "smallest": self.smallest,
            "largest": self.largest,
            "hidden": self.hidden,
            "hidden_interval": self.hidden_interval,
            "label_frequency": self.label_frequency,
            "label_frequency_interval": self.label_frequency_interval,
            "given": self.given,
            "level": self.level,
        }
        return plain_dict(content)

    def _headline(self) -> str:
        given = {"class_features": "separate class features", "audited": "an audit"}[self.given]
        return (
            f"Propensities of {format_count(self.n_labeled)} labeled rows, from {given}: "
            f"{format_number(self.smallest)} to {format_number(self.largest)}"
        )

    def _table(self) -> str:
        rows = [
            [name, f"{value:.2f}", f"{error:.2f}"]
            for name, value, error in zip(
                self.feature, self.coefficient, self.standard_error, strict=True
            )
        ]
        header = ["feature", "logit per SD", "standard error"]
        frequency = format_estimate(self.label_frequency, *self.label_frequency_interval)
        lines = [
            text_table(header, rows, most=SHOWN_COEFFICIENTS, hint="; .frame() returns all"),
            f"label frequency  {frequency}, {format_level(self.level)} CI",
            f"effective rows   {self.effective_rows:,.0f} of {self.n_labeled:,} labeled",
        ]
        return "\n".join([*lines, *self._notes()])

    def _notes(self) -> list[str]:
        notes = []
        if self.given == "class_features":
            notes.append(
                "Assumes that labeling features do not drive the class, nor class features "
                "labeling, and\nthat both logits are linear. The label frequency rests on the last."
            )
        low, high = self.label_frequency_interval
        if self.given == "class_features" and high > WIDE * low:
            notes.append(
                "! The label frequency is hardly known: propensities are right up to a factor "
                "only.\n  Pass prevalence to evaluate as well, or check some unlabeled rows."
            )
        if self.effective_rows < LOW_OVERLAP * self.n_labeled:
            notes.append(
                "! A few labeled rows with small propensities represent most positives: intervals "
                "will\n  be wide. Leave out rows that are hardly ever labeled."
            )
        return notes
