"""From an estimated label frequency to the prior, including estimates that are too small."""

from __future__ import annotations

from pueval.core.mixture import Mixture
from pueval.counts.counts import Counts


def prior_from_label_frequency(
    counts: Counts, label_frequency: float, estimator: str
) -> tuple[float, tuple[str, ...]]:
    """Return the prior for an estimated label frequency, at most n_U / (n_U + 1).

    There are n_L / label_frequency positives in total, of which n_L are labeled, so
    prior = n_L·(1 − label_frequency) / (label_frequency·n_U). A label frequency at or below the
    labeled share makes the prior 1 or larger. It is then set to n_U / (n_U + 1), the prior if a
    single additional unlabeled row were negative.

    Parameters
    ----------
    counts : Counts
        The data; only the numbers of labeled and unlabeled rows matter.
    label_frequency : float
        Estimated share of all positives that are labeled, in [0, 1].
    estimator : str
        Name of the estimator, for the warning.

    Returns
    -------
    prior : float
    warnings : tuple of str
        Reasons to doubt the prior.
    """
    total = counts.n_labeled + counts.n_unlabeled
    largest = counts.n_unlabeled / (counts.n_unlabeled + 1)
    smallest_frequency = counts.n_labeled / (counts.n_labeled + largest * counts.n_unlabeled)
    if label_frequency >= smallest_frequency:
        return Mixture.from_label_frequency(counts, label_frequency).prior, ()
    warning = (
        f"{estimator} estimates a label frequency of {label_frequency:.4g}, but "
        f"{counts.n_labeled / total:.4g} of the rows are labeled, so every unlabeled row would "
        f"have to be positive. The prior is set to the largest possible value, {largest:.6g}. "
        "The estimate does not fit these data; do not rely on it."
    )
    return largest, (warning,)
