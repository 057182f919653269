"""evaluate_cv(): an evaluation of a classifier that has not been trained yet."""

from __future__ import annotations

import inspect
import warnings
from dataclasses import replace
from typing import Any

import numpy as np

from pueval._typing import Array
from pueval.counts.arguments import check_threshold
from pueval.counts.counts import Counts
from pueval.errors import AssumptionWarning, InputError
from pueval.evaluation.assumptions import resolve_assumptions
from pueval.evaluation.evaluate import check_options, evaluate
from pueval.evaluation.evaluation import Evaluation
from pueval.model_selection._out_of_fold import (
    Align,
    Method,
    average_counts,
    choose_method,
    fold_numbers,
    fold_scores,
    known_to,
    misaligned,
    partitions,
    ranks_in_folds,
)
from pueval.model_selection._splits import Splits
from pueval.sources.arrays import check_same_order, label_kinds
from pueval.sources.labels import LabelValues

# What an evaluation of one repeat shares with that of all together.
ASSUMED = ("prior", "prevalence", "label_frequency", "purity", "target")
# What says how limits are made.
LIMITS = ("level", "n_resamples", "variance")
# What evaluate takes and evaluate_cv handles itself.
HANDLED = (
    "y", "score", "weight", "propensity", "seed", "pos_label", "unlabeled_label", "negative_label",
)  # fmt: skip


def evaluate_cv(
    estimator: Any,
    X: Any,  # noqa: N803
    y: Any,
    *,
    cv: Any = 5,
    n_repeats: int = 1,
    groups: Any = None,
    method: Method = "auto",
    align: Align = "auto",
    fit_params: dict[str, Any] | None = None,
    n_jobs: int | None = None,
    seed: int = 0,
    sample_weight: Any = None,
    propensity: Any = None,
    pos_label: Any = 1,
    unlabeled_label: Any = 0,
    negative_label: Any = None,
    **how: Any,
) -> Evaluation:
    """Evaluate a classifier by cross-validation on positive and unlabeled rows.

    In each fold the classifier is fitted on labeled against all other rows (1 against 0,
    whatever their labels are called) and scores the rows of the fold. The scores of all folds
    together are evaluated as by `pueval.evaluate`; without a prior, it is estimated from them.

    Parameters
    ----------
    estimator : classifier
        Anything with scikit-learn's ``fit`` and ``predict_proba`` or ``decision_function``:
        pipelines, searches, LightGBM, XGBoost, pulearn.
    X : array-like of shape (n, …)
        Features.
    y : array-like of shape (n,)
        1 or True for labeled positives, 0 or False for unlabeled rows.
    cv : int, splitter or iterable, default 5
        A number of folds, drawn by `PUStratifiedKFold`; or a splitter or pairs of training and
        test rows that test every row equally often.
    n_repeats : int, default 1
        How often a number of folds is drawn. ``splits`` of the result says how much the
        measures differ between repeats.
    groups : array-like of shape (n,), optional
        Rows of one group are never in training and test at once.
    method : {"auto", "predict_proba", "decision_function"}
        Where scores come from; ``"auto"`` takes the first of the two that exists.
    align : {"auto", "score", "rank"}
        How scores of different folds, which come from different classifiers, are put together.
        ``"score"`` takes them as they are. ``"rank"`` replaces a score by the share of its fold
        that it outscores; a threshold is then such a share. ``"auto"`` takes probabilities as
        they are, and ranks of anything else.
    fit_params : dict, optional
        Passed to ``fit``; arrays as long as ``y`` are cut to the training rows.
    n_jobs : int, optional
        How many folds to fit at once.
    seed : int, default 0
        Of the folds and of the resampling.
    sample_weight, propensity, pos_label, unlabeled_label, negative_label : optional
        As for `pueval.evaluate`; the weights are those of the evaluation, not of the fit.
    **how
        Every other keyword of `pueval.evaluate`: ``prior``, ``prevalence``, ``label_frequency``,
        ``purity``, ``target``, ``threshold``, ``level``, and so on.

    Returns
    -------
    Evaluation
        With ``splits``, which holds each repeat by itself. With several repeats the rates at a
        threshold are means over repeats: each of a row's scores counts 1/n_repeats, and limits
        are those of n rows. They do not include the spread between repeats. (``ranking()``
        needs whole rows, so it works with one repeat only.)

    Warns
    -----
    AssumptionWarning
        As `pueval.evaluate` does, and if the scores of different folds are not on one scale.

    Notes
    -----
    The classifiers are trained on (k − 1)/k of the rows, so that one trained on all rows is a
    little better than this says. Hyperparameters must not have been chosen on the same rows:
    pass the search itself as the estimator.

    References
    ----------
    Forman and Scholz (2010) on pooling the scores of folds.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from pueval.model_selection import evaluate_cv
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(2000, 3))
    >>> positive = X[:, 0] + X[:, 1] + rng.normal(size=2000) > 1
    >>> y = positive & (rng.random(2000) < 0.3)
    >>> ev = evaluate_cv(LogisticRegression(), X, y, label_frequency=0.3, n_repeats=3)
    >>> round(ev["roc_auc"].naive, 2), round(ev["roc_auc"].value, 2)
    (0.83, 0.92)
    >>> ev.splits.standard_deviation["roc_auc"] < 0.01
    True
    """
    _check_keywords(how)
    if align not in ("auto", "score", "rank"):
        raise InputError(f"align must be 'auto', 'score' or 'rank'; got {align!r}.")
    labels = {
        "pos_label": pos_label,
        "unlabeled_label": unlabeled_label,
        "negative_label": negative_label,
    }
    check_same_order({"y": y, "X": X, "groups": groups})
    kind = label_kinds(y, LabelValues(*labels.values()))
    asked = choose_method(estimator, method)
    # Ranks stand for the scores that there are not yet.
    rows = Counts.from_arrays(
        y, np.arange(len(kind)), sample_weight=sample_weight, propensity=propensity, **labels
    )
    _check_values(rows, seed, how)
    ours = y if known_to(cv, labels) else None
    repeats = partitions(X, ours, kind, groups, cv=cv, n_repeats=n_repeats, seed=seed)
    rank = align == "rank" or (align == "auto" and asked != "predict_proba")
    scores: list[Array] = []
    notes: list[str] = []
    for folds in repeats:
        score = fold_scores(
            estimator, X, kind == 0, folds, method=asked, fit_params=fit_params, n_jobs=n_jobs
        )
        if rank:
            score = ranks_in_folds(score, kind, folds, sample_weight)
        elif not notes:
            notes += _scale_note(misaligned(score, kind, folds))
        scores.append(score)
    counts = [
        Counts.from_arrays(y, score, sample_weight=sample_weight, propensity=propensity, **labels)
        for score in scores
    ]
    with warnings.catch_warnings():
        # They are said below, as if by this function.
        warnings.simplefilter("ignore", AssumptionWarning)
        ev = evaluate(average_counts(counts), seed=seed, **how)
        each: list[Evaluation | None] = [ev]
        if len(counts) > 1:
            each = [_alone(ev, one, how) for one in counts]
    notes += _lost_note(each)
    fold = np.array([fold_numbers(folds, len(kind)) for folds in repeats])
    ev = replace(
        ev,
        warnings=(*notes, *ev.warnings),
        splits=_splits(ev, each, np.array(scores), fold),
    )
    for note in ev.warnings:
        warnings.warn(note, AssumptionWarning, stacklevel=2)
    return ev


