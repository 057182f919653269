"""Coverage of the intervals of measures of predicted probabilities.

The log-odds of the score are N(b·(2t − 1) + shift, 2b) for class t, or the scores are Beta(4, 2)
for positives and Beta(2, 4) for negatives: the first is calibrated if the shift is right, and both
have exact truths by numerical integration.
"""

import warnings
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, logit
from scipy.stats import beta, norm

from pueval import AssumptionWarning, evaluate

PREVALENCE = 0.3
MEASURED = ("brier_score_loss", "log_loss", "d2_brier_score", "calibration_in_the_large")
PROBABILITY_COLUMNS = ("Brier", "log loss", "skill", "in the large", "slope", "intercept", "bins",
                       "ECE", "NB .2", "NB .5", "posterior", "rejected",
                       "bias / naive bias")  # fmt: skip
RISKS = (0.2, 0.5)
# Scores at which the local posterior is estimated: these quantiles.
PLACES = (0.5, 0.75, 0.9)


@dataclass(frozen=True)
class ProbabilitySetting:
    scores: str
    labeled: int
    known: str = "given"

    def draw(self, rng):
        """Return labels, scores, and what to tell evaluate()."""
        n = 10 * self.labeled
        positive = rng.random(n) < PREVALENCE
        if self.scores == "beta":
            score = np.where(positive, rng.beta(4, 2, n), rng.beta(2, 4, n))
        else:
            mean, spread, shift = _normal(self.scores)
            score = expit(rng.normal(size=n) * spread + mean * (2 * positive - 1) + shift)
        y = positive & (rng.random(n) < 1 / 3)
        told = {"given": {"prevalence": PREVALENCE}, "estimated": {}}[self.known]
        return y, score, told

    def truth(self):
        """Exact values: means by numerical integration over both classes."""
        x = np.linspace(1e-6, 1 - 1e-6, 200_001)
        if self.scores == "beta":
            densities = beta.pdf(x, 2, 4), beta.pdf(x, 4, 2)
            weights = [density / density.sum() for density in densities]
            score = x
        else:
            mean, spread, shift = _normal(self.scores)
            z = np.linspace(-12, 12, 200_001)
            densities = [norm.pdf(z, sign * mean + shift, spread) for sign in (-1, 1)]
            weights = [density / density.sum() for density in densities]
            score = expit(z)
        return _truth(score, weights)


def _normal(scores):
    """Return mean, spread and shift of the log-odds; calibrated if spread² = 2·mean."""
    if scores == "calibrated":
        return 1.2, np.sqrt(2.4), logit(PREVALENCE)
    return 1.2, 2.5, -0.5  # too extreme


def _truth(score, weights):
    negative, positive = weights
    everybody = PREVALENCE * positive + (1 - PREVALENCE) * negative
    brier = PREVALENCE * positive @ (1 - score) ** 2 + (1 - PREVALENCE) * negative @ score**2
    loss = -PREVALENCE * positive @ np.log(score) - (1 - PREVALENCE) * negative @ np.log1p(-score)
    x = logit(score)

    def deviance(line):
        linear = line[0] + line[1] * x
        return everybody @ np.logaddexp(0, linear) - PREVALENCE * positive @ linear

    line = minimize(deviance, [0.0, 1.0], tol=1e-12).x
    posterior = PREVALENCE * positive / everybody
    benefits = {}
    for risk in RISKS:
        tpr, fpr = (each[score >= risk].sum() for each in (positive, negative))
        benefit = PREVALENCE * tpr - (1 - PREVALENCE) * fpr * risk / (1 - risk)
        benefits[f"net_benefit_at_{risk}"] = benefit
    return benefits | {
        "brier_score_loss": brier,
        "log_loss": loss,
        "d2_brier_score": 1 - brier / (PREVALENCE * (1 - PREVALENCE)),
        "calibration_in_the_large": everybody @ score - PREVALENCE,
        "intercept": line[0],
        "slope": line[1],
        "posterior": (score, posterior, everybody),
    }


