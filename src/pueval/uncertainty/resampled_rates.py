"""Resampled rates: resampled counts, corrected for mixtures of positives and negatives."""

from __future__ import annotations

import weakref
from collections import deque
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from threading import Lock
from typing import Any, TypeVar, cast

import numpy as np

from pueval._typing import Array, Target
from pueval.core.cluster_table import ClusterTable
from pueval.core.mixture import Mixture, Mixtures
from pueval.core.rates import (
    Rates,
    Shares,
    correct_shares,
    correct_steps,
    monotone_rates_by_threshold,
)
from pueval.counts.counts import Counts
from pueval.samples.steps import Steps
from pueval.uncertainty.bootstrap_draws import BootstrapDraws
from pueval.uncertainty.clustered_auc import ClusteredAuc
from pueval.uncertainty.delong import delong_standard_error
from pueval.uncertainty.intervals import IntervalOptions
from pueval.uncertainty.uncertain_prior import UncertainPrior

# Small results that are kept: rates at a threshold, and areas of all resamples.
MOST_RESULTS = 32
# Models that keep their draws. Those of one take some 20 MB, and are the same when made again.
MOST_KEPT = 4

_recent: deque[weakref.ref[ResampledRates]] = deque()
_recent_lock = Lock()

Kept = TypeVar("Kept")


