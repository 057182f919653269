"""Rows in states: exact and binned, of every type, and what is refused."""

import pickle

import numpy as np
import pytest

from pueval import Counts, InputError

torch = pytest.importorskip("torch", reason="needs PyTorch: make torch")
pytest.importorskip("torchmetrics", reason="needs TorchMetrics: make torch")

from pueval.torch import PUAUROC, PUAveragePrecision, PUEvaluation  # noqa: E402
from pueval.torch._binned_scores import bin_places, state_size  # noqa: E402
from tests.torch.tensors import batches, joined, updated  # noqa: E402

DTYPES = [torch.float64, torch.float32, torch.float16, torch.bfloat16]
LABELS = {"pos_label": 1, "unlabeled_label": 0, "negative_label": 2}


def same(left, right):
    """Whether Counts have the same table and the same bins, bit for bit."""
    assert left.bins == right.bins
    for name in ("score", "labeled", "unlabeled", "negative"):
        np.testing.assert_array_equal(getattr(left, name), getattr(right, name))
    if left.bins:
        np.testing.assert_array_equal(left._binning.wide, right._binning.wide)
    return True


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("bins", [None, 2, 16, 256])
def test_states_are_the_counts_of_all_rows(rng, dtype, bins):
    parts = batches(rng, dtype=dtype, decimals=2, negatives=True)
    metric = updated(PUAUROC(prior=0.2, bins=bins, negative_label=2), parts)
    score, y = joined(parts)
    if bins is None:
        assert same(metric.counts, Counts.from_arrays(y, score, **LABELS))
    else:
        rows = Counts.from_arrays(y, score.astype(np.float32), **LABELS)
        assert same(metric.counts, rows.to_bins(bins))


@pytest.mark.parametrize("bins", [2, 64, 4096])
def test_bins_of_extreme_scores(bins):
    """Subnormal numbers, powers of 2 and their neighbors, zeros and the largest numbers."""
    powers = np.float32(2) ** np.arange(-149, 128, dtype=np.float32)
    edges = np.concatenate([powers, np.nextafter(powers, np.float32(np.inf)), powers * 1.37])
    largest = np.finfo(np.float32).max
    values = np.concatenate([edges, [0.0, -0.0, largest, 1e-40]]).astype(np.float32)
    values = np.concatenate([values, -values])
    values = values[np.isfinite(values)]
    y = np.arange(values.size) % 2
    metric = PUAUROC(prior=0.2, bins=bins)
    metric.update(torch.as_tensor(values), torch.as_tensor(y))
    assert same(metric.counts, Counts.from_arrays(y, values).to_bins(bins))
    places = bin_places(torch.as_tensor(np.sort(values)), bins)
    assert (places.diff() >= 0).all()
    assert places.min() >= 0
    assert places.max() < state_size(bins)


def test_a_binned_state_has_a_fixed_size(rng):
    metric = PUAUROC(prior=0.2, bins=256)
    before = [tensor.shape for tensor in (metric.rows, metric.lowest, metric.highest)]
    updated(metric, batches(rng))
    assert [tensor.shape for tensor in (metric.rows, metric.lowest, metric.highest)] == before
    n_bytes = sum(
        tensor.numel() * tensor.element_size()
        for tensor in (metric.rows, metric.lowest, metric.highest)
    )
    assert n_bytes == (554 * 256 + 2) * 32  # as the docstring of PUMeasure says


def test_shapes_types_and_gradients(rng):
    (scores, labels), *_ = batches(rng)
    plain = updated(PUAUROC(prior=0.2), [(scores, labels)]).compute()
    variants = [
        (scores.clone().requires_grad_(), labels.bool()),
        (scores[:, None], labels[:, None].float()),
        (torch.stack([scores, scores], 1)[:, 1], labels.to(torch.int8)),
    ]
    for variant in variants:
        assert updated(PUAUROC(prior=0.2), [variant]).compute() == plain
    one_by_one = PUAUROC(prior=0.2)
    for score, label in zip(scores, labels, strict=True):
        one_by_one.update(score, label)
    assert one_by_one.compute() == plain


def test_integers_keep_their_order():
    scores = torch.tensor([2**24 + 1, 2**24, 3, 2])
    metric = updated(PUAUROC(prior=0.0), [(scores, torch.tensor([1, 0, 0, 0]))])
    assert metric.compute() == 1.0
    assert metric.counts.score.size == 4


