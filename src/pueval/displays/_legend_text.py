"""What legends say: names of models, values with their limits."""

from __future__ import annotations

from pueval.errors import InputError

# Longer names are cut: a legend must leave room for the picture.
LONGEST_NAME = 32


def check_name(name: object) -> None:
    """Refuse a name that is no text."""
    if name is not None and not isinstance(name, str):
        raise InputError(f"name must be text, or None for no name; got {name!r}.")


def short(name: str, longest: int = LONGEST_NAME) -> str:
    r"""Make any text a single short line that matplotlib shows as it is.

    Examples
    --------
    >>> short("a\nmodel"), short("x" * 50), short("from $5 to $9")
    ('a model', 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…', 'from \\$5 to \\$9')
    """
    line = " ".join(name.split())
    if len(line) > longest:
        line = line[: longest - 1] + "…"
    # Between dollars matplotlib expects mathematics.
    return line.replace("$", r"\$")


def entry(name: str | None, what: str) -> str:
    """Say whose line it is: ``"logistic: corrected, AUC 0.91"``."""
    text = what if name is None else f"{short(name)}: {what}"
    # Matplotlib keeps labels that begin with _ out of legends; here is a space of no width before.
    return f"\u200b{text}" if text.startswith("_") else text
