"""Several models with one prior, because the prior is a property of the rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from pueval.core.curves import model_with_highest_naive_auc
from pueval.counts.counts import Counts

if TYPE_CHECKING:
    from pueval.priors import PriorEstimate

Rows = TypeVar("Rows")
Result = TypeVar("Result")


def evaluate_with_one_prior(
    models: dict[str, Rows],
    assumptions: dict[str, Any],
    evaluate_model: Callable[[Rows, dict[str, Any]], Result],
    *,
    count: Callable[[Rows], Counts],
    prior_estimate: Callable[[Result], PriorEstimate | None],
) -> dict[str, Result]:
    """Evaluate all models with the given prior and purity, or with the best model's estimate.

    ``count`` returns the counts of a model, and ``prior_estimate`` the estimate behind a result.
    """
    shares = ("prior", "prevalence", "label_frequency")
    given = any(assumptions[name] is not None for name in shares)
    if (given and assumptions["purity"] != "estimate") or len(models) == 1:
        return {name: evaluate_model(rows, assumptions) for name, rows in models.items()}
    prior_model = model_with_highest_naive_auc({name: count(rows) for name, rows in models.items()})
    first = evaluate_model(models[prior_model], assumptions)
    # The estimate, unlike its value, has an interval. The purity stays as it was given.
    shared = assumptions | dict.fromkeys(shares) | {"prior": prior_estimate(first)}
    return {
        name: first if name == prior_model else evaluate_model(rows, shared)
        for name, rows in models.items()
    }
