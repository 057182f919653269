"""Verdicts: checked against what is true in simulations, and against slow versions."""

import math
import textwrap
import warnings
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm

from pueval import AssumptionWarning, Counts, evaluate, largest_prior, priors
from pueval.errors import Contradiction
from pueval.estimates.bias_bounds import bound_measures
from pueval.estimates.measure_titles import REPORTED_MEASURES
from pueval.evaluation.assumption_text import interval_sentences
from pueval.evaluation.prior_knowledge import grade_prior
from pueval.evaluation.width_shares import width_shares
from pueval.text.warning_lists import worst_warnings


def one_sample(n, prevalence, separation, label_frequency, *, seed=0, purity=1.0):
    """Rows of one sample, some of whose positives are labeled; and how many positives hide."""
    rng = np.random.default_rng(seed)
    positive = rng.random(n) < prevalence
    score = rng.normal(size=n) + separation * positive
    labeled = positive & (rng.random(n) < label_frequency)
    if purity < 1:
        n_wrong = round(labeled.sum() * (1 - purity) / purity)
        labeled[rng.choice(np.flatnonzero(~positive), n_wrong, replace=False)] = True
    return labeled, score, (positive & ~labeled).sum()


def case_control(n_labeled, n_unlabeled, prior, separation, *, seed=0):
    rng = np.random.default_rng(seed)
    positive = np.r_[np.ones(n_labeled, bool), rng.random(n_unlabeled) < prior]
    y = np.arange(positive.size) < n_labeled
    return y, rng.normal(size=y.size) + separation * positive, (positive & ~y).sum()


def judge(y, score, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssumptionWarning)
        ev = evaluate(y, score, n_resamples=400, **options)
    return ev, ev.verdict()


# ---------------------------------------------------------------------- stories


def test_fraud_is_poorly_known():
    y, score, hidden = one_sample(60_000, 0.01, 2.2, 0.3)
    _, verdict = judge(y, score)
    assert verdict.prior_knowledge == "poorly"
    assert verdict.hidden_interval[0] <= hidden <= verdict.hidden_interval[1]
    assert next(iter(verdict.width_shares)) == "prior"
    assert "prevalence" in verdict.next_step
    assert "More labels will not help" in verdict.next_step
    text = " ".join(verdict.sentences())
    assert f"of {(~y).sum():,} unlabeled rows are positive (95% CI" in text
    assert "poorly known" in text
    assert "random sample of all positives" in text
    assert "and the number of hidden positives could be half or twice as large." in text
    assert len(textwrap.wrap(text, 100)) <= 8


def test_species_are_poorly_known():
    y, score, hidden = case_control(300, 5000, 0.2, 1.3)
    _, verdict = judge(y, score, target="unlabeled")
    assert verdict.prior_knowledge == "poorly"
    assert verdict.hidden_interval[0] <= hidden <= verdict.hidden_interval[1]


def test_patients_with_a_known_prevalence():
    y, score, hidden = one_sample(5000, 0.37, 1.5, 0.3, purity=0.92)
    _, verdict = judge(y, score, prevalence=0.37, purity=(0.9, 0.95))
    assert verdict.prior_knowledge == "well"
    assert verdict.hidden_interval[0] <= hidden <= verdict.hidden_interval[1]
    assert next(iter(verdict.width_shares)) == "labeled rows"


def test_well_separated_scores_are_well_known():
    y, score, hidden = one_sample(30_000, 0.3, 4.0, 0.3, seed=2)
    _, verdict = judge(y, score)
    assert verdict.prior_knowledge == "well"
    assert verdict.hidden_positives == pytest.approx(hidden, rel=0.1)
    assert "well known" in verdict.sentences()[0]


def test_weak_scores_are_not_known():
    y, score, _ = one_sample(5000, 0.3, 0.2, 0.3)
    _, verdict = judge(y, score)
    assert verdict.prior_knowledge == "not"
    assert "not known" in verdict.sentences()[0]


def test_a_given_prior_is_as_given():
    y, score, _ = one_sample(5000, 0.3, 2.0, 0.3)
    _, verdict = judge(y, score, prior=0.2)
    assert verdict.prior_knowledge == "given"
    assert verdict.hidden_interval is None
    assert "as you specified" in verdict.sentences()[0]
    assert "prior" not in verdict.width_shares


# ---------------------------------------------------------------------- parts


