"""Options that several commands share, and their groups, as ``--help`` shows them."""

from __future__ import annotations

from typing import Annotated, Literal

from cyclopts import Group, Parameter

from pueval.sources.limits import Engine

COLUMNS = Group("Columns", sort_key=1)
ASSUMPTIONS = Group(
    "Assumptions (at most one of the first three; with none the prior is estimated)",
    sort_key=2,
)
ESTIMATION = Group("Estimation", sort_key=2)
LABELS = Group("Label values", sort_key=3)
ENGINE = Group("Large data", sort_key=3)
OUTPUT = Group("Output", sort_key=4)

LABEL = Parameter(group=COLUMNS, help="Column that says which rows are labeled positives.")
Weight = Annotated[str | None, Parameter(group=COLUMNS, help="Column with weights of the rows.")]
Positive = Annotated[
    str,
    Parameter(group=LABELS, help="Value of a labeled positive; 1 also stands for 1.0 and true."),
]
Unlabeled = Annotated[
    str,
    Parameter(group=LABELS, help="Value of an unlabeled row; 0 also stands for 0.0 and false."),
]
Negative = Annotated[
    str | None, Parameter(group=LABELS, help="Value of a known negative, if there are any.")
]
Bins = Annotated[
    int | Literal["auto", "exact"],
    Parameter(
        group=ENGINE,
        help="How many bins to put between a score and twice it, a power of 2 such as 4096; "
        '"exact" keeps every score; "auto" does so for up to 50 million of them.',
    ),
]
EngineName = Annotated[
    Engine,
    Parameter(
        group=ENGINE,
        help="What reads the files: duckdb (here, on all cores), polars, dask or spark.",
    ),
]
Address = Annotated[
    str | None,
    Parameter(
        group=ENGINE,
        help="Of a running cluster: a Dask scheduler (tcp://host:8786), a Spark master "
        "(spark://host:7077) or Connect server (sc://host:15002).",
    ),
]
Quiet = Annotated[bool, Parameter(group=OUTPUT, negative=(), help="Print nothing but errors.")]
HtmlPath = Annotated[
    str | None,
    Parameter(
        name="--html",
        group=OUTPUT,
        help="Write a page with sliders for every assumption to this file; it needs no network.",
    ),
]
