"""The reproductions: loader, networks, and numbers that need no experiment."""

import itertools
import re
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import sklearn.datasets
from sklearn.metrics import f1_score, roc_auc_score
from sklearn.svm import LinearSVC

pytest.importorskip("papers", reason="papers/ is in the repository, not in the package")

from papers import data, networks, scores
from papers.claesen2015.__main__ import FIGURE_4
from papers.claesen2015.experiment import _height, normal_ranking
from papers.hajizadeh2014 import classifiers as svms
from papers.hajizadeh2014.experiment import PRIORS, by_prior
from papers.jain2017.__main__ import sign_test
from papers.jain2017.experiment import LABELED, alphamax, auc_pr
from papers.jain2017.figures import recovered
from papers.jain2017.pageblock import auc_pr_as_printed
from papers.jain2017.published import TABLE_1, TABLE_2
from papers.overview.__main__ import DATA
from papers.ramola2019.experiment import UNLABELED
from papers.report import Page, Run, against_paper, number, signed
from papers.tabatabaei2020 import experiment
from papers.tabatabaei2020.experiment import (
    Tables,
    classifiers,
    errors,
    estimated_label_frequency,
    generated,
    inversions,
    see_each,
)
from pueval import Counts, claesen_bounds, evaluate, labeling_moments
from pueval.ranking import lee_liu

ROOT = Path(data.__file__).parent
INDEX = (ROOT.parent / "docs" / "papers" / "index.md").read_text(encoding="utf-8")


def results(paper: str) -> str:
    return (ROOT / paper / "RESULTS.md").read_text(encoding="utf-8")


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("PUEVAL_CACHE", str(tmp_path))
    data.load.cache_clear()
    yield tmp_path
    data.load.cache_clear()


class TestData:
    def test_published_counts(self, data_folder, cache):
        """Rows and positives of table 1 of Jain et al., for the sets that are complete."""
        for name, rows, inputs, positives in (
            ("bank", 45_000, 13, 5188), ("concrete", 1030, 8, 490), ("housing", 506, 13, 209),
            ("landsat", 6435, 36, 1508), ("pima", 768, 8, 268), ("wine", 6497, 11, 4113),
        ):  # fmt: skip
            found = data.load(name)
            assert (*found.X.shape, found.positives) == (rows, inputs, positives)

    def test_a_missing_file(self, tmp_path, cache, monkeypatch):
        monkeypatch.setenv("PUEVAL_DATA", str(tmp_path))
        with pytest.raises(data.DataError, match=r"pima.parquet is missing. Unset PUEVAL_DATA"):
            data.load("pima")
        message = r"activity_s1.parquet is missing. activity_s1 is not on OpenML: add the file"
        with pytest.raises(data.DataError, match=message):
            data.load("activity_s1")

    def test_openml(self, cache, monkeypatch):
        """Rows of other classes go, text becomes columns, and the target becomes two classes."""
        monkeypatch.delenv("PUEVAL_DATA", raising=False)
        frame = pd.DataFrame({"a": [1.0, 2.0, 3.0, 4.0], "b": ["x", "y", "x", "y"]})

        def fetch(*, data_id, as_frame, parser):
            assert data_id == 1476
            return SimpleNamespace(data=frame, target=pd.Series(["1", "5", "3", "1"]))

        monkeypatch.setattr(sklearn.datasets, "fetch_openml", fetch)
        found = data.load("gas")
        assert found.y.tolist() == [True, False, True]
        assert found.X.tolist() == [[1, 1, 0], [2, 0, 1], [4, 0, 1]]
        assert found.source == "OpenML 1476"

    def test_offline(self, cache, monkeypatch):
        monkeypatch.delenv("PUEVAL_DATA", raising=False)

        def fetch(**_):
            raise OSError("no route to host")

        monkeypatch.setattr(sklearn.datasets, "fetch_openml", fetch)
        with pytest.raises(data.DataError, match="no route to host.*Set PUEVAL_DATA to a folder"):
            data.load("pima")
        with pytest.raises(data.DataError, match="activity_s1 is not on OpenML: set PUEVAL_DATA"):
            data.load("activity_s1")

    def test_every_set_of_jain_can_be_fetched(self):
        assert set(LABELED) <= set(data.OPENML)

    def test_sets_without_a_loader_are_named(self):
        missing = ({*LABELED, *UNLABELED, *DATA} - set(data.OPENML)) or {"none"}
        named = re.search(r"Three data sets,\n(.*), have no public loader", INDEX)
        assert set(re.split(", | and ", named[1])) == missing


