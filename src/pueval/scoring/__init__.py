"""Scorers for scikit-learn: tune classifiers by corrected measures.

Pass ``make_scorer("f1", prior=0.2)`` as ``scoring`` to scikit-learn, with positive-unlabeled labels
as ``y``.
"""

from pueval.scoring._scorers import get_scorer, get_scorer_names, make_scorer

__all__ = ["get_scorer", "get_scorer_names", "make_scorer"]
