"""The command line as a whole: its commands, and how it reports errors."""

from __future__ import annotations

import os
import re
import shlex
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import cyclopts

from pueval import __version__
from pueval.commands.audit_plan import audit_plan_command
from pueval.commands.compare import compare_command
from pueval.commands.count import count_command
from pueval.commands.doctor import doctor_command
from pueval.commands.evaluate import evaluate_command
from pueval.commands.exit_codes import describe_exit_codes
from pueval.commands.option_names import name_options
from pueval.commands.options import STANDARD_INPUT_PATH
from pueval.commands.prior import prior_command
from pueval.commands.simulate import simulate_command
from pueval.commands.terminal import command_line, print_error
from pueval.errors import (
    INTERRUPT_EXIT_CODE,
    AssumptionWarning,
    BinnedScoresWarning,
    InputError,
    MissingPackageError,
    UndefinedMeasureWarning,
)
from pueval.sources.standard_input import STANDARD_INPUT, name_standard_input

# The message of the RuntimeError that DuckDB raises if Ctrl-C stops a query.
INTERRUPTED_QUERY = "Query interrupted"

# Names that people try, and those of the options.
OTHER_NAMES = {"--report": "--html", "--output": "--json", "--out": "--json"}

app = cyclopts.App(
    name="pueval",
    version=__version__,
    version_flags=["--version"],
    help=(
        "Honest evaluation of binary classifiers from positive and unlabeled data.\n\n"
        "Counting unlabeled rows as negative gives wrong numbers. pueval corrects them for the "
        "positives hidden among the unlabeled rows. It takes their share from you, or "
        "estimates it."
    ),
    help_epilogue=describe_exit_codes(),
)
COMMANDS: dict[str, Callable[..., int | None]] = {
    "doctor": doctor_command,
    "evaluate": evaluate_command,
    "prior": prior_command,
    "compare": compare_command,
    "audit plan": audit_plan_command,
    "simulate": simulate_command,
    "count": count_command,
}
app.command(
    cyclopts.App(
        name="audit",
        help="Plan which rows to check.",
        help_epilogue=describe_exit_codes("audit plan"),
    )
)
for _name, _command in COMMANDS.items():
    *_group, _short = _name.split()
    (app[_group[0]] if _group else app).command(
        _command, name=_short, help_epilogue=describe_exit_codes(_name)
    )


def run(arguments: Sequence[str]) -> int:
    """Run the command line; return the exit code."""
    try:
        with warnings.catch_warnings():
            # Results list their own warnings, and commands print them.
            for category in (AssumptionWarning, BinnedScoresWarning, UndefinedMeasureWarning):
                warnings.simplefilter("ignore", category)
            command_line.set(tuple(arguments))
            exit_code = app(
                [*_standard_input(arguments)],
                exit_on_error=False,
                print_error=False,
                result_action="return_value",
            )
            sys.stdout.flush()
    except (InputError, MissingPackageError) as error:
        return _fail(name_standard_input(name_options(str(error))))
    except cyclopts.CycloptsError as error:
        command = _command_name(arguments)
        help_command = shlex.join(["pueval", *command.split(), "--help"])
        return _fail(f"{_explain(error, command, arguments)} See {help_command}.")
    except BrokenPipeError:
        sys.stderr.close()
        return 1
    except OSError as error:
        _discard_unwritable_output()
        return _fail(f"{error.strerror or error}.")
    except MemoryError as error:
        return _fail(f"not enough memory. {error}".strip())
    except KeyboardInterrupt:
        return _fail("interrupted.", INTERRUPT_EXIT_CODE)
    except RuntimeError as error:
        if str(error) != INTERRUPTED_QUERY:
            raise
        return _fail("interrupted.", INTERRUPT_EXIT_CODE)
    except SystemExit as stop:
        if stop.code == INTERRUPT_EXIT_CODE:
            return _fail("interrupted.", INTERRUPT_EXIT_CODE)
        return int(stop.code or 0)
    return exit_code or 0


