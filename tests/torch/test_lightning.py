"""Metrics log in Lightning, and stop training early."""

import csv
import os
import warnings
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="needs PyTorch: make torch")
pytest.importorskip("torchmetrics", reason="needs TorchMetrics: make torch")
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # Lightning's own, of the packages it imports
    lightning = pytest.importorskip("pytorch_lightning", reason="needs Lightning: make torch")

from torch.utils.data import DataLoader, TensorDataset  # noqa: E402

from pueval.torch import PUAveragePrecision, PUEvaluation, risk_metrics  # noqa: E402
from tests.torch.tensors import batches, updated  # noqa: E402

# Lightning advises more workers, and warns of loggers that this test does not need.
pytestmark = pytest.mark.filterwarnings("ignore")


class Model(lightning.LightningModule):
    """A scorer that gets worse after its third epoch."""

    def __init__(self, parts):
        super().__init__()
        self.parts = parts
        self.scale = torch.nn.Parameter(torch.ones(()))
        self.ap = PUAveragePrecision(prior=0.2)
        self.risks = risk_metrics(prior=0.2)
        self.evaluation = PUEvaluation(prior=0.2, level=None)
        self.naive = []
        self.seen = []

    def scores(self, scores):
        epoch = self.current_epoch
        noise = torch.sin(1000 * scores) * abs(epoch - 2)  # best in epoch 2
        return scores + noise

    def training_step(self, batch, _):
        return (self.scale * batch[0]).square().mean()

    def validation_step(self, batch, _):
        scores, labels = batch
        self.ap(self.scores(scores), labels)
        self.risks.update(self.scores(scores), labels)
        self.evaluation.update(self.scores(scores), labels)
        self.log("ap", self.ap, on_step=False, on_epoch=True)
        self.log_dict(self.risks, on_epoch=True)

    def on_validation_epoch_end(self):
        self.seen.append(self.evaluation.compute())
        self.evaluation.reset()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.01)


@pytest.mark.parametrize("kind", ["tensorboard", "csv"])
def test_evaluations_are_logged_by_loggers(rng, tmp_path, kind):
    pytest.importorskip("tensorboard", reason="install the dependency group trackers")
    loggers = lightning.loggers
    logger = {"tensorboard": loggers.TensorBoardLogger, "csv": loggers.CSVLogger}[kind](tmp_path)

    class Logged(Model):
        def on_validation_epoch_end(self):
            super().on_validation_epoch_end()
            self.seen[-1].log_to(self.logger, step=self.global_step, prefix="validation/")

    parts = batches(rng, 2000)
    loader = DataLoader(TensorDataset(*map(torch.cat, zip(*parts, strict=True))), batch_size=500)
    model = Logged(parts)
    trainer = lightning.Trainer(
        max_epochs=2, accelerator="cpu", logger=logger, enable_checkpointing=False,
        enable_progress_bar=False, enable_model_summary=False, num_sanity_val_steps=0,
    )  # fmt: skip
    trainer.fit(model, loader, loader)
    name, values = "validation/roc_auc", [ev["roc_auc"].value for ev in model.seen]
    if kind == "csv":
        lines = csv.DictReader((Path(logger.log_dir) / "metrics.csv").open())
        logged = [(int(line["step"]), float(line[name])) for line in lines if line[name]]
    else:
        from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

        events = EventAccumulator(logger.log_dir).Reload().Scalars(name)
        logged = [(event.step, event.value) for event in events]
    assert [step for step, _ in logged] == [4, 8]
    assert [value for _, value in logged] == pytest.approx(values, rel=1e-6)


def test_logging_and_early_stopping(rng, tmp_path):
    parts = batches(rng, 2000)
    data = TensorDataset(*(torch.cat(column) for column in zip(*parts, strict=True)))
    loader = DataLoader(data, batch_size=500)
    model = Model(parts)
    stopping = lightning.callbacks.EarlyStopping("ap", mode="max", patience=2)
    trainer = lightning.Trainer(
        max_epochs=10, accelerator="cpu", logger=False, enable_checkpointing=False,
        enable_progress_bar=False, enable_model_summary=False, num_sanity_val_steps=0,
        callbacks=[stopping], default_root_dir=os.fspath(tmp_path),
    )  # fmt: skip
    trainer.fit(model, loader, loader)
    assert stopping.stopped_epoch == 4
    assert model.ap.epoch == 5
    last = [(scores + torch.sin(1000 * scores) * 2, labels) for scores, labels in parts]
    logged = trainer.logged_metrics
    assert logged["ap"] == updated(PUAveragePrecision(prior=0.2), last).compute()
    expected = updated(risk_metrics(prior=0.2), last).compute()
    for name in ("upu_risk", "nnpu_risk", "error"):
        assert logged[name] == expected[name]
    best = max(range(5), key=lambda epoch: model.seen[epoch]["average_precision"].value)
    assert best == 2
    assert stopping.best_score.item() == pytest.approx(
        model.seen[2]["average_precision"].value, abs=1e-6
    )