@pytest.mark.parametrize(
    ("interval", "effect", "largest", "grade"),
    [
        ((0.2, 0.4), 0.1, 0.5, "well"),
        ((0.2, 0.41), 0.1, 0.5, "poorly"),  # more than a factor of two
        ((0.2, 0.4), 0.21, 0.5, "poorly"),  # moves precision too much
        ((0.0002, 0.0004), 0.1, 0.5, "well"),  # rare, and known
        ((0.0, 0.005), 0.1, 0.5, "poorly"),  # narrow, but nothing is known of rare positives
        ((0.0, 0.5), 0.6, 0.5, "not"),
        ((0.0, 0.5), 0.6, None, "poorly"),  # a given interval
    ],
)
def test_grades(interval, effect, largest, grade):
    assert grade_prior(interval, effect, largest) == grade


def test_width_shares_against_simulation():
    """Variances of the AUC from labeled and from unlabeled rows, by drawing them anew."""
    rng = np.random.default_rng(0)
    n_labeled, n_unlabeled, prior = 60, 600, 0.3

    def unlabeled_scores():
        return rng.normal(size=n_unlabeled) + 1.5 * (rng.random(n_unlabeled) < prior)

    labeled, unlabeled = rng.normal(size=n_labeled) + 1.5, unlabeled_scores()
    counts = Counts.from_arrays(
        np.repeat([1, 0], [n_labeled, n_unlabeled]), np.r_[labeled, unlabeled]
    )
    ev, _ = judge(counts, None, prior=prior, target="unlabeled")
    shares = width_shares("roc_auc", ev._resamples, None, ev.threshold)
    # The placement of a score does not depend on the other rows of its kind.
    places = norm.cdf(labeled[:, None] - 1.5 * (np.arange(2) == 1)).dot([1 - prior, prior])
    other = norm.sf(unlabeled - 1.5)
    by_kind = np.array([places.var() / n_labeled, other.var() / n_unlabeled])
    assert shares["labeled rows"] == pytest.approx(by_kind[0] / by_kind.sum(), abs=0.06)
    assert sum(shares.values()) == pytest.approx(1)


def test_purity_can_be_the_largest_source():
    y, score, _ = one_sample(40_000, 0.3, 2.0, 0.3, purity=0.85)
    _, verdict = judge(y, score, prior=0.2, purity=(0.7, 0.95))
    assert next(iter(verdict.width_shares)) == "purity"
    assert "labeled rows drawn at random" in verdict.next_step


def test_tipping_bias_is_where_the_bounds_leave_the_interval():
    y, score, _ = one_sample(5000, 0.3, 2.0, 0.3)
    ev, verdict = judge(y, score, prevalence=0.3)
    auc = ev["roc_auc"]
    for factor, inside in ((0.97, True), (1.03, False)):
        found = ev.labeling_bias(1 + (verdict.tipping_bias - 1) * factor)["roc_auc"]
        assert (auc.low <= found.low and found.high <= auc.high) is inside


def test_bounds_are_those_of_labeling_bias():
    y, score, _ = one_sample(3000, 0.3, 2.0, 0.3)
    ev, verdict = judge(y, score, prevalence=0.3)
    full = ev.labeling_bias(2)
    assert set(verdict.labeling_bias) == {"roc_auc", "average_precision", "recall"}
    for name, bounds in verdict.labeling_bias.items():
        assert vars(bounds) == pytest.approx(vars(full[name]))


def test_truth_lies_in_the_range_for_biased_labels():
    """With labels that favor high scores fourfold, intervals miss and ranges for Λ = 4 hold."""
    true = norm.cdf(2 / math.sqrt(2))
    held = {"interval": 0, "range": 0}
    for seed in range(30):
        rng = np.random.default_rng(seed)
        positive = rng.random(3000) < 0.3
        score = rng.normal(size=3000) + 2 * positive
        y = positive & (rng.random(3000) < np.where(score > 2, 0.4, 0.1))
        ev, _ = judge(y, score, prevalence=0.3)
        # As ev.labeling_bias(4), for one measure.
        labeling, resamples = ev._biased_labeling(), ev._resamples
        bounds = bound_measures(labeling, 4.0, resamples, ev._choice_margins, ["roc_auc"])[
            "roc_auc"
        ]
        held["interval"] += ev["roc_auc"].low <= true <= ev["roc_auc"].high
        held["range"] += bounds.interval_low <= true <= bounds.interval_high
    assert held["interval"] < 20
    assert held["range"] >= 27


# ---------------------------------------------------------------------- other cases


def test_propensities():
    y, score, _ = one_sample(3000, 0.3, 2.0, 0.3)
    _, verdict = judge(y, score, propensity=np.full(y.size, 0.3))
    assert not verdict.labeling_bias
    assert "given propensities" in " ".join(verdict.sentences())


