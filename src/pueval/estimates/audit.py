"""Audit: results of checking a sample of rows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pueval._typing import Array, Range
from pueval.audit_estimates.apply_audit import AppliedAudit
from pueval.audit_estimates.design_estimate import difference_estimate
from pueval.audit_estimates.random_labeling_test import RandomLabelingTest, random_labeling_test
from pueval.core.mixture import check_share
from pueval.counts.counts import Counts
from pueval.errors import Contradiction, InputError
from pueval.estimates.audit_widths import AuditSettings, AuditWidths, compare_widths
from pueval.estimates.propensity_curve import PropensityCurve
from pueval.text.numbers import (
    equation_of_pvalue,
    format_count,
    format_interval,
    format_level,
    format_number,
)
from pueval.text.results import Result, plain_dict

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from pueval.displays import PropensityDisplay
    from pueval.priors import PriorEstimate

# Shares of the positives, from the top, at which the propensity is reported.
POSITIVE_RANKS = (0.05, 0.25, 0.5, 0.75, 0.95)
# Below this p-value, the audit contradicts labels that are assumed to be random.
CONTRADICTED_PVALUE = 0.01
# The labeling bias compares positives between these ranks.
BIAS_RANKS = (0.05, 0.95)


class AuditEstimate(NamedTuple):
    """A number with its interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, eq=False, repr=False)
