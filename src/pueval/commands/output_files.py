"""The files that commands write, and checks against overwriting other files."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from pueval import __version__
from pueval._writing import is_device, open_atomic
from pueval.errors import InputError
from pueval.simulate._simulated_files import FORMULA_STARTS
from pueval.sources.paths import locate
from pueval.sources.standard_input import STANDARD_INPUT, STANDARD_INPUT_NAME

# An output replaces an existing file only if it begins like an earlier output.
BEGINNINGS = {"--json": b"{", "--html": b"<!doctype html"}


def _holds_other_content(path: Path, beginning: bytes) -> bool:
    """Return whether a file exists, is not empty, and begins differently."""
    if not path.is_file():
        return False
    with path.open("rb") as stream:
        content = stream.read(len(beginning))
    return bool(content) and content.lower() != beginning


def check_overwrite(path: str, *, overwrite: bool) -> None:
    """Raise an error if a file exists and must not be overwritten."""
    if not overwrite and Path(path).exists() and not is_device(Path(path)):
        raise InputError(f"{path} already exists. Pass --overwrite to replace it.")


def looks_like_formula(text: str) -> bool:
    """Return whether spreadsheets take a text, which is no number, for a formula."""
    if not text.startswith(FORMULA_STARTS):
        return False
    try:
        float(text)
    except ValueError:
        return True
    return False


def formula_warning(path: str, columns: list[str]) -> str:
    """Return the warning for columns of a file with text that spreadsheets take for formulas."""
    return (
        f"{path} has text that spreadsheets take for formulas, copied unchanged, in "
        f"{', '.join(map(repr, columns))}. Import these columns as text."
    )


def check_outputs(file: str, outputs: dict[str, str | None]) -> None:
    """Raise an error if an output would replace an input, another output, or other content.

    ``outputs`` are paths by option.
    """
    paths = {
        option: Path(path).resolve()
        for option, path in outputs.items()
        if path is not None and not is_device(Path(path))
    }
    if not paths:
        return
    inputs = {Path(name).resolve() for name in locate(file, remote=True).files}
    for option, path in paths.items():
        if path in inputs:
            raise InputError(f"{option} {path} is an input file. Choose another name.")
        if _holds_other_content(path, BEGINNINGS[option]):
            raise InputError(
                f"{option} {path} already exists and is not an earlier output of pueval. Choose "
                "another name, or remove it first."
            )
    if len(paths) > len({*paths.values()}):
        raise InputError(f"{' and '.join(paths)} are the same file, {path}. Choose two names.")


def check_all_points(json_path: str | None, *, all_points: bool) -> None:
    """Raise an error if all points of the curves are wanted, but no file for them."""
    if all_points and json_path is None:
        raise InputError("--all-points needs --json, the file for the curves.")


def file_title(file: str) -> str:
    """Return the name of an input file without its folder, for the title of a report."""
    if file == STANDARD_INPUT:
        return STANDARD_INPUT_NAME
    return re.split(r"[/\\]", file.rstrip("/\\"))[-1] or file


def write_json(path: str, content: dict[str, Any]) -> None:
    """Write the version of pueval and a dict of plain data atomically."""
    with open_atomic(path) as stream:
        json.dump({"pueval": __version__} | content, stream, allow_nan=False)
        stream.write("\n")


def write_models(
    path: str, file: str, label: str | None, models: dict[str, dict[str, Any]]
) -> None:
    """Write the results of each model of a file."""
    write_json(path, {"file": file, "label": label, "models": models})
