"""Errors and warnings of pueval, and imports of optional packages."""

from __future__ import annotations

import importlib
import sys
import warnings
from typing import Any

# Exit codes of a command whose results contradict its assumptions, of one that saw a change over
# time, and of one that was interrupted by Ctrl-C.
CONTRADICTION_EXIT_CODE, ALARM_EXIT_CODE, INTERRUPT_EXIT_CODE = 3, 4, 130


class InputError(ValueError):
    """Invalid data or argument; the message says how to fix it."""


class UnreachableError(InputError):
    """No threshold meets the requirement."""


class UnknownMeasureError(InputError, KeyError):
    """Unknown name of a measure; also a KeyError, since you look up results by name."""

    # KeyError would show its message in quotes.
    __str__ = Exception.__str__


class AssumptionWarning(UserWarning):
    """The data contradict the prior, the purity or random labeling."""


class Contradiction(str):
    """Text of a warning that the data contradict an assumption; commands end with exit code 3."""

    __slots__ = ()


def name_model(name: str, warning: str) -> str:
    """Return a warning with the name of its model in front."""
    return type(warning)(f"{name}: {warning}")


class UndefinedMeasureWarning(UserWarning):
    """A measure is undefined because it divides by zero; ``zero_division`` replaces it."""


class BinnedScoresWarning(UserWarning):
    """There are too many distinct scores to keep, so they were binned."""


# Warnings are attributed to the first caller outside these packages.
OWN_CALLERS = {"pueval", "torchmetrics", "contextlib", "functools"}


def warn_caller(message: str, category: type[Warning] = AssumptionWarning) -> None:
    """Issue a warning at the line of the user's code that called pueval."""
    frame, level = sys._getframe(1), 2
    while frame.f_back and frame.f_globals.get("__name__", "").split(".")[0] in OWN_CALLERS:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


class MissingPackageError(ImportError):
    """An optional package is required but not installed."""


def require(package: str, *, extra: str, purpose: str) -> Any:
    """Import an optional package, or raise an error that names the extra to install."""
    try:
        return importlib.import_module(package)
    except ImportError as error:
        name = package.partition(".")[0]
        raise MissingPackageError(
            f'{purpose} requires the package "{name}", which is not installed. '
            f'Install it with: pip install "pueval[{extra}]"'
        ) from error