PROBABILITY_GRID = [
    ProbabilitySetting(scores, labeled, known)
    for known in ("given", "estimated")
    for scores in ("calibrated", "extreme", "beta")
    for labeled in (100, 1000)
]
PROBABILITY_TEXT = (
    "Predicted probabilities that are calibrated, too extreme, or Beta-distributed; a third of the "
    "positives are labeled, the prevalence is .3. *Bins*: share of ten bins whose interval covers "
    "the share of positives. *ECE*: expected calibration error. *NB*: net benefit at a risk of .2 "
    "and .5. *Posterior*: share of intervals of the local posterior, at three quantiles of the "
    "score, that cover it. *Rejected*: how often calibration is rejected at 5%. The last column is "
    "the mean error of the Brier score over that of the naive one."
)
PROBABILITY_REASONS = """
Where coverage differs from 95%:

- **Slope and intercept with 100 labeled rows**: they depend on the log-odds of a few labeled rows
  with extreme scores. Where these rows look almost completely separated from the rest, the slope is
  hardly limited, and intervals can be infinite.
- **Estimated prior**: its interval is valid for all shapes of score distributions, so intervals are
  wider than these populations need.
- **Bins and net benefit**: upper ends of bins and both ends of net benefits are at least those that
  follow from Wilson's interval, for few labeled rows in a bin or above a threshold."""


def measure_probabilities(setting, replications, *, seed=0, n_resamples=400):
    """Coverage of every interval, rejections, and bias relative to the naive one."""
    rng = np.random.default_rng([seed, setting.labeled])
    truth = setting.truth()
    held = {name: [] for name in PROBABILITY_COLUMNS[:-1]}
    errors = []
    for number in range(replications):
        y, score, told = setting.draw(rng)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", AssumptionWarning)
            ev = evaluate(y, score, threshold=0.5, n_resamples=n_resamples, seed=number, **told)
            calibration = ev.calibration()
        found = [ev[name] for name in MEASURED] + [calibration.slope, calibration.intercept]
        names = (*MEASURED, "slope", "intercept")
        for column, name, estimate in zip(PROBABILITY_COLUMNS, names, found, strict=False):
            held[column].append(estimate.low <= truth[name] <= estimate.high)
        edges = _edges(score)
        share, distance = _in_bins(truth, edges)
        held["bins"].append(np.mean((calibration.low <= share) & (share <= calibration.high)))
        error = calibration.error
        held["ECE"].append(error.low - 1e-9 <= distance <= error.high)
        for risk in RISKS:
            name = f"net_benefit_at_{risk}"
            held[f"NB {risk:g}".replace("0.", ".")].append(
                ev[name].low <= truth[name] <= ev[name].high
            )
        held["posterior"].append(_share_held(ev, score, truth))
        held["rejected"].append(calibration.pvalue < 0.05)
        brier = ev["brier_score_loss"]
        errors.append([brier.value - truth["brier_score_loss"],
                       brier.naive - truth["brier_score_loss"]])  # fmt: skip
    bias, naive_bias = np.abs(np.mean(errors, axis=0))
    return [*(float(np.mean(each)) for each in held.values()), bias / naive_bias]


def _share_held(ev, score, truth):
    """Return the share of the intervals of local posteriors that cover them."""
    places = np.quantile(score, PLACES)
    found = ev.posterior(places)
    grid, posterior, _ = truth["posterior"]
    true = np.interp(places, grid, posterior)
    return np.mean((found.low <= true) & (true <= found.high))


def _edges(score):
    return np.quantile(score, np.arange(1, 10) / 10)


def _in_bins(truth, edges):
    """Return the share of positives in each bin, and the expected calibration error."""
    score, posterior, everybody = truth["posterior"]
    number = np.searchsorted(edges, score)
    mass = np.bincount(number, everybody, edges.size + 1)
    share = np.bincount(number, everybody * posterior, edges.size + 1) / mass
    mean = np.bincount(number, everybody * score, edges.size + 1) / mass
    return share, float(mass @ np.abs(share - mean))
