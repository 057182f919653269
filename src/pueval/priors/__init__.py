"""Estimators of the prior and the purity.

`estimate` is the function to start with; by default it uses `Consensus`. All estimators assume
random labeling. Those that work on scores need out-of-fold scores.
"""

from pueval.priors._alphamax import AlphaMax, AlphaMaxN
from pueval.priors._best_bin import BestBin
from pueval.priors._consensus import Consensus
from pueval.priors._dedpul import Dedpul
from pueval.priors._dist_curve import DistCurve
from pueval.priors._elkan_noto import ElkanNoto
from pueval.priors._estimate_prior import estimate
from pueval.priors._estimation_result import MemberEstimate, PriorEstimate
from pueval.priors._kernel_mean import KernelMean
from pueval.priors._roc_network import RocNetwork
from pueval.priors._roc_slope import RocSlope
from pueval.priors._tice import Tice
from pueval.priors._tilt import Tilt
from pueval.priors._with_purity import WithPurity

__all__ = [
    "AlphaMax",
    "AlphaMaxN",
    "BestBin",
    "Consensus",
    "Dedpul",
    "DistCurve",
    "ElkanNoto",
    "KernelMean",
    "MemberEstimate",
    "PriorEstimate",
    "RocNetwork",
    "RocSlope",
    "Tice",
    "Tilt",
    "WithPurity",
    "estimate",
]
