"""The columns of an audit: their order, and audited rows of weight zero."""

import numpy as np
import pandas as pd
import pytest

from pueval import Counts, InputError, audit, compare, evaluate, evaluate_by
from pueval.audit import AuditedRows
from tests.audit_estimates.audits import label_rows, make_rows

RNG = np.random.default_rng(0)
POSITIVE, SCORE = make_rows(RNG, n=2000)
LABELED = label_rows(RNG, POSITIVE, SCORE)
# Labeled and unlabeled rows are audited.
AUDITED = np.where(RNG.random(2000) < np.where(LABELED, 0.3, 0.15), POSITIVE, np.nan)
PROBABILITY = np.where(LABELED, 0.3, 0.15)
CHECKED = np.isfinite(AUDITED)
SCORES = {"a": SCORE, "b": SCORE + RNG.normal(size=2000)}
OPTIONS = {"n_resamples": 50}


# ---------------------------------------------------------------------- order of rows


@pytest.mark.parametrize("name", ["audited", "audit_probability"])
@pytest.mark.parametrize(
    "function",
    [
        lambda y, **options: evaluate(y, SCORE, **options),
        lambda y, **options: compare(y, SCORES, **options),
        lambda y, **options: evaluate_by(y, SCORE, np.arange(2000) % 2, **options),
        lambda y, **options: audit.plan(y, SCORE, **options),
    ],
)
def test_rows_in_another_order(function, name):
    frame = pd.DataFrame({"y": LABELED, "audited": AUDITED, "audit_probability": PROBABILITY})
    mixed = frame.sample(frac=1, random_state=0)
    columns = {"audited": frame.audited, "audit_probability": frame.audit_probability}
    columns[name] = mixed[name]
    message = f"y and {name} have the same index in different orders"
    with pytest.raises(InputError, match=message):
        function(frame.y, **columns)


def test_order_of_the_audit_columns_alone():
    """Labels without an index do not hide that the two columns of the audit differ."""
    frame = pd.DataFrame({"audited": AUDITED, "audit_probability": PROBABILITY})
    mixed = frame.sample(frac=1, random_state=0)
    with pytest.raises(InputError, match="audited and audit_probability have the same index"):
        evaluate(LABELED, SCORE, audited=frame.audited, audit_probability=mixed.audit_probability)


# ---------------------------------------------------------------------- weights of zero


def without(chosen):
    """Return weights with zeros, and the columns without these rows."""
    kept = ~chosen
    return np.where(chosen, 0.0, 1.5), kept, np.full(int(kept.sum()), 1.5)


@pytest.mark.parametrize(
    "chosen",
    [
        pytest.param(CHECKED & LABELED, id="all audited labeled rows"),
        pytest.param(CHECKED & (np.arange(2000) % 3 == 0), id="some audited rows"),
        pytest.param(np.arange(2000) % 3 == 0, id="some rows"),
    ],
)
@pytest.mark.parametrize("with_probability", [False, True])
def test_rows_of_weight_zero_do_not_exist(chosen, with_probability):
    weight, kept, kept_weight = without(chosen)
    probability = PROBABILITY if with_probability else np.full(2000, np.nan)
    given = {"audit_probability": probability} if with_probability else {}
    fewer = {"audit_probability": probability[kept]} if with_probability else {}
    ev = evaluate(LABELED, SCORE, audited=AUDITED, sample_weight=weight, **given, **OPTIONS)
    expected = evaluate(
        LABELED[kept],
        SCORE[kept],
        audited=AUDITED[kept],
        sample_weight=kept_weight,
        **fewer,
        **OPTIONS,
    )
    assert ev["f1"] == expected["f1"]
    assert ev.audit.to_dict() == expected.audit.to_dict()
    assert ev.purity == expected.purity


