"""Plans of audits: probabilities, draws, several rounds, refusals."""

import warnings

import numpy as np
import pytest
from sklearn.metrics import f1_score, matthews_corrcoef, roc_auc_score

from pueval import AssumptionWarning, Counts, InputError, audit, evaluate
from pueval.audit._allocation import allocate
from pueval.audit._measure_gradients import measure_gradient
from pueval.audit._systematic_sampling import systematic_sample

THRESHOLD = 1.6


def population(n=4000, seed=0, share=0.1, frequency=0.3):
    """Return labels, scores and truth."""
    rng = np.random.default_rng(seed)
    positive = rng.random(n) < share
    score = rng.normal(size=n) + 2 * positive
    return positive & (rng.random(n) < frequency), score, positive


def make_plan(y, score, **options):
    known = {"budget": 100, "prevalence": 0.1, "threshold": THRESHOLD}
    return audit.plan(y, score, **(known | options))


def check(plan, positive, truth=None, seed=0):
    """Return the truth of all rows that were checked, those of this plan included."""
    truth = np.full(positive.size, np.nan) if truth is None else truth.copy()
    rows = plan.draw(seed)
    truth[rows] = positive[rows]
    return truth


def continued_plan(y, score, positive):
    """Return a plan, what was checked by it, and a second plan that continues it."""
    first = make_plan(y, score)
    truth = check(first, positive)
    audited = {"audited": truth, "audit_probability": first.probabilities}
    return first, truth, make_plan(y, score, prevalence=None, **audited)


# ---------------------------------------------------------------------- allocation


def test_neyman_by_hand():
    """10,000 positives among the unlabeled rows of two strata, 20,000 above and 70,000 below.

    Spread like the labels, they are 8,000 and 2,000: shares of positives in the ratio 14 : 1. The
    strata are 2.5 standard deviations of the labeled rows apart, so with a slope b of the log-odds
    of a label the ratio is 14·exp(−2.5·b).

    F1 = 2·TP/(predicted + P). One more positive changes it by (2 − F1)/(predicted + P) above the
    threshold, and by −F1/(predicted + P) below it.
    """
    counts = Counts.from_table([2, 1], labeled=[8000, 2000], unlabeled=[20_000, 70_000])
    plan = audit.plan(counts, budget=900, prior=1 / 9, threshold=2, floor=0.1)
    number = np.array([20_000, 70_000])
    squares = np.zeros(2)
    for slope in (-1, 0, 1):
        ratio = np.array([14 * np.exp(-2.5 * slope), 1])
        share = 10_000 * ratio / np.sum(number * ratio)
        f1 = 2 * (8000 + 20_000 * share[0]) / (28_000 + 20_000)
        a = np.array([2 - f1, f1]) * np.sqrt(share * (1 - share))
        squares += (a / np.sum(number * a)) ** 2
    a = np.sqrt(squares)
    mean = np.average(a, weights=number)
    expected = 0.01 * (0.1 * mean + 0.9 * a) / mean
    np.testing.assert_allclose(plan.probability([2, 1]), expected, rtol=1e-3)


@pytest.mark.parametrize("prior_given", [False, True])
def test_labelings_of_a_first_plan(prior_given):
    """What identifies the prior stays: a given one, or the largest share of positives."""
    y, score, _ = population(20_000)
    plan = make_plan(y, score, **({} if prior_given else {"prevalence": None}))
    strata = plan._simulation.strata
    labeled = np.bincount(strata.find(score[y]), minlength=strata.lower.size)
    number = strata.unlabeled * strata.labelings
    # From the highest scores: labels that favor low scores leave hidden positives there.
    middle = [np.searchsorted(np.cumsum(n), n.sum() / 2) for n in number]
    assert middle[1] < middle[0] < middle[2]
    if prior_given:
        np.testing.assert_allclose(number.sum(axis=1), number[0].sum())
        return
    ratio = strata.labelings[0] * labeled.sum() / number[0].sum()
    largest = np.max((strata.labelings + ratio) / (1 + ratio), axis=1)
    np.testing.assert_allclose(largest, largest[0], rtol=1e-6)


def test_an_audit_replaces_the_labelings():
    y, score, positive = population()
    _, _, second = continued_plan(y, score, positive)
    assert len(second._simulation.strata.labelings) == 1


