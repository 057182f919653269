"""Scorers: made of a measure's name and what is assumed, or found by name."""

from __future__ import annotations

import math
from collections.abc import Callable
from numbers import Real
from typing import Any, Literal

from pueval._typing import Target
from pueval.core.measures import AREAS, MEASURES, Measure, find_measure, unknown_measure_error
from pueval.core.mixture import Mixture, check_target
from pueval.errors import InputError
from pueval.scoring._score_function import RANKINGS, ScoreFunction
from pueval.sources.labels import LabelValues

ResponseMethod = str | tuple[str, ...]
# For an order of rows the raw score is best: probabilities near 0 and 1 may be rounded together.
RANKED: ResponseMethod = ("decision_function", "predict_proba")
# A threshold that somebody chose is more likely one of a probability.
CUT: ResponseMethod = ("predict_proba", "decision_function")
_NEGATED = "neg_"


def make_scorer(
    measure: str | Measure,
    *,
    prior: float | Literal["estimate", "propensity"] | None = None,
    prevalence: float | None = None,
    label_frequency: float | None = None,
    purity: float | Literal["estimate"] = 1.0,
    target: Target = "population",
    threshold: float | Literal["best"] | None = None,
    response_method: str | list[str] | tuple[str, ...] = "auto",
    zero_division: float | None = None,
    pos_label: Any = 1,
    unlabeled_label: Any = 0,
    negative_label: Any = None,
) -> Any:
    """Make a scorer of a corrected measure.

    Use it as ``scoring=`` of `~sklearn.model_selection.GridSearchCV`,
    `~sklearn.model_selection.cross_validate`,
    `~sklearn.model_selection.TunedThresholdClassifierCV` and the like. The ``y`` given to these
    is the positive-unlabeled label. Assumes that labeled positives are a random draw from the
    positives, or that the ``propensity`` of each labeled row is routed to the scorer.

    Parameters
    ----------
    measure : str or Measure
        A name of `get_scorer_names`, or ``"f<beta>"`` for any beta; or a `pueval.measures.Measure`
        of your own, for example one of costs.
    prior : float, "estimate" or "propensity", optional
        Share of positives among the unlabeled rows. One of ``prior``, ``prevalence`` and
        ``label_frequency`` is needed, except for ``"pulp"``, ``"lee_liu"`` and ``"pseudo_f"``.
        ``"estimate"`` estimates it anew from the scores of every fold and every candidate, which
        is noisy, slow, and judges candidates by different priors: better estimate it once,
        for example with `pueval.model_selection.evaluate_cv`, and give the number.
        ``"propensity"`` has it follow from the propensities that are routed to the scorer.
    prevalence : float, optional
        Share of positives in the target.
    label_frequency : float, optional
        Share of all positives that are labeled.
    purity : float or "estimate", default 1.0
        Share of true positives among the labeled rows; ``"estimate"`` only with
        ``prior="estimate"``.
    target : {"population", "unlabeled"}
        Whose performance: of all rows, or of the unlabeled ones alone.
    threshold : float or "best", optional
        For measures of a contingency table: by default they are those of ``predict``. A number is
        a threshold of the score instead. ``"best"`` takes the best value over all thresholds,
        which is what to tune by if the threshold is going to be chosen later: ``predict`` of a
        classifier of labeled against unlabeled rows finds too few positives.
    response_method : str or sequence of str, default "auto"
        Which method of the classifier is asked: ``"predict"``, ``"predict_proba"``,
        ``"decision_function"``, or several, of which the first that it has is taken. ``"auto"``
        asks ``predict`` for measures of a contingency table without a threshold, and else
        either of the others.
    zero_division : float, optional
        Value where the measure is undefined, as precision is if nothing is predicted
        positive. By default 0 if a high value is good, and else the largest value.
    pos_label, unlabeled_label, negative_label : optional
        Values of ``y`` for labeled, unlabeled and known negative rows.

    Returns
    -------
    scorer
        A scikit-learn scorer, called as ``scorer(estimator, X, y)``; a higher value is better.
        It accepts ``sample_weight`` and ``propensity`` as metadata.

    Notes
    -----
    Values are not clipped, and may leave the range of the measure in a small fold: they are
    going to be averaged and compared, and clipping would bias the mean and make good models tie.

    ``propensity`` is, for each labeled row, the chance that a positive like it gets labeled; the
    row then stands for 1/propensity positives, as in `pueval.evaluate`. To pass it, switch metadata
    routing on and say ``scorer.set_score_request(propensity=True)``.

    The corrected AUC orders models in the same way whatever the prior. F1, precision, accuracy
    and the like do not.

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
    if isinstance(response_method, list):
        response_method = tuple(response_method)
    chosen, greater_is_better = _find(measure)
    ranks = isinstance(chosen, str) and (chosen in AREAS or chosen in RANKINGS)
    asked = _response(chosen, response_method, threshold, ranks=ranks)
    given = {
        "prior": prior,
        "prevalence": prevalence,
        "label_frequency": label_frequency,
        "purity": purity,
        "target": target,
        "threshold": threshold,
        "zero_division": zero_division,
        "pos_label": pos_label,
        "unlabeled_label": unlabeled_label,
        "negative_label": negative_label,
    }
    of_classes = asked == "predict"
    if isinstance(chosen, str) and chosen in RANKINGS:
        _check_ranking(chosen, given)
    else:
        _check_assumptions(chosen, given, of_classes=of_classes)
    return sklearn.metrics.make_scorer(
        ScoreFunction(chosen, of_classes),
        response_method=asked,
        greater_is_better=greater_is_better,
        **{name: value for name, value in given.items() if value != _DEFAULTS.get(name)},
    )


_DEFAULTS = {"purity": 1.0, "target": "population", "pos_label": 1, "unlabeled_label": 0}


def get_scorer_names() -> list[str]:
    """Return the names of all scorers.

    Returns
    -------
    list of str
        In alphabetical order. Measures of which a low value is good have their sign changed and
        ``neg_`` before their name. ``f<beta>`` is understood for any beta, too.

    Examples
    --------
    >>> names = get_scorer_names()
    >>> "roc_auc" in names, "pulp" in names, "neg_false_positive_rate" in names
    (True, True, True)
    """
    measures = [
        name if measure.greater_is_better else _NEGATED + name for name, measure in MEASURES.items()
    ]
    return sorted([*AREAS, *RANKINGS, *measures])


def get_scorer(scoring: str | Callable[..., float], **assumptions: Any) -> Any:
    """Look a scorer up by name.

    Parameters
    ----------
    scoring : str or callable
        A name of `get_scorer_names`; a scorer is returned as it is.
    **assumptions
        As for `make_scorer`: prior, prevalence or label_frequency, and whatever else.

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
            f"{', '.join(assumptions)} cannot be given to a scorer that is made already. "
            "Give the name of a measure instead, or give them to make_scorer."
        )
    return scoring


