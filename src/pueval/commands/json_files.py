"""What ``--json`` writes."""

from __future__ import annotations

import json
from typing import Any

from pueval import __version__
from pueval.writing import replaced


def write_json(path: str, content: dict[str, Any]) -> None:
    """Write a dict of plain data, whole or not at all."""
    with replaced(path) as stream:
        json.dump(content, stream, allow_nan=False)
        stream.write("\n")


def write_models(
    path: str, file: str, label: str | None, models: dict[str, dict[str, Any]]
) -> None:
    """Write what was found about each model of a file."""
    write_json(path, {"pueval": __version__, "file": file, "label": label, "models": models})
