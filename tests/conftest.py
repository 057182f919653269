import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

settings.register_profile("suite", deadline=None, max_examples=60, derandomize=True)
settings.load_profile("suite")

ROOT = Path(__file__).parent.parent


@pytest.fixture
def rng():
    return np.random.default_rng(12345)


@pytest.fixture
def data_folder():
    """The folder of real data sets."""
    folder = os.environ.get("PUEVAL_DATA")
    if not folder or not Path(folder).is_dir():
        pytest.skip("needs the real data sets: set PUEVAL_DATA to their folder")
    return Path(folder)


def draw(rng, n, *, prevalence, label_frequency, purity=1.0, separation=1.5):
    """Population with known truth: classes, scores, and PU labels of a given purity.

    Labels are drawn at random: from the positives, and from the negatives as many as the
    purity asks for.
    """
    positive = rng.random(n) < prevalence
    score = rng.normal(size=n) + separation * positive
    labeled = positive & (rng.random(n) < label_frequency)
    wrong = labeled.sum() * (1 - purity) / purity / max((~positive).sum(), 1)
    labeled |= ~positive & (rng.random(n) < wrong)
    return positive, score, labeled
