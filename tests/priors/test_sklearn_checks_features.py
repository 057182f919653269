"""scikit-learn's own checks of estimators, on the estimators that work on features."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from pueval.priors._kernel_mean import KernelMean
from pueval.priors._tice import Tice

ESTIMATORS = [KernelMean(), KernelMean("KM1", max_rows=20), Tice(), Tice("median")]

CANNOT_APPLY = {
    "check_estimators_dtypes": "fits with y of three values; y must be 0 and 1",
    "check_fit2d_1feature": "fits with y of one value only; y must be 0 and 1, both present",
}


# The checks fit a few rows of noise, which the estimators rightly warn about.
@pytest.mark.filterwarnings("ignore::pueval.errors.AssumptionWarning")
@parametrize_with_checks(ESTIMATORS, expected_failed_checks=lambda _: CANNOT_APPLY)
def test_check(estimator, check):
    check(estimator)
