"""The labeling model: what labels, rows and audited rows say together about the positives.

Let π(s) be the probability that a row with score s is positive, e(s) the probability that such a
row is labeled if it is positive (the propensity), and w the probability that a negative row is
labeled by mistake. Then

- a row is labeled with probability π·e + (1 − π)·w;
- an audited unlabeled row turns out to be positive with odds π·(1 − e) : (1 − π)·(1 − w);
- an audited labeled row turns out to be positive with odds π·e : (1 − π)·w.

All rows together tell π·e well, and only the audit tells π and e apart. Both are logistic functions
of the score: a constant, a slope, and a deviation from the line. Deviations can have steps. How
large slope and deviation of e are depends on `labeling`:

- ``"random"``: neither; every positive is equally likely to be labeled (SCAR);
- ``"score"``: a slope only;
- ``"smooth"``: both.

The standard deviations of the deviations of π and e are not known. Every pair in a small grid has a
posterior of its own, and they are averaged with their marginal likelihoods. So the less the audit
speaks against random labeling, the more the estimates shrink toward it. π has to be as free as e:
where a smooth π cannot follow the scores, e would.

The posterior is explored by Metropolis–Hastings steps from its normal approximations (the
preconditioned Crank–Nicolson steps of Cotter, Roberts, Stuart and White, 2013).
"""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Literal

import numpy as np
import scipy  # loads its submodules when they are first used

from pueval._typing import Array
from pueval.audit_estimates.score_cells import ScoreCells

Labeling = Literal["smooth", "random", "score", "any"]
ModelLabeling = Literal["smooth", "random", "score"]


def model_labeling(labeling: Labeling) -> ModelLabeling:
    """Return the labeling of the model that ``labeling`` uses: "any" corrects the default."""
    return "smooth" if labeling == "any" else labeling


# Standard deviations of constant and slope (per unit of position) of logit π, and of its deviation.
POSITIVE_SCALES = (10.0, 5.0)
POSITIVE_DEVIATION_SCALES = (0.5, 1.5, 3.0)
# Standard deviation of the constant of logit e, around 0.
LEVEL_SCALE = 3.0
# Standard deviations of the slope of logit e, per standard deviation of the labeled rows, and of
# its deviation. Chosen by simulation (benchmarks/audit.py).
SLOPE_SCALES = {"random": 0.0, "score": 1.5, "smooth": 1.0}
DEVIATION_SCALES = {"random": (0.0,), "score": (0.0,), "smooth": (0.5, 1.5, 3.0)}
# Length, in units of position, power and number of the basis functions of the deviations.
BASIS = (1.0, 1.0, 20)
# Precision of a coefficient that is 0.
FIXED = 1e8
# Markov chains, their steps before the first draw and between draws, and the correlation of a
# proposal with the current state.
CHAINS, FIRST_STEPS, STEPS = 500, 20, 6
PROPOSAL_CORRELATION = 0.8
# Draws are spread around their mean by √(1 + EXTRA_VARIANCE/n), at most MOST_SPREAD, with n audited
# positives: no curve of the model is exactly right, and a few positives vary more than it says.
# Chosen by simulation of coverage (benchmarks/audit.py).
EXTRA_VARIANCE, MOST_SPREAD = 8.0, 1.3
# Newton's method stops when no posterior density gains more than this, on the log scale.
TOLERANCE = 1e-4
MOST_STEPS = 60
# Products of three odds must be finite.
MOST_LOGIT = 200.0
TINY = 1e-300


@dataclass(frozen=True, eq=False)
class AuditTally:
    """Audited rows in each cell, by label and truth; in units of effective rows."""

    unlabeled_positive: Array
    unlabeled_negative: Array
    labeled_positive: Array
    labeled_negative: Array

    @classmethod
    def empty(cls, n_cells: int) -> AuditTally:
        """Return the tally of no audit."""
        return cls(*np.zeros((4, n_cells)))


@dataclass(frozen=True, eq=False)
class Posterior:
    """Draws from the posterior; arrays of shape (n_draws, k).

    Attributes
    ----------
    positive : ndarray
        Probability that a row of the cell is positive, π.
    unlabeled_positive : ndarray
        Probability that an unlabeled row of the cell is positive.
    labeled_positive : ndarray
        Probability that a labeled row of the cell is positive.
    propensity : ndarray
        Probability that a positive row of the cell is labeled, e.
    """

    positive: Array
    unlabeled_positive: Array
    labeled_positive: Array
    propensity: Array


