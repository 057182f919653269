"""Tables in Markdown and LaTeX have the cells of the printed table, escaped."""

import re
import shutil
import subprocess

import numpy as np
import pytest

from pueval import AssumptionWarning, compare, evaluate
from pueval.estimates.measure_titles import REPORTED_MEASURES
from pueval.text.exported_tables import escape_latex, escape_markdown, latex_table, markdown_table

NASTY = r"50% of $x_1$ & {y} ~ #2 ^ \ <b> | -0.5"


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    positive = np.arange(1000) < 300
    return np.arange(1000) < 100, rng.normal(1.5 * positive, 1)


def printed_cells(result, n_rows):
    """Return the cells of the table that a result prints; columns have two spaces between them."""
    lines = str(result).splitlines()
    first = next(k for k, line in enumerate(lines) if line.startswith("   "))
    lines = lines[first : first + n_rows + 1]
    return [re.split(r"\s{2,}", line.strip()) for line in lines]


def unescaped(line):
    cells = re.split(r"(?<!\\) \| ", line.strip("| "))
    return [re.sub(r"\\(.)", r"\1", cell) for cell in cells]


@pytest.mark.parametrize("options", [{"level": None}, {"n_resamples": 100}])
def test_evaluation_has_the_printed_cells(rows, options):
    ev = evaluate(*rows, prior=2 / 9, **options)
    header, *printed = printed_cells(ev, len(REPORTED_MEASURES))
    lines = ev.to_markdown().splitlines()
    assert unescaped(lines[0]) == ["Measure", *(title.capitalize() for title in header[:2]),
                                   *header[2:]]  # fmt: skip
    assert lines[1].count("--:") == len(header)
    assert [unescaped(line) for line in lines[2:]] == printed
    body = ev.to_latex().split("\\midrule\n")[1].split("\\bottomrule")[0].splitlines()
    assert body == [" & ".join(map(escape_latex, row)) + r" \\" for row in printed]


def test_clipped_values_are_explained(rows):
    with pytest.warns(AssumptionWarning):
        ev = evaluate(*rows, prior=0.6, threshold=1, level=None)
    assert "† Clipped to the range" in ev.to_markdown().splitlines()[-1]
    assert r"$^{\dagger}$ Clipped to the range" in ev.to_latex().splitlines()[-1]


def test_comparison(rows):
    y, score = rows
    result = compare(y, {"model_a": score, "b&b": score.round()}, prior=2 / 9, n_resamples=100)
    markdown, latex = result.to_markdown(), result.to_latex()
    assert markdown.startswith(r"| Measure | model\_a | b\&b | best (probability) |")
    assert r"Measure & model\_a & b\&b & best (probability) \\" in latex
    assert f"| ROC AUC | {result['model_a']['roc_auc']} |" in markdown


def test_signs_of_numbers_only():
    assert escape_latex("model-1") == "model-1"
    assert escape_latex("-0.25 to -.1") == "$-$0.25 to $-$.1"


def test_markdown_is_read_as_text():
    assert escape_markdown("*a* `b` [c](d)\n<e>") == r"\*a\* \`b\` \[c\](d) \<e>"
    assert markdown_table(["a|b"], [["x"]]).splitlines()[0] == r"| a\|b |"


def test_latex_compiles(tmp_path):
    if shutil.which("pdflatex") is None:
        pytest.skip("needs pdflatex")
    table = latex_table(["Measure", NASTY], [["∞ – †", NASTY]], [NASTY])
    document = "\\documentclass{article}\n\\usepackage{booktabs}\n\\begin{document}\n"
    (tmp_path / "table.tex").write_text(document + table + "\n\\end{document}\n")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "table.tex"]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout[-2000:]
