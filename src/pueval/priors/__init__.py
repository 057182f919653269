"""Estimators of the prior and the purity.

All take scores of rows that the classifier was not trained on, and assume that labeled rows are
a random draw. `estimate` is the way in; `Consensus` is what it uses.
"""

from pueval.priors.alphamax import AlphaMax, AlphaMaxN
from pueval.priors.best_bin import BestBin
from pueval.priors.consensus import Consensus, Member
from pueval.priors.dedpul import Dedpul
from pueval.priors.dist_curve import DistCurve
from pueval.priors.elkan_noto import ElkanNoto
from pueval.priors.estimation import PriorEstimate, estimate
from pueval.priors.kernel_mean import KernelMean
from pueval.priors.roc_network import RocNetwork
from pueval.priors.roc_slope import RocSlope
from pueval.priors.tice import Tice
from pueval.priors.tilt import Tilt
from pueval.priors.two_way import TwoWay

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
