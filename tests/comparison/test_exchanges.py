"""Errors of differences by exchanging models: against exchanged rows, and over new samples."""

import warnings

import numpy as np
import pytest
from scipy.stats import binom, norm

from pueval import AssumptionWarning, compare, evaluate
from pueval.comparison import model_exchanges
from pueval.comparison.exchange_tails import LEVELS, NORMAL, ExchangeTails, tail_quantiles
from pueval.comparison.model_exchanges import EXCHANGED, ModelExchanges
from pueval.comparison.paired_estimates import BEST_VALUES
from pueval.comparison.paired_rows import read_paired_rows
from pueval.core.mixture import Mixture
from pueval.sources.labels import LabelValues

NAMES = ("average_precision", *BEST_VALUES)


def draw(rng, separation, *, labeled=75, unlabeled=5000, prior=0.1, purity=1.0, shared=0.0):
    """Two equal models; ``separation`` is the distance of the means of both classes."""
    y = np.repeat([1, 0], [labeled, unlabeled])
    positive = rng.random(y.size) < np.where(y == 1, purity, prior)
    common = np.sqrt(shared) * rng.normal(size=y.size)
    noise = np.sqrt(1 - shared) * rng.normal(size=(2, y.size))
    return y, dict(zip("ab", separation * positive + common + noise, strict=True))


def exchanges_of(y, scores, **options):
    labels = LabelValues(1, 0, options.pop("negative_label", None))
    rows = read_paired_rows(
        y, scores, sample_weight=options.pop("sample_weight", None), labels=labels
    )
    return ModelExchanges.of(rows, 0)


def values(y, score, **given):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssumptionWarning)
        ev = evaluate(y, score, level=None, **given)
    best = (ev.best(name.removeprefix("best_")).unclipped for name in BEST_VALUES)
    return np.array([ev["average_precision"].unclipped, *best])


@pytest.mark.parametrize(
    ("separation", "given"),
    [
        (1.5, {"prior": 0.3}),
        (1.5, {"prior": 0.3, "purity": 0.9}),
        (3.0, {"prior": 0.3, "target": "unlabeled"}),
    ],
)
def test_against_rows_that_are_exchanged(rng, separation, given):
    """Swap the ranks by which two models place a row, in half of the rows, and evaluate again."""
    purity = given.get("purity", 1.0)
    y, scores = draw(rng, separation, labeled=60, unlabeled=190, prior=0.3, purity=purity)
    mixture, target = Mixture(0.3, purity), given.get("target", "population")
    errors = exchanges_of(y, scores).errors(EXCHANGED, mixture, target)
    found = {name: error.standard for name, error in errors.items()}
    ranks = np.array([np.argsort(np.argsort(score)) for score in scores.values()])
    squares = np.zeros(len(NAMES))
    for _ in range(200):
        swap = rng.random(y.size) < 0.5
        first, second = np.where(swap, ranks[::-1], ranks)
        squares += (values(y, first, **given) - values(y, second, **given)) ** 2
    for name, error in zip(NAMES, np.sqrt(squares / 200), strict=True):
        assert found[name][0, 1] == pytest.approx(error, rel=0.2), name
        assert (found[name] == found[name].T).all()
        assert (np.diag(found[name]) == 0).all()


def test_linear_statistics_have_their_variance(rng):
    """The noise of a share has the variance of a mean, exactly where each row is a group."""
    y, scores = draw(rng, 1.5, labeled=60, unlabeled=100)
    exchanges = exchanges_of(y, scores)
    for kind, (label, size) in enumerate([(1, 60), (0, 100)]):
        for model, score in enumerate(scores.values()):
            position = np.array([np.mean(score >= at) for at in score[y == label]])
            reached = position[:, None] <= exchanges.position + 1e-9
            assert exchanges.share[model, kind] == pytest.approx(reached.mean(axis=0))
            found = np.mean(exchanges.noise[model, kind].astype(float) ** 2, axis=0)
            assert found == pytest.approx(reached.var(axis=0, ddof=1) / size, rel=1e-4, abs=1e-9)


