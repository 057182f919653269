"""evaluate(): from labels and scores to every corrected measure, beside the naive one."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from pueval.counts import Counts, Steps
from pueval.curves import (
    PrecisionRecallCurve,
    RocCurve,
    average_precision,
    direct_auc,
    naive_auc,
    recover_precision_recall,
    roc,
)
from pueval.errors import AssumptionWarning, InputError, require
from pueval.feasibility import contradiction
from pueval.measures import AREAS, MEASURES, find_measure, unknown_measure
from pueval.mixture import NAIVE, Mixture, Target, check_target
from pueval.ranking import ranking_measures
from pueval.rates import Rates, naive_rates, rates
from pueval.results import (
    Best,
    Contingency,
    Estimate,
    OperatingPoint,
    best_value,
    estimate,
    operating_point,
)
from pueval.tables import amount, html_table, number, text_table

if TYPE_CHECKING:
    import pandas as pd

    from pueval.priors import PriorEstimate

TITLES = {"roc_auc": "ROC AUC", "average_precision": "Average precision"} | {
    name: measure.title for name, measure in MEASURES.items()
}
# The measures whose best value over all thresholds Ramola et al. (2019) correct.
MAXIMA = ("accuracy", "balanced_accuracy", "f1", "matthews_corrcoef")


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation:
    """Corrected performance of one classifier; made by `evaluate`.

    ``ev["f1"].value`` is the corrected measure, ``ev["f1"].naive`` the one that counts unlabeled
    rows as negative. Areas are ``"roc_auc"`` and ``"average_precision"``; all others belong to
    ``ev.threshold``.

    Attributes
    ----------
    counts : Counts
        The data.
    mixture : Mixture
        Prior and purity.
    target : str
        ``"population"`` or ``"unlabeled"``.
    threshold : float
        The threshold of the measures that need one.
    warnings : tuple of str
        What looked wrong.
    prior_estimate : PriorEstimate or None
        Where prior and purity came from, if they were estimated.
    """

    counts: Counts
    mixture: Mixture
    target: Target
    threshold: float
    warnings: tuple[str, ...]
    prior_estimate: PriorEstimate | None
    _corners: Steps
    _rates: tuple[Rates, Rates]
    _point: OperatingPoint
    _areas: dict[str, Estimate]

    # ------------------------------------------------------------------ numbers

    def __getitem__(self, name: str) -> Estimate:
        if name in self._areas:
            return self._areas[name]
        if name in self._point.measures:
            return self._point.measures[name]
        try:
            measure = find_measure(name)
        except InputError:
            raise unknown_measure(name, [*self]) from None
        return estimate(measure, *self._rates_at(self.threshold))[0]

    def __iter__(self) -> Iterator[str]:
        return iter((*self._areas, *self._point.measures))

    def __len__(self) -> int:
        return len(self._areas) + len(self._point.measures)

    @property
    def prevalence(self) -> float:
        """Share of positives in the target."""
        return self.mixture.prevalence(self.counts, self.target)

    @property
    def table(self) -> Contingency:
        """Corrected contingency table at ``threshold``; not clipped."""
        return self._point.table

    def _rates_at(self, threshold: float) -> tuple[Rates, Rates]:
        return _both_rates(self.counts, self.counts.at(threshold), self.mixture, self.target)

    def at(self, threshold: float) -> OperatingPoint:
        """Evaluate another threshold.

        Parameters
        ----------
        threshold : float
            Scores at or above it are predicted positive.

        Returns
        -------
        OperatingPoint
        """
        return operating_point(_check_threshold(threshold), *self._rates_at(threshold))

    def best(self, measure: str) -> Best:
        """Find the threshold at which a measure is best.

        Parameters
        ----------
        measure : str
            Name of a measure that belongs to a threshold, for example ``"f1"``.

        Returns
        -------
        Best

        Notes
        -----
        The best of many noisy values is too good on average; with few labeled rows this
        matters.

        References
        ----------
        Ramola, Jain and Radivojac (2019) for accuracy, balanced accuracy, F1 and MCC.
        """
        if measure in AREAS:
            raise InputError(
                f"{measure} is an area under a curve and has no threshold. "
                "Ask for the best of a measure at a threshold, such as 'f1'."
            )
        found = find_measure(measure)
        (threshold, value), (naive_threshold, naive) = (
            best_value(found, these) for these in self._rates
        )
        return Best(found.name, threshold, value, naive_threshold, naive)

    def roc(self, *, naive: bool = False) -> RocCurve:
        """Return the ROC curve.

        Parameters
        ----------
        naive : bool, default False
            Whether to count unlabeled rows as negative instead of correcting.

        Returns
        -------
        RocCurve
            With ``area``, which for the corrected curve is Jain's indirect estimate of the AUC.
        """
        if naive:
            return roc(self.counts, self._corners, NAIVE)
        return roc(self.counts, self._corners, self.mixture, self.target)

    def pr(self, *, naive: bool = False) -> PrecisionRecallCurve:
        """Return the precision-recall curve.

        Parameters
        ----------
        naive : bool, default False
            Whether to count unlabeled rows as negative instead of correcting.

        Returns
        -------
        PrecisionRecallCurve
            With ``area``, which for the corrected curve is Jain's indirect estimate.
        """
        return recover_precision_recall(self._rates[naive])

    def ranking(self) -> dict[str, float]:
        """Return the measures that need no prior: see `pueval.ranking.ranking_measures`.

        Returns
        -------
        dict of str to float
        """
        return ranking_measures(self.counts)

    # ------------------------------------------------------------------ as data

    def frame(self) -> pd.DataFrame:
        """Return a pandas DataFrame with a row per measure, columns ``value`` and ``naive``.

        Returns
        -------
        pandas.DataFrame
        """
        pandas = require("pandas", extra="pandas", purpose="Evaluation.frame()")
        rows = [self[name] for name in self]
        frame: pd.DataFrame = pandas.DataFrame(
            {
                "value": [row.value for row in rows],
                "naive": [row.naive for row in rows],
            },
            index=pandas.Index([*self], name="measure"),
        )
        return frame

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain numbers, lists and text, ready for JSON.

        Returns
        -------
        dict
            Undefined and infinite numbers are None.
        """
        roc, pr = self.roc(), self.pr()
        best = {name: vars(self.best(name)) for name in MAXIMA}
        content: dict[str, Any] = _plain(
            {
                "counts": {
                    "labeled": self.counts.n_labeled,
                    "unlabeled": self.counts.n_unlabeled,
                    "negative": self.counts.n_negative,
                },
                "assumptions": {
                    "prior": self.mixture.prior,
                    "purity": self.mixture.purity,
                    "target": self.target,
                    "prevalence": self.prevalence,
                    "label_frequency": self.mixture.label_frequency(self.counts),
                    "estimated": None
                    if self.prior_estimate is None
                    else self.prior_estimate.to_dict(),
                },
                "threshold": self.threshold,
                "table": vars(self._point.table),
                "naive_table": vars(self._point.naive_table),
                "measures": {name: vars(self[name]) for name in self},
                "best": best,
                "roc": {"area": roc.area, **vars(roc)},
                "pr": {"area": pr.area, **vars(pr)},
                "warnings": list(self.warnings),
            }
        )
        return content

    # ------------------------------------------------------------------ as text

    def summary(self) -> str:
        """Say in one line what was evaluated and assumed.

        Returns
        -------
        str
        """
        rows = (
            f"{amount(self.counts.n_labeled)} labeled, {amount(self.counts.n_unlabeled)} unlabeled"
        )
        if self.counts.n_negative:
            rows += f", {amount(self.counts.n_negative)} known negative"
        return (
            f"{rows} rows; {self.assumed()}, "
            f"target {self.target} (prevalence {self.prevalence:.4g}), "
            f"threshold {self.threshold:.6g}"
        )

    def assumed(self) -> str:
        """Say which prior and purity were used, and whether they were estimated.

        Returns
        -------
        str
        """
        estimate, mixture = self.prior_estimate, self.mixture
        if estimate is None:
            return f"prior {mixture.prior:.4g}, purity {mixture.purity:.4g}"
        said = []
        for name in ("prior", "purity"):
            text = f"{name} {getattr(mixture, name):.3g}"
            interval = getattr(estimate, f"{name}_interval")
            if interval is not None:
                text += f" (estimated, {estimate.level:.0%} limits {interval[0]:.3g} to "
                text += f"{interval[1]:.3g})"
            said.append(text)
        return ", ".join(said)

    def _rows(self) -> list[list[str]]:
        return [[TITLES[n], number(self[n].naive), number(self[n].value)] for n in self]

    def __repr__(self) -> str:
        table = text_table(["", "naive", "corrected"], self._rows())
        notes = "".join(f"\n! {warning}" for warning in self.warnings)
        return f"Evaluation of {self.summary()}\n{table}{notes}"

    def _repr_html_(self) -> str:
        table = html_table(["", "naive", "corrected"], self._rows())
        notes = "".join(f"<p>⚠ {escape(warning)}</p>" for warning in self.warnings)
        return f"<div><p>Evaluation of {escape(self.summary())}</p>{table}{notes}</div>"


