"""Assumptions of an evaluation with propensities: what they determine, and what they need."""

from __future__ import annotations

from typing import Any

from pueval._checks import short_text
from pueval._typing import Target
from pueval.core.mixture import Mixture
from pueval.counts.counts import Counts
from pueval.errors import InputError


def check_propensity_options(purity: Any, target: Target) -> None:
    """Refuse noisy labels and other targets, for which propensities are undefined."""
    if purity != 1:
        raise InputError(
            f"propensities need clean labels; got purity={short_text(purity)}. They are labeling "
            "probabilities of positives, and are undefined for wrongly labeled rows. Omit one."
        )
    if target != "population":
        raise InputError(
            "propensities need target='population': labeled rows must be positives of the same "
            f"sample as the unlabeled rows; got target={target!r}."
        )


def propensity_mixture(counts: Counts) -> Mixture:
    """Return the prior for which the weighted labeled rows are all positives."""
    hidden_positives = counts.n_represented - counts.n_labeled
    if hidden_positives >= counts.n_unlabeled:
        raise too_many_positives_error(counts)
    return Mixture(hidden_positives / counts.n_unlabeled)


def too_many_positives_error(counts: Counts) -> InputError:
    """Return the error for propensities that imply more positives than there are rows."""
    return InputError(
        f"by their propensities, {counts.n_labeled:,} labeled rows represent "
        f"{counts.n_represented:,.6g} positives, but only "
        f"{counts.n_labeled + counts.n_unlabeled:,} rows are labeled or unlabeled. Check the "
        "propensities; if they are known only up to a factor, give prior or prevalence too."
    )
