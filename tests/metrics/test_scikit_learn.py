"""Without a correction every number is scikit-learn's, ties and weights included."""

import numpy as np
import pandas as pd
import pytest
from sklearn import metrics as sk

from pueval import Counts, InputError, evaluate, metrics

CASES = {
    "continuous": {"decimals": 9},
    "ties": {"decimals": 1},
    "two scores": {"decimals": 0},
}
PREDICTION = {
    "accuracy_score": sk.accuracy_score,
    "balanced_accuracy_score": sk.balanced_accuracy_score,
    "precision_score": sk.precision_score,
    "recall_score": sk.recall_score,
    "f1_score": sk.f1_score,
    "matthews_corrcoef": sk.matthews_corrcoef,
    "jaccard_score": sk.jaccard_score,
    "cohen_kappa_score": sk.cohen_kappa_score,
}
EVALUATION = {
    "accuracy": sk.accuracy_score,
    "balanced_accuracy": sk.balanced_accuracy_score,
    "precision": sk.precision_score,
    "recall": sk.recall_score,
    "f1": sk.f1_score,
    "matthews_corrcoef": sk.matthews_corrcoef,
    "jaccard": sk.jaccard_score,
    "cohen_kappa": sk.cohen_kappa_score,
}


def data(decimals, weighted, seed=0):
    rng = np.random.default_rng(seed)
    y = (rng.random(800) < 0.3).astype(int)
    score = np.round(rng.normal(size=800) + y, decimals)
    weight = rng.exponential(size=800) if weighted else None
    return y, score, weight


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("case", CASES)
class TestEqual:
    def test_predictions(self, case, weighted):
        y, score, weight = data(**CASES[case], weighted=weighted)
        predicted = (score >= 0.6).astype(int)
        for name, theirs in PREDICTION.items():
            ours = getattr(metrics, name)(y, predicted, prior=0.0, sample_weight=weight)
            assert ours == pytest.approx(theirs(y, predicted, sample_weight=weight), abs=1e-12), (
                name
            )

    def test_fbeta_confusion_matrix_and_likelihood_ratios(self, case, weighted):
        y, score, weight = data(**CASES[case], weighted=weighted)
        predicted = (score >= 0.6).astype(int)
        given = {"sample_weight": weight}
        assert metrics.fbeta_score(y, predicted, beta=0.5, prior=0.0, **given) == pytest.approx(
            sk.fbeta_score(y, predicted, beta=0.5, **given), abs=1e-12
        )
        for normalize in (None, "true", "pred", "all"):
            np.testing.assert_allclose(
                metrics.confusion_matrix(y, predicted, prior=0.0, normalize=normalize, **given),
                sk.confusion_matrix(y, predicted, normalize=normalize, **given),
                atol=1e-10,
            )
        np.testing.assert_allclose(
            metrics.class_likelihood_ratios(y, predicted, prior=0.0, **given),
            sk.class_likelihood_ratios(y, predicted, **given),
            rtol=1e-12,
        )

    def test_areas(self, case, weighted):
        y, score, weight = data(**CASES[case], weighted=weighted)
        given = {"sample_weight": weight}
        for method in ("direct", "indirect"):
            assert metrics.roc_auc_score(
                y, score, prior=0.0, method=method, **given
            ) == pytest.approx(sk.roc_auc_score(y, score, **given), abs=1e-12)
        assert metrics.average_precision_score(y, score, prior=0.0, **given) == pytest.approx(
            sk.average_precision_score(y, score, **given), abs=1e-12
        )

    def test_curves(self, case, weighted):
        y, score, weight = data(**CASES[case], weighted=weighted)
        given = {"sample_weight": weight}
        ours = metrics.roc_curve(y, score, prior=0.0, drop_intermediate=False, **given)
        theirs = sk.roc_curve(y, score, drop_intermediate=False, **given)
        for mine, other in zip(ours, theirs, strict=True):
            np.testing.assert_allclose(mine, other, atol=1e-12)
        ours = metrics.precision_recall_curve(y, score, prior=0.0, **given)
        theirs = sk.precision_recall_curve(y, score, **given)
        for mine, other in zip(ours, theirs, strict=True):
            np.testing.assert_allclose(mine, other, atol=1e-12)

    def test_corners_are_the_same_curve(self, case, weighted):
        y, score, weight = data(**CASES[case], weighted=weighted)
        fpr, tpr, _ = metrics.roc_curve(y, score, prior=0.0, sample_weight=weight)
        all_fpr, all_tpr, _ = sk.roc_curve(y, score, sample_weight=weight)
        assert np.trapezoid(tpr, fpr) == pytest.approx(np.trapezoid(all_tpr, all_fpr), abs=1e-12)
        # Every corner of the one lies on the other.
        inside = np.linspace(0.0123, 0.9876, 301)
        np.testing.assert_allclose(
            np.interp(inside, fpr, tpr), np.interp(inside, all_fpr, all_tpr), atol=1e-9
        )

    def test_evaluation(self, case, weighted):
        y, score, weight = data(**CASES[case], weighted=weighted)
        ev = evaluate(y, score, prior=0.0, sample_weight=weight, threshold=0.6)
        self.compare(ev, y, score, weight)

    def test_all_rows_known(self, case, weighted):
        y, score, weight = data(**CASES[case], weighted=weighted)
        counts = Counts.from_arrays(
            y, score, sample_weight=weight, unlabeled_label=None, negative_label=0
        )
        assert counts.n_unlabeled == 0
        self.compare(evaluate(counts, threshold=0.6), y, score, weight)

    @staticmethod
    def compare(ev, y, score, weight):
        given = {"sample_weight": weight}
        for name, theirs in EVALUATION.items():
            expected = theirs(y, score >= 0.6, **given)
            assert ev[name].value == pytest.approx(expected, abs=1e-12), name
            assert ev[name].naive == pytest.approx(expected, abs=1e-12), name
        assert ev["specificity"].value == pytest.approx(
            sk.recall_score(y, score >= 0.6, pos_label=0, **given), abs=1e-12
        )
        assert ev["roc_auc"].value == pytest.approx(sk.roc_auc_score(y, score, **given), abs=1e-12)
        assert ev["average_precision"].value == pytest.approx(
            sk.average_precision_score(y, score, **given), abs=1e-12
        )


