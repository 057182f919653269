"""Recalibration: scikit-learn's maps without correction, and the truth with it."""

import numpy as np
import pytest
from scipy.special import expit, logit
from scipy.stats import beta
from sklearn.base import clone
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss
from sklearn.model_selection import StratifiedKFold
from sklearn.utils.estimator_checks import parametrize_with_checks

from pueval import AssumptionWarning, InputError, evaluate
from pueval.calibration import Recalibrator

METHODS = ["isotonic", "beta", "logistic"]


def draw(n, *, seed=0, digits=None):
    """Draw Beta(4, 2) scores of positives and Beta(2, 4) scores of negatives: not calibrated."""
    rng = np.random.default_rng(seed)
    positive = rng.random(n) < 0.3
    score = np.where(positive, rng.beta(4, 2, n), rng.beta(2, 4, n))
    labeled = positive & (rng.random(n) < 0.3)
    return positive, labeled, score if digits is None else score.round(digits)


def true_probability(score, prevalence=0.3):
    positive, negative = beta.pdf(score, 4, 2), beta.pdf(score, 2, 4)
    return prevalence * positive / (prevalence * positive + (1 - prevalence) * negative)


@pytest.mark.parametrize("digits", [None, 1])
@pytest.mark.parametrize("weighted", [False, True])
def test_without_correction_it_is_isotonic_regression(digits, weighted):
    positive, _, score = draw(700, digits=digits)
    weight = np.random.default_rng(1).random(700) + 0.5 if weighted else None
    model = IsotonicRegression(out_of_bounds="clip").fit(score, positive, sample_weight=weight)
    found = Recalibrator(prior=0).fit(score, positive, sample_weight=weight)
    new = np.linspace(-0.5, 1.5, 301)
    np.testing.assert_allclose(found.transform(new), model.predict(new), atol=1e-12)
    np.testing.assert_allclose(found.predict_proba(new).sum(axis=1), 1)
    assert found.prevalence_ == pytest.approx(np.average(positive, weights=weight))


def test_with_clean_labels_it_is_isotonic_regression_of_label_over_frequency():
    _, labeled, score = draw(700)
    found = Recalibrator(label_frequency=0.3).fit(score, labeled)
    model = IsotonicRegression(out_of_bounds="clip").fit(score, labeled / 0.3)
    new = np.linspace(0, 1, 301)
    # Knots are interpolated before or after clipping; at the scores both are the same.
    np.testing.assert_allclose(
        found.transform(score), np.clip(model.predict(score), 0, 1), atol=1e-12
    )
    assert (np.diff(found.transform(new)) >= 0).all()


def test_without_correction_the_others_are_logistic_regressions():
    positive, _, score = draw(3000)
    new = np.linspace(0.01, 0.99, 50)
    for method, features in (
        ("logistic", lambda s: logit(s)[:, None]),
        ("beta", lambda s: np.stack([np.log(s), -np.log1p(-s)], axis=1)),
    ):
        model = LogisticRegression(C=np.inf, tol=1e-12, max_iter=1000)
        model.fit(features(score), positive)
        assert (model.coef_ > 0).all()
        found = Recalibrator(method, prior=0).fit(score, positive)
        np.testing.assert_allclose(
            found.transform(new), model.predict_proba(features(new))[:, 1], atol=1e-4
        )
    # Scores of any scale are used as they are.
    model = LogisticRegression(C=np.inf, tol=1e-12).fit(10 * score[:, None], positive)
    found = Recalibrator("logistic", prior=0).fit(10 * score, positive)
    np.testing.assert_allclose(
        found.transform(10 * new), model.predict_proba(10 * new[:, None])[:, 1], atol=1e-4
    )


@pytest.mark.parametrize("target", ["population", "unlabeled"])
@pytest.mark.parametrize("purity", [1.0, 0.95])
def test_the_logistic_map_is_the_calibration_line(target, purity):
    _, labeled, score = draw(2000)
    ev = evaluate(labeled, score, prior=0.2, purity=purity, target=target, level=None)
    line = ev.calibration()
    found = Recalibrator("logistic", prior=0.2, purity=purity, target=target).fit(score, labeled)
    expected = expit(line.intercept.value + line.slope.value * logit(score))
    np.testing.assert_allclose(found.transform(score), expected, atol=1e-5)


