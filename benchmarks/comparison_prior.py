"""Coverage of paired intervals if the prior is estimated.

    python benchmarks/comparison_prior.py [replications]

Writes benchmarks/COMPARISON_PRIOR.md. Rows are those of benchmarks/comparison.py. Estimates are
either drawn around the true prior (standard deviation 0.05) and purity (0.03), with matching
intervals, or made by the default estimator from the scores of the first model. For comparison, the
table also shows intervals that treat the same estimates as exact.
"""

import sys
import warnings
from pathlib import Path

import numpy as np
from comparison import NAMES, draw, truth
from joblib import Parallel, delayed
from scipy.special import ndtri

from pueval import AssumptionWarning, compare
from pueval.priors import PriorEstimate, estimate

# Prior, purity, labeled rows, correlation.
SETTINGS = [(0.2, 1.0, 500, 0.0), (0.4, 1.0, 500, 0.8), (0.4, 1.0, 2000, 0.8), (0.4, 0.9, 500, 0.8)]
SEPARATIONS = [(1.5, 1.5), (1.7, 1.3), (2.2, 1.2)]
SPREAD = {"prior": 0.05, "purity": 0.03}
REACH = float(ndtri(0.975))


def drawn_estimate(rng, prior, purity):
    """Return an estimate whose intervals have 95% coverage."""
    prior += SPREAD["prior"] * rng.standard_normal()
    limits = tuple(np.clip(prior + REACH * SPREAD["prior"] * np.array([-1, 1]), 0, 1))
    pure = None
    if purity < 1:
        purity = min(purity + SPREAD["purity"] * rng.standard_normal(), 1.0)
        away = REACH * SPREAD["purity"]
        pure = (purity - away, min(purity + away, 1.0))
    return PriorEstimate("drawn", prior, purity, limits, pure, 0.9, None, {}, (), 0.95)


def replicate(seed, where, separations, how):
    """Return whether intervals cover the true difference, with uncertain and with exact prior."""
    prior, purity, n_labeled, correlation = where
    rng = np.random.default_rng([seed, *(int(1000 * x) for x in (*where, *separations))])
    thresholds = {name: s / 2 + 0.3 for name, s in zip("ab", separations, strict=True)}
    first, second = (
        truth(prior, purity, n_labeled, 5 * n_labeled, s, t)
        for s, t in zip(separations, thresholds.values(), strict=True)
    )
    setting = (prior, purity, n_labeled, 5 * n_labeled, correlation, None)
    y, scores = draw(rng, setting, separations)
    held = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssumptionWarning)
        if how == "drawn":
            found = drawn_estimate(rng, prior, purity)
        else:
            found = estimate(y, scores["a"], purity=1.0 if purity == 1 else "estimate")
        for options in ({"prior": found}, {"prior": found.prior, "purity": found.purity}):
            # Differences need no resamples; intervals of single models do, but are not used.
            compared = compare(y, scores, threshold=thresholds, n_resamples=20, **options)
            pairs = [compared.differences(name)[0] for name in NAMES]
            held.append(
                [
                    pair.low <= first[pair.measure] - second[pair.measure] <= pair.high
                    for pair in pairs
                ]
            )
    return held


def main():
    replications = int(sys.argv[1]) if len(sys.argv) > 1 else 400
    columns = ("estimate", "prior", "purity", "labeled", "correlation", "separations", "limits")
    lines = [f"| {' | '.join((*columns, *NAMES))} |", "|---" * (len(columns) + len(NAMES)) + "|"]
    work = [(w, s, "drawn") for w in SETTINGS for s in SEPARATIONS]
    work += [(SETTINGS[1], s, "default") for s in SEPARATIONS]
    for where, separations, how in work:
        held = np.mean(
            Parallel(-1)(
                delayed(replicate)(seed, where, separations, how) for seed in range(replications)
            ),
            axis=0,
        )
        shown = " | ".join([how, *(f"{x:g}" for x in where), "{:g} and {:g}".format(*separations)])
        for kind, shares in zip(("carried", "exact"), held, strict=True):
            lines.append(f"| {shown} | {kind} | " + " | ".join(f"{x:.3f}" for x in shares) + " |")
            print(lines[-1], flush=True)
    text = (
        "# Paired intervals with an estimated prior\n\n"
        f"By `benchmarks/comparison_prior.py`, {replications} replications per row: coverage of "
        "95% intervals of differences. *Carried*: the intervals of `compare`, which include the "
        "uncertainty of the prior. *Exact*: intervals that take the same estimates as exact.\n\n"
        + "\n".join(lines)
        + "\n"
    )
    Path(__file__).with_name("COMPARISON_PRIOR.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
