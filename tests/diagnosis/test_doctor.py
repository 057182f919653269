"""pueval doctor: what a file holds, what can be known from it, and which command to run next."""

import io
import json
import shlex
import sys

import numpy as np
import pandas as pd
import pytest

import pueval
from pueval import Counts, InputError, doctor
from pueval.commands.app import run
from tests.conftest import draw


@pytest.fixture
def rows(rng):
    positive, score, labeled = draw(rng, 3000, prevalence=0.3, label_frequency=0.4, separation=2)
    return pd.DataFrame(
        {
            "row_id": np.arange(3000),
            "label": labeled.astype(int),
            "model_a": 1 / (1 + np.exp(-score)),
            "model_b": (score + rng.normal(size=3000)).round(1),
            "weight": rng.integers(1, 4, 3000),
            "patient_id": rng.integers(0, 500, 3000),
            "city": np.where(np.arange(3000) % 2, "Bern", "Oslo"),
            "truth": positive.astype(int),
        }
    )


@pytest.fixture
def save(tmp_path):
    def write(frame, name="scores.csv"):
        path = tmp_path / name
        if name.endswith(".parquet"):
            frame.to_parquet(path)
        elif name.endswith(".arrow"):
            frame.to_feather(path)
        else:
            frame.to_csv(path, index=False)
        return str(path)

    return write


@pytest.mark.parametrize("name", ["scores.csv", "scores.parquet"])
def test_dates_are_times_and_no_clusters(rows, save, name):
    rows = rows.drop(columns="patient_id")
    rows["visit"] = pd.Timestamp("2025-01-01") + pd.to_timedelta(np.arange(3000) % 400, "D")
    found = doctor(save(rows, name))
    [visit] = [column for column in found.columns if column.name == "visit"]
    assert visit.role == "times"
    assert visit.details.startswith("2025-01-01 to 2026-02-04")
    assert not any("visit" in problem for problem in found.problems)


@pytest.mark.parametrize("name", ["scores.csv", "scores.parquet", "scores.arrow"])
def test_roles_of_columns(rows, save, name):
    found = doctor(save(rows, name))
    assert {column.name: column.role for column in found.columns} == {
        "row_id": "row ids",
        "label": "labels",
        "model_a": "scores",
        "model_b": "scores",
        "weight": "weights",
        "patient_id": "clusters",
        "city": "groups",
        "truth": "true classes",
    }
    assert (found.rows, found.label, found.scores) == (3000, "label", ("model_a", "model_b"))
    n_labeled = int(rows["label"].sum())
    assert (found.labeled, found.unlabeled) == (n_labeled, 3000 - n_labeled)
    assert found.weight == "weight"
    assert found.duplicates == 0
    details = {column.name: column.details for column in found.columns}
    assert f"{rows['model_b'].nunique()} distinct values" in details["model_b"]
    tied = rows["model_b"].duplicated(keep=False).mean()
    assert f"{100 * tied:.0f}% of rows tied" in details["model_b"]
    number = int(details["patient_id"].removeprefix("about ").removesuffix(" ids, which repeat"))
    assert abs(number - 500) < 50
    assert details["weight"] == "frequency weights, 1 to 3; use them with --weight"


def test_the_next_command_runs(rows, save, capsys):
    path = save(rows)
    found = doctor(path)
    command = shlex.split(found.command)
    assert command == ["pueval", "compare", path, "--label", "label", "--score", "model_a",
                       "--score", "model_b"]  # fmt: skip
    assert run(command[1:]) == 0
    found = doctor(save(rows[["label", "model_a"]], "one of them.csv"))
    assert run(shlex.split(found.command)[1:]) == 0
    assert shlex.split(found.command)[1] == "evaluate"


def test_rare_positives_are_graded_as_by_the_verdict(save, rng):
    """A narrow interval of a small prior is poor knowledge if it spans a factor of many."""
    _, score, labeled = draw(rng, 60_000, prevalence=0.01, label_frequency=0.3, separation=2.2)
    found = doctor(save(pd.DataFrame({"label": labeled.astype(int), "model": score})))
    low, high = found.prior_interval
    assert high - low < 0.1
    assert pueval.evaluate(labeled, score, n_resamples=100).verdict().prior_knowledge == "poorly"
    assert any("only poorly" in line for line in found.knowledge)
    assert "Add --target unlabeled if" in str(found)


