"""
What if the assumptions are wrong
=================================

A corrected number rests on a prior, on the purity of the labels, and on labels that are a random
draw.
Each of these can be moved.
"""

# %%
# AUC for all priors and purities; hatched where the ranking contradicts them.
import numpy as np

from pueval import displays, evaluate

rng = np.random.default_rng(0)
positive = rng.random(20_000) < 0.3
score = rng.normal(size=20_000) + 2 * positive
labeled = positive & (rng.random(20_000) < 0.2)
ev = evaluate(labeled, score, prevalence=0.3)
contour = displays.SensitivityDisplay.from_evaluation(ev)

# %%
# How uneven would labeling have to be for the AUC to be only .85?
ev.tipping_point("roc_auc", 0.85)

# %%
# Bounds of precision and recall if some positives are up to twice as likely to be labeled.
bounds = ev.labeling_bias(2.0)
{name: tuple(round(end, 3) for end in bounds[name]) for name in ("roc_auc", "precision", "recall")}

# %%
# Claesen's bounds of the rank distribution.
ranks = displays.RankCdfDisplay.from_evaluation(ev)
