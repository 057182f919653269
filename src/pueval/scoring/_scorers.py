"""Scorers for scikit-learn, made from a measure and the assumptions of the correction."""

from __future__ import annotations

import math
from collections.abc import Callable
from numbers import Real
from typing import Any, Literal, get_args

from pueval._checks import check_choice
from pueval._typing import Target
from pueval.audit_estimates.labeling_model import Labeling
from pueval.core.measures import AREAS, MEASURES, Measure, find_measure, unknown_measure_error
from pueval.core.mixture import Mixture, check_target
from pueval.errors import InputError
from pueval.families.field_measures import (
    ORDERING_MEASURES,
    find_ordering_measure,
    needs_prior,
    needs_probabilities,
)
from pueval.families.presence_family import F_PB, F_PB_MEASURE, BoyceMeasure
from pueval.scoring._score_function import PRIOR_FREE, ScoreFunction
from pueval.sources.labels import LabelValues

ResponseMethod = str | tuple[str, ...]
# For rankings, raw scores are better: probabilities near 0 and 1 may be rounded to ties.
RANKING_METHODS: ResponseMethod = ("decision_function", "predict_proba")
# A given threshold is more likely one of a probability.
THRESHOLD_METHODS: ResponseMethod = ("predict_proba", "decision_function")
_NEGATED = "neg_"


