"""The command to run after a look at a file."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from pueval.sources.labels import LabelValues

DEFAULTS = {"positive": "1", "unlabeled": "0", "negative": None}


def next_command(
    path: str,
    label: str | None,
    scores: Sequence[str],
    values: LabelValues | None,
    clusters: Sequence[str],
) -> str:
    """Return a command line to copy; words in capital letters have to be replaced."""
    if label is None or not scores or values is None:
        words = ["pueval", "doctor", path, "--label", label or "COLUMN"]
        if label is not None and not scores:
            words += ["--score", "COLUMN"]
        if label is not None and values is None:
            words[1] = "evaluate"
            words += [w for name in scores or ["COLUMN"] for w in ("--score", name)]
            words += ["--positive", "VALUE", "--unlabeled", "VALUE"]
        return shlex.join(words)
    words = ["pueval", "compare" if len(scores) > 1 else "evaluate", path, "--label", label]
    words += [word for name in scores for word in ("--score", name)]
    # With several columns, the user knows which are the units that were sampled.
    if len(clusters) == 1:
        words += ["--cluster", clusters[0]]
    for name, default in DEFAULTS.items():
        value = getattr(values, name)
        if value != default:
            # A value such as -1 would be read as an option.
            starts = str(value).startswith("-")
            words += [f"--{name}={value}"] if starts else [f"--{name}", str(value)]
    return shlex.join(words)
