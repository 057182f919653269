"""Weights mean the same wherever rows come from: whole ones count rows, others weigh them."""

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pueval import Counts, InputError, compare, evaluate, evaluate_by, tally

NAMES = {"label": "y", "score": "s", "sample_weight": "w"}
# Tornado leaves sockets to the garbage collector while it looks for a free port.
pytestmark = pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")


@pytest.fixture
def rows(rng):
    y = (rng.random(2000) < 0.3).astype(int)
    return {"y": y, "s": rng.normal(size=2000) + y, "w": rng.integers(0, 5, 2000)}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "rows.parquet"


def from_arrays(rows):
    return Counts.from_arrays(rows["y"], rows["s"], sample_weight=rows["w"])


def everywhere(rows, path):
    """Count the same rows by every way through the code."""
    table = pa.table(rows)
    pq.write_table(table, path)
    return {
        "file": Counts.from_file(path, **NAMES),
        "file in bins": Counts.from_file(path, **NAMES, bins=2**20),
        "file in groups": sum(
            one["s"]
            for one in tally(path, label="y", scores="s", sample_weight="w", by="y").values()
        ),
        "file by polars": Counts.from_file(path, **NAMES, engine="polars"),
        "relation": Counts.from_frame(duckdb.from_arrow(table), **NAMES),
        "relation in bins": Counts.from_frame(duckdb.from_arrow(table), **NAMES, bins=2**20),
        "lazy": Counts.from_frame(pl.from_arrow(table).lazy(), **NAMES),
    }


@pytest.mark.parametrize(
    "kind", ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
)
def test_whole_weights_count_rows(rows, path, kind):
    rows["w"] = rows["w"].astype(kind)
    wanted = from_arrays(rows)
    for where, counts in everywhere(rows, path).items():
        assert counts._has_integer_counts, where
        assert counts.n == wanted.n, where
        assert counts.effective_sizes == wanted.effective_sizes, where


@pytest.mark.parametrize("kind", ["float32", "float64"])
def test_floats_are_weights_even_if_they_are_whole(rows, path, kind):
    rows["w"] = rows["w"].astype(kind)
    wanted = from_arrays(rows)
    for where, counts in everywhere(rows, path).items():
        assert not counts._has_integer_counts, where
        assert counts.n == wanted.n, where
        assert counts.effective_sizes == pytest.approx(wanted.effective_sizes), where


def test_decimals_are_not_cut_to_whole_numbers(rows, path):
    wanted = from_arrays(rows | {"w": rows["w"] / 4})
    rows["w"] = pa.array(rows["w"] / 4).cast(pa.decimal128(10, 2))
    for where, counts in everywhere(rows, path).items():
        assert counts.n == pytest.approx(wanted.n), where
        assert counts.effective_sizes == pytest.approx(wanted.effective_sizes), where


def test_sums_of_small_integers_do_not_wrap_around(path):
    # Scores so far apart that their bins are not kept in one array.
    score = np.repeat([1e-200, 1e200], 300)
    rows = {"y": np.arange(600) % 2, "s": score, "w": np.full(600, 100, dtype=np.int8)}
    pq.write_table(pa.table(rows), path)
    counts = Counts.from_file(path, **NAMES, bins=2**20)
    assert counts.labeled.tolist() == counts.unlabeled.tolist() == [15_000, 15_000]


@pytest.mark.parametrize("bins", ["auto", 16])
def test_sums_that_no_float_can_hold_are_refused(path, bins):
    most = np.array([2**53, 2**53, 2])
    table = pa.table({"y": [1, 0, 0], "s": [1.0, 2.0, 1.5], "w": most})
    pq.write_table(table, path)
    for count in (
        lambda: Counts.from_file(path, **NAMES, bins=bins),
        lambda: Counts.from_file(path, **NAMES, bins=bins, engine="polars"),
        lambda: Counts.from_frame(duckdb.from_arrow(table), **NAMES, bins=bins),
    ):
        with pytest.raises(InputError, match=r"sum to at most 2\*\*53; got 1.80144e\+16"):
            count()


