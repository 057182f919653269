"""Odd input in memory gives the right number, by exact fractions, or an InputError."""

import math
import warnings
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pueval import (
    AssumptionWarning,
    BinnedScoresWarning,
    Counts,
    InputError,
    Mixture,
    conversions,
    evaluate,
    largest_prior,
)
from pueval import evaluate_by as evaluate_groups

Y = np.array([1, 0, 1, 0, 0, 1, 0, 0])
SCORE = np.array([0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2])
BIG = 2**53


class TestScores:
    @pytest.mark.parametrize(
        "score",
        [
            np.array([BIG, BIG + 1], dtype=object),
            [Decimal("0.1"), Decimal("0.1000000000000000000001")],
            [Fraction(1, 3), Fraction(1, 3) + Fraction(1, 10**30)],
            np.array([10**400, 1], dtype=object),
        ],
        ids=["integers", "decimals", "fractions", "huge"],
    )
    def test_distinct_scores_never_become_ties(self, score):
        with pytest.raises(InputError, match="become equal"):
            Counts.from_arrays([1, 0], score)

    @pytest.mark.skipif(np.finfo(np.longdouble).eps >= 2**-52, reason="longdouble is float64")
    def test_long_doubles(self):
        one = np.longdouble(1)
        with pytest.raises(InputError, match="become equal"):
            Counts.from_arrays([1, 0], np.array([one, np.nextafter(one, 2 * one)]))
        assert Counts.from_arrays([1, 0], np.array([one, 2 * one])).score.tolist() == [2, 1]

    def test_objects_that_floats_can_tell_apart(self):
        score = [Decimal("0.1"), Decimal("0.2"), Decimal("0.2")]
        assert Counts.from_arrays([1, 0, 0], score).score.tolist() == [0.2, 0.1]

    def test_text_is_no_number(self):
        with pytest.raises(InputError, match="got text, such as '0.5'"):
            Counts.from_arrays([1, 0], np.array(["0.5", 1], dtype=object))


class TestShares:
    @pytest.mark.filterwarnings("ignore::pueval.AssumptionWarning")
    @pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, Fraction])
    def test_precision_of_the_argument_is_not_that_of_the_result(self, dtype):
        prior, purity = dtype(0.3), dtype(0.9)
        assert Mixture(prior, purity) == Mixture(float(prior), float(purity))
        assert type(Mixture(prior, purity).prior) is float
        for name in ("prior", "prevalence", "label_frequency"):
            share = dtype(0.5)
            counts = Counts.from_table([2, 1], [30, 10], [20, 140])
            mine, other = (
                evaluate(counts, **{name: value}, level=None).mixture
                for value in (share, float(share))
            )
            assert mine == other

    def test_prevalence_interval_below_the_labeled_share(self):
        """The prior is 0 at both ends, and the user is told."""
        with pytest.warns(AssumptionWarning, match="prevalence 0.1 is below the share of labeled"):
            ev = evaluate(Y[:6], SCORE[:6], prevalence=(0.1, 0.2), level=None)
        assert ev.mixture.prior == 0
        y, score = np.repeat([1, 0], [3300, 6700]), np.arange(10_000)
        with pytest.raises(InputError, match=r"prevalence must be in \[0.33, 1\)"):
            evaluate(y, score, prevalence=(0.1, 0.2))


class TestWeights:
    @pytest.mark.parametrize("scale", [1e-320, 1e-160, 1e160, 1e300])
    def test_scale(self, scale):
        weight = np.linspace(1, 2, 8) * scale
        with pytest.raises(InputError, match="by a common factor"):
            evaluate(Y, SCORE, prior=0.1, sample_weight=weight)

    @pytest.mark.parametrize("scale", [2.0**-160, 2.0**-30, 2.0**30, 2.0**160])
    @pytest.mark.filterwarnings("ignore::pueval.AssumptionWarning")
    def test_scale_does_not_matter(self, scale):
        weight = np.linspace(1, 2, 8)
        mine, other = (
            evaluate(Y, SCORE, prior=0.1, sample_weight=weight * factor) for factor in (1, scale)
        )
        for name in ("roc_auc", "average_precision", "false_positive_rate", "precision"):
            for end in ("value", "low", "high"):
                expected = getattr(mine[name], end)
                assert getattr(other[name], end) == pytest.approx(expected, rel=1e-9, nan_ok=True)

    @pytest.mark.parametrize(
        ("factor", "hidden"),
        [(1e9, "negatives"), (1e12, "negatives"), (1e15, "negatives"), (1e-14, "labeled rows")],
    )
    def test_rows_that_hide_others(self, factor, hidden):
        with pytest.raises(InputError, match=f"rounding hides the {hidden}"):
            evaluate(Y, SCORE, prior=0.1, sample_weight=np.where(Y == 1, factor, 1.0))

    def test_largest_number_of_rows(self):
        with pytest.raises(InputError, match=r"labeled must sum to at most 2\*\*53; got 1e\+19"):
            Counts.from_table([2, 1], [1e19, 1], [2, 3])
        with pytest.raises(InputError, match="unlabeled must hold numbers of rows; got dtype <U1"):
            Counts.from_table([2, 1], [2, 1], ["a", "b"])


