"""Models side by side: every measure with its limits, and paired differences."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from pueval.displays._canvas import QUIET, despined, legend_above
from pueval.displays._constructors import FromData, evaluation_of, parted
from pueval.displays._differences import Row, Values, check_measures, check_values, estimates
from pueval.displays._legend_text import entry, short
from pueval.displays._responses import response
from pueval.errors import InputError, require
from pueval.evaluation.evaluate import evaluate
from pueval.evaluation.measure_titles import measure_title
from pueval.text.numbers import format_estimate

if TYPE_CHECKING:
    from typing import Self

    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.container import ErrorbarContainer
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    from pueval.evaluation.evaluation import Evaluation

SHOWN = ("roc_auc", "average_precision", "f1", "matthews_corrcoef", "balanced_accuracy")
MARKERS = "osD^vP*X"


@dataclass(eq=False, kw_only=True, repr=False)
class ComparisonDisplay(FromData):
    """Several models: measures with their limits, and differences from one of them.

    Make one with `from_comparison` or `from_evaluations`; they draw it at once. It also takes plain
    numbers, of whatever origin.

    Parameters
    ----------
    values : mapping of str to mapping of str to tuple of float
        Model → measure → (value, low, high); limits may be NaN.
    naive : mapping of str to mapping of str to float, optional
        Model → measure → naive value.
    differences : iterable of mapping or object, optional
        Paired differences, first − second: ``first``, ``second``, ``measure``, ``value``, ``low``,
        ``high``, and ``pvalue`` if known.
    reference : str, optional
        The model from which the others' differences are shown; by default the first.

    Attributes
    ----------
    points_ : dict of str to matplotlib ErrorbarContainer
        Values and limits of each model.
    naive_ : dict of str to matplotlib Line2D
        Naive values of each model, if drawn.
    differences_ : dict of str to matplotlib ErrorbarContainer
        Differences of each model from the reference, if drawn.
    ax_, difference_ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn; ``difference_ax_`` is None if differences were not.

    Examples
    --------
    >>> from pueval.displays import ComparisonDisplay
    >>> display = ComparisonDisplay(
    ...     values={
    ...         "boosting": {"roc_auc": (0.95, 0.94, 0.96), "f1": (0.88, 0.85, 0.91)},
    ...         "logistic": {"roc_auc": (0.97, 0.96, 0.98), "f1": (0.91, 0.88, 0.93)},
    ...     }
    ... )
    >>> display.frame()[["model", "measure", "value"]]
          model  measure  value
    0  boosting  roc_auc   0.95
    1  boosting       f1   0.88
    2  logistic  roc_auc   0.97
    3  logistic       f1   0.91
    """

    values: Values
    naive: Mapping[str, Mapping[str, float]] | None = None
    differences: Iterable[Any] = ()
    reference: str | None = None
    points_: dict[str, ErrorbarContainer] = field(init=False, repr=False)
    naive_: dict[str, Line2D] = field(init=False, repr=False)
    differences_: dict[str, ErrorbarContainer] = field(init=False, repr=False)
    ax_: Axes = field(init=False, repr=False)
    difference_ax_: Axes | None = field(init=False, repr=False)
    figure_: Figure = field(init=False, repr=False)

    def __post_init__(self) -> None:
        check_values(self.values)
        self.differences = tuple(Row.of(one) for one in self.differences)
        if self.reference is None:
            self.reference = next(iter(self.values))
        if self.reference not in self.values:
            raise InputError(f"reference must be one of {[*self.values]}; got {self.reference!r}.")

    # ------------------------------------------------------------------ where it comes from

    @classmethod
    def of(
        cls, ev: Evaluation, *, measures: Sequence[str] = SHOWN, name: str | None = None
    ) -> ComparisonDisplay:
        """Collect the data of a single model; draw nothing.

        Parameters
        ----------
        ev : Evaluation
            Made by `pueval.evaluate`.
        measures : sequence of str
            Which measures to show.
        name : str, optional
            Of the classifier.

        Returns
        -------
        ComparisonDisplay
        """
        return cls._of({name or "classifier": ev}, measures)

    @classmethod
    def _of(
        cls, evaluations: Mapping[str, Evaluation], measures: Sequence[str], **more: Any
    ) -> Self:
        found = estimates(evaluations, measures)
        return cls(
            values={
                name: {measure: (one.value, one.low, one.high) for measure, one in row.items()}
                for name, row in found.items()
            },
            naive={
                name: {measure: one.naive for measure, one in row.items()}
                for name, row in found.items()
            },
            **more,
        )

    @classmethod
    def from_evaluations(
        cls,
        evaluations: Mapping[str, Evaluation],
        *,
        measures: Sequence[str] = SHOWN,
        ax: Axes | None = None,
        **drawing: Any,
    ) -> ComparisonDisplay:
        """Draw the evaluations of several models; it has no paired differences.

        Parameters
        ----------
        evaluations : mapping of str to Evaluation
            A name and an evaluation for each model, all with the same rows and assumptions.
        measures : sequence of str
            Which measures to show.
        ax : matplotlib Axes, optional
            Where to draw; by default in a new figure.
        **drawing
            Keywords of `plot`.

        Returns
        -------
        ComparisonDisplay
            With its artists.
        """
        return cls._of(evaluations, measures).plot(ax, **drawing)

    @classmethod
    def from_comparison(
        cls,
        comparison: Any,
        *,
        measures: Sequence[str] = SHOWN,
        reference: str | None = None,
        ax: Axes | None = None,
        **drawing: Any,
    ) -> ComparisonDisplay:
        """Draw a comparison, paired differences included.

        Parameters
        ----------
        comparison : Comparison
            Made by `pueval.compare`.
        measures : sequence of str
            Which measures to show.
        reference : str, optional
            The model from which differences are shown; by default the first.
        ax : matplotlib Axes, optional
            Where to draw; by default in a new figure.
        **drawing
            Keywords of `plot`.

        Returns
        -------
        ComparisonDisplay
            With its artists.
        """
        check_measures(measures)
        rows = [Row.of(one) for measure in measures for one in comparison.differences(measure)]
        found = cls._of(comparison.evaluations, measures, differences=rows, reference=reference)
        return found.plot(ax, **drawing)

    @classmethod
    def from_predictions(
        cls, y: Any, score: Any = None, *, ax: Any = None, **options: Any
    ) -> ComparisonDisplay:
        """Evaluate the scores of several models under the same assumptions, and draw it.

        Parameters
        ----------
        y : array-like
            1 or True for labeled positives, 0 or False for unlabeled rows.
        score : mapping of str to array-like
            A name and the scores of each model.
        ax : matplotlib Axes, optional
            Where to draw; by default in a new figure.
        **options
            Keywords of `pueval.evaluate`, among them one of ``prior``, ``prevalence`` and
            ``label_frequency``; ``measures``; and keywords of `plot`.

        Returns
        -------
        ComparisonDisplay
            With its artists.
        """
        if not isinstance(score, Mapping):
            raise InputError(
                "score must map names of models to their scores, such as "
                f"{{'a': score_a, 'b': score_b}}; got {type(score).__name__}."
            )
        assumed, drawing = parted(options, evaluate)
        if not any(name in assumed for name in ("prior", "prevalence", "label_frequency")):
            raise InputError(
                "models can be compared only under one prior: give prior, prevalence or "
                "label_frequency. pueval.priors.estimate(y, score) estimates it."
            )
        evaluations = {name: evaluation_of(y, one, assumed) for name, one in score.items()}
        return cls.from_evaluations(evaluations, ax=ax, **drawing)

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
    ) -> ComparisonDisplay:
        """Score rows with several fitted classifiers, evaluate them, and draw it.

        Parameters
        ----------
        estimator : classifier or mapping of str to classifier
            A name and a fitted classifier for each model; or one classifier.
        X : array-like
            Rows that they were not trained on.
        y : array-like
            1 or True for labeled positives, 0 or False for unlabeled rows.
        response_method : {"auto", "predict_proba", "decision_function"}
            Where the scores come from.
        ax : matplotlib Axes, optional
            Where to draw; by default in a new figure.
        **options
            As for `from_predictions`.

        Returns
        -------
        ComparisonDisplay
            With its artists.
        """
        models = estimator
        if not isinstance(estimator, Mapping):
            models = {type(estimator).__name__: estimator}
        label = options.get("pos_label", 1)
        scores = {name: response(one, X, response_method, label) for name, one in models.items()}
        return cls.from_predictions(y, scores, ax=ax, **options)

    # ------------------------------------------------------------------ what it shows

    def frame(self) -> pd.DataFrame:
        """Return the data behind the picture.

        Returns
        -------
        pandas.DataFrame
            A row per model and measure: ``model``, ``measure``, ``value``, ``low``, ``high``,
            ``naive``, and ``difference``, ``difference_low``, ``difference_high``, ``pvalue`` from
            the reference; NaN where not known.
        """
        pandas = require("pandas", extra="pandas", purpose="ComparisonDisplay.frame()")
        apart = {(one.first, one.measure): one for one in self.from_reference()}
        rows = []
        for model, measures in self.values.items():
            for measure, (value, low, high) in measures.items():
                naive = math.nan if self.naive is None else self.naive[model][measure]
                row = {
                    "model": model,
                    "measure": measure,
                    "value": value,
                    "low": low,
                    "high": high,
                    "naive": naive,
                }
                one = apart.get((model, measure))
                for column, source in (
                    ("difference", "value"),
                    ("difference_low", "low"),
                    ("difference_high", "high"),
                    ("pvalue", "pvalue"),
                ):
                    row[column] = math.nan if one is None else getattr(one, source)
                rows.append(row)
        table: pd.DataFrame = pandas.DataFrame(rows)
        return table

    def from_reference(self) -> list[Row]:
        """Return the differences of all other models from the reference.

        Returns
        -------
        list of Row
        """
        every = cast("tuple[Row, ...]", self.differences)
        return [
            one if one.second == self.reference else one.reversed()
            for one in every
            if self.reference in {one.first, one.second}
        ]

    def plot(
        self,
        ax: Axes | None = None,
        *,
        difference_ax: Axes | None = None,
        plot_naive: bool = True,
        despine: bool = False,
    ) -> ComparisonDisplay:
        """Draw the picture.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw values; by default in a new figure.
        difference_ax : matplotlib Axes, optional
            Where to draw differences. Made together with ``ax`` if neither is given; not drawn if
            only ``ax`` is.
        plot_naive : bool, default True
            Whether to draw naive values, if they are known.
        despine : bool, default False
            Whether to remove the upper and the right spine.

        Returns
        -------
        ComparisonDisplay
            Itself, with its artists.
        """
        pyplot = require("matplotlib.pyplot", extra="plot", purpose="ComparisonDisplay.plot()")
        names, apart = [*self.values], self.from_reference()
        measures = [*self.values[names[0]]]
        if ax is None:
            height = 1.0 + 0.25 * len(names) + len(measures) * (0.3 + 0.16 * len(names))
            wide = bool(apart) and difference_ax is None
            _, axes = pyplot.subplots(
                ncols=2 if wide else 1,
                figsize=(10 if wide else 6.4, height),
                sharey=wide,
                squeeze=False,
                layout="constrained",
                width_ratios=[3, 2] if wide else [1],
            )
            ax, difference_ax = axes[0, 0], axes[0, 1] if wide else difference_ax
        self.ax_, self.difference_ax_ = cast("Axes", ax), difference_ax
        self.figure_ = cast("Figure", self.ax_.figure)
        ax = self.ax_
        self.points_, self.naive_, self.differences_ = {}, {}, {}
        rows = -np.arange(len(measures), dtype=float)
        step = 0.7 / len(names)
        for k, name in enumerate(names):
            place = rows + 0.35 - step * (k + 0.5)
            looks = {"fmt": MARKERS[k % len(MARKERS)], "markersize": 5, "capsize": 2.5}
            first = measure_title(measures[0])
            label = entry(name, f"{first} {format_estimate(*self.values[name][measures[0]])}")
            self.points_[name] = _whiskers(
                ax,
                [self.values[name][measure] for measure in measures],
                place,
                label=label,
                **looks,
            )
            color = self.points_[name].lines[0].get_color()
            if plot_naive and self.naive is not None:
                (self.naive_[name],) = ax.plot(
                    [self.naive[name][measure] for measure in measures],
                    place,
                    linestyle="none",
                    marker=MARKERS[k % len(MARKERS)],
                    markersize=5,
                    markerfacecolor="none",
                    color=color,
                    alpha=0.7,
                )
            mine = {one.measure: one for one in apart if one.first == name}
            if difference_ax is not None and mine:
                shown = [m for m in measures if m in mine]
                self.differences_[name] = _whiskers(
                    difference_ax,
                    [(mine[m].value, mine[m].low, mine[m].high) for m in shown],
                    place[[measures.index(m) for m in shown]],
                    color=color,
                    **looks,
                )
        self._frame_axes(ax, difference_ax, measures, rows, despine=despine)
        return self

    def _frame_axes(
        self,
        ax: Axes,
        difference_ax: Axes | None,
        measures: list[str],
        rows: Any,
        *,
        despine: bool,
    ) -> None:
        """Set ticks, labels and the legend."""
        titles = [measure_title(m) for m in measures]
        for one in (ax,) if difference_ax is None else (ax, difference_ax):
            one.set_ylim(rows[-1] - 0.5, rows[0] + 0.5)
            one.hlines(rows[1:] + 0.5, 0, 1, color="0.9", linewidth=0.8, zorder=0,
                       transform=one.get_yaxis_transform())  # fmt: skip
            despined(one, despine=despine)
        ax.set_yticks(rows, titles)
        ax.set_xlabel("Corrected value, with limits")
        if difference_ax is not None:
            difference_ax.tick_params(axis="y", length=0)
            difference_ax.locator_params(axis="x", nbins=5)
            difference_ax.axvline(0, color=QUIET, linewidth=1)
            difference_ax.set_xlabel(f"Difference from {short(str(self.reference))}")
            if difference_ax.get_ylim() != ax.get_ylim():
                difference_ax.set_ylim(ax.get_ylim())
        if self.naive_:
            looks: dict[str, Any] = {"fmt": "o", "color": QUIET, "fillstyle": "none"}
            ax.errorbar([], [], markersize=5, label="naive (hollow)", **looks)
        ends = np.array([ax.get_xlim()[0], ax.get_xlim()[1]])
        legend_above(ax, ends, np.full(2, rows[0] + 0.5))
        if difference_ax is not None:
            difference_ax.set_ylim(ax.get_ylim())


def _whiskers(
    ax: Axes, triples: Sequence[tuple[float, float, float]], place: Any, **looks: Any
) -> ErrorbarContainer:
    """Draw values with limits that need not lie around them."""
    table = np.array(triples, dtype=float).reshape(-1, 3)
    value, low, high = table.T
    # A best value may lie beyond its limits; a whisker of negative length cannot be drawn.
    reach = np.nan_to_num(np.maximum([value - low, high - value], 0.0))
    return ax.errorbar(value, place, xerr=reach, linewidth=1.5, **looks)
