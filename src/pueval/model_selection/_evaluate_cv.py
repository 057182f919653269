"""evaluate_cv(): train and evaluate a classifier by cross-validation."""

from __future__ import annotations

import inspect
from dataclasses import replace
from typing import Any, cast, get_args

import numpy as np

from pueval._checks import check_choice, choose_score_method
from pueval._typing import Array
from pueval.audit_estimates.audited_rows import AuditedRows, audited_purity
from pueval.audit_estimates.labeling_model import Labeling
from pueval.core.prior_line import KnownShare
from pueval.counts.arguments import check_threshold
from pueval.counts.counts import Counts
from pueval.counts.design_effect import with_design_effect
from pueval.errors import InputError, warn_caller
from pueval.evaluation.assumptions import check_known_share, resolve_assumptions
from pueval.evaluation.evaluate import (
    evaluate,
    evaluate_audited,
    evaluate_counts,
    refuse_audit_options,
)
from pueval.evaluation.evaluation import Evaluation
from pueval.model_selection._folds import read_groups
from pueval.model_selection._out_of_fold import (
    Align,
    Method,
    average_counts,
    rank_within_folds,
    scale_warnings,
    score_out_of_fold,
)
from pueval.model_selection._partitions import (
    Partition,
    number_folds,
    partition_rows,
    splitter_knows_labels,
)
from pueval.model_selection._splits import Splits
from pueval.model_selection._training_dependence import reduce_partition, training_design_effect
from pueval.sources.arrays import check_same_order, label_kinds
from pueval.sources.group_codes import encode_groups
from pueval.sources.labels import LabelValues
from pueval.uncertainty.intervals import check_options

