"""Models as the command line names them: score columns of rows, or saved Counts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from pueval.counts.counts import Counts
from pueval.counts.tally import tally
from pueval.errors import InputError
from pueval.samples.bins import Bins
from pueval.sources.columns import Engine
from pueval.sources.paths import SUFFIXES
from pueval.sources.storage import is_counts_file, is_damaged, saved_name


def read_models(
    file: str,
    *,
    label: str | None,
    scores: Sequence[str],
    weight: str | None,
    labels: tuple[Any, Any, Any],
    bins: int | Literal["auto", "exact"],
    engine: Engine,
    address: str | None,
) -> dict[str, Counts]:
    """Return the Counts of each score column of a file, or those that the file holds."""
    wanted = None if bins == "exact" else bins
    if _parquet(file) and is_counts_file(file):
        given = {
            "--label": label is not None,
            "--score": bool(scores),
            "--weight": weight is not None,
            "--positive": labels[0] != "1",
            "--unlabeled": labels[1] != "0",
            "--negative": labels[2] is not None,
            "--engine": engine != "duckdb",
            "--address": address is not None,
        }
        return _saved(file, [name for name, there in given.items() if there], wanted)
    if label is None and not scores and _parquet(file) and is_damaged(file):
        # It may have held saved counts: say that it is broken, not that options are missing.
        return _saved(file, [], wanted)
    if label is None or not scores:
        what = "--label" if label is None else "--score"
        raise InputError(
            f"{what} is missing: the column of {'labels' if label is None else 'scores'} in {file}."
        )
    return tally(
        file,
        label=label,
        scores=scores,
        sample_weight=weight,
        bins=wanted,
        engine=engine,
        address=address,
        pos_label=labels[0],
        unlabeled_label=labels[1],
        negative_label=labels[2],
    )[()]


def _parquet(file: str) -> bool:
    return SUFFIXES.get(Path(file).suffix.lower()) == "parquet"


def _saved(file: str, about_rows: Sequence[str], bins: Bins) -> dict[str, Counts]:
    if about_rows:
        raise InputError(
            f"{file} holds saved counts, which have no columns any more. "
            f"Leave out {', '.join(about_rows)}."
        )
    counts = Counts.from_parquet(file)
    if bins is None and counts.bins is not None:
        raise InputError(
            f"the scores of {file} are in bins, {counts.bins:,} between a score and twice it. "
            "Leave out --bins exact, or count the rows again with it."
        )
    name = saved_name(file) or Path(file).stem
    return {name: counts.to_bins(bins) if isinstance(bins, int) else counts}


def check_target(file: str, *, add: bool) -> None:
    """Refuse to keep Counts where they would not be found again, or in the place of other data.

    What cannot be added to is refused when it is read.
    """
    if not _parquet(file):
        raise InputError(
            f"the file to keep counts in must end in .parquet or .pq; got {file!r}. Other commands "
            "would take it for rows."
        )
    if not add and Path(file).is_file() and not is_counts_file(file):
        raise InputError(
            f"{file} holds something else than counts, which would be lost. Give another name, or "
            "remove it first."
        )


def add_to_saved(file: str, counts: Counts, name: str | None) -> tuple[Counts, str | None]:
    """Add the Counts of a score to those in a file, if it is there; also return its name."""
    if not Path(file).exists():
        return counts, name
    total = Counts.from_parquet(file) + counts
    known = saved_name(file)
    if None not in {known, name} and known != name:
        raise InputError(
            f"{file} holds counts of the score {known!r}, to which those of {name!r} cannot be "
            "added. Give another file."
        )
    return total, known or name
