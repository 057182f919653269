"""PriorEstimate: an estimated prior and purity, with the estimates that led to them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from pueval.core.mixture import Mixture
from pueval.core.prior_line import KnownShare
from pueval.errors import InputError
from pueval.text.numbers import (
    UNDEFINED,
    format_estimate,
    format_interval,
    format_level,
    format_number,
)
from pueval.text.results import Result
from pueval.text.tables import text_table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from pueval.displays import PriorEstimateDisplay
    from pueval.priors._estimator_bases import ScorePriorEstimator

HEADER = ("", "prior", "interval", "purity", "interval")


@dataclass(frozen=True, repr=False)
class MemberEstimate(Result):
    """Prior and purity estimated by one method.

    Attributes
    ----------
    prior, purity : float
        Point estimates.
    prior_interval, purity_interval : tuple of float, or None
        Confidence intervals; None if the method has none.
    """

    prior: float
    purity: float
    prior_interval: tuple[float, float] | None = None
    purity_interval: tuple[float, float] | None = None

    _share_hint: ClassVar[str] = "Pass its .prior or .prior_interval as prior."

    @classmethod
    def from_fitted(cls, estimator: ScorePriorEstimator) -> MemberEstimate:
        """Collect the estimates of a fitted estimator."""
        return cls(
            estimator.prior_,
            estimator.purity_,
            estimator.prior_interval_,
            estimator.purity_interval_,
        )

    def _headline(self) -> str:
        prior = format_estimate(self.prior, *(self.prior_interval or (math.nan, math.nan)))
        purity = format_estimate(self.purity, *(self.purity_interval or (math.nan, math.nan)))
        return f"prior {prior}, purity {purity}"


@dataclass(frozen=True, repr=False)
class PriorEstimate(Result):
    """Prior and purity estimated from the data; made by `estimate`.

    Attributes
    ----------
    method : str
        Name of the method.
    prior, purity : float
        Point estimates.
    prior_interval, purity_interval : tuple of float, or None
        Confidence intervals; None if the method has none, or if you gave the purity.
    prior_upper : float
        Largest prior compatible with the data, for any distribution of the scores.
    purity_pvalue : float or None
        p-value of the test of clean labels (purity 1); None if there is no such test: for a known
        purity below 1, with fewer than 10 labeled rows, or if the scores do not separate.
    members : dict of str to MemberEstimate
        Estimates of the methods that were combined; with a single method, its own estimate.
    warnings : tuple of str
        Reasons to doubt the estimate.
    level : float
        Confidence level of the intervals and of ``prior_upper``.
    known_share : {"prior", "prevalence", "label_frequency"} or None
        Share that was known. Only the purity was then estimated, and the prior follows from it.
    prior_slope : float
        Change of the prior with the purity, if it follows from a known share.
    """

    method: str
    prior: float
    purity: float
    prior_interval: tuple[float, float] | None
    purity_interval: tuple[float, float] | None
    prior_upper: float
    purity_pvalue: float | None
    members: dict[str, MemberEstimate]
    warnings: tuple[str, ...]
    level: float
    known_share: KnownShare | None = None
    prior_slope: float = 0.0

    _share_hint: ClassVar[str] = "Pass it as prior."

    def prior_at(self, purity: float) -> float:
        """Return the prior at another purity, if it follows from a known share.

        Parameters
        ----------
        purity : float
            Share of true positives among the labeled rows.

        Returns
        -------
        float
        """
        return max(self.prior + self.prior_slope * (purity - self.purity), 0.0)

    def mixture(self) -> Mixture:
        """Return the estimated prior and purity as a Mixture.

        Returns
        -------
        Mixture
        """
        if math.isnan(self.prior):
            raise InputError(
                f"the prior cannot be estimated: {' '.join(self.warnings)} "
                "Give prior, prevalence or label_frequency."
            )
        return Mixture(self.prior, self.purity)

    def _columns(self) -> Mapping[str, Any]:
        """Return a row per method; the first is the estimate itself, the others its members."""
        estimates = self._by_method()
        columns: dict[str, Any] = {"method": [*estimates]}
        for name in ("prior", "purity"):
            intervals = [
                getattr(estimate, f"{name}_interval") or (math.nan, math.nan)
                for estimate in estimates.values()
            ]
            columns[name] = [getattr(estimate, name) for estimate in estimates.values()]
            columns[f"{name}_low"], columns[f"{name}_high"] = zip(*intervals, strict=True)
        return columns

    def plot(self, ax: Axes | None = None) -> PriorEstimateDisplay:
        """Plot the prior of each method with its confidence interval.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on; by default those of a new figure.

        Returns
        -------
        PriorEstimateDisplay
            Display with ``figure_``, ``ax_`` and ``frame()``.
        """
        from pueval.displays import PriorEstimateDisplay

        return PriorEstimateDisplay.from_estimate(self, ax=ax)

    def _by_method(self) -> dict[str, MemberEstimate]:
        """Return the estimate itself, followed by its members."""
        combined = MemberEstimate(
            self.prior, self.purity, self.prior_interval, self.purity_interval
        )
        return {self.method: combined} | {
            name: member for name, member in self.members.items() if name != self.method
        }

    def rows(self) -> list[list[str]]:
        """Return the printed table: method, prior, interval, purity, interval.

        Returns
        -------
        list of list of str
        """
        return [
            [
                name if name == self.method else f"  {name}",
                format_number(estimate.prior),
                _interval_text(estimate.prior_interval),
                format_number(estimate.purity),
                _interval_text(estimate.purity_interval),
            ]
            for name, estimate in self._by_method().items()
        ]

    def notes(self) -> list[str]:
        """Return the sentences printed below the table.

        Returns
        -------
        list of str
        """
        bound = (
            f"The data are compatible with a prior of at most {self.prior_upper:.3g} "
            f"({format_level(self.level)} confidence, for any distribution of the scores)."
        )
        sentences = [bound]
        if self.purity_pvalue is not None and self.purity_interval is not None:
            sentences.append(f"Test of clean labels (purity 1): p = {self.purity_pvalue:.2g}.")
        return [*sentences, *(f"! {warning}" for warning in self.warnings)]

    def _headline(self) -> str:
        return f"Prior estimated by {self.method}, {format_level(self.level)} confidence intervals"

    def _table(self) -> str:
        return "\n".join([text_table(HEADER, self.rows()), *self.notes()])


def _interval_text(interval: tuple[float, float] | None) -> str:
    return UNDEFINED if interval is None else format_interval(*interval)
