"""Partitions of the rows into folds, one per repeat of a cross-validation."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from pueval._checks import check_count
from pueval._typing import Array
from pueval.errors import InputError
from pueval.model_selection._folds import PUStratifiedKFold, read_groups
from pueval.sources.group_codes import GroupCodes, encode_groups
from pueval.sources.labels import LabelValues

# Training and test rows of each fold.
Partition = list[tuple[Array, Array]]


def partition_rows(
    X: Any,  # noqa: N803
    y: Any,
    kind: Array,
    groups: Any,
    *,
    cv: Any,
    n_repeats: int,
    seed: int,
    names_of: Literal["groups", "cluster"] = "groups",
) -> list[Partition]:
    """Return one partition per repeat; each tests every row exactly once.

    ``kind`` is 0 for labeled, 1 for unlabeled and 2 for known negative rows. ``y`` holds labels
    that the splitter understands; if None, the splitter gets 1 for labeled rows and 0 for others.
    ``names_of`` is the argument that gave the groups, for messages.
    """
    check_count("n_repeats", n_repeats)
    codes = None
    if groups is not None and names_of == "groups":
        codes = read_groups(groups, len(kind))
    elif groups is not None:
        codes = encode_groups(groups, len(kind), "cluster")
        groups = codes.code
    if isinstance(cv, int | np.integer) and not isinstance(cv, bool):
        repeats = []
        for repeat in range(n_repeats):
            state = np.random.SeedSequence((seed, repeat)).generate_state(1)[0]
            folds = PUStratifiedKFold(
                int(cv), shuffle=True, random_state=int(state),
                pos_label=0, unlabeled_label=1, negative_label=2,
            )  # fmt: skip
            repeats.append([*folds.split(X, kind, groups)])
        return repeats
    if n_repeats > 1:
        raise InputError(
            "n_repeats requires cv to be a number of folds. To repeat a splitter, use one such as "
            "RepeatedStratifiedKFold."
        )
    is_splitter = hasattr(cv, "split") and not isinstance(cv, str)
    labels = (kind == 0).astype(int) if y is None else y
    splits = cv.split(X, labels, groups) if is_splitter else cv
    try:
        pairs = [(np.asarray(train), np.asarray(test)) for train, test in splits]
    except (TypeError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(
            "cv must be a number of folds, a scikit-learn splitter, or a list of pairs of training "
            f"and test rows; got {cv!r}."
        ) from None
    repeats = _group_into_repeats(pairs, len(kind))
    if codes is not None:
        _check_groups(pairs, codes, names_of)
    return repeats


def splitter_knows_labels(cv: Any, labels: dict[str, Any]) -> bool:
    """Return whether ``cv`` is a PUStratifiedKFold with the same label values."""
    if not isinstance(cv, PUStratifiedKFold):
        return False
    splitter_labels = LabelValues(*(getattr(cv, name) for name in labels))
    return splitter_labels.same_as(LabelValues(*labels.values()))


def _check_groups(
    pairs: Partition, groups: GroupCodes, names_of: Literal["groups", "cluster"]
) -> None:
    """Refuse splits with rows of the same group in training and test."""
    noun, omit = ("groups", "; or omit groups") if names_of == "groups" else ("clusters", "")
    for train, test in pairs:
        shared = np.intersect1d(groups.code[train], groups.code[test])
        if shared.size:
            raise InputError(
                f"{shared.size:,} {noun}, such as {groups.names[shared[0]]!r}, have rows in both "
                f"training and test. Use a splitter that keeps {noun} together, such as "
                f"GroupKFold, or a number of folds{omit}."
            )


def _group_into_repeats(pairs: Partition, n_rows: int) -> list[Partition]:
    """Group splits into repeats, each of which tests every row once."""
    times_tested = np.zeros(n_rows, dtype=int)
    repeats: list[Partition] = []
    for train, test in pairs:
        repeat = np.unique(times_tested[test])
        times_tested[test] += 1
        if repeat.size == 1:
            if repeat[0] == len(repeats):
                repeats.append([])
            repeats[repeat[0]].append((train, test))
    n_grouped = sum(map(len, repeats))
    if not pairs or np.unique(times_tested).size != 1 or n_grouped != len(pairs):
        raise InputError(
            "each repeat must test every row exactly once, but rows are tested "
            f"{times_tested.min()} to {times_tested.max()} times. Use k-fold splits; shuffle "
            "splits and time series splits leave rows out."
        )
    return repeats


def number_folds(folds: Partition, n_rows: int) -> Array:
    """Return the number of the fold in which each row is tested."""
    number = np.zeros(n_rows, dtype=int)
    for k, (_, test) in enumerate(folds):
        number[test] = k
    return number
