"""ranking_study(): how well measures of labeled rows rank models whose true order is known."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy

from pueval._checks import check_count, check_same_length
from pueval._typing import Array
from pueval.core.average_precision import average_precision
from pueval.core.curves import direct_auc, naive_auc
from pueval.core.mixture import NAIVE, Mixture
from pueval.core.rates import correct_steps
from pueval.counts.counts import Counts
from pueval.errors import InputError
from pueval.ranking._prior_free import RANKING_TITLES, ranking_measures
from pueval.simulate._labeling import Labeling
from pueval.simulate._simulation_inputs import read_classes, read_numbers
from pueval.simulate._studies import study
from pueval.text.results import Result

if TYPE_CHECKING:
    import pandas as pd

Measure = Callable[[Array, Array], float]
RANKING_NAMES = tuple(RANKING_TITLES)
CORRECTED_NAMES = ("roc_auc", "average_precision")


@dataclass(frozen=True, eq=False, repr=False)
class RankingStudy(Result):
    """How well each measure of labeled rows ranks models, over replications of the labeling.

    Attributes
    ----------
    measure : ndarray of str
        Names of the measures.
    spearman, kendall : ndarray
        Mean rank correlation of the models' values with labels and with true classes (Kendall's
        tau-b). Replications in which all models have the same value are left out.
    best_chosen : ndarray
        Share of replications in which the model with the highest value is the truly best one. Of
        several models with the highest value, one is chosen at random.
    mad : ndarray
        Mean absolute deviation of the values with labels from those with true classes. Compare it
        with ``spread``: a measure with a narrow range has a small deviation, too.
    spread : ndarray
        Standard deviation of the models' values with true classes.
    spearman_se, kendall_se, best_chosen_se, mad_se : ndarray
        Standard errors over the replications.
    n_models, replications : int
        Numbers of models and replications.
    """

    measure: Array
    spearman: Array
    spearman_se: Array
    kendall: Array
    kendall_se: Array
    best_chosen: Array
    best_chosen_se: Array
    mad: Array
    mad_se: Array
    spread: Array
    n_models: int
    replications: int
    _replications: pd.DataFrame = field(repr=False)

    def _headline(self) -> str:
        return f"Ranking of {self.n_models:,} models in {self.replications:,} labelings"

    def by_replication(self) -> pd.DataFrame:
        """Return a pandas DataFrame with a row per replication and measure.

        Returns
        -------
        pandas.DataFrame
            Columns ``replication``, ``measure``, ``spearman``, ``kendall``, ``best_chosen`` and
            ``mad``.
        """
        return self._replications.copy()


def ranking_study(
    positive: Any,
    scores: Mapping[str, Any],
    label: Callable[..., Labeling],
    *,
    measures: Sequence[str] | Mapping[str, Measure] | None = None,
    replications: int = 100,
    seed: int = 0,
    n_jobs: int = 1,
    progress: bool | None = None,
) -> RankingStudy:
    """Study how well measures rank models if only some positives are labeled.

    Takes rows whose classes are known, labels them again and again by a mechanism that you choose,
    for example one that prefers typical positives, and compares the models' values with labels to
    their values with true classes, as Hajizadeh et al. (2014) do.

    Parameters
    ----------
    positive : array-like of bool or 0 and 1
        True classes.
    scores : mapping from str to array-like
        Scores of at least two models.
    label : callable
        Labeling mechanism, called as ``label(positive, seed=rng)``; for example
        ``functools.partial(label_at_random, count=100)`` or
        ``functools.partial(label_by_propensity, propensity=propensity)``.
    measures : sequence of str or mapping, optional
        Names out of ``"pulp"``, ``"lee_liu"``, ``"pseudo_f"``, ``"naive_roc_auc"``,
        ``"naive_average_precision"``, ``"naive_f1"``, ``"naive_matthews_corrcoef"`` and
        ``"naive_mutual_information"``, which need no prior, and ``"roc_auc"`` and
        ``"average_precision"``, corrected with the true prior and purity of each labeling; by
        default all. Or a mapping from names to functions ``measure(label, score)``, of which
        higher values must be better; they are also called with the true classes.
    replications : int, default 100
        Number of labelings, at least 2.
    seed : int, default 0
        Random seed.
    n_jobs, progress
        See `study`.

    Returns
    -------
    RankingStudy

    References
    ----------
    Hajizadeh, Li, Dollevoet and Tax (2014), section 3.

    Examples
    --------
    >>> from functools import partial
    >>> import numpy as np
    >>> from pueval.simulate import label_by_propensity, ranking_study
    >>> rng = np.random.default_rng(0)
    >>> positive = rng.random(1000) < 0.3
    >>> signal = rng.normal(size=1000) + 2 * positive
    >>> scores = {f"noise {k}": signal + k * rng.normal(size=1000) for k in (0, 1, 2, 3)}
    >>> easy = 1 / (1 + np.exp(4 - 2 * signal))    # clear cases are labeled first
    >>> label = partial(label_by_propensity, propensity=easy)
    >>> found = ranking_study(
    ...     positive, scores, label, measures=["pulp", "naive_roc_auc"], replications=20
    ... )
    >>> found.n_models, bool(found.spearman[1] > 0.9)
    (4, True)
    """
    truth = read_classes(positive)
    if not isinstance(scores, Mapping):
        raise InputError(
            "scores must be a mapping from model names to scores, such as {'a': scores_a, 'b': "
            f"scores_b}}; got {type(scores).__name__}."
        )
    if not callable(label):
        raise InputError(
            "label must be a function such as functools.partial(label_at_random, count=100); got "
            f"{label!r}."
        )
    columns = {name: read_numbers(score, f"scores of {name!r}") for name, score in scores.items()}
    if len(columns) < 2:
        raise InputError(f"scores must be of at least two models; got {len(columns)}.")
    for name, column in columns.items():
        check_same_length(f"scores of {name!r}", column.size, "positive", truth.size)
    check_count("replications", replications, least=2)
    evaluate = _read_measures(measures)
    classes = truth.astype(np.int8)
    true_values = [evaluate(classes, column, NAIVE) for column in columns.values()]
    frame = study(
        partial(_replicate, truth, [*columns.values()], label, evaluate, true_values),
        [{}],
        replications=replications,
        seed=seed,
        n_jobs=n_jobs,
        progress=progress,
    )
    means = frame.drop(columns="replication").groupby("measure", sort=False)
    mean, error = means.mean(), means.sem()
    names = mean.index.to_numpy(dtype=str)
    spread = [np.std([values[name] for values in true_values]) for name in names]
    criteria = ("spearman", "kendall", "best_chosen", "mad")
    return RankingStudy(
        measure=names,
        **{name: mean[name].to_numpy() for name in criteria},
        **{f"{name}_se": error[name].to_numpy() for name in criteria},
        spread=np.array(spread),
        n_models=len(columns),
        replications=int(replications),
        _replications=frame,
    )


def _replicate(
    truth: Array,
    scores: list[Array],
    label: Callable[..., Labeling],
    evaluate: Callable[[Array, Array, Mixture], dict[str, float]],
    true_values: list[dict[str, float]],
    rng: np.random.Generator,
) -> list[dict[str, Any]]:
    """Label the rows once, and compare the values of all models with the true ones."""
    labeling = label(truth, seed=rng)
    if not isinstance(labeling, Labeling):
        raise InputError(
            "label must return a Labeling, as label_at_random and the other mechanisms of "
            f"pueval.simulate do; got {type(labeling).__name__}."
        )
    values = [evaluate(labeling.label, score[labeling.rows], labeling.mixture) for score in scores]
    rows = []
    for name in true_values[0]:
        true, found = (np.array([model[name] for model in each]) for each in (true_values, values))
        spearman, kendall = _rank_correlations(true, found)
        rows.append(
            {
                "measure": name,
                "spearman": spearman,
                "kendall": kendall,
                "best_chosen": float(np.mean(true[found == found.max()] == true.max())),
                "mad": float(np.mean(np.abs(found - true))),
            }
        )
    return rows


def _rank_correlations(true: Array, found: Array) -> tuple[float, float]:
    """Return Spearman's and Kendall's rank correlation; NaN if all values are equal."""
    if np.ptp(true) == 0 or np.ptp(found) == 0:
        return np.nan, np.nan
    return (
        float(scipy.stats.spearmanr(true, found).statistic),
        float(scipy.stats.kendalltau(true, found).statistic),
    )


def _read_measures(
    measures: Sequence[str] | Mapping[str, Measure] | None,
) -> Callable[[Array, Array, Mixture], dict[str, float]]:
    """Return the function from labels, scores and the true mixture to the values by name."""
    if isinstance(measures, Mapping):
        if not measures:
            raise InputError("measures must not be empty.")
        for name, measure in measures.items():
            if not callable(measure):
                raise InputError(
                    f"measure {name!r} must be a function of labels and scores; got {measure!r}."
                )
        return partial(_call_measures, dict(measures))
    allowed = (*RANKING_NAMES, *CORRECTED_NAMES)
    names = allowed if measures is None else measures
    if isinstance(names, str) or not len(names):
        raise InputError(f"measures must be a list of names or a mapping; got {measures!r}.")
    for name in names:
        if name not in allowed:
            raise InputError(
                f"unknown measure {name!r}. Choose from {', '.join(allowed)}, or pass a mapping "
                "from names to functions of labels and scores."
            )
    return partial(_named_measures, tuple(names))


def _call_measures(
    measures: dict[str, Measure], label: Array, score: Array, mixture: Mixture
) -> dict[str, float]:
    del mixture  # a function brings its own assumptions
    values = {name: float(measure(label, score)) for name, measure in measures.items()}
    for name, value in values.items():
        if np.isnan(value):
            raise InputError(f"measure {name!r} must be a number for every labeling; got nan.")
    return values


def _named_measures(
    names: tuple[str, ...], label: Array, score: Array, mixture: Mixture
) -> dict[str, float]:
    counts = Counts.from_arrays(label, score)
    values: dict[str, float] = {}
    if set(names) & set(RANKING_NAMES):
        values |= ranking_measures(counts)
    if set(names) & set(CORRECTED_NAMES):
        corners = counts._roc_corners()
        values["roc_auc"] = direct_auc(counts, naive_auc(counts, corners), mixture)
        rates = correct_steps(counts, corners, mixture)
        values["average_precision"] = float(average_precision(rates))
    return {name: values[name] for name in names}