def _find(measure: str | Measure) -> tuple[str | Measure, bool]:
    """Return what is to be computed, and whether high values of it are good."""
    if isinstance(measure, Measure):
        # A name is easier to pickle than a formula.
        known = MEASURES.get(measure.name) == measure
        return measure.name if known else measure, measure.greater_is_better
    if measure in AREAS or measure in RANKINGS:
        return measure, True
    negated = isinstance(measure, str) and measure.startswith(_NEGATED)
    bare = measure.removeprefix(_NEGATED) if negated else measure
    try:
        found = find_measure(bare)
    except InputError:
        raise unknown_measure_error(measure, get_scorer_names()) from None
    if found.greater_is_better == negated:
        right = bare if negated else _NEGATED + bare
        kind = "high" if negated else "low"
        raise InputError(
            f"{bare} is good if it is {kind}, and scorers return numbers of which a high one is "
            f"good: the scorer is called {right!r}."
        )
    return bare, found.greater_is_better


def _response(
    measure: str | Measure,
    asked: ResponseMethod,
    threshold: object,
    *,
    ranks: bool,
) -> ResponseMethod:
    """Return the methods of a classifier to ask; refuse combinations that make no sense."""
    name = measure if isinstance(measure, str) else measure.name
    if threshold is not None and threshold != "best":
        if not isinstance(threshold, Real) or math.isnan(threshold):
            raise InputError(f"threshold must be a number or 'best'; got {threshold!r}.")
        if name in AREAS:
            raise InputError(f"{name} is an area under a curve and has no threshold.")
    if threshold == "best" and ranks:
        raise InputError(f"{name} has no best threshold; leave threshold out.")
    known = {"auto", "predict", "predict_proba", "decision_function"}
    methods = (asked,) if isinstance(asked, str) else asked
    if not methods or not known.issuperset(methods) or (len(methods) > 1 and "auto" in methods):
        raise InputError(
            "response_method must be 'auto', 'predict', 'predict_proba' or 'decision_function', "
            f"or several of the last three; got {asked!r}."
        )
    if asked == "auto":
        if threshold is None:
            return RANKED if ranks else "predict"
        return RANKED if threshold == "best" else CUT
    if "predict" in methods and (len(methods) > 1 or threshold is not None or name in AREAS):
        raise InputError(
            f"predict gives classes, and {name} needs scores here"
            + ("" if threshold is None else f" for threshold={threshold!r}")
            + ". Ask predict_proba or decision_function."
        )
    if methods != ("predict",) and threshold is None and not ranks:
        raise InputError(
            f"{name} of scores needs a threshold: a number, or 'best' for the best of all. "
            "Or leave response_method out to judge what predict says."
        )
    return methods[0] if len(methods) == 1 else methods


