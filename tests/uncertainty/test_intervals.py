"""Intervals: DeLong's variance and the bootstrap of counts."""

import math
import warnings

import numpy as np
import pytest

from pueval import AssumptionWarning, Counts, InputError, evaluate
from pueval.metrics import delong_standard_error as plain_error
from pueval.uncertainty.delong import delong_standard_error
from pueval.uncertainty.holm import holm
from tests.conftest import draw


def delong_by_pairs(labeled, others):
    """DeLong's standard error from all pairs of rows; each kind has one more, placed anywhere."""
    kernel = (labeled[:, None] > others).astype(float) + 0.5 * (labeled[:, None] == others)
    anywhere = (np.arange(20_000) + 0.5) / 20_000
    variance = 0.0
    for placement in (kernel.mean(axis=1), kernel.mean(axis=0)):
        values = np.concatenate([placement, anywhere])
        weight = np.concatenate([np.ones(placement.size), np.full(20_000, 1 / 20_000)])
        mean = np.average(values, weights=weight)
        variance += np.average((values - mean) ** 2, weights=weight) / placement.size
    return math.sqrt(variance)


@pytest.mark.parametrize("decimals", [0, 1, 9])
def test_delong_against_all_pairs(rng, decimals):
    _, score, labeled = draw(rng, 800, prevalence=0.3, label_frequency=0.5)
    score = np.round(score, decimals)
    counts = Counts.from_arrays(labeled, score)
    expected = delong_by_pairs(score[labeled], score[~labeled])
    assert delong_standard_error(
        counts, counts._roc_corners(), pseudo_observation=True
    ) == pytest.approx(expected, abs=1e-9)
    ev = evaluate(counts, prior=0.0, n_resamples=10)
    assert ev["roc_auc"].standard_error == pytest.approx(expected, abs=1e-9)
    corrected = evaluate(counts, prior=0.1, purity=0.95, n_resamples=10)
    assert corrected["roc_auc"].standard_error == pytest.approx(expected / 0.85, abs=1e-9)


@pytest.mark.parametrize("decimals", [0, 1, 9])
def test_the_plain_standard_error_of_delong(rng, decimals):
    """Without pseudo-observations: sample variances of placements, as in other programs."""
    _, score, labeled = draw(rng, 150, prevalence=0.3, label_frequency=0.5)
    score = np.round(score, decimals)
    first, second = score[labeled][:, None], score[~labeled]
    kernel = (first > second) + 0.5 * (first == second)
    expected = math.sqrt(
        sum(np.var(kernel.mean(axis=k), ddof=1) / kernel.shape[1 - k] for k in (0, 1))
    )
    assert plain_error(labeled, score, prior=0.0) == pytest.approx(expected, abs=1e-12)
    found = plain_error(labeled, score, prior=0.1, purity=0.95)
    assert found == pytest.approx(expected / 0.85, abs=1e-12)
    assert plain_error([1, 1, 0, 0, 0], [5, 4, 3, 2, 1], prior=0.0) == 0
    assert math.isnan(plain_error([1, 0, 0], [3, 2, 1], prior=0.0))


def test_delong_with_known_negatives(rng):
    """Unlabeled and negative rows are samples of their own: against rows drawn again."""
    y = np.repeat([1, 0, 2], [80, 300, 100])
    score = rng.normal(size=480) + np.repeat([1.5, 0.4, 0.0], [80, 300, 100])
    counts = Counts.from_arrays(y, score, negative_label=2)
    aucs = []
    for _ in range(800):
        rows = np.concatenate(
            [rng.choice(np.flatnonzero(y == k), (y == k).sum()) for k in (1, 0, 2)]
        )
        kernel = score[rows[:80], None] > score[rows[80:]]
        ties = score[rows[:80], None] == score[rows[80:]]
        aucs.append(kernel.mean() + ties.mean() / 2)
    assert delong_standard_error(
        counts, counts._roc_corners(), pseudo_observation=True
    ) == pytest.approx(np.std(aucs), rel=0.1)


