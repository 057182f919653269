"""Settings are checked when a metric is made, as `pueval.evaluate` checks them."""

import numpy as np
import pytest

from pueval import InputError, LabelErrors, UndefinedMeasureWarning, evaluate, priors

torch = pytest.importorskip("torch", reason="needs PyTorch: make torch")
pytest.importorskip("torchmetrics", reason="needs TorchMetrics: make torch")

from pueval.torch import PUAUROC, NNPURisk, PUEvaluation, PUF1Score  # noqa: E402
from tests.torch.tensors import batches, joined, updated  # noqa: E402


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "exactly one of prior"),
        ({"prior": 0.1, "prevalence": 0.2}, "got prior and prevalence"),
        ({"prior": 0.1, "estimate_every": 2}, "cannot be combined with estimate_every"),
        ({"estimate_every": 0}, "at least 1; got 0"),
        ({"estimate_every": True}, "at least 1; got True"),
        ({"prior": 1.2}, "prior must be"),
        ({"prior": 0.5, "purity": 0.4}, "purity"),
        ({"prior": 0.5, "purity": "guess"}, "got 'guess'"),
        ({"prior": 0.5, "target": "all"}, "target"),
    ],
)
@pytest.mark.parametrize("kind", [PUAUROC, PUEvaluation])
def test_assumptions_are_checked_at_once(kind, given, message):
    with pytest.raises(InputError, match=message):
        kind(**given)


SETTINGS = [
    {"prior": (0.5, 0.1)},
    {"prior": (0.1,)},
    {"prior": np.float32(1.5)},
    {"prior": torch.tensor(0.2)},
    {"prior": "0.2"},
    {"prior": True},
    {"prior": 20},
    {"prior": (0.1, 0.6), "purity": (0.5, 0.9)},
    {"prevalence": (0.2, 1.2)},
    {"prevalence": "0.2"},
    {"label_frequency": 0},
    {"label_frequency": (0, 0.5)},
    {"prior": 0.2, "purity": None},
    {"prior": 0.2, "purity": 0},
    {"prior": 0.2, "purity": (0.9, 0.5)},
    {"prevalence": 0.3, "purity": (0.9, 0.5)},
    {"label_frequency": (0.2, 0.3), "purity": "estimate"},
    {"label_frequency": 1.5, "purity": "estimate"},
    {"prior": LabelErrors(0.3, 0.01), "purity": 0.9},
    {"prior": LabelErrors(0.3, 0.01), "target": "unlabeled"},
]


@pytest.mark.parametrize("given", SETTINGS, ids=str)
@pytest.mark.parametrize("kind", [PUAUROC, PUEvaluation])
def test_errors_are_those_of_evaluate(rng, kind, given):
    score, y = joined(batches(rng))
    with pytest.raises(InputError) as expected:
        evaluate(y, score, **given, level=None)
    with pytest.raises(InputError) as refused:
        kind(**given)
    assert str(refused.value) == str(expected.value)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"prevalence": 1.0}, "prevalence must be below purity; got prevalence=1.0"),
        ({"prevalence": (0.2, 0.9), "purity": 0.8}, "prevalence must be below purity"),
        ({"estimate_every": 2, "purity": (0.5, 0.9)}, "purity as an interval needs a prior"),
        ({"estimate_every": 2, "purity": None}, "purity must be a number in"),
        ({"estimate_every": 2, "purity": "guess"}, "got 'guess'"),
        ({"prior": 0.2, "pos_label": "yes"}, "pos_label must be a number, since labels are tens"),
    ],
)
def test_what_no_data_fit_is_refused(given, message):
    with pytest.raises(InputError, match=message):
        PUAUROC(**given)


def test_an_estimate_with_another_purity_is_refused(rng):
    scores, labels = joined(batches(rng))
    estimate = priors.estimate(labels, scores)
    with pytest.raises(InputError, match=r"purity 1; got purity=0\.9"):
        PUAUROC(prior=estimate, purity=0.9)


@pytest.mark.parametrize(
    "given",
    [
        {"prevalence": 0.0},
        {"prevalence": 0.999},
        {"prevalence": (0.2, 0.4), "purity": (0.8, 0.9)},
        {"prevalence": 0.5, "target": "unlabeled"},
        {"label_frequency": 1},
        {"label_frequency": 1e-6, "purity": 0.5},
        {"label_frequency": (0.1, 1.0)},
        {"estimate_every": np.int64(2)},
        {"prevalence": 0.3, "purity": "estimate"},
        {"prior": np.float64(0.2), "purity": np.float32(0.5)},
    ],
    ids=str,
)
def test_what_some_data_fit_is_accepted(given):
    PUAUROC(**given)


def test_label_errors(rng):
    parts = batches(rng)
    errors = LabelErrors(false_negative_rate=0.6, false_positive_rate=0.01)
    score, y = joined(parts)
    expected = evaluate(y, score, prior=errors, level=None)["roc_auc"].value
    value = updated(PUAUROC(prior=errors), parts).compute().item()
    assert min(value, 1) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(
    ("metric", "text"),
    [
        (PUAUROC(prior=0.2, purity=1, target="population"), "PUAUROC(prior=0.2)"),
        (
            PUF1Score(prior=(0.1, 0.2), purity=0.9, target="unlabeled", threshold=0.5, bins=64),
            "PUF1Score(prior=(0.1, 0.2), threshold=0.5, purity=0.9, target='unlabeled', bins=64)",
        ),
        (
            PUF1Score(estimate_every=2, threshold="best"),
            "PUF1Score(estimate_every=2, threshold='best')",
        ),
        (
            NNPURisk(prevalence=0.3, purity="estimate", loss="logistic"),
            "NNPURisk(prevalence=0.3, loss='logistic', purity='estimate')",
        ),
    ],
)
def test_repr_shows_settings_that_are_not_the_defaults(metric, text):
    assert repr(metric) == text


def test_repr_of_an_estimated_prior_is_a_number(rng):
    scores, labels = joined(batches(rng))
    estimate = priors.estimate(labels, scores)
    metric = PUAUROC(prior=estimate)
    assert repr(metric) == f"PUAUROC(prior={estimate.prior:.3g})"
    metric.update(torch.tensor([1.0, 2.0]), torch.tensor([0, 0]))
    with pytest.warns(UndefinedMeasureWarning, match=r"^PUAUROC\(prior=0\.\d+\) is undefined: "):
        metric.compute()