class TestNetworks:
    def test_they_learn_and_score_out_of_bag(self):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(600, 3))
        y = X[:, 0] * X[:, 1] > 0
        score = networks.out_of_bag_scores(X, y, rng=rng, networks=10).score
        assert roc_auc_score(y, score) > 0.95
        # What cannot be learned is not remembered either: rows are not scored by who saw them.
        noise = rng.random(600) < 0.5
        found = networks.out_of_bag_scores(X, noise, rng=rng, networks=10, patience=200)
        assert abs(roc_auc_score(noise, found.score) - 0.5) < 0.1
        assert 200 < found.epochs < 5000
        assert networks.out_of_bag_scores(X, y, rng=rng, networks=2, epochs=7).epochs == 7

    def test_gradient(self):
        """Each of two networks follows the numerical gradient of its own weighted loss."""
        rng = np.random.default_rng(1)
        X = np.column_stack([rng.normal(size=(40, 2)), np.ones(40)])
        y = (X[:, :1] > 0).astype(float)
        share = rng.dirichlet(np.ones(40), size=2).T
        weights = [rng.normal(size=(3, 2, 4)), rng.normal(size=(2, 4)), rng.normal(size=2)]

        def loss():
            return (share * networks._log_loss(networks._forward(X, weights)[1], y)).sum()

        layer, score = networks._forward(X, weights)
        delta = (networks._sigmoid(score) - y) * share
        before, step = loss(), 1e-6
        ours = networks._gradients(X, layer, delta, weights[1])
        for weight, gradient in zip(weights, ours, strict=True):
            assert weight.shape == gradient.shape
            for place in np.ndindex(weight.shape):
                weight[place] += step
                assert (loss() - before) / step == pytest.approx(gradient[place], abs=1e-5)
                weight[place] -= step

    def test_scores_are_kept(self, data_folder, cache):
        how = {"labeled": 50, "unlabeled": 300, "purity": 0.9, "repetition": 0}
        made = scores.pu_scores("pima", networks=scores.Networks(4, 2), **how)
        again = scores.pu_scores("pima", networks=scores.Networks(4, 2), **how)
        other = scores.pu_scores("pima", networks=scores.Networks(4, 3), **how)
        np.testing.assert_array_equal(made.score, again.score)
        assert not np.array_equal(made.score, other.score)
        assert (made.label.sum(), made.purity) == (50, 0.9)
        assert len(list((cache / "papers").glob("*.npz"))) == 2


class TestJain:
    def test_means_of_the_published_tables(self):
        """The means that the goals are taken from."""
        first, second = (np.array([row[6:] for row in t]).mean(axis=0) for t in (TABLE_1, TABLE_2))
        assert first == pytest.approx([0.182, 0.034, 0.036, 0.043, 0.049], abs=5e-4)
        assert second == pytest.approx([0.579, 0.064, 0.174], abs=5e-4)

    def test_sign_tests_of_the_published_table(self):
        table = pd.DataFrame(TABLE_1)
        assert sign_test(table[8], table[7]).endswith("28 for indirect, 7 ties; P = 6.5e-06")
        # The paper counts 9, 25 and 2 here; its own table says otherwise. P is the same.
        assert sign_test(table[10], table[9]) == (
            "8 wins for direct, 25 for indirect, 3 ties; P = 0.0057"
        )

    def test_recovered_auc(self):
        found = recovered(0.25, 0.75, 0.9, n=5)
        assert found[3, 1] == pytest.approx(0.9)
        assert found[4, 0] == pytest.approx(0.7)  # the naive AUC; the paper says 0.8

    def test_auc_pr_at_another_prevalence(self):
        """Weights are as good as copies."""
        rng = np.random.default_rng(0)
        truth = np.arange(300) < 100
        score = rng.normal(size=300) + truth
        made = scores.Scored(score, truth, truth)
        copies = np.repeat(np.arange(300), np.where(truth, 1, 3))
        copied = scores.Scored(score[copies], truth[copies], truth[copies])
        assert auc_pr(made, 100 / 700) == pytest.approx(auc_pr(copied, 100 / 700), abs=1e-12)

    def test_auc_pr_as_printed(self):
        """One threshold after the other; a point outside the unit square is left out."""
        rng = np.random.default_rng(3)
        score, label = rng.permutation(40.0 + np.arange(40)), np.repeat([1, 0], [12, 28])
        score[label == 1] += 15.5
        points = []
        for cut in np.sort(score)[::-1]:
            gamma, eta = (np.mean(score[label == k] >= cut) for k in (1, 0))
            recall = (0.7 * gamma - 0.1 * eta) / 0.6
            if eta > 0 and 0 <= recall <= 1 and 0 <= 0.3 * recall / eta <= 1:
                points.append((recall, 0.3 * recall / eta))
        points.sort(key=lambda point: point[0])
        area = sum((b[0] - a[0]) * (a[1] + b[1]) / 2 for a, b in itertools.pairwise(points))
        assert 5 < len(points) < 40
        found = auc_pr_as_printed(scores.Scored(score, label, label == 1), 0.3, 0.9)
        assert found == pytest.approx(area, abs=1e-12)

    def test_alphamax(self):
        rng = np.random.default_rng(0)
        score = np.r_[rng.normal(4, 1, 800), rng.normal(0, 1, 200), rng.normal(4, 1, 600),
                      rng.normal(0, 1, 1400)]  # fmt: skip
        found = alphamax(Counts.from_arrays(np.repeat([1, 0], [1000, 2000]), score))
        assert (found.prior, found.purity) == pytest.approx((0.3, 0.8), abs=0.06)
        assert alphamax(Counts.from_arrays([1, 1, 0, 0, 0], np.ones(5))) is None


