"""test_random(): whether labels depend on features."""

from __future__ import annotations

from typing import Any

import numpy as np

from pueval._checks import check_count, check_same_length
from pueval._typing import Array
from pueval.counts.arguments import suggest_arguments
from pueval.counts.clusters import LEAST_CLUSTERS, too_few_text
from pueval.errors import InputError
from pueval.labeling._checked_positives import CheckedPositives
from pueval.labeling._conditional_test import conditional_test
from pueval.labeling._features import Features
from pueval.labeling._random_labels_result import RandomLabelsTest
from pueval.sources.arrays import as_scores, check_same_order, label_kinds, one_column
from pueval.sources.group_codes import encode_groups
from pueval.sources.labels import LabelValues, missing_error

# Fewer labeled rows, or hidden positives, tell nothing.
LEAST_POSITIVES = 10


@suggest_arguments
def test_random(
    X: Any,  # noqa: N803
    y: Any,
    *,
    score: Any = None,
    audited: Any = None,
    audit_probability: Any = None,
    cluster: Any = None,
    n_draws: int = 999,
    seed: int = 0,
    pos_label: Any = 1,
    unlabeled_label: Any = 0,
) -> RandomLabelsTest:
    """Test whether labels depend on features.

    Features and labels alone cannot contradict random labeling: whatever the probability of a label
    given the features is, it could be the label frequency times the probability of being positive.
    A test needs to know something about the classes. Pass one of these:

    - ``audited``: what checking some unlabeled rows found. If labels are random, labeled positives
      and hidden positives have the same features. This assumes nothing else.
    - ``score``: a score that says all that these features say about the class. If labels are
      random, they are then independent of the features given the score. So X should have features
      that may drive labeling, but not the class: who reported, region, weekday, workload. The score
      must not be trained on these labels with these features, or it explains the labels itself, and
      the test has no power. A rejection means that labels are not random, or that the features say
      more about the class than the score does.

    The p-value is uniform under the null hypothesis. The statistic is the largest score statistic
    of a logistic regression, over the ranks of each feature and their distance from the middle,
    with a spline of the score (if there is one) in the model. It is compared with that of labels
    drawn from the model without the features.

    Rows must be independent, unless ``cluster`` says which belong together. If the visits of a
    patient share class and features, a test that takes them for independent rows rejects random
    labels far too often.

    Parameters
    ----------
    X : array-like or data frame of shape (n, d)
        Numbers; features to test.
    y : array-like
        Labels: 1 or True for labeled positives, 0 or False for unlabeled rows.
    score : array-like, optional
        Score of each row; higher means more likely positive.
    audited : array-like, optional
        1 for rows that were checked and are positive, 0 for negative ones, missing for others.
    audit_probability : array-like, optional
        Probability with which each row would be chosen for the audit if it was unlabeled; for
        labeled rows, too, such as ``plan.probability(score)``. Without it, the checked rows are a
        simple random sample of the unlabeled rows.
    cluster : array-like, optional
        Cluster of each row, such as its patient: rows of different clusters are independent. At
        least 10 clusters need labeled rows, and 10 unlabeled rows or hidden positives.
    n_draws : int, default 999
        Number of draws of labels for the p-value; with clusters, of signs.
    seed : int, default 0
        Random seed of the draws.
    pos_label, unlabeled_label : optional
        Values that mark labeled and unlabeled rows.

    Returns
    -------
    RandomLabelsTest

    Notes
    -----
    The test cannot see labeling by features that are not in X, by the score itself (without an
    audit), or by combinations of features that leave each of them balanced. A large p-value proves
    nothing. With clusters, the p-value is approximate, the better the more clusters there are.

    Teisseyre, Furmańczyk and Mielniczuk (2024) compare labeled rows with positives that a
    classifier of labeled against unlabeled rows finds. That is right if the classes separate: if
    all rows above some score are positive, pass these rows only, with ``audited`` all 1. Train that
    score on other rows: neighbors of labeled rows score high, also if labels are random.

    References
    ----------
    Teisseyre, Furmańczyk and Mielniczuk (2024), Verifying the selected completely at random
    assumption in positive-unlabeled learning; Westfall and Young (1993), Resampling-based multiple
    testing, for the p-values of features; Kline and Santos (2012), A score based approach to wild
    bootstrap inference, for clusters.

    Examples
    --------
    >>> import numpy as np
    >>> from pueval import labeling
    >>> rng = np.random.default_rng(0)
    >>> ill = rng.random(5000) < 0.2
    >>> score = rng.normal(size=5000) + 2 * ill
    >>> region, weekday = rng.integers(0, 2, 5000), rng.integers(0, 7, 5000)
    >>> coded = ill & (rng.random(5000) < np.where(region == 1, 0.5, 0.2))
    >>> X = np.column_stack([region, weekday])
    >>> result = labeling.test_random(X, coded, score=score)
    >>> result.pvalue, result.feature[0]
    (0.001, '0')
    >>> labeling.test_random(X[:, 1], coded, score=score).pvalue > 0.05
    True
    """
    check_count("n_draws", n_draws, least=99)
    check_count("seed", seed, least=0)
    if (score is None) == (audited is None):
        raise _evidence_error(both=score is not None)
    if audited is None and audit_probability is not None:
        raise InputError("audit_probability needs audited, the results of the audit.")
    columns = {"X": X, "y": y, "score": score, "audited": audited}
    check_same_order(columns | {"audit_probability": audit_probability, "cluster": cluster})
    features = Features.read(X)
    labels = LabelValues(pos_label, unlabeled_label, None)
    labeled = label_kinds(y, labels) == 0
    check_same_length("X", len(features), "y", labeled.size)
    code = None if cluster is None else encode_groups(cluster, labeled.size, "cluster").code
    rng = np.random.default_rng([seed, 51])
    if audited is None:
        scores = _read_scores(score, labeled.size)
        _check_numbers(int(labeled.sum()), "labeled rows")
        _check_numbers(int((~labeled).sum()), "unlabeled rows")
        _check_clusters(code, labeled, "unlabeled rows")
        test = conditional_test(
            features, labeled, score=scores, offset=0.0, cluster=code, n_draws=n_draws, rng=rng
        )
        numbers = (int(labeled.sum()), int((~labeled).sum()))
    else:
        found = CheckedPositives.read(labeled, audited, audit_probability)
        numbers = (int(found.labeled.sum()), int((~found.labeled).sum()))
        _check_numbers(numbers[0], "labeled rows")
        _check_numbers(numbers[1], "checked unlabeled rows that are positive")
        code = None if code is None else code[found.rows]
        _check_clusters(code, found.labeled, "checked unlabeled rows that are positive")
        test = conditional_test(
            features.rows(found.rows),
            found.labeled,
            score=None,
            offset=-np.log(found.probability),
            cluster=code,
            n_draws=n_draws,
            rng=rng,
        )
    return RandomLabelsTest.of(
        test,
        features.names,
        numbers,
        "score" if audited is None else "audited",
        None if code is None else np.unique(code).size,
    )


