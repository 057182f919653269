"""TwoSources: how many positives there are, from what two sources found."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from pueval._checks import check_number
from pueval._typing import Array
from pueval.core.confidence import normal_quantile
from pueval.errors import InputError
from pueval.labeling._two_sources_limits import hidden_limit
from pueval.text.numbers import format_count, format_estimate, format_level, format_number
from pueval.text.results import Result, plain_dict
from pueval.text.tables import text_table

# With fewer labels in common, Chapman's estimate is visibly too small (Robson and Regier, 1964).
LEAST_COMMON = 7
# With fewer labels in common per stratum, intervals of sums over strata cover too rarely: chosen by
# simulation (tests/labeling/test_two_sources.py).
LEAST_COMMON_PER_STRATUM = 5
# Strata in the printed table.
SHOWN_STRATA = 12


@dataclass(frozen=True, repr=False)
class DependenceBounds(Result):
    """What two sources say if they are dependent; from `TwoSources.bounds`.

    Attributes
    ----------
    odds_ratio : tuple of float
        Smallest and largest odds ratio between the sources.
    positives, label_frequency : tuple of float
        Bounds of the number of positives and of the label frequency.
    positives_interval, label_frequency_interval : tuple of float
        Confidence intervals of both, for all these odds ratios.
    level : float
        Confidence level.
    """

    odds_ratio: tuple[float, float]
    positives: tuple[float, float]
    positives_interval: tuple[float, float]
    label_frequency: tuple[float, float]
    label_frequency_interval: tuple[float, float]
    level: float

    _share_hint: ClassVar[str] = "Pass its .label_frequency_interval as label_frequency."

    def _headline(self) -> str:
        def span(ends: tuple[float, float], show: Any) -> str:
            return f"{show(ends[0])} to {show(ends[1])}"

        confidence = f"{format_level(self.level)} CI"
        return (
            f"Odds ratio between the sources {span(self.odds_ratio, format_number)}\n"
            f"positives        {span(self.positives, _whole)}, {confidence} "
            f"{span(self.positives_interval, _whole)}\n"
            f"label frequency  {span(self.label_frequency, format_number)}, {confidence} "
            f"{span(self.label_frequency_interval, format_number)}"
        )


@dataclass(frozen=True, eq=False, repr=False)
class TwoSources(Result):
    """Positives found by two sources, and how many there are; from `from_two_sources`.

    Attributes
    ----------
    stratum : tuple of str
        Names of the strata; a single one, "all", if none were given.
    n_rows, both, only_a, only_b : ndarray of int
        Numbers of rows in each stratum: all of them, and those that both sources, only the first
        and only the second labeled.
    level : float
        Confidence level of the intervals.
    """

    stratum: tuple[str, ...]
    n_rows: Array
    both: Array
    only_a: Array
    only_b: Array
    level: float

    _share_hint: ClassVar[str] = (
        "Pass its .label_frequency_interval as label_frequency, or its .label_frequency, which "
        "ignores the uncertainty."
    )

    @property
    def n_labeled(self) -> int:
        """Number of rows that at least one source labeled."""
        return int(np.sum(self.both + self.only_a + self.only_b))

    @property
    def positives(self) -> float:
        """Chapman's estimate of the number of positives, summed over strata; at most all rows."""
        return min(self.n_labeled + float(np.sum(self._hidden)), float(np.sum(self.n_rows)))

    @property
    def positives_interval(self) -> tuple[float, float]:
        """Confidence interval of the number of positives."""
        return self._positives_interval(1.0, 1.0)

    @property
    def label_frequency(self) -> float:
        """Share of the positives that at least one source labeled."""
        return self.n_labeled / self.positives

    @property
    def label_frequency_interval(self) -> tuple[float, float]:
        """Confidence interval of the label frequency, for ``evaluate(label_frequency=…)``."""
        return self._frequencies(self.positives_interval)

    def bounds(self, odds_ratio: float | tuple[float, float]) -> DependenceBounds:
        """Bound positives and label frequency if the sources are dependent.

        The odds ratio is that of being found by one source for positives that the other found,
        against those it did not find. With independent sources it is 1. If it is θ, the number of
        positives that neither found is θ times as large.

        Parameters
        ----------
        odds_ratio : float or (low, high)
            Largest odds ratio, from 1 (if it is below 1, the smallest, up to 1); or both ends.

        Returns
        -------
        DependenceBounds
            Its ``label_frequency_interval`` is for ``evaluate(label_frequency=…)``.

        Examples
        --------
        >>> from pueval.labeling import from_two_sources
        >>> sources = from_two_sources([1] * 60 + [0] * 940, [0] * 40 + [1] * 50 + [0] * 910)
        >>> sources.bounds(2)
        Odds ratio between the sources 1.000 to 2.000
        positives        147 to 204, 95% CI 118 to 325
        label frequency  0.441 to 0.612, 95% CI 0.277 to 0.760
        """
        low, high = _check_odds_ratio(odds_ratio)
        hidden = float(np.sum(self._hidden))
        ends = (self.n_labeled + low * hidden, self.n_labeled + high * hidden)
        positives = self._limited(ends)
        interval = self._positives_interval(low, high)
        return DependenceBounds(
            odds_ratio=(low, high),
            positives=positives,
            positives_interval=interval,
            label_frequency=self._frequencies(positives),
            label_frequency_interval=self._frequencies(interval),
            level=self.level,
        )

    # ------------------------------------------------------------------ formulas

    @property
    def _found(self) -> Array:
        """Number of rows of each stratum that at least one source labeled."""
        return np.asarray(self.both + self.only_a + self.only_b)

    @property
    def _hidden(self) -> Array:
        """Chapman's estimate of the number of hidden positives in each stratum."""
        return np.asarray(self.only_a * self.only_b / (self.both + 1))

    @property
    def _mean_in_common(self) -> float:
        """Mean number of labels in common, over strata with labels."""
        return float(self.both.sum()) / max(int(np.count_nonzero(self._found)), 1)

    @property
    def _strata_are_small(self) -> bool:
        """Whether Chapman's estimates of many strata add up to one that is too small."""
        return len(self.stratum) > 1 and self._mean_in_common < LEAST_COMMON_PER_STRATUM

    def _positives_interval(self, low: float, high: float) -> tuple[float, float]:
        """Return the confidence interval for odds ratios from ``low`` to ``high``."""
        least, most = _hidden_limits(self, low, high)
        return self._limited((self.n_labeled + least, self.n_labeled + most))

    def _limited(self, ends: tuple[float, float]) -> tuple[float, float]:
        """Return numbers of positives that are at most the number of rows."""
        rows = float(np.sum(self.n_rows))
        return min(ends[0], rows), min(ends[1], rows)

    def _frequencies(self, positives: tuple[float, float]) -> tuple[float, float]:
        return self.n_labeled / positives[1], self.n_labeled / positives[0]

    # ------------------------------------------------------------------ text

    def _columns(self) -> Mapping[str, Any]:
        found = self._found
        positives = found + self._hidden
        return {
            "stratum": np.array(self.stratum),
            "n_rows": self.n_rows,
            "both": self.both,
            "only_a": self.only_a,
            "only_b": self.only_b,
            "positives": positives,
            "label_frequency": found / np.where(positives > 0, positives, np.nan),
        }

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data.

        Returns
        -------
        dict
        """
        content = {
            "strata": self._columns(),
            "positives": self.positives,
            "positives_interval": self.positives_interval,
            "label_frequency": self.label_frequency,
            "label_frequency_interval": self.label_frequency_interval,
            "level": self.level,
        }
        return plain_dict(content)

    def _headline(self) -> str:
        return (
            f"Two sources labeled {format_count(self.n_labeled)} rows: "
            f"{format_count(self.only_a.sum())} only the first, "
            f"{format_count(self.only_b.sum())} only the second, "
            f"{format_count(self.both.sum())} both"
        )

    def _table(self) -> str:
        low, high = self.positives_interval
        frequency = format_estimate(self.label_frequency, *self.label_frequency_interval)
        lines = [
            f"positives        {_whole(self.positives)} ({_whole(low)}–{_whole(high)})",
            f"label frequency  {frequency}",
        ]
        columns = self._columns()
        if len(self.stratum) > 1:
            rows = [
                [
                    name,
                    *(format_count(columns[key][k]) for key in ("both", "only_a", "only_b")),
                    _whole(columns["positives"][k]),
                    format_number(columns["label_frequency"][k]),
                ]
                for k, name in enumerate(self.stratum)
            ]
            header = ["stratum", "both", "only a", "only b", "positives", "label frequency"]
            lines.append(text_table(header, rows, most=SHOWN_STRATA, hint="; .frame() returns all"))
        within = "within each stratum" if len(self.stratum) > 1 else "of each other"
        return "\n".join([*lines, *self._warnings(), f"Assumes sources independent {within}."])

    def _assumption_warnings(self) -> list[str]:
        """Return what makes the estimate wrong, for Python warnings."""
        warnings = []
        if not np.any(self.only_a + self.only_b):
            warnings.append(
                "Both sources label the same rows. If they are independent, they found all "
                "positives, and the label frequency is 1. Check that one is not a copy of the "
                "other."
            )
        if self._strata_are_small:
            common = format_number(self._mean_in_common, 1)
            warnings.append(
                f"The sources have {common} labels in common per stratum, fewer "
                f"than {LEAST_COMMON_PER_STRATUM}: the number of positives is underestimated, and "
                "its interval is too narrow. Merge strata."
            )
        return warnings

    def _warnings(self) -> list[str]:
        warnings = [f"! {warning}" for warning in self._assumption_warnings()]
        if self.positives_interval[1] >= self.n_rows.sum():
            warnings.append(
                "! The upper end of the number of positives is the number of rows. For evaluate, "
                "raise the lower end of the label frequency to the lowest that you think possible."
            )
        few = int(np.count_nonzero((self.both < LEAST_COMMON) & (self._found > 0)))
        if few and not self._strata_are_small:
            where = f" in {few} of {len(self.stratum)} strata" if len(self.stratum) > 1 else ""
            advice = "Merge strata." if len(self.stratum) > 1 else "Rely on the interval only."
            warnings.append(
                f"! Fewer than {LEAST_COMMON} labels in common{where}: the number of positives is "
                f"underestimated. {advice}"
            )
        return warnings


def check_strata(sources: TwoSources) -> None:
    """Refuse strata in which a single source found rows: they would have no hidden positives."""
    found_by = sources.both + sources.only_a, sources.both + sources.only_b
    alone = np.flatnonzero((found_by[0] > 0) != (found_by[1] > 0))
    if len(sources.stratum) == 1 or not alone.size:
        return
    raise InputError(
        f"only one source labeled rows in {format_count(alone.size)} of "
        f"{format_count(len(sources.stratum))} strata, such as {sources.stratum[alone[0]]!r}. "
        "Nothing can be said about hidden positives there. Merge these strata with others, or omit "
        "strata."
    )


def check_enough_in_common(sources: TwoSources) -> None:
    """Raise if independent sources would need more positives than there are rows."""
    least, _ = _hidden_limits(sources, 1.0, 1.0)
    n_rows = int(sources.n_rows.sum())
    if sources.n_labeled + least <= n_rows:
        return
    n_a, n_b = sources.both + sources.only_a, sources.both + sources.only_b
    expected = float(np.sum(n_a * n_b / sources.n_rows))
    raise InputError(
        f"the sources have too few labels in common to be independent: "
        f"{format_count(sources.both.sum())}. Independent sources with {format_count(n_a.sum())} "
        f"and {format_count(n_b.sum())} labels among {format_count(n_rows)} rows share at least "
        f"{format_number(expected, 1)} on average. Check that their rows match, and that neither "
        "leaves out rows of the other. Otherwise, pass evaluate a prior or label frequency that "
        "you know."
    )


def _hidden_limits(sources: TwoSources, low: float, high: float) -> tuple[float, float]:
    """Return confidence limits of the number of hidden positives, for odds ratios in a range."""
    limits = _exact_limits if np.count_nonzero(sources._found) == 1 else _summed_limits
    return limits(sources, low, high)


def _exact_limits(sources: TwoSources, low: float, high: float) -> tuple[float, float]:
    """Return the limits for labels in a single stratum."""
    both, only_a, only_b = (
        int(count.sum()) for count in (sources.both, sources.only_a, sources.only_b)
    )
    tail = (1 - sources.level) / 2
    hidden = float(np.sum(sources._hidden))
    # At a low level, the limits for a tiny overlap would not include Chapman's estimate.
    return (
        min(hidden_limit(tail, both, only_a, only_b, low), low * hidden),
        max(hidden_limit(1 - tail, both, only_a, only_b, high), high * hidden),
    )


def _summed_limits(sources: TwoSources, low: float, high: float) -> tuple[float, float]:
    """Return the limits for several strata, from Chapman's estimates and Seber's variances.

    A pseudo-observation in each stratum would add up over strata, so there is one for all together.
    """
    both, only_a, only_b = sources.both, sources.only_a, sources.only_b
    found = (both + only_a + 1) * (both + only_b + 1)
    variance = float(np.sum(found * only_a * only_b / ((both + 1.0) ** 2 * (both + 2))))
    hidden = float(np.sum(sources._hidden)) + 0.5
    factor = math.exp(normal_quantile(sources.level) * math.sqrt(variance + 0.5) / hidden)
    return max(low * hidden / factor - 0.5, 0.0), max(high * hidden * factor - 0.5, 0.0)


def _whole(value: float) -> str:
    return f"{value:,.0f}"


def _check_odds_ratio(odds_ratio: Any) -> tuple[float, float]:
    if isinstance(odds_ratio, tuple | list) and len(odds_ratio) == 2:
        low, high = (check_number("odds_ratio", value) for value in odds_ratio)
    else:
        value = check_number("odds_ratio", odds_ratio)
        low, high = min(value, 1.0), max(value, 1.0)
    if not 0 < low <= high:
        raise InputError(
            f"odds_ratio must be above 0, and its low end at most its high end; got {odds_ratio!r}."
        )
    return low, high