class TestHajizadeh:
    def test_weights(self):
        """Without weights it is the plain machine; right weights rank better than turned ones."""
        rng = np.random.default_rng(0)
        truth = np.arange(1200) < 400
        X = rng.normal(size=(1200, 5)) + 1.2 * truth[:, None]
        labels = (truth & (rng.random(1200) < 0.5)).astype(int)
        found = svms.weighted_svms(X, labels, X, np.random.default_rng(0))
        assert tuple(found) == svms.WEIGHTINGS
        plain = LinearSVC(C=0.1).fit(X, labels).decision_function(X)
        assert found["cost 1"] == pytest.approx(plain, abs=1e-3)
        auc = {name: roc_auc_score(truth, score) for name, score in found.items()}
        assert min(auc[name] for name in svms.SENSIBLE) > 0.95
        assert auc["turned by 0.8"] < 0.5 < auc["turned by 0.6"]

    def test_rows_of_each_prior(self):
        """Twenty of forty positives are labeled; negatives are kept as the prior asks for."""
        known = (np.arange(1000) < 20).astype(int)
        score = np.random.default_rng(1).normal(size=1000) + (np.arange(1000) < 40)
        found = {row["prior"]: row for row in by_prior(score, known, 40)}
        assert tuple(found) == PRIORS
        for prior, negatives in ((0.05, 380), (0.2, 80), (0.5, 20)):
            n = 40 + negatives
            full = roc_auc_score(np.arange(n) < 40, score[:n])
            seen = roc_auc_score(known[:n], score[:n])
            assert found[prior]["full naive_roc_auc"] == pytest.approx(full, abs=1e-12)
            assert found[prior]["seen naive_roc_auc"] == pytest.approx(seen, abs=1e-12)


def test_label_frequency_from_rows_left_out(monkeypatch):
    """If all rows are equal positives, the share of labels is the label frequency."""
    monkeypatch.setattr(experiment, "rows", lambda *_: (np.ones((60, 2)), np.ones(60, dtype=bool)))
    monkeypatch.setattr(experiment, "see", lambda *_: np.arange(60) < 24)
    found = estimated_label_frequency(np.random.default_rng(0), "iris", 0.4)
    estimate = {row["classifier"]: row["estimate"] for row in found}
    assert estimate["logistic regression"] == pytest.approx(0.4, abs=1e-4)
    assert estimate["forest"] == pytest.approx(0.4, abs=0.05)


@pytest.mark.parametrize(
    ("paper", "parts"),
    {
        "jain2017": ("Table 1", "Table 2", *(f"Figure {k}." for k in range(1, 5))),
        "ramola2019": ("Table 1", "Figure 1.", "Figure 2."),
        "claesen2015": (
            "Table 1", "Table 2", *(f"Figure {k}." for k in range(2, 6)), "Figures 1 and 6 to 8",
        ),
        "tabatabaei2020": (
            "Table 1", "Table 2", "Figure 1*", *(f"Figure {k}." for k in range(2, 6)),
        ),
        "hajizadeh2014": ("Table 1", "Figure 1 is", "Figure 2.", "figure 3"),
    }.items(),
)  # fmt: skip
def test_every_table_and_figure_has_a_result_or_a_reason(paper, parts):
    text = results(paper)
    assert [part for part in parts if part not in text] == []


