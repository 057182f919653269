"""Scores of rows by classifiers that were not trained on them, and how to put folds together.

Every fold has its own classifier, and the scores of two classifiers need not be on one scale.
"""

from __future__ import annotations

from typing import Any, Literal, get_args

import numpy as np

from pueval._checks import check_count
from pueval._typing import Array
from pueval.core.curves import naive_auc
from pueval.counts.counts import Counts
from pueval.errors import InputError
from pueval.model_selection._folds import PUStratifiedKFold
from pueval.samples.sample import Sample, SortedChunk
from pueval.sources.labels import LabelValues

Method = Literal["auto", "predict_proba", "decision_function"]
Align = Literal["auto", "score", "rank"]
Partition = list[tuple[Array, Array]]

# If the AUC within folds is this much above that of the pooled scores, folds differ in scale.
MISALIGNED = 0.02


def partitions(
    X: Any,  # noqa: N803
    y: Any,
    kind: Array,
    groups: Any,
    *,
    cv: Any,
    n_repeats: int,
    seed: int,
) -> list[Partition]:
    """Return, for each repeat, folds that test every row once; ``kind`` is 0, 1 or 2.

    ``y`` are labels that the splitter knows; without them it gets 1 for labeled rows and 0 for all
    others.
    """
    check_count("n_repeats", n_repeats)
    if isinstance(cv, int | np.integer) and not isinstance(cv, bool):
        found = []
        for repeat in range(n_repeats):
            state = np.random.SeedSequence((seed, repeat)).generate_state(1)[0]
            folds = PUStratifiedKFold(
                int(cv), shuffle=True, random_state=int(state),
                pos_label=0, unlabeled_label=1, negative_label=2,
            )  # fmt: skip
            found.append([*folds.split(X, kind, groups)])
        return found
    if n_repeats > 1:
        raise InputError(
            "n_repeats needs cv as a number of folds, which are then drawn anew each time. "
            "With a splitter, use one that repeats, such as RepeatedStratifiedKFold."
        )
    splitter = hasattr(cv, "split") and not isinstance(cv, str)
    labels = (kind == 0).astype(int) if y is None else y
    splits = cv.split(X, labels, groups) if splitter else cv
    try:
        pairs = [(np.asarray(train), np.asarray(test)) for train, test in splits]
    except (TypeError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(
            "cv must be a number of folds, a splitter of scikit-learn, or a list of pairs of "
            f"training and test rows; got {cv!r}."
        ) from None
    found = _repeats(pairs, len(kind))
    if groups is not None:
        _check_groups(pairs, np.asarray(groups).tolist())
    return found


def known_to(cv: Any, labels: dict[str, Any]) -> bool:
    """Whether a splitter of ours was told what the labels mean."""
    if not isinstance(cv, PUStratifiedKFold):
        return False
    theirs = LabelValues(*(getattr(cv, name) for name in labels))
    return theirs.same_as(LabelValues(*labels.values()))


def _check_groups(pairs: Partition, groups: list[Any]) -> None:
    """Refuse splits that put rows of one group into training and test."""
    numbers: dict[Any, int] = {}
    code = np.array([numbers.setdefault(group, len(numbers)) for group in groups])
    for train, test in pairs:
        both = np.intersect1d(code[train], code[test])
        if both.size:
            raise InputError(
                f"rows of group {[*numbers][both[0]]!r} and {both.size - 1:,} more are in training "
                "and test at once. Use splits that keep groups together, such as GroupKFold, or cv "
                "as a number of folds; or leave out groups."
            )


def _repeats(pairs: Partition, rows: int) -> list[Partition]:
    """Sort splits into repeats, in each of which every row is tested once."""
    times = np.zeros(rows, dtype=int)
    found: list[Partition] = []
    for train, test in pairs:
        before = np.unique(times[test])
        times[test] += 1
        if before.size == 1:
            if before[0] == len(found):
                found.append([])
            found[before[0]].append((train, test))
    if not pairs or np.unique(times).size != 1 or sum(map(len, found)) != len(pairs):
        raise InputError(
            "every row must be tested once (or, with repeats, once in each of them), and here "
            f"rows are tested {times.min()} to {times.max()} times. Use k-fold splits; a "
            "shuffle split or a split of a time series leaves rows out."
        )
    return found


def choose_method(estimator: Any, method: Method) -> str:
    """Return the method to be asked for scores."""
    if method not in get_args(Method):
        raise InputError(
            f"method must be 'auto', 'predict_proba' or 'decision_function'; got {method!r}."
        )
    wanted: tuple[str, ...] = get_args(Method)[1:] if method == "auto" else (method,)
    for name in wanted:
        if hasattr(estimator, name):
            return name
    raise InputError(
        f"{type(estimator).__name__} has no {' and no '.join(wanted)}, so it gives no scores. "
        "Use a classifier that has one, or wrap it, for example in CalibratedClassifierCV."
    )


def fold_scores(
    estimator: Any,
    X: Any,  # noqa: N803
    labeled: Array,
    folds: Partition,
    *,
    method: str,
    fit_params: dict[str, Any] | None,
    n_jobs: int | None,
) -> Array:
    """Fit on the training rows of each fold, labeled against all others; score its test rows."""
    from sklearn.model_selection import cross_val_predict

    found = np.asarray(
        cross_val_predict(
            estimator,
            X,
            labeled.astype(int),
            cv=folds,
            method=method,
            params=fit_params,
            n_jobs=n_jobs,
        )
    )
    if found.ndim == 2 and found.shape[1] == 2:
        found = found[:, 1]
    if found.ndim != 1:
        raise InputError(
            f"{type(estimator).__name__}.{method} gave {found.shape[1]} columns for two classes; "
            "it must give two, or one score."
        )
    return found


def fold_numbers(folds: Partition, rows: int) -> Array:
    """Return the number of the fold in which each row is tested."""
    number = np.zeros(rows, dtype=int)
    for k, (_, test) in enumerate(folds):
        number[test] = k
    return number


def ranks_in_folds(score: Array, kind: Array, folds: Partition, sample_weight: Any) -> Array:
    """Replace each score by the share of its fold's rows that it outscores, ties counting half.

    Folds are random parts of the same rows, so the top tenth by one fold's classifier is to the
    top tenth by another's what their raw scores need not be.
    """
    ranks = np.empty(len(score))
    for _, test in folds:
        if not (kind[test] == 0).any() or not (kind[test] != 0).any():
            raise InputError(
                "align='rank' needs folds with labeled and other rows each, and a fold has only "
                "one kind. Make fewer folds, or take the scores as they are: align='score'."
            )
        values, place = np.unique(score[test], return_inverse=True)
        each = (
            np.ones(len(test)) if sample_weight is None else np.asarray(sample_weight, float)[test]
        )
        mass = np.bincount(place, each, minlength=values.size)
        ranks[test] = ((np.cumsum(mass) - mass / 2) / mass.sum())[place]
    return ranks


def misaligned(score: Array, kind: Array, folds: Partition) -> tuple[float, float] | None:
    """Return the AUC within folds and of the pooled scores if the former is clearly higher."""
    within = [
        _auc(score[test], kind[test])
        for _, test in folds
        if (kind[test] == 0).any() and (kind[test] != 0).any()
    ]
    if not within:
        return None
    mean, pooled = float(np.mean(within)), _auc(score, kind)
    return (mean, pooled) if mean - pooled > MISALIGNED else None


def _auc(score: Array, kind: Array) -> float:
    counts = Counts.from_arrays(kind == 0, score)
    return naive_auc(counts, counts._roc_corners())


def average_counts(repeats: list[Counts]) -> Counts:
    """Put the same rows, scored several times, together: each score counts 1/repeats.

    The numbers of rows and effective rows stay those of one repeat, so that limits do not
    pretend there were more.
    """
    if len(repeats) == 1:
        return repeats[0]
    kinds = []
    every: list[tuple[Sample, ...]] = [
        (
            *counts._samples,
            *((counts._inverse_propensity_sample(),) if counts.has_propensity else ()),
        )
        for counts in repeats
    ]
    for same in zip(*every, strict=True):
        chunks = []
        for each in same:
            for chunk in each.merged().chunks:
                count, square = (
                    each / len(repeats) for each in (chunk.row_counts, chunk.squared_weights)
                )
                chunks.append(SortedChunk(chunk.values, count, square))
        kinds.append(Sample(tuple(chunks)).merged())
    return Counts(*kinds)
