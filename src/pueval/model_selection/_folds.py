"""PUStratifiedKFold: folds stratified by labeled, unlabeled and known negative rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.model_selection import BaseCrossValidator, StratifiedGroupKFold, StratifiedKFold

from pueval._checks import check_count, check_same_length
from pueval._typing import Array
from pueval.errors import InputError
from pueval.sources.arrays import label_kinds
from pueval.sources.group_codes import GroupCodes, encode_groups
from pueval.sources.labels import LabelValues


def read_groups(groups: Any, rows: int) -> GroupCodes:
    """Read the group of each row; missing groups are refused."""
    if hasattr(groups, "__len__") and not isinstance(groups, str):
        check_same_length("y", rows, "groups", len(groups))
    return encode_groups(groups, rows, "group")


class PUStratifiedKFold(BaseCrossValidator):  # type: ignore[misc]
    """K-fold splitter, stratified by labeled, unlabeled and known negative rows.

    Corrected measures need labeled rows in each fold, which also cause most of their variance.
    Unlike scikit-learn's splitters, this one refuses data for which a fold would have no labeled
    rows, checks the label values (−1 must be named), and keeps groups together.

    Parameters
    ----------
    n_splits : int, default 5
        Number of folds, at least 2.
    shuffle : bool, default False
        Whether to shuffle the rows of each stratum before splitting.
    random_state : int, RandomState instance or None
        Random seed for shuffling.
    pos_label, unlabeled_label, negative_label : optional
        Values of ``y`` for labeled positives, unlabeled rows and known negatives.

    Examples
    --------
    >>> import numpy as np
    >>> from pueval.model_selection import PUStratifiedKFold
    >>> y = np.array([1, 1, 1, 0, 0, 0, 0, 0, 0])
    >>> folds = PUStratifiedKFold(n_splits=3)
    >>> [y[test].tolist() for _, test in folds.split(np.zeros((9, 1)), y)]
    [[1, 0, 0], [1, 0, 0], [1, 0, 0]]
    """

    # Groups are used if they are given.
    __metadata_request__split = {"groups": True}  # noqa: RUF012 - scikit-learn's protocol

    def __init__(
        self,
        n_splits: int = 5,
        *,
        shuffle: bool = False,
        random_state: Any = None,
        pos_label: Any = 1,
        unlabeled_label: Any = 0,
        negative_label: Any = None,
    ) -> None:
        check_count("n_splits", n_splits, least=2)
        if random_state is not None and not shuffle:
            raise InputError(
                "random_state has no effect without shuffle=True. Omit it, or set shuffle=True."
            )
        LabelValues(pos_label, unlabeled_label, negative_label)
        self.n_splits = int(n_splits)
        self.shuffle = shuffle
        self.random_state = random_state
        self.pos_label = pos_label
        self.unlabeled_label = unlabeled_label
        self.negative_label = negative_label

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:  # noqa: ARG002, N803
        """Return the number of folds.

        Parameters
        ----------
        X, y, groups : optional
            Ignored; for compatibility with scikit-learn.

        Returns
        -------
        int
        """
        return self.n_splits

    def split(self, X: Any, y: Any, groups: Any = None) -> Iterator[tuple[Array, Array]]:  # noqa: N803
        """Yield the training and test rows of each fold.

        Parameters
        ----------
        X : array-like of shape (n, …)
            Features; only the number of rows matters.
        y : array-like of shape (n,)
            Labels.
        groups : array-like of shape (n,), optional
            Group of each row, without missing values. Groups stay together, and folds are balanced
            as far as possible.

        Yields
        ------
        train, test : ndarray
            Row indices.
        """
        labels = LabelValues(self.pos_label, self.unlabeled_label, self.negative_label)
        kind = label_kinds(y, labels)
        rows = X.shape[0] if hasattr(X, "shape") else len(X)
        check_same_length("X", rows, "y", len(kind))
        if groups is not None:
            groups = read_groups(groups, len(kind)).code
        self._check_enough(kind, groups)
        inner = StratifiedKFold if groups is None else StratifiedGroupKFold
        folds = inner(self.n_splits, shuffle=self.shuffle, random_state=self.random_state)
        if np.count_nonzero(kind == 2) < self.n_splits:
            # Too few known negatives for all folds: treat them as unlabeled rows.
            kind = np.minimum(kind, 1)
        for train, test in folds.split(np.zeros(len(kind)), kind, groups):
            self._check_fold(kind[test], groups)
            yield train, test

    def _check_enough(self, kind: Array, groups: Any) -> None:
        """Refuse data with too few labeled or other rows, or groups, for the folds."""
        labeled = int(np.count_nonzero(kind == 0))
        for name, rows in (("labeled", labeled), ("other", len(kind) - labeled)):
            if rows < self.n_splits:
                raise InputError(
                    f"{self.n_splits} folds require at least {self.n_splits} {name} rows; got "
                    f"{rows}. Use fewer folds."
                )
        if groups is None:
            return
        n_groups = len(np.unique(groups[kind == 0]))
        if n_groups < self.n_splits:
            raise InputError(
                f"{self.n_splits} folds require labeled rows in at least {self.n_splits} groups; "
                f"got {n_groups}. Use fewer folds."
            )

    def _check_fold(self, kind: Array, groups: Any) -> None:
        if (kind == 0).any() and (kind != 0).any():
            return
        missing = "labeled" if not (kind == 0).any() else "unlabeled or known negative"
        raise InputError(
            f"a fold has no {missing} row"
            + (", because groups must stay together" if groups is not None else "")
            + f". Use fewer than {self.n_splits} folds."
        )