def make_scorer(
    measure: str | Measure,
    *,
    prior: float | Literal["estimate", "propensity", "audit"] | None = None,
    prevalence: float | None = None,
    label_frequency: float | None = None,
    purity: float | Literal["estimate"] = 1.0,
    target: Target = "population",
    labeling: Labeling = "smooth",
    threshold: float | Literal["best"] | None = None,
    response_method: str | list[str] | tuple[str, ...] = "auto",
    zero_division: float | None = None,
    pos_label: Any = 1,
    unlabeled_label: Any = 0,
    negative_label: Any = None,
) -> Any:
    """Make a scorer from a corrected measure.

    Pass it as ``scoring`` to `~sklearn.model_selection.GridSearchCV`,
    `~sklearn.model_selection.cross_validate`,
    `~sklearn.model_selection.TunedThresholdClassifierCV` and similar, with positive-unlabeled
    labels as ``y``. Assumes random labeling, or that the ``propensity`` of each labeled row or the
    results of an audit (``audited``) are routed to the scorer.

    Parameters
    ----------
    measure : str or Measure
        A name from `get_scorer_names`, ``"f<beta>"`` for any beta, or your own `Measure`, for
        example `cost`. ``"neg_brier_score_loss"`` and other measures of probabilities use
        ``predict_proba``.
    prior : float, "estimate", "propensity" or "audit", optional
        Share of positives among the unlabeled rows, in [0, purity). Exactly one of ``prior``,
        ``prevalence`` and ``label_frequency`` is required, except for ``"pulp"``, ``"lee_liu"``
        and ``"pseudo_f"``, and with clean labels for ``"enrichment_factor"``, ``"rie"``, ``"aul"``
        and presence-only measures, unless there are known negatives and the target is "unlabeled".
        ``"estimate"`` estimates the prior for each fold and candidate, which is noisy and slow, and
        compares candidates at different priors. Rather estimate it once, for example with
        `pueval.model_selection.evaluate_cv`, and pass the number. ``"propensity"`` computes it from
        the propensities routed to the scorer, and ``"audit"`` estimates it from the audited rows
        routed to the scorer.
    prevalence : float, optional
        Share of positives in the target, in (0, 1].
    label_frequency : float, optional
        Share of all positives that are labeled, in (0, 1].
    purity : float or "estimate", default 1.0
        Share of true positives among the labeled rows, in (0, 1]; ``"estimate"`` estimates it for
        each fold and candidate, which is noisy.
    target : {"population", "unlabeled"}, default "population"
        Population to evaluate: all rows, or only the unlabeled rows.
    labeling : {"smooth", "random", "score", "any"}, default "smooth"
        What to assume about labeling, as for `pueval.evaluate`; only with ``prior="audit"``.
    threshold : float or "best", optional
        Threshold of the score, for threshold-based measures; by default they evaluate ``predict``.
        ``"best"`` uses the best value over all thresholds. Tune by it if you choose the threshold
        later, because ``predict`` of a classifier of labeled against unlabeled rows finds too few
        positives.
    response_method : str or sequence of str, default "auto"
        Method of the classifier: ``"predict"``, ``"predict_proba"``, ``"decision_function"``, or
        several, of which the first available one is used. ``"auto"`` uses ``predict`` for
        threshold-based measures without a threshold, and one of the others otherwise.
    zero_division : float, optional
        Value to use if the measure is undefined, such as precision without predicted positives. By
        default 0 if higher is better, and the largest value of the measure otherwise.
    pos_label, unlabeled_label, negative_label : optional
        Values of ``y`` for labeled positives, unlabeled rows and known negatives.

    Returns
    -------
    scorer
        scikit-learn scorer, called as ``scorer(estimator, X, y)``; higher is better. It accepts
        ``sample_weight``, ``propensity``, ``audited`` and ``audit_probability`` as metadata.

    Notes
    -----
    Values are not clipped, so they may be outside the range of the measure in small folds. They are
    averaged and compared, and clipping would bias the mean and make good models tie.

    ``propensity`` is the probability of each labeled row to be labeled. The row then represents
    1/propensity positives, as in `pueval.evaluate`. To use it, enable metadata routing and call
    ``scorer.set_score_request(propensity=True)``.

    ``audited`` and ``audit_probability`` are those of `pueval.evaluate`. The labeling model is
    fitted in each fold and for each candidate, to the audited rows of the fold. A fold needs at
    least 10 audited unlabeled rows, and comparing candidates well takes many more. For one model,
    `pueval.model_selection.evaluate_cv` uses the audited rows of all folds together.

    The ranking of models by corrected AUC does not depend on the prior. The ranking by F1,
    precision or accuracy does.

    References
    ----------
    Jain, White and Radivojac (2017); Ramola, Jain and Radivojac (2019); Tabatabaei, Klein and
    Hoogendoorn (2020) for choosing models by the corrected F1; Bekker, Robberechts and Davis
    (2019) for propensities.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.model_selection import GridSearchCV
    >>> from pueval.scoring import make_scorer
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(600, 5))
    >>> positive = X[:, 0] + rng.normal(size=600) > 1
    >>> y = positive & (rng.random(600) < 0.4)
    >>> scorer = make_scorer("f1", label_frequency=0.4, threshold="best")
    >>> scorer
    make_scorer(f1, response_method=('decision_function', 'predict_proba'), label_frequency=0.4,
    threshold=best)
    >>> search = GridSearchCV(LogisticRegression(), {"C": [1e-3, 1.0]}, scoring=scorer).fit(X, y)
    >>> bool(0.5 < search.best_score_ < 1)
    True
    """
    import sklearn.metrics

    LabelValues(pos_label, unlabeled_label, negative_label)
    check_target(target)
    check_choice("labeling", labeling, get_args(Labeling))
    if isinstance(response_method, list):
        response_method = tuple(response_method)
    chosen, greater_is_better = _resolve_measure(measure)
    ranks = chosen in (*AREAS, *PRIOR_FREE) or find_ordering_measure(chosen) is not None
    method = _choose_response_method(chosen, response_method, threshold, ranks=ranks)
    options = {
        "prior": prior,
        "prevalence": prevalence,
        "label_frequency": label_frequency,
        "purity": purity,
        "target": target,
        "labeling": labeling,
        "threshold": threshold,
        "zero_division": zero_division,
        "pos_label": pos_label,
        "unlabeled_label": unlabeled_label,
        "negative_label": negative_label,
    }
    of_classes = method == "predict"
    if isinstance(chosen, str) and chosen in PRIOR_FREE:
        _check_prior_free(chosen, options)
    else:
        _check_assumptions(chosen, options, of_classes=of_classes)
    return sklearn.metrics.make_scorer(
        ScoreFunction(chosen, of_classes),
        response_method=method,
        greater_is_better=greater_is_better,
        **{name: value for name, value in options.items() if value != _DEFAULTS.get(name)},
    )


