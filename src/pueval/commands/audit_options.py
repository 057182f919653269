"""Results of audits on the command line: ``--audit checked.csv --id id``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Annotated, Any

import numpy as np
from cyclopts import Group, Parameter

from pueval._checks import list_examples
from pueval._typing import Array
from pueval.audit_estimates.audited_rows import AuditedRows
from pueval.audit_estimates.combined_audits import combined_weights
from pueval.audit_estimates.labeling_model import Labeling
from pueval.commands.options import CountOptions
from pueval.errors import InputError
from pueval.sources.checked_files import CheckedRows, read_checked_rows
from pueval.sources.columns import Columns
from pueval.sources.files import FileRows
from pueval.sources.labels import LabelValues
from pueval.sources.row_ids import find_rows, read_rows_and_find

AUDIT = Group("Audit", sort_key=2)


@Parameter(name="*")
@dataclass(frozen=True)
class AuditOptions:
    """Files with checked rows, and how to use them.

    Parameters
    ----------
    audit
        File with checked rows, made by "pueval audit plan" or by hand: the columns id, truth (1
        for positive, 0 for negative, empty if not checked) and, unless rows were chosen with equal
        probability, probability (of being chosen). Repeat the option for several audits: each
        counts in proportion to its effective number of rows, and a row may be in several files if
        they agree on its truth. An audit replaces --prior.
    id
        Column with the id of each row, in the file with the scores and in that with the checked
        rows. By default, rows are found by their number in the column row, which counts from 1.
    truth
        Column of the checked rows with the truth; "truth" by default.
    probability
        Column of the checked rows with their probability; "probability" by default, if there is
        one. Without it, checked unlabeled rows count as a simple random sample of the unlabeled
        rows, and checked labeled rows of the labeled rows.
    labeling
        What to assume about the probability that a positive row is labeled: it is a curve in the
        score, shrunken toward a constant (smooth, the default); a constant (random); its logit is
        linear in the rank of the score (score); nothing (any).
    """

    audit: Annotated[list[str] | None, Parameter(group=AUDIT, negative=())] = None
    id: Annotated[str | None, Parameter(group=AUDIT)] = None
    truth: Annotated[str | None, Parameter(group=AUDIT)] = None
    probability: Annotated[str | None, Parameter(group=AUDIT)] = None
    labeling: Annotated[Labeling | None, Parameter(group=AUDIT)] = None

    def check(self, **others: bool) -> bool:
        """Return whether there is an audit; raise an error for options that do not fit.

        ``others`` tells which options were given that cannot be combined with an audit.
        """
        if not self.audit:
            for field in fields(self):
                if getattr(self, field.name) is not None:
                    raise InputError(f"--{field.name} needs --audit, a file with checked rows.")
            return False
        for name, given in others.items():
            if given:
                option = f"--{name.replace('_', '-')}"
                why = (
                    "The audit estimates it; leave it out."
                    if name in {"prior", "prevalence", "label_frequency"}
                    else "Leave one of them out."
                )
                raise InputError(f"{option} cannot be combined with --audit. {why}")
        return True


AUDIT_DEFAULTS = AuditOptions()


@dataclass(frozen=True, eq=False)
class CheckedFiles:
    """Checked rows of one or several audits.

    Attributes
    ----------
    audits : list of CheckedRows
        The rows of each file.
    truths : dict of str to bool
        The truth of every checked id.
    """

    audits: list[CheckedRows]
    truths: dict[str, bool]

    @classmethod
    def read(cls, options: AuditOptions) -> CheckedFiles:
        """Read the audit files."""
        audits = [
            read_checked_rows(
                path,
                row_id=options.id,
                truth=options.truth or "truth",
                probability=options.probability,
            )
            for path in dict.fromkeys(options.audit or [])
        ]
        return cls(audits, merge_truths(audits))

    @property
    def positive(self) -> Array:
        """Whether each id is positive."""
        return np.array([*self.truths.values()], bool)

    def weights(self, kind: Array) -> Array | None:
        """Return the weight of each id by design; None if no audit has probabilities.

        ``kind`` has the codes of their labels.
        """
        if known := int(np.sum(kind == 2)):
            raise InputError(
                f"{known:,} checked rows are known negatives. Audit unlabeled or labeled rows only."
            )
        place = {name: k for k, name in enumerate(self.truths)}
        if all(audit.probability is None for audit in self.audits):
            return None
        rows = [np.array([place[name] for name in audit.ids]) for audit in self.audits]
        designs = []
        for audit, index in zip(self.audits, rows, strict=True):
            probability = audit.probability
            if probability is None:
                # Labeled and unlabeled rows are estimated apart: if no other audit has rows of this
                # kind, equal probabilities need not be known.
                others = [other for other in rows if other is not index]
                if np.isin(kind[index], kind[np.concatenate(others)]).any():
                    raise InputError(
                        f"{audit.file} has no probabilities, but another audit has. Add the column "
                        "'probability' to it, with the probability with which each row was chosen."
                    )
                probability = np.ones(index.size)
            designs.append((index, probability))
        return combined_weights(designs, kind == 0)


def read_audit(
    file: str, label: str, scores: Sequence[str], options: AuditOptions, rows: CountOptions
) -> tuple[dict[str, AuditedRows], dict[str, bool]]:
    """Read the audit files, and find labels and scores of the checked rows.

    Returns the audited rows of each model, and the truth of every checked id.
    """
    checked = CheckedFiles.read(options)
    columns = Columns(label, tuple(dict.fromkeys(scores)), rows.weight, row_id=options.id)
    found = find_rows(file, columns, rows.labels, list(checked.truths))
    design = checked.weights(found.kind)
    weight = np.ones(found.kind.size) if design is None else design
    if found.sample_weight is not None:
        weight = weight * found.sample_weight
    labeled, has_probability = found.kind == 0, design is not None
    audits = {
        name: AuditedRows(
            score.astype(np.float64), labeled, checked.positive, weight, has_probability
        )
        for name, score in zip(columns.scores, found.scores, strict=True)
    }
    return audits, checked.truths


def read_rows_with_audit(
    file: str, columns: Columns, options: AuditOptions, labels: LabelValues
) -> tuple[FileRows, dict[str, Any]]:
    """Read all rows, and the audit as arguments of functions that need rows, such as `compare`."""
    checked = CheckedFiles.read(options)
    columns = replace(columns, row_id=options.id)
    rows, position = read_rows_and_find(file, columns, labels, list(checked.truths))
    audited = np.full(rows.kind.size, np.nan)
    audited[position] = checked.positive
    weight = checked.weights(rows.kind[position])
    arguments: dict[str, Any] = {"audited": audited}
    if weight is not None:
        # Weights of several audits matter up to a factor only; probabilities are at most 1.
        arguments["audit_probability"] = np.full(rows.kind.size, np.nan)
        arguments["audit_probability"][position] = min(1.0, weight.min()) / weight
    if options.labeling is not None:
        arguments["labeling"] = options.labeling
    return rows, arguments


def merge_truths(checked: Sequence[CheckedRows]) -> dict[str, bool]:
    """Return the truth of every checked id; files must agree on those they share."""
    truths: dict[str, bool] = {}
    different: dict[str, None] = {}
    for audit in checked:
        for name, positive in zip(audit.ids, audit.positive.tolist(), strict=True):
            if truths.setdefault(name, positive) != positive:
                different[name] = None
    if different:
        raise InputError(
            f"the audits disagree on the truth of {len(different):,} "
            f"{'row' if len(different) == 1 else 'rows'}: {list_examples(different)}. Settle them "
            "first."
        )
    return truths
