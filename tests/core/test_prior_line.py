"""The prior as a function of the purity agrees with the conversions of Mixture."""

import numpy as np
import pytest

from pueval import Counts, InputError, Mixture
from pueval.core.prior_line import PriorLine

COUNTS = Counts.from_table([2, 1], labeled=[80, 20], unlabeled=[200, 300])


@pytest.mark.parametrize(
    ("name", "value", "convert"),
    [
        ("prior", 0.3, lambda purity: Mixture(0.3, purity)),
        ("prevalence", 0.4, lambda purity: Mixture.from_prevalence(COUNTS, 0.4, purity)),
        (
            "label_frequency", 0.3,
            lambda purity: Mixture.from_label_frequency(COUNTS, 0.3, purity),
        ),
    ],
)  # fmt: skip
def test_same_as_mixture(name, value, convert):
    line = PriorLine.of(COUNTS, name, value)
    low, high = line.purities
    for purity in np.linspace(low + 1e-6, high, 9):
        assert line.prior(purity) == pytest.approx(convert(purity).prior, abs=1e-12)
    if low > 0:
        with pytest.raises(InputError):
            convert(low - 1e-6)


def test_of_the_unlabeled_rows():
    assert PriorLine.of(COUNTS, "prevalence", 0.4, "unlabeled") == PriorLine(0.4, 0.0)


def test_few_positives_bound_the_purity():
    """60 positives among all rows: at most 60 of the 100 labels are right."""
    low, high = PriorLine.of(COUNTS, "prevalence", 0.1).purities
    assert (low, high) == pytest.approx((0.1, 0.6))


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("prevalence", 1.0, "whatever the purity"),
        ("label_frequency", 0.1, "whatever the purity"),
        ("prevalence", 1.2, "must be a number"),
        ("label_frequency", 0.0, "must be a number"),
        ("prior", "x", "must be a number"),
    ],
)
def test_bad_input(name, value, message):
    with pytest.raises(InputError, match=message):
        PriorLine.of(COUNTS, name, value)