@pytest.mark.parametrize("labeling", ["random", "up", "down"])
def test_plans_without_a_prior_are_near_the_best_allocation(labeling):
    """The variance of F1, estimated by the audited rows, against Neyman's for the true shares."""
    rng = np.random.default_rng(1)
    positive = rng.random(50_000) < 0.02
    score = rng.normal(size=50_000) + 3 * positive
    slope = {"random": 0, "up": 1, "down": -1}[labeling]
    chance = 1 / (1 + np.exp(1 - slope * (score - 3)))
    y = positive & (rng.random(50_000) < chance)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssumptionWarning)
        q = audit.plan(y, score, budget=500, threshold=2.4).probabilities[~y]
    odds = 0.02 / 0.98 * np.exp(3 * score - 4.5)
    hidden = (odds * (1 - chance) / (1 + odds * (1 - chance)))[~y]
    predicted = score >= 2.4
    f1 = f1_score(positive, predicted)
    a = (np.where(predicted, 2 - f1, f1)[~y]) * np.sqrt(hidden * (1 - hidden))
    best = a.sum() ** 2 / 500
    simple = np.sum(a**2) * a.size / 500
    assert np.sum(a**2 / q) < min(2.2 * best, 0.3 * simple)


def test_no_other_allocation_has_a_smaller_variance():
    rng = np.random.default_rng(0)
    a, number, budget = rng.gamma(1, size=12), rng.integers(20, 200, size=12), 500
    q = allocate(a, number, budget, floor=0).probability(a)
    assert np.sum(number * q) == pytest.approx(budget)
    assert q.max() == 1  # so that capping matters
    variance = np.sum(number * a**2 * (1 / q - 1))
    for _ in range(200):
        other = (q * rng.uniform(0.8, 1.25, size=12)).clip(max=1)
        other = np.minimum(other * budget / np.sum(number * other), 1)
        used = np.sum(number * other)
        assert used <= budget + 1e-9
        assert np.sum(number * a**2 * (1 / other - 1)) >= variance * (1 - 1e-9)


@pytest.mark.parametrize("measure", ["f1", "recall", "roc_auc", "prevalence", "average_precision"])
@pytest.mark.parametrize("budget", [10, 100, 3000])
def test_probabilities_add_up_to_the_budget(measure, budget):
    y, score, _ = population()
    plan = make_plan(y, score, budget=budget, measure=measure)
    q, uniform = plan.probabilities, budget / np.sum(~y)
    assert q.sum() == pytest.approx(budget)
    assert np.all(q[y] == 0)
    assert q.max() <= 1
    assert np.all(q[~y] >= 0.1 * uniform * (1 - 1e-9))
    assert q.max() > min(1.3 * uniform, 1 - 1e-9)


def test_all_rows_can_be_the_budget():
    y, score, _ = population(400)
    plan = make_plan(y, score, budget=int(np.sum(~y)))
    np.testing.assert_array_equal(np.sort(plan.draw()), np.flatnonzero(~y))


def test_floor_of_one_is_a_simple_random_sample():
    y, score, _ = population()
    q = make_plan(y, score, floor=1).probabilities
    np.testing.assert_allclose(q[~y], 100 / np.sum(~y))


def test_precision_needs_no_rows_below_the_threshold():
    y, score, _ = population()
    q = make_plan(y, score, measure="precision").probabilities
    below = ~y & (score < THRESHOLD)
    np.testing.assert_allclose(q[below], 0.1 * 100 / np.sum(~y))


def test_several_measures_compromise():
    y, score, _ = population()
    single = [make_plan(y, score, measure=name) for name in ("precision", "roc_auc")]
    both = make_plan(y, score, measure=["precision", "roc_auc"])
    low, high = score[~y].min(), score[~y].max()
    for place in ([low], [high]):
        first, second = sorted(plan.probability(place)[0] for plan in single)
        assert first < both.probability(place)[0] < second


def test_rows_with_larger_weights_are_chosen_more_often():
    y, score, _ = population()
    weight = np.where(np.arange(y.size) % 2, 3.0, 1.0)
    plan = make_plan(y, score, sample_weight=weight, floor=1e-9)
    q = plan.probabilities
    assert q.sum() == pytest.approx(100)
    assert q[1::2].sum() / q[::2].sum() == pytest.approx(3, rel=0.15)
    np.testing.assert_allclose(plan.probability(score[~y], sample_weight=weight[~y]), q[~y])


def test_counts_give_the_probabilities_of_arrays():
    y, score, _ = population()
    plan, other = make_plan(y, score), make_plan(Counts.from_arrays(y, score), None)
    np.testing.assert_allclose(other.probability(score[~y]), plan.probabilities[~y])
    assert other.forecast(n_simulations=2) == plan.forecast(n_simulations=2)
    with pytest.raises(InputError, match=r"plan\.probability\(score\)"):
        other.draw()


