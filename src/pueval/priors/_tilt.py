"""Tilt: prior and purity from a smooth monotone model of the density ratio."""

from __future__ import annotations

from numbers import Real
from typing import Any, Literal

import numpy as np
from scipy.interpolate import PchipInterpolator
from scipy.special import chdtrc, expit, logit, ndtri

from pueval._checks import check_fraction, percent_hint
from pueval._typing import Array
from pueval.counts.counts import Counts
from pueval.errors import InputError
from pueval.priors._reduced import reduced
from pueval.priors._score_estimator import ScorePriorEstimator
from pueval.priors._tilt_likelihood import CERTAIN, PURITY_BETA, Fits, TiltLikelihood, softplus

# Bins of the normal score; with more of them the prior changes by about 0.0003.
BINS = 400
# Shares outside of these logits are not told apart from 0 and 1.
LOWEST, HIGHEST = -8.0, 9.0
# Where the likelihood is evaluated, in standard errors from its maximum.
NODES = np.array([0, 0.35, 0.7, 1.1, 1.6, 2.2, 2.8, 3.5, 4.5, 6, 8, 12])
NODES = np.r_[-NODES[:0:-1], NODES]
STARTS = np.array([(-2.0, 3.0), (0.0, 3.0), (1.5, 4.0), (-1.0, 1.0)])


