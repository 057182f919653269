"""Tables of coverage whose rows are settings of any kind."""

import textwrap
from dataclasses import astuple, fields
from functools import partial
from multiprocessing import Pool


def setting_table(title, text, settings, measure, replications, columns, *, amount, seed=0):
    """Return the lines of a table with a row per setting: its fields, then what was measured.

    ``amount`` says how much was simulated, with the number of replications in braces.
    ``measure(setting, replications, seed=seed)`` returns one number for each of the columns.
    """
    names = [field.name for field in fields(settings[0])]
    lines = [
        f"\n## {title}\n",
        textwrap.fill(f"{text} {amount.format(replications)}", 100),
    ]
    lines += ["", "| " + " | ".join([*names, *columns]) + " |"]
    lines.append("|---|" + "---:|" * (len(names) + len(columns) - 1))
    with Pool() as pool:
        work = partial(measure, replications=replications, seed=seed)
        for setting, found in zip(settings, pool.imap(work, settings), strict=True):
            cells = [*map(str, astuple(setting)), *map(_shown, found)]
            lines.append("| " + " | ".join(cells) + " |")
            print(lines[-1], flush=True)  # noqa: T201
    return lines


def _shown(number):
    """Show a number of replications as it is, and a share with three digits."""
    return str(number) if isinstance(number, int) else f"{number:.3f}"
