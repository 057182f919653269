"""Scores on a GPU, or in arrays of PyTorch, CuPy and JAX: the same Counts as from NumPy arrays.

The code for GPUs runs on any machine: arrays of the host take its path here, too.
"""

import importlib
import os
import pickle
import subprocess
import sys
import warnings

import numpy as np
import pytest

from pueval import BinnedScoresWarning, Counts, InputError, compare, evaluate, evaluate_by
from pueval.samples import device_values
from pueval.samples.device_values import DeviceValues
from pueval.samples.sample import Sample, SortedChunk
from pueval.sources import arrays, device_arrays

GPU = ("torch cuda", "cupy", "jax gpu")
SETTINGS = ["numpy", "torch", "jax", *(pytest.param(name, marks=pytest.mark.gpu) for name in GPU)]


def _module(name, reason):
    try:
        return importlib.import_module(name)
    except ImportError:
        pytest.skip(reason)


@pytest.fixture(params=SETTINGS)
def put(request, monkeypatch):
    """Return a function that puts an array onto a device, and count rows there."""
    monkeypatch.setattr(device_arrays, "HOST_ROWS", 50)
    monkeypatch.setattr(device_arrays, "SORTED_ROWS", 4_000)
    if request.param == "numpy":
        monkeypatch.setattr(
            arrays,
            "is_on_device",
            lambda values: getattr(values, "dtype", np.dtype("O")).kind in "biufc",
        )
        return np.array
    if request.param == "torch":
        torch = _module("torch", "needs PyTorch: pip install pueval[torch]")
        monkeypatch.setattr(arrays, "is_on_device", lambda values: isinstance(values, torch.Tensor))
        return torch.tensor
    if request.param == "torch cuda":
        torch = _module("torch", "needs PyTorch: pip install pueval[torch]")
        if not torch.cuda.is_available():
            pytest.skip("needs a GPU")
        return lambda values: torch.tensor(values, device="cuda")
    if request.param == "cupy":
        return _module("cupy", "needs CuPy and a GPU").asarray
    jax = _module("jax", "needs JAX: make torch")
    if request.param == "jax":
        monkeypatch.setattr(arrays, "is_on_device", lambda values: isinstance(values, jax.Array))
        return lambda values: jax.device_put(values, jax.devices("cpu")[0])
    try:
        place = jax.devices("gpu")[0]
    except RuntimeError:
        pytest.skip("needs JAX and a GPU")
    return lambda values: jax.device_put(values, place)


def rows(n=10_000, seed=0, decimals=3):
    rng = np.random.default_rng(seed)
    positive = rng.random(n) < 0.3
    score = (rng.normal(size=n) + 2 * positive).round(decimals).astype(np.float32)
    return (positive & (rng.random(n) < 0.4)).astype(np.int32), score


def has_64_bits(put):
    return put(np.zeros(1)).dtype.itemsize == 8


def assert_same(counts, expected):
    assert counts == expected
    for mine, theirs in zip(counts._tabulated, expected._tabulated, strict=True):
        assert mine.dtype == theirs.dtype
        assert mine.tobytes() == theirs.tobytes()


def test_counts_are_those_of_numpy_and_stay_on_the_device(put):
    y, score = rows()
    expected = Counts.from_arrays(y, score, bins=None)
    counts = Counts.from_arrays(put(y), put(score), bins=None)
    kept = [chunk.values for chunk in counts._unlabeled.chunks]
    assert len(kept) == 3  # parts of 4,000 rows
    assert all(isinstance(values, DeviceValues) for values in kept)
    assert_same(counts, expected)


@pytest.mark.parametrize("decimals", [0, 7])
def test_measures_curves_and_bounds_need_no_copy_of_the_scores(put, monkeypatch, decimals):
    y, score = rows(decimals=decimals)
    # Labeled rows on the host, as in practice.
    monkeypatch.setattr(device_arrays, "HOST_ROWS", 2_000)
    counts = Counts.from_arrays(put(y), put(score))
    assert counts._unlabeled.is_on_device

    def refuse(*args, **kwargs):
        raise AssertionError("all scores were copied to the host")

    monkeypatch.setattr(DeviceValues, "__array__", refuse)
    expected = evaluate(y, score, prior=0.2, seed=1)
    ev = evaluate(counts, prior=0.2, seed=1)
    for name in expected:
        assert ev[name] == expected[name]
    np.testing.assert_array_equal(ev.roc().tpr, expected.roc().tpr)
    np.testing.assert_array_equal(ev.pr().precision, expected.pr().precision)
    assert ev.bounds()["roc_auc"] == expected.bounds()["roc_auc"]
    assert ev.at(0.7)["f1"] == expected.at(0.7)["f1"]
    assert evaluate(counts, seed=1).prior == evaluate(y, score, seed=1).prior