class Tilt(ScorePriorEstimator):
    r"""Prior, or prior and purity, by a tilt model of the scores.

    The score is replaced by the normal quantile z of its rank, labeled and unlabeled rows
    having equal total weight. The densities of positives and negatives differ by a tilt,
    :math:`f_1 / f_0 = e^{\eta(z)}`, with η increasing. Then a row with z is labeled with odds

    .. math:: \frac{n_L}{n_U} \cdot \frac{\text{purity}\, e^{\eta} + 1 - \text{purity}}
              {\text{prior}\, e^{\eta} + 1 - \text{prior}},

    a logistic likelihood. A linear η is exact for normal scores of equal variance and wrong for
    most others, so :math:`\ln \eta'` is a smooth random function (a Gaussian process with seven
    knots) that the data bend away from a constant. The likelihood is maximized over η for
    each of some two dozen priors and integrated over η by Laplace's method. With weak
    priors, Beta(1, 2) for the prior and Beta(2, ¼) for the purity, this gives a posterior
    density; its median is the estimate and its quantiles are the interval.

    Parameters
    ----------
    purity : float or "estimate", default 1.0
        Share of true positives among the labeled rows, or ``"estimate"`` to estimate it too.
    level : float, default 0.95
        Level of the intervals.

    Attributes
    ----------
    prior_, purity_ : float
        The estimates.
    prior_interval_, purity_interval_ : tuple of float
        Limits; for the purity None unless it is estimated, and up to exactly 1 if purity 1 is not
        rejected.
    purity_pvalue_ : float or None
        p-value of the likelihood-ratio test of purity = 1, if the purity is estimated. The
        parameter lies on the boundary there: the reference is half chi-square with 1 degree
        of freedom, half 0.
    separated_ : bool
        Whether labeled rows score significantly higher than unlabeled ones (one-sided 5 %). If
        not, the prior is not identified: the intervals are (0, 1), and the estimates mean
        nothing.
    prior_grid_, prior_density_ : ndarray
        The posterior density of the prior, to be drawn.
    score_, log_density_ratio_ : ndarray
        Distinct scores, ascending, and ln(f1/f0) there.

    Notes
    -----
    The prior is identified only as far as η can be extrapolated: if even at the highest scores
    positives are not much more frequent than negatives, data from a larger prior look the same.
    The interval allows for this, up to a point. On simulated scores of 14 kinds 95 % intervals
    held the prior in 95 % of cases (a linear η with profile likelihood: 72 %), but in 71 % for
    heavy-tailed scores whose f1/f0 falls again at the top; on scores of real classifiers in 92 %.
    They fail on the low side: the prior is then smaller than the interval says. Profile
    likelihood of the same model covers almost as well (94 %), Wald intervals on the logit
    scale do not (90 %).

    A low p-value of purity = 1 means wrong labels, or positives that look just like negatives:
    the scores cannot tell these apart. On simulated scores with clean labels 5 % of the p-values
    were below .05 on average: none where f1/f0 goes to 0 at the bottom, up to 23 % where it does
    not; on real ones 14 %. The smooth random function was chosen with the same kinds of scores
    (other draws) and the same real data sets, so expect somewhat less elsewhere.

    Labels that favor high or low scores mislead this estimator like every other.

    References
    ----------
    Qin (1998) and Liu et al. (2025, arXiv 2407.09735) on density-ratio models and exponential
    tilts; Tierney and Kadane (1986) on Laplace's method.

    Examples
    --------
    >>> import numpy as np
    >>> from pueval.priors._tilt import Tilt
    >>> rng = np.random.default_rng(0)
    >>> score = np.r_[rng.normal(2.5, 1, 300), rng.normal(2.5, 1, 600), rng.normal(0, 1, 1400)]
    >>> estimator = Tilt().fit(score, np.repeat([1, 0], [300, 2000]))
    >>> round(estimator.prior_, 1)
    0.3
    >>> low, high = estimator.prior_interval_
    >>> bool(low < 0.3 < high)
    True
    """

    purity_pvalue_: float | None
    separated_: bool
    prior_grid_: Array
    prior_density_: Array
    score_: Array
    log_density_ratio_: Array

    def __init__(self, *, purity: float | Literal["estimate"] = 1.0, level: float = 0.95) -> None:
        self.purity = purity
        self.level = level

    def density_ratio(self, score: Any) -> Array:
        """Density of positives over density of negatives.

        Parameters
        ----------
        score : array-like
            Scores; those between two fitted ones are interpolated.

        Returns
        -------
        ndarray
        """
        wanted = np.asarray(score, dtype=np.float64)
        return np.exp(np.interp(wanted, self.score_, self.log_density_ratio_))

    def _estimate(self, counts: Counts) -> None:
        known = self._check()
        self.score_, z, labeled, unlabeled = _normal_scores(counts)
        self.separated_ = _separated(labeled, unlabeled)
        model = _binned(z, labeled, unlabeled)
        free = model.WITHOUT_PURITY
        start = np.zeros((len(STARTS), model.PURITY + 1))
        start[:, model.PRIOR :] = STARTS
        self.purity_pvalue_ = None
        if known is None:
            free = (*free, model.PURITY)
        else:
            start[:, model.PURITY] = logit(known) if known < 1 else CERTAIN
            start[:, model.PRIOR] = np.minimum(start[:, model.PRIOR], start[:, model.PURITY] - 1)
        peaks = model.maximize(start, free)
        best = int(np.argmin(peaks.loss))
        peak = Fits(peaks.parameters[[best]], peaks.loss[[best]], peaks.information[[best]])

        nodes = _along(model, peak, free, model.PRIOR)
        grid, density = _posterior(nodes.parameters[:, model.PRIOR], nodes.integrated)
        self.prior_grid_, self.prior_density_ = grid, density
        low, self.prior_, high = _quantiles(grid, density, self.level)
        self.purity_ = known if known is not None else 1.0
        self.prior_interval_ = (min(low, self.purity_), min(high, self.purity_))
        if known is None:
            self._estimate_purity(model, _along(model, peak, free, model.PURITY))
        self.prior_ = min(self.prior_, self.purity_)
        if not self.separated_:
            self.prior_interval_ = (0.0, 1.0)
            self.purity_interval_ = None if known is not None else (0.0, 1.0)
        chosen = _between(nodes.parameters, model.PRIOR, float(logit(self.prior_)))
        ratio = model.log_ratio(chosen[None])[0][0]
        self.log_density_ratio_ = np.interp(z, model.z, ratio)

    def _estimate_purity(self, model: TiltLikelihood, nodes: Fits) -> None:
        x = nodes.parameters[:, model.PURITY]
        # The node of purity 1 is for the test only: it is at infinity on the logit scale.
        grid, density = _posterior(x[:-1], nodes.integrated[:-1])
        low, self.purity_, high = _quantiles(grid, density, self.level)
        self.purity_pvalue_ = _pvalue(model, nodes)
        if self.purity_pvalue_ > (1 - self.level) / 2:
            high = 1.0
        self.purity_interval_ = (low, high)

    def _check(self) -> float | None:
        """Return the known purity, or None if it is to be estimated."""
        check_fraction("level", self.level)
        purity: Any = self.purity
        if isinstance(purity, str) and purity == "estimate":
            return None
        if isinstance(purity, bool | np.bool_) or not isinstance(purity, Real):
            raise InputError(f'purity must be a number or "estimate"; got {purity!r}.')
        if not 0 < purity <= 1:  # type: ignore[operator]
            raise InputError(f"purity must be in (0, 1]; got {purity!r}.{percent_hint(purity)}")
        return float(purity)


def _normal_scores(counts: Counts) -> tuple[Array, Array, Array, Array]:
    """Ascending scores, normal quantiles of their ranks, and effective rows of both kinds."""
    table = reduced(counts)
    score = table.score[::-1].astype(np.float64)
    # Rows with weights carry less information than their number says.
    labeled, unlabeled = (rows[::-1] for rows in table.effective())
    weight = labeled / labeled.sum() / 2 + unlabeled / unlabeled.sum() / 2
    return score, ndtri(np.cumsum(weight) - weight / 2), labeled, unlabeled


