"""``--cluster``: the same numbers as ``cluster=`` in Python, and sentences that say what it did."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from pueval import compare, evaluate, evaluate_by, priors
from pueval.commands.app import run
from tests.uncertainty.test_clusters import clustered_rows

ASSUMED = "Clusters are independent, rows of the same cluster need not be: 80 clusters, "


@pytest.fixture(scope="module")
def data():
    y, score, cluster = clustered_rows(0)
    noise = np.random.default_rng(1).normal(size=y.size)
    return pd.DataFrame(
        {
            "label": y.astype(int),
            "a": score,
            "b": score + noise,
            "patient": [f"p{k:02d}" for k in cluster],
            "site": np.array(["east", "west"])[cluster % 2],
            "half": np.arange(y.size) % 2,
            "item": [f"i{k}" for k in np.random.default_rng(2).integers(0, 40, y.size)],
            "row": [f"r{k}" for k in range(y.size)],
        }
    )


@pytest.fixture
def file(data, tmp_path):
    path = tmp_path / "rows.csv"
    data.to_csv(path, index=False)
    return str(path)


def command(name, file, *options, score=("a",), cluster="patient"):
    scores = [word for one in score for word in ("--score", one)]
    return [name, file, "--label", "label", *scores, "--cluster", cluster, *options]


def models(path):
    return json.loads(path.read_text())["models"]


def test_evaluate(data, file, tmp_path, capsys):
    out, page = tmp_path / "out.json", tmp_path / "page.html"
    options = ("--prior", "0.2", "--json", str(out), "--html", str(page))
    assert run(command("evaluate", file, *options)) == 0
    ev = evaluate(data["label"], data["a"], prior=0.2, cluster=data["patient"])
    found = models(out)["a"]
    assert found["clusters"] == ev.clusters.to_dict()
    for measure in ("roc_auc", "average_precision", "f1"):
        assert found["measures"][measure]["low"] == pytest.approx(ev[measure].low, rel=1e-9)
    text = capsys.readouterr().out
    size = f"Effective sample size for the ROC AUC: {ev.clusters.effective_rows:,.0f} "
    size += f"(design effect {ev.clusters.auc_effect:.2g})."
    assert text.count(f"{ASSUMED}{ev.clusters.n_labeled_clusters} with labeled rows.") == 1
    assert text.count(size) == 1
    assert size in page.read_text()


def test_clusters_that_change_nothing(data):
    """The effective sample size is at most the number of rows."""
    patient = np.random.default_rng(1).permutation(data["patient"])
    ev = evaluate(data["label"], data["a"], prior=0.2, cluster=patient)
    without_effect = replace(ev.clusters, auc_effect=0.97, effective_rows=len(data) / 0.97)
    size = f"Effective sample size for the ROC AUC: {len(data):,} (design effect 0.97)."
    assert without_effect.sentence().endswith(size)


def test_several_models(data, file, capsys):
    assert run(command("evaluate", file, "--prior", "0.2", score=("a", "b"))) == 0
    text = capsys.readouterr().out
    effects = [
        evaluate(data["label"], data[name], prior=0.2, cluster=data["patient"]).clusters.auc_effect
        for name in ("a", "b")
    ]
    assert text.count(ASSUMED) == 1
    assert f"(design effect {min(effects):.2g} to {max(effects):.2g})" in text


@pytest.mark.parametrize("by", ["site", "half"])
def test_groups(data, file, tmp_path, capsys, by):
    """Clusters may have rows in several groups."""
    out = tmp_path / "out.json"
    assert run(command("evaluate", file, "--by", by, "--prior", "0.2", "--json", str(out))) == 0
    groups = evaluate_by(
        data["label"], data["a"], data[by], prior=0.2, cluster=data["patient"].to_numpy()
    )
    found = models(out)["a"]
    assert found["measures"]["roc_auc"]["low"] == pytest.approx(groups["roc_auc"].low.tolist())
    text = capsys.readouterr().out
    assert text.count(ASSUMED) == 1
    assert ("macro average" in text) == (by == "site")


def test_compare(data, file, tmp_path, capsys):
    out = tmp_path / "out.json"
    options = ("--prior", "0.2", "--json", str(out))
    assert run(command("compare", file, *options, score=("a", "b"))) == 0
    comparison = compare(
        data["label"], {name: data[name] for name in "ab"}, prior=0.2, cluster=data["patient"]
    )
    difference = json.loads(out.read_text())["differences"][0]
    expected = comparison.differences()[0]
    assert difference["low"] == pytest.approx(expected.low)
    assert capsys.readouterr().out.count(ASSUMED) == 1


def test_prior(data, file, tmp_path, capsys):
    out = tmp_path / "out.json"
    run(command("prior", file, "--method", "tilt", "--json", str(out)))
    expected = priors.estimate(
        data["label"], data["a"], method="tilt", cluster=data["patient"]
    ).prior_interval
    found = models(out)["a"]
    assert found["prior_interval"] == pytest.approx(expected)
    assert found["clusters"]["n_clusters"] == 80
    assert capsys.readouterr().out.count(ASSUMED) == 1


def test_two_way_clusters(data, file, tmp_path, capsys):
    out = tmp_path / "out.json"
    options = ("--cluster", "item", "--prior", "0.2", "--json", str(out))
    assert run(command("evaluate", file, *options, score=("a", "b"))) == 0
    assert capsys.readouterr().out.count("Two-way clusters are independent") == 1
    columns = [data["patient"], data["item"]]
    for name in "ab":
        ev = evaluate(data["label"], data[name], prior=0.2, cluster=columns)
        found = models(out)[name]
        assert found["clusters"] == ev.clusters.to_dict()
        assert found["clusters"]["ways"] == 2
        assert found["measures"]["f1"]["low"] == pytest.approx(ev["f1"].low, rel=1e-9)
    options = ("--cluster", "item", "--method", "tilt", "--json", str(out))
    run(command("prior", file, *options))
    expected = priors.estimate(data["label"], data["a"], method="tilt", cluster=columns)
    assert models(out)["a"]["prior_interval"] == pytest.approx(expected.prior_interval)


def test_the_same_column_twice_is_one_way(file, capsys):
    assert run(command("evaluate", file, "--cluster", "patient", "--prior", "0.2")) == 0
    assert ASSUMED in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("evaluate", ("--by", "site"), "--by takes one --cluster column"),
        ("compare", (), "pueval compare takes one --cluster column"),
        ("evaluate", ("--bins", "64"), "--bins cannot be combined with two --cluster columns"),
        ("evaluate", ("--engine", "polars"), "--engine cannot be combined with two --cluster"),
        ("evaluate", ("--cluster", "row"), "got 3 --cluster columns"),
        ("evaluate", ("--over", "row"), "--cluster cannot be combined with --over"),
    ],
)
def test_where_two_way_clusters_are_refused(file, capsys, name, options, message):
    options = ("--cluster", "item", "--prior", "0.2", *options)
    assert run(command(name, file, *options, score=("a", "b"))) == 2
    assert message in capsys.readouterr().err


def test_a_missing_second_column(file, capsys):
    assert run(command("evaluate", file, "--cluster", "itemm", "--prior", "0.2")) == 2
    assert "no cluster column 'itemm'. Did you mean 'item'?" in capsys.readouterr().err


def test_every_row_is_a_cluster(file, capsys):
    assert run(command("evaluate", file, "--prior", "0.2", cluster="row")) == 0
    assert "--cluster row changes nothing" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--bounds",), "but --cluster was given. Leave it out"),
        (("--audit", "checked.csv", "--id", "row"), "--cluster cannot be combined with --audit"),
        (("--over", "row"), "--cluster cannot be combined with --over"),
        (("--by", "site", "--shrink"), "--cluster"),
    ],
)
def test_what_is_refused(file, capsys, options, message):
    given = () if "--audit" in options else ("--prior", "0.2")
    assert run(command("evaluate", file, *given, *options)) == 2
    assert message in capsys.readouterr().err


def test_saved_counts_have_no_clusters(file, tmp_path, capsys):
    saved = str(tmp_path / "counts.parquet")
    assert not run(["count", file, saved, "--label", "label", "--score", "a"])
    assert run(["evaluate", saved, "--cluster", "patient"]) == 2
    assert "have no columns. Leave out --cluster." in capsys.readouterr().err