@pytest.mark.parametrize("kind", ["int64", "uint64"])
def test_one_that_no_float_can_hold_is_not_called_negative(path, kind):
    weight = np.array([2**53 + 1, 1, 2], dtype=kind)
    table = pa.table({"y": [1, 0, 0], "s": [1.0, 2.0, 1.5], "w": weight})
    pq.write_table(table, path)
    with pytest.raises(InputError, match=r"within ±2\*\*53; got 1 beyond in column 'w'"):
        Counts.from_file(path, **NAMES)
    with pytest.raises(InputError, match=r"sum to at most 2\*\*53"):
        Counts.from_frame(duckdb.from_arrow(table), **NAMES)


@pytest.mark.parametrize("kind", ["int64", "uint64"])
@pytest.mark.parametrize("bins", ["auto", 16])
def test_scores_that_no_float_can_hold(path, kind, bins):
    score = np.array([2**53 + 1, 2**53, 0], dtype=kind)
    pq.write_table(pa.table({"y": [1, 0, 0], "s": score}), path)
    with pytest.raises(InputError, match=r"within ±2\*\*53.* got 1 beyond in column 's'"):
        Counts.from_file(path, label="y", score="s", bins=bins)


@pytest.mark.parametrize("engine", ["duckdb", "polars", "dask"])
class TestText:
    """A CSV file does not say whether its numbers are whole; their values do."""

    @pytest.fixture
    def write(self, tmp_path):
        def write(*weights):
            path = tmp_path / "rows.csv"
            lines = (f"{k % 2},{k}.5,{weight}\n" for k, weight in enumerate(weights))
            path.write_text("y,s,w\n" + "".join(lines))
            return path

        return write

    def test_fractions(self, write, engine):
        counts = Counts.from_file(write("0.5", "0.25", "1.5", "2"), **NAMES, engine=engine)
        assert (counts.n_labeled, counts.n_unlabeled) == (2.25, 2.0)
        assert not counts._has_integer_counts

    def test_whole_numbers(self, write, engine):
        counts = Counts.from_file(write("3", "0", "1", "2"), **NAMES, engine=engine)
        assert (counts.n_labeled, counts.n_unlabeled) == (2, 4)
        assert counts._has_integer_counts

    @pytest.mark.parametrize("bins", ["auto", 16])
    def test_too_large_to_count_rows(self, write, engine, bins):
        path = write("1e17", "3e17", "2")
        counts = Counts.from_file(path, **NAMES, engine=engine, bins=bins)
        assert (counts.n_labeled, counts.n_unlabeled) == (3e17, 1e17)
        assert not counts._has_integer_counts
        by = tally(path, label="y", scores="s", sample_weight="w", by="y", engine=engine, bins=bins)
        assert by["1",]["s"].n == 3e17


