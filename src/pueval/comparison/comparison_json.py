"""A Comparison as plain data for JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pueval.comparison.comparison_text import best_probability_or_nan, leading_models
from pueval.evaluation.evaluation_text import as_data as evaluation_data
from pueval.families.field_measures import can_order_models, family_members
from pueval.text.results import plain_dict

if TYPE_CHECKING:
    from pueval.comparison.comparison import Comparison


def as_data(comparison: Comparison, *, all_points: bool, families: Sequence[str]) -> dict[str, Any]:
    """Return everything as plain numbers, lists and text; numbers that JSON lacks are None.

    Of many models, only the best are compared in pairs.
    """
    shown = leading_models(comparison)
    first = next(iter(comparison.evaluations.values()))
    more = [name for name in family_members(families) if can_order_models(name)]
    measures = tuple(dict.fromkeys((*comparison.measures, *more)))
    orders = {}
    # With an audit, each model's evaluation has its own prior, and the prior cannot be moved.
    audited = first.audit is not None
    if first.counts.n_unlabeled and not audited:
        for measure in comparison.measures:
            order = shown.order_by_prior(measure)
            orders[measure] = {
                "priors": order.prior[[0, -1]],
                "reversals": order.reversals,
                "best_models": order.best_models,
            }
    return plain_dict(
        {
            "models": {
                name: evaluation_data(ev, all_points=all_points)
                | ({"families": ev.family(*families).to_dict()} if families else {})
                for name, ev in comparison.evaluations.items()
            },
            "assumptions": {
                "prior": None if audited else comparison.mixture.prior,
                "purity": comparison.mixture.purity,
                "region": comparison.assumptions.region,
                "target": comparison.target,
                "prevalence": None if audited else first.prevalence,
                "estimated": comparison.prior_estimate,
                "estimated_from": comparison.prior_model,
            },
            "level": comparison.level,
            "compared": shown.names,
            "differences": [row for name in measures for row in shown.differences(name)],
            "best_probability": {
                measure: best_probability_or_nan(shown, measure)
                for measure in (() if comparison.level is None else measures)
            },
            "order_by_prior": orders,
            "warnings": comparison.warnings,
        }
    )
