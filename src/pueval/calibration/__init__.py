"""Recalibration: maps from scores to probabilities, from positive and unlabeled rows."""

from pueval.calibration._recalibrator import Recalibrator

__all__ = ["Recalibrator"]
