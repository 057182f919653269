"""Options that several commands share, and their groups, as ``--help`` shows them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated, Any, Literal, get_args

from cyclopts import Group, Parameter, Token

from pueval.errors import InputError
from pueval.sources.columns import Engine

COLUMNS = Group("Columns", sort_key=1)
ASSUMPTIONS = Group(
    "Assumptions",
    help="At most one of prior, prevalence and label frequency; with none the prior is estimated.",
    sort_key=2,
)
ESTIMATION = Group("Estimation", sort_key=2)
LABELS = Group("Label values", sort_key=3)
ENGINE = Group("Large data", sort_key=3)
OUTPUT = Group("Output", sort_key=4)


def _whole(_: Any, tokens: Sequence[Token]) -> int | str:
    """Read a whole number, or a word where one may stand; 1.5 is no number of anything."""
    text = tokens[0].value
    if text in get_args(BinsWord):
        return text
    try:
        return int(text)
    except ValueError:
        raise ValueError(f"it must be a whole number; got {text!r}.") from None


BinsWord = Literal["auto", "exact"]
WHOLE = Parameter(converter=_whole)
LABEL = Parameter(group=COLUMNS, help="Column that says which rows are labeled positives.")
Prior = Annotated[
    str | None,
    Parameter(
        group=ASSUMPTIONS,
        help="Share of positives among the unlabeled rows: a number, or an interval such as "
        "0.1,0.3.",
    ),
]
Prevalence = Annotated[
    str | None,
    Parameter(group=ASSUMPTIONS, help="Share of positives in the target; a number or an interval."),
]
LabelFrequency = Annotated[
    str | None,
    Parameter(
        group=ASSUMPTIONS,
        help="Share of all positives that are labeled; a number or an interval.",
    ),
]
Purity = Annotated[
    str,
    Parameter(
        group=ASSUMPTIONS,
        help="Share of true positives among the labeled rows, a number or an interval; 1 means "
        'clean labels. "estimate" estimates it together with the prior.',
    ),
]
Weight = Annotated[
    str | None,
    Parameter(
        group=COLUMNS,
        help="Column with weights of the rows. Whole numbers count rows (3: as if it were there "
        "three times); others say how much a row matters.",
    ),
]
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
    int | BinsWord,
    WHOLE,
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
Quiet = Annotated[
    bool, Parameter(group=OUTPUT, negative=(), help="Print nothing but errors and warnings.")
]
HtmlPath = Annotated[
    str | None,
    Parameter(
        name="--html",
        group=OUTPUT,
        help="Write a page with sliders for every assumption to this file; it needs no network.",
    ),
]


def shares(
    prior: str | None, prevalence: str | None, label_frequency: str | None, purity: str
) -> dict[str, Any]:
    """Return what was assumed as numbers and intervals."""
    return {
        "prior": _share("prior", prior),
        "prevalence": _share("prevalence", prevalence),
        "label_frequency": _share("label-frequency", label_frequency),
        "purity": purity if purity == "estimate" else _share("purity", purity),
    }


def _share(name: str, text: str | None) -> float | tuple[float, ...] | None:
    """Return a number, or an interval given as two numbers with a comma."""
    if text is None:
        return None
    if re.fullmatch(r"0,\d{2,}|0,[2-9]", text):
        raise InputError(
            f"--{name} {text} would be the interval from 0 to {text[2:]}. Write decimals with a "
            f"point: {text.replace(',', '.')}."
        )
    if text == "estimate" and name != "purity":
        raise InputError(f"to have it estimated, leave --{name} out.")
    percent = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*%", text)
    if percent:
        raise InputError(f"--{name} must be a share; for {text} give {float(percent[1]) / 100:g}.")
    try:
        numbers = tuple(float(part) for part in text.split(","))
    except ValueError:
        raise InputError(
            f"--{name} must be a number, or two with a comma between them, such as 0.1,0.3; "
            f"got {text!r}."
        ) from None
    return numbers[0] if len(numbers) == 1 else numbers
