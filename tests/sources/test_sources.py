"""The same rows from arrays, frames and files give the same Counts."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pueval import Counts, InputError, tally
from pueval.sources.labels import NO_LABEL, LabelMatch, LabelValues

ROWS = {
    "label": [1, 0, 0, 1, 0, 0, 1, 0],
    "model": [0.9, 0.9, 0.4, 0.4, 0.4, -0.0, 0.0, 0.1],
    "weight": [1, 2, 1, 1, 3, 1, 1, 1],
}
FRAMES = {
    "pandas": pd.DataFrame,
    "pandas-pyarrow": lambda rows: pd.DataFrame(rows).convert_dtypes(dtype_backend="pyarrow"),
    "polars": pl.DataFrame,
    "pyarrow": pa.table,
}


@pytest.fixture(params=FRAMES)
def make(request):
    return FRAMES[request.param]


@pytest.fixture
def reference():
    return Counts.from_arrays(ROWS["label"], ROWS["model"])


class TestFrames:
    def test_same_counts(self, make, reference):
        assert Counts.from_frame(make(ROWS), label="label", score="model") == reference

    def test_weights(self, make):
        ours = Counts.from_frame(make(ROWS), label="label", score="model", sample_weight="weight")
        assert ours == Counts.from_arrays(
            ROWS["label"], ROWS["model"], sample_weight=ROWS["weight"]
        )

    @pytest.mark.parametrize("kind", ["bool", "text", "float"])
    def test_labels(self, make, reference, kind):
        turn = {"bool": bool, "text": {1: "yes", 0: "no"}.get, "float": float}[kind]
        rows = ROWS | {"label": [turn(value) for value in ROWS["label"]]}
        values = {"pos_label": "yes", "unlabeled_label": "no"} if kind == "text" else {}
        ours = Counts.from_frame(make(rows), label="label", score="model", **values)
        assert ours == reference

    def test_known_negatives(self, make):
        rows = ROWS | {"label": [1, 0, 2, 1, 0, 2, 1, 0]}
        counts = Counts.from_frame(make(rows), label="label", score="model", negative_label=2)
        assert (counts.n_labeled, counts.n_unlabeled, counts.n_negative) == (3, 3, 2)


class TestFiles:
    @pytest.mark.parametrize("kind", ["csv", "parquet", "tsv"])
    def test_same_counts(self, tmp_path, reference, kind):
        path = tmp_path / f"scores.{kind}"
        frame = pd.DataFrame(ROWS)
        if kind == "parquet":
            frame.to_parquet(path)
        else:
            frame.to_csv(path, index=False, sep="," if kind == "csv" else "\t")
        assert Counts.from_file(path, label="label", score="model") == reference
        weighted = Counts.from_file(str(path), label="label", score="model", sample_weight="weight")
        assert weighted.n == sum(ROWS["weight"])

    @pytest.mark.parametrize("kind", ["csv", "parquet"])
    @pytest.mark.parametrize(
        ("labels", "values"),
        [
            ([1, 0, 0, 1, 0, 0, 1, 0], {}),
            ([True, False, False, True, False, False, True, False], {}),
            ([1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0], {}),
            (list("yuuyuuyu"), {"pos_label": "y", "unlabeled_label": "u"}),
            ([1, -1, -1, 1, -1, -1, 1, -1], {"unlabeled_label": -1}),
            ([1, 0, 0, 1, 0, 0, 1, 0], {"pos_label": True, "unlabeled_label": False}),
        ],
    )
    def test_labels(self, tmp_path, reference, kind, labels, values):
        path = tmp_path / f"scores.{kind}"
        frame = pd.DataFrame(ROWS | {"label": labels})
        frame.to_parquet(path) if kind == "parquet" else frame.to_csv(path, index=False)
        assert Counts.from_file(path, label="label", score="model", **values) == reference

    def test_globs_are_added_up(self, tmp_path, reference):
        frame = pd.DataFrame(ROWS)
        for k in range(3):
            frame.to_parquet(tmp_path / f"part-{k}.parquet")
        pattern = f"{tmp_path}/part-*.parquet"
        total = Counts.from_file(pattern, label="label", score="model")
        assert total == reference + reference + reference

    def test_float32_stays(self, tmp_path):
        path = tmp_path / "scores.parquet"
        table = pa.table({"label": [1, 0], "model": pa.array([0.1, 0.2], pa.float32())})
        pq.write_table(table, path)
        assert Counts.from_file(path, label="label", score="model").score.dtype == np.float32

    def test_names_are_text(self, tmp_path, reference):
        """Brackets, stars and quotes in names of files and columns are just characters."""
        path = tmp_path / "scores [1]*'x'.csv"
        odd = 'sc"ore; DROP TABLE x; --'
        frame = pd.DataFrame({'la"bel': ROWS["label"], odd: ROWS["model"]})
        frame.to_csv(path, index=False)
        assert Counts.from_file(path, label='la"bel', score=odd) == reference
        value = "it's; --"
        frame['la"bel'] = frame['la"bel'].map({1: value, 0: "u"})
        frame.to_csv(path, index=False)
        ours = Counts.from_file(
            path, label='la"bel', score=odd, pos_label=value, unlabeled_label="u"
        )
        assert ours == reference

    def test_several_scores_in_one_pass(self, tmp_path):
        path = tmp_path / "scores.csv"
        rows = {"label": ROWS["label"], "a": ROWS["model"], "b": ROWS["weight"]}
        pd.DataFrame(rows).to_csv(path, index=False)
        found = tally(path, label="label", scores=["a", "b"])[()]
        assert found["a"] == Counts.from_arrays(rows["label"], rows["a"])
        assert found["b"] == Counts.from_arrays(rows["label"], rows["b"])


class TestArrays:
    def test_threads_change_nothing(self, rng, monkeypatch):
        y, score = rng.random(5000) < 0.3, np.round(rng.normal(size=5000), 2)
        one = Counts.from_arrays(y, score)
        monkeypatch.setattr("pueval.sources.arrays.THREADED_ROWS", 100)
        monkeypatch.setattr("pueval.samples.sample.THREADED_LOOKUP", 10)
        monkeypatch.setattr("os.cpu_count", lambda: 3)
        three = Counts.from_arrays(y, score)
        assert three == one
        for mine, other in zip(
            vars(three._roc_corners()).values(), vars(one._roc_corners()).values(), strict=True
        ):
            np.testing.assert_array_equal(mine, other)

    def test_input_is_left_alone(self, rng):
        y, score = (rng.random(100) < 0.3).astype(int), rng.normal(size=100)
        before = y.copy(), score.copy()
        Counts.from_arrays(y, score)._roc_corners()
        np.testing.assert_array_equal(y, before[0])
        np.testing.assert_array_equal(score, before[1])

    def test_columns_and_series(self):
        frame = pd.DataFrame(ROWS)
        reference = Counts.from_arrays(ROWS["label"], ROWS["model"])
        assert Counts.from_arrays(frame["label"], frame[["model"]]) == reference
        assert Counts.from_arrays(pl.Series(ROWS["label"]), pl.Series(ROWS["model"])) == reference

    def test_zero_weights_are_no_rows(self):
        weighted = Counts.from_arrays([1, 0, 0], [3, 2, 1], sample_weight=[1, 0, 1])
        assert weighted == Counts.from_arrays([1, 0], [3, 1])

    def test_the_table_is_read_only(self):
        counts = Counts.from_arrays([1, 0], [2, 1])
        with pytest.raises(ValueError, match="read-only"):
            counts.score[0] = 7
        with pytest.raises(AttributeError):
            counts._labeled = None

    def test_counts_as_values(self):
        counts = Counts.from_arrays([1, 0], [2, 1])
        assert counts != Counts.from_arrays([1, 0], [2, 3])
        assert counts != "counts"
        with pytest.raises(TypeError):
            counts + 1
        with pytest.raises(TypeError):
            hash(counts)
        assert counts.labeled_share == 0.5

    def test_sums_of_float_weights(self):
        counts = Counts.from_table([2, 1], labeled=[1.5, 2.5], unlabeled=[3, 4])
        assert repr(counts) == (
            "Counts(4 labeled, 7 unlabeled, 0 known negative rows; 2 distinct scores from 1 to 2)"
        )


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint16, np.int32, np.int64])
def test_small_whole_scores_take_four_bytes(dtype):
    """Numbers up to 2**24 are exact as float32."""
    score = np.array([1, 0, 1, 0, 1], dtype=dtype)
    counts = Counts.from_arrays([1, 0, 0, 1, 0], score)
    assert counts._samples[1].chunks[0].values.dtype == np.float32
    assert counts == Counts.from_arrays([1, 0, 0, 1, 0], score.astype(float))


def test_larger_whole_scores_stay_apart():
    """2**24 and 2**24 + 1 are the same float32."""
    score = np.array([2**24 + 1, 2**24, 2**24 + 1, 0])
    counts = Counts.from_arrays([1, 0, 0, 0], score)
    assert counts.score.tolist() == [2**24 + 1, 2**24, 0]
    assert Counts.from_arrays([1, 0], [2**24, -(2**24)]).score.tolist() == [2**24, -(2**24)]


@pytest.mark.parametrize("more", [{"engine": "spark"}, {"address": "tcp://host:1"}])
def test_frames_have_their_own_engine(more):
    with pytest.raises(InputError, match="frames have their own"):
        tally(pl.DataFrame(ROWS), label="label", scores="model", **more)


@pytest.mark.parametrize("make", [pl.DataFrame, pl.LazyFrame, pa.table, pd.DataFrame])
def test_rows_without_a_group_are_one_group(make):
    """NaN is no value, and not equal to itself: it must not make a group of every row."""
    rows = ROWS | {"group": [1.5, 1.5, 0.5, 0.5] + [float("nan")] * 4}
    found = tally(make(rows), label="label", scores="model", by="group")
    assert list(found) == [(0.5,), (1.5,), (None,)]
    assert found[None,]["model"] == Counts.from_arrays(ROWS["label"][4:], ROWS["model"][4:])


@pytest.mark.parametrize("kind", ["Int64", "Float64", "string", "category", "datetime64[ns]"])
def test_missing_groups_of_pandas(kind):
    values = {"string": ["a", "b"], "category": ["a", "b"]}.get(kind, [1, 2])
    group = pd.Series([values[1], None, None, values[0]]).astype(kind)
    frame = pd.DataFrame({"y": [1, 0, 0, 1], "s": [4, 3, 2, 1], "group": group})
    found = tally(frame, label="y", scores="s", by="group")
    assert [one["s"].n for one in found.values()] == [1, 1, 2]
    assert list(found)[2] == (None,)


class TestMissingMeansUnlabeled:
    MARKS = (float("nan"), np.float32("nan"), pd.NA, pd.NaT)

    @pytest.mark.parametrize("mark", MARKS, ids=str)
    @pytest.mark.parametrize(
        "y",
        [
            np.array([1, np.nan, 1, np.nan]),
            np.array([1, None, 1, pd.NA], dtype=object),
            pd.Series([1, None, 1, None], dtype="Int64"),
        ],
        ids=["floats", "objects", "nullable"],
    )
    def test_arrays(self, y, mark):
        counts = Counts.from_arrays(y, [4, 3, 2, 1], unlabeled_label=mark)
        assert counts == Counts.from_arrays([1, 0, 1, 0], [4, 3, 2, 1])

    @pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
    def test_frames(self, make):
        frame = make({"y": [1, None, 2, None], "s": [4.0, 3.0, 2.0, 1.0]})
        given = {"label": "y", "score": "s", "negative_label": 2}
        counts = Counts.from_frame(frame, unlabeled_label=np.nan, **given)
        assert (counts.n_labeled, counts.n_unlabeled, counts.n_negative) == (1, 2, 1)
        with pytest.raises(InputError, match="2 rows with a missing label. If a missing"):
            Counts.from_frame(frame, **given)

    def test_not_where_engines_compare(self, tmp_path):
        frame = pl.LazyFrame({"y": [1, None], "s": [2.0, 1.0]})
        with pytest.raises(InputError, match="only in arrays and in-memory data frames"):
            Counts.from_frame(frame, label="y", score="s", unlabeled_label=np.nan)
        frame.collect().write_parquet(tmp_path / "rows.parquet")
        with pytest.raises(InputError, match="only in arrays and in-memory data frames"):
            Counts.from_file(
                tmp_path / "rows.parquet", label="y", score="s", unlabeled_label=np.nan
            )

    def test_only_one_kind(self):
        with pytest.raises(InputError, match="both unlabeled and negative"):
            Counts.from_arrays([1], [1], unlabeled_label=np.nan, negative_label=pd.NA)
        with pytest.raises(InputError, match="pos_label must be the value"):
            Counts.from_arrays([1], [1], pos_label=np.nan)


class TestLabelMatch:
    """One description of what a label value stands for; SQL and narwhals translate it."""

    @pytest.mark.parametrize("value", [1, 1.0, True, np.bool_(True), "1", "1.0", "true", "TRUE"])
    def test_from_text(self, value):
        match = LabelMatch.from_text(value)
        assert set(match.spellings) == {"1", "1.0", "true", "True", "TRUE"}
        assert match.number == 1
        assert match.value_in("boolean") is True
        assert match.value_in("integer") == 1

    @pytest.mark.parametrize("value", ["yes", "inf", "nan", ""])
    def test_only_text(self, value):
        match = LabelMatch.from_text(value)
        assert match == LabelMatch((value,), None)
        assert match.value_in("float") is None

    def test_fractions_are_no_integers(self):
        match = LabelMatch.from_text("0.5")
        assert match.value_in("float") == 0.5
        assert match.value_in("integer") is None
        assert match.value_in("boolean") is None

    def test_typed(self):
        assert LabelMatch.typed("1") == LabelMatch(("1",), None)
        assert LabelMatch.typed(1) == LabelMatch((), 1.0)

    def test_words_for_missing(self):
        labels = LabelValues("yes", "", "no")
        assert labels.missing_code(from_text=True) == 1
        assert labels.missing_code(from_text=False) == NO_LABEL


def test_frame_and_dict():
    counts = Counts.from_arrays([1, 0, 0], [2, 2, 1])
    columns = ["score", "labeled", "unlabeled", "negative"]
    assert list(counts.frame().columns) == columns
    assert counts.frame()["unlabeled"].tolist() == [1, 1]
    expected = dict(zip(columns, ([2, 1], [1, 0], [1, 1], [0, 0]), strict=True))
    assert counts.to_dict() == {**expected, "bins": None}
    assert counts.to_bins(4).to_dict()["bins"] == 4
    assert len(repr(counts).splitlines()) == 1
