"""After an audit, the default threshold does not depend on the unit of importance weights."""

import numpy as np
import pytest

from pueval import Counts, evaluate
from pueval.audit_estimates.apply_audit import apply_audit
from pueval.audit_estimates.audited_rows import AuditedRows
from pueval.sources.labels import LabelValues


def draw_audit(seed, n=1500):
    """Labels, scores, what an audit of 120 unlabeled rows found, and weights."""
    rng = np.random.default_rng(seed)
    positive = rng.random(n) < 0.3
    score = rng.normal(size=n) + 2 * positive
    y = (positive & (rng.random(n) < 0.3)).astype(int)
    audited = np.full(n, np.nan)
    checked = rng.permutation(np.flatnonzero(y == 0))[:120]
    audited[checked] = positive[checked]
    return y, score, audited, rng.gamma(2, 0.5, n)


@pytest.mark.parametrize("seed", range(4))
def test_default_threshold(seed):
    y, score, audited, weight = draw_audit(seed)
    thresholds = [
        evaluate(y, score, audited=audited, sample_weight=unit * weight, level=None).threshold
        for unit in (1.0, 1e-6, 1 / weight.sum(), 1000.0)
    ]
    assert thresholds == thresholds[:1] * 4


@pytest.mark.parametrize("unit", [1e-3, 1.0, 1000.0])
def test_positives_are_worth_labeled_rows_and_those_found(unit):
    """The estimated positives have as many effective rows."""
    y, score, audited, weight = draw_audit(0)
    given = {"labels": LabelValues(1, 0, None), "sample_weight": unit * weight}
    rows = AuditedRows.read(y, score, audited, None, **given)
    counts = Counts.from_arrays(y, score, sample_weight=unit * weight)
    represented = apply_audit(counts, rows).counts._inverse_propensity_sample()
    labeled = weight[y == 1]
    kish = labeled.sum() ** 2 / np.sum(labeled**2)
    assert represented.effective_size == pytest.approx(kish + np.nansum(audited))