@pytest.mark.parametrize("method", METHODS)
def test_hidden_positives_are_recovered(method):
    """Better than the raw scores and than a map that takes unlabeled rows as negatives."""
    _, labeled, score = draw(60_000, seed=4)
    new_positive, _, new = draw(20_000, seed=1)
    found = Recalibrator(method, prevalence=0.3).fit(score, labeled).transform(new)
    naive = Recalibrator(method, prior=0).fit(score, labeled).transform(new)
    losses = [brier_score_loss(new_positive, p) for p in (found, naive)]
    ideal = brier_score_loss(new_positive, true_probability(new))
    assert losses[0] < ideal + 0.002
    assert losses[0] < brier_score_loss(new_positive, new) - 0.005
    assert losses[0] < losses[1] - 0.05
    np.testing.assert_allclose(found.mean(), 0.3, atol=0.02)
    inside = np.clip(found, 0.01, 0.99)
    line = LogisticRegression(C=np.inf).fit(logit(inside)[:, None], new_positive)
    assert line.coef_[0, 0] == pytest.approx(1, abs=0.12)
    assert found.min() >= 0
    assert found.max() <= 1


@pytest.mark.parametrize("method", METHODS)
def test_noisy_labels_known_negatives_and_the_unlabeled_target(method):
    positive, labeled, score = draw(60_000, seed=3)
    rng = np.random.default_rng(4)
    noise = ~positive & (rng.random(60_000) < 0.02)
    y = np.where(labeled | noise, 1, 0)
    negative = (y == 0) & ~positive & (rng.random(60_000) < 0.1)
    y[negative] = 2
    purity, prior = positive[y == 1].mean(), positive[y == 0].mean()
    made = Recalibrator(method, prior=prior, purity=purity, negative_label=2).fit(score, y)
    new = np.array([0.2, 0.4, 0.6, 0.8])
    np.testing.assert_allclose(made.transform(new), true_probability(new), atol=0.07)
    hidden = Recalibrator(method, prior=positive[~labeled].mean(), target="unlabeled")
    expected = true_probability(new, positive[~labeled].mean())
    np.testing.assert_allclose(hidden.fit(score, labeled).transform(new), expected, atol=0.07)


def test_no_probability_knows_its_own_label():
    _, labeled, score = draw(300)
    made = Recalibrator(prior=0.2, cv=3, random_state=5)
    found = made.cross_fitted(score, labeled)
    expected = np.empty(300)
    for train, test in StratifiedKFold(3, shuffle=True, random_state=5).split(score, labeled):
        expected[test] = clone(made).fit(score[train], labeled[train]).transform(score[test])
    np.testing.assert_array_equal(found, expected)
    assert not hasattr(made, "prior_")
    # In-sample, noise looks like a signal; out-of-fold it does not.
    rng = np.random.default_rng(0)
    positive, noise = rng.random(1000) < 0.3, rng.random(1000)
    in_sample = Recalibrator(prior=0).fit_transform(noise, positive)
    constant = brier_score_loss(positive, np.full(1000, positive.mean()))
    assert brier_score_loss(positive, in_sample) < constant - 0.001
    assert (
        brier_score_loss(positive, Recalibrator(prior=0).cross_fitted(noise, positive)) > constant
    )


def test_the_prior_is_estimated_without_one():
    _, labeled, score = draw(5000)
    found = Recalibrator("logistic").fit(score, labeled)
    assert 0.1 < found.prior_ < 0.35


def test_reversed_scores_are_noticed():
    _, labeled, score = draw(2000)
    for method in METHODS:
        with pytest.warns(AssumptionWarning, match="Check that high scores mean positive"):
            found = Recalibrator(method, prior=0.1).fit(1 - score, labeled)
        assert np.ptp(found.transform([0.2, 0.8])) < 0.05


