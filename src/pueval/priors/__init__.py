"""Estimators of the prior and the purity.

All take scores of rows that the classifier was not trained on, and assume that labeled rows are
a random draw. `estimate` is the way in; `Consensus` is what it uses.
"""

from pueval.priors._alphamax import AlphaMax, AlphaMaxN
from pueval.priors._best_bin import BestBin
from pueval.priors._consensus import Consensus, Member
from pueval.priors._dedpul import Dedpul
from pueval.priors._dist_curve import DistCurve
from pueval.priors._elkan_noto import ElkanNoto
from pueval.priors._estimation import PriorEstimate, estimate
from pueval.priors._kernel_mean import KernelMean
from pueval.priors._roc_network import RocNetwork
from pueval.priors._roc_slope import RocSlope
from pueval.priors._tice import Tice
from pueval.priors._tilt import Tilt
from pueval.priors._two_way import TwoWay

__all__ = [
    "AlphaMax",
    "AlphaMaxN",
    "BestBin",
    "Consensus",
    "Dedpul",
    "DistCurve",
    "ElkanNoto",
    "KernelMean",
    "Member",
    "PriorEstimate",
    "RocNetwork",
    "RocSlope",
    "Tice",
    "Tilt",
    "TwoWay",
    "estimate",
]
