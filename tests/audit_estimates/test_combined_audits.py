"""Weights of rows that were checked in one of several audits."""

import numpy as np

from pueval.audit_estimates.combined_audits import combined_weights


def test_one_audit_has_inverse_probabilities():
    q = np.array([0.1, 0.5, 0.2, 1.0])
    labeled = np.array([True, False, False, True])
    np.testing.assert_allclose(combined_weights([(np.arange(4), q)], labeled), 1 / q)


def test_by_hand():
    """Sizes: audit one has 2 equal rows, n = 2; audit two weights 4 and 1, n = 25/17."""
    audits = [
        (np.array([0, 1]), np.array([0.1, 0.1])),
        (np.array([1, 2]), np.array([0.25, 1.0])),
    ]
    weight = combined_weights(audits, np.zeros(3, bool))
    sizes = np.array([2, 25 / 17])
    expected = np.array([sizes[0] / 2, sizes[0] / 2 + sizes[1] * 4 / 5, sizes[1] / 5])
    np.testing.assert_allclose(weight / weight.sum(), expected / expected.sum())


def test_labeled_rows_do_not_change_the_others():
    first = (np.arange(4), np.array([0.1, 0.2, 0.3, 0.4]))
    second = (np.array([4, 5]), np.array([0.2, 0.5]))
    labeled = np.array([False, False, True, True, True, True])
    weight = combined_weights([first, second], labeled)
    np.testing.assert_allclose(weight[:2], [10, 5])
    assert np.all(weight > 0)


def test_the_estimated_share_is_right_on_average():
    """One design prefers positives, the other takes all rows alike."""
    rng = np.random.default_rng(0)
    n, repeats = 2000, 300
    positive = rng.random(n) < np.linspace(0.9, 0.1, n)
    designs = [np.linspace(0.2, 0.02, n), np.full(n, 0.03)]
    shares, naive = [], []
    for _ in range(repeats):
        chosen = [np.flatnonzero(rng.random(n) < q) for q in designs]
        audits = [(index, q[index]) for index, q in zip(chosen, designs, strict=True)]
        weight = combined_weights(audits, np.zeros(n, bool))
        shares.append(np.average(positive, weights=weight))
        naive.append(positive[np.union1d(*chosen)].mean())
    error = np.std(shares) / np.sqrt(repeats)
    assert abs(np.mean(shares) - positive.mean()) < 3 * error + 0.002
    assert abs(np.mean(naive) - positive.mean()) > 0.05


def test_a_list_that_was_checked_in_part():
    """The first half of a shuffled list: its probabilities are too large by one factor."""
    q = np.array([0.1, 0.2, 0.4, 0.4])
    other = (np.array([4, 5]), np.array([0.3, 0.3]))
    weights = [
        combined_weights([(np.arange(4), factor * q), other], np.zeros(6, bool))
        for factor in (1, 0.5)
    ]
    np.testing.assert_allclose(weights[0] / weights[0].sum(), weights[1] / weights[1].sum())
