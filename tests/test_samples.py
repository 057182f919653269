"""Samples: adding many batches with and without weights."""

import numpy as np
import pytest

from pueval import Counts
from pueval.samples import EMPTY, MOST_CHUNKS


def test_many_weighted_batches_are_merged(rng):
    y, score = rng.integers(0, 2, 400), rng.integers(0, 30, 400)
    weight = rng.integers(1, 4, 400)
    whole = Counts.from_arrays(y, score, weight=weight)
    total = Counts(EMPTY, EMPTY, EMPTY)
    for k, part in enumerate(np.array_split(np.arange(400), 50)):
        # Some batches come with weights, some as repeated rows.
        if k % 2:
            batch = Counts.from_arrays(y[part], score[part], weight=weight[part])
        else:
            rows = np.repeat(part, weight[part])
            batch = Counts.from_arrays(y[rows], score[rows])
        total = total + batch
    assert total == whole
    assert total.n == weight.sum()
    assert len(total._labeled.chunks) <= MOST_CHUNKS
    for mine, other in zip(
        vars(total.corners()).values(), vars(whole.corners()).values(), strict=True
    ):
        np.testing.assert_array_equal(mine, other)


def test_effective_number_of_rows(rng):
    weight = rng.exponential(size=1000)
    counts = Counts.from_arrays(np.arange(1000) < 300, rng.random(1000), weight=weight)
    labeled, others = counts.effective
    assert labeled == pytest.approx(weight[:300].sum() ** 2 / (weight[:300] ** 2).sum())
    assert others == pytest.approx(weight[300:].sum() ** 2 / (weight[300:] ** 2).sum())
    assert EMPTY.effective == 0