def test_mistakes_are_named():
    _, labeled, score = draw(200)
    with pytest.raises(InputError, match="give at most one of prior, prevalence and label_freq"):
        Recalibrator(prior=0.1, prevalence=0.3).fit(score, labeled)
    with pytest.raises(InputError, match="method must be"):
        Recalibrator("platt", prior=0.1).fit(score, labeled)
    with pytest.raises(InputError, match="needs scores in \\[0, 1\\] here; got"):
        Recalibrator("beta", prior=0.1).fit(3 * score, labeled)
    fitted = Recalibrator("logistic", prior=0.1).fit(score, labeled)
    with pytest.raises(InputError, match="needs scores in \\[0, 1\\] here; got 2 to 2"):
        fitted.transform([2.0])
    with pytest.raises(InputError, match="works on one score"):
        Recalibrator(prior=0.1).fit(np.column_stack([score, score]), labeled)
    with pytest.raises(InputError, match="cv must be at most"):
        Recalibrator(prior=0.1, cv=5).cross_fitted(score[:6], [1, 1, 0, 0, 0, 0])
    with pytest.raises(InputError, match="pueval.calibration.Recalibrator"):
        evaluate(labeled, 3 * score, prior=0.1, level=None).calibration()


class FirstColumn(Recalibrator):
    """Takes the first column as the score, for checks that fit several columns."""

    @staticmethod
    def _as_column(X):
        return X

    def _one_column(self, X):
        return X[:, 0].astype(float)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.one_d_array = False
        return tags


LABELS = dict.fromkeys(
    [
        "check_estimators_dtypes",
        "check_sample_weights_pandas_series",
        "check_sample_weights_not_an_array",
        "check_sample_weights_shape",
        "check_sample_weights_not_overwritten",
    ],
    "fits with y of three values; y must be 0 and 1",
) | {"check_fit2d_1feature": "fits with y of one value only; y must be 0 and 1, both present"}


@pytest.mark.filterwarnings("ignore::pueval.errors.AssumptionWarning")
@parametrize_with_checks(
    [FirstColumn(method, prior=0.1) for method in ("isotonic", "logistic")],
    expected_failed_checks=lambda _: LABELS,
)
def test_check(estimator, check):
    check(estimator)


def test_scores_of_a_network():
    torch = pytest.importorskip("torch", reason="needs PyTorch: make torch")
    _, labeled, score = draw(500)
    weight = np.random.default_rng(1).random(500).astype(np.float32) + 0.5
    leaf = torch.tensor(score.astype(np.float32), requires_grad=True)
    y, weights = torch.tensor(labeled), torch.tensor(weight, requires_grad=True)
    for tensor in (leaf, leaf[:, None] * 1, leaf.bfloat16()):
        array = tensor.detach().float().numpy()
        of_tensors, of_arrays = Recalibrator(prior=0.2), Recalibrator(prior=0.2)
        of_tensors.fit(tensor, y, sample_weight=weights)
        of_arrays.fit(array, labeled, sample_weight=weight)
        np.testing.assert_array_equal(of_tensors.transform(tensor), of_arrays.transform(array))
        np.testing.assert_array_equal(
            of_tensors.cross_fitted(tensor, y, sample_weight=weights),
            of_arrays.cross_fitted(array, labeled, sample_weight=weight),
        )


def test_other_labels():
    _, labeled, score = draw(500)
    expected = Recalibrator(prior=0.2).fit(score, labeled)
    folds = Recalibrator(prior=0.2).cross_fitted(score, labeled)
    for positive, unlabeled in (("yes", "no"), (1, -1)):
        y = np.where(labeled, positive, unlabeled)
        given = {"pos_label": positive, "unlabeled_label": unlabeled}
        found = Recalibrator(prior=0.2, **given).fit(score, y)
        np.testing.assert_array_equal(found.transform(score), expected.transform(score))
        # Folds are drawn by label, in their order.
        cross_fitted = Recalibrator(prior=0.2, **given).cross_fitted(score, y)
        np.testing.assert_allclose(cross_fitted.mean(), folds.mean(), rtol=0.02)
    with pytest.raises(InputError, match="Pass unlabeled_label=-1"):
        Recalibrator(prior=0.2).fit(score, np.where(labeled, 1, -1))
