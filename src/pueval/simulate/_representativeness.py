"""Representativeness of rows: their density under a Gaussian mixture of the positives."""

from __future__ import annotations

from typing import Any

import numpy as np

from pueval._checks import check_count, check_same_length
from pueval._typing import Array
from pueval.errors import InputError
from pueval.simulate._simulation_inputs import read_classes


def representativeness(
    features: Any,
    positive: Any,
    *,
    n_components: int = 5,
    dimensions: int = 20,
    seed: int | np.random.Generator,
) -> Array:
    """Return each row's log density under a Gaussian mixture fitted to the positives.

    If there are more than ``dimensions`` features, a truncated singular value decomposition of
    the positives reduces them first, because densities in hundreds of dimensions are
    uninformative. All features are then scaled to unit variance.

    Parameters
    ----------
    features : array-like or sparse matrix of shape (n, d)
        Features of the rows.
    positive : array-like of bool or 0 and 1
        True classes.
    n_components : int, default 5
        Number of mixture components.
    dimensions : int, default 20
        Largest number of features to fit the mixture to.
    seed : int or numpy Generator
        Random seed.

    Returns
    -------
    ndarray of shape (n,)
        Log densities; higher means more representative.

    References
    ----------
    Hajizadeh, Li, Dollevoet and Tax (2014), section 3. The paper states neither the number of
    components nor whether features were reduced.

    Examples
    --------
    >>> import numpy as np
    >>> from pueval.simulate import representativeness
    >>> X = np.random.default_rng(0).normal(size=(300, 3))
    >>> X[0] = 5
    >>> depth = representativeness(X, np.arange(300) < 200, n_components=1, seed=0)
    >>> int(depth[:200].argmin())
    0
    """
    from scipy.sparse import issparse
    from sklearn.decomposition import TruncatedSVD
    from sklearn.mixture import GaussianMixture
    from sklearn.utils import check_array

    classes = read_classes(positive)
    check_count("n_components", n_components)
    check_count("dimensions", dimensions)
    try:
        matrix = check_array(features, accept_sparse="csr", dtype=[np.float64, np.float32])
    except ValueError as error:
        raise InputError(f"invalid features: {error}") from None
    check_same_length("features", matrix.shape[0], "positive", classes.size)
    n_positive = int(classes.sum())
    if n_positive <= n_components:
        raise InputError(
            f"{n_positive:,} positives are too few for a mixture of {n_components} components. "
            "Reduce n_components."
        )
    state = int(np.random.default_rng(seed).integers(2**31))
    if issparse(matrix) or matrix.shape[1] > dimensions:
        size = min(dimensions, matrix.shape[1] - 1, n_positive - 1)
        if not issparse(matrix):
            matrix = matrix - matrix[classes].mean(axis=0)
        reducer = TruncatedSVD(max(size, 1), random_state=state).fit(matrix[classes])
        matrix = reducer.transform(matrix)
    scale = matrix[classes].std(axis=0)
    matrix = (matrix - matrix[classes].mean(axis=0)) / np.where(scale > 0, scale, 1.0)
    mixture = GaussianMixture(n_components, random_state=state, reg_covar=1e-3).fit(matrix[classes])
    return np.asarray(mixture.score_samples(matrix))
