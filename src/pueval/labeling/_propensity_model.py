"""propensity_model(): propensities from the features that drive labeling."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy  # loads its submodules when they are first used

from pueval._checks import check_count, check_fraction, check_same_length
from pueval._typing import Array
from pueval.counts.arguments import suggest_arguments
from pueval.errors import InputError
from pueval.labeling._checked_positives import CheckedPositives
from pueval.labeling._features import Features
from pueval.labeling._hidden_interval import hidden_interval
from pueval.labeling._logistic import fit_logistic, information
from pueval.labeling._product_likelihood import fit_product, hidden_profile
from pueval.labeling._propensity_result import PropensityEstimate
from pueval.sources.arrays import check_same_order, label_kinds
from pueval.sources.labels import LabelValues

# Ridge penalty of the coefficients of standardized features.
PENALTY = 1.0
# Labeled rows, and hidden positives, needed for each coefficient.
ROWS_PER_COEFFICIENT = 5
LEAST_POSITIVES = 10
# Singular values below this part of the largest one are rounding errors.
RANK_TOLERANCE = 1e-8


@suggest_arguments
def propensity_model(
    X: Any,  # noqa: N803
    y: Any,
    *,
    labeling_features: Any,
    class_features: Any = None,
    audited: Any = None,
    audit_probability: Any = None,
    cv: int = 5,
    level: float = 0.95,
    seed: int = 0,
    pos_label: Any = 1,
    unlabeled_label: Any = 0,
) -> PropensityEstimate:
    """Estimate propensities from the features that drive labeling.

    The propensity e of a positive is logistic in the labeling features. Labels alone do not tell it
    from the probability p of being positive, since a row is labeled with probability e·p. Say what
    tells them apart:

    - ``class_features``: features that drive the class, and that are other ones than those that
      drive labeling. Then logit e is linear in the first and logit p in the second, and both are
      fitted together by maximum likelihood, as SAR-EM does. The data determine e up to a factor
      well, but the factor only by the logistic form: look at the interval of ``label_frequency``,
      and pass ``prevalence`` to `evaluate` as well if you know it.
    - ``audited``: unlabeled rows that were checked. Labeled positives are compared with hidden
      positives, which determines e without any model of the class; any features may drive
      labeling.

    Each propensity comes from a model that was not fitted to its row.

    Parameters
    ----------
    X : array-like or data frame of shape (n, d)
        Numbers; features of the rows.
    y : array-like
        Labels: 1 or True for labeled positives, 0 or False for unlabeled rows.
    labeling_features : list of str or int
        Names or positions of the features that drive labeling.
    class_features : list of str or int, optional
        Those that drive the class; none of them may drive labeling, or be a copy or a sum of
        features that do.
    audited : array-like, optional
        1 for rows that were checked and are positive, 0 for negative ones, missing for others.
    audit_probability : array-like, optional
        As for `test_random`.
    cv : int, default 5
        Number of folds.
    level : float, default 0.95
        Confidence level of the label frequency.
    seed : int, default 0
        Random seed of the folds.
    pos_label, unlabeled_label : optional
        Values that mark labeled and unlabeled rows.

    Returns
    -------
    PropensityEstimate
        Its ``propensity`` goes to `pueval.evaluate`.

    Notes
    -----
    Features are standardized, and coefficients have a small ridge penalty. Among labeled rows and
    checked hidden positives, logit P(labeled) = logit e − log q, with q the probability of being
    checked. Intervals of `evaluate` take propensities as known.

    References
    ----------
    Bekker and Davis (2018), Learning from positive and unlabeled data under the selected at random
    assumption; Bekker, Robberechts and Davis (2019), Beyond the selected completely at random
    assumption for learning from positive and unlabeled data.

    Examples
    --------
    >>> import numpy as np
    >>> from pueval import evaluate, labeling
    >>> rng = np.random.default_rng(0)
    >>> marker, road = rng.normal(size=(2, 20_000))
    >>> present = rng.random(20_000) < 1 / (1 + np.exp(1 - 2 * marker))
    >>> seen = present & (rng.random(20_000) < 1 / (1 + np.exp(1 - 1.5 * road)))
    >>> X = np.column_stack([marker, road])
    >>> model = labeling.propensity_model(X, seen, labeling_features=[1], class_features=[0])
    >>> low, high = model.label_frequency_interval
    >>> bool(low < seen.sum() / present.sum() < high)
    True
    >>> ev = evaluate(seen, marker, propensity=model.propensity)
    """
    level = check_fraction("level", level)
    check_count("cv", cv, least=2)
    check_count("seed", seed, least=0)
    check_same_order({"X": X, "y": y, "audited": audited, "audit_probability": audit_probability})
    features = Features.read(X)
    labeled = label_kinds(y, LabelValues(pos_label, unlabeled_label, None)) == 0
    check_same_length("X", len(features), "y", labeled.size)
    positions = features.positions(labeling_features, "labeling_features")
    chosen = features.part(positions)
    design = _design(chosen, "labeling_features")
    fold = _folds(labeled, cv, seed)
    if audited is None:
        if audit_probability is not None:
            raise InputError("audit_probability needs audited, the results of the audit.")
        others = _separate(features, positions, class_features)
        classes = _design(others, "class_features")
        _refuse_common_directions(design, classes, others.names)
        _check_number(int(labeled.sum()), design.shape[1] + classes.shape[1], "labeled rows")
        fits = _fit_with_classes(design, classes, labeled, fold, level)
    else:
        if class_features is not None:
            raise InputError("with audited, class_features are not needed. Leave them out.")
        found = CheckedPositives.read(labeled, audited, audit_probability)
        for number, what in (
            (int(found.labeled.sum()), "labeled rows"),
            (int((~found.labeled).sum()), "checked unlabeled rows that are positive"),
        ):
            _check_number(number, design.shape[1], what)
        fits = _fit_audited(design, found, fold, level)
    propensity = scipy.special.expit(np.sum(design * fits.by_fold[fold], axis=1))
    most = float(np.count_nonzero(~labeled))
    low, high = fits.hidden_interval
    return PropensityEstimate(
        propensity=propensity,
        feature=chosen.names,
        coefficient=fits.coefficients[1:],
        standard_error=fits.standard_error[1:],
        effective_rows=_effective_rows(propensity[labeled]),
        n_labeled=int(labeled.sum()),
        smallest=float(propensity[labeled].min()),
        largest=float(propensity[labeled].max()),
        hidden=min(fits.hidden, most),
        hidden_interval=(min(low, most), min(high, most)),
        given="class_features" if audited is None else "audited",
        level=level,
    )


def _separate(features: Features, labeling: list[int], class_features: Any) -> Features:
    """Return the features of the class; refuse features that also drive labeling."""
    if class_features is None:
        raise InputError(
            "labels alone do not tell propensities from classes. Pass class_features, other ones "
            "than labeling_features; or audited, what checking some unlabeled rows found."
        )
    positions = features.positions(class_features, "class_features")
    shared = [features.names[k] for k in positions if k in labeling]
    if shared:
        raise InputError(
            f"feature {shared[0]!r} is in labeling_features and in class_features"
            f"{f', and {len(shared) - 1} more are' if len(shared) > 1 else ''}. Labels do not tell "
            "by which of both it acts. Leave it out of one, or pass audited, what checking some "
            "unlabeled rows found."
        )
    return features.part(positions)


def _design(features: Features, argument: str) -> Array:
    """Return standardized features with a constant in front."""
    spread = features.values.std(axis=0)
    constant = np.flatnonzero(spread <= 1e-12 * np.maximum(np.abs(features.values).max(axis=0), 1))
    if constant.size:
        raise InputError(
            f"{argument}: feature {features.names[int(constant[0])]!r} is the same in all rows. "
            "Leave it out."
        )
    standardized = (features.values - features.values.mean(axis=0)) / spread
    return np.hstack([np.ones((len(features), 1)), standardized])


def _refuse_common_directions(design: Array, classes: Array, names: tuple[str, ...]) -> None:
    """Refuse features of the class that are linear functions of those of labeling: copies."""
    triangle = np.asarray(np.linalg.qr(np.hstack([design, classes]), mode="r"))
    first, second = triangle[:, : design.shape[1]], triangle[:, design.shape[1] :]
    # The constant is in both.
    if _rank(triangle) == _rank(first) + _rank(second) - 1:
        return
    copied = [
        name
        for name, column in zip(names, second.T[1:], strict=True)
        if _rank(np.column_stack([first, column])) == _rank(first)
    ]
    what = f"feature {copied[0]!r} of class_features" if copied else "a sum of class_features"
    raise InputError(
        f"{what} is a linear function of labeling_features. Labels do not tell by which of both it "
        "acts. Leave it out of one, or pass audited, what checking some unlabeled rows found."
    )


def _rank(columns: Array) -> int:
    values = np.linalg.svd(columns, compute_uv=False)
    return int(np.count_nonzero(values > RANK_TOLERANCE * values[0]))


def _check_number(number: int, n_coefficients: int, what: str) -> None:
    least = max(ROWS_PER_COEFFICIENT * n_coefficients, LEAST_POSITIVES)
    if number < least:
        raise InputError(
            f"{n_coefficients} coefficients need at least {least} {what}; there are {number:,}. "
            "Use fewer features."
        )


@dataclass(frozen=True, eq=False)
class _Fits:
    """Coefficients of the propensity, of all rows and without each fold; hidden positives."""

    coefficients: Array
    standard_error: Array
    by_fold: Array
    hidden: float
    hidden_interval: tuple[float, float]


def _fit_with_classes(
    design: Array, classes: Array, labeled: Array, fold: Array, level: float
) -> _Fits:
    whole = fit_product(design, classes, labeled, penalty=PENALTY)
    size, by_fold = design.shape[1], []
    for k in range(int(fold.max()) + 1):
        rows = fold != k
        part = fit_product(
            design[rows], classes[rows], labeled[rows], penalty=PENALTY, start=whole.coefficients
        )
        by_fold.append(part.propensity)
    error = np.sqrt(np.diag(whole.covariance)[:size])
    hidden = float(whole.hidden(design[~labeled], classes[~labeled]).sum())
    interval = hidden_profile(whole, design, classes, labeled, penalty=PENALTY, level=level)
    return _Fits(whole.propensity, error, np.array(by_fold), hidden, interval)


def _fit_audited(design: Array, found: CheckedPositives, fold: Array, level: float) -> _Fits:
    penalty = np.r_[1e-6, np.full(design.shape[1] - 1, PENALTY)]
    part, offset = design[found.rows], -np.log(found.probability)
    fold_of = fold[found.rows]

    def fit(rows: Array) -> Array:
        return fit_logistic(part[rows], found.labeled[rows], offset=offset[rows], penalty=penalty)

    whole = fit(np.ones(fold_of.size, bool))
    share = scipy.special.expit(part @ whole + offset)
    error = np.sqrt(np.diag(np.linalg.inv(information(part, share) + np.diag(penalty))))
    by_fold = np.array([fit(fold_of != k) for k in range(int(fold.max()) + 1)])
    hidden, variance = found.hidden()
    return _Fits(whole, error, by_fold, hidden, hidden_interval(hidden, variance, level))


def _folds(labeled: Array, cv: int, seed: int) -> Array:
    """Return the fold of each row; labeled and unlabeled rows are spread evenly."""
    rng = np.random.default_rng([seed, 52])
    fold = np.empty(labeled.size, dtype=np.intp)
    for rows in (np.flatnonzero(labeled), np.flatnonzero(~labeled)):
        fold[rng.permutation(rows)] = np.arange(rows.size) % cv
    return fold


def _effective_rows(propensity: Array) -> float:
    """Return the number of equally weighted rows with the same variance (Kish)."""
    weight = 1 / propensity
    return float(weight.sum() ** 2 / np.sum(weight**2))
