"""Estimates of several models, and the covariances of their pairs when they are needed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from math import comb
from typing import Any

from pueval.comparison.estimate_models import Model, PairedEstimation
from pueval.comparison.model_exchanges import ModelExchanges
from pueval.comparison.paired_estimates import EstimatesByMeasure, PairedEstimates


@dataclass(frozen=True, eq=False)
class ModelPairs:
    """Models on the same rows. Pairs of them are compared when they are first looked up.

    Attributes
    ----------
    estimation : PairedEstimation
        Estimation of these models.
    models : tuple of Model
        Rates and thresholds of the models.
    n_left_out : int
        Number of pairs in the same comparison with a model that is not among these.
    """

    estimation: PairedEstimation
    models: tuple[Model, ...]
    n_left_out: int = 0

    def __getstate__(self) -> dict[str, Any]:
        """Leave the estimates out of pickles: the same can be computed again."""
        return {attribute.name: getattr(self, attribute.name) for attribute in fields(self)}

    @cached_property
    def model_values(self) -> EstimatesByMeasure:
        """Estimates without covariances."""
        return self.estimation.estimate_values(self.models)

    @cached_property
    def estimates(self) -> EstimatesByMeasure:
        """Estimates with the covariances of all pairs."""
        return self.estimation.estimate_pairs(self.models, self._exchanges)

    @cached_property
    def _exchanges(self) -> ModelExchanges | None:
        return self.estimation.exchange_models()

    @cached_property
    def _first_rows_exchanges(self) -> ModelExchanges | None:
        return self.estimation.exchange_models(of_first_rows=True)

    @cached_property
    def _field_estimates(self) -> dict[str, PairedEstimates]:
        return {}

    def field_estimates(self, name: str) -> PairedEstimates:
        """Return the estimates of a measure of a family, with the covariances of all pairs."""
        if name not in self._field_estimates:
            self._field_estimates[name] = self.estimation.estimate_field_measure(
                name, lambda: self._first_rows_exchanges
            )
        return self._field_estimates[name]

    def subset(self, numbers: Sequence[int]) -> ModelPairs:
        """Return some of the models, given by their numbers."""
        models = tuple(self.models[k] for k in numbers)
        n_left_out = self.n_left_out + comb(len(self.models), 2) - comb(len(models), 2)
        return replace(
            self, estimation=self.estimation.subset(numbers), models=models, n_left_out=n_left_out
        )
