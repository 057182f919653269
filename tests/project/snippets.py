"""Code on a page and the output the page shows for it.

A ``text`` block right below a ``python`` or ``sh`` block is the output of that block, and a picture
right below a block that saves it is drawn by the page. Update the outputs and the pictures of pages
with ``python -m tests.project.snippets README.md docs/start/*.md``.
"""

import contextlib
import io
import os
import re
import shlex
import shutil
import sys
import tempfile
import textwrap
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

ROOT = Path(__file__).parents[2]
WIDTH = 88  # columns of a code block
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$\n?", flags=re.DOTALL | re.MULTILINE)
IMAGES = ROOT / "docs" / "images"
# A block that ends by saving a picture, and the picture below it.
PICTURE = re.compile(r'savefig\("(\w+\.png)".*\)\n```\n+!\[.+\]\(\.\./images/\1\)')


@dataclass(frozen=True)
class Snippet:
    """A block of code, and the output block below it with its position in the text."""

    language: str
    code: str
    line: int
    shown: str
    span: tuple[int, int]

    @property
    def has_output(self) -> bool:
        """Whether the page shows output; every Python block that prints has to."""
        return self.language == "python" or self.span[0] < self.span[1]


def read_snippets(text: str) -> list[Snippet]:
    """Return the ``python`` and ``sh`` blocks of a page."""
    snippets: list[Snippet] = []
    end = 0
    for block in FENCE.finditer(text):
        language, body = block.groups()
        below = bool(snippets) and not text[end : block.start()].strip()
        if language == "text" and below:
            snippets[-1] = replace(snippets[-1], shown=body, span=block.span())
        if language in {"python", "sh"}:
            line = text[: block.start(2)].count("\n")
            snippets.append(Snippet(language, body, line, "", (block.end(), block.end())))
        # Output belongs to the block directly above it, and to no other.
        end = block.end() if language in {"python", "sh"} else len(text)
    return snippets


def read_pictures(text: str) -> list[str]:
    """Return the names of the pictures that the code on a page draws for the page."""
    return PICTURE.findall(text)


def run_snippets(page: Path, folder: Path) -> Iterator[tuple[Snippet, str]]:
    """Run the snippets of a page one after the other; yield each with what it printed."""
    names: dict = {"__name__": "__main__"}
    for snippet in read_snippets(page.read_text()):
        output = io.StringIO()
        with (
            contextlib.chdir(folder),
            contextlib.redirect_stdout(output),
            warnings.catch_warnings(),
        ):
            warnings.simplefilter("always")
            warnings.showwarning = lambda message, category, *_: output.write(
                f"{category.__name__}: {message}\n"
            )
            if snippet.language == "python":
                code = "\n" * snippet.line + snippet.code  # for line numbers in tracebacks
                exec(compile(code, str(page), "exec"), names)  # noqa: S102
            else:
                run_commands(snippet.code)
        yield snippet, fold(output.getvalue())


def run_commands(code: str) -> None:
    """Run the lines of a shell block that call pueval."""
    from pueval.commands.app import run

    for line in code.replace("\\\n", " ").splitlines():
        words = shlex.split(line.partition("||")[0], comments=True)  # "||" is for failures
        if words[:1] == ["pueval"] and (status := run(words[1:])):
            raise AssertionError(f"{line!r} ends with exit code {status}")


def fold(text: str) -> str:
    """Break lines wider than a code block between words, as a terminal of that width does."""
    lines = (
        textwrap.wrap(line, WIDTH, break_long_words=False, break_on_hyphens=False)
        if len(line) > WIDTH
        else [line.rstrip()]
        for line in text.splitlines()
    )
    return "".join(f"{line}\n" for group in lines for line in group)


def make_example_files(folder: Path) -> None:
    """Make the files that commands on the pages read."""
    import duckdb
    import pandas as pd

    from pueval import Counts

    shutil.copytree(ROOT / "examples", folder / "examples")
    rows = pd.read_csv(ROOT / "examples" / "spambase.csv")
    rows["model_a"], rows["model_b"] = rows["boosting"], rows["logistic"]
    rows["forest"] = (rows["boosting"] + rows["logistic"]) / 2
    rows["city"] = ["Bern", "Oslo"] * (len(rows) // 2) + ["Bern"] * (len(rows) % 2)
    rows["day"] = pd.Timestamp("2026-01-05") + pd.to_timedelta(range(len(rows)), unit="h")
    rows["disease"] = rows["truth"].map({0: "no", 1: "yes"})
    rows.to_csv(folder / "scores.csv", index=False)
    rows[["disease", "logistic"]].to_csv(folder / "full.csv", index=False)
    for name in ("scores/2026-03.parquet", "today/rows.parquet"):
        (folder / name).parent.mkdir()
        rows.to_parquet(folder / name, index=False)
    with duckdb.connect(str(folder / "warehouse.db")) as database:
        database.register("frame", rows)
        database.execute("create table scores as select * from frame")
    for name in ("march.parquet", "year.parquet"):
        Counts.from_arrays(rows["label"], rows["model_a"]).to_parquet(folder / name)


def update(page: Path) -> None:
    """Write what every snippet of a page prints below it, and the pictures it draws."""
    text = page.read_text()
    with tempfile.TemporaryDirectory() as folder:
        make_example_files(Path(folder))
        ran = list(run_snippets(page, Path(folder)))
        for name in read_pictures(text):
            shutil.copy(Path(folder) / name, IMAGES / name)
    for snippet, printed in reversed(ran):
        output = f"```text\n{printed}```\n" if printed and snippet.has_output else ""
        start, end = snippet.span
        if start == end and output:
            output = f"\n{output}"
        text = text[:start] + output + text[end:]
    page.write_text(text)


if __name__ == "__main__":
    os.environ |= {"COLUMNS": str(WIDTH), "MPLBACKEND": "Agg", "NO_COLOR": "1"}
    for name in sys.argv[1:]:
        update(Path(name))
