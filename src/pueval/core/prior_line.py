"""PriorLine: the prior as a linear function of the purity, where another share is known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pueval._typing import Target
from pueval.core.mixture import (
    LEAST_CONTRAST,
    check_share,
    check_unlabeled,
    prior_from_label_frequency,
    prior_from_prevalence,
)
from pueval.core.sizes import SampleSizes
from pueval.errors import InputError

KnownShare = Literal["prior", "prevalence", "label_frequency"]


@dataclass(frozen=True)
class PriorLine:
    """The prior that a known share implies for each purity: intercept + slope·purity.

    - A known prior does not depend on the purity.
    - A known prevalence fixes the number of positives, purity·n_L + prior·n_U. The more of them
      are labeled, the fewer are left: the slope is −n_L/n_U.
    - A known label frequency fixes the ratio of labeled to unlabeled positives, so the prior is
      proportional to the purity.

    Parameters
    ----------
    intercept, slope : float
        Prior at purity 0, and its change with the purity.

    Examples
    --------
    >>> from pueval import Counts
    >>> counts = Counts.from_table([2, 1], labeled=[80, 20], unlabeled=[200, 300])
    >>> line = PriorLine.of(counts, "prevalence", 0.4)
    >>> [round(line.prior(purity), 3) for purity in (0.8, 1.0)]
    [0.32, 0.28]
    >>> [round(end, 3) for end in line.purities]
    [0.4, 1.0]
    """

    intercept: float
    slope: float

    @classmethod
    def of(
        cls,
        counts: SampleSizes[float],
        name: KnownShare,
        value: float,
        target: Target = "population",
    ) -> PriorLine:
        """Return the line for a known share; raise an error if no purity fits it."""
        value = check_share(
            name, value, low_open=name == "label_frequency", high_open=name == "prior"
        )
        check_unlabeled(counts, name)
        if name == "label_frequency":
            at_one = prior_from_label_frequency(counts, value, 1.0)
            line = cls(0.0, at_one)
        elif name == "prevalence" and target == "population":
            at_zero, at_one = (prior_from_prevalence(counts, value, end) for end in (0.0, 1.0))
            line = cls(at_zero, at_one - at_zero)
        else:
            line = cls(value, 0.0)
        low, high = line.purities
        if low >= high:
            raise InputError(
                f"{name} {value:g} does not fit {counts.n_labeled:,} labeled and "
                f"{counts.n_unlabeled:,} unlabeled rows, whatever the purity. Check which rows it "
                "refers to."
            )
        return line

    def prior(self, purity: float) -> float:
        """Return the prior at a purity."""
        return max(self.intercept + self.slope * purity, 0.0)

    @property
    def purities(self) -> tuple[float, float]:
        """Purities that are possible: the prior must be at least 0 and below the purity."""
        if self.slope >= 1:
            return 1.0, 0.0
        low = self.intercept / (1 - self.slope)
        high = 1.0 if self.intercept + self.slope >= 0 else -self.intercept / self.slope
        return low * (1 + LEAST_CONTRAST), high
