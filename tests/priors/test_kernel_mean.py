import numpy as np
import pytest
from scipy.optimize import minimize

from pueval import Counts
from pueval.errors import AssumptionWarning, InputError
from pueval.priors._kernel_mean import ConvexHull, KernelMean

KINDS = ["KM1", "KM2"]


def draw(seed, prior, n_labeled=200, n_unlabeled=300, shift=3.0, columns=2):
    rng = np.random.default_rng(seed)
    positive = np.r_[np.ones(n_labeled), np.arange(n_unlabeled) < round(prior * n_unlabeled)]
    X = rng.normal(shift * positive[:, None], 1, (len(positive), columns))
    return X, np.repeat([1, 0], [n_labeled, n_unlabeled])


def gaussian(X, width):
    return np.array([[np.exp(-sum((a - b) ** 2) / (2 * width**2)) for b in X] for a in X])


def slow_distance(kernel, y, multiple):
    """Project with a general optimizer on the weights themselves, not on factors."""
    labeled, unlabeled = y == 1, y == 0
    target = multiple * unlabeled / unlabeled.sum() + (1 - multiple) * labeled / labeled.sum()

    def square(w):
        return (target - w) @ kernel @ (target - w)

    start = np.full(len(y), 1 / len(y))
    result = minimize(
        square,
        start,
        jac=lambda w: 2 * kernel @ (w - target),
        bounds=[(0, None)] * len(y),
        constraints={"type": "eq", "fun": lambda w: w.sum() - 1, "jac": lambda w: np.ones(len(y))},
        method="SLSQP",
        options={"maxiter": 2000, "ftol": 1e-14},
    )
    return np.sqrt(max(result.fun, 0))


def slow_prior(X, y, kind):
    """Estimate with difference quotients and plain bisection over the multiple."""
    X = X / X.std(axis=0)
    squares = np.array([[sum((a - b) ** 2) for b in X] for a in X])
    weight = np.where(y == 1, -1 / (y == 1).sum(), 1 / (y == 0).sum())
    best = (-1.0, None)
    for factor in (0.1, 10**-0.5, 1, 10**0.5, 10):
        kernel = gaussian(X, factor * np.sqrt(np.median(squares)))
        best = max(best, (np.sqrt(weight @ kernel @ weight), factor), key=lambda pair: pair[0])
    gap, factor = best
    kernel = gaussian(X, factor * np.sqrt(np.median(squares)))
    threshold = 0.8 * slow_distance(kernel, y, 1.05) / 0.05 + 0.2 * gap
    if kind == "KM1":
        steep = 1 / np.sqrt(min((y == 1).sum(), (y == 0).sum()))
        threshold = steep if steep <= 0.9 * gap else threshold
    low, high, step = 1.0, 20.0, 1e-3
    while high - low > 1e-3:
        middle = (low + high) / 2
        ends = [slow_distance(kernel, y, middle + side * step) for side in (-1, 1)]
        if (ends[1] - ends[0]) / (2 * step) > threshold:
            high = middle
        else:
            low = middle
    return 1 - 2 / (low + high)


@pytest.mark.parametrize("multiple", [1.0, 1.05, 1.3, 2.0, 5.0])
@pytest.mark.parametrize("width", [0.3, 1.0, 3.0])
def test_projection_agrees_with_a_general_optimizer(multiple, width):
    X, y = draw(0, 0.3, 15, 20)
    kernel = gaussian(X, width)
    fast = ConvexHull.from_kernel(kernel, 15).distance(multiple)
    slow = slow_distance(kernel, y, multiple)
    assert fast == pytest.approx(slow, abs=1e-4)
    # Squares are what is minimized; the fast one must not be worse.
    assert fast**2 <= slow**2 + 1e-8


def test_projection_meets_the_optimality_conditions():
    # x is the projection onto a hull if no point lies further in the direction away from x.
    X, _ = draw(1, 0.4, 100, 150)
    hull = ConvexHull.from_kernel(gaussian(X[:, :1], 0.5), 100)
    for multiple in (1.1, 2.0, 10.0):
        residual = hull.residual(multiple)
        projection = multiple * hull.unlabeled_mean + (1 - multiple) * hull.labeled_mean - residual
        assert ((hull.points - projection) @ residual).max() < 1e-8


def test_slope_is_the_derivative_and_never_falls():
    X, _ = draw(2, 0.4, 60, 90)
    hull = ConvexHull.from_kernel(gaussian(X, 1.0), 60)
    at = np.array([1.2, 1.5, 2.0, 4.0, 8.0])
    slopes = np.array([hull.slope(m) for m in at])
    quotient = [(hull.distance(m + 1e-4) - hull.distance(m - 1e-4)) / 2e-4 for m in at]
    np.testing.assert_allclose(slopes, quotient, atol=1e-5)
    assert (np.diff(slopes) >= -1e-9).all()
    assert slopes.max() <= np.linalg.norm(hull.labeled_mean - hull.unlabeled_mean) + 1e-9


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("prior", [0.2, 0.6])
def test_agrees_with_the_slow_version(kind, prior):
    X, y = draw(3, prior, 20, 30)
    assert KernelMean(kind).fit(X, y).prior_ == pytest.approx(slow_prior(X, y, kind), abs=0.01)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("columns", [1, 2])
