"""AlphaMax's likelihood over candidate priors."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pueval._typing import Array
from pueval.displays._styling import NEGATIVE, POSITIVE, axes_for, remove_spines
from pueval.errors import require

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D


@dataclass(eq=False, kw_only=True, repr=False)
class PriorLikelihoodDisplay:
    """Log-likelihood over candidate priors, and the prior chosen at its elbow.

    ``AlphaMax().fit(X, y).plot()`` creates one.

    Parameters
    ----------
    candidates : ndarray
        Candidate priors, ascending.
    log_likelihood : ndarray
        Log-likelihood per row for each candidate.
    prior : float
        Estimated prior.

    Attributes
    ----------
    line_, prior_line_ : matplotlib Line2D
        Likelihood curve, and vertical line at the estimated prior.
    ax_, figure_ : matplotlib Axes and Figure
        Axes and figure of the plot.

    Examples
    --------
    >>> from pueval.displays import PriorLikelihoodDisplay
    >>> display = PriorLikelihoodDisplay(
    ...     candidates=[0.1, 0.2, 0.3], log_likelihood=[-1.1, -1.1, -1.4], prior=0.2
    ... )
    >>> display.plot().ax_.get_xlabel()
    'Candidate prior'
    """

    candidates: Array
    log_likelihood: Array
    prior: float
    line_: Line2D = field(init=False, repr=False)
    prior_line_: Line2D = field(init=False, repr=False)
    ax_: Axes = field(init=False, repr=False)
    figure_: Figure = field(init=False, repr=False)

    def frame(self) -> pd.DataFrame:
        """Return the plotted data.

        Returns
        -------
        pandas.DataFrame
            One row per candidate: ``prior`` and ``log_likelihood``.
        """
        pandas = require("pandas", extra="pandas", purpose="PriorLikelihoodDisplay.frame()")
        columns = {"prior": self.candidates, "log_likelihood": self.log_likelihood}
        table: pd.DataFrame = pandas.DataFrame(columns)
        return table

    def plot(self, ax: Axes | None = None) -> PriorLikelihoodDisplay:
        """Draw the likelihood curve and the estimated prior.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on; by default those of a new figure.

        Returns
        -------
        PriorLikelihoodDisplay
            The display itself, with its artists.
        """
        self.ax_, self.figure_ = axes_for(ax, type(self).__name__, figsize=(6.4, 2.8))
        (self.line_,) = self.ax_.plot(
            self.candidates, self.log_likelihood, color=NEGATIVE, linewidth=2
        )
        self.prior_line_ = self.ax_.axvline(
            self.prior, color=POSITIVE, ls="--", lw=1.2, label=f"estimate {self.prior:.2f}"
        )
        self.ax_.set(xlabel="Candidate prior", ylabel="Log-likelihood per row", xlim=(0, 1))
        self.ax_.legend(frameon=False)
        remove_spines(self.ax_, despine=True)
        return self
