"""LabelErrors: rows labeled 1 and 0, both with errors."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from pueval import (
    AssumptionWarning,
    Counts,
    InputError,
    LabelErrors,
    compare,
    evaluate,
    evaluate_by,
    evaluate_over_time,
)
from pueval.evaluation.assumption_text import assumption_sentences
from pueval.report._python_code import reproducing_code
from pueval.simulate import binormal


def corrupt(rng, positive, errors):
    """Label rows 1 or 0 with errors in both directions."""
    u = rng.random(positive.size)
    right, wrong = 1 - errors.false_negative_rate, errors.false_positive_rate
    return np.where(positive, u < right, u < wrong).astype(int)


def exact_counts(tpr, fpr, prevalence, errors, size):
    """A table of a population at thresholds 3, 2, 1: rows labeled 1 and 0 by their exact shares."""
    share = {
        1: np.diff(np.r_[0, tpr, 1]) * prevalence,
        0: np.diff(np.r_[0, fpr, 1]) * (1 - prevalence),
    }
    labeled = share[1] * (1 - errors.false_negative_rate) + share[0] * errors.false_positive_rate
    unlabeled = share[1] * errors.false_negative_rate + share[0] * (1 - errors.false_positive_rate)
    rows = [np.round(size * part).astype(int) for part in (labeled, unlabeled)]
    return Counts.from_table([3, 2, 1], labeled=rows[0], unlabeled=rows[1])


@pytest.mark.parametrize("rates", [(0.2, 0.05), (0.0, 0.1), (0.4, 0.0), (0.5, 0.4), (0.0, 0.0)])
def test_exact_population(rates):
    """All true values of a population come back, whatever the error rates."""
    errors = LabelErrors(*rates)
    tpr, fpr, prevalence = np.array([0.5, 0.8]), np.array([0.1, 0.3]), 0.25
    counts = exact_counts(tpr, fpr, prevalence, errors, 100_000)
    mixture = errors.mixture(counts)
    assert mixture.prevalence(counts) == pytest.approx(prevalence, abs=1e-12)
    assert mixture.label_frequency(counts) == pytest.approx(1 - rates[0], abs=1e-12)
    assert mixture.wrong_label_frequency(counts) == pytest.approx(rates[1], abs=1e-12)
    ev = evaluate(counts, prior=errors, threshold=2, level=None)
    precision = 0.25 * 0.8 / (0.25 * 0.8 + 0.75 * 0.3)
    auc = 0.5 * (0.1 * 0.5) + 0.2 * (0.5 + 0.8) / 2 + 0.7 * (0.8 + 1) / 2 + 0.0
    assert ev["recall"].value == pytest.approx(0.8, abs=1e-9)
    assert ev["false_positive_rate"].value == pytest.approx(0.3, abs=1e-9)
    assert ev["precision"].value == pytest.approx(precision, abs=1e-9)
    assert ev["accuracy"].value == pytest.approx(0.25 * 0.8 + 0.75 * 0.7, abs=1e-9)
    assert ev["roc_auc"].value == pytest.approx(auc, abs=1e-9)


def test_shares_counted_row_by_row(rng):
    """Prior and purity against a count of the true classes, in a large sample."""
    errors = LabelErrors(0.3, 0.1)
    positive = rng.random(400_000) < 0.2
    y = corrupt(rng, positive, errors)
    mixture = errors.mixture(Counts.from_arrays(y, rng.random(y.size)))
    assert mixture.purity == pytest.approx(positive[y == 1].mean(), abs=0.01)
    assert mixture.prior == pytest.approx(positive[y == 0].mean(), abs=0.005)


def test_limits():
    """Without errors nothing is corrected; without false positives it is a label frequency."""
    counts = Counts.from_table([2, 1], labeled=[80, 20], unlabeled=[200, 700])
    none = evaluate(counts, prior=LabelErrors(0.0, 0.0), threshold=2, level=None)
    assert none.mixture.prior == 0
    assert none.mixture.purity == 1
    for name in ("roc_auc", "precision", "matthews_corrcoef"):
        assert none[name].value == pytest.approx(none[name].naive, abs=1e-12)
    clean = LabelErrors(0.6, 0.0).mixture(counts)
    known = evaluate(counts, label_frequency=0.4, level=None).mixture
    assert clean.purity == 1
    assert clean.prior == pytest.approx(known.prior, abs=1e-12)
    swapped = Counts.from_table([1, 2], labeled=[200, 700], unlabeled=[80, 20])
    one, other = LabelErrors(0.3, 0.02).mixture(counts), LabelErrors(0.02, 0.3).mixture(swapped)
    assert one.prior == pytest.approx(1 - other.purity, abs=1e-12)
    assert one.purity == pytest.approx(1 - other.prior, abs=1e-12)


def test_a_draw_has_the_prevalence_of_its_labeled_share():
    """Mixture and prevalence of a draw move with the same number of labeled rows."""
    counts = Counts.from_table([2, 1], labeled=[80, 40], unlabeled=[200, 680])
    errors = LabelErrors(0.2, 0.05)
    shift = np.array([[-1.5], [0.0], [2.0]])
    drawn = errors.mixtures(counts, shift)
    moved = drawn.prevalence(counts) + shift * drawn.prevalence_standard_error(counts)
    share = 0.12 + shift * np.sqrt(0.12 * 0.88 / 1000)
    assert moved == pytest.approx((share - 0.05) / 0.75, abs=1e-12)
    weighted = Counts.from_arrays([1, 0, 0, 0], [4, 3, 2, 1], sample_weight=[1.5, 2.5, 0.5, 3.5])
    error = np.sqrt(1.5**2 * (6.5 / 8) ** 2 + (2.5**2 + 0.5**2 + 3.5**2) * (1.5 / 8) ** 2) / 8
    found = errors.mixtures(weighted, np.array([[0.1]]))
    share = 1.5 / 8 + 0.1 * error
    prevalence = (share - 0.05) / 0.75
    assert found.purity.item() == pytest.approx(prevalence * 0.8 / share, abs=1e-12)
    assert found.prior.item() == pytest.approx(prevalence * 0.2 / (1 - share), abs=1e-12)


def coverage(errors, n, replications, *, exact=False):
    """Share of 95% intervals that hold the truth, for five measures."""
    population, at = binormal(1.8, prevalence=0.15), 1.2
    names = ("precision", "recall", "f1", "accuracy")
    truth = {name: population.measure(name, threshold=at) for name in names}
    truth["roc_auc"] = population.roc_auc
    hits = dict.fromkeys(truth, 0)
    for seed in range(replications):
        rng = np.random.default_rng(seed)
        rows = population.draw(n, seed=rng)
        y = corrupt(rng, rows.positive, errors)
        counts = Counts.from_arrays(y, rows.score)
        mixture = errors.mixture(counts)
        given = {"prior": mixture.prior, "purity": mixture.purity} if exact else {"prior": errors}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", AssumptionWarning)
            ev = evaluate(counts, threshold=at, n_resamples=400, seed=seed, **given)
        for name, value in truth.items():
            hits[name] += ev[name].low <= value <= ev[name].high
    return {name: count / replications for name, count in hits.items()}


@pytest.mark.slow
@pytest.mark.parametrize("rates", [(0.2, 0.05), (0.1, 0.1), (0.4, 0.0)])
def test_coverage(rates):
    """Intervals allow for the random number of rows labeled 1."""
    covered = coverage(LabelErrors(*rates), 2000, 200)
    assert min(covered.values()) > 0.95 - 3 * np.sqrt(0.95 * 0.05 / 200)


@pytest.mark.slow
def test_prior_and_purity_as_if_exact_cover_too_little():
    """What LabelErrors add: with many wrong labels, the number of labels matters."""
    errors = LabelErrors(0.1, 0.25)
    assert coverage(errors, 2000, 200, exact=True)["roc_auc"] < 0.9
    assert coverage(errors, 2000, 200)["roc_auc"] > 0.92


def test_text_and_code(rng):
    errors = LabelErrors(0.2, 0.05)
    positive = rng.random(2000) < 0.3
    y, score = corrupt(rng, positive, errors), rng.normal(size=2000) + 2 * positive
    ev = evaluate(y, score, prior=errors, n_resamples=50)
    assert "from the label errors" in " ".join(str(ev).split())
    sentences = " ".join(assumption_sentences(ev))
    assert "0.2 of the positives are labeled 0 and 0.05 of the negatives are labeled 1" in sentences
    assert "It follows from the error rates of the labels" in sentences
    assert "treating the error rates of the labels as exact" in sentences
    written = ev.to_dict()["assumptions"]["label_errors"]
    assert written == {"false_negative_rate": 0.2, "false_positive_rate": 0.05}
    code = reproducing_code({"model": ev}, choices=False, rankings=False)
    assert code.startswith("from pueval import LabelErrors, evaluate\n")
    assert "prior=LabelErrors(false_negative_rate=0.2, false_positive_rate=0.05)" in code
    assert "purity" not in code
    same = eval(  # noqa: S307
        code.split("\n\n")[1].split(".to_html")[0],
        {"evaluate": evaluate, "LabelErrors": LabelErrors, "y": y, "score": score},
    )
    assert same["f1"] == ev["f1"]


def test_refusals(rng):
    with pytest.raises(InputError, match=r"false_positive_rate must be a number in \[0, 1\)"):
        LabelErrors(0.1, 5)
    with pytest.raises(InputError, match="add up to less than 1"):
        LabelErrors(0.6, 0.4)
    errors = LabelErrors(0.2, 0.05)
    y, score = np.repeat([1, 0], [4, 96]), rng.random(100)
    with pytest.raises(InputError, match="between 0.05 and 0.8; got 0.04"):
        evaluate(y, score, prior=errors)
    y = np.repeat([1, 0], [30, 70])
    with pytest.raises(InputError, match="LabelErrors determine the purity"):
        evaluate(y, score, prior=errors, purity=0.9)
    with pytest.raises(InputError, match="need target='population'"):
        evaluate(y, score, prior=errors, target="unlabeled")
    with pytest.raises(InputError, match="at most one of prior"):
        evaluate(y, score, prior=errors, prevalence=0.2)
    with pytest.raises(InputError, match="cannot be combined"):
        evaluate(y, score, prior=errors, propensity=np.full(100, 0.5))
    with pytest.raises(InputError, match="also 10 known negatives"):
        evaluate(np.r_[y, np.full(10, -1)], rng.random(110), prior=errors, negative_label=-1)
    with pytest.raises(InputError, match=r"compare\(\) does not accept LabelErrors"):
        compare(y, {"a": score, "b": -score}, prior=errors)
    with pytest.raises(InputError, match="LabelErrors. Evaluate each of them separately"):
        evaluate_by(y, score, by=np.arange(100) % 2, prior=errors)
    with pytest.raises(InputError, match="groups or windows does not accept LabelErrors"):
        evaluate_over_time(y, score, time=np.arange(100), every=50, prior=errors)


def test_noisy_negatives_beside_unlabeled_rows():
    """Negatives that are wrong at a known rate count as unlabeled rows, with a pooled prior."""
    prior, wrong, purity = 0.3, 0.1, 0.9
    tpr, fpr = np.array([0.5, 0.8, 1.0]), np.array([0.1, 0.3, 1.0])
    above = {share: share * tpr + (1 - share) * fpr for share in (purity, prior, wrong)}
    rows = {
        share: np.diff(np.r_[0, np.round(n * above[share])])
        for share, n in ((purity, 1000), (prior, 4000), (wrong, 2000))
    }
    pooled = (prior * 4000 + wrong * 2000) / 6000
    counts = Counts.from_table([3, 2, 1], labeled=rows[purity], unlabeled=rows[prior] + rows[wrong])
    ev = evaluate(counts, prior=pooled, purity=purity, threshold=2, level=None)
    assert ev["recall"].value == pytest.approx(0.8, abs=1e-9)
    assert ev["false_positive_rate"].value == pytest.approx(0.3, abs=1e-9)
    expected = (purity * 1000 + prior * 4000 + wrong * 2000) / 7000
    assert ev.prevalence == pytest.approx(expected, abs=1e-12)
    # With clean negatives, this is how known negatives are counted.
    clean = Counts.from_table(
        [3, 2, 1], labeled=rows[purity], unlabeled=rows[prior], negative=rows[wrong]
    )
    known = evaluate(clean, prior=prior, purity=purity, threshold=2, level=None)
    same = evaluate(counts, prior=prior * 4 / 6, purity=purity, threshold=2, level=None)
    for name in ("roc_auc", "precision", "f1"):
        assert same[name].value == pytest.approx(known[name].value, abs=1e-12)