def _separated(labeled: Array, unlabeled: Array) -> bool:
    """Whether labeled rows rank higher than unlabeled ones (rows of ascending scores)."""
    a, b = labeled / labeled.sum(), unlabeled / unlabeled.sum()
    below_a, below_b = np.cumsum(a) - a / 2, np.cumsum(b) - b / 2
    auc = float(a @ below_b)
    variance = (a @ (below_b - auc) ** 2) / labeled.sum()
    variance += (b @ (1 - below_a - auc) ** 2) / unlabeled.sum()
    return bool(auc - 0.5 > 1.645 * np.sqrt(variance))


def _binned(z: Array, labeled: Array, unlabeled: Array) -> TiltLikelihood:
    """Likelihood on bins of equal width in z; each stands at its mean."""
    if z.size <= BINS:
        return TiltLikelihood(z, labeled, unlabeled)
    place = ((z - z[0]) / (z[-1] - z[0]) * BINS).astype(int)
    first = np.flatnonzero(np.r_[True, np.diff(np.minimum(place, BINS - 1)) > 0])
    weight = labeled / labeled.sum() + unlabeled / unlabeled.sum()
    mean = np.add.reduceat(weight * z, first) / np.add.reduceat(weight, first)
    return TiltLikelihood(mean, np.add.reduceat(labeled, first), np.add.reduceat(unlabeled, first))


def _along(model: TiltLikelihood, peak: Fits, free: tuple[int, ...], fixed: int) -> Fits:
    """Maxima over the other free parameters, with one fixed at several nodes."""
    others = tuple(index for index in free if index != fixed)
    place = free.index(fixed)
    rest = [index for index in range(len(free)) if index != place]
    information = peak.information[0]
    # The direction in which the others follow the fixed one, and its standard error.
    follow = -np.linalg.solve(information[np.ix_(rest, rest)], information[rest, place])
    error = 1 / np.sqrt(information[place, place] + information[place, rest] @ follow)
    center = peak.parameters[0]
    nodes = np.unique(np.clip(center[fixed] + min(error, 1.5) * NODES, LOWEST, HIGHEST))
    if fixed == model.PURITY:
        nodes = np.r_[nodes, CERTAIN]
    start = np.repeat(peak.parameters, nodes.size, axis=0)
    way = np.clip(nodes - center[fixed], -3 * error, 3 * error)
    start[:, list(others)] += way[:, None] * follow
    start[:, fixed] = nodes
    return model.maximize(start, others)


def _posterior(nodes: Array, log_density: Array) -> tuple[Array, Array]:
    """Shares on a fine grid, and the density there, from its logarithm at some logits."""
    x = np.linspace(LOWEST, HIGHEST, 1701)
    inside = np.clip(x, nodes[0], nodes[-1])
    log_density = PchipInterpolator(nodes, log_density)(inside)
    # Beyond the nodes the density falls on, about as the weak priors do.
    log_density -= np.where(x < inside, inside - x, 2 * (x - inside))
    density = np.exp(log_density - log_density.max())
    share = expit(x)
    # From a density of the logit to one of the share itself.
    density = density / (share * (1 - share))
    return share, density / np.trapezoid(density, share)


def _pvalue(model: TiltLikelihood, nodes: Fits) -> float:
    """Likelihood-ratio test of the last node, purity 1, against the best of all."""

    def loss(fits: Fits) -> Array:
        a, b = PURITY_BETA
        x = fits.parameters[:, model.PURITY]
        return fits.loss - a * softplus(-x) - b * softplus(x)

    pair = nodes.parameters[[int(np.argmin(loss(nodes))), -1]]
    best, clean = loss(model.maximize(pair, model.WITHOUT_PURITY, steps=40, tolerance=1e-6))
    excess = 2 * float(clean - best)
    # Less than the maximization resolves is nothing.
    return float(chdtrc(1, excess)) / 2 if excess > 1e-3 else 1.0


def _quantiles(grid: Array, density: Array, level: float) -> tuple[float, float, float]:
    steps = np.diff(grid) * (density[1:] + density[:-1]) / 2
    below = np.r_[0.0, np.cumsum(steps)]
    tail = (1 - level) / 2
    low, middle, high = np.interp([tail, 0.5, 1 - tail], below / below[-1], grid)
    return float(low), float(middle), float(high)


def _between(parameters: Array, column: int, value: float) -> Array:
    """Parameters of all fits, interpolated to a given value of one of them."""
    nodes = parameters[:, column]
    return np.array([np.interp(value, nodes, other) for other in parameters.T])