@pytest.mark.parametrize(
    ("scores", "labels", "message"),
    [
        ([0.1, np.nan], [1, 0], "1 row with a missing score"),
        ([0.1, np.inf], [1, 0], "1 row with an infinite score"),
        ([0.1, 0.2], [1, -1], "label −1 is ambiguous"),
        ([0.1, 0.2], [1, 3], "unrecognized label: 3"),
        ([1.0, 0.0], [1, 3], "unrecognized label: 3"),
        ([0.1] * 30, [np.nan] * 29 + [1.0], "29 rows with a missing label"),
        ([1, 0], [0.7, 0.2], r"look like scores, such as 0\.2\. Pass scores first, then labels"),
        ([1] * 30, list(np.arange(30) + 2.0), "Pass scores first, then labels"),
        (
            [2**53 + 1, 2**53],
            [1, 0],
            r"within ±2\*\*53, .* got 9007199254740992 to 9007199254740993",
        ),
        ([-(2**60), 0], [1, 0], r"got -1152921504606846976 to 0"),
        ([0.1, 0.2, 0.3], [1, 0], "3 scores and 2 labels"),
        ([[0.1, 0.2]], [1], "one number per row; got shape \\(1, 2\\)"),
    ],
)
@pytest.mark.parametrize("bins", [None, 16])
def test_refused_rows(scores, labels, message, bins):
    metric = PUAUROC(prior=0.2, bins=bins)
    with pytest.raises(InputError, match=message):
        metric.update(torch.tensor(scores), torch.tensor(labels))
    assert metric.counts.n == 0


def test_unsigned_integers():
    scores, labels = torch.tensor([2**53, 3], dtype=torch.uint64), torch.tensor([1, 0])
    assert updated(PUAUROC(prior=0.0), [(scores, labels)]).compute() == 1
    for large in (2**53 + 1, 2**64 - 1):
        with pytest.raises(InputError, match=f"got 3 to {large}"):
            PUAUROC(prior=0.0).update(torch.tensor([large, 3], dtype=torch.uint64), labels)


def test_refused_types():
    with pytest.raises(InputError, match="scores must be a tensor; got list"):
        PUAUROC(prior=0.2).update([0.1], torch.tensor([1]))
    with pytest.raises(InputError, match="real numbers"):
        PUAUROC(prior=0.2).update(torch.tensor([1j]), torch.tensor([1]))


@pytest.mark.parametrize(
    "convert",
    [
        lambda scores: scores.to_sparse(),
        lambda scores: scores.to_mkldnn(),
        lambda scores: scores.to("meta"),
        lambda scores: torch.nested.nested_tensor([scores, scores], layout=torch.jagged),
    ],
    ids=["sparse", "mkldnn", "meta", "nested"],
)
def test_tensors_that_are_no_arrays_of_numbers_are_refused(convert):
    scores, labels = torch.tensor([2.0, 1.0]), torch.tensor([1, 0])
    metric = PUAUROC(prior=0.2)
    for rows in ((convert(scores), labels), (scores, convert(labels.float()))):
        with pytest.raises(InputError, match=r"tensors must be dense .*; got a \w+ tensor"):
            metric.update(*rows)
    assert metric.counts.n == 0


def test_float8_scores_are_kept_as_float32(rng):
    parts = batches(rng, dtype=torch.float8_e4m3fn)
    metric = updated(PUAUROC(prior=0.2), parts)
    assert {scores.dtype for scores in metric.scores} == {torch.float32}
    score, y = joined([(scores.float(), labels) for scores, labels in parts])
    assert same(metric.counts, Counts.from_arrays(y, score))


def test_scores_beyond_float32_are_refused_with_bins():
    rows = torch.tensor([1e300, 1.0], dtype=torch.float64), torch.tensor([1, 0])
    assert updated(PUAUROC(prior=0.0), [rows]).compute() == 1
    for sign in (1, -1):
        message = rf"range of float32, ±3\.4e\+38, .*; got {sign}e\+300 \(1 row beyond it\)"
        with pytest.raises(InputError, match=message):
            PUAUROC(prior=0.0, bins=16).update(sign * rows[0], rows[1])
    tiny = torch.tensor([-1e-300, 0.0, 1.0], dtype=torch.float64), torch.tensor([1, 0, 0])
    counts = updated(PUAUROC(prior=0.0, bins=16), [tiny]).counts
    assert np.signbit(counts.score).tolist() == [False, False]


def test_label_values():
    scores = torch.tensor([3.0, 2.0, 1.0])
    metric = PUAUROC(prior=0.0, pos_label=1, unlabeled_label=-1, negative_label=0)
    metric.update(scores, torch.tensor([1, -1, 0]))
    assert (metric.counts.n_labeled, metric.counts.n_unlabeled, metric.counts.n_negative) == (
        1, 1, 1,
    )  # fmt: skip
    metric = PUAUROC(prior=0.0, unlabeled_label=float("nan"))
    metric.update(scores, torch.tensor([1.0, float("nan"), float("nan")]))
    assert metric.counts.n_unlabeled == 2


