"""What the columns of a file hold, in words."""

from __future__ import annotations

from collections.abc import Sequence

from pueval.counts.counts import Counts
from pueval.diagnosis import column_roles
from pueval.diagnosis.diagnosis import ColumnRole
from pueval.diagnosis.foreign_numbers import ForeignNumbers
from pueval.diagnosis.score_problems import repeats_label
from pueval.sources.column_profiles import MOST_VALUES, ColumnProfile

KINDS = ("labeled", "unlabeled", "negative")


def describe_column(
    profile: ColumnProfile,
    label: str | None,
    names: Sequence[str],
    counts: dict[str, Counts],
    foreign: ForeignNumbers | None = None,
) -> ColumnRole:
    """Describe a column."""
    spread = "" if profile.low is None else f", {profile.low:.3g} to {profile.high:.3g}"
    role, details = "other", f"{about(profile.distinct)} distinct values{spread}"
    if profile.name == label:
        role, details = "labels", _label_details(profile)
    elif profile.name in names:
        role = "scores"
        if profile.name in counts:
            scores = counts[profile.name]
            tied = f"{100 * tied_share(scores):.0f}% of rows tied"
            details = f"{scores.score.size:,} distinct values{spread}; {tied}"
    elif foreign is not None:
        details = f"{about(profile.distinct)} distinct values with {foreign.mark}"
    elif profile.distinct <= 1:
        role, details = "constant", ""
    elif column_roles.is_weight(profile):
        kind = "frequency weights" if profile.whole else "importance weights"
        role, details = "weights", f"{kind}{spread}; use them with --weight"
    elif column_roles.is_time(profile):
        role = "times"
        details = f"{profile.first} to {profile.last}; evaluate windows of time with --over"
    elif column_roles.is_row_number(profile):
        role, details = "row ids", "different in every row, or nearly"
    elif column_roles.is_cluster(profile):
        role, details = "clusters", f"{about(profile.distinct)} ids, which repeat"
    elif column_roles.is_group(profile):
        role, details = "groups", f"{profile.distinct} values; evaluate them with --by"
    elif profile.name in counts and repeats_label(counts[profile.name]) == "contains":
        role, details = "true classes", "1 in every labeled row and in others"
    return ColumnRole(profile.name, role, details)


def _label_details(profile: ColumnProfile) -> str:
    """Show the label values with their meaning."""
    values = column_roles.label_values(profile)
    kinds = {} if values is None else dict(zip(values.values, KINDS, strict=True))
    counted = dict(profile.values) | ({"": profile.missing} if profile.missing else {})
    shown = []
    for value, count in counted.items():
        kind = kinds.get(column_roles.plain_label(value))
        rows = f"{count:,} {'row' if count == 1 else 'rows'}"
        shown.append(f"{value or 'missing'}: {rows}" + (f" ({kind})" if kind else ""))
    return ", ".join(shown)


def about(distinct: int) -> str:
    """Show a number of distinct values, which is approximate if there are many."""
    if distinct <= MOST_VALUES:
        return str(distinct)
    return f"about {float(f'{distinct:.2g}'):,.0f}"


def tied_share(counts: Counts) -> float:
    """Return the share of rows whose score another row has, too."""
    rows = counts.labeled + counts.unlabeled + counts.negative
    return float(rows[rows > 1].sum() / counts.n)
