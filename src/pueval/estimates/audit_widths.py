"""How much an audit narrows the intervals: against no audit, and against the audit alone."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pueval._typing import Array, Target
from pueval.audit_estimates.apply_audit import apply_audit
from pueval.audit_estimates.audited_rows import AuditedRows, audited_purity
from pueval.core.measures import AREAS, MEASURES
from pueval.counts.counts import Counts
from pueval.counts.design_effect import with_design_effect
from pueval.errors import InputError
from pueval.estimates.measure_titles import measure_title
from pueval.text.numbers import UNDEFINED, format_level
from pueval.text.results import Result, plain_dict
from pueval.text.tables import text_table

if TYPE_CHECKING:
    from pueval.estimates.audit import Audit
    from pueval.evaluation.evaluation import Evaluation

PRIOR = "prior"
# Rows of the printed table; the data frame has all measures.
SHOWN = (PRIOR, *AREAS, "precision", "recall", "f1", "matthews_corrcoef")
NOTE = (
    "Intervals without the audit assume random labeling. Where labels are not random, they can be "
    "narrower, and wrong."
)


@dataclass(frozen=True, eq=False, repr=False)
class AuditWidths(Result):
    """Widths of the confidence intervals of all measures, and of the prior.

    All three are at the threshold of the evaluation, taken as given.

    Attributes
    ----------
    measures : tuple of str
        ``"prior"``, and the names of the measures.
    with_audit : ndarray
        Width with audit, labels and scores together.
    without_audit : ndarray
        Width without the audit: the prior is estimated from the scores, and labeling is assumed to
        be random. NaN if the prior cannot be estimated.
    audit_alone : ndarray
        Width with the audited rows alone (Hájek); labels and scores count only as such.
    level : float
        Confidence level.
    """

    measures: tuple[str, ...]
    with_audit: Array
    without_audit: Array
    audit_alone: Array
    level: float

    @property
    def ratio_to_no_audit(self) -> Array:
        """Width with the audit, relative to that without it."""
        return _ratio(self.with_audit, self.without_audit)

    @property
    def ratio_to_audit_alone(self) -> Array:
        """Width with the audit, relative to that of the audit alone."""
        return _ratio(self.with_audit, self.audit_alone)

    def _columns(self) -> dict[str, Any]:
        return {
            "measure": np.array(self.measures),
            "with_audit": self.with_audit,
            "without_audit": self.without_audit,
            "audit_alone": self.audit_alone,
            "ratio_to_no_audit": self.ratio_to_no_audit,
            "ratio_to_audit_alone": self.ratio_to_audit_alone,
        }

    def to_dict(self) -> dict[str, Any]:
        """Return the columns of the data frame as lists.

        Returns
        -------
        dict
            Undefined and infinite numbers are None.
        """
        return plain_dict(self._columns())

    def rows(self) -> list[tuple[str, float, float, float, float, float]]:
        """Return title, widths and ratios of the measures that are printed.

        Returns
        -------
        list of tuple
        """
        names, *columns = self._columns().values()
        titles = {name: "Prior" if name == PRIOR else measure_title(name) for name in SHOWN}
        place = {name: k for k, name in enumerate(names)}
        return [
            (title, *(float(column[place[name]]) for column in columns))  # type: ignore[misc]
            for name, title in titles.items()
        ]

    def _headline(self) -> str:
        return f"Width of {format_level(self.level)} confidence intervals"

    def _table(self) -> str:
        header = ["", "with audit", "without", "audit alone", "vs. without", "vs. alone"]
        rows = [
            [title, *map(_shown_width, widths), *map(_change, (first, second))]
            for title, *widths, first, second in self.rows()
        ]
        return f"{text_table(header, rows)}\n{NOTE}"


@dataclass(frozen=True, eq=False)
class AuditSettings:
    """How audited rows were evaluated, so that they can be evaluated in other ways.

    Attributes
    ----------
    evaluate : callable
        Evaluates Counts, with the options of the evaluation.
    purity : object
        The purity that was given.
    purity_audit : AuditedRows or None
        Rows whose labeled ones determine the purity, if not the audited ones.
    target : {"population", "unlabeled"}
        Population to evaluate.
    n_draws, seed : int
        Number of draws from the distribution of the positives, and random seed.
    design_effect : float
        Factor by which rows that are not independent increase variances.
    """

    evaluate: Callable[..., Evaluation]
    purity: Any
    purity_audit: AuditedRows | None
    target: Target
    n_draws: int
    seed: int
    design_effect: float

    def evaluate_counts(self, counts: Counts, **options: Any) -> Evaluation:
        """Evaluate other counts with the options of this evaluation."""
        return self.evaluate(
            counts, interval_counts=with_design_effect(counts, self.design_effect), **options
        )


def compare_widths(audit: Audit, settings: AuditSettings) -> AuditWidths:
    """Evaluate with the audit, without it, and by the audit alone."""
    rows = audit.applied.rows
    by_purity = rows if settings.purity_audit is None else settings.purity_audit
    alone, alone_prior = None, math.nan
    if audit.prior_by_audit_alone is not None:
        alone_prior = _width(audit.prior_by_audit_alone[1:])
        applied = apply_audit(
            audit.counts,
            rows,
            labeling="any",
            alone=True,
            purity=audited_purity(by_purity, settings.purity),
            purity_audit=settings.purity_audit,
            target=settings.target,
            n_draws=settings.n_draws,
            seed=settings.seed,
        )
        alone = settings.evaluate_counts(applied.counts)
    try:
        without = settings.evaluate_counts(audit.counts, purity=settings.purity)
        without_prior = _width(without.assumptions.prior_range or (math.nan, math.nan))
    except InputError:
        without, without_prior = None, math.nan
    measures = (*AREAS, *MEASURES)
    columns = [
        [math.nan if ev is None else ev[name].high - ev[name].low for name in measures]
        for ev in (
            settings.evaluate_counts(audit.applied.counts),
            without,
            alone,
        )
    ]
    priors = [_width(audit.prior[1:]), without_prior, alone_prior]
    widths = [np.array([first, *rest]) for first, rest in zip(priors, columns, strict=True)]
    return AuditWidths((PRIOR, *measures), widths[0], widths[1], widths[2], audit.level)


def _width(interval: tuple[float, ...]) -> float:
    low, high = interval
    return high - low


def _ratio(first: Array, second: Array) -> Array:
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio: Array = first / second
    return np.where(np.isfinite(ratio), ratio, np.nan)


def _shown_width(width: float) -> str:
    """Show two digits: draws do not determine a width more precisely."""
    return UNDEFINED if math.isnan(width) else f"{width:.2g}"


def _change(ratio: float) -> str:
    """Return a ratio as a change in percent."""
    if math.isnan(ratio):
        return UNDEFINED
    return f"{ratio - 1:+.0%}".replace("-", "−")
