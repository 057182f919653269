"""A picture of the estimators' answers, and one of AlphaMax's likelihood."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pueval._typing import Array
from pueval.errors import require
from pueval.sensitivity.grid import LEAST_PRIOR
from pueval.text.numbers import format_level

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from pueval.priors._estimation import PriorEstimate

ESTIMATE, OTHERS, LIMIT = "#0b6e99", "#8a8a8a", "#e07b39"


def _axes(ax: Axes | None) -> Axes:
    plt = require("matplotlib.pyplot", extra="plot", purpose="drawing")
    return plt.subplots(figsize=(6.4, 2.8), layout="constrained")[1] if ax is None else ax


def draw_estimate(estimate: PriorEstimate, ax: Axes | None = None) -> Axes:
    """Draw every estimator's prior with its interval, and the largest prior the data allow."""
    ax = _axes(ax)
    answers = [(estimate.method, estimate.prior, estimate.prior_interval)]
    answers += [
        (name, member.prior, member.prior_interval)
        for name, member in estimate.members.items()
        if name != estimate.method
    ]
    for row, (_, prior, interval) in enumerate(answers):
        color = OTHERS if row else ESTIMATE
        if interval is not None:
            ax.plot(interval, [row, row], color=color, lw=2, solid_capstyle="butt")
        ax.plot([prior], [row], "o", color=color, ms=7 if row else 9)
    highest = max([estimate.prior_upper, *(max(interval or (0.0,)) for *_, interval in answers)])
    ax.axvline(estimate.prior_upper, color=LIMIT, ls="--", lw=1.2)
    ax.annotate(
        "largest prior\nthe data allow",
        (estimate.prior_upper, 1),
        xycoords=("data", "axes fraction"),
        xytext=(-4, -4),
        textcoords="offset points",
        ha="right",
        va="top",
        color=LIMIT,
        fontsize=8,
    )
    ax.set(
        yticks=range(len(answers)),
        yticklabels=[name.replace("_", " ") for name, _, _ in answers],
        xlim=(0, min(1.0, 1.15 * max(highest, LEAST_PRIOR))),
        ylim=(len(answers) - 0.4, -1.2),
        xlabel=f"prior ({format_level(estimate.level)} limits)",
    )
    for side in ("top", "right", "left"):
        ax.spines[side].set_visible(False)
    ax.tick_params(axis="y", length=0)
    return ax


def draw_likelihood(
    grid: Array, log_likelihood: Array, prior: float, ax: Axes | None = None
) -> Axes:
    """Draw AlphaMax's likelihood over candidate priors, and the elbow that was chosen."""
    ax = _axes(ax)
    ax.plot(grid, log_likelihood, color=ESTIMATE, lw=2)
    ax.axvline(prior, color=LIMIT, ls="--", lw=1.2, label=f"estimate {prior:.2f}")
    ax.set(xlabel="candidate prior", ylabel="log-likelihood per row", xlim=(0, 1))
    ax.legend(frameon=False)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    return ax