_DEFAULTS = {
    "purity": 1.0,
    "target": "population",
    "labeling": "smooth",
    "pos_label": 1,
    "unlabeled_label": 0,
}


def get_scorer_names() -> list[str]:
    """Return the names of all scorers.

    Returns
    -------
    list of str
        Names in alphabetical order. Measures for which lower is better are negated and have the
        prefix ``neg_``. ``f<beta>`` also works for any beta.

    Examples
    --------
    >>> names = get_scorer_names()
    >>> "roc_auc" in names, "pulp" in names, "neg_false_positive_rate" in names
    (True, True, True)
    """
    measures = [
        name if measure.greater_is_better else _NEGATED + name
        for name, measure in (MEASURES | ORDERING_MEASURES | {F_PB: F_PB_MEASURE}).items()
    ]
    return sorted([*AREAS, *PRIOR_FREE, *measures])


def get_scorer(scoring: str | Callable[..., float], **assumptions: Any) -> Any:
    """Return the scorer with a given name.

    Parameters
    ----------
    scoring : str or callable
        A name from `get_scorer_names`; scorers are returned unchanged.
    **assumptions
        Arguments of `make_scorer`, such as prior, prevalence or label_frequency.

    Returns
    -------
    scorer

    Examples
    --------
    >>> from pueval.scoring import get_scorer
    >>> get_scorer("pulp")
    make_scorer(pulp, response_method=('decision_function', 'predict_proba'))
    >>> get_scorer("precision", prior=0.1)
    make_scorer(precision, response_method='predict', prior=0.1)
    """
    if isinstance(scoring, str):
        return make_scorer(scoring, **assumptions)
    if not callable(scoring):
        raise InputError(f"scoring must be a name or a scorer; got {scoring!r}.")
    if assumptions:
        raise InputError(
            f"cannot set {', '.join(assumptions)} of an existing scorer. Pass the name of a "
            "measure instead, or use make_scorer."
        )
    return scoring


def _resolve_measure(measure: str | Measure) -> tuple[str | Measure, bool]:
    """Return the measure, by name if possible, and whether higher is better."""
    if isinstance(measure, Measure):
        # A name is easier to pickle than a formula.
        is_standard = MEASURES.get(measure.name) == measure
        return measure.name if is_standard else measure, measure.greater_is_better
    if measure in AREAS or measure in PRIOR_FREE:
        return measure, True
    negated = isinstance(measure, str) and measure.startswith(_NEGATED)
    bare = measure.removeprefix(_NEGATED) if negated else measure
    of_family = F_PB_MEASURE if bare == F_PB else find_ordering_measure(bare)
    try:
        resolved = of_family or find_measure(bare)
    except (InputError, TypeError):
        raise unknown_measure_error(measure, get_scorer_names()) from None
    if resolved.greater_is_better == negated:
        if negated:
            raise InputError(f"a higher {bare} is better, so do not negate it. Use {bare!r}.")
        raise InputError(
            f"a lower {bare} is better, but scorers must return higher values for better models. "
            f"Use {_NEGATED + bare!r}."
        )
    return bare, not negated


