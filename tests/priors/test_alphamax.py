"""AlphaMax: the inner solver is exact, the curve and the elbow do what the method says."""

import numpy as np
import pytest
from scipy.optimize import minimize

from pueval.counts.counts import Counts
from pueval.errors import InputError
from pueval.priors._alphamax import AlphaMax, AlphaMaxN, _elbow, _histogram, _positive_parts


def mixture(prior, n_labeled, n_unlabeled, *, purity=1.0, distance=3.0, seed=0):
    rng = np.random.default_rng(seed)
    n = n_labeled + n_unlabeled
    positive = np.r_[rng.random(n_labeled) < purity, rng.random(n_unlabeled) < prior]
    return rng.normal(distance * positive, 1.0, n), np.repeat([1, 0], [n_labeled, n_unlabeled])


def objective(b, v, w, a):
    value = np.sum(w * np.log(w - b + a * v))
    return value + np.sum(v[v > 0] * np.log(b[v > 0] / a))


def generic_maximum(v, w, a):
    """The inner problem by a general constrained optimizer, in shares x = b/w of each bin."""

    def loss(x):
        return -objective(x * w, v, w, a)

    def slope(x):
        return w * w / (w - x * w + a * v) - v / np.maximum(x, 1e-300)

    best = -np.inf
    for start in (np.full(v.size, a), np.full(v.size, 0.5)):
        found = minimize(
            loss,
            start,
            jac=slope,
            bounds=[(1e-9 if share else 0, 1 - 1e-12) for share in v],
            constraints={"type": "eq", "fun": lambda x: x @ w - a, "jac": lambda x: w},
            method="SLSQP",
            options={"ftol": 1e-15, "maxiter": 1000},
        )
        if abs(found.x @ w - a) < 1e-11:
            best = max(best, -found.fun)
    return best


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.filterwarnings("ignore:Values in x were outside bounds")  # SciPy before 1.14
def test_inner_solver_agrees_with_a_general_optimizer(seed):
    rng = np.random.default_rng(seed)
    w, v = rng.dirichlet(np.full(6, 2.0)), rng.dirichlet(np.ones(6))
    if seed % 2:
        v[0] = 0.0
        v /= v.sum()
    grid = np.array([0.02, 0.1, 0.3, 0.5, 0.8, 0.97])
    for a, part in zip(grid, _positive_parts(v, w, grid), strict=True):
        assert part.sum() == pytest.approx(a, abs=1e-12)
        assert (part >= 0).all()
        assert (part <= w).all()
        ours = objective(part, v, w, a)
        assert ours == pytest.approx(generic_maximum(v, w, a), abs=1e-8)


def test_inner_solver_is_at_a_maximum():
    """No exchange between two bins improves the objective, also with many bins."""
    rng = np.random.default_rng(3)
    w, v = rng.dirichlet(np.ones(40)), rng.dirichlet(np.ones(40))
    part = _positive_parts(v, w, np.array([0.4]))[0]
    value = objective(part, v, w, 0.4)
    for i, j in rng.integers(0, 40, (200, 2)):
        amount = 1e-3 * min(part[i], w[j] - part[j])
        other = part.copy()
        other[i] -= amount
        other[j] += amount
        assert objective(other, v, w, 0.4) <= value + 1e-12


def test_histogram_against_numpy():
    score, y = mixture(0.3, 200, 500)
    n = 200
    width = 3.49 * score[y == 1].std() * n ** (-1 / 3)
    bins = int(np.ceil(np.ptp(score) / width))
    edges = np.linspace(score.min(), score.max(), bins + 1)
    labeled, unlabeled = (np.histogram(score[y == k], edges)[0] for k in (1, 0))
    order = np.argsort(score)
    v, w = _histogram(score[order], y[order], 1 - y[order], None)
    kept = unlabeled > 0
    np.testing.assert_allclose(w, unlabeled[kept] / 500)
    assert v.sum() == pytest.approx(1)
    if kept.all():
        np.testing.assert_allclose(v, labeled / 200)


def test_elbow_of_a_broken_line():
    grid = np.arange(1, 100) / 100
    for corner in (0.05, 0.3, 0.6, 0.9):
        curve = -np.maximum(grid - corner, 0)
        assert _elbow(grid, curve) == pytest.approx(corner, abs=0.03)


@pytest.mark.parametrize("prior", [0.1, 0.3, 0.6])
def test_prior_of_separated_classes(prior):
    estimator = AlphaMax().fit(*mixture(prior, 1000, 4000, distance=3.5))
    assert estimator.prior_ == pytest.approx(prior, abs=0.05)
    assert estimator.purity_ == 1.0
    assert estimator.prior_interval_ is None


