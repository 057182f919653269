"""Influence of rows: many groups at once against one group at a time, and against its meaning."""

import numpy as np
import pytest

from pueval import Counts, Mixture
from pueval.comparison.area_covariances import influence_by_score
from pueval.core.average_precision import average_precision
from pueval.core.curves import naive_auc
from pueval.core.mixture import Mixtures
from pueval.core.rates import correct_steps
from pueval.core.sizes import GroupSizes
from pueval.groups.row_blocks import group_sizes, read_row_blocks
from pueval.sources.labels import LabelValues
from pueval.uncertainty.influence import AveragePrecisions, naive_aucs, placements
from tests.conftest import draw

GROUPS, PRIOR, PURITY = 4, 0.15, 0.9


@pytest.fixture(params=[1, 9], ids=["ties", "no ties"])
def rows(rng, request):
    positive, score, labeled = draw(rng, 1200, prevalence=0.35, label_frequency=0.5)
    y = labeled.astype(int)
    y[~positive & ~labeled & (rng.random(1200) < 0.3)] = 2
    return y, np.round(score, request.param), rng.integers(0, GROUPS, 1200)


def counts_of(y, score, mask):
    return Counts.from_arrays(y[mask], score[mask], negative_label=2)


@pytest.fixture
def areas(rows):
    """The steps of all groups, and what the kernel says of both areas."""
    blocks, _ = read_row_blocks(*rows, None, LabelValues(1, 0, 2), progress=False)
    [block], sizes = blocks, group_sizes(blocks)
    steps = block.steps()
    mixtures = Mixtures(np.full(GROUPS, PRIOR), np.full(GROUPS, PURITY))
    precisions = AveragePrecisions(steps.labeled_only(), sizes, mixtures, "population")
    return steps, sizes, precisions


def test_areas_of_groups_are_those_of_each_alone(rows, areas):
    y, score, by = rows
    steps, sizes, precisions = areas
    auc = naive_aucs(steps.labeled_only(), sizes)
    for group in range(GROUPS):
        counts = counts_of(y, score, by == group)
        corners = counts._roc_corners()
        rates = correct_steps(counts, corners, Mixture(PRIOR, PURITY))
        assert auc[group] == pytest.approx(naive_auc(counts, corners), abs=1e-12)
        assert precisions.value[group] == pytest.approx(average_precision(rates), abs=1e-12)


def test_influence_in_groups_is_that_in_each_alone(rows, areas):
    """`influence_by_score` is tested against numerical derivatives in tests/comparison."""
    y, score, by = rows
    steps, sizes, precisions = areas
    influences = (placements(steps.labeled_only(), sizes), precisions.influence())
    for group in range(GROUPS):
        alone = influence_by_score(
            counts_of(y, score, by == group), Mixture(PRIOR, PURITY), "population"
        )
        inside = steps.group == group
        for area, influence in enumerate(influences):
            labeled, background = (values[inside] for values in influence.at_steps(steps))
            for kind, values in enumerate((labeled, background, background)):
                weight = steps.at[kind][inside]
                part = sizes.by_kind[kind][group] / sizes.n_background[group] if kind else 1.0
                centered = part * (values - np.average(values, weights=weight))
                expected = alone(kind, steps.score[inside])[area]
                here = weight > 0
                np.testing.assert_allclose(centered[here], expected[here], rtol=1e-9, atol=1e-12)


def test_influence_at_scores_is_that_at_steps(rows):
    y, score, _ = rows
    counts = counts_of(y, score, np.ones(y.size, dtype=bool))
    blocks, _ = read_row_blocks(
        y, score, np.zeros(y.size, int), None, LabelValues(1, 0, 2), progress=False
    )
    steps = blocks[0].steps()
    influence = placements(steps.labeled_only(), GroupSizes.of(counts))
    at_steps = influence.at_steps(steps)
    at_scores = influence.at_scores(steps.labeled_only(), steps.score)
    for one, other in zip(at_steps, at_scores, strict=True):
        np.testing.assert_array_equal(one, other)


def test_mean_placement_of_each_kind_is_the_auc(areas):
    steps, sizes, _ = areas
    auc = naive_aucs(steps.labeled_only(), sizes)
    labeled, background = placements(steps.labeled_only(), sizes).at_steps(steps)
    mean = steps.sum_by_group(steps.at[0] * labeled) / sizes.n_labeled
    np.testing.assert_allclose(mean, auc, rtol=1e-12)
    weight = steps.at[1] + steps.at[2]
    mean = steps.sum_by_group(weight * background) / sizes.n_background
    np.testing.assert_allclose(mean, auc, rtol=1e-12)
