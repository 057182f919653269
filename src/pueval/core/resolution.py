"""Resolution: what bins may have changed in an evaluation, at most."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pueval.core.mixture import Mixture
from pueval.core.rates import correct_pair
from pueval.counts.counts import Counts


@dataclass(frozen=True)
class Resolution:
    """How exact numbers from binned scores are.

    Each number is the largest difference from the value without bins that the data allow,
    whatever the scores were; sampling error is another matter.

    Attributes
    ----------
    bins : int
        Bins between a score and twice it.
    roc_auc, naive_roc_auc : float
        Of the corrected and of the naive AUC.
    tpr, fpr : float
        Of the true and false positive rate at any threshold. At thresholds that are scores of the
        Counts, as those of curves and of the best values are, both are exact.
    """

    bins: int
    roc_auc: float
    naive_roc_auc: float
    tpr: float
    fpr: float

    def __str__(self) -> str:
        return (
            f"scores in bins ({self.bins:,} between a score and twice it): AUC known within "
            f"±{self.roc_auc:.2g}, rates exact at scores that are kept, else within "
            f"±{max(self.tpr, self.fpr):.2g}"
        )


def resolution(counts: Counts, mixture: Mixture) -> Resolution | None:
    """Bound what bins may have changed.

    The naive AUC is wrong by at most half the share of pairs, of a labeled and another row, that
    are in the same bin; the correction divides this by (purity − prior). A threshold inside a bin
    may split its rows in any way, so rates are wrong by at most the correction of the bin's own
    shares of labeled and of other rows: with γ and η between 0 and these, tpr and fpr are linear
    in both, and the largest of the corners counts.

    Parameters
    ----------
    counts : Counts
        The data.
    mixture : Mixture
        Prior and purity.

    Returns
    -------
    Resolution or None
        None if scores are not in bins.

    Examples
    --------
    >>> from pueval import Counts, Mixture, resolution
    >>> counts = Counts.from_arrays([1, 0, 0, 1], [0.51, 0.52, 0.53, 0.9]).to_bins(16)
    >>> resolution(counts, Mixture(0.5)).roc_auc
    0.5
    """
    if counts.bins is None:
        return None
    naive = counts.auc_error()
    prior = mixture.background_prior(counts)
    labeled, others = counts._wide_bin_counts()
    total = counts.n_unlabeled + counts.n_negative
    gamma, eta = labeled / counts.n_labeled, others / total
    corners = [
        correct_pair(part * gamma, share * eta, mixture, prior)
        for part in (0.0, 1.0)
        for share in (0.0, 1.0)
    ]
    tpr, fpr = (
        max((float(np.abs(one[k]).max(initial=0.0)) for one in corners), default=0.0)
        for k in range(2)
    )
    return Resolution(counts.bins, naive / (mixture.purity - prior), naive, tpr, fpr)
