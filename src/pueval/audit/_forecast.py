"""Forecasts: how wide the intervals will be, before any row is checked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.optimize

from pueval._typing import Array, Target
from pueval.audit._allocation import allocate
from pueval.audit._measure_gradients import PREVALENCE
from pueval.audit._plan_strata import PlanStrata
from pueval.audit._systematic_sampling import systematic_sample
from pueval.audit_estimates.audited_rows import AuditedRows
from pueval.counts.counts import Counts
from pueval.errors import InputError
from pueval.estimates.measure_titles import measure_title
from pueval.evaluation.evaluate import evaluate_audited
from pueval.text.numbers import format_level
from pueval.text.results import Result
from pueval.text.titles import title_in_sentence

# Draws from the distribution of the positives.
DRAWS = 400
# Searches for a budget change it at most by this factor at once, and end after so many forecasts.
LARGEST_STEP = 6.0
MOST_FORECASTS = 6
# Squared half-widths count as at least this share of the largest one: a width can be 0.
SMALLEST_RATIO = 1e-6
# Nobody checks more rows by hand.
MOST_ROWS = 100_000


@dataclass(frozen=True, eq=False)
class AuditSimulation:
    """Everything that simulated audits need.

    Attributes
    ----------
    counts : Counts
        All rows, at a few hundred scores.
    strata : PlanStrata
        Strata of the plan.
    candidates : ndarray of shape (k,)
        Unlabeled rows of each stratum that were not checked yet.
    priority : ndarray of shape (k,)
        Mean priority of a candidate in each stratum.
    earlier : AuditedRows or None
        Rows checked before.
    measures : tuple of str
        Measures to forecast.
    floor, threshold, target, purity, level, seed
        As for `plan`.
    """

    counts: Counts
    strata: PlanStrata
    candidates: Array
    priority: Array
    earlier: AuditedRows | None
    measures: tuple[str, ...]
    floor: float
    threshold: float
    target: Target
    purity: float
    level: float
    seed: int

    @property
    def n_candidates(self) -> int:
        """Number of rows that can be checked."""
        return round(float(self.candidates.sum()))

    @property
    def n_earlier(self) -> int:
        """Number of unlabeled rows that were checked before."""
        return 0 if self.earlier is None else len(self.earlier.part(labeled=False))

    def half_widths(
        self, budget: int, n_simulations: int, advance: Callable[[], None], labeling: int = 0
    ) -> dict[str, float]:
        """Return the mean half-width of each interval over simulated audits.

        ``labeling`` is the index of one of the strata's labelings.
        """
        share, widths = self.strata.labelings[labeling], []
        for simulation in range(n_simulations):
            rng = np.random.default_rng([self.seed, 31, simulation])
            widths.append(self._simulate(budget, share, rng))
            advance()
        means = np.mean(widths, axis=0)
        return {name: float(mean) for name, mean in zip(self.measures, means, strict=True)}

    def _simulate(self, budget: int, share: Array, rng: np.random.Generator) -> list[float]:
        """Draw rows by the plan and their classes by the shares of positives, and evaluate."""
        score = self.counts.score.astype(np.float64)
        stratum = self.strata.find(score)
        allocation = allocate(self.priority, self.candidates, budget, self.floor)
        chosen = self.candidates * allocation.probability(self.priority)
        within = self.counts.unlabeled / np.maximum(self.strata.unlabeled, 1e-12)[stratum]
        drawn = systematic_sample(chosen[stratum] * within, rng)
        positive = rng.random(drawn.size) < share[stratum[drawn]]
        audited = self._with_earlier(score[drawn], positive, chosen)
        purity = 1.0 if audited.labeled.any() else self.purity
        ev = evaluate_audited(
            self.counts,
            audited,
            purity=purity,
            target=self.target,
            threshold=self.threshold,
            level=self.level,
            n_resamples=DRAWS,
            seed=int(rng.integers(2**31)),
        )
        return [self._half_width(ev, name) for name in self.measures]

    def _with_earlier(self, score: Array, positive: Array, chosen: Array) -> AuditedRows:
        """Return drawn rows and those checked before.

        The expected number of checked rows in each stratum determines their weights.
        """
        labeled, weight = np.zeros(score.size, bool), np.ones(score.size)
        if self.earlier is not None:
            earlier = self.earlier
            chosen = chosen + stratum_counts(self.strata, earlier.part(labeled=False).score)
            score, labeled, positive, weight = (
                np.concatenate(pair)
                for pair in (
                    (score, earlier.score),
                    (labeled, earlier.labeled),
                    (positive, earlier.positive),
                    (weight, earlier.weight),
                )
            )
        by_stratum = self.strata.unlabeled / np.maximum(chosen, 1e-12)
        weight = np.where(labeled, weight, by_stratum[self.strata.find(score)])
        return AuditedRows(score, labeled, positive, weight, has_probability=True)

    def _half_width(self, ev: Any, name: str) -> float:
        if name != PREVALENCE:
            return float(ev[name].high - ev[name].low) / 2
        prior = ev.audit.prior
        share = 1.0 if self.target == "unlabeled" else self.counts.n_unlabeled / self.counts.n
        return share * float(prior.high - prior.low) / 2


def stratum_counts(strata: PlanStrata, score: Array) -> Array:
    """Return how many scores lie in each stratum."""
    return np.bincount(strata.find(score), minlength=strata.lower.size).astype(np.float64)


@dataclass(frozen=True, eq=False, repr=False)
class ForecastCurve(Result):
    """Forecast half-widths of confidence intervals by the number of checked rows.

    ``plan.curve()`` makes one.

    Attributes
    ----------
    budget : ndarray of int
        Numbers of rows to check, ascending.
    half_width : dict of str to ndarray
        For each measure, the forecast half-width of its interval. Of a first plan, it holds if
        labels are random.
    planned : int
        Budget of the plan.
    level : float
        Confidence level of the intervals.
    n_earlier : int
        Number of unlabeled rows that were checked before.
    narrowest, widest : dict of str to ndarray
        For each measure, the smallest and the largest half-width over plausible labelings, as in
        `Plan.forecast_range`; empty if an earlier audit shows how labels came about.
    """

    budget: Array
    half_width: dict[str, Array]
    planned: int
    level: float
    n_earlier: int = 0
    narrowest: dict[str, Array] = field(default_factory=dict)
    widest: dict[str, Array] = field(default_factory=dict)

    def at(self, budget: int) -> dict[str, float]:
        """Return the half-widths for any budget, from a curve through the forecasts.

        Squared half-widths follow a + b/n: n checked rows reduce b/n, and a remains, because rows
        and labels are a sample, too.

        Parameters
        ----------
        budget : int
            Number of rows to check.

        Returns
        -------
        dict of str to float
        """
        return self._fitted(self.half_width, budget)

    def range_at(self, budget: int) -> dict[str, tuple[float, float]]:
        """Return the smallest and largest half-widths over plausible labelings, for any budget.

        Parameters
        ----------
        budget : int
            Number of rows to check.

        Returns
        -------
        dict of str to (float, float)
            Both are those of `at` if an earlier audit shows how labels came about.
        """
        center = self.at(budget)
        low, high = (
            self._fitted(widths or self.half_width, budget)
            for widths in (self.narrowest, self.widest)
        )
        return {
            name: (min(low[name], width), max(high[name], width)) for name, width in center.items()
        }

    def gain(self, rows: int = 100) -> dict[str, float]:
        """Return how much narrower the intervals get by checking more rows than planned.

        Parameters
        ----------
        rows : int, default 100
            Number of rows more.

        Returns
        -------
        dict of str to float
            Differences of half-widths, for each measure.
        """
        now, later = self.at(self.planned), self.at(self.planned + rows)
        return {name: now[name] - later[name] for name in now}

    def _fitted(self, half_width: dict[str, Array], budget: int) -> dict[str, float]:
        n = self.budget + self.n_earlier
        fits = {name: fit_half_widths(n, widths) for name, widths in half_width.items()}
        return {
            name: float(np.sqrt(constant + slope / (budget + self.n_earlier)))
            for name, (constant, slope) in fits.items()
        }

    def _columns(self) -> dict[str, Any]:
        columns: dict[str, Any] = {"budget": self.budget}
        for name, half_width in self.half_width.items():
            columns[name] = half_width
            if self.widest:
                columns[f"{name}_narrowest"] = self.narrowest[name]
                columns[f"{name}_widest"] = self.widest[name]
        return columns

    def _headline(self) -> str:
        gains = ", ".join(
            f"{title_in_sentence(measure_title(name))} by {gain:.2g}"
            for name, gain in self.gain().items()
        )
        condition = ", if labels are random and over other labelings"
        return (
            f"Half-width of {format_level(self.level)} intervals by rows to check"
            f"{condition if self.widest else ''}\n"
            f"Checking 100 rows more than {self.planned:,} narrows {gains}"
        )


def fit_half_widths(n: Array, half_width: Array) -> tuple[float, float]:
    """Fit half_width² = a + b/n with a and b at least 0, by relative least squares."""
    square = np.asarray(half_width, np.float64) ** 2
    if not square.max() > 0:
        return 0.0, 0.0
    square = np.maximum(square, SMALLEST_RATIO * square.max())
    design = np.column_stack([np.ones(len(n)), 1 / np.asarray(n, np.float64)])
    (constant, slope), _ = scipy.optimize.nnls(
        design / square[:, None] * square.max(), np.full(len(n), square.max())
    )
    return float(constant), float(slope)


def find_budget(
    forecast: Callable[[int], float], goal: float, start: int, least: int, most: int, earlier: int
) -> int:
    """Return the smallest budget whose forecast half-width is at most the goal.

    Parameters
    ----------
    forecast : callable
        Half-width for a budget.
    goal : float
        Half-width to reach.
    start, least, most : int
        First, smallest and largest budget to try.
    earlier : int
        Number of rows checked before.
    """
    most = min(most, MOST_ROWS)
    widths: dict[int, float] = {}
    budget = min(start, most)
    for _ in range(MOST_FORECASTS):
        widths[budget] = forecast(budget)
        n = np.array([*widths]) + earlier
        constant, slope = fit_half_widths(n, np.array([*widths.values()]))
        if len(widths) == 1:
            constant, slope = 0.0, widths[budget] ** 2 * (budget + earlier)
        wanted = slope / (goal**2 - constant) - earlier if goal**2 > constant else np.inf
        step = np.clip(wanted, budget / LARGEST_STEP, budget * LARGEST_STEP)
        following = int(np.ceil(np.clip(step, least, most)))
        if following in widths or abs(following / budget - 1) < 0.05:
            budget = following
            break
        budget = following
    if budget == most and most not in widths:
        widths[most] = forecast(most)
    if budget == most and widths[most] > goal:
        raise InputError(
            f"checking {most:,} rows gives a half-width of {widths[most]:.3g}, not {goal:g}: rows "
            "and labels are a sample, too. Choose a wider interval, or collect more rows."
        )
    return budget
