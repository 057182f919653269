"""Labeling mechanisms: which rows of a fully labeled data set keep a label."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from pueval._checks import (
    check_choice,
    check_count,
    check_fraction,
    check_number,
    check_same_length,
)
from pueval._typing import Array
from pueval.errors import InputError
from pueval.simulate._labeling import Labeling
from pueval.simulate._simulation_inputs import read_classes, read_numbers

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
    """Label a random sample of the positives (single-sample design, random labeling).

    Parameters
    ----------
    positive : array-like of bool or 0 and 1
        True classes.
    label_frequency : float, optional
        Share of the positives to label, in (0, 1]. Give this or ``count``.
    count : int, optional
        Number of rows to label, including wrongly labeled negatives.
    purity : float, default 1.0
        Share of true positives among the labeled rows, in (0, 1]. The others are negatives drawn
        at random.
    n_unlabeled : int, optional
        Largest number of unlabeled rows to keep, drawn at random; by default all.
    seed : int or numpy Generator
        Random seed.

    Returns
    -------
    Labeling

    Examples
    --------
    >>> import numpy as np
    >>> from pueval.simulate import label_at_random
    >>> label_at_random(np.arange(1000) < 300, count=100, purity=0.75, seed=0)
    Labeling: 100 labeled, 900 unlabeled rows; prior 0.25, purity 0.75
    """
    truth = read_classes(positive)
    rng = np.random.default_rng(seed)
    n_right, n_wrong = _label_counts(truth, label_frequency, count, purity)
    chosen = rng.choice(np.flatnonzero(truth), n_right, replace=False)
    return _add_other_rows(truth, chosen, n_wrong, n_unlabeled, rng)


def label_by_propensity(
    positive: Any,
    propensity: Any,
    *,
    purity: float = 1.0,
    n_unlabeled: int | None = None,
    seed: Seed,
) -> Labeling:
    """Label each positive with its own probability.

    Parameters
    ----------
    positive : array-like of bool or 0 and 1
        True classes.
    propensity : array-like of float
        Probability of each row to be labeled if it is positive, in [0, 1]. Values of negatives
        are ignored.
    purity, n_unlabeled, seed
        See `label_at_random`.

    Returns
    -------
    Labeling

    Examples
    --------
    >>> import numpy as np
    >>> from pueval.simulate import label_by_propensity
    >>> truth = np.arange(1000) < 300
    >>> propensity = np.where(np.arange(1000) < 150, 0.6, 0.2)
    >>> label_by_propensity(truth, propensity, seed=0).n_labeled
    113
    """
    truth = read_classes(positive)
    probabilities = read_numbers(propensity, "propensity")
    check_same_length("propensity", probabilities.size, "positive", truth.size)
    probabilities = probabilities[truth]
    valid = (probabilities >= 0) & (probabilities <= 1)
    if not valid.all():
        raise InputError(
            f"propensity must be in [0, 1]; got {probabilities[~valid][0]:g} for a positive row."
        )
    rng = np.random.default_rng(seed)
    chosen = np.flatnonzero(truth)[rng.random(probabilities.size) < probabilities]
    if not chosen.size:
        raise InputError("no positive was labeled. Raise the propensities, or use more rows.")
    n_wrong = _wrong_label_count(truth, chosen.size, purity)
    return _add_other_rows(truth, chosen, n_wrong, n_unlabeled, rng)


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
    """Label the most, or the least, representative positives.

    These are scenarios 1 and 2 of Hajizadeh et al. (2014). The density of a Gaussian mixture fitted
    to the positives measures how representative each row is.

    Parameters
    ----------
    positive : array-like of bool or 0 and 1
        True classes.
    features : array-like or sparse matrix of shape (n, d)
        Features for the mixture, or the precomputed `representativeness` of each row, of shape
        (n,).
    first : {"most", "least"}
        Positives to label: the most representative (scenario 1) or the least representative
        (scenario 2).
    label_frequency, count, purity, n_unlabeled, seed
        See `label_at_random`.
    n_components, dimensions
        See `representativeness`.

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
    >>> density = [0.1, 0.9, 0.5, 0.3, 0.0, 0.0]
    >>> label_by_representativeness(truth, density, first="most", count=2, seed=0).label
    array([0, 1, 1, 0, 0, 0], dtype=int8)
    """
    from pueval.simulate._representativeness import representativeness

    check_choice("first", first, ("most", "least"))
    truth = read_classes(positive)
    rng = np.random.default_rng(seed)
    n_right, n_wrong = _label_counts(truth, label_frequency, count, purity)
    if np.ndim(features) == 1:
        density = read_numbers(features, "representativeness")
        n_missing = int(np.isnan(density).sum())
        if n_missing:
            raise InputError(f"representativeness must not be NaN; got {n_missing:,} NaN.")
        check_same_length("representativeness", density.size, "positive", truth.size)
    else:
        density = representativeness(
            features, truth, n_components=n_components, dimensions=dimensions, seed=rng
        )
    shuffled = rng.permutation(np.flatnonzero(truth))  # breaks ties at random
    order = np.argsort(density[shuffled], kind="stable")
    chosen = shuffled[order[::-1][:n_right] if first == "most" else order[:n_right]]
    return _add_other_rows(truth, chosen, n_wrong, n_unlabeled, rng)


def case_control(
    positive: Any,
    *,
    n_labeled: int,
    n_unlabeled: int,
    prior: float | None = None,
    purity: float = 1.0,
    seed: Seed,
) -> Labeling:
    """Draw labeled and unlabeled rows separately (case-control design).

    Labeled rows are drawn from the positives, unlabeled rows from the remaining rows, with a share
    ``prior`` of positives. Evaluate with ``target="unlabeled"``.

    Parameters
    ----------
    positive : array-like of bool or 0 and 1
        True classes.
    n_labeled, n_unlabeled : int
        Numbers of labeled and unlabeled rows.
    prior : float, optional
        Share of positives among the unlabeled rows, in [0, 1); by default the share in the given
        data, so that the unlabeled rows resemble a random draw from it.
    purity : float, default 1.0
        Share of true positives among the labeled rows, in (0, 1].
    seed : int or numpy Generator
        Random seed.

    Returns
    -------
    Labeling

    Examples
    --------
    >>> import numpy as np
    >>> from pueval.simulate import case_control
    >>> case_control(np.arange(1000) < 300, n_labeled=50, n_unlabeled=400, prior=0.1, seed=0)
    Labeling: 50 labeled, 400 unlabeled rows; prior 0.1, purity 1
    """
    truth = read_classes(positive)
    n_right, n_wrong = _label_counts(truth, None, n_labeled, purity)
    check_count("n_unlabeled", n_unlabeled)
    share = float(truth.mean()) if prior is None else check_number("prior", prior)
    if not 0 <= share < 1:
        raise InputError(f"prior must be a number in [0, 1); got {prior!r}.")
    n_hidden = round(share * n_unlabeled)  # unlabeled positives
    n_negative = n_unlabeled - n_hidden
    remedy = "Reduce n_labeled or n_unlabeled, or change the prior."
    _check_available(truth, n_right + n_hidden, n_wrong + n_negative, "this requires", remedy)
    rng = np.random.default_rng(seed)
    positives, negatives = (
        rng.permutation(np.flatnonzero(truth == value)) for value in (True, False)
    )
    labeled = np.concatenate([positives[:n_right], negatives[:n_wrong]])
    unlabeled = np.concatenate(
        [positives[n_right : n_right + n_hidden], negatives[n_wrong : n_wrong + n_negative]]
    )
    return _collect(truth, labeled, unlabeled)


def _label_counts(
    truth: Array, label_frequency: float | None, count: int | None, purity: float
) -> tuple[int, int]:
    """Return the numbers of positives and of negatives to label."""
    if (label_frequency is None) == (count is None):
        raise InputError(
            "give exactly one of label_frequency (share of the positives) and count (rows)."
        )
    n_positive = int(truth.sum())
    _check_purity(purity)
    if label_frequency is not None:
        if label_frequency != 1:
            check_fraction("label_frequency", label_frequency)
        n_right = round(label_frequency * n_positive)
        if not n_right:
            raise InputError(
                f"a label_frequency of {label_frequency:g} labels none of {n_positive:,} "
                "positives. Raise it, or use count=1."
            )
        return n_right, _wrong_label_count(truth, n_right, purity)
    check_count("count", count)
    assert count is not None  # noqa: S101 - for the type checker
    n_right = round(count * purity)
    if not n_right:
        raise InputError(
            f"{count:,} labeled rows with a purity of {purity:g} include no positive. Raise count "
            "or purity."
        )
    n_wrong = count - n_right
    reason = f"{count:,} labeled rows with a purity of {purity:g} require"
    _check_available(truth, n_right, n_wrong, reason, "Reduce count, or change the purity.")
    return n_right, n_wrong


def _check_available(
    truth: Array, n_positive: int, n_negative: int, reason: str, remedy: str
) -> None:
    """Raise if there are fewer positives or negatives than required."""
    for name, rows, required in (
        ("positives", truth, n_positive),
        ("negatives", ~truth, n_negative),
    ):
        if required > rows.sum():
            raise InputError(
                f"{reason} {required:,} {name}, but there are only {rows.sum():,}. {remedy}"
            )


def _wrong_label_count(truth: Array, n_right: int, purity: float) -> int:
    """Return the number of negatives to label for a purity, given the labeled positives."""
    _check_purity(purity)
    n_wrong = round(n_right * (1 - purity) / purity)
    reason = f"a purity of {purity:g} with {n_right:,} labeled positives requires"
    _check_available(truth, n_right, n_wrong, reason, "Raise the purity.")
    return n_wrong


def _check_purity(purity: float) -> None:
    if purity != 1:
        check_fraction("purity", purity)


def _add_other_rows(
    truth: Array, chosen: Array, n_wrong: int, n_unlabeled: int | None, rng: np.random.Generator
) -> Labeling:
    """Add wrongly labeled negatives and the unlabeled rows to the chosen positives."""
    if n_wrong:
        wrong = rng.choice(np.flatnonzero(~truth), n_wrong, replace=False)
        chosen = np.concatenate([chosen, wrong])
    unlabeled = np.setdiff1d(np.arange(truth.size), chosen)
    if n_unlabeled is not None:
        check_count("n_unlabeled", n_unlabeled)
        if n_unlabeled < unlabeled.size:
            unlabeled = rng.choice(unlabeled, n_unlabeled, replace=False)
    return _collect(truth, chosen, unlabeled)


def _collect(truth: Array, labeled: Array, unlabeled: Array) -> Labeling:
    rows = np.sort(np.concatenate([labeled, unlabeled]))
    label = np.isin(rows, labeled).astype(np.int8)
    arrays = (rows, label, truth[rows])
    for array in arrays:
        array.flags.writeable = False
    return Labeling(*arrays)
