"""Bounds of every measure for a labeling bias, with confidence intervals."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from pueval.core.confidence import student_quantile
from pueval.core.measures import AREAS, MEASURES
from pueval.core.mixture import Mixture
from pueval.core.tilted_rates import LabelingTilt
from pueval.estimates.measure_titles import TITLES
from pueval.sensitivity.labeling_bias import BiasedLabeling, Bound
from pueval.text.numbers import format_interval, format_level, format_number
from pueval.text.results import Result, measure_frame, plain_dict
from pueval.text.tables import html_summary, text_table
from pueval.uncertainty.intervals import Interval
from pueval.uncertainty.measure_intervals import Resamples
from pueval.uncertainty.tilted_resamples import (
    TiltedResamples,
    imbens_manski_level,
    skewed_limit,
)

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, repr=False)
class MeasureBounds(Result):
    """Bounds of a measure for a labeling bias.

    Attributes
    ----------
    low, high : float
        Smallest and largest value that the rows allow, clipped to the range of the measure.
    interval_low, interval_high : float
        Confidence interval of the true value: the bounds, widened by their sampling error. NaN
        without intervals.
    """

    low: float
    high: float
    interval_low: float = math.nan
    interval_high: float = math.nan

    def _headline(self) -> str:
        text = f"{format_number(self.low)} to {format_number(self.high)}"
        if math.isnan(self.interval_low):
            return text
        return f"{text} ({format_interval(self.interval_low, self.interval_high)})"


@dataclass(frozen=True, eq=False, repr=False)
class BiasBounds(Mapping[str, MeasureBounds]):
    """Bounds of every measure for a labeling bias; made by `Evaluation.labeling_bias`.

    It maps names of measures to bounds: ``bounds["f1"].low`` is the smallest F1 that the rows
    allow, and ``bounds["f1"].interval_low`` the lower end of the confidence interval.

    Attributes
    ----------
    bias : float
        Labeling bias Λ.
    level : float or None
        Confidence level of the intervals.
    smallest_bias : float
        Smallest labeling bias that the rows allow with this prior and purity, up to chance. If it
        is above ``bias``, no labeling fits, and the bounds are the estimates for random labeling.
    """

    bias: float
    level: float | None
    smallest_bias: float
    _bounds: dict[str, MeasureBounds]

    def __getitem__(self, name: str) -> MeasureBounds:
        return self._bounds[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._bounds)

    def __len__(self) -> int:
        return len(self._bounds)

    # A mapping is equal by content and cannot be hashed; these bounds are neither.
    __eq__, __hash__ = object.__eq__, object.__hash__

    @property
    def fits(self) -> bool:
        """Whether the rows allow so small a labeling bias."""
        return self.smallest_bias <= self.bias

    def frame(self) -> pd.DataFrame:
        """Return a pandas DataFrame with a row per measure and a column per field.

        Returns
        -------
        pandas.DataFrame
        """
        return measure_frame(self, "BiasBounds.frame()")

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain numbers and text, ready for JSON.

        Returns
        -------
        dict
            Undefined and infinite numbers are None.
        """
        return plain_dict(
            {
                "bias": self.bias,
                "level": self.level,
                "smallest_bias": self.smallest_bias,
                "measures": dict(self),
            }
        )

    def summary(self) -> str:
        """Return what the bounds assume, in one line.

        Returns
        -------
        str
        """
        text = (
            f"Labeling bias {self.bias:g}: some positives are up to {self.bias:g} times as likely "
            "to be labeled as others"
        )
        return text if self.bias > 1 else "Labeling bias 1: labeling is random"

    def _table(self) -> tuple[list[str], list[list[str]]]:
        header = ["", "bounds"]
        if self.level is not None:
            header.append(f"{format_level(self.level)} CI")
        rows = []
        for name, bounds in self.items():
            row = [TITLES[name], format_interval(bounds.low, bounds.high)]
            if self.level is not None:
                row.append(format_interval(bounds.interval_low, bounds.interval_high))
            rows.append(row)
        return header, rows

    def notes(self) -> list[str]:
        """Return what contradicts the bias, if anything does.

        Returns
        -------
        list of str
        """
        if self.fits:
            return []
        most = f"below {self.smallest_bias:.3g} " if math.isfinite(self.smallest_bias) else ""
        note = f"No labeling bias {most}fits these rows with this prior and purity."
        return [f"{note} The values are those for random labeling."]

    def __repr__(self) -> str:
        return "\n".join(
            [self.summary(), text_table(*self._table()), *(f"! {note}" for note in self.notes())]
        )

    def _repr_html_(self) -> str:
        return html_summary(self.summary(), [self._table()], self.notes())


