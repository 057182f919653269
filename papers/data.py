"""Fully labeled data sets: from the folder PUEVAL_DATA, else from OpenML through scikit-learn."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np


class DataError(RuntimeError):
    """A data set is not available; the message says what to do."""


@dataclass(frozen=True, eq=False)
class Data:
    """Inputs and classes of a data set, and their source."""

    name: str
    X: Any
    y: np.ndarray
    source: str

    @property
    def positives(self) -> int:
        return int(self.y.sum())


@dataclass(frozen=True)
class OpenML:
    """A data set of OpenML, and how to turn its target into two classes."""

    number: int
    positive: Callable[[np.ndarray], np.ndarray]
    rows: Callable[[np.ndarray], np.ndarray] | None = None
    first: int | None = None


def _is(*values: str) -> Callable[[np.ndarray], np.ndarray]:
    return lambda target: np.isin(target.astype(str), values)


def _above_mean(target: np.ndarray) -> np.ndarray:
    number = target.astype(float)
    return number > number.mean()


# OpenML data set of each Parquet file; sets that are not on OpenML have no entry.
OPENML = {
    "bank": OpenML(1461, _is("2", "yes"), first=45_000),
    "concrete": OpenML(4353, _above_mean),
    "covertype": OpenML(1596, _is("2")),
    "gas": OpenML(1476, _is("1"), rows=_is("1", "5")),
    "heart": OpenML(49, _is(">50_1", "1")),
    "housing": OpenML(531, _above_mean),
    "iris": OpenML(61, _is("Iris-virginica", "virginica")),
    "landsat": OpenML(182, _is("7", "7.")),
    "mushroom": OpenML(24, _is("p")),
    "pageblock": OpenML(30, lambda target: ~_is("1")(target)),
    "parkinsons": OpenML(4531, _above_mean),
    "pendigit": OpenML(32, _is("0", "1", "2")),
    "pima": OpenML(37, _is("tested_positive", "1")),
    "shuttle": OpenML(40_685, _is("4")),
    "spambase": OpenML(44, _is("1")),
    "splice": OpenML(46, lambda target: ~_is("N")(target)),
    "wine": OpenML(287, _above_mean),
}
# The most complete file of each incomplete data set.
FILES = {"gas": "gas_partial"}
# Only voice measures: subject number, age, sex and test time identify the patient.
FIRST_INPUT = {"parkinsons": 4}


def cache_folder() -> Path:
    """Return the folder of cached scores and results: PUEVAL_CACHE or ~/.cache/pueval."""
    given = os.environ.get("PUEVAL_CACHE")
    folder = (Path(given) if given else Path.home() / ".cache" / "pueval") / "papers"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@lru_cache(maxsize=4)
def load(name: str) -> Data:
    """Return a data set: dense inputs as float32, classes as booleans."""
    folder = os.environ.get("PUEVAL_DATA")
    if folder:
        path = Path(folder) / f"{FILES.get(name, name)}.parquet"
        if not path.exists():
            elsewhere = (
                f"Unset PUEVAL_DATA to fetch {name} from OpenML."
                if name in OPENML
                else f"{name} is not on OpenML: add the file to this folder."
            )
            raise DataError(f"{path} is missing. {elsewhere}")
        return _from_parquet(name, path)
    return _from_openml(name)


def _from_parquet(name: str, path: Path) -> Data:
    import pyarrow.parquet as pq

    table = pq.read_table(path)
    inputs = [column for column in table.column_names if column != "y"]
    inputs = inputs[FIRST_INPUT.get(name, 0) :]
    X = np.column_stack([table[column].to_numpy() for column in inputs])
    return Data(name, X.astype(np.float32), table["y"].to_numpy().astype(bool), path.name)


def _from_openml(name: str) -> Data:
    import pandas as pd
    from sklearn.datasets import fetch_openml

    if name not in OPENML:
        raise DataError(
            f"{name} is not on OpenML: set PUEVAL_DATA to a folder with {name}.parquet."
        )
    entry = OPENML[name]
    try:
        fetched = fetch_openml(data_id=entry.number, as_frame=True, parser="auto")
    except Exception as error:
        raise DataError(
            f"{name} could not be fetched from OpenML (data set {entry.number}): {error}. "
            "Set PUEVAL_DATA to a folder with the data sets, or try again with a network."
        ) from error
    frame, target = fetched.data, np.asarray(fetched.target)
    if entry.first is not None:
        frame, target = frame.iloc[: entry.first], target[: entry.first]
    if entry.rows is not None:
        kept = entry.rows(target)
        frame, target = frame[kept], target[kept]
    complete = frame.notna().all(axis=1).to_numpy()
    if name != "mushroom":
        frame, target = frame[complete], target[complete]
    X = pd.get_dummies(frame, dummy_na=name == "mushroom").to_numpy(dtype=np.float32)
    X = X[:, FIRST_INPUT.get(name, 0) :]
    return Data(name, X, entry.positive(target), f"OpenML {entry.number}")


def _stored(folder: str, name: str) -> Path:
    """Return the path of a file in the folder of the data; raise if it is not there."""
    path = Path(folder) / name
    if not path.is_file():
        raise DataError(f"PUEVAL_DATA is {folder!r}, but there is no file {path}.")
    return path


def newsgroups() -> tuple[Any, np.ndarray, list[str]]:
    """Return word counts of the 20 newsgroups, the group of each document, and their names."""
    import scipy.sparse as sp

    folder = os.environ.get("PUEVAL_DATA")
    if folder:
        with np.load(_stored(folder, "newsgroups20.npz"), allow_pickle=False) as stored:
            parts = (
                stored["data"].astype("float32"),
                stored["indices"].astype("int32"),
                stored["indptr"],
            )
            counts = sp.csr_matrix(parts, shape=tuple(stored["shape"]))
            return counts, stored["label"], [str(group) for group in stored["group_names"]]
    from sklearn.datasets import fetch_20newsgroups
    from sklearn.feature_extraction.text import CountVectorizer

    try:
        fetched = fetch_20newsgroups(subset="all", remove=("headers",))
    except Exception as error:
        raise DataError(
            f"20 newsgroups could not be fetched: {error}. "
            "Set PUEVAL_DATA to a folder with newsgroups20.npz."
        ) from error
    counts = CountVectorizer(min_df=5, token_pattern=r"\b[a-z]{2,20}\b").fit_transform(fetched.data)
    return counts.astype("float32"), fetched.target, list(fetched.target_names)


def digits() -> tuple[np.ndarray, np.ndarray]:
    """Return 16×16 images of MNIST, 1,000 of each digit, and the digits."""
    folder = os.environ.get("PUEVAL_DATA")
    if folder:
        import pyarrow.parquet as pq

        X = load("mnist16").X
        label = pq.read_table(_stored(folder, "labels/mnist16.parquet"))["label"].to_numpy()
        return X, label
    from sklearn.datasets import fetch_openml

    try:
        fetched = fetch_openml(data_id=554, as_frame=False, parser="auto")
    except Exception as error:
        raise DataError(
            f"MNIST could not be fetched from OpenML: {error}. "
            "Set PUEVAL_DATA to a folder with mnist16.parquet and labels/mnist16.parquet."
        ) from error
    label = fetched.target.astype(int)
    kept = np.sort(np.concatenate([np.flatnonzero(label == k)[:1000] for k in range(10)]))
    images = fetched.data[kept].reshape(-1, 28, 28)
    # Area averages: each new pixel covers 1.75 × 1.75 old ones.
    edges = np.linspace(0, 28, 17)
    share = np.clip(
        np.minimum(edges[1:, None], np.arange(1, 29)) - np.maximum(edges[:-1, None], np.arange(28)),
        0,
        1,
    )
    small = share @ images @ share.T / 1.75**2
    return small.reshape(len(kept), 256).astype(np.float32), label[kept]
