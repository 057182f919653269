"""Recalibration of scores: a scikit-learn transformer."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.model_selection import StratifiedKFold
from sklearn.utils import ClassifierTags
from sklearn.utils.validation import check_is_fitted, validate_data

from pueval._checks import check_choice, check_count
from pueval._typing import Array, Target
from pueval.calibration._score_maps import Method, ScoreMap, ScoreShares, fit_map, log_odds
from pueval.core.mixture import Mixture, check_target
from pueval.core.rates import correct_steps
from pueval.counts.counts import Counts
from pueval.errors import InputError, warn_caller
from pueval.priors import estimate
from pueval.sources.arrays import to_host

METHODS = ("isotonic", "beta", "logistic")


class Recalibrator(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Map scores to probabilities of being positive, from positive and unlabeled rows.

    P(positive | score) = π·f₁(score) / f(score), where π is the prevalence, f₁ the density of the
    scores of positives, and f that of all rows. With clean random labels it is the share of
    labeled rows at a score divided by the label frequency. A classifier that was calibrated with
    unlabeled rows as negatives predicts that share, which is too low. Assumes random labeling.

    Fit it on out-of-fold scores, or on rows that the classifier was not trained on.

    Parameters
    ----------
    method : {"isotonic", "beta", "logistic"}, default "isotonic"
        ``"isotonic"``: any increasing map; needs some hundred labeled rows. ``"logistic"``: a
        logistic function of the log-odds of the score, or of the score itself if scores lie
        outside [0, 1]. ``"beta"``: a logistic function of log p and log(1 − p); needs scores in
        [0, 1].
    prior, prevalence, label_frequency : float, optional
        Share of positives among the unlabeled rows, share of positives among all rows, or share
        of all positives that are labeled. Give at most one; without any, the prior is estimated.
    purity : float, default 1.0
        Share of true positives among the labeled rows.
    target : {"population", "unlabeled"}, default "population"
        Rows for which the probabilities hold: rows like all rows together, or like the unlabeled
        rows.
    pos_label, unlabeled_label, negative_label : optional
        Values of ``y`` for labeled positives, unlabeled rows and known negatives.
    cv : int, default 5
        Number of folds of `cross_fitted`.
    random_state : int, default 0
        Random seed for the folds of `cross_fitted`.

    Attributes
    ----------
    prior_, prevalence_ : float
        Share of positives among the unlabeled rows, and in the target.
    n_features_in_ : int
        1, the score.

    References
    ----------
    Elkan and Noto (2008), Learning classifiers from only positive and unlabeled data. Zadrozny and
    Elkan (2002), Transforming classifier scores into accurate multiclass probability estimates.
    Kull, Silva Filho and Flach (2017), Beta calibration.

    Examples
    --------
    >>> import numpy as np
    >>> from pueval.calibration import Recalibrator
    >>> rng = np.random.default_rng(0)
    >>> positive = rng.random(20_000) < 0.2
    >>> score = rng.normal(size=20_000) + 2 * positive          # any scale
    >>> labeled = positive & (rng.random(20_000) < 0.3)
    >>> recalibrator = Recalibrator("logistic", prevalence=0.2).fit(score, labeled)
    >>> recalibrator.transform([1, 2]).round(1)                 # exactly .20 and .65
    array([0.2, 0.6])
    """

    prior_: float
    prevalence_: float
    n_features_in_: int
    _map: ScoreMap

    def __init__(
        self,
        method: Method = "isotonic",
        *,
        prior: float | None = None,
        prevalence: float | None = None,
        label_frequency: float | None = None,
        purity: float = 1.0,
        target: Target = "population",
        pos_label: Any = 1,
        unlabeled_label: Any = 0,
        negative_label: Any = None,
        cv: int = 5,
        random_state: int = 0,
    ) -> None:
        self.method = method
        self.prior = prior
        self.prevalence = prevalence
        self.label_frequency = label_frequency
        self.purity = purity
        self.target = target
        self.pos_label = pos_label
        self.unlabeled_label = unlabeled_label
        self.negative_label = negative_label
        self.cv = cv
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:  # noqa: N803
        """Fit the map.

        Parameters
        ----------
        X : array-like of shape (n,) or (n, 1)
            Scores.
        y : array-like of shape (n,)
            Labels: by default 1 for labeled positives, 0 for unlabeled rows.
        sample_weight : array-like of shape (n,), optional
            Weights of the rows.

        Returns
        -------
        self
        """
        score, y = self._read_rows(X, y)
        sample_weight = to_host(sample_weight)
        mixture = self._find_mixture(self._count(score, y, sample_weight))
        shares = self._fit_rows(score, y, sample_weight, mixture)
        if shares.score.size > 1 and shares.mean_rank <= 0.5:
            warn_caller(
                "positives do not score higher than all rows on average, so that probabilities "
                "hardly depend on the score. Check that high scores mean positive."
            )
        return self

    def transform(self, X: Any) -> Array:  # noqa: N803
        """Return the probability of being positive.

        Parameters
        ----------
        X : array-like of shape (n,) or (n, 1)
            Scores.

        Returns
        -------
        ndarray of shape (n,)
            Probabilities in [0, 1], which do not fall as the score rises.
        """
        check_is_fitted(self)
        score = self._read_scores(X, reset=False)
        if self.method != "isotonic":
            self._check_range(score)
        return self._map(score)

    def predict_proba(self, X: Any) -> Array:  # noqa: N803
        """Return the probabilities of being negative and of being positive.

        Parameters
        ----------
        X : array-like of shape (n,) or (n, 1)
            Scores.

        Returns
        -------
        ndarray of shape (n, 2)
        """
        probability = self.transform(X)
        return np.column_stack([1 - probability, probability])

    def cross_fitted(self, X: Any, y: Any, sample_weight: Any = None) -> Array:  # noqa: N803
        """Return probabilities of the rows themselves, each from a map fitted on other rows.

        A map fitted on a row knows its label, most of all the isotonic one. Evaluate with these
        probabilities, and use ``fit`` and ``transform`` for new rows. This does not fit the
        recalibrator itself.

        Parameters
        ----------
        X : array-like of shape (n,) or (n, 1)
            Scores.
        y : array-like of shape (n,)
            Labels: by default 1 for labeled positives, 0 for unlabeled rows.
        sample_weight : array-like of shape (n,), optional
            Weights of the rows.

        Returns
        -------
        ndarray of shape (n,)
        """
        check_count("cv", self.cv, least=2)
        made = type(self)(**self.get_params(deep=False))
        score, y = made._read_rows(X, y)
        sample_weight = to_host(sample_weight)
        mixture = made._find_mixture(made._count(score, y, sample_weight))
        smallest = int(np.unique(y, return_counts=True)[1].min())
        if smallest < self.cv:
            raise InputError(
                f"cv must be at most the number of rows with each label; got cv={self.cv} and "
                f"{smallest} rows. Use fewer folds."
            )
        probability = np.empty(score.size)
        folds = StratifiedKFold(self.cv, shuffle=True, random_state=self.random_state)
        for train, test in folds.split(score, y):
            weight = None if sample_weight is None else np.asarray(sample_weight)[train]
            made._fit_rows(score[train], y[train], weight, mixture)
            probability[test] = made._map(score[test])
        return probability

    def _fit_rows(
        self, score: Array, y: Array, sample_weight: Any, mixture: Mixture
    ) -> ScoreShares:
        counts = self._count(score, y, sample_weight)
        distinct = np.unique(score)[::-1]
        rates = correct_steps(counts, counts.at(distinct), mixture, self.target)
        self.prior_ = mixture.prior
        self.prevalence_ = float(np.max(rates.prevalence))
        shares = ScoreShares(
            distinct[::-1],
            np.diff(rates.predicted, prepend=0)[::-1],
            self.prevalence_ * np.diff(rates.tpr, prepend=0)[::-1],
        )
        self._map = fit_map(shares, self.method)
        return shares

    def _count(self, score: Array, y: Array, sample_weight: Any) -> Counts:
        if sample_weight is not None and not np.any(sample_weight):
            raise InputError("sample_weight is zero for every row. Give some rows a weight.")
        counts = Counts.from_arrays(
            y,
            score,
            sample_weight=sample_weight,
            pos_label=self.pos_label,
            unlabeled_label=self.unlabeled_label,
            negative_label=self.negative_label,
        )
        counts._check_nonempty()
        return counts

    def _find_mixture(self, counts: Counts) -> Mixture:
        check_choice("method", self.method, METHODS)
        check_target(self.target)
        given = {
            name: getattr(self, name)
            for name in ("prior", "prevalence", "label_frequency")
            if getattr(self, name) is not None
        }
        if len(given) > 1:
            raise InputError(
                f"give at most one of prior, prevalence and label_frequency; got "
                f"{' and '.join(given)}."
            )
        if "prior" in given:
            return Mixture(given["prior"], self.purity)
        if "prevalence" in given:
            return Mixture.from_prevalence(counts, given["prevalence"], self.purity)
        if given:
            return Mixture.from_label_frequency(counts, given["label_frequency"], self.purity)
        return Mixture(estimate(counts, purity=self.purity).prior, self.purity)

    def _read_rows(self, X: Any, y: Any) -> tuple[Array, Array]:  # noqa: N803
        check_choice("method", self.method, METHODS)
        X, y = self._as_column(X), to_host(y)  # noqa: N806
        X, y = validate_data(self, X, y, ensure_min_samples=2)  # noqa: N806
        score = self._one_column(X)
        if self.method == "beta":
            self._check_range(score)
        return score, y

    def _read_scores(self, X: Any, *, reset: bool) -> Array:  # noqa: N803
        return self._one_column(validate_data(self, self._as_column(X), reset=reset))

    @staticmethod
    def _as_column(X: Any) -> Any:  # noqa: N803
        X = to_host(X)  # noqa: N806
        if issparse(X) or getattr(X, "ndim", 1) != 1:
            return X
        values = np.asarray(X)
        return values.reshape(-1, 1) if values.ndim == 1 else values

    def _one_column(self, X: Array) -> Array:  # noqa: N803
        if X.shape[1] != 1:
            raise InputError(
                f"Recalibrator works on one score; got {X.shape[1]} columns. Pass the scores of a "
                "classifier, such as predict_proba(X)[:, 1] or decision_function(X)."
            )
        return np.asarray(X[:, 0], dtype=np.float64)

    def _check_range(self, score: Array) -> None:
        """Refuse scores outside [0, 1] if the map is one of probabilities."""
        fitted = getattr(self, "_map", None)
        needs_probabilities = self.method == "beta" or (
            fitted is not None and getattr(fitted, "features", None) is log_odds
        )
        low, high = float(score.min()), float(score.max())
        if needs_probabilities and (low < 0 or high > 1):
            raise InputError(
                f"method={self.method!r} needs scores in [0, 1] here; got {low:.4g} to {high:.4g}. "
                "Use method='isotonic', or 'logistic' fitted on scores of this scale."
            )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.one_d_array = True
        # Not a classifier; this only tells scikit-learn's checks that y has two values.
        tags.classifier_tags = ClassifierTags(multi_class=False)
        return tags
