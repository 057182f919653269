"""Odd files on every engine: the right number or a message, and the same on all of them.

The right numbers are those of a slow reader of its own (`reference_reader`), in exact fractions.
"""

import gzip
import itertools
import warnings
from collections import Counter
from fractions import Fraction

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pueval import AssumptionWarning, Counts, InputError, evaluate
from tests.sources.backends import local_spark, need
from tests.sources.reference_reader import Refused, count_rows, exact_auc

# Tornado leaves sockets to the garbage collector while it looks for a free port.
pytestmark = pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")

REFUSED = "refused"


def outcome_of(path, engine, **more):
    """Return the rows of each kind by score, or that the file was refused, with a message of ours.

    Any other error fails the test.
    """
    given = {"label": "label", "score": "score"} | more
    try:
        counts = Counts.from_file(path, engine=engine, **given)
    except InputError:
        return REFUSED
    scores = [Fraction(float(score)) for score in counts.score]
    kinds = [
        Counter({s: int(n) for s, n in zip(scores, rows, strict=True) if n})
        for rows in (counts.labeled, counts.unlabeled)
    ]
    if counts.n_labeled and counts.n_unlabeled:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", AssumptionWarning)
            auc = evaluate(counts, prior=0, level=None)["roc_auc"].naive
        assert abs(Fraction(auc) - exact_auc(*kinds)) < Fraction(1, 10**12)
    return tuple(kinds)


def reference(content, delimiter=","):
    try:
        return count_rows(content, delimiter)
    except Refused:
        return REFUSED


# ---------------------------------------------------------------------- CSV files

