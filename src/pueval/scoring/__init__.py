"""Scorers for scikit-learn: tune a classifier by what it is worth, not by what is labeled.

``make_scorer("f1", prior=0.2)`` goes wherever scikit-learn takes ``scoring=``, with the
positive-unlabeled label as ``y``.
"""

from pueval.scoring._scorers import get_scorer, get_scorer_names, make_scorer

__all__ = ["get_scorer", "get_scorer_names", "make_scorer"]
