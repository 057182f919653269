"""Resolution: the largest error that binning the scores can cause."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pueval._checks import check_counts
from pueval.core.mixture import Mixture
from pueval.core.rates import correct_pair
from pueval.counts.counts import Counts
from pueval.text.results import Result


@dataclass(frozen=True, repr=False)
class Resolution(Result):
    """Largest errors that binning the scores can cause; sampling errors are not included.

    Attributes
    ----------
    bins : int
        Number of bins per doubling of the score.
    roc_auc, naive_roc_auc : float
        Largest error of the corrected and of the naive AUC.
    tpr, fpr : float
        Largest error of the true and of the false positive rate at any threshold. Both rates are
        exact at thresholds that are scores of the Counts, such as those of curves and best values.
    """

    bins: int
    roc_auc: float
    naive_roc_auc: float
    tpr: float
    fpr: float

    def _headline(self) -> str:
        return (
            f"scores in bins ({self.bins:,} per doubling of the score): AUC within "
            f"±{self.roc_auc:.2g}, rates within ±{max(self.tpr, self.fpr):.2g}, exact at bin scores"
        )


def resolution(counts: Counts, mixture: Mixture) -> Resolution | None:
    """Bound the errors that binning the scores can cause.

    The naive AUC is off by at most half the share of pairs, of a labeled and a background row, in
    the same bin. The correction divides this by (purity − prior). A threshold inside a bin may
    split its rows in any way, so the rates are off by at most the correction of the bin's own
    shares ℓ and u of labeled and background rows: tpr and fpr are linear in both, and the largest
    of the four corners is the bound.

    Parameters
    ----------
    counts : Counts
        The data.
    mixture : Mixture
        Prior and purity.

    Returns
    -------
    Resolution or None
        None if the scores are not binned.

    Examples
    --------
    >>> from pueval import Counts, Mixture, resolution
    >>> counts = Counts.from_arrays([1, 0, 0, 1], [0.51, 0.52, 0.53, 0.9]).to_bins(16)
    >>> resolution(counts, Mixture(0.5)).roc_auc
    0.5
    """
    check_counts(counts)
    if counts.bins is None:
        return None
    naive = counts.auc_error()
    prior = mixture.background_prior(counts)
    labeled, background = counts._wide_bin_counts()
    gamma = labeled / counts.n_labeled
    eta = background / (counts.n_unlabeled + counts.n_negative)
    gamma_part, eta_part = np.array([[0, 0, 1, 1], [0, 1, 0, 1]])[..., np.newaxis]
    corners = correct_pair(gamma_part * gamma, eta_part * eta, mixture, prior)
    tpr, fpr = (float(np.abs(rates).max(initial=0.0)) for rates in corners)
    return Resolution(counts.bins, naive / (mixture.purity - prior), naive, tpr, fpr)
