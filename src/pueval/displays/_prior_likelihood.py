"""AlphaMax's likelihood over candidate priors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pueval._typing import Array
from pueval.displays._display import Display
from pueval.displays._styling import NEGATIVE, POSITIVE, remove_spines

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


@dataclass(eq=False, kw_only=True, repr=False)
class PriorLikelihoodDisplay(Display):
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

    def frame(self) -> pd.DataFrame:
        """Return the plotted data.

        Returns
        -------
        pandas.DataFrame
            One row per candidate: ``prior`` and ``log_likelihood``.
        """
        columns = {"prior": self.candidates, "log_likelihood": self.log_likelihood}
        return self._data_frame(columns)

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
        ax = self._use_axes(ax, figsize=(6.4, 2.8))
        (self.line_,) = ax.plot(self.candidates, self.log_likelihood, color=NEGATIVE, linewidth=2)
        label = f"estimate {self.prior:.2f}"
        self.prior_line_ = ax.axvline(self.prior, color=POSITIVE, ls="--", lw=1.2, label=label)
        ax.set(xlabel="Candidate prior", ylabel="Log-likelihood per row", xlim=(0, 1))
        ax.legend(frameon=False)
        remove_spines(ax, despine=True)
        return self
