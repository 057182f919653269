"""What is said about columns of ids that repeat, in doctor and below an evaluation."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from pueval import doctor, evaluate
from pueval.commands.app import run
from pueval.diagnosis import repeated_ids
from pueval.diagnosis.column_roles import named_like_ids
from pueval.diagnosis.repeated_ids import error_factor, find_repeated_ids
from pueval.sources.columns import Columns
from pueval.sources.labels import LabelValues
from tests.uncertainty.test_clusters import clustered_rows

COLUMNS = Columns("label", ("model",))


@pytest.fixture(scope="module")
def data():
    y, score, cluster = clustered_rows(0, 120, 10, 0.7, constant=True)
    return pd.DataFrame(
        {
            "label": y.astype(int),
            "model": score,
            "patient": [f"p{k}" for k in cluster],
            "row_id": np.arange(y.size),
        }
    )


@pytest.fixture
def save(tmp_path):
    def write(frame, name="rows.csv"):
        path = str(tmp_path / name)
        frame.to_parquet(path) if name.endswith("parquet") else frame.to_csv(path, index=False)
        return path

    return write


def test_doctor_says_what_clusters_change(data, save):
    found = doctor(save(data))
    [problem] = (text for text in found.problems if "'patient' repeats" in text)
    effect = evaluate(data["label"], data["model"], prior=0.2, cluster=data["patient"]).clusters
    factor = np.sqrt(effect.auc_effect)
    assert factor > 1.5
    assert f"the AUC of model would be about {factor:.1f} times as large" in problem
    assert "pass --cluster patient" in problem
    assert found.command.endswith("--cluster patient")


def test_doctor_does_not_mention_clusters_that_change_nothing(data, save, rng):
    found = doctor(save(data.assign(patient=rng.permutation(data["patient"]))))
    assert {column.name: column.role for column in found.columns}["patient"] == "clusters"
    assert not any("patient" in text for text in found.problems)
    assert "--cluster" not in found.command


def test_doctor_does_not_count_clusters_with_missing_names(data, save):
    gaps = data.assign(patient=data["patient"].mask(data["patient"] == "p3"))
    found = doctor(save(gaps))
    missing = int(gaps["patient"].isna().sum())
    assert any(f"drop or fill its {missing} missing values" in text for text in found.problems)
    assert "--cluster" not in found.command


def test_no_factor_for_too_few_clusters(data, save):
    labels = LabelValues("1", "0")
    few = data.assign(patient=np.where(data["label"] == 1, "same", data["patient"]))
    assert error_factor(save(few), replace(COLUMNS, cluster="patient"), labels) is None
    assert error_factor(save(data), replace(COLUMNS, cluster="row_id"), labels) is None


@pytest.mark.parametrize("name", ["rows.csv", "rows.parquet"])
def test_evaluate_names_the_column(data, save, capsys, name):
    path = save(data, name)
    command = ["evaluate", path, "--label", "label", "--score", "model", "--prior", "0.2"]
    assert run(command) == 0
    text = capsys.readouterr().out
    assert text.count("Column 'patient' repeats: 120 values in the ") == 1
    assert text.count("repeats") == text.count("pass --cluster patient") == 1
    for more in (["--cluster", "patient"], ["--quiet"], ["--by", "patient"]):
        run([*command, *more])
        assert "repeats" not in capsys.readouterr().out


def test_windows_of_time_cannot_be_combined_with_clusters(data, save, capsys):
    path = save(data.assign(day=np.arange(len(data)) % 3))
    command = ["evaluate", path, "--label", "label", "--score", "model", "--prior", "0.2"]
    command += ["--over", "day", "--every", "1"]
    run(command)
    [line] = [line for line in capsys.readouterr().out.splitlines() if "repeats" in line]
    assert line.endswith(
        "pass --cluster patient and --by with a column of months, instead of --over: the standard "
        f"error of the AUC of model would be about {clustered_factor(data):.1f} times as large."
    )
    run([*command, "--quiet"])
    assert "repeats" not in capsys.readouterr().out


def clustered_factor(data, score="model", **columns):
    """Return the ratio of standard errors with and without clusters, by `evaluate`."""
    weights = {name: data[column] for name, column in columns.items()}
    effect = evaluate(data["label"], data[score], prior=0.2, cluster=data["patient"], **weights)
    return np.sqrt(effect.clusters.auc_effect)


def test_what_clusters_change_is_said_as_in_doctor(data, save, capsys):
    path = save(data)
    assert run(["evaluate", path, "--label", "label", "--score", "model", "--prior", "0.2"]) == 0
    [line] = [line for line in capsys.readouterr().out.splitlines() if "repeats" in line]
    [problem] = [text for text in doctor(path).problems if "'patient' repeats" in text]
    assert line.partition(". ")[2] == problem.partition(". ")[2]
    assert line.endswith(
        "pass --cluster patient: the standard error of the AUC of model would be about "
        f"{clustered_factor(data):.1f} times as large."
    )


def test_label_values_weights_and_the_first_score(data, save, capsys):
    rng = np.random.default_rng(1)
    words = data.assign(
        label=np.where(data["label"] == 1, "yes", "no"),
        noise=rng.normal(size=len(data)),
        weight=np.exp(rng.normal(size=len(data))),
    )
    command = ["evaluate", save(words), "--label", "label", "--weight", "weight"]
    command += ["--positive", "yes", "--unlabeled", "no", "--prior", "0.2"]
    assert run([*command, "--score", "model", "--score", "noise"]) == 0
    weighted = clustered_factor(words.assign(label=data["label"]), sample_weight="weight")
    assert round(weighted, 1) != round(clustered_factor(data), 1)
    assert f"the AUC of model would be about {weighted:.1f} times" in capsys.readouterr().out


@pytest.mark.parametrize("by", [False, True])
def test_ids_that_repeat_by_chance_are_not_mentioned(data, save, capsys, rng, by):
    rows = data.assign(patient=rng.permutation(data["patient"]), group=np.arange(len(data)) % 2)
    assert clustered_factor(rows) < 1.1
    command = ["evaluate", save(rows), "--label", "label", "--score", "model", "--prior", "0.2"]
    assert run([*command, *(["--by", "group"] if by else [])]) == 0
    assert "repeats" not in capsys.readouterr().out
    # A column that says nothing does not hide another one.
    rows = rows.assign(card=data["patient"].str[1:].astype(int) // 2, patient_id=rows["patient"])
    hint = find_repeated_ids(save(rows), COLUMNS, labels=LabelValues())
    assert hint.startswith("Column 'card' repeats: 60 values")
    rows = rows.assign(card=rng.permutation(rows["card"]), patient=data["patient"])
    hint = find_repeated_ids(save(rows), COLUMNS, labels=LabelValues())
    assert hint.startswith("Column 'patient' repeats: 120 values")


def test_large_files_are_not_read_again(data, save, monkeypatch):
    path = save(data, "rows.parquet")
    monkeypatch.setattr(repeated_ids, "MOST_REREAD_ROWS", len(data))
    assert "times as large" in find_repeated_ids(path, COLUMNS, labels=LabelValues())
    monkeypatch.setattr(repeated_ids, "MOST_REREAD_ROWS", len(data) - 1)
    monkeypatch.setattr(repeated_ids, "error_factor", None)  # calling it would fail
    hint = find_repeated_ids(path, COLUMNS, labels=LabelValues())
    assert hint.endswith("the intervals above treat rows as independent.")


def test_all_files_of_a_folder_count_as_rows(data, tmp_path, monkeypatch):
    for k in range(2):
        data.iloc[k::2].to_csv(tmp_path / f"{k}.csv", index=False)
    monkeypatch.setattr(repeated_ids, "MOST_REREAD_ROWS", len(data) // 2)
    hint = find_repeated_ids(tmp_path, COLUMNS, labels=LabelValues())
    assert hint.endswith("treat rows as independent.")
    monkeypatch.setattr(repeated_ids, "MOST_REREAD_ROWS", len(data))
    hint = find_repeated_ids(tmp_path, COLUMNS, labels=LabelValues())
    assert f"about {clustered_factor(data):.1f} times" in hint


def test_what_cannot_be_counted_does_not_fail(data, save, monkeypatch, capsys):
    general = "pass --cluster patient: the intervals above treat rows as independent."
    # An id is missing below the rows in which ids are counted.
    monkeypatch.setattr(repeated_ids, "SAMPLE_ROWS", 500)
    gaps = data.assign(patient=data["patient"].mask(data.index == len(data) - 1))
    command = ["evaluate", save(gaps), "--label", "label", "--score", "model", "--prior", "0.2"]
    assert run(command) == 0
    assert general in capsys.readouterr().out
    # Too few clusters have labeled rows.
    few = data.assign(patient=np.where(data["label"] == 1, "same", data["patient"]))
    assert run([*command[:1], save(few), *command[2:]]) == 0
    assert general in capsys.readouterr().out
    # The file is gone, or it is standard input, which is not read again.
    monkeypatch.setattr(repeated_ids, "locate", None)
    assert find_repeated_ids("-", COLUMNS, labels=LabelValues()) is None
    monkeypatch.undo()
    assert find_repeated_ids("gone.csv", COLUMNS, labels=LabelValues()) is None


def test_no_advice_that_the_command_refuses(data, save, tmp_path, capsys):
    checked = data[data["label"] == 0].sample(80, random_state=0)
    checked = checked.assign(truth=(checked["model"] > 1).astype(int))
    checked[["row_id", "truth"]].to_csv(tmp_path / "checked.csv", index=False)
    command = ["evaluate", save(data), "--label", "label", "--score", "model"]
    command += ["--audit", str(tmp_path / "checked.csv"), "--id", "row_id"]
    assert run(command) in {0, 3}
    assert "repeats" not in capsys.readouterr().out
    assert run([*command, "--cluster", "patient"]) == 2


def test_the_first_rows_of_large_files(data, save, monkeypatch):
    monkeypatch.setattr(repeated_ids, "SAMPLE_ROWS", 500)
    number = data["patient"][:500].nunique()
    hint = find_repeated_ids(save(data), COLUMNS)
    assert f"{number} values in the first 500 rows" in hint


def test_the_largest_units(data, save):
    visits = [f"{patient} {k % 2}" for k, patient in enumerate(data["patient"])]
    path = save(data.assign(visit_id=visits))
    assert "Column 'patient' repeats" in find_repeated_ids(path, COLUMNS)
    assert "Column 'visit_id' repeats" in find_repeated_ids(path, COLUMNS, ["patient"])


NAMES_OF_IDS = [
    *("PatientID", "patientid", "userId", "customerId", "patient_no", "card", "account", "member"),
    *("mrn", "MRN", "hospital", "family", "protein", "person", "client", "trial", "household"),
    *("session", "user_name", "patient_id", "case.id", "Unnamed_ID"),
]
OTHER_NAMES = [
    *("grid", "paid", "valid", "n_patient", "num_user", "sessions", "cardinality", "width", "name"),
    *("number", "age", "code", "hospital_days", "2"),
]


@pytest.mark.parametrize("name", NAMES_OF_IDS)
def test_names_of_ids(data, save, name):
    assert named_like_ids(name)
    numbers = data["patient"].str[1:].astype(int)
    rows = data[["label", "model"]].assign(**{name: numbers})
    assert f"Column {name!r} repeats: 120 values" in find_repeated_ids(save(rows), COLUMNS)


def test_doctor_knows_the_same_names(data, save):
    columns = {name: data["patient"].str[1:].astype(int) for name in NAMES_OF_IDS[:8]}
    rows = data[["label", "model"]].assign(**columns, mean_per_patient=data["model"].round(1))
    roles = {column.name: column.role for column in doctor(save(rows)).columns}
    assert {roles[name] for name in columns} == {"clusters"}
    assert roles["mean_per_patient"] == "other"


@pytest.mark.parametrize("name", OTHER_NAMES)
def test_names_of_other_numbers(data, save, name):
    assert not named_like_ids(name)
    rows = data[["label", "model"]].assign(**{name: data["patient"].str[1:].astype(int)})
    assert find_repeated_ids(save(rows), COLUMNS) is None


@pytest.mark.parametrize("name", ["rows.csv", "rows.parquet"])
def test_text_that_repeats_is_ids_as_in_doctor(data, save, name):
    rows = data.rename(columns={"patient": "who"})[["label", "model", "who"]]
    text = find_repeated_ids(save(rows, name), COLUMNS)
    assert "Column 'who' repeats: 120 values" in text
    # A column with the name of ids is named first, even if it has more of them.
    visit = np.arange(len(rows)) // 2
    text = find_repeated_ids(save(rows.assign(visit_id=visit), name), COLUMNS)
    assert "Column 'visit_id' repeats" in text
    # Few values are groups; fractions are no ids.
    groups = rows.assign(who=visit % 15).astype({"who": str})
    groups["who"] = "group " + groups["who"]
    assert find_repeated_ids(save(groups, name), COLUMNS) is None
    fractions = rows.assign(who=0.0).rename(columns={"who": "mean_per_patient"})
    fractions["mean_per_patient"] = np.round(rows["model"], 1)
    assert find_repeated_ids(save(fractions, name), COLUMNS) is None


@pytest.mark.parametrize("columns", [["label", "model"], ["label", "model", "row_id"]])
def test_nothing_to_say(data, save, columns):
    assert find_repeated_ids(save(data[columns]), COLUMNS) is None
