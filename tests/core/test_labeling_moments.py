"""Tabatabaei et al. (2020): the random choice of labels, enumerated and simulated."""

from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from pueval import Counts, InputError, compare, evaluate, labeling_moments, labeling_variance
from tests.conftest import draw


def test_moments_over_all_choices_of_labels():
    """8 positives, 6 of them predicted positive, 4 get labeled; 12 rows predicted positive."""
    positives_above = np.array([1, 1, 1, 1, 1, 1, 0, 0])
    hits = np.array([positives_above[list(c)].sum() for c in combinations(range(8), 4)])
    rho, s, p1, m1 = 4 / 8, 4, 6, 12
    # The variance formula with the true number of hits put in.
    assert labeling_variance(rho * p1, s, rho) == pytest.approx(hits.var())
    precision = hits / (rho * m1)
    f1 = 2 * hits / (rho * m1 + s)
    assert precision.mean() == pytest.approx(p1 / m1)  # unbiased
    assert f1.mean() == pytest.approx(2 * p1 / (m1 + 8))
    # The function, at a choice whose hits are exactly the expected number.
    counts = Counts.from_table([1, 0], labeled=[3, 1], unlabeled=[9, 20])
    moments = labeling_moments(counts, threshold=1, label_frequency=rho)
    assert moments["precision"].mean == pytest.approx(precision.mean())
    assert moments["precision"].variance == pytest.approx(precision.var())
    assert moments["f1"].mean == pytest.approx(f1.mean())
    assert moments["f1"].variance == pytest.approx(f1.var())
    assert moments["recall"].mean == pytest.approx(p1 / 8)
    assert moments["recall"].variance == pytest.approx((hits / s).var())
    assert moments["recall"].standard_error == pytest.approx((hits / s).std())


def test_plug_in_variance_is_right_on_average(rng):
    """5,000 labelings of the same rows: spread of the estimate against its standard error."""
    positive = np.arange(2000) < 600
    score = rng.normal(size=2000) + 1.2 * positive
    above = score >= 0.8
    values, errors = [], []
    for _ in range(5000):
        hits = above[rng.choice(600, size=150, replace=False)].sum()
        values.append(2 * hits / (0.25 * above.sum() + 150))
        variance = labeling_variance(hits, 150, 0.25)
        errors.append(4 * variance / (0.25 * above.sum() + 150) ** 2)
    true_f1 = 2 * above[:600].sum() / (above.sum() + 600)
    assert np.mean(values) == pytest.approx(true_f1, abs=4 * np.std(values) / np.sqrt(5000))
    assert np.mean(errors) == pytest.approx(np.var(values), rel=0.06)


@pytest.mark.parametrize("beta", [1.0, 2.0])
def test_random_label_frequency(rng, beta):
    """Section 4.3, against a simulation of both sources of chance."""
    counts = Counts.from_table([1, 0], labeled=[90, 60], unlabeled=[310, 1540])
    spread = stats.beta(30, 70)
    moments = labeling_moments(counts, threshold=1, label_frequency=spread, beta=beta)
    rho = spread.rvs(400_000, random_state=rng)
    hits = rng.hypergeometric(300, 200, 150, size=400_000).astype(float)
    # Give the simulated hits exactly the mean and variance that are assumed.
    variance = labeling_variance(90, 150, spread.mean())
    hits = 90 + (hits - hits.mean()) / hits.std() * np.sqrt(variance)
    for name, values in {
        "recall": hits / 150,
        "precision": hits / (rho * 400),
        f"f{beta:g}": (1 + beta**2) * hits / (rho * 400 + beta**2 * 150),
    }.items():
        assert moments[name].mean == pytest.approx(values.mean(), rel=2e-3), name
        assert moments[name].variance == pytest.approx(values.var(), rel=2e-2), name
    fixed = labeling_moments(counts, threshold=1, label_frequency=spread.mean(), beta=beta)
    # Jensen: an uncertain label frequency makes precision and F too high on average.
    assert moments["precision"].mean > fixed["precision"].mean
    assert moments[f"f{beta:g}"].mean > fixed[f"f{beta:g}"].mean
    # An array of equally likely values is a distribution, too.
    sampled = labeling_moments(counts, threshold=1, label_frequency=rho[:20_000], beta=beta)
    assert sampled["precision"].mean == pytest.approx(moments["precision"].mean, rel=5e-3)


