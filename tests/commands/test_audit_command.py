"""Audits on the command line: checked rows, and plans of rows to check."""

import json
import shlex

import numpy as np
import pandas as pd
import pytest

from pueval import AssumptionWarning, Counts, audit, compare, evaluate, evaluate_by
from pueval.audit import AuditedRows, Plan
from pueval.audit._drawn_rows import draw_from_file
from pueval.commands.app import run
from pueval.sources.columns import Columns
from pueval.sources.labels import LabelValues

N = 6000


@pytest.fixture
def rows(rng):
    positive = rng.random(N) < 0.2
    score = rng.normal(size=N) + 2 * positive
    labeled = positive & (rng.random(N) < 0.4)
    return pd.DataFrame(
        {
            "id": [f"c{k:05d}" for k in rng.permutation(N)],
            "label": labeled.astype(int),
            "model": score,
            "weight": rng.integers(1, 4, N),
            "class": positive.astype(int),
        }
    )


@pytest.fixture
def scores(rows, tmp_path):
    path = tmp_path / "scores.csv"
    rows.drop(columns="class").to_csv(path, index=False)
    return path


def check(rows, rng, n=150, *, labeled=0, probability=None):
    """Check unlabeled rows, and labeled ones if wanted, each with its probability."""
    unlabeled = np.flatnonzero(rows["label"] == 0)
    if probability is None:
        chosen = rng.choice(unlabeled, n, replace=False)
    else:
        chosen = unlabeled[rng.random(unlabeled.size) < probability[unlabeled]]
    if labeled:
        known = rng.choice(np.flatnonzero(rows["label"] == 1), labeled, replace=False)
        chosen = np.concatenate([chosen, known])
    checked = rows.iloc[chosen][["id"]].assign(truth=rows["class"].iloc[chosen])
    return checked if probability is None else checked.assign(probability=probability[chosen])


FEW = {"n_resamples": 100}


def command(scores, *more):
    return ["evaluate", str(scores), "--label", "label", "--score", "model", "--n-resamples", "100",
            *map(str, more)]  # fmt: skip


def model_of(path, name="model"):
    return json.loads(path.read_text())["models"][name]


def as_arrays(rows, checked):
    """Return what `evaluate` takes: the truth and the probability of every row."""
    both = rows[["id"]].merge(checked, on="id", how="left")
    return both["truth"].to_numpy(), both.get("probability")


@pytest.mark.parametrize(
    ("kind", "design"),
    [("csv", "uniform"), ("parquet", "probability"), ("shuffled", "labeled")],
)
def test_the_same_numbers_as_with_arrays(kind, design, rows, scores, rng, tmp_path, capsys):
    probability = np.clip(0.02 + 0.1 * (rows["model"].to_numpy() > 1), 0, 1)
    checked = {
        "uniform": lambda: check(rows, rng),
        "probability": lambda: check(rows, rng, probability=probability),
        "labeled": lambda: check(rows, rng, labeled=40),
    }[design]()
    file, out = tmp_path / "checked.csv", tmp_path / "out.json"
    saved = checked.sample(frac=1, random_state=0) if kind == "shuffled" else checked
    if kind == "parquet":
        file = tmp_path / "checked.parquet"
        saved.to_parquet(file)
    else:
        saved.to_csv(file, index=False)
    assert run(command(scores, "--audit", file, "--id", "id", "--json", out)) == 0
    truth, q = as_arrays(rows, checked)
    ev = evaluate(rows["label"], rows["model"], audited=truth, audit_probability=q, **FEW)
    content = model_of(out)
    for name in ("roc_auc", "average_precision", "f1"):
        for part in ("value", "low", "high"):
            expected = getattr(ev[name], part)
            assert content["measures"][name][part] == pytest.approx(expected, rel=1e-9)
    assert content["audit"]["n_labeled"] == (40 if design == "labeled" else 0)
    assert content["audit"]["prior"] == pytest.approx(ev.audit.prior._asdict())
    printed = capsys.readouterr().out
    for sentence in ev.audit.sentences():
        assert sentence in printed


