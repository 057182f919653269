"""Options that several commands share, and their groups, as ``--help`` shows them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Annotated, Any, Literal, get_args

from cyclopts import Group, Parameter, Token

from pueval.core.label_errors import LabelErrors
from pueval.errors import InputError
from pueval.sources.columns import Engine
from pueval.sources.labels import LabelValues
from pueval.sources.standard_input import STANDARD_INPUT

COLUMNS = Group("Columns", sort_key=1)
ASSUMPTIONS = Group(
    "Assumptions",
    help="Give at most one of --prior, --prevalence, --label-frequency and --label-errors. Without "
    "any, the prior is estimated from the scores.",
    sort_key=2,
)
ESTIMATION = Group("Estimation", sort_key=2)
LABELS = Group("Label values", sort_key=3)
ENGINE = Group("Large data", sort_key=3)
OUTPUT = Group("Output", sort_key=4)


def _whole(_: Any, tokens: Sequence[Token]) -> int | str:
    """Read an integer, or one of the words that --bins accepts."""
    text = tokens[0].value
    if text in get_args(BinsWord):
        return text
    try:
        return int(text)
    except ValueError:
        raise ValueError(f"it must be a whole number; got {text!r}.") from None


def _path(_: Any, tokens: Sequence[Token]) -> str:
    """Read the name of a file; - means standard input."""
    text = tokens[0].value
    return STANDARD_INPUT if text == STANDARD_INPUT_PATH else text


# In the place of -, which the parser takes for an option.
STANDARD_INPUT_PATH = "/dev/stdin"
InputFile = Annotated[str, Parameter(converter=_path)]
BinsWord = Literal["auto", "exact"]
WHOLE = Parameter(converter=_whole)
LABEL = Parameter(group=COLUMNS, help="Column with the labels of the rows.")
ClusterColumns = Annotated[
    list[str] | None,
    Parameter(
        name="--cluster",
        group=COLUMNS,
        negative=(),
        help="Column with the cluster of each row, such as the patient: rows of a cluster belong "
        "together. Only intervals, tests and warnings depend on it. Repeat the option for two-way "
        "clusters, such as user and item.",
    ),
]
SingleClusterColumn = Annotated[
    list[str] | None,
    Parameter(
        name="--cluster",
        group=COLUMNS,
        negative=(),
        help="Column with the cluster of each row, such as the patient: rows of a cluster belong "
        "together. Only intervals, tests and warnings depend on it.",
    ),
]
Quiet = Annotated[
    bool, Parameter(group=OUTPUT, negative=(), help="Print only errors and warnings.")
]
AllMeasures = Annotated[
    bool,
    Parameter(
        name="--all",
        group=OUTPUT,
        negative=(),
        help="Print all measures, not only the dozen that people report most.",
    ),
]
AllPoints = Annotated[
    bool,
    Parameter(
        group=OUTPUT,
        negative=(),
        help="Write all points of the curves to the JSON file, not only about 2,000 of them.",
    ),
]
HtmlPath = Annotated[
    str | None,
    Parameter(
        name="--html",
        group=OUTPUT,
        help="HTML file for a self-contained page with sliders for the assumptions.",
    ),
]


@Parameter(name="*")
@dataclass(frozen=True)
class LabelOptions:
    """Label values of the rows.

    Parameters
    ----------
    positive
        Label of labeled positives; 1 also matches 1.0 and true.
    unlabeled
        Label of unlabeled rows; 0 also matches 0.0 and false.
    negative
        Label of known negatives, if there are any.
    """

    positive: Annotated[str, Parameter(group=LABELS)] = "1"
    unlabeled: Annotated[str, Parameter(group=LABELS)] = "0"
    negative: Annotated[str | None, Parameter(group=LABELS)] = None

    @property
    def labels(self) -> LabelValues:
        """Labels of positive, unlabeled and negative rows."""
        return LabelValues(self.positive, self.unlabeled, self.negative)


@Parameter(name="*")
@dataclass(frozen=True)
class RowOptions(LabelOptions):
    """Weights and label values of the rows.

    Parameters
    ----------
    weight
        Column with row weights. Integers are frequency weights: 3 counts as three rows. Other
        numbers are importance weights.
    """

    weight: Annotated[str | None, Parameter(group=COLUMNS)] = None


@Parameter(name="*")
@dataclass(frozen=True)
class CountOptions(RowOptions):
    """Everything that determines how rows are counted, except for their columns.

    Parameters
    ----------
    bins
        Number of bins per doubling of the score, a power of 2 such as 4096. "exact" keeps every
        score; "auto" bins scores only if there are more than 50 million (rows times score
        columns).
    engine
        Engine that reads the files: duckdb (local, on all cores), polars, dask or spark.
    address
        Address of a running cluster: Dask scheduler (tcp://host:8786), Spark master
        (spark://host:7077) or Spark Connect server (sc://host:15002).
    """

    bins: Annotated[int | BinsWord, WHOLE, Parameter(group=ENGINE)] = "auto"
    engine: Annotated[Engine, Parameter(group=ENGINE)] = "duckdb"
    address: Annotated[str | None, Parameter(group=ENGINE)] = None

    def changed(self) -> list[str]:
        """Return the options that differ from their defaults."""
        return [f.name for f in fields(self) if getattr(self, f.name) != f.default]


@Parameter(name="*")
@dataclass(frozen=True)
class ShareOptions:
    """Assumed shares, as typed.

    Parameters
    ----------
    prior
        Share of positives among the unlabeled rows: a number in [0, 1), or an interval such as
        0.1,0.3.
    prevalence
        Share of positives in the target: a number or an interval.
    label_frequency
        Share of all positives that are labeled: a number or an interval.
    purity
        Share of true positives among the labeled rows: a number, an interval such as 0.9,0.95, or
        "estimate" to estimate it from the scores. 1 means clean labels.
    label_errors
        Error rates of the labels, instead of all shares, if every row was labeled 1 or 0: the share
        of the positives labeled 0 and of the negatives labeled 1, such as 0.2,0.05. Not for
        groups or windows of time.
    """

    prior: Annotated[str | None, Parameter(group=ASSUMPTIONS)] = None
    prevalence: Annotated[str | None, Parameter(group=ASSUMPTIONS)] = None
    label_frequency: Annotated[str | None, Parameter(group=ASSUMPTIONS)] = None
    purity: Annotated[str, Parameter(group=ASSUMPTIONS)] = "1"
    label_errors: Annotated[str | None, Parameter(group=ASSUMPTIONS)] = None

    def given(self) -> dict[str, bool]:
        """Return which options were given that determine the prior."""
        names = ("prior", "prevalence", "label_frequency", "label_errors")
        return {name: getattr(self, name) is not None for name in names}

    def refuse_label_errors(self, option: str) -> None:
        """Refuse error rates of the labels with ``--by`` or ``--over``.

        Groups with other shares of rows labeled 1 have another prior and another purity.
        """
        if self.label_errors is not None:
            raise InputError(
                f"--label-errors cannot be combined with {option}: the prior and the purity that "
                "follow from error rates differ between groups. If all groups have the same "
                "prevalence, pass the --prior and --purity that pueval evaluate --label-errors "
                f"prints without {option}."
            )

    def read(self) -> dict[str, Any]:
        """Return the shares as numbers and intervals; label errors take the place of the prior."""
        typed = {name: text for name, text in vars(self).items() if name != "label_errors"}
        shares: dict[str, Any] = {
            name: _share(name.replace("_", "-"), text) for name, text in typed.items()
        }
        if self.label_errors is None:
            return shares
        given = [name for name, text in typed.items() if text != getattr(SHARE_DEFAULTS, name)]
        if given:
            raise InputError(
                f"--label-errors cannot be combined with --{given[0].replace('_', '-')}: it "
                "determines prior and purity."
            )
        rates = _share("label-errors", self.label_errors)
        if not isinstance(rates, tuple) or len(rates) != 2:
            raise InputError(
                "--label-errors must be two numbers, the shares of positives labeled 0 and of "
                f"negatives labeled 1, such as 0.2,0.05; got {self.label_errors!r}."
            )
        return shares | {"prior": LabelErrors(*rates)}


# Nothing but the defaults.
LABEL_DEFAULTS, ROW_DEFAULTS = LabelOptions(), RowOptions()
COUNT_DEFAULTS, SHARE_DEFAULTS = CountOptions(), ShareOptions()


def _share(name: str, text: str | None) -> float | tuple[float, ...] | str | None:
    """Return a number, or an interval given as two numbers with a comma."""
    if text is None or (text == "estimate" and name == "purity"):
        return text
    if name != "label-errors" and re.fullmatch(r"0,\d{2,}|0,[2-9]", text):
        raise InputError(
            f"--{name} {text} means the interval from 0 to {text[2:]}. Use a decimal point: "
            f"{text.replace(',', '.')}."
        )
    if text == "estimate":
        raise InputError(
            f"--{name} must be a number or an interval; got 'estimate'. Leave it out to "
            "estimate the prior."
        )
    percent = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*%", text)
    if percent:
        raise InputError(
            f"--{name} must be a share, not a percentage; got {text}. Use "
            f"{float(percent[1]) / 100:g}."
        )
    try:
        numbers = tuple(float(part) for part in text.split(","))
    except ValueError:
        raise InputError(
            f"--{name} must be a number, or an interval such as 0.1,0.3; got {text!r}."
        ) from None
    return numbers[0] if len(numbers) == 1 else numbers