ROWS = "x,1,0.9\ny,0,0.1\nz,0,0.5\nz,1,0.5\n"
HEADER = "note,label,score\n"
CSV = {
    "plain": HEADER + ROWS,
    "no line break at the end": HEADER + ROWS.rstrip(),
    "windows": (HEADER + ROWS).replace("\n", "\r\n"),
    "old mac": (HEADER + ROWS).replace("\n", "\r"),
    "byte order mark": "\ufeff" + HEADER + ROWS,
    "blank lines": HEADER + "\n" + ROWS + "\n\n",
    "a field more": HEADER + "x,1,0.9\nx,1,0,0.2\nx,0,0.1\n",
    "a field less": HEADER + ROWS + "x,1\n",
    "a field less at the end": "score,label,note\n0.9,1,x\n0.2,1\n0.1,0,x\n",
    "commas in text": HEADER + "Smith, John,1,0.9\ny,0,0.1\n",
    "commas that fit": HEADER + ROWS + "x,1,0,\n",
    "commas in quotes": HEADER + '"Smith, John",1,0.9\n' + ROWS,
    "line breaks in quotes": HEADER + '"a\nb",1,0.9\n' + ROWS,
    "rows in quotes": 'label,score,note\n1,0.9,x\n1,0.8,"a\n1,0.7,b"\n0,0.1,y\n',
    "doubled quotes": HEADER + '"5"" pipe",1,0.9\n' + ROWS,
    "stray quotes": HEADER + '5" pipe,1,0.9\n' + ROWS + '6" pipe,0,0.2\n',
    "stray quotes around rows": HEADER + '"pipe,1,0.9\n' + ROWS + 'pipe",0,0.2\n',
    "two stray quotes": HEADER + '"a,1,0.9\n' + ROWS + '"b,0,0.2\n',
    "text after a quote": HEADER + '"a"b,1,0.9\n' + ROWS,
    "open quote": HEADER + ROWS + '"x,1,0.3\n' + ROWS,
    "only a quote": HEADER + ROWS + '"',
    "backslash": HEADER + '"a\\",1,0.9\n' + ROWS,
    "quoted numbers": HEADER + 'x,"1","0.9"\n' + ROWS,
    "spaces around numbers": HEADER + "x, 1 , 0.9 \n" + ROWS,
    "spaces around quotes": HEADER + 'x, "1" , "0.9"\n' + ROWS,
    "only spaces": HEADER + ROWS + "   \n",
    "only commas": HEADER + ROWS + ",,\n",
    "zero bytes": HEADER + "x\0y,1,0.9\n" + ROWS,
    "comment": HEADER + "# a comment\n" + ROWS,
    "comment that fits": HEADER + "# a,1,0.7\n" + ROWS,
    "header twice": HEADER + ROWS + HEADER + ROWS,
    "no rows": HEADER,
    "semicolons": (HEADER + ROWS).replace(",", ";"),
    "decimal commas": HEADER.replace(",", ";") + "x;1;0,9\ny;0;0,1\n",
    "tabs": (HEADER + ROWS).replace(",", "\t"),
    "latin 1": (HEADER + "é,1,0.9\n" + ROWS).encode("latin-1"),
    "utf-16": (HEADER + ROWS).encode("utf-16"),
    "integers": HEADER + "x,1,3\ny,0,-2\n",
    "largest integers": HEADER + "x,1,9007199254740992\ny,0,-9007199254740992\n",
    "too large integers": HEADER + "x,1,9007199254740993\ny,0,9007199254740992\n",
    "too small integers": HEADER + "x,1,-9007199254740993\ny,0,0\n",
    "huge integers": HEADER + f"x,1,{10**60}\ny,0,0\n",
    "huge numbers": HEADER + "x,1,1e300\ny,0,12345678901234567.0\n",
    "exponents": HEADER + "x,1,1e-3\ny,0,+.5E2\nz,0,5.\n",
    "smallest": HEADER + "x,1,5e-324\ny,0,0\n",
    "negative zero": HEADER + "x,1,-0.0\ny,0,0\n",
    "labels as numbers": HEADER + "x,1.0,.9\nx,01,.8\ny,0e0,.1\n",
    "labels as words": HEADER + "x,TRUE,.9\nx,true,.8\ny,False,.1\n",
    "unknown label": HEADER + "x,2,0.9\n" + ROWS,
    "missing label": HEADER + "x,NA,0.9\n" + ROWS,
    "quoted missing score": HEADER + 'x,1,""\n' + ROWS,
} | {
    f"score {score!r}": HEADER + f"x,1,{score}\n" + ROWS
    for score in (
        "", "NA", "nan", "-nan", "NaN", "inf", "-Infinity", "1e400", "1_000", "+-1", "--1", "1d",
        "1f", "0x10", "1 000", "high", "-", ".", "1e", "true", "None", "٣", "1.2.3", "12e+-3",
    )
}  # fmt: skip
# Text that is no number in any way is tried on Spark once, which takes a second per file.
PLAINLY_NO_NUMBERS = {
    f"score {text!r}"
    for text in ("NA", "NaN", "None", "-", ".", "1e", "true", "1 000", "1.2.3", "12e+-3", "--1")
}
# Spark refuses what the others read: spaces around quotes, and more fields than columns.
ONLY_SPARK_REFUSES = {"spaces around quotes", "commas that fit"}


def contents():
    return {name: t.encode() if isinstance(t, str) else t for name, t in CSV.items()}


def delimiter_of(content):
    header = content[: content.find(b"score") + 5].lstrip(b"\xef\xbb\xbf")
    return next((mark for mark in ";\t" if mark.encode() in header), ",")


@pytest.fixture(scope="module")
def spark_session():
    yield from local_spark(1)


@pytest.fixture(params=["duckdb", "polars", "dask", "spark"])
def engine(request):
    if request.param == "spark":
        request.getfixturevalue("spark_session")
    if request.param == "dask":
        need("dask.dataframe")
    return request.param


def test_csv(tmp_path, engine):
    wrong = {}
    skipped = PLAINLY_NO_NUMBERS if engine == "spark" else set()
    assert skipped <= CSV.keys()
    for name, content in contents().items():
        if name in skipped:
            continue
        expected = reference(content, delimiter_of(content))
        if engine == "spark" and name in ONLY_SPARK_REFUSES:
            expected = REFUSED
        path = tmp_path / f"{len(wrong)}.csv"
        path.write_bytes(content)
        outcome = outcome_of(path, engine)
        if outcome != expected:
            wrong[name] = outcome, expected
    assert not wrong


