"""uPU and nnPU risks: against the formulas of the papers, a hand-worked case and the truth."""

import math
import warnings

import numpy as np
import pytest

from pueval import AssumptionWarning, InputError
from tests.conftest import draw

torch = pytest.importorskip("torch", reason="needs PyTorch: make torch")
pytest.importorskip("torchmetrics", reason="needs TorchMetrics: make torch")

from pueval.torch import NNPURisk, PUError, UPURisk, risk_metrics  # noqa: E402
from tests.torch.tensors import batches, joined, updated  # noqa: E402


def slow_loss(loss, margin):
    return 1 / (1 + math.exp(margin)) if loss == "sigmoid" else math.log(1 + math.exp(-margin))


def slow_risk(y, score, prior, loss, *, non_negative):
    """Return equation 2 of du Plessis et al., or equation 6 of Kiryo et al., row by row."""

    def mean(rows, sign):
        return sum(slow_loss(loss, sign * g) for g in rows) / len(rows)

    labeled, unlabeled = score[y == 1].tolist(), score[y == 0].tolist()
    of_negatives = mean(unlabeled, -1) - prior * mean(labeled, -1)
    if non_negative:
        of_negatives = max(0.0, of_negatives)
    return prior * mean(labeled, 1) + of_negatives


@pytest.mark.filterwarnings("ignore:prior 0.9 does not fit")
@pytest.mark.parametrize("loss", ["sigmoid", "logistic"])
@pytest.mark.parametrize("kind", [UPURisk, NNPURisk])
@pytest.mark.parametrize("prior", [0.0, 0.2, 0.9])
def test_against_the_formulas_of_the_papers(rng, loss, kind, prior):
    """With a prior of .9 the part of the negatives is negative."""
    parts = batches(rng, 1000)
    score, y = joined(parts)
    metric = kind(prior=prior, target="unlabeled", loss=loss)
    expected = slow_risk(y, score, prior, loss, non_negative=kind is NNPURisk)
    assert updated(metric, parts).compute().item() == pytest.approx(expected, abs=1e-6)
    assert kind.higher_is_better is False


@pytest.mark.parametrize("kind", [UPURisk, NNPURisk])
def test_an_impossible_prior_is_said(rng, kind):
    metric = updated(kind(prior=0.9), batches(rng))
    with pytest.warns(AssumptionWarning, match=r"prior 0\.9 does not fit"):
        metric.compute()


def test_worked_by_hand():
    """Logits ln 3 (labeled), ln 3 and −ln 3 (unlabeled), prior 1/2, sigmoid loss.

    Losses are 1/4 and 3/4. π·E₊ℓ(g) = 1/8. E_Uℓ(−g) = (3/4 + 1/4)/2 = 1/2, less π·E₊ℓ(−g) = 3/8,
    is 1/8. Together 1/4. Without the unlabeled ln 3, E_Uℓ(−g) = 1/4 and 1/4 − 3/8 = −1/8.
    """
    logits = torch.tensor([3.0, 3.0, 1 / 3], dtype=torch.float64).log()
    rows = logits, torch.tensor([1, 0, 0])
    given = {"prior": 0.5, "target": "unlabeled"}
    assert updated(UPURisk(**given), [rows]).compute() == pytest.approx(1 / 4)
    assert updated(NNPURisk(**given), [rows]).compute() == pytest.approx(1 / 4)
    fewer = rows[0][[0, 2]], rows[1][[0, 2]]
    assert updated(UPURisk(**given), [fewer]).compute() == pytest.approx(0, abs=1e-7)
    assert updated(NNPURisk(**given), [fewer]).compute() == pytest.approx(1 / 8)


@pytest.mark.parametrize("purity", [1.0, 0.8])
@pytest.mark.parametrize("target", ["population", "unlabeled"])
@pytest.mark.parametrize("loss", ["sigmoid", "logistic"])
def test_is_the_risk_on_true_classes(rng, purity, target, loss):
    """On many rows, the risk is that of the true classes, for both targets and noisy labels."""
    positive, score, labeled = draw(
        rng, 400_000, prevalence=0.4, label_frequency=0.4, purity=purity, separation=2
    )
    score -= 1
    prior, drawn_purity = positive[~labeled].mean(), positive[labeled].mean()
    metric = UPURisk(prior=prior, purity=drawn_purity, target=target, loss=loss)
    metric.update(torch.as_tensor(score), torch.as_tensor(labeled))
    rows = ~labeled if target == "unlabeled" else np.full(labeled.size, True)
    margin = np.where(positive, score, -score)[rows]
    losses = 1 / (1 + np.exp(margin)) if loss == "sigmoid" else np.log1p(np.exp(-margin))
    assert metric.compute().item() == pytest.approx(losses.mean(), abs=0.006)


def test_the_zero_one_loss_gives_the_corrected_error(rng):
    """A sigmoid loss of huge logits is the zero-one loss."""
    parts = [(1e6 * scores, labels) for scores, labels in batches(rng)]
    for target in ("population", "unlabeled"):
        risk = updated(UPURisk(prior=0.2, target=target), parts).compute()
        error = updated(PUError(prior=0.2, target=target, threshold=0.0), parts).compute()
        assert risk.item() == pytest.approx(error.item(), abs=1e-6)


def test_side_by_side(rng):
    parts = batches(rng)
    together = updated(risk_metrics(prior=0.2, loss="logistic"), parts)
    assert together.compute_groups == {0: ["error", "nnpu_risk", "upu_risk"]}
    values = together.compute()
    assert values["upu_risk"] == updated(UPURisk(prior=0.2, loss="logistic"), parts).compute()
    assert values["error"] == updated(PUError(prior=0.2, threshold=0.0), parts).compute()


@pytest.mark.parametrize("loss", ["sigmoid", "logistic"])
def test_bins_change_the_risk_by_less_than_the_bound(rng, loss):
    parts = [(4 * scores, labels) for scores, labels in batches(rng)]
    given = {"prior": 0.2, "target": "unlabeled", "loss": loss}
    exact = updated(UPURisk(**given), parts).compute().item()
    score, y = joined(parts)
    size = [np.abs(score[y == label]).mean() for label in (0, 1)]
    for bins in (2, 16, 256):
        binned = updated(UPURisk(**given, bins=bins), parts).compute().item()
        assert 0 < abs(binned - exact) <= (size[0] + 2 * 0.2 * size[1]) / bins


def test_probabilities_instead_of_logits_are_said(rng):
    logits = batches(rng)
    probabilities = [(scores.sigmoid(), labels) for scores, labels in logits]
    metrics = risk_metrics(prior=0.2)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        for epoch in (logits, probabilities, probabilities):
            updated(metrics, epoch).compute()
            metrics.reset()
    (warning,) = caught  # in the same words for both risks and epochs
    assert str(warning.message).startswith("risks need logits, but all scores lie in [0, 1]")
    assert warning.filename == __file__
    UPURisk(prior=0.2)(*probabilities[0])  # the value of one batch


def test_unknown_losses():
    with pytest.raises(InputError, match="loss"):
        UPURisk(prior=0.2, loss="hinge")
