"""Numbers as text: measures, intervals, numbers of rows, thresholds and confidence levels."""

from __future__ import annotations

import math

import numpy as np

# Smaller numbers get two significant digits; numbers below ROUNDING are shown as zero.
SMALL, ROUNDING = 0.01, 1e-9
# Larger numbers are shown with an exponent.
HUGE = 1e9
CLIPPED_MARK = "†"
CLIPPED_NOTE = (
    f"{CLIPPED_MARK} Clipped to the range of the measure. This can be chance, or the assumptions "
    "are wrong."
)
UNDEFINED = "–"


def format_number(value: float, digits: int = 3, *, clipped: bool = False) -> str:
    """Show a measure with fixed decimals; undefined values are a dash, clipped ones are marked.

    Examples
    --------
    >>> format_number(0.91234), format_number(0.00012345), format_number(12345.6)
    ('0.912', '0.00012', '12,350')
    >>> format_number(1, clipped=True), format_number(math.nan), format_number(math.inf)
    ('1.000†', '–', '∞')
    """
    if clipped:
        return format_number(value, digits) + CLIPPED_MARK
    if math.isnan(value):
        return UNDEFINED
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if abs(value) <= ROUNDING:
        value = 0.0  # and not −0
    elif abs(value) < SMALL:
        return format_small(value)
    if abs(value) < 1000:
        return f"{value:.{digits}f}"
    return f"{float(f'{value:.4g}'):,.0f}" if abs(value) < HUGE else f"{value:.4g}"


def format_small(value: float) -> str:
    """Show a small number with two significant digits and no exponent."""
    return np.format_float_positional(float(f"{value:.2g}"), trim="-")


def equation_of_pvalue(pvalue: float) -> str:
    """Show a p-value with its symbol.

    Examples
    --------
    >>> equation_of_pvalue(0.0312), equation_of_pvalue(2e-9)
    ('p = 0.031', 'p < 0.001')
    """
    return f"p = {pvalue:.2g}" if pvalue >= 0.001 else "p < 0.001"


def format_interval(low: float, high: float, *, clipped: bool = False) -> str:
    """Show an interval; a dash if it is undefined, or if clipping left it without width."""
    if math.isnan(low) or (clipped and low == high):
        return UNDEFINED
    return f"{format_number(low)} to {format_number(high)}"


def format_estimate(value: float, low: float, high: float, *, clipped: bool = False) -> str:
    """Show an estimate with its interval, if it has one; clipped estimates are marked.

    Examples
    --------
    >>> format_estimate(0.91234, 0.9, 0.92), format_estimate(0.91234, math.nan, math.nan)
    ('0.912 (0.900–0.920)', '0.912')
    >>> format_estimate(1, 0.97, 1, clipped=True), format_estimate(1, 1, 1, clipped=True)
    ('1.000† (0.970–1.000)', '1.000†')
    >>> format_estimate(-0.02, -0.11, 0.06)    # a dash would look like a minus
    '-0.020 (-0.110 to 0.060)'
    """
    interval = format_interval(low, high, clipped=clipped)
    if low >= 0:
        interval = interval.replace(" to ", "–")
    estimate = format_number(value, clipped=clipped)
    return estimate if interval == UNDEFINED else f"{estimate} ({interval})"


def format_count(value: float) -> str:
    """Show a number of rows, with a decimal if it is not whole."""
    return f"{value:,.0f}" if abs(value - round(value)) < 1e-9 else f"{value:,.1f}"


def format_threshold(value: float) -> str:
    """Show a score threshold; infinite ones in words.

    Examples
    --------
    >>> format_threshold(0.123456789), format_threshold(math.inf)
    ('0.123457', 'above all scores')
    """
    if math.isinf(value):
        return "above all scores" if value > 0 else "below all scores"
    return UNDEFINED if math.isnan(value) else f"{value:.6g}"


def format_level(level: float) -> str:
    """Show a confidence level in percent, with as many digits as it has.

    Examples
    --------
    >>> format_level(0.95), format_level(0.995)
    ('95%', '99.5%')
    """
    return f"{100 * level:g}%"