def _choose_response_method(
    measure: str | Measure, requested: ResponseMethod, threshold: object, *, ranks: bool
) -> ResponseMethod:
    """Return the methods of the classifier to use; refuse impossible combinations."""
    name = measure if isinstance(measure, str) else measure.name
    if threshold is not None and threshold != "best":
        if not isinstance(threshold, Real) or math.isnan(threshold):
            raise InputError(f"threshold must be a number or 'best'; got {threshold!r}.")
        if name in AREAS:
            raise InputError(
                f"{name} is an area under a curve and has no threshold. Omit threshold."
            )
        if find_ordering_measure(name) is not None:
            raise InputError(f"{name} needs no threshold. Omit threshold.")
    if threshold == "best" and ranks:
        raise InputError(f"{name} has no best threshold. Omit threshold.")
    valid = {"auto", "predict", "predict_proba", "decision_function"}
    methods = (requested,) if isinstance(requested, str) else requested
    if not methods or not valid.issuperset(methods) or (len(methods) > 1 and "auto" in methods):
        raise InputError(
            "response_method must be 'auto', 'predict', 'predict_proba' or 'decision_function', "
            f"or several of the last three; got {requested!r}."
        )
    if requested == "auto":
        if needs_probabilities(name):
            return "predict_proba"
        if threshold is None:
            return RANKING_METHODS if ranks else "predict"
        return RANKING_METHODS if threshold == "best" else THRESHOLD_METHODS
    needs_scores = name in AREAS or find_ordering_measure(name) is not None
    if "predict" in methods and (len(methods) > 1 or threshold is not None or needs_scores):
        raise InputError(
            f"predict returns classes, but {name} requires scores"
            + ("" if threshold is None else f" with threshold={threshold!r}")
            + ". Use response_method='predict_proba' or 'decision_function'."
        )
    if methods != ("predict",) and threshold is None and not ranks:
        raise InputError(
            f"{name} of scores requires a threshold: a number, or 'best'. Or omit response_method "
            "to evaluate predict."
        )
    return methods[0] if len(methods) == 1 else methods


def _check_prior_free(name: str, options: dict[str, Any]) -> None:
    """Refuse assumptions that a prior-free measure would ignore."""
    ignored = ["prior", "label_frequency", "purity", "target", "labeling", "zero_division"]
    if name != "pseudo_f":
        ignored.append("prevalence")
    unused = [key for key in ignored if options[key] != _DEFAULTS.get(key)]
    if unused:
        raise InputError(
            f"{name} does not use {' or '.join(unused)}; it only depends on the ranking. Omit it."
        )


def _check_assumptions(
    measure: str | Measure, options: dict[str, Any], *, of_classes: bool
) -> None:
    """Refuse missing or impossible assumptions before any model is fitted."""
    name = measure if isinstance(measure, str) else measure.name
    names = ("prior", "prevalence", "label_frequency")
    shares = {key: options[key] for key in names if options[key] is not None}
    purity = options["purity"]
    prior_free = purity == 1 and not needs_prior(name)
    # The false positive rate of the target then follows from the prior and all negatives together.
    has_others = options["target"] == "unlabeled" and options["negative_label"] is not None
    has_others = has_others and not isinstance(find_ordering_measure(name), BoyceMeasure)
    if prior_free and not has_others and not shares:
        return
    if len(shares) != 1:
        reason = " with known negatives outside the target" if prior_free and has_others else ""
        raise InputError(
            f"the scorer for {name}{reason} requires exactly one of prior, prevalence and "
            f"label_frequency; got {' and '.join(shares) or 'none'}. prior='estimate' estimates it "
            "in every fold, prior='propensity' and prior='audit' take it from metadata, and "
            "prior=0 treats unlabeled rows as negative."
        )
    if shares == {"prior": "audit"}:
        if purity != "estimate":
            Mixture(0.0, purity)
        return
    if options["labeling"] != _DEFAULTS["labeling"]:
        raise InputError(f"labeling={options['labeling']!r} requires prior='audit'.")
    if shares == {"prior": "propensity"}:
        if purity != 1 or options["target"] != "population":
            raise InputError("prior='propensity' requires purity=1 and target='population'.")
        return
    if shares == {"prior": "estimate"}:
        if of_classes:
            raise InputError(
                f"prior='estimate' requires scores, but {name} uses predicted classes. Give the "
                "prior as a number, for example estimated by evaluate_cv, or give a threshold."
            )
        if purity != "estimate":
            Mixture(0.0, purity)
        return
    if purity == "estimate" and of_classes:
        raise InputError(
            f"purity='estimate' requires scores, but {name} uses predicted classes. Give the "
            "purity as a number, for example estimated by evaluate_cv, or give a threshold."
        )
    largest_purity = 1.0 if purity == "estimate" else purity
    Mixture(0.0, largest_purity)
    ((key, value),) = shares.items()
    if key == "prior":
        Mixture(value, largest_purity)
    elif not isinstance(value, Real) or not 0 < float(value) <= 1:
        raise InputError(f"{key} must be a number in (0, 1]; got {value!r}.")