def test_f1_and_lee_liu_are_those_of_pueval():
    rng = np.random.default_rng(2)
    truth = rng.random(200) < 0.3
    labeled = truth & (rng.random(200) < 0.4)
    predicted = rng.random((5, 200)) < 0.4
    seen = Tables(truth, labeled, predicted)
    rho = labeled.sum() / truth.sum()
    for k in range(5):
        counts = Counts.from_arrays(labeled, predicted[k].astype(float))
        found = labeling_moments(counts, threshold=1.0, label_frequency=rho)["f1"].mean
        assert seen.f1(rho)[k] == pytest.approx(found)
        assert seen.lee_liu()[k] == pytest.approx(lee_liu(counts, threshold=1.0))
        assert seen.true_f1[k] == pytest.approx(f1_score(truth, predicted[k]))


def test_lines_point_to_the_labels():
    rng = np.random.default_rng(4)
    X, truth = generated(rng)
    labeled = see_each(truth, 0.3, rng)
    assert not (labeled & ~truth).any()
    predicted = classifiers("generated", X, labeled, rng, 300)
    assert predicted[:, labeled].mean(axis=1).min() >= 0.5
    # Positive is the side below some of the lines, and the side above others.
    below = predicted[:, np.argmin(X[:, 1])]
    assert 0 < below.mean() < 1


def test_the_published_error_of_lee_liu_on_iris(monkeypatch):
    """0.420, if recall² is divided by the number of rows as in the authors' notebook."""
    X, kind = sklearn.datasets.load_iris(return_X_y=True)
    monkeypatch.setattr(experiment, "load", lambda _: SimpleNamespace(X=X, y=kind == 2))
    rng = np.random.default_rng(5)
    found = pd.DataFrame([errors(rng, "iris", "none", 200) for _ in range(60)]).mean()
    assert found["by_number"] == pytest.approx(0.420, abs=0.02)
    assert found["f1"] == pytest.approx(0.060, abs=0.02)
    assert found["lee_liu"] > 0.5


def test_inversions():
    assert inversions(np.array([1.0, 2.0, 3.0]), np.array([1.0, 3.0, 2.0])) == pytest.approx(
        100 / 3
    )
    assert inversions(np.array([1.0, 2.0, 3.0]), np.array([5.0, 5.0, 5.0])) == 0


@pytest.mark.filterwarnings("ignore::pueval.AssumptionWarning")
def test_figure_4_of_claesen():
    """The printed AUCs are those of clipped upper bounds; the direct ones keep their order."""
    direct = []
    for naive, printed, spread in FIGURE_4.values():
        counts = normal_ranking(naive / 100, spread)
        auc = evaluate(counts, prior=0.1, level=None)["roc_auc"]
        assert 100 * auc.naive == pytest.approx(naive, abs=0.05)
        assert auc.value == pytest.approx((auc.naive - 0.05) / 0.9, abs=1e-12)
        high = claesen_bounds(counts, prior=0.1, band="bootstrap").roc_auc.high
        assert 100 * high == pytest.approx(printed, abs=0.05)
        direct.append(auc.value)
    assert direct[0] < direct[1]
    assert FIGURE_4["model 1"][1] > FIGURE_4["model 2"][1]


def test_height_of_a_curve():
    x, y = np.array([0.0, 0.5, 0.5, 1.0]), np.array([0.0, 0.2, 0.6, 1.0])
    at = np.array([0.25, 0.5, 0.75])
    assert _height(x, y, at, top=True) == pytest.approx([0.1, 0.6, 0.8])
    assert _height(x, y, at, top=False) == pytest.approx([0.1, 0.2, 0.8])


def test_pages(tmp_path, capsys):
    assert [number(v) for v in (0.0344, -0.2, 12, float("nan"), "x", -0.0001)] == [
        ".034", "−.200", "12", "–", "x", ".000",
    ]  # fmt: skip
    assert signed(0.01) == "+.010"
    folder = tmp_path / "jain2017"
    folder.mkdir()
    page = Page(folder, Run(full=False, jobs=1))
    assert Run(full=True, jobs=1, most=7).times(3, 50) == 7
    assert Run(full=False, jobs=1, most=7).times(3, 50) == 3
    page.add(against_paper([("naive", 0.182, 0.180), ("new", None, 0.1)]))
    page.save()
    text = (folder / "RESULTS.md").read_text()
    assert "| naive | .182 | .180 | −.002 |" in text
    assert "| new | – | .100 | – |" in text
    assert "`python -m papers.jain2017`" in text
    assert "| naive |" in capsys.readouterr().out