class Audit(Result):
    """What an audit found; ``ev.audit``.

    Attributes
    ----------
    applied : AppliedAudit
        Audited rows, labeling model and posterior.
    counts : Counts
        The data without the audit.
    level : float
        Confidence level of the intervals.
    """

    applied: AppliedAudit
    counts: Counts
    level: float = 0.95
    _settings: AuditSettings | None = None

    # ------------------------------------------------------------------ what was checked

    @property
    def labeling(self) -> str:
        """What was assumed about labeling."""
        return self.applied.labeling

    @property
    def n_unlabeled(self) -> int:
        """Number of audited unlabeled rows."""
        return len(self.applied.rows.part(labeled=False))

    @property
    def n_unlabeled_positive(self) -> int:
        """Number of them that are positive."""
        return self.applied.rows.part(labeled=False).n_positive

    @property
    def n_labeled(self) -> int:
        """Number of audited labeled rows."""
        return len(self.applied.rows.part(labeled=True))

    @property
    def n_labeled_positive(self) -> int:
        """Number of them that are positive."""
        return self.applied.rows.part(labeled=True).n_positive

    # ------------------------------------------------------------------ estimates

    @property
    def _positives(self) -> Any:
        return self.applied.counts._audit

    def _estimate(self, value: float, draws: Array) -> AuditEstimate:
        tail = (1 - self.level) / 2
        low, high = (float(end) for end in np.quantile(draws, [tail, 1 - tail]))
        return AuditEstimate(value, min(low, value), max(high, value))

    @cached_property
    def _share_draws(self) -> dict[str, Array]:
        """Draws from the joint distribution of the shares that the audit determines."""
        audit, counts = self._positives, self.counts
        prior = audit.prior_draws(counts)
        labeled, hidden = audit.purity_draws * counts.n_labeled, prior * counts.n_unlabeled
        return {
            "prior": prior,
            "purity": audit.purity_draws,
            "prevalence": (hidden + labeled) / counts.n,
            "label_frequency": labeled / (labeled + hidden),
        }

    @cached_property
    def prior(self) -> AuditEstimate:
        """Share of positives among the unlabeled rows, by audit, labels and scores together."""
        audit, counts = self._positives, self.counts
        rows = np.diff(counts.at(audit.lower).unlabeled, prepend=0)
        value = float(rows @ audit.unlabeled_share / counts.n_unlabeled)
        return self._estimate(value, self._share_draws["prior"])

    @cached_property
    def prior_by_audit_alone(self) -> AuditEstimate | None:
        """Share of positives among the unlabeled rows, by the audited rows alone (Hájek).

        The interval is that of the Bayesian bootstrap (Rubin, 1981). None if only rows above some
        score were audited.
        """
        applied = self.applied
        if applied.covered < 1:
            return None
        rows, cells = applied.rows.part(labeled=False), applied.cells
        _, draws = difference_estimate(
            cells,
            rows,
            applied.posterior.unlabeled_positive.mean(axis=0),
            covered=1.0,
            alone=True,
            n_draws=len(applied.posterior.positive),
            seed=0,
        )
        return self._estimate(
            rows.positive_share, draws @ (cells.unlabeled / cells.unlabeled.sum())
        )

    @cached_property
    def prior_by_scores(self) -> PriorEstimate:
        """Share of positives among the unlabeled rows, by labels and scores alone."""
        from pueval.priors._estimate_prior import estimate_without_warning

        return estimate_without_warning(self.counts)

    @cached_property
    def purity(self) -> AuditEstimate | None:
        """Share of true positives among the labeled rows; None if none of them was audited."""
        if not self.n_labeled:
            return None
        return self._estimate(self._positives.purity, self._positives.purity_draws)

    @cached_property
    def label_frequency(self) -> AuditEstimate:
        """Share of all positives that are labeled."""
        labeled = self._positives.purity * self.counts.n_labeled
        value = labeled / (labeled + self.prior.value * self.counts.n_unlabeled)
        return self._estimate(value, self._share_draws["label_frequency"])

    # ------------------------------------------------------------------ labeling

    @property
    def random_labeling_pvalue(self) -> float:
        """P-value of the hypothesis that all positives are equally likely to be labeled.

        The test looks for a trend of the propensity in the score (likelihood ratio). It does not
        see labeling that depends on other features and not on the score; such labeling changes no
        measure of this classifier.
        """
        return self._random_labeling.pvalue

    @cached_property
    def _random_labeling(self) -> RandomLabelingTest:
        return random_labeling_test(self.applied.model)

    @property
    def contradicts_assumption(self) -> bool:
        """Whether labels are assumed to be random, and the audit shows that they are not."""
        return self.labeling == "random" and self.random_labeling_pvalue < CONTRADICTED_PVALUE

    @property
    def warnings(self) -> tuple[str, ...]:
        """What looks wrong: with the audited rows, or with what is assumed about labeling."""
        if not self.contradicts_assumption:
            return self.applied.warnings
        shown = equation_of_pvalue(self.random_labeling_pvalue)
        contradiction = Contradiction(
            f"the audit contradicts labeling='random' ({shown}): labels depend on the score. Leave "
            "labeling out."
        )
        return (contradiction, *self.applied.warnings)

    def propensity(self) -> PropensityCurve:
        """Return the probability that a positive row is labeled, by score.

        Returns
        -------
        PropensityCurve
        """
        posterior, cells = self.applied.posterior, self.applied.cells
        tail = (1 - self.level) / 2
        low, high = np.quantile(posterior.propensity, [tail, 1 - tail], axis=0)
        return PropensityCurve(
            cells.lower,
            self._positive_rank,
            posterior.propensity.mean(axis=0),
            low,
            high,
            self.level,
        )

    @cached_property
    def _positive_rank(self) -> Array:
        cells = self.applied.cells
        positives = np.cumsum(
            (cells.labeled + cells.unlabeled) * self.applied.posterior.positive.mean(axis=0)
        )
        rank: Array = positives / positives[-1]
        return rank

    def propensity_at(self, rank: float) -> AuditEstimate:
        """Return the propensity of the positive below a given share of all positives.

        Parameters
        ----------
        rank : float
            Share of the positives that score higher: 0.5 is the median positive.

        Returns
        -------
        AuditEstimate
        """
        cell = int(
            np.searchsorted(self._positive_rank, rank).clip(max=self._positive_rank.size - 1)
        )
        draws = self.applied.posterior.propensity[:, cell]
        return self._estimate(float(draws.mean()), draws)

    @cached_property
    def labeling_bias(self) -> AuditEstimate:
        """Largest ratio Λ between the propensities of two positives, by the audit.

        The extreme 5% of the positives at either end are left out. Every uncertain curve has a
        ratio above 1. So the interval starts at 1 unless the test of random labeling rejects it
        (`random_labeling_pvalue`).
        """
        rank = self._positive_rank
        inside = (rank >= BIAS_RANKS[0]) & (rank <= BIAS_RANKS[1])
        if not inside.any():
            inside[:] = True
        propensity = self.applied.posterior.propensity[:, inside]
        mean = propensity.mean(axis=0)
        with np.errstate(divide="ignore", invalid="ignore"):  # propensities of 0
            ratio = propensity.max(axis=1) / propensity.min(axis=1)
            estimate = self._estimate(float(mean.max() / mean.min()), ratio)
        if math.isnan(estimate.high):
            estimate = estimate._replace(high=math.inf)
        if self.random_labeling_pvalue < 1 - self.level:
            return estimate
        return estimate._replace(low=1.0)

    # ------------------------------------------------------------------ tests of what was believed

    def test(
        self,
        *,
        prior: float | None = None,
        prevalence: float | None = None,
        label_frequency: float | None = None,
        purity: float | None = None,
    ) -> float:
        """Test a share that was believed against the audit. Give exactly one.

        Parameters
        ----------
        prior, prevalence, label_frequency : float, optional
            Share of positives among unlabeled rows or among all rows; share of positives that are
            labeled.
        purity : float, optional
            Share of true positives among the labeled rows, if some of them were audited.

        Returns
        -------
        float
            Two-sided p-value: twice the smaller tail of the distribution that the audit implies.
        """
        shares = {
            "prior": prior,
            "prevalence": prevalence,
            "label_frequency": label_frequency,
            "purity": purity,
        }
        given = {name: value for name, value in shares.items() if value is not None}
        if len(given) != 1:
            raise InputError(
                f"give exactly one of {', '.join(shares)}; got {', '.join(given) or 'none'}."
            )
        ((name, value),) = given.items()
        value = check_share(name, value)
        if name == "purity" and not self.n_labeled:
            raise InputError("no labeled row was audited, so the purity cannot be tested.")
        draws = self._share_draws[name]
        below = float(np.mean(draws <= value))
        smallest = 1 / (len(draws) + 1)
        return min(1.0, 2 * max(min(below, 1 - below), smallest))

    # ------------------------------------------------------------------ what it bought

    def widths(self) -> AuditWidths:
        """Compare the widths of intervals with the audit, without it, and by the audit alone.

        The rows are evaluated three times, at the threshold of the evaluation, taken as given.

        Returns
        -------
        AuditWidths

        Examples
        --------
        >>> import numpy as np
        >>> from pueval import evaluate
        >>> rng = np.random.default_rng(0)
        >>> positive = rng.random(20_000) < 0.2
        >>> score = rng.normal(size=20_000) + 2 * positive
        >>> labeled = positive & (rng.random(20_000) < 0.3)
        >>> checked = rng.choice(np.flatnonzero(~labeled), 200, replace=False)
        >>> audited = np.full(20_000, np.nan)
        >>> audited[checked] = positive[checked]
        >>> widths = evaluate(labeled, score, audited=audited, n_resamples=500).audit.widths()
        >>> bool(np.median(widths.ratio_to_audit_alone) < 0.8)
        True
        """
        if self._settings is None:
            raise InputError(
                "widths() needs intervals, but this evaluation was made with level=None. Evaluate "
                "with a level."
            )
        return self._widths

    @cached_property
    def _widths(self) -> AuditWidths:
        assert self._settings is not None  # noqa: S101 - see widths
        return compare_widths(self, self._settings)

    # ------------------------------------------------------------------ picture and text

    def plot(self, ax: Axes | None = None) -> PropensityDisplay:
        """Plot the propensity by score, with the audited rows.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on; by default those of a new figure.

        Returns
        -------
        PropensityDisplay
            Display with ``figure_``, ``ax_`` and ``frame()``.
        """
        from pueval.displays import PropensityDisplay

        return PropensityDisplay.from_audit(self, ax=ax)

    def sentences(self) -> list[str]:
        """Return what the audit found, as sentences.

        Returns
        -------
        list of str
        """
        found = (
            f"{format_count(self.n_unlabeled_positive)} of {format_count(self.n_unlabeled)} "
            "audited unlabeled rows are positive"
        )
        if self.n_labeled:
            found += (
                f", and {format_count(self.n_labeled_positive)} of "
                f"{format_count(self.n_labeled)} audited labeled rows"
            )
        return [f"{found}.", self._labeling_sentence()]

    def _labeling_sentence(self) -> str:
        """Say whether labels are random, and how likely a label is at different scores."""
        shown = equation_of_pvalue(self.random_labeling_pvalue)
        labeling = f"The audit does not contradict random labeling ({shown})"
        if self.random_labeling_pvalue < 0.05:
            trend = "high" if self._random_labeling.slope > 0 else "low"
            labeling = f"Labels favor {trend} scores ({shown})"
        if self.labeling == "random":
            return f"{labeling}."
        bottom, middle, top = (self.propensity_at(rank).value for rank in (0.95, 0.5, 0.05))
        return (
            f"{labeling}: the probability of a label is {bottom:.2g} for the lowest positives, "
            f"{middle:.2g} for the median one and {top:.2g} for the highest."
        )

    def _headline(self) -> str:
        level = format_level(self.level)

        def line(name: str, estimate: AuditEstimate | Range | None) -> str:
            if estimate is None:
                return ""
            value, low, high = estimate  # type: ignore[misc]
            interval = f"{level} CI {format_interval(low, high)}"
            return f"\n{name:<32} {format_number(value)} ({interval})"

        return (
            " ".join(self.sentences())
            + line("Prior", self.prior)
            + line("Prior by the audit alone", self.prior_by_audit_alone)
            + line("Label frequency", self.label_frequency)
            + line("Purity", self.purity)
            + line("Labeling bias Λ", self.labeling_bias)
        )

    def _table(self) -> str:
        return "" if self._settings is None else repr(self.widths())

    def to_dict(self) -> dict[str, Any]:
        """Return what the audit found as plain numbers and text, ready for JSON.

        Returns
        -------
        dict
            Undefined and infinite numbers are None.
        """
        estimates = {
            "prior": self.prior,
            "prior_by_audit_alone": self.prior_by_audit_alone,
            "label_frequency": self.label_frequency,
            "purity": self.purity,
            "labeling_bias": self.labeling_bias,
        }
        content = {
            "labeling": self.labeling,
            "n_unlabeled": self.n_unlabeled,
            "n_unlabeled_positive": self.n_unlabeled_positive,
            "n_labeled": self.n_labeled,
            "n_labeled_positive": self.n_labeled_positive,
            "level": self.level,
            **{
                name: None if estimate is None else estimate._asdict()
                for name, estimate in estimates.items()
            },
            "random_labeling_pvalue": self.random_labeling_pvalue,
            "propensity": {
                f"{rank:g}": self.propensity_at(rank)._asdict() for rank in POSITIVE_RANKS
            },
            "widths": None if self._settings is None else self.widths().to_dict(),
        }
        return plain_dict(content)
