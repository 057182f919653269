"""Pictures and tables of text."""

import io

import numpy as np
import pandas as pd
import pytest
from rich.console import Console

from pueval import evaluate
from pueval.commands import terminal
from pueval.commands.app import run
from pueval.commands.terminal import print_notes, print_roc_curves, print_table
from pueval.commands.text_curves import DOTS, draw_curves
from pueval.text.numbers import format_number
from tests.conftest import draw


@pytest.fixture(scope="module")
def ev():
    rng = np.random.default_rng(5)
    _, score, labeled = draw(rng, 2000, prevalence=0.3, label_frequency=0.4)
    return evaluate(labeled, score, prior=0.2, n_resamples=100)


def lit(rows):
    """Unfold braille into a grid of dots."""
    grid = np.zeros((4 * len(rows), 2 * len(rows[0])), dtype=bool)
    for r, row in enumerate(rows):
        for c, cell in enumerate(row):
            bits = 0 if cell.character == " " else ord(cell.character) - 0x2800
            for i in range(4):
                for j in range(2):
                    grid[4 * r + i, 2 * c + j] = bool(bits & DOTS[i][j])
    return grid


class TestCurves:
    def test_every_point_has_its_dot_and_there_are_no_holes(self, rng):
        x, y = (np.concatenate([[0], np.sort(rng.random(30)), [1]]) for _ in range(2))
        grid = lit(draw_curves([(x, y)], width=30, height=10))
        fine = np.linspace(0, 1, 3000)
        place = np.interp(fine, x, y)
        down, across = np.nonzero(grid)
        for one, other in zip(fine * 59, (1 - place) * 39, strict=True):
            assert np.hypot(across - one, down - other).min() < 1
        for one, other in zip(across, down, strict=True):
            assert np.hypot(fine * 59 - one, (1 - place) * 39 - other).min() < 1

    def test_ends(self):
        line = np.array([0.0, 1.0])
        grid = lit(draw_curves([(line, line)], width=8, height=4))
        assert grid[-1, 0]
        assert grid[0, -1]
        assert not grid[0, 0]

    def test_the_last_is_on_top_and_the_others_dotted(self):
        x, low, high = np.array([0.0, 1.0]), np.array([0.2, 0.2]), np.array([0.9, 0.9])
        rows = draw_curves([(x, low), (x, high)], width=12, height=5)
        assert {cell.curve for cell in rows[0]} == {1}
        assert lit(rows)[: 4 * 2].sum() == 24
        assert lit(rows)[4 * 2 :].sum() == 8
        assert {cell.curve for row in rows for cell in row} == {-1, 0, 1}

    def test_ascii(self):
        x, low, high = np.array([0.0, 1.0]), np.array([0.0, 0.0]), np.array([1.0, 1.0])
        rows = draw_curves([(x, low), (x, high)], width=4, height=3, braille=False)
        assert ["".join(cell.character for cell in row) for row in rows] == ["****", "    ", "...."]


def printed(function, *args, width=80, encoding="utf-8"):
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    console = Console(file=stream, width=width, force_terminal=True, color_system=None)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(terminal, "Console", lambda: console)
        function(*args)
    stream.flush()
    return stream.buffer.getvalue().decode(encoding)


class TestRoc:
    def test_numbers(self, ev):
        text = printed(print_roc_curves, {"model": ev})
        auc = ev["roc_auc"]
        assert "ROC curve of model" in text
        assert f"naive {format_number(auc.naive)}" in text
        assert f"corrected {format_number(auc.value)}" in text
        assert f"({format_number(auc.low)}–{format_number(auc.high)})" in text

    def test_side_by_side_if_there_is_room(self, ev):
        wide, narrow = (printed(print_roc_curves, {"a": ev, "b": ev}, width=w) for w in (90, 45))
        assert "ROC curve of a" in wide.split("ROC curve of b")[0].splitlines()[-1]
        assert len(narrow.splitlines()) > 1.8 * len(wide.splitlines())

    @pytest.mark.parametrize("name", ["[red]x[/]", "x" * 10_000, "a\x1b[31mb\n", "ניסוי"])
    def test_any_name(self, ev, name):
        text = printed(print_roc_curves, {name: ev})
        assert "\x1b" not in text
        assert max(map(len, text.splitlines())) <= 80
        if len(name) < 10:
            assert name.replace("\x1b", "?").replace("\n", "?") in text

    def test_where_braille_cannot_be_printed(self, ev):
        point = evaluate(ev.counts, prior=0.2, level=None)
        text = printed(print_roc_curves, {"model": point}, encoding="cp1252")
        assert "***" in text
        assert "+----" in text


class TestTables:
    HEADER = ("", "a\nnaive", "a\ncorrected", "b\nnaive", "b\ncorrected")
    ROWS = (
        ("Positive likelihood ratio", "2.975", "17.944 (8.243–27.645)", "3.006", "0.1 (0.0–1.0)"),
        ("ROC AUC", "0.830", "0.970 (0.952–0.988)", "0.823", "0.960 (0.942–0.978)"),
    )

    @pytest.mark.parametrize("width", [200, 100, 84, 83, 82, 81, 80, 60, 50, 45])
    def test_no_number_is_ever_cut(self, width):
        text = printed(print_table, self.HEADER, self.ROWS, width=width)
        assert max(map(len, text.splitlines())) <= width
        words = text.split()
        for row in self.ROWS:
            for cell in row[1:]:
                for word in cell.split():
                    assert word in words, word
        for word in ["Positive", "likelihood", "ratio"]:
            assert word in words

    def test_parts_keep_naive_and_corrected_together(self):
        text = printed(print_table, self.HEADER, self.ROWS, width=60)
        heads = [line.split() for line in text.splitlines() if "naive" in line]
        assert heads == [["naive", "corrected"]] * 2
        assert len(printed(print_table, self.HEADER, self.ROWS, width=200).splitlines()) < 10

    def test_markup_is_text(self):
        assert "[b]x[/b]" in printed(print_table, ["", "[b]x[/b]"], [["[i]", "1"]])


def test_command_line(tmp_path, rng, capsys, monkeypatch):
    _, score, labeled = draw(rng, 500, prevalence=0.3, label_frequency=0.4)
    path = tmp_path / "scores.csv"
    pd.DataFrame({"label": labeled.astype(int), "m": score}).to_csv(path, index=False)
    arguments = ["evaluate", str(path), "--label", "label", "--score", "m", "--prior", "0.2"]
    assert run(arguments) == 0
    assert "ROC curve of" not in capsys.readouterr().out
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    assert run(arguments) == 0
    out = capsys.readouterr().out
    assert "ROC curve of m" in out
    assert any("\u2800" < character <= "\u28ff" for character in out)


def test_notes_name_options(capsys):
    print_notes(["! a: check pos_label=1.", "no arguments"])
    assert capsys.readouterr().out == "! a: check --positive 1.\nno arguments\n"
