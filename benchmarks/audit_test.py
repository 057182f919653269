"""Size and power of the test of random labeling, written to benchmarks/AUDIT_TEST.md.

python -m benchmarks.audit_test [replications]

With PUEVAL_DATA, the folder of the real data sets, also for real scores.
"""

import os
import sys
from multiprocessing import Pool
from pathlib import Path

import numpy as np

from benchmarks.audit import POPULATIONS, ROWS, Case, audit, draw, label
from benchmarks.audit_real import population
from pueval import Counts
from pueval.audit_estimates.apply_audit import audit_tally
from pueval.audit_estimates.labeling_model import LabelingModel
from pueval.audit_estimates.random_labeling_test import random_labeling_test
from pueval.audit_estimates.score_cells import ScoreCells

PAGE = Path(__file__).with_name("AUDIT_TEST.md")
REAL = ("bank", "landsat", "pageblock", "pendigit", "spambase", "thyroid")
NORMAL = "normal, AUC .92"
SETTINGS = [
    *((name, "uniform", 300) for name in POPULATIONS),
    *((NORMAL, "uniform", n) for n in (50, 100, 400, 1000)),
    *((NORMAL, "focused", n) for n in (100, 300)),
]
LABELINGS = ("random", "double", "step")
TEXT = """# The test of random labeling

`python -m benchmarks.audit_test` writes this page. Populations and audits are those of `AUDIT.md`
and `AUDIT_REAL.md`: {n:,} rows, 30% of the positives are labeled. *Size*: how often the test
rejects random labels at 5% (and 1%); {replications} replications, so an exact test is between
{low:.3f} and {high:.3f} in 95 of 100 cases. *Double*: the probability of a label doubles from the
median positive to the 95th percentile of the positives, by a logistic curve; *step*: it is .1 below
the mean positive and .5 above. The test was chosen among five
stiffnesses of the curve and five reference distributions, in other samples of most of these
settings, bank, landsat, pageblock and spambase among them: sizes are not independent evidence.
Power at 5%, {few} replications. *Positives*: mean number that the audit finds.

| population | audit | rows | positives | size at 5% | size at 1% | power, double | power, step |
|---|---|---:|---:|---:|---:|---:|---:|
"""


def double(positive, score, rng):
    """Label with a probability that doubles from the median positive to the 95th percentile."""
    low, high = np.quantile(score[positive], [0.5, 0.95])
    odds = np.log(np.array([0.25, 0.5]) / np.array([0.75, 0.5]))
    place = np.clip((score - low) / (high - low), -20, 20)
    propensity = 1 / (1 + np.exp(-(odds[0] + (odds[1] - odds[0]) * place)))
    return positive & (rng.random(score.size) < propensity)


def replicate(job):
    """Return the p-value, and how many positives the audit found."""
    case, seed = job
    rng = np.random.default_rng([seed, 2026])
    if case.population in POPULATIONS:
        positive, score = draw(case.population, ROWS, rng)
    else:
        classes, scores, *_ = population(case.population)
        drawn = rng.integers(scores.size, size=ROWS)
        positive, score = classes[drawn], scores[drawn]
    if case.labeling == "double":
        labeled = double(positive, score, rng)
    else:
        labeled = label(positive, score, case.labeling, rng)
    rows = audit(positive, score, labeled, case, None, rng)
    cells = ScoreCells.of(Counts.from_arrays(labeled, score))
    model = LabelingModel(cells, audit_tally(cells, rows))
    return random_labeling_test(model).pvalue, rows.n_positive


def line(pool, setting, replications, few):
    cells, found = [], []
    for labeling in LABELINGS:
        case = Case(setting[0], labeling, *setting[1:])
        number = replications if labeling == "random" else few
        pvalues, positives = np.array(
            pool.map(replicate, [(case, seed) for seed in range(number)], chunksize=5)
        ).T
        found.append(positives.mean())
        levels = (0.05, 0.01) if labeling == "random" else (0.05,)
        cells += [f"{np.mean(pvalues < level):.3f}" for level in levels]
    return f"| {' | '.join(map(str, setting))} | {found[0]:.0f} | {' | '.join(cells)} |"


def main(replications):
    few = max(replications // 5, 20)
    margin = 1.96 * np.sqrt(0.05 * 0.95 / replications)
    text = TEXT.format(
        n=ROWS, replications=replications, few=few, low=0.05 - margin, high=0.05 + margin
    )
    real = [(name, "uniform", 300) for name in REAL] if "PUEVAL_DATA" in os.environ else []
    with Pool(int(os.environ.get("PUEVAL_JOBS", os.cpu_count()))) as pool:
        for setting in [*SETTINGS, *real]:
            text += line(pool, setting, replications, few) + "\n"
            print(text.splitlines()[-1], flush=True)
    PAGE.write_text(text)


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