@pytest.mark.parametrize(
    ("name", "slow"),
    [
        ("f1", lambda t, s, w: f1_score(t, s >= 0, sample_weight=w)),
        ("matthews_corrcoef", lambda t, s, w: matthews_corrcoef(t, s >= 0, sample_weight=w)),
        ("roc_auc", lambda t, s, w: roc_auc_score(t, s, sample_weight=w)),
        ("prevalence", lambda t, s, w: np.average(t, weights=w)),
    ],
)
def test_gradients(name, slow):
    """Against weights moved from the negatives to the positives of one stratum."""
    lower = np.array([3.0, 1.0, 0.0, -2.0])
    rows, positives = np.array([20.0, 50, 100, 200]), np.array([15.0, 20, 11, 3])
    truth, score = np.repeat([1, 0], 4), np.tile(lower, 2)
    gradient = measure_gradient(name, rows, positives, lower >= 0)
    step = 1e-3
    for stratum in range(4):
        values = []
        for sign in (1, -1):
            moved = positives + sign * step * (np.arange(4) == stratum)
            values.append(slow(truth, score, np.concatenate([moved, rows - moved])))
        assert gradient[stratum] == pytest.approx((values[0] - values[1]) / (2 * step), rel=1e-4)


def test_gradient_of_average_precision():
    """With one row per stratum, against the definition with half of a positive's own step."""
    rng = np.random.default_rng(0)
    rows, positives = np.ones(300), np.sort(rng.random(300))[::-1].copy()

    def area(positives):
        cumulative = np.r_[0, np.cumsum(positives)]
        middle = (cumulative[1:] + cumulative[:-1]) / 2
        return np.sum(positives * middle / (np.arange(300) + 0.5)) / positives.sum()

    gradient = measure_gradient("average_precision", rows, positives, rows > 0)
    for stratum in (0, 10, 299):
        shift = 1e-4 * (np.arange(300) == stratum)
        slope = (area(positives + shift) - area(positives - shift)) / 2e-4
        assert gradient[stratum] == pytest.approx(slope, rel=1e-3)


# ---------------------------------------------------------------------- drawing


def test_rows_are_chosen_with_their_probabilities():
    y, score, _ = population(400)
    plan = make_plan(y, score, budget=80)
    draws = 3000
    chosen = np.zeros(y.size)
    for seed in range(draws):
        rows = plan.draw(seed)
        assert rows.size == np.unique(rows).size == 80
        chosen[rows] += 1
    q = plan.probabilities
    assert np.all(chosen[q == 0] == 0)
    assert np.any(q == 1)
    assert np.all(chosen[q == 1] == draws)
    q, chosen = (values[(q > 0) & (q < 1)] for values in (q, chosen))
    z = (chosen - draws * q) / np.sqrt(draws * q * (1 - q))
    assert np.abs(z).max() < 4.5
    assert np.std(z) == pytest.approx(1, abs=0.12)


def test_draws_are_reproducible_and_in_random_order():
    y, score, _ = population()
    plan = make_plan(y, score)
    first, again, other = plan.draw(1), plan.draw(1), make_plan(y, score).draw(1)
    np.testing.assert_array_equal(first, again)
    np.testing.assert_array_equal(first, other)
    assert set(first) != set(plan.draw(2))
    assert abs(np.corrcoef(np.arange(100), score[first])[0, 1]) < 0.35
    assert abs(np.corrcoef(np.arange(100), first)[0, 1]) < 0.35


def test_systematic_samples_have_a_fixed_size():
    rng = np.random.default_rng(0)
    q = rng.dirichlet(np.ones(1000)) * 7
    sizes = {systematic_sample(q, rng).size for _ in range(50)}
    assert sizes == {7}
    groups = systematic_sample(np.array([2.5, 0.0, 3.5]), rng)
    assert groups.size == 6
    assert np.count_nonzero(groups == 1) == 0


# ---------------------------------------------------------------------- several rounds


def test_a_second_plan_continues_the_first():
    y, score, positive = population()
    first, truth, second = continued_plan(y, score, positive)
    checked = ~np.isnan(truth)
    assert second.n_earlier == 100
    assert second.n_candidates == np.sum(~y) - 100
    assert np.all(second.probabilities[checked] == 0)
    assert second.probabilities.sum() == pytest.approx(100)
    q, would = first.probabilities, second.probability(score)
    np.testing.assert_allclose(
        second.combined_probabilities[~y], (q + (1 - q) * would)[~y], rtol=1e-12
    )
    truth = check(second, positive, truth, seed=1)
    ev = evaluate(y, score, audited=truth, audit_probability=second.combined_probabilities)
    assert ev.audit.n_unlabeled == 200
    # Counts and AuditedRows give the same plan.
    rows = audit.AuditedRows(
        score[checked],
        y[checked],
        positive[checked],
        1 / first.probabilities[checked],
        has_probability=True,
    )
    counts = Counts.from_arrays(y, score)
    other = audit.plan(counts, budget=100, threshold=THRESHOLD, audited=rows)
    np.testing.assert_allclose(other.probability(score), would, rtol=1e-6)


