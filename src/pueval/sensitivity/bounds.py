"""Bounds on contingency tables, measures and curves from the rank distribution.

Claesen et al. (2015) do not assume that unlabeled positives are ranked exactly like labeled ones.
They only assume that the rank distribution of the unlabeled positives lies within a confidence
band around that of the labeled positives. Tables that put as many, or as few, unlabeled positives
above a rank as the band allows bound the true table, and so do their measures, curves and areas.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, get_args

import numpy as np

from pueval._checks import check_choice, check_counts, check_fraction
from pueval._typing import Array, Target
from pueval.core.measures import AREAS, MEASURES, Table, find_measure, unknown_measure_error
from pueval.core.mixture import Mixture, check_target
from pueval.core.thinned_curves import thin_curve
from pueval.counts.arguments import check_threshold
from pueval.counts.counts import Counts
from pueval.errors import InputError, UnknownMeasureError
from pueval.samples.steps import Steps
from pueval.sensitivity.bound_tables import BoundTables
from pueval.sensitivity.hidden_positives import HiddenPositives, Reference
from pueval.sensitivity.measure_range import MeasureRange, bound_measure
from pueval.sensitivity.rank_band import BandMethod
from pueval.text.numbers import format_level, format_threshold
from pueval.text.results import Result, plain_data, plain_dict
from pueval.text.tables import text_table

# Priors of a prior interval at which bounds are computed, ends included.
PRIORS = 5


@dataclass(frozen=True, eq=False, repr=False)
class Bounds(Result, Mapping[str, MeasureRange]):
    """Bounds on the performance of a ranking; made by `claesen_bounds` and `Evaluation.bounds`.

    It maps names of measures to pairs: ``bounds["f1"].low`` and ``bounds["f1"].high`` are the
    smallest and the largest possible F1 at ``threshold``. Any ``"f<beta>"`` can be looked up, too.
    ``"roc_auc"`` and ``"average_precision"`` need no threshold.

    Attributes
    ----------
    low, high : BoundTables
        Tables with the largest and the smallest possible false positive rate. Their curves lie
        below and above the true ones.
    prior : tuple of float
        Priors used for ``low`` and ``high``.
    level : float
        Confidence level of the band.
    band : {"bootstrap", "clopper-pearson", "dkw"}
        Method of the band.
    reference : {"positives", "negatives"}
        Rows whose rank distribution was used: labeled positives or known negatives.
    by_prior : tuple of tuple of BoundTables
        Low and high tables for each of several priors of the interval, ends included.
    target : {"population", "unlabeled"}
        Population that the tables describe.
    threshold : float or None
        Threshold of the measures; None if only the areas are bounded.
    """

    low: BoundTables
    high: BoundTables
    prior: tuple[float, float]
    level: float
    band: str
    reference: str
    by_prior: tuple[tuple[BoundTables, BoundTables], ...]
    target: Target
    threshold: float | None
    _hidden: HiddenPositives = field(repr=False)

    def __getitem__(self, name: str) -> MeasureRange:
        if name == "roc_auc":
            return self.roc_auc
        if name == "average_precision":
            return self.average_precision
        try:
            measure = find_measure(name)
        except UnknownMeasureError:
            raise unknown_measure_error(name, [*AREAS, *MEASURES]) from None
        return bound_measure(measure, *self._tables)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    @property
    def _names(self) -> tuple[str, ...]:
        return AREAS if self.threshold is None else (*AREAS, *MEASURES)

    # A mapping is equal by content and cannot be hashed; these bounds are neither.
    __eq__, __hash__ = object.__eq__, object.__hash__

    def at(self, threshold: float) -> Bounds:
        """Return the bounds with measures at another threshold.

        Parameters
        ----------
        threshold : float
            Score at or above which rows are predicted positive.

        Returns
        -------
        Bounds
        """
        return replace(self, threshold=check_threshold(threshold))

    @cached_property
    def _tables(self) -> tuple[Table, Table]:
        """Tables at the threshold with the fewest and the most true positives, as shares.

        They have an entry for each possible number of unlabeled positives.
        """
        if self.threshold is None:
            raise InputError(
                "this measure depends on a threshold, and these bounds have none. "
                "Choose one with bounds.at(threshold)."
            )
        counts = self._hidden.counts
        fewest, most = (round(end * counts.n_unlabeled) for end in self.prior)
        hidden, *ends = self._hidden.bound_at(self.threshold, fewest, most)
        steps = counts.at(self.threshold)
        low, high = (_bound_tables(counts, steps, hidden, end, self.target) for end in ends)
        return _as_shares(low), _as_shares(high)

    @property
    def roc_auc(self) -> MeasureRange:
        """Bounds on the area under the ROC curve over all priors of the interval."""
        return self._area_range("roc_auc")

    @property
    def average_precision(self) -> MeasureRange:
        """Bounds on the area under the precision-recall curve over all priors of the interval."""
        return self._area_range("average_precision")

    def _area_range(self, name: str) -> MeasureRange:
        lows, highs = zip(*self.by_prior, strict=True)
        return MeasureRange(
            min(getattr(low, name) for low in lows), max(getattr(high, name) for high in highs)
        )

    def to_dict(self, *, all_points: bool = False) -> dict[str, Any]:
        """Return everything but ``by_prior`` as plain numbers, lists and text, ready for JSON.

        Parameters
        ----------
        all_points : bool, default False
            Whether ``low`` and ``high`` have the tables at all thresholds. By default they have
            at most 2,000, whose ROC curves look the same in a plot.

        Returns
        -------
        dict
            ``measures`` has ``low`` and ``high`` of every measure. Infinite thresholds and bounds
            are None.
        """
        names = ("prior", "level", "band", "reference", "target", "threshold")
        content = {name: plain_data(getattr(self, name)) for name in names}
        content["measures"] = {name: plain_data(self[name]._asdict()) for name in self}
        areas = {name: [*content["measures"][name].values()] for name in AREAS}
        content |= areas
        for name, tables in (("low", self.low), ("high", self.high)):
            kept = slice(None) if all_points else thin_curve(tables.fpr, tables.tpr)
            columns = {title: column[kept] for title, column in tables._columns().items()}
            content[name] = plain_dict(columns)
        return content

    def summary(self) -> str:
        """Return what the bounds assume, in one line.

        Returns
        -------
        str
        """
        rows = "known negatives" if self.reference == "negatives" else "labeled rows"
        return (
            f"Bounds for these rows with prior {self._prior_text} ({format_level(self.level)} "
            f"confidence), from the ranks of the {rows} (Claesen et al., 2015)"
        )

    @property
    def _prior_text(self) -> str:
        low, high = self.prior
        return f"{low:.3g} to {high:.3g}" if low < high else f"{low:.3g}"

    def _headline(self) -> str:
        band = f"{format_level(self.level)} {self.band} band"
        areas = f"ROC AUC {self.roc_auc}, average precision {self.average_precision}"
        return f"Bounds for prior {self._prior_text} ({band}): {areas}"

    def _table(self) -> str:
        if self.threshold is None:
            return super()._table()
        header = [f"At threshold {format_threshold(self.threshold)}", "bounds"]
        return text_table(header, [[MEASURES[name].title, str(self[name])] for name in MEASURES])

    def _columns(self) -> dict[str, Array]:
        columns = {"threshold": self.low.threshold}
        for name in ("tpr", "fpr", "precision"):
            # The tables of the lower bounds have the larger false positive rate.
            low, high = (self.high, self.low) if name == "fpr" else (self.low, self.high)
            columns |= {f"{name}_low": getattr(low, name), f"{name}_high": getattr(high, name)}
        return columns


def claesen_bounds(
    counts: Counts,
    *,
    prior: float | tuple[float, float],
    level: float = 0.95,
    band: BandMethod = "clopper-pearson",
    reference: Reference = "positives",
    target: Target = "population",
    threshold: float | None = None,
) -> Bounds:
    """Bound contingency tables, their measures, curves and areas.

    Consider a rank with h unlabeled rows above it and t below. Let P = prior·n_U be the number of
    unlabeled positives. The greatest lower bound of the false positive rate puts ⌈T·P⌉ of them
    above the rank, where T is the upper end of the band, but at most h and at least P − t. The
    least upper bound puts ⌊T·P⌋ there, where T is the lower end. Labeled rows and known negatives
    count as they are.

    If the prior is an interval, the lower tables use its lower end and the upper tables its upper
    end (lemma 4). The lemma assumes that, at every rank, more positives than negatives may lie
    above it, which the band need not allow. Areas are therefore the extremes over five priors of
    the interval, ends included.

    Measures at a threshold are extremes over the numbers of unlabeled positives in the interval.
    With a pointwise band ("bootstrap" or "clopper-pearson"), they use exact hypergeometric bounds
    on the unlabeled positives above the threshold, not the band: the labeled positives are a random
    sample of all positives, and both are among these rows. The bounds then hold for these rows at
    the stated level, however many positives are labeled. With "dkw", they hold for all thresholds
    simultaneously, also for one that was chosen on these rows.

    The bands "bootstrap" and "clopper-pearson" bound each table separately, for the distribution
    that the rows come from. "dkw" bounds all tables of these rows simultaneously. "bootstrap" is
    the band of the paper. It has zero width beyond the last labeled row. With few labeled rows, or
    with classes that separate well, its coverage is too low.

    Parameters
    ----------
    counts : Counts
        The data, with clean labels and integer counts.
    prior : float or tuple of float
        Share of positives among the unlabeled rows, or an interval that contains it.
    level : float, default 0.95
        Confidence level of the band of the rank distribution.
    band : {"bootstrap", "clopper-pearson", "dkw"}
        Method of the band; see above.
    reference : {"positives", "negatives", "tighter"}
        Rows whose rank distribution is used: labeled positives, known negatives (appendix C), or
        whichever of the two gives tighter bounds on the AUC.
    target : {"population", "unlabeled"}
        Population of the tables: all rows, or only the unlabeled rows.
    threshold : float, optional
        Score at or above which rows are predicted positive, for measures such as F1. You can also
        choose it later: ``bounds.at(threshold)``.

    Returns
    -------
    Bounds

    References
    ----------
    Claesen, Davis, De Smet and De Moor (2015), theorem 1, equations 8 to 13, lemma 4, appendix C.

    Examples
    --------
    >>> import numpy as np
    >>> from pueval import Counts
    >>> rng = np.random.default_rng(0)
    >>> score = np.r_[rng.normal(1.5, 1, 600), rng.normal(0, 1, 1400)]
    >>> counts = Counts.from_arrays(np.arange(2000) < 200, score)    # 400 positives unlabeled
    >>> low, high = claesen_bounds(counts, prior=400 / 1800).roc_auc
    >>> bool(low < 0.855 < high)                                     # the true AUC
    True
    >>> bounds = claesen_bounds(counts, prior=400 / 1800, threshold=1)
    >>> predicted, positive = score >= 1, np.arange(2000) < 600
    >>> f1 = 2 * (predicted & positive).sum() / (predicted.sum() + 600)
    >>> bool(bounds["f1"].low < f1 < bounds["f1"].high)
    True
    """
    check_counts(counts)
    counts._check_nonempty()
    counts._refuse_propensities("this bound")
    counts._refuse_clusters("this bound")
    if not counts.n_unlabeled:
        raise InputError("there are no unlabeled rows, so there is nothing to bound.")
    if not counts._has_integer_counts:
        raise InputError("bounds count rows, but these rows have float weights. Omit the weights.")
    check_fraction("level", level)
    lowest, highest = prior if isinstance(prior, tuple) else (prior, prior)
    for end in (lowest, highest):
        Mixture(end)
    if lowest > highest:
        raise InputError(
            f"the prior interval is reversed: {lowest:g} is above {highest:g}. Pass (low, high)."
        )
    check_choice("reference", reference, get_args(Reference))
    if reference != "positives" and not counts.n_negative:
        raise InputError(
            f"reference={reference!r} needs known negatives, but there are none. "
            "Use reference='positives'."
        )
    check_choice("band", band, get_args(BandMethod))
    check_target(target)
    steps = counts.steps()
    priors = np.unique(np.linspace(lowest, highest, PRIORS))
    candidates = []
    for rows in ("positives", "negatives") if reference == "tighter" else (reference,):
        positives = HiddenPositives(counts, rows, level, band)
        by_prior = tuple(_bound_by_ranks(positives, steps, value, target) for value in priors)
        low, high = by_prior[0][0], by_prior[-1][1]
        candidates.append(
            Bounds(
                low,
                high,
                (lowest, highest),
                level,
                band,
                rows,
                by_prior,
                target,
                None if threshold is None else check_threshold(threshold),
                positives,
            )
        )
    if len(candidates) == 1:
        return candidates[0]
    return min(candidates, key=lambda bounds: bounds.roc_auc.high - bounds.roc_auc.low)


def _bound_by_ranks(
    positives: HiddenPositives, steps: Steps, prior: float, target: Target
) -> tuple[BoundTables, BoundTables]:
    """Bound the tables at all thresholds for one prior."""
    counts = positives.counts
    hidden = round(prior * counts.n_unlabeled)
    least, most = positives.bound_at_ranks(steps, hidden)
    low, high = (_bound_tables(counts, steps, hidden, end, target) for end in (least, most))
    return low, high


def _bound_tables(
    counts: Counts, steps: Steps, hidden: Array | float, above: Array, target: Target
) -> BoundTables:
    """Put ``above`` of the ``hidden`` unlabeled positives above each threshold."""
    true_positive, false_positive = above, steps.unlabeled - above
    n_positive, n_negative = hidden, counts.n_unlabeled - hidden
    if target == "population":
        true_positive, n_positive = steps.labeled + true_positive, counts.n_labeled + n_positive
        false_positive = steps.negative + false_positive
        n_negative = counts.n_negative + n_negative
    return BoundTables(steps.threshold, true_positive, false_positive, n_positive, n_negative)


def _as_shares(tables: BoundTables) -> Table:
    """Return tables as shares of the target."""
    predicted = tables.true_positive + tables.false_positive
    total = np.asarray(tables.n_positive + tables.n_negative)
    return Table(tables.true_positive / total, predicted / total, tables.n_positive / total)