def _standard_input(arguments: Sequence[str]) -> Iterator[str]:
    """Replace - in the place of a file, which would be read as an option."""
    previous = ""
    for argument in arguments:
        is_file = argument == STANDARD_INPUT and not previous.startswith("-")
        yield STANDARD_INPUT_PATH if is_file else argument
        previous = argument


def _discard_unwritable_output() -> None:
    """Discard buffered output that cannot be written; Python would fail on it again at exit."""
    try:
        sys.stdout.flush()
    except OSError:
        with Path(os.devnull).open("w") as devnull:
            os.dup2(devnull.fileno(), sys.stdout.fileno())


def _command_name(arguments: Sequence[str]) -> str:
    """Return the name of the command that arguments begin with; empty if there is none."""
    names = [" ".join(arguments[:2]), *arguments[:1]]
    return next((name for name in names if name in COMMANDS or name in app), "")


def _explain(error: cyclopts.CycloptsError, command: str, arguments: Sequence[str]) -> str:
    """Replace the parser's message where it does not say what to do."""
    if isinstance(error, cyclopts.MissingArgumentError) and error.argument is not None:
        return _explain_missing(error.argument.name, command, arguments)
    if isinstance(error, cyclopts.UnusedCliTokensError) and error.unused_tokens:
        first = error.unused_tokens[0]
        if Path(first).suffix:
            return (
                f"unexpected argument {first!r}. To read several files, quote a pattern such as "
                "'scores/*.parquet'."
            )
        if "--score" in _options(command):
            return f"unexpected argument {first!r}. Repeat --score for each model."
        return f"unexpected argument {first!r}. Repeat an option for each of its values."
    if isinstance(error, cyclopts.UnknownOptionError):
        option = error.token.keyword or error.token.value
        if (meant := OTHER_NAMES.get(option)) in _options(command):
            return f"unknown option: {option}. Did you mean {meant}?"
        owners = [name for name in COMMANDS if name != command and option in _options(name)]
        if owners:
            return f"{option} is an option of pueval {' and '.join(owners)}."
    return str(error)


def _explain_missing(name: str, command: str, arguments: Sequence[str]) -> str:
    """Say that an argument is missing, or that an option has no value, and what to add."""
    [content] = (
        _first_sentence(arg.parameter.help) for arg in _arguments(command) if arg.name == name
    )
    is_file = re.search(r"\bfile\b", content, re.IGNORECASE) is not None
    wanted = name
    if name.startswith("-"):
        value = "COLUMN" if content.startswith("column") else "FILE" if is_file else "VALUE"
        wanted = f"{name} {value}"
    if name not in arguments:
        return f"{name} is missing. Add {wanted}: {content}."
    following = arguments[arguments.index(name) + 1 :]
    if is_file and following and following[0] == STANDARD_INPUT:
        return (
            f"{name} must be the name of a file; got {STANDARD_INPUT!r}. For standard output, use "
            f"{name} /dev/stdout."
        )
    return f"{name} has no value. Give {wanted}: {content}."


def _first_sentence(text: str | None) -> str:
    """Return the first sentence of a help text, to continue another sentence."""
    first = " ".join((text or "").split()).split(". ")[0].rstrip(".")
    keeps_capital = first.startswith("Parquet") or not first[1:2].islower()
    return first if keeps_capital else first[0].lower() + first[1:]


def _options(command: str) -> set[str]:
    """Return the names of all options of a command; of none, nothing."""
    return {name for argument in _arguments(command) for name in argument.names}


def _arguments(command: str) -> Sequence[cyclopts.Argument]:
    """Return the arguments and options of a command with their help; of none, nothing."""
    if command not in COMMANDS:
        return []
    parser = app
    for name in command.split():
        parser = parser[name]
    return parser.assemble_argument_collection(parse_docstring=True)


def _fail(message: str, exit_code: int = 2) -> int:
    print_error(message)
    return exit_code
