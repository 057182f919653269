"""ElkanNoto: the prior from calibrated probabilities of being labeled."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np

from pueval._checks import check_choice
from pueval.counts.counts import Counts
from pueval.errors import InputError
from pueval.priors._estimator_bases import ScorePriorEstimator
from pueval.samples.sample import Sample, score_range

Kind = Literal["e1", "e2", "e3"]
# The score counts as miscalibrated if its sum differs from the number of labeled rows by more than
# this many standard errors, and by more than this ratio.
MISCALIBRATED_ERRORS, MISCALIBRATED_RATIO = 5.0, 1.25


class ElkanNoto(ScorePriorEstimator):
    """Prior from a calibrated probability of being labeled.

    Under random labeling, P(labeled | x) = label_frequency · P(positive | x). If a row is certain
    to be positive, its score s(x) = P(labeled | x) equals the label frequency. With L the labeled
    and U the unlabeled rows, the three estimates of the label frequency are

    - ``"e1"``: mean of s over L,
    - ``"e2"``: sum of s over L / sum of s over L ∪ U,
    - ``"e3"``: maximum of s over L ∪ U.

    All three assume the single-sample design: P(labeled | x) refers to the population of L and U
    together. The share of positives among U alone follows:
    prior = n_L·(1 − label_frequency) / (label_frequency·n_U).

    Parameters
    ----------
    kind : {"e1", "e2", "e3"}, default "e1"
        Estimate of the label frequency.

    Attributes
    ----------
    prior_ : float
        Share of positives among the unlabeled rows.
    label_frequency_ : float
        Estimated share of all positives that are labeled, before clipping.
    purity_ : float
        Always 1: the estimator assumes clean labels.

    Warns
    -----
    AssumptionWarning
        If the label frequency is at or below the labeled share, which would make every unlabeled
        row positive; the prior is then clipped to n_U / (n_U + 1). Also if the mean score is far
        from the labeled share, so that the score cannot be calibrated.

    Notes
    -----
    The score must estimate P(labeled | x) for these rows: out-of-fold, without class weights and
    without resampling. e1 and e2 assume that every positive is certain to be positive
    (P(positive | x) = 1). If the classes overlap, both are too low and the prior is too high. e3
    only needs one such row, but the largest of many noisy values is usually too high, which makes
    the prior too low.

    References
    ----------
    Elkan and Noto (2008), Learning classifiers from only positive and unlabeled data.

    Examples
    --------
    >>> from pueval import Counts
    >>> from pueval.priors import ElkanNoto
    >>> counts = Counts.from_table([0.4, 0.01], labeled=[99, 1], unlabeled=[150, 110])
    >>> estimator = ElkanNoto().fit(counts)
    >>> round(estimator.label_frequency_, 4), round(estimator.prior_, 4)
    (0.3961, 0.5864)
    """

    label_frequency_: float

    def __init__(self, kind: Kind = "e1") -> None:
        self.kind = kind

    def _estimate(self, counts: Counts) -> None:
        check_choice("kind", self.kind, get_args(Kind))
        # Sums and extremes do not need the merged table: one pass, even over ten million rows.
        labeled, unlabeled, _ = counts._samples
        low, high = map(float, score_range([labeled, unlabeled]))
        if low < 0 or high > 1:
            raise InputError(
                "ElkanNoto needs calibrated probabilities of being labeled, in [0, 1]; got scores "
                f"from {low:g} to {high:g}. Calibrate the score against the labels, or use an "
                "estimator that only needs a ranking."
            )
        if low == high:
            raise InputError(f"all scores are {low:g}. Pass scores that rank the rows.")
        sum_labeled, square_labeled = _moments(labeled)
        sum_unlabeled, square_unlabeled = _moments(unlabeled)
        total = sum_labeled + sum_unlabeled
        if _miscalibrated(counts, total, total - square_labeled - square_unlabeled):
            rows = counts.n_labeled + counts.n_unlabeled
            self._note(
                f"the mean score is {total / rows:.4g}, but {counts.labeled_share:.4g} of the "
                "rows are labeled, so the score is not a calibrated probability of being labeled "
                "and ElkanNoto's prior is wrong. Calibrate the score on labeled against unlabeled "
                "rows, without class weights."
            )
        frequencies = {"e1": sum_labeled / counts.n_labeled, "e2": sum_labeled / total, "e3": high}
        self.label_frequency_ = frequencies[self.kind]
        frequency = min(self.label_frequency_, 1.0)
        name = f"ElkanNoto ({self.kind})"
        self.prior_ = self._prior_from_label_frequency(counts, frequency, name)


def _moments(sample: Sample) -> tuple[float, float]:
    """Return the weighted sums of the scores and of their squares."""
    first = second = 0.0
    for chunk in sample.chunks:
        values = chunk.values.astype(np.float64, copy=False)
        weighted = values if chunk.count is None else values * chunk.count
        first += float(weighted.sum())
        second += float(weighted @ values)
    return first, second


def _miscalibrated(counts: Counts, total: float, variance: float) -> bool:
    """Return whether the sum of the scores is far from the number of labeled rows."""
    error = abs(total - counts.n_labeled)
    ratio = max(total, counts.n_labeled) / max(min(total, counts.n_labeled), 1e-300)
    return bool(
        ratio > MISCALIBRATED_RATIO and error > MISCALIBRATED_ERRORS * np.sqrt(max(variance, 1.0))
    )
