"""Measures of a ranking, which need no prior: PULP, Lee–Liu, pseudo-F, and naive ones."""

from pueval.ranking.measures import RANKING_TITLES, lee_liu, pseudo_f, pulp, ranking_measures
from pueval.ranking.operating_points import OperatingPoints

__all__ = [
    "RANKING_TITLES",
    "OperatingPoints",
    "lee_liu",
    "pseudo_f",
    "pulp",
    "ranking_measures",
]
