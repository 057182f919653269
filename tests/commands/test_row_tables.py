"""``--value`` and ``--query``: tables that need all rows, on the command line."""

from __future__ import annotations

import io
import json
import sys

import numpy as np
import pandas as pd
import pytest

from pueval import Counts, top_by_query, value_recovered
from pueval.commands.app import run

COLUMNS = ["--label", "label", "--score", "a"]
BRIEF = ["--n-resamples", "20"]


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    positive = rng.random(2000) < 0.3
    score = rng.normal(size=2000) + 2 * positive
    return pd.DataFrame(
        {
            "label": (positive & (rng.random(2000) < 0.4)).astype(int),
            "a": score,
            "b": score + rng.normal(size=2000),
            "amount": np.round(np.exp(rng.normal(size=2000)), 2),
            "user": [f"u{k}" for k in rng.integers(0, 100, 2000)],
            "number": rng.integers(0, 12, 2000),
            "w": rng.integers(1, 4, 2000),
            "e": np.where(score > 1, 0.5, 0.3),
        }
    )


@pytest.fixture(params=["scores.csv", "scores.parquet"])
def file(data, tmp_path, request):
    path = tmp_path / request.param
    if path.suffix == ".csv":
        data.to_csv(path, index=False)
    else:
        data.to_parquet(path)
    return str(path)


def plain(result):
    """Return a result as it is after writing and reading JSON."""
    return json.loads(json.dumps(result.to_dict()))


def same(found, expected):
    """Whether plain data are equal, and numbers up to rounding."""
    if isinstance(expected, dict):
        return found.keys() == expected.keys() and all(
            same(found[k], v) for k, v in expected.items()
        )
    if isinstance(expected, list):
        return len(found) == len(expected) and all(map(same, found, expected))
    if isinstance(expected, float):
        return found == pytest.approx(expected, rel=1e-9)
    return found == expected


@pytest.mark.parametrize(
    ("options", "shares"),
    [
        (["--label-frequency", "0.42"], {"label_frequency": 0.42}),
        (
            ["--label-frequency", "0.42", "--purity", "0.97", "--weight", "w"],
            {"label_frequency": 0.42, "purity": 0.97, "sample_weight": "w"},
        ),
        (["--propensity", "e"], {"propensity": "e"}),
    ],
)
def test_tables_are_those_of_python(data, file, tmp_path, capsys, options, shares):
    out = tmp_path / "out.json"
    typed = ["--score", "b", "--value", "amount", "--cost", "0.5", "--query", "user", "--top", "5"]
    typed += [*options, "--threshold", "1.5", "--json", str(out), *BRIEF]
    assert run(["evaluate", file, *COLUMNS, *typed]) == 0
    printed = capsys.readouterr().out
    shares = {name: data[v] if isinstance(v, str) else v for name, v in shares.items()}
    written = json.loads(out.read_text())["models"]
    for model in "ab":
        values = value_recovered(
            data["label"], data[model], data["amount"], threshold=1.5, cost=0.5, **shares
        )
        top = top_by_query(data["label"], data[model], data["user"], k=5, **shares)
        assert same(written[model]["value"], plain(values))
        assert same(written[model]["by_query"], plain(top))
        for estimate in (values.recovered, values.net, top.macro["dcg"], top.pooled_recall):
            assert str(estimate) in printed
    assert "Net value (cost 0.5 per row)" in printed
    assert "confidence intervals over other choices of labels among the same rows" in printed
    assert "The first 5 rows of 100 queries, mean over queries" in printed


@pytest.mark.parametrize("target", ["population", "unlabeled"])
@pytest.mark.parametrize("known", ["prior", "prevalence"])
def test_prior_and_prevalence(data, file, tmp_path, known, target):
    """The prevalence is that of the target, as everywhere on the command line."""
    out = tmp_path / "out.json"
    typed = [f"--{known}", "0.2" if known == "prior" else "0.3", "--target", target]
    typed += ["--value", "amount", "--no-intervals", "--json", str(out)]
    assert run(["evaluate", file, *COLUMNS, *typed]) == 0
    written = json.loads(out.read_text())["models"]["a"]
    given = {known: 0.2 if known == "prior" else 0.3}
    if (known, target) == ("prevalence", "unlabeled"):
        given = {"prior": 0.3}
    values = value_recovered(
        data["label"],
        data["a"],
        data["amount"],
        threshold=written["threshold"],
        target=target,
        level=None,
        **given,
    )
    assert same(written["value"], plain(values))
    assert "by_query" not in written


