"""Tables as Markdown and LaTeX, for papers and other documents."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pueval.text.tables import Rows

# Characters with a meaning in LaTeX, and those that not every font has.
LATEX_CHARACTERS = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "–": "--",
    "…": r"\dots{}",
    "−": "$-$",
    "∞": r"$\infty$",
    "†": r"$^{\dagger}$",
}
# The sign of a number; a hyphen inside a name is none.
MINUS = re.compile(r"(?<![\w.\-])-(?=\.?\d)")


def escape_latex(text: str) -> str:
    r"""Escape text for LaTeX; signs of numbers become minus signs.

    Examples
    --------
    >>> print(escape_latex("95% CI of model_1: -0.1 to ∞†"))
    95\% CI of model\_1: $-$0.1 to $\infty$$^{\dagger}$
    """
    signed = MINUS.sub("−", " ".join(text.split()))
    return "".join(LATEX_CHARACTERS.get(character, character) for character in signed)


def latex_table(header: Sequence[str], rows: Rows, notes: Sequence[str] = ()) -> str:
    r"""Make a LaTeX table with the rules of the package booktabs; every cell is escaped.

    Examples
    --------
    >>> print(latex_table(["Measure", "95% CI"], [["F1", "0.5 to 0.6"]]))
    % Needs \usepackage{booktabs}.
    \begin{tabular}{lr}
    \toprule
    Measure & 95\% CI \\
    \midrule
    F1 & 0.5 to 0.6 \\
    \bottomrule
    \end{tabular}
    """

    def line(row: Sequence[str]) -> str:
        return " & ".join(map(escape_latex, row)) + r" \\"

    lines = [r"% Needs \usepackage{booktabs}.", rf"\begin{{tabular}}{{l{'r' * (len(header) - 1)}}}"]
    lines += [r"\toprule", line(header), r"\midrule", *map(line, rows), r"\bottomrule"]
    lines += [r"\end{tabular}"]
    return "\n".join(lines + [rf"\par{{\footnotesize {escape_latex(note)}}}" for note in notes])


def markdown_table(header: Sequence[str], rows: Rows, notes: Sequence[str] = ()) -> str:
    r"""Make a Markdown table; every cell is escaped.

    Examples
    --------
    >>> print(markdown_table(["Measure", "a|b"], [["F1", "0.5"]]))
    | Measure | a\|b |
    |:--|--:|
    | F1 | 0.5 |
    """

    def line(row: Sequence[str]) -> str:
        return f"| {' | '.join(map(escape_markdown, row))} |"

    lines = [line(header), f"|:--|{'--:|' * (len(header) - 1)}", *map(line, rows)]
    return "\n".join(lines + [f"\n{escape_markdown(note)}" for note in notes])


def escape_markdown(text: str) -> str:
    r"""Escape what Markdown would read as markup.

    Examples
    --------
    >>> print(escape_markdown("model_1 <new>"))
    model\_1 \<new>
    """
    return re.sub(r"([\\`*_\[\]<|~$&])", r"\\\1", " ".join(text.split()))
