"""How labels came about: late labels, two sources of labels, features that drive labeling.

`evaluate` needs the probability that a positive is labeled, if that differs from row to row, or its
mean, the label frequency. The functions here estimate them from what you know about labeling.
"""

from pueval.labeling._delay_result import DelayEstimate
from pueval.labeling._late_labels import from_delay
from pueval.labeling._propensity_model import propensity_model
from pueval.labeling._propensity_result import PropensityEstimate
from pueval.labeling._random_labels import test_random
from pueval.labeling._random_labels_result import RandomLabelsTest
from pueval.labeling._two_sources import from_two_sources
from pueval.labeling._two_sources_result import DependenceBounds, TwoSources

__all__ = [
    "DelayEstimate",
    "DependenceBounds",
    "PropensityEstimate",
    "RandomLabelsTest",
    "TwoSources",
    "from_delay",
    "from_two_sources",
    "propensity_model",
    "test_random",
]
