"""study(): replications of a simulation, in parallel and resumable, as a tidy table."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pueval._checks import check_count
from pueval._progress import progress_bar
from pueval._writing import write_errors
from pueval.errors import InputError, require

if TYPE_CHECKING:
    import pandas as pd

Setting = dict[str, Any]
Row = dict[str, Any]
Replicate = Callable[..., Mapping[str, Any] | Sequence[Mapping[str, Any]]]


def study(
    replicate: Replicate,
    settings: Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Any]],
    *,
    replications: int,
    seed: int = 0,
    path: str | os.PathLike[str] | None = None,
    n_jobs: int = 1,
    progress: bool | None = None,
) -> pd.DataFrame:
    """Run replications of a simulation under several settings.

    The random seed of each replication depends only on ``seed``, its setting and its number.
    Results do not depend on ``n_jobs``, on the order of execution, or on the other settings.

    Parameters
    ----------
    replicate : callable
        Function called as ``replicate(rng, **setting)``. It returns a mapping from names to
        numbers, strings or booleans, or a list of such mappings, one per row. For more than one
        job, define it at the top level of a module.
    settings : mapping or sequence of mappings
        A mapping from names to lists of values, for all combinations, or a sequence of settings.
        Values are numbers, strings, booleans, None, or lists of these.
    replications : int
        Number of replications per setting, at least 1.
    seed : int, default 0
        Random seed of the study, at least 0.
    path : path, optional
        JSON lines file to which results are appended. If you start an interrupted study again with
        the same file, it resumes. You may add replications or settings.
    n_jobs : int, default 1
        Number of parallel processes; −1 uses all cores.
    progress : bool, optional
        Whether to show a progress bar (needs the package rich). By default, studies that take
        longer than a second or two show one in a terminal.

    Returns
    -------
    pandas.DataFrame
        One row per replication (or per mapping that it returns), in the order of the settings:
        the setting, ``replication``, and the returned values.

    Examples
    --------
    >>> from pueval.metrics import roc_auc_score
    >>> from pueval.simulate import binormal, label_at_random, study
    >>> def error(rng, label_frequency):
    ...     rows = binormal(2, prevalence=0.3).draw(2000, seed=rng)
    ...     labeling = label_at_random(rows.positive, label_frequency=label_frequency, seed=rng)
    ...     auc = roc_auc_score(labeling.label, rows.score, prior=labeling.prior)
    ...     return {"error": auc - binormal(2, prevalence=0.3).roc_auc}
    >>> frame = study(error, {"label_frequency": [0.1, 0.5]}, replications=20)
    >>> list(frame.columns), len(frame)
    (['label_frequency', 'replication', 'error'], 40)
    >>> bool(frame["error"].abs().mean() < 0.05)
    True
    """
    from joblib import Parallel, delayed

    pandas = require("pandas", extra="pandas", purpose="study()")
    check_count("replications", replications)
    check_count("seed", seed, least=0)
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, int) or not n_jobs:
        raise InputError(f"n_jobs must be a nonzero whole number; got {n_jobs!r}.")
    tasks = [(setting, k) for setting in _list_settings(settings) for k in range(replications)]
    store = None if path is None else _ResultFile(Path(path), int(seed))
    results = {} if store is None else store.load()
    pending = [(setting, k) for setting, k in tasks if _task_key(setting, k) not in results]
    finished = len(tasks) - len(pending)
    with progress_bar("study", len(tasks), done=finished, show=progress) as advance:
        completed = Parallel(n_jobs=n_jobs, return_as="generator_unordered")(
            delayed(_run_task)(replicate, setting, k, seed) for setting, k in pending
        )
        for key, rows in completed:
            results[key] = rows
            if store is not None:
                store.add(key, rows)
            advance()
    return pandas.DataFrame(
        [
            {**setting, "replication": k, **row}
            for setting, k in tasks
            for row in results[_task_key(setting, k)]
        ]
    )


def _list_settings(settings: Any) -> list[Setting]:
    """Return all combinations of a mapping of lists, or the listed mappings."""
    if isinstance(settings, Mapping):
        for name, values in settings.items():
            if isinstance(values, str) or not isinstance(values, Sequence | np.ndarray):
                raise InputError(f"setting {name!r} must be a list of values; got {values!r}.")
            if not len(values):
                raise InputError(f"setting {name!r} has no values.")
        settings = [
            dict(zip(settings, values, strict=True)) for values in product(*settings.values())
        ]
    listed = [
        {name: _plain_value(value, name) for name, value in setting.items()} for setting in settings
    ]
    if not listed:
        raise InputError("settings must not be empty.")
    keys = [_setting_key(setting) for setting in listed]
    if len(set(keys)) < len(keys):
        duplicate = next(key for key in keys if keys.count(key) > 1)
        raise InputError(f"duplicate setting {duplicate}. Use more replications instead.")
    for name in (name for setting in listed for name in setting):
        if not isinstance(name, str):
            raise InputError(f"names of settings must be strings; got {name!r}.")
        if name in {"replication", "rng"}:
            raise InputError(f"{name!r} cannot be the name of a setting. Rename it.")
    return listed


def _plain_value(value: Any, name: str) -> Any:
    """Convert NumPy scalars to Python's; refuse values that JSON cannot hold."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, list | tuple):
        return [_plain_value(item, name) for item in value]
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise InputError(
        f"{name!r} must be a number, string, boolean, None or a list of these; "
        f"got {type(value).__name__}."
    )