def test_files_that_can_be_read_are():
    """The corpus is of use only if the reference reads about half of it."""
    read = sum(reference(text, delimiter_of(text)) != REFUSED for text in contents().values())
    assert 24 <= read <= len(CSV) - 24


def test_packed(tmp_path, engine):
    content = gzip.compress((HEADER + ROWS * 500).encode())
    path = tmp_path / "x.csv.gz"
    path.write_bytes(content)
    assert outcome_of(path, engine) == reference((HEADER + ROWS * 500).encode())
    path.write_bytes(content + gzip.compress(ROWS.encode()))
    assert outcome_of(path, engine) == reference((HEADER + ROWS * 501).encode())
    for damaged in (content[:-30], content[:40], content[:-8] + b"12345678", b"", content[:3]):
        path.write_bytes(damaged)
        assert outcome_of(path, engine) == REFUSED


def test_several_files(tmp_path, engine):
    (tmp_path / "1.csv").write_text(HEADER + ROWS)
    (tmp_path / "2.csv").write_text(HEADER + ROWS)
    once = reference((HEADER + ROWS).encode())
    twice = tuple(kind + kind for kind in once)
    assert outcome_of(tmp_path, engine) == twice
    (tmp_path / "3.csv").write_text("")
    assert outcome_of(tmp_path, engine) == twice
    (tmp_path / "3.csv").write_text("note,label\nx,1\n")
    assert outcome_of(tmp_path, engine) == REFUSED


# ---------------------------------------------------------------------- fuzz

NUMBERS = st.sampled_from(["0.9", "0.1", ".5", "-3", "1e-3", "2.50", " 0.25", '"0.75"', "7"])
LABELS = st.sampled_from(["0", "1", "0", "1", "1.0", '"0"', "true"])
NOTES = st.text(alphabet="ab\",; \n\r#'\\é", max_size=6)
BROKEN = st.text(alphabet='01.,"\n -eNA_+x', max_size=8)


@st.composite
def csv_texts(draw):
    """Lines of three fields, some of them broken."""
    columns = draw(st.permutations(["note", "label", "score"]))
    lines = [",".join(columns)]
    for _ in range(draw(st.integers(2, 7))):
        note = draw(NOTES)
        if draw(st.booleans()):
            note = '"' + note.replace('"', '""') + '"'
        fields = {"note": note, "label": draw(LABELS), "score": draw(NUMBERS)}
        line = ",".join(fields[name] for name in columns)
        lines.append(draw(BROKEN) if draw(st.integers(0, 19)) == 0 else line)
    return draw(st.sampled_from(["\n", "\r\n"])).join(lines) + draw(st.sampled_from(["", "\n"]))


numbers = itertools.count()


def check_text(folder, text, engines):
    path = folder / f"{next(numbers)}.csv"
    path.write_bytes(text.encode())
    outcomes = [outcome_of(path, engine) for engine in engines]
    assert outcomes.count(outcomes[0]) == len(outcomes)
    # DuckDB refuses line breaks that are not all alike; the reference does not.
    if outcomes[0] != REFUSED or len({"\r\n", "\n", "\r"} & set(line_breaks(text))) == 1:
        assert outcomes[0] == reference(text.encode())


def line_breaks(text):
    rest = text.replace("\r\n", "")
    return ["\r\n"] * ("\r\n" in text) + ["\r"] * ("\r" in rest) + ["\n"] * ("\n" in rest)


FIXED = {"derandomize": True, "deadline": None, "database": None}


@settings(max_examples=120, suppress_health_check=[HealthCheck.function_scoped_fixture], **FIXED)
@given(csv_texts())
def test_random_csv(tmp_path, text):
    check_text(tmp_path, text, ["duckdb", "polars"])