# Its name begins like that of a test function; this keeps pytest from collecting it.
test_random.__test__ = False  # type: ignore[attr-defined]


def _read_scores(score: Any, size: int) -> Array:
    column = as_scores(one_column(score, "score"))
    check_same_length("score", column.size, "y", size)
    if bad := int(np.count_nonzero(~np.isfinite(column))):
        raise missing_error("or infinite score", bad)
    return column


def _check_numbers(number: int, what: str) -> None:
    if number < LEAST_POSITIVES:
        raise InputError(f"the test needs at least {LEAST_POSITIVES} {what}; there are {number:,}.")


def _check_clusters(cluster: Array | None, labeled: Array, compared: str) -> None:
    """Refuse clusters that are too few to show how much they vary."""
    if cluster is None:
        return
    for rows, what in ((labeled, "labeled rows"), (~labeled, compared)):
        if (number := np.unique(cluster[rows]).size) < LEAST_CLUSTERS:
            raise InputError(too_few_text(number, what))


def _evidence_error(*, both: bool) -> InputError:
    if both:
        return InputError("score and audited test different hypotheses. Pass one of them.")
    return InputError(
        "features and labels alone cannot contradict random labels: every pattern of labels could "
        "come from the classes. Pass audited, what checking some unlabeled rows found; or score, "
        "if it says all that these features say about the class."
    )
