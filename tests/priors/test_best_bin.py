"""Best-bin estimate: against loops, against the truth, and on hard input."""

import math

import numpy as np
import pytest

from pueval import Counts
from pueval.errors import InputError
from pueval.priors._best_bin import BestBin


def draw(rng, n_labeled, n_unlabeled, prior, *, shift=2.5):
    positive = rng.random(n_unlabeled) < prior
    score = np.r_[rng.normal(shift, 1, n_labeled), rng.normal(shift * positive, 1)]
    return np.repeat([1, 0], [n_labeled, n_unlabeled]), score


def slowly(y, score, *, level=0.95, delta=0.1, gamma=0.01):
    """Loop over all distinct scores, in the words of the paper."""
    labeled, unlabeled = score[y == 1], score[y == 0]
    n1, n = len(labeled), len(unlabeled)

    def band(error, size):
        return math.sqrt(math.log(4 / error) / (2 * size))

    best, upper = None, 1.0
    for threshold in sorted(set(score), reverse=True):
        q_labeled = sum(labeled >= threshold) / n1
        q_unlabeled = sum(unlabeled >= threshold) / n
        if q_labeled == 0:
            continue
        bound = q_unlabeled / q_labeled
        bound += (1 + gamma) * (band(delta, n) + band(delta, n1)) / q_labeled
        if best is None or bound < best[0] - 1e-12:
            best = bound, q_unlabeled / q_labeled, q_labeled, threshold
        surely = q_labeled - band(1 - level, n1)
        if surely > 0:
            upper = min(upper, (q_unlabeled + band(1 - level, n)) / surely)
    _, ratio, q_labeled, threshold = best
    prior = min(ratio, 1.0)
    lower = prior - (band(1 - level, n) + band(1 - level, n1)) / q_labeled
    interval = (max(lower, 0.0), max(upper, prior)) if upper < 1 else (0.0, 1.0)
    return prior, interval, threshold


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("tied", [False, True])
def test_agrees_with_loops(seed, tied):
    rng = np.random.default_rng(seed)
    y, score = draw(rng, 60, 240, [0.05, 0.2, 0.6][seed % 3])
    if tied:
        score = np.round(score)
    options = {"level": 0.9, "delta": 0.2, "gamma": 0.05} if seed % 2 else {}
    fitted = BestBin(**options).fit(score, y)
    prior, interval, threshold = slowly(y, score, **options)
    assert fitted.prior_ == pytest.approx(prior, abs=1e-12)
    assert fitted.prior_interval_ == pytest.approx(interval, abs=1e-12)
    assert fitted.threshold_ == threshold
    assert (fitted.purity_, fitted.purity_interval_) == (1.0, None)


def test_finds_the_truth_and_covers_it():
    rng = np.random.default_rng(1)
    errors, covered = [], []
    for prior in (0.1, 0.3, 0.6) * 20:
        y, score = draw(rng, 500, 2000, prior, shift=3)
        fitted = BestBin().fit(score, y)
        low, high = fitted.prior_interval_
        errors.append(abs(fitted.prior_ - prior))
        covered.append(low <= prior <= high)
    assert np.mean(errors) < 0.04
    assert np.mean(covered) >= 0.95


def test_upper_limit_holds_where_classes_overlap():
    rng = np.random.default_rng(2)
    high = [BestBin().fit(*draw(rng, 200, 800, 0.4, shift=1)[::-1]) for _ in range(60)]
    assert np.mean([fitted.prior_interval_[1] >= 0.4 for fitted in high]) >= 0.95


def test_row_order_transforms_and_counts_do_not_matter():
    rng = np.random.default_rng(3)
    y, score = draw(rng, 100, 400, 0.3)
    fitted = BestBin().fit(score, y)
    order = rng.permutation(y.size)
    for other in (
        BestBin().fit(score[order], y[order]),
        BestBin().fit(np.exp(score), y),
        BestBin().fit(Counts.from_arrays(y, score)),
    ):
        assert other.prior_ == fitted.prior_
        assert other.prior_interval_ == fitted.prior_interval_


def test_many_rows_are_thinned_at_little_cost():
    y, score = draw(np.random.default_rng(4), 10_000, 50_000, 0.2)
    fitted = BestBin().fit(score, y)
    prior, interval, _ = fast_exact(y, score)
    assert fitted.prior_ == pytest.approx(prior, abs=0.005)
    assert fitted.prior_interval_[1] == pytest.approx(interval, abs=0.005)


def fast_exact(y, score):
    order = np.argsort(-score)
    q_labeled = np.cumsum(y[order]) / y.sum()
    q_unlabeled = np.cumsum(1 - y[order]) / (1 - y).sum()
    n1, n = y.sum(), (1 - y).sum()
    kept = q_labeled > 0.05
    q_labeled, q_unlabeled = q_labeled[kept], q_unlabeled[kept]
    band = [np.sqrt(np.log(4 / e) / 2) for e in (0.1, 0.05)]
    doubt = 1.01 * band[0] * (n1**-0.5 + n**-0.5)
    best = np.argmin((q_unlabeled + doubt) / q_labeled)
    upper = (q_unlabeled + band[1] * n**-0.5) / (q_labeled - band[1] * n1**-0.5)
    return q_unlabeled[best] / q_labeled[best], upper.min(), best


def test_weights_and_known_negatives():
    y, score = draw(np.random.default_rng(5), 100, 400, 0.3)
    fitted = BestBin().fit(score, y)
    doubled = BestBin().fit(Counts.from_arrays(y, score, sample_weight=np.full(y.size, 0.5)))
    assert doubled.prior_ == pytest.approx(fitted.prior_)
    assert doubled.prior_interval_ == pytest.approx(fitted.prior_interval_)
    with_negatives = Counts.from_arrays(
        np.r_[y, np.full(50, -1)], np.r_[score, np.zeros(50)], negative_label=-1
    )
    ignored = BestBin().fit(with_negatives)
    assert ignored.prior_ == fitted.prior_
    assert ignored.prior_interval_ == pytest.approx(fitted.prior_interval_)


def test_useless_scores_give_the_whole_interval():
    rng = np.random.default_rng(6)
    y = np.repeat([1, 0], [100, 400])
    assert BestBin().fit(rng.normal(size=500), y).prior_interval_ == (0.0, 1.0)
    assert BestBin().fit(-draw(rng, 100, 400, 0.1)[1], y).prior_interval_ == (0.0, 1.0)
    few = BestBin().fit([3, 1, 2, 3, 4], [1, 0, 0, 0, 0])
    assert few.prior_interval_ == (0.0, 1.0)


def test_bad_input():
    with pytest.raises(InputError, match="same score"):
        BestBin().fit([1, 1, 1], [1, 0, 0])
    for options in ({"level": 1.0}, {"level": "high"}, {"delta": 0}, {"gamma": -1}):
        with pytest.raises(InputError, match=next(iter(options))):
            BestBin(**options).fit([1, 2, 3], [1, 0, 0])
