"""Evaluation: everything about one classifier, as numbers, curves, data and text."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any

from pueval import presentation
from pueval.bounds import BandMethod, Bounds, Start, claesen_bounds
from pueval.counts import Counts, Steps
from pueval.curves import (
    PrecisionRecallCurve,
    RocCurve,
    recover_precision_recall,
    roc,
)
from pueval.errors import InputError, require
from pueval.intervals import (
    Interval,
    Resamples,
    Resampling,
    resample,
)
from pueval.measures import AREAS, find_measure, unknown_measure
from pueval.mixture import NAIVE, Mixture, Target
from pueval.ranking import ranking_measures
from pueval.rates import Rates, naive_rates, rates
from pueval.resolution import Resolution, resolution
from pueval.results import (
    Best,
    Contingency,
    Estimate,
    OperatingPoint,
    best_value,
    estimate,
    operating_point,
)
from pueval.sensitivity import TippingPoint, bias_bounds, tipping_point

if TYPE_CHECKING:
    import pandas as pd

    from pueval.priors import PriorEstimate


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation:
    """Corrected performance of one classifier; made by `evaluate`.

    ``ev["f1"].value`` is the corrected measure, ``ev["f1"].naive`` the one that counts unlabeled
    rows as negative. Areas are ``"roc_auc"`` and ``"average_precision"``; all others belong to
    ``ev.threshold``.

    Attributes
    ----------
    counts : Counts
        The data.
    mixture : Mixture
        Prior and purity.
    target : str
        ``"population"`` or ``"unlabeled"``.
    threshold : float
        The threshold of the measures that need one.
    warnings : tuple of str
        What looked wrong.
    prior_estimate : PriorEstimate or None
        Where prior and purity came from, if they were estimated.
    resampling : Resampling or None
        How the intervals were made: level, number of resamples, seed.
    here : OperatingPoint
        Everything at ``threshold``.
    """

    counts: Counts
    mixture: Mixture
    target: Target
    threshold: float
    warnings: tuple[str, ...]
    prior_estimate: PriorEstimate | None
    resampling: Resampling | None
    here: OperatingPoint
    _corners: Steps
    _rates: tuple[Rates, Rates]
    _resamples: Resamples | None
    _areas: dict[str, Estimate]

    # ------------------------------------------------------------------ numbers

    def __getitem__(self, name: str) -> Estimate:
        if name in self._areas:
            return self._areas[name]
        if name in self.here.measures:
            return self.here.measures[name]
        try:
            measure = find_measure(name)
        except InputError:
            raise unknown_measure(name, [*self]) from None
        rates_there = self._rates_at(self.threshold)
        return estimate(measure, self.threshold, *rates_there, self._resamples)[0]

    def __iter__(self) -> Iterator[str]:
        return iter((*self._areas, *self.here.measures))

    def __len__(self) -> int:
        return len(self._areas) + len(self.here.measures)

    @property
    def prevalence(self) -> float:
        """Share of positives in the target."""
        return self.mixture.prevalence(self.counts, self.target)

    @property
    def resolution(self) -> Resolution | None:
        """What bins may have changed, at most; None if scores are not in bins."""
        return resolution(self.counts, self.mixture)

    @property
    def table(self) -> Contingency:
        """Corrected contingency table at ``threshold``; not clipped."""
        return self.here.table

    def _rates_at(self, threshold: float) -> tuple[Rates, Rates]:
        return both_rates(self.counts, self.counts.at(threshold), self.mixture, self.target)

    def at(self, threshold: float) -> OperatingPoint:
        """Evaluate another threshold.

        Parameters
        ----------
        threshold : float
            Scores at or above it are predicted positive.

        Returns
        -------
        OperatingPoint
        """
        wanted = check_threshold(threshold)
        drawn = None
        if self.resampling is not None:
            drawn = resample(
                self.counts,
                self._corners,
                self.mixture,
                self.target,
                threshold=wanted,
                how=self.resampling,
            )
        return operating_point(wanted, *self._rates_at(wanted), drawn)

    def best(self, measure: str) -> Best:
        """Find the threshold at which a measure is best.

        Parameters
        ----------
        measure : str
            Name of a measure that belongs to a threshold, for example ``"f1"``.

        Returns
        -------
        Best

        Notes
        -----
        The best of many noisy values is too good on average; with few labeled rows this
        matters. ``value`` is the best as it is; the limits have the excess taken off, so they
        need not lie evenly around it, and ``value`` may even lie above them.

        References
        ----------
        Ramola, Jain and Radivojac (2019) for accuracy, balanced accuracy, F1 and MCC.
        """
        if measure in AREAS:
            raise InputError(
                f"{measure} is an area under a curve and has no threshold. "
                "Ask for the best of a measure at a threshold, such as 'f1'."
            )
        found = find_measure(measure)
        (threshold, value), (naive_threshold, naive) = (
            best_value(found, these) for these in self._rates
        )
        interval = Interval()
        if self._resamples is not None and not math.isnan(value):
            interval = self._resamples.best(found, value)
        return Best(
            found.name,
            threshold,
            found.clip(value),
            interval.low,
            interval.high,
            naive_threshold,
            naive,
        )

    def roc(self, *, naive: bool = False) -> RocCurve:
        """Return the ROC curve.

        Parameters
        ----------
        naive : bool, default False
            Whether to count unlabeled rows as negative instead of correcting.

        Returns
        -------
        RocCurve
            With ``area``, which for the corrected curve is Jain's indirect estimate of the AUC.
        """
        if naive:
            return roc(self.counts, self._corners, NAIVE)
        return roc(self.counts, self._corners, self.mixture, self.target)

    def pr(self, *, naive: bool = False) -> PrecisionRecallCurve:
        """Return the precision-recall curve.

        Parameters
        ----------
        naive : bool, default False
            Whether to count unlabeled rows as negative instead of correcting.

        Returns
        -------
        PrecisionRecallCurve
            With ``area``, which for the corrected curve is Jain's indirect estimate.
        """
        return recover_precision_recall(self._rates[naive])

    def bounds(
        self,
        *,
        level: float = 0.95,
        band: BandMethod = "bootstrap",
        start: Start = "positives",
    ) -> Bounds:
        """Return Claesen's bounds of tables, curves and areas: see `pueval.claesen_bounds`.

        Parameters
        ----------
        level, band, start
            As there. The prior is that of the evaluation; if it was estimated, its limits.

        Returns
        -------
        Bounds
        """
        if self.mixture.purity < 1:
            raise InputError(
                f"these bounds take labels as clean; got purity {self.mixture.purity:g}."
            )
        prior: float | tuple[float, float] = self.mixture.prior
        if self.prior_estimate is not None and self.prior_estimate.prior_interval is not None:
            low, high = self.prior_estimate.prior_interval
            prior = (low, min(high, 1 - 1e-9))
        return claesen_bounds(self.counts, prior=prior, level=level, band=band, start=start)

    def labeling_bias(self, bias: float) -> dict[str, tuple[float, float]]:
        """Bound every measure for labels that were not drawn at random.

        Parameters
        ----------
        bias : float
            The labeling bias Λ, at least 1: any two positives' chances of being labeled differ by
            at most this factor. 1 is random labeling.

        Returns
        -------
        dict of str to tuple of float
            Sharp bounds of the AUC and of every measure at ``threshold``, clipped to its range;
            the prior is taken as exact.
        """
        return bias_bounds(self.counts, self.mixture, self.target, self.threshold, bias)

    def tipping_point(self, name: str, value: float) -> TippingPoint:
        """Find how wrong labeling or prior would have to be for a conclusion to fail.

        Parameters
        ----------
        name : str
            ``"roc_auc"``, or a measure at ``threshold``.
        value : float
            The value to be reached, for example the one another classifier has.

        Returns
        -------
        TippingPoint
        """
        now = self[name].value
        return tipping_point(
            name, value, now, self.counts, self._corners, self.mixture, self.target, self.threshold
        )

    def ranking(self) -> dict[str, float]:
        """Return the measures that need no prior: see `pueval.ranking.ranking_measures`.

        Returns
        -------
        dict of str to float
        """
        return ranking_measures(self.counts)

    # ------------------------------------------------------------------ as data

    def frame(self) -> pd.DataFrame:
        """Return a pandas DataFrame with a row per measure, a column per field of `Estimate`.

        Returns
        -------
        pandas.DataFrame
        """
        pandas = require("pandas", extra="pandas", purpose="Evaluation.frame()")
        rows = [self[name] for name in self]
        frame: pd.DataFrame = pandas.DataFrame(
            [vars(row) for row in rows],
            index=pandas.Index([*self], name="measure"),
        )
        return frame

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain numbers, lists and text, ready for JSON.

        Returns
        -------
        dict
            Undefined and infinite numbers are None.
        """
        return presentation.as_data(self)

    # ------------------------------------------------------------------ as text

    def summary(self) -> str:
        """Say in one line what was evaluated and assumed.

        Returns
        -------
        str
        """
        return presentation.summary(self)

    def assumed(self) -> str:
        """Say which prior and purity were used, and whether they were estimated.

        Returns
        -------
        str
        """
        return presentation.assumed(self)

    def __repr__(self) -> str:
        return presentation.as_text(self)

    def _repr_html_(self) -> str:
        return presentation.as_html(self)


def both_rates(
    counts: Counts, steps: Steps, mixture: Mixture, target: Target
) -> tuple[Rates, Rates]:
    """Return corrected and naive rates."""
    corrected = rates(counts, steps, mixture, target)
    if mixture == NAIVE and target == "population":
        return corrected, corrected
    return corrected, naive_rates(counts, steps)


def check_threshold(threshold: float) -> float:
    """Return a threshold as a float; refuse NaN."""
    number: object = threshold
    if not isinstance(number, Real) or math.isnan(threshold):
        raise InputError(f"threshold must be a number; got {threshold!r}.")
    return float(threshold)
