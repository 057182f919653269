"""How often the test of clean labels warns: with clean labels, and with wrong ones.

python -m benchmarks.clean_labels [samples]

Prints, for each kind of scores, the share of samples with a p-value below .01.
"""

import sys

import numpy as np

from pueval import Counts
from pueval.priors._clean_label_test import NOISY_PVALUE, clean_label_pvalue

NEGATIVES = ("normal", 0.0, 1.0)
# Positives and negatives: name of the distribution and its parameters; mixtures are lists.
KINDS = {
    "normal, separation 0.5": (("normal", 0.5, 1.0), NEGATIVES),
    "normal, separation 1.2": (("normal", 1.2, 1.0), NEGATIVES),
    "normal, separation 2": (("normal", 2.0, 1.0), NEGATIVES),
    "normal, separation 3": (("normal", 3.0, 1.0), NEGATIVES),
    "normal, separation 4": (("normal", 4.0, 1.0), NEGATIVES),
    "positives narrower": (("normal", 2.0, 0.7), NEGATIVES),
    "positives wider": (("normal", 2.5, 1.4), NEGATIVES),
    "positives twice as wide": (("normal", 2.0, 2.0), NEGATIVES),
    "logistic": (("logistic", 3.0, 1.0), ("logistic", 0.0, 1.0)),
    "beta": (("beta", 4.0, 2.0), ("beta", 2.0, 5.0)),
    "gamma": (("gamma", 4.0, 1.0), ("gamma", 1.0, 1.0)),
    "hard negatives": (
        ("normal", 2.0, 1.0),
        [(0.2, ("normal", 1.2, 1.0)), (0.8, ("normal", -0.5, 1.0))],
    ),
    "easy positives": (
        [(0.3, ("normal", 4.0, 0.7)), (0.7, ("normal", 0.8, 1.0))],
        NEGATIVES,
    ),
    "half of the positives like negatives": (
        [(0.5, ("normal", 4.0, 1.0)), (0.5, NEGATIVES)],
        NEGATIVES,
    ),
}
# Kinds, labeled and unlabeled rows, prior, purity, and the number of values per unit of the score.
SETTINGS = (
    *((kind, 300, 3000, 0.3, 1.0, None) for kind in KINDS),
    *(
        (kind, *setting)
        for kind in ("normal, separation 2", "hard negatives", "logistic")
        for setting in (
            (30, 3000, 0.3, 1.0, None),
            (300, 3000, 0.05, 1.0, None),
            (300, 3000, 0.3, 1.0, 2),
            (3000, 30_000, 0.3, 1.0, None),
        )
    ),
    ("normal, separation 4", 3000, 30_000, 0.3, 1.0, None),
    *(
        (kind, labeled, 10 * labeled, 0.3, 0.9, None)
        for kind in ("normal, separation 2", "normal, separation 3", "hard negatives", "gamma")
        for labeled in (300, 3000)
    ),
)


def draw(rng, distribution, size):
    """Draw scores from a distribution or a mixture."""
    if isinstance(distribution, list):
        shares, parts = zip(*distribution, strict=True)
        chosen = rng.choice(len(parts), size, p=shares)
        return np.choose(chosen, [draw(rng, part, size) for part in parts])
    name, *parameters = distribution
    return getattr(rng, name)(*parameters, size)


def warning_share(setting, samples):
    """Return the share of samples in which labels look noisy."""
    kind, labeled, unlabeled, prior, purity, values_per_unit = setting
    rng = np.random.default_rng([labeled, unlabeled, *kind.encode()])
    y = np.repeat([1, 0], [labeled, unlabeled])
    warned = 0
    for _ in range(samples):
        positive = rng.random(y.size) < np.where(y, purity, prior)
        score = np.where(positive, *(draw(rng, part, y.size) for part in KINDS[kind]))
        if values_per_unit is not None:
            score = np.round(score * values_per_unit) / values_per_unit
        pvalue = clean_label_pvalue(Counts.from_arrays(y, score))
        warned += pvalue is not None and pvalue < NOISY_PVALUE
    return warned / samples


def main():
    samples = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    print("| scores | labeled | unlabeled | prior | purity | values per unit | warned |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    for setting in SETTINGS:
        cells = " | ".join("–" if cell is None else f"{cell}" for cell in setting)
        print(f"| {cells} | {warning_share(setting, samples):.3f} |", flush=True)


if __name__ == "__main__":
    main()
