"""PUStratifiedKFold: folds that hold labeled, unlabeled and known negative rows alike."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.model_selection import BaseCrossValidator, StratifiedGroupKFold, StratifiedKFold

from pueval._typing import Array
from pueval.errors import InputError
from pueval.sources.arrays import label_kinds
from pueval.sources.labels import LabelValues


class PUStratifiedKFold(BaseCrossValidator):  # type: ignore[misc]
    """K folds, each with its share of labeled, unlabeled and known negative rows.

    A corrected measure of a fold needs labeled rows, and its variance is mostly theirs. Unlike
    scikit-learn's splitters this one refuses data of which some fold would have none, knows
    what labels mean (−1 must be named), and keeps groups together if there are any.

    Parameters
    ----------
    n_splits : int, default 5
        Number of folds, at least 2.
    shuffle : bool, default False
        Whether to shuffle the rows of each kind before they are dealt out.
    random_state : int, RandomState or None
        For shuffling.
    pos_label, unlabeled_label, negative_label : optional
        Values of ``y`` for labeled, unlabeled and known negative rows.

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
        number: object = n_splits
        if not isinstance(number, Integral) or n_splits < 2:
            raise InputError(f"n_splits must be a whole number, at least 2; got {n_splits!r}.")
        if random_state is not None and not shuffle:
            raise InputError(
                "random_state has no effect without shuffle=True. Leave it out, or shuffle."
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
            Not used; they are here for scikit-learn.

        Returns
        -------
        int
        """
        return self.n_splits

    def split(self, X: Any, y: Any, groups: Any = None) -> Iterator[tuple[Array, Array]]:  # noqa: N803
        """Yield the rows of each fold.

        Parameters
        ----------
        X : array-like of shape (n, …)
            Only its length matters.
        y : array-like of shape (n,)
            Labels.
        groups : array-like of shape (n,), optional
            Rows of one group stay together, and folds are balanced as well as that allows.

        Yields
        ------
        train, test : ndarray
            Row numbers.
        """
        labels = LabelValues(self.pos_label, self.unlabeled_label, self.negative_label)
        kind = label_kinds(y, labels)
        rows = X.shape[0] if hasattr(X, "shape") else len(X)
        if rows != len(kind):
            raise InputError(f"X and y must have the same length; got {rows:,} and {len(kind):,}.")
        self._check_enough(kind, groups)
        inner = StratifiedKFold if groups is None else StratifiedGroupKFold
        folds = inner(self.n_splits, shuffle=self.shuffle, random_state=self.random_state)
        if np.count_nonzero(kind == 2) < self.n_splits:
            # Too few known negatives to go round; they are dealt out with the unlabeled rows.
            kind = np.minimum(kind, 1)
        for train, test in folds.split(np.zeros(len(kind)), kind, groups):
            self._check_fold(kind[test], groups)
            yield train, test

    def _check_enough(self, kind: Array, groups: Any) -> None:
        """Each fold needs a labeled and an other row; of known negatives there may be few."""
        labeled = int(np.count_nonzero(kind == 0))
        for name, rows in (("labeled", labeled), ("other", len(kind) - labeled)):
            if rows < self.n_splits:
                raise InputError(
                    f"{self.n_splits} folds need at least {self.n_splits} {name} rows, one for "
                    f"each; got {rows}. Make fewer folds."
                )
        if groups is None:
            return
        where = np.asarray(groups)
        if len(where) != len(kind):
            raise InputError(
                f"y and groups must have the same length; got {len(kind):,} and {len(where):,}."
            )
        found = len(np.unique(where[kind == 0]))
        if found < self.n_splits:
            raise InputError(
                f"{self.n_splits} folds need labeled rows in at least {self.n_splits} groups; "
                f"they are in {found}. Make fewer folds."
            )

    def _check_fold(self, kind: Array, groups: Any) -> None:
        if (kind == 0).any() and (kind != 0).any():
            return
        missing = "labeled" if not (kind == 0).any() else "unlabeled or known negative"
        raise InputError(
            f"a fold has no {missing} row"
            + (", because groups must stay together" if groups is not None else "")
            + f". Make fewer than {self.n_splits} folds."
        )
