"""Measures of several models with confidence intervals, and their paired differences."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from pueval._typing import Array
from pueval.comparison.comparison_text import leading_models
from pueval.displays._classifier_scores import classifier_scores
from pueval.displays._comparison_data import (
    ModelValues,
    PairedDifference,
    check_measures,
    check_values,
    collect_estimates,
    comparison_rows,
)
from pueval.displays._evaluation_display import (
    EvaluationDisplay,
    evaluate_for_caller,
    split_keywords,
)
from pueval.displays._legends import legend_entry, place_legend_above, single_line
from pueval.displays._styling import GRAY, remove_spines
from pueval.errors import InputError
from pueval.estimates.measure_titles import COMPARED_MEASURES, measure_title
from pueval.evaluation.evaluate import evaluate
from pueval.text.numbers import format_estimate

if TYPE_CHECKING:
    from typing import Self

    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.container import ErrorbarContainer
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    from pueval.evaluation.evaluation import Evaluation

MARKERS = "osD^vP*X"


@dataclass(eq=False, kw_only=True, repr=False)
class ComparisonDisplay(EvaluationDisplay):
    """Measures of several models with confidence intervals, and differences from a reference.

    Create a display with `from_comparison` or `from_evaluations`, which also draw it. The
    constructor takes plain numbers from any source.

    Parameters
    ----------
    values : mapping of str to mapping of str to tuple of float
        Model → measure → (value, low, high); low and high may be NaN.
    naive : mapping of str to mapping of str to float, optional
        Model → measure → naive value.
    differences : iterable of mapping or object, optional
        Paired differences, first − second: ``first``, ``second``, ``measure``, ``value``, ``low``,
        ``high``, and optionally ``pvalue``.
    reference : str, optional
        Model that the differences are taken from; by default the first.

    Attributes
    ----------
    points_ : dict of str to matplotlib ErrorbarContainer
        Values and intervals, by model.
    naive_ : dict of str to matplotlib Line2D
        Naive values, by model, if drawn.
    differences_ : dict of str to matplotlib ErrorbarContainer
        Differences from the reference, by model, if drawn.
    ax_, difference_ax_, figure_ : matplotlib Axes and Figure
        Axes and figure of the plot; ``difference_ax_`` is None without differences.

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

    values: ModelValues
    naive: Mapping[str, Mapping[str, float]] | None = None
    differences: Iterable[Any] = ()
    reference: str | None = None

    def __post_init__(self) -> None:
        check_values(self.values)
        self.differences = tuple(PairedDifference.read(row) for row in self.differences)
        if self.reference is None:
            self.reference = next(iter(self.values))
        if self.reference not in self.values:
            raise InputError(f"reference must be one of {[*self.values]}; got {self.reference!r}.")

    # ------------------------------------------------------------------ constructors

    @classmethod
    def compute(
        cls, ev: Evaluation, *, measures: Sequence[str] = COMPARED_MEASURES, name: str | None = None
    ) -> ComparisonDisplay:
        """Collect the data of a single model without drawing them.

        Parameters
        ----------
        ev : Evaluation
            Result of `pueval.evaluate`.
        measures : sequence of str
            Measures to show.
        name : str, optional
            Name of the classifier.

        Returns
        -------
        ComparisonDisplay
        """
        return cls._collect({name or "classifier": ev}, measures)

    @classmethod
    def _collect(
        cls, evaluations: Mapping[str, Evaluation], measures: Sequence[str], **options: Any
    ) -> Self:
        rows = collect_estimates(evaluations, measures)
        return cls(
            values={
                name: {key: (est.value, est.low, est.high) for key, est in row.items()}
                for name, row in rows.items()
            },
            naive={
                name: {key: est.naive for key, est in row.items()} for name, row in rows.items()
            },
            **options,
        )

    @classmethod
    def from_evaluations(
        cls,
        evaluations: Mapping[str, Evaluation],
        *,
        measures: Sequence[str] = COMPARED_MEASURES,
        ax: Axes | None = None,
        **plot_options: Any,
    ) -> ComparisonDisplay:
        """Plot the evaluations of several models, without paired differences.

        Parameters
        ----------
        evaluations : mapping of str to Evaluation
            Evaluations by model, all of the same rows and under the same assumptions.
        measures : sequence of str
            Measures to show.
        ax : matplotlib Axes, optional
            Axes to draw on; by default those of a new figure.
        **plot_options
            Keywords of `plot`.

        Returns
        -------
        ComparisonDisplay
            The display, with its artists.
        """
        return cls._collect(evaluations, measures).plot(ax, **plot_options)

    @classmethod
    def from_comparison(
        cls,
        comparison: Any,
        *,
        measures: Sequence[str] = COMPARED_MEASURES,
        reference: str | None = None,
        ax: Axes | None = None,
        **plot_options: Any,
    ) -> ComparisonDisplay:
        """Plot a comparison with its paired differences.

        Of more than 20 models, the 20 with the best ROC AUC are shown, and the reference.

        Parameters
        ----------
        comparison : Comparison
            Result of `pueval.compare`.
        measures : sequence of str
            Measures to show.
        reference : str, optional
            Model that the differences are taken from; by default the first.
        ax : matplotlib Axes, optional
            Axes to draw on; by default those of a new figure.
        **plot_options
            Keywords of `plot`.

        Returns
        -------
        ComparisonDisplay
            The display, with its artists.
        """
        check_measures(measures)
        shown = leading_models(comparison)
        if reference is not None and reference not in shown.evaluations:
            shown = comparison.subset([reference, *shown])
        options = {
            "differences": [row for key in measures for row in shown.differences(key)],
            "reference": reference,
        }
        return cls._collect(shown.evaluations, measures, **options).plot(ax, **plot_options)

    @classmethod
    def from_predictions(
        cls, y: Any, score: Any = None, *, ax: Any = None, **options: Any
    ) -> ComparisonDisplay:
        """Evaluate the scores of several models under the same assumptions, and plot them.

        Parameters
        ----------
        y : array-like
            Labels: 1 or True for labeled positives, 0 or False for unlabeled rows.
        score : mapping of str to array-like
            Scores by model.
        ax : matplotlib Axes, optional
            Axes to draw on; by default those of a new figure.
        **options
            Keywords of `pueval.evaluate`, including one of ``prior``, ``prevalence`` and
            ``label_frequency``; ``measures``; and keywords of `plot`.

        Returns
        -------
        ComparisonDisplay
            The display, with its artists.
        """
        if not isinstance(score, Mapping):
            raise InputError(
                "score must map names of models to their scores, such as "
                f"{{'a': score_a, 'b': score_b}}; got {type(score).__name__}."
            )
        evaluate_options, display_options = split_keywords(options, evaluate)
        if not {"prior", "prevalence", "label_frequency"} & evaluate_options.keys():
            raise InputError(
                "comparing models needs the same prior for all of them: pass prior, prevalence or "
                "label_frequency. pueval.priors.estimate(y, score) estimates the prior."
            )
        evaluations = {
            name: evaluate_for_caller(y, values, evaluate_options) for name, values in score.items()
        }
        return cls.from_evaluations(evaluations, ax=ax, **display_options)

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
        """Score rows with several fitted classifiers, evaluate the scores, and plot them.

        Parameters
        ----------
        estimator : classifier or mapping of str to classifier
            Fitted classifiers by name; or a single classifier.
        X : array-like
            Rows that the classifiers were not trained on.
        y : array-like
            Labels: 1 or True for labeled positives, 0 or False for unlabeled rows.
        response_method : {"auto", "predict_proba", "decision_function"}
            Method that gives the scores; ``"auto"`` uses the first that the classifier has.
        ax : matplotlib Axes, optional
            Axes to draw on; by default those of a new figure.
        **options
            Keywords of `from_predictions`.

        Returns
        -------
        ComparisonDisplay
            The display, with its artists.
        """
        single = not isinstance(estimator, Mapping)
        models = {type(estimator).__name__: estimator} if single else estimator
        pos_label = options.get("pos_label", 1)
        scores = {
            name: classifier_scores(model, X, response_method, pos_label)
            for name, model in models.items()
        }
        return cls.from_predictions(y, scores, ax=ax, **options)

    # ------------------------------------------------------------------ data and plot

    def frame(self) -> pd.DataFrame:
        """Return the plotted data.

        Returns
        -------
        pandas.DataFrame
            One row per model and measure: ``model``, ``measure``, ``value``, ``low``, ``high``,
            ``naive``, and the difference from the reference as ``difference``,
            ``difference_low``, ``difference_high`` and ``pvalue``; NaN where unknown.
        """
        return self._data_frame(
            comparison_rows(self.values, self.naive, self.differences_from_reference())
        )

    def differences_from_reference(self) -> list[PairedDifference]:
        """Return the differences of all other models from the reference.

        Returns
        -------
        list of PairedDifference
        """
        return [
            row if row.second == self.reference else row.reversed()
            for row in cast("tuple[PairedDifference, ...]", self.differences)
            if self.reference in {row.first, row.second}
        ]

    def plot(
        self,
        ax: Axes | None = None,
        *,
        difference_ax: Axes | None = None,
        plot_naive: bool = True,
        despine: bool = False,
    ) -> ComparisonDisplay:
        """Draw the values, and the differences if there are any.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes for the values; by default those of a new figure.
        difference_ax : matplotlib Axes, optional
            Axes for the differences. By default they are created together with ``ax``, and
            differences are not drawn if only ``ax`` is given.
        plot_naive : bool, default True
            Whether to draw naive values, if they are known.
        despine : bool, default False
            Whether to remove the top and right spines.

        Returns
        -------
        ComparisonDisplay
            The display itself, with its artists.
        """
        names, differences = [*self.values], self.differences_from_reference()
        measures = [*self.values[names[0]]]
        if ax is None:
            height = 1.0 + 0.25 * len(names) + len(measures) * (0.3 + 0.16 * len(names))
            wide = bool(differences) and difference_ax is None
            size, ratios = ((10, height), [3, 2]) if wide else ((6.4, height), [1])
            options = {"width_ratios": ratios, "sharey": wide, "layout": "constrained"}
            _, axes = self._pyplot().subplots(
                ncols=len(ratios), figsize=size, squeeze=False, **options
            )
            ax, difference_ax = axes[0, 0], axes[0, 1] if wide else difference_ax
        self.ax_, self.difference_ax_ = ax, difference_ax
        self.figure_ = cast("Figure", ax.figure)
        self.points_: dict[str, ErrorbarContainer] = {}
        self.naive_: dict[str, Line2D] = {}
        self.differences_: dict[str, ErrorbarContainer] = {}
        rows = -np.arange(len(measures), dtype=float)
        step = 0.7 / len(names)
        for k, name in enumerate(names):
            y = rows + 0.35 - step * (k + 0.5)
            values = [self.values[name][measure] for measure in measures]
            marker = MARKERS[k % len(MARKERS)]
            options = {"fmt": marker, "markersize": 5, "capsize": 2.5}
            first = f"{measure_title(measures[0])} {format_estimate(*values[0])}"
            label = legend_entry(name, first)
            self.points_[name] = _draw_intervals(ax, values, y, label=label, **options)
            color = self.points_[name].lines[0].get_color()
            if plot_naive and self.naive is not None:
                naive = [self.naive[name][measure] for measure in measures]
                hollow: dict[str, Any] = {"markersize": 5, "markerfacecolor": "none", "alpha": 0.7}
                (self.naive_[name],) = ax.plot(naive, y, marker, color=color, **hollow)
            by_measure = {row.measure: row for row in differences if row.first == name}
            if difference_ax is not None and by_measure:
                shown = [m for m in measures if m in by_measure]
                values = [
                    (by_measure[m].value, by_measure[m].low, by_measure[m].high) for m in shown
                ]
                y = y[[measures.index(m) for m in shown]]
                self.differences_[name] = _draw_intervals(
                    difference_ax, values, y, color=color, **options
                )
        self._label_axes(measures, rows, despine=despine)
        return self

    def _label_axes(self, measures: list[str], rows: Array, *, despine: bool) -> None:
        """Set ticks, labels and the legend."""
        ax, difference_ax = self.ax_, self.difference_ax_
        for panel in (ax,) if difference_ax is None else (ax, difference_ax):
            panel.set_ylim(rows[-1] - 0.5, rows[0] + 0.5)
            panel.hlines(rows[1:] + 0.5, 0, 1, color="0.9", linewidth=0.8, zorder=0,
                         transform=panel.get_yaxis_transform())  # fmt: skip
            remove_spines(panel, despine=despine)
        ax.set_yticks(rows, [measure_title(m) for m in measures])
        ax.set_xlabel("Corrected value and confidence interval")
        if difference_ax is not None:
            difference_ax.tick_params(axis="y", length=0)
            difference_ax.locator_params(axis="x", nbins=5)
            difference_ax.axvline(0, color=GRAY, linewidth=1)
            difference_ax.set_xlabel(f"Difference from {single_line(str(self.reference))}")
        if self.naive_:
            options: dict[str, Any] = {"fmt": "o", "color": GRAY, "fillstyle": "none"}
            ax.errorbar([], [], markersize=5, label="naive (hollow)", **options)
        place_legend_above(ax, np.array(ax.get_xlim()), np.full(2, rows[0] + 0.5))
        if difference_ax is not None:
            difference_ax.set_ylim(ax.get_ylim())


def _draw_intervals(
    ax: Axes, intervals: Sequence[tuple[float, float, float]], y: Array, **options: Any
) -> ErrorbarContainer:
    """Draw values with intervals that need not contain them."""
    value, low, high = np.array(intervals, dtype=float).reshape(-1, 3).T
    # A best value may lie outside its interval; an error bar cannot have a negative length.
    lengths = np.nan_to_num(np.maximum([value - low, high - value], 0.0))
    return ax.errorbar(value, y, xerr=lengths, linewidth=1.5, **options)
