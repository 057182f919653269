"""Logging to experiment trackers, read back with their own readers."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from pueval import Counts, evaluate
from pueval.errors import AssumptionWarning, InputError

NEEDS_TRACKERS = "install the dependency group trackers"


@pytest.fixture(scope="module")
def ev():
    rng = np.random.default_rng(0)
    positive = rng.random(3000) < 0.3
    labeled = positive & (rng.random(3000) < 0.4)
    return evaluate(labeled, rng.normal(size=3000) + 2 * positive, prior=(0.18, 0.22))


def expected(ev, prefix=""):
    """The numbers to log, written out without the code under test."""
    numbers = {
        "prior": ev.prior,
        "prior_low": 0.18,
        "prior_high": 0.22,
        "purity": 1.0,
        "prevalence": ev.prevalence,
        "threshold": ev.threshold,
    }
    measures = ev.to_dict()["measures"]
    for name, estimate in measures.items():
        numbers |= {
            name: estimate["value"],
            f"{name}_low": estimate["low"],
            f"{name}_high": estimate["high"],
            f"{name}_naive": estimate["naive"],
        }
    return {prefix + name: number for name, number in numbers.items() if number is not None}


class Run:
    """A run of Weights & Biases as its documentation describes it."""

    def __init__(self):
        self.logged = []

    def log(self, data, step=None, commit=None):
        self.logged.append((dict(data), step, commit))

    def define_metric(self, name, step_metric=None):
        """Not called; a run has it."""


def test_wandb_gets_one_dict_per_step(ev):
    run = Run()
    ev.log_to(run, step=np.int64(4), prefix="validation/")
    ev.log_to(run)
    assert run.logged == [(expected(ev, "validation/"), 4, None), (expected(ev), None, None)]
    assert type(run.logged[0][1]) is int
    assert all(type(number) is float for number in run.logged[0][0].values())


def test_wandb_offline(ev, tmp_path, monkeypatch):
    wandb = pytest.importorskip("wandb", reason=NEEDS_TRACKERS)
    monkeypatch.setenv("WANDB_SILENT", "true")
    with wandb.init(mode="offline", project="pueval", dir=tmp_path) as run:
        ev.log_to(run, step=2)
        ev.log_to(run, step=3, prefix="later/")  # W&B completes a step when the next begins
        summary = dict(run.summary)
    assert summary["_step"] == 2
    assert {name: summary[name] for name in expected(ev)} == expected(ev)


# Versions of MLflow that prefer a database warn about the file store.
@pytest.mark.filterwarnings("ignore:.*filesystem tracking backend:FutureWarning")
def test_mlflow_file_store(ev, tmp_path, monkeypatch):
    monkeypatch.setenv("MLFLOW_DISABLE_TELEMETRY", "true")
    mlflow = pytest.importorskip("mlflow", reason=NEEDS_TRACKERS)
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    mlflow.set_tracking_uri((tmp_path / "runs").as_uri())
    try:
        with mlflow.start_run() as run:
            ev.log_to(mlflow, step=1, prefix="validation/")
            ev.log_to(mlflow, step=2, prefix="validation/")
            with pytest.raises(InputError, match=r"mlflow.*Pass the module itself"):
                ev.log_to(run)
        client = mlflow.MlflowClient()
        stored = client.get_run(run.info.run_id).data.metrics
        history = client.get_metric_history(run.info.run_id, "validation/roc_auc")
    finally:
        mlflow.set_tracking_uri(None)
    assert stored == pytest.approx(expected(ev, "validation/"))
    assert [(each.step, each.value) for each in history] == [
        (1, ev["roc_auc"].value),
        (2, ev["roc_auc"].value),
    ]


@pytest.mark.parametrize("package", ["torch.utils.tensorboard", "tensorboardX"])
def test_tensorboard(ev, tmp_path, package):
    event_accumulator = pytest.importorskip(
        "tensorboard.backend.event_processing.event_accumulator", reason=NEEDS_TRACKERS
    )
    writers = pytest.importorskip(package, reason=NEEDS_TRACKERS)
    with writers.SummaryWriter(str(tmp_path)) as writer:
        for step in (0, 1):
            ev.log_to(writer, step=step, prefix="validation/")
    events = event_accumulator.EventAccumulator(
        str(tmp_path), size_guidance={event_accumulator.SCALARS: 0, event_accumulator.TENSORS: 0}
    )
    events.Reload()
    tags = events.Tags()["scalars"]
    assert set(tags) == set(expected(ev, "validation/"))
    for tag in tags:
        points = events.Scalars(tag)
        assert [point.step for point in points] == [0, 1]
        # TensorBoard stores single precision.
        assert points[1].value == pytest.approx(expected(ev, "validation/")[tag], rel=1e-6)


def ranges(**given):
    """Names and ends of the logged intervals of prior and purity."""
    rng = np.random.default_rng(0)
    positive = rng.random(3000) < 0.3
    labeled = positive & (rng.random(3000) < 0.4)
    score = rng.normal(size=3000) + 2 * positive
    run, ev = Run(), evaluate(labeled, score, n_resamples=20, **given)
    ev.log_to(run)
    ((numbers, *_),) = run.logged
    return ev, {
        share: (numbers[f"{share}_low"], numbers[f"{share}_high"])
        for share in ("prior", "purity")
        if f"{share}_low" in numbers
    }


@pytest.mark.parametrize("level", [0.95, None])
@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"prior": 0.2}, {}),
        ({"prior": 0.2, "purity": (0.95, 1)}, {"purity": (0.95, 1)}),
        ({"prior": (0.1, 0.2)}, {"prior": (0.1, 0.2)}),
        (
            {"prior": (0.1, 0.2), "purity": (0.95, 1)},
            {"prior": (0.1, 0.2), "purity": (0.95, 1)},
        ),
        ({"prior": (0.2, 0.2), "purity": (0.98, 0.98)}, {}),
    ],
    ids=str,
)
def test_given_intervals_of_prior_and_purity(given, expected, level):
    assert ranges(**given, level=level)[1] == expected


def test_confidence_intervals_of_prior_and_purity():
    ev, logged = ranges()
    assert logged == {"prior": ev.prior_estimate.prior_interval}
    for given in ({}, {"prevalence": 0.3}):
        ev, logged = ranges(**given, purity="estimate")
        estimate = ev.prior_estimate
        assert logged == {"prior": estimate.prior_interval, "purity": estimate.purity_interval}
        assert ranges(**given, purity="estimate", level=None)[1] == {}
    assert ranges(level=None)[1] == {}


def test_confidence_intervals_of_an_audit():
    rng = np.random.default_rng(0)
    positive = rng.random(3000) < 0.3
    labeled = positive & (rng.random(3000) < 0.4) | (rng.random(3000) < 0.01)
    audited = np.where(rng.random(3000) < 0.2, positive, np.nan)
    score = rng.normal(size=3000) + 2 * positive
    for level in (0.9, None):
        run = Run()
        ev = evaluate(
            labeled, score, audited=audited, purity="estimate", level=level, n_resamples=20
        )
        ev.log_to(run)
        ((numbers, *_),) = run.logged
        shares = ev.assumptions.audited
        for name in ("prior", "purity"):
            low, high = getattr(shares, name)
            assert low < high
            assert (numbers.get(f"{name}_low") == low) is (level is not None)
            assert (numbers.get(f"{name}_high") == high) is (level is not None)


def test_undefined_numbers_are_left_out():
    counts = Counts.from_table([2, 1], labeled=[80, 20], unlabeled=[200, 700])
    with pytest.warns(AssumptionWarning, match="no row scores at or above"):
        ev = evaluate(counts, prior=1 / 9, threshold=3, level=None)
    assert math.isnan(ev["precision"].value)
    run = Run()
    ev.log_to(run)
    ((numbers, *_),) = run.logged
    assert "recall" in numbers
    assert "precision" not in numbers
    assert not any(name.endswith(("_low", "_high")) for name in numbers)


@pytest.mark.parametrize(
    ("target", "got"),
    [
        (None, "an object of type NoneType"),
        ("mlflow", "'mlflow'"),
        (math, "an object of type module"),  # has a function log
        (SimpleNamespace(log_metric=print), "an object of type types.SimpleNamespace"),
        (Run, r"the class .*Run\. Pass an object of it"),
    ],
)
def test_unknown_trackers(ev, target, got):
    with pytest.raises(InputError, match=rf"takes the module mlflow.*Lightning; got {got}\."):
        ev.log_to(target)


def test_bad_arguments(ev):
    with pytest.raises(InputError, match=r"step must be a whole number of at least 0; got 1\.5"):
        ev.log_to(Run(), step=1.5)
    with pytest.raises(InputError, match=r'prefix must be text, such as "validation/"; got None'):
        ev.log_to(Run(), prefix=None)