@pytest.mark.parametrize("decimals", [0, 7])
def test_zero_has_no_sign(put, decimals):
    y, score = rows(decimals=decimals)
    score[:40] = np.tile([0.0, -0.0], 20)
    counts = Counts.from_arrays(y, score, bins=None)
    assert not np.signbit(counts.score[counts.score == 0]).any()
    assert_same(Counts.from_arrays(y[::-1], score[::-1], bins=None), counts)
    assert_same(Counts.from_arrays(put(y[::-1].copy()), put(score[::-1].copy()), bins=None), counts)


@pytest.mark.parametrize("bins", [2, 64, 4096, 2**20])
def test_bins_are_those_of_numpy(put, bins):
    y, score = rows(decimals=7)
    # CuPy and JAX take denormal numbers for 0.
    keeps_denormal = has_64_bits(put) and not type(put(score)).__module__.startswith("cupy")
    tiny = 1e-42 if keeps_denormal else 1e-37
    score[:40] = np.r_[np.zeros(10), -np.zeros(10), np.full(10, tiny), np.full(10, -3e38)]
    expected = Counts.from_arrays(y, score, bins=None).to_bins(bins)
    assert Counts.from_arrays(put(y), put(score), bins=bins) == expected
    only_negative = -np.abs(score) - np.float32(1)
    expected = Counts.from_arrays(y, only_negative, bins=bins)
    assert Counts.from_arrays(put(y), put(only_negative), bins=bins) == expected


def test_many_labeled_rows_are_binned_with_a_warning(put):
    y, score = rows(decimals=7)
    with pytest.warns(BinnedScoresWarning, match="bins=4096 to accept this"):
        counts = Counts.from_arrays(put(y), put(score))
    assert counts == Counts.from_arrays(y, score, bins=None).to_bins(4096)


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64", "bool", "float16", "float64"])
def test_types_of_scores(put, dtype):
    y, score = rows(decimals=1)
    score = (20 * score).astype(dtype)
    if score.itemsize == 8 and not has_64_bits(put):
        pytest.skip("JAX has 32 bits only, unless it is configured")
    if dtype == "int64":
        score *= 2**26 + 1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BinnedScoresWarning)
        expected = Counts.from_arrays(y, score, bins=None)
        assert_same(Counts.from_arrays(put(y), put(score), bins=None), expected)


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "uint32", "uint64"])
def test_unsigned_integers(put, dtype):
    y, score = rows(1_000)
    score = np.abs(100 * score).astype(dtype)
    if dtype in {"uint32", "uint64"}:
        score[:100] = 2**24 + np.arange(100)
    given = put(y), put(score)
    if dtype == "uint64" and not has_64_bits(put):
        pytest.skip("JAX has 32 bits only, unless it is configured")
    if dtype == "uint32" and not has_64_bits(put):
        with pytest.raises(InputError, match=r"scores beyond ±2\*\*24 .* got 0 to 16777315"):
            Counts.from_arrays(*given, bins=None)
        return
    assert_same(Counts.from_arrays(*given, bins=None), Counts.from_arrays(y, score, bins=None))
    if dtype == "uint64":
        score[7] = 2**64 - 1
        with pytest.raises(InputError, match=f"got 0 to {2**64 - 1}"):
            Counts.from_arrays(put(y), put(score))


@pytest.mark.parametrize("value", [-1, 256, 2**40, 2**70])
def test_labels_are_no_values_beyond_their_type(put, value):
    """Libraries take 255 of type uint8 for −1, and 0 for 256."""
    y, score = rows(100)
    expected = Counts.from_arrays(y, score, bins=None)
    for dtype in (np.uint8, np.bool_):
        counts = Counts.from_arrays(
            put(y.astype(dtype)), put(score), bins=None, negative_label=value
        )
        assert_same(counts, expected)
    wrapped = np.where(y == 1, 1, 255).astype(np.uint8)
    with pytest.raises(InputError, match="with an unrecognized label: 255"):
        Counts.from_arrays(put(wrapped), put(score), unlabeled_label=value)


