"""RandomLabelsTest: what features say against random labels."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from pueval._typing import Array
from pueval.labeling._conditional_test import ConditionalTest
from pueval.text.numbers import format_count, format_number
from pueval.text.results import Result, plain_dict
from pueval.text.tables import text_table

# Features in the printed table.
SHOWN_FEATURES = 8
TENDENCIES = (("lower", "higher"), ("nearer the middle", "nearer the ends"))
TESTED = {
    "score": (
        "Tested: given the score, labels do not depend on these features. That is so if labels are "
        "random and the score says all that these features say about the class."
    ),
    "audited": "Tested: labeled positives and checked hidden positives have the same features.",
}
NOT_SEEN = {
    "score": (
        "Not seen: labeling by the score itself, by other features, or by combinations of features "
        "that leave each of them balanced."
    ),
    "audited": (
        "Not seen: labeling by other features, or by combinations of features that leave each of "
        "them balanced."
    ),
}
INDEPENDENT = (
    "Assumes independent rows. If several rows belong to one patient or user, pass cluster."
)
# Columns of the sentences.
WIDTH = 88


@dataclass(frozen=True, eq=False, repr=False)
class RandomLabelsTest(Result):
    """Test of random labels, with the features that speak against them; from `test_random`.

    Attributes
    ----------
    pvalue : float
        p-value of the hypothesis; a small one contradicts random labels.
    feature : tuple of str
        Names of the features, those that speak most against random labels first.
    tendency : tuple of str
        How labeled rows differ: "higher", "lower", "nearer the middle" or "nearer the ends".
    z : ndarray
        Standardized statistic of each feature.
    feature_pvalue : ndarray
        p-value of each feature, adjusted for the number of features.
    given : {"score", "audited"}
        What the test relies on.
    n_labeled, n_compared : int
        Number of labeled rows, and of unlabeled rows or hidden positives they are compared with.
    n_clusters : int or None
        Number of clusters of these rows; None if rows are independent.
    """

    pvalue: float
    feature: tuple[str, ...]
    tendency: tuple[str, ...]
    z: Array
    feature_pvalue: Array
    given: Literal["score", "audited"]
    n_labeled: int
    n_compared: int
    n_clusters: int | None = None

    @classmethod
    def of(
        cls,
        test: ConditionalTest,
        names: tuple[str, ...],
        numbers: tuple[int, int],
        given: Literal["score", "audited"],
        n_clusters: int | None,
    ) -> RandomLabelsTest:
        """Order the features by their strength."""
        strength = np.nan_to_num(np.abs(test.z))
        kind = strength.argmax(axis=1)
        z = np.nan_to_num(test.z[np.arange(kind.size), kind])
        order = np.argsort(-np.abs(z), kind="stable")
        pvalues = test.pvalues()
        return cls(
            pvalue=float(pvalues.min()),
            feature=tuple(names[k] for k in order),
            tendency=tuple(TENDENCIES[kind[k]][int(z[k] > 0)] for k in order),
            z=z[order],
            feature_pvalue=pvalues[order],
            given=given,
            n_labeled=numbers[0],
            n_compared=numbers[1],
            n_clusters=n_clusters,
        )

    def _columns(self) -> Mapping[str, Any]:
        return {
            "feature": np.array(self.feature),
            "tendency": np.array(self.tendency),
            "z": self.z,
            "pvalue": self.feature_pvalue,
        }

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data.

        Returns
        -------
        dict
        """
        content = {
            "pvalue": self.pvalue,
            "given": self.given,
            "n_labeled": self.n_labeled,
            "n_compared": self.n_compared,
            "n_clusters": self.n_clusters,
            "features": self._columns(),
        }
        return plain_dict(content)

    def _headline(self) -> str:
        others = "unlabeled rows" if self.given == "score" else "hidden positives"
        clusters = "" if self.n_clusters is None else f", {format_count(self.n_clusters)} clusters"
        return (
            f"Test of random labels: p = {format_number(self.pvalue)} "
            f"({format_count(self.n_labeled)} labeled rows, "
            f"{format_count(self.n_compared)} {others}{clusters})"
        )

    def _table(self) -> str:
        rows = [
            [name, tendency, f"{z:.1f}", format_number(pvalue)]
            for name, tendency, z, pvalue in zip(
                self.feature, self.tendency, self.z, self.feature_pvalue, strict=True
            )
        ]
        header = ["feature", "labeled rows are", "z", "adjusted p"]
        table = text_table(header, rows, most=SHOWN_FEATURES, hint="; .frame() returns all")
        sentences = [TESTED[self.given], NOT_SEEN[self.given]]
        if self.n_clusters is None:
            sentences.append(INDEPENDENT)
        return "\n".join([table, *(textwrap.fill(text, WIDTH) for text in sentences)])
