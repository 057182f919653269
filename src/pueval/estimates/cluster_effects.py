"""What clusters of rows do to the uncertainty of an evaluation."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from pueval.core.cluster_table import ClusterTable, cluster_freedom, label_count_effect
from pueval.counts.clusters import describe_number
from pueval.counts.counts import Counts
from pueval.samples.steps import Steps
from pueval.text.numbers import format_count
from pueval.text.results import Result
from pueval.uncertainty.bootstrap_draws import cell_thresholds


@dataclass(frozen=True, repr=False)
class ClusterEffects(Result):
    """Clusters of rows and their design effects; ``ev.clusters``.

    A *design effect* is the variance of an estimate divided by that of the same estimate if rows
    were independent. The former assumes that clusters are independent, and nothing about the rows
    of a cluster: influences of rows are summed within clusters before they are squared.

    Attributes
    ----------
    ways : int
        1, or 2 for two-way clusters, whose numbers are the smaller of the two.
    n_clusters, n_labeled_clusters : int
        Number of clusters, and of those with labeled rows.
    degrees_of_freedom : float
        Degrees of freedom of the t quantiles of intervals.
    auc_effect : float
        Design effect of the naive AUC.
    labeled_effect, background_effect : float
        Design effects of the shares of labeled rows, and of unlabeled rows (or known negatives),
        above thresholds, averaged over all thresholds; at least 1.
    label_count_effect : float
        Design effect of the share of labeled rows.
    effective_rows : float
        Number of independent rows that would give the same standard error of the AUC.

    With fewer than 10 clusters of labeled rows, or of other rows, there are no intervals, and
    degrees of freedom, design effects and effective rows are NaN.

    References
    ----------
    Kish (1965), Survey sampling; Obuchowski (1997) for the AUC.

    Examples
    --------
    >>> import numpy as np
    >>> from pueval import evaluate
    >>> rng = np.random.default_rng(0)
    >>> patient = np.repeat(np.arange(300), 5)
    >>> ill = (rng.random(300) < 0.4)[patient]
    >>> score = 2 * ill + rng.normal(size=300)[patient] + rng.normal(size=1500) / 2
    >>> labeled = ill & (rng.random(1500) < 0.5)
    >>> ev = evaluate(labeled, score, prevalence=0.4, cluster=patient)
    >>> ev.clusters.n_clusters, bool(ev.clusters.auc_effect > 1.3)
    (300, True)
    """

    ways: int
    n_clusters: int
    n_labeled_clusters: int
    degrees_of_freedom: float
    auc_effect: float
    labeled_effect: float
    background_effect: float
    label_count_effect: float
    effective_rows: float

    @classmethod
    def of(cls, counts: Counts, corners: Steps, threshold: float) -> ClusterEffects | None:
        """Return the effects of the clusters of these rows; None if rows are independent."""
        if counts._clusters is None:
            return None
        clusters = counts._clusters.clusters
        numbers = (clusters.ways, clusters.n_clusters, clusters.n_labeled_clusters)
        if clusters.missing_reason is not None:
            # Estimates from so few clusters can be anything: of a single one, about 1.
            return cls(*numbers, *[math.nan] * 6)
        bounds = cell_thresholds(counts, corners, threshold, threshold_chosen=False)
        table = ClusterTable.of(counts, bounds)
        labeled, unlabeled, negative = table.kind_effects.tolist()
        return cls(
            *numbers,
            cluster_freedom(counts),
            table.auc_effect,
            labeled,
            unlabeled if counts.n_unlabeled else negative,
            label_count_effect(counts),
            sum(counts.effective_sizes) / max(table.auc_effect, 1e-9),
        )

    def sentence(self) -> str:
        """Say how many clusters there are, what is assumed, and the effective sample size.

        Returns
        -------
        str
        """
        return " ".join(cluster_sentences([self]))

    def _headline(self) -> str:
        text = (
            f"Clusters: {format_count(self.n_clusters)}, {format_count(self.n_labeled_clusters)} "
            "with labeled rows"
        )
        if math.isnan(self.auc_effect):
            return f"{text}; too few for design effects"
        return f"{text}; design effect of the ROC AUC {self.auc_effect:.3g}"


def cluster_sentences(models: Sequence[ClusterEffects | None]) -> list[str]:
    """Describe how clusters widen intervals, for one or several models of the same rows.

    There is nothing to say if rows are independent.
    """
    effects = [each for each in models if each is not None]
    if not effects:
        return []
    first, ways = effects[0], "Two-way clusters" if effects[0].ways > 1 else "Clusters"
    numbers = (
        f"{ways} are independent, rows of the same cluster need not be: "
        f"{describe_number(first.n_clusters)}, {format_count(first.n_labeled_clusters)} with "
        "labeled rows."
    )
    if math.isnan(first.auc_effect):
        return [numbers]
    ends = [function(effects, key=lambda each: each.auc_effect) for function in (max, min)]
    # There are no more independent rows than rows: a design effect below 1 is mostly chance.
    sizes = [round(each.effective_rows * min(each.auc_effect, 1.0)) for each in ends]
    size = " to ".join(dict.fromkeys(map(format_count, sizes)))
    design = " to ".join(dict.fromkeys(f"{each.auc_effect:.2g}" for each in reversed(ends)))
    return [
        numbers,
        f"Effective sample size for the ROC AUC: {size} (design effect {design}).",
    ]