def test_weights_labels_and_other_column_names(rows, tmp_path, rng):
    named = rows.assign(label=np.where(rows["label"] == 1, "yes", "")).rename(columns={"id": "n°"})
    scores, file, out = tmp_path / "s.csv", tmp_path / "c.csv", tmp_path / "out.json"
    named.drop(columns="class").to_csv(scores, index=False)
    checked = check(rows, rng).assign(p=0.03)
    checked.rename(columns={"id": "n°", "truth": "fraud"}).to_csv(file, index=False, sep=";")
    assert run(command(scores, "--audit", file, "--id", "n°", "--truth", "fraud", "--probability",
                       "p", "--weight", "weight", "--positive", "yes", "--unlabeled", "",
                       "--labeling", "random", "--json", out)) == 0  # fmt: skip
    truth, _ = as_arrays(rows, checked)
    ev = evaluate(rows["label"], rows["model"], audited=truth, audit_probability=np.full(N, 0.03),
                  sample_weight=rows["weight"], labeling="random", **FEW)  # fmt: skip
    content = model_of(out)
    assert content["audit"]["labeling"] == "random"
    assert content["measures"]["f1"]["value"] == pytest.approx(ev["f1"].value, rel=1e-9)


def test_rows_that_were_not_checked_are_left_out(rows, scores, rng, tmp_path):
    checked = check(rows, rng)
    todo = rows.iloc[:30][["id"]].assign(truth=np.nan)
    todo = todo[~todo["id"].isin(checked["id"])]
    contents = []
    for k, frame in enumerate((checked, pd.concat([checked.astype({"truth": object}), todo]))):
        file, out = tmp_path / f"{k}.csv", tmp_path / f"{k}.json"
        frame.to_csv(file, index=False)
        assert run(command(scores, "--audit", file, "--id", "id", "--json", out)) == 0
        contents.append(model_of(out))
    assert contents[0] == contents[1]


def test_rows_by_number(rows, scores, rng, tmp_path):
    checked = check(rows, rng)
    number = pd.Series(np.arange(1, N + 1), rows["id"])
    by_id, by_number = tmp_path / "id.csv", tmp_path / "row.csv"
    checked.to_csv(by_id, index=False)
    checked.assign(row=number[checked["id"]].to_numpy()).drop(columns="id").to_csv(by_number)
    contents = []
    for options in (["--audit", by_id, "--id", "id"], ["--audit", by_number]):
        out = tmp_path / "out.json"
        assert run(command(scores, *options, "--json", out)) == 0
        contents.append(model_of(out))
    assert contents[0] == contents[1]


def test_rows_of_several_files_have_no_numbers(rows, tmp_path, capsys):
    for k, part in enumerate((rows[:3000], rows[3000:])):
        part.to_csv(tmp_path / f"part{k}.csv", index=False)
    (tmp_path / "checked").mkdir()
    file = tmp_path / "checked" / "c.csv"
    file.write_text("row,truth\n1,0\n")
    assert run(command(tmp_path / "part*.csv", "--audit", file)) == 2
    assert "no fixed order" in capsys.readouterr().err


def test_two_simple_random_audits_are_one(rows, scores, rng, tmp_path):
    """Split unevenly, each with its own probability: the same numbers as together."""
    checked = check(rows, rng, 200)
    n = int((rows["label"] == 0).sum())
    files = [tmp_path / f"{name}.csv" for name in ("all", "first", "second")]
    for file, part in zip(files, (checked, checked[:50], checked[50:]), strict=True):
        part.assign(probability=len(part) / n).to_csv(file, index=False)
    contents = []
    for names in (files[:1], files[1:]):
        options = [option for name in names for option in ("--audit", name)]
        out = tmp_path / "out.json"
        assert run(command(scores, *options, "--id", "id", "--json", out, "--labeling", "any")) == 0
        contents.append(model_of(out))
    for name in ("roc_auc", "f1"):
        first, second = (content["measures"][name] for content in contents)
        assert first["value"] == pytest.approx(second["value"], rel=1e-6)
    priors = [content["audit"]["prior_by_audit_alone"] for content in contents]
    assert priors[0] == pytest.approx(priors[1], rel=1e-9)


