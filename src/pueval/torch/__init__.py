"""Metrics for training loops: TorchMetrics classes whose states add up across processes."""

from pueval.errors import require as _require

for _package in ("torch", "torchmetrics"):
    _require(_package, extra="torch", purpose="pueval.torch")

from pueval.torch._evaluation_metric import PUEvaluation  # noqa: E402
from pueval.torch._measure_metrics import (  # noqa: E402
    PUAUROC,
    PUAccuracy,
    PUAveragePrecision,
    PUBalancedAccuracy,
    PUCohenKappa,
    PUError,
    PUF1Score,
    PUJaccardIndex,
    PUMatthewsCorrCoef,
    PUMeasure,
    PUPrecision,
    PURecall,
    PUSpecificity,
)
from pueval.torch._risk_metrics import NNPURisk, UPURisk, risk_metrics  # noqa: E402

__all__ = [
    "PUAUROC",
    "NNPURisk",
    "PUAccuracy",
    "PUAveragePrecision",
    "PUBalancedAccuracy",
    "PUCohenKappa",
    "PUError",
    "PUEvaluation",
    "PUF1Score",
    "PUJaccardIndex",
    "PUMatthewsCorrCoef",
    "PUMeasure",
    "PUPrecision",
    "PURecall",
    "PUSpecificity",
    "UPURisk",
    "risk_metrics",
]
