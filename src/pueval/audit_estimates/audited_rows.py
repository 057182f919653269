"""The audited rows: scores, labels, truth, and the probability with which each was chosen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy  # loads its submodules when they are first used

from pueval._checks import check_same_length
from pueval._typing import Array
from pueval.core.mixture import check_share
from pueval.counts.counts import Counts
from pueval.errors import InputError
from pueval.sources.arrays import check_same_order, label_kinds, missing_rows, one_column
from pueval.sources.labels import LabelValues

# An audit that was no simple random sample is noticed below this p-value.
VISIBLE_BIAS = 1e-3
# If no row was audited below some score, although more than this share of the unlabeled rows score
# lower, these rows were left out of the audit.
MOST_UNCHECKED = 0.2
# Rows with smaller probabilities would be weighted by numbers whose squares overflow.
LEAST_PROBABILITY = 1e-100


@dataclass(frozen=True, eq=False)
class AuditedRows:
    """Rows whose class was checked.

    Attributes
    ----------
    score : ndarray
        Scores.
    labeled : ndarray of bool
        Whether the row is labeled; else it is unlabeled.
    positive : ndarray of bool
        Whether the row turned out to be positive.
    weight : ndarray
        Weight of the row divided by the probability with which it was chosen; without
        probabilities, the weight of the row. Estimates leave out rows of weight zero.
    has_probability : bool
        Whether these probabilities are known. If not, the unlabeled rows are a simple random sample
        of all unlabeled rows, and the labeled ones of all labeled rows.
    """

    score: Array
    labeled: Array
    positive: Array
    weight: Array
    has_probability: bool = False

    def __post_init__(self) -> None:
        """Convert the columns, and check them."""
        columns: dict[str, Array] = {}
        for name in ("score", "labeled", "positive", "weight"):
            column = one_column(getattr(self, name), name)
            if name in ("labeled", "positive"):
                if column.dtype.kind != "b" and not np.isin(column, (0, 1)).all():
                    raise InputError(f"{name} must hold only booleans, or 0 and 1.")
                columns[name] = column.astype(bool)
            else:
                columns[name] = column.astype(np.float64)
                if not np.isfinite(columns[name]).all():
                    raise InputError(f"{name} of audited rows must be finite numbers.")
            check_same_length("score", columns["score"].size, name, column.size)
        if np.any(columns["weight"] < 0):
            raise InputError("weight of audited rows must be at least 0.")
        for name, column in columns.items():
            object.__setattr__(self, name, column)

    @classmethod
    def read(
        cls,
        y: Any,
        score: Any,
        audited: Any,
        audit_probability: Any,
        *,
        labels: LabelValues,
        sample_weight: Any = None,
    ) -> AuditedRows:
        """Read the audited ones among rows given as arrays, in the order of `checked_rows`."""
        check_same_order({"y": y, "audited": audited, "audit_probability": audit_probability})
        truth, checked = _read_truth(audited)
        labels_column, scores = one_column(y, "y"), one_column(score, "score")
        check_same_length("y", len(labels_column), "audited", len(truth))
        index = np.flatnonzero(checked)
        kind = label_kinds(labels_column[index], labels)
        known_negative = kind == 2
        if np.any(known_negative):
            raise InputError(
                f"{int(known_negative.sum()):,} known negatives have a value in audited. Audit "
                "unlabeled or labeled rows only."
            )
        weight = np.ones(index.size)
        if sample_weight is not None:
            weight = one_column(sample_weight, "sample_weight")[index].astype(np.float64)
        if audit_probability is not None:
            probability = one_column(audit_probability, "audit_probability")
            check_same_length("y", len(labels_column), "audit_probability", len(probability))
            weight = weight / _check_probability(probability[index], kind == 0)
        return cls(
            scores[index].astype(np.float64),
            kind == 0,
            truth[index],
            weight,
            audit_probability is not None,
        )

    @property
    def used(self) -> AuditedRows:
        """The rows of a weight above zero: others do not exist, as in `Counts`."""
        return self if self.weight.all() else self.take(self.weight > 0)

    def part(self, *, labeled: bool) -> AuditedRows:
        """Return the audited labeled rows, or the audited unlabeled rows, that have a weight."""
        rows = self.used
        return rows.take(rows.labeled == labeled)

    def take(self, rows: Array) -> AuditedRows:
        """Return some of the rows, given by their positions or by a mask."""
        columns = (self.score, self.labeled, self.positive, self.weight)
        score, labeled, positive, weight = (column[rows] for column in columns)
        return AuditedRows(score, labeled, positive, weight, self.has_probability)

    def in_order(self) -> AuditedRows:
        """Return the rows by score, so that results do not depend on the order they came in."""
        return self.take(np.lexsort((self.weight, self.positive, self.score)))

    def __len__(self) -> int:
        return int(self.score.size)

    @property
    def n_positive(self) -> int:
        """Number of audited rows that turned out to be positive."""
        return int(np.count_nonzero(self.positive))

    @property
    def positive_share(self) -> float:
        """Weighted share of positives (Hájek)."""
        return float(np.average(self.positive, weights=self.weight))


def effective_number(weight: Array) -> float:
    """Return the number of equally weighted rows with the same variance (Kish)."""
    squares = np.sum(weight**2)
    return float(weight.sum() ** 2 / squares) if squares > 0 else 0.0


def checked_rows(audited: Any) -> Array:
    """Return the positions of the audited rows, whatever their weights."""
    return np.flatnonzero(_read_truth(audited)[1])


def _read_truth(audited: Any) -> tuple[Array, Array]:
    """Return which rows are positive and which were checked."""
    values = one_column(
        np.ma.filled(audited, np.nan) if np.ma.isMA(audited) else audited, "audited"
    )
    checked = ~missing_rows(values)
    positive = np.zeros(len(values), bool)
    try:
        found = values[checked].astype(np.float64)
    except (TypeError, ValueError):
        found = np.array([np.nan])
    strange = ~np.isin(found, (0.0, 1.0))
    if np.any(strange):
        shown = repr(values[checked].tolist()[np.argmax(strange)])
        raise InputError(
            "audited must hold 1 (positive), 0 (negative) or a missing value for rows that were "
            f"not checked; got {shown}."
        )
    positive[checked] = found == 1
    if not np.any(checked):
        raise InputError("audited has no checked row: all values are missing. Leave it out.")
    return positive, checked


def _check_probability(probability: Array, labeled: Array) -> Array:
    if probability.dtype.kind not in "biuf":
        raise InputError(f"audit_probability must hold numbers; got dtype {probability.dtype}.")
    values = probability.astype(np.float64)
    wrong = ~((values >= LEAST_PROBABILITY) & (values <= 1))
    if np.any(wrong):
        which = " It is the probability with which the row was chosen."
        if labeled[wrong].all():
            which = " These are labeled rows: give them the share of the labeled rows audited."
        elif np.isnan(values[wrong]).all():
            which = " After a second plan, pass plan.combined_probabilities."
        elif np.all((values[wrong] > 0) & (values[wrong] < LEAST_PROBABILITY)):
            which = " Such rows are never chosen."
        raise InputError(
            "audit_probability of audited rows must be in (0, 1]; "
            f"{int(wrong.sum()):,} are not, such as {values[np.argmax(wrong)]:g}.{which}"
        )
    return values


def design_warnings(counts: Counts, rows: AuditedRows, covered: float) -> list[str]:
    """Say where the audited rows are not the sample they are taken for, or say too little.

    ``covered`` is the `checked_share`.
    """
    warnings = []
    unlabeled = rows.part(labeled=False)
    if len(unlabeled) and unlabeled.positive.all():
        warnings.append(
            f"all {len(unlabeled):,} audited unlabeled rows are positive, so the audit does not "
            "say where the negatives score. Measures that need negatives, such as ROC AUC, are "
            "hardly known. Audit more rows, most of them with low scores, and pass "
            "audit_probability."
        )
    for labeled, name in ((False, "unlabeled"), (True, "labeled")):
        tendency = _score_tendency(counts, rows, labeled=labeled)
        if tendency is None:
            continue
        if not labeled and covered < 1:
            warnings.append(
                f"no unlabeled row with a score below {unlabeled.score.min():.4g} was audited, and "
                f"{1 - covered:.0%} of them score lower. Estimates that involve these rows, such "
                "as recall and the prior, rest on labels and scores alone. Audit some of them, "
                "too, and pass audit_probability."
            )
            continue
        advice = (
            "Check audit_probability."
            if rows.has_probability
            else "Pass audit_probability, the probability with which each row was chosen."
        )
        warnings.append(
            f"the audited {name} rows are no random sample of all {name} rows: they score "
            f"{tendency}{' even when weighted' if rows.has_probability else ''}. {advice}"
        )
    return warnings


def _score_tendency(counts: Counts, rows: AuditedRows, *, labeled: bool) -> str | None:
    """Return whether audited rows score "higher" or "lower" than all of their kind, if visibly."""
    audited = rows.part(labeled=labeled)
    sample = counts._labeled if labeled else counts._unlabeled
    if len(audited) < 2:
        return None
    above, at_or_above = sample.cumulative_counts(audited.score)
    rank = 1 - (above + at_or_above) / (2 * sample.total)
    share = audited.weight / audited.weight.sum()
    # The mean rank of a random sample has the variance 1/12 per row.
    z = (float(np.sum(share * rank)) - 0.5) / np.sqrt(np.sum(share**2) / 12)
    if 2 * scipy.stats.norm.sf(abs(z)) >= VISIBLE_BIAS:
        return None
    return "higher" if z > 0 else "lower"


def checked_share(counts: Counts, rows: AuditedRows) -> float:
    """Return the share of the unlabeled rows that score as high as those that were audited.

    It is below 1 if only rows above some score were audited, such as alarms: even weighted, they
    score higher, and many unlabeled rows score lower than all of them.
    """
    if _score_tendency(counts, rows, labeled=False) != "higher":
        return 1.0
    lowest = rows.part(labeled=False).score.min()
    _, reached = counts._unlabeled.cumulative_counts(np.array([lowest]))
    share = float(reached[0]) / float(counts._unlabeled.total)
    return share if 1 - share > MOST_UNCHECKED else 1.0


def audited_purity(audited: AuditedRows, purity: Any) -> float:
    """Return the given purity, if no labeled row was audited."""
    if audited.used.labeled.any():
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
