"""What the documentation says is what happens, and every public name is in it."""

import importlib
import inspect
import re
import warnings

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest

from pueval import AssumptionWarning
from tests.conftest import ROOT

DOCS = ROOT / "docs"
PAGES = sorted(path for path in DOCS.rglob("*.md") if "_build" not in path.parts)
MODULES = (
    "pueval",
    "pueval.conversions",
    "pueval.metrics",
    "pueval.model_selection",
    "pueval.priors",
    "pueval.scoring",
    "pueval.simulate",
)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(DOCS)))
def test_snippets(page, tmp_path, monkeypatch):
    """All Python blocks of a page, one after the other."""
    blocks = re.findall(r"```python\n(.*?)```", page.read_text(), flags=re.DOTALL)
    if not blocks:
        pytest.skip("no Python on this page")
    monkeypatch.chdir(tmp_path)
    mpl.use("Agg")
    names: dict = {}
    for code in blocks:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", AssumptionWarning)
            exec(compile(code, str(page), "exec"), names)  # noqa: S102
    plt.close("all")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(DOCS)))
def test_links_and_pictures_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text()):
        if target == "gallery/index.rst":  # made when the documentation is built
            continue
        if not target.startswith(("http:", "https:", "mailto:")):
            assert (page.parent / target).exists(), f"{page.name} names {target}"


@pytest.mark.parametrize("module", MODULES)
def test_every_public_name_is_documented(module):
    names = importlib.import_module(module)
    reference = (DOCS / "reference" / "index.md").read_text()
    listed = set(re.findall(r"^\s*(pueval[\w.]+)\s*$", reference, flags=re.MULTILINE))
    for name in names.__all__:
        thing = getattr(names, name)
        assert inspect.getdoc(thing), f"{module}.{name} has no docstring"
        if not inspect.ismodule(thing):
            assert f"{module}.{name}" in listed, f"{module}.{name} is not in docs/reference"
