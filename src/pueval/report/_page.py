"""Renders the summary as one self-contained HTML page."""

from __future__ import annotations

import base64
import hashlib
import json
from functools import cache
from importlib.resources import files
from typing import Any

from pueval.errors import require
from pueval.text.numbers import ROUNDING, SMALL, format_count, format_level, format_small

# Later scripts use earlier ones, and later styles override earlier ones.
SCRIPTS = (
    "plot.min.js",
    "correction.js",
    "sensitivity.js",
    "labeling_bias.js",
    "draws.js",
    "intervals.js",
    "bands.js",
    "format.js",
    "state.js",
    "sliders.js",
    "charts.js",
    "tables.js",
    "copying.js",
    "pictures.js",
    "score_picture.js",
    "sensitivity_picture.js",
    "audit_picture.js",
    "report.js",
)
STYLES = ("report.css", "explore.css", "responsive.css", "print.css")

# Parts of the summary that no script needs.
TABLES_ONLY = ("baselines", "differences", "others")

# Characters that could end a script element or a line of JavaScript.
ESCAPED_CHARACTERS = "<>&\u2028\u2029"


@cache
def asset(name: str) -> str:
    """Read a file from the assets folder."""
    return (files("pueval.report") / "assets" / name).read_text(encoding="utf-8")


def embedded_json(content: Any) -> str:
    """Write JSON that is safe inside a script element."""
    text = json.dumps(content, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    for character in ESCAPED_CHARACTERS:
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def source_hash(source: str) -> str:
    """Return the hash with which a content security policy allows an inline block."""
    digest = hashlib.sha256(source.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"


def policy(scripts: list[str], styles: list[str]) -> str:
    """Return a content security policy that allows only these inline blocks."""
    return "; ".join(
        [
            "default-src 'none'",
            f"script-src {' '.join(map(source_hash, scripts))}",
            f"style-src {' '.join(map(source_hash, styles))}",
            "base-uri 'none'",
            "form-action 'none'",
        ]
    )


def render(summary: dict[str, Any]) -> str:
    """Render the page.

    Parameters
    ----------
    summary : dict
        Result of `pueval.report._summary.summarize`.

    Returns
    -------
    str
    """
    template = _template(require("jinja2", extra="report", purpose="the HTML report"))
    scripts, styles = [asset(name) for name in SCRIPTS], [asset(name) for name in STYLES]
    page: str = template.render(
        summary=summary,
        models=summary["models"],
        n_models=len(summary["models"]) + len(summary["others"]),
        best=_best(summary["models"]),
        data=embedded_json({key: part for key, part in summary.items() if key not in TABLES_ONLY}),
        scripts=scripts,
        styles=styles,
        policy=policy(scripts, styles),
    )
    return page


@cache
def _template(jinja2: Any) -> Any:
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= FILTERS
    return environment.from_string(asset("report.html.jinja"))


def _best(models: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the model with the highest corrected AUC."""
    return max(models, key=lambda model: model["measures"]["roc_auc"]["value"] or 0.0)


def _number(value: float | str | None) -> str:
    """Show a measure, with fewer decimals for large ratios."""
    if value is None:
        return "–"
    if isinstance(value, str):
        return _infinite(value)
    if abs(value) >= 1000:
        return f"{float(f'{value:.3g}'):,.0f}".replace("-", "−")
    if ROUNDING < abs(value) < SMALL:
        return format_small(value).replace("-", "−")
    if abs(value) <= ROUNDING:
        return "0.000"  # and not −0
    digits = 3 if abs(value) < 10 else 1 if abs(value) < 100 else 0
    return f"{value:.{digits}f}".replace("-", "−")


def _signed(value: float | None) -> str:
    if value is None:
        return "–"
    sign = "+" if value >= 0 else "−"
    return sign + _number(abs(value))


def _pvalue(value: float | None) -> str:
    if value is None:
        return "–"
    return "< 0.001" if value < 0.001 else "> 0.999" if value > 0.999 else f"{value:.3f}"


def _p_equals(value: float) -> str:
    return f"p {_pvalue(value)}" if value < 0.001 or value > 0.999 else f"p = {value:.2g}"


def _threshold(value: float | str) -> str:
    return _infinite(value) if isinstance(value, str) else f"{value:.6g}"


def _infinite(value: str) -> str:
    return value.replace("Infinity", "∞").replace("-", "−")


def _bound_range(ends: list[float | str | None]) -> str:
    low, high = map(_number, ends)
    # After a negative number, a dash would look like a minus.
    between = " to " if low.startswith("−") else "–"
    return low if ends[0] is None else f"{low}{between}{high}"


def _interval_title(model: dict[str, Any]) -> str:
    return f"{format_level(model['resampling']['level'])} CI" if model["resampling"] else "CI"


def _title_of(measures: list[dict[str, Any]], name: str) -> str:
    return next(str(measure["title"]) for measure in measures if measure["name"] == name)


FILTERS = {
    "bound_range": _bound_range,
    "row_count": format_count,
    "interval_title": _interval_title,
    "method": lambda name: name.replace("_", " "),
    "number": _number,
    "level": format_level,
    "p_equals": _p_equals,
    "pvalue": _pvalue,
    "sentence": lambda text: text[:1].upper() + text[1:],
    "share": lambda value: f"{value:.3g}",
    "signed": _signed,
    "threshold": _threshold,
    "title_of": _title_of,
}
