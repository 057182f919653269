"""Internal: the Counts of labeled, unlabeled and known negative rows at each score."""

from pueval.counts.counts import Counts
from pueval.counts.poisson import poisson_resamples
from pueval.counts.tally import tally

__all__ = ["Counts", "poisson_resamples", "tally"]
