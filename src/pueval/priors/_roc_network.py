"""RocNetwork: neural networks that predict the prior and the purity from the ROC curve."""

from __future__ import annotations

from pueval._checks import check_number
from pueval.counts.counts import Counts
from pueval.errors import InputError
from pueval.priors._estimator_bases import PurityPriorEstimator
from pueval.priors._labeled_unlabeled_counts import NOT_SEPARATED, LabeledUnlabeledCounts
from pueval.priors._networks import LEVELS, load_ensemble, predict
from pueval.priors._roc_features import roc_features


class RocNetwork(PurityPriorEstimator):
    """Prior, or prior and purity, predicted from the ROC curve by neural networks.

    About 150 features describe the ROC curve of labeled positives against unlabeled rows: the share
    of unlabeled rows above several quantiles of the labeled positives, the share of labeled
    positives below several quantiles of the unlabeled rows, ratios of tail shares with their
    standard errors, slopes of the convex minorant, the smallest ratio of tail shares at several
    margins of error, the area, and the sample sizes. Small networks predict quantiles of the prior
    (and the purity) from them. They were trained with the pinball loss on mixtures of normal
    distributions, scored by the density ratio, by a wrong density ratio or by a linear function,
    with hard and easy positives, hard negatives, noise and ties. The median is the estimate. The
    other quantiles were calibrated on held-out mixtures until the intervals had their nominal
    coverage (conformal calibration).

    The training script is ``benchmarks/priors/train_networks.py``.

    The method assumes random labeling (wrongly labeled rows, if the purity is estimated, are a
    random draw from the negatives), and a curve like those of the simulated mixtures, which had
    priors below 0.95, 20 to 200,000 labeled and 100 to a million unlabeled rows. It does not
    converge: with very many rows, an error of about 0.02 remains. `Consensus` combines it with
    methods that converge.

    Parameters
    ----------
    purity : 1.0 or "estimate", default 1.0
        1.0 for clean labels, ``"estimate"`` to estimate the purity together with the prior.
    level : float, default 0.95
        Confidence level of the intervals, in (0, 0.99].

    Attributes
    ----------
    prior_, purity_ : float
        Estimates: predicted medians.
    prior_interval_ : tuple of float
        Confidence interval of the prior; (0, 1) if labeled positives do not score higher than
        unlabeled rows.
    purity_interval_ : tuple of float, or None
        Confidence interval of the purity; None unless it is estimated.

    References
    ----------
    Koenker and Bassett (1978) for the pinball loss; Romano, Patterson and Candès (2019) for the
    calibration of quantile regression; Zeiberg, Jain and Radivojac (2020) for learning to estimate
    the prior from simulated mixtures.

    Examples
    --------
    >>> import numpy as np
    >>> from pueval.priors import RocNetwork
    >>> rng = np.random.default_rng(0)
    >>> hidden = rng.random(2000) < 0.3                          # 30% of the unlabeled
    >>> score = np.r_[rng.normal(2.5, 1, 500), rng.normal(2.5 * hidden, 1)]
    >>> y = np.repeat([1, 0], [500, 2000])
    >>> estimator = RocNetwork().fit(score, y)
    >>> round(estimator.prior_, 1)
    0.3
    >>> estimator.prior_interval_[0] < 0.3 < estimator.prior_interval_[1]
    True
    """

    def _estimate(self, counts: Counts) -> None:
        if self.purity not in (1.0, "estimate"):
            raise InputError(f'purity must be 1.0 or "estimate"; got {self.purity!r}.')
        if not 0 < check_number("level", self.level) <= LEVELS[-1]:
            raise InputError(f"level must be a number in (0, {LEVELS[-1]}]; got {self.level!r}.")
        table = LabeledUnlabeledCounts.from_counts(counts)
        ensemble = load_ensemble("roc_pure" if self.purity == 1.0 else "roc_both")
        quantiles = predict(ensemble, roc_features(*table.effective_counts())[None])
        values = quantiles.middle[0].tolist()
        intervals = [quantiles.interval(target, self.level) for target in range(len(values))]
        if not table.separates:
            self._note(NOT_SEPARATED)
            intervals = [(0.0, 1.0)] * len(intervals)
        self.prior_, self.prior_interval_ = values[0], intervals[0]
        if self.purity == "estimate":
            self.purity_, self.purity_interval_ = values[1], intervals[1]
