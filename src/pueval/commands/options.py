"""Groups of options, as ``--help`` shows them."""

from __future__ import annotations

from cyclopts import Group

COLUMNS = Group("Columns", sort_key=1)
ASSUMPTIONS = Group(
    "Assumptions (at most one of the first three; with none the prior is estimated)",
    sort_key=2,
)
ESTIMATION = Group("Estimation", sort_key=2)
LABELS = Group("Label values", sort_key=3)
ENGINE = Group("Large data", sort_key=3)
OUTPUT = Group("Output", sort_key=4)
