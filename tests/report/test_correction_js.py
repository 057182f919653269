"""The page's script has a formula for every measure of Python; this needs no browser."""

import re

import pytest

from pueval.core.measures import AREAS, MEASURES
from pueval.report._page import asset


def measures_of(script):
    """Names in the table of formulas: the keys of `const MEASURES = { … };`."""
    (table,) = re.findall(r"^  const MEASURES = \{\n(.*?)^  \};$", script, re.DOTALL | re.MULTILINE)
    # Keys are indented by four spaces: `name: formula`, or `name,` for a function of that name.
    return re.findall(r"^    (\w+)(?=:|,$)", table, re.MULTILINE)


def test_every_measure_has_a_formula():
    names = measures_of(asset("correction.js"))
    assert len(names) == len(set(names))
    assert set(MEASURES) - set(names) == set(), "missing in correction.js"
    assert set(names) - set(MEASURES) == set(), "unknown to core/measures.py"


@pytest.mark.parametrize("name", [*MEASURES])
def test_a_removed_formula_is_noticed(name):
    script = asset("correction.js")
    without, removed = re.subn(rf"^    {name}(:|,$)", r"    // \g<0>", script, flags=re.MULTILINE)
    assert removed == 1
    assert set(MEASURES) - set(measures_of(without)) == {name}


def test_every_area_has_a_function():
    """state.js computes the areas by name, and every other measure with the table of formulas."""
    script = asset("state.js")
    assert {*re.findall(r'if \(name === "(\w+)"\) (?:return|\{)', script)} == {*AREAS}
