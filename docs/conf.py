"""Configuration of Sphinx; `make docs` builds the documentation."""

from typing import Any, Never

from docutils import nodes
from latex2mathml.converter import convert

import pueval

project = "pueval"
author = "The pueval developers"
copyright = "The pueval developers"  # noqa: A001
version = release = pueval.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_gallery.gen_gallery",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["_build", "gallery/README.txt"]
myst_enable_extensions = ["dollarmath", "deflist"]
myst_heading_anchors = 3

autosummary_generate = True
# The documentation can be built without PyTorch.
autodoc_mock_imports = ["torch", "torchmetrics"]
autodoc_typehints = "none"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples/gallery",
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py$",
    "show_memory": False,
    "download_all_examples": False,
    "min_reported_time": 1e9,
    "abort_on_example_error": True,
}
suppress_warnings = ["config.cache"]

html_theme = "pydata_sphinx_theme"
html_title = "pueval"
html_static_path = ["_static"]
html_css_files = ["wide.css"]
html_show_sourcelink = False
html_theme_options = {
    "show_toc_level": 2,
    "navigation_with_keys": True,
    "header_links_before_dropdown": 7,
    "footer_start": ["copyright"],
    "footer_end": [],
}
html_sidebars = {"index": [], "architecture": [], "compare": [], "changelog": []}
html_math_renderer = "mathml"


def inline_formula(translator: Any, node: nodes.math) -> Never:
    """Write an inline formula."""
    translator.body.append(convert(node.astext()))
    raise nodes.SkipNode


def displayed_formula(translator: Any, node: nodes.math_block) -> Never:
    """Write a displayed formula."""
    formula = convert(node.astext(), display="block")
    translator.body.append(f'<div class="formula">{formula}</div>')
    raise nodes.SkipNode


def setup(app: Any) -> None:
    """Write formulas as MathML, which browsers show without scripts."""
    app.add_html_math_renderer(
        "mathml", (inline_formula, None), (displayed_formula, None)
    )