class TestIndex:
    """The summary of all papers says what their pages say."""

    def test_coverage_of_claesens_bounds(self):
        found = re.search(r"true AUC in (\d+%) \(table 1\) and (\d+%)", results("claesen2015"))
        assert f"in {found[1]} of table 1" in INDEX
        assert f"| {found[1][:-1]} %, {found[2][:-1]} % |" in INDEX
        rows = re.findall(r"^\| (\w+) \| (\d+)% \(\.", results("overview"), re.MULTILINE)
        shares = {name: int(share) for name, share in rows}
        assert set(shares) == set(DATA)
        assert sum(share >= 90 for share in shares.values()) == 14
        line = "in 90% or more on fourteen of 18 data sets, and in 14% to 48% on three"
        assert line in " ".join(INDEX.split())
        assert sorted(shares.values())[:5] == [14, 44, 48, 86, 90]
        [all_data] = re.findall(r"\(random: (\d+%)\)", results("overview"))
        assert f"contain it in {all_data} of 50" in " ".join(INDEX.split())

    def test_labels_that_are_not_random(self):
        text = results("overview")
        assert "- average precision, known: nowhere" in text
        assert "- F1, known: 15 of 18 data sets (high scores labeled 3 times as often)" in text
        assert "on five of 18 data sets, and F1 on 15." in INDEX
        [auc] = re.findall(r"- AUC, known: (.*) \(high scores labeled 3 times as often\)\n", text)
        assert len(auc.split(", ")) == 5
        for way, auc, precision in (("random", ".011", ".019"), ("often", ".099", ".151")):
            line = re.findall(rf"^\| .*{way} \| \.\d+ \| (\.\d+) .*$", text, re.MULTILINE)[-1]
            assert line == auc
            assert auc in INDEX
            assert precision in INDEX

    @pytest.mark.parametrize(
        ("start", "row", "line"),
        [
            ("## Table 1", "naive (PU)", "mean absolute error of the AUC: naive"),
            ("## Table 1", "known prior and purity, indirect (IR)", "known prior and purity"),
            (
                "## Table 1",
                "estimated, indirect: AlphaMax",
                "estimated by AlphaMax, as in the paper¹",
            ),
            ("## Table 1", "estimated, indirect: pueval", "estimated by pueval¹"),
            ("## Table 2", "known prior and purity (IR)", "of the AUC-PR: known prior and purity"),
            ("## Table 2", "estimated: AlphaMax", "estimated by AlphaMax, as in the paper¹"),
            ("## Table 2", "estimated: pueval", "estimated by pueval¹"),
        ],
    )
    def test_errors_of_jain(self, start, row, line):
        text = results("jain2017")
        part = text[text.index(start) :]
        found = re.search(rf"^\| {re.escape(row)} \| (\S+) \| (\S+) \|", part, re.MULTILINE)
        repetitions = re.search(r"(\d+) repetitions \(the paper: 50", text)[1]
        assert f"{line} | {found[1]} | {found[2]} | {repetitions} |" in INDEX

    def test_errors_of_ramola(self):
        text = results("ramola2019")
        rows = re.findall(r"^\| (\w+) \| \.\d+ \| (\.\d+) \| .*\|$", text, re.MULTILINE)
        errors = {name: value for name, value in rows if name in UNLABELED}
        assert len(errors) == 7
        assert max(errors, key=errors.get) == "splice"
        assert f"and {errors['splice']} on splice" in INDEX
        assert sum(float(value) < 0.02 for value in errors.values()) == 3
        mcc = re.search(r"^\| MCC \| .*$", text, re.MULTILINE)[0]
        repetitions = re.search(r"(\d+) repetitions, \d+ networks", text)[1]
        values = re.findall(r"(\.\d+) \(", mcc)
        assert len(values) == 4
        for value in values:
            assert f"| not printed | {value} | {repetitions} |" in INDEX

    def test_rank_correlations_of_pulp(self):
        text = results("hajizadeh2014")
        found = [
            re.search(rf"^\| stratified folds, all, {scenario} \| (.*) \|$", text, re.MULTILINE)[
                1
            ].split(" | ")
            for scenario in ("scenario 1", "scenario 2")
        ]
        assert [row[8] for row in found] == ["1 of 8", "1 of 8"]
        assert f"| {found[0][6]}, {found[1][6]}: highest of eight |" in INDEX
        assert "and with test sets of one size it has none" in text
        index = " ".join(INDEX.split())
        assert "With test sets of one size, the AUC orders them better under every" in index
        leads = re.search(r"\+(\.\d+), \+(\.\d+) with stratified folds", text)
        assert f"({leads[1]} and {leads[2]}; the paper:" in index


def test_the_library_does_not_need_them():
    assert not [name for name in sys.modules if name.startswith("pueval") and "papers" in name]