@pytest.mark.thorough
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], **FIXED)
@given(csv_texts())
def test_random_csv_with_dask(tmp_path, text):
    need("dask.dataframe")
    check_text(tmp_path, text, ["duckdb", "dask"])


# ---------------------------------------------------------------------- Parquet and Arrow files


def table(label=(1, 0, 0, 1), score=(0.9, 0.1, 0.5, 0.5), kind=None, **more):
    score = pa.array(score, kind) if kind is not None else pa.array(score)
    return pa.table({"label": pa.array(label), "score": score} | more)


def expected_rows(label, score):
    kinds = Counter(), Counter()
    for mark, value in zip(label, score, strict=True):
        kinds[0 if mark in {1, "1", "true"} else 1][Fraction(value)] += 1
    return kinds


MISSING_OR_NOT_FINITE = [None, float("nan"), float("inf"), -float("inf")]
PARQUET = {
    "plain": table(),
    "booleans": table([True, False, False, True]),
    "text labels": table(["1", "0", "0", "1"]),
    "words": table(["true", "false", "false", "true"]),
    "float labels": table([1.0, 0.0, 0.0, 1.0]),
    "categories": table(pa.array(["1", "0", "0", "1"]).dictionary_encode()),
    "integers": table(score=[3, -2, 7, 7]),
    "small integers": table(score=[3, 2, 7, 7], kind=pa.uint8()),
    "float32": table(score=[0.5, 0.25, 0.1, 0.1], kind=pa.float32()),
    "boolean scores": table(score=[True, False, True, True]),
    "negative zero": table(score=[-0.0, 0.0, 0.0, -0.0]),
    "largest integers": table(score=[2**53, -(2**53), 1, 2**53 - 1]),
    "too large integers": table(score=[2**53 + 1, 2**53, 1, 2]),
    "too large unsigned": table(score=[2**64 - 1, 2**53, 1, 2], kind=pa.uint64()),
    "decimals": table().set_column(
        1, "score", pa.array(["1.25", "0.5", "-3", "7"]).cast(pa.decimal128(20, 2))
    ),
    "too large decimals": table().set_column(
        1, "score", pa.array([f"{2**53 + k}" for k in range(4)]).cast(pa.decimal128(20, 0))
    ),
    "columns like our own": table(k=[9] * 4, s0=[9] * 4, code=[9] * 4, column0=[9] * 4),
    "unknown labels": table([1, 0, 2, 1]),
    "other labels": table([1, 0, -1, 1]),
    "no rows": table([], [], pa.float64()),
    "dates": table(score=[1, 2, 3, 4], kind=pa.date32()),
    "lists": table(score=[[1.0], [2.0], [3.0], [4.0]]),
    "missing label": table([1, None, 0, 1]),
    "NaN label": table([1.0, float("nan"), 0.0, 1.0]),
} | {f"score {value}": table(score=[value, 0.5, 0.1, 0.2]) for value in MISSING_OR_NOT_FINITE}
UNREADABLE = {
    "too large integers", "too large unsigned", "too large decimals", "unknown labels",
    "other labels", "no rows",
    "dates", "lists", "missing label", "NaN label",
    *(f"score {value}" for value in MISSING_OR_NOT_FINITE),
}  # fmt: skip


@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
def test_tables(tmp_path, engine, suffix):
    if suffix == "arrow" and engine in {"dask", "spark"}:
        pytest.skip(f"{engine} reads no Arrow files")
    wrong = {}
    for number, (name, rows) in enumerate(PARQUET.items()):
        path = tmp_path / f"{number}.{suffix}"
        if suffix == "arrow":
            pyarrow.feather.write_feather(rows, path, compression="uncompressed")
        else:
            pq.write_table(rows, path)
        expected = REFUSED
        if name not in UNREADABLE:
            values = rows["score"].to_pylist()
            expected = expected_rows(rows["label"].to_pylist(), values)
        outcome = outcome_of(path, engine)
        if outcome != expected:
            wrong[name] = outcome, expected
    assert not wrong