def test_rows_on_several_devices():
    """JAX shards arrays over devices, and keeps each array where it was put."""
    _module("jax", "needs JAX: make torch")
    code = """if True:
        import jax, numpy as np
        from jax.sharding import Mesh, NamedSharding, PartitionSpec
        from pueval import Counts
        from pueval.sources import arrays, device_arrays
        device_arrays.HOST_ROWS = 5
        arrays.is_on_device = lambda values: isinstance(values, jax.Array)
        first, second = jax.devices()
        shards = NamedSharding(Mesh(np.array([first, second]), ("rows",)), PartitionSpec("rows"))
        score = np.arange(200, dtype=np.float32) % 70
        y = (np.arange(200) % 7 == 0).astype(np.int32)
        expected = Counts.from_arrays(y, score)
        for places in ((shards, shards), (first, second), (second, shards), (shards, first)):
            given = map(jax.device_put, (y, score), places)
            assert Counts.from_arrays(*given, bins=None) == expected
        """
    flags = {"XLA_FLAGS": "--xla_force_host_platform_device_count=2", "JAX_PLATFORMS": "cpu"}
    subprocess.run([sys.executable, "-c", code], env={**os.environ, **flags}, check=True)


def test_half_precision_is_said(put):
    y, score = rows(decimals=7)
    with pytest.warns(BinnedScoresWarning, match="scores are float16, and .*%"):
        Counts.from_arrays(put(y), put(score.astype(np.float16)), bins=None)


@pytest.mark.parametrize("more", ["propensity", "cluster"])
def test_propensities_and_clusters_are_counted_on_the_host(put, more):
    if put is np.array:
        pytest.skip("NumPy arrays cannot be copied to the host")
    y, score = rows()
    given = {"propensity": np.full(y.size, 0.5), "cluster": np.arange(y.size) % 40}[more]
    on_device, on_host = (
        evaluate(labels, scores, prior=0.1, n_resamples=50, **{more: values})
        for labels, scores, values in ((put(y), put(score), put(given)), (y, score, given))
    )
    assert on_device.counts == on_host.counts
    assert not on_device.counts.bins
    assert on_device["roc_auc"] == on_host["roc_auc"]


def test_labels_of_other_types_and_places(put):
    y, score = rows()
    expected = Counts.from_arrays(y, score, bins=None)
    assert_same(Counts.from_arrays(y, put(score), bins=None), expected)
    assert_same(Counts.from_arrays(put(y), score, bins=None), expected)
    assert_same(Counts.from_arrays(put(y.astype(bool)), put(score), bins=None), expected)
    words = np.where(y == 1, "bad", "?")
    counts = Counts.from_arrays(
        words, put(score), bins=None, pos_label="bad", unlabeled_label="?", negative_label="good"
    )
    assert_same(counts, expected)
    missing = np.where(y == 1, 1.0, np.nan).astype(np.float32)
    counts = Counts.from_arrays(put(missing), put(score), bins=None, unlabeled_label=np.nan)
    assert_same(counts, expected)
    y[:3000] = -1
    expected = Counts.from_arrays(y, score, negative_label=-1, bins=None)
    assert_same(Counts.from_arrays(put(y), put(score), negative_label=-1, bins=None), expected)


def test_columns_and_strides(put):
    y, score = rows()
    expected = Counts.from_arrays(y[::2], score[::2], bins=None)
    assert_same(Counts.from_arrays(put(y)[::2], put(score)[::2], bins=None), expected)
    assert_same(Counts.from_arrays(put(y)[::2, None], put(score)[::2, None], bins=None), expected)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda y, s: (y, np.where(s > 3, np.nan, s)), "missing"),
        (lambda y, s: (y, np.where(s > 3, np.inf, s)), "infinite"),
        (lambda y, s: (y, np.where(s < -2, -np.inf, s)), "infinite"),
        (lambda y, s: (y, np.where(y == 1, np.nan, s)), "missing"),
        (lambda y, s: (np.where(s > 3, 7, y), s), "7"),
        (lambda y, s: (np.where(s > 3, -1, y), s), "-1"),
        (lambda y, s: (y[1:], s), "same length; got 9,999 and 10,000"),
        (lambda y, s: (y[:0], s[:0]), "empty"),
        (lambda y, s: (y, np.stack([s, s], axis=1)), "score must have one dimension"),
        (lambda y, s: (np.stack([y, y], axis=1), s), "y must have one dimension"),
        (lambda y, s: (y, (s * 1e17).astype(np.int64)), "2\\*\\*53|exact|integers"),
    ],
)
def test_refusals_are_those_of_numpy(put, change, message):
    y, score = change(*rows())
    if score.dtype == np.int64 and not has_64_bits(put):
        pytest.skip("JAX has 32 bits only, unless it is configured")
    with pytest.raises(InputError) as expected:
        Counts.from_arrays(y, score)
    with pytest.raises(InputError, match=message) as error:
        Counts.from_arrays(put(y), put(score))
    assert str(error.value) == str(expected.value)


