"""Evaluations in several threads at once: warnings, and the filters of the process."""

import warnings
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from pueval import AssumptionWarning, evaluate, evaluate_by
from pueval.displays._evaluation_display import evaluate_for_caller
from pueval.model_selection import evaluate_cv
from tests.conftest import draw

ROUNDS, THREADS = 6, 4


@pytest.fixture
def rows(rng):
    _, score, labeled = draw(rng, 900, prevalence=0.35, label_frequency=0.5, separation=1.5)
    return labeled, score


def functions(labeled, score):
    """Functions that evaluate rows; the prior is too large, which all of them warn about."""
    by = np.arange(score.size) % 3
    options = {"prior": 0.9, "n_resamples": 50}
    return {
        "evaluate_by": partial(evaluate_by, labeled, score, by, **options),
        "evaluate_cv": partial(
            evaluate_cv, LogisticRegression(), score[:, None], labeled, cv=2, **options
        ),
        "display": partial(evaluate_for_caller, labeled, score, options),
    }


@pytest.mark.parametrize("name", ["evaluate_by", "evaluate_cv", "display"])
def test_threads_leave_no_filter_that_hides_warnings(rows, name):
    function = functions(*rows)[name]
    with warnings.catch_warnings(record=True):
        warnings.simplefilter("always")
        for _ in range(ROUNDS):
            with ThreadPoolExecutor(THREADS) as pool:
                for future in [pool.submit(function) for _ in range(2 * THREADS)]:
                    future.result()
        hidden = [f for f in warnings.filters if f[0] == "ignore" and f[2] is AssumptionWarning]
        assert not hidden
        with pytest.warns(AssumptionWarning):
            evaluate(*rows, prior=0.9, level=None)
