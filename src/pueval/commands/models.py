"""Models as the command line names them: score columns of rows, or saved Counts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pueval.counts import Counts
from pueval.errors import InputError
from pueval.sources.limits import Bins, Engine
from pueval.sources.paths import SUFFIXES
from pueval.sources.storage import is_counts_file
from pueval.tally import tally


def read_models(
    file: str,
    *,
    label: str | None,
    scores: Sequence[str],
    weight: str | None,
    labels: tuple[Any, Any, Any],
    bins: Bins,
    engine: Engine,
    address: str | None,
) -> dict[str, Counts]:
    """Return the Counts of each score column of a file, or those that the file holds."""
    if SUFFIXES.get(Path(file).suffix.lower()) == "parquet" and is_counts_file(file):
        return _saved(file, label, scores, weight, bins)
    if label is None or not scores:
        what = "--label" if label is None else "--score"
        raise InputError(
            f"{what} is missing: the column of {'labels' if label is None else 'scores'} in {file}."
        )
    return tally(
        file,
        label=label,
        scores=scores,
        weight=weight,
        bins=bins,
        engine=engine,
        address=address,
        pos_label=labels[0],
        unlabeled_label=labels[1],
        negative_label=labels[2],
    )[()]


def _saved(
    file: str, label: str | None, scores: Sequence[str], weight: str | None, bins: Bins
) -> dict[str, Counts]:
    if label is not None or scores or weight is not None:
        raise InputError(
            f"{file} holds saved counts, which have no columns any more. "
            "Leave out --label, --score and --weight."
        )
    counts = Counts.from_parquet(file)
    return {Path(file).stem: counts.to_bins(bins) if isinstance(bins, int) else counts}


def add_to_saved(file: str, counts: Counts) -> Counts:
    """Add Counts to those in a file, if it is there."""
    return Counts.from_parquet(file) + counts if Path(file).exists() else counts
