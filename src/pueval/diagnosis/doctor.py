"""doctor(): a look at a file of labels and scores, before any number."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping, Sequence

from pueval.counts.counts import Counts
from pueval.diagnosis import column_roles
from pueval.diagnosis.column_text import about, describe_column, tied_share
from pueval.diagnosis.diagnosis import ColumnRole, Diagnosis
from pueval.diagnosis.foreign_numbers import (
    ForeignNumbers,
    describe_foreign_numbers,
    find_foreign_numbers,
)
from pueval.diagnosis.next_command import next_command
from pueval.diagnosis.prior_outlook import describe_prior
from pueval.diagnosis.repeated_ids import (
    MOST_COUNTED_ROWS,
    NOTABLE_FACTOR,
    describe_factor,
    describe_repeats,
    error_factor,
)
from pueval.diagnosis.score_problems import repeats_label, score_problem
from pueval.errors import Contradiction, name_model
from pueval.sources.column_profiles import (
    MOST_COLUMNS,
    ColumnProfile,
    TableProfile,
    profile_table,
)
from pueval.sources.columns import (
    Columns,
    check_column,
    lacks_header,
    no_header_text,
    score_names,
)
from pueval.sources.files import read_files
from pueval.sources.labels import LabelValues
from pueval.sources.paths import DataLocation, locate
from pueval.text.numbers import format_count

# Copies of rows are worth a warning above this share, unless scores tie more often than not.
DUPLICATE_SHARE, TIED_SHARE = 0.01, 0.5
# Label values that some tools use for unlabeled rows, and others for negatives.
AMBIGUOUS_LABELS = ("-1", "-1.0")


def doctor(
    path: str | os.PathLike[str],
    *,
    label: str | None = None,
    scores: str | Sequence[str] | None = None,
) -> Diagnosis:
    r"""Look at a file of labels and scores before you evaluate it.

    Finds the columns of labels, scores, weights and ids; counts rows, ties and duplicates; looks
    for signs of leakage; tells whether the prior can be estimated; and names the command to run
    next. Rows are read in a few passes. Only scores are kept, in bins above 50 million.

    Parameters
    ----------
    path : str or path
        A file, folder, pattern or table, as for `Counts.from_file`; "-" for standard input.
    label : str, optional
        Label column; by default the one that looks like labels.
    scores : str or list of str, optional
        Score columns; by default those that look like scores.

    Returns
    -------
    Diagnosis

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "scores.csv"
    >>> rows = [f"{i % 7 == 0:d},{(i % 7 == 0) + i * 37 % 100 / 50}\n" for i in range(700)]
    >>> _ = path.write_text("label,model_a\n" + "".join(rows))
    >>> from pueval import doctor
    >>> found = doctor(path)
    >>> found.label, found.scores, found.labeled
    ('label', ('model_a',), 100)
    """
    location = locate(path)
    table = profile_table(location)
    profiles = [*table.columns.values()]
    label = column_roles.choose_label(profiles) if label is None else label
    problems = _table_problems(table, location)
    values = None
    if label is not None:
        check_column(label, [*table.columns], "label")
        values = column_roles.label_values(table.columns[label])
        problems += _ambiguous_label(values)
    others = [profile for profile in profiles if profile.name != label]
    foreign = find_foreign_numbers(location, others)
    names = _choose_scores(scores, others, foreign)
    for name in names:
        check_column(name, [*table.columns], "score")
    counts: dict[str, Counts] = {}
    if label is not None and values is not None:
        countable = [*names, *(p.name for p in others if _is_binary(p) and p.name not in names)]
        usable = [
            name
            for name in countable
            if _is_usable(table.columns[name], problems, names, foreign.get(name))
        ]
        counts = _count(os.fspath(path), label, usable, values)
    elif label is not None:
        problems.append(_bad_labels(table.columns[label]))
    else:
        problems.append(
            Contradiction(
                "No column looks like labels: two values, such as 1 (labeled) and 0 (unlabeled). "
                "Name it with --label."
            )
        )
    unread = {name: numbers for name, numbers in foreign.items() if name not in names}
    problems += [
        text if names else Contradiction(text) for text in describe_foreign_numbers(unread)
    ]
    if not names and not unread:
        problems.append(
            Contradiction(
                "No column looks like scores: more than two different numbers. Name one with "
                "--score."
            )
        )
    used = tuple(name for name in names if name in counts)
    roles = tuple(describe_column(p, label, names, counts, foreign.get(p.name)) for p in profiles)
    doubtful = {name: problem for name in used if (problem := score_problem(counts[name]))}
    problems += [name_model(name, problem) for name, problem in doubtful.items()]
    problems += _label_copies(counts, roles)
    problems += _copied_rows(table, counts, used)
    clusters = [table.columns[column.name] for column in roles if column.role == "clusters"]
    effects = [_cluster_problem(p, os.fspath(path), label, used, values) for p in clusters]
    problems += filter(None, effects)
    repeated = [
        profile.name
        for profile, effect in zip(clusters, effects, strict=True)
        if effect is not None and not profile.missing
    ]
    sound = {name: counts[name] for name in used if name not in doubtful}
    knowledge, interval = describe_prior(sound)
    weight = next((column.name for column in roles if column.role == "weights"), None)
    sizes = _sizes(counts)
    command = f"pueval doctor {shlex.quote(os.fspath(path))}"
    if not _lacks_header(table, location):
        likely = [*sound] or used or names or column_roles.named_like_scores([*unread])
        if values is None and label is not None:
            values = column_roles.values_where_known(table.columns[label])
        command = next_command(os.fspath(path), label, likely, values, repeated)
    return Diagnosis(
        location.text,
        table.rows,
        table.n_columns,
        roles,
        label,
        used,
        weight,
        *sizes,
        table.duplicates,
        interval,
        tuple(knowledge),
        tuple(problems),
        command,
    )


def _choose_scores(
    scores: str | Sequence[str] | None,
    profiles: Sequence[ColumnProfile],
    foreign: Mapping[str, ForeignNumbers],
) -> list[str]:
    """Return the score columns: those that are given, or else those that look like scores."""
    if scores is not None:
        return [*score_names(scores)]
    readable = {profile.name: profile for profile in profiles if profile.name not in foreign}
    names = column_roles.choose_scores([*readable.values()])
    if foreign and not any(column_roles.is_score(readable[name]) for name in names):
        return []  # whole numbers beside numbers that cannot be read are no scores
    return names


def _is_binary(profile: ColumnProfile) -> bool:
    return profile.numeric and {*profile.values} <= {"0", "1", "0.0", "1.0", "true", "false"}


def _is_usable(
    profile: ColumnProfile,
    problems: list[str],
    names: Sequence[str],
    foreign: ForeignNumbers | None,
) -> bool:
    """Whether a column can be read as scores; otherwise add the reason to the problems."""
    if profile.numeric and not profile.missing:
        return True
    if profile.name in names:
        refused = "Other commands refuse them: drop or fill them first."
        if foreign is not None:
            problems += map(Contradiction, describe_foreign_numbers({profile.name: foreign}))
        elif not profile.mostly_numbers:
            example = f", for example {profile.text!r}" if profile.text is not None else ""
            problems.append(
                Contradiction(f"{profile.name!r} holds text{example}. Scores must be numbers.")
            )
        elif profile.n_text:
            have = "row has" if profile.n_text == 1 else "rows have"
            problems.append(
                Contradiction(
                    f"{profile.n_text:,} {have} no number in {profile.name!r}, for example "
                    f"{profile.text!r}. {refused}"
                )
            )
        if profile.missing:
            have = "row has" if profile.missing == 1 else "rows have"
            problems.append(
                Contradiction(f"{profile.missing:,} {have} no value in {profile.name!r}. {refused}")
            )
    return False


def _ambiguous_label(values: LabelValues | None) -> list[str]:
    """Say that -1 was read as unlabeled, but could mean negative."""
    if values is None or values.unlabeled not in AMBIGUOUS_LABELS:
        return []
    value = values.unlabeled
    return [
        f"{value} could mean unlabeled or negative. Use --unlabeled={value} or --negative={value}."
    ]


def _count(path: str, label: str, names: Sequence[str], values: LabelValues) -> dict[str, Counts]:
    if not names:
        return {}
    tallies = read_files(path, Columns(label, tuple(names)), labels=values)[()]
    counts = {name: Counts(*rows.samples, _binning=rows.binning) for name, rows in tallies.items()}
    first = next(iter(counts.values()))
    first._check_nonempty()
    return counts


def _sizes(counts: dict[str, Counts]) -> tuple[int, int, int]:
    if not counts:
        return 0, 0, 0
    first = next(iter(counts.values()))
    return int(first.n_labeled), int(first.n_unlabeled), int(first.n_negative)


def _bad_labels(profile: ColumnProfile) -> str:
    if profile.missing:
        have = "row has" if profile.missing == 1 else "rows have"
        known = column_roles.values_where_known(profile)
        other = known.unlabeled if known is not None and known.negative is None else None
        meaning, options = (
            ("", "") if other is None else (f" and {other} negative", f" --negative {other}")
        )
        return Contradiction(
            f"{profile.missing:,} {have} no label in {profile.name!r}. If that means unlabeled"
            f"{meaning}, run evaluate with --unlabeled ''{options}; otherwise drop or fill them."
        )
    return Contradiction(
        f"{profile.name!r} has {profile.distinct:,} distinct values, so its labels are not clear. "
        "Run evaluate with --positive, --unlabeled and, if there are any, --negative."
    )


def _table_problems(table: TableProfile, location: DataLocation) -> list[str]:
    """Return what was left out of a large table, and whether it has no header."""
    problems: list[str] = []
    if _lacks_header(table, location):
        problems.append(Contradiction(no_header_text(location.text, [*table.columns])))
    if table.n_columns > MOST_COLUMNS:
        problems.append(f"only the first {MOST_COLUMNS} of {table.n_columns:,} columns were read.")
    if table.duplicates is None:
        problems.append("duplicates were not counted: there are too many rows.")
    return problems


def _lacks_header(table: TableProfile, location: DataLocation) -> bool:
    return location.format == "csv" and lacks_header([*table.columns])


def _label_copies(counts: dict[str, Counts], roles: Sequence[ColumnRole]) -> list[str]:
    problems: list[str] = []
    for column in roles:
        if column.name not in counts or repeats_label(counts[column.name]) != "equals":
            continue
        problems.append(
            Contradiction(
                f"{column.name!r} equals the label in every row. Do not use it as a score, and "
                "check that no model was trained on it."
            )
        )
    return problems


def _copied_rows(table: TableProfile, counts: dict[str, Counts], used: Sequence[str]) -> list[str]:
    """Say how many rows are copies, if these are not ties by chance."""
    untied = any(tied_share(counts[name]) < TIED_SHARE for name in used)
    copies = table.duplicates or 0
    all_copied = copies >= TIED_SHARE * table.rows
    if copies > DUPLICATE_SHARE * table.rows and (untied or all_copied):
        number = format_count(copies)
        problem = (
            f"{number} rows repeat another row in every column. If they are copies, drop them: "
            "intervals treat rows as independent."
        )
        return [problem]
    return []


def _cluster_problem(
    profile: ColumnProfile,
    path: str,
    label: str | None,
    scores: Sequence[str],
    values: LabelValues | None,
) -> str | None:
    """Describe how rows with the same id widen intervals; None if hardly."""
    repeats = describe_repeats(profile.name, about(profile.distinct), f"{profile.rows:,}")
    text = f"column {repeats}"
    if profile.missing:
        return f"{text}, and drop or fill its {profile.missing:,} missing values first."
    factor = None
    if label is not None and values is not None and scores and profile.rows <= MOST_COUNTED_ROWS:
        columns = Columns(label, tuple(scores), cluster=profile.name)
        factor = error_factor(path, columns, values)
    if factor is None:
        return f"{text}; otherwise intervals are too narrow."
    if factor <= NOTABLE_FACTOR:
        return None
    return f"{text}: {describe_factor(factor, scores[0])}"
