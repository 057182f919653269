"""Notebook view of an evaluation: its table and two curves, independent of the page's styles.

Every element resets the page's style sheets (``all: revert`` in its style attribute). This needs
neither a script nor a shadow root, so the view is the same in fresh, saved and untrusted notebooks.
Text and axes inherit the color of the surrounding text, so they are light in a dark theme.
"""

from __future__ import annotations

import hashlib
import importlib.util
import io
import re
from html import escape
from typing import TYPE_CHECKING, Any

from pueval.displays._precision_recall import PrecisionRecallDisplay
from pueval.displays._roc import RocCurveDisplay
from pueval.evaluation.evaluation_text import estimate_table, more_measures
from pueval.text.numbers import CLIPPED_NOTE, format_number
from pueval.text.warning_lists import worst_warnings

if TYPE_CHECKING:
    from pueval.evaluation.evaluation import Evaluation

# Placeholder for the color of the surrounding text; replaced in the finished SVG.
INK = "#010203"
RC_PARAMS: dict[str, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "svg.fonttype": "path",
    "svg.hashsalt": "pueval",
    **dict.fromkeys(("text.color", "axes.edgecolor", "axes.labelcolor"), INK),
    **dict.fromkeys(("xtick.color", "ytick.color"), INK),
    **dict.fromkeys(("figure.facecolor", "axes.facecolor", "savefig.facecolor"), "none"),
    **dict.fromkeys(("legend.facecolor", "legend.edgecolor"), "none"),
}


def notebook_html(ev: Evaluation) -> str:
    """Return the HTML that a notebook shows for an evaluation.

    Parameters
    ----------
    ev : Evaluation
        Result of `pueval.evaluate`.

    Returns
    -------
    str
        Table and curves; only the table if matplotlib is not installed.
    """
    parts = [_table(ev)]
    if importlib.util.find_spec("matplotlib") is not None:
        parts.append(_curves(ev))
    lines = [more_measures(ev), *([CLIPPED_NOTE] if ev.clipped else [])]
    lines += [f"⚠ {warning}" for warning in worst_warnings(ev.warnings)]
    notes = "".join(_element("p", escape(line), "margin:.4em 0;max-width:60em") for line in lines)
    first = [f"Evaluation of {ev.summary()}", *ev.verdict().sentences()]
    above = "".join(_element("p", escape(line), "margin:.4em 0;max-width:60em") for line in first)
    flow = "display:flex;flex-wrap:wrap;gap:1.5em;align-items:flex-start"
    body = above + _element("div", "".join(parts), flow) + notes
    return _element("div", body, "font:13px/1.4 sans-serif;color:inherit;text-align:left")


def _element(tag: str, content: str, style: str) -> str:
    return f'<{tag} style="all:revert;{style}">{content}</{tag}>'


def _table(ev: Evaluation) -> str:
    header, body = estimate_table(ev)

    def table_row(tag: str, row: list[str]) -> str:
        rule = "border-bottom:1px solid" if tag == "th" else ""
        row_cells = [
            _element(
                tag,
                escape(cell),
                f"color:inherit;padding:.1em .6em;text-align:{'right' if k else 'left'};"
                f"font-weight:{'bold' if k == 2 or tag == 'th' else 'normal'};"
                f"white-space:nowrap;{rule}",
            )
            for k, cell in enumerate(row)
        ]
        return _element("tr", "".join(row_cells), "background:none;color:inherit")

    head = _element("thead", table_row("th", header), "")
    cells = _element("tbody", "".join(table_row("td", row) for row in body), "")
    style = "border-collapse:collapse;color:inherit;font:inherit;font-variant-numeric:tabular-nums"
    return _element("table", head + cells, style)


def _curves(ev: Evaluation) -> str:
    """Draw the ROC and the precision-recall curve as one SVG, leaving pyplot's state alone."""
    import matplotlib as mpl
    import matplotlib.style
    from matplotlib.figure import Figure

    stream = io.StringIO()
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.style.use(RC_PARAMS)
        figure = Figure(figsize=(7.8, 4.0))
        axes = figure.subplots(1, 2)
        RocCurveDisplay.compute(ev).plot(axes[0], despine=True)
        PrecisionRecallDisplay.compute(ev).plot(axes[1], despine=True)
        figure.subplots_adjust(left=0.07, right=0.99, bottom=0.13, top=0.98, wspace=0.22)
        figure.savefig(stream, format="svg", metadata={"Date": None, "Creator": None})
    areas = [
        f"{title}: naive {format_number(ev[name].naive)}, corrected {format_number(ev[name].value)}"
        for title, name in (("ROC AUC", "roc_auc"), ("average precision", "average_precision"))
    ]
    label = escape("ROC and precision-recall curves. " + "; ".join(areas), quote=True)
    return _inline(stream.getvalue(), label)


def _inline(svg: str, label: str) -> str:
    """Prepare an SVG for embedding: no header, unique ids, the text color of the page."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r"<!--.*?-->\n?", "", svg, flags=re.DOTALL)
    svg = svg.replace(INK, "currentColor")
    # Ids that are referenced get a unique prefix; the others are removed.
    used = set(re.findall(r'(?:href="#|url\(#)([^")]+)', svg))
    prefix = "pueval" + hashlib.sha256(svg.encode()).hexdigest()[:8] + "-"

    def rename(match: re.Match[str]) -> str:
        return f' id="{prefix}{match[1]}"' if match[1] in used else ""

    svg = re.sub(r' id="([^"]+)"', rename, svg)
    svg = re.sub(r'(href="#|url\(#)', rf"\1{prefix}", svg)
    style = "all:revert;display:block;width:46em;max-width:100%;height:auto;color:inherit"
    opening = f'<svg role="img" aria-label="{label}" style="{style}"'
    return svg.replace("<svg", opening, 1)