def test_complex_scores_are_refused(put):
    y, score = rows()
    with pytest.raises(InputError, match="score must hold real numbers; got dtype"):
        Counts.from_arrays(put(y), put(score.astype(np.complex64)))


def test_addition_saving_and_pickling(put, tmp_path):
    y, score = rows()
    half = Counts.from_arrays(put(y[:5000]), put(score[:5000]), bins=None)
    both = half + Counts.from_arrays(y[5000:], score[5000:], bins=None)
    expected = Counts.from_arrays(y, score, bins=None)
    assert_same(both, expected)
    both.to_parquet(tmp_path / "counts.parquet")
    assert Counts.from_parquet(tmp_path / "counts.parquet") == expected
    assert_same(pickle.loads(pickle.dumps(both)), expected)  # noqa: S301


def test_other_functions_copy_rows_to_the_host(put, monkeypatch):
    y, score = rows(2_000)
    weight = np.random.default_rng(1).integers(1, 4, y.size)
    expected = Counts.from_arrays(y, score, sample_weight=weight)
    assert Counts.from_arrays(put(y), put(score), sample_weight=put(weight)) == expected
    monkeypatch.setattr(device_arrays, "HOST_ROWS", 2_000)
    models = {"a": put(score), "b": put(np.sign(score) * score**2)}
    half = np.arange(y.size) % 2
    result = compare(put(y), models, prior=0.2)
    expected = compare(y, {"a": score, "b": np.sign(score) * score**2}, prior=0.2)
    assert result["a"]["roc_auc"] == expected["a"]["roc_auc"]
    groups = evaluate_by(put(y), put(score), half, prior=0.2)
    assert repr(groups) == repr(evaluate_by(y, score, half, prior=0.2))


def test_tensors_of_the_host_are_counted_like_arrays():
    torch = _module("torch", "needs PyTorch: pip install pueval[torch]")
    y, score = rows()
    leaf = torch.tensor(score, requires_grad=True)
    expected = Counts.from_arrays(y, score)
    assert_same(Counts.from_arrays(torch.tensor(y), leaf), expected)
    assert_same(Counts.from_arrays(torch.tensor(y), leaf * 1), expected)
    with pytest.warns(BinnedScoresWarning, match="scores are bfloat16"):
        counts = Counts.from_arrays(torch.tensor(y), leaf.to(torch.bfloat16))
    assert_same(counts, Counts.from_arrays(y, leaf.detach().bfloat16().float().numpy()))


@pytest.mark.parametrize("dtype", ["bfloat16", "float8_e4m3fn", "float8_e5m2"])
def test_numpy_arrays_of_types_from_jax(dtype):
    ml_dtypes = _module("ml_dtypes", "needs JAX: make torch")
    y, score = rows()
    short = score.astype(getattr(ml_dtypes, dtype))
    with pytest.warns(BinnedScoresWarning, match=f"scores are {dtype}, and .*%"):
        counts = Counts.from_arrays(y.astype(short.dtype), short, bins=None)
    assert_same(counts, Counts.from_arrays(y, short.astype(np.float32), bins=None))
    weight = np.full(y.size, 0.5, short.dtype)
    counts = Counts.from_arrays(y, score, sample_weight=weight)
    assert counts == Counts.from_arrays(y, score, sample_weight=np.full(y.size, 0.5))


@pytest.fixture(params=["host", "device path"])
def torch_path(request, monkeypatch):
    """Return PyTorch; its tensors are counted on the host, or where they are."""
    torch = _module("torch", "needs PyTorch: pip install pueval[torch]")
    if request.param == "device path":
        monkeypatch.setattr(arrays, "is_on_device", lambda values: isinstance(values, torch.Tensor))
    return torch


