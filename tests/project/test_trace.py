"""How many files a reader has to open to follow one call of `evaluate`."""

import sys
from collections import defaultdict
from inspect import CO_OPTIMIZED
from pathlib import Path

import pytest

import pueval
from pueval import evaluate
from pueval.samples import threads
from tests.conftest import draw

PACKAGE = Path(pueval.__file__).parent


@pytest.fixture(autouse=True)
def one_core(monkeypatch):
    """Run everything in this thread: a profile does not see functions in other threads."""
    monkeypatch.setattr(threads, "available_cores", lambda: 1)


def files_entered(call):
    """Return the files of the package whose functions a call runs, with the functions."""
    files = defaultdict(set)

    def profile(frame, event, _):
        code = frame.f_code
        # Not the bodies of modules and classes, which run when first imported.
        is_function = event == "call" and code.co_flags & CO_OPTIMIZED
        if is_function and code.co_filename.startswith(str(PACKAGE)):
            path = Path(code.co_filename).relative_to(PACKAGE).as_posix()
            files[path].add(code.co_qualname)

    sys.setprofile(profile)
    try:
        call()
    finally:
        sys.setprofile(None)
    return files


def test_evaluate_with_a_given_prior_enters_few_files(rng):
    """Point estimates and warnings; intervals are computed when they are looked up.

    Three of the files are those of the tilt likelihood, which tests whether labels are clean. Two
    are shared with many other calls: limits of a proportion, and lists of warnings.
    """
    _, score, labeled = draw(rng, 3000, prevalence=0.3, label_frequency=0.4)
    files = files_entered(lambda: evaluate(labeled, score, prior=0.2))
    assert "evaluation/evaluate.py" in files
    assert len(files) <= 26, sorted(files)


def test_intervals_of_all_measures_enter_few_more(rng):
    _, score, labeled = draw(rng, 3000, prevalence=0.3, label_frequency=0.4)
    files = files_entered(lambda: dict(evaluate(labeled, score, prior=0.2)))
    assert "uncertainty/bootstrap_draws.py" in files
    assert len(files) <= 38, sorted(files)
