"""How close plans are to the best choice of rows, for F1 by the default estimate.

python -m benchmarks.audit_allocation [draws]

The default is a weighted mean of a labeling model and a design-based estimate. Its standard error
with n rows checked in each cell of the score follows from the information of labels and audit about
the model, and from Neyman's formula for the design, at the true shares of positives; the weight of
the design is 0.3, about what it is with 200 rows. So no audit has to be simulated. Prints standard
errors with 200 checked rows relative to a simple random sample, means over some draws of 12,000
rows: with the best possible numbers (found by an iteration that knows the truth), with Neyman's
allocation for the true shares, and with a plan, which knows labels and scores only. Populations and
labelings are those of `benchmarks.audit`; F1 is at the threshold that predicts as many positives as
there are.
"""

import os
import sys
import warnings

import numpy as np

from benchmarks.audit import LABELINGS, POPULATIONS, ROWS, draw, label
from pueval import AssumptionWarning, Counts
from pueval.audit import plan
from pueval.audit_estimates.labeling_model import AuditTally, LabelingModel
from pueval.audit_estimates.score_cells import ScoreCells
from pueval.errors import InputError

BUDGET, DESIGN_WEIGHT = 200, 0.3
# Of the prior scales of the model.
SCALES = (1, 4)
STEPS = 200


class StandardErrors:
    """Standard errors of F1 by the number of checked rows in each cell."""

    def __init__(self, positive, score, labeled, threshold, population):
        self.cells = cells = ScoreCells.of(Counts.from_arrays(labeled, score))
        self.unlabeled = cells.unlabeled
        many_scores, many_positive = population
        found = cells.count(many_scores, many_positive)
        share = (found + 0.01) / (cells.count(many_scores, np.ones(many_scores.size)) + 0.1)
        self.share = share.clip(1e-6, 1 - 1e-6)
        predicted = score >= threshold
        self.above = cells.count(score, predicted & ~labeled) / np.maximum(self.unlabeled, 1e-9)
        self.n_labeled = labeled.sum(), (labeled & predicted).sum()
        self.n_predicted = predicted.sum()
        f1 = self._f1(self.share[None])[0]
        size = self.n_labeled[0] + self.unlabeled @ self.share + self.n_predicted
        gradient = self.unlabeled * np.abs(2 * self.above - f1) / size
        self.design_variance = gradient**2 * self.share * (1 - self.share)
        everything = self._model(self.unlabeled)
        self.fits = []
        for scale in SCALES:
            mode = everything.modes(everything.precisions("smooth")[[scale]])
            step = 1e-5 * np.eye(everything.size)
            upper, lower = (
                self._f1(self._hidden(*everything.probabilities(mode + sign * step)))
                for sign in (1, -1)
            )
            self.fits.append((scale, mode, (upper - lower) / 2e-5))

    def _model(self, number):
        nothing = np.zeros(number.size)
        tally = AuditTally(number * self.share, number * (1 - self.share), nothing, nothing)
        return LabelingModel(self.cells, tally)

    @staticmethod
    def _hidden(positive, propensity):
        return positive * (1 - propensity) / (1 - positive * propensity)

    def _f1(self, share):
        hits = self.n_labeled[1] + share @ (self.unlabeled * self.above)
        positives = self.n_labeled[0] + share @ self.unlabeled
        return 2 * hits / (positives + self.n_predicted)

    def error_and_gradient(self, number):
        """Return the standard error, and minus its derivative by the number of checked rows."""
        number = np.maximum(number, 1e-9)
        design = np.sqrt(np.sum(self.design_variance / number))
        gradient = DESIGN_WEIGHT * self.design_variance / number**2 / design / 2
        error, model = DESIGN_WEIGHT * design, self._model(number)
        for scale, mode, direction in self.fits:
            information = model.score_and_information(mode)[1][0]
            information += np.diag(model.precisions("smooth")[scale])
            solution = np.linalg.solve(information, direction)
            weight = (1 - DESIGN_WEIGHT) / len(self.fits)
            deviation = np.sqrt(direction @ solution)
            positive, propensity = model.probabilities(mode)
            share = self._hidden(positive, propensity)[0]
            by_logit = np.concatenate(
                [model.positive_basis, -propensity[0][:, None] * model.propensity_basis], axis=1
            )
            error += weight * deviation
            gradient += weight * share * (1 - share) * (by_logit @ solution) ** 2 / deviation / 2
        return error, gradient

    def best(self, number):
        """Return the smallest standard error, starting with some numbers of checked rows."""
        errors = []
        for _ in range(STEPS):
            error, gradient = self.error_and_gradient(number)
            errors.append(error)
            number = number * gradient**0.4
            number = np.minimum(number * BUDGET / number.sum(), self.unlabeled)
        return min(errors)


def replicate(name, labeling, threshold, seed, population):
    """Return the best standard error, Neyman's and the plan's, relative to a random sample."""
    rng = np.random.default_rng([seed, 2026])
    positive, score = draw(name, ROWS, rng)
    labeled = label(positive, score, labeling, rng)
    errors = StandardErrors(positive, score, labeled, threshold, population)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssumptionWarning)
        try:
            made = plan(labeled, score, budget=BUDGET, threshold=threshold)
        except InputError:  # the prior is not identified
            return [np.nan] * 3
    planned = errors.cells.count(score, made.probabilities)
    neyman = np.sqrt(errors.design_variance) + 1e-9
    neyman *= BUDGET / neyman.sum()
    uniform = errors.unlabeled * BUDGET / errors.unlabeled.sum()
    reference = errors.error_and_gradient(uniform)[0]
    found = errors.best(neyman), *(errors.error_and_gradient(n)[0] for n in (neyman, planned))
    return np.array(found) / reference


def main(draws):
    print("| population | labeling | best possible | Neyman, truth known | plan |")
    print("|---|---|---:|---:|---:|")
    lines = []
    for name in POPULATIONS:
        rng = np.random.default_rng(1)
        positive, score = draw(name, 1_000_000, rng)
        threshold = float(np.quantile(score, 1 - positive.mean()))
        for labeling in LABELINGS[:5]:
            labeled = label(positive, score, labeling, rng)
            population = score[~labeled], positive[~labeled]
            ratios = [replicate(name, labeling, threshold, k, population) for k in range(draws)]
            lines.append(np.nanmean(ratios, axis=0))
            cells = " | ".join(f"{ratio:.2f}" for ratio in lines[-1])
            print(f"| {name} | {labeling} | {cells} |", flush=True)
    print("| mean | | " + " | ".join(f"{ratio:.2f}" for ratio in np.mean(lines, axis=0)) + " |")


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 4)
