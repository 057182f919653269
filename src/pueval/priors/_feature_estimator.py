"""FeaturePriorEstimator: base class of the estimators that work on features."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import ClassifierTags
from sklearn.utils.validation import validate_data

from pueval._typing import Array
from pueval.counts.counts import Counts
from pueval.errors import InputError

# Differences and squares of larger features could overflow.
LARGEST_FEATURE = 1e100


class FeaturePriorEstimator(BaseEstimator):  # type: ignore[misc]
    """Base class of the estimators that work on features.

    Attributes
    ----------
    prior_ : float
        Share of positives among the unlabeled rows.
    purity_ : float
        Always 1: these estimators assume clean labels.
    prior_interval_, purity_interval_ : None
        These estimators have no confidence intervals.
    n_features_in_ : int
        Number of columns of ``X``.
    """

    prior_: float
    purity_: float
    prior_interval_: tuple[float, float] | None
    purity_interval_: tuple[float, float] | None
    n_features_in_: int

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: N803
        """Estimate the prior.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Features; a single column, such as out-of-fold scores, is allowed.
        y : array-like of shape (n,)
            Labels: 1 for labeled positives, 0 for unlabeled rows.

        Returns
        -------
        self
        """
        name = type(self).__name__
        if isinstance(X, Counts):
            raise InputError(
                f"{name} needs the features of each row, but Counts only hold numbers of rows per "
                "score. Pass X of shape (n, d) and y."
            )
        X, y = validate_data(self, X, y, dtype=np.float64, ensure_min_samples=2)  # noqa: N806
        # Counts check the labels.
        counts = Counts.from_arrays(y, np.zeros(len(y)))
        counts._check_nonempty()
        if np.abs(X).max() > LARGEST_FEATURE:
            raise InputError(
                f"features must lie within ±{LARGEST_FEATURE:g}; got {X.min():g} to {X.max():g}. "
                "Rescale them."
            )
        if (X.max(axis=0) == X.min(axis=0)).all():
            raise InputError("all rows have the same features. Pass features that vary.")
        # Sorted, so that neither sampling nor rounding depends on the order of the rows.
        order = np.lexsort((*X.T[::-1], y == 0))
        labeled, unlabeled = np.split(X[order], [int(counts.n_labeled)])
        self.purity_, self.prior_interval_, self.purity_interval_ = 1.0, None, None
        self._estimate(labeled, unlabeled)
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        # Not a classifier; this only tells scikit-learn's checks that y has two values.
        tags.classifier_tags = ClassifierTags(multi_class=False)
        return tags

    @abstractmethod
    def _estimate(self, labeled: Array, unlabeled: Array) -> None:
        """Set ``prior_`` and the other fitted attributes."""
