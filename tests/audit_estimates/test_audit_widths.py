"""How much the audit narrows intervals: each column is that of an evaluation of its own."""

import json
import pickle
from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from pueval import evaluate
from pueval.audit_estimates.apply_audit import apply_audit
from pueval.errors import InputError
from pueval.evaluation.evaluate import evaluate_counts
from pueval.model_selection import evaluate_cv
from tests.audit_estimates.audits import label_rows, make_rows, uniform_audit

FEW = {"n_resamples": 300, "seed": 2}


def sample(seed=0, n=6000, size=300):
    rng = np.random.default_rng(seed)
    positive, score = make_rows(rng, n=n)
    labeled = label_rows(rng, positive, score)
    return labeled, score, uniform_audit(rng, positive, labeled, size)


def width(ev, name):
    return ev[name].high - ev[name].low


@pytest.mark.parametrize("target", ["population", "unlabeled"])
def test_each_width_is_that_of_an_evaluation(target):
    labeled, score, audited = sample()
    options = {"threshold": 1.5, "target": target, "purity": 0.95, **FEW}
    ev = evaluate(labeled, score, audited=audited, **options)
    plain = evaluate(labeled, score, **options)
    alone = apply_audit(
        plain.counts,
        ev.audit.applied.rows,
        labeling="any",
        alone=True,
        purity=0.95,
        target=target,
        n_draws=300,
        seed=2,
    )
    options.pop("purity")
    alone = evaluate_counts(alone.counts, **options)
    widths = ev.audit.widths()
    for column, other in (
        (widths.with_audit, ev),
        (widths.without_audit, plain),
        (widths.audit_alone, alone),
    ):
        expected = [width(other, name) for name in widths.measures[1:]]
        np.testing.assert_allclose(column[1:], expected, rtol=1e-12)
    low, high = plain.prior_estimate.prior_interval
    assert widths.without_audit[0] == pytest.approx(high - low)
    assert widths.audit_alone[0] == pytest.approx(np.diff(ev.audit.prior_by_audit_alone[1:])[0])
    assert widths.with_audit[0] == pytest.approx(np.diff(ev.audit.prior[1:])[0])
    ratio = widths.with_audit / widths.audit_alone
    np.testing.assert_allclose(widths.ratio_to_audit_alone, ratio)


def test_audited_labels_and_labels_together_are_narrower_than_the_audit():
    labeled, score, audited = sample(1, n=20_000)
    widths = evaluate(labeled, score, audited=audited, **FEW).audit.widths()
    assert np.median(widths.ratio_to_audit_alone) < 0.8


def test_out_of_fold_scores():
    rng = np.random.default_rng(0)
    positive = rng.random(1500) < 0.3
    X = rng.normal(size=(1500, 4)) + 1.2 * positive[:, None]
    labeled = positive & (rng.random(1500) < 0.4)
    audited = uniform_audit(rng, positive, labeled, 150)
    ev = evaluate_cv(LogisticRegression(), X, labeled, audited=audited, threshold=0.2, **FEW)
    assert ev.splits.design_effect > 1
    widths = ev.audit.widths()
    assert widths.with_audit[1] == pytest.approx(width(ev, "roc_auc"))


def test_text_data_and_pickles():
    labeled, score, audited = sample()
    ev = evaluate(labeled, score, audited=audited, **FEW)
    widths = ev.audit.widths()
    lines = repr(ev.audit).splitlines()
    table = lines[lines.index("Width of 95% confidence intervals") :]
    assert " ".join(table[1].split()) == "with audit without audit alone vs. without vs. alone"
    auc = next(line for line in table if line.startswith("ROC AUC"))
    change = f"{widths.ratio_to_audit_alone[1] - 1:+.0%}".replace("-", "−")
    assert auc.split()[-1] == change
    assert "assume random labeling" in table[-1]
    data = json.loads(json.dumps(ev.to_dict()))["audit"]["widths"]
    assert data["measure"][:2] == ["prior", "roc_auc"]
    assert data["with_audit"] == pytest.approx(widths.with_audit)
    assert list(widths.frame()["measure"]) == list(widths.measures)
    again = pickle.loads(pickle.dumps(ev)).audit.widths()  # noqa: S301
    np.testing.assert_array_equal(again.with_audit, widths.with_audit)


def test_without_intervals_there_is_nothing_to_compare():
    labeled, score, audited = sample()
    ev = evaluate(labeled, score, audited=audited, level=None)
    with pytest.raises(InputError, match="made with level=None"):
        ev.audit.widths()
    assert "Width" not in repr(ev.audit)
    assert ev.audit.to_dict()["widths"] is None


def test_a_prior_that_the_scores_do_not_tell():
    labeled, score, audited = sample()
    ev = evaluate(labeled, score, audited=audited, **FEW)

    def no_estimate(counts, **options):
        if counts._audit is None:
            raise InputError("the prior cannot be estimated")
        return settings.evaluate(counts, **options)

    settings = ev.audit._settings
    audit = replace(ev.audit, _settings=replace(settings, evaluate=no_estimate))
    widths = audit.widths()
    assert np.isnan(widths.without_audit).all()
    np.testing.assert_array_equal(widths.with_audit, ev.audit.widths().with_audit)
    assert "–" in repr(widths).splitlines()[2]