def evaluate(
    y: Any,
    score: Any = None,
    *,
    prior: float | None = None,
    prevalence: float | None = None,
    label_frequency: float | None = None,
    purity: float | Literal["estimate"] = 1.0,
    target: Target = "population",
    threshold: float | None = None,
    weight: Any = None,
    pos_label: Any = 1,
    unlabeled_label: Any = 0,
    negative_label: Any = None,
) -> Evaluation:
    """Evaluate a classifier on positive and unlabeled rows.

    The rates of labeled and unlabeled rows at or above each threshold are unmixed into true and
    false positive rates, and every measure follows from these:
    tpr = ((1 − prior)·γ − (1 − purity)·η) / (purity − prior) and
    fpr = (purity·η − prior·γ) / (purity − prior), with γ and η the shares of labeled and of
    unlabeled rows at or above the threshold. This assumes that the labeled rows are a random
    draw: labeled positives from all positives, and wrongly labeled rows from all negatives.

    Parameters
    ----------
    y : array-like or Counts
        1 or True for labeled positives, 0 or False for unlabeled rows; or Counts, and no score.
    score : array-like
        The classifier's score; higher means more likely positive. It should come from rows that
        the classifier was not trained on.
    prior : float, optional
        Share of positives among the unlabeled rows. Give at most one of ``prior``,
        ``prevalence`` and ``label_frequency``; without any of them the prior is estimated from
        the scores by `pueval.priors.estimate`.
    prevalence : float, optional
        Share of positives in the target.
    label_frequency : float, optional
        Share of all positives that are labeled.
    purity : float or "estimate", default 1.0
        Share of true positives among the labeled rows; ``"estimate"`` estimates it together
        with the prior.
    target : {"population", "unlabeled"}
        Whose performance is wanted: of all rows together (one data set, part of its positives
        labeled), or of the unlabeled rows (the labeled ones were collected apart).
    threshold : float, optional
        Scores at or above it are predicted positive. By default the threshold of the best
        Matthews correlation, which depends on neither prior nor purity.
    weight, pos_label, unlabeled_label, negative_label : optional
        As for `Counts.from_arrays`.

    Returns
    -------
    Evaluation

    Warns
    -----
    AssumptionWarning
        If the prior is more than the ranking allows, or a measure had to be clipped.

    References
    ----------
    Jain, White and Radivojac (2017); Ramola, Jain and Radivojac (2019).

    Examples
    --------
    >>> import numpy as np
    >>> from pueval import evaluate
    >>> rng = np.random.default_rng(0)
    >>> positive = rng.random(20_000) < 0.3
    >>> score = rng.normal(size=20_000) + 2 * positive
    >>> labeled = positive & (rng.random(20_000) < 0.2)
    >>> ev = evaluate(labeled, score, prevalence=0.3)
    >>> round(ev["roc_auc"].naive, 2), round(ev["roc_auc"].value, 2)
    (0.81, 0.92)
    >>> best = ev.best("f1")
    >>> round(best.naive, 2), round(best.value, 2)
    (0.27, 0.77)
    """
    if isinstance(y, Counts):
        if score is not None or weight is not None:
            raise InputError("score and weight belong to arrays; Counts hold both already.")
        counts = y
    else:
        if score is None:
            raise InputError("score is missing: evaluate(y, score, …) or evaluate(counts, …).")
        counts = Counts.from_arrays(
            y,
            score,
            weight=weight,
            pos_label=pos_label,
            unlabeled_label=unlabeled_label,
            negative_label=negative_label,
        )
    counts.check()
    check_target(target)
    mixture, estimate = _mixture(counts, target, purity, prior, prevalence, label_frequency)
    corners = counts.corners()
    both = _both_rates(counts, corners, mixture, target)
    if threshold is None:
        threshold = _default_threshold(*both)
    point = operating_point(
        _check_threshold(threshold),
        *_both_rates(counts, counts.at(threshold), mixture, target),
    )
    plain = naive_auc(counts, corners)
    areas = {
        "roc_auc": (direct_auc(counts, plain, mixture), plain),
        "average_precision": (
            average_precision(counts, corners, both[0], mixture, target),
            average_precision(counts, corners, both[1], NAIVE),
        ),
    }
    clipped = {k: value for k, (value, _) in areas.items() if not -1e-9 <= value <= 1 + 1e-9}
    found = [
        *(estimate.warnings if estimate else ()),
        contradiction(counts, mixture),
        _clipping(clipped | point.clipped, mixture, point.threshold),
    ]
    notes = tuple(note for note in found if note)
    for note in notes:
        warnings.warn(note, AssumptionWarning, stacklevel=2)
    return Evaluation(
        counts,
        mixture,
        target,
        point.threshold,
        notes,
        estimate,
        corners,
        both,
        point,
        {k: Estimate(min(max(value, 0.0), 1.0), naive) for k, (value, naive) in areas.items()},
    )


