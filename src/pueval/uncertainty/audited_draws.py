"""Bootstrap draws whose positives come from an audit.

Rows are resampled as always. In each draw, the share of positives in every cell of the score is a
draw from what the audit says about it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from pueval._typing import Array
from pueval.core.mixture import Mixtures, cap_prior
from pueval.core.rates import Shares, fpr_from_predicted
from pueval.counts.audited_positives import raise_purity
from pueval.counts.counts import Counts
from pueval.uncertainty.bootstrap_draws import BootstrapDraws


def draw_audited(counts: Counts, draw: Callable[[], BootstrapDraws]) -> BootstrapDraws:
    """Draw rows, and the positives among them according to the audit."""
    draws = draw()
    audit = counts._audit
    assert audit is not None  # noqa: S101 - only called for audited counts
    n_draws = len(audit.share_draws)
    line = np.arange(len(draws.noise)) % n_draws
    share = audit.share_draws[line][:, audit.find(draws.threshold)]
    rows = _target_rows(counts, draws.resampled)
    positives = np.cumsum(np.diff(rows, axis=1, prepend=0) * share, axis=1)
    purity = audit.purity_draws[line]
    labeled = audit.purity * counts.n_labeled if audit.target == "population" else 0.0
    purity = raise_purity(purity, (positives[:, -1] - labeled) / counts.n_unlabeled)
    if audit.target == "population":
        # More wrong labels than expected are that many positives fewer.
        change = (purity - audit.purity)[:, None] * counts.n_labeled
        positives = positives + change * draws.resampled.labeled
    size = counts._target_size(audit.target)
    expected = audit.positives(
        draws.threshold,
        counts.n_labeled * np.diff(draws.expected.labeled, prepend=0),
        counts.n_unlabeled * np.diff(draws.expected.unlabeled, prepend=0),
    )
    number = np.maximum(positives[:, -1], 1e-9 * size)
    return replace(
        draws,
        expected=draws.expected._replace(
            positive=_with_wrong_labels(
                counts,
                draws.expected,
                np.cumsum(expected)[None, :],
                expected.sum(keepdims=True),
                np.array([audit.purity]),
            )[0]
        ),
        resampled=draws.resampled._replace(
            positive=_with_wrong_labels(counts, draws.resampled, positives, number, purity)
        ),
        positives=number,
        purity=purity,
    )


def audited_mixtures(counts: Counts, draws: BootstrapDraws) -> Mixtures:
    """Return the prior and purity that follow from the positives of each draw."""
    audit = counts._audit
    assert audit is not None  # noqa: S101 - only called for audited counts
    assert draws.positives is not None  # noqa: S101 - see draw_audited
    assert draws.purity is not None  # noqa: S101 - likewise
    purity = draws.purity
    labeled = purity * counts.n_labeled if audit.target == "population" else 0.0
    prior = cap_prior((draws.positives - labeled) / counts.n_unlabeled, purity)
    return Mixtures(prior[:, None], purity[:, None])


def with_wrong_labels(tpr: Array, predicted: Array, prevalence: Array, purity: Array) -> Array:
    """Return the share of labeled rows above thresholds, if they were a random sample.

    Rates are corrected for purity, so wrong labels are mixed in first: purity·tpr +
    (1 − purity)·fpr.
    """
    fpr = fpr_from_predicted(predicted, tpr, prevalence)
    share: Array = purity * tpr + (1 - purity) * fpr
    return share


def _with_wrong_labels(
    counts: Counts, shares: Shares, positives: Array, number: Array, purity: Array
) -> Array:
    audit = counts._audit
    assert audit is not None  # noqa: S101 - for the type checker
    with np.errstate(invalid="ignore"):  # draws without positives
        tpr = positives / number[:, None]
    if np.all(purity == 1):
        return tpr
    rows = np.atleast_2d(_target_rows(counts, shares))
    size = counts._target_size(audit.target)
    predicted = rows / size
    if audit.target == "population" and counts.n_negative:
        predicted = predicted + counts.n_negative * np.atleast_2d(shares.negative) / size
    return with_wrong_labels(tpr, predicted, (number / size)[:, None], purity[:, None])


def _target_rows(counts: Counts, shares: Shares) -> Array:
    """Return the labeled and unlabeled rows of the target at or above thresholds."""
    unlabeled: Array = counts.n_unlabeled * shares.unlabeled
    if counts._audit is not None and counts._audit.target == "unlabeled":
        return unlabeled
    rows: Array = counts.n_labeled * shares.labeled + unlabeled
    return rows