@pytest.mark.parametrize("dtype", ["float8_e4m3fn", "float8_e5m2"])
def test_float8_is_read_as_float32(torch_path, dtype):
    y, score = rows()
    short = torch_path.tensor(score).to(getattr(torch_path, dtype))
    expected = Counts.from_arrays(y, short.float().numpy(), bins=None)
    for labels in (torch_path.tensor(y), torch_path.tensor(y).to(short.dtype)):
        with pytest.warns(BinnedScoresWarning, match=f"scores are {dtype}, and .*%"):
            counts = Counts.from_arrays(labels, short, bins=None)
        assert_same(counts, expected)


def test_pending_signs_are_resolved(torch_path):
    y, score = rows()
    lazy = torch_path.complex(torch_path.tensor(score), torch_path.tensor(score)).conj()
    assert lazy.imag.is_neg()
    expected = Counts.from_arrays(y, -score, bins=None)
    assert_same(Counts.from_arrays(torch_path.tensor(y), lazy.imag, bins=None), expected)
    with pytest.raises(InputError, match="score must hold real numbers; got dtype"):
        Counts.from_arrays(y, lazy)


@pytest.mark.filterwarnings("ignore:torch.quantize_per_tensor")
@pytest.mark.filterwarnings("ignore:Sparse CSR tensor support")
@pytest.mark.filterwarnings("ignore:ComplexHalf support")
def test_tensors_that_are_no_arrays_of_numbers_are_refused(torch_path, monkeypatch):
    y, score = map(torch_path.tensor, rows(100))
    special = {
        "sparse_coo": score.to_sparse(),
        "sparse_csr": score[:, None].to_sparse_csr(),
        "meta": score.to("meta"),
        "nested": torch_path.nested.nested_tensor([score, score], layout=torch_path.jagged),
        "quantized": torch_path.quantize_per_tensor(score, 0.1, 0, torch_path.qint8),
    }
    for kind, scores in special.items():
        with pytest.raises(InputError, match=f"tensors must be dense .*; got a {kind} tensor"):
            evaluate(y, scores, prior=0.2, level=None)
    # JAX imports ml_dtypes, which adds dtypes to NumPy that PyTorch cannot convert.
    monkeypatch.setitem(np.sctypeDict, "complex32", np.complex64)
    with pytest.raises(InputError, match="a dtype that NumPy has, too; got complex32"):
        evaluate(y, score.to(torch_path.complex32), prior=0.2, level=None)


def test_device_values_have_the_interface_of_sorted_arrays(put):
    values = np.sort(rows(1000)[1])
    on_device = DeviceValues(put(values))
    thresholds = np.r_[values[::-50], values[::60] + np.float32(1e-4), -np.inf, np.inf]
    for side in ("left", "right"):
        np.testing.assert_array_equal(
            np.searchsorted(on_device, thresholds, side), np.searchsorted(values, thresholds, side)
        )
        assert np.searchsorted(on_device, 0, side) == np.searchsorted(values, 0, side)
    found = on_device.search_both_sides(thresholds.astype(np.float32))
    for places, side in zip(found, ("left", "right"), strict=True):
        np.testing.assert_array_equal(places, np.searchsorted(values, thresholds, side))
    assert (len(on_device), on_device.size, on_device.dtype) == (1000, 1000, np.float32)
    assert on_device[-1] == values[-1]
    np.testing.assert_array_equal(on_device[3:9], values[3:9])
    np.testing.assert_array_equal(on_device.take(np.array([-3, 5, 2000])), values[[0, 5, -1]])
    np.testing.assert_array_equal(np.asarray(on_device), values)
    with pytest.raises(ValueError, match="without a copy"):
        np.asarray(on_device, copy=False)
    with pytest.raises(NotImplementedError):
        on_device.take(np.array([0]), mode="wrap")
    with pytest.raises(NotImplementedError):
        on_device.searchsorted(0, sorter=values)
    sample, few = Sample((SortedChunk(on_device),)), np.unique(values).size
    assert sample.distinct_if_few(few - 1) is None
    np.testing.assert_array_equal(sample.distinct_if_few(few), np.unique(values))


def test_only_arrays_are_moved_to_the_host():
    assert arrays.one_column([1, 2], "y").tolist() == [1, 2]
    assert not arrays.is_on_device([1, 2])
    assert not arrays.is_on_device(np.arange(3))
    assert device_values.to_numpy(np.arange(3)).tolist() == [0, 1, 2]
