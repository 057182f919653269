"""Bad input: one clear error each, which names the argument, the value and the way out."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from pueval import Counts, InputError, Mixture, conversions, evaluate, metrics

Y, SCORE = [1, 0, 0], [3.0, 2.0, 1.0]


def refused(match, function, *args, **given):
    with pytest.raises(InputError, match=match) as caught:
        function(*args, **given)
    assert str(caught.value).endswith((".", ")."))


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
        refused("1 row with a label that is not .*: 7", Counts.from_arrays, [1, 0, 7], SCORE)
        refused(
            "3 rows with a label .*: 'no', 'yes'.*Say what they mean with pos_label=",
            Counts.from_arrays,
            ["yes", "no", "no"],
            SCORE,
        )
        refused("3 rows with a label", Counts.from_arrays, [1, 0, 0], SCORE, pos_label="yes",
                unlabeled_label="no")  # fmt: skip
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
        refused("neither unlabeled nor known negative", evaluate, [1, 1, 1], SCORE, prior=0.1)

    def test_values_that_are_no_values(self):
        refused("must differ", Counts.from_arrays, Y, SCORE, unlabeled_label=1)
        refused("must differ", Counts.from_arrays, Y, SCORE, negative_label=0)
        refused("both None", Counts.from_arrays, Y, SCORE, unlabeled_label=None)
        refused("pos_label must be", Counts.from_arrays, Y, SCORE, pos_label=None)


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
        refused("numbers only; got objects", Counts.from_arrays, Y, np.array([1, "b", 2], object))
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
        refused("same length; got 3 and 2", Counts.from_arrays, Y, [1.0, 2.0])
        refused("y and weight .* got 3 and 1", Counts.from_arrays, Y, SCORE, weight=[1.0])
        refused("y and score are empty", Counts.from_arrays, [], [])
        refused("score and labeled .* got 2 and 1", Counts.from_table, [1, 2], [1], [1, 2])


class TestWeights:
    def test_bad(self):
        refused(
            r"must not be negative; got 1 below zero \(least -1\)",
            Counts.from_arrays,
            Y,
            SCORE,
            weight=[1, -1, 1],
        )
        refused("missing or infinite weight", Counts.from_arrays, Y, SCORE, weight=[1, np.nan, 1])
        refused("weight must hold numbers", Counts.from_arrays, Y, SCORE, weight=list("abc"))
        counts = Counts.from_arrays(Y, SCORE)
        refused("Counts hold both", evaluate, counts, SCORE, prior=0.1)


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
            r"prevalence 0.05 is impossible for these counts: 10 labeled rows of purity 1 among "
            r"110 make it at least 0.09091",
            Mixture.from_prevalence,
            self.counts,
            0.05,
        )
        refused("must be below", Mixture.from_prevalence, self.counts, 1.0)
        refused(r"prevalence must be a number in \[0, 1\]", Mixture.from_prevalence, self.counts, 2)

    def test_label_frequency(self):
        refused(
            r"label_frequency 0.05 is impossible .* 10 labeled positives would mean 200 positives",
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
        refused("prior was given, but there are no unlabeled", evaluate, known, prior=0.1)
        refused("there are no unlabeled", Mixture.from_prevalence, known, 0.5)
        refused("target='unlabeled' asks", evaluate, known, target="unlabeled")
        assert evaluate(known, prior=0.0)["recall"].value == 1.0

    def test_target(self):
        refused("target must be 'population'.*; got 'all'", evaluate, self.counts, prior=0.1,
                target="all")  # fmt: skip

    def test_threshold_and_score(self):
        refused("threshold must be a number", evaluate, self.counts, prior=0.1, threshold=np.nan)
        refused("score is missing", evaluate, Y, prior=0.1)

    def test_bins(self):
        refused("bins must be at least 2", self.counts.thinned, 1)


class TestMeasureNames:
    ev = evaluate(Counts.from_table([1, 0], [4, 6], [20, 80]), prior=0.1)

    def test_unknown(self):
        refused("no measure 'f1_scor'.*The measures are", lambda: self.ev["f1_scor"])
        refused("Did you mean 'accuracy'", lambda: self.ev["acuracy"])
        refused("Did you mean 'recall'", lambda: self.ev.at(1)["recal"])
        refused("no measure 'f0'", self.ev.best, "f0")
        refused("is an area under a curve", self.ev.best, "roc_auc")

    def test_beta(self):
        refused("beta must be a positive number; got 0", metrics.fbeta_score, Y, Y, beta=0,
                prior=0.1)  # fmt: skip


class TestMetrics:
    def test_predictions(self):
        refused(
            r"y_pred must hold two classes; got 3 .*pass y_pred = \(score >= threshold\)",
            metrics.f1_score,
            Y,
            SCORE,
            prior=0.1,
        )
        refused("y_pred has 1 missing", metrics.f1_score, Y, [1, np.nan, 0], prior=0.1)
        refused("normalize must be", metrics.confusion_matrix, Y, Y, prior=0.1, normalize="rows")

    def test_method(self):
        for function in (metrics.roc_auc_score, metrics.average_precision_score):
            refused("method must be 'direct' or", function, Y, SCORE, prior=0.1, method="both")

    def test_arguments(self):
        with pytest.raises(TypeError, match="missing a required (keyword-only )?argument: 'prior'"):
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
        for thing in ([1, 2], pl.LazyFrame({"l": Y, "s": SCORE})):
            refused("frame must be an in-memory data frame", Counts.from_frame, thing,
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
        self.refused("there is no file '.*nothing.csv'", tmp_path / "nothing.csv")
        self.refused("no file matches", f"{tmp_path}/*.csv")
        self.refused("is a folder. Name its files", tmp_path)

    def test_empty(self, tmp_path):
        self.refused("is empty", self.write(tmp_path, ""))
        self.refused("holds no rows, only a header", self.write(tmp_path, "label,score\n"))

    def test_malformed(self, tmp_path):
        path = tmp_path / "scores.parquet"
        path.write_bytes(b"not a parquet file at all, but long enough to be read")
        self.refused("could not be read as a table", path)
        ragged = "label,score\n1,0.5\n0,0.4,9,9\n" + "0,0.1\n" * 5
        self.refused("could not be read as a table", self.write(tmp_path, ragged))

    def test_columns(self, tmp_path):
        path = self.write(tmp_path, "label,model\n1,0.5\n0,0.4\n")
        self.refused("no score column 'score'.* The columns are 'label', 'model'", path)

    def test_values(self, tmp_path):
        path = self.write(tmp_path, "label,score\n1,0.5\n,0.4\n0,0.3\n")
        self.refused("1 row with a missing label .column 'label'", path)
        path = self.write(tmp_path, "label,score\n1,0.5\n0,\n0,NA\n")
        self.refused("2 rows with a missing score .column 'score'", path)
        path = self.write(tmp_path, "label,score\n1,0.5\n0,high\n0,0.1\n")
        self.refused(
            "column 'score' must hold numbers only; got 1 other values, for example 'high'", path
        )
        path = self.write(tmp_path, "label,score\n1,0.5\n0,inf\n0,0.1\n")
        self.refused("1 row with an infinite score", path)
        path = self.write(tmp_path, "label,score\n1,0.5\n-1,0.2\n-1,0.1\n")
        self.refused("label −1 is ambiguous .2 rows", path)
        path = self.write(tmp_path, "label,score\nyes,0.5\nno,0.2\n")
        self.refused("2 rows with a label .*: 'no', 'yes'", path)
        path = self.write(tmp_path, "label,score,w\n1,0.5,1\n0,0.2,x\n")
        self.refused("weight column 'w' must hold numbers", path, weight="w")

    def test_mixed(self, tmp_path):
        self.write(tmp_path, "label,score\n1,0.5\n0,0.4\n")
        pd.DataFrame({"label": Y, "score": SCORE}).to_parquet(tmp_path / "scores.parquet")
        self.refused("both Parquet and other files", f"{tmp_path}/scores.*")

    def test_without_duckdb(self, tmp_path, monkeypatch):
        from pueval import MissingPackageError

        monkeypatch.setitem(__import__("sys").modules, "duckdb", None)
        path = self.write(tmp_path, "label,score\n1,0.5\n0,0.4\n")
        with pytest.raises(MissingPackageError, match=r'pip install "pueval\[cli\]"'):
            Counts.from_file(path, label="label", score="score")