WRONG = ["a", "0.5", b"x", {}, 1j, Decimal("0.3"), Decimal("NaN"), np.array([0.3, 0.4]), ...]


class TestArguments:
    @pytest.mark.parametrize("value", WRONG, ids=repr)
    @pytest.mark.parametrize(
        "name",
        ["prior", "prevalence", "label_frequency", "purity", "threshold", "level", "n_resamples",
         "seed", "target", "variance"],
    )  # fmt: skip
    def test_evaluate(self, name, value):
        given_prior = name in {"prior", "prevalence", "label_frequency"}
        options = ({} if given_prior else {"prior": 0.1}) | {name: value}
        with pytest.raises(InputError, match=name):
            evaluate(Y, SCORE, **options)

    @pytest.mark.parametrize("value", [*WRONG, None, [0.7], math.nan, True, 70], ids=repr)
    @pytest.mark.parametrize("name", ["naive", "prior", "purity", "labeled_share"])
    @pytest.mark.parametrize("function", conversions.__all__)
    def test_conversions(self, function, name, value):
        convert = getattr(conversions, function)
        needs_share = function in {"precision", "matthews_corrcoef"}
        if (name == "labeled_share" and not needs_share) or (name != "naive" and value is True):
            pytest.skip("no such argument")
        options = {"naive": 0.6, "prior": 0.1} | ({"labeled_share": 0.1} if needs_share else {})
        options[name] = value
        with pytest.raises(InputError, match=name):
            convert(options.pop("naive"), **options)


class TestGroups:
    def column(self, *names):
        column = np.empty(len(Y), dtype=object)
        for k in range(len(Y)):
            column[k] = names[k % len(names)]
        return column

    def test_missing_decimals(self):
        by = self.column(Decimal(1), Decimal("NaN"))
        with pytest.raises(InputError, match="4 rows with a missing group"):
            evaluate_groups(Y, SCORE, by, prior=0.1)

    @pytest.mark.filterwarnings("ignore::pueval.AssumptionWarning")
    def test_tuples(self):
        by = self.column((1, 2), (3, "a"))
        groups = evaluate_groups(Y, SCORE, by, prior=0.1, min_labeled=2, min_background=2)
        assert groups.names == ((1, 2), (3, "a"))
        frame = groups.frame()
        assert frame.index.names == ["group", "measure"]
        assert frame.index.get_level_values("group")[0] == (1, 2)
        assert groups["f1"].frame().index.tolist() == [(1, 2), (3, "a")]


