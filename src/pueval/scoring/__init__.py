"""Scorers for scikit-learn: tune classifiers by corrected measures.

Pass ``make_scorer("f1", prior=0.2)`` as ``scoring`` to scikit-learn, with positive-unlabeled labels
as ``y``. ``Measure`` and ``cost`` make measures of your own.
"""

from pueval.core.measures import Measure, cost
from pueval.scoring._scorers import get_scorer, get_scorer_names, make_scorer

__all__ = ["Measure", "cost", "get_scorer", "get_scorer_names", "make_scorer"]