def test_numbers_as_queries_standard_input_and_clusters(data, monkeypatch, capsys):
    table = io.TextIOWrapper(io.BytesIO(data.to_csv(index=False).encode()))
    monkeypatch.setattr(sys, "stdin", table)
    options = ["--query", "number", "--top", "3", "--label-frequency", "0.42"]
    assert run(["evaluate", "-", *COLUMNS, *options, "--cluster", "number", *BRIEF]) == 0
    printed = capsys.readouterr().out
    top = top_by_query(data["label"], data["a"], data["number"], k=3, label_frequency=0.42)
    assert str(top.macro["precision"]) in printed
    assert "The first 3 rows of 12 queries" in printed


def test_quiet(file, capsys):
    options = ["--value", "amount", "--label-frequency", "0.42", "--quiet", *BRIEF]
    assert run(["evaluate", file, *COLUMNS, *options]) == 0
    assert capsys.readouterr().out == ""


VALUE, QUERY = ["--value", "amount"], ["--query", "user", "--top", "3"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--cost", "2"], "--cost needs --value"),
        (["--top", "2"], "--top needs --query"),
        (["--query", "user", "--label-frequency", "0.4"], "--query needs --top"),
        (
            ["--query", "user", "--top", "0", "--label-frequency", "0.4"],
            "--top must be a whole number",
        ),
        (
            [*QUERY, "--label-frequency", "0.4", "--target", "unlabeled"],
            "--query cannot be combined with --target unlabeled",
        ),
        (VALUE, "--value needs --prior, --prevalence, --label-frequency or --propensity"),
        ([*QUERY, "--prior", "0.2"], "--query needs --label-frequency or --propensity"),
        ([*VALUE, "--prior", "0.1,0.2"], "--value needs one number for --prior, neither"),
        (
            [*VALUE, "--prior", "0.2", "--purity", "estimate"],
            "--value needs one number for --purity, neither",
        ),
        ([*VALUE, "--label-errors", "0.1,0.1"], "--value cannot be combined with --label-errors"),
        ([*VALUE, "--propensity", "e", "--prior", "0.2"], "takes --propensity or --prior"),
        ([*VALUE, "--propensity", "e", "--purity", "0.9"], "propensities need clean labels"),
        (["--value", "amont", "--prior", "0.2"], "no value column 'amont'. Did you mean 'amount'"),
        (["--value", "user", "--prior", "0.2"], "'user'"),
        (["--value", "a", "--prior", "0.2"], "value must be a number of at least 0"),
        (
            ["--query", "usr", "--top", "3", "--label-frequency", "0.4"],
            "no query column 'usr'. Did you mean 'user'",
        ),
        ([*VALUE, "--prior", "0.2", "--by", "user"], "--value cannot be combined with --by"),
        ([*VALUE, "--prior", "0.2", "--over", "number"], "cannot be combined with --over"),
        ([*VALUE, "--audit", "x.csv"], "--value cannot be combined with --audit"),
        ([*VALUE, "--prior", "0.2", "--engine", "polars"], "--engine cannot be combined"),
        ([*QUERY, "--label-frequency", "0.4", "--bins", "16"], "--bins cannot be combined"),
        ([*VALUE, "--prior", "0.2", "--cluster", "user"], "independent of each other"),
        (
            [*QUERY, "--label-frequency", "0.4", "--cluster", "number"],
            "treat the lists as independent",
        ),
    ],
)
def test_refused(file, capsys, options, message):
    assert run(["evaluate", file, *COLUMNS, *options]) == 2
    assert message in capsys.readouterr().err


def test_saved_counts_have_no_rows(data, tmp_path, capsys):
    path = str(tmp_path / "counts.parquet")
    Counts.from_arrays(data["label"], data["a"]).to_parquet(path)
    options = ["--value", "amount", "--prior", "0.2"]
    for columns in ([], COLUMNS):
        assert run(["evaluate", path, *columns, *options]) == 2
        assert "holds saved counts, not rows" in capsys.readouterr().err
