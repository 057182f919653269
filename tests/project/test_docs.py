"""The documentation shows what really happens, and lists every public name."""

import importlib
import importlib.util
import inspect
import pkgutil
import re
import shutil

import matplotlib.pyplot as plt
import numpy as np
import pytest
from PIL.PngImagePlugin import PngImageFile

import pueval
from tests.conftest import ROOT
from tests.project.snippets import (
    FENCE,
    IMAGES,
    WIDTH,
    make_example_files,
    read_pictures,
    read_snippets,
    run_snippets,
)

DOCS = ROOT / "docs"
PAGES = sorted(path for path in DOCS.rglob("*.md") if "_build" not in path.parts)
WRITTEN_BY_HAND = [*PAGES, *(ROOT / name for name in ("README.md", "CONTRIBUTING.md"))]
MODULES = (
    "pueval",
    "pueval.conversions",
    "pueval.displays",
    "pueval.metrics",
    "pueval.model_selection",
    "pueval.priors",
    "pueval.report",
    "pueval.scoring",
    "pueval.simulate",
    "pueval.torch",
)

OBJECTS = {
    "choice": pueval.OperatingPoint,
    "comparison": pueval.Comparison,
    "estimate": pueval.priors.PriorEstimate,
    "ev": pueval.Evaluation,
    "groups": pueval.GroupEvaluation,
    "order": pueval.OrderByPrior,
    "population": pueval.simulate.Population,
    "times": pueval.TimeEvaluation,
}


def need_torch(text):
    """Skip if a text is about pueval.torch and PyTorch is not installed."""
    if "pueval.torch" in text:
        pytest.importorskip("torchmetrics", reason="needs PyTorch and TorchMetrics: make torch")


def name_of(page):
    return str(page.relative_to(ROOT))


@pytest.fixture(scope="module")
def example_files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("example_files")
    make_example_files(folder)
    return folder


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_snippets_print_what_the_page_shows(page, example_files, tmp_path, monkeypatch):
    """Run all snippets of a page in order; compare every line they print, and their pictures."""
    text = page.read_text()
    snippets = read_snippets(text)
    if not snippets:
        pytest.skip("no code on this page")
    need_torch("".join(snippet.code for snippet in snippets))
    monkeypatch.setenv("COLUMNS", str(WIDTH))
    plt.switch_backend("Agg")
    shutil.copytree(example_files, tmp_path, dirs_exist_ok=True)
    for snippet, printed in run_snippets(page, tmp_path):
        if snippet.has_output:
            assert printed == snippet.shown, f"{name_of(page)}, line {snippet.line + 1}"
    plt.close("all")
    for name in read_pictures(text):
        shown, drawn = (PngImageFile(folder / name) for folder in (IMAGES, tmp_path))
        # Other versions of Matplotlib draw text differently.
        if shown.info["Software"] == drawn.info["Software"]:
            difference = np.subtract(shown.convert("RGB"), drawn.convert("RGB"), dtype=float)
            # A changed digit changes this by more than 1.
            assert np.sqrt(np.mean(difference**2)) < 0.5, f"{name} is not what {page.name} draws"


def test_every_picture_can_be_drawn_again():
    """By the code of its page, or by a script."""
    names = {name for page in PAGES for name in read_pictures(page.read_text())}
    assert len(names) >= 6
    folders = (ROOT / "examples", ROOT / "benchmarks")
    scripts = "".join(path.read_text() for folder in folders for path in folder.glob("*.py"))
    for path in IMAGES.glob("*.png"):
        assert path.name in names or re.search(rf"\b{path.stem}\b", scripts), path.name


@pytest.mark.parametrize("page", WRITTEN_BY_HAND, ids=name_of)
def test_lines_fit(page):
    """Code fits its box; prose is wrapped. Tables, pictures and formulas need their lines."""
    text = page.read_text()
    for block in FENCE.finditer(text):
        for line in block[2].splitlines():
            assert len(line) <= WIDTH, f"{name_of(page)}: {line}"
    text = re.sub(r"<!-- (\w+) -->.*?<!-- end of \1 -->", "", text, flags=re.DOTALL)  # generated
    for line in FENCE.sub("", text).splitlines():
        if not line.lstrip().startswith(("|", "![", "$", "\\", "#", "<!--")):
            assert len(line) <= 100, f"{name_of(page)}: {line}"


@pytest.mark.parametrize("page", WRITTEN_BY_HAND, ids=name_of)
def test_links_and_pictures_exist(page):
    text = FENCE.sub("", page.read_text())
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", text):
        if target == "gallery/index.rst":  # made when the documentation is built
            continue
        if not target.startswith(("http:", "https:", "mailto:")):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


@pytest.mark.parametrize("page", WRITTEN_BY_HAND, ids=name_of)
def test_names_in_the_text_exist(page):
    """Names such as `ev.best` and `pueval.priors.estimate` in the prose."""
    text = FENCE.sub("", page.read_text())
    for variable, name in re.findall(r"`(\w+)\.(\w+)[^`]*`", text):
        if variable in OBJECTS:
            known = {*dir(OBJECTS[variable]), *OBJECTS[variable].__dataclass_fields__}
            assert name in known, f"{name_of(page)}: {variable}.{name}"
    for path in re.findall(r"`(pueval(?:\.\w+)+)`", text):
        if path.startswith("pueval.torch") and importlib.util.find_spec("torchmetrics") is None:
            continue
        pkgutil.resolve_name(path)


@pytest.mark.parametrize("module", MODULES)
def test_every_public_name_is_documented(module):
    need_torch(module)
    names = importlib.import_module(module)
    reference = (DOCS / "reference" / "index.md").read_text()
    listed = set(re.findall(r"^\s*(pueval[\w.]+)\s*$", reference, flags=re.MULTILINE))
    for name in names.__all__:
        thing = getattr(names, name)
        assert inspect.getdoc(thing), f"{module}.{name} has no docstring"
        if not inspect.ismodule(thing):
            assert f"{module}.{name}" in listed, f"{module}.{name} is not in docs/reference"


@pytest.mark.parametrize("page", [DOCS / "architecture.md", ROOT / "CONTRIBUTING.md"], ids=name_of)
def test_files_named_on_the_page_exist(page):
    paths = re.findall(r"`([\w./]+(?:/|\.py|\.js|\.md))`", page.read_text())
    assert len(paths) > 10
    for path in paths:
        assert any((folder / path).exists() for folder in (ROOT, ROOT / "src" / "pueval")), path
