"""ElkanNoto: the prior from scores that are probabilities of being labeled."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np

from pueval.counts.counts import Counts
from pueval.errors import InputError
from pueval.priors._frequency import prior_from_label_frequency
from pueval.priors._score_estimator import ScorePriorEstimator
from pueval.samples.sample import Sample

Kind = Literal["e1", "e2", "e3"]
# A mean score this many standard errors, and this far relatively, off the labeled share is
# no calibrated probability of being labeled.
FAR_ERRORS, FAR_RATIO = 5.0, 1.25


class ElkanNoto(ScorePriorEstimator):
    """Prior from a calibrated probability of being labeled.

    If the labeled rows are a random draw from the positives, then
    P(labeled | x) = label_frequency · P(positive | x). Where a row is surely positive, the score
    s(x) = P(labeled | x) is the label frequency itself. With L the labeled rows and U the
    unlabeled ones, the three estimates of the label frequency are

    - ``"e1"``: mean of s over L,
    - ``"e2"``: sum of s over L / sum of s over L ∪ U,
    - ``"e3"``: maximum of s over L ∪ U.

    The three assume the single-sample setting: L and U together are the population in which
    P(labeled | x) is meant. The prior, which is the share of positives among U alone, follows
    exactly: prior = n_L·(1 − label_frequency) / (label_frequency·n_U).

    Parameters
    ----------
    kind : {"e1", "e2", "e3"}, default "e1"
        The estimate of the label frequency.

    Attributes
    ----------
    prior_ : float
        Share of positives among the unlabeled rows.
    label_frequency_ : float
        The estimate of the share of all positives that are labeled, before it is made feasible.
    purity_ : float
        Always 1: labels are taken as clean.

    Warns
    -----
    AssumptionWarning
        If the label frequency is not above the labeled share, which would make every unlabeled
        row a positive: the prior is then clipped to n_U / (n_U + 1). Also if the mean score
        is far from the labeled share, so that the score cannot be calibrated.

    Notes
    -----
    The score must be P(labeled | x) in the given rows, labeled share included: no class weights,
    no resampling, and from a model that was not trained on these rows. e1 and e2 need every
    positive to be surely positive (P(positive | x) = 1); where the classes overlap, both are too
    low and the prior is too high. e3 needs one such row only, but takes the
    largest of many noisy values and so is mostly too high, with too low a prior.

    References
    ----------
    Elkan and Noto (2008), Learning classifiers from only positive and unlabeled data.

    Examples
    --------
    >>> from pueval import Counts
    >>> from pueval.priors._elkan_noto import ElkanNoto
    >>> counts = Counts.from_table([0.4, 0.01], labeled=[99, 1], unlabeled=[150, 110])
    >>> estimate = ElkanNoto().fit(counts)
    >>> round(estimate.label_frequency_, 4), round(estimate.prior_, 4)
    (0.3961, 0.5864)
    """

    label_frequency_: float

    def __init__(self, kind: Kind = "e1") -> None:
        self.kind = kind

    def _estimate(self, counts: Counts) -> None:
        if self.kind not in get_args(Kind):
            raise InputError(f"kind must be 'e1', 'e2' or 'e3'; got {self.kind!r}.")
        # Sums and ends need no merged table, so ten million rows are one pass.
        labeled, unlabeled, _ = counts._samples
        (low, high), (low_u, high_u) = _range(labeled), _range(unlabeled)
        low, high = min(low, low_u), max(high, high_u)
        if low < 0 or high > 1:
            raise InputError(
                "ElkanNoto works on calibrated probabilities of being labeled, in [0, 1]; got "
                f"scores from {low:g} to {high:g}. Calibrate the score against the labels first, "
                "or take an estimator that uses the ranking only."
            )
        if low == high:
            raise InputError(
                f"all scores are {low:g}; a constant score tells nothing about the prior."
            )
        sum_labeled, square_labeled = _sums(labeled)
        sum_unlabeled, square_unlabeled = _sums(unlabeled)
        total = sum_labeled + sum_unlabeled
        if _is_far(counts, total, total - square_labeled - square_unlabeled):
            rows = counts.n_labeled + counts.n_unlabeled
            self._note(
                f"the mean score is {total / rows:.4g}, but {counts.n_labeled / rows:.4g} of the "
                "rows are labeled: the score is no calibrated probability of being labeled, and "
                "the prior from ElkanNoto will be wrong. Calibrate the score on labeled against "
                "unlabeled rows, without class weights."
            )
        if self.kind == "e1":
            self.label_frequency_ = sum_labeled / counts.n_labeled
        elif self.kind == "e2":
            self.label_frequency_ = sum_labeled / total
        else:
            self.label_frequency_ = high
        name = f"ElkanNoto ({self.kind})"
        self.prior_, notes = prior_from_label_frequency(
            counts, min(self.label_frequency_, 1.0), name
        )
        self._note(*notes)


def _range(kind: Sample) -> tuple[float, float]:
    return (
        float(min(chunk.values[0] for chunk in kind.chunks)),
        float(max(chunk.values[-1] for chunk in kind.chunks)),
    )


def _sums(kind: Sample) -> tuple[float, float]:
    """Return the weighted sums of the scores and of their squares."""
    first = second = 0.0
    for chunk in kind.chunks:
        values = chunk.values.astype(np.float64, copy=False)
        weighted = values if chunk.count is None else values * chunk.count
        first += float(weighted.sum())
        second += float(weighted @ values)
    return first, second


def _is_far(counts: Counts, total: float, variance: float) -> bool:
    """Calibrated scores add up to the number of labeled rows."""
    off = abs(total - counts.n_labeled)
    ratio = max(total, counts.n_labeled) / max(min(total, counts.n_labeled), 1e-300)
    return bool(ratio > FAR_RATIO and off > FAR_ERRORS * np.sqrt(max(variance, 1.0)))
