"""The command line as a whole: its commands, and what happens to errors."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path

import cyclopts

from pueval import __version__
from pueval.commands.compare import compare_command
from pueval.commands.count import count_command
from pueval.commands.evaluate import evaluate_command
from pueval.commands.prior import prior_command
from pueval.commands.simulate import simulate_command
from pueval.commands.suggestions import as_options
from pueval.commands.terminal import typed
from pueval.errors import (
    INTERRUPT_EXIT_CODE,
    AssumptionWarning,
    BinnedScoresWarning,
    InputError,
    MissingPackageError,
    UndefinedMeasureWarning,
)

app = cyclopts.App(
    name="pueval",
    version=__version__,
    version_flags=["--version"],
    help=(
        "Honest evaluation of binary classifiers when nobody ever labeled a negative.\n\n"
        "Counting unlabeled rows as negative gives wrong numbers. pueval finds out how many "
        "positives hide among them, or takes your word for it, and gives the right ones."
    ),
)
COMMANDS: dict[str, Callable[..., None]] = {
    "evaluate": evaluate_command,
    "prior": prior_command,
    "compare": compare_command,
    "simulate": simulate_command,
    "count": count_command,
}
for _name, _command in COMMANDS.items():
    app.command(_command, name=_name)


def run(arguments: Sequence[str]) -> int:
    """Run the command line; return the exit code."""
    try:
        with warnings.catch_warnings():
            # They are part of the evaluation and printed with it.
            warnings.simplefilter("ignore", AssumptionWarning)
            typed.set(tuple(arguments))
            warnings.simplefilter("ignore", BinnedScoresWarning)
            warnings.simplefilter("ignore", UndefinedMeasureWarning)
            app(list(arguments), exit_on_error=False, print_error=False)
            sys.stdout.flush()
    except (InputError, MissingPackageError) as error:
        return _fail(as_options(str(error)))
    except cyclopts.CycloptsError as error:
        known = [name for name in arguments[:1] if name in app]
        return _fail(f"{_explained(error, known)} See {' '.join(['pueval', *known, '--help'])}.")
    except BrokenPipeError:
        sys.stderr.close()
        return 1
    except OSError as error:
        return _fail(f"{error.strerror or error}.")
    except MemoryError as error:
        return _fail(f"there is not enough memory. {error}".strip())
    except KeyboardInterrupt:
        return _interrupted()
    except SystemExit as stop:
        return _interrupted() if stop.code == INTERRUPT_EXIT_CODE else int(stop.code or 0)
    return 0


def _explained(error: cyclopts.CycloptsError, command: Sequence[str]) -> str:
    """Say in our words what is wrong with what was typed, where the parser's say little."""
    if isinstance(error, cyclopts.UnusedCliTokensError) and error.unused_tokens:
        first = error.unused_tokens[0]
        if Path(first).suffix:
            return (
                f"{first!r} is one file too many. Put a pattern of several in quotes, such as "
                "'scores/*.parquet'."
            )
        return f"{first!r} belongs to no option. Repeat an option for each of its values."
    if isinstance(error, cyclopts.UnknownOptionError):
        option = error.token.keyword or error.token.value
        others = [name for name in COMMANDS if name not in command and option in _options_of(name)]
        if others:
            return f"{option} belongs to pueval {' and '.join(others)}."
    return str(error)


def _options_of(command: str) -> set[str]:
    return {
        name for argument in app[command].assemble_argument_collection() for name in argument.names
    }


def _interrupted() -> int:
    """Say that somebody stopped the command."""
    print("pueval: interrupted.", file=sys.stderr)  # noqa: T201
    return INTERRUPT_EXIT_CODE


def _fail(message: str) -> int:
    print(f"pueval: {message}", file=sys.stderr)  # noqa: T201
    return 2