def test_labels_are_no_values_beyond_their_type():
    """PyTorch takes 255 of type uint8 for −1, and 0 for 256."""
    scores, labels = torch.tensor([3.0, 2.0]), torch.tensor([1, 0], dtype=torch.uint8)
    metric = updated(PUAUROC(prior=0.0, negative_label=256), [(scores, labels)])
    assert (metric.counts.n_unlabeled, metric.counts.n_negative) == (1, 0)
    with pytest.raises(InputError, match="1 row with an unrecognized label: 255"):
        PUAUROC(prior=0.0, unlabeled_label=-1).update(scores, labels - (labels == 0).byte())


@pytest.mark.parametrize("bins", [None, 64])
@pytest.mark.parametrize("kind", [PUAveragePrecision, PUEvaluation])
def test_pickles_and_copies(rng, bins, kind):
    parts = batches(rng)
    metric = updated(kind(prior=0.2, bins=bins), parts[:3])
    copies = [pickle.loads(pickle.dumps(metric)), metric.clone()]  # noqa: S301
    computed = kind(prior=0.2, bins=bins)
    updated(computed, parts[:3]).compute()
    copies += [pickle.loads(pickle.dumps(computed)), computed.to("cpu")]  # noqa: S301
    updated(metric, parts[3:])
    for copy in copies:
        assert same(updated(copy, parts[3:]).counts, metric.counts)
        assert str(copy.compute()) == str(metric.compute())


@pytest.mark.parametrize("bins", [None, 64])
def test_half_precision_modules_do_not_change_the_state(rng, bins):
    parts = batches(rng)
    metric = updated(PUAUROC(prior=0.2, bins=bins), parts)
    before = metric.counts
    module = torch.nn.ModuleDict({"metric": metric, "layer": torch.nn.Linear(2, 2)})
    for change in (module.half, module.bfloat16):
        assert change()["layer"].weight.dtype != torch.float32
        assert same(metric.counts, before)


@pytest.fixture
def double_default():
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


@pytest.mark.parametrize("bins", [None, 64])
def test_the_default_type_does_not_change_the_state(rng, bins, double_default):
    parts = batches(rng)
    metric = updated(PUAUROC(prior=0.2, bins=bins), parts)
    assert metric.compute().dtype == torch.float64
    torch.set_default_dtype(torch.float32)
    assert same(metric.counts, updated(PUAUROC(prior=0.2, bins=bins), parts).counts)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize("bins", [None, 64])
def test_set_dtype_changes_values_only(rng, bins, dtype):
    parts = batches(rng, decimals=3)
    metric = updated(PUAUROC(prior=0.2, bins=bins), parts[:3])
    updated(metric.set_dtype(dtype), parts[3:])
    expected = updated(PUAUROC(prior=0.2, bins=bins), parts)
    assert same(metric.counts, expected.counts)
    assert metric.to("cpu").compute().dtype == dtype
    torch.nn.ModuleDict({"metric": metric}).to(torch.float16)
    assert same(metric.counts, expected.counts)
    with pytest.raises(InputError, match="floating-point numbers; got torch.int64"):
        metric.set_dtype(torch.int64)


@pytest.mark.parametrize("bins", [None, 64])
def test_inference_mode(rng, bins):
    """Lightning validates, and resets, in inference mode."""
    parts = batches(rng)
    metric = PUAUROC(prior=0.2, bins=bins)
    with torch.inference_mode():
        metric.reset()
        updated(metric, parts[:2])
    updated(metric, parts[2:4])
    with torch.inference_mode():
        updated(metric, parts[4:])
    assert same(metric.counts, updated(PUAUROC(prior=0.2, bins=bins), parts).counts)


def test_updates_touch_only_the_bins_of_their_scores(rng):
    """The state is not rebuilt, which would take 54 MB per batch with 4096 bins."""
    metric = updated(PUAUROC(prior=0.2, bins=4096), batches(rng)[:1])
    before = [state.data_ptr() for state in (metric.rows, metric.lowest, metric.highest)]
    updated(metric, batches(rng)[1:])
    after = [state.data_ptr() for state in (metric.rows, metric.lowest, metric.highest)]
    assert after == before
    copy = metric.clone()
    rows = copy.counts
    updated(metric, batches(rng))
    assert same(copy.counts, rows)
    metric.reset()
    assert metric.counts.n == 0


def test_bins_are_checked():
    with pytest.raises(InputError, match="power of 2"):
        PUAUROC(prior=0.2, bins=100)
    for bins in (3, 8192, 2.5, True):
        with pytest.raises(InputError, match=rf"power of 2 from 2 to 4,096 here, .*; got {bins}\."):
            PUAUROC(prior=0.2, bins=bins)
