"""Comparing: several models on the same rows, paired row by row.

Rows are read once (`paired`). How much each of them moves an estimate (`influence`) gives the
covariance of all models' estimates (`joint`), or rows drawn again do (`row_bootstrap`). From it
follow differences, who is probably the best, and which prior turns the order around.
"""

from pueval.comparing.agreement import Disagreement, Rankings
from pueval.comparing.comparator import compare
from pueval.comparing.comparison import Comparison
from pueval.comparing.differences import Difference
from pueval.comparing.prior_order import Flip, PriorOrder, Reign

__all__ = [
    "Comparison",
    "Difference",
    "Disagreement",
    "Flip",
    "PriorOrder",
    "Rankings",
    "Reign",
    "compare",
]
