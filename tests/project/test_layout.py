"""The layout of the package, as CONTRIBUTING.md describes it."""

import ast
import importlib
import re
from collections import Counter
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.conftest import ROOT

PACKAGE = ROOT / "src" / "pueval"
MODULES = sorted(PACKAGE.rglob("*.py"))
PACKAGES = sorted(path.parent.name for path in PACKAGE.glob("*/__init__.py"))
REFERENCE = (ROOT / "docs" / "reference" / "index.md").read_text()
LISTED = re.findall(r"^\s*(pueval(?:\.\w+)+)\s*$", REFERENCE, flags=re.MULTILINE)
PUBLIC = {name.split(".")[1] for name in LISTED if name.count(".") == 2}


def test_few_modules_lie_at_the_root():
    assert len([path for path in MODULES if path.parent == PACKAGE]) <= 8


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_files_are_short(path):
    assert len(path.read_text().splitlines()) <= 500


@pytest.mark.parametrize("package", PACKAGES)
def test_private_modules_are_marked(package):
    """Modules of public packages start with an underscore; other packages say "Internal"."""
    folder = PACKAGE / package
    if package in PUBLIC:
        modules = [path.stem for path in folder.glob("*.py") if path.stem != "__init__"]
        assert [name for name in modules if not name.startswith("_")] == []
    else:
        doc = ast.get_docstring(ast.parse((folder / "__init__.py").read_text()))
        assert doc.startswith("Internal: ")


def test_public_names_are_where_the_reference_lists_them():
    for name in LISTED:
        module, _, attribute = name.rpartition(".")
        if module == "pueval.torch" and find_spec("torchmetrics") is None:
            continue
        assert hasattr(importlib.import_module(module), attribute), name


def test_every_module_name_means_one_thing():
    """Apart from commands, whose files are named after what users type."""
    names = Counter(
        path.stem.lstrip("_")
        for path in MODULES
        if path.stem != "__init__" and path.parent.name != "commands"
    )
    assert [name for name, number in names.items() if number > 1] == []


def test_every_class_name_means_one_thing():
    names = Counter(
        node.name
        for path in MODULES
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.ClassDef)
    )
    assert [name for name, number in names.items() if number > 1] == []


def test_only_the_command_line_changes_warning_filters():
    """Filters belong to the whole process: threads that change them leave them changed."""
    functions = {"catch_warnings", "simplefilter", "filterwarnings", "resetwarnings"}
    users = {
        path.relative_to(PACKAGE).as_posix()
        for path in MODULES
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Attribute) and node.attr in functions
    }
    assert users == {"commands/app.py"}


def test_tests_mirror_the_packages():
    folders = {path.parent.name for path in Path(ROOT / "tests").glob("*/test_*.py")}
    assert folders - {"coverage", "papers", "project"} <= {*PACKAGES}
    assert {*PACKAGES} - {"text"} <= folders
