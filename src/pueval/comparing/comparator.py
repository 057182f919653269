"""compare(): several models on the same rows, paired."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from pueval.assumptions import Assumptions, settle
from pueval.comparing.carried import PLACES
from pueval.comparing.comparison import BEST, Comparison
from pueval.comparing.influence import StepFunctions, influence_functions
from pueval.comparing.joint import Joint, Joints, PairedShares, area_covariances, shares_at
from pueval.comparing.paired import PairedRows, known_model, read_paired
from pueval.comparing.row_bootstrap import draw_rows, drawn_covariance
from pueval.curves import direct_auc, naive_auc
from pueval.errors import AssumptionWarning, InputError, UndefinedMeasureWarning
from pueval.evaluation import Evaluation, check_threshold, draw_again
from pueval.evaluator import Prepared, finish, prepare
from pueval.legal import average_precision
from pueval.measures import AREAS, MEASURES
from pueval.mixture import Mixture, Target, check_target
from pueval.presentation import MAXIMA
from pueval.results import best_value
from pueval.samples import Array, in_threads
from pueval.sources.labels import LabelValues
from pueval.uncertainty.intervals import Resampling
from pueval.uncertainty.region import NODES, Limits
from pueval.uncertainty.resampling import resample

if TYPE_CHECKING:
    from pueval.priors import PriorEstimate

Method = Literal["influence", "bootstrap"]
# Priors and purities within given intervals for which models are compared.
NODES_OF_LINE = 9


def compare(
    y: Any,
    scores: Any,
    *,
    prior: float | Limits | PriorEstimate | None = None,
    prevalence: float | Limits | None = None,
    label_frequency: float | Limits | None = None,
    purity: float | Limits | Literal["estimate"] = 1.0,
    target: Target = "population",
    threshold: float | Mapping[str, float] | None = None,
    level: float | None = 0.95,
    method: Method = "influence",
    n_resamples: int = 2000,
    seed: int = 0,
    weight: Any = None,
    pos_label: Any = 1,
    unlabeled_label: Any = 0,
    negative_label: Any = None,
) -> Comparison:
    """Compare models on the same positive and unlabeled rows.

    Every model is evaluated as by `pueval.evaluate`, with one prior and purity for all: they
    belong to the data, not to a model. Differences are paired: both models see the same rows, so
    what is hard for both cancels out.

    Parameters
    ----------
    y : array-like
        1 or True for labeled positives, 0 or False for unlabeled rows.
    scores : mapping, data frame or iterable of pairs
        The models' names and scores, for example ``{"a": score_a, "b": score_b}``, a data frame
        with a column per model, or pairs of name and score. Higher means more likely positive;
        the scales need not be the same.
    prior, prevalence, label_frequency : float or (low, high), optional
        At most one of them, as for `pueval.evaluate`; the prior may be an estimate made before.
        Where it is only known to lie in an interval, values are for the middle, limits hold for
        all of it, and p-values are the largest within it.
        Without any the prior is estimated once, from the scores of the model with the best naive
        AUC: the better a model separates labeled from unlabeled rows, the better its scores tell
        the prior, and the order of naive AUCs does not depend on the prior.
    purity : float, (low, high) or "estimate", default 1.0
        Share of true positives among the labeled rows.
    target : {"population", "unlabeled"}
        Whose performance is wanted.
    threshold : float or mapping of str to float, optional
        Scores at or above it are predicted positive: one for all models, or one for each. By
        default each model is judged at its own threshold of the best Matthews correlation.
    level : float or None, default 0.95
        Confidence level of all limits; None for point estimates only.
    method : {"influence", "bootstrap"}
        Where covariances come from: from the influence of each row, in one pass; or from rows drawn
        again ``n_resamples`` times, the same ones for all models, which takes thousands of times
        as long and should say the same.
    n_resamples : int, default 2000
        How often counts (and with ``method="bootstrap"`` rows) are drawn again.
    seed : int, default 0
        Of the random numbers.
    weight, pos_label, unlabeled_label, negative_label : optional
        As for `Counts.from_arrays`.

    Returns
    -------
    Comparison

    Warns
    -----
    AssumptionWarning
        If the prior is more than a ranking allows, or a measure had to be clipped.
    UndefinedMeasureWarning
        If a model gives all rows the same score.

    References
    ----------
    DeLong, DeLong and Clarke-Pearson (1988); Jain, White and Radivojac (2017); Claesen, Davis,
    De Smet and De Moor (2015), section 6.2.

    Examples
    --------
    >>> import numpy as np
    >>> from pueval import compare
    >>> rng = np.random.default_rng(0)
    >>> positive = rng.random(5_000) < 0.3
    >>> labeled = positive & (rng.random(5_000) < 0.3)
    >>> hint = rng.normal(size=5_000) + 1.5 * positive
    >>> noise = rng.normal(size=(2, 5_000))
    >>> scores = {"noisy": hint + noise[0], "clear": hint + noise[1] / 2}
    >>> comparison = compare(labeled, scores, prevalence=0.3)
    >>> [difference] = comparison.differences("roc_auc")
    >>> difference.first, difference.second, round(difference.value, 3)
    ('noisy', 'clear', -0.074)
    >>> difference.high < 0, difference.pvalue < 0.001
    (True, True)
    >>> comparison.best_probability("roc_auc")["clear"] > 0.999
    True
    """
    check_target(target)
    if method not in {"influence", "bootstrap"}:
        raise InputError(f"method must be 'influence' or 'bootstrap'; got {method!r}.")
    how = None if level is None else Resampling(level, n_resamples, seed)
    known = (prior, prevalence, label_frequency)
    labels = LabelValues(pos_label, unlabeled_label, negative_label)
    rows = read_paired(y, scores, weight=weight, labels=labels)
    thresholds = _thresholds(rows.names, threshold)
    given = any(one is not None for one in known)
    source = 0 if given else _best_separating(rows)
    assumptions = settle(rows.counts[source], target, purity, *known)
    work = _Work(rows, assumptions, target, how)
    ready = in_threads(lambda k: work.prepare(k, thresholds[k]), range(len(rows.names)))
    joints = work.by_rows(ready) if method == "bootstrap" and how else work.by_influence(ready)
    joints = replace(joints, ways=work.ways(ready), within=work.within(ready))
    found = in_threads(lambda k: work.finish(k, ready[k], joints), range(len(rows.names)))
    evaluations = dict(zip(rows.names, found, strict=True))
    estimate = assumptions.estimate
    notes = _notes(evaluations, estimate.warnings if estimate else ())
    constant = _constant(rows)
    for note in notes:
        warnings.warn(note, AssumptionWarning, stacklevel=2)
    for note in constant:
        warnings.warn(note, UndefinedMeasureWarning, stacklevel=2)
    return Comparison(
        evaluations,
        assumptions,
        target,
        how,
        method,
        None if given or estimate is None else rows.names[source],
        (*notes, *constant),
        joints,
    )


def _thresholds(
    names: tuple[str, ...], given: float | Mapping[str, float] | None
) -> list[float | None]:
    """Return each model's threshold; None where it is to be found."""
    if not isinstance(given, Mapping):
        return [None if given is None else check_threshold(given)] * len(names)
    for name in given:
        if name not in names:
            raise known_model(name, names)
    lacking = [name for name in names if name not in given]
    if lacking:
        raise InputError(
            f"threshold lacks {', '.join(map(repr, lacking))}. Give one for each model, one number "
            "for all, or none to use each model's best."
        )
    return [check_threshold(given[name]) for name in names]


