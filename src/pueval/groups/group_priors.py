"""The prior of every group: shared, from a shared label frequency, estimated in each, or given."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import scipy

from pueval._typing import Array
from pueval.core.cluster_table import label_count_effect
from pueval.core.label_errors import refuse_label_errors
from pueval.core.mixture import Mixture
from pueval.core.sizes import GroupSizes
from pueval.counts.counts import Counts
from pueval.errors import InputError
from pueval.evaluation.evaluation import Evaluation
from pueval.uncertainty.prior_region import estimate_standard_error, purity_standard_error

GroupPrior = Literal["shared", "label_frequency", "each"] | Mapping[Any, float]
GROUP_PRIOR_NAMES = ("shared", "label_frequency", "each")
# Groups get a warning if their shares of labeled rows differ by this factor, and the p-value of a
# chi-squared test is below this value.
NOTABLE_RATIO, NOTABLE_PVALUE = 1.5, 1e-3


@dataclass(frozen=True, eq=False)
class GroupPriors:
    """The prior of every group, and its standard error.

    The standard error has two independent parts: one that belongs to the group, and one that the
    priors of all groups, and of all rows, share. Both are 0 for a known prior.

    Attributes
    ----------
    prior : ndarray
        Priors; NaN where there is none.
    notes : dict of int to str
        Why a group has no prior, by the number of the group.
    own_error, shared_error : ndarray
        Parts of the standard errors of the priors.
    overall_own_error, overall_shared_error : float
        Parts of the standard error of the prior of all rows.
    correlation : ndarray or float
        Correlation of the group's own error with the own error of all rows.
    purity_error : float
        Standard error of the purity, which groups and all rows share; 0 if it is known.
    slope : ndarray or float
        Change of the prior of each group with the purity.
    overall_slope : float
        Change of the prior of all rows with the purity.
    """

    prior: Array
    notes: dict[int, str]
    own_error: Array
    shared_error: Array
    overall_own_error: float = 0.0
    overall_shared_error: float = 0.0
    correlation: Array | float = 0.0
    purity_error: float = 0.0
    slope: Array | float = 0.0
    overall_slope: float = 0.0

    @property
    def error(self) -> Array:
        """Standard error of the prior of each group."""
        error: Array = np.hypot(self.own_error, self.shared_error)
        return error

    @property
    def overall_error(self) -> float:
        """Standard error of the prior of all rows."""
        return math.hypot(self.overall_own_error, self.overall_shared_error)

    def split_changes(self, changes: Array) -> tuple[Array, Array]:
        """Split changes with one standard error of the priors into own and shared parts."""
        error = np.where(self.error > 0, self.error, 1.0)
        return changes * self.own_error / error, changes * self.shared_error / error

    def split_overall_change(self, change: float) -> tuple[float, float]:
        """Split the change of all rows into own and shared parts."""
        error = self.overall_error or 1.0
        return change * self.overall_own_error / error, change * self.overall_shared_error / error


def check_group_prior(group_prior: Any, given: dict[str, Any]) -> None:
    """Refuse an unknown ``group_prior``, or one that contradicts the prior that is given."""
    refuse_label_errors(
        given.get("prior"),
        "Evaluation of groups or windows",
        "Evaluate each of them separately: its prior and purity follow from its own labels.",
    )
    is_mapping = isinstance(group_prior, Mapping)
    if not is_mapping and group_prior not in GROUP_PRIOR_NAMES:
        raise InputError(
            "group_prior must be 'shared' (one prior for all), 'label_frequency' (one label "
            "frequency for all), 'each' (estimated in each group) or a mapping from groups to "
            f"priors; got {group_prior!r}."
        )
    named = [name for name, value in given.items() if value is not None]
    if named and (is_mapping or group_prior == "each"):
        raise InputError(
            f"{named[0]} was given, but group_prior "
            + ("contains the priors" if is_mapping else "'each' estimates the priors")
            + ". Pass only one of them."
        )


def check_group_purity(purity: Any, group_prior: Any) -> None:
    """Refuse a purity that is not a number or estimated, and an estimate for estimated priors."""
    if isinstance(purity, str) and purity != "estimate":
        raise InputError(f'purity must be a number or "estimate" for groups; got {purity!r}.')
    if group_prior == "each" and purity == "estimate":
        raise InputError(
            "group_prior 'each' needs a known purity; got purity='estimate'. Estimate it from all "
            "rows first: pueval.priors.estimate(y, score, purity='estimate')."
        )


def overall_prior(priors: Mapping[Any, float], names: list[Any], sizes: GroupSizes) -> float:
    """Return the prior of all rows from those of the groups."""
    missing = [name for name in names if name not in priors]
    if missing:
        raise InputError(
            f"group_prior has no prior for {len(missing):,} of {len(names):,} groups, for example "
            f"{missing[0]!r}. Pass one for each group, or a single prior for all."
        )
    checked = []
    for name in names:
        try:
            checked.append(Mixture(priors[name]).prior)
        except InputError as error:
            raise InputError(f"group {name!r}: {error}") from None
    if not np.any(sizes.n_unlabeled):
        return 0.0
    return float(np.average(checked, weights=sizes.n_unlabeled))


def group_priors(
    group_prior: GroupPrior,
    names: list[Any],
    sizes: GroupSizes,
    enough: Array,
    overall: Evaluation,
    counts_of: Callable[[int], Counts],
    advance: Callable[[], None],
) -> GroupPriors:
    """Return the priors of all groups that have ``enough`` rows."""
    if isinstance(group_prior, Mapping):
        return _given_priors(group_prior, names, enough, overall)
    if group_prior == "shared":
        return _shared_prior(len(names), overall)
    if group_prior == "label_frequency":
        return _priors_from_label_frequency(sizes, enough, overall, counts_of, advance)
    return _estimated_priors(sizes, enough, overall, counts_of, advance)


def _given_priors(
    given: Mapping[Any, float], names: list[Any], enough: Array, overall: Evaluation
) -> GroupPriors:
    purity = overall.mixture.purity
    prior, notes = np.array([float(given[name]) for name in names]), {}
    for k in np.flatnonzero(enough & (prior >= purity)).tolist():
        prior[k], notes[k] = np.nan, f"the prior is not below the purity {purity:g}"
    own_error, shared_error = np.zeros((2, prior.size))
    purity_error = purity_standard_error(overall.prior_estimate)
    return GroupPriors(prior, notes, own_error, shared_error, purity_error=purity_error)


def _shared_prior(n_groups: int, overall: Evaluation) -> GroupPriors:
    # A prior that follows from the number of labeled rows varies with that number.
    error = estimate_standard_error(overall.prior_estimate)
    error = error or overall.assumptions.label_count_error(overall.counts)
    slope = _prior_slope(overall)
    return GroupPriors(
        np.full(n_groups, overall.mixture.prior),
        {},
        np.zeros(n_groups),
        np.full(n_groups, error),
        overall_shared_error=error,
        purity_error=purity_standard_error(overall.prior_estimate),
        slope=slope,
        overall_slope=slope,
    )


def _estimated_priors(
    sizes: GroupSizes,
    enough: Array,
    overall: Evaluation,
    counts_of: Callable[[int], Counts],
    advance: Callable[[], None],
) -> GroupPriors:
    def estimate(k: int) -> tuple[float, float, float]:
        return *_estimate_group(counts_of(k), overall.mixture.purity), 0.0

    priors = _priors_by_group(sizes, enough, estimate, advance)
    return replace(priors, overall_own_error=estimate_standard_error(overall.prior_estimate))


def _priors_from_label_frequency(
    sizes: GroupSizes,
    enough: Array,
    overall: Evaluation,
    counts_of: Callable[[int], Counts],
    advance: Callable[[], None],
) -> GroupPriors:
    mixture, counts = overall.mixture, overall.counts
    label_frequency = mixture.label_frequency(counts)
    estimation_error = estimate_standard_error(overall.prior_estimate)

    def prior_and_errors(k: int) -> tuple[float, float, float]:
        group_sizes = sizes.group(k)
        of_group = Mixture.from_label_frequency(group_sizes, label_frequency, mixture.purity)
        own_error = of_group.prior_standard_error(group_sizes)
        if counts._clusters is not None:
            own_error *= math.sqrt(label_count_effect(counts_of(k)))
        # The prior of a group is proportional to that of all rows, and so is its error.
        shared = of_group.prior * estimation_error / mixture.prior if mixture.prior else 0.0
        return of_group.prior, own_error, shared

    priors = _priors_by_group(sizes, enough, prior_and_errors, advance)
    label_count_error = 0.0
    if overall.assumptions.prior_follows_from == "label_frequency":
        label_count_error = overall.assumptions.label_count_error(counts)
    # The labels of a group are a part of all labels, and so is their chance variation.
    part = sizes.n_unlabeled / (counts.n_unlabeled or 1)
    slope = _prior_slope(overall)
    return replace(
        priors,
        overall_own_error=label_count_error,
        overall_shared_error=estimation_error,
        correlation=priors.own_error * part / (label_count_error or math.inf),
        purity_error=purity_standard_error(overall.prior_estimate),
        # The prior of a group is proportional to that of all rows, and so is its slope.
        slope=priors.prior * (slope / mixture.prior) if mixture.prior else 0.0,
        overall_slope=slope,
    )


def _priors_by_group(
    sizes: GroupSizes,
    enough: Array,
    prior_and_errors: Callable[[int], tuple[float, float, float]],
    advance: Callable[[], None],
) -> GroupPriors:
    """Return the prior of each group and both parts of its error, or why it has none."""
    columns, notes = np.zeros((3, enough.size)), {}
    columns[0] = np.nan
    for k in np.flatnonzero(enough).tolist():
        try:
            columns[:, k] = prior_and_errors(k) if sizes.n_unlabeled[k] else 0.0
        except InputError as reason:
            notes[k] = str(reason)
        advance()
    return GroupPriors(columns[0], notes, columns[1], columns[2])


def _prior_slope(overall: Evaluation) -> float:
    return 0.0 if overall.prior_estimate is None else overall.prior_estimate.prior_slope


def uneven_label_warning(
    names: list[Any], sizes: GroupSizes, usable: Array, design_effect: float = 1.0
) -> str | None:
    """Return a warning if shares of labeled rows differ, so that groups hardly share a prior.

    With random labeling and one prior, all groups have the same expected share of labeled rows.
    This is a chi-squared test of that hypothesis, adjusted for the design effect of clusters.
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
    by_chance = scipy.special.chdtrc(groups.size - 1, statistic / design_effect) > NOTABLE_PVALUE
    if by_chance or share[high] < NOTABLE_RATIO * share[low]:
        return None
    return (
        f"shares of labeled rows differ between groups by more than chance: {share[low]:.2g} in "
        f"{names[groups[low]]!r}, {share[high]:.2g} in {names[groups[high]]!r}. With random "
        "labeling, these groups have different priors, and a shared prior biases the differences "
        'of precision and AUC. Try group_prior="label_frequency".'
    )


def _estimate_group(counts: Counts, purity: float) -> tuple[float, float]:
    """Return the estimated prior of one group, and its standard error."""
    # scikit-learn is slow to import.
    from pueval.priors._estimate_prior import estimate_without_warning

    estimate = estimate_without_warning(counts, purity=purity, test_labels=False)
    return estimate.mixture().prior, estimate_standard_error(estimate)