def _with_mean(draws: Array, other: Array) -> Array:
    """Scale draws of probabilities p, or of 1 − p if p is large, to the mean of other draws.

    Spreading coefficients on the logit scale moves the means of probabilities: those close to 0
    become several times as large.
    """
    large = other.mean(axis=0) > 0.5
    draws, other = (np.where(large, 1 - p, p) for p in (draws, other))
    scaled = draws * (other.mean(axis=0) / np.maximum(draws.mean(axis=0), TINY))
    probabilities: Array = np.where(large, 1 - scaled, scaled).clip(0, 1)
    return probabilities


def spread_draws(draws: Array, n_positive: float) -> Array:
    """Spread draws around their mean, the more the fewer positives were found."""
    factor = min(math.sqrt(1 + EXTRA_VARIANCE / max(n_positive, 1.0)), MOST_SPREAD)
    center = draws.mean(axis=0)
    spread: Array = center + factor * (draws - center)
    return spread


class LabelingModel:
    """Likelihood and normal approximations of the posterior.

    Parameters
    ----------
    cells : ScoreCells
        All rows.
    tally : AuditTally
        The audited ones among them.
    wrong_rate : float
        Probability w that a negative row is labeled by mistake; 0 for clean labels.
    """

    def __init__(self, cells: ScoreCells, tally: AuditTally, wrong_rate: float = 0.0) -> None:
        self.tally = tally
        self.wrong_rate = wrong_rate
        self.labeled = cells.labeled - tally.labeled_positive - tally.labeled_negative
        self.unlabeled = cells.unlabeled - tally.unlabeled_positive - tally.unlabeled_negative
        # Effective rows of an audit with unequal weights can exceed those of a cell by rounding.
        self.labeled, self.unlabeled = (x.clip(min=0) for x in (self.labeled, self.unlabeled))
        x, constant = cells.position, np.ones(cells.position.size)
        center = np.average(x, weights=cells.labeled)
        spread = np.sqrt(np.average((x - center) ** 2, weights=cells.labeled))
        slope = (x - center) / (spread or 1.0)
        deviations = cells.basis(*BASIS)
        self.positive_basis = np.column_stack([constant, x, deviations])
        self.propensity_basis = np.column_stack([constant, slope, deviations])
        self.split = self.positive_basis.shape[1]
        self.size = self.split + self.propensity_basis.shape[1]

    # ------------------------------------------------------------------ likelihood

    def probabilities(self, coefficients: Array) -> tuple[Array, Array]:
        """Return π and e in each cell, for each line of coefficients."""
        positive, propensity = (scipy.special.expit(x) for x in self._logits(coefficients))
        return positive, propensity

    def _logits(self, coefficients: Array) -> tuple[Array, Array]:
        return (
            coefficients[:, : self.split] @ self.positive_basis.T,
            coefficients[:, self.split :] @ self.propensity_basis.T,
        )

    def log_likelihood(self, coefficients: Array) -> Array:
        """Return the log-likelihood for each line of coefficients, up to a constant.

        With the odds a = (1 − π)/π and b = (1 − e)/e, every probability is a sum of products of
        a, b and w, divided by (1 + a) or (1 + a)(1 + b). So few logarithms are needed, and none of
        a difference.
        """
        logits = [x.clip(-MOST_LOGIT, MOST_LOGIT) for x in self._logits(coefficients)]
        negative_odds, unlabeled_odds = (np.exp(-logit) for logit in logits)
        tally, wrong = self.tally, self.wrong_rate
        found = tally.unlabeled_positive + tally.labeled_positive
        negative = tally.unlabeled_negative + tally.labeled_negative
        by_label = self.labeled + self.unlabeled + found
        mistakes = negative_odds * (1 + unlabeled_odds)
        terms = [
            (np.log1p(negative_odds), -by_label - negative),
            (np.log1p(unlabeled_odds), -by_label),
            (np.log(unlabeled_odds + mistakes * (1 - wrong)), self.unlabeled),
            (logits[0], -negative),
            (logits[1], -tally.unlabeled_positive),
        ]
        if wrong:
            terms.append((np.log1p(mistakes * wrong), self.labeled))
        total: Array = sum(np.vecdot(logarithm, weight) for logarithm, weight in terms)
        return total

    def score_and_information(self, coefficients: Array) -> tuple[Array, Array]:
        """Return the gradient of the log-likelihood, and the information matrix.

        The information is the expected one for the labels, of which there are many, and the
        observed one for the audited rows.
        """
        positive, propensity = self.probabilities(coefficients)
        tally, wrong = self.tally, self.wrong_rate
        is_labeled = positive * propensity + (1 - positive) * wrong
        variance = np.maximum(is_labeled * (1 - is_labeled), 1e-12)
        by_positive = positive * (1 - positive) * (propensity - wrong)
        by_propensity = positive * propensity * (1 - propensity)
        rows = self.labeled + self.unlabeled
        residual = (self.labeled - rows * is_labeled) / variance
        found = tally.unlabeled_positive + tally.labeled_positive
        checked = found + tally.unlabeled_negative + tally.labeled_negative
        slopes = (
            residual * by_positive + found - checked * positive,
            residual * by_propensity + tally.labeled_positive - found * propensity,
        )
        weights = (
            rows * by_positive**2 / variance + checked * positive * (1 - positive),
            rows * by_positive * by_propensity / variance,
            rows * by_propensity**2 / variance + found * propensity * (1 - propensity),
        )
        bases = self.positive_basis, self.propensity_basis
        gradient = np.concatenate(
            [slope @ basis for slope, basis in zip(slopes, bases, strict=True)], axis=1
        )
        upper, mixed, lower = (
            first.T @ (weight[:, :, None] * second)
            for weight, first, second in zip(
                weights, (bases[0], bases[0], bases[1]), (bases[0], bases[1], bases[1]), strict=True
            )
        )
        information = np.concatenate(
            [
                np.concatenate([upper, mixed], axis=2),
                np.concatenate([mixed.transpose(0, 2, 1), lower], axis=2),
            ],
            axis=1,
        )
        return gradient, information

    # ------------------------------------------------------------------ posterior

    def precisions(self, labeling: ModelLabeling) -> Array:
        """Return the prior precisions of the coefficients, a line for each pair of scales."""
        scales = [*product(POSITIVE_DEVIATION_SCALES, DEVIATION_SCALES[labeling])]
        constant, slope = POSITIVE_SCALES
        slope_scale = SLOPE_SCALES[labeling]
        lines = np.empty((len(scales), self.size))
        lines[:, :2] = 1 / constant**2, 1 / slope**2
        lines[:, self.split] = 1 / LEVEL_SCALE**2
        lines[:, self.split + 1] = 1 / slope_scale**2 if slope_scale else FIXED
        for line, (positive_scale, scale) in zip(lines, scales, strict=True):
            line[2 : self.split] = 1 / positive_scale**2
            line[self.split + 2 :] = 1 / scale**2 if scale else FIXED
        return lines

    def log_density(self, coefficients: Array, precision: Array) -> Array:
        """Return the log of the posterior density, up to a constant that depends on precision."""
        prior: Array = np.sum(coefficients**2 * precision, axis=1) / 2
        return self.log_likelihood(coefficients) - prior

    def modes(self, precision: Array, start: Array | None = None) -> Array:
        """Find the mode of the posterior for each line of prior precisions.

        Newton's method, with Levenberg's damping where a step does not help.
        """
        if start is None:
            n_labeled, n_unlabeled = self.labeled.sum(), self.unlabeled.sum()
            # No row is left if all were audited; any start will do.
            guess = np.clip(2 * n_labeled / max(n_labeled + n_unlabeled, 1.0), 0.02, 0.5)
            start = np.zeros(self.size)
            start[:2] = scipy.special.logit(guess), 1.0
        current = np.broadcast_to(start, precision.shape).copy()
        density = self.log_density(current, precision)
        damping = np.full(len(precision), 1e-3)
        diagonal = np.arange(self.size)
        for _ in range(MOST_STEPS):
            gradient, information = self.score_and_information(current)
            information[:, diagonal, diagonal] += precision
            information[:, diagonal, diagonal] *= 1 + damping[:, None]
            step = np.linalg.solve(information, (gradient - current * precision)[:, :, None])
            proposed = current + step[:, :, 0]
            value = self.log_density(proposed, precision)
            better = value >= density
            gain = np.where(better, value - density, np.inf)
            current[better], density = proposed[better], np.where(better, value, density)
            damping = np.where(better, damping / 5, np.maximum(damping, 1e-4) * 8)
            if np.all((gain < TOLERANCE) | (damping > 1e12)):
                break
        return current

    def _approximate(self, precision: Array) -> tuple[Array, Array, Array]:
        """Return the modes, factors of the information, and weights by marginal likelihood."""
        mode = self.modes(precision)
        information = self.score_and_information(mode)[1]
        information[:, np.arange(self.size), np.arange(self.size)] += precision
        factor = np.linalg.cholesky(information)
        log_determinant = 2 * np.log(np.diagonal(factor, axis1=1, axis2=2)).sum(axis=1)
        evidence = self.log_density(mode, precision)
        evidence = evidence + np.log(precision).sum(axis=1) / 2 - log_determinant / 2
        weight = np.exp(evidence - evidence.max())
        return mode, factor, weight / weight.sum()

    def labeled_share(self) -> Array:
        """Return the probability of a label in each cell, as a smooth curve.

        It is that of the mode under random labeling, with the prior scale that is most likely. All
        rows tell it well, whatever the propensity is.
        """
        mode, _, weight = self._approximate(self.precisions("random"))
        positive, propensity = self.probabilities(mode[[int(np.argmax(weight))]])
        share: Array = (positive * propensity + (1 - positive) * self.wrong_rate)[0]
        return share

    def refit(
        self, labeling: ModelLabeling, labeled: Array, unlabeled: Array, tally: Sequence[Array]
    ) -> Array:
        """Fit resampled rows, with the prior scales that are most likely for these rows.

        Parameters
        ----------
        labeling : {"smooth", "random", "score"}
            What to assume about labeling.
        labeled, unlabeled : ndarray of shape (n_resamples, k)
            Resampled rows in each cell, audited ones included.
        tally : sequence of four ndarray of shape (n_resamples, k)
            Resampled audited rows, in the order of `AuditTally`.

        Returns
        -------
        ndarray of shape (n_resamples, k)
            Share of positives among the unlabeled rows of each cell, at the mode.
        """
        precision = self.precisions(labeling)
        mode, _, weight = self._approximate(precision)
        likely = int(np.argmax(weight))
        model = copy.copy(self)
        model.tally = AuditTally(*tally)
        model.labeled = (labeled - tally[2] - tally[3]).clip(min=0)
        model.unlabeled = (unlabeled - tally[0] - tally[1]).clip(min=0)
        fitted = model.modes(precision[[likely]].repeat(len(labeled), axis=0), mode[likely])
        return model._posterior(*model.probabilities(fitted)).unlabeled_positive

    def sample(self, labeling: ModelLabeling, n_draws: int, seed: int) -> Posterior:
        """Draw from the posterior, averaged over the pairs of prior scales.

        Every chain keeps its pair of scales. A state is z, the standardized distance from the mode
        of that pair; a proposal is r·z + √(1 − r²)·ξ with standard normal ξ. It is accepted by the
        ratio of the posterior density to that of its normal approximation.
        """
        precision = self.precisions(labeling)
        mode, factor, weight = self._approximate(precision)
        rng = np.random.default_rng([seed, 22])
        n_chains = min(n_draws, CHAINS)
        component = np.repeat(np.arange(weight.size), rng.multinomial(n_chains, weight))
        inverse = np.linalg.inv(factor)

        def state(standard: Array) -> tuple[Array, Array]:
            coefficients = mode[component]
            for index in np.unique(component):
                lines = component == index
                coefficients[lines] += standard[lines] @ inverse[index]
            normal = -np.sum(standard**2, axis=1) / 2
            return coefficients, self.log_density(coefficients, precision[component]) - normal

        standard = rng.normal(size=(n_chains, self.size))
        current, ratio = state(standard)
        r, draws = PROPOSAL_CORRELATION, []
        n_states = math.ceil(n_draws / n_chains)
        for step in range(1, FIRST_STEPS + STEPS * (n_states - 1) + 1):
            noise = rng.normal(size=standard.shape)
            proposed = r * standard + math.sqrt(1 - r**2) * noise
            coefficients, proposed_ratio = state(proposed)
            better = np.log(rng.random(n_chains)) < proposed_ratio - ratio
            standard[better], current[better] = proposed[better], coefficients[better]
            ratio = np.where(better, proposed_ratio, ratio)
            if step >= FIRST_STEPS and (step - FIRST_STEPS) % STEPS == 0:
                draws.append(current.copy())
        coefficients = rng.permutation(np.concatenate(draws))[:n_draws]
        found = self.tally.unlabeled_positive + self.tally.labeled_positive
        spread = spread_draws(coefficients, float(found.sum()))
        spread_and_plain = zip(
            self.probabilities(spread), self.probabilities(coefficients), strict=True
        )
        positive, propensity = (_with_mean(*draws) for draws in spread_and_plain)
        return self._posterior(positive, propensity)

    def _posterior(self, positive: Array, propensity: Array) -> Posterior:
        wrong = self.wrong_rate
        hidden, labeled = positive * (1 - propensity), positive * propensity
        return Posterior(
            positive,
            hidden / (hidden + (1 - positive) * (1 - wrong)),
            labeled / (labeled + (1 - positive) * wrong) if wrong else np.ones(labeled.shape),
            propensity,
        )
