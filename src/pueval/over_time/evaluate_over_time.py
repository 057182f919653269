"""evaluate_over_time(): the same evaluation for every window of time, and alarms for changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from pueval._checks import check_choice, check_count, check_fraction
from pueval._typing import Target
from pueval.counts.arguments import DEFAULT_LABELS, suggest_arguments
from pueval.errors import InputError, warn_caller
from pueval.evaluation.evaluate import evaluate_counts
from pueval.groups.evaluate_by import MIN_BACKGROUND, MIN_LABELED, check_single_values
from pueval.groups.group_priors import (
    GROUP_PRIOR_NAMES,
    check_group_prior,
    check_group_purity,
    uneven_label_warning,
)
from pueval.over_time.estimate_windows import estimate_windows
from pueval.over_time.time_evaluation import TimeEvaluation, check_time_measure
from pueval.over_time.time_windows import (
    PeriodCounts,
    add_periods,
    count_periods,
    time_text,
)
from pueval.over_time.window_estimates import WindowOptions
from pueval.sources.labels import LabelValues
from pueval.sources.periods import Periods
from pueval.text.warning_lists import worst_warnings

if TYPE_CHECKING:
    import datetime as dt

    from pueval.priors import PriorEstimate

DEFAULT_WATCH = ("roc_auc",)


@suggest_arguments
def evaluate_over_time(
    y: Any,
    score: Any = None,
    time: Any = None,
    *,
    every: str | float | dt.timedelta = "month",
    window: int = 1,
    timezone: str = "UTC",
    reference: Any = 1,
    watch: str | Sequence[str] | None = None,
    false_alarm_rate: float = 0.05,
    label_delay: Any = None,
    as_of: Any = None,
    prior: float | PriorEstimate | None = None,
    prevalence: float | None = None,
    label_frequency: float | None = None,
    purity: float | Literal["estimate"] = 1.0,
    group_prior: Literal["shared", "label_frequency", "each"] | None = None,
    propensity: Any = None,
    target: Target = "population",
    threshold: float | None = None,
    level: float | None = 0.95,
    n_resamples: int = 2000,
    seed: int = 0,
    min_labeled: int = MIN_LABELED,
    min_background: int = MIN_BACKGROUND,
    sample_weight: Any = None,
    pos_label: Any = 1,
    unlabeled_label: Any = 0,
    negative_label: Any = None,
) -> TimeEvaluation:
    """Evaluate a classifier in every window of time, and raise an alarm if it changes.

    Every number is that of `pueval.evaluate_by` with windows as groups: with the threshold of all
    rows, and with the prior that ``group_prior`` says. Alarms come from a confidence sequence, so
    you can look after every period, without end, and all looks together raise a false alarm with
    probability ``false_alarm_rate`` at most.

    Parameters
    ----------
    y, score : array-like
        Labels and scores, as for `pueval.evaluate`. Or a mapping from times to Counts as ``y``, for
        example from `pueval.tally` with ``every``; then without ``score`` and ``time``.
    time : array-like
        Time of every row, in any order: dates, times, ISO texts such as "2026-03-31", or numbers.
        Missing times are refused.
    every : {"day", "week", "month", "quarter", "year"}, timedelta, str or float, default "month"
        Length of the periods: a unit of the calendar (weeks start on Monday), a fixed length such
        as "14 days" or a timedelta (counted from midnight of 1970-01-01), or a number, for times
        that are numbers (counted from 0).
    window : int, default 1
        Number of periods in a window. Windows of several periods overlap: one ends with every
        period.
    timezone : str, default "UTC"
        Times with a time zone are converted to this one. Others are used as they are.
    reference : int or time, default 1
        Number of first periods with which later ones are compared for alarms; or a time: all
        periods that start before the period of this time.
    watch : str or list of str, optional
        Measures that can raise an alarm, also "prior" and "prevalence"; "roc_auc" by default. The
        false alarm rate is divided evenly among them.
    false_alarm_rate : float, default 0.05
        Probability of any alarm, at any look, if nothing changes.
    label_delay : str, timedelta or float, optional
        Time after which all labels have arrived. Windows that end later than this before ``as_of``
        get a note instead of estimates, and all rows together leave their rows out. For windows
        with incomplete labels, use ``propensity`` instead.
    as_of : time, optional
        When the labels were read; by default the latest time. Rows after it are refused. Needed for
        a mapping.
    prior : float or PriorEstimate, optional
        Prior of all rows together, known or estimated.
    prevalence, label_frequency : float, optional
        Prevalence or label frequency of all rows together, instead of the prior. Without any of
        the three, the prior is estimated from the scores of all rows.
    purity : float or "estimate", default 1.0
        Share of true positives among the labeled rows, in every window.
    group_prior : {"shared", "label_frequency", "each"}, optional
        Prior of each window, as for `pueval.evaluate_by`: that of all rows ("shared", the
        default), from one label frequency of all windows, or estimated in each window. With
        propensities, priors follow from those of each window, or a given prior is shared.
    propensity : array-like, optional
        For labeled rows, the probability that the row, being positive, is labeled by now; as for
        `pueval.evaluate`. It is lower for recent rows, whose labels arrive late. Windows are then
        evaluated one by one with `pueval.evaluate`, which resamples them and takes longer.
    target : {"population", "unlabeled"}
        Population to evaluate: all rows, or only the unlabeled rows.
    threshold : float, optional
        Threshold for all windows; by default the default threshold of all rows (see `evaluate`).
    level : float or None, default 0.95
        Confidence level of the intervals; None for no intervals and no alarms.
    n_resamples : int, default 2000
        Number of bootstrap resamples for the intervals of all rows together.
    seed : int, default 0
        Random seed for the resampling.
    min_labeled, min_background : int, default 20
        Smallest numbers of labeled rows, and of unlabeled and known negative rows together, in a
        window. Smaller windows get a note instead of estimates. For alarms, smaller periods are
        pooled with the following ones.
    sample_weight, pos_label, unlabeled_label, negative_label : optional
        As for `Counts.from_arrays`.

    Returns
    -------
    TimeEvaluation

    Warns
    -----
    AssumptionWarning
        If something is wrong with all rows together, or if windows with a shared prior differ in
        their shares of labeled rows. Problems of single windows are in ``notes``.

    Notes
    -----
    Let x₁, x₂, … be the estimates of the periods and sᵢ² their variances. For every start j after
    the reference, the change at j is the mean of xⱼ, …, xₜ less that of x₁, …, xⱼ₋₁, with weights
    1/sᵢ². Its error has the variance v = 1/Σᵢ₌ⱼᵗ sᵢ⁻² + 1/Σᵢ₌₁ʲ⁻¹ sᵢ⁻², the second part of which is
    the error of the reference. Let k be the number of the start, counted from the end of the
    reference, and τ twice the standard error of the first look. The intervals

        change ± √(v(v + τ²)/τ² · (2 log(k(k + 1)/rate) + log((v + τ²)/v)))

    hold for all j and t together with probability 1 − rate: for each j by the normal mixture
    martingale of Robbins (1970), and by a union over j. An alarm is an interval without 0.

    Assumptions: rows are independent, and windows have enough rows for their estimates to be
    normal. While nothing changes, a row has the same variance at all times, so sᵢ² is estimated
    from all rows up to the look. The sequence is asymptotic, as in Waudby-Smith et al. (2024). The
    default threshold and an estimated prior come from all rows, so they move a little with every
    run; pass ``threshold`` and ``prior`` to keep past results as they were. An error of a shared
    prior moves all windows together and causes no alarm. A change of the labeling does.

    There are no clusters: a patient with rows in several windows makes windows dependent, and a
    confidence sequence needs new information at every look. For intervals of windows, pass them as
    groups to `pueval.evaluate_by`, with ``cluster``.

    References
    ----------
    Robbins (1970); Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas (2024).

    Examples
    --------
    >>> import numpy as np
    >>> from pueval import evaluate_over_time
    >>> rng = np.random.default_rng(0)
    >>> day = np.arange("2025-01-01", "2026-01-01", dtype="datetime64[D]").repeat(60)
    >>> positive = rng.random(day.size) < 0.3
    >>> skill = np.where(day < np.datetime64("2025-09-01"), 2.0, 1.0)    # it gets worse
    >>> score = rng.normal(skill * positive)
    >>> labeled = positive & (rng.random(day.size) < 0.4)
    >>> times = evaluate_over_time(labeled, score, day, prevalence=0.3, reference=3)
    >>> times["roc_auc"].value.round(2)
    array([0.94, 0.94, 0.94, 0.92, 0.92, 0.92, 0.94, 0.93, 0.77, 0.76, 0.77,
           0.76])
    >>> [(alarm.measure, alarm.window, alarm.since) for alarm in times.alarms]
    [('roc_auc', '2025-09', '2025-09')]
    """
    given: dict[str, Any] = {
        "prior": prior,
        "prevalence": prevalence,
        "label_frequency": label_frequency,
    }
    check_single_values(given | {"purity": purity}, "windows")
    check_count("min_labeled", min_labeled, least=2)
    check_count("min_background", min_background, least=2)
    labels = {
        "pos_label": pos_label,
        "unlabeled_label": unlabeled_label,
        "negative_label": negative_label,
    }
    arrays = {
        "score": score,
        "time": time,
        "sample_weight": sample_weight,
        "propensity": propensity,
    }
    periods = _read_periods(y, arrays, labels, Periods.of(every, timezone), label_delay, as_of)
    has_propensity = any(part.has_propensity for part in periods.counts)
    group_prior = _choose_group_prior(group_prior, given, purity, has_propensity=has_propensity)
    watched = _read_watch(watch, level, target, group_prior)
    check_fraction("false_alarm_rate", false_alarm_rate)
    complete = periods.total((0, periods.n_complete))
    complete._check_nonempty()
    overall = evaluate_counts(
        complete,
        **given,
        purity=purity,
        target=target,
        threshold=threshold,
        level=level,
        n_resamples=n_resamples,
        seed=seed,
    )
    spans = periods.windows(window)
    names = [*map(periods.name, spans)]
    options = WindowOptions(overall, group_prior, min_labeled, min_background)
    incomplete = {
        k: "labels are not complete yet"
        for k, (_, stop) in enumerate(spans)
        if stop > periods.n_complete
    }
    estimates = estimate_windows([*map(periods.total, spans)], names, options, incomplete)
    messages = [*overall.warnings]
    if group_prior == "shared" and not has_propensity:
        # Windows without common rows, or rows would count several times.
        usable = np.zeros(len(names), dtype=bool)
        usable[-1::-window] = estimates.evaluated[-1::-window]
        uneven = uneven_label_warning(names, estimates.sizes, usable)
        messages += [] if uneven is None else [uneven]
    for warning in worst_warnings(messages):
        warn_caller(warning)
    return TimeEvaluation(
        tuple(names),
        overall,
        watched,
        false_alarm_rate,
        tuple(messages),
        periods,
        tuple(spans),
        estimates,
        options,
        periods.reference_periods(reference),
    )


def _read_periods(
    y: Any,
    arrays: dict[str, Any],
    labels: dict[str, Any],
    division: Periods,
    label_delay: Any,
    as_of: Any,
) -> PeriodCounts:
    """Count rows by period, or take the Counts of a mapping."""
    if as_of is not None and label_delay is None:
        raise InputError("as_of needs label_delay, the time after which all labels have arrived.")
    latest = None if as_of is None else division.read_moment(as_of, "as_of")
    if isinstance(y, Mapping):
        extra = [name for name, value in arrays.items() if value is not None]
        extra += [name for name, value in labels.items() if value != DEFAULT_LABELS[name]]
        if extra:
            raise InputError(
                f"{' and '.join(extra)}: a mapping from times to Counts already includes all of "
                "it. Leave it out."
            )
        periods = add_periods(y, division)
        if label_delay is not None and latest is None:
            raise InputError("label_delay needs as_of, the time when the labels were read.")
    else:
        for name in ("score", "time"):
            if arrays[name] is None:
                raise InputError(
                    f"{name} is missing. Call evaluate_over_time(y, score, time, …), or pass a "
                    "mapping from times to Counts."
                )
        periods, latest_row = count_periods(
            y,
            arrays["score"],
            arrays["time"],
            division,
            sample_weight=arrays["sample_weight"],
            propensity=arrays["propensity"],
            labels=LabelValues(*labels.values()),
        )
        latest = latest_row if latest is None else latest
        _refuse_later(latest_row, latest)
    if label_delay is None:
        return periods
    _refuse_later(periods.start(len(periods.counts) - 1), latest)
    return periods.with_label_delay(label_delay, latest)


def _refuse_later(time: Any, as_of: Any) -> None:
    """Refuse rows after the time when the labels were read."""
    if time > as_of:
        raise InputError(
            f"as_of is before the latest rows, of {time_text(time)}; got {time_text(as_of)}. Leave "
            "out rows that had not happened yet, or correct as_of."
        )


def _choose_group_prior(
    group_prior: Any, given: dict[str, Any], purity: Any, *, has_propensity: bool
) -> Any:
    """Return how the priors of windows are found; None from their propensities."""
    if has_propensity:
        if group_prior is not None:
            raise InputError(
                "group_prior cannot be combined with propensities: they determine the prior of "
                "each window. Leave it out; a prior that you pass is shared by all windows."
            )
        return "shared" if any(value is not None for value in given.values()) else None
    chosen = "shared" if group_prior is None else group_prior
    check_choice("group_prior", chosen, GROUP_PRIOR_NAMES)
    check_group_prior(chosen, given)
    check_group_purity(purity, chosen)
    return chosen


def _read_watch(
    watch: Any, level: float | None, target: Target, group_prior: Any
) -> tuple[str, ...]:
    """Return the watched measures."""
    if watch is None:
        return DEFAULT_WATCH
    if level is None:
        raise InputError("watch needs confidence intervals, but level is None. Pass a level.")
    measures = (watch,) if isinstance(watch, str) else tuple(dict.fromkeys(watch))
    if not measures:
        raise InputError("watch is empty. Name at least one measure, or leave it out.")
    for measure in measures:
        check_time_measure(measure)
        of_prior = measure == "prior" or (measure == "prevalence" and target == "unlabeled")
        if group_prior == "shared" and of_prior:
            raise InputError(
                f"{measure} cannot be watched: all windows share one prior. Pass "
                'group_prior="label_frequency" or group_prior="each".'
            )
    return measures
