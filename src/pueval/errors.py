"""The errors and warnings of pueval, and the one way to ask for an optional package."""

from __future__ import annotations

import importlib
from typing import Any

# The exit code of a command after Ctrl-C.
INTERRUPT_EXIT_CODE = 130


class InputError(ValueError):
    """Data or an argument that cannot be used; the message says what to do about it."""


class UnreachableError(InputError):
    """No threshold does what was asked for."""


class UnknownMeasureError(InputError, KeyError):
    """A name that is not a measure's; a KeyError, too, since results are looked up by names."""

    # A KeyError would show its message in quotes.
    __str__ = Exception.__str__


class AssumptionWarning(UserWarning):
    """The prior, the purity or the random labeling does not fit this ranking."""


class UndefinedMeasureWarning(UserWarning):
    """A measure divides by zero here, and ``zero_division`` was put in its place."""


class BinnedScoresWarning(UserWarning):
    """There were too many different scores to keep, so they were put into bins."""


class MissingPackageError(ImportError):
    """An optional package is needed and not installed."""


def require(package: str, *, extra: str, purpose: str) -> Any:
    """Import an optional package, or say which extra of pueval brings it."""
    try:
        return importlib.import_module(package)
    except ImportError as error:
        name = package.partition(".")[0]
        raise MissingPackageError(
            f'{purpose} needs the package "{name}", which is not installed: '
            f'pip install "pueval[{extra}]"'
        ) from error