def test_without_unlabeled_rows():
    counts = Counts.from_arrays(
        [1, 1, 0, 0, 0], [3, 1, 2, 0, 1], negative_label=0, unlabeled_label=2
    )
    _, verdict = judge(counts, None)
    assert verdict.sentences() == ["The class of every row is known: nothing had to be corrected."]


def test_without_intervals():
    y, score, _ = one_sample(3000, 0.3, 2.0, 0.3)
    _, verdict = judge(y, score, level=None)
    assert verdict.width_shares == {}
    assert math.isnan(verdict.tipping_bias)
    assert math.isnan(verdict.labeling_bias["recall"].interval_low)
    assert verdict.hidden_interval is not None


def test_reversed_scores_and_impossible_priors_come_first():
    y, score, _ = one_sample(3000, 0.3, 2.0, 0.3)
    assert "Negate" in judge(y, -score, prior=0.2)[1].next_step
    ev, verdict = judge(y, score, prior=0.9)
    assert verdict.contradicted
    assert "contradict" in verdict.sentences()[0]
    assert f"at most {largest_prior(ev.counts).prior:.3f}" in verdict.next_step
    assert not any("uncertainty" in sentence for sentence in verdict.sentences())
    region = judge(y, score, prior=(0.1, 0.9))[1]
    assert not region.contradicted
    assert "Use a prior" not in region.next_step


def test_in_sample_scores_come_before_the_prior():
    y, score, _ = one_sample(3000, 0.3, 2.0, 0.3)
    _, verdict = judge(y, np.where(y, 9.0 + score, score))
    assert "in-sample" in verdict.next_step
    assert "unlabeled rows" not in verdict.next_step


def test_no_more_rows_are_checked_than_there_are():
    """Twenty positives take more rows than there are if they are rare."""
    y, score, _ = one_sample(400, 0.3, 1.7, 0.97)
    ev, verdict = judge(y, score)
    assert 20 / ev.prior > (~y).sum()
    assert "check the unlabeled rows and" in verdict.next_step


def test_estimates_far_below_the_largest_prior_say_so():
    _, verdict = judge(*one_sample(60_000, 0.01, 2.2, 0.3)[:2])
    high = verdict.hidden_interval[1]
    assert "Without assumptions" not in verdict.sentences()[0]
    far = replace(verdict, most_hidden=4 * high)
    assert f"up to {4 * high:,.0f} are possible" in far.sentences()[0]


def test_an_estimate_without_an_interval_is_not_graded():
    y, score, _ = one_sample(3000, 0.3, 2.0, 0.3)
    estimate = priors.estimate(y, score, method="alphamax")
    _, verdict = judge(y, score, prior=estimate)
    assert "no interval" in verdict.sentences()[0]
    assert "poorly" not in verdict.sentences()[0]


def test_an_estimate_without_an_interval_is_treated_as_exact():
    y, score, _ = one_sample(3000, 0.3, 2.0, 0.3)
    estimate = priors.estimate(y, score, method="alphamax")
    ev = evaluate(y, score, prior=estimate, threshold=1.0)
    exact = evaluate(y, score, prior=estimate.prior, threshold=1.0)
    assert ev["roc_auc"].standard_error == pytest.approx(exact["roc_auc"].standard_error, rel=0.01)
    assert f"prior {estimate.prior:.3g} (estimated), purity 1" in ev.summary()
    (scope,) = interval_sentences(ev)
    assert "treating the estimated prior, which has no interval, as exact" in scope


def test_printed_table_has_a_dozen_measures():
    y, score, _ = one_sample(3000, 0.3, 2.0, 0.3)
    ev, verdict = judge(y, score, prevalence=0.3)
    text = repr(ev)
    assert len(REPORTED_MEASURES) == 12
    assert "12 of 21 measures" in text
    assert "Jaccard" not in text
    assert "near the best Matthews correlation" in " ".join(text.split())
    for sentence in verdict.sentences():
        assert sentence in " ".join(text.split())
    assert verdict.next_step in ev.to_dict()["verdict"]["next_step"]


def test_at_most_three_warnings_the_worst_first():
    y, score, _ = one_sample(3000, 0.3, 2.0, 0.3)
    with pytest.warns(AssumptionWarning) as caught:
        ev = evaluate(y, -score, prior=0.9, threshold=99.0, n_resamples=100)
    assert len(ev.warnings) > 3 or len(caught) == len(ev.warnings)
    assert len(caught) <= 3
    assert len(worst_warnings(["w"] * 7)) == 3
    worst = Contradiction("worst")
    assert worst_warnings(["w", "w", "w", worst])[0] is worst
    assert worst_warnings(["w"] * 7)[-1].startswith("w (And 4 more")
