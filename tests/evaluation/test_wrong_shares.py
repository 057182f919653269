"""Shares that are no numbers: the error is short, and says what to pass."""

import warnings
from decimal import Decimal
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from pueval import InputError, LabelErrors, Mixture, evaluate, priors
from pueval._checks import short_text
from pueval.labeling import from_delay, from_two_sources
from pueval.metrics import roc_auc_score
from tests.conftest import draw

SHARES = ("prior", "prevalence", "label_frequency", "purity")


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(4)
    n = 3000
    ill = rng.random(n) < 0.3
    first, second = ill & (rng.random(n) < 0.5), ill & (rng.random(n) < 0.4)
    event = rng.uniform(0, 100, n)
    label_time = np.where(ill, event + rng.exponential(20, n), np.nan)
    delay = from_delay(event, np.where(label_time < 100, label_time, np.nan), 100.0)
    return SimpleNamespace(
        y=first | second,
        score=rng.normal(size=n) + ill,
        sources=from_two_sources(first, second),
        delay=delay,
    )


def message_of(rows, **shares):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(InputError) as error:
            evaluate(rows.y, rows.score, **shares)
    message = str(error.value)
    assert len(message) < 250
    assert "\n" not in message
    return message


@pytest.mark.parametrize("name", SHARES)
def test_results_about_labeling_say_what_to_pass(rows, name):
    start = rf"{name} must be a number in "
    message = message_of(rows, **{name: rows.sources})
    assert message.startswith(start)
    assert message.endswith(
        "got an object of type TwoSources. Pass its .label_frequency_interval as label_frequency, "
        "or its .label_frequency, which ignores the uncertainty."
    )
    message = message_of(rows, **{name: rows.delay})
    assert message.startswith(start)
    assert message.endswith(
        "got an object of type DelayEstimate. Pass its propensities with its usable rows instead: "
        "evaluate(**delay.arguments(score))."
    )


def test_the_advice_works(rows):
    sources = rows.sources
    ev = evaluate(rows.y, rows.score, label_frequency=sources.label_frequency_interval)
    low, high = sources.label_frequency_interval
    assert low < sources.label_frequency < high
    one = evaluate(rows.y, rows.score, label_frequency=sources.label_frequency)
    assert ev["f1"].high - ev["f1"].low > one["f1"].high - one["f1"].low
    assert np.isfinite(evaluate(**rows.delay.arguments(rows.score))["roc_auc"].value)
    bounds = sources.bounds(2)
    message = message_of(rows, label_frequency=bounds)
    assert message.endswith("Pass its .label_frequency_interval as label_frequency.")
    evaluate(rows.y, rows.score, label_frequency=bounds.label_frequency_interval)


def test_other_results_say_what_to_pass(rows):
    estimate = priors.estimate(rows.y, rows.score)
    assert message_of(rows, prevalence=estimate).endswith("PriorEstimate. Pass it as prior.")
    evaluate(rows.y, rows.score, prior=estimate)
    member = next(iter(estimate.members.values()))
    assert message_of(rows, prior=member).endswith("Pass its .prior or .prior_interval as prior.")
    message = message_of(rows, label_frequency=LabelErrors(0.1, 0.1))
    assert message.endswith("LabelErrors. Pass it as prior.")
    message = message_of(rows, prior=Mixture(0.1, 0.9))
    assert message.endswith("Mixture. Pass its .prior as prior, and its .purity as purity.")


LONG = [
    np.linspace(0, 1, 50),
    pd.Series(np.arange(30.0)),
    pd.DataFrame({"prior": np.arange(30.0)}),
    "x" * 300,
    {str(k): k for k in range(100)},
    [0.1] * 100,
    (np.zeros(1000), 0.3),
    object(),
    float,
]


@pytest.mark.parametrize("name", SHARES)
@pytest.mark.parametrize("value", LONG, ids=lambda value: type(value).__name__)
def test_long_values_are_cut(rows, name, value):
    more = {"prior": 0.2} if name == "purity" else {}
    message = message_of(rows, **{name: value}, **more)
    assert f"{name} " in message
    assert f"got {short_text(value)}." in message
    if name != "purity":
        for purity in ("estimate", (0.8, 1.0)):
            assert f"{name} " in message_of(rows, **{name: value}, purity=purity)


def test_an_evaluation_is_no_prior_and_its_text_is_not_made(rows, monkeypatch):
    ev = evaluate(rows.y, rows.score, prior=0.2)
    monkeypatch.setattr(type(ev), "__repr__", None)  # calling it would fail
    assert "got an object of type Evaluation" in message_of(rows, prior=ev)


def test_arrays_as_purity_beside_other_arguments(rows):
    purity = np.array([0.8, 0.9])
    text = "purity must be a number in (0, 1]; got array([0.8, 0.9])."
    estimate = priors.estimate(rows.y, rows.score)
    for more in (
        {"prior": LabelErrors(0.1, 0.1)},
        {"prior": estimate},
        {"propensity": np.full(rows.y.size, 0.5)},
        {},
    ):
        assert message_of(rows, purity=purity, **more).startswith(text)


def test_arrays_without_unlabeled_rows():
    y, score = [1, 1, -1, -1], [4.0, 2.0, 3.0, 1.0]
    with pytest.raises(InputError, match="prior has no effect without unlabeled rows"):
        evaluate(y, score, negative_label=-1, prior=np.array([0.1, 0.2]))
    assert evaluate(y, score, negative_label=-1, prior=0)["roc_auc"].value == 0.75


def test_metrics_refuse_them_likewise(rng):
    _, score, labeled = draw(rng, 300, prevalence=0.3, label_frequency=0.4)
    with pytest.raises(InputError, match="prior must be .* got an object of type ndarray"):
        roc_auc_score(labeled, score, prior=np.zeros(100))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.25, "0.25"),
        (None, "None"),
        ("20%", "'20%'"),
        ("x" * 60, repr("x" * 60)),
        ("x" * 61, repr("x" * 59 + "…")),
        ((0.3, 0.1), "(0.3, 0.1)"),
        ((0.3,), "(0.3,)"),
        ((), "()"),
        ([1, 2, 3, 4], "[1, 2, 3, 4]"),
        ([1, 2, 3, 4, 5], "[1, 2, 3, 4, …]"),
        ([[0] * 9, pd.NA], "[[0, 0, 0, 0, …], an object of type NAType]"),
        (np.array([0.1, 0.2]), "array([0.1, 0.2])"),
        (np.eye(2), "an object of type ndarray"),
        (Decimal("0.2"), "Decimal('0.2')"),
        (10**100, "an object of type int"),
        (Mixture(0.1), "an object of type Mixture"),
    ],
)
def test_short_text(value, text):
    assert short_text(value) == text