def test_curve_is_kept_and_falls():
    estimator = AlphaMax().fit(*mixture(0.3, 500, 2000))
    assert estimator.grid_.shape == estimator.log_likelihood_.shape == (99,)
    assert (np.diff(estimator.log_likelihood_) <= 0).all()


def test_prior_and_purity_of_noisy_labels():
    estimator = AlphaMaxN().fit(*mixture(0.3, 2000, 4000, purity=0.8, distance=4, seed=2))
    assert estimator.prior_ == pytest.approx(0.3, abs=0.05)
    assert estimator.purity_ == pytest.approx(0.8, abs=0.08)
    assert estimator.swapped_log_likelihood_.shape == (99,)


@pytest.mark.parametrize("kind", [AlphaMax, AlphaMaxN])
def test_counts_ties_and_order(kind):
    score, y = mixture(0.3, 300, 900)
    score = score.round(1)
    whole = kind().fit(score, y).prior_
    assert kind().fit(Counts.from_arrays(y, score)).prior_ == whole
    order = np.random.default_rng(1).permutation(y.size)
    assert kind().fit(score[order], y[order]).prior_ == whole
    assert kind().fit(score[:, None] * 2 + 1, y).prior_ == pytest.approx(whole, abs=0.03)


def test_known_negatives_are_left_out():
    score, y = mixture(0.3, 300, 900)
    with_negatives = Counts.from_arrays(
        np.r_[y, np.full(500, -1)], np.r_[score, np.full(500, -9.0)], negative_label=-1
    )
    assert AlphaMax().fit(with_negatives).prior_ == AlphaMax().fit(score, y).prior_


def test_many_rows_are_thinned():
    score, y = mixture(0.3, 5000, 25_000)
    exact = AlphaMax(bins=40)
    counts = Counts.from_arrays(y, score)
    assert exact.fit(counts).prior_ == pytest.approx(0.3, abs=0.06)


def test_large_and_weighted_scores():
    score, y = mixture(0.3, 300, 900)
    plain = AlphaMax().fit(score, y).prior_
    assert AlphaMax().fit(score * 1e307, y).prior_ == pytest.approx(plain, abs=0.02)
    weighted = Counts.from_arrays(y, score, sample_weight=np.full(y.size, 0.5))
    assert 0 < AlphaMax().fit(weighted).prior_ < 1


@pytest.mark.parametrize("kind", [AlphaMax, AlphaMaxN])
def test_bad_input(kind):
    y = np.repeat([1, 0], [10, 30])
    with pytest.raises(InputError, match="have the same score"):
        kind().fit(np.ones(40), y)
    score = np.arange(40.0)
    for bins in (1, 2.5, "scott"):
        with pytest.raises(InputError, match="bins"):
            kind(bins=bins).fit(score, y)


def test_labeled_rows_where_no_unlabeled_are():
    """Bins without unlabeled rows are joined to a neighbor, so the likelihood stays finite."""
    score = np.r_[np.linspace(5, 6, 50), np.linspace(0, 5.1, 100)]
    estimator = AlphaMax().fit(score, np.repeat([1, 0], [50, 100]))
    assert np.isfinite(estimator.log_likelihood_).all()
    assert estimator.prior_ < 0.2


def test_one_score_for_all_labeled_rows():
    score = np.r_[np.ones(20), np.linspace(0, 1, 80)]
    assert 0 < AlphaMax().fit(score, np.repeat([1, 0], [20, 80])).prior_ < 0.2


def test_likelihood_can_be_drawn():
    import matplotlib as mpl

    mpl.use("Agg")
    rng = np.random.default_rng(0)
    score = np.r_[rng.normal(3, 1, 200), rng.normal(3, 1, 200), rng.normal(0, 1, 600)]
    fitted = AlphaMax().fit(score, np.repeat([1, 0], [200, 800]))
    display = fitted.plot()
    np.testing.assert_array_equal(display.line_.get_ydata(), fitted.log_likelihood_)
    np.testing.assert_array_equal(display.frame()["prior"], fitted.grid_)
    assert fitted.plot(display.ax_).ax_ is display.ax_


@pytest.mark.parametrize("kind", [AlphaMax, AlphaMaxN])
def test_bins_do_not_depend_on_the_unit_of_weights(kind, rng):
    """Scott's rule counts rows, of importance weights the effective ones."""
    score, y = mixture(0.3, 500, 1000)
    weight = rng.gamma(4, 0.25, y.size)

    def curve(sample_weight):
        counts = Counts.from_arrays(y, score, sample_weight=sample_weight)
        return kind().fit(counts).log_likelihood_

    expected = curve(weight)
    for unit in (1e-6, 1000.0):
        np.testing.assert_allclose(curve(unit * weight), expected, rtol=1e-9)
    np.testing.assert_allclose(curve(np.full(y.size, 0.1)), curve(None), rtol=1e-9)
