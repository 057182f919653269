"""Labeling: positive-unlabeled labels of simulated or real rows, with the truth kept separate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pueval._typing import Array
from pueval.core.mixture import Mixture
from pueval.counts.counts import Counts
from pueval.errors import InputError
from pueval.sources.arrays import one_column
from pueval.text.results import Result


@dataclass(frozen=True, eq=False, repr=False)
class Labeling(Result):
    """Positive-unlabeled labels, with the true classes kept separate.

    Attributes
    ----------
    rows : ndarray of int
        Indices of the rows in the positive-unlabeled data set, ascending.
    label : ndarray of int8
        1 for labeled and 0 for unlabeled rows: all that an evaluation may use.
    truth : ndarray of bool
        True for positive rows.

    Examples
    --------
    >>> import numpy as np
    >>> from pueval.simulate import label_at_random
    >>> label_at_random(np.arange(1000) < 300, label_frequency=0.2, seed=0)
    Labeling: 60 labeled, 940 unlabeled rows; prior 0.2553, purity 1
    """

    rows: Array
    label: Array
    truth: Array

    @property
    def n_labeled(self) -> int:
        """Number of labeled rows."""
        return int(self.label.sum())

    @property
    def n_unlabeled(self) -> int:
        """Number of unlabeled rows."""
        return int(self.label.size - self.label.sum())

    @property
    def prior(self) -> float:
        """True share of positives among the unlabeled rows."""
        return float(self.truth[self.label == 0].mean())

    @property
    def purity(self) -> float:
        """True share of positives among the labeled rows."""
        return float(self.truth[self.label == 1].mean())

    @property
    def prevalence(self) -> float:
        """True share of positives among all rows of the data set."""
        return float(self.truth.mean())

    @property
    def label_frequency(self) -> float:
        """True share of all positives that are labeled."""
        return float(self.label[self.truth].mean())

    @property
    def mixture(self) -> Mixture:
        """True prior and purity."""
        return Mixture(self.prior, self.purity)

    def counts(self, score: Any) -> Counts:
        """Return the Counts of a classifier's scores with these labels.

        Parameters
        ----------
        score : array-like
            One score per row of the original data, or one per row of this data set.

        Returns
        -------
        Counts

        Examples
        --------
        >>> import numpy as np
        >>> from pueval.simulate import label_at_random
        >>> labeling = label_at_random([1, 1, 0, 0], count=1, seed=0)
        >>> labeling.counts([4, 3, 2, 1]).n_labeled
        1
        """
        values = one_column(score, "score")
        if values.size == self.label.size:
            return Counts.from_arrays(self.label, values)
        if self.rows.size and self.rows[-1] < values.size:
            return Counts.from_arrays(self.label, values[self.rows])
        raise InputError(
            f"score must have one value for each of the {self.label.size:,} rows of the data set, "
            f"or for each row of the original data; got {values.size:,}."
        )

    def _headline(self) -> str:
        prior = f"prior {self.prior:.4g}" if self.n_unlabeled else "no prior"
        purity = f"purity {self.purity:.4g}" if self.n_labeled else "no purity"
        return (
            f"Labeling: {self.n_labeled:,} labeled, {self.n_unlabeled:,} unlabeled rows; "
            f"{prior}, {purity}"
        )

    def _table(self) -> str:
        return ""
