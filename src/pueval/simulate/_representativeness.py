"""How representative each row is of the positives: the density of a Gaussian mixture."""

from __future__ import annotations

from typing import Any

import numpy as np

from pueval._checks import check_count
from pueval._typing import Array
from pueval.errors import InputError
from pueval.simulate._simulation_inputs import read_truth


def representativeness(
    features: Any,
    positive: Any,
    *,
    n_components: int = 5,
    dimensions: int = 20,
    seed: int | np.random.Generator,
) -> Array:
    """Return the log density of a Gaussian mixture fitted to the positives, for every row.

    More than ``dimensions`` features are first reduced to so many by a singular value
    decomposition of the positives: a density in hundreds of dimensions says nothing. Reduced or
    not, they are scaled to unit variance.

    Parameters
    ----------
    features : array-like or sparse matrix of shape (n, d)
        The rows.
    positive : array-like of bool or 0 and 1
        The truth.
    n_components : int, default 5
        Normal distributions in the mixture.
    dimensions : int, default 20
        Most features to fit it to.
    seed : int or numpy Generator
        Of the random numbers.

    Returns
    -------
    ndarray of shape (n,)
        The higher, the more representative.

    References
    ----------
    Hajizadeh, Li, Dollevoet and Tax (2014), section 3. They do not say how many components
    they took, nor whether features were reduced.

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

    truth = read_truth(positive)
    check_count("n_components", n_components)
    check_count("dimensions", dimensions)
    try:
        matrix = check_array(features, accept_sparse="csr", dtype=[np.float64, np.float32])
    except ValueError as error:
        raise InputError(f"features cannot be used: {error}") from None
    if matrix.shape[0] != truth.size:
        raise InputError(
            f"features must have one row per row of positive; got {matrix.shape[0]:,} for "
            f"{truth.size:,} rows."
        )
    found = int(truth.sum())
    if found <= n_components:
        raise InputError(
            f"{found:,} positives are too few for a mixture of {n_components} components."
        )
    state = int(np.random.default_rng(seed).integers(2**31))
    if issparse(matrix) or matrix.shape[1] > dimensions:
        size = min(dimensions, matrix.shape[1] - 1, found - 1)
        center = np.zeros(matrix.shape[1]) if issparse(matrix) else matrix[truth].mean(axis=0)
        reducer = TruncatedSVD(max(size, 1), random_state=state)
        reducer.fit(matrix[truth] - center if not issparse(matrix) else matrix[truth])
        matrix = reducer.transform(matrix if issparse(matrix) else matrix - center)
    scale = matrix[truth].std(axis=0)
    matrix = (matrix - matrix[truth].mean(axis=0)) / np.where(scale > 0, scale, 1.0)
    mixture = GaussianMixture(n_components, random_state=state, reg_covar=1e-3).fit(matrix[truth])
    density: Array = mixture.score_samples(matrix)
    return density
