"""Coverage of the intervals of presence-only measures; ``python -m tests.coverage.presence``.

Presences and background are collected separately. A normal number is N(mean, spread) at presences
and N(0, 1) at absences, a fifth of the background are presences, and the score is a logistic
function of the number. The true indices are those of the true shares in the windows of each sample.
"""

import sys
import warnings
from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit
from scipy.stats import norm, rankdata

from pueval import AssumptionWarning, evaluate

PRIOR, THRESHOLD, SHARE, OMISSION = 0.2, 0.5, 0.9, 0.05
COLUMNS = ("boyce_index", "smoothed_boyce_index", "minimal_predicted_area", "auc_ratio", "f_pb",
           "tss", "ratio")  # fmt: skip


@dataclass(frozen=True)
class PresenceSetting:
    mean: float
    spread: float
    presences: int
    background: int

    def draw(self, rng):
        """Return labels and scores."""
        occupied = rng.random(self.background) < PRIOR
        number = rng.normal(size=self.presences + self.background)
        positive = np.r_[np.ones(self.presences, dtype=bool), occupied]
        number[positive] = self.mean + self.spread * number[positive]
        return np.arange(number.size) < self.presences, expit(number - 1)

    def above(self, score):
        """Return the true shares of presences and of the background above scores."""
        with np.errstate(divide="ignore"):
            number = logit(np.clip(score, 0, 1)) + 1
        presences = norm.sf(number, self.mean, self.spread)
        return presences, PRIOR * presences + (1 - PRIOR) * norm.sf(number)

    def ratio(self, middle, half_width):
        """Return the true predicted-to-expected ratio of windows."""
        ends = zip(self.above(middle - half_width), self.above(middle + half_width), strict=True)
        presences, rows = (start - end for start, end in ends)
        return presences / rows

    def truth(self, score, background):
        """Return the true measures, in windows of this sample."""
        low, high = score.min(), score.max()
        width = np.ptp(background) / 10
        windows = low + np.arange(100) * (high - low - width) / 100 + width / 2
        bins = low + (np.arange(200) + 0.5) * (high - low) / 200
        least = expit(norm.isf(SHARE, self.mean, self.spread) - 1)
        score = np.r_[1.0, np.linspace(1, 0, 200_001)[1:-1], 0.0]
        recall, area = self.above(score)
        inside = recall >= 1 - OMISSION
        y, x = recall[inside], area[inside]
        tpr, predicted = self.above(np.array([THRESHOLD]))
        fpr = norm.sf(logit(THRESHOLD) + 1)
        k = self.presences / self.background
        return {
            "boyce_index": _spearman(self.ratio(windows, width / 2)),
            "smoothed_boyce_index": _spearman(self.ratio(bins, (high - low) / 400)),
            "minimal_predicted_area": self.above(np.array([least]))[1][0],
            "auc_ratio": np.sum(np.diff(x) * (y[1:] + y[:-1]) / 2) / ((1 - x[0] ** 2) / 2),
            "f_pb": 2 * k * tpr[0] / (k + predicted[0]),
            "tss": tpr[0] - fpr,
            "ratio": self.ratio(windows, width / 2),
        }


def _spearman(values):
    return np.corrcoef(rankdata(np.round(values, 10)), np.arange(values.size))[0, 1]


GRID = [
    PresenceSetting(1.0, 1.0, 50, 2000),
    PresenceSetting(1.0, 1.0, 200, 5000),
    PresenceSetting(0.3, 1.0, 100, 2000),
    PresenceSetting(0.7, 0.6, 200, 5000),
    PresenceSetting(2.0, 1.0, 60, 600),
    PresenceSetting(1.0, 1.5, 60, 600),
]


def measure_presence(setting, replications, *, seed=0, n_resamples=400):
    """Return the coverage of each interval, the mean of each value, truth and width."""
    rng = np.random.default_rng([seed, setting.presences])
    held, found = [], []
    for number in range(replications):
        labeled, score = setting.draw(rng)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", AssumptionWarning)
            ev = evaluate(labeled, score, prior=PRIOR, target="unlabeled", threshold=THRESHOLD,
                          n_resamples=n_resamples, seed=number)  # fmt: skip
        presence = ev.presence(share=SHARE, omission=OMISSION)
        truth = setting.truth(score, score[~labeled])
        curve = presence.curve
        inside = (curve.low <= truth["ratio"]) & (truth["ratio"] <= curve.high)
        estimates = [presence[name] for name in COLUMNS[:-1]]
        held.append(
            [e.low - 1e-9 <= truth[name] <= e.high + 1e-9
             for name, e in zip(COLUMNS, estimates, strict=False)]
            + [np.mean(inside[np.isfinite(curve.low)])]
        )  # fmt: skip
        found.append([(e.value, truth[name], e.high - e.low)
                      for name, e in zip(COLUMNS, estimates, strict=False)])  # fmt: skip
    return np.mean(held, axis=0), np.nanmean(found, axis=0)


def as_text(setting, coverage, means):
    """Return a line per measure: share of intervals that hold the truth, means and width."""
    lines = [f"{setting}"]
    for name, share, value, true, width in zip(COLUMNS, coverage, *means.T, strict=False):
        lines.append(f"  {name:24} held {share:.3f}  mean {value:.3f}  truth {true:.3f}  "
                     f"width {width:.3f}")  # fmt: skip
    return "\n".join([*lines, f"  {COLUMNS[-1]:24} held {coverage[-1]:.3f}\n"])


if __name__ == "__main__":
    replications = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    for setting in GRID:
        sys.stdout.write(as_text(setting, *measure_presence(setting, replications)))
        sys.stdout.flush()
