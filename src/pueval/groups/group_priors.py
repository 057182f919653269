"""The prior of every group: shared, from a shared label frequency, estimated in each, or given."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import scipy

from pueval._typing import Array
from pueval.core.mixture import Mixture
from pueval.core.sizes import GroupSizes
from pueval.counts.counts import Counts
from pueval.errors import InputError
from pueval.evaluation.evaluation import Evaluation
from pueval.uncertainty.prior_region import prior_standard_error

GroupPrior = Literal["shared", "label_frequency", "each"] | Mapping[Any, float]
WAYS = ("shared", "label_frequency", "each")
# Shares of labeled rows that differ by this factor, and so seldom by chance, are remarked on.
NOTABLE, UNEVEN = 1.5, 1e-3


@dataclass(frozen=True, eq=False)
class GroupPriors:
    """The prior of every group.

    Attributes
    ----------
    prior : ndarray
        NaN where there is none; ``notes`` then says why.
    notes : dict of int to str
        By the number of the group.
    own, common : ndarray
        Standard errors of the prior: what each group has for itself, and what moves the priors of
        all groups, and of all rows, together; 0 for a prior that is given.
    own_of_all, common_of_all : float
        The same of the prior of all rows.
    together : ndarray
        Correlation of each group's own error with that of all rows.
    """

    prior: Array
    notes: dict[int, str]
    own: Array
    common: Array
    own_of_all: float = 0.0
    common_of_all: float = 0.0
    together: Array | float = 0.0

    @property
    def error(self) -> Array:
        """Standard error of the prior of each group."""
        error: Array = np.hypot(self.own, self.common)
        return error

    @property
    def error_of_all(self) -> float:
        """Standard error of the prior of all rows."""
        return math.hypot(self.own_of_all, self.common_of_all)

    def parts(self, moves: Array) -> tuple[Array, Array]:
        """Divide changes with one standard error of the priors: by own errors, and by common."""
        error = np.where(self.error > 0, self.error, 1.0)
        return moves * self.own / error, moves * self.common / error

    def parts_of_all(self, move: float) -> tuple[float, float]:
        """Divide the change of all rows alike."""
        error = self.error_of_all or 1.0
        return move * self.own_of_all / error, move * self.common_of_all / error


def check_way(way: Any, given: dict[str, Any]) -> None:
    """Refuse ways to get priors that are none, or that contradict what is given."""
    if not isinstance(way, Mapping) and way not in WAYS:
        raise InputError(
            "group_prior must be 'shared' (one prior for all), 'label_frequency' (one label "
            "frequency for all), 'each' (estimated in each group) or a mapping from groups to "
            f"priors; got {way!r}."
        )
    named = [name for name, value in given.items() if value is not None]
    if named and (isinstance(way, Mapping) or way == "each"):
        raise InputError(
            f"{named[0]} was given, but group_prior "
            + ("holds the priors" if isinstance(way, Mapping) else "'each' estimates the priors")
            + ". Leave out one of them."
        )


def overall_prior(way: Mapping[Any, float], names: list[Any], sizes: GroupSizes) -> float:
    """Return the prior of all groups together from those of each."""
    missing = [name for name in names if name not in way]
    if missing:
        raise InputError(
            f"group_prior has no prior for {len(missing):,} of {len(names):,} groups, for example "
            f"{missing[0]!r}. Give one for each, or a single prior for all."
        )
    prior = []
    for name in names:
        try:
            prior.append(Mixture(way[name]).prior)
        except InputError as error:
            raise InputError(f"group {name!r}: {error}") from None
    if not np.any(sizes.n_unlabeled):
        return 0.0
    return float(np.average(prior, weights=sizes.n_unlabeled))


def group_priors(
    way: GroupPrior,
    names: list[Any],
    sizes: GroupSizes,
    enough: Array,
    overall: Evaluation,
    counts_of: Callable[[int], Counts],
    advance: Callable[[], None],
) -> GroupPriors:
    """Return the priors of all groups with ``enough`` rows."""
    mixture, size = overall.mixture, len(names)
    prior, notes = np.full(size, np.nan), {}
    own, common = np.zeros((2, size))
    if isinstance(way, Mapping):
        prior = np.array([float(way[name]) for name in names])
        for k in np.flatnonzero(enough & (prior >= mixture.purity)):
            prior[k], notes[int(k)] = (
                np.nan,
                f"the prior is not below the purity {mixture.purity:g}",
            )
        return GroupPriors(prior, notes, own, common)
    estimated = prior_standard_error(overall.prior_estimate)
    # The number of all labeled rows is one by chance, if the prior follows from it.
    prior_follows_from = 0.0
    if way == "shared" or overall.assumptions.prior_follows_from == "label_frequency":
        prior_follows_from = overall.assumptions.prior_error(overall.counts)
    if way == "shared":
        prior[:] = mixture.prior
        common[:] = estimated or prior_follows_from
        return GroupPriors(prior, notes, own, common, common_of_all=estimated or prior_follows_from)
    frequency = mixture.label_frequency(overall.counts)
    for k in np.flatnonzero(enough):
        try:
            if not sizes.n_unlabeled[k]:
                prior[k] = 0.0
            elif way == "label_frequency":
                prior[k], own[k] = _from_frequency(sizes, int(k), frequency, mixture.purity)
                # In proportion to that of all rows, with its error.
                common[k] = prior[k] * estimated / mixture.prior if mixture.prior else 0.0
            else:
                prior[k], own[k] = _estimated(counts_of(int(k)), mixture.purity)
        except InputError as reason:
            notes[int(k)] = str(reason)
        if way == "each":
            advance()
    if way == "each":
        return GroupPriors(prior, notes, own, common, own_of_all=estimated)
    # What chance does to the labels of a group, it does to a part of all rows.
    part = sizes.n_unlabeled / max(overall.counts.n_unlabeled, 1)
    together = own * part / (prior_follows_from or math.inf)
    return GroupPriors(prior, notes, own, common, prior_follows_from, estimated, together)


def uneven_labels(names: list[Any], sizes: GroupSizes, usable: Array) -> str | None:
    """Say that groups differ in their shares of labeled rows, so that they hardly share a prior.

    If labels are a random draw from all positives and every group has the same prior, every group
    has the same share of labeled rows, but for chance: a chi-squared test of that.
    """
    groups = np.flatnonzero(usable & (sizes.n_unlabeled > 0))
    labeled, unlabeled = (sizes.effective_by_kind[kind][groups] for kind in (0, 1))
    rows = labeled + unlabeled
    if groups.size < 2:
        return None
    expected = rows * labeled.sum() / rows.sum()
    statistic = np.sum((labeled - expected) ** 2 * (1 / expected + 1 / (rows - expected)))
    share = labeled / rows
    low, high = int(np.argmin(share)), int(np.argmax(share))
    by_chance = scipy.special.chdtrc(groups.size - 1, statistic) > UNEVEN
    if by_chance or share[high] < NOTABLE * share[low]:
        return None
    return (
        f"shares of labeled rows differ between groups by more than chance: {share[low]:.2g} in "
        f"{names[groups[low]]!r}, {share[high]:.2g} in {names[groups[high]]!r}. With labels that "
        "are a random draw from all positives, groups then differ in their priors, and with a "
        "shared prior differences of precision or AUC may be these. Try "
        'group_prior="label_frequency".'
    )


def _from_frequency(
    sizes: GroupSizes, group: int, frequency: float, purity: float
) -> tuple[float, float]:
    """Return the prior, and its standard error: the number of labeled rows is one by chance."""
    sizes_of_group = sizes.group(group)
    mixture = Mixture.from_label_frequency(sizes_of_group, frequency, purity)
    return mixture.prior, mixture.prior_standard_error(sizes_of_group)


def _estimated(counts: Counts, purity: float) -> tuple[float, float]:
    from pueval.priors._estimate_prior import (
        estimate_without_warning,  # scikit-learn is slow to import
    )

    found = estimate_without_warning(counts, purity=purity)
    return found.mixture().prior, prior_standard_error(found)