def _mixture(
    counts: Counts,
    target: Target,
    purity: float | Literal["estimate"],
    prior: float | None,
    prevalence: float | None,
    label_frequency: float | None,
) -> tuple[Mixture, PriorEstimate | None]:
    """Return the assumptions as given, or as estimated where they are not."""
    given = {
        name: value
        for name, value in (
            ("prior", prior),
            ("prevalence", prevalence),
            ("label_frequency", label_frequency),
        )
        if value is not None
    }
    if not counts.n_unlabeled:
        if any(given.values()):
            raise InputError(
                f"{', '.join(given)} was given, but there are no unlabeled rows for it to "
                "tell about. Leave it out: where every row is known, it has no effect."
            )
        return Mixture(0.0, _number(purity, "every row is known")), None
    if len(given) > 1:
        raise InputError(
            f"give at most one of prior, prevalence and label_frequency; got "
            f"{' and '.join(given)}. prior is the share of positives among the unlabeled rows, "
            "prevalence their share in the target, label_frequency the share of all positives "
            "that are labeled."
        )
    if not given:
        from pueval import priors

        with warnings.catch_warnings():
            # They are said with all others, once.
            warnings.simplefilter("ignore", AssumptionWarning)
            estimate = priors.estimate(counts, purity=purity)
        return estimate.mixture(), estimate
    known = _number(purity, f"{next(iter(given))} is given")
    if label_frequency is not None:
        return Mixture.from_label_frequency(counts, label_frequency, known), None
    if prevalence is not None and target == "population":
        return Mixture.from_prevalence(counts, prevalence, known), None
    return Mixture(next(iter(given.values())), known), None


