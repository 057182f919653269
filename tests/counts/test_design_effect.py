"""A design effect keeps what is known about the propensities of unlabeled rows."""

import numpy as np
import pytest

from pueval import Counts
from pueval.counts.design_effect import with_design_effect


def test_propensities_of_unlabeled_rows_are_kept():
    y, chance = np.repeat([1, 0], [4, 26]), np.repeat([0.5, 0.1], [4, 26])
    counts = Counts.from_arrays(y, np.arange(30.0), propensity=chance)
    fewer = with_design_effect(counts, 2.0)
    assert fewer._most_represented(8.0) == pytest.approx(counts._most_represented(8.0)) == 10
