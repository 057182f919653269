"""``pueval count``: count rows once and save the counts."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from pueval._writing import lock_path
from pueval.commands.model_counts import (
    add_to_saved,
    check_counts_file,
    check_not_added_to_itself,
    read_models,
)
from pueval.commands.options import COLUMNS, COUNT_DEFAULTS, LABEL, OUTPUT, CountOptions, InputFile
from pueval.commands.terminal import print_line
from pueval.errors import InputError
from pueval.sources.storage import saved_name


def count_command(
    file: InputFile,
    to: str,
    /,
    *,
    label: Annotated[str | None, LABEL] = None,
    score: Annotated[str | None, Parameter(group=COLUMNS)] = None,
    options: CountOptions = COUNT_DEFAULTS,
    add: Annotated[bool, Parameter(group=OUTPUT, negative=())] = False,
    overwrite: Annotated[bool, Parameter(group=OUTPUT, negative=())] = False,
) -> None:
    """Count rows and save the counts, or add them to saved counts.

    "pueval evaluate" and "pueval prior" read saved counts in milliseconds, in place of the rows.

    Example: pueval count 'today/*.parquet' counts.parquet --add --label label --score model_a

    Parameters
    ----------
    file
        Rows, as for "pueval evaluate", or saved counts, which need no options.
    to
        Parquet file for the counts.
    score
        Column with a model's scores.
    add
        Add to the counts in the file, if it exists. Several processes may add to the same file.
    overwrite
        Replace the counts in the file, if it exists.
    """
    if add and overwrite:
        raise InputError("--add cannot be combined with --overwrite. Leave one of them out.")
    check_counts_file(to, add=add)
    if add:
        check_not_added_to_itself(file, to)
    elif not overwrite and Path(to).exists():
        raise InputError(
            f"{to} already exists. Pass --overwrite to replace it, or --add to add to it."
        )
    [counts] = read_models(file, label, [] if score is None else [score], options).values()
    name = saved_name(file) if score is None else score
    # Another process may add to the same file: it waits until the sum is written.
    with lock_path(to):
        total, name = add_to_saved(to, counts, name) if add else (counts, name)
        total.to_parquet(to, name=name)
    print_line(f"{to}: {total}")