class TestNames:
    """A name is a name, of a file or of a column."""

    @pytest.mark.parametrize("suffix", ["csv", "parquet", "arrow"])
    @pytest.mark.parametrize(
        "name", ["a[1]", "a?", "a*", "a{1,2}", "it's", 'a"b', "a b", "a%20b", "ü", "-a", "a#b"]
    )
    def test_files(self, tmp_path, engine, suffix, name):
        if suffix == "arrow" and engine in {"dask", "spark"}:
            pytest.skip(f"{engine} reads no Arrow files")
        other = table(score=[7, 8, 9, 9])
        for stem, rows in ((name, table()), ("a1", other), ("a2", other), ("ab", other)):
            path = tmp_path / f"{stem}.{suffix}"
            if suffix == "arrow":
                pyarrow.feather.write_feather(rows, path)
            elif suffix == "parquet":
                pq.write_table(rows, path)
            else:
                rows.to_pandas().to_csv(path, index=False)
        rows = expected_rows(table()["label"].to_pylist(), table()["score"].to_pylist())
        assert outcome_of(tmp_path / f"{name}.{suffix}", engine) == rows

    def test_folders(self, tmp_path, engine):
        for folder, rows in (("f[1]", table()), ("f1", table(score=[7, 8, 9, 9]))):
            (tmp_path / folder / "score=3").mkdir(parents=True)
            pq.write_table(rows, tmp_path / folder / "score=3" / "x.parquet")
        rows = expected_rows(table()["label"].to_pylist(), table()["score"].to_pylist())
        assert outcome_of(tmp_path / "f[1]", engine) == rows

    @pytest.mark.parametrize("suffix", ["csv", "parquet", "arrow"])
    @pytest.mark.parametrize("score", ["^s.*$", "a.b", "a`b", "a", "A", "A_1", 'a"b', "s0", "k"])
    def test_columns(self, tmp_path, engine, suffix, score):
        if suffix == "arrow" and engine in {"dask", "spark"}:
            pytest.skip(f"{engine} reads no Arrow files")
        names = ["^s.*$", "sa", "a.b", "a`b", "a", "A", "A_1", "a_1", 'a"b', "s0", "k"]
        values = {name: [float(4 * k + i) for i in range(4)] for k, name in enumerate(names)}
        rows = pa.table({**values, "label": [1, 0, 0, 1]})
        path = tmp_path / f"x.{suffix}"
        if suffix == "arrow":
            pyarrow.feather.write_feather(rows, path)
        elif suffix == "parquet":
            pq.write_table(rows, path)
        else:
            rows.to_pandas().to_csv(path, index=False)
        expected = expected_rows([1, 0, 0, 1], values[score])
        assert outcome_of(path, engine, score=score) == expected

    def test_column_that_duckdb_makes_up(self, tmp_path, engine):
        """It calls the second of the columns a and A A_1."""
        path = tmp_path / "x.parquet"
        pq.write_table(pa.table({"label": [1, 0], "a": [1.0, 2.0], "A": [3.0, 4.0]}), path)
        assert outcome_of(path, engine, score="A_1") == REFUSED

    def test_same_letters_in_another_file(self, tmp_path, engine):
        pq.write_table(table(), tmp_path / "1.parquet")
        pq.write_table(table().rename_columns(["label", "SCORE"]), tmp_path / "2.parquet")
        assert outcome_of(tmp_path, engine) == REFUSED


def test_damaged_parquet(tmp_path, engine):
    """Checksums are not written by default, so only the description of the columns is damaged."""
    path = tmp_path / "x.parquet"
    pq.write_table(table(), path)
    content = path.read_bytes()
    length = int.from_bytes(content[-8:-4], "little")
    for place in range(len(content) - 8 - length, len(content), 61):
        path.write_bytes(content[:place])
        assert outcome_of(path, engine) == REFUSED
    for damaged in (b"PAR1", b"PAR1" * 3, content[:4] + content[-8:], b"\0" * 100):
        path.write_bytes(damaged)
        assert outcome_of(path, engine) == REFUSED
