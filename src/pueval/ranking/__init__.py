"""Measures of a ranking, which need no prior: PULP, Lee–Liu, pseudo-F, and naive ones."""

from pueval.ranking._prior_free import RANKING_TITLES, lee_liu, pseudo_f, pulp, ranking_measures
from pueval.ranking._top_rows import TopRows

__all__ = [
    "RANKING_TITLES",
    "TopRows",
    "lee_liu",
    "pseudo_f",
    "pulp",
    "ranking_measures",
]