def test_a_row_in_two_audits(rows, scores, rng, tmp_path, capsys):
    checked = check(rows, rng)
    names = ("1.csv", "2.csv", "3.csv", "out.json")
    first, second, third, out = (tmp_path / name for name in names)
    checked.to_csv(first, index=False)
    checked[:20].to_csv(second, index=False)
    both = command(scores, "--audit", first, "--audit", second, "--id", "id", "--json", out)
    assert run(both) == 0
    assert model_of(out)["audit"]["n_unlabeled"] == 150
    for path in (second, third):
        checked[:20].assign(truth=lambda c: 1 - c["truth"]).to_csv(path, index=False)
    capsys.readouterr()
    for command_line in (both, [*both, "--audit", str(third)]):
        assert run(command_line) == 2
        assert "the audits disagree on the truth of 20 rows" in capsys.readouterr().err
    checked[:20].assign(probability=0.1).to_csv(second, index=False)
    assert run(both) == 2
    assert f"{first} has no probabilities, but another audit has" in capsys.readouterr().err


def test_an_audit_of_labeled_rows_needs_no_probabilities(rows, scores, rng, tmp_path):
    """Beside a plan of unlabeled rows: labeled and unlabeled rows are estimated apart."""
    first, second, both, out = (tmp_path / f"{name}.csv" for name in ("1", "2", "both", "out"))
    unlabeled = check(rows, rng).assign(probability=0.03)
    chosen = rows[rows["label"] == 1].sample(60, random_state=1)
    labeled = chosen[["id"]].assign(truth=chosen["class"])
    unlabeled.to_csv(first, index=False)
    labeled.to_csv(second, index=False)
    pd.concat([unlabeled, labeled.assign(probability=0.5)]).to_csv(both, index=False)
    found = []
    for files in (["--audit", first, "--audit", second], ["--audit", both]):
        assert run(command(scores, *files, "--id", "id", "--json", out)) == 0
        audit = model_of(out)["audit"]
        assert audit["n_labeled"] == 60
        found.append((audit["purity"]["value"], audit["prior"]["value"]))
    assert found[0] == pytest.approx(found[1])


MISTAKES = {
    "id,truth\nc1,2\nc2,x\n": "(positive), 0 (negative) or nothing (not checked); got '2', ",
    "id,truth\nc00001,1\nc00001,1\n": "1 checked id occurs more than once in",
    "id,truth\nzz,1\nyy,0\n": "2 audited ids are not in column 'id'",
    "id,truth\nc00001,\n": "has no checked row",
    "id,truth\n,1\n": "1 checked rows of",
    "id,truth,probability\nc00001,1,0\n": "at most 1, with a decimal point; got '0' in 1 row",
    "id,truth,probability\nc00001,1,1.5\n": "must be above 0 and at most 1",
    "id,truth,probability\nc00001,1,\n": "at most 1, with a decimal point; got 'nothing' in 1 row",
    "name,truth\nc00001,1\n": "no id column 'id'",
    "id,verdict\nc00001,1\n": "no truth column 'truth'",
    "id,truth\nc00001,1\n": "at least 10 unlabeled rows must be audited",
}


@pytest.mark.parametrize("text", MISTAKES)
def test_mistakes_in_the_audit(text, scores, tmp_path, capsys):
    file = tmp_path / "checked.csv"
    file.write_text(text)
    assert run(command(scores, "--audit", file, "--id", "id")) == 2
    assert MISTAKES[text] in capsys.readouterr().err


def test_ids_that_are_not_unique_in_the_scores(rows, rng, tmp_path, capsys):
    scores, file = tmp_path / "scores.csv", tmp_path / "checked.csv"
    checked = check(rows, rng)
    checked.to_csv(file, index=False)
    # Other rows may share an id.
    others = rows[~rows["id"].isin(checked["id"])][:5]
    pd.concat([rows, others]).to_csv(scores, index=False)
    assert run(command(scores, "--audit", file, "--id", "id")) == 0
    pd.concat([rows, rows[rows["id"].isin(checked["id"][:2])]]).to_csv(scores, index=False)
    assert run(command(scores, "--audit", file, "--id", "id")) == 2
    assert "has repeated ids, such as" in capsys.readouterr().err