def test_purity_without_audited_labeled_rows_of_some_weight():
    """It can be given, as without audited labeled rows."""
    weight, kept, kept_weight = without(CHECKED & LABELED)
    ev = evaluate(LABELED, SCORE, audited=AUDITED, sample_weight=weight, purity=0.9, **OPTIONS)
    expected = evaluate(
        LABELED[kept],
        SCORE[kept],
        audited=AUDITED[kept],
        sample_weight=kept_weight,
        purity=0.9,
        **OPTIONS,
    )
    assert ev["f1"] == expected["f1"]


def test_counts_with_audited_rows_of_weight_zero():
    rows = AuditedRows(
        SCORE[CHECKED],
        LABELED[CHECKED],
        AUDITED[CHECKED] == 1,
        np.where(LABELED[CHECKED], 0.0, 1.0),
    )
    counts = Counts.from_arrays(LABELED, SCORE)
    ours = evaluate(counts, audited=rows, purity=0.9, **OPTIONS)
    theirs = evaluate(counts, audited=rows.part(labeled=False), purity=0.9, **OPTIONS)
    assert ours["f1"] == theirs["f1"]
    plans = [
        audit.plan(counts, budget=50, audited=part, purity=0.9)
        for part in (rows, rows.part(labeled=False))
    ]
    assert plans[0].forecast(n_simulations=1) == plans[1].forecast(n_simulations=1)


def test_no_audited_row_has_a_weight():
    weight, _, _ = without(CHECKED)
    for function in (evaluate, audit.plan):
        with pytest.raises(InputError, match="at least 10 unlabeled rows must be audited; got 0"):
            function(LABELED, SCORE, audited=AUDITED, sample_weight=weight)


@pytest.mark.parametrize("number", [1, 20])
def test_compare(number):
    chosen = np.zeros(2000, bool)
    chosen[np.flatnonzero(CHECKED & ~LABELED)[:number]] = True
    weight, kept, kept_weight = without(chosen)
    [ours] = compare(LABELED, SCORES, audited=AUDITED, sample_weight=weight, **OPTIONS).differences(
        "roc_auc"
    )
    [theirs] = compare(
        LABELED[kept],
        {name: score[kept] for name, score in SCORES.items()},
        audited=AUDITED[kept],
        sample_weight=kept_weight,
        **OPTIONS,
    ).differences("roc_auc")
    assert ours.value == theirs.value
    # Resamples are drawn with other random numbers.
    assert ours.standard_error == pytest.approx(theirs.standard_error, rel=0.25)


def test_groups():
    weight, kept, kept_weight = without(CHECKED & (np.arange(2000) % 3 == 0))
    by = np.arange(2000) % 2
    ours = evaluate_by(LABELED, SCORE, by, audited=AUDITED, sample_weight=weight, **OPTIONS)
    theirs = evaluate_by(
        LABELED[kept],
        SCORE[kept],
        by[kept],
        audited=AUDITED[kept],
        sample_weight=kept_weight,
        **OPTIONS,
    )
    np.testing.assert_array_equal(ours["f1"].value, theirs["f1"].value)
    np.testing.assert_array_equal(ours["f1"].low, theirs["f1"].low)


def test_plan():
    """Rows of weight zero are not chosen, whether they were audited before or not."""
    weight, kept, kept_weight = without(np.arange(2000) % 3 == 0)
    options = {"budget": 50, "threshold": 1.5}
    ours = audit.plan(LABELED, SCORE, audited=AUDITED, sample_weight=weight, **options)
    theirs = audit.plan(
        LABELED[kept], SCORE[kept], audited=AUDITED[kept], sample_weight=kept_weight, **options
    )
    assert np.all(ours.probabilities[~kept] == 0)
    np.testing.assert_allclose(ours.probabilities[kept], theirs.probabilities)
    np.testing.assert_array_equal(ours.draw(1), np.flatnonzero(kept)[theirs.draw(1)])
    assert (ours.n_candidates, ours.n_earlier) == (theirs.n_candidates, theirs.n_earlier)
