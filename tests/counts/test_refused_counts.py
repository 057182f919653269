"""Functions of Counts refuse anything else in one line."""

import pytest

import pueval
from pueval import Counts, InputError, Mixture, evaluate, ranking

COUNTS = Counts.from_arrays([1, 1, 0, 0], [4, 3, 2, 1])
FUNCTIONS = {
    "largest_prior": pueval.largest_prior,
    "feasibility_pvalue": lambda counts: pueval.feasibility_pvalue(counts, prior=0.1),
    "claesen_bounds": lambda counts: pueval.claesen_bounds(counts, prior=0.1),
    "labeling_moments": lambda counts: pueval.labeling_moments(
        counts, threshold=2.5, label_frequency=0.8
    ),
    "resolution": lambda counts: pueval.resolution(counts, Mixture(0.1)),
    "from_prevalence": lambda counts: Mixture.from_prevalence(counts, 0.6),
    "from_label_frequency": lambda counts: Mixture.from_label_frequency(counts, 0.8),
    "pulp": ranking.pulp,
    "largest_pulp": ranking.largest_pulp,
    "lee_liu": lambda counts: ranking.lee_liu(counts, threshold=2.5),
    "pseudo_f": lambda counts: ranking.pseudo_f(counts, threshold=2.5, prevalence=0.5),
    "ranking_measures": ranking.ranking_measures,
}


@pytest.mark.parametrize("function", FUNCTIONS)
def test_other_arguments_are_refused(function):
    FUNCTIONS[function](COUNTS)
    labels_and_scores = ([1, 0], [2.0, 1.0])
    for wrong in (evaluate(COUNTS, prior=0.0), labels_and_scores, None):
        with pytest.raises(InputError, match=r"counts must be Counts; got .*from_arrays"):
            FUNCTIONS[function](wrong)