@dataclass(frozen=True, eq=False)
class ResampledRates:
    """Resampled counts at the same thresholds, and what is known about prior and purity.

    Attributes
    ----------
    options : IntervalOptions
        Confidence level, number of resamples, random seed.
    counts : Counts
        The data.
    target : {"population", "unlabeled"}
        Population to evaluate.
    prior : UncertainPrior
        Prior and purity, and how well they are known.
    draw : callable
        Draws the counts, when ``draws`` is first used and whenever they were forgotten since.
    delong_corners : Steps or None
        Corners of the naive ROC curve; None where DeLong's formula does not hold.
    thresholds : callable
        Returns the thresholds that bound the cells of the draws.
    standard_errors : mapping of str to float
        Standard errors of measures that are known without resampling, for a known mixture.
    """

    options: IntervalOptions
    counts: Counts
    target: Target
    prior: UncertainPrior
    draw: Callable[[], BootstrapDraws]
    delong_corners: Steps | None
    thresholds: Callable[[], Array]
    standard_errors: Mapping[str, float] = field(default_factory=dict)

    def __getstate__(self) -> dict[str, Any]:
        """Leave the draws out of pickles: the same draws can be made again."""
        return {attribute.name: getattr(self, attribute.name) for attribute in fields(self)}

    @property
    def mixture(self) -> Mixture:
        """Prior and purity: the point estimate, or the middle of the given region."""
        return self.prior.mixture

    @cached_property
    def draws(self) -> BootstrapDraws:
        """The resampled counts, as shares of rows."""
        _forget_other_draws(self)
        return self.draw()

    @cached_property
    def naive_auc_error(self) -> float | None:
        """DeLong's standard error of the naive AUC, with one pseudo-observation per class.

        None where the formula does not hold.
        """
        if self.delong_corners is None:
            return None
        table = self.cluster_table
        return delong_standard_error(
            self.counts,
            self.delong_corners,
            pseudo_observation=True,
            design_effect=1.0 if table is None else table.auc_effect,
        )

    @property
    def clustered_auc(self) -> ClusteredAuc | None:
        """What clusters do to the interval of the AUC; None without, and with propensities."""
        table = None if self.counts.has_propensity else self.cluster_table
        return None if table is None else ClusteredAuc.of(self.counts, table)

    @cached_property
    def cluster_table(self) -> ClusterTable | None:
        """Rows by cluster and cell; None if rows are independent."""
        if self.counts._clusters is None:
            return None
        return ClusterTable.of(self.counts, self.thresholds())

    @property
    def share_effect(self) -> float | None:
        """Largest design effect of shares of rows above thresholds; None for independent rows."""
        table = self.cluster_table
        return None if table is None else float(table.kind_effects.max())

    @property
    def n_independent_labeled(self) -> float:
        """Effective number of independent labeled rows, at least 1."""
        table = self.cluster_table
        effect = 1.0 if table is None else float(table.kind_effects[0])
        return max(self.counts.effective_sizes[0] / effect, 1.0)

    @cached_property
    def mixture_draws(self) -> Mixtures | None:
        """Prior and purity of each resample, if they vary."""
        return None if self.prior.draw_mixtures is None else self.prior.draw_mixtures(self.draws)

    @property
    def drawn_mixture(self) -> Mixture | Mixtures:
        """Prior and purity of each resample; one mixture for all of them if these do not vary."""
        return self.mixture if self.mixture_draws is None else self.mixture_draws

    # ------------------------------------------------------------------ rates

    def rates_for(
        self, shares: Shares, mixture: Mixture | Mixtures, columns: Array | None = None
    ) -> Rates:
        """Correct shares for a mixture, at all thresholds or at those of some columns."""
        threshold = self.draws.threshold
        if columns is not None:
            shares, threshold = shares.part(columns), threshold[columns]
        elif mixture is self.mixture and shares is self.draws.resampled:
            return self.resampled_rates
        return correct_shares(self.counts, threshold, shares, mixture, self.target)

    def centered_rates(self, mixture: Mixture | Mixtures) -> Rates:
        """Return the rates of each resample, moved so that their center is monotone.

        Rates that look too good hardly vary around their own center.
        """
        return self.centered(self.rates_for(self.draws.resampled, mixture), mixture)

    def centered(self, rates: Rates, mixture: Mixture | Mixtures) -> Rates:
        """Return rates of resamples, moved so that their center for a mixture is monotone."""
        center = self.rates_for(self.draws.expected, mixture)
        tpr, fpr = monotone_rates_by_threshold(center)
        return replace(
            rates, tpr=rates.tpr + (tpr - center.tpr), fpr=rates.fpr + (fpr - center.fpr)
        )

    @cached_property
    def resampled_rates(self) -> Rates:
        """Rates of each resample for ``mixture``."""
        return correct_shares(
            self.counts, self.draws.threshold, self.draws.resampled, self.mixture, self.target
        )

    def rates_at(self, threshold: float, mixture: Mixture | Mixtures) -> Rates:
        """Return the rates at a threshold."""
        return self._kept(
            ("data", threshold, mixture),
            lambda: correct_steps(self.counts, self._steps_at(threshold), mixture, self.target),
        )

    def resampled_rates_at(self, threshold: float, mixture: Mixture | Mixtures) -> Rates:
        """Return the rates of each resample at a threshold that bounds a cell."""

        def rates() -> Rates:
            return self.rates_for(self.draws.resampled, mixture, self.column_of(threshold))

        return self._kept(("resamples", threshold, mixture), rates)

    def column_of(self, threshold: float) -> Array:
        """Return the column of the draws at a threshold that bounds a cell."""
        return np.flatnonzero(self.draws.threshold == threshold)[[0]]

    def _steps_at(self, threshold: float) -> Steps:
        return self._kept(("counts", threshold), lambda: self.counts.at(threshold))

    def _kept(self, key: Hashable, compute: Callable[[], Kept]) -> Kept:
        """Return a cached result, or compute it: measures and levels share rates."""
        kept = self._results
        value = kept.get(key)
        if value is None:
            value = compute()
            if len(kept) >= MOST_RESULTS:
                kept.clear()
            kept[key] = value
        return cast("Kept", value)

    @cached_property
    def _results(self) -> dict[Hashable, Any]:
        return {}


def _forget_other_draws(resamples: ResampledRates) -> None:
    """Let all but the `MOST_KEPT` most recent resamples forget their draws."""
    with _recent_lock:
        _recent.append(weakref.ref(resamples))
        while len(_recent) > MOST_KEPT:
            oldest = _recent.popleft()()
            if oldest is not None and oldest is not resamples:
                for name in ("draws", "resampled_rates", "_results"):
                    vars(oldest).pop(name, None)
