"""scikit-learn's own checks of estimators, on the estimators that work on one score.

Many checks fit two or more columns, or look at a second column of what they fit. They cannot
pass as they are, so they are run again on a subclass that takes the first column of X as the score.
"""

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.validation import validate_data

from pueval.counts.counts import Counts
from pueval.priors import (
    AlphaMax,
    AlphaMaxN,
    BestBin,
    Consensus,
    Dedpul,
    DistCurve,
    ElkanNoto,
    RocNetwork,
    RocSlope,
    Tilt,
    WithPurity,
)

# Every estimator on one score.
ESTIMATORS = [
    AlphaMax(),
    AlphaMaxN(),
    BestBin(),
    Consensus(),
    Dedpul(),
    DistCurve(n_curves=2),
    ElkanNoto(),
    RocNetwork(),
    RocSlope(),
    Tilt(),
    Tilt(purity="estimate"),
    WithPurity(Dedpul()),
]
# Those that refuse scores outside [0, 1].
PROBABILITY = (ElkanNoto,)

LABELS = {
    "check_estimators_dtypes": "fits with y of three values; y must be 0 and 1",
    "check_fit2d_1feature": "fits with y of one value only; y must be 0 and 1, both present",
}
MORE_COLUMNS = dict.fromkeys(
    [
        "check_dont_overwrite_parameters",
        "check_dtype_object",
        "check_n_features_in_after_fitting",
        "check_n_features_in",
        "check_f_contiguous_array_estimator",
        "check_methods_sample_order_invariance",
        "check_methods_subset_invariance",
        "check_fit2d_1sample",
        "check_dict_unchanged",
        "check_fit2d_predict1d",
    ],
    "needs a second column, and there is one score",
) | {"check_estimator_sparse_array": "the check cannot make a sparse array of one dimension"}
ONE_DIMENSION = {"check_fit1d": "fits one dimension, which is what a score has"}
# All that fit numbers outside [0, 1].
RANGE = dict.fromkeys(
    [
        "check_estimators_overwrite_params",
        "check_estimators_fit_returns_self",
        "check_readonly_memmap_input",
        "check_positive_only_tag_during_fit",
        "check_pipeline_consistency",
        "check_estimators_pickle",
        "check_fit_idempotent",
        "check_fit_check_is_fitted",
    ],
    "fits scores outside [0, 1], which are no probabilities",
)


def cannot_apply(estimator):
    return LABELS | MORE_COLUMNS | (RANGE if isinstance(estimator, PROBABILITY) else ONE_DIMENSION)


def first_column(estimator):
    """Return the same estimator in a subclass that takes the first column as the score."""
    kind = type(estimator)

    def read(self, X, y):
        X, y = validate_data(self, X, y, ensure_min_samples=2)
        score = X[:, 0].astype(float)
        if kind in PROBABILITY:
            score = (score - score.min()) / (np.ptp(score) or 1)
        return Counts.from_arrays(y, score)

    def tags(self):
        made = kind.__sklearn_tags__(self)
        made.input_tags.one_d_array = False
        return made

    name = f"{kind.__name__}OfFirstColumn"
    # Pickling looks the class up by its name in this module.
    made = globals().setdefault(
        name,
        type(name, (kind,), {"_read": read, "__sklearn_tags__": tags, "__module__": __name__}),
    )
    return made(**estimator.get_params(deep=False))


# The checks fit a few rows of noise, which the estimators rightly warn about.
@pytest.mark.filterwarnings("ignore::pueval.errors.AssumptionWarning")
@parametrize_with_checks(ESTIMATORS, expected_failed_checks=cannot_apply)
def test_check(estimator, check):
    check(estimator)


@pytest.mark.filterwarnings("ignore::pueval.errors.AssumptionWarning")
@parametrize_with_checks(
    [first_column(estimator) for estimator in ESTIMATORS],
    expected_failed_checks=lambda _: LABELS,
)
def test_check_on_first_column(estimator, check):
    check(estimator)
