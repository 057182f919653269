"""Corners of the ROC curve after an audit are the steps at labeled scores and at those of cells."""

import numpy as np
import pytest

from pueval import AssumptionWarning, evaluate
from pueval.samples.steps import steps_at


@pytest.mark.filterwarnings(f"ignore::{AssumptionWarning.__module__}.AssumptionWarning")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("decimals", [1, 8])
@pytest.mark.parametrize("negatives", [False, True])
def test_corners_are_the_steps_at_all_their_scores(dtype, decimals, negatives):
    for seed in range(5):
        rng = np.random.default_rng(seed)
        positive = rng.random(400) < 0.4
        score = (rng.normal(size=400) + positive).round(decimals).astype(dtype)
        y = (positive & (rng.random(400) < 0.5)).astype(int)
        if negatives:
            y[~positive & (rng.random(400) < 0.2)] = 2
        audited = np.full(400, np.nan)
        chosen = rng.choice(np.flatnonzero(y == 0), 60, replace=False)
        audited[chosen] = positive[chosen]
        weight = rng.random(400) + 0.1 if seed % 2 else None
        counts = evaluate(y, score, audited=audited, sample_weight=weight, negative_label=2,
                          level=None).counts  # fmt: skip
        corners = counts._roc_corners()
        cells = counts._inverse_propensity_sample().distinct_cumulative()[0]
        expected = {np.inf, score.min(), *score[y == 1], *cells}
        np.testing.assert_array_equal(corners.threshold, sorted(expected, reverse=True))
        slow = steps_at(counts._samples, corners.threshold, counts._represented)
        for name in ("labeled", "unlabeled", "negative", "represented_positives"):
            np.testing.assert_allclose(getattr(corners, name), getattr(slow, name), rtol=1e-12)
        assert not corners.tied.any()