def test_options_that_do_not_fit(scores, rows, rng, tmp_path, capsys):
    file = tmp_path / "checked.csv"
    check(rows, rng).to_csv(file, index=False)
    audit = ["--audit", file, "--id", "id"]
    for options, message in (
        (["--id", "id"], "--id needs --audit"),
        (["--labeling", "any"], "--labeling needs --audit"),
        (["--audit", file], "has no column 'row' with the numbers of rows"),
        (
            [*audit, "--prior", "0.1"],
            "--prior cannot be combined with --audit. The audit estimates",
        ),
        ([*audit, "--prevalence", "0.1"], "--prevalence cannot be combined"),
        ([*audit, "--by", "weight", "--shrink"], "--shrink cannot be combined with --audit"),
        (
            [*audit, "--by", "weight", "--group-prior", "each"],
            "--group-prior cannot be combined with --audit",
        ),
        ([*audit, "--engine", "polars"], "--engine cannot be combined with --audit"),
        ([*audit, "--bounds"], "--bounds cannot be combined with --audit"),
        ([*audit, "--labeling-bias", "2"], "--labeling-bias cannot be combined with --audit"),
        (["--audit", file, "--id", "ID"], "no id column 'ID'. Did you mean 'id'?"),
    ):
        assert run(command(scores, *options)) == 2
        assert message in capsys.readouterr().err


def test_a_purity_that_the_audit_determines(scores, rows, rng, tmp_path, capsys):
    file = tmp_path / "checked.csv"
    check(rows, rng, labeled=20).to_csv(file, index=False)
    assert run(command(scores, "--audit", file, "--id", "id", "--purity", "0.9")) == 2
    assert "the audited labeled rows determine the purity" in capsys.readouterr().err


def test_known_negatives_cannot_be_audited(rows, rng, tmp_path, capsys):
    scores, file = tmp_path / "scores.csv", tmp_path / "checked.csv"
    checked = check(rows, rng)
    checked.to_csv(file, index=False)
    negative = rows["id"].isin(checked["id"][:3]).to_numpy()
    rows.assign(label=np.where(negative, 2, rows["label"])).to_csv(scores, index=False)
    assert run(command(scores, "--audit", file, "--id", "id", "--negative", "2")) == 2
    assert "3 checked rows are known negatives" in capsys.readouterr().err


def test_saved_counts_have_no_rows_to_find(scores, rows, rng, tmp_path, capsys):
    counts, file = tmp_path / "counts.parquet", tmp_path / "checked.csv"
    check(rows, rng).to_csv(file, index=False)
    assert run(["count", str(scores), str(counts), "--label", "label", "--score", "model"]) == 0
    assert run(command(counts, "--audit", file, "--id", "id")) == 2
    assert "holds saved counts, not rows" in capsys.readouterr().err


# ---------------------------------------------------------------------- models and groups


@pytest.fixture
def two_models(rows, rng, tmp_path):
    """Return rows with another model, and the file of their scores."""
    both = rows.assign(other=rows["model"] + rng.normal(size=N))
    path = tmp_path / "two.parquet"
    both.drop(columns="class").to_parquet(path)
    return both, path


def test_every_model_has_the_audit(two_models, rng, tmp_path, capsys):
    rows, scores = two_models
    file, out = tmp_path / "checked.csv", tmp_path / "out.json"
    checked = check(rows, rng, labeled=30)
    checked.sample(frac=1, random_state=0).to_csv(file, index=False)
    audit_options = ["--audit", file, "--id", "id"]
    html = tmp_path / "out.html"
    assert run(command(scores, "--score", "other", *audit_options, "--json", out,
                       "--html", html)) == 0  # fmt: skip
    assert "audited unlabeled rows" in capsys.readouterr().out
    truth, _ = as_arrays(rows, checked)
    for name in ("model", "other"):
        ev = evaluate(rows["label"], rows[name], audited=truth, **FEW)
        content = model_of(out, name)
        assert content["audit"]["prior"] == pytest.approx(ev.audit.prior._asdict())
        for part in ("value", "low", "high"):
            expected = getattr(ev["f1"], part)
            assert content["measures"]["f1"][part] == pytest.approx(expected, rel=1e-9)


def compare_command(scores, *more):
    return ["compare", str(scores), "--label", "label", "--score", "model", "--score", "other",
            "--n-resamples", "100", *map(str, more)]  # fmt: skip


