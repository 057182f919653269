"""Bad input: one clear error each, which names the argument, the value and the way out."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from pueval import (
    AssumptionWarning,
    Counts,
    InputError,
    Mixture,
    compare,
    conversions,
    evaluate,
    evaluate_by,
    metrics,
    priors,
)
from pueval.commands.app import run

Y, SCORE = [1, 0, 0], [3.0, 2.0, 1.0]


def refused(match, function, *args, **given):
    with pytest.raises(InputError, match=match) as caught:
        function(*args, **given)
    assert str(caught.value).endswith((".", "?"))


class TestLabels:
    def test_minus_one(self):
        refused(
            r"label −1 is ambiguous .2 rows with labels -1.: .*unlabeled_label=-1 or "
            r"negative_label=-1",
            Counts.from_arrays,
            [1, -1, -1],
            SCORE,
        )

    def test_others(self):
        refused("1 row with an unrecognized label: 7", Counts.from_arrays, [1, 0, 7], SCORE)
        refused(
            "3 rows with an unrecognized label: 'no', 'yes'.*Set pos_label",
            Counts.from_arrays,
            ["yes", "no", "no"],
            SCORE,
        )
        words = {"pos_label": "yes", "unlabeled_label": "no"}
        refused("3 rows with an unrecognized label", Counts.from_arrays, [1, 0, 0], SCORE, **words)
        many = [str(k) for k in range(9)]
        refused("'0', '1', '2', '3', '4', …", Counts.from_arrays, many, range(9))
        refused("…", Counts.from_arrays, ["x" * 100] * 3, SCORE)

    @pytest.mark.parametrize(
        "y",
        [
            [1, 0, np.nan],
            [1, 0, None],
            pd.array([1, 0, None], dtype="Int64"),
            np.ma.masked_array([1, 0, 0], mask=[0, 0, 1]),
        ],
    )
    def test_missing(self, y):
        refused("1 row with a missing (label|y)", Counts.from_arrays, y, SCORE)

    def test_none_labeled(self):
        refused("no labeled rows", evaluate, [0, 0, 0], SCORE, prior=0.1)

    def test_only_labeled(self):
        refused("no unlabeled rows and no known negatives", evaluate, [1, 1, 1], SCORE, prior=0.1)

    def test_values_that_are_no_values(self):
        refused("must differ", Counts.from_arrays, Y, SCORE, unlabeled_label=1)
        refused("must differ", Counts.from_arrays, Y, SCORE, negative_label=0)
        refused("both None", Counts.from_arrays, Y, SCORE, unlabeled_label=None)
        refused("pos_label must be", Counts.from_arrays, Y, SCORE, pos_label=None)

    @pytest.mark.parametrize("value", [[2, 3], (2, 3), {2, 3}, np.array([2, 3])], ids=repr)
    @pytest.mark.parametrize("name", ["pos_label", "unlabeled_label", "negative_label"])
    def test_several_values(self, name, value):
        refused(f"{name} must be one value; got .*2, 3", evaluate, Y, SCORE, **{name: value})


class TestScores:
    def test_missing(self):
        refused("2 rows with a missing score", Counts.from_arrays, Y, [np.nan, 1.0, np.nan])
        refused("1 row with a missing score", Counts.from_arrays, Y, [1, None, 2])

    @pytest.mark.parametrize("value", [np.inf, -np.inf])
    @pytest.mark.parametrize("y", [[1, 0, 0], [0, 1, 0], [0, 0, 1]])
    def test_infinite(self, value, y):
        refused("1 row with an infinite score", Counts.from_arrays, y, [value, 1.0, 2.0])

    @pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
    def test_in_many_rows(self, bad):
        """Where most rows are unlabeled they are sorted in another way."""
        score = np.arange(100.0)
        score[40] = bad
        refused("1 row with a", Counts.from_arrays, [1] + [0] * 99, score)

    def test_what_is_no_number(self):
        refused("score must hold real numbers; got dtype <U1", Counts.from_arrays, Y, list("abc"))
        refused(
            "numbers only; got text, such as .b.",
            Counts.from_arrays,
            Y,
            np.array([1, "b", 2], object),
        )
        refused("got dtype complex", Counts.from_arrays, Y, [1j, 2j, 3j])
        refused(r"within ±2\*\*53", Counts.from_arrays, Y, [2**60, 2**60 + 1, 5])

    def test_shapes(self):
        refused(
            r"score must have one dimension; got shape \(3, 2\). For the output of predict_proba",
            Counts.from_arrays,
            Y,
            np.zeros((3, 2)),
        )
        refused("y must have one dimension", Counts.from_arrays, 1, SCORE)
        batches = [np.array([1, 0]), np.array([0])]
        refused("y must have one value per row; got parts of", Counts.from_arrays, batches, SCORE)
        refused("score must have one value .* Concatenate", Counts.from_arrays, Y, batches)
        refused("same length; got 3 and 2", Counts.from_arrays, Y, [1.0, 2.0])
        refused(
            "y and sample_weight .* got 3 and 1", Counts.from_arrays, Y, SCORE, sample_weight=[1.0]
        )
        refused("y and score are empty", Counts.from_arrays, [], [])
        refused("score and labeled .* got 2 and 1", Counts.from_table, [1, 2], [1], [1, 2])


class TestWeights:
    def test_bad(self):
        refused(
            r"must not be negative; got 1 below zero \(the lowest is -1\)",
            Counts.from_arrays,
            Y,
            SCORE,
            sample_weight=[1, -1, 1],
        )
        refused(
            "missing or infinite weight", Counts.from_arrays, Y, SCORE, sample_weight=[1, np.nan, 1]
        )
        refused("weight must hold numbers", Counts.from_arrays, Y, SCORE, sample_weight=list("abc"))
        counts = Counts.from_arrays(Y, SCORE)
        refused("Counts already include them", evaluate, counts, SCORE, prior=0.1)


class TestAssumptions:
    counts = Counts.from_table([1, 0], labeled=[4, 6], unlabeled=[20, 80])

    @pytest.mark.parametrize("value", [-0.1, 1.0, 1.2, np.nan, np.inf, "x", None])
    def test_prior(self, value):
        refused(r"prior must be a number in \[0, 1\); got", Mixture, value)

    @pytest.mark.parametrize("value", [0.0, -1, 1.2, np.nan])
    def test_purity(self, value):
        refused(r"purity must be a number in \(0, 1\]; got", Mixture, 0.1, value)

    def test_prior_and_purity(self):
        refused("prior must be below purity; got prior=0.5 and purity=0.5", Mixture, 0.5, 0.5)
        refused("prior must be below purity", evaluate, self.counts, prior=0.8, purity=0.75)

    def test_prevalence(self):
        refused(
            r"prevalence must be in \[0.09091, 1\) with 10 labeled rows of purity 1 among 110; "
            r"got 0.05",
            Mixture.from_prevalence,
            self.counts,
            0.05,
        )
        refused(r"must be in \[0.09091, 1\)", Mixture.from_prevalence, self.counts, 1.0)
        refused(r"prevalence must be a number in \[0, 1\]", Mixture.from_prevalence, self.counts, 2)

    def test_label_frequency(self):
        refused(
            r"label_frequency must be above .*; got 0.05. 10 labeled positives would mean 200",
            Mixture.from_label_frequency,
            self.counts,
            0.05,
        )
        refused(
            r"label_frequency must be a number in \(0, 1\]",
            Mixture.from_label_frequency,
            self.counts,
            0,
        )

    def test_which_one(self):
        refused(
            "at most one of prior, .*; got prior and prevalence",
            evaluate,
            self.counts,
            prior=0.1,
            prevalence=0.2,
        )

    def test_where_all_is_known(self):
        known = Counts.from_arrays(Y, SCORE, unlabeled_label=None, negative_label=0)
        refused("prior has no effect without unlabeled rows", evaluate, known, prior=0.1)
        refused("there are no unlabeled", Mixture.from_prevalence, known, 0.5)
        refused("target='unlabeled' needs", evaluate, known, target="unlabeled")
        assert evaluate(known, prior=0.0)["recall"].value == 1.0

    def test_target(self):
        refused("target must be 'population'.*; got 'all'", evaluate, self.counts, prior=0.1,
                target="all")  # fmt: skip

    def test_threshold_and_score(self):
        refused("threshold must be a number", evaluate, self.counts, prior=0.1, threshold=np.nan)
        refused("score is missing", evaluate, Y, prior=0.1)

    def test_bins(self):
        refused("number of scores must be at least 2", self.counts._thinned, 1)


class TestMeasureNames:
    ev = evaluate(Counts.from_table([2, 1], [4, 6], [20, 80]), prior=0.1)

    def test_unknown(self):
        refused("unknown measure 'acuracy'. Did you mean 'accuracy'.$", lambda: self.ev["acuracy"])
        refused("unknown measure 'xyz'. The measures are roc_auc, ", lambda: self.ev["xyz"])
        for name in ("auc", "roc_auc"):
            refused("^roc_auc is an area under a curve and has no", self.ev.best, name)
        refused("Did you mean 'recall'", lambda: self.ev.at(1)["recal"])
        refused("unknown measure 'f0'", self.ev.best, "f0")
        refused("is an area under a curve", self.ev.best, "roc_auc")

    def test_beta(self):
        refused("beta must be a positive number; got 0", metrics.fbeta_score, Y, Y, beta=0,
                prior=0.1)  # fmt: skip


class TestMetrics:
    def test_predictions(self):
        refused(
            r"y_pred must hold classes; got 3.0 in 2 rows.*pass y_pred = \(score >= threshold\)",
            metrics.f1_score,
            Y,
            SCORE,
            prior=0.1,
        )
        refused("y_pred must hold classes; got nan", metrics.f1_score, Y, [1, np.nan, 0], prior=0.1)
        refused("1 row with a missing prediction", metrics.f1_score, Y, [1, None, 0], prior=0.1)
        refused("got '1' in 3", metrics.f1_score, Y, ["1", "0", "0"], prior=0.1)
        refused("normalize must be", metrics.confusion_matrix, Y, Y, prior=0.1, normalize="rows")

    def test_method(self):
        how = {"prior": 0.1, "method": "both"}
        refused("method must be 'direct' or", metrics.roc_auc_score, Y, SCORE, **how)

    def test_arguments(self):
        with pytest.raises(TypeError, match="needs prior"):
            metrics.f1_score(Y, Y)
        with pytest.raises(TypeError, match="unexpected keyword argument 'priors'"):
            metrics.roc_auc_score(Y, SCORE, prior=0.1, priors=0.2)


class TestConversions:
    def test_bad(self):
        refused("labeled_share must be", conversions.precision, 0.5, prior=0.1, labeled_share=0)
        refused("naive precision must be", conversions.precision, 1, prior=0.1, labeled_share=0.1)
        refused("prior must be", conversions.roc_auc, 0.7, prior=2)


class TestFrames:
    def test_columns(self):
        frame = pd.DataFrame({"label": Y, "model_a": SCORE})
        refused(
            "no score column 'model_b'. Did you mean 'model_a'.*columns are 'label', 'model_a'",
            Counts.from_frame,
            frame,
            label="label",
            score="model_b",
        )
        wide = pd.DataFrame({f"c{k}": Y for k in range(30)})
        refused(r"… \(30 in all\)", Counts.from_frame, wide, label="x", score="y")

    @pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
    def test_missing(self, make):
        refused("1 row with a missing label", Counts.from_frame,
                make({"l": [1, 0, None], "s": SCORE}), label="l", score="s")  # fmt: skip
        refused("1 row with a missing score", Counts.from_frame,
                make({"l": Y, "s": [1.0, None, 2.0]}), label="l", score="s")  # fmt: skip

    def test_what_is_no_frame(self):
        for thing in ([1, 2], {"l": Y, "s": SCORE}):
            refused("frame must be a data frame", Counts.from_frame, thing,
                    label="l", score="s")  # fmt: skip


class TestFiles:
    def refused(self, match, path, **given):
        given = {"label": "label", "score": "score"} | given
        refused(match, Counts.from_file, path, **given)

    def write(self, tmp_path, text):
        path = tmp_path / "scores.csv"
        path.write_text(text)
        return path

    def test_not_there(self, tmp_path):
        self.refused("file not found: '.*nothing.csv'", tmp_path / "nothing.csv")
        self.refused("'https://a.org/b.csv' is not a local file.*polars", "https://a.org/b.csv")
        self.refused("no file matches", f"{tmp_path}/*.csv")
        self.refused("the folder .* has no files that can be read", tmp_path)

    def test_empty(self, tmp_path):
        self.refused("is empty", self.write(tmp_path, ""))
        self.refused("has no rows, only a header", self.write(tmp_path, "label,score\n"))

    def test_malformed(self, tmp_path):
        path = tmp_path / "scores.parquet"
        path.write_bytes(b"not a parquet file at all, but long enough to be read")
        self.refused("could not be read as a table", path)
        ragged = "label,score\n1,0.5\n0,0.4,9,9\n" + "0,0.1\n" * 5
        self.refused("could not be read as a table", self.write(tmp_path, ragged))

    @pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
    def test_utf_16(self, tmp_path, encoding):
        path = tmp_path / "scores.csv"
        path.write_bytes("\ufefflabel,score\n1,0.5\n0,0.4\n".encode(encoding))
        self.refused("scores.csv is encoded as UTF-16. Save it as UTF-8", path)

    def test_columns(self, tmp_path):
        path = self.write(tmp_path, "label,model\n1,0.5\n0,0.4\n")
        self.refused("no score column 'score'.* The columns are 'label', 'model'", path)
        path.write_bytes("label,Fälle\n1,0.5\n0,0.4\n".encode("latin-1"))
        self.refused("no score column 'score'.*not encoded as UTF-8", path)

    def test_values(self, tmp_path):
        path = self.write(tmp_path, "label,score\n1,0.5\n,0.4\n0,0.3\n")
        self.refused("1 row has no label .column 'label'.*unlabeled_label=''", path)
        path = self.write(tmp_path, "label,score\n1,0.5\n0,\n0,NA\n")
        self.refused("2 rows with a missing score .column 'score'", path)
        path = self.write(tmp_path, "label,score\n1,0.5\n0,high\n0,0.1\n")
        self.refused("column 'score' must hold numbers only; got 1 other value 'high'", path)
        path = self.write(tmp_path, "label,score\n1,0.5\n0,inf\n0,0.1\n")
        self.refused("1 row with an infinite score", path)
        path = self.write(tmp_path, "label,score\n1,0.5\n-1,0.2\n-1,0.1\n")
        self.refused("label −1 is ambiguous .2 rows", path)
        path = self.write(tmp_path, "label,score\nyes,0.5\nno,0.2\n")
        self.refused("2 rows with an unrecognized label: 'no', 'yes'", path)
        path = self.write(tmp_path, "label,score,w\n1,0.5,1\n0,0.2,x\n")
        self.refused("weight column 'w' must hold numbers", path, sample_weight="w")

    def test_mixed(self, tmp_path):
        self.write(tmp_path, "label,score\n1,0.5\n0,0.4\n")
        pd.DataFrame({"label": Y, "score": SCORE}).to_parquet(tmp_path / "scores.parquet")
        self.refused("matches CSV and Parquet files. Read them separately", f"{tmp_path}/scores.*")

    def test_without_duckdb(self, tmp_path, monkeypatch):
        from pueval import MissingPackageError

        monkeypatch.setitem(__import__("sys").modules, "duckdb", None)
        path = self.write(tmp_path, "label,score\n1,0.5\n0,0.4\n")
        with pytest.raises(MissingPackageError, match=r'pip install "pueval\[cli\]"'):
            Counts.from_file(path, label="label", score="score")


class TestFound:
    """What a reviewer broke once."""

    def test_text_labels_and_boolean_predictions(self):
        y = np.array([1, 1, 0, 0, 0, 0])
        predicted = np.array([1, 0, 1, 0, 0, 0], dtype=bool)
        plain = metrics.f1_score(y, predicted, prior=0.1)
        text = np.where(y == 1, "pos", "unl")
        assert plain == metrics.f1_score(
            text, predicted, prior=0.1, pos_label="pos", unlabeled_label="unl"
        )
        assert plain == metrics.f1_score(
            y + 1, predicted, prior=0.1, pos_label=2, unlabeled_label=1
        )

    def test_large_counts_do_not_overflow(self):
        counts = Counts.from_table([2, 1], [4 * 10**9, 0], [0, 4 * 10**9])
        assert evaluate(counts, prior=0.0, level=None)["roc_auc"].naive == 1.0
        refused("sum to at most", Counts.from_arrays, Y, SCORE, sample_weight=[2**54, 1, 1])
        huge = np.array([2**63 + 5, 1, 1], dtype=np.uint64)
        refused("sum to at most", Counts.from_arrays, Y, SCORE, sample_weight=huge)

    def test_float32_against_float64(self):
        a = Counts.from_arrays([1], np.array([0.7]))
        b = Counts.from_arrays([0, 0], np.array([0.7, 0.1], dtype="f4"))
        score = np.r_[0.7, np.array([0.7, 0.1], dtype="f4").astype("f8")]
        whole = Counts.from_arrays([1, 0, 0], score)
        assert a + b == whole
        one, other = (evaluate(c, prior=0.0, level=None)["roc_auc"].naive for c in (a + b, whole))
        assert one == other == 1.0
        halves = Counts.from_arrays([1, 0, 0], np.array([0.5, 0.5, 0.25], dtype="f4"))
        assert halves.at(0.5 + 1e-9).labeled[0] == 0
        assert halves.at(1e300).labeled[0] == 0
        assert halves.at(-1e300).unlabeled[0] == 2

    def test_thresholds_seeds_and_levels(self):
        counts = Counts.from_table([2, 1, 0], [5, 3, 2], [2, 10, 40])
        ev = evaluate(counts, prior=0.1, threshold=-np.inf)
        assert ev["recall"].value == 1.0
        refused("threshold must be a number; got 'a'", evaluate, counts, prior=0.1, threshold="a")
        refused("seed must be a whole number", evaluate, counts, prior=0.1, seed=-1)
        refused("n_resamples must be", evaluate, counts, prior=0.1, n_resamples=np.inf)
        refused("level must be a number", evaluate, counts, prior=0.1, level="a")

    def test_five_labels_do_not_make_certain(self):
        score = np.r_[5, 4, 3, 2.5, 2, np.linspace(-2, 6, 100)]
        ev = evaluate([1] * 5 + [0] * 100, score, prior=0.05, threshold=2.0)
        assert ev["recall"].value == 1.0
        assert ev["recall"].low < 0.9

    def test_ratios_without_bound(self):
        counts = Counts.from_table([2, 1, 0], [6, 3, 1], [8, 20, 80])
        ev = evaluate(counts, prior=0.1, threshold=2, level=None)
        bounds = ev.labeling_bias(50)["positive_likelihood_ratio"]
        assert bounds.low < ev["positive_likelihood_ratio"].value < bounds.high == np.inf
        point = ev.tipping_point("positive_likelihood_ratio", 200)
        assert point.labeling_bias > 1
        refused("value must be a number; got nan", ev.tipping_point, "roc_auc", np.nan)
        with pytest.warns(AssumptionWarning, match="no row scores at or above the threshold 9"):
            nothing = evaluate(counts, prior=0.05, threshold=9, level=None)
        with pytest.warns(AssumptionWarning, match="all rows score at or above the threshold -1"):
            evaluate(counts, prior=0.05, threshold=-1, level=None)
        # Of scores in bins only the lower ends are known.
        evaluate(counts.to_bins(2), prior=0.05, threshold=2.9, level=None)
        assert np.isnan(nothing.tipping_point("precision", 0.5).labeling_bias)

    def test_small_things(self):
        counts = Counts.from_arrays([1, 0], [2, 1])
        assert sum([counts, counts]) == counts + counts
        assert repr(Counts.from_table([1, 2], [0, 0], [0, 0])) == "Counts(no rows)"
        refused("score is missing", priors.estimate, [1, 0])
        refused("Counts already include them", priors.estimate, counts, [1, 2])
        fpr, _, thresholds = metrics.roc_curve([1, 0, 1, 0], [2, 2, 1, 1], prior=0.0)
        assert fpr.tolist() == [0, 0.5, 1]
        assert thresholds.tolist() == [np.inf, 2, 1]


class TestFoundInFiles:
    def test_files_with_columns_in_another_order(self, tmp_path):
        rng = np.random.default_rng(0)
        frame = pd.DataFrame({"label": [1, 0] * 10, "a": rng.random(20), "b": rng.random(20)})
        frame[:9].to_csv(tmp_path / "p1.csv", index=False)
        frame[9:][["b", "label", "a"]].to_csv(tmp_path / "p2.csv", index=False)
        ours = Counts.from_file(f"{tmp_path}/p?.csv", label="label", score="a")
        assert ours == Counts.from_arrays(frame["label"], frame["a"])

    def test_whole_weights_in_text(self, tmp_path):
        path = tmp_path / "w.csv"
        path.write_text("label,s,w\n1,0.5,2\n0,0.4,3\n")
        assert Counts.from_file(
            path, label="label", score="s", sample_weight="w"
        )._has_integer_counts
        path.write_text("label,s,w\n1,0.5,2.5\n0,0.4,3\n")
        assert not Counts.from_file(
            path, label="label", score="s", sample_weight="w"
        )._has_integer_counts

    def test_large_integers(self, tmp_path):
        path = tmp_path / "big.parquet"
        pd.DataFrame({"label": [1, 0], "s": [2**60, 2**60 + 1]}).to_parquet(path)
        refused(r"within ±2\*\*53", Counts.from_file, path, label="label", score="s")

    def test_empty_means_unlabeled(self, tmp_path):
        path = tmp_path / "e.csv"
        path.write_text("label,s\n1,0.5\n,0.4\n,0.3\n")
        counts = Counts.from_file(path, label="label", score="s", unlabeled_label="")
        assert (counts.n_labeled, counts.n_unlabeled) == (1, 2)

    def test_columns_of_any_name_and_type(self, tmp_path):
        path = tmp_path / "odd.csv"
        path.write_text("label,s,x,X,x\n1,0.5,1,1,1\n0,0.4,1,1,1\n")
        assert Counts.from_file(path, label="label", score="s").n == 2
        refused("more than one column 'x'", Counts.from_file, path, label="label", score="x")
        flags = tmp_path / "b.parquet"
        pd.DataFrame({"label": [1, 0], "s": [True, False]}).to_parquet(flags)
        assert Counts.from_file(flags, label="label", score="s").score.tolist() == [1, 0]


def test_counts_have_no_labels_any_more():
    counts = Counts.from_arrays([1, 0, 0], [3, 2, 1])
    with pytest.raises(InputError, match="pos_label and unlabeled_label: Counts hold no labels"):
        evaluate(counts, prior=0.1, pos_label=0, unlabeled_label=1)


def test_whole_floats_count_rows():
    """As pandas has them after a join."""
    counts = Counts.from_table([3, 2, 1], [5.0, 1.0, 0.0], [2.0, 10.0, 40.0])
    assert counts._has_integer_counts
    assert counts.n_labeled == 6


@pytest.mark.parametrize("threshold", [float("nan"), "x"])
def test_thresholds_of_rankings_are_numbers(threshold):
    with pytest.raises(InputError, match="threshold must be a number"):
        metrics.pulp_score([1, 0, 0], [3, 2, 1], threshold=threshold)


def test_targets_of_metrics():
    with pytest.raises(InputError, match="target must be"):
        metrics.roc_auc_score([1, 0, 0], [3, 2, 1], prior=0.1, target="all")


def test_the_column_that_differs_in_case():
    frame = pd.DataFrame({"label": [1, 0], "model_b": [1, 2], "model_a": [1, 2]})
    with pytest.raises(InputError, match="Did you mean 'model_a'"):
        Counts.from_frame(frame, label="label", score="Model_A")


class TestNaturalMistakes:
    """What people do, and what they are told."""

    def test_swapped(self, rng):
        label, score = rng.integers(0, 2, 100), rng.normal(size=100)
        refused(
            "100 rows with an unrecognized label.*These look like scores",
            evaluate,
            score,
            label,
            prior=0.1,
        )

    def test_percent_and_words(self):
        refused("If this is a percentage, pass 0.2", evaluate, Y, SCORE, prior=20)
        refused("leave prior out", evaluate, Y, SCORE, prior="estimate")
        refused("prior must be a number", evaluate, Y, SCORE, prior=np.array([0.1, 0.2]))
        ev = evaluate(Y, SCORE, prior=0.0, level=None)
        refused("top is a number of rows; got 0.5.*top=2", ev.threshold_for, top=0.5)
        for name, meant in (("MCC", "matthews_corrcoef"), ("auc", "roc_auc"), ("presicion", "")):
            refused(f"Did you mean '{meant}", ev.__getitem__, name)

    def test_rows_in_another_order(self, rng):
        frame = pd.DataFrame({"y": rng.integers(0, 2, 200), "a": rng.normal(size=200)})
        mixed = frame.sample(frac=1, random_state=0)
        message = "have the same index in different orders.*with .loc.y.index."
        refused(f"y and score {message}", evaluate, frame.y, mixed.a, prior=0.1)
        refused(
            f"y and sample_weight {message}",
            evaluate,
            frame.y,
            frame.a,
            sample_weight=mixed.a,
            prior=0.1,
        )
        refused(f"y and by {message}", evaluate_by, frame.y, frame.a, mixed.y, prior=0.1)
        refused(f"y and propensity {message}", evaluate, frame.y, frame.a, propensity=mixed.a)
        two = {"a": frame.a, "b": mixed.a}
        refused(rf"y and scores\['b'\] {message}", compare, frame.y, two, prior=0.1)
        both = mixed[["a"]].assign(b=1.0)
        refused(f"y and scores {message}", compare, frame.y, both, prior=0.1)
        # Other names of rows, and the same order, are nobody's mistake.
        same = evaluate(mixed.y, mixed.a, prior=0.1, level=None)
        other = evaluate(mixed.y, mixed.a.set_axis(range(1, 201)), prior=0.1, level=None)
        assert same["roc_auc"].value == other["roc_auc"].value
        odd = frame.a.set_axis([*range(199), "x"])
        assert evaluate(frame.y, odd, prior=0.1, level=None).counts == Counts.from_arrays(
            frame.y, frame.a
        )

    def test_scores_the_wrong_way_round(self, rng):
        y = rng.random(500) < 0.3
        with pytest.warns(AssumptionWarning, match="labeled rows score lower.*negate"):
            evaluate(y, rng.normal(size=500) - 2 * y, prior=0.0, level=None)

    @pytest.mark.parametrize(
        ("given", "message"),
        [
            ("0,08", "Use a decimal point: 0.08"),
            ("estimate", "Leave it out to estimate"),
            ("20", "If this is a percentage, pass 0.2"),
        ],
    )
    def test_command_line(self, tmp_path, capsys, given, message):
        path = tmp_path / "a.csv"
        path.write_text("y,s\n1,3\n0,2\n0,1\n")
        assert run(["evaluate", str(path), "--label", "y", "--score", "s", "--prior", given]) == 2
        assert message in capsys.readouterr().err
