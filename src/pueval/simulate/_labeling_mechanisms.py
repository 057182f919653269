"""Labeling: hide most of the classes of a fully labeled data set, and remember the truth."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from pueval._checks import check_count, check_fraction
from pueval._typing import Array
from pueval.errors import InputError
from pueval.simulate._labeling import Labeling
from pueval.simulate._simulation_inputs import read_truth, real_numbers

Seed = int | np.random.Generator


def label_at_random(
    positive: Any,
    *,
    label_frequency: float | None = None,
    count: int | None = None,
    purity: float = 1.0,
    n_unlabeled: int | None = None,
    seed: Seed,
) -> Labeling:
    """Label positives drawn at random (single-sample: all rows are one sample).

    Parameters
    ----------
    positive : array-like of bool or 0 and 1
        The truth.
    label_frequency : float, optional
        Share of the positives to label. Give this or ``count``.
    count : int, optional
        Number of rows to label, wrongly labeled ones included.
    purity : float, default 1.0
        Share of true positives among the labeled rows; the others are negatives drawn at random.
    n_unlabeled : int, optional
        Keep at most so many of the other rows, drawn at random; all by default.
    seed : int or numpy Generator
        Of the random numbers.

    Returns
    -------
    Labeling

    Examples
    --------
    >>> import numpy as np
    >>> from pueval.simulate import label_at_random
    >>> label_at_random(np.arange(1000) < 300, count=100, purity=0.75, seed=0)
    Labeling(100 labeled, 900 unlabeled rows; prior 0.25, purity 0.75)
    """
    truth = read_truth(positive)
    rng = np.random.default_rng(seed)
    right, wrong = _how_many(truth, label_frequency, count, purity)
    labeled = rng.choice(np.flatnonzero(truth), right, replace=False)
    return _finish(truth, labeled, wrong, n_unlabeled, rng)


def label_by_propensity(
    positive: Any,
    propensity: Any,
    *,
    purity: float = 1.0,
    n_unlabeled: int | None = None,
    seed: Seed,
) -> Labeling:
    """Label each positive with a probability of its own.

    Parameters
    ----------
    positive : array-like of bool or 0 and 1
        The truth.
    propensity : array-like of float
        For each row the probability that it is labeled if it is positive, in [0, 1]; those of
        negatives are not looked at.
    purity, n_unlabeled, seed
        As for `label_at_random`.

    Returns
    -------
    Labeling

    Examples
    --------
    >>> import numpy as np
    >>> from pueval.simulate import label_by_propensity
    >>> truth = np.arange(1000) < 300
    >>> made = label_by_propensity(truth, np.where(np.arange(1000) < 150, 0.6, 0.2), seed=0)
    >>> made.n_labeled
    113
    """
    truth = read_truth(positive)
    chance = real_numbers(propensity, "propensity")
    if chance.size != truth.size:
        raise InputError(
            f"propensity must have one value per row; got {chance.size:,} for {truth.size:,} rows."
        )
    wanted = chance[truth]
    if np.any(~((wanted >= 0) & (wanted <= 1))):
        bad = wanted[~((wanted >= 0) & (wanted <= 1))][0]
        raise InputError(f"propensity must lie in [0, 1]; got {bad:g} for a positive row.")
    rng = np.random.default_rng(seed)
    chosen = np.flatnonzero(truth)[rng.random(wanted.size) < wanted]
    if not chosen.size:
        raise InputError("no positive was labeled: the propensities are too small for these rows.")
    return _finish(truth, chosen, _wrong(truth, chosen.size, purity), n_unlabeled, rng)


def label_by_representativeness(
    positive: Any,
    features: Any,
    *,
    first: Literal["most", "least"],
    label_frequency: float | None = None,
    count: int | None = None,
    purity: float = 1.0,
    n_unlabeled: int | None = None,
    n_components: int = 5,
    dimensions: int = 20,
    seed: Seed,
) -> Labeling:
    """Label the most, or the least, representative positives first.

    These are scenarios 1 and 2 of Hajizadeh et al. (2014): a Gaussian mixture is fitted to the
    positives, and its density says how representative each is.

    Parameters
    ----------
    positive : array-like of bool or 0 and 1
        The truth.
    features : array-like or sparse matrix of shape (n, d)
        What the mixture is fitted to. Or a precomputed `representativeness` of every row: an
        array of shape (n,).
    first : {"most", "least"}
        Which positives get labeled: ``"most"`` leaves the least representative ones unlabeled
        (scenario 1), ``"least"`` the most representative ones (scenario 2).
    label_frequency, count, purity, n_unlabeled, seed
        As for `label_at_random`.
    n_components, dimensions
        As for `representativeness`.

    Returns
    -------
    Labeling

    References
    ----------
    Hajizadeh, Li, Dollevoet and Tax (2014), section 3.

    Examples
    --------
    >>> import numpy as np
    >>> from pueval.simulate import label_by_representativeness
    >>> truth = np.arange(6) < 4
    >>> depth = [0.1, 0.9, 0.5, 0.3, 0.0, 0.0]
    >>> label_by_representativeness(truth, depth, first="most", count=2, seed=0).label
    array([0, 1, 1, 0, 0, 0], dtype=int8)
    """
    from pueval.simulate._representativeness import representativeness

    if first not in {"most", "least"}:
        raise InputError(f"first must be 'most' or 'least'; got {first!r}.")
    truth = read_truth(positive)
    rng = np.random.default_rng(seed)
    right, wrong = _how_many(truth, label_frequency, count, purity)
    if np.ndim(features) == 1:
        depth = real_numbers(features, "representativeness")
        lost = int(np.isnan(depth).sum())
        if lost:
            raise InputError(f"representativeness must hold numbers only; got {lost:,} NaN.")
        if depth.size != truth.size:
            raise InputError(
                f"representativeness must have one value per row; got {depth.size:,} for "
                f"{truth.size:,} rows."
            )
    else:
        depth = representativeness(
            features, truth, n_components=n_components, dimensions=dimensions, seed=rng
        )
    where = np.flatnonzero(truth)
    shuffled = rng.permutation(where)  # so that equally representative rows have equal chances
    order = np.argsort(depth[shuffled], kind="stable")
    chosen = shuffled[order[::-1][:right] if first == "most" else order[:right]]
    return _finish(truth, chosen, wrong, n_unlabeled, rng)


def case_control(
    positive: Any,
    *,
    n_labeled: int,
    n_unlabeled: int,
    prior: float | None = None,
    purity: float = 1.0,
    seed: Seed,
) -> Labeling:
    """Collect labeled and unlabeled rows apart (case-control).

    The labeled rows are drawn from the positives, the unlabeled ones from the rows that are left,
    with a share ``prior`` of positives. Use it with ``target="unlabeled"``.

    Parameters
    ----------
    positive : array-like of bool or 0 and 1
        The truth.
    n_labeled, n_unlabeled : int
        How many rows of each kind.
    prior : float, optional
        Share of positives among the unlabeled rows; by default that of the given data, so that
        the unlabeled rows look like a draw from the whole population.
    purity : float, default 1.0
        Share of true positives among the labeled rows.
    seed : int or numpy Generator
        Of the random numbers.

    Returns
    -------
    Labeling

    Examples
    --------
    >>> import numpy as np
    >>> from pueval.simulate import case_control
    >>> case_control(np.arange(1000) < 300, n_labeled=50, n_unlabeled=400, prior=0.1, seed=0)
    Labeling(50 labeled, 400 unlabeled rows; prior 0.1, purity 1)
    """
    truth = read_truth(positive)
    right, wrong = _how_many(truth, None, n_labeled, purity)
    check_count("n_unlabeled", n_unlabeled)
    share = float(truth.mean()) if prior is None else prior
    if not 0 <= share < 1:
        raise InputError(f"prior must be a number in [0, 1); got {prior!r}.")
    hidden = round(share * n_unlabeled)
    positives, negatives = int(truth.sum()), int((~truth).sum())
    for name, there, wanted in (
        ("positives", positives, right + hidden),
        ("negatives", negatives, wrong + n_unlabeled - hidden),
    ):
        if wanted > there:
            raise InputError(
                f"this would take {wanted:,} {name}, and there are {there:,}. "
                "Ask for fewer labeled or unlabeled rows, or another prior."
            )
    rng = np.random.default_rng(seed)
    ones, zeros = (rng.permutation(np.flatnonzero(truth == kind)) for kind in (True, False))
    labeled = np.concatenate([ones[:right], zeros[:wrong]])
    others = np.concatenate(
        [ones[right : right + hidden], zeros[wrong : wrong + n_unlabeled - hidden]]
    )
    return _collect(truth, labeled, others)


# ---------------------------------------------------------------------- parts


def _how_many(
    truth: Array, label_frequency: float | None, count: int | None, purity: float
) -> tuple[int, int]:
    """Positives and negatives to label."""
    if (label_frequency is None) == (count is None):
        raise InputError("give either label_frequency (share of the positives) or count (rows).")
    positives = int(truth.sum())
    _check_purity(purity)
    if label_frequency is not None:
        if label_frequency != 1:
            check_fraction("label_frequency", label_frequency)
        right = round(label_frequency * positives)
        if not right:
            raise InputError(
                f"label_frequency {label_frequency:g} of {positives:,} positives is no row. "
                "Raise it, or give count=1."
            )
        return right, _wrong(truth, right, purity)
    check_count("count", count)
    assert count is not None  # noqa: S101 - for the type checker
    right = round(count * purity)
    if not right:
        raise InputError(
            f"of {count:,} labeled rows of purity {purity:g} no positive would be left. "
            "Raise one of them."
        )
    wrong = count - right
    for name, there, wanted in (
        ("positives", positives, right),
        ("negatives", truth.size - positives, wrong),
    ):
        if wanted > there:
            raise InputError(
                f"{count:,} labeled rows of purity {purity:g} would take {wanted:,} {name}, and "
                f"there are {there:,}."
            )
    return right, wrong


def _wrong(truth: Array, right: int, purity: float) -> int:
    """Negatives that make ``right`` labeled positives have a purity."""
    _check_purity(purity)
    wrong = round(right * (1 - purity) / purity)
    there = int((~truth).sum())
    if wrong > there:
        raise InputError(
            f"purity {purity:g} would take {wrong:,} wrongly labeled negatives, and there are "
            f"{there:,}."
        )
    return wrong


def _check_purity(purity: float) -> None:
    if purity != 1:
        check_fraction("purity", purity)


def _finish(
    truth: Array, chosen: Array, wrong: int, n_unlabeled: int | None, rng: np.random.Generator
) -> Labeling:
    """Add wrongly labeled negatives and the unlabeled rows."""
    if wrong:
        chosen = np.concatenate([chosen, rng.choice(np.flatnonzero(~truth), wrong, replace=False)])
    others = np.setdiff1d(np.arange(truth.size), chosen)
    if n_unlabeled is not None:
        check_count("n_unlabeled", n_unlabeled)
        if n_unlabeled < others.size:
            others = rng.choice(others, n_unlabeled, replace=False)
    return _collect(truth, chosen, others)


def _collect(truth: Array, labeled: Array, others: Array) -> Labeling:
    rows = np.sort(np.concatenate([labeled, others]))
    label = np.isin(rows, labeled).astype(np.int8)
    arrays = (rows, label, truth[rows])
    for array in arrays:
        array.flags.writeable = False
    return Labeling(*arrays)