def _check_ranking(name: str, given: dict[str, Any]) -> None:
    """Refuse assumptions that a measure of rankings has no use for."""
    useless = [
        key
        for key in (
            "prior",
            "label_frequency",
            "purity",
            "target",
            "zero_division",
            *(() if name == "pseudo_f" else ("prevalence",)),
        )
        if given[key] != _DEFAULTS.get(key)
    ]
    if useless:
        raise InputError(
            f"{name} needs no {' or '.join(useless)}: it looks at the ranking only. Leave it out."
        )


def _check_assumptions(measure: str | Measure, given: dict[str, Any], *, of_classes: bool) -> None:
    """Refuse missing or impossible assumptions before any model is fitted."""
    name = measure if isinstance(measure, str) else measure.name
    shares = {k: given[k] for k in ("prior", "prevalence", "label_frequency")}
    shares = {k: value for k, value in shares.items() if value is not None}
    purity = given["purity"]
    if len(shares) != 1:
        raise InputError(
            f"the scorer of {name} needs exactly one of prior, prevalence and label_frequency; got "
            f"{' and '.join(shares) or 'none'}. prior='estimate' estimates it in every fold; "
            "prior='propensity' has it follow from propensities; prior=0 counts unlabeled rows as "
            "negative."
        )
    if shares == {"prior": "propensity"}:
        if purity != 1 or given["target"] != "population":
            raise InputError("propensities are for purity=1 and target='population'.")
        return
    if shares == {"prior": "estimate"}:
        if of_classes:
            raise InputError(
                f"prior='estimate' needs scores, and {name} is computed from predicted classes. "
                "Give the prior as a number, for example as estimated by evaluate_cv; or give a "
                "threshold."
            )
        if purity != "estimate":
            Mixture(0.0, purity)
        return
    if purity == "estimate":
        raise InputError("purity can be estimated together with the prior only: prior='estimate'.")
    Mixture(0.0, purity)
    ((key, value),) = shares.items()
    if key == "prior":
        Mixture(value, purity)
    elif not isinstance(value, Real) or not 0 < float(value) <= 1:
        raise InputError(f"{key} must be a number in (0, 1]; got {value!r}.")