def _check_keywords(how: dict[str, Any]) -> None:
    """Refuse what evaluate does not know before any model is fitted."""
    known = [name for name in inspect.signature(evaluate).parameters if name not in HANDLED]
    strange = [name for name in how if name not in known]
    if strange:
        raise TypeError(
            f"evaluate_cv() got an unexpected keyword {strange[0]!r}. Besides its own it takes "
            f"{', '.join(known)}."
        )


def _check_values(rows: Counts, seed: int, how: dict[str, Any]) -> None:
    """Refuse values that evaluate would refuse, whatever the scores, before a model is fitted."""
    rows._check_nonempty()
    target = how.get("target", "population")
    check_options(target, seed=seed, **{name: how[name] for name in LIMITS if name in how})
    if how.get("threshold") is not None:
        check_threshold(how["threshold"])
    given = {name: how.get(name) for name in ("prior", "prevalence", "label_frequency")}
    if any(value is not None for value in given.values()):
        resolve_assumptions(rows, target, how.get("purity", 1.0), **given)


def _alone(ev: Evaluation, counts: Counts, how: dict[str, Any]) -> Evaluation | None:
    """Evaluate one repeat at the common threshold; None if its prior cannot be estimated."""
    assumed = {name: how[name] for name in ASSUMED if name in how}
    try:
        return evaluate(counts, threshold=ev.threshold, level=None, **assumed)
    except InputError:
        if ev.prior_estimate is None:
            raise
        return None


def _splits(ev: Evaluation, each: list[Evaluation | None], score: Array, fold: Array) -> Splits:
    def collect(kind: str, name: str) -> Array:
        return np.array([np.nan if one is None else getattr(one[name], kind) for one in each])

    mixtures = [None if one is None else one.mixture for one in each]
    return Splits(
        {name: collect("value", name) for name in ev},
        {name: collect("naive", name) for name in ev},
        np.array([np.nan if mixture is None else mixture.prior for mixture in mixtures]),
        np.array([np.nan if mixture is None else mixture.purity for mixture in mixtures]),
        score,
        fold,
    )


def _scale_note(found: tuple[float, float] | None) -> list[str]:
    if found is None:
        return []
    within, pooled = found
    note = (
        "the scores of different folds are not on one scale: labeled rows outscore others with an "
        f"AUC of {within:.3f} within folds, but {pooled:.3f} over all. Say align='rank' to compare "
        "ranks within folds instead."
    )
    return [note]


def _lost_note(each: list[Evaluation | None]) -> list[str]:
    lost = sum(one is None for one in each)
    note = (
        f"the prior could not be estimated from {lost} of {len(each)} repeats alone; their "
        "values in splits are missing."
    )
    return [note] if lost else []