def test_best_is_the_best_of_all_thresholds():
    y, score, _ = data(decimals=1, weighted=False)
    ev = evaluate(y, score, prior=0.0)
    for name, theirs in EVALUATION.items():
        values = {t: theirs(y, score >= t, **quiet(theirs)) for t in [*np.unique(score), np.inf]}
        best = ev.best(name)
        assert best.value == pytest.approx(max(values.values()), abs=1e-12), name
        assert values[best.threshold] == pytest.approx(best.value, abs=1e-12), name


def quiet(function):
    """Undefined values are not the matter here."""
    return {"zero_division": 0.0} if function is sk.precision_score else {}


def test_zero_division():
    y, nothing = [1, 0, 0, 1], [0, 0, 0, 0]
    from pueval import UndefinedMeasureWarning

    with pytest.warns(UndefinedMeasureWarning, match="precision is undefined"):
        assert metrics.precision_score(y, nothing, prior=0.0) == 0.0
    assert metrics.precision_score(y, nothing, prior=0.0, zero_division=1.0) == 1.0
    assert np.isnan(metrics.precision_score(y, nothing, prior=0.0, zero_division=np.nan))
    assert metrics.f1_score(y, nothing, prior=0.0) == sk.f1_score(y, nothing)
    for value in (0.0, 1.0):
        assert metrics.precision_score(
            y, nothing, prior=0.0, zero_division=value
        ) == sk.precision_score(y, nothing, zero_division=value)


@pytest.mark.parametrize("dtype", [float, np.float32, np.float16, int, bool, "Int64", "boolean"])
@pytest.mark.parametrize("name", ["log_loss", "d2_log_loss_score"])
def test_predicted_classes_are_moved_inside_by_their_own_precision(name, dtype):
    y, score, _ = data(9, weighted=False)
    if isinstance(dtype, str):
        predicted = pd.Series(score > 0.6).astype(dtype)
        expected = getattr(sk, name)(y, (score > 0.6).astype(float))
    else:
        predicted = (score > 0.6).astype(dtype)
        expected = getattr(sk, name)(y, predicted)
    found = getattr(metrics, name)(y, predicted, prior=0.0)
    # scikit-learn adds numbers of its own type.
    assert found == pytest.approx(expected, rel=5e-3 if dtype is np.float16 else 1e-6)


@pytest.mark.filterwarnings("ignore:scores are float16")
def test_tensors_of_half_precision_have_its_precision():
    torch = pytest.importorskip("torch", reason="needs PyTorch: make torch")
    y, score, _ = data(9, weighted=False)
    predicted = (score > 0.6).astype(np.float16)
    loss = metrics.log_loss(y, predicted, prior=0.0)
    assert metrics.log_loss(torch.tensor(y), torch.tensor(predicted), prior=0.0) == loss


def test_log_loss_refuses_what_are_no_probabilities():
    for wrong in ([2, 0, 0], [True, False, None]):
        with pytest.raises(InputError):
            metrics.log_loss([1, 0, 0], wrong, prior=0.1)
    frame = pd.DataFrame({"y": [1, 0, 0], "class": [1, 0, 1]})
    with pytest.raises(InputError, match="different orders"):
        metrics.log_loss(frame["y"], frame["class"][::-1], prior=0.1)


def test_max_fpr_may_be_1():
    y, score, _ = data(9, weighted=False)
    whole = metrics.roc_auc_score(y, score, prior=0.0)
    assert metrics.roc_auc_score(y, score, prior=0.0, max_fpr=1) == whole
    for wrong in (0, 2):
        with pytest.raises(InputError, match=r"max_fpr must be in \(0, 1\]; got"):
            metrics.roc_auc_score(y, score, prior=0.0, max_fpr=wrong)