def _best_separating(rows: PairedRows) -> int:
    """Return the model with the best naive AUC, the first of several."""

    def auc(k: int) -> float:
        return naive_auc(rows.counts[k], rows.counts[k].corners())

    return int(np.argmax(in_threads(auc, range(len(rows.names)))))


def _notes(evaluations: dict[str, Evaluation], shared: tuple[str, ...]) -> list[str]:
    """Return what is said of all models, and what is said of each."""
    return [
        *shared,
        *(
            f"{name}: {note}"
            for name, ev in evaluations.items()
            for note in ev.warnings
            if note not in shared
        ),
    ]


def _constant(rows: PairedRows) -> list[str]:
    return [
        f"{name}: all rows have the same score, so this model orders nothing; its AUC is 0.5 and "
        "measures that divide by zero are undefined."
        for k, name in enumerate(rows.names)
        if rows.constant(k)
    ]


@dataclass(frozen=True, eq=False)
class _Model:
    """One model, ready to be measured.

    Attributes
    ----------
    prepared : Prepared
        Rates and threshold.
    best : ndarray
        Thresholds at which the measures of `MAXIMA` are best; NaN where one is undefined.
    influence : StepFunctions or None
        Influence of rows on the naive AUC and on the average precision.
    """

    prepared: Prepared
    best: Array
    influence: StepFunctions | None


