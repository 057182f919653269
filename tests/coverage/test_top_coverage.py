"""Coverage of intervals of the top of the list, with few replications."""

import numpy as np
import pytest

from tests.coverage.top_of_the_list import TOP_COLUMNS, TOP_GRID, measure_top


@pytest.mark.thorough
def test_intervals_hold_the_truth():
    *held, relative_bias = measure_top(TOP_GRID[0], 40, n_resamples=200)
    assert len(held) == len(TOP_COLUMNS) - 1
    assert min(held) >= 0.82  # 0.95 less 3.8 standard errors
    assert np.mean(held) >= 0.9
    assert relative_bias < 0.15