@pytest.mark.parametrize("weights", ["frequency", "importance"])
def test_weights(rng, weights):
    y, scores = draw(rng, 1.5, labeled=100, unlabeled=500)
    weight = rng.integers(1, 6, y.size)
    weight = weight if weights == "frequency" else weight / 2
    exchanges = exchanges_of(y, scores, sample_weight=weight)
    for kind, label in enumerate([1, 0]):
        w = weight[y == label]
        for model, score in enumerate(scores.values()):
            reached = np.array(
                [weight[score >= at].sum() / weight.sum() for at in score[y == label]]
            )
            reached = reached[:, None] <= exchanges.position + 1e-9
            mean = w @ reached / w.sum()
            assert exchanges.share[model, kind] == pytest.approx(mean)
            row_variance = w if weights == "frequency" else w**2
            expected = row_variance @ (reached - mean) ** 2 / w.sum() ** 2
            found = np.mean(exchanges.noise[model, kind].astype(float) ** 2, axis=0)
            # Rows are in random groups, unless they are few.
            assert np.sqrt(found.mean()) == pytest.approx(np.sqrt(expected.mean()), rel=0.2)


def test_groups_and_signs():
    numbers = model_exchanges._group_numbers
    assert numbers([10, 0, 0]) == [10, 0, 0]
    assert numbers([75, 5000, 0]) == [75, 180, 0]
    assert numbers([900, 5000, 700]) == [85, 85, 85]
    assert numbers([900, 5000, 5]) == [125, 125, 5]
    assert sum(numbers([10**6] * 3)) < model_exchanges.EXCHANGES


def test_models_on_other_scales(rng):
    """Only the order of the rows counts."""
    y, scores = draw(rng, 1.5, labeled=60, unlabeled=300)
    other = {"a": np.exp(scores["a"]), "b": scores["b"] ** 3}
    one, two = (compare(y, each, prior=0.1).differences("best_f1")[0] for each in (scores, other))
    assert one.standard_error == two.standard_error
    again = compare(y, scores, prior=0.1, seed=1).differences("best_f1")[0]
    assert again.standard_error == pytest.approx(one.standard_error, rel=0.25)
    assert again.standard_error != one.standard_error


