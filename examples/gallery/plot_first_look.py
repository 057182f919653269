"""
A spam filter judged on few labels
==================================

Of the spam among 4,601 e-mails only 35 % is labeled. The truth is known here, so that the corrected
numbers can be checked.
"""

# %%
# The four panels of an evaluation: both curves, the scores behind them, and a measure by threshold.
# The prior is estimated.
from pathlib import Path

import pandas as pd

from pueval import evaluate

folders = [Path.cwd(), *Path.cwd().parents]
data = pd.read_csv(next(path for f in folders if (path := f / "examples/spambase.csv").exists()))
ev = evaluate(data["label"], data["boosting"])
overview = ev.plot()

# %%
# Naive, corrected and true.
truth = evaluate(data["truth"], data["boosting"], prior=0, threshold=ev.threshold, level=None)
frame = ev.frame()[["naive", "value", "low", "high"]]
frame["truth"] = [truth[name].naive for name in frame.index]
frame.round(3)