def test_what_can_be_known(rows, save, rng):
    found = doctor(save(rows))
    low, high = found.prior_interval
    true_prior = rows.loc[rows["label"] == 0, "truth"].mean()
    assert low < true_prior < high
    assert any("The prior can be estimated" in line for line in found.knowledge)
    weak = rows.assign(model_a=rng.random(3000))[["label", "model_a"]]
    found = doctor(save(weak))
    assert any("The prior cannot be estimated" in line for line in found.knowledge)
    few = pd.concat([rows[rows["label"] == 1].head(5), rows[rows["label"] == 0]])
    found = doctor(save(few[["label", "model_a"]]))
    assert any("5 labeled rows are too few" in line for line in found.knowledge)


@pytest.mark.parametrize(
    ("labels", "options"),
    [
        ({1: 1, 0: 0}, []),
        ({1: "pos", 0: "unlabeled"}, ["--positive", "pos", "--unlabeled", "unlabeled"]),
        ({1: "spam", 0: "?"}, ["--positive", "spam", "--unlabeled", "?"]),
        ({1: 1, 0: -1}, ["--unlabeled=-1"]),
        ({1: 1, 0: None}, ["--unlabeled", ""]),
        ({1: "yes", 0: None}, ["--positive", "yes", "--unlabeled", ""]),
    ],
)
def test_label_values(rows, save, capsys, labels, options):
    frame = rows[["label", "model_a"]].copy()
    frame["label"] = frame["label"].map(labels).astype(object)
    found = doctor(save(frame))
    assert found.label == "label"
    assert shlex.split(found.command)[7:] == options
    assert found.labeled == rows["label"].sum()
    assert run(shlex.split(found.command)[1:]) == 0


def test_ambiguous_labels(rows, save):
    frame = rows[["label", "model_a"]].assign(label=np.where(rows["label"] == 1, 1, -1))
    warning = "-1 could mean unlabeled or negative. Use --unlabeled=-1 or --negative=-1."
    assert warning in doctor(save(frame)).problems
    assert warning not in doctor(save(rows)).problems
    frame.loc[rows["truth"] == 0, "label"] = 0
    assert warning not in doctor(save(frame)).problems


@pytest.mark.parametrize("n_others", [0, 30])
def test_scores_with_text(rows, save, rng, n_others):
    features = {f"feature_{k}": rng.normal(size=3000) for k in range(n_others)}
    frame = rows[["label", "model_a"]].astype({"model_a": object}).assign(**features)
    frame.loc[frame.index[::50], "model_a"] = "n/a"
    path = save(frame)
    found = doctor(path)
    [problem] = found.problems
    assert problem == (
        "60 rows have no number in 'model_a', for example 'n/a'. Other commands refuse them: drop "
        "or fill them first."
    )
    assert {column.name: column.role for column in found.columns}["model_a"] == "scores"
    assert shlex.split(found.command)[1:] == [
        "evaluate", path, "--label", "label", "--score", "model_a",
    ]  # fmt: skip
    problem = doctor(save(rows[["label", "city"]]), scores="city").problems[0]
    assert problem == "'city' holds text, for example 'Bern'. Scores must be numbers."


def test_doubtful_scores_are_not_suggested(rows, save, rng):
    labeled = rows["label"] == 1
    learned = np.where(labeled, 0.95, 0.02) + 0.03 * rng.random(3000)
    found = doctor(save(rows[["label", "model_a"]].assign(model_b=learned)))
    assert found.scores == ("model_a", "model_b")
    assert found.command.endswith("--score model_a")
    assert shlex.split(found.command)[1] == "evaluate"


def test_known_negatives(rows, save):
    frame = rows[["label", "model_a"]].copy()
    frame["label"] = np.where(rows["label"] == 1, "p", np.where(rows["truth"] == 0, "n", "u"))
    found = doctor(save(frame))
    assert shlex.split(found.command)[7:] == [
        "--positive", "p", "--unlabeled", "u", "--negative", "n",
    ]  # fmt: skip
    assert found.negative == (frame["label"] == "n").sum()


