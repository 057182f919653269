"""ScorePriorEstimator: base class of the estimators that work on one score."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from typing import Any, Self

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator
from sklearn.utils import ClassifierTags
from sklearn.utils.validation import validate_data

from pueval.counts.counts import Counts
from pueval.errors import AssumptionWarning, InputError


class ScorePriorEstimator(BaseEstimator):  # type: ignore[misc]
    """Base class of the estimators that work on one score.

    Attributes
    ----------
    prior_ : float
        Share of positives among the unlabeled rows.
    purity_ : float
        Share of true positives among the labeled rows; 1 if the estimator assumes clean labels.
    prior_interval_, purity_interval_ : tuple of float, or None
        Confidence intervals; None if the estimator has none.
    warnings_ : tuple of str
        Reasons to doubt the estimate.
    """

    prior_: float
    purity_: float
    prior_interval_: tuple[float, float] | None
    purity_interval_: tuple[float, float] | None
    warnings_: tuple[str, ...]

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: N803
        """Estimate the prior.

        Parameters
        ----------
        X : array-like of shape (n,) or (n, 1), or Counts
            Out-of-fold scores; higher means more likely positive.
        y : array-like of shape (n,), optional
            Labels: 1 for labeled positives, 0 for unlabeled rows. Omit with Counts.

        Returns
        -------
        self
        """
        if isinstance(X, Counts):
            if y is not None:
                raise InputError("unexpected argument y: Counts already hold the labels. Omit y.")
            counts = X
        else:
            counts = self._read(X, y)
        self.fit_without_warning(counts)
        for warning in self.warnings_:
            warnings.warn(warning, AssumptionWarning, stacklevel=2)
        return self

    def fit_without_warning(self, counts: Counts) -> Self:
        """Estimate the prior; warnings are stored in ``warnings_`` but not issued."""
        counts._check_nonempty()
        counts._refuse_propensities("estimating the prior")
        if not counts.n_unlabeled:
            raise InputError("there are no unlabeled rows, so there is no prior to estimate.")
        self.purity_, self.prior_interval_, self.purity_interval_ = 1.0, None, None
        self.warnings_ = ()
        self._estimate(counts)
        return self

    def _read(self, X: Any, y: Any) -> Counts:  # noqa: N803
        if np.ndim(X) == 1 and not issparse(X):
            X = np.asarray(X).reshape(-1, 1)  # noqa: N806
        X, y = validate_data(self, X, y, ensure_min_samples=2)  # noqa: N806
        if X.shape[1] != 1:
            raise InputError(
                f"{type(self).__name__} works on one score; got {X.shape[1]} columns. Pass the "
                "out-of-fold scores of a classifier of labeled against unlabeled rows."
            )
        return Counts.from_arrays(y, X[:, 0])

    def _note(self, *warnings: str) -> None:
        self.warnings_ += warnings

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.one_d_array = True
        tags.target_tags.required = True
        # Not a classifier; this only tells scikit-learn's checks that y has two values.
        tags.classifier_tags = ClassifierTags(multi_class=False)
        return tags

    @abstractmethod
    def _estimate(self, counts: Counts) -> None:
        """Set ``prior_`` and the other fitted attributes."""
