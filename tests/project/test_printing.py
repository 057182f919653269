"""Every public result prints as a few readable lines, and gives a data frame and plain data."""

import json

import numpy as np
import pandas as pd
import pytest

import pueval
from pueval import Counts, Mixture
from pueval.core.densities import score_densities


@pytest.fixture(scope="module")
def counts():
    rng = np.random.default_rng(0)
    score = np.r_[rng.normal(1.5, 1, 600), rng.normal(0, 1, 1400)]
    return Counts.from_arrays(np.arange(2000) < 200, score)


@pytest.fixture(scope="module")
def evaluation(counts):
    return pueval.evaluate(counts, prior=0.2, level=None)


# A function of the fixtures for each type of result.
RESULTS = {
    "RocCurve": lambda counts, ev: ev.roc(),
    "PrecisionRecallCurve": lambda counts, ev: ev.pr(),
    "Mixture": lambda counts, ev: ev.mixture,
    "Moments": lambda counts, ev: pueval.labeling_moments(
        counts, threshold=1.0, label_frequency=0.4
    )["f1"],
    "Resolution": lambda counts, ev: pueval.resolution(counts.to_bins(16), ev.mixture),
    "Bounds": lambda counts, ev: ev.bounds(),
    "BoundTables": lambda counts, ev: ev.bounds().low,
    "SensitivityGrid": lambda counts, ev: ev.sensitivity("roc_auc"),
    "TippingPoint": lambda counts, ev: ev.tipping_point("roc_auc", 0.8),
    "LargestPrior": lambda counts, ev: pueval.largest_prior(counts),
    "ScoreDensities": lambda counts, ev: score_densities(counts, Mixture(0.2)),
}


@pytest.mark.parametrize("name", RESULTS)
def test_results_print_briefly_and_give_frame_and_dict(name, counts, evaluation):
    result = RESULTS[name](counts, evaluation)
    assert type(result).__name__ == name
    for text in (str(result), repr(result)):
        assert len(text.splitlines()) <= 40, text
        assert max(map(len, text.splitlines())) <= 120, text
        assert "array(" not in text
    assert "nan" not in str(result).split()
    assert isinstance(result.frame(), pd.DataFrame)
    assert json.loads(json.dumps(result.to_dict(), allow_nan=False))
