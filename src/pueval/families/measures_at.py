"""Measures with a number in their names: precision_at_100, recall_at_5%, net_benefit_at_0.2.

The number is one of first rows, a share of the rows in percent, or a risk threshold.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache, partial

from pueval.errors import InputError, UnknownMeasureError
from pueval.families.net_benefit import NetBenefitMeasure, net_benefit_of_means
from pueval.families.top_measure import RowsOf, TopMeasure, first_rows
from pueval.families.top_measures import (
    average_precision_at,
    enrichment,
    f_at,
    ndcg,
    positives_at,
    precision_at,
    recall_at,
)

_NAME = re.compile(r"(?P<what>[a-z0-9_.]+)_at_(?P<number>\d+(\.\d+)?|\.\d+)(?P<percent>%?)")
_OF_FIRST_ROWS: dict[str, Callable[[RowsOf], TopMeasure]] = {
    "precision": precision_at,
    "recall": recall_at,
    "positives": positives_at,
    "enrichment_factor": enrichment,
    "average_precision": average_precision_at,
    "ndcg": ndcg,
}
NET_BENEFIT = "net_benefit"
# How such names are written, for messages.
PATTERNS = ("precision_at_100", "recall_at_5%", "net_benefit_at_0.2")


@lru_cache(maxsize=512)
def measure_at(name: str) -> TopMeasure | NetBenefitMeasure | None:
    """Return the measure with a number in its name; None if the name is no such name.

    Examples
    --------
    >>> measure_at("recall_at_5%").title, measure_at("net_benefit_at_0.2").risk
    ('Recall, first 5%', 0.2)
    >>> measure_at("precision") is None
    True
    """
    found = _NAME.fullmatch(name)
    if found is None:
        return None
    what, number, is_share = found["what"], float(found["number"]), bool(found["percent"])
    if what == NET_BENEFIT:
        risk = number / 100 if is_share else number
        if not 0 < risk < 1:
            instead = (
                f" For {number:g}%, write {what}_at_{number / 100:g}." if 1 < risk < 100 else ""
            )
            raise UnknownMeasureError(f"{name}: the risk must lie between 0 and 1.{instead}")
        return replace(net_benefit_of_means(risk), name=name)
    beta = re.fullmatch(r"f(\d+(?:\.\d+)?)", what)
    of_rows = partial(f_at, beta=float(beta[1])) if beta else _OF_FIRST_ROWS.get(what)
    if of_rows is None or (beta and not float(beta[1])):
        return None
    if is_share and not 0 < number <= 100:
        raise UnknownMeasureError(f"{name}: the share must be above 0% and at most 100%.")
    if not is_share and not found["number"].isdigit():
        share = number if number > 1 else 100 * number
        raise UnknownMeasureError(
            f"{name}: the number of rows must be an integer. For a share of the rows, write it in "
            f"percent: {what}_at_{share:g}%."
        )
    if number == 0:
        raise UnknownMeasureError(f"{name}: the number of rows must be at least 1.")
    rows = first_rows(share=number / 100) if is_share else first_rows(number)
    measure = of_rows(partial(_name_rows, name, rows))
    first = f"{number:g}%" if is_share else f"{number:,.0f} rows"
    return replace(measure, name=name, title=f"{measure.title}, first {first}")


def _name_rows(name: str, rows: RowsOf, size: float) -> float:
    """Return the number of first rows; an error about it names the measure."""
    try:
        return rows(size)
    except InputError as error:
        raise InputError(f"{name}: {error}") from None