def test_leakage(rows, save, rng, capsys):
    labeled = rows["label"] == 1
    leaky = pd.DataFrame({
        "label": rows["label"],
        "model": np.where(labeled, 0.95, 0.02) + 0.03 * rng.random(3000),
        "copy": rows["label"],
        "flipped": -rows["model_b"],
        "score_hard": (rows["model_b"] > 1).astype(int),
    })  # fmt: skip
    path = save(leaky)
    found = doctor(path, scores=["model", "flipped", "score_hard"])
    problems = "\n".join(found.problems)
    assert "'copy' equals the label" in problems
    assert "model: hardly any unlabeled row scores like a labeled one" in problems
    assert "use out-of-fold scores" in problems
    assert "flipped: labeled rows score lower" in problems
    assert "score_hard: all scores are 0 or 1" in problems
    assert found.prior_interval is None
    assert run(["doctor", path, "--score", "model"]) == 3
    captured = capsys.readouterr()
    assert "exit code 3: the file needs attention" in captured.err
    assert "Solve the problems above first. Then run:\n  pueval evaluate" in captured.out


def test_missing_values_and_duplicates(rows, save):
    frame = rows[["label", "model_a", "model_b"]].copy()
    frame.loc[:6, "model_a"] = np.nan
    found = doctor(save(frame))
    assert any("7 rows have no value in 'model_a'" in problem for problem in found.problems)
    assert found.scores == ("model_b",)
    twice = pd.concat([rows[["label", "model_a"]]] * 2)
    found = doctor(save(twice))
    assert found.duplicates == 3000
    assert any("3,000 rows repeat another row" in problem for problem in found.problems)


@pytest.mark.parametrize("missing", [1, 7])
def test_labels_that_lack_a_few_values_are_still_the_labels(rows, save, missing):
    """Another column with two values, such as the true classes, does not take their place."""
    frame = rows[["label", "model_a", "truth"]].astype({"label": float})
    frame.loc[: missing - 1, "label"] = np.nan
    found = doctor(save(frame))
    assert found.label == "label"
    assert found.scores == ()
    have = "row has" if missing == 1 else "rows have"
    assert any(f"{missing} {have} no label in 'label'" in problem for problem in found.problems)
    assert any("--unlabeled '' --negative 0" in problem for problem in found.problems)
    assert found.command.endswith("--label label --score model_a")


def test_complete_labels_come_first(rows, save):
    frame = rows[["label", "model_a"]].assign(known=rows["label"].astype(float))
    frame.loc[:6, "known"] = np.nan
    assert doctor(save(frame[["known", "label", "model_a"]])).label == "label"


def test_features_are_not_scores(rows, save, rng):
    features = {f"x{k}": rng.random(3000) for k in range(30)}
    found = doctor(save(rows[["label", "model_a"]].assign(**features)))
    assert found.scores == ("model_a",)
    assert "and 30 others: x0, x1, x2, x3, x4, …" in str(found)


def test_large_tables(rows, save, monkeypatch):
    monkeypatch.setattr("pueval.sources.column_profiles.MOST_ROWS", 100)
    found = doctor(save(rows[["label", "model_a"]]))
    assert found.duplicates is None
    assert "duplicates were not counted: there are too many rows." in found.problems
    wide = pd.DataFrame(1, index=rows.index, columns=[f"x{k}" for k in range(300)])
    found = doctor(save(pd.concat([rows[["label", "model_a"]], wide], axis=1)))
    assert "only the first 200 of 302 columns were read." in found.problems


def test_nothing_to_evaluate(rows, save):
    found = doctor(save(rows[["model_a", "model_b"]]))
    assert found.label is None
    assert "No column looks like labels" in "\n".join(found.problems)
    assert found.command.endswith("--label COLUMN")
    found = doctor(save(rows[["label", "city"]]))
    assert found.scores == ()
    assert "No column looks like scores" in "\n".join(found.problems)


def test_a_data_frame_is_no_file(rows):
    for read in (doctor, lambda frame: Counts.from_file(frame, label="label", score="model_a")):
        with pytest.raises(InputError, match="got DataFrame. Save rows in memory to a file first"):
            read(rows)


def test_columns_you_name(rows, save):
    found = doctor(save(rows), label="truth", scores="model_b")
    assert (found.label, found.scores) == ("truth", ("model_b",))
    with pytest.raises(InputError, match="no label column 'labl'. Did you mean 'label'"):
        doctor(save(rows), label="labl")