class TestWeightsThatGoWithTheScore:
    """Rows with low scores were thinned out, and weigh more: their squares belong to them."""

    @pytest.fixture
    def thinned(self, rng):
        positive = rng.random(9000) < 0.3
        score = rng.normal(size=9000) + 1.5 * positive
        labeled = positive & (rng.random(9000) < 0.3)
        chance = np.where(score > 1, 1.0, 0.2)
        kept = rng.random(9000) < chance
        return {"y": labeled[kept].astype(int), "s": score[kept], "w": 1 / chance[kept]}

    @staticmethod
    def errors(counts):
        ev = evaluate(counts, prior=0.2, threshold=1.0)
        names = ("roc_auc", "precision", "recall", "f1", "specificity", "matthews_corrcoef")
        return np.array([ev[name].standard_error for name in names])

    def test_errors_are_those_of_single_rows(self, thinned):
        """Against `compare`, which adds up the influence of every row."""
        scores = {"a": thinned["s"], "b": np.roll(thinned["s"], 1)}
        given = {"prior": 0.2, "threshold": 1.0, "sample_weight": thinned["w"]}
        single = compare(thinned["y"], scores, **given)["a"]
        together = evaluate(thinned["y"], thinned["s"], **given)
        for name in ("roc_auc", "precision", "recall", "f1", "specificity"):
            expected = single[name].standard_error
            assert together[name].standard_error == pytest.approx(expected, rel=0.06), name
        # Kish's number of rows would not do.
        recall = together["recall"].value
        kish = np.sqrt(recall * (1 - recall) / together.counts.effective_sizes[0])
        assert together["recall"].standard_error > 1.2 * kish

    def test_wherever_rows_come_from(self, thinned, path):
        wanted = self.errors(from_arrays(thinned))
        for where, counts in everywhere(thinned, path).items():
            np.testing.assert_allclose(self.errors(counts), wanted, rtol=0.05, err_msg=where)

    def test_whatever_happens_to_counts(self, thinned, tmp_path):
        counts = from_arrays(thinned)
        wanted = self.errors(counts)
        counts.to_parquet(tmp_path / "counts.parquet")
        halves = [
            Counts.from_arrays(*(thinned[k][rows] for k in "ys"), sample_weight=thinned["w"][rows])
            for rows in (slice(0, None, 2), slice(1, None, 2))
        ]
        for what, other in {
            "kept": Counts.from_parquet(tmp_path / "counts.parquet"),
            "added": halves[0] + halves[1],
            "in bins": counts.to_bins(4096),
            "thinned": counts._thinned(3000),
        }.items():
            np.testing.assert_allclose(self.errors(other), wanted, rtol=0.03, err_msg=what)
            assert other.effective_sizes == pytest.approx(counts.effective_sizes), what

    def test_weights_of_any_unit(self, thinned):
        wanted = self.errors(from_arrays(thinned))
        for unit in (1e-3, 1e4):
            found = self.errors(from_arrays(thinned | {"w": unit * thinned["w"]}))
            np.testing.assert_allclose(found, wanted, rtol=1e-9)

    @pytest.mark.parametrize("decimals", [0, 1, 9])
    def test_areas_against_every_pair(self, decimals):
        """DeLong's placements one by one, with squared weights."""

        def variance(values, weight):
            mean = np.average(values, weights=weight)
            rows = weight.sum() ** 2 / np.sum(weight**2)
            squares = np.sum(weight**2 * (values - mean) ** 2) / np.sum(weight**2)
            # One row more, placed anywhere.
            augmented = rows * squares + rows / (rows + 1) * (mean - 0.5) ** 2 + 1 / 12
            return augmented / (rows + 1) / rows

        for seed in range(6):
            rng = np.random.default_rng(seed)
            y = rng.random(300) < 0.2
            s, w = np.round(rng.normal(size=300) + 1.5 * y, decimals), rng.random(300)
            beats = (s[y][:, None] > s[~y]) + 0.5 * (s[y][:, None] == s[~y])
            expected = np.sqrt(
                variance(np.average(beats, axis=1, weights=w[~y]), w[y])
                + variance(np.average(beats, axis=0, weights=w[y]), w[~y])
            )
            given = {"prior": 0.0, "sample_weight": w, "n_resamples": 2, "threshold": 0.5}
            assert evaluate(y, s, **given)["roc_auc"].standard_error == pytest.approx(expected)
            groups = evaluate_by(y, s, np.zeros(300, int), **given)
            assert groups["roc_auc"].standard_error[0] == pytest.approx(expected)

    def test_groups(self, thinned):
        by = np.zeros(thinned["y"].size, int)
        given = {"prior": 0.2, "threshold": 1.0, "sample_weight": thinned["w"]}
        alone = evaluate(thinned["y"], thinned["s"], **given)
        groups = evaluate_by(thinned["y"], thinned["s"], by, **given)
        for name in ("precision", "recall", "f1", "specificity"):
            expected = alone[name].standard_error
            assert groups[name].standard_error[0] == pytest.approx(expected, rel=0.06), name
            assert groups.differences(name).standard_error[0] < 0.02 * expected, name

    @pytest.mark.parametrize("shape", [0.05, 0.2, 0.5])
    def test_very_uneven_weights(self, thinned, tmp_path, shape):
        """Small weights are not lost beside large ones."""
        rng = np.random.default_rng(1)
        rows = thinned | {"w": rng.gamma(shape, 1, thinned["y"].size) + 1e-200}
        counts = from_arrays(rows)
        errors = self.errors(counts)
        assert np.isfinite(errors).all()
        counts.to_parquet(tmp_path / "counts.parquet")
        kept = Counts.from_parquet(tmp_path / "counts.parquet")
        assert kept.n == pytest.approx(counts.n)
        assert kept.effective_sizes == pytest.approx(counts.effective_sizes)
        np.testing.assert_allclose(self.errors(kept), errors, rtol=0.03)
