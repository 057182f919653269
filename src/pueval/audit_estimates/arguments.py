"""Checks of the arguments that describe an audit."""

from __future__ import annotations

from typing import Any

from pueval.audit_estimates.audited_rows import AuditedRows
from pueval.core.mixture import check_share
from pueval.errors import InputError


def refuse_audit_options(audit_probability: Any, labeling: str) -> None:
    """Refuse options of an audit where there is none."""
    if audit_probability is not None:
        raise InputError("audit_probability needs audited, the results of the audit.")
    if labeling != "smooth":
        raise InputError(
            f"labeling={labeling!r} needs audited: without an audit, labels are assumed to be "
            "random, or to follow the propensities you pass."
        )


def audited_purity(audited: AuditedRows, purity: Any) -> float:
    """Return the given purity, if no labeled row was audited."""
    if audited.labeled.any():
        if purity not in (1.0, "estimate"):
            raise InputError(
                f"the audited labeled rows determine the purity; got purity={purity!r}. Leave it "
                "out; ev.audit.test() compares it with the audit."
            )
        return 1.0
    if isinstance(purity, str | tuple | list):
        raise InputError(
            f"with audited, purity must be a number; got {purity!r}. Audit labeled rows to "
            "estimate it."
        )
    return check_share("purity", purity, low_open=True)
