"""Several models on the same rows: what is known about each of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

from pueval._typing import Target
from pueval.comparison.audited_pairs import AuditedPairs
from pueval.comparison.model_pairs import ModelPairs
from pueval.comparison.paired_estimates import BEST_VALUES, PairedEstimates
from pueval.comparison.paired_rows import check_model_names, unknown_model_error
from pueval.core.measures import AREAS, MEASURES, Measure, unknown_measure_error
from pueval.core.mixture import Mixture
from pueval.errors import InputError
from pueval.evaluation.assumptions import Assumptions
from pueval.evaluation.evaluation import Evaluation
from pueval.families.field_measures import ORDERING_MEASURES, find_ordering_measure
from pueval.families.measures_at import PATTERNS
from pueval.families.presence_family import F_PB, find_threshold_measure
from pueval.uncertainty.intervals import IntervalOptions

if TYPE_CHECKING:
    from pueval.priors import PriorEstimate


@dataclass(frozen=True, eq=False, repr=False)
class ComparedModels:
    """Base of `Comparison`, which adds differences, orders and output."""

    evaluations: dict[str, Evaluation]
    assumptions: Assumptions
    target: Target
    resampling: IntervalOptions | None
    prior_model: str | None
    warnings: tuple[str, ...]
    _pairs: ModelPairs | AuditedPairs

    # ------------------------------------------------------------------ models

    def __getitem__(self, name: str) -> Evaluation:
        if name not in self.evaluations:
            raise unknown_model_error(name, self.evaluations)
        return self.evaluations[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.evaluations)

    def __len__(self) -> int:
        return len(self.evaluations)

    @property
    def mixture(self) -> Mixture:
        """Prior and purity."""
        return self.assumptions.mixture

    @property
    def prior_estimate(self) -> PriorEstimate | None:
        """Estimate of prior and purity; None if they were given."""
        return self.assumptions.estimate

    @property
    def level(self) -> float | None:
        """Confidence level of the intervals; None if there are none."""
        return None if self.resampling is None else self.resampling.level

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the models."""
        return tuple(self.evaluations)

    @property
    def measures(self) -> tuple[str, ...]:
        """Names of the measures that compare models, without those of families."""
        return (*AREAS, *MEASURES, *BEST_VALUES)

    @property
    def has_integer_counts(self) -> bool:
        """Whether rows can be counted: without weights, or with integer weights."""
        return next(iter(self.evaluations.values())).counts._has_integer_counts

    def _check_measure(self, measure: str) -> None:
        if measure not in self._pairs.model_values.fixed:
            self._threshold_measure(measure)

    def _model_values(self, measure: str) -> PairedEstimates:
        """Return the estimates of a measure, with or without covariances."""
        if self._is_estimated_alone(measure):
            return self._pairs.field_estimates(measure)
        return self._pairs.model_values[measure]

    def _is_estimated_alone(self, measure: str) -> bool:
        """Return whether a measure is estimated when it is looked up; refuse unknown ones.

        So are measures of families, and after an audit all that are not in the default table.
        """
        if find_ordering_measure(measure) is not None:
            return True
        self._check_measure(measure)
        values = self._pairs.model_values
        return values.shares is None and measure not in values.fixed

    def _threshold_measure(self, measure: str) -> Measure:
        try:
            first = next(iter(self.evaluations.values()))
            return find_threshold_measure(measure, first.counts, self.target)
        except (InputError, TypeError):
            names = [*self.measures, *ORDERING_MEASURES, F_PB, *PATTERNS]
            raise unknown_measure_error(measure, names) from None

    def values(self, measure: str) -> dict[str, float]:
        """Return the corrected value of each model, before it is clipped.

        Parameters
        ----------
        measure : str
            Name of a measure.

        Returns
        -------
        dict of str to float
        """
        return dict(zip(self.names, self._model_values(measure).value.tolist(), strict=True))

    def subset(self, names: Iterable[str]) -> Self:
        """Return the comparison of some of the models.

        Use it to compare a few of many models: pairs are compared when you first ask for them, and
        then all pairs are. Choose the models by any criterion you like: adjusted p-values are
        still those for all pairs of the models that were compared at first.

        Parameters
        ----------
        names : iterable of str
            Names of at least two models.

        Returns
        -------
        Comparison

        Examples
        --------
        >>> import numpy as np
        >>> from pueval import compare
        >>> rng = np.random.default_rng(0)
        >>> y = np.repeat([1, 0], [100, 400])
        >>> scores = {f"model_{k}": rng.normal(size=500) + k / 50 * y for k in range(50)}
        >>> comparison = compare(y, scores, prior=0.1)
        >>> best = comparison.ranking("roc_auc").order("roc_auc")[:3]
        >>> len(comparison.subset(best).differences("roc_auc"))
        3
        """
        evaluations = {name: self[name] for name in names}
        check_model_names([*evaluations])
        numbers = {name: k for k, name in enumerate(self)}
        prefixes = tuple(f"{name}: " for name in evaluations)
        return replace(
            self,
            evaluations=evaluations,
            warnings=tuple(
                warning
                for warning in self.warnings
                if warning in self.assumptions.warnings or warning.startswith(prefixes)
            ),
            _pairs=self._pairs.subset([numbers[name] for name in evaluations]),
        )