def _setting_key(setting: Setting) -> str:
    return json.dumps(setting, sort_keys=True)


def _task_key(setting: Setting, k: int) -> str:
    return f"{k} {_setting_key(setting)}"


def _run_task(replicate: Replicate, setting: Setting, k: int, seed: int) -> tuple[str, list[Row]]:
    key = _task_key(setting, k)
    digest = hashlib.sha256(f"{seed} {key}".encode()).digest()
    words = np.frombuffer(digest, dtype=np.uint32).tolist()
    result: Any = replicate(np.random.default_rng(words), **setting)
    rows = [result] if isinstance(result, Mapping) else result
    if not isinstance(rows, Iterable):
        raise InputError(
            f"replicate must return a mapping or a list of mappings; got {result!r:.100}."
        )
    plain_rows = []
    for row in rows:
        if not isinstance(row, Mapping):
            raise InputError(
                f"replicate must return a mapping or a list of mappings; got {type(row).__name__}."
            )
        clashes = {"replication", *setting} & set(row)
        if clashes:
            raise InputError(
                f"replicate returned {sorted(clashes)}, which are names of the setting. Rename "
                "them."
            )
        plain_rows.append({str(key): _plain_value(item, str(key)) for key, item in row.items()})
    return key, plain_rows


class _ResultFile:
    """A file of results: a header line that identifies the study, then a line per replication."""

    def __init__(self, path: Path, seed: int) -> None:
        self.path = path
        self.header = {"study": "pueval.simulate.study", "seed": seed}

    def load(self) -> dict[str, list[Row]]:
        """Return the stored results; remove an incomplete last line."""
        try:
            text = self.path.read_bytes() if self.path.exists() else b""
        except OSError as error:
            raise InputError(f"{self.path} cannot be read: {error.strerror}.") from None
        first = json.dumps(self.header) + "\n"
        if first.encode().startswith(text):
            # A new file, or one interrupted within its first line.
            self._write(first, mode="w")
            return {}
        complete = text[: text.rfind(b"\n") + 1]
        lines = complete.split(b"\n")[:-1]
        try:
            header = json.loads(lines[0]) if lines else None
            results = {entry["key"]: entry["rows"] for entry in map(json.loads, lines[1:])}
        except (ValueError, KeyError, TypeError):
            header, results = None, {}
        if (
            not isinstance(header, dict)
            or header.get("study") != self.header["study"]
            or "seed" not in header
        ):
            raise InputError(f"{self.path} was not written by study(). Use another path.")
        if header["seed"] != self.header["seed"]:
            raise InputError(
                f"{self.path} holds a study with seed {header['seed']}; got seed "
                f"{self.header['seed']}. Use that seed, or another path."
            )
        if len(complete) < len(text):
            os.truncate(self.path, len(complete))
        return results

    def add(self, key: str, rows: list[Row]) -> None:
        self._write(json.dumps({"key": key, "rows": rows}) + "\n", mode="a")

    def _write(self, text: str, *, mode: str) -> None:
        with write_errors(self.path), self.path.open(mode, encoding="utf-8") as stream:
            stream.write(text)
