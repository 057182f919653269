"""Base classes of the estimators: those that work on one score, and those that work on features."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Literal, Self

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator
from sklearn.utils import ClassifierTags
from sklearn.utils.validation import validate_data

from pueval._typing import Array
from pueval.core.mixture import Mixture
from pueval.counts.counts import Counts
from pueval.errors import InputError, warn_caller
from pueval.sources.arrays import to_host

# Differences and squares of larger features could overflow.
LARGEST_FEATURE = 1e100


class PriorEstimator(BaseEstimator):  # type: ignore[misc]
    """Base class of all estimators.

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

    def _reset(self) -> None:
        """Forget an earlier fit; labels are clean unless the estimator says otherwise."""
        self.purity_, self.prior_interval_, self.purity_interval_ = 1.0, None, None
        self.warnings_ = ()

    def _note(self, *warnings: str) -> None:
        self.warnings_ += warnings

    def _prior_from_label_frequency(
        self, counts: Counts, label_frequency: float, name: str
    ) -> float:
        """Return the prior for an estimated label frequency, at most n_U / (n_U + 1).

        There are n_L / label_frequency positives in total, of which n_L are labeled, so
        prior = n_L·(1 − label_frequency) / (label_frequency·n_U). A label frequency at or below
        the labeled share makes the prior 1 or larger. It is then set to n_U / (n_U + 1), the prior
        if a single additional unlabeled row were negative, with a warning that begins with
        ``name``.
        """
        largest = counts.n_unlabeled / (counts.n_unlabeled + 1)
        smallest_frequency = counts.n_labeled / (counts.n_labeled + largest * counts.n_unlabeled)
        if label_frequency >= smallest_frequency:
            return Mixture.from_label_frequency(counts, label_frequency).prior
        self._note(
            f"{name} estimates a label frequency of {label_frequency:.4g}, but "
            f"{counts.labeled_share:.4g} of the rows are labeled, so every unlabeled row would "
            f"have to be positive. The prior is set to the largest possible value, {largest:.6g}. "
            "The estimate does not fit these data; do not rely on it."
        )
        return largest

    def _issue_warnings(self) -> None:
        """Issue the warnings to the caller of ``fit``."""
        for warning in self.warnings_:
            warn_caller(warning)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        # Not a classifier; this only tells scikit-learn's checks that y has two values.
        tags.classifier_tags = ClassifierTags(multi_class=False)
        return tags


class ScorePriorEstimator(PriorEstimator):
    """Base class of the estimators that work on one score."""

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
        if isinstance(X, Counts) and y is not None:
            raise InputError("unexpected argument y: Counts already hold the labels. Omit y.")
        self.fit_without_warning(X if isinstance(X, Counts) else self._read(X, y))
        self._issue_warnings()
        return self

    def fit_without_warning(self, counts: Counts) -> Self:
        """Estimate the prior; warnings are stored in ``warnings_`` but not issued."""
        counts._check_nonempty()
        counts._refuse_propensities("estimating the prior")
        counts._refuse_clusters("an estimator (unlike priors.estimate)")
        if not counts.n_unlabeled:
            raise InputError("there are no unlabeled rows, so there is no prior to estimate.")
        self._reset()
        self._estimate(counts)
        return self

    def _read(self, X: Any, y: Any) -> Counts:  # noqa: N803
        X, y = to_host(X), to_host(y)  # noqa: N806
        if np.ndim(X) == 1 and not issparse(X):
            X = np.asarray(X).reshape(-1, 1)  # noqa: N806
        X, y = validate_data(self, X, y, ensure_min_samples=2)  # noqa: N806
        if X.shape[1] != 1:
            raise InputError(
                f"{type(self).__name__} works on one score; got {X.shape[1]} columns. Pass the "
                "out-of-fold scores of a classifier of labeled against unlabeled rows."
            )
        return Counts.from_arrays(y, X[:, 0])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.one_d_array = True
        return tags

    @abstractmethod
    def _estimate(self, counts: Counts) -> None:
        """Set ``prior_`` and the other fitted attributes."""


class PurityPriorEstimator(ScorePriorEstimator):
    """Base class of the estimators that take a known purity or estimate it."""

    def __init__(self, *, purity: float | Literal["estimate"] = 1.0, level: float = 0.95) -> None:
        self.purity = purity
        self.level = level


class FeaturePriorEstimator(PriorEstimator):
    """Base class of the estimators that work on features.

    They assume clean labels and have no confidence intervals.
    """

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
        if isinstance(X, Counts):
            raise InputError(
                f"{type(self).__name__} needs the features of each row, but Counts only hold "
                "numbers of rows per score. Pass X of shape (n, d) and y."
            )
        X, y = to_host(X), to_host(y)  # noqa: N806
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
        self._reset()
        self._estimate(labeled, unlabeled)
        self._issue_warnings()
        return self

    @abstractmethod
    def _estimate(self, labeled: Array, unlabeled: Array) -> None:
        """Set ``prior_`` and the other fitted attributes."""
