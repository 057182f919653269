"""PULP for several classes: of predicted classes, exactly, and of a score per class.

Hajizadeh et al. (2014) write that PULP can be extended to several classes, and do not say how. Rows
have one of K classes, and some of them are labeled with it. Random predictions are a random
permutation of the predictions of all rows, as for one class.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from pueval._checks import check_choice, check_same_length, list_examples
from pueval._typing import Array
from pueval.counts.counts import Counts
from pueval.errors import InputError
from pueval.ranking._prior_free import pulp
from pueval.sources.arrays import one_column, to_host

# Largest number of possible hits for which the distribution of hits is computed: exact arithmetic
# takes about a second there, and grows with the third power.
MOST_HITS = 1000


def multiclass_pulp_of_predictions(y: Any, predicted: Any, *, unlabeled_label: Any) -> float:
    """Probability that random predictions of several classes hit fewer labeled rows.

    A hit is a labeled row whose predicted class is its label. Let H be the number of hits if the
    predictions are permuted at random, and h the observed number. The result is P(H < h), exactly.
    With one class (labeled or not, predicted or not), it is `pulp` at a threshold.

    Parameters
    ----------
    y : array-like of shape (n,)
        Labels of the labeled rows: their class; ``unlabeled_label`` for all other rows.
    predicted : array-like of shape (n,)
        Predicted class of every row; ``unlabeled_label`` or any other value that is no label means
        none of the classes.
    unlabeled_label : object
        Label of the unlabeled rows, for example −1, "" or None.

    Returns
    -------
    float
        Between 0 and 1; near 1 for good predictions.

    Notes
    -----
    Let class i have tᵢ labeled rows and bᵢ predictions. The number of ways to match k of its rows
    with k of its predictions is rᵢₖ = C(tᵢ, k)·C(bᵢ, k)·k!, and eₘ = Σ Πᵢ rᵢₖ over all k₁ + k₂ + …
    = m are the coefficients of the product of these rook polynomials. So
    E C(H, m) = eₘ·(N − m)!/N!, and by inclusion and exclusion

        P(H ≥ h) = Σ_{m ≥ h} (−1)^(m − h)·C(m − 1, h − 1)·eₘ·(N − m)!/N!

    The terms alternate and are far larger than their sum, so it is computed with integers.

    References
    ----------
    Hajizadeh, Li, Dollevoet and Tax (2014), section 2; Riordan (1958), "An introduction to
    combinatorial analysis", chapter 7, for rook polynomials.

    Examples
    --------
    >>> y = ["a", "b", "?", "?"]
    >>> predicted = ["a", "b", "b", "a"]    # 2 hits; 4 of 6 orders of the predictions have fewer
    >>> round(multiclass_pulp_of_predictions(y, predicted, unlabeled_label="?"), 4)
    0.6667
    """
    labels, labeled = _read_labels(y, unlabeled_label)
    guesses = one_column(predicted, "predicted")
    check_same_length("predicted", guesses.size, "y", labels.size)
    classes = _classes(labels[labeled])
    _check_predictions(guesses, classes)
    n_labeled = [int(np.sum(labels[labeled] == name)) for name in classes]
    n_predicted = [int(np.sum(guesses == name)) for name in classes]
    hits = int(np.sum(guesses[labeled] == labels[labeled]))
    return probability_of_fewer_matches(n_labeled, n_predicted, labels.size, hits)


def multiclass_pulp(
    y: Any,
    scores: Any,
    *,
    classes: Sequence[Any],
    unlabeled_label: Any,
    average: Literal["macro", "weighted"] = "macro",
) -> float:
    """Mean PULP of the scores of several classes, one against the rest.

    For each class, rows labeled with it are the labeled rows, and all others the background. Its
    `pulp` averages over all operating points of its scores.

    Parameters
    ----------
    y : array-like of shape (n,)
        Labels of the labeled rows: their class; ``unlabeled_label`` for all other rows.
    scores : array-like of shape (n, n_classes)
        Scores of each class; higher means more likely.
    classes : sequence
        The classes, in the order of the columns; for a scikit-learn model ``model.classes_``.
    unlabeled_label : object
        Label of the unlabeled rows, for example −1, "" or None.
    average : {"macro", "weighted"}, default "macro"
        Whether all classes count equally, or by their numbers of labeled rows.

    Returns
    -------
    float
        Between 0 and 1; near 1 for good rankings.

    References
    ----------
    Hajizadeh, Li, Dollevoet and Tax (2014), equation 3.

    Examples
    --------
    >>> y = ["a", "b", "?", "?"]
    >>> scores = [[0.9, 0.1], [0.2, 0.8], [0.4, 0.6], [0.6, 0.4]]
    >>> round(multiclass_pulp(y, scores, classes=["a", "b"], unlabeled_label="?"), 4)
    0.3
    """
    check_choice("average", average, ("macro", "weighted"))
    labels, labeled = _read_labels(y, unlabeled_label)
    table = np.asarray(to_host(scores))
    names = [*to_host(classes)] if np.iterable(classes) else []
    if len(set(names)) < max(len(names), 2):
        raise InputError(f"classes must be at least two different labels; got {classes!r}.")
    if table.shape != (labels.size, len(names)):
        raise InputError(
            f"scores must have a row for each of {labels.size:,} labels and a column for each of "
            f"{len(names):,} classes; got shape {table.shape}."
        )
    unknown = [name for name in _classes(labels[labeled]) if name not in names]
    if unknown:
        raise InputError(f"y has the label {unknown[0]!r}, which is not one of the classes.")
    values, weights = [], []
    for column, name in zip(table.T, names, strict=True):
        is_labeled = labeled & (labels == name)
        if not is_labeled.any():
            raise InputError(
                f"no row is labeled {name!r}. Leave out this class and its scores, which nothing "
                "says anything about."
            )
        values.append(pulp(Counts.from_arrays(is_labeled.astype(np.int8), column)))
        weights.append(int(is_labeled.sum()) if average == "weighted" else 1)
    return float(np.average(values, weights=weights))


def probability_of_fewer_matches(
    n_labeled: Sequence[int], n_predicted: Sequence[int], n_rows: int, hits: int
) -> float:
    """Return the probability that a random permutation of predictions has fewer hits.

    ``n_labeled`` and ``n_predicted`` are the numbers of labeled rows and of predictions by class.
    """
    if hits == 0:
        return 0.0
    most = sum(map(min, n_labeled, n_predicted))
    if most > MOST_HITS:
        raise InputError(
            f"up to {most:,} hits are possible, more than the {MOST_HITS:,} for which their exact "
            "distribution is computed. Use multiclass_pulp with scores, or a random part of the "
            "rows."
        )
    ways = [1]
    for t, b in zip(n_labeled, n_predicted, strict=True):
        ways = multiply_polynomials(ways, rook_polynomial(t, b))
    # Factorials are divided by (n − most)!.
    orders, total = 1, 0
    for m in range(most, hits - 1, -1):
        term = math.comb(m - 1, hits - 1) * ways[m] * orders
        total += -term if (m - hits) % 2 else term
        orders *= n_rows - m + 1
    all_orders = orders * math.perm(n_rows, hits - 1)
    return (all_orders - total) / all_orders


def rook_polynomial(n_labeled: int, n_predicted: int) -> list[int]:
    """Return the numbers of ways to match k labeled rows of a class with k of its predictions.

    Examples
    --------
    >>> rook_polynomial(2, 3)
    [1, 6, 6]
    """
    ways = [1]
    for k in range(min(n_labeled, n_predicted)):
        ways.append(ways[-1] * (n_labeled - k) * (n_predicted - k) // (k + 1))
    return ways


def multiply_polynomials(first: list[int], second: list[int]) -> list[int]:
    """Multiply polynomials with non-negative integer coefficients, as two long integers.

    Examples
    --------
    >>> multiply_polynomials([1, 2], [1, 0, 3])
    [1, 2, 3, 6]
    """
    longest = min(len(first), len(second)) * max(first) * max(second)
    width = (longest.bit_length() + 7) // 8
    packed = [
        int.from_bytes(b"".join(c.to_bytes(width, "little") for c in each), "little")
        for each in (first, second)
    ]
    size = len(first) + len(second) - 1
    product = (packed[0] * packed[1]).to_bytes(width * size, "little")
    return [int.from_bytes(product[k * width : (k + 1) * width], "little") for k in range(size)]


def _read_labels(y: Any, unlabeled_label: Any) -> tuple[Array, Array]:
    """Return the labels, and which rows are labeled."""
    labels = one_column(y, "y")
    missing = np.array([_is_missing(label) for label in labels.tolist()], dtype=bool)
    if _is_missing(unlabeled_label):
        labeled = ~missing
    elif missing.any():
        raise InputError(
            f"y has {int(missing.sum()):,} missing labels. If these rows are unlabeled, pass "
            "unlabeled_label=None, and remove other labels of unlabeled rows."
        )
    else:
        labeled = np.asarray(labels != unlabeled_label, dtype=bool)
    if not labeled.any():
        raise InputError(f"y has no labeled row: all labels are {unlabeled_label!r}.")
    if labeled.all():
        raise InputError(
            f"y has no unlabeled row: no label is {unlabeled_label!r}. Its labels are "
            f"{list_examples(labels.tolist())}. Pass the label of the unlabeled rows as "
            "unlabeled_label."
        )
    return labels, labeled


def _check_predictions(predicted: Array, classes: list[Any]) -> None:
    """Refuse predictions that cannot equal a label, because they are text and labels are not."""
    texts = [
        {isinstance(value, str) for value in values if not _is_missing(value)}
        for values in (classes, predicted.tolist())
    ]
    if texts in ([{True}, {False}], [{False}, {True}]):
        shown = list_examples(predicted.tolist())
        raise InputError(
            f"predicted has other values than y: {shown}, and the classes are "
            f"{list_examples(classes)}. Pass both as numbers or both as text."
        )


def _is_missing(label: Any) -> bool:
    """Whether a label is None, NaN, or a missing value of pandas, which equals nothing."""
    return label is None or label != label or type(label).__name__ == "NAType"  # noqa: PLR0124


def _classes(labels: Array) -> list[Any]:
    return [*dict.fromkeys(labels.tolist())]
