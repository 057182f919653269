"""Prior and purity of a metric: checked once, when the metric is made."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from numbers import Real
from typing import Any

from pueval._checks import check_count
from pueval.core.label_errors import LabelErrors
from pueval.core.mixture import Mixture, check_target
from pueval.counts.counts import Counts
from pueval.errors import InputError
from pueval.evaluation.assumptions import check_known_share, resolve_assumptions

# So many unlabeled rows that one labeled row fits every prevalence and label frequency.
MANY_ROWS = 2**50


def check_settings(
    shares: Mapping[str, Any], estimate_every: Any, purity: Any, target: Any
) -> None:
    """Refuse settings that no data fit, with the errors of `pueval.evaluate`."""
    check_target(target)
    if estimate_every is None:
        _check_given(shares, purity, target)
        return
    check_count("estimate_every", estimate_every)
    if shares:
        raise InputError(
            f"{' and '.join(shares)} cannot be combined with estimate_every, which estimates the "
            "prior. Leave one of them out."
        )
    if isinstance(purity, tuple | list):
        resolve_assumptions(_example(), target, purity, None, None, None)
    _check_purity(purity)


def estimates_purity(shares: Mapping[str, Any], purity: Any) -> bool:
    """Whether the purity is estimated for a share that is given as a number."""
    return isinstance(purity, str) and all(isinstance(value, Real) for value in shares.values())


def _check_given(shares: Mapping[str, Any], purity: Any, target: Any) -> None:
    if len(shares) != 1:
        raise InputError(
            "give exactly one of prior, prevalence and label_frequency, or estimate_every to "
            f"estimate the prior from the scores; got {' and '.join(shares) or 'none'}."
        )
    ((name, value),) = shares.items()
    _check_above_prevalence(shares, purity)
    if isinstance(purity, str):
        _check_purity(purity)
        if not hasattr(value, "prior_interval"):
            check_known_share(_example(), target, name, value)  # type: ignore[arg-type]
            return
    counts = _example(value) if isinstance(value, LabelErrors) else _example()
    known = (shares.get("prior"), shares.get("prevalence"), shares.get("label_frequency"))
    resolve_assumptions(counts, target, purity, *known)


def _check_purity(purity: Any) -> None:
    """Refuse a purity that is neither a share nor to be estimated."""
    if not isinstance(purity, str):
        Mixture(0.0, purity)
    elif purity != "estimate":
        raise InputError(f'purity must be a number, an interval or "estimate"; got {purity!r}.')


def _check_above_prevalence(shares: Mapping[str, Any], purity: Any) -> None:
    """Refuse a prevalence that no data reach: at most the labeled rows are as pure."""
    highest = max(_numbers(shares.get("prevalence")), default=0.0)
    lowest = min(_numbers(purity), default=1.0)
    if lowest <= highest <= 1 and lowest > 0:
        raise InputError(
            f"prevalence must be below purity; got prevalence={shares['prevalence']!r} and "
            f"purity={purity!r}. Labels carry information only if positives are more frequent "
            "among labeled than among unlabeled rows."
        )


def _numbers(share: Any) -> list[Any]:
    """Return the numbers of a share, or of its interval."""
    ends = share if isinstance(share, tuple | list) else (share,)
    return [end for end in ends if isinstance(end, Real)]


@cache
def _example(errors: LabelErrors | None = None) -> Counts:
    """Return counts that fit every valid share, or these error rates of the labels."""
    labeled = 1
    if errors is not None:
        share = (errors.false_positive_rate + 1 - errors.false_negative_rate) / 2
        labeled = int(share * MANY_ROWS)
    return Counts.from_table([0.0], labeled=[labeled], unlabeled=[MANY_ROWS - labeled])