def test_finds_the_prior(kind, columns):
    errors = [
        KernelMean(kind).fit(*draw(seed, prior, columns=columns)).prior_ - prior
        for seed in range(2)
        for prior in (0.1, 0.3, 0.5, 0.75)
    ]
    assert np.abs(errors).mean() < 0.07


def test_order_units_and_offsets_do_not_matter():
    X, y = draw(4, 0.3)
    expected = KernelMean(max_rows=200).fit(X, y)
    order = np.random.default_rng(0).permutation(len(y))
    assert KernelMean(max_rows=200).fit(X[order], y[order]).prior_ == expected.prior_
    moved = X * [1e-3, 1e5] + [5, -7]
    assert KernelMean(max_rows=200).fit(moved, y).prior_ == pytest.approx(expected.prior_, abs=1e-3)
    tiny = KernelMean(max_rows=200, standardize=False).fit(X * 1e-90, y)
    plain = KernelMean(max_rows=200, standardize=False).fit(X, y)
    assert tiny.prior_ == pytest.approx(plain.prior_, abs=1e-3)
    assert tiny.kernel_width_ == pytest.approx(plain.kernel_width_ * 1e-90)


def test_draws_rows():
    X, y = draw(5, 0.3, 1000, 3000)
    first = KernelMean(max_rows=300).fit(X, y)
    assert first.n_rows_ == 300
    assert first.prior_ == pytest.approx(0.3, abs=0.08)
    assert KernelMean(max_rows=300).fit(X, y).prior_ == first.prior_
    assert KernelMean(max_rows=300, random_state=1).fit(X, y).prior_ != first.prior_
    few = KernelMean(max_rows=300).fit(X[970:], y[970:])  # 30 labeled, all of them are kept
    assert few.n_rows_ == 300


def test_ties_and_constant_columns():
    X, y = draw(6, 0.3)
    tied = np.c_[X.round(), np.ones(len(X))]
    assert KernelMean().fit(tied, y).prior_ == pytest.approx(0.3, abs=0.1)
    # More than half of the pairs are equal.
    binary = np.r_[np.ones(50), np.zeros(140), np.ones(60)][:, None]
    y = np.repeat([1, 0], [50, 200])
    assert KernelMean().fit(binary, y).prior_ == pytest.approx(0.3, abs=0.05)


def test_says_when_nothing_separates():
    rng = np.random.default_rng(7)
    with pytest.warns(AssumptionWarning, match="hardly differ"):
        KernelMean().fit(rng.normal(size=(200, 2)), np.repeat([1, 0], 100))


def test_equal_samples_have_the_largest_prior():
    X = np.random.default_rng(8).normal(size=(30, 1))
    with pytest.warns(AssumptionWarning, match=r"hardly differ|stays below"):
        assert KernelMean().fit(np.r_[X, X], np.repeat([1, 0], 30)).prior_ == 0.99


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"kind": "KM3"}, "kind must be"),
        ({"max_rows": 3}, "max_rows must be"),
        ({"max_rows": 10.5}, "max_rows must be"),
    ],
)
def test_refuses_bad_settings(settings, message):
    with pytest.raises(InputError, match=message):
        KernelMean(**settings).fit([[1.0], [2.0]], [0, 1])


def test_says_when_the_drawn_rows_are_all_equal():
    X = np.zeros((5000, 1))
    X[0] = 1
    with pytest.raises(InputError, match="Raise max_rows"):
        KernelMean(max_rows=10).fit(X, np.arange(5000) % 2)


def test_refuses_bad_data():
    with pytest.raises(InputError, match="Counts only hold numbers of rows"):
        KernelMean().fit(Counts.from_arrays([1, 0], [1.0, 2.0]))
    with pytest.raises(InputError, match="no labeled rows"):
        KernelMean().fit([[1.0], [2.0]], [0, 0])
    with pytest.raises(InputError, match="only labeled"):
        KernelMean().fit([[1.0], [2.0]], [1, 1])
    with pytest.raises(InputError, match="ambiguous"):
        KernelMean().fit([[1.0], [2.0]], [1, -1])
    with pytest.raises(InputError, match="same features"):
        KernelMean().fit(np.ones((4, 2)), [0, 1, 0, 1])
    with pytest.raises(InputError, match=r"within ±1e\+100"):
        KernelMean().fit([[1e200], [2.0]], [0, 1])
    with pytest.raises(ValueError, match="requires y to be passed"):
        KernelMean().fit([[1.0], [2.0]])
    with pytest.raises(ValueError, match="NaN"):
        KernelMean().fit([[np.nan], [2.0]], [0, 1])
