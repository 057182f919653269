"""What is assumed: the mixture as given, in any of three ways, or as estimated."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Literal

from pueval.counts import Counts
from pueval.errors import AssumptionWarning, InputError
from pueval.mixture import Mixture, Target

if TYPE_CHECKING:
    from pueval.priors import PriorEstimate


def settle(
    counts: Counts,
    target: Target,
    purity: float | Literal["estimate"],
    prior: float | None,
    prevalence: float | None,
    label_frequency: float | None,
) -> tuple[Mixture, PriorEstimate | None]:
    """Return the assumptions as given, or as estimated where they are not."""
    given = {
        name: value
        for name, value in (
            ("prior", prior),
            ("prevalence", prevalence),
            ("label_frequency", label_frequency),
        )
        if value is not None
    }
    if not counts.n_unlabeled:
        if any(given.values()):
            raise InputError(
                f"{', '.join(given)} was given, but there are no unlabeled rows for it to "
                "tell about. Leave it out: where every row is known, it has no effect."
            )
        return Mixture(0.0, _number(purity, "every row is known")), None
    if len(given) > 1:
        raise InputError(
            f"give at most one of prior, prevalence and label_frequency; got "
            f"{' and '.join(given)}. prior is the share of positives among the unlabeled rows, "
            "prevalence their share in the target, label_frequency the share of all positives "
            "that are labeled."
        )
    if not given:
        from pueval import priors

        with warnings.catch_warnings():
            # They are said with all others, once.
            warnings.simplefilter("ignore", AssumptionWarning)
            estimate = priors.estimate(counts, purity=purity)
        return estimate.mixture(), estimate
    known = _number(purity, f"{next(iter(given))} is given")
    if label_frequency is not None:
        return Mixture.from_label_frequency(counts, label_frequency, known), None
    if prevalence is not None and target == "population":
        return Mixture.from_prevalence(counts, prevalence, known), None
    return Mixture(next(iter(given.values())), known), None


def _number(purity: float | str, reason: str) -> float:
    if isinstance(purity, str):
        raise InputError(
            f"purity must be a number where {reason}; got {purity!r}. "
            "Leave the prior out to estimate both."
        )
    return purity
