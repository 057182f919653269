"""Counts of the models that a command names: score columns of a file, or saved counts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pueval.commands.options import CountOptions
from pueval.counts.counts import Counts
from pueval.counts.tally import tally
from pueval.errors import InputError
from pueval.samples.bins import Bins
from pueval.sources.column_profiles import column_names
from pueval.sources.columns import Columns, check_column
from pueval.sources.files import read_rows
from pueval.sources.labels import KIND_CODES
from pueval.sources.paths import SUFFIXES, locate
from pueval.sources.standard_input import STANDARD_INPUT
from pueval.sources.storage import is_counts_file, is_damaged, saved_name


def read_models(
    file: str,
    label: str | None,
    scores: Sequence[str],
    options: CountOptions,
    clusters: Sequence[str] = (),
    propensity: str | None = None,
) -> dict[str, Counts]:
    """Return the counts of each score column of a file, or the counts saved in it."""
    bins = None if options.bins == "exact" else options.bins
    if _parquet(file) and is_counts_file(file):
        columns = ["label"] * (label is not None) + ["score"] * bool(scores)
        columns += ["cluster"] * bool(clusters) + ["propensity"] * (propensity is not None)
        given = [*columns, *(name for name in options.changed() if name != "bins")]
        return _saved_counts(file, [f"--{name}" for name in given], bins)
    if label is None and not scores and not clusters and _parquet(file) and is_damaged(file):
        # These may be saved counts. That the file is damaged matters more than missing options.
        return _saved_counts(file, [], bins)
    if label is None or not scores:
        raise missing_column_error(file, label)
    if propensity is not None:
        return _rows_in_memory(file, label, scores, options, clusters, propensity)
    if len(clusters) > 1:
        return _rows_in_memory(file, label, scores, options, clusters)
    return tally(
        file,
        label=label,
        scores=scores,
        sample_weight=options.weight,
        cluster=clusters[0] if clusters else None,
        bins=bins,
        engine=options.engine,
        address=options.address,
        **options.labels.arguments,
    )[()]


def missing_column_error(file: str, label: str | None) -> InputError:
    """Return the error for a file without the option --label; if there is one, without --score."""
    if _parquet(file) and is_counts_file(file):
        return InputError(f"{file} holds saved counts, not rows. Pass the file with the rows.")
    name = "label" if label is None else "score"
    return InputError(f"--{name} is missing. Give the column with the {name}s in {file}.")


def _rows_in_memory(
    file: str,
    label: str,
    scores: Sequence[str],
    options: CountOptions,
    clusters: Sequence[str],
    propensity: str | None = None,
) -> dict[str, Counts]:
    """Return the counts of rows with propensities, or with two clusters each.

    Engines do not count such rows, so they are kept in memory.
    """
    for name in options.changed():
        if name in {"engine", "address", "bins"}:
            if propensity is None:
                what, hint = "two --cluster columns, which need", ", or pass one --cluster column"
            else:
                what, hint = "--propensity, which needs", ""
            raise InputError(
                f"--{name} cannot be combined with {what} all rows in memory, without bins. Leave "
                f"it out{hint}."
            )
    names = tuple(dict.fromkeys(scores))
    # The propensity is read like another score: a number in every row.
    numbers = names if propensity is None else tuple(dict.fromkeys((*names, propensity)))
    first, second = (*clusters, None, None)[:2]
    if propensity is not None and file != STANDARD_INPUT:
        check_column(propensity, column_names(locate(file), label), "propensity")
    columns = Columns(label, numbers, options.weight, cluster=first, second_cluster=second)
    rows = read_rows(file, columns, labels=options.labels)
    values = dict(zip(numbers, rows.scores, strict=True))
    return {
        name: Counts.from_arrays(
            rows.kind,
            values[name],
            sample_weight=rows.sample_weight,
            cluster=rows.cluster if second is None else [rows.cluster, rows.second_cluster],
            propensity=None if propensity is None else values[propensity],
            **KIND_CODES.arguments,
        )
        for name in names
    }


def cluster_columns(cluster: Sequence[str] | None) -> tuple[str, ...]:
    """Return the distinct columns of ``--cluster``, at most two."""
    columns = tuple(dict.fromkeys(cluster or ()))
    if len(columns) > 2:
        raise InputError(
            f"rows can belong to one or two clusters each; got {len(columns)} --cluster columns."
        )
    return columns


def single_cluster(clusters: Sequence[str], purpose: str) -> str | None:
    """Return the column of the clusters, if any; refuse two-way clusters."""
    if len(clusters) > 1:
        raise InputError(
            f"{purpose} takes one --cluster column; two-way clusters are for pueval evaluate "
            "without --by, and for pueval prior."
        )
    return clusters[0] if clusters else None


def _parquet(file: str) -> bool:
    return SUFFIXES.get(Path(file).suffix.lower()) == "parquet"


def _saved_counts(file: str, row_options: Sequence[str], bins: Bins) -> dict[str, Counts]:
    if row_options:
        raise InputError(
            f"{file} holds saved counts, which have no columns. Leave out {', '.join(row_options)}."
        )
    counts = Counts.from_parquet(file)
    if bins is None and counts.bins is not None:
        raise InputError(
            f"the scores in {file} are binned, with {counts.bins:,} bins per doubling of the "
            "score. Leave out --bins exact, or count the rows again with it."
        )
    name = saved_name(file) or Path(file).stem
    return {name: counts.to_bins(bins) if isinstance(bins, int) else counts}


def check_counts_file(file: str, *, add: bool) -> None:
    """Raise an error if counts cannot be saved to a file, or would replace other data."""
    if not _parquet(file):
        raise InputError(
            f"the file for the counts must end in .parquet or .pq; got {file!r}. Otherwise other "
            "commands would read it as rows."
        )
    if not add and Path(file).is_file() and not is_counts_file(file):
        raise InputError(
            f"{file} already exists and does not hold counts. Choose another name, or remove it "
            "first."
        )


def check_not_added_to_itself(file: str, to: str) -> None:
    """Raise an error if the saved counts to add are those in the file already."""
    if Path(to).exists() and is_counts_file(file) and Path(to).samefile(file):
        raise InputError(
            f"{to} is also the file to read, so its rows would count twice. Choose another file."
        )


def add_to_saved(file: str, counts: Counts, name: str | None) -> tuple[Counts, str | None]:
    """Add counts to those in a file, if it exists; return the sum and the name of the score."""
    if not Path(file).exists():
        return counts, name
    total = Counts.from_parquet(file) + counts
    name_in_file = saved_name(file)
    if None not in {name_in_file, name} and name_in_file != name:
        raise InputError(
            f"{file} holds counts of the score {name_in_file!r}; counts of {name!r} cannot be "
            "added to them. Choose another file."
        )
    return total, name_in_file or name