@pytest.mark.parametrize("target", ["population", "unlabeled"])
@pytest.mark.parametrize("n", [400, 4000])
def test_standard_errors_are_those_of_rows_drawn_again(rng, target, n):
    """The bootstrap of counts against the slow bootstrap of rows."""
    _, score, labeled = draw(rng, n, prevalence=0.4, label_frequency=0.4, purity=0.9)
    given = {"prior": 0.25, "purity": 0.9, "target": target, "threshold": 0.8}
    ev = evaluate(labeled, score, **given)
    names = ("f1", "accuracy", "precision", "matthews_corrcoef", "average_precision")
    values = {name: [] for name in names}
    kinds = [np.flatnonzero(labeled), np.flatnonzero(~labeled)]
    for _ in range(400):
        rows = np.concatenate([rng.choice(kind, kind.size) for kind in kinds])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", AssumptionWarning)
            again = evaluate(labeled[rows], score[rows], level=None, **given)
        for name in names:
            values[name].append(again[name].value)
    for name in names:
        if max(values[name]) < 1:  # clipped values spread less
            assert ev[name].standard_error == pytest.approx(np.std(values[name]), rel=0.15), name


class TestEvaluation:
    @pytest.fixture
    def rows(self, rng):
        _, score, labeled = draw(rng, 3000, prevalence=0.3, label_frequency=0.4)
        return labeled, score

    def test_seed_and_level(self, rows):
        one, same, other = (evaluate(*rows, prior=0.2, seed=seed)["f1"] for seed in (1, 1, 2))
        assert one == same
        assert one.low != other.low
        assert one.low == pytest.approx(other.low, abs=0.01)
        wide = evaluate(*rows, prior=0.2, level=0.99)
        narrow = evaluate(*rows, prior=0.2, level=0.8)
        for name in wide:
            if not math.isnan(narrow[name].low):
                assert wide[name].low <= narrow[name].low <= narrow[name].high <= wide[name].high

    def test_without(self, rows):
        ev = evaluate(*rows, prior=0.2, level=None)
        with_limits = evaluate(*rows, prior=0.2)
        assert ev.resampling is None
        assert all(math.isnan(ev[name].low) for name in ev)
        assert math.isnan(ev.best("f1").high)
        assert {n: ev[n].value for n in ev} == {n: with_limits[n].value for n in ev}
        assert "limits" not in repr(ev)
        assert ev.to_dict()["intervals"] is None

    def test_other_thresholds(self, rows):
        ev = evaluate(*rows, prior=0.2)
        point = ev.at(1.0)
        assert point["recall"].low < point["recall"].value < point["recall"].high
        assert point["f1"] == evaluate(*rows, prior=0.2, threshold=1.0)["f1"]
        assert math.isnan(ev.at(1e9)["precision"].low)  # nothing is predicted positive
        assert ev["f2"].low < ev["f2"].value < ev["f2"].high

    def test_best_takes_the_excess_off(self, rng):
        """With few labeled rows the best value is too good; its limits know."""
        _, score, labeled = draw(rng, 600, prevalence=0.4, label_frequency=0.2, separation=0.7)
        best = evaluate(labeled, score, prior=0.2).best("matthews_corrcoef")
        assert best.low < best.high
        assert (best.low + best.high) / 2 < best.value
        smallest = evaluate(labeled, score, prior=0.2).best("negative_likelihood_ratio")
        assert (smallest.low + smallest.high) / 2 >= smallest.value

    def test_more_rows_give_narrower_limits(self, rng):
        widths = []
        for n in (2000, 200_000):
            _, score, labeled = draw(rng, n, prevalence=0.3, label_frequency=0.4)
            f1 = evaluate(labeled, score, prior=0.2, threshold=1.0)["f1"]
            widths.append(f1.high - f1.low)
        assert widths[0] / widths[1] == pytest.approx(10, rel=0.3)

    def test_weights_count_as_their_effective_number(self, rng):
        _, score, labeled = draw(rng, 3000, prevalence=0.3, label_frequency=0.4)
        plain = evaluate(labeled, score, prior=0.2)["recall"].standard_error
        weight = rng.exponential(size=3000)  # half as many effective rows
        weighted = evaluate(labeled, score, prior=0.2, sample_weight=weight)[
            "recall"
        ].standard_error
        assert weighted / plain == pytest.approx(math.sqrt(2), rel=0.15)

    def test_one_labeled_row(self):
        with pytest.warns(AssumptionWarning):
            ev = evaluate([1, 0, 0, 0], [4, 3, 2, 1], prior=0.1)
        assert math.isnan(ev["roc_auc"].low)

    def test_bad_input(self, rows):
        for level in (0, 1, 1.5, -0.1):
            with pytest.raises(InputError, match=r"level must be a number in \(0, 1\)"):
                evaluate(*rows, prior=0.2, level=level)
        for n_resamples in (0, 1):
            with pytest.raises(InputError, match="n_resamples must be at least 2"):
                evaluate(*rows, prior=0.2, n_resamples=n_resamples)
        with pytest.raises(InputError, match="n_resamples must be a whole number"):
            evaluate(*rows, prior=0.2, n_resamples=2.5)
        for wrong, message in (
            ({"variance": "both"}, "variance must be"),
            ({"n_resamples": 2.5}, "n_resamples must be"),
            ({"seed": -1}, "seed must be"),
        ):
            with pytest.raises(InputError, match=message):
                evaluate(*rows, prior=0.2, level=None, **wrong)


