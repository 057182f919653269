"""Coverage of the intervals of cost curves; ``python -m tests.coverage.cost_curves``.

Populations are those of `tests.coverage.default_threshold`, prior and purity are known, and the
truth is the least cost over a fine grid of thresholds.
"""

import sys
import warnings

import numpy as np

from pueval import AssumptionWarning, evaluate
from tests.coverage.default_threshold import Case

COSTS = np.array([0.1, 0.3, 0.5, 0.7, 0.8, 0.9])
GRID = [
    Case("normal", 0.2, 50, 500, "unlabeled"),
    Case("normal", 0.2, 300, 3000),
    Case("bounded", 0.3, 50, 500),
    Case("heavy tails", 0.05, 50, 500),
    Case("two kinds of positives", 0.4, 100, 1000),
    Case("pure top", 0.1, 100, 1000, "unlabeled"),
]


def true_cost(case):
    """Return the true least cost by probability cost."""
    rates = case.rates(np.linspace(-9, 12, 8001))
    cost = COSTS[:, None] * (1 - rates.tpr) + (1 - COSTS[:, None]) * rates.fpr
    return np.minimum(cost.min(axis=1), np.minimum(COSTS, 1 - COSTS))


def measure_costs(case, replications, *, seed=0, n_resamples=400):
    """Return coverage, share of intervals below the truth, bias of the value, and width."""
    rng = np.random.default_rng([seed, case.labeled, case.unlabeled])
    true, found = true_cost(case), []
    for number in range(replications):
        y, score = case.draw(rng)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", AssumptionWarning)
            ev = evaluate(y, score, prior=case.prior, target=case.target,
                          n_resamples=n_resamples, seed=number)  # fmt: skip
        curve = ev.cost_curve(probability_costs=COSTS)
        held = (curve.low - 1e-9 <= true) & (true <= curve.high + 1e-9)
        found.append([held, true > curve.high + 1e-9, curve.value - true, curve.high - curve.low])
    return np.mean(found, axis=0)


if __name__ == "__main__":
    replications = int(sys.argv[1]) if len(sys.argv) > 1 else 400
    for case in GRID:
        lines = [f"{case}"]
        numbers = zip(COSTS, true_cost(case), *measure_costs(case, replications), strict=True)
        for cost, true, held, below, bias, width in numbers:
            lines.append(f"  {cost:g}: held {held:.3f}  below the truth {below:.3f}  "
                         f"truth {true:.3f}  bias {bias:.4f}  width {width:.3f}")  # fmt: skip
        sys.stdout.write("\n".join(lines) + "\n\n")
        sys.stdout.flush()
