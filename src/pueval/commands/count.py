"""``pueval count``: rows counted once, and kept for other days."""

from __future__ import annotations

from typing import Annotated, Literal

from cyclopts import Parameter

from pueval.commands.models import add_to_saved, check_target, read_models
from pueval.commands.options import COLUMNS, ENGINE, LABELS, OUTPUT
from pueval.commands.terminal import say
from pueval.sources.limits import Engine


def count_command(
    file: str,
    to: str,
    /,
    *,
    label: Annotated[str, Parameter(group=COLUMNS)],
    score: Annotated[str, Parameter(group=COLUMNS)],
    weight: Annotated[str | None, Parameter(group=COLUMNS)] = None,
    add: Annotated[bool, Parameter(group=OUTPUT, negative=())] = False,
    positive: Annotated[str, Parameter(group=LABELS)] = "1",
    unlabeled: Annotated[str, Parameter(group=LABELS)] = "0",
    negative: Annotated[str | None, Parameter(group=LABELS)] = None,
    bins: Annotated[int | Literal["auto", "exact"], Parameter(group=ENGINE)] = "auto",
    engine: Annotated[Engine, Parameter(group=ENGINE)] = "duckdb",
    address: Annotated[str | None, Parameter(group=ENGINE)] = None,
) -> None:
    """Count rows once and keep the counts, or add them to those of earlier days.

    "pueval evaluate" and "pueval prior" take the saved counts in place of the rows, and need
    milliseconds to read them.

    Example: pueval count 'today/*.parquet' counts.parquet --add --label label --score model_a

    Parameters
    ----------
    file
        The rows, as for "pueval evaluate".
    to
        The Parquet file to keep the counts in: new, or one of earlier counts.
    label
        Column that says which rows are labeled positives.
    score
        Column with a model's scores.
    weight
        Column with weights of the rows.
    add
        Add to the counts in the file, if it is there, instead of replacing them.
    positive
        Value of a labeled positive; 1 also stands for 1.0 and true.
    unlabeled
        Value of an unlabeled row; 0 also stands for 0.0 and false.
    negative
        Value of a known negative, if there are any.
    bins
        How many bins to put between a score and twice it, a power of 2 such as 4096; "exact" keeps
        every score; "auto" does so for up to 50 million of them.
    engine
        What reads the files: duckdb (here, on all cores), polars, dask or spark.
    address
        Of a running cluster: a Dask scheduler (tcp://host:8786), a Spark master
        (spark://host:7077) or Connect server (sc://host:15002).
    """
    check_target(to, add=add)
    counts = read_models(
        file,
        label=label,
        scores=[score],
        weight=weight,
        labels=(positive, unlabeled, negative),
        bins=None if bins == "exact" else bins,
        engine=engine,
        address=address,
    )[score]
    total = add_to_saved(to, counts) if add else counts
    total.to_parquet(to)
    say(f"{to}: {total}")
