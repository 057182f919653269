"""Estimators of the prior and the purity.

`estimate` is the function to start with; by default it uses `Consensus`. All estimators assume
random labeling. Those that work on scores need out-of-fold scores.
"""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING as _TYPE_CHECKING

if _TYPE_CHECKING:
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

# Imported on first use: scikit-learn, which the estimators need, is slow to import, and evaluations
# with a known prior need the tilt likelihood only.
_MODULES = {
    "AlphaMax": "_alphamax",
    "AlphaMaxN": "_alphamax",
    "BestBin": "_best_bin",
    "Consensus": "_consensus",
    "Dedpul": "_dedpul",
    "DistCurve": "_dist_curve",
    "ElkanNoto": "_elkan_noto",
    "KernelMean": "_kernel_mean",
    "MemberEstimate": "_estimation_result",
    "PriorEstimate": "_estimation_result",
    "RocNetwork": "_roc_network",
    "RocSlope": "_roc_slope",
    "Tice": "_tice",
    "Tilt": "_tilt",
    "WithPurity": "_with_purity",
    "estimate": "_estimate_prior",
}


def __getattr__(name: str) -> object:
    if name in _MODULES:
        value = getattr(_import_module(f"{__name__}.{_MODULES[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
