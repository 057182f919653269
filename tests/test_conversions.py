"""Conversions of published numbers: impossible results are clipped, with a warning."""

import warnings

import pytest

from pueval import AssumptionWarning, conversions


@pytest.mark.parametrize(
    ("name", "naive", "options", "unclipped", "expected"),
    [
        ("roc_auc", 0.95, {"prior": 0.5}, "1.4", 1.0),
        ("roc_auc", 0.1, {"prior": 0.5}, "-0.3", 0.0),
        ("balanced_accuracy", 0.8, {"prior": 0.25, "purity": 0.75}, "1.1", 1.0),
        ("precision", 0.9, {"prior": 0.24, "labeled_share": 0.06}, "4.28", 1.0),
        (
            "precision",
            0.9,
            {"prior": 0.24, "labeled_share": 0.06, "target": "unlabeled"},
            "33.84",
            1.0,
        ),
        # r = (0.8·(1 − c)/c·naive/(1 − naive) − 0.2)/0.6 is below 0 for few labeled rows.
        ("precision", 0.01, {"prior": 0.2, "purity": 0.8, "labeled_share": 0.1}, "-0.06", 0.0),
        ("matthews_corrcoef", 0.9, {"prior": 0.3, "labeled_share": 0.1}, "2.06", 1.0),
        ("matthews_corrcoef", -0.9, {"prior": 0.3, "labeled_share": 0.1}, "-2.06", -1.0),
    ],
)
def test_impossible_values_are_clipped_with_a_warning(name, naive, options, unclipped, expected):
    message = (
        rf"is {unclipped}\d* and was clipped to {expected:g}\. A naive value of {naive:g} contr"
    )
    with pytest.warns(AssumptionWarning, match=message) as caught:
        assert getattr(conversions, name)(naive, **options) == expected
    assert caught[0].filename == __file__


def test_rounding_is_no_contradiction():
    """A naive AUC of 1 − prior/2 is a perfect ranking."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for prior in (0.1, 0.3, 0.7):
            assert conversions.roc_auc(1 - prior / 2, prior=prior) == pytest.approx(1, abs=1e-12)
            assert conversions.roc_auc(1 - prior / 2, prior=prior) <= 1
