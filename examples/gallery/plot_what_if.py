"""
What if the assumptions are wrong?
==================================

A corrected value depends on the prior, on the purity of the labels, and on random labeling. You
can vary each of them.
"""

# %%
# AUC for all priors and purities. In the gray region, the ranking contradicts them.
import numpy as np

from pueval import displays, evaluate

rng = np.random.default_rng(0)
positive = rng.random(20_000) < 0.3
score = rng.normal(size=20_000) + 2 * positive
labeled = positive & (rng.random(20_000) < 0.2)
ev = evaluate(labeled, score, prevalence=0.3)
contour = displays.SensitivityDisplay.from_evaluation(ev)

# %%
# The labeling bias, or the prior, at which the AUC would be only 0.85.
ev.tipping_point("roc_auc", 0.85)

# %%
# Bounds if some positives are up to twice as likely to be labeled as others, with confidence
# intervals of the true values.
ev.labeling_bias(2.0)

# %%
# The rank distribution of the labeled rows with the confidence band of Claesen et al. (2015).
ranks = displays.RankCdfDisplay.from_evaluation(ev)