MarginOf = Callable[[str], tuple[float, float]]


def bound_measures(
    labeling: BiasedLabeling,
    bias: float,
    resamples: Resamples | None,
    margins: MarginOf,
    names: Iterable[str] = (*AREAS, *MEASURES),
) -> BiasBounds:
    """Bound the areas, and every measure at a threshold, for a labeling bias.

    Parameters
    ----------
    labeling : BiasedLabeling
        Data and assumptions.
    bias : float
        Labeling bias Λ.
    resamples : Resamples or None
        Resampled counts; None without intervals.
    margins : callable
        From a measure to what is added to its interval on both sides, for a threshold that was
        chosen on the same rows.
    names : iterable of str
        Measures to bound; by default all.
    """
    # By chance, a cell may have fewer rows than it needs: intervals use relaxed limits.
    relaxed = replace(labeling, limits="confidence")
    intervals = None if resamples is None else _BoundIntervals(relaxed, bias, resamples)
    bounds = {}
    for name in names:
        low, high = (end.value for end in labeling.bounds(name, bias))
        interval = Interval()
        if intervals is not None and not math.isnan(low):
            interval = intervals.interval(name)
        if math.isnan(interval.low):
            bounds[name] = MeasureBounds(low, high)
            continue
        below, above = margins(name)
        least, most = _value_range(name)
        interval_low = max(min(interval.low, low) - below, least)
        interval_high = min(max(interval.high, high) + above, most)
        bounds[name] = MeasureBounds(low, high, interval_low, interval_high)
    level = None if resamples is None else resamples.options.level
    return BiasBounds(bias, level, relaxed.smallest_bias(), bounds)


def _value_range(name: str) -> tuple[float, float]:
    return (MEASURES[name].low, MEASURES[name].high) if name in MEASURES else (0.0, 1.0)


@dataclass(frozen=True, eq=False)
class _BoundIntervals:
    """Confidence intervals of measures whose true values lie between their bounds."""

    labeling: BiasedLabeling
    bias: float
    resamples: Resamples
    # Measures at the threshold share what takes time.
    _tilted: dict[LabelingTilt | None, TiltedResamples] = field(default_factory=dict)
    _labelings: dict[Mixture, BiasedLabeling] = field(default_factory=dict)

    def interval(self, name: str) -> Interval:
        """Return the interval of a measure."""
        ends = self._bounds(name, self.labeling.mixture)
        level = self.resamples.options.level
        errors = [self._end_interval(name, side, level).standard_error for side in (0, 1)]
        if all(map(math.isfinite, errors)):
            width = ends[1].value - ends[0].value
            level = imbens_manski_level(width, errors[0], errors[1], level)
        low, high = (self._end_interval(name, side, level) for side in (0, 1))
        least, most = _value_range(name)
        if math.isinf(most):
            return Interval(low.low, high.high)
        # Weights of up to Λ reduce the effective number of labeled rows by at most this factor.
        weights = 4 * self.bias / (1 + self.bias) ** 2
        n_labeled = weights * self.resamples.n_independent_labeled
        options = self.resamples.options
        squared = student_quantile(level, options.degrees_of_freedom) ** 2 / n_labeled
        score_limit = partial(skewed_limit, least=least, most=most, largest_ratio=squared)
        return Interval(
            min(low.low, score_limit(ends[0].value, low.low - ends[0].value)),
            max(high.high, score_limit(ends[1].value, high.high - ends[1].value)),
        )

    def _bounds(self, name: str, mixture: Mixture) -> tuple[Bound, Bound]:
        """Return the bounds for a prior and purity."""
        if mixture not in self._labelings:
            self._labelings[mixture] = replace(self.labeling, mixture=mixture)
        return self._labelings[mixture].bounds(name, self.bias)

    def _end_interval(self, name: str, side: int, level: float) -> Interval:
        """Return the interval of the lower (0) or upper (1) bound."""
        tilt = self._bounds(name, self.labeling.mixture)[side].tilt
        if tilt not in self._tilted:
            self._tilted[tilt] = TiltedResamples.of(self.resamples, tilt)
        draws = self._tilted[tilt].at_level(level)

        def value(mixture: Mixture) -> float:
            return self._bounds(name, mixture)[side].value

        if name == "roc_auc":
            return draws.auc_bound_interval(value)
        if name == "average_precision":
            return draws.average_precision_interval(value)
        return draws.bound_interval_at(MEASURES[name], self.labeling.threshold, value)
