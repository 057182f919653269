"""The three ways to make a display: from an evaluation, from labels and scores, from a model."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any, ClassVar

from pueval.displays._responses import response
from pueval.errors import AssumptionWarning
from pueval.evaluation.evaluate import evaluate

if TYPE_CHECKING:
    from typing import Self

    from pueval.evaluation.evaluation import Evaluation

_CONSTRUCTORS = ("from_evaluation", "from_predictions", "from_estimator")


class FromData:
    """What all displays share: they hold arrays, draw them, and are made from an evaluation.

    A display has ``of(ev, …)``, which computes the data behind the picture and draws nothing, and
    ``plot(ax, …)``, which draws them. The keywords of the constructors below are handed to
    `evaluate`, ``of`` and ``plot``; their signatures show all of them.
    """

    of: ClassVar[Callable[..., Any]]
    plot: Callable[..., Any]

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        for name in _CONSTRUCTORS:
            if name not in vars(cls):
                setattr(cls, name, classmethod(_spelled_out(cls, getattr(FromData, name).__func__)))

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"

    @classmethod
    def from_evaluation(cls, ev: Evaluation, *, ax: Any = None, **options: Any) -> Self:
        """Draw an evaluation.

        Parameters
        ----------
        ev : Evaluation
            Made by `pueval.evaluate`.
        ax : matplotlib Axes, optional
            Where to draw; by default in a new figure.
        **options
            Keywords of ``of`` and ``plot``, which explain them.

        Returns
        -------
        display
            With its artists.
        """
        choices, drawing = parted(options, cls.of)
        display: Self = cls.of(ev, **choices).plot(ax, **drawing)
        return display

    @classmethod
    def from_predictions(cls, y: Any, score: Any = None, *, ax: Any = None, **options: Any) -> Self:
        """Evaluate labels and scores, and draw it.

        Parameters
        ----------
        y : array-like or Counts
            1 or True for labeled positives, 0 or False for unlabeled rows; or Counts, and no score.
        score : array-like
            The classifier's score, from rows it was not trained on.
        ax : matplotlib Axes, optional
            Where to draw; by default in a new figure.
        **options
            Keywords of `pueval.evaluate`, such as ``prior``, and of ``of`` and ``plot``; each
            explains its own.

        Returns
        -------
        display
            With its artists.
        """
        assumed, drawing = parted(options, evaluate)
        return cls.from_evaluation(evaluation_of(y, score, assumed), ax=ax, **drawing)

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
        """Score rows with a fitted classifier, evaluate it, and draw it.

        Parameters
        ----------
        estimator : classifier
            A fitted scikit-learn classifier, or a pipeline that ends in one.
        X : array-like
            Rows that it was not trained on.
        y : array-like
            1 or True for labeled positives, 0 or False for unlabeled rows.
        response_method : {"auto", "predict_proba", "decision_function"}
            Where the scores come from; ``"auto"`` takes the first that the classifier has.
        ax : matplotlib Axes, optional
            Where to draw; by default in a new figure.
        **options
            Keywords of `pueval.evaluate`, such as ``prior``, and of ``of`` and ``plot``; each
            explains its own. ``name`` is that of the classifier's class unless given.

        Returns
        -------
        display
            With its artists.
        """
        assumed, drawing = parted(options, evaluate)
        score = response(estimator, X, response_method, assumed.get("pos_label", 1))
        if "name" in inspect.signature(cls.of).parameters:
            drawing.setdefault("name", type(estimator).__name__)
        return cls.from_evaluation(evaluation_of(y, score, assumed), ax=ax, **drawing)


def evaluation_of(y: Any, score: Any, assumed: dict[str, Any]) -> Evaluation:
    """Evaluate, and say warnings for the line that called a constructor."""
    with warnings.catch_warnings():
        # They are said again below, for the line that called the constructor.
        warnings.simplefilter("ignore", AssumptionWarning)
        ev = evaluate(y, score, **assumed)
    for note in ev.warnings:
        warnings.warn(note, AssumptionWarning, stacklevel=4)
    return ev


def _keywords(function: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    parameters = inspect.signature(function).parameters
    return {name: one for name, one in parameters.items() if one.kind is one.KEYWORD_ONLY}


def parted(
    options: dict[str, Any], first: Callable[..., Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Part the keywords of one function from all others."""
    known = _keywords(first)
    mine = {name: value for name, value in options.items() if name in known}
    return mine, {name: value for name, value in options.items() if name not in known}


def _spelled_out(cls: type[FromData], constructor: Callable[..., Any]) -> Callable[..., Any]:
    """Show every keyword of a constructor in its signature, and refuse all others."""
    signature = inspect.signature(constructor)
    shown = {name: one for name, one in signature.parameters.items() if one.kind < one.VAR_KEYWORD}
    for source in (evaluate, cls.of, cls.plot):
        if source is evaluate and constructor.__name__ == "from_evaluation":
            continue
        shown = _keywords(source) | shown
    positional = [one for one in shown.values() if one.kind < inspect.Parameter.KEYWORD_ONLY]
    keywords = [one for one in shown.values() if one.kind is inspect.Parameter.KEYWORD_ONLY]
    full = signature.replace(parameters=[*positional, *keywords])

    @wraps(constructor)
    def checked(*args: Any, **kwargs: Any) -> Any:
        full.bind(*args, **kwargs)
        return constructor(*args, **kwargs)

    checked.__signature__ = full  # type: ignore[attr-defined]
    checked.__qualname__ = f"{cls.__name__}.{constructor.__name__}"
    return checked
