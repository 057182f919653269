"""From an estimated label frequency to the prior, where the estimate may be impossible."""

from __future__ import annotations

from pueval.core.mixture import Mixture
from pueval.counts.counts import Counts


def prior_from_label_frequency(
    counts: Counts, label_frequency: float, name: str
) -> tuple[float, tuple[str, ...]]:
    """Return the prior that belongs to an estimated label frequency, made feasible.

    Labeled and unlabeled rows together hold n_L / label_frequency positives, and n_L of them
    are labeled, so prior = n_L·(1 − label_frequency) / (label_frequency·n_U). A label frequency
    at or below the labeled share would make every unlabeled row a positive, or more than that:
    the prior is then n_U / (n_U + 1), the share if one more unlabeled row were negative.

    Parameters
    ----------
    counts : Counts
        The data; only the numbers of labeled and unlabeled rows are used.
    label_frequency : float
        Estimated share of all positives that are labeled; at most 1.
    name : str
        The estimator, for the warning.

    Returns
    -------
    prior : float
    warnings : tuple of str
        What there is to say against it.
    """
    total = counts.n_labeled + counts.n_unlabeled
    most = counts.n_unlabeled / (counts.n_unlabeled + 1)
    least = counts.n_labeled / (counts.n_labeled + most * counts.n_unlabeled)
    if label_frequency >= least:
        return Mixture.from_label_frequency(counts, label_frequency).prior, ()
    note = (
        f"{name} estimates a label frequency of {label_frequency:.4g}, but "
        f"{counts.n_labeled / total:.4g} of the rows are labeled, so every unlabeled row would "
        f"have to be a positive. The prior is set to the largest possible value, {most:.6g}. The "
        "estimate does not fit these data; do not rely on it."
    )
    return most, (note,)
