"""``pueval count``: rows counted once, and kept for other days."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from pueval.commands.models import add_to_saved, check_target, read_models
from pueval.commands.options import (
    COLUMNS,
    LABEL,
    OUTPUT,
    Address,
    Bins,
    EngineName,
    Negative,
    Positive,
    Unlabeled,
    Weight,
)
from pueval.commands.terminal import say
from pueval.sources.storage import saved_name


def count_command(
    file: str,
    to: str,
    /,
    *,
    label: Annotated[str | None, LABEL] = None,
    score: Annotated[str | None, Parameter(group=COLUMNS)] = None,
    weight: Weight = None,
    add: Annotated[bool, Parameter(group=OUTPUT, negative=())] = False,
    positive: Positive = "1",
    unlabeled: Unlabeled = "0",
    negative: Negative = None,
    bins: Bins = "auto",
    engine: EngineName = "duckdb",
    address: Address = None,
) -> None:
    """Count rows once and keep the counts, or add them to those of earlier days.

    "pueval evaluate" and "pueval prior" take the saved counts in place of the rows, and need
    milliseconds to read them.

    Example: pueval count 'today/*.parquet' counts.parquet --add --label label --score model_a

    Parameters
    ----------
    file
        The rows, as for "pueval evaluate"; or counts that were kept before, which need no options.
    to
        The Parquet file to keep the counts in: new, or one of earlier counts.
    score
        Column with a model's scores.
    add
        Add to the counts in the file, if it is there, instead of replacing them.
    """
    check_target(to, add=add)
    [counts] = read_models(
        file,
        label=label,
        scores=[] if score is None else [score],
        weight=weight,
        labels=(positive, unlabeled, negative),
        bins=bins,
        engine=engine,
        address=address,
    ).values()
    name = saved_name(file) if score is None else score
    total, name = add_to_saved(to, counts, name) if add else (counts, name)
    total.to_parquet(to, name=name)
    say(f"{to}: {total}")
