"""Constructors that displays share: from an evaluation, from labels and scores, from a model."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any, ClassVar

from pueval.displays._classifier_scores import classifier_scores
from pueval.displays._display import Display
from pueval.displays._legends import check_name, legend_entry
from pueval.errors import warn_caller
from pueval.evaluation.evaluate import evaluate, evaluate_rows

if TYPE_CHECKING:
    from typing import Self

    from pueval.evaluation.evaluation import Evaluation

_CONSTRUCTORS = ("from_evaluation", "from_predictions", "from_estimator")


class EvaluationDisplay(Display):
    """Base of the displays of an evaluation.

    A display has ``compute(ev, …)``, which computes the plotted data without drawing, and
    ``plot(ax, …)``, which draws them. The constructors below pass their keywords on to `evaluate`,
    ``compute`` and ``plot``, and list all of them in their signatures.
    """

    compute: ClassVar[Callable[..., Any]]
    plot: Callable[..., Any]

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        for name in _CONSTRUCTORS if hasattr(cls, "compute") else ():
            if name not in vars(cls):
                constructor = getattr(EvaluationDisplay, name).__func__
                setattr(cls, name, classmethod(_with_full_signature(cls, constructor)))

    @classmethod
    def from_evaluation(cls, ev: Evaluation, *, ax: Any = None, **options: Any) -> Self:
        """Plot an evaluation.

        Parameters
        ----------
        ev : Evaluation
            Result of `pueval.evaluate`.
        ax : matplotlib Axes, optional
            Axes to draw on; by default those of a new figure.
        **options
            Keywords of ``compute`` and ``plot``.

        Returns
        -------
        display
            The display, with its artists.
        """
        compute_options, plot_options = split_keywords(options, cls.compute)
        display: Self = cls.compute(ev, **compute_options).plot(ax, **plot_options)
        return display

    @classmethod
    def from_predictions(cls, y: Any, score: Any = None, *, ax: Any = None, **options: Any) -> Self:
        """Evaluate labels and scores, and plot the result.

        Parameters
        ----------
        y : array-like or Counts
            Labels: 1 or True for labeled positives, 0 or False for unlabeled rows. Alternatively
            Counts, without ``score``.
        score : array-like
            Out-of-fold scores of the classifier.
        ax : matplotlib Axes, optional
            Axes to draw on; by default those of a new figure.
        **options
            Keywords of `pueval.evaluate` (such as ``prior``), ``compute`` and ``plot``.

        Returns
        -------
        display
            The display, with its artists.
        """
        evaluate_options, display_options = split_keywords(options, evaluate)
        ev = evaluate_for_caller(y, score, evaluate_options)
        return cls.from_evaluation(ev, ax=ax, **display_options)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,  # noqa: N803 - scikit-learn's name
        y: Any,
        *,
        response_method: str = "auto",
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Score rows with a fitted classifier, evaluate the scores, and plot the result.

        Parameters
        ----------
        estimator : classifier
            Fitted scikit-learn classifier, or a pipeline that ends in one.
        X : array-like
            Rows that the classifier was not trained on.
        y : array-like
            Labels: 1 or True for labeled positives, 0 or False for unlabeled rows.
        response_method : {"auto", "predict_proba", "decision_function"}
            Method that gives the scores; ``"auto"`` uses the first that the classifier has.
        ax : matplotlib Axes, optional
            Axes to draw on; by default those of a new figure.
        **options
            Keywords of `pueval.evaluate` (such as ``prior``), ``compute`` and ``plot``. ``name``
            defaults to the name of the classifier's class.

        Returns
        -------
        display
            The display, with its artists.
        """
        evaluate_options, display_options = split_keywords(options, evaluate)
        pos_label = evaluate_options.get("pos_label", 1)
        score = classifier_scores(estimator, X, response_method, pos_label)
        if "name" in inspect.signature(cls.compute).parameters:
            display_options.setdefault("name", type(estimator).__name__)
        ev = evaluate_for_caller(y, score, evaluate_options)
        return cls.from_evaluation(ev, ax=ax, **display_options)


@dataclass(eq=False, kw_only=True, repr=False)
class ClassifierDisplay(EvaluationDisplay):
    """Base of the displays that name the classifier in their legend."""

    name: str | None = None

    def __post_init__(self) -> None:
        check_name(self.name)

    def _label(self, description: str) -> str:
        return legend_entry(self.name, description)


def evaluate_for_caller(y: Any, score: Any, options: dict[str, Any]) -> Evaluation:
    """Evaluate, and attribute warnings to the line that called a constructor."""
    ev = evaluate_rows(y, score, **options)
    for warning in ev.warnings:
        warn_caller(warning)
    return ev


def _keyword_parameters(function: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    parameters = inspect.signature(function).parameters.items()
    return {name: parameter for name, parameter in parameters if _is_keyword(parameter)}


def _is_keyword(parameter: inspect.Parameter) -> bool:
    return parameter.kind is inspect.Parameter.KEYWORD_ONLY


def split_keywords(
    options: dict[str, Any], function: Callable[..., Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the keywords of ``function``, and the remaining ones."""
    accepted = _keyword_parameters(function)
    keywords = {name: value for name, value in options.items() if name in accepted}
    return keywords, {name: value for name, value in options.items() if name not in accepted}


def _with_full_signature(
    cls: type[EvaluationDisplay], constructor: Callable[..., Any]
) -> Callable[..., Any]:
    """List every keyword of a constructor in its signature, and reject unknown ones."""
    signature = inspect.signature(constructor)
    parameters = {
        name: parameter
        for name, parameter in signature.parameters.items()
        if parameter.kind is not inspect.Parameter.VAR_KEYWORD
    }
    for source in (evaluate, cls.compute, cls.plot):
        if source is evaluate and constructor.__name__ == "from_evaluation":
            continue
        parameters = _keyword_parameters(source) | parameters
    # Positional parameters come first, and the sort is stable.
    full = signature.replace(parameters=sorted(parameters.values(), key=_is_keyword))

    @wraps(constructor)
    def checked(*args: Any, **kwargs: Any) -> Any:
        full.bind(*args, **kwargs)
        return constructor(*args, **kwargs)

    checked.__signature__ = full  # type: ignore[attr-defined]
    checked.__qualname__ = f"{cls.__name__}.{constructor.__name__}"
    return checked
