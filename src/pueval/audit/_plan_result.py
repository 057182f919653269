"""Plan: which unlabeled rows to check, and what to expect from checking them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from pueval._checks import check_count, check_number
from pueval._progress import progress_bar
from pueval._typing import Array
from pueval.audit._allocation import Allocation
from pueval.audit._combined_probability import combine_probability
from pueval.audit._forecast import MOST_FORECASTS, AuditSimulation, ForecastCurve, find_budget
from pueval.audit._measure_gradients import PREVALENCE
from pueval.audit._systematic_sampling import systematic_sample
from pueval.audit_estimates.apply_audit import LEAST_AUDITED
from pueval.core.measures import AREAS
from pueval.errors import InputError
from pueval.estimates.measure_titles import measure_title
from pueval.sources.arrays import as_scores, one_column
from pueval.text.numbers import format_count, format_threshold
from pueval.text.results import Result, plain_dict
from pueval.text.titles import title_in_sentence

# Budgets of a curve, relative to that of the plan.
CURVE_BUDGETS = (0.25, 0.5, 1.0, 2.0, 4.0)


@dataclass(frozen=True, eq=False)
class PlanRows:
    """The rows of a plan that was made from arrays.

    Attributes
    ----------
    score : ndarray
        Scores.
    unlabeled, labeled, checked : ndarray of bool
        Whether the row is unlabeled or labeled, and whether it was checked before.
    weight : ndarray or None
        Weights.
    earlier_probability : ndarray or None
        Probability with which each row was chosen in an earlier audit, if it was given.
    """

    score: Array
    unlabeled: Array
    labeled: Array
    checked: Array
    weight: Array | None
    earlier_probability: Array | None

    @property
    def earlier(self) -> Array:
        """Probability of each row in the earlier audit: as given, or that of a random sample."""
        if self.earlier_probability is not None:
            return self.earlier_probability.copy()
        probability = np.zeros(self.score.size)
        for kind in (self.unlabeled, self.labeled):
            if kind.any():
                probability[kind] = np.mean(self.checked[kind])
        return probability


@dataclass(frozen=True, eq=False, repr=False)
class Plan(Result):
    """Which unlabeled rows to check; made by `plan`.

    Attributes
    ----------
    budget : int
        Number of rows to check.
    measures : tuple of str
        Measures whose intervals the plan makes narrow.
    threshold : float
        Threshold of the measures. Pass it to `evaluate`, too.
    floor : float
        Smallest probability, as a share of that of a simple random sample.
    warnings : tuple of str
        What looks wrong with the rows before the audit, as for `evaluate`.
    """

    budget: int
    measures: tuple[str, ...]
    threshold: float
    floor: float
    _allocation: Allocation
    _simulation: AuditSimulation
    _rows: PlanRows | None = None
    warnings: tuple[str, ...] = ()

    # ------------------------------------------------------------------ probabilities

    @property
    def n_candidates(self) -> int:
        """Number of unlabeled rows that were not checked yet."""
        return self._simulation.n_candidates

    @property
    def n_earlier(self) -> int:
        """Number of unlabeled rows that were checked before."""
        return self._simulation.n_earlier

    def probability(self, score: Any, *, sample_weight: Any = None) -> Array:
        """Return the probability with which unlabeled rows with these scores are chosen.

        Parameters
        ----------
        score : array-like
            Scores.
        sample_weight : array-like, optional
            Weights, if the plan was made with weights. Rows with larger weights are more likely to
            be chosen.

        Returns
        -------
        ndarray
        """
        strata = self._simulation.strata
        priority = strata.priority[strata.find(as_scores(one_column(score, "score")))]
        if sample_weight is not None:
            priority = priority * one_column(sample_weight, "sample_weight")
        return self._allocation.probability(priority)

    @cached_property
    def probabilities(self) -> Array:
        """Probability of each row; 0 for rows that are not unlabeled or were checked before.

        They add up to the budget. Pass them to `evaluate` as ``audit_probability``.
        """
        rows = self._need_rows("probabilities")
        return np.where(rows.unlabeled & ~rows.checked, self._unconditional, 0.0)

    @cached_property
    def _unconditional(self) -> Array:
        rows = self._need_rows("probabilities")
        return self.probability(rows.score, sample_weight=rows.weight)

    @cached_property
    def combined_probabilities(self) -> Array:
        """Probability that each row is checked by this plan or was checked before.

        For unlabeled rows, see `combine_probability`; the earlier ``audit_probability`` must have
        been given for all of them. For labeled rows, it is that of the earlier audit. Pass it to
        `evaluate` as ``audit_probability``, with what both audits found as ``audited``. For a
        third plan, it is the ``audit_probability`` of the first two.
        """
        rows = self._need_rows("combined_probabilities")
        combined = rows.earlier
        unlabeled = rows.unlabeled
        combined[unlabeled] = combine_probability(
            combined[unlabeled], self._unconditional[unlabeled]
        )
        return combined

    def _need_rows(self, name: str) -> PlanRows:
        if self._rows is None:
            raise InputError(
                f"{name} needs a plan made from arrays; this one was made from Counts. Choose rows "
                "where they are, with the probabilities plan.probability(score)."
            )
        return self._rows

    def draw(self, seed: int = 0) -> Array:
        """Choose the rows to check.

        The sample is systematic, down the scores with a random start, so that every part of the
        scores gets its share of the budget. Each row is chosen with exactly its probability.

        Parameters
        ----------
        seed : int, default 0
            Random seed. Note it: the same seed draws the same rows.

        Returns
        -------
        ndarray of int
            Positions of the rows in random order, so that the order does not tell a reviewer which
            rows score high. There are ``budget`` of them.
        """
        rows = self._need_rows("draw()")
        check_count("seed", seed, least=0)
        rng = np.random.default_rng([seed, 32])
        candidates = np.flatnonzero(self.probabilities > 0)
        # Rows of a stratum are in random order.
        stratum = self._simulation.strata.find(rows.score[candidates])
        candidates = candidates[np.argsort(stratum + rng.random(stratum.size))]
        chosen = candidates[systematic_sample(self.probabilities[candidates], rng)]
        return np.asarray(rng.permutation(chosen))

    # ------------------------------------------------------------------ forecasts

    def forecast(self, budget: int | None = None, *, n_simulations: int = 8) -> dict[str, float]:
        """Forecast the half-width of each interval before any row is checked.

        Audits by the plan are simulated, with the classes of the rows drawn from the expected
        shares of positives, and evaluated as `evaluate` does by default. The forecast is as good
        as these shares. Without an earlier audit they assume random labeling; `forecast_range`
        says what other labelings would do. A plan that continues an audit, even of a few dozen
        rows, forecasts from what that found.

        Parameters
        ----------
        budget : int, optional
            Number of rows to check; by default that of the plan.
        n_simulations : int, default 8
            Number of simulated audits.

        Returns
        -------
        dict of str to float
            Mean half-width of the confidence interval of each measure.
        """
        budget = self.budget if budget is None else budget
        check_budget(budget, self.n_candidates)
        check_count("n_simulations", n_simulations)
        with progress_bar("Simulating audits", n_simulations) as advance:
            return self._simulation.half_widths(budget, n_simulations, advance)

    def forecast_range(
        self, budget: int | None = None, *, n_simulations: int = 8
    ) -> dict[str, tuple[float, float]]:
        """Forecast the narrowest and widest half-width over plausible labelings.

        Before any row is checked, nothing shows how labels came about. Audits are simulated for
        three labelings: random, and with log-odds of a label that fall or rise by 1 with every
        standard deviation of the labeled rows' scores. A plan that continues an audit knows more:
        both ends are its `forecast`.

        Parameters
        ----------
        budget : int, optional
            Number of rows to check; by default that of the plan.
        n_simulations : int, default 8
            Number of simulated audits for each labeling.

        Returns
        -------
        dict of str to (float, float)
            Smallest and largest mean half-width of the confidence interval of each measure.
        """
        budget = self.budget if budget is None else budget
        curve = self.curve([budget], n_simulations=n_simulations)
        if not curve.widest:
            return {name: (float(w[0]), float(w[0])) for name, w in curve.half_width.items()}
        return {
            name: (float(curve.narrowest[name][0]), float(curve.widest[name][0]))
            for name in self.measures
        }

    def curve(
        self, budgets: Sequence[int] | None = None, *, n_simulations: int = 8
    ) -> ForecastCurve:
        """Forecast the half-widths for several budgets.

        For a first plan, they are simulated for random labeling and for the other labelings of
        `forecast_range`.

        Parameters
        ----------
        budgets : sequence of int, optional
            Numbers of rows to check; by default a quarter to four times that of the plan.
        n_simulations : int, default 8
            Number of simulated audits for each budget and labeling.

        Returns
        -------
        ForecastCurve
            Its ``gain(100)`` says what the next 100 rows would buy.
        """
        if budgets is None:
            factors = np.array(CURVE_BUDGETS) * self.budget
            budgets = np.round(factors.clip(LEAST_AUDITED, self.n_candidates)).astype(int).tolist()
        budgets = [*budgets] if isinstance(budgets, Iterable) else []
        if not budgets:
            raise InputError("budgets must be a list of numbers of rows, such as [100, 200].")
        for budget in budgets:
            check_budget(budget, self.n_candidates)
        check_count("n_simulations", n_simulations)
        numbers = np.unique(np.asarray(budgets, dtype=np.int64))
        labelings = self._labelings
        with progress_bar(
            "Simulating audits", n_simulations * numbers.size * len(labelings)
        ) as advance:
            # By labeling, budget and measure.
            widths = np.array(
                [
                    [
                        [*self._simulation.half_widths(n, n_simulations, advance, k).values()]
                        for n in numbers.tolist()
                    ]
                    for k in labelings
                ]
            )
        half_width, narrowest, widest = (
            dict(zip(self.measures, table.T, strict=True))
            for table in (widths[0], widths.min(axis=0), widths.max(axis=0))
        )
        ranges = (narrowest, widest) if len(labelings) > 1 else ({}, {})
        return ForecastCurve(
            numbers, half_width, self.budget, self._simulation.level, self.n_earlier, *ranges
        )

    @property
    def _labelings(self) -> range:
        """Labelings that forecasts consider: the first is random, or what an audit found."""
        return range(len(self._simulation.strata.labelings))

    def budget_for(self, half_width: float, *, n_simulations: int = 8) -> int:
        """Return how many rows to check for intervals of a given half-width.

        Parameters
        ----------
        half_width : float
            Half-width to reach for every measure of the plan, such as 0.03 for "± 0.03".
        n_simulations : int, default 8
            Number of simulated audits for each budget that is tried.

        Returns
        -------
        int
            Number of rows, at least 10; about right, as forecasts are simulated. For a first plan,
            enough for each of the labelings of `forecast_range`.
        """
        goal = check_number("half_width", half_width)
        if goal <= 0:
            raise InputError(f"half_width must be above 0; got {half_width!r}.")
        check_count("n_simulations", n_simulations)
        most = MOST_FORECASTS * n_simulations * len(self._labelings)
        with progress_bar("Simulating audits", most) as advance:

            def widest(budget: int) -> float:
                return max(
                    width
                    for k in self._labelings
                    for width in self._simulation.half_widths(
                        budget, n_simulations, advance, k
                    ).values()
                )

            return find_budget(
                widest, goal, self.budget, LEAST_AUDITED, self.n_candidates, self.n_earlier
            )

    # ------------------------------------------------------------------ text

    def _columns(self) -> dict[str, Any]:
        simulation = self._simulation
        probability = self._allocation.probability(simulation.priority)
        return {
            "lowest_score": simulation.strata.lower,
            "rows": simulation.candidates.astype(np.int64),
            "positive_share": simulation.strata.positive_share,
            "probability": probability,
            "to_check": simulation.candidates * probability,
        }

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as plain numbers, lists and text, ready for JSON.

        Returns
        -------
        dict
        """
        content = {
            "budget": self.budget,
            "measures": list(self.measures),
            "threshold": self.threshold,
            "floor": self.floor,
            "n_candidates": self.n_candidates,
            "n_earlier": self.n_earlier,
            "strata": self._columns(),
            "warnings": self.warnings,
        }
        return plain_dict(content)

    def _headline(self) -> str:
        earlier = f", after {format_count(self.n_earlier)} before" if self.n_earlier else ""
        titles = [title_in_sentence(measure_title(name)) for name in self.measures]
        at = ""
        if not {*self.measures} <= {PREVALENCE, *AREAS}:
            at = f" at threshold {format_threshold(self.threshold)}"
        return (
            f"Check {format_count(self.budget)} of {format_count(self.n_candidates)} unlabeled "
            f"rows{earlier}, for {', '.join(titles)}{at}"
        )


def check_budget(budget: Any, n_candidates: int) -> None:
    """Refuse budgets that are too small for an estimate, or larger than the number of rows."""
    check_count("budget", budget, least=LEAST_AUDITED)
    if budget > n_candidates:
        raise InputError(
            f"budget must be at most {n_candidates:,}, the number of unlabeled rows that can be "
            f"checked; got {budget:,}."
        )