def _number(purity: float | str, reason: str) -> float:
    if isinstance(purity, str):
        raise InputError(
            f"purity must be a number where {reason}; got {purity!r}. "
            "Leave the prior out to estimate both."
        )
    return purity


def _both_rates(
    counts: Counts, steps: Steps, mixture: Mixture, target: Target
) -> tuple[Rates, Rates]:
    """Corrected and naive rates."""
    corrected = rates(counts, steps, mixture, target)
    if mixture == NAIVE and target == "population":
        return corrected, corrected
    return corrected, naive_rates(counts, steps)


def _default_threshold(corrected: Rates, naive: Rates) -> float:
    """Return the threshold of the best Matthews correlation; the lowest score if it has none."""
    for these in (corrected, naive):
        threshold = best_value(MEASURES["matthews_corrcoef"], these)[0]
        if not math.isnan(threshold):
            return threshold
    return float(naive.threshold[-1])


def _check_threshold(threshold: float) -> float:
    value = float(threshold)
    if math.isnan(value):
        raise InputError("threshold must be a number; got nan.")
    return value


def _clipping(clipped: dict[str, float], mixture: Mixture, threshold: float) -> str | None:
    if not clipped:
        return None
    shown = ", ".join(f"{name} {value:.4g}" for name, value in [*clipped.items()][:4])
    if len(clipped) > 4:
        shown += f" and {len(clipped) - 4} more"
    return (
        f"corrected values outside their range were clipped: {shown} (threshold {threshold:g}). "
        f"Either few rows lie beyond the threshold and this is chance, or prior "
        f"{mixture.prior:g}, purity {mixture.purity:g} or random labeling do not fit this ranking."
    )


def _plain(value: Any) -> Any:
    """Turn arrays into lists and numbers that JSON lacks into None."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        return [_plain(item) for item in value.tolist()]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
