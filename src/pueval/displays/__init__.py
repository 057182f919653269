"""Pictures of evaluations in scikit-learn's habits: made by ``from_…``, drawn by ``plot``.

Each display has the data behind it in ``frame()``, draws naive and corrected together, and needs
matplotlib (``pip install "pueval[plot]"``) only when it draws.
"""

from pueval.displays._comparison import ComparisonDisplay
from pueval.displays._measure_by_threshold import MeasureByThresholdDisplay
from pueval.displays._overview import OverviewDisplay
from pueval.displays._precision_recall import PrecisionRecallDisplay
from pueval.displays._rank_cdf import RankCdfDisplay
from pueval.displays._roc import RocCurveDisplay
from pueval.displays._score_distribution import ScoreDistributionDisplay
from pueval.displays._sensitivity import SensitivityDisplay

__all__ = [
    "ComparisonDisplay",
    "MeasureByThresholdDisplay",
    "OverviewDisplay",
    "PrecisionRecallDisplay",
    "RankCdfDisplay",
    "RocCurveDisplay",
    "ScoreDistributionDisplay",
    "SensitivityDisplay",
]