# Options of evaluate that also apply to a single repeat.
ASSUMPTION_OPTIONS = ("prior", "prevalence", "label_frequency", "purity", "target")
# Options of evaluate for the intervals.
INTERVAL_OPTIONS = ("level", "n_resamples", "variance")
# Parameters of evaluate that evaluate_cv handles itself.
OWN_PARAMETERS = (
    "y", "score", "sample_weight", "propensity", "cluster", "seed",
    "audited", "audit_probability", "labeling", "pos_label", "unlabeled_label", "negative_label",
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
    training_variance: bool = True,
    sample_weight: Any = None,
    propensity: Any = None,
    cluster: Any = None,
    audited: Any = None,
    audit_probability: Any = None,
    labeling: Labeling = "smooth",
    pos_label: Any = 1,
    unlabeled_label: Any = 0,
    negative_label: Any = None,
    **options: Any,
) -> Evaluation:
    """Evaluate a classifier by cross-validation on positive and unlabeled rows.

    For each fold, the classifier is fitted on the other folds, labeled (1) against all other
    rows (0), and scores the rows of the fold. The out-of-fold scores of all rows are then evaluated
    as by `pueval.evaluate`. If you do not give the prior, it is estimated from these scores.

    Parameters
    ----------
    estimator : classifier
        Classifier with scikit-learn's ``fit`` and ``predict_proba`` or ``decision_function``, such
        as a pipeline, a search, or a model from LightGBM, XGBoost or pulearn.
    X : array-like of shape (n, …)
        Features.
    y : array-like of shape (n,)
        Labels: 1 or True for labeled positives, 0 or False for unlabeled rows.
    cv : int, splitter or iterable, default 5
        Number of folds for `PUStratifiedKFold`, at least 2; or a splitter or list of pairs of
        training and test rows that tests all rows equally often.
    n_repeats : int, default 1
        Number of repeats with new random folds, if ``cv`` is a number. ``splits`` of the result
        shows how much the measures vary between repeats.
    groups : array-like of shape (n,), optional
        Group of each row. Rows of the same group are never in both training and test. By default
        these are the clusters, if you give them. Groups alone do not change intervals: for rows
        that resemble each other, pass ``cluster``.
    method : {"auto", "predict_proba", "decision_function"}, default "auto"
        Method that gives the scores; ``"auto"`` uses the first of the two that exists.
    align : {"auto", "score", "rank"}, default "auto"
        How to combine scores of different folds, which come from different classifiers.
        ``"score"`` pools them as they are. ``"rank"`` replaces each score by the share of its fold
        that it outscores; thresholds are then shares, too. ``"auto"`` uses ``"score"`` for
        probabilities and ``"rank"`` otherwise.
    fit_params : dict, optional
        Parameters for ``fit``; arrays as long as ``y`` are restricted to the training rows.
    n_jobs : int, optional
        Number of folds to fit in parallel.
    seed : int, default 0
        Random seed for the folds and the resampling.
    training_variance : bool, default True
        Whether intervals allow for folds that train on each other's rows. This takes about twice
        as many additional fits as there are folds, on fewer rows. Without it, intervals are too
        narrow, unless the classifier hardly depends on single rows.
    sample_weight, propensity, pos_label, unlabeled_label, negative_label : optional
        See `pueval.evaluate`. Weights apply to the evaluation, not to the fit.
    cluster : array-like of shape (n,), optional
        Clusters of rows that belong together, as for `pueval.evaluate`: for the intervals, and as
        ``groups`` of the folds.
    audited, audit_probability, labeling : optional
        Results of checking some rows, as for `pueval.evaluate`. The classifier is not trained on
        them. Needs ``n_repeats=1``.
    **options
        Other keyword arguments of `pueval.evaluate`, such as ``prior``, ``prevalence``,
        ``label_frequency``, ``purity``, ``target``, ``threshold`` and ``level``.

    Returns
    -------
    Evaluation
        Evaluation whose ``splits`` holds the results of each repeat. With several repeats, rates
        are means over repeats: each score of a row has weight 1/n_repeats, and intervals are those
        of n rows. ``ranking()`` requires whole rows, so it only works with one repeat.

    Warns
    -----
    AssumptionWarning
        As for `pueval.evaluate`; if scores of different folds are on different scales; and if there
        are groups of rows but no clusters, or clusters with rows in several groups.

    Notes
    -----
    Intervals cover the mean performance, in the population, of the classifiers that were fitted
    (one per fold and repeat): rates are means over classifiers, and other measures follow from
    these rates. They do not cover the performance of the same method on another training sample.

    Each row helps to train the classifiers that score the other folds, so out-of-fold scores are
    not independent. Let g(i, j) be the effect of training with row j on the placement of row i.
    The variance of independent rows lacks the covariance of g(i, j) and g(j, i), which is at most
    the variance of g. We measure the latter by removing neighboring folds from the training rows.
    The factor by which it increases the variance of the AUC is ``splits.design_effect``. The
    intervals of all measures are those of so many times fewer rows. The interval of an estimated
    prior, and intervals with ``variance="labeling"``, are not widened.

    Each classifier is trained on (k − 1)/k of the rows, so a classifier trained on all rows is
    slightly better than the evaluation suggests. Do not choose hyperparameters on the same rows
    beforehand; pass the search itself as the estimator.

    References
    ----------
    Forman and Scholz (2010) on pooling the scores of folds; LeDell, Petersen and van der Laan
    (2015) on the mean AUC of the fitted classifiers; Bates, Hastie and Tibshirani (2024) on the
    dependence between folds.

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
    _check_keywords(options)
    check_choice("align", align, get_args(Align))
    labels = {
        "pos_label": pos_label,
        "unlabeled_label": unlabeled_label,
        "negative_label": negative_label,
    }
    check_same_order({"y": y, "X": X, "groups": groups})
    kind = label_kinds(y, LabelValues(*labels.values()))
    messages = _check_groups(groups, cluster, len(kind), options)

    def count_rows(score: Array) -> Counts:
        return Counts.from_arrays(
            y, score, sample_weight=sample_weight, propensity=propensity, cluster=cluster, **labels
        )

    def read_audit(score: Array) -> AuditedRows:
        return AuditedRows.read(
            y,
            score,
            audited,
            audit_probability,
            labels=LabelValues(*labels.values()),
            sample_weight=sample_weight,
        )

    if audited is None:
        refuse_audit_options(audit_probability, labeling)
    elif n_repeats > 1:
        raise InputError(
            f"audited needs n_repeats=1: an audited row has one score then; got {n_repeats}."
        )
    else:
        # Check the audit before fitting, too.
        count_rows(np.arange(len(kind)))._refuse_clusters("the uncertainty of an audit")
        audited_purity(read_audit(np.arange(len(kind))), options.get("purity", 1.0))
    advice = "wrap it, for example in CalibratedClassifierCV"
    score_method = choose_score_method(estimator, "method", method, advice)
    # Check all arguments before fitting; row numbers take the place of the scores.
    _check_values(count_rows(np.arange(len(kind))), seed, options)
    splitter_labels = y if splitter_knows_labels(cv, labels) else None
    repeats = partition_rows(
        X,
        splitter_labels,
        kind,
        cluster if groups is None else groups,
        cv=cv,
        n_repeats=n_repeats,
        seed=seed,
        names_of="cluster" if groups is None else "groups",
    )
    rank = align == "rank" or (align == "auto" and score_method != "predict_proba")
    labeled = kind == 0

    def score_rows(folds: Partition) -> Array:
        score = score_out_of_fold(
            estimator, X, labeled, folds, method=score_method, fit_params=fit_params, n_jobs=n_jobs
        )
        return rank_within_folds(score, kind, folds, sample_weight) if rank else score

    scores: list[Array] = []
    scales: list[str] = []
    for folds in repeats:
        score = score_rows(folds)
        if not rank and not scales:
            scales += scale_warnings(score, kind, folds)
        scores.append(score)
    messages += scales
    design_effect = 1.0
    sampling = options.get("variance", "sampling") == "sampling"
    if training_variance and sampling and options.get("level", 0.95) is not None:
        try:
            reduced = [score_rows(part) for part in reduce_partition(repeats[0], labeled, seed)]
        except ValueError as error:
            messages.append(
                "intervals do not allow for folds that train on each other's rows, because the "
                f"classifier could not be fitted without a part of them: {error}"
            )
        else:
            every = (scores[0], reduced[0], reduced[1], reduced[2])
            design_effect = training_design_effect(every, repeats[0], labeled, sample_weight)
    counts = [count_rows(score) for score in scores]
    average = average_counts(counts)
    if audited is None:
        interval_counts = with_design_effect(average, design_effect)
        ev = evaluate_counts(average, seed=seed, interval_counts=interval_counts, **options)
    else:
        rows = read_audit(scores[0])
        ev = evaluate_audited(
            average, rows, labeling=labeling, seed=seed, design_effect=design_effect, **options
        )
    by_repeat: list[Evaluation | None] = [ev]
    if len(counts) > 1:
        by_repeat = [_evaluate_repeat(ev, repeat, options) for repeat in counts]
    n_missing = by_repeat.count(None)
    if n_missing:
        messages.append(
            f"the prior could not be estimated from {n_missing} of {len(by_repeat)} repeats; their "
            "values in splits are NaN."
        )
    fold = np.array([number_folds(folds, len(kind)) for folds in repeats])
    ev = replace(
        ev,
        warnings=(*messages, *ev.warnings),
        splits=_collect_splits(ev, by_repeat, np.array(scores), fold, design_effect),
    )
    for message in ev.warnings:
        warn_caller(message)
    return ev


def _check_groups(groups: Any, cluster: Any, rows: int, options: dict[str, Any]) -> list[str]:
    """Refuse groups and clusters that are no columns; return what is wrong with them together."""
    group = None if groups is None else read_groups(groups, rows).code
    if isinstance(cluster, list | tuple) and len(cluster) == 2 and rows != 2:
        if group is None:
            raise InputError(
                "two-way clusters need groups: the column whose rows are never in both training "
                "and test."
            )
        return []
    clusters = None if cluster is None else encode_groups(cluster, rows, "cluster")
    if group is None:
        return []
    if clusters is None:
        if options.get("level", 0.95) is None or np.unique(group).size == rows:
            return []
        message = (
            "intervals treat rows as independent, although groups keep some of them together. If "
            "the rows of a group resemble each other, pass cluster instead of groups."
        )
        return [message]
    group_of_cluster = np.zeros(len(clusters.names), dtype=np.intp)
    group_of_cluster[clusters.code] = group
    divided = np.unique(clusters.code[group_of_cluster[clusters.code] != group])
    if not divided.size:
        return []
    message = (
        f"{divided.size:,} clusters, such as {clusters.names[divided[0]]!r}, have rows in several "
        "groups, so classifiers score clusters that they were trained on. New clusters can be "
        "harder. Omit groups to keep clusters together."
    )
    return [message]


def _check_keywords(options: dict[str, Any]) -> None:
    """Refuse unexpected arguments before any model is fitted."""
    accepted = [
        name for name in inspect.signature(evaluate).parameters if name not in OWN_PARAMETERS
    ]
    unexpected = [name for name in options if name not in accepted]
    if unexpected:
        raise TypeError(
            f"evaluate_cv() got an unexpected keyword argument {unexpected[0]!r}. In addition to "
            f"its own, it accepts {', '.join(accepted)}."
        )


def _check_values(unscored: Counts, seed: int, options: dict[str, Any]) -> None:
    """Refuse values that evaluate would refuse, before any model is fitted."""
    unscored._check_nonempty()
    target = options.get("target", "population")
    interval_options = {name: options[name] for name in INTERVAL_OPTIONS if name in options}
    check_options(target, seed=seed, **interval_options)
    if options.get("threshold") is not None:
        check_threshold(options["threshold"])
    shares: dict[str, Any] = {
        name: options.get(name) for name in ("prior", "prevalence", "label_frequency")
    }
    given = {name: value for name, value in shares.items() if value is not None}
    purity = options.get("purity", 1.0)
    if len(given) == 1 and purity == "estimate" and unscored.n_unlabeled:
        ((name, value),) = given.items()
        check_known_share(unscored, target, cast("KnownShare", name), value)
    elif given:
        resolve_assumptions(unscored, target, purity, **shares)


def _evaluate_repeat(ev: Evaluation, counts: Counts, options: dict[str, Any]) -> Evaluation | None:
    """Evaluate one repeat at the common threshold; None if its prior cannot be estimated."""
    assumptions = {name: options[name] for name in ASSUMPTION_OPTIONS if name in options}
    try:
        return evaluate_counts(counts, threshold=ev.threshold, level=None, **assumptions)
    except InputError:
        if ev.prior_estimate is None:
            raise
        return None


def _collect_splits(
    ev: Evaluation, by_repeat: list[Evaluation | None], score: Array, fold: Array, effect: float
) -> Splits:
    def collect(attribute: str, name: str) -> Array:
        return np.array(
            [np.nan if repeat is None else getattr(repeat[name], attribute) for repeat in by_repeat]
        )

    values, naive = ({name: collect(kind, name) for name in ev} for kind in ("value", "naive"))
    mixtures = [None if repeat is None else repeat.mixture for repeat in by_repeat]
    prior = np.array([np.nan if mixture is None else mixture.prior for mixture in mixtures])
    purity = np.array([np.nan if mixture is None else mixture.purity for mixture in mixtures])
    return Splits(values, naive, prior, purity, score, fold, effect)
