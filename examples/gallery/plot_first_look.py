"""
A spam filter with few labels
=============================

Only 35% of the spam among 4,601 e-mails is labeled. The truth is known here, so you can check the
corrected values.
"""

# %%
# The four panels of an evaluation: both curves, the score distributions, and a measure by
# threshold. The prior is estimated.
from pathlib import Path

import pandas as pd

from pueval import evaluate

folders = [Path.cwd(), *Path.cwd().parents]
data = pd.read_csv(next(path for f in folders if (path := f / "examples/spambase.csv").exists()))
ev = evaluate(data["label"], data["boosting"])
overview = ev.plot()

# %%
# Naive, corrected and true values.
truth = evaluate(data["truth"], data["boosting"], prior=0, threshold=ev.threshold, level=None)
frame = ev.frame()[["naive", "value", "low", "high"]]
frame["truth"] = [truth[name].naive for name in frame.index]
frame.round(3)
