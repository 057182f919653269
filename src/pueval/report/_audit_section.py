"""What a page shows about an audit: sentences, estimates, and the propensity by score."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pueval._typing import Array
from pueval.counts.counts import Counts
from pueval.estimates.audit_widths import NOTE
from pueval.evaluation.assumption_text import LABELING_SENTENCES, audited_interval
from pueval.report._json_values import printable_text
from pueval.report._score_histograms import rows_above
from pueval.text.numbers import equation_of_pvalue, format_count, format_level

if TYPE_CHECKING:
    from pueval.estimates.audit import Audit
    from pueval.evaluation.evaluation import Evaluation

# Largest number of audited rows that are drawn.
MOST_TICKS = 1000
DIGITS = 5


def audited_shares(ev: Evaluation) -> dict[str, Any] | None:
    """Return the intervals of prior and purity by the audit; None if there was none.

    The interval of the purity is None if no labeled row was audited.
    """
    if ev.assumptions.audited is None:
        return None
    return {
        "level": 0.95 if ev.resampling is None else ev.resampling.level,
        "prior": audited_interval(ev, "prior"),
        "purity": audited_interval(ev, "purity"),
    }


def audit_section(ev: Evaluation, audit: Audit) -> dict[str, Any]:
    """Return the content of the section about the audit of one model.

    Returns
    -------
    dict
        ``sentences`` say what the audit found, and ``prior_sentences`` where the prior comes from.
        ``estimates`` have a title, a value and an interval each. ``widths`` have a title and the
        widths of three intervals: with the audit, without it, and by the audit alone. ``pvalue`` is
        that of random labeling. ``curve`` has the propensity by ascending score: it is constant
        from each score to the next. ``ticks`` are audited rows; ``n_ticks`` is the number of all
        audited rows.
        Scores come with their ranks, the share of rows that score lower.
    """
    rows = audit.applied.rows.used
    return {
        "level": audit.level,
        "sentences": [
            printable_text(line)
            for line in (*audit.sentences(), LABELING_SENTENCES[audit.labeling])
        ],
        "prior_sentences": _prior_sentences(ev, audit),
        "estimates": _estimates(ev, audit),
        "widths": [] if audit._settings is None else [row[:4] for row in audit.widths().rows()],
        "widths_note": NOTE,
        "pvalue": audit.random_labeling_pvalue,
        "curve": _curve(audit),
        "ticks": {
            name: _scores_and_ranks(audit.counts, _thinned(rows.score[where], len(rows)))
            for name, where in (("positive", rows.positive), ("negative", ~rows.positive))
        },
        "n_ticks": len(rows),
    }


def _estimates(ev: Evaluation, audit: Audit) -> list[tuple[Any, ...]]:
    """Return title, value and interval of each share that the audit determines.

    Prior and purity are those of the evaluation.
    """
    mixture = ev.mixture
    prior, purity = (audited_interval(ev, name) for name in ("prior", "purity"))
    assert prior is not None  # noqa: S101 - every audit determines the prior
    alone = audit.prior_by_audit_alone
    return [
        ("Prior, by audit, labels and scores", mixture.prior, *prior),
        *([] if alone is None else [("Prior, by the audit alone", *alone)]),
        ("Label frequency", *audit.label_frequency),
        *([] if purity is None else [("Purity", mixture.purity, *purity)]),
        ("Labeling bias Λ", *audit.labeling_bias),
    ]


def _prior_sentences(ev: Evaluation, audit: Audit) -> list[str]:
    """Say where the prior comes from."""
    estimates = {title: (value, ends) for title, value, *ends in _estimates(ev, audit)}
    prior, together = estimates["Prior, by audit, labels and scores"]
    frequency, ends = estimates["Label frequency"]
    level = format_level(audit.level)

    def interval(ends: Any) -> str:
        low, high = ends
        return f"{level} CI {low:.3g} to {high:.3g}"

    pvalue = audit.random_labeling_pvalue
    shown = equation_of_pvalue(pvalue)
    alone = []
    if (by_audit := audit.prior_by_audit_alone) is not None:
        rows = f"The {format_count(audit.n_unlabeled)} audited unlabeled rows"
        alone = [f"{rows} alone give {by_audit.value:.3g} ({interval(by_audit[1:])})."]
    return [
        f"The audit determines the prior: it is {prior:.3g} ({interval(together)}).",
        *alone,
        f"So {frequency:.3g} of all positives are labeled ({interval(ends)}).",
        f"The test of random labeling gives {shown}.",
    ]


def _curve(audit: Audit) -> dict[str, Any]:
    curve = audit.propensity()
    columns = {name: getattr(curve, name)[::-1] for name in ("propensity", "low", "high")}
    return {
        **_scores_and_ranks(audit.counts, curve.score[::-1]),
        **{name: np.round(column, DIGITS) for name, column in columns.items()},
        "highest": curve._highest,
    }


def _thinned(score: Array, n_rows: int) -> Array:
    """Return ascending scores; only a share of them if all ``n_rows`` rows are too many."""
    number = score.size if n_rows <= MOST_TICKS else score.size * MOST_TICKS // n_rows
    place = np.linspace(0, score.size - 1, number).round().astype(np.intp)
    thinned: Array = np.sort(score)[place]
    return thinned


def _scores_and_ranks(counts: Counts, score: Array) -> dict[str, Any]:
    """Return scores with the share of rows that score lower."""
    return {"score": score, "rank": np.round(1 - rows_above(counts, score) / counts.n, DIGITS)}
