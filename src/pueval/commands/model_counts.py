"""Counts of the models that a command names: score columns of a file, or saved counts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pueval.commands.options import CountOptions
from pueval.counts.counts import Counts
from pueval.counts.tally import tally
from pueval.errors import InputError
from pueval.samples.bins import Bins
from pueval.sources.paths import SUFFIXES
from pueval.sources.storage import is_counts_file, is_damaged, saved_name


def read_models(
    file: str,
    label: str | None,
    scores: Sequence[str],
    options: CountOptions,
    cluster: str | None = None,
) -> dict[str, Counts]:
    """Return the counts of each score column of a file, or the counts saved in it."""
    bins = None if options.bins == "exact" else options.bins
    if _parquet(file) and is_counts_file(file):
        columns = ["label"] * (label is not None) + ["score"] * bool(scores)
        columns += ["cluster"] * (cluster is not None)
        given = [*columns, *(name for name in options.changed() if name != "bins")]
        return _saved_counts(file, [f"--{name}" for name in given], bins)
    if label is None and not scores and cluster is None and _parquet(file) and is_damaged(file):
        # These may be saved counts. That the file is damaged matters more than missing options.
        return _saved_counts(file, [], bins)
    if label is None or not scores:
        name = "label" if label is None else "score"
        raise InputError(f"--{name} is missing. Give the column with the {name}s in {file}.")
    return tally(
        file,
        label=label,
        scores=scores,
        sample_weight=options.weight,
        cluster=cluster,
        bins=bins,
        engine=options.engine,
        address=options.address,
        **options.labels.arguments,
    )[()]


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