def test_an_audit_without_probabilities_is_a_simple_random_sample():
    y, score, positive = population()
    truth = check(make_plan(y, score, floor=1), positive)
    second = make_plan(y, score, prevalence=None, audited=truth)
    share = 100 / np.sum(~y)
    np.testing.assert_allclose(
        second.combined_probabilities[~y], 1 - (1 - share) * (1 - second.probability(score[~y]))
    )


def test_combined_probabilities_need_those_of_all_rows():
    y, score, positive = population()
    first = make_plan(y, score)
    truth = check(first, positive)
    partial = np.where(np.isnan(truth), np.nan, first.probabilities)
    second = make_plan(y, score, prevalence=None, audited=truth, audit_probability=partial)
    assert second.draw().size == 100
    with pytest.raises(InputError, match="probability of every row"):
        _ = second.combined_probabilities


@pytest.mark.thorough
def test_two_rounds_together_are_unbiased():
    """The second plan uses what the first round found; weights 1/probability count positives."""
    y, score, positive = population(2000, share=0.2)
    first = make_plan(y, score, budget=60, prevalence=0.2)
    hidden, totals, naive = np.sum(positive & ~y), [], []
    for seed in range(100):
        truth = check(first, positive, seed=seed)
        second = make_plan(
            y,
            score,
            budget=60,
            prevalence=None,
            audited=truth,
            audit_probability=first.probabilities,
        )
        truth = check(second, positive, truth, seed=seed)
        found = (truth == 1) & ~y
        totals.append(np.sum(1 / second.combined_probabilities[found]))
        own = np.where(second.probabilities > 0, second.probabilities, first.probabilities)
        naive.append(np.sum(1 / own[found]))
    error = np.std(totals) / np.sqrt(len(totals))
    assert abs(np.mean(totals) - hidden) < 3 * error
    assert error < 0.02 * hidden
    assert np.mean(naive) > 1.5 * hidden  # each round alone estimates the total


# ---------------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"budget": 9}, "budget must be a whole number of at least 10; got 9"),
        ({"budget": 5000}, r"budget must be at most 3,8\d\d, .* got 5,000"),
        ({"measure": "f_one"}, "unknown measure 'f_one'"),
        ({"measure": []}, "a name or a list of names"),
        ({"measure": ["f1", "auc"]}, "Did you mean 'roc_auc'"),
        ({"floor": 0}, r"floor must be a number in \(0, 1\]; got 0"),
        ({"level": 95}, "level must be a number"),
        ({"seed": -1}, "seed must be a whole number"),
        ({"threshold": 99.0, "measure": "precision"}, "not defined at this threshold"),
        ({"audit_probability": np.ones(4000)}, "needs audited"),
        ({"prior": 0.2, "prevalence": 0.1}, "prior"),
    ],
)
def test_refusals(options, message):
    y, score, _ = population()
    with pytest.raises(InputError, match=message):
        make_plan(y, score, **options)


def test_no_unlabeled_rows():
    y, score, _ = population()
    with pytest.raises(InputError, match="no unlabeled rows"):
        audit.plan(np.where(y, 1, -1), score, negative_label=-1)


def test_what_counts_cannot_plan():
    y, score, positive = population()
    counts = Counts.from_arrays(y, score, sample_weight=np.linspace(0.5, 1.5, y.size))
    with pytest.raises(InputError, match="how many rows"):
        make_plan(counts, None)
    truth = check(make_plan(y, score), positive)
    with pytest.raises(InputError, match="must be AuditedRows"):
        make_plan(Counts.from_arrays(y, score), None, audited=truth)


def test_text():
    y, score, _ = population()
    plan = make_plan(y, score)
    assert str(plan).startswith("Check 100 of 3,8")
    assert "for F1 at threshold 1.6" in str(plan)
    assert "threshold" not in str(make_plan(y, score, measure="roc_auc")).splitlines()[0]
    assert plan.frame()["to_check"].sum() == pytest.approx(100)
    assert plan.to_dict()["measures"] == ["f1"]


def test_perfectly_separated_rows_have_probabilities():
    """Strata without unlabeled rows have no say, even if all others are certain."""
    for seed in range(40):
        rng = np.random.default_rng(seed)
        positive = rng.random(30) < 0.4
        score = rng.normal(size=30) + 4 * positive
        y = positive & (rng.random(30) < 0.4)
        if y.sum() < 2:
            continue
        measures = ["f1", "roc_auc", "prevalence"]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", AssumptionWarning)
            made = audit.plan(
                y, score, budget=12, target="unlabeled", measure=measures, label_frequency=0.4
            )
        assert made.probabilities.sum() == pytest.approx(12)
        assert made.draw(1).size == 12