@pytest.mark.parametrize("design", ["uniform", "probability", "two audits", "row numbers"])
def test_models_are_compared_with_the_audit(design, two_models, rng, tmp_path, capsys):
    rows, scores = two_models
    probability = np.clip(0.02 + 0.1 * (rows["model"].to_numpy() > 1), 0, 1)
    by_design = design in {"probability", "two audits"}
    checked = check(rows, rng, labeled=20, probability=probability if by_design else None)
    files, out = [tmp_path / "0.csv", tmp_path / "1.csv"], tmp_path / "out.json"
    parts, id_option = [checked], ["--id", "id"]
    if design == "two audits":
        # Halves of a random list: each has half the probability.
        parts = [checked[::2].assign(probability=lambda c: c["probability"] / 2),
                 checked[1::2].assign(probability=lambda c: c["probability"] / 2)]  # fmt: skip
    elif design == "row numbers":
        number = pd.Series(np.arange(1, N + 1), rows["id"])
        parts, id_option = [checked.assign(row=number[checked["id"]].to_numpy())], []
    options = []
    for file, part in zip(files, parts, strict=False):
        part.to_csv(file, index=False)
        options += ["--audit", file]
    assert run(compare_command(scores, *options, *id_option, "--weight", "weight", "--json", out,
                               "--html", tmp_path / "out.html", "--ranking",
                               "--labeling", "score")) == 0  # fmt: skip
    assert "by the audit" in capsys.readouterr().out
    truth, q = as_arrays(rows, checked)
    expected = compare(
        rows["label"],
        rows[["model", "other"]],
        audited=truth,
        audit_probability=q,
        sample_weight=rows["weight"],
        labeling="score",
        **FEW,
    ).to_dict()
    found = json.loads(out.read_text())
    exact = {"rel": 1e-9} if design != "two audits" else {"rel": 0.1}
    for name in ("model", "other"):
        for measure in ("roc_auc", "f1"):
            of_file = found["models"][name]["measures"][measure]["value"]
            of_arrays = expected["models"][name]["measures"][measure]["value"]
            assert of_file == pytest.approx(of_arrays, **exact)
    assert found["models"]["model"]["audit"]["n_labeled"] == 20
    if design != "two audits":
        assert json.loads(json.dumps(expected))["differences"] == found["differences"]


def test_options_of_compare_that_do_not_fit(two_models, rng, tmp_path, capsys):
    rows, scores = two_models
    file = tmp_path / "checked.csv"
    check(rows, rng).to_csv(file, index=False)
    for options, message in (
        (["--id", "id"], "--id needs --audit"),
        (["--audit", file, "--id", "id", "--prior", "0.1"], "--prior cannot be combined"),
        (["--audit", file, "--id", "ID"], "no id column 'ID'. Did you mean 'id'?"),
    ):
        assert run(compare_command(scores, *options)) == 2
        assert message in capsys.readouterr().err
    file.write_text("id,truth\nzz,1\n")
    assert run(compare_command(scores, "--audit", file, "--id", "id")) == 2
    assert "1 audited id is not in column 'id' of" in capsys.readouterr().err


def test_ids_are_found_among_rows_of_several_files(two_models, rng, tmp_path):
    rows, scores = two_models
    (tmp_path / "parts").mkdir()
    for k, part in enumerate((rows[:2500], rows[2500:])):
        part.drop(columns="class").to_parquet(tmp_path / "parts" / f"{k}.parquet")
    file = tmp_path / "checked.csv"
    check(rows, rng).to_csv(file, index=False)
    contents = []
    for path in (scores, tmp_path / "parts"):
        out = tmp_path / "out.json"
        assert run(compare_command(path, "--audit", file, "--id", "id", "--json", out)) == 0
        contents.append(json.loads(out.read_text())["models"])
    for name in ("model", "other"):
        first, second = (content[name]["measures"]["roc_auc"] for content in contents)
        assert first == pytest.approx(second, rel=1e-9)


def test_groups_with_an_audit(rows, scores, rng, tmp_path, capsys):
    file, out = tmp_path / "checked.csv", tmp_path / "out.json"
    checked = check(rows, rng, 200).assign(probability=0.03)
    checked.to_csv(file, index=False)
    assert run(command(scores, "--by", "weight", "--audit", file, "--id", "id", "--labeling",
                       "score", "--json", out)) == 0  # fmt: skip
    truth, q = as_arrays(rows, checked)
    groups = evaluate_by(
        rows["label"], rows["model"], rows["weight"].astype(str), audited=truth,
        audit_probability=q, labeling="score", **FEW,
    )  # fmt: skip
    content = model_of(out)
    assert content["audited"] == groups.n_audited.tolist()
    assert content["groups"] == ["1", "2", "3"]
    assert content["measures"]["f1"]["low"] == pytest.approx(groups["f1"].low)
    assert "audited" in capsys.readouterr().out