def test_limits_of_ratios(rng):
    """Likelihood ratios have no upper end: their limits are quantiles, and may be infinite."""
    _, score, labeled = draw(rng, 3000, prevalence=0.3, label_frequency=0.4)
    ratio = evaluate(labeled, score, prior=0.2, threshold=1.0)["positive_likelihood_ratio"]
    assert 0 < ratio.low < ratio.value < ratio.high < 3 * ratio.value
    # Of few false positives there may be none at all.
    far = evaluate(labeled, score, prior=0.2, threshold=3.2)["positive_likelihood_ratio"]
    assert far.low > 0
    assert math.isinf(far.high) or far.high > 2 * far.value


def test_limits_depend_on_the_rows_only(rng):
    """Not on batches, or on whether rows were counted before."""
    _, score, labeled = draw(rng, 3000, prevalence=0.3, label_frequency=0.4)
    score = np.round(score, 2)
    whole = Counts.from_arrays(labeled, score)
    limits = evaluate(whole, prior=0.2)["f1"]
    batches = [Counts.from_arrays(labeled[k::3], score[k::3]) for k in range(3)]
    table = Counts.from_table(whole.score, whole.labeled, whole.unlabeled)
    for other in (sum(batches), sum(batches[::-1]), table):
        assert evaluate(other, prior=0.2)["f1"] == limits


def test_holm():
    pvalues = np.array([0.04, 0.01, np.nan, 0.03, 0.5])
    assert holm(pvalues) == pytest.approx([0.09, 0.04, np.nan, 0.09, 0.5], nan_ok=True)
    pvalues = np.array([0.01, np.nan, 0.04, 0.03, 0.005])
    assert holm(pvalues) == pytest.approx([0.03, np.nan, 0.06, 0.06, 0.02], nan_ok=True)
    assert holm(np.array([0.6, 0.7])) == pytest.approx([1.0, 1.0])


@pytest.mark.thorough
@pytest.mark.parametrize(("purity", "frequency"), [(1.0, 0.85), (0.9, 0.7)])
def test_a_prevalence_leaves_the_prior_to_the_number_of_labels(purity, frequency):
    """Its standard errors are the spread over samples in which more or fewer were labeled."""
    truth, threshold, names = 0.3, 1.2, ("false_positive_rate", "precision", "roc_auc")
    values, errors = {name: [] for name in names}, {name: [] for name in names}
    for seed in range(120):
        rng = np.random.default_rng(seed)
        _, score, y = draw(
            rng, 2000, prevalence=truth, label_frequency=frequency, purity=purity, separation=2
        )
        given = {"prevalence": truth, "purity": purity, "threshold": threshold}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", AssumptionWarning)
            ev = evaluate(y, score, n_resamples=100, seed=seed, **given)
        for name in names:
            values[name].append(ev[name].value)
            errors[name].append(ev[name].standard_error)
    for name in names:
        # Well below 1 for some of them if there were always as many labels.
        ratio = np.mean(errors[name]) / np.std(values[name], ddof=1)
        assert 0.93 < ratio < 1.25, name
