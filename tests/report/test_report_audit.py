"""What the page holds about an audit, without a browser."""

import numpy as np
import pytest

from pueval import evaluate
from pueval.report._audit_section import MOST_TICKS, audit_section
from pueval.report._python_code import reproducing_code
from pueval.report._summary import summarize
from tests.audit_estimates.audits import audit_rows, label_rows, make_rows, uniform_audit

pytestmark = pytest.mark.filterwarnings("ignore::pueval.errors.AssumptionWarning")


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(2)
    positive, score = make_rows(rng, 4000)
    labeled = label_rows(rng, positive, score, "up")
    return positive, score, labeled, uniform_audit(rng, positive, labeled, 200)


@pytest.fixture(scope="module")
def ev(rows):
    _, score, labeled, audited = rows
    return evaluate(labeled, score, audited=audited, n_resamples=100)


def code_of(ev):
    return reproducing_code({"model": ev}, choices=False, rankings=False)


def test_the_code_makes_it_again(ev, rows):
    positive, score, labeled, audited = rows
    rng = np.random.default_rng(0)
    assert "evaluate(y, score, audited=audited, level=0.95" in code_of(ev)
    probability = np.where(score > 1, 0.3, 0.05)
    column = audit_rows(rng, positive, labeled, probability)
    column[np.flatnonzero(labeled)[:40]] = 1
    column[np.flatnonzero(labeled)[:2]] = 0
    names = {"y": labeled, "score": score, "audited": column, "audit_probability": probability}
    arguments = {"audit_probability": probability, "labeling": "any", "target": "unlabeled"}
    first = evaluate(labeled, score, audited=column, **arguments, n_resamples=100)
    code = code_of(first)
    assert 'audit_probability=audit_probability, labeling="any", target="unlabeled"' in code
    assert "purity" not in code
    assert "prior" not in code
    call = code.removeprefix("from pueval import evaluate\n\n").removesuffix(
        '.to_html("report.html")'
    )
    again = eval(call, {"evaluate": evaluate} | names)  # noqa: S307 - our own code
    assert again.to_dict() == first.to_dict()
    given = evaluate(labeled, score, audited=audited, purity=0.95, level=None)
    assert "audited=audited, purity=0.95" in code_of(given)
    # Counts carry the audit, but not what it found.
    assert "audited=audited" in code_of(evaluate(ev.counts, n_resamples=100))


def test_the_page_says_what_the_audit_found(ev, rows, tmp_path):
    ev.to_html(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert '<h2 id="audit-title">Audit</h2>' in page
    low, _ = ev.assumptions.audited.prior
    assert f"The audit determines the prior: it is {ev.prior:.3g} (95% CI {low:.3g} to" in page
    assert f"{ev.audit.prior_by_audit_alone.value:.3f}</td>" in page
    assert "The test of random labeling gives p &lt; 0.001." in page
    assert f"Prior {ev.prior:.3g} (by the audit)" in page
    assert "from the propensities" not in page
    _, score, labeled, _ = rows
    evaluate(labeled, score, prior=0.04, level=None).to_html(tmp_path / "plain.html")
    assert 'audit-title">' not in (tmp_path / "plain.html").read_text(encoding="utf-8")


def test_numbers_of_the_section(ev):
    section = audit_section(ev, ev.audit)
    estimates = {title: numbers for title, *numbers in section["estimates"]}
    assert estimates["Prior, by audit, labels and scores"] == [
        ev.prior,
        *ev.assumptions.audited.prior,
    ]
    assert estimates["Labeling bias Λ"] == [*ev.audit.labeling_bias]
    frequency, low, high = estimates["Label frequency"]
    assert frequency == pytest.approx(ev.mixture.label_frequency(ev.counts))
    assert low < frequency < high
    assert [low, high] == [*ev.audit.label_frequency[1:]]
    assert "Purity" not in estimates
    curve, found = section["curve"], ev.audit.propensity()
    assert np.all(np.diff(curve["score"]) > 0)
    np.testing.assert_allclose(curve["propensity"], found.propensity[::-1], atol=1e-5)
    np.testing.assert_allclose(curve["low"], found.low[::-1], atol=1e-5)
    assert max(curve["propensity"]) <= 1


def test_rows_of_the_picture(ev, rows):
    positive, score, labeled, audited = rows
    (model,) = summarize({"model": ev})["models"]
    ticks = model["audit"]["ticks"]
    for name, value in (("positive", 1), ("negative", 0)):
        assert ticks[name]["score"] == sorted(score[audited == value])
        lower = [np.mean(score < s) for s in ticks[name]["score"]]
        np.testing.assert_allclose(ticks[name]["rank"], lower, atol=1e-5)
    many = uniform_audit(np.random.default_rng(0), positive, labeled, 2500)
    section = audit_section(ev, evaluate(labeled, score, audited=many, level=None).audit)
    numbers = {name: len(found["score"]) for name, found in section["ticks"].items()}
    assert MOST_TICKS - 2 <= sum(numbers.values()) <= MOST_TICKS
    assert section["n_ticks"] == 2500
    share = numbers["positive"] / sum(numbers.values())
    assert share == pytest.approx(np.nanmean(many), abs=0.002)


def test_counts_with_an_audit_have_a_page(ev, tmp_path):
    again = evaluate(ev.counts, n_resamples=100)
    assert again.audit is None
    (model,) = summarize({"model": again})["models"]
    assert model["audit"] is None
    assert model["audited"]["prior"] == [*again.assumptions.audited.prior]