@pytest.mark.filterwarnings("ignore::pueval.AssumptionWarning")
class TestNoOtherWarnings:
    """Draws without rows of a kind, or with a negative prior, and undefined measures."""

    @pytest.mark.parametrize(
        "options",
        [{"prevalence": 0.3}, {"label_frequency": 0.2}, {"propensity": np.full(32, 0.4)}],
        ids=str,
    )
    def test_few_weighted_rows(self, options):
        rng = np.random.default_rng(0)
        y, score = np.repeat([1, 0], [2, 30]), rng.random(32)
        ev = evaluate(y, score, sample_weight=rng.random(32) + 0.3, n_resamples=200, **options)
        assert ev["roc_auc"].low < ev["roc_auc"].high
        assert ev.presence()["f_pb"].value > 0
        if "propensity" not in options:
            assert ev.labeling_bias(1.5)["recall"].high <= 1

    def test_nearly_all_positives_are_labeled(self):
        ev = evaluate(
            [1, 0, 1, 1], [1, 2, 3, 2], label_frequency=0.967, target="unlabeled", threshold=1
        )
        for name in ("fowlkes_mallows", "ndcg_score", "bedroc_score"):
            assert not ev[name].low > ev[name].high

    def test_no_positives(self):
        ev = evaluate(Y, SCORE, prior=0, target="unlabeled", level=None)
        assert math.isnan(ev["bedroc_score"].value)

    @pytest.mark.parametrize("score", [np.zeros(8), np.full(8, 0.3), (SCORE > 0.45) * 1.0])
    def test_calibration_of_few_distinct_scores(self, score):
        ev = evaluate(Y, score, prior=0.3, n_resamples=50)
        assert ev.calibration().error.value >= 0

    @pytest.mark.parametrize("n", [30, 60])
    def test_one_labeled_cluster(self, n):
        rows = np.arange(n)
        counts = Counts.from_arrays(rows == 3, rows / n, cluster=[rows // 4, rows // 3])
        assert largest_prior(counts).prior == 1


# ---------------------------------------------------------------------- any input at all


def exact(value):
    """Return a number as a fraction; None for anything else."""
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, np.longdouble):
        return Fraction(*value.as_integer_ratio()) if np.isfinite(value) else None
    if not isinstance(value, int | float | Decimal | Fraction):
        return None
    return Fraction(value) if math.isfinite(value) else None


def slow_measures(y, score, weight, prior, threshold):
    """Measures from rows, one by one, with fractions; None if they are undefined."""
    rows = [(label, exact(s), exact(w)) for label, s, w in zip(y, score, weight, strict=True) if w]
    labeled = [(s, w) for label, s, w in rows if label]
    unlabeled = [(s, w) for label, s, w in rows if not label]
    n_labeled, n_unlabeled = (sum(w for _, w in kind) for kind in (labeled, unlabeled))
    if not n_labeled or not n_unlabeled:
        return None
    prior, threshold = Fraction(float(prior)), Fraction(threshold)
    gamma, eta = (
        sum(w for s, w in kind if s >= threshold) / size
        for kind, size in ((labeled, n_labeled), (unlabeled, n_unlabeled))
    )
    wins = sum(
        v * w * (Fraction(s > t) + Fraction(s == t) / 2) for s, v in labeled for t, w in unlabeled
    )
    area = wins / (n_labeled * n_unlabeled)
    prevalence = (n_labeled + prior * n_unlabeled) / (n_labeled + n_unlabeled)
    predicted = (n_labeled * gamma + n_unlabeled * eta) / (n_labeled + n_unlabeled)
    values = {
        "roc_auc": (area - prior / 2) / (1 - prior),
        "recall": gamma,
        "false_positive_rate": (eta - prior * gamma) / (1 - prior),
        # Smaller shares count as rounding errors.
        "precision": prevalence * gamma / predicted if predicted > 1e-14 else None,
    }
    return {name: value and min(max(value, 0), 1) for name, value in values.items()}


whole = st.integers(-3, 3) | st.sampled_from([BIG - 1, BIG, BIG + 1, -BIG - 1, 2**63, 10**30])
real = st.floats(-2, 2) | st.sampled_from([0.0, -0.0, 1e-300, 1e300, 5e-324, 0.1, 0.5])
unusual = st.sampled_from([math.nan, math.inf, -math.inf, None, "0.5", "a", b"x", 1j, True])
decimal = st.decimals(-2, 2, places=25) | st.decimals(-2, 2, places=2)
fraction = st.fractions(-2, 2, max_denominator=50)
element = whole | real | decimal | fraction
magnitude = st.sampled_from([0, 1, 2, 0.5, 1e-320, 1e-70, 1e-12, 1e-7, 1e7, 1e12, 1e70, 1e300])
dtypes = st.sampled_from(
    [None, object, np.float16, np.float32, np.float64, np.longdouble, np.int8, np.int64,
     np.uint64, np.bool_, np.complex128, str]
)  # fmt: skip


@st.composite
def columns(draw, elements, size):
    """A list or an array of any dtype, perhaps with one unusual value."""
    values = draw(st.lists(elements, min_size=size, max_size=size))
    if draw(st.integers(0, 9)) == 0:
        values[draw(st.integers(0, size - 1))] = draw(unusual)
    dtype = draw(dtypes)
    if dtype is None:
        return values
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return np.array(values, dtype=dtype)
    except (TypeError, ValueError, OverflowError):
        return np.array(values, dtype=object)


@st.composite
def inputs(draw):
    size = draw(st.integers(2, 9))
    kind = draw(st.sampled_from([real, whole, decimal, fraction, element]))
    y = [1, 0, *draw(st.lists(st.integers(0, 1), min_size=size - 2, max_size=size - 2))]
    weight = draw(st.none() | columns(magnitude, size))
    prior = draw(st.sampled_from([0.0, 0.1, 0.25, np.float16(0.3), np.float32(0.7), 0.99]))
    return y, draw(columns(kind, size)), weight, prior, draw(st.sampled_from([-1.0, 0.0, 0.5, 2.0]))


def test_exact_or_refused():
    evaluated = []

    @settings(max_examples=400, derandomize=True, deadline=None, database=None)
    @given(inputs())
    def check(case):
        y, score, weight, prior, threshold = case
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", AssumptionWarning)
            warnings.simplefilter("ignore", BinnedScoresWarning)  # half precision ties scores
            try:
                options = {"prior": prior, "threshold": threshold, "level": None}
                ev = evaluate(y, score, sample_weight=weight, **options)
            except InputError:
                return
        weights = [1] * len(y) if weight is None else weight
        # Half precision and lists are compared as NumPy reads them.
        expected = slow_measures(y, np.asarray(score), np.asarray(weights), prior, threshold)
        assert expected is not None
        evaluated.append(case)
        for name, value in expected.items():
            if value is None:
                assert math.isnan(ev[name].value)
            else:
                assert ev[name].value == pytest.approx(float(value), abs=1e-6), name

    check()
    assert len(evaluated) > 80
