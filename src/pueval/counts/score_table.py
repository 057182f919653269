"""The table behind Counts: its columns, totals and cumulative counts, and how it prints."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property, reduce
from operator import add
from typing import Any

import numpy as np

from pueval._typing import Array, Target
from pueval.counts.audited_positives import AuditedPositives
from pueval.counts.clusters import ClusterRows
from pueval.errors import InputError
from pueval.samples import steps as step_functions
from pueval.samples.bins import Binning
from pueval.samples.sample import EMPTY, Sample, Samples, rows_of_weight
from pueval.samples.steps import Steps
from pueval.text.results import Result, plain_dict

# Sums of weights below this, and their squares, get close to the smallest floats.
MIN_WEIGHT = 1e-60
# Measures compute the share of negatives as 1 − prevalence. With fewer, few digits are left.
MIN_BACKGROUND_RATIO = 1e-8
# Measures take shares below 1e-14 for rounding errors.
MIN_LABELED_RATIO = 1e-12
# Most scores of rows whose clusters only change their number: `Counts._thinned_without_clusters`.
REDUCED_SCORES = 4096


@dataclass(frozen=True, eq=False, repr=False)
class ScoreTable(Result):
    """Base of `Counts`, which adds the constructors, bins, storage and addition.

    ``_represented`` holds the labeled rows with weight 1/propensity, if propensities are known.
    ``_inverse_propensities`` has 1/propensity of the unlabeled rows in the place of scores.
    ``_audit`` says what an audit found; ``_represented`` then has the estimated positives.
    ``_clusters`` says which rows belong together, if they are not independent.
    """

    _labeled: Sample
    _unlabeled: Sample
    _negative: Sample
    _represented: Sample | None = None
    _binning: Binning | None = field(default=None, kw_only=True)
    _inverse_propensities: Sample = field(default=EMPTY, kw_only=True)
    _audit: AuditedPositives | None = field(default=None, kw_only=True)
    _clusters: ClusterRows | None = field(default=None, kw_only=True)

    # ------------------------------------------------------------------ the table

    @property
    def _samples(self) -> Samples:
        """The scores of labeled, unlabeled and known negative rows."""
        return self._labeled, self._unlabeled, self._negative

    @cached_property
    def _tabulated(self) -> tuple[Array, Array, Array, Array]:
        return step_functions.tabulate_scores(self._samples)

    @property
    def score(self) -> Array:
        """Distinct scores, descending."""
        return self._tabulated[0]

    @property
    def labeled(self) -> Array:
        """Number (or weight) of labeled rows at each score."""
        return self._tabulated[1]

    @property
    def unlabeled(self) -> Array:
        """Number (or weight) of unlabeled rows at each score."""
        return self._tabulated[2]

    @property
    def negative(self) -> Array:
        """Number (or weight) of known negative rows at each score."""
        return self._tabulated[3]

    @property
    def n_labeled(self) -> int | float:
        """Number (or weight) of labeled rows."""
        return self._labeled.total

    @property
    def n_unlabeled(self) -> int | float:
        """Number (or weight) of unlabeled rows."""
        return self._unlabeled.total

    @property
    def n_negative(self) -> int | float:
        """Number (or weight) of known negative rows."""
        return self._negative.total

    @property
    def n(self) -> int | float:
        """Number (or weight) of all rows."""
        return self.n_labeled + self.n_unlabeled + self.n_negative

    @property
    def n_represented(self) -> int | float:
        """Sum of 1/propensity over the labeled rows: the estimated number of all positives.

        Without propensities, a labeled row represents itself only.
        """
        return self._inverse_propensity_sample().total

    @property
    def has_propensity(self) -> bool:
        """Whether the propensities of the labeled rows are known."""
        return self._represented is not None

    @property
    def labeled_share(self) -> float:
        """Share of labeled rows among the labeled and unlabeled rows."""
        return self.n_labeled / (self.n_labeled + self.n_unlabeled)

    @property
    def effective_sizes(self) -> tuple[float, float]:
        """Effective sample sizes of the labeled rows and of the background."""
        background = self._unlabeled + self._negative
        return self._labeled.effective_size, background.effective_size

    @property
    def squared_weights(self) -> tuple[float, float, float]:
        """Sums of squared weights of labeled, unlabeled and negative rows."""
        labeled, unlabeled, negative = (
            sample.with_squared_weights.total for sample in self._samples
        )
        return labeled, unlabeled, negative

    def _target_samples(self, target: Target) -> tuple[Sample, ...]:
        """Return the scores of each kind of rows in the target."""
        return (self._unlabeled,) if target == "unlabeled" else self._samples

    def _target_size(self, target: Target) -> int | float:
        """Return the number (or weight) of the rows in the target."""
        return self.n_unlabeled if target == "unlabeled" else self.n

    def _target_rows(self, target: Target) -> Sample:
        """Return the scores of all rows of the target."""
        return reduce(add, self._target_samples(target))

    def _row_weight(self, target: Target) -> float:
        """Return the weight that counts as one row of the target: see `Sample.row_weight`."""
        total = self._target_size(target)
        squares = sum(kind.total * kind.row_weight for kind in self._target_samples(target))
        return float(squares / total) if total else 1.0

    def _n_rows(self, target: Target) -> int | float:
        """Return the number of rows in the target; with importance weights the effective one."""
        return rows_of_weight(self._target_size(target), self._row_weight(target))

    @property
    def _has_importance_weights(self) -> bool:
        """Whether rows have importance weights whose squares are known."""
        return any(sample.has_importance_weights for sample in self._samples)

    @property
    def _has_integer_counts(self) -> bool:
        """Whether every count is an integer: no weights, or frequency weights."""
        return all(sample.has_integer_counts for sample in self._samples)

    def _check_nonempty(self) -> None:
        """Refuse counts without labeled rows or without background."""
        if not self.n_labeled:
            raise InputError(
                "there are no labeled rows, so nothing is known about the positives. "
                "Check pos_label and the label column."
            )
        if not self.n_unlabeled + self.n_negative:
            raise InputError(
                "there are only labeled positives, no unlabeled rows and no known negatives. "
                "Add the unlabeled rows; check unlabeled_label and the label column."
            )
        background = self.n_unlabeled + self.n_negative
        if min(self.n_labeled, background) < MIN_WEIGHT:
            raise InputError(
                f"the weights of labeled and of other rows must sum to at least {MIN_WEIGHT:g}; "
                f"got {self.n_labeled:g} and {background:g}. Multiply them by a common factor."
            )
        for weight, other, least, hidden in (
            (background, self.n_labeled, MIN_BACKGROUND_RATIO, "negatives"),
            (self.n_labeled, background, MIN_LABELED_RATIO, "labeled rows"),
        ):
            if weight < least * other:
                raise InputError(
                    "labeled rows must have less than 1e8 and more than 1e-12 times the weight of "
                    f"the other rows, or rounding hides the {hidden}; got {self.n_labeled:g} and "
                    f"{background:g}. Check sample_weight."
                )

    def _refuse_propensities(self, purpose: str) -> None:
        """Refuse propensities where labeled rows must be a random sample of the positives."""
        if self.has_propensity:
            given = "propensity" if self._audit is None else "audited"
            raise InputError(
                f"{purpose} assumes that labeled rows are a random sample of the positives, but "
                f"{given} was given. Evaluate without {given} to accept this assumption."
            )

    def _refuse_clusters(self, purpose: str) -> None:
        """Refuse clusters where rows must be independent."""
        if self._clusters is not None:
            raise InputError(
                f"{purpose} assumes independent rows, but cluster was given. Leave cluster out to "
                "accept this."
            )

    # ------------------------------------------------------------------ cumulative counts

    def steps(self) -> Steps:
        """Return cumulative counts at +inf and at every distinct score."""
        return step_functions.steps_at_scores(self._tabulated, self._represented)

    def at(self, thresholds: Any) -> Steps:
        """Return cumulative counts at or above given thresholds."""
        return step_functions.steps_at(self._samples, thresholds, self._represented)

    def _roc_corners(self) -> Steps:
        """Return cumulative counts at +inf, at every labeled score, and at the lowest score.

        A measure that rises with the true positive rate and falls with the false positive rate
        has its maximum at one of these: between them, only background rows are added. After an
        audit, positives are also added between them, and every score where this is known counts.
        """
        if self._audit is not None:
            corners = self._naive_corners
            estimated = self._inverse_propensity_sample().distinct_cumulative()[0]
            # Positives and negatives of one score are spread evenly.
            others = np.setdiff1d(estimated, corners.threshold)[::-1]
            return corners.untied().insert(self.at(others))
        return self._labeled_corners()

    @cached_property
    def _naive_corners(self) -> Steps:
        """`_roc_corners` at labeled scores only, also after an audit, with the tied rows."""
        return self._labeled_corners()

    def _labeled_corners(self) -> Steps:
        return step_functions.roc_corners(
            self._samples, self._cumulative_labeled, self._represented
        )

    def _split_ties(self, corners: Steps, where: Array) -> Steps:
        """Insert the counts just above some labeled scores, given by their index in ``corners``."""
        return step_functions.split_ties(self._samples, corners, where)

    def _tied_background(self, corners: Steps) -> tuple[Array, Array]:
        """Return the unlabeled and the negative rows that tie with labeled ones."""
        return step_functions.tied_background(self._samples, corners)

    @cached_property
    def _cumulative_labeled(self) -> tuple[Array, Array]:
        """Distinct scores of labeled rows, descending, and the weight at or above each."""
        score, weight = self._labeled.distinct_cumulative()
        for column in (score, weight):
            column.flags.writeable = False
        return score, weight

    def _cumulative_background(self, thresholds: Array) -> tuple[Array, Array]:
        """Unlabeled and negative rows above, and at or above, given thresholds."""
        u_above, u_at = self._unlabeled.cumulative_counts(thresholds)
        n_above, n_at = self._negative.cumulative_counts(thresholds)
        return u_above + n_above, u_at + n_at

    def _inverse_propensity_sample(self) -> Sample:
        """Labeled rows, each with weight 1/propensity; or 1, if propensities are not known."""
        return self._labeled if self._represented is None else self._represented

    def _most_represented(self, n_positive: float) -> float:
        """Return the most positives that one more labeled row could represent.

        A row with propensity e represents 1/e positives, but no more than there are rows with a
        propensity of at most e. The propensities of unlabeled rows count where they are known.
        Relative to ``n_positive``, the number of positives, in case that propensities are known
        only up to a factor. Like it, the result is a sum of weights.
        """
        labeled = self._inverse_propensity_sample()
        factor = n_positive / labeled.total
        seen = (float(np.max(c.squared_weights / c.row_counts)) for c in labeled.chunks)
        unlabeled = self._inverse_propensities
        inverse, n_rows = unlabeled.distinct_cumulative()
        unseen = np.minimum(factor * unlabeled.row_weight * inverse, n_rows).max(initial=0.0)
        return max(factor * max(seen), float(unseen))

    # ------------------------------------------------------------------ bins

    @property
    def bins(self) -> int | None:
        """Number of bins per doubling of the score; None if every score is kept."""
        return None if self._binning is None else self._binning.bins

    def _wide_bin_scores(self) -> Array:
        """Scores, ascending, of the bins that hold several scores."""
        return np.empty(0) if self._binning is None else self._binning.wide

    def _wide_bin_counts(self) -> tuple[Array, Array]:
        """Labeled rows and background rows in each bin that holds several scores."""
        wide = self._wide_bin_scores()
        labeled, unlabeled, negative = (
            np.subtract(*sample.cumulative_counts(wide)[::-1]) for sample in self._samples
        )
        return labeled, unlabeled + negative

    def auc_error(self) -> float:
        """Bound the error of the naive AUC that is due to bins.

        A labeled row and a background row in the same bin count as tied. If all such pairs were in
        the right (or the wrong) order, the AUC would be higher (or lower) by half of their share of
        all pairs. The error of a corrected AUC is at most this number divided by
        (purity − prior): see `pueval.resolution`.

        Returns
        -------
        float
            Largest error; 0 if scores are not binned, or each bin holds a single score.

        Examples
        --------
        >>> from pueval import Counts
        >>> Counts.from_arrays([1, 0, 0], [0.51, 0.52, 0.1]).auc_error()
        0.0
        """
        labeled, background = self._wide_bin_counts()
        pairs = self.n_labeled * (self.n_unlabeled + self.n_negative)
        return float(np.sum(labeled * background.astype(np.float64)) / 2 / pairs) if pairs else 0.0

    # ------------------------------------------------------------------ output

    def _columns(self) -> dict[str, Array]:
        """Return the columns of `frame`."""
        names = ("score", "labeled", "unlabeled", "negative")
        return dict(zip(names, self._tabulated, strict=True))

    def to_dict(self) -> dict[str, Any]:
        """Return the table as plain lists, ready for JSON.

        Returns
        -------
        dict
            ``score``, ``labeled``, ``unlabeled`` and ``negative``, and the number of ``bins``.
        """
        return plain_dict({**self._columns(), "bins": self.bins})

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ScoreTable):
            return NotImplemented
        if self.bins != other.bins or self.has_propensity != other.has_propensity:
            return False
        if (self._clusters is None) != (other._clusters is None):
            return False
        pairs = [(self._wide_bin_scores(), other._wide_bin_scores())]
        pairs += zip(self._tabulated, other._tabulated, strict=True)
        pairs += zip(
            self._inverse_propensity_sample().distinct_counts(),
            other._inverse_propensity_sample().distinct_counts(),
            strict=True,
        )
        if self._clusters is not None and other._clusters is not None:
            pairs += zip(self._clusters.sorted_lines(), other._clusters.sorted_lines(), strict=True)
        return all(np.array_equal(mine, theirs) for mine, theirs in pairs)

    __hash__ = None  # type: ignore[assignment]  # equal by content, and the content is arrays

    def __repr__(self) -> str:
        return self._headline()

    def _headline(self) -> str:
        if not self.n:
            return "Counts(no rows)"
        score = self.score
        rows = "row" if self.n_negative == 1 else "rows"
        content = "distinct score" if self._binning is None else "binned score"
        content += "" if score.size == 1 else "s"
        return (
            f"Counts({_number(self.n_labeled)} labeled, {_number(self.n_unlabeled)} unlabeled, "
            f"{_number(self.n_negative)} known negative {rows}; "
            f"{score.size:,} {content} from {score[-1]:g} to {score[0]:g})"
        )


def _number(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:,.6g}"
