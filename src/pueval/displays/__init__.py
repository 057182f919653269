"""Pictures of evaluations in scikit-learn's habits: made by ``from_…``, drawn by ``plot``.

Each display has the data behind it in ``frame()``, draws naive and corrected together, and needs
matplotlib (``pip install "pueval[plot]"``) only when it draws.
"""

from pueval.displays.comparison import ComparisonDisplay
from pueval.displays.measure_by_threshold import MeasureByThresholdDisplay
from pueval.displays.overview import OverviewDisplay
from pueval.displays.precision_recall import PrecisionRecallDisplay
from pueval.displays.rank_cdf import RankCdfDisplay
from pueval.displays.roc import RocCurveDisplay
from pueval.displays.score_distribution import ScoreDistributionDisplay
from pueval.displays.sensitivity import SensitivityDisplay

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