def test_edges():
    counts = Counts.from_table([1, 0], labeled=[9, 1], unlabeled=[20, 70])
    nothing = labeling_moments(counts, threshold=2, label_frequency=0.5)
    assert nothing["precision"].mean == nothing["precision"].variance == 0
    assert labeling_variance(1, 1, 1.0) == 0.0
    with pytest.raises(InputError, match=r"within \(0, 1\]"):
        labeling_moments(counts, threshold=1, label_frequency=stats.norm(0.5, 0.1))
    with pytest.raises(InputError, match="label_frequency must be a number in"):
        labeling_moments(counts, threshold=1, label_frequency=[0.5, 1.5])
    with pytest.raises(InputError, match="cannot be below 0.1 with these counts"):
        labeling_moments(counts, threshold=1, label_frequency=stats.uniform(0, 1))
    with pytest.raises(InputError, match="one-dimensional"):
        labeling_moments(counts, threshold=1, label_frequency=[])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"sample_weight": np.tile([0.5, 1.5], 100)}, "importance weights do not allow"),
        ({"propensity": np.full(200, 0.5)}, "all positives are equally likely"),
        ({"cluster": np.arange(200) // 2}, "cluster says that rows belong together"),
    ],
)
def test_rows_that_labels_cannot_be_drawn_for_are_refused(rng, given, message):
    """As `evaluate` does: their standard errors would be those of other rows."""
    y, score = (np.arange(200) % 5 == 0).astype(int), rng.normal(size=200)
    counts = Counts.from_arrays(y, score, **given)
    with pytest.raises(InputError, match=message) as error:
        labeling_moments(counts, threshold=0.0, label_frequency=0.5)
    options = {"prior": 0.1, "threshold": 0.0, "variance": "labeling"}
    options |= {"prior": None} if "propensity" in given else {}
    with pytest.raises(InputError) as other:
        evaluate(y, score, **options, **given)
    assert str(other.value) == str(error.value)


def test_frequency_weights_count_rows(rng):
    y, score = (np.arange(200) % 5 == 0).astype(int), rng.normal(size=200)
    number = rng.integers(1, 4, 200)
    weighted = Counts.from_arrays(y, score, sample_weight=number)
    repeated = Counts.from_arrays(np.repeat(y, number), np.repeat(score, number))
    expected = labeling_moments(repeated, threshold=0.0, label_frequency=0.5)
    assert labeling_moments(weighted, threshold=0.0, label_frequency=0.5) == expected


def test_the_number_of_labels_is_one_by_chance(rng):
    """Against a sample drawn again and again: what the precision varies by."""
    found = []
    for _ in range(300):
        _, score, labeled = draw(rng, 1500, prevalence=0.3, label_frequency=0.3)
        ev = evaluate(labeled, score, label_frequency=0.3, threshold=1.0, level=None)
        found.append(ev["precision"].value)
    told = evaluate(labeled, score, label_frequency=0.3, threshold=1.0)["precision"].standard_error
    assert told == pytest.approx(np.std(found), rel=0.2)
    exact = evaluate(labeled, score, prior=ev.mixture.prior, threshold=1.0)
    assert told > 1.3 * exact["precision"].standard_error
    # Nothing else than limits is different.
    again = evaluate(labeled, score, label_frequency=0.3, threshold=1.0)
    for name in again:
        assert again[name].value == pytest.approx(exact[name].value, nan_ok=True)


def test_an_interval_is_not_surer_than_a_number_in_it(rng):
    _, score, labeled = draw(rng, 3000, prevalence=0.3, label_frequency=0.2)
    given = {"threshold": 1.0, "n_resamples": 400}
    number = evaluate(labeled, score, label_frequency=0.2, **given)
    interval = evaluate(labeled, score, label_frequency=(0.1999, 0.2001), **given)
    for name in ("precision", "f1", "accuracy", "roc_auc", "average_precision"):
        assert interval[name].low <= number[name].low + 0.005, name
        assert interval[name].high >= number[name].high - 0.005, name
    models = {"a": score, "b": score + rng.normal(size=score.size)}
    one, two = (
        compare(labeled, models, label_frequency=each, threshold=1.0).differences("precision")[0]
        for each in (0.2, (0.1999, 0.2001))
    )
    assert two.low <= one.low + 0.003
    assert two.high >= one.high - 0.003


@pytest.mark.parametrize("frequency", [1.0, 0.97])
def test_chance_has_two_sides_where_hardly_anything_is_hidden(frequency):
    """With all positives labeled, precision at a low threshold is a plain share."""
    rng = np.random.default_rng(4)
    positive, score, _ = draw(rng, 3000, prevalence=0.3, label_frequency=1.0)
    labeled = positive & (rng.random(3000) < frequency)
    ev = evaluate(labeled, score, label_frequency=frequency, threshold=-2.0)
    share = positive[score >= -2].mean()
    expected = np.sqrt(share * (1 - share) / np.sum(score >= -2))
    assert ev["precision"].standard_error == pytest.approx(expected, rel=0.08)
