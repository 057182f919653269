"""Simulation with known truth: populations, labeling mechanisms, and replicated studies.

A `Population` knows its ROC curve, areas and measures exactly. `case_control` and the functions
that start with ``label_`` turn a fully labeled data set into a positive-unlabeled one and keep the
true classes separate. `study` runs replications of a simulation, `ranking_study` those of a
labeling, to see which measures rank models rightly.
"""

from pueval.simulate._distributions import Beta, Normal, Remainder
from pueval.simulate._families import beta_scores, binormal, ranked
from pueval.simulate._labeling import Labeling
from pueval.simulate._labeling_mechanisms import (
    case_control,
    label_at_random,
    label_by_propensity,
    label_by_representativeness,
)
from pueval.simulate._populations import Population, SimulatedRows
from pueval.simulate._ranking_studies import RankingStudy, ranking_study
from pueval.simulate._representativeness import representativeness
from pueval.simulate._studies import study

__all__ = [
    "Beta",
    "Labeling",
    "Normal",
    "Population",
    "RankingStudy",
    "Remainder",
    "SimulatedRows",
    "beta_scores",
    "binormal",
    "case_control",
    "label_at_random",
    "label_by_propensity",
    "label_by_representativeness",
    "ranked",
    "ranking_study",
    "representativeness",
    "study",
]