# ---------------------------------------------------------------------- plans


def plan_command(scores, out, *more):
    return ["audit", "plan", str(scores), "--label", "label", "--score", "model", "--out",
            str(out), *map(str, more)]  # fmt: skip


@pytest.fixture
def fast_forecast(monkeypatch):
    """Forecast from one simulation of each budget and labeling."""
    curve = Plan.curve
    monkeypatch.setattr(Plan, "curve", lambda plan, budgets: curve(plan, budgets, n_simulations=1))


@pytest.mark.usefixtures("fast_forecast")
def test_plan_check_evaluate(rows, scores, tmp_path, capsys):
    file, out = tmp_path / "to_check.csv", tmp_path / "out.json"
    assert run(plan_command(scores, file, "--id", "id", "--budget", 120, "--for", "recall",
                            "--threshold", 1)) == 0  # fmt: skip
    printed = capsys.readouterr().out
    assert f"{file}: 120 of 5,524 unlabeled rows to check" in printed
    assert "Forecast of Recall if labels are random: ± 0." in printed
    assert "If they may favor low or high scores: ± 0." in " ".join(printed.split())
    to_check = pd.read_csv(file)
    assert list(to_check) == ["id", "score", "probability", "truth"]
    assert len(to_check) == 120
    assert to_check["truth"].isna().all()
    both = to_check.merge(rows, on="id")
    np.testing.assert_array_equal(both["score"], both["model"])
    assert (both["label"] == 0).all()
    made = audit.plan(rows["label"], rows["model"], budget=120, measure="recall", threshold=1)
    np.testing.assert_allclose(both["probability"], made.probability(both["score"]), rtol=1e-9)
    # In random order: the rank correlation of place and score is small.
    assert abs(both["score"].corr(pd.Series(range(120)), method="spearman")) < 0.35
    to_check.assign(truth=both["class"]).to_csv(file, index=False)
    command = shlex.split(printed.splitlines()[-1])[1:]
    assert run([*command, "--json", str(out), "--n-resamples", "100"]) == 0
    truth, q = as_arrays(rows, both.assign(truth=both["class"])[["id", "truth", "probability"]])
    ev = evaluate(
        rows["label"], rows["model"], threshold=1, audited=truth, audit_probability=q, **FEW
    )
    recall = model_of(out)["measures"]["recall"]
    assert recall["value"] == pytest.approx(ev["recall"].value, rel=1e-9)
    assert recall["high"] == pytest.approx(ev["recall"].high, rel=1e-9)


@pytest.mark.usefixtures("fast_forecast")
def test_warnings_of_a_plan_are_shown(rows, scores, tmp_path, capsys):
    file = tmp_path / "to_check.csv"
    assert run(plan_command(scores, file, "--id", "id", "--budget", 50)) == 0
    assert "!" not in capsys.readouterr().out
    # A prior that the ranking does not allow: the rows are written all the same.
    wrong = ["--id", "id", "--budget", 50, "--prior", "0.9", "--overwrite"]
    assert run(plan_command(scores, file, *wrong)) == 3
    printed = capsys.readouterr()
    with pytest.warns(AssumptionWarning) as warned:
        made = audit.plan(rows["label"], rows["model"], budget=50, prior=0.9)
    assert made.warnings
    assert made.to_dict()["warnings"] == list(made.warnings)
    text = " ".join(printed.out.split())
    for warning in warned:
        assert f"! {warning.message}" in text
    assert "exit code 3" in printed.err
    assert len(pd.read_csv(file)) == 50


@pytest.mark.usefixtures("fast_forecast")
def test_a_plan_of_all_rows_forecasts_no_more_of_them(scores, tmp_path, capsys):
    for budget, more in ((5424, True), (5524, False)):
        assert run(plan_command(scores, tmp_path / f"{budget}.csv", "--budget", budget)) == 0
        assert ("with 100 more rows" in " ".join(capsys.readouterr().out.split())) is more


@pytest.mark.usefixtures("fast_forecast")
def test_a_plan_without_ids_has_row_numbers(rows, scores, tmp_path):
    file = tmp_path / "to_check.csv"
    assert run(plan_command(scores, file, "--budget", 50)) == 0
    to_check = pd.read_csv(file)
    np.testing.assert_array_equal(rows["model"].iloc[to_check["row"] - 1], to_check["score"])
    to_check.assign(truth=rows["class"].iloc[to_check["row"] - 1].to_numpy()).to_csv(file)
    assert run(command(scores, "--audit", file)) == 0


