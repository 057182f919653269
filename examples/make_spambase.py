"""Make spambase.csv: out-of-fold scores of two models trained with few labeled positives.

The data are the UCI Spambase set (Hopkins, Reeber, Forman and Suermondt, 1999; CC BY 4.0):
4,601 e-mails, 1,813 of them spam. 35% of the spam is labeled at random. All other e-mails are
unlabeled. Both models are trained on labeled against unlabeled e-mails and give out-of-fold
scores. The file keeps the true class, so that results can be checked.

Usage: PUEVAL_DATA=<folder with spambase.parquet> python examples/make_spambase.py
"""

import os
import sys
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

LABEL_FREQUENCY = 0.35


def main():
    folder = os.environ.get("PUEVAL_DATA")
    if not folder:
        sys.exit("Set PUEVAL_DATA to the folder with spambase.parquet.")
    data = pd.read_parquet(Path(folder) / "spambase.parquet")
    truth = data.pop("y").to_numpy()
    rng = np.random.default_rng(2024)
    spam = np.flatnonzero(truth == 1)
    label = np.zeros(len(truth), dtype=int)
    label[rng.choice(spam, size=round(LABEL_FREQUENCY * len(spam)), replace=False)] = 1

    models = {
        "boosting": HistGradientBoostingClassifier(
            max_iter=120, learning_rate=0.05, max_leaf_nodes=12, random_state=0
        ),
        "logistic": make_pipeline(
            FunctionTransformer(np.log1p), StandardScaler(), LogisticRegression(max_iter=2000)
        ),
    }
    folds = StratifiedKFold(10, shuffle=True, random_state=0)
    frame = pd.DataFrame({"label": label})
    for name, model in models.items():
        scores = cross_val_predict(model, data.to_numpy(), label, cv=folds, method="predict_proba")
        frame[name] = scores[:, 1]
    frame["truth"] = truth
    path = Path(__file__).parent / "spambase.csv"
    frame.to_csv(path, index=False, float_format="%.6g")
    print(f"{path.name}: {len(frame):,} rows, {path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
