"""Sensitivity: what if the prior, the purity or the random labeling are wrong.

Claesen's `bounds` hold for any prior within limits and for ranks within a confidence band;
`feasibility` says which priors a ranking can have at all; `labeling_bias` gives what measures can
be at worst if labels were not drawn at random; `grid` tabulates a measure over prior × purity.
"""

from pueval.sensitivity.bounds import Bounds, BoundTables, claesen_bounds
from pueval.sensitivity.feasibility import LargestPrior, feasibility_pvalue, largest_prior
from pueval.sensitivity.grid import SensitivityGrid
from pueval.sensitivity.labeling_bias import TippingPoint

__all__ = [
    "BoundTables",
    "Bounds",
    "LargestPrior",
    "SensitivityGrid",
    "TippingPoint",
    "claesen_bounds",
    "feasibility_pvalue",
    "largest_prior",
]