@pytest.mark.usefixtures("fast_forecast")
def test_a_plan_depends_on_its_seed_only(scores, tmp_path, capsys):
    files = [tmp_path / f"{k}.csv" for k in range(3)]
    for file, seed in zip(files, (1, 1, 2), strict=True):
        assert run(plan_command(scores, file, "--id", "id", "--seed", seed)) == 0
    assert files[0].read_text() == files[1].read_text() != files[2].read_text()
    assert run(plan_command(scores, files[0], "--id", "id")) == 2
    assert "already exists. Pass --overwrite" in capsys.readouterr().err


@pytest.mark.usefixtures("fast_forecast")
def test_a_second_plan_continues_the_first(rows, scores, tmp_path, capsys):
    classes = rows.set_index("id")["class"]
    first, second, out = (tmp_path / name for name in ("1.csv", "2.csv", "out.json"))
    plan_options = ["--id", "id", "--budget", 400, "--for", "precision", "--threshold", 1]
    assert run(plan_command(scores, first, *plan_options)) == 0
    checked = pd.read_csv(first).assign(truth=lambda c: classes[c["id"]].to_numpy())
    checked.to_csv(first, index=False)
    assert run(plan_command(scores, second, *plan_options, "--after", first)) == 0
    printed = capsys.readouterr().out
    more = pd.read_csv(second)
    again = more["truth"].notna()
    assert (~again).sum() == 400
    assert again.sum() > 20
    assert f"{again.sum()} more rows were checked before" in printed
    assert set(more["id"][again]) <= set(checked["id"])
    assert not set(more["id"][~again]) & set(checked["id"])
    np.testing.assert_array_equal(more["truth"][again], classes[more["id"][again]])
    more.assign(truth=classes[more["id"]].to_numpy()).to_csv(second, index=False)
    assert run([*shlex.split(printed.splitlines()[-1])[1:], "--json", str(out),
                "--n-resamples", "100"]) == 0  # fmt: skip
    content = model_of(out)
    assert content["audit"]["n_unlabeled"] == 800
    truth = rows["class"][rows["model"] >= 1].mean()
    precision = content["measures"]["precision"]
    assert precision["low"] < truth < precision["high"]
    third = tmp_path / "3.csv"
    assert run(plan_command(scores, third, *plan_options, "--after", second, "--prior", "0.1")) == 2
    assert "--after estimates the prior. Leave out --prior." in capsys.readouterr().err
    # What was checked is never lost.
    assert run(plan_command(scores, second, *plan_options, "--after", second, "--overwrite")) == 2
    assert "2.csv is an input file. Choose another name." in capsys.readouterr().err
    assert run(plan_command(scores, first, *plan_options, "--overwrite")) == 2
    assert "contains 400 checked rows. Choose another name to keep" in capsys.readouterr().err
    assert len(pd.read_csv(first)) == 400


@pytest.mark.usefixtures("fast_forecast")
def test_the_next_command_has_the_options_of_the_plan(rows, tmp_path, capsys):
    scores, file = tmp_path / "words.csv", tmp_path / "to_check.csv"
    rows.assign(label=rows["label"].map({1: "yes", 0: "no"})).to_csv(scores, index=False)
    options = ["--positive", "yes", "--unlabeled", "no", "--target", "unlabeled", "--level", "0.9"]
    plan = plan_command(scores, file, "--id", "id", "--budget", 50, *options, "--purity", "0.95")
    assert run(plan) == 0
    printed = capsys.readouterr().out.splitlines()[-1]
    for option in ("--positive yes", "--unlabeled no", "--target unlabeled", "--level 0.9"):
        assert f" {option}" in printed
    assert " --purity 0.95" in printed
    assert "--negative" not in printed
    truth = rows.set_index("id")["class"]
    pd.read_csv(file).assign(truth=lambda c: truth[c["id"]].to_numpy()).to_csv(file, index=False)
    assert run([*shlex.split(printed)[1:], "--n-resamples", "100"]) in (0, 4)


