"""study(): many replications of a simulation, in parallel, resumable, as a tidy table."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pueval._checks import check_count
from pueval._progress import progress_bar
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
    """Run a simulation many times under several settings.

    Each replication has random numbers of its own, made from ``seed``, its setting and its
    number: results depend neither on ``n_jobs``, nor on the order of the work, nor on what else
    is in the study.

    Parameters
    ----------
    replicate : callable
        Called as ``replicate(rng, **setting)``; returns a mapping of names to numbers, texts or
        booleans, or a list of such mappings, each of which becomes a row. For more than one job
        it must be defined at the top of a module.
    settings : mapping or sequence of mappings
        A mapping of names to values means all combinations; a sequence lists the settings.
        Values are numbers, texts, booleans, None, or lists of these.
    replications : int
        How often each setting is run.
    seed : int, default 0
        Of all random numbers.
    path : path, optional
        A file (JSON lines) that results are added to as they come. A study that was broken off
        goes on where it stopped if it is started again with the same file; more replications or
        settings may be added, too.
    n_jobs : int, default 1
        Processes that work at the same time; −1 for as many as there are cores.
    progress : bool, optional
        Whether to show a progress bar (needs the package rich); by default in a terminal, if it
        takes longer than a second or two.

    Returns
    -------
    pandas.DataFrame
        A row per replication (or per mapping that it returned): the setting, ``replication``,
        and what was returned; in the order of the settings, whatever order they were run in.

    Examples
    --------
    >>> from pueval.metrics import roc_auc_score
    >>> from pueval.simulate import binormal, label_at_random, study
    >>> def error(rng, label_frequency):
    ...     rows = binormal(2, prevalence=0.3).draw(2000, seed=rng)
    ...     made = label_at_random(rows.positive, label_frequency=label_frequency, seed=rng)
    ...     found = roc_auc_score(made.label, rows.score, prior=made.prior)
    ...     return {"error": found - binormal(2, prevalence=0.3).roc_auc}
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
        raise InputError(f"n_jobs must be a whole number, but not 0; got {n_jobs!r}.")
    listed = _settings(settings)
    tasks = [(setting, k) for setting in listed for k in range(replications)]
    store = None if path is None else _Store(Path(path), int(seed))
    done = {} if store is None else store.load()
    waiting = [(setting, k) for setting, k in tasks if _key(setting, k) not in done]
    finished = len(tasks) - len(waiting)
    with progress_bar("study", len(tasks), done=finished, show=progress) as advance:
        work = Parallel(n_jobs=n_jobs, return_as="generator_unordered")(
            delayed(_run)(replicate, setting, k, seed) for setting, k in waiting
        )
        for key, rows in work:
            done[key] = rows
            if store is not None:
                store.add(key, rows)
            advance()
    frame: pd.DataFrame = pandas.DataFrame(
        [
            {**setting, "replication": k, **row}
            for setting, k in tasks
            for row in done[_key(setting, k)]
        ]
    )
    return frame


def _settings(given: Any) -> list[Setting]:
    """All combinations of a mapping of lists, or the listed mappings."""
    if isinstance(given, Mapping):
        combined: list[Setting] = [{}]
        for name, values in given.items():
            if isinstance(values, str) or not isinstance(values, Sequence | np.ndarray):
                raise InputError(f"setting {name!r} must be a list of values; got {values!r}.")
            if not len(values):
                raise InputError(f"setting {name!r} has no values.")
            combined = [{**one, name: value} for one in combined for value in values]
    else:
        combined = [dict(one) for one in given]
    if not combined:
        raise InputError("settings are empty, so there is nothing to run.")
    listed = [{name: _plain(value, name) for name, value in one.items()} for one in combined]
    keys = [_text(one) for one in listed]
    if len(set(keys)) < len(keys):
        twice = next(key for key in keys if keys.count(key) > 1)
        raise InputError(f"a setting is listed twice: {twice}. Use more replications instead.")
    for one in listed:
        strange = [name for name in one if not isinstance(name, str)]
        if strange:
            raise InputError(f"names of settings must be text; got {strange[0]!r}.")
        if "replication" in one or "rng" in one:
            raise InputError("'replication' and 'rng' cannot be names of settings.")
    return listed


def _plain(value: Any, name: str) -> Any:
    """Turn NumPy scalars into Python's; refuse what a line of JSON cannot hold."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, list | tuple):
        return [_plain(item, name) for item in value]
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise InputError(
        f"{name!r} must be a number, text, boolean, None or a list of these; "
        f"got {type(value).__name__}."
    )


def _text(setting: Setting) -> str:
    return json.dumps(setting, sort_keys=True)


def _key(setting: Setting, k: int) -> str:
    return f"{k} {_text(setting)}"


def _run(replicate: Replicate, setting: Setting, k: int, seed: int) -> tuple[str, list[Row]]:
    key = _key(setting, k)
    digest = hashlib.sha256(f"{seed} {key}".encode()).digest()
    words = np.frombuffer(digest, dtype=np.uint32).tolist()
    found: Any = replicate(np.random.default_rng(words), **setting)
    if not isinstance(found, Iterable):
        raise InputError(
            f"replicate must return a mapping or a list of mappings; got {found!r:.100}."
        )
    rows = [found] if isinstance(found, Mapping) else list(found)
    plain = []
    for row in rows:
        if not isinstance(row, Mapping):
            raise InputError(
                f"replicate must return a mapping or a list of mappings; got {type(row).__name__}."
            )
        clash = {"replication", *setting} & set(row)
        if clash:
            raise InputError(f"replicate returned {sorted(clash)}, which are names of the setting.")
        plain.append({str(name): _plain(value, str(name)) for name, value in row.items()})
    return key, plain


class _Store:
    """Results in a file: a first line that names the study, then a line per replication."""

    def __init__(self, path: Path, seed: int) -> None:
        self.path = path
        self.head = {"study": "pueval.simulate.study", "seed": seed}

    def load(self) -> dict[str, list[Row]]:
        """Read what is there; cut off a line that was not written to its end."""
        try:
            text = self.path.read_bytes() if self.path.exists() else b""
        except OSError as error:
            raise InputError(f"{self.path} cannot be read: {error.strerror}.") from None
        first = json.dumps(self.head) + "\n"
        if first.encode().startswith(text):
            # New, empty, or broken off before its first line was written.
            self._write(first, mode="w")
            return {}
        whole = text[: text.rfind(b"\n") + 1]
        lines = whole.split(b"\n")[:-1]
        try:
            head = json.loads(lines[0]) if lines else None
            done = {one["key"]: one["rows"] for one in map(json.loads, lines[1:])}
        except (ValueError, KeyError, TypeError):
            head, done = None, {}
        if (
            not isinstance(head, dict)
            or head.get("study") != self.head["study"]
            or "seed" not in head
        ):
            raise InputError(f"{self.path} is not a file of study(). Give another path.")
        if head["seed"] != self.head["seed"]:
            raise InputError(
                f"{self.path} holds a study with seed {head['seed']}; got seed "
                f"{self.head['seed']}. Give that seed, or another path."
            )
        if len(whole) < len(text):
            os.truncate(self.path, len(whole))
        return done

    def add(self, key: str, rows: list[Row]) -> None:
        self._write(json.dumps({"key": key, "rows": rows}) + "\n", mode="a")

    def _write(self, text: str, *, mode: str) -> None:
        try:
            with self.path.open(mode, encoding="utf-8") as stream:
                stream.write(text)
        except OSError as error:
            raise InputError(f"{self.path} cannot be written: {error.strerror}.") from None
