"""Measures of a ranking that need no prior: PULP, Lee–Liu, pseudo-F, and naive measures."""

from pueval.ranking._multiclass_pulp import multiclass_pulp, multiclass_pulp_of_predictions
from pueval.ranking._prior_free import (
    RANKING_TITLES,
    largest_pulp,
    lee_liu,
    pseudo_f,
    pulp,
    ranking_measures,
    saturation_note,
)

__all__ = [
    "RANKING_TITLES",
    "largest_pulp",
    "lee_liu",
    "multiclass_pulp",
    "multiclass_pulp_of_predictions",
    "pseudo_f",
    "pulp",
    "ranking_measures",
    "saturation_note",
]