def test_plans_that_tell_nothing(scores, tmp_path, capsys):
    file = tmp_path / "to_check.csv"
    for options in (["--threshold", "99"], ["--threshold", "-99", "--for", "recall"]):
        assert run(plan_command(scores, file, "--id", "id", "--budget", 50, *options)) == 2
        assert "checked rows cannot change" in capsys.readouterr().err
        assert not file.exists()


def test_each_row_is_drawn_with_its_probability(tmp_path):
    """Also rows that were checked before, whatever was drawn then."""
    rng = np.random.default_rng(5)
    n, repeats = 300, 60
    positive = rng.random(n) < 0.3
    frame = pd.DataFrame({
        "id": [f"=r{k}" for k in range(n)],
        "label": (positive & (rng.random(n) < 0.5)).astype(int),
        "model": rng.normal(size=n) + positive,
    })  # fmt: skip
    path = tmp_path / "scores.parquet"
    frame.to_parquet(path)
    counts = Counts.from_arrays(frame["label"], frame["model"])
    made = audit.plan(counts, budget=40, threshold=0.5)
    columns = Columns("label", ("model",), row_id="id")
    unlabeled = frame[frame["label"] == 0].reset_index(drop=True)
    place = pd.Series(unlabeled.index, unlabeled["id"])
    times = np.zeros(len(unlabeled))
    again = 0
    checked, before = set(unlabeled["id"][::3]), unlabeled["model"][::3].to_numpy()
    earlier = AuditedRows(before, before > 9, before > 1, np.ones(before.size))
    continued = audit.plan(counts, budget=40, threshold=0.5, audited=earlier)
    for seed in range(repeats):
        drawn = draw_from_file(made, path, columns, LabelValues(), seed=seed)
        assert len(drawn.ids) == len(set(drawn.ids)) == 40
        times[place[drawn.ids]] += 1
        drawn = draw_from_file(continued, path, columns, LabelValues(), seed=seed, checked=checked)
        assert np.sum(~drawn.checked) == 40
        again += drawn.checked.sum()
    q = made.probability(unlabeled["model"])
    z = (times - repeats * q)[q < 1] / np.sqrt(repeats * q * (1 - q))[q < 1]
    assert np.all(times[q >= 1] == repeats)
    # The sample has a fixed size in each stratum, so frequencies vary a little less.
    assert 0.75 < np.mean(z**2) < 1.2
    q = continued.probability(before)
    assert abs(again - repeats * q.sum()) < 4 * np.sqrt(repeats * np.sum(q * (1 - q)))


@pytest.mark.usefixtures("fast_forecast")
def test_ids_that_spreadsheets_take_for_formulas(rows, tmp_path, capsys):
    scores, file = tmp_path / "scores.csv", tmp_path / "to_check.csv"
    for ids, warned in (("=c", True), ("-", False)):
        rows.assign(id=[f"{ids}{k}" for k in range(N)]).to_csv(scores, index=False)
        assert run(plan_command(scores, file, "--id", "id", "--overwrite")) == 0
        assert ("take for formulas" in capsys.readouterr().err) == warned


def test_plans_that_cannot_be_made(rows, scores, tmp_path, capsys):
    out = tmp_path / "to_check.csv"
    repeated = tmp_path / "repeated.csv"
    rows.assign(id=rows["id"].str[:3]).to_csv(repeated, index=False)
    missing = tmp_path / "missing.csv"
    rows.assign(id=np.where(np.arange(N) == rows["label"].argmin(), "", rows["id"])).to_csv(
        missing, index=False
    )
    for file, options, message in (
        (scores, ["--for", "beauty"], "beauty"),
        (scores, ["--budget", 10**6], "budget must be at most"),
        (scores, ["--id", "nobody"], "no id column 'nobody'"),
        (scores, ["--truth", "t"], "columns of the file given by --after"),
        (repeated, ["--id", "id"], "has repeated ids, such as"),
        (missing, ["--id", "id"], "some rows have no id (column 'id')"),
    ):
        assert run(plan_command(file, out, *options)) == 2
        assert message in capsys.readouterr().err
        assert not out.exists()
    assert run(plan_command(scores, tmp_path / "out.parquet")) == 2
    assert "--out must be a CSV file" in capsys.readouterr().err
    assert run(plan_command(scores, scores, "--overwrite")) == 2
    assert "is an input file" in capsys.readouterr().err
    assert run([*plan_command(scores, out), "--weight", "weight"]) == 2
    assert "See pueval audit plan --help." in capsys.readouterr().err