@dataclass(frozen=True, eq=False)
class _Work:
    """The way from rows to evaluations and the covariance of all estimates."""

    rows: PairedRows
    assumptions: Assumptions
    target: Target
    how: Resampling | None

    @property
    def mixture(self) -> Mixture:
        return self.assumptions.mixture

    def prepare(self, k: int, threshold: float | None) -> _Model:
        """Compute rates, thresholds and influences of one model."""
        ready = prepare(self.rows.counts[k], self.assumptions, self.target, threshold)
        best = np.array([best_value(MEASURES[name], ready.rates[0])[0] for name in MAXIMA])
        influence = None
        if self.how is not None:
            influence = influence_functions(ready.counts, self.mixture, self.target)
        return _Model(ready, best, influence)

    def areas(self, models: list[_Model]) -> dict[str, Array]:
        """Return the corrected areas, not clipped."""
        found: dict[str, list[float]] = {name: [] for name in AREAS}
        for model in models:
            ready = model.prepared
            naive = naive_auc(ready.counts, ready.corners)
            found["roc_auc"].append(direct_auc(ready.counts, naive, self.mixture))
            found["average_precision"].append(float(average_precision(ready.rates[0])))
        return {name: np.array(values) for name, values in found.items()}

    def by_influence(self, models: list[_Model]) -> Joints:
        """Take covariances from the influence of each row."""
        wanted = [np.append(model.prepared.threshold, model.best) for model in models]
        # Many best thresholds are the same: a column each for different ones.
        thresholds = [np.unique(each[~np.isnan(each)])[::-1] for each in wanted]
        shares = shares_at(
            self.rows, thresholds, self.mixture, self.target, covariance=self.how is not None
        )
        starts = np.cumsum([0, *(each.size for each in thresholds[:-1])])

        def taken(which: int) -> PairedShares:
            columns = [
                # Where nothing is best, the measure is undefined at every threshold.
                start + int(np.argmax(each == mine[which]))
                for start, each, mine in zip(starts, thresholds, wanted, strict=True)
            ]
            return shares.take(np.array(columns))

        fixed = {
            best: taken(k + 1).joint(MEASURES[name])
            for k, (name, best) in enumerate(zip(MAXIMA, BEST, strict=True))
        }
        covariance = self._area_covariance(models)
        for name, value in self.areas(models).items():
            fixed[name] = Joint(value, covariance[name])
        return Joints(fixed, taken(0), taken(0).share)

    def _area_covariance(self, models: list[_Model]) -> dict[str, Array]:
        size = len(models)
        if self.how is None:
            return dict.fromkeys(AREAS, np.full((size, size), np.nan))
        influences = [model.influence for model in models if model.influence is not None]
        auc, precision = area_covariances(self.rows, influences)
        contrast = self.mixture.purity - self.mixture.background_prior(self.rows.counts[0])
        return {"roc_auc": auc / contrast**2, "average_precision": precision}

    def by_rows(self, models: list[_Model]) -> Joints:
        """Take covariances from rows drawn again."""
        assert self.how is not None  # noqa: S101 - checked by the caller
        own = [np.array([model.prepared.threshold]) for model in models]
        drawn = draw_rows(
            self.rows,
            np.concatenate(own),
            self.mixture,
            self.target,
            best=MAXIMA,
            n_resamples=self.how.n_resamples,
            seed=self.how.seed,
        )
        # The values are the same; only the covariances are others.
        plain = replace(self, how=None).by_influence(models)
        spread = dict(zip(BEST, (drawn.best[name] for name in MAXIMA), strict=True)) | drawn.areas
        fixed = {
            name: replace(joint, covariance=drawn_covariance(spread[name]))
            for name, joint in plain.fixed.items()
        }
        return Joints(fixed, drawn, plain.share)

    def ways(self, models: list[_Model]) -> tuple[tuple[Joints, ...], ...]:
        """Return the same on the way to the limits of estimated shares.

        Covariances are found at the limits only.
        """
        if self.how is None or self.assumptions.estimate is None:
            return ()
        from pueval.priors.uncertainty import limits

        region, now = limits(self.assumptions.estimate, self.how.level), self.mixture
        priors = [Mixture(prior, now.purity) for prior in _on_the_way(now.prior, region.prior)]
        purities = [Mixture(now.prior, one) for one in _on_the_way(now.purity, region.purity)]
        spread = [self.how if abs(place) == 1 else None for place in PLACES]
        return tuple(
            tuple(self._moved(models, *each) for each in zip(way, spread, strict=True))
            for way in (priors, purities)
            if way
        )

    def within(self, models: list[_Model]) -> tuple[Joints, ...]:
        """Return the same all over the intervals that were given."""
        region = self.assumptions.region
        if self.how is None or region is None:
            return ()
        line = region.prior[0] == region.prior[1] or region.purity[0] == region.purity[1]
        grid = region.grid(NODES_OF_LINE if line else NODES)
        return tuple(self._moved(models, grid[k], self.how) for k in range(len(grid)))

    def _moved(self, models: list[_Model], mixture: Mixture, how: Resampling | None) -> Joints:
        """Return the same for another prior and purity; thresholds stay."""
        there = replace(self, assumptions=Assumptions(mixture), how=how)
        own = [model.prepared.threshold for model in models]
        return there.by_influence(in_threads(lambda k: there.prepare(k, own[k]), range(len(own))))

    def finish(self, k: int, model: _Model, joints: Joints) -> Evaluation:
        """Evaluate one model, with intervals from the same covariances."""
        ready = model.prepared
        if self.how is None:
            return finish(ready, None, None)
        if self.assumptions.estimate is not None or self.assumptions.region is not None:
            drawn = draw_again(
                ready.counts,
                ready.corners,
                self.assumptions,
                self.target,
                ready.threshold,
                self.how,
            )
            return finish(ready, self.how, drawn)
        drawn = resample(
            ready.counts,
            ready.corners,
            self.mixture,
            self.target,
            threshold=ready.threshold,
            how=self.how,
            errors={name: joints.error(name, k) for name in (*AREAS, *MEASURES)},
        )
        return finish(ready, self.how, drawn)


def _on_the_way(now: float, limits: Limits) -> list[float]:
    """Return what lies between limits at `PLACES`; nothing if there is nothing in between."""
    if limits[0] == limits[1]:
        return []
    return [now + abs(place) * (limits[int(place > 0)] - now) for place in PLACES]
