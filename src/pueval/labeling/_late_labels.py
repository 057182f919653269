"""from_delay(): propensities of rows whose labels come late."""

from __future__ import annotations

import datetime as dt
from typing import Any

import numpy as np

from pueval._checks import check_fraction, check_number
from pueval._typing import Array
from pueval.counts.arguments import suggest_arguments
from pueval.errors import InputError, warn_caller
from pueval.labeling._delay_result import DelayEstimate
from pueval.labeling._hidden_interval import hidden_interval
from pueval.labeling._times import LabelTimes
from pueval.labeling._truncated_delays import (
    RiskSets,
    delay_trend_pvalue,
    distribution_at,
    distribution_interval,
    positives_variance,
)
from pueval.sources.periods import DAY, read_length

# Fewer labels leave the distribution open.
LEAST_LABELS = 20
# A trend of the delays is noticed below this p-value.
VISIBLE_TREND = 0.01


@suggest_arguments
def from_delay(
    event_time: Any,
    label_time: Any,
    as_of: Any,
    *,
    horizon: float | str | dt.timedelta | None = None,
    level: float = 0.95,
) -> DelayEstimate:
    """Estimate propensities from the delay between an event and its label.

    A positive of age a, the time from its event to ``as_of``, is labeled by now with probability
    F(a), where F is the distribution of the delay. Only delays up to the age of a row can be seen
    (right truncation), so long delays are missing among young rows, and the plain share of delays
    up to d is too large. The product-limit estimate in reversed time corrects this:
    F(d) = Π_{t > d} (1 − n(t)/R(t)), with n(t) the number of delays equal to t and R(t) that of
    labeled rows with delay ≤ t ≤ age. It assumes that the delay of a positive does not depend on
    the time of its event. For labels that arrive in batches, count both times in batches.

    F is relative to the longest delay in use, the *horizon*: the data say nothing about labels that
    come later. A positive is a row that gets its label within the horizon.

    Parameters
    ----------
    event_time : array-like of numbers or dates
        Time at which each row happened, labeled or not. Dates in all three arguments have a time
        zone, or none has.
    label_time : array-like of numbers or dates
        Time at which the row was labeled; missing (NaN, None, NaT) for unlabeled rows.
    as_of : number or date
        Time at which the labels were looked up. Labels after it are refused.
    horizon : float, str or timedelta, optional
        Longest delay in use: a number, of days for dates; for dates also a length of time such as
        "60 days". By default the longest delay seen for which at least 10 labeled rows are at risk.
    level : float, default 0.95
        Confidence level of the intervals.

    Returns
    -------
    DelayEstimate
        Its ``y`` and ``propensity`` go to `pueval.evaluate`, for the rows in ``usable``.

    Warns
    -----
    AssumptionWarning
        If delays changed over time (p < 0.01).

    Notes
    -----
    Intervals of F are exact binomial ones with the number of rows that gives the variance of log F,
    Σ_{t > d} n(t)/(R(t)·(R(t) − n(t))). The number of positives is Σ 1/F(age) over labeled rows,
    with the variance of drawing labels, Σ (1 − F)/F², and that of F. Intervals of `evaluate`
    take propensities as known.

    References
    ----------
    Lynden-Bell (1971), A method of allowing for known observational selection in small samples;
    Lagakos, Barraj and De Gruttola (1988), Nonparametric analysis of truncated survival data, with
    application to AIDS; Kalbfleisch and Lawless (1989), Inference based on retrospective
    ascertainment.

    Examples
    --------
    >>> import numpy as np
    >>> from pueval import evaluate, labeling
    >>> rng = np.random.default_rng(0)
    >>> fraud = rng.random(20_000) < 0.1
    >>> score = rng.normal(size=20_000) + 2 * fraud
    >>> day = rng.uniform(0, 200, 20_000)
    >>> reported = np.where(fraud, day + rng.gamma(2, 30, 20_000), np.nan)
    >>> reported[reported > 200] = np.nan        # not known on day 200
    >>> delay = labeling.from_delay(day, reported, as_of=200)
    >>> round(delay.unreported, 2), [round(end, 2) for end in delay.unreported_interval]
    (0.25, [0.21, 0.29])
    >>> rows = delay.usable
    >>> ev = evaluate(delay.y[rows], score[rows], propensity=delay.propensity[rows])
    >>> round(ev.prevalence, 2), round(ev["roc_auc"].value, 2)
    (0.1, 0.92)
    """
    level = check_fraction("level", level)
    times = LabelTimes.read(event_time, label_time, as_of)
    horizon = _check_horizon(times, horizon)
    labeled = times.labeled
    sets = RiskSets.of(times.delay[labeled], times.age[labeled]).connected(horizon)
    value = sets.distribution()
    low, high = distribution_interval(value, sets.log_variance(), level)
    usable = times.age >= sets.youngest_age()
    propensity = np.where(usable, distribution_at(sets, value, times.age), np.nan)
    y = labeled & usable & (times.delay <= sets.delay[-1])
    if y.sum() < LEAST_LABELS:
        raise _few_labels_error(int(y.sum()), int(labeled.sum()))
    share, variance = propensity[y], positives_variance(sets, propensity[y], times.age[y])
    hidden = float(np.sum(1 / share)) - int(y.sum())
    in_sets = labeled & (times.delay >= sets.delay[0]) & (times.delay <= sets.delay[-1])
    result = DelayEstimate(
        delay=sets.delay,
        reported=value,
        low=low,
        high=high,
        n_labels=sets.n_labels,
        at_risk=sets.at_risk,
        y=y,
        propensity=propensity,
        usable=usable,
        hidden=hidden,
        hidden_interval=_limited(hidden_interval(hidden, variance, level), usable & ~y),
        n_late=int(np.count_nonzero(labeled & (times.delay > sets.delay[-1]))),
        trend_pvalue=delay_trend_pvalue(sets, times.delay[in_sets], times.age[in_sets]),
        unit=times.unit,
        level=level,
    )
    if result.trend_pvalue < VISIBLE_TREND:
        warn_caller(result._trend_warning())
    return result


def _check_horizon(times: LabelTimes, horizon: Any) -> float | None:
    if horizon is None:
        return None
    if times.unit and isinstance(horizon, str | dt.timedelta | np.timedelta64):
        horizon = read_length(horizon, "horizon") / DAY
    delay = check_number("horizon", horizon)
    shortest, longest = np.nanmin(times.delay), np.nanmax(times.delay)
    if not shortest <= delay <= longest:
        raise InputError(
            f"horizon must be between the shortest and the longest delay seen, {shortest:g} and "
            f"{longest:g}; got {delay:g}."
        )
    return delay


def _limited(interval: tuple[float, float], unlabeled: Array) -> tuple[float, float]:
    """Return the interval of hidden positives, at most the number of unlabeled rows."""
    most = float(np.count_nonzero(unlabeled))
    return min(interval[0], most), min(interval[1], most)


def _few_labels_error(number: int, total: int) -> InputError:
    part = "" if number == total else f" Of {total:,} labels, the others are not comparable."
    return InputError(
        f"delays can be estimated from {LEAST_LABELS} labels or more; there are {number:,}.{part} "
        "Wait for more labels, or use a longer period."
    )
