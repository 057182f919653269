"""Groups with an audit: each has a labeling model of its own, fitted to its rows only."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from pueval._typing import Array
from pueval.audit_estimates.apply_audit import LEAST_AUDITED
from pueval.audit_estimates.audited_rows import AuditedRows, checked_rows
from pueval.counts.counts import Counts
from pueval.errors import InputError
from pueval.estimates.estimate import Estimate
from pueval.evaluation.evaluate import evaluate_audited
from pueval.evaluation.evaluation import Evaluation
from pueval.groups.unclipped_estimates import GROUP_MEASURES, UnclippedEstimates
from pueval.sources.group_codes import encode_groups


@dataclass(frozen=True, eq=False)
class GroupAudits:
    """The audited rows of all groups.

    Attributes
    ----------
    rows : AuditedRows
        Audited rows.
    group : ndarray of int
        The group of each.
    n_groups : int
        Number of groups.
    """

    rows: AuditedRows
    group: Array
    n_groups: int

    @classmethod
    def of(cls, rows: AuditedRows, audited: Any, by: Any, names: list[Any]) -> GroupAudits:
        """Find the groups of audited rows; ``audited`` and ``by`` are columns of all rows."""
        codes = encode_groups(by, len(by))
        return cls(rows, codes.code[checked_rows(audited)], len(names))

    @property
    def n_unlabeled(self) -> Array:
        """Audited unlabeled rows of every group."""
        counted = ~self.rows.labeled & (self.rows.weight > 0)
        return np.bincount(self.group[counted], minlength=self.n_groups)

    def too_few_notes(self) -> dict[int, str]:
        """Return notes for groups with too few audited rows for a labeling model of their own."""
        return {
            k: f"{n or 'no'} audited unlabeled row{'s' * (n != 1)}, fewer than {LEAST_AUDITED}"
            for k, n in enumerate(self.n_unlabeled.tolist())
            if n < LEAST_AUDITED
        }

    def part(self, group: int) -> AuditedRows:
        """Return the audited rows of one group."""
        return self.rows.take(self.group == group)


@dataclass(frozen=True, eq=False)
class AuditedGroups:
    """Evaluations of the groups that have enough audited rows.

    Attributes
    ----------
    evaluations : dict of int to Evaluation
        Evaluations by the number of the group.
    n_audited : ndarray of int
        Audited unlabeled rows of every group.
    """

    evaluations: dict[int, Evaluation]
    n_audited: Array

    @classmethod
    def evaluate(
        cls,
        audits: GroupAudits,
        usable: Array,
        overall: Evaluation,
        counts_of: Callable[[int], Counts],
        advance: Callable[[], None],
        **options: Any,
    ) -> AuditedGroups:
        """Evaluate every usable group as `evaluate` does, at the threshold of all rows.

        The purity is that of all audited labeled rows.
        """
        evaluations = {}
        for k in np.flatnonzero(usable).tolist():
            evaluations[k] = evaluate_audited(
                counts_of(k),
                audits.part(k),
                purity_audit=audits.rows,
                target=overall.target,
                threshold=overall.threshold,
                **options,
            )
            advance()
        return cls(evaluations, audits.n_unlabeled)

    @property
    def prior(self) -> Array:
        """Prior of every group; NaN for groups that were not evaluated."""
        prior = np.full(self.n_audited.size, np.nan)
        for k, ev in self.evaluations.items():
            prior[k] = ev.prior
        return prior

    @property
    def warnings(self) -> dict[int, str]:
        """The first warning about the audited rows of each group, if there is one."""
        return {
            k: ev.audit.warnings[0]
            for k, ev in self.evaluations.items()
            if ev.audit is not None and ev.audit.warnings
        }

    def columns(self, measure: str) -> dict[str, Array]:
        """Return the fields of `Estimate` of a measure, as columns over all groups."""
        names = [field.name for field in fields(Estimate)]
        columns = {name: np.full(self.n_audited.size, np.nan) for name in names}
        for k, ev in self.evaluations.items():
            for name in names:
                columns[name][k] = getattr(ev[measure], name)
        return columns

    def estimates(self) -> UnclippedEstimates:
        """Return the estimates of all measures; their errors include those of the audit."""
        estimates = UnclippedEstimates.undefined(self.n_audited.size)
        for name in GROUP_MEASURES:
            columns = self.columns(name)
            estimates.value[name][:] = columns["unclipped"]
            estimates.naive[name][:] = columns["naive"]
            estimates.error[name][:] = columns["standard_error"]
        return _without_prior_changes(estimates)


def estimate_audited_rows(overall: Evaluation) -> UnclippedEstimates:
    """Return the estimates of all rows together, as a single group."""
    return AuditedGroups({0: overall}, np.zeros(1, np.int64)).estimates()


def refuse_group_options(given: dict[str, Any], group_prior: Any, *, shrink: bool) -> None:
    """Refuse options that cannot be combined with an audit."""
    named = [name for name, value in given.items() if value is not None]
    if group_prior != "shared":
        named.append("group_prior")
    if named:
        raise InputError(
            f"{named[0]} cannot be combined with audited: the audit estimates the prior of every "
            "group. Leave it out."
        )
    if shrink:
        raise InputError("shrink cannot be combined with audited. Leave one of them out.")


def _without_prior_changes(estimates: UnclippedEstimates) -> UnclippedEstimates:
    """Return estimates whose errors have no part that groups share."""
    zero = {name: np.zeros(values.size) for name, values in estimates.value.items()}
    return replace(estimates, prior_change=zero, purity_change=zero, excess={})