def test_good_models_with_few_labels():
    """AUC .9998 and 75 labels: tests rejected equal models in up to 41 of 100 cases."""
    rng, replications = np.random.default_rng(0), 60
    rejected = dict.fromkeys((*NAMES, "roc_auc"), 0)
    for _ in range(replications):
        y, scores = draw(rng, 5.0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", AssumptionWarning)
            found = compare(y, scores, prior=0.1, threshold=2.5)
        for name in rejected:
            rejected[name] += found.differences(name)[0].pvalue < 0.05
    most = binom.ppf(0.9999, replications, 0.06)
    assert max(rejected.values()) <= most, rejected


@pytest.mark.thorough
@pytest.mark.parametrize("separation", [1.5, 3.5])
def test_errors_are_the_spread_over_new_samples(separation):
    rng, replications = np.random.default_rng(1), 200
    differences = np.empty((replications, len(NAMES), 2))
    for k in range(replications):
        y, scores = draw(rng, separation, unlabeled=1000, prior=0.2, purity=0.95, shared=0.5)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", AssumptionWarning)
            found = compare(y, scores, prior=0.2, purity=0.95, threshold=1.0)
        for j, name in enumerate(NAMES):
            [pair] = found.differences(name)
            differences[k, j] = pair.value, pair.standard_error
    spread = differences[:, :, 0].std(axis=0)
    error = np.sqrt(np.mean(differences[:, :, 1] ** 2, axis=0))
    # The spread of 200 samples is known within about 5 %, that of average precisions near 1 less.
    assert error / spread == pytest.approx(np.ones(len(NAMES)), abs=0.25)


# ---------------------------------------------------------------------- tails


def test_critical_values_and_scores_are_inverse(rng):
    first, second = np.array([0, 0, 1]), np.array([1, 2, 2])
    quantile = np.zeros((NORMAL.size, 3, 3))
    for a, b, spread in zip(first, second, (0.9, 1.0, 1.3), strict=True):
        draws = np.abs(rng.standard_normal(256)) ** spread
        error = np.sqrt(np.mean(draws**2))
        quantile[:, a, b] = tail_quantiles(draws, error, 0.5)
        mean = (np.quantile(draws / error, 1 - LEVELS) + norm.isf(LEVELS / 2)) / 2
        assert quantile[1:, a, b] == pytest.approx(mean)
    tails = ExchangeTails(quantile)
    for normal in (0.3, 1.645, 1.96, 2.2, 3.0, 5.0):
        critical = tails.critical_values(normal, first, second)
        assert tails.normal_scores(critical, first, second) == pytest.approx(np.full(3, normal))
        assert tails.normal_scores(-critical, first, second) == pytest.approx(np.full(3, -normal))
    knots = tails.critical_values(float(NORMAL[4]), first, second)
    assert knots == pytest.approx(quantile[4, first, second])


def test_tails_of_few_errors_rise_and_of_none_are_normal():
    """Five values only: quantiles are equal, but critical values are not."""
    found = tail_quantiles(np.repeat([-1.0, 0.0, 1.0], [100, 56, 100]), 0.9, 0.5)
    assert (np.diff(found) > 0).all()
    assert (tail_quantiles(np.zeros(256), 0.0, 0.5) == NORMAL).all()


def test_intervals_agree_with_tests(rng):
    """An interval at level 1 − p has 0 at one of its ends; average precisions have wider ones."""
    y, scores = draw(rng, 3.0, unlabeled=800)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssumptionWarning)
        found = compare(y, scores, prior=0.1, threshold=1.5)
        for name in NAMES:
            [pair] = found.differences(name)
            assert 0.001 < pair.pvalue < 0.999, name
            exact = compare(y, scores, prior=0.1, threshold=1.5, level=1 - pair.pvalue)
            [pair] = exact.differences(name)
            nearest = min(-pair.low, pair.high)
            widest = 0.1 * (pair.high - pair.low) if name == "average_precision" else 1e-6
            assert -1e-6 < nearest < widest, name


def test_differences_of_few_errors_have_short_tails(rng):
    """Best balanced accuracies of good models: normal tests rejected .034 of equal models."""
    ratios = []
    for _ in range(6):
        y, scores = draw(rng, 4.0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", AssumptionWarning)
            [pair] = compare(y, scores, prior=0.1, threshold=2.0).differences(
                "best_balanced_accuracy"
            )
        ratios.append((pair.high - pair.low) / 2 / pair.standard_error)
    assert 1.7 < np.mean(ratios) < 1.945


def test_models_that_look_perfect_are_not_equal_for_sure(rng):
    """Both rank all labeled rows first; only the same model twice has no error."""
    y = (np.arange(1500) < 60).astype(int)
    background = rng.normal(size=(2, 1500))
    first, second = np.where(y, 5 + rng.random((2, 1500)), background)
    scores = {"a": first, "b": second, "again": first}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssumptionWarning)
        found = compare(y, scores, prior=0.3, purity=0.9).differences("average_precision")
    pairs = {(pair.first, pair.second): pair for pair in found}
    for names in (("a", "b"), ("b", "again")):
        assert pairs[names].value == 0
        assert pairs[names].pvalue == 1
        assert 0.002 < pairs[names].high < 0.02
        assert pairs[names].low == pytest.approx(-pairs[names].high)
    assert pairs["a", "again"].high == pairs["a", "again"].low == 0
