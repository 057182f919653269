"""The files that commands write."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pueval import __version__
from pueval._writing import is_device, open_atomic
from pueval.errors import InputError
from pueval.sources.paths import locate

# How files begin that such an output may replace.
BEGINNINGS = {"--json": b"{", "--html": b"<!doctype html"}


def _is_other(path: Path, beginning: bytes) -> bool:
    """Whether a file is there, holds something, and begins otherwise."""
    if not path.is_file():
        return False
    with path.open("rb") as stream:
        found = stream.read(len(beginning))
    return bool(found) and found.lower() != beginning


def check_new(path: str, *, overwrite: bool) -> None:
    """Refuse to write rows in the place of an existing file, unless that is wanted."""
    if not overwrite and Path(path).exists() and not is_device(Path(path)):
        raise InputError(
            f"{path} is there already, and would be lost. Give another name, or add --overwrite."
        )


def check_outputs(file: str, outputs: dict[str, str | None]) -> None:
    """Refuse to write over what is read, or two things to one place; outputs by their options."""
    wanted = {
        option: Path(path).resolve()
        for option, path in outputs.items()
        if path is not None and not is_device(Path(path))
    }
    if not wanted:
        return
    read = {Path(one).resolve() for one in locate(file, remote=True).files}
    for option, path in wanted.items():
        if path in read:
            raise InputError(
                f"{option} {path} is a file that is read, which would be lost. Give another name."
            )
        if _is_other(path, BEGINNINGS[option]):
            raise InputError(
                f"{option} {path} is there and holds something else, which would be lost. Give "
                "another name, or remove it first."
            )
    if len(wanted) > len({*wanted.values()}):
        raise InputError(f"{' and '.join(wanted)} are both {path}. Give each a name of its own.")


def write_json(path: str, content: dict[str, Any]) -> None:
    """Write a dict of plain data, whole or not at all."""
    with open_atomic(path) as stream:
        json.dump(content, stream, allow_nan=False)
        stream.write("\n")


def write_models(
    path: str, file: str, label: str | None, models: dict[str, dict[str, Any]]
) -> None:
    """Write what was found about each model of a file."""
    write_json(path, {"pueval": __version__, "file": file, "label": label, "models": models})