def test_command(rows, save, tmp_path, capsys, monkeypatch):
    path, out = save(rows), tmp_path / "out.json"
    assert run(["doctor", path, "--json", str(out)]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith(f"{path}: 3,000 rows, 8 columns.\n")
    assert "Run next:\n  pueval compare" in printed
    content = json.loads(out.read_text())
    assert content["label"] == "label"
    assert content["columns"][2]["role"] == "scores"
    with open(path, "rb") as stream:  # noqa: PTH123
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stream.read())))
    assert run(["doctor", "-"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("standard input: 3,000 rows")
    assert "pueval compare - --label label" in printed


def test_saved_counts(rows, tmp_path):
    path = tmp_path / "counts.parquet"
    pueval.Counts.from_arrays(rows["label"], rows["model_a"]).to_parquet(path)
    with pytest.raises(InputError, match="holds saved counts, not rows. Run pueval evaluate"):
        doctor(path)


def with_commas(values):
    return [f"{value:.6f}".replace(".", ",") for value in values]


class TestForeignNumbers:
    def test_decimal_commas(self, rows, tmp_path, capsys):
        path = tmp_path / "scores.csv"
        commas = {name: with_commas(rows[name]) for name in ("model_a", "model_b")}
        frame = rows.assign(**commas, price=with_commas(rows["model_a"].round(2)))
        frame.drop(columns="patient_id").to_csv(path, sep=";", index=False)
        assert run(["doctor", str(path)]) == 3
        out = capsys.readouterr().out
        assert "'model_a', 'model_b', 'price' hold numbers with a decimal comma, such as '0," in out
        assert "Write decimals with a point." in out
        assert "--cluster" not in out
        assert "No column looks like scores" not in out
        assert out.count("\n!") == 1
        columns = "--label label --score model_a --score model_b"
        assert f"pueval compare {path} {columns}\n" in out

    def test_percent_signs(self, rows, save, capsys):
        path = save(rows[["label"]].assign(s=[f"{100 * p:.4f}%" for p in rows["model_a"]]))
        for options in ([], ["--score", "s"]):
            assert run(["doctor", path, *options]) == 3
            out = capsys.readouterr().out
            assert "! 's' holds numbers with a percent sign, such as '" in out
            assert "Write shares as numbers without %: 0.25, not 25%." in out
            assert "--cluster" not in out
            assert out.count("\n!") == 1

    def test_beside_scores(self, rows, save, capsys):
        """A column that is not needed does not change the exit code."""
        discount = [f"{k % 77}%" for k in range(3000)]
        path = save(rows[["label", "model_a"]].assign(discount=discount))
        assert run(["doctor", path]) == 0
        out = capsys.readouterr().out
        assert "! 'discount' holds numbers with a percent sign" in out
        assert "--label label --score model_a\n" in out

    def test_some_rows_only(self, rows, save):
        """Whole numbers have no comma."""
        scores = [s if k % 4 else "1" for k, s in enumerate(with_commas(rows["model_a"]))]
        [problem] = doctor(save(rows[["label"]].assign(score=scores))).problems
        assert problem.startswith("'score' holds numbers with a decimal comma")

    def test_other_text_is_no_number(self, rows, save):
        names = [f"{k % 500},5" if k % 500 else "0,5 kg" for k in range(3000)]
        found = doctor(save(rows[["label", "model_a"]].assign(name=names)))
        assert {column.name: column.role for column in found.columns}["name"] == "clusters"
        assert not any("decimal comma" in problem for problem in found.problems)


class TestNoHeader:
    def test_a_first_row_of_numbers(self, rows, tmp_path, capsys):
        path = tmp_path / "scores.csv"
        rows[["label", "model_a"]].to_csv(path, index=False, header=False)
        assert run(["doctor", str(path)]) == 3
        out = capsys.readouterr().out
        assert "seems to have no header line: its first line holds only numbers ('" in out
        assert "Add a first line with names, such as label,score." in out
        assert out.endswith(f"pueval doctor {path}\n")

    def test_numbered_columns(self, rows, tmp_path):
        path = tmp_path / "scores.csv"
        rows[["label", "model_a"]].to_csv(path, index=False, header=["0", "1"])
        found = doctor(path)
        assert (found.label, found.scores, found.problems) == ("0", ("1",), ())
